/* bench/gpu.c: how fast the GPU kernels are, and whether their bits are those of `cpu`.
 *
 *   bench_gpu [--tiles] [WORD...]
 *
 * Runs the workloads whose name contains one of the words (all without words) and prints a line for each:
 *   NAME SECONDS BITS TILE
 * SECONDS is the median over batches of launches; BITS how many of the sampled elements differ from those of
 * `cpu`. --tiles measures products with every tile of kernels/tiles.def. bench/gpu.py puts PyTorch's figures
 * beside them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/card.h"
#include "backend/cuda/internal.h"

#define OPERANDS 5
#define BATCHES 5

static tn_heap heap;
static tn_card *card;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void give_up(const char *what) {
  fprintf(stderr, "bench_gpu: %s\n", what);
  exit(1);
}

static void *must(void *memory) {
  if (!memory) give_up("memory ran out");
  return memory;
}

/* ---- operands ---- */
typedef struct {
  tn_view host, there;
  size_t bytes;
} operand;

static uint32_t state = 12345;
static float next_number(void) {   /* in -1 .. 1 */
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  return (float)(int32_t)state * 0x1p-31f;
}

static operand operand_of(tn_shape shape, tn_dtype dtype, int64_t limit) {
  operand o = { .bytes = (size_t)tn_shape_count(&shape) * tn_dtype_bytes(dtype) };
  char *memory = must(malloc(o.bytes + 64));
  for (size_t i = 0; i < o.bytes / 4; i++)
    if (dtype == TN_F32) ((float *)(void *)memory)[i] = next_number();
    else ((int32_t *)(void *)memory)[i] = (int32_t)((next_number() + 1) / 2 * (float)limit) % (int32_t)limit;
  o.host = tn_view_make(memory, dtype, &shape);
  o.there = tn_view_make(must(tn_card_allocate(card, o.bytes)), dtype, &shape);
  tn_card_put(card, o.there.data, memory, o.bytes);
  return o;
}

static void forget(operand *o) {
  free(o->host.data);
  tn_card_release(card, o->there.data);
}

/* ---- a workload ---- */
typedef struct {
  const char *name;
  tn_op op;
  tn_attrs attrs;
  int count;
  operand in[OPERANDS], out;
  const tn_card_tile *tile;   /* NULL: as the kernel chooses */
  void *scratch;
} workload;

static bool queue_call(const workload *w) {
  tn_view in[OPERANDS];
  tn_fault fault;
  for (int k = 0; k < w->count; k++) in[k] = w->in[k].there;
  tn_kernel_call call = { .op = w->op, .attrs = &w->attrs, .in = in, .count = w->count, .out = &w->out.there,
                          .scratch = w->scratch, .threads = 1, .queue = tn_card_queue_of(card),
                          .fault = &fault };
  return w->tile ? tn_card_matmul_by(&call, w->tile, CARD_PLAIN) : tn_backend_run(tn_backend_cuda(), &call);
}

static void finish(void) {
  tn_fault fault;
  int64_t step;
  if (!tn_card_finish(card, &fault, &step))
    give_up(tn_card_failure(card) ? tn_card_failure(card) : "a kernel has found a fault");
}

static double seconds_of(const workload *w, int launches) {
  double start = now();
  for (int i = 0; i < launches; i++)
    if (!queue_call(w)) give_up("a launch failed");
  finish();
  return (now() - start) / launches;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(const workload *w, double budget) {
  double batch[BATCHES];
  seconds_of(w, 2);
  double one = seconds_of(w, 3);
  int launches = (int)(budget / BATCHES / one) + 1;
  for (int b = 0; b < BATCHES; b++) batch[b] = seconds_of(w, launches);
  qsort(batch, BATCHES, sizeof batch[0], by_size);
  return batch[BATCHES / 2];
}

/* ---- bits ---- */
/* What cpu makes of a part of the rows and columns: for products. */
static long products_that_differ(const workload *w, const float *got) {
  const tn_view *x = &w->in[0].host, *y = &w->in[1].host, *out = &w->out.host;
  int64_t m = out->dim[out->rank - 2], n = out->dim[out->rank - 1], k = x->dim[x->rank - 1];
  const float *a = x->data, *b = y->data;
  int64_t matrix = tn_view_count(out) / (m * n) - 1;   /* the last */
  long different = 0;
  if (x->rank > 2) a += matrix * x->stride[x->rank - 3];
  if (y->rank > 2) b += matrix * y->stride[y->rank - 3];
  for (int s = 0; s < 400; s++) {
    int64_t i = s < 2 ? s * (m - 1) : (int64_t)((next_number() + 1) / 2 * (float)(m - 1));
    int64_t j = s < 2 ? s * (n - 1) : (int64_t)((next_number() + 1) / 2 * (float)(n - 1));
    float sum = 0;
    for (int64_t t = 0; t < k; t++)
      sum = __builtin_fmaf(a[i * x->stride[x->rank - 2] + t * x->stride[x->rank - 1]],
                           b[t * y->stride[y->rank - 2] + j * y->stride[y->rank - 1]], sum);
    different += memcmp(&sum, &got[matrix * m * n + i * n + j], sizeof sum) != 0;
  }
  return different;
}

static long all_that_differ(const workload *w, const char *got) {
  const tn_backend *cpu = tn_backend_cpu(NULL);
  tn_view in[OPERANDS];
  tn_fault fault;
  long different = 0;
  size_t element = tn_dtype_bytes(w->out.host.dtype);
  for (int k = 0; k < w->count; k++) in[k] = w->in[k].host;
  tn_kernel_call call = { .op = w->op, .attrs = &w->attrs, .in = in, .count = w->count, .out = &w->out.host,
                          .threads = 1, .fault = &fault };
  size_t bytes = cpu->scratch(cpu, w->op, &w->attrs, in, w->count, &w->out.host, 1);
  call.scratch = must(aligned_alloc(64, (bytes + 127) / 64 * 64));
  if (!tn_backend_run(cpu, &call)) give_up("cpu has found a fault");
  for (size_t i = 0; i < w->out.bytes; i += element)
    different += memcmp((char *)w->out.host.data + i, got + i, element) != 0;
  free(call.scratch);
  return different;
}

static long that_differ(const workload *w) {
  char *got = must(malloc(w->out.bytes + 1));
  tn_card_get(card, got, w->out.there.data, w->out.bytes);
  finish();
  long different = w->op == TN_OP_MATMUL ? products_that_differ(w, (const float *)(void *)got)
                                         : all_that_differ(w, got);
  free(got);
  return different;
}

/* ---- all of them ---- */
static char **words;
static int word_count;
static bool every_tile;

static bool wanted(const char *name) {
  for (int i = 0; i < word_count; i++)
    if (strstr(name, words[i])) return true;
  return word_count == 0;
}

static void measure(workload *w) {
  const tn_backend *cuda = tn_backend_cuda();
  tn_view in[OPERANDS];
  for (int k = 0; k < w->count; k++) in[k] = w->in[k].there;
  size_t bytes = cuda->scratch(cuda, w->op, &w->attrs, in, w->count, &w->out.there, 1);
  w->scratch = must(tn_card_allocate(card, bytes));
  for (int t = every_tile && w->op == TN_OP_MATMUL ? 0 : -1; t < 0 || tn_card_tile_at(t); t++) {
    w->tile = tn_card_tile_at(t);
    if (w->tile && !queue_call(w)) continue;
    tn_card_put(card, w->out.there.data, w->in[0].host.data, w->out.bytes < 64 ? w->out.bytes : 64);
    double seconds = median_of(w, every_tile ? 0.05 : 0.25);
    printf("%s %.3f %ld %s\n", w->name, seconds * 1e6, that_differ(w), w->tile ? w->tile->name : "-");
    fflush(stdout);
    if (!w->tile) break;
  }
  tn_card_release(card, w->scratch);
  for (int k = 0; k < w->count; k++) forget(&w->in[k]);
  forget(&w->out);
}

typedef enum { NN, NT, TN, TT } layout;

static void swap_last_axes(tn_view *v) {
  int a = v->rank - 2, b = v->rank - 1;
  int64_t dim = v->dim[a], stride = v->stride[a];
  v->dim[a] = v->dim[b], v->stride[a] = v->stride[b];
  v->dim[b] = dim, v->stride[b] = stride;
}

static operand matrices(int64_t batch, int64_t rows, int64_t columns, bool transposed) {
  int64_t a = transposed ? columns : rows, b = transposed ? rows : columns;
  operand o = operand_of(batch > 1 ? tn_shape_make(3, batch, a, b) : tn_shape_make(2, a, b), TN_F32, 0);
  if (transposed) swap_last_axes(&o.host), swap_last_axes(&o.there);
  return o;
}

static void product(const char *name, int64_t batch, int64_t m, int64_t k, int64_t n, layout how) {
  if (!wanted(name)) return;
  workload w = { .name = name, .op = TN_OP_MATMUL, .count = 2 };
  w.in[0] = matrices(batch, m, k, how == TN || how == TT);
  w.in[1] = matrices(batch, k, n, how == NT || how == TT);
  w.out = matrices(batch, m, n, false);
  measure(&w);
}

static void elementwise(const char *name, tn_op op, int count, int64_t elements, tn_dtype out) {
  if (!wanted(name)) return;
  tn_shape shape = tn_shape_make(2, elements / 4096, (int64_t)4096);
  workload w = { .name = name, .op = op, .count = count };
  for (int k = 0; k < count; k++) w.in[k] = operand_of(shape, TN_F32, 0);
  w.out = operand_of(shape, out, 2);
  measure(&w);
}

static void program(const char *name, const tn_shape *shapes, int operands, int count,
                    const tn_fused_step *steps) {
  if (!wanted(name)) return;
  tn_fused *made = calloc(1, tn_fused_bytes(count));
  if (!made) return;
  made->operand_count = operands, made->step_count = count;
  memcpy(made->step, steps, (size_t)count * sizeof *steps);
  workload w = { .name = name, .op = TN_OP_FUSED, .count = operands, .attrs = { .program = made } };
  for (int k = 0; k < operands; k++) {
    made->operand_dtype[k] = TN_F32;
    w.in[k] = operand_of(shapes[k], TN_F32, 0);
  }
  w.out = operand_of(shapes[0], TN_F32, 0);
  measure(&w);
  free(made);
}

/* One operation with a constant; relu(a b + c) d - e, which has no code of its own, on operands without gaps
 * and with a row for b and a column for d. */
static void programs(void) {
  const int64_t rows = (int64_t)1 << 15, width = 4096;
  const tn_shape all = tn_shape_make(1, rows * width), table = tn_shape_make(2, rows, width);
  const tn_shape row = tn_shape_make(1, width), column = tn_shape_make(2, rows, (int64_t)1);
  const tn_shape flat[] = { all, all, all, all, all }, mixed[] = { table, row, table, column, table };
  const tn_fused_step half[] = { { .op = TN_OP_FILL, .dtype = TN_F32, .number = 0.5 },
                                 { .op = TN_OP_MUL, .dtype = TN_F32, .in = { 0, 1 } } };
  const tn_fused_step five[] = { { .op = TN_OP_MUL, .dtype = TN_F32, .in = { 0, 1 } },
                                 { .op = TN_OP_ADD, .dtype = TN_F32, .in = { 5, 2 } },
                                 { .op = TN_OP_RELU, .dtype = TN_F32, .in = { 6 } },
                                 { .op = TN_OP_MUL, .dtype = TN_F32, .in = { 7, 3 } },
                                 { .op = TN_OP_SUB, .dtype = TN_F32, .in = { 8, 4 } } };
  program("half_2^27", flat, 1, 2, half);
  program("program_2^27", flat, 5, 5, five);
  program("program_rows_2^27", mixed, 5, 5, five);
}

static void along_rows(const char *name, tn_op op, int64_t rows, int64_t length) {
  if (!wanted(name)) return;
  workload w = { .name = name, .op = op, .count = 1, .attrs = { .axis = 1, .number = 1e-5 } };
  tn_shape shape = tn_shape_make(2, rows, length), line = tn_shape_make(1, length);
  w.in[0] = operand_of(shape, TN_F32, 0);
  if (op == TN_OP_LAYER_NORM) {
    w.count = 3;
    for (int k = 1; k < 3; k++) w.in[k] = operand_of(line, TN_F32, 0);
  }
  w.out = operand_of(shape, TN_F32, 0);
  measure(&w);
}

static void norm_gradient(const char *name, int64_t rows, int64_t length) {
  if (!wanted(name)) return;
  workload w = { .name = name, .op = TN_OP_LAYER_NORM_GRAD, .count = 3, .attrs = { .number = 1e-5 } };
  tn_shape shape = tn_shape_make(2, rows, length);
  w.in[0] = operand_of(shape, TN_F32, 0);
  w.in[1] = operand_of(tn_shape_make(1, length), TN_F32, 0);
  w.in[2] = operand_of(shape, TN_F32, 0);
  w.out = operand_of(tn_shape_make(1, rows * length + 2 * length + rows), TN_F32, 0);
  measure(&w);
}

static void reduction(const char *name, tn_op op, int64_t rows, int64_t columns, int axis) {
  if (!wanted(name)) return;
  workload w = { .name = name, .op = op, .count = 1 };
  w.attrs.axis_count = axis < 0 ? 2 : 1;
  w.attrs.axes[0] = axis < 0 ? 0 : axis, w.attrs.axes[1] = 1;
  w.in[0] = operand_of(tn_shape_make(2, rows, columns), TN_F32, 0);
  tn_shape out = { .rank = 0 };
  if (axis >= 0) out = tn_shape_make(1, axis == 0 ? columns : rows);
  w.out = operand_of(out, TN_F32, 0);
  measure(&w);
}

static void loss(const char *name, int64_t rows, int64_t classes) {
  if (!wanted(name)) return;
  workload w = { .name = name, .op = TN_OP_CROSS_ENTROPY, .count = 2 };
  w.in[0] = operand_of(tn_shape_make(2, rows, classes), TN_F32, 0);
  w.in[1] = operand_of(tn_shape_make(1, rows), TN_I32, classes);
  w.out = operand_of((tn_shape){ .rank = 0 }, TN_F32, 0);
  measure(&w);
}

/* Skewed: as in a text, the first row is named by a quarter of the entries, later ones by fewer and fewer. */
static void skew(operand *index, int64_t limit) {
  int32_t *at = index->host.data;
  for (size_t i = 0; i < index->bytes / 4; i++) {
    float u = ((float)at[i] + (next_number() + 1) / 2) / (float)limit, cube = u * u * u;
    at[i] = (int32_t)(cube * (float)limit) % (int32_t)limit;
  }
  tn_card_put(card, index->there.data, at, index->bytes);
}

/* As in a GPT: each operand is [batch, tokens, heads * width], and a mask hides later tokens. */
static void attention(const char *name, tn_op op, int64_t batch, int64_t tokens, int64_t heads,
                      int64_t width) {
  if (!wanted(name)) return;
  workload w = { .name = name, .op = op, .count = op == TN_OP_ATTENTION ? 3 : 4,
                 .attrs = { .index = (uint64_t)heads, .causal = true } };
  tn_shape shape = tn_shape_make(3, batch, tokens, heads * width);
  for (int k = 0; k < w.count; k++) w.in[k] = operand_of(shape, TN_F32, 0);
  w.out = operand_of(op == TN_OP_ATTENTION ? shape : tn_shape_make(1, 3 * tn_shape_count(&shape)), TN_F32, 0);
  measure(&w);
}

static void rows_of_a_table(const char *name, tn_op op, int64_t vocabulary, int64_t entries, int64_t width) {
  if (!wanted(name)) return;
  workload w = { .name = name, .op = op, .count = op == TN_OP_GATHER ? 2 : 3 };
  w.in[0] = operand_of(tn_shape_make(2, vocabulary, width), TN_F32, 0);
  w.in[1] = operand_of(tn_shape_make(1, entries), TN_I32, vocabulary);
  if (strstr(name, "skewed")) skew(&w.in[1], vocabulary);
  if (w.count == 3) w.in[2] = operand_of(tn_shape_make(2, entries, width), TN_F32, 0);
  w.out = operand_of(tn_shape_make(2, op == TN_OP_GATHER ? entries : vocabulary, width), TN_F32, 0);
  measure(&w);
}

static void products(void) {
  product("matmul_256", 1, 256, 256, 256, NN);
  product("matmul_512", 1, 512, 512, 512, NN);
  product("matmul_1024", 1, 1024, 1024, 1024, NN);
  product("matmul_2048", 1, 2048, 2048, 2048, NN);
  product("matmul_4096", 1, 4096, 4096, 4096, NN);
  product("matmul_8192", 1, 8192, 8192, 8192, NN);
  product("matmul_256x4096x1024", 1, 256, 4096, 1024, NN);
  product("matmul_4096_nt", 1, 4096, 4096, 4096, NT);
  product("matmul_4096_tn", 1, 4096, 4096, 4096, TN);
  product("matmul_64x784x512", 1, 64, 784, 512, NN);
  product("matmul_784x64x512_tn", 1, 784, 64, 512, TN);
  product("matmul_64x512x784_nt", 1, 64, 512, 784, NT);
  product("matmul_64x512x10", 1, 64, 512, 10, NN);
  product("matmul_256x1024x4096", 1, 256, 1024, 4096, NN);
  product("matmul_4096x256x4096_tn", 1, 4096, 256, 4096, TN);
  product("matmul_256x4096x4096", 1, 256, 4096, 4096, NN);
  product("matmul_256x4096x4096_nt", 1, 256, 4096, 4096, NT);
  product("matmul_16384x384x384", 1, 16384, 384, 384, NN);
  product("matmul_16384x384x1536", 1, 16384, 384, 1536, NN);
  product("matmul_16384x1536x384", 1, 16384, 1536, 384, NN);
  product("matmul_16384x384x384_nt", 1, 16384, 384, 384, NT);
  product("matmul_384x16384x384_tn", 1, 384, 16384, 384, TN);
  product("matmul_384x16384x1536_tn", 1, 384, 16384, 1536, TN);
  product("matmul_384of256x64x256_nt", 384, 256, 64, 256, NT);
  product("matmul_384of256x256x64", 384, 256, 256, 64, NN);
  product("matmul_1000", 1, 1000, 1001, 999, NN);
}

static void others(void) {
  static const struct {
    const char *name;
    tn_op op;
    int operands;
    tn_dtype result;
  } elements[] = {
    { "add_2^27", TN_OP_ADD, 2, TN_F32 },         { "relu_2^27", TN_OP_RELU, 1, TN_F32 },
    { "exp_2^27", TN_OP_EXP, 1, TN_F32 },         { "tanh_2^27", TN_OP_TANH, 1, TN_F32 },
    { "div_2^27", TN_OP_DIV, 2, TN_F32 },         { "sqrt_2^27", TN_OP_SQRT, 1, TN_F32 },
    { "log_2^27", TN_OP_LOG, 1, TN_F32 },         { "sigmoid_2^27", TN_OP_SIGMOID, 1, TN_F32 },
    { "erf_2^27", TN_OP_ERF, 1, TN_F32 },         { "sin_2^27", TN_OP_SIN, 1, TN_F32 },
    { "pow_2^27", TN_OP_POW, 2, TN_F32 },         { "gt_2^27", TN_OP_GT, 2, TN_BOOL },
    { "maximum_2^27", TN_OP_MAXIMUM, 2, TN_F32 },
  };
  for (size_t k = 0; k < sizeof elements / sizeof *elements; k++)
    elementwise(elements[k].name, elements[k].op, elements[k].operands, (int64_t)1 << 27, elements[k].result);
  programs();
  elementwise("add_2^12", TN_OP_ADD, 2, (int64_t)1 << 12, TN_F32);
  along_rows("softmax_4096", TN_OP_SOFTMAX, 4096, 4096);
  along_rows("softmax_98304x256", TN_OP_SOFTMAX, 98304, 256);
  along_rows("log_softmax_4096", TN_OP_LOG_SOFTMAX, 4096, 4096);
  along_rows("layer_norm_16384x1024", TN_OP_LAYER_NORM, 16384, 1024);
  along_rows("layer_norm_16384x384", TN_OP_LAYER_NORM, 16384, 384);
  norm_gradient("layer_norm_grad_16384x384", 16384, 384);
  norm_gradient("layer_norm_grad_16384x1024", 16384, 1024);
  reduction("sum_2^28", TN_OP_SUM, (int64_t)1 << 14, (int64_t)1 << 14, -1);
  reduction("sum_rows_16384x4096", TN_OP_SUM, 16384, 4096, 1);
  reduction("sum_columns_16384x4096", TN_OP_SUM, 16384, 4096, 0);
  reduction("sum_columns_16384x384", TN_OP_SUM, 16384, 384, 0);
  reduction("sum_columns_64x512", TN_OP_SUM, 64, 512, 0);
  reduction("max_rows_16384x4096", TN_OP_MAX, 16384, 4096, 1);
  loss("cross_entropy_16384x65", 16384, 65);
  loss("cross_entropy_64x10", 64, 10);
  attention("attention_384of256x64", TN_OP_ATTENTION, 64, 256, 6, 64);
  attention("attention_grad_384of256x64", TN_OP_ATTENTION_GRAD, 64, 256, 6, 64);
  attention("attention_64of1024x64", TN_OP_ATTENTION, 8, 1024, 8, 64);
  attention("attention_grad_64of1024x64", TN_OP_ATTENTION_GRAD, 8, 1024, 8, 64);
  rows_of_a_table("gather_50000x16384x512", TN_OP_GATHER, 50000, 16384, 512);
  rows_of_a_table("scatter_65x16384x384", TN_OP_SCATTER_ADD, 65, 16384, 384);
  rows_of_a_table("scatter_skewed_64x16384x384", TN_OP_SCATTER_ADD, 64, 16384, 384);
  rows_of_a_table("scatter_50000x16384x512", TN_OP_SCATTER_ADD, 50000, 16384, 512);
}

int main(int argc, char **argv) {
  const char *why;
  if (argc > 1 && strcmp(argv[1], "--tiles") == 0) every_tile = true, argc--, argv++;
  words = argv + 1, word_count = argc - 1;
  double start = now();
  card = tn_card_open(&heap, 0, &why);
  if (!card) give_up(why);
  products();
  if (!every_tile) others();
  printf("all %.0f 0 -\n", (now() - start) * 1e6);
  tn_card_close(card);
  return 0;
}
