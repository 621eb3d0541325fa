/* ==== BESIDE ====================================================================================================
** A second application of the job: the ranks that are not members of the first one have the library over a
** communicator and a prefix of their own, on a node of theirs or on the same nodes.
**
** Offers     beside_* of truth.h
** It writes checkpoints of one file a rank, and starts again from them; its ledger is its newest dataset.
** What must be true
**   B1  What is offered is at least as new as the newest checkpoint that no loss of a node can have taken, or that is
**       on the prefix; its bytes are those that were written; every call has the same result on all ranks.
**   B2  Nothing is left at its end.  An error of its start, or nothing to offer, has lost work before it.
** ================================================================================================================= */
#include "truth.h"

#define SCR_API extern
#include "mpi.h"
#include "scr.h"

#include <fcntl.h>

#define BESIDE_PREFIX "/pfs/q"
#define BESIDE_CALLS  64

static struct {
  int begun;     /* datasets; their numbers are their order, and their names */
  int acked;     /* the newest one of which all ranks were told that it is complete */
  int whole;     /* that many ranks wrote it to the cache, and no node was lost or cut since; 0: it need not be there */
  int on_prefix; /* the newest one of which they were told that it is there */
  int left;      /* a run without flushes may have left the newest one in the cache on purpose */
  int fresh;     /* this lifetime is to begin anew */
  int refused;   /* the last one could not load anything, as it may be */
  /* of this lifetime */
  int first;                             /* datasets before it */
  int must, offered, told, ends, failed; /* told: ranks that know of the newest one; failed: the error of the start */
  int code[BESIDE_CALLS];                /* results of the calls in order, on the first rank that returned, */
  int calls;                             /* of so many */
} beside;

void beside_begin_seed(void)
{
  memset(&beside, 0, sizeof beside);
}

void beside_damaged(void)
{
  beside.whole = 0;
}

const char* beside_getenv(const char* name)
{
  static char text[24];

  if (strcmp(name, "SCR_PREFIX") == 0) return BESIDE_PREFIX;
  if (strcmp(name, "SCR_FRESH_START") != 0) return world_getenv(name);
  snprintf(text, sizeof text, "%d", S.life);
  return beside.fresh ? text : NULL;
}

/* Nothing that it has written must be offered any more. */
static void beside_let_go(void)
{
  beside.acked = beside.whole = beside.on_prefix = 0;
}

void beside_begin_life(void)
{
  int i, n = plan.ranks - plan.members;

  for (i = plan.members; plan.beside && i < plan.ranks; i++) S.rank[i]->beside = 1;
  beside.fresh = beside.refused;
  beside.first = beside.begun;
  beside.offered = beside.told = beside.ends = beside.failed = beside.calls = 0;
  if (beside.fresh) beside_let_go();
  beside.must = plan.prefix_used ? beside.on_prefix : 0;
  if (plan.cache_used && beside.whole == n && beside.acked > beside.must) beside.must = beside.acked;
  if (plan.same_ranks) beside.must = 0; /* it may have had others */
  if (!plan.cache_used) {               /* the user lets go what only the cache has */
    beside.whole = 0;
    beside.acked = beside.on_prefix;
  }
  beside.left |= plan.flush == 0;
}

/* This rank's call number *K has returned CODE: as on the other ranks. */
static int same(const process* p, int* k, int code)
{
  int at = (*k)++ % BESIDE_CALLS;

  if (S.faults & FAULT_MPI) return code;
  if (at == beside.calls) beside.code[beside.calls++] = code;
  if (beside.code[at] != code)
    sim_violation("rank %d: call %d of the second application returns %d, and on other ranks %d", p->id, at, code,
                  beside.code[at]);
  return code;
}

/* What WRITER has in dataset NUMBER; returns its length. */
static int text_of(char text[1024], int number, int writer)
{
  int n = snprintf(text, 1024, "dataset %d of rank %d ", number, writer), size = n + (number * 37 + writer * 91) % 900;

  memset(text + n, 'a' + number % 26, (size_t)(size - n));
  return size;
}

static int file_write(const char* file, int number, int writer)
{
  char text[1024];
  int  n = text_of(text, number, writer), fd = sim_open64(file, O_WRONLY | O_CREAT | O_TRUNC, 0644), ok;

  ok = fd >= 0 && sim_write(fd, text, (size_t)n) == n;
  return fd >= 0 && sim_close(fd) == 0 && ok;
}

static int file_is(const char* file, int number, int writer)
{
  char text[1024], is[1024];
  int  n = text_of(text, number, writer), fd = sim_open64(file, O_RDONLY), ok;

  ok = fd >= 0 && sim_read(fd, is, sizeof is) == n && memcmp(is, text, (size_t)n) == 0;
  if (fd >= 0) sim_close(fd);
  return ok;
}

static void path_of(char path[SCR_MAX_FILENAME], int number, int writer)
{
  snprintf(path, SCR_MAX_FILENAME, BESIDE_PREFIX "/beside.%d/rank.%d", number, writer);
}

/* A call has failed: without faults it must not. */
static void must_not(const process* p, const char* what, int code)
{
  if (code != SCR_SUCCESS && !S.faults)
    sim_violation("rank %d: %s of the second application: %d, %s", p->id, what, code, SCR_Last_error());
}

/* Start again from the newest checkpoint, for rank ME of N.  Returns 0 if the run cannot go on. */
static int start_again(const process* p, int me, int n, int* k)
{
  char name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  have = 0, number = 0, writer, writers = 0, ok = 1, rc = same(p, k, SCR_Have_restart(&have, name));

  if (rc != SCR_SUCCESS) {
    beside.failed = rc;
    return 0;
  }
  if (!have && (beside.must || (beside.acked && !beside.left)) && plan.cache_used && plan.prefix_used && !S.faults)
    sim_violation("nothing is offered to the second application, which has written %d", beside.acked);
  if (!have) return 1;
  if (sscanf(name, "beside.%d", &number) != 1 || number < 1 || number > beside.begun)
    sim_violation("the second application is offered %s", name);
  if (number < beside.must && !S.faults && !truth.twins)
    sim_violation("dataset %d is offered to the second application, but %d must have survived", number, beside.must);
  beside.offered = number;
  if ((rc = same(p, k, SCR_Start_restart(name))) != SCR_SUCCESS || SCR_Restart_ranks(&writers) != SCR_SUCCESS) {
    must_not(p, "SCR_Start_restart", rc == SCR_SUCCESS ? SCR_ERR_STATE : rc);
    return 0;
  }
  for (writer = me; writer < writers; writer += n) {
    path_of(path, number, writer);
    ok &= SCR_Route_file(path, file) == SCR_SUCCESS && file_is(file, number, writer);
  }
  if (!ok && !S.faults) sim_violation("rank %d of the second application cannot read dataset %d", p->id, number);
  if (!ok) beside_let_go(); /* it is refused, and a kill may keep the call from returning */
  rc = same(p, k, SCR_Complete_restart(ok));
  if (rc != SCR_SUCCESS) beside_let_go();
  must_not(p, "SCR_Complete_restart", rc);
  return rc == SCR_SUCCESS;
}

/* All N ranks know that NUMBER is complete. */
static void acked(int number, int n)
{
  beside.acked = number;
  beside.whole = plan.bypass ? 0 : n;
  beside.left = plan.flush == 0 || S.faults; /* faults may keep the flush file from knowing of it */
  if (plan.bypass || (plan.flush == 1 && !plan.async)) beside.on_prefix = number;
}

/* Write dataset NUMBER, on rank ME of N. */
static void write_one(const process* p, int number, int me, int n, int* k)
{
  char name[32], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  rc, ok;

  if (beside.begun < number) {
    beside.begun = number;
    beside.told = 0;
    if (!plan.keep || S.faults) beside.whole = 0; /* the one before leaves the cache, or may have to */
    if (plan.prefix_size > 0 && S.faults) beside.on_prefix = 0;
  }
  snprintf(name, sizeof name, "beside.%d", number);
  rc = same(p, k, SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
  must_not(p, "SCR_Start_output", rc);
  path_of(path, number, me);
  ok = rc == SCR_SUCCESS && SCR_Route_file(path, file) == SCR_SUCCESS && file_write(file, number, me);
  rc = same(p, k, SCR_Complete_output(ok));
  must_not(p, "SCR_Complete_output", rc);
  if (rc == SCR_SUCCESS && ++beside.told == n) acked(number, n);
}

void beside_run(process* p)
{
  int member[RANKS_MOST], i, k = 0, n = plan.ranks - plan.members, me = p->id - plan.members;
  int rc;

  for (i = 0; i < n; i++) member[i] = plan.members + i;
  p->api = "the second application";
  if ((rc = same(p, &k, SCR_Init_comm(mpi_comm_of(n, member)))) != SCR_SUCCESS) {
    beside.failed = rc;
    return;
  }
  i = start_again(p, me, n, &k) && !plan.last ? 1 + (int)fate_draw("beside.steps", 3) : 0;
  for (rc = 1; rc <= i; rc++) write_one(p, beside.first + rc, me, n, &k);
  rc = same(p, &k, SCR_Finalize());
  must_not(p, "SCR_Finalize", rc);
  if (rc != SCR_SUCCESS) return;
  program_ends(p);
  if (++beside.ends < n || S.faults || plan.flush == 0 || beside.failed) return;
  if (beside.acked > beside.first) beside.on_prefix = beside.acked;
  else if (beside.offered > beside.on_prefix) beside.on_prefix = beside.offered;
}

void beside_after_life(void)
{
  int may = (beside.failed == SCR_ERR_NO_RESTART || beside.failed == SCR_ERR_LOST) && beside.must == 0 &&
            beside.first > 0 && !beside.fresh;

  if (S.faults && plan.prefix_used) beside.whole = 0; /* a fetch that failed was to take its place */
  beside.refused = 0;
  if (!beside.failed || S.faults || S.struck) return;
  beside.refused = may;
  may |= plan.time_limit && beside.failed == SCR_ERR_PARAM; /* there is no time left */
  if (!may) sim_violation("the start of the second application fails with %d", beside.failed);
}

int beside_ended(void)
{
  return !plan.beside || beside.ends == plan.ranks - plan.members;
}
