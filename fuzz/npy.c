/* fuzz/npy.c: any bytes as an .npy file; what is read can be written and read again. */
#include <string.h>

#include "fuzz.h"
#include "tensor/npy.h"

static void write_again(tn_heap *heap, const tn_tensor *tensor) {
  tn_text text;
  tn_text_init(&text, heap);
  if (tn_npy_write(&tensor->view, &text) == TN_NPY_OK && !text.failed) {
    tn_tensor again = { 0 };
    tn_str file = tn_text_str(&text);
    fuzz_expect(tn_npy_read(heap, file.at, file.len, &again) == TN_NPY_OK, "what was written can be read");
    fuzz_expect(tn_view_equal(&tensor->view, &again.view), "and is the same");
    tn_tensor_unref(&again);
  }
  tn_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tn_heap heap = { .limit = (size_t)64 << 20 };
  tn_tensor tensor = { 0 };
  tn_npy_error error = tn_npy_read(&heap, data, size, &tensor);
  if (error == TN_NPY_OK)
    write_again(&heap, &tensor);
  else
    fuzz_expect(tn_npy_reason(error) != NULL, "a file that is refused is refused for a reason");
  tn_tensor_unref(&tensor);
  fuzz_expect(heap.used == 0, "reading gives all memory back");
  return 0;
}
