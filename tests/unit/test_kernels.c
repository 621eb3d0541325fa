/* CRC32, sums over GF(2^8) and Reed-Solomon: each kernel that this processor can run, against plain references. */

#define KERNELS ((int)(sizeof scr_kernels / sizeof scr_kernels[0]))

static unsigned char kernels_mul[256][256]; /* products, made bit by bit */

static uint64_t kernels_random(void)
{
  static uint64_t state = 88172645463325252u;

  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * UINT64_C(2685821657736338717) >> 16;
}

static void kernels_fill(unsigned char* p, size_t n)
{
  while (n-- > 0) *p++ = (unsigned char)kernels_random();
}

/* The product of the polynomials A and B by the schoolbook: multiply, then divide by 0x11D. */
static unsigned char kernels_product(unsigned a, unsigned b)
{
  unsigned p = 0;
  int      i;

  for (i = 0; i < 8; i++)
    if (b >> i & 1) p ^= a << i;
  for (i = 14; i >= 8; i--)
    if (p >> i & 1) p ^= 0x11du << (i - 8);
  return (unsigned char)p;
}

static void test_kernels_field(void)
{
  unsigned a, b;

  for (a = 0; a < 256; a++)
    for (b = 0; b < 256; b++) {
      kernels_mul[a][b] = kernels_product(a, b);
      CHECK_INT(scr_gf_mul((unsigned char)a, (unsigned char)b), kernels_mul[a][b]);
    }
  CHECK_INT(scr_gf_inv(0), 0);
  for (a = 1; a < 256; a++) CHECK_INT(kernels_mul[a][scr_gf_inv((unsigned char)a)], 1);
}

#ifdef SCR_KERNELS_X86
/* One byte of gf2p8affineqb: bit i is the parity of the byte 7 - i of the matrix, and X. */
static unsigned char kernels_affine(unsigned char x, uint64_t matrix)
{
  unsigned out = 0;
  int      i, j;

  for (i = 0; i < 8; i++) {
    unsigned both = (unsigned)(matrix >> 8 * (7 - i)) & x;
    for (j = 0; j < 8; j++) out ^= (both >> j & 1) << i;
  }
  return (unsigned char)out;
}

static void test_kernels_affine(void)
{
  unsigned a, b;

  for (a = 0; a < 256; a++)
    for (b = 0; b < 256; b++)
      CHECK_INT(kernels_affine((unsigned char)b, scr_gf_bits((unsigned char)a)), kernels_mul[a][b]);
}
#endif

static void test_kernels_choice(void)
{
  const scr_kernel* last = &scr_kernels[KERNELS - 1];
  int               i;

  CHECK(SCR_KERNELS_SKIP >= 0 && SCR_KERNELS_SKIP < KERNELS);
  CHECK(last->available() && last->crc == scr_crc_plain && last->mad == scr_gf_plain);
  for (i = 0; i < KERNELS; i++) {
    if (scr_kernels[i].available()) printf("kernels %d   %s\n", i, scr_kernels[i].name);
    else printf("note: this processor has no %s\n", scr_kernels[i].name);
    CHECK(scr_kernels[i].crc != NULL || scr_kernels[i].mad != NULL);
  }
  for (i = SCR_KERNELS_SKIP; scr_kernels[i].crc == NULL || !scr_kernels[i].available(); i++) continue;
  CHECK(scr_crc_select() == scr_kernels[i].crc && scr_crc_select() == scr_kernels[i].crc);
  for (i = SCR_KERNELS_SKIP; scr_kernels[i].mad == NULL || !scr_kernels[i].available(); i++) continue;
  CHECK(scr_gf_select() == scr_kernels[i].mad && scr_gf_select() == scr_kernels[i].mad);
}

/* ---- CRC32 ---- */

static void kernels_check_crc(uLong start, const unsigned char* p, size_t n)
{
  uLong want = n == 0 ? start : crc32(start, p, (uInt)n);
  int   i;

  CHECK_INT(scr_crc32(start, p, n), want);
  for (i = 0; n > 0 && i < KERNELS; i++)
    if (scr_kernels[i].crc != NULL && scr_kernels[i].available()) CHECK_INT(scr_kernels[i].crc(start, p, n), want);
}

static void test_kernels_crc(void)
{
  size_t         size = 20000, n, at;
  unsigned char* buf = (unsigned char*)malloc(size);
  int            i;

  kernels_fill(buf, size);
  CHECK_INT(scr_crc32(SCR_CRC32_START, "123456789", 9), 0xcbf43926);
  CHECK_INT(scr_crc32(7, NULL, 0), 7);
  CHECK_INT(scr_crc32_combine(7, 0, 0), 7);
  for (n = 0; n <= 300; n++)
    for (at = 0; at < 64; at++) kernels_check_crc(n & 1 ? SCR_CRC32_START : 0xffffffffu - n, buf + at, n);
  for (i = 0; i < 100000 / CHECK_SLOWER; i++) {
    uLong start = (uLong)(kernels_random() & 0xffffffffu), all;
    n = kernels_random() % (i % 100 == 0 ? size + 1 : (size_t)1 << kernels_random() % 13);
    at = n == 0 ? 0 : kernels_random() % n;
    kernels_check_crc(start, buf + size - n, n); /* to the last byte of the area */
    kernels_check_crc(start, buf + kernels_random() % (size - n + 1), n);
    all = scr_crc32(start, buf, n);
    CHECK_INT(scr_crc32(scr_crc32(start, buf, at), buf + at, n - at), all);
    CHECK_INT(scr_crc32_combine(scr_crc32(start, buf, at), scr_crc32(0, buf + at, n - at), n - at), all);
  }
  free(buf);
}

/* ---- sums ---- */

#define KERNELS_MAX   4096
#define KERNELS_GUARD 64

typedef struct {
  unsigned char* area[10]; /* of KERNELS_MAX + KERNELS_GUARD bytes each */
  const void*    src[10];
  unsigned char  coef[10];
  int            sources;
  size_t         n;
  unsigned char *before, *want, *dst; /* of KERNELS_MAX + 3 * KERNELS_GUARD bytes */
} kernels_case;

static void kernels_want(kernels_case* k, size_t at, int add)
{
  size_t x;
  int    i;

  memcpy(k->want, k->before, KERNELS_MAX + 3 * KERNELS_GUARD);
  for (x = 0; x < k->n; x++) {
    unsigned char sum = add ? k->want[at + x] : 0;
    for (i = 0; i < k->sources; i++) sum ^= kernels_mul[k->coef[i]][((const unsigned char*)k->src[i])[x]];
    k->want[at + x] = sum;
  }
}

/* Every kernel, and the calls that choose one, with DST at the offset AT of its area: also what is beside it stays. */
static void kernels_check_sum(kernels_case* k, size_t at, int add)
{
  size_t size = KERNELS_MAX + 3 * KERNELS_GUARD;
  int    i;

  kernels_want(k, at, add);
  for (i = 0; i <= KERNELS; i++) {
    if (i < KERNELS && (scr_kernels[i].mad == NULL || !scr_kernels[i].available())) continue;
    memcpy(k->dst, k->before, size);
    if (i < KERNELS) scr_gf_run(scr_kernels[i].mad, k->dst + at, k->src, k->coef, k->sources, k->n, add);
    else if (add) scr_gf_run(scr_gf_select(), k->dst + at, k->src, k->coef, k->sources, k->n, add);
    else scr_gf_sum(k->dst + at, k->src, k->coef, k->sources, k->n);
    CHECK(memcmp(k->dst, k->want, at + k->n + KERNELS_GUARD) == 0);
  }
  if (!add || k->sources != 1) return;
  memcpy(k->dst, k->before, size);
  scr_gf_mad_one(k->dst + at, k->src[0], k->coef[0], k->n);
  CHECK(memcmp(k->dst, k->want, at + k->n + KERNELS_GUARD) == 0);
}

static void kernels_random_case(kernels_case* k)
{
  int i;

  k->n = kernels_random() % ((size_t)1 << kernels_random() % 13);
  k->sources = (int)(kernels_random() % 11);
  for (i = 0; i < k->sources; i++) {
    size_t from = kernels_random() % KERNELS_GUARD;
    k->src[i] = k->area[i] + (kernels_random() % 2 ? from : KERNELS_MAX + KERNELS_GUARD - k->n);
    k->coef[i] = kernels_random() % 4 ? (unsigned char)kernels_random() : (unsigned char)(kernels_random() % 2);
  }
  if (kernels_random() % 4 == 0) memset(k->coef, 1, sizeof k->coef);
  kernels_check_sum(k, KERNELS_GUARD + kernels_random() % KERNELS_GUARD, (int)(kernels_random() % 2));
}

static void test_kernels_sum(void)
{
  kernels_case k;
  size_t       size = KERNELS_MAX + KERNELS_GUARD, at;
  int          i;

  memset(&k, 0, sizeof k);
  for (i = 0; i < 10; i++) kernels_fill(k.area[i] = (unsigned char*)malloc(size), size);
  k.before = (unsigned char*)malloc(size + 2 * KERNELS_GUARD);
  k.want = (unsigned char*)malloc(size + 2 * KERNELS_GUARD);
  k.dst = (unsigned char*)malloc(size + 2 * KERNELS_GUARD);
  kernels_fill(k.before, size + 2 * KERNELS_GUARD);
  for (k.n = 0; k.n <= 300; k.n++)
    for (at = 0; at < 64; at++) {
      k.sources = 1 + (k.n + at) % 3;
      for (i = 0; i < k.sources; i++) {
        k.src[i] = k.area[i] + (at * 7 + 13 * (size_t)i) % 64;
        k.coef[i] = at % 8 == 0 ? 1 : (unsigned char)kernels_random();
      }
      kernels_check_sum(&k, KERNELS_GUARD + at, k.n % 4 != 0);
    }
  for (i = 0; i < 100000 / CHECK_SLOWER; i++) kernels_random_case(&k);
  for (i = 0; i < 10; i++) free(k.area[i]);
  free(k.before);
  free(k.want);
  free(k.dst);
}

/* ---- Reed-Solomon ---- */

static unsigned char kernels_power(unsigned a, int n)
{
  unsigned char p = 1;

  while (n-- > 0) p = kernels_mul[p][a];
  return p;
}

/* COLUMN a of the matrix V, ROWS x N, += F * column b; or column a *= F when they are the same. */
static void kernels_column(unsigned char* v, int rows, int n, int a, int b, unsigned char f)
{
  int i;

  for (i = 0; i < rows; i++) v[i * n + a] = (unsigned char)((a == b ? 0 : v[i * n + a]) ^ kernels_mul[f][v[i * n + b]]);
}

/* The parity rows as they are defined: the Vandermonde matrix, its columns reduced. */
static void kernels_reduced(int n, int k, unsigned char* m)
{
  int            rows = n + k, i, j, other;
  unsigned char* v = (unsigned char*)malloc((size_t)rows * (size_t)n);

  for (i = 0; i < rows; i++)
    for (j = 0; j < n; j++) v[i * n + j] = kernels_power((unsigned)i, j);
  for (j = 0; j < n; j++) {
    for (other = j; v[j * n + other] == 0; other++) continue;
    if (other != j) kernels_column(v, rows, n, j, other, 1); /* as good as an exchange: the diagonal is not 0 then */
    kernels_column(v, rows, n, j, j, scr_gf_inv(v[j * n + j]));
    for (other = 0; other < n; other++)
      if (other != j) kernels_column(v, rows, n, other, j, v[j * n + other]);
  }
  memcpy(m, v + n * n, (size_t)n * (size_t)k);
  free(v);
}

static void test_kernels_matrix(void)
{
  static const unsigned char golden[8] = {27, 28, 18, 20, 28, 27, 20, 18};
  static unsigned char       m[256 * 256], want[256 * 256];
  double                     start = check_cpu();
  int                        n, k, i;

  CHECK(scr_rs_matrix(4, 2, m) == SCR_SUCCESS && memcmp(m, golden, 8) == 0);
  CHECK(scr_rs_matrix(200, 56, m) == SCR_SUCCESS && check_cpu() - start < 1.0 * CHECK_SLOWER);
  kernels_reduced(200, 56, want);
  CHECK(memcmp(m, want, 200 * 56) == 0);
  for (n = 2; n <= 20; n++)
    for (k = 2; k < n; k++) {
      CHECK_INT(scr_rs_matrix(n, k, m), SCR_SUCCESS);
      kernels_reduced(n, k, want);
      CHECK(memcmp(m, want, (size_t)n * (size_t)k) == 0);
    }
  for (n = 2; n < 256; n++) { /* each n: at 255 the reduced matrix is all ones as well */
    memset(m, 0, sizeof m);
    CHECK_INT(scr_rs_matrix(n, 1, m), SCR_SUCCESS);
    for (i = 0; i < n; i++) CHECK_INT(m[i], 1);
  }
  CHECK(scr_rs_matrix(4, 0, m) == SCR_ERR_PARAM && scr_rs_matrix(4, 4, m) == SCR_ERR_PARAM);
  CHECK(scr_rs_matrix(200, 57, m) == SCR_ERR_PARAM && scr_rs_matrix(1, 1, m) == SCR_ERR_PARAM);
  CHECK(strstr(scr_err_text, "1 members with 1 parities") != NULL);
}

/* Each member has a parity of every row once, and its data chunks in order; each position has every row once. */
static void test_kernels_layout(void)
{
  int n, k, r, c;

  for (n = 2; n <= 24; n++)
    for (k = 1; k < n; k++)
      for (r = 0; r < n; r++) {
        int chunk = 0, rows = 0;
        for (c = 0; c < n; c++) {
          int e = scr_rs_row(n, k, r, c), i, want = -1;
          for (i = 0; i < k; i++)
            if (c == (r + i) % n) want = i;
          CHECK_INT(e, want);
          CHECK_INT(scr_rs_chunk(n, k, r, c), chunk);
          if (e < 0) chunk++;
          else rows++;
        }
        CHECK(chunk == n - k && rows == k);
      }
}

/* Random symbols at position C, parities by the matrix M. */
static void kernels_symbols(int n, int k, const unsigned char* m, int c, unsigned char* symbol)
{
  int r, s, e;

  kernels_fill(symbol, (size_t)n);
  for (r = 0; r < n; r++) {
    if ((e = scr_rs_row(n, k, r, c)) < 0) continue;
    for (symbol[r] = 0, s = 0; s < n; s++)
      if (scr_rs_row(n, k, s, c) < 0) symbol[r] ^= kernels_mul[m[e * n + s]][symbol[s]];
  }
}

/* 1 when scr_rs_solve gives the ERASED symbols back from the others, at position C. */
static int kernels_solves(int n, int k, const unsigned char* m, int c, const unsigned char* erased)
{
  static unsigned char coef[256 * 256], symbol[256];
  int                  t, s, good;

  kernels_symbols(n, k, m, c, symbol);
  memset(coef, 0xee, (size_t)n * (size_t)n);
  good = scr_rs_solve(n, k, m, c, erased, coef) == SCR_SUCCESS;
  for (t = 0; good && t < n; t++) {
    unsigned char sum = 0;
    for (s = 0; s < n; s++) {
      good &= erased[t] ? !erased[s] || coef[t * n + s] == 0 : coef[t * n + s] == 0xee;
      sum ^= kernels_mul[coef[t * n + s]][symbol[s]];
    }
    good &= !erased[t] || sum == symbol[t];
  }
  return good;
}

/* Every set of at most K erased members, at every position. */
static void kernels_solve_all(int n, int k)
{
  unsigned char m[256], erased[16];
  unsigned      set;
  int           c, r, lost;

  CHECK_INT(scr_rs_matrix(n, k, m), SCR_SUCCESS);
  for (set = 0; set < 1u << n; set++) {
    for (lost = 0, r = 0; r < n; r++) lost += erased[r] = set >> r & 1;
    for (c = 0; lost <= k && c < n; c++) CHECK(kernels_solves(n, k, m, c, erased));
  }
}

static void test_kernels_solve(void)
{
  static unsigned char m[4 * 128], erased[128], coef[128 * 128];
  int                  n, k, c, i, e;

  for (n = 2; n < 16; n++)
    for (k = 1; k < n && n + k <= 16; k++) kernels_solve_all(n, k);

  n = 128, k = 4;
  CHECK_INT(scr_rs_matrix(n, k, m), SCR_SUCCESS);
  for (c = 0; c < n; c += 9)
    for (i = 0; i < 20; i++) {
      memset(erased, 0, sizeof erased);
      for (e = 0; e < k; e++) erased[i == 0 ? (c - e + n) % n : (int)(kernels_random() % 128)] = 1;
      CHECK(kernels_solves(n, k, m, c, erased));
    }
  memset(erased, 0, sizeof erased);
  memset(erased + 3, 1, 5);
  CHECK_INT(scr_rs_solve(n, k, m, 0, erased, coef), SCR_ERR_LOST);
  CHECK(strstr(scr_err_text, "5 of 128 members are lost") != NULL);
  memset(m, 0, sizeof m);
  erased[3] = 0;
  CHECK_INT(scr_rs_solve(n, k, m, 64, erased, coef), SCR_ERR_ARG);
}

static void test_kernels(void)
{
  test_kernels_field();
#ifdef SCR_KERNELS_X86
  test_kernels_affine();
#endif
  test_kernels_choice();
  test_kernels_crc();
  test_kernels_sum();
  test_kernels_matrix();
  test_kernels_layout();
  test_kernels_solve();
}
