// bench/json.cpp: simdjson on the rows that tern's data reader takes.
//
//   SECONDS rows FILE
//
// Reads a file of {"tokens":[ints],"label":k} into two arrays, with the on-demand interface, and answers with the
// seconds for one pass, file included. The file has been read before, so it comes from the page cache.
#include <simdjson.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

static double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

static size_t read_rows(const std::string &path) {
  auto text = simdjson::padded_string::load(path);
  simdjson::ondemand::parser parser;
  std::vector<int32_t> tokens, labels;
  simdjson::ondemand::document_stream rows;
  if (text.error() || parser.iterate_many(text.value_unsafe(), 1 << 20).get(rows)) std::exit(1);
  for (auto row : rows) {
    simdjson::ondemand::object fields;
    if (row.get_object().get(fields)) std::exit(1);
    for (int64_t token : fields["tokens"].get_array()) tokens.push_back(int32_t(token));
    labels.push_back(int32_t(int64_t(fields["label"])));
  }
  return tokens.size() + labels.size();
}

int main() {
  char line[4096], path[4000];
  double seconds;
  while (std::fgets(line, sizeof line, stdin)) {
    if (std::sscanf(line, "%lf rows %3999s", &seconds, path) != 2) continue;
    int rounds = 0;
    double start = now(), spent;
    do {
      if (read_rows(path) == 0) return 1;
      rounds++;
    } while ((spent = now() - start) < seconds);
    std::printf("%.9g\n", spent / rounds);
    std::fflush(stdout);
  }
}
