/* scr_checkpoint - ask a run for a checkpoint now.  No MPI. */
#include "halt.h"

static const char checkpoint_usage[] =
    "scr_checkpoint [OPTIONS] [DIR]\n"
    "Ask the run on the prefix directory DIR to write a checkpoint at its next SCR_Need_checkpoint.\n"
    "\n"
    "  -w, --wait             wait until the checkpoint is complete, and print its name\n"
    "  -t, --timeout SECONDS  wait for at most so long, then take the request back\n"
    "  -f, --flush            also copy it to the prefix before the run goes on\n"
    "  -x, --halt             then end the run, as a halt condition does; the next run is not kept from starting\n"
    "  -h, --help             print this and exit;  --version  print the version and exit\n"
    "\n"
    "The default of DIR is SCR_PREFIX, or else the working directory.  Exit 0; or 1 if there is an error, no run "
    "uses\n"
    "DIR, the checkpoint was not flushed, or the run ended or did not answer in time.\n";

/* What the options say. */
typedef struct {
  int         wishes, wait;
  int64_t     timeout; /* 0: none */
  const char* dir;
} checkpoint_request;

/* Enter the request of R into the halt file as NUMBER. */
static int checkpoint_ask(const checkpoint_request* r, const char* number)
{
  scr_record file;
  int        used = !halt_is_unused(r->dir), rc;

  rc = used ? scr_record_open(&file, r->dir, "halt.scr") : scr_record_read(&file, r->dir, "halt.scr");
  if (rc == SCR_SUCCESS && scr_halt_is_over(file.h, NULL))
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no run uses %s: the last one has ended", r->dir);
  else if (rc == SCR_SUCCESS && !used) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no run uses %s now", r->dir);
  if (rc == SCR_SUCCESS) scr_request_put(file.h, number, r->wishes, r->wait);
  return scr_record_close(&file, rc, used);
}

/* Take the request NUMBER back, or its answer away. */
static int checkpoint_forget(const checkpoint_request* r, const char* number)
{
  scr_record file;
  int        rc = scr_record_open(&file, r->dir, "halt.scr");

  if (rc == SCR_SUCCESS) scr_request_remove(file.h, number);
  return scr_record_close(&file, rc, 1);
}

/* Print the answer A.  SCR_ERR_INVALID if not all was done that was asked for. */
static int checkpoint_tell(const checkpoint_request* r, const scr_answer* a)
{
  if (a->id > 0) {
    tool_print(*a->name ? a->name : "?");
    printf(" (dataset %d) is complete, and %s\n", a->id, a->flushed ? "on the prefix" : "in the cache");
  }
  if (*a->error) return SCR_ERR(SCR_ERR_INVALID, "%s", a->error);
  if (r->wishes & SCR_WISH_FLUSH && !a->flushed)
    return SCR_ERR(SCR_ERR_INVALID, "%s was not copied to the prefix", a->name);
  return SCR_SUCCESS;
}

/* Wait for the answer to the request NUMBER, and print it. */
static int checkpoint_wait(const checkpoint_request* r, const char* number)
{
  scr_answer a;
  scr_record file;
  double     end = scr_wtime() + (double)r->timeout;
  int        state = 0, over, rc = SCR_SUCCESS;

  while (rc == SCR_SUCCESS && state == 0) {
    usleep(200000);
    over = halt_is_unused(r->dir); /* it may have answered before */
    rc = scr_record_read(&file, r->dir, "halt.scr");
    state = scr_request_read(file.h, number, &a);
    over |= scr_halt_is_over(file.h, NULL);
    scr_record_close(&file, rc, 0);
    if (rc == SCR_SUCCESS && state == 0 && over)
      rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no run uses %s any more: the one that was asked has ended", r->dir);
    if (rc == SCR_SUCCESS && state == 0 && r->timeout > 0 && scr_wtime() > end)
      rc = SCR_ERR(SCR_ERR_BUSY, "the run has not answered within %lld s", (long long)r->timeout);
  }
  if (rc == SCR_SUCCESS && state < 0) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "someone has removed the request");
  if (rc == SCR_SUCCESS) rc = checkpoint_tell(r, &a);
  if (state >= 0) {
    scr_err_record why;
    scr_err_save(&why);
    if (checkpoint_forget(r, number) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
    scr_err_restore(&why);
  }
  return rc;
}

SCR_FN int checkpoint_main(int argc, char** argv)
{
  static const struct option options[] = {{"wait", no_argument, NULL, 'w'},
                                          {"timeout", required_argument, NULL, 't'},
                                          {"flush", no_argument, NULL, 'f'},
                                          {"halt", no_argument, NULL, 'x'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  checkpoint_request         r;
  char                       number[32];
  int                        c, rc;

  memset(&r, 0, sizeof r);
  r.wishes = SCR_WISH_CHECKPOINT;
  while ((c = getopt_long(argc, argv, "wt:fxh", options, NULL)) != -1) {
    if (c == 'w') r.wait = 1;
    else if (c == 'f') r.wishes |= SCR_WISH_FLUSH;
    else if (c == 'x') r.wishes |= SCR_WISH_HALT;
    else if (c != 't') return tool_answer(c, argv[0], checkpoint_usage, 1);
    else if (!tool_number(optarg, 1, INT_MAX, &r.timeout))
      return tool_usage(argv[0], checkpoint_usage, 1, "--timeout needs a whole number of seconds above 0");
  }
  if (argc - optind > 1) return tool_usage(argv[0], checkpoint_usage, 1, "only one directory at a time");
  if (r.timeout > 0 && !r.wait) return tool_usage(argv[0], checkpoint_usage, 1, "--timeout is for --wait");
  r.dir = optind < argc ? tool_dir(argv[optind]) : tool_prefix();
  snprintf(number, sizeof number, "%llu", (unsigned long long)(scr_random() >> 1));
  if (!tool_is_dir(r.dir)) rc = SCR_ERRNO("cannot open the prefix directory %s", r.dir);
  else rc = checkpoint_ask(&r, number);
  if (rc == SCR_SUCCESS && r.wait) rc = checkpoint_wait(&r, number);
  else if (rc == SCR_SUCCESS) printf("The run on %s is asked for a checkpoint\n", r.dir);
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(checkpoint_main)
