/* base/machine.h: cores, memory and processor features of this machine. */
#ifndef TN_BASE_MACHINE_H
#define TN_BASE_MACHINE_H

#include <stddef.h>

/* Bytes of memory that can be used before the system starts to kill processes: what is available
 * now, within the limits of our control group (cgroup) and the enclosing ones. 0 if the system does
 * not say. */
size_t tn_machine_memory(void);
/* The same with /proc and /sys below another folder, for tests. */
size_t tn_machine_memory_in(const char *root);

/* The processors that this process may run on, at least 1. */
int tn_machine_processors(void);
/* How many threads can run at once, at least 1: on those processors, and within the quota of our
 * control group and the enclosing ones, rounded to whole cores. */
int tn_machine_cores(void);
/* The same with /proc and /sys below another folder, for tests. */
int tn_machine_cores_in(const char *root);
#endif
