/* A training that is recorded in a history of runs, as `tern train --store` does it. */
#ifndef TN_TESTS_RECORDED_H
#define TN_TESTS_RECORDED_H

#include "track/track.h"

/* `follower`: somebody else who follows; NULL: nobody. */
static inline tern_status train_recorded(tern_session *session, tern_program *program, const char *store,
                                         bool required, const tern_follower *follower) {
  tn_recorder recorder;
  tern_status status = TERN_FAILED;
  if (tn_recorder_open(&recorder, session, store, NULL, required)) {
    tern_follower followers[2] = { tn_recorder_follower(&recorder) };
    if (follower) followers[1] = *follower;
    status = tern_train(program, &(tern_train_run){ .followers = followers, .follower_count = 2 });
  }
  tn_recorder_close(&recorder);
  return status;
}
#endif
