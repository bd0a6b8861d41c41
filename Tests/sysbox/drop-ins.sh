#!/bin/bash
# Runs inside the box: the template units, and the drop-ins of systemd/drop-ins, each in use.
. "${0%/*}/checks.sh"

install_daemon
check "tmpfiles makes the folders" systemd-tmpfiles --create cairn.conf
equals "with their owners" "root cairn" "$(stat -c %U /etc/cairn) $(stat -c %U /run/cairnd)"
systemctl daemon-reload
# serves NAME UNIT SOCKET
serves() {
  if eventually serving "$3"; then ok "$1"; else
    fail "$1" "$(systemctl status "$2" 2>&1; journalctl -u "$2" -o cat -n 20; ls -la /run/cairnd*)"
  fi
}

# Two instances beside the plain service.
check "the template units verify" systemd-analyze verify cairnd@one.service cairnd@one.socket cairnd-metrics@one.socket
for name in one two; do
  mkdir -p "/etc/cairn-$name"
  cp -r /etc/cairn/Model.xcdatamodeld "/etc/cairn-$name"
  printf 'model: ${CONFIGURATION_DIRECTORY}/Model.xcdatamodeld\n' > "/etc/cairn-$name/cairnd.yaml"
done
check "an instance starts by its socket" systemctl start cairnd@one.socket
serves "and its first caller" cairnd@one.service /run/cairnd-one/control
check "another starts without one" systemctl start cairnd@two.service
serves "and serves" cairnd@two.service /run/cairnd-two/control
check "and the plain service beside them" systemctl start cairnd.service
serves "which serves, too" cairnd.service /run/cairnd/control
cairnctl --socket /run/cairnd-one/control insert Package name=mine > /dev/null
equals "each has its own store" "1 0" "$(for name in one two; do
  cairnctl --socket /run/cairnd-$name/control fetch Package --format jsonl | wc -l; done | xargs)"
check "an instance stops for a socket for its figures" systemctl stop cairnd@two.service
check "which starts" systemctl start cairnd-metrics@two.socket cairnd@two.service
contains "and answers for the instance" "cairn_build_info" \
  "$(curl -sS --unix-socket /run/cairnd-two/metrics http://localhost/metrics 2>&1)"
serves "which serves again" cairnd@two.service /run/cairnd-two/control
check "an instance reloads" systemctl reload cairnd@two.service
check "an instance stops" systemctl stop cairnd@one.service cairnd@one.socket
serves "and leaves the others alone" cairnd@two.service /run/cairnd-two/control
systemctl stop cairnd@two.service cairnd-metrics@two.socket cairnd.service

# with DROP-IN: the plain service is started anew with it.
with() {
  rm -rf "$folder"
  install -D -m 0644 "/usr/share/doc/cairn/drop-ins/$1" "$folder/$1"
  systemctl daemon-reload
  systemctl reset-failed cairnd.service 2> /dev/null
  systemctl restart cairnd.service
}

# As a container with a file system that is read-only: nothing may be written but the stores.
mkdir -p "$folder"
printf '[Service]\nPrivateTmp=no\nReadOnlyPaths=/tmp /var/tmp\nWorkingDirectory=/\nUnsetEnvironment=TMPDIR\n' \
  > "$folder/bare.conf"
systemctl daemon-reload
systemctl restart cairnd.service
serves "a daemon serves without a folder for temporary files" cairnd.service /run/cairnd/control
seq -f '{"name": "bare %g", "summary": "a text that is longer than what a statement keeps in memory of each row"}' 3000 \
  > /tmp/bare.jsonl
check "it takes more than fits into memory at once" cairnctl import /tmp/bare.jsonl --entity Package
equals "and has it" 3000 "$(cairnctl fetch Package --where 'name BEGINSWITH "bare"' --format jsonl --sort summary,-name | wc -l)"
contains "and calls no disk broken" "open, " "$(cairnctl status)"

with local-only.conf
serves "a daemon without a network serves" cairnd.service /run/cairnd/control
check "its unit scores 0.4 at most" systemd-analyze security --threshold=4 cairnd.service
equals "it has no network" "lo" \
  "$(nsenter -t "$(pid)" --net ls /sys/class/net /proc/self/net/dev 2> /dev/null \
    | grep -x lo; nsenter -t "$(pid)" --net tail -n +3 /proc/self/net/dev \
    | cut -d: -f1 | tr -d ' ' | grep -vx lo)"
check "its replica gets what is written" bash -c "cairnctl insert Package name=p && cairnctl wait --timeout $patience"

# A replica on a disk that is mounted while the daemon runs.
mkdir -p /mnt/nas /etc/cairn/cairnd.yaml.d
printf 'replicas:\n  - name: nas\n    path: /mnt/nas/inventory.sqlite\n' > /etc/cairn/cairnd.yaml.d/nas.yaml
rm -rf "$folder"
systemctl daemon-reload
systemctl restart cairnd.service
eventually serving
is_open() { cairnctl status 2> /dev/null | grep -q "^$1  *in sync"; }
contains "without the drop-in the unit keeps the daemon out" "nas" "$(cairnctl status)"
if is_open nas; then fail "and the replica does not open" "$(cairnctl status)"; else ok "and the replica does not open"; fi
with replica-outside.conf
chown cairn /mnt/nas
comes "with it the replica opens" is_open nas
check "and is filled" bash -c "cairnctl wait --for nas --timeout $patience && test -s /mnt/nas/inventory.sqlite"
rm /etc/cairn/cairnd.yaml.d/nas.yaml
systemctl restart cairnd.service
old=$(pid)
mount -t tmpfs tmpfs /mnt/nas && touch /mnt/nas/mounted
check "what is mounted while it runs is seen" nsenter -t "$old" --mount test -e /mnt/nas/mounted
umount /mnt/nas
check "and what is unmounted" nsenter -t "$old" --mount test ! -e /mnt/nas/mounted
# A mount whose server is gone.
python3 "$project/Tests/sysbox/hung-mount.py" /mnt/nas &
hung=$!
comes "a mount hangs" grep -q ' /mnt/nas ' /proc/mounts
check "it reloads beside it" timeout $patience systemctl reload cairnd.service
check "and restarts" timeout $patience systemctl restart cairnd.service
serves "and serves" cairnd.service /run/cairnd/control
kill "$hung"
wait "$hung"

# A user that exists while the service runs, over the stores that the ordinary one made.
before=$(cairnctl fetch Package --properties name --format jsonl | sort)
with dynamic-user.conf
serves "a daemon with a dynamic user serves" cairnd.service /run/cairnd/control
equals "as that user" cairn-dynamic "$(stat -c %U "/proc/$(pid)")"
equals "with the stores of the ordinary one" "$before" "$(cairnctl fetch Package --properties name --format jsonl | sort)"
add_people
check "members of cairn may look" runuser -u watcher -- cairnctl status
check "members of cairn-admin may change" runuser -u operator -- cairnctl insert Package name=other
runuser -u stranger -- cairnctl status > /tmp/out 2>&1
equals "anybody else is kept out" 69 $?
check "its stores are nobody's business" runuser -u watcher -- bash -c '! ls /var/lib/private/cairn 2> /dev/null'
signal KILL
comes "it comes back after a crash" is_another
systemctl stop cairnd.service
serves "its next caller starts it" cairnd.service /run/cairnd/control
systemctl stop cairnd.service cairnd.socket
rm -rf "$folder"
systemctl daemon-reload
systemctl start cairnd.service
serves "and the ordinary user takes the stores back" cairnd.service /run/cairnd/control
contains "with everything" '"name":"other"' "$(cairnctl fetch Package --properties name --format jsonl)"

# A unit of the operator runs when the daemon gives up.
printf '[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo %%i >> /tmp/alerts"\n' > /etc/systemd/system/cairn-alert@.service
with on-failure.conf
systemctl stop cairnd.service
printf 'log: {levl: info}\n' > /etc/cairn/cairnd.yaml.d/wrong.yaml
systemctl start cairnd.service 2> /dev/null
comes "a failure alerts" grep -q cairnd.service /tmp/alerts
finish
