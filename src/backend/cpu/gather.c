/* backend/cpu/gather.c: gather, and patches: windows of an image.
 *
 * Every index is checked before anything is copied, so that a wrong one is
 * found in the order of the index, whatever the number of threads, and nothing
 * has been written then. */
#include "backend/cpu/internal.h"
#include "backend/cpu/iterator.h"

static int64_t load_index(const tn_view *index, int64_t offset) {
  return tn_cpu_index_at(index->data, index->dtype, offset);
}

bool tn_cpu_check_index(const tn_kernel_call *call, const tn_view *index, int64_t limit, int axis) {
  int64_t count = tn_cpu_elements(index);
  if (count == 0) return true;
  tn_cpu_iterator it;
  tn_cpu_iterator_one(&it, index);
  int outer = it.rank - 1;
  int64_t row = it.dim[outer], step = it.stride[0][outer];
  tn_cpu_iterator_seek(&it, outer, 0);
  for (int64_t done = 0; done < count; done += row, tn_cpu_iterator_next(&it, outer))
    for (int64_t i = 0; i < row; i++) {
      int64_t at = load_index(index, it.offset[0] + i * step);
      bool stopped = tn_cpu_stopped(call, done + i); /* the others are not known to fit */
      if (at >= 0 && at < limit && !stopped) continue;
      tn_fault_kind kind = stopped ? TN_FAULT_INTERRUPTED : TN_FAULT_BOUNDS;
      *call->fault = (tn_fault){ .kind = kind, .op = call->op, .axis = axis, .expected = limit, .got = at };
      return false;
    }
  return true;
}

/* ---- gather ---- */
/* out[before..., i..., after...] = x[before..., index[i...], after...] */
typedef struct {
  const tn_kernel_call *call;
  tn_cpu_iterator before, index; /* views: x and out; index and out */
  tn_view from, to;          /* one slice: the axes after */
  int64_t indices, slices;
  int64_t step; /* of x along the axis */
} gather_job;

/* The common case: rows of a table without gaps, chosen by an index without gaps. */
#define LONG_RUN ((size_t)1 << 20) /* bytes of a slice that is copied in several pieces */
#define AHEAD 8 /* rows: how far ahead one is prefetched */
static void gather_rows(const gather_job *job, int64_t begin, int64_t end, size_t run) {
  const tn_view *x = &job->call->in[0], *index = &job->call->in[1];
  int64_t step = job->step * (int64_t)tn_cpu_bytes(x->dtype);
  char *to = (char *)job->call->out->data + begin * (int64_t)run;
  for (int64_t i = begin; i < end; i++, to += run) {
    const char *ahead = (const char *)x->data + load_index(index, i + AHEAD < end ? i + AHEAD : i) * step;
    for (size_t line = 0; line < run && line < 1024; line += 64) TN_CPU_PREFETCH(ahead + line);
    tn_cpu_copy_run(to, (const char *)x->data + load_index(index, i) * step, run);
  }
}

static void gather_share(void *context, const tn_cpu_part *part) {
  const gather_job *job = context;
  const tn_view *x = &job->call->in[0], *index = &job->call->in[1], *out = job->call->out;
  int64_t bytes = (int64_t)tn_cpu_bytes(x->dtype), begin, end;
  tn_cpu_iterator before, places;
  tn_cpu_iterator_copy(&before, &job->before);
  tn_cpu_iterator_copy(&places, &job->index);
  tn_view from = job->from, to = job->to;
  bool flat = tn_cpu_is_flat(&from) && tn_cpu_is_flat(&to);
  size_t run = (size_t)(tn_cpu_elements(&to) * bytes);
  tn_cpu_share(job->slices, 1, part, &begin, &end);
  if (begin >= end) return;
  bool rows = flat && run <= LONG_RUN && job->indices == job->slices;
  if (rows && tn_cpu_is_flat(index) && tn_cpu_is_flat(out)) {
    gather_rows(job, begin, end, run);
    return;
  }
  tn_cpu_iterator_seek(&before, before.rank, begin / job->indices);
  tn_cpu_iterator_seek(&places, places.rank, begin % job->indices);
  for (int64_t slice = begin, i = begin % job->indices; slice < end; slice++) {
    int64_t at = load_index(index, places.offset[0]);
    from.data = (char *)x->data + (before.offset[0] + at * job->step) * bytes;
    to.data = (char *)out->data + (before.offset[1] + places.offset[1]) * bytes;
    if (flat && run <= LONG_RUN)
      tn_cpu_copy_run(to.data, from.data, run);
    else
      tn_cpu_move_alone(job->call, &to, &from);
    tn_cpu_iterator_next(&places, places.rank);
    if (++i < job->indices) continue;
    i = 0;
    tn_cpu_iterator_next(&before, before.rank);
  }
}

bool tn_cpu_gather(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *out = call->out;
  int axis = call->attrs->axis, after = axis + index->rank;
  if (!tn_cpu_check_index(call, index, x->dim[axis], axis)) return false;
  if (tn_cpu_elements(out) == 0) return true;

  gather_job job = { .call = call, .step = x->stride[axis], .indices = tn_cpu_elements(index) };
  tn_view x_before = tn_cpu_axes(x, 0, axis), out_before = tn_cpu_axes(out, 0, axis);
  tn_view out_places = tn_cpu_axes(out, axis, after);
  tn_cpu_iterator_two(&job.before, &x_before, &out_before);
  tn_cpu_iterator_two(&job.index, index, &out_places);
  job.from = tn_cpu_axes(x, axis + 1, x->rank);
  job.to = tn_cpu_axes(out, after, out->rank);
  job.slices = tn_cpu_elements(&x_before) * job.indices;
  double cost =
      (double)job.slices * (8 + 0.2 * (double)tn_cpu_elements(&job.to) * (double)tn_cpu_bytes(x->dtype));
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), job.slices, cost, gather_share, &job);
  return true;
}

/* ---- patches ---- */
/* x: [n, h, w, c], out: [n, oh, ow, kh * kw * c]; one unit is a row of windows (n, oh). */
static void patch_row(const tn_kernel_call *call, int64_t n, int64_t oh, int64_t ow, int64_t kernel_row) {
  const tn_view *x = &call->in[0], *out = call->out;
  const tn_attrs *attrs = call->attrs;
  int64_t bytes = (int64_t)tn_cpu_bytes(x->dtype), columns = attrs->window[1], channels = x->dim[3];
  int64_t h = oh * attrs->step[0] + kernel_row - attrs->low[0];
  int64_t first = ow * attrs->step[1] - attrs->low[1];
  tn_view to = { .dtype = x->dtype,
                 .rank = 2,
                 .dim = { columns, channels },
                 .stride = { channels * out->stride[3], out->stride[3] } };
  to.data = (char *)out->data + (n * out->stride[0] + oh * out->stride[1] + ow * out->stride[2] +
                                 kernel_row * columns * channels * out->stride[3]) *
                                    bytes;
  int64_t begin = first < 0 ? -first : 0, end = x->dim[2] - first < columns ? x->dim[2] - first : columns;
  if (h < 0 || h >= x->dim[1] || begin >= end) {
    tn_cpu_clear(call, &to);
    return;
  }
  tn_view left = tn_view_slice(&to, 0, 0, 1, begin), right = tn_view_slice(&to, 0, end, 1, columns - end);
  tn_view middle = tn_view_slice(&to, 0, begin, 1, end - begin);
  tn_view from = {
    .dtype = x->dtype, .rank = 2, .dim = { end - begin, channels }, .stride = { x->stride[2], x->stride[3] }
  };
  from.data =
      (char *)x->data + (n * x->stride[0] + h * x->stride[1] + (first + begin) * x->stride[2]) * bytes;
  tn_cpu_clear(call, &left);
  tn_cpu_clear(call, &right);
  tn_cpu_move_alone(call, &middle, &from);
}

/* The common case: a row of the image and a window are contiguous. `run` is one row of a window, in bytes. */
static void patch_line(const tn_kernel_call *call, int64_t n, int64_t oh) {
  const tn_view *x = &call->in[0], *out = call->out;
  const tn_attrs *attrs = call->attrs;
  int64_t pixel = x->dim[3] * (int64_t)tn_cpu_bytes(x->dtype), line = pixel * x->dim[2];
  int64_t run = attrs->window[1] * pixel;
  const char *image = (const char *)x->data + n * x->dim[1] * line;
  char *to = (char *)out->data + (n * out->dim[1] + oh) * out->dim[2] * attrs->window[0] * run;
  for (int64_t ow = 0; ow < out->dim[2] && !tn_stop_asked(call->stop); ow++) {
    int64_t first = (ow * attrs->step[1] - attrs->low[1]) * pixel, h = oh * attrs->step[0] - attrs->low[0];
    int64_t begin = first < 0 ? -first : 0, end = line - first < run ? line - first : run;
    for (int64_t row = 0; row < attrs->window[0]; row++, h++, to += run) {
      if (h < 0 || h >= x->dim[1] || begin >= end) {
        memset(to, 0, (size_t)run);
        continue;
      }
      if (begin > 0) memset(to, 0, (size_t)begin);
      tn_cpu_copy_run(to + begin, image + h * line + first + begin, (size_t)(end - begin));
      if (end < run) memset(to + end, 0, (size_t)(run - end));
    }
  }
}

static void patches_share(void *context, const tn_cpu_part *part) {
  const tn_kernel_call *call = context;
  const tn_view *out = call->out;
  bool flat = tn_cpu_is_flat(&call->in[0]) && tn_cpu_is_flat(out);
  int64_t begin, end;
  tn_cpu_share(out->dim[0] * out->dim[1], 1, part, &begin, &end);
  for (int64_t unit = begin; unit < end; unit++) {
    if (flat) {
      patch_line(call, unit / out->dim[1], unit % out->dim[1]);
      continue;
    }
    for (int64_t ow = 0; ow < out->dim[2] && !tn_stop_asked(call->stop); ow++)
      for (int64_t row = 0; row < call->attrs->window[0]; row++)
        patch_row(call, unit / out->dim[1], unit % out->dim[1], ow, row);
  }
}

bool tn_cpu_patches(const tn_kernel_call *call) {
  if (tn_cpu_elements(call->out) == 0) return true;
  double cost = (double)tn_cpu_elements(call->out) * (double)tn_cpu_bytes(call->out->dtype) * 0.3;
  int64_t lines = call->out->dim[0] * call->out->dim[1];
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), lines, cost, patches_share, (void *)call);
  return true;
}
