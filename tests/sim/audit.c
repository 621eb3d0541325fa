/* ==== AUDIT =====================================================================================================
** Between lifetimes: do the files of the library agree with each other, with the trees, and with the ledger?
**
** Offers     truth_audit, truth_is_indexed, truth_saved of truth.h
** How        Processes of the commands' image read the files as commands do (audit_files.h); so the audit knows no
**            format, and sees what a person would be told.  It takes no time, and no random number.
** What must be true
**   A1  A dataset that the index calls complete has its summary, its map and all files, with their sizes; the newest
**       ones have the bytes that the program wrote, of one dataset of the ledger, all of its files and no other.
**   A2  What the flush file calls flushed, the index calls complete; so it does, after a run that has ended well, with
**       what somebody was told is on the prefix, unless a newer one has its place, or the window leaves it out.
**   A3  After a run that has ended well: what a filemap lists of its datasets is there with its size, each file of the
**       cache is listed, and nothing temporary is left; a power cut, or a full disk, may have kept files and not the
**       list of them, and a recovery, or a run before the dataset was complete on all ranks, that was killed what it
**       had copied: this stays until the dataset leaves that node, or its room is needed, as does what a fault has
**       kept from being removed.
**       What a lock guards that somebody held is not swept, nor what a daemon was writing that was killed.  Until its
**       room is needed, a node keeps pieces of a rebuild that was killed, if another one has that set now, and what it
**       had, before it was away for a while, of a dataset that was not complete, if that id is another's since.
**   A4  After a run that has ended well, and brought a checkpoint to the prefix: of the checkpoints up to that one,
**       which nobody has rejected or chosen, the index has no more than SCR_PREFIX_SIZE.
**   A5  An id of the index is that of one dataset for ever, unless machines come back with what they had, or the flush
**       file was damaged.
**   A6  After a run that has ended well, the caches have the bytes that the program wrote, of one dataset of the ledger
**       for each id, unless machines come back with what they had.
** ================================================================================================================= */
#include "audit.h"
#include "truth.h"

static audit_job job;

void audit_file(audit_set* s, int writer, const char* path, const unsigned char* p, size_t n)
{
  int number = program_check(s->name, writer, path, p, n);

  s->files++;
  if (number == 0)
    sim_violation("the index calls dataset %d, %s, complete, but %s, of rank %d, does not have what was written", s->id,
                  s->name, path, writer);
  else if (number > 0 && s->number > 0 && s->number != number)
    sim_violation("dataset %d, %s, has files of two, numbers %d and %d", s->id, s->name, s->number, number);
  else if (number > 0) s->number = number;
}

void audit_set_end(const audit_set* s)
{
  const dataset* d = &truth.set[s->number];

  if (s->number == 0) return; /* no rank has a file */
  if (s->files > program_files(d) || s->files < program_files(d) - (d->away && plan.logs ? d->ranks : 0) ||
      s->ranks != d->ranks)
    sim_violation("dataset %d, %s, has %d files of %d ranks on the prefix, and not %d of %d", s->id, s->name, s->files,
                  s->ranks, program_files(d), d->ranks);
}

int audit_may_lack(const char* name)
{
  int i;

  for (i = 1; i <= truth.sets; i++)
    if (truth.set[i].gone && strcmp(truth.set[i].name, name) == 0) return 1;
  return 0;
}

int audit_is_purged(const char* name)
{
  int i;

  for (i = 1; i <= truth.sets; i++)
    if (truth.set[i].purged && strcmp(truth.set[i].name, name) == 0) return 1;
  return 0;
}

int audit_was_cut(void)
{
  return tree_was_cut(world_node[S.me->node]);
}

int audit_was_struck(const char* name)
{
  int i;

  for (i = 1; i <= truth.sets; i++)
    if (truth.set[i].told_ranks < truth.set[i].ranks && strcmp(truth.set[i].name, name) == 0) return 1;
  return truth.remnants;
}

int audit_is_remnant(const char* path)
{
  size_t      n;
  const char* at;
  int         i;

  if (truth.remnants || tree_has_kept(world_node[S.me->node], path)) return 1;
  for (i = 1; i <= truth.sets && truth.twins; i++) {
    if (truth.set[i].told_ranks >= truth.set[i].ranks) continue;
    if (strstr(path, "/.scr/") != NULL) return 1;
    n = strlen(truth.set[i].name);
    for (at = path; (at = strstr(at, truth.set[i].name)) != NULL; at += n)
      if (at[-1] == '/' && (at[n] == '/' || at[n] == '_')) return 1;
  }
  return 0;
}

int audit_has_run(void)
{
  int i;

  for (i = 0; i < plan.members && plan.node_of[i] != S.me->node; i++) continue;
  return i < plan.members;
}

void audit_cache_file(int id, const char* name, int writer, const char* path, const unsigned char* p, size_t n)
{
  int number = strncmp(name, "beside.", 7) == 0 ? -1 : program_check(name, writer, path, p, n);

  if (number > 0 && id < IDS_MOST && !truth.twins) {
    if (truth.number[id] && truth.number[id] != number)
      sim_violation("the cache has dataset %d, %s, with %s, of rank %d, of number %d, and others of number %d", id,
                    name, path, writer, number, truth.number[id]);
    truth.number[id] = number;
  }
  if (number == 0)
    sim_violation("the cache has dataset %d, %s, but %s, of rank %d, does not have what was written", id, name, path,
                  writer);
}

/* Let processes look at everything; READS and CLEAN as in audit_job. */
static void audit_run(int reads, int clean)
{
  uint64_t rng = S.rng, now = S.now, latency = S.prefix_latency;
  unsigned preempt = S.preempt, faults = S.faults;
  int      launches = world_launches, i;

  job.reads = reads;
  job.clean = clean;
  job.since = (long long)WORLD_EPOCH * 1000000 + truth.begun;
  job.sets = 0;
  job.notes_lost = truth.notes_lost && !clean;
  job.daemon_struck = truth.daemon_struck;
  job.lock_held = truth.lock_held;
  S.preempt = S.faults = 0;
  S.prefix_latency = 0;
  S.kill_at = UINT64_MAX;
  world_begin(0, plan.node_of, NULL);
  world_spawn(&sim_commands, 0, sim_audit_prefix, &job);
  for (i = 0; i < plan.nodes; i++) world_spawn(&sim_commands, i, sim_audit_node, &job);
  world_run();
  world_end();
  S.rng = rng;
  S.now = now;
  S.prefix_latency = (unsigned)latency;
  S.preempt = preempt;
  S.faults = faults;
  world_launches = launches;
}

/* What somebody was told is on the prefix, and neither its place nor the window has taken away, the index has. */
static void audit_told(void)
{
  int i, k;

  for (i = 1; i <= truth.sets; i++) {
    const dataset* d = &truth.set[i];
    for (k = 0; k < job.sets && strcmp(job.set[k].name, d->name) != 0; k++) continue;
    if (d->on_prefix && !d->gone && !d->outgrown && k == job.sets)
      sim_violation("%s is on the prefix no more", d->name);
  }
}

/* The window leaves no more than it is wide, up to the newest checkpoint that this run has brought to the prefix. */
static void audit_window(void)
{
  int i, k, n = 0, good, newest = 0;

  for (k = 0; k < job.sets; k++) {
    const dataset* d = &truth.set[job.set[k].number];
    if (d->number > 0 && d->life == S.life && d->on_prefix && job.set[k].counts && job.set[k].id > newest)
      newest = job.set[k].id;
  }
  for (k = 0; k < job.sets; k++) {
    good = job.set[k].counts && job.set[k].id <= newest;
    for (i = 1; i <= truth.sets && good; i++)
      good = strcmp(truth.set[i].name, job.set[k].name) != 0 || (!truth.set[i].rejected && !truth.set[i].picked);
    n += good;
  }
  if (n > plan.prefix_size)
    sim_violation("the window is %d wide, but the prefix has %d checkpoints up to dataset %d", plan.prefix_size, n,
                  newest);
}

/* A newer checkpoint may have taken the files of those before it, but not if it had been rejected before. */
static void audit_shared(int clean)
{
  int k;

  for (k = 0; k < job.sets; k++) {
    const dataset* s = job.set[k].number > 0 ? &truth.set[job.set[k].number] : truth_find(job.set[k].name);
    if (s != NULL && !(clean && s->rejected && s->rejected < S.life)) truth_overwritten(s); /* its files may be empty */
  }
}

/* The ids of the index are of the same datasets as ever. */
static void audit_ids(void)
{
  int k;

  for (k = 0; k < job.sets && !truth.twins && !truth.notes_lost; k++) {
    const audit_set* s = &job.set[k];
    if (s->id < 0 || s->id >= IDS_MOST) continue;
    if (truth.created[s->id] && truth.created[s->id] != s->created)
      sim_violation("dataset %d, %s, is another one than before", s->id, s->name);
    truth.created[s->id] = s->created;
  }
}

void truth_audit(int clean)
{
  audit_run(clean ? 2 : 4, clean && plan.cache_used && !truth.lost_file); /* a command saves older ones, too */
  audit_ids();
  audit_shared(clean);
  if (clean) audit_told();
  if (clean && plan.prefix_size > 0) audit_window();
}

int truth_is_indexed(int number)
{
  int i;

  for (i = 0; i < job.sets && job.set[i].number != number; i++) continue;
  return i < job.sets;
}

int truth_saved(int id)
{
  int i;

  for (i = 0; i < job.sets && job.set[i].id != id; i++) continue;
  if (i == job.sets) return -1;
  return job.set[i].number;
}
