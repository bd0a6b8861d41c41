#!/bin/bash
# Fuzzes every reader of what comes from outside, SECONDS_EACH seconds each (30), from SEED on. An input that ends
# the reader by a signal is kept; put it into Tests/Fuzzing/Corpora once the fault is mended.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
swift="${SWIFT:-swift}"
seconds="${SECONDS_EACH:-30}"
seed="${CAIRN_TEST_SEED:-$RANDOM}"
cd "$root"
log="$(mktemp)"
"$swift" build --product cairn-fuzz >"$log" 2>&1 || { cat "$log"; exit 1; }
program="$("$swift" build --show-bin-path)/cairn-fuzz"
# Each input is written to a file first: in memory that is ten times as many of them.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi
work="$(mktemp -d -t cairn-fuzz.XXXXXX)"
trap 'rm -rf "$log"; rmdir "$work" 2>/dev/null || true' EXIT
failed=0
for target in frames predicates configurations models archives changes stores; do
  candidate="$work/$target"
  if ! TMPDIR="${TMPDIR:-/tmp}" "$program" "$target" "Tests/Fuzzing/Corpora/$target" "$candidate" "$seconds" "$seed"
  then
    failed=1
    echo "$target: an input ended its reader (seed $seed); again with: $program $target $candidate"
  fi
done
exit "$failed"
