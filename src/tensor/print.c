/* tensor/print.c: prints tensors as nested brackets, long axes shortened.
 *
 * Numbers are the shortest text that reads back as the same element, so a printed tensor preserves
 * its bits. bf16 and f16 print as the f32 of the same value. */
#include "tensor/print.h"

#include <string.h>

#include "tensor/internal.h"

static void print_element(tn_dtype dtype, const unsigned char *at, tn_text *out) {
  union { float f32; double f64; int32_t i32; int64_t i64; uint8_t boolean; uint16_t half; } raw;
  memcpy(&raw, at, tn_dtype_bytes(dtype));
  switch (dtype) {
    case TN_F32: tn_text_f32(out, raw.f32); break;
    case TN_F64: tn_text_f64(out, raw.f64); break;
    case TN_I32: tn_text_int(out, raw.i32); break;
    case TN_I64: tn_text_int(out, raw.i64); break;
    case TN_BOOL: tn_text_puts(out, raw.boolean ? "true" : "false"); break;
    case TN_BF16: tn_text_f32(out, tn_f32_from_bf16(raw.half)); break;
    case TN_F16: tn_text_f32(out, tn_f32_from_f16(raw.half)); break;
    case TN_DTYPE_COUNT: break;
  }
}

/* A stop ends a long text as if memory had been refused for it. */
static void ask_for_stop(tn_text *out, int64_t index) {
  if (index % 4096 != 0 || !tn_stop_asked(out->heap->stop)) return;
  out->heap->stopped = out->heap->failed = out->failed = true;
}

/* Prints the axes of the view from `axis` on, starting at `at`. recursion: TN_RANK_LIMIT deep. */
static void print_axis(const tn_view *view, int axis, const unsigned char *at, const tn_print_style *style,
                       tn_text *out) {
  if (axis == view->rank) {
    print_element(view->dtype, at, out);
    return;
  }
  int64_t count = view->dim[axis], step = view->stride[axis] * (int64_t)tn_dtype_bytes(view->dtype);
  bool shorten = style->edge > 0 && style->edge <= count / 2 && count > 2 * style->edge;
  tn_text_puts(out, style->open);
  for (int64_t i = 0; i < count; i++) {
    if (i) tn_text_puts(out, style->between);
    if (shorten && i == style->edge) {
      tn_text_puts(out, "...");
      tn_text_puts(out, style->between);
      i = count - style->edge;
    }
    ask_for_stop(out, i);
    if (out->failed) return;   /* it may be a long way to the end */
    print_axis(view, axis + 1, at + i * step, style, out);
  }
  tn_text_puts(out, style->close);
}

#define WHOLE_ELEMENTS 1000
#define EDGE           3

tn_print_style tn_print_list(const tn_view *view, bool shorten) {
  return (tn_print_style){ "[", "]", ", ", shorten && tn_view_count(view) > WHOLE_ELEMENTS ? EDGE : 0 };
}

void tn_view_print(const tn_view *view, const tn_print_style *style, tn_text *out) {
  print_axis(view, 0, view->data, style, out);
}

/* JSON has no such numbers: they are strings. */
static bool is_finite(tn_dtype dtype, const unsigned char *at) {
  tn_view one = { .data = (void *)(uintptr_t)at, .dtype = dtype };
  if (!tn_dtype_in(dtype, TN_FLOATS | TN_STORAGE)) return true;
  double number = tn_view_get_f64(&one, 0);
  return number - number == 0;
}

static void print_json_element(tn_dtype dtype, const unsigned char *at, tn_text *out) {
  bool quoted = !is_finite(dtype, at);
  if (quoted) tn_text_byte(out, '"');
  print_element(dtype, at, out);
  if (quoted) tn_text_byte(out, '"');
}

void tn_view_print_json_data(const tn_view *view, tn_text *out) {
  tn_runs runs = tn_runs_of(view);
  bool first = true;
  tn_text_byte(out, '[');
  for (tn_run run; !out->failed && tn_runs_next(&runs, &run);) {
    for (int64_t i = 0; i < run.count && !out->failed; i++) {
      ask_for_stop(out, i);
      if (!first) tn_text_byte(out, ',');
      print_json_element(view->dtype, run.at + i * run.step, out);
      first = false;
    }
  }
  tn_text_byte(out, ']');
}
