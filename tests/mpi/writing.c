/*
** writing.c - starting, routing and completing a dataset: which calls may follow which, what is refused, which files
** are read back; and what the log tells of it.
*/
#include <sys/wait.h>

#include "mpi_test.h"

/* ---- the order of calls ---------------------------------------------------------------------------------------- */

enum {
  INIT,
  FINALIZE,
  HAVE,
  START_RESTART,
  COMPLETE_RESTART,
  NEED,
  START_CKPT,
  COMPLETE_CKPT,
  START_OUTPUT,
  COMPLETE_OUTPUT,
  CURRENT,
  DROP,
  DELETE,
  SHOULD_EXIT,
  CALLS
};

static const char* const call_name[CALLS] = {"SCR_Init",
                                             "SCR_Finalize",
                                             "SCR_Have_restart",
                                             "SCR_Start_restart",
                                             "SCR_Complete_restart",
                                             "SCR_Need_checkpoint",
                                             "SCR_Start_checkpoint",
                                             "SCR_Complete_checkpoint",
                                             "SCR_Start_output",
                                             "SCR_Complete_output",
                                             "SCR_Current",
                                             "SCR_Drop",
                                             "SCR_Delete",
                                             "SCR_Should_exit"};

static int call(int which)
{
  char name[SCR_MAX_FILENAME] = "";
  int  flag = 77, rc;

  switch (which) {
  case INIT:
    return SCR_Init();
  case FINALIZE:
    return SCR_Finalize();
  case HAVE:
    rc = SCR_Have_restart(&flag, name);
    break;
  case START_RESTART:
    return SCR_Start_restart(name);
  case COMPLETE_RESTART:
    return SCR_Complete_restart(1);
  case NEED:
    rc = SCR_Need_checkpoint(&flag);
    break;
  case START_CKPT:
    return SCR_Start_checkpoint();
  case COMPLETE_CKPT:
    return SCR_Complete_checkpoint(1);
  case START_OUTPUT:
    return SCR_Start_output("x", SCR_FLAG_OUTPUT);
  case COMPLETE_OUTPUT:
    return SCR_Complete_output(1);
  case CURRENT:
    return SCR_Current("x");
  case DROP:
    return SCR_Drop("x");
  case DELETE:
    return SCR_Delete("x");
  default:
    rc = SCR_Should_exit(&flag);
    break;
  }
  CHECK(rc == SCR_SUCCESS || flag == 0, "%s fails with flag %d", call_name[which], flag);
  return rc;
}

/* Every call of the mask WRONG is refused, and its message names itself and the call that is MISSING before it. */
static void refuse(unsigned wrong, const char* missing)
{
  int i;

  for (i = 0; i < CALLS; i++) {
    int rc;
    if (!(wrong >> i & 1u)) continue;
    rc = call(i);
    CHECK(rc == SCR_ERR_STATE, "%s is %d", call_name[i], rc);
    CHECK(strstr(SCR_Last_error(), call_name[i]) != NULL, "%s: %s", call_name[i], SCR_Last_error());
    CHECK(strstr(SCR_Last_error(), i == INIT ? "was already called" : missing) != NULL, "%s does not name %s: %s",
          call_name[i], missing, SCR_Last_error());
  }
}

#define BIT(x) (1u << (x))
#define ALL    (BIT(CALLS) - 1u)

static void calls_out_of_order_are_refused_and_name_the_call_that_is_missing(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin();
  refuse(ALL & ~BIT(INIT), "SCR_Init");
  CODE(SCR_Route_file("x", file), SCR_ERR_STATE, "SCR_Init");
  CHECK(strcmp(SCR_Get_version(), SCR_VERSION) == 0, "%s", SCR_Get_version());
  CHECK(*SCR_Strerror(SCR_ERR_STATE) != '\0' && *SCR_Strerror(12345) != '\0', "no text");

  OK(SCR_Init());
  refuse(BIT(INIT), "SCR_Init was already called");
  refuse(BIT(COMPLETE_RESTART), "SCR_Start_restart");
  refuse(BIT(COMPLETE_CKPT), "SCR_Start_checkpoint");
  refuse(BIT(COMPLETE_OUTPUT), "SCR_Start_output");
  refuse(BIT(START_RESTART), "SCR_Have_restart"); /* nothing is loaded */
  CHECK(SCR_Config("SCR_FLUSH=3") == NULL && strstr(SCR_Last_error(), "SCR_Init") != NULL, "%s", SCR_Last_error());

  OK(SCR_Start_checkpoint());
  refuse(ALL & ~BIT(COMPLETE_CKPT), "SCR_Complete_checkpoint");
  name_of("scr.dataset.1", 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 5, 100), "%s", file);
  OK(SCR_Complete_checkpoint(1));

  OK(SCR_Start_output("out", SCR_FLAG_OUTPUT));
  refuse(ALL & ~BIT(COMPLETE_OUTPUT), "SCR_Complete_output");
  OK(SCR_Complete_output(1)); /* of no files */

  if (rank == ranks - 1) refuse(BIT(COMPLETE_OUTPUT), "SCR_Start_output"); /* on one rank alone */
  OK(SCR_Finalize());
  refuse(ALL & ~BIT(INIT), "SCR_Init");

  OK(SCR_Init());
  {
    int  flag = 0;
    char name[SCR_MAX_FILENAME];
    OK(SCR_Have_restart(&flag, name));
    CHECK(flag == 1 && strcmp(name, "scr.dataset.1") == 0, "%d %s", flag, name);
  }
  OK(SCR_Start_restart(NULL));
  refuse(ALL & ~BIT(COMPLETE_RESTART), "SCR_Complete_restart");
  OK(SCR_Route_file(path, file));
  CHECK(same_bytes(file, 5, 100), "%s", file);
  OK(SCR_Complete_restart(1));
  OK(SCR_Finalize());
}

/* A program that goes on after SCR_ERR_DISABLED of SCR_Init runs as if the library were not there. */
static void a_disabled_library_lets_the_program_run_and_writes_no_file(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, flag = 1, yes = 0;

  begin();
  set("SCR_ENABLE=0");
  set("SCR_CHECKPOINT_INTERVAL=2");
  ALIKE(SCR_Init(), SCR_ERR_DISABLED, "SCR_ENABLE");
  for (i = 0; i < CALLS; i++)
    if (i != FINALIZE && i != INIT) CHECK(call(i) == SCR_SUCCESS, "%s fails: %s", call_name[i], SCR_Last_error());
  OK(SCR_Have_restart(&flag, path));
  CHECK(flag == 0, "a checkpoint is offered");
  for (i = 0; i < 4; i++) {
    OK(SCR_Need_checkpoint(&flag));
    yes += flag;
  }
  CHECK(yes == 2, "of 4 calls, %d say that a checkpoint is needed", yes);
  OK(SCR_Should_exit(&flag));
  CHECK(flag == 0, "the run is to stop");
  name_of("ck", 0, path);
  file[0] = '\0';
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  OK(SCR_Route_file(path, file));
  CHECK(strcmp(file, path) == 0, "%s is routed to %s", path, file);
  OK(SCR_Complete_output(1));
  OK(SCR_Finalize());
  CHECK(!there("prefix/.scr") && cached_in("cache") == 0, "a disabled library has written files");
  set("SCR_ENABLE=1");
  run_puts("ck", 1, 100);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static void bad_arguments_are_refused_and_named(void)
{
  char longer[SCR_MAX_FILENAME + 60], file[SCR_MAX_FILENAME];
  int  flag;

  begin();
  memset(longer, 'a', sizeof longer);
  longer[sizeof longer - 1] = '\0';
  OK(SCR_Init());
  CODE(SCR_Have_restart(NULL, NULL), SCR_ERR_ARG, "SCR_Have_restart");
  CODE(SCR_Need_checkpoint(NULL), SCR_ERR_ARG, "SCR_Need_checkpoint");
  CODE(SCR_Should_exit(NULL), SCR_ERR_ARG, "SCR_Should_exit");
  CODE(SCR_Current(NULL), SCR_ERR_ARG, "SCR_Current");
  CODE(SCR_Drop(""), SCR_ERR_ARG, "SCR_Drop");
  CODE(SCR_Delete(longer), SCR_ERR_ARG, "SCR_Delete");
  CODE(SCR_Start_output("x", 64), SCR_ERR_ARG, "flags");
  CODE(SCR_Start_output(longer, 1), SCR_ERR_ARG, "name");
  CODE(SCR_Start_output("a\nb", 1), SCR_ERR_ARG, "name");
  CODE(SCR_Route_file(NULL, file), SCR_ERR_ARG, "name");
  CODE(SCR_Route_file("x", NULL), SCR_ERR_ARG, "buffer");
  CODE(SCR_Current("no such"), SCR_ERR_NOT_FOUND, "no such");
  CODE(SCR_Drop("no such"), SCR_ERR_NOT_FOUND, "no such");
  CODE(SCR_Delete("no such"), SCR_ERR_NOT_FOUND, "no such");
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, "long");
  CODE(SCR_Route_file("/etc/passwd", file), SCR_ERR_PATH, "SCR_PREFIX");
  snprintf(longer, sizeof longer, "%s/../x", case_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, "prefix");
  snprintf(longer, sizeof longer, "%s/a/.scr/x", case_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  snprintf(longer, sizeof longer, "%s/a/.scr", case_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  snprintf(longer, sizeof longer, "%s/.scr", case_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  snprintf(longer, sizeof longer, "%s/.scr/index.scr", case_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  CODE(SCR_Route_file(case_prefix, file), SCR_ERR_PATH, "prefix");
  CHECK(*file == '\0', "%s is routed", file);
  ALIKE(SCR_Complete_output(1), SCR_ERR_PATH, "long"); /* the first one */
  OK(SCR_Need_checkpoint(&flag));
  OK(SCR_Finalize());
}

/* The code of a call with a bad argument on the last rank only: the same everywhere, and no hang. */
static void blame(int rc, const char* what)
{
  int codes = rc == SCR_ERR_ARG || rc == SCR_ERR_DIFFER, all;

  CHECK(codes, "%s is %d: %s", what, rc, rc ? SCR_Last_error() : "");
  MPI_Allreduce(&rc, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(rc == all, "%s is %d here and %d elsewhere", what, rc, all);
}

static void a_bad_argument_of_one_rank_is_an_error_on_all(void)
{
  char longer[SCR_MAX_FILENAME + 60];
  int  flag, last = rank == ranks - 1;

  begin();
  memset(longer, 'a', sizeof longer);
  longer[sizeof longer - 1] = '\0';
  OK(SCR_Init());
  blame(SCR_Start_output(last ? longer : "x", 1), "a long name");
  blame(SCR_Start_output("x", last ? 64 : 1), "an unknown flag");
  blame(SCR_Have_restart(last ? NULL : &flag, NULL), "SCR_Have_restart(NULL)");
  blame(SCR_Need_checkpoint(last ? NULL : &flag), "SCR_Need_checkpoint(NULL)");
  blame(SCR_Should_exit(last ? NULL : &flag), "SCR_Should_exit(NULL)");
  blame(SCR_Current(last ? NULL : "x"), "SCR_Current(NULL)");
  blame(SCR_Delete(last ? "" : "x"), "SCR_Delete of nothing");
  blame(SCR_Drop(last ? longer : "x"), "SCR_Drop of a long name");
  OK(put("ck", 1, 10));
  OK(SCR_Finalize());
}

static void ranks_that_differ_in_settings_or_names_are_told_so(void)
{
  char both[200];

  begin();
  set("SCR_FLUSH=%d", rank == ranks - 1 ? 3 : 4);
  ALIKE(SCR_Init(), SCR_ERR_DIFFER, "SCR_FLUSH");
  set("SCR_FLUSH=");
  if (rank == 0) set("SCR_CACHE_SIZE=2");
  ALIKE(SCR_Init(), SCR_ERR_DIFFER, "SCR_CACHE_SIZE");
  set("SCR_CACHE_SIZE=");
  OK(SCR_Init());
  snprintf(both, sizeof both, "flags 0x1, name \"b\" on rank 0, but flags 0x1, name \"a\" on rank %d", ranks - 1);
  ALIKE(SCR_Start_output(rank == ranks - 1 ? "a" : "b", SCR_FLAG_CHECKPOINT), SCR_ERR_DIFFER, both);
  snprintf(both, sizeof both, "flags 0x1, name \"b\" on rank 0, but flags 0x1, name \"\" on rank %d", ranks - 1);
  ALIKE(SCR_Start_output(rank == ranks - 1 ? NULL : "b", SCR_FLAG_CHECKPOINT), SCR_ERR_DIFFER, both);
  ALIKE(SCR_Start_output("a", rank == 0 ? SCR_FLAG_CHECKPOINT : SCR_FLAG_OUTPUT), SCR_ERR_DIFFER,
        "flags 0x1, name \"a\" on rank 0, but flags 0x2, name \"a\" on rank 1");
  ALIKE(SCR_Current(rank == 0 ? "a" : "b"), SCR_ERR_DIFFER, "\"a\" on rank 0, but \"b\" on rank 1");
  OK(put("ck", 1, 100));
  OK(SCR_Finalize());
}

/* Rank 0 cannot print for a while: the others wait, so that none can abort the job before the message is out. */
static void no_rank_returns_from_an_error_before_it_is_printed(void)
{
  char   fill[4096];
  int    to[2], old = -1;
  pid_t  reader = 0;
  double start;

  begin();
  OK(SCR_Init());
  if (rank == 0) {
    memset(fill, '.', sizeof fill);
    old = dup(2);
    CHECK(old >= 0 && pipe(to) == 0, "%s", strerror(errno));
    fcntl(to[1], F_SETFL, O_NONBLOCK);
    while (write(to[1], fill, sizeof fill) > 0 || write(to[1], fill, 1) > 0) continue;
    fcntl(to[1], F_SETFL, 0);
    if ((reader = fork()) == 0) {
      close(to[1]);
      sleep(1);
      while (read(to[0], fill, sizeof fill) > 0) continue;
      _exit(0);
    }
    dup2(to[1], 2);
    close(to[0]);
    close(to[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  start = MPI_Wtime();
  CODE(SCR_Drop("no such"), SCR_ERR_NOT_FOUND, "no such");
  CHECK(MPI_Wtime() - start > 0.5, "returned after %.3f s", MPI_Wtime() - start);
  if (rank == 0) {
    dup2(old, 2);
    close(old);
    waitpid(reader, NULL, 0);
  }
  OK(SCR_Finalize());
}

static void scr_init_is_an_error_outside_of_mpi(void)
{
  CHECK(rc_before_mpi == SCR_ERR_STATE, "SCR_Init before MPI_Init is %d", rc_before_mpi);
  CHECK(calls_before_mpi == 0, "%d calls before MPI_Init are not refused", calls_before_mpi);
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* NAME and FILE in one buffer, names relative to the working directory, and with detours. */
static void a_file_may_be_named_with_detours_and_in_one_buffer(void)
{
  char cwd[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], a[SCR_MAX_FILENAME], b[SCR_MAX_FILENAME];

  begin();
  CHECK(getcwd(cwd, sizeof cwd) != NULL && chdir(case_prefix) == 0, "%s", strerror(errno));
  OK(SCR_Init());
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  name_of("ck", 0, path);
  OK(SCR_Route_file(path, path));
  snprintf(a, sizeof a, "ck/rank_%d_0", rank);
  OK(SCR_Route_file(a, b));
  CHECK(strcmp(path, b) == 0, "%s and %s", path, b);
  snprintf(a, sizeof a, "./ck/../ck//rank_%d_0", rank);
  OK(SCR_Route_file(a, b));
  CHECK(strcmp(path, b) == 0, "%s and %s", path, b);
  CHECK(write_bytes(b, seed_of("ck", rank, 0), size_of(0, 50)), "%s", b);
  OK(SCR_Complete_output(1));
  OK(SCR_Finalize());
  OK(SCR_Init());
  snprintf(a, sizeof a, "ck/rank_%d_0", rank);
  OK(SCR_Route_file(a, b));
  CHECK(same_bytes(b, seed_of("ck", rank, 0), size_of(0, 50)), "%s", b);
  get("ck", 1, 50);
  OK(SCR_Finalize());
  CHECK(chdir(cwd) == 0, "%s", strerror(errno));
}

/* The program runs in DIR, below case_dir, and puts or gets a checkpoint whose files have the name NAME. */
static void run_in(const char* dir, const char* name, int puts)
{
  char cwd[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  flag = 0;

  during("in %s, %s", dir, name);
  shell("mkdir -p '%s'", dir);
  snprintf(path, sizeof path, "%s/%s", case_dir, dir);
  CHECK(getcwd(cwd, sizeof cwd) != NULL && chdir(path) == 0, "%s", strerror(errno));
  snprintf(path, sizeof path, "%s_%d", name, rank);
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, NULL));
  CHECK(flag == !puts, "a checkpoint is %soffered", flag ? "" : "not ");
  if (puts) OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  else OK(SCR_Start_restart(NULL));
  OK(SCR_Route_file(path, file));
  if (puts) CHECK(write_bytes(file, (unsigned)rank, 300), "%s: %s", file, strerror(errno));
  else CHECK(same_bytes(file, (unsigned)rank, 300), "%s is %s", path, file);
  OK(puts ? SCR_Complete_output(1) : SCR_Complete_restart(1));
  OK(SCR_Finalize());
  CHECK(chdir(cwd) == 0, "%s", strerror(errno));
}

static void a_relative_name_is_below_the_prefix_where_the_working_directory_is_not(void)
{
  char cwd[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];

  begin();
  shell("mkdir -p prefix/sub && ln -s prefix link");
  run_in("elsewhere", "sub/state", 1);
  snprintf(path, sizeof path, "%s/sub/state_%d", case_prefix, rank);
  CHECK(same_bytes(path, (unsigned)rank, 300), "%s: %s", path, strerror(errno));
  run_in("elsewhere", "sub/state", 0);
  run_in("prefix", "sub/state", 0);
  run_in("prefix/sub", "state", 0); /* inside the prefix, it counts from there */
  run_in("prefix/sub", "../sub/state", 0);
  run_in("link/sub", "state", 0);
  lose_all_nodes();
  run_in("elsewhere", "sub/state", 0);
  lose_all_nodes();
  run_in("prefix/sub", "sub/state", 0); /* as the run named it that wrote it, which counted from the prefix */
  set("SCR_FETCH_BYPASS=1");
  run_in("prefix/sub", "sub/state", 0);
  set("SCR_FETCH_BYPASS=");
  set("SCR_PREFIX=%s/link", case_dir); /* the prefix has two names, the working directory one of them */
  run_in("prefix/sub", "state", 0);
  begin();
  shell("mkdir -p prefix/sub elsewhere");
  run_in("prefix/sub", "state", 1);
  run_in("elsewhere", "sub/state", 0);

  during("no restart");
  set("SCR_FRESH_START=1");
  CHECK(getcwd(cwd, sizeof cwd) != NULL && chdir(case_dir) == 0 && chdir("elsewhere") == 0, "%s", strerror(errno));
  OK(SCR_Init());
  snprintf(path, sizeof path, "sub/state_%d", rank);
  OK(SCR_Route_file(path, file));
  CHECK(same_bytes(file, (unsigned)rank, 300), "%s is %s", path, file);
  snprintf(path, sizeof path, "input_%d", rank);
  CHECK(write_bytes(path, 7, 10), "%s", strerror(errno));
  OK(SCR_Route_file(path, file));
  CHECK(strcmp(path, file) == 0, "%s is %s", path, file);
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  CODE(SCR_Route_file("../state", file), SCR_ERR_PATH, "is not below the prefix");
  ALIKE(SCR_Complete_output(1), SCR_ERR_PATH, "is not below the prefix");
  OK(SCR_Finalize());
  CHECK(chdir(cwd) == 0, "%s", strerror(errno));
}

/* The program begins anew beside a checkpoint that it could have read. */
static void a_checkpoint_that_is_offered_and_not_read_is_told_of_once(void)
{
  static const char* const ways[] = {"it asks, and goes on", "SCR_FRESH_START=1", "it restarts",
                                     "one rank routes a file"};
  char                     text[8000], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int                      way, flag;

  begin();
  set("SCR_FLUSH=0");
  run_puts("ck1", 1, 100);
  for (way = 0; way < 4; way++) {
    during("%s", ways[way]);
    set("SCR_FRESH_START=%d", way == 1);
    OK(SCR_Init());
    OK(SCR_Have_restart(&flag, path));
    if (way == 2) get("ck1", 1, 100);
    name_of("ck1", 0, path);
    if (way == 3 && rank == 0) OK(SCR_Route_file(path, file));
    hear();
    OK(put("ck1", 1, 100));
    OK(put("ck1", 1, 100));
    heard(text, sizeof text);
    CHECK(times(text, "ck1 was offered, but the program has not read it") == (rank == 0 && way == 0), "%s", text);
    OK(SCR_Finalize());
  }
}

/* What a buffer still holds would not be protected.  The message names the file, and the older checkpoint stays. */
static void a_file_that_is_still_open_for_writing_is_refused(void)
{
  static const int flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_APPEND};
  char             path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], link[SCR_MAX_FILENAME];
  int              fd, copy, i, bypass;

  for (bypass = 0; bypass < 2; bypass++) {
    begin();
    set("SCR_FLUSH=0");
    set("SCR_CACHE_SIZE=2");
    set("SCR_CACHE_BYPASS=%d", bypass);
    OK(SCR_Init());
    OK(put("ck1", 2, 300));
    for (i = 0; i < 6; i++) {
      during("bypass %d, %d", bypass, i);
      OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
      name_of("ck2", 0, path);
      if (bypass && i >= 3) snprintf(path, sizeof path, "%s/ck2/shared", case_prefix); /* by all ranks */
      OK(SCR_Route_file(path, file));
      fd = open(file, O_WRONLY | O_CREAT, 0600);
      CHECK(fd >= 0 && write(fd, "a", 1) == 1 && close(fd) == 0, "%s: %s", file, strerror(errno));
      snprintf(link, sizeof link, "%s/link%d", case_dir, rank);
      unlink(link);
      CHECK(symlink(file, link) == 0, "%s: %s", link, strerror(errno));
      fd = open(i < 3 ? file : link, rank == ranks - 1 ? flags[i % 3] : O_RDONLY);
      copy = dup(fd);
      close(fd);
      ALIKE(SCR_Complete_output(1), SCR_ERR_INVALID, "is still open for writing");
      CHECK(rank != ranks - 1 || strstr(SCR_Last_error(), path) != NULL, "%s is not in %s", path, SCR_Last_error());
      close(copy);
    }
    during("bypass %d, for reading", bypass);
    OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
    name_of("ck2", 0, path);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, 1, 10), "%s: %s", file, strerror(errno));
    fd = open(file, O_RDONLY);
    OK(SCR_Complete_output(1));
    close(fd);
    OK(SCR_Delete("ck2"));
    OK(SCR_Finalize());
    if (!bypass) run_gets("ck1", 2, 300);
  }
  set("SCR_CHECK_OPEN=0");
  set("SCR_CACHE_BYPASS=0");
  OK(SCR_Init());
  OK(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT));
  name_of("ck3", 0, path);
  OK(SCR_Route_file(path, file));
  fd = open(file, O_WRONLY | O_CREAT, 0600);
  CHECK(fd >= 0 && write(fd, "a", 1) == 1, "%s: %s", file, strerror(errno));
  OK(SCR_Complete_output(1));
  close(fd);
  OK(SCR_Finalize());
}

/* All ranks, and each rank twice, use the same base name in different directories. */
static void equal_base_names_in_other_directories_are_other_files(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, run;

  begin();
  set("SCR_FLUSH=1");
  for (run = 0; run < 3; run++) { /* write; read from the cache; read from the prefix */
    set("SCR_DISTRIBUTE=%d", run < 2);
    OK(SCR_Init());
    if (run == 0) OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    for (i = 0; i < 3; i++) {
      snprintf(path, sizeof path, "%s/ck/%d/%d/state", case_prefix, rank, i);
      OK(SCR_Route_file(path, file));
      if (run == 0) CHECK(write_bytes(file, seed_of("ck", rank, i), 1000 + (size_t)i), "%s", file);
      else CHECK(same_bytes(file, seed_of("ck", rank, i), 1000 + (size_t)i), "%s", file);
    }
    if (run == 0) OK(SCR_Complete_output(1));
    OK(SCR_Finalize());
  }
}

/* One rank cannot route its second file, and does not tell: ck2 is no checkpoint on any rank, and ck1 stays. */
static void a_file_that_cannot_be_routed_fails_the_checkpoint_on_all_ranks(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin();
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  name_of("ck2", 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 1, 10), "%s", file);
  if (rank == ranks - 1) {
    CODE(SCR_Route_file("/etc/passwd", file), SCR_ERR_PATH, "SCR_PREFIX");
    CHECK(*file == '\0', "it is routed to %s", file);
    OK(SCR_Route_file(path, file)); /* a success in between changes nothing */
  }
  ALIKE(SCR_Complete_output(1), SCR_ERR_PATH, "passwd");
  OK(SCR_Finalize());
  run_gets("ck1", 1, 1000);
}

/* After each Start that fails nothing is routed, Complete returns its code, and the next one starts afresh. */
static void after_a_start_that_fails_nothing_is_routed_until_its_complete(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  flag;

  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  name_of("ck1", 0, path);
  OK(SCR_Init());
  CODE(SCR_Start_output("ck1", 64), SCR_ERR_ARG, "flags");
  CODE(SCR_Route_file(path, file), SCR_ERR_ARG, "flags"); /* the file on the prefix, which could be read */
  CHECK(*file == '\0', "it is routed to %s", file);
  OK(SCR_Should_exit(&flag));
  ALIKE(SCR_Complete_output(1), SCR_ERR_ARG, "flags");
  CODE(SCR_Complete_output(1), SCR_ERR_STATE, "SCR_Start_output");
  OK(SCR_Route_file(path, file));
  CODE(SCR_Start_output("ck1", 64), SCR_ERR_ARG, "flags");
  OK(SCR_Have_restart(&flag, NULL)); /* it was not completed, but the restart goes on */
  CHECK(holds("ck1", 1, 1000), "wrong bytes");
  CODE(SCR_Start_output("ck1", 64), SCR_ERR_ARG, "flags");
  OK(put("ck2", 1, 1000));
  CODE(SCR_Start_output("ck1", 64), SCR_ERR_ARG, "flags");
  OK(SCR_Finalize());
  run_gets("ck2", 1, 1000);
}

static void two_ranks_that_write_one_file_are_told_so(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin();
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 100));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  snprintf(path, sizeof path, "%s/ck2/shared_%d", case_prefix, rank < 2 ? 0 : rank);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 1, 100), "%s", file);
  ALIKE(SCR_Complete_output(1), SCR_ERR_ARG, "shared_0");
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT)); /* written together, on one of the nodes */
  snprintf(path, sizeof path, "%s/ck2/all", case_prefix);
  OK(SCR_Route_file(path, file));
  if (rank == ranks - 1) CHECK(write_bytes(file, 1, 100), "%s", file);
  ALIKE(SCR_Complete_output(1), SCR_ERR_ARG, "registered the same file ck2/all");
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT)); /* the others find no file to write to */
  OK(SCR_Route_file(path, file));
  if (rank == ranks - 1) CHECK(write_bytes(file, 1, 100), "%s", file);
  ALIKE(SCR_Complete_output(rank == ranks - 1), SCR_ERR_INVALID, "SCR_CACHE_BYPASS=1");
  OK(put("ck3", 1, 100));
  OK(SCR_Finalize());
  run_gets("ck3", 1, 100);
}

/* None, empty ones, many, unequal ones; from the cache and from the prefix.  None on any rank is told. */
static void no_empty_many_and_unequal_files_are_read_back(void)
{
  static const struct {
    const char* name;
    int         files;
    size_t      bytes;
    int         who; /* only ranks with this remainder by 2 write; -1: all */
  } kind[] = {{"none", 0, 0, -1},       {"empty", 1, 0, -1},   {"some_empty", 3, 0, 0}, {"one_side", 2, 4000, 1},
              {"unequal", 5, 9000, -1}, {"many", 300, 20, -1}, {"tiny", 1, 1, -1}};
  char   text[8000];
  size_t i;
  int    run, none;

  begin();
  set("SCR_FLUSH=1");
  for (i = 0; i < sizeof kind / sizeof *kind; i++) {
    int    files = kind[i].who >= 0 && rank % 2 != kind[i].who ? 0 : kind[i].files;
    size_t bytes = i == 4 && rank == 1 ? 700000 : kind[i].bytes;
    none = kind[i].files == 0 || (kind[i].who == 1 && ranks == 1);
    hear();
    run_puts(kind[i].name, files, bytes);
    heard(text, sizeof text);
    CHECK(times(text, "no rank has a file of the checkpoint") == (rank == 0 && none), "%s", text);
    for (run = 0; run < 2; run++) {
      set("SCR_DISTRIBUTE=%d", !run);
      run_gets(kind[i].name, files, bytes);
    }
    set("SCR_DISTRIBUTE=1");
  }
}

/* One rank says that its files are bad: no such dataset, and the older one stays. */
static void a_dataset_that_one_rank_calls_invalid_is_dropped(void)
{
  begin();
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  ALIKE(put_valid("ck2", SCR_FLAG_CHECKPOINT, 2, 1000, rank != ranks - 1), SCR_ERR_INVALID, "invalid");
  CHECK(cached_in("cache") == ID(1), "0x%x", cached_in("cache"));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck1", 2, 1000);
  CODE(put_valid("ck3", SCR_FLAG_CHECKPOINT, 2, 1000, 0), SCR_ERR_INVALID, "invalid");
  OK(put("ck4", 2, 1000));
  OK(SCR_Finalize());
  run_gets("ck4", 2, 1000);
}

static void a_file_that_is_routed_but_not_written_is_named(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin();
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  name_of("ck2", 0, path);
  OK(SCR_Route_file(path, file));
  if (rank != ranks - 1) CHECK(write_bytes(file, 1, 10), "%s", file);
  snprintf(path, sizeof path, "ck2/rank_%d_0", ranks - 1);
  ALIKE(SCR_Complete_output(1), SCR_ERR_MISSING, path);
  CHECK(cached_in("cache") == ID(1), "0x%x", cached_in("cache"));
  OK(SCR_Finalize());
  run_gets("ck1", 1, 1000);
}

/* ---- the log --------------------------------------------------------------------------------------------------- */

/* How many lines of the log of this case's prefix hold all of A, B and C. */
static int log_lines(const char* a, const char* b, const char* c)
{
  char  path[SCR_MAX_FILENAME], line[8192];
  int   n = 0;
  FILE* f;

  snprintf(path, sizeof path, "%s/.scr/log", case_prefix);
  f = fopen(path, "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    n += strstr(line, a) != NULL && strstr(line, b) != NULL && strstr(line, c) != NULL;
  if (f != NULL) fclose(f);
  return n;
}

/* The log tells what happens to one checkpoint, and which file of which node was corrupt. */
static void the_log_tells_the_life_of_a_checkpoint_and_what_was_corrupt(void)
{
  static const char* const once[] = {"COMPUTE_END",     "CHECKPOINT_START", "CHECKPOINT_END", "FLUSH_START",
                                     "FLUSH_SUCCESS",   "INIT_END",         "xfer=WRITE",     "xfer=ENCODE",
                                     "xfer=CHECKPOINT", "xfer=FLUSH_SYNC"};
  char                     path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], text[64], host[300] = "host=";
  size_t                   i;
  int                      flag = 0, k = (ranks == 5 ? 3 : ranks) - 1;

  begin();
  run_puts("ck1", 2, 1000);
  CHECK(log_lines("", "", "") == 0, "a log that nobody asked for");

  set("SCR_LOG_ENABLE=1");
  set("SCR_LOG_SYSLOG_ENABLE=0");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  snprintf(text, sizeof text, "procs=%d, nodes=%d", ranks, ranks == 5 ? 3 : ranks);
  CHECK(log_lines("event=START", text, ", jobid=") == 1, "START");
  OK(put("ck\"2", 2, 1000));
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < sizeof once / sizeof *once; i++)
    CHECK(log_lines(once[i], "", "") == 1, "%s is logged %d times", once[i], log_lines(once[i], "", ""));
  snprintf(text, sizeof text, "files=%d", 2 * ranks);
  CHECK(log_lines("xfer=FLUSH_SYNC", "dset=2, name=\"ck'2\"", text) == 1, "the name of a dataset breaks the line");
  CHECK(log_lines("event=CHECKPOINT_START", "dset=2", ranks > 1 ? ", XOR\"" : ", SINGLE\"") == 1,
        "how it is protected");
  CHECK(log_lines("event=END", "", "") == 0, "the run has not ended");
  CODE(put_valid("bad", SCR_FLAG_CHECKPOINT, 1, 10, 0), SCR_ERR_INVALID, "");
  OK(SCR_Finalize());
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(log_lines("event=CHECKPOINT_FAIL", "dset=3, name=\"bad\", secs=", "as invalid") == 1, "CHECKPOINT_FAIL");
  CHECK(log_lines("event=END", "", "secs=") == 1 && log_lines("event=CHECKPOINT_END", "", "") == 1, "END");
  CHECK(log_lines("event=COMPUTE_START", "", "") == 3 && log_lines("event=COMPUTE_END", "", "secs=") == 3,
        "%d phases begin, %d end", log_lines("event=COMPUTE_START", "", ""), log_lines("event=COMPUTE_END", "", ""));

  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, NULL));
  CHECK(flag, "nothing to restart from");
  OK(SCR_Start_restart(NULL));
  name_of("ck\"2", 1, path);
  OK(SCR_Route_file(path, file));
  OK(SCR_Complete_restart(1));
  OK(SCR_Finalize());
  CHECK(log_lines("event=RESTART_SUCCESS", "dset=2", "") == 1, "RESTART_SUCCESS");
  if (rank == ranks - 1) CHECK(write_bytes(file, 5, size_of(1, 1000)), "%s: %s", file, strerror(errno));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(SCR_Init());
  gethostname(host + 5, sizeof host - 20);
  if (ranks > 1) snprintf(host + strlen(host), 16, "-v%d", k);
  *strchr(file, '"') = '\''; /* as a line of the log has it */
  if (rank == ranks - 1)
    CHECK(log_lines("event=CORRUPT", file, host) == 1, "no line with CORRUPT, %s and %s", file, host);
  if (ranks > 1) CHECK(log_lines("event=REBUILD_SUCCESS", "dset=2", "secs=") == 1, "REBUILD_SUCCESS");
  else CHECK(log_lines("event=FETCH_SUCCESS", "dset=2", "secs=") == 1 && log_lines("xfer=FETCH", "", "") == 1, "FETCH");
  CHECK(holds("ck\"2", 2, 1000), "the checkpoint is not what was written");
  OK(SCR_Finalize());

  set("SCR_FETCH_BYPASS=1"); /* what is read in place is fetched, too, but not copied */
  set("SCR_CACHE_PURGE=1");
  OK(SCR_Init());
  CHECK(holds("ck\"2", 2, 1000), "the checkpoint is not what was written");
  CHECK(log_lines("event=FETCH_START", "", "") == log_lines("event=FETCH_SUCCESS", "dset=2", "secs="), "in place");
  CHECK(log_lines("xfer=FETCH", "", "") == (ranks == 1), "in place");
  OK(SCR_Finalize());
}

static size_t size_of_two(int i)
{
  return size_of(i, 20011);
}

/* Two ranks share a node.  All files of a checkpoint are corrupt when the next one takes its place. */
static void deleted_corrupt(const char* type)
{
  static const shape two = {"of two files", two_files, size_of_two, NULL};
  scheme             c = {type, 1};
  char               path[2][SCR_MAX_FILENAME], name[SCR_MAX_FILENAME];
  int                i;

  during("%s", type);
  begin_nodes(&c);
  set("SCR_VIRTUAL_NODES=%d", ranks / 2);
  set("SCR_CRC_ON_DELETE=1");
  set("SCR_LOG_ENABLE=1");
  set("SCR_LOG_SYSLOG_ENABLE=0");
  OK(SCR_Init());
  OK(open_shape("ck", SCR_FLAG_CHECKPOINT, &two));
  for (i = 0; i < 2; i++) {
    name_of("ck", i, name);
    OK(SCR_Route_file(name, path[i]));
  }
  OK(SCR_Complete_output(1));
  for (i = 0; i < 2; i++) flip_bit(path[i], 12345);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(put_shape("next", SCR_FLAG_CHECKPOINT, &two, 1));
  OK(SCR_Finalize());
  for (i = 0; i < 2; i++) {
    CHECK(access(path[i], F_OK) != 0, "%s is still there", path[i]);
    CHECK(log_lines("event=CORRUPT", path[i], "") > 0, "the log does not tell of %s", path[i]);
  }
}

static void a_corrupt_file_is_logged_when_it_leaves_the_cache(void)
{
  deleted_corrupt("SINGLE");
  deleted_corrupt("XOR");
}

#define ANY "2 | 1 4 5", "9"
#define TWO "4 | 2 5", "9"

const test_case writing_cases[] = {CASE(calls_out_of_order_are_refused_and_name_the_call_that_is_missing, ANY),
                                   CASE(a_disabled_library_lets_the_program_run_and_writes_no_file, ANY),
                                   CASE(bad_arguments_are_refused_and_named, ANY),
                                   CASE(a_bad_argument_of_one_rank_is_an_error_on_all, TWO),
                                   CASE(ranks_that_differ_in_settings_or_names_are_told_so, TWO),
                                   CASE(no_rank_returns_from_an_error_before_it_is_printed, TWO),
                                   CASE(scr_init_is_an_error_outside_of_mpi, ANY),
                                   CASE(a_file_may_be_named_with_detours_and_in_one_buffer, ANY),
                                   CASE(a_relative_name_is_below_the_prefix_where_the_working_directory_is_not, "4"),
                                   CASE(a_file_that_is_still_open_for_writing_is_refused, "2 | 4"),
                                   CASE(a_checkpoint_that_is_offered_and_not_read_is_told_of_once, "4"),
                                   CASE(equal_base_names_in_other_directories_are_other_files, ANY),
                                   CASE(a_file_that_cannot_be_routed_fails_the_checkpoint_on_all_ranks, ANY),
                                   CASE(after_a_start_that_fails_nothing_is_routed_until_its_complete, ANY),
                                   CASE(two_ranks_that_write_one_file_are_told_so, TWO),
                                   CASE(no_empty_many_and_unequal_files_are_read_back, "1 2 4 5", "9"),
                                   CASE(a_dataset_that_one_rank_calls_invalid_is_dropped, ANY),
                                   CASE(a_file_that_is_routed_but_not_written_is_named, ANY),
                                   CASE(the_log_tells_the_life_of_a_checkpoint_and_what_was_corrupt, ANY),
                                   CASE(a_corrupt_file_is_logged_when_it_leaves_the_cache, "4", ""),
                                   CASES_END};
