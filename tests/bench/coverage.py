"""How often intervals cover what they should: the table of the manual's design, by simulation. Nothing of aigo is called but its
formulas, written once more here; `--aigo BINARY` also asks the binary for the same intervals and holds the two against each other.

    python3 -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python tests/bench/coverage.py [--aigo target/release/aigo] [--runs 20000]

Values come in clusters of four, whose correlation is 0.4. A share is 0.9; a mean is of skewed steps 1..5. The exit code is 1 where a
figure is more than two points from the one that is expected.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats

SIZE, CORRELATION, SHARE = 4, 0.4, 0.9
CLUSTERS = (5, 10, 20, 50)
# In per cent, at 5, 10, 20 and 50 clusters.
EXPECTED = {
    "share: Wilson on n": (88, 79, 84, 83),
    "share: cluster bootstrap": (70, 78, 89, 93),
    "share: t": (71, 79, 87, 93),
    "share: Wilson on n_eff with t": (99, 98, 92, 95),
}


def shares(random, m, runs=1):
    """Clusters of SIZE values of 0 or 1: each value is the cluster's draw with a chance whose square is CORRELATION."""
    one = random.random((runs, m, 1)) < SHARE
    own = random.random((runs, m, SIZE)) < SHARE
    copies = random.random((runs, m, SIZE)) < math.sqrt(CORRELATION)
    return np.where(copies, one, own).astype(float)


def steps(random, m, runs=1):
    """Steps 1..5, mostly 5: cut normal values of which CORRELATION is the cluster's."""
    cluster = random.standard_normal((runs, m, 1))
    own = random.standard_normal((runs, m, SIZE))
    return 1.0 + np.searchsorted(CUTS, math.sqrt(CORRELATION) * cluster + math.sqrt(1 - CORRELATION) * own)


BELOW = (0.03, 0.07, 0.13, 0.25)
CUTS = stats.norm.ppf(BELOW)
STEPS_MEAN = 1.0 + sum(1 - p for p in BELOW)


def error(values):
    runs, m, size = values.shape
    totals = (values - values.mean((1, 2))[:, None, None]).sum(2)
    return np.sqrt(m / (m - 1) * (totals**2).sum(1)) / (m * size)


def wilson(p, n, z):
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def simple_wilson(values):
    return wilson(values.mean((1, 2)), values.shape[1] * SIZE, stats.norm.ppf(0.975))


def effective(values):
    p, m, n = values.mean((1, 2)), values.shape[1], values.shape[1] * SIZE
    simple = p * (1 - p) / n
    with np.errstate(all="ignore"):
        n_eff = np.where(simple > 0, n / np.clip(error(values) ** 2 / simple, 1.0, n / m), m)
    return wilson(p, n_eff, stats.t.ppf(0.975, m - 1))


def plain_t(values):
    half = stats.t.ppf(0.975, values.shape[1] - 1) * error(values)
    return values.mean((1, 2)) - half, values.mean((1, 2)) + half


def mean_t(values, ends=(1.0, 5.0)):
    mean, (low, high) = values.mean((1, 2)), plain_t(values)
    unseen = 1 - 0.05 ** (1 / values.shape[1])
    same = error(values) == 0
    low = np.where(same, mean + (ends[0] - mean) * unseen, np.maximum(low, ends[0]))
    return low, np.where(same, mean + (ends[1] - mean) * unseen, np.minimum(high, ends[1]))


def as_if_apart(values):
    return plain_t(values.reshape(len(values), -1, 1))


def bootstrap(values, draws=500):
    random, m = np.random.default_rng(5), values.shape[1]
    means = values.mean(2)[:, random.integers(0, m, (draws, m))].mean(2)
    return np.quantile(means, 0.025, axis=1), np.quantile(means, 0.975, axis=1)


def table(runs):
    methods = {
        "share: Wilson on n": (shares, SHARE, simple_wilson, runs),
        "share: cluster bootstrap": (shares, SHARE, bootstrap, runs // 20),
        "share: t": (shares, SHARE, plain_t, runs),
        "share: Wilson on n_eff with t": (shares, SHARE, effective, runs),
        "mean of steps: t on n": (steps, STEPS_MEAN, as_if_apart, runs),
        "mean of steps: cluster bootstrap": (steps, STEPS_MEAN, bootstrap, runs // 20),
        "mean of steps: t over clusters": (steps, STEPS_MEAN, mean_t, runs),
    }
    failed = False
    print(f"{'':34}" + "".join(f"{m:>6}" for m in CLUSTERS) + "   clusters, in per cent")
    for name, (draw, truth, interval, runs) in methods.items():
        random, seen = np.random.default_rng(7), []
        for m in CLUSTERS:
            low, high = interval(draw(random, m, runs))
            seen.append(100 * np.mean((low <= truth) & (truth <= high)))
        row = f"{name:34}" + "".join(f"{share:6.1f}" for share in seen)
        expected = EXPECTED.get(name)
        if expected:
            worst = max(abs(a - b) for a, b in zip(seen, expected))
            row += f"   expected {expected}, at most {worst:.1f} off"
            failed |= worst > 2.0
        print(row)
    return failed


def held_against(binary, cases=40):
    """The binary's intervals of the same values, from baselines, beside those of this file."""
    random, worst = np.random.default_rng(11), 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "case.jsonl")
        for case in range(cases):
            values = steps(random, CLUSTERS[case % 4])[0]
            head = {"baseline": 1, "task": "t", "run": "r", "dataset": "d", "epochs": 1, "open": 0}
            scorer = {"scorer": "x", "low": 1.0, "high": 5.0, "pass": 4.0, "boolean": False, "judges": []}
            trials = []
            for c, cluster in enumerate(values):
                for i, x in enumerate(cluster):
                    scores = {"x": [float(x), bool(x >= 4)]}
                    trials.append(
                        {"sample": f"{c:03}/{i}", "epoch": 1, "content": "", "cluster": f"{c:03}", "ending": "done", "scores": scores}
                    )
            lines = [json.dumps(one, separators=(",", ":")) for one in [head, scorer, *trials]]
            path.write_text("\n".join(lines) + "\n")
            said = subprocess.run([binary, "noise", path, "--format", "json"], capture_output=True, text=True, check=True)
            low, high = json.loads(said.stdout)["scorers"]["x"]["population_interval"]
            mine = mean_t(values[None])
            worst = max(worst, abs(low - mine[0][0]), abs(high - mine[1][0]))
    print(f"{cases} intervals of the binary differ from these by at most {worst:.1e}")
    return worst > 1e-9


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--aigo")
    parser.add_argument("--runs", type=int, default=20000)
    arguments = parser.parse_args()
    bad = table(arguments.runs)
    if arguments.aigo:
        bad |= held_against(arguments.aigo)
    sys.exit(int(bad))
