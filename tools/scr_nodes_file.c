/* scr_nodes_file - print how many nodes the last run had.  No MPI. */
#include "tool.h"

static const char nodes_file_usage[] =
    "scr_nodes_file --dir DIR\n"
    "Print the number of nodes of the last run, from the nodes file in the prefix directory DIR.\n"
    "\n"
    "  -d, --dir DIR   the prefix directory\n"
    "  -h, --help      print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0, or 1 if there is no such file, or if it does not hold a number; in the latter case, also print 0.\n";

SCR_FN int nodes_file_main(int argc, char** argv)
{
  static const struct option options[] = {{"dir", required_argument, NULL, 'd'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  const char*                dir = NULL;
  int                        c, nodes = -1, rc;

  while ((c = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
    if (c != 'd') return tool_answer(c, argv[0], nodes_file_usage, 1);
    dir = tool_dir(optarg);
  }
  if (dir == NULL && optind < argc) dir = tool_dir(argv[optind++]);
  if (dir == NULL) return tool_usage(argv[0], nodes_file_usage, 1, "the prefix directory is missing: --dir DIR");
  if (optind != argc) return tool_usage(argv[0], nodes_file_usage, 1, "one directory at a time, and nothing after it");
  rc = scr_nodes_file_read(dir, &nodes);
  if (nodes >= 0) printf("%d\n", nodes);
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(nodes_file_main)
