/* tests/slow/allocations_all.c: tests/fault/allocations.c with every request, each in a process. */
#define EVERY 1
#include "../fault/allocations.c"
