/* scr_get_jobstep_id - print the id of the job step that a launcher has started.  No MPI. */
#include "system.h"

static const char get_jobstep_id_usage[] =
    "scr_get_jobstep_id PID\n"
    "Print the id by which scr_kill_jobstep and scr_watchdog end the job step that the launcher with the process id\n"
    "PID has started: in SLURM the newest step of the job, but for those named scr_remote, by which these commands\n"
    "reach other nodes, in Flux the newest job, otherwise PID itself.\n"
    "\n"
    "  -h, --help   print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0; or 1, with -1 for the id, if there is no such step.\n";

SCR_FN int get_jobstep_id_main(int argc, char** argv)
{
  static const struct option options[] = {TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  char                       id[SCR_MAX_FILENAME];
  pid_t                      pid;
  int                        c;

  if ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) return tool_answer(c, argv[0], get_jobstep_id_usage, 1);
  if (optind + 1 != argc || !system_is_pid(argv[optind], &pid))
    return tool_usage(argv[0], get_jobstep_id_usage, 1, "the number of one process is needed, that of the launcher");
  if (system_step_find(pid, id, sizeof id) != SCR_SUCCESS) {
    puts("-1");
    return tool_fail(argv[0], 1, scr_err_text);
  }
  puts(id);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(get_jobstep_id_main)
