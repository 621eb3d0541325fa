/* scr_where - print in which node-local directories the last run of a prefix keeps its cache.  No MPI. */
#include "tool.h"

static const char where_usage[] =
    "scr_where [--json] [DIR]\n"
    "Print the control and cache directories of the last run over the prefix directory DIR, on each of its hosts, and\n"
    "the command that makes such a host lose what it has.\n"
    "\n"
    "  -j, --json   print one object\n"
    "  -h, --help   print this and exit;  --version  print the version and exit\n"
    "\n"
    "DIR is SCR_PREFIX by default, or else the working directory.\n"
    "Exit 0, or 1 if no run has recorded where it was.\n";

/* What is printed so far. */
typedef struct {
  int     json;
  char    host[SCR_MAX_FILENAME], kind[16];
  char    last[SCR_MAX_FILENAME]; /* directory */
  scr_buf all;                    /* the directories of the host, as words of the shell */
  int     shared;                 /* 1: one of them has the simulated nodes of another prefix in it */
} where_printed;

/* Returns 1 if there are simulated nodes in DIR on this machine. */
static int where_has_nodes(const char* dir)
{
  struct dirent* e;
  DIR*           d = opendir(dir);
  int            has = 0;

  while (d != NULL && !has && (e = readdir(d)) != NULL) has = strncmp(e->d_name, "node.", 5) == 0;
  if (d != NULL) closedir(d);
  return has;
}

/* Add DIR to what its host loses, unless it was the last one: control and cache may be in one directory. */
static void where_add(where_printed* p, const char* dir)
{
  if (strcmp(dir, p->last) == 0) return;
  snprintf(p->last, sizeof p->last, "%s", dir);
  scr_buf_add(&p->all, " ", 1);
  scr_buf_quote(&p->all, dir);
  p->shared |= where_has_nodes(dir);
}

/* End what was begun for a host. */
static void where_end_host(where_printed* p)
{
  if (*p->host == '\0') return;
  if (p->json) printf("]}");
  else {
    scr_buf_add(&p->all, "", 1);
    if (p->shared) printf("  lose     by hand: node.* in it is the cache of another prefix:");
    else printf("  lose     rm -rf");
    tool_print_line(p->all.p != NULL ? p->all.p : "");
  }
  p->shared = 0;
  *p->last = '\0';
  scr_buf_free(&p->all);
  *p->kind = '\0';
}

/* Print one directory. */
static void where_print_dir(const char* host, const char* kind, const char* dir, void* arg)
{
  where_printed* p = (where_printed*)arg;
  const char*    word = strcmp(kind, "CNTL") == 0 ? "control" : "cache";

  if (strcmp(host, p->host) != 0) {
    where_end_host(p);
    if (p->json) printf("%s\n  {\"host\": ", *p->host ? "," : "");
    if (p->json) tool_print_json(host);
    else tool_print(host);
    if (!p->json) putchar('\n');
    snprintf(p->host, sizeof p->host, "%s", host);
  }
  if (p->json) {
    if (strcmp(word, p->kind) != 0) printf("%s, \"%s\": [", *p->kind ? "]" : "", word);
    else printf(", ");
    tool_print_json(dir);
    snprintf(p->kind, sizeof p->kind, "%s", word);
  } else {
    printf("  %-8s ", word);
    tool_print_line(dir);
  }
  where_add(p, dir);
}

SCR_FN int where_main(int argc, char** argv)
{
  static const struct option options[] = {{"json", no_argument, NULL, 'j'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  static where_printed       p;
  const char*                prefix = tool_prefix();
  int                        c, rc;

  while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
    if (c != 'j') return tool_answer(c, argv[0], where_usage, 1);
    p.json = 1;
  }
  if (optind < argc) prefix = tool_dir(argv[optind++]);
  if (optind != argc) return tool_usage(argv[0], where_usage, 1, "one directory at a time, and nothing after it");
  if (p.json) {
    printf("{\"prefix\": ");
    tool_print_json(prefix);
    printf(", \"hosts\": [");
  }
  rc = scr_nodes_file_walk(prefix, where_print_dir, &p);
  where_end_host(&p);
  if (p.json) printf("]}\n");
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(where_main)
