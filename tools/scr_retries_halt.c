/* scr_retries_halt - tell a job script whether the halt file forbids another run.  No MPI. */
#include "tool.h"

static const char retries_halt_usage[] =
    "scr_retries_halt --dir DIR\n"
    "Read the halt file of the prefix directory DIR, and print whether to start another run.\n"
    "\n"
    "  -d, --dir DIR   the prefix directory\n"
    "  -h, --help      print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0 to halt: there is a reason to exit (the regular end of the last run is one), no checkpoints are left, the\n"
    "time has come, or the file cannot be read.  Exit 1 to start another run.  Wrong arguments, or no such directory:\n"
    "exit 0.\n";

/* Put the condition WHY of the halt file in words into TEXT; "" if none holds. */
static void retries_halt_explain(const scr_hash* halt, const char* why, char* text, size_t n)
{
  const char* reason = scr_hash_elem_get_first_val(halt, "ExitReason");

  if (reason != NULL && *reason != '\0') snprintf(text, n, "the halt file gives the reason %s", reason);
  else if (strcmp(why, "NO_CHECKPOINTS_LEFT") == 0) snprintf(text, n, "no checkpoints are left");
  else if (strcmp(why, "EXIT_BEFORE_TIME") == 0) snprintf(text, n, "the time before which to exit has come");
  else if (strcmp(why, "EXIT_AFTER_TIME") == 0) snprintf(text, n, "the time after which to exit has come");
  else *text = '\0';
}

SCR_FN int retries_halt_main(int argc, char** argv)
{
  static const struct option options[] = {{"dir", required_argument, NULL, 'd'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  const char*                dir = NULL;
  char                       path[SCR_MAX_FILENAME], why[256], text[SCR_ERR_TEXT_MAX + 64];
  scr_hash*                  halt;
  int                        c, rc;

  while ((c = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
    if (c != 'd') return tool_answer(c, argv[0], retries_halt_usage, 0);
    dir = optarg;
  }
  if (dir == NULL && optind < argc) dir = argv[optind++];
  if (dir == NULL) return tool_usage(argv[0], retries_halt_usage, 0, "the prefix directory is missing: --dir DIR");
  if (optind != argc)
    return tool_usage(argv[0], retries_halt_usage, 0, "one directory at a time, and nothing after it");
  if (!tool_is_dir(dir)) {
    SCR_ERRNO("cannot open the prefix directory %s", dir);
    return tool_fail(argv[0], 0, scr_err_text);
  }
  halt = scr_hash_new();
  rc = halt == NULL ? SCR_ERR_OOM() : scr_record_path(dir, "halt.scr", path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(path, halt);
  if (rc == SCR_SUCCESS) {
    scr_halt_check(halt, (int64_t)time(NULL), -1, why, sizeof why);
    retries_halt_explain(halt, why, text, sizeof text);
  } else {
    snprintf(text, sizeof text, "%s", rc == SCR_ERR_NOT_FOUND ? "" : scr_err_text);
  }
  scr_hash_delete(&halt);
  printf("%s: %s: ", tool_name(argv[0]), *text ? "HALT RUN" : "CONTINUE RUN");
  tool_print(*text ? text : rc == SCR_ERR_NOT_FOUND ? "there is no halt file" : "no condition of the halt file holds");
  putchar('\n');
  return *text ? 0 : 1;
}

TOOL_MAIN(retries_halt_main)
