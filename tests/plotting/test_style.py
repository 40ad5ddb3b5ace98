from __future__ import annotations

import re
import subprocess
import sys

from allrelevant.plotting._style import CLASS_STYLES, PALETTE, mix
from allrelevant.result import RelevanceClass


def test_every_class_has_a_look_of_its_own():
    assert set(CLASS_STYLES) == set(RelevanceClass)
    looks = CLASS_STYLES.values()
    assert len({style.symbol for style in looks}) == len({style.shade.light for style in looks}) == 3


def test_palette_is_plain_hexadecimal():
    for shade in PALETTE.values():
        assert re.fullmatch("#[0-9a-f]{6}", shade.light)
        assert re.fullmatch("#[0-9a-f]{6}", shade.dark)


def test_mix_ends_at_both_colours():
    assert mix("#0072b2", "#ffffff", 1.0) == "#0072b2"
    assert mix("#0072b2", "#ffffff", 0.0) == "#ffffff"


def test_importing_loads_neither_matplotlib_nor_jinja2():
    code = (
        "import sys, allrelevant.plotting, allrelevant.report;"
        "sys.exit(bool({'matplotlib', 'jinja2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
