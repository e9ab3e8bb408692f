/* backend/cpu/isa/matmul.c: matrix products: z[..., i, j] from row i of x and column j of y.
 *
 * Each output is one chain of fma with k ascending, so vectors run across the
 * columns of the result and never along k. Blocking over rows and columns does
 * not touch the chain, and blocking over k puts the accumulator back where it
 * was; that is all the freedom there is, and it is enough to run near the peak
 * of the machine:
 *
 *   a tile of accumulators stays in registers: each step of k loads a few
 *     vectors of y, and every element of x that it loads is used for all of them;
 *   columns of y are packed into panels in the order in which tiles read them: by
 *     the first tile that meets them where they are contiguous, on the way from
 *     memory to the registers, else beforehand. A panel stays in the first-level
 *     cache while all rows of a block pass by. Few rows read the columns where
 *     they are, in the second-level cache, and prefetch each step some steps before;
 *   rows of x are packed too where they are transposed, many, or far apart: while
 *     the tiles above them are being made, if that is possible;
 *   a tile prefetches what the next ones will need: its place in the result, and the
 *     next columns. Where rows of the result collide it is put aside, and goes to
 *     its place during the next one;
 *   blocks of k are as long as the first-level cache allows.
 *
 * A tile reads any strides, so an operand that is small, or read too few times for packing to pay,
 * is read in place. A product of a matrix with only a few vectors is bound by memory and has its
 * own kernels (narrow.c). */
#include "backend/cpu/isa/doubles.h"
#include "backend/cpu/isa/matmul.h"
#include "backend/cpu/isa/pack.h"
#include "backend/cpu/iterator.h"

/* How products of one dtype are done. */
typedef struct {
  multiply multiply;
  size_t (*room)(const product *p); /* bytes of scratch for one thread */
  size_t bytes;
  int rows, columns, lanes; /* of the register tile */
  int grain;                /* columns that threads do not divide */
} method;

/* ---- f32 ---- */
#define TYPE         float
#define CANONICAL    tn_canonical_f32
#define NAME(x)      x##_f32
#define V            VF
#define V_LANES      TN_LANES
#define V_SET        vf_set
#define V_LOAD       vf_load
#define V_LOAD_PART  vf_load_part
#define V_STORE      vf_store
#define V_STORE_PART vf_store_part
#define V_FMA        vf_fma
#define V_CANONICAL  vf_canonical
#define V_ANY_NAN(v) vm_any(vf_isnan(v))
#define DESCENDS     1
#define MANY_WAYS    1
#if TN_LANES == 16
#define MR   8
#define NV   3
#define KC   192
#define ROWS ROWS_1_TO_8
#elif TN_LANES == 8
#define MR   6
#define NV   2
#define KC   384
#define ROWS ROWS_1_TO_6
#elif defined(__aarch64__) && !defined(TN_SIMD_SCALAR)
#define MR   8
#define NV   3
#define KC   384
#define ROWS ROWS_1_TO_8
#else
#define MR   4
#define NV   2
#define KC   384
#define ROWS ROWS_1_TO_4
#endif
#if defined(TN_TURN_ROWS)
#define TURN(to, from, step) tn_turn_rows(to, 8, from, step, 1)
#define TURN_STEPS           16
#else
#define TURN(to, from, step) ((void)(to), (void)(from), (void)(step))
#define TURN_STEPS           0
#endif
#define PACK pack_f32
#define MC   520
#include "backend/cpu/isa/matmul.inc"

PACK_PLAIN(pack_f64, double)
PACK_PLAIN(pack_u32, uint32_t)
PACK_PLAIN(pack_u64, uint64_t)

/* ---- f64 ---- */
#define TYPE         double
#define CANONICAL    tn_canonical_f64
#define NAME(x)      x##_f64
#define V            VD
#define V_LANES      TN_DOUBLE_LANES
#define V_SET        vd_set
#define V_LOAD       vd_load
#define V_LOAD_PART  vd_load_part
#define V_STORE      vd_store
#define V_STORE_PART vd_store_part
#define V_FMA        vd_fma
#define V_CANONICAL  vd_canonical
#define V_ANY_NAN(v) ((void)(v), true)
#define DESCENDS     0
#define MANY_WAYS    0
#if TN_LANES == 16
#define MR   9
#define NV   3
#define ROWS ROWS_1_TO_9
#elif TN_LANES == 8
#define MR   6
#define NV   2
#define ROWS ROWS_1_TO_6
#else
#define MR   4
#define NV   2
#define ROWS ROWS_1_TO_4
#endif
#define TURN(to, from, step) ((void)(to), (void)(from), (void)(step))
#define TURN_STEPS           0
#define PACK                 pack_f64
#define KC                   256
#define MC                   297
#include "backend/cpu/isa/matmul.inc"

/* ---- integers: a row of the tile is a plain loop, which the compiler turns into vectors ---- */
#define V_SET(x)              (x)
#define INTEGER_FMA(a, b, c)  ((a) * (b) + (c))
#define TYPE                  uint32_t
#define CANONICAL(x)          (x)
#define NAME(x)               x##_i32
#define V                     uint32_t
#define V_LANES               1
#define V_LOAD(p)             (*(p))
#define V_LOAD_PART(p, n)     ((void)(n), *(p))
#define V_STORE(p, v)         (*(p) = (v))
#define V_STORE_PART(p, v, n) ((void)(n), *(p) = (v))
#define V_FMA                 INTEGER_FMA
#define V_CANONICAL(v)        (v)
#define V_ANY_NAN(v)          ((void)(v), false)
#define DESCENDS              0
#define MANY_WAYS             0
#define MR                    4
#define NV                    16
#define ROWS                  ROWS_1_TO_4
#define PACK                  pack_u32
#define TURN(to, from, step)  ((void)(to), (void)(from), (void)(step))
#define TURN_STEPS            0
#define KC                    384
#define MC                    400
#include "backend/cpu/isa/matmul.inc"

#define V_SET(x)              (x)
#define TYPE                  uint64_t
#define CANONICAL(x)          (x)
#define NAME(x)               x##_i64
#define V                     uint64_t
#define V_LANES               1
#define V_LOAD(p)             (*(p))
#define V_LOAD_PART(p, n)     ((void)(n), *(p))
#define V_STORE(p, v)         (*(p) = (v))
#define V_STORE_PART(p, v, n) ((void)(n), *(p) = (v))
#define V_FMA                 INTEGER_FMA
#define V_CANONICAL(v)        (v)
#define V_ANY_NAN(v)          ((void)(v), false)
#define DESCENDS              0
#define MANY_WAYS             0
#define MR                    4
#define NV                    16
#define ROWS                  ROWS_1_TO_4
#define PACK                  pack_u64
#define TURN(to, from, step)  ((void)(to), (void)(from), (void)(step))
#define TURN_STEPS            0
#define KC                    256
#define MC                    300
#include "backend/cpu/isa/matmul.inc"

static const method *method_of(tn_dtype dtype) {
  switch (dtype) {
    case TN_F32: return &method_f32;
    case TN_F64: return &method_f64;
    case TN_I32: return &method_i32;
    default: return &method_i64;
  }
}

/* ---- choosing how ---- */
/* The same product with rows and columns exchanged: the chain of an output is the same. */
static product turned(const product *p) {
  return (product){ .m = p->n,
                    .n = p->m,
                    .k = p->k,
                    .a = p->b,
                    .b = p->a,
                    .c = p->c,
                    .am = p->bn,
                    .ak = p->bk,
                    .bk = p->ak,
                    .bn = p->am,
                    .cm = p->cn,
                    .cn = p->cm,
                    .old = p->old,
                    .scale = p->scale,
                    .om = p->on,
                    .on = p->om,
                    .onto = p->onto,
                    .stop = p->stop };
}

/* Vectors run across columns: there should be some, and they should be contiguous in the result. One vector
 * of columns is too few where rows that are contiguous make more of them. */
static bool should_turn(const product *p, const method *how) {
  if (p->cn != 1 && p->m > 1) return p->cm == 1 || (p->n < p->m && p->n < how->lanes);
  int64_t few = p->am == 1 && p->ak != 1 ? how->lanes : how->lanes - 1;
  return p->n <= few && p->m >= 2 * how->lanes && p->k >= 8;
}

#define ACROSS_STEPS 64      /* of sums so short that writing them takes as long */
#define PLAIN_BYTES  1048576 /* of rows that are read where they are, at most */
#define DIRECT_BYTES 2097152 /* of columns that few rows meet, and that are read where they are */
#define FEW_TILES    12      /* of rows, then */
#define STRIDE_BYTES 1024    /* between steps: beyond the reach of the hardware prefetcher */
#define BYTE_COST    0.03    /* nanoseconds, from a cache that all cores share */
#define MANY_ROWS    256     /* that are read so often that a distance of 2048 bytes matters */

/* Whether the rows of a are read as fast where they are: their steps are contiguous, and they are neither
 * many nor so far apart that all of them compete for the same places of a cache. */
static bool rows_are_near(const product *p, int64_t bytes) {
  int64_t apart = p->m >= MANY_ROWS ? 2048 : 4096;
  return p->ak == 1 && p->m * p->k * bytes <= PLAIN_BYTES && (p->am * bytes % apart != 0 || p->k <= 64);
}

/* Whether contiguous columns are read as fast where they are. Those that the first-level cache does not hold
 * are when the second-level one does, each row begins with a cache line, and they meet so few rows that
 * packing does not pay, or are few themselves. A step must read several cache lines from there: with one for
 * each, as AVX2's tiles of 64 bytes have, there are more steps, and every one of them is in another page. */
static bool columns_are_near(const product *p, const method *how) {
  int64_t bytes = p->k * p->n * (int64_t)how->bytes, row = p->bk * (int64_t)how->bytes;
  if (p->m <= 2 * how->rows || bytes <= FIRST_BYTES) return true;
  if (p->k <= ACROSS_STEPS || row % 64 != 0 || how->columns * (int64_t)how->bytes < 2 * 64) return false;
  return p->m <= FEW_TILES * how->rows ? bytes <= DIRECT_BYTES : p->k > 128 && bytes <= NEAR_BYTES;
}

/* Packing pays when what is packed is read often enough, and is not in a near cache anyway. Columns must be
 * contiguous for a tile to read them, and whole vectors where a part of one is expensive to load. */
static void choose_packing(product *p, const method *how) {
  int64_t bytes = (int64_t)how->bytes, b_bytes = p->k * p->n * bytes;
  bool parts_are_slow = how->lanes > 1 && how->lanes * bytes < 32 && p->n % how->lanes != 0;
  p->pack_b = (p->bn != 1 && p->n > 1) || parts_are_slow || !columns_are_near(p, how);
  p->nearby = !p->pack_b && b_bytes > FIRST_BYTES && p->bk * bytes >= STRIDE_BYTES;
  p->pack_a = p->n > (p->ak == 1 ? 4 : 2) * how->columns && p->k > 4 && !rows_are_near(p, bytes);
  p->across = p->pack_b && !p->old && p->k <= ACROSS_STEPS && b_bytes <= NEAR_BYTES;
  if (p->n <= 3 * how->columns) p->across = false; /* rows so short are written often enough */
}

/* Nanoseconds on one thread: the multiplications, or reading and writing the matrices where little is done
 * with them, as with a single row. */
static double cost_of(const product *p, const method *how) {
  double m = (double)p->m, n = (double)p->n, k = (double)p->k, each = how->lanes > 4 ? 0.5 / how->lanes : 0.7;
  double multiplying = m * n * k * each, reading = (m * k + k * n + m * n) * (double)how->bytes * BYTE_COST;
  return multiplying > reading ? multiplying : reading;
}

/* Chooses the way of a product; *room are the bytes of scratch for each thread. */
static multiply choose_way(product *p, const method *how, size_t *room) {
  multiply way = how == &method_f32 && !p->onto ? special_way(p) : NULL;
  *room = 0;
  if (way) return way;
  choose_packing(p, how);
  *room = how->room(p);
  return how->multiply;
}

/* ---- one product on one thread ---- */
static multiply choose_alone(product *p, const method *how, size_t *room) {
  if (p->n == 1) p->cn = 1;
  if (should_turn(p, how)) *p = turned(p);
  p->grid = (tn_cpu_grid){ 1, 1 };
  return choose_way(p, how, room);
}

size_t product_room(tn_dtype dtype, const product *p) {
  product own = *p;
  size_t room = 0;
  if (own.m > 0 && own.n > 0 && own.k > 0) choose_alone(&own, method_of(dtype), &room);
  return room;
}

/* A sum of nothing is +0. */
static void clear_product(const method *how, const product *p) {
  for (int64_t i = 0; i < p->m && !p->onto; i++)
    for (int64_t j = 0; j < p->n; j++)
      memset((char *)p->c + (i * p->cm + j * p->cn) * (int64_t)how->bytes, 0, how->bytes);
}

void product_alone(tn_dtype dtype, const product *p, char *room) {
  const method *how = method_of(dtype);
  product own = *p;
  size_t bytes;
  if (own.m == 0 || own.n == 0) return;
  if (own.k == 0) {
    clear_product(how, p);
    return;
  }
  choose_alone(&own, how, &bytes)(&own, &(tn_cpu_part){ .count = 1 }, room);
}

/* ---- threads ---- */
/* Rows and columns that a thread needs are read, or packed, by each thread that needs them. */
static int choose_threads(product *p, const method *how, int limit) {
  p->grid = tn_cpu_grid_for(tn_cpu_threads_for(cost_of(p, how), limit), p->m, how->rows, p->n, how->grain);
  return p->grid.rows * p->grid.columns;
}

/* ---- batches ---- */
typedef struct {
  product product; /* the first one */
  const method *how;
  multiply multiply;
  int threads;
  size_t room;       /* bytes of scratch for each of them */
  tn_cpu_iterator batch; /* views: x, y, z */
  int64_t products;
  char *scratch;
} matmul_job;

static product product_at(const matmul_job *job, const tn_cpu_iterator *batch) {
  product p = job->product;
  int64_t bytes = (int64_t)job->how->bytes;
  p.a = (const char *)p.a + batch->offset[0] * bytes;
  p.b = (const char *)p.b + batch->offset[1] * bytes;
  p.c = (char *)p.c + batch->offset[2] * bytes;
  return p;
}

/* All threads work on one product. */
static void together(void *context, const tn_cpu_part *part) {
  const matmul_job *job = context;
  job->multiply(&job->product, part, job->scratch);
}

/* Each thread has products of its own, or bands of rows of them. */
static void apart(void *context, const tn_cpu_part *part) {
  const matmul_job *job = context;
  int64_t begin, end;
  tn_cpu_iterator batch;
  tn_cpu_iterator_copy(&batch, &job->batch);
  const int bands = job->product.grid.rows;
  tn_cpu_share(job->products * bands, 1, part, &begin, &end);
  if (begin >= end) return;
  tn_cpu_iterator_seek(&batch, batch.rank, begin / bands);
  char *room = job->room ? job->scratch + (size_t)part->thread * job->room : NULL;
  for (int64_t b = begin; b < end; b++) {
    product p = product_at(job, &batch);
    tn_cpu_part band = { .number = (int)(b % bands), .count = bands };
    job->multiply(&p, &band, room);
    if (band.number == bands - 1) tn_cpu_iterator_next(&batch, batch.rank);
  }
}

/* The leading axes, with the last two taken as one element. */
static tn_view leading(const tn_view *view) {
  tn_view part = *view;
  part.rank -= 2;
  return part;
}

/* A batch whose products share y, and whose rows follow one another in x and z, is one product. */
static void merge_batch(matmul_job *job) {
  product *p = &job->product;
  const tn_cpu_iterator *batch = &job->batch;
  if (batch->rank != 1 || batch->dim[0] == 1 || batch->stride[1][0] != 0) return;
  if (batch->stride[0][0] != p->m * p->am || batch->stride[2][0] != p->m * p->cm) return;
  p->m *= batch->dim[0];
  job->products = 1;
}

static void prepare_batch(matmul_job *job, const tn_kernel_call *call) {
  tn_view x = leading(&call->in[0]), y = leading(&call->in[1]), z = leading(call->out);
  job->products = tn_cpu_elements(&z);
  tn_cpu_iterator_init(&job->batch, &z);
  tn_cpu_iterator_add(&job->batch, &x);
  tn_cpu_iterator_add(&job->batch, &y);
  tn_cpu_iterator_add(&job->batch, &z);
  tn_cpu_iterator_merge(&job->batch);
  merge_batch(job);
}

static void turn(matmul_job *job) {
  job->product = turned(&job->product);
  for (int a = 0; job->products > 1 && a < job->batch.rank; a++) {
    int64_t kept = job->batch.stride[0][a];
    job->batch.stride[0][a] = job->batch.stride[1][a];
    job->batch.stride[1][a] = kept;
  }
}

/* Threads for a batch: by products where they come out even, else by bands of their rows. */
static void choose_bands(matmul_job *job, int limit) {
  product *p = &job->product;
  int threads = tn_cpu_threads_for(cost_of(p, job->how) * (double)job->products, limit);
  p->grid = (tn_cpu_grid){ tn_cpu_bands_for(threads, job->products, p->m, job->how->rows, p->n), 1 };
  int64_t most = job->products * p->grid.rows;
  job->threads = threads < most ? threads : (int)most;
}

static void prepare(matmul_job *job, const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *y = &call->in[1], *z = call->out;
  int xr = x->rank, yr = y->rank, zr = z->rank;
  job->how = method_of(z->dtype);
  job->product = (product){
    .m = z->dim[zr - 2],
    .n = z->dim[zr - 1],
    .k = x->dim[xr - 1],
    .a = x->data,
    .b = y->data,
    .c = z->data,
    .am = x->stride[xr - 2],
    .ak = x->stride[xr - 1],
    .bk = y->stride[yr - 2],
    .bn = y->stride[yr - 1],
    .cm = z->stride[zr - 2],
    .cn = z->stride[zr - 1],
    .stop = call->stop,
  };
  if (job->product.n == 1) job->product.cn = 1; /* the step of a single column does not matter */
  if (call->count == 4) {
    const tn_view *old = &call->in[2];
    job->product.old = old->data ? old->data : call; /* not yet known while scratch is measured */
    job->product.scale = call->in[3].data;
    job->product.om = old->stride[0];
    job->product.on = old->stride[1];
  }
  job->products = 1;
  if (zr > 2) prepare_batch(job, call);
  if (should_turn(&job->product, job->how)) turn(job);
  product *p = &job->product;
  if (job->products > 1)
    choose_bands(job, call->threads);
  else
    job->threads = choose_threads(p, job->how, call->threads);
  job->multiply = choose_way(p, job->how, &job->room);
}

bool TN_CPU_NAME(matmul)(const tn_kernel_call *call) {
  if (tn_cpu_elements(call->out) == 0) return true;
  matmul_job job;
  prepare(&job, call);
  if (job.product.k == 0) {
    tn_cpu_clear(call, call->out);
    return true;
  }
  job.scratch = call->scratch;
  double cost = cost_of(&job.product, job.how) * (double)job.products;
  if (job.products > 1)
    tn_cpu_run_evenly(call, job.threads, job.products * job.product.grid.rows, cost, apart, &job);
  else if (job.room == 0 && job.multiply != job.how->multiply)
    tn_cpu_run(call, job.threads, cost, together, &job);
  else
    tn_cpu_run_tiles(call, job.threads, cost, together, &job);
  return true;
}

size_t TN_CPU_NAME(matmul_scratch)(const tn_kernel_call *call) {
  if (tn_cpu_elements(call->out) == 0) return 0;
  matmul_job job;
  prepare(&job, call);
  return job.room * (size_t)job.threads;
}
