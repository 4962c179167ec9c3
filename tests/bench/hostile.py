"""Hostile files: each must end in a clear error, or be accepted where it is legal, within a second and 200 MB.

Every case is a process of its own, `aigo check FILE`. Wall time and peak memory are what the system counted for it; the codes
are those that it printed. A case whose codes are others than those wanted, or that took more, is marked, and the exit code is 1.

usage: hostile.py [--aigo PATH] [--only WORD]
"""
import argparse, os, re, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS, MEGABYTES, GIVE_UP = 1.0, 200, 30
TASK = """aigo: 1
name: hostile
models: {assistant: {scripted: [Hi.]}}
dataset: {samples: [{id: a, x: 1}]}
solvers:
  - user: Hello.
  - generate
scorers:
  - {name: polite, check: {not_contains: damn}}
"""
STEP = "  - user: "


def with_description(text):
    return TASK.replace("models:", f"description: {text}\nmodels:", 1)


def with_user(text):
    return TASK.replace("Hello.", text)


def bomb(levels, width):
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def aliased(text, uses):
    """A task whose dataset names a value and uses it often."""
    return TASK.replace("[{id: a, x: 1}]", f"[{{id: a, x: &x {text}, y: [{'*x, ' * uses}]}}]")


def merges(count):
    return "a0: &a0 {k0: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: 1}}\n" for n in range(1, count))


def cases():
    """Name, content, and the codes that must be among those printed: an empty set for a file that is accepted, whatever it is warned of, `None` where either
    will do as long as it is quick."""
    deep = 100_000
    yield "alias bomb", lambda: bomb(30, 9), {"E0201"}
    yield "alias bomb in a sample", lambda: TASK.replace("[{id: a, x: 1}]", "\n" + "".join(
        f"    - &a{n} {{id: s{n}, x: [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]}}\n" for n in range(30))).replace(
        "dataset: {samples: ", "dataset:\n  samples: ").replace("}]}}", "}]}"), {"E0116"}
    yield "long scalar aliased 20,000 times", lambda: aliased("x" * 100_000, 20_000), {"E0116"}
    yield "merge bomb", lambda: merges(3000), {"E0111"}
    yield "list of merges", lambda: "a: &a {k: 1}\nb: {<<: [" + "*a, " * 200_000 + "]}\n", {"E0114"}
    yield "chain of aliases", lambda: "- &a0 [x]\n" + "".join(f"- &a{n} [*a{n - 1}]\n" for n in range(1, 2000)), {"E0111"}
    yield "nested flow maps", lambda: "{a: " * deep, {"E0111"}
    yield "nested flow lists", lambda: "[" * deep, {"E0111"}
    yield "nested block lists", lambda: "- " * deep, {"E0111"}
    yield "nested explicit keys", lambda: "? " * deep, {"E0111"}
    yield "nested flow lists, closed", lambda: "[" * deep + "]" * deep, {"E0111"}
    yield "nested mixed", lambda: "- [" * deep, {"E0103"}
    yield "nested by indentation", lambda: "".join(f"{' ' * n}a:\n" for n in range(3000)), {"E0111"}
    yield "60 MB scalar", lambda: "aigo: 1\nname: " + "x" * 60_000_000 + "\n", {"E0102"}
    yield "8 MB scalar", lambda: with_description("x" * 8_000_000), set()
    yield "8 MB quoted scalar of escapes", lambda: with_description('"' + "\\n" * 4_000_000 + '"'), set()
    yield "8 MB block scalar", lambda: with_description("|\n" + "  line\n" * 1_100_000), set()
    yield "8 MB template text", lambda: with_user("x" * 8_000_000), None
    yield "10 M blank lines", lambda: TASK + "\n" * 10_000_000, {"E0102"}
    yield "8 M blank lines", lambda: TASK + "\n" * 8_000_000, set()
    yield "2 M flow entries", lambda: "a: [" + "1," * 2_000_000 + "]\n", {"E0117"}
    yield "400,000 flow entries", lambda: with_description("x") + "gates: [" + "1," * 400_000 + "]\n", None
    yield "2 M block entries", lambda: "- a\n" * 2_000_000, {"E0117"}
    yield "200,000 keys", lambda: "".join(f"k{n}: 1\n" for n in range(200_000)), {"E0201"}
    yield "100,000 samples", lambda: TASK.replace("[{id: a, x: 1}]", "[" + "{x: 1}, " * 100_000 + "]"), set()
    yield "1 M comments", lambda: TASK.replace("solvers:\n", "solvers:\n" + "  # c\n" * 1_000_000), {"E0103"}
    yield "invalid UTF-8", lambda: TASK.encode() + b"# \xff\n", {"E0101"}
    yield "a file cut inside a character", lambda: TASK.encode() + b"# \xe2\x82", {"E0101"}
    yield "UTF-16, little, with mark", lambda: TASK.encode("utf-16"), {"E0101"}
    yield "UTF-16, big, with mark", lambda: b"\xfe\xff" + TASK.encode("utf-16-be"), {"E0101"}
    yield "UTF-16, little, without mark", lambda: TASK.encode("utf-16-le"), {"E0101"}
    yield "UTF-16, big, without mark", lambda: TASK.encode("utf-16-be"), {"E0101"}
    yield "UTF-32", lambda: TASK.encode("utf-32"), {"E0101"}
    yield "a binary", lambda: os.urandom(1 << 20), {"E0101"}
    yield "NUL", lambda: TASK.replace("Hello", "Hel\0lo"), {"E0103"}
    yield "only NUL", lambda: "\0" * 1_000_000, {"E0103"}
    yield "escape character", lambda: TASK.replace("Hello", "Hel\x1b[31mlo"), {"E0103"}
    yield "lone carriage returns", lambda: TASK.replace("\n", "\r"), set()
    yield "mixed line ends", lambda: TASK.replace("\n", "\r\n", 3), set()
    yield "byte order mark at the start", lambda: "\ufeff" + TASK, set()
    yield "byte order mark in the middle", lambda: TASK.replace("solvers:", "\ufeffsolvers:"), {"E0103"}
    yield "byte order mark in a value", lambda: TASK.replace("Hello", "Hel\ufefflo"), None
    yield "unknown aliases", lambda: "- *a\n" * 100_000, {"E0106"}
    yield "anchors and wrong aliases", lambda: "- &a x\n" * 50_000 + "- *b\n" * 50_000, {"E0106"}
    yield "500 syntax errors", lambda: "a: b: c\n" * 500, {"E0103", "E0118"}
    yield "8 MB of syntax errors", lambda: "a: b: c\n" * 1_000_000, {"E0103", "E0118"}
    yield "open quotes", lambda: 'a: "x\n' * 100_000, {"E0103"}
    yield "staircase of brackets", lambda: "".join(f"{' ' * (900 - n)}}}\n" for n in range(900)), {"E0103"}
    yield "colons", lambda: "a: " * deep, {"E0103"}
    yield "tabs", lambda: "\t" * 1_000_000 + "a: 1\n", None
    yield "documents", lambda: "---\na: 1\n" * 100_000, {"E0112"}
    yield "directives", lambda: "%A b\n" * 100_000, None
    yield "tags", lambda: "- !!str " * 10_000, {"E0103"}
    yield "template of operators", lambda: with_user("'{{ 1" + " + 1" * 1_300 + " }}'"), {"E0402"}
    yield "template of signs", lambda: with_user("'{{ " + "not " * 1_300 + "true }}'"), {"E0402"}
    yield "template of brackets", lambda: with_user("'{{ " + "(" * 5_000 + " }}'"), {"E0402"}
    yield "template of attributes", lambda: with_user("'{{ last" + ".a" * 2_500 + " }}'"), {"E0402"}
    yield "template of openings", lambda: with_user("'" + "{{" * 30_000 + "'"), {"E0402"}
    yield "template of branches", lambda: with_user("'{% if x == 1 %}" + "{% elif x == 1 %}" * 300 + "{% endif %}'"), None
    yield "10,000 steps", lambda: TASK.replace("  - generate\n", "  - generate\n" + "  - user: Hi {{ x }}\n  - generate\n" * 5_000), set()
    yield "10,000 labels", lambda: TASK.replace("  - generate\n", "".join(f"  - generate: {{as: l{n}}}\n  - user: Hi.\n" for n in range(5_000)) + "  - generate\n"), set()
    yield "3,000 scorers", lambda: TASK + "".join(f"  - {{name: s{n}, check: {{contains: x}}}}\n" for n in range(3_000)), set()
    yield "a matrix of ten million", lambda: TASK.replace("{samples: [{id: a, x: 1}]}", "{matrix: {" + ", ".join(f"{c}: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]" for c in "xabcdef") + "}}"), None


def write(wanted, path):
    content = next(content for name, content, _ in cases() if name == wanted)()
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def run(command, folder):
    """Wall seconds, peak MB, exit code and output of a process that is ended when it takes far too long."""
    start = time.perf_counter()
    with open(os.path.join(folder, "output"), "w+b") as output:
        process = subprocess.Popen(["timeout", "-s", "KILL", str(GIVE_UP)] + command, cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return wall, usage.ru_maxrss / 1024, process.returncode, output.read(4 << 20).decode("utf-8", "replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--aigo", default=os.path.join(HERE, "../../target/release/aigo"))
    parser.add_argument("--only", default="")
    parser.add_argument("--write", nargs=2, metavar=("CASE", "PATH"), help="only write the file of one case")
    arguments = parser.parse_args()
    if arguments.write:
        return write(*arguments.write)
    folder, bad = tempfile.mkdtemp(prefix="aigo-hostile-"), 0
    try:
        for name, _, wanted in cases():
            if arguments.only not in name:
                continue
            # A process of its own: what this one has in memory counts at first for those that it starts.
            subprocess.run([sys.executable, os.path.abspath(__file__), "--write", name, os.path.join(folder, "task.yaml")], check=True)
            wall, peak, code, output = run([os.path.abspath(arguments.aigo), "check", "--format", "concise", "task.yaml"], folder)
            codes = sorted(set(re.findall(r"(?:error|warning|note)\[([A-Z]\d{4})\]", output)))
            right = code in (0, 2, 3) and (wanted is None or (wanted <= set(codes) if wanted else code == 0 and not any(one.startswith("E") for one in codes)))
            marks = [mark for mark, wrong in (("CODES", not right), ("TIME", wall > SECONDS), ("MEMORY", peak > MEGABYTES)) if wrong]
            bad += bool(marks)
            print(f"{name:36} {wall * 1000:8.1f}ms {peak:7.1f}MB  exit {code:3}  {' '.join(codes[:8])}{'  ' + ' '.join(marks) if marks else ''}", flush=True)
            if "CODES" in marks:
                print(f"    wanted {wanted or 'nothing'}: {output[:300]!r}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
