/*
** settings.c - parameters: how they are set and asked for, which source wins, and bad ones, which are named.
*/
#include "mpi_test.h"

/* The query Q gives VALUE; NULL: it is not set. */
static void query(const char* q, const char* value)
{
  char* v = (char*)SCR_Config(q);

  CHECK((v == NULL) == (value == NULL), "%s is %s", q, v ? v : "not set");
  if (v != NULL && value != NULL) CHECK(strcmp(v, value) == 0, "%s is %s", q, v);
  CHECK(*SCR_Last_error() == '\0', "%s: %s", q, SCR_Last_error());
  free(v);
}

static void parameters_are_set_unset_and_asked_for_until_init(void)
{
  static const char* const wrong[] = {"", " ", "=", "=1", NULL};
  char*                    v;
  int                      i;

  begin();
  query("SCR_FLUSH", NULL);
  set("SCR_FLUSH=3");
  query("SCR_FLUSH", "3");
  set("SCR_FLUSH=4");
  query("SCR_FLUSH", "4");
  set("SCR_FLUSH=");
  query("SCR_FLUSH", NULL);
  set("SCR_JOB_NAME=a=b");
  query("SCR_JOB_NAME", "a=b");
  set("OF_NOBODY=1");
  set("OF_NOBODY=2");
  query("OF_NOBODY", "2");
  set("OF_NOBODY=");
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
  CODE(SCR_Init(), SCR_ERR_ARG, "SCR_Config"); /* what was not understood is not forgotten */
  OK(SCR_Init());
  query("SCR_CACHE_SIZE", "4");
  v = (char*)SCR_Config("SCR_CACHE_SIZE=5");
  CHECK(v == NULL && strstr(SCR_Last_error(), "SCR_Init") != NULL, "%s", SCR_Last_error());
  query("SCR_CACHE_SIZE", "4");
  OK(SCR_Finalize());
  set("SCR_CACHE_SIZE=5"); /* again, for the next start */
  query("SCR_CACHE_SIZE", "5");
}

/* What is copied to a prefix in the cache of its own job would leave with that. */
static void a_prefix_in_its_own_cache_is_refused(void)
{
  static const char* const in[] = {"cache", "cntl"};
  int                      i;

  for (i = 0; i < 2; i++) {
    begin();
    set("SCR_VIRTUAL_NODES=");
    set("SCR_COPY_TYPE=SINGLE");
    set("SCR_USER_NAME=me");
    as_job("one");
    shell("mkdir -m 700 -p %s/me %s/me/scr.one && mkdir %s/me/scr.one/mine", in[i], in[i], in[i]);
    set("SCR_PREFIX=%s/%s/me/scr.one%s", case_dir, in[i], i ? "" : "/mine");
    CODE(SCR_Init(), SCR_ERR_PARAM, "from which this job deletes checkpoints; set SCR_PREFIX");
    set("SCR_PREFIX=%s/prefix", case_dir); /* as the message says */
    run_puts("ck", 1, 100);
  }
}

/* A transfer type that only a vendor has is replaced, and rank 0 says so. */
static void a_transfer_type_of_a_vendor_is_replaced_and_rank_0_says_so(void)
{
  static const char* const settings[] = {"TYPE=dw", "SCR_FLUSH_TYPE=BBAPI", "SCR_FLUSH_TYPE=DataWarp"};
  char                     said[256];
  int                      i;

  for (i = 0; i < 3; i++) {
    begin();
    set("SCR_FLUSH_ASYNC=1");
    if (i == 0) set("STORE=%s/cache %s", case_dir, settings[i]);
    else set("%s", settings[i]);
    OK(init_says(said, sizeof said));
    CHECK(times(said, settings[i]) == (rank == 0) && (*said == '\0') == (rank > 0), "%s", said);
    OK(put("ck1", 1, 1000));
    OK(SCR_Finalize());
    run_fetches("ck1", 1, 1000);
  }
}

/* What an application sets for commands, which do not see it, would be thought to work. */
static void a_parameter_that_only_commands_read_is_told_of_once(void)
{
  char said[1000];

  begin();
  set("SCR_RUNS=3");
  set("scr_min_nodes=2");
  set("SCR_FLUSH=0");
  OK(init_says(said, sizeof said));
  CHECK(times(said, "SCR_RUNS in SCR_Config has no effect") == (rank == 0), "%s", said);
  CHECK(times(said,
              "min_nodes in SCR_Config has no effect: only commands read it; set it in the environment or the user") ==
            (rank == 0),
        "%s", said);
  CHECK(times(said, "SCR_FLUSH") == 0, "%s", said);
  OK(SCR_Finalize());
  set("SCR_RUNS=");
  set("scr_min_nodes=");
  shell("printf 'SCR_RUNS=3\\nSCR_MIN_NODES=2\\n' > prefix/.scrconf"); /* as the message says */
  OK(init_says(said, sizeof said));
  CHECK(times(said, "only commands") == 0 && times(said, "SCR_RUNS") == 0, "%s", said);
  OK(SCR_Finalize());
}

/* Bad values, and settings that do not fit together. */
static void bad_values_and_settings_that_do_not_fit_are_named(void)
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
    begin();
    if (SCR_Config(bad[i][0]) == NULL && *SCR_Last_error() == '\0') rc = SCR_Init();
    else rc = SCR_ERR_PARAM; /* refused at once */
    CHECK(rc == SCR_ERR_PARAM, "%s is %d: %s", bad[i][0], rc, rc ? SCR_Last_error() : "");
    CHECK(strstr(SCR_Last_error(), bad[i][2]) != NULL, "%s: %s", bad[i][0], SCR_Last_error());
    if (rc == SCR_SUCCESS) OK(SCR_Finalize());
    set("%s", bad[i][1]);
  }
  begin();
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
  set("STORE=%s/cache GROUP=RACK", case_dir);
  CODE(SCR_Init(), SCR_ERR_PARAM, "RACK");
  set("STORE=");
  run_puts("ck", 1, 100);
}

/* The user file wins over SCR_Config, and the environment over both. */
static void the_user_file_wins_over_calls_and_the_environment_over_both(void)
{
  begin();
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

/* What the line LINE of the user file makes of the cache: the list of its files becomes the file NAME. */
static void list_cache(const char* line, const char* name)
{
  shell("rm -rf cntl/* cache/* prefix/.scr prefix/ck1; echo 'STORE=%s/cache %s' > prefix/.scrconf", case_dir, line);
  run_puts("ck1", 1, 1000);
  shell("find cache -type f | sort > %s", name);
  run_gets("ck1", 1, 1000);
}

/* All ranks share the space of such a store, so that each node needs a directory of its own there. */
static void a_store_of_the_group_world_is_seen_by_all_nodes(void)
{
  begin();
  set("SCR_VIRTUAL_NODES="); /* all of them need directories of their own */
  list_cache("", "private");
  list_cache("VIEW=GLOBAL", "global");
  list_cache("GROUP=WORLD", "world");
  shell("cmp global world && grep -q /node. world && ! grep -q /node. private");
  list_cache("GROUP=WORLD VIEW=PRIVATE", "told"); /* what the line says counts */
  shell("cmp private told");
}

static void scr_debug_prints_the_directories_of_the_run(void)
{
  char text[8192], cntl[700], cache[700];

  begin();
  snprintf(cntl, sizeof cntl, "control directory %s/cntl/", case_dir);
  snprintf(cache, sizeof cache, "cache %s/cache", case_dir);
  OK(init_says(text, sizeof text));
  CHECK(times(text, case_dir) == 0, "%s", text);
  OK(SCR_Finalize());
  set("SCR_DEBUG=1");
  OK(init_says(text, sizeof text));
  CHECK(times(text, cntl) == (rank == 0) && times(text, cache) == (rank == 0), "%s", text);
  CHECK(rank > 0 || strstr(text, case_prefix) != NULL, "%s", text);
  OK(SCR_Finalize());
}

#define ANY "2 | 1 4 5", "9"

const test_case settings_cases[] = {CASE(parameters_are_set_unset_and_asked_for_until_init, ANY),
                                    CASE(a_prefix_in_its_own_cache_is_refused, "4 | 1"),
                                    CASE(a_transfer_type_of_a_vendor_is_replaced_and_rank_0_says_so, ANY),
                                    CASE(a_parameter_that_only_commands_read_is_told_of_once, "4 | 1", ""),
                                    CASE(bad_values_and_settings_that_do_not_fit_are_named, ANY),
                                    CASE(the_user_file_wins_over_calls_and_the_environment_over_both, ANY),
                                    CASE(a_store_of_the_group_world_is_seen_by_all_nodes, ANY),
                                    CASE(scr_debug_prints_the_directories_of_the_run, ANY),
                                    CASES_END};
