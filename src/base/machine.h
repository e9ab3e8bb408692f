/* base/machine.h: cores, memory and processor features of this machine. */
#ifndef TN_BASE_MACHINE_H
#define TN_BASE_MACHINE_H

#include <stddef.h>

/* Bytes of memory that can be used without the system ending somebody for it: what is available now, within
 * what the group of processes (cgroup) we belong to, and the groups around it, may have. 0 where the system
 * does not say. */
size_t tn_machine_memory(void);
/* The same for a system whose files /proc and /sys lie beneath a folder, for tests. */
size_t tn_machine_memory_in(const char *root);

/* The processors that this process may run on, at least 1. */
int tn_machine_processors(void);
/* How many threads can run at once, at least 1: on those processors, and within the time that our group of
 * processes and the groups around it are given, rounded to whole cores. */
int tn_machine_cores(void);
/* The same where /proc and /sys lie beneath a folder, for tests. */
int tn_machine_cores_in(const char *root);
#endif
