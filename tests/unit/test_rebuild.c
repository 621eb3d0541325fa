/*
** Rebuild over files: sets that a plain encoder makes, byte by byte from the definition, lose what they can and more.
*/

enum { REBUILD_MEMBERS = 7, REBUILD_MOST = 40, REBUILD_FILES = 512 }; /* in every subset; at all; files */

/* A file of a set as it was, and where. */
typedef struct {
  char           path[SCR_MAX_FILENAME];
  unsigned char* p;
  size_t         n;
  int            member, red;
} rebuild_file;

typedef struct {
  const char* name;
  int (*files)(int r);
  int (*size)(int r, int i);
  const char* file; /* format with rank and number */
} rebuild_shape;

static struct {
  scr_scheme           type;
  int                  n, k, apart, count, crc; /* apart: each member has a directory of its own */
  const rebuild_shape* shape;
  rebuild_file         file[REBUILD_FILES];
  char*                red[REBUILD_MOST]; /* paths of the redundancy files */
} rebuilt;

static int rebuild_rank(int r)
{
  return 5 + 3 * r;
}

/* ---- the encoder ---- */

static unsigned char rebuild_times(unsigned a, unsigned b)
{
  unsigned p = 0;

  for (; b != 0; b >>= 1) {
    if (b & 1) p ^= a;
    a = a << 1 ^ (a & 0x80 ? 0x11d : 0);
  }
  return (unsigned char)p;
}

/* Byte AT of the stream of member R. */
static unsigned char rebuild_byte(int r, size_t at)
{
  int i;

  for (i = 0; i < rebuilt.count; i++) {
    const rebuild_file* f = &rebuilt.file[i];
    if (f->member != r || f->red) continue;
    if (at < f->n) return f->p[at];
    at -= f->n;
  }
  return 0;
}

static size_t rebuild_total(int r)
{
  size_t n = 0;
  int    i;

  for (i = 0; i < rebuilt.count; i++)
    if (rebuilt.file[i].member == r && !rebuilt.file[i].red) n += rebuilt.file[i].n;
  return n;
}

static size_t rebuild_chunk(void)
{
  size_t most = 0;
  int    r, parts = rebuilt.type == SCR_SCHEME_PARTNER ? 1 : rebuilt.n - rebuilt.k;

  for (r = 0; r < rebuilt.n; r++)
    if (rebuild_total(r) > most) most = rebuild_total(r);
  return most == 0 ? 1 : (most + (size_t)parts - 1) / (size_t)parts;
}

/* Byte AT of parity E of position C: the members C, C-1, ... hold parities there, the others their next chunk. */
static unsigned char rebuild_parity(const unsigned char* matrix, int c, int e, size_t at)
{
  int           n = rebuilt.n, k = rebuilt.k, s, b, before;
  unsigned char sum = 0;

  for (s = 0; s < n; s++) {
    if ((c - s + n) % n < k) continue;
    for (b = 0, before = 0; b < c; b++) before += (b - s + n) % n >= k;
    sum ^= rebuild_times(matrix[e * n + s], rebuild_byte(s, (size_t)before * rebuild_chunk() + at));
  }
  return sum;
}

/* What follows the header of member R. */
static void rebuild_redundancy(int r, scr_buf* b)
{
  unsigned char matrix[REBUILD_MOST * REBUILD_MOST], byte;
  int           left = (r - 1 + rebuilt.n) % rebuilt.n, e;
  size_t        at;

  if (rebuilt.type == SCR_SCHEME_PARTNER) {
    for (at = 0; at < rebuild_total(left); at++) {
      byte = rebuild_byte(left, at);
      scr_buf_add(b, &byte, 1);
    }
    return;
  }
  CHECK_INT(scr_rs_matrix(rebuilt.n, rebuilt.k, matrix), SCR_SUCCESS);
  for (e = 0; e < rebuilt.k; e++)
    for (at = 0; at < rebuild_chunk(); at++) {
      byte = rebuild_parity(matrix, (r + e) % rebuilt.n, e, at);
      scr_buf_add(b, &byte, 1);
    }
}

/* ---- the headers ---- */

static const char* rebuild_dir(int r)
{
  static char dir[256];
  snprintf(dir, sizeof dir, rebuilt.apart ? "%s/set.%d" : "%s/set", check_dir, rebuilt.apart ? r : 0);
  return dir;
}

static scr_hash* rebuild_current(int r)
{
  scr_hash* h = scr_hash_new();
  int       i, n = 0;

  scr_hash_util_set_int(h, "RANK", rebuild_rank(r));
  scr_hash_util_set_int(h, "FILES", rebuilt.shape->files(r));
  for (i = 0; i < rebuilt.count; i++) {
    const rebuild_file* f = &rebuilt.file[i];
    scr_hash*           meta;
    if (f->member != r || f->red) continue;
    meta = scr_hash_set_kv_int(h, "FILE", n++);
    scr_hash_util_set_str(meta, "FILE", f->path + strlen(rebuild_dir(r)) + 1);
    scr_hash_util_set_str(meta, "TYPE", "FULL");
    scr_hash_util_set_int(meta, "COMPLETE", 1);
    scr_hash_util_set_bytecount(meta, "SIZE", f->n);
    if (rebuilt.crc) scr_hash_util_set_crc32_fixed(meta, "CRC", crc32(0, f->p, (uInt)f->n));
  }
  return h;
}

static scr_hash* rebuild_header(int r)
{
  scr_hash *h = scr_hash_new(), *desc = scr_hash_new();
  char      key[32];
  int       i;

  scr_hash_util_set_int(desc, "ID", 7);
  scr_hash_util_set_str(desc, "NAME", "ckpt 7");
  scr_hash_util_set_int(desc, "FLAG_CKPT", 1);
  scr_hash_util_set_int(desc, "FLAG_OUTPUT", 0);
  scr_hash_util_set_int64(desc, "CREATED", INT64_C(1700000000123456));
  scr_hash_util_set_str(desc, "NONCE", "000000000000feed");
  scr_hash_util_set_int(desc, "CKPT", 7);
  scr_hash_util_set_int(desc, "RANKS", 999);
  scr_hash_util_set_int(desc, "COMPLETE", 1);
  scr_hash_util_set_bytecount(desc, "SIZE", 123456);
  scr_hash_util_set_int(desc, "FILES", 78);
  scr_hash_set(h, "DSET", desc);
  scr_hash_util_set_int(h, "RANKS", 999);
  scr_hash_util_set_str(h, "TYPE", scr_scheme_name(rebuilt.type));
  scr_hash_util_set_int(h, "FAILURES", rebuilt.k);
  scr_hash_setf(h, NULL, "GROUP RANKS %d", rebuilt.n);
  for (i = 0; i < rebuilt.n; i++) scr_hash_setf(h, NULL, "GROUP RANK %d %d", i, rebuild_rank(i));
  scr_hash_util_set_bytecount(h, "CHUNK", rebuild_chunk());
  scr_hash_set(h, "CURRENT", rebuild_current(r));
  scr_hash_set(h, "PARTNER", rebuild_current((r - 1 + rebuilt.n) % rebuilt.n));
  for (i = 2; i <= rebuilt.k; i++) {
    snprintf(key, sizeof key, "PARTNER_%d", i);
    scr_hash_set(h, key, rebuild_current((r - i + rebuilt.n) % rebuilt.n));
  }
  return h;
}

/* ---- sets on the disk ---- */

static void rebuild_put(const rebuild_file* f)
{
  char dir[SCR_MAX_FILENAME];

  snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(f->path, '/') - f->path), f->path);
  CHECK_INT(scr_mkdirs(dir, 0755), SCR_SUCCESS);
  check_put(f->path, f->p, f->n);
}

static rebuild_file* rebuild_new_file(int r, int red, size_t n)
{
  rebuild_file* f = &rebuilt.file[rebuilt.count++];

  f->member = r;
  f->red = red;
  f->n = n;
  f->p = (unsigned char*)malloc(n + 1);
  return f;
}

static const char* rebuild_set_name(void)
{
  static const char* const ends[] = {"", "partner", "xor", "rs"};
  static char              name[64];
  snprintf(name, sizeof name, "of_%d_in_%d.%s", rebuilt.n, rebuild_rank(0), ends[rebuilt.type]);
  return name;
}

static void rebuild_encode(int r)
{
  scr_buf       b = {NULL, 0, 0, 0};
  scr_hash*     h = rebuild_header(r);
  rebuild_file* f;

  CHECK_INT(scr_hash_image(h, &b), SCR_SUCCESS);
  rebuild_redundancy(r, &b);
  f = rebuild_new_file(r, 1, b.n);
  memcpy(f->p, b.p, b.n);
  snprintf(f->path, sizeof f->path, "%s/.scr/%d_%s", rebuild_dir(r), r + 1, rebuild_set_name());
  rebuilt.red[r] = f->path;
  scr_hash_delete(&h);
  scr_buf_free(&b);
}

static void rebuild_free(void)
{
  char dir[SCR_MAX_FILENAME];
  int  i;

  for (i = 0; i < rebuilt.count; i++) free(rebuilt.file[i].p);
  for (i = 0; i < REBUILD_MEMBERS; i++) {
    snprintf(dir, sizeof dir, "%s/set.%d", check_dir, i);
    nftw(dir, check_remove, 16, FTW_DEPTH | FTW_PHYS);
  }
  nftw(check_path("set"), check_remove, 16, FTW_DEPTH | FTW_PHYS);
  rebuilt.count = 0;
}

/* Make a set of N members on the disk and in memory. */
static void rebuild_make(const rebuild_shape* shape, scr_scheme type, int n, int k, int apart)
{
  int r, i, b;

  rebuilt.type = type;
  rebuilt.n = n;
  rebuilt.k = k;
  rebuilt.apart = apart;
  rebuilt.shape = shape;
  rebuilt.count = 0;
  for (r = 0; r < n; r++)
    for (i = 0; i < shape->files(r); i++) {
      rebuild_file* f = rebuild_new_file(r, 0, (size_t)shape->size(r, i));
      int           at = snprintf(f->path, sizeof f->path, "%s/", rebuild_dir(r));
      snprintf(f->path + at, sizeof f->path - (size_t)at, shape->file, rebuild_rank(r), i);
      for (b = 0; b < (int)f->n; b++) f->p[b] = (unsigned char)(b * 31 + (b >> 8) * 7 + r * 101 + i * 13 + 5);
    }
  for (r = 0; r < n; r++) rebuild_encode(r);
  for (i = 0; i < rebuilt.count; i++) rebuild_put(&rebuilt.file[i]);
}

static size_t rebuild_read(const char* path, unsigned char* p, size_t n)
{
  FILE*  f = fopen(path, "rb");
  size_t got = f != NULL ? fread(p, 1, n, f) : SIZE_MAX;

  if (f != NULL) fclose(f);
  return got;
}

static int rebuild_is_whole(const rebuild_file* f)
{
  static unsigned char p[1 << 17];
  return rebuild_read(f->path, p, sizeof p) == f->n && memcmp(p, f->p, f->n) == 0;
}

/* The files that are on the disk as they should be; those of the members in MASK are counted apart. */
static int rebuild_whole(unsigned mask, int* of_mask)
{
  int i, whole = 0;

  *of_mask = 0;
  for (i = 0; i < rebuilt.count; i++) {
    if (!rebuild_is_whole(&rebuilt.file[i])) continue;
    if ((uint64_t)mask >> rebuilt.file[i].member & 1) *of_mask += 1;
    else whole++;
  }
  return whole;
}

/* Names in the .scr directories that do not belong there. */
static int rebuild_litter(void)
{
  int r, n = 0;

  for (r = 0; r < (rebuilt.apart ? rebuilt.n : 1); r++) {
    char           dir[SCR_MAX_FILENAME + 8];
    struct dirent* e;
    DIR*           d;
    snprintf(dir, sizeof dir, "%s/.scr", rebuild_dir(r));
    if ((d = opendir(dir)) == NULL) continue;
    while ((e = readdir(d)) != NULL) n += strstr(e->d_name, ".new.") != NULL;
    closedir(d);
  }
  return n;
}

/* Remove files of the members in MASK: of application and library, as DATA and RED say; how many there were. */
static int rebuild_lose(unsigned mask, int data, int red)
{
  int i, n = 0;

  for (i = 0; i < rebuilt.count; i++) {
    const rebuild_file* f = &rebuilt.file[i];
    if (!((uint64_t)mask >> f->member & 1) || !(f->red ? red : data)) continue;
    CHECK_INT(unlink(f->path), 0);
    n++;
  }
  return n;
}

/* Put back what is not as it was. */
static void rebuild_restore(void)
{
  int i;
  for (i = 0; i < rebuilt.count; i++)
    if (!rebuild_is_whole(&rebuilt.file[i])) rebuild_put(&rebuilt.file[i]);
}

static int rebuild_run_job(scr_rebuild* job)
{
  scr_err_text[0] = '\0';
  job->n = rebuilt.n;
  job->file = rebuilt.red;
  return scr_rebuild_run(job);
}

static int rebuild_run(void)
{
  scr_rebuild job;

  memset(&job, 0, sizeof job);
  return rebuild_run_job(&job);
}

static int rebuild_bits(unsigned mask)
{
  int n = 0;
  for (; mask != 0; mask >>= 1) n += mask & 1;
  return n;
}

/* Can the set bear that the members in MASK lose all? */
static int rebuild_bears(unsigned mask)
{
  if (rebuilt.type != SCR_SCHEME_PARTNER) return rebuild_bits(mask) <= rebuilt.k;
  return (mask & (mask << 1 | mask >> (rebuilt.n - 1)) & ((1u << rebuilt.n) - 1)) == 0;
}

/* The members in MASK lose all; what can be found must come back to the byte, and else nothing may change. */
static void rebuild_try(unsigned mask, int data, int red)
{
  int lost = rebuild_lose(mask, data, red), bears = rebuild_bears(mask), of_mask, rc = rebuild_run();

  if (rc != (bears || lost == 0 ? SCR_SUCCESS : SCR_ERR_LOST))
    printf("%s %s n=%d k=%d mask 0x%x: %d\n", rebuilt.shape->name, rebuild_set_name(), rebuilt.n, rebuilt.k, mask, rc);
  CHECK(rc == (bears || lost == 0 ? SCR_SUCCESS : SCR_ERR_LOST));
  CHECK_INT(rebuild_whole(mask, &of_mask) + of_mask, rebuilt.count - (bears ? 0 : lost));
  CHECK_INT(rebuild_litter(), 0);
  if (rc != SCR_SUCCESS) CHECK(*scr_err_text != '\0');
  if (rc != SCR_SUCCESS) rebuild_restore();
}

/* ---- shapes ---- */

static int rebuild_two(int r)
{
  (void)r;
  return 2;
}

static int rebuild_odd_only(int r)
{
  return r % 2;
}

static int rebuild_many(int r)
{
  return r == 1 ? 300 : 2;
}

static int rebuild_size_odd(int r, int i)
{
  return 301 + 57 * r + 11 * i;
}

static int rebuild_size_equal(int r, int i)
{
  (void)r, (void)i;
  return 256;
}

static int rebuild_size_one(int r, int i)
{
  (void)r, (void)i;
  return 1;
}

static int rebuild_size_zero(int r, int i)
{
  (void)r, (void)i;
  return 0;
}

static int rebuild_size_unequal(int r, int i)
{
  return r == 2 ? 30011 + i : 300 + r;
}

static int rebuild_size_small(int r, int i)
{
  return (r * 31 + i * 17) % 23;
}

static const rebuild_shape rebuild_shapes[] = {
    {"odd", rebuild_two, rebuild_size_odd, "ck/rank_%d.%d"},
    {"equal", rebuild_two, rebuild_size_equal, "rank_%d.%d"},
    {"one", rebuild_two, rebuild_size_one, "rank_%d.%d"},
    {"zero", rebuild_two, rebuild_size_zero, "rank_%d.%d"},
    {"unequal", rebuild_two, rebuild_size_unequal, "rank_%d.%d"},
    {"none on some", rebuild_odd_only, rebuild_size_odd, "rank_%d.%d"},
    {"many", rebuild_many, rebuild_size_small, "rank_%d.%d"},
    {"names", rebuild_two, rebuild_size_odd, "dir of %d/sub/\xc3\xa9t\xc3\xa9 \xe2\x82\xac %d"}};

#define REBUILD_SHAPES ((int)(sizeof rebuild_shapes / sizeof *rebuild_shapes))

/* Every set of up to one member more than the scheme bears. */
static void rebuild_every_subset(scr_scheme type, int n, int k, int apart)
{
  unsigned mask;
  int      most = type == SCR_SCHEME_PARTNER ? n : k + 1;

  rebuild_make(&rebuild_shapes[0], type, n, k, apart);
  for (mask = 0; mask < 1u << n; mask++)
    if (rebuild_bits(mask) <= most) rebuild_try(mask, 1, 1);
  rebuild_free();
}

static void test_rebuild_subsets(void)
{
  int n, k;

  for (n = 2; n <= REBUILD_MEMBERS; n++) {
    rebuild_every_subset(SCR_SCHEME_XOR, n, 1, 0);
    rebuild_every_subset(SCR_SCHEME_PARTNER, n, 1, 1);
    for (k = 1; k <= 4 && k < n; k++) rebuild_every_subset(SCR_SCHEME_RS, n, k, (n + k) % 2);
  }
}

static void test_rebuild_shapes(void)
{
  static const struct {
    scr_scheme type;
    int        n, k;
    unsigned   mask[3];
  } sets[] = {{SCR_SCHEME_XOR, 4, 1, {0x1, 0x2, 0x4}},
              {SCR_SCHEME_PARTNER, 4, 1, {0x5, 0xa, 0x4}},
              {SCR_SCHEME_RS, 5, 2, {0x3, 0x14, 0x11}}};
  int i, s, m;

  for (i = 1; i < REBUILD_SHAPES; i++)
    for (s = 0; s < 3; s++) {
      rebuild_make(&rebuild_shapes[i], sets[s].type, sets[s].n, sets[s].k, i % 2);
      for (m = 0; m < 3; m++) {
        rebuild_try(sets[s].mask[m], 1, 1);
        if (m == 0) rebuild_try(sets[s].mask[m], 1, 0);
        if (m == 0) rebuild_try(sets[s].mask[m], 0, 1);
      }
      rebuild_free();
    }
}

/* ---- some files of a member ---- */

/* The I-th file of member R. */
static rebuild_file* rebuild_find_file(int r, int red, int i)
{
  rebuild_file* f = rebuilt.file;

  while (f->member != r || f->red != red || i-- > 0) f++;
  return f;
}

static ino_t rebuild_inode(const char* path)
{
  struct stat st;
  return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* Write the file F with one bit flipped, or SHORTER bytes less. */
static void rebuild_spoil(const rebuild_file* f, size_t bit, size_t shorter)
{
  f->p[bit / 8] ^= (unsigned char)(1 << bit % 8);
  check_put(f->path, f->p, f->n - shorter);
  f->p[bit / 8] ^= (unsigned char)(1 << bit % 8);
}

static int rebuild_said;

static void rebuild_say(const char* what)
{
  CHECK(*what != '\0');
  rebuild_said++;
}

/*
** The set must be rebuilt to the byte, of which LOST files were not right; a dry run says so first, and changes
** nothing.
*/
static void rebuild_expect_whole(int lost)
{
  scr_rebuild job;
  int         none, whole = rebuild_whole(0, &none);

  memset(&job, 0, sizeof job);
  job.dry_run = 1;
  job.say = rebuild_say;
  rebuild_said = 0;
  CHECK_INT(rebuild_run_job(&job), SCR_SUCCESS);
  CHECK_INT(job.lost, lost);
  CHECK_INT(rebuild_said, lost);
  CHECK_INT(rebuild_whole(0, &none), whole);
  job.dry_run = 0;
  CHECK_INT(rebuild_run_job(&job), SCR_SUCCESS);
  CHECK_INT(job.lost, lost);
  CHECK_INT(rebuild_said, 3 * lost);
  CHECK_INT(rebuild_whole(0, &none), rebuilt.count);
  CHECK_INT(rebuild_litter(), 0);
}

static void test_rebuild_parts(void)
{
  static const struct {
    scr_scheme type;
    int        n, k;
  } sets[] = {{SCR_SCHEME_XOR, 4, 1}, {SCR_SCHEME_PARTNER, 4, 1}, {SCR_SCHEME_RS, 5, 2}};
  int i, bit;

  for (i = 0; i < 3; i++) {
    ino_t other;
    rebuild_make(&rebuild_shapes[0], sets[i].type, sets[i].n, sets[i].k, 1);
    other = rebuild_inode(rebuild_find_file(1, 0, 0)->path);
    unlink(rebuild_find_file(1, 0, 1)->path);
    rebuild_expect_whole(1);
    CHECK(other == rebuild_inode(rebuild_find_file(1, 0, 0)->path)); /* what is not lost stays */
    unlink(rebuild_find_file(1, 1, 0)->path);
    unlink(rebuild_find_file(3, 1, 0)->path);
    rebuild_expect_whole(2);
    for (bit = 0; bit < 2000; bit += 499) {
      rebuild_spoil(rebuild_find_file(2, 0, 0), (size_t)bit, 0);
      rebuild_expect_whole(1);
      rebuild_spoil(rebuild_find_file(0, 1, 0), (size_t)bit, 0); /* in the header, which has a checksum */
      rebuild_expect_whole(1);
    }
    rebuild_spoil(rebuild_find_file(2, 0, 0), 0, 1);
    rebuild_expect_whole(1);
    rebuild_spoil(rebuild_find_file(0, 1, 0), 0, 0);
    rebuild_expect_whole(1);
    check_put(rebuild_find_file(0, 1, 0)->path, rebuild_find_file(0, 1, 0)->p, rebuild_find_file(0, 1, 0)->n - 1);
    rebuild_expect_whole(1);
    check_put(rebuild_find_file(0, 1, 0)->path, "", 0);
    rebuild_expect_whole(1);
    unlink(rebuild_find_file(1, 0, 0)->path);
    mkdir(rebuild_find_file(1, 0, 0)->path, 0700); /* no plain file, and empty directories cannot be replaced */
    CHECK(rebuild_run() != SCR_SUCCESS);
    CHECK_INT(rebuild_litter(), 0);
    rmdir(rebuild_find_file(1, 0, 0)->path);
    rebuild_expect_whole(1);
    rebuild_free();
  }
}

/* A redundancy file whose bytes are wrong must not make wrong files. */
static void test_rebuild_wrong_parity(void)
{
  static const scr_scheme types[] = {SCR_SCHEME_XOR, SCR_SCHEME_PARTNER, SCR_SCHEME_RS};
  int                     i, none;

  for (i = 0; i < 3; i++) {
    rebuild_file* red;
    rebuild_make(&rebuild_shapes[0], types[i], 4, 1, 0);
    red = rebuild_find_file(2, 1, 0);
    rebuild_spoil(red, 8 * (red->n - 3), 0);
    unlink(rebuild_find_file(1, 0, 0)->path);
    unlink(rebuild_find_file(1, 0, 1)->path);
    CHECK_INT(rebuild_run(), SCR_ERR_CRC);
    CHECK_INT(rebuild_whole(0, &none), rebuilt.count - 3);
    CHECK_INT(rebuild_litter(), 0);
    rebuild_free();
  }
}

/* One file and one redundancy file are lost, and a third member's is corrupt: it is found, and all is as it was. */
static void test_rebuild_excluded(void)
{
  int r, none;

  for (r = 0; r < 5; r++) {
    rebuild_file* red;
    if (r == 1 || r == 3) continue;
    rebuild_make(&rebuild_shapes[0], SCR_SCHEME_RS, 5, 3, 0);
    red = rebuild_find_file(r, 1, 0);
    rebuild_spoil(red, 8 * (red->n / 2), 0);
    rebuild_spoil(red, 8 * (red->n - 3), 0);
    unlink(rebuild_find_file(1, 0, 0)->path);
    unlink(rebuild_find_file(3, 1, 0)->path);
    CHECK_INT(rebuild_run(), SCR_SUCCESS);
    CHECK(rebuild_whole(0, &none) >= rebuilt.count - 1); /* a corrupt part that nobody needs stays as it is */
    CHECK(rebuild_is_whole(rebuild_find_file(1, 0, 0)) && rebuild_is_whole(rebuild_find_file(3, 1, 0)));
    CHECK_INT(rebuild_litter(), 0);
    rebuild_free();
  }
}

/* Without checksums a file counts by its size. */
static void test_rebuild_no_crc(void)
{
  rebuild_file* f;
  scr_rebuild   job;
  int           none;

  rebuilt.crc = 0;
  rebuild_make(&rebuild_shapes[0], SCR_SCHEME_RS, 4, 2, 0);
  rebuild_try(0x3, 1, 1);
  f = rebuild_find_file(2, 0, 0);
  rebuild_spoil(f, 77, 0);
  CHECK_INT(rebuild_run(), SCR_SUCCESS);
  CHECK_INT(rebuild_whole(0, &none), rebuilt.count - 1);
  rebuild_spoil(f, 0, 1);
  memset(&job, 0, sizeof job);
  CHECK_INT(rebuild_run_job(&job), SCR_SUCCESS);
  CHECK_INT(job.unproven, 1);
  rebuild_expect_whole(0);
  rebuild_free();
  rebuilt.crc = 1;
}

/* ---- many members ---- */

static int rebuild_one(int r)
{
  (void)r;
  return 1;
}

static const rebuild_shape rebuild_tiny = {"tiny", rebuild_one, rebuild_size_small, "rank_%d.%d"};

/* More members than keep their files open. */
static void test_rebuild_wide(void)
{
  rebuild_make(&rebuild_tiny, SCR_SCHEME_XOR, REBUILD_MOST, 1, 0);
  rebuild_try(0x10, 1, 1);
  rebuild_free();
  rebuild_make(&rebuild_tiny, SCR_SCHEME_RS, REBUILD_MOST, 3, 0);
  rebuild_try(0x13, 1, 1);
  rebuild_free();
}

/* ---- names and directories ---- */

static void test_rebuild_names(void)
{
  static const char* const bad[] = {"1_of_4_in_5.xo",     "01_of_4_in_5.xor", "0_of_4_in_5.xor",
                                    "5_of_4_in_5.xor",    "1_of_4_in_5",      "1_of_4_in_5.xor~",
                                    "1_of_9999_in_5.xor", " 1_of_4_in_5.xor", "1_of_4_in_+5.xor"};
  scr_scheme               type;
  int                      i, r, n, group;

  CHECK(scr_set_file_parse("3_of_8_in_12.rs", &type, &r, &n, &group) && type == SCR_SCHEME_RS && r == 2 && n == 8 &&
        group == 12);
  for (i = 0; i < (int)(sizeof bad / sizeof *bad); i++) CHECK(!scr_set_file_parse(bad[i], &type, &r, &n, &group));
}

/* The sets of several directories: found, and their members rebuilt where they were, or in a new place. */
static void test_rebuild_dirs(void)
{
  char             path[4][256], into[256];
  const char*      dir[4];
  scr_rebuild_sets sets;
  scr_rebuild      job;
  int              r, none;

  memset(&sets, 0, sizeof sets);
  rebuild_make(&rebuild_shapes[0], SCR_SCHEME_RS, 4, 2, 1);
  for (r = 0; r < 4; r++) {
    snprintf(path[r], sizeof path[r], "%s", rebuild_dir(r));
    dir[r] = path[r];
  }
  snprintf(into, sizeof into, "%s", check_path("set"));
  memset(&job, 0, sizeof job);
  job.dirs = 4;
  job.dir = dir;
  rebuild_lose(0x1, 1, 1);
  rebuild_lose(0x2, 0, 1);
  for (r = 0; r < 4; r++) CHECK_INT(scr_rebuild_find(dir[r], &sets), SCR_SUCCESS);
  CHECK_INT(sets.n, 1);
  CHECK_STR(sets.n > 0 ? sets.name[0] : "", rebuild_set_name());
  CHECK_INT(scr_rebuild_set(&job, rebuild_set_name(), into), SCR_SUCCESS);
  CHECK_INT(job.lost, 4); /* two files and two redundancy files */
  CHECK_INT(rebuild_whole(0, &none), rebuilt.count - 3);
  for (r = 0; r < rebuilt.count; r++) /* member 1 has its redundancy file again, member 0 has moved */
    if (rebuilt.file[r].member == 0) {
      char rel[256];
      snprintf(rel, sizeof rel, "%.255s", rebuilt.file[r].path + strlen(path[0]));
      snprintf(rebuilt.file[r].path, sizeof rebuilt.file[r].path, "%s%s", into, rel);
    }
  CHECK_INT(rebuild_whole(0, &none), rebuilt.count);
  CHECK_INT(scr_rebuild_set(&job, rebuild_set_name(), into), SCR_SUCCESS);
  dir[0] = into;
  CHECK_INT(scr_rebuild_set(&job, rebuild_set_name(), path[0]), SCR_SUCCESS);
  CHECK_INT(job.lost, 0);
  CHECK_INT(scr_rebuild_set(&job, "of_1_in_3.xor", into), SCR_ERR_ARG);
  CHECK_INT(scr_rebuild_set(&job, "of_4_in_99.xor", into), SCR_ERR_LOST);
  scr_rebuild_sets_free(&sets);
  rebuild_free();
}

/* ---- headers that lie ---- */

/* Write the redundancy file of member R with the header H, which is consumed. */
static void rebuild_forge(int r, scr_hash* h)
{
  const rebuild_file* f = rebuild_find_file(r, 1, 0);
  scr_buf             b = {NULL, 0, 0, 0};
  size_t              head;

  head = (size_t)scr_get_be((const char*)f->p + 8, 8);
  CHECK_INT(scr_hash_image(h, &b), SCR_SUCCESS);
  scr_buf_add(&b, f->p + head, f->n - head);
  check_put(f->path, b.p, b.n);
  scr_buf_free(&b);
  scr_hash_delete(&h);
}

/*
** With VALUE at the key that FORMAT names in the headers of the members in MASK, a lost member 1 must not be rebuilt.
*/
static void rebuild_lie(unsigned mask, const char* format, const char* value)
{
  char path[256], *key, *last = path;
  int  r, rc, none, litter;

  for (r = 0; r < rebuilt.n; r++) {
    scr_hash *h = rebuild_header(r), *at = h;
    if (!(mask >> r & 1)) {
      scr_hash_delete(&h);
      continue;
    }
    snprintf(path, sizeof path, "%s", format);
    for (last = key = strtok(path, " "); (key = strtok(NULL, " ")) != NULL; last = key) at = scr_hash_get(at, last);
    CHECK(at != NULL);
    scr_hash_unset(at, last);
    if (value != NULL) scr_hash_util_set_str(at, last, value);
    rebuild_forge(r, h);
  }
  rebuild_lose(0x2, 1, 1);
  rc = rebuild_run();
  litter = rebuild_litter();
  if (rc != SCR_ERR_FORMAT && rc != SCR_ERR_LOST)
    printf("mask 0x%x, %s = %s: %d\n", mask, format, value ? value : "nothing", rc);
  CHECK(rc == SCR_ERR_FORMAT || rc == SCR_ERR_LOST);
  CHECK(*scr_err_text != '\0');
  CHECK_INT(litter, 0);
  CHECK(rebuild_whole(0x2, &none) >= rebuilt.count - 3 - rebuild_bits(mask));
  CHECK_INT(none, 0);
  rebuild_restore();
}

static const struct {
  const char *format, *value;
} rebuild_lies[] = {{"TYPE", "SINGLE"},
                    {"TYPE", "NONE"},
                    {"TYPE", "PARTNER"},
                    {"FAILURES", "0"},
                    {"FAILURES", "-1"},
                    {"FAILURES", "4"},
                    {"FAILURES", "2000000000"},
                    {"FAILURES", "99999999999999999999"},
                    {"FAILURES", "x"},
                    {"CHUNK", "0"},
                    {"CHUNK", "-1"},
                    {"CHUNK", "1"},
                    {"CHUNK", "18446744073709551615"},
                    {"CHUNK", "9223372036854775807"},
                    {"CHUNK", "4000000000000000000"},
                    {"CHUNK", NULL},
                    {"GROUP", NULL},
                    {"GROUP RANKS", "-4"},
                    {"GROUP RANKS", "3"},
                    {"GROUP RANKS", "2000000000"},
                    {"GROUP RANK", NULL},
                    {"GROUP RANK 0", "-5"},
                    {"GROUP RANK 1", "999"},
                    {"GROUP RANK 1", "11"},
                    {"GROUP RANK 2", "8"},
                    {"GROUP RANK 3", "2000000000"},
                    {"DSET", NULL},
                    {"DSET ID", "8"},
                    {"DSET NONCE", "1"},
                    {"DSET NONCE", "nonsense"},
                    {"CURRENT", NULL},
                    {"CURRENT RANK", "8"},
                    {"CURRENT FILES", "-1"},
                    {"CURRENT FILES", "1"},
                    {"CURRENT FILES", "2000000000"},
                    {"CURRENT FILE", NULL},
                    {"CURRENT FILE 1 SIZE", NULL},
                    {"CURRENT FILE 1 SIZE", "-1"},
                    {"CURRENT FILE 1 SIZE", "18446744073709551615"},
                    {"CURRENT FILE 0 FILE", "rank_5.1"},
                    {"CURRENT FILE 0 FILE", "../up"},
                    {"PARTNER", NULL},
                    {"PARTNER RANK", "5"},
                    {"PARTNER FILES", "3"},
                    {"PARTNER FILE 0 FILE", "../up"},
                    {"PARTNER FILE 0 FILE", "/tmp/scr_absolute"},
                    {"PARTNER FILE 0 FILE", "a/../../up"},
                    {"PARTNER FILE 0 FILE", "."},
                    {"PARTNER FILE 0 FILE", ""},
                    {"PARTNER FILE 0 FILE", NULL},
                    {"PARTNER FILE 0 FILE", ".scr/1_of_4_in_5.xor"},
                    {"PARTNER FILE 0 FILE", "rank_11.0"},
                    {"PARTNER FILE 1 SIZE", "18446744073709551000"},
                    {"PARTNER FILE 1 SIZE", "4611686018427387904"},
                    {"PARTNER FILE 1 SIZE", "1e9"}};

/* A lie in all headers, in the one that tells of the lost member, and in another; and the dataset stays as it is. */
static void test_rebuild_lies(void)
{
  int i;

  rebuild_make(&rebuild_shapes[1], SCR_SCHEME_XOR, 4, 1, 0);
  for (i = 0; i < (int)(sizeof rebuild_lies / sizeof *rebuild_lies); i++) {
    int one = strncmp(rebuild_lies[i].format, "PARTNER", 7) == 0;
    if (strncmp(rebuild_lies[i].format, "DSET ", 5) != 0)
      rebuild_lie(0xd, rebuild_lies[i].format, rebuild_lies[i].value);
    rebuild_lie(0x4, rebuild_lies[i].format, rebuild_lies[i].value);
    if (!one) rebuild_lie(0x1, rebuild_lies[i].format, rebuild_lies[i].value);
  }
  rebuild_free();
}

/* A header that is cut off anywhere, or has any byte changed, is a lost file, and made anew. */
static void test_rebuild_broken_headers(void)
{
  rebuild_file* red;
  size_t        head, at;
  int           none;

  rebuild_make(&rebuild_shapes[1], SCR_SCHEME_XOR, 3, 1, 0);
  red = rebuild_find_file(1, 1, 0);
  head = (size_t)scr_get_be((const char*)red->p + 8, 8);
  for (at = 0; at < head; at += at < 24 ? 1 : 37) {
    check_put(red->path, red->p, at);
    CHECK_INT(rebuild_run(), SCR_SUCCESS);
    rebuild_spoil(red, 8 * at + at % 8, 0);
    CHECK_INT(rebuild_run(), SCR_SUCCESS);
    CHECK_INT(rebuild_whole(0, &none), rebuilt.count);
  }
  rebuild_free();
}

/* ---- calls that fail, and processes that die ---- */

static int rebuild_op(const char* arg)
{
  (void)arg;
  return rebuild_run();
}

/* Each call of a rebuild fails, or is its last: nothing that was there is harmed, and a second attempt gets it all. */
static void rebuild_struck(scr_scheme type, int n, int k, unsigned mask, int mode)
{
  int call, hit = 1, of_mask, lost, rc;

  rebuild_make(&rebuild_shapes[0], type, n, k, 1);
  for (call = 1; hit; call += check_pace(5, 1)) {
    lost = rebuild_lose(mask, 1, 1);
    if (mode == FAULT_KILL) {
      hit = check_fault_kill(call, rebuild_op, "");
    } else {
      check_fault(mode, ENOSPC, call);
      rc = rebuild_run();
      hit = check_fault_end();
      CHECK(rc == SCR_SUCCESS || *scr_err_text != '\0');
    }
    CHECK_INT(rebuild_whole(mask, &of_mask), rebuilt.count - lost);
    if (mode == FAULT_FAIL) CHECK_INT(rebuild_litter(), 0);
    CHECK_INT(rebuild_run(), SCR_SUCCESS);
    CHECK_INT(rebuild_whole(mask, &of_mask) + of_mask, rebuilt.count);
    CHECK_INT(rebuild_litter(), 0);
  }
  CHECK(call > 20);
  rebuild_free();
}

static void test_rebuild_faults(void)
{
  rebuild_struck(SCR_SCHEME_XOR, 3, 1, 0x2, FAULT_FAIL);
  rebuild_struck(SCR_SCHEME_RS, 4, 2, 0x5, FAULT_FAIL);
  rebuild_struck(SCR_SCHEME_XOR, 3, 1, 0x1, FAULT_DEAD);
  rebuild_struck(SCR_SCHEME_PARTNER, 4, 1, 0x5, FAULT_SHORT);
  rebuild_struck(SCR_SCHEME_RS, 4, 2, 0x6, FAULT_KILL);
}

/* Each allocation fails once. */
static void test_rebuild_memory(void)
{
  int n, hit = 1, none, rc;

  rebuild_make(&rebuild_shapes[0], SCR_SCHEME_RS, 4, 2, 0);
  for (n = 0; hit && n < 20000; n += 1 + n / 16) {
    rebuild_lose(0x3, 1, 1);
    check_alloc_hit = 0;
    check_alloc_left = n;
    rc = rebuild_run();
    check_alloc_left = -1;
    hit = check_alloc_hit;
    CHECK(!hit || rc == SCR_ERR_MEM);
    CHECK_INT(rebuild_litter(), 0);
    scr_oom = 0;
    if (rc != SCR_SUCCESS) CHECK_INT(rebuild_run(), SCR_SUCCESS);
    CHECK_INT(rebuild_whole(0, &none), rebuilt.count);
  }
  rebuild_free();
}

/* ---- holes ---- */

#define REBUILD_HUGE (UINT64_C(5) << 30) /* bytes of a file that is nearly all hole */

/* Some bytes on both sides of what fits in 32 bits. */
static void rebuild_huge_put(int fd)
{
  static const uint64_t at[] = {0, 4096 * 3 + 7, UINT64_C(0x7ffffff0), UINT64_C(0xfffffff5), REBUILD_HUGE - 9};
  int                   i;

  for (i = 0; i < 5; i++) CHECK_INT(pwrite(fd, "not zero", 8, (off_t)at[i]), 8);
  CHECK_INT(ftruncate(fd, (off_t)REBUILD_HUGE), 0);
}

static long long rebuild_blocks(const char* path)
{
  struct stat st;
  return stat(path, &st) == 0 ? (long long)st.st_blocks * 512 : -1;
}

/* Make a set of three, of which member 0 has a file of 5 GiB and the others an empty one; redundancy by REBUILD_RUN. */
static void rebuild_huge_make(void)
{
  static const rebuild_shape shape = {"huge", rebuild_one, rebuild_size_zero, "rank_%d.%d"};
  char                       path[SCR_MAX_FILENAME];
  uLong                      crc;
  uint64_t                   chunk = REBUILD_HUGE / 2;
  int                        r, i, fd;

  rebuild_make(&shape, SCR_SCHEME_XOR, 3, 1, 0);
  snprintf(path, sizeof path, "%s", rebuild_find_file(0, 0, 0)->path);
  fd = open(path, O_RDWR);
  rebuild_huge_put(fd);
  close(fd);
  CHECK_INT(scr_file_crc(path, REBUILD_HUGE, &crc), SCR_SUCCESS);
  for (r = 0; r < 3; r++) { /* the parities of members 1 and 2 are the halves of the file, that of member 0 is zero */
    scr_hash*   h = rebuild_header(r);
    scr_buf     b = {NULL, 0, 0, 0};
    const char* keys[] = {"CURRENT", "PARTNER"};
    scr_hash_util_set_bytecount(h, "CHUNK", chunk);
    for (i = 0; i < 2; i++) {
      scr_hash* meta = scr_hash_getf(h, "%s FILE 0", keys[i]);
      if (r != i) continue;
      scr_hash_util_set_bytecount(meta, "SIZE", REBUILD_HUGE);
      scr_hash_util_set_crc32_fixed(meta, "CRC", crc);
    }
    CHECK_INT(scr_hash_image(h, &b), SCR_SUCCESS);
    check_put(rebuilt.red[r], b.p, b.n);
    CHECK_INT(truncate(rebuilt.red[r], (off_t)(b.n + chunk)), 0);
    fd = open(rebuilt.red[r], O_RDWR);
    if (r == 1) {
      CHECK_INT(pwrite(fd, "not zero", 8, (off_t)b.n), 8);
      CHECK_INT(pwrite(fd, "not zero", 8, (off_t)b.n + 4096 * 3 + 7), 8);
      CHECK_INT(pwrite(fd, "not zero", 8, (off_t)b.n + 0x7ffffff0), 8);
    } else if (r == 2) {
      CHECK_INT(pwrite(fd, "not zero", 8, (off_t)(b.n + UINT64_C(0xfffffff5) - chunk)), 8);
      CHECK_INT(pwrite(fd, "not zero", 8, (off_t)(b.n + chunk - 9)), 8);
    }
    close(fd);
    scr_buf_free(&b);
    scr_hash_delete(&h);
  }
}

static void test_rebuild_holes(void)
{
  char        path[SCR_MAX_FILENAME];
  uLong       before[4], after[4];
  int         i, r;
  struct stat st;

  rebuild_huge_make();
  snprintf(path, sizeof path, "%s", rebuild_find_file(0, 0, 0)->path);
  if (rebuild_blocks(path) > 1 << 20) {
    check_skip("files with holes: the file system does not keep them");
    rebuild_free();
    return;
  }
  /* Lose one after the other: the file, and its halves; emulated, and with a sanitizer, the file alone. */
  for (r = 0; r < (CHECK_SLOWER > 1 ? 1 : 3); r++) {
    const char* all[] = {path, rebuilt.red[0], rebuilt.red[1], rebuilt.red[2]};
    for (i = 0; i < 4; i++) {
      CHECK_INT(stat(all[i], &st), 0);
      CHECK_INT(scr_file_crc(all[i], (uint64_t)st.st_size, &before[i]), SCR_SUCCESS);
    }
    rebuild_lose(1u << r, 1, 1);
    CHECK_INT(rebuild_run(), SCR_SUCCESS);
    for (i = 0; i < 4; i++) {
      CHECK_INT(stat(all[i], &st), 0);
      CHECK_INT(scr_file_crc(all[i], (uint64_t)st.st_size, &after[i]), SCR_SUCCESS);
      CHECK(before[i] == after[i]);
      CHECK(rebuild_blocks(all[i]) < 8 << 20);
    }
    CHECK_INT(rebuild_run(), SCR_SUCCESS);
  }
  rebuild_free();
}

/* The CRC32 of files with and without holes is that of their bytes. */
static void test_rebuild_sparse_crc(void)
{
  size_t         n = 3 << 20, i;
  unsigned char* p = (unsigned char*)calloc(1, n);
  const char*    path = check_path("sparse");
  uLong          crc;
  int            fd;

  for (i = 0; i < 2048; i++) CHECK(scr_crc32_zeros(0x12345678, i) == crc32(0x12345678, p, (uInt)i));
  for (i = 0; i < 100; i++) p[(1 << 20) + i * 997] = (unsigned char)i;
  fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK_INT(ftruncate(fd, (off_t)n), 0);
  CHECK_INT(pwrite(fd, p + (1 << 20), 100000, 1 << 20), 100000);
  close(fd);
  CHECK_INT(scr_file_crc(path, n, &crc), SCR_SUCCESS);
  CHECK(crc == crc32(0, p, (uInt)n));
  check_put(path, p, n);
  CHECK_INT(scr_file_crc(path, n, &crc), SCR_SUCCESS);
  CHECK(crc == crc32(0, p, (uInt)n));
  CHECK_INT(scr_file_crc(path, n + 1, &crc), SCR_ERR_MISSING);
  CHECK_INT(scr_file_crc(check_path("none"), 1, &crc), SCR_ERR_MISSING);
  free(p);
}

static void test_rebuild(void)
{
  int fsync_was = scr_fsync_enabled;

  scr_fsync_enabled = 0;
  rebuilt.crc = 1;
  test_rebuild_subsets();
  test_rebuild_shapes();
  test_rebuild_parts();
  test_rebuild_wrong_parity();
  test_rebuild_excluded();
  test_rebuild_no_crc();
  test_rebuild_wide();
  test_rebuild_names();
  test_rebuild_dirs();
  test_rebuild_lies();
  test_rebuild_broken_headers();
  test_rebuild_faults();
  test_rebuild_memory();
  test_rebuild_holes();
  test_rebuild_sparse_crc();
  scr_fsync_enabled = fsync_was;
}
