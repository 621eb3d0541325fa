/* Datasets, meta and filemaps: every function, identity, hostile shapes, files of this and of an earlier version. */

#ifndef CHECK_DATA
#define CHECK_DATA "tests/data" /* the suites run in the top directory */
#endif

static void test_dataset(void)
{
  scr_dataset* d = scr_dataset_new();
  scr_dataset* e;
  const char*  s = "as it was";
  uint64_t     size = 7;
  int64_t      created = 7;
  uint64_t     nonce = 7;
  int          v = 7;

  /* a getter of an unset field changes nothing */
  CHECK(scr_dataset_get_id(d, &v) != SCR_SUCCESS && scr_dataset_get_files(d, &v) != SCR_SUCCESS);
  CHECK(scr_dataset_get_ckpt(d, &v) != SCR_SUCCESS && scr_dataset_get_complete(d, &v) != SCR_SUCCESS);
  CHECK(scr_dataset_get_ranks(d, &v) != SCR_SUCCESS && scr_dataset_get_flag_ckpt(d, &v) != SCR_SUCCESS);
  CHECK(scr_dataset_get_flag_output(NULL, &v) != SCR_SUCCESS && v == 7);
  CHECK(scr_dataset_get_name(d, &s) != SCR_SUCCESS && scr_dataset_get_user(d, &s) != SCR_SUCCESS);
  CHECK(scr_dataset_get_jobname(d, &s) != SCR_SUCCESS && scr_dataset_get_jobid(d, &s) != SCR_SUCCESS);
  CHECK(scr_dataset_get_cluster(d, &s) != SCR_SUCCESS);
  CHECK_STR(s, "as it was");
  CHECK(scr_dataset_get_size(d, &size) != SCR_SUCCESS && size == 7);
  CHECK(scr_dataset_get_created(d, &created) != SCR_SUCCESS && created == 7);
  CHECK(scr_dataset_get_nonce(d, &nonce) == SCR_ERR_NOT_FOUND && nonce == 7);

  CHECK_INT(scr_dataset_set_id(d, 22), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_id(d, 23), SCR_SUCCESS); /* replaces */
  CHECK_INT(scr_hash_size(scr_hash_get(d, "ID")), 1);
  CHECK_INT(scr_dataset_set_user(d, "user1"), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_jobname(d, "simulation123"), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_name(d, "ckpt.23"), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_size(d, 524294000ul), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_files(d, 1024), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_created(d, (int64_t)1312850690668536), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_jobid(d, "77"), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_cluster(d, "atlas"), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_ckpt(d, 6), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_complete(d, 1), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_flag_ckpt(d, 1), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_flag_output(d, 0), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_ranks(d, 512), SCR_SUCCESS);
  CHECK_INT(scr_dataset_set_nonce(d, 0xfedcba987654321u), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(d, "NONCE"), "0fedcba987654321");

  CHECK(scr_dataset_get_id(d, &v) == SCR_SUCCESS && v == 23);
  CHECK(scr_dataset_get_user(d, &s) == SCR_SUCCESS && strcmp(s, "user1") == 0);
  CHECK(scr_dataset_get_jobname(d, &s) == SCR_SUCCESS && strcmp(s, "simulation123") == 0);
  CHECK(scr_dataset_get_name(d, &s) == SCR_SUCCESS && strcmp(s, "ckpt.23") == 0);
  CHECK(scr_dataset_get_size(d, &size) == SCR_SUCCESS && size == 524294000ul);
  CHECK(scr_dataset_get_files(d, &v) == SCR_SUCCESS && v == 1024);
  CHECK(scr_dataset_get_created(d, &created) == SCR_SUCCESS && created == (int64_t)1312850690668536);
  CHECK(scr_dataset_get_jobid(d, &s) == SCR_SUCCESS && strcmp(s, "77") == 0);
  CHECK(scr_dataset_get_cluster(d, &s) == SCR_SUCCESS && strcmp(s, "atlas") == 0);
  CHECK(scr_dataset_get_ckpt(d, &v) == SCR_SUCCESS && v == 6);
  CHECK(scr_dataset_get_complete(d, &v) == SCR_SUCCESS && v == 1);
  CHECK(scr_dataset_get_flag_ckpt(d, &v) == SCR_SUCCESS && v == 1);
  CHECK(scr_dataset_get_flag_output(d, &v) == SCR_SUCCESS && v == 0);
  CHECK(scr_dataset_get_ranks(d, &v) == SCR_SUCCESS && v == 512);
  CHECK(scr_dataset_get_nonce(d, &nonce) == SCR_SUCCESS && nonce == 0xfedcba987654321u);

  /* identity */
  e = scr_hash_dup(d);
  CHECK(scr_dataset_same(d, e) && scr_dataset_same(d, d));
  scr_dataset_set_name(e, "another name");
  CHECK(scr_dataset_same(d, e));
  scr_dataset_set_nonce(e, 1);
  CHECK(!scr_dataset_same(d, e));
  scr_dataset_set_nonce(e, nonce);
  scr_dataset_set_created(e, created + 1);
  CHECK(!scr_dataset_same(d, e));
  scr_dataset_set_created(e, created);
  scr_dataset_set_id(e, 24);
  CHECK(!scr_dataset_same(d, e));
  scr_dataset_set_id(e, 23);
  CHECK(scr_dataset_same(d, e));
  scr_hash_unset(e, "NONCE");
  CHECK(!scr_dataset_same(d, e));
  scr_dataset_set_nonce(d, 0); /* a missing nonce is 0 */
  CHECK(scr_dataset_same(d, e) && scr_dataset_same(e, d));
  scr_hash_util_set_str(e, "NONCE", "no hex digits");
  CHECK(!scr_dataset_same(d, e) && !scr_dataset_same(e, e));
  CHECK_INT(scr_dataset_get_nonce(e, &nonce), SCR_ERR_FORMAT);
  scr_hash_util_set_str(e, "NONCE", "12345678901234567"); /* 17 digits */
  CHECK_INT(scr_dataset_get_nonce(e, &nonce), SCR_ERR_FORMAT);
  scr_hash_unset(d, "CREATED");
  CHECK(!scr_dataset_same(d, d) && !scr_dataset_same(NULL, NULL) && !scr_dataset_same(d, NULL));
  scr_dataset_delete(&d);
  scr_dataset_delete(&e);
  CHECK(d == NULL);
}

static void test_meta(void)
{
  scr_meta*   m = scr_meta_new();
  scr_meta*   c = scr_meta_new();
  const char* s = "as it was";
  uint64_t    size = 7;
  int64_t     t = 7;
  uLong       crc = 7;
  int         v = 7;

  CHECK(scr_meta_get_complete(m, &v) != SCR_SUCCESS && scr_meta_get_ranks(m, &v) != SCR_SUCCESS);
  CHECK(scr_meta_get_checkpoint(m, &v) != SCR_SUCCESS && scr_meta_get_mode(m, &v) != SCR_SUCCESS && v == 7);
  CHECK(scr_meta_get_filesize(m, &size) != SCR_SUCCESS && size == 7 && scr_meta_get_mtime(m, &t) != SCR_SUCCESS);
  CHECK(scr_meta_get_filetype(m, &s) != SCR_SUCCESS && scr_meta_get_filename(m, &s) != SCR_SUCCESS);
  CHECK(scr_meta_get_orig(m, &s) != SCR_SUCCESS && scr_meta_get_origpath(m, &s) != SCR_SUCCESS);
  CHECK(scr_meta_get_origname(NULL, &s) != SCR_SUCCESS && scr_meta_get_crc32(m, &crc) != SCR_SUCCESS && crc == 7);
  CHECK_STR(s, "as it was");
  CHECK(scr_meta_check_complete(m) != SCR_SUCCESS && scr_meta_check_filetype(m, "FULL") != SCR_SUCCESS);

  CHECK_INT(scr_meta_set_complete(m, 1), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_ranks(m, 4), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_checkpoint(m, 6), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_filesize(m, 524294), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_filetype(m, "FULL"), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_filename(m, "rank_0.ckpt"), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_crc32(m, 0x39e4e4ul), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(m, "CRC"), "0x0039e4e4"); /* of fixed width */
  CHECK_INT(scr_meta_set_orig(m, "ckpt.6/rank_0.ckpt"), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_origpath(m, "/p/ckpt.6"), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_origname(m, "rank_0.ckpt"), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_mode(m, 0100640), SCR_SUCCESS);
  CHECK_INT(scr_meta_set_mtime(m, (int64_t)1795232559), SCR_SUCCESS);

  CHECK_INT(scr_meta_copy(c, m), SCR_SUCCESS);
  CHECK_INT(scr_meta_copy(c, c), SCR_SUCCESS);
  CHECK(scr_meta_get_complete(c, &v) == SCR_SUCCESS && v == 1 && scr_meta_check_complete(c) == SCR_SUCCESS);
  CHECK(scr_meta_get_ranks(c, &v) == SCR_SUCCESS && v == 4 && scr_meta_check_ranks(c, 4) == SCR_SUCCESS);
  CHECK(scr_meta_check_ranks(c, 5) != SCR_SUCCESS);
  CHECK(scr_meta_get_checkpoint(c, &v) == SCR_SUCCESS && v == 6 && scr_meta_check_checkpoint(c, 6) == SCR_SUCCESS);
  CHECK(scr_meta_check_checkpoint(c, 7) != SCR_SUCCESS);
  CHECK(scr_meta_get_filesize(c, &size) == SCR_SUCCESS && size == 524294);
  CHECK(scr_meta_check_filesize(c, 524294) == SCR_SUCCESS && scr_meta_check_filesize(c, 0) != SCR_SUCCESS);
  CHECK(scr_meta_get_filetype(c, &s) == SCR_SUCCESS && strcmp(s, "FULL") == 0);
  CHECK(scr_meta_check_filetype(c, "FULL") == SCR_SUCCESS && scr_meta_check_filetype(c, "XOR") != SCR_SUCCESS);
  CHECK(scr_meta_get_filename(c, &s) == SCR_SUCCESS && strcmp(s, "rank_0.ckpt") == 0);
  CHECK(scr_meta_check_filename(c, "rank_0.ckpt") == SCR_SUCCESS && scr_meta_check_filename(c, "x") != SCR_SUCCESS);
  CHECK(scr_meta_get_crc32(c, &crc) == SCR_SUCCESS && crc == 0x39e4e4ul);
  CHECK(scr_meta_get_orig(c, &s) == SCR_SUCCESS && strcmp(s, "ckpt.6/rank_0.ckpt") == 0);
  CHECK(scr_meta_get_origpath(c, &s) == SCR_SUCCESS && strcmp(s, "/p/ckpt.6") == 0);
  CHECK(scr_meta_get_origname(c, &s) == SCR_SUCCESS && strcmp(s, "rank_0.ckpt") == 0);
  CHECK(scr_meta_get_mode(c, &v) == SCR_SUCCESS && v == 0100640);
  CHECK(scr_meta_get_mtime(c, &t) == SCR_SUCCESS && t == 1795232559);
  scr_meta_set_complete(c, 0);
  CHECK(scr_meta_check_complete(c) != SCR_SUCCESS && scr_meta_check_complete(m) == SCR_SUCCESS);
  CHECK_INT(scr_meta_copy(c, NULL), SCR_SUCCESS);
  CHECK_INT(scr_hash_size(c), 0);

  /* as older versions wrote them */
  scr_hash_util_set_str(c, "TYPE", "USER");
  scr_hash_util_set_str(c, "PATH", "/p");
  scr_hash_util_set_str(c, "NAME", "n");
  scr_hash_util_set_str(c, "CRC", "0");
  CHECK(scr_meta_get_filetype(c, &s) == SCR_SUCCESS && strcmp(s, "FULL") == 0);
  CHECK_INT(scr_meta_check_filetype(c, "FULL"), SCR_SUCCESS);
  CHECK(scr_meta_get_origpath(c, &s) == SCR_SUCCESS && strcmp(s, "/p") == 0);
  CHECK(scr_meta_get_origname(c, &s) == SCR_SUCCESS && strcmp(s, "n") == 0);
  CHECK(scr_meta_get_crc32(c, &crc) == SCR_SUCCESS && crc == 0);
  scr_meta_delete(&m);
  scr_meta_delete(&c);
  CHECK(m == NULL);
}

/* 1 when the index of MAP says what its ranks say (F1). */
static int filemap_in_sync(const scr_filemap* map)
{
  const scr_hash_elem *a, *b;
  int                  pairs = 0, other = 0;

  for (a = scr_hash_elem_first(scr_hash_get(map, "RANK")); a != NULL; a = scr_hash_elem_next(a))
    for (b = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(a), "DSET")); b != NULL; b = scr_hash_elem_next(b)) {
      const scr_hash* dset = scr_hash_get_kv(map, "DSET", scr_hash_elem_key(b));
      if (scr_hash_get_kv(dset, "RANK", scr_hash_elem_key(a)) == NULL) return 0;
      pairs++;
    }
  for (a = scr_hash_elem_first(scr_hash_get(map, "DSET")); a != NULL; a = scr_hash_elem_next(a)) {
    if (scr_hash_size(scr_hash_get(scr_hash_elem_hash(a), "RANK")) == 0) return 0;
    other += scr_hash_size(scr_hash_get(scr_hash_elem_hash(a), "RANK"));
  }
  return pairs == other;
}

/* The example of ranks 20 and 28, datasets 10 and 11. */
static scr_filemap* filemap_example(void)
{
  scr_filemap* map = scr_filemap_new();

  CHECK_INT(scr_filemap_add_file(map, 11, 28, "/c/foo_28.11"), SCR_SUCCESS);
  CHECK_INT(scr_filemap_add_file(map, 11, 20, "/c/foo_20.11"), SCR_SUCCESS);
  CHECK_INT(scr_filemap_add_file(map, 10, 20, "/c/foo_20.10"), SCR_SUCCESS);
  CHECK_INT(scr_filemap_add_file(map, 10, 20, "/c/foo_20.10.xor"), SCR_SUCCESS);
  return map;
}

static void test_filemap_entries(void)
{
  scr_filemap* map = filemap_example();
  scr_filemap* out;
  int*         list = NULL;
  char**       files = NULL;
  int          n = 0;

  CHECK(filemap_in_sync(map));
  CHECK_INT(scr_filemap_num_datasets(map), 2);
  CHECK_INT(scr_filemap_latest_dataset(map), 11);
  CHECK_INT(scr_filemap_oldest_dataset(map), 10);
  CHECK_INT(scr_filemap_num_ranks(map), 2);
  CHECK_INT(scr_filemap_num_ranks_by_dataset(map, 10), 1);
  CHECK_INT(scr_filemap_num_ranks_by_dataset(map, 11), 2);
  CHECK_INT(scr_filemap_num_ranks_by_dataset(map, 12), 0);
  CHECK(scr_filemap_have_rank(map, 28) && !scr_filemap_have_rank(map, 2));
  CHECK(scr_filemap_have_rank_by_dataset(map, 11, 28) && !scr_filemap_have_rank_by_dataset(map, 10, 28));
  CHECK_INT(scr_filemap_num_files(map, 10, 20), 2);
  CHECK_INT(scr_filemap_num_files(map, 10, 28), 0);
  CHECK_INT(scr_filemap_add_file(map, 10, 20, "/c/foo_20.10"), SCR_SUCCESS); /* twice is once */
  CHECK_INT(scr_filemap_num_files(map, 10, 20), 2);
  CHECK_INT(scr_filemap_add_file(map, -1, 0, "x"), SCR_ERR_ARG);
  CHECK_INT(scr_filemap_add_file(map, 0, -1, "x"), SCR_ERR_ARG);

  CHECK_INT(scr_filemap_get_expected_files(map, 10, 20), -1);
  CHECK_INT(scr_filemap_set_expected_files(map, 10, 20, 2), SCR_SUCCESS);
  CHECK_INT(scr_filemap_set_expected_files(map, 10, 20, 3), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_expected_files(map, 10, 20), 3);
  CHECK_INT(scr_filemap_unset_expected_files(map, 10, 20), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_expected_files(map, 10, 20), -1);
  CHECK_INT(scr_filemap_set_expected_files(map, 10, 5, 0), SCR_SUCCESS); /* a rank without files */
  CHECK(scr_filemap_have_rank_by_dataset(map, 10, 5) && filemap_in_sync(map));
  CHECK_INT(scr_filemap_get_expected_files(map, 10, 5), 0);

  CHECK_INT(scr_filemap_list_datasets(map, &n, &list), SCR_SUCCESS);
  CHECK(n == 2 && list[0] == 10 && list[1] == 11);
  scr_free(&list);
  CHECK_INT(scr_filemap_list_ranks(map, &n, &list), SCR_SUCCESS);
  CHECK(n == 3 && list[0] == 5 && list[1] == 20 && list[2] == 28);
  scr_free(&list);
  CHECK_INT(scr_filemap_list_ranks_by_dataset(map, 11, &n, &list), SCR_SUCCESS);
  CHECK(n == 2 && list[0] == 20 && list[1] == 28);
  scr_free(&list);
  CHECK_INT(scr_filemap_list_ranks_by_dataset(map, 99, &n, &list), SCR_SUCCESS);
  CHECK(n == 0 && list == NULL);
  CHECK_INT(scr_filemap_list_files(map, 10, 20, &n, &files), SCR_SUCCESS);
  CHECK(n == 2 && strcmp(files[0], "/c/foo_20.10") == 0 && strcmp(files[1], "/c/foo_20.10.xor") == 0);
  scr_free(&files);
  CHECK_INT(scr_filemap_list_files(map, 10, 5, &n, &files), SCR_SUCCESS);
  CHECK(n == 0 && files == NULL);
  CHECK_STR(scr_hash_elem_key(scr_filemap_first_dataset(map)), "11");
  CHECK_STR(scr_hash_elem_key(scr_filemap_first_rank_by_dataset(map, 10)), "20");
  CHECK_STR(scr_hash_elem_key(scr_filemap_first_file(map, 10, 20)), "/c/foo_20.10");
  CHECK(scr_filemap_first_file(map, 1, 2) == NULL && scr_filemap_first_rank_by_dataset(map, 1) == NULL);

  CHECK_INT(scr_filemap_remove_file(map, 10, 20, "/c/foo_20.10"), SCR_SUCCESS);
  CHECK_INT(scr_filemap_remove_file(map, 10, 20, "/c/foo_20.10"), SCR_SUCCESS);
  CHECK_INT(scr_filemap_num_files(map, 10, 20), 1);
  CHECK_INT(scr_filemap_remove_file(map, 10, 20, "/c/foo_20.10.xor"), SCR_SUCCESS);
  CHECK(scr_filemap_num_files(map, 10, 20) == 0 && scr_filemap_have_rank_by_dataset(map, 10, 20));

  CHECK_INT(scr_filemap_remove_rank_by_dataset(map, 10, 20), SCR_SUCCESS);
  CHECK(filemap_in_sync(map) && scr_filemap_have_rank(map, 20) && scr_filemap_num_datasets(map) == 2);
  CHECK_INT(scr_filemap_remove_rank(map, 5), SCR_SUCCESS);
  CHECK(filemap_in_sync(map) && scr_filemap_num_datasets(map) == 1 && !scr_filemap_have_rank(map, 5));
  out = scr_filemap_extract_rank(map, 20);
  CHECK(filemap_in_sync(map) && filemap_in_sync(out));
  CHECK(!scr_filemap_have_rank(map, 20) && scr_filemap_num_files(out, 11, 20) == 1 && scr_filemap_num_ranks(out) == 1);
  CHECK_INT(scr_filemap_num_ranks(map), 1);
  scr_filemap_delete(&out);
  out = scr_filemap_extract_rank(map, 20); /* no longer there: an empty map */
  CHECK(out != NULL && scr_hash_size(out) == 0);
  scr_filemap_delete(&out);
  CHECK_INT(scr_filemap_remove_dataset(map, 11), SCR_SUCCESS);
  CHECK_INT(scr_filemap_remove_dataset(map, 11), SCR_SUCCESS);
  CHECK_INT(scr_hash_size(map), 0);
  CHECK(scr_filemap_latest_dataset(map) == -1 && scr_filemap_oldest_dataset(map) == -1);
  scr_filemap_delete(&map);

  map = filemap_example();
  CHECK_INT(scr_filemap_remove_dataset(map, 11), SCR_SUCCESS);
  CHECK(filemap_in_sync(map) && scr_filemap_num_ranks(map) == 1 && scr_filemap_num_files(map, 10, 20) == 2);
  scr_filemap_clear(map);
  CHECK_INT(scr_hash_size(map), 0);
  scr_filemap_delete(&map);
}

static void test_filemap_contents(void)
{
  scr_filemap* map = filemap_example();
  scr_hash*    h = scr_hash_new();
  scr_hash*    got = scr_hash_new();
  int          v = 0;

  /* nothing is there yet, and the output stays */
  scr_hash_util_set_int(got, "X", 1);
  CHECK_INT(scr_filemap_get_dataset(map, 10, 20, got), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_get_desc(map, 10, 20, got), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_get_flushdesc(map, 10, 20, got), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_get_meta(map, 10, 20, "/c/foo_20.10", got), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_get_meta(map, 1, 2, "/c/foo_20.10", got), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_hash_size(got), 1);

  scr_dataset_set_id(h, 10);
  CHECK_INT(scr_filemap_set_dataset(map, 10, 20, h), SCR_SUCCESS);
  scr_dataset_set_id(h, 99); /* a copy was taken */
  CHECK_INT(scr_filemap_get_dataset(map, 10, 20, got), SCR_SUCCESS);
  CHECK(scr_dataset_get_id(got, &v) == SCR_SUCCESS && v == 10 && scr_hash_size(got) == 1);
  CHECK_INT(scr_filemap_unset_dataset(map, 10, 20), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_dataset(map, 10, 20, got), SCR_ERR_NOT_FOUND);
  scr_hash_util_set_int(scr_hash_set(scr_filemap_get_entry(map, 10, 20), "DATADESC", scr_hash_new()), "ID", 5);
  CHECK_INT(scr_filemap_get_dataset(map, 10, 20, got), SCR_SUCCESS);
  CHECK(scr_dataset_get_id(got, &v) == SCR_SUCCESS && v == 5);
  CHECK_INT(scr_filemap_set_dataset(map, 10, 20, h), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_dataset(map, 10, 20, got), SCR_SUCCESS);
  CHECK(scr_dataset_get_id(got, &v) == SCR_SUCCESS && v == 99);

  scr_hash_util_set_str(h, "TYPE", "XOR");
  CHECK_INT(scr_filemap_set_desc(map, 10, 20, h), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_desc(map, 10, 20, got), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(got, "TYPE"), "XOR");
  CHECK_INT(scr_filemap_unset_desc(map, 10, 20), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_desc(map, 10, 20, got), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_set_flushdesc(map, 12, 3, h), SCR_SUCCESS); /* makes the entry */
  CHECK(filemap_in_sync(map));
  CHECK_INT(scr_filemap_get_flushdesc(map, 12, 3, got), SCR_SUCCESS);
  CHECK_INT(scr_filemap_unset_flushdesc(map, 12, 3), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_flushdesc(map, 12, 3, got), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_set_desc(map, -3, 3, h), SCR_ERR_ARG);

  CHECK(scr_filemap_get_tag(map, 10, 20, "PARTNER") == NULL);
  CHECK_INT(scr_filemap_set_tag(map, 10, 20, "PARTNER", "atlas56"), SCR_SUCCESS);
  CHECK_INT(scr_filemap_set_tag(map, 10, 20, "PARTNER", "atlas57"), SCR_SUCCESS);
  CHECK_STR(scr_filemap_get_tag(map, 10, 20, "PARTNER"), "atlas57");
  CHECK_INT(scr_filemap_unset_tag(map, 10, 20, "PARTNER"), SCR_SUCCESS);
  CHECK(scr_filemap_get_tag(map, 10, 20, "PARTNER") == NULL);

  scr_meta_set_filesize(h, 5);
  CHECK_INT(scr_filemap_set_meta(map, 10, 20, "/c/foo_20.10", h), SCR_SUCCESS);
  CHECK_INT(scr_filemap_set_meta(map, 10, 20, "/c/other", h), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_set_meta(map, 10, 21, "/c/foo_20.10", h), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_get_meta(map, 10, 20, "/c/foo_20.10", got), SCR_SUCCESS);
  CHECK_INT(scr_meta_check_filesize(got, 5), SCR_SUCCESS);
  CHECK_INT(scr_filemap_num_files(map, 10, 20), 2);
  CHECK_INT(scr_filemap_unset_meta(map, 10, 20, "/c/foo_20.10"), SCR_SUCCESS);
  CHECK_INT(scr_filemap_get_meta(map, 10, 20, "/c/foo_20.10", got), SCR_ERR_NOT_FOUND);

  /* merge: files are united, the rest is that of the second */
  {
    scr_filemap* two = filemap_example();
    scr_meta_set_filesize(h, 6);
    scr_filemap_set_expected_files(map, 10, 20, 2);
    scr_filemap_set_expected_files(two, 10, 20, 3);
    scr_filemap_add_file(two, 10, 20, "/c/third");
    scr_filemap_set_meta(two, 10, 20, "/c/third", h);
    scr_filemap_remove_file(two, 10, 20, "/c/foo_20.10");
    scr_filemap_add_file(two, 13, 1, "/c/new");
    CHECK_INT(scr_filemap_merge(map, two), SCR_SUCCESS);
    CHECK_INT(scr_filemap_merge(map, map), SCR_SUCCESS);
    CHECK(filemap_in_sync(map));
    CHECK_INT(scr_filemap_num_files(map, 10, 20), 3);
    CHECK_INT(scr_filemap_get_expected_files(map, 10, 20), 3);
    CHECK_INT(scr_filemap_num_files(map, 13, 1), 1);
    CHECK_INT(scr_filemap_get_meta(map, 10, 20, "/c/third", got), SCR_SUCCESS);
    CHECK_INT(scr_meta_check_filesize(got, 6), SCR_SUCCESS);
    scr_filemap_delete(&two);
    CHECK_INT(scr_filemap_num_files(map, 10, 20), 3); /* copies */
  }
  scr_hash_delete(&h);
  scr_hash_delete(&got);
  scr_filemap_delete(&map);
}

/* Calls every function that reads or edits MAP. */
static void filemap_try_all(scr_filemap* map)
{
  scr_hash*    h = scr_hash_new();
  scr_filemap* other = scr_filemap_new();
  int*         list = NULL;
  char**       files = NULL;
  int          n, d, r;

  CHECK_INT(scr_filemap_merge(other, map), SCR_SUCCESS);
  CHECK(filemap_in_sync(other));
  scr_filemap_num_datasets(map);
  scr_filemap_latest_dataset(map);
  scr_filemap_oldest_dataset(map);
  CHECK_INT(scr_filemap_list_datasets(map, &n, &list), SCR_SUCCESS);
  scr_free(&list);
  CHECK_INT(scr_filemap_list_ranks(map, &n, &list), SCR_SUCCESS);
  scr_free(&list);
  for (d = -1; d < 3; d++)
    for (r = -1; r < 3; r++) {
      CHECK_INT(scr_filemap_list_files(map, d, r, &n, &files), SCR_SUCCESS);
      scr_free(&files);
      CHECK_INT(scr_filemap_list_ranks_by_dataset(map, d, &n, &list), SCR_SUCCESS);
      scr_free(&list);
      scr_filemap_get_dataset(map, d, r, h);
      scr_dataset_same(h, h);
      scr_filemap_get_meta(map, d, r, "f", h);
      scr_meta_check_complete(h);
      scr_filemap_get_desc(map, d, r, h);
      scr_filemap_get_tag(map, d, r, "T");
      scr_filemap_get_expected_files(map, d, r);
      scr_filemap_num_files(map, d, r);
      scr_filemap_remove_file(map, d, r, "f");
      scr_filemap_unset_meta(map, d, r, "f");
    }
  scr_filemap_delete(&other);
  other = scr_filemap_extract_rank(map, 1);
  CHECK(other != NULL && filemap_in_sync(other));
  scr_filemap_remove_dataset(map, 1);
  scr_filemap_remove_rank(map, 0);
  scr_filemap_remove_rank_by_dataset(map, 2, 2);
  scr_filemap_delete(&other);
  scr_hash_delete(&h);
}

static void test_filemap_shapes(void)
{
  static const char* const words[] = {
      "RANK", "DSET", "FILE", "FILES", "META", "DSETDESC", "REDDESC", "0",
      "1",    "2",    "-1",   "01",    "x",    "",         "f",       "99999999999999999999"};
  uint32_t seed = 5;
  int      i, k, depth;

  filemap_try_all(NULL);
  for (i = 0; i < 500; i++) { /* random trees of the words of the format */
    scr_filemap* map = scr_filemap_new();
    for (k = 0; k < 30; k++) {
      scr_hash* h = map;
      for (depth = 0; depth < 6 && h != NULL; depth++) {
        const char* word;
        scr_hash*   below;
        seed = seed * 1664525u + 1013904223u;
        word = words[(seed >> 16) % (depth % 2 == 0 ? 7 : 16)];
        below = scr_hash_get(h, word);
        h = below != NULL ? below : scr_hash_set(h, word, scr_hash_new());
      }
    }
    filemap_try_all(map);
    scr_filemap_delete(&map);
  }
}

static void test_filemap_files(void)
{
  scr_filemap* map = filemap_example();
  scr_filemap* back = scr_filemap_new();
  scr_hash*    h = scr_hash_new();
  char         path[1200];

  snprintf(path, sizeof path, "%s/filemap_0.scrinfo", check_dir);
  scr_dataset_set_id(h, 10);
  scr_filemap_set_dataset(map, 10, 20, h);
  scr_filemap_set_expected_files(map, 10, 20, 2);
  CHECK_INT(scr_filemap_read(path, back), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_filemap_write(path, map), SCR_SUCCESS);
  CHECK_INT(scr_filemap_read(path, back), SCR_SUCCESS);
  CHECK(filemap_in_sync(back));
  CHECK(scr_filemap_num_files(back, 10, 20) == 2 && scr_filemap_num_files(back, 11, 28) == 1);
  CHECK_INT(scr_filemap_get_expected_files(back, 10, 20), 2);
  CHECK_INT(scr_filemap_read(path, back), SCR_SUCCESS); /* once more changes nothing */
  CHECK_INT(scr_filemap_get_expected_files(back, 10, 20), 2);
  CHECK(scr_hash_pack_size(back) == scr_hash_pack_size(map));

  /* an index that disagrees is made anew */
  scr_hash_unset(map, "DSET");
  scr_hash_set_kv(scr_hash_set_kv_int(map, "DSET", 77), "RANK", "3");
  CHECK_INT(scr_filemap_write(path, map), SCR_SUCCESS);
  scr_filemap_clear(back);
  CHECK_INT(scr_filemap_read(path, back), SCR_SUCCESS);
  CHECK(filemap_in_sync(back) && scr_filemap_num_datasets(back) == 2 && scr_filemap_latest_dataset(back) == 11);

  /* what is no filemap is refused, and the map stays */
  scr_hash_set_kv(map, "RANK", "-5");
  CHECK_INT(scr_filemap_write(path, map), SCR_SUCCESS);
  CHECK_INT(scr_filemap_read(path, back), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, path) != NULL && strstr(scr_err_text, "-5") != NULL);
  CHECK_INT(scr_filemap_num_ranks(back), 2);
  scr_hash_unset_kv(map, "RANK", "-5");
  scr_hash_set_kv(scr_hash_set_kv(map, "RANK", "20"), "DSET", "010");
  CHECK_INT(scr_filemap_write(path, map), SCR_SUCCESS);
  CHECK_INT(scr_filemap_read(path, back), SCR_ERR_FORMAT);
  unlink(path);
  scr_hash_delete(&h);
  scr_filemap_delete(&map);
  scr_filemap_delete(&back);
}

#ifdef CHECK_ALLOC_H
/* Builds a map, writes, reads and takes it apart; the first error. */
static int filemap_story(const char* path)
{
  scr_filemap* map = scr_filemap_new();
  scr_filemap* back = scr_filemap_new();
  scr_filemap* out = NULL;
  scr_hash*    h = scr_hash_new();
  char**       files = NULL;
  int*         list = NULL;
  int          n = 0, rc = scr_dataset_set_id(h, 10);

  if (rc == SCR_SUCCESS) rc = scr_dataset_set_nonce(h, 3);
  if (rc == SCR_SUCCESS) rc = scr_filemap_add_file(map, 10, 20, "/c/foo");
  if (rc == SCR_SUCCESS) rc = scr_filemap_set_meta(map, 10, 20, "/c/foo", h);
  if (rc == SCR_SUCCESS) rc = scr_filemap_set_dataset(map, 10, 20, h);
  if (rc == SCR_SUCCESS) rc = scr_filemap_set_expected_files(map, 10, 21, 0);
  if (rc == SCR_SUCCESS) rc = scr_filemap_set_tag(map, 10, 20, "PARTNER", "n1");
  if (rc == SCR_SUCCESS) rc = scr_filemap_get_dataset(map, 10, 20, h);
  if (rc == SCR_SUCCESS) rc = scr_filemap_list_files(map, 10, 20, &n, &files);
  if (rc == SCR_SUCCESS) rc = scr_filemap_list_ranks(map, &n, &list);
  if (rc == SCR_SUCCESS) rc = scr_filemap_write(path, map);
  if (rc == SCR_SUCCESS) rc = scr_filemap_read(path, back);
  if (rc == SCR_SUCCESS) {
    out = scr_filemap_extract_rank(back, 20);
    if (out == NULL) {
      rc = SCR_ERR_MEM;
      CHECK(scr_filemap_num_files(back, 10, 20) == 1 && filemap_in_sync(back)); /* still whole */
    } else {
      CHECK(scr_filemap_num_files(out, 10, 20) == 1 && filemap_in_sync(out) && scr_filemap_num_ranks(back) == 1);
    }
  }
  scr_free(&files);
  scr_free(&list);
  scr_hash_delete(&h);
  scr_filemap_delete(&map);
  scr_filemap_delete(&back);
  scr_filemap_delete(&out);
  return rc;
}

/* Each allocation fails once: an error, no crash, no leak. */
static void test_filemap_memory(void)
{
  int n, rc, struck = 1;

  for (n = 0; struck && n < 1000; n++) {
    check_alloc_hit = 0;
    check_alloc_left = n;
    rc = filemap_story(check_path("memory.scrinfo"));
    check_alloc_left = -1;
    struck = check_alloc_hit;
    if (!struck) CHECK_INT(rc, SCR_SUCCESS);
    else CHECK(rc != SCR_SUCCESS);
    scr_oom = 0;
  }
  CHECK(n > 30 && n < 1000);
}
#endif

/* A file that version 1.2.2 wrote. */
static void test_filemap_golden(void)
{
  static const char file[] = "/ssd/root/scr.1/scr.dataset.2/rank_1.ckpt";
  scr_filemap*      map = scr_filemap_new();
  scr_hash*         h = scr_hash_new();
  const char*       s = "";
  int64_t           created = 0;
  int               v = -1;

  CHECK_INT(scr_filemap_read(CHECK_DATA "/scr-1.2.2/filemap_0.scrinfo", map), SCR_SUCCESS);
  CHECK(filemap_in_sync(map));
  CHECK(scr_filemap_num_datasets(map) == 2 && scr_filemap_num_ranks(map) == 2);
  CHECK(scr_filemap_latest_dataset(map) == 2 && scr_filemap_oldest_dataset(map) == 1);
  CHECK_INT(scr_filemap_num_ranks_by_dataset(map, 2), 2);
  CHECK(scr_filemap_num_files(map, 2, 0) == 0 && scr_filemap_have_rank_by_dataset(map, 2, 0));
  CHECK(scr_filemap_num_files(map, 2, 1) == 2 && scr_filemap_get_expected_files(map, 2, 1) == 2);
  CHECK_INT(scr_filemap_get_dataset(map, 2, 1, h), SCR_SUCCESS);
  CHECK(scr_dataset_get_id(h, &v) == SCR_SUCCESS && v == 2);
  CHECK(scr_dataset_get_name(h, &s) == SCR_SUCCESS && strcmp(s, "ckpt.2") == 0);
  CHECK(scr_dataset_get_created(h, &created) == SCR_SUCCESS && created == (int64_t)1795232559747186);
  CHECK(scr_dataset_get_flag_ckpt(h, &v) == SCR_SUCCESS && v == 1);
  CHECK(scr_dataset_same(h, h));
  CHECK_INT(scr_filemap_get_meta(map, 2, 1, file, h), SCR_SUCCESS);
  CHECK_INT(scr_meta_check_filetype(h, "FULL"), SCR_SUCCESS);
  CHECK_INT(scr_meta_check_filesize(h, 20488), SCR_SUCCESS);
  CHECK_INT(scr_meta_check_complete(h), SCR_SUCCESS);
  CHECK(scr_meta_get_origpath(h, &s) == SCR_SUCCESS && strcmp(s, "/p/sim/ckpt.2") == 0);
  CHECK(scr_meta_get_origname(h, &s) == SCR_SUCCESS && strcmp(s, "rank_1.ckpt") == 0);
  CHECK_INT(scr_filemap_get_desc(map, 1, 0, h), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(h, "TYPE"), "XOR");
  CHECK_INT(scr_filemap_get_flushdesc(map, 1, 1, h), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(h, "PRESERVE"), "1");
  scr_hash_delete(&h);
  scr_filemap_delete(&map);
}

static void test_filemap(void)
{
  test_dataset();
  test_meta();
  test_filemap_entries();
  test_filemap_contents();
  test_filemap_shapes();
  test_filemap_files();
#ifdef CHECK_ALLOC_H
  test_filemap_memory();
#endif
  test_filemap_golden();
}
