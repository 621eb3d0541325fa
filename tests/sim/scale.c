/* ==== SCALE =====================================================================================================
** What Init, a checkpoint with its flush, and a restart without a node cost a rank, and how that grows with the ranks.
**
** Offers     scale_run, scale_begin, scale_end of scale.h
** Steps      SCR_Init of a run that begins; SCR_Complete_output with its start; SCR_Finalize, which flushes that
**            checkpoint; and a restart in another run, for which a node was replaced: SCR_Init, which rebuilds, and
**            what follows until the program has read its files.
** Checks     From one size to the next, no cost of the median rank, or of the one that has most, grows faster than log2
**            of the ranks, or, where ranks are sorted into groups (messages and their bytes), its square; and none that
**            grows by more than a tenth is more than eight times the median for one rank.
** Maps       The first rank of each leaf of the map of a flush (rank2file) has all of that leaf in memory, 20 times
**            SCR_RANK2FILE_SIZE, whatever the number of ranks.  That size is small here, so that the smallest job fills
**            a leaf, and memory that grows beyond one is seen.
** Nodes      The first rank has the names and directories of all nodes in memory when it writes nodes.scr: SCALE_NODE
**            bytes for each, which are 12 MB with 8,000 nodes.  They do not count.
** The model  of time: a collective takes two messages' latency for each doubling of the ranks; a rank's messages go one
**            after another; calls on the prefix share its servers of metadata, and bytes share what it takes; the cache
**            of a rank is its own.  The rank that makes most calls makes them one after another.  It is an estimate:
**            what is counted at the largest size that was run is taken to grow on as the checks allow it to, and
**            nothing waits for anything else.
** ================================================================================================================= */
#include "scale.h"
#include "fate.h"
#include "truth.h"

#include <sys/resource.h>

#define SCALE_PER_NODE 16
#define SCALE_SLACK    1.3 /* of a growth: set sizes and trees have steps */
#define SCALE_SHARE    8
#define SCALE_NODE     1536

enum { COST_COLLECTIVES, COST_MESSAGES, COST_SENT, COST_CALLS, COST_PREFIX, COST_HEAP, SCALE_COSTS };
static const char* const scale_costs[SCALE_COSTS] = {"collectives",    "messages",        "bytes sent",
                                                     "calls of files", "calls on prefix", "bytes of heap"};
static const int         scale_power[SCALE_COSTS] = {1, 2, 2, 1, 1, 1}; /* of log2, the growth that is allowed */
static const char* const scale_steps[] = {"init", "complete", "flush", "restart"};
enum { STEP_INIT, STEP_COMPLETE, STEP_FLUSH, STEP_RESTART, SCALE_STEPS };

/* Of one step at one size: each cost of the median rank, and of the one that has most. */
typedef struct {
  double median[SCALE_COSTS], most[SCALE_COSTS];
} scale_cost;

/* What a rank has spent in each step, and where its counts were when the present call began. */
typedef struct {
  double spent[SCALE_STEPS][SCALE_COSTS], before[SCALE_COSTS];
} scale_rank;
static scale_rank* scale_ranks; /* NULL: nobody measures */

/*
** A machine.  Seconds of a message; bytes a second that a rank sends, and that its share of the cache takes; seconds of
** a call there, and of one on the prefix; calls a second that the servers of the prefix bear from all ranks, and
** bytes a second that it takes from them.
*/
static const struct {
  const char* name;
  double      latency, network, cache, cache_call, prefix_call, calls, bytes;
} scale_machines[] = {
    {"a large system (2 us, 12 GB/s and 0.5 GB/s of NVMe a rank; prefix: 0.5 ms, 200,000 calls/s, 5 TB/s)", 2e-6, 12e9,
     0.5e9, 20e-6, 500e-6, 200e3, 5e12},
    {"a laptop (0.5 us, 2 GB/s and 0.5 GB/s of memory a rank; prefix: 20 us, 50,000 calls/s, 1 GB/s)", 5e-7, 2e9, 0.5e9,
     2e-6, 20e-6, 50e3, 1e9}};
#define SCALE_DATA 1e9 /* bytes that a rank writes, for the model */

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

void scale_begin(process* p)
{
  int k;

  if (!scale_ranks) return;
  p->heap_peak = p->heap_bytes;
  for (k = 0; k < SCALE_COSTS; k++) scale_ranks[p->id].before[k] = cost_of(p, k);
}

/* The step that the call API belongs to in this lifetime; -1: none. */
static int step_of(const char* api)
{
  if (S.life == 1) return strcmp(api, "SCR_Init") == 0 ? STEP_INIT : -1;
  if (S.life == 2) return strstr(api, "_output") ? STEP_COMPLETE : strcmp(api, "SCR_Finalize") == 0 ? STEP_FLUSH : -1;
  return strcmp(api, "SCR_Init") == 0 || strstr(api, "_restart") ? STEP_RESTART : -1;
}

void scale_end(process* p, const char* api)
{
  scale_rank* r = scale_ranks ? &scale_ranks[p->id] : NULL;
  int         k, step = r ? step_of(api) : -1;

  for (k = 0; k < SCALE_COSTS && step >= 0; k++)
    if (k != COST_HEAP) r->spent[step][k] += cost_of(p, k) - r->before[k];
    else if (cost_of(p, k) > r->spent[step][k]) r->spent[step][k] = cost_of(p, k);
}

/* Run a lifetime that takes STEPS checkpoints.  Returns 0 if something was wrong. */
static int scale_life(int steps)
{
  S.life++;
  plan.steps = steps;
  truth_begin_life();
  world_begin(plan.ranks, plan.node_of, program_run);
  world_run();
  truth_after_life(1);
  world_end();
  return S.failures == 0;
}

/* The steps with RANKS ranks. */
static int scale_job(int ranks, scale_cost* c)
{
  double *v = malloc((size_t)ranks * sizeof *v), nodes = (double)ranks / SCALE_PER_NODE * SCALE_NODE;
  int     i, k, step, ok;

  fate_scale(ranks, SCALE_PER_NODE);
  scale_ranks = calloc((size_t)ranks, sizeof *scale_ranks);
  ok = scale_life(0) && scale_life(1);
  fate_lose(1);
  ok = ok && scale_life(0);
  for (step = 0; step < SCALE_STEPS; step++)
    for (k = 0; k < SCALE_COSTS; k++) {
      for (i = 0; i < ranks; i++) v[i] = scale_ranks[i].spent[step][k];
      qsort(v, (size_t)ranks, sizeof *v, by_value);
      c[step].median[k] = v[ranks / 2];
      c[step].most[k] = v[ranks - 1];
    }
  for (step = STEP_INIT; step < SCALE_STEPS; step += STEP_RESTART - STEP_INIT) {
    scale_cost* x = &c[step];
    x->most[COST_HEAP] -= nodes;
    if (x->most[COST_HEAP] < x->median[COST_HEAP]) x->most[COST_HEAP] = x->median[COST_HEAP];
  }
  free(scale_ranks);
  scale_ranks = NULL;
  free(v);
  return ok;
}

/* Print the costs C of one step with RANKS ranks, beside those B with FEWER; returns how many grow too fast. */
static int scale_tell(const char* step, int ranks, const scale_cost* c, int fewer, const scale_cost* b)
{
  double log = fewer ? log_two(ranks) / log_two(fewer) : 1, bound;
  int    k, bad = 0, fast, uneven;

  for (k = 0; k < SCALE_COSTS; k++) {
    bound = (scale_power[k] == 2 ? log * log : log) * SCALE_SLACK;
    fast = fewer && (c->median[k] > b->median[k] * bound + 8 || c->most[k] > b->most[k] * bound + 8);
    uneven = fewer && c->most[k] > b->most[k] * 1.1 + 8 && c->most[k] > c->median[k] * SCALE_SHARE;
    bad += fast + uneven;
    printf("%6d ranks  %-11s %-16s %12.0f  most %12.0f  growth %5.2f%s%s\n", ranks, step, scale_costs[k], c->median[k],
           c->most[k], fewer && b->median[k] > 0 ? c->median[k] / b->median[k] : 0, fast ? "  GROWS TOO FAST" : "",
           uneven ? "  ONE RANK HAS TOO MUCH" : "");
  }
  return bad;
}

/* Seconds that the data of RANKS ranks, 1 GB each, take in STEP on machine M. */
static double scale_data(int m, int step, int ranks)
{
  double cache = SCALE_DATA / scale_machines[m].cache, network = SCALE_DATA / scale_machines[m].network;

  if (step == STEP_COMPLETE) return cache + network + cache / 7; /* XOR over 8: read, sent on, a seventh written */
  if (step == STEP_FLUSH) {
    double prefix = SCALE_DATA * ranks / scale_machines[m].bytes;
    return prefix > cache ? prefix : cache;
  }
  return step == STEP_RESTART ? 2 * cache + network : 0; /* read to check them; then the lost ones are written */
}

/* What the step would take on machine M with RANKS ranks, if its cost with FROM ranks grows as it is allowed to. */
static void scale_model(int m, int step, int from, const scale_cost* c, int ranks)
{
  double grows = log_two(ranks) / log_two(from), collectives, messages, prefix, cache, data;

  collectives = c->median[COST_COLLECTIVES] * grows * 2 * log_two(ranks) * scale_machines[m].latency;
  messages = grows * grows *
             (c->most[COST_MESSAGES] * scale_machines[m].latency + c->most[COST_SENT] / scale_machines[m].network);
  prefix = grows * (c->most[COST_PREFIX] * scale_machines[m].prefix_call +
                    c->median[COST_PREFIX] * ranks / scale_machines[m].calls);
  cache = (c->most[COST_CALLS] - c->most[COST_PREFIX]) * grows * scale_machines[m].cache_call;
  data = scale_data(m, step, ranks);
  printf("  %6d ranks  %-9s %9.3f s: collectives %.4f, messages %.4f, calls in the cache %.4f, on the prefix %.3f; "
         "and %.2f for 1 GB a rank\n",
         ranks, scale_steps[step], collectives + messages + prefix + cache, collectives, messages, cache, prefix, data);
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
  uint64_t         files, dirs, bytes;
  int              i, k, n = 0, bad = 0;

  for (i = 0; i < 4 && sizes[i] <= ranks; i++, n++) {
    if (!scale_job(sizes[i], c[i])) {
      printf("%d ranks:\n%s", sizes[i], S.why);
      return 1;
    }
    for (k = 0; k < SCALE_STEPS; k++)
      bad += scale_tell(scale_steps[k], sizes[i], &c[i][k], i ? sizes[i - 1] : 0, i ? &c[i - 1][k] : NULL);
    files = dirs = bytes = 0;
    tree_count(world_prefix, &files, &dirs, &bytes);
    printf("%6d ranks: %lu files and %lu bytes on the prefix, %ld MB of memory here\n", sizes[i], (unsigned long)files,
           (unsigned long)bytes, memory_most());
  }
  for (k = 0; k < (int)(sizeof scale_machines / sizeof *scale_machines) && n > 0; k++) {
    printf("An estimate, by what %d ranks did, for %s:\n", sizes[n - 1], scale_machines[k].name);
    for (i = 0; i < 2 * SCALE_STEPS; i++)
      scale_model(k, i % SCALE_STEPS, sizes[n - 1], &c[n - 1][i % SCALE_STEPS], i < SCALE_STEPS ? 10000 : 100000);
  }
  printf("%.0f s of processor time\n", (double)clock() / CLOCKS_PER_SEC);
  printf("%d costs grow too fast, or are too uneven\n", bad);
  return bad != 0;
}
