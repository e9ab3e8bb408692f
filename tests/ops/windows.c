/* Products of windows on a GPU that the host emulates: every kernel that reads windows in their images gives
 * the bits of ref, which writes the windows down. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/internal.h"
#include "base/rng.h"
#include "gpu/emulator.h"

typedef struct {
  int images, height, width, channels;
  int window[2], low[2], high[2], step[2];
  int outputs;
} shape;

static tn_rng rng;

/* Some make NaN of the zeros around an image, some -0 or a denormal of a sum. */
static float number(void) {
  static const float special[] = { 0.0f, -0.0f, 1e-45f, -1e-38f, 3e38f, INFINITY, NAN };
  uint32_t word = tn_rng_next(&rng);
  if (word % 2048 < 7) return special[word % 2048];
  return (float)(int32_t)word * (word % 64 == 8 ? 1e-30f : 0x1p-31f);
}

static tn_view make(int rank, int64_t a, int64_t b, int64_t c, int64_t d) {
  tn_shape dims = rank == 4 ? tn_shape_make(4, a, b, c, d) : tn_shape_make(2, a, b);
  size_t count = (size_t)tn_shape_count(&dims);
  float *memory = aligned_alloc(64, (count * sizeof *memory + 63) / 64 * 64);
  assert_non_null(memory);
  for (size_t i = 0; i < count; i++) memory[i] = number();
  return tn_view_make(memory, TN_F32, &dims);
}

static int64_t places(const shape *s, int axis) {
  int length = axis == 0 ? s->height : s->width;
  return (length + s->low[axis] + s->high[axis] - s->window[axis]) / s->step[axis] + 1;
}

static void run_ref(tn_op op, const tn_attrs *attrs, const tn_view *in, int count, const tn_view *out) {
  tn_fault fault = { 0 };
  tn_kernel_call call = { .op = op, .attrs = attrs, .in = in, .count = count, .out = out, .threads = 1,
                          .fault = &fault };
  assert_true(tn_backend_run(tn_backend_ref(), &call));
}

/* By every kernel; how many there are. */
static int compare(const shape *s, tn_op op, const tn_attrs *attrs, const tn_view *in,
                   const tn_view *expected) {
  tn_view got = make(2, expected->dim[0], expected->dim[1], 0, 0);
  size_t bytes = (size_t)tn_view_count(expected) * sizeof(float);
  emulated_card card;
  tn_fault fault = { 0 };
  int kernels = 0;
  emulated_card_init(&card);
  tn_kernel_call call = { .op = op, .attrs = attrs, .in = in, .count = 2, .out = &got, .threads = 1,
                          .fault = &fault, .queue = &card.queue };
  for (int k = -1; (k = tn_card_windows_kernel(&call, k)) >= 0; kernels++) {
    memset(got.data, 0x5a, bytes);
    assert_true(tn_card_windows_by(&call, k));
    if (memcmp(got.data, expected->data, bytes) != 0)
      fail_msg("kernel %d: %d images of %dx%dx%d, windows of %dx%d, %d outputs", k, s->images, s->height,
               s->width, s->channels, s->window[0], s->window[1], s->outputs);
  }
  memset(got.data, 0x5a, bytes);
  assert_true(tn_backend_cuda()->fusions[TN_FUSION_WINDOWS](&call));
  assert_memory_equal(got.data, expected->data, bytes);
  free(got.data);
  return kernels;
}

static void check(const shape *s) {
  int64_t down = places(s, 0), across = places(s, 1), count = s->images * down * across;
  int64_t length = s->window[0] * s->window[1] * s->channels;
  tn_attrs attrs = { .window = { s->window[0], s->window[1] } };
  for (int k = 0; k < 2; k++)
    attrs.low[k] = s->low[k], attrs.high[k] = s->high[k], attrs.step[k] = s->step[k];
  tn_view image = make(4, s->images, s->height, s->width, s->channels);
  tn_view windows = make(4, s->images, down, across, length);
  tn_view weights = make(2, length, s->outputs, 0, 0), slopes = make(2, count, s->outputs, 0, 0);
  tn_view product = make(2, count, s->outputs, 0, 0), gradient = make(2, length, s->outputs, 0, 0);
  tn_view rows = tn_view_make(windows.data, TN_F32, &(tn_shape){ .rank = 2, .dim = { count, length } });
  tn_view turned = rows;
  turned.dim[0] = length, turned.dim[1] = count, turned.stride[0] = 1, turned.stride[1] = length;
  run_ref(TN_OP_PATCHES, &attrs, &image, 1, &windows);
  run_ref(TN_OP_MATMUL, &(tn_attrs){ 0 }, (tn_view[]){ rows, weights }, 2, &product);
  run_ref(TN_OP_MATMUL, &(tn_attrs){ 0 }, (tn_view[]){ turned, slopes }, 2, &gradient);
  assert_int_equal(compare(s, TN_OP_PATCHES, &attrs, (tn_view[]){ image, weights }, &product), 2);
  assert_int_equal(compare(s, TN_OP_MATMUL, &attrs, (tn_view[]){ image, slopes }, &gradient), 2);
  free(image.data), free(windows.data), free(weights.data), free(slopes.data);
  free(product.data), free(gradient.data);
}

static void windows_are_read_in_their_images(void **state) {
  (void)state;
  static const shape shapes[] = {
    { 2, 9, 11, 4, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 16 },   /* zeros around */
    { 3, 8, 7, 8, { 3, 3 }, { 0, 0 }, { 0, 0 }, { 1, 1 }, 32 },    /* none */
    { 2, 9, 11, 5, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, 19 },   /* every other place */
    { 1, 28, 28, 1, { 5, 5 }, { 2, 2 }, { 2, 2 }, { 1, 1 }, 6 },   /* one image of one channel */
    { 2, 6, 5, 7, { 1, 1 }, { 0, 0 }, { 0, 0 }, { 1, 1 }, 9 },     /* windows of one place */
    { 2, 6, 5, 1, { 1, 1 }, { 0, 0 }, { 0, 0 }, { 2, 3 }, 1 },     /* and of one element */
    { 1, 1, 40, 3, { 1, 4 }, { 0, 1 }, { 0, 2 }, { 1, 3 }, 33 },   /* images of one line */
    { 4, 5, 1, 3, { 3, 1 }, { 2, 0 }, { 0, 0 }, { 1, 1 }, 5 },     /* lines of one place */
    { 2, 3, 3, 2, { 3, 3 }, { 2, 2 }, { 2, 2 }, { 1, 1 }, 70 },    /* windows as large as the image */
    { 1, 4, 4, 3, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 2, 2 }, 12 },    /* windows that are zeros alone */
    { 5, 12, 10, 33, { 3, 2 }, { 1, 0 }, { 1, 1 }, { 1, 2 }, 65 }, /* several tiles, and what is left over */
  };
  tn_rng_init(&rng, 5);
  int small = getenv("TERN_TEST_EFFORT") != NULL;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes - (size_t)small; i++) check(&shapes[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(windows_are_read_in_their_images),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
