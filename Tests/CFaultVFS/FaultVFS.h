// What the parts of the layer share: the folders in its charge, and what of their files is not
// synced. The plan of faults is in FaultFolders.c, the journal of what a power cut takes back in
// FaultJournal.c, the files' methods in FaultFiles.c, the layer's in FaultLayer.c.
#pragma once

#include "CFaultVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

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


/// Guards everything here.
extern pthread_mutex_t fault_lock;
enum { FOLDER_LIMIT = 512 };
extern Folder *fault_folders[FOLDER_LIMIT];
extern const sqlite3_io_methods fault_file_methods;

static inline sqlite3_file *fault_inner(sqlite3_file *file) {
  return (sqlite3_file *)((File *)file + 1);
}

// The rest is called with the lock held.

/// The folder that has charge of a file; NULL for none.
Folder *fault_folder_of(const char *path);
/// Whether this operation goes wrong.
int fault_strikes(Folder *folder, unsigned kind);

/// A file is about to be written from `offset` on, or, without bytes, to get another size.
void fault_note_change(File *file, sqlite3_int64 offset, const void *bytes, size_t count,
                       sqlite3_int64 old_size, sqlite3_int64 new_size);
/// The changes of a file are synced, or those of all files when there is no path.
void fault_forget_changes(Folder *folder, const char *path);
/// The folder is about to get or to lose a name.
void fault_note_name(Folder *folder, const char *path, int is_gone);
/// The folder's names are synced.
void fault_forget_names(Folder *folder);

#pragma GCC visibility pop
