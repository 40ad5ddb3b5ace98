"""Random problems for the linear estimators, each a few words and a seed, so that a failure can be written down."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor

__all__ = ["CHOICES", "Case", "cases", "draw"]

#: What every part of a case is drawn from; the first is the plainest, towards which hypothesis shrinks.
CHOICES: dict[str, tuple[Any, ...]] = {
    "problem": ("binary", "multi-class", "regression", "explicit", "implicit"),
    "n": (12, 2, 3, 4, 5, 6, 8, 10, 16, 20, 25, 30, 40),
    "d": (3, 1, 2, 4, 5, 6, 8, 12, 20, 30, 60),
    "rank": (None, None, 1, 2, 4),
    "values": ("normal", "normal", "rounded", "binary", "heavy", "few"),
    "twins": (None, None, "equal", "negated", "near", "nearer"),
    "constant": (None, None, 0.0, 3.0, 1e6),
    "scale": (1.0, 1.0, "mixed", "mixed", 1e-12, 1e12, 1e-160, 1e160),
    "shift": (0.0, 0.0, 1.0, 1e3, 1e8),
    "rows": (None, None, "equal", "near"),
    "target": ("signal", "exact", "noise", "unbalanced", "alone", "constant", "coarse", "tiny", "large", "outlier"),
    "weight": (None, None, "mild", "zeros", "ratio", "huge ratio", "small", "large", "few"),
    "storage": ("float64", "float64", "float32", "int", "csr", "csc", "fortran"),
    "C": (1.0, 0.1, 10.0, 1e-6, 1e-3, 1e3, 1e6, None),
    "norm_slack": (0.1, 0.0, 1e-9, 1e-3, 1.0, 10.0),
    "loss_slack": (0.1, 0.0, 1e-9, 1e-3, 1.0, 10.0),
    "budgets": ("split", "split", "joint"),
    "groups": (None, None, None, "pairs", "all", "large"),
    "privileged": (None, None, None, "residual", "kept", "replaced"),
    "q": (1, 2, 5),
    "rule": ("copies", "copies", "copies", "papers"),
    "control": ("fdr", "fdr", "fwer", "none"),
    "standardize": (True, True, True, False),
    "belonging": (None, None, None, "groups", "unequal", "strata", "both"),
    "seed": tuple(range(1000)),
}


@dataclass(frozen=True)
class Case:
    """One problem, with the parameters of its estimator."""

    problem: str = "binary"
    n: int = 12
    d: int = 3
    rank: int | None = None
    values: str = "normal"
    twins: str | None = None
    constant: float | None = None
    scale: float | str = 1.0
    shift: float = 0.0
    rows: str | None = None
    target: str = "signal"
    weight: str | None = None
    storage: str = "float64"
    C: float | None = 1.0
    norm_slack: float = 0.1
    loss_slack: float = 0.1
    budgets: str = "split"
    groups: str | None = None
    privileged: str | None = None
    q: int = 1
    rule: str = "copies"
    control: str = "fdr"
    standardize: bool = True
    belonging: str | None = None
    seed: int = 0

    def __repr__(self) -> str:
        """Only what is not plain."""
        plain = {item.name: item.default for item in fields(self)}
        said = (f"{name}={value!r}" for name, value in asdict(self).items() if value != plain[name])
        return f"Case({', '.join(said)})"

    def data(self) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Samples, targets, weights and privileged features."""
        rng = np.random.RandomState(self.seed)
        plain = self._plain(rng, self.d)
        target = self._target(rng, plain)
        weight = self._weight(rng)
        more = None
        if self.privileged is not None:
            more = self._dressed(rng, self._plain(rng, self.q))
        X = self._stored(self._dressed(rng, plain))
        return X, target, weight, more

    def together(self) -> dict[str, np.ndarray]:
        """Groups and strata of the rows, if there are any."""
        if self.belonging is None:
            return {}
        rng = np.random.RandomState(self.seed + 1)
        place = rng.permutation(self.n)
        groups = place % max(self.n // 3, 1) if self.belonging != "unequal" else rng.randint(4, size=self.n)
        strata = groups % 2
        return {
            "strata": {"strata": strata},
            "both": {"groups": groups, "strata": strata},
        }.get(self.belonging, {"groups": groups})

    def estimator(self, **changes: Any) -> Any:
        """The estimator of the problem."""
        parameters: dict[str, Any] = {
            "C": self.C,
            "norm_slack": self.norm_slack,
            "loss_slack": self.loss_slack,
            "budgets": self.budgets,
            "feature_groups": self._groups(),
            "threshold_rule": self.rule,
            "control": self.control,
            "standardize": self.standardize,
            "n_copies": 1,
            "n_probes": 3,
            "cv": 2,
            "random_state": self.seed,
        }
        if self.privileged is not None:
            parameters["privileged"] = self.privileged
        if self.privileged in ("kept", "replaced") and self.C is None:
            parameters["gamma"] = 1.0
        parameters |= changes
        if self.problem == "regression":
            return LinearRelevanceRegressor(**parameters)
        if self.problem in ("explicit", "implicit"):
            return LinearRelevanceOrdinal(order=self.problem, **parameters)
        return LinearRelevanceClassifier(**parameters)

    def _groups(self) -> list[list[int]] | None:
        if self.groups is None or self.d < 2:
            return None
        if self.groups == "pairs":
            return [[0, 1]] + ([[2, 3]] if self.d > 3 else [])
        size = min(self.d, 4 if self.groups == "all" else 9)
        return [list(range(size))]

    def _plain(self, rng: np.random.RandomState, d: int) -> np.ndarray:
        """Values before anything is done to their units."""
        X = rng.normal(size=(self.n, d))
        if self.rank is not None:
            X = rng.normal(size=(self.n, self.rank)) @ rng.normal(size=(self.rank, d))
        if self.values == "rounded":
            X = np.round(X)
        elif self.values == "binary":
            X = (X > 0).astype(float)
        elif self.values == "heavy":
            X = X**5
        elif self.values == "few":
            X = np.where(rng.uniform(size=X.shape) < 0.15, X, 0.0)
        if self.rows is not None and self.n > 2:
            source = rng.randint(self.n // 2 + 1, size=self.n)
            X = X[source] + (1e-9 * rng.normal(size=X.shape) if self.rows == "near" else 0.0)
        if self.twins is not None and d > 1:
            place = rng.permutation(d)
            half = d // 2
            one, two = place[:half], place[half : 2 * half]
            error = {"near": 1e-9, "nearer": 1e-12}.get(self.twins, 0.0)
            X[:, two] = (-1.0 if self.twins == "negated" else 1.0) * X[:, one]
            X[:, two] += error * rng.normal(size=(self.n, half))
        if self.constant is not None:
            X[:, rng.randint(d)] = self.constant
        return X

    def _dressed(self, rng: np.random.RandomState, X: np.ndarray) -> np.ndarray:
        """The values in their units."""
        scale = 10.0 ** rng.uniform(-12, 12, size=X.shape[1]) if self.scale == "mixed" else float(self.scale)
        return (X + self.shift) * scale

    def _stored(self, X: np.ndarray) -> Any:
        if self.storage == "float32":
            with np.errstate(over="ignore"):
                return np.clip(X, -1e30, 1e30).astype(np.float32)
        if self.storage == "int":
            return np.rint(np.clip(X, -1e15, 1e15)).astype(np.int64)
        if self.storage in ("csr", "csc"):
            return sparse.csr_array(X) if self.storage == "csr" else sparse.csc_array(X)
        return np.asfortranarray(X) if self.storage == "fortran" else X

    def _target(self, rng: np.random.RandomState, X: np.ndarray) -> np.ndarray:
        score = X @ rng.normal(size=X.shape[1])
        score = score / (np.abs(score).max() or 1.0)
        if self.target == "noise":
            score = rng.normal(size=self.n)
        elif self.target != "exact":
            score = score + 0.3 * rng.normal(size=self.n)
        if self.problem == "regression":
            return self._numbers(rng, score)
        n_classes = 2 if self.problem == "binary" else 3 + self.seed % 3
        if self.target == "constant":
            return np.zeros(self.n, dtype=int)
        if self.target == "alone":
            label = np.zeros(self.n, dtype=int)
            label[: n_classes - 1] = np.arange(1, n_classes)[: self.n]
            return label
        ends = np.linspace(0, 1, n_classes + 1)[1:-1]
        if self.target == "unbalanced":
            ends = 1.0 - 0.2 ** np.arange(1, n_classes)
        return np.searchsorted(np.quantile(score, ends), score)

    def _numbers(self, rng: np.random.RandomState, score: np.ndarray) -> np.ndarray:
        if self.target == "constant":
            return np.full(self.n, 3.0)
        if self.target == "coarse":
            return np.round(score)
        if self.target == "alone":
            return np.eye(self.n)[0]
        if self.target == "tiny":
            return 1e3 + 1e-9 * score
        if self.target == "large":
            return 1e12 * score
        if self.target == "outlier":
            score[0] = 1e6
        return score

    def _weight(self, rng: np.random.RandomState) -> np.ndarray | None:
        n = self.n
        if self.weight is None:
            return None
        if self.weight == "mild":
            return rng.choice([0.5, 1.0, 2.0], size=n)
        if self.weight == "zeros":
            return (rng.uniform(size=n) < 0.7).astype(float)
        if self.weight == "few":
            return (np.arange(n) >= n - 3).astype(float)
        if self.weight in ("ratio", "huge ratio"):
            return 10.0 ** rng.uniform(*((-3, 3) if self.weight == "ratio" else (-9, 9)), size=n)
        return np.full(n, 1e-9 if self.weight == "small" else 1e9)


def draw(rng: np.random.RandomState) -> Case:
    """Draw a case."""
    return Case(**{name: values[rng.randint(len(values))] for name, values in CHOICES.items()})


def cases(**fixed: Any) -> st.SearchStrategy[Case]:
    """Cases for hypothesis, some parts of them from other choices."""
    return st.builds(Case, **{name: st.sampled_from(fixed.get(name, values)) for name, values in CHOICES.items()})
