/* backend/cuda/kernels/arguments.h: the arguments of kernels.
 *
 * Host and card share these structs, so the layout must be the same on both: 64-bit
 * pointers and lengths, 32-bit numbers. A card takes at most 4,096 bytes of arguments.
 *
 * A view is split: card_shape has the lengths that several operands share, and
 * card_operand the strides of one of them, in bytes. The host merges contiguous
 * axes, so most shapes here have one axis. */
#ifndef TN_BACKEND_CUDA_KERNELS_ARGUMENTS_H
#define TN_BACKEND_CUDA_KERNELS_ARGUMENTS_H

#include <stdint.h>

#include "graph/fused.h"
#include "op/op.h"

#define CARD_ARGUMENT_BYTES 4096
#define CARD_CHUNK 512        /* elements of a sum that lanes add up first */
#define CARD_LINE_GROUP 512   /* chunks of a long row that a block joins; a power of two */
#define CARD_GROUP 4096       /* results of chunks that a block joins afterwards; a power of two */
#define CARD_WARP 32          /* threads that go together */
#define CARD_LANES 16         /* of a sum */
#define CARD_BLOCK 256        /* threads of a block, at most */
#define CARD_WIDE 1024        /* of the one block that looks for a fault */
#define CARD_LONG 0.3         /* nanoseconds on a processor (elementwise.def: COST): what is long, is more */
#define CARD_SORT_THREADS 512   /* of the one block that sorts */
#define CARD_OFTEN_THREADS 128  /* of a block of scatter_often */

/* The first fault of a run. Kernels that begin after one do nothing. */
typedef struct {
  int64_t kind;                 /* tn_fault_kind; 0: none */
  int64_t op, axis, got, expected;
  int64_t step;                 /* of the queue: identifies the call */
} card_fault;

/* The first argument of every kernel. */
typedef struct {
  card_fault *fault;
  int64_t step;
} card_start;

typedef struct {
  int64_t count;                /* elements */
  int32_t rank, narrow;         /* narrow: 31 bits hold the count */
  int64_t dim[TN_RANK_LIMIT];
  uint32_t magic[TN_RANK_LIMIT];   /* if narrow: constants to divide by a length (view.h); 0: by 1 */
  uint8_t shift[TN_RANK_LIMIT];
} card_shape;

typedef struct {
  char *data;
  int32_t dtype, bytes;         /* of an element */
  int64_t stride[TN_RANK_LIMIT];   /* bytes between neighbours along an axis of the shape */
} card_operand;

/* ---- elementwise ---- */
typedef struct {
  uint16_t op;
  uint8_t dtype, in[3], unary;
  double number;                /* of a fill */
} card_step;

typedef struct {
  card_start start;
  card_shape shape;
  card_operand out, in[TN_FUSED_OPERAND_LIMIT];
  int32_t operand_count, step_count;
  card_step step[TN_FUSED_STEP_LIMIT];
} card_elementwise_arguments;

/* The same for programs of f32 and bool, four elements at a time. A step reads a slot, the result of the
 * step before, or a number that is the same for all elements: a constant or an operand with one element. */
#define CARD_CHAIN_THREADS 128
#define CARD_SLOTS 16           /* of operands with several elements, results and numbers together */
#define CARD_CHAIN_OPERANDS 8   /* with several elements: the first slots */
#define CARD_LAST 255           /* the step before; as `to`: no slot */
#define CARD_SAME 64            /* plus the number of the number */
/* Layout of four elements of an operand: f32 or bool, contiguous and aligned; all the same one; with the
 * stride of the last axis; each computed. */
typedef enum { CARD_FOUR, CARD_TRUTHS, CARD_ALIKE, CARD_STEPPED, CARD_APART } card_four_kind;

/* What a step does: a row of the table for f32, a row for bools, or one of a few others. */
#define CARD_CODE_FLOATS(ID)  CARD_OF_NUMBERS_##ID,
#define CARD_CODE_NUMBERS(ID) CARD_OF_NUMBERS_##ID,
#define CARD_CODE_PLAIN(ID)   CARD_OF_NUMBERS_##ID, CARD_OF_TRUTHS_##ID,
#define CARD_CODE_BOOLS(ID)   CARD_OF_TRUTHS_##ID,
typedef enum {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) CARD_CODE_##DTYPES(ID)
#include "op/elementwise.def"
  CARD_TO_TRUTH, CARD_TO_NUMBER, CARD_CHOOSE, CARD_KEEP
} card_code;

typedef struct {
  uint8_t code, in[3], to;
} card_link;

typedef struct {
  const char *data;             /* NULL: it is `number` */
  float number;                 /* of a bool: as tn_float_of_bits makes it of 0 or 1 */
  int32_t bytes;                /* of an element at `data` */
} card_same;

typedef struct {
  card_start start;
  card_shape shape;
  card_operand out, in[CARD_CHAIN_OPERANDS];   /* operand k goes to slot k */
  uint8_t kind[CARD_CHAIN_OPERANDS], out_kind; /* card_four_kind */
  int32_t operand_count, link_count, same_count;
  int32_t slots;                /* in use at a time, at most; those of numbers follow */
  int32_t runs;                 /* at most two axes, and nothing STEPPED or APART */
  int32_t brief;                /* for brief.c */
  card_same same[CARD_SLOTS];
  card_link link[TN_FUSED_STEP_LIMIT + 1];
} card_chain_arguments;

/* Limits of brief.c: slots, numbers, links. It has these operations, CARD_CHOOSE and CARD_KEEP. */
#define CARD_BRIEF_SLOTS 4
#define CARD_BRIEF_SAME 4
#define CARD_BRIEF_LINKS 8
#define CARD_BRIEF_OPERATIONS(UNARY, BINARY, COMPARE) \
  UNARY(RELU) UNARY(SQRT) BINARY(ADD) BINARY(SUB) BINARY(MUL) BINARY(DIV) COMPARE(GT)

/* Programs known when kernels are compiled (programs.def), or one of these operations. */
#define CARD_STRAIGHT_OPERANDS 4   /* with several elements */
#define CARD_STRAIGHT_SCALARS 3    /* operands with one element */
#define CARD_STRAIGHT_NUMBERS 4
#define CARD_STRAIGHT_STEPS 16
#define CARD_STRAIGHT_THREADS 128
#define CARD_STRAIGHT_OPERATIONS(UNARY, BINARY)                                                    \
  UNARY(NEG) UNARY(ABS) UNARY(SQRT) UNARY(EXP) UNARY(LOG) UNARY(TANH) UNARY(SIGMOID) UNARY(RELU)   \
  UNARY(ERF) BINARY(ADD) BINARY(SUB) BINARY(MUL) BINARY(DIV) BINARY(MINIMUM) BINARY(MAXIMUM)
typedef enum {
#define TN_PROGRAM(NAME, LAST, STEPS) CARD_PROGRAM_##NAME,
#include "backend/cuda/kernels/programs.def"
  CARD_PROGRAMS   /* + an operation */
} card_program;

typedef struct {
  char *data;
  int64_t row, column;          /* bytes from one to the next; column: 4, or 0: all of a row are the same */
} card_straight_operand;

typedef struct {
  card_start start;
  card_shape shape;             /* of one axis, or narrow and of two */
  int64_t width;                /* elements of a row */
  card_straight_operand out, in[CARD_STRAIGHT_OPERANDS];
  const char *scalar[CARD_STRAIGHT_SCALARS];
  float number[CARD_STRAIGHT_NUMBERS];
  int32_t operand_count, program;
  int32_t runs;                 /* fours divide a row, and are aligned in every operand */
  int32_t some_same;            /* an operand is constant along rows */
} card_straight_arguments;

/* A single operation on f32 without gaps. */
#define CARD_FLAT_THREADS 128
/* LONG(ID, FOURS, BLOCKS): rows whose threads have more than one four, because they are long or wait at a
 * branch of their own for each element; and the blocks that a multiprocessor has registers for, 16 in all.
 * Both as measured. */
#define CARD_FLAT_LONG(LONG) \
  LONG(SQRT, 2, 16) LONG(LOG, 2, 16) LONG(TANH, 2, 16) LONG(SIGMOID, 2, 16) LONG(ERF, 3, 12) \
  LONG(SIN, 4, 8) LONG(COS, 4, 8) LONG(REM, 2, 8) LONG(POW, 2, 8)
#define CARD_FLAT_FOURS 4       /* at most */
static inline int card_flat_fours(int op) {
  switch (op) {
#define LONG(ID, FOURS, BLOCKS) case TN_OP_##ID: return FOURS;
    CARD_FLAT_LONG(LONG)
#undef LONG
    default: return 1;
  }
}
/* SAME: one element for all */
typedef enum { CARD_FLAT_RUN, CARD_FLAT_SAME, CARD_FLAT_NUMBER } card_flat_kind;

typedef struct {
  card_start start;
  int64_t count;
  char *out;
  const char *in[2];
  int32_t kind[2];              /* card_flat_kind */
  int32_t runs;                 /* all operands are; that of a unary operation always is */
  float number[2];
} card_flat_arguments;

/* ---- creating ---- */
typedef struct {
  card_start start;
  card_shape shape;
  card_operand out;
  int32_t axis;
} card_iota_arguments;

typedef struct {
  card_start start;
  card_shape shape;
  card_operand out;
  const int64_t *key;
  const uint64_t *shift;        /* random words to skip, known at run time */
  uint64_t index;
  int32_t normal;
} card_random_arguments;

/* ---- moving ---- */
/* Element n of `from`, in row-major order, becomes element n of `to`. */
typedef struct {
  card_start start;
  card_shape to_shape, from_shape;
  card_operand to, from;
} card_move_arguments;

/* out[p] = x[p, index[p]]. All operands are viewed by the shape of the result, with stride 0 along axes they
 * lack. An element is 16 bytes of the last axis where the host finds them contiguous and aligned. */
typedef struct {
  card_start start;
  card_shape shape;
  card_operand out, x, index;
  int64_t axis_stride;          /* bytes */
} card_gather_arguments;

/* ---- adding slices ----
 * For each of `rows` places along the axis and each column (a coordinate of the other axes): what stands
 * there, and then the elements of y whose index is that place, in the order of the index. */
typedef struct {
  card_start start;
  card_shape columns;           /* of x, out and y */
  card_operand x, out, y;
  card_shape entries;           /* of index and y_entry */
  card_operand index, y_entry;
  int64_t rows, x_row, out_row; /* bytes from one row to the next */
  const char *scale;            /* row_update: x - scale * sum; NULL: scatter_add */
  int32_t in_place;             /* out is x: what is not named stays */
  int32_t runs;                 /* a column is four elements of f32: contiguous and aligned in x, out and y */
  /* Of many rows: entries in the order of the rows that they name, those of one row in their own order. */
  int32_t passes;               /* four bits of a row's number each */
  int32_t *named[2], *entry[2]; /* by place: the row, the entry; a pass reads one pair and writes the other */
  int32_t *begin;               /* by row: its first place; one more ends the last */
} card_scatter_arguments;

typedef struct {
  card_start start;
  card_shape shape;             /* of the index */
  card_operand index;
  int64_t limit;
  int32_t op, axis;
} card_check_arguments;

/* ---- windows ---- */
typedef struct {
  card_start start;
  card_operand image, windows;  /* [n, h, w, c] and [n, oh, ow, kh * kw * c], strides in bytes */
  int64_t image_dim[4], windows_dim[4];
  int64_t step[2], low[2];
  int32_t window[2];
  int64_t count;                /* elements of the result */
} card_window_arguments;

/* Of depth-wise convolution; one of the three operands is the result. */
typedef struct {
  card_start start;
  card_operand image, outputs, weights; /* [n, h, w, c], [n, oh, ow, o], [kh, kw, 1, o], strides in bytes */
  int64_t image_dim[4], outputs_dim[4];
  int64_t step[2], low[2], window[2];
  int64_t each;                 /* outputs of a channel */
  int64_t count;                /* elements of the result */
} card_depthwise_arguments;

/* ---- reducing ---- */
typedef enum { CARD_ADD, CARD_MUL, CARD_MAX, CARD_MIN } card_join_kind;

/* Chunk c of row r becomes partial[r * chunks + c]. */
typedef struct {
  card_start start;
  card_shape rows, along;
  card_operand row, x;          /* where a row begins; how x goes along it */
  char *partial;
  int64_t chunks;
  int32_t kind, last;           /* last: there is one chunk, and this is the result */
  int64_t divisor;              /* of a mean; 0: none */
  card_operand out;             /* by `rows`, where it is the last */
} card_reduce_arguments;

/* Up to CARD_GROUP neighbours of each row become one: to[r * groups + g]. */
typedef struct {
  card_start start;
  card_shape rows;
  const char *from;
  char *to;
  int64_t count, groups;
  int32_t kind, last;
  int64_t divisor;
  card_operand out;
} card_join_arguments;

/* ---- along rows ---- */
#define CARD_MEASURED 4         /* numbers of a row, the last of which is not used */
typedef enum {
  CARD_SOFTMAX,
  CARD_LOG_SOFTMAX,
  CARD_LAYER_NORM,
  CARD_LAYER_NORM_GRAD,
  CARD_CROSS_ENTROPY,
  CARD_XENT_SLOPE
} card_row_kind;

typedef struct {
  card_start start;
  card_shape rows;
  int64_t length, chunks;
  card_operand x, out, gamma, beta, label;   /* where a row begins */
  int64_t x_along, out_along, gamma_along, beta_along;   /* bytes from element to element */
  double number;
  char *losses;                 /* of cross_entropy, one for each row */
  char *partial;                /* sums of chunks: `chunks` for each block */
  int32_t kind;
  /* Of layer_norm_grad; `out` is that of x, `partial` of the columns: of column c, of g y and then of g,
   * chunk k of the rows is at c * row_chunks + k. */
  card_operand g, mean;         /* `mean`: the gradient through the mean of a row */
  int64_t g_along;
  char *measured;               /* by row: its mean, its spread, and 1 / spread or 0 (quotient.h) */
  char *sums;                   /* the gradients of gamma and of beta, elements `out_along` apart */
  int64_t row_chunks;
  /* Of the gradient of cross entropy: where `label` and `class` are equal, 1 is taken off. */
  card_operand class;
  int64_t label_along, class_along;
  const float *factor;          /* NULL: `number` */
} card_rows_arguments;

/* cumsum, cumprod, argmax: no chunks. */
typedef struct {
  card_start start;
  card_shape rows;
  card_operand x, out;
  int64_t length, x_along, out_along;
  int32_t product, reverse, exclusive;
} card_scan_arguments;

/* ---- matmul ---- */
/* How an operand lies in memory: four places across k side by side and well aligned; places nearer to one
 * another than steps of k; steps nearer to one another than places; four steps side by side and well
 * aligned, of a number of steps that fours divide. */
typedef enum { CARD_RUNS, CARD_ACROSS, CARD_ALONG, CARD_LINES } card_operand_kind;
/* How windows are read in their images, in place of x: as its rows, or as its columns (windows.inc.h). */
typedef enum { CARD_WINDOWS, CARD_TURNED } card_windows_kind;
typedef struct {
  int32_t height, width, channels;   /* of an image */
  int32_t columns;                   /* of a window */
  int32_t down, across;              /* windows of an image, below one another and beside */
  int32_t step[2], low[2];           /* from one to the next; zeros before the image */
} card_windows;
/* What becomes of a sum s: itself; minuend - scale * s, which plain descent makes of a gradient; s and the
 * bias of its column, and relu of that; s where relu's result is above 0, else 0. */
typedef enum { CARD_PLAIN, CARD_DESCENT, CARD_BIAS, CARD_BIAS_RELU, CARD_RELU_SLOPE } card_end_kind;

typedef struct {
  card_start start;
  card_shape batch;
  card_operand x, y, out;       /* by `batch` */
  int64_t m, n, k;
  int64_t x_row, x_column, y_row, y_column, out_row, out_column;   /* bytes */
  int64_t tiles_m, tiles_n;
  int64_t first;                /* tile of the first block */
  int32_t x_kind, y_kind;       /* card_operand_kind */
  int32_t out_runs;             /* four columns of the result can be written as one */
  int32_t end;                  /* card_end_kind */
  int32_t rest_runs;            /* so can four of the rest be read */
  const char *rest;             /* what a sum becomes a result with: minuend, bias (a row), relu's result */
  int64_t rest_row, rest_column;   /* relu's result has the matrices of `out` */
  const float *scale;           /* of a descent */
  card_windows windows;         /* where x is read */
} card_matmul_arguments;

/* ---- attention ---- */
/* A matrix of every head. */
typedef struct {
  card_operand at;              /* by `heads` */
  int64_t row, column;          /* bytes from one to the next */
  int32_t rows, columns;
  int32_t runs;                 /* four columns can be moved as one */
} card_matrix;

#define CARD_ATTENTION_WIDTH 64 /* columns that a matrix may have, which fours divide */
#define CARD_ATTENTION_PITCH (CARD_ATTENTION_WIDTH + 4)   /* floats from row to row in shared memory */
#define CARD_ATTENTION_KEPT 4   /* numbers of a query */
#define CARD_ATTENTION_TOGETHER 64   /* heads whose longest bands begin first */
/* attention_tall: bands of so many queries, four threads to a query; keys that it may have, which threads
 * hold. Keys are brought 128 at a time, some of their columns; values some rows at a time. */
#define CARD_ATTENTION_TALL 32
#define CARD_ATTENTION_TALL_THREADS (CARD_ATTENTION_TALL * 4)
#define CARD_ATTENTION_HELD 256
#define CARD_ATTENTION_HELD_PITCH (CARD_ATTENTION_HELD + 8)
#define CARD_ATTENTION_TILE 128
#define CARD_ATTENTION_DEPTH 16
#define CARD_ATTENTION_STAGES 3
#define CARD_ATTENTION_VALUES 32
#define CARD_ATTENTION_VALUE_STAGES 2
/* Floats of shared memory of the parts of a tall band. */
#define CARD_ATTENTION_BAND (CARD_ATTENTION_TALL * CARD_ATTENTION_HELD_PITCH)
#define CARD_ATTENTION_ROWS (CARD_ATTENTION_TALL * CARD_ATTENTION_PITCH)
#define CARD_ATTENTION_KEY_ROOM (CARD_ATTENTION_STAGES * CARD_ATTENTION_TILE * (CARD_ATTENTION_DEPTH + 4))
#define CARD_ATTENTION_VALUE_ROOM (CARD_ATTENTION_VALUE_STAGES * CARD_ATTENTION_VALUES * CARD_ATTENTION_PITCH)
#define CARD_ATTENTION_JOIN (CARD_ATTENTION_TALL * 18)
#define CARD_ATTENTION_TALL_ROOM (CARD_ATTENTION_BAND + CARD_ATTENTION_VALUE_ROOM + CARD_ATTENTION_JOIN)
#define CARD_ATTENTION_QUERIES_ROOM \
  (CARD_ATTENTION_BAND + CARD_ATTENTION_ROWS + CARD_ATTENTION_KEY_ROOM + CARD_ATTENTION_JOIN)
/* attention_flat: there are many keys. */
#define CARD_ATTENTION_FLAT 16
#define CARD_ATTENTION_FLAT_THREADS 128
#define CARD_ATTENTION_FLAT_TILE 64
#define CARD_ATTENTION_FLAT_STAGE (CARD_ATTENTION_FLAT_TILE * (CARD_ATTENTION_DEPTH + 4))
#define CARD_ATTENTION_CHUNKS 4 /* of keys, at most */
/* attention_keys: keys of a block, four threads to a key; queries that come at a time. */
#define CARD_ATTENTION_KEYS 32
#define CARD_ATTENTION_KEYS_THREADS (CARD_ATTENTION_KEYS * 4)
#define CARD_ATTENTION_QUERIES 64
#define CARD_ATTENTION_KEYS_ROOM                                             \
  (2 * (CARD_ATTENTION_KEYS + CARD_ATTENTION_QUERIES) * CARD_ATTENTION_PITCH + \
   CARD_ATTENTION_QUERIES * (CARD_ATTENTION_KEYS + 8 + CARD_ATTENTION_KEPT))

typedef struct {
  card_start start;
  card_shape heads;
  card_matrix q, k, v, g, out, dk, dv;   /* out: of attention, or the gradient of q */
  int64_t bands;                /* blocks of a head */
  int32_t pitch;                /* floats from row to row of weights in shared memory */
  int32_t causal;
  float factor;
  int32_t *whole;               /* by head: hidden keys may change the result (attention_look) */
  float *kept;                  /* by head and query: what weights and slopes are made with again */
} card_attention_arguments;

enum {
  CARD_TURN_NONE, CARD_TURN_X, CARD_TURN_Y,
#define TN_TILE(NAME, WAYS, M, N, DEPTH, STAGES, WM, WN, EM, EN, AHEAD, TURNED, ...) \
  TILE_M_##NAME = M, TILE_N_##NAME = N, DEPTH_##NAME = DEPTH, STAGES_##NAME = STAGES, WARPS_M_##NAME = WM, \
  WARPS_N_##NAME = WN, EACH_M_##NAME = EM, EACH_N_##NAME = EN, AHEAD_##NAME = AHEAD, \
  TURNED_##NAME = CARD_TURN_##TURNED,
#include "backend/cuda/kernels/tiles.def"
};
#endif
