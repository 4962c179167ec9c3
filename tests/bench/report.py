"""How long a report of many conversations takes, and in how much memory.

It writes a task of N samples with ten scorers, five of them judges, played by rules; runs it, and reports the run in each form.
The report for people is to take less than 2 s and 300 MB at 10,000 samples. Compare figures of one run only.

usage: report.py AIGO [--n 10000] [--bad 17] [--keep FOLDER]
AIGO is the binary of a release build. Every BADth conversation fails. The exit code is 1 where a target is missed.
"""
import argparse, json, os, subprocess, sys, tempfile, time

FORMS = ["text", "json", "markdown", "github", "junit", "jsonl", "csv"]
SECONDS, MEGABYTES = 2.0, 300


def write(folder, n, bad):
    personas = ["terse", "confused", "adversary", "polite"]
    with open(os.path.join(folder, "rows.jsonl"), "w") as rows:
        for k in range(n):
            row = {"id": f"s{k:05}", "persona": personas[k % 4], "goal": f"g{k // 4 % 25}", "bad": k % bad == 0}
            rows.write(json.dumps(row) + "\n")
    judges = "".join(f"  - {{name: j{k}, judge: {{rubric: \"Number {k}: it states no price.\", scale: boolean}}}}\n" for k in range(5))
    checks = "".join(f"  - {{name: c{k}, check: {{not_contains: word{k}}}}}\n" for k in range(4))
    with open(os.path.join(folder, "task.yaml"), "w") as task:
        task.write(f"""aigo: 1
name: big
models:
  assistant:
    scripted:
      - {{when: bad and turn == 3, say: "About $12 a seat, I would say, but do not hold me to it."}}
      - {{say: "Thank you for asking. You find this under Settings, in the part about seats, and it takes a moment."}}
  judge:
    scripted:
      - when: bad
        verdict: {{evidence: [{{turn: 3a, quote: a seat}}], reason: It states a price., score: false}}
      - verdict: {{evidence: [], reason: Nothing to be said against it., score: true}}
dataset: {{file: rows.jsonl}}
solvers:
  - script: ["Hello, I have a question.", "How many seats can we add?", "And what does it cost?", "Thanks."]
scorers:
{judges}{checks}  - {{name: price, check: {{not_matches: '\\$\\s?\\d'}}}}
gates:
  - rate(j0) >= 0.9
  - rate(price, by=persona) >= 0.95
""")


def measured(command, folder):
    """The seconds of a process and the greatest memory that it had, in MB."""
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    return time.monotonic() - begun, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("aigo")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--bad", type=int, default=17)
    parser.add_argument("--keep")
    given = parser.parse_args()
    aigo = os.path.abspath(given.aigo)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or temporary
        os.makedirs(folder, exist_ok=True)
        write(folder, given.n, given.bad)
        seconds, megabytes, code = measured([aigo, "run", "task.yaml", "--durability", "process"], folder)
        print(f"{'run':<10} {seconds:6.2f} s {megabytes:6.0f} MB   exit {code}")
        missed = False
        for form in FORMS:
            rounds = [measured([aigo, "report", "last", "--format", form, "-o", f"out.{form}"], folder) for _ in range(3)]
            seconds, megabytes, code = min(rounds)
            size = os.path.getsize(os.path.join(folder, f"out.{form}")) / 1e6
            print(f"{form:<10} {seconds:6.2f} s {megabytes:6.0f} MB   exit {code}   {size:.1f} MB written")
            missed |= form == "text" and (code != 0 or (given.n <= 10_000 and (seconds > SECONDS or megabytes > MEGABYTES)))
    sys.exit(1 if missed else 0)


main()
