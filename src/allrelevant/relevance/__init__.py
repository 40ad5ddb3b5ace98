"""The method: baseline, near-optimal set, relevance intervals."""
