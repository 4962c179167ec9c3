"""How large a log is beside the text in it, as lines and sealed, and how long one sealed conversation takes to be shown.

Two works, against a server on loopback that says what it is to say:
    bench       8 scripted user turns, 8 answers, one judge (the work of calls.py)
    tau-bench   recorded conversations of tau-bench: a simulated user and an assistant say what was said there, one judge
`text` is what the conversations say, each message once, with the judges' replies: the bytes of `aigo log export --rows
messages` and of the answers of judges. The targets are 1.6 and 0.4 times the text on the first, 2.2 and 0.45 on the second.
The first work is done once more with three judges of every turn: what a log has for each answer, whoever gave it, may be at most
a fifth more then. `--fields` tells which fields the bytes of the lines are in.

usage: log_size.py [--aigo PATH] [--n 2000] [--tau PATH_OF_TAU_BENCH_JSON] [--show N] [--fields]
`--show 100000` makes a log of so many scripted conversations, seals it, and times `aigo log show` of one; the target is 50 ms.
The exit code is 1 where a target is missed. Without `--tau` the second work is left out.
"""
import argparse, json, os, re, subprocess, sys, tempfile, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
TURNS = 8
LINE = "Turn {turn} of conversation {{{{ n }}}}: I am on the Pro plan and I would like to know about seats and billing."
SAID = "On the Pro plan you can add three more seats; each is billed monthly from the day it is added."
VERDICT = {"evidence": [], "reason": "The assistant keeps what it was told.", "score": 5}


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tau = {}

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = self.text(body)
        usage = {"prompt_tokens": len(str(body["messages"])) // 4, "completion_tokens": len(text) // 4}
        reply = {"model": body["model"], "usage": usage,
                 "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def text(self, body):
        model, messages = body["model"], body["messages"]
        if model == "judge":
            return json.dumps(VERDICT)
        found = re.search(r"conversation-(\d+)", json.dumps(messages[:2]))
        if not found or int(found.group(1)) not in self.tau:
            return SAID
        users, assistants = self.tau[int(found.group(1))]
        if model == "user":
            at = sum(message["role"] == "assistant" for message in messages)
            said = users[min(at, len(users) - 1)]
            return json.dumps({"message": said, "status": "done" if at + 1 >= len(users) else "going"})
        at = sum(message["role"] == "assistant" for message in messages)
        return assistants[min(at, len(assistants) - 1)]


def bench(url, scripted=False):
    lines = "\n".join(f"      - \"{LINE.format(turn=turn)}\"" for turn in range(TURNS))
    def role(name, said):
        return f"{{scripted: [{{say: '{said}'}}]}}" if scripted else f"{{model: openai_compatible/{name}, base_url: \"{url}\"}}"

    return f"""aigo: 1
name: bench
models:
  assistant: {role("assistant", SAID)}
  judge: {role("judge", json.dumps(VERDICT))}
dataset: {{file: rows.jsonl}}
solvers:
  - script:
{lines}
scorers:
  - name: retention
    judge: {{rubric: The assistant keeps the facts that the user stated., evidence: none}}
gates: [mean(retention) >= 4]
"""


def judged(url):
    """The same with three judges of every turn."""
    rubrics = {"tone": "The tone fits a support desk.", "helps": "The answer helps.", "true": "The answer is true."}
    scorers = [f"  - name: turn_{name}\n    judge: {{rubric: {rubric}, per: turn, evidence: none}}\n"
               for name, rubric in rubrics.items()]
    head, gates = bench(url).split("gates:")
    return head + "".join(scorers) + "gates:" + gates


def tau(url):
    role = lambda name: f"{{model: openai_compatible/{name}, base_url: \"{url}\"}}"
    return f"""aigo: 1
name: tau
models:
  assistant: {role("assistant")}
  user: {role("user")}
  judge: {role("judge")}
dataset: {{file: rows.jsonl}}
solvers:
  - system: You answer customers of an airline. This is conversation-{{{{ n }}}}.
  - loop:
      max_turns: 30
      solvers:
        - simulate_user: {{goal: "conversation-{{{{ n }}}}", persona: a customer}}
        - generate
scorers:
  - name: helps
    judge: {{rubric: The assistant helps., evidence: none}}
"""


def read_tau(path):
    """Of each trajectory what the user says, and what the assistant says after it."""
    found = {}
    for at, run in enumerate(json.load(open(path))):
        users, assistants, said = [], [], []
        for message in run["traj"]:
            text = message.get("content") or ""
            if message["role"] == "user":
                if users:
                    assistants.append("\n".join(said) or "One moment.")
                users.append(text)
                said = []
            elif message["role"] == "assistant" and text:
                said.append(text)
        assistants.append("\n".join(said) or "One moment.")
        if users:
            found[at] = (users, assistants)
    return found


def aigo(arguments, cwd, *command):
    start = time.perf_counter()
    done = subprocess.run([arguments.aigo, *command], cwd=cwd, capture_output=True, text=True)
    if done.returncode not in (0, 1, 4):
        sys.exit(f"aigo {' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout, time.perf_counter() - start


def fields(log):
    """Prints how many bytes of the lines are in each field of each kind of record, a line's own parts among them."""
    sizes, lines = {}, {}
    for line in open(log):
        record = json.loads(line)
        kind = record["e"]
        lines[kind] = lines.get(kind, 0) + 1
        for name, value in record.items():
            size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) + len(name) + 4
            sizes[kind, name] = sizes.get((kind, name), 0) + size
    whole = os.path.getsize(log)
    for (kind, name), size in sorted(sizes.items(), key=lambda item: -item[1])[:24]:
        print(f"    {kind:8} {name:8} {size / lines[kind]:8.1f} a line  {100 * size / whole:5.1f}%")


def measure(arguments, name, task, rows, targets=None):
    """Whether the targets are met, and the bytes of the lines for each answer."""
    where = tempfile.mkdtemp(prefix="log-", dir=arguments.folder)
    with open(os.path.join(where, "rows.jsonl"), "w") as file:
        file.writelines(json.dumps({"id": str(n), "n": n}) + "\n" for n in rows)
    with open(os.path.join(where, "task.yaml"), "w") as file:
        file.write(task)
    aigo(arguments, where, "run", "task.yaml", "--seal", "never", "-j", "16")
    run = os.path.join(where, "runs", os.listdir(os.path.join(where, "runs"))[0])
    log = os.path.join(run, "log.jsonl")
    messages, _ = aigo(arguments, where, "log", "export", "last", "--rows", "messages")
    text = sum(len(json.loads(line)["text"].encode()) for line in messages.splitlines())
    judges, answers, sites = set(), 0, []
    for line in open(log):
        record = json.loads(line)
        sites = record.get("sites", sites)
        answers += record["e"] == "got"
        if record["e"] == "ask" and (record.get("role") or sites[record["p"]][2]) == "judge":
            judges.add(record["n"])
        elif record["e"] == "got" and record["a"] in judges:
            text += len(record["text"].encode())
    if arguments.fields:
        fields(log)
    plain = os.path.getsize(log)
    _, seconds = aigo(arguments, where, "log", "seal", "last")
    sealed = os.path.getsize(log + ".zst")
    ratios = (plain / text, sealed / text)
    met = targets is None or all(ratio <= target for ratio, target in zip(ratios, targets))
    most = [f" (at most {target})" for target in targets] if targets else ["", ""]
    print(f"{name:10} {len(rows):6} conversations  text {text / 1e6:7.2f} MB  lines {ratios[0]:.2f}{most[0]}  "
          f"sealed {ratios[1]:.3f}{most[1]}  in {seconds:.2f} s  {plain / answers:.0f} bytes an answer  "
          f"{'' if targets is None else 'ok' if met else 'MISSED'}", flush=True)
    return met, plain / answers


def show(arguments, n):
    where = tempfile.mkdtemp(prefix="log-", dir=arguments.folder)
    with open(os.path.join(where, "rows.jsonl"), "w") as file:
        file.writelines(f'{{"id":"{at}","n":{at}}}\n' for at in range(n))
    with open(os.path.join(where, "task.yaml"), "w") as file:
        file.write(bench("", scripted=True))
    aigo(arguments, where, "run", "task.yaml", "--seal", "never", "--durability", "process")
    run = os.path.join(where, "runs", os.listdir(os.path.join(where, "runs"))[0])
    plain = os.path.getsize(os.path.join(run, "log.jsonl"))
    _, seconds = aigo(arguments, where, "log", "seal", "last")
    sealed = os.path.getsize(os.path.join(run, "log.jsonl.zst"))
    times = [aigo(arguments, where, "log", "show", "last", str(at * 7919 % n))[1] for at in range(20)]
    middle = sorted(times)[len(times) // 2]
    met = middle <= 0.05
    print(f"show       1 of {n} sealed: {1000 * middle:.1f} ms, the slowest {1000 * max(times):.1f} ms (at most 50)  "
          f"log {plain / 1e6:.0f} MB, sealed {sealed / 1e6:.0f} MB in {seconds:.1f} s  {'ok' if met else 'MISSED'}", flush=True)
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aigo", default=os.path.join(HERE, "../../target/release/aigo"))
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--tau")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--fields", action="store_true")
    arguments = parser.parse_args()
    arguments.aigo = os.path.abspath(arguments.aigo)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    met = []
    with tempfile.TemporaryDirectory() as arguments.folder:
        kept, plain = measure(arguments, "bench", bench(url), range(arguments.n), (1.6, 0.4))
        _, with_judges = measure(arguments, "judged", judged(url), range(max(1, arguments.n // 4)))
        more = with_judges / plain - 1
        met += [kept, more <= 0.2]
        print(f"three judges of every turn: {100 * more:+.0f}% for each answer (at most +20%)  {'ok' if more <= 0.2 else 'MISSED'}")
        if arguments.tau:
            Server.tau = read_tau(arguments.tau)
            met.append(measure(arguments, "tau-bench", tau(url), sorted(Server.tau)[:arguments.n], (2.2, 0.45))[0])
        if arguments.show:
            met.append(show(arguments, arguments.show))
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
