"""The null test: how often gates are red where nothing has changed.

Each shipped task is run with many seeds. Its scripted assistant is as good as it is, and its scripted judge errs: of the
verdicts that pass, one in a hundred is drawn as a failing one, with quotes that hold. A task whose gates are red in more than
one run of twenty would cry wolf.

usage: python3 tests/bench/null.py [--aigo target/release/aigo] [--runs 1000] [--noise 1] [--jobs 2] [TASK…]
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A passing verdict as the tasks write it, on one line.
VERDICT = re.compile(r'verdict: \{evidence: \[\], reason: (?:"([^"]*)"|([^,}]*)), score: (true|\d+)\}')

# The words of a turn, as JSON: what the user says in it first, and what the assistant does.
WORDS = (
    "{% for m in messages %}{% if m.author == 'AUTHOR' and m.kind == 'say' and m.turn == t %}"
    "{{ m.text | json }}{% break %}{% endif %}{% endfor %}"
)


def noisy(match, noise):
    """Rules of a judge that fails with this chance in a hundred, and else says what it said."""
    reason = match.group(1) or match.group(2)
    score = match.group(3)
    worst = "false" if score == "true" else "1"
    said = json.dumps({"evidence": [], "reason": reason})[:-1] + f', "score": {score}}}'
    slip = "{% set t = judged if judged > 0 else 1 %}" + (
        '{"evidence": [{"turn": "{{ t }}u", "quote": '
        + WORDS.replace("AUTHOR", "user")
        + '}, {"turn": "{{ t }}a", "quote": '
        + WORDS.replace("AUTHOR", "assistant")
        + '}], "reason": "a slip", "score": ' + worst + "}"
    )
    quoted = ["'" + text.replace("'", "''") + "'" for text in (said, slip)]
    return f"any_of: [{{weight: {100 - noise}, say: {quoted[0]}}}, {{weight: {noise}, say: {quoted[1]}}}]"


def prepared(task, noise):
    """The task's text with a noisy judge, and a mark where the seed goes."""
    text = (task / "task.yaml").read_text(encoding="utf-8")
    text, count = VERDICT.subn(lambda match: noisy(match, noise), text)
    assert count > 0, f"{task}: no verdict of a scripted judge is found"
    return re.sub(r"^(name: .*)$", r"\1\nseed: SEED", text, count=1, flags=re.MULTILINE)


def run(aigo, folder, text, seed):
    """One run: its exit code, the gates that are red, and how many verdicts of judges failed."""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place) / "task"
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns("golden", "runs", "aigo.lock"))
        (place / "task.yaml").write_text(text.replace("SEED", str(seed)), encoding="utf-8")
        command = [aigo, "run", str(place), "--runs", str(place / "runs"), "--format", "json", "--durability", "process"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 1, 4):
            sys.exit(f"{folder}: exit {ran.returncode}\n{ran.stderr}")
        report = json.loads(ran.stdout)
        red = [gate["gate"] for gate in report["gates"] if gate["result"] == "red"]
        return ran.returncode, red


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--aigo", default=str(ROOT / "target/release/aigo"))
    options.add_argument("--runs", type=int, default=1000)
    options.add_argument("--noise", type=int, default=1, help="in a hundred")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("tasks", nargs="*")
    options = options.parse_args()
    shipped = sorted(path.parent for path in ROOT.glob("tasks/*/golden"))
    tasks = [pathlib.Path(task) for task in options.tasks] or shipped
    failed = False
    print(f"{'task':<12} {'runs':>5} {'red':>5} {'undecided':>9}   share red")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for task in tasks:
            text = prepared(task, options.noise)
            seeds = range(1, options.runs + 1)
            results = list(pool.map(lambda seed: run(options.aigo, task, text, seed), seeds))
            codes = collections.Counter(code for code, _ in results)
            gates = collections.Counter(gate for _, red in results for gate in red)
            share = codes[1] / len(results)
            failed |= share > 0.05
            print(f"{task.name:<12} {len(results):>5} {codes[1]:>5} {codes[4]:>9}   {share:.2%}", flush=True)
            for gate, count in gates.most_common():
                print(f"  {count:>4} times red: {gate}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
