"""The experiments of the papers, with the papers' own figures beside ours."""
