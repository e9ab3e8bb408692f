/* tests/data/bpe_tokens.c: prints the tokens that tern makes of texts, for a judge in JavaScript.
 *
 *   bpe_tokens TOKENIZER_JSON TEXTS_JSON
 *
 * TEXTS_JSON is an array of strings; a line of JSON per text: {"tokens": [1, 2], "back": "the text decoded"}.
 * A tokenizer that is refused: {"problem": 4, "part": "pre_tokenizer", "detail": "Whitespace"}. */
#include <stdio.h>

#include "base/file.h"
#include "data/bpe.h"

static void show(tn_heap *heap, tn_bpe *bpe, tn_str text) {
  tn_i32s tokens = { 0 };
  tn_text line, back;
  tn_text_init(&line, heap);
  tn_text_init(&back, heap);
  tn_json_writer json = tn_json_writer_on(&line);
  if (!tn_bpe_encode(bpe, text, SIZE_MAX, &tokens)) puts("out of memory");
  tn_json_object_begin(&json);
  tn_json_key(&json, "tokens");
  tn_json_array_begin(&json);
  for (size_t i = 0; i < tokens.count; i++) {
    tn_json_int(&json, tokens.at[i]);
    tn_bpe_decode(bpe, tokens.at[i], &back);
  }
  tn_json_array_end(&json);
  tn_json_key(&json, "back");
  tn_json_string(&json, tn_text_str(&back));
  tn_json_object_end(&json);
  puts(line.at);
  tn_vec_free(heap, &tokens);
  tn_text_free(&line);
  tn_text_free(&back);
}

static void show_fault(const tn_bpe_fault *fault) {
  printf("{\"problem\": %d, \"part\": \"%s\", \"detail\": \"%s\"}\n", (int)fault->problem, fault->part,
         fault->detail);
}

static void show_all(tn_heap *heap, tn_bpe *bpe, tn_str texts) {
  tn_arena arena;
  tn_json_reader json;
  tn_json_token token;
  tn_arena_init(&arena, heap);
  tn_json_init(&json, texts, &arena);
  while (tn_json_next(&json, &token) > TN_JSON_END) {
    if (token.kind == TN_JSON_STRING) show(heap, bpe, token.text);
  }
  tn_arena_free(&arena);
}

int main(int count, char **words) {
  tn_heap heap = { 0 };
  tn_file_bytes file, texts;
  tn_bpe_fault fault;
  if (count != 3 || tn_file_read(&heap, words[1], UINT64_MAX, NULL, &file) != TN_FILE_OK ||
      tn_file_read(&heap, words[2], UINT64_MAX, NULL, &texts) != TN_FILE_OK)
    return 2;
  tn_bpe *bpe = tn_bpe_new(&heap, (tn_str){ file.at, file.len }, &fault);
  if (bpe)
    show_all(&heap, bpe, (tn_str){ texts.at, texts.len });
  else
    show_fault(&fault);
  tn_bpe_free(bpe);
  tn_file_release(&heap, &file);
  tn_file_release(&heap, &texts);
  return heap.used == 0 ? 0 : 1;
}
