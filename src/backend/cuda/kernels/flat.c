/* backend/cuda/kernels/flat.c: each operation of the elementwise table on f32 that lie without gaps.
 *
 * Memory bounds them, and it is busiest when many threads wait for it. So a thread has four elements, one
 * load of each operand, in few registers, and ends when they are written: a multiprocessor that begins new
 * blocks all the time is up to a tenth faster than one whose threads go round (bench/gpu_stream.cu), and one
 * kernel for each operation faster than a choice inside. Threads of long operations have more elements, so
 * that the next four are on their way meanwhile (card_flat_fours). */
#include "backend/cuda/kernels/quick.h"
#include "op/element.h"

/* ---- operands ---- */
/* How many floats are there from number n on, of `count`; at least four if the way is plain. */
CARD_INLINE int64_t left(int64_t n, int64_t count, bool plain) { return plain ? 4 : count - n; }

CARD_INLINE card_four read_run(const char *data, int64_t n, int64_t count, bool plain) {
  return card_read_four(data + 4 * n, left(n, count, plain));
}

/* The k-th of two operands. `plain`: and it is a run. */
CARD_INLINE card_four read_any(const card_flat_arguments *a, int k, int64_t n, bool plain) {
  if (plain || a->kind[k] == CARD_FLAT_RUN) return read_run(a->in[k], n, a->count, plain);
  float same = card_here(a->number[k]);
  if (a->kind[k] == CARD_FLAT_SAME) same = *(const float *)(const void *)a->in[k];
  return (card_four){ { same, same, same, same } };
}

CARD_INLINE void give_numbers(char *data, int64_t n, int64_t count, bool plain, card_four x) {
  card_give_four(data + 4 * n, left(n, count, plain), x);
}

/* Those that are not 0 as truths, of one byte each. */
CARD_INLINE void give_truths(char *data, int64_t n, int64_t count, bool plain, card_four x) {
  if (plain || n + 4 <= count) {
    uint32_t all = 0;
    CARD_UNROLL
    for (int i = 0; i < 4; i++) all |= (uint32_t)(x.of[i] != 0) << 8 * i;
    *(uint32_t *)(void *)(data + n) = all;
    return;
  }
  CARD_UNROLL
  for (int i = 0; i < 3; i++)
    if (n + i < count) data[n + i] = x.of[i] != 0;
}

/* ---- a kernel for each row ---- */
#define READ_UNARY(a, n, plain)   { read_run((a)->in[0], n, (a)->count, plain), { { 0 } } }
#define READ_BINARY(a, n, plain)  { read_any(a, 0, n, plain), read_any(a, 1, n, plain) }
#define READ_COMPARE(a, n, plain) READ_BINARY(a, n, plain)
#define OF_UNARY(ID, x, y)        tn_of_##ID##_f32(x)
#define OF_BINARY(ID, x, y)       tn_of_##ID##_f32(x, y)
#define OF_COMPARE(ID, x, y)      (tn_of_##ID##_f32(x, y) ? 1.0f : 0.0f)
#define GIVE_UNARY                give_numbers
#define GIVE_BINARY               give_numbers
#define GIVE_COMPARE              give_truths
#define STORED_CANONICAL(x)       (x)
#define STORED_LOOSE(x)           tn_canonical_f32(x)

/* What ptxas allocates registers by: 16 blocks are as many as a multiprocessor holds. */
#if defined(__NVPTX__)
#define BOUNDS(ID, FOURS, BLOCKS) __asm__("// bounds card_kernel_flat_" #ID " 128 " #BLOCKS);
#else
#define BOUNDS(ID, FOURS, BLOCKS)
#endif
CARD_FLAT_LONG(BOUNDS)

/* Block b has the b-th CARD_FLAT_THREADS * `fours` fours; a thread's own are as far apart as the block has
 * threads. There are blocks for all. The fault is looked at while elements are on their way. The plain way
 * has no question between the loads. */
#define FLAT(ID, KIND, NANS)                                                                             \
  BOUNDS(ID, 1, 16)                                                                                      \
  CARD_INLINE card_four every_##ID(card_four x, card_four y) {                                           \
    (void)y;                                                                                             \
    CARD_UNROLL                                                                                          \
    for (int i = 0; i < 4; i++) x.of[i] = STORED_##NANS(OF_##KIND(ID, x.of[i], y.of[i]));                \
    return x;                                                                                            \
  }                                                                                                      \
  CARD_ONCE card_run rare_##ID(card_run x, card_run y) {                                                 \
    return card_run_of(every_##ID(card_four_of(x), card_four_of(y)));                                    \
  }                                                                                                      \
  CARD_INLINE card_four values_##ID(card_four x, card_four y) {                                          \
    card_four r;                                                                                         \
    if (!card_has_quick(TN_OP_##ID)) return every_##ID(x, y);                                            \
    if (card_all_quick(TN_OP_##ID, x, y, &r)) return r;                                                  \
    return card_four_of(rare_##ID(card_run_of(x), card_run_of(y)));                                      \
  }                                                                                                      \
  CARD_INLINE void part_##ID(const card_flat_arguments *a, int64_t first, bool plain) {                  \
    card_four x[CARD_FLAT_FOURS][2];                                                                     \
    const int fours = card_flat_fours(TN_OP_##ID);                                                       \
    CARD_UNROLL                                                                                          \
    for (int f = 0; f < fours; f++) {                                                                    \
      int64_t n = first + 4 * (f * CARD_FLAT_THREADS + card_thread());                                   \
      card_four both[2] = READ_##KIND(a, n, plain);                                                      \
      x[f][0] = both[0], x[f][1] = both[1];                                                              \
    }                                                                                                    \
    if (card_has_failed(a->start.fault)) return;                                                         \
    CARD_UNROLL                                                                                          \
    for (int f = 0; f < fours; f++) {                                                                    \
      int64_t n = first + 4 * (f * CARD_FLAT_THREADS + card_thread());                                   \
      GIVE_##KIND(a->out, n, a->count, plain, values_##ID(x[f][0], x[f][1]));                            \
    }                                                                                                    \
  }                                                                                                      \
  CARD_KERNEL_LATE(flat_##ID, card_flat_arguments) {                                                     \
    const int64_t part = 4 * CARD_FLAT_THREADS * card_flat_fours(TN_OP_##ID);                            \
    const int64_t first = card_block() * part;                                                           \
    if (first + part <= a->count && a->runs) part_##ID(a, first, true);                                  \
    else part_##ID(a, first, false);                                                                     \
  }
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SX, SY, HOW, NANS, ...) \
  TN_IF_REAL_##DTYPES(FLAT(ID, KIND, NANS))
#include "op/elementwise.def"
