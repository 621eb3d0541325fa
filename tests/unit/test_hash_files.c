/* Hash files: the format, of earlier releases too; damage; atomic replacement under faults; locks. */

/* nodes.scr with NODES 4, byte by byte */
static const unsigned char hash_file_golden[] = {0x95, 0x1f, 0xc3, 0xf5, 0,   1, 0, 1, /* magic, type, version */
                                                 0,    0,    0,    0,    0,   0, 0, 44,
                                                 0,    0,    0,    1,            /* size of the file, flags: CRC32 */
                                                 0,    0,    0,    1,            /* one element */
                                                 'N',  'O',  'D',  'E',  'S', 0, /* its key */
                                                 0,    0,    0,    1,    '4', 0, /* one element below */
                                                 0,    0,    0,    0,            /* a leaf */
                                                 0xcb, 0x4f, 0x2f, 0xc1};        /* CRC32 of all of this */

/* The file image of the N bytes of PACKED, with a right CRC, appended to B. */
static void hash_file_wrap(scr_buf* b, const void* packed, size_t n)
{
  char head[SCR_FILE_HEAD], crc[4];

  memcpy(head, hash_file_golden, sizeof head);
  scr_put_be(head + 8, SCR_FILE_HEAD + n + 4, 8);
  b->n = 0;
  scr_buf_add(b, head, sizeof head);
  scr_buf_add(b, packed, n);
  scr_put_be(crc, crc32(0, (const Bytef*)b->p, (uInt)b->n), 4);
  scr_buf_add(b, crc, 4);
}

/* Parse the N bytes at DATA from a block of exactly that size; on an error the hash must be as it was. */
static int hash_file_parse(const void* data, size_t n)
{
  scr_hash* h = scr_hash_new();
  void*     p = malloc(n ? n : 1);
  size_t    used = 0;
  int       rc;

  memcpy(p, data, n);
  scr_hash_set_kv(h, "BEFORE", "1");
  rc = scr_hash_image_parse(p, n, &used, h, "the image");
  if (rc != SCR_SUCCESS) CHECK_INT(scr_hash_size(h), 1);
  if (rc != SCR_SUCCESS) CHECK(strstr(scr_err_text, "the image") != NULL);
  scr_hash_delete(&h);
  free(p);
  return rc;
}

static void test_hash_file_golden(void)
{
  scr_hash* h = scr_hash_new();
  scr_buf   b = {NULL, 0, 0, 0};
  size_t    used = 0;

  scr_hash_set_kv_int(h, "NODES", 4);
  scr_buf_add(&b, "before", 6);
  CHECK_INT(scr_hash_image(h, &b), SCR_SUCCESS); /* appends */
  CHECK(b.n == 6 + sizeof hash_file_golden && memcmp(b.p + 6, hash_file_golden, sizeof hash_file_golden) == 0);
  scr_buf_add(&b, "after", 5);
  scr_hash_unset_all(h);
  CHECK_INT(scr_hash_image_parse(b.p + 6, b.n - 6, &used, h, "x"), SCR_SUCCESS);
  CHECK_INT(used, sizeof hash_file_golden);
  CHECK_STR(scr_hash_elem_get_first_val(h, "NODES"), "4");

  scr_oom = 1; /* E2 */
  CHECK_INT(scr_hash_image(h, &b), SCR_ERR_MEM);
  CHECK_INT(scr_hash_file_write(check_path("oom.scr"), h), SCR_ERR_MEM);
  scr_oom = 0;
  CHECK(access(check_path("oom.scr"), F_OK) != 0);
  scr_buf_free(&b);
  scr_hash_delete(&h);
}

/* ---- files of earlier releases ---- */

/* Merge the tree that the file PATH shows as text: two blanks a level, and perhaps `key = value`. */
static void hash_file_text(const char* path, scr_hash* h)
{
  char      line[1024];
  scr_hash* at[66];
  FILE*     f = fopen(path, "r");

  CHECK(f != NULL);
  if (f == NULL) return;
  at[0] = at[1] = h;
  while (fgets(line, sizeof line, f) != NULL) {
    size_t blanks = strspn(line, " "), level = blanks / 2;
    char * key = line + blanks, *value;
    key[strcspn(key, "\n")] = '\0';
    if (level < 1 || level > 64) continue;
    value = strstr(key, " = ");
    if (value != NULL) *value = '\0';
    at[level + 1] = scr_hash_setf(at[level], NULL, "%s", key);
    if (value != NULL) scr_hash_setf(at[level + 1], NULL, "%s", value + 3);
  }
  fclose(f);
}

/* Read DIR/NAME, compare it with NAME.txt, write it again, and compare the bytes. */
static void hash_file_earlier(const char* dir, const char* name)
{
  char      path[512], text[520];
  char      bytes[8192], *p = bytes;
  scr_hash *h = scr_hash_new(), *want = scr_hash_new(), *back = scr_hash_new();
  scr_buf   b = {NULL, 0, 0, 0};
  uint64_t  head = 0, chunk = 0;
  size_t    n;
  int64_t   v = 0;

  snprintf(path, sizeof path, "%s/%s", dir, name);
  snprintf(text, sizeof text, "%s.txt", path);
  n = check_get(path, p, sizeof bytes);
  hash_file_text(text, want);
  CHECK_INT(scr_hash_file_read_head(path, h, &head), SCR_SUCCESS);
  CHECK(scr_hash_size(h) > 0 && hash_same(h, want));
  if (strncmp(name, "xor.", 4) == 0 && scr_hash_util_get_int64(h, "CHUNK", &v) == SCR_SUCCESS) chunk = (uint64_t)v;
  CHECK_INT(head + chunk, n);
  CHECK_INT(scr_hash_file_read(path, back), chunk ? SCR_ERR_FORMAT : SCR_SUCCESS);
  CHECK(chunk ? scr_hash_size(back) == 0 : hash_same(h, back));
  CHECK_INT(scr_hash_image(h, &b), SCR_SUCCESS); /* the order of a file is kept: the same bytes */
  CHECK(b.n == head && memcmp(b.p, p, b.n) == 0);
  scr_buf_free(&b);
  scr_hash_delete(&h);
  scr_hash_delete(&want);
  scr_hash_delete(&back);
}

static void test_hash_file_earlier(const char* dir, int want)
{
  DIR*           d = opendir(dir);
  struct dirent* e;
  char           name[256];
  int            n = 0;

  CHECK(d != NULL);
  if (d == NULL) return;
  while ((e = readdir(d)) != NULL) {
    size_t k = strlen(e->d_name);
    if (k < 5 || strcmp(e->d_name + k - 4, ".txt") != 0) continue;
    snprintf(name, sizeof name, "%.*s", (int)(k - 4), e->d_name);
    hash_file_earlier(dir, name);
    n++;
  }
  closedir(d);
  CHECK_INT(n, want);
}

/* ---- damage ---- */

static void test_hash_file_damage(void)
{
  unsigned char bytes[sizeof hash_file_golden + 1];
  const char*   path = check_path("damage.scr");
  scr_hash*     h = scr_hash_new();
  size_t        n = sizeof hash_file_golden, i;
  int           rc;

  memcpy(bytes, hash_file_golden, n);
  bytes[n] = 0;
  CHECK_INT(hash_file_parse(bytes, n), SCR_SUCCESS);
  for (i = 0; i < n; i++) {
    CHECK_INT(hash_file_parse(bytes, i), SCR_ERR_FORMAT);
    check_put(path, bytes, i);
    CHECK(scr_hash_file_read(path, h) == SCR_ERR_FORMAT && scr_hash_size(h) == 0);
  }
  for (i = 0; i < 8 * n; i++) {
    bytes[i / 8] = (unsigned char)(bytes[i / 8] ^ 1u << i % 8);
    rc = hash_file_parse(bytes, n);
    CHECK(rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC);
    if (i >= 8 * SCR_FILE_HEAD) CHECK_INT(rc, SCR_ERR_CRC);
    check_put(path, bytes, n);
    rc = scr_hash_file_read(path, h);
    CHECK((rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) && scr_hash_size(h) == 0);
    bytes[i / 8] = (unsigned char)(bytes[i / 8] ^ 1u << i % 8);
  }
  check_put(path, bytes, n + 1);
  CHECK(scr_hash_file_read(path, h) == SCR_ERR_FORMAT && strstr(scr_err_text, path) != NULL);
  CHECK_INT(scr_hash_size(h), 0);
  unlink(path);
  scr_hash_delete(&h);
}

/* Heads that claim much, and packed hashes that lie, with the CRC that belongs to them. */
static void test_hash_file_hostile(void)
{
  static const unsigned char sizes[][8] = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                           {0x7f, 0xff, 0, 0, 0, 0, 0, 0},
                                           {0, 0, 0, 0, 0x80, 0, 0, 1},
                                           {0, 0, 0, 0, 0, 0, 0, 23},
                                           {0, 0, 0, 0, 0, 0, 0, 0}};
  scr_buf                    b = {NULL, 0, 0, 0};
  scr_hash*                  h = scr_hash_new();
  char                       p[sizeof hash_golden];
  uint64_t                   head = 99;
  size_t                     i;
  int                        fd;

  for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    hash_file_wrap(&b, hash_golden, sizeof hash_golden);
    CHECK_INT(hash_file_parse(b.p, b.n), SCR_SUCCESS);
    memcpy(b.p + 8, sizes[i], 8);
    CHECK_INT(hash_file_parse(b.p, b.n), SCR_ERR_FORMAT);
  }
  for (i = 0; i < 8 * sizeof hash_golden; i++) { /* every flip of the packed bytes, with a right CRC: no crash */
    memcpy(p, hash_golden, sizeof p);
    p[i / 8] = (char)(p[i / 8] ^ 1 << i % 8);
    hash_file_wrap(&b, p, sizeof p);
    fd = hash_file_parse(b.p, b.n);
    CHECK(fd == SCR_SUCCESS || fd == SCR_ERR_FORMAT);
  }
  for (i = 0; i < sizeof hash_golden; i++) { /* cut short, with a right CRC */
    hash_file_wrap(&b, hash_golden, i);
    CHECK_INT(hash_file_parse(b.p, b.n), SCR_ERR_FORMAT);
  }
  hash_file_wrap(&b, "\0\0\0\0\0", 5); /* bytes behind the hash */
  CHECK_INT(hash_file_parse(b.p, b.n), SCR_ERR_FORMAT);
  hash_file_wrap(&b, "", 0);
  CHECK_INT(hash_file_parse(b.p, b.n), SCR_ERR_FORMAT);

  hash_file_wrap(&b, hash_golden, sizeof hash_golden); /* 3 GiB without a byte: no memory is asked for */
  check_put(check_path("hole.scr"), b.p, b.n);
  fd = open(check_path("hole.scr"), O_WRONLY);
  CHECK(fd >= 0);
  if (fd >= 0 && ftruncate(fd, (off_t)3 << 30) == 0) {
    check_alloc_left = 1; /* the buffer of the head */
    CHECK_INT(scr_hash_file_read(check_path("hole.scr"), h), SCR_ERR_FORMAT);
    check_alloc_left = -1;
    CHECK(scr_hash_file_read_head(check_path("hole.scr"), h, &head) == SCR_SUCCESS && head == b.n);
  }
  close(fd);
  unlink(check_path("hole.scr"));
  scr_buf_free(&b);
  scr_hash_delete(&h);
}

static void test_hash_file_kinds(void)
{
  scr_hash* h = scr_hash_new();
  uint64_t  head = 99;

  CHECK_INT(scr_hash_file_read(check_path("none.scr"), h), SCR_ERR_NOT_FOUND);
  CHECK(scr_hash_file_read_head(check_path("none.scr"), h, &head) == SCR_ERR_NOT_FOUND && head == 0);
  CHECK_INT(scr_hash_file_read(check_dir, h), SCR_ERR_FORMAT);
  CHECK_INT(mkfifo(check_path("fifo.scr"), 0600), 0);
  CHECK_INT(scr_hash_file_read(check_path("fifo.scr"), h), SCR_ERR_FORMAT); /* and does not wait for a writer */
  CHECK_INT(scr_hash_file_write(check_path("none/x.scr"), h), SCR_ERR_IO);
  CHECK(strstr(scr_err_text, check_path("none/x.scr")) != NULL);
  CHECK_INT(scr_hash_file_write(check_dir, h), SCR_ERR_IO); /* a directory is not replaced */
  unlink(check_path("fifo.scr"));

  scr_hash_set_kv(h, "A", "1"); /* reading merges */
  CHECK_INT(scr_hash_file_write(check_path("m.scr"), h), SCR_SUCCESS);
  scr_hash_unset_all(h);
  scr_hash_set_kv(h, "A", "2");
  CHECK_INT(scr_hash_file_read(check_path("m.scr"), h), SCR_SUCCESS);
  CHECK_STR(hash_keys(scr_hash_get(h, "A")), "2 1");
  CHECK_INT(scr_hash_file_write(check_path("m.scr"), NULL), SCR_SUCCESS); /* the empty hash */
  scr_hash_unset_all(h);
  CHECK(scr_hash_file_read(check_path("m.scr"), h) == SCR_SUCCESS && scr_hash_size(h) == 0);
  unlink(check_path("m.scr"));
  scr_hash_delete(&h);
}

/* ---- faults ---- */

/* The value of A in the file PATH: '1' or '2', '?' for anything else. */
static int hash_file_value(const char* path)
{
  scr_hash*   h = scr_hash_new();
  const char* v;
  int         c = '?';

  CHECK_INT(scr_hash_file_read(path, h), SCR_SUCCESS);
  v = scr_hash_elem_get_first_val(h, "A");
  if (scr_hash_size(h) == 1 && v != NULL && (strcmp(v, "1") == 0 || strncmp(v, "2222", 4) == 0)) c = *v;
  scr_hash_delete(&h);
  return c;
}

/* Write to PATH the contents 1, or other ones of another size. */
static int hash_file_set(const char* path, int value)
{
  scr_hash* h = scr_hash_new();
  int       rc;

  scr_hash_util_set_str(h, "A", value == 1 ? "1" : "2222222222222222222222222222222222222222222222222222222222222222");
  rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

static int hash_file_replace(const char* path)
{
  return hash_file_set(path, 2);
}

static void hash_file_fault(int mode, int err, int calls)
{
  char dir[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME + 8];
  int  n, rc, now;

  snprintf(dir, sizeof dir, "%s", check_path("faults"));
  snprintf(path, sizeof path, "%s/f.scr", dir);
  CHECK_INT(mkdir(dir, 0700), 0);
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  for (n = 1;; n++) {
    check_fault(mode, err, n);
    rc = hash_file_replace(path);
    if (!check_fault_end()) break;
    now = hash_file_value(path);
    CHECK(now == '1' || now == '2');
    CHECK(rc == SCR_SUCCESS ? now == '2' : rc == (err == ENOSPC ? SCR_ERR_SPACE : SCR_ERR_IO));
    if (rc != SCR_SUCCESS) CHECK(strstr(scr_err_text, dir) != NULL && strstr(scr_err_text, strerror(err)) != NULL);
    if (mode != FAULT_DEAD) CHECK_INT(check_names(dir), 1); /* no temporary stays */
    if (mode == FAULT_SHORT) CHECK_INT(rc, SCR_SUCCESS);
    CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  }
  CHECK(rc == SCR_SUCCESS && hash_file_value(path) == '2');
  CHECK_INT(n - 1, calls);
  nftw(dir, check_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_hash_file_faults(void)
{
  hash_file_fault(FAULT_FAIL, EIO, 8); /* open write fsync close rename, open fsync close of the directory */
  hash_file_fault(FAULT_FAIL, ENOSPC, 8);
  hash_file_fault(FAULT_DEAD, EIO, 8);
  hash_file_fault(FAULT_SHORT, 0, 1);
  hash_file_fault(FAULT_TORN, ENOSPC, 1);
}

/* Killed at each call: the old contents or the new; and what a dead process left is in nobody's way. */
static void test_hash_file_kills(void)
{
  char dir[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME + 8];
  int  n, now, seen = 0;

  snprintf(dir, sizeof dir, "%s", check_path("kills"));
  snprintf(path, sizeof path, "%s/f.scr", dir);
  CHECK_INT(mkdir(dir, 0700), 0);
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  for (n = 1; check_fault_kill(n, hash_file_replace, path); n++) {
    now = hash_file_value(path);
    CHECK(now == '1' || now == '2');
    seen |= now == '1' ? 1 : 2;
    CHECK(check_names(dir) <= n + 1);
    CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  }
  CHECK(n == 9 && seen == 3 && hash_file_value(path) == '2');

  check_fault(FAULT_FAIL, EEXIST, 1); /* the temporary of a dead process of the same number */
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  CHECK(check_fault_end() && hash_file_value(path) == '1');
  nftw(dir, check_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A read that fails is an error, never a short or an empty hash. */
static void test_hash_file_read_faults(void)
{
  const char* path = check_path(".scr/r.scr");
  scr_hash*   h = scr_hash_new();
  scr_record  r;
  int         n, rc, keys, fd = -1, calls = 0;

  CHECK_INT(scr_mkdirs(check_path(".scr"), 0700), SCR_SUCCESS);
  CHECK_INT(hash_file_set(path, 2), SCR_SUCCESS);
  for (n = 1;; n++) {
    check_fault(FAULT_FAIL, EIO, n);
    rc = scr_record_open(&r, check_dir, "r.scr");
    keys = scr_hash_size(r.h);
    rc = scr_record_close(&r, rc, 0);
    if (!check_fault_end()) break;
    CHECK(r.lock == -1 && (rc == SCR_SUCCESS || rc == SCR_ERR_IO));
    CHECK_INT(keys, rc == SCR_SUCCESS ? 1 : 0);
    calls += rc != SCR_SUCCESS;
    CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS); /* nothing was left locked */
    scr_hash_file_unlock(&fd);
  }
  CHECK_INT(calls, 7); /* mkdir and lstat of .scr; open and flock of the lock; open, read and read of the file */
  for (n = 1;; n++) {
    scr_hash_unset_all(h);
    check_fault(FAULT_SHORT, 0, n);
    rc = scr_hash_file_read(path, h);
    CHECK(rc == SCR_SUCCESS && scr_hash_size(h) == 1);
    if (!check_fault_end()) break;
  }
  CHECK_INT(n, 3);
  unlink(path);
  unlink(check_path(".scr/r.scr.lock"));
  scr_hash_delete(&h);
}

static void test_hash_file_sync(void)
{
  const char* path = check_path("s.scr");

  check_fault(FAULT_COUNT, 0, 0);
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  CHECK_INT(fault_seen(FAULT_FSYNC), 2); /* the file and its directory */
  check_fault(FAULT_COUNT, 0, 0);
  scr_fsync_enabled = 0;
  CHECK_INT(hash_file_set(path, 2), SCR_SUCCESS);
  CHECK_INT(scr_dir_sync(path), SCR_SUCCESS);
  CHECK_INT(fault_seen(FAULT_FSYNC), 0);
  scr_fsync_enabled = 1;
  check_fault_end();
  CHECK_INT(hash_file_value(path), '2');
  CHECK(scr_dir_sync("name-without-directory") == SCR_SUCCESS && scr_dir_sync("/name") == SCR_SUCCESS);
  CHECK_INT(scr_dir_sync(check_path("none/x")), SCR_ERR_IO);
  unlink(path);
}

/* ---- locks and other processes ---- */

/* Add 1 to N in the record NAME below the scratch directory, COUNT times; the exit code. */
static int hash_file_increments(const char* name, int count)
{
  for (; count > 0; count--) {
    scr_record r;
    int        rc = scr_record_open(&r, check_dir, name);
    if (rc == SCR_SUCCESS) scr_hash_util_set_int(r.h, "N", scr_hash_int_or(r.h, "N", 0) + 1);
    if (scr_record_close(&r, rc, 1) != SCR_SUCCESS || r.lock != -1) return 1;
  }
  return 0;
}

static void test_hash_file_locks(void)
{
  static const int answers[] = {ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL, EBADF};
  const char*      path = check_path(".scr/lock.scr");
  scr_hash*        h = scr_hash_new();
  scr_record       r;
  pid_t            child[2];
  int              i, status, v = 0, fd = -1, other;

  scr_fsync_enabled = 0; /* what counts here is the order, not the disk */
  fflush(stdout);
  for (i = 0; i < 2; i++) {
    child[i] = fork();
    if (child[i] == 0) _exit(hash_file_increments("lock.scr", 300));
  }
  for (i = 0; i < 2; i++) {
    status = -1;
    CHECK(child[i] > 0 && waitpid(child[i], &status, 0) == child[i] && status == 0);
  }
  CHECK_INT(scr_hash_file_read(path, h), SCR_SUCCESS);
  CHECK(scr_hash_util_get_int(h, "N", &v) == SCR_SUCCESS && v == 600);
  CHECK(access(check_path(".scr/lock.scr.lock"), F_OK) == 0);
  scr_fsync_enabled = 1;

  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS);
  other = open(check_path(".scr/lock.scr.lock"), O_RDWR);
  CHECK(flock(other, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
  scr_hash_file_unlock(&fd);
  CHECK(fd == -1 && flock(other, LOCK_EX | LOCK_NB) == 0);
  close(other);
  scr_hash_file_unlock(&fd); /* not held: nothing happens */

  for (i = 0; i < 5; i++) { /* what file systems without locks, and without syncs of directories, answer */
    fault_at(FAULT_DEAD, FAULT_FLOCK | FAULT_FSYNC, answers[i], 1);
    CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS);
    CHECK_INT(scr_dir_sync(path), SCR_SUCCESS);
    CHECK_INT(fault_end(), 2);
    scr_hash_file_unlock(&fd);
  }
  fault_at(FAULT_DEAD, FAULT_FSYNC, EIO, 1);
  CHECK_INT(scr_dir_sync(path), SCR_ERR_IO);
  CHECK_INT(fault_end(), 1);

  check_put(path, "garbage", 7); /* a file that cannot be read stays, and is not left locked */
  CHECK_INT(scr_record_close(&r, scr_record_open(&r, check_dir, "lock.scr"), 1), SCR_ERR_FORMAT);
  CHECK(r.lock == -1 && scr_file_has_size(path, 7) == SCR_SUCCESS);
  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS);
  scr_hash_file_unlock(&fd);
  CHECK_INT(scr_hash_file_lock(check_path("none/x"), &fd), SCR_ERR_IO);
  CHECK_INT(fd, -1);
  unlink(path);
  unlink(check_path(".scr/lock.scr.lock"));
  CHECK_INT(symlink(check_dir, check_path(".scr/lock.scr.lock")), 0);
  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_ERR_PATH); /* a lock that leads elsewhere is not followed */
  unlink(check_path(".scr/lock.scr.lock"));
  scr_hash_delete(&h);
}

/* The lock of a prefix of which a copy of links was made: two that begin at once do not hold two files. */
static void a_lock_with_a_second_name_is_given_up_for_one_that_all_hold(void)
{
  const char* path = check_path("run.lock");
  struct stat is;
  int         first = -1, second = -1, late = -1;

  CHECK_INT(scr_lock_open_own(path, &first), SCR_SUCCESS);
  CHECK_INT(scr_lock_take_own(&first, path, 0), SCR_SUCCESS);
  CHECK_INT(link(path, check_path("copy.lock")), 0);
  CHECK_INT(scr_lock_open_own(path, &second), SCR_SUCCESS); /* it is held, so it stays */
  CHECK_INT(scr_lock_take_own(&second, path, 0), SCR_ERR_BUSY);
  CHECK(scr_lock_is_at(second, path, &is) && is.st_nlink == 2);
  scr_os.close(first);
  CHECK_INT(scr_lock_open_own(path, &first), SCR_SUCCESS);
  CHECK(scr_lock_is_at(first, path, &is) && is.st_nlink == 1 && !scr_lock_is_at(second, path, &is));
  CHECK_INT(scr_lock_take_own(&first, path, 0), SCR_SUCCESS);
  CHECK_INT(scr_lock_take_own(&second, path, 0), SCR_ERR_BUSY); /* the old file was free */
  scr_os.close(first);
  CHECK_INT(scr_lock_take_own(&second, path, 0), SCR_SUCCESS);
  CHECK(scr_lock_is_at(second, path, &is));
  CHECK_INT(scr_lock_open_own(path, &late), SCR_SUCCESS);
  CHECK_INT(unlink(path), 0); /* what nobody holds any more is gone */
  scr_os.close(second);
  CHECK_INT(scr_lock_take_own(&late, path, 0), SCR_SUCCESS);
  CHECK(scr_lock_is_at(late, path, &is));
  scr_os.close(late);
  unlink(path);
  unlink(check_path("copy.lock"));
}

/* Whoever may not write to the directory cannot open the lock of a file in it, and so cannot keep it. */
static void a_lock_can_only_be_held_by_those_who_may_write(void)
{
  const char* lock = check_path(".scr/shared.scr.lock");
  const char* path = check_path(".scr/shared.scr");
  struct stat st;
  int         fd;

  mkdir(check_path(".scr"), 0755);
  umask(0);
  CHECK(chmod(check_path(".scr"), 0755) == 0);
  check_put(lock, "", 0);
  CHECK(chmod(lock, 0666) == 0);
  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS); /* an older one is tightened */
  CHECK(stat(lock, &st) == 0 && (st.st_mode & 0777) == 0600);
  scr_hash_file_unlock(&fd);
  CHECK(chmod(check_path(".scr"), 02775) == 0);
  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS); /* but may be a file that somebody has given this name */
  CHECK(stat(lock, &st) == 0 && (st.st_mode & 0777) == 0600);
  scr_hash_file_unlock(&fd);
  unlink(lock);
  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS); /* in a new one the group that may write gets its right */
  CHECK(stat(lock, &st) == 0 && (st.st_mode & 0777) == 0660);
  scr_hash_file_unlock(&fd);
  umask(077);
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0660);
  umask(0);
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS); /* others never may write */
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0664);
  umask(022);
  CHECK(chmod(check_path(".scr"), 0755) == 0);
  unlink(path);
  unlink(lock);
}

/* A program that takes rights from itself can open its files again later. */
static void the_owner_keeps_his_rights_whatever_the_umask(void)
{
  const char* dir = check_path("masked/below");
  const char* path = check_path("masked/below/a.scr");
  struct stat st;
  mode_t      own = umask(0777);

  CHECK_INT(scr_mkdirs(dir, 0700), SCR_SUCCESS);
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  CHECK(stat(dir, &st) == 0 && (st.st_mode & 07777) == 0700);
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0600) == 0600 && (st.st_mode & 0007) == 0);
  umask(own);
  scr_tree_remove(check_path("masked"));
}

/* A lock that another process keeps is waited for, and then an error that names the file and the process. */
static void a_lock_that_is_kept_is_not_waited_for_for_ever(void)
{
  const char* path = check_path("kept.scr");
  char        pid[32];
  double      start;
  int         fd, ready[2], status;
  pid_t       child;
  char        c;

  CHECK(pipe(ready) == 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    close(ready[0]);
    if (scr_hash_file_lock(path, &fd) == SCR_SUCCESS && write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  close(ready[1]);
  CHECK(read(ready[0], &c, 1) == 1);
  close(ready[0]);
  snprintf(pid, sizeof pid, "process %ld", (long)child);
  start = scr_wtime();
  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_ERR_BUSY);
  CHECK(scr_wtime() - start >= SCR_LOCK_SECONDS && scr_wtime() - start < SCR_LOCK_SECONDS + 5);
  CHECK(strstr(scr_err_text, path) != NULL && strstr(scr_err_text, pid) != NULL);
  CHECK_INT(fd, -1);
  kill(child, SIGKILL);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_INT(scr_hash_file_lock(path, &fd), SCR_SUCCESS);
  scr_hash_file_unlock(&fd);
}

/* A reader without a lock sees whole files only, while another process replaces them. */
static void test_hash_file_readers(void)
{
  const char* path = check_path("busy.scr");
  int         i, now, wrong = 0, status = -1;
  pid_t       child;

  scr_fsync_enabled = 0;
  CHECK_INT(hash_file_set(path, 1), SCR_SUCCESS);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    for (i = 0; i < 500; i++)
      if (hash_file_set(path, 1 + i % 2) != SCR_SUCCESS) _exit(1);
    _exit(0);
  }
  CHECK(child > 0);
  for (i = 0; i < 200 || waitpid(child, &status, WNOHANG) == 0; i++) {
    now = hash_file_value(path);
    wrong += now != '1' && now != '2';
  }
  CHECK(wrong == 0 && (status == 0 || (waitpid(child, &status, 0) == child && status == 0)));
  scr_fsync_enabled = 1;
  unlink(path);
}

static void test_hash_files(void)
{
  test_hash_file_golden();
  test_hash_file_earlier(CHECK_DATA "/scr-1.2.2", 10);
  test_hash_file_earlier(CHECK_DATA "/scr-3.1", 6);
  test_hash_file_damage();
  test_hash_file_hostile();
  test_hash_file_kinds();
  test_hash_file_faults();
  test_hash_file_kills();
  test_hash_file_read_faults();
  test_hash_file_sync();
  test_hash_file_locks();
  a_lock_with_a_second_name_is_given_up_for_one_that_all_hold();
  a_lock_can_only_be_held_by_those_who_may_write();
  the_owner_keeps_his_rights_whatever_the_umask();
  a_lock_that_is_kept_is_not_waited_for_for_ever();
  test_hash_file_readers();
}
