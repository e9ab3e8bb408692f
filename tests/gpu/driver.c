/* tests/gpu/driver.c: a libcuda.so.1 whose card is the host.
 *
 * It has the functions of NVIDIA's driver that src/backend/cuda/driver.h names. tern finds it as it finds the
 * real one, by name, when LD_LIBRARY_PATH leads to it: so whole programs go the way they go on a card, with
 * the kernels of tests/gpu/emulator.c in place of PTX. Memory of the card is filled with noise when it is
 * allocated.
 *
 * TERN_FAKE_CARD says what is wrong with the card:
 *   none        the driver finds no GPU
 *   old         it does not start
 *   memory=N    it has N bytes of memory
 *   lost=N      it is gone after N launches of kernels or recordings
 *   forget=N    it forgets that a kernel of a recording waits for another: the N-th such pair
 *   unordered   it cannot let things of a recording wait for others than the one before them
 *   slow=N      it takes N milliseconds before it has done what was queued
 *   count       it says on standard error at the end what it has done */
#define _DEFAULT_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/driver.h"
#include "emulator.h"

#define EXPORTED __attribute__((visibility("default")))
#define UNKNOWN 999
#define LOST    719
#define MISUSED 1

static const char *const kernel_names[TN_CARD_COUNT] = {
#define TN_CARD(name, ...) [TN_CARD_##name] = "card_kernel_" #name,
#include "backend/cuda/kernels/kernels.def"
};
static const size_t argument_bytes[TN_CARD_COUNT] = {
#define TN_CARD(name, arguments) [TN_CARD_##name] = sizeof(arguments),
#include "backend/cuda/kernels/kernels.def"
};

/* What was asked for between the begin and the end of a capture. Whatever a node does not wait for may be
 * done after it as well as before: launching takes any order that is allowed, another one each time. */
typedef struct node {
  enum { LAUNCH, COPY, CLEAR } kind;
  tn_card_kernel kernel;
  unsigned blocks, threads;
  void *to;
  const void *from;
  size_t bytes;
  unsigned char byte;
  _Alignas(16) char arguments[CARD_ARGUMENT_BYTES];
  struct node *next;
  struct node **after;     /* what it waits for */
  size_t after_count;
  long depth;              /* how many follow one another up to it */
  bool done;
} node;

struct tn_cu_graph {
  node *first, **last;
  node **after;            /* what the next node waits for */
  size_t after_count;
  long edges;
  node *late;              /* what another has forgotten to wait for: done as late as possible */
};
struct tn_cu_program {
  node *first, *late;
};

static tn_cu_graph capturing;
static size_t in_use;
static long launches, replays, to_card, to_host, edges, depth;
static emulated_card card;

/* ---- what is wrong ---- */
static long wrong(const char *what) {
  const char *said = getenv("TERN_FAKE_CARD");
  size_t length = strlen(what);
  if (!said || strncmp(said, what, length) != 0) return -1;
  return said[length] == '=' ? atol(said + length + 1) : 0;
}

static int lost(void) {
  long after = wrong("lost");
  return after >= 0 && launches + replays > after ? LOST : 0;
}

static void say_counts(void) {
  fprintf(stderr, "fake GPU: %ld launches, %ld replays, %ld to it, %ld from it, ", launches, replays, to_card,
          to_host);
  fprintf(stderr, "%ld edges, %ld deep\n", edges, depth);
}

/* ---- the driver and its card ---- */
EXPORTED int cuInit(unsigned flags);
int cuInit(unsigned flags) {
  (void)flags;
  if (wrong("old") >= 0) return 803;
  emulated_card_init(&card);
  if (wrong("count") >= 0) atexit(say_counts);
  return 0;
}

EXPORTED int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text) {
  *text = error == TN_CU_OUT_OF_MEMORY ? "out of memory"
          : error == LOST              ? "unspecified launch failure"
          : error == 803               ? "system has unsupported display driver / cuda driver combination"
                                       : "unknown error";
  return 0;
}

EXPORTED int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) { return *version = 12000, 0; }
EXPORTED int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count) { return *count = wrong("none") >= 0 ? 0 : 1, 0; }
EXPORTED int cuDeviceGet(int *device, int index);
int cuDeviceGet(int *device, int index) { return *device = index, wrong("none") >= 0 ? 101 : 0; }
EXPORTED int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetName(char *name, int bytes, int device) {
  (void)device;
  return snprintf(name, (size_t)bytes, "the host") < 0;
}

static size_t memory_limit(void) {
  long bytes = wrong("memory");
  return bytes >= 0 ? (size_t)bytes : (size_t)4 << 30;
}

EXPORTED int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device) { return (void)device, *bytes = memory_limit(), 0; }
EXPORTED int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == TN_CU_CAPABILITY_MAJOR ? 8 : attribute == TN_CU_CAPABILITY_MINOR ? 0 : 4;
  return 0;
}

EXPORTED int cuDevicePrimaryCtxRetain(tn_cu_context *context, int device);
int cuDevicePrimaryCtxRetain(tn_cu_context *context, int device) {
  (void)device;
  *context = (tn_cu_context)&card;
  return 0;
}
EXPORTED int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 0; }
EXPORTED int cuCtxSetCurrent(tn_cu_context context);
int cuCtxSetCurrent(tn_cu_context context) { return context ? 0 : MISUSED; }

/* ---- kernels ---- */
EXPORTED int cuModuleLoadData(tn_cu_module *module, const void *text);
int cuModuleLoadData(tn_cu_module *module, const void *text) {
  *module = (tn_cu_module)(uintptr_t)text;
  return strstr(text, ".version") ? 0 : MISUSED;
}
EXPORTED int cuModuleUnload(tn_cu_module module);
int cuModuleUnload(tn_cu_module module) { return (void)module, 0; }

/* A kernel is known by the number of its name. */
EXPORTED int cuModuleGetFunction(tn_cu_function *function, tn_cu_module module, const char *name);
int cuModuleGetFunction(tn_cu_function *function, tn_cu_module module, const char *name) {
  (void)module;
  for (int k = 0; k < TN_CARD_COUNT; k++) {
    if (strcmp(name, kernel_names[k]) != 0) continue;
    *function = (tn_cu_function)(uintptr_t)(k + 1);
    return 0;
  }
  return 500;
}

static int carry_out(const node *n) {
  if (n->kind == COPY) memmove(n->to, n->from, n->bytes);
  if (n->kind == CLEAR) memset(n->to, n->byte, n->bytes);
  if (n->kind != LAUNCH) return 0;
  card_start start;
  memcpy(&start, n->arguments, sizeof start);
  if (start.fault->kind) return 0;   /* every kernel looks there first */
  card.queue.launch(&card.queue, n->kernel, n->blocks, (int)n->threads, n->arguments,
                    argument_bytes[n->kernel]);
  return 0;
}

/* What the next node of the recording waits for. */
static int wait_next(node *const *nodes, size_t count) {
  free(capturing->after);
  capturing->after = malloc((count + 1) * sizeof(node *));
  capturing->after_count = 0;
  if (!capturing->after) return TN_CU_OUT_OF_MEMORY;
  if (count > 0) memcpy(capturing->after, nodes, count * sizeof *nodes);
  capturing->after_count = count;
  return 0;
}

static void forget_one(node *n) {
  long wanted = wrong("forget");
  if (n->kind != LAUNCH) return;
  for (size_t i = 0; i < n->after_count; i++) {
    if (++capturing->edges != wanted) continue;
    capturing->late = n->after[i];
    n->after[i] = n->after[--n->after_count];
    return;
  }
}

/* Now, or when the recording is launched. */
static int ask(const node *n) {
  if (lost()) return LOST;
  if (!capturing) return carry_out(n);
  node *kept = malloc(sizeof *kept);
  if (!kept) return TN_CU_OUT_OF_MEMORY;
  *kept = *n;
  kept->next = NULL;
  kept->after = capturing->after;
  kept->after_count = capturing->after_count;
  forget_one(kept);
  for (size_t i = 0; i < kept->after_count; i++)
    if (kept->after[i]->depth > kept->depth) kept->depth = kept->after[i]->depth;
  if (++kept->depth > depth) depth = kept->depth;
  *capturing->last = kept;
  capturing->last = &kept->next;
  capturing->after = NULL;
  return wait_next(&kept, 1);
}

EXPORTED int cuLaunchKernel(tn_cu_function function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                            unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                            tn_cu_stream stream, void **arguments, void **extra);
int cuLaunchKernel(tn_cu_function function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                   tn_cu_stream stream, void **arguments, void **extra) {
  (void)stream, (void)extra, (void)shared;
  node n = { .kind = LAUNCH, .kernel = (tn_card_kernel)((uintptr_t)function - 1), .blocks = blocks,
             .threads = threads };
  if (blocks == 0 || threads == 0 || blocks_y * blocks_z * threads_y * threads_z != 1) return MISUSED;
  memcpy(n.arguments, arguments[0], argument_bytes[n.kernel]);
  if (!capturing) launches++;
  return ask(&n);
}

/* ---- queues ---- */
static struct timespec queued_at;

EXPORTED int cuStreamCreate(tn_cu_stream *stream, unsigned flags);
int cuStreamCreate(tn_cu_stream *stream, unsigned flags) {
  (void)flags;
  *stream = malloc(1);
  return *stream ? 0 : TN_CU_OUT_OF_MEMORY;
}
EXPORTED int cuStreamDestroy_v2(tn_cu_stream stream);
int cuStreamDestroy_v2(tn_cu_stream stream) { return free(stream), 0; }
EXPORTED int cuStreamSynchronize(tn_cu_stream stream);
int cuStreamSynchronize(tn_cu_stream stream) { return (void)stream, capturing ? MISUSED : lost(); }

/* As if everything took its time, from the first question on. */
EXPORTED int cuStreamQuery(tn_cu_stream stream);
int cuStreamQuery(tn_cu_stream stream) {
  long slow = wrong("slow");
  struct timespec now;
  (void)stream;
  if (capturing) return MISUSED;
  if (slow < 0 || lost()) return lost();
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (queued_at.tv_sec == 0) queued_at = now;
  long waited = (now.tv_sec - queued_at.tv_sec) * 1000 + (now.tv_nsec - queued_at.tv_nsec) / 1000000;
  if (waited < slow) return TN_CU_NOT_READY;
  queued_at.tv_sec = 0;
  return 0;
}

/* ---- memory ---- */
EXPORTED int cuMemAlloc_v2(tn_cu_pointer *pointer, size_t bytes);
int cuMemAlloc_v2(tn_cu_pointer *pointer, size_t bytes) {
  if (lost()) return LOST;
  if (bytes == 0) return MISUSED;
  if (bytes > memory_limit() - in_use) return TN_CU_OUT_OF_MEMORY;
  size_t *memory = aligned_alloc(256, (bytes + 2 * 256 - 1) / 256 * 256);
  if (!memory) return TN_CU_OUT_OF_MEMORY;
  *memory = bytes;
  in_use += bytes;
  memset((char *)memory + 256, 0xa5, bytes);
  *pointer = (tn_cu_pointer)(uintptr_t)memory + 256;
  return 0;
}
EXPORTED int cuMemFree_v2(tn_cu_pointer pointer);
int cuMemFree_v2(tn_cu_pointer pointer) {
  size_t *memory = (size_t *)(uintptr_t)(pointer - 256);
  in_use -= *memory;
  free(memory);
  return 0;
}
EXPORTED int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  *memory = malloc(bytes);
  return *memory ? 0 : TN_CU_OUT_OF_MEMORY;
}
EXPORTED int cuMemFreeHost(void *memory);
int cuMemFreeHost(void *memory) { return free(memory), 0; }

static int copy(void *to, const void *from, size_t bytes) {
  return ask(&(node){ .kind = COPY, .to = to, .from = from, .bytes = bytes });
}
EXPORTED int cuMemcpyHtoDAsync_v2(tn_cu_pointer to, const void *from, size_t bytes, tn_cu_stream stream);
int cuMemcpyHtoDAsync_v2(tn_cu_pointer to, const void *from, size_t bytes, tn_cu_stream stream) {
  (void)stream;
  to_card++;
  return copy((void *)(uintptr_t)to, from, bytes);
}
EXPORTED int cuMemcpyDtoHAsync_v2(void *to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream);
int cuMemcpyDtoHAsync_v2(void *to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream) {
  (void)stream;
  to_host++;
  return copy(to, (const void *)(uintptr_t)from, bytes);
}
EXPORTED int cuMemcpyDtoDAsync_v2(tn_cu_pointer to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream);
int cuMemcpyDtoDAsync_v2(tn_cu_pointer to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream) {
  (void)stream;
  return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
}
EXPORTED int cuMemsetD8Async(tn_cu_pointer to, unsigned char byte, size_t bytes, tn_cu_stream stream);
int cuMemsetD8Async(tn_cu_pointer to, unsigned char byte, size_t bytes, tn_cu_stream stream) {
  (void)stream;
  return ask(&(node){ .kind = CLEAR, .to = (void *)(uintptr_t)to, .byte = byte, .bytes = bytes });
}

/* ---- recordings ---- */
EXPORTED int cuStreamBeginCapture_v2(tn_cu_stream stream, int mode);
int cuStreamBeginCapture_v2(tn_cu_stream stream, int mode) {
  (void)stream, (void)mode;
  if (lost()) return LOST;
  if (capturing) return MISUSED;
  capturing = calloc(1, sizeof *capturing);
  if (!capturing) return TN_CU_OUT_OF_MEMORY;
  capturing->last = &capturing->first;
  return wait_next(NULL, 0);
}
EXPORTED int cuStreamGetCaptureInfo_v2(tn_cu_stream stream, int *status, uint64_t *id, tn_cu_graph *graph,
                                       const tn_cu_node **nodes, size_t *count);
int cuStreamGetCaptureInfo_v2(tn_cu_stream stream, int *status, uint64_t *id, tn_cu_graph *graph,
                              const tn_cu_node **nodes, size_t *count) {
  (void)stream;
  if (!capturing) return MISUSED;
  *status = 1;
  *id = 1;
  *graph = capturing;
  *nodes = (const tn_cu_node *)capturing->after;
  *count = capturing->after_count;
  return 0;
}
EXPORTED int cuStreamUpdateCaptureDependencies(tn_cu_stream stream, tn_cu_node *nodes, size_t count,
                                               unsigned flags);
int cuStreamUpdateCaptureDependencies(tn_cu_stream stream, tn_cu_node *nodes, size_t count, unsigned flags) {
  (void)stream;
  if (!capturing || flags != TN_CU_CAPTURE_SET || wrong("unordered") >= 0) return MISUSED;
  return wait_next((node **)nodes, count);
}
EXPORTED int cuStreamEndCapture(tn_cu_stream stream, tn_cu_graph *graph);
int cuStreamEndCapture(tn_cu_stream stream, tn_cu_graph *graph) {
  (void)stream;
  if (!capturing) return MISUSED;
  *graph = capturing;
  capturing = NULL;
  return 0;
}

/* The program takes the graph's nodes. */
EXPORTED int cuGraphInstantiateWithFlags(tn_cu_program *program, tn_cu_graph graph, unsigned long long flags);
int cuGraphInstantiateWithFlags(tn_cu_program *program, tn_cu_graph graph, unsigned long long flags) {
  (void)flags;
  *program = malloc(sizeof **program);
  if (!*program) return TN_CU_OUT_OF_MEMORY;
  edges += graph->edges;
  **program = (struct tn_cu_program){ graph->first, graph->late };
  graph->first = NULL;
  return 0;
}
static void free_nodes(node *n) {
  while (n) {
    node *next = n->next;
    free(n->after);
    free(n);
    n = next;
  }
}
EXPORTED int cuGraphDestroy(tn_cu_graph graph);
int cuGraphDestroy(tn_cu_graph graph) {
  free_nodes(graph->first);
  free(graph->after);
  free(graph);
  return 0;
}

static bool may_begin(const node *n) {
  for (size_t i = 0; i < n->after_count; i++)
    if (!n->after[i]->done) return false;
  return !n->done;
}

static uint32_t next_random(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/* Any node that may begin, each as likely as the others; NULL: all is done. */
static node *choose(const struct tn_cu_program *program) {
  node *chosen = NULL;
  uint32_t found = 0;
  for (node *n = program->first; n; n = n->next)
    if (n != program->late && may_begin(n) && next_random() % ++found == 0) chosen = n;
  return chosen ? chosen : program->late && may_begin(program->late) ? program->late : NULL;
}

EXPORTED int cuGraphLaunch(tn_cu_program program, tn_cu_stream stream);
int cuGraphLaunch(tn_cu_program program, tn_cu_stream stream) {
  (void)stream;
  replays++;
  if (lost()) return LOST;
  for (node *n = program->first; n; n = n->next) n->done = false;
  for (node *n; (n = choose(program)) != NULL; n->done = true)
    if (carry_out(n) != 0) return UNKNOWN;
  return 0;
}
EXPORTED int cuGraphExecDestroy(tn_cu_program program);
int cuGraphExecDestroy(tn_cu_program program) {
  free_nodes(program->first);
  free(program);
  return 0;
}
