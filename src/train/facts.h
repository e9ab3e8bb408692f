/* train/facts.h: facts about the training data of a run, read back from data.json.
 *
 * A model that was trained on normalized columns, named classes or texts needs
 * the same statistics, names and vocabulary when it is given new rows
 * (rows_facts.c writes them). The file is untrusted: lengths are checked against
 * each other, and no claim about the program is believed. */
#ifndef TN_TRAIN_FACTS_H
#define TN_TRAIN_FACTS_H

#include "data/vocab.h"
#include "lang/training.h"

/* Of one input of the program. Members that the data did not need are NULL. */
typedef struct {
  bool known;           /* the data fed it */
  size_t width;         /* numbers in a row */
  float *fill;          /* what a missing number becomes; `width` numbers, as are the others */
  double *mean, *deviation;
  tn_str *classes;      /* names, by class number */
  size_t class_count;
  tn_vocab *vocab;      /* that makes tokens of texts */
} tn_input_facts;

typedef struct {
  tn_input_facts *inputs; /* by input of the program */
  size_t count;
} tn_facts;

/* NULL when it was read; else what is wrong with it (static). Memory that ran out is tn_facts_no_memory. The
 * tables lie in the arena, and tn_facts_free frees the rest in every case. */
extern const char tn_facts_no_memory[];
const char *tn_facts_read(tn_heap *heap, tn_str text, const tn_specs *specs, const tn_names *names,
                          tn_arena *arena, tn_facts *out);
void tn_facts_free(tn_facts *facts);
#endif
