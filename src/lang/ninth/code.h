/* lang/ninth/code.h: the code that the VM executes.
 *
 * The text is read once and becomes units: the main program, and one for each
 * function, method and block. A unit is an array of instructions of eight
 * bytes with jump targets and slots of variables filled in; names and strings
 * are numbers of the session's table. So running looks up no text.
 *
 * Every name that a unit or a block in it mentions has a slot in the unit, so
 * that a block can read through to the unit it runs in. */
#ifndef TN_LANG_NINTH_CODE_H
#define TN_LANG_NINTH_CODE_H

#include "base/map.h"
#include "lang/ninth/lexer.h"
#include "tensor/tensor.h"

#define TN_NINTH_DEPTH_LIMIT 200 /* of brackets and blocks in the text */

/* Instructions: one for each opcode that the VM executes, then these. */
typedef enum {
  TN_NINTH_CODE_NUMBER = TN_NINTH_OPCODE_COUNT, /* arg: the bits of an f32 */
  TN_NINTH_CODE_TENSOR,                         /* arg: number of a literal */
  TN_NINTH_CODE_STRING,                         /* arg: name */
  TN_NINTH_CODE_SHAPE,                          /* arg: number of a shape */
  TN_NINTH_CODE_READ,                           /* arg: slot */
  TN_NINTH_CODE_BIND,                           /* arg: slot; -> x */
  TN_NINTH_CODE_KEEP,                           /* arg: slot; ->> x */
  TN_NINTH_CODE_READ_STATE,                     /* arg: name; hint: where it was found last */
  TN_NINTH_CODE_BIND_STATE,
  TN_NINTH_CODE_KEEP_STATE,
  TN_NINTH_CODE_BLOCK,         /* arg: number of a unit */
  TN_NINTH_CODE_MAKE,          /* arg: number of a maker */
  TN_NINTH_CODE_CALL_NAME,     /* arg: name; the string itself is the next instruction */
  TN_NINTH_CODE_DEFINE,        /* arg: number of a definition */
  TN_NINTH_CODE_DEFINE_MODULE, /* arg: number of a module */
  TN_NINTH_CODE_AGAIN,         /* arg: where the condition of a [WHILE] begins; its [END] */
  TN_NINTH_CODE_FLAW,          /* a token with an error, whose effect on the stack is unknown */
  TN_NINTH_CODE_END_OF_UNIT    /* not a token, and no step */
} tn_ninth_code_kind;
/* IF, REPEAT and DO hold where to continue when they are not taken, ELSE where the [ENDIF] is,
 * WHILE where its [DO] is, END where the loop's body begins. The hint of an IF that has an [ELSE]
 * is 1; that of another opcode says which literal stands right before it, for callers that look at
 * code without running it. */
enum { TN_NINTH_HINT_STRING = 1, TN_NINTH_HINT_NUMBER = 2 };

typedef struct {
  uint16_t op; /* tn_ninth_opcode or tn_ninth_code_kind */
  uint16_t hint;
  uint32_t arg;
} tn_ninth_code;

typedef enum {
  TN_NINTH_UNIT_MAIN,
  TN_NINTH_UNIT_FUNCTION,
  TN_NINTH_UNIT_INIT,
  TN_NINTH_UNIT_FORWARD,
  TN_NINTH_UNIT_BLOCK
} tn_ninth_unit_kind;

typedef struct tn_ninth_program tn_ninth_program;

typedef struct tn_ninth_unit {
  tn_ninth_unit_kind kind;
  uint32_t id; /* among the units of the VM; set when it is loaded */
  tn_ninth_program *program;
  tn_ninth_code *code; /* ends with END_OF_UNIT */
  const tn_span *at;   /* of each instruction */
  uint32_t count;
  bool shared;          /* its slots are those of the scope it was compiled with */
  const tn_name *slots; /* the name of each slot, unless they are shared */
  uint32_t slot_count;
  const struct tn_ninth_unit *around; /* block: the enclosing unit */
  const uint32_t *outer;              /* block: for each slot the slot of that name in `around` */
  uint32_t std;                       /* init: the slot of `std` */
  tn_span text;                       /* block: its source, braces included */
} tn_ninth_unit;

/* One place of a shape. */
typedef struct {
  enum { TN_NINTH_DIM_FIXED, TN_NINTH_DIM_SLOT, TN_NINTH_DIM_STATE } kind;
  int64_t number; /* fixed */
  uint32_t arg;   /* slot or name */
} tn_ninth_dim;

typedef struct {
  const tn_ninth_dim *dims;
  uint32_t count;
  bool fixed; /* all of them are */
} tn_ninth_shape;

/* {Name}, {Name [key->value]} */
typedef struct {
  tn_name name;
  uint32_t slot; /* of the name, should it be a variable */
  uint32_t count;
  const tn_name *keys;
  const float *values;
  const tn_ninth_unit *block; /* what {name} means for a variable; NULL with keys */
} tn_ninth_maker;

typedef struct {
  tn_name name;
  const tn_ninth_unit *unit;
} tn_ninth_definition;

typedef struct {
  const tn_ninth_unit *init, *forward; /* NULL: none */
  tn_ninth_program *program;
} tn_ninth_module;

/* Names and slots of a scope that outlives its text: the main program's, line after line. */
typedef struct {
  tn_map slots; /* name -> slot */
  tn_vec(tn_name) names;
} tn_ninth_scope;

struct tn_ninth_program {
  tn_heap *heap;
  tn_arena arena;
  uint32_t file;
  tn_ninth_unit *main;
  tn_vec(tn_ninth_unit *) units;
  tn_vec(tn_tensor) tensors;
  tn_vec(tn_ninth_shape) shapes;
  tn_vec(tn_ninth_maker) makers;
  tn_vec(tn_ninth_definition) definitions;
  tn_vec(tn_ninth_module) modules;
  bool open; /* the text ends inside a block, a bracket or a string */
  /* What the VM has made of literals; see tn_ninth_load. */
  uint32_t *constants, *objects;
  /* The VM holds it while a name or a value leads to its code: functions, modules, instances, blocks. */
  uint32_t references;
  size_t unit_count;                /* units that have a number */
  uint32_t turn;                    /* in which it was loaded */
  bool unused;                      /* it is on the VM's list of those nothing leads to */
  tn_ninth_program *next_unused;
  tn_ninth_program *next, *previous; /* among all of the VM */
};

void tn_ninth_scope_init(tn_ninth_scope *scope, tn_heap *heap);
void tn_ninth_scope_free(tn_ninth_scope *scope, tn_heap *heap);
/* Forgets the names after the first `count`. */
void tn_ninth_scope_rewind(tn_ninth_scope *scope, size_t count);

/* Compiles a registered file; the names of its main program go into `scope`. Reports everything that is
 * wrong with the text. NULL when it reported an error, or memory ran out (and that is reported); *open
 * (may be NULL) then says whether more text could make it right. */
tn_ninth_program *tn_ninth_compile(tn_heap *heap, tn_names *names, tn_diags *diags, uint32_t file,
                                   tn_ninth_scope *scope, bool *open);
/* The same to be checked, not run: also what has reported only flaws in single tokens and literals, which are
 * FLAW in its code. */
tn_ninth_program *tn_ninth_compile_flawed(tn_heap *heap, tn_names *names, tn_diags *diags, uint32_t file,
                                          tn_ninth_scope *scope);
void tn_ninth_program_free(tn_ninth_program *program);
/* Reports that memory ran out: the machine's, or what the user allowed. Returns false. */
bool tn_ninth_report_memory(tn_heap *heap, tn_diags *diags, tn_span at);
#endif
