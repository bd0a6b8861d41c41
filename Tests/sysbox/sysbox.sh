#!/bin/bash
# Boots a private systemd and runs a command inside of it.
#
#   sysbox.sh [-r ROOT] [-n NETNS] [-b SRC:DST]... -- COMMAND...
#
# systemd runs as PID 1 of new namespaces over a throw-away overlay of ROOT (default /): nothing is
# written to ROOT, and everything is gone when the command ends. The exit code is the command's; 97
# means that the box did not come up. Needs root. SRC is absolute, DST is relative to the new root.
#   -r ROOT     the root to lay the box over, for example a debootstrap folder
#   -n NETNS    join this network namespace (ip netns) instead of making an empty one
#   -b SRC:DST  show the folder SRC inside as DST
set -euo pipefail

root=/
network_flag=--net
enter_network=()
binds=()
while getopts r:b:n: option; do
  case $option in
    r) root=$OPTARG ;;
    b) binds+=("$OPTARG") ;;
    n) network_flag=''; enter_network=(nsenter --net=/run/netns/"$OPTARG") ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

# The cgroup exists before the namespace, so that the box sees its own subtree as the whole.
groups=/sys/fs/cgroup
[ -f $groups/cgroup.procs ] || groups=$groups/unified
work=$(mktemp -d -t sysbox.XXXXXX)
box=$groups/${work##*/}
mkdir "$box"

cat > "$work/init" <<'INIT'
set -e
work=$1 root=$2
shift 2
mount --make-rprivate /
mkdir $work/t
mount -t tmpfs -o size=2g tmpfs $work/t
mkdir $work/t/upper $work/t/work $work/t/root
mount -t overlay overlay -o lowerdir=$root,upperdir=$work/t/upper,workdir=$work/t/work $work/t/root
cd $work/t/root

mount -t proc proc proc
# Kernel settings belong to the host: read-only, and systemd-sysctl is masked below.
mount --bind proc/sys proc/sys
mount -o remount,ro,bind proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mount -t tmpfs -o mode=1777 tmpfs tmp
# Nodes, not bind mounts: systemd limits how many mounts it looks at in a second.
while read name major minor; do mknod -m 666 dev/$name c $major $minor; done <<NODES
fuse 10 229
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
NODES
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
: > run/console.log
touch dev/console
mount --bind run/console.log dev/console
for bind in "$@"; do
  mkdir -p ./${bind#*:}
  mount --bind ${bind%%:*} ./${bind#*:}
done

rm -f etc/machine-id
tr -d - < /proc/sys/kernel/random/uuid > etc/machine-id
rm -rf var/log/journal
mkdir -p etc/systemd/system
# What wants hardware, the network or time, or would change the host.
for unit in systemd-sysctl systemd-modules-load systemd-udevd systemd-udev-trigger systemd-binfmt \
  systemd-update-utmp systemd-random-seed systemd-remount-fs systemd-firstboot \
  systemd-hwdb-update ldconfig console-getty systemd-timesyncd systemd-networkd \
  systemd-resolved apt-daily postgresql; do
  ln -sf /dev/null etc/systemd/system/$unit.service
done
for unit in dev-hugepages.mount dev-mqueue.mount run-lock.mount var-lib-machines.mount \
  sys-kernel-config.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
  sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount tmp.mount \
  apt-daily.timer apt-daily-upgrade.timer man-db.timer dpkg-db-backup.timer e2scrub_all.timer \
  fstrim.timer systemd-tmpfiles-clean.timer; do
  ln -sf /dev/null etc/systemd/system/$unit
done
cat > etc/systemd/system/box.target <<TARGET
[Unit]
Requires=basic.target dbus.socket
After=basic.target dbus.socket
AllowIsolate=yes
TARGET

mkdir -p old
pivot_root . old
umount -l old
rmdir old 2>/dev/null || true
# Shared again: systemd moves credentials in by mount propagation.
mount --make-rshared /
exec env -i container=sysbox PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
  SYSTEMD_DEFAULT_MOUNT_RATE_LIMIT_BURST=1000 \
  /lib/systemd/systemd --system --unit=box.target --show-status=no
INIT

"${enter_network[@]}" setsid bash -c '
  box=$1 network=$2
  shift 2
  echo $BASHPID > $box/cgroup.procs
  exec unshare --mount --uts --ipc $network --pid --cgroup --fork --kill-child bash "$@"
' - "$box" "$network_flag" "$work/init" "$work" "$root" ${binds[@]+"${binds[@]}"} \
  > "$work/log" 2>&1 < /dev/null &
leader=$!
disown

cleanup() {
  code=$?
  echo 1 > "$box/cgroup.kill" 2>/dev/null || kill -9 $leader 2>/dev/null || true
  for _ in $(seq 50); do
    find "$box" -depth -type d -exec rmdir {} \; 2>/dev/null
    [ -d "$box" ] || break
    sleep .02
  done
  rm -rf --one-file-system "$work" || true
  exit $code
}
trap cleanup EXIT

init=
for _ in $(seq 1500); do
  init=$(pgrep -P $leader -x systemd || true)
  [ -n "$init" ] && break
  sleep .02
  kill -0 $leader 2>/dev/null || break
done
if [ -z "$init" ]; then
  cat "$work/log" >&2
  exit 97
fi
inside=(nsenter -t "$init" --mount --uts --ipc --net --pid --cgroup)
for _ in $(seq 500); do
  "${inside[@]}" test -S /run/systemd/private 2>/dev/null && break
  sleep .02
done
"${inside[@]}" systemctl is-system-running --wait > /dev/null || true
"${inside[@]}" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 SYSTEMD_PAGER= "$@"
