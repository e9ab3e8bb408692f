/* backend/cpu/isa/scan.c: running sums and products along an axis.
 *
 * The order is one by one, so a line is a chain that cannot be shortened; but lines are
 * independent. If the axis after the scanned one is contiguous, neighbouring lines are computed
 * together as vectors; otherwise one line follows another. */
#include "backend/cpu/isa/isa.h"
#include "backend/cpu/iterator.h"

#define ABREAST 256 /* lines side by side */

typedef struct scan_job scan_job;
typedef void (*scan_lines)(const scan_job *job, const void *from, void *to, int64_t lines);

struct scan_job {
  const tn_kernel_call *call;
  scan_lines scan;
  tn_cpu_iterator lines;        /* views: operand and result, without the scanned axis */
  int64_t count, n;         /* lines, and elements of each */
  int64_t step, out_step;   /* along the axis, from the first element the scan meets */
  int64_t start, out_start; /* where that is */
  int64_t width;            /* lines that lie side by side, 1 where they do not */
};

/* `lines` neighbouring lines: x and out have stride 1 across lines, job->step along them. */
#define SCAN(name, type, join, first, canonical)                                                             \
  static void name(const scan_job *job, const void *from, void *to, int64_t lines) {                         \
    const type *x = (const type *)from + job->start;                                                         \
    type *out = (type *)to + job->out_start, total[ABREAST];                                                 \
    bool exclusive = job->call->attrs->exclusive;                                                            \
    for (int64_t l = 0; l < lines; l++) total[l] = first;                                                    \
    for (int64_t at = 0, end; at < job->n && !tn_cpu_row_stopped(job->call->stop, at); at = end) {           \
      end = tn_cpu_piece_end(at, job->n);                                                                    \
      for (int64_t i = at; i < end; i++, x += job->step, out += job->out_step)                               \
        for (int64_t l = 0; l < lines; l++) {                                                                \
          type before = total[l];                                                                            \
          total[l] = before join x[l];                                                                       \
          out[l] = canonical(exclusive ? before : total[l]);                                                 \
        }                                                                                                    \
    }                                                                                                        \
  }
SCAN(sum_f32, float, +, 0, tn_canonical_f32)
SCAN(sum_f64, double, +, 0, tn_canonical_f64)
SCAN(sum_i32, uint32_t, +, 0, )
SCAN(sum_i64, uint64_t, +, 0, )
SCAN(prod_f32, float, *, 1, tn_canonical_f32)
SCAN(prod_f64, double, *, 1, tn_canonical_f64)
SCAN(prod_i32, uint32_t, *, 1, )
SCAN(prod_i64, uint64_t, *, 1, )

static void scan_share(void *context, const tn_cpu_part *part) {
  const scan_job *job = context;
  int64_t begin, end, bytes = (int64_t)tn_dtype_bytes(job->call->out->dtype);
  tn_cpu_iterator lines = job->lines;
  int inner = lines.rank - 1;
  tn_cpu_share(job->count, 16, part, &begin, &end);
  for (int64_t line = begin; line < end;) {
    int64_t abreast = 1;
    tn_cpu_iterator_seek(&lines, lines.rank, line);
    if (job->width > 1)
      abreast = tn_cpu_min(tn_cpu_min(lines.dim[inner] - lines.at[inner], ABREAST), end - line);
    job->scan(job, (const char *)job->call->in[0].data + lines.offset[0] * bytes,
              (char *)job->call->out->data + lines.offset[1] * bytes, abreast);
    line += abreast;
  }
}

static bool scan(const tn_kernel_call *call, scan_lines by) {
  int axis = call->attrs->axis;
  if (tn_view_count(call->out) == 0) return true;
  tn_view x = call->in[0], out = *call->out;
  scan_job job = { .call = call, .scan = by, .n = x.dim[axis] };
  job.step = x.stride[axis], job.out_step = out.stride[axis];
  if (call->attrs->reverse) {
    job.start = (job.n - 1) * job.step, job.out_start = (job.n - 1) * job.out_step;
    job.step = -job.step, job.out_step = -job.out_step;
  }
  x.dim[axis] = out.dim[axis] = 1;
  job.count = tn_view_count(&out);
  tn_cpu_iterator_init(&job.lines, &out);
  tn_cpu_iterator_add(&job.lines, &x);
  tn_cpu_iterator_add(&job.lines, &out);
  tn_cpu_iterator_merge(&job.lines);
  int inner = job.lines.rank - 1;
  job.width = job.lines.stride[0][inner] == 1 && job.lines.stride[1][inner] == 1 ? job.lines.dim[inner] : 1;
  double cost = (double)job.count * (double)job.n * (job.width > 1 ? 0.3 : 1.5);
  tn_cpu_run(call, tn_cpu_threads_for(cost, call->threads), cost, scan_share, &job);
  return true;
}

bool TN_CPU_NAME(cumsum)(const tn_kernel_call *call) {
  static const scan_lines sums[TN_DTYPE_COUNT] = {
    [TN_F32] = sum_f32, [TN_F64] = sum_f64, [TN_I32] = sum_i32, [TN_I64] = sum_i64
  };
  return scan(call, sums[call->out->dtype]);
}

bool TN_CPU_NAME(cumprod)(const tn_kernel_call *call) {
  static const scan_lines products[TN_DTYPE_COUNT] = {
    [TN_F32] = prod_f32, [TN_F64] = prod_f64, [TN_I32] = prod_i32, [TN_I64] = prod_i64
  };
  return scan(call, products[call->out->dtype]);
}
