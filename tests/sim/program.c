/* ==== PROGRAM ===================================================================================================
** The application of the simulator: restarts, checkpoints, outputs, and what its user asks for.
**
** Offers     program_run of truth.h, which each rank runs
** All ranks make the same calls: what they do follows from draws, which are the same on all.  Some runs have a message
** of their own under way while they write, over the communicator of SCR_Init.  What a file must hold
** follows from its dataset, its writer and its number, so that any rank can check the bytes of any other.
** ================================================================================================================= */
#include "scale.h"
#include "truth.h"

#define SCR_API extern
#include "mpi.h"
#include "scr.h"

#include <fcntl.h>

/* A rank of the program: where it is, and how many collective calls it has made. */
typedef struct {
  process* p;
  MPI_Comm comm; /* that of SCR_Init */
  int      calls, step, asked;
  char     file[SCR_MAX_FILENAME]; /* the first one of the newest dataset, where it was written */
} actor;

/* ---- the bytes of a file ---- */

typedef struct {
  int number, step, writer, index;
  int size, ranks, files, pad;
} head;

static uint32_t scramble(uint32_t a, uint32_t b, uint32_t c)
{
  uint32_t x = a * 2654435761u ^ b * 40503u * 65537u ^ c * 2246822519u;

  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ x >> 13;
}

/* How many files WRITER has in a dataset of STEP: the same in all of that step, so that a reader can know. */
static int file_count(int step, int writer)
{
  if (regions_of(step) == REGIONS_ALONE) return 0;
  if (plan.files_most <= 1) return plan.files_most;
  return (int)(scramble((uint32_t)step, (uint32_t)writer, 77) % (unsigned)(plan.files_most + 1));
}

static int file_length(int n, int writer, int index)
{
  uint32_t x = scramble((uint32_t)n, (uint32_t)writer, (uint32_t)index + 3);

  if (index > 0 && x % 7 == 0) return 0;
  return (int)sizeof(head) + (int)((x >> 3) % (unsigned)plan.size_most);
}

static void file_fill(unsigned char* p, const head* h)
{
  uint32_t x = scramble((uint32_t)h->number, (uint32_t)h->writer, (uint32_t)h->index) | 1;
  int      i;

  for (i = 0; i < h->size; i++) {
    x = x * 1664525u + 1013904223u;
    p[i] = (unsigned char)(x >> 24);
  }
  if (h->size >= (int)sizeof *h) memcpy(p, h, sizeof *h);
}

/* In the last layout all checkpoints have the same files. */
static void file_path(char* path, size_t n, const char* name, int writer, int index)
{
  if (plan.layout == 3 && strncmp(name, "ckpt", 4) == 0) name = "same";
  if (plan.layout == 0 || plan.layout == 3) snprintf(path, n, PREFIX "/%s/rank_%d.%d", name, writer, index);
  else if (plan.layout == 1) snprintf(path, n, PREFIX "/all/%s_%d.%d", name, writer, index);
  else snprintf(path, n, PREFIX "/%s/%d/part.%d", name, writer % 3, writer * 100 + index);
}

/* Write the file of H; 0 on an error. */
static int file_make(process* p, const char* file, const head* h)
{
  unsigned char* bytes = sim_process_alloc(p, (size_t)h->size + 1);
  int            at = 0, ok = 1, fd = sim_open64(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ssize_t        n;

  file_fill(bytes, h);
  while (fd >= 0 && at < h->size && ok) {
    n = sim_write(fd, bytes + at, (size_t)(h->size - at < 3000 ? h->size - at : 3000));
    if (n > 0) at += (int)n;
    else if (n == 0 || errno != EINTR) ok = 0;
  }
  if (fd < 0 || sim_close(fd) < 0) ok = 0;
  sim_process_free(p, bytes);
  return ok;
}

static head head_of(const dataset* d, int writer, int index)
{
  head h;

  memset(&h, 0, sizeof h);
  h.number = d->number;
  h.step = d->step;
  h.writer = writer;
  h.index = index;
  h.size = file_length(d->number, writer, index);
  h.ranks = d->ranks;
  h.files = file_count(d->step, writer);
  return h;
}

int program_load(const char* file, unsigned char* p, int n)
{
  int     at = 0, fd = sim_open64(file, O_RDONLY);
  ssize_t got = 1;

  if (fd < 0) return -1;
  while (got != 0 && at < n) {
    got = sim_read(fd, p + at, (size_t)(n - at));
    if (got > 0) at += (int)got;
    else if (got < 0 && errno != EINTR) break;
  }
  sim_close(fd);
  return got < 0 ? -1 : at;
}

/*
** FILE must be file INDEX of WRITER, of one of the datasets NAME; the first file tells which one.  Returns 1 if it is;
** 0 if it cannot be read, which faults allow.
*/
static int file_check(process* p, int try, const char* file, const char* name, int writer, int index)
{
  int            most = plan.size_most + (int)sizeof(head) + 1, n, i, ok = 0;
  unsigned char *is = sim_process_alloc(p, (size_t)most), *want = sim_process_alloc(p, (size_t)most);
  head           h;

  n = program_load(file, is, most);
  if (n < 0 && !S.faults) sim_violation("rank %d cannot read %s", p->id, file);
  if (n >= (int)sizeof h && index == 0) {
    memcpy(&h, is, sizeof h);
    truth_loaded(p, try, name, h.number);
  }
  if (n >= 0 && truth.loaded[try] == 0) {
    if (index == 0) sim_violation("rank %d: %s has %d bytes", p->id, file, n);
  } else if (n >= 0) {
    h = head_of(&truth.set[truth.loaded[try]], writer, index);
    file_fill(want, &h);
    for (i = 0; i < n && i < h.size && is[i] == want[i]; i++) continue;
    ok = n == h.size && i == n;
    if (!ok)
      sim_violation("rank %d: %s, file %d of writer %d of dataset %d, has %d bytes instead of %d, wrong from %d on",
                    p->id, file, index, writer, truth.loaded[try], n, h.size, i);
  }
  sim_process_free(p, is);
  sim_process_free(p, want);
  return ok;
}

int program_check(const char* name, int writer, const char* path, const unsigned char* p, size_t n)
{
  static unsigned char* want;
  static size_t         room;
  char                  whole[SCR_MAX_FILENAME];
  const dataset*        d;
  head                  h, is;
  const char*           last;

  if (n == 0 || (plan.logs && strstr(path, "/tracked/") != NULL)) return -1;
  if (plan.regions && strstr(path, "regions.") != NULL) {
    int number = regions_find(writer, p, n);
    return number && strcmp(truth.set[number].name, name) == 0 ? number : 0;
  }
  if (n < sizeof h) return 0;
  memcpy(&h, p, sizeof h);
  if (h.number < 1 || h.number > truth.sets) return 0;
  d = &truth.set[h.number];
  is = head_of(d, writer, h.index);
  if (strcmp(d->name, name) != 0 || is.size != (int)n || memcmp(&is, &h, sizeof h) != 0) return 0;
  file_path(whole, sizeof whole, name, writer, h.index);
  last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (strcmp(strrchr(whole, '/') + 1, last) != 0) return 0;
  if (room < n) want = realloc(want, room = 2 * n);
  file_fill(want, &h);
  return memcmp(want, p, n) == 0 ? h.number : 0;
}

int program_files(const dataset* d)
{
  int i, n = 0;

  for (i = 0; i < d->ranks; i++) n += file_count(d->step, i);
  if (plan.logs && d->checkpoint) n += d->ranks; /* the records of their logs */
  return n + (regions_of(d->step) != REGIONS_NONE ? d->ranks : 0);
}

/* ---- calls ---- */

/* A collective call of the library: name it for whom it may concern, and compare its result over the ranks. */
#define CALL(a, api_name, expression)                                                                                  \
  ((a)->p->api = (api_name), scale_begin((a)->p), called((a), (api_name), (expression)))

static int called(actor* a, const char* api, int code)
{
  a->p->api = NULL;
  scale_end(a->p, api);
  truth_code(a->p, &a->calls, api, code);
  return code;
}

/* A draw of this step. */
static unsigned draw_step(const actor* a, const char* what, unsigned n)
{
  char name[64];

  snprintf(name, sizeof name, "s%d.%s", a->step, what);
  return fate_draw(name, n);
}

static int step_one_in(const actor* a, const char* what, unsigned n)
{
  return draw_step(a, what, n) == n - 1;
}

/* The first error of a lifetime at its start. */
static void start_failed(int code)
{
  if (truth.code) return;
  truth.code = code;
  snprintf(truth.text, sizeof truth.text, "%s", SCR_Last_error());
}

/* ---- restart ---- */

/* Read the regions of D, which WRITERS ranks wrote; 0 if that fails. */
static int restart_regions(actor* a, int try, const dataset* d, int writers)
{
  regions* r = regions_protect(a->p, 0, writers);
  int      rc = CALL(a, "SCR_Get_regions", SCR_Get_regions());

  if (rc == SCR_SUCCESS) {
    truth_loaded(a->p, try, d->name, regions_number(r));
    regions_check(a->p, r, &truth.set[truth.loaded[try]]);
  } else if (!S.faults) sim_violation("rank %d: Get_regions %s: %d, %s", a->p->id, d->name, rc, SCR_Last_error());
  regions_unprotect(a->p, r);
  return rc == SCR_SUCCESS;
}

/* Read what this rank needs of D; 0 if some of it cannot be read. */
static int restart_read(actor* a, int try, const dataset* d)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  writer, index, ok = 1, writers = 0;

  if (SCR_Restart_ranks(&writers) != SCR_SUCCESS) sim_violation("rank %d: Restart_ranks fails", a->p->id);
  for (writer = a->p->id; writer < writers; writer += plan.members)
    for (index = 0; index < file_count(d->step, writer); index++) {
      file_path(path, sizeof path, d->name, writer, index);
      if (SCR_Route_file(path, file) == SCR_SUCCESS) ok &= file_check(a->p, try, file, d->name, writer, index);
      else if (S.faults) ok = 0;
      else sim_violation("rank %d: no way to %s: %s", a->p->id, path, SCR_Last_error());
    }
  if (regions_of(d->step) != REGIONS_NONE) ok &= restart_regions(a, try, d, writers);
  d = &truth.set[truth.loaded[try]];
  if (d->number && d->ranks != writers)
    sim_violation("rank %d: %s was written by %d ranks, and not %d", a->p->id, d->name, d->ranks, writers);
  return ok;
}

/* The program refuses the checkpoint NAME, or, if its bytes have told, D; AGREED: all ranks know. */
static void refuse(dataset* d, const char* name, int agreed)
{
  int i;

  if (truth.chosen && (!d || d->number == truth.chosen)) truth.chosen = 0;
  if (d) truth_moot(d);
  else truth.unread = 1;
  if (d && agreed && !S.faults) d->rejected = S.life; /* a fault may keep that from being recorded */
  else if (d && !d->gone) d->gone = 1;
  for (i = 1; i <= truth.sets && !d; i++)
    if (strcmp(truth.set[i].name, name) == 0 && !truth.set[i].gone) truth_moot(&truth.set[i]), truth.set[i].gone = 1;
}

/* The library has answered whether there is a checkpoint, first of all at the start of a run. */
static void answered(int have)
{
  if (!truth.asked) truth.warnings = (int)world_warnings;
  truth.asked = 1;
  truth.have |= have;
}

/* Restart from the regions of the newest checkpoint.  Returns 0 if the run cannot go on. */
static int recover(actor* a)
{
  char     name[SCR_MAX_FILENAME];
  regions* r = regions_protect(a->p, 0, 0);
  int      have = 0, rc = CALL(a, "SCR_Recover", SCR_Recover(&have, name));
  dataset* d;

  answered(have);
  if (rc != SCR_SUCCESS) start_failed(rc);
  if (have) {
    truth_offer(a->p, name);
    truth_loaded(a->p, 0, name, regions_number(r));
    d = &truth.set[truth.loaded[0]];
    regions_check(a->p, r, d);
    a->step = d->step;
  }
  regions_unprotect(a->p, r);
  return rc == SCR_SUCCESS;
}

/* Restart from the newest checkpoint that is good enough.  Returns 0 if the run cannot go on. */
static int restart(actor* a)
{
  char     name[SCR_MAX_FILENAME];
  int      have, rc, ok, tries = 0;
  dataset* d;

  for (;;) {
    have = 0;
    rc = CALL(a, "SCR_Have_restart", SCR_Have_restart(&have, name));
    answered(have);
    if (rc != SCR_SUCCESS) {
      start_failed(rc);
      return 0;
    }
    if (!have && plan.logs) logs_empty(a->p);
    if (!have) return 1;
    truth_offer(a->p, name);
    d = truth_find(name);
    if (d == NULL) return 0;
    if (tries == 0 && fate_one_in("restart.skipped", 20)) return 1; /* it writes on without having read */
    if (plan.logs) logs_restoring(name);
    if ((rc = CALL(a, "SCR_Start_restart", SCR_Start_restart(name))) != SCR_SUCCESS) {
      truth.log_lost |= plan.logs && (rc == SCR_ERR_MISSING || rc == SCR_ERR_CRC) && logs_may_be_lost(name);
      if (!S.faults && !truth.log_lost)
        sim_violation("rank %d: Start_restart %s: %s", a->p->id, name, SCR_Last_error());
      return 0;
    }
    ok = restart_read(a, tries, d);
    if (plan.logs == 1 && truth.loaded[tries]) logs_restored(a->p, &truth.set[truth.loaded[tries]]);
    if (tries == 0 && fate_one_in("restart.rejected", 24)) ok &= a->p->id != plan.members / 2;
    if (!ok) refuse(truth.loaded[tries] ? &truth.set[truth.loaded[tries]] : NULL, name, 0);
    rc = CALL(a, "SCR_Complete_restart", SCR_Complete_restart(ok));
    if (rc == SCR_SUCCESS) {
      a->step = d->step;
      return 1;
    }
    refuse(truth.loaded[tries] ? &truth.set[truth.loaded[tries]] : NULL, name, 1);
    if (rc != SCR_ERR_INVALID || ++tries >= TRIES_MOST) {
      if (!S.faults) sim_violation("rank %d: Complete_restart %s: %d, %s", a->p->id, name, rc, SCR_Last_error());
      return 0;
    }
  }
}

/* ---- the program's own messages ---- */

/* A message of each rank to the next one, and what comes from the one before. */
typedef struct {
  MPI_Request came, sent;
  int         in, out;
} talk;

static void talk_listen(const actor* a, talk* t)
{
  MPI_Irecv(&t->in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a->comm, &t->came);
}

static void talk_say(const actor* a, talk* t)
{
  t->out = 1000 * a->step + a->p->id;
  MPI_Isend(&t->out, 1, MPI_INT, (a->p->id + 1) % plan.members, a->step, a->comm, &t->sent);
}

/*
** Begin to talk, if this run does: a rank listens while the library works, which must not be what it hears; or its
** message is there to be received, but not by the library.  Returns what talk_end is to do.
*/
static unsigned talk_begin(const actor* a, talk* t)
{
  unsigned how = S.faults ? 0 : fate_draw("talks", 8);

  memset(t, 0, sizeof *t);
  if (how == 1) talk_listen(a, t);
  if (how == 2) talk_say(a, t);
  return how;
}

static void talk_end(const actor* a, talk* t, unsigned how)
{
  int        over, before = (a->p->id + plan.members - 1) % plan.members;
  MPI_Status from, to;

  if (how != 1 && how != 2) return;
  if (how == 1) talk_say(a, t);
  else talk_listen(a, t);
  for (MPI_Test(&t->came, &over, &from); !over; MPI_Test(&t->came, &over, &from)) sim_sched_yield();
  for (MPI_Test(&t->sent, &over, &to); !over; MPI_Test(&t->sent, &over, &to)) sim_sched_yield();
  if (t->in != 1000 * a->step + before || from.MPI_SOURCE != before || from.MPI_TAG != a->step)
    sim_violation("rank %d: the program gets %d from rank %d with tag %d, which is no message of its own", a->p->id,
                  t->in, from.MPI_SOURCE, from.MPI_TAG);
}

/* ---- checkpoints and outputs ---- */

static int write_files(actor* a, const dataset* d)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  index, ok = 1;

  for (index = 0; index < file_count(d->step, a->p->id); index++) {
    head h = head_of(d, a->p->id, index);
    file_path(path, sizeof path, d->name, a->p->id, index);
    if (SCR_Route_file(path, file) != SCR_SUCCESS) {
      if (!S.faults) sim_violation("rank %d: Route_file %s: %s", a->p->id, path, SCR_Last_error());
      ok = 0;
    } else ok &= file_make(a->p, file, &h);
    if (index == 0) snprintf(a->file, sizeof a->file, "%s", file);
  }
  return ok;
}

/* Add the regions to the open dataset; 0 if that fails. */
static int write_regions(actor* a)
{
  int rc = CALL(a, "SCR_Put_regions", SCR_Put_regions());

  if (rc != SCR_SUCCESS && !S.faults) sim_violation("rank %d: Put_regions: %d, %s", a->p->id, rc, SCR_Last_error());
  return rc == SCR_SUCCESS;
}

/* Write the dataset of this step.  Returns 0 if the run cannot go on. */
static int write_dataset(actor* a)
{
  char     name[NAME_MOST];
  int      kind = (int)draw_step(a, "kind", 8), flags, rc, ok, spoilt = step_one_in(a, "spoilt", 40);
  int      what = regions_of(a->step);
  int      flushed = truth.wish && plan.signals >= 2 && !S.faults; /* as was asked for before */
  dataset* d;
  regions* r = NULL;
  talk     words;
  unsigned how;

  if (what == REGIONS_ALONE) kind = spoilt = 0;
  flags = kind == 5 ? SCR_FLAG_OUTPUT : kind >= 6 ? SCR_FLAG_OUTPUT | SCR_FLAG_CHECKPOINT : SCR_FLAG_CHECKPOINT;
  snprintf(name, sizeof name, "%s.%d", flags & SCR_FLAG_CHECKPOINT ? "ckpt" : "out", a->step);
  d = truth_start(name, a->step, flags & SCR_FLAG_CHECKPOINT, flags & SCR_FLAG_OUTPUT);
  if (plan.logs) logs_append(a->p, d);
  how = talk_begin(a, &words);
  if (what != REGIONS_NONE) r = regions_protect(a->p, d->number, plan.members);
  if (what == REGIONS_ALONE) {
    a->file[0] = '\0';
    rc = CALL(a, "SCR_Checkpoint", SCR_Checkpoint(name));
  } else {
    rc = CALL(a, "SCR_Start_output", SCR_Start_output(name, flags));
    if (rc != SCR_SUCCESS && !S.faults) sim_violation("rank %d: Start_output %s: %s", a->p->id, name, SCR_Last_error());
    ok = rc == SCR_SUCCESS && write_files(a, d);
    if (what == REGIONS_TOO && rc == SCR_SUCCESS) ok &= write_regions(a);
    if (spoilt && a->p->id == plan.members - 1) ok = 0;
    rc = CALL(a, "SCR_Complete_output", SCR_Complete_output(ok));
  }
  talk_end(a, &words, how);
  if (r) regions_unprotect(a->p, r);
  if (rc == SCR_SUCCESS) {
    if (spoilt) sim_violation("rank %d: Complete_output %s succeeds, though a rank has no files", a->p->id, name);
    flushed = (flushed && d->checkpoint) || (!plan.async && (d->output || plan.flush == 1));
    truth_acked(d, plan.bypass || flushed);
  } else if (!S.faults && !spoilt) {
    sim_violation("rank %d: Complete_output %s: %d, %s", a->p->id, name, rc, SCR_Last_error());
  }
  return rc == SCR_SUCCESS || S.faults || spoilt;
}

/* ---- what the user asks for ---- */

/* An acknowledged checkpoint whose name no other dataset has, other than the newest one; NULL if there is none. */
static dataset* any_older(const actor* a)
{
  int i, at = (int)draw_step(a, "older", 16), n = 0;

  for (i = truth.sets - 1; i > 0; i--) {
    if (!truth_has_twin(&truth.set[i]) && truth.set[i].checkpoint && truth.set[i].acked > 0 && !truth.set[i].gone &&
        !truth.set[i].rejected && truth.set[i].ranks == plan.members && truth.set[i].life < S.life && n++ == at % 3)
      return &truth.set[i];
  }
  return NULL;
}

/* The dataset of which the user thinks at this step: the first rank that comes here decides for all. */
static dataset* subject(actor* a)
{
  int*     at = &truth.subject[a->asked++ % SUBJECTS_MOST];
  dataset* d;

  if (*at == 0) {
    d = any_older(a);
    *at = d ? d->number : -1;
  }
  return *at > 0 ? &truth.set[*at] : NULL;
}

/* SCR_Wait, SCR_Current, SCR_Drop, SCR_Delete now and then. */
static void ask(actor* a)
{
  dataset* d = subject(a);
  int      i, rc;

  if (step_one_in(a, "wait", 10)) {
    rc = CALL(a, "SCR_Wait", SCR_Wait(NULL));
    if (rc != SCR_SUCCESS && !S.faults) sim_violation("rank %d: Wait: %d, %s", a->p->id, rc, SCR_Last_error());
    for (i = 1; i <= truth.sets; i++) {
      dataset* s = &truth.set[i];
      if (s->life != S.life || !s->acked || !(s->output || plan.flush == 1)) continue;
      if (rc != SCR_SUCCESS) s->unflushed |= !s->on_prefix;
      else if (!s->unflushed) truth_on_prefix(s);
    }
  }
  if (d && step_one_in(a, "current", 24)) {
    truth_choosing(d);
    rc = CALL(a, "SCR_Current", SCR_Current(d->name));
    if (rc == SCR_SUCCESS) truth_chosen(d, 1);
    else if (S.faults) truth.unserved = d->number; /* the index may have the choice, and not that it was served */
    else if (rc != SCR_ERR_NOT_FOUND)
      sim_violation("rank %d: Current %s: %d, %s", a->p->id, d->name, rc, SCR_Last_error());
  } else if (d && step_one_in(a, "delete", 20)) {
    truth_deleting(d);
    rc =
        step_one_in(a, "drop", 2) ? CALL(a, "SCR_Drop", SCR_Drop(d->name)) : CALL(a, "SCR_Delete", SCR_Delete(d->name));
    if (rc != SCR_SUCCESS && rc != SCR_ERR_NOT_FOUND && !(d->purged && rc == SCR_ERR_MISSING) &&
        !(d->rotten && rc == SCR_ERR_CRC) && !S.faults)
      sim_violation("rank %d: Drop or Delete %s: %d, %s", a->p->id, d->name, rc, SCR_Last_error());
  }
}

/* A signal asks a rank for a checkpoint: at once, or at any call from now on. */
static void signal_comes(actor* a)
{
  unsigned how = plan.signals ? draw_step(a, "signal", 16) : 0;

  if (how < 14 || a->p->id != (int)draw_step(a, "signal.rank", 64) % plan.members) return;
  truth.signalled = 1;
  if (how == 14) truth.wish = 1, sim_signal(a->p);
  else a->p->signal_at = S.ops + 1 + sim_below(5000);
}

/* The library says whether a checkpoint is due. */
static void ask_need(actor* a)
{
  int flag = 0, rc = CALL(a, "SCR_Need_checkpoint", SCR_Need_checkpoint(&flag));

  if (rc != SCR_SUCCESS && !S.faults) sim_violation("rank %d: Need_checkpoint: %s", a->p->id, SCR_Last_error());
  if (rc == SCR_SUCCESS) truth_code(a->p, &a->calls, "the answer of SCR_Need_checkpoint", flag);
  if (rc == SCR_SUCCESS && !S.faults && truth.wish && !flag)
    sim_violation("rank %d needs no checkpoint, though a signal has asked for one", a->p->id);
}

/* Some disk loses a file of the newest dataset, which its redundancy can replace. */
static void lose_file(const actor* a)
{
  const dataset* d = &truth.set[truth.sets];

  if (!fate_one_in("file.lost", 8) || truth.lost_file || S.faults || plan.async || d->life != S.life) return;
  if (d->told_ranks != plan.members || !d->cached || d->tolerance < 1 || truth.damages > 0) return;
  if (strncmp(a->file, "/ssd", 4) != 0) return;
  truth_lose_file(a->p->node);
  sim_note("rank %d: %s is lost", a->p->id, a->file);
  sim_unlink(a->file);
}

/* Returns 1 if the run should end. */
static int should_exit(actor* a)
{
  int flag = 0, rc = CALL(a, "SCR_Should_exit", SCR_Should_exit(&flag));

  if (rc != SCR_SUCCESS && !S.faults) sim_violation("rank %d: Should_exit: %s", a->p->id, SCR_Last_error());
  if (rc != SCR_SUCCESS) return 0;
  truth_code(a->p, &a->calls, "the answer of SCR_Should_exit", flag);
  if (S.faults) return flag;
  if (!flag && ((truth.halts == 2 && truth.saved > 0) || truth.halt))
    sim_violation("rank %d goes on, though it was to halt after its next checkpoint", a->p->id);
  if (flag && !truth.halts && !plan.time_limit && !(truth.signalled && plan.signals == 3))
    sim_violation("rank %d should exit, but nobody wants that", a->p->id);
  return flag;
}

void program_ends(process* p)
{
  if (p->heap_bytes)
    sim_violation("rank %d has %lu bytes allocated after SCR_Finalize, some of them at call %lu", p->id,
                  (unsigned long)p->heap_bytes, (unsigned long)p->heap.next->at);
  if (files_open(p)) sim_violation("rank %d has %d files open after SCR_Finalize", p->id, files_open(p));
}

void* program_run(void* arg)
{
  actor me, *a = &me;
  int   rc, end, part[NODES_MOST];

  memset(a, 0, sizeof *a);
  a->p = arg;
  if (a->p->id >= plan.members && plan.beside) beside_run(a->p);
  if (a->p->id >= plan.members) return NULL;
  for (rc = 0; rc < plan.members && plan.theme == THEME_PART; rc++) part[rc] = rc;
  a->comm = plan.theme == THEME_PART ? mpi_comm_of(plan.members, part) : MPI_COMM_WORLD;
  if (plan.theme == THEME_PART) rc = CALL(a, "SCR_Init", SCR_Init_comm(a->comm));
  else rc = CALL(a, "SCR_Init", SCR_Init());
  if (rc != SCR_SUCCESS) {
    start_failed(rc);
    return NULL;
  }
  truth.inits++;
  if (plan.logs) logs_track(a->p);
  if (!(plan.recovers ? recover(a) : restart(a))) {
    if (fate_one_in("end.silent", 4)) return NULL;
    CALL(a, "SCR_Finalize", SCR_Finalize());
    return NULL;
  }
  end = plan.last ? 0 : plan.steps >= 0 ? a->step + plan.steps : a->step + 2 + (int)fate_draw("steps", 4);
  while (++a->step <= end) {
    signal_comes(a);
    ask_need(a);
    if (!write_dataset(a)) break;
    ask(a);
    if (step_one_in(a, "should_exit", 3) && should_exit(a)) break;
  }
  lose_file(a);
  truth_finalizes();
  if (fate_one_in("end.by_mpi", 8)) {
    a->p->api = "MPI_Finalize";
    MPI_Finalize();
    rc = SCR_SUCCESS;
    truth_finalized(0);
  } else {
    rc = CALL(a, "SCR_Finalize", SCR_Finalize());
    if (rc == SCR_SUCCESS) truth_finalized(1);
  }
  if (rc == SCR_SUCCESS) {
    truth.finals++;
    program_ends(a->p);
  } else if (!S.faults && strstr(SCR_Last_error(), "which could not be read; scr_index --drop") == NULL) {
    /* what a fault kept from being fetched is not overwritten until the user says so */
    sim_violation("rank %d: Finalize: %s", a->p->id, SCR_Last_error());
  }
  return NULL;
}
