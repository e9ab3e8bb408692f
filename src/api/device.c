/* api/device.c: chooses the device on which a session computes.
 *
 * A GPU is opened before the sandbox is entered, because the driver reads files and starts threads
 * then. Eager operations stay on the CPU: a GPU gains nothing there. */
#include <string.h>

#include "api/internal.h"
#include "backend/cuda/card.h"
#include "base/json.h"

static bool refuse(tern_session *session, const char *why) {
  return tn_report(&session->diags, TN_DIAG_E_DEVICE, TN_NOWHERE, TN_STR("device", "cuda"),
                   TN_STR("problem", why));
}

/* False with *why. */
static bool open_card(tern_session *session, const char **why) {
  if (session->card) return true;
  if (!tn_api_is_open(session) && session->sandbox != TERN_SANDBOX_OFF) {
    *why = "a GPU is opened before the sandbox is entered";
    return false;
  }
  session->card = tn_card_open(&session->heap, 0, why);
  if (!session->card) return false;
  session->card_backend = *tn_backend_cuda();
  session->card_backend.card = session->card;
  session->card_backend.host = session->backend;
  session->host.has_gpu = true;
  return true;
}

tern_status tern_device(tern_session *session, const char *name) {
  const char *why = NULL;
  bool automatic = strcmp(name, "auto") == 0;
  tn_api_begin(session);
  if (strcmp(name, "cpu") == 0) {
    session->device = session->backend;
    session->evaluator.plenty = 0;
    return TERN_OK;
  }
  if (!automatic && strcmp(name, "cuda") != 0) {
    tn_api_usage_hint(session, "there is no device ", tn_str_of(name), "; there are cpu, cuda and auto",
                      TN_LIT("`tern devices` says which of them this machine has"));
    return TERN_USAGE;
  }
  if (!open_card(session, &why)) {
    session->device = session->backend;
    if (automatic) return TERN_OK;
    refuse(session, why);
    return TERN_FAILED;
  }
  session->card_backend.automatic = automatic;
  session->device = &session->card_backend;
  session->evaluator.plenty = tn_card_memory_to_spare(session->card);
  return TERN_OK;
}

const char *tern_device_name(const tern_session *session) {
  if (!session->device->card) return "cpu";
  return session->device->automatic ? "auto" : "cuda";
}

void tn_api_close_device(tern_session *session) {
  tn_card_close(session->card);
  session->card = NULL;
}

/* ---- listing devices ---- */

int tern_has_gpu_part(void) { return tn_card_lacks_kernels() == NULL; }

/* "NVIDIA H200, 139.8 GiB, compute capability 9.0, 132 multiprocessors" */
static void put_card(tn_text *out, const tn_card_info *card) {
  tn_text_puts(out, card->name);
  tn_text_puts(out, ", ");
  tn_text_fixed(out, (double)card->bytes / (double)(1 << 30), 1);
  tn_text_puts(out, " GiB, compute capability ");
  tn_text_int(out, card->major);
  tn_text_byte(out, '.');
  tn_text_int(out, card->minor);
  tn_text_puts(out, ", ");
  tn_text_int(out, card->multiprocessors);
  tn_text_puts(out, " multiprocessors");
  if (!card->why_not) return;
  tn_text_puts(out, ": cannot be used: ");
  tn_text_puts(out, card->why_not);
}

static int list_cards(tn_card_info *cards, const char **why) {
  *why = NULL;
  int count = tn_card_list(cards, why);
  if (tn_card_lacks_kernels()) *why = tn_card_lacks_kernels();
  return count;
}

const char *tern_devices_text(tern_session *session) {
  tn_card_info cards[TN_CARD_LIMIT];
  const char *why;
  int count = list_cards(cards, &why);
  tn_text *out = tn_api_answer(session);
  tn_text_puts(out, "cpu   ");
  tn_text_puts(out, tern_backend(session));
  tn_text_puts(out, session->threads == 1 ? ", 1 thread\n" : ", ");
  if (session->threads > 1) tn_text_int(out, session->threads), tn_text_puts(out, " threads\n");
  for (int i = 0; i < count; i++) {
    tn_text_puts(out, i == 0 ? "cuda  " : "      ");
    put_card(out, &cards[i]);
    if (i > 0) tn_text_puts(out, " (not used: the first one is)");
    tn_text_byte(out, '\n');
  }
  if (count == 0) {
    tn_text_puts(out, "cuda  none: ");
    tn_text_puts(out, why);
    tn_text_byte(out, '\n');
  }
  return tn_api_text(session);
}

static void add_card(tn_json_writer *json, const tn_card_info *card) {
  tn_json_object_begin(json);
  tn_json_key(json, "device"), tn_json_string(json, TN_LIT("cuda"));
  tn_json_key(json, "name"), tn_json_string(json, tn_str_of(card->name));
  tn_json_key(json, "memory"), tn_json_int(json, (int64_t)card->bytes);
  tn_json_key(json, "usable"), tn_json_bool(json, !card->why_not);
  if (card->why_not) tn_json_key(json, "problem"), tn_json_string(json, tn_str_of(card->why_not));
  tn_json_object_end(json);
}

const char *tern_devices_json(tern_session *session) {
  tn_card_info cards[TN_CARD_LIMIT];
  const char *why;
  int count = list_cards(cards, &why);
  tn_json_writer json = tn_json_writer_on(tn_api_answer(session));
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "devices"), tn_json_array_begin(&json);
  tn_json_object_begin(&json);
  tn_json_key(&json, "device"), tn_json_string(&json, TN_LIT("cpu"));
  tn_json_key(&json, "name"), tn_json_string(&json, tn_str_of(tern_backend(session)));
  tn_json_key(&json, "threads"), tn_json_int(&json, session->threads);
  tn_json_object_end(&json);
  for (int i = 0; i < count; i++) add_card(&json, &cards[i]);
  tn_json_array_end(&json);
  if (count == 0) tn_json_key(&json, "problem"), tn_json_string(&json, tn_str_of(why));
  tn_json_object_end(&json);
  return tn_api_text(session);
}
