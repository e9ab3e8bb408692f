/* attack/attack.c: mutated inputs for every door of tern, each in a process of its own.
 *
 *   attack --tern PROGRAM --root SOURCES [--count N] [--seed S] [--jobs N] [--kind NAME] [--keep FOLDER]
 *   attack --tern PROGRAM --root SOURCES --only I [--seed S] [--keep FOLDER]
 *
 * Input I of a seed is always the same, whatever else runs (but for the times in a history of runs, which is
 * recorded when the attack begins). What tern does not survive is copied to
 * FOLDER/I with its command line; --only I repeats it. Status 1 when anything was found, 2 when the attack
 * itself cannot run. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack/judge.h"

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS 0x20 /* of Linux; POSIX does not have it */
#endif

enum { MOST_KINDS = 16, MOST_JOBS = 64 };

typedef struct {
  char tern[PATH_MAX]; /* empty: not given */
  const char *root, *kind, *keep;
  uint64_t count, seed, only;
  bool has_only;
  int jobs;
} settings;

/* What one worker has seen; in memory that the parent shares. */
typedef struct {
  uint64_t tried[MOST_KINDS], accepted[MOST_KINDS], found[JUDGED_COUNT];
} tally;

/* Settings --------------------------------------------------------------- */

static uint64_t number(const char *word) {
  char *end;
  uint64_t value = strtoull(word, &end, 10);
  if (*end || end == word) die("attack: %s is not a number", word);
  return value;
}

static void take(settings *s, const char *name, const char *value) {
  if (strcmp(name, "--tern") == 0) {
    if (!realpath(value, s->tern)) die("attack: there is no program %s", value);
  } else if (strcmp(name, "--root") == 0)
    s->root = value;
  else if (strcmp(name, "--count") == 0)
    s->count = number(value);
  else if (strcmp(name, "--seed") == 0)
    s->seed = number(value);
  else if (strcmp(name, "--jobs") == 0)
    s->jobs = (int)number(value);
  else if (strcmp(name, "--kind") == 0)
    s->kind = value;
  else if (strcmp(name, "--keep") == 0)
    s->keep = value;
  else if (strcmp(name, "--only") == 0)
    s->only = number(value), s->has_only = true;
  else
    die("attack: there is no option %s", name);
}

static settings read_settings(int count, char **words) {
  settings s = { .count = 1000, .seed = 1, .jobs = 1 };
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) die("attack: %s needs a value", words[i]);
    take(&s, words[i], words[i + 1]);
  }
  if (!s.tern[0] || !s.root) die("attack: --tern PROGRAM and --root SOURCES are needed");
  if (s.jobs < 1 || s.jobs > MOST_JOBS) die("attack: --jobs is 1 to %d", MOST_JOBS);
  return s;
}

/* One input -------------------------------------------------------------- */

static size_t kind_of(const settings *s, tn_rng *rng) {
  size_t kind = kind_pick(rng);
  for (size_t i = 0; s->kind && i < kind_count(); i++)
    if (strcmp(kind_name(i), s->kind) == 0) return i;
  return kind;
}

static void keep(const settings *s, uint64_t index, const attempt *a, const char *folder) {
  text command = { 0 };
  for (int i = 0; i < a->count; i++) text_addf(&command, "%s'%s'", i ? " " : "", a->words[i]);
  text_addf(&command, "%s\n", a->input.bytes ? " < INPUT" : "");
  printf("  %s", command.bytes);
  if (s->keep) {
    text path = { 0 }, to = { 0 };
    text_addf(&to, "%s/%llu", s->keep, (unsigned long long)index);
    mkdir(s->keep, 0777);
    const char *copy[] = { "cp", "-r", folder, to.bytes, NULL };
    outcome done = run(copy, "/", NULL, 60, RUN_MERGED);
    outcome_free(&done);
    text_addf(&path, "%s/COMMAND", to.bytes);
    write_file(path.bytes, command);
    if (a->input.bytes) {
      path.length = 0;
      text_addf(&path, "%s/INPUT", to.bytes);
      write_file(path.bytes, a->input);
    }
    free(path.bytes);
    free(to.bytes);
  }
  free(command.bytes);
}

static void try_one(const settings *s, const world *w, const char *folder, uint64_t index, tally *seen) {
  tn_rng rng;
  attempt a;
  bool accepted;
  tn_rng_init(&rng, tn_rng_mix(s->seed, index));
  size_t kind = kind_of(s, &rng);
  kind_make(kind, w, folder, &rng, &a);
  judged what = judge(&a, folder, &accepted);
  seen->tried[kind]++;
  seen->accepted[kind] += accepted;
  seen->found[what]++;
  if (what != JUDGED_FINE || s->has_only) {
    printf("%s %llu: %s\n", kind_name(kind), (unsigned long long)index, judged_name(what));
    keep(s, index, &a, folder);
    fflush(stdout);
  }
  attempt_free(&a);
  empty_folder(folder);
}

/* All of them ------------------------------------------------------------ */

static void work(const settings *s, const world *w, int worker, const char *scratch, tally *seen) {
  text folder = { 0 };
  text_addf(&folder, "%s/%d", scratch, worker);
  if (mkdir(folder.bytes, 0777) != 0) die("mkdir %s: %s", folder.bytes, strerror(errno));
  if (s->has_only) {
    if (worker == 0) try_one(s, w, folder.bytes, s->only, seen);
  } else {
    for (uint64_t i = (uint64_t)worker; i < s->count; i += (uint64_t)s->jobs)
      try_one(s, w, folder.bytes, i, seen);
  }
  free(folder.bytes);
}

static void start_workers(const settings *s, const world *w, const char *scratch, tally *seen) {
  fflush(NULL);
  for (int i = 0; i < s->jobs; i++) {
    pid_t child = fork();
    if (child < 0) die("fork: %s", strerror(errno));
    if (child == 0) {
      work(s, w, i, scratch, &seen[i]);
      fflush(NULL);
      _exit(0);
    }
  }
}

static bool all_ended_well(int jobs) {
  bool well = true;
  for (int i = 0; i < jobs; i++) {
    int state = 0;
    while (wait(&state) < 0 && errno == EINTR) continue;
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) well = false;
  }
  return well;
}

/* "attack: 1000 inputs (programs 140, ...): 310 accepted; ended by a signal 0, ..." */
static bool report(const tally *seen, int jobs) {
  tally sum = { 0 };
  uint64_t tried = 0, accepted = 0, found = 0;
  for (int j = 0; j < jobs; j++) {
    for (size_t k = 0; k < kind_count(); k++)
      sum.tried[k] += seen[j].tried[k], sum.accepted[k] += seen[j].accepted[k];
    for (size_t f = 0; f < JUDGED_COUNT; f++) sum.found[f] += seen[j].found[f];
  }
  for (size_t k = 0; k < kind_count(); k++) {
    tried += sum.tried[k];
    accepted += sum.accepted[k];
    printf("  %-9s %7llu inputs, %6llu accepted\n", kind_name(k), (unsigned long long)sum.tried[k],
           (unsigned long long)sum.accepted[k]);
  }
  printf("attack: %llu inputs, %llu accepted", (unsigned long long)tried, (unsigned long long)accepted);
  for (size_t f = 1; f < JUDGED_COUNT; f++) {
    printf("%s %llu %s", f == 1 ? ";" : ",", (unsigned long long)sum.found[f], judged_name((judged)f));
    found += sum.found[f];
  }
  printf("\n");
  return tried > 0 && found == 0;
}

int main(int count, char **words) {
  settings s = read_settings(count, words);
  world w;
  char *scratch = scratch_new();
  text first = { 0 };
  tally *seen =
      mmap(NULL, sizeof(tally) * MOST_JOBS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (seen == MAP_FAILED) die("mmap: %s", strerror(errno));
  surroundings(s.tern, s.root);
  text_addf(&first, "%s/first", scratch);
  if (mkdir(first.bytes, 0777) != 0) die("mkdir %s: %s", first.bytes, strerror(errno));
  world_make(&w, s.tern, s.root, first.bytes);
  start_workers(&s, &w, scratch, seen);
  bool well = all_ended_well(s.jobs);
  bool held = report(seen, s.jobs);
  scratch_free(scratch);
  if (!well) die("attack: a worker ended early");
  fflush(NULL);
  _exit(held ? 0 : 1); /* without taking the world apart, which a leak sanitizer would ask for */
}
