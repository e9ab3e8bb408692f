/* backend/cuda/kernels/words.h: the few words that kernels of a card need beyond C.
 *
 * A kernel is a C function that every thread of a grid carries out. clang makes
 * PTX of it; any compiler makes a host function of it, which tests/gpu runs
 * thread by thread on the host, in any order that a card may choose. So a
 * kernel says only what both can do: who it is, barriers, values of the warp's
 * other lanes, memory that a block shares.
 *
 *   CARD_KERNEL(name, card_move_arguments) { ... a->count ... }
 *
 * Rules that keep the bits: no atomics, no contraction (-ffp-contract=off), NaN
 * made canonical when it is stored, barriers and lane words reached by all
 * threads of the block and of the warp. */
#ifndef TN_BACKEND_CUDA_KERNELS_WORDS_H
#define TN_BACKEND_CUDA_KERNELS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/cuda/kernels/arguments.h"

#if defined(__NVPTX__)

#define CARD_KERNEL(name, arguments) CARD_KERNEL_NAMED(name, arguments)
#define CARD_KERNEL_NAMED(name, arguments)                                 \
  CARD_INLINE void card_body_##name(const arguments *a);                   \
  __attribute__((nvptx_kernel)) void card_kernel_##name(const arguments a) {   \
    if (!a.start.fault->kind) card_body_##name(&a);                        \
  }                                                                        \
  CARD_INLINE void card_body_##name(const arguments *a)
/* The same, but it looks for the fault itself before it writes: it reads nothing that a fault makes wrong. */
#define CARD_KERNEL_LATE(name, arguments) CARD_KERNEL_LATE_NAMED(name, arguments)
#define CARD_KERNEL_LATE_NAMED(name, arguments)                            \
  CARD_INLINE void card_body_##name(const arguments *a);                   \
  __attribute__((nvptx_kernel)) void card_kernel_##name(const arguments a) { card_body_##name(&a); } \
  CARD_INLINE void card_body_##name(const arguments *a)
#define CARD_NEAR __attribute__((address_space(3)))   /* of a pointer into shared memory */
#define CARD_SHARED static CARD_NEAR
/* Shared memory of as many bytes as the launch asks for. A kernel that uses it has no other. */
extern __attribute__((address_space(3), aligned(16))) float card_room[];
#define CARD_INLINE static inline __attribute__((always_inline))
#define CARD_ONCE static __attribute__((noinline))   /* a long function, or one that is rarely called */
#define CARD_UNROLL _Pragma("unroll")
/* x, of which the compiler forgets where it came from: what follows from it is worked out again, not kept. */
static inline int card_anew(int x) {
  __asm__ volatile("" : "+r"(x));
  return x;
}
/* x, which is read here: the compiler does not put off its load until x is needed. */
static inline float card_here(float x) {
  __asm__ volatile("" : "+f"(x));
  return x;
}
#define CARD_ROLLED _Pragma("nounroll")
/* *sum += x y, after those that stand before it: the compiler keeps their order. */
static inline void card_fma_in_turn(float x, float y, float *sum) {
  __asm__ volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(*sum) : "f"(x), "f"(y));
}

static inline int card_thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }
static inline int card_threads(void) { return __nvvm_read_ptx_sreg_ntid_x(); }
static inline int64_t card_block(void) { return (int64_t)__nvvm_read_ptx_sreg_ctaid_x(); }
static inline int64_t card_blocks(void) { return (int64_t)__nvvm_read_ptx_sreg_nctaid_x(); }
static inline void card_barrier(void) { __syncthreads(); }
/* The value that the lane `from` of this warp gives; all lanes call. */
static inline uint32_t card_lane_value(uint32_t value, int from) {
  return (uint32_t)__nvvm_shfl_sync_idx_i32(~0u, (int)value, from, 31);
}
/* Bit l: what lane l gives; all lanes call. */
static inline uint32_t card_ballot(bool truth) { return __nvvm_vote_ballot_sync(~0u, truth); }

/* The larger, or NaN if either is NaN. */
static inline float card_larger(float x, float y) { return __nvvm_fmax_nan_f(x, y); }

/* Copies from the card's memory into shared memory that run beside what the thread does next: 4 bytes, 16
 * aligned ones, or the first `bytes` of those. */
#define CARD_FAR(from) ((const __attribute__((address_space(1))) void *)(from))
static inline void card_copy_one(CARD_NEAR float *to, const char *from) {
  __nvvm_cp_async_ca_shared_global_4(to, CARD_FAR(from));
}
static inline void card_copy_run(CARD_NEAR float *to, const char *from) {
  __nvvm_cp_async_cg_shared_global_16(to, CARD_FAR(from));
}
static inline void card_copy_some(CARD_NEAR float *to, const char *from, int bytes) {
  __nvvm_cp_async_cg_shared_global_16(to, CARD_FAR(from), bytes);
}
/* The copies since the last end are a group. */
static inline void card_copies_end(void) { __nvvm_cp_async_commit_group(); }
/* Until at most `groups` of this thread's groups are under way, a constant. What other threads have copied is
 * there after a barrier that they reach after waiting. */
#define card_copies_wait(groups) __nvvm_cp_async_wait_group(groups)

#else

#define CARD_KERNEL(name, arguments) CARD_KERNEL_NAMED(name, arguments)
#define CARD_KERNEL_NAMED(name, arguments)  \
  void card_kernel_##name(const arguments *a);  \
  void card_kernel_##name(const arguments *a)
#define CARD_KERNEL_LATE(name, arguments) CARD_KERNEL_NAMED(name, arguments)
#define CARD_NEAR
#define CARD_SHARED static __attribute__((section("card_shared")))
#define CARD_INLINE static inline
#define CARD_ONCE static
#define CARD_UNROLL
static inline int card_anew(int x) { return x; }
static inline float card_here(float x) { return x; }
#define CARD_ROLLED
#define card_fma_in_turn(x, y, sum) (*(sum) = tn_fma_f32(x, y, *(sum)))

/* Who runs, and how it waits: tests/gpu/emulator.c. */
extern int tn_emulated_thread, tn_emulated_threads;
extern int64_t tn_emulated_block, tn_emulated_blocks;
extern float tn_emulated_room[];
#define card_room tn_emulated_room
void tn_emulated_barrier(void);
uint32_t tn_emulated_lane_value(uint32_t value, int from);
uint32_t tn_emulated_ballot(bool truth);
void tn_emulated_copy(void *to, const void *from, int bytes, int places);
void tn_emulated_copies_end(void);
void tn_emulated_copies_wait(int groups);

static inline int card_thread(void) { return tn_emulated_thread; }
static inline int card_threads(void) { return tn_emulated_threads; }
static inline int64_t card_block(void) { return tn_emulated_block; }
static inline int64_t card_blocks(void) { return tn_emulated_blocks; }
static inline void card_barrier(void) { tn_emulated_barrier(); }
static inline uint32_t card_lane_value(uint32_t value, int from) {
  return tn_emulated_lane_value(value, from);
}
static inline uint32_t card_ballot(bool truth) { return tn_emulated_ballot(truth); }
static inline float card_larger(float x, float y) { return x > y || x != x ? x : y; }
static inline void card_copy_one(float *to, const char *from) { tn_emulated_copy(to, from, 4, 4); }
static inline void card_copy_run(float *to, const char *from) { tn_emulated_copy(to, from, 16, 16); }
static inline void card_copy_some(float *to, const char *from, int bytes) {
  tn_emulated_copy(to, from, bytes, 16);
}
static inline void card_copies_end(void) { tn_emulated_copies_end(); }
static inline void card_copies_wait(int groups) { tn_emulated_copies_wait(groups); }

#endif

#define CARD_ALIGNED __attribute__((aligned(16)))
#define CARD_NEVER __builtin_unreachable()
typedef float card_run __attribute__((vector_size(16)));         /* four floats that are moved as one */
typedef float card_pair __attribute__((vector_size(8)));

static inline int card_lane(void) { return card_thread() % CARD_WARP; }
/* The number of this thread in the grid, and how many there are. */
static inline int64_t card_number(void) { return card_block() * card_threads() + card_thread(); }
static inline int64_t card_numbers(void) { return card_blocks() * card_threads(); }
static inline bool card_has_failed(const card_fault *fault) { return fault->kind != 0; }
#endif
