/* base/json_internal.h: what the token reader and the bulk readers share. */
#ifndef TN_BASE_JSON_INTERNAL_H
#define TN_BASE_JSON_INTERNAL_H

#include "base/json.h"

static inline const char *tn_json_skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
  return at;
}

/* Moves past the bracket that closes the open one. */
void tn_json_leave_array(tn_json_reader *reader, const char *bracket);
#endif
