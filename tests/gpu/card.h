/* tests/gpu/card.h: a real card as a back end that works in the host's memory: every call copies its operands
 * to the card and its result back. For TERN_TEST_CARD=1. */
#ifndef TN_TESTS_GPU_CARD_H
#define TN_TESTS_GPU_CARD_H

#include "backend/backend.h"

/* NULL, with *why, where there is none. */
const tn_backend *card_backend(const char **why);
#endif
