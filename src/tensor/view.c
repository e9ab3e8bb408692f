/* tensor/view.c: views of the same elements with other shapes, and access to single elements.
 *
 * A view changes by arithmetic on dims and strides alone. Loops over elements use tn_runs, which
 * merges axes that are contiguous in memory: a contiguous tensor of any rank is one run. */
#include <assert.h>
#include <string.h>

#include "tensor/internal.h"

int64_t tn_view_count(const tn_view *view) {
  int64_t count = 1;
  for (int i = 0; i < view->rank; i++) count *= view->dim[i];
  return count;
}

bool tn_view_is_contiguous(const tn_view *view) {
  int64_t expected = 1;
  for (int i = 0; i < view->rank; i++) {
    if (view->dim[i] == 0) return true;
  }
  for (int i = view->rank - 1; i >= 0; i--) {
    if (view->dim[i] == 1) continue;
    if (view->stride[i] != expected) return false;
    expected *= view->dim[i];
  }
  return true;
}

tn_view tn_view_make(void *data, tn_dtype dtype, const tn_shape *shape) {
  assert(tn_shape_count(shape) >= 0);
  tn_view view = { .data = data, .dtype = dtype, .rank = shape->rank };
  int64_t stride = 1;
  for (int i = shape->rank - 1; i >= 0; i--) {
    view.dim[i] = shape->dim[i];
    view.stride[i] = stride;
    if (shape->dim[i]) stride *= shape->dim[i];
  }
  return view;
}

tn_shape tn_view_shape(const tn_view *view) {
  return tn_shape_of(view->dim, view->rank);
}

/* The address of the element `elements` positions after (or before) the first. An empty view may
 * have no address to step from. */
static unsigned char *address(const tn_view *view, int64_t elements) {
  if (!view->data) return NULL;
  return (unsigned char *)view->data + elements * (int64_t)tn_dtype_bytes(view->dtype);
}

tn_view tn_view_broadcast(const tn_view *view, const tn_shape *to) {
  tn_view out = { .data = view->data, .dtype = view->dtype, .rank = to->rank };
  int added = to->rank - view->rank;
  assert(added >= 0);
  for (int i = 0; i < to->rank; i++) {
    int from = i - added;
    out.dim[i] = to->dim[i];
    assert(from < 0 || view->dim[from] == to->dim[i] || view->dim[from] == 1);
    if (from >= 0 && view->dim[from] == to->dim[i]) out.stride[i] = view->stride[from];
  }
  return out;
}

tn_view tn_view_permute(const tn_view *view, const int *axes) {
  tn_view out = { .data = view->data, .dtype = view->dtype, .rank = view->rank };
  for (int i = 0; i < view->rank; i++) {
    assert(axes[i] >= 0 && axes[i] < view->rank);
    out.dim[i] = view->dim[axes[i]];
    out.stride[i] = view->stride[axes[i]];
  }
  return out;
}

tn_view tn_view_slice(const tn_view *view, int axis, int64_t start, int64_t step, int64_t count) {
  assert(axis >= 0 && axis < view->rank && count >= 0);
  tn_view out = *view;
  if (count) {   /* of an empty slice the start may lie outside, and the pointer must not */
    assert(start >= 0 && start < view->dim[axis]);
    assert(start + step * (count - 1) >= 0 && start + step * (count - 1) < view->dim[axis]);
    out.data = address(view, start * view->stride[axis]);
  }
  out.dim[axis] = count;
  out.stride[axis] = count > 1 ? view->stride[axis] * step : view->stride[axis];
  return out;
}

/* Axes of length 1 say nothing about memory. */
static tn_view without_ones(const tn_view *view) {
  tn_view out = { .data = view->data, .dtype = view->dtype };
  for (int i = 0; i < view->rank; i++) {
    if (view->dim[i] == 1) continue;
    out.dim[out.rank] = view->dim[i];
    out.stride[out.rank++] = view->stride[i];
  }
  return out;
}

/* Whether axes first..last of the view, taken together, step evenly through memory. */
static bool steps_evenly(const tn_view *view, int first, int last) {
  for (int i = first; i < last; i++) {
    if (view->stride[i] != view->stride[i + 1] * view->dim[i + 1]) return false;
  }
  return true;
}

/* Both shapes are cut into the shortest groups of axes with equal products. Inside a
 * group the old axes must step evenly; then the new ones do, from its last stride. */
bool tn_view_reshape(const tn_view *view, const tn_shape *to, tn_view *out) {
  tn_view result = tn_view_make(view->data, view->dtype, to);
  assert(tn_shape_count(to) == tn_view_count(view));
  if (tn_view_count(view) > 0) {
    tn_view old = without_ones(view);
    int first = 0, new_first = 0;
    while (first < old.rank) {
      int last = first, new_last = new_first;
      int64_t product = old.dim[first], new_product = to->dim[new_first];
      while (product != new_product) {
        if (product < new_product) product *= old.dim[++last];
        else new_product *= to->dim[++new_last];
      }
      if (!steps_evenly(&old, first, last)) return false;
      int64_t stride = old.stride[last];
      for (int i = new_last; i >= new_first; i--) {
        result.stride[i] = stride;
        stride *= to->dim[i];
      }
      first = last + 1;
      new_first = new_last + 1;
    }
  }
  *out = result;
  return true;
}

/* ---- iterating ---- */

tn_runs tn_runs_of(const tn_view *view) {
  int64_t bytes = (int64_t)tn_dtype_bytes(view->dtype);
  tn_view axes = without_ones(view);
  tn_runs runs = { .at = view->data, .run_count = 1, .run_step = bytes };
  runs.done = tn_view_count(view) == 0;
  int inner = axes.rank - 1;
  if (inner >= 0) {
    runs.run_count = axes.dim[inner];
    runs.run_step = axes.stride[inner] * bytes;
    for (; inner > 0 && steps_evenly(&axes, inner - 1, inner); inner--) runs.run_count *= axes.dim[inner - 1];
  }
  for (int i = 0; i < inner; i++) {
    runs.dim[i] = axes.dim[i];
    runs.step[i] = axes.stride[i] * bytes;
    runs.rank++;
  }
  return runs;
}

bool tn_runs_next(tn_runs *runs, tn_run *run) {
  if (runs->done) return false;
  *run = (tn_run){ runs->at, runs->run_count, runs->run_step };
  for (int i = runs->rank - 1; i >= 0; i--) {
    if (++runs->index[i] < runs->dim[i]) {
      runs->at += runs->step[i];
      return true;
    }
    runs->at -= runs->step[i] * (runs->dim[i] - 1);
    runs->index[i] = 0;
  }
  runs->done = true;
  return true;
}

static bool equal_elements(const tn_run *a, const tn_run *b, int64_t count, size_t bytes) {
  if (a->step == (int64_t)bytes && b->step == (int64_t)bytes) {
    return memcmp(a->at, b->at, (size_t)count * bytes) == 0;
  }
  for (int64_t i = 0; i < count; i++) {
    if (memcmp(a->at + i * a->step, b->at + i * b->step, bytes) != 0) return false;
  }
  return true;
}

static void advance(tn_run *run, int64_t count) {
  run->count -= count;
  if (run->count) run->at += count * run->step;
}

bool tn_view_equal(const tn_view *a, const tn_view *b) {
  tn_shape shape_a = tn_view_shape(a), shape_b = tn_view_shape(b);
  if (a->dtype != b->dtype || !tn_shape_equal(&shape_a, &shape_b)) return false;
  tn_runs runs_a = tn_runs_of(a), runs_b = tn_runs_of(b);
  tn_run run_a = { 0 }, run_b = { 0 };
  for (;;) {   /* runs of the two views end at different elements */
    if (run_a.count == 0 && !tn_runs_next(&runs_a, &run_a)) return true;
    if (run_b.count == 0 && !tn_runs_next(&runs_b, &run_b)) return true;
    int64_t count = run_a.count < run_b.count ? run_a.count : run_b.count;
    if (!equal_elements(&run_a, &run_b, count, tn_dtype_bytes(a->dtype))) return false;
    advance(&run_a, count);
    advance(&run_b, count);
  }
}

static void canonicalise_f32(tn_run run) {
  static const uint32_t quiet = 0x7fc00000;
  for (int64_t i = 0; i < run.count; i++) {
    float number;
    memcpy(&number, run.at + i * run.step, sizeof number);
    if (number != number) memcpy(run.at + i * run.step, &quiet, sizeof quiet);
  }
}

static void canonicalise_f64(tn_run run) {
  static const uint64_t quiet = 0x7ff8000000000000;
  for (int64_t i = 0; i < run.count; i++) {
    double number;
    memcpy(&number, run.at + i * run.step, sizeof number);
    if (number != number) memcpy(run.at + i * run.step, &quiet, sizeof quiet);
  }
}

/* `infinity` is the largest magnitude that is not NaN. */
static void canonicalise_half(tn_run run, uint16_t infinity, uint16_t quiet) {
  for (int64_t i = 0; i < run.count; i++) {
    uint16_t bits;
    memcpy(&bits, run.at + i * run.step, sizeof bits);
    if ((bits & 0x7fff) > infinity) memcpy(run.at + i * run.step, &quiet, sizeof quiet);
  }
}

void tn_view_canonicalise(const tn_view *view) {
  if (!tn_dtype_in(view->dtype, TN_FLOATS | TN_STORAGE)) return;
  tn_runs runs = tn_runs_of(view);
  for (tn_run run; tn_runs_next(&runs, &run);) {
    if (view->dtype == TN_F32) canonicalise_f32(run);
    else if (view->dtype == TN_F64) canonicalise_f64(run);
    else if (view->dtype == TN_F16) canonicalise_half(run, 0x7c00, 0x7e00);
    else canonicalise_half(run, 0x7f80, 0x7fc0);
  }
}

/* ---- single elements ---- */

static unsigned char *element(const tn_view *view, int64_t index) {
  int64_t offset = 0;
  for (int i = view->rank - 1; i >= 0; i--) {
    offset += index % view->dim[i] * view->stride[i];
    index /= view->dim[i];
  }
  assert(index == 0);
  return address(view, offset);
}

/* The value of an element, in a type that loses nothing. */
typedef struct {
  bool is_integer;
  int64_t integer;
  double number;
} element_value;

static element_value load(tn_dtype dtype, const unsigned char *at) {
  union { float f32; double f64; int32_t i32; int64_t i64; uint8_t boolean; uint16_t half; } raw;
  memcpy(&raw, at, tn_dtype_bytes(dtype));
  switch (dtype) {
    case TN_F32: return (element_value){ .number = (double)raw.f32 };
    case TN_F64: return (element_value){ .number = raw.f64 };
    case TN_BF16: return (element_value){ .number = (double)tn_f32_from_bf16(raw.half) };
    case TN_F16: return (element_value){ .number = (double)tn_f32_from_f16(raw.half) };
    case TN_I32: return (element_value){ .is_integer = true, .integer = raw.i32 };
    case TN_I64: return (element_value){ .is_integer = true, .integer = raw.i64 };
    case TN_BOOL: return (element_value){ .is_integer = true, .integer = raw.boolean };
    case TN_DTYPE_COUNT: break;
  }
  return (element_value){ 0 };
}

double tn_view_get_f64(const tn_view *view, int64_t index) {
  element_value value = load(view->dtype, element(view, index));
  return value.is_integer ? (double)value.integer : value.number;
}

int64_t tn_view_get_i64(const tn_view *view, int64_t index) {
  element_value value = load(view->dtype, element(view, index));
  return value.is_integer ? value.integer : tn_i64_from_f64(value.number);
}

static void store(const tn_view *view, int64_t index, const void *raw) {
  memcpy(element(view, index), raw, tn_dtype_bytes(view->dtype));
}

/* f64 to bf16 and f16 goes through f32, as all their arithmetic does. */
void tn_view_set_f64(const tn_view *view, int64_t index, double number) {
  float narrow = (float)number;
  switch (view->dtype) {
    case TN_F32: store(view, index, &narrow); break;
    case TN_F64: store(view, index, &number); break;
    case TN_BF16: store(view, index, &(uint16_t){ tn_bf16_from_f32(narrow) }); break;
    case TN_F16: store(view, index, &(uint16_t){ tn_f16_from_f32(narrow) }); break;
    case TN_I32: store(view, index, &(int32_t){ tn_i32_from_f64(number) }); break;
    case TN_I64: store(view, index, &(int64_t){ tn_i64_from_f64(number) }); break;
    case TN_BOOL: store(view, index, &(uint8_t){ number != 0 }); break;
    case TN_DTYPE_COUNT: return;
  }
  tn_view one = { .data = element(view, index), .dtype = view->dtype };
  tn_view_canonicalise(&one);
}

/* i64 to i32 keeps the low bits, as integer casts do. */
void tn_view_set_i64(const tn_view *view, int64_t index, int64_t number) {
  if (view->dtype == TN_I64) store(view, index, &number);
  else if (view->dtype == TN_I32) store(view, index, &(int32_t){ (int32_t)(uint32_t)number });
  else if (view->dtype == TN_F32) store(view, index, &(float){ (float)number });
  else tn_view_set_f64(view, index, (double)number);
}

tn_view tn_view_number(tn_element *room, tn_dtype dtype, double number) {
  *room = (tn_element){ 0 };
  tn_view view = tn_view_make(room, dtype, &TN_SCALAR_SHAPE);
  tn_view_set_f64(&view, 0, number);
  return view;
}
