"""How large aigo is: the release binary in bytes, the crates in it, and with `--cold` the seconds of a build from nothing.

usage: python3 tests/bench/package.py [--cold]

Exit 1 where the binary or the number of crates is above its limit. The time has none: machines differ.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 25_000_000
MOST_CRATES = 180


def crates():
    """As cargo resolves the binary alone, for this machine."""
    tree = ["cargo", "tree", "-p", "aigo", "-e", "normal", "--prefix", "none", "--offline"]
    text = subprocess.run(tree, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return len({line.removesuffix(" (*)").strip() for line in text.splitlines() if line.strip()})


def build(target):
    """The path of the release binary, built below this folder, and the seconds it took."""
    begun = time.monotonic()
    command = ["cargo", "build", "--release", "--locked", "-p", "aigo", "--target-dir", str(target)]
    subprocess.run(command, cwd=ROOT, check=True)
    return pathlib.Path(target) / "release" / "aigo", time.monotonic() - begun


def main():
    if "--cold" in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as target:
            binary, seconds = build(target)
            size = binary.stat().st_size
            print(f"cold build: {seconds:.0f} s on {os.cpu_count()} cores")
    else:
        binary, _ = build(ROOT / "target")
        size = binary.stat().st_size
    count = crates()
    print(f"binary: {size:,} bytes; {MOST_BYTES:,} are the most")
    print(f"crates: {count}; {MOST_CRATES} are the most")
    sys.exit(1 if size > MOST_BYTES or count > MOST_CRATES else 0)


if __name__ == "__main__":
    main()
