// The one entry point of the Swift runtime that Cairn uses and Swift source cannot name.

#ifndef CAIRN_CRUNTIME_H
#define CAIRN_CRUNTIME_H

// Declared by the runtime (stable ABI): what loading a weak reference does.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

// Takes a reference to a native Swift object, or returns NULL when it is being freed.
static inline void *_Nullable cairn_try_retain(void *_Nonnull object) {
  return swift_tryRetain(object);
}

#endif
