/* backend/cuda/card.c: one card and its queue.
 *
 * All kernels are loaded when the card is opened (modules.c), because the sandbox
 * forbids opening files later. The card's own memory holds a default fault and
 * random shift; a plan brings its own (plan/card.c). */
#include "backend/cuda/card.h"

#include "backend/cuda/driver.h"
#include "backend/cuda/modules.h"
#include "backend/cuda/resident.h"
#include "base/clock.h"

#if defined(__linux__)
#include <time.h>
#endif

#define OLDEST_MAJOR 8   /* compute capability of the kernels: cmake/card.cmake */
#define SPARE_PART 4     /* of the memory that is left: others need some, and more plans may follow */
#define SPIN_SECONDS 2e-3   /* longer waits sleep, so that other processes run */

/* Defaults of the queue, in the card's memory. */
typedef struct {
  card_fault fault;
  uint64_t shift;
} card_memory;

struct tn_card {
  tn_card_queue queue;     /* first, so that a queue pointer is a card pointer */
  tn_heap *heap;
  tn_cu cu;
  int device;
  tn_card_info info;
  tn_cu_context context;
  tn_cu_stream stream;
  tn_cu_stream aside;      /* for commands that bypass the queue */
  tn_card_modules kernels;
  int room[TN_CARD_COUNT];   /* by kernel: dynamic shared memory that make_room has got */
  card_memory *memory;     /* on the card */
  const char *failure;
  uint64_t queued;         /* kernels and copies so far */
  uint64_t queued_before;  /* the same at the last tn_card_queue_after */
  struct tn_resident *residents;   /* linked list: resident.c */
};

static tn_cu_pointer at(const void *memory) { return (tn_cu_pointer)(uintptr_t)memory; }

/* ---- listing ---- */
static const char *judge(const tn_card_info *info) {
  if (tn_card_lacks_kernels()) return tn_card_lacks_kernels();
  return info->major < OLDEST_MAJOR ? "the GPU is too old: compute capability 8.0 is needed" : NULL;
}

static void describe(const tn_cu *cu, int device, tn_card_info *info) {
  *info = (tn_card_info){ 0 };
  cu->device_name(info->name, (int)sizeof info->name, device);
  cu->device_memory(&info->bytes, device);
  cu->device_attribute(&info->major, TN_CU_CAPABILITY_MAJOR, device);
  cu->device_attribute(&info->minor, TN_CU_CAPABILITY_MINOR, device);
  cu->device_attribute(&info->multiprocessors, TN_CU_MULTIPROCESSORS, device);
  info->why_not = judge(info);
}

static int count_cards(const tn_cu *cu, const char **why) {
  int count = 0;
  if (cu->device_count(&count) != 0 || count <= 0) *why = "the NVIDIA driver finds no GPU";
  return count > 0 ? count : 0;
}

int tn_card_list(tn_card_info *cards, const char **why) {
  tn_cu cu;
  int device;
  if (!tn_cu_open(&cu, why)) return 0;
  int count = count_cards(&cu, why);
  if (count > TN_CARD_LIMIT) count = TN_CARD_LIMIT;
  for (int i = 0; i < count; i++)
    if (cu.device(&device, i) == 0) describe(&cu, device, &cards[i]);
  return count;
}

/* ---- failing ---- */
/* Keeps the first failure: later ones follow from it. */
static bool check(tn_card *card, int error) {
  if (error && !card->failure) card->failure = tn_cu_error(&card->cu, error);
  return !card->failure;
}

const char *tn_card_failure(const tn_card *card) { return card->failure; }

bool tn_card_enter(tn_card *card) {
  return !card->failure && check(card, card->cu.context_set(card->context));
}

bool tn_card_fail(const tn_card *card, tn_fault *fault) {
  *fault = (tn_fault){ .kind = TN_FAULT_DEVICE,
                       .reason = card->failure ? card->failure : "the GPU has not enough memory left" };
  return false;
}

/* ---- kernels ---- */
static bool load_kernels(tn_card *card) {
  return check(card, tn_card_modules_load(&card->kernels, &card->cu));
}

/* A kernel needs permission for more than 48 KB of shared memory per block, with its static part. It then
 * also gets the largest shared part of the L1 cache, so that several blocks fit on a multiprocessor. */
static bool make_room(tn_card *card, tn_card_kernel kernel, int room) {
  if (room <= card->room[kernel]) return true;
  card->room[kernel] = room;
  tn_cu_function function = card->kernels.functions[kernel];
  return check(card, card->cu.function_set(function, TN_CU_ROOM, room)) &&
         check(card, card->cu.function_set(function, TN_CU_SHARED_PART, 100));
}

static bool launch(tn_card_queue *queue, tn_card_kernel kernel, int64_t blocks, int threads, int room,
                   const void *arguments, size_t bytes) {
  tn_card *card = (tn_card *)queue;
  (void)bytes;
  if (card->failure || !make_room(card, kernel, room)) return false;
  card->queued++;
  void *list[] = { (void *)(uintptr_t)arguments };
  return check(card, card->cu.launch(card->kernels.functions[kernel], (unsigned)blocks, 1, 1,
                                      (unsigned)threads, 1, 1, (unsigned)room, card->stream, list, NULL));
}

/* ---- opening ---- */
static bool open_parts(tn_card *card, int index) {
  const tn_cu *cu = &card->cu;
  if (!check(card, cu->device(&card->device, index))) return false;
  describe(cu, card->device, &card->info);
  card->failure = card->info.why_not;
  if (card->failure || !check(card, cu->context_retain(&card->context, card->device))) return false;
  if (!check(card, cu->context_set(card->context))) return false;
  if (!check(card, cu->stream_create(&card->stream, 1)) || !check(card, cu->stream_create(&card->aside, 1)))
    return false;
  card->memory = tn_card_allocate(card, sizeof *card->memory);
  if (!card->memory) return check(card, TN_CU_OUT_OF_MEMORY);
  card->queue.launch = launch;
  card->queue.fault = &card->memory->fault;
  card->queue.shift = &card->memory->shift;
  card->queue.multiprocessors = card->info.multiprocessors;
  cu->device_attribute(&card->queue.room, TN_CU_MULTIPROCESSOR_ROOM, card->device);
  return load_kernels(card) && tn_card_clear(card, card->memory, sizeof *card->memory);
}

tn_card *tn_card_open(tn_heap *heap, int index, const char **why) {
  tn_card *card = tn_heap_alloc(heap, sizeof *card);
  if (!card) {
    *why = "memory ran out";
    return NULL;
  }
  card->heap = heap;
  if (tn_cu_open(&card->cu, why) && count_cards(&card->cu, why) > 0) {
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
  tn_card_modules_unload(&card->kernels, cu);
  if (card->aside) cu->stream_destroy(card->aside);
  if (card->stream) cu->stream_destroy(card->stream);
  if (card->context) cu->context_release(card->device);
  tn_heap_free(card->heap, card, sizeof *card);
}

tn_card_queue *tn_card_queue_of(tn_card *card) { return &card->queue; }
tn_resident **tn_card_residents(tn_card *card) { return &card->residents; }

/* ---- memory ---- */
/* Running out of memory is not a failure of the card. */
static bool got(tn_card *card, int error) {
  if (error && error != TN_CU_OUT_OF_MEMORY) check(card, error);
  return error == 0;
}

void *tn_card_allocate(tn_card *card, size_t bytes) {
  tn_cu_pointer pointer = 0;
  if (!tn_card_enter(card) || !got(card, card->cu.allocate(&pointer, bytes ? bytes : 1))) return NULL;
  return (void *)(uintptr_t)pointer;
}

void tn_card_release(tn_card *card, void *memory) {
  if (memory) card->cu.release(at(memory));
}

size_t tn_card_memory_left(tn_card *card) {
  size_t left = 0, all = 0;
  return tn_card_enter(card) && check(card, card->cu.memory_left(&left, &all)) ? left : 0;
}

size_t tn_card_memory_to_spare(tn_card *card) { return tn_card_memory_left(card) / SPARE_PART; }

void *tn_card_host_allocate(tn_card *card, size_t bytes) {
  void *memory = NULL;
  if (!tn_card_enter(card) || !got(card, card->cu.host_allocate(&memory, bytes ? bytes : 1, 0))) return NULL;
  return memory;
}

void tn_card_host_release(tn_card *card, void *memory) {
  if (memory) card->cu.host_release(memory);
}

bool tn_card_put(tn_card *card, void *to, const void *from, size_t bytes) {
  if (bytes == 0 || card->failure) return !card->failure;
  card->queued++;
  return check(card, card->cu.put(at(to), from, bytes, card->stream));
}

bool tn_card_get(tn_card *card, void *to, const void *from, size_t bytes) {
  if (bytes == 0 || card->failure) return !card->failure;
  card->queued++;
  return check(card, card->cu.get(to, at(from), bytes, card->stream));
}

bool tn_card_copy(tn_card *card, void *to, const void *from, size_t bytes) {
  if (bytes == 0 || card->failure) return !card->failure;
  return check(card, card->cu.copy(at(to), at(from), bytes, card->stream));
}

bool tn_card_clear(tn_card *card, void *memory, size_t bytes) {
  if (card->failure) return false;
  return check(card, card->cu.clear(at(memory), 0, bytes, card->stream));
}

/* ---- waiting ---- */
/* Sleeps for a fraction of the time waited so far: a long wait costs little, a short one ends promptly. */
static void rest(double waited) {
#if defined(__linux__)
  struct timespec pause = { .tv_nsec = waited < 1 ? (long)(waited * 3e7) : 30000000 };
  if (waited > SPIN_SECONDS) (void)nanosleep(&pause, NULL);
#else
  (void)waited;
#endif
}

/* Writes one byte: fault kinds are below 256, and the card is little-endian. */
static bool interrupt(tn_card *card, card_fault *fault) {
  _Static_assert(TN_FAULT_INTERRUPTED < 256, "a byte holds it");
  return check(card, card->cu.clear(at(&fault->kind), TN_FAULT_INTERRUPTED, 1, card->aside)) &&
         check(card, card->cu.stream_synchronize(card->aside));
}

bool tn_card_wait(tn_card *card, tn_stop *stop, card_fault *fault) {
  double begin = tn_clock_steady();
  bool told = false;
  while (!card->failure) {
    int error = card->cu.stream_query(card->stream);
    if (error == 0) return true;
    if (error != TN_CU_NOT_READY) return check(card, error);
    if (fault && !told && tn_stop_asked(stop)) told = interrupt(card, fault);
    rest(tn_clock_steady() - begin);
  }
  return false;
}

bool tn_card_finish(tn_card *card, tn_fault *fault, int64_t *step) {
  card_fault found = { 0 };
  tn_card_get(card, &found, &card->memory->fault, sizeof found);
  if (!tn_card_wait(card, NULL, NULL)) return tn_card_fail(card, fault);
  if (tn_card_fault_of(&found, fault)) return true;
  *step = found.step;
  tn_card_clear(card, &card->memory->fault, sizeof found);
  return false;
}

/* ---- recording ---- */
bool tn_card_record(tn_card *card) {
  return !card->failure && check(card, card->cu.capture_begin(card->stream, TN_CU_CAPTURE_RELAXED));
}

tn_card_recording *tn_card_recorded(tn_card *card) {
  tn_cu_graph graph = NULL;
  tn_cu_program program = NULL;
  int error = card->cu.capture_end(card->stream, &graph);
  if (check(card, error)) (void)check(card, card->cu.graph_prepare(&program, graph, 0));
  if (graph) card->cu.graph_destroy(graph);
  return card->failure ? NULL : (tn_card_recording *)program;
}

void tn_card_unrecord(tn_card *card) {
  tn_cu_graph graph = NULL;
  (void)card->cu.capture_end(card->stream, &graph);
  if (graph) card->cu.graph_destroy(graph);
}

bool tn_card_queue_after(tn_card *card, tn_card_node **nodes, size_t count) {
  card->queued_before = card->queued;
  return !card->failure &&
         card->cu.capture_after(card->stream, (tn_cu_node *)nodes, count, TN_CU_CAPTURE_SET) == 0;
}

bool tn_card_queued(tn_card *card, tn_card_node **node) {
  const tn_cu_node *nodes = NULL;
  tn_cu_graph graph;
  size_t count = 0;
  uint64_t id;
  int status;
  *node = NULL;
  if (card->failure || card->queued == card->queued_before) return !card->failure;
  if (card->cu.capture_state(card->stream, &status, &id, &graph, &nodes, &count) != 0 || count != 1)
    return false;
  *node = (tn_card_node *)nodes[0];
  return true;
}

bool tn_card_replay(tn_card *card, tn_card_recording *recording) {
  return !card->failure && check(card, card->cu.program_launch((tn_cu_program)recording, card->stream));
}

void tn_card_forget(tn_card *card, tn_card_recording *recording) {
  if (recording) card->cu.program_destroy((tn_cu_program)recording);
}
