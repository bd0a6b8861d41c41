// Disks that hang, for the files of stores; loaded with LD_PRELOAD. While the file /run/stuck is there, locks of the
// local store are never answered, so that whatever reads or writes it waits; with /run/stuck-writes what writes it
// waits, and reads go on; with /run/stuck-replica locks of replicas are never answered.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void wait_while(const char *flag, int descriptor, const char *part) {
  if (access(flag, F_OK) != 0) return;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (count <= 0) return;
  path[count] = 0;
  if (strstr(path, part))
    while (access(flag, F_OK) == 0) usleep(10000);
}

int fcntl64(int descriptor, int command, ...) {
  static int (*control)(int, int, void *);
  if (!control) control = (int (*)(int, int, void *))dlsym(RTLD_NEXT, "fcntl64");
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  wait_while("/run/stuck", descriptor, "/local.sqlite");
  wait_while("/run/stuck-replica", descriptor, "/backup.sqlite");
  return control(descriptor, command, argument);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  static ssize_t (*write_at)(int, const void *, size_t, off64_t);
  if (!write_at) write_at = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  wait_while("/run/stuck-writes", descriptor, "/local.sqlite");
  return write_at(descriptor, bytes, count, offset);
}
