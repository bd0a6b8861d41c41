// What SQLite does to a file, going wrong where the plan says so.
#include "FaultVFS.h"

#include <stdlib.h>

static sqlite3_int64 size_of(sqlite3_file *below) {
  sqlite3_int64 size = 0;
  below->pMethods->xFileSize(below, &size);
  return size;
}

static int file_close(sqlite3_file *base) {
  File *file = (File *)base;
  int code = fault_inner(base)->pMethods->xClose(fault_inner(base));
  pthread_mutex_lock(&fault_lock);
  file->folder->open_files--;
  pthread_mutex_unlock(&fault_lock);
  free(file->path);
  return code;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
  File *file = (File *)base;
  pthread_mutex_lock(&fault_lock);
  int struck = fault_strikes(file->folder, CFAULT_READ);
  pthread_mutex_unlock(&fault_lock);
  if (struck) return SQLITE_IOERR_READ;
  return fault_inner(base)->pMethods->xRead(fault_inner(base), bytes, count, offset);
}

static int write_locked(File *file, const void *bytes, int count, sqlite3_int64 offset) {
  Folder *folder = file->folder;
  sqlite3_file *below = fault_inner((sqlite3_file *)file);
  int error = 0;
  if (fault_strikes(folder, CFAULT_WRITE)) {
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
  fault_note_change(file, offset, bytes, (size_t)count, size, end > size ? end : size);
  int code = below->pMethods->xWrite(below, bytes, count, offset);
  return error ? error : code;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
  pthread_mutex_lock(&fault_lock);
  int code = write_locked((File *)base, bytes, count, offset);
  pthread_mutex_unlock(&fault_lock);
  return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  File *file = (File *)base;
  pthread_mutex_lock(&fault_lock);
  int code = SQLITE_IOERR_TRUNCATE;
  if (!fault_strikes(file->folder, CFAULT_TRUNCATE)) {
    sqlite3_int64 old = size_of(fault_inner(base));
    if (size < old) fault_note_change(file, size, NULL, 0, old, size);
    code = fault_inner(base)->pMethods->xTruncate(fault_inner(base), size);
    if (file->folder->room >= 0) file->folder->room += old - size_of(fault_inner(base));
  }
  pthread_mutex_unlock(&fault_lock);
  return code;
}

static int file_sync(sqlite3_file *base, int flags) {
  File *file = (File *)base;
  pthread_mutex_lock(&fault_lock);
  file->folder->syncs++;
  int code = SQLITE_IOERR_FSYNC;
  if (!fault_strikes(file->folder, CFAULT_SYNC)) {
    // What a real sync promises is promised by `forget`; waiting for a disk would prove nothing.
    fault_forget_changes(file->folder, file->path);
    if (file->syncs_folder) fault_forget_names(file->folder);
    file->syncs_folder = 0;
    code = SQLITE_OK;
  }
  pthread_mutex_unlock(&fault_lock);
  (void)flags;
  return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  return fault_inner(base)->pMethods->xFileSize(fault_inner(base), size);
}
static int file_lock(sqlite3_file *base, int level) {
  return fault_inner(base)->pMethods->xLock(fault_inner(base), level);
}
static int file_unlock(sqlite3_file *base, int level) {
  return fault_inner(base)->pMethods->xUnlock(fault_inner(base), level);
}
static int file_check_lock(sqlite3_file *base, int *result) {
  return fault_inner(base)->pMethods->xCheckReservedLock(fault_inner(base), result);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
  File *file = (File *)base;
  sqlite3_file *below = fault_inner(base);
  if (operation == SQLITE_FCNTL_CHUNK_SIZE) file->chunk = *(int *)argument;
  if (operation != SQLITE_FCNTL_SIZE_HINT || file->chunk <= 0)
    return below->pMethods->xFileControl(below, operation, argument);
  pthread_mutex_lock(&fault_lock);
  Folder *folder = file->folder;
  sqlite3_int64 old = size_of(below), wanted = *(sqlite3_int64 *)argument;
  wanted = (wanted + file->chunk - 1) / file->chunk * file->chunk;
  int code = SQLITE_OK;
  if (wanted > old) {
    if (fault_strikes(folder, CFAULT_WRITE))
      code = folder->outcome == CFAULT_FULL && !folder->is_cut ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    else if (folder->room >= 0 && wanted - old > folder->room)
      code = SQLITE_FULL;
    else {
      fault_note_change(file, old, NULL, 0, old, wanted);
      code = below->pMethods->xFileControl(below, operation, argument);
      if (folder->room >= 0) folder->room -= size_of(below) - old;
    }
  }
  pthread_mutex_unlock(&fault_lock);
  return code;
}

static int file_sector(sqlite3_file *base) {
  return fault_inner(base)->pMethods->xSectorSize(fault_inner(base));
}
static int file_traits(sqlite3_file *base) {
  return fault_inner(base)->pMethods->xDeviceCharacteristics(fault_inner(base));
}
static int file_shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **at) {
  return fault_inner(base)->pMethods->xShmMap(fault_inner(base), page, size, extend, at);
}
static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
  return fault_inner(base)->pMethods->xShmLock(fault_inner(base), offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *base) {
  fault_inner(base)->pMethods->xShmBarrier(fault_inner(base));
}
static int file_shm_unmap(sqlite3_file *base, int remove) {
  return fault_inner(base)->pMethods->xShmUnmap(fault_inner(base), remove);
}

/// Version 2: without memory mapping of content, which no fault could reach.
const sqlite3_io_methods fault_file_methods = {
  2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock,
  file_unlock, file_check_lock, file_control, file_sector, file_traits, file_shm_map,
  file_shm_lock, file_shm_barrier, file_shm_unmap, 0, 0};
