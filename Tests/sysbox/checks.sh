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
# The last line of a script: its exit code.
finish() { [ $failures = 0 ]; }
