/* scr_list_dir - print the control or cache directories of a job.  No MPI. */
#include "dirs.h"

static const char list_dir_usage[] =
    "scr_list_dir [OPTIONS] control | cache\n"
    "Print the control directory, or the directory in each cache, of a job, on one line with blanks between them.\n"
    "\n"
    "  -u, --user USER    the user; default: SCR_USER_NAME, or else that of this process\n"
    "  -j, --jobid ID     the job; default: SCR_JOB_ID, or else that of the resource manager\n"
    "  -b, --base         only the base directories, without user and job\n"
    "  -p, --prefix DIR   where the user file .scrconf is; default: SCR_PREFIX, or else the working directory\n"
    "      --json         print a JSON list\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "The parameters are those that a run would have if it were started here.  scr_where prints which directories the\n"
    "last run really had, on each node.\n"
    "Exit 0, or 1 with the word INVALID if there is an error.\n";

#define OPT_LIST_JSON 1001

typedef struct {
  const scr_hash* params;
  const char *    user, *job;
  int             base, json, n; /* what to print, how, and how many are printed */
} list_dir_job;

static int list_dir_print(const char* base, void* arg)
{
  list_dir_job* j = (list_dir_job*)arg;
  char          dir[SCR_MAX_FILENAME];
  int           rc = SCR_SUCCESS;

  if (j->base) rc = scr_fmt(dir, sizeof dir, "%s", base);
  else rc = dirs_of_job(j->params, base, j->user, j->job, dir, sizeof dir);
  if (rc != SCR_SUCCESS) return rc;
  if (j->n++ > 0) printf(j->json ? ", " : " ");
  if (j->json) tool_print_json(dir);
  else tool_print(dir);
  return SCR_SUCCESS;
}

/* Print the directories that J describes.  Returns the exit code. */
static int list_dir(const char* argv0, list_dir_job* j, const char* prefix, int cache)
{
  scr_hash* params = tool_params(prefix);
  int       rc = SCR_ERR_PARAM;

  j->params = params;
  if (params != NULL) {
    if (j->json) putchar('[');
    rc = dirs_walk(params, cache, list_dir_print, j);
    if (rc == SCR_SUCCESS) puts(j->json ? "]" : "");
  }
  scr_hash_delete(&params);
  if (rc == SCR_SUCCESS) return fflush(stdout) == 0 ? 0 : 1;
  puts("INVALID");
  return tool_fail(argv0, 1, scr_err_text);
}

SCR_FN int list_dir_main(int argc, char** argv)
{
  static const struct option options[] = {{"user", required_argument, NULL, 'u'},
                                          {"jobid", required_argument, NULL, 'j'},
                                          {"base", no_argument, NULL, 'b'},
                                          {"prefix", required_argument, NULL, 'p'},
                                          {"json", no_argument, NULL, OPT_LIST_JSON},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char*                prefix = tool_prefix();
  list_dir_job               j;
  int                        c, cache;

  memset(&j, 0, sizeof j);
  while ((c = getopt_long(argc, argv, "u:j:bp:h", options, NULL)) != -1) {
    if (c == 'u') j.user = optarg;
    else if (c == 'j') j.job = optarg;
    else if (c == 'b') j.base = 1;
    else if (c == 'p') prefix = tool_dir(optarg);
    else if (c == OPT_LIST_JSON) j.json = 1;
    else return tool_answer(c, argv[0], list_dir_usage, 1);
  }
  cache = optind + 1 == argc && strcmp(argv[optind], "cache") == 0;
  if (!cache && (optind + 1 != argc || strcmp(argv[optind], "control") != 0))
    return tool_usage(argv[0], list_dir_usage, 1, "which directories: control or cache?");
  return list_dir(argv[0], &j, prefix, cache);
}

TOOL_MAIN(list_dir_main)
