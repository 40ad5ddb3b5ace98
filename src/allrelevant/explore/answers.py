"""What the explorer asks a fitted estimator, one question at a time; answers are kept."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Any

from sklearn.utils.validation import check_is_fitted

from allrelevant.errors import AllRelevantError
from allrelevant.explore.marks import Mark, marks_of
from allrelevant.explore.state import Costs, Held, excluded
from allrelevant.redundancy import FeatureGroups, Panels, Substitutes
from allrelevant.result import RelevanceResult

__all__ = ["PANELS", "Answers", "Overtaken"]

#: Answers that are kept.
KEPT = 200
#: Pages whose latest question is remembered.
PAGES = 1000
#: Numbers of a page that has asked nothing.
UNASKED = (0, 0)
#: Panels that are looked for.
PANELS = 5
#: With more features than this, a drag is answered for the relevant ones first.
MANY = 40


class Overtaken(Exception):
    """A later question of the same page is waiting: this one need not be answered."""


class Answers:
    """Asks an estimator from several threads, one question at a time.

    Parameters
    ----------
    model : estimator
        A fitted linear relevance estimator.
    costs : dict, default=None
        Costs of features, 1 unless given.

    Attributes
    ----------
    result : RelevanceResult
        The result without constraints.
    costs : dict
        Cost of every relevant feature, the most relevant first.
    """

    def __init__(self, model: Any, costs: Mapping[str, float] | None = None) -> None:
        check_is_fitted(model, "result_")
        if not model.result_.words.answers:
            raise TypeError(
                f"{type(model).__name__} cannot be explored: only linear models answer what happens when a feature is "
                "held; fit a linear estimator, such as LinearRelevanceClassifier"
            )
        # All cores, for one question at a time: answers do not depend on it.
        self.model = copy(model).set_params(n_jobs=-1)
        self.result: RelevanceResult = model.result_
        names = [self.result.feature_names[k] for k in self.result.ranking() if self.result.classes[k] > 0]
        self.costs: Costs = {name: float((costs or {}).get(name, 1.0)) for name in names}
        self._asking = threading.Lock()
        self._noting = threading.Lock()
        #: Of every page, the number of the latest question, and of the latest that was not quick.
        self._latest: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._results: OrderedDict[Any, RelevanceResult | str] = OrderedDict()
        self._substitutes: dict[str, Substitutes] = {}
        self._groups: FeatureGroups | None = None

    def constrained(
        self, held: Held, tab: str = "", number: int = 0, *, quick: bool = False
    ) -> tuple[RelevanceResult | str, float]:
        """Return the result under constraints, or why there is none, and the seconds that it took.

        A `quick` answer is one of many to a drag: it leaves irrelevant features as they are without constraints, where
        there are many, and it does not void what is being answered.

        Raises
        ------
        Overtaken
            If a question of the same page with a greater number has come: any before this one was begun, or one that
            is not quick before it was answered.
        """
        self._note(tab, number, quick)
        if not held:
            return self.result, 0.0
        whole = tuple(sorted(held.items()))
        relevant = [name for name, kind in zip(self.result.feature_names, self.result.classes, strict=True) if kind > 0]
        quick = quick and len(self.result.feature_names) > MANY and whole not in self._results
        key = ("quick", whole) if quick else whole
        began = time.perf_counter()
        with self._asking:
            if number < self._latest.get(tab, UNASKED)[0]:
                raise Overtaken
            if key not in self._results:
                try:
                    self._results[key] = self.model.constrain(dict(held), wanted=relevant if quick else None)
                except (AllRelevantError, ValueError) as error:
                    self._results[key] = str(error)
                while len(self._results) > KEPT:
                    self._results.popitem(last=False)
            self._results.move_to_end(key)
            if number < self._latest.get(tab, UNASKED)[1]:
                raise Overtaken
            return self._results[key], time.perf_counter() - began

    def _note(self, tab: str, number: int, quick: bool) -> None:
        """Remember the latest questions of a page; pages that have long been silent are forgotten."""
        if not tab:
            return
        with self._noting:
            last, whole = self._latest.pop(tab, UNASKED)
            self._latest[tab] = max(last, number), whole if quick else max(whole, number)
            while len(self._latest) > PAGES:
                self._latest.popitem(last=False)

    def incomplete(self, held: Held) -> bool:
        """Whether only a quick answer is known."""
        whole = tuple(sorted(held.items()))
        return whole not in self._results and ("quick", whole) in self._results

    def substitutes(self, feature: str) -> Substitutes:
        """What can stand in for a feature."""
        with self._asking:
            if feature not in self._substitutes:
                self._substitutes[feature] = self.model.substitutes(feature)
            return self._substitutes[feature]

    def groups(self) -> FeatureGroups:
        """Features that play the same part."""
        with self._asking:
            if self._groups is None:
                self._groups = self.model.group_features()
            return self._groups

    @cached_property
    def marks(self) -> dict[str, Mark]:
        """Marks of the features that go together."""
        return marks_of(self.groups())

    def panels(self, costs: Costs, held: Held) -> Panels:
        """The cheapest panels; features that are excluded on the page are in none."""
        with self._asking:
            panels: Panels = self.model.panels(costs, k=PANELS, exclude=excluded(held), time_limit=30.0)
            return panels
