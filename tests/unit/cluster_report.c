/* What the user reads when ranks fail or differ: E_RANK_LOST and E_RANKS_DIFFER. */
#include "cluster/report.h"

#include "diag_support.h"

static void assert_says(fixture *f, const char *part) {
  if (!strstr(rendered(f), part)) fail_msg("%s", rendered(f));
}

static void a_lost_rank_is_named_with_its_machine_and_the_reason(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  tn_transport t = { .rank = 0, .size = 4, .failure = { .rank = 3, .host = "node7", .reason = "killed" } };
  assert_false(tn_cluster_report_failure(&f.diags, &t));
  assert_int_equal(tn_diags_status(&f.diags), 1);
  assert_says(&f, "error[E_RANK_LOST]: the training ended because rank 3 on node7 did: killed");
  assert_says(&f, "--resume");
  close_fixture(&f);
}

/* A rank that was asked to stop reports that, and not a failure of somebody. */
static void nothing_is_reported_while_no_rank_has_failed(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  tn_transport t = { .size = 2, .failure = { .rank = -1 } };
  assert_false(tn_cluster_report_failure(&f.diags, &t));
  assert_int_equal(f.diags.list.count, 0);
  close_fixture(&f);
}

static void a_difference_at_the_start_says_what_all_ranks_need(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  assert_false(tn_cluster_report_difference(&f.diags, 2, "the bytes of the data file", -1));
  assert_says(&f, "error[E_RANKS_DIFFER]: rank 2 differs from rank 0 in the bytes of the data file\n");
  assert_says(&f, "the same data");
  close_fixture(&f);
}

static void a_difference_while_training_names_the_step(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  assert_false(tn_cluster_report_difference(&f.diags, 1, "its parameters", 0));
  assert_says(&f, "rank 1 differs from rank 0 in its parameters after step 0");
  assert_says(&f, "tern verify");
  close_fixture(&f);
}

RUN_TESTS(cmocka_unit_test(a_lost_rank_is_named_with_its_machine_and_the_reason),
          cmocka_unit_test(nothing_is_reported_while_no_rank_has_failed),
          cmocka_unit_test(a_difference_at_the_start_says_what_all_ranks_need),
          cmocka_unit_test(a_difference_while_training_names_the_step))
