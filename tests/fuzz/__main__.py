"""Many random cases, with a list of all that failed: ``PYTHONPATH=tests python -m fuzz --cases 10000``."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from typing import Any

import numpy as np

from fuzz.cases import draw
from fuzz.checks import check_engines, check_fit
from fuzz.forests import check_forest, draw_forest

PROPERTIES: dict[str, Any] = {
    "fit": (draw, check_fit),
    "engines": (draw, check_engines),
    "forest": (draw_forest, check_forest),
}
#: Cases after which to say how far it has come.
PROGRESS = 500


def main() -> int:
    """Run the cases of one property or of all; say how they ended and which failed."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="cases per property")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other cases")
    parser.add_argument("--property", choices=sorted(PROPERTIES), action="append", help="all by default")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop a property after that much time")
    options = parser.parse_args()
    failures = 0
    for name in options.property or PROPERTIES:
        failures += run(name, options.cases, options.seed, options.seconds)
    return 1 if failures else 0


def run(name: str, n_cases: int, seed: int, seconds: float) -> int:
    """Run the cases of a property; return how many failed."""
    make, check = PROPERTIES[name]
    rng = np.random.RandomState(seed)
    ends: Counter[str] = Counter()
    failures = 0
    start, slowest = time.monotonic(), (0.0, None)
    for k in range(n_cases):
        if k and k % PROGRESS == 0:
            say(f"{name}: {k} of {n_cases} cases after {time.monotonic() - start:.0f} s, {failures} failed")
        case = make(rng)
        begin = time.process_time()
        try:
            ends[check(case)] += 1
        except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
            failures += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{where.filename.rsplit('/', 1)[-1]}:{where.lineno}"
            message = " ".join(str(error).split())[:160]
            say(f"FAILED {name}: {case!r}\n    {place}: {type(error).__name__}: {message}")
            ends["failed"] += 1
        slowest = max(slowest, (time.process_time() - begin, repr(case)), key=lambda pair: pair[0])
        if time.monotonic() - start > seconds:
            break
    total = sum(ends.values())
    say(f"{name}: {total} cases in {time.monotonic() - start:.0f} s, {dict(ends.most_common())}")
    say(f"    slowest, {slowest[0]:.1f} s: {slowest[1]}")
    return failures


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
