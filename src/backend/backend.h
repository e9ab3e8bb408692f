/* backend/backend.h: a back end: the kernels that execute operations.
 *
 * `ref` is slow and obvious and defines every bit; `cpu` is fast and equals it.
 * A kernel gets views whose shapes and dtypes the op rules have accepted, and
 * writes every element of its result. Kernels never allocate: memory they need
 * besides operands and result is allocated beforehand as scratch. */
#ifndef TN_BACKEND_BACKEND_H
#define TN_BACKEND_BACKEND_H

#include "base/arena.h"
#include "base/pool.h"
#include "graph/fused.h"
#include "op/op.h"

typedef struct tn_backend tn_backend;

typedef struct {
  tn_op op;
  const tn_attrs *attrs;
  const tn_view *in;
  int count;
  const tn_view *out;      /* contiguous unless the caller says otherwise; may be one of the
                              operands' memory only for elementwise operations of equal shape,
                              and for the first operand of scatter_add and row_update */
  void *scratch;           /* at least what tn_backend_scratch said; 64-byte aligned */
  int threads;             /* at most; never changes a bit */
  tn_pool *pool;           /* helps; NULL: the caller does the parts of all threads */
  struct tn_card_queue *queue;  /* of the GPU that executes it, if the back end is a GPU's */
  const void *kept;        /* what `choose` has left for its kernel */
  bool checked;            /* an earlier call has found the same index in range */
  tn_fault *fault;         /* for what shows only at run time: an index out of range, division by zero */
  tn_stop *stop;           /* checked every few milliseconds; after a stop the kernel returns early and its
                            * result is invalid, so callers check too. NULL: it is never stopped */
} tn_kernel_call;

/* False with the fault filled in. */
typedef bool (*tn_kernel)(const tn_kernel_call *call);

/* Two operations in one call (fusions.def).
 *
 * DESCENT  matmul of two f32 matrices, then out = p - scale * (x y): operands x, y, p and scale; the result
 *          may be p's memory.
 * BIAS     matmul of f32, then a bias of one axis is added to every row: operands x, y and the bias.
 *          BIAS_RELU: and relu of that.
 * RELU_SLOPE  matmul of two f32 matrices, then 0 where the third operand, of the result's shape, is not
 *          above 0.
 * XENT_SLOPE  softmax along the last axis of f32, whose rows are contiguous and have 1 to
 *          TN_BACKEND_XENT_LIMIT elements; less 1 where two i32 operands are equal, which broadcast;
 *          times the fourth operand, one number, or the constant of the program in the attributes. The
 *          result is contiguous.
 * POOL     the sum or the mean (call->op) of rows that an index names: out[..., c] is that of
 *          table[index[..., i], c] over i. The operands are an f32 table of two axes, without gaps along the
 *          second, and a contiguous index, whose last axis has 1 to TN_BACKEND_POOL_LIMIT places; the result
 *          is contiguous.
 * WINDOWS  the product of windows of images and a matrix (call->op is PATCHES), or of the same windows,
 *          transposed, and a contiguous matrix (MATMUL). The operands are the f32 images and the matrix; the
 *          attributes are those of patches. Images and result are contiguous.
 * FOLDED   the product of two f32 matrices, whose rows are windows, and their fold (call->op is FOLD). The
 *          operands are the matrices, the first one contiguous; the attributes are those of fold. The result
 *          is contiguous. */
typedef enum {
#define TN_FUSION(id, ...) TN_FUSION_##id,
#include "backend/fusions.def"
  TN_FUSION_COUNT
} tn_fusion;
#define TN_BACKEND_POOL_LIMIT 512
#define TN_BACKEND_XENT_LIMIT 8192

struct tn_backend {
  const char *name;        /* "ref", "cpu" */
  const char *isa;         /* "avx512", "avx2", "neon", "portable"; "" for ref */
  const tn_kernel *kernels;  /* by op; NULL where the plan handles it */
  /* Bytes of scratch a call with these views needs, at most, with `threads`. */
  size_t (*scratch)(const tn_backend *backend, tn_op op, const tn_attrs *attrs, const tn_view *in,
                    int count, const tn_view *out, int threads);
  const tn_kernel *fusions; /* by tn_fusion; NULL: it has none, or not that one */
  /* For a call that will be repeated: a kernel that does the same in less time, because it knows types,
   * strides, attributes and operands (not their data, which does not exist yet) in advance; NULL if
   * the table's kernel is the best. What it must remember goes into the arena and is passed as
   * call->kept. */
  tn_kernel (*choose)(const tn_kernel_call *call, tn_arena *arena, const void **kept);
  /* Of a GPU (backend/cuda/card.h): its kernels work in GPU memory, through a queue. `host` is the
   * back end of the CPU beside it. NULL: it works in the memory of the host. */
  struct tn_card *card;
  const tn_backend *host;
  bool automatic;          /* work that is too small for the GPU runs on the host (plan/device.c) */
};

/* The back end that computes in the memory of the host: itself, unless it is a GPU's. */
static inline const tn_backend *tn_backend_on_host(const tn_backend *backend) {
  return backend->card ? backend->host : backend;
}

const tn_backend *tn_backend_ref(void);
/* The best the machine has, or the named instruction set: NULL when this build or this machine lacks it. */
const tn_backend *tn_backend_cpu(const char *isa);
/* The i-th instruction set of this build, NULL past the end; *available says whether this machine has it. */
const char *tn_backend_cpu_isa(int index, bool *available);

static inline bool tn_backend_run(const tn_backend *backend, const tn_kernel_call *call) {
  return backend->kernels[call->op](call);
}
#endif
