# What the scripts of the box begin with, and what they check with; sourced by them. Each is called
#
#   SCRIPT BINARIES PROJECT
#
# inside the box, prints "ok NAME" or "FAILED NAME: why" for each check, and ends with code 1 when any failed.
set -u
binaries=$1
project=$2
failures=0
# How long is waited for what must come, in seconds: it ends what hangs, and says nothing of speed.
patience=120
# Programs of the box stand in for others, who are run by anybody, from anywhere.
cd /

ok() { echo "ok $1"; }
fail() {
  echo "FAILED $1: $2"
  failures=$((failures + 1))
}
# check NAME COMMAND...: the command must succeed.
check() {
  local name=$1
  shift
  local output
  if output=$("$@" 2>&1); then ok "$name"; else fail "$name" "$output"; fi
}
# equals NAME WANTED GOT
equals() { if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "wanted '$2', got '$3'"; fi; }
# contains NAME PART TEXT
contains() { case $3 in *"$2"*) ok "$1" ;; *) fail "$1" "no '$2' in '$3'" ;; esac; }
# eventually COMMAND...: true as soon as the command succeeds.
eventually() {
  local end=$((SECONDS + patience))
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -ge $end ] && return 1
    sleep .05
  done
}
# comes NAME COMMAND...: the command must succeed in the end.
comes() {
  local name=$1
  shift
  if eventually "$@"; then ok "$name"; else
    fail "$name" "$("$@" 2>&1; cairnctl --timeout 5 status 2>&1; systemctl status cairnd.service; journalctl -u cairnd -o cat -n 20)"
  fi
}

# busy: which part of the processors' time was taken in a second, in percent.
busy() {
  local before after
  read -r -a before < /proc/stat
  sleep 1
  read -r -a after < /proc/stat
  local total=0 idle=$((after[4] + after[5] - before[4] - before[5])) field
  for field in 1 2 3 4 5 6 7 8; do total=$((total + after[field] - before[field])); done
  echo $((100 - 100 * idle / (total > 0 ? total : 1)))
}
# Times in milliseconds say something of what takes them where the machine does nothing else. calm: whether it does
# not; what it does is in $load.
calm() {
  load=$(busy)
  [ "$load" -lt 20 ]
}

# Installs the programs of $binaries with the units of $project, as `make install` does, and a model.
install_daemon() {
  rm -rf /etc/cairn
  reinstall_daemon
  systemd-sysusers
  cp -r "$project/Config/demo/DebianPackages.xcdatamodeld" /etc/cairn/Model.xcdatamodeld
}
# Once more: an operator's configuration stays.
reinstall_daemon() {
  make -s -C "$project" -o build install BIN="$binaries" SWIFT=true DESTDIR= || return
  # systemd-analyze asks man(1) for the pages, which are not part of this box.
  sed -i '/^Documentation=/d' /lib/systemd/system/cairnd*
}
# Some who may look, some who may also change, and some who may not even connect.
add_people() {
  useradd -M -N -g nogroup -G cairn watcher
  useradd -M -N -g nogroup -G cairn,cairn-admin operator
  useradd -M -N -g nogroup stranger
}

# Where drop-ins of the service lie.
folder=/etc/systemd/system/cairnd.service.d
# drop_in [LINE...]: what comes in the section of the service, besides what is installed.
drop_in() {
  mkdir -p $folder
  printf '%s\n' '[Service]' "$@" > $folder/test.conf
  systemctl daemon-reload
}
property() { systemctl show -P "$1" cairnd.service; }
pid() { property MainPID; }
# serving [SOCKET]
serving() { cairnctl --socket "${1:-/run/cairnd/control}" --timeout 20 status 2> /dev/null | grep -q ' serving, started'; }
# begins NAME: starts the service anew, with the drop-in on standard input.
begins() {
  mkdir -p $folder
  cat > $folder/test.conf
  systemctl daemon-reload
  systemctl reset-failed cairnd.service 2> /dev/null
  systemctl restart cairnd.service
  comes "$1" serving
}
# signal NAME: sends it to the daemon; $old is the daemon's number.
signal() {
  old=$(pid)
  # Never 0, which would mean every process of the script.
  [ "$old" -gt 1 ] && kill "-$1" "$old"
}
# Whether another daemon serves than the one that was sent a signal.
is_another() { [ "$(pid)" != "$old" ] && serving; }
# message_id EVENT: as the page of events has it.
message_id() { sed -n "/^### $1\$/,/MESSAGE_ID=/s/.*MESSAGE_ID=\([0-9a-f]*\).*/\1/p" "$project/Sources/Cairn/Cairn.docc/EventsInTheLog.md"; }
# journal [OPTION...]: what the daemon has written; what a process wrote just now may still be on its way.
journal() {
  journalctl --sync
  journalctl -u cairnd "$@"
}
# The last line of a script: its exit code.
finish() { [ $failures = 0 ]; }
