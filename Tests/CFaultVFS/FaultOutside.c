// What is done to real disks, and to files as a program does that knows nothing of Cairn.
#include "CFaultVFS.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cfault_shut_down(const char *path) {
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  // EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN: without flushing the log.
  uint32_t way = 2;
  int code = ioctl(descriptor, 0x8004587D, &way);
  close(descriptor);
  return code;
}

int cfault_execute(const char *path, const char *sql) {
  sqlite3 *connection = NULL;
  int code = sqlite3_open(path, &connection);
  if (code == SQLITE_OK) code = sqlite3_exec(connection, sql, NULL, NULL, NULL);
  sqlite3_close(connection);
  return code;
}
