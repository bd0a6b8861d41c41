#!/bin/bash
# Runs inside the box: installs the daemon and its units and tries what operators rely on.
. "${0%/*}/checks.sh"

# Installation: what `make install` installs, with the programs that are built already.
rm -rf /etc/cairn
check "make install works" reinstall_daemon
check "sysusers makes the user and its groups" systemd-sysusers
check "the catalog is accepted" journalctl --update-catalog
add_people
mkdir -p /etc/cairn
printf 'model: /etc/cairn/Missing.xcdatamodeld\n' > /etc/cairn/cairnd.yaml
watchdog=6
drop_in WatchdogSec=$watchdog

check "the units verify" systemd-analyze verify cairnd.service cairnd.socket
check "what presets are for is done" systemctl preset cairnd.service cairnd.socket cairnd-page.service
equals "and nothing is enabled by them" "disabled disabled disabled" \
  "$(systemctl is-enabled cairnd.service cairnd.socket cairnd-page.service | xargs)"

# A daemon that cannot open its store is up, degraded, and says why.
check "the service becomes READY" systemctl start cairnd.service
if [ "$(property ActiveState)" != active ]; then
  systemctl status cairnd.service
  journalctl -u cairnd
  exit 1
fi
equals "it is active" active "$(property ActiveState)"
contains "the status text says what is wrong" "Degraded:" "$(property StatusText)"
status=$(cairnctl status)
contains "cairnctl gets an answer" "degraded" "$status"
equals "the socket has the right mode and owner" "660 cairn cairn" "$(stat -c '%a %U %G' /run/cairnd/control)"

# Roles.
check "a member of cairn may look" runuser -u watcher -- cairnctl status
runuser -u watcher -- cairnctl pause > /tmp/out 2>&1
equals "a member of cairn may not change anything" 1 $?
contains "and is told so" "permission denied" "$(cat /tmp/out)"
runuser -u operator -- cairnctl pause > /tmp/out 2>&1
contains "a member of cairn-admin may" "the daemon is degraded" "$(cat /tmp/out)"
runuser -u stranger -- cairnctl status > /tmp/out 2>&1
equals "anybody else is kept out" 69 $?

# The journal.
journal=$(journalctl -u cairnd -o json MESSAGE_ID="$(message_id started)")
contains "the start is in the journal with its fields" '"CAIRN_VERSION"' "$journal"
contains "under its own name" '"SYSLOG_IDENTIFIER":"cairnd"' "$journal"
contains "the catalog explains what is degraded" "Cairn works in part only" \
  "$(journalctl -x -u cairnd MESSAGE_ID="$(message_id degraded)" --no-pager)"
equals "libdispatch does not complain" 0 "$(journalctl -u cairnd | grep -c 'thread priority')"

# A reload of a configuration that cannot be used fails, and the daemon goes on.
for text in 'model: relative.mom' 'model: /etc/cairn/Missing.xcdatamodeld'; do
  echo "$text" > /etc/cairn/cairnd.yaml
  if systemctl reload cairnd.service 2> /dev/null; then
    fail "reload refuses $text" "it succeeded"
  else
    ok "reload refuses $text"
  fi
  equals "and the daemon goes on" active "$(property ActiveState)"
  contains "and says file, line and key" "/etc/cairn/cairnd.yaml:1:8: model: " "$(journal -o cat -n 10)"
done

# The watchdog.
old=$(pid)
sleep $((watchdog * 3 / 2))
equals "the watchdog is fed" "$old" "$(pid)"
signal STOP
comes "a hung daemon is restarted" bash -c \
  '[ "$(systemctl show -P NRestarts cairnd)" = 1 ] && [ "$(systemctl show -P ActiveState cairnd)" = active ]'
check "and answers again" cairnctl status

# Stopping.
check "stop succeeds" systemctl stop cairnd.service
equals "cleanly" success "$(property Result)"
equals "with code 0" 0 "$(property ExecMainStatus)"
contains "after saying so" "stopping" "$(journalctl -u cairnd -o cat MESSAGE_ID="$(message_id stopping)")"
equals "and the socket that it made is gone" flight-recorder "$(ls /run/cairnd 2> /dev/null)"

# Socket activation.
systemctl reset-failed cairnd.service 2> /dev/null
check "the socket unit starts" systemctl start cairnd.socket
equals "without the service" inactive "$(property ActiveState)"
# It may still be starting when it answers.
mended() { cairnctl status 2>&1 | grep -q 'Missing.xcdatamodeld cannot be used'; }
check "the first caller starts the service and is answered" cairnctl status
comes "which says what is wrong" mended
systemctl stop cairnd.service
equals "the socket outlives the service" active "$(systemctl show -P ActiveState cairnd.socket)"
check "and starts it for the next caller" cairnctl status
comes "which says what is wrong" mended

# The socket is there for callers whatever becomes of the daemon behind it.
is_new() { local now && now=$(pid) && [ "$now" -gt 1 ] && [ "$now" != "$old" ] && cairnctl status > /dev/null; }
old=$(pid)
systemctl restart cairnd.service
comes "callers connect after a restart" is_new
signal KILL
comes "and after a crash" is_new
signal STOP
comes "and after the watchdog" is_new
for number in 1 2 3 4 5 6; do
  signal KILL
  comes "and after crash $number of those that follow" is_new
done
equals "and after one crash after another" "active active" \
  "$(systemctl show -P ActiveState cairnd.socket) $(property ActiveState)"
systemctl stop cairnd.service cairnd.socket
equals "no socket is left when both units are stopped" flight-recorder "$(ls /run/cairnd 2> /dev/null)"

# A wrong configuration.
printf 'model: /etc/cairn/Missing.xcdatamodeld\nlog: {levl: info}\n' > /etc/cairn/cairnd.yaml
systemctl start cairnd.service 2> /dev/null
equals "a wrong configuration ends with 78" 78 "$(property ExecMainStatus)"
equals "and is not tried again" 0 "$(property NRestarts)"
contains "the journal names file, line and key" "cairnd.yaml:2:7: log.levl: unknown key" "$(journal -o cat)"
contains "and in the same round what else has to be mended" "cairnd.yaml:1:8: model: the model /etc/cairn/Missing" \
  "$(journal -o cat)"
systemctl reset-failed cairnd.service
systemctl start cairnd.socket
cairnctl status > /tmp/out 2>&1
contains "a waiting caller is told" "log.levl" "$(cat /tmp/out)"
for _ in $(seq 30); do
  cairnctl status > /tmp/out 2>&1
  grep -q log.levl /tmp/out || break
done
contains "so are thirty more" "log.levl" "$(cat /tmp/out)"
equals "whom the socket unit survives" active "$(systemctl show -P ActiveState cairnd.socket)"
printf 'model: /etc/cairn/Missing.xcdatamodeld\n' > /etc/cairn/cairnd.yaml
comes "a mended configuration is enough" mended

# Serving, with the configuration as it is installed: a local store and one replica beside it.
systemctl stop cairnd.service cairnd.socket 2> /dev/null
systemctl reset-failed cairnd.service cairnd.socket 2> /dev/null
rm -f /etc/cairn/cairnd.yaml
check "make install brings the configuration back" reinstall_daemon
systemctl daemon-reload
cp -r "$project/Config/demo/DebianPackages.xcdatamodeld" /etc/cairn/Model.xcdatamodeld
check "it starts with a model" systemctl start cairnd.service
# systemd keeps the text of a process that is gone until the next one says something: ask both.
is_serving() {
  [ "$(property StatusText)" = "Serving, 1 replica" ] && cairnctl status 2> /dev/null | grep -q ' serving, started'
}
comes "the status text says that it serves" is_serving
for i in $(seq 60); do
  echo "{\"name\":\"p$i\",\"section\":{\"name\":\"s$((i % 4))\"}}"
done > /tmp/rows.jsonl
contains "an operator imports" "60 rows: 60 inserted" \
  "$(runuser -u operator -- cairnctl import /tmp/rows.jsonl --entity Package --key name 2>&1)"
check "the replica gets there" cairnctl wait --timeout $patience
check "all stores agree" cairnctl verify
# A reload takes over all that has changed, or nothing, and its exit code tells.
cp /etc/cairn/cairnd.yaml /tmp/cairnd.yaml
sed -i 's/^  - name: backup/  - {name: second, path: "${STATE_DIRECTORY}\/second.sqlite"}\n  - name: backup/;
  s/^  level: info/  level: debug/' /etc/cairn/cairnd.yaml
old=$(pid)
check "reload takes over a changed configuration" systemctl reload cairnd.service
equals "without a restart" "$old" "$(pid)"
check "the new replica gets there" cairnctl wait --for second --timeout $patience
contains "the log level is the new one" "pass with second completed" "$(journal -o cat -p debug -n 100)"
sed -i 's/^  level: debug/  level: info/; s/^  durability: full/  durability: normal/' /etc/cairn/cairnd.yaml
if systemctl reload cairnd.service 2> /dev/null; then
  fail "reload fails where a restart is needed" "it succeeded"
else
  ok "reload fails where a restart is needed"
fi
contains "and names the key" "local.durability" "$(journal -o cat -n 20)"
contains "in the status text, too" "local.durability" "$(property StatusText)"
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml
check "what was taken over goes again" systemctl reload cairnd.service
equals "with the replica" "" "$(cairnctl --json stores | grep -o second)"

# What a vendor ships lies below what the operator writes.
mkdir -p /usr/lib/cairn/cairnd.yaml.d
echo 'sync: {retention: 9d, pollInterval: 7s}' > /usr/lib/cairn/cairnd.yaml
echo 'sync: {maxClockSkew: 9m}' > /usr/lib/cairn/cairnd.yaml.d/10-vendor.yaml
mkdir -p /etc/cairn/cairnd.yaml.d
echo 'sync: {pollInterval: 6s}' > /etc/cairn/cairnd.yaml.d/20-own.yaml
# The file as it is installed says everything.
printf '%s\n' 'model: ${CONFIGURATION_DIRECTORY}/Model.xcdatamodeld' \
  'replicas: [{name: backup, path: "${STATE_DIRECTORY}/backup.sqlite"}]' > /etc/cairn/cairnd.yaml
check "reload takes over what a vendor ships" systemctl reload cairnd.service
settings=$(cairnctl config cat sync)
contains "the operator's word counts" "/etc/cairn/cairnd.yaml.d/20-own.yaml:1" "$(grep pollInterval <<< "$settings")"
contains "the vendor's is below it" "/usr/lib/cairn/cairnd.yaml.d/10-vendor.yaml:1" "$(grep maxClockSkew <<< "$settings")"
: > /etc/cairn/cairnd.yaml.d/10-vendor.yaml
check "an empty file of the same name" systemctl reload cairnd.service
contains "switches it off" "default" "$(cairnctl config cat sync.maxClockSkew)"
rm -r /usr/lib/cairn /etc/cairn/cairnd.yaml.d
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml
check "and it reloads without them" systemctl reload cairnd.service

# Other groups. The socket is the unit's own group's, which may not give files away.
groupadd --system lookers
groupadd --system chiefs
useradd -M -N -g nogroup -G lookers looker
useradd -M -N -g nogroup -G cairn,chiefs chief
sed -i 's/^  adminGroup: .*/  adminGroup: chiefs/' /etc/cairn/cairnd.yaml
check "reload takes another group of administrators" systemctl reload cairnd.service
check "who may change then" runuser -u chief -- cairnctl pause
runuser -u operator -- cairnctl resume > /tmp/out 2>&1
contains "and the old one may not" "permission denied" "$(cat /tmp/out)"
check "the chief goes on" runuser -u chief -- cairnctl resume
sed -i 's/^  statusGroup: .*/  statusGroup: lookers/' /etc/cairn/cairnd.yaml
cairnctl reload > /tmp/out 2>&1
equals "a group that the unit may not give the socket to is refused" 1 $?
contains "with the key" "control.statusGroup" "$(cat /tmp/out)"
contains "and what to do" "as its Group=" "$(cat /tmp/out)"
equals "the socket is as before" "660 cairn cairn" "$(stat -c '%a %U %G' /run/cairnd/control)"
check "and so are the roles" runuser -u watcher -- cairnctl status
printf '[Service]\nGroup=lookers\n' > /etc/systemd/system/cairnd.service.d/group.conf
systemctl daemon-reload
check "with that group it starts" systemctl restart cairnd.service
check "and the group's members may look" runuser -u looker -- cairnctl status
rm /etc/systemd/system/cairnd.service.d/group.conf
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml
systemctl daemon-reload
check "it starts as it was installed" systemctl restart cairnd.service
comes "and serves as it was installed" is_serving

# Signals.
signal USR2
signal PIPE
signal USR1
reported() { journal -o cat MESSAGE_ID="$(message_id stateReported)" | grep -q '^local: open'; }
comes "SIGUSR1 writes the state to the journal" reported
equals "no such signal ends the daemon" "$old" "$(pid)"

# Another daemon on the same store.
sed 's/^  socket: .*/  socket: \/tmp\/other/' /etc/cairn/cairnd.yaml > /tmp/other.yaml
chmod 644 /tmp/other.yaml
runuser -u cairn -- env STATE_DIRECTORY=/var/lib/cairn cairnd --config /tmp/other.yaml > /tmp/out 2>&1
equals "a second daemon on the store ends with 69" 69 $?
contains "and is told who has it" "process $old (cairnd.service)" "$(cat /tmp/out)"

# systemd would start again and again what ends: there it waits, says so, and takes over.
sed 's/^  socket: .*/  socket: \/run\/other\/control/' /etc/cairn/cairnd.yaml > /tmp/other.yaml
other() { systemctl show -P "$1" other.service; }
check "under systemd it starts" systemd-run -q --unit other --service-type notify -p User=cairn -p Group=cairn \
  -p RuntimeDirectory=other -p Restart=on-failure -p RestartSec=0 -E STATE_DIRECTORY=/var/lib/cairn \
  cairnd --config /tmp/other.yaml
contains "and says who has the store" "process $old (cairnd.service)" "$(other StatusText)"
contains "also who asks" "process $old (cairnd.service)" \
  "$(cairnctl --socket /run/other/control status | tr -s "\n " " ")"
equals "a write is refused" 1 "$(cairnctl --socket /run/other/control insert Package name=x > /dev/null 2>&1; echo $?)"
check "the first serves" serving
systemctl stop cairnd.service cairnd.socket
comes "and when that one ends, it serves the store" serving /run/other/control
equals "without having ended once" "0 active" "$(other NRestarts) $(other ActiveState)"
journalctl --sync
check "and without filling the journal" test "$(journalctl -u other -o cat | wc -l)" -lt 12
check "it stops" systemctl stop other.service
check "the first starts again" systemctl start cairnd.socket cairnd.service
comes "and serves as before" serving
old=$(pid)

# A mount whose server is gone: everything that touches it waits for ever. It goes while the daemon runs,
# which sees the mounts that come later.
mkdir -p /mnt/hung
python3 "$project/Tests/sysbox/hung-mount.py" /mnt/hung &
hung=$!
comes "a mount hangs" grep -q ' /mnt/hung ' /proc/mounts
sed -i 's/^  - name: backup/  - {name: hung, path: \/mnt\/hung\/a.sqlite}\n  - name: backup/' /etc/cairn/cairnd.yaml
check "a replica on a mount that hangs is taken over" timeout $patience systemctl reload cairnd.service
check "and delays nobody" cairnctl wait --for backup --timeout $patience
begun=$SECONDS
check "stop succeeds beside it" systemctl stop cairnd.service
# systemd kills what takes longer.
equals "by itself, within the time that the unit gives" "success 0" "$(property Result) $(property ExecMainStatus)"
echo "stopping beside a mount that hangs took $((SECONDS - begun)) s"
kill "$hung"
wait "$hung"
cp /tmp/cairnd.yaml /etc/cairn/cairnd.yaml
check "it starts without the mount" systemctl start cairnd.service
comes "and serves without it" is_serving

signal STOP
comes "a hung daemon that serves is restarted" is_another
equals "with everything that was imported" 60 \
  "$(cairnctl fetch Package --properties name --format jsonl | wc -l | tr -d ' ')"
check "and the stores agree" cairnctl verify
signal KILL
comes "a killed daemon is restarted" is_another
check "also after a kill" cairnctl verify
check "stop succeeds while serving" systemctl stop cairnd.service
equals "cleanly as before" "success 0" "$(property Result) $(property ExecMainStatus)"
equals "the state folder belongs to the service" "750 cairn" "$(stat -c '%a %U' /var/lib/cairn)"
equals "the replica's own file has everything" 60 \
  "$(cairnctl fetch Package --file /var/lib/cairn/backup.sqlite --format jsonl --properties name \
    | wc -l | tr -d ' ')"

finish
