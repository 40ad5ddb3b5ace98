"""Relevant features that nothing can replace, and those that others can stand in for.

Two ways. ``conditional`` asks what a feature knows that the others do not: it is replaced by an imitation that the
others make of it, with the rest of it permuted; if unseen samples are then predicted as well as before, the others can
do its work. ``refit`` follows the thesis: forests are grown without the feature, and their loss is compared with that
of forests with a permuted feature more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from allrelevant._progress import Progress
from allrelevant.forest.imitation import Imitation, imitate
from allrelevant.forest.learner import Array, Forest, Grown, Rows, Sample, folds
from allrelevant.inference.prediction import prediction_limit

__all__ = ["DECOMPOSITIONS", "LOSSES", "Decomposition", "Refitting", "conditional", "refit"]

DECOMPOSITIONS = ("conditional", "refit")
LOSSES = ("training", "held_out")
#: Share of a forest's trees that a fold's has.
SHARE = 0.5
#: Folds of the forests whose losses are compared.
FOLDS = 5
#: Times that a feature is permuted or imitated anew.
DRAWS = 3
#: Standard errors by which a feature must be irreplaceable, if the others imitate it perfectly; as many in its favour,
#: if they cannot imitate it at all.
BURDEN = 3.0


@dataclass(frozen=True, eq=False)
class Decomposition:
    """What came of it, for every relevant feature.

    Attributes
    ----------
    strong : ndarray of shape (n_relevant,)
        Whether nothing can replace the feature.
    needed : ndarray of shape (n_relevant,)
        Rise of the loss without what the feature alone knows.
    imitated : ndarray of shape (n_relevant,)
        Share of the feature that the others tell; NaN after ``refit``.
    n_forests : int
        Forests grown.
    """

    strong: NDArray[np.bool_]
    needed: Array
    imitated: Array
    n_forests: int


def conditional(sample: Sample, forest: Forest, *, seed: int, n_jobs: int | None, progress: Progress) -> Decomposition:
    """Tell strong from weak by what is lost with an imitation in a feature's place."""
    d = sample.X.shape[1]
    imitations = imitate(sample, seed=seed, n_jobs=n_jobs, progress=progress)
    rng = np.random.default_rng([seed, 1])
    prepared = forest.prepared(sample)
    needed, used = (np.zeros((len(sample.X), d)) for _ in range(2))
    parts = [(train, test, int(rng.integers(2**31))) for train, test in folds(sample, FOLDS, rng)]
    with progress.stage("imitations in their place", len(parts)):

        def lost(train: Rows, test: Rows, number: int) -> tuple[Array, Array]:
            part = np.random.default_rng(number)
            grown = forest.grow(prepared, train, number, SHARE)
            found = _losses_with_imitations(grown, sample, imitations, test, part)
            progress.step()
            return found

        results = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(lost)(*part) for part in parts)
    for (_, test, _), (without, permuted) in zip(parts, results, strict=True):
        needed[test], used[test] = without, permuted
    weight = sample.weight / sample.weight.sum()
    need, use = weight @ needed, weight @ used
    # Effective number of samples, for weights that differ.
    error = np.sqrt(weight @ (needed - need) ** 2 * (weight**2).sum())
    imitated = np.array([imitation.share for imitation in imitations])
    # A forest that needs what the feature alone knows loses this much of what it loses without the feature at all.
    expected = (1.0 - imitated) * np.maximum(use, 0.0)
    strong = need - expected / 2.0 > BURDEN * error * (2.0 * imitated - 1.0)
    return Decomposition(strong, need, imitated, FOLDS + 2 * d)


def _losses_with_imitations(
    grown: Grown, sample: Sample, imitations: list[Imitation], rows: Rows, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Rise of the loss of every row, with imitations and with permutations in the place of every feature."""
    X = sample.X[rows]
    before = sample.target.losses(rows, grown.predict(X))
    needed, used = (np.empty((len(rows), X.shape[1])) for _ in range(2))
    changed = np.tile(X, (2 * DRAWS, 1))
    for k, imitation in enumerate(imitations):
        # One order for both, so that they differ by nothing where there is nothing to imitate.
        order = rng.permuted(np.tile(np.arange(len(rows)), (DRAWS, 1)), axis=1)
        changed[:, k] = np.concatenate([imitation.draw(rows, order, rng), X[order, k]]).ravel()
        after = sample.target.losses(rows, grown.predict(changed)).reshape(2, DRAWS, -1).mean(axis=1) - before
        needed[:, k], used[:, k] = after
        changed[:, k] = np.tile(X[:, k], 2 * DRAWS)
    return needed, used


@dataclass(frozen=True)
class Refitting:
    """How losses are compared.

    Attributes
    ----------
    n_probes : int
        Forests with a permuted feature more.
    fpr : float
        Share of permuted features beyond each end of the prediction interval.
    loss : str
        ``"training"``: loss of the samples that the forests were grown on; ``"held_out"``: of unseen ones.
    """

    n_probes: int = 50
    fpr: float = 1e-6
    loss: str = "training"


def refit(
    sample: Sample,
    pool: Sample,
    forest: Forest,
    refitting: Refitting,
    *,
    seed: int,
    n_jobs: int | None,
    progress: Progress,
) -> Decomposition:
    """Tell strong from weak by the loss of forests grown without a feature.

    Only features of the minimal set are tried: those more important, in a forest of many features per tree, than
    permuted features are. Those are drawn from `pool`, all features.
    """
    d = sample.X.shape[1]
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem")

    def grown(changed: Sample, number: int) -> tuple[float, Array]:
        found = _loss(forest, changed, refitting.loss, np.random.default_rng([seed, 2, number]))
        progress.step()
        return found

    def probed(number: int) -> tuple[float, Array]:
        rng = np.random.default_rng([seed, 3, number])
        k = int(rng.integers(pool.X.shape[1]))
        X = np.column_stack([sample.X, rng.permutation(pool.X[:, k])])
        return grown(sample.with_columns(X, np.append(sample.categorical, pool.categorical[k])), number)

    with progress.stage("probes", refitting.n_probes):
        probes = parallel(delayed(probed)(k) for k in range(refitting.n_probes))
    whole, importance = _loss(forest, sample, refitting.loss, np.random.default_rng([seed, 4]))
    most_important = prediction_limit(np.array([values[-1] for _, values in probes]), 1.0 - refitting.fpr)
    most_lost = prediction_limit(np.array([loss for loss, _ in probes]), 1.0 - refitting.fpr)
    minimal = np.flatnonzero(importance > most_important) if d > 1 else np.arange(0)
    with progress.stage("forests without a feature", len(minimal)):
        without = parallel(
            delayed(grown)(sample.select(np.delete(np.arange(d), k)), refitting.n_probes + int(k)) for k in minimal
        )
    needed = np.zeros(d)
    needed[minimal] = [loss - whole for loss, _ in without]
    strong = np.zeros(d, dtype=bool)
    strong[minimal] = [loss > most_lost for loss, _ in without]
    if d == 1:
        strong[:] = True
    return Decomposition(strong, needed, np.full(d, np.nan), refitting.n_probes + len(minimal) + 1)


def _loss(forest: Forest, sample: Sample, kind: str, rng: np.random.Generator) -> tuple[float, Array]:
    """Mean loss of a forest, and its importances."""
    prepared = forest.prepared(sample)
    losses, gains = np.zeros(len(sample.X)), np.zeros(sample.X.shape[1])
    everything = np.arange(len(sample.X))
    parts = [(everything, everything)] if kind == "training" else list(folds(sample, FOLDS, rng))
    for train, test in parts:
        grown = forest.grow(prepared, train, int(rng.integers(2**31)), 1.0 / len(parts))
        losses[test] = sample.target.losses(test, grown.predict(sample.X[test]))
        gains += grown.seen("gain")
    return float(np.average(losses, weights=sample.weight)), gains
