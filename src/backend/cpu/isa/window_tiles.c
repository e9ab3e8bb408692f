/* backend/cpu/isa/window_tiles.c: convolution with windows of any size and stride, without storing them.
 *
 * A row of a window is contiguous in its line of the image, and every window finds its rows equally
 * far apart. So a register tile like that of matmul can read windows in the image: it has a pointer
 * for each of its rows, and all of them advance by the same distance. One tile serves three products:
 *
 *   windows times weights: rows of the tile are places, steps of its sums the elements of a window;
 *   the gradient of the weights, windows transposed times slopes: rows are elements of a window,
 *     steps are places;
 *   the gradient of the image, slopes times weights transposed, and then fold: rows are places, steps
 *     the columns of the result. A tile computes one element (row and column) of its windows, and
 *     adds it to the pixels that it belongs to. fold takes windows in ascending order, so elements
 *     come in descending order.
 *
 * Every sum is one chain of fma in the order of stored windows; where it is interrupted, it waits in
 * the result. */
#include "backend/cpu/isa/windows.h"

#define ROWS_MOST     8
#define VECTORS_MOST  4
#define STEPS         256               /* of a sum at a time: their weights stay in a first-level cache */
#define PLACES        192               /* the same, where steps are places */
#define LINES_BYTES   ((int64_t)192 << 10) /* of an image at a time: they stay in a second-level cache */
#define ADD_PLACES    128               /* of which pixels are added up at a time */
#define PACK_COST     1.0               /* nanoseconds for each weight */

/* ---- the register tile ---- */

typedef enum {
  FROM_ZERO = 1, /* sums begin here, else they are in the result */
  CANONICAL = 2, /* and end here */
  ADDED = 4,     /* the sum is added to what is in the result, with the canonical NaN */
} tile_end;

typedef struct {
  const float *at[ROWS_MOST];     /* what each row is multiplied with at the first step */
  float *out[ROWS_MOST];
  const float *columns;           /* of the other factor at the first step */
  int64_t next;                   /* elements from there to the next step */
  int64_t outer, outer_step;      /* steps are so many times so many, and elements of rows so far apart */
  int64_t inner, inner_step;
  int part;                       /* columns in the last vector */
  int end;                        /* tile_end */
} tile;

TN_ALWAYS_INLINE VF load_some(const float *from, bool whole, int part) {
  return whole ? vf_load(from) : vf_load_part(from, part);
}

TN_ALWAYS_INLINE void multiply_tile(const tile *t, int rows, int vectors, bool whole) {
  VF sum[ROWS_MOST][VECTORS_MOST];
  const float *at[ROWS_MOST], *columns = t->columns;
  TN_UNROLL for (int r = 0; r < rows; r++) {
    at[r] = t->at[r];
    TN_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] =
        t->end & FROM_ZERO ? vf_set(0.0f)
                           : load_some(t->out[r] + v * TN_LANES, whole || v < vectors - 1, t->part);
  }
  for (int64_t o = 0; o < t->outer; o++) {
    int64_t i = o * t->outer_step;
    for (int64_t left = t->inner; left > 0; left--, i += t->inner_step, columns += t->next) {
      VF column[VECTORS_MOST];
      TN_UNROLL for (int v = 0; v < vectors; v++) column[v] =
          load_some(columns + v * TN_LANES, whole || v < vectors - 1, t->part);
      TN_UNROLL for (int r = 0; r < rows; r++) {
        VF one = vf_set(at[r][i]);
        TN_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = vf_fma(one, column[v], sum[r][v]);
      }
    }
  }
  TN_UNROLL for (int r = 0; r < rows; r++) TN_UNROLL for (int v = 0; v < vectors; v++) {
    bool all = whole || v < vectors - 1;
    float *to = t->out[r] + v * TN_LANES;
    if (t->end & ADDED) sum[r][v] = load_some(to, all, t->part) + sum[r][v];
    if (t->end & (CANONICAL | ADDED)) sum[r][v] = vf_canonical(sum[r][v]);
    if (all)
      vf_store(to, sum[r][v]);
    else
      vf_store_part(to, sum[r][v], t->part);
  }
}

/* Rows that fit beside one, two, ... vectors. */
#if SUMS == 24
#define FORMS(X) X(1, 8) X(2, 8) X(3, 8) X(4, 6)
#else
#define FORMS(X) X(1, 8) X(2, 6) X(3, 4)
#endif
#define FORM(vectors, rows)                                                                                  \
  TN_NEVER_INLINE void whole_##vectors(const tile *t) { multiply_tile(t, rows, vectors, true); }             \
  TN_NEVER_INLINE void part_##vectors(const tile *t) { multiply_tile(t, rows, vectors, false); }
FORMS(FORM)
#define ENTRY(vectors, rows) [vectors] = { rows, whole_##vectors, part_##vectors },
static const struct {
  int rows;
  void (*whole)(const tile *), (*part)(const tile *);
} forms[VECTORS_MOST + 1] = { FORMS(ENTRY) };

static void run_tile(const tile *t, int vectors) {
  (t->part == TN_LANES ? forms[vectors].whole : forms[vectors].part)(t);
}

/* ---- columns, in panels as wide as a tile ---- */

/* Of the vectors that are left, how many the next panel has. */
static int panel_vectors(int64_t left) {
#if SUMS == 24
  if (left <= 4) return (int)left;
  return left % 4 == 0 || left % 4 == 3 ? 4 : 3;
#else
  return left == 3 ? 3 : (int)tn_cpu_min(left, 2);
#endif
}

typedef struct {
  int64_t first; /* vector */
  int vectors;
  int part;      /* columns in the last of them */
} panel;

/* Goes from one panel of `columns` columns to the next; begin with an empty one. */
static bool next_panel(panel *p, int64_t columns) {
  p->first += p->vectors;
  int64_t left = columns - p->first * TN_LANES;
  if (left <= 0) return false;
  p->vectors = panel_vectors((left + TN_LANES - 1) / TN_LANES);
  p->part = (int)tn_cpu_min(left - (p->vectors - 1) * TN_LANES, TN_LANES);
  return true;
}

/* Elements of the panel that begins with a vector, of a matrix with so many rows and vectors, are together:
 * [rows, vectors of the panel, TN_LANES], with zeros after the last column. */
static void pack_panel(float *to, const panel *p, const float *from, int64_t rows, int64_t row_step,
                       int64_t column_step) {
  int64_t width = (int64_t)p->vectors * TN_LANES, columns = width - TN_LANES + p->part;
  if (columns < width) memset(to, 0, (size_t)(rows * width) * sizeof *to);
  from += p->first * TN_LANES * column_step;
  if (column_step == 1) {
    for (int64_t k = 0; k < rows; k++)
      memcpy(to + k * width, from + k * row_step, (size_t)columns * sizeof *to);
    return;
  }
  for (int64_t j = 0; j < columns; j++)
    for (int64_t k = 0; k < rows; k++) to[k * width + j] = from[k * row_step + j * column_step];
}

/* ---- what all three have in common ---- */

typedef struct {
  windows_job image;
  int64_t columns;  /* of a panel's matrix: of the result, or channels of the image */
  int64_t band;     /* lines of windows at a time; for the image's gradient, of pixels */
  int64_t bands;    /* of an image */
  size_t packed;    /* bytes of packed weights, or of the images with zeros, before the memory of threads */
  int threads;
} job;

static int64_t at_least_one(int64_t n) { return n > 0 ? n : 1; }

/* As many lines of windows as need `places` places, or half as many where threads would have too few bands;
 * and no more than a near cache holds the lines for. */
static void set_bands(job *j, int64_t lines, int64_t places, int64_t room, int64_t images) {
  int64_t band = at_least_one(tn_cpu_min((places + room - 1) / at_least_one(room), lines));
  int64_t line = j->image.line * (int64_t)sizeof(float);
  while (band > 1 && windows_lines_for(&j->image, band) * line > LINES_BYTES) band--;
  while (band > 1 && images * ((lines + band - 1) / band) < 2 * j->threads) band = (band + 1) / 2;
  j->band = band;
  j->bands = (lines + band - 1) / band;
}

static float *packed_weights(const job *j) { return (float *)j->image.call->scratch; }

static float *room_of(const job *j, const tn_cpu_part *part) {
  return (float *)((char *)j->image.call->scratch + j->packed + (size_t)part->thread * j->image.room);
}

static size_t lines_room(const windows_job *w, int64_t band) {
  return w->copied ? windows_floats(windows_lines_for(w, band) * w->line) : 0;
}

/* ---- windows times weights ---- */

/* Packed: [panels, window rows, elements of a row, columns of the panel]. A part has some rows of every
 * panel, because there may be a single panel. */
static void pack_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  const tn_view *w = &j->image.call->in[1];
  int64_t begin, end, rows = w->dim[0];
  tn_cpu_share(rows, 1, part, &begin, &end);
  for (panel p = { 0 }; next_panel(&p, j->columns);) {
    float *to = packed_weights(j) + p.first * TN_LANES * rows + begin * p.vectors * TN_LANES;
    const float *from = (const float *)w->data + begin * w->stride[0];
    pack_panel(to, &p, from, end - begin, w->stride[0], w->stride[1]);
  }
}

/* Tiles over the places of a band, whose first window begins at `from`. The last tile has its last place
 * several times. */
static void sweep_tiles(const job *j, tile *t, const panel *p, const float *from, int64_t places,
                        float *out) {
  const windows_job *w = &j->image;
  int64_t across = w->across * w->channels, down = w->step * w->line - (w->out_width - 1) * across, x = 0;
  int rows = forms[p->vectors].rows;
  for (int64_t place = 0; place < places; place += rows) {
    for (int r = 0; r < rows; r++) {
      t->at[r] = from, t->out[r] = out;
      if (place + r >= places - 1) continue;
      bool last = ++x == w->out_width;
      from += last ? down : across;
      out += w->outputs;
      if (last) x = 0;
    }
    run_tile(t, p->vectors);
  }
}

static void sweep_panel(const job *j, const panel *p, const float *lines, int64_t places, float *out) {
  const windows_job *w = &j->image;
  int64_t length = w->columns * w->channels, width = (int64_t)p->vectors * TN_LANES;
  int64_t rows = at_least_one(tn_cpu_min(STEPS / length, w->rows)); /* of windows, at a time */
  int64_t pieces = (length + STEPS - 1) / STEPS, steps = (length + pieces - 1) / pieces;
  const float *weights = packed_weights(j) + p->first * TN_LANES * w->rows * length;
  for (int64_t k = 0; k < w->rows; k += rows)
    for (int64_t i = 0; i < length; i += steps) {
      tile t = { .next = width, .outer_step = w->line, .inner_step = 1, .part = p->part };
      t.outer = tn_cpu_min(rows, w->rows - k), t.inner = tn_cpu_min(steps, length - i);
      t.columns = weights + (k * length + i) * width;
      if (k == 0 && i == 0) t.end |= FROM_ZERO;
      if (k + rows >= w->rows && i + steps >= length) t.end |= CANONICAL;
      sweep_tiles(j, &t, p, lines + k * w->line + i, places, out + p->first * TN_LANES);
    }
}

static void sweep_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  const windows_job *w = &j->image;
  int64_t begin, end;
  float *out = w->call->out->data;
  tn_cpu_share(w->images * j->bands, 1, part, &begin, &end);
  for (int64_t unit = begin; unit < end && !tn_stop_asked(w->call->stop); unit++) {
    int64_t image = unit / j->bands, y = unit % j->bands * j->band;
    int64_t count = tn_cpu_min(j->band, w->out_height - y), row = w->out_width * w->outputs;
    const float *lines = windows_lines(w, image, y * w->step, windows_lines_for(w, count), room_of(j, part));
    for (panel p = { 0 }; next_panel(&p, w->outputs);)
      sweep_panel(j, &p, lines, count * w->out_width, out + (image * w->out_height + y) * row);
  }
}

static job sweep_job(const tn_kernel_call *call) {
  job j = { .image = windows_job_of(call, &call->in[0], call->out->dim[1]) };
  windows_job *w = &j.image;
  j.columns = w->outputs;
  j.threads = tn_cpu_threads_for(windows_cost(w), call->threads);
  set_bands(&j, w->out_height, PLACES, w->out_width, w->images);
  j.packed = windows_floats(w->rows * w->columns * w->channels * w->vectors * TN_LANES);
  w->room = lines_room(w, j.band);
  return j;
}

/* ---- windows, transposed, times slopes ---- */

/* Elements of windows of row `rows` at a time, for each panel. */
static int64_t gather_blocks(const job *j, const panel *p) {
  const windows_job *w = &j->image;
  int rows = forms[p->vectors].rows;
  return (w->rows * w->columns * w->channels + rows - 1) / rows;
}

static void gather_block(const job *j, tile *t, const panel *p, const float *lines, int64_t block) {
  const windows_job *w = &j->image;
  int rows = forms[p->vectors].rows;
  int64_t length = w->columns * w->channels;
  for (int r = 0; r < rows; r++) {
    int64_t own = tn_cpu_min(block * rows + r, w->rows * length - 1);
    t->at[r] = lines + own / length * w->line + own % length;
    t->out[r] = (float *)w->call->out->data + own * w->outputs + p->first * TN_LANES;
  }
  run_tile(t, p->vectors);
}

static void gather_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  const windows_job *w = &j->image;
  const float *slopes = w->call->in[1].data;
  for (int64_t unit = 0; unit < w->images * j->bands && !tn_stop_asked(w->call->stop); unit++) {
    int64_t image = unit / j->bands, y = unit % j->bands * j->band;
    tile t = { .next = w->outputs, .inner = w->out_width, .inner_step = w->across * w->channels };
    t.outer = tn_cpu_min(j->band, w->out_height - y), t.outer_step = w->step * w->line;
    t.end = (unit == 0 ? FROM_ZERO : 0) | (unit == w->images * j->bands - 1 ? CANONICAL : 0);
    const float *lines =
        windows_lines(w, image, y * w->step, windows_lines_for(w, t.outer), room_of(j, part));
    for (panel p = { 0 }; next_panel(&p, w->outputs);) {
      int64_t begin, end;
      tn_cpu_share(gather_blocks(j, &p), 1, part, &begin, &end);
      t.columns = slopes + (image * w->out_height + y) * w->out_width * w->outputs + p.first * TN_LANES;
      t.part = p.part;
      for (int64_t block = begin; block < end; block++) gather_block(j, &t, &p, lines, block);
    }
  }
}

static job gather_job(const tn_kernel_call *call) {
  job j = { .image = windows_job_of(call, &call->in[0], call->out->dim[1]), .threads = 1 };
  windows_job *w = &j.image;
  set_bands(&j, w->out_height, PLACES, w->out_width, w->images);
  j.threads = tn_cpu_threads_for(windows_cost(w), call->threads);
  int64_t blocks = (call->out->dim[0] + ROWS_MOST - 1) / ROWS_MOST;
  if (j.threads > blocks) j.threads = (int)blocks;
  j.packed = windows_shared_bytes(w, j.threads);
  w->room = j.packed > 0 ? 0 : lines_room(w, j.band);
  return j;
}

/* ---- the gradient of the image ---- */

/* Packed: [window rows, window columns, outputs, channels], channels in panels. The operand is the weights,
 * transposed: [outputs, elements of a window]. */
static void pack_transposed_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  const windows_job *w = &j->image;
  const tn_view *y = &w->call->in[1];
  int64_t begin, end, each = w->vectors * TN_LANES * w->outputs;
  tn_cpu_share(w->rows * w->columns, 1, part, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    const float *from = (const float *)y->data + i * w->channels * y->stride[1];
    for (panel p = { 0 }; next_panel(&p, w->channels);)
      pack_panel(packed_weights(j) + i * each + p.first * TN_LANES * w->outputs, &p, from, w->outputs,
                 y->stride[0], y->stride[1]);
  }
}

/* Tiles are filled place by place, from several lines; the rows that the last one lacks go nowhere. */
typedef struct {
  tile t;
  int rows, filled, vectors;
  int64_t channel; /* the first */
  float *nowhere;  /* VECTORS_MOST * TN_LANES elements */
} filling;

static void run_filled(filling *f) {
  if (f->filled == 0) return;
  for (int r = f->filled; r < f->rows; r++) f->t.at[r] = f->t.at[0], f->t.out[r] = f->nowhere;
  run_tile(&f->t, f->vectors);
  f->filled = 0;
}

static int64_t divide_up(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }

/* What element (row, column) of the windows gives to the lines of pixels from h to end. */
static void add_element(const job *j, filling *f, int64_t image, int64_t h, int64_t end, int64_t row,
                        int64_t column) {
  const windows_job *w = &j->image;
  const float *slopes = w->call->in[0].data;
  slopes += image * w->out_height * w->out_width * w->outputs;
  float *pixels = (float *)w->call->out->data + image * w->height * w->width * w->channels + f->channel;
  int64_t first = divide_up(w->left - column, w->across), right = w->width - 1 + w->left - column;
  int64_t last = right < 0 ? -1 : tn_cpu_min(right / w->across, w->out_width - 1);
  for (int64_t line = h; line < end; line++) {
    int64_t from = line + w->above - row, y = from / w->step;
    if (from < 0 || from % w->step != 0 || y >= w->out_height) continue;
    for (int64_t x = first; x <= last; x++) {
      int64_t pixel = x * w->across + column - w->left;
      f->t.at[f->filled] = slopes + (y * w->out_width + x) * w->outputs;
      f->t.out[f->filled] = pixels + (line * w->width + pixel) * w->channels;
      if (++f->filled == f->rows) run_filled(f);
    }
  }
  run_filled(f);
}

static void add_panel(const job *j, const panel *p, int64_t image, int64_t h, int64_t end) {
  const windows_job *w = &j->image;
  _Alignas(64) float nowhere[VECTORS_MOST * TN_LANES] = { 0 };
  filling f = { .rows = forms[p->vectors].rows, .vectors = p->vectors, .nowhere = nowhere };
  f.channel = p->first * TN_LANES;
  f.t = (tile){ .next = (int64_t)p->vectors * TN_LANES, .outer = 1, .inner = w->outputs, .inner_step = 1 };
  f.t.part = p->part, f.t.end = FROM_ZERO | ADDED;
  for (int64_t i = w->rows * w->columns - 1; i >= 0; i--) {
    f.t.columns = packed_weights(j) + (i * w->vectors + p->first) * TN_LANES * w->outputs;
    add_element(j, &f, image, h, end, i / w->columns, i % w->columns);
  }
}

static void add_share(void *context, const tn_cpu_part *part) {
  const job *j = context;
  const windows_job *w = &j->image;
  int64_t begin, end, pixels = w->width * w->channels;
  tn_cpu_share(w->images * j->bands, 1, part, &begin, &end);
  for (int64_t unit = begin; unit < end && !tn_stop_asked(w->call->stop); unit++) {
    int64_t image = unit / j->bands, h = unit % j->bands * j->band, last = tn_cpu_min(h + j->band, w->height);
    float *lines = (float *)w->call->out->data + (image * w->height + h) * pixels;
    memset(lines, 0, (size_t)((last - h) * pixels) * sizeof *lines);
    for (panel p = { 0 }; next_panel(&p, w->channels);) add_panel(j, &p, image, h, last);
  }
}

/* operands: slopes [windows, outputs] and weights, transposed [outputs, elements of a window] */
static job add_job(const tn_kernel_call *call) {
  job j = { .image = windows_job_of(call, call->out, call->in[0].dim[1]) };
  windows_job *w = &j.image;
  w->vectors = (w->channels + TN_LANES - 1) / TN_LANES;
  j.threads = tn_cpu_threads_for(windows_cost(w), call->threads);
  set_bands(&j, w->height, ADD_PLACES, w->width, w->images);
  j.packed = windows_floats(w->rows * w->columns * w->outputs * w->vectors * TN_LANES);
  return j;
}

/* ---- all three ---- */

static job job_of(const tn_kernel_call *call) {
  if (call->op == TN_OP_FOLD) return add_job(call);
  return call->op == TN_OP_MATMUL ? gather_job(call) : sweep_job(call);
}

bool window_tiles(const tn_kernel_call *call) {
  job j = job_of(call);
  double cost = windows_cost(&j.image), packing = PACK_COST * (double)(j.packed / sizeof(float));
  if (call->op == TN_OP_MATMUL) {
    if (j.packed > 0) windows_share_lines(&j.image);
    tn_cpu_parallel(call, j.threads, cost, gather_share, &j);
    return true;
  }
  bool adds = call->op == TN_OP_FOLD;
  tn_cpu_parallel(call, tn_cpu_threads_for(packing, j.threads), packing,
                  adds ? pack_transposed_share : pack_share, &j);
  int64_t bands = j.image.images * j.bands;
  tn_cpu_run_evenly(call, j.threads, bands, cost, adds ? add_share : sweep_share, &j);
  return true;
}

size_t window_tiles_scratch(const tn_kernel_call *call) {
  job j = job_of(call);
  return j.packed + j.image.room * (size_t)j.threads;
}
