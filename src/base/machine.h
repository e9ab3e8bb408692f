/* base/machine.h: what the machine that runs us has to give. */
#ifndef TN_BASE_MACHINE_H
#define TN_BASE_MACHINE_H

#include <stddef.h>

/* Bytes of memory that can be used without the system ending somebody for it: what is available now, within
 * what the group of processes we belong to may have. 0 where the system does not say. */
size_t tn_machine_memory(void);
#endif
