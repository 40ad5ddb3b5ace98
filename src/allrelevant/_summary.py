"""A result in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allrelevant._words import BORDERLINE

if TYPE_CHECKING:
    from allrelevant.result import RelevanceResult, Thresholds

__all__ = ["compared", "cut", "guarantee", "legend", "near", "pvalue", "summary"]

#: Longest name in a table.
LONGEST_NAME = 48
#: Suppressors that have a sentence of their own.
TOLD = 6
#: Digits, at most, that tell a p-value from the level.
DIGITS = 15


def summary(result: RelevanceResult, *, notes: bool) -> str:
    """Say what was found, with the notes or without."""
    words = result.words
    sentences = [f"{result.n_features} features and {result.n_samples} samples were examined ({result.problem})."]
    if result.constraints:
        held = ", ".join(_held(name, *limits) for name, limits in result.constraints.items())
        sentences.append(f"Only near-optimal models were looked at with {held}.")
    score = result.scores.get("cross_validated")
    where = "in cross-validation" if score is not None else "on the training data"
    score = result.scores.get("training") if score is None else score
    metric = str(result.scores.get("metric", "score"))
    sentences.append(f"{words.model} reaches {_article(metric)} {metric} of {score:.3f} {where}.")
    labels = ("strongly relevant", "weakly relevant", "irrelevant")
    # What was not decided in time is of no class yet.
    unsure = set(result.tentative) if words.answers else set()
    dropped = _dropped(result)
    for kind, label, reason in zip((2, 1, 0), labels, words.reasons, strict=True):
        names = [name for name in result.names(kind) if name not in unsure]
        if kind or not dropped or len(dropped) < len(names):
            sentences.append(_clause([name for name in names if name not in dropped], label, reason))
    if dropped:
        sentences.append(_clause(dropped, "not relevant under these constraints", words.unused))
    sentences += _kinds(result)
    if unsure:
        sentences.append(
            f"Time ran out before it was decided about {_listed(list(result.tentative))}: the classes given are what "
            "is shown so far."
        )
    elif result.tentative:
        guess = "its class is a best guess" if len(result.tentative) == 1 else "their classes are best guesses"
        sentences.append(f"The test could not decide about {_listed(list(result.tentative))}; {guess}.")
    sentences += _certainty(result)
    gap, other = result.max_gap, result.privileged
    if other is not None:
        gap = max(gap, other.max_gap)
        found = [other.feature_names[k] for k in other.ranking() if other.classes[k]]
        sentences.append(_privileged_clause(found, other.n_features))
    ending = words.ending.format(gap=gap, drawn=result.thresholds.n_probes)
    missing = [name for one in (result, other) if one is not None for name in one.incomplete]
    if missing:
        ending = f"{words.late} These are {_listed(missing)}. The two sides of every other bound agree to {gap:.1g}."
    sentences.append(ending)
    if notes:
        sentences.extend(result.notes)
    return "\n".join(sentences)


def guarantee(thresholds: Thresholds) -> str:
    """Say what holds of the features called relevant."""
    level = f"{100 * thresholds.level:.3g} %"
    if thresholds.control == "fdr":
        return f"Of the features called relevant, at most {level} are expected to be noise."
    if thresholds.control == "fwer":
        return f"The chance that any of the features called relevant is noise is at most {level}."
    return f"Each feature of noise has a chance of at most {level} to be called relevant."


def compared(result: RelevanceResult) -> tuple[str, NDArray[np.float64]]:
    """Return the p-values that are compared with the level and what to call them: adjusted, if there are such."""
    if np.isnan(result.adjusted_pvalues).all():
        return "p-value", result.pvalues
    return "adj. p", result.adjusted_pvalues


def pvalue(number: float, level: float) -> str:
    """Return a p-value with three decimals, or how small it is; with more where it would not be told from the level.

    Examples
    --------
    >>> pvalue(0.0312, 0.05), pvalue(2e-5, 0.05), pvalue(0.0503, 0.05), pvalue(float("nan"), 0.05)
    ('0.031', '< 0.001', '0.0503', '–')
    """
    if not np.isfinite(number):
        return "–"
    if number < 0.0005 and level >= 0.001:
        return "< 0.001"
    for digits in range(3, DIGITS):
        text = f"{number:.{digits}f}" if number >= 0.0005 else f"{number:.{digits - 1}g}"
        if (float(text) <= level) == (number <= level):
            return text
    return repr(float(number))


def legend(result: RelevanceResult) -> list[str]:
    """Return what must be said below a table: what marks mean, and which fit the p-values are of."""
    lines = []
    if result.unconstrained is not None and compared(result)[0] == "adj. p":
        lines.append("P-values are of the fit without constraints; classes are of the models that these leave.")
    if result.borderline.any():
        lines.append(f"{BORDERLINE} borderline: {near(result.thresholds)}.")
    return lines


def near(thresholds: Thresholds) -> str:
    """Say what borderline features are."""
    return f"adjusted p within a factor of two of the level, {thresholds.level:g}"


def cut(name: str) -> str:
    """Leave out the middle of a very long name."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half + 1 :]}"


def _dropped(result: RelevanceResult) -> list[str]:
    """Features that are relevant, but not among the models that constraints leave."""
    free = result.unconstrained_classes
    if free is None:
        return []
    return [name for name in result.names(0) if free[result.feature_names.index(name)] > 0]


def _kinds(result: RelevanceResult) -> list[str]:
    """Say of which features there is only one kind of evidence."""
    place = {name: k for k, name in enumerate(result.feature_names)}
    evidence, sentences = result.evidence, []
    alone = [name for name in result.names(1) if evidence[place[name]] == "alone"]
    if alone:
        themselves = "tells of the target by itself" if len(alone) == 1 else "tell of the target by themselves"
        sentences.append(f"{_listed(alone)} {themselves}; other features tell the same.")
    together = [name for kind in (2, 1) for name in result.names(kind) if evidence[place[name]] == "together"]
    named = [name for name in together if result.companions.get(name)][:TOLD]
    sentences += [
        f"{cut(name)} tells of the target only beside others: {_listed(list(result.companions[name]))}."
        for name in named
    ]
    rest = [name for name in together if name not in named]
    if rest:
        sentences.append(f"{_listed(rest)} tell{'s' * (len(rest) == 1)} of the target only beside others.")
    return sentences


def _certainty(result: RelevanceResult) -> list[str]:
    """Say what the level means for these features, and which are near it."""
    heading, pvalues = compared(result)
    if heading != "adj. p":
        return []
    limits, words = result.thresholds, result.words
    sets = "1 set" if limits.n_usable == 1 else f"{limits.n_usable} sets"
    sentences = [words.compared.format(sets=sets)] if words.compared and limits.n_usable else []
    sentences.append(f"{result.guarantee} {words.holds}")
    close = [k for k in result.ranking() if result.borderline[k]]
    if close:
        listed = _listed([f"{cut(result.feature_names[k])} ({pvalue(pvalues[k], limits.level)})" for k in close])
        may = "its class" if len(close) == 1 else "their classes"
        sentences.append(f"Borderline, with {near(limits)}: {listed}. Another sample may change {may}.")
    return sentences


def _article(noun: str) -> str:
    """Return what stands before a word, or before letters that are read one by one, such as R²."""
    return "an" if noun[:1] and noun[:1] in "aeiouAEFHILMNORSX" else "a"


def _held(name: str, low: float, high: float) -> str:
    if high == 0.0:
        return f"{name} excluded"
    return f"{name} at {low:.3g}" if low == high else f"{name} from {low:.3g} to {high:.3g}"


def _listed(names: list[str]) -> str:
    return ", ".join(cut(name) for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _privileged_clause(names: list[str], total: int) -> str:
    which = f"privileged feature{'' if total == 1 else 's'}, known in training only,"
    if not names:
        return f"None of the {total} {which} is relevant."
    return f"{len(names)} of the {total} {which} {'is' if len(names) == 1 else 'are'} relevant: {_listed(names)}."


def _clause(names: list[str], label: str, reason: str) -> str:
    if not names:
        return f"No feature is {label}."
    shown = _listed(names)
    them = "it" if len(names) == 1 else "them"
    verb = "is" if len(names) == 1 else "are"
    return f"{len(names)} {verb} {label} ({reason.format(them)}): {shown}."
