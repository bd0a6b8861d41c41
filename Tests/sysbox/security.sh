#!/bin/bash
# Runs inside the box: what SECURITY.md promises and only real users, modes and a real sandbox can show.
. "${0%/*}/checks.sh"

install_daemon
add_people
socket=/run/cairnd/control
# as USER COMMAND...: what it prints, and its exit code at the end.
as() {
  local user=$1
  shift
  runuser -u "$user" -- "$@" 2>&1
  echo "exit $?"
}

# A local user without a role: whatever the mask is that the daemon starts with.
for mask in 0000 0077; do
  begins "it starts with the mask $mask" <<< "[Service]
UMask=$mask"
  equals "its socket is for the group alone" "660 cairn cairn" "$(stat -c '%a %U %G' $socket)"
  check "it reloads" systemctl reload cairnd.service
  equals "and its socket is as it was" "660 cairn cairn" "$(stat -c '%a %U %G' $socket)"
  equals "in a folder that only it may write to" "755 cairn" "$(stat -c '%a %U' /run/cairnd)"
  contains "a stranger does not get in" "exit 69" "$(as stranger cairnctl status)"
done
signal KILL
comes "it is back after a crash" is_another
equals "the socket is the group's after a crash, too" "660 cairn cairn" "$(stat -c '%a %U %G' $socket)"
contains "and a stranger stays out" "exit 69" "$(as stranger cairnctl status)"

# Roles come from the kernel.
contains "a group that is not the first one counts" "exit 0" "$(as operator cairnctl insert Package name=seen)"
contains "who may look cannot change" "permission denied" "$(as watcher cairnctl insert Package name=no)"
usermod -a -G cairn,cairn-admin nobody
contains "the user for everybody unknown has no role in any group" "permission denied" "$(as nobody cairnctl status)"
# passed CONNECTING CALLING: an insert through a connection that a process which is gone had made.
passed() {
  python3 "$project/Tests/sysbox/passed-socket.py" $socket "$1" "$2" \
    '{"method":"io.cairn.Data.Save","parameters":{"inserts":[{"entity":"Package","values":{"name":"passed"}}]}}'
}
contains "who connected counts, though that process is gone" '"inserted"' "$(passed operator stranger)"
contains "and a connection that was handed on gives nobody more" "PermissionDenied" "$(passed watcher operator)"
contains "not even root" "PermissionDenied" "$(passed watcher root)"
gpasswd -d nobody cairn > /dev/null
gpasswd -d nobody cairn-admin > /dev/null
drop_in PrivateUsers=yes
systemctl restart cairnd.service 2> /dev/null
equals "where users are hidden from it the daemon does not start" 78 "$(property ExecMainStatus)"
contains "and says why" "take PrivateUsers=yes out of the unit" "$(journal -o cat -n 5)"
equals "nobody gets a role by that" "exit 69" "$(as operator cairnctl insert Package name=no | tail -1)"

# Where members of the admin group may have stores made.
install -d -m 755 /srv/stores /srv/free
install -d -o operator /srv/stores/mine
chown cairn /srv/stores
begins "it starts and may write below /srv" <<< "[Service]
ReadWritePaths=/srv"
adds() { as operator cairnctl store add "$1" sqlite "$2"; }
contains "not in any folder" "control.storeFolders" "$(adds far /srv/stores/far.sqlite)"
contains "beside the stores that are configured" "exit 0" "$(adds near /var/lib/cairn/near.sqlite)"
mkdir -p /etc/cairn/cairnd.yaml.d
echo 'control: {storeFolders: [/srv/stores]}' > /etc/cairn/cairnd.yaml.d/folders.yaml
check "the folders are reloaded" systemctl reload cairnd.service
contains "a folder on the way that a caller could exchange is refused" "belongs to the user" \
  "$(adds far /srv/stores/mine/far.sqlite)"
ln -s /srv/free /srv/stores/link
contains "so is a way out" "control.storeFolders" "$(adds far /srv/stores/link/far.sqlite)"
contains "what is allowed is done" "exit 0" "$(adds far /srv/stores/far.sqlite)"
check "root may use any" cairnctl store add free sqlite /var/lib/cairn/free.sqlite
for name in near far free; do cairnctl store remove $name; done
rm -rf /etc/cairn/cairnd.yaml.d /srv/stores /srv/free

# Floods of connections, each with half a call.
begins "it starts with few descriptors" <<< "[Service]
LimitNOFILE=256"
descriptors() { ls "/proc/$(pid)/fd" | wc -l; }
# It serves before its replica is open, which takes a few.
check "its replica is open" cairnctl wait --timeout $patience
few=$(descriptors)
mkfifo -m 666 /tmp/hold
runuser -u watcher -- python3 "$project/Tests/sysbox/flood.py" $socket 5000 < /tmp/hold > /tmp/held &
flood=$!
exec 9> /tmp/hold
comes "the flood comes" test -s /tmp/held
contains "one user who floods keeps no other one out" "exit 0" "$(as operator cairnctl --timeout $patience status)"
check "nor root" cairnctl --timeout $patience status
exec 9>&-
wait $flood
is_quiet() { [ "$(descriptors)" -le $((few + 2)) ] || { ls -l "/proc/$(pid)/fd" && false; }; }
comes "and leaves no descriptor behind" is_quiet

# What others can write to is not believed.
begins "it starts as it is installed" <<< ""
systemctl stop cairnd.service
for file in cairnd.yaml cairnd.yaml.d/more.yaml; do
  mkdir -p /etc/cairn/cairnd.yaml.d
  [ -e /etc/cairn/$file ] || echo 'log: {level: debug}' > /etc/cairn/$file
  for mode in 0664 0646; do
    chmod $mode /etc/cairn/$file
    systemctl start cairnd.service 2> /dev/null
    equals "$file with mode $mode ends with 78" 78 "$(systemctl show -P ExecMainStatus cairnd.service)"
    contains "and is named" "/etc/cairn/$file" "$(journal -o cat -n 5)"
    systemctl reset-failed cairnd.service
  done
  chmod 0644 /etc/cairn/$file
done
for place in /etc/cairn /etc/cairn/cairnd.yaml.d; do
  chmod g+w $place
  systemctl start cairnd.service 2> /dev/null
  equals "a configuration in $place that others may write to ends with 78" 78 \
    "$(systemctl show -P ExecMainStatus cairnd.service)"
  contains "and the folder is named" "chmod go-w $place" "$(journal -o cat -n 5)"
  chmod g-w $place
  systemctl reset-failed cairnd.service
done
# A model or a folder of stores that anybody may write to: the daemon can be asked, and goes on when it is mended.
exposed() { cairnctl --json status 2>&1 | grep -qF "chmod o-w $1"; }
for place in /etc/cairn/Model.xcdatamodeld /etc/cairn/Model.xcdatamodeld/*/contents /var/lib/cairn; do
  chmod o+w "$place"
  cairnd --config /etc/cairn/cairnd.yaml --check-config > /tmp/out 2>&1
  equals "a check of the configuration refuses $place" 78 $?
  contains "and says what helps" "chmod o-w $place" "$(cat /tmp/out)"
  # systemd gives the state folder its mode at each start.
  [ "$place" = /var/lib/cairn ] && chmod o-w "$place" && continue
  systemctl start cairnd.service
  comes "the status names $place" exposed "$place"
  chmod o-w "$place"
  comes "and it serves once it is mended" serving
  systemctl stop cairnd.service
done
# The most that the daemon can say, for what follows.
echo 'log: {level: trace}' > /etc/cairn/cairnd.yaml.d/more.yaml

# Names and texts that would speak to systemd, to the journal or to a terminal.
begins "it starts again" <<< ""
since=$(date +%s)
for name in $'x\nSTOPPING=1' $'x\nPRIORITY=0' $'\e[2J' $'x\u202ey' '<0>x' 'x"} 1'; do
  contains "a store cannot be called $(printf %q "$name")" "exit 1" \
    "$(as operator cairnctl store add "$name" sqlite /var/lib/cairn/odd.sqlite)"
  as operator cairnctl insert Package name="$name" > /dev/null
  as operator cairnctl fetch Package --where "$name" > /dev/null
  as operator cairnctl explain "$name" "$name" "$name" > /dev/null
done
check "the daemon is there" cairnctl status
equals "and systemd believes so" "active running" \
  "$(systemctl show -P ActiveState cairnd.service) $(systemctl show -P SubState cairnd.service)"
equals "nothing in the journal is louder than the daemon meant" "" \
  "$(journal --since "@$since" -p crit -o cat)"
equals "and no character of it drives a terminal" 0 \
  "$(journalctl -u cairnd --since "@$since" -a -o cat | grep -c $'[\x01-\x08\x0b-\x1f]')"

# Values of rows are nobody's business but the stores'.
canary=canary-5f3a
as operator cairnctl insert Package name=$canary > /dev/null
as operator cairnctl insert Package name=other installedSize=$canary > /dev/null
as operator cairnctl fetch Package --where "installedSize = '$canary'" > /dev/null
echo "{\"name\":\"$canary\",\"nope\":\"$canary\"}" > /tmp/rows.jsonl
chmod 0644 /tmp/rows.jsonl
as operator cairnctl import /tmp/rows.jsonl --entity Package > /dev/null
cairnctl wait --timeout $patience > /dev/null 2>&1
cairnctl verify > /dev/null 2>&1
journalctl --sync
equals "the row is there" 1 "$(cairnctl fetch Package --where "name = '$canary'" --format jsonl | wc -l)"
for place in "journalctl -u cairnd -a -o json" "cairnctl --json status" "cairnctl stores" \
  "systemctl show cairnd.service" "cat /proc/$(pid)/environ /proc/$(pid)/cmdline"; do
  equals "no value in: ${place//$(pid)/PID}" 0 "$($place 2>&1 | grep -ac $canary)"
done

# Files that are nobody's store.
cp /etc/passwd /tmp/before
contains "a file that is no store is refused" "exit 1" "$(as operator cairnctl store add p sqlite /etc/passwd --wait)"
check "and stays as it was" cmp /etc/passwd /tmp/before
as root cairnctl store remove p > /dev/null
ln /etc/passwd /var/lib/cairn/hard.sqlite
ln -s /etc/passwd /var/lib/cairn/soft.sqlite
ln /var/lib/cairn/local.sqlite /var/lib/cairn/twin.sqlite
ln -s /etc/made.sqlite /var/lib/cairn/out.sqlite
long=$(printf 'x%.0s' $(seq 256))
for path in /var/lib/cairn/hard.sqlite /var/lib/cairn/soft.sqlite /var/lib/cairn/twin.sqlite \
  /var/lib/cairn/out.sqlite /etc/made.sqlite /home/made.sqlite /proc/self/mem \
  /proc/self/environ /dev/null /dev/full /var/lib/cairn /var/lib/cairn/local.sqlite /var/lib/cairn/local.sqlite-wal \
  /var/lib/cairn/local.sqlite-journal /var/lib/cairn/../cairn/x.sqlite "/var/lib/cairn/$long"; do
  equals "no store comes to be at ${path:0:60}" "" \
    "$(as operator cairnctl store add p sqlite "$path" --wait --timeout 3 | grep -x 'exit 0')"
  as root cairnctl store remove p > /dev/null
done
check "and nothing was written there" cmp /etc/passwd /tmp/before
equals "nor made outside of the folders of the unit" "" "$(ls -d /etc/made.sqlite* /home/made.sqlite* 2> /dev/null)"
check "nor to the local store" cairnctl fetch Package --where "name = '$canary'"
rm /var/lib/cairn/hard.sqlite /var/lib/cairn/soft.sqlite /var/lib/cairn/twin.sqlite /var/lib/cairn/out.sqlite

# A daemon that was taken over.
cat > /tmp/probe.conf <<< "[Service]
ExecStartPre=/bin/bash -c '/bin/bash $project/Tests/sysbox/probe.sh > /var/lib/cairn/probe'"
begins "it starts with a process beside it that tries things" < /tmp/probe.conf
equals "which can write to the state and nothing else" "write-state python" "$(xargs < /var/lib/cairn/probe)"
install -m 0644 /usr/share/doc/cairn/drop-ins/no-exec.conf $folder/no-exec.conf
# A build that is no package has its libraries where the toolchain is.
libraries=$(ldd "$binaries/cairnd" | sed -n 's|.* => \(/.*\)/libswiftCore.so .*|ExecPaths=\1|p')
begins "it serves where it may run nothing" <<< "[Service]
$libraries"
check "and reloads" systemctl reload cairnd.service
echo ExecStartPre=/bin/true >> $folder/test.conf
systemctl daemon-reload
systemctl restart cairnd.service 2> /dev/null
equals "really nothing" 203 "$(systemctl show -P ExecStartPre cairnd.service | sed -n 's/.*status=\([0-9]*\).*/\1/p')"
systemctl stop cairnd.service
rm -r $folder
systemctl daemon-reload
check "the unit scores 1.2 at most" systemd-analyze security --threshold=12 cairnd.service
finish
