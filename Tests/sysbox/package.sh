#!/bin/bash
# Runs inside the box: installs the Debian package on a machine without Swift, upgrades it while an
# operator writes, and purges it.
# Called as package.sh PACKAGE PROJECT BUILT; BUILT is the folder that the package was built in.
. "${0%/*}/checks.sh"
package=$1
built=$3

# No toolchain: what the programs need must be in them or among the dependencies.
for folder in /opt/swift /usr/lib/swift; do
  [ -d "$folder" ] && mount -t tmpfs tmpfs "$folder"
done
hash -r
if command -v swift > /dev/null; then fail "the box has no Swift" "$(command -v swift)"; fi
# Where containers are made of the machine, packages may not start and stop services; here they may.
rm -f /usr/sbin/policy-rc.d


check "it installs" dpkg -i "$package"
equals "the service waits for its configuration" "inactive disabled" \
  "$(systemctl is-active cairnd.service) $(systemctl is-enabled cairnd.service)"
# systemd-analyze asks man(1) for the pages, which the box may lack.
sed -i '/^Documentation=/d' /lib/systemd/system/cairnd*
check "the units verify" systemd-analyze verify cairnd.service cairnd.socket
check "the programs run" cairnctl --version
check "the user was made" id cairn
for program in cairnd cairnctl; do
  equals "no path of the machine that built is in it ($program)" 0 "$(grep -acF "$built" /usr/bin/$program)"
done
for shell in bash-completion/completions/cairnctl zsh/vendor-completions/_cairnctl \
  fish/vendor_completions.d/cairnctl.fish; do
  check "completions are in $shell" grep -q cairnctl "/usr/share/$shell"
done

cp -r "$project/Config/demo/DebianPackages.xcdatamodeld" /etc/cairn/Model.xcdatamodeld
check "it starts" systemctl enable --now cairnd.service
comes "and serves" serving
# The pages, as the package has them.
page() { curl -sS --unix-socket /run/cairnd-page/page http://localhost/ 2>&1; }
shows_it() { page | grep -q backup; }
equals "the pages wait for an operator" "inactive disabled" \
  "$(systemctl is-active cairnd-page.service) $(systemctl is-enabled cairnd-page.service)"
check "the pages start" systemctl start cairnd-page.service
comes "and show the daemon" shows_it
paged=$(systemctl show -P MainPID cairnd-page.service)
# Property lists, which the programs read with the Foundation that is inside of them.
check "it reads and writes models" cairnctl model convert /var/lib/cairn/local.sqlite /tmp/Out.xcdatamodeld

# The longest time between two acknowledged writes, in milliseconds.
longest() { awk 'NR > 1 { d = ($1 - last) / 1e6; if (d > most) most = d } { last = $1 } END { print int(most) }' /tmp/times; }
# upgrade HOW: installs the package once more while rows are written one after the other, each acknowledged.
upgrade() {
  rm -f /tmp/enough /tmp/acknowledged /tmp/times /tmp/refused
  local first
  first=$(busy)
  write() {
    local n=0
    while [ ! -e /tmp/enough ]; do
      n=$((n + 1))
      if cairnctl insert Package "name=$1$n" > /dev/null 2>> /tmp/refused; then
        echo "$1$n" >> /tmp/acknowledged
        date +%s%N >> /tmp/times
      fi
    done
  }
  write "$1" &
  local writer=$! before count gap usual
  more() { [ "$(wc -l < /tmp/acknowledged)" -gt $((count + 5)) ]; }
  eventually test -s /tmp/acknowledged || fail "rows are written ($1)" "$(tail -3 /tmp/refused)"
  # What a restart takes here and now, on a machine that may do much else.
  check "it restarts under load ($1)" systemctl restart cairnd.service
  count=$(wc -l < /tmp/acknowledged)
  comes "writing goes on after it ($1)" more
  usual=$(longest)
  : > /tmp/times
  before=$(pid)
  check "it upgrades under load ($1)" dpkg -i "$package"
  is_new() { [ "$(pid)" != "$before" ] && serving; }
  comes "the new daemon serves ($1)" is_new
  count=$(wc -l < /tmp/acknowledged)
  eventually more || fail "writing goes on after the upgrade ($1)" "$(tail -3 /tmp/refused)"
  touch /tmp/enough
  wait $writer
  gap=$(longest)
  echo "the longest time without an acknowledged write ($1): $gap ms, $usual ms at a restart"
  # The bar is 2 s. Where the machine was busy with other things before or after, the time is theirs as well: a restart
  # in the same run took as much of it, and an upgrade is one restart.
  if [ "$first" -lt 20 ] && calm; then
    check "it is away for less than 2 s ($1), on a calm machine" test "$gap" -lt 2000
  else
    echo "the machine is busy (before $first %, after ${load:-?} %): the bar of 2 s is not tried, a restart is compared"
    check "it is away for no longer than two restarts ($1), on a busy machine" test "$gap" -lt $((usual * 2 + 500))
  fi
  cairnctl fetch Package --properties name --format jsonl | sed 's/.*"name":"\([^"]*\)".*/\1/' | sort > /tmp/there
  equals "every acknowledged write is there ($1)" "" "$(sort /tmp/acknowledged | comm -23 - /tmp/there)"
  check "the replica has them ($1)" cairnctl wait --timeout 30
  check "and the stores agree ($1)" cairnctl verify
}
upgrade alone
if [ "$(systemctl show -P MainPID cairnd-page.service)" != "$paged" ] && eventually shows_it; then
  ok "an upgrade brings new pages"
else
  fail "an upgrade brings new pages" "$(systemctl status cairnd-page)"
fi
systemctl stop cairnd.service
check "with its socket unit it starts" systemctl start cairnd.socket cairnd.service
comes "with its socket unit it serves" serving
upgrade socket
equals "callers at the socket wait, and none is refused" 0 "$(grep -c 'not reachable' /tmp/refused)"

echo "# ours" >> /etc/cairn/cairnd.yaml
check "it installs over a changed configuration" dpkg --force-confold -i "$package"
check "which survives" grep -q "# ours" /etc/cairn/cairnd.yaml

check "it is removed" dpkg -r cairn
equals "and stopped" "" "$(pgrep -x cairnd; pgrep -x cairnctl)"
equals "its socket, too, but not what the daemon did last" flight-recorder "$(ls /run/cairnd 2> /dev/null)"
check "the stores are still there" test -s /var/lib/cairn/local.sqlite
rm -rf /etc/cairn/Model.xcdatamodeld
contains "purging leaves people's data and says so" "left in /var/lib/cairn" "$(dpkg -P cairn 2>&1)"
equals "and nothing else" "" \
  "$(ls -d /etc/cairn /run/cairnd /usr/bin/cairn* /lib/systemd/system/cairnd* /etc/systemd/system/*/cairnd* \
    /usr/share/doc/cairn /var/lib/systemd/deb-systemd-helper-enabled/cairnd* 2> /dev/null)"
check "the stores are still there after a purge" test -s /var/lib/cairn/local.sqlite
check "it installs once more" dpkg -i "$package"
rm -r /var/lib/cairn
dpkg -P cairn > /tmp/out 2>&1
equals "without stores nothing is left to say" "" "$(grep left /tmp/out)"
equals "and nothing left" "" "$(ls -d /var/lib/cairn /etc/cairn 2> /dev/null)"
finish
