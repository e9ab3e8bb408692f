/* cli/plot.c: the verb plot: curves of training runs as an SVG, or in terminal characters. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/curve.h"
#include "cli/terminal.h"
#include "track/track.h"

/* A file name with the extension of another format. */
static bool is_other_picture(const char *path) {
  static const char *const others[] = { ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".eps" };
  size_t length = strlen(path);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    size_t own = strlen(others[i]);
    if (length > own && strcmp(path + length - own, others[i]) == 0) return true;
  }
  return false;
}

static tern_status failed(tn_run *run) { return tn_cli_failed(run, tern_failure_status(run->session)); }

static tern_status write_picture(tn_run *run, const tn_track_plot *plot, const char *path) {
  tern_target *target = tern_target_open(run->session, path);
  if (!target) return failed(run);
  const char *svg = tn_track_plot_svg(run->session, plot);
  bool ok = svg && tern_target_write(target, svg, strlen(svg)) == TERN_OK;
  tern_target_free(target);
  if (!ok) return failed(run);
  const char *json = run->command->json ? tn_track_plot_json(run->session, plot, path) : NULL;
  if (json) puts(json);
  return TERN_OK;
}

static void print_curve(void *context, const tn_chart_curve *curve) {
  tn_run *run = context;
  tn_curve points = { .stride = 1 };
  for (size_t i = 0; i < curve->count; i++) tn_curve_add(&points, curve->points[i].y);
  if (curve->count == 0) return;
  tn_curve_print(&points, tn_cli_shown(run, curve->name.at), (int64_t)curve->points[0].x,
                 (int64_t)curve->points[curve->count - 1].x);
}

static tern_status draw_on_terminal(tn_run *run, const tn_track_plot *plot) {
  if (!tn_track_plot_visit(run->session, plot, print_curve, run)) return failed(run);
  fputs("\n-o loss.svg writes a picture\n", stderr);
  return TERN_OK;
}

tern_status tn_cli_plot(tn_run *run) {
  const tn_command *command = run->command;
  const char *path = command->value[TN_OPTION_OUTPUT], *smooth = command->value[TN_OPTION_SMOOTH];
  char room[4096];
  tn_track_plot plot = { .runs = command->words,
                     .run_count = command->word_count,
                     .store = tn_cli_store(command, room, sizeof room),
                     .metric = command->value[TN_OPTION_METRIC],
                     .scale = command->value[TN_OPTION_SCALE],
                     .title = command->value[TN_OPTION_TITLE],
                     .smooth = smooth ? (int64_t)strtoull(smooth, NULL, 10) : 0 };
  if (command->word_count == 0)
    return tn_cli_usage(run, "tern plot needs a run: tern plot RUN... -o loss.svg",
                        "a run is the folder that `tern train --out` made, or its number in `tern runs`");
  if (path && is_other_picture(path))
    return tn_cli_usage_about(run, "tern plot writes SVG, and ", path, " would be something else",
                              "name the file loss.svg; rsvg-convert and browsers make other pictures of it");
  if (!tn_cli_to_standard_output(path)) return write_picture(run, &plot, path);
  if (!path && !command->json && tn_terminal_is(1)) return draw_on_terminal(run, &plot);
  const char *text =
      command->json ? tn_track_plot_json(run->session, &plot, NULL) : tn_track_plot_svg(run->session, &plot);
  if (!text) return failed(run);
  fputs(text, stdout);
  if (command->json) putchar('\n');
  return TERN_OK;
}
