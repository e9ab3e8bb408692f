/* fuzz/options.c: any bytes, cut at their zeros, as the words of a command line. They are read, and not
 * acted on.
 *
 * What reads them is private to the program's main file, so that file is part of this one. */
#define main tern_main
int tern_main(int count, char **words);
#include "cli/main.c"
#undef main

#include "fuzz.h"

#define MOST_WORDS 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *words[MOST_WORDS + 2] = { (char[]){ "tern" } };
  char *text = malloc(size + 1);
  tn_command command = { 0 };
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  int count = 1;
  for (size_t at = 0; at < size && count <= MOST_WORDS; at += strlen(text + at) + 1)
    words[count++] = text + at;
  reader r = { .command = &command, .words = words, .count = count };
  bool ok = read_words(&r) && read_session(&r);
  fuzz_expect(ok || r.message[0], "what is refused is refused with words");
  fuzz_expect(memchr(r.message, 0, sizeof r.message) != NULL, "the message ends");
  free_command(&command);
  free(text);
  return 0;
}
