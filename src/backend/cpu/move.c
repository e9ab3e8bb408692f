/* backend/cpu/move.c: copies elements to other positions, at memory speed.
 *
 * Elements are moved by their size alone. A copy between two arrangements is
 * one of three things once neighbouring axes have been merged: rows that are
 * contiguous on both sides; a transposition, where the axis that is contiguous
 * on one side is not the one on the other, which goes through square blocks so
 * that each cache line is fetched once; or neither, element by element. */
#include "backend/cpu/internal.h"
#include "backend/cpu/iterator.h"

#define CLEAR_AT_ONCE ((size_t)16 << 20) /* bytes: some milliseconds */

enum { TO, FROM };

typedef struct {
  const tn_kernel_call *call;
  tn_cpu_iterator it; /* views TO and FROM; the axes a unit covers come last */
  char *to;
  const char *from;
  size_t bytes;          /* of an element */
  int outer;             /* axes that units count through */
  int64_t piece, pieces; /* a unit takes `piece` places of axis `outer` */
} move_job;

/* ---- one row: count elements, strides in elements ---- */
#define STRIDED_ROW(type)                                                                                    \
  static void row_##type(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) {    \
    type *restrict t = (type *)to;                                                                           \
    const type *restrict f = (const type *)from;                                                             \
    for (int64_t i = 0; i < count; i++) t[i * to_step] = f[i * from_step];                                   \
  }
STRIDED_ROW(uint8_t)
STRIDED_ROW(uint16_t)
STRIDED_ROW(uint32_t)
STRIDED_ROW(uint64_t)

static void move_row(size_t bytes, char *to, int64_t to_step, const char *from, int64_t from_step,
                     int64_t count) {
  if (to_step == 1 && from_step == 1) {
    memcpy(to, from, (size_t)count * bytes);
    return;
  }
  switch (bytes) {
    case 1: row_uint8_t(to, to_step, from, from_step, count); break;
    case 2: row_uint16_t(to, to_step, from, from_step, count); break;
    case 4: row_uint32_t(to, to_step, from, from_step, count); break;
    default: row_uint64_t(to, to_step, from, from_step, count); break;
  }
}

/* ---- one block of a transposition: to[i * to_step + j] = from[i + j * from_step] ---- Through a
 * square on the stack: both sides are then touched in whole cache lines, one after another. With
 * steps that are powers of two the lines of a block map to few cache sets and would be evicted. */
#define BLOCK 16
#define TRANSPOSED_BLOCK(type)                                                                               \
  static void block_##type(char *to, int64_t to_step, const char *from, int64_t from_step, int rows,         \
                           int columns) {                                                                    \
    type *restrict t = (type *)to, square[BLOCK][BLOCK];                                                     \
    const type *restrict f = (const type *)from;                                                             \
    if (rows == BLOCK && columns == BLOCK) {                                                                 \
      for (int j = 0; j < BLOCK; j++) memcpy(square[j], f + j * from_step, sizeof square[j]);                \
      for (int i = 0; i < BLOCK; i++)                                                                        \
        for (int j = 0; j < BLOCK; j++) t[i * to_step + j] = square[j][i];                                   \
      return;                                                                                                \
    }                                                                                                        \
    for (int i = 0; i < rows; i++)                                                                           \
      for (int j = 0; j < columns; j++) t[i * to_step + j] = f[i + j * from_step];                           \
  }
TRANSPOSED_BLOCK(uint8_t)
TRANSPOSED_BLOCK(uint16_t)
TRANSPOSED_BLOCK(uint32_t)
TRANSPOSED_BLOCK(uint64_t)

static void move_block(size_t bytes, char *to, int64_t to_step, const char *from, int64_t from_step, int rows,
                       int columns) {
  switch (bytes) {
    case 1: block_uint8_t(to, to_step, from, from_step, rows, columns); break;
    case 2: block_uint16_t(to, to_step, from, from_step, rows, columns); break;
    case 4: block_uint32_t(to, to_step, from, from_step, rows, columns); break;
    default: block_uint64_t(to, to_step, from, from_step, rows, columns); break;
  }
}

static int at_most(int64_t count, int most) { return count < most ? (int)count : most; }

/* rows x columns, contiguous along rows in `from` and along columns in `to`. */
static void move_transposed(const move_job *job, char *to, const char *from, int64_t rows, int64_t columns) {
  int64_t to_step = job->it.stride[TO][job->outer], from_step = job->it.stride[FROM][job->outer + 1];
  int64_t bytes = (int64_t)job->bytes;
  for (int64_t j = 0; j < columns && !tn_cpu_stopped(job->call, j / BLOCK); j += BLOCK)
    for (int64_t i = 0; i < rows; i += BLOCK)
      move_block(job->bytes, to + (i * to_step + j) * bytes, to_step, from + (i + j * from_step) * bytes,
                 from_step, at_most(rows - i, BLOCK), at_most(columns - j, BLOCK));
}

/* ---- all of it ---- */
/* One unit: `piece` places of axis `outer`, and the whole of the axis after it if there is one. */
static void move_unit(const move_job *job, const tn_cpu_iterator *it, int64_t number) {
  int a = job->outer;
  int64_t begin = number * job->piece, count = it->dim[a] - begin;
  if (count > job->piece) count = job->piece;
  int64_t bytes = (int64_t)job->bytes;
  char *to = job->to + (it->offset[TO] + begin * it->stride[TO][a]) * bytes;
  const char *from = job->from + (it->offset[FROM] + begin * it->stride[FROM][a]) * bytes;
  if (a + 1 < it->rank)
    move_transposed(job, to, from, count, it->dim[a + 1]);
  else
    move_row(job->bytes, to, it->stride[TO][a], from, it->stride[FROM][a], count);
}

static void move_share(void *context, const tn_cpu_part *part) {
  const move_job *job = context;
  tn_cpu_iterator it;
  int64_t begin, end;
  tn_cpu_iterator_copy(&it, &job->it);
  tn_cpu_share(tn_cpu_iterator_count(&it, 0, job->outer) * job->pieces, 1, part, &begin, &end);
  if (begin >= end) return;
  tn_cpu_iterator_seek(&it, job->outer, begin / job->pieces);
  for (int64_t unit = begin, number = begin % job->pieces; unit < end; unit++) {
    move_unit(job, &it, number);
    if (++number < job->pieces) continue;
    number = 0;
    tn_cpu_iterator_next(&it, job->outer);
  }
}

/* Puts axis a before the last one; the order of places does not matter to a copy. */
static void bring_axis(tn_cpu_iterator *it, int a) {
  int64_t dim = it->dim[a], to = it->stride[TO][a], from = it->stride[FROM][a];
  for (; a + 2 < it->rank; a++) tn_cpu_iterator_put(it, a, a + 1);
  it->dim[a] = dim, it->stride[TO][a] = to, it->stride[FROM][a] = from;
}

/* Whether the last axis, contiguous in TO, is far apart in FROM while another one is contiguous there. */
static bool is_transposition(const tn_cpu_iterator *it, int *axis) {
  int last = it->rank - 1;
  if (it->stride[TO][last] != 1 || it->stride[FROM][last] == 1 || it->stride[FROM][last] == 0)
    return false;
  for (*axis = last - 1; *axis >= 0; --*axis)
    if (it->stride[FROM][*axis] == 1) return true;
  return false;
}

static void move_over(const tn_kernel_call *call, tn_cpu_iterator *it, void *to, const void *from,
                      size_t bytes, int threads) {
  move_job job;
  job.call = call, job.to = to, job.from = from, job.bytes = bytes;
  int axis;
  tn_cpu_iterator_merge(it);
  job.outer = it->rank - 1;
  job.piece = 65536 / (int64_t)bytes;
  if (is_transposition(it, &axis)) {
    bring_axis(it, axis);
    job.outer = it->rank - 2;
    job.piece = 4 * BLOCK;
  }
  job.pieces = (it->dim[job.outer] + job.piece - 1) / job.piece;
  tn_cpu_iterator_copy(&job.it, it);
  double cost = (double)tn_cpu_iterator_count(it, 0, it->rank) * (double)bytes * 0.2;
  int64_t units = tn_cpu_iterator_count(it, 0, job.outer) * job.pieces;
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, threads), units, cost, move_share, &job);
}

static void move(const tn_kernel_call *call, const tn_view *to, const tn_view *from, int threads) {
  int64_t count = tn_cpu_elements(to);
  size_t bytes = tn_cpu_bytes(to->dtype);
  if (count == 0) return;
  if (count * (int64_t)bytes <= 4096 && tn_cpu_is_flat(to) && tn_cpu_is_flat(from)) {
    memcpy(to->data, from->data, (size_t)count * bytes);
    return;
  }
  tn_cpu_iterator it;
  tn_cpu_iterator_init(&it, to);
  tn_cpu_iterator_add(&it, to);
  tn_cpu_iterator_add(&it, from);
  move_over(call, &it, to->data, from->data, bytes, threads);
}

void tn_cpu_move(const tn_kernel_call *call, const tn_view *to, const tn_view *from) {
  move(call, to, from, call->threads);
}

void tn_cpu_move_alone(const tn_kernel_call *call, const tn_view *to, const tn_view *from) {
  move(call, to, from, 1);
}

void tn_cpu_clear(const tn_kernel_call *call, const tn_view *view) {
  size_t bytes = (size_t)tn_cpu_elements(view) * tn_cpu_bytes(view->dtype);
  if (bytes == 0) return;
  if (bytes <= CLEAR_AT_ONCE && tn_cpu_is_flat(view)) {
    memset(view->data, 0, bytes);
    return;
  }
  /* A row of zeros as a view with stride 0. */
  uint64_t zero = 0;
  tn_view none = *view;
  none.data = &zero;
  for (int a = 0; a < none.rank; a++) none.stride[a] = 0;
  tn_cpu_move_alone(call, view, &none);
}

/* ---- reshape, transpose, broadcast_to, slice ---- */
/* Copies in row-major order where only the counts agree, and strides cannot give `from` the shape of `to`. */
static void move_reshaped(const tn_kernel_call *call, const tn_view *to, const tn_view *from) {
  tn_view view;
  tn_shape shape = tn_view_shape(from);
  if (tn_view_reshape(to, &shape, &view)) {
    tn_cpu_move(call, &view, from);
    return;
  }
  /* Neither can be seen in the other's shape: one element after another. */
  tn_cpu_iterator a, b;
  int64_t bytes = (int64_t)tn_cpu_bytes(to->dtype);
  tn_cpu_iterator_one(&a, to);
  tn_cpu_iterator_one(&b, from);
  tn_cpu_iterator_seek(&a, a.rank, 0);
  tn_cpu_iterator_seek(&b, b.rank, 0);
  for (int64_t i = tn_cpu_elements(to); i > 0 && !tn_cpu_stopped(call, i); i--) {
    memcpy((char *)to->data + a.offset[0] * bytes, (const char *)from->data + b.offset[0] * bytes,
           (size_t)bytes);
    tn_cpu_iterator_next(&a, a.rank);
    tn_cpu_iterator_next(&b, b.rank);
  }
}

bool tn_cpu_copy(const tn_kernel_call *call) {
  tn_view x;
  tn_shape shape = tn_view_shape(call->out);
  if (tn_cpu_elements(call->out) == 0) return true;
  if (tn_op_view_data(call->op, call->attrs, &shape, &call->in[0], &x))
    tn_cpu_move(call, call->out, &x);
  else
    move_reshaped(call, call->out, &call->in[0]);
  return true;
}

/* ---- pad, concat ---- */
/* Element i of an axis lands at low + i * (1 + step). */
bool tn_cpu_pad(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0];
  const tn_attrs *attrs = call->attrs;
  tn_view inside = *call->out;
  tn_cpu_clear(call, call->out);
  if (tn_cpu_elements(x) == 0) return true;
  for (int a = 0; a < x->rank; a++)
    inside = tn_view_slice(&inside, a, attrs->low[a], 1 + attrs->step[a], x->dim[a]);
  tn_cpu_move(call, &inside, x);
  return true;
}

bool tn_cpu_concat(const tn_kernel_call *call) {
  int axis = call->attrs->axis;
  int64_t start = 0;
  for (int k = 0; k < call->count; k++) {
    const tn_view *x = &call->in[k];
    tn_view part = tn_view_slice(call->out, axis, start, 1, x->dim[axis]);
    tn_cpu_move(call, &part, x);
    start += x->dim[axis];
  }
  return true;
}
