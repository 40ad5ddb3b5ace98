"""How steady is C, and what is lost by it: rules for the search, on real data and on designs of known truth.

``real``: ten fits of each data set, with another seed, the classes renamed and 5 % of the rows left out. ``spread`` is
the standard deviation of log10 C over them, ``lost`` how much lower the default score at the chosen C is than the best
of the path, both measured in folds that had no part in the choice.

``truth``: each design of ``designs`` with several seeds. ``both`` and ``false`` are the F1 and the share of false among
the features that two tests together call relevant (alone: correlation with the target; together: maxRel beside copies
whose rows are permuted; combined by Cauchy's rule, Benjamini and Hochberg at .05); ``together`` is the F1 of the
second test alone. ``strong`` is the share of needed features whose minRel is above 0, ``wrong`` the share of others
among those.

Rules: the best mean score of one draw of three folds (up to a tie of one sample), of five draws, or the smallest C
within some standard errors of the best of five draws. The standard error is the standard deviation over all 15 folds by
the root of 15 (``all``) or by that of the 3 folds of one draw (``draw``). The library has ``all 1``.

Seeds below 1000 chose; ``--seeds 1000:1004 --report`` compares the rule that was chosen with the former one on others.

Usage: ``python -m benchmarks.truth.stable_c real``, ``python -m benchmarks.truth.stable_c truth [--seeds 100:103]``
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, genpareto
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.feature_selection import f_classif, f_regression
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant._progress import Progress
from allrelevant.estimators._canonical import canonical_form
from allrelevant.formulations import Classification, Formulation, MultiClass, OrdinalExplicit, Regression
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.search import Fold, _FoldPath, _solved, _started
from allrelevant.relevance.solving import Solving
from benchmarks._common import print_table, short, write_csv
from benchmarks.experiment import data
from benchmarks.truth.every import DESIGNS
from benchmarks.truth.record import Record
from benchmarks.truth.scoring import scores as graded

RESULTS = Path(__file__).with_name("results")
FOLDS, DRAWS = 3, 5
KINDS: dict[str, Any] = {
    "classification": LinearRelevanceClassifier,
    "multiclass": LinearRelevanceClassifier,
    "regression": LinearRelevanceRegressor,
    "ordinal": LinearRelevanceOrdinal,
}
#: Draws, standard errors, and by the root of how many folds.
RULES = {
    "best of one draw": (1, 0.0, 1),
    "best of five": (5, 0.0, 1),
    "all 1": (5, 1.0, FOLDS * DRAWS),
    "draw 0.7": (5, 0.7, FOLDS),
    "draw 1": (5, 1.0, FOLDS),
}
FORMER, CHOSEN = "best of one draw", "all 1"
SIGNAL = (
    "plain", "flip10", "flip20", "imb10", "imb20", "rare", "lognormal", "outliers", "suppressors", "blocks", "factors",
    "n40", "sim1", "sim2", "sim4", "regression", "regression_outliers", "regression_blocks", "regression_lognormal",
    "ordinal",
)  # fmt: skip
N_COPIES = 3
MEASURES = ("both", "false", "together", "strong", "wrong")


class Curve(NamedTuple):
    """A path of penalties of one candidate, with the scores of every fold by name."""

    formulation: Formulation
    values: np.ndarray
    scores: dict[str, np.ndarray]


def formulation_of(kind: str, y: np.ndarray) -> tuple[Formulation, np.ndarray]:
    """The formulation of a kind, and the target as it takes it."""
    if kind == "regression":
        return Regression(), (y - y.mean()) / y.std()
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    if kind == "classification":
        return Classification(), 2.0 * codes - 1.0
    several = MultiClass if kind == "multiclass" else OrdinalExplicit
    return several(int(codes.max()) + 1), codes


def curves(kind: str, X: np.ndarray, y: np.ndarray, seed: int, n_folds: int, draws: int) -> list[Curve]:
    """Solve the whole path of every candidate on every fold, and score it in all ways."""
    formulation, target = formulation_of(kind, y)
    with threadpool_limits(1):
        form = canonical_form(X, target, np.ones(len(y)), nominal=formulation.nominal)
        form = KINDS[kind]()._standardize(form)[0]
        strata = formulation.strata(form.target)
        rng, folds = np.random.RandomState(seed), []
        splitter = (KFold if strata is None else StratifiedKFold)(n_folds, shuffle=True, random_state=rng)
        for _ in range(draws):
            for parts in splitter.split(form.X, strata):
                sides = np.zeros((2, len(form.target)))
                for side, part in zip(sides, parts, strict=True):
                    side[part] = form.given_weight[part]
                folds.append(Fold(*sides))
        out = []
        for path in _started(formulation.candidates(form.target), form.X, form.target, form.sample_weight):
            parts = [_FoldPath(fold, path.formulation, path.values) for fold in folds]
            found = _solved(parts, path.at_once // len(path.values), form.X, form.target, Progress())
            scored = {
                name: np.array(
                    [
                        part._replace(formulation=path.formulation.scored_by(name)).scores(models, form.X, form.target)
                        for part, models in zip(parts, found, strict=True)
                    ]
                )
                for name in formulation.metrics
            }
            out.append(Curve(path.formulation, path.values, scored))
    return out


def choose(paths: Sequence[Curve], scoring: str, rule: str, n_samples: int) -> tuple[int, int]:
    """Candidate and place on its path: the candidate by the first draw, ``C`` by a rule."""
    draws, errors, root = RULES[rule]
    tie = 1.0 / n_samples
    best = [path.scores[scoring][:FOLDS].mean(axis=0).max() for path in paths]
    which = 0
    for k in range(1, len(paths)):
        which = k if best[k] > best[which] + tie else which
    some = paths[which].scores[scoring][: FOLDS * draws]
    mean = some.mean(axis=0)
    top = int(mean.argmax())
    within = errors * some[:, top].std(ddof=1) / np.sqrt(root) if errors else tie
    return which, int(np.argmax(mean >= mean[top] - within - 1e-9))


def _csv(file: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.genfromtxt(data(file), delimiter=",", skip_header=1)
    table = table[np.isfinite(table).all(axis=1)]
    return table[:, :-1], table[:, -1]


def _eight() -> tuple[np.ndarray, np.ndarray]:
    bunch = load_breast_cancer()
    names = bunch.feature_names.tolist()
    columns = [names.index(f"{a} {b}") for a in ("mean", "worst") for b in ("radius", "texture", "area", "smoothness")]
    return bunch.data[:, columns], bunch.target


def _two_wines() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return X[y < 2], y[y < 2]


def _heart() -> tuple[np.ndarray, np.ndarray]:
    X, y = _csv("classification/heart_cleveland.csv")
    return X, y > 0


REAL: dict[str, tuple[str, Callable[[], tuple[np.ndarray, np.ndarray]]]] = {
    "breast cancer": ("classification", lambda: load_breast_cancer(return_X_y=True)),
    "8 of breast cancer": ("classification", _eight),
    "wine, 2 classes": ("classification", _two_wines),
    "SPECTF": ("classification", lambda: _csv("classification/spectf.csv")),
    "heart": ("classification", _heart),
    "wine": ("multiclass", lambda: load_wine(return_X_y=True)),
    "iris": ("multiclass", lambda: load_iris(return_X_y=True)),
    "newthyroid, no order": ("multiclass", lambda: _csv("ordinal/newthyroid.csv")),
    "diabetes": ("regression", lambda: load_diabetes(return_X_y=True)),
    "prostate": ("regression", lambda: _csv("regression/prostate_esl.csv")),
    "tecator, every 5th": ("regression", lambda: (lambda X, y: (X[:, ::5], y))(*_csv("regression/tecator_fat.csv"))),
    "bondrate": ("ordinal", lambda: _csv("ordinal/bondrate.csv")),
    "squash-stored": ("ordinal", lambda: _csv("ordinal/squash-stored.csv")),
    "tae": ("ordinal", lambda: _csv("ordinal/tae.csv")),
    "newthyroid": ("ordinal", lambda: _csv("ordinal/newthyroid.csv")),
    "automobile": ("ordinal", lambda: _csv("ordinal/automobile.csv")),
}


def real(name: str) -> list[dict[str, Any]]:
    """Measure one real data set, by all scores and rules."""
    kind, load = REAL[name]
    X, y = load()
    runs = []
    for run in range(10):
        rng = np.random.RandomState(100 + run)
        rows = np.sort(rng.permutation(len(y))[: round(0.95 * len(y))])
        labels = y[rows]
        if kind in ("classification", "multiclass"):
            codes = np.unique(labels, return_inverse=True)[1]
            labels = rng.permutation(codes.max() + 1)[codes]
        paths = curves(kind, X[rows], labels, run, FOLDS, DRAWS)
        runs.append((paths, curves(kind, X[rows], labels, 1000 + run, 5, 2)))
    default = next(iter(formulation_of(kind, y)[0].metrics))
    out = []
    for scoring in runs[0][0][0].scores:
        for rule in RULES:
            chosen = [choose(paths, scoring, rule, len(y)) for paths, _ in runs]
            spread = np.std([np.log10(runs[k][0][which].values[place]) for k, (which, place) in enumerate(chosen)])
            means = [[path.scores[default].mean(axis=0) for path in others] for _, others in runs]
            lost = [
                max(mean.max() for mean in found) - found[which][place]
                for found, (which, place) in zip(means, chosen, strict=True)
            ]
            row = {"data": name, "kind": kind, "scoring": scoring, "rule": rule}
            out.append({**row, "spread": float(spread), "lost": float(np.mean(lost))})
    return out


def alone(kind: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P-values of every feature by itself."""
    test = f_classif if kind in ("classification", "multiclass") else f_regression
    return np.nan_to_num(test(X, y)[1], nan=1.0)


def together(model: Any, seed: int = 0) -> np.ndarray:
    """P-values of maxRel against the features' own copies, whose rows are permuted together."""
    space = model._exploration.spaces[0]
    near, form, formulation = space.near, space.data, space.baseline.formulation
    X = np.asarray(form.X)
    d, each = X.shape[1], len(near.w) // X.shape[1]
    bounds = np.empty((2, N_COPIES, d))
    for b in range(N_COPIES):
        wide = np.hstack([X, X[np.random.default_rng(seed + b).permutation(len(X))]])
        program = formulation.program(wide, form.target, form.sample_weight / space.baseline.unit)
        wider = replace(near, program=program, w=np.append(near.w, np.zeros(d * each)))
        features = [formulation.feature(k, 2 * d) for k in range(2 * d)]
        found = relevance_intervals(wider, features, Solving("auto", "cpu", 1, None)).maximum
        bounds[:, b, form.columns] = found.reshape(2, d)
    copies = bounds[1]
    own = copies.mean(axis=0)
    null = (copies - (own * N_COPIES - copies) / (N_COPIES - 1)).ravel()
    statistic = bounds[0].mean(axis=0) - own
    return _with_tail(statistic - min(null.min(), statistic.min()), null - min(null.min(), statistic.min()))


def _with_tail(statistic: np.ndarray, null: np.ndarray, share: float = 0.15) -> np.ndarray:
    """Count, and beyond the greatest share of the null sample go by a generalized Pareto tail."""
    values, n = np.sort(null), len(null)
    k = max(int(share * n), min(20, n - 1))
    start, counted = values[n - k - 1], (1 + (null[None] >= statistic[:, None]).sum(axis=1)) / (1 + n)
    excess = values[n - k :] - start
    first = excess.mean()
    second = ((1 - (np.arange(1, k + 1) - 0.35) / k) * excess).mean()
    if first <= 2 * second:
        return np.asarray(np.minimum(counted, 1.0))
    shape = max(2 - first / (first - 2 * second), 0.0)
    scale = first if shape == 0.0 else 2 * first * second / (first - 2 * second)
    tail = genpareto.sf(np.maximum(statistic - start, 0.0), shape, scale=scale) * k / n
    return np.asarray(np.minimum(np.where(statistic > start, tail, counted), 1.0))


def cauchy(*pvalues: np.ndarray) -> np.ndarray:
    """Combine p-values by Cauchy's rule."""
    angles = [np.tan((0.5 - np.clip(one, 1e-15, 1 - 1e-15)) * np.pi) for one in pvalues]
    return np.asarray(0.5 - np.arctan(np.mean(angles, axis=0)) / np.pi)


def judged(record: Record, path: Curve, place: int) -> tuple[float, ...]:
    """What both tests, and minRel, say for one C, against the truth."""
    options = {"C": path.values[place]}
    if record.kind == "regression":
        options["epsilon"] = path.formulation.hyperparameters["epsilon"] * record.y.std()
    model = KINDS[record.kind](n_probes=3, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(record.X, record.y)
    beside = together(model) if model.coef_.any() else np.ones(record.X.shape[1])
    by_itself = alone(record.kind, record.X, record.y)
    both, one = (
        graded(record.truth, (false_discovery_control(p) <= 0.05).astype(int))
        for p in (cauchy(beside, by_itself), beside)
    )
    strong, needed = model.intervals_[:, 0] > 1e-6, record.truth == 2
    share = strong[needed].mean() if needed.any() else np.nan
    return both["f1"], both["false_share"], one["f1"], share, (strong & ~needed).sum() / max(strong.sum(), 1)


def truth(
    name: str, seeds: Iterable[int], scorings: Sequence[str] | None, rules: Sequence[str]
) -> list[dict[str, Any]]:
    """Measure one design; the fits for a C are shared by all rules that choose it."""
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for seed in seeds:
        record = DESIGNS[name](seed)
        paths = curves(record.kind, record.X, record.y, seed, FOLDS, DRAWS)
        known: dict[tuple[int, int], tuple[float, ...]] = {}
        for scoring in paths[0].scores if scorings is None else scorings:
            for rule in rules:
                which, place = choose(paths, scoring, rule, len(record.y))
                if (which, place) not in known:
                    known[which, place] = judged(record, paths[which], place)
                found.setdefault((scoring, rule), []).append(known[which, place])
    return [
        {"design": name, "scoring": scoring, "rule": rule, "sets": len(some)}
        | {key: float(value) for key, value in zip(MEASURES, np.mean(some, axis=0), strict=True)}
        for (scoring, rule), some in found.items()
    ]


def main() -> None:
    """Measure, print the means and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("real", "truth"))
    parser.add_argument("--only", nargs="+", help="data sets or designs")
    parser.add_argument("--seeds", default="100:103")
    parser.add_argument("--report", action="store_true", help="the default scores, the former rule and the chosen one")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.part == "real":
        for name in options.only or REAL:
            rows += real(name)
            print(name, flush=True)
        write_csv(options.out / "stable_c_real.csv", rows)
        keys, cells = ("kind", "scoring", "rule"), ("spread", "lost")
    else:
        begin, end = map(int, options.seeds.split(":"))
        for name in options.only or SIGNAL:
            default = next(iter(formulation_of(DESIGNS[name](begin).kind, np.arange(3))[0].metrics))
            rules = (FORMER, CHOSEN) if options.report else tuple(RULES)
            rows += truth(name, range(begin, end), [default] if options.report else None, rules)
            print(name, flush=True)
        for row in rows:
            row["kind"] = DESIGNS[row["design"]](begin).kind
        write_csv(options.out / f"stable_c_truth{'_report' * options.report}.csv", rows)
        keys, cells = ("kind", "scoring", "rule"), MEASURES
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    table = [
        [*key, *(short(float(np.nanmean([row[c] for row in some]))) for c in cells)] for key, some in groups.items()
    ]
    print_table([*keys, *cells], table)


if __name__ == "__main__":
    main()
