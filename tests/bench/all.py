"""Every benchmark beside its peers and its floor, in one run, and what they said in a file.

Builds the release binary, and what stands in the folder of the peers, installs the peers from PyPI into a virtual environment,
runs the scripts one after the other, and writes what they print, with the day, the machine and the versions, into
`tests/bench/RESULTS.md`. Takes about half an hour on two idle cores. What is not there is left out, and the file says so.

usage: all.py [--bench BENCH] [--tau JSON] [--venv FOLDER] [--target FOLDER] [--only NAME,NAME] [--write FILE]
BENCH is the folder with `mockllm`, `floor` and `peers` (`../shared/bench` beside the project unless given), JSON a file of
recorded runs of tau-bench. The exit code is 0 whatever was measured: misses stand in the file.
"""
import argparse, datetime, os, platform, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.path.join(ROOT, "..", "shared")
PEERS = ["inspect-ai", "openai", "yamllint", "check-jsonschema", "ryl"]


def said(command, **more):
    """What a command prints, its messages among it, and its exit code."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, **more)
    return done.stdout.strip(), done.returncode


def line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def machine():
    """The processor, how many of it, the system."""
    model = "a processor of which the system says nothing"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((one.split(":", 1)[1].strip() for one in lines if one.startswith("model name")), model)
    return f"{os.cpu_count()} cores of {model}, {platform.system()} {platform.release().split('-')[0]}, {platform.machine()}"


def prepared(arguments):
    """Builds and installs; gives the Python of the peers, and the folder of the servers' builds."""
    subprocess.run(["cargo", "build", "--release", "--package", "aigo", "--locked", "--quiet"], cwd=ROOT, check=True)
    folder = arguments.venv or os.path.join(tempfile.gettempdir(), "aigo-bench-venv")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    target = arguments.target or os.path.join(tempfile.gettempdir(), "aigo-bench-target")
    if os.path.isdir(arguments.bench):
        for name in ("mockllm", "floor"):
            manifest = os.path.join(arguments.bench, name, "Cargo.toml")
            subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", manifest], env={**os.environ, "CARGO_TARGET_DIR": target}, check=True)
    return python, target


def works(arguments, python, target):
    """The scripts: what each is called, its command, and what has to be there."""
    script = lambda name, *more: [sys.executable, os.path.join(HERE, f"{name}.py"), *more]
    aigo = os.path.join(ROOT, "target", "release", "aigo")
    calls = script("calls", arguments.bench, "--target", target, "--peers", python, "--memory", "10000,100000", "--digests", "10000")
    size = script("log_size", "--tau", arguments.tau, "--show", "100000") if os.path.exists(arguments.tau) else script("log_size", "--show", "100000")
    return [
        ("check", "Checking", script("check", "--peers", python), None),
        ("compile", "Compiling", script("compile"), None),
        ("hostile", "Hostile files", script("hostile"), None),
        ("calls", "Runs beside the floor and the peers", calls, arguments.bench),
        ("log_size", "The log", size, None),
        ("report", "Reports", script("report", aigo), None),
        ("package", "Size", script("package"), None),
        ("parts", "Parts", ["cargo", "bench", "--quiet", "--package", "aigo-tests", "--bench", "parts"], None),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", default=os.path.join(SHARED, "bench"))
    parser.add_argument("--tau", default=os.path.join(SHARED, "data", "tau_bench", "gpt-4o-airline.json"))
    parser.add_argument("--venv")
    parser.add_argument("--target")
    parser.add_argument("--only")
    parser.add_argument("--write", default=os.path.join(HERE, "RESULTS.md"))
    arguments = parser.parse_args()
    python, target = prepared(arguments)
    day = datetime.date.today().isoformat()
    commit = line(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"])
    out = [
        "# Results\n",
        f"Written by `tests/bench/all.py` on {day}, commit {commit}: {machine()}; {line(['rustc', '--version'])}. Figures of one",
        "section were measured in one run and may be compared; those of two may not.\n",
    ]
    for name, title, command, needed in works(arguments, python, target):
        if arguments.only and name not in arguments.only.split(","):
            continue
        print(f"{name} …", flush=True)
        if needed and not os.path.exists(needed):
            out.append(f"## {title}\n\nLeft out: what it needs is not there.\n")
            continue
        start = time.perf_counter()
        text, code = said(command)
        text = text.replace(os.path.abspath(ROOT), ".").replace(os.path.abspath(SHARED), "SHARED")
        verdict = "All targets are met." if code == 0 else "A target is missed."
        out.append(f"## {title}\n\n`{name}`, {time.perf_counter() - start:.0f} s. {verdict}\n\n```text\n{text}\n```\n")
        print(text, flush=True)
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


main()
