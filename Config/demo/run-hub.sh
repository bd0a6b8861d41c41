#!/bin/sh
# Shows two machines that agree through PostgreSQL: a server of Debian's package in a temporary folder, two daemons with
# a half of this machine's packages each, one of them and the server killed half-way, and in the end all stores equal
# and read by plain SQL. Ends non-zero if any differs, and leaves nothing running or lying about.
set -eu

here="$(cd "$(dirname "$0")" && pwd)"
cairnd="${CAIRN_BIN:?set CAIRN_BIN to the folder of cairnd and cairnctl}/cairnd"
cairnctl="$CAIRN_BIN/cairnctl"
server="$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)"
if [ -z "$server" ]; then
  echo "This demo takes a PostgreSQL server: make postgresql-server" >&2
  exit 1
fi
demo="$(mktemp -d "${TMPDIR:-/tmp}/cairn-hub.XXXXXX")"
chmod 755 "$demo"
mkdir "$demo/server"
# Servers refuse to run as root.
as_server() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  user=postgres
  id "$user" >/dev/null 2>&1 || user=nobody
  chown "$user" "$demo/server"
  as_server() { runuser -u "$user" -- "$@"; }
fi
hub="host=$demo/server dbname=inventory user=cairn"
import=""

say() { printf '\n== %s\n' "$*"; }
# The first argument is the daemon.
ctl() {
  name="$1"
  shift
  "$cairnctl" --socket "$demo/$name.control" "$@"
}
sql() { "$server/psql" -X -q -A -t -d "$hub" -c "$1"; }
process() { cat "$demo/$1.pid" 2>/dev/null || true; }

cleanup() {
  status=$?
  trap - EXIT INT TERM
  for job in "$import" "$(process west)" "$(process east)"; do
    if [ -n "$job" ]; then kill "$job" 2>/dev/null || true; fi
  done
  as_server "$server/pg_ctl" -D "$demo/server/data" -m immediate stop >/dev/null 2>&1 || true
  if [ "$status" -ne 0 ]; then
    echo "The demo failed (exit $status). The ends of the logs:" >&2
    tail -n 15 "$demo"/*.log "$demo/server/log" >&2 2>/dev/null || true
  fi
  rm -rf "$demo"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start_server() {
  # From a folder that its user may enter.
  (cd "$demo/server" && as_server "$server/pg_ctl" -D data -w -t 60 -l log start >/dev/null)
}

start_daemon() {
  "$cairnd" --config "$demo/$1.yaml" >>"$demo/$1.log" 2>&1 &
  echo $! >"$demo/$1.pid"
  tries=0
  until ctl "$1" status >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! kill -0 "$(process "$1")" 2>/dev/null; then
      echo "cairnd $1 did not come up" >&2
      exit 1
    fi
    sleep 0.1
  done
}

count() { "$cairnctl" fetch Package --file "$demo/$1.sqlite" --model "$model" --properties name --format jsonl | wc -l; }
model="$here/DebianPackages.xcdatamodeld"

say "Reading this machine's package database"
sh "$here/packages-to-jsonl.sh" >"$demo/packages.jsonl"
total="$(wc -l <"$demo/packages.jsonl" | tr -d ' ')"
head -n "$((total / 2))" "$demo/packages.jsonl" >"$demo/west.jsonl"
tail -n "+$((total / 2 + 1))" "$demo/packages.jsonl" >"$demo/east.jsonl"
echo "$total packages"

say "Starting PostgreSQL in a temporary folder"
(
  cd "$demo/server"
  as_server "$server/initdb" -D data -U cairn -A trust -E UTF8 --locale=C >/dev/null
  {
    echo "unix_socket_directories = '$demo/server'"
    echo "listen_addresses = ''"
  } | as_server tee -a data/postgresql.conf >/dev/null
)
start_server
"$server/createdb" -h "$demo/server" -U cairn inventory

say "Starting two daemons, each with a store of its own and a half of the packages to come"
for name in west east; do
  cat >"$demo/$name.yaml" <<YAML
model: $model
control: { socket: $demo/$name.control }
local: { path: $demo/$name.sqlite }
sync: { maxRetryDelay: 1s }
YAML
  chmod 600 "$demo/$name.yaml"
  start_daemon "$name"
done
ctl west import "$demo/west.jsonl" --entity Package --key name

say "cairnctl store add hub postgresql '$hub'"
for name in west east; do ctl "$name" store add hub postgresql "$hub" --wait; done

say "Importing the other half, and half-way: kill -9 of a daemon and of the server"
half=$(($(wc -l <"$demo/east.jsonl") / 2))
# The pipe holds little, so the mark appears when the daemon has about half of the rows.
{
  head -n "$half" "$demo/east.jsonl"
  : >"$demo/half"
  tail -n "+$((half + 1))" "$demo/east.jsonl"
} | ctl east import - --entity Package --key name --batch 10 >/dev/null 2>&1 &
import=$!
until [ -e "$demo/half" ] || ! kill -0 "$import" 2>/dev/null; do sleep 0.05; done
kill -9 "$(process east)" "$(head -n 1 "$demo/server/data/postmaster.pid")"
wait "$import" 2>/dev/null || true
import=""
tries=0
# The sessions notice that the first process is gone, and go too.
until start_server 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || exit 1
  sleep 0.1
done
start_daemon east
ctl east import "$demo/east.jsonl" --entity Package --key name

say "Waiting until all agree"
# Twice: what the second brings has to come back to the first, too.
for name in west east west; do ctl "$name" wait --for hub --timeout 120; done
ctl west status

say "Verifying: every record and property of every store"
for name in west east; do ctl "$name" verify --level full; done

say "The ten packages that most others depend on, asked in plain SQL"
sql "SELECT rpad(p.name, 30) || count(*) FROM cairn.package p
  JOIN cairn.package_dependents d ON d.package_id = p.cairn_id
  GROUP BY p.name ORDER BY count(*) DESC, p.name LIMIT 10"

for name in west east; do
  kill "$(process "$name")"
  while kill -0 "$(process "$name")" 2>/dev/null; do sleep 0.05; done
done
found="$(sql "SELECT count(*) FROM cairn.package")"
echo "the hub holds $found packages, west $(count west), east $(count east)"
for held in "$found" "$(count west)" "$(count east)"; do
  [ "$held" -eq "$total" ] || { echo "expected $total" >&2; exit 1; }
done

say "Two machines and their hub agree."
