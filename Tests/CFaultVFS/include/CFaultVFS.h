// A SQLite file layer for tests that goes wrong on demand: it stands before the kernel's own and
// concerns only files in folders that a test has named, so that tests may run side by side.
#pragma once

#include <stdint.h>

/// What can go wrong, as bits.
enum {
  CFAULT_OPEN = 1,
  CFAULT_WRITE = 2,
  CFAULT_SYNC = 4,
  CFAULT_TRUNCATE = 8,
  CFAULT_DELETE = 16,
  CFAULT_READ = 32
};

/// How a write goes wrong; everything else has one way only, unless the process is killed.
enum {
  /// Nothing goes wrong.
  CFAULT_WORKS = -1,
  /// Nothing is written, and SQLite is told of an error.
  CFAULT_FAILS = 0,
  /// The first half is written, and SQLite is told of an error.
  CFAULT_TEARS = 1,
  /// Nothing is written, because there is no room.
  CFAULT_FULL = 2,
  /// The process is killed (SIGKILL) before anything is done, whatever the operation.
  CFAULT_KILLS = 3,
  /// Nothing can be written, and what is opened is opened for reading, as on a disk that is mounted so.
  CFAULT_READ_ONLY = 4
};

/// Makes the layer the process's default, once. Returns SQLite's result code.
int cfault_install(void);

/// Takes charge of a folder's files that are opened from now on. Returns its number, -1 when there
/// are too many.
int cfault_begin(const char *folder);
/// Leaves the folder alone. All its files must be closed.
void cfault_end(int number);

/// Lets the `nth` operation (from 1) of the given kinds go wrong; with `lasting`, those after it too.
/// Counts anew. An `nth` of 0 only counts.
void cfault_arm(int number, unsigned kinds, long nth, int lasting, int outcome);
/// Counts an operation on a file that is not SQLite's, and says how it is to go.
int cfault_step(int number, unsigned kind);
/// Nothing goes wrong any more.
void cfault_disarm(int number);
/// Operations of the armed kinds since then, those that went wrong included.
long cfault_seen(int number);
/// Operations that went wrong since then.
long cfault_injected(int number);
/// Calls of sync, for one file, since the folder was begun.
long cfault_syncs(int number);

/// The room that is left for files to grow, in bytes; -1 for any.
void cfault_set_room(int number, int64_t bytes);
int64_t cfault_room(int number);

/// From now on it is remembered what has been written but not synced, and which names the folder has
/// got and lost.
void cfault_remember(int number);
/// A program has synced the folder itself.
void cfault_folder_synced(int number);
/// The power goes: everything that would change a file fails. Close all files, then restore.
void cfault_cut_power(int number);
/// Power is back: files have what was synced, and of the rest what chance (`seed`, 0: nothing) left.
/// Returns the number of files that are still open; nothing is done unless that is 0.
int cfault_restore(int number, uint64_t seed);

/// The power of a real file system goes, as far as it is concerned: what it has not written yet, its
/// own log included, never will be. Takes root. Returns 0, or -1 and `errno`.
int cfault_shut_down(const char *folder);

/// Runs SQL on a file as a program does that knows nothing of Cairn. Returns SQLite's result code.
int cfault_execute(const char *path, const char *sql);
