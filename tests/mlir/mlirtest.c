/* mlir/mlirtest.c: what tern writes as MLIR is accepted, and computes what tern computes.
 *
 *   mlirtest --tern PROGRAM --opt MLIR-OPT --runner MLIR-CPU-RUNNER --libraries LIST --run FOLDER
 *   mlirtest --tern PROGRAM --opt MLIR-OPT --accept FOLDER [--runner ... --libraries LIST]
 *
 * --run: every program of the folder is emitted as MLIR, lowered by the ordinary
 * CPU pipeline, executed, and its results compared with those of `tern run`, bit for
 * bit. All of them become one module, whose functions are renamed, so that the
 * tools start once. A program may say
 *
 *   // mlir: close           results within 1e-12: it uses f64 functions of libm
 *   // args: --seed 7        further words for tern
 *   // call: f 2 3; [1, 2]   the function whose results are compared (else main without arguments): lengths
 *                            of its named dimensions, then its other arguments, each after a semicolon
 *
 * --accept: every program that tern runs must be emitted and accepted by mlir-opt,
 * or refused by E_UNSUPPORTED; what is refused is listed. With a runner, those that take no
 * arguments are executed and compared as well. */
#include "runner/run.h"
#include "runner/value.h"

#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"

#define DEFAULT_LENGTH "3" /* of a named dimension */
#define SECONDS        120
#define MAX_ARGS       15

static const char pipeline[] =
    "builtin.module(canonicalize,cse,linalg-fuse-elementwise-ops,one-shot-bufferize{bufferize-function-"
    "boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map},buffer-deallocation-pipeline,func.func("
    "convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,canonicalize,"
    "convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-"
    "llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts)";

static const char *tern, *libraries, *opt, *cpu_runner;

/* ---- programs ---- */

typedef struct {
  char *path;
  text source;
  const char *args[MAX_ARGS + 1];
  bool close;
  char *call; /* what follows `call:` */
  text json, mlir;
} program;

static program *programs;
static size_t program_count;

static bool ends_with(const char *name, const char *ending) {
  size_t a = strlen(name), b = strlen(ending);
  return a >= b && strcmp(name + a - b, ending) == 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The programs of a folder and those below it, in order; folders and files that begin with _ are not. */
static void list_programs(const char *folder, char ***paths, size_t *count) {
  DIR *at = opendir(folder);
  if (!at) die("cannot open %s", folder);
  for (struct dirent *entry; (entry = readdir(at));) {
    if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
    text path = text_of(folder);
    text_addf(&path, "/%s", entry->d_name);
    struct stat info;
    if (stat(path.bytes, &info) == 0 && S_ISDIR(info.st_mode)) {
      list_programs(path.bytes, paths, count);
    } else if (ends_with(path.bytes, ".mind") || ends_with(path.bytes, ".ail") ||
               ends_with(path.bytes, ".nth") || ends_with(path.bytes, ".graph")) {
      *paths = more(*paths, (*count + 1) * sizeof **paths);
      (*paths)[(*count)++] = path.bytes;
    }
  }
  closedir(at);
  if (*count) qsort(*paths, *count, sizeof **paths, by_name);
}

/* What stands after `// WORD: `, or NULL. */
static char *comment(text line, const char *word) {
  char *at = strstr(line.bytes, "// ");
  size_t length = strlen(word);
  bool found = at && strncmp(at + 3, word, length) == 0 && strncmp(at + 3 + length, ": ", 2) == 0;
  return found ? at + 3 + length + 2 : NULL;
}

/* The next word, which is cut off, without its single quotes; NULL at the end. */
static char *next_quoted(char **rest) {
  char *word = *rest + strspn(*rest, " "), *to = word, *at = word;
  bool quoted = false;
  for (; *at && (quoted || *at != ' '); at++) {
    if (*at == '\'')
      quoted = !quoted;
    else
      *to++ = *at;
  }
  *rest = *at ? at + 1 : at;
  *to = 0;
  return to > word ? word : NULL;
}

static void read_comments(program *p) {
  size_t args = 0;
  lines all = lines_of(p->source);
  for (size_t i = 0; i < all.count; i++) {
    text line = text_span(all.at[i].bytes, all.at[i].length);
    char *mlir = comment(line, "mlir"), *call = comment(line, "call"), *words = comment(line, "args");
    if (mlir && strcmp(mlir, "close") == 0) p->close = true;
    if (call) p->call = call;
    for (char *word = words ? next_quoted(&words) : NULL; word && args < MAX_ARGS; word = next_quoted(&words))
      p->args[args++] = word;
  }
}

static text folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? text_span(path, (size_t)(slash - path)) : text_of(".");
}

static outcome ask(const program *p, const char *verb, const char *form) {
  const char *argv[MAX_ARGS + 8] = { tern, verb, p->path };
  size_t count = 3;
  if (form) {
    argv[count++] = "--as";
    argv[count++] = form;
  } else {
    argv[count++] = "--json";
  }
  for (size_t i = 0; p->args[i]; i++) {
    bool given = form && strcmp(p->args[i], "--param") == 0; /* a form without values refuses them */
    if (given)
      i++;
    else
      argv[count++] = p->args[i];
  }
  text folder = folder_of(p->path); /* where the paths in its arguments begin */
  outcome done = run(argv, folder.bytes, NULL, SECONDS, 0);
  free(folder.bytes);
  return done;
}

static program read_program(char *path) {
  program p = { .path = path, .source = read_file(path, NULL) };
  read_comments(&p);
  return p;
}

/* ---- one module of many ---- */

/* "@f" becomes "@p3_f"; the outer lines are left out. */
static void add_renamed(text *to, text mlir, size_t index) {
  lines all = lines_of(mlir);
  for (size_t i = 1; i + 1 < all.count; i++) {
    for (size_t k = 0; k < all.at[i].length; k++) {
      text_add(to, &all.at[i].bytes[k], 1);
      if (all.at[i].bytes[k] == '@') text_addf(to, "p%zu_", index);
    }
    text_add(to, "\n", 1);
  }
}

/* The types of a function's arguments and results. */
typedef struct {
  lines arguments, results;
} signature;

static void split_types(char *list, lines *to) {
  for (char *word = strtok(list, "(), "); word; word = strtok(NULL, "(), ")) {
    if (word[0] != '%') lines_add(to, text_of(word));
  }
}

static signature read_signature(const program *p, const char *name) {
  signature s = { 0 };
  lines all = lines_of(p->mlir);
  text heading = text_of("  func.func @");
  text_addf(&heading, "%s(", name);
  for (size_t i = 0; i < all.count; i++) {
    if (!text_begins(all.at[i], heading.bytes)) continue;
    char *line = text_span(all.at[i].bytes, all.at[i].length).bytes, *open = strchr(line, '('),
         *arrow = strstr(line, " -> ");
    *strrchr(line, '{') = 0;
    if (arrow) {
      *arrow = 0;
      split_types(arrow + 4, &s.results);
    }
    split_types(open, &s.arguments);
    return s;
  }
  die("%s: there is no function %s", p->path, name);
}

/* What prints one element. Bits that C cannot take as they are become wider first. */
static void add_put(text *to, const char *element, const char *shown, size_t *next) {
  const char *type = element;
  char wide[32];
  if (strcmp(element, "i1") == 0) {
    text_addf(to, "  %%w%zu = arith.extui %s : i1 to i32\n", *next, shown);
    type = "i32";
  } else if (strcmp(element, "bf16") == 0 || strcmp(element, "f16") == 0) {
    text_addf(to, "  %%w%zu = arith.extf %s : %s to f32\n", *next, shown, element);
    type = "f32";
  }
  snprintf(wide, sizeof wide, "%%w%zu", (*next)++);
  text_addf(to, "  func.call @put_%s(%s) : (%s) -> ()\n", type, type == element ? shown : wide, type);
}

/* Loops over all places of a tensor, in row-major order. */
static void add_put_tensor(text *to, const char *type, const char *shown, size_t *next) {
  size_t rank = 0, first = *next;
  text dims = text_of(type + 7), places = text_of("");
  char *element = dims.bytes;
  for (char *x; (x = strchr(element, 'x')); element = x + 1) {
    size_t id = *next + rank;
    text_addf(to, "  %%a%zu = arith.constant %zu : index\n", id, rank);
    text_addf(to, "  %%d%zu = tensor.dim %s, %%a%zu : %s\n", id, shown, id, type);
    text_addf(&places, rank ? ", %%i%zu" : "%%i%zu", id);
    rank++;
  }
  *strchr(element, '>') = 0;
  *next += rank + 1;
  for (size_t i = 0; i < rank; i++) {
    text_addf(to, "  scf.for %%i%zu = %%zero to %%d%zu step %%one {\n", first + i, first + i);
  }
  char place[32];
  snprintf(place, sizeof place, "%%e%zu", *next);
  text_addf(to, "  %s = tensor.extract %s[%s] : %s\n", place, shown, places.bytes, type);
  (*next)++;
  add_put(to, element, place, next);
  for (size_t i = 0; i < rank; i++) text_addf(to, "  }\n");
}

/* The element type at the end of "tensor<2x?xf32>". */
static char *element_of(const char *type) {
  text copy = text_of(type);
  char *last = strrchr(copy.bytes, 'x');
  *strchr(copy.bytes, '>') = 0;
  return last ? last + 1 : copy.bytes + 7;
}

/* "[[1, 2], [3, 4]]" has the type tensor<2x2xT>. */
static text literal_type(const char *json, const char *element) {
  text type = text_of("tensor<");
  for (const char *at = json; *at == '['; at++) {
    size_t count = at[1] != ']';
    int depth = 0;
    for (const char *c = at; *c; c++) {
      depth += (*c == '[') - (*c == ']');
      count += *c == ',' && depth == 1;
      if (depth == 0) break;
    }
    text_addf(&type, "%zux", count);
  }
  text_addf(&type, "%s>", element);
  return type;
}

/* The numbers of a float literal have a point in MLIR. */
static text literal_text(const char *json, bool real) {
  text made = text_of("");
  while (*json) {
    size_t length = strspn(json, "0123456789.e-");
    text number = text_span(json, length);
    text_addf(&made, "%s", number.bytes);
    if (length && real && !strpbrk(number.bytes, ".e")) text_addf(&made, ".0");
    json += length;
    if (*json) text_add(&made, json++, 1);
  }
  return made;
}

/* A value of that type, given as JSON. */
static void add_argument(text *to, const char *name, const char *json, const char *type) {
  bool tensor = strncmp(type, "tensor<", 7) == 0;
  const char *element = tensor ? element_of(type) : type;
  text number = literal_text(json, element[0] == 'f');
  if (!tensor) {
    text_addf(to, "  %s = arith.constant %s : %s\n", name, number.bytes, type);
    return;
  }
  text own = literal_type(json, element);
  text_addf(to, "  %s_as_given = arith.constant dense<%s> : %s\n", name, number.bytes, own.bytes);
  text_addf(to, "  %s = tensor.cast %s_as_given : %s to %s\n", name, name, own.bytes, type);
}

/* The next word, which is cut off; NULL at the end. */
static char *next_word(char **rest) {
  char *word = *rest + strspn(*rest, " ");
  *rest = word + strcspn(word, " ");
  if (**rest) *(*rest)++ = 0;
  return *word ? word : NULL;
}

/* Splits "f 2 3; [1, 2]" and writes the arguments; the name of the function. */
static const char *add_arguments(text *to, const program *p, size_t index, signature *s, text *names) {
  char *sizes = text_of(p->call ? p->call : "main").bytes, *rest = strchr(sizes, ';');
  if (rest) *rest++ = 0;
  const char *name = next_word(&sizes);
  *s = read_signature(p, name);
  for (size_t i = 0; i < s->arguments.count; i++) {
    char argument[64];
    const char *type = s->arguments.at[i].bytes, *json;
    snprintf(argument, sizeof argument, "%%x%zu_%zu", index, i);
    if (strcmp(type, "index") == 0) {
      json = next_word(&sizes);
      if (!json) json = DEFAULT_LENGTH;
    } else {
      if (!rest) die("%s: %s has more arguments", p->path, name);
      json = rest + strspn(rest, " ");
      rest = strchr(rest, ';');
      if (rest) *rest++ = 0;
    }
    add_argument(to, argument, json, type);
    text_addf(names, i ? ", %s" : "%s", argument);
  }
  return name;
}

static text joined(lines words) {
  text all = text_of("");
  for (size_t i = 0; i < words.count; i++) text_addf(&all, i ? ", %s" : "%s", words.at[i].bytes);
  return all;
}

static void add_call(text *to, const program *p, size_t index, size_t *next) {
  signature s;
  text names = text_of("");
  text_addf(to, "  %%p%zu = arith.constant %zu : i32\n  func.call @put_program(%%p%zu) : (i32) -> ()\n",
            index, index, index);
  const char *name = add_arguments(to, p, index, &s, &names);
  if (!s.results.count) return;
  text_addf(to, "  %%r%zu:%zu = func.call @p%zu_%s(%s) : (%s) -> (%s)\n", index, s.results.count, index, name,
            names.bytes, joined(s.arguments).bytes, joined(s.results).bytes);
  for (size_t i = 0; i < s.results.count; i++) {
    char result[64];
    snprintf(result, sizeof result, "%%r%zu#%zu", index, i);
    const char *type = s.results.at[i].bytes;
    if (strncmp(type, "tensor<", 7) == 0)
      add_put_tensor(to, type, result, next);
    else
      add_put(to, type, result, next);
  }
}

static text whole_module(void) {
  static const char *const kinds[] = { "f32", "f64", "i32", "i64" };
  text all = text_of("module {\n");
  size_t next = 0;
  for (size_t i = 0; i < 4; i++) text_addf(&all, "func.func private @put_%s(%s)\n", kinds[i], kinds[i]);
  text_addf(&all, "func.func private @put_program(i32)\n");
  for (size_t i = 0; i < program_count; i++) add_renamed(&all, programs[i].mlir, i);
  text_addf(
      &all,
      "func.func @driver() {\n  %%zero = arith.constant 0 : index\n  %%one = arith.constant 1 : index\n");
  for (size_t i = 0; i < program_count; i++) add_call(&all, &programs[i], i, &next);
  text_addf(&all, "  return\n}\n}\n");
  return all;
}

/* ---- what must come of it ---- */

typedef struct {
  bool is_float, wide, repeated; /* repeated: every element of a tensor whose size is not known */
  double number;
  int64_t integer;
  float narrow;
} wanted;

typedef struct {
  wanted *at;
  size_t count;
  bool vague; /* tern itself does not know all of it */
} wanted_list;

static void add_wanted(wanted_list *list, wanted one) {
  list->at = more(list->at, (list->count + 1) * sizeof *list->at);
  list->at[list->count++] = one;
}

static wanted number_of(const value *number, const char *dtype) {
  wanted w = { .is_float = dtype[0] == 'f' || dtype[0] == 'b', .wide = strcmp(dtype, "f64") == 0 };
  if (number->kind == TN_JSON_TRUE || number->kind == TN_JSON_FALSE) {
    return (wanted){ .integer = number->kind == TN_JSON_TRUE };
  }
  if (w.wide)
    tn_number_parse_f64(number->text, &w.number);
  else if (w.is_float)
    tn_number_parse_f32(number->text, &w.narrow);
  else
    tn_number_parse_i64(number->text, &w.integer);
  return w;
}

static void flatten(const value *at, wanted_list *list) {
  const value *kind = value_member(at, TN_LIT("kind")), *dtype = value_member(at, TN_LIT("dtype"));
  if (value_is(kind, "tensor")) {
    const value *data = value_member(at, TN_LIT("data"));
    char name[8] = "";
    memcpy(name, dtype->text.at, dtype->text.len);
    if (data->kind == TN_JSON_ARRAY_BEGIN) {
      for (const value *e = data->first; e; e = e->next) add_wanted(list, number_of(e, name));
    } else if (value_member(at, TN_LIT("fill"))) {
      wanted w = number_of(value_member(at, TN_LIT("fill")), name);
      w.repeated = true;
      add_wanted(list, w);
    } else {
      list->vague = true;
    }
  } else if (value_is(kind, "int") || value_is(kind, "float")) {
    char name[8] = "";
    memcpy(name, dtype->text.at, dtype->text.len);
    add_wanted(list, number_of(value_member(at, TN_LIT("value")), name));
  } else if (value_is(kind, "bool")) {
    add_wanted(list, number_of(value_member(at, TN_LIT("value")), "bool"));
  } else {
    const value *items = value_member(at, TN_LIT("items"));
    if (!items) items = value_member(at, TN_LIT("entries"));
    for (const value *e = items ? items->first : NULL; e; e = e->next) flatten(e, list);
  }
}

static bool near_enough(double a, double b) {
  return a == b || (a != a && b != b) || fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* "f 3f800000", "d 3ff0000000000000", "i 7" */
static bool agrees(text line, const wanted *w, bool close) {
  uint64_t bits = strtoull(line.bytes + 2, NULL, 16);
  uint32_t narrow;
  double number;
  if (line.bytes[0] == 'i') return !w->is_float && strtoll(line.bytes + 2, NULL, 10) == w->integer;
  if (line.bytes[0] == 'd') {
    memcpy(&number, &bits, sizeof number);
    if (close) return w->wide && near_enough(number, w->number);
    return w->wide && memcmp(&bits, &w->number, sizeof bits) == 0;
  }
  narrow = (uint32_t)bits;
  return w->is_float && !w->wide && memcmp(&narrow, &w->narrow, sizeof narrow) == 0;
}

static bool compare(const program *p, lines got, tn_arena *arena) {
  const char *reason;
  wanted_list list = { 0 };
  const value *root = value_parse(arena, (tn_str){ p->json.bytes, p->json.length }, &reason);
  if (!root) die("%s: %s", p->path, reason);
  const value *shown = value_member(root, TN_LIT("value"));
  if (!shown) shown = value_member(root, TN_LIT("outputs"));
  if (!shown) shown = value_member(root, TN_LIT("stack"));
  if (shown && shown->kind == TN_JSON_ARRAY_BEGIN) {
    for (const value *e = shown->first; e; e = e->next) flatten(e, &list);
  } else if (shown) {
    flatten(shown, &list);
  }
  for (size_t i = 0; i < list.count; i++) list.vague = list.vague || (list.at[i].repeated && list.count > 1);
  if (list.vague || (list.count == 0 && got.count == 0)) return true;
  size_t k = 0;
  for (size_t i = 0; i < got.count; i++) {
    if (k >= list.count || !agrees(got.at[i], &list.at[k], p->close)) {
      printf("%s: result %zu is %.*s, which is not what tern computes\n", p->path, i, (int)got.at[i].length,
             got.at[i].bytes);
      return false;
    }
    if (!list.at[k].repeated || i + 1 == got.count) k++;
  }
  if (k == list.count) return true;
  printf("%s: %zu results, and tern has %zu\n", p->path, got.count, list.count);
  return false;
}

static size_t judge(lines out) {
  tn_heap heap = { 0 };
  tn_arena arena;
  size_t failed = 0, at = 0;
  tn_arena_init(&arena, &heap);
  for (size_t i = 0; i < program_count; i++) {
    char heading[32];
    lines got = { 0 };
    snprintf(heading, sizeof heading, "p %zu", i);
    if (at >= out.count || !text_is(out.at[at], heading)) die("%s: the run ended early", programs[i].path);
    for (at++; at < out.count && out.at[at].bytes[0] != 'p'; at++) lines_add(&got, out.at[at]);
    failed += !compare(&programs[i], got, &arena);
  }
  tn_arena_free(&arena);
  return failed;
}

/* ---- running ---- */

static void add_program(program p) {
  programs = more(programs, (program_count + 1) * sizeof *programs);
  programs[program_count++] = p;
}

static void prepare(const char *folder) {
  char **paths = NULL;
  size_t count = 0;
  list_programs(folder, &paths, &count);
  for (size_t i = 0; i < count; i++) {
    program p = read_program(paths[i]);
    outcome ran = ask(&p, "run", NULL), emitted = ask(&p, "emit", "mlir");
    if (ran.status || emitted.status) die("%s: %s%s", p.path, ran.out.bytes, emitted.err.bytes);
    p.json = ran.out;
    p.mlir = emitted.out;
    add_program(p);
  }
}

static void must(outcome done, const char *what) {
  if (!done.status) return;
  printf("%s failed with status %d\n%.4000s\n", what, done.status, done.err.bytes);
  exit(1);
}

static text in_folder(const char *folder, const char *name) {
  text path = text_of(folder);
  text_addf(&path, "/%s", name);
  return path;
}

static size_t execute(const char *scratch) {
  text source = in_folder(scratch, "all.mlir"), lowered = in_folder(scratch, "low.mlir");
  text passes = text_of("--pass-pipeline="), shared = text_of("--shared-libs=");
  text_addf(&passes, "%s", pipeline);
  text_addf(&shared, "%s", libraries);
  write_file(source.bytes, whole_module());
  const char *lower[] = { opt, source.bytes, passes.bytes, "-o", lowered.bytes, NULL };
  must(run(lower, ".", NULL, SECONDS, 0), "mlir-opt");
  const char *start[] = { cpu_runner, lowered.bytes, "-e", "driver", "-entry-point-result=void",
                          "-O1",      shared.bytes,  NULL };
  outcome done = run(start, ".", NULL, SECONDS, 0);
  must(done, "mlir-cpu-runner");
  size_t failed = judge(lines_of(done.out));
  printf("%zu programs executed, %zu failed\n", program_count, failed);
  return failed;
}

/* Whether tern may refuse to write this program. */
static bool may_refuse(const program *p, outcome emitted) {
  outcome ran = ask(p, "run", NULL);
  if (ran.status) return true;
  bool said = strstr(emitted.err.bytes, "E_UNSUPPORTED") != NULL;
  printf("%s: %s\n%s", p->path, said ? "refused" : "tern runs it and does not emit it", emitted.err.bytes);
  return said;
}

static bool takes_arguments(const program *p) {
  signature s = read_signature(p, "main");
  for (size_t i = 0; i < s.arguments.count; i++) {
    if (!text_is(s.arguments.at[i], "index")) return true;
  }
  return false;
}

/* To be executed with the others, if it runs by itself. */
static void keep_for_later(program p, text mlir) {
  p.mlir = mlir;
  p.call = NULL;
  if (!cpu_runner || takes_arguments(&p)) return;
  outcome ran = ask(&p, "run", NULL);
  p.json = ran.out;
  if (!ran.status) add_program(p);
}

/* One text with all modules, which mlir-opt takes apart again. */
static size_t accept_folder(const char *folder, const char *scratch) {
  char **paths = NULL;
  size_t count = 0, seen = 0, failed = 0;
  text all = text_of(""), file = in_folder(scratch, "accept.mlir");
  list_programs(folder, &paths, &count);
  for (size_t i = 0; i < count; i++) {
    program p = read_program(paths[i]);
    outcome emitted = ask(&p, "emit", "mlir");
    if (emitted.status) {
      if (emitted.status != 1) printf("%s: status %d\n%s", p.path, emitted.status, emitted.err.bytes);
      failed += emitted.status != 1 || !may_refuse(&p, emitted);
      continue;
    }
    if (seen++) text_addf(&all, "// -----\n");
    text_addf(&all, "// %s\n%s", p.path, emitted.out.bytes);
    keep_for_later(p, emitted.out);
  }
  write_file(file.bytes, all);
  const char *argv[] = { opt, "--split-input-file", file.bytes, "-o", "/dev/null", NULL };
  must(run(argv, ".", NULL, SECONDS, 0), "mlir-opt");
  printf("%zu programs, %zu accepted, %zu failed\n", count, seen, failed);
  return failed + (program_count ? execute(scratch) : 0);
}

int main(int argc, char **argv) {
  const char *folder = NULL, *accepted = NULL;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--tern") == 0) tern = argv[i + 1];
    if (strcmp(argv[i], "--libraries") == 0) libraries = argv[i + 1];
    if (strcmp(argv[i], "--opt") == 0) opt = argv[i + 1];
    if (strcmp(argv[i], "--runner") == 0) cpu_runner = argv[i + 1];
    if (strcmp(argv[i], "--run") == 0) folder = argv[i + 1];
    if (strcmp(argv[i], "--accept") == 0) accepted = argv[i + 1];
  }
  if (!tern || !opt || (folder ? !libraries || !cpu_runner : !accepted)) die("see the head of mlirtest.c");
  char *scratch = scratch_new();
  surroundings(tern, folder ? folder : accepted);
  if (folder) prepare(folder);
  size_t failed = folder ? execute(scratch) : accept_folder(accepted, scratch);
  scratch_free(scratch);
  return failed != 0;
}
