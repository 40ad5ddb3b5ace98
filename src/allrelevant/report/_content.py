"""What the page says, in plain values. How it looks is the matter of the template."""

from __future__ import annotations

import math
from dataclasses import dataclass

from allrelevant.plotting._style import CLASS_STYLES, ClassStyle
from allrelevant.report._format import decimal, power, pvalue, value
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["FeatureLine", "KeyNumber", "Scale", "feature_lines", "key_numbers", "method", "summary"]

_MEANINGS = {
    RelevanceClass.STRONG: "every good model needs them",
    RelevanceClass.WEAK: "useful, but replaceable by others",
    RelevanceClass.IRRELEVANT: "no better than noise",
}


@dataclass(frozen=True, slots=True)
class KeyNumber:
    """A number worth a large font."""

    number: str
    name: str
    meaning: str
    kind: str = ""
    symbol: str = ""


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
        limits = result.thresholds.min_relevance, result.thresholds.max_relevance
        ends = [number for number in (*limits, *result.intervals[:, 1].tolist()) if math.isfinite(number)]
        return cls(max(ends, default=0.0) or 1.0)

    def percent(self, number: float) -> str:
        """Return where a relevance lies on the track; a limit that is not finite lies outside."""
        return f"{100 * number / self.end:.2f}%" if math.isfinite(number) else "-10%"


@dataclass(frozen=True, slots=True)
class FeatureLine:
    """One line of the table of features."""

    name: str
    kind: str
    style: ClassStyle
    start: str
    length: str
    minimum: str
    maximum: str
    pvalue: str


def summary(result: RelevanceResult) -> list[str]:
    """Return the sentences of the summary without the notes, which have a section of their own."""
    return result.summary(notes=False).split("\n")


def key_numbers(result: RelevanceResult) -> list[KeyNumber]:
    """Return the numbers to see first."""
    numbers = [
        KeyNumber(str(int((result.classes == kind).sum())), style.phrase, _MEANINGS[kind], kind.label, style.symbol)
        for kind, style in CLASS_STYLES.items()
    ]
    score, where = result.scores.get("cross_validated"), "of the best model, in cross-validation"
    if score is None:
        score, where = result.scores.get("training"), "of the best model, on the training data"
    numbers.append(KeyNumber(decimal(score), str(result.scores.get("metric", "score")), where))
    numbers.append(KeyNumber(power(result.max_gap), "certificate gap", "no bound can be further off than this"))
    return numbers


def feature_lines(result: RelevanceResult, scale: Scale) -> list[FeatureLine]:
    """Return all features, the most relevant first."""
    lines = []
    for k in result.ranking():
        low, high = result.intervals[k].tolist()
        kind = RelevanceClass(int(result.classes[k]))
        lines.append(
            FeatureLine(
                result.feature_names[k],
                kind.label,
                CLASS_STYLES[kind],
                scale.percent(low),
                scale.percent(high - low),
                decimal(low),
                decimal(high),
                pvalue(float(result.pvalues[k])),
            )
        )
    return lines


def method(result: RelevanceResult) -> dict[str, list[tuple[str, str]]]:
    """Return what one needs to know to judge and to repeat the result, by heading."""
    limits = result.thresholds
    scores = [
        (f"{result.scores.get('metric', 'score')}, {where}", decimal(result.scores[key]))
        for key, where in (("cross_validated", "in cross-validation"), ("training", "on the training data"))
        if result.scores.get(key) is not None
    ]
    seconds = [(f"CPU seconds, {stage}", f"{spent:.2f}") for stage, spent in result.cpu_seconds.items()]
    return {
        "Data and model": [
            ("problem", result.problem),
            ("samples", str(result.n_samples)),
            ("features", str(result.n_features)),
            *((name, value(setting)) for name, setting in result.hyperparameters.items()),
            *scores,
        ],
        "Limits of noise": [
            ("rule", limits.rule),
            ("confidence", value(limits.confidence)),
            ("limit for maxRel", decimal(limits.max_relevance)),
            ("limit for minRel", decimal(limits.min_relevance)),
            ("usable probes", f"{limits.n_usable} of {limits.n_probes}"),
        ],
        "Computation": [
            ("engine", result.engine),
            ("linear programs", str(result.n_programs)),
            ("largest certified gap", power(result.max_gap)),
            *seconds,
            ("seed", "not an integer" if result.seed is None else str(result.seed)),
            ("version", f"allrelevant {result.version}".strip()),
        ],
        "Parameters": [(name, value(setting)) for name, setting in result.parameters.items()],
    }
