/*
** bad.c - bad input and bad surroundings: the same clear error on every rank, and nothing that is safe is lost.
**
** Each case first makes a good checkpoint, then breaks something, checks code and message, mends it, and at last
** restarts from what was safe.  mpi.sh runs them in mounts of its own, where it can: some change them.
*/
#include "mpi_test.h"

#include <sys/resource.h>

static int is_root(void)
{
  return getenv("TEST_REAL_ROOT") != NULL;
}

/* 1 when mpi.sh runs in mounts of its own; else the case is skipped. */
static int can_mount(void)
{
  if (getenv("TEST_MOUNTS") == NULL) skip("mounts of our own are not possible here");
  return getenv("TEST_MOUNTS") != NULL;
}

/* A case with a checkpoint ck1 in cache and prefix. */
static void begin_safe(size_t bytes)
{
  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 2, bytes);
}

/* SCR_Init fails with CODE and says WORD and WHERE; then MEND makes it right, and ck1 loads. */
static void init_fails(int code, const char* word, const char* where, const char* mend)
{
  ALIKE(SCR_Init(), code, word);
  CHECK(strstr(SCR_Last_error(), where) != NULL, "the message does not name %s: %s", where, SCR_Last_error());
  shell("%s", mend);
  run_gets("ck1", 2, 1000);
}

/* ---- space ----------------------------------------------------------------------------------------------------- */

/*
** Only the last rank cannot write its parity: every rank gets its error and its message, not those of who waited for
** it.
*/
static void the_error_of_the_one_rank_that_fails_is_told_on_all(void)
{
  char          path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], who[32], said[8192];
  struct rlimit old, small;

  begin();
  set("SCR_FLUSH=0");
  set("SCR_COPY_TYPE=XOR");
  snprintf(who, sizeof who, "rank %d on ", ranks - 1);
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  name_of("ck2", 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, seed_of("ck2", rank, 0), 900000), "cannot write %s: %s", file, strerror(errno));
  CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR, "%s", strerror(errno));
  small = old;
  small.rlim_cur = 100000;
  CHECK(rank < ranks - 1 || setrlimit(RLIMIT_FSIZE, &small) == 0, "%s", strerror(errno));
  hear();
  ALIKE(SCR_Complete_output(1), SCR_ERR_IO, "cache");
  heard(said, sizeof said);
  CHECK(strstr(said, " ranks") == NULL, "said: %s", said);
  CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0, "%s", strerror(errno));
  CHECK(rank == ranks - 1 || strncmp(SCR_Last_error(), who, strlen(who)) == 0, "not of rank %d: %s", ranks - 1,
        SCR_Last_error());
  OK(SCR_Finalize());
  run_gets("ck1", 2, 1000);
}

/* The application's files still fit, the parity does not. */
static void a_full_cache_costs_only_the_new_checkpoint(void)
{
  const size_t large = 1600000 / (size_t)ranks;
  char         path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], block[4096];
  int          rc, good;

  if (!can_mount()) return;
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_BYPASS=0");
  shell("mount -t tmpfs -o size=2m none cache");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  ALIKE(put("ck2", 1, large), SCR_ERR_SPACE, "cache");
  CHECK(cached_in("cache") == 2u, "the cache holds 0x%x", cached_in("cache"));
  OK(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT)); /* the application itself runs out of space */
  name_of("ck3", 0, path);
  OK(SCR_Route_file(path, file));
  memset(block, 'x', sizeof block);
  good = 1;
  {
    FILE* f = fopen(file, "w");
    int   i;
    for (i = 0; good && i < 300; i++) good = fwrite(block, sizeof block, 1, f) == 1;
    if (fclose(f) != 0) good = 0;
  }
  rc = same_code(SCR_Complete_output(good));
  CHECK(rc == SCR_ERR_SPACE, "%d %s", rc, SCR_Last_error());
  CHECK(good || strstr(SCR_Last_error(), "is full (") != NULL, "%s", SCR_Last_error());
  OK(SCR_Finalize());
  set("SCR_CACHE_BYPASS=1"); /* as the message says */
  run_puts("ck3", 1, large);
  run_gets("ck3", 1, large);
  set("SCR_CACHE_BYPASS=0");
  run_puts("ck4", 2, 1000);
  run_gets("ck4", 2, 1000);
  shell("umount cache");
}

/* Where a directory of the prefix has become a link, nothing behind it is deleted, and a stage is not followed. */
static void what_a_link_leads_to_is_not_deleted(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  shell("mkdir outside && mv prefix/ck1 outside/ck1 && ln -s ../outside/ck1 prefix/ck1");
  SCR_Delete("ck1");
  CHECK(there("outside/ck1/rank_0_0") && there("outside/ck1/rank_1_0"), "files outside were deleted");
  OK(SCR_Finalize());
  run_gets("ck2", 1, 1000);
}

/* The control directory is full, too, and the job is killed: what was never complete makes room for the next run. */
static void a_run_that_was_killed_on_a_full_node_is_followed_by_another(void)
{
  static const char* const what[] = {"on the same ranks", "with filemaps to write again", "with SCR_CACHE_PURGE"};
  char                     path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], block[4096];
  size_t                   k;

  if (!can_mount()) return;
  memset(block, 'x', sizeof block);
  for (k = 0; k < sizeof what / sizeof *what; k++) {
    int fd;
    during("%s", what[k]);
    begin();
    set("SCR_FLUSH=%d", k == 2);
    set("SCR_CACHE_BYPASS=0");
    set("SCR_CACHE_SIZE=2");
    set("SCR_CNTL_BASE=%s/cache", case_dir);
    shell("mount -t tmpfs -o size=1m none cache");
    OK(SCR_Init());
    OK(put("ck1", 2, 1000));
    OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
    name_of("ck2", 0, path);
    OK(SCR_Route_file(path, file));
    fd = open(file, O_WRONLY | O_CREAT, 0600);
    while (fd >= 0 && write(fd, block, sizeof block) > 0) continue;
    CHECK(errno == ENOSPC, "%s", strerror(errno));
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    run_dies();
    if (k == 1) shell("rm cache/*/scr.*/*/filemap.scrinfo");
    if (k == 2) set("SCR_CACHE_PURGE=1");
    run_gets("ck1", 2, 1000);
    set("SCR_CACHE_PURGE=");
    run_puts("ck3", 1, 1000);
    shell("umount cache");
  }
}

/* What is on the prefix does not fit into the cache: no verdict about it, and it loads when there is space. */
static void a_checkpoint_too_large_for_the_cache_loads_when_there_is_space(void)
{
  int  flag;
  char name[SCR_MAX_FILENAME];

  if (!can_mount()) return;
  begin_safe(200000);
  set("SCR_CACHE_BYPASS=0");
  shell("rm -rf cache/* cntl/*; mount -t tmpfs -o size=500k none cache");
  OK(same_code(SCR_Init()));
  ALIKE(SCR_Have_restart(&flag, name), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  CHECK(strstr(SCR_Last_error(), "ck1") != NULL && flag == 0, "%d %s", flag, SCR_Last_error());
  ALIKE(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  OK(SCR_Finalize());
  shell("umount cache");
  run_gets("ck1", 2, 200000);
}

/* The prefix is full: the dataset stays in the cache and is flushed later. */
static void a_checkpoint_stays_in_the_cache_while_the_prefix_is_full(void)
{
  if (!can_mount()) return;
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  shell("mount -t tmpfs -o size=600k none prefix");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  ALIKE(put("ck2", 1, 300000), SCR_ERR_SPACE, "prefix");
  shell("mount -o remount,size=8m prefix");
  OK(SCR_Finalize());
  CHECK(there("prefix/ck2/rank_0_0"), "SCR_Finalize did not flush ck2");
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  set("SCR_DISTRIBUTE=0");
  run_gets("ck2", 1, 300000);
  OK(SCR_Init());
  OK(SCR_Current("ck1"));
  get("ck1", 2, 1000);
  OK(SCR_Finalize());
  shell("umount prefix");
}

/* Nothing fits on the prefix any more. */
static void fill_prefix(void)
{
  shell(
      "dd if=/dev/zero of=prefix/fill bs=4k 2> /dev/null; ! { echo x > prefix/more; } 2> /dev/null && rm prefix/more");
}

/* A full prefix: the error says that the checkpoint is in the cache, although the trim behind it fails, too. */
static void an_error_of_a_flush_says_that_the_cache_keeps_the_checkpoint(void)
{
  if (!can_mount()) return;
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=1");
  shell("mount -t tmpfs -o size=600k none prefix");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  fill_prefix();
  ALIKE(put("ck2", 2, 1000), SCR_ERR_SPACE, "stays in the cache");
  shell("rm prefix/fill");
  OK(SCR_Finalize());
  CHECK(there("prefix/ck2/rank_0_0"), "SCR_Finalize did not flush ck2");
  shell("umount prefix");
}

/* The end of a run of which the halt file should tell. */
static void finalize_full(void)
{
  int rc = same_code(SCR_Finalize());
  CHECK(rc == SCR_SUCCESS || (rc == SCR_ERR_SPACE && strstr(SCR_Last_error(), "halt.scr") != NULL), "%d %s", rc,
        rc ? SCR_Last_error() : "");
}

/* No record of the prefix can be written: a run restarts from the cache, and its new checkpoint is safe there. */
static void a_full_prefix_keeps_no_run_from_the_cache(void)
{
  char text[8192];
  int  run, flag = -1;

  if (!can_mount()) return;
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=2");
  shell("mount -t tmpfs -o size=600k none prefix");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  run_dies();
  shell("rm prefix/.scr/reserve");
  fill_prefix();
  for (run = 0; run < 2; run++) {
    during("run %d", run);
    if (run == 1) shell("mv prefix/.scr/flush.scr.spare prefix/.scr/aside"); /* as on a prefix that was always full */
    OK(same_code(init_says(text, sizeof text)));
    CHECK(rank > 0 || strstr(text, "warning") != NULL, "no warning: %s", text);
    CHECK(rank > 0 || (strstr(text, "flush.scr") != NULL) == (run == 1), "%s", text);
    CHECK(strstr(text, "error") == NULL, "%s", text);
    get(run == 0 ? "ck1" : "ck2", 2, 1000);
    OK(put(run == 0 ? "ck2" : "ck3", 2, 1000));
    if (run == 0) run_dies();
    else finalize_full();
  }
  shell("rm prefix/fill");
  OK(same_code(init_says(text, sizeof text)));
  CHECK(*text == '\0', "%s", text);
  get("ck3", 2, 1000);
  CHECK(count_in("prefix/.scr", ".tmp") == 0, "temporary files are left");
  run_dies();
  lose_all_nodes();
  OK(SCR_Init()); /* the flush file knows again what was lost */
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck3 (dataset 3, ");
  CHECK(strstr(SCR_Last_error(), "ck2 (dataset 2, ") != NULL, "%s", SCR_Last_error());
  OK(SCR_Finalize());
  shell("umount prefix");
}

/* To the last byte: the index can be changed all the same, so that a deletion makes room. */
static void on_a_full_prefix_older_checkpoints_make_room(void)
{
  if (!can_mount()) return;
  begin();
  set("SCR_FLUSH=1");
  set("SCR_PREFIX_SIZE=2");
  shell("mount -t tmpfs -o size=900k none prefix");
  OK(SCR_Init());
  OK(put("ck1", 2, 15000));
  OK(put("ck2", 2, 15000));
  fill_prefix();
  OK(put("ck3", 2, 15000));
  CHECK(there("prefix/ck3/rank_0_0") && !there("prefix/ck1"), "the oldest one has not made room");
  OK(SCR_Finalize());
  shell("umount prefix");
}

/* A prefix that is full from the start has no identity until there is space; its cache is found all the same. */
static void a_prefix_that_is_full_from_the_start_finds_its_cache(void)
{
  char text[8192];
  int  run;

  if (!can_mount()) return;
  begin();
  set("SCR_FLUSH=0");
  shell("mount -t tmpfs -o size=600k none prefix");
  fill_prefix();
  for (run = 0; run < 3; run++) {
    during("run %d", run);
    if (run == 1) shell("rm prefix/fill");
    OK(same_code(init_says(text, sizeof text)));
    CHECK(rank > 0 || (strstr(text, "prefix.scr") != NULL) == (run == 0), "%s", text);
    get(run == 0 ? NULL : run == 1 ? "ck1" : "ck2", 2, 1000);
    if (run < 2) OK(put(run == 0 ? "ck1" : "ck2", 2, 1000));
    if (run == 0) finalize_full();
    else OK(SCR_Finalize());
  }
  CHECK(there("prefix/.scr/prefix.scr"), "the prefix has no identity");
  shell("umount prefix");
}

/* ---- directories ----------------------------------------------------------------------------------------------- */

#define FREEZE(dir) shell("mount --bind %s %s && mount -o remount,ro,bind %s", dir, dir, dir)

static void a_base_that_is_read_only_is_named(void)
{
  if (!can_mount()) return;
  begin_safe(1000);
  FREEZE("cache");
  set("SCR_CACHE_PURGE=");
  {
    int rc = same_code(SCR_Init()); /* it can still be read: the next dataset fails at the latest */
    if (rc == SCR_SUCCESS) {
      get("ck1", 2, 1000);
      rc = same_code(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
      CHECK(rc == SCR_ERR_IO && strstr(SCR_Last_error(), "cache") != NULL, "%d %s", rc, SCR_Last_error());
      OK(SCR_Finalize());
    } else CHECK(rc == SCR_ERR_IO && strstr(SCR_Last_error(), "cache") != NULL, "%d %s", rc, SCR_Last_error());
  }
  shell("umount cache");
  run_gets("ck1", 2, 1000);
  FREEZE("cntl");
  init_fails(SCR_ERR_IO, "cntl", "cntl", "umount cntl");
  FREEZE("prefix");
  OK(same_code(SCR_Init())); /* the cache is enough for a restart; the flush fails */
  get("ck1", 2, 1000);
  ALIKE(put("ck2", 2, 1000), SCR_ERR_IO, "prefix");
  ALIKE(SCR_Finalize(), SCR_ERR_IO, "prefix");
  shell("umount prefix");
  run_gets("ck2", 2, 1000);
}

/* Read-only from the middle of a run on. */
static void a_base_that_becomes_read_only_costs_only_the_new_checkpoint(void)
{
  if (!can_mount()) return;
  begin_safe(1000);
  OK(SCR_Init());
  get("ck1", 2, 1000);
  FREEZE("prefix");
  ALIKE(put("ck2", 2, 1000), SCR_ERR_IO, "prefix"); /* it is complete in the cache */
  shell("umount prefix");
  OK(SCR_Finalize());
  run_gets("ck2", 2, 1000);
  OK(SCR_Init());
  FREEZE("cache");
  ALIKE(put("ck3", 2, 1000), SCR_ERR_IO, "cache");
  shell("umount cache");
  OK(SCR_Finalize());
  run_gets("ck2", 2, 1000);
  OK(SCR_Init());
  FREEZE("cntl");
  ALIKE(put("ck3", 2, 1000), SCR_ERR_IO, "cntl");
  shell("umount cntl");
  OK(put("ck4", 2, 1000));
  OK(SCR_Finalize());
  run_gets("ck4", 2, 1000);
}

static void directories_that_cannot_be_used_are_named(void)
{
  char path[2 * SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, n;

  begin_safe(1000);
  set("SCR_PREFIX=%s/absent", case_dir);
  init_fails(SCR_ERR_IO, "SCR_PREFIX", "absent", "ln -s prefix absent; rm -rf cntl/* cache/*");
  shell("rm -rf absent; touch absent");
  ALIKE(SCR_Init(), SCR_ERR_IO, "SCR_PREFIX");
  set("SCR_PREFIX=%s", case_prefix);
  set("SCR_CACHE_BASE=/proc/1/no/such");
  ALIKE(SCR_Init(), SCR_ERR_IO, "/proc/1/no");
  set("SCR_CACHE_BASE=%s/cache", case_dir);
  set("SCR_CNTL_BASE=%s/file/below", case_dir);
  shell("touch file");
  ALIKE(SCR_Init(), SCR_ERR_IO, "file");
  memset(path, 'd', sizeof path);
  path[0] = '/';
  for (i = 100; i < 1100; i += 100) path[i] = '/';
  path[1100] = '\0';
  set("SCR_CNTL_BASE=%s/cntl", case_dir);
  for (i = 0; i < 3; i++) {
    static const char* const names[] = {"SCR_CNTL_BASE", "SCR_CACHE_BASE", "SCR_PREFIX"};
    int                      rc;
    setenv(names[i], path, 1);
    rc = same_code(SCR_Init());
    CHECK(rc == SCR_ERR_PATH || rc == SCR_ERR_PARAM, "%s: %d %s", names[i], rc, SCR_Last_error());
    unsetenv(names[i]);
  }
  run_gets("ck1", 2, 1000);

  /* A name that fits, but whose place in the cache does not; on one rank only. */
  n = snprintf(path, sizeof path, "%s/", case_prefix);
  for (i = n; i < SCR_MAX_FILENAME - 2; i++) path[i] = i % 90 == 0 ? '/' : 'f';
  path[SCR_MAX_FILENAME - 2] = '\0';
  OK(SCR_Init());
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  if (rank == 1) CODE(SCR_Route_file(path, file), SCR_ERR_PATH, "long");
  ALIKE(SCR_Complete_output(rank != 1), SCR_ERR_PATH, "long");
  OK(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT));
  if (rank == 1) CODE(SCR_Route_file("/etc/hosts", file), SCR_ERR_PATH, "SCR_PREFIX");
  ALIKE(SCR_Complete_output(rank != 1), SCR_ERR_PATH, "/etc/hosts");
  OK(SCR_Finalize());
  run_gets("ck1", 2, 1000);
}

/* Words in the environment that would lead out of the bases. */
static void words_that_lead_out_of_the_bases_are_refused(void)
{
  static const char* const names[] = {"SCR_JOB_ID", "SCR_USER_NAME"};
  static const char* const words[] = {"a/b", "..", "../x", "."};
  char                     job[200];
  size_t                   i, k;

  begin_safe(1000);
  snprintf(job, sizeof job, "%s", getenv("SCR_JOB_ID"));
  for (i = 0; i < 2; i++)
    for (k = 0; k < sizeof words / sizeof *words; k++) {
      setenv(names[i], words[k], 1);
      ALIKE(SCR_Init(), SCR_ERR_PARAM, names[i]);
      if (i == 0) setenv("SCR_JOB_ID", job, 1);
      else unsetenv(names[i]);
    }
  run_gets("ck1", 2, 1000);
}

/* Directories of other users, or open to them. */
static void directories_of_others_and_open_ones_are_refused(void)
{
  static const char* const bases[] = {"cntl", "cache"};
  static const char* const levels[] = {"*", "*/scr.*", "*/scr.*/node.*-v1"};
  size_t                   b, l;

  begin_safe(1000);
  for (b = 0; b < 2; b++)
    for (l = 0; l < (ranks > 1 ? 3u : 2u); l++) {
      shell("chmod 777 %s/%s", bases[b], levels[l]);
      init_fails(SCR_ERR_UNSAFE, "chmod", bases[b],
                 "chmod 700 cntl/* cntl/*/* cache/* cache/*/*; chmod -f 700 c*/*/*/node.* || true");
      shell("d=$(echo %s/%s); mv $d $d.away; ln -s $d.away $d", bases[b], levels[l]);
      init_fails(SCR_ERR_UNSAFE, "link", bases[b],
                 "for i in $(find cntl cache -type l); do rm $i; mv $i.away $i; done");
      if (!is_root()) continue;
      shell("chown 1 %s/%s", bases[b], levels[l]);
      init_fails(SCR_ERR_UNSAFE, "belongs", bases[b], "chown -R 0 cntl cache");
    }
}

/* Links in place of the library's own files: what they point to stays as it is. */
static void a_link_in_place_of_a_record_is_not_followed(void)
{
  static const char* const files[] = {"run.lock", "filemap_0.scrinfo", "filemap.scrinfo", "prefix.scrinfo"};
  size_t                   i;

  begin_safe(1000);
  for (i = 0; i < sizeof files / sizeof *files; i++) {
    int rc;
    shell("echo precious > victim; chmod 600 victim; f=$(find cntl -name %s | head -n 1); rm $f; ln -s \"$PWD/victim\" "
          "$f",
          files[i]);
    rc = same_code(SCR_Init());
    if (rc == SCR_SUCCESS) {
      get("ck1", 2, 1000);
      OK(SCR_Finalize());
    } else CHECK(strstr(SCR_Last_error(), files[i]) != NULL, "%s: %s", files[i], SCR_Last_error());
    shell("grep -q precious victim; find cntl -type l -exec rm {} +");
    run_gets("ck1", 2, 1000);
  }
}

/* Where the next dataset has the file that this one has at FILE. */
static void next_place(const char* file, int id, char* next)
{
  char        old[40];
  const char* p;

  snprintf(old, sizeof old, "scr.dataset.%d", id);
  p = strstr(file, old);
  CHECK(p != NULL, "no %s in %s", old, file);
  snprintf(next, SCR_MAX_FILENAME, "%.*sscr.dataset.%d%s", p ? (int)(p - file) : 0, file, id + 1,
           p ? p + strlen(old) : "");
}

/* A store without directories, where others can put something in the way of a file. */
static void nothing_in_the_way_in_a_shared_store_is_written_to(void)
{
  char        path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], next[SCR_MAX_FILENAME], victim[SCR_MAX_FILENAME];
  struct stat st;
  int         how, id = 3, rc;

  begin();
  set("STORE=%s/cache MKDIR=0", case_dir);
  set("SCR_FLUSH=0");
  run_puts("ck1", 2, 1000);
  run_gets("ck1", 2, 1000);
  shell("test -z \"$(find cache -mindepth 1 -type d)\"");
  snprintf(victim, sizeof victim, "%s/victim%d", case_dir, rank);
  OK(SCR_Init());
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT)); /* dataset 2 */
  name_of("ck", 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600, "%s is not made, or for others too", file);
  CHECK(write_bytes(file, 1, 10), "%s", file);
  ALIKE(SCR_Complete_output(0), SCR_ERR_INVALID, "invalid");
  next_place(file, 2, next);
  for (how = 0; how < 6; how++, id++) {
    CHECK(write_bytes(victim, 3, 100), "%s", victim);
    if (how == 0) CHECK(symlink(victim, next) == 0, "%s", strerror(errno));
    if (how == 1) CHECK(symlink("/no/such/file", next) == 0, "%s", strerror(errno));
    if (how == 2) CHECK(mkdir(next, 0777) == 0, "%s", strerror(errno));
    if (how == 3) CHECK(link(victim, next) == 0, "%s", strerror(errno));
    if (how >= 4) CHECK(write_bytes(next, 3, 10), "%s", strerror(errno));
    if (how == 4 && is_root()) CHECK(chown(next, 1, 1) == 0, "%s", strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD); /* it is there before the node's first rank looks */
    OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
    if (how == 5 || (how == 4 && !is_root())) OK(SCR_Route_file(path, file));
    else CODE(SCR_Route_file(path, file), SCR_ERR_UNSAFE, next);
    CHECK(same_bytes(victim, 3, 100), "%s is changed", victim);
    rc = same_code(SCR_Complete_output(0));
    CHECK(rc == SCR_ERR_INVALID || rc == SCR_ERR_UNSAFE, "%d %s", rc, SCR_Last_error());
    remove(next);
    memcpy(file, next, sizeof file);
    next_place(file, id, next);
  }
  OK(put("ck3", 2, 1000));
  OK(SCR_Finalize());
  run_gets("ck3", 2, 1000);
}

/* Runs are killed while they write; files of others lie in the same store, and those of a dataset that another job's
   control directory lists. */
static void what_killed_runs_leave_in_a_store_without_directories_is_removed(void)
{
  static const char* const stay[] = {"notes", "%s77.x", "%sx%%2Fmore", "other%s77%%2Fmore", "link%s77%%2Fmore"};
  char                     path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], ours[600], name[1500];
  int                      i, others = (int)(sizeof stay / sizeof *stay);

  begin();
  set("STORE=%s/cache MKDIR=0", case_dir);
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=2");
  run_puts("ck1", 2, 1000);
  for (i = 0; i < 2; i++) {
    OK(SCR_Init());
    OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    name_of("ck", 0, path);
    OK(SCR_Route_file(path, file));
    MPI_Barrier(MPI_COMM_WORLD);
    run_dies();
  }
  snprintf(ours, sizeof ours, "%.*s", (int)(strstr(file, "scr.dataset.") + 12 - strrchr(file, '/') - 1),
           strrchr(file, '/') + 1);
  for (i = 0; i < others && rank == 0; i++) {
    snprintf(path, sizeof path, stay[i], ours);
    snprintf(name, sizeof name, "%s/cache/%s", case_dir, path);
    write_file(name, "x", 1);
  }
  snprintf(name, sizeof name, "%s/cache/%s%d%%2Fother", case_dir, ours, 1000 + rank);
  write_file(name, "x", 1);
  OK(SCR_Init());
  get("ck1", 2, 1000);
  CHECK(count_in("cache", "%2Fprefix%2Fck%2Frank_0_0") + count_in("cache", "%2Fck%2Frank_0_0") == 0, "files are left");
  OK(put("ck2", 2, 1000));
  CHECK(count_in("cache", "%2Fother") == ranks, "%d files of another list stay", count_in("cache", "%2Fother"));
  CHECK(count_in("cache", "") == ranks + others + 2 * (ranks > 1 ? 3 : 2) * ranks + count_in("cache", "run.lock") +
                                     count_in("cache", "prefix.scrinfo"),
        "the cache has %d files", count_in("cache", ""));
  OK(SCR_Finalize());
  run_gets("ck2", 2, 1000);
}

/* ---- metadata -------------------------------------------------------------------------------------------------- */

enum { HALF, NOTHING, FLIP, MAGIC, TEXT, LONGER, HOWS };

static const char* const how_name[HOWS] = {"cut in half",       "empty",   "with a flipped bit",
                                           "with another head", "of text", "with a tail"};

/* Change the bytes of PATH. */
static void spoil(const char* path, int how, unsigned dice)
{
  FILE* f = fopen(path, "r+b");
  long  n, at;
  int   c;

  if (f == NULL) return;
  fseek(f, 0, SEEK_END);
  n = ftell(f);
  at = how == MAGIC ? 0 : (long)(dice % (unsigned)(n > 0 ? n : 1));
  switch (how) {
  case HALF:
    c = ftruncate(fileno(f), n / 2);
    break;
  case NOTHING:
    c = ftruncate(fileno(f), 0);
    break;
  case TEXT:
    c = ftruncate(fileno(f), 0);
    rewind(f);
    fputs("This is not a file of the library.\n", f);
    break;
  case LONGER:
    fputs("tail", f);
    break;
  default:
    fseek(f, at, SEEK_SET);
    c = getc(f);
    fseek(f, at, SEEK_SET);
    putc(c ^ 1 << dice % 8, f);
    break;
  }
  fclose(f);
}

typedef struct {
  const char *part, *file;
  int         how, n;
  unsigned    dice;
} bad_search;

static void visit_spoil(const char* path, const char* name, void* arg)
{
  bad_search* s = (bad_search*)arg;
  size_t      n = strlen(name), k = strlen(s->file);
  struct stat st;

  if (n < k || strcmp(name + n - k, s->file) != 0 || strstr(path, s->part) == NULL) return;
  if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode)) return;
  spoil(path, s->how, s->dice);
  s->n++;
}

/* What is spoilt: files below DIR whose path holds PART and whose name ends in FILE. */
static const struct {
  const char *dir, *part, *file;
  int         clear; /* cache and control are emptied first */
  const char* loads; /* what is loaded then; NULL: an error says that nothing can be */
  int         flush; /* the code of a later checkpoint; -1: an error, although it is complete in the cache */
} victims[] = {
    {"cntl", "-v1/", "filemap_0.scrinfo", 0, "ck2", SCR_SUCCESS},
    {"cntl", "-v1/", "filemap.scrinfo", 0, "ck2", SCR_SUCCESS},
    {"cntl", "", "filemap_0.scrinfo", 0, "ck2", SCR_SUCCESS},
    {"cntl", "", "prefix.scrinfo", 0, "ck2", SCR_SUCCESS},
    {"cache", "-v1/scr.dataset.2/", "_0", 0, "ck2", SCR_SUCCESS},
    {"cache", "-v1/scr.dataset.2/", ".xor", 0, "ck2", SCR_SUCCESS},
    {"cache", "/scr.dataset.2/", ".xor", 0, "ck2", SCR_SUCCESS},
    {"prefix", ".scr/", "flush.scr", 0, "ck2", SCR_SUCCESS},
    {"prefix", ".scr/", "halt.scr", 0, "ck2", SCR_SUCCESS},
    {"prefix", ".scr/", "nodes.scr", 0, "ck2", SCR_SUCCESS},
    {"prefix", ".scr/", "index.scr", 0, "ck2", -1},
    {"prefix", ".scr/", "index.scr", 1, NULL, -1},
    {"prefix", "ck2/.scr/", "summary.scr", 1, "ck1", SCR_SUCCESS},
    {"prefix", "ck2/.scr/", "rank2file.scr", 1, "ck1", SCR_SUCCESS},
    {"prefix", "ck2/.scr/", "rank2file.0.0.scr", 1, "ck1", SCR_SUCCESS},
    {"prefix", "ck2/", "rank_0_0", 1, "ck1", SCR_SUCCESS},
};

/* One victim, spoilt in one way. */
static void spoilt(size_t v, int how, unsigned dice)
{
  char       path[700];
  bad_search s;
  int        rc, flag = 0;

  test_alive();
  during("%s/*%s*%s %s, dice %u", victims[v].dir, victims[v].part, victims[v].file, how_name[how], dice);
  shell("rm -rf prefix cache cntl; cp -a safe/. .");
  if (victims[v].clear) lose_all_nodes();
  s.part = victims[v].part;
  s.file = victims[v].file;
  s.how = how;
  s.dice = dice;
  s.n = 0;
  snprintf(path, sizeof path, "%s/%s", case_dir, victims[v].dir);
  if (rank == 0) {
    walk(path, visit_spoil, &s);
    CHECK(s.n > 0, "no %s in %s", s.file, path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  rc = same_code(SCR_Init());
  CHECK(rc == SCR_SUCCESS, "SCR_Init is %d: %s", rc, SCR_Last_error());
  if (rc == SCR_SUCCESS) {
    if (victims[v].loads == NULL) {
      ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, victims[v].file);
      ALIKE(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
    } else {
      get(victims[v].loads, 2, 20000);
      rc = same_code(put("ck3", 1, 100));
      CHECK(victims[v].flush < 0 ? rc != SCR_SUCCESS : rc == victims[v].flush, "ck3 is %d: %s", rc,
            rc ? SCR_Last_error() : "");
    }
    rc = same_code(SCR_Finalize());
    if (strcmp(s.file, "halt.scr") == 0) { /* it may be refused, with its name */
      CHECK(rc == SCR_SUCCESS || strstr(SCR_Last_error(), s.file) != NULL, "SCR_Finalize is %d: %s", rc,
            SCR_Last_error());
      shell("rm -f prefix/.scr/halt.scr");
    } else CHECK(rc == SCR_SUCCESS || victims[v].flush < 0, "SCR_Finalize is %d: %s", rc, rc ? SCR_Last_error() : "");
    if (victims[v].flush >= 0) run_gets("ck3", 1, 100);
    if (victims[v].flush < 0) {
      shell("cp safe/prefix/.scr/index.scr prefix/.scr/");
      run_gets(victims[v].clear ? "ck2" : "ck3", victims[v].clear ? 2 : 1, victims[v].clear ? 20000 : 100);
    }
  }
}

static void spoilt_metadata_cost_no_checkpoint_that_is_safe_elsewhere(void)
{
  int      how, round, n = 0, step = pace(6, 1, 1);
  size_t   v;
  unsigned dice = 12345;

  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  set("SCR_HALT_EXIT=0");
  OK(SCR_Init());
  OK(put("ck1", 2, 20000));
  OK(put("ck2", 2, 20000));
  OK(SCR_Finalize());
  shell("mkdir safe; cp -a prefix cache cntl safe/");
  for (v = 0; v < sizeof victims / sizeof *victims; v++)
    for (how = 0; how < HOWS; how++)
      for (round = 0; round < (test_long && how == FLIP ? 20 : 1); round++) {
        dice = dice * 1664525u + 1013904223u;
        if (!test_long && how >= 3 && (v + (size_t)how) % 3 != 0) continue;
        if (n++ % step != turn(step)) continue;
        spoilt(v, how, dice >> 8);
      }
}

/* A directory in place of a file of metadata. */
static void a_directory_in_place_of_metadata_costs_no_checkpoint(void)
{
  static const char* const files[] = {"flush.scr", "halt.scr", "index.scr", "nodes.scr"};
  size_t                   i;

  begin_safe(1000);
  for (i = 0; i < sizeof files / sizeof *files; i++) {
    int rc;
    shell("mv prefix/.scr/%s kept; mkdir prefix/.scr/%s", files[i], files[i]);
    rc = same_code(SCR_Init());
    if (rc == SCR_SUCCESS) {
      get("ck1", 2, 1000);
      same_code(SCR_Finalize());
    } else CHECK(strstr(SCR_Last_error(), files[i]) != NULL, "%s: %s", files[i], SCR_Last_error());
    shell("rm -rf prefix/.scr/%s; mv kept prefix/.scr/%s", files[i], files[i]);
    run_gets("ck1", 2, 1000);
  }
}

/* The checkpoint is of another number of ranks, and the program cannot read such ones. */
static void a_checkpoint_of_another_number_of_ranks_is_refused_and_kept(void)
{
  MPI_Comm fewer;
  int      flag;

  begin_safe(1000);
  set("SCR_RESTART_RANKS=same");
  MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1 ? MPI_UNDEFINED : 0, rank, &fewer);
  if (fewer != MPI_COMM_NULL) {
    OK(SCR_Init_comm(fewer));
    CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ranks");
    CODE(SCR_Start_checkpoint(), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
    OK(SCR_Finalize());
    MPI_Comm_free(&fewer);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  run_gets("ck1", 2, 1000);
}

/* That nothing can be loaded, and that the message says WORD; then MEND makes it right, and ck1 loads. */
static void load_fails(const char* word, const char* mend)
{
  int flag = 1;

  OK(same_code(SCR_Init()));
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, word);
  CHECK(flag == 0, "%d", flag);
  OK(SCR_Finalize());
  shell("%s", mend);
  run_gets("ck1", 2, 1000);
}

/* What is left in the cache of a lost dataset stays, when the copy on the prefix turns out to be bad too. */
static void what_is_left_in_the_cache_stays_when_the_prefix_is_bad_too(void)
{
  begin_safe(1000);
  shell("cp -a prefix kept; cp -a cache cached");
  shell("find cache -name 'rank_*_1' -exec rm {} +; printf x >> prefix/ck1/rank_%d_0", ranks - 1);
  load_fails("rank_", "diff -r cache cached | grep -v '^Only in cached.*: rank_[0-9]*_1$' > changed;"
                      " test ! -s changed && rm -rf prefix && cp -a kept prefix");
}

/* Metadata of another dataset of the same id. */
static void metadata_of_another_dataset_of_the_same_id_are_refused(void)
{
  begin_safe(1000);
  shell("mv prefix kept; mkdir prefix; rm -rf cache/* cntl/*");
  set("SCR_FRESH_START=1");
  run_puts("ck1", 2, 1000);
  set("SCR_FRESH_START=");
  shell("mv prefix other; cp -a kept prefix; rm -rf cache/* cntl/*; cp other/ck1/.scr/summary.scr prefix/ck1/.scr/");
  load_fails("another dataset", "rm -rf prefix cache/* cntl/*; cp -a kept prefix");
  shell("rm -rf cache/* cntl/*; cp other/ck1/.scr/rank2file.scr prefix/ck1/.scr/");
  load_fails("map of another dataset", "rm -rf prefix cache/* cntl/*; cp -a kept prefix");
}

#define SINGLY "4", "1 5"
#define TWO    "4", "5"

const test_case bad_cases[] = {CASE(directories_that_cannot_be_used_are_named, TWO),
                               CASE(words_that_lead_out_of_the_bases_are_refused, SINGLY),
                               CASE(directories_of_others_and_open_ones_are_refused, SINGLY),
                               CASE(a_link_in_place_of_a_record_is_not_followed, SINGLY),
                               CASE(nothing_in_the_way_in_a_shared_store_is_written_to, SINGLY),
                               CASE(what_killed_runs_leave_in_a_store_without_directories_is_removed, SINGLY),
                               CASE(spoilt_metadata_cost_no_checkpoint_that_is_safe_elsewhere, TWO),
                               CASE(a_directory_in_place_of_metadata_costs_no_checkpoint, SINGLY),
                               CASE(a_checkpoint_of_another_number_of_ranks_is_refused_and_kept, TWO),
                               CASE(what_is_left_in_the_cache_stays_when_the_prefix_is_bad_too, SINGLY),
                               CASE(metadata_of_another_dataset_of_the_same_id_are_refused, SINGLY),
                               CASE(the_error_of_the_one_rank_that_fails_is_told_on_all, TWO),
                               CASE(what_a_link_leads_to_is_not_deleted, "4"),
                               CASE(a_run_that_was_killed_on_a_full_node_is_followed_by_another, "4"),
                               CASE(a_full_cache_costs_only_the_new_checkpoint, "4", "5"),
                               CASE(a_checkpoint_too_large_for_the_cache_loads_when_there_is_space, "4", "5"),
                               CASE(a_checkpoint_stays_in_the_cache_while_the_prefix_is_full, "4", "5"),
                               CASE(an_error_of_a_flush_says_that_the_cache_keeps_the_checkpoint, "4"),
                               CASE(a_full_prefix_keeps_no_run_from_the_cache, "4", "5"),
                               CASE(on_a_full_prefix_older_checkpoints_make_room, "4"),
                               CASE(a_prefix_that_is_full_from_the_start_finds_its_cache, "4", "5"),
                               CASE(a_base_that_is_read_only_is_named, "4", "5"),
                               CASE(a_base_that_becomes_read_only_costs_only_the_new_checkpoint, "4", "5"),
                               CASES_END};
