/* bench/tern.c: tern's side of the benchmarks, through the public interface alone.
 *
 *   bench_tern THREADS FOLDER [wall]
 *
 * TERN_ISA in the environment is the instruction set, TERN_DEVICE the device. THREADS 0: as many as tern
 * takes by itself. wall: one thread is measured by the wall clock too.
 *
 * Reads one request a line and answers with one number: seconds for one
 * repetition, the mean over as many as fit into the time that was asked for.
 * The other sides answer the same requests, so that bench.py can ask each in
 * turn. A workload is prepared when it is first asked for and then kept.
 *
 *   SECONDS train FILE [input=limit...]   one step of plain SGD on a graph
 *   SECONDS run FILE [input=limit...]     one run of a program: graph, .nth or .mind
 *   SECONDS grad FILE [-input...]         forward and backward: gradients of all inputs except those named
 *   SECONDS loop FILE                     one step of `tern train` with data and all (.ail)
 *   SECONDS generate FILE                 one token of the second hundred, by the model of FILE (.ail) after
 *                                         one step of training
 *   SECONDS check FILE                    load and check, with what that lowers
 *   SECONDS matmul M N K AT BT            z = x y; AT, BT: the operand is stored transposed
 *   SECONDS memory -                      bytes in use by the session
 *   drop                                  forgets every workload
 *
 * FILE is looked up in FOLDER, unless it begins with a slash. Float inputs are
 * filled with numbers between -1 and 1, integer inputs with numbers below their limit. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tern/tern.h>

enum { WORDS = 16, WORKLOADS = 256, PATH = 4096, TOKENS = 100 };

typedef struct workload workload;
struct workload {
  char *key; /* the request without its time */
  tern_session *session;
  tern_program *program;
  void (*once)(workload *w);
  double (*sample)(workload *w, double seconds); /* instead of `once` */
  char *text;
  size_t length;
  tern_language language;
  char path[PATH];
  double rate; /* repetitions per second, as last seen */
};

typedef struct {
  int threads;
  const char *folder;
  workload all[WORKLOADS];
  int count;
} bench;

/* One thread is measured by the time it was given, so that what else the machine does counts little; the
 * other sides do the same. */
static clockid_t stopwatch = CLOCK_PROCESS_CPUTIME_ID;

static double now(void) {
  struct timespec t;
  clock_gettime(stopwatch, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why) {
  fprintf(stderr, "bench_tern: %s\n", why);
  exit(1);
}

static void need(const workload *w, tern_status status) {
  if (status != TERN_OK) stop(tern_diagnostics_text(w->session, 0));
}

/* ---- what is repeated ---- */
static void run_once(workload *w) { need(w, tern_run(w->program)); }

static void step_once(workload *w) {
  double loss;
  need(w, tern_train_step(w->program, &loss));
}

static void check_once(workload *w) {
  tern_program *program = tern_load(w->session, w->language, "bench", w->text, w->length);
  if (!program) stop(tern_diagnostics_text(w->session, 0));
  need(w, tern_check(program));
  tern_program_free(program);
}

static double sample_memory(workload *w, double seconds) {
  (void)seconds;
  return (double)tern_memory_used(w->session);
}

/* ---- the loop of an .ail program ---- */
typedef struct {
  int64_t from, last;
  double start, end;
} watch;

static void note_step(void *context, const tern_step *step) {
  watch *seen = context;
  if (step->step == seen->from) seen->start = now();
  if (step->step == seen->last) seen->end = now();
}

/* A run of so many steps; the first tenth of them does not count. The first run says how many they are. */
static double sample_loop(workload *w, double seconds) {
  if (w->rate == 0 && seconds > 0) (void)sample_loop(w, 0);
  int64_t steps = (int64_t)(w->rate * seconds) + 4;
  watch seen = { .from = steps / 10, .last = steps - 1 };
  tern_follower follower = { .context = &seen, .step = note_step };
  need(w, tern_train(w->program,
                     &(tern_train_run){ .steps = steps, .followers = &follower, .follower_count = 1 }));
  double each = (seen.end - seen.start) / (double)(seen.last - seen.from);
  w->rate = 1 / each;
  return each;
}

/* ---- a text, token by token ---- */
static double generate(workload *w, size_t wanted) {
  tern_generation text = { .prompt = "A", .tokens = wanted };
  size_t tokens = 0;
  double start = now();
  need(w, tern_generate(w->program, &text, &tokens));
  if (tokens != wanted) stop("another number of tokens");
  return now() - start;
}

/* Twice as many tokens take so much longer; what is done once for a text does not count. The model's window
 * has room for all of them, whose keys and values are kept. */
static double sample_generate(workload *w, double seconds) {
  double start = now(), spent = 0;
  long times = 0;
  do spent += generate(w, 2 * TOKENS) - generate(w, TOKENS), times++;
  while (now() - start < seconds);
  return spent / (double)(times * TOKENS);
}

static void remove_folder(const char *folder) {
  char path[PATH];
  DIR *open = opendir(folder);
  for (struct dirent *file; open && (file = readdir(open));) {
    snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    (void)remove(path);
  }
  if (open) closedir(open);
  (void)remove(folder);
}

/* The program becomes that of a run of one step. */
static void train_for_generating(workload *w) {
  char folder[] = "/tmp/bench_tern.XXXXXX";
  tern_status status = TERN_OK;
  if (!mkdtemp(folder)) stop("no folder in /tmp");
  need(w, tern_train(w->program, &(tern_train_run){ .out = folder, .steps = 1 }));
  tern_program_free(w->program);
  w->program = tern_load_run(w->session, folder, &status);
  need(w, status);
  remove_folder(folder);
  w->sample = sample_generate;
  (void)generate(w, 1);
}

/* ---- preparing ---- */
static uint32_t draw(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static int64_t limit_of(const char *name, char **words, int count) {
  for (int i = 0; i < count; i++) {
    size_t length = strlen(name);
    if (strncmp(words[i], name, length) == 0 && words[i][length] == '=') return atoll(words[i] + length + 1);
  }
  return 1;
}

static void fill_input(workload *w, size_t index, char **words, int count) {
  tern_tensor_spec input = tern_input_at(w->program, index);
  int64_t elements = 1, limit = limit_of(input.name, words, count);
  for (int i = 0; i < input.rank; i++) {
    if (input.dims[i] < 0) return; /* the program's own data has that length */
    elements *= input.dims[i];
  }
  float *data = malloc((size_t)elements * sizeof *data);
  if (!data) stop("no memory");
  uint32_t state = (uint32_t)index + 1;
  for (int64_t i = 0; i < elements; i++) {
    uint32_t drawn = draw(&state);
    if (input.dtype == TERN_F32)
      data[i] = (float)drawn * 0x1p-23f - 1;
    else
      ((int32_t *)data)[i] = (int32_t)((int64_t)drawn % limit);
  }
  tern_tensor value = { .dtype = input.dtype, .rank = input.rank, .dims = input.dims, .data = data };
  need(w, tern_set_input(w->program, input.name, &value));
  free(data);
}

static void load(workload *w, const char *text, size_t length, char **words, int count) {
  w->program = tern_load(w->session, w->language, w->path, text, length);
  if (!w->program) stop(tern_diagnostics_text(w->session, 0));
  need(w, tern_check(w->program));
  for (size_t i = 0; i < tern_input_count(w->program); i++) fill_input(w, i, words, count);
}

/* The gradient by an input that nobody asked for: ", NAME=%N" of the last line that returns something. */
static void leave_out(char *text, const char *name) {
  char key[64], *from = NULL;
  snprintf(key, sizeof key, ", %s=", name);
  for (char *at = text; (at = strstr(at, key)); at++) from = at;
  if (!from) stop("no such gradient");
  char *to = from + strlen(key);
  to += strcspn(to, ",\n");
  memmove(from, to, strlen(to) + 1);
}

/* The gradients' own graph is a program like any other. */
static void load_gradient(workload *w, char **words, int count) {
  tern_program *forward = tern_load(w->session, w->language, w->path, w->text, w->length);
  if (!forward) stop(tern_diagnostics_text(w->session, 0));
  need(w, tern_check(forward));
  const char *text = tern_emit(forward, "grad");
  char *kept = text ? strdup(text) : NULL;
  if (!kept) stop(tern_diagnostics_text(w->session, 0));
  for (int i = 0; i < count; i++)
    if (words[i][0] == '-') leave_out(kept, words[i] + 1);
  load(w, kept, strlen(kept), words, count);
  tern_program_free(forward);
  free(kept);
}

static void read_text(workload *w, const bench *b, const char *file) {
  snprintf(w->path, sizeof w->path, "%s%s%s", file[0] == '/' ? "" : b->folder, file[0] == '/' ? "" : "/",
           file);
  FILE *f = fopen(w->path, "rb");
  if (!f) stop(w->path);
  fseek(f, 0, SEEK_END);
  w->length = (size_t)ftell(f);
  rewind(f);
  w->text = malloc(w->length + 1);
  if (!w->text || fread(w->text, 1, w->length, f) != w->length) stop("cannot read");
  fclose(f);
  w->language = tern_language_of(w->path);
  if (w->language == TERN_LANG_AUTO) w->language = TERN_LANG_GRAPH;
}

/* x and y are inputs; the program transposes those that are stored transposed. */
static void load_matmul(workload *w, char **words) {
  long m = atol(words[0]), n = atol(words[1]), k = atol(words[2]);
  bool at = words[3][0] == '1', bt = words[4][0] == '1';
  char text[512];
  int length =
      snprintf(text, sizeof text,
               "graph(%%x: f32[%ld, %ld], %%y: f32[%ld, %ld]) {\n"
               "  %%1 = transpose %%x {axes=[%s]}\n  %%2 = transpose %%y {axes=[%s]}\n"
               "  %%3 = matmul %%1, %%2\n  return %%3\n}\n",
               at ? k : m, at ? m : k, bt ? n : k, bt ? k : n, at ? "1, 0" : "0, 1", bt ? "1, 0" : "0, 1");
  w->language = TERN_LANG_GRAPH;
  load(w, text, (size_t)length, NULL, 0);
  w->once = run_once;
}

static void prepare(workload *w, const bench *b, char **words, int count) {
  const char *kind = words[0];
  tern_options options = { .threads = b->threads, .allow = TERN_ALLOW_FILEREAD, .isa = getenv("TERN_ISA") };
  w->session = tern_session_new(&options, NULL);
  if (!w->session) stop("no session");
  if (getenv("TERN_DEVICE")) need(w, tern_device(w->session, getenv("TERN_DEVICE")));
  w->once = run_once;
  if (strcmp(kind, "matmul") == 0 && count == 6) {
    load_matmul(w, words + 1);
    return;
  }
  if (count < 2) stop("a request needs a kind and a file");
  read_text(w, b, words[1]);
  if (strcmp(kind, "check") == 0) {
    w->once = check_once;
    return;
  }
  if (strcmp(kind, "grad") == 0) {
    load_gradient(w, words + 2, count - 2);
    return;
  }
  load(w, w->text, w->length, words + 2, count - 2);
  if (strcmp(kind, "loop") == 0) w->sample = sample_loop;
  if (strcmp(kind, "generate") == 0) train_for_generating(w);
  if (strcmp(kind, "memory") == 0) w->sample = sample_memory, run_once(w);
  if (strcmp(kind, "train") == 0) {
    need(w, tern_train_begin(w->program, &(tern_training){ .lr = 0.01 }));
    w->once = step_once;
  }
}

static workload *find(bench *b, const char *key, char **words, int count) {
  for (int i = 0; i < b->count; i++)
    if (strcmp(b->all[i].key, key) == 0) return &b->all[i];
  if (b->count == WORKLOADS) stop("too many workloads");
  workload *w = &b->all[b->count++];
  *w = (workload){ .key = strdup(key) };
  prepare(w, b, words, count);
  if (!w->sample) w->once(w); /* plans are made by the first run */
  return w;
}

static void drop(bench *b) {
  for (int i = 0; i < b->count; i++) {
    if (b->all[i].program) tern_program_free(b->all[i].program);
    tern_session_free(b->all[i].session);
    free(b->all[i].text);
    free(b->all[i].key);
  }
  b->count = 0;
}

/* ---- measuring ---- */
static double sample(workload *w, double seconds) {
  if (w->sample) return w->sample(w, seconds);
  long repeat = (long)(w->rate * seconds);
  if (repeat < 1) repeat = 1;
  for (;;) {
    double start = now();
    for (long i = 0; i < repeat; i++) w->once(w);
    double spent = now() - start;
    w->rate = (double)repeat / spent;
    if (spent > 0.3 * seconds || repeat > 100000000) return spent / (double)repeat;
    repeat = spent > 0.001 * seconds ? (long)(w->rate * seconds) + 1 : repeat * 16;
  }
}

int main(int argc, char **argv) {
  static bench b;
  char line[PATH], key[PATH];
  if (argc != 3 && argc != 4) stop("usage: bench_tern THREADS FOLDER [wall]");
  b.threads = atoi(argv[1]);
  b.folder = argv[2];
  if (b.threads != 1 || argc == 4) stopwatch = CLOCK_MONOTONIC;
  while (fgets(line, sizeof line, stdin)) {
    char *words[WORDS];
    int count = 0;
    line[strcspn(line, "\n")] = 0;
    char *rest = strchr(line, ' ');
    snprintf(key, sizeof key, "%s", rest ? rest + 1 : "");
    for (char *word = strtok(line, " "); word && count < WORDS; word = strtok(NULL, " "))
      words[count++] = word;
    if (count == 1 && strcmp(words[0], "drop") == 0) {
      drop(&b);
      puts("0");
    } else if (count >= 2) {
      double seconds = atof(words[0]);
      printf("%.9g\n", sample(find(&b, key, words + 1, count - 1), seconds));
    }
    fflush(stdout);
  }
  drop(&b);
  return 0;
}
