/*
** check.h - the frame of the unit suites: checks, a scratch directory, and faults of the operating system.
**
** A check is a place in a suite: it counts once, as failed if it ever failed.  The last line of the output is
** `N passed, N failed, N skipped`; the exit code is 1 when a check failed or none ran.
**
** Faults are those of fault.h, which strike calls of any kind here.
*/
#ifndef CHECK_H
#define CHECK_H

#include <ftw.h>
#include <sys/wait.h>

#include "fault.h"

#include "fault.c"

#ifndef CHECK_DATA
#define CHECK_DATA "tests/data" /* the suites run in the top directory */
#endif

/* Seconds of the processor that this program has taken: a limit of these holds beside other jobs too. */
static double check_cpu(void)
{
  return (double)clock() / CLOCKS_PER_SEC;
}

/* Sanitized code may take this much longer, and emulated code, for which the compiler's command line says it. */
#ifdef CHECK_SLOWER
#elif defined(__SANITIZE_ADDRESS__)
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

/* Strike the N-th call of any kind, as MODE (of fault.h) and ERR say, until check_fault_end. */
SCR_FN void check_fault(int mode, int err, int n)
{
  fault_at(mode, FAULT_ALL, err, n);
}

/* The number that is for the mode: how far apart calls are that fail, how much is made. */
SCR_FN int check_pace(int in_check, int in_full)
{
  return getenv("TEST_FULL") != NULL || getenv("TEST_LONG") != NULL ? in_full : in_check;
}

/* Put the real calls back; 1 when a call was struck. */
SCR_FN int check_fault_end(void)
{
  return fault_end() > 0;
}

/* Run OP(ARG) in a process that is killed at its N-th call: 1 when that happened, 0 when OP ended before. */
SCR_FN int check_fault_kill(int n, int (*op)(const char* arg), const char* arg)
{
  int   status = 0;
  pid_t child;

  fflush(stdout);
  child = fork();
  if (child == 0) {
    check_fault(FAULT_KILL, EIO, n);
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
