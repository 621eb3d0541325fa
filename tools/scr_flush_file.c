/* scr_flush_file - ask the flush file which datasets are where.  No MPI. */
#define SCR_SERIAL
#include "../scr_impl.c"
#include "tool.h"

static const char usage[] =
    "scr_flush_file --dir DIR QUESTION\n"
    "Ask the flush file of the prefix directory DIR which datasets are in the cache and which are on the prefix.\n"
    "\n"
    "  -d, --dir DIR         the prefix directory; it may also follow the options\n"
    "  -l, --latest          print the id of the newest checkpoint\n"
    "  -c, --list-ckpt       print the ids of the checkpoints, newest first\n"
    "  -o, --list-output     print the ids of the output datasets, oldest first\n"
    "  -b, --before ID       with -l, -c or -o: only ids below ID\n"
    "  -n, --need-flush ID   exit 0 when dataset ID is not on the prefix yet (also --needflush)\n"
    "  -L, --location ID     print where dataset ID is: SYNC_FLUSHING, FLUSHING, PFS or CACHE, the first of these "
    "that\n"
    "                        holds; or NONE\n"
    "  -s, --name ID         print the name of dataset ID\n"
    "      --subdir ID       print the directory, below the prefix, that dataset ID is flushed to\n"
    "  -h, --help            print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0; 1 when nothing was found, or there is an error.\n";

#define OPT_SUBDIR 1001

/* Where an entry is; NULL when it is nowhere. */
static const char* location(const scr_hash* entry)
{
  static const char* const order[] = {"SYNC_FLUSHING", "FLUSHING", "PFS", "CACHE"};
  size_t                   i;

  for (i = 0; i < sizeof order / sizeof order[0]; i++)
    if (scr_hash_get_kv(entry, "LOCATION", order[i]) != NULL) return order[i];
  return scr_hash_elem_get_first_val(entry, "LOCATION");
}

/* 1 when the entry is of the kind asked for; one that does not say is a checkpoint. */
static int is_kind(const scr_hash* entry, int output)
{
  int is_ckpt = scr_hash_get(entry, "CKPT") != NULL, is_output = scr_hash_get(entry, "OUTPUT") != NULL;

  return output ? is_output : is_ckpt || !is_output;
}

/* Print the ids below BEFORE, at most LIMIT. */
static int list(scr_hash* sets, int output, int before, int limit)
{
  scr_hash_elem* e;
  int            n = 0;

  scr_hash_sort_int(sets, output ? SCR_HASH_SORT_ASCENDING : SCR_HASH_SORT_DESCENDING);
  for (e = scr_hash_elem_first(sets); e != NULL && n < limit; e = scr_hash_elem_next(e)) {
    int id = scr_index_id(scr_hash_elem_key(e));
    if (id != 0 && id < before && is_kind(scr_hash_elem_hash(e), output)) printf(n++ ? " %d" : "%d", id);
  }
  if (n > 0) putchar('\n');
  return n > 0 ? 0 : 1;
}

static int print_value(const char* value)
{
  if (value == NULL) return 1;
  tool_print(value);
  putchar('\n');
  return 0;
}

/* Answer question C about dataset ID. */
static int answer(scr_hash* h, int c, int id, int before)
{
  scr_hash*       sets = scr_hash_get(h, "DSET");
  const scr_hash* entry = scr_hash_get_kv_int(h, "DSET", id);
  const char*     value;

  switch (c) {
  case 'l':
    return list(sets, 0, before, 1);
  case 'c':
    return list(sets, 0, before, INT_MAX);
  case 'o':
    return list(sets, 1, before, INT_MAX);
  case 'n':
    return entry != NULL && !scr_flush_file_has(h, id, "PFS") ? 0 : 1;
  case 'L':
    value = location(entry);
    print_value(value != NULL ? value : "NONE");
    return value != NULL ? 0 : 1;
  case 's':
    return print_value(scr_hash_elem_get_first_val(entry, "NAME"));
  default: /* --subdir; older releases recorded the name only */
    value = scr_hash_elem_get_first_val(entry, "DIR");
    return print_value(value != NULL ? value : scr_hash_elem_get_first_val(entry, "NAME"));
  }
}

/* Say so when DIR cannot be reached, or has no flush file: then there are no answers. */
static void explain_nothing(const char* argv0, const char* dir)
{
  char        path[SCR_MAX_FILENAME], text[2 * SCR_MAX_FILENAME];
  struct stat st;

  if (!tool_is_dir(dir))
    snprintf(text, sizeof text, "%s is no directory that can be reached: %s", dir, strerror(errno));
  else if (scr_record_path(dir, "flush.scr", path, sizeof path) == SCR_SUCCESS && scr_os.lstat(path, &st) < 0)
    snprintf(text, sizeof text, "there is no flush file %s: %s", path, strerror(errno));
  else return;
  tool_fail(argv0, 1, text);
}

/* Read the flush file of DIR and answer.  A file that is missing has no answers. */
static int ask(const char* argv0, const char* dir, int c, int id, int before)
{
  scr_hash* h = scr_hash_new();
  int       result = 1, rc = h == NULL ? SCR_ERR_OOM() : scr_flush_file_read(dir, h);

  if (rc == SCR_SUCCESS) explain_nothing(argv0, dir);
  if (rc != SCR_SUCCESS) tool_fail(argv0, 1, scr_err_text);
  else result = answer(h, c, id, before);
  scr_hash_delete(&h);
  return fflush(stdout) == 0 ? result : 1;
}

int main(int argc, char** argv)
{
  static const struct option options[] = {{"dir", required_argument, NULL, 'd'},
                                          {"latest", no_argument, NULL, 'l'},
                                          {"list-ckpt", no_argument, NULL, 'c'},
                                          {"list-output", no_argument, NULL, 'o'},
                                          {"before", required_argument, NULL, 'b'},
                                          {"need-flush", required_argument, NULL, 'n'},
                                          {"needflush", required_argument, NULL, 'n'},
                                          {"location", required_argument, NULL, 'L'},
                                          {"name", required_argument, NULL, 's'},
                                          {"subdir", required_argument, NULL, OPT_SUBDIR},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char*                dir = NULL;
  int64_t                    id = 0, before = INT_MAX;
  int                        c, question = 0;

  while ((c = getopt_long(argc, argv, "d:lcob:n:L:s:h", options, NULL)) != -1) {
    if (c == 'h' || c == '?' || c == TOOL_OPT_VERSION) return tool_answer(c, argv[0], usage, 1);
    if (c == 'd') dir = optarg;
    else if (optarg != NULL && !tool_number(optarg, 1, INT_MAX - 1, c == 'b' ? &before : &id))
      return tool_fail(argv[0], 1, "a dataset id is a whole number from 1 on");
    if (c == 'd' || c == 'b') continue;
    if (question != 0) return tool_fail(argv[0], 1, "only one question at a time; see --help");
    question = c;
  }
  if (dir == NULL && optind < argc) dir = argv[optind++];
  if (dir == NULL) return tool_usage(argv[0], usage, 1, "the prefix directory is missing: --dir DIR");
  if (question == 0)
    return tool_usage(argv[0], usage, 1, "the question is missing: one of -l, -c, -o, -n, -L, -s, --subdir");
  if (optind != argc) return tool_usage(argv[0], usage, 1, "one directory at a time, and nothing after it");
  return ask(argv[0], dir, question, (int)id, (int)before);
}
