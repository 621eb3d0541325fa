/* Parameters: grammar of files and of SCR_Config, order of the sources, types, hostile files. */

/* Parse TEXT and give the code. */
static int params_parse(scr_hash* h, const char* text)
{
  scr_hash_unset_all(h);
  return scr_params_parse(text, strlen(text), "t.conf", h);
}

/* The one value of KEY in H, or "-". */
static const char* params_value(const scr_hash* h, const char* key)
{
  const char* v = scr_hash_elem_get_first_val(h, key);
  return scr_hash_size(scr_hash_get(h, key)) == 1 && v != NULL ? v : "-";
}

static const char* params_child(const scr_hash* h, const char* key, const char* value, const char* ckey)
{
  return params_value(scr_hash_get_kv(h, key, value), ckey);
}

/* 1 when TEXT is refused with SCR_ERR_PARAM and a message that has both WHERE and WHAT. */
static int params_refused(const char* text, size_t n, const char* where, const char* what)
{
  scr_hash* h = scr_hash_new();
  int       ok = scr_params_parse(text, n, "t.conf", h) == SCR_ERR_PARAM && strstr(scr_err_text, where) != NULL &&
           strstr(scr_err_text, what) != NULL;

  if (!ok) fprintf(stderr, "message: %s\n", scr_err_text);
  scr_hash_delete(&h);
  return ok;
}

#define REFUSED(text, where, what) CHECK(params_refused(text, strlen(text), where, what))

static void test_params_grammar(void)
{
  scr_hash* h = scr_hash_new();

  CHECK_INT(params_parse(h, ""), SCR_SUCCESS);
  CHECK_INT(params_parse(h, "\n\n  \t\n# only a comment"), SCR_SUCCESS);
  CHECK_INT(scr_hash_size(h), 0);

  CHECK_INT(params_parse(h, "SCR_FLUSH=5\n  scr_debug \t=\t 2 # why\r\nSCR_GROUP=a#b\nSCR_JOB_NAME=last"), SCR_SUCCESS);
  CHECK_STR(params_value(h, "SCR_FLUSH"), "5");
  CHECK_STR(params_value(h, "SCR_DEBUG"), "2");
  CHECK_STR(params_value(h, "SCR_GROUP"), "a#b");
  CHECK_STR(params_value(h, "SCR_JOB_NAME"), "last");

  /* the last one of a parameter counts, and an empty one unsets */
  CHECK_INT(params_parse(h, "SCR_FLUSH=1\nSCR_FLUSH=2\nSCR_FLUSH=1\nSCR_DEBUG=1\nSCR_DEBUG=\nSCR_GROUP= # none\n"),
            SCR_SUCCESS);
  CHECK_STR(params_value(h, "SCR_FLUSH"), "1");
  CHECK(scr_hash_get(h, "SCR_DEBUG") == NULL);
  CHECK(scr_hash_get(h, "SCR_GROUP") == NULL);

  /* lines */
  CHECK_INT(params_parse(h, "CKPT=0 INTERVAL=1 type=XOR\nCKPT=1 interval = 4 STORE=/ssd TYPE=SINGLE\n"
                            "CKPT=0 SET_SIZE=16 TYPE=SINGLE\nGROUPS=zin1 POWER=psu1 switch=0\n"),
            SCR_SUCCESS);
  CHECK_INT(scr_hash_size(scr_hash_get(h, "CKPT")), 2);
  CHECK_STR(params_child(h, "CKPT", "0", "INTERVAL"), "1");
  CHECK_STR(params_child(h, "CKPT", "0", "TYPE"), "SINGLE");
  CHECK_STR(params_child(h, "CKPT", "0", "SET_SIZE"), "16");
  CHECK_STR(params_child(h, "CKPT", "1", "STORE"), "/ssd");
  CHECK_STR(params_child(h, "GROUPS", "zin1", "SWITCH"), "0");
  CHECK_STR(scr_hash_elem_key(scr_hash_elem_first(scr_hash_get(h, "CKPT"))), "0");

  /* escapes and the environment */
  setenv("SCR_TEST_DIR", "/d e", 1);
  setenv("SCR_TEST_X", "x1", 1);
  CHECK_INT(params_parse(h, "A=a\\ b\\=c\\#\\\\\\$d\\t\\n\nB=$SCR_TEST_DIR/${SCR_TEST_X}y$SCR_TEST_X/2\nC=\\x\nD=\\q"),
            SCR_SUCCESS);
  CHECK_STR(params_value(h, "A"), "a b=c#\\$d\t\n");
  CHECK_STR(params_value(h, "B"), "/d e/x1yx1/2");
  CHECK_STR(params_value(h, "C"), "x");
  CHECK_STR(params_value(h, "D"), "q");
  CHECK_INT(params_parse(h, "\xef\xbb\xbfSCR_FLUSH=3\nSCR_JOB_NAME=caf\xc3\xa9\n"), SCR_SUCCESS);
  CHECK_STR(params_value(h, "SCR_FLUSH"), "3");
  CHECK_STR(params_value(h, "SCR_JOB_NAME"), "caf\xc3\xa9");
  scr_hash_delete(&h);
}

static void test_params_bad_text(void)
{
  char* big;
  int   i;

  REFUSED("SCR_FLUSH=1\nSCR_DEBUG\n", "t.conf, line 2", "'=' is missing after SCR_DEBUG");
  REFUSED("SCR_FLUSH 1\n", "line 1", "'=' is missing after SCR_FLUSH");
  REFUSED("SCR_FLUSH=1 2\n", "line 1", "'=' is missing after 2");
  REFUSED("\n\n=1\n", "line 3", "no name before");
  REFUSED("A=1=2", "line 1", "two '='");
  REFUSED("A== 2", "line 1", "two '='");
  REFUSED("A= B=2", "line 1", "two '='");
  REFUSED("CKPT=\n", "line 1", "CKPT= needs a value");
  REFUSED("# x\nA=$SCR_TEST_NO_SUCH_VARIABLE\n", "line 2", "SCR_TEST_NO_SUCH_VARIABLE is not set");
  REFUSED("A=$\n", "line 1", "$ must be followed");
  REFUSED("A=${SCR_TEST_X\nB=1", "line 1", "$ must be followed");
  REFUSED("A=${}\n", "line 1", "$ must be followed");
  REFUSED("A=b\\\nB=1\n", "line 1", "backslash ends the line");
  REFUSED("A=b\\\r\n", "line 1", "backslash ends the line");
  REFUSED("A=b\\", "line 1", "backslash ends the line");
  CHECK(params_refused("A=1\nB=\0", 7, "line 2", "byte 0x00"));
  CHECK(params_refused("\177ELF\2\1\1", 7, "line 1", "byte 0x7f"));

  big = (char*)malloc(1 << 20);
  memset(big, 'A', 1 << 20);
  CHECK(params_refused(big, 1 << 20, "line 1", "longer than 4095 bytes"));
  memcpy(big, "A=", 2);
  CHECK(params_refused(big, 1 << 20, "line 1", "longer than 4095 bytes"));
  for (i = 0; i < (1 << 20); i++) big[i] = "GROUPS=h A=1 "[i % 13]; /* one line of a mebibyte, with 80,000 pairs */
  {
    scr_hash* h = scr_hash_new();
    CHECK_INT(scr_params_parse(big, (size_t)(1 << 20) / 13 * 13, "t.conf", h), SCR_SUCCESS);
    CHECK_STR(params_child(h, "GROUPS", "h", "A"), "1");
    scr_hash_delete(&h);
  }
  free(big);
}

/* No input of random characters of the grammar makes the parser read out of bounds or go on for ever. */
static void test_params_random_text(void)
{
  static const char set[] = "AB=# \t\n\\$${}_1x\r=\n";
  uint32_t          seed = 1;
  int               i, k;

  for (i = 0; i < 3000; i++) {
    size_t    n;
    char*     text;
    scr_hash* h = scr_hash_new();
    seed = seed * 1664525u + 1013904223u;
    n = (seed >> 16) % 40;
    text = (char*)malloc(n ? n : 1); /* of the exact size, for the address sanitizer */
    for (k = 0; k < (int)n; k++) {
      seed = seed * 1664525u + 1013904223u;
      text[k] = set[(seed >> 16) % (sizeof set - 1)];
    }
    k = scr_params_parse(text, n, "t.conf", h);
    if (k != SCR_SUCCESS && k != SCR_ERR_PARAM) CHECK_INT(k, SCR_ERR_PARAM);
    free(text);
    scr_hash_delete(&h);
  }
}

static int params_config(scr_hash* params, const char* config)
{
  char* value = NULL;
  int   rc = scr_params_config(params, config, &value);

  if (value != NULL) rc = -1; /* a set gives no value */
  free(value);
  return rc;
}

/* 1 when the query CONFIG gives WANT, which may be NULL. */
static int params_query(const scr_hash* params, const char* config, const char* want)
{
  char* value = NULL;
  int   ok = scr_params_config((scr_hash*)params, config, &value) == SCR_SUCCESS;

  ok = ok && (want == NULL ? value == NULL : value != NULL && strcmp(value, want) == 0);
  free(value);
  return ok;
}

static void test_params_config(void)
{
  scr_hash* p = scr_hash_new();
  scr_hash* app;

  CHECK(params_query(p, "SCR_FLUSH", NULL));
  CHECK_INT(params_config(p, "SCR_FLUSH=7"), SCR_SUCCESS);
  CHECK(params_query(p, "SCR_FLUSH", "7"));
  CHECK(params_query(p, "  SCR_FLUSH ", "7"));
  CHECK_INT(params_config(p, "SCR_FLUSH=8"), SCR_SUCCESS);
  CHECK(params_query(p, "SCR_FLUSH", "8"));
  CHECK_INT(params_config(p, "SCR_JOB_NAME=a=b"), SCR_SUCCESS);
  CHECK(params_query(p, "SCR_JOB_NAME", "a=b"));
  CHECK_INT(params_config(p, "SCR_FLUSH="), SCR_SUCCESS);
  CHECK(params_query(p, "SCR_FLUSH", NULL));

  CHECK_INT(params_config(p, "CKPT=0 INTERVAL=1 TYPE=XOR"), SCR_SUCCESS);
  CHECK_INT(params_config(p, "CKPT=0 TYPE=SINGLE  SET_SIZE=4"), SCR_SUCCESS);
  CHECK(params_query(p, "CKPT=0 TYPE", "SINGLE"));
  CHECK(params_query(p, "CKPT=0 INTERVAL", "1"));
  CHECK(params_query(p, "CKPT=0 GROUP", NULL));
  CHECK(params_query(p, "CKPT=9 GROUP", NULL));
  CHECK(params_query(p, "CKPT", "0"));
  CHECK_INT(params_config(p, "CKPT=0 SET_SIZE="), SCR_SUCCESS);
  CHECK(params_query(p, "CKPT=0 SET_SIZE", NULL));
  CHECK_INT(params_config(p, "CKPT=1 INTERVAL=4"), SCR_SUCCESS);
  CHECK(!params_query(p, "CKPT", "0")); /* two values */
  CHECK(strstr(scr_err_text, "several values") != NULL);
  app = scr_hash_get(p, "APP");
  CHECK_INT(scr_hash_size(scr_hash_get(app, "CKPT")), 2);

  /* malformed: an error, and nothing changes */
  CHECK_INT(params_config(p, NULL), SCR_ERR_ARG);
  CHECK_INT(params_config(p, ""), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "   "), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "=1"), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "A B"), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "A B=1"), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "A=1 =2"), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "A= B=2"), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "A=1 B=2 C"), SCR_ERR_ARG);
  CHECK_INT(params_config(p, "A=1 B C=2"), SCR_ERR_ARG);
  CHECK(scr_hash_get(app, "A") == NULL);
  CHECK_INT(params_config(p, "A = B"), SCR_SUCCESS); /* blanks around '=' */
  CHECK(params_query(p, "A", "B"));
  CHECK_INT(params_config(p, "CKPT= 1  GROUP =X TYPE= XOR"), SCR_SUCCESS);
  CHECK(params_query(p, "CKPT=1 GROUP", "X") && params_query(p, "CKPT =1 TYPE", "XOR"));
  CHECK_INT(params_config(p, "CKPT ="), SCR_SUCCESS); /* the lines go with their children */
  CHECK(params_query(p, "CKPT=1 GROUP", NULL) && params_query(p, "CKPT=0 TYPE", NULL));
  CHECK_INT(scr_params_config_is_query("A"), 1);
  CHECK_INT(scr_params_config_is_query("A=1 B"), 1);
  CHECK_INT(scr_params_config_is_query("A=1 B=2"), 0);
  CHECK_INT(scr_params_config_is_query("A="), 0);

  /* a bad value is reported at once, and by the check before the run */
  CHECK_INT(scr_params_check(p), SCR_SUCCESS);
  CHECK_INT(params_config(p, "SCR_FLUSH=often"), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "SCR_FLUSH=often, set in SCR_Config: it must be an integer, 0 or more") != NULL);
  CHECK_INT(scr_params_check(p), SCR_ERR_PARAM);
  CHECK_INT(params_config(p, "SCR_FLUSH="), SCR_SUCCESS);
  CHECK_INT(params_config(p, "CKPT=1 TYPE=RAID"), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text,
               "TYPE=RAID on the line CKPT=1, set in SCR_Config: it must be one of SINGLE, PARTNER, XOR, RS") != NULL);
  scr_hash_delete(&p);
}

/* 1 when NAME=VALUE is taken. */
static int params_takes(const char* name, const char* value)
{
  scr_hash* p = scr_hash_new();
  int       rc;

  scr_hash_set(scr_hash_set_kv(p, "APP", name), value, scr_hash_new());
  rc = scr_params_check(p);
  if (rc == SCR_ERR_PARAM && (strstr(scr_err_text, name) == NULL || strstr(scr_err_text, "SCR_Config") == NULL))
    rc = -1;
  scr_hash_delete(&p);
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_PARAM);
  return rc == SCR_SUCCESS;
}

static void test_params_types(void)
{
  char long_text[SCR_MAX_FILENAME + 2];
  int  i;

  for (i = 0; i < SCR_PARAM_NSPECS; i++) /* the defaults are allowed values */
    CHECK(scr_param_specs[i].fallback == NULL || scr_param_value_ok(&scr_param_specs[i], scr_param_specs[i].fallback));

  CHECK(params_takes("SCR_ENABLE", "0") && params_takes("SCR_ENABLE", "1"));
  CHECK(!params_takes("SCR_ENABLE", "yes") && !params_takes("SCR_ENABLE", "2") && !params_takes("SCR_ENABLE", "01"));
  CHECK(params_takes("SCR_FLUSH", "0") && params_takes("SCR_FLUSH", "2147483647"));
  CHECK(!params_takes("SCR_FLUSH", "-1") && !params_takes("SCR_FLUSH", "2147483648"));
  CHECK(!params_takes("SCR_FLUSH", " 1"));
  CHECK(!params_takes("SCR_FLUSH", "1x") && !params_takes("SCR_FLUSH", "99999999999999999999"));
  CHECK(!params_takes("SCR_CACHE_SIZE", "0") && params_takes("SCR_CACHE_SIZE", "1"));
  CHECK(params_takes("SCR_MPI_BUF_SIZE", "1.5mb") && params_takes("SCR_MPI_BUF_SIZE", "1G"));
  CHECK(!params_takes("SCR_MPI_BUF_SIZE", "0") && !params_takes("SCR_MPI_BUF_SIZE", "2G"));
  CHECK(!params_takes("SCR_MPI_BUF_SIZE", "-5") && !params_takes("SCR_MPI_BUF_SIZE", "lots"));
  CHECK(params_takes("SCR_CHECKPOINT_OVERHEAD", "2.5") && !params_takes("SCR_CHECKPOINT_OVERHEAD", "101"));
  CHECK(!params_takes("SCR_CHECKPOINT_OVERHEAD", "nan") && !params_takes("SCR_CHECKPOINT_OVERHEAD", "-1"));
  CHECK(!params_takes("SCR_CHECKPOINT_OVERHEAD", "0x10") && !params_takes("SCR_CHECKPOINT_OVERHEAD", "5%"));
  CHECK(params_takes("SCR_COPY_TYPE", "xor") && params_takes("SCR_COPY_TYPE", "FILE"));
  CHECK(!params_takes("SCR_COPY_TYPE", "XO") && !params_takes("SCR_COPY_TYPE", "SINGLE|XOR"));
  CHECK(params_takes("SCR_HALT_EXIT", "auto") && params_takes("SCR_HALT_EXIT", "0"));
  CHECK(!params_takes("SCR_HALT_EXIT", "2"));
  CHECK(params_takes("SCR_CACHE_BASE", "/dev/shm") && !params_takes("SCR_CACHE_BASE", "tmp"));
  CHECK(params_takes("SCR_JOB_ID", "12_3.batch") && !params_takes("SCR_JOB_ID", "../x"));
  CHECK(!params_takes("SCR_JOB_ID", ".."));
  CHECK(params_takes("CKPT", "3") && !params_takes("CKPT", "first") && !params_takes("STORE", "ssd"));
  memset(long_text, '/', sizeof long_text);
  long_text[SCR_MAX_FILENAME] = '\0';
  CHECK(!params_takes("SCR_PREFIX", long_text) && !params_takes("STORE", long_text));
  long_text[SCR_MAX_FILENAME - 1] = '\0';
  CHECK(params_takes("SCR_PREFIX", long_text) && params_takes("STORE", long_text));
}

/* The check of the file text TEXT as the user file. */
static int params_check_text(const char* text)
{
  scr_hash* p = scr_hash_new();
  scr_hash* user = scr_hash_new();
  int       rc = scr_params_parse(text, strlen(text), "t.conf", user);

  scr_hash_set(p, "USER", user);
  if (rc == SCR_SUCCESS) rc = scr_params_check(p);
  scr_hash_delete(&p);
  return rc;
}

static void test_params_lines(void)
{
  CHECK_INT(params_check_text("STORE=/ssd COUNT=0 GROUP=NODE ENABLED=1 MKDIR=0 VIEW=global TYPE=pthread\n"
                              "CKPT=0 ENABLED=1 INTERVAL=1 OUTPUT=0 STORE=/ssd TYPE=xor GROUP=POWER SET_SIZE=8\n"
                              "GROUPS=n1 POWER=a\nGROUPS=n2 POWER=b ANYTHING=c\nCACHEDIR=/ssd BYTES=1G\n"),
            SCR_SUCCESS);
  CHECK_INT(params_check_text("STORE=/ssd VIEW=LOCAL"), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "VIEW=LOCAL on the line STORE=/ssd, set in the user file") != NULL);
  CHECK(strstr(scr_err_text, "PRIVATE, GLOBAL") != NULL);
  CHECK_INT(params_check_text("STORE=/ssd COUNT=-1"), SCR_ERR_PARAM);
  CHECK_INT(params_check_text("STORE=/ssd MKDIR=no"), SCR_ERR_PARAM);
  CHECK_INT(params_check_text("STORE=ssd"), SCR_ERR_PARAM);
  CHECK_INT(params_check_text("CKPT=0 INTERVAL=0"), SCR_ERR_PARAM);
  CHECK_INT(params_check_text("CKPT=0 SET_SIZE=0"), SCR_ERR_PARAM);
  CHECK_INT(params_check_text("CKPT=0 STORE=here"), SCR_ERR_PARAM);
  CHECK_INT(params_check_text("CKPT=a"), SCR_ERR_PARAM);
}

static void params_write_file(const char* path, const char* text)
{
  int fd = scr_os.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

  CHECK(fd >= 0 && scr_write_all(fd, text, strlen(text)) == 0);
  scr_os.close(fd);
}

/* Takes every parameter out of the environment. */
static void params_clean_environment(void)
{
  int i;
  for (i = 0; i < SCR_PARAM_NSPECS; i++)
    if (scr_param_specs[i].line == NULL) unsetenv(scr_param_specs[i].name);
}

static void test_params_sources(void)
{
  const char* system_file = scr_params_system_file;
  scr_hash*   p = scr_hash_new();
  char        user[1100], sys[1100], other[1100], text[1200];
  uint64_t    bytes = 0;
  double      real = -1.0;
  int         v = -1;

  params_clean_environment();
  snprintf(user, sizeof user, "%s/.scrconf", check_dir);
  snprintf(sys, sizeof sys, "%s/system.conf", check_dir);
  snprintf(other, sizeof other, "%s/other.conf", check_dir);
  scr_params_system_file = sys;
  setenv("SCR_PREFIX", check_dir, 1);

  /* no file at all: the defaults */
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  CHECK_INT(scr_params_check(p), SCR_SUCCESS);
  CHECK_INT(scr_param_int(p, "SCR_FLUSH", &v), SCR_SUCCESS);
  CHECK_INT(v, 10);
  CHECK_STR(scr_param_origin(p, "SCR_FLUSH"), "the default");
  CHECK_INT(scr_param_bytes(p, "SCR_MPI_BUF_SIZE", &bytes), SCR_SUCCESS);
  CHECK(bytes == 256 * 1024);
  CHECK_INT(scr_param_real(p, "SCR_CHECKPOINT_OVERHEAD", &real), SCR_SUCCESS);
  CHECK(real == 0.0);
  CHECK(scr_param_get(p, "SCR_CURRENT") == NULL);
  CHECK_INT(scr_param_int(p, "SCR_CURRENT", &v), SCR_ERR_NOT_FOUND);
  CHECK(scr_param_get_hash(p, "CKPT") == NULL);
  CHECK_STR(scr_param_get(p, "SCR_PREFIX"), check_dir);

  /* each source hides those after it */
  params_write_file(sys, "SCR_FLUSH=1\nSCR_DEBUG=1\nSCR_GROUP=SYS\nSCR_SET_SIZE=2\nCKPT=0\nCKPT=1\n");
  CHECK_INT(params_config(p, "SCR_FLUSH=2"), SCR_SUCCESS);
  CHECK_INT(params_config(p, "SCR_DEBUG=2"), SCR_SUCCESS);
  CHECK_INT(params_config(p, "SCR_GROUP=APP"), SCR_SUCCESS);
  params_write_file(user, "SCR_FLUSH=3\nSCR_DEBUG=3\nSCR_ENABLE=\nCKPT=7 TYPE=XOR\n");
  setenv("SCR_FLUSH", "4", 1);
  setenv("SCR_SET_SIZE", "", 1); /* counts as not set */
  setenv("CKPT", "99", 1);       /* lines do not come from the environment */
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  CHECK_INT(scr_params_check(p), SCR_SUCCESS);
  CHECK_STR(scr_param_get(p, "SCR_FLUSH"), "4");
  CHECK_STR(scr_param_get(p, "SCR_DEBUG"), "3");
  CHECK_STR(scr_param_get(p, "SCR_GROUP"), "APP");
  CHECK_STR(scr_param_get(p, "SCR_SET_SIZE"), "2");
  CHECK_STR(scr_param_get(p, "SCR_ENABLE"), "1");
  CHECK_STR(scr_param_origin(p, "SCR_FLUSH"), "the environment");
  snprintf(text, sizeof text, "the user file %s", user);
  CHECK_STR(scr_param_origin(p, "SCR_DEBUG"), text);
  CHECK_STR(scr_param_origin(p, "SCR_GROUP"), "SCR_Config");
  snprintf(text, sizeof text, "the system file %s", sys);
  CHECK_STR(scr_param_origin(p, "SCR_SET_SIZE"), text);
  CHECK_INT(scr_hash_size(scr_param_get_hash(p, "CKPT")), 1);
  CHECK_STR(params_value(scr_hash_get(scr_param_get_hash(p, "CKPT"), "7"), "TYPE"), "XOR");

  /* bad values name their source; the output is as it was */
  params_write_file(user, "SCR_FSYNC=maybe\n");
  setenv("SCR_FLUSH", "4 ", 1);
  v = 5;
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  CHECK_INT(scr_params_check(p), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "SCR_FLUSH=4 , set in the environment") != NULL);
  CHECK_INT(scr_param_int(p, "SCR_FLUSH", &v), SCR_ERR_PARAM);
  CHECK_INT(v, 5);
  unsetenv("SCR_FLUSH");
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  CHECK_INT(scr_params_check(p), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "SCR_FSYNC=maybe") != NULL && strstr(scr_err_text, user) != NULL);

  /* SCR_CONF_FILE, which must exist */
  params_write_file(other, "SCR_FLUSH=77");
  setenv("SCR_CONF_FILE", other, 1);
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  CHECK_STR(scr_param_get(p, "SCR_FLUSH"), "77");
  CHECK_STR(scr_param_get(p, "SCR_FSYNC"), "1");
  unlink(other);
  CHECK_INT(scr_params_read(p), SCR_ERR_IO);
  CHECK(strstr(scr_err_text, other) != NULL && strstr(scr_err_text, "SCR_CONF_FILE") != NULL);
  setenv("SCR_CONF_FILE", check_dir, 1); /* a directory */
  CHECK_INT(scr_params_read(p), SCR_ERR_IO);
  unsetenv("SCR_CONF_FILE");
  params_write_file(user, "SCR_FLUSH=1\nSCR_FLUSH\n");
  CHECK_INT(scr_params_read(p), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, user) != NULL && strstr(scr_err_text, "line 2") != NULL);

  /* a system that keeps the control directory for itself */
  params_write_file(user, "SCR_CNTL_BASE=/user\n");
  params_write_file(sys, "SCR_CNTL_BASE=/system\n");
  setenv("SCR_CNTL_BASE", "not even a path", 1);
  scr_params_lock_bases = 1;
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  scr_msg_rank = 1; /* no warnings in the output of the tests */
  CHECK_INT(scr_params_check(p), SCR_SUCCESS);
  scr_msg_rank = -1;
  CHECK_STR(scr_param_get(p, "SCR_CNTL_BASE"), "/system");
  scr_params_lock_bases = 0;
  setenv("SCR_CNTL_BASE", "/env", 1);
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  CHECK_STR(scr_param_get(p, "SCR_CNTL_BASE"), "/env");

  params_clean_environment();
  scr_params_system_file = system_file;
  unlink(user);
  unlink(sys);
  scr_hash_delete(&p);
}

/* Every call of the operating system fails once: an error or, when it does not matter, the right settings. */
static void test_params_faults(void)
{
  const char* system_file = scr_params_system_file;
  const char* user = check_path(".scrconf");
  scr_hash*   p = scr_hash_new();
  int         n, rc, struck = 1;

  params_clean_environment();
  setenv("SCR_PREFIX", check_dir, 1);
  scr_params_system_file = check_path("none.conf");
  params_write_file(user, "SCR_FLUSH=3\n");
  for (n = 1; struck && n < 50; n++) {
    check_fault(FAULT_FAIL, EIO, n);
    rc = scr_params_read(p);
    struck = check_fault_end();
    CHECK(rc == SCR_ERR_IO || rc == SCR_SUCCESS);
    if (rc == SCR_SUCCESS) CHECK_STR(scr_param_get(p, "SCR_FLUSH"), "3");
    else CHECK(strstr(scr_err_text, "parameter file") != NULL);
  }
  CHECK(n > 3 && n < 50);
  params_clean_environment();
  scr_params_system_file = system_file;
  unlink(user);
  scr_hash_delete(&p);
}

#ifdef CHECK_ALLOC_H
/* Each allocation fails once: an error, no crash, no leak. */
static void test_params_memory(void)
{
  static const char text[] = "SCR_FLUSH=3\nCKPT=0 INTERVAL=1 TYPE=XOR\n";
  const char*       system_file = scr_params_system_file;
  int               n, rc, struck = 1;

  params_clean_environment();
  setenv("SCR_PREFIX", check_dir, 1);
  setenv("SCR_DEBUG", "0", 1);
  scr_params_system_file = check_path("none.conf");
  params_write_file(check_path(".scrconf"), text);
  for (n = 0; struck && n < 500; n++) {
    scr_hash* p = scr_hash_new();
    char*     value = NULL;
    check_alloc_hit = 0;
    check_alloc_left = n;
    rc = scr_params_read(p);
    if (rc == SCR_SUCCESS) rc = scr_params_config(p, "CKPT=1 INTERVAL=2", &value);
    if (rc == SCR_SUCCESS) rc = scr_params_config(p, "SCR_FLUSH", &value);
    check_alloc_left = -1;
    struck = check_alloc_hit;
    CHECK_INT(rc, struck ? SCR_ERR_MEM : SCR_SUCCESS);
    if (!struck) CHECK_STR(value, "3");
    free(value);
    scr_hash_delete(&p);
    scr_oom = 0;
  }
  CHECK(n > 10 && n < 500);
  unlink(check_path(".scrconf"));
  params_clean_environment();
  scr_params_system_file = system_file;
}
#endif

/* Lookups and checks in hashes that are no parameters. */
static void test_params_shapes(void)
{
  scr_hash* p = scr_hash_new();
  int       v = 3;

  CHECK_STR(scr_param_get(NULL, "SCR_FLUSH"), "10");
  CHECK_INT(scr_params_check(NULL), SCR_SUCCESS);
  CHECK_STR(scr_param_origin(NULL, "SCR_FLUSH"), "the default");
  CHECK(scr_param_get(NULL, "NO_SUCH") == NULL && scr_param_get_hash(NULL, "CKPT") == NULL);
  scr_hash_set_kv(p, "USER", "SCR_FLUSH");
  scr_hash_set_kv(p, "ENV", "");
  scr_hash_set_kv(p, "FROM", "USER");
  scr_hash_set_kv(scr_hash_set_kv(p, "USER", "CKPT"), "0", "INTERVAL"); /* a child without a value */
  CHECK_INT(scr_params_check(p), SCR_SUCCESS);
  CHECK_INT(scr_param_int(p, "SCR_FLUSH", &v), SCR_SUCCESS);
  CHECK_INT(v, 10);
  CHECK_STR(scr_param_origin(p, "CKPT"), "the user file");
  scr_hash_delete(&p);
}

/* Each parameter has a sentence, and neither it nor the default breaks the table of three columns in README.md. */
static void test_params_table(void)
{
  int i;

  for (i = 0; i < SCR_PARAM_NSPECS; i++) {
    const scr_param_spec* spec = &scr_param_specs[i];
    CHECK(scr_param_spec_of(spec->line, spec->name) == spec);
    if (spec->line != NULL) continue;
    CHECK(spec->sentence != NULL && strpbrk(spec->sentence, "|\n") == NULL);
    CHECK(spec->fallback == NULL || strpbrk(spec->fallback, "|\n") == NULL);
  }
}

/* Rank 0 tells of names in the environment that look as if they were meant for the library, and of no others. */
static void names_that_look_like_parameters_are_told(void)
{
  char hint[256];

  CHECK_INT(scr_params_distance("SCR_FLUSH", "SCR_FLUSH"), 0);
  CHECK_INT(scr_params_distance("SCR_FLSH", "SCR_FLUSH"), 1);
  CHECK_INT(scr_params_distance("SCR_FULSH", "SCR_FLUSH"), 2);
  CHECK_INT(scr_params_distance("SCR_FLUSHES", "SCR_FLUSH"), 2);
  CHECK_INT(scr_params_distance("SCR_FLUSHING", "SCR_FLUSH"), 3);
  CHECK_INT(scr_params_distance("", "SCR_FLUSH"), 3);
  CHECK(scr_params_hint("SCR_CASHE_SIZE", "1", hint, sizeof hint) && strstr(hint, "SCR_CACHE_SIZE") != NULL);
  CHECK(scr_params_hint("SCR_FLUSH_POSTSTAGE", "1", hint, sizeof hint) && strstr(hint, "SCR_Finalize") != NULL);
  CHECK(!scr_params_hint("SCR_FLUSH_POSTSTAGE", "0", hint, sizeof hint));
  CHECK(!scr_params_hint("SCR_MIN_NODES", "4", hint, sizeof hint) && *hint == '\0'); /* commands read it */
  CHECK(scr_params_is_of_commands("scr_min_nodes") && !scr_params_is_of_commands("SCR_FLUSH"));
  CHECK(scr_params_hint("SCR_MY_OWN_THING", "0", hint, sizeof hint) && *hint == '\0');
}

/* $NAME in the environment is what it is in a file; a variable that is not set is an error that names it. */
static void variables_are_expanded_in_the_environment_too(void)
{
  scr_hash* p = scr_hash_new();

  setenv("SCR_TEST_X", "deep", 1);
  setenv("SCR_CACHE_BASE", "/ssd/$SCR_TEST_X/${SCR_TEST_X}2", 1);
  CHECK_INT(scr_params_read_env(p), SCR_SUCCESS);
  CHECK_STR(scr_param_get(p, "SCR_CACHE_BASE"), "/ssd/deep/deep2");
  setenv("SCR_CACHE_BASE", "/ssd/a\\$SCR_TEST_X\\b", 1);
  CHECK_INT(scr_params_read_env(p), SCR_SUCCESS);
  CHECK_STR(scr_param_get(p, "SCR_CACHE_BASE"), "/ssd/a$SCR_TEST_X\\b");
  setenv("SCR_CACHE_BASE", "/ssd/$SCR_TEST_NONE", 1);
  CHECK_INT(scr_params_read_env(p), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "SCR_TEST_NONE") != NULL && strstr(scr_err_text, "SCR_CACHE_BASE") != NULL);
  setenv("SCR_CACHE_BASE", "/ssd/${SCR_TEST_X", 1);
  CHECK_INT(scr_params_read_env(p), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "{name}") != NULL && strstr(scr_err_text, "in the environment: ") != NULL);
  unsetenv("SCR_CACHE_BASE");
  scr_hash_delete(&p);
}

/* Who can write to a shared prefix does not decide for others: its .scrconf is that of this user, or of root. */
static void the_file_of_another_user_is_not_obeyed(void)
{
  scr_hash* p = scr_hash_new();
  char      path[SCR_MAX_FILENAME];

  params_clean_environment();
  CHECK_INT(scr_mkdirs(check_path("shared"), 0700), SCR_SUCCESS);
  setenv("SCR_PREFIX", check_path("shared"), 1);
  snprintf(path, sizeof path, "%s", check_path("shared/.scrconf"));
  params_write_file(path, "SCR_FLUSH=7\n");
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  CHECK_STR(scr_param_get(p, "SCR_FLUSH"), "7");
  if (geteuid() == 0) {
    CHECK_INT(chown(path, 4711, 4711), 0);
    CHECK_INT(scr_params_read(p), SCR_SUCCESS);
    CHECK(scr_param_get(p, "SCR_FLUSH") == NULL || strcmp(scr_param_get(p, "SCR_FLUSH"), "7") != 0);
  }
  unlink(path);
  CHECK_INT(mkfifo(path, 0600), 0); /* nobody waits for it */
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  setenv("SCR_CONF_FILE", "/dev/null", 1);
  CHECK_INT(scr_params_read(p), SCR_SUCCESS);
  unsetenv("SCR_CONF_FILE");
  unsetenv("SCR_PREFIX");
  scr_tree_remove(check_path("shared"));
  scr_hash_delete(&p);
}

/* A password is what the user wrote: $ in it is neither expanded nor printed, wherever it comes from. */
static void secrets_are_never_expanded_or_printed(void)
{
  static const char line[] = "SCR_LOG_DB_PASS=a$HOME${b\n";
  scr_hash *        p = scr_hash_new(), *into = scr_hash_new();

  setenv("SCR_LOG_DB_PASS", "pa$HOME$ss${", 1);
  CHECK_INT(scr_params_read_env(p), SCR_SUCCESS);
  CHECK_STR(scr_param_get(p, "SCR_LOG_DB_PASS"), "pa$HOME$ss${");
  unsetenv("SCR_LOG_DB_PASS");
  CHECK_INT(scr_params_parse(line, sizeof line - 1, "f", into), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(into, "SCR_LOG_DB_PASS"), "a$HOME${b");
  CHECK_INT(scr_params_parse("SCR_LOG_DB_PASS=a$b=c", 21, "f", into), SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "a$b") == NULL && strstr(scr_err_text, "not shown") != NULL);
  scr_hash_delete(&into);
  scr_hash_delete(&p);
}

/* The locale that localedef makes of NAME is that of the program. */
static void locale_of(const char* name)
{
  char text[128];

  snprintf(text, sizeof text,
           "mkdir -p /tmp/scr-locale.$PPID && localedef -i %s -f UTF-8 /tmp/scr-locale.$PPID/%s >/dev/null 2>&1", name,
           name);
  if (system(text) == -1) return;
  snprintf(text, sizeof text, "/tmp/scr-locale.%ld", (long)getpid());
  setenv("LOCPATH", text, 1);
  if (setlocale(LC_ALL, name) == NULL) check_skip("there is no such locale: Debian's package locales has them all");
}

static void locale_is_plain_again(void)
{
  setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  CHECK(system("rm -rf /tmp/scr-locale.$PPID") == 0);
}

/* A program that has called setlocale may have a comma for the point. */
static void numbers_are_read_and_written_with_a_point_in_every_locale(void)
{
  char     text[64], *end;
  double   v;
  uint64_t bytes;

  locale_of("de_DE");
  CHECK(scr_param_real_of("2.5", &v) && v == 2.5);
  CHECK(!scr_param_real_of("2,5", &v) && !scr_param_real_of("2.5x", &v) && !scr_param_real_of("0x1", &v));
  CHECK(scr_param_real_of("1e-3", &v) && v == 1e-3 && scr_param_real_of(".5", &v) && v == 0.5);
  CHECK(scr_param_real_of("1e9", &v) && v == 1e9 && !scr_param_real_of("1e", &v) && !scr_param_real_of(".", &v));
  CHECK(scr_str_bytes("1.5MB", &bytes) == SCR_SUCCESS && bytes == 1572864);
  CHECK(scr_str_bytes("1E", &bytes) == SCR_SUCCESS && bytes == (uint64_t)1 << 60);
  CHECK(scr_log_number("secs=0.250000, x=1", "secs") == 0.25);
  CHECK_STR(scr_real_text(1234.5, text, sizeof text), "1234.500000");
  CHECK(scr_str_real("7.25;", &end) == 7.25 && *end == ';');
  locale_is_plain_again();
}

/* In Turkish, the capital of i has a dot, and I is the capital of a letter without one. */
static void letters_are_compared_alike_in_every_locale(void)
{
  static const char line[] = "scr_checkpoint_interval=2";
  scr_hash*         into = scr_hash_new();
  scr_scheme        scheme;

  locale_of("tr_TR");
  CHECK(scr_strcasecmp("single", "SINGLE") == 0 && scr_strcasecmp("single", "SINGLES") < 0);
  CHECK(scr_strncasecmp("scr_init", "SCR_INIT_", 8) == 0 && scr_strncasecmp("b", "A", 1) > 0);
  CHECK_INT(scr_params_parse(line, sizeof line - 1, "f", into), SCR_SUCCESS);
  CHECK_STR(scr_hash_elem_get_first_val(into, "SCR_CHECKPOINT_INTERVAL"), "2");
  CHECK(scr_scheme_from_name("single", &scheme) == SCR_SUCCESS && scr_upper('\344') == '\344' &&
        !scr_is_letter('\344'));
  scr_hash_delete(&into);
  locale_is_plain_again();
}

static void test_params(void)
{
  secrets_are_never_expanded_or_printed();
  numbers_are_read_and_written_with_a_point_in_every_locale();
  letters_are_compared_alike_in_every_locale();
  names_that_look_like_parameters_are_told();
  variables_are_expanded_in_the_environment_too();
  the_file_of_another_user_is_not_obeyed();
  test_params_grammar();
  test_params_bad_text();
  test_params_random_text();
  test_params_config();
  test_params_types();
  test_params_lines();
  test_params_sources();
  test_params_faults();
#ifdef CHECK_ALLOC_H
  test_params_memory();
#endif
  test_params_shapes();
  test_params_table();
}
