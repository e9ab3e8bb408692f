/* track/store/columns.c: looks up columns of a run by name. */
#include "track/store/store.h"

static const tn_run_column_info columns[TN_RUN_COLUMN_COUNT] = {
#define TN_RUN_COLUMN(id, name, type, differs) [TN_RUN_##id] = { name, type, TN_RUN_DIFFERS_##differs },
#include "track/store/columns.def"
};

const tn_run_column_info *tn_run_column_of(tn_run_column column) { return &columns[column]; }

/* Lists have shorter titles for these. */
static tn_str full_name(tn_str name) {
  return tn_str_is(name, "run")       ? TN_LIT("id")
         : tn_str_is(name, "time")    ? TN_LIT("seconds")
         : tn_str_is(name, "weights") ? TN_LIT("weights_sha256")
                                      : name;
}

bool tn_run_column_find(tn_str name, tn_run_column *out) {
  name = full_name(name);
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (!tn_str_is(name, columns[i].name)) continue;
    *out = (tn_run_column)i;
    return true;
  }
  return false;
}
