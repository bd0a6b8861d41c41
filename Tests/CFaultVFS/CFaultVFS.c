#define _GNU_SOURCE
#include "CFaultVFS.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// A write or truncation that has not been synced.
typedef struct Change {
  struct Change *next, *previous;
  char *path;
  sqlite3_int64 offset, old_size, new_size;
  /// Bytes from `offset` on, as they were and as they were to be.
  size_t old_count, new_count;
  char *old_bytes, *new_bytes;
} Change;

/// A name that a folder got or lost since it was synced.
typedef struct Name {
  struct Name *previous;
  char *path;
  /// What a file held whose name is gone; NULL for a name that is new.
  char *bytes;
  size_t count;
} Name;

typedef struct Folder {
  char *path;
  size_t length;
  unsigned kinds;
  long nth, seen, injected, syncs;
  int lasting, outcome, remembers, is_cut, open_files;
  sqlite3_int64 room;
  Change *first, *last;
  Name *last_name;
} Folder;

/// A file of a folder that is in our charge; the kernel layer's file follows in memory.
typedef struct File {
  sqlite3_file base;
  Folder *folder;
  char *path;
  sqlite3_int64 chunk;
  /// Whether the first sync of the file syncs its folder, as SQLite has it for journals.
  int syncs_folder;
} File;

enum { FOLDER_LIMIT = 512 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Folder *folders[FOLDER_LIMIT];
static sqlite3_vfs *real;
static sqlite3_vfs layer;

static sqlite3_file *inner(sqlite3_file *file) { return (sqlite3_file *)((File *)file + 1); }

/// Called with the lock held.
static Folder *folder_of(const char *path) {
  if (!path) return NULL;
  for (int i = 0; i < FOLDER_LIMIT; i++) {
    Folder *folder = folders[i];
    if (folder && strncmp(path, folder->path, folder->length) == 0 && path[folder->length] == '/')
      return folder;
  }
  return NULL;
}

/// Whether this operation goes wrong. Called with the lock held.
static int strikes(Folder *folder, unsigned kind) {
  if (folder->is_cut && kind != CFAULT_READ) return 1;
  if (!(folder->kinds & kind)) return 0;
  folder->seen++;
  if (folder->nth == 0 || folder->seen < folder->nth) return 0;
  if (folder->seen > folder->nth && !folder->lasting) return 0;
  folder->injected++;
  return 1;
}

// MARK: What is not synced

static void discard(Folder *folder, Change *change) {
  if (change->previous) change->previous->next = change->next; else folder->first = change->next;
  if (change->next) change->next->previous = change->previous; else folder->last = change->previous;
  free(change->path);
  free(change->old_bytes);
  free(change->new_bytes);
  free(change);
}

static void forget(Folder *folder, const char *path) {
  Change *next;
  for (Change *change = folder->first; change; change = next) {
    next = change->next;
    if (!path || strcmp(change->path, path) == 0) discard(folder, change);
  }
}

static void note(File *file, sqlite3_int64 offset, const void *bytes, size_t count,
                 sqlite3_int64 old_size, sqlite3_int64 new_size) {
  Folder *folder = file->folder;
  if (!folder->remembers) return;
  Change *change = calloc(1, sizeof(Change));
  change->path = strdup(file->path);
  change->offset = offset;
  change->old_size = old_size;
  change->new_size = new_size;
  sqlite3_int64 end = bytes ? offset + (sqlite3_int64)count : old_size;
  if (end > old_size) end = old_size;
  if (end > offset) {
    change->old_count = (size_t)(end - offset);
    change->old_bytes = malloc(change->old_count);
    sqlite3_file *below = inner((sqlite3_file *)file);
    below->pMethods->xRead(below, change->old_bytes, (int)change->old_count, offset);
  }
  if (bytes && count) {
    change->new_count = count;
    change->new_bytes = malloc(count);
    memcpy(change->new_bytes, bytes, count);
  }
  change->previous = folder->last;
  if (folder->last) folder->last->next = change; else folder->first = change;
  folder->last = change;
}

// MARK: Names that are not synced

static void forget_names(Folder *folder) {
  for (Name *name = folder->last_name, *previous; name; name = previous) {
    previous = name->previous;
    free(name->path);
    free(name->bytes);
    free(name);
  }
  folder->last_name = NULL;
}

static void note_name(Folder *folder, const char *path, int is_gone) {
  if (!folder->remembers) return;
  Name *name = calloc(1, sizeof(Name));
  name->path = strdup(path);
  if (is_gone) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = descriptor < 0 ? 0 : lseek(descriptor, 0, SEEK_END);
    name->bytes = malloc((size_t)size + 1);
    ssize_t count = descriptor < 0 ? 0 : pread(descriptor, name->bytes, (size_t)size, 0);
    name->count = count < 0 ? 0 : (size_t)count;
    if (descriptor >= 0) close(descriptor);
  }
  name->previous = folder->last_name;
  folder->last_name = name;
}

/// Takes back the last of the names.
static void take_back_name(Folder *folder) {
  Name *name = folder->last_name;
  if (!name->bytes) {
    unlink(name->path);
  } else {
    int descriptor = open(name->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0 || write(descriptor, name->bytes, name->count) < 0) abort();
    close(descriptor);
  }
  folder->last_name = name->previous;
  free(name->path);
  free(name->bytes);
  free(name);
}

// MARK: Files

static sqlite3_int64 size_of(sqlite3_file *below) {
  sqlite3_int64 size = 0;
  below->pMethods->xFileSize(below, &size);
  return size;
}

static int file_close(sqlite3_file *base) {
  File *file = (File *)base;
  int code = inner(base)->pMethods->xClose(inner(base));
  pthread_mutex_lock(&lock);
  file->folder->open_files--;
  pthread_mutex_unlock(&lock);
  free(file->path);
  return code;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
  File *file = (File *)base;
  pthread_mutex_lock(&lock);
  int struck = strikes(file->folder, CFAULT_READ);
  pthread_mutex_unlock(&lock);
  if (struck) return SQLITE_IOERR_READ;
  return inner(base)->pMethods->xRead(inner(base), bytes, count, offset);
}

static int write_locked(File *file, const void *bytes, int count, sqlite3_int64 offset) {
  Folder *folder = file->folder;
  sqlite3_file *below = inner((sqlite3_file *)file);
  int error = 0;
  if (strikes(folder, CFAULT_WRITE)) {
    if (folder->outcome == CFAULT_FULL && !folder->is_cut) return SQLITE_FULL;
    if (folder->outcome != CFAULT_TEARS || folder->is_cut) return SQLITE_IOERR_WRITE;
    error = SQLITE_IOERR_WRITE;
    count /= 2;
  }
  sqlite3_int64 size = size_of(below), end = offset + count;
  if (folder->room >= 0 && end > size) {
    if (end - size > folder->room) return SQLITE_FULL;
    folder->room -= end - size;
  }
  note(file, offset, bytes, (size_t)count, size, end > size ? end : size);
  int code = below->pMethods->xWrite(below, bytes, count, offset);
  return error ? error : code;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
  pthread_mutex_lock(&lock);
  int code = write_locked((File *)base, bytes, count, offset);
  pthread_mutex_unlock(&lock);
  return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  File *file = (File *)base;
  pthread_mutex_lock(&lock);
  int code = SQLITE_IOERR_TRUNCATE;
  if (!strikes(file->folder, CFAULT_TRUNCATE)) {
    sqlite3_int64 old = size_of(inner(base));
    if (size < old) note(file, size, NULL, 0, old, size);
    code = inner(base)->pMethods->xTruncate(inner(base), size);
    if (file->folder->room >= 0) file->folder->room += old - size_of(inner(base));
  }
  pthread_mutex_unlock(&lock);
  return code;
}

static int file_sync(sqlite3_file *base, int flags) {
  File *file = (File *)base;
  pthread_mutex_lock(&lock);
  file->folder->syncs++;
  int code = SQLITE_IOERR_FSYNC;
  if (!strikes(file->folder, CFAULT_SYNC)) {
    // What a real sync promises is promised by `forget`; waiting for a disk would prove nothing.
    forget(file->folder, file->path);
    if (file->syncs_folder) forget_names(file->folder);
    file->syncs_folder = 0;
    code = SQLITE_OK;
  }
  pthread_mutex_unlock(&lock);
  (void)flags;
  return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  return inner(base)->pMethods->xFileSize(inner(base), size);
}
static int file_lock(sqlite3_file *base, int level) {
  return inner(base)->pMethods->xLock(inner(base), level);
}
static int file_unlock(sqlite3_file *base, int level) {
  return inner(base)->pMethods->xUnlock(inner(base), level);
}
static int file_check_lock(sqlite3_file *base, int *result) {
  return inner(base)->pMethods->xCheckReservedLock(inner(base), result);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
  File *file = (File *)base;
  sqlite3_file *below = inner(base);
  if (operation == SQLITE_FCNTL_CHUNK_SIZE) file->chunk = *(int *)argument;
  if (operation != SQLITE_FCNTL_SIZE_HINT || file->chunk <= 0)
    return below->pMethods->xFileControl(below, operation, argument);
  pthread_mutex_lock(&lock);
  Folder *folder = file->folder;
  sqlite3_int64 old = size_of(below), wanted = *(sqlite3_int64 *)argument;
  wanted = (wanted + file->chunk - 1) / file->chunk * file->chunk;
  int code = SQLITE_OK;
  if (wanted > old) {
    if (strikes(folder, CFAULT_WRITE))
      code = folder->outcome == CFAULT_FULL && !folder->is_cut ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    else if (folder->room >= 0 && wanted - old > folder->room)
      code = SQLITE_FULL;
    else {
      note(file, old, NULL, 0, old, wanted);
      code = below->pMethods->xFileControl(below, operation, argument);
      if (folder->room >= 0) folder->room -= size_of(below) - old;
    }
  }
  pthread_mutex_unlock(&lock);
  return code;
}

static int file_sector(sqlite3_file *base) {
  return inner(base)->pMethods->xSectorSize(inner(base));
}
static int file_traits(sqlite3_file *base) {
  return inner(base)->pMethods->xDeviceCharacteristics(inner(base));
}
static int file_shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **at) {
  return inner(base)->pMethods->xShmMap(inner(base), page, size, extend, at);
}
static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
  return inner(base)->pMethods->xShmLock(inner(base), offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *base) {
  inner(base)->pMethods->xShmBarrier(inner(base));
}
static int file_shm_unmap(sqlite3_file *base, int remove) {
  return inner(base)->pMethods->xShmUnmap(inner(base), remove);
}

/// Version 2: without memory mapping of content, which no fault could reach.
static const sqlite3_io_methods methods = {
  2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock,
  file_unlock, file_check_lock, file_control, file_sector, file_traits, file_shm_map,
  file_shm_lock, file_shm_barrier, file_shm_unmap, 0, 0};

// MARK: The layer

static int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                      int *flags_out) {
  (void)vfs;
  pthread_mutex_lock(&lock);
  Folder *folder = folder_of(path);
  int struck = folder ? strikes(folder, CFAULT_OPEN) : 0;
  if (folder && !struck) {
    folder->open_files++;
    if (path && access(path, F_OK) != 0) note_name(folder, path, 0);
  }
  pthread_mutex_unlock(&lock);
  base->pMethods = NULL;
  if (!folder) return real->xOpen(real, path, base, flags, flags_out);
  if (struck) return SQLITE_CANTOPEN;
  int code = real->xOpen(real, path, inner(base), flags, flags_out);
  if (code != SQLITE_OK) {
    if (inner(base)->pMethods) inner(base)->pMethods->xClose(inner(base));
    pthread_mutex_lock(&lock);
    folder->open_files--;
    pthread_mutex_unlock(&lock);
    return code;
  }
  File *file = (File *)base;
  file->folder = folder;
  file->path = strdup(path);
  file->chunk = 0;
  file->syncs_folder =
    (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
  base->pMethods = &methods;
  return SQLITE_OK;
}

static int layer_delete(sqlite3_vfs *vfs, const char *path, int sync) {
  (void)vfs;
  pthread_mutex_lock(&lock);
  Folder *folder = folder_of(path);
  int struck = folder ? strikes(folder, CFAULT_DELETE) : 0;
  if (folder && !struck && access(path, F_OK) == 0) note_name(folder, path, 1);
  if (folder && !struck) forget(folder, path);
  if (folder && !struck && sync) forget_names(folder);
  pthread_mutex_unlock(&lock);
  return struck ? SQLITE_IOERR_DELETE : real->xDelete(real, path, sync);
}

static int layer_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  (void)vfs;
  return real->xAccess(real, path, flags, result);
}
static int layer_full_path(sqlite3_vfs *vfs, const char *path, int count, char *result) {
  (void)vfs;
  return real->xFullPathname(real, path, count, result);
}
static void *layer_library(sqlite3_vfs *vfs, const char *path) {
  (void)vfs;
  return real->xDlOpen(real, path);
}
static void layer_library_error(sqlite3_vfs *vfs, int count, char *text) {
  (void)vfs;
  real->xDlError(real, count, text);
}
static void (*layer_symbol(sqlite3_vfs *vfs, void *library, const char *name))(void) {
  (void)vfs;
  return real->xDlSym(real, library, name);
}
static void layer_library_close(sqlite3_vfs *vfs, void *library) {
  (void)vfs;
  real->xDlClose(real, library);
}
static int layer_random(sqlite3_vfs *vfs, int count, char *bytes) {
  (void)vfs;
  return real->xRandomness(real, count, bytes);
}
static int layer_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return real->xSleep(real, microseconds);
}
static int layer_time(sqlite3_vfs *vfs, double *time) {
  (void)vfs;
  return real->xCurrentTime(real, time);
}
static int layer_error(sqlite3_vfs *vfs, int count, char *text) {
  (void)vfs;
  return real->xGetLastError(real, count, text);
}
static int layer_time_64(sqlite3_vfs *vfs, sqlite3_int64 *time) {
  (void)vfs;
  return real->xCurrentTimeInt64(real, time);
}

int cfault_install(void) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&once);
  int code = SQLITE_OK;
  if (!real) {
    sqlite3_initialize();
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    if (below) {
      layer = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(File) + below->szOsFile,
        .mxPathname = below->mxPathname,
        .zName = "cairn-faults",
        .xOpen = layer_open,
        .xDelete = layer_delete,
        .xAccess = layer_access,
        .xFullPathname = layer_full_path,
        .xDlOpen = layer_library,
        .xDlError = layer_library_error,
        .xDlSym = layer_symbol,
        .xDlClose = layer_library_close,
        .xRandomness = layer_random,
        .xSleep = layer_sleep,
        .xCurrentTime = layer_time,
        .xGetLastError = layer_error,
        .xCurrentTimeInt64 = layer_time_64,
      };
      real = below;
      code = sqlite3_vfs_register(&layer, 1);
    } else {
      code = SQLITE_ERROR;
    }
  }
  pthread_mutex_unlock(&once);
  return code;
}

// MARK: Folders

int cfault_begin(const char *path) {
  char resolved[PATH_MAX];
  if (!realpath(path, resolved)) return -1;
  Folder *folder = calloc(1, sizeof(Folder));
  folder->path = strdup(resolved);
  folder->length = strlen(resolved);
  folder->room = -1;
  int number = -1;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < FOLDER_LIMIT && number < 0; i++) {
    if (folders[i]) continue;
    folders[i] = folder;
    number = i;
  }
  pthread_mutex_unlock(&lock);
  if (number < 0) {
    free(folder->path);
    free(folder);
  }
  return number;
}

void cfault_end(int number) {
  pthread_mutex_lock(&lock);
  Folder *folder = folders[number];
  folders[number] = NULL;
  if (folder) forget(folder, NULL);
  if (folder) forget_names(folder);
  // A file that is still open refers to it.
  if (folder && folder->open_files == 0) {
    free(folder->path);
    free(folder);
  }
  pthread_mutex_unlock(&lock);
}

void cfault_arm(int number, unsigned kinds, long nth, int lasting, int outcome) {
  pthread_mutex_lock(&lock);
  Folder *folder = folders[number];
  folder->kinds = kinds;
  folder->nth = nth;
  folder->lasting = lasting;
  folder->outcome = outcome;
  folder->seen = folder->injected = 0;
  pthread_mutex_unlock(&lock);
}

int cfault_step(int number, unsigned kind) {
  pthread_mutex_lock(&lock);
  Folder *folder = folders[number];
  int struck = strikes(folder, kind);
  int result = !struck ? CFAULT_WORKS : folder->is_cut ? CFAULT_FAILS : folder->outcome;
  pthread_mutex_unlock(&lock);
  return result;
}

void cfault_folder_synced(int number) {
  pthread_mutex_lock(&lock);
  forget_names(folders[number]);
  pthread_mutex_unlock(&lock);
}

void cfault_disarm(int number) {
  pthread_mutex_lock(&lock);
  folders[number]->kinds = 0;
  pthread_mutex_unlock(&lock);
}

static long number_of(int number, size_t offset) {
  pthread_mutex_lock(&lock);
  long result = *(long *)((char *)folders[number] + offset);
  pthread_mutex_unlock(&lock);
  return result;
}

long cfault_seen(int number) { return number_of(number, offsetof(Folder, seen)); }
long cfault_injected(int number) { return number_of(number, offsetof(Folder, injected)); }
long cfault_syncs(int number) { return number_of(number, offsetof(Folder, syncs)); }

void cfault_set_room(int number, int64_t bytes) {
  pthread_mutex_lock(&lock);
  folders[number]->room = bytes;
  pthread_mutex_unlock(&lock);
}

int64_t cfault_room(int number) {
  pthread_mutex_lock(&lock);
  int64_t result = folders[number]->room;
  pthread_mutex_unlock(&lock);
  return result;
}

// MARK: Power

void cfault_remember(int number) {
  pthread_mutex_lock(&lock);
  folders[number]->remembers = 1;
  pthread_mutex_unlock(&lock);
}

void cfault_cut_power(int number) {
  pthread_mutex_lock(&lock);
  folders[number]->is_cut = 1;
  pthread_mutex_unlock(&lock);
}

static uint64_t next_random(uint64_t *state) {
  *state += 0x9E3779B97F4A7C15ull;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

static void put(const char *path, const char *bytes, size_t count, sqlite3_int64 offset,
                sqlite3_int64 size) {
  int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  if (count && pwrite(descriptor, bytes, count, offset) < 0) abort();
  if (size >= 0 && ftruncate(descriptor, size) != 0) abort();
  close(descriptor);
}

static void remove_indexes(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, "-shm") == 0)
      unlinkat(dirfd(folder), entry->d_name, 0);
  }
  closedir(folder);
}

int cfault_restore(int number, uint64_t seed) {
  pthread_mutex_lock(&lock);
  Folder *folder = folders[number];
  int open_files = folder->open_files;
  if (open_files == 0) {
    for (Change *change = folder->last; change; change = change->previous)
      put(change->path, change->old_bytes, change->old_count, change->offset, change->old_size);
    if (seed) {
      for (Change *change = folder->first; change; change = change->next) {
        // Disks write sectors: any of them may have made it.
        for (size_t at = 0; at < change->new_count; at += 512) {
          size_t count = change->new_count - at < 512 ? change->new_count - at : 512;
          if (next_random(&seed) & 1)
            put(change->path, change->new_bytes + at, count, change->offset + (sqlite3_int64)at, -1);
        }
      }
    }
    forget(folder, NULL);
    // Folders change in order: the first of the new names may have made it.
    long count = 0;
    for (Name *name = folder->last_name; name; name = name->previous) count++;
    long kept = seed ? (long)(next_random(&seed) % (uint64_t)(count + 1)) : 0;
    for (; count > kept; count--) take_back_name(folder);
    forget_names(folder);
    remove_indexes(folder->path);
    folder->is_cut = folder->remembers = 0;
  }
  pthread_mutex_unlock(&lock);
  return open_files;
}

// MARK: Real disks

int cfault_shut_down(const char *path) {
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  // EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN: without flushing the log.
  uint32_t way = 2;
  int code = ioctl(descriptor, 0x8004587D, &way);
  close(descriptor);
  return code;
}

// MARK: Other programs

int cfault_execute(const char *path, const char *sql) {
  sqlite3 *connection = NULL;
  int code = sqlite3_open(path, &connection);
  if (code == SQLITE_OK) code = sqlite3_exec(connection, sql, NULL, NULL, NULL);
  sqlite3_close(connection);
  return code;
}
