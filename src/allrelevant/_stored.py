"""What a result in a file must be: types, shapes and ranges of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import allrelevant._reading as reading

__all__ = ["checked"]

CLASSES = 3
THRESHOLDS = {"min_relevance", "max_relevance", "rule", "level", "control", "n_probes", "n_usable"}
#: How far the ends of an interval may be out of order, and the greatest end: a drawing needs a scale. They are shares
#: of the norm of the baseline model, which a common budget of norm and loss may exceed as many times as it likes.
ROUNDING, LARGEST = 1e-6, 1e100


def checked(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result, all but the privileged one, as they must be.

    Parameters
    ----------
    content : mapping
        All these fields, as JSON brings them back.

    Returns
    -------
    dict
        The same as arrays and tuples.

    Raises
    ------
    ValueError
        If a field is of another type, shape or range; the message begins with its name.
    """
    read, array = dict(content), reading.array
    read["feature_names"] = reading.listed(reading.text, content["feature_names"], "feature_names")
    d = len(read["feature_names"])
    if not d:
        raise ValueError("feature_names is empty")
    for name in ("intervals", "unconstrained"):
        read[name] = reading.optional(_intervals, content[name], name, d=d)
    for name in ("classes", "unconstrained_classes"):
        given = content[name]
        read[name] = None if given is None else array(reading.whole, given, name, (d,), most=CLASSES - 1)
    for name in ("intervals", "classes"):
        if read[name] is None:
            raise ValueError(f"{name} is missing")
    read["pvalues"] = array(reading.number, content["pvalues"], "pvalues", (d,), least=0.0, most=1.0, unknown=True)
    read["baseline"] = array(reading.number, content["baseline"], "baseline", (d,), unknown=True)
    for name in ("adjusted_pvalues", "together_pvalues", "alone_pvalues", "limits"):
        given = content[name]
        most = np.inf if name == "limits" else 1.0
        read[name] = array(reading.number, given, name, (0 if given == [] else d,), least=0.0, most=most, unknown=True)
    read["companions"] = {
        name: reading.listed(reading.text, others, f"companions[{name!r}]")
        for name, others in reading.mapping(content["companions"], "companions").items()
    }
    read["thresholds"] = _thresholds(content["thresholds"])
    for name in ("problem", "engine", "version", "method"):
        read[name] = reading.text(content[name], name)
    for name in ("n_samples", "n_programs"):
        read[name] = reading.whole(content[name], name)
    read["seed"] = reading.optional(reading.whole, content["seed"], "seed")
    read["max_gap"] = reading.number(content["max_gap"], "max_gap", least=0.0, unknown=True)
    for name in ("hyperparameters", "scores", "parameters", "cpu_seconds", "constraints"):
        read[name] = reading.mapping(content[name], name)
    for stage, seconds in read["cpu_seconds"].items():
        reading.number(seconds, f"cpu_seconds[{stage!r}]", least=0.0, unknown=True)
    scores = [read["scores"].get(name) for name in ("cross_validated", "training")]
    if scores == [None, None]:
        raise ValueError("scores must have a number for 'cross_validated' or 'training'")
    for score in scores:
        reading.optional(reading.number, score, "scores", unknown=True)
    for name, limits in read["constraints"].items():
        if name not in read["feature_names"]:
            raise ValueError(f"constraints names {name!r}, which is no feature of this result")
        read["constraints"][name] = array(reading.number, limits, f"constraints[{name!r}]", (2,), least=0.0).tolist()
    for name in ("notes", "tentative", "incomplete"):
        read[name] = reading.listed(reading.text, content[name], name)
    return read


def _intervals(given: Any, where: str, d: int) -> NDArray[np.float64]:
    """Return intervals, whose ends are in order but for rounding."""
    ends = reading.array(reading.number, given, where, (d, 2), least=-ROUNDING, most=LARGEST)
    reversed_ = np.flatnonzero(ends[:, 0] > ends[:, 1] + ROUNDING)
    if reversed_.size:
        raise reading.wanted("a low end before a high end", ends[reversed_[0]].tolist(), f"{where}[{reversed_[0]}]")
    return ends


def _thresholds(given: Any) -> dict[str, Any]:
    read = dict(reading.mapping(given, "thresholds"))
    if "confidence" in read:  # of earlier versions, which had a prediction limit of that confidence
        read["level"], read["control"] = (
            reading.number(read.pop("confidence"), "thresholds.confidence", unknown=True),
            "none",
        )
        read["level"] = 1.0 - read["level"]
    read = reading.mapping(read, "thresholds", THRESHOLDS)
    for name in ("min_relevance", "max_relevance", "level"):
        read[name] = reading.number(read[name], f"thresholds.{name}", unknown=True)
    for name in ("n_probes", "n_usable"):
        read[name] = reading.whole(read[name], f"thresholds.{name}")
    for name in ("rule", "control"):
        read[name] = reading.text(read[name], f"thresholds.{name}")
    return read
