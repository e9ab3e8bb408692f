/* tests/unit/base_machine.c: how much memory and how many cores our group of processes may have, in made-up
 * systems. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkdtemp, sched_setaffinity */
#endif
#include "base/machine.h"

#if defined(__linux__)
#include <sched.h>
#endif
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

/* ---- cores ---- */

static void cores_are_those_this_process_may_run_on(void **state) {
  (void)state;
  assert_true(tn_machine_cores() >= 1);
  assert_true(tn_machine_cores() <= tn_machine_processors());
#if defined(__linux__)
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_int_equal(tn_machine_processors(), 1);
  assert_int_equal(tn_machine_cores_in(root), 1);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(tn_machine_processors(), CPU_COUNT(&before));
  assert_int_equal(tn_machine_cores_in(root), CPU_COUNT(&before));
#endif
}

#if defined(__linux__)
/* With so many hundredths of a core in each tenth of a second, on this machine. */
static void expect_cores(const char *file, const char *text, int cores) {
  int processors = tn_machine_processors();
  write_file(file, text);
  assert_int_equal(tn_machine_cores_in(root), cores < processors ? cores : processors);
}

static void a_quota_is_rounded_to_whole_cores(void **state) {
  (void)state;
  const char *file = "/sys/fs/cgroup/cpu.max";
  write_file("/proc/self/cgroup", "0::/\n");
  expect_cores(file, "10000 100000\n", 1);
  expect_cores(file, "149000 100000\n", 1);
  expect_cores(file, "150000 100000\n", 2);
  expect_cores(file, "12500 5000\n", 3);
  expect_cores(file, "1600000 100000\n", 16);
  expect_cores(file, "max 100000\n", 16384);
}

static void invalid_quotas_are_ignored(void **state) {
  (void)state;
  static const char *const texts[] = { "", "max", "200000", "100000 0\n", "99999999999999999999999 100000\n",
                                       "18446744073709551 1\n", "\n\n", "-1 100000\n", "100000 -1\n" };
  for (size_t i = 0; i < COUNT_OF(texts); i++) expect_cores("/sys/fs/cgroup/cpu.max", texts[i], 16384);
}

static void the_tightest_quota_around_us_counts(void **state) {
  (void)state;
  write_file("/proc/self/cgroup", "0::/pod/box\n");
  expect_cores("/sys/fs/cgroup/pod/box/cpu.max", "900000 100000\n", 9);
  expect_cores("/sys/fs/cgroup/pod/cpu.max", "100000 100000\n", 1);
  expect_cores("/sys/fs/cgroup/pod/cpu.max", "max 100000\n", 9);
  expect_cores("/sys/fs/cgroup/pod/box/cpu.max", "50000 100000\n", 1);
}

/* v1: the controller is one of a list, and a name that only contains it is another. */
static void quotas_of_the_first_version_are_found(void **state) {
  (void)state;
  static const char *const lines[] = { "4:cpu,cpuacct:/job\n", "4:cpuacct,cpu:/job\n", "1:cpu:/job",
                                       "3:cpuset:/\n2:cpuacct:/other\n1:cpu:/job\n0::/\n" };
  write_file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    write_file("/proc/self/cgroup", lines[i]);
    expect_cores("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000\n", 1);
    expect_cores("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n", 16384);
  }
  write_file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000\n");
  write_file("/proc/self/cgroup", "3:cpuset:/job\n2:cpuacct:/job\nnonsense\n:\n::\n");
  assert_int_equal(tn_machine_cores_in(root), tn_machine_processors());
}
#endif

#define IN_A_SYSTEM(test) cmocka_unit_test_setup_teardown(test, begin, end)
int main(void) {
  const struct CMUnitTest tests[] = {
    IN_A_SYSTEM(a_system_that_says_nothing_has_no_limit),
    IN_A_SYSTEM(the_tightest_group_around_us_counts),
    IN_A_SYSTEM(a_container_sees_the_topmost_group),
    IN_A_SYSTEM(groups_of_the_first_version_are_found),
    IN_A_SYSTEM(a_full_group_and_odd_numbers_are_survived),
    IN_A_SYSTEM(cores_are_those_this_process_may_run_on),
#if defined(__linux__)
    IN_A_SYSTEM(a_quota_is_rounded_to_whole_cores),
    IN_A_SYSTEM(invalid_quotas_are_ignored),
    IN_A_SYSTEM(the_tightest_quota_around_us_counts),
    IN_A_SYSTEM(quotas_of_the_first_version_are_found),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
