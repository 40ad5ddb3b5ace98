"""All designs, registered by importing their modules."""

from benchmarks.truth import designs, networks, noise, reserved
from benchmarks.truth.record import DESIGNS

__all__ = ["DESIGNS", "designs", "networks", "noise", "reserved"]
