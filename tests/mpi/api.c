/*
** api - the public calls, over scr.h alone: states, restarts, collisions, settings, decisions.
**
** See check.h for how its cases are run, and run.h for the datasets.  Every message of an error is checked for the word
** that tells the user what to do; every case ends with a library that still works.
*/
#include <fcntl.h>
#include <signal.h>

#include "run.h"

/* ---- states ---------------------------------------------------------------------------------------------------- */

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
    CHECK(strstr(SCR_Last_error(), missing) != NULL, "%s does not name %s: %s", call_name[i], missing,
          SCR_Last_error());
  }
}

#define BIT(x) (1u << (x))
#define ALL    (BIT(CALLS) - 1u)

static void states(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin("states");
  refuse(ALL & ~BIT(INIT), "SCR_Init");
  CODE(SCR_Route_file("x", file), SCR_ERR_STATE, "SCR_Init");
  CHECK(strcmp(SCR_Get_version(), SCR_VERSION) == 0, "%s", SCR_Get_version());
  CHECK(*SCR_Strerror(SCR_ERR_STATE) != '\0' && *SCR_Strerror(12345) != '\0', "no text");

  OK(SCR_Init());
  refuse(BIT(INIT), "SCR_Finalize");
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

static void disabled(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i;

  begin("disabled");
  set("SCR_ENABLE=0");
  for (i = 0; i < CALLS; i++) {
    int rc;
    if (i == FINALIZE) continue;
    rc = call(i);
    CHECK(rc == SCR_ERR_DISABLED, "%s is %d", call_name[i], rc);
  }
  name_of("ck", 0, path);
  file[0] = '\0';
  CHECK(SCR_Route_file(path, file) == SCR_ERR_DISABLED && strcmp(file, path) == 0, "%s is routed to %s", path, file);
  CHECK(SCR_Config("SCR_FLUSH") == NULL, "a value while disabled");
  CHECK(SCR_Finalize() == SCR_ERR_DISABLED, "SCR_Finalize");
  CHECK(!there("prefix/.scr") && cached_in("cache") == 0, "a disabled library has written files");
  set("SCR_ENABLE=1");
  OK(SCR_Init());
  OK(put("ck", 1, 100));
  OK(SCR_Finalize());
}

static void bad_arguments(void)
{
  char longer[SCR_MAX_FILENAME + 60], file[SCR_MAX_FILENAME];
  int  flag;

  begin("bad_arguments");
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
  snprintf(longer, sizeof longer, "%s/../x", run_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, "prefix");
  snprintf(longer, sizeof longer, "%s/a/.scr/x", run_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  snprintf(longer, sizeof longer, "%s/a/.scr", run_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  snprintf(longer, sizeof longer, "%s/.scr", run_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  snprintf(longer, sizeof longer, "%s/.scr/index.scr", run_prefix);
  CODE(SCR_Route_file(longer, file), SCR_ERR_PATH, ".scr");
  CODE(SCR_Route_file(run_prefix, file), SCR_ERR_PATH, "prefix");
  OK(SCR_Complete_output(1));
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

static void one_bad_argument(void)
{
  char longer[SCR_MAX_FILENAME + 60];
  int  flag, last = rank == ranks - 1;

  begin("one_bad_argument");
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

static void differ(void)
{
  begin("differ");
  set("SCR_FLUSH=%d", rank == ranks - 1 ? 3 : 4);
  ALIKE(SCR_Init(), SCR_ERR_DIFFER, "SCR_FLUSH");
  set("SCR_FLUSH=");
  if (rank == 0) set("SCR_CACHE_SIZE=2");
  ALIKE(SCR_Init(), SCR_ERR_DIFFER, "SCR_CACHE_SIZE");
  set("SCR_CACHE_SIZE=");
  OK(SCR_Init());
  ALIKE(SCR_Start_output(rank == ranks - 1 ? "a" : "b", SCR_FLAG_CHECKPOINT), SCR_ERR_DIFFER, "name");
  ALIKE(SCR_Start_output(rank == ranks - 1 ? NULL : "b", SCR_FLAG_CHECKPOINT), SCR_ERR_DIFFER, "name");
  ALIKE(SCR_Start_output("a", rank == 0 ? SCR_FLAG_CHECKPOINT : SCR_FLAG_OUTPUT), SCR_ERR_DIFFER, "flags");
  ALIKE(SCR_Current(rank == 0 ? "a" : "b"), SCR_ERR_DIFFER, "names");
  OK(put("ck", 1, 100));
  OK(SCR_Finalize());
}

/* ---- datasets -------------------------------------------------------------------------------------------------- */

static void run_twice(void)
{
  begin("run_twice");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck1", 2, 5000));
  OK(put("ck2", 3, 70000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck2", 3, 70000);
  OK(put("ck3", 1, 300000)); /* more than one message */
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck3", 1, 300000);
  OK(SCR_Finalize());
}

/* The old style: SCR_Route_file right after SCR_Init, and no other call of a restart. */
static void old_style(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin("old_style");
  OK(SCR_Init());
  name_of("ck1", 0, path);
  CODE(SCR_Route_file(path, file), SCR_ERR_MISSING, "ck1");
  CHECK(strcmp(file, path) == 0, "%s", file);
  OK(put("ck1", 2, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  CHECK(holds("ck1", 2, 1000), "wrong bytes");
  OK(SCR_Route_file(path, file));
  CHECK(strcmp(file, path) != 0, "the file of the loaded checkpoint is not in the cache");
  OK(SCR_Start_checkpoint());
  OK(SCR_Complete_checkpoint(1));
  snprintf(path, sizeof path, "%s/input.%d", run_prefix, rank); /* a file that no dataset holds */
  CHECK(write_bytes(path, 1, 10), "%s", path);
  OK(SCR_Route_file(path, file));
  CHECK(strcmp(file, path) == 0, "%s", file);
  OK(SCR_Finalize());
}

/* NAME and FILE in one buffer, names relative to the working directory, and with detours. */
static void names(void)
{
  char cwd[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], a[SCR_MAX_FILENAME], b[SCR_MAX_FILENAME];

  begin("names");
  CHECK(getcwd(cwd, sizeof cwd) != NULL && chdir(run_prefix) == 0, "%s", strerror(errno));
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

/* All ranks, and each rank twice, use the same base name in different directories. */
static void collisions(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, run;

  begin("collisions");
  set("SCR_FLUSH=1");
  for (run = 0; run < 3; run++) { /* write; read from the cache; read from the prefix */
    set("SCR_DISTRIBUTE=%d", run < 2);
    OK(SCR_Init());
    if (run == 0) OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    for (i = 0; i < 3; i++) {
      snprintf(path, sizeof path, "%s/ck/%d/%d/state", run_prefix, rank, i);
      OK(SCR_Route_file(path, file));
      if (run == 0) CHECK(write_bytes(file, seed_of("ck", rank, i), 1000 + (size_t)i), "%s", file);
      else CHECK(same_bytes(file, seed_of("ck", rank, i), 1000 + (size_t)i), "%s", file);
    }
    if (run == 0) OK(SCR_Complete_output(1));
    OK(SCR_Finalize());
  }
}

static void same_file(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin("same_file");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 100));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  snprintf(path, sizeof path, "%s/ck2/shared_%d", run_prefix, rank < 2 ? 0 : rank);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 1, 100), "%s", file);
  ALIKE(SCR_Complete_output(1), SCR_ERR_ARG, "shared_0");
  OK(put("ck3", 1, 100));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck3", 1, 100);
  OK(SCR_Finalize());
}

/* Files of SIZES by rank: none, empty ones, many, unequal ones; from the cache and from the prefix. */
static void shapes(void)
{
  static const struct {
    const char* name;
    int         files;
    size_t      bytes;
    int         who; /* only ranks with this remainder by 2 write; -1: all */
  } shape[] = {{"none", 0, 0, -1},       {"empty", 1, 0, -1},   {"some_empty", 3, 0, 0}, {"one_side", 2, 4000, 1},
               {"unequal", 5, 9000, -1}, {"many", 300, 20, -1}, {"tiny", 1, 1, -1}};
  size_t i;
  int    run;

  begin("shapes");
  set("SCR_FLUSH=1");
  for (i = 0; i < sizeof shape / sizeof *shape; i++) {
    int    files = shape[i].who >= 0 && rank % 2 != shape[i].who ? 0 : shape[i].files;
    size_t bytes = i == 4 && rank == 1 ? 700000 : shape[i].bytes;
    OK(SCR_Init());
    OK(put(shape[i].name, files, bytes));
    OK(SCR_Finalize());
    for (run = 0; run < 2; run++) {
      set("SCR_DISTRIBUTE=%d", !run);
      OK(SCR_Init());
      get(shape[i].name, files, bytes);
      OK(SCR_Finalize());
    }
    set("SCR_DISTRIBUTE=1");
  }
}

/* One rank says that its files are bad: no such dataset, and the older one stays. */
static void invalid(void)
{
  begin("invalid");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  ALIKE(put_valid("ck2", SCR_FLAG_CHECKPOINT, 2, 1000, rank != ranks - 1), SCR_ERR_INVALID, "invalid");
  CHECK(cached_in("cache") == BIT(1), "0x%x", cached_in("cache"));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck1", 2, 1000);
  CODE(put_valid("ck3", SCR_FLAG_CHECKPOINT, 2, 1000, 0), SCR_ERR_INVALID, "invalid");
  OK(put("ck4", 2, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck4", 2, 1000);
  OK(SCR_Finalize());
}

static void missing(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin("missing");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  name_of("ck2", 0, path);
  OK(SCR_Route_file(path, file));
  if (rank != ranks - 1) CHECK(write_bytes(file, 1, 10), "%s", file);
  snprintf(path, sizeof path, "ck2/rank_%d_0", ranks - 1);
  ALIKE(SCR_Complete_output(1), SCR_ERR_MISSING, path);
  CHECK(cached_in("cache") == BIT(1), "0x%x", cached_in("cache"));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

/* The application rejects a checkpoint, and is offered the older ones, of the cache and then of the prefix. */
static void reject(void)
{
  int  flag;
  char name[SCR_MAX_FILENAME];

  begin("reject");
  set("SCR_CACHE_SIZE=2");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(name));
  CHECK(flag == 1 && strcmp(name, "ck3") == 0, "%d %s", flag, name);
  ALIKE(SCR_Complete_restart(rank != 0), SCR_ERR_INVALID, "ck3");
  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(name));
  CHECK(flag == 1 && strcmp(name, "ck2") == 0, "%d %s", flag, name);
  CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, "ck2");
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck4", 1, 1000);
  OK(SCR_Finalize());
}

/* All checkpoints are rejected: a fresh start is refused until it is asked for (D10). */
static void no_restart(void)
{
  int  flag;
  char name[SCR_MAX_FILENAME];

  begin("no_restart");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, name));
  OK(SCR_Start_restart(name));
  CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, "ck1");
  CODE(SCR_Have_restart(&flag, name), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  CHECK(flag == 0, "%d", flag);
  CODE(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  OK(SCR_Finalize());
  OK(SCR_Init());
  CODE(SCR_Have_restart(&flag, name), SCR_ERR_NO_RESTART, "dataset 1");
  OK(SCR_Finalize());
  set("SCR_FRESH_START=1");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  set("SCR_FRESH_START=");
  OK(SCR_Init());
  get("ck2", 1, 1000);
  OK(SCR_Finalize());
}

/* ---- communicators --------------------------------------------------------------------------------------------- */

/* Two halves of the job, each a job of its own with its own prefix, at the same time. */
static void split(void)
{
  char     whole[sizeof run_prefix];
  MPI_Comm half;
  int      run, side = rank % 2, i;

  begin("split");
  memcpy(whole, run_prefix, sizeof whole);
  MPI_Comm_split(MPI_COMM_WORLD, side, -rank, &half);
  snprintf(run_prefix, sizeof run_prefix, "%s/prefix%d", run_dir, side);
  if (rank < 2) make_dir(run_prefix);
  MPI_Barrier(half);
  set("SCR_VIRTUAL_NODES=");
  set("SCR_PREFIX=%s", run_prefix);
  CODE(SCR_Init_comm(MPI_COMM_NULL), SCR_ERR_STATE, "MPI_COMM_NULL");
  for (run = 0; run < 3; run++) {
    set("SCR_DISTRIBUTE=%d", run < 2);
    OK(SCR_Init_comm(half));
    if (run == 0) get(NULL, 0, 0);
    else get(side ? "odd" : "even", 2, 1000);
    for (i = 0; run == 0 && i <= side; i++) OK(put(side ? "odd" : "even", 2, 1000)); /* other counts */
    OK(SCR_Finalize());
  }
  MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(count_in("cntl", "prefix.scrinfo") >= 2, "both halves have the same control directory");
  memcpy(run_prefix, whole, sizeof whole);
}

/* Prefix and control base of job SIDE; the cache base is that of all. */
static void own_bases(int side)
{
  snprintf(run_prefix, sizeof run_prefix, "%s/prefix%d", run_dir, side);
  set("SCR_PREFIX=%s", run_prefix);
  set("SCR_CNTL_BASE=%s/cntl%d", run_dir, side);
}

/* Runs over two prefixes with a control base each, and one cache base between them, one after the other. */
static void one_cache(void)
{
  int run;

  begin("one_cache");
  set("SCR_FLUSH=0");
  shell("mkdir prefix0 prefix1");
  for (run = 0; run < 6; run++) {
    own_bases(run % 2);
    OK(SCR_Init());
    get(run < 2 ? NULL : run % 2 ? "odd" : "even", 2, 1000);
    if (run < 4) OK(put(run % 2 ? "odd" : "even", 2, 1000));
    OK(SCR_Finalize());
  }
  CHECK(count_in("cache", "prefix.scrinfo") == 2 * (ranks == 5 ? 3 : ranks), "%d directories in the cache",
        count_in("cache", "prefix.scrinfo"));

  /* A control directory that is in use already does not look for another place. */
  own_bases(2);
  shell("mkdir prefix2 cache2");
  set("SCR_CACHE_BASE=%s/cache2", run_dir);
  OK(SCR_Init());
  OK(put("third", 1, 100));
  OK(SCR_Finalize());
  set("SCR_CACHE_BASE=%s/cache", run_dir);
  ALIKE(SCR_Init(), SCR_ERR_BUSY, "SCR_CACHE_BASE");
  set("SCR_CACHE_BASE=%s/cache2", run_dir);
  OK(SCR_Init());
  get("third", 1, 100);
  OK(SCR_Finalize());
}

/* The same, both at once: the halves of the job. */
static void one_cache_split(void)
{
  MPI_Comm half;
  int      run, side = rank % 2;

  begin("one_cache_split");
  set("SCR_FLUSH=0");
  set("SCR_VIRTUAL_NODES=");
  shell("mkdir prefix0 prefix1");
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  own_bases(side);
  for (run = 0; run < 3; run++) {
    MPI_Barrier(MPI_COMM_WORLD);
    OK(SCR_Init_comm(half));
    get(run == 0 ? NULL : side ? "odd" : "even", 2, 1000);
    OK(put(side ? "odd" : "even", 2, 1000));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(SCR_Finalize());
  }
  MPI_Comm_free(&half);
  CHECK(count_in("cache", "prefix.scrinfo") == 2, "%d directories in the cache", count_in("cache", "prefix.scrinfo"));
}

/* A run that is killed while it holds its directories; mpi.sh runs after_kill in its directories. */
static void killed(void)
{
  begin("killed");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  MPI_Barrier(MPI_COMM_WORLD);
  raise(SIGKILL);
}

static void after_kill(void)
{
  begin("killed");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  get("ck1", 2, 1000);
  OK(SCR_Finalize());
}

/* Two halves with the same prefix: one of them is told that the prefix is in use; the other one works. */
static void split_busy(void)
{
  MPI_Comm half;
  int      rc, side = rank % 2, busy, fine;

  begin("split_busy");
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  set("SCR_VIRTUAL_NODES=");
  rc = SCR_Init_comm(half);
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_BUSY, "%d %s", rc, SCR_Last_error());
  if (rc == SCR_ERR_BUSY) CHECK(strstr(SCR_Last_error(), "SCR_PREFIX") != NULL, "%s", SCR_Last_error());
  busy = rc == SCR_ERR_BUSY;
  fine = rc == SCR_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &busy, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(busy == ranks / 2 || busy == ranks - ranks / 2, "%d ranks of %d are told", busy, ranks);
  CHECK(busy + fine == ranks, "%d + %d", busy, fine);
  if (rc == SCR_SUCCESS) {
    OK(put("ck", 1, 100));
    OK(SCR_Finalize());
  }
  MPI_Comm_free(&half);
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

/* The query Q gives VALUE; NULL: it is not set. */
static void query(const char* q, const char* value)
{
  char* v = (char*)SCR_Config(q);

  CHECK((v == NULL) == (value == NULL), "%s is %s", q, v ? v : "not set");
  if (v != NULL && value != NULL) CHECK(strcmp(v, value) == 0, "%s is %s", q, v);
  CHECK(*SCR_Last_error() == '\0', "%s: %s", q, SCR_Last_error());
  free(v);
}

static void config(void)
{
  static const char* const wrong[] = {"", " ", "=", "=1", NULL};
  char*                    v;
  int                      i;

  begin("config");
  query("SCR_FLUSH", NULL);
  set("SCR_FLUSH=3");
  query("SCR_FLUSH", "3");
  set("SCR_FLUSH=4");
  query("SCR_FLUSH", "4");
  set("SCR_FLUSH=");
  query("SCR_FLUSH", NULL);
  set("SCR_JOB_NAME=a=b");
  query("SCR_JOB_NAME", "a=b");
  set("CKPT=0 INTERVAL=1 TYPE=XOR");
  set("CKPT=1 INTERVAL=2");
  set("CKPT=1 TYPE=SINGLE");
  query("CKPT=0 TYPE", "XOR");
  query("CKPT=1 INTERVAL", "2");
  query("CKPT=1 TYPE", "SINGLE");
  query("CKPT=1 OUTPUT", NULL);
  query("CKPT=7 TYPE", NULL);
  set("CKPT=");
  query("CKPT=0 TYPE", NULL);
  v = (char*)SCR_Configf("SCR_CACHE_SIZE=%d", 4);
  CHECK(v == NULL && *SCR_Last_error() == '\0', "%s", SCR_Last_error());
  query("SCR_CACHE_SIZE", "4");
  v = (char*)SCR_Configf("%s", "SCR_CACHE_SIZE");
  CHECK(v != NULL && strcmp(v, "4") == 0, "%s", v ? v : "not set");
  free(v);
  for (i = 0; i < 5; i++) {
    v = (char*)SCR_Config(wrong[i]);
    CHECK(v == NULL && *SCR_Last_error() != '\0', "\"%s\" is no error", wrong[i] ? wrong[i] : "NULL");
  }
  OK(SCR_Init());
  query("SCR_CACHE_SIZE", "4");
  v = (char*)SCR_Config("SCR_CACHE_SIZE=5");
  CHECK(v == NULL && strstr(SCR_Last_error(), "SCR_Init") != NULL, "%s", SCR_Last_error());
  query("SCR_CACHE_SIZE", "4");
  OK(SCR_Finalize());
  set("SCR_CACHE_SIZE=5"); /* again, for the next start */
  query("SCR_CACHE_SIZE", "5");
}

/* A transfer type that only a vendor has is replaced, and rank 0 says so. */
static void vendor_transfer(void)
{
  char said[SCR_MAX_FILENAME], line[256] = "";
  int  old, fd, n;

  begin("vendor_transfer");
  set("STORE=%s/cache TYPE=dw", run_dir);
  snprintf(said, sizeof said, "%s/said.%d", run_dir, rank);
  fflush(stderr);
  old = dup(2);
  fd = open(said, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(old >= 0 && fd >= 0 && dup2(fd, 2) == 2, "cannot redirect to %s: %s", said, strerror(errno));
  n = SCR_Init();
  fflush(stderr);
  dup2(old, 2);
  OK(n);
  n = (int)pread(fd, line, sizeof line - 1, 0);
  CHECK((strstr(line, "TYPE=dw") != NULL) == (rank == 0) && (n == 0) == (rank > 0), "%s", line);
  OK(put("ck1", 1, 1000));
  OK(SCR_Finalize());
  close(fd);
  close(old);
}

/* Bad values, and settings that do not fit together. */
static void bad_settings(void)
{
  static const char* const bad[][3] = {
      {"SCR_FLUSH=abc", "SCR_FLUSH=", "SCR_FLUSH"},
      {"SCR_CACHE_SIZE=-1", "SCR_CACHE_SIZE=", "SCR_CACHE_SIZE"},
      {"SCR_COPY_TYPE=TRIPLE", "SCR_COPY_TYPE=", "SCR_COPY_TYPE"},
      {"SCR_MPI_BUF_SIZE=12Q", "SCR_MPI_BUF_SIZE=", "SCR_MPI_BUF_SIZE"},
      {"SCR_CHECKPOINT_OVERHEAD=x", "SCR_CHECKPOINT_OVERHEAD=", "SCR_CHECKPOINT_OVERHEAD"},
      {"SCR_CACHE_PURGE=2", "SCR_CACHE_PURGE=", "SCR_CACHE_PURGE"},
      {"SCR_HALT_EXIT=yes", "SCR_HALT_EXIT=", "SCR_HALT_EXIT"},
      {"SCR_GROUP=RACK", "SCR_GROUP=", "RACK"},
      {"SCR_COPY_TYPE=FILE", "SCR_COPY_TYPE=", "CKPT"},
      {"SCR_CACHE_BASE=relative", "SCR_CACHE_BASE=", "SCR_CACHE_BASE"},
      {"STORE=relative COUNT=2", "STORE=", "STORE"},
      {"STORE=/tmp TYPE=FAST", "STORE=", "SYNC, PTHREAD"}};
  size_t i;

  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    int rc = SCR_SUCCESS;
    begin("bad_settings");
    if (SCR_Config(bad[i][0]) == NULL && *SCR_Last_error() == '\0') rc = SCR_Init();
    else rc = SCR_ERR_PARAM; /* refused at once */
    CHECK(rc == SCR_ERR_PARAM, "%s is %d: %s", bad[i][0], rc, rc ? SCR_Last_error() : "");
    CHECK(strstr(SCR_Last_error(), bad[i][2]) != NULL, "%s: %s", bad[i][0], SCR_Last_error());
    if (rc == SCR_SUCCESS) OK(SCR_Finalize());
    set("%s", bad[i][1]);
  }
  begin("bad_settings");
  set("SCR_COPY_TYPE=FILE");
  set("CKPT=0 INTERVAL=2");
  CODE(SCR_Init(), SCR_ERR_PARAM, "INTERVAL");
  set("CKPT=0 INTERVAL=1 STORE=/no/such/store");
  CODE(SCR_Init(), SCR_ERR_PARAM, "/no/such/store");
  set("CKPT=");
  set("CKPT=0 GROUP=RACK");
  CODE(SCR_Init(), SCR_ERR_PARAM, "RACK");
  set("CKPT=");
  set("SCR_COPY_TYPE=");
  set("STORE=%s/cache GROUP=RACK", run_dir);
  CODE(SCR_Init(), SCR_ERR_PARAM, "RACK");
  set("STORE=");
  OK(SCR_Init());
  OK(put("ck", 1, 100));
  OK(SCR_Finalize());
}

/* The user file wins over SCR_Config, and the environment over both. */
static void user_file(void)
{
  begin("user_file");
  shell("printf '# a comment\\nSCR_CACHE_SIZE = 3  # more\\nSCR_JOB_NAME=$TEST_WORD\\n' > prefix/.scrconf");
  setenv("TEST_WORD", "word", 1);
  set("SCR_CACHE_SIZE=1");
  OK(SCR_Init());
  query("SCR_CACHE_SIZE", "3");
  query("SCR_JOB_NAME", "word");
  OK(SCR_Finalize());
  setenv("SCR_CACHE_SIZE", "2", 1);
  OK(SCR_Init());
  query("SCR_CACHE_SIZE", "2");
  OK(SCR_Finalize());
  if (rank == 0) unsetenv("SCR_CACHE_SIZE");
  if (ranks > 1) CODE(SCR_Init(), SCR_ERR_DIFFER, "SCR_CACHE_SIZE");
  else {
    OK(SCR_Init());
    OK(SCR_Finalize());
  }
  unsetenv("SCR_CACHE_SIZE");
  shell("printf '\\n\\nSCR_JOB_NAME=$TEST_NOT_SET\\n' > prefix/.scrconf");
  CODE(SCR_Init(), SCR_ERR_PARAM, "TEST_NOT_SET");
  CHECK(strstr(SCR_Last_error(), "3") != NULL, "no line number: %s", SCR_Last_error());
  shell("printf 'SCR_FLUSH=many\\n' > prefix/.scrconf");
  CODE(SCR_Init(), SCR_ERR_PARAM, "SCR_FLUSH");
  shell("rm prefix/.scrconf");
  OK(SCR_Init());
  OK(SCR_Finalize());
}

static void cache_size(void)
{
  static const unsigned left[] = {0, BIT(5), BIT(4) | BIT(5), BIT(3) | BIT(4) | BIT(5)};
  char                  name[40];
  int                   size, i;

  for (size = 1; size <= 3; size++) {
    snprintf(name, sizeof name, "cache_size_%d", size);
    begin(name);
    set("SCR_CACHE_SIZE=%d", size);
    set("SCR_FLUSH=0");
    OK(SCR_Init());
    for (i = 1; i <= 5; i++) {
      snprintf(name, sizeof name, "ck%d", i);
      OK(put(name, 1, 100));
    }
    CHECK(cached_in("cache") == left[size], "size %d leaves 0x%x", size, cached_in("cache"));
    CHECK(!there("prefix/ck5"), "a checkpoint is flushed although SCR_FLUSH is 0");
    OK(SCR_Finalize());
    OK(SCR_Init());
    get("ck5", 1, 100);
    CHECK(cached_in("cache") == left[size], "after a restart, size %d leaves 0x%x", size, cached_in("cache"));
    OK(SCR_Finalize());
  }
}

/* Descriptors by interval, in stores of their own, and one for output. */
static void ckpt_lines(void)
{
  int i;

  begin("ckpt_lines");
  set("SCR_COPY_TYPE=FILE");
  set("SCR_FLUSH=0");
  set("STORE=%s/a COUNT=2", run_dir);
  set("STORE=%s/b", run_dir);
  set("STORE=%s/c COUNT=3", run_dir);
  set("CKPT=0 INTERVAL=1 TYPE=SINGLE STORE=%s/a", run_dir);
  set("CKPT=1 INTERVAL=2 TYPE=XOR SET_SIZE=2 GROUP=NODE STORE=%s/b", run_dir);
  set("CKPT=2 INTERVAL=1000 OUTPUT=1 TYPE=SINGLE STORE=%s/c", run_dir);
  set("CKPT=3 INTERVAL=4 ENABLED=0 STORE=%s/c", run_dir);
  OK(SCR_Init());
  for (i = 1; i <= 4; i++) {
    char name[8];
    snprintf(name, sizeof name, "ck%d", i);
    OK(put(name, 2, 1000));
  }
  OK(put_valid("out", SCR_FLAG_OUTPUT, 1, 100, 1));
  CHECK(cached_in("a") == (BIT(1) | BIT(3)), "a holds 0x%x", cached_in("a"));
  CHECK(cached_in("b") == BIT(4), "b holds 0x%x", cached_in("b"));
  CHECK(cached_in("c") == BIT(5), "c holds 0x%x", cached_in("c"));
  CHECK(count_in("b", ".xor") == (ranks > 1 ? ranks : 0), "%d parity files", count_in("b", ".xor"));
  CHECK(count_in("a", ".xor") == 0, "parity of SINGLE");
  CHECK(there("prefix/out"), "the output is not on the prefix");
  OK(SCR_Finalize());
  set("CKPT="); /* the stored descriptors count, not these */
  set("SCR_COPY_TYPE=SINGLE");
  OK(SCR_Init());
  get("ck4", 2, 1000);
  OK(SCR_Finalize());
  set("STORE=");
}

/* ---- cache and prefix ------------------------------------------------------------------------------------------ */

static void fetch(void)
{
  begin("fetch");
  set("SCR_FLUSH=2");
  set("SCR_FLUSH_WIDTH=1");
  set("SCR_FETCH_WIDTH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  CHECK(!there("prefix/ck1"), "ck1 is flushed");
  OK(put("ck2", 2, 70000));
  CHECK(there("prefix/ck2/rank_0_0") && there("prefix/.scr/index.scr"), "ck2 is not flushed");
  OK(put("ck3", 1, 1000));
  CHECK(!there("prefix/ck3"), "ck3 is flushed");
  OK(SCR_Finalize());
  CHECK(there("prefix/ck3/rank_0_0"), "SCR_Finalize did not flush the newest");
  shell("rm -rf cache/* cntl/*");
  OK(SCR_Init());
  get("ck3", 1, 1000);
  OK(SCR_Finalize());
  shell("rm -rf cache/* cntl/* prefix/ck3/rank_%d_0", ranks - 1);
  OK(SCR_Init()); /* the newest is damaged: an older one */
  get("ck2", 2, 70000);
  OK(SCR_Finalize());
  shell("rm -rf cache/* cntl/*; printf x >> prefix/ck2/rank_0_1");
  OK(SCR_Init());
  {
    int flag;
    CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  }
  OK(SCR_Finalize());
  set("SCR_FETCH=0"); /* the prefix does not count */
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck5", 1, 10));
  OK(SCR_Finalize());
}

static void distribute_purge(void)
{
  begin("distribute_purge");
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  set("SCR_DISTRIBUTE=0");
  OK(SCR_Init());
  CHECK(cached_in("cache") == BIT(2), "the cache holds 0x%x, not the fetched checkpoint alone", cached_in("cache"));
  get("ck2", 1, 1000);
  OK(SCR_Finalize());
  set("SCR_DISTRIBUTE=1");
  set("SCR_FETCH=0");
  set("SCR_CACHE_PURGE=1");
  OK(SCR_Init());
  CHECK(cached_in("cache") == 0, "0x%x", cached_in("cache"));
  get(NULL, 0, 0);
  OK(SCR_Finalize());
  set("SCR_FETCH=1");
  OK(SCR_Init());
  get("ck2", 1, 1000);
  OK(SCR_Finalize());
}

/* The same file names at each checkpoint: each flush replaces the one before, and leaves one good dataset. */
static void overwrite(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[40], old[SCR_MAX_FILENAME];
  int  i, flag;

  begin("overwrite");
  set("SCR_FLUSH=1");
  for (i = 1; i <= 4; i++) {
    OK(SCR_Init());
    snprintf(name, sizeof name, "step%d", i);
    OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/state/rank_%d", run_prefix, rank);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, (unsigned)i, 1000 * (size_t)(5 - i)), "%s", file);
    OK(SCR_Complete_output(1));
    CHECK(same_bytes(path, (unsigned)i, 1000 * (size_t)(5 - i)), "%s on the prefix", path);
    CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
    OK(SCR_Finalize());
    set("SCR_DISTRIBUTE=0");
    OK(SCR_Init());
    OK(SCR_Have_restart(&flag, old));
    CHECK(flag == 1 && strcmp(old, name) == 0, "%d %s", flag, old);
    if (flag) {
      OK(SCR_Route_file(path, file));
      CHECK(strcmp(path, file) != 0 && same_bytes(file, (unsigned)i, 1000 * (size_t)(5 - i)), "%s", file);
    }
    if (i > 1) {
      snprintf(old, sizeof old, "step%d", i - 1);
      CODE(SCR_Drop(old), SCR_ERR_NOT_FOUND, old);
    }
    OK(SCR_Finalize());
    set("SCR_DISTRIBUTE=");
  }
}

/* Checkpoints whose files share one directory, without replacing each other. */
static void shared_dir(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[40];
  int  i;

  begin("shared_dir");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  for (i = 1; i <= 3; i++) {
    snprintf(name, sizeof name, "step%d", i);
    OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/ckpt/step%d_%d", run_prefix, i, rank);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, (unsigned)i, 500), "%s", file);
    OK(SCR_Complete_output(1));
  }
  OK(SCR_Finalize());
  for (i = 3; i >= 1; i--) {
    set("SCR_DISTRIBUTE=0");
    OK(SCR_Init());
    snprintf(path, sizeof path, "%s/ckpt/step%d_%d", run_prefix, i, rank);
    OK(SCR_Route_file(path, file));
    CHECK(strcmp(path, file) != 0 && same_bytes(file, (unsigned)i, 500), "step%d at %s", i, file);
    snprintf(name, sizeof name, "step%d", i);
    OK(SCR_Delete(name));
    CHECK(access(path, F_OK) != 0, "%s is still there", path);
    OK(SCR_Finalize());
  }
}

/* The application uses the directory that another dataset would get: the metadata go elsewhere. */
static void taken_dir(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[40];
  int  keep;

  for (keep = 0; keep < 2; keep++) {
    snprintf(name, sizeof name, "taken_dir_%d", keep);
    begin(name);
    set("SCR_FLUSH=1");
    OK(SCR_Init());
    OK(put("scr.dataset.2", 2, 1000)); /* its id is 1 */
    OK(SCR_Finalize());
    set("SCR_PRESERVE_DIRECTORIES=%d", keep);
    OK(SCR_Init());
    OK(SCR_Start_output("second", SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/second_%d", run_prefix, rank); /* no directory of its own */
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, 7, 500), "%s", file);
    OK(SCR_Complete_output(1));
    OK(SCR_Finalize());
    CHECK(there("prefix/scr.dataset.2.1/.scr/summary.scr"), "where is the summary of the second");
    set("SCR_DISTRIBUTE=0");
    OK(SCR_Init());
    OK(SCR_Route_file(path, file));
    CHECK(strcmp(path, file) != 0 && same_bytes(file, 7, 500), "the second at %s", file);
    OK(SCR_Current("scr.dataset.2"));
    get("scr.dataset.2", 2, 1000);
    OK(SCR_Delete("second"));
    OK(SCR_Finalize());
    CHECK(!there("prefix/scr.dataset.2.1") && there("prefix/scr.dataset.2/.scr/summary.scr"), "after SCR_Delete");
  }
}

static void preserve(void)
{
  int run;

  begin("preserve");
  set("SCR_FLUSH=1");
  set("SCR_PRESERVE_DIRECTORIES=0");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  OK(SCR_Finalize());
  CHECK(there("prefix/scr.dataset.1/ck1/rank_0_0"), "the file is not in scr.dataset.1");
  CHECK(!there("prefix/ck1"), "the file is where it was named");
  for (run = 0; run < 2; run++) {
    set("SCR_DISTRIBUTE=%d", run);
    OK(SCR_Init());
    get("ck1", 2, 1000);
    OK(SCR_Finalize());
  }
}

/* SCR_Current, SCR_Drop, SCR_Delete. */
static void by_name(void)
{
  begin("by_name");
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  OK(put_valid("out", SCR_FLAG_OUTPUT, 1, 100, 1));
  OK(SCR_Finalize());

  OK(SCR_Init()); /* an older one, which only the prefix has */
  OK(SCR_Current("ck1"));
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  OK(SCR_Init()); /* the choice holds */
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init()); /* until there is a newer one */
  get("ck4", 1, 1000);
  OK(SCR_Delete("ck4"));
  CHECK(!there("prefix/ck4"), "ck4 is on the prefix");
  CODE(SCR_Delete("ck4"), SCR_ERR_NOT_FOUND, "ck4");
  OK(SCR_Drop("ck3"));
  CHECK(there("prefix/ck3/rank_0_0"), "the files of ck3 are gone");
  CODE(SCR_Drop("ck3"), SCR_ERR_NOT_FOUND, "ck3");
  OK(SCR_Finalize());
  shell("rm -rf cache/* cntl/*");
  OK(SCR_Init());
  get("ck2", 1, 1000);
  OK(SCR_Delete("out"));
  CHECK(!there("prefix/out"), "out is on the prefix");
  OK(SCR_Finalize());
}

static void current(void)
{
  begin("current");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  OK(SCR_Finalize());
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init()); /* the wish was served once */
  get("ck4", 1, 1000);
  OK(SCR_Finalize());
}

/* Output that is a checkpoint as well, and output that is none: only the first can be restarted from. */
static void outputs(void)
{
  begin("outputs");
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put_valid("both", SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, 2, 1000, 1));
  OK(put_valid("plot", SCR_FLAG_OUTPUT, 1, 1000, 1));
  OK(put_valid("note", SCR_FLAG_NONE, 1, 1000, 1));
  OK(SCR_Finalize());
  CHECK(there("prefix/both/rank_0_1") && there("prefix/plot/rank_0_0"), "output is not on the prefix");
  CHECK(!there("prefix/ck1") && !there("prefix/note"), "what is no output is on the prefix");
  OK(SCR_Init());
  get("both", 2, 1000);
  OK(SCR_Finalize());
  set("SCR_DISTRIBUTE=0");
  OK(SCR_Init());
  get("both", 2, 1000);
  OK(SCR_Finalize());
}

/* What is rebuilt in the cache is copied to the prefix in SCR_Init. */
static void flush_on_restart(void)
{
  begin("flush_on_restart");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Finalize());
  CHECK(!there("prefix/ck1"), "flushed although SCR_FLUSH is 0");
  set("SCR_FLUSH_ON_RESTART=1");
  OK(SCR_Init());
  CHECK(there("prefix/ck1/rank_0_0"), "not flushed in SCR_Init");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

/* Temporary files of metadata, which killed processes left, are removed; what only looks like them is not. */
static void leftovers(void)
{
  begin("leftovers");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Finalize());
  shell("cd prefix/.scr; touch index.scr.node-1.some.where.123.0.tmp halt.scr..99.7.tmp nodes.scr.n.1.22.tmp "
        "flush.scr.n.1.2.tmp");
  shell("cd prefix/.scr; touch index.scr.mine.tmp index.scr.1.tmp index.scr.1.2.tmp my.scr.n.1.2.tmp "
        "index.scr.n.1.2.tmp.kept index.scr.n.1.x.tmp");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  shell("ls prefix/.scr | grep tmp > left; test $(wc -l < left) = 6; ! grep -e where -e 99.7 -e 1.22 -e flush left");
}

/* ---- the log ---- */

/* How many lines of the log of this case's prefix hold all of A, B and C. */
static int log_lines(const char* a, const char* b, const char* c)
{
  char  path[SCR_MAX_FILENAME], line[8192];
  int   n = 0;
  FILE* f;

  snprintf(path, sizeof path, "%s/.scr/log", run_prefix);
  f = fopen(path, "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    n += strstr(line, a) != NULL && strstr(line, b) != NULL && strstr(line, c) != NULL;
  if (f != NULL) fclose(f);
  return n;
}

/* The log tells what happens to one checkpoint, and which file of which node was corrupt. */
static void logged(void)
{
  static const char* const once[] = {"COMPUTE_END",   "CHECKPOINT_START", "CHECKPOINT_END", "FLUSH_START",
                                     "FLUSH_SUCCESS", "xfer=CHECKPOINT",  "xfer=FLUSH_SYNC"};
  char                     path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], text[64], host[300] = "host=";
  size_t                   i;
  int                      flag = 0, k = (ranks == 5 ? 3 : ranks) - 1;

  begin("logged");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  OK(SCR_Finalize());
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
  OK(SCR_Finalize());

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
  set("SCR_LOG_ENABLE=");
  set("SCR_LOG_SYSLOG_ENABLE=");
}

static int before_mpi; /* the code of SCR_Init before MPI_Init */

static void outside_mpi(void)
{
  CHECK(before_mpi == SCR_ERR_STATE, "SCR_Init before MPI_Init is %d", before_mpi);
}

/* ---- decisions ------------------------------------------------------------------------------------------------- */

static int need(void)
{
  int flag = -1;
  OK(SCR_Need_checkpoint(&flag));
  return flag;
}

static int should_exit(void)
{
  int flag = -1;
  OK(SCR_Should_exit(&flag));
  return flag;
}

static void need_checkpoint(void)
{
  int i;

  begin("need_checkpoint");
  OK(SCR_Init());
  for (i = 0; i < 3; i++) CHECK(need() == 1, "call %d without a rule", i);
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_INTERVAL=3");
  OK(SCR_Init());
  for (i = 1; i <= 9; i++) CHECK(need() == (i % 3 == 0), "call %d of interval 3", i);
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_INTERVAL=");
  set("SCR_CHECKPOINT_SECONDS=1");
  OK(SCR_Init());
  CHECK(need() == 0, "at once");
  usleep(1100000);
  CHECK(need() == 1, "after 1.1 s");
  OK(put("ck1", 1, 10));
  CHECK(need() == 0, "right after a checkpoint");
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_SECONDS=");
  set("SCR_CHECKPOINT_OVERHEAD=0.001");
  OK(SCR_Init());
  CHECK(need() == 1, "before the first checkpoint");
  OK(put("ck2", 1, 10));
  CHECK(need() == 0, "one is enough for 0.001 percent");
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_OVERHEAD=99");
  OK(SCR_Init());
  OK(put("ck3", 1, 10));
  usleep(300000);
  CHECK(need() == 1, "there is time for more");
  OK(SCR_Finalize());
}

/* A run with the halt condition that OPTIONS of scr_halt set: what SCR_Should_exit and SCR_Need_checkpoint say. */
static void halted(const char* options, int expect)
{
  shell("$TEST_HALT -r prefix; $TEST_HALT %s prefix", options);
  OK(SCR_Init());
  CHECK(should_exit() == expect, "scr_halt %s", options);
  CHECK(need() == expect, "scr_halt %s", options);
  OK(SCR_Finalize());
}

/* scr_halt changes the halt file before the job starts, and while it runs. */
static void halt(void)
{
  begin("halt");
  set("SCR_CHECKPOINT_INTERVAL=1000");
  halted("-l", 0);
  halted("-i", 1);
  halted("-a 1000", 1);
  halted("-a +2h", 0);
  halted("-b +1h", 0);
  halted("-b +1h -s 7200", 1);
  halted("-c 5", 0);
  halted("-l", 0);

  OK(SCR_Init());
  CHECK(should_exit() == 0, "without a condition");
  shell("$TEST_HALT -c 2 prefix");
  CHECK(should_exit() == 0, "two checkpoints are left");
  OK(put("ck1", 1, 10));
  CHECK(should_exit() == 0, "one checkpoint is left");
  OK(put_valid("out", SCR_FLAG_OUTPUT, 1, 10, 1));
  CHECK(should_exit() == 0, "output is no checkpoint");
  OK(put("ck2", 1, 10)); /* the program lives on, because it asks */
  CHECK(should_exit() == 1 && need() == 1, "no checkpoint is left");
  OK(SCR_Finalize());

  shell("$TEST_HALT -r prefix");
  set("SCR_HALT_SECONDS=200");
  setenv("SCR_END_TIME", "1000", 1);
  OK(SCR_Init());
  CHECK(should_exit() == 1, "the allocation has ended");
  setenv("SCR_END_TIME", "9000000000", 1);
  OK(SCR_Finalize());
  shell("$TEST_HALT -r prefix");
  OK(SCR_Init());
  CHECK(should_exit() == 0, "the allocation lasts");
  OK(SCR_Finalize());
  unsetenv("SCR_END_TIME");

  set("SCR_HALT_SECONDS=");
  set("SCR_HALT_ENABLED=0"); /* no exit, but SCR_Should_exit tells */
  shell("$TEST_HALT -i prefix");
  OK(SCR_Init());
  OK(put("ck3", 1, 10));
  CHECK(should_exit() == 1, "SCR_HALT_ENABLED=0");
  OK(SCR_Finalize());
  set("SCR_HALT_ENABLED=");
  set("SCR_HALT_EXIT=0"); /* never */
  OK(SCR_Init());
  OK(put("ck4", 1, 10));
  OK(SCR_Finalize());
}

/* Programs that the library ends; mpi.sh sees to it that they end well, with the checkpoint on the prefix. */
static void exit_in_complete(const char* how, int ask)
{
  char name[40];

  snprintf(name, sizeof name, "exit_%s", how);
  begin(name);
  set("SCR_HALT_EXIT=%s", how);
  OK(SCR_Init());
  OK(put("ck1", 1, 100));
  if (ask) CHECK(should_exit() == 0, "without a condition");
  shell("$TEST_HALT -i prefix");
  put("ck2", 1, 100);
  CHECK(0, "the program lives on");
}

static void exit_auto(void)
{
  exit_in_complete("auto", 0);
}

static void exit_always(void)
{
  exit_in_complete("1", 1);
}

static void exit_init(void)
{
  begin("exit_1"); /* after exit_always */
  set("SCR_HALT_EXIT=1");
  SCR_Init();
  CHECK(0, "the program lives on");
}

static const check_case cases[] = {{"states", states, 1},
                                   {"disabled", disabled, 1},
                                   {"bad_arguments", bad_arguments, 1},
                                   {"one_bad_argument", one_bad_argument, 2},
                                   {"differ", differ, 2},
                                   {"run_twice", run_twice, 1},
                                   {"old_style", old_style, 1},
                                   {"names", names, 1},
                                   {"collisions", collisions, 1},
                                   {"same_file", same_file, 2},
                                   {"shapes", shapes, 1},
                                   {"invalid", invalid, 1},
                                   {"missing", missing, 1},
                                   {"reject", reject, 1},
                                   {"no_restart", no_restart, 1},
                                   {"split", split, 2},
                                   {"one_cache", one_cache, 1},
                                   {"one_cache_split", one_cache_split, 2},
                                   {"config", config, 1},
                                   {"vendor_transfer", vendor_transfer, 1},
                                   {"bad_settings", bad_settings, 1},
                                   {"user_file", user_file, 1},
                                   {"cache_size", cache_size, 1},
                                   {"ckpt_lines", ckpt_lines, 1},
                                   {"fetch", fetch, 1},
                                   {"distribute_purge", distribute_purge, 1},
                                   {"overwrite", overwrite, 1},
                                   {"shared_dir", shared_dir, 1},
                                   {"taken_dir", taken_dir, 1},
                                   {"preserve", preserve, 1},
                                   {"by_name", by_name, 1},
                                   {"current", current, 1},
                                   {"outputs", outputs, 1},
                                   {"flush_on_restart", flush_on_restart, 1},
                                   {"leftovers", leftovers, 1},
                                   {"logged", logged, 1},
                                   {"outside_mpi", outside_mpi, 1},
                                   {"need_checkpoint", need_checkpoint, 1},
                                   {"halt", halt, 1},
                                   {"split_busy", split_busy, CHECK_NAMED},
                                   {"killed", killed, CHECK_NAMED},
                                   {"after_kill", after_kill, CHECK_NAMED},
                                   {"exit_auto", exit_auto, CHECK_NAMED},
                                   {"exit_always", exit_always, CHECK_NAMED},
                                   {"exit_init", exit_init, CHECK_NAMED},
                                   {NULL, NULL, 0}};

int main(int argc, char** argv)
{
  int rc;

  before_mpi = SCR_Init();
  run_start(&argc, &argv);
  rc = check_main(cases, argc, argv);
  MPI_Finalize();
  if (SCR_Init() != SCR_ERR_STATE) rc = 1; /* after MPI_Finalize */
  return rc;
}
