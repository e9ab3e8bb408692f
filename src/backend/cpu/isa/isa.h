/* backend/cpu/isa/isa.h: what a file that is compiled once per instruction set begins with.
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

/* One lane of plain C: what the wider variants are measured by. */
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

/* ---- the kernels as ops.def names them ---- */
#define cpu_fill tn_cpu_fill
#define cpu_iota tn_cpu_iota
#define cpu_copy tn_cpu_copy
#define cpu_pad tn_cpu_pad
#define cpu_concat tn_cpu_concat
#define cpu_gather tn_cpu_gather
#define cpu_patches tn_cpu_patches
#define cpu_count tn_cpu_count

#define cpu_elementwise TN_CPU_NAME(elementwise)
#define cpu_fused TN_CPU_NAME(fused)
#define cpu_sum TN_CPU_NAME(sum)
#define cpu_mean TN_CPU_NAME(mean)
#define cpu_max TN_CPU_NAME(max)
#define cpu_min TN_CPU_NAME(min)
#define cpu_prod TN_CPU_NAME(prod)
#define cpu_argmax TN_CPU_NAME(argmax)
#define cpu_cumsum TN_CPU_NAME(cumsum)
#define cpu_cumprod TN_CPU_NAME(cumprod)
#define cpu_softmax TN_CPU_NAME(softmax)
#define cpu_log_softmax TN_CPU_NAME(log_softmax)
#define cpu_layer_norm TN_CPU_NAME(layer_norm)
#define cpu_cross_entropy TN_CPU_NAME(cross_entropy)
#define cpu_matmul TN_CPU_NAME(matmul)
#define cpu_scatter_add TN_CPU_NAME(scatter_add)
#define cpu_row_update TN_CPU_NAME(row_update)
#define cpu_fold TN_CPU_NAME(fold)
#define cpu_uniform TN_CPU_NAME(uniform)
#define cpu_normal TN_CPU_NAME(normal)
#define cpu_pool TN_CPU_NAME(pool)
#define cpu_choose TN_CPU_NAME(choose)

bool cpu_elementwise(const tn_kernel_call *call);
bool cpu_fused(const tn_kernel_call *call);
bool cpu_sum(const tn_kernel_call *call);
bool cpu_mean(const tn_kernel_call *call);
bool cpu_max(const tn_kernel_call *call);
bool cpu_min(const tn_kernel_call *call);
bool cpu_prod(const tn_kernel_call *call);
bool cpu_argmax(const tn_kernel_call *call);
bool cpu_cumsum(const tn_kernel_call *call);
bool cpu_cumprod(const tn_kernel_call *call);
bool cpu_softmax(const tn_kernel_call *call);
bool cpu_log_softmax(const tn_kernel_call *call);
bool cpu_layer_norm(const tn_kernel_call *call);
bool cpu_cross_entropy(const tn_kernel_call *call);
bool cpu_matmul(const tn_kernel_call *call);
bool cpu_scatter_add(const tn_kernel_call *call);
bool cpu_row_update(const tn_kernel_call *call);
bool cpu_fold(const tn_kernel_call *call);
bool cpu_uniform(const tn_kernel_call *call);
bool cpu_normal(const tn_kernel_call *call);

/* Of fusions.def; and what backend.h says of `choose`. */
bool cpu_pool(const tn_kernel_call *call);
tn_kernel cpu_choose(const tn_kernel_call *call, tn_arena *arena, const void **kept);

/* Bytes of scratch such a call needs at most. The call has no memory yet: only types, strides,
 * attributes and threads are read. */
#define elementwise_scratch TN_CPU_NAME(elementwise_scratch)
#define fused_scratch TN_CPU_NAME(fused_scratch)
#define softmax_scratch TN_CPU_NAME(softmax_scratch)
#define log_softmax_scratch TN_CPU_NAME(log_softmax_scratch)
#define layer_norm_scratch TN_CPU_NAME(layer_norm_scratch)
#define cross_entropy_scratch TN_CPU_NAME(cross_entropy_scratch)
#define matmul_scratch TN_CPU_NAME(matmul_scratch)
#define row_update_scratch TN_CPU_NAME(row_update_scratch)
size_t elementwise_scratch(const tn_kernel_call *call);
size_t fused_scratch(const tn_kernel_call *call);
size_t softmax_scratch(const tn_kernel_call *call);
size_t log_softmax_scratch(const tn_kernel_call *call);
size_t layer_norm_scratch(const tn_kernel_call *call);
size_t cross_entropy_scratch(const tn_kernel_call *call);
size_t matmul_scratch(const tn_kernel_call *call);
size_t row_update_scratch(const tn_kernel_call *call);

/* ---- small tools ---- */
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
