/* backend/cuda/kernels/move.c: the same elements in other places. */
#include "backend/cuda/kernels/view.h"
#include "op/scalar.h"

static inline void move_element(char *to, const char *from, int bytes) {
  switch (bytes) {
    case 1: *to = *from; break;
    case 2: *(uint16_t *)(void *)to = *(const uint16_t *)(const void *)from; break;
    case 4: *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from; break;
    case sizeof(card_run): *(card_run *)(void *)to = *(const card_run *)(const void *)from; break;
    default: *(uint64_t *)(void *)to = *(const uint64_t *)(const void *)from; break;
  }
}

CARD_KERNEL(move, card_move_arguments) {
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->to_shape.count; n += card_numbers())
    move_element(card_at(&a->to_shape, &a->to, n), card_at(&a->from_shape, &a->from, n), a->to.bytes);
}

static inline int64_t index_at(const card_operand *index, const char *at) {
  return index->bytes == 4 ? *(const int32_t *)(const void *)at : *(const int64_t *)(const void *)at;
}

CARD_KERNEL(gather, card_gather_arguments) {
  const card_operand *const operands[3] = { &a->out, &a->x, &a->index };
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->shape.count; n += card_numbers()) {
    int64_t offset[3];
    card_places(&a->shape, n, operands, 3, offset);
    int64_t place = index_at(&a->index, a->index.data + offset[2]);
    move_element(a->out.data + offset[0], a->x.data + offset[1] + place * a->axis_stride, a->out.bytes);
  }
}

/* The first index outside is the fault. One block. */
CARD_SHARED int64_t first_outside[CARD_WIDE / CARD_WARP];

/* Of this thread's entries, the first outside. Several are read at a time. */
static inline int64_t find_outside(const card_check_arguments *a) {
  int64_t found = INT64_MAX;
  CARD_ROLLED
  for (int64_t first = card_thread(); first < a->shape.count; first += 8 * card_threads()) {
    CARD_UNROLL
    for (int k = 0; k < 8; k++) {
      int64_t n = first + k * card_threads();
      if (n >= a->shape.count) continue;
      int64_t got = index_at(&a->index, card_at(&a->shape, &a->index, n));
      if (got < 0 || got >= a->limit) found = card_least(found, n);
    }
  }
  return found;
}

CARD_KERNEL(check_index, card_check_arguments) {
  int64_t found = find_outside(a);
  uint32_t those = card_ballot(found != INT64_MAX);
  int warp = card_thread() / CARD_WARP;
  if (those) {   /* all lanes of the warp, or none */
    for (int l = 0; l < CARD_WARP; l++) {
      uint32_t low = card_lane_value((uint32_t)found, l), high = card_lane_value((uint32_t)(found >> 32), l);
      found = card_least(found, (int64_t)((uint64_t)high << 32 | low));
    }
  }
  if (card_lane() == 0) first_outside[warp] = found;
  card_barrier();
  if (card_thread() > 0) return;
  for (int w = 0; w < card_threads() / CARD_WARP; w++) found = card_least(found, first_outside[w]);
  if (found == INT64_MAX) return;
  card_fault *fault = a->start.fault;
  fault->op = a->op, fault->axis = a->axis, fault->expected = a->limit;
  fault->got = index_at(&a->index, card_at(&a->shape, &a->index, found));
  fault->step = a->start.step;
  fault->kind = TN_FAULT_BOUNDS;
}

/* ---- windows ---- */
typedef struct {
  int64_t n, row, column, place;   /* coordinates of a view of four axes */
} coordinates;

static inline coordinates coordinates_of(const int64_t *dim, int64_t number) {
  coordinates at;
  at.place = number % dim[3], number /= dim[3];
  at.column = number % dim[2], number /= dim[2];
  at.row = number % dim[1], at.n = number / dim[1];
  return at;
}

static inline char *place_in(const card_operand *x, coordinates at) {
  return x->data + at.n * x->stride[0] + at.row * x->stride[1] + at.column * x->stride[2] +
         at.place * x->stride[3];
}

CARD_KERNEL(patches, card_window_arguments) {
  int64_t channels = a->image_dim[3];
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->count; n += card_numbers()) {
    coordinates at = coordinates_of(a->windows_dim, n), from = at;
    from.row = at.row * a->step[0] + at.place / channels / a->window[1] - a->low[0];
    from.column = at.column * a->step[1] + at.place / channels % a->window[1] - a->low[1];
    from.place = at.place % channels;
    char *to = place_in(&a->windows, at);
    const uint64_t zero = 0;
    bool inside = from.row >= 0 && from.row < a->image_dim[1] && from.column >= 0 &&
                  from.column < a->image_dim[2];
    move_element(to, inside ? place_in(&a->image, from) : (const char *)&zero, a->windows.bytes);
  }
}

static inline tn_element add_elements(tn_element x, tn_element y, tn_dtype dtype) {
  switch (dtype) {
    case TN_F32: return (tn_element){ .f32 = x.f32 + y.f32 };
    case TN_F64: return (tn_element){ .f64 = x.f64 + y.f64 };
    case TN_I32: return (tn_element){ .i32 = (int32_t)((uint32_t)x.i32 + (uint32_t)y.i32) };
    default: return (tn_element){ .i64 = (int64_t)((uint64_t)x.i64 + (uint64_t)y.i64) };
  }
}

static inline tn_element canonical(tn_element x, tn_dtype dtype) {
  if (dtype == TN_F32) x.f32 = x.f32 == x.f32 ? x.f32 : __builtin_nanf("");
  if (dtype == TN_F64) x.f64 = x.f64 == x.f64 ? x.f64 : __builtin_nan("");
  return x;
}

/* Windows, by row and then by column, that have the place: each adds at most one element. */
CARD_KERNEL(fold, card_window_arguments) {
  int64_t channels = a->image_dim[3];
  tn_dtype dtype = (tn_dtype)a->image.dtype;
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->count; n += card_numbers()) {
    coordinates at = coordinates_of(a->image_dim, n), from = at;
    tn_element sum = tn_element_of_i64(0, dtype);
    CARD_ROLLED
    for (from.row = 0; from.row < a->windows_dim[1]; from.row++) {
      int64_t row = at.row + a->low[0] - from.row * a->step[0];
      if (row < 0 || row >= a->window[0]) continue;
      CARD_ROLLED
      for (from.column = 0; from.column < a->windows_dim[2]; from.column++) {
        int64_t column = at.column + a->low[1] - from.column * a->step[1];
        if (column < 0 || column >= a->window[1]) continue;
        from.place = (row * a->window[1] + column) * channels + at.place;
        sum = add_elements(sum, tn_element_load(place_in(&a->windows, from), dtype), dtype);
      }
    }
    tn_element_store(place_in(&a->image, at), dtype, canonical(sum, dtype));
  }
}

/* ---- scatter_add, row_update ---- */
#define COLUMNS 4   /* that a lane looks after */

/* A warp looks after one row and 128 columns: it goes through the index, and where an entry names the row,
 * its lanes add that slice. So every place is added to in the order of the index, without atomics. */
typedef struct {
  tn_dtype dtype;
  int64_t x[COLUMNS], out[COLUMNS], y[COLUMNS];   /* offsets */
  tn_element sum[COLUMNS];
  int count;
} scatter_lane;

static inline scatter_lane scatter_start(const card_scatter_arguments *a, int64_t row, int64_t first) {
  scatter_lane lane = { .dtype = (tn_dtype)a->x.dtype };
  const card_operand *const operands[3] = { &a->x, &a->out, &a->y };
  CARD_ROLLED
  for (int q = 0; q < COLUMNS; q++) {
    int64_t column = first + q * CARD_WARP + card_lane(), offset[3];
    if (column >= a->columns.count) break;
    card_places(&a->columns, column, operands, 3, offset);
    lane.x[q] = offset[0] + row * a->x_row, lane.out[q] = offset[1] + row * a->out_row, lane.y[q] = offset[2];
    lane.sum[q] = a->scale ? tn_element_of_i64(0, lane.dtype)
                           : tn_element_load(a->x.data + lane.x[q], lane.dtype);
    lane.count = q + 1;
  }
  return lane;
}

static inline void scatter_entry(const card_scatter_arguments *a, scatter_lane *lane, int64_t entry) {
  const char *y = a->y.data + (card_at(&a->entries, &a->y_entry, entry) - a->y_entry.data);
  CARD_ROLLED
  for (int q = 0; q < lane->count; q++)
    lane->sum[q] = add_elements(lane->sum[q], tn_element_load(y + lane->y[q], lane->dtype), lane->dtype);
}

/* x - scale * sum */
static inline tn_element updated(const card_scatter_arguments *a, tn_element x, tn_element sum,
                                 tn_dtype dtype) {
  if (dtype == TN_F32) return (tn_element){ .f32 = x.f32 - *(const float *)(const void *)a->scale * sum.f32 };
  return (tn_element){ .f64 = x.f64 - *(const double *)(const void *)a->scale * sum.f64 };
}

static inline void scatter_end(const card_scatter_arguments *a, scatter_lane *lane, bool named) {
  if (!named && a->in_place) return;
  CARD_ROLLED
  for (int q = 0; q < lane->count; q++) {
    tn_element x = tn_element_load(a->x.data + lane->x[q], lane->dtype), to = lane->sum[q];
    if (!named) to = x;
    else if (a->scale) to = canonical(updated(a, x, canonical(to, lane->dtype), lane->dtype), lane->dtype);
    else to = canonical(to, lane->dtype);
    tn_element_store(a->out.data + lane->out[q], lane->dtype, to);
  }
}

CARD_KERNEL(scatter, card_scatter_arguments) {
  int64_t tiles = (a->columns.count + COLUMNS * CARD_WARP - 1) / (COLUMNS * CARD_WARP);
  int64_t warps = card_numbers() / CARD_WARP;
  CARD_ROLLED
  for (int64_t work = card_number() / CARD_WARP; work < a->rows * tiles; work += warps) {
    int64_t row = work / tiles;
    scatter_lane lane = scatter_start(a, row, work % tiles * COLUMNS * CARD_WARP);
    bool named = false;
    CARD_ROLLED
    for (int64_t first = 0; first < a->entries.count; first += CARD_WARP) {
      int64_t entry = first + card_lane();
      bool mine = entry < a->entries.count &&
                  index_at(&a->index, card_at(&a->entries, &a->index, entry)) == row;
      uint32_t those = card_ballot(mine);
      named = named || those;
      for (; those; those &= those - 1) scatter_entry(a, &lane, first + __builtin_ctz(those));
    }
    scatter_end(a, &lane, named);
  }
}

/* ---- the same for f32 ---- */
#define CHUNKS 4   /* of 32 entries that are looked at together */
#define AHEAD 8    /* slices that are read before the first of them is added */

/* Adds this lane's element of the slices whose entries are marked, in their order; lanes share the marks. */
static inline float add_slices(const card_scatter_arguments *a, const char *y, int64_t first, uint32_t marks,
                               float sum) {
  CARD_ROLLED
  while (marks) {
    float value[AHEAD];
    bool there[AHEAD];
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++, marks &= marks - 1) {
      there[k] = marks != 0;
      int64_t entry = there[k] ? first + __builtin_ctz(marks) : 0;
      int64_t offset = card_at(&a->entries, &a->y_entry, entry) - a->y_entry.data;
      value[k] = there[k] ? *(const float *)(const void *)(y + offset) : 0;
    }
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      if (there[k]) sum += value[k];
    }
  }
  return sum;
}

/* The marks of CHUNKS * 32 entries that name the row; whether there is one. */
static inline bool find_entries(const card_scatter_arguments *a, int64_t row, int64_t first,
                                uint32_t *marks) {
  uint32_t any = 0;
  CARD_UNROLL
  for (int c = 0; c < CHUNKS; c++) {
    int64_t entry = first + c * CARD_WARP + card_lane();
    bool inside = entry < a->entries.count;
    int64_t named = index_at(&a->index, card_at(&a->entries, &a->index, inside ? entry : 0));
    marks[c] = card_ballot(inside && named == row);
    any |= marks[c];
  }
  return any != 0;
}

/* A warp looks after one row and 32 columns. */
CARD_KERNEL(scatter_f32, card_scatter_arguments) {
  const card_operand *const operands[3] = { &a->x, &a->out, &a->y };
  int64_t tiles = (a->columns.count + CARD_WARP - 1) / CARD_WARP, warps = card_numbers() / CARD_WARP;
  CARD_ROLLED
  for (int64_t work = card_number() / CARD_WARP; work < a->rows * tiles; work += warps) {
    int64_t row = work / tiles, column = work % tiles * CARD_WARP + card_lane(), offset[3];
    bool inside = column < a->columns.count, named = false;
    card_places(&a->columns, inside ? column : 0, operands, 3, offset);
    float x = *(const float *)(const void *)(a->x.data + offset[0] + row * a->x_row);
    float sum = a->scale ? 0 : x;
    CARD_ROLLED
    for (int64_t first = 0; first < a->entries.count; first += CHUNKS * CARD_WARP) {
      uint32_t marks[CHUNKS];
      if (!find_entries(a, row, first, marks)) continue;
      named = true;
      CARD_UNROLL
      for (int c = 0; c < CHUNKS; c++)
        sum = add_slices(a, a->y.data + offset[2], first + c * CARD_WARP, marks[c], sum);
    }
    if (!inside || (!named && a->in_place)) continue;
    tn_element to = { .f32 = sum };
    if (named && a->scale) to = updated(a, (tn_element){ .f32 = x }, canonical(to, TN_F32), TN_F32);
    *(float *)(void *)(a->out.data + offset[1] + row * a->out_row) = named ? canonical(to, TN_F32).f32 : x;
  }
}
