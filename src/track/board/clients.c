/* track/board/clients.c: decides which connection is closed for a new one. */
#include "track/board/clients.h"

void tn_clients_init(tn_clients *clients, tn_heap *heap, const tn_client_limits *limits) {
  *clients = (tn_clients){ .heap = heap, .limits = *limits };
}

void tn_clients_free(tn_clients *clients) {
  while (clients->first) tn_clients_remove(clients, clients->first);
}

tn_client *tn_clients_add(tn_clients *clients, int descriptor, uint32_t address, double now) {
  tn_client *client = tn_heap_alloc(clients->heap, sizeof *client);
  if (!client) return NULL;
  *client = (tn_client){ .descriptor = descriptor, .address = address, .next = clients->first };
  clients->first = client;
  tn_client_enter(clients, client, TN_CLIENT_HEAD, now);
  return client;
}

tn_client *tn_clients_find(const tn_clients *clients, int descriptor) {
  for (tn_client *client = clients->first; client; client = client->next) {
    if (client->descriptor == descriptor) return client;
  }
  return NULL;
}

void tn_clients_remove(tn_clients *clients, tn_client *client) {
  tn_client **at = &clients->first;
  while (*at && *at != client) at = &(*at)->next;
  if (*at) *at = client->next;
  tn_heap_free(clients->heap, client, sizeof *client);
}

/* Who was told to go stays GONE, whatever else happens to it. */
void tn_client_enter(tn_clients *clients, tn_client *client, tn_client_state state, double now) {
  if (client->state == TN_CLIENT_GONE) return;
  client->state = state;
  client->since = now;
  client->turn = clients->turns++;
}

/* ---- giving way ---- */

/* A client without a complete request, or with its whole answer, loses least. A follower loses the
 * events it waits for. */
static const int rank_of[TN_CLIENT_STATE_COUNT] = {
  [TN_CLIENT_HEAD] = 1, [TN_CLIENT_IDLE] = 1, [TN_CLIENT_ANSWER] = 2, [TN_CLIENT_WAIT] = 3,
  [TN_CLIENT_STREAM] = 4
};

static bool gives_way_before(const tn_client *a, const tn_client *b) {
  int x = rank_of[a->state], y = rank_of[b->state];
  return x != y ? x < y : a->turn < b->turn;
}

/* The least of those from `address`, or of all where it is NULL; *count receives how many there are. */
static tn_client *least_of(const tn_clients *clients, const uint32_t *address, int *count) {
  tn_client *least = NULL;
  *count = 0;
  for (tn_client *client = clients->first; client; client = client->next) {
    if (client->state == TN_CLIENT_GONE || (address && client->address != *address)) continue;
    ++*count;
    if (!least || gives_way_before(client, least)) least = client;
  }
  return least;
}

tn_client *tn_clients_in_the_way(const tn_clients *clients, uint32_t address) {
  int own, all;
  tn_client *of_address = least_of(clients, &address, &own), *of_all = least_of(clients, NULL, &all);
  if (own >= clients->limits.per_address) return of_address;
  return all >= clients->limits.most ? of_all : NULL;
}

tn_client *tn_clients_least(const tn_clients *clients) {
  int all;
  return least_of(clients, NULL, &all);
}

/* ---- deadlines ---- */

tn_client *tn_clients_late(const tn_clients *clients, double now) {
  for (tn_client *client = clients->first; client; client = client->next) {
    double seconds = clients->limits.seconds[client->state];
    if (seconds > 0 && now - client->since >= seconds) return client;
  }
  return NULL;
}
