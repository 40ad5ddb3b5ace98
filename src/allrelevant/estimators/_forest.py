"""What both forest relevance estimators share: the way from data to a relevance result."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from allrelevant._progress import Progress
from allrelevant._threads import one_thread
from allrelevant.errors import RelevanceWarning
from allrelevant.estimators._described import feature_names
from allrelevant.estimators._forest_order import ForestOrder, forest_order
from allrelevant.estimators._forest_result import NOTHING, Found, forest_result
from allrelevant.estimators._input import check_permutations, check_rows
from allrelevant.estimators._table import Categories, encode, mark_categories
from allrelevant.forest.alone import evidence_alone
from allrelevant.forest.boruta import Copies, compare_with_copies
from allrelevant.forest.decomposition import DECOMPOSITIONS, FOLDS, LOSSES, Refitting, conditional, refit
from allrelevant.forest.evidence import Evidence
from allrelevant.forest.grouping import lost_work
from allrelevant.forest.learner import IMPORTANCES, Array, Forest, Sample, Target
from allrelevant.forest.light import LightForest, leaf_size
from allrelevant.forest.model import fit_model
from allrelevant.forest.scikit import ScikitForest
from allrelevant.inference import CONTROLS
from allrelevant.redundancy import FeatureGroups
from allrelevant.relevance.grouping import flat_groups, height_between, tree

__all__ = ["ForestRelevance"]

LINKAGES = ("average", "single", "complete", "weighted")
#: Share of the features that a tree sees where redundant ones may hide each other.
DENSE = 0.8
#: As many features are all seen by every tree of a forest that predicts: they may matter only together.
FEW = 4
#: Trees that predict are at least as deep and have leaves at most as large; those that judge features need neither.
DEEP, FINE = 8, 3


class ForestRelevance(SelectorMixin, BaseEstimator):
    """Base of the forest relevance estimators; not to be used on its own."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "importance": [StrOptions(set(IMPORTANCES))],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_depth": [Interval(Integral, 1, 16, closed="both")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "feature_fraction": [Interval(Real, 0, 1, closed="right")],
        "bagging_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "control": [StrOptions(set(CONTROLS))],
        "n_copies": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "decomposition": [StrOptions(set(DECOMPOSITIONS))],
        "loss": [StrOptions(set(LOSSES))],
        "n_probes": [Interval(Integral, 3, None, closed="left")],
        "fpr": [Interval(Real, 0, 0.5, closed="neither")],
        "categorical_features": "no_validation",
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        estimator: Any = None,
        importance: str = "held_out",
        n_estimators: int = 150,
        max_depth: int = 5,
        min_samples_leaf: int | str = "auto",
        feature_fraction: float = 0.3,
        bagging_fraction: float = 0.8,
        n_folds: int = 3,
        level: float = 0.05,
        control: str = "fdr",
        n_copies: int | str = "auto",
        decomposition: str = "conditional",
        loss: str = "training",
        n_probes: int = 50,
        fpr: float = 1e-6,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.importance = importance
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.feature_fraction = feature_fraction
        self.bagging_fraction = bagging_fraction
        self.n_folds = n_folds
        self.level = level
        self.control = control
        self.n_copies = n_copies
        self.decomposition = decomposition
        self.loss = loss
        self.n_probes = n_probes
        self.fpr = fpr
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _validated(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> tuple[Array, NDArray[Any], Array]:
        """Samples, targets and weights as numbers; sets what :meth:`predict` needs to read samples alike."""
        self._validate_params()
        table, self._categories = encode(X)
        samples, labels = validate_data(
            self, table, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2, **options
        )
        weight = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        used, least = int((weight > 0).sum()), 3 if self.n_folds > 2 else 4
        if used < least:
            raise ValueError(
                f"X has {used} samples of positive weight, but at least {least} are needed: forests are grown on what "
                f"n_folds={self.n_folds} leaves of them"
            )
        self._categorical = mark_categories(self.categorical_features, feature_names(self), self._categories)
        return samples, labels, weight

    def _read(self, X: Any) -> Array:
        """Samples to predict, as numbers."""
        check_is_fitted(self)
        known: Categories = self._categories
        table, _ = encode(X, known)
        samples: Array = validate_data(self, table, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return samples

    def _forest(self, feature_fraction: float) -> Forest:
        if self.estimator is not None:
            return ScikitForest(self.estimator)
        leaf = None if self.min_samples_leaf == "auto" else int(self.min_samples_leaf)
        return LightForest(self.n_estimators, self.max_depth, feature_fraction, self.bagging_fraction, leaf)

    def _dense_forest(self, n_features: int) -> Forest:
        return self._forest(DENSE if n_features > FEW else 1.0)

    def _predicting_forest(self, relevant: Sample) -> Forest:
        forest = self._dense_forest(relevant.X.shape[1])
        if not isinstance(forest, LightForest):
            return forest
        leaf = leaf_size(len(relevant.X)) if forest.min_samples_leaf is None else forest.min_samples_leaf
        return replace(forest, max_depth=max(DEEP, forest.max_depth), min_samples_leaf=min(FINE, leaf))

    def _fit_relevance(
        self, X: Array, target: Target, weight: Array, metric: str, groups: Any = None, strata: Any = None
    ) -> None:
        """Run the whole method on validated data; sets all fitted attributes."""
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        rows = check_rows(groups, strata, X, target.values, weight)
        check_permutations(rows, target.values, weight)
        order, whole = forest_order(X, self._categorical, target, weight, rows)
        self._order: ForestOrder = order
        progress = Progress(int(self.verbose))
        with one_thread(None):
            found = self._search(whole, seed, progress)
            relevant = whole.select(found.relevant)
            with progress.stage("model", 1):
                model = fit_model(relevant, self._predicting_forest(relevant), seed=seed)
                progress.step()
        self._predictor, self._relevant = model.predictor, found.relevant
        # What questions about groups need; distances are found with the first of them.
        self._sample, self._seed = relevant, seed
        self._distances: Array | None = None
        result = forest_result(
            self,
            found,
            problem="classification" if target.n_classes else "regression",
            n_samples=len(whole.X),
            scores={"metric": metric, "cross_validated": model.cross_validated, "training": model.training},
            cpu_seconds=progress.cpu_seconds,
        )
        self.result_ = result = replace(result, notes=(*rows.notes, *result.notes))
        self.intervals_ = result.intervals
        self.relevance_classes_ = result.classes
        self.pvalues_ = result.pvalues
        self.adjusted_pvalues_ = result.adjusted_pvalues
        self.thresholds_ = result.thresholds
        self.importances_ = found.importances
        self.replaceable_ = found.replaceable
        for note in (*rows.notes, *(() if len(found.relevant) else (NOTHING,))):
            warnings.warn(note, RelevanceWarning, stacklevel=3)

    def _search(self, whole: Sample, seed: int, progress: Progress) -> Found:
        """Find the relevant features, and which of them are strong."""
        context: dict[str, Any] = {"seed": seed, "n_jobs": self.n_jobs, "progress": progress}
        member = self._order.member
        n_copies = None if self.n_copies == "auto" else int(self.n_copies)
        copies = Copies(self.importance, self.n_folds, n_copies)
        importances = compare_with_copies(whole, self._forest(self.feature_fraction), copies, **context)
        with progress.stage("permutations", 1):
            alone = evidence_alone(whole, seed=seed)
            progress.step()
        evidence = Evidence(importances, alone, whole.n_permutations, float(self.level), self.control)
        relevant = np.flatnonzero(evidence.relevant)
        found = Found(member, evidence, relevant)
        if not len(relevant):
            return found
        if self.decomposition == "refit":
            refitting = Refitting(self.n_probes, self.fpr, self.loss)
            parts = refit(whole.select(relevant), whole, self._forest(DENSE), refitting, **context)
            return replace(found, parts=parts)
        parts = conditional(whole.select(relevant), self._dense_forest(len(relevant)), **context)
        return replace(found, parts=parts)

    def _outputs(self, X: Any) -> Array:
        """Predictions of the final forest: numbers or probabilities."""
        samples = self._read(X)
        samples = self._order.read(samples, self._relevant)
        return self._order.restore(np.asarray(self._predictor.predict(samples)))

    def group_features(
        self, cutoff: float = 0.5, *, n_groups: int | None = None, method: str = "average"
    ) -> FeatureGroups:
        """Group relevant features that do the same work in forests.

        The values of a feature are drawn anew from samples that are alike in another feature, and a forest of all
        relevant features predicts unseen samples with these. The distance of two features is the share of their work
        that is lost by that: 0 if each tells all of the other that the forest needs, 1 if nothing.

        Parameters
        ----------
        cutoff : float, default=0.5
            Distance, from 0 to 1, beyond which features are not of one group.
        n_groups : int, default=None
            Number of groups, instead of a cutoff.
        method : {"average", "single", "complete", "weighted"}, default="average"
            Linkage, as in :func:`scipy.cluster.hierarchy.linkage`.

        Returns
        -------
        FeatureGroups
            Distances, tree and groups; ``n_programs`` is the number of forests, and there are no contexts: they are
            NaN. Distances are found once: another cut takes no time.

        See Also
        --------
        allrelevant.plotting.GroupsDisplay : Draws the tree above the shares of importance.

        Notes
        -----
        Unlike a correlation, the distance only counts what the target needs. Features are apart that have much in
        common, but nothing of use; and a feature is close to its square, if only its magnitude matters. Columns that
        order the samples alike are at distance 0. It takes time with the square of the number of relevant features.

        A strongly relevant feature may be in a group with others, unlike with linear models: noisy copies tell almost
        all of each other, but together they know more than any of them, so that none can be left out without a loss.

        Examples
        --------
        >>> from allrelevant import ForestRelevanceClassifier
        >>> from allrelevant.datasets import make_relevance_interaction
        >>> X, y, _ = make_relevance_interaction(
        ...     600, kind="xor", n_weak=5, partition=[2, 3], n_irrelevant=4, random_state=0
        ... )
        >>> groups = ForestRelevanceClassifier(random_state=0).fit(X, y).group_features()
        >>> groups.groups
        [['x0', 'x1'], ['x2', 'x3', 'x4']]
        """
        check_is_fitted(self, "result_")
        members = np.flatnonzero(self.result_.classes > 0)
        if method not in LINKAGES:
            raise ValueError(f"method={method!r} is unknown; choose one of {', '.join(map(repr, LINKAGES))}")
        if type(cutoff) is bool or not isinstance(cutoff, Real | float) or not 0.0 <= cutoff <= 1.0:
            raise ValueError(f"cutoff={cutoff!r} must be a distance from 0 to 1")
        if n_groups is not None and (type(n_groups) is bool or n_groups not in range(1, len(members) + 1)):
            raise ValueError(
                f"n_groups={n_groups!r} must be an integer from 1 to {len(members)}, the relevant features"
            )
        if self._distances is None:
            context: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": Progress(int(self.verbose))}
            with one_thread(None):
                self._distances = lost_work(self._sample, self._forest(DENSE), seed=self._seed, **context)
        places = np.searchsorted(self._relevant, self._order.member[members])
        distances = self._distances[np.ix_(places, places)]
        links = tree(distances, method)
        height = float(cutoff) if n_groups is None else height_between(links, n_groups)
        labels = np.full(self.n_features_in_, -1, dtype=np.intp)
        labels[members] = flat_groups(links, len(members), height)
        contexts = np.full((len(members), 2, len(members), 2), np.nan)
        return FeatureGroups(
            self.result_, labels, tuple(members.tolist()), contexts, distances, links, height, n_programs=FOLDS
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.relevance_classes_ > 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
