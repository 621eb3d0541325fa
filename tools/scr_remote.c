/* scr_remote - run a line of the shell on nodes of the allocation.  No MPI. */
#include "remote.h"

static const char remote_usage[] =
    "scr_remote [OPTIONS] COMMAND\n"
    "Run COMMAND, a line for the shell, on each node of the allocation, and print what it prints, each line with its "
    "node.\n"
    "{node} in COMMAND becomes the name of the node.\n"
    "\n"
    "  -n, --nodes NODES  on these, such as node[1-4]; default: the allocation, as scr_env --nodes prints it\n"
    "      --timeout N    seconds for a node; default 60, 0 for any time\n"
    "      --patience N   seconds that it may be silent; the time begins anew when it prints; default 0: any\n"
    "      --once         ask no node again that was not reached\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "So the commands reach other nodes: by the command of SCR_REMOTE_SHELL, which gets a host and a line for the "
    "shell;\n"
    "or else in a job of SLURM by one job step for all nodes; or else, and where srun refuses or does not reach a "
    "node,\n"
    "by ssh.  Beyond 32 nodes, SCR_REMOTE_SHELL and ssh form a tree.\n"
    "Exit 0 if the command ended with 0 on all nodes, 1 if it did not, 2 if there is an error.\n";

enum { OPT_REMOTE_TIMEOUT = 1001, OPT_REMOTE_PATIENCE, OPT_REMOTE_ONCE, OPT_REMOTE_PART };

static struct {
  remote_job job;
  size_t*    told; /* [nodes->n]: bytes of the answers that are printed */
  int        part; /* 1: we are a part of a larger one, and mark lines as remote.h says */
} remote_now;

/* Print the line TEXT of N bytes of NODE. */
static void remote_tell(const char* node, const char* text, size_t n)
{
  if (!remote_now.part) {
    printf("%s: %.*s\n", node, (int)n, text);
    return;
  }
  for (; n > REMOTE_PIECE; text += REMOTE_PIECE, n -= REMOTE_PIECE) printf("p %s %.*s\n", node, REMOTE_PIECE, text);
  printf("o %s %.*s\n", node, (int)n, text);
}

/* The node of the answer T has printed, or ended. */
static void remote_print(system_task* t)
{
  size_t      i = (size_t)(t - remote_now.job.task), n = t->out.n, *told = &remote_now.told[i];
  const char *node = remote_now.job.nodes->name[i], *from, *end;
  int         over = t->status != REMOTE_SILENT;

  if (over && n > 0) n--; /* the NUL */
  if (*told > n) *told = 0;
  while (*told < n && !(remote_now.part && t->status == REMOTE_LOST)) {
    from = t->out.p + *told;
    end = (const char*)memchr(from, '\n', n - *told);
    if (end == NULL && !over) break;
    if (end == NULL) end = from + (n - *told);
    remote_tell(node, from, (size_t)(end - from));
    *told = (size_t)(end - t->out.p) + 1;
  }
  if (over && remote_now.part && t->status != REMOTE_LOST) printf("x %s %d\n", node, t->status);
  else if (over && !remote_now.part && t->status == SYSTEM_TIMEOUT) printf("%s: no answer in time\n", node);
  else if (over && !remote_now.part && t->status != 0) printf("%s: exit code %d\n", node, t->status);
  fflush(stdout);
}

/* Run the line COMMAND on NODES.  Returns the exit code. */
static int remote_do(const char* argv0, const hosts* nodes, const char* command)
{
  remote_job* j = &remote_now.job;
  int         i, bad = 0, rc = SCR_SUCCESS;

  j->nodes = nodes;
  j->command = &command;
  j->same = 1;
  j->heard = remote_print;
  if ((remote_now.told = (size_t*)scr_malloc(((size_t)nodes->n + 1) * sizeof *remote_now.told)) == NULL)
    rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = remote_begin(j);
  if (rc == SCR_SUCCESS && remote_now.part) printf("b %s\n", j->here);
  fflush(stdout);
  if (rc == SCR_SUCCESS) rc = remote_run(j);
  for (i = 0; rc == SCR_SUCCESS && i < nodes->n; i++) bad |= j->task[i].status != 0;
  remote_free(j);
  scr_free(&remote_now.told);
  return rc == SCR_SUCCESS && fflush(stdout) == 0 ? bad : tool_fail(argv0, 2, scr_err_text);
}

SCR_FN int remote_main(int argc, char** argv)
{
  static const struct option options[] = {{"nodes", required_argument, NULL, 'n'},
                                          {"timeout", required_argument, NULL, OPT_REMOTE_TIMEOUT},
                                          {"patience", required_argument, NULL, OPT_REMOTE_PATIENCE},
                                          {"once", no_argument, NULL, OPT_REMOTE_ONCE},
                                          {"part", required_argument, NULL, OPT_REMOTE_PART},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  hosts                      nodes = {NULL, 0};
  const char*                list = NULL;
  remote_job*                j = &remote_now.job;
  int64_t                    seconds = 60, patience = 0;
  int                        c, code, rc;

  while ((c = getopt_long(argc, argv, "+n:h", options, NULL)) != -1) {
    if (c == 'n') list = optarg;
    else if (c == OPT_REMOTE_ONCE) j->once = 1;
    else if (c == OPT_REMOTE_PART) j->here = strcmp(optarg, "-") == 0 ? system_env("SLURMD_NODENAME") : optarg;
    else if (c != OPT_REMOTE_TIMEOUT && c != OPT_REMOTE_PATIENCE) return tool_answer(c, argv[0], remote_usage, 2);
    else if (!tool_number(optarg, 0, INT_MAX, c == OPT_REMOTE_TIMEOUT ? &seconds : &patience))
      return tool_usage(argv[0], remote_usage, 2, "--timeout and --patience need a whole number of seconds");
  }
  if (optind + 1 != argc) return tool_usage(argv[0], remote_usage, 2, "one line for the shell is needed");
  remote_now.part = j->here != NULL;
  j->seconds = seconds > 0 ? (double)seconds : 1e9;
  j->patience = (double)patience;
  if (list != NULL) rc = hosts_parse(&nodes, list);
  else rc = j->here != NULL ? hosts_add(&nodes, j->here) : system_nodes(&nodes);
  code = rc == SCR_SUCCESS ? remote_do(argv[0], &nodes, argv[optind]) : tool_fail(argv[0], 2, scr_err_text);
  hosts_free(&nodes);
  return code;
}

TOOL_MAIN(remote_main)
