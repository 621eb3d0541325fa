/*
** prefix - flushes and fetches that fail half way, and what the next run offers: cache, prefix and index together.
**
** Files fail on every rank at once, or a bit of them flips on rank 0; runs are killed, and the cache is lost.  Whatever
** happens, what is offered has the bytes that were written, and is the newest checkpoint of which all bytes are left.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include <sys/statvfs.h>

static int (*test_statvfs)(const char* path, struct statvfs* fs) = statvfs; /* what the library calls */
#define statvfs(path, fs) test_statvfs(path, fs)

#include "../../scr_impl.c"

#include "run.h"

/* ---- runs ------------------------------------------------------------------------------------------------------ */

/* The run dies here: nothing of it is left but its files. */
static void killed(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  scr_release();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* All nodes are lost, and only the prefix is left. */
static void lose_cache(void)
{
  shell("rm -rf cache/* cntl/*");
}

/* A run that is offered NAME, and reads it; NULL: that is offered none. */
static void run_gets(const char* name)
{
  OK(SCR_Init());
  get(name, 1, 1000);
  OK(SCR_Finalize());
}

/* As above, with nothing but the prefix. */
static void run_fetches(const char* name)
{
  lose_cache();
  run_gets(name);
}

/* That the prefix has the bytes of NAME. */
static void on_prefix(const char* name)
{
  char path[SCR_MAX_FILENAME];

  name_of(name, 0, path);
  CHECK(same_bytes(path, seed_of(name, rank, 0), size_of(0, 1000)), "%s is not what was written", path);
}

/* How many datasets of the index have MARK. */
static int marked(const char* mark)
{
  scr_hash*     index = scr_hash_new();
  scr_index_pos p;
  int           n = 0;

  MPI_Barrier(MPI_COMM_WORLD);
  memset(&p, 0, sizeof p);
  if (rank == 0) {
    CHECK(scr_index_read(run_prefix, index) == SCR_SUCCESS, "the index cannot be read");
    while (scr_index_walk(index, &p)) n += scr_hash_get(p.entry, mark) != NULL;
  }
  scr_hash_delete(&index);
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return n;
}

/* ---- checkpoints with the same file names ---------------------------------------------------------------------- */

#define STATE_BYTES 700

static unsigned state_seed(int k)
{
  return (unsigned)(k * 100 + rank);
}

static void state_name(char* path)
{
  snprintf(path, SCR_MAX_FILENAME, "%s/state/rank_%d", run_prefix, rank);
}

/* Write checkpoint ck<K> into the files that all of them have; the code of Complete. */
static int put_state(int k)
{
  char name[32], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  snprintf(name, sizeof name, "ck%d", k);
  OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
  state_name(path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, state_seed(k), STATE_BYTES), "cannot write %s: %s", file, strerror(errno));
  return SCR_Complete_output(1);
}

/* That ck<K> is offered, with its bytes and not those of another. */
static void get_state(int k)
{
  char name[32], offered[SCR_MAX_FILENAME] = "", path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  flag = 0;

  snprintf(name, sizeof name, "ck%d", k);
  OK(SCR_Have_restart(&flag, offered));
  CHECK(flag == 1 && strcmp(offered, name) == 0, "'%s' is offered instead of %s", offered, name);
  if (flag != 1) return;
  OK(SCR_Start_restart(offered));
  state_name(path);
  OK(SCR_Route_file(path, file));
  CHECK(same_bytes(file, state_seed(k), STATE_BYTES), "%s does not have the bytes of ck%d", file, k);
  OK(SCR_Complete_restart(1));
}

/* A run that is offered ck<K>. */
static void run_gets_state(int k)
{
  OK(SCR_Init());
  get_state(k);
  OK(SCR_Finalize());
}

/* That the prefix has the bytes of ck<K>, and a run that has nothing else is offered them. */
static void run_fetches_state(int k)
{
  char path[SCR_MAX_FILENAME];

  state_name(path);
  CHECK(same_bytes(path, state_seed(k), STATE_BYTES), "%s does not have the bytes of ck%d", path, k);
  lose_cache();
  run_gets_state(k);
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

static struct {
  const char* part; /* of the paths below the prefix that it hits */
  int         left; /* calls that are still to fail */
  const char* flip; /* the cached checkpoint that is damaged when its copy on the prefix is made; NULL: none */
} fault;

/* 1 when a call on PATH is to fail. */
static int hits(const char* path)
{
  if (fault.left == 0 || strstr(path, "/prefix/") == NULL || strstr(path, fault.part) == NULL) return 0;
  fault.left--;
  return 1;
}

static int failing_rename(const char* from, const char* to)
{
  if (!hits(to)) return rename(from, to);
  errno = EIO;
  return -1;
}

static int failing_open(const char* path, int flags, mode_t mode)
{
  if (!(flags & O_CREAT) || !hits(path)) return scr_os_open(path, flags, mode);
  errno = ENOSPC;
  return -1;
}

static int failing_read(const char* path, int flags, mode_t mode)
{
  if (!hits(path)) return scr_os_open(path, flags, mode);
  errno = EIO;
  return -1;
}

/* On each rank, the next N files with PART in their path below the prefix cannot be renamed. */
static void break_renames(const char* part, int n)
{
  fault.part = part;
  fault.left = n;
  scr_os.rename = failing_rename;
}

/* As above, cannot be created. */
static void break_files(const char* part, int n)
{
  fault.part = part;
  fault.left = n;
  scr_os.open = failing_open;
}

/* As above, cannot even be opened. */
static void break_reads(const char* part, int n)
{
  fault.part = part;
  fault.left = n;
  scr_os.open = failing_read;
}

static void mend(void)
{
  memset(&fault, 0, sizeof fault);
  scr_os.rename = rename;
  scr_os.open = scr_os_open;
  scr_os.close = close;
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

static void flip_bit(const char* path)
{
  unsigned char c = 0;
  int           fd = open(path, O_RDWR);

  CHECK(fd >= 0 && pread(fd, &c, 1, 10) == 1, "cannot read %s: %s", path, strerror(errno));
  c ^= 1;
  CHECK(pwrite(fd, &c, 1, 10) == 1, "cannot write %s: %s", path, strerror(errno));
  close(fd);
}

static void visit_flip(const char* path, const char* name, void* arg)
{
  (void)name;
  if (strstr(path, (const char*)arg) != NULL) flip_bit(path);
}

/* A bit of the file of rank 0 in the cached checkpoint NAME flips.  Local. */
static void flip_cached(const char* name)
{
  char path[700], part[700];

  snprintf(path, sizeof path, "%s/cache", run_dir);
  snprintf(part, sizeof part, "/%s/rank_0_0", name);
  walk(path, visit_flip, part);
}

/* As above, on every rank's behalf. */
static void damage(const char* name)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) flip_cached(name);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int flipping_open(const char* path, int flags, mode_t mode)
{
  if (fault.flip != NULL && flags & O_CREAT && strstr(path, "/prefix/") != NULL && strstr(path, "/rank_0_0") != NULL) {
    flip_cached(fault.flip);
    fault.flip = NULL;
  }
  return scr_os_open(path, flags, mode);
}

/* On rank 0, the cached checkpoint NAME is damaged when its flush begins to copy. */
static void damage_in_flush(const char* name)
{
  if (rank == 0) fault.flip = name;
  scr_os.open = flipping_open;
}

static int flipping_close(int fd)
{
  char    link[64], path[1024];
  ssize_t n;
  int     rc;

  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink(link, path, sizeof path - 1);
  path[n < 0 ? 0 : n] = '\0';
  rc = close(fd);
  if (fault.flip == NULL || strstr(path, "/cache/") == NULL || strstr(path, "/rank_0_0") == NULL) return rc;
  fault.flip = NULL;
  flip_bit(path);
  return rc;
}

/* On rank 0, the checkpoint NAME is damaged in the cache as soon as it has been fetched. */
static void damage_in_fetch(const char* name)
{
  if (rank == 0) fault.flip = name;
  scr_os.close = flipping_close;
}

/* ---- space ----------------------------------------------------------------------------------------------------- */

static unsigned long long store_bytes; /* that the cache of this case can hold */

static void visit_bytes(const char* path, const char* name, void* arg)
{
  struct stat st;

  (void)name;
  if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && strstr(path, "/scr.dataset.") != NULL)
    *(unsigned long long*)arg += (unsigned long long)st.st_size;
}

/* Bytes of all datasets in the cache. */
static unsigned long long used_bytes(void)
{
  char               path[700];
  unsigned long long n = 0;

  snprintf(path, sizeof path, "%s/cache", run_dir);
  walk(path, visit_bytes, &n);
  return n;
}

static unsigned long long free_bytes(void)
{
  unsigned long long used = used_bytes();

  return used < store_bytes ? store_bytes - used : 0;
}

static int small_statvfs(const char* path, struct statvfs* fs)
{
  (void)path;
  memset(fs, 0, sizeof *fs);
  fs->f_bsize = fs->f_frsize = 1;
  fs->f_blocks = store_bytes;
  fs->f_bfree = fs->f_bavail = free_bytes();
  return 0;
}

static int slow_unlink(const char* path)
{
  if (rank == 0) usleep(100000);
  return unlink(path);
}

/* From now on the cache holds BYTES and no more, and rank 0 is the last one to delete anything. */
static void limit_store(unsigned long long bytes)
{
  store_bytes = bytes;
  test_statvfs = small_statvfs;
  scr_os.unlink = slow_unlink;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void no_limit(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  test_statvfs = statvfs;
  scr_os.unlink = unlink;
}

/* Write checkpoint NAME as far as there is space, and say so; the code of Complete. */
static int put_what_fits(const char* name, size_t bytes)
{
  char               path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  unsigned long long share;
  size_t             n = size_of(0, bytes);
  int                rc = SCR_Start_output(name, SCR_FLAG_CHECKPOINT);

  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
  if (rc != SCR_SUCCESS) return rc;
  MPI_Barrier(MPI_COMM_WORLD);
  share = free_bytes() / (unsigned)ranks;
  MPI_Barrier(MPI_COMM_WORLD);
  name_of(name, 0, path);
  OK(SCR_Route_file(path, file));
  if (n > share) n = (size_t)share;
  CHECK(write_bytes(file, seed_of(name, rank, 0), n), "cannot write %s: %s", file, strerror(errno));
  return SCR_Complete_output(n == size_of(0, bytes));
}

/* ---- one flush replaces another -------------------------------------------------------------------------------- */

/* A new run in the directories NAME, in which the files of ck1 never get their final names, and ck2 replaces it. */
static void replace_unfinished(const char* name, int crc)
{
  begin(name);
  set("SCR_CRC_ON_FLUSH=%d", crc);
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  break_renames("/state/rank_", INT_MAX);
  ALIKE(put_state(1), SCR_ERR_IO, "rank_");
  mend();
  OK(put_state(2));
}

/* The renames of ck1 are not made up for over the files of ck2. */
static void same_names(void)
{
  char name[32];
  int  crc;

  for (crc = 0; crc < 2; crc++) {
    snprintf(name, sizeof name, "same_names_%d", crc);
    replace_unfinished(name, crc);
    killed();
    run_fetches_state(2);
  }
}

/* To delete ck1 is not to delete the files of ck2, of which it says that they are its own. */
static void same_names_delete(void)
{
  int rc;

  replace_unfinished("same_names_delete", 1);
  rc = same_code(SCR_Delete("ck1"), __LINE__);
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_NOT_FOUND, "SCR_Delete is %d: %s", rc, SCR_Last_error());
  OK(SCR_Finalize());
  run_gets_state(2);
  run_fetches_state(2);
}

/* A new run in which the flush of ck1 has no space, and that of ck2 replaces its files. */
static void replace_unflushed(const char* name)
{
  begin(name);
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  break_files("/state/rank_", 1);
  ALIKE(put_state(1), SCR_ERR_SPACE, "rank_");
  mend();
  OK(put_state(2));
}

/* Finalize does not make up for the flush of ck1, over the files of ck2. */
static void older_in_finalize(void)
{
  replace_unflushed("older_in_finalize");
  OK(SCR_Finalize());
  run_fetches_state(2);
}

/* Nor does the next start. */
static void older_in_init(void)
{
  replace_unflushed("older_in_init");
  killed();
  run_gets_state(2);
  run_fetches_state(2);
}

/* A run in the directories NAME that leaves two checkpoints with the same file names, ck1 in the cache alone. */
static void run_puts_two(const char* name)
{
  begin(name);
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put_state(1));
  OK(put_state(2));
  OK(SCR_Finalize());
}

/* The application rejects ck2, whose files lie where those of ck1 go: Finalize replaces them. */
static void failed_newer(void)
{
  char name[SCR_MAX_FILENAME] = "";

  run_puts_two("failed_newer");
  OK(SCR_Init());
  OK(SCR_Start_restart(name));
  CHECK(strcmp(name, "ck2") == 0, "%s is started instead of ck2", name);
  ALIKE(SCR_Complete_restart(0), SCR_ERR_INVALID, "ck2");
  get_state(1);
  OK(SCR_Finalize());
  run_fetches_state(1);
}

/* The files of ck1 find those of ck2 in their place, until ck2 is deleted: then Finalize flushes them. */
static void deleted_newer(void)
{
  replace_unflushed("deleted_newer");
  OK(SCR_Finalize());
  OK(SCR_Init());
  get_state(2);
  OK(SCR_Delete("ck2"));
  OK(SCR_Finalize());
  run_fetches_state(1);
}

/* The user wants ck1, as a parameter or by a call: it replaces the good files of ck2, and is offered. */
static void user_current(void)
{
  char name[32];
  int  call;

  for (call = 0; call < 2; call++) {
    snprintf(name, sizeof name, "user_current_%d", call);
    run_puts_two(name);
    if (!call) set("SCR_CURRENT=ck1");
    OK(SCR_Init());
    if (call) OK(SCR_Current("ck1"));
    get_state(1);
    OK(SCR_Finalize());
    set("SCR_CURRENT=");
    run_fetches_state(1);
  }
}

/* ---- renames that are left ------------------------------------------------------------------------------------- */

/* The flush of checkpoint NAME is committed, but no file gets its final name, and none will before mend. */
static void put_unrenamed(const char* name)
{
  break_renames("/rank_", INT_MAX);
  ALIKE(put(name, 1, 1000), SCR_ERR_IO, "rank_");
}

/* The renames of ck1 can never be finished, for its temporary files are gone; those of ck2 can. */
static void redo_hopeless(void)
{
  begin("redo_hopeless");
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  put_unrenamed("ck1");
  put_unrenamed("ck2");
  killed();
  mend();
  shell("rm prefix/ck1/*.tmp");
  run_fetches("ck2");
}

/* The user wants ck1, whose renames fail once more: this run goes without it, and the next one has it. */
static void redo_chosen(void)
{
  begin("redo_chosen");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  put_unrenamed("ck1");
  killed();
  lose_cache();
  set("SCR_CURRENT=ck1");
  if (same_code(SCR_Init(), __LINE__) == SCR_SUCCESS) SCR_Finalize();
  mend();
  CHECK(marked("FAILED") == 0, "ck1 is said to be bad");
  set("SCR_CURRENT=");
  run_fetches("ck1");
}

/* The cached copy of ck1 is bad when Finalize tries again: the temporary files that its flush left are all there is. */
static void redo_damaged(void)
{
  char name[32];
  int  times;

  for (times = 1; times <= 2; times++) { /* in Complete; in Finalize as well */
    snprintf(name, sizeof name, "redo_damaged_%d", times);
    begin(name);
    set("SCR_FLUSH=1");
    set("SCR_COPY_TYPE=SINGLE");
    OK(SCR_Init());
    break_renames("/ck1/rank_", times);
    ALIKE(put("ck1", 1, 1000), SCR_ERR_IO, "rank_");
    damage("ck1");
    same_code(SCR_Finalize(), __LINE__);
    mend();
    run_fetches("ck1");
  }
}

/* The temporary files of ck1 are gone, but the cache is whole: the next flush copies it anew. */
static void redo_lost_tmp(void)
{
  begin("redo_lost_tmp");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  put_unrenamed("ck1");
  killed();
  mend();
  shell("rm prefix/ck1/*.tmp");
  run_gets("ck1");
  on_prefix("ck1");
  run_fetches("ck1");
}

/* The index cannot be read when Finalize tries again: the temporary files stay, as it still speaks of them. */
static void redo_undo(void)
{
  begin("redo_undo");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  put_unrenamed("ck1");
  mend();
  break_reads("/index.scr", INT_MAX);
  ALIKE(SCR_Finalize(), SCR_ERR_IO, "index.scr");
  mend();
  CHECK(count_in("prefix", ".tmp") == ranks, "%d temporary files are left", count_in("prefix", ".tmp"));
  run_fetches("ck1");
}

/* The user chose ck1 before ck3 was written, whose renames the next run finishes: it goes on from ck3. */
static void passed_redo(void)
{
  begin("passed_redo");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Current("ck1"));
  put_unrenamed("ck3");
  killed();
  mend();
  run_fetches("ck3");
}

/* ---- damaged files --------------------------------------------------------------------------------------------- */

/* A bit flips between the fetch and the redundancy data: nobody gets to see it, and the prefix is not blamed. */
static void fetch_damaged(void)
{
  char name[SCR_MAX_FILENAME];
  int  flag = 0;

  begin("fetch_damaged");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Finalize());
  lose_cache();
  damage_in_fetch("ck1");
  OK(SCR_Init());
  CHECK(fault.flip == NULL, "nothing was damaged");
  mend();
  SCR_Have_restart(&flag, name);
  if (flag) get("ck1", 1, 1000);
  OK(SCR_Finalize());
  CHECK(marked("FAILED") == 0, "ck1 is said to be bad");
  run_gets("ck1");
}

/* The flush finds that ck2 is damaged, and nothing can mend it: ck1 is still in the cache. */
static void flush_damaged(void)
{
  begin("flush_damaged");
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=1");
  set("SCR_COPY_TYPE=SINGLE");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  damage_in_flush("ck2");
  CHECK(same_code(put("ck2", 1, 1000), __LINE__) != SCR_SUCCESS, "ck2 is flushed");
  CHECK(fault.flip == NULL, "nothing was damaged");
  mend();
  CHECK(cached_in("cache") & 1u << 1, "the cache holds 0x%x, without the last good one", cached_in("cache"));
  killed();
  run_gets("ck1");
}

/* The flush finds that ck2 is damaged, and rebuilds it. */
static void flush_rebuilds(void)
{
  begin("flush_rebuilds");
  set("SCR_FLUSH=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  damage_in_flush("ck2");
  OK(put("ck2", 1, 1000));
  CHECK(fault.flip == NULL, "nothing was damaged");
  mend();
  on_prefix("ck2");
  OK(SCR_Finalize());
  run_gets("ck2");
  run_fetches("ck2");
}

/* So does that of Finalize, with every scheme. */
static void finalize_rebuilds(void)
{
  static const char* const schemes[] = {"XOR", "PARTNER", "RS"};
  char                     name[40];
  size_t                   i;

  for (i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    snprintf(name, sizeof name, "finalize_rebuilds_%s", schemes[i]);
    begin(name);
    set("SCR_COPY_TYPE=%s", schemes[i]);
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    damage("ck1");
    OK(SCR_Finalize());
    on_prefix("ck1");
    run_fetches("ck1");
  }
}

/* ---- what is newest -------------------------------------------------------------------------------------------- */

/* The user chooses ck1 when newer ones have been written: the next run goes on from what was written after that. */
static void current_late(void)
{
  begin("current_late");
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Current("ck1"));
  OK(put("ck3", 1, 1000));
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  run_gets("ck4");
  run_fetches("ck4");
}

/* The user chooses ck1 before ck4 is written, in the cache alone, and lost: ck1 goes first again, not ck3. */
static void passed_wish(void)
{
  begin("passed_wish");
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=4");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  OK(SCR_Current("ck1"));
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  shell("find cache -name scr.dataset.4 -prune -exec rm -r {} +");
  run_gets("ck1");
}

/* Output that is no checkpoint cannot be chosen. */
static void current_output(void)
{
  begin("current_output");
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put_valid("plot", SCR_FLAG_OUTPUT, 1, 1000, 1));
  OK(SCR_Finalize());
  OK(SCR_Init());
  CHECK(same_code(SCR_Current("plot"), __LINE__) != SCR_SUCCESS, "plot is chosen");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  run_fetches("ck1");
}

/* The flush of ck2 never succeeds, which does not keep that of ck3 from being tried. */
static void flush_blocked(void)
{
  begin("flush_blocked");
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  break_files("/ck2/rank_", INT_MAX);
  ALIKE(put("ck2", 1, 1000), SCR_ERR_SPACE, "ck2");
  OK(put("ck3", 1, 1000));
  ALIKE(SCR_Finalize(), SCR_ERR_SPACE, "ck2");
  mend();
  on_prefix("ck3");
  run_fetches("ck3");
}

/* Checkpoints go to the prefix only when they are output, too: what Complete fails to flush, Finalize does. */
static void output_retry(void)
{
  begin("output_retry");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  break_files("/ck1/rank_", 1);
  ALIKE(put_valid("ck1", SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, 1, 1000, 1), SCR_ERR_SPACE, "rank_");
  mend();
  OK(SCR_Finalize());
  on_prefix("ck1");
  run_fetches("ck1");
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* Two files of a rank have the same relative name in different directories: each is found from its own. */
static void same_base_name(void)
{
  char cwd[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  run, i;

  begin("same_base_name");
  set("SCR_FLUSH=1");
  CHECK(getcwd(cwd, sizeof cwd) != NULL, "%s", strerror(errno));
  for (run = 0; run < 2; run++) {
    OK(SCR_Init());
    if (run == 0) OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    for (i = 0; i < 2; i++) {
      snprintf(dir, sizeof dir, "%s/%c%d", run_prefix, 'a' + i, rank);
      make_dir(dir);
      CHECK(chdir(dir) == 0, "%s: %s", dir, strerror(errno));
      OK(SCR_Route_file("state", file));
      if (run == 0) CHECK(write_bytes(file, (unsigned)i, 100), "%s: %s", file, strerror(errno));
      else CHECK(same_bytes(file, (unsigned)i, 100), "in %s, state is %s", dir, file);
    }
    if (run == 0) OK(SCR_Complete_output(1));
    OK(SCR_Finalize());
  }
  CHECK(chdir(cwd) == 0, "%s", strerror(errno));
}

/* A directory lies where a file goes: the flush fails before it begins to replace anything, until it is gone. */
static void dir_in_place(void)
{
  begin("dir_in_place");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  shell("mkdir -p prefix/ck1/rank_0_0/x");
  CHECK(same_code(put("ck1", 1, 1000), __LINE__) != SCR_SUCCESS, "a directory is a file");
  CHECK(marked("REDO") == 0, "the flush was committed");
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  shell("rm -r prefix/ck1/rank_0_0");
  OK(SCR_Finalize());
  run_fetches("ck1");
}

/* One rank has the file x, another one x/y: the caches can hold both, but no prefix can, and the flush says so. */
static void file_as_dir(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  rc;

  begin("file_as_dir");
  set("SCR_CACHE_SIZE=3");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  if (rank == 0) snprintf(path, sizeof path, "%s/ck2/x", run_prefix);
  else if (rank == 1) snprintf(path, sizeof path, "%s/ck2/x/y", run_prefix);
  else name_of("ck2", 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 1, 100), "%s: %s", file, strerror(errno));
  rc = same_code(SCR_Complete_output(1), __LINE__);
  CHECK(rc != SCR_SUCCESS && strstr(SCR_Last_error(), "ck2/x") != NULL, "%d: %s", rc, rc ? SCR_Last_error() : "");
  OK(put("ck3", 1, 1000));
  CHECK(same_code(SCR_Finalize(), __LINE__) == rc, "%s", SCR_Last_error());
  run_fetches("ck3");
}

/* ---- copies by several threads ---- */

static struct {
  pthread_mutex_t lock;
  const char*     part; /* of the paths that are watched */
  pthread_t       seen[8];
  int             n;
} copiers = {PTHREAD_MUTEX_INITIALIZER, "", {0}, 0};

/* Notes which thread makes a file, and takes its time, so that others get theirs. */
static int watching_open(const char* path, int flags, mode_t mode)
{
  struct timespec t = {0, 2000000};
  int             i;

  if (!(flags & O_CREAT) || strstr(path, copiers.part) == NULL) return scr_os_open(path, flags, mode);
  pthread_mutex_lock(&copiers.lock);
  for (i = 0; i < copiers.n && !pthread_equal(copiers.seen[i], pthread_self()); i++) continue;
  if (i == copiers.n && i < 8) copiers.seen[copiers.n++] = pthread_self();
  pthread_mutex_unlock(&copiers.lock);
  nanosleep(&t, NULL);
  if (strstr(path, "rank_0_7") != NULL && strstr(path, "broken") != NULL) {
    errno = ENOSPC;
    return -1;
  }
  return scr_os_open(path, flags, mode);
}

/* Watch who makes files with PART in their path. */
static void watch_copies(const char* part)
{
  copiers.part = part;
  copiers.n = 0;
  scr_os.open = watching_open;
}

/* With TYPE, several threads of a rank copy its files, or one, and the bytes are the same. */
static void threads_of(const char* type, int least, int most)
{
  begin("threads");
  set("STORE=%s/cache TYPE=%s", run_dir, type);
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  watch_copies("prefix/ck1/");
  OK(put("ck1", 12, 3000));
  CHECK(copiers.n >= least && copiers.n <= most, "TYPE=%s: %d threads have copied to the prefix", type, copiers.n);
  watch_copies("prefix/broken/");
  CODE(put("broken", 12, 3000), SCR_ERR_SPACE, "rank_0_7"); /* what a thread found out is told */
  scr_os.open = scr_os_open;
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Delete("broken"));
  OK(SCR_Finalize());
  lose_cache();
  watch_copies("/ck1/");
  OK(SCR_Init());
  CHECK(copiers.n >= least && copiers.n <= most, "TYPE=%s: %d threads have copied from the prefix", type, copiers.n);
  scr_os.open = scr_os_open;
  get("ck1", 12, 3000);
  OK(SCR_Finalize());
  shell("rm -rf prefix/* prefix/.scr");
  lose_cache();
  set("STORE=");
}

static void threads(void)
{
  threads_of("SYNC", 1, 1);
  threads_of("PTHREAD", 2, SCR_COPY_THREADS);
}

/* ---- the store is full ----------------------------------------------------------------------------------------- */

/* What the cache holds while the run's last checkpoint is written, which fails: the ids as bits. */
static unsigned cached_in_last(void)
{
  unsigned ids;

  OK(SCR_Start_output("last", SCR_FLAG_CHECKPOINT));
  no_limit();
  ids = cached_in("cache");
  ALIKE(SCR_Complete_output(0), SCR_ERR_INVALID, "invalid");
  OK(SCR_Finalize());
  return ids;
}

/* On NODES nodes, the store takes one more checkpoint when one is deleted: the newest is not the second one to go. */
static void room_for_one_on(int nodes)
{
  char               name[32];
  unsigned long long one;
  unsigned           ids;

  snprintf(name, sizeof name, "room_for_one_%d", nodes);
  begin(name);
  set("SCR_VIRTUAL_NODES=%d", nodes);
  set("SCR_COPY_TYPE=SINGLE");
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 9000));
  OK(put("ck2", 1, 9000));
  OK(SCR_Finalize());
  set("SCR_CACHE_SIZE=1");
  OK(SCR_Init());
  get("ck2", 1, 9000);
  one = used_bytes() / 2;
  limit_store(2 * one + one / 5);
  ids = cached_in_last();
  CHECK(!(ids & 1u << 1), "the cache holds 0x%x, and nothing was deleted", ids);
  CHECK(ids & 1u << 2, "the cache holds 0x%x, without the newest", ids);
  OK(SCR_Init());
  get("ck2", 1, 9000);
  OK(SCR_Finalize());
}

static void room_for_one(void)
{
  room_for_one_on(1);
  if (ranks > 1) room_for_one_on(ranks);
}

/* Rank 0 writes nearly all, and the store takes three checkpoints: the only one is not deleted for the next. */
static void room_uneven(void)
{
  size_t   bytes = rank == 0 ? 90000 : 1000;
  unsigned ids;

  begin("room_uneven");
  set("SCR_COPY_TYPE=SINGLE");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, bytes));
  limit_store(3 * used_bytes());
  ids = cached_in_last();
  CHECK(ids & 1u << 1, "the cache holds 0x%x, without the only one", ids);
  OK(SCR_Init());
  get("ck1", 1, bytes);
  OK(SCR_Finalize());
}

/* Checkpoints grow until the store does not hold two of them: what fails once is given room the next time. */
static void growing(void)
{
  const size_t small = 10000, large = 22000;
  char         name[32], last[32] = "";
  int          i, rc = SCR_SUCCESS, before;
  size_t       bytes = 0;

  begin("growing");
  set("SCR_VIRTUAL_NODES=");
  set("SCR_COPY_TYPE=SINGLE");
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  limit_store(4 * small * (unsigned)ranks);
  for (i = 1; i <= 8; i++) {
    before = rc;
    snprintf(name, sizeof name, "ck%d", i);
    rc = same_code(put_what_fits(name, i < 3 ? small : large), __LINE__);
    CHECK(rc == SCR_SUCCESS || before == SCR_SUCCESS, "%s fails like the one before: %s", name, SCR_Last_error());
    if (rc != SCR_SUCCESS) continue;
    memcpy(last, name, sizeof last);
    bytes = i < 3 ? small : large;
  }
  no_limit();
  OK(SCR_Finalize());
  OK(SCR_Init());
  get(last, 1, bytes);
  OK(SCR_Finalize());
}

static const check_case tests[] = {{"same_names", same_names, 1},
                                   {"same_names_delete", same_names_delete, 1},
                                   {"older_in_finalize", older_in_finalize, 1},
                                   {"older_in_init", older_in_init, 1},
                                   {"failed_newer", failed_newer, 1},
                                   {"deleted_newer", deleted_newer, 1},
                                   {"user_current", user_current, 1},
                                   {"redo_hopeless", redo_hopeless, 1},
                                   {"redo_chosen", redo_chosen, 1},
                                   {"redo_damaged", redo_damaged, 1},
                                   {"redo_lost_tmp", redo_lost_tmp, 1},
                                   {"redo_undo", redo_undo, 1},
                                   {"passed_redo", passed_redo, 1},
                                   {"fetch_damaged", fetch_damaged, 2},
                                   {"flush_damaged", flush_damaged, 1},
                                   {"flush_rebuilds", flush_rebuilds, 3},
                                   {"finalize_rebuilds", finalize_rebuilds, 3},
                                   {"current_late", current_late, 1},
                                   {"passed_wish", passed_wish, 1},
                                   {"current_output", current_output, 1},
                                   {"flush_blocked", flush_blocked, 1},
                                   {"output_retry", output_retry, 1},
                                   {"same_base_name", same_base_name, 1},
                                   {"dir_in_place", dir_in_place, 1},
                                   {"file_as_dir", file_as_dir, 2},
                                   {"threads", threads, 1},
                                   {"room_for_one", room_for_one, 1},
                                   {"room_uneven", room_uneven, 2},
                                   {"growing", growing, 1},
                                   {NULL, NULL, 0}};

int main(int argc, char** argv)
{
  int failed;

  run_start(&argc, &argv);
  failed = check_main(tests, argc, argv);
  MPI_Finalize();
  return failed;
}
