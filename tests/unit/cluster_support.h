/* tests/unit/cluster_support.h: ranks in processes of their own, with a socket for every pair, and shared
 * memory if a test wants it. */
#ifndef TN_TEST_CLUSTER_SUPPORT_H
#define TN_TEST_CLUSTER_SUPPORT_H

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base_support.h"
#include "cluster/sockets.h"
#include "cluster/window.h"

#define MOST 8

/* A transport with a heap and a stop of its own. */
typedef struct {
  tn_stop stop;
  tn_heap heap;
  tn_transport *t;
} rank;

static inline void open_rank(rank *r, int number, int size, const int *descriptors) {
  *r = (rank){ 0 };
  r->heap.stop = &r->stop;
  r->t = tn_sockets_new(&r->heap, number, size, descriptors, TN_LIT("here"), NULL);
  if (!r->t) abort();
}

static inline void share_memory(rank *r, int window) {
  if (window < 0) return;
  if (!tn_sockets_share(r->t, window)) abort();
  close(window);
}

static inline void close_rank(rank *r) {
  r->t->close(r->t);
  assert_int_equal(r->heap.used, 0);
}

/* A socket for every pair of ranks. */
typedef struct {
  int size;
  int at[MOST][MOST];
} mesh;

static inline mesh make_mesh(int size) {
  mesh m = { .size = size };
  for (int i = 0; i < size; i++) {
    m.at[i][i] = -1;
    for (int j = 0; j < i; j++) {
      int ends[2];
      assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
      m.at[i][j] = ends[0], m.at[j][i] = ends[1];
    }
  }
  return m;
}

static inline void keep_only(const mesh *m, int number) {
  for (int i = 0; i < m->size; i++) {
    for (int j = 0; j < m->size; j++) {
      if (i != number && i != j) close(m->at[i][j]);
    }
  }
}

/* A test with a state, to which that means that ranks share memory. */
#define IN_SHARED_MEMORY(test) { #test "_in_shared_memory", test, NULL, NULL, &sharing }

typedef bool work(rank *r);

static bool sharing; /* whether the ranks that are started next share memory */

/* Ranks 1 and up in processes of their own; rank 0 is what this gives. */
static inline void start(rank *r, int size, work *of_others, pid_t *children) {
  mesh m = make_mesh(size);
  int window = sharing ? tn_window_new() : -1;
  assert_true(window >= 0 || !sharing);
  for (int i = 1; i < size; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] > 0) continue;
    keep_only(&m, i);
    open_rank(r, i, size, m.at[i]);
    share_memory(r, window);
    bool ok = of_others(r);
    if (ok) r->t->close(r->t);
    _exit(ok ? 0 : 1);
  }
  keep_only(&m, 0);
  open_rank(r, 0, size, m.at[0]);
  share_memory(r, window);
}

static inline void finish(rank *r, int size, const pid_t *children) {
  close_rank(r);
  for (int i = 1; i < size; i++) {
    int status;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    if (status != 0) fail_msg("rank %d: status %#x", i, (unsigned)status);
  }
}
#endif
