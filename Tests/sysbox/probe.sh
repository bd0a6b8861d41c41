#!/bin/bash
# Runs as a process of the unit, with everything that holds for the daemon, and tries what a daemon that
# was taken over might. Prints the name of each thing that it could do.
can() {
  local name=$1
  shift
  if "$@" > /dev/null 2>&1; then echo "$name"; fi
}
for folder in / /etc /etc/cairn /usr/bin /opt /var/log /var/lib /root /home; do
  can "write-$folder" touch "$folder/cairn-probe"
done
can new-user-namespace unshare --user true
can new-mount-namespace unshare --mount true
can mount mount -t tmpfs tmpfs /var/lib/cairn
can see-other-processes test -e /proc/1/cmdline
can signal-init kill -0 1
can become-root setpriv --reuid=0 true
can set-the-clock date -s @0
can change-owners chown root /var/lib/cairn
touch /var/lib/cairn/probe-file
can make-setuid chmod 4755 /var/lib/cairn/probe-file
rm -f /var/lib/cairn/probe-file
can make-devices mknod /var/lib/cairn/probe-device c 1 3
can kernel-settings bash -c 'echo 1 > /proc/sys/kernel/sysrq'
can kernel-log dmesg
can change-cgroups bash -c 'mkdir /sys/fs/cgroup/probe'
can disks bash -c 'ls /dev/vd* /dev/sd* /dev/nvme* /dev/mem 2> /dev/null | grep -q .'
can memory-to-write-and-run python3 -c 'import mmap; mmap.mmap(-1, 4096, prot=7)'
can raw-packets python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'
can netlink python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)'
can trace-processes python3 -c 'import ctypes, sys
sys.exit(0 if ctypes.CDLL(None, use_errno=True).ptrace(0, 0, 0, 0) == 0 else 1)'
can set-the-host-name hostname probe
# Seen by the script that started it: both must come out, or nothing above was tried.
can write-state touch /var/lib/cairn/probed
can python python3 -c pass
exit 0
