/* data/safetensors.h: named tensors in one file, as other tools read them.
 *
 * Eight bytes of length, a JSON header, the elements, little-endian and in
 * row-major order. A file may come from anywhere: every number of the header is
 * checked against the size of the file before it is used, names may not repeat,
 * tensors may neither overlap nor leave gaps. */
#ifndef TN_DATA_SAFETENSORS_H
#define TN_DATA_SAFETENSORS_H

#include "base/arena.h"
#include "base/vec.h"
#include "tensor/tensor.h"

typedef struct {
  tn_str name;
  tn_tensor tensor;
} tn_named_tensor;

typedef struct {
  tn_heap *heap;
  tn_arena arena;                  /* names */
  tn_vec(tn_named_tensor) tensors; /* in the order of the header */
  tn_str metadata;                 /* the text of __metadata__, a JSON object; empty: none */
  bool sealed;                     /* it carries the hash of all its bytes, and that is right */
} tn_safetensors;

/* NULL when the file was read; else what is wrong with it (static), and *out is empty. Where nothing is
 * wrong but memory ran out it is tn_safetensors_no_memory itself. */
extern const char tn_safetensors_no_memory[];
const char *tn_safetensors_read(tn_heap *heap, const void *file, size_t bytes, tn_safetensors *out);
void tn_safetensors_free(tn_safetensors *file);
const tn_tensor *tn_safetensors_find(const tn_safetensors *file, tn_str name);

/* Adds a whole file to `out`, sealed; metadata is a JSON object of strings without blanks around it, or
 * empty. */
typedef struct {
  tn_str name;
  tn_view view;
} tn_named_view;
void tn_safetensors_write(const tn_named_view *tensors, size_t count, tn_str metadata, tn_text *out);
#endif
