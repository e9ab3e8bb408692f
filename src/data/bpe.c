/* data/bpe.c: reads a Hugging Face tokenizer.json.
 *
 * Members come in any order, so merges are kept as texts until the vocabulary is known. An unknown
 * setting that could change a token is a fault; settings for decoding, offsets or batches are
 * skipped. */
#include "data/bpe.h"

#include <string.h>

#include "base/utf8.h"
#include "data/bpe_internal.h"

typedef struct {
  tn_str left, right;
} merge_texts;

typedef struct {
  tn_json_reader json;
  tn_arena arena; /* texts with escapes */
  tn_bpe *bpe;
  tn_bpe_fault *fault;
  tn_vec(merge_texts) merges;
  tn_str unknown;
  bool has_pre_tokenizer, has_model;
} loader;

/* ---- faults ---- */

static bool fail(loader *l, tn_bpe_problem problem, const char *part, tn_str detail) {
  detail = tn_utf8_clip(detail, sizeof l->fault->detail - 1);
  l->fault->problem = problem;
  l->fault->part = part;
  if (detail.len > 0) memcpy(l->fault->detail, detail.at, detail.len);
  l->fault->detail[detail.len] = '\0';
  return false;
}

static bool no_memory(loader *l) { return fail(l, TN_BPE_MEMORY, "", TN_LIT("")); }
static bool wrong_form(loader *l, const char *part) { return fail(l, TN_BPE_FORM, part, TN_LIT("")); }
static bool unsupported(loader *l, const char *part, tn_str what) {
  return fail(l, TN_BPE_UNSUPPORTED, part, what);
}

static bool json_error(loader *l) {
  if (l->json.out_of_memory) return no_memory(l);
  l->fault->at = l->json.error_at;
  return fail(l, TN_BPE_JSON, "", tn_str_of(l->json.reason));
}

/* ---- values ---- */

static bool next(loader *l, tn_json_token *token) {
  return tn_json_next(&l->json, token) != TN_JSON_ERROR ? true : json_error(l);
}

static bool skip(loader *l, const tn_json_token *token) {
  return tn_json_skip(&l->json, token) ? true : json_error(l);
}

static bool skip_next(loader *l) {
  tn_json_token token;
  return next(l, &token) && skip(l, &token);
}

/* The next key of an object; false at its end, too, and then *ok is true. */
static bool next_key(loader *l, tn_str *key, bool *ok) {
  tn_json_token token;
  *ok = next(l, &token);
  *key = token.text;
  return *ok && token.kind == TN_JSON_KEY;
}

static bool read_string(loader *l, const char *part, tn_str *out) {
  tn_json_token token;
  if (!next(l, &token)) return false;
  *out = token.text;
  return token.kind == TN_JSON_STRING ? true : wrong_form(l, part);
}

static bool read_flag(loader *l, const char *part, bool *out) {
  tn_json_token token;
  if (!next(l, &token)) return false;
  *out = token.kind == TN_JSON_TRUE;
  return token.kind == TN_JSON_TRUE || token.kind == TN_JSON_FALSE ? true : wrong_form(l, part);
}

static bool is_token(const tn_json_token *token, int32_t *out) {
  int64_t number;
  bool ok = token->kind == TN_JSON_NUMBER && tn_json_token_i64(token, &number) && number >= 0 &&
            number < TN_BPE_TOKEN_LIMIT;
  if (ok) *out = (int32_t)number;
  return ok;
}

static bool read_token(loader *l, const char *part, int32_t *out) {
  tn_json_token token;
  if (!next(l, &token)) return false;
  return is_token(&token, out) ? true : wrong_form(l, part);
}

/* A text that must be absent, null or empty. */
static bool read_nothing(loader *l, const char *part) {
  tn_json_token token;
  if (!next(l, &token)) return false;
  if (token.kind == TN_JSON_NULL || (token.kind == TN_JSON_STRING && token.text.len == 0)) return true;
  return unsupported(l, part, token.text);
}

/* A flag that must be false or null. */
static bool read_unset(loader *l, const char *part) {
  tn_json_token token;
  if (!next(l, &token)) return false;
  if (token.kind == TN_JSON_NULL || token.kind == TN_JSON_FALSE) return true;
  return unsupported(l, part, token.kind == TN_JSON_TRUE ? TN_LIT("true") : token.text);
}

/* ---- vocabulary ---- */

uint32_t tn_bpe_letter(unsigned byte) {
  if ((byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173)) return byte;
  return 256 + (byte < 33 ? byte : byte < 161 ? byte - 127 + 33 : 67);
}

int32_t tn_bpe_find(const tn_bpe *bpe, tn_str text) {
  tn_name name = tn_names_find(bpe->names, text);
  return name && name <= bpe->tokens.count ? bpe->tokens.at[name - 1] : -1;
}

static bool set_text(loader *l, int32_t token, tn_str text) {
  tn_bpe *bpe = l->bpe;
  while (bpe->texts.count <= (size_t)token) {
    if (!tn_vec_push(bpe->heap, &bpe->texts, ((tn_str){ NULL, 0 }))) return no_memory(l);
  }
  bpe->texts.at[token] = text;
  return true;
}

static bool add_word(loader *l, tn_str text, int32_t token) {
  tn_bpe *bpe = l->bpe;
  tn_name name = tn_names_intern(bpe->names, text);
  if (!name) return no_memory(l);
  while (bpe->tokens.count < name) {
    if (!tn_vec_push(bpe->heap, &bpe->tokens, -1)) return no_memory(l);
  }
  bpe->tokens.at[name - 1] = token;
  return set_text(l, token, tn_names_text(bpe->names, name));
}

static bool read_vocabulary(loader *l) {
  tn_json_token token;
  tn_str text;
  int32_t number;
  bool ok;
  if (!next(l, &token)) return false;
  if (token.kind != TN_JSON_OBJECT_BEGIN) return wrong_form(l, "model.vocab");
  while (next_key(l, &text, &ok)) {
    if (!read_token(l, "model.vocab", &number) || !add_word(l, text, number)) return false;
    tn_arena_reset(&l->arena);
  }
  return ok;
}

/* "left right", or ["left", "right"] */
static bool read_merge(loader *l, const tn_json_token *first, merge_texts *out) {
  tn_json_token token;
  if (first->kind == TN_JSON_STRING) {
    const char *space = memchr(first->text.at, ' ', first->text.len);
    if (!space) return wrong_form(l, "model.merges");
    size_t left = (size_t)(space - first->text.at);
    *out = (merge_texts){ { first->text.at, left }, { space + 1, first->text.len - left - 1 } };
    return true;
  }
  if (first->kind != TN_JSON_ARRAY_BEGIN) return wrong_form(l, "model.merges");
  if (!read_string(l, "model.merges", &out->left) || !read_string(l, "model.merges", &out->right) ||
      !next(l, &token))
    return false;
  return token.kind == TN_JSON_ARRAY_END ? true : wrong_form(l, "model.merges");
}

static bool read_merges(loader *l) {
  tn_json_token token;
  merge_texts texts;
  if (!next(l, &token)) return false;
  if (token.kind != TN_JSON_ARRAY_BEGIN) return wrong_form(l, "model.merges");
  for (;;) {
    if (!next(l, &token)) return false;
    if (token.kind == TN_JSON_ARRAY_END) return true;
    if (!read_merge(l, &token, &texts)) return false;
    /* The vocabulary may come later and reset the arena, so what has escapes moves to one that stays. */
    texts.left = tn_arena_str(&l->bpe->arena, texts.left);
    texts.right = tn_arena_str(&l->bpe->arena, texts.right);
    if (l->bpe->arena.failed || !tn_vec_push(l->bpe->heap, &l->merges, texts)) return no_memory(l);
  }
}

/* ---- parts ---- */

static bool read_model_member(loader *l, tn_str key, tn_str *type) {
  tn_bpe *bpe = l->bpe;
  tn_json_token token;
  if (tn_str_is(key, "type")) return read_string(l, "model.type", type);
  if (tn_str_is(key, "dropout")) return read_unset(l, "model.dropout");
  if (tn_str_is(key, "byte_fallback")) return read_unset(l, "model.byte_fallback");
  if (tn_str_is(key, "continuing_subword_prefix")) return read_nothing(l, "model.continuing_subword_prefix");
  if (tn_str_is(key, "end_of_word_suffix")) return read_nothing(l, "model.end_of_word_suffix");
  if (tn_str_is(key, "fuse_unk")) return read_flag(l, "model.fuse_unk", &bpe->fuses_unknown);
  if (tn_str_is(key, "ignore_merges")) return read_flag(l, "model.ignore_merges", &bpe->ignores_merges);
  if (tn_str_is(key, "vocab")) return read_vocabulary(l);
  if (tn_str_is(key, "merges")) return read_merges(l);
  if (!tn_str_is(key, "unk_token")) return skip_next(l);
  if (!next(l, &token)) return false;
  if (token.kind == TN_JSON_STRING) l->unknown = tn_arena_str(&bpe->arena, token.text);
  return token.kind == TN_JSON_STRING || token.kind == TN_JSON_NULL ? true : wrong_form(l, "model.unk_token");
}

static bool read_model(loader *l) {
  tn_json_token token;
  tn_str key, type = TN_LIT("BPE"), kept;
  bool ok;
  if (!next(l, &token)) return false;
  if (token.kind != TN_JSON_OBJECT_BEGIN) return wrong_form(l, "model");
  while (next_key(l, &key, &ok)) {
    if (!read_model_member(l, key, &type)) return false;
    kept = tn_arena_str(&l->bpe->arena, type);
    if (l->bpe->arena.failed) return no_memory(l);
    if (!tn_str_is(kept, "BPE")) return unsupported(l, "model", kept);
    type = TN_LIT("BPE");
  }
  l->has_model = ok;
  return ok;
}

/* Whether the next value is an object; null is not, and is accepted. */
static bool begins_object(loader *l, const char *part, bool *object) {
  tn_json_token token;
  if (!next(l, &token)) return false;
  *object = token.kind == TN_JSON_OBJECT_BEGIN;
  return *object || token.kind == TN_JSON_NULL ? true : wrong_form(l, part);
}

static bool read_pre_tokenizer(loader *l) {
  tn_str key, type = { "none", 4 };
  bool ok = true, object;
  if (!begins_object(l, "pre_tokenizer", &object)) return false;
  while (object && next_key(l, &key, &ok)) {
    bool *flag = tn_str_is(key, "add_prefix_space") ? &l->bpe->prefixes_space
                 : tn_str_is(key, "use_regex")      ? &l->bpe->divides
                                                    : NULL;
    ok = tn_str_is(key, "type") ? read_string(l, "pre_tokenizer.type", &type)
         : flag                 ? read_flag(l, "pre_tokenizer", flag)
                                : skip_next(l);
    if (!ok) return false;
  }
  if (!ok) return false;
  l->has_pre_tokenizer = true;
  return tn_str_is(type, "ByteLevel") ? true : unsupported(l, "pre_tokenizer", type);
}

/* A part that must be absent, or of a type that changes no token. */
static bool read_harmless(loader *l, const char *part, const char *harmless) {
  tn_str key, type = TN_LIT("");
  bool ok = true, object;
  if (!begins_object(l, part, &object)) return false;
  while (object && next_key(l, &key, &ok)) {
    if (!(tn_str_is(key, "type") ? read_string(l, part, &type) : skip_next(l))) return false;
  }
  if (!ok || !object || tn_str_is(type, harmless)) return ok;
  return unsupported(l, part, type);
}

static bool read_padding(loader *l) {
  tn_str key;
  bool ok = true, object;
  if (!begins_object(l, "padding", &object)) return false;
  while (object && next_key(l, &key, &ok)) {
    ok = tn_str_is(key, "pad_id") ? read_token(l, "padding.pad_id", &l->bpe->padding) : skip_next(l);
    if (!ok) return false;
  }
  return ok;
}

static bool read_added(loader *l) {
  tn_bpe_added added = { .token = -1 };
  tn_str key;
  bool ok;
  while (next_key(l, &key, &ok)) {
    ok = tn_str_is(key, "id")            ? read_token(l, "added_tokens.id", &added.token)
         : tn_str_is(key, "content")     ? read_string(l, "added_tokens.content", &added.text)
         : tn_str_is(key, "normalized")  ? read_flag(l, "added_tokens.normalized", &added.normalized)
         : tn_str_is(key, "single_word") ? read_unset(l, "added_tokens.single_word")
         : tn_str_is(key, "lstrip")      ? read_unset(l, "added_tokens.lstrip")
         : tn_str_is(key, "rstrip")      ? read_unset(l, "added_tokens.rstrip")
                                         : skip_next(l);
    if (!ok) return false;
  }
  if (!ok) return false;
  if (added.token < 0) return wrong_form(l, "added_tokens");
  if (added.text.len == 0) return true;
  added.text = tn_arena_str(&l->bpe->arena, added.text);
  if (l->bpe->arena.failed || !tn_vec_push(l->bpe->heap, &l->bpe->added, added)) return no_memory(l);
  l->bpe->is_added_first[(unsigned char)added.text.at[0]] = true;
  return true;
}

static bool read_all_added(loader *l) {
  tn_json_token token;
  if (!next(l, &token)) return false;
  if (token.kind != TN_JSON_ARRAY_BEGIN) return wrong_form(l, "added_tokens");
  for (;;) {
    if (!next(l, &token)) return false;
    if (token.kind == TN_JSON_ARRAY_END) return true;
    if (token.kind != TN_JSON_OBJECT_BEGIN) return wrong_form(l, "added_tokens");
    if (!read_added(l)) return false;
  }
}

static bool read_member(loader *l, tn_str key) {
  if (tn_str_is(key, "model")) return read_model(l);
  if (tn_str_is(key, "added_tokens")) return read_all_added(l);
  if (tn_str_is(key, "normalizer")) return read_harmless(l, "normalizer", "");
  if (tn_str_is(key, "pre_tokenizer")) return read_pre_tokenizer(l);
  if (tn_str_is(key, "post_processor")) return read_harmless(l, "post_processor", "ByteLevel");
  if (tn_str_is(key, "padding")) return read_padding(l);
  return skip_next(l);
}

/* ---- the whole ---- */

static bool find_bytes(loader *l) {
  for (unsigned byte = 0; byte < 256; byte++) {
    char letter[4];
    size_t length = tn_utf8_encode(tn_bpe_letter(byte), letter);
    l->bpe->byte_token[byte] = tn_bpe_find(l->bpe, (tn_str){ letter, length });
  }
  l->bpe->unknown = l->unknown.len > 0 ? tn_bpe_find(l->bpe, l->unknown) : -1;
  if (l->unknown.len > 0 && l->bpe->unknown < 0) return wrong_form(l, "model.unk_token");
  return true;
}

static bool add_merge(loader *l, size_t rank, tn_text *joined) {
  const merge_texts *texts = &l->merges.at[rank];
  tn_text_clear(joined);
  tn_text_add(joined, texts->left);
  tn_text_add(joined, texts->right);
  if (joined->failed) return no_memory(l);
  int32_t left = tn_bpe_find(l->bpe, texts->left), right = tn_bpe_find(l->bpe, texts->right);
  int32_t both = tn_bpe_find(l->bpe, tn_text_str(joined));
  if (left < 0 || right < 0 || both < 0) return fail(l, TN_BPE_MERGE, "model.merges", tn_text_str(joined));
  uint64_t pair = (uint64_t)left << 32 | (uint64_t)right, result = (uint64_t)rank << 32 | (uint64_t)both;
  return tn_map_put(&l->bpe->merges, pair, result) ? true : no_memory(l);
}

static bool add_merges(loader *l) {
  tn_text joined;
  bool ok = l->merges.count <= INT32_MAX ? true : wrong_form(l, "model.merges");
  tn_text_init(&joined, l->bpe->heap);
  for (size_t i = 0; ok && i < l->merges.count; i++) ok = add_merge(l, i, &joined);
  tn_text_free(&joined);
  for (size_t i = 0; ok && i < l->bpe->added.count; i++)
    ok = set_text(l, l->bpe->added.at[i].token, l->bpe->added.at[i].text);
  return ok;
}

static bool load(loader *l) {
  tn_json_token token;
  tn_str key;
  bool ok;
  if (!next(l, &token)) return false;
  if (token.kind != TN_JSON_OBJECT_BEGIN) return wrong_form(l, "the file");
  while (next_key(l, &key, &ok)) {
    if (!read_member(l, key)) return false;
    tn_arena_reset(&l->arena);
  }
  if (!ok || !next(l, &token)) return false;
  if (!l->has_model) return wrong_form(l, "model");
  if (!l->has_pre_tokenizer) return unsupported(l, "pre_tokenizer", TN_LIT("none"));
  return find_bytes(l) && add_merges(l);
}

static tn_bpe *make(tn_heap *heap) {
  tn_bpe *bpe = tn_heap_alloc(heap, sizeof *bpe);
  if (!bpe) return NULL;
  bpe->heap = heap;
  bpe->divides = true;
  tn_arena_init(&bpe->arena, heap);
  tn_map_init(&bpe->merges, heap);
  tn_text_init(&bpe->word, heap);
  bpe->names = tn_names_new(heap);
  if (bpe->names) return bpe;
  tn_bpe_free(bpe);
  return NULL;
}

tn_bpe *tn_bpe_new(tn_heap *heap, tn_str file, tn_bpe_fault *fault) {
  loader l = { .bpe = make(heap), .fault = fault };
  *fault = (tn_bpe_fault){ .problem = TN_BPE_OK, .part = "" };
  if (!l.bpe) return no_memory(&l), NULL;
  tn_arena_init(&l.arena, heap);
  tn_json_init(&l.json, tn_utf8_unmarked(file), &l.arena);
  bool ok = load(&l);
  tn_vec_free(heap, &l.merges);
  tn_arena_free(&l.arena);
  if (ok) return l.bpe;
  tn_bpe_free(l.bpe);
  return NULL;
}

void tn_bpe_free(tn_bpe *bpe) {
  if (!bpe) return;
  tn_names_free(bpe->names);
  tn_vec_free(bpe->heap, &bpe->tokens);
  tn_vec_free(bpe->heap, &bpe->texts);
  tn_vec_free(bpe->heap, &bpe->added);
  tn_vec_free(bpe->heap, &bpe->symbols);
  tn_vec_free(bpe->heap, &bpe->queue);
  tn_map_free(&bpe->merges);
  tn_text_free(&bpe->word);
  tn_arena_free(&bpe->arena);
  tn_heap_free(bpe->heap, bpe, sizeof *bpe);
}

int32_t tn_bpe_size(const tn_bpe *bpe) { return (int32_t)bpe->texts.count; }
int32_t tn_bpe_padding(const tn_bpe *bpe) { return bpe->padding; }
