/* scr_hostlist, scr_glob_hosts - count, select, compress and expand lists of hosts.  No MPI. */
#include "hosts.h"

static const char hostlist_usage[] =
    "scr_hostlist [OPTION] [HOSTS...]\n"
    "Print the list of hosts HOSTS, such as node[001-003,7],x[1-2]y[3-4], sorted and in the shortest form.\n"
    "\n"
    "  -c, --compress            the same (the default)\n"
    "  -e, --expand              print each host, in the order of HOSTS, with commas between them\n"
    "  -s, --size                print the number of hosts (also --count)\n"
    "  -n, --nth N               print the N-th host: 1 is the first, -1 the last\n"
    "  -m, --minus A:B           print the hosts of A that are not in B (also -d, --diff)\n"
    "  -i, --intersection A:B    print the hosts of A that are in B\n"
    "  -f, --file FILE           more hosts, from FILE, - for the input: one on each line, each taken once; the rest "
    "of "
    "the\n"
    "                            line, from a blank or a colon on, is left out\n"
    "  -j, --json                print a JSON list, or a number\n"
    "  -h, --help                print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0, or 1 if there is an error: not a list of hosts, or no N-th host.\n";

static const char glob_hosts_usage[] =
    "scr_glob_hosts [OPTION] [HOSTS...]\n"
    "Print the list of hosts HOSTS, such as node[001-003,7],x[1-2]y[3-4], sorted and in the shortest form.\n"
    "\n"
    "  -h, --hosts HOSTS         the list; it may also follow the options\n"
    "  -C, --compress            print it in the shortest form (the default)\n"
    "  -c, --count               print the number of hosts\n"
    "  -n, --nth N               print the N-th host: 1 is the first, -1 the last\n"
    "  -m, --minus A:B           print the hosts of A that are not in B\n"
    "  -i, --intersection A:B    print the hosts of A that are in B\n"
    "  -j, --json                print a JSON list, or a number\n"
    "      --help                print this and exit;  --version  print the version and exit\n"
    "\n"
    "scr_hostlist has more options.  Exit 0, or 1 if there is an error: not a list of hosts, or no N-th host.\n";

/* What to print, by the letter of the option: c compress, e expand, s size, n nth, m minus, i intersection. */
typedef struct {
  hosts       list;
  int         what, json;
  const char* argument;
} hostlist_job;

/* Make the list of J what A:B, its argument, and the option say. */
static int hostlist_select(hostlist_job* j)
{
  hosts       a = {NULL, 0}, b = {NULL, 0};
  const char* colon = strchr(j->argument, ':');
  char*       left;
  int         rc;

  if (colon == NULL)
    return SCR_ERR(SCR_ERR_ARG, "%.200s is not two lists of hosts with a colon between them", j->argument);
  left = scr_strdupf("%.*s", (int)(colon - j->argument), j->argument);
  rc = left == NULL ? SCR_ERR_OOM() : hosts_parse(&a, left);
  if (rc == SCR_SUCCESS) rc = hosts_parse(&b, colon + 1);
  if (rc == SCR_SUCCESS) rc = hosts_select(&j->list, &a, &b, j->what == 'i');
  scr_free(&left);
  hosts_free(&a);
  hosts_free(&b);
  return rc;
}

/* Print the N-th host, as the argument says. */
static int hostlist_nth(const hostlist_job* j)
{
  int64_t     n;
  const char* s = j->argument + (*j->argument == '-');

  if (!tool_number(s, 1, HOSTS_MAX, &n))
    return SCR_ERR(SCR_ERR_ARG, "%.200s is not the number of a host: from 1 on, or from -1 down", j->argument);
  if (n > j->list.n) return SCR_ERR(SCR_ERR_NOT_FOUND, "there is no host %s of %d", j->argument, j->list.n);
  s = j->list.name[s == j->argument ? n - 1 : j->list.n - n];
  if (j->json) tool_print_json(s);
  else tool_print(s);
  putchar('\n');
  return SCR_SUCCESS;
}

static int hostlist_print(hostlist_job* j)
{
  int i;

  if (j->what == 's') printf("%d\n", j->list.n);
  else if (j->what == 'n') return hostlist_nth(j);
  else if (j->what != 'e' || j->json) return hosts_print(&j->list, j->json);
  else {
    for (i = 0; i < j->list.n; i++) printf(i > 0 ? ",%s" : "%s", j->list.name[i]);
    putchar('\n');
  }
  return SCR_SUCCESS;
}

/* Do what the options in J say with its list, and that of the words ARGV[0..N).  Returns the exit code. */
static int hostlist_run(const char* argv0, hostlist_job* j, char** argv, int n)
{
  int i, rc = SCR_SUCCESS;

  for (i = 0; i < n && rc == SCR_SUCCESS; i++) rc = hosts_parse(&j->list, argv[i]);
  if (rc == SCR_SUCCESS && j->what != 0 && strchr("mi", j->what) != NULL) rc = hostlist_select(j);
  if (rc == SCR_SUCCESS) rc = hostlist_print(j);
  hosts_free(&j->list);
  if (rc != SCR_SUCCESS) return tool_fail(argv0, 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

/* Take the option C with ARGUMENT, in the letters of scr_hostlist.  Returns 1, or 0 if it asks a second question. */
static int hostlist_enter(hostlist_job* j, int c, const char* argument)
{
  if (c == 'd') c = 'm';
  if (j->what != 0 && j->what != c) return 0;
  j->what = c;
  j->argument = argument;
  return 1;
}

SCR_FN int glob_hosts_main(int argc, char** argv)
{
  static const struct option options[] = {{"hosts", required_argument, NULL, 'h'},
                                          {"compress", no_argument, NULL, 'C'},
                                          {"count", no_argument, NULL, 'c'},
                                          {"nth", required_argument, NULL, 'n'},
                                          {"minus", required_argument, NULL, 'm'},
                                          {"intersection", required_argument, NULL, 'i'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'H'},
                                          {"version", no_argument, NULL, TOOL_OPT_VERSION},
                                          {NULL, 0, NULL, 0}};
  hostlist_job               j;
  int                        c, given = 0;

  memset(&j, 0, sizeof j);
  while ((c = getopt_long(argc, argv, "h:Ccn:m:i:j", options, NULL)) != -1) {
    if (c == 'H' || c == '?' || c == TOOL_OPT_VERSION)
      return tool_answer(c == 'H' ? 'h' : c, argv[0], glob_hosts_usage, 1);
    if (c == 'j') j.json = 1;
    else if (c == 'h') {
      given = 1;
      if (hosts_parse(&j.list, optarg) != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
    } else if (!hostlist_enter(&j, c == 'c' ? 's' : c == 'C' ? 'c' : c, optarg))
      return tool_usage(argv[0], glob_hosts_usage, 1, "one question at a time");
  }
  if (!given && optind == argc && (j.what == 0 || strchr("mi", j.what) == NULL))
    return tool_usage(argv[0], glob_hosts_usage, 1, "the list of hosts is missing");
  return hostlist_run(argv[0], &j, argv + optind, argc - optind);
}

SCR_FN int hostlist_main(int argc, char** argv)
{
  static const struct option options[] = {{"compress", no_argument, NULL, 'c'},
                                          {"expand", no_argument, NULL, 'e'},
                                          {"size", no_argument, NULL, 's'},
                                          {"count", no_argument, NULL, 's'},
                                          {"nth", required_argument, NULL, 'n'},
                                          {"minus", required_argument, NULL, 'm'},
                                          {"diff", required_argument, NULL, 'd'},
                                          {"intersection", required_argument, NULL, 'i'},
                                          {"file", required_argument, NULL, 'f'},
                                          {"json", no_argument, NULL, 'j'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  hostlist_job               j;
  int                        c, given = 0;

  if (strcmp(tool_name(argv[0]), "scr_glob_hosts") == 0) return glob_hosts_main(argc, argv);
  memset(&j, 0, sizeof j);
  while ((c = getopt_long(argc, argv, "cesn:m:d:i:f:jh", options, NULL)) != -1) {
    if (c == 'h' || c == '?' || c == TOOL_OPT_VERSION) return tool_answer(c, argv[0], hostlist_usage, 1);
    if (c == 'j') j.json = 1;
    else if (c == 'f') {
      given = 1;
      if (hosts_read_file(&j.list, optarg) != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
    } else if (!hostlist_enter(&j, c, optarg)) return tool_usage(argv[0], hostlist_usage, 1, "one question at a time");
  }
  if (!given && optind == argc && (j.what == 0 || strchr("mi", j.what) == NULL))
    return tool_usage(argv[0], hostlist_usage, 1, "the list of hosts is missing");
  return hostlist_run(argv[0], &j, argv + optind, argc - optind);
}

TOOL_MAIN(hostlist_main)
