"""Benchmarks: results are committed beside the scripts that made them."""
