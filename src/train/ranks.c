/* train/ranks.c: coordinates a training in several processes.
 *
 * Every rank compiles the program, reads the data and draws every batch; the trainer divides the shards of a
 * step among the ranks (train/shards.h). Each has the whole state and applies the whole update to it; or, in
 * shared memory, all have it once, and each updates its part (train/lasting.h). Rank 0
 * decides where the training begins, with which values, and when it ends; only rank 0 evaluates,
 * prints and writes.
 *
 * Before the first step the ranks compare what decides the bits; now and then those that have copies compare
 * the bits. */
#include <string.h>

#include "cluster/report.h"
#include "cluster/tree.h"
#include "train/loop_internal.h"

#define COMPARE_EVERY 16 /* steps */

bool tn_loop_is_first(const tn_loop *loop) {
  const tn_transport *t = loop->options->transport;
  return !t || t->rank == 0;
}

bool tn_loop_is_idle_rank(const tn_loop *loop) {
  const tn_transport *t = loop->options->transport;
  return t && t->rank > 0 && t->rank >= loop->program.train->options.shards;
}

/* The transport has given up: another rank failed, or this process was asked to stop. */
static bool cut_off(tn_loop *loop) {
  const tn_transport *t = loop->options->transport;
  if (t->failure.rank >= 0) return tn_cluster_report_failure(loop->host->diags, t);
  return tn_loop_fault(loop, &(tn_fault){ .kind = TN_FAULT_INTERRUPTED });
}

bool tn_loop_step_failed(tn_loop *loop, const tn_fault *fault) {
  const tn_transport *t = loop->transport;
  bool lost = fault->kind == TN_FAULT_HOST && t && t->failure.rank >= 0;
  return lost ? cut_off(loop) : tn_loop_fault(loop, fault);
}

static bool send(tn_loop *loop, int peer, const void *bytes, size_t count) {
  return loop->transport->send(loop->transport, peer, bytes, count);
}

static bool receive(tn_loop *loop, int peer, void *bytes, size_t count) {
  return loop->transport->receive(loop->transport, peer, bytes, count);
}

static bool finish(tn_loop *loop, bool queued) {
  return queued && tn_transport_wait(loop->transport) ? true : cut_off(loop);
}

/* ---- who takes part ---- */

/* A rank without a shard has nothing to do, which is most likely a mistake. */
static void warn_of_idle(const tn_loop *loop) {
  const tn_transport *t = loop->options->transport;
  int64_t shards = loop->program.train->options.shards;
  if (t->size <= shards) return;
  tn_report(loop->host->diags, TN_DIAG_E_RANKS_IDLE, loop->program.train->at, TN_INT("ranks", t->size),
            TN_INT("shards", shards));
}

void tn_loop_find_ranks(tn_loop *loop) {
  tn_transport *t = loop->options->transport;
  int64_t shards = loop->program.train->options.shards;
  loop->first_row = 0;
  loop->end_row = loop->program.train->batch;
  if (!t) return;
  if (t->rank == 0) warn_of_idle(loop);
  loop->ranks = shards < t->size ? (int)shards : t->size;
  if (loop->ranks < 2) return; /* one rank computes everything */
  tn_shards owned = tn_tree_owned((int)shards, loop->ranks, t->rank);
  loop->transport = t;
  loop->first_row = loop->end_row / shards * owned.first;
  loop->end_row = loop->end_row / shards * owned.end;
}

void tn_loop_leave_ranks(tn_loop *loop) {
  loop->transport = NULL;
  loop->first_row = 0;
  loop->end_row = loop->program.train->batch;
}

/* ---- the same program, data and options ---- */

enum { VERSION, PROGRAM, DATA, OPTIONS, IDENTITIES };
typedef struct {
  uint8_t digest[IDENTITIES][TN_SHA256_BYTES];
} identity;

static void add_number(tn_sha256 *hash, uint64_t number) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(number >> 8 * i);
  tn_sha256_update(hash, bytes, sizeof bytes);
}

/* Gradients travel as they are in memory, so the order of bytes belongs to the version. */
static void hash_version(const tn_loop *loop, uint8_t digest[32]) {
  tn_sha256 hash;
  const uint32_t order = 0x01020304;
  tn_sha256_init(&hash);
  tn_sha256_update(&hash, loop->options->version, strlen(loop->options->version));
  tn_sha256_update(&hash, &order, sizeof order);
  tn_sha256_final(&hash, digest);
}

/* The graph that it was lowered to: what the text says, with everything that it imports. */
static bool hash_program(tn_loop *loop, uint8_t digest[32]) {
  tn_text text;
  tn_sha256 hash;
  tn_text_init(&text, loop->host->heap);
  tn_graph_print(&loop->lowered.graph, &text);
  tn_sha256_init(&hash);
  tn_loop_source_sha256(loop, digest);
  tn_sha256_update(&hash, digest, TN_SHA256_BYTES);
  tn_sha256_update(&hash, text.at, text.len);
  tn_sha256_final(&hash, digest);
  bool ok = !text.failed;
  tn_text_free(&text);
  return ok ? true : tn_loop_out_of_memory(loop);
}

/* What the command line says about the steps, and the inputs that it gives. */
static void hash_options(const tn_loop *loop, uint8_t digest[32]) {
  const tn_host *host = loop->host;
  tn_sha256 hash;
  tn_sha256_init(&hash);
  add_number(&hash, host->seed);
  add_number(&hash, (uint64_t)loop->steps);
  add_number(&hash, (uint64_t)tn_loop_checkpoint_every(loop));
  add_number(&hash, host->max_steps);
  for (size_t i = 0; i < host->setting_count; i++) {
    const tn_setting *setting = &host->settings[i];
    add_number(&hash, setting->name.len), add_number(&hash, setting->text.len);
    tn_sha256_update(&hash, setting->name.at, setting->name.len);
    tn_sha256_update(&hash, setting->text.at, setting->text.len);
  }
  for (size_t i = 0; i < host->input_count; i++) {
    add_number(&hash, host->inputs[i].name.len);
    tn_sha256_update(&hash, host->inputs[i].name.at, host->inputs[i].name.len);
    tn_view_sha256_update(&host->inputs[i].data.view, &hash);
  }
  tn_sha256_final(&hash, digest);
}

static bool compare_identity(tn_loop *loop, const identity *own, const identity *other, int rank) {
  static const char *const what[IDENTITIES] = { "the version of tern", "the program", "the data",
                                                "the seed, the steps or the inputs of the command line" };
  for (int i = 0; i < IDENTITIES; i++) {
    if (memcmp(own->digest[i], other->digest[i], TN_SHA256_BYTES) != 0)
      return tn_cluster_report_difference(loop->host->diags, rank, what[i], -1);
  }
  return true;
}

/* Rank 0 gets what the others have, and judges. */
static bool compare_identities(tn_loop *loop, const identity *own) {
  if (!tn_loop_is_first(loop)) return finish(loop, send(loop, 0, own, sizeof *own));
  identity *others = tn_arena_array(loop->arena, (size_t)loop->ranks, sizeof *others);
  if (!others) return tn_loop_out_of_memory(loop);
  bool ok = true;
  for (int rank = 1; rank < loop->ranks && ok; rank++)
    ok = receive(loop, rank, &others[rank], sizeof *others);
  if (!finish(loop, ok)) return false;
  for (int rank = 1; rank < loop->ranks && ok; rank++) ok = compare_identity(loop, own, &others[rank], rank);
  return ok;
}

bool tn_loop_meet_ranks(tn_loop *loop) {
  identity own;
  if (!loop->transport) return true;
  hash_version(loop, own.digest[VERSION]);
  if (!hash_program(loop, own.digest[PROGRAM])) return false;
  memcpy(own.digest[DATA], loop->rows.sha256, sizeof own.digest[DATA]);
  hash_options(loop, own.digest[OPTIONS]);
  return compare_identities(loop, &own);
}

/* ---- where it begins ---- */

/* From rank 0 to all, along a tree: a rank hears from the one without its lowest bit. */
static bool spread(tn_loop *loop, void *bytes, size_t count) {
  int rank = loop->transport->rank;
  if (count == 0) return true;
  if (rank > 0 && !finish(loop, receive(loop, rank & (rank - 1), bytes, count))) return false;
  bool ok = true;
  for (int bit = 1; (rank & bit) == 0 && rank + bit < loop->ranks && ok; bit *= 2)
    ok = send(loop, rank + bit, bytes, count);
  return finish(loop, ok);
}

bool tn_loop_share_state(tn_loop *loop) {
  if (!loop->transport) return true;
  int64_t start[4] = { tn_trainer_step_number(loop->trainer), (int64_t)loop->rng.position, loop->idle,
                       loop->ended };
  bool ok = spread(loop, start, sizeof start), copies = !tn_trainer_is_shared(loop->trainer);
  for (int i = 0; ok && copies && i < tn_trainer_lasting_count(loop->trainer); i++) {
    const tn_view *view = tn_trainer_lasting(loop->trainer, i);
    ok = spread(loop, view->data, (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype));
  }
  if (!ok || tn_loop_is_first(loop)) return ok;
  tn_trainer_set_step_number(loop->trainer, start[0]);
  tn_rng_seek(&loop->rng, (uint64_t)start[1]);
  loop->idle = start[2] != 0;
  loop->ended = start[3] != 0;
  return true;
}

bool tn_loop_share_end(tn_loop *loop, int64_t step) {
  bool waits = loop->program.train->patience > 0 && tn_loop_is_evaluated(loop, step);
  char ended = loop->ended;
  if (!loop->transport || !waits) return true;
  if (!spread(loop, &ended, sizeof ended)) return false;
  loop->ended = ended != 0;
  return true;
}

bool tn_loop_listen(tn_loop *loop) {
  tn_transport *t = loop->transport;
  return !t || t->progress(t, 0) ? true : cut_off(loop);
}

/* ---- the same bits ---- */

#define LANES 4

/* As fast as memory: it detects hardware faults, not attacks. */
static uint64_t mark_of(const tn_view *view, uint64_t mark) {
  const uint8_t *at = view->data;
  size_t bytes = (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype), i = 0;
  uint64_t lane[LANES] = { mark, mark + 1, mark + 2, mark + 3 };
  for (; i + 8 * LANES <= bytes; i += 8 * LANES) {
    uint64_t words[LANES];
    memcpy(words, at + i, sizeof words);
    for (int k = 0; k < LANES; k++) {
      lane[k] = (lane[k] ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
      lane[k] ^= lane[k] >> 29;
    }
  }
  for (; i < bytes; i++) lane[0] = (lane[0] ^ at[i]) * UINT64_C(0x9e3779b97f4a7c15);
  for (int k = 0; k < LANES; k++) mark = tn_rng_mix(mark, lane[k]);
  return mark;
}

static uint64_t mark_state(const tn_loop *loop) {
  uint64_t mark = (uint64_t)tn_trainer_step_number(loop->trainer);
  for (int i = 0; i < tn_trainer_lasting_count(loop->trainer); i++)
    mark = mark_of(tn_trainer_lasting(loop->trainer, i), mark);
  return mark;
}

/* The state of rank 0 may be the wrong one, so it is not kept. */
static bool compare_marks(tn_loop *loop) {
  bool ok = true;
  for (int rank = 1; rank < loop->ranks && ok; rank++)
    ok = receive(loop, rank, &loop->marks[rank], sizeof loop->marks[rank]);
  if (!finish(loop, ok)) return false;
  for (int rank = 1; rank < loop->ranks; rank++) {
    if (loop->marks[rank] == loop->marks[0]) continue;
    loop->spoiled = true;
    return tn_cluster_report_difference(loop->host->diags, rank, "the parameters",
                                        tn_trainer_step_number(loop->trainer) - 1);
  }
  return true;
}

bool tn_loop_compare_ranks(tn_loop *loop, bool now) {
  bool due = now || tn_trainer_step_number(loop->trainer) % COMPARE_EVERY == 0;
  if (!loop->transport || tn_trainer_is_shared(loop->trainer) || !due) return true;
  if (!loop->marks) {
    loop->marks = tn_arena_array(loop->arena, (size_t)loop->ranks, sizeof *loop->marks);
    if (!loop->marks) return tn_loop_out_of_memory(loop);
  }
  loop->marks[0] = mark_state(loop);
  if (tn_loop_is_first(loop)) return compare_marks(loop);
  return finish(loop, send(loop, 0, &loop->marks[0], sizeof loop->marks[0]));
}

/* ---- the end ---- */

/* What ranks without a shard wait for. */
bool tn_loop_tell_end(tn_loop *loop) {
  tn_transport *t = loop->options->transport;
  static const char end = 1;
  if (!t || t->rank > 0) return true;
  bool ok = true;
  for (int rank = loop->ranks; rank < t->size && ok; rank++) ok = t->send(t, rank, &end, sizeof end);
  return ok && tn_transport_wait(t) ? true : cut_off(loop);
}

bool tn_loop_wait_for_end(tn_loop *loop) {
  tn_transport *t = loop->options->transport;
  char end;
  return t->receive(t, 0, &end, sizeof end) && tn_transport_wait(t) ? true : cut_off(loop);
}
