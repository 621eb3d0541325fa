/* ==== TRUTH =====================================================================================================
** The ledger of all that the program wrote and was told, and what must be true because of it.
**
** Offers     truth_* of truth.h
** What must be true
**   T1  What is offered is at least as new as the newest checkpoint that must have survived (truth_must), and no
**       dataset is offered that the program rejected in this job, or that is gone.
**   T2  It has the bytes that were written (program.c), on all ranks of the same dataset.
**   T3  An older one than the newest acknowledged is offered only with a warning; none only with an error.
**   T4  An error of a start is one that the situation allows.
**   T5  Every collective call has the same result on all ranks.
**   T6  After a regular end nothing is left: memory, files, requests, messages, communicators.
**   T7  Without faults, a job comes to its end, within a bounded number of calls (world_run).
**   T8  Nothing is written outside the directories of the library.
**   T9  A run should exit when a person or a signal has asked for it, and has saved what it was to save; else not, but
**       near the end of its allocation.  It needs a checkpoint when a signal has asked for one.
** What survives
**   in the cache   while fewer nodes were lost since it was whole than its scheme promises, for as many ranks;
**   on the prefix  what a call has said to be there: a synchronous flush, SCR_Wait, SCR_Finalize.
** ================================================================================================================= */
#include "truth.h"

#define SCR_API extern
#include "mpi.h"
#include "scr.h"

plan_of       plan;
ledger        truth;
struct totals totals;

void truth_begin_seed(void)
{
  memset(&truth, 0, sizeof truth);
  logs_begin_seed();
}

/* The newest checkpoint, of number LAST at most, for which WANTED says 1; 0 if there is none. */
static int truth_newest_to(int last, int (*wanted)(const dataset* d))
{
  while (last > 0 && (!truth.set[last].checkpoint || !wanted(&truth.set[last]))) last--;
  return last;
}

static int truth_newest(int (*wanted)(const dataset* d))
{
  return truth_newest_to(truth.sets, wanted);
}

static int is_acked(const dataset* d)
{
  return d->acked > 0 && !d->gone && !d->rejected;
}

/* What is displaced by an older one stays until a newer checkpoint is complete. */
static int is_displaced(const dataset* d)
{
  int i;

  for (i = d->number + 1; i <= truth.sets && d->displaced; i++)
    if (truth.set[i].checkpoint && truth.set[i].acked) return 1;
  return 0;
}

/* Returns 1 if S and D have the same files. */
static int truth_shares(const dataset* s, const dataset* d)
{
  return plan.layout == 3 && s->checkpoint && d->checkpoint;
}

/* A newer one has the files of D, and the end of its flush may have come before anybody was told. */
static int may_be_replaced(const dataset* d)
{
  int i;

  for (i = d->number + 1; i <= truth.sets && !truth_shares(d, &truth.set[i]); i++) continue;
  return i <= truth.sets;
}

/*
** One that the user wants by name is older, and may have left for newer ones.  One that is MOVED may be on the prefix
** alone, where another one may have taken its place.
*/
static int is_cached(const dataset* d)
{
  return is_acked(d) && d->cached && !is_displaced(d) &&
         (!d->moved || (plan.prefix_used && d->outgrown < 2 && !d->purged && !may_be_replaced(d))) &&
         !((d->crowded || d->moved) && truth.chosen == d->number) && plan.wished != d->number &&
         (plan.keep || d->number == truth.sets);
}

int truth_has_twin(const dataset* d)
{
  int i;

  for (i = 1; i <= truth.sets; i++)
    if (&truth.set[i] != d && strcmp(truth.set[i].name, d->name) == 0) return 1;
  return 0;
}

static int newer_is_unwanted(const dataset* d)
{
  int i;

  for (i = d->number + 1; i <= truth.sets && !truth.set[i].rejected && !truth.set[i].gone; i++) continue;
  return i <= truth.sets;
}

/*
** What the window may have deleted, and what another one may have replaced, may be chosen from the cache; where it is
** not chosen, a newer one has survived, which may be unwanted by now.  So it has where another one has taken the
** place, unless that has other ranks.
*/
static int is_on_prefix(const dataset* d)
{
  return d->on_prefix && !d->gone && !d->rejected &&
         !(plan.same_ranks && (d->ranks != plan.members || truth_has_twin(d))) &&
         !((d->outgrown || may_be_replaced(d)) &&
           (truth.chosen == d->number || plan.wished == d->number || newer_is_unwanted(d)));
}

/* It may not be passed over without a word. */
static int is_untold(const dataset* d)
{
  return is_acked(d) && !d->told;
}

/* If nothing is offered, such a dataset makes that an error. */
static int is_work(const dataset* d)
{
  return d->acked > 0 && !d->gone && !d->left;
}

/* It may make that an error: it may be complete, although nobody was told. */
static int is_tried(const dataset* d)
{
  return d->gone < 2;
}

/* The newest checkpoint, of number LAST at most, that must have survived; 0 if there is none. */
static int truth_must_to(int last)
{
  int cached = plan.cache_used ? truth_newest_to(last, is_cached) : 0,
      flushed = plan.prefix_used ? truth_newest_to(last, is_on_prefix) : 0;

  if (cached && (truth.damages > truth.set[cached].tolerance || truth.set[cached].ranks != plan.members)) cached = 0;
  return cached > flushed ? cached : flushed;
}

int truth_must(void)
{
  return truth_must_to(truth.sets);
}

/* What the clocks of the nodes say, in microseconds. */
static long long truth_clock(void)
{
  return (long long)(S.now / 1000) + world_clock_shift * 1000000;
}

/* The start is to delete D from the prefix; what the cache has of it stays. */
static void truth_purges(dataset* d)
{
  d->on_prefix = 0;
  d->purged = d->told = d->left = 1;
  if (!d->cached && !d->gone) d->gone = 1;
  if (truth.chosen == d->number) truth.chosen = 0;
}

void truth_restored(void)
{
  int i;

  truth.notes_lost = truth.twins = 1; /* ids are given again */
  truth.halts = 1;                    /* as one may have been asked for when the copy was made */
  for (i = 1; i <= truth.sets; i++) {
    dataset* d = &truth.set[i];
    truth_purges(d);
    d->unnoted = d->gone = 1;
    d->rejected = 0;
  }
}

void truth_begin_life(void)
{
  int i;

  truth.offered = truth.unread = truth.inits = truth.finals = truth.code = truth.asked = truth.have = truth.warnings =
      0;
  truth.saved = truth.lost_file = truth.signalled = truth.wish = truth.halt = 0;
  truth.begun = truth_clock();
  if (truth.begun < truth.seen) truth.begun = truth.seen;
  truth.text[0] = '\0';
  memset(truth.loaded, 0, sizeof truth.loaded);
  memset(truth.subject, 0, sizeof truth.subject);
  memset(truth.call, 0, sizeof truth.call);
  for (i = 1; i <= truth.sets && plan.fresh; i++)
    if (!truth.set[i].gone) truth.set[i].gone = 1;
  for (i = 1; i <= truth.sets && plan.purge; i++) truth_purges(&truth.set[i]);
  truth.newest_before = truth_newest(is_untold);
  truth.work = truth_newest(is_work);
  truth.must = truth_must();
  for (i = 1; i <= truth.sets && !plan.cache_used; i++) {
    dataset* d = &truth.set[i];
    d->spared = d->cached && !d->gone;
    d->cached = 0;
    if (!d->on_prefix && !d->gone) d->gone = 1; /* the user lets it go */
  }
}

/* A start that was to empty the cache is refused for a choice that only that has: it still has all that it had. */
static void truth_spared(void)
{
  int i;

  for (i = 1; i <= truth.sets && strstr(truth.text, "would empty the cache") != NULL; i++)
    if (truth.set[i].spared) truth.set[i].cached = 1, truth.set[i].gone = 0;
}

void truth_code(process* p, int* count, const char* api, int code)
{
  int k = (*count)++ % CALLS_MOST;

  if (S.faults & FAULT_MPI) return; /* when MPI fails, nobody can agree */
  if (truth.call[k].api == NULL) {
    truth.call[k].api = api;
    truth.call[k].code = code;
  } else if (strcmp(truth.call[k].api, api) != 0) {
    sim_violation("rank %d returns from %s, where others have called %s", p->id, api, truth.call[k].api);
  } else if (truth.call[k].code != code) {
    sim_violation("rank %d: %s returns %d, and on other ranks %d", p->id, api, code, truth.call[k].code);
  }
}

dataset* truth_find(const char* name)
{
  int i;

  for (i = truth.sets; i > 0 && strcmp(truth.set[i].name, name) != 0; i--) continue;
  return i > 0 ? &truth.set[i] : NULL;
}

/* How many nodes can be lost without losing a dataset that is written now. */
static int tolerance_now(void)
{
  int nodes = plan.node_of[plan.members - 1] + 1;
  int members = nodes < 2 * plan.set_size ? nodes : plan.set_size;

  if (nodes < 2 || !plan.node_sets || plan.members % nodes != 0 || strcmp(plan.scheme, "SINGLE") == 0) return 0;
  if (strcmp(plan.scheme, "RS") != 0) return 1;
  return plan.failures < members ? plan.failures : members - 1;
}

/*
** Does output S, whose flush failed or was cut short, keep its place in the cache?  Checkpoints that have a newer one
** leave before it.
*/
static int output_waits(const dataset* s)
{
  return s->output && !s->on_prefix && !s->gone && (s->cached || !s->acked) && (S.faults || s->life < S.life);
}

/*
** D is complete, or begun: of it and the older ones, COUNT have room in the cache; the others may have left it, and
** without a word.  The newest complete checkpoint has not, if the cache keeps it.
*/
static void truth_crowd(const dataset* d, int count)
{
  int i, newer = 0, kept = !plan.keep, untold = 0, wait = 0;

  for (i = 1; i <= d->number; i++) wait += output_waits(&truth.set[i]);
  for (i = d->number; i > 0; i--) {
    wait -= output_waits(&truth.set[i]);
    if (newer + wait >= count && kept) {
      truth.set[i].told = 1;
      truth.set[i].cached = 0;
    } else { /* one that is not acknowledged may be complete all the same */
      truth.set[i].crowded |= newer >= count && untold;
      truth.set[i].displaced |= i < d->number && newer + wait + plan.async >= count;
      newer++;
      untold |= truth.set[i].checkpoint && !truth.set[i].acked && i < d->number;
      truth.set[i].moved |= i < d->number && d->number > count; /* what is on the prefix goes before older ones */
      kept |= truth.set[i].checkpoint && (truth.set[i].acked || (&truth.set[i] == d && d->life < S.life));
    }
  }
}

/* While D could be loaded, nobody had to be told of the loss of an older one; now it cannot. */
void truth_moot(const dataset* d)
{
  int i;

  for (i = 1; i < d->number; i++) truth.set[i].told = 1;
}

/*
** The nodes that are here now have all that is protected from now on.  What other ranks wrote was not rebuilt on them,
** nor anything if no older checkpoint was LOADED.
*/
static void truth_repaired(int loaded)
{
  int i;

  for (i = 1; i <= truth.sets && truth.damages > 0; i++)
    if (truth.set[i].life < S.life &&
        (!loaded || truth.set[i].ranks != plan.members || truth.damages > truth.set[i].tolerance))
      truth.set[i].cached = 0;
  truth.damages = 0;
}

/* The dataset NAME is begun: by the first rank that comes, in the ledger too. */
dataset* truth_start(const char* name, int step, int checkpoint, int output)
{
  dataset* d = &truth.set[truth.sets];
  int      i, full = (S.faults & (FAULT_ROOM | FAULT_ENOSPC)) != 0;

  if (truth.sets > 0 && strcmp(d->name, name) == 0 && d->life == S.life) return d;
  if (truth.sets == DATASETS_MOST) fprintf(stderr, "too many datasets\n"), abort();
  d = &truth.set[++truth.sets];
  memset(d, 0, sizeof *d);
  snprintf(d->name, sizeof d->name, "%s", name);
  d->number = truth.sets;
  d->step = step;
  d->checkpoint = checkpoint != 0;
  d->output = output != 0;
  d->ranks = plan.members;
  d->life = S.life;
  d->begun = truth_clock();
  d->tolerance = tolerance_now();
  d->away = (S.faults & FAULT_AWAY) != 0;
  for (i = 1; i < d->number && full; i++) {
    truth.set[i].moved = 1;
    truth.set[i].left |= !plan.keep; /* deleted before this one, as a warning has said */
  }
  for (i = truth.offered + 1; i < d->number && truth.offered && S.faults; i++) /* what a fault has kept from use */
    if (truth.set[i].life < S.life && truth.set[i].told) truth.set[i].cached = 0;
  truth_crowd(d, !plan.keep && full ? 1 : plan.cache_size);
  if (checkpoint) totals.checkpoints++;
  else totals.outputs++;
  return d;
}

void truth_overwritten(const dataset* d)
{
  int i;

  for (i = 1; i < d->number; i++) {
    dataset* s = &truth.set[i];
    if (!truth_shares(s, d) || !s->on_prefix) continue;
    if (s->number == truth.chosen && d->number <= truth.chosen_at) continue; /* which has passed over D */
    s->on_prefix = s->cached = 0; /* as the prefix had it, it may have left the cache */
  }
}

/*
** D may be on the prefix: what it replaces there, and what the window leaves out, need not be any more.  Each newer
** checkpoint may count in the window; a prefix that is full, or damaged, keeps fewer.
*/
static void truth_replaces(const dataset* d)
{
  int i, newer = d->checkpoint;

  for (i = d->number - 1; i > 0; i--) {
    dataset* s = &truth.set[i];
    if (strcmp(s->name, d->name) == 0 ||
        (plan.prefix_size > 0 && d->checkpoint && (newer >= plan.prefix_size || S.faults)))
      s->on_prefix = 0;
    newer += s->checkpoint;
  }
}

void truth_on_prefix(dataset* d)
{
  d->on_prefix = !d->rotten; /* that it is there, nobody tells by its bytes */
  d->purged = d->rotten;
  truth_overwritten(d);
  truth_replaces(d);
}

void truth_purged(const dataset* d, int rots)
{
  int i;

  for (i = 1; i <= truth.sets; i++) {
    dataset* s = &truth.set[i];
    if (strcmp(s->name, d->name) == 0 || truth_shares(s, d)) s->purged = 1, s->rotten |= rots;
    if (s->purged || truth.windowed) s->on_prefix = 0; /* others may have left the window for it */
  }
}

/* What the user does not want is not asked for; it may be offered until he has been obeyed. */
static void truth_let_go(dataset* d)
{
  if (!d->gone) d->gone = 1;
}

void truth_choosing(const dataset* d)
{
  int i;

  for (i = 1; i <= truth.sets; i++)
    if (&truth.set[i] != d) truth_let_go(&truth.set[i]);
  truth.set[d->number].picked = 1;
  truth.chosen = 0;
}

void truth_chosen(const dataset* d, int flushed)
{
  truth.chosen = d->number;
  truth.unserved = 0;
  truth.chosen_at = truth.sets;
  truth.set[d->number].on_prefix |= flushed && !d->purged;
  truth.set[d->number].gone = 0;
}

void truth_deleting(const dataset* d)
{
  int i;

  for (i = 1; i <= truth.sets; i++)
    if (strcmp(truth.set[i].name, d->name) == 0) truth_let_go(&truth.set[i]);
  truth_moot(d);
  for (i = 1; i <= truth.sets; i++) /* if they were lost before, nothing is left, and rightly */
    truth.set[i].left |= i < d->number || (truth.set[i].life < S.life && truth.set[i].told);
  if (truth.chosen && strcmp(truth.set[truth.chosen].name, d->name) == 0) truth.chosen = 0;
}

int truth_is_damaged(int node)
{
  int i;

  for (i = 0; i < truth.damages && truth.damaged[i] != node; i++) continue;
  return i < truth.damages;
}

void truth_damage(int node)
{
  if (!truth_is_damaged(node)) truth.damaged[truth.damages++] = node;
}

void truth_lose_file(int node)
{
  truth.lost_file = 1;
  truth_damage(node);
}

void truth_unindexed(void)
{
  int i, purged = 0;

  truth.chosen = truth.unserved = 0;
  for (i = 1; i <= truth.sets; i++) purged |= truth.set[i].purged;
  for (i = 1; i <= truth.sets; i++) {
    dataset* d = &truth.set[i];
    if (d->rejected) truth_let_go(d);
    if (d->gone) d->gone = 1;
    d->rejected = d->picked = 0;
    d->told |= purged; /* as the command has said that one is not added */
    d->left |= purged;
  }
}

void truth_returned(void)
{
  int i;

  truth.returned = truth.twins = 1;
  for (i = 1; i <= truth.sets; i++) /* who wrote the machine's files does not know what was rejected elsewhere */
    if (truth.set[i].rejected && (!truth.set[i].on_prefix || truth_has_twin(&truth.set[i]))) {
      truth.set[i].rejected = 0;
      truth_let_go(&truth.set[i]);
    }
}

void truth_acked(dataset* d, int sure_on_prefix)
{
  d->told_ranks++;
  if (S.faults & FAULT_MPI && d->told_ranks < plan.members)
    return; /* where MPI fails, only the word of all ranks counts */
  if (d->checkpoint) {
    if (!S.faults || truth.chosen) truth.unserved = S.faults ? truth.chosen : 0;
    truth.chosen = 0;
  }
  if (d->acked++ == 0) { /* a later rank may come when the next one is begun */
    sim_note("acknowledged %s, number %d", d->name, d->number);
    d->cached = !plan.bypass;
    d->moved |= (S.faults & (FAULT_ROOM | FAULT_ENOSPC)) != 0; /* or it was written there */
    truth_crowd(d, plan.cache_size);
    truth.log_lost &= !d->checkpoint;
    truth.saved += d->checkpoint;
    truth.halt |= d->checkpoint && truth.wish && plan.signals == 3;
    truth.wish &= !d->checkpoint;
  }
  if (sure_on_prefix) truth_on_prefix(d);
  if (S.faults) d->told = d->left = d->unnoted = 1; /* the flush file may not have it, as a warning has said */
  if (d->checkpoint && d->told_ranks == plan.members) truth_repaired(truth.offered);
}

void truth_finalizes(void)
{
  int i;

  for (i = 1; i <= truth.sets && plan.flush == 0; i++) truth.set[i].left = 1;
}

void truth_finalized(int sure)
{
  int i = sure ? truth_newest(is_acked) : 0, k;

  if (plan.flush == 0 || i == 0 || truth.set[i].ranks != plan.members || !truth.set[i].cached) return;
  for (k = i + 1; k <= truth.sets && S.faults; k++) /* it may be complete, although a fault has made its flush fail */
    if (truth.set[k].checkpoint) return;
  if (truth.set[i].life == S.life || truth.offered == i) truth_on_prefix(&truth.set[i]);
}

void truth_offer(process* p, const char* name)
{
  const dataset* d = truth_find(name);

  if (d == NULL) sim_violation("rank %d is offered %s, which was never written", p->id, name);
  else if (!d->checkpoint) sim_violation("rank %d is offered %s, which is no checkpoint", p->id, name);
}

/*
** D, which only caches knew, has come back with its machines: D may have a greater id than THAN, of a later run, or the
** same one, and a later time by clocks that have gone back since.
*/
static int may_lead(const dataset* d, const dataset* than)
{
  return truth.returned && d->life < than->life && (d->unnoted || (!d->acked && d->begun > than->begun));
}

void truth_loaded(process* p, int try, const char* name, int number)
{
  const dataset *d = &truth.set[number > 0 && number <= truth.sets ? number : 0], *must = &truth.set[truth.must];
  int            i;

  if (truth.loaded[try] == number && number != 0) return;
  if (truth.loaded[try] || d->number == 0 || strcmp(d->name, name) != 0) {
    sim_violation("rank %d finds dataset %d (%s) in %s, others %d", p->id, number, d->name, name, truth.loaded[try]);
    return;
  }
  truth.loaded[try] = number;
  for (i = number + 1; i <= truth.sets && number == truth.unserved && try == 0; i++) { /* as a warning has said */
    truth_let_go(&truth.set[i]);
    truth.set[i].told = 1;
  }
  if (d->gone == 2 && !(d->unnoted && !d->on_prefix && truth.returned)) /* it was not known when others were let go */
    sim_violation("%s (number %d) is offered, which the user does not want", name, number);
  if (d->rejected && !truth.returned) /* a cache that came back does not know of it */
    sim_violation("%s (number %d) is offered, which was rejected in this job", name, number);
  if (truth.offered) { /* the program has refused a newer one */
    int next = try > 0 ? truth_must_to(truth.loaded[try - 1] - 1) : 0;
    if (number < next && !(S.faults & ~FAULT_ROOM) && number != truth.unserved && !may_lead(d, &truth.set[next]) &&
        (!truth.set[next].displaced || is_on_prefix(&truth.set[next])))
      sim_violation("%s (number %d) is offered next, but %s (number %d) must have survived (%d nodes damaged, %s)",
                    name, number, truth.set[next].name, next, truth.damages, plan.scheme);
    return;
  }
  truth.offered = number;
  if (S.faults && number == truth.chosen) truth.unserved = number; /* a fault may keep that from being recorded */
  truth_crowd(d, plan.cache_size);
  if (plan.flush > 0) truth_overwritten(d); /* the start of a run copies what only the cache has */
  truth_replaces(d);
  totals.offered++;
  sim_note("loaded %s, number %d (must: %d, damages: %d)", name, number, truth.must, truth.damages);
  if (number < truth.must && !(S.faults & ~FAULT_ROOM) && try == 0 && number != truth.unserved && !may_lead(d, must))
    sim_violation("%s (number %d) is offered, but %s (number %d) must have survived (%d nodes damaged, %s)", name,
                  number, must->name, truth.must, truth.damages, plan.scheme);
  if (plan.wished && number != plan.wished && !S.faults)
    sim_violation("%s (number %d) is offered, but SCR_CURRENT is %s (number %d)", name, number,
                  truth.set[plan.wished].name, plan.wished);
  if (truth.chosen && number != truth.chosen && number <= truth.chosen_at && try == 0 && !S.faults &&
      plan.prefix_used && (number > truth.chosen || truth.warnings == 0)) /* it was served before it was lost */
    sim_violation("%s (number %d) is offered, but the user has chosen %s (number %d)", name, number,
                  truth.set[truth.chosen].name, truth.chosen);
  if (number < truth.newest_before && try == 0 && truth.warnings == 0 && plan.cache_used && plan.prefix_used &&
      number != truth.unserved && !may_lead(d, &truth.set[truth.newest_before]))
    sim_violation("%s (number %d) is offered without a word, but %s (number %d) was acknowledged", name, number,
                  truth.set[truth.newest_before].name, truth.newest_before);
  for (i = number + 1; i <= truth.sets && truth.warnings > 0; i++) truth.set[i].told = 1;
}

void truth_scavenged(int number)
{
  dataset* d = &truth.set[number];

  if (number <= 0) return;
  if (number != truth.chosen && (truth_shares(d, &truth.set[truth.chosen]) || truth.set[truth.chosen].purged))
    truth.chosen = 0; /* as a warning has said */
  truth_on_prefix(d);
}

int truth_savable(int down)
{
  int i = truth_newest(is_cached), k;

  for (k = 1; k < i; k++)
    if (truth.set[k].output && !truth.set[k].on_prefix && !truth.set[k].gone) return 0; /* it goes first, if it can */
  return i && !truth.set[i].unnoted && !truth.notes_lost && truth.damages + down <= truth.set[i].tolerance ? i : 0;
}

/* The library keeps to its directories; it has others beside scr.sim where another prefix has that. */
static void truth_places(void)
{
  int i;

  for (i = 0; i < plan.nodes; i++)
    if (!tree_has_only(world_node[i], "/", " ssd ssd2 cntl ") ||
        !tree_has_only(world_node[i], "/ssd", " user scr_check_node. ") || /* of a test that was killed */
        !tree_has_only(world_node[i], "/cntl", " user scr_check_node. "))
      sim_violation("node %d has files where nobody has asked for them", i);
  if (!tree_has_only(world_prefix, "/", plan.beside ? " p q " : " p ") ||
      (plan.theme != THEME_LEVELS && !tree_has_only(world_shared, "/", " ")))
    sim_violation("there are files beside the prefix");
}

void truth_after_life(int complete)
{
  int must = truth.must, newer = 0, i;

  for (i = 1; i <= truth.sets && S.faults; i++) {
    truth.set[i].moved |= plan.prefix_used; /* a fetch that failed was to take its place, */
    truth.set[i].unnoted = 1;               /* or one of which neither the program nor the flush file knows */
    if (truth.chosen && i > truth.chosen && truth_shares(&truth.set[i], &truth.set[truth.chosen]) && world_warnings > 0)
      truth.chosen = 0; /* as a warning has said: a flush that went on has taken its place */
  }
  for (i = truth.sets; i > 0 && plan.prefix_size > 0; i--) {
    if (newer >= plan.prefix_size) truth.set[i].outgrown = 2;
    else if (S.faults && !truth.set[i].outgrown) truth.set[i].outgrown = 1;
    newer += truth.set[i].checkpoint;
  }
  if (truth.seen < truth_clock() + 1) truth.seen = truth_clock() + 1;
  for (i = must + 1; i <= truth.sets && S.struck && !truth.asked && world_warnings > 0; i++) truth.set[i].told = 1;
  truth.refused = 0;
  truth.daemon_struck = S.daemon_struck;
  truth.remnants |= (S.struck && truth.inits < plan.members) || S.faults == FAULT_LIST ||
                    (S.faults & FAULT_ROOM && world_warnings > 0);
  truth_places();

  if (truth.code && !S.faults && !S.struck) {
    int may = (truth.code == SCR_ERR_NO_RESTART || truth.code == SCR_ERR_LOST ||
               (truth.code == SCR_ERR_NOT_FOUND && plan.wished)) &&
              (truth.offered || truth.unread ||
               (must == 0 && !plan.fresh &&                                     /* who begins anew has asked for none */
                (truth.notes_lost || truth.rotten || truth_newest(is_tried)))); /* which the program may have refused */
    truth.refused = may;
    if (may && !plan.cache_used) truth_spared();
    may |= plan.time_limit && truth.code == SCR_ERR_PARAM; /* there is no time left */
    if (!may)
      sim_violation("the start fails with %d (%d nodes damaged, %s, must %d): %s", truth.code, truth.damages,
                    plan.scheme, must, truth.text);
  }
  if (truth.asked && !truth.have && !truth.code && truth.work && plan.cache_used && plan.prefix_used)
    sim_violation("nothing is offered without an error, but %s was acknowledged", truth.set[truth.work].name);
  if (truth.asked && !truth.have && !truth.code && must && !(S.faults & ~FAULT_ROOM))
    sim_violation("nothing is offered, but %s (number %d) must have survived (%d nodes damaged, %s)",
                  truth.set[must].name, must, truth.damages, plan.scheme);
  for (i = 1; i <= truth.sets && plan.fresh && truth.asked && !truth.code; i++)
    if (truth.set[i].gone) truth.set[i].gone = 2;
  if (complete && !truth.code && truth.finals == plan.members && beside_ended()) mpi_check_end();
  if (truth.inits == plan.members) truth.returned = 0;
  if (truth.inits == plan.members && !S.faults && truth.offered && plan.cache_used && !truth.lost_file) {
    truth_repaired(1);
    for (i = truth.offered; i <= truth.sets; i++) { /* what was passed over is gone for good */
      if (truth.set[i].life < S.life && i > truth.offered) truth.set[i].cached = 0;
      if (truth.set[i].cached) truth.set[i].unnoted = 0;
    }
  }
}
