/* attack/depth.c: programs that nest, on stacks that are small.
 *
 *   depth --tern PROGRAM [--count N] [--seed S] [--jobs N] [--keep FOLDER] [--large 1]
 *   depth --tern PROGRAM --only I [--seed S] [--keep FOLDER]
 *
 * Program I of a seed is always the same: constructs of one language in each other, and the products of
 * that with calls, closures, lines and imports. Each is checked, run, emitted and formatted with a stack of
 * 8 MB, 1 MB and 256 kB that the program cannot raise (--large 1: of 8 MB only, for sanitizers, whose frames
 * are larger). tern may refuse with E_NESTING_LIMIT or another diagnostic, but never end by a signal; and
 * with 8 MB it accepts what stays inside the documented limits. What it does not survive is kept in
 * FOLDER/I. Status 1 when anything was found, 2 when the attack itself cannot run. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/run.h"

enum { SECONDS = 60, MOST_JOBS = 64, SOURCE_LEVELS = 190, CALLS = 190, PRODUCT = 200 * 30 };

typedef struct {
  char tern[PATH_MAX]; /* empty: not given */
  const char *keep;
  uint64_t count, seed, only;
  bool has_only, large;
  int jobs;
} settings;

/* Numbers ---------------------------------------------------------------- */

static uint64_t next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

static int below(uint64_t *state, int limit) { return (int)(next(state) % (uint64_t)limit); }

/* Few, near a limit of 200, or far beyond it. */
static int depth_of(uint64_t *state) {
  static const int depths[] = { 1,   3,   10,  30,  60,  90,  120, 150, 180,
                                190, 198, 199, 200, 201, 250, 990, 1000, 5000 };
  return depths[below(state, sizeof depths / sizeof *depths)];
}

/* Programs --------------------------------------------------------------- */

typedef struct {
  text source;
  const char *file; /* its name, which says the language */
  bool inside;      /* the documented limits, so that 8 MB are enough to check and run it */
  int modules;      /* m0.mind imports m1, and so on; 0: none */
} program;

/* A construct with a hole: `open` times a depth, what is inside, `close` times that depth. */
typedef struct {
  const char *open, *close;
  int levels; /* of the documented nesting; 0: it does not count */
} construct;

static const construct mind[] = {
  { "(", ")", 1 },
  { "-(", ")", 1 },
  { "- ", "", 0 },
  { "abs(", ")", 1 },
  { "pow(1.0, ", ")", 1 },
  { "if true { ", " } else { 0.5 }", 1 },
  { "if false { 0.5 } else { ", " }", 1 },
  { "1.0 + ", "", 0 },
  { "(1.0 + ", ") * 0.5", 1 },
  { "(", ", 1.0).0", 1 },
  { "sum([", "])", 2 },
  { "(|y: f64| y + ", ")(1.0)", 3 },
  { "(|y| ", ")(1.0)", 3 },
  { "", ".abs()", 0 },
  { "if 1.0 < 2.0 { let z = ", "\n z } else { 0.5 }", 1 },
};

static const construct ail[] = {
  { "(", ")", 1 },
  { "-(", ")", 1 },
  { "- ", "", 0 },
  { "relu(", ")", 1 },
  { "add(x, ", ")", 1 },
  { "1.0 + ", "", 0 },
  { "(1.0 + ", ") * 0.5", 1 },
  { "if 1 > 0 then ", " else x", 1 },
  { "if 1 < 0 then x else ", "", 0 },
  { "repeat 1 times init x do ", " end", 1 },
  { "reduce add over range(0, 1) do ", " end", 1 },
};

static const construct ninth[] = {
  { "1 [IF] ", " [ENDIF]", 1 },
  { "0 [IF] [ELSE] ", " [ENDIF]", 1 },
  { "1 [REPEAT] ", " [END]", 1 },
  { "[NO_GRAD] ", " [END_NO_GRAD]", 1 },
  { "{ ", " } [CALL]", 1 },
  { "{ ", " }", 1 },
};

static void repeat(text *to, const char *what, int times) {
  for (int i = 0; i < times; i++) text_add(to, what, strlen(what));
}

/* One or two constructs around `core`; *levels grows by what they nest. */
static void nest(uint64_t *state, const construct *of, size_t count, const char *core, text *to,
                 int *levels) {
  const construct *outer = &of[below(state, (int)count)], *inner = &of[below(state, (int)count)];
  int first = depth_of(state), second = below(state, 3) == 0 ? depth_of(state) : 0;
  repeat(to, outer->open, first);
  repeat(to, inner->open, second);
  text_add(to, core, strlen(core));
  repeat(to, inner->close, second);
  repeat(to, outer->close, first);
  *levels += first * outer->levels + second * inner->levels;
}

#define NEST(state, of, core, to, levels) nest(state, of, sizeof(of) / sizeof *(of), core, to, levels)

/* A function that calls itself from inside of `levels` constructs. */
static void mind_recursion(uint64_t *state, program *p) {
  static const int wraps[] = { 0, 1, 5, 10, 30, 60, 100, 180 };
  const construct *of = &mind[below(state, 10)];
  int wrap = wraps[below(state, 8)], calls = depth_of(state);
  text_addf(&p->source, "fn f(n: f64) -> f64 = if n < 1.0 { 0.0 } else { ");
  repeat(&p->source, of->open, wrap);
  text_addf(&p->source, "f(n - 1.0)");
  repeat(&p->source, of->close, wrap);
  text_addf(&p->source, " }\nf(%d.0)\n", calls);
  p->inside = calls <= CALLS && wrap * of->levels <= SOURCE_LEVELS && calls * (wrap + 2) <= PRODUCT;
}

/* Closures that call the one before, each from inside of constructs. */
static void mind_closures(uint64_t *state, program *p) {
  static const int wraps[] = { 0, 1, 10, 30, 100, 180 };
  const construct *of = &mind[below(state, 10)];
  int wrap = wraps[below(state, 6)], count = depth_of(state);
  text_addf(&p->source, "let f0 = |x| x + 1.0\n");
  for (int i = 1; i <= count && i < 300; i++) {
    text_addf(&p->source, "let f%d = |x| ", i);
    repeat(&p->source, of->open, wrap);
    text_addf(&p->source, "f%d(x)", i - 1);
    repeat(&p->source, of->close, wrap);
    text_addf(&p->source, "\n");
  }
  text_addf(&p->source, "f%d(0.5)\n", count < 300 ? count : 299);
  p->inside = count < CALLS && wrap * of->levels <= SOURCE_LEVELS && count * (wrap + 2) <= PRODUCT / 3;
}

/* Lines that make deep values, long rows and long chains of else if. */
static void mind_lines(uint64_t *state, program *p) {
  int count = depth_of(state), kind = below(state, 6);
  p->inside = count <= 1000;
  text_addf(&p->source, kind < 2 ? "let t = (1,)\n" : "let t = 1.0\n");
  for (int i = 0; kind < 2 && i < count - 1; i++)
    text_addf(&p->source, kind ? "let t = (1, t)\n" : "let t = (t,)\n");
  if (kind < 2) text_addf(&p->source, "print(t)\nlet u = if true { t } else { t }\nu\n");
  if (kind == 2) repeat(&p->source, "t + ", count), text_addf(&p->source, "t\n");
  if (kind == 3) text_addf(&p->source, "t"), repeat(&p->source, ".abs()", count), text_addf(&p->source, "\n");
  if (kind == 4) {
    repeat(&p->source, "if t > 2.0 { 1.0 } else ", count);
    text_addf(&p->source, "{ 2.0 }\n");
  }
  if (kind == 5) {
    repeat(&p->source, "/* ", count);
    repeat(&p->source, "*/ ", count);
    text_addf(&p->source, "t\n");
  }
}

static void mind_types(uint64_t *state, program *p) {
  int depth = depth_of(state);
  text_addf(&p->source, "fn f(x: ");
  repeat(&p->source, "(", depth);
  text_addf(&p->source, "f64");
  repeat(&p->source, ",)", depth);
  text_addf(&p->source, ") -> f64 = 1.0\nlet v = ");
  repeat(&p->source, "(", depth);
  text_addf(&p->source, "1.0");
  repeat(&p->source, ",)", depth);
  text_addf(&p->source, "\nf(v)\n");
  p->inside = depth <= SOURCE_LEVELS;
}

static void mind_gradients(uint64_t *state, program *p) {
  int depth = 1 + below(state, 4), levels = 0;
  text body = { 0 };
  NEST(state, mind, "x", &body, &levels);
  text_addf(&p->source, "fn f(x: f64) -> f64 = %s\nlet g = ", body.bytes);
  repeat(&p->source, "grad(", depth);
  text_addf(&p->source, "f");
  repeat(&p->source, ")", depth);
  text_addf(&p->source, "\ng(2.0)\n");
  free(body.bytes);
}

static program mind_program(uint64_t *state) {
  program p = { .file = "p.mind" };
  int levels = 0;
  switch (below(state, 8)) {
    case 0: mind_recursion(state, &p); break;
    case 1: mind_closures(state, &p); break;
    case 2: mind_lines(state, &p); break;
    case 3: mind_types(state, &p); break;
    case 4: mind_gradients(state, &p); break;
    case 5:
      p.modules = below(state, 2) ? 150 : 250;
      text_addf(&p.source, "import m0\nm0.f(1.0)\n");
      p.inside = p.modules < 200;
      break;
    default:
      NEST(state, mind, "1.0", &p.source, &levels);
      text_addf(&p.source, "\n");
      p.inside = levels <= SOURCE_LEVELS;
      break;
  }
  return p;
}

/* Functions that call the one before; the last calls from inside of constructs. */
static void ail_functions(uint64_t *state, program *p) {
  int count = depth_of(state), levels = 0;
  text body = { 0 };
  if (count > 1000) count = 1000;
  NEST(state, ail, "f0(x)", &body, &levels);
  text_addf(&p->source, "fn f0(x) { return relu(x) }\n");
  for (int i = 1; i <= count; i++) text_addf(&p->source, "fn f%d(x) { return f%d(relu(x)) }\n", i, i - 1);
  text_addf(&p->source, "model {\n  x [B, 4]\n  h = f%d(x)\n  y = %s\n}\n", count, body.bytes);
  free(body.bytes);
  p->inside = count <= 190 && levels <= SOURCE_LEVELS;
}

static void ail_events(uint64_t *state, program *p) {
  int count = depth_of(state);
  if (count > 1000) count = 1000;
  text_addf(&p->source, "app A {\nstate { n: int = 0 }\n");
  for (int i = 0; i < count; i++) text_addf(&p->source, "on e%d { emit e%d }\n", i, i + 1);
  text_addf(&p->source, "on e%d { n = n + 1 }\n}\n", count);
}

static program ail_program(uint64_t *state) {
  program p = { .file = "p.ail" };
  int levels = 1, kind = below(state, 5);
  if (kind == 0) {
    ail_functions(state, &p);
  } else if (kind == 1) {
    ail_events(state, &p);
  } else {
    text_addf(&p.source, "model {\n  x [B, 4]\n  y = ");
    NEST(state, ail, "x", &p.source, &levels);
    text_addf(&p.source, "\n}\n");
    p.inside = levels <= SOURCE_LEVELS;
  }
  return p;
}

/* A function that calls itself from inside of blocks. */
static void ninth_recursion(uint64_t *state, program *p) {
  static const int calls[] = { 1, 100, 500, 990, 1001, 5000, 100000 };
  int count = calls[below(state, 7)], wrap = below(state, 4) * 30;
  const construct *of = &ninth[below(state, 4)];
  text_addf(&p->source, "[DEF] \"f\" 1 [SUB] [DUP] [IF] ");
  repeat(&p->source, of->open, wrap);
  text_addf(&p->source, "[CALL] \"f\" ");
  repeat(&p->source, of->close, wrap);
  text_addf(&p->source, "[ENDIF] [RET]\n%d [CALL] \"f\" [PRINT]\n", count);
  p->inside = count < 1000;
}

static program ninth_program(uint64_t *state) {
  program p = { .file = "p.nth" };
  int levels = 0, kind = below(state, 4);
  if (kind == 0) {
    ninth_recursion(state, &p);
  } else {
    NEST(state, ninth, "1 [PRINT]", &p.source, &levels);
    if (kind == 1) text_addf(&p.source, " 1 2 [ADD] [PRINT]\n");
    text_addf(&p.source, "\n");
    p.inside = levels <= SOURCE_LEVELS && !strstr(p.source.bytes, "} [CALL]") && kind != 1;
  }
  return p;
}

/* Regions in regions. */
static program graph_program(uint64_t *state) {
  program p = { .file = "p.graph" };
  int depth = depth_of(state);
  text_addf(&p.source, "graph(%%c: bool[], %%x: f32[2]) {\n");
  for (int i = 0; i < depth; i++) text_addf(&p.source, "%%i%d = if %%c {\n", i);
  for (int i = depth; i-- > 0;) text_addf(&p.source, "yield %%x } else { yield %%x }\n");
  text_addf(&p.source, "return %%x\n}\n");
  p.inside = depth <= 990;
  return p;
}

static program program_of(const settings *s, uint64_t index) {
  uint64_t state = s->seed * UINT64_C(1000003) + index;
  switch (below(&state, 8)) {
    case 0:
    case 1: return ail_program(&state);
    case 2:
    case 3: return ninth_program(&state);
    case 4: return graph_program(&state);
    default: return mind_program(&state);
  }
}

/* Running ---------------------------------------------------------------- */

typedef struct {
  uint64_t runs, signals, bugs, refused, hangs;
} tally;

static void write_modules(const char *folder, int count) {
  for (int i = 0; i < count; i++) {
    text path = { 0 }, source = { 0 };
    text_addf(&path, "%s/m%d.mind", folder, i);
    if (i + 1 < count) text_addf(&source, "import m%d\nfn f(x: f64) -> f64 = m%d.f(x)\n", i + 1, i + 1);
    else text_addf(&source, "fn f(x: f64) -> f64 = x\n");
    write_file(path.bytes, source);
    free(path.bytes);
    free(source.bytes);
  }
}

static void keep(const settings *s, const program *p, uint64_t index, const char *command) {
  text path = { 0 }, line = { 0 };
  if (!s->keep) return;
  mkdir(s->keep, 0777);
  text_addf(&path, "%s/%llu", s->keep, (unsigned long long)index);
  mkdir(path.bytes, 0777);
  text_addf(&path, "/%s", p->file);
  write_file(path.bytes, p->source);
  text_addf(&path, ".command");
  text_addf(&line, "%s\n", command);
  write_file(path.bytes, line);
  free(path.bytes);
  free(line.bytes);
}

/* What may not happen, in a word; NULL: nothing. */
static const char *judge(const outcome *done, bool must_pass, tally *t) {
  if (done->timed_out) return t->hangs++, "hangs";
  if (done->status >= 128) return t->signals++, "ended by a signal";
  if (done->status != 0 && done->status != 1) return t->bugs++, "unknown status";
  bool said = strstr(done->out.bytes, "error[") || strstr(done->out.bytes, "\"code\"");
  if (done->status == 1 && !said) return t->bugs++, "fails without a diagnostic";
  if (done->status == 1 && must_pass) return t->refused++, "refused inside the limits";
  return NULL;
}

static const char *const emitted[] = { "graph", "grad", "mlir", "onnx", "dot", "svg" };

static void try_once(const settings *s, const program *p, uint64_t index, int stack, const char *verb,
                     tally *t) {
  char *folder = scratch_new();
  text path = { 0 }, command = { 0 };
  text_addf(&path, "%s/%s", folder, p->file);
  write_file(path.bytes, p->source);
  if (p->modules) write_modules(folder, p->modules);
  bool runs = strcmp(verb, "run") == 0, app = runs && strstr(p->source.bytes, "app A");
  bool emits = strcmp(verb, "emit") == 0;
  text_addf(&command, "ulimit -s %d && exec '%s' %s %s", stack, s->tern, app ? "app" : verb, p->file);
  if (emits) text_addf(&command, " --as %s", emitted[index % (sizeof emitted / sizeof *emitted)]);
  if (runs && index % 2) text_addf(&command, " --json");
  if (app) text_addf(&command, " --event e0");
  if (runs && strstr(p->file, "graph")) text_addf(&command, " --input c=true --input 'x=[1, 2]'");
  outcome done = run_shell(command.bytes, folder, NULL, SECONDS, RUN_MERGED);
  const char *wrong = judge(&done, p->inside && !emits && stack >= 8192 && !s->large, t);
  t->runs++;
  if (wrong) {
    printf("program %llu, %s with a stack of %d kB: %s\n%.300s\n", (unsigned long long)index, verb, stack,
           wrong, done.out.bytes);
    keep(s, p, index, command.bytes);
  }
  outcome_free(&done);
  free(path.bytes);
  free(command.bytes);
  scratch_free(folder);
}

static void try_program(const settings *s, uint64_t index, tally *t) {
  static const char *const verbs[] = { "check", "run", "emit", "fmt" };
  static const int stacks[] = { 8192, 1024, 256 };
  program p = program_of(s, index);
  for (int i = 0; i < (s->large ? 1 : 3); i++)
    for (int k = 0; k < 4; k++) try_once(s, &p, index, stacks[i], verbs[k], t);
  free(p.source.bytes);
}

/* Each job writes its tally to a pipe. */
static int start(const settings *s, int job) {
  int ends[2];
  if (pipe(ends) != 0) die("depth: no pipe");
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) die("depth: no process");
  if (child > 0) {
    close(ends[1]);
    return ends[0];
  }
  tally t = { 0 };
  for (uint64_t i = (uint64_t)job; i < s->count; i += (uint64_t)s->jobs) try_program(s, i, &t);
  fflush(stdout);
  _exit(write(ends[1], &t, sizeof t) == sizeof t ? 0 : 2);
}

static tally try_all(const settings *s) {
  tally sum = { 0 };
  int from[MOST_JOBS];
  if (s->has_only) {
    try_program(s, s->only, &sum);
    return sum;
  }
  for (int i = 0; i < s->jobs; i++) from[i] = start(s, i);
  for (int i = 0; i < s->jobs; i++) {
    tally t;
    if (read(from[i], &t, sizeof t) != sizeof t) die("depth: a worker ended early");
    sum.runs += t.runs, sum.signals += t.signals, sum.bugs += t.bugs;
    sum.refused += t.refused, sum.hangs += t.hangs;
    close(from[i]);
    wait(NULL);
  }
  return sum;
}

/* Settings --------------------------------------------------------------- */

static void take(settings *s, const char *name, const char *value) {
  if (strcmp(name, "--tern") == 0) {
    if (!realpath(value, s->tern)) die("depth: there is no program %s", value);
  } else if (strcmp(name, "--keep") == 0)
    s->keep = value;
  else if (strcmp(name, "--count") == 0)
    s->count = strtoull(value, NULL, 10);
  else if (strcmp(name, "--seed") == 0)
    s->seed = strtoull(value, NULL, 10);
  else if (strcmp(name, "--jobs") == 0)
    s->jobs = atoi(value);
  else if (strcmp(name, "--large") == 0)
    s->large = atoi(value) != 0;
  else if (strcmp(name, "--only") == 0)
    s->only = strtoull(value, NULL, 10), s->has_only = true;
  else
    die("depth: there is no option %s", name);
}

int main(int count, char **words) {
  settings s = { .count = 1000, .seed = 1, .jobs = 1 };
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) die("depth: %s needs a value", words[i]);
    take(&s, words[i], words[i + 1]);
  }
  if (!s.tern[0] || s.jobs < 1 || s.jobs > MOST_JOBS)
    die("depth: --tern PROGRAM is needed, and --jobs is 1 to %d", MOST_JOBS);
  tally t = try_all(&s);
  printf("depth: %llu programs, %llu runs, %llu signals, %llu hangs, %llu other statuses, "
         "%llu refused inside the limits\n",
         (unsigned long long)(s.has_only ? 1 : s.count), (unsigned long long)t.runs,
         (unsigned long long)t.signals, (unsigned long long)t.hangs, (unsigned long long)t.bugs,
         (unsigned long long)t.refused);
  return t.signals + t.hangs + t.bugs + t.refused > 0;
}
