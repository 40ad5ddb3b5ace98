"""How the classes look, on every page and in every drawing: the one place that knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from allrelevant.result import RelevanceClass

__all__ = ["CLASS_STYLES", "PALETTE", "ClassStyle", "Shade", "mix"]


@dataclass(frozen=True, slots=True)
class Shade:
    """One colour, for light and for dark paper, in hexadecimal."""

    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class ClassStyle:
    """The look of one class of relevance.

    Colour is never alone: the classes also differ in filling (full, hatched, hollow) and in symbol, so that
    they can be told apart in a grey print.

    Attributes
    ----------
    phrase : str
        The class as a reader meets it.
    shade : Shade
        Its colour.
    fill : float
        How much of the colour is in the filling inside the outline; the rest is paper.
    hatch : str or None
        Hatch of the filling, as matplotlib writes it.
    symbol : str
        A character with the same filling.
    """

    phrase: str
    shade: Shade
    fill: float
    hatch: str | None
    symbol: str


def mix(colour: str, paper: str, share: float) -> str:
    """Return `share` of one colour in another, both hexadecimal.

    Colours with an alpha channel would be simpler, but matplotlib's SVG drops it from a hatched filling.

    Examples
    --------
    >>> mix("#0072b2", "#ffffff", 0.5)
    '#80b8d8'
    """
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(paper[1:]), strict=True)
    return "#" + bytes(round(share * a + (1 - share) * b) for a, b in channels).hex()


# Okabe and Ito's palette, which stays distinct under the common forms of colour blindness: blue (sky blue on
# dark paper), orange, and a grey for what does not matter.
CLASS_STYLES: Mapping[RelevanceClass, ClassStyle] = MappingProxyType(
    {
        RelevanceClass.STRONG: ClassStyle("strongly relevant", Shade("#0072b2", "#56b4e9"), 1.0, None, "●"),
        RelevanceClass.WEAK: ClassStyle("weakly relevant", Shade("#e69f00", "#e69f00"), 0.3, "////", "◐"),
        RelevanceClass.IRRELEVANT: ClassStyle("irrelevant", Shade("#8c8c8c", "#8b949e"), 0.12, None, "○"),
    }
)
INK = Shade("#24292f", "#e6edf3")
PAPER = Shade("#ffffff", "#14181d")


def _palette() -> dict[str, Shade]:
    shades = {"ink": INK, "paper": PAPER}
    for kind, style in CLASS_STYLES.items():
        shades[kind.label] = style.shade
        shades[f"{kind.label}-fill"] = Shade(
            mix(style.shade.light, PAPER.light, style.fill), mix(style.shade.dark, PAPER.dark, style.fill)
        )
    return shades


PALETTE: Mapping[str, Shade] = MappingProxyType(_palette())
"""All colours by name, for pages that follow the reader's choice of light or dark."""
