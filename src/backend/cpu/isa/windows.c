/* backend/cpu/isa/windows.c: convolution: products of image windows, line by line, without storing them.
 *
 * A convolution is a product of windows and weights; the gradient of its weights is one of windows
 * and slopes. Windows overlap, so storing them takes many times the memory of the image, and each
 * pixel is then loaded once for every window that contains it. Here a line of the image is read
 * from left to right, and each value broadcast over a vector serves all windows of its line at
 * once: for window columns 0, 1 and 2 those that begin here, one pixel before and two pixels
 * before. Each sum is still one chain of fma, over window rows, window columns and channels
 * ascending, or over images, lines and places, because a window begins with its first column:
 *
 *   windows times weights: `lines` lines of the result at a time, one window row
 *     after the other; between two of them the sums wait in the result;
 *   windows, transposed, times slopes: sums of several channels stay in registers
 *     while the lines of an image pass by, and in the result between images.
 *
 * The zeros around an image are multiplied like other numbers, for zero times
 * infinity is NaN: lines are copied together with them, image by image. */
#include "backend/cpu/isa/windows.h"

#define COLUMNS_MOST 4
#define LINES_MOST   (SUMS / 3)

static int part_of(const windows_job *job, int64_t vector) {
  return (int)tn_cpu_min(job->outputs - vector * TN_LANES, TN_LANES);
}

/* ---- windows times weights ---- */

/* One row of the windows, for several lines of the result. Lines may be the same one. */
typedef struct {
  const float *line[LINES_MOST]; /* of the image */
  float *out[LINES_MOST];        /* of the result */
  const float *weights;          /* [columns, channels, TN_LANES] */
  int64_t channels, width, apart; /* places of a line of the result, and elements between two of them */
  int part;                      /* columns of the result */
  bool first, last;              /* row of the windows */
} sweep;

TN_ALWAYS_INLINE void sweep_lines(const sweep *s, int lines, int columns) {
  VF sum[LINES_MOST][COLUMNS_MOST];
  const float *line[LINES_MOST];
  TN_UNROLL for (int r = 0; r < lines; r++) {
    line[r] = s->line[r];
    TN_UNROLL for (int k = 0; k < columns; k++) sum[r][k] = vf_set(0.0f);
  }
  for (int64_t x = 0; x < s->width + columns - 1; x++) {
    bool begun = !s->first && x < s->width;
    const float *w = s->weights;
    TN_UNROLL for (int r = 0; r < lines; r++) sum[r][0] =
        begun ? tn_load_some(s->out[r] + x * s->apart, s->part) : vf_set(0.0f);
    for (int64_t c = 0; c < s->channels; c++, w += TN_LANES) {
      VF weight[COLUMNS_MOST];
      TN_UNROLL for (int k = 0; k < columns; k++) weight[k] = vf_load(w + k * s->channels * TN_LANES);
      TN_UNROLL for (int r = 0; r < lines; r++) {
        VF pixel = vf_set(line[r][x * s->channels + c]);
        TN_UNROLL for (int k = 0; k < columns; k++) sum[r][k] = vf_fma(pixel, weight[k], sum[r][k]);
      }
    }
    TN_UNROLL for (int r = 0; r < lines; r++) {
      VF done = sum[r][columns - 1];
      TN_UNROLL for (int k = columns - 1; k > 0; k--) sum[r][k] = sum[r][k - 1];
      if (x >= columns - 1)
        tn_store_some(s->out[r] + (x - columns + 1) * s->apart, s->last ? vf_canonical(done) : done, s->part);
    }
  }
}

/* ---- windows, transposed, times slopes ---- */

/* All lines of one image, for several channels; each is one of a certain row of the windows. */
typedef struct {
  const float *pixel[LINES_MOST]; /* of the first line */
  float *out[LINES_MOST];         /* the sum of the first column of the windows */
  const float *slope;
  int64_t down;                   /* elements to the next line of the image that a window begins with */
  int64_t channels, height, width, apart;
  int64_t next;                   /* elements from the sum of one column of the windows to the next */
  int part;
  bool first, last;               /* image */
} gather;

/* Place x of a line, for the window columns from `from` to `to`: slope[k] is that of the window that begins k
 * places before. */
TN_ALWAYS_INLINE void add_place(VF sum[COLUMNS_MOST][LINES_MOST], const VF *slope, const float *const *pixel,
                                int64_t x, int pairs, int from, int to) {
  TN_UNROLL for (int q = 0; q < pairs; q++) {
    VF one = vf_set(pixel[q][x]);
    TN_UNROLL for (int k = from; k <= to; k++) sum[k][q] = vf_fma(one, slope[k], sum[k][q]);
  }
}

TN_ALWAYS_INLINE void next_slope(VF *slope, VF value, int columns) {
  TN_UNROLL for (int k = columns - 1; k > 0; k--) slope[k] = slope[k - 1];
  slope[0] = value;
}

TN_ALWAYS_INLINE void gather_image(const gather *g, int pairs, int columns) {
  VF sum[COLUMNS_MOST][LINES_MOST], slope[COLUMNS_MOST];
  const float *pixel[LINES_MOST], *from = g->slope;
  TN_UNROLL for (int q = 0; q < pairs; q++) pixel[q] = g->pixel[q];
  TN_UNROLL for (int k = 0; k < columns; k++) {
    slope[k] = vf_set(0.0f);
    TN_UNROLL for (int q = 0; q < pairs; q++) sum[k][q] =
        g->first ? vf_set(0.0f) : tn_load_some(g->out[q] + k * g->next, g->part);
  }
  for (int64_t y = 0; y < g->height; y++, from += g->width * g->apart) {
    TN_UNROLL for (int x = 0; x < columns - 1; x++) {
      next_slope(slope, tn_load_some(from + x * g->apart, g->part), columns);
      add_place(sum, slope, pixel, x * g->channels, pairs, 0, x);
    }
    for (int64_t x = columns - 1; x < g->width; x++) {
      next_slope(slope, tn_load_some(from + x * g->apart, g->part), columns);
      add_place(sum, slope, pixel, x * g->channels, pairs, 0, columns - 1);
    }
    TN_UNROLL for (int k = 1; k < columns; k++) {
      next_slope(slope, slope[0], columns);
      add_place(sum, slope, pixel, (g->width - 1 + k) * g->channels, pairs, k, columns - 1);
    }
    TN_UNROLL for (int q = 0; q < pairs; q++) pixel[q] += g->down;
  }
  TN_UNROLL for (int k = 0; k < columns; k++) TN_UNROLL for (int q = 0; q < pairs; q++)
      tn_store_some(g->out[q] + k * g->next, g->last ? vf_canonical(sum[k][q]) : sum[k][q], g->part);
}

/* ---- as many at a time as there are registers for, half as many, and a quarter ---- */
#define ALL(columns)     (SUMS / (columns))
#define HALF(columns)    ((SUMS / (columns) + 1) / 2)
#define QUARTER(columns) ((SUMS / (columns) + 3) / 4)
#define WIDTHS(X)        X(3) X(4)
#define WAYS(columns)                                                                                        \
  TN_NEVER_INLINE void sweep_all_##columns(const sweep *s) { sweep_lines(s, ALL(columns), columns); }        \
  TN_NEVER_INLINE void sweep_half_##columns(const sweep *s) { sweep_lines(s, HALF(columns), columns); }      \
  TN_NEVER_INLINE void gather_all_##columns(const gather *g) { gather_image(g, ALL(columns), columns); }     \
  TN_NEVER_INLINE void gather_half_##columns(const gather *g) { gather_image(g, HALF(columns), columns); }   \
  TN_NEVER_INLINE void gather_quarter_##columns(const gather *g) {                                           \
    gather_image(g, QUARTER(columns), columns);                                                              \
  }
WIDTHS(WAYS)
#define ENTRY(columns)                                                                                       \
  [columns] = { sweep_all_##columns,                                                                         \
                sweep_half_##columns,                                                                        \
                { gather_all_##columns, gather_half_##columns, gather_quarter_##columns } },
static const struct {
  void (*sweep_all)(const sweep *), (*sweep_half)(const sweep *);
  void (*gather[3])(const gather *); /* all, half, a quarter */
} ways[COLUMNS_MOST + 1] = { WIDTHS(ENTRY) };

static int all_of(const windows_job *job) { return SUMS / (int)job->columns; }
static int half_of(const windows_job *job) { return (all_of(job) + 1) / 2; }
static int quarter_of(const windows_job *job) { return (all_of(job) + 3) / 4; }

/* ---- all lines of all images ---- */

static int64_t packed_weights(const windows_job *job) {
  return job->rows * job->columns * job->channels * job->vectors * TN_LANES;
}

/* [vectors, rows, columns, channels, TN_LANES] */
static void pack_weights(const windows_job *job, float *to) {
  const tn_view *w = &job->call->in[1];
  const float *from = w->data;
  for (int64_t v = 0; v < job->vectors; v++)
    for (int64_t k = 0; k < w->dim[0]; k++)
      for (int64_t l = 0; l < TN_LANES; l++, to++) {
        int64_t j = v * TN_LANES + l;
        *to = j < job->outputs ? from[k * w->stride[0] + j * w->stride[1]] : 0.0f;
      }
}

/* Lines y to y + count - 1 of the result of an image. */
static void sweep_band(const windows_job *job, int64_t image, int64_t y, int64_t count, const float *weights,
                       float *room) {
  const float *lines = windows_lines(job, image, y * job->step, windows_lines_for(job, count), room);
  bool half = count <= half_of(job);
  int at_once = half ? half_of(job) : all_of(job);
  int64_t row = job->columns * job->channels * TN_LANES;
  float *out = (float *)job->call->out->data + (image * job->out_height + y) * job->out_width * job->outputs;
  for (int64_t v = 0; v < job->vectors; v++) {
    sweep s = { .channels = job->channels, .width = job->out_width, .apart = job->outputs };
    s.part = part_of(job, v);
    for (int64_t k = 0; k < job->rows; k++) {
      for (int r = 0; r < at_once; r++) {
        int64_t own = r < count ? r : 0;
        s.line[r] = lines + (own * job->step + k) * job->line;
        s.out[r] = out + own * job->out_width * job->outputs + v * TN_LANES;
      }
      s.weights = weights + (v * job->rows + k) * row;
      s.first = k == 0, s.last = k == job->rows - 1;
      (half ? ways[job->columns].sweep_half : ways[job->columns].sweep_all)(&s);
    }
  }
}

static void sweep_share(void *context, const tn_cpu_part *part) {
  const windows_job *job = context;
  int64_t begin, end, bands = (job->out_height + job->lines - 1) / job->lines;
  float *weights = (float *)((char *)job->call->scratch + (size_t)part->thread * job->room);
  float *room = weights + windows_floats(packed_weights(job)) / sizeof(float);
  tn_cpu_share(job->images * bands, 1, part, &begin, &end);
  if (begin < end) pack_weights(job, weights);
  for (int64_t unit = begin; unit < end && !tn_stop_asked(job->call->stop); unit++) {
    int64_t y = unit % bands * job->lines;
    sweep_band(job, unit / bands, y, tn_cpu_min(job->lines, job->out_height - y), weights, room);
  }
}

static windows_job sweep_job(const tn_kernel_call *call) {
  windows_job job = windows_job_of(call, &call->in[0], call->out->dim[1]);
  job.lines = all_of(&job);
  job.room = windows_floats(packed_weights(&job));
  if (job.copied) job.room += windows_floats(windows_lines_for(&job, job.lines) * job.line);
  return job;
}

/* ---- the weights' gradient ---- */

static void copy_share(void *context, const tn_cpu_part *part) {
  const windows_job *job = context;
  int64_t begin, end, lines = windows_lines_of_image(job);
  tn_cpu_share(job->images * lines, 1, part, &begin, &end);
  for (int64_t i = begin; i < end; i++)
    (void)windows_lines(job, i / lines, i % lines, 1, (float *)job->call->scratch + i * job->line);
}

/* The copy is at the beginning of the scratch memory. */
void windows_share_lines(windows_job *job) {
  double cost = 0.3 * (double)(job->images * windows_lines_of_image(job) * job->line);
  tn_cpu_parallel(job->call, tn_cpu_threads_for(cost, job->call->threads), cost, copy_share, job);
  job->shared = job->call->scratch;
}

/* Channels of all rows of the windows, in turns of so many. */
static int64_t blocks_of(const windows_job *job, int at_once) {
  return (job->rows * job->channels + at_once - 1) / at_once * job->vectors;
}

static void gather_block(const windows_job *job, int64_t image, const float *lines, int64_t block) {
  int64_t v = block % job->vectors, first = block / job->vectors * job->lines;
  int64_t places = job->out_height * job->out_width;
  gather g = { .down = job->step * job->line, .channels = job->channels, .height = job->out_height };
  g.width = job->out_width, g.apart = job->outputs, g.next = job->channels * job->outputs;
  g.slope = (const float *)job->call->in[1].data + image * places * job->outputs + v * TN_LANES;
  g.part = part_of(job, v), g.first = image == 0, g.last = image == job->images - 1;
  for (int q = 0; q < job->lines; q++) {
    int64_t pair = first + q < job->rows * job->channels ? first + q : first;
    int64_t row = pair / job->channels, channel = pair % job->channels;
    g.pixel[q] = lines + row * job->line + channel;
    g.out[q] = (float *)job->call->out->data +
               (row * job->columns * job->channels + channel) * job->outputs + v * TN_LANES;
  }
  ways[job->columns].gather[job->lines == all_of(job) ? 0 : job->lines == half_of(job) ? 1 : 2](&g);
}

static void gather_share(void *context, const tn_cpu_part *part) {
  const windows_job *job = context;
  int64_t begin, end;
  float *room = (float *)((char *)job->call->scratch + (size_t)part->thread * job->room);
  tn_cpu_share(blocks_of(job, job->lines), 1, part, &begin, &end);
  for (int64_t n = 0; n < job->images && begin < end && !tn_stop_asked(job->call->stop); n++) {
    const float *lines = windows_lines(job, n, 0, windows_lines_for(job, job->out_height), room);
    for (int64_t block = begin; block < end; block++) gather_block(job, n, lines, block);
  }
}

/* The larger blocks, unless threads get more even shares of smaller ones. Half takes a little more than half
 * as long; a quarter has too few sums for the latency of an addition, but does for many threads. */
static windows_job gather_job(const tn_kernel_call *call, int *threads, size_t *shared) {
  windows_job job = windows_job_of(call, &call->in[0], call->out->dim[1]);
  *threads = tn_cpu_threads_for(windows_cost(&job), call->threads);
  const int at_once[3] = { all_of(&job), half_of(&job), quarter_of(&job) };
  const int64_t takes[3] = { 10, 6, SUMS == 24 ? 5 : 6 };
  int64_t least = 0;
  for (int i = 0; i < 3; i++) {
    int64_t time = (blocks_of(&job, at_once[i]) + *threads - 1) / *threads * takes[i];
    if (i > 0 && time >= least) continue;
    least = time;
    job.lines = at_once[i];
  }
  int64_t blocks = blocks_of(&job, job.lines);
  if (*threads > blocks) *threads = (int)blocks;
  *shared = windows_shared_bytes(&job, *threads);
  if (job.copied && *shared == 0) job.room = windows_floats(windows_lines_of_image(&job) * job.line);
  return job;
}

/* ---- which way ---- */

/* A register tile of one vector needs a load for every multiply-add. Lines are too short if the places that a
 * sweep computes beyond each of them weigh. */
#define VECTORS (TN_LANES == 16 ? 2 : 1) /* of columns of the result, at most */
#define PLACES  8                        /* of a line, for each column of a window but the first */
#define NEAR    256                      /* weights of a row of a window, per column of the result: a near
                                            cache holds them */

static bool goes_along_lines(const tn_kernel_call *call) {
  if (call->op == TN_OP_FOLD) return false;
  const tn_view *image = &call->in[0];
  const tn_attrs *attrs = call->attrs;
  int64_t columns = attrs->window[1], places = image->dim[2] + attrs->low[1] + attrs->high[1] - columns + 1;
  return attrs->step[1] == 1 && columns >= 3 && columns <= COLUMNS_MOST && places >= PLACES * (columns - 1) &&
         image->dim[3] * columns <= NEAR && call->out->dim[1] <= VECTORS * TN_LANES;
}

static bool is_gradient(const tn_kernel_call *call) { return call->op == TN_OP_MATMUL; }

bool TN_CPU_NAME(windows)(const tn_kernel_call *call) {
  if (!goes_along_lines(call)) return window_tiles(call);
  if (is_gradient(call)) {
    int threads;
    size_t shared;
    windows_job job = gather_job(call, &threads, &shared);
    if (shared > 0) windows_share_lines(&job);
    tn_cpu_parallel(call, threads, windows_cost(&job), gather_share, &job);
    return true;
  }
  windows_job job = sweep_job(call);
  tn_cpu_run(call, tn_cpu_threads_for(windows_cost(&job), call->threads), windows_cost(&job), sweep_share,
             &job);
  return true;
}

size_t TN_CPU_NAME(windows_scratch)(const tn_kernel_call *call) {
  if (!goes_along_lines(call)) return window_tiles_scratch(call);
  if (is_gradient(call)) {
    int threads;
    size_t shared;
    windows_job job = gather_job(call, &threads, &shared);
    return shared + job.room * (size_t)threads;
  }
  windows_job job = sweep_job(call);
  return job.room * (size_t)tn_cpu_threads_for(windows_cost(&job), call->threads);
}
