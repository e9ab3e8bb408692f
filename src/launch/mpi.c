/* launch/mpi.c: joins the ranks that mpirun or srun has started.
 *
 * Environment variables tell the number of ranks and the MPI they use. The module with the
 * transport (cluster/mpi) is beside the program, or where it is installed; it is loaded only here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "launch/internal.h"

#if defined(__linux__)
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/door.h"
#include "cluster/mpi/mpi.h"

#define PATH_BYTES 4096

/* A number of the environment; -1 where there is none. */
static int number_of(const char *name) {
  const char *text = getenv(name);
  int number = 0;
  if (!text || !*text) return -1;
  for (; *text >= '0' && *text <= '9' && number < 100000000; text++) number = 10 * number + (*text - '0');
  return *text ? -1 : number;
}

/* The first of these variables that is a number. */
static int first_of(const char *const *names) {
  for (; *names; names++) {
    int number = number_of(*names);
    if (number >= 0) return number;
  }
  return -1;
}

static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE", NULL };
static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", "PMI_RANK", NULL };
static const char *const locals[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL };

/* A launcher that started one process alone has nothing to connect. */
bool tn_launch_is_mpi(void) { return first_of(sizes) > 1; }

bool tn_launch_is_first_mpi(void) { return first_of(ranks) <= 0; }

int tn_launch_mpi_local(void) {
  int local = first_of(locals);
  return local > 0 ? local : 1;
}

/* Why this launcher cannot be joined; NULL: it can. */
static const char *obstacle(void) {
  if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK")) return NULL;
  if (getenv("PMI_RANK"))
    return "the launcher uses PMI, which Open MPI does not support; srun needs --mpi=pmix";
  return "srun was called without --mpi=pmix";
}

/* ---- the module ---- */

/* `name` beside the program's own file, or in a folder next to that. */
static void *load_beside(const char *between) {
  char path[PATH_BYTES];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
  while (length > 0 && path[length - 1] != '/') length--;
  if (length <= 0) return NULL;
  path[length] = 0;
  strcat(path, between);
  strcat(path, TN_MPI_LIBRARY);
  return dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* Open MPI's own modules look for its symbols */
}

static tn_mpi_open_function *find_open(tn_launch *launch) {
  launch->module = load_beside("");
  if (!launch->module) launch->module = load_beside("../lib/tern/");
  void *found = launch->module ? dlsym(launch->module, TN_MPI_OPEN) : NULL;
  tn_mpi_open_function *connect;
  memcpy(&connect, &found, sizeof connect); /* C has no cast from an object to a function */
  return connect;
}

bool tn_launch_join_mpi(tn_launch *launch) {
  char reason[TN_REASON_BYTES] = "";
  const char *problem = obstacle();
  if (problem) return tn_launch_report(launch->session, problem, 0);
  tn_mpi_open_function *connect = find_open(launch);
  if (!connect)
    return tn_launch_report(launch->session,
                            "mpirun or srun has started it, but " TN_MPI_LIBRARY " is not there; "
                            "tern was built or installed without Open MPI", 0);
  launch->transport = connect(tn_api_heap(launch->session), tern_version(),
                              tn_api_is_open(launch->session), reason);
  if (!launch->transport) return tn_launch_report(launch->session, reason, 0);
  launch->count = launch->transport->size;
  tn_api_speaks(launch->session);
  return true;
}

/* MPI does not survive being unloaded; the module stays. */
void tn_launch_leave_mpi(tn_launch *launch) { launch->module = NULL; }
#endif
