/* scr_prerun - before the first run of an allocation, check and prepare what the runs need.  No MPI. */
#include "halt.h"
#include "transfer.h"

static const char prerun_usage[] =
    "scr_prerun [OPTIONS]\n"
    "Before the first run of an allocation: check that the programs are here which the commands call, and that the\n"
    "prefix directory can be written; and remove from it what failed scavenges have left and nobody needs any more, "
    "and\n"
    "from the halt file that the last run has ended, which does not concern this allocation.\n"
    "With SCR_FLUSH_ASYNC=1 and SCR_FLUSH_TYPE=DAEMON, start the daemon scr_transfer on each node of the allocation.\n"
    "\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "      --no-daemons   start none\n"
    "  -v, --verbose      accepted for scripts of earlier releases\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "The files of earlier runs stay: the flush file tells which checkpoints are in caches that no run could reach.\n"
    "Exit 0 if the allocation is ready, or 1.  With SCR_ENABLE=0 it does nothing.\n";

enum { OPT_PRERUN_NO_DAEMONS = 1001 };

/* Run scr_test_runtime, which prints what is missing.  Returns its exit code. */
static int prerun_test(void)
{
  const char* none[] = {NULL};
  char*       out;
  int         status = system_run_sibling("scr_test_runtime", none, 0, SYSTEM_SECONDS, &out);

  scr_free(&out);
  return status;
}

/* Make the directory .scr of PREFIX, and write a file there, which scr_record_sweep knows if this process is killed. */
static int prerun_write(const char* prefix)
{
  char path[SCR_MAX_FILENAME];
  int  fd, rc = scr_record_mkdir(prefix);

  if (rc == SCR_SUCCESS)
    rc = scr_fmt(path, sizeof path, "%s/.scr/prefix.scr.%s.%ld.%" PRIu64 ".tmp", prefix, scr_msg_host, (long)getpid(),
                 scr_random());
  if (rc != SCR_SUCCESS) return rc;
  if ((fd = scr_os.open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)) < 0)
    return SCR_ERRNO("cannot create a file in %s/.scr", prefix);
  if (scr_write_all(fd, "SCR", 3) < 0 || fsync(fd) < 0) rc = SCR_ERRNO("cannot write a file in %s/.scr", prefix);
  scr_os.close(fd);
  scr_os.unlink(path);
  return rc;
}

/*
** Remove from the halt file of PREFIX that the last run of JOB, or of one that is not known, has ended: that must not
** keep us from a second run if the first one fails before SCR_Init, which removes it too.
*/
static int prerun_forget_end(const char* prefix, const char* job)
{
  scr_record file;
  int        ended, rc = scr_record_read(&file, prefix, "halt.scr");

  ended = rc == SCR_SUCCESS && scr_halt_is_over(file.h, job);
  scr_record_close(&file, rc, 0);
  if (!ended) return rc;
  rc = scr_record_open(&file, prefix, "halt.scr");
  if (rc == SCR_SUCCESS && scr_halt_is_over(file.h, job)) scr_halt_unset(file.h, SCR_HALT_REASON);
  return scr_record_close(&file, rc, 1);
}

SCR_FN int prerun_main(int argc, char** argv)
{
  static const struct option options[] = {{"prefix", required_argument, NULL, 'p'},
                                          {"no-daemons", no_argument, NULL, OPT_PRERUN_NO_DAEMONS},
                                          {"verbose", no_argument, NULL, 'v'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char*                prefix = tool_prefix();
  scr_hash*                  params;
  int                        c, enable = 1, daemons = 1, rc;

  while ((c = getopt_long(argc, argv, "p:vh", options, NULL)) != -1) {
    if (c == 'v') continue;
    if (c == OPT_PRERUN_NO_DAEMONS) daemons = 0;
    else if (c != 'p') return tool_answer(c, argv[0], prerun_usage, 1);
    else prefix = tool_dir(optarg);
  }
  if (optind != argc) return tool_usage(argv[0], prerun_usage, 1, "there is nothing to say after the options");
  params = tool_params(prefix);
  rc = params == NULL ? SCR_ERR_PARAM : scr_param_int(params, "SCR_ENABLE", &enable);
  if (rc == SCR_SUCCESS && enable && prerun_test() != 0)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the allocation is not ready: a program is missing");
  if (rc == SCR_SUCCESS && enable) rc = prerun_write(prefix);
  if (rc == SCR_SUCCESS && enable && prerun_forget_end(prefix, scr_param_job(params)) != SCR_SUCCESS)
    scr_warn("%s", scr_err_text);
  if (rc == SCR_SUCCESS && enable && scavenge_sweep(prefix) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  if (rc == SCR_SUCCESS && enable && daemons && transfer_is_used(params) &&
      transfer_start(params, prefix) != SCR_SUCCESS)
    scr_warn("%s; a thread of each rank copies in place of the daemons", scr_err_text);
  scr_hash_delete(&params);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv[0], 1, scr_err_text);
}

TOOL_MAIN(prerun_main)
