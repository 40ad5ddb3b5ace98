"""The answer of a fit: everything that plots, reports and tables read, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allrelevant._json import plain, restored
from allrelevant._reading import parsed
from allrelevant._stored import checked
from allrelevant._summary import compared, cut, guarantee, legend, pvalue, summary
from allrelevant._words import BORDERLINE, METHODS, PROBES, Words
from allrelevant.errors import MissingExtra
from allrelevant.inference import borderline

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RelevanceClass", "RelevanceResult", "Thresholds"]

SCHEMA = 1
#: Fields that files of earlier versions lack, with what these meant.
_LATER = {
    "method": "linear",
    "tentative": [],
    "incomplete": [],
    "adjusted_pvalues": [],
    "together_pvalues": [],
    "alone_pvalues": [],
    "limits": [],
    "companions": {},
}
#: Fields with a number for every feature that may be unknown.
_PER_FEATURE = ("adjusted_pvalues", "together_pvalues", "alone_pvalues", "limits")


class RelevanceClass(IntEnum):
    """The three classes of relevance.

    Examples
    --------
    >>> from allrelevant import RelevanceClass
    >>> RelevanceClass(2).label
    'strong'
    """

    IRRELEVANT = 0
    WEAK = 1
    STRONG = 2

    @property
    def label(self) -> str:
        """The class in one lower-case word."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where noise ends, as learnt from permuted features.

    A feature is relevant when its ``maxRel`` exceeds its limit, and strongly so when also its ``minRel`` exceeds
    `min_relevance`. With ``rule="copies"`` every feature has a limit of its own, :attr:`RelevanceResult.limits`, and
    `max_relevance` is NaN. With forests, the mean share of importance is compared with the limits, and `max_relevance`
    is their median.

    Attributes
    ----------
    min_relevance, max_relevance : float
        The two limits, in the unit of the intervals.
    rule : str
        The rule that made them.
    level : float
        The level of the error that is controlled.
    control : str
        What is controlled: ``"fdr"``, the share of false among the features called relevant, ``"fwer"``, the chance
        that any of them is false, or ``"none"``, the chance of each irrelevant feature to be called relevant.
    n_probes, n_usable : int
        Sets of row-permuted copies, or probes, or forests, that were asked for, and those that could be used.
    """

    min_relevance: float
    max_relevance: float
    rule: str
    level: float
    control: str
    n_probes: int
    n_usable: int


def _nothing() -> NDArray[np.float64]:
    """An entry per feature that is not known: replaced by as many NaN as there are features."""
    return np.empty(0)


def _kind(relevant: bool, together: bool, alone: bool) -> str:
    if not relevant or not (together or alone):
        return ""
    return "both" if together and alone else "together" if together else "alone"


def _frozen(values: Any, dtype: type) -> NDArray[Any]:
    array: NDArray[Any] = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class RelevanceResult:
    """Relevance intervals and classes of all features, with what is needed to trust and to show them.

    Attributes
    ----------
    feature_names : tuple of str
        Names in column order.
    intervals : ndarray of shape (n_features, 2)
        ``minRel`` and ``maxRel``: the least and the most share of the model's weight that any near-optimal
        model gives the feature. The extremes of different features are in general not attained together.
        With forests: between which shares of the forest's importance the feature has in the middle 90 % of them.
    classes : ndarray of shape (n_features,)
        0 irrelevant, 1 weakly relevant, 2 strongly relevant (:class:`RelevanceClass`).
    pvalues : ndarray of shape (n_features,)
        Chance that an irrelevant feature shows as much evidence as this one: :attr:`together_pvalues` and
        :attr:`alone_pvalues` combined by Cauchy's rule; with forests, of their test.
    baseline : ndarray of shape (n_features,)
        Signed share of weight in the one optimal model that the set was built around; with forests, the mean share
        of importance.
    thresholds : Thresholds
        Limits between noise and relevance.
    problem : str
        Problem type, such as ``"classification"``.
    n_samples : int
        Samples with positive weight.
    hyperparameters : dict
        Parameters of the baseline model, chosen or given (``C``).
    scores : dict
        Performance of the baseline model: ``metric``, ``cross_validated`` (None if `C` was given), ``training``.
    parameters : dict
        Parameters of the estimator.
    seed : int or None
        Seed of the fit, if it was an integer.
    engine : str
        Engine that solved the linear programs, or what the forests are made with.
    max_gap : float
        Largest certified gap between the two sides of any bound, as a share of the norm budget. With forests nothing
        is proven, and it means nothing.
    n_programs : int
        Linear programs solved for intervals and probes, or forests fitted.
    cpu_seconds : dict
        CPU seconds by stage. Probes of small problems are bounded together with the features, and counted there.
    notes : tuple of str
        What a reader must know about this result, in full sentences.
    version : str
        Version of the library.
    adjusted_pvalues : ndarray of shape (n_features,)
        The p-values adjusted for the number of features, to be compared with ``thresholds.level``; NaN in results of
        versions that had none.
    together_pvalues, alone_pvalues : ndarray of shape (n_features,)
        The two kinds of evidence. *Together*: ``maxRel`` against that of row-permuted copies beside all features.
        *Alone*: the dependence of the single feature on the target. NaN where there is none.
    limits : ndarray of shape (n_features,)
        What ``maxRel`` of each feature had to exceed; 0 if the feature alone was evidence enough, NaN where there is
        none. With forests: what its mean share of importance had to exceed.
    companions : dict
        Features that tell of the target only beside others (suppressors), with the names of these others.
    privileged : RelevanceResult or None
        The same of the privileged features, where there were any.
    constraints : dict of str to tuple
        Least and most relevance that features were held to (see
        :meth:`~allrelevant.LinearRelevanceClassifier.constrain`); empty without any.
    unconstrained : ndarray of shape (n_features, 2) or None
        The intervals without constraints, where there are some.
    unconstrained_classes : ndarray of shape (n_features,) or None
        The classes without constraints, where there are some.
    method : str
        ``"linear"`` or ``"forest"``.
    tentative : tuple of str
        Features that the test could not decide about; their class is a best guess. Of a linear fit that ran out of
        time: features whose class is what was shown until then, and might be higher.
    incomplete : tuple of str
        Features that a linear fit ran out of time for: their true interval is within the one given, which is proven but
        may be far wider.

    See Also
    --------
    allrelevant.plotting.RelevanceDisplay : Draws the intervals.
    allrelevant.report.write_report : Writes the result as a web page.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier, RelevanceResult
    >>> from allrelevant.datasets import make_relevance_classification
    >>> X, y, _ = make_relevance_classification(n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> result = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y).result_
    >>> print(result.table())
    feature   class        minRel  maxRel   adj. p
    ...
    >>> RelevanceResult.from_json(result.to_json()) == result
    True
    """

    feature_names: tuple[str, ...]
    intervals: NDArray[np.float64]
    classes: NDArray[np.int64]
    pvalues: NDArray[np.float64]
    baseline: NDArray[np.float64]
    thresholds: Thresholds
    problem: str
    n_samples: int
    hyperparameters: Mapping[str, float]
    scores: Mapping[str, Any]
    parameters: Mapping[str, Any]
    seed: int | None
    engine: str
    max_gap: float
    n_programs: int
    cpu_seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()
    version: str = field(default="")
    adjusted_pvalues: NDArray[np.float64] = field(default_factory=_nothing)
    together_pvalues: NDArray[np.float64] = field(default_factory=_nothing)
    alone_pvalues: NDArray[np.float64] = field(default_factory=_nothing)
    limits: NDArray[np.float64] = field(default_factory=_nothing)
    companions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    privileged: RelevanceResult | None = None
    constraints: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    unconstrained: NDArray[np.float64] | None = None
    unconstrained_classes: NDArray[np.int64] | None = None
    method: str = "linear"
    tentative: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        d = len(self.feature_names)
        if not d:
            raise ValueError("feature_names is empty; a result has at least one feature")
        set_field = object.__setattr__
        set_field(self, "feature_names", tuple(str(name) for name in self.feature_names))
        set_field(self, "notes", tuple(self.notes))
        for name in ("tentative", "incomplete"):
            set_field(self, name, tuple(str(one) for one in getattr(self, name)))
        set_field(self, "intervals", _frozen(self.intervals, float).reshape(-1, 2))
        set_field(self, "classes", _frozen(self.classes, int))
        set_field(self, "pvalues", _frozen(self.pvalues, float))
        set_field(self, "baseline", _frozen(self.baseline, float))
        for name in _PER_FEATURE:
            values = getattr(self, name)
            set_field(self, name, _frozen(values if len(values) else np.full(d, np.nan), float))
        named = {str(name): tuple(map(str, others)) for name, others in self.companions.items()}
        set_field(self, "companions", named)
        for name in ("intervals", "classes", "pvalues", "baseline", *_PER_FEATURE):
            if len(getattr(self, name)) != d:
                raise ValueError(f"{name} has {len(getattr(self, name))} entries for {d} feature names")
        for name in ("hyperparameters", "scores", "parameters", "cpu_seconds"):
            set_field(self, name, dict(getattr(self, name)))
        held = {name: (float(low), float(high)) for name, (low, high) in self.constraints.items()}
        set_field(self, "constraints", held)
        if self.unconstrained is not None:
            set_field(self, "unconstrained", _frozen(self.unconstrained, float).reshape(d, 2))
        if self.unconstrained_classes is not None:
            set_field(self, "unconstrained_classes", _frozen(self.unconstrained_classes, int).reshape(d))
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r}; it is one of {', '.join(METHODS)}")
        for name in ("tentative", "incomplete"):
            strange = sorted(set(getattr(self, name)) - set(self.feature_names))
            if strange:
                raise ValueError(f"{name} names {strange[0]!r}, which is no feature of this result")

    @property
    def words(self) -> Words:
        """What tables, drawings and reports call things, which differs between the methods."""
        return PROBES if self.method == "linear" and self.thresholds.rule != "copies" else METHODS[self.method]

    @property
    def delta(self) -> NDArray[np.float64]:
        """How far constraints moved ``minRel`` (never down) and ``maxRel`` (never up); 0 without constraints.

        Of a feature that is itself held to a value both may have moved either way.
        """
        return np.zeros_like(self.intervals) if self.unconstrained is None else self.intervals - self.unconstrained

    @property
    def borderline(self) -> NDArray[np.bool_]:
        """Features whose adjusted p-value is within a factor of two of the level: another sample may change them."""
        return borderline(self.adjusted_pvalues, self.thresholds.level)

    @property
    def guarantee(self) -> str:
        """What holds of the features called relevant, in one sentence."""
        return guarantee(self.thresholds)

    @property
    def evidence(self) -> tuple[str, ...]:
        """What kind of evidence made each feature relevant: ``"both"``, ``"alone"``, ``"together"`` or ``""``."""
        level = self.thresholds.level
        kinds = zip(self.classes, self.together_pvalues, self.alone_pvalues, strict=True)
        return tuple(_kind(kind > 0, together <= level, alone <= level) for kind, together, alone in kinds)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    def ranking(self) -> NDArray[np.intp]:
        """Return all features, the strongest class first, within a class by falling ``maxRel``."""
        return np.lexsort((-self.intervals[:, 1], -self.classes))

    def names(self, relevance: RelevanceClass | int) -> list[str]:
        """Return the names of the features of one class, the most relevant first."""
        return [self.feature_names[k] for k in self.ranking() if self.classes[k] == int(relevance)]

    def label(self, k: int) -> str:
        """Return the class of a feature in one word.

        A question mark follows it where it is :attr:`tentative`, and else ``~`` where it is :attr:`borderline`.
        """
        tentative = self.feature_names[k] in self.tentative
        mark = "?" if tentative else BORDERLINE if self.borderline[k] else ""
        return RelevanceClass(int(self.classes[k])).label + mark

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain Python values."""
        content: dict[str, Any] = {"schema": SCHEMA}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value = value.tolist()
            elif isinstance(value, Thresholds):
                value = asdict(value)
            elif isinstance(value, RelevanceResult):
                value = value.to_dict()
            elif isinstance(value, tuple):
                value = list(value)
            content[item.name] = value
        return content

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the result as JSON text, which :meth:`from_json` reads back without loss."""
        return json.dumps(plain(self.to_dict()), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> RelevanceResult:
        """Read a result written by :meth:`to_json`.

        Types, shapes and ranges of all fields are checked, and nothing of the text is executed: files of strangers can
        be read.

        Raises
        ------
        ValueError
            If the text is not such a result; the message says which field is not what it should be.
        """
        try:
            content = parsed(text)
        except ValueError as error:
            raise ValueError(f"not a relevance result: the text is not JSON ({error})") from error
        return cls.from_dict(content)

    @classmethod
    def from_dict(cls, content: Any) -> RelevanceResult:
        """Read what :meth:`to_dict` returned, as JSON brings it back.

        Raises
        ------
        ValueError
            If it is not that.
        """
        if not isinstance(content, dict) or "schema" not in content:
            raise ValueError("not a relevance result: no field 'schema'; write it with RelevanceResult.to_json")
        content = {**_LATER, **content}
        schema = content.pop("schema")
        if type(schema) is not int or schema != SCHEMA:
            raise ValueError(f"relevance result of schema {schema!r}; this version reads schema {SCHEMA}")
        known = {item.name for item in fields(cls)}
        if known != set(content):
            raise ValueError(
                f"not a relevance result: missing fields {sorted(known - set(content))}, "
                f"unknown fields {sorted(set(content) - known)}"
            )
        privileged = content.pop("privileged")
        try:
            read = checked(restored(content))
        except ValueError as error:
            raise ValueError(f"not a relevance result: {error}") from error
        if isinstance(privileged, dict) and privileged.get("privileged") is not None:
            raise ValueError("not a relevance result: privileged features have no privileged features of their own")
        read["thresholds"] = Thresholds(**read["thresholds"])
        return cls(**read, privileged=None if privileged is None else cls.from_dict(privileged))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RelevanceResult):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature as a pandas frame, indexed by name.

        Columns are ``relevance`` (strong, weak, irrelevant), ``minimum``, ``maximum``, ``pvalue``, ``baseline``,
        ``adjusted_pvalue`` (compared with the level), ``together_pvalue``, ``alone_pvalue``, ``limit``, ``borderline``
        and ``evidence``; under constraints also ``minimum_delta`` and ``maximum_delta``, with forests ``tentative``,
        and of a fit that ran out of time ``tentative`` and ``incomplete``.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtra("pandas", "pandas", "RelevanceResult.to_frame") from error
        labels = pd.Index([member.label for member in RelevanceClass])
        names = () if self.unconstrained is None else ("minimum_delta", "maximum_delta")
        more: dict[str, Any] = dict(zip(names, self.delta.T, strict=False))
        if not self.words.answers or self.tentative or self.incomplete:
            more["tentative"] = [name in self.tentative for name in self.feature_names]
        if self.incomplete:
            more["incomplete"] = [name in self.incomplete for name in self.feature_names]
        return pd.DataFrame(
            {
                "relevance": pd.Categorical.from_codes(self.classes, categories=labels, ordered=True),
                "minimum": self.intervals[:, 0],
                "maximum": self.intervals[:, 1],
                "pvalue": self.pvalues,
                "baseline": self.baseline,
                "adjusted_pvalue": self.adjusted_pvalues,
                "together_pvalue": self.together_pvalues,
                "alone_pvalue": self.alone_pvalues,
                "limit": self.limits,
                "borderline": self.borderline,
                "evidence": list(self.evidence),
                **more,
            },
            index=pd.Index(self.feature_names, name="feature"),
        )

    def table(self) -> str:
        """Return one line per feature, the most relevant first, as text; the middle of very long names is left out.

        The p-values are those that are compared with the level, :attr:`adjusted_pvalues`. A line at the end explains
        ``~``, where features are :attr:`borderline`.
        """
        names = [cut(name) for name in self.feature_names]
        width = max(8, *map(len, names))
        words, (heading, pvalues) = self.words, compared(self)
        shown = [pvalue(number, self.thresholds.level) for number in pvalues.tolist()]
        last = max(7, *map(len, shown))
        lines = [f"{'feature':<{width}}  {'class':<11}  {words.low:>6}  {words.high:>6}  {heading:>{last}}"]
        for k in self.ranking():
            low, high = self.intervals[k]
            lines.append(f"{names[k]:<{width}}  {self.label(k):<11}  {low:6.3f}  {high:6.3f}  {shown[k]:>{last}}")
        return "\n".join([*lines, *legend(self)])

    def _repr_html_(self) -> str:
        from allrelevant._notebook import table_html

        return table_html(self)

    def summary(self, *, notes: bool = True) -> str:
        """Say in plain language what was found, with the :attr:`notes` or without."""
        return summary(self, notes=notes)
