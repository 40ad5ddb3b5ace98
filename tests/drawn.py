"""What a drawing shows, for tests, and estimators whose answers are made by hand."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from allrelevant.plotting._style import CLASS_STYLES


class Answering(BaseEstimator):
    """An estimator that gives the answers it was told, and notes what it was asked."""

    def fit(self, result, **answers):
        self.result_ = result
        self.asked_ = []
        for name, answer in answers.items():
            setattr(self, name, self._replying(name, answer))
        return self

    def _replying(self, name, answer):
        def reply(*args, **options):
            self.asked_.append((name, args, options))
            return answer(*args) if callable(answer) else answer

        return reply


def bars(ax, kind):
    """Bars of a class."""
    return [bar for c in ax.containers if c.get_label() == CLASS_STYLES[kind].phrase for bar in c]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def inside_figure(display, artists):
    """Whether artists end up within the picture once it is laid out."""
    figure = display.figure_
    figure.draw_without_rendering()
    frame = figure.bbox
    boxes = [artist.get_window_extent() for artist in artists]
    return all(
        frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1 and frame.y0 - 1 <= box.y0 and box.y1 <= frame.y1 + 1
        for box in boxes
    )
