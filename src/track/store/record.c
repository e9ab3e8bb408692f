/* track/store/record.c: writes a run to the database while it trains.
 *
 * Every function is one short transaction. Losses are written by whole chunks;
 * the chunk that is still growing is written again with what it has. */
#include "track/store/store.h"

#ifdef TN_HAVE_SQLITE
#include <string.h>

#include "track/store/internal.h"

/* ---- beginning ---- */

/* The newest run of the folder, if it is of the same program and data; 0: none. */
static bool find_earlier(tn_store *store, const tn_run_row *row, int64_t *id) {
  *id = 0;
  if (!row->value[TN_RUN_FOLDER].at) return true;
  sqlite3_stmt *s = tn_store_prepare(
      store,
      "SELECT id, source_sha256=?2 AND data_sha256=?3 FROM runs WHERE folder=?1 ORDER BY id DESC LIMIT 1");
  if (!s) return false;
  tn_store_bind_text(s, 1, row->value[TN_RUN_FOLDER]);
  tn_store_bind_text(s, 2, row->value[TN_RUN_SOURCE_SHA256]);
  tn_store_bind_text(s, 3, row->value[TN_RUN_DATA_SHA256]);
  int result = tn_sqlite.step(s);
  if (result == SQLITE_ROW && tn_sqlite.column_int(s, 1)) *id = tn_sqlite.column_int64(s, 0);
  bool ok = result == SQLITE_ROW || result == SQLITE_DONE || tn_store_failed(store);
  tn_sqlite.finalize(s);
  return ok;
}

static bool insert_run(tn_store *store, const tn_run_row *row, int64_t *id) {
  tn_text sql;
  tn_text_init(&sql, store->heap);
  tn_text_puts(&sql, "INSERT INTO runs(");
  tn_store_column_list(TN_STORE_VERSION, &sql);
  tn_text_puts(&sql, ") VALUES(NULL");
  for (int i = 1; i < TN_RUN_COLUMN_COUNT; i++) {
    tn_text_puts(&sql, ",?");
    tn_text_int(&sql, i);
  }
  tn_text_byte(&sql, ')');
  sqlite3_stmt *s = sql.failed ? NULL : tn_store_prepare(store, sql.at);
  bool ok = s || (sql.failed && tn_store_out_of_memory(store));
  tn_text_free(&sql);
  if (!ok) return false;
  for (int i = 1; i < TN_RUN_COLUMN_COUNT; i++) tn_store_bind_text(s, i, row->value[i]);
  tn_store_bind_text(s, TN_RUN_STATUS, TN_LIT("running"));
  tn_store_bind_text(s, TN_RUN_PROCESS, tn_text_str(&store->process));
  ok = tn_store_finish(store, s);
  *id = tn_sqlite.last_insert_rowid(store->database);
  return ok;
}

static bool run_with_id(tn_store *store, const char *sql, int64_t id, int64_t number) {
  sqlite3_stmt *s = tn_store_prepare(store, sql);
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_sqlite.bind_int64(s, 2, number);
  return tn_store_finish(store, s);
}

/* The chunk that `step` lies in keeps what comes before it. */
static bool forget_from(tn_store *store, int64_t id, int64_t step) {
  sqlite3_stmt *s =
      tn_store_prepare(store, "UPDATE losses SET data=substr(data,1,?3) WHERE run=?1 AND chunk=?2");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_sqlite.bind_int64(s, 2, step / TN_STORE_CHUNK);
  tn_sqlite.bind_int64(s, 3, step % TN_STORE_CHUNK * (int64_t)sizeof(float));
  return tn_store_finish(store, s) &&
         run_with_id(store, "DELETE FROM losses WHERE run=?1 AND chunk>?2", id, step / TN_STORE_CHUNK) &&
         run_with_id(store, "DELETE FROM evals WHERE run=?1 AND step>=?2", id, step);
}

static bool go_on(tn_store *store, const tn_run_row *row, int64_t id, int64_t step) {
  sqlite3_stmt *s = tn_store_prepare(
      store, "UPDATE runs SET status='running',steps=?2,process=?3,hyperparameters=?4,device=?5 WHERE id=?1");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_store_bind_text(s, 2, row->value[TN_RUN_STEPS]);
  tn_store_bind_text(s, 3, tn_text_str(&store->process));
  tn_store_bind_text(s, 4, row->value[TN_RUN_HYPER]);
  tn_store_bind_text(s, 5, row->value[TN_RUN_DEVICE]);
  return tn_store_finish(store, s) && forget_from(store, id, step);
}

bool tn_store_begin(tn_store *store, const tn_run_row *row, int64_t step, int64_t *id) {
  if (!tn_store_start(store)) return false;
  int64_t earlier = 0;
  bool ok = step == 0 || find_earlier(store, row, &earlier);
  ok = ok && (earlier ? go_on(store, row, earlier, step) : insert_run(store, row, id));
  if (earlier) *id = earlier;
  return tn_store_settle(store, ok);
}

/* ---- steps ---- */

static void put_le(unsigned char *out, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 4; i++) out[i] = (unsigned char)(bits >> (8 * i));
}

/* Losses after what the chunk already has up to `first`; all lie in one chunk. */
static bool add_chunk(tn_store *store, int64_t id, int64_t first, const float *losses, size_t count) {
  unsigned char bytes[TN_STORE_CHUNK * sizeof(float)];
  for (size_t i = 0; i < count; i++) put_le(bytes + i * sizeof(float), losses[i]);
  sqlite3_stmt *s =
      tn_store_prepare(store, "INSERT INTO losses VALUES(?1,?2,?4) ON CONFLICT(run,chunk) DO UPDATE SET "
                              "data=CAST(substr(data,1,?3)||excluded.data AS BLOB)");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_sqlite.bind_int64(s, 2, first / TN_STORE_CHUNK);
  tn_sqlite.bind_int64(s, 3, first % TN_STORE_CHUNK * (int64_t)sizeof(float));
  tn_sqlite.bind_blob(s, 4, bytes, (int)(count * sizeof(float)), SQLITE_TRANSIENT);
  return tn_store_finish(store, s);
}

static bool add_losses(tn_store *store, int64_t id, int64_t first, const float *losses, size_t count) {
  while (count > 0) {
    size_t room = (size_t)(TN_STORE_CHUNK - first % TN_STORE_CHUNK), part = count < room ? count : room;
    if (!add_chunk(store, id, first, losses, part)) return false;
    first += (int64_t)part, losses += part, count -= part;
  }
  return true;
}

static bool add_eval(tn_store *store, int64_t id, const tn_run_eval *eval) {
  sqlite3_stmt *s = tn_store_prepare(store, "INSERT OR REPLACE INTO evals VALUES(?1,?2,?3,?4)");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_sqlite.bind_int64(s, 2, eval->step);
  tn_store_bind_real(s, 3, eval->loss);
  tn_store_bind_real(s, 4, eval->accuracy);
  return tn_store_finish(store, s);
}

static bool set_progress(tn_store *store, int64_t id, int64_t step, float loss, const tn_run_eval *last,
                         double seconds) {
  sqlite3_stmt *s = tn_store_prepare(
      store, last ? "UPDATE runs SET step=?2,loss=?3,seconds=?4,eval_loss=?5,accuracy=?6 WHERE id=?1"
                  : "UPDATE runs SET step=?2,loss=?3,seconds=?4 WHERE id=?1");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_sqlite.bind_int64(s, 2, step);
  tn_store_bind_real(s, 3, (double)loss);
  tn_store_bind_real(s, 4, seconds);
  if (last) tn_store_bind_real(s, 5, last->loss), tn_store_bind_real(s, 6, last->accuracy);
  return tn_store_finish(store, s);
}

bool tn_store_add(tn_store *store, int64_t id, int64_t first, const float *losses, size_t count,
                  const tn_run_eval *evals, size_t eval_count, double seconds) {
  if (count == 0) return true;
  if (!tn_store_start(store)) return false;
  bool ok = add_losses(store, id, first, losses, count);
  for (size_t i = 0; ok && i < eval_count; i++) ok = add_eval(store, id, &evals[i]);
  const tn_run_eval *last = eval_count > 0 ? &evals[eval_count - 1] : NULL;
  ok = ok && set_progress(store, id, first + (int64_t)count, losses[count - 1], last, seconds);
  return tn_store_settle(store, ok);
}

/* ---- ending ---- */

bool tn_store_end(tn_store *store, int64_t id, const char *status, int64_t step, tn_str weights_sha256,
                  double seconds) {
  sqlite3_stmt *s = tn_store_prepare(
      store, "UPDATE runs SET status=?2,step=?3,weights_sha256=?4,seconds=?5,process=NULL WHERE id=?1");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_store_bind_text(s, 2, tn_str_of(status));
  tn_sqlite.bind_int64(s, 3, step);
  tn_store_bind_text(s, 4, weights_sha256);
  tn_store_bind_real(s, 5, seconds);
  return tn_store_finish(store, s);
}

/* A process that resumes a run records itself there. */
bool tn_store_remove(tn_store *store, const tn_run_row *row, int64_t id, bool *removed) {
  sqlite3_stmt *s = tn_store_prepare(store, "DELETE FROM runs WHERE id=?1 AND process IS ?2");
  *removed = false;
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_store_bind_text(s, 2, row->value[TN_RUN_PROCESS]);
  bool ok = tn_store_finish(store, s);
  *removed = ok && tn_sqlite.changes(store->database) > 0;
  return ok;
}

/* ---- what people say ---- */

bool tn_store_annotate(tn_store *store, int64_t id, tn_str tags, tn_str notes) {
  sqlite3_stmt *s = tn_store_prepare(
      store, "UPDATE runs SET tags=iif(?2 IS NULL,tags,nullif(?2,'')),"
             "notes=iif(?3 IS NULL,notes,nullif(?3,'')) WHERE id=?1");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  tn_store_bind_text(s, 2, tags);
  tn_store_bind_text(s, 3, notes);
  return tn_store_finish(store, s);
}
#endif
