// Tells ThreadSanitizer when Swift's `Mutex` is taken and given up by threads that wait for it.
//
// The fast path of `Synchronization.Mutex` is compiled into our own code, and ThreadSanitizer sees
// its atomics. The slow path, where the kernel hands the mutex over (FUTEX_LOCK_PI), is in the
// toolchain's libswiftSynchronization, which is not instrumented: without this, everything that a
// contended mutex guards is reported as a race. A suppression would have to name what is guarded,
// and would hide real races of it; this hides nothing.
//
// Loaded with LD_PRELOAD by Tests/sanitize.sh. The names are those of `_MutexHandle._lockSlow`,
// `_tryLockSlow` and `_unlockSlow`, Swift methods whose `self`, the mutex's word, is in the
// context register; the script checks that the toolchain still has them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*lock_function)(uint32_t thread, SELF void *mutex);
typedef SWIFT bool (*try_function)(SELF void *mutex);
typedef SWIFT void (*unlock_function)(SELF void *mutex);
typedef void (*tell_function)(void *address);

static lock_function lock_slow;
static try_function try_lock_slow;
static unlock_function unlock_slow;
static tell_function acquire;
static tell_function release;

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

__attribute__((constructor)) static void find(void) {
  lock_slow = (lock_function)dlsym(RTLD_NEXT, LOCK);
  try_lock_slow = (try_function)dlsym(RTLD_NEXT, TRY);
  unlock_slow = (unlock_function)dlsym(RTLD_NEXT, UNLOCK);
  // Absent in programs without ThreadSanitizer that a test starts.
  acquire = (tell_function)dlsym(RTLD_DEFAULT, "__tsan_acquire");
  release = (tell_function)dlsym(RTLD_DEFAULT, "__tsan_release");
}

SWIFT void cairn_lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void cairn_lock_slow(uint32_t thread, SELF void *mutex) {
  lock_slow(thread, mutex);
  if (acquire) acquire(mutex);
}

SWIFT bool cairn_try_lock_slow(SELF void *mutex) __asm__(TRY);
SWIFT bool cairn_try_lock_slow(SELF void *mutex) {
  bool taken = try_lock_slow(mutex);
  if (taken && acquire) acquire(mutex);
  return taken;
}

SWIFT void cairn_unlock_slow(SELF void *mutex) __asm__(UNLOCK);
SWIFT void cairn_unlock_slow(SELF void *mutex) {
  if (release) release(mutex);
  unlock_slow(mutex);
}
