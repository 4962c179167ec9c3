"""A real model, asked for whole answers and for streamed ones: the same texts, the same reasons to stop, the same counts.

The model is SmolLM2-135M-Instruct behind llama.cpp's server, from the folder that describes it (`serve.py`,
`requirements.txt`), on one thread. Two tasks that differ in nothing but `stream` are run, four conversations of three turns
each at temperature 0, a judge that is asked for an object, and a check of keys before. Each run is replayed offline. Where
the folder is not there, nothing is done, and the exit code is 0.

usage: local_model.py [--aigo PATH] [--model FOLDER] [--python PYTHON]
`--python` is one that has the packages of `requirements.txt`; without it a virtual environment is made in a temporary folder.
"""
import argparse, glob, json, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TASK = """aigo: 1
name: local
models:
  assistant: {model: openai_compatible/smollm2-135m-instruct, base_url: "URL", temperature: 0, max_tokens: 40, stream: STREAM}
  judge: {model: openai_compatible/smollm2-135m-instruct, base_url: "URL", max_tokens: 120, stream: STREAM}
dataset:
  samples:
    - {id: bakery, q: Suggest one name for a new bread.}
    - {id: capital, q: What is the capital of Portugal?}
    - {id: umlauts, q: "Translate to German: I have breakfast in the green garden."}
    - {id: faces, q: "Repeat this: 😀 café"}
solvers:
  - system: You are a helpful assistant. Answer briefly.
  - user: "{{ q }}"
  - generate
  - user: Say it in other words.
  - generate
  - user: Thank you.
  - generate
scorers:
  - {name: said, check: {not_matches: '^$'}}
  - {name: kind, judge: {rubric: The assistant is kind., scale: boolean, evidence: none}}
"""


def served(python, folder):
    """Starts the server; gives the process and its address."""
    process = subprocess.Popen([python, os.path.join(folder, "serve.py"), "18082", "1", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = process.stdout.readline()
    if not line.startswith("READY"):
        sys.exit(f"the server does not start: {line!r}")
    return process, line.split()[1] + "/v1"


def answers(run):
    """Every answer of a log by its place: text, reason to stop, tokens. Tokens from the cache depend on what was asked before."""
    asks, found = {}, {}
    for line in open(os.path.join(run, "log.jsonl"), encoding="utf-8"):
        record = json.loads(line)
        if record["e"] == "open":
            asks[("open", record["s"])] = record["key"]
        elif record["e"] == "ask":
            asks[record["n"]] = (asks[("open", record["s"])], record.get("g"), record["p"], tuple(record.get("i", [])))
        elif record["e"] == "got":
            # Why it ended is written where it is not the usual `stop`.
            found[asks[record["a"]]] = (record["text"], record.get("stop", "stop"), record.get("fault"), record.get("in"), record.get("out"))
    return found


def run(aigo, folder, url, stream):
    """Checks, runs and replays the task; gives the answers."""
    place = os.path.join(folder, f"stream-{stream}")
    os.makedirs(place)
    with open(os.path.join(place, "task.yaml"), "w", encoding="utf-8") as out:
        out.write(TASK.replace("URL", url).replace("STREAM", stream))
    keys = subprocess.run([aigo, "check", "task.yaml", "--keys"], cwd=place, capture_output=True, text=True)
    print(keys.stdout.strip())
    assert keys.returncode == 0, keys.stderr
    start = time.perf_counter()
    ran = subprocess.run([aigo, "run", "task.yaml", "-j", "1", "--format", "json"], cwd=place, capture_output=True, text=True)
    assert ran.returncode in (0, 4), ran.stderr
    print(f"stream: {stream}: {time.perf_counter() - start:.1f} s, {json.loads(ran.stdout)['outcomes']}")
    replayed = subprocess.run([aigo, "replay", "last", "--format", "json"], cwd=place, capture_output=True, text=True)
    assert (replayed.returncode, replayed.stdout) == (0, ran.stdout), replayed.stderr
    return answers(glob.glob(os.path.join(place, "runs", "*"))[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aigo", default=os.path.join(ROOT, "target", "release", "aigo"))
    parser.add_argument("--model", default=os.path.join(ROOT, "..", "shared", "models", "smollm2"))
    parser.add_argument("--python")
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(arguments.model, "serve.py")):
        print(f"skipped: no model in {arguments.model}")
        return
    with tempfile.TemporaryDirectory() as folder:
        python = arguments.python
        if python is None:
            place = os.path.join(folder, "venv")
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            python = os.path.join(place, "bin", "python")
            requirements = os.path.join(arguments.model, "requirements.txt")
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", requirements], check=True)
        process, url = served(python, arguments.model)
        try:
            whole, streamed = (run(os.path.abspath(arguments.aigo), folder, url, stream) for stream in ("false", "true"))
        finally:
            process.terminate()
            process.wait()
        differing = [place for place in whole if whole[place] != streamed.get(place)]
        for place in differing:
            print(f"{place}\n  whole:    {whole[place]}\n  streamed: {streamed.get(place)}")
        print(f"{len(whole)} whole answers, {len(streamed)} streamed, {len(differing)} differ")
        sys.exit(1 if differing or len(whole) != len(streamed) else 0)


main()
