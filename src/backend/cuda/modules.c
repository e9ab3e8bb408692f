/* backend/cuda/modules.c: loading the kernels.
 *
 * They come as PTX, one module for each file of kernels/. The first time that a
 * machine sees a module its driver compiles it, which takes up to a second; then
 * it finds it in a cache of its own. Threads do not help: NVIDIA's driver
 * compiles one module at a time, whoever asks. */
#include "backend/cuda/modules.h"

#include "backend/cuda/card.h"
#include "base/embedded.h"

#if TN_HAVE_PTX
extern const tn_embedded tn_card_kernels_files[];
extern const size_t tn_card_kernels_file_count;
#else
static const tn_embedded tn_card_kernels_files[1];
static const size_t tn_card_kernels_file_count = 0;
#endif

static const char *const kernel_names[TN_CARD_COUNT] = {
#define TN_CARD(name, ...) [TN_CARD_##name] = "card_kernel_" #name,
#include "backend/cuda/kernels/kernels.def"
};

const char *tn_card_lacks_kernels(void) {
  return tn_card_kernels_file_count ? NULL : "this build has no GPU kernels: clang-19 was missing";
}

/* The kernels that this module has: each is in one. */
static int find_functions(tn_card_modules *to, const tn_cu *cu, tn_cu_module module) {
  for (int k = 0; k < TN_CARD_COUNT; k++) {
    if (to->functions[k]) continue;
    tn_cu_function function = NULL;
    int error = cu->module_function(&function, module, kernel_names[k]);
    if (error == 0) to->functions[k] = function;
    else if (error != TN_CU_NOT_FOUND) return error;
  }
  return 0;
}

int tn_card_modules_load(tn_card_modules *to, const tn_cu *cu) {
  if (tn_card_kernels_file_count > TN_CARD_MODULE_LIMIT) return TN_CU_NOT_FOUND;
  for (size_t m = 0; m < tn_card_kernels_file_count; m++) {
    tn_cu_module module = NULL;
    int error = cu->module_load(&module, tn_card_kernels_files[m].text);
    if (error) return error;
    to->modules[m] = module;
    error = find_functions(to, cu, module);
    if (error) return error;
  }
  for (int k = 0; k < TN_CARD_COUNT; k++)
    if (!to->functions[k]) return TN_CU_NOT_FOUND;
  return 0;
}

void tn_card_modules_unload(tn_card_modules *from, const tn_cu *cu) {
  for (size_t m = 0; m < TN_CARD_MODULE_LIMIT; m++)
    if (from->modules[m]) cu->module_unload(from->modules[m]);
}
