/* backend/backend.c: how many threads all back ends may use. */
#include "backend/backend.h"

#include "base/machine.h"

int tn_backend_cores(void) { return tn_machine_cores(); }
