#!/bin/sh
# Runs the tests under ThreadSanitizer or AddressSanitizer: sanitize.sh thread|address [FILTER…]
#
# A FILTER is a regular expression for names of tests, as `swift test --filter` takes it. Reports go
# to .build/sanitize-KIND/reports; one report, or a failing test, fails the run. Takes 20 minutes
# and more, so CI does not run it: run it after changes of locks, queues and unsafe memory.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
swift="${SWIFT:-swift}"
kind="${1:-thread}"
[ $# -gt 0 ] && shift
case "$kind" in thread | address) ;; *) echo "usage: sanitize.sh thread|address [FILTER…]"; exit 64 ;; esac
scratch="$root/.build/sanitize-$kind"
reports="$scratch/reports"
rm -rf "$reports"
mkdir -p "$reports"

# Teaches ThreadSanitizer what Swift's mutex does, and makes sure that it has learned it.
prepare_thread() {
  # The toolchain's own compiler: it knows Swift's calling convention.
  clang="$(dirname "$(readlink -f "$(command -v "$swift")")")/clang"
  mutex="$scratch/mutex.so"
  "$clang" -shared -fPIC -O1 -Wall -Wextra -Werror -o "$mutex" "$root/Tests/Sanitizers/mutex.c"
  check="$scratch/mutex-check"
  "${swift}c" -swift-version 6 -sanitize=thread -o "$check" "$root/Tests/Sanitizers/mutex-check.swift"
  LD_PRELOAD="$mutex" TSAN_OPTIONS="exitcode=66" "$check" >"$scratch/mutex-check.log" 2>&1 || {
    echo "ThreadSanitizer does not understand this toolchain's Mutex; see Tests/Sanitizers/mutex.c"
    exit 1
  }
  if LD_PRELOAD="$mutex" TSAN_OPTIONS="exitcode=66" "$check" race >"$scratch/mutex-check.log" 2>&1
  then
    echo "ThreadSanitizer does not report a race"
    exit 1
  fi
}

if [ "$kind" = thread ]; then prepare_thread; fi
cd "$root"
"$swift" build --build-tests --sanitize "$kind" --scratch-path "$scratch"
bin="$("$swift" build --build-tests --sanitize "$kind" --scratch-path "$scratch" --show-bin-path)"
tests="$(ls -d "$bin"/*PackageTests.xctest)"

export CAIRN_TEST_SEED="${CAIRN_TEST_SEED:-7}"
# A thousand tests that begin at once keep each other waiting, the more so when each is slow.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}"
symbols="$(command -v llvm-symbolizer || true)"
options="exitcode=66:halt_on_error=0:log_path=$reports/report${symbols:+:external_symbolizer_path=$symbols}"
export TSAN_OPTIONS="$options"
export ASAN_OPTIONS="$options:detect_leaks=1"
filters=""
for filter in "$@"; do filters="$filters --filter $filter"; done
status=0
# shellcheck disable=SC2086 # Filters are words of their own.
env ${mutex:+LD_PRELOAD="$mutex"} "$tests" --testing-library swift-testing $filters || status=$?
count="$(cat "$reports"/* 2>/dev/null | grep -c '^SUMMARY' || true)"
if [ "$count" != 0 ]; then
  echo "$count reports in $reports:"
  cat "$reports"/* | grep '^SUMMARY' | sort | uniq -c | sort -rn
  exit 1
fi
exit "$status"
