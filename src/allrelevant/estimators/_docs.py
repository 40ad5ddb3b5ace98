"""What the docstrings of all linear relevance estimators say alike, written once."""

from __future__ import annotations

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
n_probes : int, default=50
    Number of permuted features whose relevance tells what chance can do; at least 3.
confidence : float, default=0.9999
    Confidence of the prediction limit that the probes give for an irrelevant feature's ``maxRel``. With the default
    one or two irrelevant features in a thousand are taken for relevant on the simulated sets Sim1 to Sim5; that is
    more than the nominal one in ten thousand because the baseline model has already chosen among the features.
threshold_rule : {"added", "papers"}, default="added"
    ``"added"`` adds each probe beside all features and takes the prediction limit of the square roots, which are less
    skewed than the values themselves; features that vary in very few samples, on which chance alone can put large
    weights, are judged by permutations of their own. ``"papers"`` puts each probe in the place of the feature
    it was made from, drops it if no near-optimal model is left, and takes the limit of the values themselves; the
    papers propose ``confidence=0.999``.
control : {"feature", "fdr"}, default="feature"
    What `confidence` is about. ``"feature"``: every irrelevant feature stays below the threshold with this confidence.
    ``"fdr"``: of the features called relevant, a share of at most ``1 - confidence`` is expected to be irrelevant
    (Benjamini and Hochberg's procedure on the p-values); ``confidence=0.95`` is usual then.
feature_groups : dict or list of lists, default=None
    Columns that are one feature, such as the one-hot columns of a category: names of groups with their columns, by
    name or position, or only the lists. A column may belong to one group. The relevance of a group is the sum of the
    magnitudes of its weights. Its ``minRel`` is exact; its ``maxRel`` takes a linear program per pattern of signs and
    is exact for groups of up to six weights, beyond which it is the best that was found, and noted as such. Groups are
    judged by permutations of their own. Attributes with an entry per column repeat the group's; :attr:`result_` has
    one entry per feature.
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
    Splits of the search for `C`. An integer asks for that many stratified folds, fewer if a class is smaller.
engine : {"auto", "highs", "interior"}, default="auto"
    Solver of the linear programs: HiGHS' simplex, or a batched interior-point method, which is several times
    faster unless there are many more features than samples. Whatever it returns is proven by a dual certificate.
device : {"cpu", "cuda", "auto"}, default="cpu"
    Where the interior-point method computes: with NumPy on the CPU, or with torch on a GPU (extra ``gpu``). ``"auto"``
    takes a GPU that is there for problems that would keep the CPU busy for more than some seconds.
memory_limit : int, default=None
    Bytes that the linear programs solved at one time may take, roughly; for each of the
    threads. By default 256 MiB on the CPU and 4 GiB on a GPU.
n_jobs : int, default=None
    Number of threads. Answers do not depend on it. Within ``joblib.parallel_config(backend="dask")`` the workers of
    the cluster take their place.
random_state : int, RandomState instance or None, default=None
    Seed of folds and probes. An integer makes the result reproducible, for any order of rows and columns.
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
    Chance that an irrelevant feature reaches the feature's ``maxRel``, by the prediction interval of the probes.
thresholds_ : Thresholds
    Limits that ``minRel`` and ``maxRel`` must exceed.
""",
    "more_attributes": """\
privileged_intervals_, privileged_relevance_classes_, privileged_pvalues_, privileged_thresholds_
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
    "notes": """\
Notes
-----
Equal samples are merged and their weights added before anything else, so a sample given twice, a sample of weight 2
and any order of rows give the same result.

References
----------
.. [1] C. Göpfert, L. Pfannschmidt, J. P. Göpfert, B. Hammer. "Interpretation of linear classifiers by means of
   feature relevance bounds." Neurocomputing 298 (2018).
.. [2] L. Pfannschmidt, C. Göpfert, U. Neumann, D. Heider, B. Hammer. "FRI - Feature Relevance Intervals for
   Interpretable and Interactive Data Exploration." IEEE CIBCB (2019).
""",
}


def with_shared_docs(cls: Estimator) -> Estimator:
    """Fill the shared parts into a class docstring that names them in braces."""
    if cls.__doc__ is not None:  # there are none under -OO
        for name, text in PARTS.items():
            filled = textwrap.indent(text.rstrip("\n"), "    ").lstrip()
            cls.__doc__ = cls.__doc__.replace("{" + name + "}", filled)
    return cls
