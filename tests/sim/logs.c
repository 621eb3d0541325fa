/* ==== LOGS ======================================================================================================
** A log of each rank on the prefix, which only grows: the program tracks it (SCR_Track).
**
** Offers     logs_* of truth.h
** What must be true
**   L1  After SCR_Start_restart each log that the checkpoint knows has the bytes that it had when that was complete.
**       While the prefix was away, the checkpoint may know nothing of it: then it has at least what older ones knew.
**   L2  SCR_Start_restart fails for the sake of a log only if the program has cut or emptied that since, or by a fault.
** A rank writes a line of its own before each dataset.  What the log has then is in the ledger as a checksum.
** ================================================================================================================= */
#include "truth.h"

#define SCR_API extern
#include "mpi.h"
#include "scr.h"

#include <fcntl.h>

#define LOGS_ROOM (1 << 16) /* no log grows so long */

/* Of each dataset: checksum and size of the log of each rank, 0 where they are not known; and if the logs were kept. */
static struct {
  uint64_t sum[LOGS_RANKS];
  int      size[LOGS_RANKS];
  int      kept;
} logs[DATASETS_MOST + 1];

void logs_begin_seed(void)
{
  memset(logs, 0, sizeof logs);
}

static void logs_path(char* path, size_t n, int rank)
{
  snprintf(path, n, PREFIX "/log.%d", rank);
}

/* The checksum of the log of RANK, as process P reads it, and its *SIZE; 0 if it cannot. */
static uint64_t logs_sum(process* p, int rank, int* size)
{
  char           path[64];
  unsigned char* bytes = sim_process_alloc(p, LOGS_ROOM);
  int            i, n;
  uint64_t       h = 14695981039346656037u;

  logs_path(path, sizeof path, rank);
  n = program_load(path, bytes, LOGS_ROOM);
  for (i = 0; i < n; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
  sim_process_free(p, bytes);
  *size = n < 0 ? 0 : n;
  return n < 0 ? 0 : h | 1;
}

void logs_track(process* p)
{
  char path[64];
  int  rc = SCR_ERR_MEM;

  logs_path(path, sizeof path, p->id);
  while (rc == SCR_ERR_MEM) rc = SCR_Track(path);
  if (rc != SCR_SUCCESS) sim_violation("rank %d: Track %s: %d, %s", p->id, path, rc, SCR_Last_error());
}

void logs_empty(process* p)
{
  char path[64];
  int  i, fd;

  for (i = 1; i <= truth.sets; i++) logs[i].kept = 0;
  logs_path(path, sizeof path, p->id);
  fd = sim_open64(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0) sim_close(fd);
}

void logs_append(process* p, const dataset* d)
{
  char path[64], line[200];
  int  fd, n = snprintf(line, sizeof line, "%d: rank %d, step %d of lifetime %d", d->number, p->id, d->step, S.life);

  for (; n < 30 + (d->number * 37 + p->id * 11) % 150; n++) line[n] = '.';
  line[n++] = '\n';
  logs_path(path, sizeof path, p->id);
  fd = sim_open64(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd >= 0 && sim_write(fd, line, (size_t)n) < n) sim_note("rank %d: a line of its log is cut short", p->id);
  if (fd >= 0) sim_close(fd);
  logs[d->number].sum[p->id] = logs_sum(p, p->id, &logs[d->number].size[p->id]);
  logs[d->number].kept = 1;
}

void logs_restoring(const char* name)
{
  int i;

  for (i = 1; i <= truth.sets && strcmp(truth.set[i].name, name) != 0; i++) continue;
  while (++i <= truth.sets) logs[i].kept = 0;
}

int logs_may_be_lost(const char* name)
{
  int i;

  for (i = 1; i <= truth.sets; i++)
    if (strcmp(truth.set[i].name, name) == 0 && !logs[i].kept) return 1;
  return 0;
}

void logs_restored(process* p, const dataset* d)
{
  uint64_t is;
  int      i, k, size;

  for (i = p->id; i < d->ranks; i += plan.members) {
    is = logs_sum(p, i, &size);
    if (is && logs[d->number].sum[i] && is != logs[d->number].sum[i] && !d->away)
      sim_violation("rank %d: the log of rank %d does not end where it did in %s, number %d", p->id, i, d->name,
                    d->number);
    for (k = d->number; k > 0 && (truth.set[k].away || !logs[k].kept || !logs[k].size[i]); k--) continue;
    if (is && k > 0 && size < logs[k].size[i])
      sim_violation("rank %d: the log of rank %d has %d bytes after a restart from %s, and had %d before", p->id, i,
                    size, d->name, logs[k].size[i]);
  }
}
