/* lang/mind/modules.c: programs and what they import.
 *
 * A module is a file: `import a.b` reads a/b.mind beside the file that imports
 * it, always below the folder of the program and never through a link, because
 * importing needs no capability. It is read and checked once, when it is first imported, and runs once,
 * before the module that imports it. Text that is not a file (the command line,
 * standard input, an interactive session) imports from the current folder. */
#include <string.h>

#include "lang/mind/check.h"

/* Imports in imports; the reader recurses. */
#define IMPORT_LIMIT 200

void tn_mind_init(tn_mind *mind, tn_host *host, tn_arena *arena) {
  *mind = (tn_mind){ .host = host, .arena = arena };
  tn_typer_init(&mind->typer, host->heap, host->names);
}

void tn_mind_free(tn_mind *mind) {
  tn_typer_free(&mind->typer);
  tn_vec_free(mind->host->heap, &mind->marks);
}

/* ---- reading ---- */

static tn_mind_module *module_new(tn_mind *mind, tn_str path, tn_str name) {
  tn_mind_module *module = tn_arena_new(mind->arena, tn_mind_module);
  if (!module) return NULL;
  module->path = path;
  module->name = name;
  module->next = mind->modules;
  mind->modules = module;
  return module;
}

/* Parses and checks a text as the whole of a module. What is wrong has been reported; what is right
 * can still be used. */
static bool read_module(tn_mind *mind, tn_mind_module *module, uint32_t file) {
  tn_host *host = mind->host;
  tn_mind_unit *unit = tn_arena_new(mind->arena, tn_mind_unit);
  if (!unit) return tn_mind_out_of_memory(mind);
  *unit = (tn_mind_unit){ .file = file, .module = module };
  module->unit = unit;
  module->loading = true;
  bool ok = tn_mind_parse(mind->arena, host->names, host->sources, host->diags, unit);
  if (!mind->arena->failed) ok = tn_mind_check_unit(mind, unit) && ok; /* the rest may be wrong, too */
  module->loading = false;
  module->failed = !ok;
  if (mind->arena->failed) return tn_mind_out_of_memory(mind);
  return ok;
}

tn_mind_module *tn_mind_load(tn_mind *mind, uint32_t file) {
  const tn_source *source = tn_sources_get(mind->host->sources, file);
  tn_mind_module *module = module_new(mind, tn_arena_str(mind->arena, source->name), TN_LIT(""));
  if (!module) {
    tn_mind_out_of_memory(mind);
    return NULL;
  }
  if (!read_module(mind, module, file)) return NULL;
  tn_diags_enter(mind->host->diags, TN_PHASE_RUN);
  return module;
}

/* ---- imports ---- */

/* Of the part before the name, with its slash. */
static size_t folder_length(tn_str path) {
  size_t length = path.len;
  while (length && path.at[length - 1] != '/') length--;
  return length;
}

/* a.b of folder/x.mind is folder/a/b.mind. */
static tn_str path_of(tn_mind *mind, const tn_mind_module *importer, const tn_mind_import *import) {
  tn_text text;
  tn_text_init(&text, mind->host->heap);
  tn_text_add(&text, (tn_str){ importer->path.at, folder_length(importer->path) });
  for (uint32_t i = 0; i < import->count; i++) {
    if (i) tn_text_byte(&text, '/');
    tn_text_add(&text, tn_names_text(mind->host->names, import->path[i].name));
  }
  tn_text_puts(&text, ".mind");
  return tn_mind_kept_text(mind, &text);
}

static tn_str name_of(tn_mind *mind, const tn_mind_import *import) {
  tn_text text;
  tn_text_init(&text, mind->host->heap);
  for (uint32_t i = 0; i < import->count; i++) {
    if (i) tn_text_byte(&text, '.');
    tn_text_add(&text, tn_names_text(mind->host->names, import->path[i].name));
  }
  return tn_mind_kept_text(mind, &text);
}

static tn_mind_module *find_module(const tn_mind *mind, tn_str path) {
  for (tn_mind_module *at = mind->modules; at; at = at->next) {
    if (tn_str_equal(at->path, path)) return at;
  }
  return NULL;
}

/* The name of a module in a cycle; the program itself has only its file's. */
static tn_str cycle_name(const tn_mind_module *module) {
  if (module->name.len) return module->name;
  tn_str path = module->path;
  size_t from = folder_length(path);
  size_t end = tn_str_ends(path, ".mind") ? path.len - 5 : path.len;
  return (tn_str){ path.at + from, end > from ? end - from : 0 };
}

/* recursion: modules that import each other, IMPORT_LIMIT deep. */
static void add_cycle(const tn_mind_module *first, const tn_mind_module *at, tn_text *text) {
  if (at != first) add_cycle(first, at->importer, text);
  if (text->len) tn_text_puts(text, " -> ");
  tn_text_add(text, cycle_name(at));
}

static void report_cycle(tn_mind *mind, const tn_mind_module *first, const tn_mind_module *last, tn_span at) {
  tn_text text;
  tn_text_init(&text, mind->host->heap);
  add_cycle(first, last, &text);
  tn_text_puts(&text, " -> ");
  tn_text_add(&text, cycle_name(first));
  tn_report(mind->host->diags, TN_DIAG_E7002, at, TN_TEXT("cycle", tn_text_str(&text)));
  tn_text_free(&text);
}

static bool too_many(tn_mind *mind, const tn_mind_module *importer, tn_span at) {
  int depth = 0;
  for (const tn_mind_module *m = importer; m; m = m->importer) depth++;
  if (depth < IMPORT_LIMIT) return false;
  tn_report(mind->host->diags, TN_DIAG_E_NESTING_LIMIT, at, TN_INT("limit", IMPORT_LIMIT),
            TN_STR("what", "this import"));
  return true;
}

/* The folder of the program that was named: nothing outside of it is imported. Empty: the current one. */
static tn_str root_of(const tn_mind_module *module) {
  while (module->importer) module = module->importer;
  return (tn_str){ module->path.at, folder_length(module->path) };
}

static uint32_t read_source(tn_mind *mind, tn_str root, tn_str path, tn_str name, tn_span at) {
  tn_host *host = mind->host;
  const char *problem = NULL;
  tn_str text, below = { path.at + root.len, path.len - root.len };
  if (host->read_module(host, root, below, mind->arena, &text, &problem)) {
    uint32_t file = tn_sources_add(host->sources, path, text);
    if (!file) tn_mind_out_of_memory(mind);
    return file;
  }
  if (strcmp(problem, "not_found") == 0) {
    tn_report(host->diags, TN_DIAG_E7001, at, TN_TEXT("module", name), TN_TEXT("searched", path));
  } else {
    tn_report(host->diags, TN_DIAG_E_FILE_IO_ERROR, at, TN_TEXT("path", path),
              TN_STR("io_error_kind", problem),
              TN_HINT(TN_LIT("a module is a plain file below the program's folder; symbolic links are not "
                             "followed")));
  }
  return 0;
}

/* Remembered in order, because that is the order in which modules run. */
static void remember_import(tn_mind *mind, tn_mind_module *importer, tn_mind_module *module) {
  for (uint32_t i = 0; i < importer->import_count; i++) {
    if (importer->imports[i] == module) return;
  }
  tn_mind_module **grown = tn_arena_array(mind->arena, importer->import_count + 1, sizeof *grown);
  if (!grown) return;
  if (importer->import_count) memcpy(grown, importer->imports, importer->import_count * sizeof *grown);
  grown[importer->import_count++] = module;
  importer->imports = grown;
}

tn_mind_module *tn_mind_import_module(tn_mind *mind, tn_mind_module *importer, const tn_mind_unit *unit,
                                      const tn_mind_node *node) {
  const tn_mind_import *import = node->import;
  tn_span at = tn_mind_at(unit, import->path[0].start, import->path[import->count - 1].end);
  tn_str path = path_of(mind, importer, import), name = name_of(mind, import);
  tn_mind_module *module = find_module(mind, path);
  if (module && module->loading) {
    report_cycle(mind, module, importer, at);
    return NULL;
  }
  if (!module) {
    if (too_many(mind, importer, at)) return NULL;
    if (!tn_mind_room(mind)) {
      tn_report_stack(mind->host->diags, at, "this import");
      return NULL;
    }
    uint32_t file = read_source(mind, root_of(importer), path, name, at);
    module = file ? module_new(mind, path, name) : NULL;
    if (!module) return NULL;
    module->importer = importer;
    read_module(mind, module, file);
  }
  remember_import(mind, importer, module);
  return module;
}

/* ---- what is public ---- */

static bool names_it(const tn_mind_import *exports, tn_name name) {
  for (uint32_t i = 0; i < exports->name_count; i++) {
    if (exports->names[i].name == name) return true;
  }
  return false;
}

bool tn_mind_is_public(const tn_mind_module *module, tn_name name) {
  bool any = false;
  for (const tn_mind_node *node = module->unit->block.first; node; node = node->next) {
    if (node->kind != TN_MIND_EXPORT) continue;
    if (names_it(node->import, name)) return true;
    any = true;
  }
  const tn_mind_scope *found = tn_mind_lookup_in(module, name);
  return !any && found && found->binds != TN_MIND_BINDS_MODULE;
}

const tn_mind_scope *tn_mind_export_find(tn_mind *mind, const tn_mind_module *module, tn_name name,
                                         tn_span at) {
  const tn_mind_scope *found = tn_mind_lookup_in(module, name);
  if (found && found->binds != TN_MIND_BINDS_MODULE && tn_mind_is_public(module, name)) return found;
  tn_str text = tn_names_text(mind->host->names, name);
  tn_report(mind->host->diags, TN_DIAG_E7003, at, TN_TEXT("name", text),
            TN_TEXT("module", cycle_name(module)),
            TN_TEXT("suggestion", tn_mind_suggest_public(mind, module, text)));
  return NULL;
}
