/* track/board/clients.h: which clients may stay connected, and for how long.
 *
 * Anyone on this machine can connect, and no client has to send or read anything.
 * So every state of a connection has a deadline that a trickle of bytes does not
 * extend, and when all connections are taken a new one replaces the one that has
 * been unfinished longest: a slow client can lose its own connection, never keep
 * others out. One address holds only a part of the connections.
 *
 * This is only the policy: it knows neither sockets nor the clock, and tests drive
 * it with any time. */
#ifndef TN_BOARD_CLIENTS_H
#define TN_BOARD_CLIENTS_H

#include "base/heap.h"

typedef enum {
  TN_CLIENT_HEAD,   /* its first request is not whole yet */
  TN_CLIENT_IDLE,   /* answered, and may ask again */
  TN_CLIENT_ANSWER, /* an answer is being sent */
  TN_CLIENT_WAIT,   /* its answer is being made */
  TN_CLIENT_STREAM, /* follows a run, and has all that is known */
  TN_CLIENT_GONE,   /* told to go: its place is free, its socket not yet closed */
  TN_CLIENT_STATE_COUNT
} tn_client_state;

typedef struct {
  double seconds[TN_CLIENT_STATE_COUNT]; /* how long a client may stay in a state; 0: as long as it likes */
  int most, per_address;                 /* connections */
} tn_client_limits;

typedef struct tn_client {
  int descriptor;
  uint32_t address;
  tn_client_state state;
  double since;  /* when it entered the state */
  uint64_t turn; /* the same as a number that no two share */
  void *connection, *stream, *job; /* the caller's own */
  struct tn_client *next;
} tn_client;

typedef struct {
  tn_heap *heap;
  tn_client_limits limits;
  tn_client *first;
  uint64_t turns;
} tn_clients;

void tn_clients_init(tn_clients *clients, tn_heap *heap, const tn_client_limits *limits);
/* Forgets everybody. */
void tn_clients_free(tn_clients *clients);

/* Adds a client, in state HEAD. NULL when memory runs out. */
tn_client *tn_clients_add(tn_clients *clients, int descriptor, uint32_t address, double now);
tn_client *tn_clients_find(const tn_clients *clients, int descriptor);
/* Frees it. */
void tn_clients_remove(tn_clients *clients, tn_client *client);
void tn_client_enter(tn_clients *clients, tn_client *client, tn_client_state state, double now);

/* The client to close before one from `address` may connect; NULL: none, there is room. Call again
 * after that client has entered GONE. */
tn_client *tn_clients_in_the_way(const tn_clients *clients, uint32_t address);
/* Who gives way first of all; NULL: everybody is GONE. */
tn_client *tn_clients_least(const tn_clients *clients);
/* A client whose deadline has passed; NULL: none. */
tn_client *tn_clients_late(const tn_clients *clients, double now);
#endif
