/*
** encode - the engine of redundancy sets by itself: members are protected and rebuilt by runners that act for one of
** them or for several, and each file is compared byte by byte.
**
**   mpicc -I. -o encode tests/mpi/encode.c -lz -lpthread && mpiexec -n 5 ./encode [CASE...]
**
** in the top directory, with 1 to 5 ranks; for ranks that share cores, link tests/cluster/yield.c too.  Prints RUN,
** PASS or FAIL for each case, and DONE; exit code 0 when all passed.  TEST_DIR is a scratch directory, TEST_DATA
** replaces tests/data, TEST_FULL lets more calls fail, TEST_LONG makes all combinations, TEST_LIMIT is how many seconds
** a case may take.
*/
#include "../unit/check_alloc.h"

#include "../../scr_impl.c"

#include <ftw.h>

static int rank, ranks, failed;

/* Count a failure unless COND holds; the rest of the line is a printf format and its arguments. */
#define CHECK(cond, ...)                                                                                               \
  do {                                                                                                                 \
    if (!(cond) && failed++ < 20) {                                                                                    \
      fprintf(stderr, "  rank %d, line %d: %s: ", rank, __LINE__, #cond);                                              \
      fprintf(stderr, __VA_ARGS__);                                                                                    \
      fprintf(stderr, "; %s\n", scr_err_text);                                                                         \
    }                                                                                                                  \
  } while (0)

/* ---- a set ------------------------------------------------------------------------------------------------------ */

enum { MOST = 5, BOTH = SCR_LOST_DATA | SCR_LOST_RED };

typedef struct {
  const char* name;
  int (*files)(int r);
  int (*size)(int r, int i);
} shape;

static char         base[600], tree[1000]; /* of all nodes, and of this rank's */
static scr_reddesc  d;
static scr_home     home;
static scr_encode   x;
static int          owner[MOST], runner[MOST], runners;
static const shape* form;
static scr_entry*   before[MOST]; /* of the members of this rank, protected; NULL for others */
static char*        red[MOST];    /* their redundancy files, */
static size_t       red_bytes[MOST];
static int          damages;

static int is_mine(int r)
{
  return scr_encode_runner(&d, x.runner, r) == rank;
}

static char content(int r, int i, int at)
{
  return (char)(at * 31 + (at >> 8) * 7 + owner[r] * 101 + i * 13 + 5);
}

static void on_damage(int id, int rc)
{
  CHECK(id == 7 && rc != SCR_SUCCESS, "dataset %d, %d", id, rc);
  damages++;
}

static int remove_one(const char* path, const struct stat* st, int type, struct FTW* at)
{
  (void)st, (void)type, (void)at;
  return remove(path);
}

static int count, count_new;

static int count_one(const char* path, const struct stat* st, int type, struct FTW* at)
{
  (void)st, (void)at;
  count += type == FTW_F;
  count_new += strstr(path, ".new.") != NULL;
  return 0;
}

static void put(const char* path, const char* p, size_t n)
{
  FILE* f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(p, 1, n, f) == n, "%s", path);
  if (f != NULL) fclose(f);
}

/* The whole file PATH, of *N bytes; NULL when there is none. */
static char* get(const char* path, size_t* n)
{
  FILE* f = fopen(path, "rb");
  char* p = NULL;

  *n = 0;
  if (f == NULL) return NULL;
  fseek(f, 0, SEEK_END);
  p = (char*)scr_malloc((size_t)ftell(f) + 1);
  rewind(f);
  *n = fread(p, 1, (size_t)1 << 30, f);
  fclose(f);
  return p;
}

/* The bytes of file I of member R. */
static char* bytes_of(int r, int i)
{
  int   n = form->size(r, i), at;
  char* p = (char*)scr_malloc((size_t)n + 1);
  for (at = 0; at < n; at++) p[at] = content(r, i, at);
  return p;
}

static void file_of(const scr_entry* e, const char* rel, char* path)
{
  CHECK(scr_entry_path(&home, e, rel, path, SCR_MAX_FILENAME) == SCR_SUCCESS, "%s", rel);
}

static const char* red_name(int r)
{
  static char name[96];
  return scr_set_file_name(d.scheme, r, d.set_size, d.set_id, name, sizeof name);
}

/* Write the files of member R that are not there, or not whole, as they were. */
static void put_back(int r)
{
  char path[SCR_MAX_FILENAME];
  int  i;

  scr_home_mkdir(&home, &d, 7);
  for (i = 0; i < form->files(r); i++) {
    scr_entry* scratch = scr_entry_dup(before[r]);
    char*      p = bytes_of(r, i);
    CHECK(scr_entry_place(&home, scratch, &before[r]->file[i], path) == SCR_SUCCESS, "place");
    put(path, p, (size_t)form->size(r, i));
    scr_free(&p);
    scr_entry_free(&scratch);
  }
  file_of(before[r], red_name(r), path);
  if (red[r] != NULL) put(path, red[r], red_bytes[r]);
}

/* A set of N members with SCHEME and K, whose files lie on RUNNERS ranks: dealt out, or in BLOCKS. */
static void describe(scr_scheme scheme, int k, int n, int on, int blocks, const shape* s)
{
  int r;

  memset(&d, 0, sizeof d);
  memset(&home, 0, sizeof home);
  form = s;
  runners = on;
  d.enabled = d.can_mkdir = d.interval = d.hop = d.sets = 1;
  d.scheme = scheme;
  d.failures = k;
  d.group = scr_strdup("NODE");
  d.store = scr_strdup(base);
  d.size_wanted = d.set_size = n;
  d.member = owner;
  for (r = 0; r < n; r++) {
    owner[r] = on == n && !blocks ? r : 11 + 3 * r;
    runner[r] = blocks ? r * on / n : r % on;
  }
  d.set_id = owner[0];
  snprintf(home.user, sizeof home.user, "tester");
  snprintf(home.job, sizeof home.job, "1");
  snprintf(home.host, sizeof home.host, "node%d", rank);
  home.shared = 1;
  snprintf(tree, sizeof tree, "%s/tester/scr.1/node.node%d", base, rank);
  x.d = &d;
  x.runner = on == n && !blocks ? NULL : runner;
  x.home = &home;
  x.comm = MPI_COMM_WORLD;
  x.record_crc = 1;
  x.verify = 0;
  x.damage = on_damage;
}

/* The entry of member R, which has written its files. */
static scr_entry* write_member(int r)
{
  scr_entry* e = (scr_entry*)scr_malloc(sizeof *e);
  char       path[SCR_MAX_FILENAME], rel[64];
  int        i;

  e->owner = owner[r];
  e->desc.identity.id = 7;
  e->desc.identity.created = 1700000000123456;
  e->desc.identity.nonce = 0xfeed;
  e->desc.ranks = 100;
  e->desc.complete = 1;
  snprintf(e->desc.name, sizeof e->desc.name, "ck");
  snprintf(e->desc.dir, sizeof e->desc.dir, "not/in/headers");
  scr_reddesc_dup(&e->red, &d);
  e->red.set_rank = r;
  CHECK(scr_home_mkdir(&home, &d, 7) == SCR_SUCCESS, "mkdir");
  for (i = 0; i < form->files(r); i++) {
    scr_file f;
    char*    p = bytes_of(r, i);
    memset(&f, 0, sizeof f);
    snprintf(rel, sizeof rel, i % 2 ? "rank_%d/part.%d" : "ck/rank_%d.%d", owner[r], i);
    f.rel = rel;
    f.complete = 1;
    f.size = (uint64_t)form->size(r, i);
    f.ranks = 100;
    f.mode = 0644;
    CHECK(scr_entry_place(&home, e, &f, path) == SCR_SUCCESS, "place");
    put(path, p, (size_t)f.size);
    scr_free(&p);
  }
  return e;
}

/* The entries of this rank's members, copied from FROM; how many. */
static int take(scr_entry** from, scr_entry** e)
{
  int r, n = 0;
  for (r = d.set_size - 1; r >= 0; r--) /* in any order */
    if (is_mine(r)) e[n++] = scr_entry_dup(from[r]);
  return n;
}

/* SIGALRM ends the program TEST_LIMIT seconds from now. */
static void limit_time(void)
{
  alarm(getenv("TEST_LIMIT") != NULL ? (unsigned)atoi(getenv("TEST_LIMIT")) : 300);
}

/* 1 when RC is success on all runners, 0 when it is an error on all; both is a failure. */
static int all_agree(int rc)
{
  int worst[2];

  worst[0] = rank < runners ? rc != SCR_SUCCESS : 0;
  worst[1] = rank < runners ? rc == SCR_SUCCESS : 0;
  CHECK(rc != SCR_SUCCESS || rank >= runners || !scr_oom, "success without memory");
  MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(worst[0] + worst[1] == 1, "an error on some runners only; here %d", rc);
  return !worst[0];
}

static void forget_set(void)
{
  int r;

  for (r = 0; r < MOST; r++) {
    scr_entry_free(&before[r]);
    scr_free(&red[r]);
  }
  scr_free(&d.group);
  scr_free(&d.store);
  nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Write and protect the set that is described; 0 when that failed. */
static int make_set(void)
{
  char       path[SCR_MAX_FILENAME];
  scr_entry* e[MOST];
  uLong      crc;
  int        r, i, n, rc = SCR_SUCCESS;

  limit_time(); /* each set has its time, on a busy machine, too */
  for (r = 0; r < d.set_size; r++)
    if (is_mine(r)) before[r] = write_member(r);
  n = take(before, e);
  MPI_Barrier(MPI_COMM_WORLD);
  if (n > 0) rc = scr_encode_protect(&x, n, e);
  if (!all_agree(rc)) {
    CHECK(0, "protect: %d", rc);
    return 0;
  }
  for (i = 0; i < n; i++)
    for (r = 0; r < d.set_size; r++) {
      scr_file* f;
      if (owner[r] != e[i]->owner) continue;
      scr_entry_free(&before[r]);
      before[r] = e[i];
      CHECK(e[i]->listed && e[i]->files == form->files(r) + 1, "%d files", e[i]->files);
      file_of(e[i], red_name(r), path);
      red[r] = get(path, &red_bytes[r]);
      f = scr_entry_find(e[i], red_name(r));
      CHECK(red[r] != NULL && f != NULL && f->size == red_bytes[r] && f->kind == (scr_scheme)d.scheme, "%s", path);
      if (red[r] == NULL || f == NULL) return 0;
      CHECK(f->crc == crc32_z(0, (const Bytef*)red[r], red_bytes[r]), "checksum of %s", path);
      for (f = e[i]->file; f < e[i]->file + form->files(r); f++) {
        file_of(e[i], f->rel, path);
        CHECK(scr_file_crc(path, f->size, &crc) == SCR_SUCCESS && f->has_crc && f->crc == crc, "%s", path);
      }
    }
  return 1;
}

/* ---- losses ----------------------------------------------------------------------------------------------------- */

/* Can the set find again what its members have LOST?  By the definition of the codes. */
static int bears(const int64_t* lost)
{
  int n = d.set_size, c, r, bad;

  for (c = 0; c < n; c++) {
    if (d.scheme == SCR_SCHEME_PARTNER) {
      if (lost[c] & SCR_LOST_DATA && lost[(c + 1) % n] & SCR_LOST_RED) return 0;
      continue;
    }
    for (r = 0, bad = 0; r < n; r++)
      bad += (lost[r] & ((c - r + n) % n < d.failures ? SCR_LOST_RED : SCR_LOST_DATA)) != 0;
    if (bad > d.failures) return 0;
  }
  return 1;
}

/* Take what member R has lost from the disk and from its entry E. */
static void lose(int r, int64_t lost, scr_entry* e)
{
  char path[SCR_MAX_FILENAME];
  int  i;

  for (i = 0; i < before[r]->files; i++) {
    file_of(before[r], before[r]->file[i].rel, path);
    if (lost & (before[r]->file[i].kind == SCR_FILE_APPLICATION ? SCR_LOST_DATA : SCR_LOST_RED)) unlink(path);
  }
  scr_entry_forget(e, (lost & SCR_LOST_DATA) != 0, (lost & SCR_LOST_RED) != 0);
  if (lost) e->listed = 0;
}

/* 1 when file I of member R, its redundancy file for the last, is as it was. */
static int is_whole(int r, int i)
{
  char   path[SCR_MAX_FILENAME], *p, *want;
  size_t n, size;
  int    same;

  file_of(before[r], before[r]->file[i].rel, path);
  p = get(path, &n);
  want = i < form->files(r) ? bytes_of(r, i) : red[r];
  size = i < form->files(r) ? (size_t)form->size(r, i) : red_bytes[r];
  same = p != NULL && n == size && memcmp(p, want, n) == 0;
  if (want != red[r]) scr_free(&want);
  scr_free(&p);
  return same;
}

/*
** All files are as they were, or, when not PLACED, all but those that are LOST, which are not there; and no other
** ones.
*/
static void compare(const int64_t* lost, int placed, int litter)
{
  char path[SCR_MAX_FILENAME];
  int  r, i, there = 0;

  for (r = 0; r < d.set_size; r++)
    for (i = 0; is_mine(r) && i < before[r]->files; i++) {
      int gone = !placed && lost[r] & (i < form->files(r) ? SCR_LOST_DATA : SCR_LOST_RED);
      file_of(before[r], before[r]->file[i].rel, path);
      if (gone) CHECK(access(path, F_OK) != 0 || !d.can_mkdir, "%s was placed", path);
      else CHECK(is_whole(r, i), "%s of member %d", before[r]->file[i].rel, r);
      there += !gone;
    }
  count = count_new = 0;
  if (d.can_mkdir) nftw(tree, count_one, 16, FTW_PHYS);
  if (!litter)
    CHECK(count == there || !d.can_mkdir, "%d files instead of %d, %d of them temporary", count, there, count_new);
}

/* The entries are as they were, but for the order of files. */
static void compare_entries(scr_entry** e, int n)
{
  int i, k, r;

  for (i = 0; i < n; i++)
    for (r = 0; r < d.set_size; r++) {
      if (owner[r] != e[i]->owner) continue;
      CHECK(e[i]->listed && e[i]->files == before[r]->files, "%d files of %d", e[i]->files, before[r]->files);
      for (k = 0; k < before[r]->files; k++) {
        const scr_file *a = &before[r]->file[k], *b = scr_entry_find(e[i], a->rel);
        CHECK(b != NULL && a->kind == b->kind && a->size == b->size && a->has_crc && b->has_crc && a->crc == b->crc &&
                  a->ranks == b->ranks && a->complete && b->complete,
              "the record of %s", a->rel);
      }
    }
}

/* Lose LOST, and recover: the code of this rank.  When it FAILS, what was lost stays lost until put_back. */
static int recover(const int64_t* lost, int expect)
{
  scr_entry* e[MOST];
  int        i, r, whole_node = 1, n = take(before, e), rc = SCR_SUCCESS, ok;

  for (r = 0; r < d.set_size; r++) {
    if (!is_mine(r)) continue;
    for (i = 0; i < n; i++)
      if (e[i]->owner == owner[r]) lose(r, lost[r], e[i]);
    if (lost[r] != BOTH) whole_node = 0;
  }
  if (whole_node) nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  MPI_Barrier(MPI_COMM_WORLD);
  if (n > 0) rc = scr_encode_recover(&x, n, e, lost);
  ok = all_agree(rc);
  if (expect >= 0)
    CHECK(ok == expect, "%s(%d) of %d on %d: %d", scr_scheme_name(d.scheme), d.failures, d.set_size, runners, rc);
  if (ok) compare_entries(e, n);
  for (i = 0; i < n; i++) scr_entry_free(&e[i]);
  return rc;
}

/* One pattern of losses: all is found again, or nothing changes. */
static void lose_and_recover(const int64_t* lost)
{
  int r, ok = bears(lost);

  recover(lost, ok);
  compare(lost, ok, 0);
  for (r = 0; r < d.set_size && !ok; r++)
    if (is_mine(r)) put_back(r);
}

static int is_full(void)
{
  return getenv("TEST_FULL") != NULL || getenv("TEST_LONG") != NULL;
}

/* Every pattern of losses; WHOLE: of whole members only. */
static void every_loss(int whole)
{
  int64_t lost[MOST];
  int     mask, r, kinds = whole ? 2 : 4, all = 1;

  for (r = 0; r < d.set_size; r++) all *= kinds;
  for (mask = 1; mask < all && failed == 0; mask += all > 100 && !is_full() ? 7 : 1) {
    int m = mask;
    for (r = 0; r < d.set_size; r++, m /= kinds) lost[r] = whole ? (m % 2) * BOTH : m % 4;
    lose_and_recover(lost);
  }
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static int two_files(int r)
{
  (void)r;
  return 2;
}

static int on_some(int r)
{
  return r % 2;
}

static int none(int r)
{
  (void)r;
  return 0;
}

static int many(int r)
{
  return r == 1 ? 150 : 3;
}

static int odd_size(int r, int i)
{
  return 301 + 57 * r + 11 * i;
}

static int no_size(int r, int i)
{
  (void)r, (void)i;
  return 0;
}

static int some_empty(int r, int i)
{
  return i % 2 ? 0 : 777 + r;
}

static int long_size(int r, int i)
{
  return r == 2 ? 90001 + i : 20000 + 1013 * r;
}

static int small_size(int r, int i)
{
  return (r * 31 + i * 17) % 53;
}

static const shape shapes[] = {{"odd", two_files, odd_size},        {"long", two_files, long_size},
                               {"empty", two_files, no_size},       {"some empty", two_files, some_empty},
                               {"none on some", on_some, odd_size}, {"none", none, no_size},
                               {"many", many, small_size},          {NULL, NULL, NULL}};

static const struct {
  scr_scheme scheme;
  int        k;
} schemes[] = {{SCR_SCHEME_XOR, 1}, {SCR_SCHEME_PARTNER, 1}, {SCR_SCHEME_RS, 2}, {SCR_SCHEME_RS, 3}};

static int is_long(void)
{
  return getenv("TEST_LONG") != NULL;
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

/* Each loss of files and redundancy, of as many members as there are ranks. */
static void every_loss_of_a_member_each(void)
{
  int i;

  for (i = 0; i < 4 && ranks >= 4; i++) {
    describe(schemes[i].scheme, schemes[i].k, ranks, ranks, 0, &shapes[0]);
    if (make_set()) every_loss(0);
    forget_set();
  }
}

static void every_loss_with_fewer_runners(void)
{
  int i, n, on, blocks;

  for (i = 0; i < 4; i++)
    for (n = 4; n <= MOST; n++)
      for (on = 1; on <= ranks && on <= n; on++)
        for (blocks = 0; blocks < 2; blocks++) {
          if (!is_full() && (blocks != (n + on) % 2 || (i + n + on) % 2 != 0)) continue;
          describe(schemes[i].scheme, schemes[i].k, n, on, blocks, &shapes[0]);
          if (make_set()) every_loss(n == MOST || on != 3 || (blocks && !is_long()));
          forget_set();
        }
}

/* Sets of two and three members too. */
static void shapes_of_files(void)
{
  const shape* s;
  int          i, n, on;

  for (s = shapes; s->name != NULL; s++)
    for (i = 0; i < 4; i++)
      for (n = schemes[i].k + 1; n <= MOST; n++)
        for (on = ranks < n ? ranks : n; on >= 1; on -= 2) {
          if (!is_full() && (s - shapes + n + i) % 4 != 0) continue;
          if (!is_long() && n != 4 && (s - shapes + n + i) % 4 != 0) continue;
          describe(schemes[i].scheme, schemes[i].k, n, on, n == 4, s);
          if (make_set()) every_loss(1);
          CHECK(failed == 0, "%s", s->name);
          forget_set();
        }
}

/* Buffers of some sizes: pieces and rounds of any number; long files through the smallest take their time. */
static void sizes_of_buffers(void)
{
  static const size_t sizes[] = {128, 1000, 4096, 65536};
  size_t              was = x.mpi_buf;
  int                 i, k, on;

  for (k = 0; k < 4; k++)
    for (i = 0; i < 4; i++)
      for (on = ranks < 4 ? ranks : 4; on >= 1; on--) {
        if (!is_long() && (i + k + on) % 2 != 0) continue;
        x.mpi_buf = sizes[k];
        describe(schemes[i].scheme, schemes[i].k, 4, on, 0, &shapes[k > 0 || is_long()]);
        if (make_set()) every_loss(1);
        forget_set();
      }
  x.mpi_buf = was;
}

static void a_store_without_directories(void)
{
  int i;

  for (i = 0; i < 4; i++) {
    describe(schemes[i].scheme, schemes[i].k, 4, ranks < 3 ? ranks : 3, 0, &shapes[0]);
    d.can_mkdir = 0;
    if (make_set()) every_loss(1);
    forget_set();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (rank == 0) mkdir(base, 0700);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* The sets of tests/data, which the library has made before: the same bytes again, by any number of runners. */
static void bytes_of_earlier_releases(void)
{
  static const char* const name[] = {"xor", "partner", "rs"};
  const char*              data = getenv("TEST_DATA") != NULL ? getenv("TEST_DATA") : "tests/data";
  char                     path[SCR_MAX_FILENAME], from[SCR_MAX_FILENAME], *p, *q;
  size_t                   n, m;
  int                      i, r, k, on;

  for (i = 0; i < 3; i++)
    for (on = 1; on <= ranks && on <= 4; on++) {
      scr_entry* e[MOST];
      int        mine = 0, rc = SCR_SUCCESS;
      describe(i == 0   ? SCR_SCHEME_XOR
               : i == 1 ? SCR_SCHEME_PARTNER
                        : SCR_SCHEME_RS,
               1 + (i == 2), 4, on, 1, &shapes[0]);
      for (r = 0; r < 4; r++) owner[r] = r;
      d.set_id = 0;
      for (r = 0; r < 4; r++) {
        scr_header h;
        if (!is_mine(r)) continue;
        snprintf(from, sizeof from, "%s/sets/%s/%s", data, name[i], red_name(r));
        rc = scr_header_read(from, &h);
        CHECK(rc == SCR_SUCCESS && h.r == r, "%s", from);
        if (rc != SCR_SUCCESS) return;
        e[mine] = (scr_entry*)scr_malloc(sizeof **e);
        e[mine]->owner = r;
        e[mine]->desc = h.desc;
        scr_reddesc_dup(&e[mine]->red, &d);
        scr_home_mkdir(&home, &d, h.desc.identity.id);
        for (k = 0; k < h.entry[0]->files; k++) {
          h.entry[0]->file[k].has_crc = 0;
          scr_entry_place(&home, e[mine], &h.entry[0]->file[k], path);
          snprintf(from, sizeof from, "%s/sets/%s/%s", data, name[i], h.entry[0]->file[k].rel);
          p = get(from, &n);
          put(path, p, n);
          scr_free(&p);
        }
        scr_header_free(&h);
        mine++;
      }
      if (mine > 0) rc = scr_encode_protect(&x, mine, e);
      CHECK(all_agree(rc), "%d", rc);
      for (k = 0; k < mine; k++) {
        snprintf(from, sizeof from, "%s/sets/%s/%s", data, name[i], red_name(e[k]->owner));
        file_of(e[k], red_name(e[k]->owner), path);
        p = get(from, &n);
        q = get(path, &m);
        CHECK(p != NULL && q != NULL && n == m && memcmp(p, q, n) == 0, "%s is made anew with other bytes", from);
        scr_free(&p);
        scr_free(&q);
        scr_entry_free(&e[k]);
      }
      forget_set();
    }
}

static void numbers_of_all_members(void)
{
  int64_t v[3 * MOST];
  int     n, on, blocks, r;

  for (n = 1; n <= MOST; n++)
    for (on = 1; on <= ranks && on <= n; on++)
      for (blocks = 0; blocks < 2; blocks++) {
        describe(SCR_SCHEME_XOR, 1, n, on, blocks, &shapes[0]);
        for (r = 0; r < 3 * n; r++) v[r] = is_mine(r / 3) ? 100 * n + r : -1;
        CHECK(scr_encode_gather(&d, x.runner, x.comm, 3, v) == SCR_SUCCESS, "gather");
        for (r = 0; r < 3 * n && rank < on; r++) CHECK(v[r] == 100 * n + r, "number %d of %d is %d", r, n, (int)v[r]);
        forget_set();
      }
}

static void single_takes_checksums(void)
{
  const int64_t lost[MOST] = {SCR_LOST_DATA, 0, 0, 0, 0};
  scr_entry*    e[MOST];
  int           r, i, n = 0, rc;

  describe(SCR_SCHEME_SINGLE, 0, ranks, ranks, 0, &shapes[0]);
  for (r = 0; r < d.set_size; r++)
    if (is_mine(r)) e[n++] = write_member(r);
  CHECK(scr_encode_protect(&x, n, e) == SCR_SUCCESS, "protect");
  for (i = 0; i < e[0]->files; i++) CHECK(e[0]->file[i].has_crc, "%s", e[0]->file[i].rel);
  CHECK(e[0]->listed && e[0]->files == 2, "%d files", e[0]->files);
  e[0]->file[1].crc ^= 1; /* what was fetched with a checksum, and is not that */
  damages = 0;
  CHECK(scr_encode_protect(&x, n, e) == SCR_ERR_IO && damages == 1, "%d", damages);
  rc = scr_encode_recover(&x, n, e, lost);
  CHECK(!all_agree(rc), "recovered");
  scr_entry_free(&e[0]);
  forget_set();
}

/* Members that write no checksum are rebuilt all the same. */
static void without_checksums(void)
{
  scr_entry* e[MOST];
  int64_t    lost[MOST] = {BOTH, 0, SCR_LOST_DATA, 0, 0};
  int        i, r, n, rc = SCR_SUCCESS;

  describe(SCR_SCHEME_RS, 2, 4, ranks < 2 ? ranks : 2, 0, &shapes[0]);
  x.record_crc = 0;
  for (r = 0; r < d.set_size; r++)
    if (is_mine(r)) before[r] = write_member(r);
  n = take(before, e);
  if (n > 0) rc = scr_encode_protect(&x, n, e);
  CHECK(all_agree(rc), "%d", rc);
  for (i = 0; i < n; i++)
    for (r = 0; r < d.set_size; r++) {
      char path[SCR_MAX_FILENAME];
      if (owner[r] != e[i]->owner) continue;
      CHECK(!e[i]->file[0].has_crc, "a checksum");
      scr_entry_free(&before[r]);
      before[r] = scr_entry_dup(e[i]);
      file_of(e[i], red_name(r), path);
      red[r] = get(path, &red_bytes[r]);
      lose(r, lost[r], e[i]);
    }
  MPI_Barrier(MPI_COMM_WORLD);
  if (n > 0) rc = scr_encode_recover(&x, n, e, lost);
  CHECK(all_agree(rc), "%d", rc);
  compare(lost, 1, 0);
  for (i = 0; i < n; i++) scr_entry_free(&e[i]);
  forget_set();
}

/* A corrupt file makes no other one, and with VERIFY it is found when it makes only redundancy. */
static void corrupt_files(void)
{
  int64_t lost[MOST] = {BOTH, 0, 0, 0, 0}, red_only[MOST] = {SCR_LOST_RED, 0, 0, 0, 0};
  char    path[SCR_MAX_FILENAME];
  int     i, r, k, at, all, rc, first_hand;

  for (i = 0; i < 4; i++) {
    describe(schemes[i].scheme, schemes[i].k, 4, ranks < 3 ? ranks : 3, 0, &shapes[0]);
    if (!make_set()) return;
    r = i == 1 ? 3 : 1; /* whose bytes go into the redundancy of member 0, */
    for (k = 0; k < 2 && is_mine(r); k++) {
      char* p = bytes_of(r, k);
      for (at = 0; at < form->size(r, k); at++) p[at] ^= 4;
      file_of(before[r], before[r]->file[k].rel, path);
      put(path, p, (size_t)form->size(r, k));
      scr_free(&p);
    }
    x.verify = 1;
    damages = 0;
    rc = recover(red_only, 0);
    MPI_Allreduce(&damages, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 1, "%d of 1 damage", all);
    first_hand = rc != SCR_SUCCESS && !scr_err_secondhand;
    CHECK(first_hand == is_mine(r), "the vote would not tell who has the corrupt file: %d", rc);
    x.verify = 0;
    if (is_mine(0)) put_back(0);
    if (i == 0 || i == 2) recover(lost, 0); /* and into its data: what is made of them is found to be wrong anyway */
    if (is_mine(0)) put_back(0);
    if (is_mine(r)) put_back(r);
    lose_and_recover(lost);
    forget_set();
  }
}

/* The header of member R's redundancy file says that it is of an XOR set, and so it describes fewer members. */
static void claim_xor(int r)
{
  scr_header h;
  scr_buf    b = {NULL, 0, 0, 0};
  char       path[SCR_MAX_FILENAME];

  file_of(before[r], red_name(r), path);
  CHECK(scr_header_read(path, &h) == SCR_SUCCESS, "%s", path);
  scr_entry_free(&h.entry[2]);
  h.scheme = SCR_SCHEME_XOR;
  h.failures = 1;
  CHECK(scr_header_image(&h, &b) == SCR_SUCCESS, "%s", path);
  put(path, b.p, b.n);
  scr_buf_free(&b);
  scr_header_free(&h);
}

/* A redundancy file of another dataset, with another list of files, of another world or another set is not used. */
static void headers_that_do_not_fit(void)
{
  int64_t    lost[MOST] = {BOTH, 0, 0, 0, 0};
  scr_entry* was;
  int        on, how;

  for (on = 1; on <= ranks && on <= 4; on++)
    for (how = 0; how < 4; how++) {
      describe(how == 3 ? SCR_SCHEME_RS : SCR_SCHEME_XOR, how == 3 ? 2 : 1, 4, on, 1, &shapes[0]);
      if (!make_set()) return;
      was = is_mine(2) ? scr_entry_dup(before[2]) : NULL;
      if (is_mine(2) && how == 0) before[2]->desc.identity.nonce++;
      if (is_mine(2) && how == 1) before[2]->file[0].size--;
      if (is_mine(2) && how == 2) before[2]->desc.ranks++;
      if (is_mine(1) && how == 3) claim_xor(1);
      recover(lost, 0);
      if (is_mine(2)) {
        scr_entry_free(&before[2]);
        before[2] = was;
      }
      if (is_mine(0)) put_back(0);
      if (is_mine(1)) put_back(1);
      lose_and_recover(lost);
      forget_set();
    }
}

/* ---- calls that fail -------------------------------------------------------------------------------------------- */

static scr_os_table real;
static int          fault_left, fault_hit; /* calls until one fails */

static int strikes(void)
{
  if (fault_left <= 0 || --fault_left > 0) return 0;
  fault_hit = 1;
  errno = EIO;
  return 1;
}

static int bad_open(const char* path, int flags, mode_t mode)
{
  return strikes() ? -1 : real.open(path, flags, mode);
}

static ssize_t bad_pread(int fd, void* buf, size_t n, off_t at)
{
  return strikes() ? -1 : real.pread(fd, buf, n, at);
}

static ssize_t bad_pwrite(int fd, const void* buf, size_t n, off_t at)
{
  return strikes() ? -1 : real.pwrite(fd, buf, n, at);
}

static int bad_ftruncate(int fd, off_t size)
{
  return strikes() ? -1 : real.ftruncate(fd, size);
}

static int bad_unlink(const char* path)
{
  return strikes() ? -1 : real.unlink(path);
}

static int bad_mkdir(const char* path, mode_t mode)
{
  return strikes() ? -1 : real.mkdir(path, mode);
}

/* Call N of the last runner fails, or with MEMORY its allocation N, until fault_end. */
static void fault(int n, int memory)
{
  fault_hit = check_alloc_hit = 0;
  if (rank != runners - 1) return;
  if (memory) check_alloc_left = n - 1;
  else fault_left = n;
}

/* 1 when there was a call N. */
static int fault_end(void)
{
  int hit = fault_hit || check_alloc_hit;

  fault_left = 0;
  check_alloc_left = -1;
  scr_oom = 0;
  MPI_Bcast(&hit, 1, MPI_INT, runners - 1, MPI_COMM_WORLD);
  return hit;
}

/* 1 when RC is success on all runners, 0 when it is an error on all; then it is that of the one that was struck. */
static int all_agree_with_struck(int rc, int hit)
{
  CHECK(hit || rc == SCR_SUCCESS, "an error without a fault: %d", rc);
  CHECK(rc == SCR_SUCCESS || rank >= runners - 1 || scr_err_secondhand, "%d, an error of its own: %s", rc,
        scr_err_text);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* all leave the loop, or none */
  return all_agree(rc);
}

/* How far the next call that fails is from CALL. */
static int apart(int call, int memory)
{
  if (!is_full()) return 3 + call / 4;
  return memory && !is_long() ? 1 + call / 8 : 1;
}

/*
** The last runner fails while it protects or rebuilds: all runners get an error, or all success; then nothing is
** placed, or all.
*/
static void struck(int i, int on, int memory)
{
  static const int64_t patterns[2][MOST] = {{BOTH, 0, 0, 0, 0}, {0, SCR_LOST_DATA, SCR_LOST_RED, 0, 0}};
  scr_entry*           e[MOST];
  int                  call, hit = 1, r, k, n, ok, p;

  describe(schemes[i].scheme, schemes[i].k, 4, on, 0, &shapes[0]);
  if (!make_set()) return;
  for (p = 0; p < (i < 2 ? 1 : 2); p++)
    for (call = 1, hit = 1; hit && failed == 0; call += apart(call, memory)) {
      /* fault() is set inside: what the test itself does must not be struck */
      int rc = SCR_SUCCESS;
      n = take(before, e);
      for (r = 0; r < 4; r++)
        for (k = 0; k < n; k++)
          if (is_mine(r) && e[k]->owner == owner[r]) lose(r, patterns[p][r], e[k]);
      MPI_Barrier(MPI_COMM_WORLD);
      fault(call, memory);
      if (n > 0) rc = scr_encode_recover(&x, n, e, patterns[p]);
      hit = fault_end();
      ok = all_agree_with_struck(rc, hit);
      compare(patterns[p], ok, 1);
      for (k = 0; k < n; k++) scr_entry_free(&e[k]);
      for (r = 0; r < 4 && !ok; r++)
        if (is_mine(r)) put_back(r);
      nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
      for (r = 0; r < 4; r++)
        if (is_mine(r)) put_back(r);
    }
  for (call = 1, hit = 1; hit && failed == 0; call += apart(call, memory)) {
    static const int64_t all_red[MOST] = {SCR_LOST_RED, SCR_LOST_RED, SCR_LOST_RED, SCR_LOST_RED, SCR_LOST_RED};
    int                  rc = SCR_SUCCESS;
    n = take(before, e);
    for (r = 0; r < 4; r++)
      for (k = 0; k < n; k++)
        if (is_mine(r) && e[k]->owner == owner[r]) {
          lose(r, SCR_LOST_RED, e[k]);
          e[k]->file[0].has_crc = e[k]->file[1].has_crc = 0;
        }
    MPI_Barrier(MPI_COMM_WORLD);
    fault(call, memory);
    if (n > 0) rc = scr_encode_protect(&x, n, e);
    hit = fault_end();
    ok = all_agree_with_struck(rc, hit);
    compare(all_red, ok, 1);
    for (k = 0; k < n; k++) scr_entry_free(&e[k]);
    nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    for (r = 0; r < 4; r++)
      if (is_mine(r)) put_back(r);
  }
  forget_set();
}

static void every_struck(int memory)
{
  int i, on;

  for (i = 0; i < 3; i++)
    for (on = ranks < 4 ? ranks : 4; on >= 1; on -= is_full() ? 1 : 3) struck(i, on, memory);
}

static void calls_that_fail(void)
{
  real = scr_os;
  scr_os.open = bad_open;
  scr_os.pread = bad_pread;
  scr_os.pwrite = bad_pwrite;
  scr_os.ftruncate = bad_ftruncate;
  scr_os.unlink = bad_unlink;
  scr_os.mkdir = bad_mkdir;
  every_struck(0);
  scr_os = real;
}

static void allocations_that_fail(void)
{
  every_struck(1);
}

/* ----------------------------------------------------------------------------------------------------------------- */

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"numbers_of_all_members", numbers_of_all_members},
             {"bytes_of_earlier_releases", bytes_of_earlier_releases},
             {"every_loss_of_a_member_each", every_loss_of_a_member_each},
             {"every_loss_with_fewer_runners", every_loss_with_fewer_runners},
             {"shapes_of_files", shapes_of_files},
             {"sizes_of_buffers", sizes_of_buffers},
             {"a_store_without_directories", a_store_without_directories},
             {"single_takes_checksums", single_takes_checksums},
             {"without_checksums", without_checksums},
             {"corrupt_files", corrupt_files},
             {"headers_that_do_not_fit", headers_that_do_not_fit},
             {"calls_that_fail", calls_that_fail},
             {"allocations_that_fail", allocations_that_fail}};

int main(int argc, char** argv)
{
  const char* dir = getenv("TEST_DIR");
  int         i, k, pid = (int)getpid(), bad = 0;
  double      start;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(base, sizeof base, "%.500s/encode.%d", dir != NULL ? dir : "/tmp", pid);
  mkdir(base, 0700);
  setvbuf(stdout, NULL, _IOLBF, 0);
  scr_fsync_enabled = 0;
  x.mpi_buf = 4096;
  x.work = (char*)scr_malloc(SCR_ENCODE_WORK_BYTES(65536));
  for (i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    int wanted = argc == 1;
    for (k = 1; k < argc; k++) wanted |= strcmp(argv[k], cases[i].name) == 0;
    if (!wanted) continue;
    if (rank == 0) printf("RUN %s\n", cases[i].name);
    failed = 0;
    start = MPI_Wtime();
    limit_time();
    cases[i].run();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %s\n", failed ? "FAIL" : "PASS", cases[i].name);
    if (rank == 0 && getenv("TEST_TIMES") != NULL) printf("%.2f s %d %s\n", MPI_Wtime() - start, ranks, cases[i].name);
    bad += failed > 0;
  }
  if (rank == 0) printf("DONE\n");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  scr_free(&x.work);
  MPI_Finalize();
  return bad > 0;
}
