/* fuzz/safetensors.c: any bytes as a .safetensors file; what is read can be written and read again. */
#include <string.h>

#include "data/safetensors.h"
#include "fuzz.h"

#define MOST_TENSORS 64

static void write_again(tn_heap *heap, const tn_safetensors *file) {
  tn_named_view views[MOST_TENSORS];
  size_t count = file->tensors.count;
  tn_safetensors again;
  tn_text text;
  if (count > MOST_TENSORS) return;
  for (size_t i = 0; i < count; i++)
    views[i] = (tn_named_view){ file->tensors.at[i].name, file->tensors.at[i].tensor.view };
  tn_text_init(&text, heap);
  tn_safetensors_write(views, count, file->metadata, &text);
  tn_str bytes = tn_text_str(&text);
  if (!text.failed) {
    fuzz_expect(!tn_safetensors_read(heap, bytes.at, bytes.len, &again), "what was written can be read");
    for (size_t i = 0; i < count; i++) {
      const tn_tensor *tensor = tn_safetensors_find(&again, views[i].name);
      fuzz_expect(tensor && tn_view_equal(&tensor->view, &views[i].view), "and is the same");
    }
    tn_safetensors_free(&again);
  }
  tn_text_free(&text);
}

/* A list has the same tensors, at the places where their elements are. */
static void list_too(tn_heap *heap, const uint8_t *data, size_t size, const tn_safetensors *file) {
  tn_safetensors list;
  fuzz_expect(!tn_safetensors_list(heap, data, size, size, &list), "what can be read can be listed");
  fuzz_expect(list.tensors.count == file->tensors.count, "with as many tensors");
  for (size_t i = 0; i < list.tensors.count; i++) {
    const tn_named_tensor *a = &list.tensors.at[i], *b = &file->tensors.at[i];
    size_t bytes = (size_t)tn_view_count(&b->tensor.view) * tn_dtype_bytes(b->tensor.view.dtype);
    fuzz_expect(tn_str_equal(a->name, b->name) && a->offset == b->offset, "of the same names and places");
    fuzz_expect(tn_view_count(&a->tensor.view) == tn_view_count(&b->tensor.view), "and lengths");
    fuzz_expect(a->offset <= size && bytes <= size - a->offset, "inside the file");
  }
  tn_safetensors_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tn_heap heap = { .limit = (size_t)64 << 20 };
  tn_safetensors file;
  if (!tn_safetensors_read(&heap, data, size, &file)) {
    write_again(&heap, &file);
    list_too(&heap, data, size, &file);
    tn_safetensors_free(&file);
  }
  fuzz_expect(heap.used == 0, "reading gives all memory back");
  return 0;
}
