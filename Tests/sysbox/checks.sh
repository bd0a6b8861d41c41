# What the scripts of the box check with; sourced by them.
failures=0

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
# eventually SECONDS COMMAND...: true as soon as the command succeeds.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -ge $end ] && return 1
    sleep .05
  done
}
# Installs the programs of $binaries with the units of $project, as `make install` does.
install_daemon() {
  rm -rf /etc/cairn
  make -s -C "$project" -o build install BIN="$binaries" SWIFT=true DESTDIR=
  systemd-sysusers
  # The man page is not part of this box.
  sed -i '/^Documentation=/d' /lib/systemd/system/cairnd*
}
# Where drop-ins of the service lie.
folder=/etc/systemd/system/cairnd.service.d
property() { systemctl show -P "$1" cairnd.service; }
pid() { property MainPID; }
serving() { cairnctl --timeout 5 status 2> /dev/null | grep -q ' serving since'; }
# begins NAME: starts the service anew, with the drop-in on standard input.
begins() {
  mkdir -p $folder
  cat > $folder/test.conf
  systemctl daemon-reload
  systemctl reset-failed cairnd.service 2> /dev/null
  systemctl restart cairnd.service
  if eventually 30 serving; then ok "$1"; else fail "$1" "$(systemctl status cairnd; journalctl -u cairnd -o cat -n 9)"; fi
}
# The last line of a script: its exit code.
finish() { [ $failures = 0 ]; }
