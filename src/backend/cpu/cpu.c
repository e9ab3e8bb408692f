/* backend/cpu/cpu.c: detects the instruction sets of the processor and chooses one.
 *
 * Detection uses the processor's feature bits, never its model: tables of models are out of date
 * the day they are written. A bit alone is not enough, because the operating system must also save
 * the wider registers; XGETBV says whether it does. Detection takes a few hundred nanoseconds when
 * a session begins, so nothing is cached. */
#include "backend/cpu/internal.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Which register files the operating system saves. */
static uint64_t saved_state(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

tn_cpu_features tn_cpu_features_now(void) {
  tn_cpu_features has = { 0 };
  unsigned a, b, c, d, a7, b7, c7, d7;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid_count(7, 0, &a7, &b7, &c7, &d7)) return has;
  const unsigned osxsave = 1u << 27, avx = 1u << 28, fma = 1u << 12;
  if ((c & (osxsave | avx | fma)) != (osxsave | avx | fma)) return has;

  const uint64_t avx_state = 0x6, avx512_state = 0xe6;
  const unsigned avx2 = 1u << 5, f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31;
  uint64_t saved = saved_state();
  has.avx2 = (saved & avx_state) == avx_state && (b7 & avx2);
  has.avx512 = has.avx2 && (saved & avx512_state) == avx512_state &&
               (b7 & (f | dq | bw | vl)) == (f | dq | bw | vl);
  return has;
}
#else
tn_cpu_features tn_cpu_features_now(void) { return (tn_cpu_features){ 0 }; }
#endif

/* From the best to the one that runs everywhere. */
typedef struct {
  const tn_backend *backend;
  enum { NEEDS_NOTHING, NEEDS_AVX2, NEEDS_AVX512 } needs;
} variant;

static const variant variants[] = {
#if TN_HAVE_AVX512
  { &tn_cpu_backend_avx512, NEEDS_AVX512 },
#endif
#if TN_HAVE_AVX2
  { &tn_cpu_backend_avx2, NEEDS_AVX2 },
#endif
#if TN_HAVE_NEON
  { &tn_cpu_backend_neon, NEEDS_NOTHING },
#endif
#if TN_HAVE_BASELINE
  { &tn_cpu_backend_baseline, NEEDS_NOTHING },
#endif
  { &tn_cpu_backend_portable, NEEDS_NOTHING },
};
#define VARIANT_COUNT ((int)(sizeof variants / sizeof variants[0]))

static bool is_available(const variant *one, tn_cpu_features has) {
  return one->needs == NEEDS_NOTHING || (one->needs == NEEDS_AVX2 && has.avx2) ||
         (one->needs == NEEDS_AVX512 && has.avx512);
}

const tn_backend *tn_backend_cpu(const char *isa) {
  tn_cpu_features has = tn_cpu_features_now();
  for (int i = 0; i < VARIANT_COUNT; i++) {
    if (!is_available(&variants[i], has)) continue;
    if (!isa || strcmp(isa, variants[i].backend->isa) == 0) return variants[i].backend;
  }
  return NULL;
}

const char *tn_backend_cpu_isa(int index, bool *available) {
  if (index < 0 || index >= VARIANT_COUNT) return NULL;
  *available = is_available(&variants[index], tn_cpu_features_now());
  return variants[index].backend->isa;
}
