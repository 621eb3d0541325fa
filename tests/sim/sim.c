/* ==== SIM =======================================================================================================
** The simulator's main: which seeds run, replay, and the sum of what happened.
** ================================================================================================================= */
#include "fate.h"
#include "model.h"
#include "scale.h"
#include "sometimes.h"
#include "truth.h"

#include <signal.h>
#include <unistd.h>

static const char usage[] =
    "Usage: sim [from=SEED] [seeds=N | seed=SEED] [seconds=S] [set=DRAW=VALUE ...] [v] [trace] [at=CALL]\n"
    "  runs N seeds from SEED on; each in twenty twice, with the same hash of all calls\n"
    "  seconds=S   ends after S seconds of processor time\n"
    "  shrink=S    takes S seconds to find out what matters in a seed that fails (20; 0: none)\n"
    "  plain       all draws give the plain choice, but those of set=\n"
    "  all         goes on after a seed that fails\n"
    "  set=D=V     overrides a draw, in all lifetimes or, LIFE.D=V, in one\n"
    "  model=DIR   compares the model of file systems with the one that has DIR instead\n"
    "  scale=N     measures jobs of 64 to N ranks instead\n"
    "  dump=DIR    writes all files to DIR/LIFETIME after each, to look into them with scr print_hash_file\n"
    "  v, trace    prints all messages; all calls;  at=CALL stops there, for a debugger\n";

static struct {
  uint64_t    from, seeds;
  double      seconds;
  double      shrink;
  const char* model;
  int         all, twice, replay, scale;
} option = {1, 400, 0, 20, NULL, 0, 20, 0, 0};

static double cpu_seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Take the argument A; 0 if it is not known. */
static int option_take(const char* a)
{
  const char* v = strchr(a, '=');

  v = v ? v + 1 : "";
  if (strncmp(a, "from=", 5) == 0) option.from = strtoull(v, NULL, 0);
  else if (strncmp(a, "seeds=", 6) == 0) option.seeds = strtoull(v, NULL, 0);
  else if (strncmp(a, "seed=", 5) == 0) option.from = strtoull(v, NULL, 0), option.seeds = 1, option.replay = 1;
  else if (strncmp(a, "shrink=", 7) == 0) option.shrink = atof(v), option.replay = 0;
  else if (strcmp(a, "plain") == 0) fate_plain = 1;
  else if (strncmp(a, "seconds=", 8) == 0) option.seconds = atof(v);
  else if (strncmp(a, "twice=", 6) == 0) option.twice = atoi(v);
  else if (strncmp(a, "set=", 4) == 0) return fate_set(v);
  else if (strncmp(a, "at=", 3) == 0) S.stop_at = strtoull(v, NULL, 0);
  else if (strncmp(a, "dump=", 5) == 0) fate_dump = v;
  else if (strncmp(a, "model=", 6) == 0) option.model = v;
  else if (strncmp(a, "scale=", 6) == 0) option.scale = atoi(v);
  else if (strcmp(a, "all") == 0) option.all = 1;
  else if (strcmp(a, "v") == 0) S.verbose = 1;
  else if (strcmp(a, "trace") == 0) S.trace = S.verbose = 1;
  else return 0;
  return 1;
}

/* ---- shrinking: which of the draws of a failing seed matter ---- */

/* Run SEED with the draws KEPT[0..n-1] alone, all others plain; 1 if it fails. */
static int shrunk_run(uint64_t seed, const fate_record* kept, int n)
{
  char text[96];
  int  i;

  fate_clear();
  fate_plain = 1;
  for (i = 0; i < n; i++) {
    snprintf(text, sizeof text, "%d.%s=%u", kept[i].life, kept[i].name, kept[i].value);
    fate_set(text);
  }
  return fate_run(seed);
}

/* Leave out draws of the failing SEED, in ever smaller groups, while it fails, and print those that are left. */
static void shrink(uint64_t seed)
{
  static fate_record kept[FATE_RECORDS], fewer[FATE_RECORDS];
  int                n = fate_nmade, size, at, k, i, runs = 0, verbose = S.verbose;
  double             start = cpu_seconds();

  memcpy(kept, fate_made, (size_t)n * sizeof *kept);
  S.verbose = 0;
  if (n > FATE_OVERRIDES || !shrunk_run(seed, kept, n)) n = 0;
  for (size = (n + 1) / 2; size > 0 && n > 0; size /= 2)
    for (at = 0; at < n && cpu_seconds() - start < option.shrink; at += size) {
      for (k = i = 0; i < n; i++)
        if (i < at || i >= at + size) fewer[k++] = kept[i];
      runs++;
      if (!shrunk_run(seed, fewer, k)) continue;
      memcpy(kept, fewer, (size_t)k * sizeof *kept);
      n = k;
      at -= size;
    }
  if (n > 0 && shrunk_run(seed, kept, n)) {
    printf("  shrunk, in %d runs, to %d draws; it then fails so:\n%s  replay: make sim SEED=%lu TRACE=1 ARGS='plain",
           runs, n, S.why, (unsigned long)seed);
    for (i = 0; i < n; i++) printf(" set=%d.%s=%u", kept[i].life, kept[i].name, kept[i].value);
    printf("'\n");
  }
  fate_clear();
  fate_plain = 0;
  S.verbose = verbose;
}

/* Say what is wrong with SEED, and how to see it again. */
static void tell_failure(uint64_t seed)
{
  printf("seed %lu fails:\n%s  replay: make sim SEED=%lu TRACE=1\n", (unsigned long)seed, S.why, (unsigned long)seed);
  if (option.shrink > 0 && !option.replay) shrink(seed);
}

static void tell_totals(double seconds, uint64_t failed)
{
  printf("%lu seeds, %lu failed; %lu lifetimes (%.0f a second), %lu killed, %lu with a restart; %lu checkpoints, %lu "
         "outputs; %lu nodes lost, %lu power cuts, %lu faults; %lu of %lu scavenges end well; %.1f M calls, %.2f us "
         "each\n",
         (unsigned long)totals.seeds, (unsigned long)failed, (unsigned long)totals.lifetimes,
         (double)totals.lifetimes / seconds, (unsigned long)totals.killed, (unsigned long)totals.offered,
         (unsigned long)totals.checkpoints, (unsigned long)totals.outputs, (unsigned long)totals.lost,
         (unsigned long)totals.cuts, (unsigned long)totals.faults, (unsigned long)totals.scavenged,
         (unsigned long)totals.scavenges, (double)totals.calls * 1e-6, 1e6 * seconds / ((double)totals.calls + 1));
}

extern sim_mark __start_simmarks[], __stop_simmarks[];

/* Which rare branches of the library were reached how often; the marks of one name count together. */
static void tell_marks(void)
{
  const sim_mark *a, *b;
  unsigned long   n;
  int             missed = 0;

  printf("rare branches:");
  for (a = __start_simmarks; a < __stop_simmarks; a++) {
    for (b = __start_simmarks; b < a && strcmp(a->name, b->name) != 0; b++) continue;
    if (b < a) continue;
    for (n = 0; b < __stop_simmarks; b++) n += strcmp(a->name, b->name) == 0 ? b->times : 0;
    printf(" %s %lu,", a->name, n);
    missed += n == 0;
  }
  printf(" %d not reached\n", missed);
}

static uint64_t running;

/* The library, or the simulator, has done what ends a process: name the seed. */
static void crashed(int sig)
{
  printf("seed %lu fails: signal %d ends the simulator\n  replay: make sim SEED=%lu TRACE=1\n", (unsigned long)running,
         sig, (unsigned long)running);
  fflush(stdout);
  _exit(1);
}

/* Name the seed when a signal ends the simulator, on a stack of its own: that of a rank may have overflowed. */
static void watch_crashes(void)
{
  static char      stack[65536];
  stack_t          s = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction a = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND};

  sigaltstack(&s, NULL);
  sigaction(SIGSEGV, &a, NULL);
  sigaction(SIGBUS, &a, NULL);
  sigaction(SIGFPE, &a, NULL);
  sigaction(SIGABRT, &a, NULL);
}

int main(int argc, char** argv)
{
  uint64_t seed, failed = 0, hash;
  double   start;
  int      i, bad;

  setenv("TZ", "UTC", 1);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (i = 1; i < argc; i++)
    if (!option_take(argv[i])) {
      fprintf(stderr, "%s: unknown argument\n%s", argv[i], usage);
      return 2;
    }
  world_start(option.scale > 64 ? option.scale : 64);
  for (seed = option.from; option.model && seed - option.from < option.seeds; seed++)
    if (model_run(option.model, seed, 2000)) return 1;
  if (option.model)
    return printf("%lu sequences of 2000 calls: the model answers as %s does\n", (unsigned long)option.seeds,
                  option.model) < 0;
  if (option.scale) return scale_run(option.scale);
  watch_crashes();
  start = cpu_seconds();
  for (seed = option.from; seed - option.from < option.seeds; seed++) {
    running = seed;
    if (option.seconds > 0 && cpu_seconds() - start > option.seconds) break;
    bad = fate_run(seed);
    hash = S.hash;
    if (bad) tell_failure(seed);
    else if (option.twice && seed % (unsigned)option.twice == 0 && (fate_run(seed), S.hash != hash)) {
      printf("seed %lu: a second run makes other calls\n", (unsigned long)seed);
      bad = 1;
    }
    failed += (uint64_t)bad;
    if (bad && !option.all) break;
  }
  if (!option.replay) tell_marks();
  tell_totals(cpu_seconds() - start, failed);
  return failed != 0;
}
