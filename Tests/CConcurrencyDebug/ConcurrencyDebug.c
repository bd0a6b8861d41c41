// All tests of the package check that contexts are used on their queues; what they start does, too.
#include "CConcurrencyDebug.h"
#include <stdlib.h>

__attribute__((constructor)) static void turn_on(void) {
  setenv("com.apple.CoreData.ConcurrencyDebug", "1", 0);
}
