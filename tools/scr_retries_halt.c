/* scr_retries_halt - tell a job script whether the halt file forbids another run.  No MPI. */
#include "halt.h"

static const char retries_halt_usage[] =
    "scr_retries_halt --dir DIR\n"
    "Read the halt file of the prefix directory DIR, and print whether to start another run.\n"
    "\n"
    "  -d, --dir DIR   the prefix directory\n"
    "  -h, --help      print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0 to halt: a person has set a condition by scr_halt that holds, a run of this job has stopped for one or "
    "ended\n"
    "by itself, or the file cannot be read.  Exit 1 to start another run.  Wrong arguments, or no such directory:\n"
    "exit 0.\n";

SCR_FN int retries_halt_main(int argc, char** argv)
{
  static const struct option options[] = {{"dir", required_argument, NULL, 'd'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  const char*                dir = NULL;
  char                       text[SCR_HALT_TEXT_MAX];
  int                        c, forbids;

  while ((c = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
    if (c != 'd') return tool_answer(c, argv[0], retries_halt_usage, 0);
    dir = tool_dir(optarg);
  }
  if (dir == NULL && optind < argc) dir = tool_dir(argv[optind++]);
  if (dir == NULL) return tool_usage(argv[0], retries_halt_usage, 0, "the prefix directory is missing: --dir DIR");
  if (optind != argc)
    return tool_usage(argv[0], retries_halt_usage, 0, "one directory at a time, and nothing after it");
  if (!tool_is_dir(dir)) {
    SCR_ERRNO("cannot open the prefix directory %s", dir);
    return tool_fail(argv[0], 0, scr_err_text);
  }
  forbids = halt_forbids_run(dir, text);
  printf("%s: %s: ", tool_name(argv[0]), forbids ? "HALT RUN" : "CONTINUE RUN");
  tool_print_line(text);
  return forbids ? 0 : 1;
}

TOOL_MAIN(retries_halt_main)
