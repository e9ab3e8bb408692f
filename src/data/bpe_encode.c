/* data/bpe_encode.c: encodes text as tokens, and decodes tokens. */
#include <string.h>

#include "base/unicode.h"
#include "base/utf8.h"
#include "data/bpe_internal.h"

/* ---- merging ---- */

/* The merge of the symbol at `place` with the next, if there is one, into the queue: a binary heap with the
 * lowest rank first, and of one rank the leftmost. */
static bool is_before(const tn_bpe_merge *a, const tn_bpe_merge *b) {
  return a->rank != b->rank ? a->rank < b->rank : a->place < b->place;
}

static bool find_merge(const tn_bpe *bpe, int32_t left, int32_t right, tn_bpe_merge *out) {
  const uint64_t *found = tn_map_get(&bpe->merges, (uint64_t)left << 32 | (uint64_t)right);
  if (found) *out = (tn_bpe_merge){ .rank = (uint32_t)(*found >> 32), .token = (int32_t)(uint32_t)*found };
  return found != NULL;
}

static bool push_merge(tn_bpe *bpe, int32_t place) {
  tn_bpe_merge merge;
  int32_t after = place >= 0 ? bpe->symbols.at[place].after : -1;
  if (after < 0) return true;
  if (!find_merge(bpe, bpe->symbols.at[place].token, bpe->symbols.at[after].token, &merge)) return true;
  merge.place = place;
  if (!tn_vec_push(bpe->heap, &bpe->queue, merge)) return false;
  tn_bpe_merge *queue = bpe->queue.at;
  for (size_t i = bpe->queue.count - 1; i > 0 && is_before(&merge, &queue[(i - 1) / 2]); i = (i - 1) / 2) {
    queue[i] = queue[(i - 1) / 2];
    queue[(i - 1) / 2] = merge;
  }
  return true;
}

static tn_bpe_merge pop_merge(tn_bpe *bpe) {
  tn_bpe_merge *queue = bpe->queue.at, first = queue[0], last = tn_vec_pop(&bpe->queue);
  size_t count = bpe->queue.count, i = 0;
  for (size_t child; (child = 2 * i + 1) < count; i = child) {
    if (child + 1 < count && is_before(&queue[child + 1], &queue[child])) child++;
    if (!is_before(&queue[child], &last)) break;
    queue[i] = queue[child];
  }
  if (count > 0) queue[i] = last;
  return first;
}

/* A merge of the queue may be stale: its symbols have merged with others. It is valid if the
 * current symbols still become the same token. */
static bool apply_merge(tn_bpe *bpe, const tn_bpe_merge *merge) {
  tn_bpe_symbol *symbols = bpe->symbols.at, *left = &symbols[merge->place];
  tn_bpe_merge now;
  if (left->merged || left->after < 0) return true;
  const tn_bpe_symbol *right = &symbols[left->after];
  if (!find_merge(bpe, left->token, right->token, &now) || now.token != merge->token) return true;
  symbols[left->after].merged = true;
  left->token = merge->token;
  left->after = right->after;
  if (left->after >= 0) symbols[left->after].before = merge->place;
  return push_merge(bpe, left->before) && push_merge(bpe, merge->place);
}

static bool add_symbol(tn_bpe *bpe, int32_t token) {
  int32_t place = (int32_t)bpe->symbols.count;
  tn_bpe_symbol symbol = { .token = token, .before = place - 1, .after = -1 };
  if (!tn_vec_push(bpe->heap, &bpe->symbols, symbol)) return false;
  if (place > 0) bpe->symbols.at[place - 1].after = place;
  return true;
}

/* A byte without a token becomes the unknown one, or nothing. */
static bool add_bytes(tn_bpe *bpe, tn_str word) {
  bool unknown = false;
  for (size_t i = 0; i < word.len; i++) {
    int32_t token = bpe->byte_token[(unsigned char)word.at[i]];
    bool fused = token < 0 && unknown && bpe->fuses_unknown;
    unknown = token < 0;
    if (unknown) token = bpe->unknown;
    if (token >= 0 && !fused && !add_symbol(bpe, token)) return false;
  }
  return true;
}

/* The token of a word that is in the vocabulary as a whole, or -1. */
static int32_t whole_word(tn_bpe *bpe, tn_str word) {
  tn_text_clear(&bpe->word);
  for (size_t i = 0; i < word.len; i++) {
    char letter[4];
    size_t length = tn_utf8_encode(tn_bpe_letter((unsigned char)word.at[i]), letter);
    tn_text_add(&bpe->word, (tn_str){ letter, length });
  }
  return bpe->word.failed ? -1 : tn_bpe_find(bpe, tn_text_str(&bpe->word));
}

static bool encode_word(tn_bpe *bpe, tn_str word, size_t end, tn_i32s *out) {
  int32_t whole = bpe->ignores_merges ? whole_word(bpe, word) : -1;
  if (bpe->word.failed) return false;
  if (whole >= 0) return out->count >= end || tn_vec_push(bpe->heap, out, whole);
  bpe->symbols.count = bpe->queue.count = 0;
  if (!add_bytes(bpe, word)) return false;
  for (size_t i = 0; i + 1 < bpe->symbols.count; i++) {
    if (!push_merge(bpe, (int32_t)i)) return false;
  }
  while (bpe->queue.count > 0) {
    tn_bpe_merge merge = pop_merge(bpe);
    if (!apply_merge(bpe, &merge)) return false;
  }
  for (size_t i = 0; i < bpe->symbols.count && out->count < end; i++) {
    if (!bpe->symbols.at[i].merged && !tn_vec_push(bpe->heap, out, bpe->symbols.at[i].token)) return false;
  }
  return true;
}

/* ---- dividing ---- */

static tn_unicode_kind kind_at(tn_str text, size_t at, size_t *length) {
  uint32_t code = 0;
  *length = tn_utf8_decode(text, at, &code);
  tn_unicode_kind kind = *length > 0 ? tn_unicode_kind_of(code) : TN_UNICODE_OTHER;
  return kind == TN_UNICODE_MARK ? TN_UNICODE_OTHER : kind;
}

/* The end of the run of characters of one kind that begins at `at`; *last is where its last
 * character begins. */
static size_t end_of_run(tn_str text, size_t at, tn_unicode_kind kind, size_t *last) {
  size_t length;
  while (at < text.len && kind_at(text, at, &length) == kind) {
    *last = at;
    at += length > 0 ? length : 1;
  }
  return at;
}

/* 's 't 're 've 'm 'll 'd; 0: none of them. */
static size_t contraction(tn_str rest) {
  static const char *const endings[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    if (tn_str_starts(rest, endings[i])) return strlen(endings[i]);
  }
  return 0;
}

/* GPT-2's rule, where a word begins at `at`:
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t end_of_word(tn_str text, size_t at) {
  size_t length, last = at;
  size_t short_form = text.at[at] == '\'' ? contraction((tn_str){ text.at + at, text.len - at }) : 0;
  if (short_form > 0) return at + short_form;
  size_t start = at + (text.at[at] == ' ' && at + 1 < text.len);
  tn_unicode_kind kind = kind_at(text, start, &length);
  if (kind != TN_UNICODE_SPACE) return end_of_run(text, start, kind, &last);
  size_t end = end_of_run(text, at, TN_UNICODE_SPACE, &last);
  return end == text.len || last == at ? end : last; /* the last blank belongs to the next word */
}

static bool encode_plain(tn_bpe *bpe, tn_str text, size_t end, tn_i32s *out) {
  tn_text spaced;
  bool prefixed = bpe->prefixes_space && text.len > 0 && text.at[0] != ' ', ok = true;
  tn_text_init(&spaced, bpe->heap);
  if (prefixed) {
    tn_text_byte(&spaced, ' ');
    tn_text_add(&spaced, text);
    text = tn_text_str(&spaced);
  }
  ok = !spaced.failed;
  for (size_t at = 0, stop; ok && at < text.len && out->count < end; at = stop) {
    stop = bpe->divides ? end_of_word(text, at) : text.len;
    ok = encode_word(bpe, (tn_str){ text.at + at, stop - at }, end, out);
  }
  tn_text_free(&spaced);
  return ok;
}

/* ---- added tokens ---- */

/* The longest added token at the start of `rest`, of those that are looked for now. */
static const tn_bpe_added *added_at(const tn_bpe *bpe, tn_str rest, bool normalized) {
  const tn_bpe_added *longest = NULL;
  if (!bpe->is_added_first[(unsigned char)rest.at[0]]) return NULL;
  for (size_t i = 0; i < bpe->added.count; i++) {
    const tn_bpe_added *added = &bpe->added.at[i];
    if (added->normalized != normalized || added->text.len > rest.len) continue;
    if (longest && added->text.len <= longest->text.len) continue;
    if (memcmp(added->text.at, rest.at, added->text.len) == 0) longest = added;
  }
  return longest;
}

/* The first added token at or after *at, and its place; NULL and the end of the text where there is none. */
static const tn_bpe_added *next_added(const tn_bpe *bpe, tn_str text, bool normalized, size_t *at) {
  for (; *at < text.len; ++*at) {
    const tn_bpe_added *added = added_at(bpe, (tn_str){ text.at + *at, text.len - *at }, normalized);
    if (added) return added;
  }
  return NULL;
}

static bool add_token(tn_bpe *bpe, const tn_bpe_added *added, size_t end, tn_i32s *out) {
  return !added || out->count >= end || tn_vec_push(bpe->heap, out, added->token);
}

/* Added tokens that are looked for in the normalised text, and words between them. */
static bool encode_normalized(tn_bpe *bpe, tn_str text, size_t end, tn_i32s *out) {
  for (size_t start = 0, at; start < text.len && out->count < end; start = at) {
    at = start;
    const tn_bpe_added *added = next_added(bpe, text, true, &at);
    if (!encode_plain(bpe, (tn_str){ text.at + start, at - start }, end, out)) return false;
    if (!add_token(bpe, added, end, out)) return false;
    at += added ? added->text.len : 0;
  }
  return true;
}

/* First, added tokens that are matched in the original text. */
bool tn_bpe_encode(tn_bpe *bpe, tn_str text, size_t limit, tn_i32s *out) {
  size_t end = limit < SIZE_MAX - out->count ? out->count + limit : SIZE_MAX;
  for (size_t start = 0, at; start < text.len && out->count < end; start = at) {
    at = start;
    const tn_bpe_added *added = next_added(bpe, text, false, &at);
    if (!encode_normalized(bpe, (tn_str){ text.at + start, at - start }, end, out)) return false;
    if (!add_token(bpe, added, end, out)) return false;
    at += added ? added->text.len : 0;
  }
  return true;
}

/* ---- back ---- */

/* The byte of a letter, or -1: the inverse of tn_bpe_letter. */
static int byte_of(uint32_t letter) {
  if (letter < 256) return tn_bpe_letter(letter) == letter ? (int)letter : -1;
  uint32_t place = letter - 256;
  return place < 33 ? (int)place : place < 67 ? (int)place + 127 - 33 : place == 67 ? 173 : -1;
}

void tn_bpe_decode(const tn_bpe *bpe, int32_t token, tn_text *out) {
  bool known = token >= 0 && (size_t)token < bpe->texts.count && bpe->texts.at[token].at;
  tn_str text = known ? bpe->texts.at[token] : (tn_str){ "", 0 };
  size_t start = out->len;
  uint32_t letter;
  for (size_t at = 0, length; at < text.len; at += length) {
    length = tn_utf8_decode(text, at, &letter);
    int byte = length > 0 ? byte_of(letter) : -1;
    if (byte < 0) { /* a text of its own, such as an added token */
      if (!out->failed) out->len = start;
      tn_text_add(out, text);
      return;
    }
    tn_text_byte(out, (char)byte);
  }
}
