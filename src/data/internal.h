/* data/internal.h: shared by the readers of data files. */
#ifndef TN_DATA_INTERNAL_H
#define TN_DATA_INTERNAL_H

#include "base/text.h"
#include "data/table.h"

typedef struct {
  const tn_table_request *request;
  tn_table *table;
  tn_diags *diags;
  tn_arena arena; /* for strings with escapes; reset after every line */
  uint32_t line;  /* from 1 */
  tn_str text;    /* of that line */
  bool any;       /* there was a row */
} tn_table_reader;

/* One line without its end. False after reporting. A blank line is not a row. */
bool tn_jsonl_line(tn_table_reader *reader, tn_str line);
bool tn_tsv_line(tn_table_reader *reader, tn_str line);

/* The features of the row follow `before` in the table's column: are there as many as in the
 * rows before? */
bool tn_table_check_width(tn_table_reader *reader, size_t before);
size_t tn_table_feature_count(const tn_table *table);
/* The same for labels that are lists. */
bool tn_table_check_label_width(tn_table_reader *reader, size_t before);
/* `label` is kept if labels are read and are not lists, which are already in the table. */
bool tn_table_add_row(tn_table_reader *reader, int64_t label);
bool tn_table_out_of_memory(tn_table_reader *reader);
/* The place of a byte of the line, in characters from 1. */
int64_t tn_table_column(const tn_table_reader *reader, const char *at);
#endif
