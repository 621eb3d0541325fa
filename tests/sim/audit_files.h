/* audit_files.h - reads the files of the library as its commands do, of which it is a part, for audit.c. */
#include "audit.h"

void sim_violation(const char* format, ...);

#define AUDIT_PREFIX "/pfs/p"

/* ---- the prefix ---- */

/* The bytes of O, from all of its places; NULL if some of them are not there. */
static unsigned char* audit_bytes(const scr_object* o, int id)
{
  unsigned char* p = (unsigned char*)malloc(o->size + 1);
  scr_extents    l;
  struct stat    st;
  uint64_t       at = 0;
  int            i, fd, ok = 1;

  memset(&l, 0, sizeof l);
  if (scr_object_extents(o, AUDIT_PREFIX, id, SCR_NAMES_FINAL, &l) != SCR_SUCCESS) ok = 0;
  for (i = 0; i < l.n && ok; i++) {
    const scr_extent* x = &l.extent[i];
    if (!l.whole && x->length == 0) continue;
    fd = open(x->path, O_RDONLY);
    ok = fd >= 0 && fstat(fd, &st) == 0 && (l.whole ? (uint64_t)st.st_size == o->size : 1) &&
         pread(fd, p + at, x->length, (off_t)x->offset) == (ssize_t)x->length;
    if (fd >= 0) close(fd);
    at += x->length;
  }
  scr_extents_free(&l);
  if (ok && at == o->size) return p;
  free(p);
  return NULL;
}

static int audit_leaf(const scr_objects* l, void* arg)
{
  audit_set*     s = (audit_set*)arg;
  unsigned char* p;
  scr_objects_at at;
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  int            i;

  for (i = 0; i < l->n && s->read; i++) {
    if ((p = audit_bytes(&l->object[i], s->id)) == NULL)
      sim_violation("the index calls dataset %d, %s, complete, but %s is not there, or has another size", s->id,
                    s->name, l->object[i].rel);
    else audit_file(s, l->object[i].owner, l->object[i].rel, p, l->object[i].size);
    free(p);
  }
  memset(&at, 0, sizeof at);
  while (!s->read && scr_objects_walk(l, &at))
    if (scr_objects_path(&at, AUDIT_PREFIX, s->id, 0, path, sizeof path) != SCR_SUCCESS || stat(path, &st) < 0 ||
        (uint64_t)st.st_size < at.least || (at.o->packed.n == 0 && (uint64_t)st.st_size != at.least))
      sim_violation("the index calls dataset %d, %s, complete, but %s is not there, or has another size", s->id,
                    s->name, path);
  return SCR_SUCCESS;
}

/* The dataset IT, which the index calls complete; NEWER ones were before it. */
static void audit_dataset(audit_job* j, const scr_index_item* it, int newer)
{
  audit_set*       s = &j->set[j->sets < AUDIT_SETS ? j->sets++ : AUDIT_SETS - 1];
  scr_prefix_place place;
  scr_desc         d;
  char             path[SCR_MAX_FILENAME];
  int              ranks, complete = 0, rc;

  memset(s, 0, sizeof *s);
  s->id = it->id;
  s->read = newer < j->reads;
  s->ranks = it->desc.ranks;
  s->created = it->desc.identity.created;
  s->checkpoint = scr_desc_is_ckpt(&it->desc);
  s->counts = scr_desc_is_pure(&it->desc) && !it->unread && !it->passed;
  snprintf(s->name, sizeof s->name, "%.63s", it->desc.name);
  if (it->renaming) return; /* the next run looks at it first */
  if (audit_is_purged(s->name)) return;
  rc = scr_summary_path(AUDIT_PREFIX, it->dir, path);
  if (rc == SCR_SUCCESS) rc = scr_summary_read(path, &d, &complete);
  if (rc != SCR_SUCCESS || !complete || !scr_identity_same(&d.identity, &it->desc.identity))
    sim_violation("the index calls dataset %d, %s, complete, but its summary does not: %s", s->id, s->name,
                  rc != SCR_SUCCESS ? scr_err_text : "it is of another one");
  rc = scr_prefix_locate(AUDIT_PREFIX, it->id, it->dir, &place);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_walk(AUDIT_PREFIX, &place, &it->desc.identity, &ranks, audit_leaf, s);
  if (rc != SCR_SUCCESS)
    sim_violation("the index calls dataset %d, %s, complete, but its map cannot be read: %s", s->id, s->name,
                  scr_err_text);
  else if (s->read) audit_set_end(s);
}

/*
** After a regular end, what the flush file calls flushed, the index must have, or a newer one that has taken its files;
** else commands believe the index.
*/
static void audit_notes(const audit_job* j)
{
  scr_record     file;
  scr_flush_note note;
  int            id = 0, i, rc = scr_flush_file_read(&file, AUDIT_PREFIX);

  if (rc != SCR_SUCCESS && !j->notes_lost) sim_violation("the flush file cannot be read: %s", scr_err_text);
  while (rc == SCR_SUCCESS && j->clean && (id = scr_flush_file_next(&file, id)) != 0) {
    if (!scr_flush_file_get(&file, id, &note) || !(note.location & SCR_LOCATION_PREFIX)) continue;
    for (i = 0; i < j->sets && (j->set[i].id < id || strcmp(j->set[i].name, note.name) != 0); i++) continue;
    if (i == j->sets && !audit_may_lack(note.name) && !audit_is_purged(note.name))
      sim_violation("the flush file says that dataset %d, %s, is on the prefix, but the index does not", id, note.name);
  }
  scr_record_close(&file, rc, 0);
}

/* Nothing temporary is left in the directory DIR, but for what begins with KILLED, if that is not NULL. */
static void audit_leftovers(const char* dir, const char* killed)
{
  DIR*           d = opendir(dir);
  struct dirent* e;
  size_t         n;

  while (d != NULL && (e = readdir(d)) != NULL)
    if ((n = strlen(e->d_name)) > 4 && strcmp(e->d_name + n - 4, ".tmp") == 0 &&
        (killed == NULL || strncmp(e->d_name, killed, strlen(killed)) != 0))
      sim_violation("%s/%s is left", dir, e->d_name);
  if (d != NULL) closedir(d);
}

void* sim_audit_prefix(void* arg)
{
  audit_job*     j = (audit_job*)arg;
  scr_index      index;
  scr_index_item it;
  int            newer = 0, rc = scr_index_read(&index, AUDIT_PREFIX);

  if (rc != SCR_SUCCESS) sim_violation("the index cannot be read: %s", scr_err_text);
  scr_index_sort(&index);
  memset(&it, 0, sizeof it);
  while (rc == SCR_SUCCESS && scr_index_walk(&index, &it))
    if (it.complete) audit_dataset(j, &it, it.renaming ? INT_MAX : newer++);
  scr_index_close(&index, rc, 0);
  audit_notes(j);
  if (j->clean && !j->lock_held) audit_leftovers(AUDIT_PREFIX "/.scr", NULL);
  return NULL;
}

/* ---- a node ---- */

typedef struct {
  const audit_job* job;
  scr_hash*        listed;
} audit_node;

/* The file F, of E, is what its owner wrote. */
static void audit_map_bytes(const char* path, const scr_entry* e, const scr_file* f)
{
  unsigned char* p = (unsigned char*)malloc(f->size + 1);
  int            fd = open(path, O_RDONLY);

  if (fd >= 0 && pread(fd, p, f->size, 0) == (ssize_t)f->size)
    audit_cache_file(e->desc.identity.id, scr_desc_name(&e->desc), e->owner, f->rel, p, f->size);
  else sim_violation("%s cannot be read", path);
  if (fd >= 0) close(fd);
  free(p);
}

/* What MAP lists as complete, of datasets of the last run, is there, with its size. */
static int audit_map(const char* dir, const scr_home* home, const scr_filemap* map, void* arg)
{
  audit_node* a = (audit_node*)arg;
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  int         i, k;

  (void)dir;
  for (i = 0; i < map->n; i++) {
    const scr_entry* e = map->entry[i];
    snprintf(path, sizeof path, "scr.dataset.%d",
             e->desc.identity.id); /* it may have files that nobody has listed yet */
    if (!e->listed || !e->desc.complete || audit_was_struck(scr_desc_name(&e->desc)))
      scr_hash_set(a->listed, path, scr_hash_new());
    for (k = 0; k < e->files && !e->bypass; k++) {
      if (scr_entry_path(home, e, e->file[k].rel, path, sizeof path) != SCR_SUCCESS) continue;
      scr_hash_set(a->listed, path, scr_hash_new());
      if (!a->job->clean || !e->listed || !e->desc.complete || !e->file[k].complete || e->mark == SCR_MARK_LEAVING ||
          e->desc.identity.created < a->job->since || audit_was_cut())
        continue;
      if (stat(path, &st) < 0 || (uint64_t)st.st_size != e->file[k].size)
        sim_violation("%s lists %s, of dataset %d, which is not there, or has another size", home->host, path,
                      e->desc.identity.id);
      else if (strstr(e->file[k].rel, ".scr/") == NULL) audit_map_bytes(path, e, &e->file[k]);
    }
  }
  return SCR_SUCCESS;
}

/* Each file below DIR, the directory of a dataset in a cache, is listed. */
static void audit_cached(const audit_node* a, const char* dir, int below)
{
  DIR*           d = opendir(dir);
  struct dirent* e;
  struct stat    st;
  char           path[SCR_MAX_FILENAME];

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (!below && (strncmp(e->d_name, "scr.dataset.", 12) != 0 || scr_hash_get(a->listed, e->d_name) != NULL)) continue;
    snprintf(path, sizeof path, "%.2000s/%.255s", dir, e->d_name);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) audit_cached(a, path, 1);
    else if (scr_hash_get(a->listed, path) == NULL && !audit_is_remnant(path))
      sim_violation("no filemap lists %s", path);
  }
  if (d != NULL) closedir(d);
}

/* The directory on this node that records the prefix, below /cntl or /ssd: of several applications, each has one. */
static const char* audit_dir(void)
{
  static const char* const dirs[] = {"user/scr.sim", "user/scr.sim.1"};
  char                     path[SCR_MAX_FILENAME];
  size_t                   i;
  int                      ours = 0;

  for (i = 0; i < sizeof dirs / sizeof *dirs && !ours; i++) {
    scr_hash* h = scr_hash_new();
    snprintf(path, sizeof path, "/cntl/%s/prefix.scrinfo", dirs[i]);
    ours = scr_hash_file_read(path, h) == SCR_SUCCESS && strcmp(scr_hash_str_or(h, "PREFIX", ""), AUDIT_PREFIX) == 0;
    scr_hash_delete(&h);
  }
  return dirs[ours ? i - 1 : 0];
}

void* sim_audit_node(void* arg)
{
  audit_node  a = {(const audit_job*)arg, scr_hash_new()};
  const char* dir = audit_dir();
  char        cntl[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  struct stat st;
  int         rc, clean = a.job->clean && audit_has_run();

  snprintf(cntl, sizeof cntl, "/cntl/%s", dir);
  snprintf(file, sizeof file, "%.2000s/filemap.scrinfo", cntl);
  if (stat(file, &st) < 0) return NULL; /* no run has come so far on this node */
  rc = cache_read(cntl, audit_map, &a); /* a rank that has no files may have written no filemap */
  if (rc != SCR_SUCCESS && rc != SCR_ERR_NOT_FOUND && clean) sim_violation("filemaps cannot be read: %s", scr_err_text);
  if (clean) {
    snprintf(file, sizeof file, "/ssd/%s", dir);
    if (!audit_was_cut()) audit_cached(&a, file, 0);
    audit_leftovers(cntl, a.job->daemon_struck ? "transfer.scrinfo." : NULL);
  }
  scr_hash_delete(&a.listed);
  return NULL;
}
