/* tests/gpu/driver.c: a libcuda.so.1 whose card is the host.
 *
 * It has the functions of NVIDIA's driver that src/backend/cuda/driver.h names. tern finds it as it finds the
 * real one, by name, when LD_LIBRARY_PATH leads to it: so whole programs go the way they go on a card, with
 * the kernels of tests/gpu/emulator.c in place of PTX. Memory of the card is filled with noise when it is
 * allocated. What is queued is done as late as possible: when somebody waits for it. So whoever changes
 * memory that a card still reads, or reads what it has not written yet, gets other results.
 *
 * TERN_FAKE_CARD says what is wrong with the card:
 *   none        the driver finds no GPU
 *   old         it does not start
 *   memory=N    it has N bytes of memory
 *   lost=N      it is gone after N launches of kernels or recordings
 *   forget=N    it forgets that a kernel of a recording waits for another: the N-th such pair
 *   unordered   it cannot let things of a recording wait for others than the one before them
 *   broken=N    it cannot load a module: the N-th. It says at the end what was not given back
 *   slow=N      it takes N milliseconds before it has done what was queued
 *   count       it says on standard error at the end what it has done */
#define _DEFAULT_SOURCE
#include <ctype.h>
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

/* What was asked for, in a queue or between the begin and the end of a capture. Whatever a node of a capture
 * does not wait for may be done after it as well as before: launching takes any order that is allowed,
 * another one each time. */
typedef struct node {
  enum { LAUNCH, COPY, CLEAR, REPLAY } kind;
  tn_card_kernel kernel;
  unsigned blocks, threads, room;
  void *to;
  const void *from;
  void *own;               /* a copy of `from`, to be freed */
  tn_cu_program program;
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
  node *late;              /* what another has forgotten to wait for: done as late as possible */
};
struct tn_cu_program {
  node *first, *late;
};

static tn_cu_graph capturing;
static node *queue, **queue_end = &queue;
static size_t in_use;
static long launches, replays, to_card, to_host, edges, depth;
static emulated_card card;
static _Thread_local bool entered;   /* this thread has said which context it uses */

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

static long loads, loaded;

static void say_left(void) {
  fprintf(stderr, "fake GPU: %ld modules and %zu bytes left\n", loaded, in_use);
}

/* ---- the driver and its card ---- */
EXPORTED int cuInit(unsigned flags);
int cuInit(unsigned flags) {
  (void)flags;
  if (wrong("old") >= 0) return 803;
  emulated_card_init(&card);
  if (wrong("count") >= 0) atexit(say_counts);
  if (wrong("broken") >= 0) atexit(say_left);
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
  *value = attribute == TN_CU_CAPABILITY_MAJOR          ? 8
           : attribute == TN_CU_CAPABILITY_MINOR    ? 0
           : attribute == TN_CU_MULTIPROCESSOR_ROOM ? 164 << 10
                                                    : 4;
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
int cuCtxSetCurrent(tn_cu_context context) {
  entered = context != NULL;
  return entered ? 0 : MISUSED;
}

/* ---- kernels ---- */
struct tn_cu_module {
  bool has[TN_CARD_COUNT];
};

static size_t name_length(const char *name) {
  size_t length = 0;
  while (name[length] == '_' || isalnum((unsigned char)name[length])) length++;
  return length;
}

/* Tells the module which kernel the name of an entry is. */
static void note_entry(tn_cu_module module, const char *name) {
  size_t length = name_length(name);
  for (int k = 0; k < TN_CARD_COUNT; k++)
    if (strlen(kernel_names[k]) == length && strncmp(name, kernel_names[k], length) == 0)
      module->has[k] = name[length] == '(';
}

/* Reads the text once: every start loads megabytes of it. False: it is not PTX. An entry is at the begin of
 * its line, after `.visible`. */
static bool read_entries(tn_cu_module module, const char *text) {
  static const char version[] = ".version", entry[] = ".visible .entry ";
  bool is_ptx = false;
  for (const char *line = text; line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    is_ptx = is_ptx || strncmp(line, version, sizeof version - 1) == 0;
    if (strncmp(line, entry, sizeof entry - 1) == 0) note_entry(module, line + sizeof entry - 1);
  }
  return is_ptx;
}

EXPORTED int cuModuleUnload(tn_cu_module module);
int cuModuleUnload(tn_cu_module module) {
  loaded--;
  free(module);
  return 0;
}

EXPORTED int cuModuleLoadData(tn_cu_module *module, const void *text);
int cuModuleLoadData(tn_cu_module *module, const void *text) {
  if (!entered) return MISUSED;
  if (++loads == wrong("broken")) return UNKNOWN;
  *module = calloc(1, sizeof **module);
  if (!*module) return TN_CU_OUT_OF_MEMORY;
  loaded++;
  if (read_entries(*module, text)) return 0;
  return cuModuleUnload(*module), MISUSED;
}

/* A kernel is known by the number of its name. */
EXPORTED int cuModuleGetFunction(tn_cu_function *function, tn_cu_module module, const char *name);
int cuModuleGetFunction(tn_cu_function *function, tn_cu_module module, const char *name) {
  for (int k = 0; entered && k < TN_CARD_COUNT; k++) {
    if (strcmp(name, kernel_names[k]) != 0) continue;
    *function = (tn_cu_function)(uintptr_t)(k + 1);
    return module->has[k] ? 0 : TN_CU_NOT_FOUND;
  }
  return entered ? TN_CU_NOT_FOUND : MISUSED;
}

static unsigned roomy[TN_CARD_COUNT];   /* what a kernel's blocks may have of shared memory */

EXPORTED int cuFuncSetAttribute(tn_cu_function function, int attribute, int value);
int cuFuncSetAttribute(tn_cu_function function, int attribute, int value) {
  if (value < 0 || value > TN_CARD_ROOM) return MISUSED;
  if (attribute == TN_CU_ROOM) roomy[(uintptr_t)function - 1] = (unsigned)value;
  return attribute == TN_CU_ROOM || attribute == TN_CU_SHARED_PART ? 0 : MISUSED;
}

static void replay(tn_cu_program program);

static void carry_out(const node *n) {
  if (n->kind == COPY) memmove(n->to, n->from, n->bytes);
  if (n->kind == CLEAR) memset(n->to, n->byte, n->bytes);
  if (n->kind == REPLAY) replay(n->program);
  if (n->kind != LAUNCH) return;
  card_start start;
  memcpy(&start, n->arguments, sizeof start);
  if (start.fault->kind) return;   /* every kernel looks there first */
  card.queue.launch(&card.queue, n->kernel, n->blocks, (int)n->threads, (int)n->room, n->arguments,
                    argument_bytes[n->kernel]);
}

static void carry_out_queue(void) {
  while (queue) {
    node *n = queue;
    queue = n->next;
    carry_out(n);
    free(n->own);
    free(n);
  }
  queue_end = &queue;
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
    if (++edges != wanted) continue;
    capturing->late = n->after[i];
    n->after[i] = n->after[--n->after_count];
    return;
  }
}

/* Later, or when the recording is launched. */
static int ask(const node *n) {
  if (!entered) return MISUSED;
  if (lost()) return LOST;
  node *kept = malloc(sizeof *kept);
  if (!kept) return TN_CU_OUT_OF_MEMORY;
  *kept = *n;
  kept->next = NULL;
  if (!capturing) {
    *queue_end = kept;
    queue_end = &kept->next;
    return 0;
  }
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
  (void)stream, (void)extra;
  node n = { .kind = LAUNCH, .kernel = (tn_card_kernel)((uintptr_t)function - 1), .blocks = blocks,
             .threads = threads, .room = shared };
  if (shared > (roomy[n.kernel] ? roomy[n.kernel] : TN_CU_ROOM_AT_ONCE)) return MISUSED;
  if (blocks == 0 || threads == 0 || blocks_y * blocks_z * threads_y * threads_z != 1) return MISUSED;
  memcpy(n.arguments, arguments[0], argument_bytes[n.kernel]);
  if (!capturing) launches++;
  return ask(&n);
}

/* ---- queues ---- */
static struct timespec queued_at;
static tn_cu_stream main_stream;   /* the first; what another is asked to do is done at once */

EXPORTED int cuStreamCreate(tn_cu_stream *stream, unsigned flags);
int cuStreamCreate(tn_cu_stream *stream, unsigned flags) {
  (void)flags;
  *stream = malloc(1);
  if (!main_stream) main_stream = *stream;
  return *stream ? 0 : TN_CU_OUT_OF_MEMORY;
}
EXPORTED int cuStreamDestroy_v2(tn_cu_stream stream);
int cuStreamDestroy_v2(tn_cu_stream stream) {
  if (stream == main_stream) main_stream = NULL;
  free(stream);
  return 0;
}
EXPORTED int cuStreamSynchronize(tn_cu_stream stream);
int cuStreamSynchronize(tn_cu_stream stream) {
  if (capturing) return MISUSED;
  if (stream == main_stream) carry_out_queue();
  return lost();
}

/* As if everything took its time, from the first question on. */
EXPORTED int cuStreamQuery(tn_cu_stream stream);
int cuStreamQuery(tn_cu_stream stream) {
  long slow = wrong("slow");
  struct timespec now;
  (void)stream;
  if (capturing) return MISUSED;
  if (slow < 0 || lost()) return carry_out_queue(), lost();
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (queued_at.tv_sec == 0) queued_at = now;
  long waited = (now.tv_sec - queued_at.tv_sec) * 1000 + (now.tv_nsec - queued_at.tv_nsec) / 1000000;
  if (waited < slow) return TN_CU_NOT_READY;
  queued_at.tv_sec = 0;
  carry_out_queue();
  return 0;
}

/* ---- memory ---- */
EXPORTED int cuMemAlloc_v2(tn_cu_pointer *pointer, size_t bytes);
int cuMemAlloc_v2(tn_cu_pointer *pointer, size_t bytes) {
  if (lost()) return LOST;
  if (bytes == 0 || !entered) return MISUSED;
  if (bytes > memory_limit() - in_use) return TN_CU_OUT_OF_MEMORY;
  size_t *memory = aligned_alloc(256, (bytes + 2 * 256 - 1) / 256 * 256);
  if (!memory) return TN_CU_OUT_OF_MEMORY;
  *memory = bytes;
  in_use += bytes;
  memset((char *)memory + 256, 0xa5, bytes);
  *pointer = (tn_cu_pointer)(uintptr_t)memory + 256;
  return 0;
}
EXPORTED int cuMemGetInfo_v2(size_t *left, size_t *all);
int cuMemGetInfo_v2(size_t *left, size_t *all) {
  if (lost()) return LOST;
  if (!entered) return MISUSED;
  *all = memory_limit(), *left = *all - in_use;
  return 0;
}
EXPORTED int cuMemFree_v2(tn_cu_pointer pointer);
int cuMemFree_v2(tn_cu_pointer pointer) {
  size_t *memory = (size_t *)(uintptr_t)(pointer - 256);
  if (!entered) return MISUSED;
  carry_out_queue();
  in_use -= *memory;
  free(memory);
  return 0;
}
/* Memory of the host that the card reads and writes itself; a list. */
typedef struct pinned {
  struct pinned *next;
  size_t bytes;
  _Alignas(64) char at[];
} pinned;
static pinned *pins;

EXPORTED int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  pinned *pin = aligned_alloc(64, (sizeof *pin + bytes + 63) / 64 * 64);
  if (!pin) return TN_CU_OUT_OF_MEMORY;
  pin->next = pins;
  pin->bytes = bytes;
  pins = pin;
  *memory = pin->at;
  return 0;
}
EXPORTED int cuMemFreeHost(void *memory);
int cuMemFreeHost(void *memory) {
  pinned **link = &pins;
  carry_out_queue();
  while (*link && (*link)->at != memory) link = &(*link)->next;
  pinned *pin = *link;
  if (!pin) return MISUSED;
  *link = pin->next;
  free(pin);
  return 0;
}

static bool is_pinned(const void *memory) {
  uintptr_t at = (uintptr_t)memory;
  for (const pinned *pin = pins; pin; pin = pin->next)
    if (at >= (uintptr_t)pin->at && at < (uintptr_t)pin->at + pin->bytes) return true;
  return false;
}

static int copy(void *to, const void *from, size_t bytes) {
  return ask(&(node){ .kind = COPY, .to = to, .from = from, .bytes = bytes });
}

/* A real driver takes other memory of the host at once, and has written to it when it returns. */
static int copy_pageable(void *to, const void *from, size_t bytes) {
  void *own = malloc(bytes + 1);
  if (!own || capturing) return free(own), MISUSED;
  memcpy(own, from, bytes);
  int error = ask(&(node){ .kind = COPY, .to = to, .from = own, .own = own, .bytes = bytes });
  if (error) free(own);
  return error;
}
EXPORTED int cuMemcpyHtoDAsync_v2(tn_cu_pointer to, const void *from, size_t bytes, tn_cu_stream stream);
int cuMemcpyHtoDAsync_v2(tn_cu_pointer to, const void *from, size_t bytes, tn_cu_stream stream) {
  (void)stream;
  to_card++;
  return is_pinned(from) ? copy((void *)(uintptr_t)to, from, bytes)
                         : copy_pageable((void *)(uintptr_t)to, from, bytes);
}
EXPORTED int cuMemcpyDtoHAsync_v2(void *to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream);
int cuMemcpyDtoHAsync_v2(void *to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream) {
  (void)stream;
  to_host++;
  int error = copy(to, (const void *)(uintptr_t)from, bytes);
  if (!capturing && !is_pinned(to)) carry_out_queue();
  return error;
}
EXPORTED int cuMemcpyDtoDAsync_v2(tn_cu_pointer to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream);
int cuMemcpyDtoDAsync_v2(tn_cu_pointer to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream) {
  (void)stream;
  return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
}
EXPORTED int cuMemsetD8Async(tn_cu_pointer to, unsigned char byte, size_t bytes, tn_cu_stream stream);
int cuMemsetD8Async(tn_cu_pointer to, unsigned char byte, size_t bytes, tn_cu_stream stream) {
  node clear = { .kind = CLEAR, .to = (void *)(uintptr_t)to, .byte = byte, .bytes = bytes };
  if (stream == main_stream) return ask(&clear);
  carry_out(&clear);
  return lost();
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

static void replay(tn_cu_program program) {
  for (node *n = program->first; n; n = n->next) n->done = false;
  for (node *n; (n = choose(program)) != NULL; n->done = true) carry_out(n);
}

EXPORTED int cuGraphLaunch(tn_cu_program program, tn_cu_stream stream);
int cuGraphLaunch(tn_cu_program program, tn_cu_stream stream) {
  (void)stream;
  replays++;
  return capturing ? MISUSED : ask(&(node){ .kind = REPLAY, .program = program });
}
EXPORTED int cuGraphExecDestroy(tn_cu_program program);
int cuGraphExecDestroy(tn_cu_program program) {
  carry_out_queue();
  free_nodes(program->first);
  free(program);
  return 0;
}
