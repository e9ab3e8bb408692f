/* tests/unit/base_machine.c: how much memory our group of processes may have, in made-up systems. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkdtemp */
#endif
#include "base/machine.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base_support.h"

static char root[] = "/tmp/tern-machine-XXXXXX";

static void write_file(const char *path, const char *text) {
  char full[512];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = 0;
    (void)mkdir(full, 0777);
    *at = '/';
  }
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int begin(void **state) {
  (void)state;
  memcpy(root + sizeof root - 7, "XXXXXX", 6);
  return mkdtemp(root) ? 0 : 1;
}

static int end(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command);
}

static void a_system_that_says_nothing_has_no_limit(void **state) {
  (void)state;
  assert_int_equal(tn_machine_memory_in(root), 0);
  write_file("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:     1000 kB\n");
  assert_int_equal(tn_machine_memory_in(root), 1024000);
}

/* v2: the least of all groups around us counts. */
static void the_tightest_group_around_us_counts(void **state) {
  (void)state;
  write_file("/proc/meminfo", "MemAvailable: 1000000 kB\n");
  write_file("/proc/self/cgroup", "0::/user.slice/job/inner\n");
  write_file("/sys/fs/cgroup/user.slice/job/inner/memory.max", "max\n");
  write_file("/sys/fs/cgroup/user.slice/job/memory.max", "8000000\n");
  write_file("/sys/fs/cgroup/user.slice/job/memory.current", "3000000\n");
  write_file("/sys/fs/cgroup/user.slice/memory.max", "90000000\n");
  write_file("/sys/fs/cgroup/user.slice/memory.current", "10\n");
  assert_int_equal(tn_machine_memory_in(root), 5000000);
  write_file("/sys/fs/cgroup/user.slice/job/memory.stat", "anon 5\ninactive_file 1000000\n");
  assert_int_equal(tn_machine_memory_in(root), 6000000);
  write_file("/sys/fs/cgroup/user.slice/job/inner/memory.high", "4000000\n");
  write_file("/sys/fs/cgroup/user.slice/job/inner/memory.current", "1\n");
  assert_int_equal(tn_machine_memory_in(root), 3999999);
}

/* Inside a container the path is "/", or one of the host that is not there. */
static void a_container_sees_the_topmost_group(void **state) {
  (void)state;
  static const char *const names[] = { "0::/\n", "0::/docker/0123\n", "0::/../other\n", "" };
  write_file("/sys/fs/cgroup/memory.max", "700000\n");
  write_file("/sys/fs/cgroup/memory.current", "100000\n");
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    write_file("/proc/self/cgroup", names[i]);
    assert_int_equal(tn_machine_memory_in(root), 600000);
  }
}

static void groups_of_the_first_version_are_found(void **state) {
  (void)state;
  write_file("/proc/self/cgroup", "12:cpu,cpuacct:/c\n9:memory:/lxc/one\n0::/\n");
  write_file("/sys/fs/cgroup/memory/lxc/one/memory.limit_in_bytes", "5000000\n");
  write_file("/sys/fs/cgroup/memory/lxc/one/memory.usage_in_bytes", "4000000\n");
  write_file("/sys/fs/cgroup/memory/lxc/one/memory.stat", "cache 1\ntotal_inactive_file 500000\n");
  assert_int_equal(tn_machine_memory_in(root), 1500000);
  write_file("/sys/fs/cgroup/memory/lxc/memory.limit_in_bytes", "1000\n");
  assert_int_equal(tn_machine_memory_in(root), 1000);
}

static void a_full_group_and_odd_numbers_are_survived(void **state) {
  (void)state;
  write_file("/proc/self/cgroup", "0::/\n");
  write_file("/sys/fs/cgroup/memory.max", "1600\n");
  write_file("/sys/fs/cgroup/memory.current", "9999999999999999999999999\n");
  assert_int_equal(tn_machine_memory_in(root), 1600);
  write_file("/sys/fs/cgroup/memory.current", "1600\n");
  assert_int_equal(tn_machine_memory_in(root), 100);
  write_file("/sys/fs/cgroup/memory.max", "99999999999999999999999\n");
  assert_int_equal(tn_machine_memory_in(root), 0);
}

#define IN_A_SYSTEM(test) cmocka_unit_test_setup_teardown(test, begin, end)
int main(void) {
  const struct CMUnitTest tests[] = {
    IN_A_SYSTEM(a_system_that_says_nothing_has_no_limit),
    IN_A_SYSTEM(the_tightest_group_around_us_counts),
    IN_A_SYSTEM(a_container_sees_the_topmost_group),
    IN_A_SYSTEM(groups_of_the_first_version_are_found),
    IN_A_SYSTEM(a_full_group_and_odd_numbers_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
