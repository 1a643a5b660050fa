"""The laboratory beside breakeven: the paper's experiments, its datasets, and benchmarks.

Where it is installed, the commands `datasets`, `reproduce` and `bench` join `breakeven`.
"""
