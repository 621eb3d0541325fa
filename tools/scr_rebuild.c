/* scr_rebuild, scr_rebuild_xor - rebuild lost files of a dataset from the redundancy files that are left.  No MPI. */
#define SCR_SERIAL
#include "../scr_impl.c"
#include "tool.h"

static const char usage[] =
    "scr_rebuild [--dry-run] [--verbose] [--into DIR] DIR...\n"
    "Rebuild the files of a dataset that are missing or damaged, by XOR, PARTNER or RS.\n"
    "\n"
    "  DIR                a dataset directory: files of the application, and redundancy files in its .scr\n"
    "  -i, --into DIR     where to rebuild what nothing is left of; needed when the dataset lies in several\n"
    "                     directories, one from each node.  Default: the only one\n"
    "  -n, --dry-run      tell what is lost, and whether it can be rebuilt; change nothing\n"
    "  -v, --verbose      name each file\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "Files that are not lost stay as they are; what was rebuilt is put in place when its checksum is right, where one\n"
    "is recorded.  Redundancy files are proven by what is rebuilt from them only.  Not for a cache that a run uses.\n"
    "Exit 0 when all is whole or rebuilt; 1 when something cannot be; 2 when the command line is wrong.\n";

static const char usage_xor[] =
    "scr_rebuild_xor SIZE ROOT MISSING FILE...\n"
    "Rebuild one member of an XOR set: the redundancy file MISSING, and the files that its neighbour lists.\n"
    "\n"
    "  SIZE        members of the set\n"
    "  ROOT        which of them is lost, from 0\n"
    "  MISSING     where its redundancy file shall be\n"
    "  FILE...     the redundancy files of the others, in the order of their ranks\n"
    "  -h, --help  print this and exit;  --version  print the version and exit\n"
    "\n"
    "The files of a member lie in the directory of its redundancy file, or above, when that is named .scr.\n"
    "Exit 0 when all is whole or rebuilt; 1 when it cannot be; 2 when the command line is wrong.\n";

/* Each line of what is lost or rebuilt. */
static void say(const char* what)
{
  tool_print(what);
  putchar('\n');
}

/* Print how a set has fared; the exit code. */
static int result(const char* argv0, const scr_rebuild* job, const char* set, int rc)
{
  if (rc != SCR_SUCCESS) {
    fflush(stdout);
    fprintf(stderr, "%s: %s: %s\n", tool_name(argv0), set, scr_err_text);
    return 1;
  }
  if (job->unproven > 0)
    fprintf(stderr, "%s: %s: %d rebuilt file%s no recorded checksum, and could not be verified\n", tool_name(argv0),
            set, job->unproven, job->unproven > 1 ? "s have" : " has");
  if (job->lost == 0) printf("%s: whole\n", set);
  else
    printf("%s: %d file%s %s\n", set, job->lost, job->lost > 1 ? "s" : "", job->dry_run ? "can be rebuilt" : "rebuilt");
  return 0;
}

/* What of SET is lost, for who has not asked before. */
static void tell(scr_rebuild* job, const char* set, const char* into)
{
  int dry_run = job->dry_run;

  job->dry_run = 1;
  job->say = say;
  scr_rebuild_set(job, set, into);
  job->say = NULL;
  job->dry_run = dry_run;
  printf("%s: give the directories of more nodes, or fetch an older checkpoint\n", set);
}

/* Rebuild all sets of the directories of JOB. */
static int rebuild(const char* argv0, scr_rebuild* job, const char* into)
{
  scr_hash *     sets = scr_hash_new(), *first = scr_hash_new();
  scr_hash_elem* e;
  int            i, bad = 0, rc = sets == NULL || first == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (i = 0; i < job->dirs && rc == SCR_SUCCESS; i++) rc = scr_rebuild_find(job->dir[i], sets, first);
  if (rc == SCR_SUCCESS && scr_hash_size(sets) == 0)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there are no redundancy files in %s/.scr%s; give the directory of the dataset",
                 job->dir[0], job->dirs > 1 ? " and the others" : "");
  if (rc != SCR_SUCCESS) bad = tool_fail(argv0, 1, scr_err_text);
  scr_hash_sort(sets, SCR_HASH_SORT_ASCENDING);
  for (e = scr_hash_elem_first(sets); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    int err = scr_rebuild_set(job, scr_hash_elem_key(e), into);
    bad |= result(argv0, job, scr_hash_elem_key(e), err);
    if (err == SCR_ERR_LOST && job->say == NULL) tell(job, scr_hash_elem_key(e), into);
  }
  scr_hash_delete(&sets);
  scr_hash_delete(&first);
  return bad == 0 && fflush(stdout) == 0 ? 0 : 1;
}

/* The old form, where the caller names all redundancy files. */
static int main_xor(int argc, char** argv)
{
  static const struct option options[] = {TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  int64_t                    size, root;
  scr_rebuild                job;
  int                        c, r, bad;

  if ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) return tool_answer(c, argv[0], usage_xor, 2);
  argv += optind - 1, argc -= optind - 1;
  if (argc < 4)
    return tool_usage("scr_rebuild_xor", usage_xor, 2, "the size of the set, the lost one, or files are missing");
  if (!tool_number(argv[1], 2, SCR_SET_SIZE_MAX, &size))
    return tool_usage("scr_rebuild_xor", usage_xor, 2, "the size of the set is not a number of 2 and more");
  if (!tool_number(argv[2], 0, size - 1, &root))
    return tool_usage("scr_rebuild_xor", usage_xor, 2,
                      "the lost member is not a number from 0, below the size of the set");
  if (argc - 3 != size)
    return tool_usage("scr_rebuild_xor", usage_xor, 2, "there must be a redundancy file for each member");
  memset(&job, 0, sizeof job);
  job.n = (int)size;
  job.file = (char**)scr_malloc((size_t)size * sizeof *job.file);
  if (job.file == NULL) return tool_fail("scr_rebuild_xor", 1, "out of memory");
  job.file[root] = argv[3];
  for (r = 0; r < job.n; r++)
    if (r != root) job.file[r] = argv[4 + r - (r > root)];
  bad = result("scr_rebuild_xor", &job, argv[3], scr_rebuild_run(&job));
  scr_free(&job.file);
  return bad == 0 && fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char** argv)
{
  static const struct option options[] = {{"into", required_argument, NULL, 'i'},
                                          {"dry-run", no_argument, NULL, 'n'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char*                into = NULL;
  scr_rebuild                job;
  int                        c, i;

  if (strcmp(tool_name(argv[0]), "scr_rebuild_xor") == 0) return main_xor(argc, argv);
  memset(&job, 0, sizeof job);
  while ((c = getopt_long(argc, argv, "i:nvh", options, NULL)) != -1) {
    if (c == 'i') into = optarg;
    else if (c == 'n') job.dry_run = 1;
    else if (c == 'v') job.say = say;
    else return tool_answer(c, argv[0], usage, 2);
  }
  job.dirs = argc - optind;
  job.dir = (const char* const*)argv + optind;
  if (job.dirs < 1) return tool_usage(argv[0], usage, 2, "the dataset directory is missing");
  if (job.dirs > 1 && into == NULL)
    return tool_usage(argv[0], usage, 2, "with several directories, --into must say where lost files shall go");
  for (i = 0; i < job.dirs; i++)
    if (!tool_is_dir(job.dir[i])) {
      SCR_ERRNO("cannot open the dataset directory %s", job.dir[i]);
      return tool_fail(argv[0], 1, scr_err_text);
    }
  job.keep = into != NULL && (job.dirs > 1 || strcmp(into, job.dir[0]) != 0);
  return rebuild(argv[0], &job, into != NULL ? into : job.dir[0]);
}
