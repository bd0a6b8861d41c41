#define _GNU_SOURCE
#include "CRuntime.h"
#include <link.h>
// What Cairn needs of the Swift runtime and of the processor and Swift source cannot name.

_Thread_local void *_Nullable cairn_thread_slot;

static int note_loads(struct dl_phdr_info *info, size_t size, void *loads) {
  *(unsigned long long *)loads = info->dlpi_adds;
  return 1;
}

unsigned long long cairn_library_loads(void) {
  unsigned long long loads = 0;
  dl_iterate_phdr(note_loads, &loads);
  return loads;
}
