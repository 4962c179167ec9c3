"""aigo beside the floor and the peers, on the same work, in one run.

The work: N conversations of 8 scripted user turns with the full history on every call, then one judge call each (9 N calls),
against a server on loopback that answers at once. Every row is a process of its own; CPU and memory are what the system
counted for it. Compare the ratios of one run; figures of two runs say nothing beside each other.

usage: side_by_side.py BENCH [--aigo PATH] [--n 20000] [--connections 64] [--peers PYTHON]
BENCH is the folder with `mockllm`, `floor` and `peers`, built (`cargo build --release` in the first two). Where it is absent
this says so and ends.
"""
import argparse, os, re, resource, shutil, signal, socket, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
TURNS = 8
LINE = "Turn {turn} of conversation {{{{ n }}}}: I am on the Pro plan and I would like to know about seats and billing."


def task(url):
    lines = "\n".join(f"      - \"{LINE.format(turn=turn)}\"" for turn in range(TURNS))
    model = f"{{model: openai_compatible/mock, base_url: \"{url}\"}}"
    return f"""aigo: 1
name: bench
models:
  assistant: {model}
  judge: {{model: openai_compatible/mock, base_url: "{url}"}}
dataset: {{file: rows.jsonl}}
solvers:
  - script:
{lines}
scorers:
  - name: retention
    judge: {{rubric: The assistant keeps the facts that the user stated., evidence: pair}}
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


def run_aigo(aigo, url, n, connections, folder, durability="batch"):
    where = os.path.join(folder, f"aigo-{n}-{durability}")
    os.makedirs(where)
    with open(os.path.join(where, "rows.jsonl"), "w") as rows:
        rows.writelines(f'{{"id":"{i}","n":{i}}}\n' for i in range(n))
    with open(os.path.join(where, "task.yaml"), "w") as file:
        file.write(task(url))
    measured = measure([aigo, "run", "task.yaml", "-j", str(connections), "--durability", durability, "--format", "json"], cwd=where)
    runs = os.path.join(where, "runs")
    log = os.path.join(runs, os.listdir(runs)[0], "log.jsonl")
    return measured, os.path.getsize(log), where


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("--aigo", default=os.path.join(HERE, "../../target/release/aigo"))
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--peers", help="a Python with inspect-ai and openai")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.bench):
        print(f"skipped: there is no {arguments.bench}")
        return
    aigo = os.path.abspath(arguments.aigo)
    number = port()
    url = f"http://127.0.0.1:{number}/v1"
    server = subprocess.Popen([f"{arguments.bench}/mockllm/target/release/mockllm", "--port", str(number)], stdout=subprocess.DEVNULL)
    folder = tempfile.mkdtemp(prefix="aigo-bench-", dir=HERE)
    calls = (TURNS + 1) * arguments.n
    try:
        time.sleep(0.5)
        print(f"{'':28} {'calls/s':>9} {'CPU/call':>10} {'peak MB':>8} {'log MB':>7}")

        def row(name, calls, wall, cpu, memory, log=None):
            size = f"{log / 1e6:.1f}" if log else ""
            print(f"{name:28} {calls / wall:9.0f} {1000 * cpu / calls:8.3f}ms {memory:8.1f} {size:>7}", flush=True)

        for _ in range(arguments.rounds):
            log = os.path.join(folder, "floor.log")
            floor = [f"{arguments.bench}/floor/target/release/floor", str(arguments.n), str(TURNS + 1), str(arguments.connections), url + "/chat/completions", log]
            _, wall, cpu, memory = measure(floor)
            row("floor", calls, wall, cpu, memory, os.path.getsize(log))
            (_, wall, cpu, memory), size, where = run_aigo(aigo, url, arguments.n, arguments.connections, folder)
            row("aigo, durable", calls, wall, cpu, memory, size)
            runs = os.path.join(where, "runs")
            _, wall, cpu, memory = measure([aigo, "replay", "last", "--runs", runs, "--format", "json"])
            row("aigo replay", calls, wall, cpu, memory)
            shutil.rmtree(where)
        for n in (1000, 20000):
            (_, wall, cpu, memory), size, where = run_aigo(aigo, url, n, arguments.connections, folder)
            row(f"aigo, {n} conversations", (TURNS + 1) * n, wall, cpu, memory, size)
            shutil.rmtree(where)
        if arguments.peers:
            peers = os.path.join(arguments.bench, "peers")
            for name, script, extra in (("openai client by hand", "handrolled_conversations.py", []), ("Inspect AI", "inspect_conversations.py", [os.path.join(folder, "logs")])):
                command = [arguments.peers, os.path.join(peers, script), "300", str(TURNS), str(arguments.connections), url, *extra]
                output, wall, cpu, memory = measure(command)
                rate = float(re.search(r"([\d.]+) calls/s", output).group(1))
                count = 300 * (TURNS + 1)
                row(name, count, count / rate, cpu, memory)
    finally:
        server.send_signal(signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


main()
