"""What the page says, in plain values. How it looks is the matter of the template."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from types import MappingProxyType

from allrelevant._summary import compared, near, pvalue
from allrelevant._words import BORDERLINE
from allrelevant.findings import Findings
from allrelevant.plotting._axes import limits_of
from allrelevant.plotting._rows import limit_ticks, own_limit
from allrelevant.plotting._style import CLASS_STYLES, ClassStyle
from allrelevant.redundancy import FeatureGroups, Panels
from allrelevant.report._format import UNKNOWN, decimal, power, signed, value
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = [
    "CITATIONS",
    "TITLE",
    "Citation",
    "ClassList",
    "FeatureLine",
    "KeyNumber",
    "PanelLine",
    "Scale",
    "as_findings",
    "class_lists",
    "feature_lines",
    "holds",
    "how",
    "key_numbers",
    "method",
    "panel_lines",
    "panel_sentences",
    "parts_of",
    "performance",
    "summary",
    "table_limits",
    "written_with",
]

TITLE = "Feature relevance"
#: What the rules and controls are called in words.
RULES = {"copies": "copies and alone"}
CONTROLS = {"fdr": "share of false discoveries (Benjamini–Hochberg)", "fwer": "any false discovery (Holm)",
            "none": "each feature by itself"}  # fmt: skip
#: What kinds of evidence are called in tables, in the order in which these sort them.
EVIDENCE = {"both": "both", "together": "beside others", "alone": "alone", "": ""}


@dataclass(frozen=True, slots=True)
class KeyNumber:
    """A number worth a large font."""

    number: str
    name: str
    meaning: str
    kind: str = ""
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class ClassList:
    """The features of one class."""

    kind: str
    style: ClassStyle
    meaning: str
    names: list[str]


@dataclass(frozen=True, slots=True)
class PanelLine:
    """One line of the table of panels."""

    number: int
    cost: str
    score: str
    proof: str
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A publication, in words and by its address."""

    text: str
    address: str


_FRI = (
    Citation(
        "L. Pfannschmidt, C. Göpfert, U. Neumann, D. Heider and B. Hammer (2019). FRI – Feature Relevance Intervals "
        "for Interpretable and Interactive Data Exploration. IEEE Conference on Computational Intelligence in "
        "Bioinformatics and Computational Biology (CIBCB).",
        "https://doi.org/10.1109/CIBCB.2019.8791489",
    ),
    Citation(
        "C. Göpfert, L. Pfannschmidt, J. P. Göpfert and B. Hammer (2018). Interpretation of linear classifiers by "
        "means of feature relevance bounds. Neurocomputing 298, 69–79.",
        "https://doi.org/10.1016/j.neucom.2017.11.074",
    ),
)
_FORESTS = (
    Citation(
        "L. Pfannschmidt and B. Hammer (2020). Sequential Feature Classification in the Context of Redundancies. "
        "arXiv:2004.00658.",
        "https://doi.org/10.48550/arXiv.2004.00658",
    ),
    Citation(
        "M. B. Kursa and W. R. Rudnicki (2010). Feature Selection with the Boruta Package. Journal of Statistical "
        "Software 36(11), 1–13.",
        "https://doi.org/10.18637/jss.v036.i11",
    ),
)
CITATIONS: Mapping[str, tuple[Citation, ...]] = MappingProxyType({"linear": _FRI, "forest": _FORESTS})
"""Whom to cite, by method."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The common scale of the bars in the table, in per cent of their track.

    Attributes
    ----------
    end : float
        Relevance at the right end.
    """

    end: float

    @classmethod
    def of(cls, result: RelevanceResult) -> Scale:
        """Return the scale on which all intervals and limits have room."""
        limits = (result.thresholds.min_relevance, result.thresholds.max_relevance, *_ticks(result))
        ends = [number for number in (*limits, *result.intervals[:, 1].tolist()) if math.isfinite(number)]
        return cls(max(ends, default=0.0) or 1.0)

    def percent(self, number: float) -> str:
        """Return where a relevance lies on the track; a limit that is not finite lies outside."""
        return f"{100 * number / self.end:.2f}%" if math.isfinite(number) else "-10%"


def _ticks(result: RelevanceResult) -> list[float]:
    """Return where the limit of every feature is drawn."""
    return limit_ticks([own_limit(result, k) for k in range(result.n_features)], result.intervals[:, 1].tolist())


def table_limits(result: RelevanceResult, scale: Scale) -> tuple[str, str]:
    """Return where the two limits lie on the tracks of the table; one that the result does not have lies outside."""
    limits, words = result.thresholds, result.words
    if not limits_of(result):
        return scale.percent(math.nan), scale.percent(math.nan)
    pairs = ((words.min_limit, limits.min_relevance), (words.max_limit, limits.max_relevance))
    first, second = (scale.percent(limit if meaning else math.nan) for meaning, limit in pairs)
    return first, second


@dataclass(frozen=True, slots=True)
class FeatureLine:
    """One line of the table of features."""

    name: str
    kind: str
    label: str
    style: ClassStyle
    start: str
    length: str
    minimum: str
    maximum: str
    limit: str
    pvalue: str
    evidence: str
    # The p-values that this one was made from, for a reader who points at it.
    parts: str
    baseline: str
    group: str
    # What a column is sorted by: numbers with all digits, the strongest class first.
    keys: dict[str, str]


def as_findings(thing: Findings | RelevanceResult) -> Findings:
    """Return findings, also of a bare result."""
    if isinstance(thing, RelevanceResult):
        return Findings(thing)
    if not isinstance(thing, Findings):
        raise TypeError(f"findings must be Findings or a RelevanceResult, got {type(thing).__name__}")
    return thing


def summary(result: RelevanceResult) -> list[str]:
    """Return the sentences of the summary without the notes, which have a section of their own."""
    return result.summary(notes=False).split("\n")


def key_numbers(result: RelevanceResult) -> list[KeyNumber]:
    """Return the numbers to see first."""
    words = result.words
    numbers = [
        KeyNumber(str(int((result.classes == kind).sum())), style.phrase, meaning, kind.label, style.symbol)
        for (kind, style), meaning in zip(CLASS_STYLES.items(), words.meanings, strict=True)
    ]
    if result.tentative:
        numbers.append(KeyNumber(str(len(result.tentative)), "undecided", f"whose class is {words.undecided}"))
    if result.incomplete:
        numbers.append(KeyNumber(str(len(result.incomplete)), "incomplete", "whose interval may be far too wide"))
    if result.borderline.any():
        meaning = f"whose class another sample may change ({BORDERLINE})"
        numbers.append(KeyNumber(str(int(result.borderline.sum())), "borderline", meaning))
    model = f"of the {words.model_heading.lower()}"
    score, where = result.scores.get("cross_validated"), f"{model}, in cross-validation"
    if score is None:
        score, where = result.scores.get("training"), f"{model}, on the training data"
    numbers.append(KeyNumber(decimal(score), str(result.scores.get("metric", "score")), where))
    trusted = power(result.max_gap) if words.gap else str(result.thresholds.n_probes)
    name, meaning = words.trust
    numbers.append(KeyNumber(trusted, name, "of the bounds that were found in time" if result.incomplete else meaning))
    return numbers


def class_lists(result: RelevanceResult) -> list[ClassList]:
    """Return the features of every class, the most relevant first."""
    label = {name: result.label(k) for k, name in enumerate(result.feature_names)}
    return [
        ClassList(
            kind.label,
            style,
            meaning,
            [f"{name} {label[name].removeprefix(kind.label)}".rstrip() for name in result.names(kind)],
        )
        for (kind, style), meaning in zip(CLASS_STYLES.items(), result.words.meanings, strict=True)
    ]


def feature_lines(result: RelevanceResult, scale: Scale, groups: FeatureGroups | None = None) -> list[FeatureLine]:
    """Return all features, the most relevant first."""
    lines = []
    _, pvalues = compared(result)
    limits, evidence, level = _ticks(result), result.evidence, result.thresholds.level
    for rank, k in enumerate(result.ranking()):
        low, high = result.intervals[k].tolist()
        kind = RelevanceClass(int(result.classes[k]))
        lines.append(
            FeatureLine(
                result.feature_names[k],
                kind.label,
                result.label(int(k)),
                CLASS_STYLES[kind],
                scale.percent(low),
                scale.percent(high - low),
                decimal(low),
                decimal(high),
                scale.percent(limits[k]),
                pvalue(float(pvalues[k]), level),
                EVIDENCE[evidence[k]],
                ", ".join(f"{name} {text}" for name, text in parts_of(result, int(k))),
                signed(float(result.baseline[k])),
                UNKNOWN if groups is None or groups.labels[k] < 0 else str(groups.labels[k]),
                {
                    "rank": str(rank),
                    "minimum": repr(low),
                    "maximum": repr(high),
                    "pvalue": repr(float(pvalues[k])),
                    "evidence": str(list(EVIDENCE).index(evidence[k])) if evidence[k] else "",
                    "baseline": repr(abs(float(result.baseline[k]))),
                    "group": "" if groups is None or groups.labels[k] < 0 else str(groups.labels[k]),
                },
            )
        )
    return lines


def parts_of(result: RelevanceResult, k: int) -> list[tuple[str, str]]:
    """Return the p-values that the adjusted one of a feature was made from, by name."""
    level = result.thresholds.level
    if not math.isfinite(result.alone_pvalues[k]):
        return []
    parts = (("together", result.together_pvalues), ("alone", result.alone_pvalues), ("combined", result.pvalues))
    return [(name, pvalue(float(values[k]), level)) for name, values in parts]


def performance(result: RelevanceResult) -> list[tuple[str, str]]:
    """Return how good the best model is, and with which parameters."""
    metric = str(result.scores.get("metric", "score"))
    places = (("cross_validated", "in cross-validation"), ("training", "on the training data"))
    scores = [
        (f"{metric}, {where}", decimal(result.scores[k])) for k, where in places if result.scores.get(k) is not None
    ]
    return [*scores, *((name, value(setting)) for name, setting in result.hyperparameters.items())]


def panel_lines(panels: Panels) -> list[PanelLine]:
    """Return all panels, the cheapest first."""
    return [
        PanelLine(
            number,
            f"{panel.cost:g}",
            decimal(panel.score),
            "proven" if panel.gap == 0.0 else f"cheaper by up to {100 * panel.gap:.0f} % not ruled out",
            panel.features,
        )
        for number, panel in enumerate(panels)
    ]


def panel_sentences(panels: Panels) -> list[str]:
    """Return what :meth:`.Panels.summary` says beside the panels themselves."""
    return panels.summary().splitlines()[len(panels) :]


def method(findings: Findings) -> dict[str, list[tuple[str, str]]]:
    """Return what one needs to know to judge and to repeat the result, by heading."""
    result = findings.result
    limits, words = result.thresholds, result.words
    probes = words.probes_fact.format(drawn=limits.n_probes, usable=limits.n_usable)
    seconds = [(f"CPU seconds, {stage}", f"{spent:.2f}") for stage, spent in result.cpu_seconds.items()]
    facts = {
        "Data": [
            ("problem", result.problem),
            ("samples", str(result.n_samples)),
            ("features", str(result.n_features)),
            *findings.data.items(),
        ],
        "Limits of noise": [
            ("rule", RULES.get(limits.rule, limits.rule)),
            ("level", value(limits.level)),
            ("control", CONTROLS.get(limits.control, limits.control)),
            *((words.max_fact, decimal(limits.max_relevance)) for _ in limits_of(result)[:1]),
            *((words.min_fact, decimal(limits.min_relevance)) for _ in limits_of(result)[:1]),
            (words.probes, probes),
            ("borderline", near(limits) if result.borderline.any() else ""),
        ],
        "Computation": [
            ("engine", result.engine),
            (words.programs, str(result.n_programs)),
            (words.gap, power(result.max_gap)),
            *seconds,
            ("seed", "not an integer" if result.seed is None else str(result.seed)),
            ("fitted with", f"allrelevant {result.version}".strip()),
        ],
        "Parameters": [(name, value(setting)) for name, setting in result.parameters.items()],
    }
    return {heading: [fact for fact in items if all(fact)] for heading, items in facts.items()}


def how(result: RelevanceResult) -> str:
    """Return how the numbers were found, those of privileged features included."""
    parts = [part for part in (result, result.privileged) if part is not None]
    text = result.words.method.format(gap=power(max(part.max_gap for part in parts)))
    if any(part.incomplete for part in parts):
        text += f" {result.words.late}"
    return f"{text} {result.words.evidence}".rstrip()


def holds(result: RelevanceResult) -> str:
    """Return what the p-values promise, and of which rows; nothing if they are not compared with a level."""
    return f"{result.guarantee} {result.words.holds}" if compared(result)[0] == "adj. p" else ""


def written_with() -> list[tuple[str, str]]:
    """Return the versions of what is installed where the page is written."""
    versions = [("Python", platform.python_version())]
    for package in ("allrelevant", "numpy", "scipy", "scikit-learn", "highspy", "lightgbm", "matplotlib", "plotly"):
        try:
            versions.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:  # as where the source is used without an installation
            continue
    return versions
