#!/bin/sh
# Shows the whole road on this machine's own data: a daemon on embedded SQLite, this machine's
# Debian packages imported into it, two replicas in step, a kill in the middle, and the proof that
# all stores agree. Ends non-zero if any differs, and leaves nothing running or lying about.
set -eu

here="$(cd "$(dirname "$0")" && pwd)"
cairnd="${CAIRN_BIN:?set CAIRN_BIN to the folder of cairnd and cairnctl}/cairnd"
cairnctl="$CAIRN_BIN/cairnctl"
CAIRN_DEMO="$(mktemp -d "${TMPDIR:-/tmp}/cairn-demo.XXXXXX")"
model="$here/DebianPackages.xcdatamodeld"
# What systemd sets for a service, here for one folder that goes away in the end.
export CONFIGURATION_DIRECTORY="$here" STATE_DIRECTORY="$CAIRN_DEMO" RUNTIME_DIRECTORY="$CAIRN_DEMO"
daemon=""
import=""

say() { printf '\n== %s\n' "$*"; }
ctl() { "$cairnctl" --socket "$CAIRN_DEMO/control" "$@"; }

cleanup() {
  status=$?
  trap - EXIT INT TERM
  if [ -n "$import" ]; then kill "$import" 2>/dev/null || true; fi
  if [ -n "$daemon" ]; then
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
  fi
  if [ "$status" -ne 0 ]; then
    echo "The demo failed (exit $status). The end of the daemon's log:" >&2
    tail -n 25 "$CAIRN_DEMO/log" >&2 2>/dev/null || true
  fi
  rm -rf "$CAIRN_DEMO"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start_daemon() {
  "$cairnd" --config "$here/cairnd.yaml" >>"$CAIRN_DEMO/log" 2>&1 &
  daemon=$!
  tries=0
  until ctl status >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! kill -0 "$daemon" 2>/dev/null; then
      echo "cairnd did not come up" >&2
      exit 1
    fi
    sleep 0.1
  done
}

count_packages() { ctl fetch Package --properties name --format jsonl | wc -l | tr -d ' '; }
count_records() { ctl --json status | sed -n 's/.*"records":\([0-9]*\).*/\1/p'; }

say "Reading this machine's package database"
sh "$here/packages-to-jsonl.sh" >"$CAIRN_DEMO/packages.jsonl"
total="$(wc -l <"$CAIRN_DEMO/packages.jsonl" | tr -d ' ')"
echo "$total packages, with their sections, maintainers and dependencies"

say "Starting cairnd on embedded SQLite, with one replica"
start_daemon
ctl status

say "Importing, while a second replica is added"
half=$((total / 2))
# The pipe holds little, so the mark appears when the daemon has about half of the rows.
{
  head -n "$half" "$CAIRN_DEMO/packages.jsonl"
  : >"$CAIRN_DEMO/half"
  tail -n "+$((half + 1))" "$CAIRN_DEMO/packages.jsonl"
} | ctl import - --entity Package --key name --batch 10 &
import=$!
ctl store add second sqlite "$CAIRN_DEMO/second.sqlite"
while [ ! -e "$CAIRN_DEMO/half" ] || [ "$(count_records)" -lt "$((total / 3))" ]; do
  kill -0 "$import" 2>/dev/null || break
done

say "Half-way: kill -9"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null || true
daemon=""
if wait "$import" 2>/dev/null; then
  echo "the import ended before the kill: nothing was interrupted" >&2
  exit 1
fi
import=""

say "Starting again, and importing again: rows that are there already stay as they are"
start_daemon
echo "$(count_packages) packages survived"
ctl import "$CAIRN_DEMO/packages.jsonl" --entity Package --key name

say "Waiting until every replica has everything"
ctl wait --for all --timeout 120
ctl status

say "Verifying: every record and property of every store"
ctl verify

say "Stopping the daemon"
kill "$daemon"
wait "$daemon"
daemon=""

say "The ten packages that most others depend on, from the second replica's own file"
"$cairnctl" fetch Package --file "$CAIRN_DEMO/second.sqlite" --model "$model" \
  --sort=-dependents.@count --limit 10 --properties name,dependents.@count,maintainer.name

for replica in local first second; do
  found="$("$cairnctl" fetch Package --file "$CAIRN_DEMO/$replica.sqlite" \
    --model "$model" --properties name --format jsonl | wc -l | tr -d ' ')"
  echo "$replica.sqlite holds $found packages"
  [ "$found" = "$total" ] || { echo "expected $total" >&2; exit 1; }
done

say "All stores agree."
