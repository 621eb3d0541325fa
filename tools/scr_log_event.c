/* scr_log_event, scr_log_transfer - write a line to the log of a run.  No MPI. */
#include "log.h"

static const char log_event_usage[] =
    "scr_log_event [OPTIONS] --type TYPE\n"
    "Log an event, as the library and the commands of a job do, if SCR_LOG_ENABLE is 1.\n"
    "\n"
    "  -T, --type TYPE         what happened, such as RUN_START\n"
    "  -N, --note TEXT         a note\n"
    "  -D, --dset ID           the id of the dataset,\n"
    "  -n, --name NAME         and its name\n"
    "  -S, --start SECONDS     when it happened, in seconds since 1970; default: now\n"
    "  -L, --secs SECONDS      how long it took, such as 2.5\n"
    "  -u, --user USER         the user,\n"
    "  -i, --jobid ID          and the job; the defaults are those of a run\n"
    "  -p, --prefix DIR        the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -h, --help              print this and exit;  --version  print the version and exit\n"
    "\n"
    "-j NAME and -s SECONDS, name and start of the job in scripts of earlier releases, are accepted and not recorded.\n"
    "Exit 0, or 1 if there is an error.  If logging is turned off nothing is written, and the exit code is 0.\n";

static const char log_transfer_usage[] =
    "scr_log_transfer [OPTIONS] --type TYPE --from DIR --to DIR --secs SECONDS --bytes N\n"
    "Log that files were copied, as the library and the commands of a job do, if SCR_LOG_ENABLE is 1.\n"
    "\n"
    "  -T, --type TYPE         the kind of transfer, such as SCAVENGE\n"
    "  -X, --from DIR          from where\n"
    "  -Y, --to DIR            to where\n"
    "  -D, --dset ID           the id of the dataset,\n"
    "  -n, --name NAME         and its name\n"
    "  -S, --start SECONDS     when it happened, in seconds since 1970; default: now\n"
    "  -L, --secs SECONDS      how long it took, such as 2.5\n"
    "  -B, --bytes N           bytes of all files\n"
    "  -F, --files N           how many files\n"
    "  -u, --user USER         the user,\n"
    "  -i, --jobid ID          and the job; the defaults are those of a run\n"
    "  -p, --prefix DIR        the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -h, --help              print this and exit;  --version  print the version and exit\n"
    "\n"
    "-j NAME and -s SECONDS, name and start of the job in scripts of earlier releases, are accepted and not recorded.\n"
    "Exit 0, or 1 if there is an error.  If logging is turned off nothing is written, and the exit code is 0.\n";

/* What the options say. */
typedef struct {
  const char *type, *note, *name, *user, *job, *prefix, *from, *to;
  int64_t     id, when, bytes, files;
  double      secs;
} log_event;

/* Enter option C with ARGUMENT in E.  Returns 1, 0 if ARGUMENT is not valid, or -1 if C is no option of both. */
static int log_event_enter(log_event* e, int c, const char* argument)
{
  char* end;

  switch (c) {
  case 'T':
    e->type = argument;
    return *argument != '\0';
  case 'n':
    e->name = argument;
    return 1;
  case 'D':
    return tool_number(argument, 0, INT_MAX, &e->id);
  case 'S':
    return tool_number(argument, 0, INT64_MAX, &e->when);
  case 'L':
    e->secs = strtod(argument, &end);
    return isdigit((unsigned char)*argument) && *end == '\0' && e->secs < 1e12;
  case 'u':
    e->user = argument;
    return 1;
  case 'i':
    e->job = argument;
    return 1;
  case 'j': /* accepted for scripts of earlier releases */
  case 's':
    return 1;
  case 'p':
    e->prefix = argument;
    return 1;
  default:
    return -1;
  }
}

/* Write E to the logs that are turned on, as an event or as a TRANSFER.  Returns the exit code. */
static int log_event_write(const char* argv0, const log_event* e, int transfer)
{
  scr_hash*       params = tool_params(e->prefix);
  scr_log_dataset d = {(int)e->id, e->name, e->secs};
  log_writer      w;
  int             rc;

  memset(&w, 0, sizeof w);
  rc = params == NULL ? SCR_ERR_PARAM : log_open(&w, params, e->prefix);
  if (rc == SCR_SUCCESS) {
    if (e->user != NULL) w.log.user = e->user;
    if (e->job != NULL) w.log.job = e->job;
    w.log.when = (time_t)e->when;
    if (!scr_log_is_on(&w.log))
      tool_fail(argv0, 0, "nothing is logged, as the log is turned off; SCR_LOG_ENABLE=1 turns it on");
    else if (!transfer) rc = scr_log_event(&w.log, e->type, e->note, &d);
    else rc = scr_log_transfer(&w.log, e->type, e->from, e->to, &d, (double)e->bytes, (int)e->files);
  }
  scr_log_end(&w.log);
  scr_hash_delete(&params);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv0, 1, scr_err_text);
}

static int log_event_refuse(const char* argv0, const char* argument)
{
  SCR_ERR(SCR_ERR_ARG, "'%.200s' is not a value of that option; see --help", argument);
  return tool_fail(argv0, 1, scr_err_text);
}

#define LOG_EVENT_OPTIONS                                                                                              \
  {"type", required_argument, NULL, 'T'}, {"dset", required_argument, NULL, 'D'},                                      \
      {"name", required_argument, NULL, 'n'}, {"start", required_argument, NULL, 'S'},                                 \
      {"secs", required_argument, NULL, 'L'}, {"user", required_argument, NULL, 'u'},                                  \
      {"jobid", required_argument, NULL, 'i'}, {"prefix", required_argument, NULL, 'p'}, TOOL_OPTIONS

SCR_FN int log_transfer_main(int argc, char** argv)
{
  static const struct option options[] = {LOG_EVENT_OPTIONS,
                                          {"from", required_argument, NULL, 'X'},
                                          {"to", required_argument, NULL, 'Y'},
                                          {"bytes", required_argument, NULL, 'B'},
                                          {"files", required_argument, NULL, 'F'},
                                          {NULL, 0, NULL, 0}};
  log_event                  e;
  int                        c, ok;

  memset(&e, 0, sizeof e);
  e.prefix = tool_prefix();
  e.secs = -1;
  e.bytes = -1;
  while ((c = getopt_long(argc, argv, "T:X:Y:D:n:S:L:B:F:u:i:j:s:p:h", options, NULL)) != -1) {
    if ((ok = log_event_enter(&e, c, optarg)) > 0) continue;
    if (c == 'X') e.from = optarg;
    else if (c == 'Y') e.to = optarg;
    else if (ok < 0 && c != 'B' && c != 'F') return tool_answer(c, argv[0], log_transfer_usage, 1);
    else if (ok == 0 || !tool_number(optarg, 0, c == 'F' ? INT_MAX : INT64_MAX, c == 'F' ? &e.files : &e.bytes))
      return log_event_refuse(argv[0], optarg);
  }
  if (optind != argc) return tool_usage(argv[0], log_transfer_usage, 1, "there is nothing to say after the options");
  if (e.type == NULL || e.from == NULL || e.to == NULL || e.secs < 0 || e.bytes < 0)
    return tool_usage(argv[0], log_transfer_usage, 1, "one of --type, --from, --to, --secs and --bytes is missing");
  return log_event_write(argv[0], &e, 1);
}

SCR_FN int log_event_main(int argc, char** argv)
{
  static const struct option options[] = {
      LOG_EVENT_OPTIONS, {"note", required_argument, NULL, 'N'}, {NULL, 0, NULL, 0}};
  log_event e;
  int       c, ok;

  if (strcmp(tool_name(argv[0]), "scr_log_transfer") == 0) return log_transfer_main(argc, argv);
  memset(&e, 0, sizeof e);
  e.prefix = tool_prefix();
  e.secs = -1;
  while ((c = getopt_long(argc, argv, "T:N:D:n:S:L:u:i:j:s:p:h", options, NULL)) != -1) {
    if ((ok = log_event_enter(&e, c, optarg)) > 0) continue;
    if (ok == 0) return log_event_refuse(argv[0], optarg);
    if (c != 'N') return tool_answer(c, argv[0], log_event_usage, 1);
    e.note = optarg;
  }
  if (optind != argc) return tool_usage(argv[0], log_event_usage, 1, "there is nothing to say after the options");
  if (e.type == NULL) return tool_usage(argv[0], log_event_usage, 1, "the type of the event is missing: --type TYPE");
  return log_event_write(argv[0], &e, 0);
}

TOOL_MAIN(log_event_main)
