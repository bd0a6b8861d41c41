#!/bin/bash
# Runs inside the box: a daemon with a stuck queue is killed by the watchdog, whatever else it does; one that waits
# for others, or whose replica hangs, is not.
. "${0%/*}/checks.sh"

install_daemon
cat > /etc/cairn/cairnd.yaml << 'Y'
model: /etc/cairn/Model.xcdatamodeld
replicas: [{name: backup, path: "${STATE_DIRECTORY}/backup.sqlite"}]
Y
cc -shared -fPIC -o /usr/local/lib/stuck-disk.so "$project/Tests/sysbox/stuck-disk.c" -ldl
# begins_with INTERVAL NAME
begins_with() {
  interval=$1
  begins "$2" << U
[Service]
WatchdogSec=$interval
RestartSec=100ms
Environment=LD_PRELOAD=/usr/local/lib/stuck-disk.so
U
}
begins_with 4 "it starts with a watchdog"
old=$(pid)
sleep $((interval * 2))
equals "which lets it be while it works" "$old" "$(pid)"
check "with a replica" cairnctl wait --timeout $patience

# What waits is no reason: another program has the lock for many intervals, and everything that writes stands in line.
python3 - > /tmp/holder << 'P' &
import sqlite3, time
store = sqlite3.connect("/var/lib/cairn/local.sqlite", isolation_level=None)
store.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(28)
store.execute("ROLLBACK")
P
holder=$!
comes "another program holds the lock" grep -q held /tmp/holder
for number in 1 2 3 4 5 6; do
  cairnctl --timeout $patience insert Package "name=w$number" > "/tmp/waiting-$number" 2>&1 &
done
check "reads go on beside a lock that is held" cairnctl fetch Package --limit 1
wait "$holder"
equals "a daemon that waits for a lock for long is left alone" "$old 0" "$(pid) $(property NRestarts)"
wait
check "and writes again" cairnctl insert Package name=after

# A replica that hangs is its link's business.
touch /run/stuck-replica
cairnctl insert Package name=replica > /dev/null
# Longer than a link may be silent, and than the watchdog waits then.
sleep $((interval * 12 + 2))
equals "a replica that hangs is no reason to kill it" "$old 0" "$(pid) $(property NRestarts)"
check "whose local store is served" cairnctl insert Package name=beside
rm /run/stuck-replica
check "and which gets to the replica once that answers" cairnctl wait --timeout $patience

# The time until then is for what must be seen before, on a busy machine, too.
begins_with 8 "it starts with another interval"

# dies NAME FLAG: the daemon hangs while the flag is there; prints after how many milliseconds it was killed.
dies() {
  old=$(pid)
  local restarts begun
  restarts=$(property NRestarts)
  touch "$2"
  begun=$(date +%s%N)
  # One after the other joins the line.
  if [ "$2" = /run/stuck-writes ]; then
    for number in 1 2 3 4 5 6 7 8; do
      cairnctl --timeout 30 insert Package "name=stuck$number" > /dev/null 2>&1 &
      sleep 1
    done &
  fi
  local last=0 now
  is_killed() {
    now=$(property WatchdogTimestampMonotonic)
    if [ "$(property NRestarts)" -gt "$restarts" ] || [ "$(pid)" != "$old" ]; then return 0; fi
    last=$now
    return 1
  }
  if [ "$2" = /run/stuck-writes ]; then
    sleep 1
    check "reads go on beside a write that is stuck" cairnctl --timeout $interval fetch Package --limit 1
  fi
  comes "$1" is_killed
  local killed=$((($(date +%s%N) - begun) / 1000000)) served
  rm "$2"
  comes "and serves again once the disk does" serving
  served=$((($(date +%s%N) - begun) / 1000000))
  contains "by the watchdog" "Watchdog timeout" "$(journal -o cat --since "@$((begun / 1000000000 - 1))")"
  local ended
  ended=$(journal -o json --since "@$((begun / 1000000000 - 1))" | grep 'Watchdog timeout' | tail -1 \
    | sed 's/.*"__MONOTONIC_TIMESTAMP" *: *"\([0-9]*\)".*/\1/')
  local silent=$(((ended - last) / 1000))
  echo "killed after $killed ms, $silent ms after its last sign of life, and served again after $served ms;" \
    "it has $interval s"
  check "not before its time was over" test "$silent" -ge $((interval * 1000 - 100))
  # What still answers reads when the flag is put up is followed by one sign more, a sixth of its time later at most;
  # a write that is stuck is followed by none.
  local more=0
  if [ "$2" = /run/stuck ]; then more=$((interval * 1000 / 6)); fi
  if calm; then
    # What it takes to notice the kill counts here, too.
    check "without a sign of life after it was stuck" test $((killed - silent)) -lt $((more + 900))
    check "killed and serving again within its time and a second, on a calm machine" \
      test "$served" -lt $((interval * 1000 + more + 1000))
  else
    echo "the machine is busy ($load %): within as long again"
    check "without a sign of life after it was stuck" test $((killed - silent)) -lt $((interval * 500))
    check "within twice its time, on a busy machine" test "$served" -lt $((interval * 2000))
  fi
}
dies "a daemon whose reads are stuck is killed" /run/stuck
dies "a daemon whose writes are stuck is killed while its reads go on" /run/stuck-writes
contains "and said what was stuck" "writes to the local store" "$(journalctl -u cairnd -o cat | grep 'watchdog is not fed')"
check "what was committed is there" test 1 = "$(cairnctl fetch Package --where 'name = "beside"' --format jsonl | wc -l)"
check "the stores agree" cairnctl verify
systemctl stop cairnd.service
finish
