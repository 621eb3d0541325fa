/* ==== VFS =======================================================================================================
** Trees of files in memory: what programs see, what is on the disk, and what a power cut leaves of it.
**
** Offers     tree_* of sim.h; vfs.h
** The model  A file has the bytes that programs see, and those that were synced last.  A directory has the names that
**            programs see, those on the disk, and the list of changes between them; a sync of the directory makes all
**            of them durable.  A file that was synced keeps its bytes, but has a name after a power cut only if its
**            directory was synced too.
** Power cut  CRASH_STRICT  only what was synced is left;
**            CRASH_NAMES   all changes of names, and of the bytes only what was synced;
**            CRASH_CHANCE  each change of a name or not; of each file the synced bytes, all, or this and that sector of
**                          512 bytes, and a size in between.
** ================================================================================================================= */
#include "vfs.h"

#include <sys/stat.h>

#define VFS_SECTOR 512
#define VFS_EPOCH  1700000000000000000ull

/* ---- names ---- */

static struct {
  const char** slot; /* each with its hash before it */
  uint32_t     room, n;
} interned;

#define VFS_GONE ((inode*)1) /* a slot of a table whose name was removed */

static uint32_t name_sum(const char* s, size_t n)
{
  uint32_t h = 2166136261u;

  while (n--) h = (h ^ (unsigned char)*s++) * 16777619u;
  return h ^ h >> 15;
}

static uint32_t name_hash(const char* name)
{
  uint32_t h;

  memcpy(&h, name - sizeof h, sizeof h);
  return h;
}

static void names_grow(void)
{
  uint32_t     room = interned.room ? 2 * interned.room : 4096, i, k;
  const char** slot = calloc(room, sizeof *slot);

  for (k = 0; k < interned.room; k++) {
    if (!interned.slot[k]) continue;
    for (i = name_hash(interned.slot[k]) & (room - 1); slot[i]; i = (i + 1) & (room - 1)) continue;
    slot[i] = interned.slot[k];
  }
  free(interned.slot);
  interned.slot = slot;
  interned.room = room;
}

const char* name_of(const char* s, size_t n)
{
  uint32_t h = name_sum(s, n), i;
  char*    p;

  if (2 * (interned.n + 1) > interned.room) names_grow();
  for (i = h & (interned.room - 1); interned.slot[i]; i = (i + 1) & (interned.room - 1))
    if (strncmp(interned.slot[i], s, n) == 0 && interned.slot[i][n] == '\0') return interned.slot[i];
  p = malloc(sizeof h + n + 1);
  memcpy(p, &h, sizeof h);
  memcpy(p + sizeof h, s, n);
  p[sizeof h + n] = '\0';
  interned.n++;
  return interned.slot[i] = p + sizeof h;
}

/* ---- tables of names ---- */

static int entry_is(const entry* e)
{
  return e->name != NULL && e->to != VFS_GONE;
}

static entry* names_find(const names* m, const char* name)
{
  uint32_t k;

  if (m->room == 0) return NULL;
  for (k = name_hash(name) & (m->room - 1); m->slot[k].name; k = (k + 1) & (m->room - 1))
    if (m->slot[k].name == name && m->slot[k].to != VFS_GONE) return &m->slot[k];
  return NULL;
}

static void names_clear(names* m)
{
  uint32_t k;

  for (k = 0; k < m->room; k++)
    if (entry_is(&m->slot[k])) inode_release(m->slot[k].to);
  free(m->slot);
  memset(m, 0, sizeof *m);
}

static void names_remove(names* m, const char* name)
{
  entry* e = names_find(m, name);

  if (!e) return;
  inode_release(e->to);
  e->to = VFS_GONE;
  m->n--;
}

/* Make room for one more name in M. */
static void names_reserve(names* m)
{
  names    old = *m;
  uint32_t k, j;

  if (4 * (m->used + 1) <= 3 * m->room) return;
  for (m->room = 4; m->room < 2 * (m->n + 1); m->room *= 2) continue;
  m->slot = calloc(m->room, sizeof *m->slot);
  m->used = m->n;
  for (k = 0; k < old.room; k++) {
    if (!entry_is(&old.slot[k])) continue;
    for (j = name_hash(old.slot[k].name) & (m->room - 1); m->slot[j].name; j = (j + 1) & (m->room - 1)) continue;
    m->slot[j] = old.slot[k];
  }
  free(old.slot);
}

static void names_put(names* m, const char* name, inode* to)
{
  entry*   e = names_find(m, name);
  uint32_t k;

  to->refs++;
  if (e) {
    inode_release(e->to);
    e->to = to;
    return;
  }
  names_reserve(m);
  for (k = name_hash(name) & (m->room - 1); m->slot[k].name; k = (k + 1) & (m->room - 1)) continue;
  m->slot[k].name = name;
  m->slot[k].to = to;
  m->n++;
  m->used++;
}

/* ---- inodes ---- */

static void bytes_release(bytes* b)
{
  if (b == NULL || --b->refs > 0) return;
  free(b->p);
  free(b);
}

void inode_touch(inode* i)
{
  i->mtime = VFS_EPOCH + S.now;
}

inode* inode_new(tree* t, int is_dir, int mode)
{
  inode* i = calloc(1, sizeof *i);

  i->is_dir = is_dir;
  i->mode = mode & 07777 & ~022;
  i->t = t;
  i->number = ++t->numbers;
  inode_touch(i);
  return i;
}

void inode_release(inode* i)
{
  uint32_t k;

  if (--i->refs > 0) return;
  if (i->nlink == 0 && !i->is_dir) i->t->used -= file_size(i);
  bytes_release(i->now);
  bytes_release(i->disk);
  names_clear(&i->dir);
  names_clear(&i->dir_disk);
  for (k = 0; k < i->nchanges; k++)
    if (i->changes[k].to) inode_release(i->changes[k].to);
  free(i->changes);
  free(i);
}

/* ---- directories ---- */

inode* dir_child(const inode* d, const char* name)
{
  entry* e = names_find(&d->dir, name);
  return e ? e->to : NULL;
}

static void dir_note(inode* d, const char* add, inode* to, const char* gone)
{
  change* c;

  if (d->nchanges == d->changes_room)
    d->changes =
        realloc(d->changes, (d->changes_room = d->changes_room ? 2 * d->changes_room : 4) * sizeof *d->changes);
  c = &d->changes[d->nchanges++];
  c->add = add;
  c->to = to;
  c->gone = gone;
  if (to) to->refs++;
  inode_touch(d);
}

void dir_put(inode* d, const char* name, inode* i)
{
  inode* old = dir_child(d, name);

  if (old) old->nlink--; /* without a name, it takes no room once nobody has it open */
  i->nlink++;
  dir_note(d, name, i, NULL);
  names_put(&d->dir, name, i);
}

void dir_remove(inode* d, const char* name)
{
  dir_child(d, name)->nlink--;
  dir_note(d, NULL, NULL, name);
  names_remove(&d->dir, name);
}

void dir_move(inode* d, const char* from, inode* e, const char* to)
{
  inode *i = dir_child(d, from), *old = dir_child(e, to);

  if (old) old->nlink--;
  if (d == e) {
    dir_note(d, to, i, from);
  } else { /* two directories: a power cut may leave both names, or none */
    dir_note(e, to, i, NULL);
    dir_note(d, NULL, NULL, from);
  }
  names_put(&e->dir, to, i);
  names_remove(&d->dir, from);
}

int dir_is_within(const inode* top, const inode* d)
{
  uint32_t k;

  if (top == d) return 1;
  for (k = 0; k < top->dir.room; k++)
    if (entry_is(&top->dir.slot[k]) && top->dir.slot[k].to->is_dir && dir_is_within(top->dir.slot[k].to, d)) return 1;
  return 0;
}

static void change_apply(names* m, const change* c)
{
  if (c->gone) names_remove(m, c->gone);
  if (c->add) names_put(m, c->add, c->to);
}

/* Forget the changes of D; as KIND of a power cut says, they are on the disk now or lost. */
static void dir_settle(inode* d, int kind)
{
  uint32_t k;

  for (k = 0; k < d->nchanges; k++) {
    if (kind == CRASH_NAMES || (kind == CRASH_CHANCE && sim_below(2))) change_apply(&d->dir_disk, &d->changes[k]);
    if (d->changes[k].to) inode_release(d->changes[k].to);
  }
  d->nchanges = 0;
}

void dir_sync(inode* d)
{
  dir_settle(d, CRASH_NAMES);
}

static int by_name(const void* a, const void* b)
{
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

const char** dir_sorted(const inode* d)
{
  const char** list = malloc((d->dir.n + 1) * sizeof *list);
  uint32_t     k, n = 0;

  for (k = 0; k < d->dir.room; k++)
    if (entry_is(&d->dir.slot[k])) list[n++] = d->dir.slot[k].name;
  qsort(list, n, sizeof *list, by_name);
  return list;
}

/* ---- files ---- */

uint64_t file_size(const inode* i)
{
  return i->now ? i->now->n : 0;
}

void file_sync(inode* i)
{
  if (i->lost) return; /* the system believes that this was written */
  bytes_release(i->disk);
  if ((i->disk = i->now)) i->now->refs++;
}

/* The bytes of I, its own, with room for N. */
static bytes* file_own(inode* i, size_t n)
{
  bytes* b = i->now;

  if (!b || b->refs > 1) {
    bytes* c = calloc(1, sizeof *c);
    c->refs = 1;
    if (b) {
      c->n = c->room = b->n;
      c->p = malloc(b->n + 1);
      memcpy(c->p, b->p, b->n);
      b->refs--;
    }
    i->now = b = c;
  }
  if (b->room < n) {
    if (b->room == 0) b->room = n;
    while (b->room < n) b->room *= 2;
    b->p = realloc(b->p, b->room + 1);
  }
  return b;
}

int file_resize(inode* i, uint64_t n)
{
  uint64_t was = file_size(i);
  bytes*   b;

  if (n >> 44 != 0) { /* the largest file of ext4 has 16 TiB */
    errno = EFBIG;
    return -1;
  }
  if (n > was && (i->t->used >= i->t->limit || n - was > i->t->limit - i->t->used)) {
    errno = ENOSPC;
    return -1;
  }
  i->t->used += n - was;
  b = file_own(i, (size_t)n);
  if (n > was) memset(b->p + was, 0, (size_t)(n - was));
  b->n = (size_t)n;
  inode_touch(i);
  return 0;
}

ssize_t file_put(inode* i, const void* p, size_t n, uint64_t at)
{
  uint64_t room = i->t->used < i->t->limit ? i->t->limit - i->t->used : 0, size = file_size(i);

  if (n == 0) return 0;
  if (at + n > size && at + n - size > room) { /* a part may have room */
    if (at >= size + room) {
      errno = ENOSPC;
      return -1;
    }
    n = (size_t)(size + room - at);
  }
  if (at + n > size && file_resize(i, at + n) < 0) return -1;
  memcpy(file_own(i, (size_t)(at + n))->p + at, p, n);
  i->lost = 0;
  inode_touch(i);
  return (ssize_t)n;
}

/* ---- a power cut ---- */

static void crash_file(inode* i, int kind)
{
  size_t from = i->disk ? i->disk->n : 0, to = i->now ? i->now->n : 0, n = from, at;
  bytes* b;

  if (i->now == i->disk) return;
  i->lost = 0;
  if (kind == CRASH_CHANCE && sim_below(4) == 0) {
    file_sync(i);
    return;
  }
  if (kind == CRASH_CHANCE && sim_below(3) > 0)
    n = sim_below(2) ? to : (from < to ? from + sim_below(to - from + 1) : to + sim_below(from - to + 1));
  b = calloc(1, sizeof *b);
  b->refs = 1;
  b->n = b->room = n;
  b->p = calloc(1, n + 1);
  for (at = 0; at < n; at += VFS_SECTOR) {
    const bytes* s = kind == CRASH_CHANCE && sim_below(2) ? i->now : i->disk;
    size_t       k = n - at < VFS_SECTOR ? n - at : VFS_SECTOR;
    if (s && s->n > at) memcpy(b->p + at, s->p + at, s->n - at < k ? s->n - at : k);
  }
  bytes_release(i->now);
  i->now = b;
  file_sync(i);
}

/* What is left of D and all below it; adds the bytes of the files to *USED. */
static void crash_dir(inode* d, int kind, uint64_t* used)
{
  const char** list;
  uint32_t     k;

  dir_settle(d, kind);
  names_clear(&d->dir);
  for (k = 0; k < d->dir_disk.room; k++)
    if (entry_is(&d->dir_disk.slot[k])) names_put(&d->dir, d->dir_disk.slot[k].name, d->dir_disk.slot[k].to);
  list = dir_sorted(d); /* in an order that depends on nothing else */
  for (k = 0; k < d->dir.n; k++) {
    inode* i = dir_child(d, list[k]);
    i->nlink = 1;
    i->locked_by = NULL;
    if (i->is_dir) crash_dir(i, kind, used);
    else crash_file(i, kind), *used += file_size(i);
  }
  free(list);
}

void tree_crash(tree* t, int kind)
{
  uint64_t used = 0;

  crash_dir(t->root, kind, &used);
  t->used = used;
  t->was_cut = 1;
}

int tree_was_cut(const tree* t)
{
  return t->was_cut;
}

/* ---- trees ---- */

static void tree_plant(tree* t)
{
  t->numbers = t->id * 1000000L;
  t->used = 0;
  t->was_cut = 0;
  t->root = inode_new(t, 1, 0755);
  t->root->refs = t->root->nlink = 1;
  t->limit = UINT64_MAX;
}

tree* tree_new(int id)
{
  tree* t = calloc(1, sizeof *t);

  t->id = id;
  tree_plant(t);
  return t;
}

void tree_wipe(tree* t)
{
  inode_release(t->root);
  tree_plant(t);
}

void tree_free(tree* t)
{
  if (t == NULL) return;
  inode_release(t->root);
  free(t);
}

void tree_mkdir(tree* t, const char* path)
{
  inode* i = t->root;

  while (*path) {
    size_t      n;
    const char* name;
    path += strspn(path, "/");
    if ((n = strcspn(path, "/")) == 0) break;
    name = name_of(path, n);
    if (!dir_child(i, name)) dir_put(i, name, inode_new(t, 1, 0755));
    dir_sync(i);
    i = dir_child(i, name);
    path += n;
  }
}

/* The inode of PATH, or NULL. */
static inode* tree_find(const tree* t, const char* path)
{
  inode* i = t->root;
  size_t n;

  for (path += strspn(path, "/"); i && *path; path += n, path += strspn(path, "/")) {
    n = strcspn(path, "/");
    i = i->is_dir ? dir_child(i, name_of(path, n)) : NULL;
  }
  return i;
}

void tree_rename(tree* t, const char* from, const char* to)
{
  dir_move(t->root, name_of(from, strlen(from)), t->root, name_of(to, strlen(to)));
  dir_sync(t->root);
}

void tree_write(tree* t, const char* dir, const char* name, const char* text)
{
  inode *d = tree_find(t, dir), *i = inode_new(t, 0, 0644);

  dir_put(d, name_of(name, strlen(name)), i);
  dir_sync(d);
  file_put(i, text, strlen(text), 0);
  file_sync(i);
}

/* Byte AT of the file I changes on the disk. */
static void file_rot(inode* i, uint64_t at)
{
  char c = (char)(i->now->p[at] ^ 1);

  file_put(i, &c, 1, at);
  file_sync(i);
}

int tree_spoil(tree* t, const char* path)
{
  inode* i = tree_find(t, path);

  if (!i || i->is_dir || file_size(i) == 0) return 0;
  file_rot(i, file_size(i) / 2);
  return 1;
}

/* A file of a tree, and where its name is. */
typedef struct {
  inode *     dir, *file;
  const char* name;
} place;

/* How many files there are below D, the directory PATH, with NAME in their path; number *WHICH, from 0, is F. */
static uint64_t find_dir(inode* d, char* path, const char* name, uint64_t* which, place* f)
{
  const char** list = dir_sorted(d);
  size_t       n = strlen(path);
  uint32_t     k, all = d->dir.n;
  uint64_t     files = 0;

  for (k = 0; k < all; k++) {
    inode* i = dir_child(d, list[k]);
    snprintf(path + n, 4000 - n, "/%s", list[k]);
    if (i->is_dir) files += find_dir(i, path, name, which, f);
    else if (strstr(path, name) != NULL) {
      files++;
      if ((*which)-- > 0) continue;
      f->dir = d;
      f->file = i;
      f->name = list[k]; /* a name lives as long as the simulator */
    }
  }
  path[n] = '\0';
  free(list);
  return files;
}

/* F becomes any file of T with NAME in its path; 0 if there is none. */
static int find_any(tree* t, const char* name, place* f)
{
  char     path[4096] = "";
  uint64_t none = UINT64_MAX, one, files = find_dir(t->root, path, name, &none, f);

  if (files == 0) return 0;
  one = sim_below(files);
  find_dir(t->root, path, name, &one, f);
  return 1;
}

int tree_purge(tree* t, const char* name)
{
  place f;

  if (!find_any(t, name, &f)) return 0;
  dir_remove(f.dir, f.name);
  dir_sync(f.dir);
  return 1;
}

int tree_rot(tree* t, const char* name)
{
  place f;

  t->was_cut = 1;
  if (!find_any(t, name, &f) || file_size(f.file) == 0) return 0;
  file_rot(f.file, sim_below(file_size(f.file)));
  return 1;
}

int tree_has_kept(const tree* t, const char* path)
{
  const inode* i = tree_find(t, path);

  return i && i->kept;
}

int tree_lock(tree* t, const char* path, open_file* holder)
{
  inode* i = tree_find(t, path);

  if (i) i->locked_by = holder;
  return i != NULL;
}

int tree_has_only(const tree* t, const char* path, const char* names)
{
  const inode* d = tree_find(t, path);
  char         word[300];
  uint32_t     k;

  for (k = 0; d && k < d->dir.room; k++) {
    if (!entry_is(&d->dir.slot[k])) continue;
    snprintf(word, sizeof word, " %s ", d->dir.slot[k].name);
    if (strstr(names, word)) continue;
    snprintf(word, sizeof word, " %.*s. ", (int)strcspn(d->dir.slot[k].name, "."), d->dir.slot[k].name);
    if (!strstr(names, word)) return 0;
  }
  return 1;
}

/* Copy what is below FROM to the directory TO of T. */
static void copy_dir(tree* t, inode* to, const inode* from)
{
  const char** list = dir_sorted(from);
  uint32_t     k;

  for (k = 0; k < from->dir.n; k++) {
    const inode* i = dir_child(from, list[k]);
    inode*       c = inode_new(t, i->is_dir, i->mode);
    c->mtime = i->mtime;
    dir_put(to, list[k], c);
    if (i->is_dir) copy_dir(t, c, i);
    else if (i->now) file_put(c, i->now->p, i->now->n, 0), file_sync(c);
  }
  free(list);
  dir_sync(to);
}

tree* tree_copy(const tree* t)
{
  tree* c = tree_new(t->id);

  copy_dir(c, c->root, t->root);
  return c;
}

int tree_restore(tree* t, const tree* copy, const char* dir, const char* name)
{
  inode *     to = tree_find(t, dir), *from = tree_find(copy, dir), *i;
  const char* n = name_of(name, strlen(name));

  if (!to || !from || (from = dir_child(from, n)) == NULL) return 0;
  if (dir_child(to, n)) dir_remove(to, n);
  i = inode_new(t, 1, from->mode);
  dir_put(to, n, i);
  copy_dir(t, i, from);
  dir_sync(to);
  return 1;
}

void tree_room(tree* t, uint64_t room)
{
  t->limit = room > UINT64_MAX - t->used ? UINT64_MAX : t->used + room;
}

static void count_dir(const inode* d, uint64_t* files, uint64_t* dirs, uint64_t* size)
{
  uint32_t k;

  ++*dirs;
  for (k = 0; k < d->dir.room; k++) {
    if (!entry_is(&d->dir.slot[k])) continue;
    if (d->dir.slot[k].to->is_dir) count_dir(d->dir.slot[k].to, files, dirs, size);
    else ++*files, *size += file_size(d->dir.slot[k].to);
  }
}

void tree_count(const tree* t, uint64_t* files, uint64_t* dirs, uint64_t* size)
{
  count_dir(t->root, files, dirs, size);
}

static void list_dir(const inode* d, char* path, FILE* out)
{
  const char** list = dir_sorted(d);
  size_t       n = strlen(path);
  uint32_t     k;

  for (k = 0; k < d->dir.n; k++) {
    const inode* i = dir_child(d, list[k]);
    snprintf(path + n, 4000 - n, "/%s", list[k]);
    fprintf(out, "%s %c %o %lu %08x\n", path, i->is_dir ? 'd' : 'f', (unsigned)i->mode,
            (unsigned long)(i->is_dir ? 0 : file_size(i)), i->now ? name_sum(i->now->p, i->now->n) : 0);
    if (i->is_dir) list_dir(i, path, out);
    path[n] = '\0';
  }
  free(list);
}

void tree_list(const tree* t, FILE* out)
{
  char path[4096] = "";

  list_dir(t->root, path, out);
}

static void save_dir(const inode* d, char* path)
{
  const char** list = dir_sorted(d);
  size_t       n = strlen(path);
  uint32_t     k;
  FILE*        f;

  mkdir(path, 0755);
  for (k = 0; k < d->dir.n; k++) {
    const inode* i = dir_child(d, list[k]);
    snprintf(path + n, 4000 - n, "/%s", list[k]);
    if (i->is_dir) save_dir(i, path);
    else if ((f = fopen(path, "w"))) {
      if (i->now) fwrite(i->now->p, 1, i->now->n, f);
      fclose(f);
    }
    path[n] = '\0';
  }
  free(list);
}

void tree_save(const tree* t, const char* dir)
{
  char  path[4096];
  char* p;

  snprintf(path, 4000, "%s", dir);
  for (p = path + 1; *p; p++) /* and the directories above it */
    if (*p == '/') *p = '\0', mkdir(path, 0755), *p = '/';
  save_dir(t->root, path);
}
