/* scr_test_runtime - check that the programs which the commands of a job call are here.  No MPI. */
#include "system.h"

static const char test_runtime_usage[] =
    "scr_test_runtime [--verbose]\n"
    "Check that the programs are here which the commands call in this job: those of its resource manager, and one "
    "that\n"
    "runs commands on other nodes, which is that of SCR_REMOTE_SHELL, or else srun in a job of SLURM, or else ssh.\n"
    "\n"
    "  -v, --verbose   also print what is here\n"
    "  -h, --help      print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0, or 1 if a program is missing; what is only useful, such as ping, may be missing.\n";

/* A program, the manager whose jobs need it (SYSTEM_NONE: any), and what for. */
static const struct {
  const char* name;
  system_kind kind;
  int         useful; /* 1: there is another way */
  const char* purpose;
} test_runtime_programs[] = {
    {"srun", SYSTEM_SLURM, 0, "runs programs on other nodes"},
    {"sinfo", SYSTEM_SLURM, 0, "tells which nodes are down"},
    {"squeue", SYSTEM_SLURM, 0, "tells the job steps, and when the job ends"},
    {"scancel", SYSTEM_SLURM, 0, "ends job steps"},
    {"pbsnodes", SYSTEM_PBS, 0, "tells which nodes are down"},
    {"qstat", SYSTEM_PBS, 0, "tells when the job ends"},
    {"bhosts", SYSTEM_LSF, 0, "tells which nodes are down"},
    {"bjobs", SYSTEM_LSF, 0, "tells when the job ends"},
    {"flux", SYSTEM_FLUX, 0, "tells the nodes of the job and when it ends, and ends job steps"},
    {"ping", SYSTEM_NONE, 1, "finds dead nodes at once"}};

/* Print whether the program NAME is here.  Returns 1 if it is missing and needed. */
static int test_runtime(const char* argv0, const char* name, const char* purpose, int useful, int verbose)
{
  int here = system_has(name);

  if (verbose || (!here && !useful))
    fprintf(here ? stdout : stderr, "%s: %s %s: it %s\n", tool_name(argv0), name,
            here ? "is here" : "is not found in PATH", purpose);
  return !here && !useful;
}

SCR_FN int test_runtime_main(int argc, char** argv)
{
  static const struct option options[] = {{"verbose", no_argument, NULL, 'v'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  static const char          purpose[] = "runs commands on other nodes";
  system_kind                kind = system_manager(NULL);
  const char*                shell = system_env("SCR_REMOTE_SHELL");
  char                       word[SCR_MAX_FILENAME];
  size_t                     i;
  int                        c, verbose = 0, bad = 0;

  while ((c = getopt_long(argc, argv, "vh", options, NULL)) != -1) {
    if (c != 'v') return tool_answer(c, argv[0], test_runtime_usage, 1);
    verbose = 1;
  }
  if (optind != argc) return tool_usage(argv[0], test_runtime_usage, 1, "there is nothing to say after the options");
  if (verbose) printf("%s: the resource manager is %s\n", tool_name(argv[0]), scr_manager_names[kind]);
  for (i = 0; i < sizeof test_runtime_programs / sizeof *test_runtime_programs; i++)
    if (test_runtime_programs[i].kind == kind || test_runtime_programs[i].kind == SYSTEM_NONE)
      bad |= test_runtime(argv[0], test_runtime_programs[i].name, test_runtime_programs[i].purpose,
                          test_runtime_programs[i].useful, verbose);
  if (shell != NULL && sscanf(shell, "%1023s", word) == 1) bad |= test_runtime(argv[0], word, purpose, 0, verbose);
  else if (kind != SYSTEM_SLURM) bad |= test_runtime(argv[0], "ssh", purpose, 0, verbose);
  return fflush(stdout) == 0 ? bad : 1;
}

TOOL_MAIN(test_runtime_main)
