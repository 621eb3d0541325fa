/* scr_watchdog - end a job step that makes no progress.  No MPI. */
#include "system.h"

static const char watchdog_usage[] =
    "scr_watchdog --dir DIR --jobStepId ID\n"
    "Look at the flush file of the prefix directory DIR from time to time, and end the job step ID if its newest "
    "dataset,\n"
    "and where that is, are the same as at the last look.\n"
    "\n"
    "  -d, --dir DIR           the prefix directory\n"
    "  -j, --jobStepId ID      the job step, as scr_get_jobstep_id prints it\n"
    "  -t, --timeout N         seconds between two looks; default: SCR_WATCHDOG_TIMEOUT, or else 3600\n"
    "  -T, --timeout-pfs N     the same while a dataset is flushed; default: SCR_WATCHDOG_TIMEOUT_PFS, or else 3600\n"
    "  -l, --launcher NAME     what has started the step, as in scr_kill_jobstep\n"
    "  -h, --help              print this and exit;  --version  print the version and exit\n"
    "\n"
    "Choose times that are longer than the application computes, and writes, between two checkpoints.\n"
    "Exit 0 if the step has been ended, or if the process ID has ended by itself; 1 if there is an error.\n";

typedef struct {
  const char *argv0, *dir, *id, *launcher;
  int64_t     timeout, timeout_pfs; /* 0: not given */
  pid_t       pid;                  /* the job step, if it is a process; else 0 */
  uint64_t    began;                /* as in system_began */
} watchdog;

/* The newest dataset of the flush file, and where it is; both 0 if there is none. */
static int watchdog_look(const char* dir, int* id, int* location)
{
  scr_record     file;
  scr_flush_note note;
  int            rc = scr_flush_file_read(&file, dir);

  *id = *location = 0;
  if (rc == SCR_SUCCESS) *id = scr_flush_file_before(&file, INT_MAX);
  if (rc == SCR_SUCCESS && *id > 0 && scr_flush_file_get(&file, *id, &note)) *location = note.location;
  return scr_record_close(&file, rc, 0);
}

/* Wait SECONDS.  Returns 0 if the job step is a process that has ended meanwhile. */
static int watchdog_sleep(const watchdog* w, int64_t seconds)
{
  double end = scr_wtime() + (double)seconds;

  while (scr_wtime() < end) {
    if (w->pid > 0 && (w->began == 0 || system_began(w->pid) != w->began)) return 0;
    usleep(end - scr_wtime() > 1 ? 1000000 : 10000);
  }
  return 1;
}

/* Note which process the job step of W is, if it is one: another one may get its number later. */
static void watchdog_find(watchdog* w)
{
  int process = w->launcher != NULL ? strcmp(w->launcher, "srun") != 0 && strcmp(w->launcher, "flux") != 0 &&
                                          strcmp(w->launcher, "jsrun") != 0
                                    : system_manager(NULL) != SYSTEM_SLURM && system_manager(NULL) != SYSTEM_FLUX;

  if (process && system_is_pid(w->id, &w->pid)) w->began = system_began(w->pid);
}

/* How long a dataset at LOCATION may be the newest: a run may wait for its asynchronous flush, too. */
static int64_t watchdog_patience(const watchdog* w, int location)
{
  int flushing = location & (SCR_LOCATION_SYNC_FLUSHING | SCR_LOCATION_FLUSHING);

  return flushing && w->timeout_pfs > w->timeout ? w->timeout_pfs : w->timeout;
}

/* Watch, until the job step has ended or is ended. */
static int watchdog_run(watchdog* w)
{
  char text[SCR_MAX_FILENAME];
  int  id = -1, location = 0, new_id, new_location, rc;

  watchdog_find(w);
  for (;;) {
    if (!watchdog_sleep(w, watchdog_patience(w, location))) return SCR_SUCCESS;
    if ((rc = watchdog_look(w->dir, &new_id, &new_location)) != SCR_SUCCESS)
      scr_warn("%s; the watchdog looks again later",
               scr_err_text); /* the file is being replaced, or the disk is slow */
    else if (new_id == id && new_location == location) break;
    else id = new_id, location = new_location;
  }
  if (id == 0) snprintf(text, sizeof text, "there is no dataset yet: ending the job step %s", w->id);
  else snprintf(text, sizeof text, "no progress since dataset %d: ending the job step %s", id, w->id);
  tool_fail(w->argv0, 0, text);
  return system_step_kill(w->id, w->launcher);
}

/* Set *SECONDS, unless it is given, to the parameter NAME. */
static int watchdog_default(const scr_hash* params, const char* name, int64_t* seconds)
{
  const char* value = params != NULL ? tool_param(params, name) : NULL;

  if (*seconds == 0) *seconds = 3600;
  else return SCR_SUCCESS;
  if (value == NULL || tool_number(value, 1, INT_MAX, seconds)) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_PARAM, "%s=%.100s is not a whole number of seconds, 1 or more", name, value);
}

SCR_FN int watchdog_main(int argc, char** argv)
{
  static const struct option options[] = {{"dir", required_argument, NULL, 'd'},
                                          {"jobStepId", required_argument, NULL, 'j'},
                                          {"timeout", required_argument, NULL, 't'},
                                          {"timeout-pfs", required_argument, NULL, 'T'},
                                          {"launcher", required_argument, NULL, 'l'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  watchdog                   w;
  scr_hash*                  params;
  int                        c, rc;

  memset(&w, 0, sizeof w);
  w.argv0 = argv[0];
  while ((c = getopt_long(argc, argv, "d:j:t:T:l:h", options, NULL)) != -1) {
    if (c == 'd') w.dir = tool_dir(optarg);
    else if (c == 'j') w.id = optarg;
    else if (c == 'l') w.launcher = optarg;
    else if (c != 't' && c != 'T') return tool_answer(c, argv[0], watchdog_usage, 1);
    else if (!tool_number(optarg, 1, INT_MAX, c == 't' ? &w.timeout : &w.timeout_pfs))
      return tool_usage(argv[0], watchdog_usage, 1, "a timeout is a whole number of seconds, 1 or more");
  }
  if (w.dir == NULL || w.id == NULL || optind != argc)
    return tool_usage(argv[0], watchdog_usage, 1,
                      "the prefix directory or the job step is missing: --dir, --jobStepId");
  if (!tool_is_dir(w.dir)) {
    SCR_ERRNO("cannot open the prefix directory %s", w.dir);
    return tool_fail(argv[0], 1, scr_err_text);
  }
  params = tool_params(w.dir);
  rc = params == NULL ? SCR_ERR_PARAM : watchdog_default(params, "SCR_WATCHDOG_TIMEOUT", &w.timeout);
  if (rc == SCR_SUCCESS) rc = watchdog_default(params, "SCR_WATCHDOG_TIMEOUT_PFS", &w.timeout_pfs);
  scr_hash_delete(&params);
  if (rc == SCR_SUCCESS) rc = watchdog_run(&w);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv[0], 1, scr_err_text);
}

TOOL_MAIN(watchdog_main)
