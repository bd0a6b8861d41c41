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
# What seems leaked is judged below; programs that end in the middle of things are not.
export LSAN_OPTIONS="exitcode=0"
filters=""
for filter in "$@"; do filters="$filters --filter $filter"; done
# systemd gives the service an environment of its own, without the options above.
filters="$filters --skip UnitFileTests"
# With Foundation's Process the daemon's tests crashed: ThreadSanitizer lets go of a thread before
# CoreFoundation frees its run loop. They start programs by themselves now, and wait to be tried again.
if [ "$kind" = thread ]; then filters="$filters --skip CairnDaemonTests"; fi
status=0
# shellcheck disable=SC2086 # Filters are words of their own.
env ${mutex:+LD_PRELOAD="$mutex"} "$tests" --testing-library swift-testing $filters || status=$?

# Swift keeps marks in the unused bits of pointers to strings, data and enum payloads, and
# LeakSanitizer takes what only such a pointer leads to for leaked. An object of a class of ours has
# plain references, so these are believed: a cycle holds them. Only the tests' own process counts.
# Not believed: IDs, which entries of tables mark, and the one or two validation predicates of the
# models that the last tests leave (thousands of models leave no more of them, and often none).
leaked_objects() {
  grep -l "Tests/" "$reports"/* 2>/dev/null | xargs -r awk '
    / leak of /    { objects = $(NF - 3); depth = 0 }
    /^    #[0-9]/  { depth++
                     if (depth <= 5 && match($0, /\$s[0-9]+Cairn[A-Za-z0-9_]*C[A-Za-z0-9_]*fC /)) {
                       name = substr($0, RSTART, RLENGTH - 1)
                       if (name !~ /15ManagedObjectID/) counts[name] += objects
                       depth = 99 } }
    END            { for (name in counts)
                       if (name !~ /19ComparisonPredicate/ || counts[name] > 2) print counts[name], name }' |
    "$(dirname "$(readlink -f "$(command -v "$swift")")")/swift-demangle" -compact -simplified
}

count="$(cat "$reports"/* 2>/dev/null | grep '^SUMMARY' | grep -vc 'leaked in' || true)"
if [ "$count" != 0 ]; then
  echo "$count reports in $reports:"
  cat "$reports"/* | grep '^SUMMARY' | sort | uniq -c | sort -rn
  exit 1
fi
leaked="$(leaked_objects)"
if [ -n "$leaked" ]; then
  printf 'leaked, see %s:\n%s\n' "$reports" "$leaked"
  exit 1
fi
exit "$status"
