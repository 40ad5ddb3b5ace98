"""Marks of features that go together: the number and the colour of their group, as in the tree of the groups."""

from __future__ import annotations

from dataclasses import dataclass

from allrelevant.plotting._style import PALETTE, mix
from allrelevant.plotting.groups import group_colours, ordered_tree
from allrelevant.redundancy import FeatureGroups

__all__ = ["Mark", "marks_of"]


@dataclass(frozen=True)
class Mark:
    """The mark of a group.

    Attributes
    ----------
    number : int
        Number of the group, as in :attr:`~allrelevant.redundancy.FeatureGroups.labels`.
    colour : str
        Colour of its frame, in hexadecimal.
    """

    number: int
    colour: str

    @property
    def fill(self) -> str:
        """Colour inside the frame, pale enough for the number to be read."""
        return mix(self.colour, PALETTE["paper"].light, 0.35)


def marks_of(groups: FeatureGroups) -> dict[str, Mark]:
    """Return the mark of every feature that is not alone in its group, by name."""
    _, order = ordered_tree(groups)
    colours = group_colours(groups, [groups.members[i] for i in order], "")
    return {
        name: Mark(number, colours[number])
        for number, group in enumerate(groups.groups)
        if len(group) > 1
        for name in group
    }
