"""Prints the reference values of the tests of vm/report/src/stats.rs, paired.rs and agreement.rs, from SciPy and statsmodels.

    python3 -m venv venv && venv/bin/pip install scipy statsmodels
    venv/bin/python tests/bench/reference.py
"""

import itertools

import numpy as np
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

print("CHANCES: t, degrees of freedom, two-sided chance")
for t, df in [(0.5, 3), (2.1, 9), (-3.3, 19), (6.0, 49), (1.0, 1)]:
    print(f"({t!r}, {df}.0, {float(2 * stats.t.sf(abs(t), df))!r}),")

print("MID_PS: how many got worse, how many better, mid-p")
for one, other in [(6, 0), (5, 0), (9, 3), (4, 4), (0, 0), (40, 22), (700, 610)]:
    n, k = one + other, min(one, other)
    value = 2 * stats.binom.cdf(k, n, 0.5) - stats.binom.pmf(k, n, 0.5)
    print(f"({one}, {other}, {min(float(value), 1.0)!r}),")

print("PAIRED: differences, mean, standard error, chance by t, chance by flips")
for pairs in [
    [-1.0, -0.5, 0.0, 0.5, -2.0, -1.0, 0.25],
    [0.5, 0.25, 1.0, -0.75, 0.0, 2.0, 1.5, -0.25, 0.5, 1.0],
    [0.0, 0.0, -1.0, -1.0, 1.0, -1.0, -1.0, 0.0, -1.0, 0.0, 0.0, -1.0],
]:
    d = np.array(pairs)
    t = stats.ttest_1samp(d, 0.0)
    signs = np.array(list(itertools.product([1, -1], repeat=len(d))))
    far = np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-9)
    print(f"(&{pairs}, {float(d.mean())!r}, {float(stats.sem(d))!r}, {float(t.pvalue)!r}, {float(far)!r}),")

print("KAPPAS: table, agreement, kappa, quadratic kappa, AC1")
for table in [
    [[20, 5], [10, 15]],
    [[118, 5], [2, 0]],
    [[11, 3, 1], [4, 9, 2], [0, 5, 15]],
    [[5, 2, 0, 0, 0], [1, 8, 3, 0, 0], [0, 2, 9, 4, 1], [0, 0, 3, 12, 2], [0, 0, 1, 3, 20]],
]:
    t = np.array(table, dtype=float)
    n, k = t.sum(), len(t)
    po = np.trace(t) / n
    plain = cohens_kappa(t, return_results=False)
    weighted = cohens_kappa(t, wt="quadratic", return_results=False)
    share = (t.sum(axis=0) + t.sum(axis=1)) / (2 * n)
    chance = (share * (1 - share)).sum() / (k - 1)
    print(f"(&{table}, {float(po)!r}, {float(plain)!r}, {float(weighted)!r}, {float((po - chance) / (1 - chance))!r}),")

print("VARIANCES: of scenarios, of epochs; a balanced nested analysis of variance")
groups = np.array([[4, 5, 3], [1, 2, 2], [5, 5, 4]], dtype=float)
between = groups.shape[1] * groups.mean(axis=1).var(ddof=1)
within = groups.var(axis=1, ddof=1).mean()
print(float((between - within) / groups.shape[1]), float(within), float(stats.f_oneway(*groups).statistic), float(between / within))
