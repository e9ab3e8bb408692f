/* lang/ail/blocks.h: how the fields of train, eval and dataset are read.
 *
 * A field is a literal or a constant; only the loss is an expression. A field that is unknown,
 * repeated, of the wrong kind or without effect is E_SYNTAX_ERROR, unless the reference has a
 * specific code. */
#ifndef TN_LANG_AIL_BLOCKS_H
#define TN_LANG_AIL_BLOCKS_H

#include "lang/ail/internal.h"

tn_str tn_ail_field_name(const tn_ail *program, const tn_ail_field *field);
/* Reports "`steps` {what}" at the field's value. False. */
bool tn_ail_ill_typed(const tn_ail *program, const tn_ail_field *field, const char *what);

/* Each leaves *out as it is after reporting. */
void tn_ail_read_count(const tn_ail *program, const tn_ail_field *field, int64_t least, int64_t *out);
void tn_ail_read_amount(const tn_ail *program, const tn_ail_field *field, double *out);
bool tn_ail_read_text(const tn_ail *program, const tn_ail_field *field, tn_str *out);
/* What `find` gives for a string; `fallback` after reporting that it gives -1. */
int tn_ail_read_choice(const tn_ail *program, const tn_ail_field *field, int (*find)(tn_str name),
                       const char *what, int fallback);
/* A word, bare or quoted. Reports nothing. */
bool tn_ail_read_word(const tn_ail *program, const tn_ail_expr *expr, tn_str *out);

typedef enum { TN_AIL_BLOCK_TRAIN, TN_AIL_BLOCK_EVAL, TN_AIL_BLOCK_DATASET } tn_ail_block_kind;
#define TN_AIL_BLOCK_KINDS 3

/* Takes every field; false: it is not one of this block. Unknown and repeated fields are reported. */
typedef bool (*tn_ail_take_field)(tn_ail *program, const tn_ail_field *field);
void tn_ail_take_fields(tn_ail *program, tn_ail_block_kind block, const tn_ail_fields *fields,
                        tn_ail_take_field take);
/* Also true where a field could not be read. */
bool tn_ail_has_field(const tn_ail *program, const tn_ail_fields *fields, const char *name);

/* Reports that the block has no such field, with a suggestion and the fields it has. */
void tn_ail_refuse_field(const tn_ail *program, tn_ail_block_kind block, const tn_ail_field *field);

void tn_ail_check_train(tn_ail *program); /* blocks_train.c */
/* When the batch is known. */
void tn_ail_apply_accumulate(tn_ail *program);
void tn_ail_check_eval(tn_ail *program);  /* blocks_eval.c */
#endif
