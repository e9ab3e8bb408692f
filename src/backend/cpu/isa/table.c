/* backend/cpu/isa/table.c: one instruction set as a back end. */
#include "backend/cpu/isa/isa.h"

/* A struct only so that ops.def can name its field; in memory it is an array of kernels. */
typedef struct {
  tn_kernel cpu;
} entry;
_Static_assert(sizeof(entry) == sizeof(tn_kernel), "a table of entries is read as a table of kernels");

#define TN_OP(id, ...)                         [TN_OP_##id] = { __VA_ARGS__ },
#define TN_KERNEL(for_ref, for_cpu, ...) for_cpu
#define TN_EXPAND(...)                         .cpu = NULL
static const entry entries[TN_OP_COUNT] = {
#include "op/ops.def"
};

static const tn_kernel fusions[TN_FUSION_COUNT] = {
#define TN_FUSION(id, first, second, pattern, cpu) cpu,
#include "backend/fusions.def"
};

static size_t scratch(const tn_backend *backend, tn_op op, const tn_attrs *attrs, const tn_view *in,
                      int count, const tn_view *out, int threads) {
  tn_kernel kernel = backend->kernels[op];
  const tn_kernel_call call = {
    .op = op, .attrs = attrs, .in = in, .count = count, .out = out, .threads = threads
  };
  if (kernel == cpu_elementwise) return elementwise_scratch(&call);
  if (kernel == cpu_fused) return fused_scratch(&call);
  if (kernel == cpu_matmul) return matmul_scratch(&call);
  if (kernel == cpu_softmax) return softmax_scratch(&call);
  if (kernel == cpu_log_softmax) return log_softmax_scratch(&call);
  if (kernel == cpu_layer_norm) return layer_norm_scratch(&call);
  if (kernel == cpu_cross_entropy) return cross_entropy_scratch(&call);
  if (kernel == cpu_row_update) return row_update_scratch(&call);
  return 0;
}

#define QUOTED_TOKENS(name) #name
#define QUOTED(name)        QUOTED_TOKENS(name)
const tn_backend TN_CPU_NAME(backend) = {
  .name = "cpu",
  .isa = QUOTED(TN_ISA),
  .kernels = &entries[0].cpu,
  .scratch = scratch,
  .fusions = fusions,
  .choose = cpu_choose,
};
