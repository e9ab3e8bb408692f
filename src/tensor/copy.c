/* tensor/copy.c: copies between two views of the same shape with any strides.
 *
 * The order of copying is free, so the axes are first normalised for the destination: no axes of
 * length 1, largest stride outermost, neighbours merged where both sides allow it, negative strides
 * made positive. Then few cases are left. If both sides are contiguous it is memcpy. If the
 * destination runs along one axis and the source along another it is a transpose, done in square
 * tiles so that each fetched cache line is used whole. Anything else is a plain strided loop.
 *
 * Elements are moved by memcpy of a constant size: one load and one store, for any alignment and
 * type. */
#include <assert.h>
#include <string.h>

#include "tensor/tensor.h"

#define TILE 32   /* elements; two tiles of f64 are 16 KiB, half of a first-level cache */

typedef struct {
  int rank;
  int64_t dim[TN_RANK_LIMIT];
  int64_t to_step[TN_RANK_LIMIT], from_step[TN_RANK_LIMIT];   /* bytes */
  unsigned char *to;
  const unsigned char *from;
  int64_t bytes;                                              /* of an element */
} copy_job;

static int64_t magnitude(int64_t step) { return step < 0 ? -step : step; }

/* Takes the axes longer than 1, with the destination's steps positive. */
static copy_job job_of(const tn_view *to, const tn_view *from) {
  copy_job job = { .to = to->data, .from = from->data, .bytes = (int64_t)tn_dtype_bytes(to->dtype) };
  for (int i = 0; i < to->rank; i++) {
    if (to->dim[i] == 1) continue;
    int64_t to_step = to->stride[i] * job.bytes, from_step = from->stride[i] * job.bytes;
    if (to_step < 0) {
      job.to += to_step * (to->dim[i] - 1);
      job.from += from_step * (to->dim[i] - 1);
      to_step = -to_step;
      from_step = -from_step;
    }
    job.dim[job.rank] = to->dim[i];
    job.to_step[job.rank] = to_step;
    job.from_step[job.rank++] = from_step;
  }
  return job;
}

static void swap_axes(copy_job *job, int a, int b) {
  int64_t dim = job->dim[a], to = job->to_step[a], from = job->from_step[a];
  job->dim[a] = job->dim[b];
  job->to_step[a] = job->to_step[b];
  job->from_step[a] = job->from_step[b];
  job->dim[b] = dim;
  job->to_step[b] = to;
  job->from_step[b] = from;
}

static bool inner_of(const copy_job *job, int a, int b) {
  if (job->to_step[a] != job->to_step[b]) return job->to_step[a] < job->to_step[b];
  return magnitude(job->from_step[a]) < magnitude(job->from_step[b]);
}

static void sort_axes(copy_job *job) {
  for (int i = 1; i < job->rank; i++) {
    for (int k = i; k > 0 && inner_of(job, k - 1, k); k--) swap_axes(job, k - 1, k);
  }
}

static void join_axes(copy_job *job) {
  int last = 0;
  for (int i = 1; i < job->rank; i++) {
    if (job->to_step[last] == job->to_step[i] * job->dim[i] &&
        job->from_step[last] == job->from_step[i] * job->dim[i]) {
      job->dim[last] *= job->dim[i];
    } else {
      last++;
      job->dim[last] = job->dim[i];
    }
    job->to_step[last] = job->to_step[i];
    job->from_step[last] = job->from_step[i];
  }
  if (job->rank) job->rank = last + 1;
}

/* A plane of rows x columns elements with steps in bytes. */
typedef struct {
  unsigned char *to;
  const unsigned char *from;
  int64_t rows, columns, to_row, to_column, from_row, from_column;
} plane;

#define COPY_PLANE(BYTES)                                                            \
  static void copy_plane_##BYTES(const plane *p) {                                   \
    for (int64_t i = 0; i < p->rows; i++) {                                          \
      unsigned char *to = p->to + i * p->to_row;                                     \
      const unsigned char *from = p->from + i * p->from_row;                         \
      for (int64_t k = 0; k < p->columns; k++) {                                     \
        memcpy(to + k * p->to_column, from + k * p->from_column, BYTES);             \
      }                                                                              \
    }                                                                                \
  }
COPY_PLANE(1)
COPY_PLANE(2)
COPY_PLANE(4)
COPY_PLANE(8)

static void copy_strided(const plane *p, int64_t bytes) {
  switch (bytes) {
    case 1: copy_plane_1(p); break;
    case 2: copy_plane_2(p); break;
    case 4: copy_plane_4(p); break;
    default: copy_plane_8(p); break;
  }
}

static void copy_rows(const plane *p, int64_t bytes) {
  for (int64_t i = 0; i < p->rows; i++) {
    memcpy(p->to + i * p->to_row, p->from + i * p->from_row, (size_t)(p->columns * bytes));
  }
}

static int64_t at_most(int64_t limit, int64_t length) { return length < limit ? length : limit; }

static void copy_tiles(const plane *p, int64_t bytes) {
  for (int64_t i = 0; i < p->rows; i += TILE) {
    for (int64_t k = 0; k < p->columns; k += TILE) {
      plane tile = *p;
      tile.to += i * p->to_row + k * p->to_column;
      tile.from += i * p->from_row + k * p->from_column;
      tile.rows = at_most(TILE, p->rows - i);
      tile.columns = at_most(TILE, p->columns - k);
      copy_strided(&tile, bytes);
    }
  }
}

static void copy_plane(const plane *p, int64_t bytes) {
  if (p->to_column == bytes && p->from_column == bytes) copy_rows(p, bytes);
  else if (magnitude(p->from_row) < magnitude(p->from_column)) copy_tiles(p, bytes);
  else copy_strided(p, bytes);
}

/* The axis along which the source is densest beside the innermost one; for a transpose it
 * becomes the rows of the plane. */
static void choose_rows(copy_job *job) {
  int best = job->rank - 2, columns = job->rank - 1;
  if (job->from_step[columns] == job->bytes) return;
  for (int i = best - 1; i >= 0; i--) {
    bool repeats = job->from_step[i] == 0;
    if (!repeats && magnitude(job->from_step[i]) < magnitude(job->from_step[best])) best = i;
  }
  for (int i = best; i < job->rank - 2; i++) swap_axes(job, i, i + 1);
}

static void copy_planes(const copy_job *job, plane *p) {
  int64_t index[TN_RANK_LIMIT] = { 0 };
  int outer = job->rank - 2;
  for (;;) {
    copy_plane(p, job->bytes);
    int axis = outer - 1;
    for (; axis >= 0 && index[axis] == job->dim[axis] - 1; axis--) {   /* carry */
      p->to -= job->to_step[axis] * index[axis];
      p->from -= job->from_step[axis] * index[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
    p->to += job->to_step[axis];
    p->from += job->from_step[axis];
    index[axis]++;
  }
}

void tn_view_copy(const tn_view *to, const tn_view *from) {
  assert(to->dtype == from->dtype && to->rank == from->rank);
  for (int i = 0; i < to->rank; i++) {
    assert(to->dim[i] == from->dim[i]);
    if (to->dim[i] == 0) return;
  }
  copy_job job = job_of(to, from);
  sort_axes(&job);
  join_axes(&job);
  plane p = { .to = job.to, .from = job.from, .rows = 1, .columns = 1 };
  if (job.rank >= 2) {
    choose_rows(&job);
    p.rows = job.dim[job.rank - 2];
    p.to_row = job.to_step[job.rank - 2];
    p.from_row = job.from_step[job.rank - 2];
  }
  p.to_column = p.from_column = job.bytes;
  if (job.rank >= 1) {
    p.columns = job.dim[job.rank - 1];
    p.to_column = job.to_step[job.rank - 1];
    p.from_column = job.from_step[job.rank - 1];
  }
  copy_planes(&job, &p);
}
