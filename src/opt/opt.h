/* opt/opt.h: passes that make a graph cheaper and never change a bit.
 *
 * Each pass takes a graph and leaves an equivalent one in its place. Any pass
 * can be skipped without changing a result; tests run with each switched off. */
#ifndef TN_OPT_OPT_H
#define TN_OPT_OPT_H

#include "graph/graph.h"

typedef enum {
  TN_PASS_FOLD = 1 << 0, /* operations on constants; sizes; exact identities such as x + (-0) */
  TN_PASS_CSE = 1 << 1,  /* the same operation on the same operands once */
  TN_PASS_DCE = 1 << 2,  /* what no output needs */
  TN_PASS_FUSE = 1 << 3, /* elementwise chains become one operation */
  TN_PASS_RECOMPUTE = 1 << 4, /* rematerialisation: cheap values are recomputed, not kept */
  TN_PASS_ALL = (1 << 5) - 1
} tn_pass_set;

/* Folding computes with this callback, because opt/ does not depend on back ends. The views match
 * the op; `out` is contiguous. False: do not fold. */
typedef struct {
  bool (*compute)(void *context, tn_op op, const tn_attrs *attrs, const tn_view *in, int count,
                  const tn_view *out);
  void *context;
  uint64_t plenty; /* a graph of which fewer bytes are live at once keeps its values: nothing is recomputed.
                      0: what suits the CPU */
} tn_opt_evaluator;

/* "fold", "cse", "dce", "fuse", "recompute"; 0 when unknown. */
tn_pass_set tn_pass_find(tn_str name);

/* Runs the passes in order. False only when memory runs out; the graph is then still valid. */
bool tn_opt_run(tn_graph *graph, tn_pass_set passes, const tn_opt_evaluator *evaluator);

bool tn_opt_fold(tn_graph *graph, const tn_opt_evaluator *evaluator);
bool tn_opt_cse(tn_graph *graph);
bool tn_opt_dce(tn_graph *graph);
bool tn_opt_fuse(tn_graph *graph);
/* `plenty` as in tn_opt_evaluator. TN_OPT_ALWAYS: also where little memory is saved. */
#define TN_OPT_ALWAYS UINT64_MAX
bool tn_opt_recompute(tn_graph *graph, uint64_t plenty);

/* A batch in pieces (rows.c). `piece` computes the cut for a few rows: its outputs are the values of the cut.
 * `rest` computes the program's outputs for all rows and reads the cut as further inputs. Evaluating pieces
 * and then the rest gives the bits of evaluating the whole. */
typedef struct {
  bool divided;           /* false: the graph must be evaluated as a whole */
  tn_graph piece, rest;
  tn_vec(int) own_inputs; /* by input of the program: its position among those of `rest`; -1: not read */
  tn_vec(int) cut_inputs; /* by output of `piece`: its position there */
} tn_row_pieces;

/* `whole` and `part` are graphs of one program for so many rows and for so many of a piece; `fed` says of
 * each input whether its rows are rows of the batch. False when memory runs out; *out is then empty. */
bool tn_opt_divide_rows(const tn_graph *whole, const tn_graph *part, int64_t rows, int64_t part_rows,
                        const bool *fed, tn_row_pieces *out);
void tn_row_pieces_free(tn_heap *heap, tn_row_pieces *pieces);

/* One position of a sequence (places.c). `step` computes the output of the graph at a position from
 * the token there, the index of the position, and what is cached of the positions before it.
 * Computing the positions in order gives the bits of evaluating the whole. */
typedef struct {
  bool derived;           /* false: the graph must be evaluated as a whole */
  tn_graph step;          /* inputs: those of the graph, then the number of the place, i32 [1]. Parameters:
                             those of the graph, then what is kept. Outputs: the answer, then what is kept
                             with this place in it. */
  tn_vec(tn_value) kept;  /* values of the graph: in all places, what is kept */
} tn_one_place;

/* The graph has known shapes and one output, whose last axis but one has the places of the last axis of the
 * input `sequence`. Masks are recognised where they are constants: fold first. False when memory runs out;
 * *out is then empty. */
bool tn_opt_one_place(const tn_graph *graph, size_t sequence, tn_one_place *out);
void tn_one_place_free(tn_heap *heap, tn_one_place *derived);
#endif
