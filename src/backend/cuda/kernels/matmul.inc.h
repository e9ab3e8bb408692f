/* backend/cuda/kernels/matmul.inc.h: one chain of fma for each element. Included by matmul.c with TYPE and
 * OF(name). A block makes a tile of 64 x 64: 256 threads, 16 elements each. */

static inline TYPE OF(x_element)(const card_matmul_arguments *a, const char *x, int64_t i, int64_t k) {
  return i < a->m && k < a->k ? *(const TYPE *)(const void *)(x + i * a->x_row + k * a->x_column) : 0;
}

static inline TYPE OF(y_element)(const card_matmul_arguments *a, const char *y, int64_t k, int64_t j) {
  return k < a->k && j < a->n ? *(const TYPE *)(const void *)(y + k * a->y_row + j * a->y_column) : 0;
}

/* Consecutive threads read what lies side by side in memory. */
static inline void OF(fill_tiles)(const card_matmul_arguments *a, const char *x, const char *y, int64_t i0,
                                  int64_t j0, int64_t k0) {
  bool x_by_rows = a->x_column <= a->x_row, y_by_rows = a->y_column <= a->y_row;
  for (int at = card_thread(); at < TILE * DEPTH; at += CARD_BLOCK) {
    int xi = x_by_rows ? at / DEPTH : at % TILE, xk = x_by_rows ? at % DEPTH : at / TILE;
    int yj = y_by_rows ? at % TILE : at / DEPTH, yk = y_by_rows ? at / TILE : at % DEPTH;
    OF(x_tile)[xk][xi] = OF(x_element)(a, x, i0 + xi, k0 + xk);
    OF(y_tile)[yk][yj] = OF(y_element)(a, y, k0 + yk, j0 + yj);
  }
}

CARD_KERNEL(OF(matmul), card_matmul_arguments) {
  int row = card_thread() / 16 * 4, column = card_thread() % 16 * 4;
  int64_t tiles = a->tiles_m * a->tiles_n;
  const card_operand *const operands[3] = { &a->x, &a->y, &a->out };
  int64_t work = a->first + card_block();
  int64_t offset[3], i0 = work % tiles / a->tiles_n * TILE, j0 = work % a->tiles_n * TILE;
  card_places(&a->batch, work / tiles, operands, 3, offset);
  TYPE sum[4][4] = { { 0 } };
  CARD_ROLLED
  for (int64_t k0 = 0; k0 < a->k; k0 += DEPTH) {
    OF(fill_tiles)(a, a->x.data + offset[0], a->y.data + offset[1], i0, j0, k0);
    card_barrier();
    int depth = (int)card_least(DEPTH, a->k - k0);
    for (int k = 0; k < depth; k++) {
      CARD_UNROLL
      for (int i = 0; i < 4; i++) {
        CARD_UNROLL
        for (int j = 0; j < 4; j++)
          sum[i][j] = OF(chain)(OF(x_tile)[k][row + i], OF(y_tile)[k][column + j], sum[i][j]);
      }
    }
    card_barrier();
  }
  char *out = a->out.data + offset[2];
  CARD_UNROLL
  for (int i = 0; i < 4; i++) {
    CARD_UNROLL
    for (int j = 0; j < 4; j++)
      if (i0 + row + i < a->m && j0 + column + j < a->n)
        *(TYPE *)(void *)(out + (i0 + row + i) * a->out_row + (j0 + column + j) * a->out_column) =
            OF(stored)(sum[i][j]);
  }
}
