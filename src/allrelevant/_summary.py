"""A result in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from allrelevant.result import RelevanceResult, Thresholds

__all__ = ["cut", "guarantee", "summary"]

#: Longest name in a table.
LONGEST_NAME = 48


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
    for kind, label, reason in zip((2, 1, 0), labels, words.reasons, strict=True):
        sentences.append(_clause([name for name in result.names(kind) if name not in unsure], label, reason))
    if unsure:
        sentences.append(
            f"Time ran out before it was decided about {_listed(list(result.tentative))}: the classes given are what "
            "is shown so far."
        )
    elif result.tentative:
        guess = "its class is a best guess" if len(result.tentative) == 1 else "their classes are best guesses"
        sentences.append(f"The test could not decide about {_listed(list(result.tentative))}; {guess}.")
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


def cut(name: str) -> str:
    """Leave out the middle of a very long name."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half + 1 :]}"


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
