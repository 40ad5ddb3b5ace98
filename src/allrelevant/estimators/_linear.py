"""What all linear relevance estimators share: the way from data to a relevance result."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

import allrelevant
from allrelevant._progress import Progress
from allrelevant.errors import RelevanceWarning
from allrelevant.estimators._canonical import Canonical, canonical_form
from allrelevant.formulations import Formulation
from allrelevant.lp import ENGINES, Array
from allrelevant.lp.program import Indices
from allrelevant.relevance.baseline import Baseline, Fold, fit_baseline
from allrelevant.relevance.intervals import Intervals, relevance_intervals
from allrelevant.relevance.nearoptimal import BUDGETS, NearOptimalSet, near_optimal_set
from allrelevant.result import RelevanceResult, Thresholds
from allrelevant.stats.probes import (
    Probes,
    added_probes,
    concentrated_features,
    draw_probes,
    replaced_probes,
    varying_features,
)
from allrelevant.stats.thresholds import MIN_PROBES, RULES, chance_of, classify, find_thresholds

__all__ = ["LinearRelevance"]

#: Probes of a feature's own, for features that cannot be compared with others.
OWN_PROBES = 20


class LinearModel(NamedTuple):
    """The baseline model in the units of the data given: ``x·coef − shift`` against the offsets."""

    coef: Array
    shift: float
    offsets: Array


class Judgement(NamedTuple):
    """What the probes say about the features, and what it took to find out."""

    thresholds: Thresholds
    pvalues: Array
    classes: NDArray[np.int64]
    overruled: Indices
    gap: float
    n_programs: int


class LinearRelevance(SelectorMixin, BaseEstimator):
    """Base of the linear relevance estimators; not to be used on its own."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "norm_slack": [Interval(Real, 0, None, closed="left")],
        "loss_slack": [Interval(Real, 0, None, closed="left")],
        "budgets": [StrOptions(set(BUDGETS))],
        "n_probes": [Interval(Integral, MIN_PROBES, None, closed="left")],
        "confidence": [Interval(Real, 0.5, 1, closed="neither")],
        "threshold_rule": [StrOptions(set(RULES))],
        "standardize": ["boolean"],
        "cv": ["cv_object"],
        "engine": [StrOptions(set(ENGINES))],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        C: float | None = None,
        norm_slack: float = 0.1,
        loss_slack: float = 0.1,
        budgets: str = "split",
        n_probes: int = 50,
        confidence: float = 0.9999,
        threshold_rule: str = "added",
        standardize: bool = True,
        cv: Any = 3,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.norm_slack = norm_slack
        self.loss_slack = loss_slack
        self.budgets = budgets
        self.n_probes = n_probes
        self.confidence = confidence
        self.threshold_rule = threshold_rule
        self.standardize = standardize
        self.cv = cv
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit_relevance(
        self, formulation: Formulation, X: Array, y: NDArray[Any], target: Array, sample_weight: Array
    ) -> LinearModel:
        """Run the whole method on validated data; sets all fitted attributes but those of the model."""
        random_state = check_random_state(self.random_state)
        fold_seed, probe_seed = random_state.randint(np.iinfo(np.int32).max, size=2)
        progress = Progress(int(self.verbose))
        data = canonical_form(X, target, sample_weight)
        mean, scale = self._location(data)
        Z = (data.X - mean) / scale
        notes: list[str] = []
        # One thread per worker: small products gain nothing from more, and rounding stays the same.
        with threadpool_limits(limits=1, user_api="blas"):
            baseline = fit_baseline(
                formulation,
                Z,
                data.target,
                data.sample_weight,
                C=self.C,
                folds=self._folds(formulation, data, X, y, sample_weight, int(fold_seed)),
                progress=progress,
            )
            near = near_optimal_set(
                baseline.program,
                baseline.w,
                baseline.b,
                baseline.C,
                norm_slack=self.norm_slack,
                loss_slack=self.loss_slack,
                budgets=self.budgets,
            )
            intervals = relevance_intervals(near, engine=self.engine, n_jobs=self.n_jobs, progress=progress)
            context = (baseline.formulation, data, Z, int(probe_seed), progress, notes)
            judgement = self._judge(near, intervals, *context)

        names = tuple(getattr(self, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])]))
        remarks = [
            f"{names[k]} exceeds the threshold, but so do permutations of it: it varies in very few samples, where a "
            "weight on it costs little. It is therefore not counted as relevant."
            for k in sorted(data.columns[judgement.overruled])
        ]
        share = baseline.w / near.mu if near.mu > 0 else np.zeros_like(baseline.w)
        spread = data.restore(np.stack([intervals.minimum, intervals.maximum])).T
        self.intervals_ = np.ascontiguousarray(spread)
        self.relevance_classes_ = data.restore(judgement.classes)
        self.pvalues_ = data.restore(judgement.pvalues)
        self.thresholds_ = judgement.thresholds
        self.result_ = RelevanceResult(
            feature_names=names,
            intervals=self.intervals_,
            classes=self.relevance_classes_,
            pvalues=self.pvalues_,
            baseline=data.restore(share * data.signs),
            thresholds=self.thresholds_,
            problem=formulation.name,
            n_samples=int((sample_weight > 0).sum()),
            hyperparameters=baseline.hyperparameters,
            scores=_scores(baseline, data),
            parameters={name: _plain(value) for name, value in self.get_params(deep=False).items()},
            seed=int(self.random_state) if isinstance(self.random_state, Integral) else None,
            engine=intervals.engine,
            max_gap=judgement.gap,
            n_programs=intervals.n_programs + judgement.n_programs,
            cpu_seconds=progress.cpu_seconds,
            notes=(*notes, *remarks),
            version=allrelevant.__version__,
        )
        for note in notes:
            warnings.warn(note, RelevanceWarning, stacklevel=3)
        weights = baseline.w / scale
        return LinearModel(data.restore(weights * data.signs), float(weights @ mean), baseline.b)

    def _location(self, data: Canonical) -> tuple[Array, Array]:
        """Shift and scale of every column; constant columns become 0, so that no weight of theirs acts as offset."""
        total = data.sample_weight.sum()
        # Sums along rows, not products of matrices: equal columns must stay equal to the last digit.
        weight = data.sample_weight[:, None]
        mean = (weight * data.X).sum(axis=0) / total
        spread = np.sqrt((weight * (data.X - mean) ** 2).sum(axis=0) / total)
        constant = np.ptp(data.X, axis=0) == 0.0
        if self.standardize:
            # Columns that vary by less than rounding cannot be scaled in any meaningful way.
            constant |= spread <= 10 * np.finfo(float).eps * np.abs(mean)
            return mean, np.where(constant, np.inf, spread)
        return np.where(constant, mean, 0.0), np.where(constant, np.inf, 1.0)

    def _folds(
        self, formulation: Formulation, data: Canonical, X: Array, y: NDArray[Any], sample_weight: Array, seed: int
    ) -> Iterator[Fold]:
        """Yield the splits of the search for `C`."""
        if not isinstance(self.cv, Integral):
            splits = check_cv(self.cv, y, classifier=formulation.strata(data.target) is not None).split(X, y)
            for parts in splits:
                weights = np.zeros((2, len(X)))
                for side, part in zip(weights, parts, strict=True):
                    side[part] = sample_weight[part]
                yield Fold(data.collect(weights[0]), data.collect(weights[1]))
            return
        # A sample of weight 2 is two samples, which may fall into different folds; more pieces than folds are useless.
        pieces = np.clip(np.rint(data.sample_weight), 1, int(self.cv)).astype(int)
        unit = np.repeat(np.arange(len(data.X)), pieces)
        share = (data.sample_weight / pieces)[unit]
        strata = formulation.strata(data.target[unit])
        sizes = np.array([len(unit)]) if strata is None else np.unique(strata, return_counts=True)[1]
        most = sizes.min() if formulation.needs_every_stratum else sizes.max()
        if most < 2:
            raise ValueError(
                "the search for C needs at least 2 samples of each class, but a class has only 1 sample; "
                "give C (such as C=1.0) to fit without cross-validation"
            )
        kind = KFold if strata is None else StratifiedKFold
        splitter = kind(min(int(self.cv), int(most)), shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splits = list(splitter.split(unit, strata))
        for parts in splits:
            train, test = (np.bincount(unit[part], share[part], minlength=len(data.X)).astype(float) for part in parts)
            yield Fold(train, test)

    def _judge(
        self,
        near: NearOptimalSet,
        intervals: Intervals,
        formulation: Formulation,
        data: Canonical,
        Z: Array,
        seed: int,
        progress: Progress,
        notes: list[str],
    ) -> Judgement:
        """Draw and bound the probes, and judge the features by them."""
        d = Z.shape[1]
        if near.mu == 0.0:
            notes.append(
                "The best model found has no weights at all (w = 0): no linear model predicts better than a constant, "
                "so every feature is irrelevant."
            )
            nothing = Thresholds(0.0, 0.0, self.threshold_rule, self.confidence, 0, 0)
            none = np.empty(0, dtype=np.intp)
            return Judgement(nothing, np.ones(d), np.zeros(d, dtype=np.int64), none, intervals.gap, 0)
        rng = np.random.RandomState(seed)
        context = (data.target, data.sample_weight)
        probes: Probes | None = None
        if self.threshold_rule == "papers":
            drawn = draw_probes(Z, self.n_probes, varying_features(Z), rng)
            probes = replaced_probes(near, formulation, *drawn, *context, engine=self.engine, progress=progress)
            if len(probes.maximum) < MIN_PROBES:
                notes.append(
                    f"Only {len(probes.maximum)} of {probes.n_drawn} probes that replace a feature left a near-optimal "
                    "model, too few for a threshold; probes added beside all features were used instead."
                )
                probes = None

        def added(n_probes: int, among: Indices) -> Probes:
            _, values = draw_probes(Z, n_probes, among, rng)
            return added_probes(
                near, formulation, values, *context, engine=self.engine, n_jobs=self.n_jobs, progress=progress
            )

        concentrated = np.empty(0, dtype=np.intp)
        if probes is None:
            concentrated = concentrated_features(Z, data.sample_weight)
            probes = added(self.n_probes, np.setdiff1d(varying_features(Z), concentrated))
        thresholds = find_thresholds(probes, self.confidence)
        power = RULES[probes.rule]
        # Only a weight of exactly 0 in all near-optimal models is certain not to exceed chance.
        pvalues = np.where(intervals.maximum > 0, chance_of(intervals.maximum, probes.maximum, power), 1.0)
        classes = classify(intervals.minimum, intervals.maximum, thresholds)
        gap, n_programs = max(intervals.gap, probes.gap), probes.n_programs
        beyond = concentrated[classes[concentrated] > 0]
        for k in beyond:
            own = added(OWN_PROBES, np.array([k]))
            pvalues[k] = max(pvalues[k], chance_of(intervals.maximum[[k]], own.maximum, power)[0])
            classes[k] = classes[k] if pvalues[k] < 1.0 - self.confidence else 0
            gap, n_programs = max(gap, own.gap), n_programs + own.n_programs
        return Judgement(thresholds, pvalues, classes, beyond[classes[beyond] == 0], gap, n_programs)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.relevance_classes_ > 0)


def _scores(baseline: Baseline, data: Canonical) -> dict[str, Any]:
    formulation = baseline.formulation
    sign = -1.0 if formulation.is_error else 1.0
    context = (data.target, baseline.prediction, data.sample_weight)
    found = baseline.cross_validated
    return {
        "metric": formulation.metric,
        "cross_validated": None if found is None else sign * found,
        "training": sign * formulation.score(*context),
        **formulation.details(*context),
    }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | Integral | Real | str) else repr(value)
