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
fuzz() {
  candidate="$work/$1"
  TMPDIR="${TMPDIR:-/tmp}" "$program" "$1" "Tests/Fuzzing/Corpora/$1" "$candidate" "$seconds" "$seed" && return
  echo "$1: an input ended its reader (seed $seed); again with: $program $1 $candidate"
  return 1
}
export -f fuzz
export program work seconds seed
# As many at a time as the machine has processors.
printf '%s\n' frames predicates configurations models archives changes stores \
  | xargs -P "$(nproc)" -I{} bash -c 'fuzz {}'
