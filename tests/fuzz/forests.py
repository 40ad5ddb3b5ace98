"""Random tables for the forest estimators: missing values, categories, constants, few samples."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from allrelevant import ForestRelevanceClassifier, ForestRelevanceRegressor, RelevanceResult
from fuzz.checks import fitted

__all__ = ["FOREST_CHOICES", "ForestCase", "check_forest", "draw_forest", "forest_cases"]

#: What every part of a case is drawn from; the first is the plainest.
FOREST_CHOICES: dict[str, tuple[Any, ...]] = {
    "problem": ("binary", "multi-class", "regression"),
    "n": (40, 2, 3, 4, 5, 6, 8, 10, 15, 25, 80),
    "d": (3, 1, 2, 5, 12),
    "missing": (0.0, 0.0, 0.3, 0.9, "column"),
    "categories": (None, None, "frame", "numbers", "all"),
    "constant": (None, None, "first", "all"),
    "scale": (1.0, 1.0, 1e-12, 1e12, 1e200),
    "twins": (False, False, True),
    "target": ("signal", "noise", "alone", "constant", "large"),
    "weight": (None, None, "zeros", "ratio", "few", "small", "none"),
    "importance": ("held_out", "held_out", "gain"),
    "decomposition": ("conditional", "conditional", "refit"),
    "level": (0.05, 0.05, 0.99),
    "control": ("fdr", "fwer", "none"),
    "min_samples_leaf": ("auto", 1, 20),
    "seed": tuple(range(1000)),
}


@dataclass(frozen=True)
class ForestCase:
    """One table, with the parameters of its estimator."""

    problem: str = "binary"
    n: int = 40
    d: int = 3
    missing: float | str = 0.0
    categories: str | None = None
    constant: str | None = None
    scale: float = 1.0
    twins: bool = False
    target: str = "signal"
    weight: str | None = None
    importance: str = "held_out"
    decomposition: str = "conditional"
    level: float = 0.05
    control: str = "fdr"
    min_samples_leaf: int | str = "auto"
    seed: int = 0

    def __repr__(self) -> str:
        """Only what is not plain."""
        plain = {item.name: item.default for item in fields(self)}
        said = (f"{name}={value!r}" for name, value in asdict(self).items() if value != plain[name])
        return f"ForestCase({', '.join(said)})"

    def data(self) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Samples, targets and weights."""
        rng = np.random.RandomState(self.seed)
        X = rng.normal(size=(self.n, self.d))
        score = X[:, 0] * np.sign(X[:, -1]) + 0.2 * rng.normal(size=self.n)
        if self.twins:
            X[:, -1] = X[:, 0]
        if self.constant is not None:
            X[:, 0 if self.constant == "first" else slice(None)] = 2.0
        X = X * self.scale
        if self.missing == "column":
            X[:, -1] = np.nan
        else:
            X[rng.uniform(size=X.shape) < float(self.missing)] = np.nan
        return self._table(rng, X), self._target(rng, score), self._weight(rng)

    def estimator(self) -> Any:
        """The estimator of the problem, with forests as small as they get."""
        kind = ForestRelevanceRegressor if self.problem == "regression" else ForestRelevanceClassifier
        return kind(
            importance=self.importance,
            decomposition=self.decomposition,
            level=self.level,
            control=self.control,
            min_samples_leaf=self.min_samples_leaf,
            categorical_features=[0] if self.categories == "numbers" else "from_dtype",
            n_estimators=10,
            n_copies=6,
            n_probes=3,
            random_state=self.seed,
        )

    def _table(self, rng: np.random.RandomState, X: np.ndarray) -> Any:
        if self.categories == "numbers":
            X[:, 0] = np.where(np.isnan(X[:, 0]), np.nan, rng.randint(5, size=self.n))
            return X
        if self.categories is None:
            return X
        table = pd.DataFrame({f"c{k}": column for k, column in enumerate(X.T)})
        for k in range(self.d if self.categories == "all" else 1):
            codes = np.where(np.isnan(X[:, k]), -1, rng.randint(4, size=self.n))
            table[f"c{k}"] = pd.Categorical.from_codes(codes, categories=["a", "b", "c", "never", "d"])
        return table

    def _target(self, rng: np.random.RandomState, score: np.ndarray) -> np.ndarray:
        if self.target == "noise":
            score = rng.normal(size=self.n)
        if self.target == "constant":
            return np.zeros(self.n)
        if self.target == "alone":
            return np.eye(self.n)[0]
        if self.problem == "regression":
            return 1e12 * score if self.target == "large" else score
        n_classes = 2 if self.problem == "binary" else 4
        return np.searchsorted(np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score)

    def _weight(self, rng: np.random.RandomState) -> np.ndarray | None:
        if self.weight is None:
            return None
        if self.weight == "zeros":
            return (rng.uniform(size=self.n) < 0.6).astype(float)
        if self.weight == "few":
            return (np.arange(self.n) >= self.n - 6).astype(float)
        if self.weight == "ratio":
            return 10.0 ** rng.uniform(-6, 6, size=self.n)
        return np.full(self.n, 1e-9 if self.weight == "small" else 0.0)


def draw_forest(rng: np.random.RandomState) -> ForestCase:
    """Draw a case."""
    return ForestCase(**{name: values[rng.randint(len(values))] for name, values in FOREST_CHOICES.items()})


def forest_cases() -> st.SearchStrategy[ForestCase]:
    """Cases for hypothesis."""
    return st.builds(ForestCase, **{name: st.sampled_from(values) for name, values in FOREST_CHOICES.items()})


def check_forest(case: ForestCase) -> str:
    """Check one case; return how it ended, "found" or the name of the error."""
    X, y, weight = case.data()
    model = fitted(case.estimator(), X, y, sample_weight=weight)
    if isinstance(model, Exception):
        return type(model).__name__
    result = model.result_
    for values in (result.intervals, result.pvalues, result.adjusted_pvalues, result.baseline):
        assert np.isfinite(values).all()
    assert ((result.classes > 0) == (result.adjusted_pvalues <= case.level)).all()
    low, high = result.intervals.T
    assert (low <= high).all()
    assert ((result.pvalues >= 0.0) & (result.pvalues <= 1.0)).all()
    assert np.isin(result.classes, (0, 1, 2)).all()
    # The limit is not known where so few arrangements of the target leave none.
    assert np.isfinite(result.thresholds.min_relevance)
    assert not np.isinf(result.thresholds.max_relevance)
    assert RelevanceResult.from_json(result.to_json()) == result
    assert result.summary()
    prediction = np.asarray(model.predict(X), dtype=float)
    assert prediction.shape == (case.n,)
    assert np.isfinite(prediction).all()
    return "found"
