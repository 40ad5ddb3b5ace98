import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from allrelevant.inference.exchange import FEWEST, exchangeability, numbered


def allowed(target, groups, strata):
    """All permutations that keep groups whole and in their stratum, by trying every one of them."""
    n = len(target)
    members = {g: [i for i in range(n) if groups[i] == g] for g in groups}
    varies = any(len({target[i] for i in rows}) > 1 for rows in members.values())
    found = []
    for pi in permutations(range(n)):
        # What stands in the places of a group, in the order of its places.
        arrived = [[pi[i] for i in rows] for rows in members.values()]
        whole = all(any(set(rows) == set(source) for source in members.values()) for rows in arrived)
        kept = all(strata[pi[i]] == strata[i] for i in range(n))
        ordered = all(rows == sorted(rows) for rows in arrived)
        if whole and kept and (varies or ordered):
            found.append(pi)
    return found


@st.composite
def rows(draw, most=7):
    """A target, groups and strata of a few rows; every group in one stratum."""
    n = draw(st.integers(1, most))
    groups = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    of_group = draw(st.lists(st.integers(0, 1), min_size=5, max_size=5))
    constant = draw(st.booleans())
    values = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    target = [values[groups.index(g)] for g in groups] if constant else values
    return target, groups, [of_group[g] for g in groups]


@settings(deadline=None)
@given(rows(), st.booleans(), st.integers(0, 2**32))
def test_every_draw_is_one_of_the_permutations_that_keep_groups_and_strata(data, grouped, seed):
    target, groups, strata = data
    alone = list(range(len(target)))
    possible = set(allowed(target, groups if grouped else alone, strata))
    found = exchangeability(len(target), target, groups if grouped else None, strata)
    for _ in range(5):
        assert tuple(found.permutation(np.random.default_rng(seed)).tolist()) in possible
    assert found.restricted == (len(possible) < math.factorial(len(target)))
    owners = groups if grouped else alone
    assert np.array_equal(numbered(found.groups), numbered(owners))


@settings(deadline=None)
@given(rows(), st.booleans())
def test_the_number_of_permutations_is_that_of_the_arrangements_of_the_target(data, grouped):
    target, groups, strata = data
    alone = list(range(len(target)))
    possible = allowed(target, groups if grouped else alone, strata)
    found = exchangeability(len(target), target, groups if grouped else None, strata)
    arrangements = {tuple(target[i] for i in pi) for pi in possible}
    assert found.n_permutations == len(arrangements)
    assert found.enough == (len(arrangements) >= FEWEST)
    moved = [any(target[pi[i]] != target[i] for pi in possible) for i in range(len(target))]
    assert found.movable == pytest.approx(np.mean(moved))


@pytest.mark.parametrize(
    ("target", "groups", "strata"),
    [
        ([0, 1, 2, 3], None, None),
        ([0, 1, 0, 1, 0, 1], None, [0, 0, 0, 1, 1, 2]),
        ([0, 0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 2, 2, 3], None),  # constant within groups
        ([0, 1, 1, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3], None),  # varies within groups
        ([0, 1, 1, 0, 1, 1], [0, 1, 0, 2, 2, 1], [5, 5, 5, 3, 3, 5]),
    ],
)
def test_every_permutation_has_the_same_chance(target, groups, strata):
    n = len(target)
    possible = allowed(target, groups or list(range(n)), strata or [0] * n)
    found, rng = exchangeability(n, target, groups, strata), np.random.default_rng(0)
    draws = Counter(tuple(found.permutation(rng).tolist()) for _ in range(300 * len(possible)))
    assert set(draws) == set(possible)
    assert chisquare(list(draws.values())).pvalue > 1e-3


def test_whole_groups_of_equal_size_change_places():
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4])
    found = exchangeability(11, groups % 2, groups)
    for seed in range(20):
        moved = groups[found.permutation(np.random.default_rng(seed))]
        for g in range(5):
            came = set(moved[groups == g].tolist())
            assert len(came) == 1
            assert (groups == came.pop()).sum() == (groups == g).sum()


def test_a_feature_of_groups_varies_in_its_copies_though_the_target_varies_within_groups():
    groups = np.repeat(np.arange(6), 4)
    age = groups.astype(float)
    found = exchangeability(24, np.tile([0, 1], 12), groups)
    copies = [age[found.permutation(np.random.default_rng(seed))] for seed in range(5)]
    assert all((copy != age).any() for copy in copies)
    assert all(len(set(copy[groups == g])) == 1 for copy in copies for g in range(6))


def test_a_pattern_that_all_groups_have_in_common_is_broken():
    before_and_after = np.tile([0.0, 1.0], 30)
    found = exchangeability(60, before_and_after, np.repeat(np.arange(30), 2))
    copy = before_and_after[found.permutation(np.random.default_rng(0))]
    assert abs(np.corrcoef(copy, before_and_after)[0, 1]) < 0.5


def test_names_of_groups_and_strata_change_nothing():
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 9, 40)
    target, strata = rng.integers(0, 2, 40), groups % 2
    plain = exchangeability(40, target, groups, strata)
    names = np.array(["m", "c", "x", "a", "q", "b", "z", "d", "k"])[groups]
    named = exchangeability(40, np.where(target, "yes", "no"), names, -strata)
    for seed in range(5):
        orders = [one.permutation(np.random.default_rng(seed)) for one in (plain, named)]
        assert np.array_equal(*orders)
    assert plain.n_permutations == named.n_permutations


def test_groups_of_one_row_are_no_groups():
    target = np.arange(8) % 2
    plain, alone = exchangeability(8, target), exchangeability(8, target, np.arange(8)[::-1])
    assert not alone.restricted
    orders = [one.permutation(np.random.default_rng(1)) for one in (plain, alone)]
    assert np.array_equal(*orders)
    assert plain.n_permutations == alone.n_permutations == math.comb(8, 4)


def test_very_many_permutations_are_infinitely_many():
    found = exchangeability(1000, np.arange(1000))
    assert found.n_permutations == np.inf
    assert found.log_permutations == pytest.approx(math.lgamma(1001))
    assert found.enough


def test_groups_that_all_differ_in_size_leave_nothing_to_exchange():
    groups = np.repeat(np.arange(5), np.arange(1, 6))
    found = exchangeability(15, groups % 2, groups)
    assert found.n_permutations == 1
    assert found.movable == 0
    assert not found.enough
    assert np.array_equal(found.permutation(np.random.default_rng(0)), np.arange(15))
    assert exchangeability(15, np.arange(15), groups).n_permutations == math.prod(
        math.factorial(k) for k in range(1, 6)
    )


@pytest.mark.parametrize(
    ("groups", "strata", "words"),
    [
        ([0, 1], None, "groups has shape"),
        (None, [[0, 1, 2]], "strata has shape"),
        (["a", "b", "a"], ["site 1", "site 1", "site 2"], "group a has rows in stratum site 1 and in stratum site 2"),
    ],
)
def test_what_cannot_be_is_refused(groups, strata, words):
    with pytest.raises(ValueError, match=words):
        exchangeability(3, [0, 1, 1], groups, strata)


@given(st.lists(st.sampled_from(["b", "a", "c"]), max_size=8))
def test_numbers_follow_the_order_of_appearance(labels):
    order = list(dict.fromkeys(labels))
    assert numbered(np.array(labels, dtype=str)).tolist() == [order.index(one) for one in labels]


def noise(rng, n_groups, size):
    """A feature with an effect of the group."""
    return np.repeat(rng.normal(size=n_groups), size) + rng.normal(size=n_groups * size)


@pytest.mark.parametrize("kind", ["of groups", "within groups", "of rows"])
def test_correlations_of_noise_with_effects_of_groups_hold_their_level(kind):
    rng, n_groups, size = np.random.default_rng(7), 20, 6
    groups = np.repeat(np.arange(n_groups), size)
    exceeded = 0
    for _ in range(300):
        x = noise(rng, n_groups, size)
        y = {
            "of groups": lambda: np.repeat(rng.normal(size=n_groups), size),
            "within groups": lambda: np.tile(rng.normal(size=size), n_groups),
            "of rows": lambda: noise(rng, n_groups, size),
        }[kind]()
        found = exchangeability(len(y), y, groups)
        copies = [abs(np.corrcoef(x[found.permutation(rng)], y)[0, 1]) for _ in range(39)]
        exceeded += sum(copy >= abs(np.corrcoef(x, y)[0, 1]) for copy in copies) < 2
    # 5 % of 300, and three standard errors.
    assert 0.013 < exceeded / 300 < 0.088


def test_the_product_of_swaps_and_permutations_within_is_counted():
    target = [value for _, value in product(range(3), (0, 1))]
    found = exchangeability(6, target, np.repeat(np.arange(3), 2))
    assert found.n_permutations == 2**3  # the groups are alike, so only what happens within them shows
