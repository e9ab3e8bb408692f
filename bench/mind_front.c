/* bench/mind_front.c: what MIND's front end costs in process: parse, check, lower to a graph.
 *
 *   bench_mind_front [SECONDS]
 *
 * For each program the time of one pass with everything before it, the best of several rounds, so that a
 * column less the one before is what a pass adds. The session's names and the text already exist, as they
 * are for an editor or a service that compiles again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/mind/emit.h"

typedef struct {
  tn_heap heap;
  tn_names *names;
  tn_sources sources;
  tn_diags diags;
  tn_host host;
} session;

typedef enum { PARSE, CHECK, LOWER, PASS_COUNT } pass;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may be using the machine */
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool lower(tn_mind *mind, tn_mind_module *module) {
  tn_mind_lowering_state s;
  tn_mind_value value;
  tn_mind_lowering_init(&s, mind);
  bool ok = tn_mind_eval_module(&s.e, module, &value);
  tn_mind_lowering_free(&s);
  return ok;
}

static bool compile(session *s, uint32_t file, pass last) {
  tn_arena arena;
  tn_mind mind;
  bool ok;
  tn_arena_init(&arena, &s->heap);
  if (last == PARSE) {
    tn_mind_unit unit = { .file = file };
    ok = tn_mind_parse(&arena, s->names, &s->sources, &s->diags, &unit);
  } else {
    tn_mind_init(&mind, &s->host, &arena);
    tn_mind_module *module = tn_mind_load(&mind, file);
    ok = module && (last == CHECK || lower(&mind, module));
    tn_mind_free(&mind);
  }
  tn_arena_free(&arena);
  return ok;
}

/* Seconds of one compilation: the best of rounds of enough repetitions to be seen. */
static double measure(session *s, uint32_t file, pass last, double seconds) {
  double best = 1e9, begin = now();
  int repeat = 1;
  while (best == 1e9 || now() - begin < seconds) {
    double start = now();
    for (int i = 0; i < repeat; i++) {
      if (!compile(s, file, last)) {
        fprintf(stderr, "a program was rejected\n");
        exit(1);
      }
    }
    double took = now() - start;
    if (took < 1e-4 && repeat < 1 << 20)
      repeat *= 2;
    else if (took / repeat < best)
      best = took / repeat;
  }
  return best;
}

static void row(session *s, const char *name, const char *text, double seconds) {
  uint32_t file = tn_sources_add(&s->sources, TN_LIT("bench.mind"), tn_str_of(text));
  printf("%-44s", name);
  for (pass p = PARSE; p < PASS_COUNT; p++) printf(" %12.2f", measure(s, file, p, seconds) * 1e6);
  printf("\n");
}

/* 100,000 lines, each a binding of the one before. */
static char *many_lines(void) {
  enum { LINES = 100000, BYTES = 40 };
  char *text = malloc((size_t)LINES * BYTES), *at = text;
  if (!text) exit(1);
  at += sprintf(at, "let x0 = 1\n");
  for (int i = 1; i < LINES; i++) at += sprintf(at, "let x%d = x%d + %d * 2\n", i, i - 1, i);
  return text;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 0.5;
  session s = { 0 };
  s.names = tn_names_new(&s.heap);
  tn_sources_init(&s.sources, &s.heap);
  tn_diags_init(&s.diags, &s.heap, &s.sources);
  s.host = (tn_host){ .heap = &s.heap, .names = s.names, .sources = &s.sources, .diags = &s.diags };
  if (!s.names) return 1;
  printf("%-44s %12s %12s %12s\n", "microseconds", "parse", "+ check", "+ lower");
  row(&s, "1 + 2 * 3 - 4 / 2", "1 + 2 * 3 - 4 / 2\n", seconds);
  row(&s, "two annotated lets and a matmul",
      "let a: Tensor[f32,(2,3)] = 1\nlet b: Tensor[f32,(3,4)] = 2\na @ b\n", seconds);
  row(&s, "a network, 784-512-256-10",
      "let x: Tensor[f32,(32,784)] = 0\n"
      "let w1: Tensor[f32,(784,512)] = 0\nlet b1: Tensor[f32,(512)] = 0\n"
      "let w2: Tensor[f32,(512,256)] = 0\nlet b2: Tensor[f32,(256)] = 0\n"
      "let w3: Tensor[f32,(256,10)] = 0\nlet b3: Tensor[f32,(10)] = 0\n"
      "let h1 = relu(x @ w1 + b1)\nlet h2 = relu(h1 @ w2 + b2)\nsoftmax(h2 @ w3 + b3)\n",
      seconds);
  char *text = many_lines();
  row(&s, "100,000 lines", text, seconds);
  free(text);
  tn_diags_free(&s.diags);
  tn_sources_free(&s.sources);
  tn_names_free(s.names);
  return 0;
}
