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
# The last line of a script: its exit code.
finish() { [ $failures = 0 ]; }
