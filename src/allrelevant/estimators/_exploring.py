"""Questions to a fitted estimator: what if a feature is held, what goes together, what stands in for what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from allrelevant._progress import Progress
from allrelevant._threads import one_thread
from allrelevant.errors import TimeLimitReached
from allrelevant.estimators._answers import find_groups, find_panels, find_substitutes, hold
from allrelevant.estimators._examined import Examined
from allrelevant.estimators._folds import combined, search_folds
from allrelevant.estimators._input import Rows
from allrelevant.estimators._space import Exploration, find_feature, read_costs, read_limits
from allrelevant.inference.bootstrap import bootstrap
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices
from allrelevant.redundancy import FeatureGroups, Panels, Stability, Substitutes
from allrelevant.relevance.baseline import cross_validated_score
from allrelevant.relevance.solving import Solving
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["Exploring"]

METHODS = ("single", "complete", "average", "weighted")
SCOPES = ("relevant", "all")


class Exploring(BaseEstimator):
    """Methods of fitted estimators that ask the near-optimal models further questions, without another fit."""

    C: float | None
    cv: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    result_: RelevanceResult
    _exploration: Exploration
    _examine: Callable[..., Examined]

    def constrain(
        self,
        constraints: Mapping[Any, Any],
        *,
        privileged: Mapping[Any, Any] | None = None,
        both_signs: bool = False,
        wanted: Iterable[Any] | None = None,
    ) -> RelevanceResult:
        """Hold the relevance of features and see what that leaves for all others.

        Only near-optimal models are looked at in which the given features have the given relevance. Nothing is fitted
        again.

        Parameters
        ----------
        constraints : dict
            Features, by name or position, with the relevance they are held at, in the units of the intervals: a number,
            or a pair ``(low, high)``, of which either may be None. 0 excludes a feature.
        privileged : dict, default=None
            The same for privileged features.
        both_signs : bool, default=False
            A least relevance is asked of the sign that a feature has in the baseline model, and of both if it has no
            weight there or no model meets the constraints otherwise. If True, of both for all features.
        wanted : iterable of str or int, default=None
            Features to bound, where not all are of interest; the others keep the interval without constraints.

        Returns
        -------
        RelevanceResult
            Intervals under the constraints, classes by the same thresholds, the intervals without constraints as
            ``unconstrained`` and the difference as ``delta``. A relevant feature that all models left need is strongly
            relevant, however little room they leave it.

        Raises
        ------
        InfeasibleConstraint
            If no near-optimal model meets the constraints. It names the features to blame and the range of relevance
            that is possible for each.

        Notes
        -----
        A value at an end of an interval is met to 1e-5: the models that meet it exactly are a single one, in which
        nothing could be proven.
        """
        self._check_answerable()
        given = [constraints, privileged]
        if privileged is not None and self.result_.privileged is None:
            raise ValueError("privileged has constraints, but the estimator was fitted without X_privileged")
        results = [self.result_, *([] if self.result_.privileged is None else [self.result_.privileged])]
        limits = [
            read_limits(asked or {}, result.feature_names, what)
            for asked, result, what in zip(given, results, ("constraints", "privileged"), strict=False)
        ]
        some = None if wanted is None else [find_feature(one, results[0].feature_names, "wanted") for one in wanted]
        with self._asking() as solving:
            held = hold(self._exploration, results, limits, some, solving, both_signs=both_signs)
        return replace(held[0], privileged=held[1] if len(held) > 1 else None)

    def group_features(
        self,
        cutoff: float | str = "auto",
        *,
        n_groups: int | None = None,
        method: str = "single",
        scope: str = "relevant",
    ) -> FeatureGroups:
        """Group features that play the same part in near-optimal models.

        Every feature is held at its ``minRel`` and at its ``maxRel``, and what that does to the intervals of all others
        is its context. Features with similar contexts are linked. Strongly relevant features stand alone, whatever they
        resemble: nothing can stand in for them.

        Parameters
        ----------
        cutoff : float or "auto", default="auto"
            Where to cut the tree, as a share of its height (the papers propose to look at the tree and choose), or a
            height found from how far redundant features typically are from their companions.
        n_groups : int, default=None
            Number of groups, instead of a cutoff; fewer where features are copies, which nothing tells apart.
        method : {"single", "complete", "average", "weighted"}, default="single"
            Linkage, as in :func:`scipy.cluster.hierarchy.linkage`.
        scope : {"relevant", "all"}, default="relevant"
            Which features take part. With ``"all"`` classes play no role: the tree of all features is cut.

        Returns
        -------
        FeatureGroups
            Contexts, distances, tree and groups. Contexts are found once: another cut takes no time.

        See Also
        --------
        allrelevant.plotting.GroupsDisplay : Draws the tree above the intervals.
        """
        self._check_answerable()
        _choice("method", method, METHODS)
        _choice("scope", scope, SCOPES)
        if cutoff != "auto" and not (_is_number(cutoff) and 0.0 <= float(cutoff) <= 1.0):
            raise ValueError(f"cutoff={cutoff!r} must be 'auto' or a share of the height of the tree, from 0 to 1")
        result = self.result_
        members = [k for k in range(result.n_features) if scope == "all" or result.classes[k] > 0]
        alone = [k for k in members if scope == "relevant" and result.classes[k] == RelevanceClass.STRONG]
        if n_groups is not None:
            least, most = len(alone) + (len(members) > len(alone)), len(members)
            if not _is_count(n_groups, least) or n_groups > most:
                raise ValueError(
                    f"n_groups={n_groups!r} must be an integer from {least} to {most}: {most} features take part, of "
                    f"which {len(alone)} are strongly relevant and stand alone"
                )
        share = None if isinstance(cutoff, str) else float(cutoff)
        with self._asking() as solving:
            return find_groups(
                self._exploration,
                result,
                members,
                alone=alone,
                cutoff=share,
                n_groups=n_groups,
                method=method,
                solving=solving,
            )

    def substitutes(self, feature: Any, *, n_sets: int = 3, time_limit: float = 60.0) -> Substitutes:
        """Find what can stand in for a feature, and the price of doing without all of it.

        Parameters
        ----------
        feature : str or int
            The feature, by name or position.
        n_sets : int, default=3
            Number of sets of substitutes, at most.
        time_limit : float, default=60.0
            Seconds that the search for sets may take, roughly. What is found until then is returned.

        Returns
        -------
        Substitutes
            Sets of features; each of a set is enough to make up for the feature, and without the feature and all of
            the set no near-optimal model is left.
        """
        self._check_answerable()
        if not _is_count(n_sets, 1):
            raise ValueError(f"n_sets={n_sets!r} must be an integer of at least 1")
        if not _is_number(time_limit) or time_limit <= 0:
            raise ValueError(f"time_limit={time_limit!r} must be a number of seconds above 0")
        k = find_feature(feature, self.result_.feature_names, "feature")
        with self._asking() as solving:
            return find_substitutes(self._exploration.spaces[0], self.result_, k, n_sets, float(time_limit), solving)

    def panels(
        self,
        costs: Any = None,
        k: int = 10,
        *,
        max_size: int | None = None,
        include: Iterable[Any] = (),
        exclude: Iterable[Any] = (),
        scope: str = "relevant",
        time_limit: float = 60.0,
    ) -> Panels:
        """Find the cheapest sets of features that still admit a near-optimal model.

        Mixed-integer programs prove that no cheaper set does. No panel contains another one.

        Parameters
        ----------
        costs : dict or array-like of shape (n_features,), default=None
            What every feature costs: 1 by default, and for those that a dictionary does not name.
        k : int, default=10
            Number of panels.
        max_size : int, default=None
            Features that a panel may have.
        include, exclude : iterable of str or int, default=()
            Features that every panel has, or that none has.
        scope : {"relevant", "all"}, default="relevant"
            Which features are offered. Irrelevant ones fill gaps by chance alone; they are offered nevertheless, with a
            note, where the relevant ones admit no near-optimal model.
        time_limit : float, default=60.0
            Seconds that the search may take. What is found until then is returned, with what is proven of it.

        Returns
        -------
        Panels
            The panels, with the cross-validated score of a model fitted on each.

        Raises
        ------
        SolverTimeout
            If not even one panel is found in time.
        """
        self._check_answerable()
        _choice("scope", scope, SCOPES)
        for name, value in {"k": k, "max_size": 1 if max_size is None else max_size}.items():
            if not _is_count(value, 1):
                raise ValueError(f"{name}={value!r} must be an integer of at least 1")
        if not _is_number(time_limit) or time_limit <= 0:
            raise ValueError(f"time_limit={time_limit!r} must be a number of seconds above 0")
        result, space = self.result_, self._exploration.spaces[0]
        names = result.feature_names
        inside = {find_feature(one, names, "include") for one in include}
        outside = {find_feature(one, names, "exclude") for one in exclude}
        if inside & outside:
            both = ", ".join(sorted(names[j] for j in inside & outside))
            raise ValueError(f"{both} cannot be in include and in exclude; leave it in one of them")
        every = [j for j in range(len(names)) if j not in outside]
        relevant = [j for j in every if result.classes[j] > 0 or j in inside]
        with self._asking() as solving:
            return find_panels(
                space,
                result,
                read_costs(costs, names),
                k,
                offered=relevant if scope == "relevant" else every,
                more=every,
                include=inside,
                max_size=max_size,
                time_limit=float(time_limit),
                score=self._refitted_score,
                solving=solving,
            )

    def _refitted_score(self, chosen: Sequence[int]) -> float | None:
        """Cross-validated score of a model of some features, in the folds of the fit."""
        space = self._exploration.spaces[0]
        data, formulation = space.data, space.baseline.formulation
        columns = [space.columns(0)[j] for j in chosen]
        columns += [one for kind in range(1, len(space.parts)) for one in space.columns(kind)]
        X = data.X[:, np.sort(np.concatenate([np.empty(0, dtype=np.intp), *columns]))]
        folds = list(search_folds(self.cv, space.request, data, strict=False))
        score = cross_validated_score(
            formulation, X, data.target, data.sample_weight, folds, C=self.C, given_weight=data.given_weight
        )
        return score if score is None or not formulation.metric.is_error else -score

    def stability(self, n_bootstraps: int = 20, *, random_state: Any = None) -> Stability:
        """See how classes and intervals vary when the samples are drawn again.

        Every bootstrap draws as many samples with replacement, within classes and strata where there are any, and runs
        the whole method on them, with the search for `C` where it was not given. Samples that are drawn several times
        fall into one fold. Two different samples of each class are drawn at least, if there are two. Where samples
        belong to groups, it draws as many whole groups, among those of a stratum with samples of the same classes.

        Parameters
        ----------
        n_bootstraps : int, default=20
            Number of bootstraps, at least 2.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws; by default that of the estimator.

        Returns
        -------
        Stability
            Shares of the classes and spread of the intervals.
        """
        check_is_fitted(self, "result_")
        if not _is_count(n_bootstraps, 2):
            raise ValueError(f"n_bootstraps={n_bootstraps!r} must be an integer of at least 2")
        seed = self.random_state if random_state is None else random_state
        rng = check_random_state(seed)
        space = self._exploration.spaces[0]
        data, request = space.data, space.request
        members = [
            [(name, columns) for (name, _), columns in zip(part.members, space.columns(kind), strict=True)]
            for kind, part in enumerate(space.parts)
        ]
        strata = combined(space.baseline.formulation.strata(data.target), data.strata)
        rows = Rows(data.groups, data.strata)
        found, factor = [], data.sample_weight / data.given_weight
        with self._asking() as solving, solving.progress.stage("bootstraps", int(n_bootstraps)):
            for _ in range(int(n_bootstraps)):
                counts = bootstrap(data.given_weight, strata, rng, data.groups, least=2)
                seeds = [int(one) for one in rng.randint(np.iinfo(np.int32).max, size=len(request.seeds))]
                again = request._replace(
                    X=data.X,
                    target=data.target,
                    sample_weight=counts,
                    members=members,
                    seeds=seeds,
                    splits=self._splits_of(counts),
                    factor=factor,
                    rows=rows,
                    drawn=True,
                )
                examined = self._examine(again, Progress())
                found.append(examined.result(0, self))
                solving.progress.step()
        return Stability(
            self.result_, np.stack([one.classes for one in found]), np.stack([one.intervals for one in found])
        )

    def _splits_of(self, counts: Array) -> list[tuple[Indices, Indices]] | None:
        """Splits that the user gave, of the samples that were drawn; None where folds are drawn."""
        space = self._exploration.spaces[0]
        if space.request.splits is None:
            return None
        sides = [
            (np.flatnonzero(counts * fold.train), np.flatnonzero(counts * fold.test))
            for fold in search_folds(self.cv, space.request, space.data)
        ]
        return [(train, test) for train, test in sides if len(train) and len(test)]

    def _check_answerable(self) -> None:
        """See that there is something to ask: every question starts from the ends of intervals.

        Raises
        ------
        TimeLimitReached
            If the fit ran out of time for some of them.
        """
        check_is_fitted(self, "result_")
        missing = [
            name for one in (self.result_, self.result_.privileged) if one is not None for name in one.incomplete
        ]
        if missing:
            raise TimeLimitReached(
                f"the fit ran out of time for the intervals of {len(missing)} features, {missing[0]} among them, and "
                "questions start from these; fit with a larger time_limit, or with None, to ask"
            )

    @contextmanager
    def _asking(self) -> Iterator[Solving]:
        """How questions are answered: as the fit was."""
        solving = Solving(self.n_jobs, Progress(int(self.verbose)))
        with one_thread():
            yield solving


def _choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(map(repr, known))}")


def _is_number(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, Real)


def _is_count(value: Any, least: int) -> bool:
    return type(value) is not bool and isinstance(value, Integral) and int(value) >= least
