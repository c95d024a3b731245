// Counts allocations, by standing in front of the C library's. On Linux with glibc only.
#include <stdint.h>

// Calls of malloc, calloc, realloc and aligned allocations on this thread so far.
int64_t counting_allocations(void);
// Bytes that are allocated now, in all threads.
int64_t counting_bytes_in_use(void);
