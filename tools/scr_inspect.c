/* scr_inspect, scr_inspect_cache - tell which datasets can be put together from what the caches have.  No MPI. */
#include "cache.h"
#include "dirs.h"
#include "remote.h"

static const char inspect_usage[] =
    "scr_inspect [OPTIONS]\n"
    "Print the ids of the datasets that can be put together from what the caches of the nodes have, newest first: "
    "either\n"
    "no file is missing, or the lost ones can be rebuilt.\n"
    "\n"
    "  -u, --up NODES       the nodes to ask; default: the allocation, as scr_env --nodes prints it\n"
    "  -d, --down NODES     without these\n"
    "  -f, --from DIR       the control directory; default: that of the last run of the job over\n"
    "                       SCR_PREFIX or the working directory, else as scr_list_dir control prints it\n"
    "      --timeout N      seconds for each node; default 60\n"
    "  -j, --json           print a JSON list of all datasets, with how many ranks have all files\n"
    "  -h, --help           print this and exit;  --version  print the version and exit\n"
    "\n"
    "Other nodes are asked by scr_inspect_cache, which runs there as scr_list_down_nodes --help says.\n"
    "Exit 0, or 1 if there is none or an error.\n";

static const char inspect_cache_usage[] =
    "scr_inspect_cache [--prefix PREFIX] FILE | DIR\n"
    "Print a line for each rank and dataset of which the cache of this node has files: FILE is filemap.scrinfo in the\n"
    "control directory DIR.\n"
    "\n"
    "  -p, --prefix PREFIX   only what runs over this prefix directory have left\n"
    "  -h, --help            print this and exit;  --version  print the version and exit\n"
    "\n"
    "GROUPS is the number of sets, GROUP_ID the first rank of the set, FAILURES how many members of it may be lost,\n"
    "RANKS those of the dataset, CREATED and NONCE tell it from others of the same id, and FILES is 1 if all files of\n"
    "the rank are there, with the sizes that they should have.\n"
    "Exit 0, or 1 if a file cannot be read.\n";

#define OPT_INSPECT_TIMEOUT 1001

/* What a node has of a rank's part of a dataset; also a line of scr_inspect_cache. */
typedef struct {
  int          rank, ranks, groups, group_id, group_size, group_rank, failures, files;
  char         type[16];
  scr_identity dataset;
} inspect_part;

#define INSPECT_LINE                                                                                                   \
  "DSET=%d RANK=%d TYPE=%s GROUPS=%d GROUP_ID=%d GROUP_SIZE=%d GROUP_RANK=%d FAILURES=%d RANKS=%d CREATED=%" PRId64    \
  " NONCE=%" PRIx64 " FILES=%d"
#define INSPECT_SCAN                                                                                                   \
  "DSET=%d RANK=%d TYPE=%15s GROUPS=%d GROUP_ID=%d GROUP_SIZE=%d GROUP_RANK=%d FAILURES=%d RANKS=%d CREATED=%" SCNd64  \
  " NONCE=%" SCNx64 " FILES=%d"

/* ---- scr_inspect_cache ---- */

/* Returns 1 if all files of E are on this node, with the right sizes. */
static int inspect_is_whole(const scr_home* home, const scr_entry* e)
{
  char path[SCR_MAX_FILENAME];
  int  i, whole = e->listed;

  for (i = 0; i < e->files && whole; i++)
    whole = e->file[i].complete && scr_entry_path(home, e, e->file[i].rel, path, sizeof path) == SCR_SUCCESS &&
            scr_file_has_size(path, e->file[i].size) == SCR_SUCCESS;
  return whole;
}

/* Print a line for each entry of MAP. */
static int inspect_print_map(const char* dir, const scr_home* home, const scr_filemap* map, void* arg)
{
  int i;

  (void)dir;
  (void)arg;
  for (i = 0; i < map->n; i++) {
    const scr_entry* e = map->entry[i];
    if (e->mark == SCR_MARK_LEAVING) continue; /* it is being deleted */
    printf(INSPECT_LINE "\n", e->desc.identity.id, e->owner, scr_scheme_name(e->red.scheme), e->red.sets, e->red.set_id,
           e->red.set_size, e->red.set_rank, e->red.failures, e->desc.ranks, e->desc.identity.created,
           e->desc.identity.nonce, inspect_is_whole(home, e));
  }
  return SCR_SUCCESS;
}

/* Print what the control directory DIR lists, unless it is of another prefix than ARG, which may be NULL. */
static int inspect_control(const char* dir, void* arg)
{
  const char* prefix = (const char*)arg;

  if (prefix != NULL && cache_check_prefix(dir, prefix) == SCR_ERR_BUSY) return SCR_SUCCESS;
  return cache_read(dir, inspect_print_map, NULL);
}

SCR_FN int inspect_cache_main(int argc, char** argv)
{
  static const struct option options[] = {{"prefix", required_argument, NULL, 'p'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  char                       dir[SCR_MAX_FILENAME];
  char *                     slash, *prefix = NULL;
  int                        c, rc;

  while ((c = getopt_long(argc, argv, "p:h", options, NULL)) != -1) {
    if (c != 'p') return tool_answer(c, argv[0], inspect_cache_usage, 1);
    prefix = optarg;
  }
  if (optind + 1 != argc)
    return tool_usage(argv[0], inspect_cache_usage, 1, "one control directory is needed, or filemap.scrinfo in it");
  rc = scr_path_reduce_str(argv[optind], dir, sizeof dir);
  if (rc == SCR_SUCCESS && prefix != NULL) cache_find(dir, sizeof dir, prefix);
  if (rc == SCR_SUCCESS && !tool_is_dir(dir)) {
    if ((slash = strrchr(dir, '/')) == NULL || strcmp(slash, "/filemap.scrinfo") != 0)
      rc = SCR_ERRNO("cannot open the control directory %s", dir);
    else *slash = '\0';
    if (rc == SCR_SUCCESS) rc = inspect_control(dir, prefix);
  } else if (rc == SCR_SUCCESS) {
    rc = cache_walk(dir, inspect_control, prefix);
  }
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- scr_inspect ---- */

typedef struct {
  inspect_part* part;
  int           n;
} inspect_parts;

/* Add the lines of TEXT to ALL. */
static int inspect_read(inspect_parts* all, const char* text)
{
  const char* line;

  for (line = text; line != NULL; line = strchr(line, '\n')) {
    inspect_part p;
    line += *line == '\n';
    memset(&p, 0, sizeof p);
    if (sscanf(line, INSPECT_SCAN, &p.dataset.id, &p.rank, p.type, &p.groups, &p.group_id, &p.group_size, &p.group_rank,
               &p.failures, &p.ranks, &p.dataset.created, &p.dataset.nonce, &p.files) != 12)
      continue;
    if (!scr_grow(&all->part, all->n, sizeof p)) return SCR_ERR_OOM();
    all->part[all->n++] = p;
  }
  return SCR_SUCCESS;
}

/* The newest dataset first; in it by set and member; of a member on several nodes, the one with all files first. */
static int inspect_compare(const void* pa, const void* pb)
{
  const inspect_part *a = (const inspect_part*)pa, *b = (const inspect_part*)pb;
  int                 c = scr_identity_cmp(&b->dataset, &a->dataset);

  if (c != 0) return c;
  if (a->group_id != b->group_id) return a->group_id < b->group_id ? -1 : 1;
  if (a->group_rank != b->group_rank) return a->group_rank < b->group_rank ? -1 : 1;
  return b->files - a->files;
}

/*
** Returns 1 if the set of PART[0..n), sorted, can be rebuilt; *FOUND receives the members of which all files are there.
** Where members have copies of their left neighbours' files, no more neighbours in a row may be lost.
*/
static int inspect_set(const inspect_part* part, int n, int* found)
{
  scr_scheme scheme = SCR_SCHEME_SINGLE;
  int        i, size = part[0].group_size, last = -1, first = -1, neighbours = 0;

  for (i = *found = 0; i < n; i++) {
    if (!part[i].files || (i > 0 && part[i].group_rank == part[i - 1].group_rank)) continue;
    if (first < 0) first = part[i].group_rank;
    else if (part[i].group_rank - last > part[0].failures + 1) neighbours = 1;
    last = part[i].group_rank;
    ++*found;
  }
  if (*found == 0) return 0;
  scr_scheme_from_name(part[0].type, &scheme);
  if (!scr_scheme_copies(scheme)) return size - *found <= part[0].failures;
  return !neighbours && first + size - last <= part[0].failures + 1;
}

/* Returns 1 if the dataset PART[0..n), sorted, can be put together; *FOUND receives the ranks that have all files. */
static int inspect_dataset(const inspect_part* part, int n, int* found)
{
  int i, k, in_set, members = 0, good = 1;

  for (i = *found = 0; i < n; i = k) {
    for (k = i + 1; k < n && part[k].group_id == part[i].group_id; k++) continue;
    good &= inspect_set(part + i, k - i, &in_set);
    *found += in_set;
    members += part[i].group_size;
  }
  return good && members == part[0].ranks; /* of a set that is not seen, all members are lost */
}

/* Print the datasets of ALL.  Returns 1 if one can be put together. */
static int inspect_print(inspect_parts* all, int json)
{
  int i, k, found, any = 0, n = 0;

  if (all->n > 0) qsort(all->part, (size_t)all->n, sizeof *all->part, inspect_compare);
  for (i = 0; i < all->n; i = k) {
    int good;
    for (k = i + 1; k < all->n && scr_identity_cmp(&all->part[k].dataset, &all->part[i].dataset) == 0; k++) continue;
    good = inspect_dataset(all->part + i, k - i, &found);
    any |= good;
    if (json)
      printf("%s\n  {\"id\": %d, \"type\": \"%s\", \"ranks\": %d, \"whole\": %d, \"recoverable\": %s}",
             n++ > 0 ? "," : "[", all->part[i].dataset.id, all->part[i].type, all->part[i].ranks, found,
             good ? "true" : "false");
    else if (good) printf(n++ > 0 ? " %d" : "%d", all->part[i].dataset.id);
  }
  if (json) puts(n > 0 ? "\n]" : "[]");
  else if (n > 0) putchar('\n');
  return any;
}

/* Ask all of NODES for what they have below the control directory DIR, of runs over PREFIX unless that is NULL. */
static int inspect_ask(const hosts* nodes, const char* prefix, const char* dir, int64_t timeout, inspect_parts* all)
{
  scr_buf     command = {NULL, 0, 0, 0};
  char        path[SCR_MAX_FILENAME];
  const char* line;
  remote_job  job;
  int         i, rc;

  system_sibling("scr_inspect_cache", path, sizeof path);
  scr_buf_quote(&command, path);
  if (prefix != NULL) scr_buf_add(&command, " --prefix ", 10);
  if (prefix != NULL) scr_buf_quote(&command, prefix);
  scr_buf_add(&command, " ", 1);
  scr_buf_quote(&command, dir);
  scr_buf_add(&command, "", 1);
  if (command.failed) return SCR_ERR_OOM();
  line = command.p;
  rc = remote_run_on(&job, nodes, &line, (double)timeout, 0);
  for (i = 0; i < nodes->n && rc == SCR_SUCCESS; i++) {
    system_task* t = &job.task[i];
    rc = inspect_read(all, system_text(t));
    if (t->status == SYSTEM_TIMEOUT) scr_warn("%s has not answered within %d s", nodes->name[i], (int)timeout);
    else if (t->status != 0) scr_warn("%s: exit code %d: %s", nodes->name[i], t->status, system_reason(t));
  }
  remote_free(&job);
  scr_buf_free(&command);
  return rc;
}

/* Ask the nodes of UP without those of DOWN, and print.  *ANY becomes 1 if a dataset can be put together. */
static int inspect_run(const char* up, const char* down, const char* from, int64_t timeout, int json, int* any)
{
  scr_hash*     params = tool_params(tool_prefix());
  hosts         all = {NULL, 0}, bad = {NULL, 0}, nodes = {NULL, 0};
  inspect_parts parts = {NULL, 0};
  char          dir[SCR_MAX_FILENAME];
  int           rc = params == NULL ? SCR_ERR_PARAM : up != NULL ? hosts_parse(&all, up) : system_nodes(&all);

  if (rc == SCR_SUCCESS && down != NULL) rc = hosts_parse(&bad, down);
  if (rc == SCR_SUCCESS) rc = hosts_select(&nodes, &all, &bad, 0);
  if (rc == SCR_SUCCESS && from == NULL) rc = dirs_cntl(params, tool_prefix(), dir, sizeof dir);
  if (rc == SCR_SUCCESS)
    rc = inspect_ask(&nodes, from == NULL ? tool_prefix() : NULL, from != NULL ? from : dir, timeout, &parts);
  if (rc == SCR_SUCCESS) *any = inspect_print(&parts, json);
  scr_free(&parts.part);
  hosts_free(&all);
  hosts_free(&bad);
  hosts_free(&nodes);
  scr_hash_delete(&params);
  return rc;
}

SCR_FN int inspect_main(int argc, char** argv)
{
  static const struct option options[] = {{"up", required_argument, NULL, 'u'},
                                          {"down", required_argument, NULL, 'd'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"timeout", required_argument, NULL, OPT_INSPECT_TIMEOUT},
                                          {"json", no_argument, NULL, 'j'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char *               up = NULL, *down = NULL, *from = NULL;
  int64_t                    timeout = 60;
  int                        c, json = 0, any = 0;

  if (strcmp(tool_name(argv[0]), "scr_inspect_cache") == 0) return inspect_cache_main(argc, argv);
  while ((c = getopt_long(argc, argv, "u:d:f:jh", options, NULL)) != -1) {
    if (c == 'u') up = optarg;
    else if (c == 'd') down = optarg;
    else if (c == 'f') from = optarg;
    else if (c == 'j') json = 1;
    else if (c != OPT_INSPECT_TIMEOUT) return tool_answer(c, argv[0], inspect_usage, 1);
    else if (!tool_number(optarg, 1, INT_MAX, &timeout))
      return tool_usage(argv[0], inspect_usage, 1, "--timeout needs a whole number of seconds");
  }
  if (optind != argc) return tool_usage(argv[0], inspect_usage, 1, "there is nothing to say after the options");
  if (inspect_run(up, down, from, timeout, json, &any) != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 && any ? 0 : 1;
}

TOOL_MAIN(inspect_main)
