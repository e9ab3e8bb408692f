/* backend/cuda/driver.c: finding libcuda. */
#include "backend/cuda/driver.h"

#if defined(__linux__)
#include <dlfcn.h>
#include <string.h>

/* POSIX lets a function pointer pass as a data pointer; C does not, so the bytes are copied. */
static int find_all(void *library, tn_cu *cu) {
  int missing = 0;
  void *found;
#define FIND(name, symbol, ...)                     \
  found = dlsym(library, symbol);                   \
  memcpy(&cu->name, &found, sizeof found);          \
  missing += !found;
  TN_CU_FUNCTIONS(FIND)
#undef FIND
  return missing;
}

static const char *start(tn_cu *cu) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return "there is no NVIDIA driver (libcuda.so.1) on this machine";
  if (find_all(library, cu)) return "the NVIDIA driver is too old: it lacks functions that tern needs";
  int error = cu->init(0);
  return error ? tn_cu_error(cu, error) : NULL;
}

bool tn_cu_open(tn_cu *cu, const char **why) {
  *why = start(cu);
  return !*why;
}
#else
bool tn_cu_open(tn_cu *cu, const char **why) {
  (void)cu;
  *why = "this build of tern does not know NVIDIA's driver on this system";
  return false;
}
#endif

const char *tn_cu_error(const tn_cu *cu, int error) {
  const char *text = NULL;
  return cu->error_text(error, &text) == 0 && text ? text : "an error without a name";
}
