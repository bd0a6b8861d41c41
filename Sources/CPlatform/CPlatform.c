#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <malloc.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

int cplatform_peer_credentials(int socket, struct cplatform_peer *peer) {
  struct ucred credentials;
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
  peer->process = credentials.pid;
  peer->user = credentials.uid;
  peer->group = credentials.gid;
  return 0;
}

int cplatform_peer_groups(int socket, uint32_t *groups, size_t capacity) {
  socklen_t length = (socklen_t)(capacity * sizeof(uint32_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length) != 0) {
    // The kernel says ERANGE and the length it needs when the room is too small.
    if (errno == ERANGE) return (int)(length / sizeof(uint32_t));
    return -1;
  }
  return (int)(length / sizeof(uint32_t));
}

static int fill_address(struct sockaddr_un *address, socklen_t *length, const char *path) {
  size_t count = strlen(path);
  memset(address, 0, sizeof(*address));
  address->sun_family = AF_UNIX;
  if (count == 0) {
    errno = EINVAL;
    return -1;
  }
  if (count >= sizeof(address->sun_path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address->sun_path, path, count);
  if (path[0] == '@') {
    // An abstract name: the first byte is zero and the length says where it ends.
    address->sun_path[0] = 0;
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + count);
  } else {
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + count + 1);
  }
  return 0;
}

ssize_t cplatform_send(int socket, const void *bytes, size_t count) {
  return send(socket, bytes, count, MSG_NOSIGNAL);
}

int cplatform_stream_socket(void) {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int cplatform_bind_path(int socket, const char *path) {
  struct sockaddr_un address;
  socklen_t length;
  if (fill_address(&address, &length, path) != 0) return -1;
  return bind(socket, (struct sockaddr *)&address, length);
}

int cplatform_connect_path(int socket, const char *path) {
  struct sockaddr_un address;
  socklen_t length;
  if (fill_address(&address, &length, path) != 0) return -1;
  return connect(socket, (struct sockaddr *)&address, length);
}

int cplatform_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC); }

int cplatform_is_listening_stream(int descriptor) {
  int value = 0;
  socklen_t length = sizeof(value);
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) != 0 || !value) return 0;
  length = sizeof(value);
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &value, &length) != 0) return 0;
  if (value != AF_UNIX) return 0;
  length = sizeof(value);
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &value, &length) != 0) return 0;
  return value == SOCK_STREAM;
}

int64_t cplatform_group_id(const char *name) {
  size_t capacity = 4096;
  for (;;) {
    char *room = malloc(capacity);
    if (room == NULL) return -1;
    struct group entry, *found = NULL;
    int code = getgrnam_r(name, &entry, room, capacity, &found);
    int64_t identifier = found != NULL ? (int64_t)entry.gr_gid : -1;
    free(room);
    if (code == ERANGE && capacity < (1u << 24)) {
      capacity *= 4;
      continue;
    }
    if (identifier < 0) errno = code != 0 ? code : ENOENT;
    return identifier;
  }
}

int cplatform_user_name(uint32_t user, char *buffer, size_t capacity) {
  char room[16384];
  struct passwd entry, *found = NULL;
  int code = getpwuid_r(user, &entry, room, sizeof(room), &found);
  if (found == NULL || strlen(entry.pw_name) >= capacity) {
    errno = code != 0 ? code : ENOENT;
    return -1;
  }
  strcpy(buffer, entry.pw_name);
  return 0;
}

int cplatform_terminal_width(int descriptor) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return -1;
  return size.ws_col;
}

int cplatform_terminal_height(int descriptor) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return -1;
  return size.ws_row;
}

void cplatform_ignore_signal(int number) { signal(number, SIG_IGN); }

int cplatform_exchange(const char *one, const char *other) {
  return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int cplatform_rename_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

void cplatform_return_free_memory(void) { malloc_trim(0); }

/// Whether the loader has written into what the object says is read only.
static int has_text_relocations(const struct dl_phdr_info *object) {
  for (int number = 0; number < object->dlpi_phnum; number++) {
    if (object->dlpi_phdr[number].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *entry =
        (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[number].p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++)
      if (entry->d_tag == DT_TEXTREL ||
          (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)))
        return 1;
  }
  return 0;
}

static int let_pages_go(struct dl_phdr_info *object, size_t size, void *context) {
  // The program itself has an empty name, and what the kernel maps by itself one without a folder.
  if (object->dlpi_name[0] != 0 && object->dlpi_name[0] != '/') return 0;
  if (has_text_relocations(object)) return 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int number = 0; number < object->dlpi_phnum; number++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[number];
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    // Whole pages of it, so that none has anything else in it.
    uintptr_t start = (object->dlpi_addr + part->p_vaddr + page - 1) / page * page;
    uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_filesz) / page * page;
    if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void cplatform_release_program_pages(void) { dl_iterate_phdr(let_pages_go, NULL); }

int cplatform_cut_power(const char *folder) {
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  // EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN: without flushing the log.
  uint32_t way = 2;
  int code = ioctl(descriptor, 0x8004587D, &way);
  int reason = errno;
  close(descriptor);
  errno = reason;
  return code;
}

int cplatform_restart_with_own_mounts(char *const *arguments) {
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return -1;
  program[length] = 0;
  if (unshare(CLONE_NEWNS) != 0) return -1;
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -1;
  return execv(program, arguments);
}

int64_t cplatform_file_system_type(const char *path) {
  struct statfs information;
  if (statfs(path, &information) != 0) return -1;
  return (int64_t)(uint32_t)information.f_type;
}

int cplatform_lock_byte(int descriptor, off_t byte) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return 0;
  if (errno == EACCES) errno = EAGAIN;
  return -1;
}
