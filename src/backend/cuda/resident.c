/* backend/cuda/resident.c: tensors of the host with a copy on a card.
 *
 * All tensors of one owner share one allocation on the card, so that keeping them is one copy. */
#include "backend/cuda/resident.h"

#define ALIGNMENT 256   /* of tensors on the card */

typedef enum { SAME, HOST_NEWER, CARD_NEWER } newer;

typedef struct {
  char *host;
  size_t bytes, offset;
} place;

struct tn_resident {
  tn_heap *heap;
  tn_card *card;
  tn_resident *next;
  place *places;
  int count;
  size_t bytes;
  char *there, *kept;   /* on the card */
  newer state;
};

static void lay_out(tn_resident *r, const tn_tensor *tensors) {
  for (int i = 0; i < r->count; i++) {
    const tn_view *view = &tensors[i].view;
    size_t bytes = (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
    r->places[i] = (place){ view->data, bytes, r->bytes };
    r->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}

tn_resident *tn_resident_new(tn_heap *heap, tn_card *card, const tn_tensor *tensors, int count) {
  tn_resident *r = tn_heap_alloc(heap, sizeof *r);
  if (!r) return NULL;
  *r = (tn_resident){ .heap = heap, .card = card, .count = count, .state = HOST_NEWER };
  r->places = tn_heap_alloc(heap, ((size_t)count + 1) * sizeof *r->places);
  if (r->places) lay_out(r, tensors);
  if (r->places) r->there = tn_card_allocate(card, r->bytes);
  r->next = *tn_card_residents(card);
  *tn_card_residents(card) = r;
  if (r->there) return r;
  tn_resident_free(r);
  return NULL;
}

void tn_resident_free(tn_resident *r) {
  if (!r) return;
  tn_resident **link = tn_card_residents(r->card);
  while (*link != r) link = &(*link)->next;
  *link = r->next;
  tn_card_release(r->card, r->kept);
  tn_card_release(r->card, r->there);
  tn_heap_free(r->heap, r->places, ((size_t)r->count + 1) * sizeof *r->places);
  tn_heap_free(r->heap, r, sizeof *r);
}

tn_card *tn_resident_card(const tn_resident *r) { return r->card; }
void tn_resident_wrote(tn_resident *r) { r->state = HOST_NEWER; }
void tn_resident_computed(tn_resident *r) { r->state = CARD_NEWER; }

static bool send(tn_resident *r) {
  bool ok = tn_card_enter(r->card);
  for (int i = 0; ok && i < r->count; i++)
    ok = tn_card_put(r->card, r->there + r->places[i].offset, r->places[i].host, r->places[i].bytes);
  ok = ok && tn_card_wait(r->card, NULL, NULL);
  if (ok) r->state = SAME;
  return ok;
}

bool tn_resident_fetch(tn_resident *r) {
  if (r->state != CARD_NEWER) return true;
  bool ok = tn_card_enter(r->card);
  for (int i = 0; ok && i < r->count; i++)
    ok = tn_card_get(r->card, r->places[i].host, r->there + r->places[i].offset, r->places[i].bytes);
  ok = ok && tn_card_wait(r->card, NULL, NULL);
  if (ok) r->state = SAME;
  return ok;
}

bool tn_resident_keep(tn_resident *r) {
  if (r->state == HOST_NEWER && !send(r)) return false;
  if (!r->kept) r->kept = tn_card_allocate(r->card, r->bytes);
  return r->kept && tn_card_copy(r->card, r->kept, r->there, r->bytes);
}

bool tn_resident_return(tn_resident *r) {
  r->state = CARD_NEWER;
  return r->kept && tn_card_copy(r->card, r->there, r->kept, r->bytes);
}

void *tn_card_find_resident(tn_card *card, const void *host) {
  for (tn_resident *r = *tn_card_residents(card); r; r = r->next)
    for (int i = 0; i < r->count; i++)
      if (r->places[i].host == host && r->places[i].bytes > 0) return r->there + r->places[i].offset;
  return NULL;
}

bool tn_card_settle(tn_card *card) {
  bool ok = true;
  for (tn_resident *r = *tn_card_residents(card); ok && r; r = r->next)
    if (r->state == HOST_NEWER) ok = send(r);
  return ok;
}
