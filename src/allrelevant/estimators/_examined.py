"""What a fit is asked for, what it finds, and how that becomes a result and a model in the units of the data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

import allrelevant
from allrelevant._progress import Progress
from allrelevant.estimators._canonical import Canonical
from allrelevant.estimators._described import plain_parameters, plain_seed
from allrelevant.estimators._input import Member, Rows
from allrelevant.estimators._verdict import Verdict
from allrelevant.formulations import Feature, Formulation
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices, Matrix
from allrelevant.relevance.baseline import Baseline
from allrelevant.relevance.intervals import Intervals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.result import RelevanceResult

__all__ = ["Examined", "LinearModel", "Part", "Request"]


class LinearModel(NamedTuple):
    """The baseline model in the units of the data given: ``x·coef − shift`` against the offsets, row by row."""

    coef: Array
    shift: Array
    offsets: Array


class Request(NamedTuple):
    """What is to be examined: validated data, the features of every kind, seeds of folds and probes, given splits.

    `rows` says which of the samples given belong together; `factor` is what class weights multiply the loss of every
    sample by. Samples `drawn` several times are of one kind: those of a fold are in no other.
    """

    formulation: Formulation
    X: Matrix
    target: Array
    sample_weight: Array
    members: list[list[Member]]
    seeds: list[int]
    splits: list[tuple[Indices, Indices]] | None
    given: Array | None = None
    factor: Array | None = None
    rows: Rows = Rows()
    drawn: bool = False


class Part(NamedTuple):
    """Features of one kind, in canonical order, with what was found; `order` leads to their names."""

    members: list[Member]
    order: list[int]
    features: list[Feature]
    intervals: Intervals
    verdict: Verdict


class Examined(NamedTuple):
    """All that was found out about a request; the columns of `data` are shifted by `mean` and divided by `scale`."""

    request: Request
    data: Canonical
    mean: Array
    scale: Array
    baseline: Baseline
    near: NearOptimalSet
    parts: list[Part]
    progress: Progress

    def result(self, number: int, estimator: BaseEstimator) -> RelevanceResult:
        """Return the result for the features of one kind, in the order of the data given."""
        part, data, baseline = self.parts[number], self.data, self.baseline
        intervals, verdict, decision = part.intervals, part.verdict, part.verdict.decision
        back = np.argsort(part.order, kind="stable")
        names = [name for name, _ in part.members]
        remarks = [
            f"The maxRel of {names[part.order[i]]}, a group of many columns, is attained by a near-optimal model, but "
            "not proven to be the greatest."
            for i in np.flatnonzero(~intervals.exact)
        ]
        return RelevanceResult(
            feature_names=tuple(names),
            intervals=np.column_stack([intervals.minimum, intervals.maximum])[back],
            classes=verdict.classes(intervals.minimum)[back],
            pvalues=decision.pvalues[back],
            adjusted_pvalues=decision.adjusted[back],
            together_pvalues=decision.together[back],
            alone_pvalues=decision.alone[back],
            limits=np.maximum(decision.limits, 0.0)[back],
            companions={
                names[part.order[k]]: tuple(names[part.order[j]] for j in others)
                for k, others in verdict.companions.items()
            },
            baseline=np.array([self._share(part, int(i)) for i in back]),
            thresholds=verdict.thresholds,
            problem=baseline.formulation.name,
            n_samples=int((self.request.sample_weight > 0).sum()),
            hyperparameters=baseline.hyperparameters,
            scores=_scores(baseline, data),
            parameters=plain_parameters(estimator),
            seed=plain_seed(estimator),
            engine=intervals.engine,
            max_gap=max(intervals.gap, verdict.gap),
            n_programs=intervals.n_programs + verdict.n_programs,
            cpu_seconds=self.progress.cpu_seconds,
            notes=(*(() if number else self.request.rows.notes), *verdict.notes, *remarks),
            version=allrelevant.__version__,
            tentative=tuple(names[k] for k in sorted(part.order[i] for i in verdict.undecided)),
            incomplete=tuple(names[k] for k in sorted(part.order[i] for i in np.flatnonzero(intervals.open))),
        )

    @property
    def warnings(self) -> list[str]:
        """What the user must hear at once, each once."""
        return list(
            dict.fromkeys([*self.request.rows.notes, *(note for part in self.parts for note in part.verdict.notes)])
        )

    @property
    def hurried(self) -> list[str]:
        """What the user must hear of a fit that ran out of time."""
        return list(dict.fromkeys(note for part in self.parts for note in part.verdict.hurried))

    def _share(self, part: Part, i: int) -> float:
        """Signed share of a feature in the baseline model; without a sign for groups of columns."""
        feature, w = part.features[i], self.baseline.w
        if self.near.mu == 0.0:
            return 0.0
        if feature.total:
            return float(feature.contrasts[0] @ np.abs(w[feature.weights])) / self.near.mu
        values = feature.contrasts @ w[feature.weights]
        column = part.members[part.order[i]][1]
        sign = self.data.signs[self.data.columns == column[0]][0]
        greatest = values[np.argmax(np.abs(values))]
        predictive = range(len(w))[self.baseline.formulation.predictive(self.data.together.shape[1])]
        swapped = self.data.classes is not None and self.data.classes.tolist() == [1, 0]
        if swapped and feature.weights[0] in predictive:
            sign = -sign
        return float(sign * greatest) / self.near.mu

    def model(self, n_features: int) -> LinearModel:
        """Return the baseline model of the first columns, the regular features."""
        data, formulation = self.data, self.baseline.formulation
        weights = self.baseline.w[formulation.predictive(self.request.X.shape[1])].reshape(n_features, -1)
        weights = weights.T / self.scale[:n_features]
        coef = data.restore(weights * data.signs[:n_features])
        shift, offsets = weights @ self.mean[:n_features], self.baseline.b
        if data.classes is not None:
            both, offsets = formulation.relabelled(np.column_stack([coef, shift]), offsets, data.classes)
            coef, shift = both[:, :-1], both[:, -1]
        return LinearModel(coef, shift, offsets)


def _scores(baseline: Baseline, data: Canonical) -> dict[str, Any]:
    formulation = baseline.formulation
    sign = -1.0 if formulation.metric.is_error else 1.0
    prediction = formulation.predict(data.together, baseline.w, baseline.b)
    context = (data.target, prediction, data.given_weight)
    found = baseline.cross_validated
    return {
        "metric": formulation.metric.label,
        "cross_validated": None if found is None else sign * found,
        "training": sign * formulation.score(data.together, data.target, data.given_weight, baseline.w, baseline.b),
        **formulation.details(*context),
    }
