"""A few hundred random problems in every run of the tests; ``make fuzz`` runs thousands."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from fuzz.cases import CHOICES, cases
from fuzz.checks import check_engines, check_fit
from fuzz.forests import check_forest, forest_cases

#: The same cases in every run: a new failure comes from a change, not from chance.
COMMON = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}
#: Sizes and combinations that take longer are left to ``make fuzz``.
SMALL = {
    "n": tuple(n for n in CHOICES["n"] if n <= 25),
    "d": tuple(d for d in CHOICES["d"] if d <= 20),
    "groups": (None, None, None, "pairs"),
}


@settings(max_examples=300, **COMMON)
@given(cases(**SMALL))
def test_a_fit_ends_with_a_proven_result_or_a_typed_error(case):
    check_fit(case)


@settings(max_examples=80, **COMMON)
@given(cases(**SMALL))
def test_both_engines_find_the_same_bounds(case):
    check_engines(case)


@settings(max_examples=150, **COMMON)
@given(forest_cases())
def test_forests_end_with_a_result_or_a_typed_error(case):
    check_forest(case)
