/* Paths as components and as strings; directories. */

/* The string of P, which it deletes, in a buffer that the next call uses again. */
static const char* path_string(scr_path* p)
{
  static char buf[SCR_MAX_FILENAME];

  if (p == NULL) return NULL;
  CHECK_INT(scr_path_strcpy(buf, sizeof buf, p), SCR_SUCCESS);
  CHECK_INT(scr_path_strlen(p), strlen(buf));
  scr_path_delete(&p);
  CHECK(p == NULL);
  return buf;
}

static void test_path_create(void)
{
  scr_path* p = scr_path_new();
  char*     s;
  char      buf[8];

  CHECK(scr_path_is_null(p) && scr_path_components(p) == 0 && !scr_path_is_absolute(p) && scr_path_strlen(p) == 0);
  CHECK(scr_path_strdup(p) == NULL && scr_path_reduce(p) == SCR_SUCCESS);
  CHECK(scr_path_strcpy(buf, sizeof buf, p) == SCR_SUCCESS && *buf == '\0');
  CHECK_INT(scr_path_slice(p, 0, 1), SCR_SUCCESS);
  CHECK(scr_path_dirname(p) == SCR_SUCCESS && scr_path_basename(p) == SCR_SUCCESS);
  scr_path_delete(&p);
  scr_path_delete(&p);
  scr_path_delete(NULL);

  p = scr_path_from_str("/hello/world");
  CHECK_INT(scr_path_components(p), 3);
  CHECK(scr_path_is_absolute(p) && !scr_path_is_null(p));
  CHECK_INT(scr_path_strlen(p), 12);
  s = scr_path_strdup(p);
  CHECK_STR(s, "/hello/world");
  free(s);
  memset(buf, 'x', sizeof buf);
  CHECK(scr_path_strcpy(buf, sizeof buf, p) == SCR_ERR_PATH && buf[0] == 'x');
  CHECK_STR(path_string(scr_path_dup(p)), "/hello/world");
  scr_path_delete(&p);

  CHECK_INT(scr_path_components(p = scr_path_from_str("a//b/")), 4);
  CHECK_STR(path_string(p), "a//b/");
  CHECK_INT(scr_path_components(p = scr_path_from_str("")), 1);
  CHECK_STR(path_string(p), "");
  CHECK_INT(scr_path_components(p = scr_path_from_str("/")), 2);
  CHECK_STR(path_string(p), "/");
  CHECK(scr_path_is_null(p = scr_path_from_str(NULL)));
  scr_path_delete(&p);
  CHECK_STR(path_string(scr_path_from_strf("/%s/%s/%d", "dir1", "x/y", 7)), "/dir1/x/y/7");
  CHECK(scr_path_is_null(NULL) && scr_path_components(NULL) == 0 && !scr_path_is_absolute(NULL));
}

static void test_path_combine(void)
{
  scr_path *a = scr_path_from_str("b/c"), *b = scr_path_from_str("x/y");

  CHECK_INT(scr_path_append(a, b), SCR_SUCCESS);
  CHECK_INT(scr_path_prepend_str(a, "/a"), SCR_SUCCESS);
  CHECK_INT(scr_path_insert(a, 2, b), SCR_SUCCESS);
  CHECK_STR(path_string(scr_path_dup(a)), "/a/x/y/b/c/x/y");
  CHECK_STR(path_string(scr_path_dup(b)), "x/y");
  CHECK_INT(scr_path_insert(a, 9, b), SCR_ERR_ARG);
  CHECK_INT(scr_path_insert(a, -1, b), SCR_ERR_ARG);
  CHECK_INT(scr_path_insert(a, 0, NULL), SCR_SUCCESS);
  CHECK_INT(scr_path_append_strf(a, "rank_%d.%s", 3, "ckpt"), SCR_SUCCESS);
  CHECK_INT(scr_path_prepend_strf(b, "%s", "w"), SCR_SUCCESS);
  CHECK_INT(scr_path_prepend(b, b), SCR_SUCCESS); /* itself */
  CHECK_INT(scr_path_insert_str(b, 3, "-"), SCR_SUCCESS);
  CHECK_INT(scr_path_insert_strf(b, 4, "%d/%d", 1, 2), SCR_SUCCESS);
  CHECK_INT(scr_path_append_str(b, "end"), SCR_SUCCESS);
  CHECK_STR(path_string(a), "/a/x/y/b/c/x/y/rank_3.ckpt");
  CHECK_STR(path_string(b), "w/x/y/-/1/2/w/x/y/end");
}

static void test_path_slice(void)
{
  static const struct {
    int         offset, length;
    const char* want;
  } cases[] = {{0, -1, "/a/b/c/d"}, {0, 2, "/a"}, {1, 2, "a/b"}, {-1, 1, "d"}, {-2, -1, "c/d"}, {-2, 1, "c"},
               {2, 99, "b/c/d"},    {5, 1, ""},   {0, 0, ""},    {-5, 1, ""}}; /* the last: the root's empty name */
  size_t    i;
  scr_path *p = scr_path_from_str("/a/b/c/d"), *q;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_STR(path_string(scr_path_sub(p, cases[i].offset, cases[i].length)), cases[i].want);
    q = scr_path_dup(p);
    CHECK_INT(scr_path_slice(q, cases[i].offset, cases[i].length), SCR_SUCCESS);
    CHECK_STR(path_string(q), cases[i].want);
  }
  CHECK_INT(scr_path_slice(p, 6, 1), SCR_ERR_ARG);
  CHECK_INT(scr_path_slice(p, -6, 1), SCR_ERR_ARG);
  CHECK(scr_path_sub(p, 6, 1) == NULL && scr_path_cut(p, 6) == NULL);
  CHECK_STR(path_string(scr_path_cut(p, 3)), "c/d");
  CHECK_STR(path_string(scr_path_dup(p)), "/a/b");
  CHECK_STR(path_string(scr_path_cut(p, -1)), "b");
  CHECK_STR(path_string(scr_path_dup(p)), "/a");
  CHECK_STR(path_string(scr_path_cut(p, 2)), "");
  CHECK_INT(scr_path_append_str(p, "b/c"), SCR_SUCCESS);
  CHECK_INT(scr_path_dirname(p), SCR_SUCCESS);
  CHECK_STR(path_string(scr_path_dup(p)), "/a/b");
  CHECK_INT(scr_path_basename(p), SCR_SUCCESS);
  CHECK_STR(path_string(p), "b");
}

static void test_path_reduce(void)
{
  static const char* const cases[][2] = {{"/hello/world/../foo/bar/.././", "/hello/foo"},
                                         {"/", "/"},
                                         {"//", "/"},
                                         {"/..", "/"},
                                         {"/../../a", "/a"},
                                         {"/a/..", "/"},
                                         {"", "."},
                                         {".", "."},
                                         {"./", "."},
                                         {"a/..", "."},
                                         {"..", ".."},
                                         {"../..", "../.."},
                                         {"a/../../b", "../b"},
                                         {"./a//b/", "a/b"},
                                         {"...", "..."},
                                         {"/a/.b/..c", "/a/.b/..c"},
                                         {"../a/../..", "../.."},
                                         {"//a//b//", "/a/b"},
                                         {"a/b/../../..", ".."}};
  char                     out[64];
  size_t                   i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    char* s = scr_path_strdup_reduce_str(cases[i][0]);
    CHECK_STR(s, cases[i][1]);
    free(s);
    CHECK_INT(scr_path_reduce_str(cases[i][0], out, sizeof out), SCR_SUCCESS);
    CHECK_STR(out, cases[i][1]);
    CHECK_INT(scr_path_reduce_str(out, out, sizeof out), SCR_SUCCESS); /* in place, and no further change */
    CHECK_STR(out, cases[i][1]);
  }
  CHECK_INT(scr_path_reduce_str("/abc/def", out, 9), SCR_SUCCESS);
  CHECK_INT(scr_path_reduce_str("/abc/def", out, 8), SCR_ERR_PATH);
}

static void test_path_relative(void)
{
  static const char* const cases[][3] = {{"/hello/world", "/hello/foo", "../foo"},
                                         {"/a", "/a/b/c", "b/c"},
                                         {"/a/b/c", "/a", "../.."},
                                         {"/a/b", "/a/b", ""},
                                         {"/", "/a", "a"},
                                         {"/a", "/", ".."},
                                         {"/a/b", "/c/d", "../../c/d"},
                                         {"a/b", "a/c", "../c"},
                                         {"/a/./x/../b/", "/a//c", "../c"},
                                         {"..", "../x", "x"}};
  scr_path *               src, *dst;
  size_t                   i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    src = scr_path_from_str(cases[i][0]);
    dst = scr_path_from_str(cases[i][1]);
    CHECK_STR(path_string(scr_path_relative(src, dst)), cases[i][2]);
    scr_path_delete(&src);
    scr_path_delete(&dst);
  }
  src = scr_path_from_str("../a");
  dst = scr_path_from_str("b");
  CHECK(scr_path_relative(src, dst) == NULL); /* the way back down has no name */
  scr_path_delete(&src);
  src = scr_path_from_str("/a");
  CHECK(scr_path_relative(src, dst) == NULL);
  scr_path_delete(&src);
  scr_path_delete(&dst);
}

/* 1 when the reduced PATH is below DIR, as REL. */
static int path_is_below(const char* dir, const char* path, const char* rel)
{
  const char* got = NULL;
  return scr_path_below(dir, path, &got) && strcmp(got, rel) == 0 && got > path && got < path + strlen(path);
}

static void test_path_strings(void)
{
  const char* rel = "unchanged";
  char        path[64];
  int         i;

  CHECK(path_is_below("/a", "/a/b/c", "b/c") && path_is_below("/", "/a", "a"));
  CHECK(!scr_path_below("/a", "/a", &rel) && !scr_path_below("/a", "/ab/c", &rel));
  CHECK(!scr_path_below("/a/b", "/a", &rel));
  CHECK(!scr_path_below("/", "/", &rel) && !scr_path_below("/a", "a/b", &rel) && strcmp(rel, "unchanged") == 0);

  CHECK(scr_path_is_safe_rel("a") && scr_path_is_safe_rel("a/b.c/..d") && scr_path_is_safe_rel("..."));
  CHECK(!scr_path_is_safe_rel(NULL) && !scr_path_is_safe_rel("") && !scr_path_is_safe_rel("/a"));
  CHECK(!scr_path_is_safe_rel("..") && !scr_path_is_safe_rel("a/../b") && !scr_path_is_safe_rel("a/.."));
  CHECK(!scr_path_is_safe_rel("./a") && !scr_path_is_safe_rel("a//b") && !scr_path_is_safe_rel("a/"));

  CHECK_INT(scr_path_common("/a/b/c", "/a/b/d"), 3);
  CHECK_INT(scr_path_common("/a/b", "/a/bc"), 2);
  CHECK_INT(scr_path_common("/a", "/b"), 1);
  CHECK_INT(scr_path_common("/", "/b"), 1);
  CHECK_INT(scr_path_common("a/b", "a/b"), 2);
  CHECK_INT(scr_path_common("a", "a/b"), 1);
  CHECK_INT(scr_path_common("a", "/a"), 0);
  CHECK_INT(scr_path_common("", "a"), 0);

  for (i = 0; i <= 5; i++) {
    static const char* const want[] = {"", "/", "/a", "/a/b", "/a/b", "/a/b"};
    strcpy(path, "/a/b");
    scr_path_keep(path, i);
    CHECK_STR(path, want[i]);
  }
  strcpy(path, "ab/c/d");
  scr_path_keep(path, 2);
  CHECK_STR(path, "ab/c");
  scr_path_keep(path, 1);
  CHECK_STR(path, "ab");
  scr_path_keep(path, -1);
  CHECK_STR(path, "");
}

static void test_path_flatten(void)
{
  char rel[400], out[300];

  CHECK_INT(scr_path_flatten("a/b%2F.c", out, sizeof out), SCR_SUCCESS);
  CHECK_STR(out, "a%2Fb%252F.c");
  CHECK_INT(scr_path_flatten("a%2Fb", out, sizeof out), SCR_SUCCESS);
  CHECK_STR(out, "a%252Fb"); /* not that of a/b */
  memset(rel, 'x', sizeof rel);
  rel[255] = '\0';
  CHECK(scr_path_flatten(rel, out, sizeof out) == SCR_SUCCESS && strlen(out) == 255);
  CHECK(scr_path_flatten(rel, out, 256) == SCR_SUCCESS && scr_path_flatten(rel, out, 255) == SCR_ERR_PATH);
  rel[100] = '/';
  CHECK_INT(scr_path_flatten(rel, out, sizeof out), SCR_ERR_PATH);
  rel[253] = '\0';
  CHECK(scr_path_flatten(rel, out, sizeof out) == SCR_SUCCESS && strlen(out) == 255);
  rel[100] = 'x';
  rel[253] = 'x';
  rel[256] = '\0';
  rel[255] = 'x';
  CHECK_INT(scr_path_flatten(rel, out, sizeof out), SCR_ERR_PATH);
  CHECK(scr_path_flatten("", out, 1) == SCR_SUCCESS && *out == '\0');
  CHECK_INT(scr_path_flatten("a", out, 1), SCR_ERR_PATH);
  CHECK_INT(scr_path_flatten("a", out, 0), SCR_ERR_PATH);
}

static void test_path_files(void)
{
  char     dir[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME + 8], big[3000];
  uint64_t size = 99;
  int      n, rc, failed = 0;

  snprintf(dir, sizeof dir, "%s", check_path("d1/d2//d3/"));
  CHECK_INT(scr_mkdirs(dir, 0700), SCR_SUCCESS);
  CHECK_INT(scr_mkdirs(dir, 0700), SCR_SUCCESS);
  CHECK(scr_mkdirs("/", 0700) == SCR_SUCCESS && scr_mkdirs(".", 0700) == SCR_SUCCESS);
  CHECK_INT(scr_mkdirs("", 0700), SCR_ERR_ARG);
  CHECK_INT(scr_file_size(dir, &size), SCR_ERR_MISSING);
  snprintf(file, sizeof file, "%sfile", dir);
  CHECK_INT(scr_file_size(file, &size), SCR_ERR_MISSING);
  CHECK(size == 99 && strstr(scr_err_text, file) != NULL);
  check_put(file, "12345", 5);
  CHECK(scr_file_size(file, &size) == SCR_SUCCESS && size == 5);
  CHECK_INT(symlink(file, check_path("link")), 0);
  CHECK_INT(scr_file_size(check_path("link"), &size), SCR_ERR_MISSING);
  CHECK_INT(scr_file_size(check_path("d1/d2/d3/file/x"), &size), SCR_ERR_MISSING);
  CHECK_INT(scr_mkdirs(file, 0700), SCR_ERR_IO);
  CHECK(strstr(scr_err_text, "in the way") != NULL);
  CHECK_INT(scr_mkdirs(check_path("d1/d2/d3/file/x/y"), 0700), SCR_ERR_IO);
  CHECK_INT(symlink(check_path("d1"), check_path("link2")), 0);
  CHECK_INT(scr_mkdirs(check_path("link2/d4"), 0700), SCR_SUCCESS); /* through a link to a directory */
  memset(big, 'x', sizeof big);
  big[0] = '/';
  big[sizeof big - 1] = '\0';
  CHECK_INT(scr_mkdirs(big, 0700), SCR_ERR_PATH);

  for (n = 1;; n++) { /* the reason is that of mkdir; a directory that is there already is no failure */
    snprintf(file, sizeof file, "%s", check_path("e1/e2/e3"));
    check_fault(CHECK_FAIL, ENOSPC, n);
    rc = scr_mkdirs(file, 0700);
    if (!check_fault_end()) break;
    CHECK(rc == (access(file, F_OK) == 0 ? SCR_SUCCESS : SCR_ERR_SPACE));
    failed += rc != SCR_SUCCESS;
    CHECK_INT(scr_mkdirs(file, 0700), SCR_SUCCESS);
    CHECK_INT(rmdir(file), 0);
    CHECK_INT(rmdir(check_path("e1/e2")), 0);
    CHECK_INT(rmdir(check_path("e1")), 0);
  }
  CHECK(rc == SCR_SUCCESS && failed == 3);
  check_fault(CHECK_FAIL, EIO, 1);
  rc = scr_file_size(check_path("d1/d2/d3/file"), &size);
  CHECK(check_fault_end() && rc == SCR_ERR_IO); /* not: missing */
}

/* Every allocation fails once: no crash, no leak, and the caller is told. */
static void test_path_memory(void)
{
  long n;

  for (n = 0;; n++) {
    scr_path *p, *q;
    char      out[64] = "old";
    int       rc;

    check_alloc_hit = 0;
    check_alloc_left = n;
    p = scr_path_from_strf("/a/%s", "b");
    q = scr_path_from_str("/a/c");
    rc = scr_path_reduce_str("/x/../y", out, sizeof out);
    if (p != NULL) scr_path_append_strf(p, "%d", 1);
    if (p != NULL) scr_path_insert_str(p, 0, "z");
    scr_path_delete(&q);
    q = scr_path_relative(p, p);
    scr_path_delete(&q);
    q = scr_path_cut(p, 1);
    check_alloc_left = -1;
    CHECK(rc == SCR_SUCCESS ? strcmp(out, "/y") == 0 : rc == SCR_ERR_MEM);
    scr_path_delete(&p);
    scr_path_delete(&q);
    if (!check_alloc_hit) break;
    CHECK(scr_oom);
    scr_oom = 0;
  }
  CHECK(n > 20 && !scr_oom);
}

static void test_path(void)
{
  test_path_create();
  test_path_combine();
  test_path_slice();
  test_path_reduce();
  test_path_relative();
  test_path_strings();
  test_path_flatten();
  test_path_files();
  test_path_memory();
}
