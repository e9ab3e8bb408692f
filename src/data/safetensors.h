/* data/safetensors.h: named tensors in one file, as other tools read them.
 *
 * Eight bytes of length, a JSON header, the elements, little-endian and in
 * row-major order. Files are untrusted: every number of the header is
 * checked against the size of the file before it is used, names may not repeat,
 * tensors may neither overlap nor leave gaps. */
#ifndef TN_DATA_SAFETENSORS_H
#define TN_DATA_SAFETENSORS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "tensor/tensor.h"

typedef struct {
  tn_str name;
  tn_tensor tensor;
  uint64_t offset; /* of its elements in the file */
} tn_named_tensor;

typedef struct {
  tn_heap *heap;
  tn_arena arena;                  /* names */
  tn_vec(tn_named_tensor) tensors; /* in the order of the header */
  tn_map places;                   /* of names: from a hash, or the first free number after it */
  tn_str metadata;                 /* __metadata__, a JSON object, without what tern adds; empty: none */
  bool sealed;                     /* it carries the hash of all its bytes, and that is right */
  uint64_t seal_at;                /* offset of the digits of that hash; 0: there are none */
} tn_safetensors;

/* NULL when the file was read; else what is wrong with it (static), and *out is empty. Where nothing is
 * wrong but memory ran out it is tn_safetensors_no_memory itself. */
extern const char tn_safetensors_no_memory[];
const char *tn_safetensors_read(tn_heap *heap, const void *file, size_t bytes, tn_safetensors *out);
/* The same for a file that is not read whole: `begin` is its first `begin_bytes`, up to the end of the header
 * at least, and `bytes` its length. The tensors have shapes and offsets and no elements, and the seal is not
 * checked. */
const char *tn_safetensors_list(tn_heap *heap, const void *begin, size_t begin_bytes, uint64_t bytes,
                                tn_safetensors *out);
void tn_safetensors_free(tn_safetensors *file);
const tn_tensor *tn_safetensors_find(const tn_safetensors *file, tn_str name);

/* Adds a whole file to `out`, sealed; metadata is a JSON object of strings without blanks around it, or
 * empty. What tn_safetensors_read gave of a sealed file gives that file again, byte for byte. */
typedef struct {
  tn_str name;
  tn_view view;
} tn_named_view;
void tn_safetensors_write(const tn_named_view *tensors, size_t count, tn_str metadata, tn_text *out);
#endif
