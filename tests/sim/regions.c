/* ==== REGIONS ===================================================================================================
** An array of all ranks, and a region of each, which the program protects: some steps add them to the files of their
** dataset (SCR_Put_regions), and some have nothing else (SCR_Checkpoint).
**
** Offers     regions_* of truth.h
** What must be true
**   M1  What SCR_Get_regions has filled are the bytes of one dataset, on any number of ranks.
** An element of the array has the number of its dataset and its own; the region of a rank begins with REGIONS_MAGIC, by
** which the audit finds it in a file.
** ================================================================================================================= */
#include "truth.h"

#define SCR_API extern
#include "mpi.h"
#include "scr.h"

#define REGIONS_MAGIC 0x72656769306e7321u
#define REGIONS_ALIGN 64 /* regions begin at multiples of it in their files */

typedef struct {
  uint64_t magic, number, rank;
} own_region;

/* What a rank protects: the region of its own if WRITERS ranks may have it, and elements FIRST to FIRST + COUNT - 1. */
struct regions {
  own_region own;
  int        has_own;
  size_t     first, count;
  uint64_t   element[];
};

int regions_of(int step)
{
  static const int what[] = {REGIONS_NONE, REGIONS_TOO, REGIONS_ALONE, REGIONS_ALONE};

  if (!plan.regions) return REGIONS_NONE;
  return plan.recovers ? REGIONS_ALONE : what[(unsigned)step % 4];
}

static size_t block_first(int rank, int ranks)
{
  return (size_t)plan.regions * (size_t)rank / (size_t)ranks;
}

static uint64_t element_of(int number, size_t i)
{
  return (uint64_t)number << 32 | ((i * 2654435761u ^ (uint64_t)number * 40503u) & 0xffffffffu);
}

regions* regions_protect(process* p, int number, int writers)
{
  size_t   first = block_first(p->id, plan.members), count = block_first(p->id + 1, plan.members) - first, i;
  size_t   global = (size_t)plan.regions;
  regions* r = sim_process_alloc(p, sizeof *r + count * sizeof *r->element);
  int      rc = SCR_ERR_MEM;

  r->first = first;
  r->count = count;
  r->has_own = writers == plan.members;
  r->own = (own_region){number ? REGIONS_MAGIC : 0, (uint64_t)number, (uint64_t)p->id};
  for (i = 0; i < count; i++) r->element[i] = number ? element_of(number, first + i) : 0;
  while (rc == SCR_ERR_MEM) rc = SCR_Protect_array("u", r->element, sizeof *r->element, 1, &global, &first, &count);
  if (r->has_own && rc == SCR_SUCCESS) rc = SCR_ERR_MEM;
  while (rc == SCR_ERR_MEM) rc = SCR_Protect("own", &r->own, 1, sizeof r->own);
  if (rc != SCR_SUCCESS) sim_violation("rank %d: Protect: %d, %s", p->id, rc, SCR_Last_error());
  return r;
}

void regions_unprotect(process* p, regions* r)
{
  if (SCR_Unprotect("u") != SCR_SUCCESS || (r->has_own && SCR_Unprotect("own") != SCR_SUCCESS))
    sim_violation("rank %d: Unprotect: %s", p->id, SCR_Last_error());
  sim_process_free(p, r);
}

int regions_number(const regions* r)
{
  return (int)(r->element[0] >> 32);
}

void regions_check(const process* p, const regions* r, const dataset* d)
{
  size_t i;

  for (i = 0; i < r->count && r->element[i] == element_of(d->number, r->first + i); i++) continue;
  if (i < r->count)
    sim_violation("rank %d: element %lu of the array is not that of %s, number %d", p->id,
                  (unsigned long)(r->first + i), d->name, d->number);
  if (r->has_own &&
      (r->own.magic != REGIONS_MAGIC || r->own.number != (uint64_t)d->number || r->own.rank != (uint64_t)p->id))
    sim_violation("rank %d: its region is not that of %s, number %d", p->id, d->name, d->number);
}

int regions_find(int writer, const unsigned char* p, size_t n)
{
  static uint64_t want[REGIONS_MOST];
  size_t          first, count, at, i;
  own_region      own = {0, 0, 0};

  for (at = 0; at + sizeof own <= n && own.magic != REGIONS_MAGIC; at += REGIONS_ALIGN)
    memcpy(&own, p + at, sizeof own);
  if (own.magic != REGIONS_MAGIC || own.rank != (uint64_t)writer) return 0;
  if (own.number < 1 || own.number > (uint64_t)truth.sets) return 0;
  first = block_first(writer, truth.set[own.number].ranks);
  count = block_first(writer + 1, truth.set[own.number].ranks) - first;
  for (i = 0; i < count; i++) want[i] = element_of((int)own.number, first + i);
  for (at = 0; at + count * sizeof *want <= n; at += REGIONS_ALIGN)
    if (memcmp(p + at, want, count * sizeof *want) == 0) return (int)own.number;
  return 0;
}
