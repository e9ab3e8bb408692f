/* attack/cases.h: what is attacked, and how an input becomes files and a command line.
 *
 * A kind is a door of tern: program texts, sessions, data sets, weights and arrays, run folders, the
 * command line. Each writes the files of one attempt into an empty folder and says which words tern is
 * started with. */
#ifndef TN_ATTACK_CASES_H
#define TN_ATTACK_CASES_H

#include "attack/mutate.h"

enum { MOST_WORDS = 24, MOST_RUN_FILES = 16, LANGUAGES = 3 };

typedef struct {
  char *name; /* in the folder, "run/weights.safetensors" */
  text content;
} kept_file;

/* What attempts are made of. */
typedef struct {
  const char *tern;
  seeds programs[LANGUAGES]; /* ail, mind, ninth */
  seeds jsonl, tsv, npy, npz, safetensors, json;
  kept_file run[MOST_RUN_FILES]; /* a recorded training: its program, data, folder and database */
  size_t run_count;
} world;

typedef struct {
  char *words[MOST_WORDS + 1]; /* for execv */
  int count;
  text input; /* standard input */
  bool json;  /* standard output must be one JSON object */
} attempt;

/* Reads the seeds of a source tree and lets tern train once, in `folder`. */
void world_make(world *w, const char *tern, const char *root, const char *folder);

size_t kind_count(void);
size_t kind_pick(tn_rng *rng);
const char *kind_name(size_t kind);
/* Fills `folder`, which is empty. */
void kind_make(size_t kind, const world *w, const char *folder, tn_rng *rng, attempt *out);
void attempt_free(attempt *a);
#endif
