/*
** The prefix by path: index, choice, summary, objects, rank2file; of today, of two earlier releases, of hostile
** shape.
*/

/* ---- the index ---- */

/* A new index in memory; scr_index_close is due. */
static void index_new(scr_index* index)
{
  memset(index, 0, sizeof *index);
  index->lock = -1;
  index->h = scr_hash_new();
}

/* Enter dataset ID, called NAME, in DIR, with all files renamed. */
static void index_enter(scr_index* index, int id, const char* dir, const char* name, int flags)
{
  scr_desc d;

  records_desc(&d, id, name, flags);
  CHECK_INT(scr_index_set(index, &d, dir), SCR_SUCCESS);
  scr_hash_unset(scr_index_entry(index, id, dir), "REDO");
}

/* "<id> <dir>" of the dataset that CURRENT names, or "-"; with " user" behind it when the user chose it. */
static const char* index_current(const scr_index* index)
{
  static char    text[SCR_MAX_FILENAME + 32];
  scr_index_item it;
  scr_choice     c;

  if (!scr_index_current(index, &it)) return "-";
  scr_choice_read(index, &c);
  snprintf(text, sizeof text, "%d %s%s", it.id, it.dir, c.by_user ? " user" : "");
  return text;
}

/* "<id> <dir>" of what scr_index_newest or, with a NAME, scr_index_named finds, or "-". */
static const char* index_newest(const scr_index* index, int below, const char* name)
{
  static char    text[SCR_MAX_FILENAME + 32];
  scr_index_item it;
  int            rc = name != NULL ? scr_index_named(index, name, &it) : scr_index_newest(index, below, NULL, &it);

  CHECK(rc == SCR_SUCCESS || (rc == SCR_ERR_NOT_FOUND && it.id == 0));
  if (rc != SCR_SUCCESS) return "-";
  snprintf(text, sizeof text, "%d %s", it.id, it.dir);
  return text;
}

static int index_is_good(const scr_index* index, int id, const char* dir)
{
  scr_index_item it;
  return scr_index_get(index, id, dir, &it) && scr_index_is_good(&it);
}

/* Runs a, b (2), an output (3) and an incomplete d (4). */
static void index_example(scr_index* index)
{
  index_new(index);
  index_enter(index, 1, "run/a", "a", SCR_FLAG_CHECKPOINT);
  index_enter(index, 2, "run/b", "b", SCR_FLAG_CHECKPOINT);
  index_enter(index, 3, "run/out", "out", SCR_FLAG_OUTPUT);
  index_enter(index, 4, "run/d", "d", SCR_FLAG_CHECKPOINT);
  scr_hash_util_set_int(scr_index_entry(index, 4, "run/d"), "COMPLETE", 0); /* as other versions enter one */
}

static void an_empty_index_answers_every_question(void)
{
  scr_index      index;
  scr_index_item it;
  scr_identity   any = {1, 1, 1};

  index_new(&index);
  CHECK(scr_index_max_id(&index) == 0 && scr_index_count_complete(&index) == 0 && !scr_index_has_renames(&index));
  CHECK_STR(index_newest(&index, INT_MAX, NULL), "-");
  CHECK_STR(index_newest(&index, INT_MAX, "a"), "-");
  CHECK_STR(index_current(&index), "-");
  CHECK(!scr_index_get(&index, 1, "a", &it) && !scr_index_same(&index, &any, &it) && it.id == 0);
  scr_index_note_failed(&index, 1, "a", "job");
  scr_index_note_fetched(&index, 1, "a");
  scr_index_note_renamed(&index, 1, "a");
  scr_index_remove(&index, 1, "a");
  scr_index_sort(&index);
  CHECK_INT(scr_hash_size(index.h), 0);
  CHECK_INT(scr_index_close(&index, SCR_ERR_IO, 1), SCR_ERR_IO); /* nothing is written */
  memset(&it, 0, sizeof it);
  CHECK(!scr_index_walk(&index, &it) && scr_index_max_id(&index) == 0); /* one that could not be opened is empty too */
}

static void the_index_tells_datasets_by_id_directory_and_name(void)
{
  scr_index      index;
  scr_index_item it;
  scr_identity   identity;
  int            ids = 0, n = 0;

  index_example(&index);
  CHECK(scr_index_max_id(&index) == 4 && scr_index_count_complete(&index) == 2);
  CHECK(scr_hash_get_kv_int(scr_hash_get_kv(index.h, "DIR", "run/b"), "DSET", 2) != NULL);
  CHECK(scr_index_get(&index, 2, "run/b", &it) && scr_index_is_good(&it) && it.flushed != NULL);
  CHECK(it.id == 2 && it.complete && !it.failed && !it.renaming && strcmp(it.desc.name, "b") == 0);
  CHECK_STR(it.dir, "run/b");
  CHECK(!index_is_good(&index, 4, "run/d"));
  CHECK(!scr_index_get(&index, 2, "run/a", &it) && !scr_index_get(&index, 9, "run/a", &it));

  CHECK_STR(index_newest(&index, INT_MAX, NULL), "2 run/b");
  CHECK_STR(index_newest(&index, 2, NULL), "1 run/a");
  CHECK_STR(index_newest(&index, 1, NULL), "-");
  CHECK_STR(index_newest(&index, INT_MAX, "d"), "4 run/d"); /* asked for by name: complete or not */
  CHECK_STR(index_newest(&index, INT_MAX, "run/out"), "3 run/out");
  CHECK_STR(index_newest(&index, INT_MAX, "run"), "-");

  scr_index_get(&index, 2, "run/b", &it);
  identity = it.desc.identity;
  CHECK(scr_index_same(&index, &identity, &it) && it.id == 2 && strcmp(it.dir, "run/b") == 0);
  identity.nonce++;
  CHECK(!scr_index_same(&index, &identity, &it) && it.id == 0 && it.dir == NULL);

  memset(&it, 0, sizeof it);
  for (scr_index_sort(&index); scr_index_walk(&index, &it); n++) ids = 10 * ids + it.id;
  CHECK(n == 4 && ids == 4321); /* the newest first */
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void an_id_or_a_directory_that_is_none_is_not_entered(void)
{
  scr_index index;
  scr_desc  d;

  index_new(&index);
  records_desc(&d, 1, "x", SCR_FLAG_CHECKPOINT);
  CHECK_INT(scr_index_set(&index, &d, "../x"), SCR_ERR_PATH);
  CHECK_INT(scr_index_set(&index, &d, "/x"), SCR_ERR_PATH);
  CHECK_INT(scr_index_set(&index, &d, ""), SCR_ERR_PATH);
  d.identity.id = 0;
  CHECK_INT(scr_index_set(&index, &d, "x"), SCR_ERR_ARG);
  d.identity.id = INT_MAX;
  CHECK_INT(scr_index_set(&index, &d, "x"), SCR_ERR_ARG);
  CHECK_INT(scr_hash_size(index.h), 0);
  d.identity.id = INT_MAX - 1;
  CHECK(scr_index_set(&index, &d, "x") == SCR_SUCCESS && scr_index_max_id(&index) == INT_MAX - 1);
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void of_copies_of_an_id_the_younger_and_of_a_name_the_directory_counts(void)
{
  scr_index      index;
  scr_index_item it;
  scr_desc       d;

  index_new(&index);
  index_enter(&index, 5, "old", "same", SCR_FLAG_CHECKPOINT);
  records_desc(&d, 5, "same", SCR_FLAG_CHECKPOINT);
  d.identity.created = 9999;
  CHECK_INT(scr_index_set(&index, &d, "new"), SCR_SUCCESS);
  scr_hash_unset(scr_index_entry(&index, 5, "new"), "REDO");
  index_enter(&index, 6, "other", "new", SCR_FLAG_OUTPUT);
  CHECK_STR(index_newest(&index, INT_MAX, NULL), "5 new");
  scr_index_set_current(&index, 0, "new", 0);
  CHECK_STR(index_current(&index), "5 new"); /* not 6, which is called so */
  scr_index_set_current(&index, 0, "same", 0);
  CHECK_STR(index_current(&index), "5 new");
  CHECK(scr_index_same(&index, &d.identity, &it) && strcmp(it.dir, "new") == 0);
  d.identity.created = 1005;
  CHECK(scr_index_same(&index, &d.identity, &it) && strcmp(it.dir, "old") == 0);
  scr_index_remove(&index, 5, "new");
  CHECK_STR(index_current(&index), "5 old");
  index_enter(&index, 7, "old", "seven", SCR_FLAG_CHECKPOINT); /* two datasets in one directory */
  CHECK_STR(index_current(&index), "5 old");
  scr_index_close(&index, SCR_SUCCESS, 0);
}

/* ---- which checkpoint to restart from ---- */

static void current_leaves_a_dataset_that_failed_or_is_removed(void)
{
  scr_index      index;
  scr_index_item it;

  index_example(&index);
  scr_index_set_current(&index, 0, "run/b", 1);
  CHECK_STR(index_current(&index), "2 run/b user");
  scr_index_current(&index, &it);
  scr_index_set_current(&index, 0, it.dir, 0); /* an argument that is part of the index */
  CHECK_STR(index_current(&index), "2 run/b");

  scr_index_note_fetched(&index, 2, "run/b");
  CHECK(index_is_good(&index, 2, "run/b") && scr_hash_get(scr_index_entry(&index, 2, "run/b"), "FETCHED") != NULL);
  scr_index_note_failed(&index, 9, "run/b", "job"); /* none such */
  CHECK_STR(index_current(&index), "2 run/b");
  scr_index_note_failed(&index, 1, "run/a", "job"); /* another one */
  CHECK_STR(index_current(&index), "2 run/b");
  index_enter(&index, 1, "run/a", "a", SCR_FLAG_CHECKPOINT); /* flushed again: the failure was of the old files */
  CHECK(index_is_good(&index, 1, "run/a"));
  scr_index_set_current(&index, 0, "run/b", 1);
  scr_index_note_failed(&index, 2, "run/b", "job");
  CHECK(!index_is_good(&index, 2, "run/b") && scr_index_max_id(&index) == 4 && scr_index_count_complete(&index) == 2);
  CHECK_STR(index_current(&index), "1 run/a");

  index_enter(&index, 2, "run/b", "b", SCR_FLAG_CHECKPOINT);
  CHECK_STR(index_newest(&index, INT_MAX, NULL), "2 run/b");
  scr_index_set_current(&index, 0, "run/b", 1);
  scr_index_named(&index, "b", &it);
  scr_index_remove(&index, it.id, it.dir); /* again a part of the index */
  CHECK(!scr_index_get(&index, 2, "run/b", &it) && scr_hash_get_kv(index.h, "DIR", "run/b") == NULL);
  CHECK(scr_hash_get_kv_int(index.h, "DSET", 2) == NULL && scr_hash_get_kv(index.h, "CURRENT_BY", "USER") == NULL);
  CHECK_STR(index_current(&index), "1 run/a");
  scr_index_remove(&index, 1, "run/b"); /* no such pair: nothing changes */
  CHECK_STR(index_current(&index), "1 run/a");
  CHECK(scr_index_get(&index, 1, "run/a", &it));
  scr_index_remove(&index, 1, "run/a");
  CHECK(scr_hash_get(index.h, "CURRENT") == NULL);
  scr_index_remove(&index, 3, "run/out");
  scr_index_remove(&index, 4, "run/d");
  CHECK(scr_hash_get(index.h, "DSET") == NULL && scr_hash_get(index.h, "DIR") == NULL);
  scr_index_close(&index, SCR_SUCCESS, 0);
}

/* Enter checkpoint ID as a flush does, up to its last rename. */
static void index_flush(scr_index* index, int id, const char* dir, int flags)
{
  scr_desc d;

  records_desc(&d, id, dir, flags);
  CHECK_INT(scr_index_set(index, &d, dir), SCR_SUCCESS);
  CHECK(!index_is_good(index, id, dir) && scr_index_has_renames(index));
  scr_index_note_renamed(index, id, dir);
  CHECK(index_is_good(index, id, dir) && !scr_index_has_renames(index));
}

static void current_becomes_a_flushed_checkpoint_unless_it_is_newer_or_the_users(void)
{
  scr_index  index;
  scr_choice c;

  index_new(&index);
  index_flush(&index, 1, "one", SCR_FLAG_OUTPUT);
  CHECK_STR(index_current(&index), "-"); /* nothing to restart from */
  index_flush(&index, 2, "two", SCR_FLAG_CHECKPOINT);
  CHECK_STR(index_current(&index), "2 two");
  index_flush(&index, 4, "four", SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT);
  CHECK_STR(index_current(&index), "4 four");
  index_flush(&index, 3, "three", SCR_FLAG_CHECKPOINT);
  CHECK_STR(index_current(&index), "4 four");

  scr_index_set_current(&index, 0, "two", 1);
  index_flush(&index, 5, "five", SCR_FLAG_CHECKPOINT);
  CHECK_STR(index_current(&index), "2 two user");
  scr_choice_read(&index, &c);
  c.until = 5; /* a later checkpoint was complete: the user's choice has been served */
  scr_choice_write(&index, &c);
  CHECK_STR(index_current(&index), "2 two user");
  index_flush(&index, 6, "six", SCR_FLAG_CHECKPOINT);
  CHECK_STR(index_current(&index), "6 six");
  scr_choice_read(&index, &c);
  CHECK(!c.by_user && c.until == 0);
  scr_index_set_current(&index, 0, "gone", 1); /* names nothing */
  CHECK_STR(index_current(&index), "-");
  index_flush(&index, 7, "seven", SCR_FLAG_CHECKPOINT);
  CHECK_STR(index_current(&index), "7 seven");
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void a_choice_reads_as_it_was_written(void)
{
  scr_index  index;
  scr_choice c, back;
  int        i;

  for (i = 0; i < 32; i++) {
    index_new(&index);
    memset(&c, 0, sizeof c);
    if (i & 1) memset(c.dir, 'd', i & 16 ? sizeof c.dir - 1 : 1);
    c.id = (i & 1) && (i & 2) ? 7 : 0;
    c.by_user = (i & 1) && (i & 4);
    c.until = c.by_user && (i & 8) ? INT_MAX : 0;
    scr_choice_write(&index, &c);
    memset(&back, 0, sizeof back);
    scr_choice_read(&index, &back);
    CHECK(memcmp(&c, &back, sizeof c) == 0);
    scr_index_set_current(&index, 0, "other", 0);
    scr_choice_read(&index, &back);
    CHECK(strcmp(back.dir, "other") == 0 && !back.by_user && back.until == 0);
    scr_index_set_current(&index, 0, "", 1); /* nothing is nobody's choice */
    scr_choice_read(&index, &back);
    CHECK(*back.dir == '\0' && !back.by_user && back.until == 0);
    CHECK(scr_hash_get(index.h, "CURRENT") == NULL && scr_hash_get(index.h, "CURRENT_BY") == NULL);
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  index_new(&index);
  scr_hash_set(index.h, "CURRENT", scr_hash_new());
  scr_hash_set_kv(index.h, "CURRENT_BY", "SOMEONE");
  scr_choice_read(&index, &c);
  CHECK(*c.dir == '\0' && !c.by_user && c.until == 0);
  scr_hash_setf(index.h, NULL, "%s %s %s %s", "CURRENT_BY", "USER", "PASSED", "x");
  scr_choice_read(&index, &c);
  CHECK(c.by_user && c.until == 0);
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void a_value_is_served_once_in_each_job(void)
{
  scr_index index;
  char      job[16];
  int       i;

  index_new(&index);
  CHECK(!scr_index_has_served(&index, "SCR_CURRENT", "ck1", "a") &&
        !scr_index_last_served(&index, "SCR_FRESH_START", "a"));
  scr_index_note_served(&index, "SCR_CURRENT", "ck1", "a");
  scr_index_note_served(&index, "SCR_CURRENT", "ck1", "b");
  scr_index_note_served(&index, "SCR_CURRENT", "ck2", "a");
  scr_index_note_served(&index, "SCR_FRESH_START", "3", "a");
  scr_index_note_served(&index, "SCR_FRESH_START", "1", "a");
  CHECK(scr_index_has_served(&index, "SCR_CURRENT", "ck1", "a") &&
        scr_index_has_served(&index, "SCR_CURRENT", "ck1", "b"));
  CHECK(scr_index_has_served(&index, "SCR_CURRENT", "ck2", "a") &&
        !scr_index_has_served(&index, "SCR_CURRENT", "ck2", "b"));
  CHECK(!scr_index_has_served(&index, "SCR_FRESH_START", "ck1", "a"));
  CHECK_INT(scr_index_last_served(&index, "SCR_FRESH_START", "a"), 3);
  CHECK_INT(scr_index_last_served(&index, "SCR_FRESH_START", "b"), 0);
  for (i = 0; i < SCR_SERVED_MAX; i++) { /* the oldest job is forgotten */
    snprintf(job, sizeof job, "job%d", i);
    scr_index_note_served(&index, "SCR_CURRENT", "ck1", job);
  }
  CHECK(!scr_index_has_served(&index, "SCR_CURRENT", "ck1", "b") &&
        scr_index_has_served(&index, "SCR_CURRENT", "ck1", job));
  CHECK(scr_index_has_served(&index, "SCR_CURRENT", "ck1", "job0"));
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void two_jobs_can_reject_in_one_second(void)
{
  scr_index      index;
  scr_index_item it;

  index_new(&index);
  index_flush(&index, 1, "one", SCR_FLAG_CHECKPOINT);
  scr_index_note_failed(&index, 1, "one", "a");
  scr_index_note_failed(&index, 1, "one", "b");
  CHECK(scr_index_get(&index, 1, "one", &it) && it.failed);
  CHECK(scr_index_failed_in(&index, &it, "a") && scr_index_failed_in(&index, &it, "b"));
  CHECK(!scr_index_failed_in(&index, &it, "c"));
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void current_tells_datasets_of_one_name_or_directory_apart(void)
{
  scr_index index;

  index_new(&index);
  index_flush(&index, 1, "one", SCR_FLAG_CHECKPOINT);
  index_flush(&index, 2, "two", SCR_FLAG_CHECKPOINT);
  index_flush(&index, 3, "one", SCR_FLAG_CHECKPOINT);
  CHECK_STR(index_current(&index), "3 one");
  scr_index_set_current(&index, 1, "one", 1);
  CHECK_STR(index_current(&index), "1 one user");
  scr_index_set_current(&index, 4, "one", 1); /* only a cache has it */
  CHECK_STR(index_current(&index), "-");
  scr_index_close(&index, SCR_SUCCESS, 0);
}

/* ---- the file of the index ---- */

/* Read the index of the prefix; the code.  scr_index_close is due. */
static int index_read(scr_index* index)
{
  return scr_index_read(index, records_prefix);
}

/* The version that the file of the index has. */
static int index_file_version(void)
{
  scr_hash* h = scr_hash_new();
  int       version;

  CHECK_INT(scr_hash_file_read(records_path("index.scr"), h), SCR_SUCCESS);
  version = scr_hash_int_or(h, "VERSION", -1);
  scr_hash_delete(&h);
  return version;
}

static void index_reject(scr_index* index, int id, const char* dir)
{
  scr_index_note_failed(index, id, dir, "job");
}

/* Note that dataset 18 was rejected. */
static int index_story(const char* prefix)
{
  return scr_index_change(prefix, index_reject, 18, "ckpt/18");
}

static void an_index_is_read_changed_and_written_under_its_lock(void)
{
  scr_index      index;
  scr_index_item it;

  records_begin();
  CHECK(index_read(&index) == SCR_SUCCESS && scr_hash_size(index.h) == 0 && index.lock == -1);
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 0), SCR_SUCCESS);
  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  CHECK(index.lock >= 0 && !records_unlocked("index.scr"));
  index_enter(&index, 12, "ckpt/12", "twelve", SCR_FLAG_CHECKPOINT);
  index_enter(&index, 18, "ckpt/18", "eighteen", SCR_FLAG_CHECKPOINT);
  scr_index_set_current(&index, 0, "ckpt/12", 1);
  scr_hash_set_kv(index.h, "FUTURE", "key");
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK(index.lock == -1 && index.h == NULL && records_unlocked("index.scr"));

  CHECK_INT(index_file_version(), 1);
  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(index.h, "FUTURE"), "key"); /* what is not known here is kept */
  CHECK_STR(index_current(&index), "12 ckpt/12 user");
  CHECK(index_is_good(&index, 18, "ckpt/18"));
  scr_index_remove(&index, 12, "ckpt/12");
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 0), SCR_SUCCESS); /* not written */
  CHECK(index_read(&index) == SCR_SUCCESS && scr_index_get(&index, 12, "ckpt/12", &it));
  scr_index_close(&index, SCR_SUCCESS, 0);
  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  scr_index_remove(&index, 12, "ckpt/12");
  CHECK_INT(scr_index_close(&index, SCR_ERR_IO, 1), SCR_ERR_IO); /* nor after an error */
  CHECK_INT(index_story(records_prefix), SCR_SUCCESS);
  CHECK(index_read(&index) == SCR_SUCCESS && scr_index_get(&index, 12, "ckpt/12", &it) && !it.failed);
  CHECK(scr_index_get(&index, 18, "ckpt/18", &it) && it.failed);
  CHECK_STR(scr_hash_elem_get_first_val(index.h, "FUTURE"), "key");
  scr_index_close(&index, SCR_SUCCESS, 0);

  CHECK_INT(scr_index_open(&index, "/nonexistent/prefix"), SCR_ERR_IO); /* a mistyped prefix is noticed */
  CHECK(strstr(scr_err_text, "/nonexistent/prefix/.scr") != NULL);
  CHECK_INT(scr_index_close(&index, SCR_ERR_IO, 1), SCR_ERR_IO);
  CHECK(scr_index_read(&index, "/nonexistent/prefix") == SCR_SUCCESS && scr_hash_size(index.h) == 0);
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void an_index_that_takes_too_much_memory_is_neither_written_nor_read(void)
{
  uint64_t       max = scr_record_bytes_max;
  scr_index      index;
  scr_index_item it;

  records_begin();
  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  index_enter(&index, 1, "one", "one", SCR_FLAG_CHECKPOINT);
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_SUCCESS);
  scr_record_bytes_max = 100;
  CHECK_INT(scr_index_read(&index, records_prefix), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "are possible there; move it away") != NULL);
  CHECK_INT(scr_index_close(&index, SCR_ERR_FORMAT, 0), SCR_ERR_FORMAT);
  scr_record_bytes_max = max;
  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  index_enter(&index, 2, "two", "two", SCR_FLAG_CHECKPOINT);
  scr_record_bytes_max = 100;
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_ERR_ARG);
  CHECK(strstr(scr_err_text, "delete datasets with scr_index --delete") != NULL);
  scr_record_bytes_max = max;
  CHECK_INT(scr_index_read(&index, records_prefix), SCR_SUCCESS);
  CHECK(scr_index_get(&index, 1, "one", &it) && !scr_index_get(&index, 2, "two", &it));
  scr_index_close(&index, SCR_SUCCESS, 0);
}

/* The index of an earlier release, kept in DATA: three good checkpoints. */
static void index_of_release(const char* data)
{
  scr_index      index;
  scr_index_item it;
  char           name[32];
  int            i;

  records_begin();
  records_copy(data, records_path("index.scr"));
  CHECK_INT(index_read(&index), SCR_SUCCESS);
  for (i = 1; i <= 3; i++) {
    snprintf(name, sizeof name, "ckpt.%d", i);
    CHECK(scr_index_get(&index, i, name, &it) && scr_index_is_good(&it) && scr_desc_is_ckpt(&it.desc));
    CHECK(scr_hash_get_kv_int(scr_hash_get_kv(index.h, "DIR", name), "DSET", i) != NULL);
    CHECK(it.desc.identity.id == i && it.desc.identity.created != 0 && it.desc.identity.nonce == 0);
    CHECK(it.flushed != NULL && strncmp(it.flushed, "2026-11-21T03:", 14) == 0);
    CHECK_STR(it.desc.name, name);
  }
  CHECK_STR(index_current(&index), "3 ckpt.3 user"); /* what its tools set is as good as chosen */
  CHECK(scr_index_max_id(&index) == 3 && scr_index_count_complete(&index) == 3);
  CHECK_STR(index_newest(&index, 3, NULL), "2 ckpt.2");
  CHECK(scr_hash_get(index.h, "NAME") == NULL);
  CHECK_INT(scr_hash_size(scr_hash_get_kv_int(index.h, "DSET", 3)), 1);
  scr_index_close(&index, SCR_SUCCESS, 0);

  /* and written back in today's form */
  CHECK_INT(scr_index_change(records_prefix, scr_index_remove, 3, "ckpt.3"), SCR_SUCCESS);
  CHECK_INT(index_file_version(), 1);
  CHECK_INT(index_read(&index), SCR_SUCCESS);
  CHECK_STR(index_current(&index), "2 ckpt.2");
  scr_index_close(&index, SCR_SUCCESS, 0);
}

static void the_index_of_two_earlier_releases_is_read_and_changed(void)
{
  index_of_release(CHECK_DATA "/scr-1.2.2/index.scr");
  index_of_release(CHECK_DATA "/scr-3.1/index.scr");
}

/* Make H the file of the index and read that; the code. */
static int index_of(scr_index* index, scr_hash* h)
{
  CHECK_INT(scr_hash_file_write(records_path("index.scr"), h), SCR_SUCCESS);
  return index_read(index);
}

static void an_index_of_another_version_is_refused_and_left_alone(void)
{
  static const char* const versions[] = {"3", "one", "0", "-1", "99999999999999999999", ""};
  scr_hash*                h = scr_hash_new();
  scr_index                index;
  struct stat              before, after;
  size_t                   i;

  records_begin();
  for (i = 0; i < sizeof versions / sizeof *versions; i++) {
    scr_hash_util_set_str(h, "VERSION", versions[i]);
    CHECK_INT(index_of(&index, h), SCR_ERR_FORMAT);
    CHECK(strstr(scr_err_text, "index.scr") != NULL && strstr(scr_err_text, "version ") != NULL);
    CHECK(strstr(scr_err_text, versions[i]) != NULL && scr_hash_size(index.h) == 0);
    scr_index_close(&index, SCR_SUCCESS, 0);
    CHECK(stat(records_path("index.scr"), &before) == 0);
    CHECK_INT(scr_index_open(&index, records_prefix), SCR_ERR_FORMAT);
    CHECK_INT(scr_index_close(&index, SCR_ERR_FORMAT, 1), SCR_ERR_FORMAT);
    CHECK_INT(index_story(records_prefix), SCR_ERR_FORMAT);
    CHECK(stat(records_path("index.scr"), &after) == 0 && before.st_ino == after.st_ino &&
          records_unlocked("index.scr"));
  }
  scr_hash_unset(h, "VERSION");
  scr_hash_set_kv(h, "CURRENT", "x");
  CHECK(index_of(&index, h) == SCR_ERR_FORMAT && strstr(scr_err_text, "no VERSION") != NULL);
  scr_index_close(&index, SCR_SUCCESS, 0);

  scr_hash_set_kv(h, "VERSION", "1");
  CHECK_INT(index_of(&index, h), SCR_SUCCESS);
  scr_index_close(&index, SCR_SUCCESS, 0);
  check_put(records_path("index.scr"), "damaged", 7);
  CHECK(index_read(&index) == SCR_ERR_FORMAT && scr_hash_size(index.h) == 0);
  CHECK(strstr(scr_err_text, "index.scr") != NULL);
  scr_index_close(&index, SCR_SUCCESS, 0);
  scr_hash_delete(&h);
}

static void what_is_no_id_is_left_out_and_what_leads_out_gets_a_place_inside(void)
{
  static const char* const ids[] = {"0", "-1", "+1", "01", "x", "", "2147483647", "99999999999999999999", "1 "};
  scr_hash*                h = scr_hash_new();
  scr_index                index;
  scr_index_item           it;
  size_t                   i;

  records_begin();
  scr_hash_set_kv(h, "VERSION", "1");
  for (i = 0; i < sizeof ids / sizeof *ids; i++) scr_hash_setf(h, NULL, "%s %s %s %s", "DSET", ids[i], "DIR", "d");
  scr_hash_setf(h, NULL, "%s %d %s %s %s %d", "DSET", 5, "NAME", "../../etc", "COMPLETE", 1);
  scr_hash_setf(h, NULL, "%s %d %s %s %s %s %d", "DSET", 5, "NAME", "../../etc", "DSET", "CKPT", 1);
  scr_hash_setf(h, NULL, "%s %d %s %s %s %s %s", "DSET", 5, "NAME", "../../etc", "DSET", "NAME", "../../etc");
  scr_hash_setf(h, NULL, "%s %d %s %s", "DSET", 6, "DIR", "/abs");
  scr_hash_set_kv(h, "CURRENT", "../../etc");
  CHECK_INT(index_of(&index, h), SCR_SUCCESS);
  CHECK(scr_hash_size(scr_hash_get(index.h, "DSET")) == 2 && scr_index_get(&index, 6, "scr.dataset.6", &it));
  CHECK_STR(index_newest(&index, INT_MAX, NULL), "5 scr.dataset.5");
  CHECK_STR(index_current(&index), "5 scr.dataset.5"); /* found by its name */
  scr_index_close(&index, SCR_SUCCESS, 0);

  /* version 2 without a name inside: from the table of names, or made up */
  scr_hash_unset_all(h);
  scr_hash_set_kv(h, "VERSION", "2");
  scr_hash_setf(h, NULL, "%s %d %s %d", "DSET", 8, "COMPLETE", 1);
  scr_hash_setf(h, NULL, "%s %d %s %d", "DSET", 9, "COMPLETE", 1);
  scr_hash_setf(h, NULL, "%s %s %s %d", "NAME", "eight", "DSET", 8);
  CHECK_INT(index_of(&index, h), SCR_SUCCESS);
  CHECK(scr_index_get(&index, 8, "eight", &it) && scr_index_get(&index, 9, "scr.dataset.9", &it));
  scr_index_close(&index, SCR_SUCCESS, 0);

  /* leaves where a hash should be */
  scr_hash_unset_all(h);
  scr_hash_set_kv(h, "VERSION", "1");
  scr_hash_set_kv(h, "DSET", "4");
  scr_hash_set_kv(h, "DIR", "d");
  scr_hash_set(h, "CURRENT", scr_hash_new());
  CHECK_INT(index_of(&index, h), SCR_SUCCESS);
  CHECK_INT(scr_index_max_id(&index), 0);
  scr_index_remove(&index, 4, "d");
  scr_index_note_failed(&index, 4, "d", "job");
  scr_index_close(&index, SCR_SUCCESS, 0);
  scr_hash_delete(&h);
}

/* They had a cut, ranges, and a stamp of each dataset; 1 to 3, 5 and 8 are passed over, 8 in a cache alone. */
static void what_older_releases_have_passed_over_stays_so(void)
{
  static const int passed[] = {0, 1, 1, 1, 0, 1, 0, 0, 1, 0};
  scr_hash*        h = scr_hash_new();
  scr_index        index;
  scr_index_item   it;
  int              id, round;

  records_begin();
  scr_hash_set_kv(h, "VERSION", "1");
  scr_hash_set_kv(h, "CUT", "3");
  scr_hash_setf(h, NULL, "%s %d %s %d", "PASSED", 7, "UNTIL", 9);
  for (id = 2; id < 8; id++) {
    scr_hash_setf(h, NULL, "%s %d %s %s %s %d", "DSET", id, "DIR", "d", "COMPLETE", 1);
    scr_hash_setf(h, NULL, "%s %d %s %s %s %s %d", "DSET", id, "DIR", "d", "DSET", "CKPT", id);
  }
  scr_hash_setf(h, NULL, "%s %d %s %s %s %s", "DSET", 5, "DIR", "d", "PASSED", "2026-01-01T00:00:00");
  CHECK_INT(index_of(&index, h), SCR_SUCCESS);
  for (round = 0; round < 2; round++) { /* as they wrote it, and as it is written now */
    for (id = 0; id < 10; id++) CHECK_INT(scr_index_is_passed(&index, id), passed[id]);
    CHECK(scr_index_get(&index, 5, "d", &it) && it.passed && scr_index_get(&index, 4, "d", &it) && !it.passed);
    CHECK(scr_index_last_passed(&index, 1) == 3 && scr_index_last_passed(&index, 0) == 8);
    CHECK_INT(scr_index_count_complete(&index), 3);
    scr_index_close(&index, SCR_SUCCESS, 0);
    CHECK(scr_index_open(&index, records_prefix) == SCR_SUCCESS && scr_index_close(&index, SCR_SUCCESS, 1) == 0);
    CHECK_INT(scr_index_read(&index, records_prefix), SCR_SUCCESS);
  }
  CHECK(scr_hash_get(index.h, "CUT") == NULL);

  /* taken back one by one, in the middle and at the ends of an interval */
  CHECK(scr_index_forgive(&index, 2, "d") && !scr_index_forgive(&index, 2, "d") && !scr_index_forgive(&index, 4, "d"));
  CHECK(scr_index_is_passed(&index, 1) && !scr_index_is_passed(&index, 2) && scr_index_is_passed(&index, 3));
  CHECK(scr_index_forgive(&index, 3, "d") && scr_index_last_passed(&index, 1) == 1);
  CHECK(scr_index_forgive(&index, 1, "d") && scr_index_last_passed(&index, 1) == 0);
  scr_index_close(&index, SCR_SUCCESS, 0);
  scr_hash_delete(&h);
}

/* Whatever the file holds: X1 holds of what was read, and it can be changed and written. */
static void index_try(const char* path)
{
  scr_index            index, back;
  scr_index_item       it;
  const scr_hash_elem *d, *e;
  int                  n = 0, pairs = 0, rc = scr_index_read(&index, records_prefix);

  (void)path;
  CHECK(rc == SCR_SUCCESS || (rc == SCR_ERR_FORMAT && *scr_err_text != '\0' && scr_hash_size(index.h) == 0));
  memset(&it, 0, sizeof it);
  for (; scr_index_walk(&index, &it); n++) {
    CHECK(it.id > 0 && it.id < INT_MAX && scr_path_is_safe_rel(it.dir));
    CHECK(scr_hash_get_kv_int(scr_hash_get_kv(index.h, "DIR", it.dir), "DSET", it.id) != NULL);
  }
  for (d = scr_hash_elem_first(scr_hash_get(index.h, "DIR")); d != NULL; d = scr_hash_elem_next(d))
    for (e = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(d), "DSET")); e != NULL; e = scr_hash_elem_next(e))
      pairs += scr_index_entry(&index, scr_index_id(scr_hash_elem_key(e)), scr_hash_elem_key(d)) != NULL ? 1 : -1000;
  CHECK_INT(pairs, n);
  scr_index_sort(&index);
  scr_index_note_renamed(&index, 3, "ckpt.3");
  scr_index_note_failed(&index, 2, "ckpt.2", "job");
  CHECK(!index_is_good(&index, 2, "ckpt.2"));
  index_current(&index);
  scr_index_remove(&index, 3, "ckpt.3");
  scr_index_remove(&index, 1, "scr.dataset.1");
  n = scr_hash_size(index.h) > 0 ? scr_index_max_id(&index) : 0;
  if (rc != SCR_SUCCESS) scr_index_close(&index, rc, 0);
  else CHECK_INT(scr_index_close(&index, rc, 1), SCR_SUCCESS);
  if (rc == SCR_SUCCESS) CHECK(index_read(&back) == SCR_SUCCESS && scr_index_max_id(&back) == n);
  if (rc == SCR_SUCCESS) scr_index_close(&back, SCR_SUCCESS, 0);
}

static void a_hostile_index_does_no_harm(void)
{
  static const char* const old[] = {CHECK_DATA "/scr-1.2.2/index.scr", CHECK_DATA "/scr-3.1/index.scr"};
  char                     path[2 * SCR_MAX_FILENAME];
  int                      i;

  records_begin();
  snprintf(path, sizeof path, "%s", records_path("index.scr"));
  for (i = 0; i < 2; i++) {
    scr_hash* h = scr_hash_new();
    CHECK_INT(scr_hash_file_read(old[i], h), SCR_SUCCESS);
    scr_fsync_enabled = 0;
    records_fuzz(h, path, 700, index_try);
    scr_fsync_enabled = 1;
    scr_hash_delete(&h);
  }
}

/* ---- faults ---- */

/* The failure of 18 is noted when RC says so; it may be after an error of a call, and is not without memory. */
static void index_judge(int rc, int oom)
{
  scr_index      index;
  scr_index_item it;

  CHECK_INT(index_read(&index), SCR_SUCCESS);
  CHECK(scr_index_get(&index, 12, "ckpt/12", &it) && !it.failed);
  CHECK(scr_index_get(&index, 18, "ckpt/18", &it));
  CHECK(it.failed ? rc == SCR_SUCCESS || !oom : rc != SCR_SUCCESS);
  CHECK_STR(index_current(&index), it.failed ? "12 ckpt/12" : "18 ckpt/18 user"); /* both or none */
  CHECK(records_unlocked("index.scr"));
  scr_index_close(&index, SCR_SUCCESS, 0);
  scr_index_open(&index, records_prefix); /* as before */
  index_enter(&index, 18, "ckpt/18", "eighteen", SCR_FLAG_CHECKPOINT);
  scr_index_set_current(&index, 0, "ckpt/18", 1);
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_SUCCESS);
}

static void index_after_oom(int rc)
{
  index_judge(rc, 1);
}

static void index_after_fault(int rc)
{
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_IO || rc == SCR_ERR_SPACE);
  index_judge(rc, 0);
}

static void a_failure_leaves_the_old_index_or_the_new_one(void)
{
  scr_index index;
  int       n;

  records_begin();
  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  index_enter(&index, 12, "ckpt/12", "twelve", SCR_FLAG_CHECKPOINT);
  index_enter(&index, 18, "ckpt/18", "eighteen", SCR_FLAG_CHECKPOINT);
  scr_index_set_current(&index, 0, "ckpt/18", 1);
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK(records_alloc_sweep(index_story, records_prefix, index_after_oom) > 200);
  CHECK_INT(records_fault_sweep(FAULT_FAIL, EIO, index_story, records_prefix, index_after_fault), 18);
  records_fault_sweep(FAULT_FAIL, ENOSPC, index_story, records_prefix, index_after_fault);
  records_fault_sweep(FAULT_SHORT, 0, index_story, records_prefix, index_after_fault);
  records_fault_sweep(FAULT_TORN, ENOSPC, index_story, records_prefix, index_after_fault);
  CHECK_INT(check_names(records_path("")), 3); /* the index, its lock, the reserve: no more stays, but after this: */
  records_fault_sweep(FAULT_DEAD, EIO, index_story, records_prefix, index_after_fault);
  for (n = 1; check_fault_kill(n, index_story, records_prefix); n++) index_judge(SCR_ERR_IO, 0);
  CHECK(n > 16 && check_names(records_path("")) > 3);
  scr_record_sweep(records_prefix);
  CHECK_INT(check_names(records_path("")), 3);
}

static void the_sweep_removes_temporary_files_of_writers_and_nothing_else(void)
{
  static const char* const go[] = {"index.scr.node7.123.0.tmp", "flush.scr.a.b.c.99.1.tmp", "halt.scr.n-1.1.1.tmp",
                                   "nodes.scr.x.4194304.4294967295.tmp", "index.scr..1.2.tmp"};
  static const char* const stay[] = {"index.scr",
                                     "index.scr.tmp",
                                     "index.scr.1.2.tmp",
                                     "index.scr.node7.1.tmp.",
                                     "index.scr.node7.1.x.tmp",
                                     "index.scr.node7..1.tmp",
                                     "other.scr.node7.1.2.tmp",
                                     "index.scrx.node7.1.2.tmp",
                                     "index.scr.node7.1.2.tmpx",
                                     "log"};
  char                     rel[SCR_MAX_FILENAME];
  size_t                   i;

  records_begin();
  for (i = 0; i < sizeof go / sizeof *go; i++) {
    snprintf(rel, sizeof rel, ".scr/%s", go[i]);
    records_put(rel, "x");
  }
  for (i = 0; i < sizeof stay / sizeof *stay; i++) {
    snprintf(rel, sizeof rel, ".scr/%s", stay[i]);
    records_put(rel, "x");
  }
  scr_record_sweep(records_prefix);
  for (i = 0; i < sizeof go / sizeof *go; i++) CHECK(access(records_path(go[i]), F_OK) < 0);
  for (i = 0; i < sizeof stay / sizeof *stay; i++) CHECK(access(records_path(stay[i]), F_OK) == 0);
  scr_record_sweep("/nonexistent/prefix");
}

/* ---- summary ---- */

static void a_summary_reads_as_it_was_written(void)
{
  static const char* const old[] = {CHECK_DATA "/scr-1.2.2/summary.scr", CHECK_DATA "/scr-3.1/summary.scr"};
  char                     path[2 * SCR_MAX_FILENAME];
  scr_desc                 d, back;
  scr_hash*                h = scr_hash_new();
  int                      complete = 7, i;

  records_begin();
  snprintf(path, sizeof path, "%s", records_path("summary.scr"));
  records_desc(&d, 18, "eighteen", SCR_FLAG_CHECKPOINT);
  back = d;
  CHECK(scr_summary_read(path, &back, &complete) == SCR_ERR_NOT_FOUND && records_same_desc(&d, &back) && complete == 7);
  CHECK_INT(scr_summary_write(path, &d), SCR_SUCCESS);
  memset(&back, 'x', sizeof back);
  CHECK(scr_summary_read(path, &back, &complete) == SCR_SUCCESS && complete == 1 && records_same_desc(&d, &back));
  CHECK_INT(scr_hash_file_read(path, h), SCR_SUCCESS);
  scr_hash_util_set_int(h, "COMPLETE", 0);
  CHECK_INT(scr_hash_file_write(path, h), SCR_SUCCESS);
  CHECK(scr_summary_read(path, &back, &complete) == SCR_SUCCESS && complete == 0);
  for (i = 0; i < 2; i++) {
    CHECK(scr_summary_read(old[i], &back, &complete) == SCR_SUCCESS && complete == 1);
    CHECK(back.identity.id == 3 && back.identity.created != 0 && scr_desc_is_ckpt(&back));
    CHECK_STR(back.name, "ckpt.3");
  }

  complete = 7;
  scr_hash_util_set_str(h, "VERSION", "5");
  CHECK_INT(scr_hash_file_write(path, h), SCR_SUCCESS);
  CHECK(scr_summary_read(path, &back, &complete) == SCR_ERR_FORMAT && strstr(scr_err_text, "version 5") != NULL);
  scr_hash_unset_all(h);
  scr_hash_set_kv(h, "VERSION", "6");
  scr_hash_set_kv(h, "COMPLETE", "1");
  CHECK_INT(scr_hash_file_write(path, h), SCR_SUCCESS);
  CHECK(scr_summary_read(path, &back, &complete) == SCR_ERR_FORMAT && strstr(scr_err_text, path) != NULL);
  CHECK(complete == 7 && back.identity.id == 3); /* as they were */
  scr_hash_delete(&h);
  CHECK_INT(scr_summary_write("/nonexistent/summary.scr", &d), SCR_ERR_IO);
}

/* ---- paths below the prefix ---- */

static void a_path_that_leads_out_of_the_prefix_is_refused(void)
{
  char rel[SCR_MAX_FILENAME], text[3 * SCR_MAX_FILENAME];

  CHECK(scr_prefix_rel("/p", "ckpt.3", "a/b", rel, sizeof rel) == SCR_SUCCESS && strcmp(rel, "ckpt.3/a/b") == 0);
  CHECK(scr_prefix_rel("/p", "", "a", rel, sizeof rel) == SCR_SUCCESS && strcmp(rel, "a") == 0);
  CHECK(scr_prefix_rel("/p", "run/3", "../../out/x", rel, sizeof rel) == SCR_SUCCESS && strcmp(rel, "out/x") == 0);
  CHECK(scr_prefix_rel("/p", "run/3", ".././3//x", rel, sizeof rel) == SCR_SUCCESS && strcmp(rel, "run/3/x") == 0);
  CHECK_INT(scr_prefix_rel("/p", "run", "../../x", rel, sizeof rel), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "../../x") != NULL && strstr(scr_err_text, "/p") != NULL);
  CHECK_INT(scr_prefix_rel("/p", "run", "../../p2/x", rel, sizeof rel), SCR_ERR_FORMAT);
  CHECK_INT(scr_prefix_rel("/p", "run", "..", rel, sizeof rel), SCR_ERR_FORMAT); /* the prefix itself */
  CHECK_INT(scr_prefix_rel("/p", "", "", rel, sizeof rel), SCR_ERR_FORMAT);
  CHECK_INT(scr_prefix_rel("/p", "run", "/p/run/x", rel, sizeof rel), SCR_ERR_FORMAT);
  memset(text, 'n', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  CHECK_INT(scr_prefix_rel("/p", "run", text, rel, sizeof rel), SCR_ERR_PATH);
  text[SCR_MAX_FILENAME - 3] = '\0';
  CHECK(scr_prefix_rel("/p", "", text, rel, sizeof rel) == SCR_ERR_PATH || strlen(rel) == SCR_MAX_FILENAME - 3);
}

static void a_dataset_of_release_1_2_is_found_in_its_place(void)
{
  scr_prefix_place p;

  records_begin();
  CHECK_INT(scr_prefix_locate(records_prefix, 3, "ckpt.3", &p), SCR_SUCCESS); /* nothing there: today's form */
  CHECK(strcmp(p.meta, "ckpt.3/.scr") == 0 && strcmp(p.base, "ckpt.3") == 0);
  records_put(".scr/scr.dataset.3/summary.scr", "x");
  CHECK_INT(scr_prefix_locate(records_prefix, 3, "ckpt.3", &p), SCR_SUCCESS);
  CHECK(strcmp(p.meta, ".scr/scr.dataset.3") == 0 && strcmp(p.base, "") == 0);
  records_put("ckpt.3/.scr/summary.scr", "x");
  CHECK_INT(scr_prefix_locate(records_prefix, 3, "ckpt.3", &p), SCR_SUCCESS);
  CHECK(strcmp(p.meta, "ckpt.3/.scr") == 0 && strcmp(p.base, "ckpt.3") == 0);
}

/* ---- objects ---- */

/* Add to L the object REL of OWNER, and write TEXT to its temporary file. */
static scr_object* objects_add(scr_objects* l, int owner, const char* rel, const char* text)
{
  scr_object* o = scr_objects_add(l, owner, rel);
  char        path[SCR_MAX_FILENAME];

  if (o == NULL) return NULL;
  o->size = strlen(text);
  o->has_crc = 1;
  o->crc = scr_crc32(SCR_CRC32_START, text, strlen(text));
  CHECK_INT(scr_object_name_tmp(o, records_prefix, l->id, l->n - 1), SCR_SUCCESS);
  CHECK_INT(scr_object_path(o, records_prefix, l->id, 1, path, sizeof path), SCR_SUCCESS);
  records_put(path + strlen(records_prefix) + 1, text);
  return o;
}

static void objects_new(scr_objects* l, int id)
{
  memset(l, 0, sizeof *l);
  l->id = id;
}

static void the_temporary_name_stands_beside_the_final_one(void)
{
  scr_objects l;
  scr_object* o;
  char        path[SCR_MAX_FILENAME], name[2 * SCR_NAME_BYTES_MAX], want[SCR_MAX_FILENAME];
  size_t      suffix = strlen(".scr12.tmp");

  records_begin();
  objects_new(&l, 12);
  o = scr_objects_add(&l, 3, "ckpt/a");
  CHECK(scr_object_name_tmp(o, "/p", 12, 0) == SCR_SUCCESS && o->tmp == NULL);
  CHECK(scr_object_path(o, "/p", 12, 1, path, sizeof path) == SCR_SUCCESS && strcmp(path, "/p/ckpt/a.scr12.tmp") == 0);
  CHECK(scr_object_path(o, "/p", 12, 0, path, sizeof path) == SCR_SUCCESS && strcmp(path, "/p/ckpt/a") == 0);

  memset(name, 'n', sizeof name); /* at the limit of a name */
  snprintf(path, sizeof path, "d/%.*s", (int)(SCR_NAME_BYTES_MAX - suffix), name);
  o = scr_objects_add(&l, 3, path);
  CHECK(scr_object_name_tmp(o, "/p", 12, 1) == SCR_SUCCESS && o->tmp == NULL);
  snprintf(path, sizeof path, "d/%.*s", (int)(SCR_NAME_BYTES_MAX - suffix + 1), name); /* and above it */
  o = scr_objects_add(&l, 3, path);
  CHECK_INT(scr_object_name_tmp(o, "/p", 12, 2), SCR_SUCCESS);
  CHECK_STR(o->tmp, ".scr12.3.2.tmp");
  CHECK(scr_object_path(o, "/p", 12, 1, path, sizeof path) == SCR_SUCCESS && strcmp(path, "/p/d/.scr12.3.2.tmp") == 0);
  o = scr_objects_add(&l, 3, path + strlen("/p/d/"));
  o->tmp = scr_strdup(".scr12.3.2.tmp"); /* in the prefix itself */
  CHECK(scr_object_path(o, "/p", 12, 1, path, sizeof path) == SCR_SUCCESS && strcmp(path, "/p/.scr12.3.2.tmp") == 0);

  memset(want, 'w', sizeof want); /* no name is too long, but the path is */
  for (suffix = 100; suffix < sizeof want; suffix += 101) want[suffix] = '/';
  want[SCR_MAX_FILENAME - 8] = '\0';
  o = scr_objects_add(&l, 3, want);
  CHECK(scr_object_name_tmp(o, "/p", 12, 4) == SCR_SUCCESS && o->tmp != NULL);
  CHECK(scr_object_path(o, "/p", 12, 0, path, sizeof path) == SCR_SUCCESS && strlen(path) == SCR_MAX_FILENAME - 5);
  CHECK(scr_object_path(o, "/a/longer/prefix", 12, 0, path, sizeof path) == SCR_ERR_PATH);
  scr_objects_free(&l);
  CHECK(l.n == 0 && l.object == NULL && l.owner == NULL && l.owners == 0);
}

static void objects_take_their_names(void)
{
  scr_objects l;

  records_begin();
  objects_new(&l, 5);
  objects_add(&l, 0, "run/5/a", "text of a");
  objects_add(&l, 0, "run/5/sub/b", "");
  objects_add(&l, 1, "c", "text of c");
  records_put("run/5/a", "an older one");
  CHECK_INT(scr_objects_rename(&l, records_prefix, 1), SCR_SUCCESS);
  CHECK_STR(records_text("run/5/a"), "text of a");
  CHECK_STR(records_text("run/5/sub/b"), "");
  CHECK_STR(records_text("c"), "text of c");
  CHECK_STR(records_text("c.scr5.tmp"), "-");
  check_fault(FAULT_COUNT, 0, 0);
  CHECK_INT(scr_objects_rename(&l, records_prefix, 1), SCR_SUCCESS); /* once more: they have them already, */
  check_fault_end();
  CHECK_INT(fault_seen(FAULT_FSYNC),
            3); /* but perhaps not durably: the process that renamed them may have been killed */

  records_put("run/5/a", "text of A"); /* of this size, but not this file */
  CHECK(scr_objects_rename(&l, records_prefix, 1) == SCR_ERR_CRC && strstr(scr_err_text, "run/5/a") != NULL);
  records_put("run/5/a", "text");
  CHECK_INT(scr_objects_rename(&l, records_prefix, 1), SCR_ERR_MISSING);
  unlink(records_at("run/5/a"));
  CHECK_INT(scr_objects_rename(&l, records_prefix, 1), SCR_ERR_MISSING);
  records_put("run/5/a", "text of A");
  l.object[0].has_crc = 0; /* no checksum: the size must do */
  CHECK_INT(scr_objects_rename(&l, records_prefix, 1), SCR_SUCCESS);
  scr_objects_free(&l);
}

static void objects_are_removed_deleted_and_pruned(void)
{
  scr_objects l;

  records_begin();
  objects_new(&l, 5);
  objects_add(&l, 0, "run/5/a", "a");
  objects_add(&l, 0, "run/5/sub/b", "b");
  objects_add(&l, 1, "c", "c");
  records_put("run/5/a", "older");
  records_put("run/keep", "of another");
  scr_objects_remove_tmp(&l, records_prefix);
  scr_objects_remove_tmp(&l, records_prefix); /* gone already */
  CHECK_STR(records_text("run/5/a.scr5.tmp"), "-");
  CHECK_STR(records_text("c.scr5.tmp"), "-");
  CHECK_STR(records_text("run/5/a"), "older");
  records_put("run/5/sub/b", "b");
  CHECK_INT(scr_objects_delete(&l, records_prefix), SCR_SUCCESS); /* what is not there is no error */
  CHECK_STR(records_text("run/5/a"), "-");
  CHECK(access(records_at("run/5/sub"), F_OK) == 0);
  scr_objects_prune(&l, records_prefix);
  CHECK(access(records_at("run/5"), F_OK) < 0 && access(records_prefix, F_OK) == 0);
  CHECK_STR(records_text("run/keep"), "of another");
  CHECK_INT(mkdir(records_at("c"), 0700), 0);
  CHECK(scr_objects_delete(&l, records_prefix) != SCR_SUCCESS && strstr(scr_err_text, "/c") != NULL);
  scr_objects_free(&l);
}

/* ---- rank2file ---- */

static int objects_same(const scr_objects* a, const scr_objects* b)
{
  int i, same = a->n == b->n && a->owners == b->owners;

  for (i = 0; same && i < a->owners; i++) same = a->owner[i] == b->owner[i];
  for (i = 0; same && i < a->n; i++) {
    const scr_object *x = &a->object[i], *y = &b->object[i];
    same = strcmp(x->rel, y->rel) == 0 && records_same_text(x->tmp, y->tmp) && x->owner == y->owner &&
           x->size == y->size && x->has_crc == y->has_crc && (!x->has_crc || x->crc == y->crc) &&
           x->redundant == y->redundant;
  }
  return same;
}

/* The objects of owners 0, 1 (of which 1 has none) and 2 of the dataset in run/5. */
static void objects_example(scr_objects* l)
{
  scr_object* o;

  objects_new(l, 5);
  scr_objects_add_owner(l, 0);
  scr_objects_add_owner(l, 1);
  scr_objects_add_owner(l, INT_MAX);
  objects_add(l, 0, "run/5/a", "text of a");
  objects_add(l, 0, "run/5/sub/b", "");
  objects_add(l, 0, "elsewhere/c", "text of c"); /* outside of the dataset's directory */
  o = objects_add(l, INT_MAX, "run/5/d", "text of d");
  if (o != NULL) o->has_crc = 0;
  o = objects_add(l, INT_MAX, "run/5/.scr/1_of_2.xor", "parity");
  if (o != NULL) o->redundant = 1;
}

/* Write the rank2file of the objects L of the dataset in DIR as two leaves would be, but in one; the first error. */
static int objects_write(const scr_objects* l, const char* dir)
{
  scr_hash*     body = scr_hash_new();
  scr_rank2file map;
  scr_desc      d;
  char          file[SCR_MAX_FILENAME];
  int           ranks = 0, rc = scr_objects_to_hash(l, records_prefix, dir, body);

  memset(&map, 0, sizeof map);
  records_desc(&d, l->id, dir, SCR_FLAG_CHECKPOINT);
  map.level = 1;
  map.identity = d.identity;
  if (rc == SCR_SUCCESS)
    rc = scr_rank2file_write_leaf(records_prefix, dir, &d.identity, 0, "", body, &ranks, file, sizeof file);
  map.ranks = ranks;
  if (rc == SCR_SUCCESS) rc = scr_rank2file_add(&map, 0, file);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_write_root(records_prefix, dir, &map, "");
  scr_rank2file_free(&map);
  scr_hash_delete(&body);
  return rc;
}

/* Read the whole map of dataset ID in DIR into L; the first error. */
static int objects_read(scr_objects* l, int id, const char* dir)
{
  scr_prefix_place place;
  scr_rank2file    map;
  int              i, rc = scr_prefix_locate(records_prefix, id, dir, &place);

  objects_new(l, id);
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_rank2file_read_root(records_prefix, &place, &map);
  for (i = 0; i < map.n && rc == SCR_SUCCESS; i++)
    rc = scr_rank2file_read_leaf(records_prefix, &place, NULL, map.file[i], l);
  scr_rank2file_free(&map);
  return rc;
}

static void objects_come_back_from_a_rank2file_map(void)
{
  scr_objects      l, back;
  scr_rank2file    map, root;
  scr_prefix_place place;
  char             longest[SCR_MAX_FILENAME];
  int              i;

  records_begin();
  objects_example(&l);
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
  CHECK_INT(objects_write(&l, "run/5"), SCR_SUCCESS);
  CHECK_INT(objects_read(&back, 5, "run/5"), SCR_SUCCESS);
  CHECK(objects_same(&l, &back));
  scr_objects_free(&back);
  l.object[0].size = UINT64_MAX;
  l.object[0].crc = 0xffffffffu;
  scr_free(&l.object[0].tmp);
  l.object[0].tmp = scr_strdup(".scr5.0.0.tmp");
  CHECK_INT(objects_write(&l, "run/5"), SCR_SUCCESS);
  CHECK_INT(objects_read(&back, 5, "run/5"), SCR_SUCCESS);
  CHECK(objects_same(&l, &back));
  scr_objects_free(&back);
  scr_objects_free(&l);
  CHECK_INT(objects_write(&l, "run/5"), SCR_SUCCESS); /* nobody has a file */
  CHECK_INT(objects_read(&back, 5, "run/5"), SCR_SUCCESS);
  CHECK(back.n == 0 && back.owners == 0);
  scr_objects_free(&back);

  memset(&map, 0, sizeof map); /* a root of many leaves */
  map.ranks = INT_MAX;
  map.level = 1;
  map.identity.id = 5;
  map.identity.created = INT64_MAX;
  map.identity.nonce = UINT64_MAX;
  memset(longest, 'f', sizeof longest);
  for (i = 0; i < 100; i++) {
    longest[i * 10 + 1] = '\0';
    CHECK_INT(scr_rank2file_add(&map, i * 1000, longest), SCR_SUCCESS);
    longest[i * 10 + 1] = 'f';
  }
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_write_root(records_prefix, "run/5", &map, ""), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read_root(records_prefix, &place, &root), SCR_SUCCESS);
  CHECK(root.ranks == INT_MAX && root.n == 100 && scr_identity_cmp(&root.identity, &map.identity) == 0);
  for (i = 0; i < 100 && root.n == 100; i++) CHECK(root.rank[i] == i * 1000 && strcmp(root.file[i], map.file[i]) == 0);
  scr_rank2file_free(&map);
  scr_rank2file_free(&root);
}

/* Make the map of dataset 3, of the files ROOT and LEAF, in the place of release 1.2. */
static void rank2file_of_release(const char* root, const char* leaf, const char* leaf_name, scr_rank2file* map)
{
  scr_prefix_place place;

  records_begin();
  records_put(".scr/scr.dataset.3/summary.scr", "x");
  records_copy(root, records_path("scr.dataset.3/rank2file.scr"));
  CHECK_INT(scr_prefix_locate(records_prefix, 3, "ckpt.3", &place), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read_root(records_prefix, &place, map), SCR_SUCCESS);
  CHECK(map->ranks == 4 && map->n == 1 && map->rank[0] == 0 && map->identity.id == 0);
  CHECK_STR(map->n == 1 ? map->file[0] : "", leaf_name);
  records_copy(leaf, records_at(leaf_name));
}

static void the_rank2file_of_two_earlier_releases_is_read(void)
{
  scr_rank2file map;
  scr_objects   l;
  char          rel[64];
  int           i;

  rank2file_of_release(CHECK_DATA "/scr-1.2.2/rank2file.scr", CHECK_DATA "/scr-1.2.2/rank2file.0.0.scr",
                       ".scr/scr.dataset.3/rank2file.0.0.scr", &map);
  scr_rank2file_free(&map);
  CHECK_INT(objects_read(&l, 3, "ckpt.3"), SCR_SUCCESS);
  CHECK(l.n == 4 && l.owners == 4);
  for (i = 0; i < l.n; i++) {
    const scr_object* o = &l.object[i];
    snprintf(rel, sizeof rel, "ckpt.3/rank_%d.ckpt", o->owner);
    CHECK_STR(o->rel, rel);
    CHECK(o->tmp == NULL && !o->redundant && o->has_crc && o->size == 524295u + (unsigned)o->owner);
    if (o->owner == 3) CHECK(o->crc == 0xeed2b0ecu);
  }
  scr_objects_free(&l);
  unlink(records_path("scr.dataset.3/rank2file.0.0.scr"));
  CHECK(objects_read(&l, 3, "ckpt.3") == SCR_ERR_MISSING &&
        strstr(scr_err_text, "rank2file.0.0.scr is missing") != NULL);
  scr_objects_free(&l);

  /* release 3.1 names leaves by their suffix, and keeps no sizes: they are those of the files */
  rank2file_of_release(CHECK_DATA "/scr-3.1/rank2file", CHECK_DATA "/scr-3.1/rank2file.0.0", ".0.0", &map);
  scr_rank2file_free(&map);
  CHECK_INT(rename(records_path("scr.dataset.3/rank2file.scr"), records_at(".scr/scr.dataset.3/rank2file")), 0);
  CHECK_INT(rename(records_path("../.0.0"), records_at(".scr/scr.dataset.3/rank2file.0.0")), 0);
  CHECK(objects_read(&l, 3, "ckpt.3") == SCR_ERR_MISSING && strstr(scr_err_text, "ckpt.3/rank_") != NULL);
  scr_objects_free(&l);
  for (i = 0; i < 4; i++) {
    snprintf(rel, sizeof rel, "ckpt.3/rank_%d.ckpt", i);
    records_put(rel, "12345");
  }
  CHECK_INT(objects_read(&l, 3, "ckpt.3"), SCR_SUCCESS);
  CHECK(l.n == 4 && l.object[0].size == 5 && !l.object[0].has_crc);
  scr_objects_free(&l);
}

static void a_node_that_is_no_rank2file_is_refused(void)
{
  static const char* const bad[][2] = {{"LEVEL", NULL}, {"RANKS", NULL}, {"LEVEL", "0"},   {"LEVEL", "99"},
                                       {"LEVEL", "-1"}, {"RANKS", "-4"}, {"RANKS", "four"}};
  scr_prefix_place         place;
  scr_rank2file            map;
  scr_hash*                h = scr_hash_new();
  size_t                   i;

  records_begin();
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read_root(records_prefix, &place, &map), SCR_ERR_MISSING);
  CHECK(strstr(scr_err_text, "run/5/.scr/rank2file.scr") != NULL && map.n == 0);
  scr_rank2file_free(&map);
  for (i = 0; i <= sizeof bad / sizeof *bad; i++) {
    scr_hash* inner = scr_hash_new();
    int       wrong = i < sizeof bad / sizeof *bad;
    scr_hash_unset_all(h);
    scr_hash_util_set_int(inner, "LEVEL", 1);
    scr_hash_util_set_int(inner, "RANKS", 4);
    scr_hash_setf(inner, NULL, "%s %d %s %s", "RANK", 2, "FILE", "leaf");
    if (wrong && bad[i][1] == NULL) scr_hash_unset(inner, bad[i][0]);
    else if (wrong) scr_hash_util_set_str(inner, bad[i][0], bad[i][1]);
    scr_hash_set(h, "RANK2FILE", inner); /* some writers put this key around it */
    CHECK_INT(scr_hash_file_write(records_at("run/5/.scr/rank2file.scr"), h), SCR_SUCCESS);
    CHECK_INT(scr_rank2file_read_root(records_prefix, &place, &map), wrong ? SCR_ERR_FORMAT : SCR_SUCCESS);
    CHECK_INT(map.n, wrong ? 0 : 1);
    if (!wrong) CHECK(map.rank[0] == 2 && map.ranks == 4 && strcmp(map.file[0], "leaf") == 0);
    scr_rank2file_free(&map);
  }
  scr_hash_delete(&h);
}

/* Make a leaf with one file, of which KEY is VALUE, and read it; the code. */
static int objects_read_odd(const char* file, const char* key, const char* value)
{
  scr_prefix_place place;
  scr_objects      l;
  scr_hash*        h = scr_hash_new();
  scr_hash*        f;
  int              rc;

  objects_new(&l, 5);
  scr_hash_util_set_int(h, "LEVEL", 0);
  scr_hash_util_set_int(h, "RANKS", 4);
  f = scr_hash_setf(h, NULL, "%s %s %s %s", "RANK", "7", "FILE", file);
  scr_hash_util_set_int(f, "SIZE", 3);
  if (key != NULL && value != NULL) scr_hash_util_set_str(f, key, value);
  else if (key != NULL) scr_hash_unset(f, key);
  CHECK_INT(scr_hash_file_write(records_at("run/5/.scr/leaf"), h), SCR_SUCCESS);
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  rc = scr_rank2file_read_leaf(records_prefix, &place, NULL, ".scr/leaf", &l);
  if (rc == SCR_SUCCESS) CHECK(l.n == 1 && l.object[0].owner == 7 && l.object[0].size == 3 && !l.object[0].has_crc);
  scr_objects_free(&l);
  scr_hash_delete(&h);
  return rc;
}

static void a_leaf_of_another_dataset_is_refused(void)
{
  static const scr_identity of = {5, 1600000000000000, 77}, other = {5, 1600000000000000, 78};
  scr_prefix_place          place;
  scr_objects               l;
  scr_hash*                 body = scr_hash_new();
  char                      file[64];
  int                       ranks;

  objects_new(&l, 5);
  CHECK_INT(scr_rank2file_write_leaf(records_prefix, "run/5", &of, 3, "", body, &ranks, file, sizeof file),
            SCR_SUCCESS);
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read_leaf(records_prefix, &place, &of, file, &l), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read_leaf(records_prefix, &place, &other, file, &l), SCR_ERR_FORMAT);
  CHECK_INT(scr_rank2file_read_leaf(records_prefix, &place, NULL, file, &l), SCR_SUCCESS);
  scr_objects_free(&l);
  scr_hash_delete(&body);
}

static void a_leaf_that_names_what_is_not_the_datasets_is_refused(void)
{
  scr_prefix_place place;
  scr_objects      l;

  records_begin();
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
  CHECK_INT(objects_read_odd("a", NULL, NULL), SCR_SUCCESS);
  CHECK_INT(objects_read_odd("../../a", NULL, NULL), SCR_SUCCESS); /* still below the prefix */
  CHECK_INT(objects_read_odd("../../../a", NULL, NULL), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "../../../a") != NULL && strstr(scr_err_text, records_prefix) != NULL);
  CHECK_INT(objects_read_odd("/etc/passwd", NULL, NULL), SCR_ERR_FORMAT);
  CHECK_INT(objects_read_odd("../..", NULL, NULL), SCR_ERR_FORMAT);
  CHECK_INT(objects_read_odd("a", "SIZE", NULL), SCR_ERR_MISSING); /* its size would be that of the file */
  CHECK_INT(objects_read_odd("a", "SIZE", "-3"), SCR_ERR_FORMAT);
  CHECK_INT(objects_read_odd("a", "TMP", ".scr5.7.0.tmp"), SCR_SUCCESS);
  CHECK_INT(objects_read_odd("a", "TMP", "b"), SCR_ERR_FORMAT);
  CHECK_INT(objects_read_odd("a", "TMP", ".scr/../../b"), SCR_ERR_FORMAT);
  CHECK_INT(objects_read_odd("a", "TMP", ".scr"), SCR_ERR_FORMAT); /* the directory of all metadata */
  CHECK_INT(objects_read_odd("a", "CRC", "none"), SCR_SUCCESS);

  objects_new(&l, 5);
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read_leaf(records_prefix, &place, NULL, "../../../leaf", &l), SCR_ERR_FORMAT);
  CHECK_INT(scr_rank2file_read_leaf(records_prefix, &place, NULL, "/etc/passwd", &l), SCR_ERR_FORMAT);
  CHECK(scr_rank2file_read_leaf(records_prefix, &place, NULL, "", &l) != SCR_SUCCESS && l.n == 0);
  scr_objects_free(&l);
}

/* Whatever a leaf holds: its objects lie below the prefix, and can be written and read again. */
static void objects_try(const char* path)
{
  scr_prefix_place place;
  scr_objects      l, back;
  scr_hash*        h = scr_hash_new();
  int              i, rc;

  (void)path;
  objects_new(&l, 5);
  objects_new(&back, 5);
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  rc = scr_rank2file_read_leaf(records_prefix, &place, NULL, ".scr/rank2file.0.0.scr", &l);
  CHECK(rc == SCR_SUCCESS ||
        ((rc == SCR_ERR_FORMAT || rc == SCR_ERR_PATH || rc == SCR_ERR_MISSING) && *scr_err_text != '\0'));
  for (i = 0; i < l.n; i++) {
    CHECK(scr_path_is_safe_rel(l.object[i].rel) && l.object[i].owner >= 0);
    CHECK(l.object[i].tmp == NULL || strchr(l.object[i].tmp, '/') == NULL);
  }
  for (i = 0; i < l.owners; i++) CHECK(l.owner[i] >= 0);
  if (rc == SCR_SUCCESS) rc = scr_objects_to_hash(&l, records_prefix, "run/5", h);
  if (rc == SCR_SUCCESS) rc = scr_objects_from_hash(h, records_prefix, "run/5", &back);
  CHECK(rc != SCR_SUCCESS || back.n <= l.n); /* two spellings of one path become one */
  scr_hash_delete(&h);
  scr_objects_free(&l);
  scr_objects_free(&back);
}

static void roots_try(const char* path)
{
  scr_prefix_place place;
  scr_rank2file    map;
  scr_objects      l;
  int              i, rc;

  (void)path;
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  rc = scr_rank2file_read_root(records_prefix, &place, &map);
  CHECK(rc == SCR_SUCCESS || (rc == SCR_ERR_FORMAT && *scr_err_text != '\0'));
  for (i = 0; i < map.n; i++) {
    objects_new(&l, 5);
    CHECK(map.rank[i] >= 0 && map.file[i] != NULL);
    scr_rank2file_read_leaf(records_prefix, &place, NULL, map.file[i], &l);
    scr_objects_free(&l);
  }
  scr_rank2file_free(&map);
}

static void a_hostile_rank2file_does_no_harm(void)
{
  scr_objects l;
  scr_hash*   h = scr_hash_new();
  char        path[2 * SCR_MAX_FILENAME];

  records_begin();
  objects_example(&l);
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
  CHECK_INT(objects_write(&l, "run/5"), SCR_SUCCESS);
  CHECK_INT(scr_hash_file_read(records_at("run/5/.scr/rank2file.0.0.scr"), h), SCR_SUCCESS);
  snprintf(path, sizeof path, "%s", records_at("run/5/.scr/rank2file.0.0.scr"));
  records_fuzz(h, path, 2000, objects_try);
  CHECK_INT(objects_write(&l, "run/5"), SCR_SUCCESS);
  scr_hash_unset_all(h);
  CHECK_INT(scr_hash_file_read(records_at("run/5/.scr/rank2file.scr"), h), SCR_SUCCESS);
  snprintf(path, sizeof path, "%s", records_at("run/5/.scr/rank2file.scr"));
  records_fuzz(h, path, 1000, roots_try);
  scr_hash_delete(&h);
  scr_objects_free(&l);
}

/* Write summary and map of a dataset in run/5, and read them again; the first error. */
static int objects_story(const char* arg)
{
  scr_objects l, back;
  scr_desc    d;
  int         complete, rc;

  (void)arg;
  objects_new(&l, 5);
  objects_new(&back, 5);
  scr_objects_add_owner(&l, 1);
  if (scr_objects_add(&l, 0, "run/5/a") != NULL) {
    l.object[0].size = 4;
    l.object[0].tmp = scr_strdup(".scr5.0.0.tmp");
  }
  scr_objects_add(&l, 1, "elsewhere/b");
  records_desc(&d, 5, "five", SCR_FLAG_CHECKPOINT);
  rc = scr_oom ? SCR_ERR_OOM() : objects_write(&l, "run/5");
  if (rc == SCR_SUCCESS) rc = scr_summary_write(records_at("run/5/.scr/summary.scr"), &d);
  if (rc == SCR_SUCCESS) rc = objects_read(&back, 5, "run/5");
  if (rc == SCR_SUCCESS)
    CHECK(back.n == 2 && back.owners == 2 && records_same_text(back.object[1].tmp, ".scr5.0.0.tmp"));
  if (rc == SCR_SUCCESS) rc = scr_summary_read(records_at("run/5/.scr/summary.scr"), &d, &complete);
  scr_objects_free(&l);
  scr_objects_free(&back);
  return rc;
}

/* Whatever failed, each file of the metadata that is there is whole. */
static void objects_judge(int rc)
{
  static const char* const names[] = {"summary.scr", "rank2file.scr", "rank2file.0.0.scr"};
  scr_hash*                h;
  size_t                   i;
  int                      got;

  for (i = 0; i < sizeof names / sizeof *names; i++) {
    h = scr_hash_new();
    got = scr_hash_file_read(records_below("run/5/.scr/", names[i]), h);
    CHECK(got == SCR_SUCCESS || (got == SCR_ERR_NOT_FOUND && rc != SCR_SUCCESS));
    scr_hash_delete(&h);
  }
  nftw(records_at("run/5/.scr"), check_remove, 16, FTW_DEPTH | FTW_PHYS);
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
}

static void a_failure_leaves_no_half_a_map_and_no_half_a_summary(void)
{
  records_begin();
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
  CHECK(records_alloc_sweep(objects_story, NULL, objects_judge) > 100);
  CHECK(records_fault_sweep(FAULT_FAIL, EIO, objects_story, NULL, objects_judge) > 30);
  records_fault_sweep(FAULT_TORN, ENOSPC, objects_story, NULL, objects_judge);
}

/* ---- a dataset on the prefix ---- */

/* Put dataset ID with the files A and B into DIR, as a flush that was killed before its renames leaves it. */
static void prefix_killed_with(int id, const char* dir, const char* a, const char* b)
{
  scr_index   index;
  scr_objects l;
  scr_desc    d;
  char        rel[SCR_MAX_FILENAME];

  objects_new(&l, id);
  scr_objects_add_owner(&l, 0);
  objects_add(&l, 0, a, "text of a");
  objects_add(&l, 0, b, "text of b");
  snprintf(rel, sizeof rel, "%s/.scr", dir);
  CHECK_INT(scr_mkdirs(records_at(rel), 0700), SCR_SUCCESS);
  CHECK_INT(objects_write(&l, dir), SCR_SUCCESS);
  records_desc(&d, id, dir, SCR_FLAG_CHECKPOINT);
  snprintf(rel, sizeof rel, "%s/.scr/summary.scr", dir);
  CHECK_INT(scr_summary_write(records_at(rel), &d), SCR_SUCCESS);
  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  CHECK_INT(scr_index_set(&index, &d, dir), SCR_SUCCESS);
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_SUCCESS);
  scr_objects_free(&l);
}

static void prefix_killed(int id, const char* dir)
{
  char a[SCR_MAX_FILENAME], b[SCR_MAX_FILENAME];

  snprintf(a, sizeof a, "%s/a", dir);
  snprintf(b, sizeof b, "%s/b", dir);
  prefix_killed_with(id, dir, a, b);
}

/* 1 when both files of the dataset in DIR have their names. */
static int prefix_has_files(const char* dir)
{
  char a[SCR_MAX_FILENAME], b[SCR_MAX_FILENAME];

  snprintf(a, sizeof a, "%s/a", dir);
  snprintf(b, sizeof b, "%s/b", dir);
  return strcmp(records_text(a), "text of a") == 0 && strcmp(records_text(b), "text of b") == 0;
}

static void one_dataset_whose_renames_fail_does_not_keep_back_another(void)
{
  scr_index      index;
  scr_index_item it;

  records_begin();
  CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_SUCCESS); /* nothing to do */
  prefix_killed(5, "five");
  prefix_killed(6, "six");
  prefix_killed(7, "seven");
  CHECK_INT(rename(records_at("six/a.scr6.tmp"), records_at("six/a")), 0); /* so far it came */
  unlink(records_at("five/b.scr5.tmp"));
  unlink(records_at("seven/.scr/rank2file.0.0.scr"));
  CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_ERR_MISSING);
  CHECK(strstr(scr_err_text, "five/b is missing") != NULL); /* the first error counts */
  CHECK(prefix_has_files("six") && !prefix_has_files("five"));
  CHECK_INT(index_read(&index), SCR_SUCCESS);
  CHECK(index_is_good(&index, 6, "six") && !index_is_good(&index, 5, "five") && !index_is_good(&index, 7, "seven"));
  CHECK(scr_index_get(&index, 5, "five", &it) && it.renaming && !it.failed && it.complete);
  CHECK_STR(index_current(&index), "6 six");
  scr_index_close(&index, SCR_SUCCESS, 0);

  records_put("five/b", "text of b"); /* it comes back */
  CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_ERR_MISSING);
  CHECK(strstr(scr_err_text, "rank2file.0.0.scr") != NULL && prefix_has_files("five"));
  CHECK_INT(index_read(&index), SCR_SUCCESS);
  CHECK(index_is_good(&index, 5, "five") && scr_index_has_renames(&index));
  CHECK_STR(index_current(&index), "6 six");
  scr_index_close(&index, SCR_SUCCESS, 0);
}

/* Who can write to the index of a prefix may have none of the rights that another prefix below it asks for. */
static void a_deletion_does_not_reach_into_another_prefix(void)
{
  scr_index index;
  int       other;

  for (other = 1; other >= 0; other--) {
    records_begin();
    prefix_killed(5, "mine/five");
    CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_SUCCESS);
    CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
    scr_index_begin_deletion(&index, 5, "mine/five");
    CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_SUCCESS);
    if (other) records_put("mine/.scr/index.scr", "of mine");
    CHECK_INT(scr_prefix_finish_all(records_prefix), other ? SCR_ERR_UNSAFE : SCR_SUCCESS);
    CHECK_INT(prefix_has_files("mine/five"), other);
    CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_SUCCESS); /* it is told once */
    CHECK_INT(prefix_has_files("mine/five"), other);
  }
}

static int prefix_story(const char* prefix)
{
  return scr_prefix_finish_all(prefix);
}

/* After any failure the next run finishes the flush. */
static void prefix_judge(int rc)
{
  scr_index index;

  CHECK(index_read(&index) == SCR_SUCCESS);
  CHECK(index_is_good(&index, 5, "five") ? prefix_has_files("five") : rc != SCR_SUCCESS);
  scr_index_close(&index, SCR_SUCCESS, 0);
  CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_SUCCESS);
  CHECK(prefix_has_files("five") && records_unlocked("index.scr"));
  CHECK(index_read(&index) == SCR_SUCCESS && index_is_good(&index, 5, "five"));
  CHECK_STR(index_current(&index), "5 five");
  scr_index_close(&index, SCR_SUCCESS, 0);
  nftw(records_at("five"), check_remove, 16, FTW_DEPTH | FTW_PHYS);
  unlink(records_path("index.scr"));
  prefix_killed(5, "five");
}

static void a_flush_that_was_killed_is_finished_whatever_fails(void)
{
  int n;

  records_begin();
  prefix_killed(5, "five");
  CHECK(records_alloc_sweep(prefix_story, records_prefix, prefix_judge) > 200);
  CHECK(records_fault_sweep(FAULT_FAIL, EIO, prefix_story, records_prefix, prefix_judge) > 25);
  records_fault_sweep(FAULT_DEAD, EIO, prefix_story, records_prefix, prefix_judge);
  records_fault_sweep(FAULT_TORN, ENOSPC, prefix_story, records_prefix, prefix_judge);
  for (n = 1; check_fault_kill(n, prefix_story, records_prefix); n++) prefix_judge(SCR_ERR_IO);
  CHECK(n > 30);
}

static void what_is_forgotten_leaves_the_files_of_the_application(void)
{
  records_begin();
  prefix_killed(5, "five");
  CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_SUCCESS);
  records_put("five/.scr/ours.txt", "kept");
  scr_prefix_forget(records_prefix, 5, "five");
  CHECK(access(records_at("five/.scr/summary.scr"), F_OK) < 0 &&
        access(records_at("five/.scr/rank2file.scr"), F_OK) < 0);
  CHECK(access(records_at("five/.scr/rank2file.0.0.scr"), F_OK) < 0 && prefix_has_files("five"));
  CHECK_STR(records_text("five/.scr/ours.txt"), "kept");
  unlink(records_at("five/.scr/ours.txt"));
  scr_prefix_forget(records_prefix, 5, "five");
  CHECK(access(records_at("five/.scr"), F_OK) < 0 && prefix_has_files("five"));
  unlink(records_at("five/a"));
  unlink(records_at("five/b"));
  scr_prefix_forget(records_prefix, 5, "five");
  CHECK(access(records_at("five"), F_OK) < 0);
  scr_prefix_forget(records_prefix, 5, "five");       /* nothing is left */
  records_put(".scr/scr.dataset.9/summary.scr", "x"); /* one of release 1.2 */
  records_put("nine/a", "x");
  scr_prefix_forget(records_prefix, 9, "nine");
  CHECK(access(records_path("scr.dataset.9"), F_OK) < 0 && access(records_at("nine/a"), F_OK) == 0);
}

/* Directories that other flushes are about to use. */
static scr_hash* prefix_taken;

/* The directory that a flush of D would take, or "-" after an error. */
static const char* prefix_dir(const scr_desc* d, int preserve)
{
  static char dir[SCR_MAX_FILENAME];
  int         rc = scr_prefix_choose_dir(records_prefix, d, preserve, prefix_taken, dir, sizeof dir);

  CHECK((rc == SCR_SUCCESS) == (*dir != '\0'));
  return rc == SCR_SUCCESS ? dir : "-";
}

static void a_dataset_gets_a_directory_that_holds_no_other(void)
{
  scr_index index;
  scr_desc  d, other;
  char      rel[SCR_MAX_FILENAME];
  int       i;

  records_begin();
  records_desc(&d, 5, "five", SCR_FLAG_CHECKPOINT);
  CHECK_STR(prefix_dir(&d, 1), "scr.dataset.5"); /* its files have no common directory */
  prefix_taken = scr_hash_new();
  scr_hash_setf(prefix_taken, NULL, "%s", "scr.dataset.5");
  CHECK_STR(prefix_dir(&d, 1), "scr.dataset.5.1");
  scr_hash_delete(&prefix_taken);
  snprintf(d.dir, sizeof d.dir, "run/5");
  CHECK_STR(prefix_dir(&d, 1), "run/5");
  CHECK_STR(prefix_dir(&d, 0), "scr.dataset.5");
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
  CHECK_INT(scr_summary_write(records_at("run/5/.scr/summary.scr"), &d), SCR_SUCCESS);
  CHECK_STR(prefix_dir(&d, 1), "run/5"); /* its own, flushed again */
  other = d;
  other.identity.nonce++;
  CHECK_INT(scr_summary_write(records_at("run/5/.scr/summary.scr"), &other), SCR_SUCCESS);
  CHECK_STR(prefix_dir(&d, 1), "scr.dataset.5");
  records_put("scr.dataset.5/.scr/summary.scr", "damaged");
  CHECK_STR(prefix_dir(&d, 1), "scr.dataset.5.1"); /* whose it is cannot be known */
  unlink(records_at("run/5/.scr/summary.scr"));
  CHECK_STR(prefix_dir(&d, 1), "run/5");

  CHECK_INT(scr_index_open(&index, records_prefix), SCR_SUCCESS);
  CHECK_INT(scr_index_set(&index, &other, "run/5"), SCR_SUCCESS);
  CHECK(!scr_prefix_may_use(records_prefix, &index, "run/5", &d.identity));
  CHECK(scr_prefix_may_use(records_prefix, &index, "run/5", &other.identity));
  CHECK(scr_prefix_may_use(records_prefix, &index, "run/6", &d.identity));
  scr_hash_util_set_int(scr_index_entry(&index, 5, "run/5"), "COMPLETE", 0);
  CHECK(scr_prefix_may_use(records_prefix, &index, "run/5", &d.identity));
  scr_hash_util_set_int(scr_index_entry(&index, 5, "run/5"), "COMPLETE", 1);
  CHECK_INT(scr_index_close(&index, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK_STR(prefix_dir(&d, 1), "scr.dataset.5.1"); /* the index names another one there, with a summary or without */

  for (i = 1; i < SCR_PREFIX_DIRS_MAX; i++) {
    snprintf(rel, sizeof rel, "scr.dataset.5.%d/.scr/summary.scr", i);
    records_put(rel, "x");
  }
  CHECK_STR(prefix_dir(&d, 1), "-");
  CHECK(strstr(scr_err_text, "scr.dataset.5.999") != NULL);
}

static void test_prefix(void)
{
  an_empty_index_answers_every_question();
  the_index_tells_datasets_by_id_directory_and_name();
  an_id_or_a_directory_that_is_none_is_not_entered();
  of_copies_of_an_id_the_younger_and_of_a_name_the_directory_counts();
  current_leaves_a_dataset_that_failed_or_is_removed();
  current_becomes_a_flushed_checkpoint_unless_it_is_newer_or_the_users();
  a_choice_reads_as_it_was_written();
  a_value_is_served_once_in_each_job();
  two_jobs_can_reject_in_one_second();
  current_tells_datasets_of_one_name_or_directory_apart();
  an_index_is_read_changed_and_written_under_its_lock();
  an_index_that_takes_too_much_memory_is_neither_written_nor_read();
  the_index_of_two_earlier_releases_is_read_and_changed();
  an_index_of_another_version_is_refused_and_left_alone();
  what_is_no_id_is_left_out_and_what_leads_out_gets_a_place_inside();
  what_older_releases_have_passed_over_stays_so();
  a_hostile_index_does_no_harm();
  a_failure_leaves_the_old_index_or_the_new_one();
  the_sweep_removes_temporary_files_of_writers_and_nothing_else();
  a_summary_reads_as_it_was_written();
  a_path_that_leads_out_of_the_prefix_is_refused();
  a_dataset_of_release_1_2_is_found_in_its_place();
  the_temporary_name_stands_beside_the_final_one();
  objects_take_their_names();
  objects_are_removed_deleted_and_pruned();
  objects_come_back_from_a_rank2file_map();
  the_rank2file_of_two_earlier_releases_is_read();
  a_node_that_is_no_rank2file_is_refused();
  a_leaf_of_another_dataset_is_refused();
  a_leaf_that_names_what_is_not_the_datasets_is_refused();
  a_hostile_rank2file_does_no_harm();
  a_failure_leaves_no_half_a_map_and_no_half_a_summary();
  one_dataset_whose_renames_fail_does_not_keep_back_another();
  a_deletion_does_not_reach_into_another_prefix();
  a_flush_that_was_killed_is_finished_whatever_fails();
  what_is_forgotten_leaves_the_files_of_the_application();
  a_dataset_gets_a_directory_that_holds_no_other();
}
