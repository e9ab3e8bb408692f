/* train/shards.h: the gradients of a batch, shard by shard.
 *
 * One shard's forward and backward pass is planned once and run for every shard that this process owns; only
 * its rows and its random words differ. The exchange adds up the results (cluster/exchange.h), so that
 * memory does not grow with the number of shards, and other processes may own some of them. */
#ifndef TN_TRAIN_SHARDS_H
#define TN_TRAIN_SHARDS_H

#include "train/lasting.h"
#include "train/trainer.h"

typedef struct tn_shard_means tn_shard_means;

/* NULL with *fault filled in. */
tn_shard_means *tn_shard_means_new(tn_heap *heap, const tn_trainer_request *request, tn_fault *fault);
void tn_shard_means_free(tn_shard_means *means);

/* The means: first the gradients that reach a parameter, then the loss. Their memory stays where it is. */
int tn_shard_means_count(const tn_shard_means *means);
tn_view tn_shard_means_view(const tn_shard_means *means, int index);
/* The mean that belongs to a parameter; -1: no gradient reaches it. */
int tn_shard_means_of(const tn_shard_means *means, int param);

void tn_shard_means_bind_input(tn_shard_means *means, int index, const tn_view *view);
void tn_shard_means_bind_param(tn_shard_means *means, int index, const tn_view *view);
void tn_shard_means_set_effects(tn_shard_means *means, const tn_effects *effects);
/* Of ranks that share memory: how many there are, else 0. */
int tn_shard_means_sharing(const tn_shard_means *means);
/* What this rank updates of a parameter. */
tn_elements tn_shard_means_own(const tn_shard_means *means, int param);
/* From now on a run gives only the means of what this rank updates; the others', and the loss, are there
 * after tn_shard_means_meet. */
void tn_shard_means_want_own(tn_shard_means *means);
/* Waits for all ranks (cluster/exchange.h). False with *fault as below. */
bool tn_shard_means_meet(tn_shard_means *means, tn_fault *fault);
/* All shards with this key for their draws. False with *fault; if another rank has failed, that is
 * TN_FAULT_HOST. */
bool tn_shard_means_run(tn_shard_means *means, int64_t key, tn_fault *fault);
/* What tn_half_find_not_finite says of the first shard that has such a value. */
bool tn_shard_means_not_finite(const tn_shard_means *means, tn_not_finite *out);
#endif
