/* cluster/window.h: memory that the ranks on one machine share.
 *
 * A window is an anonymous file in memory. One process makes it as large as it could ever need to be and
 * passes its descriptor on; pages exist once they are touched. Every rank maps it before the sandbox is
 * entered and then allocates parts of it, all ranks the same ones in the same order. */
#ifndef TN_CLUSTER_WINDOW_H
#define TN_CLUSTER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char *at; /* NULL: there is none */
  size_t bytes, used;
} tn_window;

/* A descriptor that children do not inherit; nobody can change the file's size. -1: this system has no such
 * file, or the limits of this process leave no room for one. */
int tn_window_new(void);
/* Maps all of it. The descriptor stays the caller's, and can be closed then. False: it cannot be mapped. */
bool tn_window_map(tn_window *window, int descriptor);
/* The next part, of zeros, aligned to a page; NULL: so much is not left. */
void *tn_window_take(tn_window *window, size_t bytes);
void tn_window_unmap(tn_window *window);
#endif
