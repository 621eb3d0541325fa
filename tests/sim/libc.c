/* ==== LIBC ======================================================================================================
** What a process asks of the system beside files, memory, threads and children: clocks, names, environment, messages,
** and the handler of one signal.
**
** Offers     world_setenv, world_getenv, world_clear_env of sim.h; sim_clock_gettime and so on, for symbols.txt
** Other signals and terminals are not modelled: the calls fail, or do nothing.
** ================================================================================================================= */
#include "sim.h"

#include <pwd.h>
#include <signal.h>
#include <sys/time.h>

#define WORLD_ENV 128

/* ---- clocks and names ---- */

static uint64_t world_realtime(void)
{
  return (WORLD_EPOCH + (uint64_t)world_clock_shift) * WORLD_SECOND + S.now;
}

int sim_clock_gettime(clockid_t c, struct timespec* t)
{
  uint64_t n = c == CLOCK_REALTIME ? world_realtime() : S.now + 5 * WORLD_SECOND;

  t->tv_sec = (time_t)(n / WORLD_SECOND);
  t->tv_nsec = (long)(n % WORLD_SECOND);
  return 0;
}

int sim_gettimeofday(struct timeval* t, void* zone)
{
  (void)zone;
  t->tv_sec = (time_t)(world_realtime() / WORLD_SECOND);
  t->tv_usec = (suseconds_t)(world_realtime() % WORLD_SECOND / 1000);
  return 0;
}

time_t sim_time(time_t* t)
{
  time_t now = (time_t)(world_realtime() / WORLD_SECOND);

  if (t) *t = now;
  return now;
}

pid_t sim_getpid(void)
{
  return S.me->pid;
}

pid_t sim_getppid(void)
{
  return 100 + world_launches;
}

uid_t sim_geteuid(void)
{
  return 1000;
}

gid_t sim_getegid(void)
{
  return 1000;
}

int sim_gethostname(char* p, size_t n)
{
  snprintf(p, n, "node%d", world_machine[S.me->node]);
  return 0;
}

struct passwd* sim_getpwuid(uid_t user)
{
  static char          name[] = "user";
  static struct passwd p;

  p.pw_name = name;
  p.pw_uid = user;
  return &p;
}

/* ---- the environment ---- */

static struct {
  char *name, *value;
} world_env[WORLD_ENV];
char** sim_environ = NULL;

void world_clear_env(void)
{
  int i;

  for (i = 0; i < WORLD_ENV; i++) {
    free(world_env[i].name);
    free(world_env[i].value);
    world_env[i].name = world_env[i].value = NULL;
  }
}

void world_setenv(const char* name, const char* value)
{
  int i;

  for (i = 0; world_env[i].name && strcmp(world_env[i].name, name) != 0; i++)
    if (i + 2 == WORLD_ENV) fprintf(stderr, "too many variables\n"), abort();
  if (!world_env[i].name) world_env[i].name = strdup(name);
  free(world_env[i].value);
  world_env[i].value = value ? strdup(value) : NULL;
}

const char* world_getenv(const char* name)
{
  int i;

  for (i = 0; world_env[i].name; i++)
    if (strcmp(world_env[i].name, name) == 0) return world_env[i].value;
  return NULL;
}

char* sim_getenv(const char* name)
{
  return (char*)(uintptr_t)(S.me->beside ? beside_getenv(name) : world_getenv(name));
}

int sim_setenv(const char* name, const char* value, int overwrite)
{
  if (overwrite || !world_getenv(name)) world_setenv(name, value);
  return 0;
}

/* ---- messages, what does nothing ---- */

int sim_fprintf(FILE* f, const char* format, ...)
{
  static char line[4096];
  va_list     ap;
  int         n;

  va_start(ap, format);
  n = vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  if (f != stderr && f != stdout) return (int)fwrite(line, 1, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1, f);
  if (files_print(f == stdout ? 1 : 2, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1)) return n;
  if (f == stdout && S.me->out) fwrite(line, 1, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1, S.me->out);
  if (f == stderr && strncmp(line, "SCR ", 4) == 0 && !S.me->beside) world_warnings++;
  if (strstr(line, "cannot be fetched") && !S.me->beside) world_unfetched++;
  if (S.verbose) fprintf(stderr, "[%d %11.6f] %s", S.life, (double)S.now * 1e-9, line);
  return n;
}

/* Of SIGUSR1 alone a process can have a handler, which sim_signal calls. */
int sim_sigaction(int number, const struct sigaction* now, struct sigaction* before)
{
  process* p = S.me;

  if (before) memset(before, 0, sizeof *before);
  if (number != SIGUSR1) return 0;
  if (before && p->handler) {
    before->sa_flags = SA_SIGINFO;
    before->sa_sigaction = (void (*)(int, siginfo_t*, void*))p->handler;
  }
  if (now) p->handler = now->sa_flags & SA_SIGINFO ? (void (*)(int, void*, void*))now->sa_sigaction : NULL;
  return 0;
}

int sim_posix_spawnp(void)
{
  return ENOENT;
}

void sim_syslog(void)
{
}

long sim_sysconf(void)
{
  return 64;
}

/* What a process asks of its session, its terminal, its directory. */
int sim_setsid(void)
{
  return 0;
}

int sim_setpgid(void)
{
  return 0;
}

int sim_getpgid(void)
{
  return 0;
}

int sim_isatty(void)
{
  return 0;
}

int sim_chdir(void)
{
  return 0;
}

unsigned sim_sleep_seconds(unsigned seconds)
{
  sim_call("sleep", seconds);
  sim_sleep(seconds * WORLD_SECOND);
  return 0;
}

int sim_unsetenv(const char* name)
{
  world_setenv(name, NULL);
  return 0;
}

/* What a command calls that symbols.txt does not have. */
int sim_unknown(const char* name)
{
  sim_violation("process %d calls %s, which the simulator does not know; see tests/sim/symbols.txt", S.me->id, name);
  errno = ENOSYS;
  return -1;
}

/* ---- what commands print ---- */

size_t sim_fwrite(const void* p, size_t size, size_t n, FILE* f)
{
  if (f != stdout && f != stderr) return fwrite(p, size, n, f);
  if (files_print(f == stdout ? 1 : 2, p, size * n)) return n;
  if (f == stdout && S.me->out) fwrite(p, size, n, S.me->out);
  else if (S.verbose) fwrite(p, size, n, stderr);
  return n;
}

int sim_printf(const char* format, ...)
{
  static char line[16384];
  va_list     ap;
  int         n;

  va_start(ap, format);
  n = vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  sim_fwrite(line, 1, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1, stdout);
  return n;
}

int sim_putc(int c, FILE* f)
{
  char one = (char)c;

  sim_fwrite(&one, 1, 1, f);
  return c;
}

int sim_fputc(int c, FILE* f)
{
  return sim_putc(c, f);
}

int sim_putchar(int c)
{
  return sim_putc(c, stdout);
}

int sim_fputs(const char* s, FILE* f)
{
  sim_fwrite(s, 1, strlen(s), f);
  return 1;
}

int sim_puts(const char* s)
{
  sim_fputs(s, stdout);
  return sim_putc('\n', stdout);
}

int sim_fflush(FILE* f)
{
  return f == NULL || f == stdout || f == stderr ? 0 : fflush(f);
}
