/* backend/cuda/internal.h: what the files that launch kernels share.
 *
 * A kernel of the table (ops.def) here is a function of the host: it works out
 * what the card's kernel must be told and puts it into the queue. Nothing is
 * waited for. A fault that shows only in numbers is written down on the card;
 * later kernels do nothing, and the caller that ends the queue is told. */
#ifndef TN_BACKEND_CUDA_INTERNAL_H
#define TN_BACKEND_CUDA_INTERNAL_H

#include "backend/cuda/queue.h"

/* The kernels that ops.def names. */
#define TN_OP(id, ...) __VA_ARGS__
#define TN_KERNEL(ref, cpu, small, cuda) cuda
#define CUDA(name) bool tn_cuda_##name(const tn_kernel_call *call);
#define NO_KERNEL
#include "op/ops.def"
/* And those that fusions.def names. */
#define TN_FUSION(id, first, second, pattern, cpu, cuda) cuda
#define CUDA(name) bool tn_cuda_##name(const tn_kernel_call *call);
#define NO_KERNEL
#include "backend/fusions.def"
#undef CUDA
#undef NO_KERNEL

#define TN_CARD_VIEW_LIMIT (TN_FUSED_OPERAND_LIMIT + 1)
/* Views of one shape, with axes merged that are contiguous in all of them. */
typedef struct {
  card_shape shape;
  card_operand operand[TN_CARD_VIEW_LIMIT];
} tn_card_views;
/* The views have equal shapes; an axis of stride 0 repeats. */
void tn_card_see(const tn_view *const *views, int count, tn_card_views *out);
/* A shape of `rank` lengths, which is told how to divide by them. */
card_shape tn_card_shape(int rank, const int64_t *dim);
/* Axes of x that are marked, and the others; as tn_card_see with one view. */
tn_view tn_card_axes(const tn_view *x, const bool *marked, bool wanted);

/* Launches with enough blocks of CARD_BLOCK threads for `work` threads, at most what keeps a card busy. */
bool tn_card_launch(const tn_kernel_call *call, tn_card_kernel kernel, int64_t work, card_start *arguments,
                    size_t bytes);
/* With so many blocks and threads. */
bool tn_card_launch_blocks(const tn_kernel_call *call, tn_card_kernel kernel, int64_t blocks, int threads,
                           card_start *arguments, size_t bytes);
/* The kernel for the dtype: the first of four is for f32. */
tn_card_kernel tn_card_typed(tn_card_kernel first, tn_dtype dtype);

/* Whether kernels/straight.c has code for the program; then its arguments are there. */
bool tn_card_straight_of(const card_elementwise_arguments *from, card_straight_arguments *to);
bool tn_card_run_straight(const tn_kernel_call *call, card_straight_arguments *a);

/* out = number everywhere, rounded to the dtype. */
bool tn_card_fill(const tn_kernel_call *call, const tn_view *out, double number);
/* Element n of x becomes element n of out. */
bool tn_card_move(const tn_kernel_call *call, const tn_view *out, const tn_view *x);
/* Every element of index must be in 0 .. limit-1. */
bool tn_card_check_index(const tn_kernel_call *call, const tn_view *index, int64_t limit, int axis);
/* The rows of x that `rows` begin and `along` go through, joined; out has the shape of `rows`. */
bool tn_card_join_rows(const tn_kernel_call *call, const tn_view *rows, const tn_view *along,
                       const tn_view *out, card_join_kind kind, bool mean, void *scratch);

/* How a product of f32 matrices is cut (kernels/tiles.def). */
typedef struct {
  const char *name;
  tn_card_kernel kernel;   /* the first of them, if there is one for each way that operands lie */
  int ways;                /* how many there are; 1: one for all ways */
  int64_t m, n;
  int threads;
  int blocks;              /* that a multiprocessor holds at a time */
  double alone, full;      /* nanoseconds for a step of k */
  double lines;            /* so many times as long where both operands lie by lines */
} tn_card_tile;
const tn_card_tile *tn_card_tile_at(int index);   /* NULL past the last */
/* A product with that one, for tests and measurements. False: the operands do not fit it. */
bool tn_card_matmul_by(const tn_kernel_call *call, const tn_card_tile *tile);
/* The same for products of windows: the kernels that suit the call, each after the one before, from -1 to
 * -1. */
int tn_card_windows_kernel(const tn_kernel_call *call, int after);
bool tn_card_windows_by(const tn_kernel_call *call, int kernel);

size_t tn_card_join_scratch(int64_t rows, int64_t length, size_t element);
size_t tn_card_scatter_scratch(tn_dtype dtype, int64_t rows, int64_t entries);
size_t tn_card_rows_scratch(int64_t rows, int64_t length, size_t element);
/* Of a call of attention or attention_grad that has no memory yet. */
size_t tn_card_attention_scratch(const tn_kernel_call *call);
#endif
