/* data/vocab.c: builds vocabularies and encodes texts with them. */
#include "data/vocab.h"

#include <stdlib.h>

#include "base/unicode.h"
#include "base/utf8.h"

struct tn_vocab {
  tn_heap *heap;
  tn_vocab_kind kind;
  tn_names *names;              /* of words or characters, by first appearance */
  tn_vec(uint64_t) counts;      /* of each name, from name 1 on */
  tn_vec(int32_t) tokens;       /* of each name, once they are numbered; 0: none */
  tn_vec(tn_name) order;        /* the name of each token from TN_VOCAB_FIRST on */
  tn_bpe *bpe;
};

tn_vocab *tn_vocab_new(tn_heap *heap, tn_vocab_kind kind) {
  tn_vocab *vocab = tn_heap_alloc(heap, sizeof *vocab);
  if (!vocab) return NULL;
  vocab->heap = heap;
  vocab->kind = kind;
  vocab->names = tn_names_new(heap);
  if (vocab->names) return vocab;
  tn_vocab_free(vocab);
  return NULL;
}

tn_vocab *tn_vocab_new_bpe(tn_heap *heap, tn_str file, tn_bpe_fault *fault) {
  *fault = (tn_bpe_fault){ .problem = TN_BPE_MEMORY, .part = "" };
  tn_vocab *vocab = tn_vocab_new(heap, TN_VOCAB_BPE);
  if (!vocab) return NULL;
  vocab->bpe = tn_bpe_new(heap, file, fault);
  if (vocab->bpe) return vocab;
  tn_vocab_free(vocab);
  return NULL;
}

void tn_vocab_free(tn_vocab *vocab) {
  if (!vocab) return;
  tn_names_free(vocab->names);
  tn_vec_free(vocab->heap, &vocab->counts);
  tn_vec_free(vocab->heap, &vocab->tokens);
  tn_vec_free(vocab->heap, &vocab->order);
  tn_bpe_free(vocab->bpe);
  tn_heap_free(vocab->heap, vocab, sizeof *vocab);
}

/* ---- words and characters ---- */

typedef enum { PART_SPACE, PART_WORD, PART_SIGN } part;

static part part_at(tn_str text, size_t at, size_t *length) {
  uint32_t code = 0;
  *length = tn_utf8_decode(text, at, &code);
  if (*length == 0) return *length = 1, PART_SIGN;
  tn_unicode_kind kind = tn_unicode_kind_of(code);
  if (kind == TN_UNICODE_SPACE) return PART_SPACE;
  return kind == TN_UNICODE_OTHER && code != '_' ? PART_SIGN : PART_WORD;
}

bool tn_vocab_next(tn_vocab_kind kind, tn_str text, size_t *at, tn_str *out) {
  size_t length = 0, start;
  part first = PART_SIGN;
  while (*at < text.len && (first = part_at(text, *at, &length)) == PART_SPACE && kind == TN_VOCAB_WORDS)
    *at += length;
  if (*at >= text.len) return false;
  start = *at;
  *at += length;
  while (kind == TN_VOCAB_WORDS && first == PART_WORD && *at < text.len &&
         part_at(text, *at, &length) == PART_WORD)
    *at += length;
  *out = (tn_str){ text.at + start, *at - start };
  return true;
}

bool tn_vocab_count(tn_vocab *vocab, tn_str text) {
  tn_str piece;
  if (vocab->kind == TN_VOCAB_BYTES || vocab->kind == TN_VOCAB_BPE) return true;
  for (size_t at = 0; tn_vocab_next(vocab->kind, text, &at, &piece);) {
    tn_name name = tn_names_intern(vocab->names, piece);
    if (!name) return false;
    if (name > vocab->counts.count && !tn_vec_push(vocab->heap, &vocab->counts, 0)) return false;
    vocab->counts.at[name - 1]++;
  }
  return true;
}

/* ---- numbers ---- */

typedef struct {
  tn_str text;
  uint64_t count;
  tn_name name;
} counted;

static int by_count(const void *left, const void *right) {
  const counted *a = left, *b = right;
  if (a->count != b->count) return a->count > b->count ? -1 : 1;
  return tn_str_compare(a->text, b->text);
}

static bool number_all(tn_vocab *vocab, counted *list, size_t limit) {
  size_t count = vocab->counts.count, kept = count;
  if (limit > 0 && kept + TN_VOCAB_FIRST > limit) kept = limit > TN_VOCAB_FIRST ? limit - TN_VOCAB_FIRST : 0;
  if (!tn_vec_reserve(vocab->heap, &vocab->tokens, count)) return false;
  if (!tn_vec_reserve(vocab->heap, &vocab->order, kept)) return false;
  for (size_t i = 0; i < count; i++)
    list[i] = (counted){ tn_names_text(vocab->names, (tn_name)i + 1), vocab->counts.at[i], (tn_name)i + 1 };
  qsort(list, count, sizeof *list, by_count);
  vocab->tokens.count = count;
  for (size_t i = 0; i < count; i++) {
    vocab->tokens.at[list[i].name - 1] = i < kept ? (int32_t)i + TN_VOCAB_FIRST : TN_VOCAB_UNKNOWN;
    if (i < kept) vocab->order.at[vocab->order.count++] = list[i].name;
  }
  return true;
}

bool tn_vocab_number(tn_vocab *vocab, size_t limit) {
  size_t bytes = vocab->counts.count * sizeof(counted);
  if (bytes == 0) return true;
  counted *list = tn_heap_alloc(vocab->heap, bytes);
  bool ok = list && number_all(vocab, list, limit);
  if (list) tn_heap_free(vocab->heap, list, bytes);
  return ok;
}

bool tn_vocab_add(tn_vocab *vocab, tn_str text) {
  size_t known = vocab->order.count;
  tn_name name = tn_names_intern(vocab->names, text);
  return name == known + 1 && tn_vec_push(vocab->heap, &vocab->order, name) &&
         tn_vec_push(vocab->heap, &vocab->tokens, (int32_t)(TN_VOCAB_FIRST + known));
}

static int32_t token_of(const tn_vocab *vocab, tn_str piece) {
  tn_name name = tn_names_find(vocab->names, piece);
  return name && name <= vocab->tokens.count ? vocab->tokens.at[name - 1] : TN_VOCAB_UNKNOWN;
}

/* ---- use ---- */

static bool encode_bytes(tn_vocab *vocab, tn_str text, size_t limit, tn_i32s *out) {
  size_t count = text.len < limit ? text.len : limit;
  if (!tn_vec_reserve(vocab->heap, out, count)) return false;
  for (size_t i = 0; i < count; i++) out->at[out->count++] = (unsigned char)text.at[i];
  return true;
}

bool tn_vocab_encode(tn_vocab *vocab, tn_str text, size_t limit, tn_i32s *out) {
  tn_str piece;
  if (vocab->kind == TN_VOCAB_BPE) return tn_bpe_encode(vocab->bpe, text, limit, out);
  if (vocab->kind == TN_VOCAB_BYTES) return encode_bytes(vocab, text, limit, out);
  for (size_t at = 0; limit > 0 && tn_vocab_next(vocab->kind, text, &at, &piece); limit--) {
    if (!tn_vec_push(vocab->heap, out, token_of(vocab, piece))) return false;
  }
  return true;
}

int32_t tn_vocab_padding(const tn_vocab *vocab) {
  return vocab->bpe ? tn_bpe_padding(vocab->bpe) : TN_VOCAB_PADDING;
}

size_t tn_vocab_size(const tn_vocab *vocab) {
  if (vocab->bpe) return (size_t)tn_bpe_size(vocab->bpe);
  return vocab->kind == TN_VOCAB_BYTES ? 256 : TN_VOCAB_FIRST + vocab->order.count;
}

tn_str tn_vocab_text(const tn_vocab *vocab, size_t token) {
  bool counts = token >= TN_VOCAB_FIRST && token - TN_VOCAB_FIRST < vocab->order.count;
  return counts ? tn_names_text(vocab->names, vocab->order.at[token - TN_VOCAB_FIRST]) : (tn_str){ "", 0 };
}

void tn_vocab_decode(const tn_vocab *vocab, int32_t token, bool first, tn_text *out) {
  size_t length;
  if (vocab->kind == TN_VOCAB_BPE) {
    tn_bpe_decode(vocab->bpe, token, out);
  } else if (vocab->kind == TN_VOCAB_BYTES) {
    if (token >= 0 && token < 256) tn_text_byte(out, (char)token);
  } else {
    tn_str piece = tn_vocab_text(vocab, token < 0 ? 0 : (size_t)token);
    bool spaced = vocab->kind == TN_VOCAB_WORDS && piece.len > 0 && part_at(piece, 0, &length) == PART_WORD;
    if (spaced && !first) tn_text_byte(out, ' ');
    tn_text_add(out, piece);
  }
}

bool tn_vocab_find_unknown(const tn_vocab *vocab, tn_str text, tn_str *out) {
  if (vocab->kind != TN_VOCAB_WORDS && vocab->kind != TN_VOCAB_CHARS) return false;
  for (size_t at = 0; tn_vocab_next(vocab->kind, text, &at, out);) {
    if (token_of(vocab, *out) == TN_VOCAB_UNKNOWN) return true;
  }
  return false;
}
