// The layer itself: opens and deletes files, and hands everything else on.
#include "FaultVFS.h"

#include <string.h>
#include <unistd.h>

static sqlite3_vfs *real;
static sqlite3_vfs layer;

static int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                      int *flags_out) {
  (void)vfs;
  pthread_mutex_lock(&fault_lock);
  Folder *folder = fault_folder_of(path);
  int struck = folder ? fault_strikes(folder, CFAULT_OPEN) : 0;
  if (struck && folder->outcome == CFAULT_READ_ONLY && !folder->is_cut) {
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    struck = 0;
  }
  if (folder && !struck) {
    folder->open_files++;
    if (path && access(path, F_OK) != 0) fault_note_name(folder, path, 0);
  }
  pthread_mutex_unlock(&fault_lock);
  base->pMethods = NULL;
  if (!folder) return real->xOpen(real, path, base, flags, flags_out);
  if (struck) return SQLITE_CANTOPEN;
  int code = real->xOpen(real, path, fault_inner(base), flags, flags_out);
  if (code != SQLITE_OK) {
    if (fault_inner(base)->pMethods) fault_inner(base)->pMethods->xClose(fault_inner(base));
    pthread_mutex_lock(&fault_lock);
    folder->open_files--;
    pthread_mutex_unlock(&fault_lock);
    return code;
  }
  File *file = (File *)base;
  file->folder = folder;
  file->path = strdup(path);
  file->chunk = 0;
  file->syncs_folder =
    (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
  base->pMethods = &fault_file_methods;
  return SQLITE_OK;
}

static int layer_delete(sqlite3_vfs *vfs, const char *path, int sync) {
  (void)vfs;
  pthread_mutex_lock(&fault_lock);
  Folder *folder = fault_folder_of(path);
  int struck = folder ? fault_strikes(folder, CFAULT_DELETE) : 0;
  if (folder && !struck && access(path, F_OK) == 0) fault_note_name(folder, path, 1);
  if (folder && !struck) fault_forget_changes(folder, path);
  if (folder && !struck && sync) fault_forget_names(folder);
  pthread_mutex_unlock(&fault_lock);
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
