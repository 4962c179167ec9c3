"""`aigo compile` on a task of 200 steps and 50 scorers over 100 rows: each form of the program, whole processes, one run.

The steps are those of `generate.py`'s lines: what the user says, what the assistant answers, checks, conditions, loops with a
simulated user; half of the scorers are judges, of turns and of conversations, half are checks. CPU and peak memory are what
the system counted for the process. The exit code is 1 where a median is over its target.

usage: compile.py [--aigo PATH] [--rounds 15] [--write FOLDER]
`--write` leaves the task in a folder and measures nothing.
"""
import argparse, json, os, random, statistics, sys, tempfile

from check import measure
from generate import LINES, NAMES, RUBRICS

STEPS, SCORERS, ROWS = 200, 50, 100
# What is wanted of each, in seconds of wall time.
TARGET = 0.020


def steps(dice):
    """Exactly so many steps, those within others counted."""
    lines, count = ["  - system: You are Acme's support copilot. Keep the plan in mind. Never quote a price."], 1
    while count < STEPS:
        topic = dice.choice(NAMES)
        kind = dice.random()
        if kind < 0.1 and count + 3 <= STEPS:
            lines += [f"  - loop:", f"      max_turns: {dice.randint(2, 9)}", "      solvers:",
                      f"        - simulate_user: {{goal: Find out how {topic} work., persona: \"{{{{ persona }}}}\"}}", "        - generate"]
            count += 3
        elif kind < 0.2 and count + 3 <= STEPS:
            lines += ["  - if:", "      when: plan == 'Pro'", f"      then: [{{user: Do {topic} cost more on Pro?}}, generate]"]
            count += 3
        elif kind < 0.25:
            lines.append(f"  - stop: {{when: \"'{topic} are gone' in last.text\", reason: the assistant lost them}}")
            count += 1
        elif count + 2 <= STEPS:
            text = dice.choice(LINES).format(topic=topic)
            lines += [f"  - user: {json.dumps(text)}", "  - generate:", "    expect: [{not_contains: I cannot}]"]
            count += 2
        else:
            lines.append(f"  - user: And {topic}?")
            count += 1
    return lines


def scorers(dice):
    lines = []
    for n in range(SCORERS):
        topic = dice.choice(NAMES)
        if n % 2:
            lines.append(f"  - {{name: check_{n}, check: {{not_matches: 'no {topic}'}}}}")
            continue
        rubric = json.dumps(dice.choice(RUBRICS).format(topic=topic))
        per = ", per: turn" if n % 4 else ""
        lines.append(f"  - {{name: judge_{n}, judge: {{rubric: {rubric}, scale: boolean{per}}}}}")
    return lines


def task(seed):
    """A task and its rows."""
    dice = random.Random(seed)
    head = ["aigo: 1", "name: plan", "models:"]
    for role in ("assistant", "user", "judge"):
        head.append(f"  {role}: {{model: openai/gpt-4o-2024-11-20, max_tokens: 400, price: {{input: 2.5, output: 10}}}}")
    text = head + ["dataset: {file: rows.jsonl}", "solvers:"] + steps(dice) + ["scorers:"] + scorers(dice)
    row = lambda n: {"id": f"r{n}", "plan": dice.choice(["Free", "Pro"]), "seats": dice.randint(1, 40), "persona": "terse"}
    return "\n".join(text) + "\n", "".join(json.dumps(row(n)) + "\n" for n in range(ROWS))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--aigo", default="target/release/aigo")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.write or temporary
        os.makedirs(folder, exist_ok=True)
        text, rows = task(1)
        for name, content in (("task.yaml", text), ("rows.jsonl", rows)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(content)
        if arguments.write:
            return
        aigo = os.path.abspath(arguments.aigo)
        commands = {"a process that does nothing": ["true"]}
        for emit in ("ir", "json", "dot", "svg", "bounds"):
            commands[f"aigo compile --emit {emit}"] = [aigo, "compile", "task.yaml", "--emit", emit]
        taken = {name: [] for name in commands}
        # Each round runs every row once, so that what else the machine does falls on all of them.
        for _ in range(arguments.rounds):
            for name, command in commands.items():
                taken[name].append(measure(command, folder))
    missed = False
    print(f"{STEPS} steps, {SCORERS} scorers, {ROWS} rows; the target is {TARGET * 1000:.0f} ms\n")
    print(f"{'':32}{'best ms':>9}{'median':>9}{'CPU':>9}{'peak MB':>9}")
    for name, runs in taken.items():
        wall = [run[0] * 1000 for run in runs]
        median = statistics.median(wall)
        if any(run[3] for run in runs):
            sys.exit(f"{name} fails")
        over = name.startswith("aigo") and median > TARGET * 1000
        missed |= over
        cpu, peak = min(run[1] for run in runs) * 1000, max(run[2] for run in runs)
        print(f"{name:32}{min(wall):9.1f}{median:9.1f}{cpu:9.1f}{peak:9.1f}{'  over' if over else ''}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
