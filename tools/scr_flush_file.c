/* scr_flush_file - tell from the flush file which datasets are in the cache and on the prefix.  No MPI. */
#include "tool.h"

static const char flush_file_usage[] =
    "scr_flush_file --dir DIR QUESTION\n"
    "Read the flush file of the prefix directory DIR: which datasets are in the cache, and which are on the prefix.\n"
    "\n"
    "  -d, --dir DIR         the prefix directory; it may also follow the options\n"
    "  -l, --latest          print the id of the newest checkpoint\n"
    "  -c, --list-ckpt       print the ids of the checkpoints, newest first\n"
    "  -o, --list-output     print the ids of the output datasets, oldest first\n"
    "  -b, --before ID       with -l, -c or -o: only ids below ID\n"
    "  -n, --need-flush ID   exit 0 if dataset ID is not on the prefix yet (also --needflush)\n"
    "  -L, --location ID     print where dataset ID is, all that hold of SYNC_FLUSHING, FLUSHING, PFS and CACHE;\n"
    "                        or NONE\n"
    "  -s, --name ID         print the name of dataset ID\n"
    "      --subdir ID       print the directory, below the prefix, that dataset ID is flushed to\n"
    "  -h, --help            print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0, or 1 if nothing is found or there is an error.\n";

#define OPT_SUBDIR 1001

/* Returns 1 if the dataset is of the requested kind; one without flags counts as a checkpoint. */
static int flush_file_is_kind(const scr_flush_note* note, int output)
{
  return output ? (note->flags & SCR_FLAG_OUTPUT) != 0 : note->flags & SCR_FLAG_CHECKPOINT || note->flags == 0;
}

/* Print the ids below BEFORE: of output datasets ascending, of checkpoints descending; LATEST: only the first one. */
static int flush_file_list(const scr_record* file, int output, int before, int latest)
{
  scr_flush_note note;
  int            id = output ? 0 : before, n = 0;

  while ((id = output ? scr_flush_file_next(file, id) : scr_flush_file_before(file, id)) != 0 && id < before) {
    if (!scr_flush_file_get(file, id, &note) || !flush_file_is_kind(&note, output)) continue;
    printf(n++ ? " %d" : "%d", id);
    if (latest) break;
  }
  if (n > 0) putchar('\n');
  return n > 0 ? 0 : 1;
}

static int flush_file_print_value(const char* value)
{
  if (*value == '\0') return 1;
  tool_print_line(value);
  return 0;
}

/* Answer question C, an option letter, about dataset ID.  Returns the exit code. */
static int flush_file_answer(const scr_record* file, int c, int id, int before)
{
  scr_flush_note note;
  int            known = scr_flush_file_get(file, id, &note), i, n = 0;

  switch (c) {
  case 'l':
  case 'c':
    return flush_file_list(file, 0, before, c == 'l');
  case 'o':
    return flush_file_list(file, 1, before, 0);
  case 'n':
    return known && !(note.location & SCR_LOCATION_PREFIX) ? 0 : 1;
  case 'L':
    for (i = 0; i < SCR_FLUSH_NLOCATIONS; i++)
      if (note.location & scr_flush_locations[i].bit) n += printf(n > 0 ? " %s" : "%s", scr_flush_locations[i].name);
    puts(n > 0 ? "" : "NONE");
    return n > 0 ? 0 : 1;
  case 's':
    return flush_file_print_value(note.name);
  default: /* --subdir; older releases recorded only the name */
    return flush_file_print_value(*note.dir ? note.dir : note.name);
  }
}

/* Print why there are no answers if DIR cannot be read or has no flush file. */
static void flush_file_explain_nothing(const char* argv0, const char* dir)
{
  char        path[SCR_MAX_FILENAME], text[2 * SCR_MAX_FILENAME];
  struct stat st;

  if (!tool_is_dir(dir))
    snprintf(text, sizeof text, "%s is not a directory that can be read: %s", dir, strerror(errno));
  else if (scr_record_path(dir, "flush.scr", path, sizeof path) == SCR_SUCCESS && scr_os.lstat(path, &st) < 0)
    snprintf(text, sizeof text, "there is no flush file %s: %s", path, strerror(errno));
  else return;
  tool_fail(argv0, 1, text);
}

/* Read the flush file of DIR and answer the question.  Returns the exit code: 1 if the file is missing. */
static int flush_file_ask(const char* argv0, const char* dir, int c, int id, int before)
{
  scr_record file;
  int        result = 1, rc = scr_flush_file_read(&file, dir);

  if (rc == SCR_SUCCESS) flush_file_explain_nothing(argv0, dir);
  if (rc != SCR_SUCCESS) tool_fail(argv0, 1, scr_err_text);
  else result = flush_file_answer(&file, c, id, before);
  scr_record_close(&file, rc, 0);
  return fflush(stdout) == 0 ? result : 1;
}

SCR_FN int flush_file_main(int argc, char** argv)
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
    if (c == 'h' || c == '?' || c == TOOL_OPT_VERSION) return tool_answer(c, argv[0], flush_file_usage, 1);
    if (c == 'd') dir = tool_dir(optarg);
    else if (optarg != NULL && !tool_number(optarg, 1, INT_MAX - 1, c == 'b' ? &before : &id))
      return tool_fail(argv[0], 1, "a dataset id is a whole number from 1 on");
    if (c == 'd' || c == 'b') continue;
    if (question != 0) return tool_fail(argv[0], 1, "only one question at a time; see --help");
    question = c;
  }
  if (dir == NULL && optind < argc) dir = tool_dir(argv[optind++]);
  if (dir == NULL) return tool_usage(argv[0], flush_file_usage, 1, "the prefix directory is missing: --dir DIR");
  if (question == 0)
    return tool_usage(argv[0], flush_file_usage, 1, "the question is missing: one of -l, -c, -o, -n, -L, -s, --subdir");
  if (optind != argc) return tool_usage(argv[0], flush_file_usage, 1, "one directory at a time, and nothing after it");
  return flush_file_ask(argv[0], dir, question, (int)id, (int)before);
}

TOOL_MAIN(flush_file_main)
