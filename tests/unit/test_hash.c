/* Hashes: elements, fields, formats, order, and the packed form, of hostile shape too. */

/* 1 when A and B are equal trees, in whatever order. */
static int hash_same(const scr_hash* a, const scr_hash* b)
{
  scr_hash_elem* e;

  if (scr_hash_size(a) != scr_hash_size(b)) return 0;
  for (e = scr_hash_elem_first(a); e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash_elem* other = scr_hash_elem_get(b, scr_hash_elem_key(e));
    if (other == NULL || !hash_same(scr_hash_elem_hash(e), scr_hash_elem_hash(other))) return 0;
  }
  return 1;
}

/* The keys of H, joined by spaces, in a buffer that the next call uses again. */
static const char* hash_keys(const scr_hash* h)
{
  static char    buf[512];
  scr_hash_elem* e;
  size_t         n = 0;

  buf[0] = '\0';
  for (e = scr_hash_elem_first(h); e != NULL && n < sizeof buf; e = scr_hash_elem_next(e)) {
    const char* key = scr_hash_elem_key(e);
    n += (size_t)snprintf(buf + n, sizeof buf - n, "%s%s", n ? " " : "", key != NULL ? key : "(null)");
  }
  return buf;
}

static void test_hash_elements(void)
{
  scr_hash *h = scr_hash_new(), *v = scr_hash_new(), *w;

  CHECK(scr_hash_size(h) == 0 && scr_hash_elem_first(h) == NULL && scr_hash_get(h, "A") == NULL);
  CHECK(scr_hash_set(h, "A", v) == v && scr_hash_get(h, "A") == v);
  scr_hash_set(h, "B", scr_hash_new());
  scr_hash_set(h, "", scr_hash_new());
  scr_hash_set(h, "C", scr_hash_new());
  CHECK_INT(scr_hash_size(h), 4);
  CHECK_STR(hash_keys(h), "A B  C");
  w = scr_hash_new();
  CHECK(scr_hash_set(h, "B", w) == w && scr_hash_get(h, "B") == w); /* keeps its place */
  CHECK_STR(hash_keys(h), "A B  C");
  CHECK(scr_hash_set(h, "B", w) == w && scr_hash_get(h, "B") == w); /* its own value */
  CHECK_STR(scr_hash_elem_key(scr_hash_elem_get(h, "B")), "B");
  CHECK(scr_hash_elem_hash(scr_hash_elem_get(h, "B")) == w && scr_hash_elem_get(h, "b") == NULL);

  CHECK_INT(scr_hash_unset(h, "A"), SCR_SUCCESS); /* the first, one that is not there, the last, one between */
  CHECK_INT(scr_hash_unset(h, "A"), SCR_SUCCESS);
  CHECK_STR(hash_keys(h), "B  C");
  scr_hash_unset(h, "C");
  scr_hash_set(h, "D", scr_hash_new());
  scr_hash_unset(h, "");
  CHECK_STR(hash_keys(h), "B D");
  v = scr_hash_extract(h, "B");
  CHECK(v == w && scr_hash_extract(h, "B") == NULL);
  scr_hash_delete(&v);
  scr_hash_unset_all(h);
  CHECK(scr_hash_size(h) == 0 && scr_hash_elem_first(h) == NULL);
  scr_hash_set(h, "E", scr_hash_new());
  CHECK_STR(hash_keys(h), "E");
  scr_hash_delete(&h);
  CHECK(h == NULL);
}

static void test_hash_null(void)
{
  scr_hash *  none = NULL, *h = scr_hash_new();
  const char* s = "old";

  scr_hash_delete(NULL);
  scr_hash_delete(&none);
  CHECK(scr_hash_set(NULL, "A", scr_hash_new()) == NULL && scr_hash_set(h, NULL, scr_hash_new()) == NULL);
  CHECK(scr_hash_set(h, "A", NULL) == NULL && scr_hash_size(h) == 0);
  CHECK(scr_hash_get(NULL, "A") == NULL && scr_hash_get(h, NULL) == NULL && scr_hash_extract(NULL, "A") == NULL);
  scr_hash_unset_all(NULL);
  CHECK_INT(scr_hash_unset(NULL, "A"), SCR_SUCCESS);
  CHECK(scr_hash_size(NULL) == 0 && scr_hash_elem_first(NULL) == NULL && scr_hash_elem_next(NULL) == NULL);
  CHECK(scr_hash_elem_key(NULL) == NULL && scr_hash_elem_hash(NULL) == NULL && scr_hash_elem_get(NULL, "A") == NULL);
  CHECK(scr_hash_get_kv(NULL, "A", "B") == NULL && scr_hash_set_kv(NULL, "A", "B") == NULL);
  CHECK(scr_hash_unset_kv(NULL, "A", "B") == SCR_SUCCESS && scr_hash_elem_get_first_val(NULL, "A") == NULL);
  CHECK(scr_hash_setf(NULL, scr_hash_new(), "%s", "A") == NULL && scr_hash_getf(NULL, "%s", "A") == NULL);
  CHECK(scr_hash_sort_int(NULL, SCR_HASH_SORT_ASCENDING) == SCR_SUCCESS && scr_hash_merge(h, NULL) == SCR_SUCCESS);
  CHECK(scr_hash_int_or(NULL, "A", 7) == 7 && scr_hash_str_or(NULL, "A", s) == s);
  CHECK(scr_hash_pack_size(NULL) == 4 && scr_hash_util_get_str(NULL, "A", &s) == SCR_ERR_NOT_FOUND);
  CHECK(scr_hash_util_set_str(NULL, "A", "B") != SCR_SUCCESS);
  none = scr_hash_dup(NULL);
  CHECK(none != NULL && scr_hash_size(none) == 0);
  scr_hash_delete(&none);
  scr_hash_delete(&h);
}

static void test_hash_pairs(void)
{
  scr_hash *h = scr_hash_new(), *a, *b;

  a = scr_hash_set_kv(h, "RANK", "0");
  CHECK(a != NULL && scr_hash_get_kv(h, "RANK", "0") == a && scr_hash_set_kv(h, "RANK", "0") == a);
  b = scr_hash_set_kv_int(h, "RANK", 1);
  CHECK(b != a && scr_hash_get_kv(h, "RANK", "1") == b && scr_hash_get_kv_int(h, "RANK", 1) == b);
  scr_hash_set_kv_int(scr_hash_set_kv_int(b, "CKPT", -10), "FILE", INT_MIN);
  CHECK(scr_hash_getf(h, "%s %d %s %d %s %s", "RANK", 1, "CKPT", -10, "FILE", "-2147483648") != NULL);
  CHECK_STR(scr_hash_elem_get_first_val(h, "RANK"), "0");
  CHECK(scr_hash_elem_get_first_val(h, "NONE") == NULL && scr_hash_get_kv(h, "NONE", "0") == NULL);
  scr_hash_unset_kv(h, "RANK", "0");
  scr_hash_unset_kv(h, "RANK", "7");
  CHECK_STR(scr_hash_elem_get_first_val(h, "RANK"), "1");
  scr_hash_unset_kv_int(h, "RANK", 1);
  CHECK(scr_hash_get(h, "RANK") == NULL && scr_hash_unset_kv_int(h, "RANK", 1) == SCR_SUCCESS);
  scr_hash_set(h, "EMPTY", scr_hash_new());
  CHECK(scr_hash_elem_get_first_val(h, "EMPTY") == NULL);
  scr_hash_delete(&h);
}

static void test_hash_format(void)
{
  scr_hash *h = scr_hash_new(), *v = scr_hash_new(), *w = scr_hash_new(), *old;

  CHECK(scr_hash_setf(h, v, "%s %d %s %d", "RANK", 0, "CKPT", 10) == v);
  CHECK(scr_hash_getf(h, "%s %d %s %d", "RANK", 0, "CKPT", 10) == v && scr_hash_getf(h, "RANK 0 CKPT 10") == v);
  scr_hash_set(v, "X", scr_hash_new());
  CHECK(scr_hash_setf(h, NULL, "RANK %d CKPT %d", 0, 10) == v && scr_hash_size(v) == 1); /* NULL keeps it */
  CHECK(scr_hash_setf(h, w, "RANK 0 CKPT 10") == w && scr_hash_getf(h, "RANK 0 CKPT 10") == w);
  CHECK(scr_hash_getf(h, "%s %d", "RANK", 1) == NULL && scr_hash_getf(h, "") == NULL);
  CHECK(scr_hash_setf(h, NULL, "%d %d %s %s", INT_MIN, INT_MAX, "", "a b") != NULL); /* a string is one key, whole */
  CHECK(scr_hash_getf(h, "-2147483648 %d %s %s", INT_MAX, "", "a b") != NULL);
  CHECK_INT(scr_hash_size(h), 2);

  old = scr_hash_dup(h); /* what cannot be a key changes nothing above it */
  CHECK(scr_hash_setf(h, scr_hash_new(), "%s %q", "RANK", 1) == NULL && hash_same(h, old));
  CHECK(scr_hash_setf(h, scr_hash_new(), "%s %s", "RANK", (const char*)NULL) == NULL && hash_same(h, old));
  CHECK(scr_hash_setf(h, scr_hash_new(), "%s %4d", "RANK", 1) == NULL && hash_same(h, old));
  CHECK(scr_hash_setf(h, scr_hash_new(), "%s %ld", "RANK", 1L) == NULL && hash_same(h, old));
  CHECK(scr_hash_setf(h, scr_hash_new(), "%", 1) == NULL && hash_same(h, old));
  CHECK(scr_hash_getf(h, "%s %s", "RANK", (const char*)NULL) == NULL && scr_hash_getf(h, "RANK %q", 1) == NULL);
  scr_hash_delete(&old);
  scr_hash_delete(&h);
}

static void test_hash_order(void)
{
  static const char* const keys[] = {"10", "9", "-3", "100", "b", "2"};
  scr_hash*                h = scr_hash_new();
  size_t                   i;

  for (i = 0; i < sizeof keys / sizeof *keys; i++) scr_hash_set_kv(h, keys[i], "v");
  CHECK_STR(hash_keys(h), "10 9 -3 100 b 2");
  scr_hash_unset(h, "b");
  scr_hash_sort_int(h, SCR_HASH_SORT_DESCENDING);
  CHECK_STR(hash_keys(h), "100 10 9 2 -3");
  scr_hash_sort_int(h, SCR_HASH_SORT_ASCENDING);
  CHECK_STR(hash_keys(h), "-3 2 9 10 100");
  scr_hash_unset(h, "9"); /* the sorted list is sound in both directions */
  scr_hash_unset(h, "100");
  scr_hash_set_kv(h, "1", "v");
  CHECK_STR(hash_keys(h), "-3 2 10 1");
  scr_hash_delete(&h);
}

static void test_hash_merge(void)
{
  scr_hash *a = scr_hash_new(), *b = scr_hash_new(), *c;

  scr_hash_setf(a, NULL, "X 1 P");
  scr_hash_setf(a, NULL, "Y");
  scr_hash_setf(b, NULL, "X 1 Q");
  scr_hash_setf(b, NULL, "X 2");
  scr_hash_setf(b, NULL, "Z");
  c = scr_hash_dup(b);
  CHECK_INT(scr_hash_merge(a, b), SCR_SUCCESS);
  CHECK(hash_same(b, c)); /* a copy: B stays as it is, and what happens to A does not touch it */
  CHECK_STR(hash_keys(a), "X Y Z");
  CHECK_STR(hash_keys(scr_hash_get(a, "X")), "1 2");
  CHECK_STR(hash_keys(scr_hash_getf(a, "X 1")), "P Q");
  scr_hash_unset(scr_hash_get(a, "X"), "2");
  CHECK(hash_same(b, c) && !hash_same(a, b));
  CHECK(scr_hash_merge(a, a) == SCR_SUCCESS && scr_hash_size(a) == 3);
  scr_hash_delete(&a);
  scr_hash_delete(&b);
  scr_hash_delete(&c);
}

static void test_hash_fields(void)
{
  scr_hash*   h = scr_hash_new();
  const char* s = NULL;
  int         i = 5;
  int64_t     l = 5;
  uint64_t    u = 5;
  uLong       crc = 5;

  scr_hash_util_set_str(h, "S", "one");
  scr_hash_util_set_str(h, "S", "two");
  CHECK(scr_hash_util_get_str(h, "S", &s) == SCR_SUCCESS && strcmp(s, "two") == 0);
  CHECK_INT(scr_hash_size(scr_hash_get(h, "S")), 1);
  CHECK_INT(scr_hash_util_set_str(h, "S", s), SCR_SUCCESS); /* a value of the hash itself */
  CHECK_STR(scr_hash_elem_get_first_val(h, "S"), "two");
  CHECK(scr_hash_util_set_str(h, "S", NULL) != SCR_SUCCESS && scr_hash_get(h, "S") != NULL);

  scr_hash_util_set_int(h, "I", INT_MIN);
  CHECK(scr_hash_util_get_int(h, "I", &i) == SCR_SUCCESS && i == INT_MIN);
  scr_hash_util_set_int64(h, "L", INT64_MIN);
  CHECK(scr_hash_util_get_int64(h, "L", &l) == SCR_SUCCESS && l == INT64_MIN);
  CHECK(scr_hash_util_get_int(h, "L", &i) == SCR_ERR_FORMAT && i == INT_MIN); /* too large: the output stays */
  scr_hash_util_set_bytecount(h, "U", UINT64_MAX);
  CHECK(scr_hash_util_get_bytecount(h, "U", &u) == SCR_SUCCESS && u == UINT64_MAX);
  CHECK(scr_hash_int_or(h, "I", 3) == INT_MIN && scr_hash_int_or(h, "L", 3) == 3 && scr_hash_int_or(h, "N", 3) == 3);
  CHECK_STR(scr_hash_str_or(h, "S", "three"), "two");
  CHECK_STR(scr_hash_str_or(h, "N", "three"), "three");

  scr_hash_util_set_crc32_fixed(h, "C", 0x00ab12cdul);
  CHECK_STR(scr_hash_elem_get_first_val(h, "C"), "0x00ab12cd");
  CHECK(scr_hash_util_get_crc32(h, "C", &crc) == SCR_SUCCESS && crc == 0xab12cdul);
  scr_hash_util_set_crc32_fixed(h, "C", 0);
  CHECK_STR(scr_hash_elem_get_first_val(h, "C"), "0x00000000");
  CHECK(scr_hash_util_get_crc32(h, "C", &crc) == SCR_SUCCESS && crc == 0);
  scr_hash_util_set_crc32_fixed(h, "C", 0xfffffffful);
  CHECK(scr_hash_util_get_crc32(h, "C", &crc) == SCR_SUCCESS && crc == 0xfffffffful);
  scr_hash_util_set_str(h, "C", "0xab12cd"); /* as earlier releases write it */
  CHECK(scr_hash_util_get_crc32(h, "C", &crc) == SCR_SUCCESS && crc == 0xab12cdul);
  scr_hash_util_set_str(h, "C", "0");
  CHECK(scr_hash_util_get_crc32(h, "C", &crc) == SCR_SUCCESS && crc == 0);
  scr_hash_delete(&h);
}

static void test_hash_bad_fields(void)
{
  static const char* const bad[] = {"", " ", "x", "1x", "1 ", "0x", "--1", "99999999999999999999", "0x1ffffffff"};
  scr_hash*                h = scr_hash_new();
  size_t                   k;
  int                      i = 5;
  int64_t                  l = 5;
  uint64_t                 u = 5;
  uLong                    crc = 5;

  scr_err_text[0] = '\0';
  for (k = 0; k < sizeof bad / sizeof *bad; k++) {
    scr_hash_util_set_str(h, "V", bad[k]);
    CHECK(scr_hash_util_get_int(h, "V", &i) == SCR_ERR_FORMAT && i == 5);
    CHECK(scr_hash_util_get_int64(h, "V", &l) == SCR_ERR_FORMAT && l == 5);
    CHECK(scr_hash_util_get_bytecount(h, "V", &u) == SCR_ERR_FORMAT && u == 5);
    CHECK(scr_hash_util_get_crc32(h, "V", &crc) == SCR_ERR_FORMAT && crc == 5);
    CHECK_INT(scr_hash_int_or(h, "V", 7), 7);
  }
  scr_hash_util_set_str(h, "V", "-1");
  CHECK_INT(scr_hash_util_get_bytecount(h, "V", &u), SCR_ERR_FORMAT);
  CHECK_INT(scr_hash_util_get_crc32(h, "V", &crc), SCR_ERR_FORMAT);
  scr_hash_set(h, "V", scr_hash_new()); /* a key without a value */
  CHECK_INT(scr_hash_util_get_int(h, "V", &i), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_hash_util_get_int64(h, "W", &l), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_hash_util_get_bytecount(h, "W", &u), SCR_ERR_NOT_FOUND);
  CHECK_INT(scr_hash_util_get_crc32(h, "W", &crc), SCR_ERR_NOT_FOUND);
  CHECK(scr_hash_int_or(h, "V", 7) == 7 && scr_hash_int_or(h, "W", 7) == 7);
  CHECK_STR(scr_err_text, ""); /* not being there is no error to tell of */
  scr_hash_delete(&h);
}

/* ---- many keys ---- */

static void test_hash_many(void)
{
  enum { N = 40000 };
  clock_t        start = clock();
  scr_hash *     h = scr_hash_new(), *back = scr_hash_new();
  scr_hash_elem* e;
  char           key[32], *buf;
  size_t         n, used = 0;
  int            i, wrong = 0;

  for (i = 0; i < N; i++) {
    snprintf(key, sizeof key, "/ssd/u/file_%d", (i * 7919) % N);
    scr_hash_set_kv_int(h, key, i);
  }
  for (i = 0; i < N; i += 3) {
    snprintf(key, sizeof key, "/ssd/u/file_%d", (i * 7919) % N);
    wrong += scr_hash_get_kv_int(h, key, i) == NULL;
    if (i % 2) scr_hash_unset(h, key);
  }
  n = scr_hash_pack_size(h);
  buf = (char*)malloc(n);
  CHECK_INT(scr_hash_pack(buf, h), n);
  CHECK(scr_hash_unpack(buf, n, &used, back) == SCR_SUCCESS && used == n);
  free(buf);
  for (i = 0, e = scr_hash_elem_first(back); i < N; i++) { /* all in the order of adding */
    if (i % 3 == 0 && i % 2) continue;
    snprintf(key, sizeof key, "/ssd/u/file_%d", (i * 7919) % N);
    wrong += e == NULL || strcmp(scr_hash_elem_key(e), key) != 0;
    e = scr_hash_elem_next(e);
  }
  CHECK(wrong == 0 && e == NULL && hash_same(h, back));
  for (i = 0; i < N; i++) {
    snprintf(key, sizeof key, "/ssd/u/file_%d", i);
    scr_hash_unset(back, key);
  }
  CHECK(scr_hash_size(back) == 0 && scr_hash_elem_first(back) == NULL);
  scr_hash_delete(&h);
  scr_hash_delete(&back);
  CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0 * CHECK_SLOWER);
}

/* Random sets, unsets and lookups agree with a plain array of flags. */
static void test_hash_random(void)
{
  enum { KEYS = 50 };
  scr_hash* h = scr_hash_new();
  char      there[KEYS] = {0}, key[16];
  unsigned  x = 12345;
  int       i, n = 0, wrong = 0;

  for (i = 0; i < 20000; i++) {
    int k;
    x = x * 1103515245u + 12345u;
    k = (int)((x >> 16) % KEYS);
    snprintf(key, sizeof key, "k%d", k);
    wrong += (scr_hash_get(h, key) != NULL) != there[k];
    if ((x >> 8 & 1) != 0) {
      n += !there[k];
      there[k] = 1;
      scr_hash_set(h, key, scr_hash_new());
    } else {
      n -= there[k];
      there[k] = 0;
      scr_hash_unset(h, key);
    }
    wrong += scr_hash_size(h) != n;
  }
  CHECK_INT(wrong, 0);
  scr_hash_delete(&h);
}

/* ---- the packed form ---- */

static const unsigned char hash_golden[] = {0,   0,   0,   2,                  /* two elements */
                                            'R', 'A', 'N', 'K', 0, 0, 0, 0, 2, /* RANK, with two */
                                            '0', 0,   0,   0,   0, 1,          /* 0, with one */
                                            'F', 0,   0,   0,   0, 0,          /* F, a leaf */
                                            '1', 0,   0,   0,   0, 0,          /* 1, a leaf */
                                            0,   0,   0,   0,   0};            /* the empty key, a leaf */

static void test_hash_pack(void)
{
  scr_hash *h = scr_hash_new(), *back = scr_hash_new();
  char      buf[sizeof hash_golden];
  size_t    n, used = 0;
  unsigned  bit;

  scr_hash_setf(h, NULL, "RANK 0 F");
  scr_hash_setf(h, NULL, "RANK 1");
  scr_hash_set(h, "", scr_hash_new());
  CHECK_INT(scr_hash_pack_size(h), sizeof hash_golden);
  CHECK(scr_hash_pack(buf, h) == sizeof buf && memcmp(buf, hash_golden, sizeof buf) == 0);
  CHECK(scr_hash_unpack(buf, sizeof buf, &used, back) == SCR_SUCCESS && used == sizeof buf && hash_same(h, back));
  CHECK_INT(scr_hash_unpack(buf, sizeof buf, &used, back), SCR_SUCCESS); /* merges */
  CHECK(hash_same(h, back));

  for (n = 0; n < sizeof buf; n++) { /* cut short, in a block of exactly that size */
    char* cut = (char*)malloc(n ? n : 1);
    memcpy(cut, buf, n);
    scr_hash_unset_all(back);
    CHECK_INT(scr_hash_unpack(cut, n, &used, back), SCR_ERR_FORMAT);
    free(cut);
  }
  for (bit = 0; bit < 8 * sizeof buf; bit++) { /* no CRC here: anything but a crash */
    char* bad = (char*)malloc(sizeof buf);
    memcpy(bad, buf, sizeof buf);
    bad[bit / 8] = (char)(bad[bit / 8] ^ 1 << bit % 8);
    scr_hash_unset_all(back);
    used = 0;
    if (scr_hash_unpack(bad, sizeof buf, &used, back) == SCR_SUCCESS) CHECK(used > 0 && used <= sizeof buf);
    free(bad);
  }
  scr_hash_delete(&h);
  scr_hash_delete(&back);
}

/* Unpack a chain of DEPTH hashes, one below the other. */
static int hash_deep(int depth)
{
  scr_buf   b = {NULL, 0, 0, 0};
  scr_hash* h = scr_hash_new();
  size_t    used = 0;
  int       rc;

  for (; depth > 1; depth--) scr_buf_add(&b, "\0\0\0\1k", 6);
  scr_buf_add(&b, NULL, 4);
  rc = scr_hash_unpack(b.p, b.n, &used, h);
  if (rc == SCR_SUCCESS) CHECK_INT(used, b.n);
  scr_hash_delete(&h);
  scr_buf_free(&b);
  return rc;
}

static void test_hash_hostile(void)
{
  static const struct {
    size_t      n;
    const char* bytes;
  } cases[] = {{4, "\xff\xff\xff\xff"}, /* counts far beyond the bytes */
               {9, "\x80\0\0\0"
                   "\0\0\0\0\0"},
               {9, "\0\0\0\2"
                   "\0\0\0\0\0"},
               {9, "\0\0\0\1"
                   "abcde"}, /* a key without an end */
               {10, "\0\0\0\1"
                    "abcde\0"}, /* a key without a hash */
               {13, "\0\0\0\1"
                    "abcde\0\0\0\0"}, /* a count cut short */
               {14, "\0\0\0\1"
                    "a\0\xff\xff\xff\xff"
                    "b\0\0\0"}, /* a hostile count below */
               {15, "\0\0\0\2"
                    "a\0\0\0\0\0"
                    "b\0\0\0\0"}};
  scr_hash* h = scr_hash_new();
  size_t    i, used = 99;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    char* p = (char*)malloc(cases[i].n);
    memcpy(p, cases[i].bytes, cases[i].n);
    CHECK_INT(scr_hash_unpack(p, cases[i].n, &used, h), SCR_ERR_FORMAT);
    free(p);
  }
  CHECK_INT(scr_hash_unpack("", 0, &used, h), SCR_ERR_FORMAT);
  CHECK_INT(used, 99);
  CHECK_INT(hash_deep(SCR_HASH_DEPTH), SCR_SUCCESS);
  CHECK_INT(hash_deep(SCR_HASH_DEPTH + 1), SCR_ERR_FORMAT);
  CHECK_INT(hash_deep(1000000), SCR_ERR_FORMAT);

  scr_hash_unset_all(h); /* one key twice: merged */
  CHECK_INT(scr_hash_unpack("\0\0\0\2a\0\0\0\0\1x\0\0\0\0\0a\0\0\0\0\1y\0\0\0\0\0", 28, &used, h), SCR_SUCCESS);
  CHECK(used == 28 && scr_hash_size(h) == 1);
  CHECK_STR(hash_keys(scr_hash_get(h, "a")), "x y");
  scr_hash_delete(&h);
}

/* Every allocation fails once: no crash, no leak, and a structure that lacks a part is known as such (E2). */
static void test_hash_memory(void)
{
  long n;

  for (n = 0;; n++) {
    scr_hash *h = scr_hash_new(), *copy, *back = scr_hash_new();
    int       i;
    size_t    used;

    check_alloc_hit = 0;
    check_alloc_left = n;
    for (i = 0; i < 20; i++) scr_hash_util_set_int(scr_hash_set_kv_int(h, "RANK", i), "X", i);
    scr_hash_setf(h, scr_hash_new(), "%s %d %s", "RANK", 3, "Y");
    copy = scr_hash_dup(h);
    scr_hash_sort_int(scr_hash_get(copy, "RANK"), SCR_HASH_SORT_DESCENDING);
    if (scr_hash_unpack(hash_golden, sizeof hash_golden, &used, back) == SCR_SUCCESS)
      CHECK(scr_hash_pack_size(back) == sizeof hash_golden || scr_oom);
    scr_hash_unset_all(back);
    check_alloc_left = -1;
    if (check_alloc_hit && !scr_oom) CHECK(hash_same(h, copy)); /* an index that failed is only slower */
    if (!check_alloc_hit) CHECK(scr_hash_size(scr_hash_get(copy, "RANK")) == 20);
    scr_hash_delete(&h);
    scr_hash_delete(&copy);
    scr_hash_delete(&back);
    scr_oom = 0;
    if (!check_alloc_hit) break;
  }
  CHECK(n > 200);
}

static void test_hash(void)
{
  test_hash_elements();
  test_hash_null();
  test_hash_pairs();
  test_hash_format();
  test_hash_order();
  test_hash_merge();
  test_hash_fields();
  test_hash_bad_fields();
  test_hash_many();
  test_hash_random();
  test_hash_pack();
  test_hash_hostile();
  test_hash_memory();
}
