/* scr_kill_jobstep - end a job step.  No MPI. */
#include "system.h"

static const char kill_jobstep_usage[] =
    "scr_kill_jobstep [--launcher NAME] --jobStepId ID\n"
    "End the job step ID, as scr_get_jobstep_id prints it, and leave the allocation as it is.\n"
    "\n"
    "  -j, --jobStepId ID    the job step\n"
    "  -l, --launcher NAME   what has started it: srun (scancel ends it), flux, jsrun (jskill), or another, such as\n"
    "                        mpiexec, of which ID is the process; default: by the resource manager\n"
    "  -h, --help            print this and exit;  --version  print the version and exit\n"
    "\n"
    "A process gets SIGTERM, and SIGKILL if it is still there after 10 s.\n"
    "Exit 0, or 1 if there is an error.\n";

SCR_FN int kill_jobstep_main(int argc, char** argv)
{
  static const struct option options[] = {{"jobStepId", required_argument, NULL, 'j'},
                                          {"launcher", required_argument, NULL, 'l'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char *               id = NULL, *launcher = NULL;
  int                        c;

  while ((c = getopt_long(argc, argv, "j:l:h", options, NULL)) != -1) {
    if (c == 'j') id = optarg;
    else if (c == 'l') launcher = optarg;
    else return tool_answer(c, argv[0], kill_jobstep_usage, 1);
  }
  if (id == NULL || optind != argc)
    return tool_usage(argv[0], kill_jobstep_usage, 1, "one job step is needed: --jobStepId ID");
  return system_step_kill(id, launcher) == SCR_SUCCESS ? 0 : tool_fail(argv[0], 1, scr_err_text);
}

TOOL_MAIN(kill_jobstep_main)
