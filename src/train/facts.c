/* train/facts.c: reads data.json. rows_facts.c describes its form. */
#include "train/facts.h"

#include <math.h>

#include "base/json.h"
#include "base/seal.h"

const char tn_facts_no_memory[] = "memory ran out";
static const char wrong_form[] = "it does not have the form that tern writes";

typedef struct {
  tn_heap *heap;
  const tn_specs *specs;
  const tn_names *names;
  tn_arena *arena;
  tn_json_reader json;
  tn_json_token token;
  tn_facts *out;
  const char *problem;
} reader;

typedef tn_vec(double) numbers;
typedef tn_vec(tn_str) texts;

/* What a member of an input holds before it is known which input it is. */
typedef struct {
  tn_str name, tokens, tokenizer;
  int64_t width;
  numbers fill, mean, deviation;
  texts classes, vocabulary;
} member;

static bool refuse(reader *r, const char *problem) {
  if (!r->problem) r->problem = r->json.out_of_memory || r->arena->failed ? tn_facts_no_memory : problem;
  return false;
}

static bool next_is(reader *r, tn_json_kind kind) {
  return tn_json_next(&r->json, &r->token) == kind ? true : refuse(r, wrong_form);
}

/* ---- values ---- */

static bool read_string(reader *r, tn_str *out) {
  if (!next_is(r, TN_JSON_STRING)) return false;
  *out = r->token.text;
  return true;
}

static bool read_numbers(reader *r, numbers *out) {
  double number;
  if (!next_is(r, TN_JSON_ARRAY_BEGIN)) return false;
  while (tn_json_next(&r->json, &r->token) == TN_JSON_NUMBER) {
    if (!tn_json_token_f64(&r->token, &number) || !isfinite(number)) return refuse(r, wrong_form);
    if (!tn_vec_push(r->heap, out, number)) return refuse(r, tn_facts_no_memory);
  }
  return r->token.kind == TN_JSON_ARRAY_END ? true : refuse(r, wrong_form);
}

static bool read_texts(reader *r, texts *out) {
  if (!next_is(r, TN_JSON_ARRAY_BEGIN)) return false;
  while (tn_json_next(&r->json, &r->token) == TN_JSON_STRING) {
    if (!tn_vec_push(r->heap, out, r->token.text)) return refuse(r, tn_facts_no_memory);
  }
  return r->token.kind == TN_JSON_ARRAY_END ? true : refuse(r, wrong_form);
}

static bool read_width(reader *r, int64_t *out) {
  bool ok = next_is(r, TN_JSON_NUMBER) && tn_json_token_i64(&r->token, out);
  return ok && *out > 0 && *out <= INT32_MAX ? true : refuse(r, wrong_form);
}

static bool read_member(reader *r, tn_str key, member *m) {
  if (tn_str_is(key, "name")) return read_string(r, &m->name);
  if (tn_str_is(key, "width")) return read_width(r, &m->width);
  if (tn_str_is(key, "fill")) return read_numbers(r, &m->fill);
  if (tn_str_is(key, "mean")) return read_numbers(r, &m->mean);
  if (tn_str_is(key, "deviation")) return read_numbers(r, &m->deviation);
  if (tn_str_is(key, "classes")) return read_texts(r, &m->classes);
  if (tn_str_is(key, "tokens")) return read_string(r, &m->tokens);
  if (tn_str_is(key, "tokenizer")) return read_string(r, &m->tokenizer);
  if (tn_str_is(key, "vocabulary")) return read_texts(r, &m->vocabulary);
  return refuse(r, wrong_form);
}

static void free_member(reader *r, member *m) {
  tn_vec_free(r->heap, &m->fill);
  tn_vec_free(r->heap, &m->mean);
  tn_vec_free(r->heap, &m->deviation);
  tn_vec_free(r->heap, &m->classes);
  tn_vec_free(r->heap, &m->vocabulary);
}

/* ---- an input ---- */

static tn_input_facts *input_named(reader *r, tn_str name) {
  for (size_t i = 0; i < r->out->count; i++) {
    if (tn_str_equal(tn_names_text(r->names, r->specs->inputs[i].name), name)) return &r->out->inputs[i];
  }
  return NULL;
}

/* As many numbers as a row has, or none. */
static bool keep_f64(reader *r, const numbers *from, size_t width, double **out) {
  if (from->count == 0) return true;
  if (from->count != width) return refuse(r, "an input has more or fewer statistics than columns");
  *out = tn_arena_copy(r->arena, from->at, width * sizeof **out);
  return *out ? true : refuse(r, tn_facts_no_memory);
}

static bool keep_fill(reader *r, const numbers *from, tn_input_facts *to) {
  if (from->count == 0) return true;
  if (from->count != to->width) return refuse(r, "an input has more or fewer statistics than columns");
  to->fill = tn_arena_array(r->arena, to->width, sizeof *to->fill);
  for (size_t i = 0; to->fill && i < to->width; i++) to->fill[i] = (float)from->at[i];
  return to->fill ? true : refuse(r, tn_facts_no_memory);
}

static bool keep_classes(reader *r, const texts *from, tn_input_facts *to) {
  if (from->count == 0) return true;
  to->class_count = from->count;
  to->classes = tn_arena_array(r->arena, from->count, sizeof *to->classes);
  for (size_t i = 0; to->classes && i < from->count; i++)
    to->classes[i] = tn_arena_str(r->arena, from->at[i]);
  return to->classes && !r->arena->failed ? true : refuse(r, tn_facts_no_memory);
}

static bool keep_words(reader *r, const member *m, tn_vocab_kind kind, tn_input_facts *to) {
  to->vocab = tn_vocab_new(r->heap, kind);
  if (!to->vocab) return refuse(r, tn_facts_no_memory);
  for (size_t i = 0; i < m->vocabulary.count; i++) {
    if (!tn_vocab_add(to->vocab, m->vocabulary.at[i]))
      return refuse(r, "a vocabulary has a word twice");
  }
  return true;
}

static bool keep_bpe(reader *r, const member *m, tn_input_facts *to) {
  tn_bpe_fault fault;
  to->vocab = tn_vocab_new_bpe(r->heap, m->tokenizer, &fault);
  if (to->vocab) return true;
  return refuse(r, fault.problem == TN_BPE_MEMORY ? tn_facts_no_memory : "its tokenizer cannot be read");
}

static bool keep_vocab(reader *r, const member *m, tn_input_facts *to) {
  if (m->tokens.len == 0) return true;
  if (tn_str_is(m->tokens, "bpe")) return keep_bpe(r, m, to);
  bool words = tn_str_is(m->tokens, "words"), chars = tn_str_is(m->tokens, "chars");
  if (!words && !chars && !tn_str_is(m->tokens, "bytes")) return refuse(r, wrong_form);
  return keep_words(r, m, words ? TN_VOCAB_WORDS : chars ? TN_VOCAB_CHARS : TN_VOCAB_BYTES, to);
}

static bool keep(reader *r, const member *m) {
  tn_input_facts *to = input_named(r, m->name);
  if (!to || to->known) return refuse(r, "it is of another program");
  to->known = true;
  to->width = (size_t)m->width;
  bool ok = m->width > 0 && (m->deviation.count > 0) == (m->mean.count > 0);
  for (size_t i = 0; ok && i < m->deviation.count; i++) ok = m->deviation.at[i] > 0;
  if (!ok) return refuse(r, wrong_form);
  return keep_fill(r, &m->fill, to) && keep_f64(r, &m->mean, to->width, &to->mean) &&
         keep_f64(r, &m->deviation, to->width, &to->deviation) && keep_classes(r, &m->classes, to) &&
         keep_vocab(r, m, to);
}

static bool read_input(reader *r) {
  member m = { 0 };
  bool ok = true;
  while (ok && tn_json_next(&r->json, &r->token) == TN_JSON_KEY) ok = read_member(r, r->token.text, &m);
  ok = ok && (r->token.kind == TN_JSON_OBJECT_END || refuse(r, wrong_form)) && keep(r, &m);
  free_member(r, &m);
  return ok;
}

/* {"inputs":[...],"tern.sha256":"..."} */
static bool read_all(reader *r) {
  if (!next_is(r, TN_JSON_OBJECT_BEGIN) || !next_is(r, TN_JSON_KEY) || !next_is(r, TN_JSON_ARRAY_BEGIN))
    return false;
  while (tn_json_next(&r->json, &r->token) == TN_JSON_OBJECT_BEGIN) {
    if (!read_input(r)) return false;
  }
  return r->token.kind == TN_JSON_ARRAY_END ? true : refuse(r, wrong_form);
}

const char *tn_facts_read(tn_heap *heap, tn_str text, const tn_specs *specs, const tn_names *names,
                          tn_arena *arena, tn_facts *out) {
  reader r = { .heap = heap, .specs = specs, .names = names, .arena = arena, .out = out };
  const char *digits = tn_seal_find(text);
  *out = (tn_facts){ tn_arena_array(arena, specs->input_count + 1, sizeof *out->inputs), 0 };
  if (!out->inputs) return tn_facts_no_memory;
  out->count = specs->input_count;
  if (text.len == 0) return NULL; /* the run has none */
  if (!digits || !tn_seal_holds(text.at, text.len, digits))
    return "it was changed: its hash does not match";
  tn_json_init(&r.json, text, arena);
  return read_all(&r) ? NULL : r.problem;
}

void tn_facts_free(tn_facts *facts) {
  for (size_t i = 0; i < facts->count; i++) tn_vocab_free(facts->inputs[i].vocab);
  facts->count = 0;
}
