/* scr_env - print what the environment and the resource manager say about this job.  No MPI. */
#include "system.h"

static const char env_usage[] =
    "scr_env [--prefix DIR] QUESTION | --json\n"
    "Print what the environment and the resource manager (SLURM, PBS, LSF, Flux, or none) say about this job.\n"
    "\n"
    "  -u, --user         the user\n"
    "  -j, --jobid        the id of the job\n"
    "  -n, --nodes        the nodes of the allocation: SCR_NODELIST, or else those of the resource manager, or else "
    "this\n"
    "                     node\n"
    "  -d, --down         those of them that the resource manager knows to be down\n"
    "  -r, --runnodes     the number of nodes of the last run over the prefix\n"
    "  -e, --endtime      when the allocation ends, in seconds since 1970: SCR_END_TIME, or else by the resource "
    "manager\n"
    "  -t, --runtime      how many seconds it has left\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -J, --json         all of it as one object; what is not known is null\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0, or 1 if it is not known or there is an error.\n";

/* Print S, as JSON if JSON is set. */
static int env_print(const char* s, int json)
{
  if (json) tool_print_json(s);
  else tool_print(s);
  return SCR_SUCCESS;
}

static int env_print_nodes(int down, int json)
{
  hosts nodes = {NULL, 0}, bad = {NULL, 0};
  char* text = NULL;
  int   rc = system_nodes(&nodes);

  if (rc == SCR_SUCCESS && down) rc = system_down(&nodes, &bad);
  if (rc == SCR_SUCCESS) rc = hosts_compress(down ? &bad : &nodes, &text);
  if (rc == SCR_SUCCESS) env_print(text, json);
  scr_free(&text);
  hosts_free(&nodes);
  hosts_free(&bad);
  return rc;
}

/* Print the answer to QUESTION, the letter of an option, as text or JSON. */
static int env_answer(const scr_hash* params, const char* prefix, int question, int json)
{
  char    user[256];
  int64_t end = 0, left;
  int     n = 0, rc = SCR_SUCCESS;

  if (question == 'n' || question == 'd') return env_print_nodes(question == 'd', json);
  if (question == 'j') return env_print(scr_param_job(params), json);
  if (question == 'u') {
    scr_param_user(params, user, sizeof user);
    return env_print(user, json);
  }
  if (question == 'r') {
    if ((rc = scr_nodes_file_read(prefix, &n)) == SCR_SUCCESS) printf("%d", n);
    return rc;
  }
  if ((rc = system_end(params, &end)) != SCR_SUCCESS) return rc;
  left = end - (int64_t)time(NULL);
  printf("%lld", (long long)(question == 'e' ? end : left > 0 ? left : 0));
  return SCR_SUCCESS;
}

/* Print the answers to all questions. */
static void env_print_json(const scr_hash* params, const char* prefix)
{
  static const struct {
    const char* key;
    int         question;
  } all[] = {{"user", 'u'}, {"jobid", 'j'},   {"nodes", 'n'},   {"down", 'd'},
             {"end", 'e'},  {"seconds", 't'}, {"runnodes", 'r'}};
  int    n = 0;
  size_t i;

  tool_print_json_key("manager", &n);
  tool_print_json(scr_manager_names[system_manager(NULL)]);
  for (i = 0; i < sizeof all / sizeof *all; i++) {
    tool_print_json_key(all[i].key, &n);
    if (env_answer(params, prefix, all[i].question, 1) != SCR_SUCCESS) printf("null");
  }
  tool_print_json_key("prefix", &n);
  tool_print_json(prefix);
  printf("}\n");
}

SCR_FN int env_main(int argc, char** argv)
{
  static const struct option options[] = {{"user", no_argument, NULL, 'u'},
                                          {"jobid", no_argument, NULL, 'j'},
                                          {"nodes", no_argument, NULL, 'n'},
                                          {"down", no_argument, NULL, 'd'},
                                          {"runnodes", no_argument, NULL, 'r'},
                                          {"endtime", no_argument, NULL, 'e'},
                                          {"runtime", no_argument, NULL, 't'},
                                          {"prefix", required_argument, NULL, 'p'},
                                          {"json", no_argument, NULL, 'J'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char*                prefix = tool_prefix();
  scr_hash*                  params;
  int                        c, question = 0, rc = SCR_SUCCESS;

  while ((c = getopt_long(argc, argv, "ujndretp:Jh", options, NULL)) != -1) {
    if (c == 'h' || c == '?' || c == TOOL_OPT_VERSION) return tool_answer(c, argv[0], env_usage, 1);
    if (c == 'p') prefix = tool_dir(optarg);
    else if (question != 0) return tool_usage(argv[0], env_usage, 1, "one question at a time");
    else question = c;
  }
  if (optind != argc) return tool_usage(argv[0], env_usage, 1, "there is nothing to say after the options");
  if (question == 0)
    return tool_usage(argv[0], env_usage, 1, "the question is missing: one of -u, -j, -n, -d, -r, -e, -t");
  if ((params = tool_params(prefix)) == NULL) return tool_fail(argv[0], 1, scr_err_text);
  if (question == 'J') env_print_json(params, prefix);
  else if ((rc = env_answer(params, prefix, question, 0)) == SCR_SUCCESS) putchar('\n');
  scr_hash_delete(&params);
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(env_main)
