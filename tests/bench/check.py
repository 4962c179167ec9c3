"""`aigo check` beside yamllint, check-jsonschema and ryl: the same files, whole processes, one run.

The work is what `generate.py` writes: 1,000 and 10,000 task files of about 3.4 KB with their templates, and one file of a
megabyte. yamllint and ryl lint the YAML; check-jsonschema holds it against `task.schema.json`; aigo reads the language, its
expressions and templates, types them against the samples, and lowers the steps to look for paths on which a name is not bound. Each round runs every row once, so that
what else the machine does falls on all of them. CPU and peak memory are what the system counted for the process.

usage: check.py [--aigo PATH] [--peers PYTHON] [--rounds 5] [--no-peers]
`--peers` is a Python whose folder has yamllint, check-jsonschema and ryl; without it they are installed in a temporary one.
"""
import argparse, os, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
# What is wanted: wall seconds and peak megabytes.
TARGETS = {"aigo, 1,000 files": (0.12, 60), "aigo, 10,000 files": (1.2, None), "aigo, one file of 1 MB": (0.06, None), "aigo --version": (0.005, None)}


def measure(command, cwd):
    """Runs a command; gives wall seconds, CPU seconds, peak memory in MB and the exit code."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode


def peers(python, folder):
    """The folder of the peers' programs."""
    if python is None:
        place = os.path.join(folder, "peers")
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = os.path.join(place, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "yamllint", "check-jsonschema", "ryl"], check=True)
    found = os.path.dirname(os.path.abspath(python))
    for program in ("yamllint", "check-jsonschema", "ryl"):
        if not os.path.exists(os.path.join(found, program)):
            sys.exit(f"there is no {program} beside {python}")
    return found


def rows(arguments, folder, thousand, ten_thousand):
    """Name, command, and how many rounds are worth their time."""
    aigo, many = os.path.abspath(arguments.aigo), arguments.rounds
    check = [aigo, "check", "--deny", "warnings", "--format", "concise"]
    yield "a process that does nothing", ["true"], many
    yield "aigo --version", [aigo, "--version"], many
    yield "aigo, 1,000 files", check + thousand, many
    yield "aigo, 10,000 files", check + ten_thousand, many
    yield "aigo, one file of 1 MB", check + ["thousand/large.yaml"], many
    if not arguments.no_peers:
        found = peers(arguments.peers, folder)
        ryl = [os.path.join(found, "ryl"), "--no-cache"]
        rules = "{extends: relaxed, rules: {line-length: disable}}"
        yield "ryl, 1,000 files", ryl + ["-d", rules] + thousand, many
        yield "ryl, 10,000 files", ryl + ["-d", rules] + ten_thousand, many
        yield "ryl, one file of 1 MB", ryl + ["-d", rules, "thousand/large.yaml"], many
        # A tenth of the files: these two take seconds.
        schema = ["--schemafile", os.path.join(HERE, "task.schema.json")]
        yield "yamllint, 100 files", [os.path.join(found, "yamllint"), "-d", rules] + thousand[:100], 2
        yield "check-jsonschema, 100 files", [os.path.join(found, "check-jsonschema")] + schema + thousand[:100], 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--aigo", default=os.path.join(HERE, "../../target/release/aigo"))
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="aigo-check-")
    try:
        # In processes of their own: what this one has in memory counts at first for those that it starts.
        for name, extra in (("thousand", ["--files", "1000", "--large", "1000000"]), ("ten_thousand", ["--files", "10000"])):
            command = [sys.executable, os.path.join(HERE, "generate.py"), os.path.join(folder, name), *extra]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        paths = lambda name, count: [f"{name}/{n // 100:03}/task_{n:05}.yaml" for n in range(count)]
        table = list(rows(arguments, folder, paths("thousand", 1000), paths("ten_thousand", 10000)))
        found = {name: [] for name, _, _ in table}
        for at in range(arguments.rounds):
            for name, command, many in table:
                if at < many:
                    found[name].append(measure(command, folder))
        report(found)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(found):
    print(f"{'':30} {'best':>9} {'median':>9} {'CPU':>9} {'peak':>8} {'exit':>5}  target")
    for name, runs in found.items():
        walls = [run[0] for run in runs]
        cpu, peak = min(run[1] for run in runs), max(run[2] for run in runs)
        codes = ",".join(sorted({str(run[3]) for run in runs}))
        line = f"{name:30} {min(walls) * 1000:7.1f}ms {statistics.median(walls) * 1000:7.1f}ms {cpu * 1000:7.1f}ms {peak:6.1f}MB {codes:>5}"
        if name in TARGETS:
            wall, memory = TARGETS[name]
            met = min(walls) <= wall and (memory is None or peak <= memory)
            line += f"  {wall * 1000:.0f}ms" + (f" {memory}MB" if memory else "") + (": met" if met else ": MISSED")
        print(line)


if __name__ == "__main__":
    main()
