/* track/chart/chart.h: curves over steps as an SVG, without any other tool.
 *
 * A chart is one panel or several, one below the other over the same steps.
 * It follows the reader's light or dark theme, and carries its figures as titles
 * for screen readers and pointers. The same curves give the same
 * bytes on every machine. */
#ifndef TN_EXPORT_CHART_H
#define TN_EXPORT_CHART_H

#include "base/text.h"

/* Ascending in x. A y that is NaN or infinite leaves a gap, which is marked. */
typedef struct {
  double x, y;
} tn_chart_point;

/* How many colours there are; further ones repeat them, with dashes. */
#define TN_CHART_COLOURS 8
#define TN_CHART_STYLES  (TN_CHART_COLOURS * 4)

typedef struct {
  tn_str name; /* what it shows, for its title */
  const tn_chart_point *points;
  size_t count;
  int style;   /* 0 to TN_CHART_STYLES - 1: colour and dashes */
  bool dotted; /* a dot at each point: few points with meaning of their own */
  bool faint;  /* lies behind the others */
} tn_chart_curve;

typedef enum { TN_CHART_AUTO, TN_CHART_LINEAR, TN_CHART_LOG } tn_chart_scale;

typedef struct {
  tn_str name; /* "loss" */
  const tn_chart_curve *curves;
  size_t count;
  tn_chart_scale scale; /* AUTO: logarithmic where most of a linear one would be a flat line */
  bool share;           /* values from 0 to 1: the axis does not go beyond */
} tn_chart_panel;

/* A line of the legend. */
typedef struct {
  tn_str name;
  int style; /* -1: no colour of its own */
  bool dotted;
} tn_chart_key;

#define TN_CHART_PANELS 4 /* at most */

typedef struct {
  tn_str title; /* may be empty */
  tn_str x_name;
  const tn_chart_panel *panels;
  size_t panel_count;
  const tn_chart_key *keys;
  size_t key_count;
} tn_chart;

/* Appends to `out`. At least one panel, each with at least one point. False when memory runs out. */
bool tn_chart_write(const tn_chart *chart, tn_text *out);
#endif
