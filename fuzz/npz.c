/* fuzz/npz.c: any bytes as an archive of arrays; an array that is read can be written and read again. The
 * checksums of an archive would stop nearly every change, so the first byte may ask that the rest be unpacked
 * alone, into room for as many bytes as the second says. */
#include <stdlib.h>
#include <string.h>

#include "base/inflate.h"
#include "fuzz.h"
#include "tensor/npz.h"

static void unpack(const uint8_t *data, size_t size) {
  size_t room = size > 0 ? (size_t)data[0] * 64 : 0;
  char *out = malloc(room + 1); /* of its own size, so that writing past it is seen */
  if (out && size > 0) (void)tn_inflate(NULL, data + 1, size - 1, out, room);
  free(out);
}

static void write_again(tn_heap *heap, const tn_tensor *tensor) {
  tn_text text;
  tn_npz_writer writer;
  tn_text_init(&text, heap);
  tn_npz_begin(&writer, &text);
  bool added = tn_npz_add(&writer, TN_LIT("x"), &tensor->view) == TN_NPY_OK;
  if (tn_npz_end(&writer) == TN_NPY_OK && added && !text.failed) {
    tn_tensor again = { 0 };
    tn_str file = tn_text_str(&text);
    fuzz_expect(tn_npz_read(heap, file.at, file.len, TN_LIT("x"), &again) == TN_NPY_OK,
                "what was written can be read");
    fuzz_expect(tn_view_equal(&tensor->view, &again.view), "and is the same");
    tn_tensor_unref(&again);
  }
  tn_text_free(&text);
}

static void read_array(tn_heap *heap, const uint8_t *data, size_t size, tn_str name) {
  tn_tensor tensor = { 0 };
  if (tn_npz_read(heap, data, size, name, &tensor) == TN_NPY_OK) write_again(heap, &tensor);
  tn_tensor_unref(&tensor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tn_heap heap = { .limit = (size_t)64 << 20 };
  if (size > 0 && data[0] == 0) unpack(data + 1, size - 1);
  read_array(&heap, data, size, (tn_str){ 0 });
  read_array(&heap, data, size, TN_LIT("x"));
  fuzz_expect(heap.used == 0, "reading gives all memory back");
  return 0;
}
