/* lang/ninth/vm.h: the virtual machine that runs a program, on a stack of values.
 *
 * A value on the stack is eight bytes: a kind and a number. A single f32 that no
 * gradient can flow through is the number itself, so that counting costs no
 * memory; other tensors are values of the eager builder; strings are names of
 * the session's table. Blocks are numbers of units and hold their program; shapes,
 * lists and instances are objects with a count of references.
 *
 * A program, which owns its text, its code and its literals, lives as long as
 * something refers to it: a function, a module, an instance or a block. It is
 * freed between two texts (tn_ninth_collect), when none of it can be running.
 *
 * Calls do not use the C stack: a frame holds the return address. An opcode reads
 * its operands, computes, and only then changes the stack, so that one that fails
 * leaves it unchanged. */
#ifndef TN_LANG_NINTH_VM_H
#define TN_LANG_NINTH_VM_H

#include "eager/eager.h"
#include "lang/lang.h"
#include "lang/ninth/code.h"

#define TN_NINTH_CALL_LIMIT  1000                   /* calls, and running blocks, inside each other */
#define TN_NINTH_STACK_LIMIT ((size_t)1 << 24)      /* items on the stack */
#define TN_NINTH_STEP_LIMIT  ((uint64_t)1000000000) /* unless --max-steps says otherwise */
#define TN_NINTH_EXACT       ((int64_t)1 << 24)     /* whole numbers up to here are exact in f32 */
#define TN_NINTH_PATIENCE    64                     /* steps between two looks at the clock */

typedef enum {
  TN_NINTH_UNBOUND, /* only in variables */
  TN_NINTH_NUMBER,  /* a 0-d tensor without a gradient */
  TN_NINTH_TENSOR,
  TN_NINTH_STRING,
  TN_NINTH_BLOCK,       /* from here on references are counted here */
  TN_NINTH_SHAPE_VALUE, /* from here on objects */
  TN_NINTH_LIST_VALUE,
  TN_NINTH_INSTANCE
} tn_ninth_kind;

typedef struct {
  uint32_t kind;
  union {
    float number;
    tn_value tensor;
    tn_name name;
    uint32_t unit;
    uint32_t object; /* never 0 */
  };
} tn_ninth_value;

typedef struct {
  tn_name name;
  uint32_t turn; /* that has kept what it was; see tn_ninth_turn_begin */
  tn_ninth_value value;
} tn_ninth_entry;

#define TN_NINTH_FEW_DIMS 8

/* A shape, a list or an instance. */
typedef struct {
  uint32_t references; /* 0: free */
  uint8_t kind;        /* tn_ninth_kind */
  uint32_t next;       /* free list, and work lists */
  uint32_t mark;       /* the walk that has met it */
  uint32_t turn;       /* in which it was made */
  uint32_t count, capacity;
  union {
    int64_t *dims;           /* shape; points to `few` when there are few */
    tn_ninth_value *items;   /* list */
    tn_ninth_entry *entries; /* instance: its state, in the order of first binding */
  };
  bool literal;  /* list: made by [LIST]; its items belong to its holder */
  tn_map *index; /* instance with a large state: name -> entry */
  tn_name name;  /* instance: of its module */
  const tn_ninth_module *module;
  int64_t few[TN_NINTH_FEW_DIMS];
} tn_ninth_object;

#define TN_NINTH_OBJECT_CHUNK 64
#define TN_NINTH_BOXES        64

/* A unit that is running. */
typedef struct {
  const tn_ninth_unit *unit;
  const tn_ninth_code *next;   /* where it continues; kept while another frame runs */
  uint32_t locals;             /* its first variable in vm->locals */
  uint32_t loops;              /* open loops when it began */
  uint32_t self;               /* the instance that @ means */
  uint32_t made;               /* [INIT]: the instance that {Name} will push */
  uint32_t items, item;        /* block: the list it runs over, and the next item */
  uint32_t floor;              /* [INIT], [LIST]: the floor of the frame around */
  bool gathers;                /* block: [LIST] makes a list of what it leaves above the floor */
  const tn_ninth_maker *maker; /* [INIT]: the values it was given */
  const uint32_t *outer;       /* block: its slots in the frame below; NULL: not those of its text */
  bool recording;              /* the mark to go back to */
} tn_ninth_frame;

/* The global meaning of a name. */
typedef struct {
  tn_ninth_value memory; /* [STORE] */
  const tn_ninth_unit *function;
  const tn_ninth_module *module;
  uint32_t turn; /* that has kept what it was */
} tn_ninth_symbol;

/* What was there before the first change in a turn. */
typedef struct {
  tn_name name;
  tn_ninth_symbol was;
} tn_ninth_kept_symbol;
typedef struct {
  uint32_t object, entry;
  bool added; /* there was no such entry */
  tn_ninth_value was;
} tn_ninth_kept_entry;
typedef struct {
  uint32_t slot;
  tn_ninth_value was;
} tn_ninth_kept_local;

/* A line of a session that can be undone (undo.c). */
typedef struct {
  bool open;
  uint32_t number;
  tn_vec(tn_ninth_value) stack;
  tn_vec(tn_ninth_kept_local) locals;
  tn_vec(tn_ninth_kept_entry) entries;
  tn_vec(tn_ninth_kept_symbol) symbols;
  size_t names, symbol_count; /* names: of the scope */
  bool forgets_names;         /* those that came up in it are not needed any more */
  uint64_t drawn;
  size_t input, libraries;
} tn_ninth_turn;

typedef struct tn_ninth_vm {
  tn_host *host;
  tn_heap *heap;
  tn_eager *eager;
  tn_builder *builder;
  /* The stack. Items below `floor` are those an [INIT] has not reached. */
  tn_ninth_value *stack, *top, *floor, *end;
  const tn_ninth_code *next; /* after the instruction that runs */
  tn_vec(tn_ninth_value) locals;
  tn_vec(tn_ninth_frame) frames;
  tn_vec(int64_t) loops;           /* rounds that are left */
  uint32_t calls, blocks;          /* frames of each kind */
  tn_vec(tn_ninth_symbol) symbols; /* by name */
  tn_vec(const tn_ninth_unit *) units;
  tn_vec(uint32_t) free_units, free_files; /* numbers of what was freed */
  tn_ninth_program *programs;              /* newest first */
  tn_ninth_program *unused;                /* those that nothing may lead to */
  tn_ninth_turn turn;
  tn_vec(tn_name) libraries; /* loaded */
  tn_ninth_scope scope;      /* of the main program */
  tn_vec(tn_ninth_object *) chunks;
  uint32_t free_object, mark;
  uint32_t self;                  /* the state of the main program */
  tn_value boxes[TN_NINTH_BOXES]; /* numbers that have lately met tensors, by a hash of their bits */
  uint64_t steps, fuel;           /* left: after the next look at the clock, and until then */
  uint64_t drawn;                 /* words of the generator that are used up */
  size_t input;                   /* the next --input */
  bool everything;                /* numbers are recorded too; see tn_ninth_note */
  tn_vec(tn_value) noted;
  size_t loss;                                     /* how many were noted when the last [BACKWARD] ran */
  void (*watch)(struct tn_ninth_vm *vm); /* before each step; NULL: none */
  void *watcher;
} tn_ninth_vm;

/* ---- the VM (vm.c) ---- */

/* False when memory runs out; to be freed in any case. */
bool tn_ninth_vm_init(tn_ninth_vm *m, tn_host *host);
void tn_ninth_vm_free(tn_ninth_vm *m);
/* Registers a text for a session; 0 when memory runs out. Its program owns it. */
uint32_t tn_ninth_add_text(tn_ninth_vm *m, tn_str name, tn_str text);
void tn_ninth_forget_text(tn_ninth_vm *m, uint32_t file);
/* Takes a compiled program; it stays until it is collected or the VM freed. False after reporting. */
bool tn_ninth_load(tn_ninth_vm *m, tn_ninth_program *program);
void tn_ninth_hold_program(tn_ninth_program *program);
void tn_ninth_release_program(tn_ninth_vm *m, tn_ninth_program *program);
/* Frees the programs that nothing refers to, and their texts. Only between two texts: nothing runs,
 * and no diagnostic needs a text. */
void tn_ninth_collect(tn_ninth_vm *m);
/* Runs the main unit of a loaded program. On failure it has reported; calls that were running have ended, the
 * stack is as it was before the opcode that failed. */
bool tn_ninth_run(tn_ninth_vm *m, const tn_ninth_program *program);

/* One function for each word in opcodes.def. Its operands are known to be there. */
#define TN_NINTH_OPCODE(id, takes, gives, group, effect, doc, how, op)                                       \
  bool tn_ninth_run_##how(tn_ninth_vm *m);
#include "lang/ninth/opcodes.def"

/* The opcode that runs, and what it asks the engine for. */
tn_ninth_opcode tn_ninth_running(const tn_ninth_vm *m);
tn_op tn_ninth_operation(const tn_ninth_vm *m);
/* Room for one more item; false after reporting. */
bool tn_ninth_room(tn_ninth_vm *m);
/* Whether there are `needed` items, which the opcode will take from the stack. False after reporting. */
bool tn_ninth_reach(tn_ninth_vm *m, size_t needed);
bool tn_ninth_interrupted(tn_ninth_vm *m);
/* Puts a result in the place of the `count` top items, which are freed. */
void tn_ninth_replace(tn_ninth_vm *m, size_t count, tn_ninth_value result);
void tn_ninth_drop(tn_ninth_vm *m, size_t count);
/* For `emit`: a value that the program has shown is an output of its graph. */
bool tn_ninth_note(tn_ninth_vm *m, tn_value value);
static inline size_t tn_ninth_depth(const tn_ninth_vm *m) { return (size_t)(m->top - m->stack); }

/* ---- values (value.c) ---- */

const char *tn_ninth_kind_name(tn_ninth_kind kind); /* "tensor", "string", ... */
tn_ninth_object *tn_ninth_object_of(const tn_ninth_vm *m, uint32_t object);
/* With one reference; 0 when memory runs out. */
uint32_t tn_ninth_object_new(tn_ninth_vm *m, tn_ninth_kind kind);
void tn_ninth_hold_object(tn_ninth_vm *m, uint32_t object);
void tn_ninth_release_object(tn_ninth_vm *m, uint32_t object);
/* Of blocks and objects. */
void tn_ninth_hold_counted(tn_ninth_vm *m, tn_ninth_value value);
void tn_ninth_release_counted(tn_ninth_vm *m, tn_ninth_value value);
static inline void tn_ninth_hold(tn_ninth_vm *m, tn_ninth_value value) {
  if (value.kind == TN_NINTH_TENSOR)
    tn_eager_ref(m->eager, value.tensor);
  else if (value.kind >= TN_NINTH_BLOCK)
    tn_ninth_hold_counted(m, value);
}
static inline void tn_ninth_release(tn_ninth_vm *m, tn_ninth_value value) {
  if (value.kind == TN_NINTH_TENSOR)
    tn_eager_unref(m->eager, value.tensor);
  else if (value.kind >= TN_NINTH_BLOCK)
    tn_ninth_release_counted(m, value);
}
/* A shape object of these dimensions; 0 when memory runs out. */
uint32_t tn_ninth_shape_new(tn_ninth_vm *m, const int64_t *dims, size_t count);
/* A list with room for so many items, which the caller fills in; 0 when memory runs out. */
uint32_t tn_ninth_list_new(tn_ninth_vm *m, size_t count);
/* The entry of a name in an instance's state, NULL when it has none. `hint` is where it was found
 * last, and is set to where it is. */
tn_ninth_entry *tn_ninth_state_find(const tn_ninth_object *instance, tn_name name, uint16_t *hint);
/* The same, made if need be; NULL when memory runs out. */
tn_ninth_entry *tn_ninth_state_make(tn_ninth_vm *m, tn_ninth_object *instance, tn_name name,
                                    uint16_t *hint);
/* Takes the last entry out of an instance's state. */
void tn_ninth_state_pop(tn_ninth_object *instance);
void tn_ninth_objects_free(tn_ninth_vm *m);

/* As PRINT shows it. With `shorten`, large tensors are cut in the middle. */
void tn_ninth_show(const tn_ninth_vm *m, tn_ninth_value value, bool shorten, tn_text *out);
/* For the outcome: in the arena, sharing buffers. False when memory runs out. */
bool tn_ninth_datum(tn_ninth_vm *m, tn_ninth_value value, tn_arena *arena, tn_datum *out);

/* ---- calls, blocks, instances, variables (calls.c) ---- */

/* The first frame, of a main unit, whose variables stay from one text to the next. False when memory
 * runs out. */
bool tn_ninth_begin(tn_ninth_vm *m, const tn_ninth_unit *unit);
bool tn_ninth_call_unit(tn_ninth_vm *m, const tn_ninth_unit *unit, uint32_t self);
/* The end of the running unit. False after reporting. */
bool tn_ninth_return(tn_ninth_vm *m);
/* Ends every unit that runs, wherever it is. */
void tn_ninth_unwind(tn_ninth_vm *m);
bool tn_ninth_call_name(tn_ninth_vm *m, tn_name name);
bool tn_ninth_make(tn_ninth_vm *m, const tn_ninth_maker *maker);
bool tn_ninth_define(tn_ninth_vm *m, const tn_ninth_definition *definition);
bool tn_ninth_define_module(tn_ninth_vm *m, const tn_ninth_module *module);
/* To be read; never NULL. */
const tn_ninth_symbol *tn_ninth_symbol_of(const tn_ninth_vm *m, tn_name name);
/* To be changed; NULL when memory runs out. */
tn_ninth_symbol *tn_ninth_symbol_change(tn_ninth_vm *m, tn_name name);
tn_name tn_ninth_slot_name(const tn_ninth_vm *m, const tn_ninth_unit *unit, uint32_t slot);
bool tn_ninth_read_slot(tn_ninth_vm *m, uint32_t slot, tn_ninth_value *out);
bool tn_ninth_read_state(tn_ninth_vm *m, tn_name name, uint16_t *hint, tn_ninth_value *out);
/* -> @name. Takes the value, also into *value when it became a parameter; on failure it is still the
 * caller's. */
bool tn_ninth_bind_state(tn_ninth_vm *m, tn_name name, uint16_t *hint, tn_ninth_value *value);

/* ---- tensors (tensors.c, shapes.c) ---- */

/* A stack item as a tensor of the engine. */
typedef struct {
  tn_value value;
  bool owned; /* made for this, and to be freed */
} tn_ninth_operand;

/* Boxes a number as a value of the engine, with a reference for the caller; 0 when memory runs out. */
tn_value tn_ninth_box(tn_ninth_vm *m, float number);
/* The item at `place` from the top (0 is the top). False after reporting. */
bool tn_ninth_operand_at(tn_ninth_vm *m, size_t place, tn_ninth_operand *out);
void tn_ninth_operand_end(tn_ninth_vm *m, tn_ninth_operand *operand);
bool tn_ninth_operand_of(tn_ninth_vm *m, tn_ninth_value value, tn_ninth_operand *out);
/* Puts what the engine gave in the place of the `count` top items; its reference is taken. A single f32 that
 * no gradient flows through becomes a number. 0 is the builder's fault, which is reported. */
bool tn_ninth_finish(tn_ninth_vm *m, size_t count, tn_value result);
/* Ends the scope and releases what the builder made in it, except the result (tn_eager_result). */
tn_value tn_ninth_keep(tn_ninth_vm *m, size_t scope, tn_value result);
/* The shape of what is at `place` from the top; a number's is []. */
tn_shape tn_ninth_shape_at(const tn_ninth_vm *m, size_t place);
/* One number; false when the value is not one (nothing is reported). */
bool tn_ninth_number_of(const tn_ninth_vm *m, tn_ninth_value value, float *out);
/* The numbers of a shape, or of a 1-D tensor, as a shape of the engine. False after reporting. */
bool tn_ninth_dims_of(tn_ninth_vm *m, tn_ninth_value value, tn_shape *out);
bool tn_ninth_check_shape(tn_ninth_vm *m, const tn_shape *shape);
/* Standard normal numbers, the next of the program's generator. 0 with the builder's fault. */
tn_value tn_ninth_normal(tn_ninth_vm *m, const tn_shape *shape);
bool tn_ninth_make_shape(tn_ninth_vm *m, const tn_ninth_shape *shape, uint32_t number);

/* ---- parts (indexing.c) ---- */

/* The item at `place` from the top as a whole number. False after reporting. */
bool tn_ninth_whole_at(tn_ninth_vm *m, size_t place, int64_t *out);
/* Whether the numbers below `count` are exact, and so many elements can be made. False after reporting. */
bool tn_ninth_check_exact(tn_ninth_vm *m, int64_t count);

/* ---- files (files.c) ---- */

/* The path of a file that the program reads or writes, as the system finds it; from the arena. False after
 * reporting, also when nothing was granted. `place` is that of its name on the stack. */
bool tn_ninth_source_at(tn_ninth_vm *m, size_t place, tn_arena *arena, tn_str *path);
bool tn_ninth_target_at(tn_ninth_vm *m, size_t place, tn_arena *arena, tn_str *path);
/* Tells the host which files a program may open, before it runs. False after reporting. */
bool tn_ninth_seal(tn_ninth_vm *m, const tn_ninth_program *program);

/* ---- parameters (gradients.c) ---- */

typedef struct {
  tn_value variable;
  tn_str name; /* "layer.W", "layers.0.W" */
} tn_ninth_param;
typedef tn_vec(tn_ninth_param) tn_ninth_params;

/* All trainable tensors reachable from an instance or a list, with their paths. False after
 * reporting; to be freed in any case. */
bool tn_ninth_named_params(tn_ninth_vm *m, uint32_t object, tn_ninth_params *out);

/* Adds all trainable tensors reachable from the variables, the state and the stored values of the
 * main program to the unit, with names such as "layer.W". False after reporting. */
bool tn_ninth_keep_params(tn_ninth_vm *m, tn_unit *unit);

/* ---- turns (undo.c) ---- */

/* A text is about to be read. */
void tn_ninth_turn_begin(tn_ninth_vm *m);
/* It is about to run: from here on every change of the stack, variables, state, stored values, definitions,
 * weights, gradients, draws and inputs can be undone. That costs what is changed, and the depth of the stack.
 * False when memory runs out. */
bool tn_ninth_turn_run(tn_ninth_vm *m, const tn_ninth_unit *main);
void tn_ninth_turn_end(tn_ninth_vm *m, bool undo);
/* Before an entry of an instance's state changes, and before a symbol does. False when memory runs out. */
bool tn_ninth_keep_entry(tn_ninth_vm *m, uint32_t object, tn_ninth_entry *entry, bool added);
bool tn_ninth_keep_symbol(tn_ninth_vm *m, tn_name name);

/* ---- diagnostics (report.c): all return false ---- */

/* An instruction that found too little on the stack. */
typedef struct {
  uint32_t op;
  const char *opcode; /* its name */
  tn_span at, called; /* its place, and where its function was called or TN_NOWHERE */
  int64_t needed, have;
} tn_ninth_underflow;
bool tn_ninth_report_underflow(tn_heap *heap, tn_diags *diags, const tn_ninth_underflow *what);
tn_span tn_ninth_here(const tn_ninth_vm *m);
const char *tn_ninth_opcode_here(const tn_ninth_vm *m);
/* Where the program called the function or method that runs, also through a library; TN_NOWHERE outside. */
tn_span tn_ninth_called_at(const tn_ninth_vm *m);
#define tn_ninth_error(m, code, ...)                                                                         \
  tn_report((m)->host->diags, (code), tn_ninth_here(m), __VA_ARGS__,                                         \
            TN_NOTE_IF(tn_ninth_called_at(m), TN_DIAG_CALLED))
bool tn_ninth_no_room(tn_ninth_vm *m); /* memory ran out */
bool tn_ninth_wrong_kind(tn_ninth_vm *m, const char *expected, tn_ninth_value got);
bool tn_ninth_wrong_shape(tn_ninth_vm *m, const tn_shape *shape, const char *problem, const char *hint);
bool tn_ninth_misfit(tn_ninth_vm *m, const tn_shape *left, const tn_shape *right);
bool tn_ninth_undefined(tn_ninth_vm *m, tn_name name);
bool tn_ninth_no_state(tn_ninth_vm *m, const tn_ninth_object *instance, tn_name name);
bool tn_ninth_unknown(tn_ninth_vm *m, tn_diag_code code, tn_name name);
/* The builder's fault, in Ninth's words; the builder is ready again. `operands` are the shapes the
 * opcode was given, where there are two. */
bool tn_ninth_fault(tn_ninth_vm *m, const tn_shape *left, const tn_shape *right);
bool tn_ninth_report_stop(tn_ninth_vm *m);

/* ---- libraries (std.c) ---- */

/* The text of a library that tern comes with; false when there is none of that name. */
bool tn_ninth_library(tn_str name, tn_str *text);
/* The one a user most likely meant. */
tn_str tn_ninth_library_suggest(tn_str wrong);
#endif
