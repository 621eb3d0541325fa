/* Paths as strings; directories. */

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
    CHECK_INT(scr_path_reduce_str(cases[i][0], out, sizeof out), SCR_SUCCESS);
    CHECK_STR(out, cases[i][1]);
    CHECK_INT(scr_path_reduce_str(out, out, sizeof out), SCR_SUCCESS); /* in place, and no further change */
    CHECK_STR(out, cases[i][1]);
  }
  CHECK_INT(scr_path_reduce_str("/abc/def", out, 9), SCR_SUCCESS);
  CHECK_INT(scr_path_reduce_str("/abc/def", out, 8), SCR_ERR_PATH);
  CHECK_INT(scr_path_reduce_str("/long/long/long/../../../ab", out, 4), SCR_SUCCESS); /* only the result need fit */
  CHECK_STR(out, "/ab");
  CHECK_INT(scr_path_reduce_str(NULL, out, sizeof out), SCR_SUCCESS);
  CHECK_STR(out, ".");
}

static void test_path_relative(void)
{
  static const char* const cases[][3] = {{"/hello/world", "/hello/foo", "../foo"},
                                         {"/a", "/a/b/c", "b/c"},
                                         {"/a/b/c", "/a", "../.."},
                                         {"/a/b", "/a/b", ""},
                                         {"/a/b", "/a/bc", "../bc"},
                                         {"/", "/", ""},
                                         {"/", "/a", "a"},
                                         {"/a", "/", ".."},
                                         {"/a/b", "/c/d", "../../c/d"},
                                         {"a/b", "a/c", "../c"},
                                         {".", "a", "a"},
                                         {"a", ".", ".."},
                                         {"a", "../b", "../../b"},
                                         {"/a/./x/../b/", "/a//c", "../c"},
                                         {"..", "../x", "x"}};
  char                     out[64], deep[SCR_MAX_FILENAME];
  size_t                   i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_INT(scr_path_relative(cases[i][0], cases[i][1], out, sizeof out), SCR_SUCCESS);
    CHECK_STR(out, cases[i][2]);
  }
  CHECK_INT(scr_path_relative("../a", "b", out, sizeof out), SCR_ERR_PATH); /* the way back down has no name */
  CHECK_INT(scr_path_relative("/a", "b", out, sizeof out), SCR_ERR_PATH);
  CHECK_INT(scr_path_relative("a", "/b", out, sizeof out), SCR_ERR_PATH);
  CHECK_INT(scr_path_relative("/a/b", "/a/cde", out, 7), SCR_SUCCESS);
  CHECK_INT(scr_path_relative("/a/b", "/a/cde", out, 6), SCR_ERR_PATH);
  for (i = 0; i + 2 < sizeof deep; i += 2) memcpy(deep + i, "/d", 3);
  CHECK_INT(scr_path_relative(deep, "/a", out, sizeof out), SCR_ERR_PATH); /* 511 times "../" */
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

  CHECK(scr_path_dir_of("a", path, sizeof path) == SCR_SUCCESS && strcmp(path, ".") == 0);
  CHECK(scr_path_dir_of("/a", path, sizeof path) == SCR_SUCCESS && strcmp(path, "/") == 0);
  CHECK(scr_path_dir_of("a/b/c", path, sizeof path) == SCR_SUCCESS && strcmp(path, "a/b") == 0);
  CHECK_INT(scr_path_dir_of("abcd/e", path, 4), SCR_ERR_PATH);
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
  CHECK(scr_file_has_size(file, 5) == SCR_SUCCESS && scr_file_has_size(file, 4) == SCR_ERR_MISSING);
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
    check_fault(FAULT_FAIL, ENOSPC, n);
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
  check_fault(FAULT_FAIL, EIO, 1);
  rc = scr_file_size(check_path("d1/d2/d3/file"), &size);
  CHECK(check_fault_end() && rc == SCR_ERR_IO); /* not: missing */
}

/* A change below the fence follows links of this user and of root, and none of another user, wherever they are. */
static void a_fence_keeps_out_links_of_other_users(void)
{
  const char*        base = check_path("links");
  static const char* linked[] = {"links/own", "links/a/in", "links/abs"};
  char               root[SCR_MAX_FILENAME], out[SCR_MAX_FILENAME], in[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME + 8];
  size_t             i;
  int                fd;

  snprintf(root, sizeof root, "%s", base);
  CHECK_INT(scr_mkdirs(check_path("links/a/b"), 0700), SCR_SUCCESS);
  CHECK_INT(scr_mkdirs(check_path("outside"), 0700), SCR_SUCCESS);
  snprintf(out, sizeof out, "%s", check_path("outside"));
  snprintf(in, sizeof in, "%s", check_path("links/own"));
  CHECK_INT(symlink(out, in), 0);
  CHECK_INT(symlink("../own/.", check_path("links/a/in")), 0); /* a link to a link */
  CHECK_INT(symlink(in, check_path("links/abs")), 0);          /* the same, as an absolute path */
  scr_fence_set(&scr_fences.prefix, root);
  for (i = 0; i < 3; i++) {
    snprintf(file, sizeof file, "%s/made/here", check_path(linked[i]));
    CHECK_INT(scr_mkdirs(file, 0700), SCR_SUCCESS);
    CHECK_INT(access(check_path("outside/made/here"), F_OK), 0);
    CHECK_INT(scr_os.rmdir(file), 0);
    CHECK_INT((fd = scr_os.open(file, O_WRONLY | O_CREAT | O_EXCL, 0600)) >= 0, 1);
    close(fd);
    CHECK_INT(scr_os.rename(file, check_path("links/a/b/file")), 0);
    CHECK_INT(scr_os.link(check_path("links/a/b/file"), file), 0);
    CHECK_INT(scr_os.unlink(file), 0);
    CHECK_INT(scr_os.unlink(check_path("links/a/b/file")), 0);
  }
  CHECK(scr_os.mkdir(check_path("links/none/b"), 0700) < 0 && errno == ENOENT);
  CHECK_INT(symlink("loop", check_path("links/loop")), 0);
  CHECK(scr_os.mkdir(check_path("links/loop/b"), 0700) < 0 && errno == ELOOP);
  CHECK_INT((fd = scr_os.open(check_path("links/file"), O_WRONLY | O_CREAT, 0600)) >= 0, 1);
  close(fd);
  CHECK(scr_os.mkdir(check_path("links/file/b"), 0700) < 0 && errno == ENOTDIR);
  if (geteuid() == 0) {
    CHECK_INT(lchown(in, 4711, 4711), 0);
    for (i = 0; i < 3; i++) {
      snprintf(file, sizeof file, "%s/made", check_path(linked[i]));
      CHECK(scr_os.open(file, O_WRONLY | O_CREAT, 0600) < 0 && errno == ELOOP);
      CHECK(scr_os.rmdir(file) < 0 && errno == ELOOP);
      CHECK(scr_os.unlink(file) < 0 && errno == ELOOP);
      CHECK(scr_os.rename(file, check_path("links/a/b/file")) < 0 && errno == ELOOP);
      CHECK(scr_os.rename(check_path("links/file"), file) < 0 && errno == ELOOP);
      CHECK(scr_os.link(check_path("links/file"), file) < 0 && errno == ELOOP);
      snprintf(file, sizeof file, "%s/more", check_path(linked[i]));
      CHECK_INT(scr_mkdirs(file, 0700), SCR_ERR_PATH);
      CHECK(strstr(scr_err_text, "a link that is not followed") != NULL);
    }
    CHECK(access(check_path("outside/made"), F_OK) == 0 && access(check_path("outside/more"), F_OK) != 0);
    CHECK(scr_os.open(in, O_WRONLY | O_CREAT, 0600) < 0 && errno == ELOOP); /* nor as the file itself */
    snprintf(file, sizeof file, "%s/made", in);
    CHECK(scr_os.open(file, O_RDONLY, 0) < 0 && errno == ELOOP); /* what is read may be copied to where others read */
    CHECK(scr_os.open(in, O_RDONLY | O_DIRECTORY, 0) < 0 && errno == ELOOP);
    CHECK_INT(symlink(check_path("outside/made"), check_path("links/letter")), 0);
    CHECK_INT(symlink("a/../letter", check_path("links/relative")), 0);
    for (i = 0; i < 2; i++) { /* own links to a file, one to the other */
      CHECK_INT((fd = scr_os.open(check_path(i ? "links/relative" : "links/letter"), O_RDONLY, 0)) >= 0, 1);
      close(fd);
    }
    CHECK_INT((fd = scr_os.open(check_path("links/a/in/../own/../a/b"), O_RDONLY | O_DIRECTORY, 0)) < 0, 1);
    CHECK(scr_os.open(check_path("links/letter"), O_RDONLY | O_NOFOLLOW, 0) < 0 && errno == ELOOP);
    CHECK_INT(lchown(check_path("links/letter"), 4711, 4711), 0);
    CHECK(scr_os.open(check_path("links/letter"), O_RDONLY, 0) < 0 && errno == ELOOP);
    CHECK(scr_os.open(check_path("links/relative"), O_RDONLY, 0) < 0 && errno == ELOOP);
  }
  scr_fence_set(&scr_fences.prefix, "");
  CHECK_INT(scr_path_stays(root, check_path("links/a/b/file")), SCR_SUCCESS);
  CHECK_INT(scr_path_stays(root, check_path("links/none/b/file")), SCR_SUCCESS);
  CHECK_INT(scr_path_stays(root, check_path("outside/file")), SCR_ERR_PATH);
  CHECK_INT(scr_path_stays(root, check_path("links/own/file")), SCR_ERR_PATH);
  scr_tree_remove(in);
  CHECK_INT(access(check_path("outside/made"), F_OK), 0);
  scr_tree_remove(root);
  CHECK(access(root, F_OK) != 0 && access(check_path("outside/made"), F_OK) == 0);
  scr_tree_remove(check_path("outside"));
}

/* A fenced directory is renamed, and another one has its name: nothing is changed there. */
static void a_fence_stands_around_one_directory(void)
{
  char root[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  fd;

  snprintf(root, sizeof root, "%s", check_path("fenced"));
  snprintf(file, sizeof file, "%s", check_path("fenced/file"));
  CHECK(mkdir(root, 0700) == 0 && mkdir(check_path("trap"), 0700) == 0);
  scr_fence_set(&scr_fences.prefix, root);
  CHECK_INT((fd = scr_os.open(file, O_WRONLY | O_CREAT, 0600)) >= 0, 1);
  close(fd);
  CHECK(rename(root, check_path("away")) == 0 && symlink("trap", root) == 0);
  CHECK(scr_os.open(file, O_WRONLY | O_CREAT, 0600) < 0 && errno == ESTALE);
  CHECK(scr_os.mkdir(check_path("fenced/dir"), 0700) < 0 && errno == ESTALE);
  CHECK_INT(access(check_path("trap/file"), F_OK), -1);
  CHECK_INT((fd = open(check_path("trap/file"), O_WRONLY | O_CREAT, 0600)) >= 0, 1);
  close(fd);
  CHECK(scr_os.unlink(file) < 0 && errno == ESTALE);
  CHECK(unlink(root) == 0);
  CHECK(scr_mkdirs(check_path("fenced/dir/below"), 0700) != SCR_SUCCESS && access(root, F_OK) < 0); /* not made again */
  CHECK(rename(check_path("away"), root) == 0); /* it is there again */
  CHECK_INT(scr_os.unlink(file), 0);
  scr_fence_set(&scr_fences.prefix, "");
  CHECK(unlink(check_path("trap/file")) == 0 && rmdir(check_path("trap")) == 0 && rmdir(root) == 0);
}

/* Another process swaps a directory for a link of another user, again and again: no change goes through the link. */
static void a_fence_holds_while_a_directory_is_swapped(void)
{
  char  root[SCR_MAX_FILENAME], out[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], aside[SCR_MAX_FILENAME];
  char  link[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  pid_t pid;
  int   i, fd, made = 0, refused = 0;

  if (geteuid() != 0) return;
  snprintf(root, sizeof root, "%s", check_path("swapped"));
  snprintf(out, sizeof out, "%s", check_path("victim"));
  snprintf(dir, sizeof dir, "%s", check_path("swapped/dir"));
  snprintf(aside, sizeof aside, "%s", check_path("swapped/aside"));
  snprintf(link, sizeof link, "%s", check_path("swapped/link"));
  snprintf(file, sizeof file, "%s", check_path("swapped/dir/file"));
  CHECK(mkdir(root, 0700) == 0 && mkdir(out, 0700) == 0 && mkdir(dir, 0700) == 0);
  CHECK(symlink(out, link) == 0 && lchown(link, 4711, 4711) == 0);
  if ((pid = fork()) == 0)
    for (;;)
      if (rename(dir, aside) != 0 || rename(link, dir) != 0 || rename(dir, link) != 0 || rename(aside, dir) != 0)
        _exit(1);
  scr_fence_set(&scr_fences.prefix, root);
  for (i = 0; i < 200000 && (made < 100 || refused < 100); i++) {
    if ((fd = scr_os.open(file, O_WRONLY | O_CREAT, 0600)) >= 0) {
      close(fd);
      made++;
    } else if (errno == ELOOP) {
      refused++;
    }
    if (access(check_path("victim/file"), F_OK) == 0) break;
  }
  scr_fence_set(&scr_fences.prefix, "");
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  CHECK(made >= 100 && refused >= 100);
  CHECK(access(check_path("victim/file"), F_OK) != 0);
  scr_tree_remove(root);
  scr_tree_remove(out);
}

/* Create "file" of user 4711 in the directory AT. */
static int file_of_4711(int at)
{
  int fd = openat(at, "file", O_WRONLY | O_CREAT, 0600), rc = fd >= 0 && fchown(fd, 4711, 4711) == 0;

  close(fd);
  return rc;
}

/* Another process swaps a directory for one with a file of user 4242: only that of user 4711 is removed and renamed. */
static void a_file_of_one_user_goes_while_its_directory_is_swapped(void)
{
  char        root[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], aside[SCR_MAX_FILENAME], other[SCR_MAX_FILENAME];
  char        file[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  struct stat st;
  pid_t       pid;
  int         i, fd = -1, mine = -1, theirs = -1, gone = 0, refused = 0;

  if (geteuid() != 0) return;
  snprintf(root, sizeof root, "%s", check_path("users"));
  snprintf(dir, sizeof dir, "%s", check_path("users/dir"));
  snprintf(aside, sizeof aside, "%s", check_path("users/aside"));
  snprintf(other, sizeof other, "%s", check_path("users/other"));
  snprintf(file, sizeof file, "%s", check_path("users/dir/file"));
  snprintf(to, sizeof to, "%s", check_path("users/to"));
  CHECK(mkdir(root, 0700) == 0 && mkdir(dir, 0700) == 0 && mkdir(other, 0700) == 0);
  CHECK((mine = open(dir, O_RDONLY)) >= 0 && (theirs = open(other, O_RDONLY)) >= 0);
  CHECK((fd = openat(theirs, "file", O_WRONLY | O_CREAT, 0600)) >= 0 && fchown(fd, 4242, 4242) == 0 && close(fd) == 0);
  if ((pid = fork()) == 0)
    for (;;)
      if (rename(dir, aside) != 0 || rename(other, dir) != 0 || rename(aside, other) != 0) _exit(1);
  scr_fence_set(&scr_fences.prefix, root);
  for (i = 0; i < 200000 && (gone < 100 || refused < 100); i++) {
    if (!file_of_4711(mine)) break;
    if ((i % 2 ? scr_os.unlink_of(file, 4711) : scr_os.rename_of(file, to, 4711)) == 0) gone++;
    else if (errno == EPERM) refused++;
    else if (errno != ENOENT) break;
    if (fstatat(theirs, "file", &st, 0) != 0) break;
  }
  scr_fence_set(&scr_fences.prefix, "");
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  CHECK(gone >= 100 && refused >= 100);
  CHECK_INT(fstatat(theirs, "file", &st, 0), 0);
  CHECK(stat(to, &st) == 0 && st.st_uid == 4711);
  close(mine);
  close(theirs);
  scr_tree_remove(root);
}

/* A map may replace what its user may: in a sticky directory, no files of others. */
static void a_map_replaces_no_file_that_a_sticky_directory_keeps(void)
{
  char from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  int  fd = -1, at = -1;

  if (geteuid() != 0) return;
  snprintf(from, sizeof from, "%s", check_path("sticky/file"));
  snprintf(to, sizeof to, "%s", check_path("sticky/to"));
  CHECK(mkdir(check_path("sticky"), 0700) == 0 && (at = open(check_path("sticky"), O_RDONLY)) >= 0);
  CHECK(file_of_4711(at) && (fd = open(to, O_WRONLY | O_CREAT, 0600)) >= 0 && fchown(fd, 4242, 4242) == 0);
  CHECK_INT(scr_object_may_become(from, to, 4711), SCR_SUCCESS);
  CHECK(fchmod(at, 01777) == 0);
  CHECK_INT(scr_object_may_become(from, to, 4711), SCR_ERR_UNSAFE);
  CHECK(strstr(scr_err_text, "sticky/to belongs to user 4242") != NULL);
  CHECK_INT(scr_object_may_become(from, to, 0), SCR_SUCCESS);
  CHECK(fchown(fd, 4711, 4711) == 0);
  CHECK_INT(scr_object_may_become(from, to, 4711), SCR_SUCCESS);
  CHECK(unlink(to) == 0);
  CHECK_INT(scr_object_may_become(from, to, 4711), SCR_SUCCESS);
  close(fd);
  close(at);
  scr_tree_remove(check_path("sticky"));
}

/* A file of another user in the place of one that this run has made receives nothing, nor does one with two names. */
static void no_file_of_another_user_receives_bytes(void)
{
  char       own[SCR_MAX_FILENAME] = "x", *path;
  uint64_t   size = 1;
  scr_window w;
  pid_t      pid;
  int        at = -1, fd = -1, status = -1;

  if (geteuid() != 0) return;
  CHECK(mkdir(check_path("open"), 0777) == 0 && (at = open(check_path("open"), O_RDONLY)) >= 0);
  CHECK(fchmod(at, 0777) == 0 && chmod(check_path(""), 0755) == 0 && file_of_4711(at));
  CHECK_INT(chmod(check_path("open/file"), 0666), 0);
  if ((pid = fork()) == 0) { /* as another user, who can write to the file */
    int refused, taken, mine;
    if (setuid(4242) != 0) _exit(1);
    refused = scr_file_made(check_path("open/file"), 0, 0, &fd) == SCR_ERR_UNSAFE && fd == -1;
    refused &= strstr(scr_err_text, "belongs to user 4711") != NULL;
    mine = scr_file_make(check_path("open/own"), 0600, 0) == SCR_SUCCESS;
    mine &= scr_file_made(check_path("open/own"), 0, 0, &fd) == SCR_SUCCESS && fd >= 0;
    taken = scr_file_made(check_path("open/none"), 0, 0, &fd) == SCR_ERR_NOT_FOUND || fd == -1;
    taken &= scr_file_made(check_path("open/file"), O_CREAT, 0666, &fd) == SCR_ERR_UNSAFE && fd == -1;
    taken &= scr_file_made(check_path("open/new"), O_CREAT, 0666, &fd) == SCR_SUCCESS && fd >= 0;
    _exit(refused && mine && taken ? 0 : 2);
  }
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  CHECK_INT(WEXITSTATUS(status), 0);
  CHECK(fchmod(at, 0755) == 0 && fchown(at, 4711, 4711) == 0); /* its directory is that user's, too */
  CHECK_INT(scr_file_made(check_path("open/file"), 0, 0, &fd), SCR_ERR_UNSAFE);
  path = (char*)(uintptr_t)check_path("open/file");
  CHECK_INT(scr_window_open(&w, 1, &path, &size, O_WRONLY | O_TRUNC, 0, 1), SCR_SUCCESS);
  CHECK_INT(scr_window_write(&w, 0, own, 1), SCR_ERR_UNSAFE);
  scr_window_free(&w);
  CHECK(chown(check_path("open/own"), 0, 0) == 0 && scr_file_made(check_path("open/own"), 0, 0, &fd) == SCR_SUCCESS);
  close(fd);
  snprintf(own, sizeof own, "%s", check_path("open/own"));
  CHECK(link(own, check_path("open/second")) == 0);
  CHECK(scr_file_made(own, 0, 0, &fd) != SCR_SUCCESS);
  close(at);
  scr_tree_remove(check_path("open"));
}

/* As mkdir, but then somebody gives the name to "private", another directory. */
static int mkdir_and_swap(const char* path, mode_t mode)
{
  return mkdir(path, mode) == 0 && rename(path, check_path("shared/aside")) == 0
             ? rename(check_path("shared/private"), path)
             : -1;
}

/* The rights that .scr gets are not those of a directory that somebody puts in its place. */
static void no_other_directory_gets_the_rights_of_records(void)
{
  char        root[SCR_MAX_FILENAME];
  struct stat st;

  if (geteuid() != 0) return;
  snprintf(root, sizeof root, "%s", check_path("shared"));
  CHECK(mkdir(root, 0700) == 0 && chown(root, (uid_t)-1, 4242) == 0 && chmod(root, 02770) == 0);
  CHECK_INT(scr_record_mkdir(root), SCR_SUCCESS);
  CHECK(stat(check_path("shared/.scr"), &st) == 0 && (st.st_mode & 07777) == 02770 && st.st_gid == 4242);
  CHECK(rmdir(check_path("shared/.scr")) == 0);
  CHECK(mkdir(check_path("shared/private"), 0700) == 0 && mkdir(check_path("shared/private/thesis"), 0700) == 0);
  CHECK(chmod(check_path("shared/private"), 0700) == 0);
  scr_os.mkdir = mkdir_and_swap;
  scr_record_mkdir(root);
  scr_os.mkdir = scr_os_mkdir;
  CHECK(stat(check_path("shared/.scr"), &st) == 0 && (st.st_mode & 0777) == 0700);
  CHECK_INT(access(check_path("shared/.scr/thesis"), F_OK), 0);
  scr_tree_remove(root);
}

static int rename_to_new_names_only(const char* from, const char* to)
{
  struct stat st;

  if (lstat(to, &st) < 0) return rename(from, to);
  errno = EEXIST;
  return -1;
}

static int fsync_of_files_only(int fd)
{
  struct stat st;

  if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) return fsync(fd);
  errno = EINVAL;
  return -1;
}

/* A prefix on which records cannot be replaced is refused each time; one whose directories cannot be synced is used. */
static void file_systems_that_lack_something_are_told_of(void)
{
  char root[SCR_MAX_FILENAME];

  snprintf(root, sizeof root, "%s", check_path("odd"));
  CHECK(mkdir(root, 0700) == 0);
  scr_os.rename = rename_to_new_names_only;
  CHECK_INT(scr_record_mkdir(root), SCR_ERR_IO);
  CHECK(strstr(scr_err_text, "choose another prefix") != NULL && access(check_path("odd/.scr"), F_OK) != 0);
  CHECK_INT(scr_record_mkdir(root), SCR_ERR_IO);
  scr_os.rename = scr_os_rename;
  scr_os.fsync = fsync_of_files_only;
  CHECK_INT(scr_record_mkdir(root), SCR_SUCCESS);
  scr_os.fsync = fsync;
  CHECK(rmdir(check_path("odd/.scr")) == 0 && rmdir(root) == 0);
}

/* What lies in the place of a file, and is none, is not waited for. */
static void only_plain_files_are_opened(void)
{
  int fd;

  CHECK_INT(mkfifo(check_path("fifo"), 0600), 0);
  errno = 0;
  fd = scr_file_plain(check_path("fifo"), O_RDONLY, 0);
  CHECK(fd < 0 && errno == EINVAL);
  CHECK(scr_file_plain(check_path("fifo"), O_WRONLY, 0) < 0);
  unlink(check_path("fifo"));
}

/* Every allocation fails once: the caller is told, and the result is whole or not there. */
static void test_path_memory(void)
{
  long n;

  for (n = 0;; n++) {
    char out[64] = "old", rel[64] = "old";
    int  rc, rc_rel;

    check_alloc_hit = 0;
    check_alloc_left = n;
    rc = scr_path_reduce_str("/x/../y", out, sizeof out);
    rc_rel = scr_path_relative("/a/b", "/a/c", rel, sizeof rel);
    check_alloc_left = -1;
    CHECK(rc == SCR_SUCCESS ? strcmp(out, "/y") == 0 : rc == SCR_ERR_MEM && strcmp(out, "old") == 0);
    CHECK(rc_rel == SCR_SUCCESS ? strcmp(rel, "../c") == 0 : rc_rel == SCR_ERR_MEM && strcmp(rel, "old") == 0);
    if (!check_alloc_hit) break;
    CHECK(scr_oom && (rc == SCR_ERR_MEM || rc_rel == SCR_ERR_MEM));
    scr_oom = 0;
  }
  CHECK(n == 3 && !scr_oom);
}

/* A transfer that a signal interrupts, or that stops half-way, goes on, and moves each byte once. */
static void transfers_go_on_when_they_are_interrupted(void)
{
  static const int modes[] = {FAULT_FAIL, FAULT_SHORT};
  char             file[SCR_MAX_FILENAME];
  size_t           mode;
  int              kind;

  snprintf(file, sizeof file, "%s", check_path("interrupted"));
  for (mode = 0; mode < 2; mode++) {
    for (kind = 0; kind < 4; kind++) {
      const int calls[] = {FAULT_WRITE, FAULT_PWRITE, FAULT_READ, FAULT_PREAD};
      char      is[9] = "";
      int       fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
      ssize_t   n = 8;
      if (kind >= 2) CHECK_INT(pwrite(fd, "12345678", 8, 0), 8);
      fault_at(modes[mode], calls[kind], EINTR, 1);
      if (kind == 0) CHECK_INT(scr_write_all(fd, "12345678", 8), 0);
      else if (kind == 1) CHECK_INT(scr_pwrite_all(fd, "12345678", 8, 0), 0);
      else if (kind == 2) n = scr_read_all(fd, is, 8);
      else n = scr_pread_all(fd, is, 8, 0);
      CHECK(check_fault_end());
      if (kind < 2) CHECK_INT(pread(fd, is, 8, 0), 8);
      CHECK_INT(n, 8);
      CHECK_STR(is, "12345678");
      close(fd);
    }
  }
}

/* Removes directories until it has removed a .scr, as if it were killed then. */
static int rmdir_to_the_mark(const char* path)
{
  static int killed;

  if (killed || rmdir(path) < 0) return -1;
  killed = strcmp(path + strlen(path) - 5, "/.scr") == 0;
  return 0;
}

/* A directory that is known by its .scr has it while it has anything else: an interrupted removal is repeated. */
static void the_mark_of_a_tree_is_removed_last(void)
{
  int (*before)(const char*) = scr_os.rmdir;

  CHECK(mkdir(check_path("tree"), 0700) == 0 && mkdir(check_path("tree/a"), 0700) == 0);
  CHECK(mkdir(check_path("tree/a/b"), 0700) == 0 && mkdir(check_path("tree/.scr"), 0700) == 0);
  CHECK(mkdir(check_path("tree/.a"), 0700) == 0 && mkdir(check_path("tree/zz"), 0700) == 0);
  scr_os.rmdir = rmdir_to_the_mark;
  scr_tree_remove(check_path("tree"));
  scr_os.rmdir = before;
  CHECK(rmdir(check_path("tree")) == 0);
}

static void test_path(void)
{
  transfers_go_on_when_they_are_interrupted();
  test_path_reduce();
  test_path_relative();
  test_path_strings();
  test_path_flatten();
  test_path_files();
  a_fence_keeps_out_links_of_other_users();
  a_fence_stands_around_one_directory();
  a_fence_holds_while_a_directory_is_swapped();
  a_file_of_one_user_goes_while_its_directory_is_swapped();
  a_map_replaces_no_file_that_a_sticky_directory_keeps();
  no_file_of_another_user_receives_bytes();
  no_other_directory_gets_the_rights_of_records();
  file_systems_that_lack_something_are_told_of();
  only_plain_files_are_opened();
  the_mark_of_a_tree_is_removed_last();
  test_path_memory();
}
