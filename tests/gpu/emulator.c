#define _DEFAULT_SOURCE   /* _setjmp, which leaves the signal mask alone */
#include "emulator.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "backend/cuda/kernels/words.h"

#if defined(__SANITIZE_ADDRESS__)
#define FOLLOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FOLLOWED 1
#endif
#endif
#ifdef FOLLOWED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES ((size_t)64 << 10)
#define THREAD_LIMIT 1024
#define BLOCK_LIMIT 3   /* so few that threads continue with further elements, as those of a real GPU do */

int tn_emulated_thread, tn_emulated_threads;
int64_t tn_emulated_block, tn_emulated_blocks;
CARD_ALIGNED float tn_emulated_room[TN_CARD_ROOM / sizeof(float)];

/* ---- kernels by their number ---- */
#define TN_CARD(name, arguments) void card_kernel_##name(const arguments *a);
#include "backend/cuda/kernels/kernels.def"
#define TN_CARD(name, arguments) \
  static void run_##name(const void *a) { card_kernel_##name(a); }
#include "backend/cuda/kernels/kernels.def"
static void (*const kernels[TN_CARD_COUNT])(const void *) = {
#define TN_CARD(name, arguments) [TN_CARD_##name] = run_##name,
#include "backend/cuda/kernels/kernels.def"
};

/* ---- coroutines ---- */
typedef enum { READY, AT_BARRIER, AT_LANES, ENDED } condition;

#define COPY_LIMIT 512
#define GROUP_LIMIT 16
typedef struct {
  void *to;
  const void *from;
  int bytes, places;       /* what is read; what is written, with zeros after it */
} copy;

typedef struct {
  copy copy[COPY_LIMIT];
  int count, groups;
  int end[GROUP_LIMIT];    /* copies of that group and of those before it */
} copies;

static void arrive(const copy *c) {
  memset(c->to, 0, (size_t)c->places);
  memcpy(c->to, c->from, (size_t)c->bytes);
}

typedef struct {
  condition state;
  bool begun;
  copies copies;           /* under way */
  uint32_t value;          /* given to the other lanes */
#ifdef FOLLOWED
  ucontext_t context;
  void *fake;
#else
  jmp_buf context;
#endif
  char *stack;
} coroutine;

static coroutine threads[THREAD_LIMIT];
static void (*running)(const void *);
static const void *running_arguments;

static void give_up(const char *why) {
  fprintf(stderr, "emulated card: %s (block %lld, thread %d)\n", why, (long long)tn_emulated_block,
          tn_emulated_thread);
  abort();
}

#ifdef FOLLOWED
/* The sanitizer must be told of every change of stacks. */
static ucontext_t host;
static const void *host_stack;
static size_t host_bytes;

static void enter(void) {
  __sanitizer_finish_switch_fiber(NULL, &host_stack, &host_bytes);
  running(running_arguments);
  threads[tn_emulated_thread].state = ENDED;
  __sanitizer_start_switch_fiber(NULL, host_stack, host_bytes);
  setcontext(&host);
}

static void resume(coroutine *c) {
  void *fake;
  if (!c->begun) {
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack;
    c->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&c->context, enter, 0);
    c->begun = true;
  }
  __sanitizer_start_switch_fiber(&fake, c->stack, STACK_BYTES);
  swapcontext(&host, &c->context);
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

static void leave(coroutine *c) {
  __sanitizer_start_switch_fiber(&c->fake, host_stack, host_bytes);
  swapcontext(&c->context, &host);
  __sanitizer_finish_switch_fiber(c->fake, &host_stack, &host_bytes);
}
#else
/* A context begins on its stack; from then on jumps do, which ask the system for nothing. */
static jmp_buf host;

static void leave(coroutine *c) {
  if (!_setjmp(c->context)) _longjmp(host, 1);
}

/* A context that has ended is the thread of the next block with its number. */
static void enter(void) {
  for (;;) {
    running(running_arguments);
    threads[tn_emulated_thread].state = ENDED;
    leave(&threads[tn_emulated_thread]);
  }
}

static void resume(coroutine *c) {
  if (_setjmp(host)) return;
  if (c->begun) _longjmp(c->context, 1);
  c->begun = true;
  ucontext_t start;
  getcontext(&start);
  start.uc_stack.ss_sp = c->stack;
  start.uc_stack.ss_size = STACK_BYTES;
  start.uc_link = NULL;
  makecontext(&start, enter, 0);
  setcontext(&start);
}
#endif

static void wait_as(condition state) {
  coroutine *c = &threads[tn_emulated_thread];
  c->state = state;
  leave(c);
}

/* ---- the words of kernels/words.h ---- */
void tn_emulated_barrier(void) { wait_as(AT_BARRIER); }

uint32_t tn_emulated_lane_value(uint32_t value, int from) {
  int warp = tn_emulated_thread / CARD_WARP * CARD_WARP;
  threads[tn_emulated_thread].value = value;
  wait_as(AT_LANES);
  uint32_t got = threads[warp + from].value;
  wait_as(AT_LANES);   /* until all have read */
  return got;
}

uint32_t tn_emulated_ballot(bool truth) {
  int warp = tn_emulated_thread / CARD_WARP * CARD_WARP;
  uint32_t all = 0;
  threads[tn_emulated_thread].value = truth;
  wait_as(AT_LANES);
  for (int l = 0; l < CARD_WARP; l++) all |= threads[warp + l].value << l;
  wait_as(AT_LANES);
  return all;
}

/* ---- copies that run beside the thread ---- */
static uint32_t random_state = 1;
static uint32_t next_random(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

/* A copy arrives when it is asked for, or when the thread waits for it: a card may do either, and everything
 * between. So what is read without waiting is not there, and what is overwritten too early is lost. */
void tn_emulated_copy(void *to, const void *from, int bytes, int places) {
  copies *c = &threads[tn_emulated_thread].copies;
  copy now = { .to = to, .from = from, .bytes = bytes, .places = places };
  if ((uintptr_t)to % (unsigned)places || (uintptr_t)from % (unsigned)places)
    give_up("a copy that is not aligned");
  if (bytes < 0 || bytes > places) give_up("a copy of more bytes than there is room for, or less than none");
  if (next_random() % 2) {
    arrive(&now);
  } else {
    if (c->count == COPY_LIMIT) give_up("too many copies under way");
    c->copy[c->count++] = now;
  }
}

void tn_emulated_copies_end(void) {
  copies *c = &threads[tn_emulated_thread].copies;
  if (c->groups == GROUP_LIMIT) give_up("too many groups of copies");
  c->end[c->groups++] = c->count;
}

/* The oldest groups, until so many are left. */
void tn_emulated_copies_wait(int groups) {
  copies *c = &threads[tn_emulated_thread].copies;
  int over = c->groups - groups, gone = over > 0 ? c->end[over - 1] : 0;
  if (over <= 0) return;
  for (int i = 0; i < gone; i++) arrive(&c->copy[i]);
  memmove(c->copy, c->copy + gone, (size_t)(c->count - gone) * sizeof c->copy[0]);
  for (int g = 0; g < groups; g++) c->end[g] = c->end[over + g] - gone;
  c->count -= gone;
  c->groups = groups;
}

/* ---- a block ---- */

/* Every lane until it waits or ends, from any lane on, upwards or downwards. */
static void run_lanes(int warp) {
  uint32_t turn = next_random();
  for (int l = 0; l < CARD_WARP; l++) {
    int lane = (int)((turn & 1 ? (uint32_t)(CARD_WARP - 1 - l) : (uint32_t)l) + (turn >> 1)) % CARD_WARP;
    tn_emulated_thread = warp * CARD_WARP + lane;
    if (threads[tn_emulated_thread].state == READY) resume(&threads[tn_emulated_thread]);
  }
}

/* The warp until its threads wait for the block, or have ended. */
static void run_warp(int warp) {
  for (;;) {
    run_lanes(warp);
    int waiting = 0, here = warp * CARD_WARP;
    for (int l = 0; l < CARD_WARP; l++) waiting += threads[here + l].state == AT_LANES;
    if (waiting == 0) return;
    if (waiting < CARD_WARP) give_up("some lanes wait for others that do something else");
    for (int l = 0; l < CARD_WARP; l++) threads[here + l].state = READY;
  }
}

/* Until all threads have ended. A barrier that some do not reach is a mistake in the kernel. */
static void run_block(void) {
  int warps = tn_emulated_threads / CARD_WARP, order[THREAD_LIMIT / CARD_WARP];
  for (int t = 0; t < tn_emulated_threads; t++) {
    threads[t].state = READY;
    threads[t].copies.count = threads[t].copies.groups = 0;
#ifdef FOLLOWED
    threads[t].begun = false;
#endif
  }
  for (;;) {
    for (int w = 0; w < warps; w++) order[w] = w;
    for (int w = warps - 1; w > 0; w--) {
      int other = (int)(next_random() % (uint32_t)(w + 1)), kept = order[w];
      order[w] = order[other], order[other] = kept;
    }
    for (int w = 0; w < warps; w++) run_warp(order[w]);
    int waiting = 0;
    for (int t = 0; t < tn_emulated_threads; t++) waiting += threads[t].state == AT_BARRIER;
    if (waiting == 0) return;
    if (waiting < tn_emulated_threads) give_up("a barrier that not all threads reach");
    for (int t = 0; t < tn_emulated_threads; t++) threads[t].state = READY;
  }
}

extern char __start_card_shared[], __stop_card_shared[];

/* Not memset: between the variables lies memory that the sanitizer guards. */
#ifdef FOLLOWED
__attribute__((no_sanitize("address")))
#endif
static void forget_shared_memory(int room) {
  unsigned char noise = (unsigned char)next_random();
#ifdef FOLLOWED
  for (volatile char *at = __start_card_shared; at < __stop_card_shared; at++) *at = (char)noise;
  ASAN_UNPOISON_MEMORY_REGION(tn_emulated_room, sizeof tn_emulated_room);
  memset(tn_emulated_room, noise, (size_t)room);
  ASAN_POISON_MEMORY_REGION((char *)tn_emulated_room + room, sizeof tn_emulated_room - (size_t)room);
#else
  memset(__start_card_shared, noise, (size_t)(__stop_card_shared - __start_card_shared));
  memset(tn_emulated_room, noise, (size_t)room);
#endif
}

static bool launch(tn_card_queue *queue, tn_card_kernel kernel, int64_t blocks, int thread_count,
                   int room, const void *arguments, size_t bytes) {
  if (bytes > CARD_ARGUMENT_BYTES) give_up("too many bytes of arguments");
  if (room < 0 || room > TN_CARD_ROOM) give_up("too much shared memory");
  if (thread_count % CARD_WARP || thread_count > THREAD_LIMIT) give_up("no whole warps");
  if (queue->fault->kind) return true;
  ((emulated_card *)queue)->launches[kernel]++;
  for (int t = 0; t < thread_count; t++)
    if (!threads[t].stack && !(threads[t].stack = malloc(STACK_BYTES))) abort();
  running = kernels[kernel];
  running_arguments = arguments;
  tn_emulated_threads = thread_count;
  tn_emulated_blocks = blocks;
  for (tn_emulated_block = 0; tn_emulated_block < blocks; tn_emulated_block++) {
    forget_shared_memory(room);
    run_block();
  }
  return true;
}

void emulated_card_init(emulated_card *card) {
  *card = (emulated_card){ .queue = { .launch = launch, .block_limit = BLOCK_LIMIT } };
  card->queue.fault = &card->fault;
  card->queue.shift = &card->shift;
}

/* ---- as a back end ---- */
static bool carry_out(const tn_kernel_call *call) {
  emulated_card card;
  tn_kernel_call queued = *call;
  emulated_card_init(&card);
  queued.queue = &card.queue;
  return tn_backend_cuda()->kernels[call->op](&queued) && tn_card_fault_of(&card.fault, call->fault);
}

static size_t scratch(const tn_backend *backend, tn_op op, const tn_attrs *attrs, const tn_view *in,
                      int count, const tn_view *out, int thread_count) {
  (void)backend;
  const tn_backend *cuda = tn_backend_cuda();
  return cuda->scratch(cuda, op, attrs, in, count, out, thread_count);
}

const tn_backend *emulated_backend(void) {
  static tn_kernel table[TN_OP_COUNT];
  static tn_backend emulated = { .name = "cuda", .isa = "emulated", .kernels = table, .scratch = scratch };
  for (int op = 0; op < TN_OP_COUNT; op++) table[op] = tn_backend_cuda()->kernels[op] ? carry_out : NULL;
  return &emulated;
}
