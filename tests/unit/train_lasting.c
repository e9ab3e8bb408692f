/* tests/unit/train_lasting.c: parameters of one process, and of ranks that share memory. */
#include "train/lasting.h"

#include "base_support.h"

#define FLOATS 1500 /* more than a chunk */

static char memory[64 * 4096];
static size_t taken;
static bool has_memory;

static void *share(tn_transport *t, size_t bytes) {
  (void)t;
  taken = bytes;
  return has_memory ? memset(memory, 0, sizeof memory) : NULL;
}

typedef struct {
  tn_heap heap;
  tn_arena arena;
  tn_transport transport;
  tn_lasting lasting;
} fixture;

static bool make(fixture *f, bool shared, size_t limit) {
  tn_type types[2] = { { .dtype = TN_F32, .shape = tn_shape_make(2, 3, FLOATS / 3) },
                       { .dtype = TN_F64, .shape = tn_shape_make(1, 4) } };
  *f = (fixture){ .transport = { .size = 2, .share = share } };
  tn_arena_init(&f->arena, &f->heap);
  f->heap.limit = limit;
  return tn_lasting_make(&f->lasting, &f->heap, &f->arena, types, 2, shared ? &f->transport : NULL, 2);
}

static void end(fixture *f) {
  tn_lasting_free(&f->lasting);
  tn_arena_free(&f->arena);
  assert_int_equal(f->heap.used, 0);
}

static float *first(const fixture *f) { return f->lasting.tensors[0].view.data; }

static void alone_a_share_is_the_tensor_itself(void **state) {
  (void)state;
  fixture f;
  tn_tensor kept;
  assert_true(make(&f, false, 0));
  assert_null(f.lasting.window);
  assert_true(first(&f)[FLOATS - 1] == 0);
  assert_true(tn_lasting_share(&f.lasting, 0, &kept));
  first(&f)[7] = 3;
  assert_true(((float *)kept.view.data)[7] == 3);
  tn_tensor_unref(&kept);
  end(&f);
}

static void what_counts_stays_until_the_copies_swap(void **state) {
  (void)state;
  fixture f;
  tn_elements piece = { 1024, FLOATS - 1024 };
  has_memory = true;
  assert_true(make(&f, true, 0));
  assert_int_equal(taken, 2 * 3 * 4096); /* twice two chunks and one */
  assert_int_equal(f.lasting.tensors[0].view.dim[1], FLOATS / 3);
  for (int i = 0; i < FLOATS; i++) first(&f)[i] = (float)i;
  tn_view now = tn_lasting_now(&f.lasting, 0, piece), next = tn_lasting_next(&f.lasting, 0, piece);
  assert_int_equal(now.rank, 1);
  assert_int_equal(now.dim[0], piece.count);
  assert_true(((float *)now.data)[1] == 1025);
  assert_true(((float *)next.data)[1] == 0);
  for (int i = 0; i < piece.count; i++) ((float *)next.data)[i] = -1;
  assert_true(first(&f)[1025] == 1025);
  tn_lasting_swap(&f.lasting);
  assert_true(first(&f)[1025] == -1);
  assert_true(first(&f)[1023] == 0); /* another rank's */
  assert_ptr_equal(tn_lasting_next(&f.lasting, 0, piece).data, now.data);
  tn_lasting_swap(&f.lasting);
  assert_true(first(&f)[1025] == 1025);
  end(&f);
}

static void tensors_do_not_touch(void **state) {
  (void)state;
  fixture f;
  has_memory = true;
  assert_true(make(&f, true, 0));
  double *second = f.lasting.tensors[1].view.data;
  for (int i = 0; i < 4; i++) second[i] = 1;
  for (int i = 0; i < FLOATS; i++) assert_true(first(&f)[i] == 0);
  assert_true((char *)second - (char *)first(&f) == 2 * 4096);
  end(&f);
}

static void a_share_of_shared_memory_is_a_copy(void **state) {
  (void)state;
  fixture f;
  tn_tensor kept;
  has_memory = true;
  assert_true(make(&f, true, 0));
  first(&f)[7] = 3;
  assert_true(tn_lasting_share(&f.lasting, 0, &kept));
  first(&f)[7] = 4;
  assert_true(((float *)kept.view.data)[7] == 3);
  tn_tensor_unref(&kept);
  end(&f);
}

static void without_shared_memory_each_has_its_own(void **state) {
  (void)state;
  fixture f;
  has_memory = false;
  assert_true(make(&f, true, 0));
  assert_null(f.lasting.window);
  assert_non_null(f.lasting.tensors[0].buffer);
  end(&f);
}

/* A rank answers for what it writes: half of both copies. */
static void shared_memory_counts(void **state) {
  (void)state;
  fixture f;
  has_memory = true;
  assert_true(make(&f, true, 0));
  assert_int_equal(f.lasting.counted, 3 * 4096);
  assert_true(f.heap.used > f.lasting.counted);
  size_t used = f.heap.used;
  end(&f);
  assert_true(make(&f, true, used));
  end(&f);
  assert_false(make(&f, true, used - 1));
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(alone_a_share_is_the_tensor_itself),
    cmocka_unit_test(what_counts_stays_until_the_copies_swap),
    cmocka_unit_test(tensors_do_not_touch),
    cmocka_unit_test(a_share_of_shared_memory_is_a_copy),
    cmocka_unit_test(without_shared_memory_each_has_its_own),
    cmocka_unit_test(shared_memory_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
