"""A dataset of 1 GB in each format: `aigo check` reads it whole, and this prints how long and in how much memory.

    python3 tests/bench/dataset.py path/to/aigo [megabytes]

The files are written to a temporary folder, one at a time, and removed.
"""

import json
import os
import sys
import tempfile
import time

TASK = """aigo: 1
name: large
models: {assistant: {scripted: [Certainly.]}}
dataset: SOURCE
solvers: [{user: Hello}, generate]
scorers: [{name: polite, check: {contains: Certainly}}]
"""

TEXT = "The quick brown fox asks, in so many words, for a seat more on its order. " * 4


def row(n):
    return {"id": f"row-{n}", "plan": ("Free", "Pro", "Team")[n % 3], "seats": n % 100, "text": TEXT}


def conversation(n):
    messages = [{"role": ("user", "assistant")[m % 2], "content": TEXT} for m in range(6)]
    return {"id": f"c-{n}", "user_id": f"u-{n % 1000}", "messages": messages}


def jsonl(make):
    def write(out, size):
        n = 0
        while out.tell() < size:
            out.write("".join(json.dumps(make(k)) + "\n" for k in range(n, n + 1000)))
            n += 1000
        return n

    return write


def array(out, size):
    n = 0
    out.write("[")
    while out.tell() < size:
        out.write(",\n" if n else "")
        out.write(",\n".join(json.dumps(row(k)) for k in range(n, n + 1000)))
        n += 1000
    out.write("]\n")
    return n


def csv(out, size):
    n = 0
    out.write("id,plan,seats,text\n")
    while out.tell() < size:
        rows = (row(k) for k in range(n, n + 1000))
        out.write("".join(f'{r["id"]},{r["plan"]},{r["seats"]},"{r["text"]}"\n' for r in rows))
        n += 1000
    return n


def unclosed(out, size):
    out.write('id,text\n1,"')
    while out.tell() < size:
        out.write((TEXT + "\n") * 1000)
    return 1


KINDS = [
    ("JSON Lines", "data.jsonl", "{file: data.jsonl}", jsonl(row)),
    ("JSON Lines, filtered, shuffled, cut", "data.jsonl", "{file: data.jsonl, filter: seats > 50, shuffle: 1, limit: 100}", jsonl(row)),
    ("JSON array", "data.json", "{file: data.json}", array),
    ("CSV", "data.csv", "{file: data.csv}", csv),
    ("transcripts", "data.jsonl", "{transcripts: data.jsonl}", jsonl(conversation)),
    ("a quote that is never closed", "data.csv", "{file: data.csv}", unclosed),
]


def measured(command, folder):
    """Seconds, greatest resident memory in MB and exit code of a command."""
    begun = time.monotonic()
    child = os.posix_spawn(
        "/bin/sh", ["sh", "-c", 'cd "$1" && shift && exec "$@" > out.txt 2>&1', "sh", folder, *command], os.environ
    )
    _, status, usage = os.wait4(child, 0)
    return time.monotonic() - begun, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    aigo = os.path.abspath(sys.argv[1])
    size = int(sys.argv[2] if len(sys.argv) > 2 else 1000) * 1_000_000
    for name, file, source, write in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, file), "w") as out:
                rows = write(out, size)
            with open(os.path.join(folder, "task.yaml"), "w") as out:
                out.write(TASK.replace("SOURCE", source))
            seconds, memory, code = measured([aigo, "check", "--format", "concise", "task.yaml"], folder)
            print(f"{name}: {rows:,} rows, {seconds:.1f} s, {memory:.0f} MB, exit {code}", flush=True)
            with open(os.path.join(folder, "out.txt")) as said:
                for line in said:
                    print("   ", line.rstrip()[:200])


main()
