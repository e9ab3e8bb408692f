/* tests/unit/cluster_window.c: memory that processes share. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* memfd_create */
#endif
#include "cluster/window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base_support.h"

static void every_process_sees_what_one_writes(void **state) {
  (void)state;
  tn_window window;
  int descriptor = tn_window_new();
  assert_true(descriptor >= 0);
  pid_t child = fork();
  assert_true(child >= 0);
  assert_true(tn_window_map(&window, descriptor)); /* each maps it for itself */
  char *first = tn_window_take(&window, 10), *second = tn_window_take(&window, 10);
  if (child == 0) {
    second[9] = 7;
    _exit(first[0] == 0 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(second[9], 7);
  assert_int_equal(second[8], 0);
  tn_window_unmap(&window);
  close(descriptor);
}

static void parts_are_aligned_and_end_with_the_window(void **state) {
  (void)state;
  tn_window window;
  int descriptor = tn_window_new();
  assert_true(tn_window_map(&window, descriptor));
  close(descriptor); /* the mapping stays */
  char *first = tn_window_take(&window, 1), *second = tn_window_take(&window, 1);
  assert_int_equal((uintptr_t)first % 4096, 0);
  assert_int_equal((uintptr_t)second % 4096, 0);
  assert_true(second > first);
  assert_null(tn_window_take(&window, SIZE_MAX));
  assert_null(tn_window_take(&window, window.bytes - window.used + 1));
  assert_non_null(tn_window_take(&window, window.bytes - window.used));
  assert_null(tn_window_take(&window, 1));
  tn_window_unmap(&window);
  assert_null(tn_window_take(&window, 0));
}

/* Who could make it smaller would end every process that touches it. */
static void its_size_cannot_be_changed(void **state) {
  (void)state;
  tn_window window;
  int sealed = tn_window_new(), open = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  assert_int_equal(ftruncate(sealed, 4096), -1);
  assert_int_equal(fcntl(sealed, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  assert_int_equal(ftruncate(open, 65536), 0);
  assert_false(tn_window_map(&window, open));
  assert_false(tn_window_map(&window, -1));
  assert_null(tn_window_take(&window, 1));
  close(sealed);
  close(open);
}

/* The window that a process with this limit makes: its size, 0 for none. In a process of its own. */
static size_t size_under(int limit, size_t most) {
  int ends[2], status;
  size_t bytes = 0;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    struct stat found = { 0 };
    (void)setrlimit(limit, &(struct rlimit){ most, most });
    int descriptor = tn_window_new();
    if (descriptor >= 0 && fstat(descriptor, &found) == 0) bytes = (size_t)found.st_size;
    _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(read(ends[0], &bytes, sizeof bytes), sizeof bytes);
  close(ends[0]);
  close(ends[1]);
  return bytes;
}

/* A file beyond the limit would be the end by SIGXFSZ. */
static void it_keeps_within_the_limits_of_the_process(void **state) {
  (void)state;
  assert_int_equal(size_under(RLIMIT_FSIZE, 0), 0);
  assert_int_equal(size_under(RLIMIT_FSIZE, 1000), 0);
  assert_int_equal(size_under(RLIMIT_FSIZE, 1 << 20), 1 << 20);
  assert_int_equal(size_under(RLIMIT_AS, 1 << 24), 1 << 22);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_process_sees_what_one_writes),
    cmocka_unit_test(parts_are_aligned_and_end_with_the_window),
    cmocka_unit_test(its_size_cannot_be_changed),
    cmocka_unit_test(it_keeps_within_the_limits_of_the_process),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
