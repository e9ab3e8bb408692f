/* tests/unit/cluster_neighbours.c: a rank of this machine that ends is seen. */
#include "cluster/neighbours.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base_support.h"
#include "cluster/transport.h"

/* A process that waits to be killed. */
static pid_t start(void) {
  pid_t child = fork();
  assert_true(child >= 0);
  while (child == 0) (void)pause();
  return child;
}

static void end(pid_t child) {
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

/* This process is rank 0, and the child another one. */
static void set_addresses(tn_neighbour_address *ranks, pid_t child) {
  tn_neighbour_address_of_this(&ranks[0]);
  assert_int_equal(ranks[0].process, getpid());
  assert_true(ranks[0].machine[0] != 0);
  ranks[1] = ranks[0];
  ranks[1].process = child;
}

static void a_rank_that_ends_is_found(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_neighbours neighbours;
  tn_neighbour_address ranks[2];
  pid_t child = start();
  set_addresses(ranks, child);
  assert_true(tn_neighbours_watch(&neighbours, &heap, ranks, 2, 0));
  assert_int_equal(tn_neighbours_find_lost(&neighbours), -1);
  end(child);
  assert_int_equal(tn_neighbours_find_lost(&neighbours), 1);
  assert_int_equal(tn_neighbours_find_lost(&neighbours), 1);
  tn_neighbours_free(&neighbours, &heap);
  assert_int_equal(tn_neighbours_find_lost(&neighbours), -1);
  assert_int_equal(heap.used, 0);
}

static int look(tn_neighbours *neighbours, int times) {
  for (int i = 1; i < times; i++) assert_int_equal(tn_neighbours_find_stopped(neighbours), -1);
  return tn_neighbours_find_stopped(neighbours);
}

/* Also one that stops again: the count starts over. */
static void a_rank_that_stays_stopped_is_found(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_neighbours neighbours;
  tn_neighbour_address ranks[2];
  int status;
  pid_t child = start();
  set_addresses(ranks, child);
  assert_true(tn_neighbours_watch(&neighbours, &heap, ranks, 2, 0));
  assert_int_equal(look(&neighbours, 2 * TN_STOPPED_LOOKS), -1);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(kill(child, SIGSTOP), 0);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_int_equal(look(&neighbours, TN_STOPPED_LOOKS - 1), -1);
    if (i == 1) break;
    assert_int_equal(kill(child, SIGCONT), 0);
    assert_int_equal(waitpid(child, &status, WCONTINUED), child);
    assert_int_equal(look(&neighbours, 1), -1);
  }
  assert_int_equal(look(&neighbours, 1), 1);
  assert_int_equal(tn_neighbours_find_lost(&neighbours), -1);
  end(child);
  assert_int_equal(look(&neighbours, 1), -1);
  tn_neighbours_free(&neighbours, &heap);
  assert_int_equal(heap.used, 0);
}

/* The same number means another process there. */
static void ranks_of_other_machines_are_not_watched(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_neighbours neighbours;
  tn_neighbour_address ranks[4];
  pid_t child = start();
  set_addresses(ranks, child);
  ranks[2] = ranks[3] = ranks[1];
  ranks[1].machine[3] ^= 1;
  ranks[2].space++;
  ranks[3].machine[0] = 0;
  assert_true(tn_neighbours_watch(&neighbours, &heap, ranks, 4, 0));
  end(child);
  assert_int_equal(tn_neighbours_find_lost(&neighbours), -1);
  tn_neighbours_free(&neighbours, &heap);
}

static void a_machine_without_a_name_has_no_neighbours(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_neighbours neighbours;
  tn_neighbour_address ranks[2];
  pid_t child = start();
  set_addresses(ranks, child);
  ranks[0].machine[0] = ranks[1].machine[0] = 0;
  assert_true(tn_neighbours_watch(&neighbours, &heap, ranks, 2, 0));
  end(child);
  assert_int_equal(tn_neighbours_find_lost(&neighbours), -1);
  tn_neighbours_free(&neighbours, &heap);
}

static void without_memory_no_rank_is_watched(void **state) {
  (void)state;
  tn_neighbour_address ranks[1];
  tn_neighbour_address_of_this(&ranks[0]);
  for (int i = 1; i <= 2; i++) {
    tn_heap heap = { .fail_at = (size_t)i };
    tn_neighbours neighbours = { 0 };
    assert_false(tn_neighbours_watch(&neighbours, &heap, ranks, 1, 0));
    assert_int_equal(heap.used, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_rank_that_ends_is_found),
    cmocka_unit_test(a_rank_that_stays_stopped_is_found),
    cmocka_unit_test(ranks_of_other_machines_are_not_watched),
    cmocka_unit_test(a_machine_without_a_name_has_no_neighbours),
    cmocka_unit_test(without_memory_no_rank_is_watched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
