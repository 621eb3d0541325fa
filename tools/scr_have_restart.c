/* scr_have_restart - print the checkpoint that the next run would restart from.  No MPI. */
#include "restart.h"

static const char have_restart_usage[] =
    "scr_have_restart [--json] [--prefix DIR]\n"
    "Print the name of the checkpoint that the next run over the prefix should restart from: what SCR_CURRENT names, "
    "or "
    "the\n"
    "user's choice, or else the newest complete one on the prefix and in the cache of the last run.  Print nothing if\n"
    "there is none, or SCR_FRESH_START passes it over.\n"
    "\n"
    "  -j, --json         print an object with its name, its id, and where it is, or null\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "Whether a checkpoint in the cache can be rebuilt after nodes were lost is found out only by that run.\n"
    "Exit 0, or 1 if there is an error.\n";

SCR_FN int have_restart_main(int argc, char** argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, 'j'}, {"prefix", required_argument, NULL, 'p'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  const char*  prefix = tool_prefix();
  restart_ckpt h;
  int          c, json = 0, rc;

  memset(&h, 0, sizeof h);
  while ((c = getopt_long(argc, argv, "jp:h", options, NULL)) != -1) {
    if (c == 'j') json = 1;
    else if (c == 'p') prefix = tool_dir(optarg);
    else return tool_answer(c, argv[0], have_restart_usage, 1);
  }
  if (optind != argc) return tool_usage(argv[0], have_restart_usage, 1, "there is nothing to say after the options");
  rc = tool_is_dir(prefix) ? SCR_SUCCESS : SCR_ERRNO("cannot open the prefix directory %s", prefix);
  if (rc == SCR_SUCCESS) rc = restart_find(prefix, &h);
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  if (json && h.id > 0) {
    printf("{\"name\": ");
    tool_print_json(h.name);
    printf(", \"id\": %d, \"where\": \"%s\", \"chosen\": %s}", h.id, h.cached ? "cache" : "prefix",
           h.chosen ? "true" : "false");
  } else if (json) {
    printf("null");
  } else {
    tool_print(h.name);
  }
  if (json || h.id > 0) putchar('\n');
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(have_restart_main)
