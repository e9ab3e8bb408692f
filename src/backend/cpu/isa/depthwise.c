/* backend/cpu/isa/depthwise.c: depth-wise convolution and its gradients, of f32.
 *
 * A pixel's channels lie side by side and each has weights of its own: they make the vectors, and what
 * is computed for a place is a vector for each place of a window. So windows are read in the image, and
 * several places at a time share the weights that are loaded:
 *
 *   depthwise          places of a line of the result, whose sums are in registers;
 *   depthwise_image    pixels of a line that are alike: the same places of as many windows cover them;
 *   depthwise_weights  places of a window, whose sums stay in registers while some lines of an image pass by,
 *                      and in the result between these. Threads have channels of their own, or rows of the
 *                      windows.
 *
 * The zeros around an image are multiplied like other numbers, for zero times infinity is NaN: some lines at
 * a time are copied together with them. An image with several outputs for a channel is written once for each,
 * and in the gradient of the image slopes and weights are taken apart by output, so that all vectors are
 * loaded from memory as they are. */
#include "backend/cpu/isa/windows.h"
#include "backend/cpu/iterator.h"
#include "backend/depthwise.h"

#define PLACES     4             /* of a line, at a time */
#define LINE_BYTES (96 * 1024)   /* of lines with their zeros: a near cache holds them */
#define COST       (TN_LANES > 4 ? 0.8 / TN_LANES : 0.7)   /* nanoseconds for an element of a window */

typedef struct {
  windows_job image;     /* a channel for each output, but in depthwise_image */
  const float *in[2];    /* contiguous */
  int64_t each;          /* depthwise_image: outputs of a channel, which are apart; else 1 */
  int64_t lines, bands;  /* lines of windows at a time, and how often in an image */
  tn_cpu_grid grid;      /* depthwise_weights: rows of the windows and channels, cut for the threads */
  size_t arranged, room; /* bytes of scratch: operands that were copied, and lines for each thread */
} job;

/* ---- operands ---- */

/* [..., channels] as [..., channels, each]: every channel so often. */
static tn_view repeated(const tn_view *x, int64_t each) {
  tn_view view = *x;
  view.rank = 5;
  view.dim[4] = each, view.stride[4] = 0;
  return view;
}

/* [..., channels * each] as [each, ..., channels] */
static tn_view taken_apart(const tn_view *x, int64_t each) {
  tn_view view = { .data = x->data, .dtype = x->dtype, .rank = 5 };
  view.dim[0] = each, view.stride[0] = x->stride[3];
  for (int axis = 0; axis < 4; axis++)
    view.dim[1 + axis] = x->dim[axis], view.stride[1 + axis] = x->stride[axis];
  view.dim[4] /= each, view.stride[4] *= each;
  return view;
}

/* The operand as the kernels read it, in place or in scratch memory. */
static void arrange(job *j, int operand, const tn_view *view) {
  const tn_kernel_call *call = j->image.call;
  tn_shape shape = tn_view_shape(view);
  j->in[operand] = view->data;
  if (tn_cpu_is_flat(view)) return;
  float *memory = call->scratch ? (float *)((char *)call->scratch + j->arranged) : NULL;
  tn_view to = tn_view_make(memory, TN_F32, &shape);
  if (memory) tn_cpu_move(call, &to, view);
  j->in[operand] = memory;
  j->arranged += windows_floats(tn_shape_count(&shape));
}

static float *room_of(const job *j, const tn_cpu_part *part) {
  return (float *)((char *)j->image.call->scratch + j->arranged + (size_t)part->thread * j->room);
}

/* Nanoseconds on one thread. */
static double cost_of(const job *j) {
  const windows_job *w = &j->image;
  double places = (double)(w->images * w->out_height * w->out_width);
  return places * (double)(w->rows * w->columns * w->channels * j->each) * COST;
}

/* Lines of the result that are computed from lines which a near cache holds. */
static void set_bands(job *j) {
  const windows_job *w = &j->image;
  int64_t line = w->line * (int64_t)sizeof(float), lines = w->out_height;
  while (lines > 1 && windows_lines_for(w, lines) * line > LINE_BYTES) lines = (lines + 1) / 2;
  j->lines = lines > 0 ? lines : 1;
  j->bands = (w->out_height + j->lines - 1) / j->lines;
  j->room = w->copied ? windows_floats(windows_lines_for(w, j->lines) * w->line) : 0;
}

/* ---- depthwise ---- */

/* Places of a line, each of which begins `across` elements after the one before. */
typedef struct {
  const float *line;    /* of the image, where the window of the first place begins */
  const float *weights; /* [rows, columns, channels] */
  float *out;
  int64_t rows, columns, channels, down, across, width;
} sweep;

TN_ALWAYS_INLINE void sweep_tile(const sweep *s, const float *line, float *out, int64_t c, int places,
                                 int part) {
  VF sum[PLACES];
  const float *weights = s->weights + c;
  TN_UNROLL for (int p = 0; p < places; p++) sum[p] = vf_set(0.0f);
  for (int64_t row = 0; row < s->rows; row++) {
    const float *pixel = line + row * s->down + c;
    for (int64_t column = 0; column < s->columns; column++, pixel += s->channels, weights += s->channels) {
      VF weight = tn_load_some(weights, part);
      TN_UNROLL for (int p = 0; p < places; p++) sum[p] =
          vf_fma(tn_load_some(pixel + p * s->across, part), weight, sum[p]);
    }
  }
  TN_UNROLL for (int p = 0; p < places; p++)
      tn_store_some(out + p * s->channels + c, vf_canonical(sum[p]), part);
}

TN_ALWAYS_INLINE void sweep_places(const sweep *s, int64_t place, int places) {
  const float *line = s->line + place * s->across;
  float *out = s->out + place * s->channels;
  int64_t c = 0;
  for (; c + TN_LANES <= s->channels; c += TN_LANES) sweep_tile(s, line, out, c, places, TN_LANES);
  if (c < s->channels) sweep_tile(s, line, out, c, places, (int)(s->channels - c));
}

/* The last places of a line are computed twice where that fills their tile. */
TN_NEVER_INLINE void sweep_line(const sweep *s) {
  int64_t place = 0;
  for (; place + PLACES <= s->width; place += PLACES) sweep_places(s, place, PLACES);
  if (place < s->width && s->width >= PLACES) sweep_places(s, s->width - PLACES, PLACES);
  for (; s->width < PLACES && place < s->width; place++) sweep_places(s, place, 1);
}

static void sweep_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  const windows_job *w = &j->image;
  int64_t begin, end, row = w->out_width * w->channels;
  sweep s = { .weights = j->in[1], .rows = w->rows, .columns = w->columns, .channels = w->channels };
  s.down = w->line, s.across = w->across * w->channels, s.width = w->out_width;
  tn_cpu_share(w->images * j->bands, 1, part, &begin, &end);
  for (int64_t unit = begin; unit < end && !tn_stop_asked(w->call->stop); unit++) {
    int64_t image = unit / j->bands, y = unit % j->bands * j->lines;
    int64_t count = tn_cpu_min(j->lines, w->out_height - y);
    s.line = windows_lines(w, image, y * w->step, windows_lines_for(w, count), room_of(j, part));
    s.out = (float *)w->call->out->data + (image * w->out_height + y) * row;
    for (int64_t i = 0; i < count; i++, s.line += w->step * w->line, s.out += row) sweep_line(&s);
  }
}

/* ---- depthwise_image ---- */

/* Some pixels of a line, `across` places from one to the next: as many windows cover each, and those of the
 * next are one place further. */
typedef struct {
  const float *slopes;  /* of the first window of the first pixel; those of the next window come next */
  const float *weights; /* of that window for the pixel; those of the next are `next_weights` before */
  float *out;
  int64_t rows, columns, channels, each;
  int64_t slopes_row, weights_row, next_weights; /* elements from window to window: after, and before */
  int64_t slopes_apart, weights_apart, across;   /* to the next output of a channel; to the next pixel */
} adding;

TN_ALWAYS_INLINE void add_tile(const adding *a, int64_t c, int pixels, int part) {
  VF sum[PLACES];
  TN_UNROLL for (int p = 0; p < pixels; p++) sum[p] = vf_set(0.0f);
  for (int64_t y = 0; y < a->rows; y++)
    for (int64_t x = 0; x < a->columns; x++) {
      const float *slopes = a->slopes + y * a->slopes_row + x * a->channels + c;
      const float *weights = a->weights - y * a->weights_row - x * a->next_weights + c;
      VF share[PLACES];
      TN_UNROLL for (int p = 0; p < pixels; p++) share[p] = vf_set(0.0f);
      for (int64_t e = 0; e < a->each; e++, slopes += a->slopes_apart) {
        VF weight = tn_load_some(weights + e * a->weights_apart, part);
        TN_UNROLL for (int p = 0; p < pixels; p++) share[p] =
            vf_fma(tn_load_some(slopes + p * a->channels, part), weight, share[p]);
      }
      TN_UNROLL for (int p = 0; p < pixels; p++) sum[p] = sum[p] + share[p];
    }
  TN_UNROLL for (int p = 0; p < pixels; p++)
      tn_store_some(a->out + p * a->across + c, vf_canonical(sum[p]), part);
}

TN_ALWAYS_INLINE void add_pixels(const adding *a, int pixels) {
  int64_t c = 0;
  for (; c + TN_LANES <= a->channels; c += TN_LANES) add_tile(a, c, pixels, TN_LANES);
  if (c < a->channels) add_tile(a, c, pixels, (int)(a->channels - c));
}
TN_NEVER_INLINE void add_several(const adding *a) { add_pixels(a, PLACES); }
TN_NEVER_INLINE void add_one(const adding *a) { add_pixels(a, 1); }

/* Line h of an image, but for what depends on the pixel: `slopes` and `weights` begin with the first row. */
static adding adding_of(const job *j, int64_t image, int64_t h) {
  const windows_job *w = &j->image;
  int64_t slopes = w->out_width * w->channels, weights = w->columns * w->channels;
  windows_cover down = windows_covering(h, w->above, w->step, w->rows, w->out_height);
  adding a = { .rows = down.end - down.begin, .channels = w->channels, .each = j->each };
  a.slopes = j->in[0] + (image * w->out_height + down.begin) * slopes;
  a.weights = j->in[1] + (h + w->above - down.begin * w->step) * weights;
  a.slopes_row = slopes, a.weights_row = w->step * weights;
  a.slopes_apart = w->images * w->out_height * slopes, a.weights_apart = w->rows * weights;
  a.next_weights = a.across = w->across * w->channels;
  return a;
}

static windows_cover covering(const windows_job *w, int64_t x) {
  return windows_covering(x, w->left, w->across, w->columns, w->out_width);
}

/* Whether PLACES pixels from x on are alike. */
static bool are_alike(const windows_job *w, int64_t x, const windows_cover *own) {
  int64_t more = PLACES - 1, last = x + more * w->across;
  windows_cover its = covering(w, last);
  return last < w->width && its.begin == own->begin + more && its.end == own->end + more;
}

static void add_line(const job *j, int64_t image, int64_t h) {
  const windows_job *w = &j->image;
  const adding line = adding_of(j, image, h);
  float *out = (float *)w->call->out->data + (image * w->height + h) * w->width * w->channels;
  for (int64_t phase = 0; phase < w->across; phase++)
    for (int64_t x = phase, pixels; x < w->width; x += pixels * w->across) {
      windows_cover own = covering(w, x);
      adding a = line;
      pixels = are_alike(w, x, &own) ? PLACES : 1;
      a.columns = own.end - own.begin;
      a.slopes += own.begin * w->channels;
      a.weights += (x + w->left - own.begin * w->across) * w->channels;
      a.out = out + x * w->channels;
      (pixels > 1 ? add_several : add_one)(&a);
    }
}

static void add_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  const windows_job *w = &j->image;
  int64_t begin, end;
  tn_cpu_share(w->images * w->height, 1, part, &begin, &end);
  for (int64_t unit = begin; unit < end && !tn_stop_asked(w->call->stop); unit++)
    add_line(j, unit / w->height, unit % w->height);
}

/* ---- depthwise_weights ---- */

#define PLACES_MOST 10 /* of a window, at a time: every instruction set has registers for their sums */

/* Lines of an image and of slopes, for some rows of the windows and some of their columns, one beside the
 * other. */
typedef struct {
  const float *pixel;  /* of the first place of the first line, for the first of the places of the window */
  const float *slopes;
  float *out;          /* the sum of that place */
  int64_t lines, width;
  int64_t pixel_line, pixel_across, slope_line, slope_across; /* elements to the next */
  int64_t row, column;          /* of the image, elements from one place of the window to the next */
  int64_t out_row, out_column;  /* likewise of the sums */
  bool first, last;             /* of all lines */
} gather;

TN_ALWAYS_INLINE void gather_tile(const gather *g, int64_t c, int rows, int columns, int part) {
  VF sum[PLACES_MOST];
  float *out = g->out + c;
  TN_UNROLL for (int i = 0; i < rows * columns; i++) sum[i] =
      g->first ? vf_set(0.0f)
               : tn_load_some(out + i / columns * g->out_row + i % columns * g->out_column, part);
  for (int64_t y = 0; y < g->lines; y++) {
    const float *pixel = g->pixel + y * g->pixel_line + c, *slopes = g->slopes + y * g->slope_line + c;
    for (int64_t x = 0; x < g->width; x++, pixel += g->pixel_across, slopes += g->slope_across) {
      VF slope = tn_load_some(slopes, part);
      TN_UNROLL for (int i = 0; i < rows * columns; i++) sum[i] =
          vf_fma(tn_load_some(pixel + i / columns * g->row + i % columns * g->column, part), slope, sum[i]);
    }
  }
  TN_UNROLL for (int i = 0; i < rows * columns; i++)
      tn_store_some(out + i / columns * g->out_row + i % columns * g->out_column,
                 g->last ? vf_canonical(sum[i]) : sum[i], part);
}

/* As many rows of a window with so many columns as there are registers for, and one. */
#define COLUMNS_MOST 7
#define FORMS(X)     X(1, 8) X(2, 4) X(3, 3) X(4, 2) X(5, 2) X(6, 1) X(7, 1)
#define WAYS(columns, rows)                                                                                  \
  TN_NEVER_INLINE void gather_##columns(const gather *g, int64_t channels) {                                 \
    gather_channels(g, channels, rows, columns);                                                             \
  }                                                                                                          \
  TN_NEVER_INLINE void gather_row_##columns(const gather *g, int64_t channels) {                             \
    gather_channels(g, channels, 1, columns);                                                                \
  }
#define ENTRY(columns, rows) [columns] = { rows, gather_##columns, gather_row_##columns },

TN_ALWAYS_INLINE void gather_channels(const gather *g, int64_t channels, int rows, int columns) {
  int64_t c = 0;
  for (; c + TN_LANES <= channels; c += TN_LANES) gather_tile(g, c, rows, columns, TN_LANES);
  if (c < channels) gather_tile(g, c, rows, columns, (int)(channels - c));
}
FORMS(WAYS)
static const struct {
  int rows;
  void (*several)(const gather *g, int64_t channels), (*one)(const gather *g, int64_t channels);
} forms[COLUMNS_MOST + 1] = { FORMS(ENTRY) };

/* Lines of an image with the zeros around it, as windows_lines gives them, but of some channels alone. */
static const float *bring_lines(const windows_job *w, int64_t image, int64_t first, int64_t count,
                                int64_t channel, int64_t channels, float *room) {
  const float *from = w->image + image * w->height * w->width * w->channels + channel;
  int64_t line = w->line / w->channels * channels;
  float *to = room;
  for (int64_t h = first - w->above; h < first - w->above + count; h++, to += line) {
    memset(to, 0, (size_t)line * sizeof *to);
    for (int64_t x = 0; h >= 0 && h < w->height && x < w->width; x++)
      tn_cpu_copy_run((char *)(to + (w->left + x) * channels),
                      (const char *)(from + (h * w->width + x) * w->channels),
                      (size_t)channels * sizeof *to);
  }
  return room;
}

/* What a thread looks after: rows of the windows and channels. */
typedef struct {
  int64_t row, row_end, channel, channel_end;
} share;

/* For the places of a share's rows: some lines of slopes. */
static void gather_band(const job *j, gather *g, const share *own) {
  const windows_job *w = &j->image;
  const float *pixel = g->pixel;
  float *out = g->out;
  int64_t pieces = (w->columns + COLUMNS_MOST - 1) / COLUMNS_MOST;
  int64_t most = (w->columns + pieces - 1) / pieces;
  for (int64_t column = 0, columns; column < w->columns; column += columns) {
    columns = tn_cpu_min(most, w->columns - column);
    for (int64_t row = own->row, rows; row < own->row_end; row += rows) {
      bool several = own->row_end - row >= forms[columns].rows;
      rows = several ? forms[columns].rows : 1;
      g->pixel = pixel + row * g->row + column * g->column;
      g->out = out + row * g->out_row + column * g->out_column;
      (several ? forms[columns].several : forms[columns].one)(g, own->channel_end - own->channel);
    }
  }
}

static void gather_lines(const job *j, const share *own, float *room) {
  const windows_job *w = &j->image;
  int64_t channels = own->channel_end - own->channel, across = w->copied ? channels : w->channels;
  int64_t line = w->line / w->channels * across, units = w->images * j->bands;
  gather g = { .width = w->out_width, .row = line, .column = across, .pixel_line = w->step * line };
  g.pixel_across = w->across * across;
  g.slope_across = w->channels, g.slope_line = w->out_width * w->channels;
  g.out_row = w->columns * w->channels, g.out_column = w->channels;
  for (int64_t unit = 0; unit < units && !tn_stop_asked(w->call->stop); unit++) {
    int64_t image = unit / j->bands, y = unit % j->bands * j->lines, first = y * w->step;
    g.lines = tn_cpu_min(j->lines, w->out_height - y);
    g.pixel = w->copied ? bring_lines(w, image, first, windows_lines_for(w, g.lines), own->channel, channels,
                                      room)
                        : windows_lines(w, image, first, 0, NULL) + own->channel;
    g.slopes = j->in[1] + (image * w->out_height + y) * g.slope_line + own->channel;
    g.out = (float *)w->call->out->data + own->channel;
    g.first = unit == 0, g.last = unit == units - 1;
    gather_band(j, &g, own);
  }
}

static void gather_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  int64_t begin, end;
  tn_cpu_share((int64_t)j->grid.rows * j->grid.columns, 1, part, &begin, &end);
  for (int64_t cell = begin; cell < end; cell++) {
    tn_cpu_part down = { .number = (int)cell / j->grid.columns, .count = j->grid.rows };
    tn_cpu_part beside = { .number = (int)cell % j->grid.columns, .count = j->grid.columns };
    share own;
    tn_cpu_share(j->image.rows, 1, &down, &own.row, &own.row_end);
    tn_cpu_share(j->image.channels, TN_LANES, &beside, &own.channel, &own.channel_end);
    if (own.row < own.row_end && own.channel < own.channel_end) gather_lines(j, &own, room_of(j, part));
  }
}

/* ---- other dtypes, and results with gaps: element by element ---- */

typedef tn_element (*element_rule)(const tn_kernel_call *call, const int64_t at[4]);

typedef struct {
  const tn_kernel_call *call;
  element_rule element_at;
} any_job;

static void any_share(void *context, const tn_cpu_part *part) {
  const any_job *j = context;
  const tn_view *out = j->call->out;
  int64_t begin, end;
  tn_cpu_share(tn_cpu_elements(out), 1, part, &begin, &end);
  for (int64_t i = begin; i < end && !tn_cpu_stopped(j->call, i); i++) {
    int64_t at[4], place = 0;
    for (int64_t axis = 3, rest = i; axis >= 0; rest /= out->dim[axis], axis--) {
      at[axis] = rest % out->dim[axis];
      place += at[axis] * out->stride[axis];
    }
    char *to = (char *)out->data + place * (int64_t)tn_cpu_bytes(out->dtype);
    tn_element_store(to, out->dtype, j->element_at(j->call, at));
  }
}

/* ---- all three ---- */

static bool is_image_gradient(const tn_kernel_call *call) { return call->op == TN_OP_DEPTHWISE_IMAGE; }

static bool is_fast(const tn_kernel_call *call) {
  return call->out->dtype == TN_F32 && tn_cpu_is_flat(call->out);
}

static job job_of(const tn_kernel_call *call) {
  bool adds = is_image_gradient(call);
  const tn_view *image = adds ? call->out : &call->in[0];
  const tn_view *outputs = adds ? &call->in[0] : call->op == TN_OP_DEPTHWISE ? call->out : &call->in[1];
  int64_t each = outputs->dim[3] / image->dim[3];
  job j = { .image = windows_job_of(call, image, 0), .each = adds ? each : 1 };
  tn_view first = adds ? taken_apart(&call->in[0], each) : repeated(&call->in[0], each);
  tn_view second = adds ? taken_apart(&call->in[1], each) : call->in[1];
  arrange(&j, 0, &first);
  arrange(&j, 1, &second);
  j.image.image = j.in[0];
  if (!adds) j.image.channels *= each, j.image.line *= each;
  set_bands(&j);
  if (adds) j.room = 0;
  return j;
}

static int64_t units_of(const job *j) {
  const windows_job *w = &j->image;
  return w->images * (is_image_gradient(w->call) ? w->height : j->bands);
}

static void run_fast(const tn_kernel_call *call, tn_cpu_job work) {
  job j = job_of(call);
  double cost = cost_of(&j);
  int threads = tn_cpu_threads_for(cost, call->threads);
  if (call->op != TN_OP_DEPTHWISE_WEIGHTS) {
    tn_cpu_run_evenly(call, threads, units_of(&j), cost, work, &j);
    return;
  }
  if (units_of(&j) == 0) tn_cpu_clear(call, call->out);
  j.grid = tn_cpu_grid_for(threads, j.image.rows, 1, j.image.channels, TN_LANES);
  tn_cpu_parallel(call, j.grid.rows * j.grid.columns, cost, work, &j);
}

static bool run(const tn_kernel_call *call, tn_cpu_job work, element_rule element_at) {
  if (tn_cpu_elements(call->out) == 0) return true;
  if (is_fast(call)) {
    run_fast(call, work);
    return true;
  }
  any_job any = { call, element_at };
  double cost = 20 * (double)tn_cpu_elements(call->out) * call->attrs->window[0] * call->attrs->window[1];
  tn_cpu_run(call, tn_cpu_threads_for(cost, call->threads), cost, any_share, &any);
  return true;
}

bool TN_CPU_NAME(depthwise)(const tn_kernel_call *call) { return run(call, sweep_share, tn_depthwise_at); }
bool TN_CPU_NAME(depthwise_image)(const tn_kernel_call *call) {
  return run(call, add_share, tn_depthwise_image_at);
}
bool TN_CPU_NAME(depthwise_weights)(const tn_kernel_call *call) {
  return run(call, gather_share, tn_depthwise_weights_at);
}

static size_t scratch_of(const tn_kernel_call *call) {
  if (tn_cpu_elements(call->out) == 0 || !is_fast(call)) return 0;
  job j = job_of(call);
  return j.arranged + j.room * (size_t)call->threads;
}

size_t TN_CPU_NAME(depthwise_scratch)(const tn_kernel_call *call) { return scratch_of(call); }
size_t TN_CPU_NAME(depthwise_image_scratch)(const tn_kernel_call *call) { return scratch_of(call); }
size_t TN_CPU_NAME(depthwise_weights_scratch)(const tn_kernel_call *call) { return scratch_of(call); }
