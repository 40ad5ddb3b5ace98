"""Where noise ends: probes, thresholds, classes."""
