"""What all linear relevance estimators share: the way from data to a relevance result."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from allrelevant._progress import Progress
from allrelevant._threads import one_thread
from allrelevant.errors import RelevanceWarning
from allrelevant.estimators._canonical import Canonical, canonical_form
from allrelevant.estimators._copies import unite_copies
from allrelevant.estimators._described import feature_names
from allrelevant.estimators._examined import Examined, LinearModel, Part, Request
from allrelevant.estimators._exploring import Exploring
from allrelevant.estimators._folds import divided_groups, given_splits, search_folds
from allrelevant.estimators._input import check_permutations, check_privileged, check_rows, resolve_groups
from allrelevant.estimators._space import Exploration
from allrelevant.estimators._verdict import RULES, Rule, Verdict, judge
from allrelevant.formulations import PRIVILEGED_FORMS, ExplainedSlack, Feature, Formulation, Residual
from allrelevant.inference import CONTROLS, Exchangeability, exchangeability
from allrelevant.lp import Array, PenalisedSolver
from allrelevant.lp.deadline import Deadline
from allrelevant.lp.matrix import Indices, Matrix, power_sums, ranges, some_rows
from allrelevant.lp.view import RowView
from allrelevant.relevance.baseline import Baseline, fit_baseline, in_units
from allrelevant.relevance.copies import Sample
from allrelevant.relevance.intervals import Intervals, relevance_intervals
from allrelevant.relevance.nearoptimal import BUDGETS, near_optimal_set
from allrelevant.relevance.papers import MIN_PROBES
from allrelevant.relevance.solving import Solving

__all__ = ["LinearRelevance"]

#: A model whose predictive weights are less than this share of its norm predicts nothing.
SMALL = 1e-9
#: Columns with values beyond this, or all below one over it, are brought nearer to 1 before squares are taken.
FAR = 1e75
#: Weights of columns of smaller values are too large to be numbers.
LEAST = 1e-290
#: Columns whose mean is more than so many times their standard deviation are far from 0.
DISTANT = 100.0
NO_WEIGHTS = (
    "The best model found has no weights at all (w = 0): no linear model predicts better than a constant, so every "
    "feature is irrelevant."
)
NO_WEIGHTS_BESIDE = (
    "The best model found has no weights at all (w = 0), so every feature is irrelevant: with privileged={!r} the "
    "privileged features explain the slacks at less cost than the regular features decide. Try another form."
)
NOTHING_LEFT = (
    "No function of the privileged features improves what the best model of the regular features decides, so every "
    "privileged feature is irrelevant."
)


#: Parameters of earlier versions, and what to do without them.
REMOVED = {
    "engine": "there is one compiled engine, and HiGHS solves what it cannot prove; leave it out",
    "device": "the compiled engine runs on the CPU, with n_jobs threads; leave it out",
    "memory_limit": "batches are sized to the data; for less memory at a time use a smaller n_jobs",
}


class LinearRelevance(SelectorMixin, Exploring):
    """Base of the linear relevance estimators; not to be used on its own."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "scoring": [str, None],
        "norm_slack": [Interval(Real, 0, None, closed="left")],
        "loss_slack": [Interval(Real, 0, None, closed="left")],
        "budgets": [StrOptions(set(BUDGETS))],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "control": [StrOptions(set(CONTROLS))],
        "threshold_rule": [StrOptions(set(RULES))],
        "n_copies": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_probes": [Interval(Integral, MIN_PROBES, None, closed="left")],
        "feature_groups": "no_validation",
        "privileged": [StrOptions(set(PRIVILEGED_FORMS))],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "standardize": ["boolean"],
        "cv": ["cv_object"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __new__(cls, *_: Any, **options: Any) -> LinearRelevance:
        """Refuse parameters of earlier versions with a word on what to use."""
        for name in options.keys() & REMOVED.keys():
            raise TypeError(f"{name}= is gone: {REMOVED[name]}")
        made: LinearRelevance = super().__new__(cls)
        return made

    def __init__(
        self,
        *,
        C: float | None = None,
        scoring: str | None = None,
        norm_slack: float = 0.1,
        loss_slack: float = 0.1,
        budgets: str = "split",
        level: float = 0.05,
        control: str = "fdr",
        threshold_rule: str = "copies",
        n_copies: int | str = "auto",
        n_probes: int = 50,
        feature_groups: Any = None,
        privileged: str = "residual",
        gamma: float | None = None,
        standardize: bool = True,
        cv: Any = 3,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.scoring = scoring
        self.norm_slack = norm_slack
        self.loss_slack = loss_slack
        self.budgets = budgets
        self.level = level
        self.control = control
        self.threshold_rule = threshold_rule
        self.n_copies = n_copies
        self.n_probes = n_probes
        self.feature_groups = feature_groups
        self.privileged = privileged
        self.gamma = gamma
        self.standardize = standardize
        self.cv = cv
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit_relevance(
        self,
        formulation: Formulation,
        X: Matrix,
        y: NDArray[Any],
        target: Array,
        sample_weight: Array,
        X_privileged: Any = None,
        groups: Any = None,
        strata: Any = None,
        factor: Array | None = None,
    ) -> LinearModel:
        """Run the whole method on validated data; sets all fitted attributes but those of the model."""
        formulation = formulation.scored_by(self.scoring)
        random_state = check_random_state(self.random_state)
        seeds = [int(seed) for seed in random_state.randint(np.iinfo(np.int32).max, size=4)]
        names = feature_names(self)
        members = resolve_groups(self.feature_groups, names)
        rows = check_rows(groups, strata, X, target, sample_weight)
        check_permutations(rows, target, sample_weight)
        searches = self.C is None or X_privileged is not None
        splits = given_splits(self.cv, formulation, X, y, target, groups) if searches else None
        rows = rows._replace(notes=(*rows.notes, *divided_groups(splits, rows.groups)))
        request = Request(formulation, X, target, sample_weight, [members], seeds[:2], splits, factor=factor, rows=rows)
        joint = X_privileged is not None and self.privileged != "residual"
        if X_privileged is not None:
            if not formulation.n_slacks:
                raise ValueError(f"X_privileged is not supported for {formulation.name}; fit without it")
            P, more = check_privileged(X_privileged, len(target))
            others = [(name, np.array([k], dtype=np.intp)) for k, name in enumerate(more)]
        if joint and sparse.issparse(X):
            raise TypeError(
                f"X is sparse, but privileged={self.privileged!r} puts it into one program with X_privileged, which "
                "must be dense; give X.toarray(), or use privileged='residual'"
            )
        if joint:
            gamma = 1.0 if self.gamma is None and self.C is not None else self.gamma
            explained = ExplainedSlack(formulation, self.privileged == "kept", P.shape[1], gamma)
            shifted = [(name, columns + X.shape[1]) for name, columns in others]
            request = request._replace(
                formulation=explained, X=np.hstack([X, P]), members=[members, shifted], seeds=seeds[:3]
            )
        # One thread per worker: small products gain nothing from more, and rounding stays the same.
        deadline = Deadline(None if self.time_limit is None else float(self.time_limit))
        with one_thread(), deadline.watched():
            progress = Progress(int(self.verbose))
            found = self._examine(request, progress)
            beside = None
            privileged = found.result(1, self) if joint else None
            if X_privileged is not None and not joint:
                given = self._unseen_decisions(found)[:, None]
                left = request._replace(
                    formulation=Residual(formulation),
                    X=P,
                    members=[others],
                    seeds=seeds[2:],
                    given=given,
                    rows=rows._replace(notes=()),
                )
                progress = Progress(int(self.verbose))
                beside = self._examine(left, progress)
                privileged = beside.result(0, self)

        for name in [name for name in vars(self) if name.startswith("privileged_")]:
            delattr(self, name)
        self.result_ = result = replace(found.result(0, self), privileged=privileged)
        counts = [len(columns) for _, columns in members]
        order = np.argsort(np.concatenate([columns for _, columns in members]), kind="stable")
        place = np.repeat(np.arange(len(members)), counts)[order]
        self.intervals_ = result.intervals[place]
        self.relevance_classes_ = result.classes[place]
        self.pvalues_ = result.pvalues[place]
        self.adjusted_pvalues_ = result.adjusted_pvalues[place]
        self.thresholds_ = result.thresholds
        if privileged is not None:
            self.privileged_feature_names_in_ = np.array(privileged.feature_names, dtype=object)
            self.privileged_intervals_ = privileged.intervals
            self.privileged_relevance_classes_ = privileged.classes
            self.privileged_pvalues_ = privileged.pvalues
            self.privileged_adjusted_pvalues_ = privileged.adjusted_pvalues
            self.privileged_thresholds_ = privileged.thresholds
        self._exploration = Exploration.of(found, beside)
        for note in dict.fromkeys([*found.warnings, *([] if beside is None else beside.hurried)]):
            warnings.warn(note, RelevanceWarning, stacklevel=3)
        return found.model(X.shape[1])

    def _examine(self, request: Request, progress: Progress) -> Examined:
        """Fit the baseline, bound all features and judge them."""
        kinds = np.zeros(request.X.shape[1], dtype=np.intp)
        for number, members in enumerate(request.members):
            for _, columns in members:
                kinds[columns] = number
        data = canonical_form(
            request.X,
            request.target,
            request.sample_weight,
            factor=request.factor,
            nominal=request.formulation.nominal,
            kinds=kinds,
            fixed=request.given,
            groups=request.rows.groups,
            strata=request.rows.strata,
        )
        data, mean, scale = self._standardize(data)
        Z = data.together
        baseline = fit_baseline(
            request.formulation,
            Z,
            data.target,
            data.sample_weight,
            C=self.C,
            folds=search_folds(self.cv, request, data),
            progress=progress,
            given_weight=data.given_weight,
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
        formulation, shift, width = baseline.formulation, data.fixed.shape[1], Z.shape[1]
        informed = bool(np.any(np.abs(baseline.w[formulation.predictive(width)]) > SMALL * near.mu))
        place = np.argsort(data.columns)
        sample, rows = _as_given(request, data, Z, baseline.unit)
        copies = None if isinstance(self.n_copies, str) else int(self.n_copies)
        rule = Rule(self.threshold_rule, float(self.level), self.control, copies, int(self.n_probes))
        parts = []
        for number, members in enumerate(request.members):
            places = [np.sort(place[member]) + shift for _, member in members]
            order = [int(k) for k in np.argsort([columns[0] for columns in places], kind="stable")]
            places = [places[k] for k in order]
            features = [self._feature(baseline, columns, width) for columns in places]
            if informed:
                solving = Solving(self.n_jobs, progress)
                intervals = relevance_intervals(near, features, solving)
                verdict = judge(
                    near,
                    formulation,
                    sample,
                    places,
                    intervals,
                    rule,
                    rows.permutation,
                    privileged=number > 0,
                    seed=request.seeds[1 + number],
                    solving=solving,
                )
            else:
                intervals = Intervals.none(len(features))
                note = NOTHING_LEFT if formulation.may_be_empty else NO_WEIGHTS
                if isinstance(formulation, ExplainedSlack):
                    note = NO_WEIGHTS_BESIDE.format(self.privileged)
                verdict = Verdict.nothing(len(features), rule, note)
            parts.append(Part(members, order, features, intervals, verdict))
        return Examined(request, data, mean, scale, baseline, near, parts, progress)

    def _feature(self, baseline: Baseline, columns: Indices, width: int) -> Feature:
        """What counts of one column, or of several that belong together."""
        parts = [baseline.formulation.feature(int(k), width) for k in columns]
        return parts[0] if len(parts) == 1 else Feature.join(parts, baseline.program.gamma)

    def _unseen_decisions(self, found: Examined) -> Array:
        """Decision value of every sample by the model of the folds it was not part of, if there are any."""
        data, baseline = found.data, found.baseline
        formulation, Z = baseline.formulation, data.X
        total, count = np.zeros(len(data.target)), np.zeros(len(data.target))
        for fold in search_folds(self.cv, found.request, data, strict=False, repeats=1):
            train = fold.train > 0
            program = formulation.program(Z[train], data.target[train], fold.train[train] / baseline.unit)
            w, b = PenalisedSolver(program).solve(baseline.C)
            total += fold.test * formulation.decision(Z, w, b)
            count += fold.test
        seen = formulation.decision(Z, baseline.w, baseline.b)
        values = np.where(count > 0, total / np.where(count > 0, count, 1.0), seen)
        return np.asarray(np.where(data.position >= 0, values[data.position], 0.0))

    def _standardize(self, data: Canonical) -> tuple[Canonical, Array, Array]:
        """Shift and scale the columns, in place or in a view; return the data, and by how much.

        Nobody needs the arranged copy of the data as it was. Constant columns become 0, so that no weight of theirs
        acts as offset. Sparse columns are not shifted where that would fill them: the offsets of a model, which are
        free, make up for it. A view shifts what was multiplied before, so columns far from 0 need a copy.
        """
        X, weight = data.X, data.given_weight
        low, high = ranges(X)
        constant = low == high
        mean, scale, unit = low, np.ones(len(low)), np.ones(len(low))
        if self.standardize:
            unit = _units(np.maximum(-low, high), data.columns)
            if (unit != 1.0).any():
                _transform(X, np.zeros(len(unit)), unit)
            mean = power_sums(X, weight, np.zeros(len(low)), 1) / weight.sum()
            scale = np.sqrt(power_sums(X, weight, mean, 2) / weight.sum())
            # Columns that vary by less than rounding cannot be scaled in any meaningful way.
            constant |= scale <= 10 * np.finfo(float).eps * np.abs(mean)
        shifted = constant | self.standardize
        if sparse.issparse(X):
            shifted &= np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
        mean, scale = np.where(shifted, mean, 0.0), np.where(constant, np.inf, scale)
        if isinstance(X, RowView) and (np.abs(mean) > DISTANT * scale).any():
            data = replace(data, X=X[:])
        _transform(data.X, mean, scale)
        if self.standardize and isinstance(data.X, np.ndarray):
            unite_copies(data.X, np.abs(mean) / scale)
        return data, mean * unit, scale * unit

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.relevance_classes_ > 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _as_given(request: Request, data: Canonical, Z: Matrix, unit: float) -> tuple[Sample, Exchangeability]:
    """The samples as they were given, in canonical order, and which of them can be exchanged.

    Equal samples, which are one row of `Z`, are exchanged each by itself.
    """
    fixed, weight, groups, strata = data.fixed.shape[1], data.sample_weight, data.groups, data.strata
    target = data.target
    given = np.flatnonzero(data.position >= 0)
    if len(given) > len(target):
        order = given[np.lexsort((request.sample_weight[given], data.position[given]))]
        place, weight = data.position[order], request.sample_weight[order]
        if request.factor is not None:
            weight = weight * request.factor[order]
        Z, target = some_rows(Z, place), target[place]
        groups, strata = (None if numbers is None else numbers[place] for numbers in (groups, strata))
    rows = exchangeability(len(target), target, groups, strata)
    return Sample(Z, target, in_units(weight, unit), fixed), rows


def _units(reach: Array, columns: Indices) -> Array:
    """Powers of two to divide columns by whose squares are no numbers any more; 1 for all others.

    Raises
    ------
    ValueError
        If weights of a column of such small values would be no numbers.
    """
    small = np.flatnonzero((reach > 0.0) & (reach < LEAST))
    if len(small):
        raise ValueError(
            f"X has a column, {min(columns[small])}, whose values are all below {LEAST:g}; give it in another unit"
        )
    far = (reach > FAR) | ((reach > 0.0) & (reach < 1.0 / FAR))
    return np.where(far, np.exp2(np.floor(np.log2(np.where(far, reach, 1.0)))), 1.0)


def _transform(X: Matrix, mean: Array, scale: Array) -> None:
    """Shift and scale columns in place."""
    if sparse.issparse(X):
        X.data -= mean[X.indices]
        X.data /= scale[X.indices]
        X.eliminate_zeros()
    elif isinstance(X, RowView):
        X.table.standardize(mean, scale)
    else:
        X -= mean
        X /= scale
