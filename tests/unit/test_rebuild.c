/* Rebuild over files: sets that a plain encoder makes, byte by byte from the definition, lose what they can and more. */

enum { REBUILD_MEMBERS = 7, REBUILD_FILES = 512 };

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
  scr_copy             type;
  int                  n, k, apart, count, crc; /* apart: each member has a directory of its own */
  const rebuild_shape* shape;
  rebuild_file         file[REBUILD_FILES];
  char*                red[REBUILD_MEMBERS]; /* paths of the redundancy files */
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
  int    r, parts = rebuilt.type == SCR_COPY_PARTNER ? 1 : rebuilt.n - rebuilt.k;

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
  unsigned char matrix[REBUILD_MEMBERS * REBUILD_MEMBERS], byte;
  int           left = (r - 1 + rebuilt.n) % rebuilt.n, e;
  size_t        at;

  if (rebuilt.type == SCR_COPY_PARTNER) {
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
    scr_meta*           meta;
    if (f->member != r || f->red) continue;
    meta = scr_hash_set_kv_int(h, "FILE", n++);
    scr_meta_set_filename(meta, f->path + strlen(rebuild_dir(r)) + 1);
    scr_meta_set_filetype(meta, "FULL");
    scr_meta_set_filesize(meta, f->n);
    scr_meta_set_complete(meta, 1);
    if (rebuilt.crc) scr_meta_set_crc32(meta, crc32(0, f->p, (uInt)f->n));
  }
  return h;
}

static scr_hash* rebuild_header(int r)
{
  scr_hash *h = scr_hash_new(), *desc = scr_hash_new();
  char      key[32];
  int       i;

  scr_dataset_set_id(desc, 7);
  scr_dataset_set_name(desc, "ckpt 7");
  scr_dataset_set_created(desc, INT64_C(1700000000123456));
  scr_dataset_set_nonce(desc, 0xfeedu);
  scr_hash_set(h, "DSET", desc);
  scr_hash_util_set_int(h, "RANKS", 99);
  scr_hash_util_set_str(h, "TYPE", scr_copy_name(rebuilt.type));
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
static void rebuild_make(const rebuild_shape* shape, scr_copy type, int n, int k, int apart)
{
  int r, i, b;

  rebuilt.type = type;
  rebuilt.n = n;
  rebuilt.k = k;
  rebuilt.apart = apart;
  rebuilt.shape = shape;
  rebuilt.count = 0;
  rebuilt.crc = 1;
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

/* The files that are on the disk as they should be; those of the members in MASK are counted apart. */
static int rebuild_whole(unsigned mask, int* of_mask)
{
  static unsigned char p[1 << 17];
  int                  i, whole = 0;

  *of_mask = 0;
  for (i = 0; i < rebuilt.count; i++) {
    const rebuild_file* f = &rebuilt.file[i];
    if (rebuild_read(f->path, p, sizeof p) != f->n || memcmp(p, f->p, f->n) != 0) continue;
    if (mask >> f->member & 1) *of_mask += 1;
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
    while ((e = readdir(d)) != NULL) n += strncmp(e->d_name, "new", 3) == 0;
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
    if (!(mask >> f->member & 1) || !(f->red ? red : data)) continue;
    CHECK_INT(unlink(f->path), 0);
    n++;
  }
  return n;
}

/* Put back what is not as it was. */
static void rebuild_restore(void)
{
  int i;
  for (i = 0; i < rebuilt.count; i++) rebuild_put(&rebuilt.file[i]);
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
  unsigned left = (mask << 1 | mask >> (rebuilt.n - 1)) & ((1u << rebuilt.n) - 1);
  return rebuilt.type == SCR_COPY_PARTNER ? (mask & left) == 0 : rebuild_bits(mask) <= rebuilt.k;
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
static void rebuild_every_subset(scr_copy type, int n, int k, int apart)
{
  unsigned mask;
  int      most = type == SCR_COPY_PARTNER ? n : k + 1;

  rebuild_make(&rebuild_shapes[0], type, n, k, apart);
  for (mask = 0; mask < 1u << n; mask++)
    if (rebuild_bits(mask) <= most) rebuild_try(mask, 1, 1);
  rebuild_free();
}

static void test_rebuild_subsets(void)
{
  int n, k;

  for (n = 2; n <= REBUILD_MEMBERS; n++) {
    rebuild_every_subset(SCR_COPY_XOR, n, 1, 0);
    rebuild_every_subset(SCR_COPY_PARTNER, n, 1, 1);
    for (k = 1; k <= 4 && k < n; k++) rebuild_every_subset(SCR_COPY_RS, n, k, (n + k) % 2);
  }
}

static void test_rebuild_shapes(void)
{
  static const struct {
    scr_copy type;
    int      n, k;
    unsigned mask[3];
  } sets[] = {{SCR_COPY_XOR, 4, 1, {0x1, 0x2, 0x4}},
              {SCR_COPY_PARTNER, 4, 1, {0x5, 0xa, 0x4}},
              {SCR_COPY_RS, 5, 2, {0x3, 0x14, 0x11}}};
  int i, s, m;

  for (i = 1; i < REBUILD_SHAPES; i++)
    for (s = 0; s < 3; s++) {
      rebuild_make(&rebuild_shapes[i], sets[s].type, sets[s].n, sets[s].k, i % 2);
      for (m = 0; m < 3; m++) {
        rebuild_try(sets[s].mask[m], 1, 1);
        rebuild_try(sets[s].mask[m], 1, 0);
        rebuild_try(sets[s].mask[m], 0, 1);
      }
      rebuild_free();
    }
}

static void test_rebuild(void)
{
  int fsync_was = scr_fsync_enabled;

  scr_fsync_enabled = 0;
  test_rebuild_subsets();
  test_rebuild_shapes();
  scr_fsync_enabled = fsync_was;
}
