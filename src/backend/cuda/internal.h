/* backend/cuda/internal.h: shared by the files that launch kernels.
 *
 * A kernel of the table (ops.def) is a host function here: it computes the
 * arguments of a card kernel and puts the launch into the queue, without waiting.
 * A fault that depends on the data is stored on the card; later kernels then do
 * nothing, and tn_card_finish or the plan reports it. */
#ifndef TN_BACKEND_CUDA_INTERNAL_H
#define TN_BACKEND_CUDA_INTERNAL_H

#include "backend/cuda/queue.h"

/* The kernels in ops.def. */
#define TN_OP(id, ...) __VA_ARGS__
#define TN_KERNEL(ref, cpu, small, cuda) cuda
#define CUDA(name) bool tn_cuda_##name(const tn_kernel_call *call);
#define NO_KERNEL
#include "op/ops.def"
/* The kernels in fusions.def. */
#define TN_FUSION(id, first, second, pattern, cpu, cuda) cuda
#define CUDA(name) bool tn_cuda_##name(const tn_kernel_call *call);
#define NO_KERNEL
#include "backend/fusions.def"
#undef CUDA
#undef NO_KERNEL

#define TN_CARD_BLOCK_LIMIT INT32_MAX   /* of a grid */
#define TN_CARD_VIEW_LIMIT (TN_FUSED_OPERAND_LIMIT + 1)
/* Views of one shape. Axes that are contiguous in all of them are merged. */
typedef struct {
  card_shape shape;
  card_operand operand[TN_CARD_VIEW_LIMIT];
} tn_card_views;
/* The views have equal shapes; an axis of stride 0 repeats. */
void tn_card_see(const tn_view *const *views, int count, tn_card_views *out);
/* A shape with these lengths and the constants to divide by them. */
card_shape tn_card_shape(int rank, const int64_t *dim);
/* Whether all elements of x are one element. */
static inline bool tn_card_is_scalar(const card_shape *shape, const card_operand *x) {
  for (int axis = 0; axis < shape->rank; axis++)
    if (x->stride[axis]) return false;
  return true;
}
/* How many parts, each of `part` elements but the last, `length` elements are. */
static inline int64_t tn_card_parts(int64_t length, int64_t part) { return (length + part - 1) / part; }
/* The axes of x whose mark equals `wanted`, as a view. */
tn_view tn_card_axes(const tn_view *x, const bool *marked, bool wanted);

/* Launches enough blocks of CARD_BLOCK threads for `work` elements, up to the block limit. */
bool tn_card_launch(const tn_kernel_call *call, tn_card_kernel kernel, int64_t work, card_start *arguments,
                    size_t bytes);
/* The same for a given number of blocks and threads. */
bool tn_card_launch_blocks(const tn_kernel_call *call, tn_card_kernel kernel, int64_t blocks, int threads,
                           card_start *arguments, size_t bytes);
/* The same, with dynamic shared memory of `room` bytes. */
bool tn_card_launch_room(const tn_kernel_call *call, tn_card_kernel kernel, int64_t blocks, int threads,
                         int room, card_start *arguments, size_t bytes);
/* The kernel for the dtype; the four are in the order f32, f64, i32, i64. */
tn_card_kernel tn_card_typed(tn_card_kernel first, tn_dtype dtype);

/* A launch of kernels/flat.c. */
typedef struct {
  tn_card_kernel kernel;
  int64_t blocks;
  card_flat_arguments arguments;
} tn_card_flat;
/* Translates the program for that. False if it is not a single operation on f32 that lie without gaps. */
bool tn_card_flat_of(const card_elementwise_arguments *program, tn_card_flat *to);
bool tn_card_run_flat(const tn_kernel_call *call, tn_card_flat *flat);

/* Translates the program for kernels/straight.c. False if that has no code for it. */
bool tn_card_straight_of(const card_elementwise_arguments *from, card_straight_arguments *to);
bool tn_card_run_straight(const tn_kernel_call *call, card_straight_arguments *a);

/* out = number everywhere, rounded to the dtype. */
bool tn_card_fill(const tn_kernel_call *call, const tn_view *out, double number);
/* Element n of x, in row-major order, becomes element n of out. */
bool tn_card_move(const tn_kernel_call *call, const tn_view *out, const tn_view *x);
/* Every element of index must be in 0 .. limit-1. */
bool tn_card_check_index(const tn_kernel_call *call, const tn_view *index, int64_t limit, int axis);
/* Reduces rows of x: `rows` has their first elements, `along` the axes to reduce. out has the shape of
 * `rows`. */
bool tn_card_join_rows(const tn_kernel_call *call, const tn_view *rows, const tn_view *along,
                       const tn_view *out, card_join_kind kind, bool mean, void *scratch);

/* The end of such a sum, whose scratch holds that of each chunk: `parts` of them for each element of out. */
bool tn_card_join_parts(const tn_kernel_call *call, const tn_view *out, int64_t parts, void *scratch);

/* A tile of the f32 matmul (kernels/tiles.def). */
typedef struct {
  const char *name;
  tn_card_kernel kernel;   /* the first, if there is one per operand layout */
  int ways;                /* number of kernels; 1: one for all layouts */
  int64_t m, n;
  int threads;
  int blocks;              /* resident on a multiprocessor at a time */
  int room;                /* bytes of shared memory of a block */
  double alone, full;      /* nanoseconds per step of k */
  double way[4];           /* factors on the time, by operand layout: rr, ra, ar, aa */
} tn_card_tile;
const tn_card_tile *tn_card_tile_at(int index);   /* NULL past the last */
/* Runs matmul with this tile, for tests and measurements; after the two operands stands what the end needs,
 * as in fusions.def. False: the operands do not suit the tile. */
bool tn_card_matmul_by(const tn_kernel_call *call, const tn_card_tile *tile, card_end_kind end);
/* The same for products of windows. Iterates over the kernels that suit the call: starts and ends with -1. */
int tn_card_windows_kernel(const tn_kernel_call *call, int after);
bool tn_card_windows_by(const tn_kernel_call *call, int kernel);

size_t tn_card_join_scratch(int64_t rows, int64_t length, size_t element);
size_t tn_card_scatter_scratch(tn_dtype dtype, int64_t rows, int64_t entries);
size_t tn_card_rows_scratch(int64_t rows, int64_t length, size_t element);
size_t tn_card_norm_grad_scratch(const tn_view *x);
/* For attention and attention_grad; the call needs no memory yet. */
size_t tn_card_attention_scratch(const tn_kernel_call *call);
#endif
