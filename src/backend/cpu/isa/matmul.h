/* backend/cpu/isa/matmul.h: one product of two matrices, and how it is computed. */
#ifndef TN_BACKEND_CPU_MATMUL_H
#define TN_BACKEND_CPU_MATMUL_H

#include "backend/cpu/isa/isa.h"

/* One product of two matrices; steps are in elements. The rest is how it is to be done. */
typedef struct {
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t am, ak, bk, bn, cm, cn;
  bool pack_a, pack_b;     /* operands are packed first */
  bool nearby;             /* b is not, and its steps must be prefetched */
  bool across;             /* b as a whole: sums are short, and rows of the result are made whole */
  const void *old, *scale; /* not NULL: c = old - scale * (a b), and c may be old */
  int64_t om, on;
  bool onto;        /* sums continue from what is in c; then old is NULL */
  tn_cpu_grid grid; /* of the threads that share it */
  tn_stop *stop; /* ends it early; NULL: nothing does */
} product;

/* A part's share of a product; each thread has its own place in `memory`. */
typedef void (*multiply)(const product *p, const tn_cpu_part *part, char *memory);

/* What a form of a tile does besides multiplying. */
typedef enum {
  PLAINLY,
  NEARBY,  /* columns are in a cache further away: prefetched ASKED_STEPS before they are read */
  KEEPING, /* the same, and puts them down on the way */
  ASIDE,   /* results go to their place while the next tile is being made */
  TURNING, /* packs the rows of the tile below, whose steps are contiguous */
  LIFTING, /* packs the rows of the tile below, which lie side by side */
} tile_way;

#define ASKED_STEPS 7
#define LIFT_STEPS  16     /* of rows side by side that are packed at a time */
#define LIFT_FROM   128    /* steps: with fewer, tiles that pack take as long as packing beforehand */
#define FIRST_BYTES 24576  /* that stay in a first-level cache beside other things */
#define NEAR_BYTES  393216 /* that stay in a second-level cache beside other things */
#define NEAR_STEPS  256    /* in a block, of columns that are read where they are and prefetched */
#define LONG_STEPS  1024   /* and of those that come by themselves */
#define WHOLE_STEPS 1048576 /* that few rows go through at once, at most: some milliseconds */
#define APART_BYTES 1024   /* rows of a result a multiple of this apart compete for cache sets */

#define ROWS_1_TO_4(X)  X(1) X(2) X(3) X(4)
#define ROWS_1_TO_6(X)  ROWS_1_TO_4(X) X(5) X(6)
#define ROWS_1_TO_7(X)  ROWS_1_TO_6(X) X(7)
#define ROWS_1_TO_8(X)  ROWS_1_TO_7(X) X(8)
#define ROWS_1_TO_9(X)  ROWS_1_TO_8(X) X(9)
#define ROWS_1_TO_12(X) ROWS_1_TO_9(X) X(10) X(11) X(12)
#define ROWS_1_TO_15(X) ROWS_1_TO_12(X) X(13) X(14) X(15)

/* The way for an f32 product whose rows, columns or steps are so few that tiles are not the best way, NULL
 * where they are. Such a way needs no scratch. */
#define special_way TN_CPU_NAME(special_way)
multiply special_way(const product *p);

/* For kernels that multiply on the way, each on its own thread: the best way for a product, of which only
 * lengths, operands, steps, `onto` and `stop` are given, and the scratch that it needs. */
#define product_room  TN_CPU_NAME(product_room)
#define product_alone TN_CPU_NAME(product_alone)
size_t product_room(tn_dtype dtype, const product *p);
void product_alone(tn_dtype dtype, const product *p, char *room);
#endif
