"""What a person did that cannot work, said so that they can put it right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["Problem", "closest", "listed", "split_names"]


class Problem(Exception):
    """Input that cannot be used; the message is one or two sentences that say what to do."""


def closest(name: str, known: Iterable[object]) -> str:
    """Ask whether a similar name was meant, or say which names there are."""
    names = [str(one) for one in known]
    folded = {one.casefold().strip(): one for one in reversed(names)}
    plain = name.casefold().strip()
    near = [plain] if plain in folded else difflib.get_close_matches(plain, folded, n=3, cutoff=0.7)
    if near:
        return f"did you mean {listed([repr(folded[one]) for one in near], last='or')}?"
    return f"there are {listed([repr(one) for one in names], most=12)}." if names else "there are none."


def listed(names: Sequence[str], *, most: int = 8, last: str = "and") -> str:
    """Join names as a sentence does, the first few of many."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def split_names(text: str | None) -> list[str]:
    """Names separated by commas."""
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]
