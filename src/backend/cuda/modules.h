/* backend/cuda/modules.h: the kernels of a card, as its driver knows them. */
#ifndef TN_BACKEND_CUDA_MODULES_H
#define TN_BACKEND_CUDA_MODULES_H

#include "backend/cuda/driver.h"
#include "backend/cuda/queue.h"

#define TN_CARD_MODULE_LIMIT 48

typedef struct {
  tn_cu_module modules[TN_CARD_MODULE_LIMIT];
  tn_cu_function functions[TN_CARD_COUNT];
} tn_card_modules;

/* Loads every kernel into the context that is current. 0, or the driver's error. What was loaded is unloaded
 * by the caller, in either case. */
int tn_card_modules_load(tn_card_modules *to, const tn_cu *cu);
void tn_card_modules_unload(tn_card_modules *from, const tn_cu *cu);
#endif
