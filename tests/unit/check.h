/*
** check.h - the frame of the unit suites: checks, a scratch directory, and faults of the operating system.
**
** A check is a place in a suite: it counts once, as failed if it ever failed.  The last line of the output is
** `N passed, N failed, N skipped`; the exit code is 1 when a check failed or none ran.
**
** Faults: check_fault(MODE, ERR, N) replaces every entry of scr_os; the N-th call that the mode concerns is struck.
** check_fault_end() puts the entries back and tells whether a fault was left to strike.  So a test runs for N = 1, 2, 3
** and so on, until check_fault_end() is 0: then every call of the operation has failed once.
*/
#ifndef CHECK_H
#define CHECK_H

#include <ftw.h>
#include <signal.h>
#include <sys/wait.h>

#ifndef CHECK_DATA
#define CHECK_DATA "tests/data" /* the suites run in the top directory */
#endif

/* Sanitized code may take this much longer. */
#if defined(__SANITIZE_ADDRESS__)
#define CHECK_SLOWER 8
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECK_SLOWER 8
#endif
#endif
#ifndef CHECK_SLOWER
#define CHECK_SLOWER 1
#endif

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static int  check_passed, check_failed, check_skipped;
static char check_dir[128]; /* scratch, removed at the end */

/* Enter the outcome of the place SITE (0 new, 1 passed, 2 failed), and print WHAT when it fails for the first time. */
SCR_FN SCR_FORMAT(5, 6) void check_note(int* site, int ok, const char* file, int line, const char* what, ...)
{
  va_list ap;

  if (*site == 0) {
    check_passed++;
    *site = 1;
  }
  if (ok || *site == 2) return;
  *site = 2;
  check_passed--;
  check_failed++;
  printf("%s:%d: ", file, line);
  va_start(ap, what);
  vprintf(what, ap);
  va_end(ap);
  printf("%s%s\n", *scr_err_text ? "; last message: " : "", scr_err_text);
  fflush(stdout);
}

SCR_FN void check_int(int* site, long long a, long long b, const char* file, int line, const char* what)
{
  check_note(site, a == b, file, line, "%s is %lld, not %lld", what, a, b);
}

SCR_FN void check_str(int* site, const char* a, const char* b, const char* file, int line, const char* what)
{
  int ok = a != NULL && b != NULL ? strcmp(a, b) == 0 : a == b;
  check_note(site, ok, file, line, "%s is \"%s\", not \"%s\"", what, a ? a : "(null)", b ? b : "(null)");
}

#define CHECK(cond)                                                                                                    \
  do {                                                                                                                 \
    static int check_site;                                                                                             \
    check_note(&check_site, (cond) ? 1 : 0, __FILE__, __LINE__, "%s", "not " #cond);                                   \
  } while (0)

#define CHECK_INT(a, b)                                                                                                \
  do {                                                                                                                 \
    static int check_site;                                                                                             \
    check_int(&check_site, (long long)(a), (long long)(b), __FILE__, __LINE__, #a);                                    \
  } while (0)

#define CHECK_STR(a, b)                                                                                                \
  do {                                                                                                                 \
    static int check_site;                                                                                             \
    check_str(&check_site, (a), (b), __FILE__, __LINE__, #a);                                                          \
  } while (0)

/* Count something that cannot be tested here. */
SCR_FN void check_skip(const char* why)
{
  check_skipped++;
  printf("skipped: %s\n", why);
}

/* ---- suites ---------------------------------------------------------------------------------------------------- */

typedef struct {
  const char* name;
  void (*run)(void);
} check_suite;

SCR_FN int check_remove(const char* path, const struct stat* st, int type, struct FTW* at)
{
  (void)st, (void)type, (void)at;
  return remove(path);
}

/* Run the suites that the arguments name, or all; the exit code of the program. */
SCR_FN int check_main(const check_suite* suites, int argc, char** argv)
{
  const check_suite* s;
  const char*        tmp = getenv("TMPDIR");
  int                i;

  if (tmp == NULL || *tmp == '\0') tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* disks may be busy */
  snprintf(check_dir, sizeof check_dir, "%.100s/scr_unit.XXXXXX", tmp);
  if (mkdtemp(check_dir) == NULL) {
    perror(check_dir);
    return 1;
  }
  for (s = suites; s->name != NULL; s++) {
    int    passed = check_passed, failed = check_failed;
    double start = scr_wtime();
    for (i = 1; i < argc && strcmp(argv[i], s->name) != 0; i++) continue;
    if (argc > 1 && i == argc) continue;
    scr_oom = 0;
    scr_err_text[0] = '\0';
    s->run();
    printf("%-12s %4d passed, %d failed, %.2f s\n", s->name, check_passed - passed, check_failed - failed,
           scr_wtime() - start);
    fflush(stdout);
  }
  nftw(check_dir, check_remove, 16, FTW_DEPTH | FTW_PHYS);
  printf("%d passed, %d failed, %d skipped\n", check_passed, check_failed, check_skipped);
  return check_failed > 0 || check_passed == 0;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* The path of NAME in the scratch directory, in one of sixteen buffers that take turns. */
SCR_FN const char* check_path(const char* name)
{
  static char     path[16][SCR_MAX_FILENAME];
  static unsigned turn;

  turn = (turn + 1) % 16;
  snprintf(path[turn], sizeof path[turn], "%s/%s", check_dir, name);
  return path[turn];
}

/* Make PATH a file of the N bytes of DATA. */
SCR_FN void check_put(const char* path, const void* data, size_t n)
{
  FILE* f = fopen(path, "wb");

  CHECK(f != NULL);
  if (f == NULL) return;
  CHECK(fwrite(data, 1, n, f) == n);
  CHECK_INT(fclose(f), 0);
}

/* The bytes of the file PATH, at most N of them, into DATA; how many. */
SCR_FN size_t check_get(const char* path, void* data, size_t n)
{
  FILE*  f = fopen(path, "rb");
  size_t got = 0;

  CHECK(f != NULL);
  if (f == NULL) return 0;
  got = fread(data, 1, n, f);
  fclose(f);
  return got;
}

/* How many names the directory PATH has, besides . and .. */
SCR_FN int check_names(const char* path)
{
  DIR*           d = opendir(path);
  struct dirent* e;
  int            n = -2;

  CHECK(d != NULL);
  if (d == NULL) return -1;
  while ((e = readdir(d)) != NULL) n++;
  closedir(d);
  return n;
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

enum {
  CHECK_FAIL,  /* the N-th call fails */
  CHECK_DEAD,  /* the N-th call and all later ones fail */
  CHECK_SHORT, /* the N-th transfer moves half of its bytes */
  CHECK_TORN,  /* the N-th transfer moves half of its bytes, and all later ones fail */
  CHECK_KILL,  /* the process dies before the N-th call, in the middle of it when it is a transfer */
  CHECK_COUNT  /* nothing is struck; check_fault_calls counts */
};

static scr_os_table check_os; /* the real entries */
static int          check_fault_mode, check_fault_errno, check_fault_left, check_fault_hit, check_fault_syncs;

/* 1 when this call, which may be a TRANSFER, is struck; errno is then set. */
SCR_FN int check_fault_strikes(int transfer)
{
  int all = check_fault_mode == CHECK_DEAD || check_fault_mode == CHECK_TORN;

  if (check_fault_mode == CHECK_COUNT) return 0;
  if ((check_fault_mode == CHECK_SHORT || check_fault_mode == CHECK_TORN) && !transfer) return 0;
  if (--check_fault_left > 0 || (check_fault_left < 0 && !all)) return 0;
  check_fault_hit = 1;
  if (check_fault_mode == CHECK_KILL && !transfer) kill(getpid(), SIGKILL);
  errno = check_fault_errno;
  return 1;
}

/* The bytes that a struck transfer of N still moves: none when it fails. */
SCR_FN size_t check_fault_part(size_t n)
{
  if (check_fault_mode == CHECK_FAIL || check_fault_mode == CHECK_DEAD) return 0;
  return check_fault_mode == CHECK_TORN && check_fault_left < 0 ? 0 : (n + 1) / 2;
}

/* The end of a struck transfer, of which K bytes moved. */
SCR_FN ssize_t check_fault_moved(ssize_t k)
{
  if (check_fault_hit && check_fault_mode == CHECK_KILL) kill(getpid(), SIGKILL);
  return k;
}

SCR_FN int check_fault_open(const char* path, int flags, mode_t mode)
{
  return check_fault_strikes(0) ? -1 : check_os.open(path, flags, mode);
}

SCR_FN int check_fault_close(int fd)
{
  int err = check_fault_strikes(0) ? errno : 0, rc = check_os.close(fd); /* a close that fails closes all the same */

  if (err != 0) errno = err;
  return err != 0 ? -1 : rc;
}

SCR_FN ssize_t check_fault_read(int fd, void* buf, size_t n)
{
  size_t part = check_fault_strikes(1) ? check_fault_part(n) : n;
  return check_fault_moved(part == 0 && n > 0 ? -1 : check_os.read(fd, buf, part));
}

SCR_FN ssize_t check_fault_pread(int fd, void* buf, size_t n, off_t offset)
{
  size_t part = check_fault_strikes(1) ? check_fault_part(n) : n;
  return check_fault_moved(part == 0 && n > 0 ? -1 : check_os.pread(fd, buf, part, offset));
}

SCR_FN ssize_t check_fault_write(int fd, const void* buf, size_t n)
{
  size_t part = check_fault_strikes(1) ? check_fault_part(n) : n;
  return check_fault_moved(part == 0 && n > 0 ? -1 : check_os.write(fd, buf, part));
}

SCR_FN ssize_t check_fault_pwrite(int fd, const void* buf, size_t n, off_t offset)
{
  size_t part = check_fault_strikes(1) ? check_fault_part(n) : n;
  return check_fault_moved(part == 0 && n > 0 ? -1 : check_os.pwrite(fd, buf, part, offset));
}

SCR_FN int check_fault_ftruncate(int fd, off_t size)
{
  return check_fault_strikes(0) ? -1 : check_os.ftruncate(fd, size);
}

SCR_FN int check_fault_fsync(int fd)
{
  check_fault_syncs++;
  return check_fault_strikes(0) ? -1 : check_os.fsync(fd);
}

SCR_FN int check_fault_rename(const char* from, const char* to)
{
  return check_fault_strikes(0) ? -1 : check_os.rename(from, to);
}

SCR_FN int check_fault_unlink(const char* path)
{
  return check_fault_strikes(0) ? -1 : check_os.unlink(path);
}

SCR_FN int check_fault_mkdir(const char* path, mode_t mode)
{
  return check_fault_strikes(0) ? -1 : check_os.mkdir(path, mode);
}

SCR_FN int check_fault_rmdir(const char* path)
{
  return check_fault_strikes(0) ? -1 : check_os.rmdir(path);
}

SCR_FN int check_fault_flock(int fd, int op)
{
  return check_fault_strikes(0) ? -1 : check_os.flock(fd, op);
}

SCR_FN int check_fault_lstat(const char* path, struct stat* st)
{
  return check_fault_strikes(0) ? -1 : check_os.lstat(path, st);
}

/* Strike the N-th call, as MODE and ERR say, until check_fault_end. */
SCR_FN void check_fault(int mode, int err, int n)
{
  static const scr_os_table faulty = {check_fault_open,   check_fault_close,  check_fault_read,      check_fault_pread,
                                      check_fault_write,  check_fault_pwrite, check_fault_ftruncate, check_fault_fsync,
                                      check_fault_rename, check_fault_unlink, check_fault_mkdir,     check_fault_rmdir,
                                      check_fault_flock,  check_fault_lstat};

  check_os = scr_os;
  scr_os = faulty;
  check_fault_mode = mode;
  check_fault_errno = err;
  check_fault_left = n;
  check_fault_hit = check_fault_syncs = 0;
}

/* Put the real calls back; 1 when a call was struck. */
SCR_FN int check_fault_end(void)
{
  scr_os = check_os;
  return check_fault_hit;
}

/* Run OP(ARG) in a process that is killed at its N-th call: 1 when that happened, 0 when OP ended before. */
SCR_FN int check_fault_kill(int n, int (*op)(const char* arg), const char* arg)
{
  int   status = 0;
  pid_t child;

  fflush(stdout);
  child = fork();
  if (child == 0) {
    check_fault(CHECK_KILL, EIO, n);
    _exit(op(arg) != SCR_SUCCESS);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) {
    CHECK_INT(WTERMSIG(status), SIGKILL);
    return 1;
  }
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return 0;
}

#endif
