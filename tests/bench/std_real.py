"""A real model as the judge of every standard scorer, and as the simulated user with every persona: each answer is read,
valid or invalid, and nothing panics.

The model is SmolLM2-135M-Instruct behind llama.cpp's server, from the folder that describes it (`serve.py`,
`requirements.txt`), on one thread; its context of 2,048 tokens is smaller than some prompts, whose answer is then a fault. Two
short conversations are scored by all scorers, once with the schema that bounds answers and once by the words of the prompt
alone; then seven users are simulated. Every verdict must be scored, skipped, invalid or void; the run is replayed offline.
Where the folder is not there, nothing is done, and the exit code is 0.

usage: std_real.py [--aigo PATH] [--model FOLDER] [--python PYTHON]
`--python` is one that has the packages of `requirements.txt`; without it a virtual environment is made in a temporary folder.
"""
import argparse, collections, glob, json, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODEL = 'model: openai_compatible/smollm2-135m-instruct, base_url: "URL", temperature: 0'
SCORERS = """
  - use: task_completion
  - {use: goal_accuracy, with: {expected: Two seats were added.}}
  - use: goal_abandonment
  - use: conversation_completeness
  - use: turn_relevancy
  - {use: clarification, with: {slots: [number of seats]}}
  - use: knowledge_retention
  - use: repetition
  - use: recovery
  - {use: role_adherence, with: {role: Support for Acme.}}
  - {use: policy_adherence, with: {policy: [Never quote a price.]}}
  - {use: instruction_drift, with: {policy: [Never quote a price.]}}
  - {use: topic_adherence, with: {topics: [seats, invoices]}}
  - use: tool_use
  - {use: faithfulness, with: {context: "{{ searches }}"}}
  - {use: context_precision, with: {context: "{{ searches }}"}}
  - {use: context_recall, with: {context: "{{ searches }}", expected: [["up to ten seats"]]}}
  - {use: context_relevancy, with: {context: "{{ searches }}"}}
  - {use: simulator_fidelity, with: {goal: Add two seats.}}
  - {use: persona_played, with: {must: [takes back something it chose]}}
"""
RECORDED = """aigo: 1
name: recorded
models: {judge: {MODEL, max_tokens: 160, structured: HOW}}
dataset: {transcripts: two.jsonl}
scorers:SCORERS"""
SIMULATED = """aigo: 1
name: simulated
models:
  assistant: {scripted: [Which plan are you on?]}
  user: {MODEL, max_tokens: 120}
dataset: {matrix: {persona: [terse, confused, mind_changer, under_specifier, topic_jumper, adversary, frustrated]}}
solvers:
  - loop: {max_turns: 2, solvers: [{simulate_user: {goal: Add two seats., persona: "{{ persona }}"}}, generate]}
scorers: [{name: asked, check: {contains: plan}}]
"""
TALKS = [
    [("user", "I'm on Team. Can I add two seats?"), ("assistant", "On Team you may add up to ten seats."), ("user", "No, three."), ("assistant", "Three seats were added.")],
    [("user", "Hi"), ("assistant", "Hello, how can I help?")],
]


def served(python, folder):
    """Starts the server; gives the process and its address."""
    process = subprocess.Popen([python, os.path.join(folder, "serve.py"), "18083", "1", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = process.stdout.readline()
    if not line.startswith("READY"):
        sys.exit(f"the server does not start: {line!r}")
    return process, line.split()[1] + "/v1"


def run(aigo, folder, name, task):
    """Runs and replays a task; prints what the scorers came to."""
    place = os.path.join(folder, name)
    os.makedirs(place)
    with open(os.path.join(place, "task.yaml"), "w", encoding="utf-8") as out:
        out.write(task)
    with open(os.path.join(place, "two.jsonl"), "w", encoding="utf-8") as out:
        for at, talk in enumerate(TALKS):
            messages = [{"author": author, "text": text} for author, text in talk]
            out.write(json.dumps({"id": f"t{at}", "searches": [["Team: up to ten seats."], []], "messages": messages}) + "\n")
    start = time.perf_counter()
    ran = subprocess.run([aigo, "run", "task.yaml", "-j", "1", "--format", "json"], cwd=place, capture_output=True, text=True)
    assert ran.returncode in (0, 1, 4) and "panicked" not in ran.stderr, f"exit {ran.returncode}: {ran.stderr}"
    replayed = subprocess.run([aigo, "replay", "last", "--format", "json"], cwd=place, capture_output=True, text=True)
    assert (replayed.returncode, replayed.stdout) == (0, ran.stdout), replayed.stderr
    counts, calls, faults = collections.defaultdict(collections.Counter), 0, collections.Counter()
    for line in open(glob.glob(os.path.join(place, "runs", "*", "log.jsonl"))[0], encoding="utf-8"):
        record = json.loads(line)
        if record["e"] == "got":
            calls += 1
            faults[record.get("fault") or "none"] += 1
        for score in record.get("scores", []) if record["e"] == "close" else []:
            counts[score["scorer"]][score["outcome"]] += 1
    print(f"{name}: {calls} answers in {time.perf_counter() - start:.0f} s, faults {dict(faults)}")
    for scorer, outcomes in counts.items():
        assert set(outcomes) <= {"scored", "not_applicable", "invalid", "void"}, outcomes
        print(f"  {scorer:<26} {dict(outcomes)}")
    return set(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aigo", default=os.path.join(ROOT, "target", "release", "aigo"))
    parser.add_argument("--model", default=os.path.join(ROOT, "..", "shared", "models", "smollm2"))
    parser.add_argument("--python")
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(arguments.model, "serve.py")):
        print(f"skipped: no model in {arguments.model}")
        return
    aigo = os.path.abspath(arguments.aigo)
    with tempfile.TemporaryDirectory() as folder:
        python = arguments.python
        if python is None:
            place = os.path.join(folder, "venv")
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            python = os.path.join(place, "bin", "python")
            requirements = os.path.join(arguments.model, "requirements.txt")
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", requirements], check=True)
        process, url = served(python, arguments.model)
        model = MODEL.replace("URL", url)
        try:
            wanted = SCORERS.count("use: ")
            for how in ["bounded_schema", "prompt"]:
                task = RECORDED.replace("MODEL", model).replace("HOW", how).replace("SCORERS", SCORERS)
                asked = run(aigo, folder, how, task)
                assert len(asked) == wanted, f"{len(asked)} scorers of {wanted} gave a verdict"
            run(aigo, folder, "simulated", SIMULATED.replace("MODEL", model))
        finally:
            process.terminate()
            process.wait()


main()
