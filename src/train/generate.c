/* train/generate.c: generates text, token by token.
 *
 * The prompt, and the remaining half of a full window, are computed as a whole window; every
 * further token is a step of one position, if the model allows it (a KV cache). Both give the same
 * bits. */
#include "train/generate.h"

#include <string.h>

#include "base/utf8.h"
#include "train/indices.h"
#include "train/kept.h"

typedef struct {
  tn_trained trained;
  const tn_generate_options *options;
  size_t input;                /* that takes tokens */
  const tn_input_facts *facts; /* of it */
  size_t places;               /* of a window */
  size_t classes;              /* scores at a place */
  tn_str answer;               /* the name of the output */
  tn_sizes sizes;
  tn_lowered lowered;
  tn_plan *plan;      /* of a window */
  tn_kept kept;       /* of its first places, if the window need not be computed as a whole */
  tn_tensor *inputs;  /* of it, by input; those that the answer does not need are empty */
  float *scores;      /* of one place */
  bool *allowed;      /* by class: it is a token that has a text */
  tn_i32s window;
  tn_rng rng;
  tn_text text; /* made, and not yet taken: part of a character */
  size_t made;
} generator;

static bool no_memory(const generator *g) { return tn_trained_no_memory(&g->trained); }

/* ---- the model ---- */

static bool cannot(const generator *g, const char *reason) {
  return tn_report(g->trained.host->diags, TN_DIAG_E_CANNOT_GENERATE, TN_NOWHERE,
                   TN_TEXT("output", g->answer), TN_STR("reason", reason));
}

static bool find_tokens(generator *g) {
  const tn_facts *facts = &g->trained.facts;
  for (size_t i = 0; i < facts->count; i++) {
    if (!facts->inputs[i].vocab) continue;
    if (tn_trained_is_given(&g->trained, i))
      return tn_host_usage(g->trained.host, "the input `", tn_trained_input(&g->trained, i),
                           "` comes from --prompt");
    g->input = i;
    g->facts = &facts->inputs[i];
    g->places = g->facts->width;
    return true;
  }
  return tn_host_usage(g->trained.host, "the run has no vocabulary, so ", TN_LIT("--prompt"),
                       " has no tokens: train on format = \"text\" with tokens = chars(), words(), bytes() "
                       "or bpe(...)");
}

/* One window. */
static bool size(generator *g) {
  const tn_training *program = &g->trained.program;
  size_t count = program->specs.input_count;
  tn_shape *given = tn_arena_array(g->trained.arena, count + 1, sizeof *given);
  if (!given) return no_memory(g);
  for (size_t i = 0; i < count; i++) given[i] = (tn_shape){ .rank = -1 };
  given[g->input] = tn_shape_make(2, (int64_t)1, (int64_t)g->places);
  tn_size_request request = { .given = given, .batch = 1, .no_defaults = program->dataset != NULL };
  return program->doors->size(program->model, &request, g->trained.arena, &g->sizes);
}

/* Scores for every token at every place: [1, places, classes]. */
static bool find_answer(generator *g) {
  tn_graph *graph = &g->lowered.graph;
  const tn_output *output = &graph->outputs.at[g->lowered.logits];
  const tn_shape *shape = &tn_graph_type(graph, output->value)->shape;
  g->answer = tn_names_text(g->trained.host->names, output->name);
  if (!g->lowered.classifies) return cannot(g, "the loss does not compare it with labels, as xent does");
  if (shape->rank != 3 || shape->dim[0] != 1 || shape->dim[1] != (int64_t)g->places)
    return cannot(g, "it does not have the shape [B, T, V]: scores for every token at every position");
  g->classes = (size_t)shape->dim[2];
  graph->outputs.at[0] = *output;
  graph->outputs.count = 1;
  return true;
}

static bool make_input(generator *g, size_t input) {
  const tn_training *program = &g->trained.program;
  tn_dtype dtype = program->specs.inputs[input].type.dtype;
  if (tn_trained_is_given(&g->trained, input))
    return program->doors->supplied(program->model, input, &g->inputs[input]);
  if (input != g->input)
    return tn_host_usage(g->trained.host, "the answer needs the input `",
                         tn_trained_input(&g->trained, input), "`: give it by --input");
  return tn_tensor_zeros(g->trained.host->heap, dtype, &g->sizes.inputs[input], &g->inputs[input]) ||
         no_memory(g);
}

static bool make_inputs(generator *g) {
  size_t count = g->trained.program.specs.input_count;
  const tn_graph *graph = &g->lowered.graph;
  bool *needed = tn_graph_needed(graph, graph->outputs.at[0].value, g->trained.arena);
  g->inputs = tn_arena_array(g->trained.arena, count + 1, sizeof *g->inputs);
  if (!g->inputs || !needed) return no_memory(g);
  if (!needed[graph->inputs.at[g->input]]) return cannot(g, "it does not depend on the tokens");
  for (size_t i = 0; i < count; i++) {
    if (needed[graph->inputs.at[i]] && !make_input(g, i)) return false;
  }
  return true;
}

static bool make_plans(generator *g) {
  if (!g->options->whole && !tn_kept_derive(&g->kept, &g->trained, &g->lowered.graph, g->input)) return false;
  if (!tn_kept_plan(&g->kept, &g->trained, g->inputs, g->input)) return false;
  g->plan = tn_trained_plan(&g->trained, &g->lowered.graph, NULL);
  if (!g->plan) return false;
  for (size_t i = 0; i < g->trained.program.specs.input_count; i++)
    if (g->inputs[i].buffer) tn_plan_bind_input(g->plan, (int)i, &g->inputs[i].view);
  return true;
}

static bool prepare_model(generator *g) {
  const tn_training *program = &g->trained.program;
  return find_tokens(g) && size(g) &&
         program->doors->lower(program->model, &g->sizes, TN_LOWER_INFERENCE, &g->lowered) &&
         find_answer(g) && make_inputs(g) && program->doors->allow(program->model, &g->lowered.graph) &&
         tn_trained_params(&g->trained, &g->sizes) && make_plans(g);
}

static bool run(generator *g) {
  tn_fault fault;
  return tn_plan_run(g->plan, &fault) || tn_trained_fault(&g->trained, &fault);
}

static int32_t *window_of(generator *g) { return g->inputs[g->input].view.data; }

static void read_scores(const generator *g, const tn_plan *plan, size_t place, float *out) {
  tn_view all = tn_plan_output(plan, 0);
  for (size_t i = 0; i < g->classes; i++)
    out[i] = (float)tn_view_get_f64(&all, (int64_t)(place * g->classes + i));
}

/* ---- causal ---- */

/* Other tokens in the second half of a window must not change a bit of the scores in the first. */
static bool check_causal(generator *g) {
  size_t half = g->places / 2, scores = half * g->classes;
  if (half == 0) return true;
  float *first = tn_arena_array(g->trained.arena, scores + 1, sizeof *first);
  if (!first) return no_memory(g);
  for (size_t i = 0; i < g->places; i++) window_of(g)[i] = (int32_t)(i % 2);
  if (!run(g)) return false;
  for (size_t i = 0; i < half; i++) read_scores(g, g->plan, i, first + i * g->classes);
  for (size_t i = half; i < g->places; i++) window_of(g)[i] = (int32_t)((i + 1) % 2);
  if (!run(g)) return false;
  for (size_t i = 0; i < half; i++) {
    read_scores(g, g->plan, i, g->scores);
    if (memcmp(g->scores, first + i * g->classes, g->classes * sizeof *first) != 0)
      return cannot(g, "at a position it depends on later tokens: the model is not causal");
  }
  return true;
}

/* ---- tokens ---- */

static bool allow_tokens(generator *g) {
  size_t size = tn_vocab_size(g->facts->vocab);
  g->scores = tn_arena_array(g->trained.arena, g->classes + 1, sizeof *g->scores);
  g->allowed = tn_arena_array(g->trained.arena, g->classes + 1, sizeof *g->allowed);
  if (!g->scores || !g->allowed) return no_memory(g);
  for (size_t i = 0; i < g->classes && i < size; i++) {
    tn_text_clear(&g->text);
    tn_vocab_decode(g->facts->vocab, (int32_t)i, true, &g->text);
    g->allowed[i] = g->text.len > 0;
  }
  tn_text_clear(&g->text);
  return g->text.failed ? no_memory(g) : true;
}

static bool read_prompt(generator *g) {
  tn_str prompt = tn_str_of(g->options->prompt), unknown;
  tn_host *host = g->trained.host;
  if (!tn_utf8_valid(prompt)) return tn_host_usage(host, "", TN_LIT("--prompt"), " is not UTF-8");
  if (tn_vocab_find_unknown(g->facts->vocab, prompt, &unknown))
    return tn_host_usage_hint(host, "`", unknown, "` of --prompt is not in the vocabulary of the run",
                              TN_LIT("a run knows what is in the text that it was trained on"));
  if (!tn_vocab_encode(g->facts->vocab, prompt, SIZE_MAX, &g->window)) return no_memory(g);
  if (g->window.count > 0) return true;
  return tn_host_usage(host, "", TN_LIT("--prompt"), " has no token to continue");
}

/* Only the last `count` tokens stay. */
static void keep_last(generator *g, size_t count) {
  size_t drop = g->window.count > count ? g->window.count - count : 0;
  if (drop == 0) return;
  memmove(g->window.at, g->window.at + drop, count * sizeof *g->window.at);
  g->window.count = count;
}

static bool add_token(generator *g, int32_t token) {
  if (g->window.count == g->places) {
    keep_last(g, g->places / 2);
    g->kept.places = 0; /* every place has another number now */
  }
  return tn_vec_push(g->trained.host->heap, &g->window, token) || no_memory(g);
}

/* The scores after the last token of the window: of its place alone, if those before it are kept. */
static bool score(generator *g) {
  int32_t *places = window_of(g);
  size_t last = g->window.count - 1;
  if (g->kept.plan && last > 0 && g->kept.places == last) {
    if (!tn_kept_step(&g->kept, &g->trained, g->window.at[last])) return false;
    read_scores(g, g->kept.plan, 0, g->scores);
    return true;
  }
  memset(places, 0, g->places * sizeof *places);
  memcpy(places, g->window.at, g->window.count * sizeof *places);
  if (!run(g)) return false;
  read_scores(g, g->plan, last, g->scores);
  tn_kept_fill(&g->kept, g->plan, g->window.count);
  return true;
}

/* ---- text ---- */

/* The length of the character at `at`, or 1 for an invalid byte. 0: it may be incomplete. */
static size_t whole_at(tn_str text, size_t at, bool last) {
  uint32_t code;
  size_t length = tn_utf8_decode(text, at, &code);
  if (length > 0) return length;
  unsigned char lead = (unsigned char)text.at[at];
  size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  bool may_go_on = !last && text.len - at < wanted;
  for (size_t i = at + 1; i < text.len; i++) may_go_on = may_go_on && (text.at[i] & 0xc0) == 0x80;
  return may_go_on ? 0 : 1;
}

static void add_character(const generator *g, tn_str character, tn_text *out) {
  bool plain = tn_str_is(character, "\n") || tn_str_is(character, "\t");
  if (!tn_utf8_valid(character))
    tn_text_puts(out, "\xef\xbf\xbd");
  else if (g->options->shown && !plain)
    tn_diag_put_safe(out, character);
  else
    tn_text_add(out, character);
}

/* Passes complete characters on; at the end, everything that is left. */
static bool send(generator *g, bool last) {
  tn_str made = tn_text_str(&g->text);
  tn_text out;
  size_t at = 0;
  tn_text_init(&out, g->trained.host->heap);
  for (size_t length; at < made.len && (length = whole_at(made, at, last)) > 0; at += length)
    add_character(g, (tn_str){ made.at + at, length }, &out);
  bool failed = out.failed || g->text.failed;
  bool ok = failed ? no_memory(g) : out.len == 0 || g->options->take(g->options->context, tn_text_str(&out));
  tn_text_free(&out);
  if (failed || at == 0) return ok;
  memmove(g->text.at, g->text.at + at, g->text.len - at);
  g->text.len -= at;
  return ok;
}

static bool make_token(generator *g) {
  if (!score(g)) return false;
  size_t token = tn_sample(&g->options->sampling, g->scores, g->allowed, g->classes, &g->rng);
  if (token == SIZE_MAX) return cannot(g, "its scores are not finite");
  g->made++;
  tn_vocab_decode(g->facts->vocab, (int32_t)token, false, &g->text);
  return send(g, false) && add_token(g, (int32_t)token);
}

static bool generate(generator *g) {
  tn_text_init(&g->text, g->trained.host->heap);
  tn_rng_init(&g->rng, g->options->seed);
  if (!prepare_model(g) || !allow_tokens(g) || !read_prompt(g) || !check_causal(g)) return false;
  keep_last(g, g->places);
  while (g->made < g->options->tokens)
    if (!make_token(g)) return false;
  return send(g, true);
}

bool tn_generate(tn_unit *unit, const tn_training_doors *doors, const tn_generate_options *options,
                 tn_arena *arena, size_t *tokens) {
  generator g = { .options = options };
  tn_heap *heap = unit->host->heap;
  bool ok = tn_trained_open(&g.trained, unit, doors, &options->trained, arena) && generate(&g);
  *tokens = g.made;
  tn_plan_free(g.plan);
  tn_kept_free(&g.kept, heap);
  for (size_t i = 0; g.inputs && i < g.trained.program.specs.input_count; i++)
    if (g.inputs[i].buffer) tn_tensor_unref(&g.inputs[i]);
  tn_lowered_free(&g.lowered, heap);
  tn_vec_free(heap, &g.window);
  tn_text_free(&g.text);
  tn_trained_close(&g.trained);
  return ok;
}
