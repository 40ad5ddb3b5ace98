"""Starting the explorer: on this machine only, on a port of the system's choice."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from allrelevant.errors import MissingExtra
from allrelevant.explore.answers import Answers
from allrelevant.explore.guard import Guard

__all__ = ["Explorer", "embed", "run"]

ASSETS = Path(__file__).with_name("assets")
HOST = "127.0.0.1"
#: Seconds that a connection may be silent. A browser opens another one when it needs it.
SILENCE = 60.0


class Explorer:
    """A local web page on which features can be held, and a server for it.

    It listens on this machine only and answers only to pages that were opened with its token. What is held is part of
    the page and of its address, not of the server: several pages do not disturb each other.

    Parameters
    ----------
    model : estimator
        A fitted linear relevance estimator.
    title : str, default=None
        Heading of the page; "Feature relevance" if None.
    costs : dict, default=None
        Costs of features, as a start for the table of costs.
    source : str, default=None
        Python code that makes `model`, for the export of code.
    port : int, default=0
        Port; 0 lets the system choose.

    Attributes
    ----------
    url : str
        The address, with the token.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.explore import Explorer
    >>> X, y, _ = make_relevance_classification(100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> explorer = Explorer(LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)).start()
    >>> explorer.url
    'http://127.0.0.1:.../?token=...'
    >>> explorer.stop()
    """

    def __init__(
        self,
        model: Any,
        *,
        title: str | None = None,
        costs: Mapping[str, float] | None = None,
        source: str | None = None,
        port: int = 0,
    ) -> None:
        try:
            import dash  # noqa: F401
        except ImportError as error:
            raise MissingExtra("dash", "explore", "the explorer") from error
        from werkzeug.serving import make_server

        self.guard = Guard()
        self.app = _application(Answers(model, costs), title or "Feature relevance", source, self.guard)
        self._server = make_server(HOST, port, self.app.server, threaded=True, request_handler=_quiet_handler())
        self.guard.port = self._server.server_port
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address, with the token."""
        return f"http://{HOST}:{self.guard.port}/?token={self.guard.token}"

    def start(self) -> Explorer:
        """Serve in the background."""
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def __enter__(self) -> Explorer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def run(
    model: Any,
    *,
    title: str | None = None,
    costs: Mapping[str, float] | None = None,
    source: str | None = None,
    port: int = 0,
    open_browser: bool = True,
) -> None:
    """Open the explorer in a browser, and serve it until Ctrl-C.

    Parameters
    ----------
    model, title, costs, source, port
        See :class:`Explorer`.
    open_browser : bool, default=True
        Whether to open a browser; the address is printed in any case.
    """
    with Explorer(model, title=title, costs=costs, source=source, port=port) as explorer:
        sys.stdout.write(f"The explorer is at {explorer.url}\nPress Ctrl-C to stop it.\n")
        sys.stdout.flush()
        if open_browser:
            webbrowser.open(explorer.url)
        try:
            _wait()
        except KeyboardInterrupt:
            sys.stdout.write("\nStopped.\n")


def _wait() -> None:
    threading.Event().wait()


def embed(model: Any, *, height: int = 900, title: str | None = None) -> Any:
    """Show the explorer within a notebook, as long as its kernel runs.

    Parameters
    ----------
    model : estimator
        A fitted linear relevance estimator.
    height : int, default=900
        Height in pixels.
    title : str, default=None
        Heading of the page.

    Returns
    -------
    IPython.display.IFrame
        The frame; its server ends with the kernel.
    """
    try:
        from IPython.display import IFrame
    except ImportError as error:
        raise MissingExtra("ipython", "notebook", "the explorer in a notebook") from error
    return IFrame(Explorer(model, title=title).start().url, width="100%", height=height)


def _application(answers: Answers, title: str, source: str | None, guard: Guard) -> Any:
    from dash import Dash

    from allrelevant.explore.callbacks import connect
    from allrelevant.explore.layout import page
    from allrelevant.explore.questions import check

    app = Dash(
        "allrelevant.explore",
        assets_folder=str(ASSETS),
        title=escape(title),  # Dash puts it into the page as it is
        update_title="",
        serve_locally=True,
        suppress_callback_exceptions=False,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    guard.install(app.server)
    check(app, tuple(answers.costs))
    app.layout = page(answers, title)
    connect(app, answers, title, source)
    return app


def _quiet_handler() -> Any:
    from werkzeug.serving import WSGIRequestHandler

    class Quiet(WSGIRequestHandler):
        timeout = SILENCE

        def log(self, type: str, message: str, *args: Any) -> None:
            """Say nothing: the token would be in it."""

    return Quiet
