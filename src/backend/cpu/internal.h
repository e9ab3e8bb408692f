/* backend/cpu/internal.h: shared by the kernels of every instruction set.
 *
 * Kernels that only move bytes are compiled once and are in this folder. Those
 * that compute are in isa/ and are compiled once per instruction set; each such
 * variant is a whole back end, and cpu.c chooses among them.
 *
 * Nothing here has state. Threads are used in one place (threads.c), and only
 * for work of known size: a kernel estimates the cost of its work, and small
 * work stays on the caller's thread. */
#ifndef TN_BACKEND_CPU_INTERNAL_H
#define TN_BACKEND_CPU_INTERNAL_H

#include <string.h>

#include "backend/backend.h"

/* ---- back ends, one per instruction set of this build ---- */
extern const tn_backend tn_cpu_backend_avx512;
extern const tn_backend tn_cpu_backend_avx2;
extern const tn_backend tn_cpu_backend_baseline;
extern const tn_backend tn_cpu_backend_neon;
extern const tn_backend tn_cpu_backend_portable;

/* What this processor and its operating system let a program use. */
typedef struct {
  bool avx2;   /* AVX2 and FMA */
  bool avx512; /* AVX-512 F, DQ, BW, VL */
} tn_cpu_features;
tn_cpu_features tn_cpu_features_now(void);

/* ---- threads ---- */
#define TN_CPU_ROW_PIECE 65536 /* elements of a row between two checks for a stop */

typedef tn_part tn_cpu_part;
typedef tn_job tn_cpu_job;

/* Runs all parts of a job of about `cost` nanoseconds on at most `threads` threads; returns when all have
 * ended. There is one part for each thread: a job that can take long checks call->stop itself. With
 * one thread it is a plain call. */
void tn_cpu_parallel(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context);
/* The same for a job that may be split anywhere at no cost: in parts of a few milliseconds; after
 * each part the thread checks call->stop. */
void tn_cpu_run(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context);
/* The same with several parts for each thread, down to some 25 microseconds: the others take the rest of a
 * thread that comes late or is slow. With one part for each, a late thread would double the time. For jobs
 * that lose nothing by being cut into `units`. */
void tn_cpu_run_evenly(const tn_kernel_call *call, int threads, int64_t units, double cost, tn_cpu_job job,
                       void *context);
/* The same for tiles of a matrix product: parts are of milliseconds, because more of them pack more. The job
 * checks call->stop itself. */
void tn_cpu_run_tiles(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context);
/* How many parts each thread has when they are even. */
int tn_cpu_even_pieces(int threads, double cost, int64_t units);

/* How many threads work of about `cost` nanoseconds on one thread deserves, at most `limit`. A thread should
 * get a few microseconds, because calling one takes up to one; and more of them where many have to meet, so
 * that eight share 36 microseconds of work, and sixteen 142. */
static inline int tn_cpu_threads_for(double cost, int limit) {
  const double least = 4000, each = 555;
  int threads = 1;
  while (threads < limit) {
    double next = threads + 1;
    if (cost < next * least || cost < next * next * each) break;
    threads++;
  }
  return threads;
}

/* first * number / count without overflow, for count of at most 2^31. */
static inline int64_t tn_cpu_portion(int64_t first, int number, int count) {
  return first / count * number + first % count * number / count;
}

/* A part's even share of 0..count-1, cut at multiples of `grain`. */
static inline void tn_cpu_share(int64_t count, int64_t grain, const tn_cpu_part *part, int64_t *begin,
                                int64_t *end) {
  int64_t grains = (count + grain - 1) / grain;
  int64_t first = tn_cpu_portion(grains, part->number, part->count);
  int64_t last = tn_cpu_portion(grains, part->number + 1, part->count);
  *begin = first * grain;
  *end = last * grain < count ? last * grain : count;
}

/* A matrix cut into bands of rows and of columns, with one thread for each tile of the grid. */
typedef struct {
  int rows, columns;
} tn_cpu_grid;

/* For at most `threads` threads and a matrix of m by n elements that is cut at multiples of `row` and
 * `column`: the grid whose largest tile takes the least time. Reading rows and columns counts as
 * well as computing, so tiles are roughly square if there are many threads. */
tn_cpu_grid tn_cpu_grid_for(int threads, int64_t m, int64_t row, int64_t n, int64_t column);
/* For `count` such matrices that threads take band by band: how many bands of rows each is cut into, so that
 * all threads have about as much. */
int tn_cpu_bands_for(int threads, int64_t count, int64_t m, int64_t row, int64_t n);

/* Whether a loop that has done `done` rounds, each of about a microsecond or less, ends here. */
static inline bool tn_cpu_stopped(const tn_kernel_call *call, int64_t done) {
  return (done & 1023) == 1023 && tn_stop_asked(call->stop);
}

#if defined(__GNUC__)
#define TN_CPU_PREFETCH(address)     __builtin_prefetch(address)
#define TN_CPU_PREFETCH_FAR(address) __builtin_prefetch(address, 0, 2) /* into the second-level cache */
#else
#define TN_CPU_PREFETCH(address)     ((void)0)
#define TN_CPU_PREFETCH_FAR(address) ((void)0)
#endif

/* memcpy for runs that are mostly short: a call for each would cost more than the copy. */
static inline void tn_cpu_copy_run(char *to, const char *from, size_t bytes) {
  if (bytes > 256) {
    memcpy(to, from, bytes);
    return;
  }
  for (; bytes >= 64; bytes -= 64, to += 64, from += 64) memcpy(to, from, 64);
  for (; bytes >= 16; bytes -= 16, to += 16, from += 16) memcpy(to, from, 16);
  for (; bytes >= 4; bytes -= 4, to += 4, from += 4) memcpy(to, from, 4);
  for (; bytes > 0; bytes--) *to++ = *from++;
}

/* Whether a loop over the elements of a long row must end at `element`. Inside a loop over vectors
 * or elements even this check costs a tenth of the instructions: such a loop covers one piece,
 * inside a loop over pieces that checks:
 *   for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
 *     end = tn_cpu_piece_end(at, n);
 *     for (int64_t i = at; i < end; i++) ... */
static inline bool tn_cpu_row_stopped(tn_stop *stop, int64_t element) {
  return (element & (TN_CPU_ROW_PIECE - 1)) == 0 && element > 0 && tn_stop_asked(stop);
}

/* Where the piece of a row of n elements ends that begins at `at`. */
static inline int64_t tn_cpu_piece_end(int64_t at, int64_t n) {
  return n - at > TN_CPU_ROW_PIECE ? at + TN_CPU_ROW_PIECE : n;
}

/* Copies n elements that lie `from_step` elements apart to where they lie `to_step` apart. */
static inline void tn_cpu_copy_row(tn_stop *stop, int64_t bytes, int64_t n, char *to, int64_t to_step,
                                   const char *from, int64_t from_step) {
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at; i < end; i++)
      memcpy(to + i * to_step * bytes, from + i * from_step * bytes, (size_t)bytes);
  }
}

/* ---- kernels without arithmetic: those that ops.def names as one for all instruction sets ---- */
#define TN_OP(id, ...) __VA_ARGS__
#define TN_KERNEL(ref, cpu, small, cuda) cpu
#define ISA(name)
#define CPU(name) bool tn_cpu_##name(const tn_kernel_call *call);
#define NO_KERNEL
#include "op/ops.def"

/* Copies elements between views of equal shape and dtype, which may not overlap. */
void tn_cpu_move(const tn_kernel_call *call, const tn_view *to, const tn_view *from);
/* The same as a part of a job: on this thread. */
void tn_cpu_move_alone(const tn_kernel_call *call, const tn_view *to, const tn_view *from);
/* Sets every byte of a view's elements to 0, on this thread. */
void tn_cpu_clear(const tn_kernel_call *call, const tn_view *view);

/* Every element of the integer view `index` must lie in 0..limit-1: false with the fault of the first
 * that does not, or after a stop. */
bool tn_cpu_check_index(const tn_kernel_call *call, const tn_view *index, int64_t limit, int axis);
/* Element i of a contiguous index array of dtype i32 or i64. */
static inline int64_t tn_cpu_index_at(const void *data, tn_dtype dtype, int64_t i) {
  return dtype == TN_I32 ? ((const int32_t *)data)[i] : ((const int64_t *)data)[i];
}
#endif
