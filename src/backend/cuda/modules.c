/* backend/cuda/modules.c: loading the kernels.
 *
 * They come as PTX, one module for each file of kernels/. The first time that a
 * machine sees a module its driver compiles it, which takes up to a second; then
 * it finds it in a cache of its own. The driver may be called by several threads,
 * so each takes the largest module that none has begun, loads it and looks up its
 * kernels: a driver may put off compiling until a kernel is asked for. A driver
 * compiles on the stack of its caller, so these threads have the usual stack, not
 * the small one of base/pool.c. */
#include "backend/cuda/modules.h"

#include <stdatomic.h>

#include "base/embedded.h"

#if defined(TN_HAVE_THREADS) && TN_HAVE_THREADS
#include <pthread.h>
#include <signal.h>
#endif

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

size_t tn_card_module_count(void) { return tn_card_kernels_file_count; }

/* What the threads share. */
typedef struct {
  tn_card_modules *to;
  const tn_cu *cu;
  tn_cu_context context;
  size_t order[TN_CARD_MODULE_LIMIT];   /* modules, the largest first */
  int errors[TN_CARD_MODULE_LIMIT];     /* of each module */
  size_t count;
  atomic_size_t next;                   /* of the order */
  atomic_bool failed;                   /* no further module is begun */
} loading;

/* The kernels that this module has: each is in one. */
static int find_functions(const loading *l, tn_cu_module module) {
  for (int k = 0; k < TN_CARD_COUNT; k++) {
    tn_cu_function function = NULL;
    int error = l->cu->module_function(&function, module, kernel_names[k]);
    if (error == 0) l->to->functions[k] = function;
    else if (error != TN_CU_NOT_FOUND) return error;
  }
  return 0;
}

static int load(const loading *l, size_t number) {
  tn_cu_module *module = &l->to->modules[number];
  int error = l->cu->module_load(module, tn_card_kernels_files[number].text);
  if (error) *module = NULL;   /* whatever the driver left there */
  return error ? error : find_functions(l, *module);
}

static void load_some(loading *l) {
  for (size_t i; !atomic_load(&l->failed) && (i = atomic_fetch_add(&l->next, 1)) < l->count;) {
    size_t number = l->order[i];
    l->errors[number] = load(l, number);
    if (l->errors[number]) atomic_store(&l->failed, true);
  }
}

static void order_by_size(loading *l) {
  for (size_t i = 0; i < l->count; i++) {
    size_t at = i;
    for (; at > 0; at--) {
      size_t before = l->order[at - 1];
      if (tn_card_kernels_files[before].length >= tn_card_kernels_files[i].length) break;
      l->order[at] = before;
    }
    l->order[at] = i;
  }
}

#if defined(TN_HAVE_THREADS) && TN_HAVE_THREADS
/* A context is current in the threads that have said so. One that cannot leaves the work to the others. */
static void *help(void *context) {
  loading *l = context;
  if (l->cu->context_set(l->context) == 0) load_some(l);
  return NULL;
}

/* Signals are for the threads that the program has itself. What cannot be started is done without. */
static int start_helpers(loading *l, pthread_t *helpers, int wanted) {
  sigset_t all, before;
  int begun = 0;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
  while (begun < wanted && pthread_create(&helpers[begun], NULL, help, l) == 0) begun++;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return begun;
}

static void load_all(loading *l, int threads) {
  pthread_t helpers[TN_CARD_MODULE_LIMIT];
  int most = (int)l->count < threads ? (int)l->count : threads;
  int begun = start_helpers(l, helpers, most - 1);
  load_some(l);
  for (int i = 0; i < begun; i++) (void)pthread_join(helpers[i], NULL);
}
#else
static void load_all(loading *l, int threads) {
  (void)threads;
  load_some(l);
}
#endif

int tn_card_modules_load(tn_card_modules *to, const tn_cu *cu, tn_cu_context context, int threads) {
  loading l = { .to = to, .cu = cu, .context = context, .count = tn_card_kernels_file_count };
  if (l.count > TN_CARD_MODULE_LIMIT) return TN_CU_NOT_FOUND;
  order_by_size(&l);
  load_all(&l, threads);
  for (size_t m = 0; m < l.count; m++)
    if (l.errors[m]) return l.errors[m];
  for (int k = 0; k < TN_CARD_COUNT; k++)
    if (!to->functions[k]) return TN_CU_NOT_FOUND;
  return 0;
}

void tn_card_modules_unload(tn_card_modules *from, const tn_cu *cu) {
  for (size_t m = 0; m < TN_CARD_MODULE_LIMIT; m++)
    if (from->modules[m]) cu->module_unload(from->modules[m]);
}
