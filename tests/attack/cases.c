/* attack/cases.c: see cases.h. */
#define _XOPEN_SOURCE 700
#include "attack/cases.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const char *const endings[LANGUAGES] = { "ail", "mind", "nth" };
static const char *const languages[LANGUAGES] = { "ail", "mind", "ninth" };

/* Files and words -------------------------------------------------------- */

static void put_file(const char *folder, const char *name, text content) {
  text path = { 0 };
  text_addf(&path, "%s/%s", folder, name);
  for (char *slash = strchr(path.bytes + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(path.bytes, 0777) != 0 && errno != EEXIST) die("mkdir %s: %s", path.bytes, strerror(errno));
    *slash = '/';
  }
  write_file(path.bytes, content);
  free(path.bytes);
}

static void word(attempt *a, const char *format, ...) PRINTS(2, 3);
static void word(attempt *a, const char *format, ...) {
  char made[512];
  va_list arguments;
  if (a->count == MOST_WORDS) return;
  va_start(arguments, format);
  vsnprintf(made, sizeof made, format, arguments);
  va_end(arguments);
  a->words[a->count++] = text_of(made).bytes;
}

static bool chance(tn_rng *rng, uint32_t of) { return tn_rng_below(rng, of) == 0; }

/* Any program may run for long; none may continue after its time. An attempt has 3 s, a session no more than
 * twice that, whatever its lines compute: half of what the judge allows (judge.c). */
#define MOST_SECONDS 3
static void limits(attempt *a) {
  word(a, "--max-time=%d", MOST_SECONDS);
  word(a, "--max-mem=256M");
}

static void session_limits(attempt *a) {
  word(a, "--max-time=%.3f", 2.0 * MOST_SECONDS / SESSION_LINES);
  word(a, "--max-mem=256M");
}

static void maybe_json(attempt *a, tn_rng *rng) {
  a->json = chance(rng, 2);
  if (a->json) word(a, "--json");
}

void attempt_free(attempt *a) {
  for (int i = 0; i < a->count; i++) free(a->words[i]);
  free(a->input.bytes);
}

/* The world -------------------------------------------------------------- */

static const char training[] = "model {\n  tokens [B, T]\n  labels [B]\n  param E [5, 2]\n  param W [2, 2]\n"
                               "  logits = linear(dropout(meanpool(embedding(tokens, E)), 0.1), W)\n}\n"
                               "train { loss = xent(logits, labels) steps = 6 lr = 0.5 batch = 2 optimizer = "
                               "\"adam\" clip_norm = 1.0 }\n"
                               "eval { metrics = [loss, accuracy] every = 2 split = train }\n"
                               "dataset { format = \"jsonl\" path = \"data.jsonl\" tokens = \"tokens\" "
                               "labels = \"label\" split = 0.8 }\n";
static const char rows[] =
    "{\"tokens\":[0,1,2],\"label\":0}\n{\"tokens\":[2,3,4],\"label\":1}\n{\"tokens\":[4,1,0],\"label\":1}\n"
    "{\"tokens\":[3,3,3],\"label\":0}\n{\"tokens\":[1,0,1],\"label\":1}\n";
static const char columns[] = "0,1,2\t0\n2,3,4\t1\n4,1,0\t1\n3,3,3\t0\n1,0,1\t1\n";
static const char reader[] = "model {\n  x [2, 2]\n  y = x * 2\n}\n";

static void keep(world *w, const char *folder, const char *name) {
  text path = { 0 };
  bool missing;
  text_addf(&path, "%s/%s", folder, name);
  text content = read_file(path.bytes, &missing);
  free(path.bytes);
  if (!missing && w->run_count < MOST_RUN_FILES)
    w->run[w->run_count++] = (kept_file){ text_of(name).bytes, content };
}

static void record_run(world *w, const char *folder) {
  static const char *const names[] = {
    "m.ail",          "data.jsonl", "run/run.json", "run/history.jsonl", "run/weights.safetensors",
    "run/checkpoint", "runs.db"
  };
  put_file(folder, "m.ail", text_of(training));
  put_file(folder, "data.jsonl", text_of(rows));
  const char *const words[] = { w->tern, "train", "m.ail",   "--allow", "fileread",
                                "--out", "run",   "--store", "runs.db", NULL };
  outcome done = run(words, folder, NULL, 600, RUN_MERGED);
  if (done.status != 0) die("the recorded training failed:\n%s", done.out.bytes);
  outcome_free(&done);
  for (size_t i = 0; i < COUNT(names); i++) keep(w, folder, names[i]);
  if (w->run_count != COUNT(names)) die("a run's folder does not hold the files it should");
}

static void add_below(seeds *to, const char *root, const char *folder, const char *ending) {
  text path = { 0 };
  text_addf(&path, "%s/%s", root, folder);
  seeds_add(to, path.bytes, ending);
  free(path.bytes);
}

static void add_one(seeds *to, text content) {
  to->at = more(to->at, (to->count + 1) * sizeof *to->at);
  to->at[to->count++] = content;
}

/* Weights for the training above as another tool writes them: without a seal, so that a change is not refused
 * for being one. */
static text plain_weights(void) {
  static const char head[] = "{\"E\":{\"dtype\":\"F32\",\"shape\":[5,2],\"data_offsets\":[0,40]},"
                             "\"W\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[40,56]}}";
  char length[8] = { (char)(sizeof head - 1) }, numbers[56] = { 0 };
  text file = text_span(length, sizeof length);
  text_add(&file, head, sizeof head - 1);
  text_add(&file, numbers, sizeof numbers);
  return file;
}

/* An array of the shape that `reader` reads. */
static text plain_array(void) {
  static const char head[] = "\x93NUMPY\x01\x00\x46\x00"
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }          \n";
  char numbers[16] = { 0 };
  text file = text_span(head, sizeof head - 1);
  text_add(&file, numbers, sizeof numbers);
  return file;
}

void world_make(world *w, const char *tern, const char *root, const char *folder) {
  *w = (world){ .tern = tern };
  for (int l = 0; l < LANGUAGES; l++) {
    char ending[8];
    snprintf(ending, sizeof ending, ".%s", endings[l]);
    add_below(&w->programs[l], root, "tests", ending);
    add_below(&w->programs[l], root, "examples", ending);
  }
  add_below(&w->jsonl, root, "fuzz/corpus/jsonl", "");
  add_below(&w->tsv, root, "fuzz/corpus/tsv", "");
  add_below(&w->npy, root, "fuzz/corpus/npy", "");
  add_below(&w->npz, root, "fuzz/corpus/npz", "");
  add_below(&w->json, root, "fuzz/corpus/json", "");
  record_run(w, folder);
  add_one(&w->jsonl, text_of(rows));
  add_one(&w->tsv, text_of(columns));
  add_one(&w->json, text_of("[[1, 2], [3, 4]]"));
  add_one(&w->safetensors, plain_weights());
  for (int i = 0; i < 6; i++) add_one(&w->npy, plain_array()); /* as often as those of another shape */
  for (size_t i = 0; i < w->run_count; i++)
    if (strstr(w->run[i].name, ".safetensors")) add_one(&w->safetensors, w->run[i].content);
}

/* Programs and sessions -------------------------------------------------- */

static void emit_words(attempt *a, tn_rng *rng) {
  static const char *const forms[] = { "graph", "grad", "mlir", "onnx", "dot", "svg", "plan", "npz" };
  word(a, "--as");
  word(a, "%s", forms[tn_rng_below(rng, COUNT(forms))]);
}

static void allow_words(attempt *a, tn_rng *rng) {
  static const char *const capabilities[] = { "fileread", "clock", "filewrite", "network" };
  while (chance(rng, 3)) word(a, "--allow=%s", capabilities[tn_rng_below(rng, COUNT(capabilities))]);
}

static void make_program(const world *w, const char *folder, tn_rng *rng, attempt *out) {
  static const char *const verbs[] = { "check", "run", "run", "run", "fmt", "emit", "train", "app" };
  int l = (int)tn_rng_below(rng, LANGUAGES);
  uint32_t verb = tn_rng_below(rng, l == 0 ? COUNT(verbs) : COUNT(verbs) - 2);
  char name[16];
  snprintf(name, sizeof name, "p.%s", endings[l]);
  text made = mutate_text(seed_pick(&w->programs[l], rng), &w->programs[l], rng);
  put_file(folder, name, made);
  free(made.bytes);
  word(out, "%s", verbs[verb]);
  word(out, "%s", name);
  limits(out);
  maybe_json(out, rng);
  if (strcmp(verbs[verb], "emit") == 0) emit_words(out, rng);
  if (strcmp(verbs[verb], "app") == 0) word(out, "--event=start"), word(out, "--event=tick");
  if (strcmp(verbs[verb], "train") == 0) word(out, "--steps=3");
  if (strcmp(verbs[verb], "fmt") != 0) allow_words(out, rng);
}

static void make_session(const world *w, const char *folder, tn_rng *rng, attempt *out) {
  int l = (int)tn_rng_below(rng, LANGUAGES);
  (void)folder;
  out->input = mutate_session(&w->programs[l], rng);
  word(out, "repl");
  word(out, "--lang");
  word(out, "%s", languages[l]);
  session_limits(out);
}

/* Data, weights and arrays ----------------------------------------------- */

static void make_data(const world *w, const char *folder, tn_rng *rng, attempt *out) {
  bool tabs = chance(rng, 2);
  const seeds *pool = tabs ? &w->tsv : &w->jsonl;
  text program = { 0 };
  text_addf(&program, "%.*s", (int)(strstr(training, "dataset") - training), training);
  text_addf(&program, "dataset { format = \"%s\" path = \"d\" tokens = \"tokens\" labels = \"label\" }\n",
            tabs ? "tsv" : "jsonl");
  text made =
      chance(rng, 2) ? mutate_text(seed_pick(pool, rng), pool, rng) : mutate_bytes(seed_pick(pool, rng), rng);
  put_file(folder, "m.ail", program);
  put_file(folder, "d", made);
  free(program.bytes);
  free(made.bytes);
  word(out, "train");
  word(out, "m.ail");
  word(out, "--allow=fileread");
  word(out, "--steps=2");
  limits(out);
  maybe_json(out, rng);
}

static void make_weights(const world *w, const char *folder, tn_rng *rng, attempt *out) {
  text made = mutate_bytes(seed_pick(&w->safetensors, rng), rng);
  put_file(folder, "m.ail", w->run[0].content);
  put_file(folder, "w.safetensors", made);
  free(made.bytes);
  word(out, "run");
  word(out, "m.ail");
  word(out, "--weights=w.safetensors");
  limits(out);
  maybe_json(out, rng);
}

static void make_array(const world *w, const char *folder, tn_rng *rng, attempt *out) {
  static const char *const names[] = { "a.npy", "a.npz", "a.json" };
  const seeds *const pools[] = { &w->npy, &w->npz, &w->json };
  uint32_t form = tn_rng_below(rng, COUNT(names));
  text made = mutate_bytes(seed_pick(pools[form], rng), rng);
  put_file(folder, "m.ail", text_of(reader));
  put_file(folder, names[form], made);
  free(made.bytes);
  word(out, "run");
  word(out, "m.ail");
  word(out, form == 1 ? "--input=x=@%s:x" : "--input=x=@%s", names[form]);
  limits(out);
  maybe_json(out, rng);
}

/* Run folders ------------------------------------------------------------ */

/* A recorded training with one or two of its files changed, left out, or taken for one another. */
static void put_run(const world *w, const char *folder, tn_rng *rng) {
  uint32_t first = tn_rng_below(rng, (uint32_t)w->run_count),
           second = tn_rng_below(rng, (uint32_t)w->run_count);
  uint32_t how = tn_rng_below(rng, 12);
  for (uint32_t i = 0; i < w->run_count; i++) {
    text content = w->run[i].content;
    text made = { 0 };
    if (i == first && how == 0) continue;
    if (i == first && how == 1) content = w->run[second].content;
    if ((i == first && how > 1) || (i == second && how > 9)) made = mutate_bytes(content, rng);
    put_file(folder, w->run[i].name, made.bytes ? made : content);
    free(made.bytes);
  }
}

static void make_folder(const world *w, const char *folder, tn_rng *rng, attempt *out) {
  static const char *const commands[][4] = {
    { "verify", "run", "--allow=fileread" },       { "train", "m.ail", "--allow=fileread", "--resume=run" },
    { "plot", "run", "--output=p.svg" },           { "runs", "--store=runs.db" },
    { "runs", "show", "last", "--store=runs.db" }, { "plot", "last", "--store=runs.db", "--output=p.svg" },
  };
  uint32_t which = tn_rng_below(rng, COUNT(commands));
  put_run(w, folder, rng);
  for (int i = 0; i < 4 && commands[which][i]; i++) word(out, "%s", commands[which][i]);
  if (which == 1) word(out, "--steps=8"), word(out, "--store=runs.db");
  limits(out);
  if (which != 2 && which != 5) maybe_json(out, rng);
}

/* The command line ------------------------------------------------------- */

static const char *const verbs[] = {
#define TN_VERB(id, name, ...) name,
#include "cli/options.def"
};
static const char *const options[] = {
#define TN_OPTION(id, name, ...) name,
#include "cli/options.def"
};

/* The board serves until it is stopped, and --watch waits for changes: neither ends by itself. */
static bool never_ends(const char *name) { return strcmp(name, "board") == 0 || strcmp(name, "watch") == 0; }

static const char *any_of(const char *const *names, uint32_t count, tn_rng *rng) {
  const char *name;
  do name = names[tn_rng_below(rng, count)];
  while (never_ends(name));
  return name;
}

static const char *any_value(tn_rng *rng) {
  static const char *const values[] = {
    "",
    "0",
    "1",
    "-1",
    "m.ail",
    "p.mind",
    "p.nth",
    "a.npy",
    "missing",
    ".",
    "/",
    "x=1",
    "x=[[1,2],[3,4]]",
    "x=@a.npy",
    "=",
    "x",
    "1e9",
    "9223372036854775808",
    "0.5",
    "1K",
    "99999999G",
    "fileread",
    "fileread=.",
    "clock",
    "json",
    "graph",
    "mlir",
    "ail",
    "mind",
    "ninth",
    "bash",
    "show",
    "last",
    "E_USAGE",
    "--",
    "-",
    "\xff\xfe",
    "@",
    "@/",
    "W=[[1]]",
    "start",
  };
  return values[tn_rng_below(rng, COUNT(values))];
}

static void any_word(attempt *out, tn_rng *rng) {
  uint32_t how = tn_rng_below(rng, 8);
  const char *option = any_of(options, COUNT(options), rng);
  if (how < 3)
    word(out, "%s", any_value(rng));
  else if (how < 5)
    word(out, "--%s=%s", option, any_value(rng));
  else if (how < 7)
    word(out, "--%s", option);
  else
    word(out, "-%c", (int)(' ' + tn_rng_below(rng, 95)));
}

static void make_options(const world *w, const char *folder, tn_rng *rng, attempt *out) {
  uint32_t count = tn_rng_below(rng, 8);
  put_run(w, folder, rng);
  put_file(folder, "p.mind", seed_pick(&w->programs[1], rng));
  put_file(folder, "p.nth", seed_pick(&w->programs[2], rng));
  put_file(folder, "a.npy", seed_pick(&w->npy, rng));
  if (!chance(rng, 8)) word(out, "%s", any_of(verbs, COUNT(verbs), rng)), limits(out);
  for (uint32_t i = 0; i < count; i++) any_word(out, rng);
}

/* The table -------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*make)(const world *w, const char *folder, tn_rng *rng, attempt *out);
  uint32_t share; /* of all inputs; a session takes ten times as long as the others */
} kinds[] = {
  { "programs", make_program, 4 }, { "sessions", make_session, 1 }, { "data", make_data, 3 },
  { "weights", make_weights, 2 },  { "arrays", make_array, 2 },     { "folders", make_folder, 3 },
  { "options", make_options, 3 },
};

size_t kind_pick(tn_rng *rng) {
  uint32_t sum = 0;
  size_t kind = 0;
  for (size_t i = 0; i < COUNT(kinds); i++) sum += kinds[i].share;
  for (uint32_t left = tn_rng_below(rng, sum); left >= kinds[kind].share; kind++) left -= kinds[kind].share;
  return kind;
}

size_t kind_count(void) { return COUNT(kinds); }
const char *kind_name(size_t kind) { return kinds[kind].name; }

void kind_make(size_t kind, const world *w, const char *folder, tn_rng *rng, attempt *out) {
  *out = (attempt){ 0 };
  word(out, "%s", w->tern);
  kinds[kind].make(w, folder, rng, out);
  out->words[out->count] = NULL;
}
