/* cli/doctor.c: the verb doctor: what works on this machine, and what is missing.
 *
 * Everything is tried where possible: a set of kernels is available if a session with it starts,
 * and the sandbox is enforced if a small program has run in it. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* ---- the processor ---- */

#if defined(__x86_64__) || defined(__i386__)
#define FEATURE(name)                                                                                        \
  { name, __builtin_cpu_supports(name) != 0 }
#endif

typedef struct {
  const char *name;
  bool present;
} feature;

/* Those that decide which kernels can be used, or how fast they are. */
static size_t list_features(feature *out, size_t most) {
#ifdef FEATURE
  const feature found[] = { FEATURE("sse4.2"),   FEATURE("avx"),      FEATURE("avx2"),
                            FEATURE("fma"),      FEATURE("avx512f"),  FEATURE("avx512bw"),
                            FEATURE("avx512dq"), FEATURE("avx512vl"), FEATURE("avx512vnni") };
  size_t count = sizeof found / sizeof *found;
#elif defined(__aarch64__)
  const feature found[] = { { "neon", true } };
  size_t count = 1;
#else
  const feature found[] = { { "", false } };
  size_t count = 0;
#endif
  if (count > most) count = most;
  for (size_t i = 0; i < count; i++) out[i] = found[i];
  return count;
}

/* The processor as the system calls it; "" where it does not. */
static void read_model(char *model, size_t size) {
  char line[512];
  FILE *file = fopen("/proc/cpuinfo", "r");
  *model = 0;
  while (file && !*model && fgets(line, sizeof line, file)) {
    const char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    if (!value) continue;
    value += strspn(value, ": \t");
    snprintf(model, size, "%.*s", (int)strcspn(value, "\n"), value);
  }
  if (file) fclose(file);
}

/* ---- what is found ---- */

#define KERNEL_SETS 5
static const char *const kernel_sets[KERNEL_SETS] = { "avx512", "avx2", "neon", "portable", "ref" };

typedef struct {
  const char *name, *use;
  bool present;
} library;

#ifndef TN_HAVE_THREADS
#define TN_HAVE_THREADS 0
#endif
#ifndef TN_HAVE_EDITLINE
#define TN_HAVE_EDITLINE 0
#endif
#ifndef TN_HAVE_SQLITE
#define TN_HAVE_SQLITE 0
#endif
#ifndef TN_HAVE_MICROHTTPD
#define TN_HAVE_MICROHTTPD 0
#endif
#ifndef TN_HAVE_MPI
#define TN_HAVE_MPI 0
#endif
#ifndef TN_HAVE_PTX
#define TN_HAVE_PTX 0
#endif

static const library libraries[] = {
  { "pthreads", "several threads for one program", TN_HAVE_THREADS },
  { "libedit", "line editing, completion and history in tern repl", TN_HAVE_EDITLINE },
  { "SQLite", "the history of training runs: tern runs", TN_HAVE_SQLITE },
  { "microhttpd", "the history as a page: tern board", TN_HAVE_MICROHTTPD },
  { "Open MPI", "training under mpirun and srun", TN_HAVE_MPI },
  { "GPU part", "NVIDIA GPUs: --device cuda", TN_HAVE_PTX },
};
#define LIBRARY_COUNT (sizeof libraries / sizeof *libraries)

typedef struct {
  char model[256];
  feature features[16];
  size_t feature_count;
  bool kernels[KERNEL_SETS]; /* which sets can be used here */
  long cores;
  tern_sandbox_facts sandbox;
} findings;

static bool can_use(const char *isa) {
  tern_session *session = tern_session_new(&(tern_options){ .isa = isa }, NULL);
  tern_session_free(session);
  return session != NULL;
}

/* Enters the sandbox in this process, as running a program does. */
static tern_sandbox_facts try_sandbox(tern_session *session) {
  tern_sandbox(session, TERN_SANDBOX_AUTO);
  tern_program *program = tern_load(session, TERN_LANG_NINTH, "doctor", "1", 1);
  if (program) (void)tern_run(program);
  tern_program_free(program);
  return tern_sandbox_state(session);
}

static void look(tn_run *run, findings *found) {
  *found = (findings){ .cores = sysconf(_SC_NPROCESSORS_ONLN) };
  read_model(found->model, sizeof found->model);
  found->feature_count = list_features(found->features, sizeof found->features / sizeof *found->features);
  for (int i = 0; i < KERNEL_SETS; i++) found->kernels[i] = can_use(kernel_sets[i]);
  found->sandbox = try_sandbox(run->session);
}

/* ---- for people ---- */

static const char *wanting(const tern_sandbox_facts *s) {
  if (!s->possible && (s->landlock || s->seccomp))
    return "this build has sanitizers or coverage, which need calls that it forbids";
  if (s->landlock == 0 && !s->seccomp) return "this kernel has no Landlock and no seccomp filters";
  if (s->landlock == 0) return "this kernel has no Landlock: files are not enforced";
  if (!s->seccomp) return "this kernel has no seccomp filters: system calls are not enforced";
  if (!s->files) return "the kernel refused the Landlock rules";
  if (!s->calls) return "the kernel refused the seccomp filter";
  return s->alone ? NULL : "threads that ran before are not bound by it";
}

void tn_cli_say_sandbox(tn_run *run) {
  tern_sandbox_facts state = tern_sandbox_state(run->session);
  const char *lack = wanting(&state);
  if (run->command->sandbox == TERN_SANDBOX_OFF) lack = "off";
  if (lack)
    fprintf(stderr, "tern: sandbox: %s\n", lack);
  else
    fprintf(stderr, "tern: sandbox: files (Landlock %d) and system calls (seccomp)\n", state.landlock);
}

static void print_words(const char *title, const findings *found, bool kernels, const char *first) {
  printf("%-11s%s%s", title, *first ? " " : "", first);
  for (int i = 0; kernels && i < KERNEL_SETS; i++) {
    if (found->kernels[i] && strcmp(kernel_sets[i], first) != 0) printf(" %s", kernel_sets[i]);
  }
  for (size_t i = 0; !kernels && i < found->feature_count; i++) {
    if (found->features[i].present) printf(" %s", found->features[i].name);
  }
  putchar('\n');
}

void tn_cli_say_machine(tn_run *run) {
  findings found = { .cores = sysconf(_SC_NPROCESSORS_ONLN) };
  read_model(found.model, sizeof found.model);
  printf("kernels: %s\n", tern_backend(run->session));
  if (found.model[0]) printf("processor: %s\n", found.model);
  printf("threads: %d of %ld cores\nbuilt with:", tern_threads(run->session), found.cores);
  const char *comma = " ";
  for (size_t i = 0; i < LIBRARY_COUNT; i++) {
    if (libraries[i].present) printf("%s%s", comma, libraries[i].name), comma = ", ";
  }
  puts("\ntern doctor says more");
}

static void print_text(tn_run *run, const findings *found) {
  const char *lack = wanting(&found->sandbox);
  int missing = lack != NULL;
  printf("%-12s%s\n", "tern", tern_version());
  print_words("kernels", found, true, tern_backend(run->session));
  if (found->model[0]) printf("%-12s%s\n", "processor", found->model);
  print_words("features", found, false, "");
  printf("%-12s%d of %ld cores\n", "threads", tern_threads(run->session), found->cores);
  printf("%-12sLandlock %d, seccomp %s: %s\n", "sandbox", found->sandbox.landlock,
         found->sandbox.seccomp ? "yes" : "no", lack ? lack : "files and system calls are enforced");
  for (size_t i = 0; i < LIBRARY_COUNT; i++) {
    printf("%-12s%s\n", libraries[i].name, libraries[i].present ? "yes" : "no");
    missing += !libraries[i].present;
  }
  puts(missing ? "\nMissing:" : "\nNothing is missing.");
  if (lack) printf("  sandbox: %s\n", lack);
  for (size_t i = 0; i < LIBRARY_COUNT; i++) {
    if (!libraries[i].present) printf("  %s: %s\n", libraries[i].name, libraries[i].use);
  }
}

/* ---- for programs ---- */

static void put_string(const char *text) {
  putchar('"');
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\')
      printf("\\%c", byte);
    else if (byte < 0x20 || byte >= 0x7f)
      printf("\\u%04x", byte);
    else
      putchar(byte);
  }
  putchar('"');
}

static void put_member(const char *name, const char *value) {
  printf(",\"%s\":", name);
  put_string(value);
}

static const char *truth(bool yes) { return yes ? "true" : "false"; }

static void put_sandbox(const tern_sandbox_facts *s) {
  const char *lack = wanting(s);
  printf(",\"sandbox\":{\"landlock\":%d,\"seccomp\":%s,\"files\":%s,\"calls\":%s,\"missing\":", s->landlock,
         truth(s->seccomp), truth(s->files), truth(s->calls));
  if (lack)
    put_string(lack);
  else
    printf("null");
  putchar('}');
}

static void print_json(tn_run *run, const findings *found) {
  const char *comma = "";
  printf("{\"ok\":true");
  put_member("version", tern_version());
  put_member("kernels", tern_backend(run->session));
  printf(",\"available\":[");
  for (int i = 0; i < KERNEL_SETS; i++) {
    if (found->kernels[i]) printf("%s\"%s\"", comma, kernel_sets[i]), comma = ",";
  }
  printf("]");
  put_member("processor", found->model);
  printf(",\"features\":[");
  comma = "";
  for (size_t i = 0; i < found->feature_count; i++) {
    if (found->features[i].present) printf("%s\"%s\"", comma, found->features[i].name), comma = ",";
  }
  printf("],\"cores\":%ld,\"threads\":%d", found->cores, tern_threads(run->session));
  put_sandbox(&found->sandbox);
  printf(",\"libraries\":[");
  for (size_t i = 0; i < LIBRARY_COUNT; i++) {
    printf("%s{\"name\":\"%s\",\"present\":%s,\"use\":\"%s\"}", i ? "," : "", libraries[i].name,
           truth(libraries[i].present), libraries[i].use);
  }
  puts("]}");
}

tern_status tn_cli_doctor(tn_run *run) {
  findings found;
  tern_status status;
  if (!tn_cli_no_words(run, &status)) return status;
  look(run, &found);
  if (run->command->json)
    print_json(run, &found);
  else
    print_text(run, &found);
  return TERN_OK;
}
