#!/bin/bash
# Runs inside the box: the pages as a service, which may look and nothing else.
. "${0%/*}/checks.sh"

install_daemon
systemd-tmpfiles --create cairn.conf
mkdir -p /srv/nas /srv/closed
chown cairn:cairn /srv/nas /srv/closed
chmod 0750 /srv/nas
chmod 0700 /srv/closed
cat > /etc/cairn/cairnd.yaml << 'END'
model: ${CONFIGURATION_DIRECTORY}/Model.xcdatamodeld
replicas:
  - {name: nas, type: sqlite, path: /srv/nas/nas.sqlite}
  - {name: closed, type: sqlite, path: /srv/closed/closed.sqlite}
END
drop_in 'ReadWritePaths=/srv/nas /srv/closed'
add_people

check "the unit verifies" systemd-analyze verify cairnd-page.service
equals "it is off until it is enabled" disabled "$(systemctl is-enabled cairnd-page.service)"
if systemctl is-active -q cairnd-page.service; then fail "and not started" "it is active"; else ok "and not started"; fi
score=$(systemd-analyze security --offline=true --threshold=4 cairnd-page.service 2>&1) && ok "it scores 0.4 at most" ||
  fail "it scores 0.4 at most" "$(tail -1 <<< "$score")"

# page USER PATH [MORE]: the page, as the user sees it.
page() {
  local user=$1 path=$2
  shift 2
  runuser -u "$user" -- curl -sS --unix-socket /run/cairnd-page/page "$@" "http://localhost$path" 2>&1
}
served() {
  local shown
  shown=$(page watcher /)
  grep -q "$1" <<< "$shown" || { echo "$shown"; return 1; }
}

# The pages come before the daemon, and say that it is away.
check "it starts without the daemon" systemctl start cairnd-page.service
comes "and says that the daemon is away" served "The daemon is not reachable"
check "the daemon starts" systemctl start cairnd.service
comes "its links are shown" served '>in sync</span>'
cairnctl insert Package name=mine > /dev/null
cairnctl wait --for all > /dev/null
contains "the local store is shown" mine "$(page watcher /stores/local/entities/Package)"
contains "so is a replica that the group may read" mine "$(page watcher /stores/nas/entities/Package)"
contains "one that it may not read is named" "cannot be" "$(page watcher /stores/closed/)"
contains "lists are answered with its role" "No conflicts" "$(page watcher /conflicts)"

equals "the socket is for the group alone" "770 cairn-page cairn" "$(stat -c '%a %U %G' /run/cairnd-page/page)"
contains "a stranger does not get in" "curl: (7)" "$(page stranger /)"
equals "nor does a page of another name" 421 "$(page watcher / -o /dev/null -w '%{http_code}' -H 'Host: evil.example')"
runuser -u cairn-page -g cairn -- cairnctl pause > /tmp/out 2>&1
equals "its user may change nothing" 1 $?
contains "and reads why" "permission denied" "$(cat /tmp/out)"
contains "and cannot write to the stores" "Permission denied" \
  "$(runuser -u cairn-page -g cairn -- sh -c 'echo x >> /var/lib/cairn/local.sqlite' 2>&1)"

check "it outlives the daemon" systemctl stop cairnd.service
comes "and says since when it is away" served "No answer since"
systemctl kill -s KILL cairnd-page.service
comes "killed, it comes back" served "The daemon is not reachable"
check "it stops" systemctl stop cairnd-page.service
equals "as asked" success "$(systemctl show -P Result cairnd-page.service)"
finish
