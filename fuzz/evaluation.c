/* fuzz/evaluation.c: any bytes as the evaluation.json of a run, as the board reads it.
 *
 * The bytes are an object that is still open, as `tern evaluate --record` has it before
 * its seal; the seal is put on, because no search finds a SHA-256. A first byte of 0 leaves
 * it out. Whatever the file is, the answer is one JSON value that says so: an evaluation, or
 * a reason. An accepted file, sealed again, is accepted with the same result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/seal.h"
#include "fuzz.h"
#include "track/board/internal.h"

static char folder[64], path[128];

static void remove_folder(void) {
  unlink(path);
  rmdir(folder);
}

static void make_folder(void) {
  if (folder[0]) return;
  snprintf(folder, sizeof folder, "%s/tern-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  fuzz_expect(mkdtemp(folder) != NULL, "a folder can be made");
  snprintf(path, sizeof path, "%s/evaluation.json", folder);
  atexit(remove_folder);
}

static void write_file(tn_str bytes) {
  FILE *to = fopen(path, "wb");
  fuzz_expect(to != NULL, "a file can be written");
  if (bytes.len > 0) fwrite(bytes.at, 1, bytes.len, to);
  fclose(to);
}

static void write_sealed(tn_heap *heap, tn_str open) {
  tn_text text;
  tn_text_init(&text, heap);
  tn_text_add(&text, open);
  size_t digits = tn_seal_reserve(&text, false);
  fuzz_expect(digits != 0, "a seal has room");
  tn_seal_close(text.at, text.len, text.at + digits);
  write_file(tn_text_str(&text));
  tn_text_free(&text);
}

/* The answer to the file as it is; *out is its body. */
static int ask(tn_heap *heap, tn_text *out) {
  tn_sources sources;
  tn_answer answer;
  tn_sources_init(&sources, heap);
  tn_answer_begin(&answer, NULL, heap, &sources);
  tn_evaluation_answer(&answer, tn_str_of(folder));
  tn_text_add(out, tn_text_str(&answer.body));
  int status = answer.status;
  tn_answer_end(&answer);
  tn_sources_free(&sources);
  return status;
}

/* {"ok":true,"evaluation":{...}}: the object in it, without the } that ends it. */
static tn_str taken(const tn_text *body) {
  static const char before[] = "{\"ok\":true,\"evaluation\":";
  bool begins = tn_str_starts(tn_text_str(body), before) && body->len > sizeof before;
  fuzz_expect(begins, "an evaluation is answered");
  return (tn_str){ body->at + sizeof before - 1, body->len - sizeof before - 1 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tn_heap heap = { 0 };
  tn_text first, second;
  tn_str bytes = { (const char *)data, size };
  make_folder();
  tn_text_init(&first, &heap);
  tn_text_init(&second, &heap);
  if (size > 0 && data[0] == 0)
    write_file((tn_str){ bytes.at + 1, bytes.len - 1 });
  else
    write_sealed(&heap, bytes);
  int status = ask(&heap, &first);
  fuzz_expect(status == 200 || status == 404, "there is an evaluation, or a reason why not");
  fuzz_expect(fuzz_is_json(first.at), "the answer is JSON");
  if (status == 200) {
    write_sealed(&heap, taken(&first));
    fuzz_expect(ask(&heap, &second) == 200, "what was answered can be read");
    fuzz_expect(tn_str_equal(tn_text_str(&first), tn_text_str(&second)), "and is answered the same");
  }
  tn_text_free(&first);
  tn_text_free(&second);
  fuzz_expect(heap.used == 0, "reading gives all memory back");
  return 0;
}
