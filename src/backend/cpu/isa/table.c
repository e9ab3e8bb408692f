/* backend/cpu/isa/table.c: the table of kernels of one instruction set. */
#include "backend/cpu/isa/isa.h"

#define TN_OP(id, ...)             [TN_OP_##id] = __VA_ARGS__,
#define TN_KERNEL(ref, cpu, small, cuda) cpu
#define TN_EXPAND(...)             NULL
#define ISA(name)                  TN_CPU_NAME(name)
#define CPU(name)                  tn_cpu_##name
#define NO_KERNEL                  NULL
static const tn_kernel kernels[TN_OP_COUNT] = {
#include "op/ops.def"
};

static const tn_kernel fusions[TN_FUSION_COUNT] = {
#define TN_FUSION(id, first, second, pattern, cpu, cuda) cpu,
#define ISA(name) TN_CPU_NAME(name)
#define NO_KERNEL NULL
#include "backend/fusions.def"
};

static size_t scratch(const tn_backend *backend, tn_op op, const tn_attrs *attrs, const tn_view *in,
                      int count, const tn_view *out, int threads) {
  tn_kernel kernel = backend->kernels[op];
  const tn_kernel_call call = {
    .op = op, .attrs = attrs, .in = in, .count = count, .out = out, .threads = threads
  };
  /* Windows that a product reads in their image: windows.c. */
  if (((op == TN_OP_PATCHES || op == TN_OP_FOLD) && count == 2) ||
      (op == TN_OP_MATMUL && in[0].rank > out->rank))
    return TN_CPU_NAME(windows_scratch)(&call);
#define SCRATCH_OF(name) \
  if (kernel == TN_CPU_NAME(name)) return TN_CPU_NAME(name##_scratch)(&call);
  TN_CPU_SCRATCH(SCRATCH_OF)
  return 0;
}

#define QUOTED_TOKENS(name) #name
#define QUOTED(name)        QUOTED_TOKENS(name)
const tn_backend TN_CPU_NAME(backend) = {
  .name = "cpu",
  .isa = QUOTED(TN_ISA),
  .kernels = kernels,
  .scratch = scratch,
  .fusions = fusions,
  .choose = TN_CPU_NAME(choose),
};
