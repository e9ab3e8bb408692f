/* backend/cuda/matmul.c: matmul.
 *
 * f32 products use tiles of several sizes (kernels/tiles.def). The tile affects the speed and never the bits,
 * so shapes and strides alone choose it. */
#include "backend/cuda/internal.h"

#define TILE 64            /* of the other dtypes: kernels/matmul.c */
#define BLOCKS_AT_ONCE INT32_MAX
#define MULTIPROCESSORS 132   /* of the card that the tiles were measured on */
#define MANY_ROUNDS 3
#define ROUND_NS 4500.0   /* what a round takes beside its steps: the first operands, */
#define RESULT_NS 0.4     /*   and for each element of the tile */

#define WAYS_ANY(NAME)  TN_CARD_matmul_##NAME, 1
#define WAYS_MOST(NAME) TN_CARD_matmul_##NAME##_rr, 3
#define WAYS_EACH(NAME) TN_CARD_matmul_##NAME##_rr, 4
#define GAP_ANY  8   /* floats after a step of k: tile.inc.h */
#define GAP_MOST 0
#define GAP_EACH 0
#define GAP_NONE 0
#define GAP_X    4
#define GAP_Y    4
static const tn_card_tile tiles[] = {
#define TN_TILE(NAME, WAYS, M, N, DEPTH, STAGES, WM, WN, EM, EN, AHEAD, TURNED, BLOCKS, ALONE, FULL, AR, \
                RA, AA) \
  { #NAME, WAYS_##WAYS(NAME), M, N, WM * WN * CARD_WARP, BLOCKS, \
    STAGES * DEPTH * (M + N + GAP_##WAYS + GAP_##TURNED) * 4, ALONE, FULL, { 1, RA, AR, AA } },
#include "backend/cuda/kernels/tiles.def"
};
#define TILE_COUNT ((int)(sizeof tiles / sizeof tiles[0]))

const tn_card_tile *tn_card_tile_at(int index) {
  return index >= 0 && index < TILE_COUNT ? &tiles[index] : NULL;
}

/* ---- arguments ---- */
/* The leading axes, broadcast to those of the result; the last two axes are passed separately. */
static tn_view leading(const tn_view *operand, const tn_view *out) {
  tn_shape shape = tn_view_shape(out);
  for (int axis = 1; axis <= 2; axis++) shape.dim[shape.rank - axis] = operand->dim[operand->rank - axis];
  tn_view view = tn_view_broadcast(operand, &shape);
  view.rank -= 2;
  return view;
}

static card_matmul_arguments arguments_of(const tn_view *x, const tn_view *y, const tn_view *out) {
  int64_t bytes = (int64_t)tn_dtype_bytes(out->dtype);
  tn_view batch[3] = { leading(x, out), leading(y, out), *out };
  batch[2].rank -= 2;
  tn_card_views seen;
  tn_card_see((const tn_view *[]){ &batch[0], &batch[1], &batch[2] }, 3, &seen);
  return (card_matmul_arguments){
    .batch = seen.shape, .x = seen.operand[0], .y = seen.operand[1], .out = seen.operand[2],
    .m = out->dim[out->rank - 2], .n = out->dim[out->rank - 1], .k = x->dim[x->rank - 1],
    .x_row = x->stride[x->rank - 2] * bytes, .x_column = x->stride[x->rank - 1] * bytes,
    .y_row = y->stride[y->rank - 2] * bytes, .y_column = y->stride[y->rank - 1] * bytes,
    .out_row = out->stride[out->rank - 2] * bytes, .out_column = out->stride[out->rank - 1] * bytes
  };
}

/* Whether four elements can be moved as 16 bytes: they are contiguous, and rows and matrices are aligned. */
static bool by_runs(const card_operand *matrix, const card_shape *batch, int64_t row, int64_t column) {
  bool aligned = column == 4 && row % 16 == 0 && (uintptr_t)matrix->data % 16 == 0;
  for (int axis = 0; axis < batch->rank; axis++) aligned = aligned && matrix->stride[axis] % 16 == 0;
  return aligned;
}

static int64_t size(int64_t x) { return x < 0 ? -x : x; }

/* Strides in bytes: `across` between rows of x or columns of y, `along` between steps of k. */
static int32_t kind_of(const card_operand *matrix, const card_shape *batch, int64_t across, int64_t along,
                       int64_t steps) {
  if (by_runs(matrix, batch, along, across)) return CARD_RUNS;
  if (by_runs(matrix, batch, across, along) && steps % 4 == 0) return CARD_LINES;
  return size(across) < size(along) ? CARD_ACROSS : CARD_ALONG;
}

/* ---- choosing a tile ---- */
/* The last tile ends at the matrix's edge; its start must be aligned for the way the operand is read. */
static bool side_fits(int32_t kind, int64_t count, int64_t tile) {
  if (count < tile || (kind != CARD_RUNS && kind != CARD_LINES)) return false;
  return kind == CARD_LINES || (count - tile) % 4 == 0;
}

/* Index into the kernels rr, ra, ar, aa. */
static int way_of(const card_matmul_arguments *a) {
  return 2 * (a->x_kind == CARD_LINES) + (a->y_kind == CARD_LINES);
}

static bool fits(const tn_card_tile *tile, const card_matmul_arguments *a) {
  if (tile->ways == 1) return true;
  return way_of(a) < tile->ways && side_fits(a->x_kind, a->m, tile->m) && side_fits(a->y_kind, a->n, tile->n);
}

enum { RR, RA, AR, AA };

/* Blocks that a multiprocessor holds. Kernels with steps of k side by side in both operands have more
 * registers (kernels/product.h). */
static int blocks_at_once(const tn_card_tile *tile, int way) {
  return tile->blocks - (tile->ways > AA && way == AA);
}

/* Nanoseconds on the multiprocessor with most tiles, which ends last. It runs several blocks at a time; after
 * many rounds the partial last one is negligible. */
static double cost(const tn_card_tile *tile, const card_matmul_arguments *a) {
  int64_t blocks = a->batch.count * tn_card_parts(a->m, tile->m) * tn_card_parts(a->n, tile->n);
  int64_t most = tn_card_parts(blocks, MULTIPROCESSORS), at_once = blocks_at_once(tile, way_of(a));
  int64_t whole = most / at_once, left = most % at_once;
  double last = (double)left * tile->full, step = (double)(whole * at_once) * tile->full;
  double rounds = (double)(whole < MANY_ROUNDS ? whole + (left > 0) : 1);
  if (left > 0) step += last > tile->alone ? last : tile->alone;
  if (whole >= MANY_ROUNDS) step = (double)blocks / MULTIPROCESSORS * tile->full;
  double round = ROUND_NS + RESULT_NS * (double)(tile->m * tile->n);
  return step * tile->way[way_of(a)] * (double)a->k + rounds * round;
}

static const tn_card_tile *tile_for(const card_matmul_arguments *a) {
  const tn_card_tile *best = NULL;
  for (int t = 0; t < TILE_COUNT; t++)
    if (fits(&tiles[t], a) && (!best || cost(&tiles[t], a) < cost(best, a))) best = &tiles[t];
  return best;
}

/* ---- launching ---- */
/* Dynamic shared memory of a block that does not use it: no multiprocessor then holds more of a few blocks
 * than its even share. Beside other kernels they would gather where those have left room, and take as long as
 * the multiprocessor with most of them. */
static int room_of(const tn_card_queue *queue, const tn_card_tile *tile, int64_t blocks) {
  if (queue->multiprocessors == 0) return 0;
  int64_t share = tn_card_parts(blocks, queue->multiprocessors);
  int64_t room = queue->room / (share + 1) - tile->room;
  return share < tile->blocks && room > 0 ? (int)room : 0;
}

static bool launch(const tn_kernel_call *call, tn_card_kernel kernel, int64_t m, int64_t n, int threads,
                   const tn_card_tile *tile, card_matmul_arguments *a) {
  a->tiles_m = tn_card_parts(a->m, m), a->tiles_n = tn_card_parts(a->n, n);
  int64_t blocks = a->batch.count * a->tiles_m * a->tiles_n;
  for (a->first = 0; a->first < blocks; a->first += BLOCKS_AT_ONCE) {
    int64_t now = blocks - a->first < BLOCKS_AT_ONCE ? blocks - a->first : BLOCKS_AT_ONCE;
    a->start = (card_start){ call->queue->fault, call->queue->step };
    int room = tile ? room_of(call->queue, tile, now) : 0;
    if (!call->queue->launch(call->queue, kernel, now, threads, room, a, sizeof *a)) return false;
  }
  return true;
}

static void look(card_matmul_arguments *a) {
  a->x_kind = kind_of(&a->x, &a->batch, a->x_row, a->x_column, a->k);
  a->y_kind = kind_of(&a->y, &a->batch, a->y_column, a->y_row, a->k);
  a->out_runs = by_runs(&a->out, &a->batch, a->out_row, a->out_column);
}

static bool launch_tiles(const tn_kernel_call *call, const tn_card_tile *tile, card_matmul_arguments *a) {
  int way = tile->ways > 1 ? way_of(a) : 0;
  return launch(call, (tn_card_kernel)(tile->kernel + way), tile->m, tile->n, tile->threads, tile, a);
}

/* What sums become results with: rows of it, or one for all (a bias). */
static void set_rest(card_matmul_arguments *a, const tn_view *rest) {
  a->rest = rest->data;
  a->rest_row = rest->rank > 1 ? rest->stride[rest->rank - 2] * 4 : 0;
  a->rest_column = rest->stride[rest->rank - 1] * 4;
  a->rest_runs = a->rest_column == 4 && a->rest_row % 16 == 0 && (uintptr_t)rest->data % 16 == 0;
}

/* Operands x and y; then what the end needs. */
static card_matmul_arguments ending(const tn_kernel_call *call, card_end_kind end) {
  card_matmul_arguments a = arguments_of(&call->in[0], &call->in[1], call->out);
  look(&a);
  a.end = (int32_t)end;
  if (end != CARD_PLAIN) set_rest(&a, &call->in[2]);
  if (end == CARD_DESCENT) a.scale = call->in[3].data;
  return a;
}

bool tn_card_matmul_by(const tn_kernel_call *call, const tn_card_tile *tile, card_end_kind end) {
  card_matmul_arguments a = ending(call, end);
  return fits(tile, &a) && launch_tiles(call, tile, &a);
}

static bool launch_best(const tn_kernel_call *call, card_end_kind end) {
  card_matmul_arguments a = ending(call, end);
  return launch_tiles(call, tile_for(&a), &a);
}

/* out = p - scale * (x y): TN_FUSION_DESCENT. An element of p is read before it is written, and by no other
 * thread, so the result may share p's memory. */
bool tn_cuda_descent(const tn_kernel_call *call) { return launch_best(call, CARD_DESCENT); }
/* out = x y + bias, or relu of that: TN_FUSION_BIAS, TN_FUSION_BIAS_RELU. */
bool tn_cuda_bias(const tn_kernel_call *call) { return launch_best(call, CARD_BIAS); }
bool tn_cuda_bias_relu(const tn_kernel_call *call) { return launch_best(call, CARD_BIAS_RELU); }
/* out = made > 0 ? x y : 0, where relu made the third operand: TN_FUSION_RELU_SLOPE. */
bool tn_cuda_relu_slope(const tn_kernel_call *call) { return launch_best(call, CARD_RELU_SLOPE); }

bool tn_cuda_matmul(const tn_kernel_call *call) {
  tn_dtype dtype = call->out->dtype;
  if (dtype == TN_F32) return launch_best(call, CARD_PLAIN);
  card_matmul_arguments a = arguments_of(&call->in[0], &call->in[1], call->out);
  tn_card_kernel kernel = dtype == TN_F64 ? TN_CARD_matmul_f64
                          : dtype == TN_I32 ? TN_CARD_matmul_i32 : TN_CARD_matmul_i64;
  return launch(call, kernel, TILE, TILE, CARD_BLOCK, NULL, &a);
}
