/* backend/cuda/card.c: one card and its queue.
 *
 * Kernels come as PTX, one text for each file of kernels/, which the driver
 * compiles when the first kernel of it is launched. The card's own memory holds
 * the fault of a run and the shift of its draws. */
#include "backend/cuda/card.h"

#include <string.h>

#include "backend/cuda/driver.h"
#include "base/embedded.h"

#define OLDEST_MAJOR 8   /* what the kernels are compiled for: cmake/card.cmake */

#if TN_HAVE_PTX
extern const tn_embedded tn_card_kernels_files[];
extern const size_t tn_card_kernels_file_count;
#else
static const tn_embedded tn_card_kernels_files[1];
static const size_t tn_card_kernels_file_count = 0;
#endif
#define MODULE_LIMIT 16

static const char *const kernel_names[TN_CARD_COUNT] = {
#define TN_CARD(name, ...) [TN_CARD_##name] = "card_kernel_" #name,
#include "backend/cuda/kernels/kernels.def"
};

/* What the card keeps for its queue. */
typedef struct {
  card_fault fault;
  uint64_t shift;
} card_memory;

struct tn_card {
  tn_card_queue queue;     /* first: a queue is its card */
  tn_heap *heap;
  tn_cu cu;
  int device;
  tn_card_info info;
  tn_cu_context context;
  tn_cu_stream stream;
  tn_cu_module modules[MODULE_LIMIT];
  tn_cu_function functions[TN_CARD_COUNT];
  card_memory *memory;     /* on the card */
  const char *failure;
};

/* ---- which there are ---- */
static void describe(const tn_cu *cu, int device, tn_card_info *info) {
  *info = (tn_card_info){ 0 };
  cu->device_name(info->name, (int)sizeof info->name, device);
  cu->device_memory(&info->bytes, device);
  cu->device_attribute(&info->major, TN_CU_CAPABILITY_MAJOR, device);
  cu->device_attribute(&info->minor, TN_CU_CAPABILITY_MINOR, device);
  cu->device_attribute(&info->multiprocessors, TN_CU_MULTIPROCESSORS, device);
  info->usable = info->major >= OLDEST_MAJOR && tn_card_kernels_file_count > 0;
}

int tn_card_list(tn_card_info *cards, const char **why) {
  tn_cu cu;
  int count = 0, device;
  if (!tn_cu_open(&cu, why)) return 0;
  if (cu.device_count(&count) != 0 || count == 0) *why = "the NVIDIA driver knows no card";
  if (count > TN_CARD_LIMIT) count = TN_CARD_LIMIT;
  for (int i = 0; i < count; i++)
    if (cu.device(&device, i) == 0) describe(&cu, device, &cards[i]);
  return count;
}

/* ---- failing ---- */
/* The first failure is kept: what follows is its consequence. */
static bool check(tn_card *card, int error) {
  if (error && !card->failure) card->failure = tn_cu_error(&card->cu, error);
  return !card->failure;
}

const char *tn_card_failure(const tn_card *card) { return card->failure; }

/* ---- kernels ---- */
static bool load_module(tn_card *card, size_t number) {
  const tn_embedded *file = &tn_card_kernels_files[number];
  char *text = tn_heap_alloc(card->heap, file->length + 1);
  if (!text) return check(card, TN_CU_OUT_OF_MEMORY);
  memcpy(text, file->text, file->length);
  text[file->length] = '\0';
  bool ok = check(card, card->cu.module_load(&card->modules[number], text));
  tn_heap_free(card->heap, text, file->length + 1);
  return ok;
}

/* In the module that has it: its PTX says ".entry NAME(". */
static bool names(const tn_embedded *file, const char *kernel) {
  static const char entry[] = ".entry ";
  size_t before = sizeof entry - 1, length = strlen(kernel);
  for (size_t at = 0; at + before + length < file->length; at++) {
    const unsigned char *text = file->text + at;
    if (*text == '.' && memcmp(text, entry, before) == 0 && memcmp(text + before, kernel, length) == 0 &&
        text[before + length] == '(')
      return true;
  }
  return false;
}

static bool find_function(tn_card *card, tn_card_kernel kernel) {
  for (size_t m = 0; m < tn_card_kernels_file_count && m < MODULE_LIMIT; m++) {
    if (!names(&tn_card_kernels_files[m], kernel_names[kernel])) continue;
    if (!card->modules[m] && !load_module(card, m)) return false;
    return check(card, card->cu.module_function(&card->functions[kernel], card->modules[m],
                                                 kernel_names[kernel]));
  }
  if (!card->failure) card->failure = "a kernel is missing from this build";
  return false;
}

static bool launch(tn_card_queue *queue, tn_card_kernel kernel, int64_t blocks, int threads,
                   const void *arguments, size_t bytes) {
  tn_card *card = (tn_card *)queue;
  (void)bytes;
  if (card->failure) return false;
  if (!card->functions[kernel] && !find_function(card, kernel)) return false;
  void *list[] = { (void *)(uintptr_t)arguments };
  return check(card, card->cu.launch(card->functions[kernel], (unsigned)blocks, 1, 1, (unsigned)threads, 1,
                                      1, 0, card->stream, list, NULL));
}

/* ---- opening ---- */
static bool open_parts(tn_card *card, int index) {
  const tn_cu *cu = &card->cu;
  if (!check(card, cu->device(&card->device, index))) return false;
  describe(cu, card->device, &card->info);
  if (!card->info.usable) {
    card->failure = tn_card_kernels_file_count ? "the card is too old: compute capability 8.0 is needed"
                                               : "this build has no kernels for cards: clang-19 was missing";
    return false;
  }
  if (!check(card, cu->context_retain(&card->context, card->device))) return false;
  if (!check(card, cu->context_set(card->context))) return false;
  if (!check(card, cu->stream_create(&card->stream, 1))) return false;
  card->memory = tn_card_allocate(card, sizeof *card->memory);
  if (!card->memory) return check(card, TN_CU_OUT_OF_MEMORY);
  card->queue.launch = launch;
  card->queue.fault = &card->memory->fault;
  card->queue.shift = &card->memory->shift;
  return check(card, cu->clear((tn_cu_pointer)(uintptr_t)card->memory, 0, sizeof *card->memory,
                               card->stream));
}

tn_card *tn_card_open(tn_heap *heap, int index, const char **why) {
  tn_card *card = tn_heap_alloc(heap, sizeof *card);
  if (!card) {
    *why = "memory ran out";
    return NULL;
  }
  card->heap = heap;
  if (tn_cu_open(&card->cu, why)) {
    if (open_parts(card, index)) return card;
    *why = card->failure;
  }
  tn_card_close(card);
  return NULL;
}

void tn_card_close(tn_card *card) {
  if (!card) return;
  const tn_cu *cu = &card->cu;
  if (card->context) cu->context_set(card->context);
  if (card->stream) cu->stream_synchronize(card->stream);
  tn_card_release(card, card->memory);
  for (size_t m = 0; m < MODULE_LIMIT; m++)
    if (card->modules[m]) cu->module_unload(card->modules[m]);
  if (card->stream) cu->stream_destroy(card->stream);
  if (card->context) cu->context_release(card->device);
  tn_heap_free(card->heap, card, sizeof *card);
}

const tn_card_info *tn_card_info_of(const tn_card *card) { return &card->info; }
tn_card_queue *tn_card_queue_of(tn_card *card) { return &card->queue; }

/* ---- memory ---- */
void *tn_card_allocate(tn_card *card, size_t bytes) {
  tn_cu_pointer pointer = 0;
  int error = card->failure ? 1 : card->cu.allocate(&pointer, bytes ? bytes : 1);
  if (error && error != TN_CU_OUT_OF_MEMORY) check(card, error);
  return error ? NULL : (void *)(uintptr_t)pointer;
}

void tn_card_release(tn_card *card, void *memory) {
  if (memory) card->cu.release((tn_cu_pointer)(uintptr_t)memory);
}

bool tn_card_put(tn_card *card, void *to, const void *from, size_t bytes) {
  if (bytes == 0 || card->failure) return !card->failure;
  return check(card, card->cu.put((tn_cu_pointer)(uintptr_t)to, from, bytes, card->stream));
}

bool tn_card_get(tn_card *card, void *to, const void *from, size_t bytes) {
  if (bytes == 0 || card->failure) return !card->failure;
  return check(card, card->cu.get(to, (tn_cu_pointer)(uintptr_t)from, bytes, card->stream));
}

/* The words travel with the call: memory of the host is read when it is copied. */
bool tn_card_shift_draws(tn_card *card, uint64_t words) {
  return tn_card_put(card, &card->memory->shift, &words, sizeof words) &&
         check(card, card->cu.stream_synchronize(card->stream));
}

/* ---- ending ---- */
static bool fail(const tn_card *card, tn_fault *fault) {
  *fault = (tn_fault){ .kind = TN_FAULT_INTERNAL, .reason = card->failure };
  return false;
}

bool tn_card_finish(tn_card *card, tn_fault *fault, int64_t *step) {
  card_fault found = { 0 };
  tn_card_get(card, &found, &card->memory->fault, sizeof found);
  if (!card->failure) check(card, card->cu.stream_synchronize(card->stream));
  if (card->failure) return fail(card, fault);
  if (tn_card_fault_of(&found, fault)) return true;
  *step = found.step;
  card->cu.clear((tn_cu_pointer)(uintptr_t)&card->memory->fault, 0, sizeof found, card->stream);
  return false;
}
