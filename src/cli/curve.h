/* cli/curve.h: a loss curve in terminal characters: a sparkline, and a plot. */
#ifndef TN_CLI_CURVE_H
#define TN_CLI_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When it is full, neighbours are merged and each point covers twice as many steps. */
#define TN_CURVE_POINTS 1024

typedef struct {
  double loss[TN_CURVE_POINTS]; /* means */
  size_t count;
  int64_t stride;  /* steps in a point; 1 at first */
  double sum;      /* of the steps since the last point */
  int64_t pending; /* how many those are */
} tn_curve;

void tn_curve_add(tn_curve *curve, double loss);

/* Eight heights in at most `cells` characters. Bytes of `out`: 4 for each of them, and 4 more. */
#define TN_SPARK_CELLS 16
#define TN_SPARK_BYTES (4 * TN_SPARK_CELLS + 4)
void tn_curve_spark(const tn_curve *curve, bool unicode, char out[TN_SPARK_BYTES]);

/* Prints the curve of the steps from `first` to `last`, as wide as the terminal; a curve of fewer than two
 * finite points is not drawn. */
void tn_curve_print(const tn_curve *curve, const char *title, int64_t first, int64_t last);
#endif
