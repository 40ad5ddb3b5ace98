"""Other libraries, measured in the same run."""
