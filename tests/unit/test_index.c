/*
** The index against a plain model: sequences of operations at random, each of which must do to the index what it does
** to a list that is searched from end to end.
**
** A sequence is a series of updates, as runs and commands make them: open, some operations, close.  Some updates are
** given up, and in some closes a call fails, or the process is gone from some call on: then the index that is opened
** next is that of before the update or that of after it.  A sequence follows from its seed, which a failure prints;
** INDEX_SEED=<seed> runs that one alone.  check runs 300, TEST_LONG ten times as many as full.
*/

enum { MODEL_DIRS = 7, MODEL_NAMES = 4, MODEL_JOBS = 3, MODEL_UPDATES = 20, MODEL_MAX = 4 * MODEL_UPDATES + 1 };

/* A name may be the directory of another dataset. */
static const char* const model_dirs[MODEL_DIRS] = {"run/a", "run/b", "run/c", "d", "e", "f", "g"};
static const char* const model_names[MODEL_NAMES] = {"a", "b", "d", "run/a"};
static const char* const model_jobs[MODEL_JOBS] = {"one", "two", "three"};

typedef struct {
  int         id, flags, complete, renaming, unread;
  const char *dir, *name;
  int64_t     created; /* differs in all of them */
  unsigned    failed;  /* a bit for each job that has rejected it */
} model_item;

typedef struct {
  model_item  item[MODEL_MAX];
  int         n;
  const char* chosen; /* what CURRENT says; NULL: nothing */
  int         chosen_id, by_user, until;
  char        passed[MODEL_MAX]; /* by id: 1, it was passed over for a choice; 2: for a fresh start */
} model_index;

static struct {
  uint32_t    seed;
  scr_index   index;
  model_index now, on_disk; /* the index in memory, and the one in the file */
  int         next_id;      /* of the next new dataset */
  int64_t     clock;
  int         failed;      /* 1: the sequence has failed, and is given up */
  char        trace[4000]; /* what was done */
} model;

/* ---- what must hold -------------------------------------------------------------------------------------------- */

SCR_FN SCR_FORMAT(1, 2) void model_note(const char* format, ...)
{
  size_t  n = strlen(model.trace);
  va_list ap;

  va_start(ap, format);
  vsnprintf(model.trace + n, sizeof model.trace - n, format, ap);
  va_end(ap);
}

/* The first failure of a sequence tells how to see it again. */
SCR_FN int model_agrees(int ok)
{
  if (!ok && !model.failed) printf("index: INDEX_SEED=%u fails after%s\n", (unsigned)model.seed, model.trace);
  if (!ok) model.failed = 1;
  return ok;
}

#define AGREE(cond) CHECK(model_agrees((cond) ? 1 : 0))

/* ---- the model: questions -------------------------------------------------------------------------------------- */

SCR_FN int model_is_ckpt(const model_item* it)
{
  return (it->flags & SCR_FLAG_CHECKPOINT) != 0;
}

SCR_FN int model_is_passed(const model_index* m, const model_item* it)
{
  return m->passed[it->id] != 0;
}

/* Whether a restart may take it, were it not for rejections. */
SCR_FN int model_is_offered(const model_index* m, const model_item* it)
{
  return model_is_ckpt(it) && it->complete && !it->renaming && !model_is_passed(m, it);
}

/* The newer of A and B; NULL is older than all. */
SCR_FN model_item* model_newer(model_item* a, model_item* b)
{
  if (a == NULL || b == NULL) return a == NULL ? b : a;
  if (a->id != b->id) return a->id > b->id ? a : b;
  return a->created > b->created ? a : b;
}

SCR_FN model_item* model_get(model_index* m, int id, const char* dir)
{
  int i;

  for (i = 0; i < m->n; i++)
    if (m->item[i].id == id && strcmp(m->item[i].dir, dir) == 0) return &m->item[i];
  return NULL;
}

/* The newest good checkpoint below id BELOW; with a JOB, the newest rejected one that this job has not rejected. */
SCR_FN model_item* model_newest(model_index* m, int below, int job)
{
  model_item* best = NULL;
  int         i;

  for (i = 0; i < m->n; i++) {
    model_item* it = &m->item[i];
    int         fits = job < 0 ? !it->failed : it->failed && !(it->failed & 1u << job);
    if (fits && it->id < below && model_is_offered(m, it)) best = model_newer(best, it);
  }
  return best;
}

/* The newest dataset called NAME, or else in the directory NAME; with an ID, of that id.  DIR_FIRST: in this order. */
SCR_FN model_item* model_named(model_index* m, const char* name, int id, int ckpt, int dir_first)
{
  model_item* best[2] = {NULL, NULL};
  int         i;

  for (i = 0; i < m->n; i++) {
    model_item* it = &m->item[i];
    if ((id != 0 && it->id != id) || (ckpt && !(it->complete && model_is_ckpt(it)))) continue;
    if (strcmp(it->name, name) == 0) best[0] = model_newer(best[0], it);
    if (strcmp(it->dir, name) == 0) best[1] = model_newer(best[1], it);
  }
  return best[dir_first] != NULL ? best[dir_first] : best[!dir_first];
}

SCR_FN model_item* model_current(model_index* m)
{
  return m->chosen != NULL ? model_named(m, m->chosen, m->chosen_id, 0, 1) : NULL;
}

/* The oldest checkpoint below the N newest good ones up to ID that count; the user's choice stays. */
SCR_FN model_item* model_outgrown(model_index* m, int id, int n)
{
  model_item *chosen = m->by_user ? model_current(m) : NULL, *oldest = NULL;
  int         i, below = id + 1;

  while (n > 0) {
    model_item* it = model_newest(m, below, -1);
    if (it == NULL) return NULL;
    below = it->id;
    if (!(it->flags & SCR_FLAG_OUTPUT) && !it->unread) n--;
  }
  for (i = 0; i < m->n; i++) {
    model_item* it = &m->item[i];
    if (it->flags == SCR_FLAG_CHECKPOINT && it->id < below && (chosen == NULL || chosen->id != it->id) &&
        (oldest == NULL || it->id < oldest->id))
      oldest = it;
  }
  return oldest;
}

/* ---- the model: changes ---------------------------------------------------------------------------------------- */

SCR_FN void model_choose(model_index* m, const char* what, int id, int by_user)
{
  m->chosen = what;
  m->chosen_id = id;
  m->by_user = by_user;
  m->until = 0;
}

/* What was CURRENT is no more, or no good: the newest good one is. */
SCR_FN void model_leave(model_index* m)
{
  const model_item* best = model_newest(m, INT_MAX, -1);
  model_choose(m, best != NULL ? best->dir : NULL, best != NULL ? best->id : 0, 0);
}

SCR_FN void model_remove(model_index* m, model_item* it)
{
  int was_current = model_current(m) == it;

  *it = m->item[--m->n];
  if (was_current) model_leave(m);
}

SCR_FN int model_remove_newer(model_index* m, int id)
{
  int i, found = 0;

  for (i = 0; i < m->n;) {
    if (m->item[i].id <= id) {
      i++;
      continue;
    }
    model_remove(m, &m->item[i]);
    found = 1;
  }
  return found;
}

/* The renames of IT are over: CURRENT goes forward to it, unless the user keeps it back. */
SCR_FN void model_renamed(model_index* m, model_item* it)
{
  const model_item* current = model_current(m);

  it->renaming = 0;
  if (!model_is_ckpt(it) || it->failed || model_is_passed(m, it)) return;
  if (m->by_user && (m->until == 0 || it->id < m->until)) return;
  if (current == NULL || current->id < it->id) model_choose(m, it->dir, it->id, 0);
}

/* The choice is served: what is newer is passed over, or removed. */
SCR_FN void model_serve(model_index* m, int id, model_item* it, int until, int drop)
{
  int i;

  if (it != NULL) it->failed = 0;
  m->until = until;
  for (i = id; i < until; i++) m->passed[i] = i > id;
  if (drop) model_remove_newer(m, id);
}

/* ---- the comparison -------------------------------------------------------------------------------------------- */

/* Returns 1 if IT is what the model has. */
SCR_FN int model_same_item(model_index* m, const scr_index* index, const scr_index_item* it)
{
  model_item* own = model_get(m, it->id, it->dir);
  unsigned    failed = 0;
  int         i;

  if (own == NULL) return 0;
  for (i = 0; i < MODEL_JOBS; i++) failed |= (unsigned)scr_index_failed_in(index, it, model_jobs[i]) << i;
  return it->complete == own->complete && it->renaming == own->renaming && it->unread == own->unread &&
         it->failed == (own->failed != 0) && failed == own->failed && it->passed == model_is_passed(m, own) &&
         scr_index_is_good(it) == (own->complete && !own->renaming && !own->failed) &&
         it->desc.identity.created == own->created && it->desc.flags == own->flags &&
         strcmp(it->desc.name, own->name) == 0;
}

/* Returns 1 if A and B are the same dataset, or both none. */
SCR_FN int model_same(const model_item* a, int found, const scr_index_item* b)
{
  if (a == NULL || !found) return a == NULL && !found;
  return a->id == b->id && strcmp(a->dir, b->dir) == 0;
}

/* Returns 1 if INDEX has the datasets of M, under their ids and under their directories, and its choice. */
SCR_FN int model_equals(model_index* m, const scr_index* index)
{
  scr_index_item       it;
  scr_choice           c;
  const scr_hash_elem* e;
  int                  n = 0, pairs = 0, cut = 0, id;

  memset(&it, 0, sizeof it);
  for (; scr_index_walk(index, &it); n++) {
    if (!model_same_item(m, index, &it)) return 0;
    if (scr_hash_get_kv_int(scr_hash_get_kv(index->h, "DIR", it.dir), "DSET", it.id) == NULL) return 0;
  }
  for (e = scr_hash_elem_first(scr_hash_get(index->h, "DIR")); e != NULL; e = scr_hash_elem_next(e))
    pairs += scr_hash_size(scr_hash_get(scr_hash_elem_hash(e), "DSET"));
  scr_choice_read(index, &c);
  for (id = 1; id <= model.next_id; id++) {
    if (scr_index_is_passed(index, id) != (m->passed[id] != 0)) return 0;
    if (m->passed[id] == 2) cut = id;
  }
  return n == m->n && pairs == n && strcmp(c.dir, m->chosen != NULL ? m->chosen : "") == 0 && c.id == m->chosen_id &&
         c.by_user == m->by_user && c.until == m->until && scr_index_last_passed(index, 1) == cut &&
         model_same(model_current(m), scr_index_current(index, &it), &it);
}

/* All questions of the index have the answers of the model. */
SCR_FN void model_ask(model_index* m, const scr_index* index)
{
  scr_index_item it;
  int            i, below = 1 + (int)records_random((uint32_t)model.next_id + 1), complete = 0, renames = 0, max = 0;
  const char*    name = model_names[records_random(MODEL_NAMES)];

  AGREE(model_equals(m, index));
  for (i = -1; i < MODEL_JOBS; i++)
    AGREE(model_same(model_newest(m, below, i),
                     scr_index_newest(index, below, i < 0 ? NULL : model_jobs[i], &it) == SCR_SUCCESS, &it));
  AGREE(model_same(model_newest(m, INT_MAX, -1), scr_index_newest(index, INT_MAX, NULL, &it) == SCR_SUCCESS, &it));
  AGREE(model_same(model_named(m, name, 0, 0, 0), scr_index_named(index, name, &it) == SCR_SUCCESS, &it));
  AGREE(
      model_same(model_named(m, name, 0, 1, 0) != NULL ? model_named(m, name, 0, 1, 0) : model_named(m, name, 0, 0, 0),
                 scr_index_named_ckpt(index, name, &it) == SCR_SUCCESS, &it));
  for (i = 0; i < m->n; i++) {
    complete += m->item[i].complete && model_is_ckpt(&m->item[i]) && !model_is_passed(m, &m->item[i]);
    renames |= m->item[i].renaming;
    if (m->item[i].id > max) max = m->item[i].id;
  }
  AGREE(scr_index_count_complete(index) == complete && scr_index_has_renames(index) == renames);
  AGREE(scr_index_max_id(index) == max);
}

/* ---- operations: on the index and on the model ------------------------------------------------------------------ */

/* A dataset of the index, or NULL. */
SCR_FN model_item* model_any(model_index* m)
{
  return m->n > 0 ? &m->item[records_random((uint32_t)m->n)] : NULL;
}

/* Enter a dataset, new or a copy of an id, as a flush does with its renames outstanding, or as incomplete. */
SCR_FN void model_do_enter(model_index* m, scr_index* index)
{
  static const int  flags[] = {SCR_FLAG_CHECKPOINT, SCR_FLAG_CHECKPOINT, SCR_FLAG_CHECKPOINT,
                               SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, SCR_FLAG_OUTPUT};
  const model_item* other = model_any(m);
  model_item        new_item, *old, *rival;
  scr_desc          d;
  int               i;

  memset(&new_item, 0, sizeof new_item);
  new_item.id = other != NULL && records_random(5) == 0 ? other->id : model.next_id++;
  new_item.dir = model_dirs[records_random(MODEL_DIRS)];
  new_item.name = model_names[records_random(MODEL_NAMES)];
  new_item.flags = flags[records_random(5)];
  new_item.created = ++model.clock;
  new_item.complete = records_random(8) > 0;
  new_item.renaming = new_item.complete;
  model_note(" %s%d(%s,%s,%d)", new_item.complete ? "flush" : "add", new_item.id, new_item.dir, new_item.name,
             new_item.flags);

  old = model_get(m, new_item.id, new_item.dir);
  for (i = m->n - 1; i >= 0 && records_random(2) == 0; i--) { /* what it takes the place of */
    rival = &m->item[i];
    if (rival == old || strcmp(rival->dir, new_item.dir) != 0) continue;
    model_note(",for%d", rival->id);
    scr_index_remove(index, rival->id, rival->dir);
    model_remove(m, rival);
    old = model_get(m, new_item.id, new_item.dir);
  }
  records_desc(&d, new_item.id, new_item.name, new_item.flags);
  d.identity.created = new_item.created;
  AGREE(scr_index_set(index, &d, new_item.dir) == SCR_SUCCESS);
  if (!new_item.complete) { /* as other versions enter one */
    scr_hash_util_set_int(scr_index_entry(index, new_item.id, new_item.dir), "COMPLETE", 0);
    scr_hash_unset(scr_index_entry(index, new_item.id, new_item.dir), "REDO");
  }
  if (old == NULL) old = &m->item[m->n++];
  *old = new_item;
}

SCR_FN void model_do_rename(model_index* m, scr_index* index)
{
  int i;

  for (i = m->n - 1; i >= 0; i--)
    if (m->item[i].renaming && records_random(3) > 0) {
      model_note(" renamed%d(%s)", m->item[i].id, m->item[i].dir);
      scr_index_note_renamed(index, m->item[i].id, m->item[i].dir);
      model_renamed(m, &m->item[i]);
    }
}

/* Drop by name, as the command does; delete by identity, as a run does; or drop what is newer. */
SCR_FN void model_do_remove(model_index* m, scr_index* index)
{
  model_item*    own = model_any(m);
  scr_index_item it;
  scr_identity   identity;

  if (own == NULL) return;
  if (records_random(6) == 0) {
    model_note(" drop>%d", own->id);
    AGREE(scr_index_drop_newer(index, own->id) == model_remove_newer(m, own->id));
    return;
  }
  if (records_random(2) == 0) own = model_named(m, own->name, 0, 0, 0);
  model_note(" drop%d(%s)", own->id, own->dir);
  identity.id = own->id;
  identity.created = own->created;
  identity.nonce = 0xabcdef0000000000u + (unsigned)own->id;
  AGREE(scr_index_same(index, &identity, &it) && strcmp(it.dir, own->dir) == 0);
  if (it.id == 0) return;
  scr_index_remove(index, it.id, it.dir);
  model_remove(m, own);
}

/* The user chooses a checkpoint of the index, or one that only a cache has. */
SCR_FN void model_do_choose(model_index* m, scr_index* index)
{
  const char*       name = model_names[records_random(MODEL_NAMES)];
  const model_item* own = model_named(m, name, 0, 1, 0);
  scr_index_item    it;

  if (own != NULL && records_random(5) > 0) {
    model_note(" choose%d(%s)", own->id, own->dir);
    AGREE(scr_index_named_ckpt(index, name, &it) == SCR_SUCCESS && it.id == own->id);
    if (it.id == 0) return;
    scr_index_set_current(index, it.id, it.dir, 1);
    model_choose(m, own->dir, own->id, 1);
  } else if (own == NULL) {
    model_note(" cached%d(%s)", model.next_id, name);
    scr_index_set_current(index, model.next_id, name, 1);
    model_choose(m, name, model.next_id++, 1);
  } else {
    int mine = records_random(4) > 0;
    model_note(" release%s", mine ? "" : " another");
    scr_choice_release(index, m->chosen_id + !mine, NULL);
    if (mine) m->by_user = m->until = 0;
  }
}

/* The run has loaded the user's choice, or one that was the user's choice before this one. */
SCR_FN void model_do_serve(model_index* m, scr_index* index)
{
  model_item *it = model_current(m), *other = model_any(m);
  int         drop = records_random(3) == 0, id = m->chosen_id, until = m->until, late;

  if (!m->by_user || id == 0) return;
  late = other != NULL && other->id != id && records_random(3) == 0;
  if (late) {
    it = other;
    id = other->id;
  }
  model_note(" serve%d,%d%s", id, model.next_id, drop ? ",drop" : "");
  scr_index_serve_choice(index, id, it != NULL ? it->dir : "", model.next_id, drop);
  model_serve(m, id, it, model.next_id, drop && !late);
  if (late) m->until = until;
}

/* A fetch that succeeds or not, a rejection, a pardon, or a fresh start. */
SCR_FN void model_do_judge(model_index* m, scr_index* index)
{
  model_item* it = model_any(m);
  int         what = (int)records_random(11), job = (int)records_random(MODEL_JOBS), found;

  if (it == NULL) return;
  model_note(" %s%d(%s)",
             what < 3    ? "fetch"
             : what < 5  ? "fail"
             : what < 9  ? "reject"
             : what < 10 ? "forgive"
                         : "cut",
             it->id, it->dir);
  if (what < 3) {
    scr_index_note_fetched(index, it->id, it->dir);
    it->unread = 0;
    if (!m->by_user) model_choose(m, it->dir, it->id, 0);
  } else if (what < 5) {
    scr_index_note_attempt(index, it->id, it->dir, 0);
    it->unread = 1;
  } else if (what < 9) {
    found = model_current(m) == it;
    scr_index_note_failed(index, it->id, it->dir, model_jobs[job]);
    it->failed |= 1u << job;
    if (found) model_leave(m);
  } else if (what < 10) {
    found = it->failed || m->passed[it->id];
    AGREE(scr_index_forgive(index, it->id, it->dir) == found);
    it->failed = 0;
    m->passed[it->id] = 0;
  } else {
    scr_index_cut(index, model.next_id - 1);
    model_choose(m, NULL, 0, 0);
    memset(m->passed, 2, (size_t)model.next_id);
  }
}

/* The window of SCR_PREFIX_SIZE slides. */
SCR_FN void model_do_slide(model_index* m, scr_index* index)
{
  int            n = 1 + (int)records_random(3);
  int            id = records_random(3) > 0 ? model.next_id - 1 : (int)records_random((uint32_t)model.next_id);
  scr_index_item it;

  model_note(" window%d@%d", n, id);
  for (;;) {
    model_item* own = model_outgrown(m, id, n);
    int         found = scr_index_outgrown(index, id, n, &it);
    AGREE(found == (own != NULL) && (!found || it.id == own->id));
    if (!found || own == NULL || model.failed) return;
    model_note(",-%d", it.id);
    own = model_get(m, it.id, it.dir); /* which of the copies goes first is open */
    AGREE(own != NULL && own->flags == SCR_FLAG_CHECKPOINT);
    if (own == NULL) return;
    scr_index_remove(index, it.id, it.dir);
    model_remove(m, own);
  }
}

/* ---- sequences ------------------------------------------------------------------------------------------------- */

SCR_FN void model_operate(model_index* m, scr_index* index)
{
  static void (*const operations[])(model_index*, scr_index*) = {
      model_do_enter,  model_do_enter, model_do_enter, model_do_rename, model_do_rename, model_do_remove,
      model_do_choose, model_do_serve, model_do_judge, model_do_judge,  model_do_slide};
  int n = (int)(sizeof operations / sizeof *operations);

  operations[records_random((uint32_t)n)](m, index);
  model_ask(m, index);
}

/* The end of an update: returns what becomes of it in the file, as far as is known: 1 it is there, 0 not, -1 either. */
SCR_FN int model_close(scr_index* index)
{
  static const int modes[] = {FAULT_DEAD, FAULT_DEAD, FAULT_DEAD, FAULT_FAIL, FAULT_TORN};
  int              how = (int)records_random(10), n, rc;

  if (how == 0) {
    model_note(" giveup");
    AGREE(scr_index_close(index, SCR_ERR_IO, 1) == SCR_ERR_IO);
    return 0;
  }
  if (how > 3) {
    AGREE(scr_index_close(index, SCR_SUCCESS, 1) == SCR_SUCCESS);
    return 1;
  }
  n = 1 + (int)records_random(12);
  how = modes[records_random(5)];
  model_note(" %s@%d", how == FAULT_DEAD ? "dead" : "fault", n);
  check_fault(how, 0, n);
  rc = scr_index_close(index, SCR_SUCCESS, 1);
  n = check_fault_end();
  if (!n) AGREE(rc == SCR_SUCCESS);
  return rc == SCR_SUCCESS ? 1 : -1;
}

/* One update of the index, and what the file then holds. */
SCR_FN void model_update(void)
{
  int n = 1 + (int)records_random(4), written, is_new;

  AGREE(scr_index_open(&model.index, records_prefix) == SCR_SUCCESS);
  model.now = model.on_disk;
  model_ask(&model.now, &model.index);
  for (; n > 0 && !model.failed; n--) model_operate(&model.now, &model.index);
  if (records_random(3) == 0) scr_index_sort(&model.index);
  written = model_close(&model.index);
  AGREE(scr_index_read(&model.index, records_prefix) == SCR_SUCCESS);
  is_new = model_equals(&model.now, &model.index);
  if (written == 1) AGREE(is_new);
  else if (written == 0 || !is_new) AGREE(model_equals(&model.on_disk, &model.index));
  if (written != 0 && is_new) model.on_disk = model.now;
  scr_index_close(&model.index, SCR_SUCCESS, 0);
  model_note(";");
}

/* The sequence of SEED. */
SCR_FN int model_sequence(uint32_t seed)
{
  int n;

  memset(&model, 0, sizeof model);
  model.seed = seed;
  records_seed = seed * 2654435761u;
  model.next_id = 1;
  unlink(records_path("index.scr"));
  for (n = 1 + (int)records_random(MODEL_UPDATES); n > 0 && !model.failed; n--) model_update();
  scr_record_sweep(records_prefix);
  AGREE(check_names(records_path("")) <= 3); /* the index, its lock, and the reserve */
  return !model.failed;
}

enum { INDEX_MANY = 10000 };

/* The index of many datasets: how long it takes to list it, and to change it, is printed. */
SCR_FN void index_of_many(void)
{
  scr_index      index;
  scr_index_item it;
  scr_desc       desc;
  char           dir[32];
  double         start, seconds[2];
  int            i, n = 0;

  unlink(records_path("index.scr"));
  CHECK(scr_index_open(&index, records_prefix) == SCR_SUCCESS);
  for (i = 1; i <= INDEX_MANY; i++) {
    snprintf(dir, sizeof dir, "run/ckpt.%d", i);
    records_desc(&desc, i, dir + 4, SCR_FLAG_CHECKPOINT);
    CHECK(scr_index_set(&index, &desc, dir) == SCR_SUCCESS);
    scr_hash_unset(scr_index_entry(&index, i, dir), "REDO");
  }
  CHECK(scr_index_close(&index, SCR_SUCCESS, 1) == SCR_SUCCESS);
  start = check_cpu();
  CHECK(scr_index_read(&index, records_prefix) == SCR_SUCCESS);
  for (memset(&it, 0, sizeof it); scr_index_walk(&index, &it);) n++;
  CHECK(n == INDEX_MANY);
  CHECK(scr_index_newest(&index, INT_MAX, NULL, &it) == SCR_SUCCESS && it.id == INDEX_MANY);
  scr_index_close(&index, SCR_SUCCESS, 0);
  seconds[0] = check_cpu() - start;
  start = check_cpu();
  CHECK(scr_index_change(records_prefix, scr_index_note_fetched, n / 2, "run/ckpt.5000") == SCR_SUCCESS);
  seconds[1] = check_cpu() - start;
  printf("index       %d datasets: listed in %.3f s, changed in %.3f s\n", n, seconds[0], seconds[1]);
  CHECK(seconds[0] < 5 * CHECK_SLOWER && seconds[1] < 5 * CHECK_SLOWER); /* on a slow machine */
  unlink(records_path("index.scr"));
}

/* Two directories have the same dataset: it is rejected in both, and forgiven in both; another one is not. */
static void what_is_decided_holds_for_all_copies(void)
{
  static const char* const dir[] = {"a", "b", "other"};
  scr_desc                 desc = SCR_ZEROS;
  scr_index                index;
  scr_index_item           it;
  int                      i;

  unlink(records_path("index.scr"));
  CHECK(scr_index_open(&index, records_prefix) == SCR_SUCCESS);
  desc.flags = SCR_FLAG_CHECKPOINT;
  desc.complete = 1;
  snprintf(desc.name, sizeof desc.name, "ck");
  for (i = 0; i < 3; i++) {
    desc.identity.id = 7;
    desc.identity.created = i < 2 ? 1000 : 2000;
    CHECK(scr_index_set(&index, &desc, dir[i]) == SCR_SUCCESS);
  }
  scr_index_note_failed(&index, 7, "a", "job");
  for (i = 0; i < 3; i++) CHECK(scr_index_get(&index, 7, dir[i], &it) && it.failed == (i < 2));
  CHECK(scr_index_forgive(&index, 7, "b") == 1);
  for (i = 0; i < 3; i++) CHECK(scr_index_get(&index, 7, dir[i], &it) && !it.failed);
  CHECK(scr_index_close(&index, SCR_SUCCESS, 0) == SCR_SUCCESS);
}

/* Another directory gets the name .scr while the index is open: nothing is written there. */
static void another_directory_does_not_get_the_index(void)
{
  char      scr[SCR_MAX_FILENAME], old[SCR_MAX_FILENAME];
  scr_index index;

  snprintf(scr, sizeof scr, "%s/.scr", records_prefix);
  snprintf(old, sizeof old, "%s/old", records_prefix);
  CHECK(scr_index_open(&index, records_prefix) == SCR_SUCCESS);
  CHECK(rename(scr, old) == 0 && mkdir(scr, 0755) == 0);
  scr_index_set_current(&index, 3, "ck", 1);
  CHECK(scr_index_close(&index, SCR_SUCCESS, 1) != SCR_SUCCESS && strstr(scr_err_text, scr) != NULL);
  CHECK(rmdir(scr) == 0 && rename(old, scr) == 0); /* it is empty */
  CHECK(scr_index_open(&index, records_prefix) == SCR_SUCCESS);
  CHECK(scr_index_close(&index, SCR_SUCCESS, 1) == SCR_SUCCESS);
}

static void test_index(void)
{
  const char* one = getenv("INDEX_SEED");
  uint32_t    first = one != NULL ? (uint32_t)strtoul(one, NULL, 10) : 1, seed;
  uint32_t    n = one != NULL ? 1 : getenv("TEST_LONG") != NULL ? 10000 : (uint32_t)check_pace(300, 1000);
  int         err;

  records_begin();
  err = records_quiet(-1);
  for (seed = first; seed < first + n && model_sequence(seed); seed++) continue;
  records_quiet(err);
  if (one != NULL) return;
  index_of_many();
  what_is_decided_holds_for_all_copies();
  err = records_quiet(-1);
  another_directory_does_not_get_the_index();
  records_quiet(err);
}
