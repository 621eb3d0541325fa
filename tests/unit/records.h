/*
** records.h - what the suites of records share: records to begin with, sweeps of faults, and mutations of files.
*/
#ifndef RECORDS_H
#define RECORDS_H

/* ---- records --------------------------------------------------------------------------------------------------- */

/* Make D the descriptor of dataset ID, which is called NAME. */
SCR_FN void records_desc(scr_desc* d, int id, const char* name, int flags)
{
  memset(d, 0, sizeof *d);
  d->identity.id = id;
  d->identity.created = (int64_t)1000 + id;
  d->identity.nonce = 0xabcdef0000000000u + (unsigned)id;
  snprintf(d->name, sizeof d->name, "%s", name);
  d->ckpt = flags & SCR_FLAG_CHECKPOINT ? id : 0;
  d->flags = flags;
  d->ranks = 8;
  d->complete = d->preserve = 1;
}

/* Make F the record of file I of OWNER in dataset ID, each field with a value of its own; scr_file_free is due. */
SCR_FN void records_file(scr_file* f, int id, int owner, int i)
{
  memset(f, 0, sizeof *f);
  f->rel = scr_strdupf("ckpt.%d/rank_%d/part_%d", id, owner, i);
  f->orig = scr_strdupf("./ckpt.%d/rank_%d/part_%d", id, owner, i);
  f->dir = scr_strdupf("/p/ckpt.%d/rank_%d", id, owner);
  f->complete = f->has_crc = 1;
  f->size = 1000 + (uint64_t)i;
  f->crc = 0x39e4e4u + (unsigned)i;
  f->ranks = 8;
  f->mode = 0640;
  f->mtime = 1795232559 + i;
}

/* Make D the descriptor of an XOR set of ranks 0 to 3, as OWNER sees it. */
SCR_FN void records_reddesc(scr_reddesc* d, const char* store, int owner)
{
  int i;

  memset(d, 0, sizeof *d);
  d->enabled = d->index = d->interval = d->hop = d->failures = d->can_mkdir = 1;
  d->scheme = SCR_SCHEME_XOR;
  d->size_wanted = 8;
  d->group = scr_strdup("NODE");
  d->store = scr_strdup(store);
  d->sets = 2;
  d->set_size = 4;
  d->set_rank = owner % 4;
  d->member = (int*)scr_malloc(4 * sizeof *d->member);
  for (i = 0; i < 4 && d->member != NULL; i++) d->member[i] = i;
}

/* A new entry of OWNER in dataset ID with FILES files; NULL without memory. */
SCR_FN scr_entry* records_entry(int id, int owner, int files)
{
  scr_entry* e = (scr_entry*)scr_malloc(sizeof *e);
  scr_file   f;
  int        i;

  if (e == NULL) return NULL;
  e->owner = owner;
  records_desc(&e->desc, id, "run", SCR_FLAG_CHECKPOINT);
  records_reddesc(&e->red, "/ssd", owner);
  for (i = 0; i < files && !scr_oom; i++) {
    records_file(&f, id, owner, i);
    if (!scr_oom) scr_entry_add(e, &f);
    scr_file_free(&f);
  }
  e->listed = e->preserve = 1;
  snprintf(e->partner, sizeof e->partner, "node7");
  if (scr_oom) scr_entry_free(&e);
  return e;
}

/* The names of a node. */
SCR_FN const scr_home* records_home(void)
{
  static const scr_home home = {"me", "123", "node7", 0, 0};
  return &home;
}

SCR_FN int records_same_text(const char* a, const char* b)
{
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* 1 when A and B say the same of a file; the size of one that is not complete says nothing. */
SCR_FN int records_same_file(const scr_file* a, const scr_file* b)
{
  return records_same_text(a->rel, b->rel) && records_same_text(a->orig, b->orig) &&
         records_same_text(a->dir, b->dir) && a->kind == b->kind && a->complete == b->complete &&
         (!a->complete || a->size == b->size) && a->has_crc == b->has_crc && (!a->has_crc || a->crc == b->crc) &&
         a->ranks == b->ranks && a->mode == b->mode && a->mtime == b->mtime;
}

/* 1 when A and B say the same of a set; the partner's host is part of the entry. */
SCR_FN int records_same_reddesc(const scr_reddesc* a, const scr_reddesc* b)
{
  return a->enabled == b->enabled && a->index == b->index && a->interval == b->interval && a->output == b->output &&
         a->scheme == b->scheme && a->size_wanted == b->size_wanted && a->hop == b->hop && a->failures == b->failures &&
         records_same_text(a->group, b->group) && records_same_text(a->store, b->store) && a->global == b->global &&
         a->can_mkdir == b->can_mkdir && a->sets == b->sets && a->set_id == b->set_id && a->set_size == b->set_size &&
         a->set_rank == b->set_rank && (a->member == NULL) == (b->member == NULL) &&
         (a->member == NULL || memcmp(a->member, b->member, (size_t)a->set_size * sizeof *a->member) == 0);
}

/* Both descriptors began as zeros, so that their bytes can be compared. */
SCR_FN int records_same_desc(const scr_desc* a, const scr_desc* b)
{
  return memcmp(a, b, sizeof *a) == 0;
}

SCR_FN int records_same_entry(const scr_entry* a, const scr_entry* b)
{
  int i, same = a != NULL && b != NULL && a->owner == b->owner && a->files == b->files;

  if (!same || !records_same_desc(&a->desc, &b->desc) || !records_same_reddesc(&a->red, &b->red)) return 0;
  for (i = 0; i < a->files && same; i++)
    same =
        scr_entry_find(b, a->file[i].rel) != NULL && records_same_file(&a->file[i], scr_entry_find(b, a->file[i].rel));
  return same && a->listed == b->listed && a->verified == b->verified && a->mark == b->mark &&
         a->preserve == b->preserve && a->container == b->container && strcmp(a->partner, b->partner) == 0;
}

/* ---- a prefix -------------------------------------------------------------------------------------------------- */

static char records_prefix[128]; /* of the suite that runs, in the scratch directory */

/* Begin with an empty prefix. */
SCR_FN void records_begin(void)
{
  snprintf(records_prefix, sizeof records_prefix, "%.110s/prefix", check_dir);
  nftw(records_prefix, check_remove, 16, FTW_DEPTH | FTW_PHYS);
  CHECK_INT(mkdir(records_prefix, 0700), 0);
  CHECK_INT(scr_record_mkdir(records_prefix), SCR_SUCCESS);
}

/* The path of DIR/NAME below the prefix, in one of sixteen buffers that take turns. */
SCR_FN const char* records_below(const char* dir, const char* name)
{
  static char     path[16][2 * SCR_MAX_FILENAME];
  static unsigned turn;

  turn = (turn + 1) % 16;
  snprintf(path[turn], sizeof path[turn], "%s/%s%.1500s", records_prefix, dir, name);
  return path[turn];
}

/* PREFIX/REL. */
SCR_FN const char* records_at(const char* rel)
{
  return records_below("", rel);
}

/* PREFIX/.scr/NAME. */
SCR_FN const char* records_path(const char* name)
{
  return records_below(".scr/", name);
}

/* Make the file TO a copy of FROM, or remove it when FROM is NULL. */
SCR_FN void records_copy(const char* from, const char* to)
{
  static char buf[65536];

  if (from == NULL) unlink(to);
  else check_put(to, buf, check_get(from, buf, sizeof buf));
}

/* Make PREFIX/REL, with its directories, a file of TEXT. */
SCR_FN void records_put(const char* rel, const char* text)
{
  char dir[SCR_MAX_FILENAME];

  CHECK_INT(scr_path_dir_of(records_at(rel), dir, sizeof dir), SCR_SUCCESS);
  CHECK_INT(scr_mkdirs(dir, 0700), SCR_SUCCESS);
  check_put(records_at(rel), text, strlen(text));
}

/* The text of PREFIX/REL, or "-" when there is no such file. */
SCR_FN const char* records_text(const char* rel)
{
  static char text[4096];

  if (access(records_at(rel), F_OK) != 0) return "-";
  text[check_get(records_at(rel), text, sizeof text - 1)] = '\0';
  return text;
}

/* 1 while the lock of the file NAME in PREFIX/.scr is free. */
SCR_FN int records_unlocked(const char* name)
{
  char lock[3 * SCR_MAX_FILENAME];
  int  fd, is_free;

  snprintf(lock, sizeof lock, "%s.lock", records_path(name));
  if ((fd = open(lock, O_RDWR)) < 0) return 1;
  is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return is_free;
}

/* Show no warnings until records_quiet(ERR), with what records_quiet(-1) has returned. */
SCR_FN int records_quiet(int err)
{
  int was = err < 0 ? dup(2) : -1, to = err < 0 ? open("/dev/null", O_WRONLY) : err;

  fflush(stderr);
  CHECK(to >= 0 && dup2(to, 2) == 2);
  close(to);
  return was;
}

/* ---- sweeps ---------------------------------------------------------------------------------------------------- */

/*
** Run OP(ARG) with its first allocation failing, then the second, and so on until none is left to fail; AFTER(RC),
** unless it is NULL, judges each run.  A run that lacked memory must say so, unless it could do without (scr_oom is
** not set).  Warnings are not shown.  Returns how many allocations a run makes.
*/
SCR_FN int records_alloc_sweep(int (*op)(const char* arg), const char* arg, void (*after)(int rc))
{
  int n, rc, struck = 1, err = records_quiet(-1);

  for (n = 0; struck && n < 20000; n++) {
    check_alloc_hit = 0;
    check_alloc_left = n;
    rc = op(arg);
    check_alloc_left = -1;
    struck = check_alloc_hit;
    CHECK(scr_oom ? rc != SCR_SUCCESS : rc == SCR_SUCCESS);
    scr_oom = 0;
    if (after != NULL) after(rc);
  }
  records_quiet(err);
  CHECK(!struck);
  return n - 1;
}

static int records_step = 1; /* of the next function: how far apart the calls are that it strikes */

/* The same with calls of the operating system, of which those that MODE concerns are struck one after the other. */
SCR_FN int records_fault_sweep(int mode, int err, int (*op)(const char* arg), const char* arg, void (*after)(int rc))
{
  int n, rc, struck = 1;

  for (n = 1; struck && n < 1000; n += records_step) {
    check_fault(mode, err, n);
    rc = op(arg);
    struck = check_fault_end();
    if (!struck) CHECK_INT(rc, SCR_SUCCESS);
    scr_oom = 0;
    if (after != NULL) after(rc);
  }
  CHECK(!struck);
  return n - 2 * records_step;
}

/* ---- mutations ------------------------------------------------------------------------------------------------- */

static uint32_t records_seed;

SCR_FN uint32_t records_random(uint32_t n)
{
  records_seed = records_seed * 1664525u + 1013904223u;
  return (records_seed >> 8) % n;
}

/* What a hostile file may have for a key. */
SCR_FN const char* records_word(void)
{
  static char              lengthy[SCR_MAX_FILENAME + 100];
  static const char* const words[] = {"",
                                      "0",
                                      "-1",
                                      "1",
                                      "3",
                                      "01",
                                      "+1",
                                      " 1",
                                      "x",
                                      "2147483647",
                                      "2147483648",
                                      "-2147483648",
                                      "99999999999999999999",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "0xffffffff",
                                      "0xfffffffff",
                                      "1e9",
                                      "nan",
                                      ".",
                                      "..",
                                      "/",
                                      "../..",
                                      "../../../../etc/passwd",
                                      "/etc/passwd",
                                      "a/../../b",
                                      "a//b",
                                      "a/",
                                      "./a",
                                      "%s%n",
                                      "\n",
                                      "\"",
                                      "\377\376",
                                      "RANK",
                                      "DSET",
                                      "FILE",
                                      "FILES",
                                      "META",
                                      "SIZE",
                                      "CRC",
                                      "TYPE",
                                      "TMP",
                                      ".scr",
                                      ".scr/index.scr",
                                      "MEMBER",
                                      "GROUP_SIZE",
                                      "LEVEL",
                                      "RANKS",
                                      "DSETDESC",
                                      "REDDESC",
                                      "DATASET",
                                      "RANK2FILE",
                                      "LOCATION",
                                      "RS",
                                      "SINGLE",
                                      "PARTNER",
                                      "DIR",
                                      "NAME",
                                      "VERSION",
                                      "2",
                                      "CURRENT",
                                      "COMPLETE",
                                      "4096",
                                      "4097",
                                      "255",
                                      "256"};
  uint32_t                 i = records_random((uint32_t)(sizeof words / sizeof *words) + 1);

  if (i < sizeof words / sizeof *words) return words[i];
  memset(lengthy, 'n', sizeof lengthy - 1);
  return lengthy;
}

SCR_FN int records_count(const scr_hash* h)
{
  const scr_hash_elem* e;
  int                  n = scr_hash_size(h);

  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e)) n += records_count(scr_hash_elem_hash(e));
  return n;
}

/* Make TO a copy of FROM but for element *AT, counted through the tree: that is left out, renamed, or changed below. */
SCR_FN void records_mutate(const scr_hash* from, scr_hash* to, int* at, const scr_hash* all)
{
  const scr_hash_elem* e;

  for (e = scr_hash_elem_first(from); e != NULL; e = scr_hash_elem_next(e)) {
    const char* key = scr_hash_elem_key(e);
    scr_hash*   below = NULL;
    if ((*at)-- == 0) {
      uint32_t how = records_random(8);
      if (how == 0) continue;
      if (how == 1) below = scr_hash_set(to, key, scr_hash_new());                         /* nothing below */
      if (how == 2) below = scr_hash_set(to, key, scr_hash_dup(all));                      /* all of it below */
      if (how == 3) scr_hash_set_kv(to, records_word(), records_word());                   /* something beside it */
      if (how >= 5) below = scr_hash_set_kv(to, key, records_word());                      /* another value */
      if (how == 4) scr_hash_set(to, records_word(), scr_hash_dup(scr_hash_elem_hash(e))); /* another name */
      if (how != 3) {
        if (how >= 7 && below != NULL)
          scr_hash_merge(scr_hash_get(to, key), scr_hash_elem_hash(e)); /* one more value */
        *at -= records_count(scr_hash_elem_hash(e));
        continue;
      }
    }
    below = scr_hash_get(to, key);
    if (below == NULL) below = scr_hash_set(to, key, scr_hash_new());
    records_mutate(scr_hash_elem_hash(e), below, at, all);
  }
}

/* Change some bytes of the packed hash in B, or cut it short. */
SCR_FN void records_mutate_bytes(scr_buf* b)
{
  static const unsigned char values[] = {0, 1, 2, '/', '.', '0', '9', '-', 0x7f, 0x80, 0xff};
  int                        n = 1 + (int)records_random(3);

  while (n-- > 0 && b->n > 0)
    b->p[records_random((uint32_t)b->n)] = (char)values[records_random((uint32_t)sizeof values)];
  if (records_random(8) == 0) b->n = records_random((uint32_t)b->n);
}

/*
** Write N variations of the hash VALID to the file PATH, each with a right CRC, and call TRY(PATH) for each.
** Warnings are not shown.
*/
SCR_FN void records_fuzz(const scr_hash* valid, const char* path, int n, void (*try_it)(const char* path))
{
  int err = records_quiet(-1), i, k;

  for (i = 0, records_seed = 7; i < n / CHECK_SLOWER; i++) {
    scr_buf   packed = {NULL, 0, 0, 0}, image = {NULL, 0, 0, 0};
    scr_hash* h = scr_hash_dup(valid);
    for (k = 1 + (int)records_random(3); k > 0; k--) {
      scr_hash* changed = scr_hash_new();
      int       at = (int)records_random((uint32_t)records_count(h) + 1);
      records_mutate(h, changed, &at, valid);
      scr_hash_delete(&h);
      h = changed;
    }
    scr_buf_add(&packed, NULL, scr_hash_pack_size(h));
    scr_hash_pack(packed.p, h);
    if (i % 4 == 0) records_mutate_bytes(&packed);
    hash_file_wrap(&image, packed.p, packed.n);
    check_put(path, image.p, image.n);
    scr_err_text[0] = '\0';
    try_it(path);
    CHECK(!scr_oom);
    scr_oom = 0;
    scr_buf_free(&packed);
    scr_buf_free(&image);
    scr_hash_delete(&h);
  }
  records_quiet(err);
}

#endif
