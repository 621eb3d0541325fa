/* Filemaps: entries in memory and in files, of an earlier version too, of hostile shape, under faults. */

/* How many entries of A are, the same in all, in B; -1 when B has others too. */
static int filemap_same(const scr_filemap* a, const scr_filemap* b)
{
  int i, n = 0;

  for (i = 0; i < a->n; i++)
    n += records_same_entry(a->entry[i], scr_filemap_by_id(b, a->entry[i]->desc.identity.id, a->entry[i]->owner));
  return a->n == b->n ? n : -1;
}

/* Ranks 20 and 28, datasets 10 and 11. */
static void filemap_example(scr_filemap* map)
{
  memset(map, 0, sizeof *map);
  CHECK_INT(scr_filemap_put(map, records_entry(11, 28, 1)), SCR_SUCCESS);
  CHECK_INT(scr_filemap_put(map, records_entry(11, 20, 1)), SCR_SUCCESS);
  CHECK_INT(scr_filemap_put(map, records_entry(10, 20, 2)), SCR_SUCCESS);
}

static void a_filemap_holds_one_entry_of_an_owner_in_an_id(void)
{
  scr_filemap  map;
  scr_entry*   e;
  scr_identity id;

  filemap_example(&map);
  CHECK_INT(map.n, 3);
  CHECK(scr_filemap_by_id(&map, 11, 28) == map.entry[0] && scr_filemap_by_id(&map, 10, 20) == map.entry[2]);
  CHECK(scr_filemap_by_id(&map, 10, 28) == NULL && scr_filemap_by_id(&map, 12, 20) == NULL);
  id = map.entry[2]->desc.identity;
  CHECK(scr_filemap_find(&map, &id, 20) == map.entry[2] && scr_filemap_find(&map, &id, 28) == NULL);
  id.nonce++; /* another dataset of this id */
  CHECK(scr_filemap_find(&map, &id, 20) == NULL);
  e = records_entry(10, 20, 5);
  e->desc.identity = id;
  CHECK_INT(scr_filemap_put(&map, e), SCR_SUCCESS);
  CHECK(map.n == 3 && map.entry[2] == e && scr_filemap_find(&map, &id, 20) == e);
  CHECK(scr_filemap_put(&map, e) == SCR_SUCCESS && map.n == 3 && map.entry[2] == e && e->files == 5); /* it is there */
  CHECK(scr_filemap_put(&map, NULL) == SCR_ERR_MEM && map.n == 3);
  e = records_entry(0, 0, 0);
  scr_filemap_remove(&map, e); /* not in it */
  CHECK_INT(map.n, 3);
  scr_entry_free(&e);
  scr_filemap_remove(&map, map.entry[0]);
  CHECK(map.n == 2 && scr_filemap_by_id(&map, 11, 28) == NULL && scr_filemap_by_id(&map, 10, 20) == map.entry[1]);
  scr_filemap_clear(&map);
  CHECK(map.n == 0 && map.entry == NULL && scr_filemap_by_id(&map, 10, 20) == NULL);
  scr_filemap_clear(&map);
}

static void a_merge_takes_the_younger_dataset_and_the_fuller_entry(void)
{
  scr_filemap a, b;
  int         i;

  filemap_example(&a);
  filemap_example(&b);
  CHECK_INT(scr_filemap_put(&b, records_entry(10, 20, 3)), SCR_SUCCESS); /* the same, with more files */
  CHECK_INT(scr_filemap_put(&b, records_entry(11, 28, 0)), SCR_SUCCESS); /* with fewer */
  CHECK_INT(scr_filemap_put(&b, records_entry(13, 1, 1)), SCR_SUCCESS);  /* new */
  scr_filemap_by_id(&b, 11, 20)->desc.identity.created++;                /* younger */
  CHECK_INT(scr_filemap_merge(&a, &b), SCR_SUCCESS);
  CHECK_INT(a.n, 4);
  CHECK(scr_filemap_by_id(&a, 10, 20)->files == 3 && scr_filemap_by_id(&a, 11, 28)->files == 1);
  CHECK(scr_filemap_by_id(&a, 13, 1)->files == 1 && scr_filemap_by_id(&a, 11, 20)->desc.identity.created == 1012);
  scr_filemap_by_id(&b, 11, 20)->desc.identity.created = 5; /* older, whatever it holds */
  scr_filemap_by_id(&b, 13, 1)->desc.identity.nonce++;      /* another one of the same age */
  scr_filemap_by_id(&b, 13, 1)->mark = SCR_MARK_REJECTED;
  CHECK_INT(scr_filemap_merge(&a, &b), SCR_SUCCESS);
  CHECK(scr_filemap_by_id(&a, 11, 20)->desc.identity.created == 1012 &&
        scr_filemap_by_id(&a, 13, 1)->mark == SCR_MARK_NONE);
  for (i = 0; i < b.n; i++) CHECK(scr_filemap_by_id(&a, b.entry[i]->desc.identity.id, b.entry[i]->owner) != b.entry[i]);
  CHECK(scr_filemap_merge(&a, &a) == SCR_SUCCESS && a.n == 4);
  scr_filemap_clear(&b);
  CHECK(scr_filemap_merge(&a, &b) == SCR_SUCCESS && a.n == 4); /* copies */
  scr_filemap_clear(&a);
}

static void a_filemap_comes_back_from_its_file(void)
{
  const char* path = check_path("filemap_0.scrinfo");
  scr_filemap map, back;
  scr_hash*   h = scr_hash_new();

  memset(&back, 0, sizeof back);
  filemap_example(&map);
  CHECK(scr_filemap_read(path, &back) == SCR_ERR_NOT_FOUND && back.n == 0);
  CHECK_INT(scr_filemap_write(path, &map, records_home(), NULL), SCR_SUCCESS);
  CHECK_INT(scr_filemap_read(path, &back), SCR_SUCCESS);
  CHECK_INT(filemap_same(&map, &back), 3);
  CHECK_INT(scr_filemap_read(path, &back), SCR_SUCCESS); /* once more changes nothing */
  CHECK_INT(filemap_same(&map, &back), 3);
  scr_filemap_clear(&back);

  CHECK_INT(scr_hash_file_read(path, h), SCR_SUCCESS); /* what the commands, and other versions, find in it */
  CHECK(scr_hash_getf(h, "%s %d %s %d", "RANK", 20, "DSET", 10) != NULL);
  CHECK(scr_hash_getf(h, "%s %d %s %d %s %s", "RANK", 28, "DSET", 11, "FILE",
                      "/ssd/me/scr.123/scr.dataset.11/ckpt.11/rank_28/part_0") != NULL);
  CHECK(scr_hash_size(scr_hash_get(h, "DSET")) == 2 && scr_hash_size(h) == 2);
  CHECK_INT(scr_hash_size(scr_hash_get(scr_hash_get_kv_int(h, "DSET", 11), "RANK")), 2);
  CHECK_INT(scr_hash_size(scr_hash_get(scr_hash_get_kv_int(h, "DSET", 10), "RANK")), 1);
  scr_hash_delete(&h);

  scr_filemap_clear(&map);
  CHECK_INT(scr_filemap_write(path, &map, records_home(), NULL), SCR_SUCCESS); /* an empty one */
  CHECK(scr_filemap_read(path, &back) == SCR_SUCCESS && back.n == 0);
  CHECK_INT(scr_filemap_write("/nonexistent/filemap", &map, records_home(), NULL), SCR_ERR_IO);
  unlink(path);
}

static void the_second_index_is_not_read(void)
{
  const char* path = check_path("filemap_0.scrinfo");
  scr_filemap map, back;
  scr_hash*   h = scr_hash_new();
  int         i;

  filemap_example(&map);
  memset(&back, 0, sizeof back);
  CHECK_INT(scr_filemap_to_hash(&map, records_home(), h), SCR_SUCCESS);
  for (i = 0; i < 3; i++) {
    scr_hash_unset(h, "DSET");
    if (i > 0) scr_hash_setf(h, NULL, "%s %d %s %d", "DSET", 77, "RANK", 3);
    if (i > 1) scr_hash_set_kv(h, "DSET", "no number");
    CHECK_INT(scr_hash_file_write(path, h), SCR_SUCCESS);
    CHECK_INT(scr_filemap_read(path, &back), SCR_SUCCESS);
    CHECK_INT(filemap_same(&map, &back), 3);
    scr_filemap_clear(&back);
  }
  scr_hash_unset(h, "RANK"); /* and alone it says nothing */
  scr_hash_setf(h, NULL, "%s %d %s %d", "DSET", 10, "RANK", 20);
  CHECK_INT(scr_hash_file_write(path, h), SCR_SUCCESS);
  CHECK(scr_filemap_read(path, &back) == SCR_SUCCESS && back.n == 0);
  unlink(path);
  scr_hash_delete(&h);
  scr_filemap_clear(&map);
}

static void what_is_no_rank_or_no_id_is_no_filemap(void)
{
  static const char* const bad[] = {"-5", "010", "", "x", "1x", "+1", " 1", "2147483648", "99999999999999999999"};
  const char*              path = check_path("filemap_0.scrinfo");
  scr_filemap              map, back;
  size_t                   i;

  memset(&back, 0, sizeof back);
  filemap_example(&map);
  for (i = 0; i < 2 * (sizeof bad / sizeof *bad); i++) {
    scr_hash* h = scr_hash_new();
    CHECK_INT(scr_filemap_to_hash(&map, records_home(), h), SCR_SUCCESS);
    if (i % 2 == 0) scr_hash_set_kv(h, "RANK", bad[i / 2]);
    else scr_hash_setf(h, NULL, "%s %d %s %s", "RANK", 20, "DSET", bad[i / 2]);
    CHECK_INT(scr_hash_file_write(path, h), SCR_SUCCESS);
    CHECK_INT(scr_filemap_read(path, &back), SCR_ERR_FORMAT);
    CHECK(strstr(scr_err_text, path) != NULL && strstr(scr_err_text, bad[i / 2]) != NULL);
    CHECK(back.n <= 3); /* what was read before stays */
    scr_filemap_clear(&back);
    scr_hash_delete(&h);
  }
  check_put(path, "no hash file", 12);
  CHECK(scr_filemap_read(path, &back) == SCR_ERR_FORMAT && back.n == 0);
  scr_filemap_clear(&map);
  unlink(path);
}

/* A file that version 1.2.2 wrote.  Its descriptors of sets are of another form. */
static void a_filemap_of_version_1_2_2_is_read(void)
{
  scr_filemap map;
  scr_entry*  e;
  scr_file*   f;
  int         err = records_quiet(-1);

  memset(&map, 0, sizeof map);
  CHECK_INT(scr_filemap_read(CHECK_DATA "/scr-1.2.2/filemap_0.scrinfo", &map), SCR_SUCCESS);
  records_quiet(err);
  CHECK_INT(map.n, 4);
  CHECK(scr_filemap_by_id(&map, 1, 0) != NULL && scr_filemap_by_id(&map, 1, 1) != NULL &&
        scr_filemap_by_id(&map, 2, 0) != NULL);
  e = scr_filemap_by_id(&map, 2, 0);
  CHECK(e != NULL && e->files == 0 && !e->listed);
  e = scr_filemap_by_id(&map, 2, 1);
  CHECK(e != NULL);
  if (e != NULL) {
    CHECK(e->files == 2 && e->listed && e->red.set_size == 0 && e->preserve == 1 && e->container == 0);
    CHECK(e->desc.identity.id == 2 && e->desc.identity.created == (int64_t)1795232559747186 && e->desc.ckpt == 2);
    CHECK(e->desc.files == 4 && e->desc.bytes == 81954 && e->desc.complete == 1);
    CHECK_INT(e->desc.flags, SCR_FLAG_CHECKPOINT);
    CHECK_STR(e->desc.name, "ckpt.2");
    CHECK_STR(e->desc.user, "root");
    CHECK_STR(e->desc.job, "1");
    CHECK(scr_identity_same(&e->desc.identity, &e->desc.identity));
    f = scr_entry_find(e, "rank_1.ckpt");
    CHECK(f != NULL && f->kind == SCR_FILE_APPLICATION && f->size == 20488 && f->complete && f->ranks == 4);
    CHECK_STR(f != NULL ? f->orig : "", "ckpt.2/rank_1.ckpt");
    f = scr_entry_find(e, "xor.0_2_of_4.scr");
    CHECK(f != NULL && f->kind == SCR_SCHEME_XOR && f->size == 7674 && !f->has_crc);
  }
  scr_filemap_clear(&map);
}

/* ---- faults ---- */

/* Read PATH, which holds the example or one entry more, add an entry, and write it; the first error. */
static int filemap_story(const char* path)
{
  scr_filemap map, copy;
  int         rc;

  memset(&map, 0, sizeof map);
  memset(&copy, 0, sizeof copy);
  rc = scr_filemap_read(path, &map);
  if (rc == SCR_SUCCESS) rc = scr_filemap_merge(&copy, &map);
  if (rc == SCR_SUCCESS) rc = scr_filemap_put(&copy, records_entry(14, 3, 2));
  if (rc == SCR_SUCCESS) CHECK(copy.n == 4 && map.n >= 3);
  if (rc == SCR_SUCCESS) rc = scr_filemap_write(path, &copy, records_home(), NULL);
  scr_filemap_clear(&map);
  scr_filemap_clear(&copy);
  return rc;
}

/* The story has happened when its code is RC, or it has not; both after an error of a call. */
static void filemap_judge(int rc, int oom)
{
  scr_filemap map;
  int         n;

  memset(&map, 0, sizeof map);
  CHECK_INT(scr_filemap_read(check_path("story.scrinfo"), &map), SCR_SUCCESS);
  n = map.n;
  CHECK(n == 4 || (n == 3 && rc != SCR_SUCCESS));
  if (oom && rc != SCR_SUCCESS) CHECK_INT(n, 3); /* nothing is written (E2) */
  scr_filemap_clear(&map);
  if (n == 3) return;
  filemap_example(&map);
  CHECK_INT(scr_filemap_write(check_path("story.scrinfo"), &map, records_home(), NULL), SCR_SUCCESS); /* as before */
  scr_filemap_clear(&map);
}

static void filemap_after_oom(int rc)
{
  filemap_judge(rc, 1);
}

static void filemap_after_fault(int rc)
{
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_IO || rc == SCR_ERR_SPACE);
  filemap_judge(rc, 0);
}

static void a_failure_leaves_the_old_filemap_or_the_new_one(void)
{
  char        path[SCR_MAX_FILENAME];
  scr_filemap map;
  int         n;

  snprintf(path, sizeof path, "%s", check_path("story.scrinfo"));
  filemap_example(&map);
  CHECK_INT(scr_filemap_write(path, &map, records_home(), NULL), SCR_SUCCESS);
  scr_filemap_clear(&map);
  scr_fsync_enabled = 0;
  CHECK(records_alloc_sweep(filemap_story, path, filemap_after_oom) > 700);
  scr_fsync_enabled = 1;
  CHECK_INT(records_fault_sweep(FAULT_FAIL, EIO, filemap_story, path, filemap_after_fault), 12);
  records_fault_sweep(FAULT_FAIL, ENOSPC, filemap_story, path, filemap_after_fault);
  CHECK(records_fault_sweep(FAULT_DEAD, EIO, filemap_story, path, filemap_after_fault) >= 12);
  CHECK_INT(records_fault_sweep(FAULT_SHORT, 0, filemap_story, path, filemap_after_fault), 3);
  records_fault_sweep(FAULT_TORN, ENOSPC, filemap_story, path, filemap_after_fault);
  for (n = 1; check_fault_kill(n, filemap_story, path); n++) filemap_judge(SCR_ERR_IO, 0);
  CHECK(n > 12);
  unlink(path);
}

/* ---- hostile files ---- */

/* Write FROM into a hash and read it into TO; the code. */
static int filemap_through_hash(const scr_filemap* from, scr_filemap* to)
{
  scr_hash* h = scr_hash_new();
  int       rc = scr_filemap_to_hash(from, records_home(), h);

  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_PATH); /* a path may be too long on this node */
  if (rc == SCR_SUCCESS) CHECK_INT(scr_filemap_from_hash(h, to), SCR_SUCCESS);
  scr_hash_delete(&h);
  return rc;
}

/* Whatever is in the file: what comes out of it keeps the rules, and stays what it is when it is written and read. */
static void filemap_try(const char* path)
{
  scr_filemap map, once, twice;
  int         i, k, rc;

  memset(&map, 0, sizeof map);
  memset(&once, 0, sizeof once);
  memset(&twice, 0, sizeof twice);
  rc = scr_filemap_read(path, &map);
  CHECK(rc == SCR_SUCCESS || (rc == SCR_ERR_FORMAT && *scr_err_text != '\0'));
  for (i = 0; i < map.n; i++) {
    const scr_entry* e = map.entry[i];
    CHECK(e->owner >= 0 && e->desc.identity.id >= 0);
    CHECK(scr_filemap_by_id(&map, e->desc.identity.id, e->owner) == e);
    for (k = 0; k < e->files; k++)
      CHECK(scr_path_is_safe_rel(e->file[k].rel) && scr_entry_find(e, e->file[k].rel) == &e->file[k]);
    CHECK((e->red.set_size == 0) == (e->red.member == NULL));
    for (k = 0; k < e->red.set_size; k++) CHECK(e->red.member[k] >= 0 && e->red.member[k] < e->desc.ranks);
    CHECK(e->red.set_size == 0 || (e->red.store != NULL && e->red.set_rank < e->red.set_size));
  }
  rc = filemap_through_hash(&map, &once); /* numbers that make no sense, as -1 ranks, are gone after this */
  if (rc == SCR_SUCCESS) CHECK(once.n == map.n && filemap_through_hash(&once, &twice) == SCR_SUCCESS);
  if (rc == SCR_SUCCESS) CHECK_INT(filemap_same(&once, &twice), map.n);
  scr_filemap_clear(&map);
  scr_filemap_clear(&once);
  scr_filemap_clear(&twice);
}

static void a_hostile_filemap_does_no_harm(void)
{
  scr_filemap map;
  scr_hash*   h = scr_hash_new();
  char        path[SCR_MAX_FILENAME];

  snprintf(path, sizeof path, "%s", check_path("hostile.scrinfo"));
  memset(&map, 0, sizeof map);
  CHECK_INT(scr_filemap_put(&map, records_entry(3, 1, 2)), SCR_SUCCESS);
  CHECK_INT(scr_filemap_put(&map, records_entry(2, 0, 1)), SCR_SUCCESS);
  CHECK_INT(scr_filemap_to_hash(&map, records_home(), h), SCR_SUCCESS);
  records_fuzz(h, path, 3000, filemap_try);
  unlink(path);
  scr_filemap_clear(&map);
  scr_hash_delete(&h);
}

static void test_filemap(void)
{
  a_filemap_holds_one_entry_of_an_owner_in_an_id();
  a_merge_takes_the_younger_dataset_and_the_fuller_entry();
  a_filemap_comes_back_from_its_file();
  the_second_index_is_not_read();
  what_is_no_rank_or_no_id_is_no_filemap();
  a_filemap_of_version_1_2_2_is_read();
  a_failure_leaves_the_old_filemap_or_the_new_one();
  a_hostile_filemap_does_no_harm();
}
