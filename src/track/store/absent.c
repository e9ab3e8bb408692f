/* track/store/absent.c: the store of a build without SQLite: it cannot be opened.
 *
 * The other functions need an open store and are therefore never called. */
#include "track/store/store.h"

#ifndef TN_HAVE_SQLITE
bool tn_store_load(void) { return false; }
tn_store *tn_store_open(tn_heap *heap, const char *path, tn_store_mode mode, tn_diags *diags, bool *absent) {
  (void)heap, (void)mode;
  if (absent) *absent = false;
  tn_report(diags, TN_DIAG_E_STORE, TN_NOWHERE, TN_STR("path", path),
            TN_STR("reason", "this build has no SQLite"));
  return NULL;
}
tn_store *tn_store_open_for(tn_heap *heap, const char *path, tn_store_mode mode, double patience,
                            tn_diags *diags, bool *absent) {
  (void)patience;
  return tn_store_open(heap, path, mode, diags, absent);
}
void tn_store_close(tn_store *store) { (void)store; }
void tn_store_wait_at_most(tn_store *store, double seconds) { (void)store, (void)seconds; }
bool tn_store_was_held(const tn_store *store) {
  (void)store;
  return false;
}
bool tn_store_begin(tn_store *store, const tn_run_row *row, int64_t step, int64_t *id) {
  (void)store, (void)row, (void)step, (void)id;
  return false;
}
bool tn_store_add(tn_store *store, int64_t id, int64_t first, const float *losses, size_t count,
                  const tn_run_eval *evals, size_t eval_count, double seconds) {
  (void)store, (void)id, (void)first, (void)losses, (void)count, (void)evals, (void)eval_count, (void)seconds;
  return false;
}
bool tn_store_end(tn_store *store, int64_t id, const char *status, int64_t step, tn_str weights_sha256,
                  double seconds) {
  (void)store, (void)id, (void)status, (void)step, (void)weights_sha256, (void)seconds;
  return false;
}
bool tn_store_remove(tn_store *store, const tn_run_row *row, int64_t id, bool *removed) {
  (void)store, (void)row, (void)id, (void)removed;
  return false;
}
bool tn_store_annotate(tn_store *store, int64_t id, tn_str tags, tn_str notes) {
  (void)store, (void)id, (void)tags, (void)notes;
  return false;
}
bool tn_store_list(tn_store *store, const tn_run_query *query, tn_arena *arena, tn_run_rows *out) {
  (void)store, (void)query, (void)arena, (void)out;
  return false;
}
bool tn_store_find_hyper(tn_store *store, tn_str name, tn_arena *arena, bool *found, tn_run_names *names) {
  (void)store, (void)name, (void)arena, (void)found, (void)names;
  return false;
}
bool tn_store_find(tn_store *store, const char *which, tn_arena *arena, tn_run_row *out, int64_t *id) {
  (void)store, (void)which, (void)arena, (void)out, (void)id;
  return false;
}
bool tn_store_losses(tn_store *store, int64_t id, tn_arena *arena, float **out, size_t *count) {
  (void)store, (void)id, (void)arena, (void)out, (void)count;
  return false;
}
bool tn_store_evals(tn_store *store, int64_t id, tn_arena *arena, tn_run_eval **out, size_t *count) {
  (void)store, (void)id, (void)arena, (void)out, (void)count;
  return false;
}
bool tn_store_curve(tn_store *store, int64_t id, int64_t first, int64_t end, size_t most, tn_arena *arena,
                    tn_run_curve *out) {
  (void)store, (void)id, (void)first, (void)end, (void)most, (void)arena, (void)out;
  return false;
}
bool tn_store_some_evals(tn_store *store, int64_t id, int64_t first, size_t most, tn_arena *arena,
                         tn_run_eval **out, size_t *count) {
  (void)store, (void)id, (void)first, (void)most, (void)arena, (void)out, (void)count;
  return false;
}
bool tn_store_first_difference(tn_store *store, int64_t one, int64_t other, int64_t *step) {
  (void)store, (void)one, (void)other, (void)step;
  return false;
}
#endif
