/* ==== SCALE =====================================================================================================
** What Init, a checkpoint with its flush, and a restart without a node cost a rank, and how that grows with the ranks.
**
** Offers     scale_run of scale.h
** Checks     From one size to the next, no cost of the median rank, or of the one that has most, grows faster than log2
**            of the ranks, or, where ranks are sorted into groups (messages and their bytes), its square; and none that
**            grows is more than eight times the median for one rank.
** Maps       The first rank of each leaf of the map of a flush (rank2file) has all of that leaf in memory, 20 times
**            SCR_RANK2FILE_SIZE, whatever the number of ranks.  That size is small here, so that the smallest job fills
**            a leaf, and memory that grows beyond one is seen.
** The model  of time: a collective takes two messages' latency for each doubling of the ranks; a rank's messages go one
**            after another; calls on the prefix share a server of metadata; bytes share what the prefix takes.
** ================================================================================================================= */
#include "scale.h"
#include "fate.h"
#include "truth.h"

#include <sys/resource.h>

#define SCALE_PER_NODE 16
#define SCALE_SLACK    1.3 /* of a growth: set sizes and trees have steps */
#define SCALE_SHARE    8
#define SCALE_COSTS    6

static const char* const scale_costs[SCALE_COSTS] = {"collectives",    "messages",        "bytes sent",
                                                     "calls of files", "calls on prefix", "bytes of heap"};
static const int         scale_power[SCALE_COSTS] = {1, 2, 2, 1, 1, 1}; /* of log2, the growth that is allowed */
static const char* const scale_steps[] = {"init", "checkpoint", "restart"};
#define SCALE_STEPS 3

/* Of one step at one size: each cost of the median rank, and of the one that has most. */
typedef struct {
  double   median[SCALE_COSTS], most[SCALE_COSTS];
  uint64_t files, bytes; /* of the prefix */
} scale_cost;

/* A machine: seconds of a message, calls a second of the prefix, bytes a second of the prefix. */
static const struct {
  const char* name;
  double      latency, calls, bytes;
} scale_machines[] = {{"a large system", 2e-6, 200000, 1e12}, {"a laptop", 5e-7, 50000, 1e9}};

static double log_two(double x)
{
  double n = 0;

  for (; x >= 2; x /= 2) n++;
  return n + (x - 1);
}

static int by_value(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double cost_of(const process* p, int k)
{
  const double all[SCALE_COSTS] = {(double)p->collectives, (double)p->sent,         (double)p->sent_bytes,
                                   (double)p->os_calls,    (double)p->prefix_calls, (double)p->heap_peak};
  return all[k];
}

/* Run a lifetime that takes STEPS checkpoints, and note what it cost in C.  Returns 0 if something was wrong. */
static int scale_life(int steps, scale_cost* c)
{
  double*  v = malloc((size_t)plan.ranks * sizeof *v);
  uint64_t dirs = 0;
  int      i, k;

  S.life++;
  plan.steps = steps;
  truth_begin_life();
  world_begin(plan.ranks, plan.node_of, program_run);
  world_run();
  for (k = 0; k < SCALE_COSTS; k++) {
    for (i = 0; i < plan.ranks; i++) v[i] = cost_of(S.rank[i], k);
    qsort(v, (size_t)plan.ranks, sizeof *v, by_value);
    c->median[k] = v[plan.ranks / 2];
    c->most[k] = v[plan.ranks - 1];
  }
  truth_after_life(1);
  world_end();
  free(v);
  c->files = c->bytes = 0;
  tree_count(world_prefix, &c->files, &dirs, &c->bytes);
  return S.failures == 0;
}

/* The three steps with RANKS ranks. */
static int scale_job(int ranks, scale_cost* c)
{
  int ok;

  fate_scale(ranks, SCALE_PER_NODE);
  ok = scale_life(0, &c[0]) && scale_life(1, &c[1]);
  fate_lose(1);
  return ok && scale_life(0, &c[2]);
}

/* Print the costs C of one step with RANKS ranks, beside those B with FEWER; returns how many grow too fast. */
static int scale_tell(const char* step, int ranks, const scale_cost* c, int fewer, const scale_cost* b)
{
  double log = fewer ? log_two(ranks) / log_two(fewer) : 1, bound;
  int    k, bad = 0, fast, uneven;

  for (k = 0; k < SCALE_COSTS; k++) {
    bound = (scale_power[k] == 2 ? log * log : log) * SCALE_SLACK;
    fast = fewer && (c->median[k] > b->median[k] * bound + 8 || c->most[k] > b->most[k] * bound + 8);
    uneven = fewer && c->most[k] > b->most[k] + 8 && c->most[k] > c->median[k] * SCALE_SHARE;
    bad += fast + uneven;
    printf("%6d ranks  %-11s %-16s %12.0f  most %12.0f  growth %5.2f%s%s\n", ranks, step, scale_costs[k], c->median[k],
           c->most[k], fewer && b->median[k] > 0 ? c->median[k] / b->median[k] : 0, fast ? "  GROWS TOO FAST" : "",
           uneven ? "  ONE RANK HAS TOO MUCH" : "");
  }
  return bad;
}

/* What the step would take on the machines, with RANKS ranks, if it grows from here as it is allowed to. */
static void scale_model(const char* step, int from, const scale_cost* c, int ranks)
{
  double grows = log_two(ranks) / log_two(from), collectives, messages, prefix;
  size_t m;

  for (m = 0; m < sizeof scale_machines / sizeof *scale_machines; m++) {
    collectives = c->median[0] * 2 * log_two(ranks) * scale_machines[m].latency;
    messages = c->most[1] * grows * grows * scale_machines[m].latency;
    prefix = c->median[4] * ranks / scale_machines[m].calls;
    printf("  %6d ranks on %-14s  %-11s collectives %8.4f s, messages %8.4f s, calls on the prefix %8.3f s\n", ranks,
           scale_machines[m].name, step, collectives, messages, prefix);
  }
}

static long memory_most(void)
{
  struct rusage u;

  getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss / 1024;
}

int scale_run(int ranks)
{
  static const int sizes[] = {64, 512, 4096, 32768};
  scale_cost       c[4][SCALE_STEPS];
  int              i, k, n = 0, bad = 0;

  for (i = 0; i < 4 && sizes[i] <= ranks; i++, n++) {
    if (!scale_job(sizes[i], c[i])) {
      printf("%d ranks:\n%s", sizes[i], S.why);
      return 1;
    }
    for (k = 0; k < SCALE_STEPS; k++)
      bad += scale_tell(scale_steps[k], sizes[i], &c[i][k], i ? sizes[i - 1] : 0, i ? &c[i - 1][k] : NULL);
    printf("%6d ranks: %lu files and %lu bytes on the prefix\n", sizes[i], (unsigned long)c[i][1].files,
           (unsigned long)c[i][1].bytes);
  }
  for (k = 0; k < SCALE_STEPS && n > 0; k++) {
    scale_model(scale_steps[k], sizes[n - 1], &c[n - 1][k], 10000);
    scale_model(scale_steps[k], sizes[n - 1], &c[n - 1][k], 100000);
  }
  printf("%.0f s of processor time, %ld MB at most\n", (double)clock() / CLOCKS_PER_SEC, memory_most());
  printf("%d costs grow too fast, or are too uneven\n", bad);
  return bad != 0;
}
