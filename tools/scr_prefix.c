/* scr_prefix - print the prefix directory.  No MPI. */
#include "tool.h"

static const char prefix_usage[] =
    "scr_prefix [--json]\n"
    "Print the prefix directory of a run that is started here: SCR_PREFIX, or else the working directory.\n"
    "\n"
    "  -j, --json   print it as a JSON string\n"
    "  -h, --help   print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0, or 1 if the working directory cannot be told.\n";

SCR_FN int prefix_main(int argc, char** argv)
{
  static const struct option options[] = {{"json", no_argument, NULL, 'j'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  char                       dir[SCR_MAX_FILENAME];
  const char*                prefix = tool_prefix();
  int                        c, json = 0;

  while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
    if (c != 'j') return tool_answer(c, argv[0], prefix_usage, 1);
    json = 1;
  }
  if (optind != argc) return tool_usage(argv[0], prefix_usage, 1, "there is nothing to say after the options");
  if (strcmp(prefix, ".") == 0 && (prefix = getcwd(dir, sizeof dir)) == NULL) {
    SCR_ERRNO("cannot tell the working directory; set SCR_PREFIX");
    return tool_fail(argv[0], 1, scr_err_text);
  }
  if (json) tool_print_json(prefix);
  else tool_print(prefix);
  putchar('\n');
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(prefix_main)
