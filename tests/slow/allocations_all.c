/* tests/slow/allocations_all.c: tests/fault/allocations.c with every request for memory, each in a process. */
#define EVERY 1
#include "../fault/allocations.c"
