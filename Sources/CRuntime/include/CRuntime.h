// What Cairn needs of the Swift runtime and of the processor and Swift source cannot name.

#ifndef CAIRN_CRUNTIME_H
#define CAIRN_CRUNTIME_H

// Declared by the runtime (stable ABI): what loading a weak reference does.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

// Takes a reference to a native Swift object, or returns NULL when it is being freed.
static inline void *_Nullable cairn_try_retain(void *_Nonnull object) {
  return swift_tryRetain(object);
}

// Asks for the memory around an address, which will be written; any address will do.
static inline void cairn_fetch_ahead(const void *_Nonnull address) {
  __builtin_prefetch(address, 1);
}

// How many libraries the process has loaded so far; grows with each `dlopen` that loads one.
extern unsigned long long cairn_library_loads(void);

// One word of the calling thread's own, NULL at first. Its address tells threads apart while they
// run, and finding it costs less than asking Foundation for the thread.
extern _Thread_local void *_Nullable cairn_thread_slot;

static inline void *_Nullable *_Nonnull cairn_thread_slot_address(void) {
  return &cairn_thread_slot;
}

#endif
