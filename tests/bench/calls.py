"""aigo beside the floor and the peers, on the same work, in one run.

The work: N conversations of 8 scripted user turns with the full history on every call, then one judge call each (9 N calls),
against a server on loopback that answers at once. Every row is a process of its own; CPU and memory are what the system
counted for it. Compare the ratios of one run; figures of two runs say nothing beside each other.

usage: calls.py BENCH [--target FOLDER] [--aigo PATH] [--n 5000] [--connections 64] [--rounds 3] [--peers PYTHON]
                [--memory 10000,100000] [--digests N]
BENCH is the folder with `mockllm`, `floor` and `peers`; FOLDER is where the first two were built, if not inside of BENCH:
    CARGO_TARGET_DIR=FOLDER cargo build --release --manifest-path BENCH/mockllm/Cargo.toml   # and floor
PYTHON has `inspect-ai` and `openai`. `--memory` runs so many conversations and compares the peaks; `--digests` runs N of them,
scripted and against the server, at 1, 64 and 1000 calls side by side, and compares the digests with those of their replays.
Where BENCH is absent this says so and ends. The exit code is 1 where a target is missed.
"""
import argparse, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
TURNS = 8
LINE = "Turn {turn} of conversation {{{{ n }}}}: I am on the Pro plan and I would like to know about seats and billing."
SAID = "On the Pro plan you can add three more seats; each is billed monthly from the day it is added."
PEERS_N = 300


def task(url):
    lines = "\n".join(f"      - \"{LINE.format(turn=turn)}\"" for turn in range(TURNS))
    if url:
        assistant = judge = f"{{model: openai_compatible/mock, base_url: \"{url}\"}}"
    else:
        verdict = '{"evidence": [], "reason": "fine", "score": 5}'
        assistant, judge = f"{{scripted: [{{say: '{SAID}'}}]}}", f"{{scripted: [{{say: '{verdict}'}}]}}"
    return f"""aigo: 1
name: bench
models:
  assistant: {assistant}
  judge: {judge}
dataset: {{file: rows.jsonl}}
solvers:
  - script:
{lines}
scorers:
  - name: retention
    judge: {{rubric: The assistant keeps the facts that the user stated., evidence: none}}
gates: [mean(retention) >= 4]
"""


def measure(command, cwd=None):
    """Runs a command; gives its output, wall seconds, CPU seconds and peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1, 4):
        sys.exit(f"{command[0]} failed:\n{output[-2000:]}")
    return output, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class Bench:
    def __init__(self, arguments, url, folder):
        self.arguments, self.url, self.folder = arguments, url, folder
        self.missed = []

    def where(self, n, url):
        where = tempfile.mkdtemp(prefix="run-", dir=self.folder)
        with open(os.path.join(where, "rows.jsonl"), "w") as rows:
            rows.writelines(f'{{"id":"{i}","n":{i}}}\n' for i in range(n))
        with open(os.path.join(where, "task.yaml"), "w") as file:
            file.write(task(url))
        return where

    def aigo(self, n, url, connections):
        where = self.where(n, url)
        command = [self.arguments.aigo, "run", "task.yaml", "-j", str(connections), "--format", "json", "--seal", "never"]
        return measure(command, cwd=where), where

    def row(self, name, calls, wall, cpu, memory, log=None):
        size = f"{log / 1e6:.1f}" if log else ""
        print(f"{name:34} {calls / wall:9.0f} {1000 * cpu / calls:8.3f}ms {memory:8.1f} {size:>7}", flush=True)
        return calls / wall, cpu / calls, memory

    def target(self, what, value, limit, at_least):
        kept = value >= limit if at_least else value <= limit
        word = "at least" if at_least else "at most"
        print(f"{'ok' if kept else 'MISSED':6} {what}: {value:.2f}, {word} {limit}")
        if not kept:
            self.missed.append(what)

    def floor(self):
        log = os.path.join(self.folder, "floor.log")
        a = self.arguments
        command = [a.binary("floor"), str(a.n), str(TURNS + 1), str(a.connections), self.url + "/chat/completions", log]
        _, wall, cpu, memory = measure(command)
        return self.row("floor", (TURNS + 1) * a.n, wall, cpu, memory, os.path.getsize(log))

    def run(self, n, name):
        (_, wall, cpu, memory), where = self.aigo(n, self.url, self.arguments.connections)
        runs = os.path.join(where, "runs")
        size = os.path.getsize(os.path.join(runs, os.listdir(runs)[0], "log.jsonl"))
        measured = self.row(name, (TURNS + 1) * n, wall, cpu, memory, size)
        return measured, where

    def speed(self):
        floors, runs = [], []
        for _ in range(self.arguments.rounds):
            floors.append(self.floor())
            measured, where = self.run(self.arguments.n, "aigo, durable")
            runs.append(measured)
            command = [self.arguments.aigo, "replay", "last", "--runs", os.path.join(where, "runs"), "--format", "json"]
            _, wall, cpu, memory = measure(command)
            self.row("aigo replay", (TURNS + 1) * self.arguments.n, wall, cpu, memory)
            shutil.rmtree(where)
        # Pairs stand side by side in time; the median of their ratios is what a busy machine disturbs least.
        ratios = sorted(run[0] / floor[0] for run, floor in zip(runs, floors))
        cpus = sorted(run[1] / floor[1] for run, floor in zip(runs, floors))
        self.target("calls per second, of the floor's", ratios[len(ratios) // 2], 0.6, True)
        self.target("CPU per call, of the floor's", cpus[len(cpus) // 2], 1.6, False)
        self.target("peak MB with that many in flight", max(run[2] for run in runs), 30, False)
        return max(run[0] for run in runs)

    def peers(self, best):
        a = self.arguments
        folder = os.path.join(a.bench, "peers")
        logs = [os.path.join(self.folder, "logs")]
        peers = [("openai client by hand", "handrolled", [], 40), ("Inspect AI", "inspect", logs, 160)]
        for name, script, extra, limit in peers:
            path = os.path.join(folder, f"{script}_conversations.py")
            command = [a.peers, path, str(PEERS_N), str(TURNS), str(a.connections), self.url, *extra]
            output, wall, cpu, memory = measure(command)
            rate = float(re.search(r"([\d.]+) calls/s", output).group(1))
            count = PEERS_N * (TURNS + 1)
            self.row(name, count, count / rate, cpu, memory)
            self.target(f"times the calls per second of {name}", best / rate, limit, True)

    def memory(self):
        peaks = []
        for n in [int(n) for n in self.arguments.memory.split(",")]:
            measured, where = self.run(n, f"aigo, {n} conversations")
            peaks.append(measured[2])
            shutil.rmtree(where)
        self.target("peak MB of the greatest", peaks[-1], 100, False)
        self.target("growth from the least to the greatest", peaks[-1] / peaks[0], 1.2, False)

    def digests(self):
        for name, url in (("scripted", None), ("server", self.url)):
            found = set()
            for connections in (1, 64, 1000):
                (output, wall, cpu, memory), where = self.aigo(self.arguments.digests, url, connections)
                self.row(f"{name}, {connections} side by side", (TURNS + 1) * self.arguments.digests, wall, cpu, memory)
                replay = [self.arguments.aigo, "replay", "last", "--format", "json"]
                replayed = subprocess.run(replay, cwd=where, capture_output=True, text=True)
                digest = json.loads(output.splitlines()[-1] if output[0] != "{" else output)["digest"]
                found |= {digest, json.loads(replayed.stdout)["digest"]}
                shutil.rmtree(where)
            self.target(f"digests of {name}", len(found), 1, False)


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("--target", help="where `mockllm` and `floor` were built")
    parser.add_argument("--aigo", default=os.path.join(HERE, "../../target/release/aigo"))
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--peers", help="a Python with inspect-ai and openai")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", help="numbers of conversations, ascending")
    parser.add_argument("--digests", type=int)
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.bench):
        print(f"skipped: there is no {arguments.bench}")
        return
    target = arguments.target
    arguments.binary = lambda name: os.path.join(target or f"{arguments.bench}/{name}/target", "release", name)
    arguments.aigo = os.path.abspath(arguments.aigo)
    number = port()
    server = subprocess.Popen([arguments.binary("mockllm"), "--port", str(number)], stdout=subprocess.DEVNULL)
    folder = tempfile.mkdtemp(prefix="aigo-bench-", dir=HERE)
    bench = Bench(arguments, f"http://127.0.0.1:{number}/v1", folder)
    try:
        time.sleep(0.5)
        print(f"{'':34} {'calls/s':>9} {'CPU/call':>10} {'peak MB':>8} {'log MB':>7}")
        best = bench.speed() if arguments.rounds else 0
        if arguments.peers:
            bench.peers(best)
        if arguments.memory:
            bench.memory()
        if arguments.digests:
            bench.digests()
    finally:
        server.send_signal(signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if bench.missed else 0)


main()
