"""Clusters of columns that know nothing of the target: what the thesis' Table 3.7 puts beside groups of features.

- ``correlation_groups``: single linkage of one minus the magnitude of Pearson's correlation, cut at the share of its
  height at which fri cuts (thesis: "agglomerative clustering and cutting as described", with correlations);
- ``hdbscan_groups``: density-based clusters of the columns, smallest cluster 2; what is in none is one group. It is
  that of scikit-learn, the thesis' was the package of that name.
"""

import numpy as np

REQUIREMENTS: tuple[str, ...] = ()
CUTOFF = 0.55


def correlation_groups(problem, X, y, seed):
    """Single linkage of correlations."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    apart = np.clip(1.0 - np.abs(np.corrcoef(X.T)), 0.0, None)
    np.fill_diagonal(apart, 0.0)
    links = linkage(squareform(apart, checks=False), method="single")
    return {"labels": fcluster(links, CUTOFF * links[:, 2].max(), criterion="distance").tolist()}


def hdbscan_groups(problem, X, y, seed):
    """Clusters by density."""
    from sklearn.cluster import HDBSCAN

    return {"labels": HDBSCAN(min_cluster_size=2, copy=True).fit_predict(X.T).tolist()}


METHODS = {"correlation_groups": correlation_groups, "hdbscan_groups": hdbscan_groups}
