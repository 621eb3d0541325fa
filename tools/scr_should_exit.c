/* scr_should_exit - tell a job script whether to start another run in this allocation.  No MPI. */
#include "halt.h"
#include "system.h"

static const char should_exit_usage[] =
    "scr_should_exit [OPTIONS]\n"
    "Tell whether a job script should end instead of starting another run: the halt file says so, no runs are left, "
    "or\n"
    "fewer nodes work than a run needs.\n"
    "\n"
    "  -p, --prefix DIR      the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "      --down NODES      nodes that do not work, as scr_list_down_nodes prints them; those of SCR_EXCLUDE_NODES, "
    "and\n"
    "                        those that the resource manager knows to be down, count too\n"
    "      --min-nodes N     the nodes that a run needs; default: SCR_MIN_NODES, or else those of the last run\n"
    "      --runs N          the runs that are left; -1, the default, for any number\n"
    "  -v, --verbose         print the answer, and why\n"
    "  -h, --help            print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0 if the script should end, after an error or wrong arguments too; 1 if it should start another run.\n";

enum { OPT_EXIT_DOWN = 1001, OPT_EXIT_MIN, OPT_EXIT_RUNS };

typedef struct {
  const char *prefix, *down;
  int64_t     min_nodes, runs; /* -1: not given */
} should_exit;

/* Make *NEED the number of nodes that a run needs; 0 if nobody tells. */
static int should_exit_need(const should_exit* s, const scr_hash* params, int64_t* need)
{
  const char* value = tool_param(params, "SCR_MIN_NODES");
  int         n = 0, rc = SCR_SUCCESS;

  *need = s->min_nodes;
  if (*need >= 0) return SCR_SUCCESS;
  if (value != NULL && !tool_number(value, 0, INT_MAX, need))
    return SCR_ERR(SCR_ERR_PARAM, "SCR_MIN_NODES=%.100s is not a number of nodes", value);
  if (value == NULL && (rc = scr_nodes_file_read(s->prefix, &n)) == SCR_SUCCESS) *need = n;
  if (rc != SCR_SUCCESS && rc != SCR_ERR_NOT_FOUND)
    scr_warn("%s; set SCR_MIN_NODES to the number of nodes that a run needs", scr_err_text);
  if (*need < 0) *need = 0;
  return SCR_SUCCESS;
}

/* Make *N the number of nodes of the allocation that work, as far as is known. */
static int should_exit_up(const should_exit* s, const scr_hash* params, int* n)
{
  hosts       nodes = {NULL, 0}, bad = {NULL, 0}, up = {NULL, 0};
  const char* excluded = tool_param(params, "SCR_EXCLUDE_NODES");
  int         rc = system_nodes(&nodes);

  if (rc == SCR_SUCCESS && s->down != NULL) rc = hosts_parse(&bad, s->down);
  if (rc == SCR_SUCCESS && excluded != NULL) rc = hosts_parse(&bad, excluded);
  if (rc == SCR_SUCCESS && system_down(&nodes, &bad) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  if (rc == SCR_SUCCESS) rc = hosts_select(&up, &nodes, &bad, 0);
  *n = up.n;
  hosts_free(&nodes);
  hosts_free(&bad);
  hosts_free(&up);
  return rc;
}

/* Returns 1 if the script should end.  TEXT, of N bytes, says why, or why not; after an error it is the error. */
static int should_exit_decide(const should_exit* s, const scr_hash* params, char* text, size_t n)
{
  int64_t need = 0;
  int     up = 0, rc;

  if (halt_forbids_run(s->prefix, text)) return 1;
  if (s->runs == 0) {
    snprintf(text, n, "no runs are left");
    return 1;
  }
  rc = should_exit_need(s, params, &need);
  if (rc == SCR_SUCCESS && need > 0) rc = should_exit_up(s, params, &up);
  if (rc != SCR_SUCCESS) snprintf(text, n, "%s", scr_err_text);
  else if (up < need) snprintf(text, n, "%d nodes work, and a run needs %lld", up, (long long)need);
  else if (need > 0) snprintf(text, n, "%d nodes work, enough for the %lld of a run", up, (long long)need);
  return rc != SCR_SUCCESS || up < need;
}

SCR_FN int should_exit_main(int argc, char** argv)
{
  static const struct option options[] = {{"prefix", required_argument, NULL, 'p'},
                                          {"down", required_argument, NULL, OPT_EXIT_DOWN},
                                          {"min-nodes", required_argument, NULL, OPT_EXIT_MIN},
                                          {"runs", required_argument, NULL, OPT_EXIT_RUNS},
                                          {"verbose", no_argument, NULL, 'v'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  should_exit                s = {NULL, NULL, -1, -1};
  char                       text[SCR_HALT_TEXT_MAX];
  scr_hash*                  params;
  int                        c, verbose = 0, end;

  s.prefix = tool_prefix();
  while ((c = getopt_long(argc, argv, "p:vh", options, NULL)) != -1) {
    if (c == 'p') s.prefix = tool_dir(optarg);
    else if (c == 'v') verbose = 1;
    else if (c == OPT_EXIT_DOWN) s.down = optarg;
    else if (c == OPT_EXIT_RUNS && strcmp(optarg, "-1") == 0) s.runs = -1;
    else if (c != OPT_EXIT_MIN && c != OPT_EXIT_RUNS) return tool_answer(c, argv[0], should_exit_usage, 0);
    else if (!tool_number(optarg, 0, INT_MAX, c == OPT_EXIT_MIN ? &s.min_nodes : &s.runs))
      return tool_usage(argv[0], should_exit_usage, 0, "--min-nodes and --runs need a whole number");
  }
  if (optind != argc) return tool_usage(argv[0], should_exit_usage, 0, "there is nothing to say after the options");
  if (!tool_is_dir(s.prefix)) {
    SCR_ERRNO("cannot open the prefix directory %s", s.prefix);
    return tool_fail(argv[0], 0, scr_err_text);
  }
  if ((params = tool_params(s.prefix)) == NULL) return tool_fail(argv[0], 0, scr_err_text);
  end = should_exit_decide(&s, params, text, sizeof text);
  scr_hash_delete(&params);
  if (verbose) {
    printf("%s: %s: ", tool_name(argv[0]), end ? "EXIT" : "RUN AGAIN");
    tool_print_line(text);
  }
  return end ? 0 : 1;
}

TOOL_MAIN(should_exit_main)
