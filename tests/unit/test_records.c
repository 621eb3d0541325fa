/* Index, summary, file map, flush, halt and nodes files: of today, of two earlier releases, of hostile shape. */

#if defined(__linux__)
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#endif

#ifndef CHECK_DATA
#define CHECK_DATA "tests/data" /* the suites run in the top directory */
#endif

static char records_prefix[SCR_MAX_FILENAME / 2]; /* a directory of this suite's own */

/* PREFIX/.scr/NAME, in a buffer that the next call uses again. */
static const char* records_path(const char* name)
{
  static char path[SCR_MAX_FILENAME];
  CHECK_INT(scr_record_path(records_prefix, name, path, sizeof path), SCR_SUCCESS);
  return path;
}

/* Make the file NAME of the prefix a copy of FROM, or remove it when FROM is NULL. */
static void records_copy(const char* from, const char* name)
{
  static char buf[65536];
  ssize_t     n = 0;
  int         fd = -1;

  CHECK_INT(scr_record_mkdir(records_prefix), SCR_SUCCESS);
  if (from == NULL) {
    unlink(records_path(name));
    return;
  }
  fd = open(from, O_RDONLY);
  CHECK(fd >= 0);
  if (fd >= 0) n = scr_read_all(fd, buf, sizeof buf);
  close(fd);
  fd = open(records_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && n > 0 && scr_write_all(fd, buf, (size_t)(n > 0 ? n : 0)) == 0);
  close(fd);
}

/* A descriptor of checkpoint ID. */
static scr_dataset* records_desc(int id, const char* name, int ckpt)
{
  scr_dataset* d = scr_dataset_new();

  scr_dataset_set_id(d, id);
  scr_dataset_set_name(d, name);
  scr_dataset_set_created(d, (int64_t)1000 + id);
  scr_dataset_set_flag_ckpt(d, ckpt);
  scr_dataset_set_flag_output(d, !ckpt);
  return d;
}

static void records_enter(scr_hash* index, int id, const char* dir, const char* name, int ckpt, int complete)
{
  scr_dataset* d = records_desc(id, name, ckpt);

  CHECK_INT(scr_index_set(index, id, dir, d, complete), SCR_SUCCESS);
  scr_dataset_delete(&d);
}

/* The directory of CURRENT, or "-". */
static const char* records_current(const scr_hash* index, int id)
{
  const char* dir = "-";
  int         got = 0, by_user = -1;

  if (scr_index_current(index, &got, &dir, &by_user) != SCR_SUCCESS) return "-";
  CHECK_INT(got, id);
  return dir;
}

static void test_index_calls(void)
{
  scr_hash*   h = scr_hash_new();
  const char* dir = "as it was";
  int         id = 7, by_user = 7;

  CHECK_INT(scr_index_max_id(h), 0);
  CHECK_INT(scr_index_next(h, INT_MAX, &id, &dir), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_index_find(h, "a", &id, &dir), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_index_current(h, &id, &dir, &by_user), SCR_ERR_NOT_FOUND);
  CHECK(id == 7 && by_user == 7);
  CHECK_STR(dir, "as it was");

  records_enter(h, 1, "run/a", "a", 1, 1);
  records_enter(h, 2, "run/b", "b", 1, 1);
  records_enter(h, 3, "run/out", "out", 0, 1); /* output only */
  records_enter(h, 4, "run/d", "d", 1, 0);     /* not complete */
  CHECK_INT(scr_index_max_id(h), 4);
  CHECK(scr_hash_get_kv_int(scr_hash_get_kv(h, "DIR", "run/b"), "DSET", 2) != NULL);
  CHECK(scr_index_is_good(scr_index_entry(h, 2, "run/b")) && !scr_index_is_good(scr_index_entry(h, 4, "run/d")));
  CHECK(scr_hash_get(scr_index_entry(h, 2, "run/b"), "FLUSHED") != NULL);
  CHECK(scr_hash_get(scr_index_entry(h, 4, "run/d"), "FLUSHED") == NULL);
  CHECK(scr_index_entry(h, 2, "run/a") == NULL && scr_index_entry(h, 9, "run/a") == NULL);
  CHECK(scr_index_entry(NULL, 1, "run/a") == NULL && !scr_index_is_good(NULL));

  CHECK_INT(scr_index_next(h, INT_MAX, &id, &dir), SCR_SUCCESS);
  CHECK_INT(id, 2);
  CHECK_STR(dir, "run/b");
  CHECK(scr_index_next(h, 2, &id, &dir) == SCR_SUCCESS && id == 1);
  CHECK_INT(scr_index_next(h, 1, &id, &dir), SCR_ERR_NOT_FOUND);
  CHECK(scr_index_find(h, "d", &id, &dir) == SCR_SUCCESS && id == 4);
  CHECK(scr_index_find(h, "run/out", &id, &dir) == SCR_SUCCESS && id == 3);
  CHECK_INT(scr_index_find(h, "run", &id, &dir), SCR_ERR_NOT_FOUND);

  scr_index_set_current(h, "run/b", 1);
  CHECK_STR(records_current(h, 2), "run/b");
  CHECK(scr_index_current(h, &id, &dir, &by_user) == SCR_SUCCESS && by_user == 1);
  scr_index_set_current(h, dir, 0); /* an argument that is part of the index */
  CHECK(scr_index_current(h, &id, &dir, &by_user) == SCR_SUCCESS && by_user == 0);
  CHECK_STR(dir, "run/b");

  /* a failure, and I3 */
  scr_index_mark(h, 2, "run/b", "FETCHED");
  CHECK(scr_index_is_good(scr_index_entry(h, 2, "run/b")));
  scr_index_mark(h, 2, "run/b", "FAILED");
  scr_index_mark(h, 9, "run/b", "FAILED"); /* none such */
  CHECK(!scr_index_is_good(scr_index_entry(h, 2, "run/b")) && scr_index_max_id(h) == 4);
  CHECK_STR(records_current(h, 1), "run/a");
  records_enter(h, 2, "run/b", "b", 1, 1); /* flushed again: the failure was of the old files */
  CHECK(scr_index_next(h, INT_MAX, &id, &dir) == SCR_SUCCESS && id == 2);

  scr_index_set_current(h, "run/b", 1);
  CHECK_INT(scr_index_find(h, "b", &id, &dir), SCR_SUCCESS);
  scr_index_remove(h, id, dir); /* again a part of the index */
  CHECK(scr_index_entry(h, 2, "run/b") == NULL && scr_hash_get_kv(h, "DIR", "run/b") == NULL);
  CHECK(scr_hash_get_kv_int(h, "DSET", 2) == NULL && scr_hash_get(h, "CURRENT_BY") == NULL);
  CHECK_STR(records_current(h, 1), "run/a");
  scr_index_remove(h, 1, "run/b"); /* no such pair: nothing changes */
  CHECK_STR(records_current(h, 1), "run/a");
  scr_index_remove(h, 1, "run/a");
  CHECK(scr_hash_get(h, "CURRENT") == NULL);
  scr_index_remove(h, 3, "run/out");
  scr_index_remove(h, 4, "run/d");
  CHECK(scr_hash_get(h, "DSET") == NULL && scr_hash_get(h, "DIR") == NULL);
  scr_hash_delete(&h);
}

static void test_index_copies(void)
{
  scr_hash*    h = scr_hash_new();
  scr_dataset* d = records_desc(1, "x", 1);
  const char*  dir = NULL;
  int          id = 0;

  /* one id in two directories: the later one; one name for all: the directory tells */
  records_enter(h, 5, "new", "same", 1, 1);
  scr_dataset_set_created(scr_hash_get(scr_index_entry(h, 5, "new"), "DSET"), 9999);
  records_enter(h, 5, "old", "same", 1, 1);
  records_enter(h, 6, "other", "new", 0, 1);
  CHECK(scr_index_next(h, INT_MAX, &id, &dir) == SCR_SUCCESS && id == 5);
  CHECK_STR(dir, "new");
  scr_index_set_current(h, "new", 0);
  CHECK_STR(records_current(h, 5), "new");
  scr_index_set_current(h, "same", 0);
  CHECK_STR(records_current(h, 5), "new");
  scr_index_remove(h, 5, "new");
  CHECK(scr_index_entry(h, 5, "old") != NULL);
  CHECK_STR(records_current(h, 5), "old");

  CHECK_INT(scr_index_set(h, 1, "../x", d, 1), SCR_ERR_PATH);
  CHECK_INT(scr_index_set(h, 1, "/x", d, 1), SCR_ERR_PATH);
  CHECK_INT(scr_index_set(h, 1, "", d, 1), SCR_ERR_PATH);
  CHECK_INT(scr_index_set(h, 1, NULL, d, 1), SCR_ERR_PATH);
  CHECK_INT(scr_index_set(h, 0, "x", d, 1), SCR_ERR_ARG);
  CHECK_INT(scr_index_set(h, INT_MAX, "x", d, 1), SCR_ERR_ARG);
  CHECK_INT(scr_index_set(h, 1, "x", NULL, 1), SCR_SUCCESS);
  CHECK_INT(scr_index_max_id(h), 6);
  scr_dataset_delete(&d);
  scr_hash_delete(&h);
}

static void test_index_file(void)
{
  scr_hash*   h = scr_hash_new();
  const char* dir = NULL;
  int         fd = -1, id = 0, by_user = 0;

  records_copy(NULL, "index.scr");
  scr_hash_set_kv(h, "left", "over");
  CHECK(scr_index_read(records_prefix, h) == SCR_SUCCESS && scr_hash_size(h) == 0);
  CHECK_INT(scr_index_open(records_prefix, &fd, h), SCR_SUCCESS);
  CHECK(fd >= 0);
  records_enter(h, 12, "ckpt/12", "twelve", 1, 1);
  records_enter(h, 18, "ckpt/18", "eighteen", 1, 1);
  scr_index_set_current(h, "ckpt/12", 1);
  scr_hash_set_kv(h, "FUTURE", "key");
  CHECK_INT(scr_index_close(records_prefix, &fd, h), SCR_SUCCESS);
  CHECK(fd < 0);
  scr_hash_unset_all(h);
  CHECK_INT(scr_index_open(records_prefix, &fd, h), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(h, "VERSION"), "1");
  CHECK_STR(scr_hash_elem_get_first_val(h, "FUTURE"), "key"); /* what is not known here is kept */
  CHECK(scr_index_current(h, &id, &dir, &by_user) == SCR_SUCCESS && id == 12 && by_user == 1);
  CHECK(scr_index_is_good(scr_index_entry(h, 18, "ckpt/18")));
  scr_index_remove(h, 12, "ckpt/12");
  CHECK_INT(scr_index_close(records_prefix, &fd, NULL), SCR_SUCCESS); /* thrown away */
  CHECK(scr_index_read(records_prefix, h) == SCR_SUCCESS && scr_index_entry(h, 12, "ckpt/12") != NULL);

  CHECK(scr_index_open("/nonexistent/prefix", &fd, h) == SCR_ERR_IO && fd < 0);
  CHECK(strstr(scr_err_text, "/nonexistent/prefix/.scr") != NULL);
  CHECK(scr_index_read("/nonexistent/prefix", h) == SCR_SUCCESS && scr_hash_size(h) == 0);
  scr_hash_delete(&h);
}

/* The index of an earlier release, kept in DATA: three good checkpoints. */
static void records_old_index(const char* data)
{
  scr_hash*   h = scr_hash_new();
  const char* dir = NULL;
  char        name[32];
  int         fd = -1, id = 0, by_user = 1, i;

  records_copy(data, "index.scr");
  CHECK_INT(scr_index_read(records_prefix, h), SCR_SUCCESS);
  for (i = 1; i <= 3; i++) {
    const scr_hash* e;
    snprintf(name, sizeof name, "ckpt.%d", i);
    e = scr_index_entry(h, i, name);
    CHECK(scr_index_is_good(e) && scr_index_is_ckpt(e));
    CHECK(scr_hash_get_kv_int(scr_hash_get_kv(h, "DIR", name), "DSET", i) != NULL);
    CHECK(scr_dataset_get_id(scr_hash_get(e, "DSET"), &id) == SCR_SUCCESS && id == i);
    CHECK(strncmp(scr_hash_elem_get_first_val(e, "FLUSHED"), "2026-11-21T03:", 14) == 0);
  }
  CHECK(scr_index_current(h, &id, &dir, &by_user) == SCR_SUCCESS && id == 3 && by_user == 0);
  CHECK_STR(dir, "ckpt.3");
  CHECK(scr_index_max_id(h) == 3 && scr_index_next(h, 3, &id, &dir) == SCR_SUCCESS && id == 2);
  CHECK(scr_hash_get(h, "NAME") == NULL);
  CHECK_INT(scr_hash_size(scr_hash_get_kv_int(h, "DSET", 3)), 1);
  CHECK_STR(scr_hash_elem_get_first_val(h, "VERSION"), "1");

  /* and written back in today's form */
  CHECK_INT(scr_index_open(records_prefix, &fd, h), SCR_SUCCESS);
  scr_index_remove(h, 3, "ckpt.3");
  CHECK_INT(scr_index_close(records_prefix, &fd, h), SCR_SUCCESS);
  scr_hash_unset_all(h);
  CHECK_INT(scr_index_read(records_prefix, h), SCR_SUCCESS);
  CHECK_STR(records_current(h, 2), "ckpt.2");
  scr_hash_delete(&h);
}

/* Write H as the index and read it; the code. */
static int records_index_of(scr_hash* h)
{
  CHECK_INT(scr_hash_file_write(records_path("index.scr"), h), SCR_SUCCESS);
  return scr_index_read(records_prefix, h);
}

static void test_index_hostile(void)
{
  static const char* const ids[] = {"0", "-1", "+1", "01", "x", "", "2147483647", "99999999999999999999", "1 "};
  scr_hash*                h = scr_hash_new();
  const char*              dir = NULL;
  size_t                   i;
  int                      fd = -1, id = 0;
  struct stat              before, after;

  /* versions that are not known, none, or no number; the file is not touched */
  scr_hash_set_kv(h, "VERSION", "3");
  CHECK_INT(records_index_of(h), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "index.scr") != NULL && strstr(scr_err_text, "version 3") != NULL);
  CHECK_INT(scr_hash_size(h), 0);
  CHECK(stat(records_path("index.scr"), &before) == 0);
  CHECK(scr_index_open(records_prefix, &fd, h) == SCR_ERR_FORMAT && fd < 0);
  CHECK(stat(records_path("index.scr"), &after) == 0 && before.st_ino == after.st_ino);
  scr_hash_set_kv(h, "VERSION", "one");
  CHECK_INT(records_index_of(h), SCR_ERR_FORMAT);
  scr_hash_set_kv(h, "CURRENT", "x");
  CHECK_INT(records_index_of(h), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "no VERSION") != NULL);

  /* ids that are none; names that lead out of the prefix, which get a place inside and are found by their name */
  scr_hash_set_kv(h, "VERSION", "1");
  for (i = 0; i < sizeof ids / sizeof ids[0]; i++) scr_hash_setf(h, NULL, "%s %s %s %s", "DSET", ids[i], "DIR", "d");
  scr_hash_setf(h, NULL, "%s %d %s %s %s %d", "DSET", 5, "NAME", "../../etc", "COMPLETE", 1);
  scr_hash_setf(h, NULL, "%s %d %s %s %s %s %d", "DSET", 5, "NAME", "../../etc", "DSET", "CKPT", 1);
  scr_hash_setf(h, NULL, "%s %d %s %s %s %s %s", "DSET", 5, "NAME", "../../etc", "DSET", "NAME", "../../etc");
  scr_hash_setf(h, NULL, "%s %d %s %s", "DSET", 6, "DIR", "/abs");
  scr_hash_set_kv(h, "CURRENT", "../../etc");
  CHECK_INT(records_index_of(h), SCR_SUCCESS);
  CHECK_INT(scr_hash_size(scr_hash_get(h, "DSET")), 2);
  CHECK(scr_index_entry(h, 6, "scr.dataset.6") != NULL);
  CHECK(scr_index_next(h, INT_MAX, &id, &dir) == SCR_SUCCESS && id == 5);
  CHECK_STR(dir, "scr.dataset.5");
  CHECK_STR(records_current(h, 5), "scr.dataset.5");

  /* version 2 without a name inside: from the table of names, or made up */
  scr_hash_unset_all(h);
  scr_hash_set_kv(h, "VERSION", "2");
  scr_hash_setf(h, NULL, "%s %d %s %d", "DSET", 8, "COMPLETE", 1);
  scr_hash_setf(h, NULL, "%s %d %s %d", "DSET", 9, "COMPLETE", 1);
  scr_hash_setf(h, NULL, "%s %s %s %d", "NAME", "eight", "DSET", 8);
  CHECK_INT(records_index_of(h), SCR_SUCCESS);
  CHECK(scr_index_entry(h, 8, "eight") != NULL && scr_index_entry(h, 9, "scr.dataset.9") != NULL);

  /* leaves where a hash should be, a damaged file */
  scr_hash_unset_all(h);
  scr_hash_set_kv(h, "VERSION", "1");
  scr_hash_set_kv(h, "DSET", "4");
  scr_hash_set_kv(h, "DIR", "d");
  scr_hash_set(h, "CURRENT", scr_hash_new());
  CHECK_INT(records_index_of(h), SCR_SUCCESS);
  CHECK_INT(scr_index_max_id(h), 0);
  scr_index_remove(h, 4, "d");
  scr_index_mark(h, 4, "d", "FAILED");
  fd = open(records_path("index.scr"), O_WRONLY);
  CHECK(fd >= 0 && pwrite(fd, "?", 1, 25) == 1);
  close(fd);
  scr_err_text[0] = '\0';
  CHECK(scr_index_read(records_prefix, h) != SCR_SUCCESS && scr_hash_size(h) == 0);
  CHECK(strstr(scr_err_text, "index.scr") != NULL);
  scr_hash_delete(&h);
}

static void test_summary(void)
{
  static const char* const old[] = {CHECK_DATA "/scr-1.2.2/summary.scr", CHECK_DATA "/scr-3.1/summary.scr"};
  scr_dataset*             d = records_desc(18, "eighteen", 1);
  scr_hash*                h = scr_hash_new();
  const char*              name = NULL;
  int                      complete = 7, id = 0, i;

  CHECK_INT(scr_summary_read(records_path("summary.scr"), h, &complete), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_summary_write(records_path("summary.scr"), d, 1), SCR_SUCCESS);
  scr_hash_set_kv(h, "left", "over");
  CHECK_INT(scr_summary_read(records_path("summary.scr"), h, &complete), SCR_SUCCESS);
  CHECK(complete == 1 && scr_dataset_same(h, d) && scr_hash_get(h, "left") == NULL);
  CHECK_INT(scr_summary_write(records_path("summary.scr"), d, 0), SCR_SUCCESS);
  CHECK(scr_summary_read(records_path("summary.scr"), h, &complete) == SCR_SUCCESS && complete == 0);
  for (i = 0; i < 2; i++) {
    CHECK(scr_summary_read(old[i], h, &complete) == SCR_SUCCESS && complete == 1);
    CHECK(scr_dataset_get_id(h, &id) == SCR_SUCCESS && id == 3);
    CHECK(scr_dataset_get_name(h, &name) == SCR_SUCCESS && strcmp(name, "ckpt.3") == 0);
  }

  complete = 7;
  scr_hash_unset_all(d);
  scr_hash_set_kv(d, "VERSION", "5");
  CHECK_INT(scr_hash_file_write(records_path("summary.scr"), d), SCR_SUCCESS);
  CHECK_INT(scr_summary_read(records_path("summary.scr"), h, &complete), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "version 5") != NULL);
  scr_hash_unset(d, "VERSION");
  scr_hash_set_kv(d, "VERSION", "6");
  scr_hash_set_kv(d, "COMPLETE", "1");
  CHECK_INT(scr_hash_file_write(records_path("summary.scr"), d), SCR_SUCCESS);
  CHECK_INT(scr_summary_read(records_path("summary.scr"), h, &complete), SCR_ERR_FORMAT); /* no dataset */
  CHECK(complete == 7 && scr_dataset_get_id(h, &id) == SCR_SUCCESS && id == 3);
  scr_hash_delete(&h);
  scr_dataset_delete(&d);
}

static void test_rank2file(void)
{
  scr_hash* h = scr_hash_new();
  scr_hash* f;
  uLong     crc = 0;

  CHECK_INT(scr_rank2file_read(records_path("rank2file.scr"), h), SCR_ERR_MISSING);
  CHECK_INT(scr_rank2file_read(CHECK_DATA "/scr-1.2.2/rank2file.scr", h), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(h, "LEVEL"), "1");
  CHECK(scr_hash_getf(h, "%s %d %s %s", "RANK", 0, "FILE", ".scr/scr.dataset.3/rank2file.0.0.scr") != NULL);
  CHECK_INT(scr_rank2file_read(CHECK_DATA "/scr-1.2.2/rank2file.0.0.scr", h), SCR_SUCCESS);
  f = scr_hash_getf(h, "%s %d %s %s", "RANK", 3, "FILE", "ckpt.3/rank_3.ckpt");
  CHECK_INT(scr_hash_util_get_crc32(f, "CRC", &crc), SCR_SUCCESS);
  CHECK(crc == 0xeed2b0ecul && scr_hash_size(scr_hash_get(h, "RANK")) == 4);
  CHECK_INT(scr_rank2file_read(CHECK_DATA "/scr-3.1/rank2file", h), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read(CHECK_DATA "/scr-3.1/rank2file.0.0", h), SCR_SUCCESS);
  CHECK(scr_hash_getf(h, "%s %d %s %s", "RANK", 2, "FILE", "ckpt.3/rank_2.ckpt") != NULL);

  f = scr_hash_new();
  scr_hash_setf(f, NULL, "%s %s %d", "RANK2FILE", "LEVEL", 0);
  scr_hash_setf(f, NULL, "%s %s %d", "RANK2FILE", "RANKS", 4);
  CHECK_INT(scr_hash_file_write(records_path("rank2file.scr"), f), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_read(records_path("rank2file.scr"), h), SCR_SUCCESS);
  CHECK(scr_hash_size(h) == 2 && scr_hash_get_kv_int(h, "RANKS", 4) != NULL);
  scr_hash_setf(f, NULL, "%s %s", "RANKS", "-4");
  scr_hash_unset(f, "RANK2FILE");
  CHECK_INT(scr_hash_file_write(records_path("rank2file.scr"), f), SCR_SUCCESS);
  CHECK(scr_rank2file_read(records_path("rank2file.scr"), h) == SCR_ERR_FORMAT && scr_hash_size(h) == 0);
  scr_hash_delete(&f);
  scr_hash_delete(&h);
}

static void test_flush_file(void)
{
  scr_hash*    h = scr_hash_new();
  scr_dataset* d = records_desc(6, "six", 1);
  int          fd = -1;

  records_copy(NULL, "flush.scr");
  CHECK_INT(scr_flush_file_open(records_prefix, &fd, h), SCR_SUCCESS);
  scr_flush_file_add(h, d, "out/six");
  scr_flush_file_set(h, 6, "CACHE");
  scr_flush_file_set(h, 6, "FLUSHING");
  scr_flush_file_unset(h, 6, "FLUSHING");
  scr_flush_file_unset(h, 7, "PFS");
  CHECK_INT(scr_flush_file_close(records_prefix, &fd, h), SCR_SUCCESS);
  CHECK_INT(scr_flush_file_read(records_prefix, h), SCR_SUCCESS);
  CHECK(scr_flush_file_has(h, 6, "CACHE") && !scr_flush_file_has(h, 6, "FLUSHING") && !scr_flush_file_has(h, 6, "PFS"));
  CHECK(!scr_flush_file_has(h, 7, "CACHE") && scr_hash_get_kv_int(h, "DSET", 7) == NULL);
  CHECK_STR(scr_hash_elem_get_first_val(scr_hash_get_kv_int(h, "DSET", 6), "NAME"), "six");
  CHECK_STR(scr_hash_elem_get_first_val(scr_hash_get_kv_int(h, "DSET", 6), "DIR"), "out/six");
  CHECK(scr_hash_get(scr_hash_get_kv_int(h, "DSET", 6), "CKPT") != NULL);
  CHECK(scr_hash_get(scr_hash_get_kv_int(h, "DSET", 6), "OUTPUT") == NULL);
  scr_flush_file_add(h, d, "other"); /* fresh: no location of the old one */
  CHECK(!scr_flush_file_has(h, 6, "CACHE"));
  scr_flush_file_remove(h, 6);
  CHECK(scr_hash_get_kv_int(h, "DSET", 6) == NULL);

  records_copy(CHECK_DATA "/scr-1.2.2/flush.scr", "flush.scr");
  CHECK_INT(scr_flush_file_read(records_prefix, h), SCR_SUCCESS);
  CHECK(scr_flush_file_has(h, 3, "PFS") && scr_flush_file_has(h, 2, "CACHE") && scr_hash_get(h, "DATASET") == NULL);
  records_copy(CHECK_DATA "/scr-3.1/flush.scr", "flush.scr");
  CHECK_INT(scr_flush_file_open(records_prefix, &fd, h), SCR_SUCCESS);
  CHECK(scr_flush_file_has(h, 3, "PFS") && scr_flush_file_has(h, 2, "CACHE"));
  CHECK_INT(scr_flush_file_close(records_prefix, &fd, NULL), SCR_SUCCESS);
  scr_dataset_delete(&d);
  scr_hash_delete(&h);
}

/* The reason that scr_halt_check gives at time NOW with LEFT seconds left; "-" when the run goes on. */
static const char* records_halt(const scr_hash* h, int64_t now, int64_t left)
{
  static char reason[64];
  return scr_halt_check(h, now, left, reason, sizeof reason) ? reason : "-";
}

static void test_halt(void)
{
  scr_hash* h = scr_hash_new();

  CHECK_STR(records_halt(h, 1000, 0), "-");
  CHECK_STR(records_halt(NULL, 1000, 0), "-");
  scr_hash_util_set_int(h, "HaltSeconds", 100);
  CHECK_STR(records_halt(h, 1000, 101), "-");
  CHECK_STR(records_halt(h, 1000, -1), "-");
  CHECK_STR(records_halt(h, 1000, 100), "TIME_LIMIT");
  scr_hash_util_set_str(h, "ExitReason", "SCR_FINALIZE_CALLED");
  CHECK_STR(records_halt(h, 1000, -1), "-");
  scr_hash_util_set_str(h, "ExitReason", "");
  CHECK_STR(records_halt(h, 1000, -1), "-");
  scr_hash_util_set_str(h, "ExitReason", "JOB_HALTED");
  CHECK_STR(records_halt(h, 1000, 100), "JOB_HALTED");
  scr_hash_util_set_int(h, "CheckpointsLeft", 2);
  CHECK_STR(records_halt(h, 1000, 100), "JOB_HALTED");
  scr_halt_count(h, 1);
  CHECK_STR(scr_hash_elem_get_first_val(h, "CheckpointsLeft"), "1");
  scr_halt_count(h, 5);
  CHECK_STR(scr_hash_elem_get_first_val(h, "CheckpointsLeft"), "0");
  CHECK_STR(records_halt(h, 1000, 100), "NO_CHECKPOINTS_LEFT");
  scr_hash_util_set_int(h, "ExitBefore", 1101);
  CHECK_STR(records_halt(h, 1000, -1), "NO_CHECKPOINTS_LEFT");
  CHECK_STR(records_halt(h, 1001, -1), "EXIT_BEFORE_TIME");
  scr_hash_util_set_int(h, "ExitAfter", 2000);
  CHECK_STR(records_halt(h, 1999, -1), "EXIT_BEFORE_TIME");
  CHECK_STR(records_halt(h, 2000, -1), "EXIT_AFTER_TIME");
  CHECK_INT(scr_halt_check(h, 2000, -1, NULL, 0), 1);

  /* R2 */
  scr_hash_unset_all(h);
  scr_hash_util_set_str(h, "ExitBefore", "-9223372036854775808");
  scr_hash_util_set_str(h, "HaltSeconds", "9223372036854775807");
  CHECK_STR(records_halt(h, 0, -1), "EXIT_BEFORE_TIME");
  scr_hash_util_set_str(h, "ExitBefore", "9223372036854775807");
  scr_hash_util_set_str(h, "HaltSeconds", "-9223372036854775808");
  scr_hash_util_set_str(h, "ExitAfter", "tomorrow");
  scr_hash_util_set_str(h, "CheckpointsLeft", "0x0");
  CHECK_STR(records_halt(h, 0, 0), "-");
  scr_halt_count(h, 1);
  CHECK_STR(scr_hash_elem_get_first_val(h, "CheckpointsLeft"), "0x0");
  scr_hash_delete(&h);
}

static void test_halt_file(void)
{
  scr_hash* memory = scr_hash_new();
  scr_hash* file = scr_hash_new();
  int       fd = -1;

  records_copy(CHECK_DATA "/scr-1.2.2/halt.scr", "halt.scr");
  CHECK_INT(scr_halt_read(records_prefix, file), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(file, "ExitReason"), "SCR_FINALIZE_CALLED");
  scr_hash_util_set_str(memory, "HaltSeconds", "60");
  scr_hash_util_set_str(memory, "ExitReason", "TIME_LIMIT");
  CHECK_INT(scr_halt_merge(memory, file), SCR_SUCCESS); /* neither is in the file, and the end of a run is no reason */
  CHECK_STR(scr_hash_elem_get_first_val(memory, "HaltSeconds"), "60");
  CHECK_STR(scr_hash_elem_get_first_val(memory, "ExitReason"), "TIME_LIMIT");

  records_copy(NULL, "halt.scr");
  CHECK_INT(scr_halt_open(records_prefix, &fd, file), SCR_SUCCESS);
  CHECK_INT(scr_hash_size(file), 0);
  scr_hash_util_set_int(file, "CheckpointsLeft", 3);
  scr_hash_util_set_int(file, "HaltSeconds", 5);
  scr_hash_util_set_str(file, "ExitReason", "JOB_HALTED");
  CHECK_INT(scr_halt_close(records_prefix, &fd, file), SCR_SUCCESS);
  CHECK_INT(scr_halt_read(records_prefix, file), SCR_SUCCESS);
  CHECK_INT(scr_halt_merge(memory, file), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(memory, "CheckpointsLeft"), "3");
  CHECK_STR(scr_hash_elem_get_first_val(memory, "HaltSeconds"), "5");
  CHECK_STR(scr_hash_elem_get_first_val(memory, "ExitReason"), "JOB_HALTED");
  scr_hash_unset(file, "CheckpointsLeft");
  CHECK_INT(scr_halt_merge(memory, file), SCR_SUCCESS); /* taken away by the user */
  CHECK(scr_hash_get(memory, "CheckpointsLeft") == NULL);
  scr_hash_delete(&memory);
  scr_hash_delete(&file);
}

static void test_nodes_file(void)
{
  scr_hash* h = scr_hash_new();
  int       n = 7;

  records_copy(NULL, "nodes.scr");
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_ERR_NOT_FOUND && n == 7);
  CHECK_INT(scr_nodes_file_write(records_prefix, 12), SCR_SUCCESS);
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_SUCCESS && n == 12);
  CHECK_INT(scr_nodes_file_write(records_prefix, 3), SCR_SUCCESS);
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_SUCCESS && n == 3);
  records_copy(CHECK_DATA "/scr-1.2.2/nodes.scr", "nodes.scr");
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_SUCCESS && n == 4);
  scr_hash_set_kv(h, "NODES", "many");
  CHECK_INT(scr_hash_file_write(records_path("nodes.scr"), h), SCR_SUCCESS);
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_ERR_FORMAT && n == 0);
  CHECK_INT(scr_nodes_file_write("/nonexistent/prefix", 3), SCR_ERR_IO);
  scr_hash_delete(&h);
}

/* ---- the log ---- */

/* The log of the prefix, or "". */
static const char* log_text(void)
{
  static char text[65536];
  FILE*       f = fopen(records_path("log"), "r");
  size_t      n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;

  text[n] = '\0';
  if (f != NULL) fclose(f);
  return text;
}

/* How often WORD stands in TEXT. */
static int log_count(const char* text, const char* word)
{
  int n = 0;
  for (; (text = strstr(text, word)) != NULL; text++) n++;
  return n;
}

static int log_writes; /* of two bytes each, before the disk is full */

static ssize_t log_write(int fd, const void* buf, size_t n)
{
  if (log_writes-- > 0) return write(fd, buf, n < 2 ? n : 2);
  errno = ENOSPC;
  return -1;
}

static void test_log(void)
{
  static char     note[3 * SCR_ERR_TEXT_MAX];
  scr_log         l = {1, 0, "node7", "me", "123", records_prefix};
  scr_log_dataset d = {18, "a \"b\"", 1.5}, unknown = {0, NULL, -1.0};
  char            before[4096], want[512], now[32];
  int             i, k, status;
  time_t          t = time(NULL);

  CHECK_INT(scr_log_event(&l, "FLUSH_FAIL", "a \"disk\"\nis\tfull\177", &d), SCR_SUCCESS);
  scr_time_string(t, now, sizeof now);
  snprintf(want, sizeof want,
           ": host=node7, jobid=123, event=FLUSH_FAIL, note=\"a 'disk'?is?full?\", dset=18, name=\"a 'b'\", "
           "secs=1.500000\n");
  CHECK(strncmp(log_text(), now, 10) == 0 && strcmp(log_text() + 19, want) == 0);
  CHECK_INT(scr_log_event(&l, "START", NULL, NULL), SCR_SUCCESS);
  CHECK_INT(scr_log_event(&l, "END", NULL, &unknown), SCR_SUCCESS);
  CHECK(strstr(log_text(), "jobid=123, event=START\n") != NULL && strstr(log_text(), "jobid=123, event=END\n") != NULL);
  CHECK_INT(scr_log_transfer(&l, "FLUSH_SYNC", "/tmp/a\nb", "/p", &d, 5e12, 3), SCR_SUCCESS);
  CHECK(strstr(log_text(), "xfer=FLUSH_SYNC, from=/tmp/a?b, to=/p, dset=18, name=\"a 'b'\", secs=1.500000, "
                           "bytes=5000000000000, files=3\n") != NULL);
  CHECK_INT(log_count(log_text(), "\n"), 4);

  memset(note, 'x', sizeof note - 1); /* longer than any message: cut, and still one line */
  CHECK_INT(scr_log_event(&l, "LONG", note, &d), SCR_SUCCESS);
  CHECK(log_count(log_text(), "\n") == 5 && strstr(log_text(), "xxx\", dset=18, name=") != NULL);

  unlink(records_path("log"));
  for (i = 0; i < 8; i++) /* processes that write at once */
    if (fork() == 0) {
      for (k = 0; k < 50; k++) scr_log_event(&l, "MANY", "of a line", &d);
      _exit(0);
    }
  for (i = 0; i < 8; i++) CHECK(wait(&status) > 0 && status == 0);
  CHECK(log_count(log_text(), ": host=node7, jobid=123, event=MANY, note=\"of a line\", dset=18, ") == 400);
  CHECK(log_count(log_text(), "secs=1.500000\n") == 400 && log_count(log_text(), "\n") == 400);

  unlink(records_path("log")); /* a full disk: nothing, or the whole line */
  CHECK_INT(scr_log_event(&l, "FIRST", NULL, NULL), SCR_SUCCESS);
  snprintf(before, sizeof before, "%s", log_text());
  scr_os.write = log_write;
  for (i = 0; i < 20; i++) {
    log_writes = i;
    CHECK_INT(scr_log_event(&l, "SECOND", NULL, NULL), SCR_ERR_SPACE);
    CHECK(strcmp(log_text(), before) == 0);
  }
  scr_os.write = write;
  CHECK_INT(scr_log_event(&l, "THIRD", NULL, NULL), SCR_SUCCESS);
  CHECK(log_count(log_text(), "\n") == 2 && strstr(log_text(), "event=THIRD\n") != NULL);

  l.prefix = "/nonexistent/prefix";
  CHECK(scr_log_event(&l, "X", NULL, NULL) == SCR_ERR_IO &&
        strstr(scr_err_text, "/nonexistent/prefix/.scr/log") != NULL);
  l.txt = 0;
  CHECK_INT(scr_log_event(&l, "X", NULL, NULL), SCR_SUCCESS);
}

#if defined(__linux__)
/* The log of the system: in a child that has a /dev of its own, with a /dev/log that it reads itself. */
static int log_to_system(void)
{
  scr_log            l = {0, 1, "node7", "me", "123", "/p"};
  scr_log_dataset    d = {18, "a", 1.5};
  struct sockaddr_un at;
  char               got[2048];
  int                fd = socket(AF_UNIX, SOCK_DGRAM, 0);

  memset(&at, 0, sizeof at);
  at.sun_family = AF_UNIX;
  snprintf(at.sun_path, sizeof at.sun_path, "/dev/log");
  if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
      mount("none", "/dev", "tmpfs", 0, NULL) < 0)
    return 77;
  if (fd < 0 || bind(fd, (struct sockaddr*)&at, sizeof at) < 0) return 1;
  if (scr_log_event(&l, "HALT", "TIME_LIMIT", &d) != SCR_SUCCESS) return 2;
  memset(got, 0, sizeof got);
  if (recv(fd, got, sizeof got - 1, 0) <= 0) return 3;
  if (strncmp(got, "<190>", 5) != 0) return 4; /* LOG_LOCAL7, LOG_INFO */
  return strstr(got, "SCR: user=me, jobid=123, prefix=/p, host=node7, event=HALT, note=\"TIME_LIMIT\", dset=18, "
                     "name=\"a\", secs=1.500000") == NULL;
}

static void test_log_system(void)
{
  int   status = 0;
  pid_t child = fork();

  if (child == 0) {
    alarm(10);
    _exit(log_to_system());
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) printf("note: no right to a /dev of its own, so the system's log was not tried\n");
  else CHECK_INT(WEXITSTATUS(status), 0);
}
#else
static void test_log_system(void)
{
}
#endif

static void records_remove(void)
{
  static const char* const names[] = {
      "index.scr",      "flush.scr",     "halt.scr",    "nodes.scr",     "index.scr.lock",
      "flush.scr.lock", "halt.scr.lock", "summary.scr", "rank2file.scr", "log"};
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0]; i++) unlink(records_path(names[i]));
  CHECK_INT(rmdir(records_path("")), 0); /* also: nothing else was left */
  CHECK_INT(rmdir(records_prefix), 0);
}

static void test_records(void)
{
  const char* tmp = getenv("TMPDIR");

  snprintf(records_prefix, sizeof records_prefix, "%.400s/scr_records.XXXXXX", tmp != NULL && *tmp ? tmp : "/tmp");
  CHECK(mkdtemp(records_prefix) != NULL);
  CHECK_INT(scr_record_mkdir(records_prefix), SCR_SUCCESS);
  test_index_calls();
  test_index_copies();
  test_index_file();
  records_old_index(CHECK_DATA "/scr-1.2.2/index.scr");
  records_old_index(CHECK_DATA "/scr-3.1/index.scr");
  test_index_hostile();
  test_summary();
  test_rank2file();
  test_flush_file();
  test_halt();
  test_halt_file();
  test_nodes_file();
  test_log();
  test_log_system();
  records_remove();
}
