/* export/mlir_helper.c: helper functions that an MLIR module calls.
 *
 * They are tern's f32 elementary functions, and reductions of a row. The order of sums is repeated
 * here: chunks of 512, in a chunk 16 lanes that start at the identity, a tree over the lanes, then
 * neighbouring chunks until one is left. */
#include "export/mlir_elementary.inc.h"
#include "export/mlir_internal.h"

static const char *const *const elementary[TN_MLIR_HELPER_COUNT] = {
  [TN_MLIR_EXP] = elementary_exp,         [TN_MLIR_LOG] = elementary_log, [TN_MLIR_TANH] = elementary_tanh,
  [TN_MLIR_SIGMOID] = elementary_sigmoid, [TN_MLIR_ERF] = elementary_erf, [TN_MLIR_SIN] = elementary_sin,
  [TN_MLIR_COS] = elementary_cos,         [TN_MLIR_POW] = elementary_pow,
};

/* N is the function's name, T the dtype, O the operation, I the identity, Z the result of nothing. */
static const char join_row[] =
    "func.func private @N(%x: tensor<?x?xT>, %row: index) -> T {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %c2 = arith.constant 2 : index\n"
    "  %c8 = arith.constant 8 : index\n"
    "  %c16 = arith.constant 16 : index\n"
    "  %c511 = arith.constant 511 : index\n"
    "  %c512 = arith.constant 512 : index\n"
    "  %identity = arith.constant I : T\n"
    "  %length = tensor.dim %x, %c1 : tensor<?x?xT>\n"
    "  %up = arith.addi %length, %c511 : index\n"
    "  %chunks = arith.divui %up, %c512 : index\n"
    "  %places = arith.maxui %chunks, %c1 : index\n"
    "  %nothing = arith.constant Z : T\n"
    "  %bare_room = tensor.empty(%places) : tensor<?xT>\n"
    "  %room = tensor.insert %nothing into %bare_room[%c0] : tensor<?xT>\n"
    "  %sums = scf.for %chunk = %c0 to %chunks step %c1 iter_args(%done = %room) -> (tensor<?xT>) {\n"
    "    %first = arith.muli %chunk, %c512 : index\n"
    "    %behind = arith.addi %first, %c512 : index\n"
    "    %end = arith.minui %behind, %length : index\n"
    "    %bare = tensor.empty() : tensor<16xT>\n"
    "    %lanes = scf.for %lane = %c0 to %c16 step %c1 iter_args(%filled = %bare) -> (tensor<16xT>) {\n"
    "      %from = arith.addi %first, %lane : index\n"
    "      %sum = scf.for %i = %from to %end step %c16 iter_args(%before = %identity) -> (T) {\n"
    "        %element = tensor.extract %x[%row, %i] : tensor<?x?xT>\n"
    "        %after = O %before, %element : T\n"
    "        scf.yield %after : T\n"
    "      }\n"
    "      %more = tensor.insert %sum into %filled[%lane] : tensor<16xT>\n"
    "      scf.yield %more : tensor<16xT>\n"
    "    }\n"
    "    %tree:2 = scf.while (%joined = %lanes, %half = %c8) : (tensor<16xT>, index) -> (tensor<16xT>, "
    "index) {\n"
    "      %left = arith.cmpi ugt, %half, %c0 : index\n"
    "      scf.condition(%left) %joined, %half : tensor<16xT>, index\n"
    "    } do {\n"
    "    ^bb0(%joined: tensor<16xT>, %half: index):\n"
    "      %folded = scf.for %lane = %c0 to %half step %c1 iter_args(%now = %joined) -> (tensor<16xT>) {\n"
    "        %other = arith.addi %lane, %half : index\n"
    "        %a = tensor.extract %now[%lane] : tensor<16xT>\n"
    "        %b = tensor.extract %now[%other] : tensor<16xT>\n"
    "        %both = O %a, %b : T\n"
    "        %next = tensor.insert %both into %now[%lane] : tensor<16xT>\n"
    "        scf.yield %next : tensor<16xT>\n"
    "      }\n"
    "      %quarter = arith.divui %half, %c2 : index\n"
    "      scf.yield %folded, %quarter : tensor<16xT>, index\n"
    "    }\n"
    "    %total = tensor.extract %tree#0[%c0] : tensor<16xT>\n"
    "    %kept = tensor.insert %total into %done[%chunk] : tensor<?xT>\n"
    "    scf.yield %kept : tensor<?xT>\n"
    "  }\n"
    "  %pairs:2 = scf.while (%level = %sums, %count = %chunks) : (tensor<?xT>, index) -> (tensor<?xT>, "
    "index) {\n"
    "    %several = arith.cmpi ugt, %count, %c1 : index\n"
    "    scf.condition(%several) %level, %count : tensor<?xT>, index\n"
    "  } do {\n"
    "  ^bb0(%level: tensor<?xT>, %count: index):\n"
    "    %half = arith.divui %count, %c2 : index\n"
    "    %last = arith.subi %count, %c1 : index\n"
    "    %alone = tensor.extract %level[%last] : tensor<?xT>\n"
    "    %joined = scf.for %i = %c0 to %half step %c1 iter_args(%now = %level) -> (tensor<?xT>) {\n"
    "      %even = arith.muli %i, %c2 : index\n"
    "      %odd = arith.addi %even, %c1 : index\n"
    "      %a = tensor.extract %now[%even] : tensor<?xT>\n"
    "      %b = tensor.extract %now[%odd] : tensor<?xT>\n"
    "      %both = O %a, %b : T\n"
    "      %next = tensor.insert %both into %now[%i] : tensor<?xT>\n"
    "      scf.yield %next : tensor<?xT>\n"
    "    }\n"
    "    %more = arith.addi %count, %c1 : index\n"
    "    %left = arith.divui %more, %c2 : index\n"
    "    %uneven = arith.cmpi ugt, %left, %half : index\n"
    "    %place = arith.subi %left, %c1 : index\n"
    "    %there = tensor.extract %joined[%place] : tensor<?xT>\n"
    "    %moved = arith.select %uneven, %alone, %there : T\n"
    "    %up2 = tensor.insert %moved into %joined[%place] : tensor<?xT>\n"
    "    scf.yield %up2, %left : tensor<?xT>, index\n"
    "  }\n"
    "  %result = tensor.extract %pairs#0[%c0] : tensor<?xT>\n"
    "  return %result : T\n"
    "}\n";

static const char extreme_row[] =
    "func.func private @N(%x: tensor<?x?xT>, %row: index) -> T {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %length = tensor.dim %x, %c1 : tensor<?x?xT>\n"
    "  %first = tensor.extract %x[%row, %c0] : tensor<?x?xT>\n"
    "  %result = scf.for %i = %c1 to %length step %c1 iter_args(%best = %first) -> (T) {\n"
    "    %element = tensor.extract %x[%row, %i] : tensor<?x?xT>\n"
    "    %next = O %best, %element : T\n"
    "    scf.yield %next : T\n"
    "  }\n"
    "  return %result : T\n"
    "}\n";

/* The first that none beats. BEATS says whether %element beats %value. */
#define ARGMAX_ROW(BEATS)                                                                                    \
  "func.func private @N(%x: tensor<?x?xT>, %row: index) -> i32 {\n"                                          \
  "  %c0 = arith.constant 0 : index\n"                                                                       \
  "  %c1 = arith.constant 1 : index\n"                                                                       \
  "  %length = tensor.dim %x, %c1 : tensor<?x?xT>\n"                                                         \
  "  %first = tensor.extract %x[%row, %c0] : tensor<?x?xT>\n"                                                \
  "  %best:2 = scf.for %i = %c1 to %length step %c1 "                                                        \
  "iter_args(%value = %first, %place = %c0) -> (T, index) {\n"                                               \
  "    %element = tensor.extract %x[%row, %i] : tensor<?x?xT>\n" BEATS                                       \
  "    %next = arith.select %beats, %element, %value : T\n"                                                  \
  "    %at = arith.select %beats, %i, %place : index\n"                                                      \
  "    scf.yield %next, %at : T, index\n"                                                                    \
  "  }\n"                                                                                                    \
  "  %wide = arith.index_cast %best#1 : index to i32\n"                                                      \
  "  return %wide : i32\n"                                                                                   \
  "}\n"

static const char argmax_row[] = ARGMAX_ROW("    %beats = O %element, %value : T\n");

/* NaN beats every number and is not beaten. */
static const char argmax_float_row[] = ARGMAX_ROW("    %above = arith.cmpf ugt, %element, %value : T\n"
                                                  "    %number = arith.cmpf ord, %value, %value : T\n"
                                                  "    %beats = arith.andi %above, %number : i1\n");

typedef struct {
  const char *name, *text; /* of floats */
  const char *real, *real_identity;
  const char *int_text, *whole, *whole_identity;
  const char *real_nothing;
} row_entry;

static const row_entry rows[TN_MLIR_ROW_COUNT] = {
  [TN_MLIR_SUM] = { "sum", join_row, "arith.addf", "-0.0", join_row, "arith.addi", "0", "0.0" },
  [TN_MLIR_PROD] = { "prod", join_row, "arith.mulf", "1.0", join_row, "arith.muli", "1", "1.0" },
  [TN_MLIR_MAX] = { "max", extreme_row, "arith.maximumf", "", extreme_row, "arith.maxsi", "", "" },
  [TN_MLIR_MIN] = { "min", extreme_row, "arith.minimumf", "", extreme_row, "arith.minsi", "", "" },
  [TN_MLIR_ARGMAX] = { "argmax", argmax_float_row, "", "", argmax_row, "arith.cmpi sgt,", "", "" },
};

tn_str tn_mlir_row_function(tn_mlir *m, tn_mlir_row row, tn_dtype dtype) {
  m->rows[row][dtype] = true;
  return TN_MLIR_TEXT(m, "tern_$_$", tn_str_of(rows[row].name), tn_mlir_dtype(dtype));
}

static bool is_alone(const char *text, size_t at) {
  char before = at ? text[at - 1] : ' ', after = text[at + 1];
  bool left = before == ' ' || before == '@' || before == 'x' || before == '(';
  return left &&
         (after == ' ' || after == '\n' || after == '>' || after == ')' || after == '(' || after == ',');
}

/* Single capital letters are replaced; the text has no others. */
static void write_row(tn_mlir *m, tn_mlir_row row, tn_dtype dtype) {
  const row_entry *entry = &rows[row];
  bool real = tn_dtype_in(dtype, TN_FLOATS);
  const char *text = real ? entry->text : entry->int_text;
  tn_str name = tn_mlir_row_function(m, row, dtype);
  for (size_t i = 0; text[i]; i++) {
    if (i == 0 || text[i - 1] == '\n') tn_text_puts(m->out, "  ");
    bool alone = text[i] >= 'A' && text[i] <= 'Z' && is_alone(text, i);
    if (alone && text[i] == 'N')
      tn_text_add(m->out, name);
    else if (alone && text[i] == 'T')
      tn_text_add(m->out, tn_mlir_dtype(dtype));
    else if (alone && text[i] == 'O')
      tn_text_puts(m->out, real ? entry->real : entry->whole);
    else if (alone && text[i] == 'I')
      tn_text_puts(m->out, real ? entry->real_identity : entry->whole_identity);
    else if (alone && text[i] == 'Z')
      tn_text_puts(m->out, real ? entry->real_nothing : entry->whole_identity);
    else
      tn_text_byte(m->out, text[i]);
  }
}

void tn_mlir_write_helpers(tn_mlir *m) {
  for (int i = 0; i < TN_MLIR_ROW_COUNT; i++) {
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
      if (m->rows[i][dtype]) write_row(m, (tn_mlir_row)i, (tn_dtype)dtype);
    }
  }
  for (int i = 0; i < TN_MLIR_HELPER_COUNT; i++) {
    for (const char *const *line = elementary[i]; m->used[i] && *line; line++) {
      tn_text_puts(m->out, "  ");
      tn_text_puts(m->out, *line);
      tn_text_byte(m->out, '\n');
    }
  }
}
