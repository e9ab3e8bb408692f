/* data/jsonl.h: one JSON object per line becomes a row.
 *
 * Columns are selected by key; other keys are skipped, and of a repeated key the
 * last value counts. A number of F32 and I32 columns may be a list, or
 * lists of lists, whose items follow each other. true and false are 1 and 0.
 * Class names are strings, true and false; texts are strings. An absent key
 * and null are missing values. */
#ifndef TN_DATA_JSONL_H
#define TN_DATA_JSONL_H

#include "data/csv.h"

/* The request is that of a table, without delimiter and header; every column has picks, by name. The first
 * mistake ends reading: false, *fault says what and where, and *out is empty. */
bool tn_jsonl_read(tn_heap *heap, const tn_csv_request *request, tn_columns *out, tn_data_fault *fault);
#endif
