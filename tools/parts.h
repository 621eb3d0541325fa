/*
** parts.h - the parts of scr_test_system that are processes of their own: what each node writes and reads, and what
** makes a process or a node fail.
*/
#ifndef SCR_TOOL_PARTS_H
#define SCR_TOOL_PARTS_H

#include "halt.h"

#include <sys/statvfs.h>

#define PARTS_SECONDS 300 /* for the part of a node */
#define PARTS_BLOCK   (1 << 20)
#define PARTS_PAGE    4096

/* Make BLOCK what node INDEX writes at the offset AT of its file: no page is as another one. */
SCR_FN void parts_fill(uint64_t* block, int index, uint64_t at)
{
  const size_t words = PARTS_PAGE / sizeof *block;
  size_t       i;

  if (at == 0)
    for (i = 0; i < PARTS_BLOCK / sizeof *block; i++) block[i] = i * 0x9e3779b97f4a7c15u;
  for (i = 0; i < PARTS_BLOCK / sizeof *block; i += words) {
    block[i] = (uint64_t)index;
    block[i + 1] = at + i * sizeof *block;
  }
}

/* Write, or compare, SIZE bytes of node INDEX at the descriptor FD. */
SCR_FN int parts_pass(int fd, const char* path, int index, uint64_t size, int write)
{
  uint64_t* want = (uint64_t*)scr_malloc(PARTS_BLOCK);
  char*     back = (char*)scr_malloc(PARTS_BLOCK);
  uint64_t  at;
  int       rc = want == NULL || back == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (at = 0; at < size && rc == SCR_SUCCESS; at += PARTS_BLOCK) {
    size_t n = size - at < PARTS_BLOCK ? (size_t)(size - at) : PARTS_BLOCK;
    parts_fill(want, index, at);
    if (write) rc = scr_write_all(fd, want, n) < 0 ? SCR_ERRNO("cannot write %s", path) : SCR_SUCCESS;
    else if (scr_pread_all(fd, back, n, (off_t)at) != (ssize_t)n) rc = SCR_ERRNO("cannot read %s", path);
    else if (memcmp(want, back, n) != 0)
      rc = SCR_ERR(SCR_ERR_IO, "%s has other bytes than were written, after %" PRIu64, path, at);
  }
  if (rc == SCR_SUCCESS && write && fsync(fd) < 0) rc = SCR_ERRNO("cannot sync %s", path);
  scr_free(&want);
  scr_free(&back);
  return rc;
}

/* Write, or read back, the file PATH of node INDEX; SECS receives the time. */
SCR_FN int parts_file(const char* path, int index, uint64_t size, int write, double* secs)
{
  double start;
  int    rc, fd = scr_file_plain(path, write ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY, 0600);

  if (fd < 0) return SCR_ERRNO("cannot %s %s", write ? "create" : "open", path);
  if (!write) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* from the device, not from memory */
  start = scr_wtime();
  rc = parts_pass(fd, path, index, size, write);
  if (scr_os.close(fd) < 0 && write && rc == SCR_SUCCESS) rc = SCR_ERRNO("cannot close %s", path);
  *secs = scr_wtime() - start;
  if (rc != SCR_SUCCESS && write) scr_os.unlink(path);
  return rc;
}

/* The part `write` or `read` of the node INDEX of NODES, in the directory K: print what scr_test_system reads. */
SCR_FN void parts_dir(const char* dir, int k, const char* tag, uint64_t size, int index, const hosts* nodes, int write)
{
  char           path[SCR_MAX_FILENAME];
  struct statvfs fs;
  double         secs = 0, unused;
  int            rc, other = 0;

  if (statvfs(dir, &fs) < 0) rc = SCR_ERRNO("cannot use the directory %s", dir);
  else rc = scr_fmt(path, sizeof path, "%s/%s.%s", dir, tag, nodes->name[index]);
  if (rc == SCR_SUCCESS) rc = parts_file(path, index, size, write, &secs);
  if (rc == SCR_SUCCESS && !write && nodes->n > 1) {
    int next = (index + 1) % nodes->n;
    rc = scr_fmt(path, sizeof path, "%s/%s.%s", dir, tag, nodes->name[next]);
    other = rc == SCR_SUCCESS && access(path, F_OK) == 0 &&
            parts_file(path, next, size < PARTS_PAGE ? size : PARTS_PAGE, 0, &unused) == SCR_SUCCESS;
  }
  scr_err_text[scr_err_length] = '\0';
  if (rc != SCR_SUCCESS) printf("%d error %s\n", k, scr_err_text);
  else if (write) printf("%d write %.6f %.0f\n", k, secs, (double)fs.f_bavail * (double)fs.f_frsize);
  else printf("%d read %.6f %d\n", k, secs, other);
}

/*
** Remove PATH, which the tests have made, as its name says; a directory only where no other user can put another one
** in its place meanwhile.
*/
SCR_FN void parts_remove(const char* path)
{
  const char* name = tool_name(path);
  char        dir[SCR_MAX_FILENAME];

  if (strncmp(name, "scr_test_system.", 16) != 0 && strncmp(name, "scr.scr_test_system.", 20) != 0) return;
  if (!tool_is_dir(path)) scr_os.unlink(path);
  else if (scr_path_dir_of(path, dir, sizeof dir) == SCR_SUCCESS && scr_private_check(dir) == SCR_SUCCESS &&
           scr_private_check(path) == SCR_SUCCESS)
    scr_tree_remove(path);
}

SCR_FN void parts_visit_host(const char* host, const char* kind, const char* dir, void* arg)
{
  char* victim = (char*)arg;

  (void)kind;
  (void)dir;
  if (!system_is_here(host)) snprintf(victim, SYSTEM_HOST_MAX, "%s", host);
}

/* Returns 1 if PROCESSES of the run in DIR, without the library, have begun: each has made a file up.HOST.PID. */
SCR_FN int parts_have_begun(const char* dir, int processes)
{
  struct dirent* e;
  DIR*           d = opendir(dir);
  int            n = 0;

  while (d != NULL && (e = readdir(d)) != NULL) n += strncmp(e->d_name, "up.", 3) == 0;
  if (d != NULL) closedir(d);
  return n >= processes;
}

/* Returns 1 if the run in DIR has a checkpoint. */
SCR_FN int parts_has_checkpoint(const char* dir)
{
  scr_record     file;
  scr_index      index;
  scr_index_item it;
  int            rc, found;

  rc = scr_flush_file_read(&file, dir);
  found = rc == SCR_SUCCESS && scr_flush_file_before(&file, INT_MAX) != 0;
  scr_record_close(&file, rc, 0);
  if (found) return 1;
  found = scr_index_read(&index, dir) == SCR_SUCCESS && scr_index_newest(&index, INT_MAX, NULL, &it) == SCR_SUCCESS;
  scr_index_close(&index, SCR_SUCCESS, 0);
  return found;
}

/* Make the node VICTIM fail by COMMAND. */
SCR_FN int parts_kill_node(const char* command, const char* victim)
{
  char*       line = scr_strdupf("%s \"$0\"", command);
  const char* argv[] = {"sh", "-c", line, victim, NULL};
  system_task t;
  int         rc = SCR_SUCCESS;

  if (line == NULL) return SCR_ERR_OOM();
  system_run_one(&t, argv, 1, PARTS_SECONDS);
  if (t.status != 0)
    rc = SCR_ERR(SCR_ERR_IO, "`%.200s %s` failed with exit code %d: %.300s", command, victim, t.status,
                 system_reason(&t));
  scr_buf_free(&t.out);
  scr_free(&line);
  return rc;
}

/*
** The part `kill`, on this node: wait until the run in DIR has a checkpoint, and make the node fail by COMMAND that has
** rank 0 farthest from it; with COMMAND "", kill rank 0.  Of a run without the library, it is VICTIM that fails, when
** all PROCESSES have begun: a launcher that still starts some would fail otherwise.
*/
SCR_FN int parts_kill(const char* dir, const char* command, const char* victim, int processes)
{
  char     host[SYSTEM_HOST_MAX] = "", path[SCR_MAX_FILENAME];
  halt_run run;
  int      fd, rc = SCR_SUCCESS;

  while (*victim != '\0' ? !parts_have_begun(dir, processes) : !parts_has_checkpoint(dir)) usleep(20000);
  snprintf(host, sizeof host, "%s", victim);
  if (*command == '\0') {
    rc = halt_find_run(dir, &run);
    snprintf(host, sizeof host, "rank 0 on %.200s", run.host);
    if (rc == SCR_SUCCESS) printf("killing %s\n", host);
    fflush(stdout);
    if (rc == SCR_SUCCESS) rc = halt_kill_process(dir, &run);
  } else {
    if (*victim == '\0') rc = scr_nodes_file_walk(dir, parts_visit_host, host);
    if (rc == SCR_SUCCESS && *host == '\0')
      rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the program runs on this node only, which has to survive");
    if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/killed", dir);
    if (rc == SCR_SUCCESS && (fd = scr_os.open(path, O_WRONLY | O_CREAT, 0600)) >= 0) scr_os.close(fd);
    if (rc == SCR_SUCCESS) printf("killing %s\n", host);
    fflush(stdout);
    if (rc == SCR_SUCCESS) rc = parts_kill_node(command, host);
  }
  scr_err_text[scr_err_length] = '\0';
  if (rc == SCR_SUCCESS) printf("killed %s\n", host);
  else printf("%s\n", rc == SCR_ERR_NOT_FOUND && *command == '\0' ? "the run has ended before" : scr_err_text);
  return rc != SCR_SUCCESS;
}

/* The first word of ARGV is a part of the tests; see those who call it for the others.  Returns the exit code. */
SCR_FN int parts_run(int argc, char** argv)
{
  uint64_t size = 0;
  hosts    nodes = {NULL, 0};
  char     self[SYSTEM_HOST_MAX] = "";
  int      i, index = 0, write = strcmp(argv[0], "write") == 0;

  if (strcmp(argv[0], "kill") == 0 && argc == 5) return parts_kill(argv[1], argv[2], argv[3], atoi(argv[4]));
  if (strcmp(argv[0], "remove") == 0) {
    for (i = 1; i < argc; i++) parts_remove(argv[i]);
    return 0;
  }
  if ((!write && strcmp(argv[0], "read") != 0) || argc < 5 || scr_str_bytes(argv[2], &size) != SCR_SUCCESS ||
      hosts_parse(&nodes, argv[4]) != SCR_SUCCESS)
    return 2;
  while (index < nodes.n && strcmp(nodes.name[index], argv[3]) != 0) index++;
  if (index == nodes.n) return 2;
  gethostname(self, sizeof self - 1);
  printf("host %s %.6f\n", self, (double)scr_time_usec() / 1e6);
  fflush(stdout); /* when it arrives tells about the clock */
  for (i = 5; i < argc; i++) parts_dir(argv[i], i - 5, argv[1], size, index, &nodes, write);
  hosts_free(&nodes);
  return 0;
}

#endif
