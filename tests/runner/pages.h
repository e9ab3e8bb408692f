/* runner/pages.h: the pages that pages.c compares, each made by a file of its own; the caller frees. */
#ifndef TN_TEST_PAGES_H
#define TN_TEST_PAGES_H

#include "runner/run.h"

text operations_page(void);
text errors_page(void);
#endif
