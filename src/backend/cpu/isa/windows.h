/* backend/cpu/isa/windows.h: images whose windows are multiplied, as both ways of doing that see them.
 *
 * windows.c goes along lines, for windows of 3 or 4 columns at every place; window_tiles.c has a register
 * tile for all others; depthwise.c has windows of one channel. */
#ifndef TN_BACKEND_CPU_WINDOWS_H
#define TN_BACKEND_CPU_WINDOWS_H

#include "backend/cpu/isa/isa.h"

/* Sums in registers. */
#if TN_LANES == 16 || (defined(__aarch64__) && !defined(TN_SIMD_SCALAR))
#define SUMS 24
#else
#define SUMS 12
#endif

typedef struct {
  const tn_kernel_call *call;
  const float *image; /* [images, height, width, channels] */
  int64_t images, height, width, channels;
  int64_t rows, columns;         /* of a window */
  int64_t step, across;          /* lines from one window to the one below; places to the one beside */
  int64_t above, left;           /* zeros around the image */
  int64_t out_height, out_width; /* windows below one another, and beside */
  int64_t line;                  /* elements of a line of the image, zeros included */
  bool copied;                   /* lines are, because there are zeros */
  const float *shared;           /* the lines of all images that are read, with zeros, or NULL */
  int64_t outputs, vectors;      /* columns of the other factor and of the result */
  int lines;                     /* or channels: what is done at a time */
  size_t room;                   /* bytes of scratch for each thread */
} windows_job;

/* Of windows of the operand that is an image, and the `outputs` columns of the result. */
static inline windows_job windows_job_of(const tn_kernel_call *call, const tn_view *image, int64_t outputs) {
  const tn_attrs *attrs = call->attrs;
  windows_job job = { .call = call, .image = image->data, .images = image->dim[0], .height = image->dim[1] };
  job.width = image->dim[2], job.channels = image->dim[3];
  job.rows = attrs->window[0], job.columns = attrs->window[1];
  job.step = attrs->step[0], job.across = attrs->step[1];
  job.above = attrs->low[0], job.left = attrs->low[1];
  job.out_height = (job.height + job.above + attrs->high[0] - job.rows) / job.step + 1;
  job.out_width = (job.width + job.left + attrs->high[1] - job.columns) / job.across + 1;
  job.line = (job.width + job.left + attrs->high[1]) * job.channels;
  job.copied = job.above > 0 || job.left > 0 || attrs->high[0] > 0 || attrs->high[1] > 0;
  job.outputs = outputs;
  job.vectors = (job.outputs + TN_LANES - 1) / TN_LANES;
  return job;
}

/* Lines of the image that so many lines of the result are made of. */
static inline int64_t windows_lines_for(const windows_job *job, int64_t results) {
  return (results - 1) * job->step + job->rows;
}
static inline int64_t windows_lines_of_image(const windows_job *job) {
  return windows_lines_for(job, job->out_height);
}

/* Lines of an image, zeros included, from line `first` on; into `room` where they must be copied. */
static inline const float *windows_lines(const windows_job *job, int64_t image, int64_t first, int64_t count,
                                         float *room) {
  int64_t pixels = job->width * job->channels, left = job->left * job->channels;
  const float *from = job->image + image * job->height * pixels;
  if (!job->copied) return from + first * pixels;
  if (job->shared) return job->shared + (image * windows_lines_of_image(job) + first) * job->line;
  for (int64_t i = 0; i < count; i++, room += job->line) {
    int64_t h = first + i - job->above;
    bool outside = h < 0 || h >= job->height;
    memset(room, 0, (size_t)(outside ? job->line : left) * sizeof *room);
    if (outside) continue;
    memcpy(room + left, from + h * pixels, (size_t)pixels * sizeof *room);
    memset(room + left + pixels, 0, (size_t)(job->line - left - pixels) * sizeof *room);
  }
  return room - count * job->line;
}

/* The windows begin..end-1 that cover place `at` of an axis; none, if end is not after begin. */
typedef struct {
  int64_t begin, end;
} windows_cover;

static inline windows_cover windows_covering(int64_t at, int64_t low, int64_t step, int64_t window,
                                             int64_t windows) {
  int64_t last = at + low, first = last - window + 1;
  return (windows_cover){ first <= 0 ? 0 : (first + step - 1) / step, tn_cpu_min(last / step + 1, windows) };
}

/* Nanoseconds on one thread. */
static inline double windows_cost(const windows_job *job) {
  double each = TN_LANES > 4 ? 0.5 / TN_LANES : 0.7;
  double places = (double)(job->images * job->out_height * job->out_width);
  return places * (double)(job->rows * job->columns * job->channels * job->outputs) * each;
}

static inline size_t windows_floats(int64_t count) {
  return tn_cpu_round_up((size_t)count * sizeof(float), 64);
}

/* Each thread of the weights' gradient reads all images. Where lines are copied, many threads share one copy,
 * which they make together; a few copy lines for themselves, into a near cache. The bytes of that copy,
 * or 0. */
#define WINDOWS_SHARED_MOST ((size_t)16 << 20)
static inline size_t windows_shared_bytes(const windows_job *job, int threads) {
  size_t bytes = windows_floats(job->images * windows_lines_of_image(job) * job->line);
  return job->copied && threads > 2 && bytes <= WINDOWS_SHARED_MOST ? bytes : 0;
}
#define windows_share_lines TN_CPU_NAME(windows_share_lines)
void windows_share_lines(windows_job *job);

/* window_tiles.c: whether call->op is PATCHES, MATMUL (the weights' gradient) or FOLD (the image's). */
#define window_tiles         TN_CPU_NAME(window_tiles)
#define window_tiles_scratch TN_CPU_NAME(window_tiles_scratch)
bool window_tiles(const tn_kernel_call *call);
size_t window_tiles_scratch(const tn_kernel_call *call);
#endif
