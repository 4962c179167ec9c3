"""A real model as the judge of every standard scorer, and as the simulated user with every persona: each answer is read,
valid or invalid, and nothing panics.

The model is SmolLM2-135M-Instruct behind llama.cpp's server, from the folder that describes it (`serve.py`,
`requirements.txt`), on one thread; its context of 2,048 tokens is smaller than some prompts, whose answer is then a fault.
Every scorer is a run of its own, so that a slow machine shows a line as soon as there is one and a part of them can be asked
(`--only`): on two short conversations with the schema that bounds answers, and on the first by the words of the prompt alone.
Then seven users are simulated. Every verdict must be scored, not applicable, invalid or void, and every run is replayed
offline with the same report. A line says how many answers came, how many of them had a fault, how many were asked for
because the answer before could not be read, and the outcomes of verdicts, those of turns among them.
Where the folder is not there, nothing is done, and the exit code is 0.

usage: std_real.py [--aigo PATH] [--model FOLDER] [--python PYTHON] [--only NAME,NAME]
`--python` is one that has the packages of `requirements.txt`; without it a virtual environment is made in a temporary folder.
"""
import argparse, collections, glob, json, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODEL = 'model: openai_compatible/smollm2-135m-instruct, base_url: "URL", temperature: 0'
SCORERS = """
{use: task_completion}
{use: goal_accuracy, with: {expected: Two seats were added.}}
{use: goal_abandonment}
{use: conversation_completeness}
{use: turn_relevancy}
{use: clarification, with: {slots: [number of seats]}}
{use: knowledge_retention}
{use: repetition}
{use: recovery}
{use: role_adherence, with: {role: Support for Acme.}}
{use: policy_adherence, with: {policy: [Never quote a price.]}}
{use: instruction_drift, with: {policy: [Never quote a price.]}}
{use: topic_adherence, with: {topics: [seats, invoices]}}
{use: tool_use}
{use: faithfulness, with: {context: "{{ searches }}"}}
{use: context_precision, with: {context: "{{ searches }}"}}
{use: context_recall, with: {context: "{{ searches }}", expected: [["up to ten seats"]]}}
{use: context_relevancy, with: {context: "{{ searches }}"}}
{use: simulator_fidelity, with: {goal: Add two seats., persona: terse}}
{use: persona_played, with: {persona: mind_changer}}
""".strip().splitlines()
RECORDED = """aigo: 1
name: recorded
models: {judge: {MODEL, max_tokens: 160, structured: HOW}}
dataset: {transcripts: talks.jsonl}
scorers:
  - SCORER
"""
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


def run(aigo, folder, name, task, talks):
    """Runs and replays a task; gives the answers, the faults, the answers that were asked for again, and the outcomes."""
    place = os.path.join(folder, name)
    os.makedirs(place)
    with open(os.path.join(place, "task.yaml"), "w", encoding="utf-8") as out:
        out.write(task)
    with open(os.path.join(place, "talks.jsonl"), "w", encoding="utf-8") as out:
        for at, talk in enumerate(talks):
            messages = [{"author": author, "text": text} for author, text in talk]
            out.write(json.dumps({"id": f"t{at}", "searches": [["Team: up to ten seats."], []], "messages": messages}) + "\n")
    ran = subprocess.run([aigo, "run", "task.yaml", "-j", "1", "--format", "json"], cwd=place, capture_output=True, text=True)
    assert ran.returncode in (0, 1, 4) and "panicked" not in ran.stderr, f"exit {ran.returncode}: {ran.stderr}"
    replayed = subprocess.run([aigo, "replay", "last", "--format", "json"], cwd=place, capture_output=True, text=True)
    assert (replayed.returncode, replayed.stdout) == (0, ran.stdout), replayed.stderr
    answers, faults, again, outcomes = 0, 0, 0, collections.Counter()
    for line in open(glob.glob(os.path.join(place, "runs", "*", "log.jsonl"))[0], encoding="utf-8"):
        record = json.loads(line)
        if record["e"] == "got":
            answers += 1
            faults += bool(record.get("fault"))
        elif record["e"] == "ask":
            again += record.get("i", [0])[-1:] == [2]
        elif record["e"] == "close":
            outcomes.update(score.get("outcome", "scored") for score in record.get("scores", []))
    assert set(outcomes) <= {"scored", "not_applicable", "invalid", "void"}, outcomes
    return answers, faults, again, outcomes


def table(aigo, folder, model, only):
    """A line for each scorer and way of asking."""
    print(f"{'scorer':<26} {'asked by':<15} {'answers':>7} {'faults':>6} {'again':>5} {'scored':>6} {'n/a':>4} {'invalid':>7} {'void':>4} {'s':>4}", flush=True)
    total = collections.Counter()
    for how, talks in [("bounded_schema", TALKS), ("prompt", TALKS[:1])]:
        for scorer in SCORERS:
            name = scorer.split("use: ")[1].split(",")[0].rstrip("}")
            if only and name not in only:
                continue
            task = RECORDED.replace("MODEL", model).replace("HOW", how).replace("SCORER", scorer)
            start = time.perf_counter()
            answers, faults, again, outcomes = run(aigo, folder, f"{how}_{name}", task, talks)
            assert outcomes and answers, f"{name} asked nothing"
            took = time.perf_counter() - start
            total.update(outcomes, answers=answers)
            print(
                f"{name:<26} {how:<15} {answers:>7} {faults:>6} {again:>5} {outcomes['scored']:>6} {outcomes['not_applicable']:>4} "
                f"{outcomes['invalid']:>7} {outcomes['void']:>4} {took:>4.0f}",
                flush=True,
            )
    print(f"all: {dict(total)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aigo", default=os.path.join(ROOT, "target", "release", "aigo"))
    parser.add_argument("--model", default=os.path.join(ROOT, "..", "shared", "models", "smollm2"))
    parser.add_argument("--python")
    parser.add_argument("--only", type=lambda names: names.split(","))
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
            table(aigo, folder, model, arguments.only)
            answers, faults, _, outcomes = run(aigo, folder, "simulated", SIMULATED.replace("MODEL", model), [])
            print(f"simulated users: {answers} answers, {faults} faults, verdicts {dict(outcomes)}", flush=True)
        finally:
            process.terminate()
            process.wait()


main()
