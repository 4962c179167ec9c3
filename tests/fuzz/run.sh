#!/usr/bin/env bash
# Runs every fuzz target for so many seconds, beginning with the kept corpus, and prints executions and findings.
#
# usage: tests/fuzz/run.sh SECONDS [TARGET...]
#
# It needs `cargo install cargo-fuzz` and a C++ compiler. Any toolchain does: the flags that are unstable are allowed by
# RUSTC_BOOTSTRAP. All targets are built once; two run side by side, one on each core. What the fuzzer discovers goes to
# `target/corpus/TARGET` and not into the kept corpus; `tests/fuzz/keep.py` picks from it what is worth keeping. Inputs
# that fail are in `artifacts/TARGET`, and the exit code is 1.
set -euo pipefail
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
cd "$(dirname "$0")"
export RUSTC_BOOTSTRAP=1
mapfile -t targets < <(if (($#)); then printf '%s\n' "$@"; else cargo fuzz list --fuzz-dir .; fi)
cargo fuzz build --fuzz-dir . -s none
triple=$(rustc -vV | sed -n 's/^host: //p')
failed=0

fuzz() { # TARGET
  local target=$1 found kept=() words=()
  mkdir -p "target/corpus/$target" "artifacts/$target"
  [[ -d corpus/$target ]] && kept=("corpus/$target")
  [[ -f $target.dict ]] && words=("-dict=$target.dict")
  # A single input may take ten seconds and 512 MB; the stack is that of the command's workers.
  (
    ulimit -s 65536
    "target/$triple/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
      -print_final_stats=1 -artifact_prefix="artifacts/$target/" "${words[@]}" "target/corpus/$target" "${kept[@]}"
  ) >"target/$target.log" 2>&1 || true
  found=$(find "artifacts/$target" -type f -newer "target/corpus/$target/../.started" | wc -l)
  printf '%-12s %12s executions %6s per second %8s edges %4s findings\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "target/$target.log" | tail -n 1)" \
    "$(sed -n 's/^stat::average_exec_per_sec: *//p' "target/$target.log" | tail -n 1)" \
    "$(grep -o 'cov: [0-9]*' "target/$target.log" | tail -n 1 | cut -d' ' -f2)" "$found"
  [[ $found -eq 0 ]]
}

mkdir -p target/corpus
touch target/corpus/.started
running=()
for target in "${targets[@]}"; do
  fuzz "$target" &
  running+=($!)
  if ((${#running[@]} == 2)); then
    wait "${running[0]}" || failed=1
    running=("${running[1]}")
  fi
done
for job in "${running[@]}"; do
  wait "$job" || failed=1
done
for target in "${targets[@]}"; do
  find "artifacts/$target" -type f -newer target/corpus/.started -printf 'finding: tests/fuzz/%p\n' 2>/dev/null || true
done
exit $failed
