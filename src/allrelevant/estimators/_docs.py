"""What the docstrings of relevance estimators say alike, written once."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TypeVar

__all__ = ["with_shared_docs"]

Estimator = TypeVar("Estimator", bound=type)

PARTS = {
    "parameters": """\
norm_slack : float, default=0.1
    How much larger the norm of the weights of a near-optimal model may be, as a share of the baseline model's.
loss_slack : float, default=0.1
    How much larger the loss of a near-optimal model may be, as a share of the baseline model's objective in units
    of the loss (its loss plus its norm divided by `C`). More slack of either kind widens all intervals.
budgets : {"split", "joint"}, default="split"
    ``"split"`` limits the norm and the loss of a near-optimal model each by itself. ``"joint"`` limits its objective,
    norm plus `C` times loss, to ``1 + norm_slack`` times the baseline model's; `loss_slack` is not used then.
level : float, default=0.05
    The error that is allowed, of the kind that `control` names: by default of the features called relevant a share of
    at most this is expected to be noise.
control : {"fdr", "fwer", "none"}, default="fdr"
    ``"fdr"``: the expected share of noise among the features called relevant is at most `level` (Benjamini and
    Hochberg). ``"fwer"``: the chance that any of them is noise is at most `level` (Holm). ``"none"``: each feature of
    noise by itself has a chance of at most `level` to be called relevant.
threshold_rule : {"copies", "papers"}, default="copies"
    ``"copies"``: two kinds of evidence are combined. *Together*: ``maxRel`` of a feature is compared with that of
    copies of all features, whose rows are permuted by one permutation for all of them, beside the features. *Alone*:
    the dependence of the single feature on the target, by permutations of the same rows. ``"papers"``: ``maxRel`` is
    compared with the prediction limit, of the confidence ``1 - level``, of permuted features (probes) that each take
    the place of the feature they were made from, as published; `control` is not used then. The papers propose
    ``level=0.001``.
n_copies : int or "auto", default="auto"
    Sets of copies. ``"auto"`` takes two, or more of fewer than 30 features.
n_probes : int, default=50
    Probes of ``threshold_rule="papers"``; at least 3.
feature_groups : dict or list of lists, default=None
    Columns that are one feature, such as the one-hot columns of a category: names of groups with their columns, by
    name or position, or only the lists. A column may belong to one group. The relevance of a group is the sum of the
    magnitudes of its weights. Its ``minRel`` is exact; its ``maxRel`` takes a linear program per pattern of signs and
    is exact for groups of up to six weights, beyond which it is the best that was found, and noted as such. Attributes
    with an entry per column repeat the group's; :attr:`result_` has one entry per feature.
privileged : {"residual", "kept", "replaced"}, default="residual"
    How features given as `X_privileged` take part. ``"residual"``: the model is that of the regular features alone, and
    a privileged feature is relevant if a linear function of the privileged features that is added to the decisions (of
    models that have not seen the sample) needs it: it explains what the regular ones leave open. ``"replaced"``:
    as in the papers, the slacks of the samples are linear functions, never negative, of the privileged features.
    ``"kept"``: the same, beside own slacks of twice the cost.
gamma : float, default=None
    Weight of the privileged part of the norm, if `privileged` is ``"kept"`` or ``"replaced"``. By default chosen along
    with `C` from 1e-3 to 1e4; ties go to the larger value, which uses less privileged information. If `C` is given, 1.
standardize : bool, default=True
    Whether to scale the features to mean 0 and standard deviation 1. Without it intervals are only comparable if
    the features have a common unit.
cv : int, cross-validation generator or iterable, default=3
    Splits of the search for `C`. An integer asks for that many stratified folds, fewer if a class is smaller, drawn
    five times; less often beyond 2000 samples, and once from 10,000 on. A repeated splitter, such as
    :class:`sklearn.model_selection.RepeatedStratifiedKFold`, is known by the share of the samples that a fold tests.
time_limit : float, default=None
    Seconds of wall-clock time that a fit may take; it ends soon after. The search for `C` and the baseline model must
    be done by then, or :class:`~allrelevant.errors.TimeLimitReached` is raised. Intervals come next, then copies. What
    there was no time for is certified as far as it was known: those intervals hold the true ones, but may be wider.
    :attr:`result_` names such features as ``incomplete``, and as ``tentative`` those whose class depends on it; a
    warning says so. A fit that ends in time is the same as without a limit.
n_jobs : int, default=None
    Number of threads. Answers do not depend on it. Within ``joblib.parallel_config(backend="dask")`` the workers of
    the cluster take their place.
random_state : int, RandomState instance or None, default=None
    Seed of folds and permutations. An integer makes the result reproducible, for any order of rows and columns.
verbose : int, default=0
    1 reports every stage on standard error, 2 also the progress within.
""",
    "attributes": """\
intervals_ : ndarray of shape (n_features, 2)
    ``minRel`` and ``maxRel``: the least and the most weight of the feature in any near-optimal model, as a share of
    the baseline model's weight. The extremes of different features are in general not attained together.
relevance_classes_ : ndarray of shape (n_features,)
    0 irrelevant, 1 weakly relevant, 2 strongly relevant.
pvalues_ : ndarray of shape (n_features,)
    Chance that a feature of noise shows as much evidence, together with the others and alone.
adjusted_pvalues_ : ndarray of shape (n_features,)
    The same adjusted for the number of features: relevant features have at most `level`.
thresholds_ : Thresholds
    The rule; what ``maxRel`` of each feature had to exceed is in :attr:`result_`.
""",
    "more_attributes": """\
privileged_intervals_, privileged_relevance_classes_, privileged_pvalues_, privileged_adjusted_pvalues_, \
privileged_thresholds_
    The same of the privileged features, if there were any.
privileged_feature_names_in_ : ndarray of shape (n_privileged,)
    Their names, ``p0, p1, …`` if they had none.
result_ : RelevanceResult
    All of this with names, scores, parameters and proofs: what plots and reports are made from.
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if all of them are strings.
""",
    "groups": """\
Label of the group of every sample, such as the subject that it was taken from: groups are independent of each other,
the samples of one are not. Folds and bootstraps keep groups whole, and features are compared with copies in which
groups of equal size have changed places and, where the target varies within groups, the samples within them.
""",
    "strata": """\
Label of the stratum of every sample, such as the site or the batch: features are compared with copies in which samples,
or groups, have changed places within their stratum only. Folds and bootstraps keep the strata in proportion.
""",
    "notes": """\
Notes
-----
Equal samples are merged and their weights added before anything else, so a sample given twice and a sample of weight
2 give the same model and intervals, and any order of rows gives the same result. Permutations exchange samples as they
were given: p-values of a sample given twice and of one of weight 2 differ.

References
----------
.. [1] C. Göpfert, L. Pfannschmidt, J. P. Göpfert, B. Hammer. "Interpretation of linear classifiers by means of
   feature relevance bounds." Neurocomputing 298 (2018).
.. [2] L. Pfannschmidt, C. Göpfert, U. Neumann, D. Heider, B. Hammer. "FRI - Feature Relevance Intervals for
   Interpretable and Interactive Data Exploration." IEEE CIBCB (2019).
""",
    "forest_parameters": """\
estimator : estimator object, default=None
    What to grow instead of LightGBM's random forests: any estimator with ``feature_importances_``, such as
    :class:`sklearn.ensemble.RandomForestClassifier`; `n_estimators` to `feature_fraction` are not used then.
importance : {"held_out", "gain", "split", "permutation", "shap"}, default="held_out"
    What counts as importance. ``"held_out"``: covariance of the target with what the splits by a feature add to the
    predictions of samples that the trees have not seen; around 0 for a feature without a meaning. ``"gain"`` and
    ``"split"``: fall of the training loss, or number of splits. ``"permutation"``: rise of the loss of unseen samples
    when the feature is permuted. ``"shap"``: mean magnitude of its SHAP values, of unseen samples. With an `estimator`,
    ``"gain"`` (its ``feature_importances_``) or ``"permutation"``.
n_estimators : int, default=150
    Trees of a forest, in all folds together.
max_depth : int, default=5
    Greatest depth of a tree. The forest that predicts has trees of depth 8 at least.
min_samples_leaf : int or "auto", default="auto"
    Samples that a leaf has at least. ``"auto"``: one in 20 of the samples, but from 2 to 20. In the forest that
    predicts, 3 at most.
feature_fraction : float, default=0.3
    Share of the features that a tree may use. With a low share, redundant features do not hide each other. A tree uses
    no more features than there are samples; forests of very many features have more trees instead.
bagging_fraction : float, default=0.8
    Share of the samples that a tree may use, of those that its fold leaves. (The thesis has no folds, and 0.632.)
n_folds : int, default=3
    Folds of the samples, each left out of a part of the trees and used to judge them.
level : float, default=0.05
    The error that is allowed, of the kind that `control` names: by default of the features called relevant a share of
    at most this is expected to be noise.
control : {"fdr", "fwer", "none"}, default="fdr"
    ``"fdr"``: the expected share of noise among the features called relevant is at most `level` (Benjamini and
    Hochberg). ``"fwer"``: the chance that any of them is noise is at most `level` (Holm). ``"none"``: each feature of
    noise by itself has a chance of at most `level` to be called relevant.
n_copies : int or "auto", default="auto"
    Copies of all features, each with its rows permuted by one permutation for all of them, whose importances are the
    null sample; as many forests are grown. ``"auto"`` takes 20, or up to 40 of fewer than 16 features.
decomposition : {"conditional", "refit"}, default="conditional"
    How strong is told from weak. ``"conditional"``: the feature is replaced by an imitation that the other relevant
    features make of it, its own part permuted; it is strong if that harms predictions of unseen samples. ``"refit"``:
    as in the thesis, by the loss of forests without the feature, compared with that of forests with a permuted feature
    more.
loss : {"training", "held_out"}, default="training"
    Samples whose loss ``"refit"`` compares: as in the thesis, those that the forests were grown on, or unseen ones. The
    latter varies more from forest to forest, so that many strong features are missed.
n_probes : int, default=50
    Permuted features of ``"refit"``.
fpr : float, default=1e-6
    Share of permuted features beyond an end of the prediction intervals of ``"refit"``.
categorical_features : "from_dtype", None or list, default="from_dtype"
    Columns that hold categories: those of dtype ``category`` of a data frame, none, or those listed by position, name
    or mask, whose values are then codes from 0.
n_jobs : int, default=None
    Number of threads. Answers do not depend on it.
random_state : int, RandomState instance or None, default=None
    Seed. An integer makes the result reproducible, for any order of rows and columns, units and names of classes.
verbose : int, default=0
    1 reports every stage on standard error, 2 also the progress within.
""",
    "forest_attributes": """\
relevance_classes_ : ndarray of shape (n_features,)
    0 irrelevant, 1 weakly relevant, 2 strongly relevant.
intervals_ : ndarray of shape (n_features, 2)
    Spread of the feature's share of importance over the forests: its 5 % and 95 % quantiles. Nothing is proven of it.
importances_ : ndarray of shape (n_forests, n_features)
    Importances in the forests that see all features, half of all; 0 for constant features.
pvalues_ : ndarray of shape (n_features,)
    Chance that a feature of noise is as important, by the row-permuted copies; 1 for constant features.
adjusted_pvalues_ : ndarray of shape (n_features,)
    The same adjusted for the number of distinct features: relevant features have at most `level`.
replaceable_ : ndarray of shape (n_features,)
    Share of the feature that the other relevant features can tell; NaN if it is irrelevant, or after ``"refit"``.
thresholds_ : Thresholds
    The rule, and the share of importance that relevant features exceed (the median of their limits).
""",
    "forest_more_attributes": """\
result_ : RelevanceResult
    All of this with names, scores and parameters: what plots and reports are made from.
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if all of them are strings.
""",
    "forest_notes": """\
Notes
-----
Columns that order the samples alike, or in the opposite order, are one feature to a tree. They are grown as one, share
its importance, and are weakly relevant if it is relevant. Constant columns are no feature at all.

References
----------
.. [1] M. B. Kursa, W. R. Rudnicki. "Feature Selection with the Boruta Package." Journal of Statistical Software 36
   (2010).
.. [2] L. Pfannschmidt, B. Hammer. "Sequential Feature Classification in the Context of Redundancies."
   arXiv:2004.00658 (2020).
""",
}


def with_shared_docs(cls: Estimator) -> Estimator:
    """Fill the shared parts into the docstrings of a class and of its `fit`, which name them in braces."""
    for one in (cls, vars(cls)["fit"]):
        if one.__doc__ is not None:  # there are none under -OO
            one.__doc__ = _filled(one.__doc__)
    return cls


def _filled(docstring: str) -> str:
    # Without their indentation, which Python leaves out from 3.13 on.
    said = inspect.cleandoc(docstring)
    for name, text in PARTS.items():
        for indent in re.findall(rf"^( *)\{{{name}\}}", said, re.MULTILINE):
            said = said.replace(f"{indent}{{{name}}}", textwrap.indent(text.rstrip("\n"), indent))
    return said
