// The folders in the layer's charge, and the plan of what goes wrong in each.
#define _GNU_SOURCE
#include "FaultVFS.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
Folder *fault_folders[FOLDER_LIMIT];

Folder *fault_folder_of(const char *path) {
  if (!path) return NULL;
  for (int i = 0; i < FOLDER_LIMIT; i++) {
    Folder *folder = fault_folders[i];
    if (folder && strncmp(path, folder->path, folder->length) == 0 && path[folder->length] == '/')
      return folder;
  }
  return NULL;
}

int fault_strikes(Folder *folder, unsigned kind) {
  if (folder->is_cut && kind != CFAULT_READ) return 1;
  if (!(folder->kinds & kind)) return 0;
  folder->seen++;
  if (folder->nth == 0 || folder->seen < folder->nth) return 0;
  if (folder->seen > folder->nth && !folder->lasting) return 0;
  folder->injected++;
  if (folder->outcome == CFAULT_KILLS) raise(SIGKILL);
  return 1;
}

int cfault_begin(const char *path) {
  char resolved[PATH_MAX];
  if (!realpath(path, resolved)) return -1;
  Folder *folder = calloc(1, sizeof(Folder));
  folder->path = strdup(resolved);
  folder->length = strlen(resolved);
  folder->room = -1;
  int number = -1;
  pthread_mutex_lock(&fault_lock);
  for (int i = 0; i < FOLDER_LIMIT && number < 0; i++) {
    if (fault_folders[i]) continue;
    fault_folders[i] = folder;
    number = i;
  }
  pthread_mutex_unlock(&fault_lock);
  if (number < 0) {
    free(folder->path);
    free(folder);
  }
  return number;
}

void cfault_end(int number) {
  pthread_mutex_lock(&fault_lock);
  Folder *folder = fault_folders[number];
  fault_folders[number] = NULL;
  if (folder) fault_forget_changes(folder, NULL);
  if (folder) fault_forget_names(folder);
  // A file that is still open refers to it.
  if (folder && folder->open_files == 0) {
    free(folder->path);
    free(folder);
  }
  pthread_mutex_unlock(&fault_lock);
}

void cfault_arm(int number, unsigned kinds, long nth, int lasting, int outcome) {
  pthread_mutex_lock(&fault_lock);
  Folder *folder = fault_folders[number];
  folder->kinds = kinds;
  folder->nth = nth;
  folder->lasting = lasting;
  folder->outcome = outcome;
  folder->seen = folder->injected = 0;
  pthread_mutex_unlock(&fault_lock);
}

int cfault_step(int number, unsigned kind) {
  pthread_mutex_lock(&fault_lock);
  Folder *folder = fault_folders[number];
  int struck = fault_strikes(folder, kind);
  int result = !struck ? CFAULT_WORKS : folder->is_cut ? CFAULT_FAILS : folder->outcome;
  pthread_mutex_unlock(&fault_lock);
  return result;
}

void cfault_disarm(int number) {
  pthread_mutex_lock(&fault_lock);
  fault_folders[number]->kinds = 0;
  pthread_mutex_unlock(&fault_lock);
}

static long number_of(int number, size_t offset) {
  pthread_mutex_lock(&fault_lock);
  long result = *(long *)((char *)fault_folders[number] + offset);
  pthread_mutex_unlock(&fault_lock);
  return result;
}

long cfault_seen(int number) { return number_of(number, offsetof(Folder, seen)); }
long cfault_injected(int number) { return number_of(number, offsetof(Folder, injected)); }
long cfault_syncs(int number) { return number_of(number, offsetof(Folder, syncs)); }

void cfault_set_room(int number, int64_t bytes) {
  pthread_mutex_lock(&fault_lock);
  fault_folders[number]->room = bytes;
  pthread_mutex_unlock(&fault_lock);
}

int64_t cfault_room(int number) {
  pthread_mutex_lock(&fault_lock);
  int64_t result = fault_folders[number]->room;
  pthread_mutex_unlock(&fault_lock);
  return result;
}
