"""What tables, drawings and reports call things: the one place where the methods speak differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

__all__ = ["BORDERLINE", "METHODS", "PROBES", "Words"]

#: What must hold of the rows for any error to be controlled.
HOLDS = (
    "This holds for rows that can change places: independent ones, or ones whose groups and strata were given. It does "
    "not hold for time series, nor for features that were chosen by a look at the target of these rows."
)
#: What marks features whose adjusted p-value is within a factor of two of the level, and what that means.
BORDERLINE = "~"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one method; an empty one stands for something that the method does not have.

    Attributes
    ----------
    low, high : str
        The two ends of an interval.
    axis, short_axis : str
        What is measured along the intervals.
    centre, centre_title, centre_column, centre_key : str
        The baseline: in a legend, in full, above a column for people and above one for programs.
    min_limit, max_limit : str
        What the lines of the two thresholds mean, before their value.
    min_fact, max_fact : str
        The two thresholds in a list of facts.
    own_limit : str
        What the tick across a bar means, where every feature has a limit of its own.
    free_limit : str
        The same where the bars are those under constraints.
    probes, probes_fact : str
        What was compared with: in a list of facts, and its count, made from ``drawn`` and ``usable``.
    compared : str
        What features were compared with, in the summary, with ``sets``.
    unused : str
        Why a feature is irrelevant among the models that constraints leave.
    evidence : str
        How it was decided who is relevant, where the method is told.
    holds : str
        What must hold of the rows for the error to be controlled.
    reasons, meanings : tuple of str
        Why a feature is strong, weak, irrelevant: in the summary, ``{}`` being "it" or "them", and in a list.
    model, model_heading, model_note : str
        The model whose score is told: as a subject, as a heading, and what it has to do with the intervals.
    ending, method : str
        How far the numbers can be trusted: at the end of the summary, with ``gap`` and ``drawn``; and how they were
        found, with ``gap``.
    programs, gap : str
        What was solved or fitted, and how exactly, in a list of facts.
    trust : tuple of str
        The number that tells how far to trust the others: its name and its meaning.
    undecided : str
        What is said of the class of a feature that was not decided.
    late : str
        What is said of a fit that ran out of time.
    answers : bool
        Whether substitutes, panels and constraints exist.
    """

    low: str
    high: str
    axis: str
    short_axis: str
    centre: str
    centre_title: str
    centre_column: str
    centre_key: str
    min_limit: str
    max_limit: str
    min_fact: str
    max_fact: str
    own_limit: str
    free_limit: str
    probes: str
    probes_fact: str
    compared: str
    unused: str
    evidence: str
    holds: str
    reasons: tuple[str, str, str]
    meanings: tuple[str, str, str]
    model: str
    model_heading: str
    model_note: str
    ending: str
    method: str
    programs: str
    gap: str
    trust: tuple[str, str]
    undecided: str
    late: str
    answers: bool


_LINEAR = Words(
    low="minRel",
    high="maxRel",
    axis="share of the model's weight, over all near-optimal models",
    short_axis="share of the model's weight",
    centre="share in the best model",
    centre_title="signed share of weight in the best model",
    centre_column="best",
    centre_key="baseline",
    min_limit="strong bars also start beyond",
    max_limit="relevant bars end beyond",
    min_fact="limit for minRel",
    max_fact="limit for maxRel",
    own_limit="limit: relevant bars end beyond it (no tick: evident alone)",
    free_limit="limit that bars without constraints had to exceed",
    probes="sets of copies",
    probes_fact="{usable} of {drawn}",
    compared="Features were compared with {sets} of row-permuted copies of all features, and each by itself with "
    "permutations of the rows.",
    unused="no model that the constraints leave needs {} beyond chance",
    evidence="A feature is relevant if it tells of the target beside some set of other features, the empty set among "
    "them. Together: its most relevance is compared with that of copies of all features, whose rows were permuted "
    "together, within the same budgets. Alone: its dependence on the target, by values and by ranks, is compared with "
    "permutations of the rows. The two p-values are combined by Cauchy's rule and adjusted for the number of "
    "features. It is strongly relevant if moreover no near-optimal model can do without it, which is proven.",
    holds=HOLDS,
    reasons=(
        "every near-optimal model needs {}",
        "of use, but some near-optimal model does without {}",
        "not told apart from noise, neither beside the other features nor alone",
    ),
    meanings=(
        "every good model needs them",
        "useful, but some good model does without",
        "not told apart from noise, neither beside the others nor alone",
    ),
    model="The best linear model found",
    model_heading="Best model",
    model_note="All intervals are about linear models nearly as good as this one. If it predicts badly, relevance says "
    "little.",
    ending="All bounds are proven: the two sides of every bound agree to {gap:.1g} of the model's weight.",
    method="Least and most relevance are the optima of linear programs over all models whose loss and norm are close "
    "to those of the best one. Each optimum comes with a certificate: the two sides of every bound agree to {gap} of "
    "the model's weight.",
    programs="linear programs",
    gap="largest certified gap",
    trust=("certificate gap", "no bound can be further off than this"),
    undecided="at the least",
    late="Time ran out before all bounds were found: some intervals are proven to hold the true ones, but may be far "
    "wider.",
    answers=True,
)

_FOREST = Words(
    low="low",
    high="high",
    axis="share of the forest's importance, in the middle 90 % of the forests",
    short_axis="share of importance",
    centre="mean share",
    centre_title="mean share of importance over the forests",
    centre_column="mean",
    centre_key="mean",
    min_limit="",
    max_limit="permuted features reach",
    min_fact="",
    max_fact="share that permuted features reach (median)",
    own_limit="",
    free_limit="",
    probes="permuted copies",
    probes_fact="{drawn}",
    compared="",
    unused="",
    evidence="",
    holds=HOLDS,
    reasons=(
        "the other features cannot stand in for {}",
        "other features can stand in for {}",
        "of no use to a forest",
    ),
    meanings=(
        "the others cannot stand in for them",
        "useful, but replaceable by others",
        "of no use to a forest",
    ),
    model="The forest",
    model_heading="Forest",
    model_note="All shares are about forests such as this one. If it predicts badly, relevance says little.",
    ending="Shares and classes are estimates from {drawn} forests, not proven bounds: another seed may change what is "
    "close.",
    method="Forests were fitted to the features and to copies of all of them, in each of which the rows were permuted "
    "by one permutation. A feature is relevant if its mean importance is beyond what such copies reach, the error over "
    "all features being controlled. It is strongly relevant if the other features cannot stand in for it. These are "
    "estimates; nothing is proven.",
    programs="forests fitted",
    gap="",
    trust=("forests", "in which features were compared with permuted ones"),
    undecided="a best guess",
    late="",
    answers=False,
)

PROBES = replace(
    _LINEAR,
    probes="usable probes",
    compared="",
    evidence="A feature is relevant if its most relevance exceeds the prediction limit of permuted features (probes): "
    "what one more of them would stay below. It is strongly relevant if its least relevance exceeds their limit.",
    reasons=(
        "every near-optimal model needs {}",
        "some near-optimal model uses {}, another does without",
        "no near-optimal model uses {} more than chance would",
    ),
    meanings=("every good model needs them", "useful, but replaceable by others", "no better than noise"),
)
"""The words of linear results with a limit that all features share."""

METHODS: Mapping[str, Words] = MappingProxyType({"linear": _LINEAR, "forest": _FOREST})
"""The words of every method by its name."""
