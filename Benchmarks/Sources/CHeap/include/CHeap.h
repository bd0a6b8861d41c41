// What the C library knows of the heap, which its Swift overlay leaves out.

#ifndef CHEAP_H
#define CHEAP_H

#include <stddef.h>

/// The bytes that the process has from the heap now.
size_t cheap_bytes(void);

#endif
