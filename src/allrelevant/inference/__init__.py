"""Which features are relevant, by permutations of rows: functions on arrays, for any statistic.

They solve nothing and know nothing of models: they need numpy and scipy only.
"""
