/* scr_check_node - check that the control and cache directories of this node work.  No MPI. */
#include "dirs.h"
#include "system.h"

#include <sys/statvfs.h>

static const char check_node_usage[] =
    "scr_check_node [OPTIONS]\n"
    "Check this node, and print PASS, or FAIL and why: each control and cache directory can be read, is as large as\n"
    "expected, and a file can be written, read and removed there.\n"
    "\n"
    "  -c, --cntl DIR[:BYTES],...    the control directories, and their sizes; default: the base directory of the\n"
    "                                parameters, with the size of its line CNTLDIR=DIR BYTES=SIZE\n"
    "  -C, --cache DIR[:BYTES],...   the same for the cache, with the lines CACHEDIR=DIR BYTES=SIZE\n"
    "  -f, --free                    before a run: compare the sizes with the space that is free, not with that of "
    "the\n"
    "                                file system, and create directories that are missing, as the run would\n"
    "  -t, --test COMMAND            also run COMMAND by the shell; unless it exits with 0 the node fails\n"
    "  -h, --help                    print this and exit;  --version  print the version and exit\n"
    "\n"
    "A size is a number of bytes, or one such as 100GB.\n"
    "Exit 0, or 1 if the node fails or there is an error.\n";

#define CHECK_NODE_SECONDS 60 /* for the user's test */

/* What to check. */
typedef struct {
  const scr_hash* params;
  const scr_hash* lines; /* CNTLDIR or CACHEDIR of the parameters: DIR -> BYTES */
  int             free;
} check_node_job;

/* Write, read and remove a file in DIR. */
static int check_node_write(const char* dir)
{
  char path[SCR_MAX_FILENAME], data[4096], back[sizeof data];
  int  fd, rc = scr_fmt(path, sizeof path, "%s/scr_check_node.%016" PRIx64, dir, scr_random()); /* made by nobody yet */

  if (rc != SCR_SUCCESS) return rc;
  memset(data, 0x5a, sizeof data);
  if ((fd = scr_os.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)) < 0)
    return SCR_ERRNO("cannot create a file in %s", dir);
  if (scr_write_all(fd, data, sizeof data) < 0 || fsync(fd) < 0) rc = SCR_ERRNO("cannot write a file in %s", dir);
  else if (scr_pread_all(fd, back, sizeof back, 0) != (ssize_t)sizeof back || memcmp(data, back, sizeof data) != 0)
    rc = SCR_ERR(SCR_ERR_IO, "a file in %s does not have what was written to it", dir);
  scr_os.close(fd);
  if (scr_os.unlink(path) < 0 && rc == SCR_SUCCESS) rc = SCR_ERRNO("cannot remove a file from %s", dir);
  return rc;
}

/* The bytes of the files below DIR. */
static uint64_t check_node_bytes(const char* dir)
{
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  struct dirent* e;
  DIR*           d = opendir(dir);
  uint64_t       n = 0;

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (scr_fmt(path, sizeof path, "%s/%s", dir, e->d_name) != SCR_SUCCESS || lstat(path, &st) < 0) continue;
    n += S_ISDIR(st.st_mode) ? check_node_bytes(path) : (uint64_t)st.st_size;
  }
  if (d != NULL) closedir(d);
  return n;
}

/*
** Check DIR, which should have BYTES bytes.  Where they are to be free, those are that the job itself has there: what
** an earlier run of it has left is used, or replaced.
*/
static int check_node_dir(const check_node_job* j, const char* dir, uint64_t bytes)
{
  struct statvfs fs;
  char           own[SCR_MAX_FILENAME];
  uint64_t       size;
  DIR*           d;
  int            rc = j->free ? scr_mkdirs(dir, 0755) : SCR_SUCCESS;

  if (rc != SCR_SUCCESS) return rc;
  if ((d = opendir(dir)) == NULL) return SCR_ERRNO("cannot read the directory %s", dir);
  closedir(d);
  if (statvfs(dir, &fs) < 0) return SCR_ERRNO("cannot tell the size of the file system of %s", dir);
  if (fs.f_flag & ST_RDONLY) return SCR_ERR(SCR_ERR_IO, "the file system of %s is mounted read-only", dir);
  size = (uint64_t)(j->free ? fs.f_bavail : fs.f_blocks) * fs.f_frsize;
  if (size < bytes && j->free && dirs_of_job(j->params, dir, NULL, NULL, own, sizeof own) == SCR_SUCCESS)
    size += check_node_bytes(own);
  if (size < bytes)
    return SCR_ERR(SCR_ERR_SPACE, "%s has %" PRIu64 " bytes%s, less than the %" PRIu64 " that are expected", dir, size,
                   j->free ? " free" : "", bytes);
  return check_node_write(dir);
}

/* Check the directories of LIST, DIR[:BYTES],... */
static int check_node_list(const check_node_job* j, const char* list)
{
  char     dir[SCR_MAX_FILENAME];
  uint64_t bytes;
  int      rc = SCR_SUCCESS;

  while (rc == SCR_SUCCESS && *list != '\0') {
    size_t n = strcspn(list, ",");
    char*  colon;
    rc = scr_fmt(dir, sizeof dir, "%.*s", (int)n, list);
    colon = rc == SCR_SUCCESS ? strrchr(dir, ':') : NULL;
    bytes = 0;
    if (colon != NULL && scr_str_bytes(colon + 1, &bytes) != SCR_SUCCESS)
      rc = SCR_ERR(SCR_ERR_ARG, "%s is not a directory and a size, DIR:BYTES", dir);
    if (colon != NULL) *colon = '\0';
    if (rc == SCR_SUCCESS) rc = check_node_dir(j, dir, bytes);
    list += n + (list[n] == ',');
  }
  return rc;
}

/* Check BASE, a directory of the parameters. */
static int check_node_base(const char* base, void* arg)
{
  const check_node_job* j = (const check_node_job*)arg;
  const char*           size = scr_hash_str_or(scr_hash_get(j->lines, base), "BYTES", "0");
  uint64_t              bytes = 0;

  if (scr_str_bytes(size, &bytes) != SCR_SUCCESS && strcmp(size, "0") != 0)
    return SCR_ERR(SCR_ERR_PARAM, "BYTES=%.100s of %s is not a size, such as 100GB", size, base);
  return check_node_dir(j, base, bytes);
}

/* Check the directories of LIST or, if it is NULL, those of the parameters. */
static int check_node_dirs(const scr_hash* params, const char* list, int cache, int free_space)
{
  check_node_job j;

  j.params = params;
  j.lines = scr_param_get_hash(params, cache ? "CACHEDIR" : "CNTLDIR");
  j.free = free_space;
  if (list != NULL) return check_node_list(&j, list);
  return dirs_walk(params, cache, check_node_base, &j);
}

/* Run the user's test. */
static int check_node_test(const char* command)
{
  const char* argv[] = {"sh", "-c", command, NULL};
  system_task t;
  int         rc = SCR_SUCCESS;

  system_run_one(&t, argv, 1, CHECK_NODE_SECONDS);
  if (t.status == SYSTEM_TIMEOUT)
    rc = SCR_ERR(SCR_ERR_IO, "the test %.200s has not ended within %d s", command, CHECK_NODE_SECONDS);
  else if (t.status != 0)
    rc = SCR_ERR(SCR_ERR_IO, "the test %.200s failed with exit code %d: %.300s", command, t.status, system_reason(&t));
  scr_buf_free(&t.out);
  return rc;
}

SCR_FN int check_node_main(int argc, char** argv)
{
  static const struct option options[] = {{"cntl", required_argument, NULL, 'c'},
                                          {"cache", required_argument, NULL, 'C'},
                                          {"free", no_argument, NULL, 'f'},
                                          {"test", required_argument, NULL, 't'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char *               cntl = NULL, *cache = NULL, *test = NULL;
  scr_hash*                  params;
  int                        c, free_space = 0, rc;

  while ((c = getopt_long(argc, argv, "c:C:ft:h", options, NULL)) != -1) {
    if (c == 'c') cntl = optarg;
    else if (c == 'C') cache = optarg;
    else if (c == 'f') free_space = 1;
    else if (c == 't') test = optarg;
    else return tool_answer(c, argv[0], check_node_usage, 1);
  }
  if (optind != argc) return tool_usage(argv[0], check_node_usage, 1, "there is nothing to say after the options");
  params = tool_params(tool_prefix());
  rc = params == NULL ? SCR_ERR_PARAM : check_node_dirs(params, cntl, 0, free_space);
  if (rc == SCR_SUCCESS) rc = check_node_dirs(params, cache, 1, free_space);
  if (rc == SCR_SUCCESS && test != NULL) rc = check_node_test(test);
  scr_hash_delete(&params);
  printf(rc == SCR_SUCCESS ? "PASS" : "FAIL: ");
  scr_err_text[scr_err_length] = '\0'; /* scripts read it: without the place in the source */
  if (rc != SCR_SUCCESS) tool_print(scr_err_text);
  putchar('\n');
  return rc == SCR_SUCCESS && fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(check_node_main)
