#!/bin/bash
# Runs inside the box: installs the Debian package on a machine without Swift, upgrades it while an
# operator writes, and purges it.
#
#   package.sh PACKAGE PROJECT
#
# Prints "ok NAME" or "FAILED NAME: why" for each check; the exit code is 1 when any failed.
set -u
package=$1
project=$2
. "$project/Tests/sysbox/checks.sh"

# No toolchain: what the programs need must be in them or among the dependencies.
for folder in /opt/swift /usr/lib/swift; do
  [ -d "$folder" ] && mount -t tmpfs tmpfs "$folder"
done
hash -r
if command -v swift > /dev/null; then fail "the box has no Swift" "$(command -v swift)"; fi

check "it installs" dpkg -i "$package"
equals "the service waits for its configuration" "inactive disabled" \
  "$(systemctl is-active cairnd.service) $(systemctl is-enabled cairnd.service)"
check "the units verify" systemd-analyze verify cairnd.service cairnd.socket
check "the programs run" cairnctl --version
check "the user was made" id cairn
for shell in bash-completion/completions/cairnctl zsh/vendor-completions/_cairnctl \
  fish/vendor_completions.d/cairnctl.fish; do
  check "completions are in $shell" grep -q cairnctl "/usr/share/$shell"
done

cp -r "$project/Config/demo/DebianPackages.xcdatamodeld" /etc/cairn/Model.xcdatamodeld
check "it starts" systemctl enable --now cairnd.service
is_serving() { cairnctl status 2> /dev/null | grep -q ' serving since'; }
if eventually 20 is_serving; then ok "and serves"; else
  fail "and serves" "$(cairnctl status 2>&1; journalctl -u cairnd -o cat -n 20)"
fi

# One row after another, each acknowledged, while the package is installed once more.
write() {
  local n=0
  while [ ! -e /tmp/enough ]; do
    n=$((n + 1))
    if cairnctl insert Package "name=p$n" > /dev/null 2>> /tmp/refused; then
      echo "p$n" >> /tmp/acknowledged
      date +%s%N >> /tmp/times
    fi
  done
}
write &
writer=$!
eventually 10 test -s /tmp/acknowledged
before=$(systemctl show -P MainPID cairnd.service)
check "it upgrades under load" dpkg -i "$package"
is_new() { [ "$(systemctl show -P MainPID cairnd.service)" != "$before" ] && is_serving; }
if eventually 20 is_new; then ok "the new daemon serves"; else
  fail "the new daemon serves" "$(systemctl status cairnd)"
fi
count=$(wc -l < /tmp/acknowledged)
more() { [ "$(wc -l < /tmp/acknowledged)" -gt $((count + 5)) ]; }
eventually 20 more || fail "writing goes on after the upgrade" "$(tail -3 /tmp/refused)"
touch /tmp/enough
wait $writer
gap=$(awk 'NR > 1 { d = ($1 - last) / 1e6; if (d > most) most = d } { last = $1 } END { print int(most) }' /tmp/times)
echo "the longest time without an acknowledged write: $gap ms"
cairnctl fetch Package --properties name --format jsonl | sed 's/.*"name":"\([^"]*\)".*/\1/' | sort > /tmp/there
equals "every acknowledged write is there" "" "$(sort /tmp/acknowledged | comm -23 - /tmp/there)"
check "the replica has them" cairnctl wait --timeout 30
check "and the stores agree" cairnctl verify

check "a changed configuration survives" bash -c 'echo "# ours" >> /etc/cairn/cairnd.yaml &&
  dpkg --force-confold -i "$1" && grep -q "# ours" /etc/cairn/cairnd.yaml' - "$package"

check "it is removed" dpkg -r cairn
equals "and stopped" "" "$(pgrep -x cairnd)"
check "the stores are still there" test -s /var/lib/cairn/local.sqlite
rm -rf /etc/cairn/Model.xcdatamodeld
contains "purging leaves people's data and says so" "left in /var/lib/cairn" "$(dpkg -P cairn 2>&1)"
equals "and nothing else" "" "$(ls -d /etc/cairn /run/cairnd /lib/systemd/system/cairnd* 2> /dev/null)"
check "the stores are still there after a purge" test -s /var/lib/cairn/local.sqlite
finish
