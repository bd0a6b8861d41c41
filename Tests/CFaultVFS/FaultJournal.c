// What has been written but not synced, and what a power cut leaves of it.
#define _GNU_SOURCE
#include "FaultVFS.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MARK: Contents

static void discard(Folder *folder, Change *change) {
  if (change->previous) change->previous->next = change->next; else folder->first = change->next;
  if (change->next) change->next->previous = change->previous; else folder->last = change->previous;
  free(change->path);
  free(change->old_bytes);
  free(change->new_bytes);
  free(change);
}

void fault_forget_changes(Folder *folder, const char *path) {
  Change *next;
  for (Change *change = folder->first; change; change = next) {
    next = change->next;
    if (!path || strcmp(change->path, path) == 0) discard(folder, change);
  }
}

void fault_note_change(File *file, sqlite3_int64 offset, const void *bytes, size_t count,
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
    sqlite3_file *below = fault_inner((sqlite3_file *)file);
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

// MARK: Names

void fault_forget_names(Folder *folder) {
  for (Name *name = folder->last_name, *previous; name; name = previous) {
    previous = name->previous;
    free(name->path);
    free(name->bytes);
    free(name);
  }
  folder->last_name = NULL;
}

void fault_note_name(Folder *folder, const char *path, int is_gone) {
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
    // Its folder may have gone, which nothing here remembers.
    if (descriptor >= 0 && write(descriptor, name->bytes, name->count) < 0) abort();
    if (descriptor >= 0) close(descriptor);
  }
  folder->last_name = name->previous;
  free(name->path);
  free(name->bytes);
  free(name);
}

void cfault_folder_synced(int number) {
  pthread_mutex_lock(&fault_lock);
  fault_forget_names(fault_folders[number]);
  pthread_mutex_unlock(&fault_lock);
}

// MARK: Power

void cfault_remember(int number) {
  pthread_mutex_lock(&fault_lock);
  fault_folders[number]->remembers = 1;
  pthread_mutex_unlock(&fault_lock);
}

void cfault_cut_power(int number) {
  pthread_mutex_lock(&fault_lock);
  fault_folders[number]->is_cut = 1;
  pthread_mutex_unlock(&fault_lock);
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
  pthread_mutex_lock(&fault_lock);
  Folder *folder = fault_folders[number];
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
    fault_forget_changes(folder, NULL);
    // Folders change in order: the first of the new names may have made it.
    long count = 0;
    for (Name *name = folder->last_name; name; name = name->previous) count++;
    long kept = seed ? (long)(next_random(&seed) % (uint64_t)(count + 1)) : 0;
    for (; count > kept; count--) take_back_name(folder);
    fault_forget_names(folder);
    remove_indexes(folder->path);
    folder->is_cut = folder->remembers = 0;
  }
  pthread_mutex_unlock(&fault_lock);
  return open_files;
}
