// Makes each read of a write-ahead log take two milliseconds more, and each sync of a store's file five seconds,
// as a very slow disk does; with SLOW_WRITES in the environment, only each write to the local store and its log takes
// so many microseconds more. Loaded with LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_called(int descriptor, const char *ending) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, sizeof path), length = strlen(ending);
  return count > length && memcmp(path + count - length, ending, length) == 0;
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
  static ssize_t (*read_at)(int, void *, size_t, off64_t);
  if (!read_at) read_at = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
  if (!getenv("SLOW_WRITES") && is_called(descriptor, "-wal")) usleep(2000);
  return read_at(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  static ssize_t (*write_at)(int, const void *, size_t, off64_t);
  if (!write_at) write_at = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  const char *slowness = getenv("SLOW_WRITES");
  if (slowness && (is_called(descriptor, "local.sqlite") || is_called(descriptor, "local.sqlite-wal")))
    usleep(atoi(slowness));
  return write_at(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
  static int (*sync_data)(int);
  if (!sync_data) sync_data = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  if (!getenv("SLOW_WRITES") && is_called(descriptor, "local.sqlite")) sleep(5);
  return sync_data(descriptor);
}
