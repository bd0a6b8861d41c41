#!/bin/bash
# Runs inside the box: what systemd keeps for the daemon and hands to it, and the time that it gives.
. "${0%/*}/checks.sh"

install_daemon
for user in watcher:cairn looker:lookers; do
  groupadd --system -f "${user#*:}"
  useradd -M -N -g nogroup -G "${user#*:}" "${user%:*}"
done

# The control socket that the daemon makes itself: systemd keeps it over a crash.
begins "it starts without a socket unit" <<< ""
inode=$(stat -c %i /run/cairnd/control)
for _ in 1 2 3; do
  signal KILL
  # Between the crash and the next start there is no daemon for two seconds.
  check "who calls after a crash waits and is answered" cairnctl --timeout $patience status
done
comes "and served" serving
equals "at the same socket" "$inode 660 cairn cairn" "$(stat -c '%i %a %U %G' /run/cairnd/control)"
contains "where roles are as before" "serving, started" "$(runuser -u watcher -- cairnctl status)"
check "it restarts" systemctl restart cairnd.service
comes "and serves then" serving
rm /run/cairnd/control
signal KILL
comes "a file that an operator removed is made again" is_another
systemctl stop cairnd.service
equals "nothing is left after a stop but what the daemon did last" flight-recorder "$(ls /run/cairnd 2> /dev/null)"
cairnctl --timeout $patience status > /tmp/out 2>&1
equals "and nobody waits for a daemon that was stopped" 69 $?
systemctl start cairnd.service
comes "it starts again" serving
cp /etc/cairn/cairnd.yaml /tmp/cairnd.yaml
echo 'logs: {}' >> /etc/cairn/cairnd.yaml
signal KILL
cairnctl --timeout $patience status > /tmp/out 2>&1
contains "who waits for a daemon that cannot start is told why" "unknown key" "$(cat /tmp/out)"
given_up() { [ "$(property ActiveState)" = failed ]; }
comes "it gives up" given_up
cairnctl --timeout $patience status > /tmp/out 2>&1
equals "and nobody waits after it has given up" 69 $?
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml
begins "a mended configuration is enough" <<< ""
signal KILL
systemctl start cairnd.socket 2> /dev/null
comes "it serves with a socket unit that came later" serving
systemctl restart cairnd.service
comes "and after a restart with it" serving

# The group of a socket that systemd made is systemd's.
systemctl stop cairnd.service cairnd.socket
systemctl start cairnd.socket
begins "it starts by its socket unit" <<< ""
sed -i 's/^  statusGroup: .*/  statusGroup: lookers/' /etc/cairn/cairnd.yaml
cairnctl reload > /tmp/out 2>&1
equals "reload refuses a group that cannot connect" 1 $?
contains "with the key" "control.statusGroup" "$(cat /tmp/out)"
contains "and what to do" "SocketGroup=" "$(cat /tmp/out)"
check "the roles are as before" runuser -u watcher -- cairnctl status
mkdir -p /etc/systemd/system/cairnd.socket.d
printf '[Socket]\nSocketGroup=lookers\n' > /etc/systemd/system/cairnd.socket.d/group.conf
to_type=$(sed -n 's/.*then: \(systemctl [^)]*\)).*/\1/p' /tmp/out)
contains "the command is there" "systemctl restart cairnd.socket" "$to_type"
check "what it says to type works" bash -ec "$to_type"
comes "it serves with another group" serving
check "and the new group looks" runuser -u looker -- cairnctl status
runuser -u watcher -- cairnctl status > /tmp/out 2>&1
equals "and the old one does not" 69 $?
rm -r /etc/systemd/system/cairnd.socket.d
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml
systemctl stop cairnd.service cairnd.socket
systemctl daemon-reload

# Figures for node_exporter.
textfile=/var/lib/prometheus/node-exporter/cairn.prom
check "the units for node_exporter verify" systemd-analyze verify cairn-textfile.service cairn-textfile.timer
equals "they are off until they are enabled" disabled "$(systemctl is-enabled cairn-textfile.timer)"
mkdir -p "${textfile%/*}"
systemctl start cairnd.service
comes "the daemon serves" serving
check "the timer starts" systemctl start cairn-textfile.timer
comes "the figures are written" grep -q '^cairn_start_time_seconds' $textfile
equals "for every collector to read" "644 root" "$(stat -c '%a %U' $textfile)"
systemctl stop cairnd.service cairnd.socket
written=$(stat -c %Y $textfile)
check "without the daemon it is no failed unit" systemctl start cairn-textfile.service
equals "and the old file tells its age" "$written" "$(stat -c %Y $textfile)"
systemctl stop cairn-textfile.timer

# Figures at a socket that systemd made: nothing of them is in the configuration.
check "the unit of the socket for figures verifies" systemd-analyze verify cairnd-metrics.socket
equals "it is off until it is enabled" disabled "$(systemctl is-enabled cairnd-metrics.socket)"
# asked USER PATH
asked() { runuser -u "$1" -- curl -sS --unix-socket /run/cairnd/metrics "http://localhost/$2" 2>&1; }
is_ready() { [ "$(asked watcher ready)" = serving ]; }
check "the socket for figures starts" systemctl start cairnd-metrics.socket
equals "without the service" inactive "$(property ActiveState)"
contains "the first scraper starts the daemon and is answered" "cairn_build_info" "$(asked watcher metrics)"
comes "which says when it is ready" is_ready
equals "the socket is for the group" "660 cairn cairn" "$(stat -c '%a %U %G' /run/cairnd/metrics)"
contains "others do not get in" "curl: (7)" "$(asked looker health)"
check "it restarts with the socket" systemctl restart cairnd.service
comes "and answers there" is_ready
signal KILL
comes "and after a crash" is_ready
cp /etc/cairn/cairnd.yaml /tmp/cairnd.yaml
echo 'logs: {}' >> /etc/cairn/cairnd.yaml
systemctl restart cairnd.service 2> /dev/null
contains "a daemon that cannot start says so there" 503 \
  "$(runuser -u watcher -- curl -sS -o /dev/null -w '%{http_code}' --unix-socket /run/cairnd/metrics http://localhost/ready 2>&1)"
for _ in 1 2 3 4 5; do asked watcher ready > /dev/null; done
equals "and its socket outlives the scrapers" active "$(systemctl show -P ActiveState cairnd-metrics.socket)"
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml
comes "a mended configuration is enough, there as well" is_ready
systemctl stop cairnd.service cairnd-metrics.socket
equals "and the socket goes with its unit" flight-recorder "$(ls /run/cairnd 2> /dev/null)"
mkdir -p /etc/systemd/system/cairnd-metrics.socket.d
printf '[Socket]\nListenStream=\nListenStream=127.0.0.1:9464\n' > /etc/systemd/system/cairnd-metrics.socket.d/address.conf
systemctl daemon-reload
ip link set lo up
check "with an address in its place it starts" systemctl start cairnd-metrics.socket
contains "and is answered" "cairn_build_info" "$(curl -sS http://127.0.0.1:9464/metrics 2>&1)"
systemctl stop cairnd.service cairnd-metrics.socket
rm -r /etc/systemd/system/cairnd-metrics.socket.d
systemctl daemon-reload

# Files that only root can read reach the daemon as credentials.
secret=/etc/cairn/secret
mkdir -m 0700 $secret
check "a model for root's eyes is made" cairnctl model convert /etc/cairn/Model.xcdatamodeld $secret/Model.mom
chmod 0600 $secret/Model.mom
sed -i 's|^model: .*|model: ${CREDENTIALS_DIRECTORY}/Model.mom|' /etc/cairn/cairnd.yaml
begins "it serves with a model that is a credential" < /usr/share/doc/cairn/drop-ins/credentials.conf
check "and reloads" systemctl reload cairnd.service
equals "which its user cannot read where it comes from" 1 \
  "$(runuser -u cairn -- cat $secret/Model.mom > /dev/null 2>&1; echo $?)"
cairnd --config /etc/cairn/cairnd.yaml --check-config > /tmp/out 2>&1
contains "without systemd there are none, and it says so" "LoadCredential=" "$(cat /tmp/out)"
mv $secret/Model.mom $secret/Other.mom
systemctl restart cairnd.service 2> /dev/null
equals "a credential that is missing stops the start" 243 "$(property ExecMainStatus)"
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml

# A log that a killed program has left takes longer to read than systemd waits for a start.
begins "it starts as it was installed" <<< ""
cairnctl insert Package name=p0 > /dev/null
systemctl stop cairnd.service
cc -shared -fPIC -o /usr/local/lib/slow-disk.so "$project/Tests/sysbox/slow-disk.c" -ldl
check "a program that is killed leaves a log" python3 - << 'P'
import os, signal, sqlite3
if os.fork() == 0:
    store = sqlite3.connect("/var/lib/cairn/local.sqlite", isolation_level=None)
    store.execute("PRAGMA journal_mode = WAL")
    store.execute("PRAGMA wal_autocheckpoint = 0")
    for number in range(1200):
        store.execute("UPDATE ZPACKAGE SET ZSUMMARY = ?", ("x" * 4000 + str(number),))
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
P
size=$(stat -c %s /var/lib/cairn/local.sqlite-wal)
check "one of a size" test "$size" -gt 4000000
while sleep .05; do property StatusText; done > /tmp/texts &
watcher=$!
# Long enough for a machine that does much else meanwhile.
drop_in TimeoutStartSec=4 Environment=LD_PRELOAD=/usr/local/lib/slow-disk.so
check "a start that reads it is waited for" systemctl start cairnd.service
kill $watcher
took=$(($(property ActiveEnterTimestampMonotonic) - $(property InactiveExitTimestampMonotonic)))
echo "reading $((size / 1000000)) MB slowly took $((took / 1000)) ms"
check "longer than systemd waits otherwise" test $took -gt 4000000
contains "and says what it does" "Reading the log of the local store, " "$(sort -u /tmp/texts | tr '\n' ' ')"
equals "nobody killed it" "0 success" "$(property NRestarts) $(property Result)"
contains "and what was committed is there" "x1199" "$(cairnctl fetch Package --where 'name = "p0"' --format jsonl)"

# So does moving what was committed into the store's file, at the end.
begins "it starts with little time to stop" <<< "[Service]
TimeoutStopSec=4
Environment=LD_PRELOAD=/usr/local/lib/slow-disk.so"
check "something is written" cairnctl insert Package name=p1
begun=$(date +%s%N)
systemctl stop cairnd.service
took=$((($(date +%s%N) - begun) / 1000000))
echo "stopping took $took ms"
check "the stop takes longer than the unit allows" test $took -gt 4000
equals "and is waited for" "success 0" "$(property Result) $(property ExecMainStatus)"
equals "with everything in its file" "" "$(ls /var/lib/cairn/local.sqlite-wal 2> /dev/null)"
finish
