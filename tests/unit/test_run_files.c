/* The files of a run: flush, halt and nodes files, of an earlier release too, of hostile shape; the log. */

#if defined(__linux__)
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#endif

/* ---- flush file ---- */

/* What R says of dataset ID, as "<flags> <at> <name> <dir>"; "-" for nothing. */
static const char* flush_note(const scr_record* r, int id)
{
  static char    text[3 * SCR_MAX_FILENAME];
  scr_flush_note n;

  if (!scr_flush_file_get(r, id, &n)) {
    CHECK(n.id == 0 && n.location == 0);
    return "-";
  }
  CHECK_INT(n.id, id);
  snprintf(text, sizeof text, "%d %d %s %s", n.flags, n.location, n.name, n.dir);
  return text;
}

static void flush_put(scr_record* r, int id, const char* name, const char* dir, int flags, int at)
{
  scr_flush_note n;

  memset(&n, 0, sizeof n);
  n.id = id;
  snprintf(n.name, sizeof n.name, "%s", name);
  snprintf(n.dir, sizeof n.dir, "%s", dir);
  n.flags = flags;
  n.location = at;
  scr_flush_file_put(r, &n);
}

static void a_flush_note_reads_as_it_was_written(void)
{
  scr_record     r;
  scr_flush_note n, back;
  int            i;

  records_begin();
  for (i = 0; i < 64; i++) { /* every location, both flags, with short texts and the longest */
    memset(&n, 0, sizeof n);
    n.id = i % 2 ? 1 : INT_MAX - 1;
    n.location = i % 16;
    n.flags = (i & 16 ? SCR_FLAG_CHECKPOINT : 0) | (i & 32 ? SCR_FLAG_OUTPUT : 0);
    if (i % 3 > 0) memset(n.name, 'n', i % 3 == 1 ? 1 : sizeof n.name - 1);
    if (i % 5 > 0) memset(n.dir, 'd', i % 5 == 1 ? 1 : sizeof n.dir - 1);
    CHECK_INT(scr_flush_file_open(&r, records_prefix), SCR_SUCCESS);
    scr_flush_file_put(&r, &n);
    CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 1), SCR_SUCCESS);
    CHECK_INT(scr_flush_file_read(&r, records_prefix), SCR_SUCCESS);
    memset(&back, 'x', sizeof back);
    CHECK(scr_flush_file_get(&r, n.id, &back) && memcmp(&n, &back, sizeof n) == 0);
    CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 0), SCR_SUCCESS);
  }
}

/* Note dataset ID, while no file can be created; the result. */
static int flush_put_on_full_disk(int id)
{
  scr_record r;
  int        rc = scr_flush_file_open(&r, records_prefix);

  flush_put(&r, id, "late", "out/late", SCR_FLAG_CHECKPOINT, SCR_LOCATION_CACHE);
  fault_on(FAULT_CREATE, records_prefix, ".tmp", INT_MAX);
  rc = scr_record_close(&r, rc, 1);
  fault_end();
  return rc;
}

/* The newest dataset that the flush file has for a reader. */
static int flush_newest(void)
{
  scr_record r;
  int        id = 0;

  CHECK_INT(scr_flush_file_read(&r, records_prefix), SCR_SUCCESS);
  id = scr_flush_file_before(&r, INT_MAX);
  scr_record_close(&r, SCR_SUCCESS, 0);
  return id;
}

static void a_flush_file_has_what_a_full_disk_kept_from_it(void)
{
  scr_record r;
  int        fd;

  records_begin();
  CHECK_INT(flush_put_on_full_disk(1), SCR_ERR_SPACE); /* nobody has made the spare */
  CHECK_INT(flush_newest(), 0);
  CHECK_INT(scr_flush_file_open(&r, records_prefix), SCR_SUCCESS);
  flush_put(&r, 2, "two", "out/two", SCR_FLAG_CHECKPOINT, SCR_LOCATION_CACHE);
  CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK_INT(flush_put_on_full_disk(3), SCR_SUCCESS);
  CHECK_INT(flush_newest(), 3);
  CHECK_INT(flush_put_on_full_disk(5), SCR_SUCCESS);
  CHECK_INT(flush_newest(), 5);
  CHECK_INT(scr_flush_file_open(&r, records_prefix), SCR_SUCCESS);
  CHECK_INT(scr_flush_file_before(&r, 5), 3); /* it has both */
  flush_put(&r, 7, "seven", "out/seven", SCR_FLAG_CHECKPOINT, SCR_LOCATION_CACHE);
  scr_flush_file_remove(&r, 5);
  CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK_INT(flush_newest(), 7); /* from the file again, */
  CHECK_INT(flush_put_on_full_disk(9), SCR_SUCCESS);
  fd = open(records_path("flush.scr.spare"), O_WRONLY); /* which counts when the spare is torn */
  CHECK(fd >= 0 && pwrite(fd, "torn", 4, 40) == 4 && close(fd) == 0);
  CHECK_INT(flush_newest(), 7);
  CHECK_INT(flush_put_on_full_disk(11), SCR_SUCCESS);
  CHECK_INT(flush_newest(), 11);
  CHECK_INT(unlink(records_path("flush.scr.spare")), 0);
  CHECK_INT(flush_newest(), 7);
  CHECK_INT(symlink("flush.scr", records_path("flush.scr.spare")), 0); /* a link is not followed */
  CHECK_INT(flush_put_on_full_disk(13), SCR_ERR_SPACE);
  CHECK_INT(flush_newest(), 7);
}

static void a_flush_file_says_where_datasets_are(void)
{
  scr_record r;

  records_begin();
  CHECK(scr_flush_file_read(&r, records_prefix) == SCR_SUCCESS && scr_flush_file_next(&r, 0) == 0);
  CHECK_STR(flush_note(&r, 6), "-");
  scr_record_close(&r, SCR_SUCCESS, 0);
  CHECK_INT(scr_flush_file_open(&r, records_prefix), SCR_SUCCESS);
  CHECK(r.lock >= 0 && !records_unlocked("flush.scr"));
  flush_put(&r, 6, "six", "out/six", SCR_FLAG_CHECKPOINT, SCR_LOCATION_CACHE | SCR_LOCATION_FLUSHING);
  flush_put(&r, 6, "six", "out/six", SCR_FLAG_CHECKPOINT,
            SCR_LOCATION_CACHE); /* in its place: no location of the old one */
  flush_put(&r, 10, "ten", "out/ten", SCR_FLAG_OUTPUT, SCR_LOCATION_CACHE | SCR_LOCATION_SYNC_FLUSHING);
  flush_put(&r, 9, "", "", 0, SCR_LOCATION_PREFIX);
  CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK(records_unlocked("flush.scr"));
  CHECK_INT(scr_flush_file_read(&r, records_prefix), SCR_SUCCESS);
  CHECK_STR(flush_note(&r, 6), "1 1 six out/six");
  CHECK_STR(flush_note(&r, 10), "2 9 ten out/ten");
  CHECK_STR(flush_note(&r, 9), "0 2  ");
  CHECK_STR(flush_note(&r, 7), "-");
  CHECK(scr_hash_get_kv(scr_hash_get_kv_int(r.h, "DSET", 10), "LOCATION", "SYNC_FLUSHING") != NULL); /* its form */
  CHECK(scr_hash_get_kv(scr_hash_get_kv_int(r.h, "DSET", 6), "CKPT", "1") != NULL);
  CHECK(scr_flush_file_next(&r, 0) == 6 && scr_flush_file_next(&r, 6) == 9 && scr_flush_file_next(&r, 9) == 10);
  CHECK(scr_flush_file_next(&r, 10) == 0 && scr_flush_file_before(&r, INT_MAX) == 10);
  CHECK(scr_flush_file_before(&r, 10) == 9 && scr_flush_file_before(&r, 6) == 0);
  scr_flush_file_remove(&r, 9);
  scr_flush_file_remove(&r, 9);
  scr_flush_file_remove(&r, 77);
  CHECK(scr_flush_file_next(&r, 6) == 10);
  scr_record_close(&r, SCR_SUCCESS, 0);
  CHECK(scr_flush_file_open(&r, "/nonexistent/prefix") == SCR_ERR_IO && r.lock == -1);
  CHECK_INT(scr_record_close(&r, SCR_ERR_IO, 1), SCR_ERR_IO);
}

static void the_flush_file_of_two_earlier_releases_is_read(void)
{
  static const char* const old[] = {CHECK_DATA "/scr-1.2.2/flush.scr", CHECK_DATA "/scr-3.1/flush.scr"};
  scr_record               r;
  scr_flush_note           n;
  int                      i, id;

  for (i = 0; i < 2; i++) {
    records_begin();
    records_copy(old[i], records_path("flush.scr"));
    CHECK_INT(i == 0 ? scr_flush_file_read(&r, records_prefix) : scr_flush_file_open(&r, records_prefix), SCR_SUCCESS);
    CHECK(scr_flush_file_get(&r, 3, &n) && (n.location & SCR_LOCATION_PREFIX) && scr_flush_file_get(&r, 2, &n));
    CHECK((n.location & SCR_LOCATION_CACHE) && scr_hash_get(r.h, "DATASET") == NULL);
    for (id = 2; id <= 3; id++) {
      char name[32];
      snprintf(name, sizeof name, "ckpt.%d", id);
      CHECK(scr_flush_file_get(&r, id, &n) && (n.flags & SCR_FLAG_CHECKPOINT));
      CHECK_STR(n.name, name);
    }
    CHECK(scr_flush_file_next(&r, 0) == 2 && scr_flush_file_before(&r, INT_MAX) == 3);
    CHECK_INT(scr_record_close(&r, SCR_SUCCESS, i), SCR_SUCCESS);
  }
  CHECK_INT(scr_flush_file_read(&r, records_prefix), SCR_SUCCESS); /* what was written back is the same */
  CHECK(scr_flush_file_get(&r, 3, &n) && (n.location & SCR_LOCATION_PREFIX));
  scr_record_close(&r, SCR_SUCCESS, 0);
}

/* Whatever the file holds: its ids are some, its texts end, and it can be changed. */
static void flush_try(const char* path)
{
  scr_record     r;
  scr_flush_note n;
  int            id, last = 0, up = 0, down = 0, rc = scr_flush_file_open(&r, records_prefix);

  (void)path;
  CHECK(rc == SCR_SUCCESS || (rc == SCR_ERR_FORMAT && *scr_err_text != '\0'));
  for (id = scr_flush_file_next(&r, 0); id != 0; last = id, id = scr_flush_file_next(&r, id), up++) {
    CHECK(id > last && id < INT_MAX && scr_flush_file_get(&r, id, &n) && n.id == id);
    CHECK(strlen(n.name) < sizeof n.name && strlen(n.dir) < sizeof n.dir && n.location >= 0 && n.location < 16);
  }
  for (id = scr_flush_file_before(&r, INT_MAX); id != 0; id = scr_flush_file_before(&r, id)) down++;
  CHECK_INT(up, down);
  flush_put(&r, 2, "two", "dir", 0, SCR_LOCATION_PREFIX);
  if (rc == SCR_SUCCESS) CHECK_STR(flush_note(&r, 2), "0 2 two dir");
  CHECK_INT(scr_record_close(&r, rc, 1), rc);
}

/* The choice whose range this was may be gone from the index, and the flush file behind. */
static void an_id_that_counts_as_passed_over_is_not_given_again(void)
{
  scr_index index;
  int       rc = scr_index_open(&index, records_prefix), before = scr_flush_file_last_id(&index);

  scr_index_pass(&index, before + 5, before + 8, 0);
  CHECK_INT(scr_index_is_passed(&index, before + 7), 1);
  CHECK_INT(scr_index_is_passed(&index, before + 8), 0);
  CHECK_INT(scr_flush_file_last_id(&index), before + 7);
  CHECK_INT(scr_index_close(&index, rc, 0), SCR_SUCCESS);
}

static void a_hostile_flush_file_does_no_harm(void)
{
  scr_hash* h = scr_hash_new();
  char      path[2 * SCR_MAX_FILENAME];

  records_begin();
  snprintf(path, sizeof path, "%s", records_path("flush.scr"));
  CHECK_INT(scr_hash_file_read(CHECK_DATA "/scr-1.2.2/flush.scr", h), SCR_SUCCESS);
  scr_fsync_enabled = 0;
  records_fuzz(h, path, 2000, flush_try);
  scr_fsync_enabled = 1;
  scr_hash_delete(&h);
}

/* ---- faults ---- */

/* Change each file of a run, and read it; the first error. */
static int run_story(const char* prefix)
{
  scr_record     flush, halt;
  scr_flush_note n;
  int            nodes = 0, rc = scr_flush_file_open(&flush, prefix);

  if (rc == SCR_SUCCESS) flush_put(&flush, 3, "three", "new", SCR_FLAG_CHECKPOINT, SCR_LOCATION_CACHE);
  rc = scr_record_close(&flush, rc, 1);
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_record_open(&halt, prefix, "halt.scr");
  if (rc == SCR_SUCCESS) scr_halt_count(halt.h, 1);
  if (rc == SCR_SUCCESS) rc = scr_halt_merge(halt.h, halt.h, 0);
  rc = scr_record_close(&halt, rc, 1);
  if (rc == SCR_SUCCESS) rc = scr_nodes_file_write(prefix, 2, NULL, 0);
  if (rc == SCR_SUCCESS) rc = scr_nodes_file_read(prefix, &nodes);
  if (rc == SCR_SUCCESS) CHECK_INT(nodes, 2);
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_flush_file_read(&flush, prefix);
  if (rc == SCR_SUCCESS) CHECK(scr_flush_file_get(&flush, 3, &n) && strcmp(n.dir, "new") == 0);
  return scr_record_close(&flush, rc, 0);
}

/* Each file is as it was or as it should be, one after the other; then as it was again. */
static void run_judge(int rc)
{
  scr_record     r;
  scr_flush_note n;
  int            nodes = 0, left;

  CHECK(scr_flush_file_read(&r, records_prefix) == SCR_SUCCESS && scr_flush_file_get(&r, 3, &n));
  CHECK(strcmp(n.dir, "old") == 0 || strcmp(n.dir, "new") == 0);
  if (rc == SCR_SUCCESS) CHECK_STR(n.dir, "new");
  scr_record_close(&r, SCR_SUCCESS, 0);
  CHECK_INT(scr_record_read(&r, records_prefix, "halt.scr"), SCR_SUCCESS);
  left = scr_hash_int_or(r.h, "CheckpointsLeft", -1);
  CHECK(left == 4 || (left == 5 && rc != SCR_SUCCESS));
  scr_record_close(&r, SCR_SUCCESS, 0);
  CHECK_INT(scr_nodes_file_read(records_prefix, &nodes), SCR_SUCCESS);
  CHECK(nodes == 2 || (nodes == 7 && rc != SCR_SUCCESS));
  CHECK(left == 4 || nodes == 7);
  CHECK(records_unlocked("flush.scr") && records_unlocked("halt.scr"));

  CHECK_INT(scr_flush_file_open(&r, records_prefix), SCR_SUCCESS);
  flush_put(&r, 3, "three", "old", 0, SCR_LOCATION_CACHE);
  CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK_INT(scr_record_open(&r, records_prefix, "halt.scr"), SCR_SUCCESS);
  scr_hash_util_set_int(r.h, "CheckpointsLeft", 5);
  CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK_INT(scr_nodes_file_write(records_prefix, 7, NULL, 0), SCR_SUCCESS);
}

static void a_failure_leaves_the_old_files_of_a_run_or_the_new_ones(void)
{
  records_begin();
  CHECK_INT(run_story(records_prefix), SCR_SUCCESS);
  scr_nodes_file_write(records_prefix, 7, NULL, 0);
  {
    scr_record r;
    CHECK_INT(scr_record_open(&r, records_prefix, "halt.scr"), SCR_SUCCESS);
    scr_hash_util_set_int(r.h, "CheckpointsLeft", 5);
    CHECK_INT(scr_record_close(&r, SCR_SUCCESS, 1), SCR_SUCCESS);
  }
  CHECK(records_alloc_sweep(run_story, records_prefix, run_judge) > 100);
  CHECK(records_fault_sweep(FAULT_FAIL, EIO, run_story, records_prefix, run_judge) > 40);
  records_fault_sweep(FAULT_DEAD, EIO, run_story, records_prefix, run_judge);
  records_fault_sweep(FAULT_TORN, ENOSPC, run_story, records_prefix, run_judge);
}

/* ---- halt file ---- */

/* The reason to stop of a run of job 57 at time NOW with LEFT seconds left; "-" when it goes on. */
static const char* halt_reason(const scr_hash* h, int64_t now, int64_t left)
{
  int k = scr_halt_check(h, "57", now, left);
  return k >= 0 ? scr_halt_reason(h, k) : "-";
}

static void a_run_stops_for_the_last_reason_that_holds(void)
{
  scr_hash* h = scr_hash_new();

  CHECK_STR(halt_reason(h, 1000, 0), "-");
  CHECK_STR(halt_reason(NULL, 1000, 0), "-");
  scr_hash_util_set_int(h, "HaltSeconds", 100);
  CHECK_STR(halt_reason(h, 1000, 101), "-");
  CHECK_STR(halt_reason(h, 1000, -1), "-");
  CHECK_STR(halt_reason(h, 1000, 100), "TIME_LIMIT");
  scr_hash_util_set_str(h, "ExitReason", "SCR_FINALIZE_CALLED");
  CHECK_STR(halt_reason(h, 1000, -1), "-");
  scr_hash_util_set_str(h, "ExitReason", "");
  CHECK_STR(halt_reason(h, 1000, -1), "-");
  scr_hash_util_set_str(h, "ExitReason", "JOB_HALTED");
  CHECK_STR(halt_reason(h, 1000, 100), "JOB_HALTED");
  scr_hash_util_set_int(h, "CheckpointsLeft", 2);
  CHECK_STR(halt_reason(h, 1000, 100), "JOB_HALTED");
  scr_halt_count(h, 1);
  CHECK_STR(scr_hash_elem_get_first_val(h, "CheckpointsLeft"), "1");
  scr_halt_count(h, 5);
  CHECK_STR(scr_hash_elem_get_first_val(h, "CheckpointsLeft"), "0");
  CHECK_STR(halt_reason(h, 1000, 100), "NO_CHECKPOINTS_LEFT");
  scr_hash_util_set_int(h, "ExitBefore", 1101);
  CHECK_STR(halt_reason(h, 1000, -1), "NO_CHECKPOINTS_LEFT");
  CHECK_STR(halt_reason(h, 1001, -1), "EXIT_BEFORE_TIME");
  scr_hash_util_set_int(h, "ExitAfter", 2000);
  CHECK_STR(halt_reason(h, 1999, -1), "EXIT_BEFORE_TIME");
  CHECK_STR(halt_reason(h, 2000, -1), "EXIT_AFTER_TIME");

  /* values of any size, and those that are none (Y1) */
  scr_hash_unset_all(h);
  scr_hash_util_set_str(h, "ExitBefore", "-9223372036854775808");
  scr_hash_util_set_str(h, "HaltSeconds", "9223372036854775807");
  CHECK_STR(halt_reason(h, 0, -1), "EXIT_BEFORE_TIME");
  scr_hash_util_set_str(h, "ExitBefore", "9223372036854775807");
  scr_hash_util_set_str(h, "HaltSeconds", "-9223372036854775808");
  scr_hash_util_set_str(h, "ExitAfter", "tomorrow");
  scr_hash_util_set_str(h, "CheckpointsLeft", "0x0");
  CHECK_STR(halt_reason(h, 0, 0), "-");
  scr_halt_count(h, 1);
  CHECK_STR(scr_hash_elem_get_first_val(h, "CheckpointsLeft"), "0x0");
  scr_hash_delete(&h);
}

/* H has stopped a run of JOB for REASON, after RESTARTS of the job: what another run of job 57 then finds. */
static const char* halt_after(scr_hash* h, const char* job, const char* restarts, const char* reason)
{
  setenv("SLURM_RESTART_COUNT", restarts, 1);
  scr_halt_end(h, reason, job);
  unsetenv("SLURM_RESTART_COUNT");
  return halt_reason(h, 0, -1);
}

static void what_a_run_wrote_holds_for_its_job_and_what_a_person_set_until_it_is_removed(void)
{
  scr_hash* h = scr_hash_new();
  char      text[SCR_HALT_TEXT_MAX];
  int64_t   left = 100;

  CHECK_STR(halt_after(h, "57", "0", "TIME_LIMIT"), "TIME_LIMIT");
  CHECK(!scr_halt_begin(h, "57"));
  CHECK_INT(scr_halt_standing(h, "/p", "57", 0, -1, 1, text), 1);
  CHECK(strstr(text, "the reason TIME_LIMIT, written by a run of job 57 at ") != NULL);
  CHECK(strstr(text, ", for this job only; `scr_halt --unset-reason /p` takes it back") != NULL);
  CHECK_INT(scr_halt_standing(h, "/p", "58", 0, -1, 1, text), 0);
  CHECK_STR(text, "");
  CHECK_STR(halt_after(h, "56", "0", "TIME_LIMIT"), "-");
  CHECK_STR(halt_after(h, "57", "1", "TIME_LIMIT"), "-"); /* the job was requeued, and has its time anew */
  CHECK(scr_halt_begin(h, "57"));
  CHECK_INT(scr_hash_size(h), 0);
  CHECK_STR(halt_after(h, "57", "0", SCR_HALT_ENDED), "-");
  CHECK(scr_halt_is_over(h, "57") && scr_halt_is_over(h, NULL) && !scr_halt_is_over(h, "58"));
  CHECK(scr_halt_begin(h, "57") && !scr_halt_is_over(h, "57"));
  CHECK_STR(halt_after(h, SCR_JOB_DEFAULT, "0", "TIME_LIMIT"), "-");
  CHECK_INT(scr_halt_check(h, SCR_JOB_DEFAULT, 0, -1), SCR_HALT_REASON); /* for the command that follows */
  CHECK(scr_halt_begin(h, SCR_JOB_DEFAULT));                             /* but not for the next run */

  scr_hash_util_set_str(h, "ExitReason", "TIME_LIMIT"); /* of a version that signed nothing */
  CHECK_STR(halt_reason(h, 0, -1), "-");
  CHECK(scr_halt_begin(h, "57"));
  scr_hash_util_set_str(h, "ExitReason", "JOB_HALTED");
  CHECK_STR(halt_after(h, "57", "0", SCR_HALT_ENDED), "JOB_HALTED");
  CHECK(!scr_halt_begin(h, "57"));
  CHECK_STR(halt_reason(h, 0, -1), "JOB_HALTED");
  scr_halt_sign(h, SCR_HALT_REASON, "ana", "login1", NULL);
  scr_hash_util_set_int(h, "CheckpointsLeft", 0);
  scr_halt_sign(h, SCR_HALT_COUNT, "bob", "login2", NULL);
  scr_hash_util_set_int(h, "ExitAfter", 5000);
  CHECK_STR(halt_after(h, "57", "0", "TIME_LIMIT"), "NO_CHECKPOINTS_LEFT");
  CHECK_INT(scr_halt_standing(h, "/p", "58", 1000, -1, 1, text), 2);
  CHECK(strstr(text, "the reason JOB_HALTED, set by ana on login1 at ") != NULL);
  CHECK(strstr(text, "takes it back; no checkpoints are left, set by bob on login2 at ") != NULL);
  CHECK(strstr(text, "; `scr_halt --unset-checkpoints /p` takes it back") != NULL);
  CHECK_INT(scr_halt_standing(h, "/p", "58", 1000, -1, 0, text), 1);
  CHECK(strncmp(text, "the run stops after 1970-01-01T", 31) == 0);
  CHECK(scr_halt_unset(h, SCR_HALT_COUNT) && !scr_halt_unset(h, SCR_HALT_COUNT));
  CHECK_STR(halt_reason(h, 0, -1), "JOB_HALTED");

  scr_hash_unset_all(h);
  CHECK(scr_halt_allocation(h, "57", 1000, &left));
  left = 20;
  CHECK(!scr_halt_allocation(h, "57", 1001, &left) && left == 100);
  left = 300; /* someone has extended it */
  CHECK(!scr_halt_allocation(h, "57", 2000, &left) && left == 300);
  left = 50;
  CHECK(scr_halt_allocation(h, SCR_JOB_DEFAULT, 2000, &left) && left == 50);
  left = 40;
  CHECK(!scr_halt_allocation(h, SCR_JOB_DEFAULT, 2000, &left) && left == 50);
  left = 40;
  CHECK(scr_halt_allocation(h, SCR_JOB_DEFAULT, 3000, &left) && left == 40);
  scr_hash_delete(&h);
}

static void conditions_of_the_halt_file_win_over_those_in_memory(void)
{
  scr_hash*  memory = scr_hash_new();
  char       text[200];
  scr_record file;

  records_begin();
  records_copy(CHECK_DATA "/scr-1.2.2/halt.scr", records_path("halt.scr"));
  CHECK_INT(scr_record_read(&file, records_prefix, "halt.scr"), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(file.h, "ExitReason"), "SCR_FINALIZE_CALLED");
  scr_hash_util_set_str(memory, "ExitReason", "JOB_HALTED");
  CHECK_INT(scr_halt_merge(memory, file.h, 60), SCR_SUCCESS); /* the end of a run is no reason */
  CHECK(scr_hash_get(file.h, "HaltSeconds") == NULL);
  CHECK_STR(scr_hash_elem_get_first_val(memory, "HaltSeconds"), "60");
  CHECK_STR(halt_reason(memory, 0, -1), "-");
  CHECK_INT(scr_record_close(&file, SCR_SUCCESS, 0), SCR_SUCCESS);

  records_copy(CHECK_DATA "/scr-3.1/halt.scr", records_path("halt.scr"));
  CHECK_INT(scr_record_read(&file, records_prefix, "halt.scr"), SCR_SUCCESS);
  CHECK(scr_hash_size(file.h) > 0 && scr_halt_check(file.h, "57", 1000, 100) < 0);
  CHECK_INT(scr_record_close(&file, SCR_SUCCESS, 0), SCR_SUCCESS);

  records_copy(NULL, records_path("halt.scr"));
  CHECK_INT(scr_record_open(&file, records_prefix, "halt.scr"), SCR_SUCCESS);
  CHECK_INT(scr_hash_size(file.h), 0);
  scr_hash_util_set_int(file.h, "CheckpointsLeft", 3);
  scr_hash_util_set_int(file.h, "HaltSeconds", 5);
  scr_hash_util_set_str(file.h, "ExitReason", "JOB_HALTED");
  CHECK_INT(scr_record_close(&file, SCR_SUCCESS, 1), SCR_SUCCESS);
  CHECK_INT(scr_record_read(&file, records_prefix, "halt.scr"), SCR_SUCCESS);
  CHECK_INT(scr_halt_merge(memory, file.h, 60), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(memory, "CheckpointsLeft"), "3");
  CHECK_STR(scr_hash_elem_get_first_val(memory, "HaltSeconds"), "5");
  CHECK_STR(scr_hash_elem_get_first_val(memory, "ExitReason"), "JOB_HALTED");
  scr_hash_unset_all(file.h); /* taken away by the user */
  CHECK_INT(scr_halt_merge(memory, file.h, 60), SCR_SUCCESS);
  CHECK_INT(scr_hash_size(memory), 2);
  scr_halt_tell(memory, SCR_HALT_TIME, "/p", text, sizeof text);
  CHECK_STR(text, "the run stops when the allocation has no more than 60 s left, by SCR_HALT_SECONDS");
  CHECK_STR(scr_hash_elem_get_first_val(memory, "HaltSeconds"), "60");
  CHECK_INT(scr_record_close(&file, SCR_SUCCESS, 0), SCR_SUCCESS);
  scr_hash_delete(&memory);
}

/* ---- nodes file ---- */

static void see_cntl(const char* host, const char* kind, const char* dir, void* arg)
{
  if (strcmp(kind, "CNTL") == 0) sprintf((char*)arg + strlen((const char*)arg), "%s:%s ", host, dir);
}

/* A run on HOST with the control directory DIR. */
static void run_on(const char* host, const char* dir, int keep)
{
  scr_hash* hosts = scr_hash_new();

  scr_hash_setf(hosts, NULL, "%s CNTL", host);
  scr_hash_set_kv(scr_hash_get(hosts, host), "CNTL", dir);
  CHECK_INT(scr_nodes_file_write(records_prefix, 1, hosts, keep), SCR_SUCCESS);
}

static void a_nodes_file_keeps_where_earlier_runs_were(void)
{
  char last[200] = "", before[200] = "";

  records_begin();
  run_on("a", "/one", 0);
  CHECK_INT(scr_nodes_file_walk_before(records_prefix, see_cntl, before), SCR_ERR_NOT_FOUND);
  run_on("a", "/two", 1);
  run_on("b", "/two", 1);
  CHECK_INT(scr_nodes_file_walk(records_prefix, see_cntl, last), SCR_SUCCESS);
  CHECK(strcmp(last, "b:/two ") == 0);
  CHECK_INT(scr_nodes_file_walk_before(records_prefix, see_cntl, before), SCR_SUCCESS);
  CHECK(strcmp(before, "a:/one a:/two ") == 0 || strcmp(before, "a:/two a:/one ") == 0);
  run_on("b", "/two", 0);
  CHECK_INT(scr_nodes_file_walk_before(records_prefix, see_cntl, before), SCR_ERR_NOT_FOUND);
}

static void a_nodes_file_holds_the_nodes_of_the_last_run(void)
{
  static const char* const bad[] = {"many", "-1", "2147483648", ""};
  scr_hash*                h = scr_hash_new();
  size_t                   i;
  int                      n = 7;

  records_begin();
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_ERR_NOT_FOUND && n == 7);
  CHECK_INT(scr_nodes_file_write(records_prefix, 12, NULL, 0), SCR_SUCCESS);
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_SUCCESS && n == 12);
  CHECK_INT(scr_nodes_file_write(records_prefix, INT_MAX, NULL, 0), SCR_SUCCESS);
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_SUCCESS && n == INT_MAX);
  records_copy(CHECK_DATA "/scr-1.2.2/nodes.scr", records_path("nodes.scr"));
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_SUCCESS && n == 4);
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    scr_hash_util_set_str(h, "NODES", bad[i]);
    CHECK_INT(scr_hash_file_write(records_path("nodes.scr"), h), SCR_SUCCESS);
    n = 7;
    CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_ERR_FORMAT && n == 0);
  }
  check_put(records_path("nodes.scr"), "damaged", 7);
  n = 7;
  CHECK(scr_nodes_file_read(records_prefix, &n) == SCR_ERR_FORMAT && n == 7);
  CHECK_INT(scr_nodes_file_write("/nonexistent/prefix", 3, NULL, 0), SCR_ERR_IO);
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

/* Make L log for "me" on "node7": to the log of PREFIX if TXT is 1, else to the system log. */
static void log_who(scr_log* l, int txt, const char* prefix)
{
  memset(l, 0, sizeof *l);
  l->txt = txt;
  l->syslog = !txt;
  l->host = "node7";
  l->user = "me";
  l->job = "123";
  l->prefix = prefix;
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

static void a_log_grows_by_whole_lines(void)
{
  static char     note[3 * SCR_ERR_TEXT_MAX];
  scr_log         l;
  scr_log_dataset d = {18, "a \"b\"", 1.5}, unknown = {0, NULL, -1.0};
  char            before[4096], want[512], now[32];
  int             i, k, status;
  time_t          t = time(NULL);

  records_begin();
  log_who(&l, 1, records_prefix);
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

/* The line of EVENT of run N of JOB, AT seconds after its begin. */
static int log_run(scr_log_runs* r, const char* job, int n, const char* event, int at)
{
  char line[200];

  snprintf(line, sizeof line, "x: host=n1, jobid=%s, event=%s", job, event);
  return scr_log_runs_add(r, line, event, 1000000 * (int64_t)n + at);
}

static void runs_without_an_end_that_others_of_their_job_follow_have_failed(void)
{
  scr_log_runs r;

  memset(&r, 0, sizeof r);
  log_run(&r, "1", 0, "CHECKPOINT_END", 5); /* of a run whose beginning is lost */
  CHECK(log_run(&r, "1", 1, "START", 0) == 0 && log_run(&r, "1", 1, "COMPUTE_END", 100) == 0);
  CHECK(log_run(&r, "1", 2, "START", 0) == 1 && log_run(&r, "1", 2, "HALT", 50) == 0);
  CHECK(log_run(&r, "1", 3, "START", 0) == 0 && log_run(&r, "1", 3, "END", 7) == 0);
  CHECK(log_run(&r, "1", 4, "START", 0) == 0); /* another job follows: nobody knows how it ended */
  CHECK(log_run(&r, "2", 5, "START", 0) == 0 && log_run(&r, "2", 5, "COMPUTE_START", -9) == 0);
  CHECK(scr_log_runs_next(&r, "2", 0) == 1 && scr_log_runs_next(&r, "2", 0) == 0);
  CHECK(r.runs == 5 && r.failures == 2 && r.seconds == 157);
  CHECK(log_run(&r, "2", 6, "START", 0) == 0 && log_run(&r, "2", 6, "RUN_END", 40) == 1);
  CHECK(log_run(&r, "2", 6, "RUN_START", 90) == 0 && log_run(&r, "2", 6, "RUN_END", 95) == 0); /* it did not begin */
  CHECK(log_run(&r, "2", 7, "START", 0) == 0 && log_run(&r, "2", 7, "END", 3) == 0);
  CHECK(log_run(&r, "2", 7, "RUN_END", 4) == 0 && scr_log_runs_next(&r, "2", 0) == 0);
  CHECK(r.runs == 7 && r.failures == 3 && r.seconds == 201);
}

/* What is read of a history. */
typedef struct {
  scr_log_runs runs;
  int          unsure; /* runs whose end is not known */
} log_history;

static void log_visit(const char* line, int64_t when, void* arg)
{
  log_history* h = (log_history*)arg;
  char         event[64];
  int          runs = h->runs.runs;

  CHECK(scr_log_value(line, "event", event, sizeof event));
  scr_log_runs_add(&h->runs, line, event, when);
  if (h->runs.runs > runs) h->unsure += h->runs.unsure;
}

/* The log becomes the lines of LINES, `<job> <event> <seconds>;`, as runs on two nodes write them. */
static void log_compose(const char* lines)
{
  FILE* f = fopen(records_path("log"), "w");
  char  job[32], event[32], when[32];
  int   at, n = 0;

  CHECK(f != NULL);
  for (; f != NULL && sscanf(lines, "%31s %31s %d;%n", job, event, &at, &n) == 3; lines += n) {
    scr_time_string((time_t)(1767258000 + at), when, sizeof when);
    fprintf(f, "%s: host=n%d, jobid=%s, event=%s", when, at % 2, job, event);
    if (strcmp(event, "START") == 0) fprintf(f, ", procs=4, nodes=2");
    if (strncmp(event, "RUN_", 4) == 0) fprintf(f, ", note=\"run=1\"");
    if (strcmp(event, "HALT") == 0) fprintf(f, ", note=\"JOB_HALTED\"");
    if (strcmp(event, "NODE_FAIL") == 0) fprintf(f, ", note=\"n1: does not answer, event=START\"");
    fprintf(f, "%s\n", strstr(event, "END") != NULL ? ", secs=1.500000" : "");
  }
  CHECK(*lines == '\0' && f != NULL && fclose(f) == 0);
}

/* What logs of ten histories tell. */
static void the_time_of_runs_is_neither_forgotten_nor_that_between_jobs(void)
{
  static const struct {
    const char *what, *lines;
    int         runs, failures, unsure;
    double      seconds;
  } of[] = {
      {"ended by itself", "1 START 0;1 COMPUTE_START 1;1 COMPUTE_END 99;1 END 100;", 1, 0, 0, 100},
      {"halted", "1 START 0;1 HALT 50;1 END 51;2 START 900000;2 END 900010;", 2, 0, 0, 61},
      {"killed while computing, and started again in its job", "1 START 0;1 COMPUTE_START 5;1 START 105;1 END 205;", 2,
       1, 0, 205},
      {"the same, by scr_run",
       "1 RUN_START 0;1 START 1;1 COMPUTE_START 5;1 RUN_END 101;1 RUN_START 161;1 START 162;1 END "
       "262;1 RUN_END 263;",
       2, 1, 0, 201},
      {"killed while writing",
       "1 START 0;1 COMPUTE_START 5;1 COMPUTE_END 50;1 CHECKPOINT_START 50;1 START 100;1 END 110;", 2, 1, 1, 60},
      {"killed while computing, with its job", "1 START 0;1 COMPUTE_START 5;2 START 259000;2 END 259100;", 2, 0, 1,
       105},
      {"the same, and the next job begins with scr_run",
       "1 RUN_START 0;1 START 1;1 COMPUTE_START 5;2 RUN_START 259000;2 START 259001;2 END 259101;2 RUN_END 259102;", 2,
       0, 1, 105},
      {"killed without a batch system",
       "defjobid START 0;defjobid COMPUTE_START 5;defjobid START 259000;defjobid END 259010;", 2, 1, 1, 15},
      {"ended, and a node fails and a scavenge follows",
       "1 START 0;1 END 100;1 RUN_END 101;1 NODE_FAIL 150;1 SCAVENGE_END 500;", 1, 0, 0, 101},
      {"a launcher that starts nothing",
       "1 RUN_START 0;1 RUN_END 9;1 RUN_START 20;1 START 21;1 COMPUTE_START 22;1 RUN_END 31;", 1, 1, 0, 10}};
  size_t i;

  records_begin();
  for (i = 0; i < sizeof of / sizeof *of; i++) {
    log_history   h;
    scr_log_runs* r = &h.runs;
    memset(&h, 0, sizeof h);
    log_compose(of[i].lines);
    CHECK_INT(scr_log_read(records_path("log"), log_visit, &h), SCR_SUCCESS);
    scr_log_runs_next(r, "", 0);
    if (r->runs == of[i].runs && r->failures == of[i].failures && r->seconds == of[i].seconds &&
        h.unsure == of[i].unsure)
      continue;
    printf("%s: %d runs, %d failures, %d unsure, %g s\n", of[i].what, r->runs, r->failures, h.unsure, r->seconds);
    CHECK(0);
  }
}

/* What `qstat -f` says after the time, a dash in it too, does not matter. */
static void managers_tell_what_time_is_left(void)
{
  static const struct {
    scr_manager kind;
    const char* file;
    int64_t     left;
  } say[] = {{SCR_MANAGER_PBS, "qstat.txt", 5400 - 1230},
             {SCR_MANAGER_PBS, "qstat-torque.txt", 3000},
             {SCR_MANAGER_SLURM, "squeue-left.txt", 86400 + 7384},
             {SCR_MANAGER_LSF, "bjobs.txt", 12 * 3600 + 300},
             {SCR_MANAGER_FLUX, "flux-left.txt", 5400}};
  size_t i;

  for (i = 0; i < sizeof say / sizeof *say; i++) {
    char    path[300], text[8192];
    int64_t left = -1;
    FILE*   f;
    size_t  n;
    snprintf(path, sizeof path, "%s/managers/%s", CHECK_DATA, say[i].file);
    f = fopen(path, "r");
    CHECK(f != NULL);
    n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) fclose(f);
    text[n] = '\0';
    CHECK(scr_left_of(say[i].kind, text, &left) == 1);
    CHECK_INT((int)left, (int)say[i].left);
  }
}

static int log_is(double x, double want)
{
  return x > want * 0.999999 && x < want * 1.000001;
}

static void the_best_interval_is_that_of_young_and_daly(void)
{
  scr_cost c = {0, 0};
  int      i;

  CHECK(scr_sqrt(0) < 1e-100 && log_is(scr_sqrt(2), 1.41421356) && log_is(scr_sqrt(1e300), 1e150));
  CHECK(log_is(scr_sqrt(1e-12), 1e-6));
  CHECK(log_is(scr_best_interval(5, 3000, 0), 173.205081) && log_is(scr_best_interval(5, 3000, 1), 169.887785));
  CHECK(scr_best_interval(50, 25, 1) == 25 && scr_best_interval(1e9, 25, 1) == 25);
  for (i = 0; i < 4; i++) scr_cost_learn(&c, 2 * i);
  CHECK(log_is(c.seconds, 3)); /* the mean of the first ones */
  for (i = 0; i < 200; i++) scr_cost_learn(&c, 50);
  CHECK(log_is(c.seconds, 50)); /* and later ones replace them */
}

#if defined(__linux__)
/* The log of the system: in a child that has a /dev of its own, with a /dev/log that it reads itself. */
static int log_to_system(void)
{
  scr_log            l;
  scr_log_dataset    d = {18, "a", 1.5};
  struct sockaddr_un at;
  char               got[2048];
  int                fd = socket(AF_UNIX, SOCK_DGRAM, 0);

  log_who(&l, 0, "/p");
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

static void a_line_for_the_system_names_user_and_prefix(void)
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
static void a_line_for_the_system_names_user_and_prefix(void)
{
}
#endif

static void test_run_files(void)
{
  a_flush_note_reads_as_it_was_written();
  a_flush_file_says_where_datasets_are();
  a_flush_file_has_what_a_full_disk_kept_from_it();
  the_flush_file_of_two_earlier_releases_is_read();
  an_id_that_counts_as_passed_over_is_not_given_again();
  a_hostile_flush_file_does_no_harm();
  a_failure_leaves_the_old_files_of_a_run_or_the_new_ones();
  a_run_stops_for_the_last_reason_that_holds();
  what_a_run_wrote_holds_for_its_job_and_what_a_person_set_until_it_is_removed();
  conditions_of_the_halt_file_win_over_those_in_memory();
  a_nodes_file_keeps_where_earlier_runs_were();
  a_nodes_file_holds_the_nodes_of_the_last_run();
  a_log_grows_by_whole_lines();
  a_line_for_the_system_names_user_and_prefix();
  runs_without_an_end_that_others_of_their_job_follow_have_failed();
  the_time_of_runs_is_neither_forgotten_nor_that_between_jobs();
  managers_tell_what_time_is_left();
  the_best_interval_is_that_of_young_and_daly();
}
