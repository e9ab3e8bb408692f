/* backend/cpu/isa/isa.h: included first by every file that is compiled once per instruction set.
 *
 * The build compiles each file here with -DTN_ISA=avx2 and the like; names that
 * other files see get that as their ending, so that all variants live side by
 * side in one library: TN_CPU_NAME(matmul) is tn_cpu_matmul_avx2. The names that
 * ops.def uses (cpu_matmul) are macros for those.
 *
 * Calculating kernels must give the same bits in every variant. They do because
 * they are written with base/simd.h, whose lanes are exact, or in plain C whose
 * operations the compiler may vectorise but not reorder. */
#ifndef TN_BACKEND_CPU_ISA_H
#define TN_BACKEND_CPU_ISA_H

/* One lane of plain C: the reference for the wider variants. */
#if defined(TN_ISA_PORTABLE) && !defined(TN_SIMD_SCALAR)
#define TN_SIMD_SCALAR 1
#endif

#define TN_CPU_JOIN_TOKENS(a, b) a##_##b
#define TN_CPU_JOIN(a, b) TN_CPU_JOIN_TOKENS(a, b)
#define TN_CPU_NAME(name) TN_CPU_JOIN(tn_cpu_##name, TN_ISA)

/* Functions of base/ that again.c compiles with this instruction set's fma, where base/ itself has none. */
#if defined(__x86_64__) && defined(__FMA__)
#define TN_CPU_F64_AGAIN 1
#define tn_exp_f64 TN_CPU_NAME(exp_f64)
#define tn_log_f64 TN_CPU_NAME(log_f64)
#define tn_tanh_f64 TN_CPU_NAME(tanh_f64)
#define tn_sigmoid_f64 TN_CPU_NAME(sigmoid_f64)
#define tn_erf_f64 TN_CPU_NAME(erf_f64)
#define tn_sin_f64 TN_CPU_NAME(sin_f64)
#define tn_cos_f64 TN_CPU_NAME(cos_f64)
#define tn_pow_f64 TN_CPU_NAME(pow_f64)
#define tn_rng_normal TN_CPU_NAME(rng_normal)
#define tn_rng_normal_of TN_CPU_NAME(rng_normal_of)
#else
#define TN_CPU_F64_AGAIN 0
#endif

#include "backend/cpu/internal.h"
#include "base/simd.h"

/* ---- the kernels that ops.def names ---- */
#define TN_OP(id, ...)             __VA_ARGS__
#define TN_KERNEL(ref, cpu, small, cuda) cpu
#define ISA(name)                  bool TN_CPU_NAME(name)(const tn_kernel_call *call);
#define CPU(name) /* the same for all instruction sets: internal.h */
#define NO_KERNEL
#include "op/ops.def"

/* And those of fusions.def. */
bool TN_CPU_NAME(pool)(const tn_kernel_call *call);
bool TN_CPU_NAME(windows)(const tn_kernel_call *call);
size_t TN_CPU_NAME(windows_scratch)(const tn_kernel_call *call);
/* What backend.h says of `choose`. */
tn_kernel TN_CPU_NAME(choose)(const tn_kernel_call *call, tn_arena *arena, const void **kept);

/* Kernels that need scratch memory, and how many bytes such a call needs at most. The call has no memory
 * yet: only types, strides, attributes and threads are read. */
#define TN_CPU_SCRATCH(X)                                                                                    \
  X(elementwise) X(fused) X(softmax) X(log_softmax) X(layer_norm) X(cross_entropy) X(matmul) X(row_update) \
  X(attention) X(attention_grad) X(layer_norm_grad) X(depthwise) X(depthwise_image) X(depthwise_weights)
#define TN_CPU_DECLARE(name) size_t TN_CPU_NAME(name##_scratch)(const tn_kernel_call *call);
TN_CPU_SCRATCH(TN_CPU_DECLARE)
#undef TN_CPU_DECLARE

/* ---- small tools ---- */
/* The first `count` lanes, which are mostly all of them: then without a mask. */
static inline VF tn_load_some(const float *from, int count) {
  return count == TN_LANES ? vf_load(from) : vf_load_part(from, count);
}
static inline void tn_store_some(float *to, VF v, int count) {
  if (count == TN_LANES)
    vf_store(to, v);
  else
    vf_store_part(to, v, count);
}

/* The loop that follows has no order: iterations may touch the same place only when it is the
 * same index, as an operation that writes over its operand does. */
#if defined(__clang__)
#define TN_ANY_ORDER _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#elif defined(__GNUC__)
#define TN_ANY_ORDER _Pragma("GCC ivdep")
#else
#define TN_ANY_ORDER
#endif

/* The loop that follows has few iterations, known when it is compiled, and becomes straight code; not where
 * sanitizers put their checks around every access, which would take the compiler minutes. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TN_KEEP_LOOPS 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TN_KEEP_LOOPS 1
#endif
#if defined(TN_KEEP_LOOPS)
#define TN_UNROLL
#elif defined(__clang__)
#define TN_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define TN_UNROLL _Pragma("GCC unroll 16")
#else
#define TN_UNROLL
#endif

/* TN_STEP: a variable that a loop counts on, step by step: compilers neither work out beforehand where it
 * ends nor make vectors of steps. */
#if defined(__GNUC__)
#define TN_ALWAYS_INLINE static inline __attribute__((always_inline))
#define TN_NEVER_INLINE static __attribute__((noinline))
#define TN_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define TN_STEP(variable) __asm__ volatile("" : "+r"(variable))
#else
#define TN_ALWAYS_INLINE static inline
#define TN_NEVER_INLINE static
#define TN_LIKELY(condition) (condition)
#define TN_STEP(variable) ((void)0)
#endif

#define TN_PREFETCH     TN_CPU_PREFETCH
#define TN_PREFETCH_FAR TN_CPU_PREFETCH_FAR

static inline int64_t tn_cpu_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline size_t tn_cpu_round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
#endif
