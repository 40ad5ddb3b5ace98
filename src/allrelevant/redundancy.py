"""Answers to questions about redundancy: groups, substitutes, panels, stability. Plots and reports read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.errors import MissingExtra
from allrelevant.result import RelevanceClass, RelevanceResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FeatureGroups", "Panel", "Panels", "Stability", "SubstituteSet", "Substitutes"]

Floats = NDArray[np.float64]


def _frame(purpose: str, columns: Mapping[str, Any], index: Sequence[Any], name: str) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra("pandas", "pandas", purpose) from error
    return pd.DataFrame(dict(columns), index=pd.Index(index, name=name))


def _and(names: Sequence[str], last: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """Groups of features that play the same part in good models.

    Attributes
    ----------
    result : RelevanceResult
        The result that was asked.
    labels : ndarray of shape (n_features,)
        Group of every feature, from 0; -1 for irrelevant features, which are of no group.
    members : tuple of int
        Features that took part in the clustering.
    contexts : ndarray of shape (n_members, 2, n_members, 2)
        Change of the ``minRel`` and ``maxRel`` of all members (last axes) when one of them is held at its ``minRel``
        and at its ``maxRel`` (first axes); NaN for forests.
    distances : ndarray of shape (n_members, n_members)
        Euclidean distance of the contexts of every two members, without what these two do to each other; for forests
        the share of their work that is lost if each has to tell the other's values.
    linkage : ndarray of shape (n_members - 1, 4)
        The tree, as SciPy writes it.
    height : float
        Where redundant features were cut into groups.
    n_programs : int
        Linear programs solved, or forests grown.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> X, y, _ = make_relevance_classification(
    ...     200, n_strong=1, n_weak=5, partition=[2, 3], n_irrelevant=2, random_state=1
    ... )
    >>> groups = LinearRelevanceClassifier(random_state=0).fit(X, y).group_features()
    >>> groups.groups
    [['x0'], ['x1', 'x2'], ['x3', 'x4', 'x5']]
    """

    result: RelevanceResult
    labels: NDArray[np.intp]
    members: tuple[int, ...]
    contexts: Floats
    distances: Floats
    linkage: Floats
    height: float
    n_programs: int

    @property
    def groups(self) -> list[list[str]]:
        """Names of the features of every group."""
        names, count = self.result.feature_names, int(self.labels.max(initial=-1)) + 1
        return [[names[k] for k in np.flatnonzero(self.labels == number)] for number in range(count)]

    def to_frame(self) -> pd.DataFrame:
        """Return group and relevance of every feature, indexed by name."""
        frame = self.result.to_frame()
        frame.insert(0, "group", self.labels)
        return frame

    def summary(self) -> str:
        """Say in plain language which features go together."""
        lines = []
        names, classes = self.result.feature_names, self.result.classes
        lines += [f"{_and(group)} play the same part." for group in self.groups if len(group) > 1]
        alone = [names[k] for k in self._alone() if classes[k] == RelevanceClass.STRONG]
        if alone:
            lines.append(f"{_and(alone)} {'stands' if len(alone) == 1 else 'stand'} alone: nothing can stand in.")
        single = [names[k] for k in self._alone() if classes[k] == RelevanceClass.WEAK]
        if single:
            verbs = ("is", "resembles") if len(single) == 1 else ("are", "resemble")
            lines.append(f"{_and(single)} {verbs[0]} redundant, but {verbs[1]} no single feature.")
        return "\n".join(lines) if lines else "No feature is relevant, so there are no groups."

    def _alone(self) -> list[int]:
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=1)
        return [int(k) for k in np.flatnonzero(self.labels >= 0) if sizes[self.labels[k]] == 1]


@dataclass(frozen=True, eq=False)
class SubstituteSet:
    """Features that can each stand in for another one, and the price of excluding them all.

    Attributes
    ----------
    features : tuple of str
        The substitutes, the one that takes over most first.
    needed : tuple of float
        Least relevance of each if the others and the feature asked about are excluded.
    own_needed : float
        Least relevance of the feature asked about if all its substitutes are excluded.
    loss_growth, norm_growth : float
        By how much, as a share, the loss of the best model within the norm budget grows if the feature and all these
        substitutes are excluded, and the norm of the smallest model within the loss budget; infinite if no such model
        exists.
    """

    features: tuple[str, ...]
    needed: tuple[float, ...]
    own_needed: float
    loss_growth: float
    norm_growth: float

    def text(self, feature: str) -> str:
        """Say it in one sentence."""
        if not self.features:
            return f"Nothing can replace {feature}: without it, {self._price()}."
        what = f"{_and(self.features, 'or')} can replace {feature}"
        without = "both" if len(self.features) == 1 else "all of them"
        return f"{what}; without {without}, {self._price()}."

    def _price(self) -> str:
        # Where the best model makes next to no errors, a share of nothing says nothing.
        if math.isfinite(self.loss_growth) and self.loss_growth < 1e3:
            return f"the loss grows by {100 * self.loss_growth:.0f} %"
        if math.isfinite(self.norm_growth):
            return f"the weights must grow by {100 * self.norm_growth:.0f} %"
        return "no model of comparable size comes near the best one"


@dataclass(frozen=True, eq=False)
class Substitutes:
    """What can stand in for one feature.

    Attributes
    ----------
    feature : str
        The feature.
    sets : tuple of SubstituteSet
        Sets of substitutes, the most expensive to do without first. If the feature is excluded, at least one of every
        set must stay, and any one of a set is enough, together with features outside that set.
    rises : dict of str to tuple
        Features whose ``minRel`` rises when the feature is excluded, largest first: ``minRel`` before and after.
    timed_out : bool
        Whether the time limit ended the search for sets.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    >>> print(model.substitutes("x2").summary())
    x3 can replace x2; without both, the loss grows by ... %.
    """

    feature: str
    sets: tuple[SubstituteSet, ...]
    rises: Mapping[str, tuple[float, float]]
    timed_out: bool = False

    def summary(self) -> str:
        """Say in plain language what can stand in for the feature."""
        if not self.sets and self.timed_out:
            return f"What can replace {self.feature} was not found in time; a larger time limit may help."
        if not self.sets:
            return f"{self.feature} makes up for no other relevant feature: it can be excluded with any that can be."
        lines = [one.text(self.feature) for one in self.sets]
        if len(lines) > 1:
            lines.append(f"If {self.feature} is excluded, one feature of each of these lines must stay.")
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per substitute of every set."""
        rows = [
            (number, name, needed, one.loss_growth, one.norm_growth)
            for number, one in enumerate(self.sets)
            for name, needed in zip(one.features, one.needed, strict=True)
        ]
        columns = {
            name: [row[k] for row in rows]
            for k, name in ((0, "set"), (2, "needed"), (3, "loss_growth"), (4, "norm_growth"))
        }
        return _frame("Substitutes.to_frame", columns, [row[1] for row in rows], "feature")


@dataclass(frozen=True)
class Panel:
    """A set of features that admits a near-optimal model, none of which can be left out.

    Attributes
    ----------
    features : tuple of str
        The features, in the order of the data.
    cost : float
        What they cost together.
    score : float or None
        Cross-validated score of a model fitted on these features alone, in the metric of the result; None where there
        are too few samples to split.
    gap : float
        By how much, as a share, a cheaper panel that is not among those before might undercut this one: 0 where it is
        proven that there is none.
    """

    features: tuple[str, ...]
    cost: float
    score: float | None
    gap: float


@dataclass(frozen=True, eq=False)
class Panels(Sequence[Panel]):
    """The cheapest panels, in the order of their costs.

    Attributes
    ----------
    panels : tuple of Panel
        The panels.
    feature_names : tuple of str
        All features that were offered, and those asked to be included.
    metric : str
        What the scores are.
    baseline_score : float or None
        The same score of the model of all features.
    complete : bool
        Whether there are no other panels of these features.
    timed_out : bool
        Whether the time limit ended the search or a proof.
    notes : tuple of str
        What a reader must know.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    >>> panels = model.panels(costs={"x3": 5.0})
    >>> [panel.features for panel in panels]
    [('x0', 'x1', 'x2'), ('x0', 'x1', 'x3')]
    """

    panels: tuple[Panel, ...]
    feature_names: tuple[str, ...]
    metric: str
    baseline_score: float | None
    complete: bool
    timed_out: bool
    notes: tuple[str, ...] = ()

    def __getitem__(self, k: Any) -> Any:
        return self.panels[k]

    def __len__(self) -> int:
        return len(self.panels)

    @property
    def equivalent_signatures(self) -> list[tuple[str, ...]]:
        """The panels that cost as little as the cheapest one."""
        least = min((panel.cost for panel in self.panels), default=0.0)
        return [panel.features for panel in self.panels if panel.cost <= least * (1 + 1e-9)]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per panel: size, cost, score, gap and features."""
        columns = {
            "size": [len(panel.features) for panel in self.panels],
            "cost": [panel.cost for panel in self.panels],
            "score": [np.nan if panel.score is None else panel.score for panel in self.panels],
            "gap": [panel.gap for panel in self.panels],
            "features": [", ".join(panel.features) for panel in self.panels],
        }
        return _frame("Panels.to_frame", columns, range(len(self.panels)), "panel")

    def summary(self) -> str:
        """Say in plain language what was found."""
        if not self.panels:
            return "\n".join(["No set of the features offered admits a near-optimal model.", *self.notes])
        lines = []
        for panel in self.panels:
            score = "" if panel.score is None else f", {self.metric} {panel.score:.3f}"
            proof = "" if panel.gap == 0.0 else f" (a panel cheaper by up to {100 * panel.gap:.0f} % is not ruled out)"
            lines.append(f"cost {panel.cost:g}{score}: {', '.join(panel.features)}{proof}")
        same = len(self.equivalent_signatures)
        if same > 1:
            count = f"{same}" if self.complete or same < len(self.panels) else f"At least {same}"
            lines.append(f"{count} different panels cost the same and are as good.")
        if self.baseline_score is not None:
            lines.append(f"With all features the {self.metric} is {self.baseline_score:.3f}.")
        if self.timed_out:
            lines.append("The time limit ended the search.")
        return "\n".join([*lines, *self.notes])


@dataclass(frozen=True, eq=False)
class Stability:
    """How classes and intervals vary over bootstraps of the samples.

    Attributes
    ----------
    result : RelevanceResult
        The result on all samples.
    classes : ndarray of shape (n_bootstraps, n_features)
        Class of every feature in every bootstrap.
    intervals : ndarray of shape (n_bootstraps, n_features, 2)
        Its interval.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> stability = LinearRelevanceClassifier(random_state=0).fit(X, y).stability(n_bootstraps=5)
    >>> stability.shares.shape
    (6, 3)
    """

    result: RelevanceResult
    classes: NDArray[np.int64]
    intervals: Floats

    @property
    def n_bootstraps(self) -> int:
        """Number of bootstraps."""
        return len(self.classes)

    @property
    def shares(self) -> Floats:
        """Share of the bootstraps in which every feature is irrelevant, weakly and strongly relevant."""
        return np.stack([(self.classes == kind).mean(axis=0) for kind in RelevanceClass], axis=1)

    def spread(self, coverage: float = 0.9) -> Floats:
        """Return the range, for ``minRel`` and ``maxRel``, that so much of the bootstraps falls into.

        Returns
        -------
        ndarray of shape (n_features, 2, 2)
            For every feature, of ``minRel`` and of ``maxRel``, the lower and the upper end.
        """
        ends = [0.5 - coverage / 2, 0.5 + coverage / 2]
        return np.asarray(np.quantile(self.intervals, ends, axis=0).transpose(1, 2, 0))

    def to_frame(self) -> pd.DataFrame:
        """Return class, shares and the middle 90 % of both ends of the interval, indexed by feature."""
        spread, shares = self.spread(), self.shares
        columns = {
            "relevance": [RelevanceClass(int(k)).label for k in self.result.classes],
            **{kind.label: shares[:, kind] for kind in reversed(RelevanceClass)},
            **{f"{end}_{side}": spread[:, i, j] for i, end in enumerate(("minimum", "maximum"))
               for j, side in enumerate(("low", "high"))},
        }  # fmt: skip
        return _frame("Stability.to_frame", columns, self.result.feature_names, "feature")

    def summary(self) -> str:
        """Say in plain language how far the classes can be relied on."""
        agree = self.shares[np.arange(self.result.n_features), self.result.classes]
        lines = [
            f"Over {self.n_bootstraps} bootstraps of the samples the features keep their class in "
            f"{100 * agree.mean():.0f} % of the cases."
        ]
        doubtful = [k for k in np.argsort(agree, kind="stable") if agree[k] < 0.5]
        for k in doubtful[:8]:
            shares, own = self.shares[k], RelevanceClass(int(self.result.classes[k]))
            most = RelevanceClass(int(np.argmax(shares)))
            lines.append(
                f"{self.result.feature_names[k]} is {own.label} on all samples, "
                f"but {most.label} in {100 * shares[most]:.0f} % of the bootstraps."
            )
        return "\n".join(lines)
