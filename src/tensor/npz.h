/* tensor/npz.h: NumPy's archive of arrays: a zip file whose members are .npy files.
 *
 * Reads what numpy.savez and numpy.savez_compressed write; writes what numpy.load
 * reads. As for npy, everything is checked against the size of the file before
 * memory is allocated. */
#ifndef TN_TENSOR_NPZ_H
#define TN_TENSOR_NPZ_H

#include "tensor/npy.h"

/* The array of that name. An empty name means the only array. On failure *out is untouched. */
tn_npy_error tn_npz_read(tn_heap *heap, const void *file, size_t bytes, tn_str name, tn_tensor *out);

/* Writing: one archive at a time, member by member. */
typedef struct {
  tn_text *out;
  tn_text index; /* the index at the end of the archive */
  size_t start, count;
} tn_npz_writer;

void tn_npz_begin(tn_npz_writer *writer, tn_text *out);
/* Adds an array. Archives over 4 GiB are TN_NPY_TOO_LARGE. */
tn_npy_error tn_npz_add(tn_npz_writer *writer, tn_str name, const tn_view *view);
tn_npy_error tn_npz_end(tn_npz_writer *writer);
#endif
