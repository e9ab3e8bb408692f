/* backend/cpu/isa/chain.h: a chain of elementwise operations in one pass.
 *
 * The result of an operation mostly goes into the next one. So a program of f32 operations becomes a list
 * of links around one accumulator, as in a pocket calculator: load, multiply by an operand, add an
 * operand, store. The accumulator is a block of eight vectors, which stay in registers from link to
 * link: every operand is read once and the result is written once, whatever lies between. Each link
 * ends by calling the next one with the eight vectors as arguments, which is a jump.
 *
 * Other results, those that are needed later or twice, are kept in a block of memory and read like
 * operands. */
#ifndef TN_BACKEND_CPU_CHAIN_H
#define TN_BACKEND_CPU_CHAIN_H

#include "backend/cpu/isa/isa.h"

#define TN_CHAIN_BLOCK (8 * TN_LANES) /* elements */

typedef struct tn_link tn_link;
typedef void (*tn_link_run)(const tn_link *at, int64_t i, VF a, VF b, VF c, VF d, VF e, VF f, VF g, VF h);

struct tn_link {
  tn_link_run run;
  float *data;  /* what it reads beside the accumulator, or where it writes */
  int64_t mask; /* -1: data continues from block to block; 0: it is one block, the same for all */
};

/* The accumulator and the operand; or, reversed, the operand and the accumulator. NULL for other
 * operations. */
#define link_of TN_CPU_NAME(link_of)
tn_link_run link_of(tn_op op, bool reversed);

/* Into the accumulator; a copy of it elsewhere; and the last one, which makes NaN canonical and stores, past
 * the caches if need be (data is aligned then). */
#define link_load   TN_CPU_NAME(link_load)
#define link_keep   TN_CPU_NAME(link_keep)
#define link_end    TN_CPU_NAME(link_end)
#define link_stream TN_CPU_NAME(link_stream)
void link_load(const tn_link *at, int64_t i, VF a, VF b, VF c, VF d, VF e, VF f, VF g, VF h);
void link_keep(const tn_link *at, int64_t i, VF a, VF b, VF c, VF d, VF e, VF f, VF g, VF h);
void link_end(const tn_link *at, int64_t i, VF a, VF b, VF c, VF d, VF e, VF f, VF g, VF h);
void link_stream(const tn_link *at, int64_t i, VF a, VF b, VF c, VF d, VF e, VF f, VF g, VF h);

/* Runs the links, the first of which loads, over `count` elements, a multiple of TN_CHAIN_BLOCK. */
static inline void run_links(const tn_link *first, int64_t count) {
  VF none = vf_set(0.0f);
  for (int64_t i = 0; i < count; i += TN_CHAIN_BLOCK)
    first->run(first, i, none, none, none, none, none, none, none, none);
}
#endif
