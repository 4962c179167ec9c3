"""Prints the reference values of the tests in vm/report/src/interval.rs, from statsmodels and SciPy.

    python3 -m venv venv && venv/bin/pip install scipy statsmodels
    venv/bin/python tests/bench/intervals.py
"""

import math

import numpy as np
import statsmodels.api as sm
from scipy import stats

CASES = [
    ("mean", [(4, 0), (5, 0), (3, 1), (2, 2), (5, 3), (4, 4), (4, 4), (1, 5)]),
    ("mean", [(k % 5 + 1, k // 3) for k in range(60)]),
    ("share", [(1, 0), (1, 0), (0, 1), (1, 2), (1, 3), (0, 4), (1, 4), (1, 5)]),
    ("share", [(0 if k % 7 == 0 else 1, k // 4) for k in range(80)]),
    ("share", [(1, k // 2) for k in range(40)]),
]


def clustered(values, clusters):
    """The mean and its cluster-robust standard error, m/(m-1) as the only correction."""
    fit = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    m = len(set(clusters))
    return float(fit.params[0]), float(fit.bse[0]) * math.sqrt(m / (m - 1)), m


for kind, pairs in CASES:
    values, clusters = (np.array(column, dtype=float) for column in zip(*pairs))
    mean, se, m = clustered(values, clusters.astype(int))
    t = stats.t.ppf(0.975, m - 1)
    if kind == "mean":
        low, high = max(mean - t * se, 1.0), min(mean + t * se, 5.0)
    else:
        n, simple = len(values), mean * (1 - mean) / len(values)
        effective = n / min(max(se**2 / simple, 1.0), n / m) if simple > 0 else m
        middle = (mean + t**2 / (2 * effective)) / (1 + t**2 / effective)
        half = t * math.sqrt(mean * (1 - mean) / effective + t**2 / (4 * effective**2)) / (1 + t**2 / effective)
        low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    print(kind, [(int(value), int(cluster)) for value, cluster in pairs][:8], low, high)
