/* scr_rebuild, scr_rebuild_xor - rebuild lost files of a dataset from the redundancy files that are left.  No MPI. */
#include "tool.h"

static const char rebuild_usage[] =
    "scr_rebuild [--dry-run] [--verbose] [--into DIR] DIR...\n"
    "Rebuild the missing and damaged files of a dataset, from redundancy data of XOR, PARTNER or RS.\n"
    "\n"
    "  DIR                a dataset directory, with files of the application, and redundancy files in .scr\n"
    "  -i, --into DIR     where to rebuild the files of a member of which nothing is left.  The default is DIR;\n"
    "                     with several directories, one from each node, --into is required\n"
    "  -n, --dry-run      report what is lost, and whether it can be rebuilt; change nothing\n"
    "  -v, --verbose      print the name of each lost and rebuilt file\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "Files that are not lost stay unchanged.  A rebuilt file is put in place only if its checksum is right, where one "
    "is\n"
    "recorded.  Damage inside a redundancy file is found only when a file that is rebuilt from it has a wrong "
    "checksum.\n"
    "Do not use this command on a cache that a run is using.\n"
    "Exit 0 if all files are whole or rebuilt, 1 if some cannot be rebuilt, 2 if the command line is wrong.\n";

static const char rebuild_xor_usage[] =
    "scr_rebuild_xor SIZE ROOT MISSING FILE...\n"
    "Rebuild one member of an XOR set: its redundancy file MISSING, and its files, which its neighbour lists.\n"
    "\n"
    "  SIZE        number of members of the set\n"
    "  ROOT        number of the lost member, from 0\n"
    "  MISSING     path at which to rebuild its redundancy file\n"
    "  FILE...     redundancy files of the other members, in the order of their ranks\n"
    "  -h, --help  print this and exit;  --version  print the version and exit\n"
    "\n"
    "The files of a member are in the directory of its redundancy file or, if that is named .scr, in its parent.\n"
    "Exit 0 if all files are whole or rebuilt, 1 if some cannot be rebuilt, 2 if the command line is wrong.\n";

/* Print a line about a file that is lost or rebuilt. */
static void rebuild_say(const char* what)
{
  tool_print_line(what);
}

/* Print the result of rebuilding SET.  Returns the exit code. */
static int rebuild_result(const char* argv0, const scr_rebuild* job, const char* set, int rc)
{
  if (rc != SCR_SUCCESS) {
    fflush(stdout);
    fprintf(stderr, "%s: ", tool_name(argv0));
    tool_put(stderr, set);
    fputs(": ", stderr);
    tool_put(stderr, scr_err_text);
    fputc('\n', stderr);
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

/* SET, whose files are called LABEL, cannot be rebuilt: list what is lost of it, which was not printed before. */
static void rebuild_list_lost(scr_rebuild* job, const char* set, const char* label, const char* into)
{
  int dry_run = job->dry_run;

  job->dry_run = 1;
  job->say = rebuild_say;
  scr_rebuild_set(job, set, into);
  job->say = NULL;
  job->dry_run = dry_run;
  printf("%s: give the directories of more nodes, or fetch an older checkpoint\n", label);
}

/* Fence DIR (B3) until this process ends. */
static int rebuild_fence(const char* dir)
{
  scr_fence* f = (scr_fence*)scr_malloc(sizeof *f);

  if (f == NULL) return SCR_ERR_OOM();
  scr_fence_set(f, dir);
  return SCR_SUCCESS;
}

/* Rebuild all sets in the directories of JOB.  Returns the exit code. */
static int rebuild(const char* argv0, scr_rebuild* job, const char* into)
{
  scr_rebuild_sets sets;
  int              i, bad = 0, rc = SCR_SUCCESS, made = !job->dry_run && !tool_is_dir(into);

  memset(&sets, 0, sizeof sets);
  if (made) rc = scr_mkdirs(into, 0777);
  if (rc == SCR_SUCCESS) rc = rebuild_fence(into);
  for (i = 0; i < job->dirs && rc == SCR_SUCCESS; i++) rc = rebuild_fence(job->dir[i]);
  for (i = 0; i < job->dirs && rc == SCR_SUCCESS; i++) rc = scr_rebuild_find(job->dir[i], &sets);
  if (rc == SCR_SUCCESS && sets.n == 0)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there are no redundancy files in %s/.scr%s; give the directory of the dataset",
                 job->dir[0], job->dirs > 1 ? " and the others" : "");
  if (rc != SCR_SUCCESS) bad = tool_fail(argv0, 1, scr_err_text);
  for (i = 0; i < sets.n && rc == SCR_SUCCESS; i++) {
    char label[100]; /* of all its redundancy files */
    int  err = scr_rebuild_set(job, sets.name[i], into);
    snprintf(label, sizeof label, "*_%s", sets.name[i]);
    bad |= rebuild_result(argv0, job, label, err);
    if (err == SCR_ERR_LOST && job->say == NULL) rebuild_list_lost(job, sets.name[i], label, into);
  }
  scr_rebuild_sets_free(&sets);
  if (made) scr_os.rmdir(into); /* if nothing was to be made there */
  return bad == 0 && fflush(stdout) == 0 ? 0 : 1;
}

/* scr_rebuild_xor, the older form, in which the caller names all redundancy files. */
static int rebuild_xor_main(int argc, char** argv)
{
  static const struct option options[] = {TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  char                       dir[SCR_MAX_FILENAME], (*whole)[SCR_MAX_FILENAME];
  int64_t                    size, root;
  scr_rebuild                job;
  int                        c, r, bad, rc = SCR_SUCCESS;

  if ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) return tool_answer(c, argv[0], rebuild_xor_usage, 2);
  argv += optind - 1, argc -= optind - 1;
  if (argc < 4)
    return tool_usage("scr_rebuild_xor", rebuild_xor_usage, 2,
                      "the size of the set, the lost member, or files are missing");
  if (!tool_number(argv[1], 2, SCR_SET_SIZE_MAX, &size))
    return tool_usage("scr_rebuild_xor", rebuild_xor_usage, 2, "the size of the set is not a number of 2 and more");
  if (!tool_number(argv[2], 0, size - 1, &root))
    return tool_usage("scr_rebuild_xor", rebuild_xor_usage, 2,
                      "the lost member is not a number from 0, below the size of the set");
  if (argc - 3 != size)
    return tool_usage("scr_rebuild_xor", rebuild_xor_usage, 2, "there must be a redundancy file for each member");
  memset(&job, 0, sizeof job);
  job.n = (int)size;
  job.file = (char**)scr_malloc((size_t)size * sizeof *job.file);
  whole = (char(*)[SCR_MAX_FILENAME])scr_malloc((size_t)size * sizeof *whole);
  if (job.file == NULL || whole == NULL) {
    SCR_ERR_OOM();
    return tool_fail("scr_rebuild_xor", 1, scr_err_text);
  }
  job.file[root] = argv[3];
  for (r = 0; r < job.n; r++)
    if (r != root) job.file[r] = argv[4 + r - (r > root)];
  for (r = 0; r < job.n; r++) /* below its fence */
    if (strchr(job.file[r], '/') == NULL) job.file[r] = (char*)(uintptr_t)tool_whole(job.file[r], whole[r]);
  for (r = 0; r < job.n && rc == SCR_SUCCESS; r++)
    if ((rc = scr_rebuild_home(job.file[r], dir, sizeof dir)) == SCR_SUCCESS) rc = rebuild_fence(dir);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_run(&job);
  bad = rebuild_result("scr_rebuild_xor", &job, argv[3], rc);
  scr_free(&job.file);
  scr_free(&whole);
  return bad == 0 && fflush(stdout) == 0 ? 0 : 1;
}

SCR_FN int rebuild_main(int argc, char** argv)
{
  static const struct option options[] = {{"into", required_argument, NULL, 'i'},
                                          {"dry-run", no_argument, NULL, 'n'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char*                into = NULL;
  scr_rebuild                job;
  int                        c, i;

  if (strcmp(tool_name(argv[0]), "scr_rebuild_xor") == 0) return rebuild_xor_main(argc, argv);
  memset(&job, 0, sizeof job);
  while ((c = getopt_long(argc, argv, "i:nvh", options, NULL)) != -1) {
    if (c == 'i') into = optarg;
    else if (c == 'n') job.dry_run = 1;
    else if (c == 'v') job.say = rebuild_say;
    else return tool_answer(c, argv[0], rebuild_usage, 2);
  }
  job.dirs = argc - optind;
  job.dir = (const char* const*)argv + optind;
  if (job.dirs < 1) return tool_usage(argv[0], rebuild_usage, 2, "the dataset directory is missing");
  if (job.dirs > 1 && into == NULL)
    return tool_usage(argv[0], rebuild_usage, 2,
                      "with several directories, --into must tell where to rebuild lost files");
  for (i = 0; i < job.dirs; i++)
    if (!tool_is_dir(job.dir[i])) {
      SCR_ERRNO("cannot open the dataset directory %s", job.dir[i]);
      return tool_fail(argv[0], 1, scr_err_text);
    }
  job.keep = into != NULL && (job.dirs > 1 || strcmp(into, job.dir[0]) != 0);
  return rebuild(argv[0], &job, into != NULL ? into : job.dir[0]);
}

TOOL_MAIN(rebuild_main)
