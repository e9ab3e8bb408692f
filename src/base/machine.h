/* base/machine.h: what the machine that runs us has to give. */
#ifndef TN_BASE_MACHINE_H
#define TN_BASE_MACHINE_H

#include <stddef.h>

/* Bytes of memory that can be used without the system ending somebody for it: what is available now, within
 * what the group of processes (cgroup) we belong to, and the groups around it, may have. 0 where the system
 * does not say. */
size_t tn_machine_memory(void);
/* The same for a system whose files /proc and /sys lie beneath a folder, for tests. */
size_t tn_machine_memory_in(const char *root);
#endif
