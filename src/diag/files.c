/* diag/files.c: reports a missing file, with a suggestion. */
#include "base/folder.h"
#include "diag/diag.h"

bool tn_report_no_file(tn_diags *diags, tn_span at, tn_str path) {
  tn_text name, near;
  tn_text_init(&name, diags->arena.heap);
  tn_text_init(&near, diags->arena.heap);
  tn_text_add(&name, path);
  bool found = name.len > 0 && !name.failed && tn_folder_near(diags->arena.heap, name.at, &near);
  tn_report(diags, TN_DIAG_E_FILE_NOT_FOUND, at, TN_TEXT("path", path),
            TN_TEXT("suggestion", found ? tn_text_str(&near) : TN_LIT("")));
  tn_text_free(&near);
  tn_text_free(&name);
  return false;
}
