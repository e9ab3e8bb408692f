/* data/report.h: reports errors of a data file as diagnostics. */
#ifndef TN_DATA_REPORT_H
#define TN_DATA_REPORT_H

#include "data/columns.h"
#include "diag/diag.h"

typedef struct {
  const char *path;
  tn_span at;         /* where the program names the file */
  tn_span columns_at; /* and the columns that the fault is about */
  tn_str input;       /* what says how long a row is; empty: the rows before */
  tn_span input_at;   /* where it does; TN_NOWHERE: nowhere */
  bool tokens;        /* the columns hold token ids */
} tn_data_place;

/* Returns false. A stop is not reported: it is not a mistake in the file. */
bool tn_data_report(const tn_data_fault *fault, const tn_data_place *place, tn_heap *heap, tn_diags *diags);
/* The file cannot be read. Returns false. */
bool tn_data_report_file(tn_file_status status, const char *path, tn_span at, tn_diags *diags);
#endif
