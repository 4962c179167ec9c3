"""Makes the kept corpus anew: seeds from the project's own examples, and what the fuzzer has discovered, each only if it
reaches something that smaller ones do not; of the discovered ones the smallest, at most 150 a target.

usage: keep.py [TARGET...]      after `run.sh`, which builds the targets
"""
import glob, hashlib, os, re, shutil, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
MOST_FOUND, LARGEST = 150, 16_000
TARGETS = ("yaml", "ir", "log", "templates", "front_end")
# A fragment of the specification in a task around it.
TASK = """aigo: 1
name: seed
models:
  assistant: {scripted: [Hi.]}
  user: {scripted: [Hi.]}
  judge: {scripted: [{verdict: {evidence: [], reason: Good., score: 5}}]}
dataset: {samples: [{id: a, plan: Pro, seats: 3, goal: g, persona: p, names: [Ada]}]}
solvers:
  - user: Hi.
  - generate
scorers:
  - {name: polite, check: {not_contains: damn}}
"""
PARTS = {
    "step": ("solvers:\n  - user: Hi.\n  - generate\n", "solvers:\n{}", 2),
    "model": (re.search(r"models:\n(?:  .*\n)+", TASK)[0], "models:\n{}", 2),
    "rule": ("  assistant: {scripted: [Hi.]}\n", "  assistant:\n    scripted:\n{}", 6),
    "dataset": (re.search(r"dataset:.*\n", TASK)[0], "dataset:\n{}", 2),
    "scorer": (re.search(r"scorers:\n.*\n", TASK)[0], "scorers:\n{}", 2),
}


def blocks():
    """The fenced blocks of the manual: the words behind the fence, and the text."""
    for page in sorted(glob.glob(os.path.join(ROOT, "spec", "**", "*.md"), recursive=True)):
        with open(page) as file:
            for info, text in re.findall(r"^```([^\n]*)\n(.*?)^```", file.read(), re.M | re.S):
                yield info.split(), text


def in_a_task(words, text):
    for word in words:
        if word in PARTS:
            old, new, indent = PARTS[word]
            lines = "".join(" " * indent + line for line in text.splitlines(keepends=True))
            return TASK.replace(old, new.format(lines) if "{}" in new else lines)
    return text


def read(pattern):
    for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
        with open(path, "rb") as file:
            yield file.read()


def tasks():
    yield from read("tasks/*/task.yaml")
    yield from read("tests/fixtures/*.yaml")
    for words, text in blocks():
        if words[:1] == ["yaml"]:
            yield in_a_task(words, text).encode()
            yield text.encode()


def texts():
    """Templates and expressions: what stands between marks in the manual and the tasks, and lines of `expr` blocks."""
    everything = b"\n".join(tasks()).decode("utf-8", "replace")
    yield from (line.encode() for line in re.findall(r"^.*(?:\{\{|\{%).*$", everything, re.M))
    for words, text in blocks():
        if words[:1] == ["expr"]:
            yield from (line.split(" => ")[0].encode() for line in text.splitlines())


def seeds(target):
    if target in ("yaml", "front_end"):
        yield from tasks()
        yield from read("tests/fixtures/*.jsonl")
    elif target == "ir":
        yield from read("tests/golden/*.ir")
        yield from (text.encode() for words, text in blocks() if words[:1] in (["ir"], ["text"]))
        yield from texts()
    elif target == "templates":
        yield from texts()
    elif target == "log":
        for log in read("tests/golden/*.jsonl"):
            lines = log.splitlines(keepends=True)
            yield from (b"\0" + b"".join(lines[:n]) for n in (1, 3, 9, 20))
            yield b"\0" + b"".join(lines[:6] + lines[-3:])


def size(folder, name):
    return os.path.getsize(os.path.join(folder, name))


def keep(target):
    program = next(iter(glob.glob(os.path.join(HERE, "target", "*", "release", target))), None)
    if program is None:
        return print(f"{target}: not built")
    work = os.path.join(HERE, "target", "keep", target)
    shutil.rmtree(work, ignore_errors=True)
    seeded, merged = os.path.join(work, "seeds"), os.path.join(work, "merged")
    os.makedirs(seeded), os.makedirs(merged)
    for content in seeds(target):
        if content and len(content) <= LARGEST:
            with open(os.path.join(seeded, hashlib.sha1(content).hexdigest()), "wb") as file:
                file.write(content)
    merge(program, merged, [seeded], work)
    kept, found = os.path.join(HERE, "corpus", target), os.path.join(HERE, "target", "corpus", target)
    own = set(os.listdir(merged))
    merge(program, merged, [folder for folder in (kept, found) if os.path.isdir(folder)], work)
    more = [name for name in os.listdir(merged) if name not in own and size(merged, name) <= LARGEST]
    more = sorted(more, key=lambda name: (size(merged, name), name))[:MOST_FOUND]
    shutil.rmtree(kept, ignore_errors=True)
    os.makedirs(kept)
    for name in [*own, *more]:
        shutil.copy(os.path.join(merged, name), kept)
    total = sum(size(kept, name) for name in os.listdir(kept))
    print(f"{target}: {len(own)} inputs of the project and {len(more)} that were found, {total} bytes")


def merge(program, into, sources, work):
    """Adds to a folder what reaches something that it does not reach yet."""
    with open(os.path.join(work, "log"), "a") as log:
        subprocess.run([program, "-merge=1", "-max_len=16384", into, *sources], check=True, stdout=log, stderr=log)


for target in sys.argv[1:] or TARGETS:
    keep(target)
