/*
** regions.c - regions of memory as checkpoints, arrays that any number of ranks reads, and files that only grow.
*/
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "mpi_test.h"

/* ---- runs of some of the ranks --------------------------------------------------------------------------------- */

/* A run of the first N ranks, on some nodes. */
static void run_of(int n, void (*run)(void))
{
  run_of_nodes(n, n % 4 == 0 ? 4 : n % 3 == 0 ? 3 : n, run);
}

/* ---- bytes of a region ----------------------------------------------------------------------------------------- */

static unsigned char byte_of(unsigned seed, size_t i)
{
  return (unsigned char)((seed + 1) * 2654435761u >> 13 ^ i * 40503u >> 7 ^ i);
}

static void fill(unsigned char* p, size_t n, unsigned seed)
{
  size_t i;
  for (i = 0; i < n; i++) p[i] = byte_of(seed, i);
}

static int is_filled(const unsigned char* p, size_t n, unsigned seed)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (p[i] != byte_of(seed, i)) return 0;
  return 1;
}

/* Regions of many sizes; how many there are, and their sizes, depends on rank and version. */
#define MOST 1500

typedef struct {
  unsigned char* p;
  size_t         bytes;
  char           name[40];
} piece;

static piece pieces[MOST];
static int   npieces;

static void pieces_free(void)
{
  int i;
  for (i = 0; i < npieces; i++) free(pieces[i].p);
  npieces = 0;
}

static size_t piece_bytes(int i, int version)
{
  static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 12345, 1048577, 262144};
  if (i < 8) return sizes[(i + rank + version) % 8];
  return (size_t)(i * 7 + rank + version * 3) % 100;
}

/* Make and protect the regions of VERSION; their bytes are those of the version if FILLED, else others. */
static void protect_pieces(int version, int filled)
{
  int i, n = (rank % 3 == 2 ? 1000 : 30) + version;

  pieces_free();
  for (i = 0; i < n; i++) {
    piece* q = &pieces[npieces++];
    q->bytes = piece_bytes(i, version);
    q->p = (unsigned char*)malloc(q->bytes + 1);
    snprintf(q->name, sizeof q->name, i % 2 ? "a region/%d" : "\x01%d\xff", i);
    fill(q->p, q->bytes, filled ? (unsigned)(version * 1000 + i) : 77u);
    OK(SCR_Protect(q->name, q->bytes > 0 ? q->p : NULL, q->bytes, 1));
  }
}

static void check_pieces(int version)
{
  int i;
  for (i = 0; i < npieces; i++)
    CHECK(is_filled(pieces[i].p, pieces[i].bytes, (unsigned)(version * 1000 + i)), "region %d of %zu bytes", i,
          pieces[i].bytes);
}

/* A run that recovers VERSION, after it has asked for each size. */
static void run_recovers(int version)
{
  char   name[SCR_MAX_FILENAME] = "", wanted[20];
  size_t bytes = 1;
  int    i, have = 0;

  OK(SCR_Init());
  protect_pieces(version, 0);
  for (i = 0; i < npieces; i++) {
    OK(SCR_Region_size(pieces[i].name, &bytes));
    CHECK(bytes == pieces[i].bytes, "%zu bytes in place of %zu", bytes, pieces[i].bytes);
  }
  CODE(SCR_Region_size("no such region", &bytes), SCR_ERR_NOT_FOUND, "no region no such region");
  OK(same_code(SCR_Recover(&have, name)));
  snprintf(wanted, sizeof wanted, "v%d", version);
  CHECK(have == 1 && strcmp(name, wanted) == 0, "%d %s in place of %s", have, name, wanted);
  check_pieces(version);
  OK(SCR_Finalize());
}

static void regions_of_any_size_grow_and_shrink(void)
{
  int  version, packed, i, have;
  char name[20];

  for (packed = 0; packed < 2; packed++) {
    during("SCR_USE_CONTAINERS=%d", packed);
    test_alive();
    pieces_free();
    begin();
    set("SCR_USE_CONTAINERS=%d", packed);
    set("SCR_CONTAINER_SIZE=300000");
    OK(SCR_Init());
    OK(SCR_Recover(&have, name));
    CHECK(have == 0, "a checkpoint is recovered from nothing");
    for (version = 1; version < 4; version++) {
      for (i = 0; i < npieces; i++) OK(SCR_Unprotect(pieces[i].name));
      protect_pieces(version, 1);
      snprintf(name, sizeof name, "v%d", version);
      OK(same_code(SCR_Checkpoint(name)));
    }
    OK(SCR_Finalize());
    run_recovers(3);
    lose_all_nodes();
    run_recovers(3);
  }
  pieces_free();
}

/* One node of a set is lost, and its regions are rebuilt like any other file, whatever pieces were read of memory. */
static void regions_of_a_lost_node_are_rebuilt(void)
{
  static const scheme schemes[] = {{"XOR", 1}, {"RS", 2}, {"PARTNER", 1}, {"XOR", 1}};
  static const int    buffers[] = {131072, 5000, 70001, 1 << 20};
  int                 lost, i;

  for (i = 0; i < 8; i++) {
    lost = (i + i / 4) % ranks;
    during("%s, messages of %d bytes, node %d is lost", schemes[i % 4].type, buffers[i * 3 % 4], lost);
    begin_nodes(&schemes[i % 4]);
    set("SCR_MPI_BUF_SIZE=%d", buffers[i * 3 % 4]);
    OK(SCR_Init());
    protect_pieces(1, 1);
    OK(SCR_Checkpoint("v1"));
    OK(SCR_Finalize());
    if (rank == lost) lose(NODE);
    MPI_Barrier(MPI_COMM_WORLD);
    run_recovers(1);
  }
  pieces_free();
}

/* What SCR_Checkpoint writes is protected from memory; SCR_Complete_output cannot know what memory has by then. */
static void what_memory_has_of_regions_is_not_read_back(void)
{
  static const scheme schemes[] = {{"XOR", 1}, {"RS", 2}, {"PARTNER", 1}, {"SINGLE", 1}};
  size_t              bytes = 1 << 20;
  unsigned char*      p = (unsigned char*)malloc(bytes);
  int                 i, both, reads[2];

  for (i = 0; i < 4; i++) {
    begin_nodes(&schemes[i]);
    set("SCR_MPI_BUF_SIZE=16384");
    OK(SCR_Init());
    fill(p, bytes, 5);
    OK(SCR_Protect("all", p, bytes, 1));
    for (both = 0; both < 2; both++) {
      fault_at(FAULT_COUNT, FAULT_PREAD, 0, 1);
      fault_below("/regions.");
      if (!both) OK(SCR_Checkpoint("ck"));
      else {
        OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
        OK(SCR_Put_regions());
        OK(SCR_Complete_output(1));
      }
      fault_end();
      reads[both] = fault_seen(FAULT_PREAD);
    }
    CHECK(reads[0] <= 3 && reads[1] >= 4, "%s: %d reads with SCR_Checkpoint, %d without", schemes[i].type, reads[0],
          reads[1]);
    OK(SCR_Finalize());
  }
  free(p);
}

/* ---- what does not fit ------------------------------------------------------------------------------------------ */

static void a_region_that_does_not_fit_is_named_and_none_is_touched(void)
{
  int    a = 1, b[3] = {2, 3, 4}, have;
  char   text[4096];
  size_t one[] = {8}, none[] = {0};

  begin();
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Protect("b", b, 2, sizeof *b));
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Finalize());
  OK(SCR_Init());
  a = b[0] = b[2] = 9;
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Protect("b", b, rank == ranks - 1 ? 3 : 2, sizeof *b));
  ALIKE(SCR_Recover(&have, text), SCR_ERR_MISSING, "the region b has 8 bytes in the checkpoint ck, but 12");
  CHECK(have == 0 && a == 9 && b[0] == 9, "a region was touched");
  OK(SCR_Protect("b", b, 2, sizeof *b));
  if (rank == 0) OK(SCR_Protect("c", b, 1, 1));
  ALIKE(SCR_Recover(&have, NULL), SCR_ERR_MISSING, "has no region c");
  CHECK(have == 0 && a == 9 && b[0] == 9, "a region was touched");
  if (rank == 0) OK(SCR_Unprotect("c"));
  OK(SCR_Protect_array("b", b, 1, 1, one, none, rank == 0 ? one : none));
  ALIKE(SCR_Recover(&have, NULL), SCR_ERR_MISSING, "the region b is not the same array");
  OK(SCR_Unprotect("b"));
  hear();
  OK(SCR_Recover(&have, NULL));
  heard(text, sizeof text);
  CHECK(have == 1 && a == 1 && b[0] == 9, "%d %d %d", have, a, b[0]);
  CHECK(times(text, "such as b") == (rank == 0), "rank %d says: %s", rank, text);
  OK(SCR_Checkpoint("next"));
  OK(SCR_Finalize());
}

/* A file of regions is damaged after SCR_Init has checked it: the checkpoint before it is taken. */
static void a_damaged_region_costs_one_checkpoint(void)
{
  char  name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], cache[700];
  int   have, i;
  short s[5000];

  for (i = 0; i < 2; i++) {
    begin();
    set("SCR_CACHE_SIZE=2");
    OK(SCR_Init());
    OK(SCR_Protect("s", s, 5000, sizeof *s));
    fill((unsigned char*)s, sizeof s, 1);
    OK(SCR_Checkpoint("one"));
    fill((unsigned char*)s, sizeof s, 2);
    OK(SCR_Checkpoint("two"));
    OK(SCR_Finalize());
    OK(SCR_Init());
    OK(SCR_Protect("s", s, 5000, sizeof *s));
    snprintf(cache, sizeof cache, "%s/cache", case_dir);
    if (rank == 0) {
      CHECK(find_file(cache, "/two/regions.0", 0, path) == 1, "files of regions in %s", cache);
      flip_bit(path, i == 0 ? 6000 : 30);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(same_code(SCR_Recover(&have, name)));
    CHECK(have && strcmp(name, "one") == 0, "%d %s", have, name);
    CHECK(is_filled((unsigned char*)s, sizeof s, 1), "the region");
    OK(SCR_Finalize());
  }
}

static void a_checkpoint_without_regions_is_passed_over(void)
{
  char name[SCR_MAX_FILENAME], text[4096];
  int  have, a = rank;

  begin();
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Checkpoint(NULL));
  OK(put("files", 1, 100));
  OK(SCR_Finalize());
  a = -1;
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  hear();
  OK(SCR_Recover(&have, name));
  heard(text, sizeof text);
  CHECK(have && strcmp(name, "scr.dataset.1") == 0 && a == rank, "%d %s %d", have, name, a);
  CHECK(times(text, "files has no regions") == (rank == 0), "%s", text);
  OK(SCR_Finalize());
  run_gets("files", 1, 100); /* that run, and no other */
}

/* Regions beside files of the program, in datasets and restarts that it starts itself. */
static void regions_go_with_files_of_the_program(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  a = 5 + rank, flag, lost;

  begin();
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Start_checkpoint());
  name_of("mine", 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 3, 777), "%s", file);
  OK(SCR_Put_regions());
  OK(SCR_Complete_checkpoint(1));
  CODE(SCR_Put_regions(), SCR_ERR_STATE, "before SCR_Start_output");
  CODE(SCR_Get_regions(), SCR_ERR_STATE, "before SCR_Start_restart");
  OK(SCR_Finalize());
  for (lost = 0; lost < 2; lost++) {
    a = -1;
    OK(SCR_Init());
    OK(SCR_Protect("a", &a, 1, sizeof a));
    OK(SCR_Have_restart(&flag, NULL));
    OK(SCR_Start_restart(NULL));
    OK(SCR_Get_regions());
    OK(SCR_Route_file(path, file));
    CHECK(same_bytes(file, 3, 777) && a == 5 + rank, "%s, %d", file, a);
    OK(SCR_Complete_restart(1));
    OK(SCR_Finalize());
    lose_all_nodes();
  }
}

static void wrong_arguments_of_regions_are_refused(void)
{
  char   long_name[300];
  size_t global[9] = {4, 5, 1, 1, 1, 1, 1, 1, 1}, offset[9] = {0}, extent[9] = {4, 5, 1, 1, 1, 1, 1, 1, 1}, bytes;
  double u[20];

  begin();
  memset(long_name, 'x', sizeof long_name);
  long_name[256] = '\0';
  CODE(SCR_Protect("a", u, 1, 1), SCR_ERR_STATE, "before SCR_Init");
  CODE(SCR_Track("log"), SCR_ERR_STATE, "before SCR_Init");
  CODE(SCR_Region_size("a", &bytes), SCR_ERR_STATE, "before SCR_Init");
  CODE(SCR_Checkpoint("a"), SCR_ERR_STATE, "before SCR_Init");
  OK(SCR_Init());
  CODE(SCR_Protect(NULL, u, 1, 1), SCR_ERR_ARG, "name of 1 to 255");
  CODE(SCR_Protect("", u, 1, 1), SCR_ERR_ARG, "name of 1 to 255");
  CODE(SCR_Protect(long_name, u, 1, 1), SCR_ERR_ARG, "name of 1 to 255");
  long_name[255] = '\0';
  OK(SCR_Protect(long_name, u, 1, 1));
  CODE(SCR_Protect("a", NULL, 2, 3), SCR_ERR_ARG, "6 bytes, but no address");
  CODE(SCR_Protect("a", u, (size_t)-1, 2), SCR_ERR_ARG, "more bytes");
  CODE(SCR_Unprotect("a"), SCR_ERR_ARG, "no region a");
  CODE(SCR_Unprotect(NULL), SCR_ERR_ARG, "without a name");
  CODE(SCR_Region_size("a", &bytes), SCR_ERR_STATE, "no checkpoint is loaded");
  CODE(SCR_Region_size("a", NULL), SCR_ERR_ARG, "a place");
  CODE(SCR_Protect_array("u", u, 8, 0, global, offset, extent), SCR_ERR_ARG, "1 to 8 dimensions");
  CODE(SCR_Protect_array("u", u, 8, 9, global, offset, extent), SCR_ERR_ARG, "1 to 8 dimensions");
  CODE(SCR_Protect_array("u", u, 8, 2, NULL, offset, extent), SCR_ERR_ARG, "1 to 8 dimensions");
  CODE(SCR_Protect_array("u", u, 0, 2, global, offset, extent), SCR_ERR_ARG, "no bytes");
  CODE(SCR_Protect_array("u", NULL, 8, 2, global, offset, extent), SCR_ERR_ARG, "no address");
  offset[1] = 1;
  CODE(SCR_Protect_array("u", u, 8, 2, global, offset, extent), SCR_ERR_ARG, "not within");
  global[0] = global[1] = (size_t)1 << 31;
  CODE(SCR_Protect_array("u", u, 8, 2, global, offset, extent), SCR_ERR_ARG, "too large");
  ALIKE(SCR_Recover(NULL, NULL), SCR_ERR_ARG, "a flag");
  CODE(SCR_Track(NULL), SCR_ERR_ARG, "a file");
  CODE(SCR_Track("/elsewhere/log"), SCR_ERR_PATH, "not below");
  OK(SCR_Start_checkpoint());
  CODE(SCR_Checkpoint("a"), SCR_ERR_STATE, "before SCR_Complete_checkpoint");
  OK(SCR_Complete_checkpoint(1));
  ALIKE(SCR_Checkpoint(rank == 0 ? "a" : "b"), ranks > 1 ? SCR_ERR_DIFFER : SCR_SUCCESS, ranks > 1 ? "different" : "");
  ALIKE(SCR_Checkpoint("../../a"), SCR_ERR_PATH, "");
  OK(SCR_Checkpoint("good"));
  OK(SCR_Finalize());
}

static void without_the_library_regions_do_nothing(void)
{
  int    a = 3, have = 1;
  size_t bytes = 1;

  begin();
  set("SCR_ENABLE=0");
  CODE(SCR_Init(), SCR_ERR_DISABLED, "");
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Track("log"));
  OK(SCR_Recover(&have, NULL));
  OK(SCR_Region_size("a", &bytes));
  CHECK(have == 0 && bytes == 0 && a == 3, "%d %zu %d", have, bytes, a);
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Put_regions());
  OK(SCR_Get_regions());
  OK(SCR_Unprotect("a"));
  OK(SCR_Finalize());
  CHECK(!there("prefix/ck"), "a checkpoint was written");
}

/* What a command lists and takes out of a file of regions, also of one that was in a container. */
static void a_command_lists_and_dumps_regions(void)
{
  uint16_t      u[2][3] = {{1, 2, 3}, {4, 5, 6}};
  unsigned char v[5000];
  size_t        global[] = {2 * (size_t)ranks, 3}, offset[] = {2 * (size_t)rank, 0}, extent[] = {2, 3};
  int           packed;

  fill(v, sizeof v, 5);
  for (packed = 0; packed < 2; packed++) {
    begin();
    set("SCR_FLUSH=1");
    set("SCR_USE_CONTAINERS=%d", packed);
    OK(SCR_Init());
    OK(SCR_Protect("some bytes", v, sizeof v, 1));
    OK(SCR_Protect_array("u", u, 2, 2, global, offset, extent));
    OK(SCR_Checkpoint("ck"));
    OK(SCR_Finalize());
    shell("$TEST_INDEX -p prefix --extract ck --into out && cd out/ck && test $(ls | wc -l) = %d", ranks);
    shell("cd out/ck && $TEST_REGIONS regions.0 > list && test $(wc -l < list) = 2");
    shell("cd out/ck && grep -q ' 5000 *5000 *1 *4096  0x........  some bytes$' list");
    shell("cd out/ck && grep -q ' 12 *6 *2 .* u  .0,0.  .2,3.  .%d,3.$' list", 2 * ranks);
    shell("cd out/ck && $TEST_REGIONS regions.0 'some bytes' | cksum > a && tail -c +4097 regions.0 | head -c 5000 | "
          "cksum | cmp - a");
    shell("cd out/ck && $TEST_REGIONS --npy=u regions.1 u > u.npy && test $(wc -c < u.npy) = $((128 + 12))");
    shell("cd out/ck && head -c 10 u.npy | od -An -tx1 | grep -q '93 4e 55 4d 50 59 01 00 76 00'");
    shell("cd out/ck && grep -aq \"'descr': '[<>]u2', 'fortran_order': False, 'shape': (2, 3, )\" u.npy");
    shell("cd out/ck && $TEST_REGIONS --npy regions.1 u | grep -aq \"'descr': '|V2'\"");
    shell("cd out/ck && ! $TEST_REGIONS regions.0 none 2> told && grep -q 'has no region none' told");
    shell("cd out/ck && ! $TEST_REGIONS --npy=x regions.0 u 2> told && grep -q 'one of f, i, u, c' told");
    shell("cd out/ck && printf X | dd of=regions.0 bs=1 seek=4500 conv=notrunc 2> dd; "
          "! $TEST_REGIONS regions.0 'some bytes' > bytes 2> told && grep -q 'corrupt in the region some bytes' told");
    shell("cd out/ck && printf X | dd of=regions.0 bs=1 seek=50 conv=notrunc 2> dd; ! $TEST_REGIONS regions.0 2> told");
  }
}

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

#define DIMS 4

typedef struct {
  size_t start[DIMS], extent[DIMS];
} box;

/* Cut ALL into N boxes at random, alike on every rank; some may be empty. */
static void cut(box all, int dims, int n, box* to)
{
  box    rest = all;
  int    d, left = n / 2;
  size_t at;

  if (n == 1) {
    *to = all;
    return;
  }
  d = (int)roll((unsigned)dims);
  at = roll((unsigned)all.extent[d] + 1);
  if (roll(4) > 0) at = all.extent[d] / 2;
  rest.start[d] += at;
  rest.extent[d] -= at;
  all.extent[d] = at;
  cut(all, dims, left, to);
  cut(rest, dims, n - left, to + left);
}

static int            array_dims, array_gap; /* gap: elements between blocks in memory, in each dimension */
static size_t         array_global[DIMS], array_size;
static box            blocks[16];
static unsigned char* memory;
static size_t         memory_bytes;
static int            common_step;

/* The offset in memory of the element AT of the block B. */
static size_t place_of(const box* b, const size_t* at)
{
  size_t n = 0;
  int    d;

  for (d = 0; d < array_dims; d++) n = n * (b->extent[d] + (size_t)array_gap) + at[d];
  return n * array_size;
}

/* Write the elements of the block B to memory, or, when CHECKS, compare them; 1 when all is as it should be. */
static int visit_block(const box* b, int checks)
{
  size_t at[DIMS] = {0}, n = 1, i, k, number;
  int    d, ok = 1;

  for (d = 0; d < array_dims; d++) n *= b->extent[d];
  for (i = 0; i < n; i++) {
    unsigned char* p = memory + place_of(b, at);
    for (number = 0, d = 0; d < array_dims; d++) number = number * array_global[d] + b->start[d] + at[d];
    for (k = 0; k < array_size; k++) {
      if (!checks) p[k] = byte_of((unsigned)number, k);
      else if (p[k] != byte_of((unsigned)number, k)) ok = 0;
    }
    for (d = array_dims - 1; d >= 0 && ++at[d] == b->extent[d]; d--) at[d] = 0;
  }
  return ok;
}

static void protect_block(const char* name, const box* b)
{
  size_t stride[DIMS], n = 1;
  int    d;

  for (d = array_dims - 1; d >= 0; d--) {
    stride[d] = n;
    n *= b->extent[d] + (size_t)array_gap;
  }
  free(memory);
  memory_bytes = n * array_size;
  memory = (unsigned char*)calloc(1, memory_bytes + 1);
  if (array_gap)
    OK(SCR_Protect_array_strided(name, memory, array_size, array_dims, array_global, b->start, b->extent, stride));
  else OK(SCR_Protect_array(name, memory, array_size, array_dims, array_global, b->start, b->extent));
  OK(SCR_Protect("step", &common_step, 1, sizeof common_step));
}

static void array_written(void)
{
  protect_block("u", &blocks[rank]);
  visit_block(&blocks[rank], 0);
  common_step = 4711;
  OK(SCR_Checkpoint("ck"));
}

static void array_read(void)
{
  int have = 0;

  protect_block("u", &blocks[rank]);
  common_step = 0;
  OK(SCR_Recover(&have, NULL));
  CHECK(have == 1 && common_step == 4711, "%d %d", have, common_step);
  CHECK(visit_block(&blocks[rank], 1), "the block of rank %d", rank);
}

static void cut_array(int n)
{
  box all = {{0}, {0}};

  memcpy(all.extent, array_global, sizeof array_global);
  cut(all, array_dims, n, blocks);
}

static void choose_array(int dims)
{
  static const size_t sizes[] = {1, 8, 3, 4};
  static const size_t most[] = {0, 20000, 150, 30, 11};
  int                 d;

  array_dims = dims;
  array_size = sizes[roll(4)];
  array_gap = (int)roll(2);
  for (d = 0; d < dims; d++) array_global[d] = 1 + roll((unsigned)most[dims]);
}

static void an_array_is_read_by_any_number_of_ranks(void)
{
  static const int counts[] = {1, 2, 3, 4, 6, 8};
  int              from, to, k = 0, packed;

  for (from = 0; from < 6; from++)
    for (to = 0; to < 6; to++, k++) {
      if (k % pace(3, 1, 1) != turn(pace(3, 1, 1))) continue;
      packed = k % 4 == 3;
      choose_array(1 + k % DIMS);
      during("from %d to %d ranks, %d dimensions, packed %d", counts[from], counts[to], array_dims, packed);
      test_alive();
      begin();
      set("SCR_FSYNC=0");
      set("SCR_FLUSH=%d", k % 3 == 0 ? 1 : 10);
      set("SCR_USE_CONTAINERS=%d", packed);
      set("SCR_CONTAINER_SIZE=4096");
      cut_array(counts[from]);
      run_of(counts[from], array_written);
      cut_array(counts[to]);
      run_of(counts[to], array_read);
      if (k % 2 == 0) run_of(counts[to], array_read);
    }
  free(memory);
  memory = NULL;
}

/* Blocks of more bytes than are read, and sent, at once: those who want its beginning have all before it was read. */
/* A list that has another length each time: the length is read first. */
static void list_is_read(void)
{
  size_t total = 0, offset = 0, extent, i;
  int    list[100], have, wrong = 0;

  OK(SCR_Protect("total", &total, 1, sizeof total));
  OK(SCR_Recover(&have, NULL));
  extent = rank == 0 ? total : 0; /* all to one */
  CHECK(have == 1 && total > 0 && total <= 100, "%d, %zu", have, total);
  OK(SCR_Protect_array("list", list, sizeof *list, 1, &total, &offset, &extent));
  OK(SCR_Recover(&have, NULL));
  for (i = 0; i < extent; i++) wrong += list[i] != (int)i;
  CHECK(have == 1 && wrong == 0, "%d are wrong", wrong);
}

static void a_list_is_an_array_whose_length_is_a_region(void)
{
  size_t total = (size_t)(ranks * (ranks + 1) / 2), offset = (size_t)(rank * (rank + 1) / 2), extent = (size_t)rank + 1,
         i;
  int list[100];

  begin();
  OK(SCR_Init());
  for (i = 0; i < extent; i++) list[i] = (int)(offset + i);
  OK(SCR_Protect("total", &total, 1, sizeof total));
  OK(SCR_Protect_array("list", list, sizeof *list, 1, &total, &offset, &extent));
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Finalize());
  run_of(2, list_is_read);
  run_of(ranks, list_is_read);
}

static void a_large_array_is_read_by_other_ranks(void)
{
  static const int counts[][2] = {{1, 2}, {2, 3}, {3, 4}, {4, 3}, {2, 4}, {3, 2}};
  int              i;

  array_size = 8;
  array_gap = 0;
  for (i = 0; i < 12; i++) {
    array_dims = 1 + i % 2;
    array_global[0] = array_dims == 1 ? 200000 : 500;
    array_global[1] = 400;
    during("from %d to %d ranks, %d dimensions", counts[i / 2][0], counts[i / 2][1], array_dims);
    test_alive();
    begin();
    set("SCR_FSYNC=0");
    cut_array(counts[i / 2][0]);
    run_of(counts[i / 2][0], array_written);
    cut_array(counts[i / 2][1]);
    run_of(counts[i / 2][1], array_read);
  }
  free(memory);
  memory = NULL;
}

/* One node is lost, and other ranks read what is rebuilt. */
static void an_array_of_a_lost_node_is_read_by_other_ranks(void)
{
  char cache[700], path[SCR_MAX_FILENAME];
  int  n;

  for (n = 3; n <= 8; n += 5) { /* the node that is lost is one that 3 ranks do not have, and one of those of 8 */
    during("%d ranks", n);
    test_alive();
    begin();
    set("SCR_FLUSH=0");
    choose_array(2);
    cut_array(4);
    run_of(4, array_written);
    snprintf(cache, sizeof cache, "%s/cache", case_dir);
    CHECK(find_file(cache, "/ck/regions.", 0, path) == 4, "files of regions in %s", cache);
    MPI_Barrier(MPI_COMM_WORLD);
    if (n == 8) shell("rm -rf $(dirname $(find cache -path '*/ck/regions.2'))");
    cut_array(n);
    run_of(n, array_read);
  }
  free(memory);
  memory = NULL;
}

/* Blocks that are wanted may overlap: each rank reads the whole array. */
static void reads_all(void)
{
  int i;

  for (i = 0; i < 16; i++) {
    memset(&blocks[i], 0, sizeof blocks[i]);
    memcpy(blocks[i].extent, array_global, sizeof array_global);
  }
  array_read();
}

static void blocks_that_are_read_may_overlap(void)
{
  int k;

  for (k = 0; k < 4; k++) {
    choose_array(1 + k);
    begin();
    cut_array(ranks);
    run_of(ranks, array_written);
    run_of(ranks, reads_all);
    run_of(ranks - 1, reads_all);
  }
  free(memory);
  memory = NULL;
}

static void holes_and_overlaps_name_the_first_element(void)
{
  size_t        global[] = {(size_t)ranks, 10}, offset[] = {(size_t)rank, 0}, extent[] = {1, 10};
  unsigned char u[20] = {0};
  int           have;

  begin();
  OK(SCR_Init());
  OK(SCR_Protect_array("v", u, 1, 2, global, offset, extent));
  OK(SCR_Protect_array("u", u, 1, 2, global, offset, extent));
  OK(SCR_Checkpoint("good"));
  if (rank == 1) extent[1] = 7;
  OK(SCR_Protect_array("u", u, 1, 2, global, offset, extent));
  ALIKE(SCR_Checkpoint("hole"), SCR_ERR_ARG, "no rank has element [1,7] of the array u");
  extent[1] = 10;
  if (rank == 1) {
    extent[1] = 5; /* and rank 2 has the second half of row 1, too, but begins one element early */
  }
  if (rank == 2) {
    offset[0] = 1;
    offset[1] = 4;
    extent[0] = 2;
    extent[1] = 6;
  }
  OK(SCR_Protect_array("u", u, 1, 2, global, offset, extent));
  ALIKE(SCR_Checkpoint("overlap"), SCR_ERR_ARG, "two ranks have element [1,4] of the array u");
  if (rank == 2) global[1] = 11;
  OK(SCR_Protect_array("u", u, 1, 2, global, offset, extent));
  ALIKE(SCR_Checkpoint("other"), SCR_ERR_DIFFER, "array u is not on this rank what it is on rank 0");
  if (rank == 0) OK(SCR_Unprotect("u"));
  ALIKE(SCR_Checkpoint("none"), SCR_ERR_DIFFER, "rank 0 does not protect the array u");
  if (rank == 0) OK(SCR_Protect_array("u", u, 1, 2, global, offset, extent));
  else OK(SCR_Protect("u", u, 1, 1));
  ALIKE(SCR_Checkpoint("plain"), SCR_ERR_DIFFER, "array u is not on this rank what it is on rank 0");
  OK(SCR_Unprotect("u"));
  OK(SCR_Checkpoint("next"));
  OK(SCR_Finalize());
  OK(SCR_Init());
  global[1] = 10;
  offset[0] = (size_t)rank;
  offset[1] = 0;
  extent[0] = 1;
  extent[1] = 10;
  OK(SCR_Protect_array("w", u, 1, 2, global, offset, extent));
  ALIKE(SCR_Recover(&have, NULL), SCR_ERR_MISSING, "has no region w");
  OK(SCR_Unprotect("w"));
  global[1] = 20;
  OK(SCR_Protect_array("v", u, 1, 2, global, offset, extent));
  ALIKE(SCR_Recover(&have, NULL), SCR_ERR_MISSING, ",10] of 1 bytes there, and [");
  OK(SCR_Finalize());
}

/* ---- plain regions and other numbers of ranks ------------------------------------------------------------------- */

static void writes_own(void)
{
  int own = rank % 2 ? 12345 : -613337480, same = 7, first = 12; /* their checksums differ in the last bit alone */

  OK(SCR_Protect("own", &own, 1, sizeof own));
  OK(SCR_Protect("same", &same, 1, sizeof same));
  if (rank == 0) OK(SCR_Protect("first", &first, 1, sizeof first));
  OK(SCR_Checkpoint("ck"));
}

static void reads_own(void)
{
  int own = -1, same = -1, first = -1, have;

  OK(SCR_Protect("same", &same, 1, sizeof same));
  if (rank == 0) OK(SCR_Protect("first", &first, 1, sizeof first));
  OK(SCR_Protect("own", &own, 1, sizeof own));
  CODE(SCR_Recover(&have, NULL), SCR_ERR_MISSING, "own is not the same on all of the 4 ranks");
  CHECK(same == -1 && first == -1 && own == -1, "a region was touched");
  OK(SCR_Unprotect("own"));
  if (some > 1 && rank == 1) OK(SCR_Protect("mine", &own, 1, sizeof own));
  if (some > 1) CODE(SCR_Recover(&have, NULL), SCR_ERR_DIFFER, "rank 0 does not protect the region mine");
  if (some > 1 && rank == 1) OK(SCR_Unprotect("mine"));
  OK(SCR_Recover(&have, NULL));
  CHECK(have == 1 && same == 7 && own == -1 && first == (rank == 0 ? 12 : -1), "%d %d %d %d", have, same, own, first);
}

static void regions_of_ranks_that_are_gone_are_not_guessed(void)
{
  begin();
  run_of(4, writes_own);
  run_of(3, reads_own);
  run_of(1, reads_own);
  run_of(8, reads_own);
}

/* ---- files that only grow ---------------------------------------------------------------------------------------- */

static char log_path[SCR_MAX_FILENAME];

/* Append the lines of step STEP to the log of this rank. */
static void log_step(int step)
{
  FILE* f = fopen(log_path, "a");
  int   i;

  for (i = 0; f != NULL && i <= step % 4; i++) fprintf(f, "step %d line %d of rank %d\n", step, i, rank);
  CHECK(f != NULL && fclose(f) == 0, "%s", log_path);
}

/* That the log has all lines of the steps 1 to STEPS, each once. */
static void check_log(int steps)
{
  char  want[100], line[100];
  FILE* f = fopen(log_path, "r");
  int   step, i;

  for (step = 1; step <= steps; step++)
    for (i = 0; i <= step % 4; i++) {
      snprintf(want, sizeof want, "step %d line %d of rank %d\n", step, i, rank);
      if (f == NULL || fgets(line, sizeof line, f) == NULL) snprintf(line, sizeof line, "nothing");
      CHECK(strcmp(line, want) == 0, "%s, not %s", line, want);
      if (strcmp(line, want) != 0) i = step = steps + 4;
    }
  CHECK(f == NULL || fgets(line, sizeof line, f) == NULL, "more lines: %s", line);
  if (f != NULL) fclose(f);
}

/*
** A run that goes on to step 12, with a checkpoint at each third step, and dies at call N of one of its ranks, if it
** makes as many.  Returns 1 when it came to its end.
*/
static int run_logs(int mode, int n)
{
  int have = 0, step = 0, next, rc, dying = (int)roll((unsigned)ranks);

  if (rank == dying && n > 0) fault_at(mode, FAULT_ALL, EIO, n);
  if (same_code(SCR_Init()) != SCR_SUCCESS) {
    fault_end();
    return 0;
  }
  snprintf(log_path, sizeof log_path, "%s/logs/of_%d", case_prefix, rank);
  OK(SCR_Track(log_path));
  OK(SCR_Protect("step", &step, 1, sizeof step));
  rc = same_code(SCR_Recover(&have, NULL));
  CHECK(rc != SCR_ERR_MISSING && rc != SCR_ERR_CRC, "a log is not whole: %s", SCR_Last_error());
  if (rc == SCR_SUCCESS && !have) remove(log_path); /* a run from the beginning begins its files anew */
  for (next = step + 1; rc == SCR_SUCCESS && next <= 12; next++) {
    log_step(next);
    step = next;
    if (step % 3 == 0) rc = same_code(SCR_Checkpoint(NULL));
  }
  if (rc == SCR_SUCCESS) check_log(12);
  if (rc == SCR_SUCCESS && n == 0) OK(SCR_Finalize());
  else run_dies();
  return rc == SCR_SUCCESS;
}

/* Runs die at some call, of the restart, the flushes and the checkpoints: no line is lost, and none is there twice. */
static void a_tracked_file_has_each_line_once(void)
{
  static const int modes[] = {FAULT_DEAD, FAULT_TORN};
  int              dies, rounds = test_long ? 300 : 12, round, deaths = 0;

  for (round = 0; round < rounds; round++) {
    begin();
    set("SCR_FLUSH=%d", (int)roll(3));
    set("SCR_CACHE_SIZE=%d", 1 + (int)roll(2));
    shell("mkdir prefix/logs");
    for (dies = 0; dies < 4; dies++) {
      int n = 1 + (int)roll(dies % 2 ? 120 : 300);
      during("round %d, death %d at call %d", round, dies, n);
      test_alive();
      deaths += !run_logs(modes[roll(2)], n);
    }
    CHECK(run_logs(FAULT_DEAD, 0), "the last run did not come to its end: %s", SCR_Last_error());
    run_logs(FAULT_DEAD, 0); /* and from its end */
    check_log(12);
  }
  CHECK(deaths > rounds, "only %d deaths", deaths);
}

static void append(const char* rel, const char* text)
{
  char  path[SCR_MAX_FILENAME];
  FILE* f;

  snprintf(path, sizeof path, "%s/%s", case_dir, rel);
  f = fopen(path, "a");
  CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
}

/* That PATH below the directory of the case holds TEXT. */
static void check_text(const char* rel, const char* text)
{
  char  path[SCR_MAX_FILENAME];
  long  n;
  char* is;

  snprintf(path, sizeof path, "%s/%s", case_dir, rel);
  is = read_file(path, &n);
  CHECK(is != NULL && strcmp(is, text) == 0, "%s holds %s", rel, is != NULL ? is : "nothing");
  free(is);
}

static void restart_cuts(void)
{
  int have;

  OK(SCR_Recover(&have, NULL));
  CHECK(have == 1, "no checkpoint");
}

/* What one rank tracked is cut by any number of ranks; what is cut off is kept. */
static void a_restart_cuts_tracked_files(void)
{
  int a = 1;

  begin();
  set("SCR_FLUSH=1");
  if (rank == 1) append("prefix/log", "one\n");
  OK(SCR_Init());
  if (rank == 1) OK(SCR_Track("log"));
  if (rank == 0) OK(SCR_Track("later"));
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Checkpoint("ck"));
  if (rank == 1) append("prefix/log", "two\nthree\n");
  if (rank == 0) append("prefix/later", "four\n");
  OK(SCR_Finalize());
  run_of(2, restart_cuts);
  check_text("prefix/log", "one\n");
  check_text("prefix/log.scr-cut", "two\nthree\n");
  check_text("prefix/later", "");
  check_text("prefix/later.scr-cut", "four\n");
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) append("prefix/log", "two again\n");
  lose_all_nodes();
  run_of(ranks, restart_cuts);
  check_text("prefix/log", "one\n");
  check_text("prefix/log.scr-cut", "two again\n");
  run_of(ranks, restart_cuts); /* nothing is left to cut */
  check_text("prefix/log.scr-cut", "two again\n");
}

/* A run that begins, and writes the checkpoints ck1 and ck2, of A and a log that rank 0 tracks. */
static void write_two_with_a_log(int* a)
{
  OK(SCR_Init());
  if (rank == 0) append("prefix/log", "one\n");
  if (rank == 0) OK(SCR_Track("log"));
  OK(SCR_Protect("a", a, 1, sizeof *a));
  OK(SCR_Checkpoint("ck1"));
  if (rank == 0) append("prefix/log", "two\n");
  OK(SCR_Checkpoint("ck2"));
}

/* A run that goes back to another checkpoint than the one it has restarted from, or to the same one again. */
static void each_restart_of_a_run_cuts_tracked_files(void)
{
  int a = 1;

  begin();
  set("SCR_FLUSH=1");
  write_two_with_a_log(&a);
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Start_restart(NULL));
  OK(SCR_Complete_restart(1));
  if (rank == 0) append("prefix/log", "three\n");
  OK(SCR_Start_restart(NULL));
  OK(SCR_Complete_restart(1));
  check_text("prefix/log", "one\ntwo\n");
  OK(SCR_Current("ck1"));
  OK(SCR_Start_restart(NULL));
  OK(SCR_Complete_restart(1));
  check_text("prefix/log", "one\n");
  OK(SCR_Finalize());
}

/* The program cannot read any checkpoint. */
static void restarts_in_vain(void)
{
  int have;

  for (OK(SCR_Have_restart(&have, NULL)); have;) {
    OK(SCR_Start_restart(NULL));
    CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, "could not restart");
    if (SCR_Have_restart(&have, NULL) != SCR_SUCCESS) break;
  }
}

/* A run tracks the log: a line before each of the checkpoints ck1 to ck3, and one that follows. */
static void run_that_logs_thrice(void)
{
  int  a = 1, i;
  char name[16];

  set("SCR_FLUSH=1");
  OK(SCR_Init());
  if (rank == 0) OK(SCR_Track("log"));
  OK(SCR_Protect("a", &a, 1, sizeof a));
  for (i = 1; i <= 3; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    if (rank == 0) append("prefix/log", i == 1 ? "one\n" : i == 2 ? "two\n" : "three\n");
    OK(SCR_Checkpoint(name));
  }
  if (rank == 0) append("prefix/log", "tail\n");
  OK(SCR_Finalize());
}

/* The same with one checkpoint, ck, and the log LOG: a line before it, and one that follows. */
static void run_that_logs_to(const char* log)
{
  char path[64];
  int  a = 1;

  snprintf(path, sizeof path, "prefix/%s", log);
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  if (rank == 0) append(path, "one\n");
  if (rank == 0) OK(SCR_Track(log));
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Checkpoint("ck"));
  if (rank == 0) append(path, "two\n");
  OK(SCR_Finalize());
}

static void run_that_logs(void)
{
  run_that_logs_to("log");
}

/* What a rank tracks is no file of a dataset, be it of another rank, in a checkpoint or an output, cached or not. */
static void what_is_tracked_is_not_replaced(void)
{
  int  kind;
  char file[4096];

  begin();
  as_job("one");
  set("SCR_FLUSH=1");
  for (kind = 0; kind < 4; kind++) {
    set("SCR_CACHE_BYPASS=%d", kind / 2);
    OK(SCR_Init());
    if (rank == 0 && kind == 0) append("prefix/log", "one\n");
    if (rank == 0) OK(SCR_Track("log"));
    OK(SCR_Start_output("ck", kind % 2 ? SCR_FLAG_OUTPUT : SCR_FLAG_CHECKPOINT));
    if (rank == ranks - 1) {
      OK(SCR_Route_file("log", file));
      OK(!write_bytes(file, 1, 13));
    }
    ALIKE(SCR_Complete_output(1), SCR_ERR_ARG, "log, which rank");
    OK(SCR_Finalize());
    check_text("prefix/log", "one\n");
  }
}

/* One that the program cannot read may be followed by others: all that they cut off can be put back. */
static void what_several_restarts_cut_is_kept(void)
{
  begin();
  as_job("one");
  run_that_logs_thrice();
  run_of(ranks, restarts_in_vain);
  check_text("prefix/log", "one\n");
  check_text("prefix/log.scr-cut", "two\nthree\ntail\n");
  shell("cat prefix/log.scr-cut >>prefix/log; $TEST_INDEX --prefix prefix --current ck3");
  run_of(ranks, restart_cuts);
  check_text("prefix/log", "one\ntwo\nthree\n");
  check_text("prefix/log.scr-cut", "tail\n");
}

static void is_told_of_the_log(void)
{
  int have, rc = SCR_Recover(&have, NULL);

  CHECK(rc != SCR_SUCCESS && strstr(SCR_Last_error(), "the tracked file") != NULL, "%d: %s", rc, SCR_Last_error());
}

/* A run from an older checkpoint has appended to what a restart has cut: the newer one gets its file all the same. */
static void what_was_cut_is_put_back_as_the_manual_says(void)
{
  int shorter;

  for (shorter = 0; shorter <= 1; shorter++) {
    begin();
    as_job("one");
    run_that_logs_thrice();
    shell("$TEST_INDEX --prefix prefix --current ck1");
    run_of(ranks, restart_cuts);
    shell("echo %s >>prefix/log; $TEST_INDEX --prefix prefix --current ck3", shorter ? "x" : "two again");
    run_of(ranks, is_told_of_the_log);
    shell("end=$($TEST_PRINT prefix/log.scr-cut.end | sed -n 's/^ *END = //p') && "
          "truncate -s $((end - $(stat -c %%s prefix/log.scr-cut))) prefix/log && cat prefix/log.scr-cut >>prefix/log");
    check_text("prefix/log", "one\ntwo\nthree\ntail\n");
    run_of(ranks, restart_cuts);
    check_text("prefix/log", "one\ntwo\nthree\n");
  }
}

static void goes_on(void)
{
  int have;

  OK(SCR_Have_restart(&have, NULL));
}

/* It is a file of ours then, with bytes that somebody else may have chosen: it does not pass for settings. */
static void what_is_cut_off_is_no_file_of_settings(void)
{
  begin();
  as_job("one");
  run_that_logs_thrice();
  if (geteuid() == 0) shell("chown 4711 prefix/log");
  run_of(ranks, restart_cuts);
  check_text("prefix/log.scr-cut", "tail\n");
  shell("echo SCR_FLUSH=many >>prefix/log.scr-cut; mv prefix/log.scr-cut prefix/.scrconf");
  run_of(ranks, goes_on);
  shell("chmod -t prefix/.scrconf");
  CODE(SCR_Init(), SCR_ERR_PARAM, ".scrconf");
}

static int fails_io(const char* path)
{
  (void)path;
  return EIO;
}

/* A restart that the program could not read has cut; the next one fails where it opens what was cut off, or cuts. */
static int at_the_cut;

static void second_cut_fails(void)
{
  int have;

  OK(SCR_Have_restart(&have, NULL));
  OK(SCR_Start_restart(NULL));
  CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, "could not restart");
  OK(SCR_Have_restart(&have, NULL));
  if (at_the_cut) fault_watch(FAULT_FTRUNCATE, "prefix/log", "log", fails_io);
  else fault_watch(FAULT_OPEN, "prefix/log", ".scr-cut", fails_io);
  ALIKE(SCR_Start_restart(NULL), SCR_ERR_IO, at_the_cut ? "cannot cut" : "which an earlier restart has cut off");
  fault_end();
}

static void what_was_cut_off_outlives_a_cut_that_fails(void)
{
  for (at_the_cut = 0; at_the_cut <= 1; at_the_cut++) {
    begin();
    as_job("one");
    run_that_logs_thrice();
    run_of(ranks, second_cut_fails);
    check_text("prefix/log", "one\ntwo\nthree\n");
    check_text("prefix/log.scr-cut", at_the_cut ? "three\ntail\n" : "tail\n");
    run_of(ranks, restarts_in_vain);
    check_text("prefix/log", "one\n");
    check_text("prefix/log.scr-cut", "two\nthree\ntail\n");
  }
}

/* In a directory of several users, one may give a file of ours the name of what a restart cut off. */
static void what_is_cut_off_does_not_go_on_with_a_file_of_another_group(void)
{
  begin();
  as_job("one");
  run_that_logs();
  run_of(ranks, restart_cuts);
  check_text("prefix/log.scr-cut", "two\n");
  shell("echo x >>prefix/log; echo k >prefix/log.scr-cut"); /* as long as what followed the x */
  if (geteuid() == 0) shell("chgrp 4321 prefix/log.scr-cut");
  run_of(ranks, restart_cuts);
  check_text("prefix/log", "one\n");
  check_text("prefix/log.scr-cut", geteuid() == 0 ? "x\n" : "x\nk\n");
}

/*
** What another user does who may write the directory: at the EXCHANGE_LOGS-th look of this rank at the log, or where
** what was cut off gets its name, the name is given to a private file.
*/
static int exchange_logs;

static int exchange_in(const char* path)
{
  char        at[PATH_MAX], from[PATH_MAX], aside[PATH_MAX];
  const char* cut = strstr(path, ".scr-cut");

  if (cut == NULL && --exchange_logs != 0) return 0;
  snprintf(at, sizeof at, "%s%s", path, cut != NULL ? ".tmp" : "");
  snprintf(from, sizeof from, "%.*s/private", (int)(strrchr(path, '/') - path), path);
  snprintf(aside, sizeof aside, "%.*s/aside", (int)(strrchr(path, '/') - path), path);
  return rename(at, aside) < 0 || rename(from, at) < 0 ? errno : 0;
}

/* In a directory of several users, names may be exchanged while a restart cuts: no file but the tracked one is cut. */
static void names_that_are_exchanged_cut_no_other_file(void)
{
  int have, looks;

  for (looks = 0; looks <= 2; looks++) {
    begin();
    as_job("one");
    run_that_logs();
    shell("echo secret >prefix/private; chmod 600 prefix/private");
    OK(SCR_Init());
    exchange_logs = looks;
    if (looks > 0) fault_watch(FAULT_OPEN, "prefix/log", "log", exchange_in);
    else fault_watch(FAULT_RENAME, "prefix/log", ".scr-cut", exchange_in);
    if (looks == 0) ALIKE(SCR_Recover(&have, NULL), SCR_ERR_IO, "prefix/log.scr-cut is not what was written there");
    else ALIKE(SCR_Recover(&have, NULL), SCR_ERR_CRC, "prefix/log is another one than in the checkpoint ck");
    fault_end();
    OK(SCR_Finalize());
    check_text(looks > 0 ? "prefix/aside" : "prefix/log", "one\ntwo\n");
    check_text(looks > 0 ? "prefix/log" : "prefix/log.scr-cut", "secret\n");
    shell("test $(stat -c %%a prefix/%s) = 600", looks > 0 ? "log" : "log.scr-cut");
  }
}

static int dirs_exchanged;

/* The directory of PATH gets another name, and an empty one its own. */
static int exchange_dir(const char* path)
{
  char dir[PATH_MAX], aside[PATH_MAX + 8];

  if (dirs_exchanged++ > 0) return 0;
  snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
  snprintf(aside, sizeof aside, "%s.aside", dir);
  return rename(dir, aside) < 0 || mkdir(dir, 0700) < 0 ? errno : 0;
}

/* What is cut off is kept beside the file, or nothing is cut. */
static void a_directory_that_is_exchanged_keeps_what_would_be_cut(void)
{
  int a = 1, have;

  begin();
  as_job("one");
  shell("mkdir prefix/dir");
  run_that_logs_to("dir/log");
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  dirs_exchanged = 0;
  fault_watch(FAULT_OPEN, "prefix/dir/log", ".scr-cut", exchange_dir);
  ALIKE(SCR_Recover(&have, NULL), SCR_ERR_IO, "prefix/dir/log.scr-cut is not what was written there");
  fault_end();
  OK(SCR_Finalize());
  check_text("prefix/dir.aside/log", "one\ntwo\n");
}

/* Others may have put something where a restart notes how long a file was: it cuts nevertheless. */
static void a_stranger_in_place_of_the_note_of_a_cut_hinders_no_restart(void)
{
  static const char* const made[] = {"ln -s nowhere", "mkdir", "mkfifo"};
  int                      i;

  for (i = 0; i < 3; i++) {
    begin();
    run_that_logs();
    shell("%s prefix/log.scr-cut.end", made[i]);
    run_of(ranks, restart_cuts);
    check_text("prefix/log", "one\n");
    check_text("prefix/log.scr-cut", "two\n");
  }
}

/* A directory has the name of what a restart cuts off: that gets another name, which is told. */
static void what_has_the_name_of_a_cut_hinders_no_restart(void)
{
  begin();
  run_that_logs();
  shell("mkdir prefix/log.scr-cut");
  run_of(ranks, restart_cuts);
  check_text("prefix/log", "one\n");
  shell("test \"$(cat prefix/log.scr-cut.[0-9a-f][0-9a-f]*)\" = two");
}

/* Give the file NAME of the prefix a list of users (an ACL) with one user in it.  Returns 1 if it has the list then. */
static int list_user(const char* name)
{
  static const char list[] = "\2\0\0\0"
                             "\1\0\6\0\377\377\377\377\2\0\6\0\1\1\0\0\4\0\0\0\377\377\377\377"
                             "\20\0\6\0\377\377\377\377\40\0\0\0\377\377\377\377";
  char              path[SCR_MAX_FILENAME];
  int               listed = 0;

  snprintf(path, sizeof path, "%s/prefix/%s", case_dir, name);
  if (rank == 0) listed = setxattr(path, "system.posix_acl_access", list, sizeof list - 1, 0) == 0;
  MPI_Bcast(&listed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!listed && rank == 0) printf("no file here has a list of users\n");
  return listed;
}

/*
** The mode of a file that has a list of users tells of all in it: its group may have less than that.  It may be the
** tracked file, or what an earlier restart has cut off, of which the next one takes the bytes.
*/
static void what_is_cut_off_a_file_with_a_list_of_users_is_for_no_group(void)
{
  int listed;

  begin();
  run_that_logs();
  listed = list_user("log");
  run_of(ranks, restart_cuts);
  check_text("prefix/log.scr-cut", "two\n");
  if (listed) shell("test $(stat -c %%a prefix/log) = 660 && test $(stat -c %%a prefix/log.scr-cut) = 1600");
  begin();
  run_that_logs_thrice();
  shell("chmod 660 prefix/log");
  run_of(ranks, restart_cuts);
  shell("test $(stat -c %%a prefix/log.scr-cut) = 1660");
  listed = list_user("log.scr-cut");
  shell("$TEST_INDEX --prefix prefix --current ck2");
  run_of(ranks, restart_cuts);
  check_text("prefix/log.scr-cut", "three\ntail\n");
  if (listed) shell("test $(stat -c %%a prefix/log.scr-cut) = 1600");
}

static void a_tracked_file_that_is_a_link_is_an_error_of_the_checkpoint(void)
{
  int a = 1;

  begin();
  shell("echo one >log; ln -s ../log prefix/log");
  OK(SCR_Init());
  if (rank == 0) OK(SCR_Track("log"));
  OK(SCR_Protect("a", &a, 1, sizeof a));
  ALIKE(SCR_Checkpoint("ck"), SCR_ERR_IO, "prefix/log is not a plain file, but a link");
  MPI_Barrier(MPI_COMM_WORLD);
  shell("rm prefix/log; mv log prefix/log");
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Finalize());
}

/* One that nobody may write, such as an archived one, is only an error if it has to be cut. */
static void a_tracked_file_that_cannot_be_written_is_read(void)
{
  int a = 1, have;

  begin();
  if (rank == 0) append("prefix/log", "one\n");
  OK(SCR_Init());
  if (rank == 0) OK(SCR_Track("log"));
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Finalize());
  shell("echo more >> prefix/log");
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  fault_at(FAULT_FAIL, FAULT_OPEN, EACCES, 1); /* the first try, which is for writing, too */
  fault_below("prefix/log");
  ALIKE(SCR_Recover(&have, NULL), SCR_ERR_IO, "make it writable, or set SCR_TRACK=0");
  CHECK(fault_end() == (rank == 0), "another rank opened the file, or none");
  check_text("prefix/log", "one\nmore\n");
  shell("echo one > prefix/log");
  fault_at(FAULT_FAIL, FAULT_OPEN, EROFS, 1);
  fault_below("prefix/log");
  OK(SCR_Recover(&have, NULL));
  CHECK(have == 1 && fault_end() == (rank == 0), "another rank opened the file, or none");
  check_text("prefix/log", "one\n");
  OK(SCR_Finalize());
}

/* A checkpoint finds no tracked file, because it, or the prefix, is away for a while: a restart leaves it as it is. */
static void what_is_away_for_a_checkpoint_is_not_cut(void)
{
  static const char* const away[] = {"prefix", "prefix/log"};
  int                      a = 1, i;

  for (i = 0; i < 5; i++) {
    begin();
    set("SCR_FLUSH=0");
    OK(SCR_Init());
    if (rank == 0) append("prefix/log", "one\n");
    if (rank == 0) OK(SCR_Track("log"));
    OK(SCR_Protect("a", &a, 1, sizeof a));
    if (i % 2) OK(SCR_Checkpoint("ck1"));
    if (i == 4) OK(SCR_Checkpoint("ck1"));
    if (i == 4) { /* restarted since */
      OK(SCR_Finalize());
      OK(SCR_Init());
      OK(SCR_Protect("a", &a, 1, sizeof a));
      restart_cuts();
    }
    if (rank == 0 && i != 2) OK(SCR_Track("log")); /* again */
    if (rank == 0) append("prefix/log", "two\n");
    shell("mv %s aside", away[i > 1]);
    if (i == 0) shell("mkdir prefix"); /* as a mount point without its file system */
    OK(SCR_Checkpoint("ck2"));
    if (i == 0) shell("rmdir prefix");
    shell("mv aside %s", away[i > 1]);
    OK(SCR_Finalize());
    run_of(ranks, restart_cuts);
    check_text("prefix/log", i == 2 ? "" : "one\ntwo\n"); /* 2: as if the program had made it after the checkpoint */
  }
}

/* A program looks at no return code but that of SCR_Have_restart, in a loop: it comes to its end. */
static void a_loop_that_overlooks_a_tracked_file_ends(void)
{
  int flag = 0, tries;

  begin();
  run_that_logs();
  shell("mv prefix/log aside");
  OK(SCR_Init());
  for (tries = 0; tries < 3 && SCR_Have_restart(&flag, NULL) == SCR_SUCCESS && flag; tries++) {
    ALIKE(SCR_Start_restart(NULL), SCR_ERR_MISSING, "prefix/log is gone");
    CODE(SCR_Get_regions(), SCR_ERR_STATE, "before SCR_Start_restart");
    CODE(SCR_Complete_restart(1), SCR_ERR_MISSING, "prefix/log is gone");
    CODE(SCR_Complete_restart(1), SCR_ERR_STATE, "before SCR_Start_restart");
  }
  CHECK(tries == 1 && !flag, "offered %d times", tries);
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "prefix/log is gone");
  CODE(SCR_Start_output("new", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "");
  SCR_Complete_output(1);
  SCR_Finalize();
  shell("mv aside prefix/log");
  run_of(ranks, restart_cuts);
  check_text("prefix/log", "one\n");
}

static void a_tracked_file_that_lacks_something_is_an_error(void)
{
  int a = 1, have;

  begin();
  if (rank == 0) append("prefix/log", "one\n");
  if (rank == 0) append("prefix/other", "one\n");
  OK(SCR_Init());
  if (rank == 0) OK(SCR_Track("log"));
  if (rank == 0) OK(SCR_Track("other"));
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Finalize());
  shell("echo more >> prefix/other; echo on > prefix/log");
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  ALIKE(SCR_Recover(&have, NULL), SCR_ERR_MISSING, "has 3 bytes, but it had 4 bytes in the checkpoint ck");
  OK(SCR_Have_restart(&have, NULL));
  CHECK(have == 1, "the checkpoint is not offered any more");
  shell("echo two > prefix/log");
  ALIKE(SCR_Start_restart(NULL), SCR_ERR_CRC, "is another one than in the checkpoint ck");
  shell("rm prefix/log");
  ALIKE(SCR_Start_restart(NULL), SCR_ERR_MISSING, "prefix/log is gone, but it had 4 bytes");
  check_text("prefix/other", "one\nmore\n"); /* none is cut */
  shell("echo one > prefix/log");
  OK(SCR_Recover(&have, NULL));
  check_text("prefix/other", "one\n");
  OK(SCR_Finalize());
  shell("rm prefix/log");
  set("SCR_TRACK=0");
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Recover(&have, NULL));
  OK(SCR_Track("log"));
  ALIKE(SCR_Checkpoint("two"), ranks > 1 ? SCR_ERR_ARG : SCR_SUCCESS, ranks > 1 ? "both track log" : "");
  OK(SCR_Finalize());
}

/* The length counts when all ranks have come: what another one has appended before it came is there. */
static void lines_of_other_ranks_are_not_cut(void)
{
  int a = 1, have;

  begin();
  OK(SCR_Init());
  if (rank == 0) OK(SCR_Track("log"));
  if (rank == 0) append("prefix/log", "rank 0\n");
  CODE(SCR_Track("dir/log.scr-cut"), SCR_ERR_PATH, "a restart gives such names");
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  OK(SCR_Put_regions());
  if (rank == ranks - 1) {
    usleep(300000);
    append("prefix/log", "the last rank\n");
  }
  OK(SCR_Complete_output(1));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) append("prefix/log", "later\n");
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Recover(&have, NULL));
  check_text("prefix/log", "rank 0\nthe last rank\n");
  OK(SCR_Finalize());
}

/* A file of the program, and one of the library, which have the same name. */
static void files_called_regions_are_of_the_program_or_of_the_library(void)
{
  char name[64], file[SCR_MAX_FILENAME];
  int  a = 1;

  begin();
  OK(SCR_Init());
  OK(SCR_Protect("a", &a, 1, sizeof a));
  snprintf(name, sizeof name, "ck/regions.%d", rank);
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  OK(SCR_Route_file(name, file));
  CODE(SCR_Put_regions(), SCR_ERR_ARG, "is a file of the program, and the name of one that the library adds");
  CODE(SCR_Complete_output(1), SCR_ERR_ARG, "is a file of the program");
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  OK(SCR_Put_regions());
  OK(SCR_Put_regions());
  CODE(SCR_Route_file(name, file), SCR_ERR_ARG, "is a file of the program, and the name of one that the library adds");
  CODE(SCR_Complete_output(1), SCR_ERR_ARG, "is a file of the program");
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Finalize());
}

static void damage_record_of(const char* ckpt)
{
  shell("for f in $(find . -path \"*%s/tracked/log\"); do printf X | dd of=$f bs=1 seek=40 conv=notrunc status=none; "
        "done",
        ckpt);
}

static void a_damaged_record_of_a_tracked_file_is_not_passed_over(void)
{
  char name[SCR_MAX_FILENAME];
  int  a = 1, have;

  begin();
  set("SCR_CACHE_SIZE=2");
  write_two_with_a_log(&a);
  if (rank == 0) append("prefix/log", "three\n");
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Have_restart(&have, NULL));
  damage_record_of("ck2");
  ALIKE(SCR_Start_restart(NULL), SCR_ERR_FORMAT, "is damaged: a new start rebuilds it");
  OK(SCR_Finalize());
  check_text("prefix/log", "one\ntwo\nthree\n");
  OK(SCR_Init()); /* which rebuilds it */
  OK(SCR_Start_restart(name));
  CHECK(strcmp(name, "ck2") == 0, "%s", name);
  OK(SCR_Complete_restart(1));
  check_text("prefix/log", "one\ntwo\n");
  OK(SCR_Finalize());
  OK(SCR_Init());
  damage_record_of("ck2");
  OK(SCR_Protect("a", &a, 1, sizeof a));
  OK(SCR_Recover(&have, name));
  CHECK(have == 1 && strcmp(name, "ck1") == 0, "%d, %s", have, name);
  check_text("prefix/log", "one\n");
  OK(SCR_Finalize());
}

static void restart_of_own_files(void)
{
  char name[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  have, i;

  OK(SCR_Have_restart(&have, name));
  OK(SCR_Start_restart(name));
  for (i = 0; i < ranks; i++) {
    snprintf(name, sizeof name, "ck/own.%d", i);
    OK(SCR_Route_file(name, file));
  }
  OK(SCR_Complete_restart(1));
}

/* A program that reads all its files does not know that the library has added some, for its logs. */
static void records_of_tracked_files_are_no_files_of_the_program(void)
{
  char  name[64], file[SCR_MAX_FILENAME];
  FILE* f;

  begin();
  OK(SCR_Init());
  if (rank == 0) append("prefix/log", "one\n");
  if (rank == 0) OK(SCR_Track("log"));
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  snprintf(name, sizeof name, "ck/own.%d", rank);
  OK(SCR_Route_file(name, file));
  CHECK((f = fopen(file, "w")) != NULL && fclose(f) == 0, "%s", file);
  OK(SCR_Complete_output(1));
  if (rank == 0) append("prefix/log", "two\n");
  OK(SCR_Finalize());
  set("SCR_TRACK=0");
  run_of(1, restart_of_own_files);
  check_text("prefix/log", "one\ntwo\n");
  set("SCR_TRACK=1");
  run_of(1, restart_of_own_files);
  check_text("prefix/log", "one\n");
}

static size_t empty_or_not(int i)
{
  return (size_t)i * 100;
}

/* The program's own files may lie in a directory of the same name. */
static void files_called_tracked_are_no_records(void)
{
  static const shape s = {"files called tracked", two_files, empty_or_not, "ck/tracked/of_%d_%d"};

  begin();
  OK(SCR_Init());
  OK(put_shape("ck", SCR_FLAG_CHECKPOINT, &s, 1));
  OK(SCR_Finalize());
  run_gets_shape("ck", &s);
}

/* A restart makes longer names of them. */
static void names_of_tracked_files_leave_room(void)
{
  char name[] = "dir/123456789_123456789_123456789_123456789_123456789_123456789_123456789_123456789_"
                "123456789_123456789_123456789_123456789_123456789_123456789_123456789_123456789_1";

  begin();
  OK(SCR_Init());
  CODE(SCR_Track(name), SCR_ERR_PATH, "has more than 160 bytes: a restart makes longer ones of it");
  name[strlen(name) - 1] = '\0';
  OK(SCR_Track(name));
  OK(SCR_Finalize());
}

/* But not in the place of a record; and a tracked file is none of the dataset: a flush would put that in its place. */
static void a_tracked_file_and_its_record_are_no_files_of_the_program(void)
{
  char file[SCR_MAX_FILENAME];
  int  i;

  for (i = 0; i < 2; i++) {
    begin();
    OK(SCR_Init());
    if (rank == 0) append("prefix/log", "one\n");
    if (rank == 0) OK(SCR_Track("log"));
    OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    if (rank == 0) OK(SCR_Route_file(i ? "ck/tracked/log" : "log", file));
    if (rank == 0) append(file + strlen(case_dir) + 1, "mine\n");
    CODE(SCR_Complete_output(1), SCR_ERR_ARG,
         i ? "is a file of the program, and the name of one" : "log, which rank 0");
    OK(SCR_Finalize());
    check_text("prefix/log", "one\n");
  }
}

/* ---- deaths ----------------------------------------------------------------------------------------------------- */

/*
** A program whose regions have other sizes in each version: bytes, none in each second one, and a block of an array, of
** which ranks have unequal parts.
*/
#define PARTS 3
static const char* const part_name[PARTS] = {"empty or not", "odd", "array"};
static unsigned char     part[PARTS][20000];

static size_t part_bytes(int version, int i, int who)
{
  if (i == 0) return version % 2 ? 0 : 8192;
  if (i == 1) return (size_t)(version % 2 ? 17001 : 5001) + 2 * (size_t)who;
  return 9000 + 777 * (size_t)version + 100 * (size_t)who;
}

static unsigned part_seed(int version, int i)
{
  return (unsigned)(version * 1000 + rank * 10 + i);
}

static void protect_parts(int version)
{
  size_t global = 0, offset = 0, extent = part_bytes(version, PARTS - 1, rank);
  int    i;

  for (i = 0; i < ranks; i++) {
    if (i == rank) offset = global;
    global += part_bytes(version, PARTS - 1, i);
  }
  for (i = 0; i < PARTS - 1; i++) {
    size_t n = part_bytes(version, i, rank);
    OK(SCR_Protect(part_name[i], n > 0 ? part[i] : NULL, n, 1));
  }
  OK(SCR_Protect_array(part_name[i], part[i], 1, 1, &global, &offset, &extent));
}

static int put_parts(int version)
{
  char name[20];
  int  i;

  protect_parts(version);
  for (i = 0; i < PARTS; i++) fill(part[i], part_bytes(version, i, rank), part_seed(version, i));
  snprintf(name, sizeof name, "v%d", version);
  return same_code(SCR_Checkpoint(name));
}

/* Recover as a program does that has other sizes in each version, which *VERSION becomes; the code. */
static int recover_parts(int* version)
{
  char   name[SCR_MAX_FILENAME];
  size_t bytes;
  int    i, rc, have, tries = 0;

  memset(part, 0, sizeof part);
  do {
    *version = 0;
    rc = same_code(SCR_Have_restart(&have, name));
    if (rc != SCR_SUCCESS || !have) return rc;
    CHECK(sscanf(name, "v%d", version) == 1, "%s is offered", name);
    for (i = 0; i < PARTS; i++) {
      rc = SCR_Region_size(part_name[i], &bytes);
      CHECK(rc != SCR_SUCCESS || bytes == part_bytes(*version, i, rank), "%s has %zu bytes in %s", part_name[i], bytes,
            name);
    }
    protect_parts(*version);
    rc = same_code(SCR_Recover(&have, name));
  } while (rc == SCR_ERR_MISSING && ++tries < 3);
  if (rc != SCR_SUCCESS) return rc;
  CHECK(have && atoi(name + 1) == *version, "%d: %s is recovered in place of v%d", have, name, *version);
  for (i = 0; i < PARTS; i++)
    CHECK(is_filled(part[i], part_bytes(*version, i, rank), part_seed(*version, i)), "%s of %s", part_name[i], name);
  return rc;
}

/* The run behind a death gets a version from LEAST to 2, all of it, and can go on; returns that version. */
static int run_gets_parts(int least, int log)
{
  int version, i, left = 0;

  set("SCR_CACHE_SIZE=1");
  OK(SCR_Init());
  if (log && rank == 0) OK(SCR_Track("log"));
  OK(recover_parts(&version));
  CHECK(version >= least && version <= 2, "v%d is recovered", version);
  if (log) check_text("prefix/log", version == 2 ? "one\ntwo\n" : "one\n");
  OK(put_parts(3));
  OK(SCR_Finalize());
  for (i = 0; i < 30; i++) left += (cached_in("cache") & ID(i)) != 0;
  CHECK(left == 1, "%d datasets are left in the cache", left);
  return version;
}

/* All ranks die at some call of a checkpoint of regions, or the last one does: the new one is there, or the old one. */
static void a_death_in_a_checkpoint_of_regions_leaves_one_that_is_whole(void)
{
  static const struct {
    int mode, all, flush, least; /* who dies, and how; SCR_FLUSH; deaths that leave the old one */
  } ways[] = {{FAULT_DEAD, 1, 0, 20}, {FAULT_DEAD, 0, 0, 20}, {FAULT_TORN, 1, 0, 5}, {FAULT_DEAD, 1, 1, 20}};
  size_t w;
  int    n, rc, over, version, old, step;

  for (w = 0; w < sizeof ways / sizeof *ways; w++) {
    step = ways[w].mode == FAULT_TORN ? pace(8, 2, 1) : pace(ways[w].flush ? 40 : 20, 5, 1);
    for (n = 1, old = over = 0; !over; n += step) {
      int dies = ways[w].all || rank == ranks - 1;
      during("way %d, a death at call %d", (int)w, n);
      test_alive();
      begin();
      set("SCR_FLUSH=%d", ways[w].flush);
      OK(SCR_Init());
      OK(put_parts(1));
      if (dies) fault_at(ways[w].mode, FAULT_ALL, EIO, n);
      rc = put_parts(2);
      over = !dies || fault_struck(FAULT_ALL) == 0;
      MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      run_dies();
      version = run_gets_parts(rc == SCR_SUCCESS ? 2 : 1, 0);
      if (version == 1) old = n;
    }
    CHECK(old > ways[w].least, "the last death that leaves the old one comes at call %d", old);
  }
}

/*
** All ranks die at some call while they recover v2, or, where rank 0 finds that its regions in v2 are damaged, while
** they turn to v1: the next run has one of them.  A log is cut in each run that recovers.
*/
static void a_death_while_regions_are_recovered_costs_nothing(void)
{
  char path[SCR_MAX_FILENAME], cache[700];
  int  n, rc, over, version, damaged, got[3];

  for (damaged = 0; damaged < 2; damaged++) {
    memset(got, 0, sizeof got);
    begin();
    set("SCR_FLUSH=0");
    set("SCR_CACHE_SIZE=2");
    OK(SCR_Init());
    if (rank == 0) OK(SCR_Track("log"));
    shell("echo one >prefix/log");
    OK(put_parts(1));
    shell("echo two >>prefix/log");
    OK(put_parts(2));
    shell("echo lost >>prefix/log");
    OK(SCR_Finalize());
    shell("mkdir was; cp -a prefix cntl cache was");
    for (n = 1, over = 0; !over; n += pace(36, 5, 1)) {
      during("damaged %d, a death at call %d", damaged, n);
      test_alive();
      shell("rm -rf prefix cntl cache; cp -a was/* .");
      set("SCR_CACHE_SIZE=2");
      OK(SCR_Init());
      if (rank == 0) OK(SCR_Track("log"));
      snprintf(cache, sizeof cache, "%s/cache", case_dir);
      if (damaged && rank == 0) {
        CHECK(find_file(cache, "/v2/regions.0", 0, path) == 1, "files of regions in %s", cache);
        flip_bit(path, 6000);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
      rc = recover_parts(&version);
      over = fault_struck(FAULT_ALL) == 0;
      MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      CHECK(!over || (rc == SCR_SUCCESS && version == 2 - damaged), "%d, v%d without a death", rc, version);
      run_dies();
      got[run_gets_parts(damaged ? 1 : 2, 1)]++;
    }
    CHECK(n > 40 && (!damaged || (got[1] > 0 && got[2] > 0)), "%d calls, %d old, %d new", n, got[1], got[2]);
  }
}

/*
** The same with processes that are killed: TEST_KILL is the call at which each of them is, of a checkpoint or of a
** restart; with TEST_KILLED, the run that follows.
*/
static void killed_at_a_call(int recovers)
{
  const char* n = getenv("TEST_KILL");
  int         version;

  begin_in("killed");
  if (n == NULL) return;
  set("SCR_FLUSH=0");
  if (recovers) set("SCR_CACHE_SIZE=2");
  if (getenv("TEST_KILLED") != NULL) {
    run_gets_parts(recovers ? 2 : 1, 0);
    return;
  }
  OK(SCR_Init());
  OK(put_parts(1));
  if (recovers) {
    OK(put_parts(2));
    OK(SCR_Finalize());
    OK(SCR_Init());
  }
  fault_at(FAULT_KILL, FAULT_ALL, EIO, atoi(n));
  OK(recovers ? recover_parts(&version) : put_parts(2));
  CHECK(fault_end() == 0, "a process is killed, but goes on");
  OK(SCR_Finalize());
}

static void a_run_is_killed_in_a_checkpoint_of_regions(void)
{
  killed_at_a_call(0);
}

static void a_run_is_killed_while_it_recovers_regions(void)
{
  killed_at_a_call(1);
}

/* ---- a large region --------------------------------------------------------------------------------------------- */

#define MARKS 8
#define MARK  8 /* bytes of one */
#define TAIL  1000
static size_t large; /* its bytes: in the long mode more than 32 bits can count */

/* Where the I-th mark begins: at the ends of the region, and around 2^31 and 2^32, as far as it has them. */
static size_t mark_at(int i)
{
  const uint64_t at[MARKS] = {0,
                              INT32_MAX - 4095u,
                              INT32_MAX - 3u,
                              INT32_MAX + 4097u,
                              UINT32_MAX - 3u,
                              UINT32_MAX + 9ull,
                              UINT32_MAX + 4097ull,
                              large - MARK};
  return at[i] < large ? (size_t)at[i] : 0;
}

/* Memory for it, which takes none for zeros that nobody has written. */
static unsigned char* map_large(void)
{
  void* p = mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  CHECK(p != MAP_FAILED, "%zu bytes: %s", large, strerror(errno));
  if (p != MAP_FAILED) madvise(p, large, MADV_HUGEPAGE); /* a fault for each small page takes longer than the test */
  return p != MAP_FAILED ? (unsigned char*)p : NULL;
}

/* Write the marks at P; or, when CHECKS, compare them, and that all else is 0. */
static void marks_of(unsigned char* p, int checks)
{
  char mark[MARK + 1];
  int  i;

  for (i = 0; i < MARKS; i++) {
    snprintf(mark, sizeof mark, "at%6d", (int)(mark_at(i) >> 12));
    if (!checks) memcpy(p + mark_at(i), mark, MARK);
    else CHECK(memcmp(p + mark_at(i), mark, MARK) == 0, "the mark at %zu", mark_at(i));
  }
  for (i = 0; i < MARKS && checks; i++) memset(p + mark_at(i), 0, MARK);
  CHECK(!checks || (*p == 0 && memcmp(p, p + 1, large - 1) == 0), "there are bytes that nobody has written");
}

/* The memory that the machine can give, in bytes. */
static double memory_free(void)
{
  char   line[200];
  FILE*  f = fopen("/proc/meminfo", "r");
  double kib = 0;

  while (f != NULL && fgets(line, sizeof line, f) != NULL && sscanf(line, "MemAvailable: %lf", &kib) != 1) continue;
  if (f != NULL) fclose(f);
  return kib * 1024;
}

/* 1 on all ranks when there is space for the region, its parity on two ranks, and the region in memory. */
static int large_fits(void)
{
  struct statfs fs;
  double        on_disk = 3.1 * (double)large, in_memory = 1.1 * (double)large;
  int           fits = 1;

  begin();
  if (statfs(case_dir, &fs) < 0 || (double)fs.f_bavail * (double)fs.f_bsize < on_disk) fits = 0;
  else if (fs.f_type == 0x01021994) in_memory += on_disk; /* a tmpfs */
  if (memory_free() < in_memory) fits = 0;
  MPI_Bcast(&fits, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return fits;
}

/* Rank 0 has the region, and its node is LOST or not; as an array, rank 1 has its end and reads all. */
static void large_comes_back(const char* type, int lost, int array)
{
  const scheme   c = {type, 1};
  size_t         offset = rank == 0 ? 0 : large - TAIL, extent = rank == 0 ? large - TAIL : TAIL, bytes = 0;
  int            reader = array ? 1 : 0, have = 0;
  unsigned char* p;

  test_alive();
  during("%s, array %d, %zu bytes", type, array, large);
  begin_nodes(&c);
  set("SCR_MPI_BUF_SIZE=");
  if ((p = map_large()) == NULL) return;
  marks_of(p, 0);
  OK(SCR_Init());
  if (array) OK(SCR_Protect_array("large", p + offset, 1, 1, &large, &offset, &extent));
  else OK(SCR_Protect("large", p, rank == 0 ? large : TAIL, 1));
  OK(SCR_Checkpoint("ck"));
  OK(SCR_Finalize());
  munmap(p, large);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && lost) lose(NODE);
  MPI_Barrier(MPI_COMM_WORLD);
  test_alive();
  if ((p = map_large()) == NULL) return;
  OK(SCR_Init());
  OK(SCR_Region_size("large", &bytes));
  CHECK(bytes == (array ? extent : rank == 0 ? large : TAIL), "%zu bytes", bytes);
  offset = 0;
  extent = rank == reader ? large : 0;
  if (array) OK(SCR_Protect_array("large", p, 1, 1, &large, &offset, &extent));
  else OK(SCR_Protect("large", p, bytes, 1));
  test_alive();
  OK(SCR_Recover(&have, NULL));
  CHECK(have == 1, "no checkpoint");
  OK(SCR_Finalize());
  if (rank == reader) marks_of(p, 1);
  munmap(p, large);
}

static void a_large_region_comes_back_whole(void)
{
  large = ((size_t)(test_long ? 4097 : 16) << 20) + 4321;
  if (!large_fits()) {
    skip("there is no space for a region of more than 4 GiB, with parity, and in memory");
    return;
  }
  if (ranks > 1) {
    large_comes_back("XOR", 1, 0);
    large_comes_back("SINGLE", 0, 1);
  } else large_comes_back("SINGLE", 0, 0);
}

/* clang-format off */
#define ANY "1 2 4 5"
const test_case regions_cases[] = {CASE(regions_of_any_size_grow_and_shrink, ANY, "3 8"),
                                   CASE(regions_of_a_lost_node_are_rebuilt, "3 4"),
                                   CASE(what_memory_has_of_regions_is_not_read_back, "4"),
                                   CASE(a_region_that_does_not_fit_is_named_and_none_is_touched, "1 4"),
                                   CASE(a_damaged_region_costs_one_checkpoint, "1 4"),
                                   CASE(a_checkpoint_without_regions_is_passed_over, "1 4"),
                                   CASE(regions_go_with_files_of_the_program, ANY),
                                   CASE(wrong_arguments_of_regions_are_refused, "1 4"),
                                   CASE(without_the_library_regions_do_nothing, "2"),
                                   CASE(a_death_in_a_checkpoint_of_regions_leaves_one_that_is_whole, "2", "4"),
                                   CASE(a_death_while_regions_are_recovered_costs_nothing, "2", "4"),
                                   CASE(a_run_is_killed_in_a_checkpoint_of_regions, ""),
                                   CASE(a_run_is_killed_while_it_recovers_regions, ""),
                                   CASE(a_command_lists_and_dumps_regions, "2"),
                                   CASE(an_array_is_read_by_any_number_of_ranks, "8"),
                                   CASE(a_list_is_an_array_whose_length_is_a_region, "4"),
                                   CASE(a_large_array_is_read_by_other_ranks, "4"),
                                   CASE(an_array_of_a_lost_node_is_read_by_other_ranks, "8"),
                                   CASE(blocks_that_are_read_may_overlap, "4", "9"),
                                   CASE(holes_and_overlaps_name_the_first_element, "4 5"),
                                   CASE(regions_of_ranks_that_are_gone_are_not_guessed, "8"),
                                   CASE(a_tracked_file_has_each_line_once, "2", "4"),
                                   CASE(a_restart_cuts_tracked_files, "4"),
                                   CASE(each_restart_of_a_run_cuts_tracked_files, "2"),
                                   CASE(what_is_cut_off_does_not_go_on_with_a_file_of_another_group, "4"),
    CASE(what_is_tracked_is_not_replaced, "4 | 1"),
    CASE(what_several_restarts_cut_is_kept, "4"),
    CASE(what_was_cut_is_put_back_as_the_manual_says, "2"),
    CASE(what_is_cut_off_is_no_file_of_settings, "4"),
                                   CASE(a_tracked_file_that_lacks_something_is_an_error, "1 4"),
                                   CASE(a_tracked_file_that_cannot_be_written_is_read, "1 4"),
                                   CASE(records_of_tracked_files_are_no_files_of_the_program, "2 4"),
                                   CASE(lines_of_other_ranks_are_not_cut, "1 4"),
                                   CASE(files_called_regions_are_of_the_program_or_of_the_library, "1 4"),
                                   CASE(a_damaged_record_of_a_tracked_file_is_not_passed_over, "4"),
                                   CASE(names_that_are_exchanged_cut_no_other_file, "1 4"),
                                   CASE(a_directory_that_is_exchanged_keeps_what_would_be_cut, "1 4"),
  CASE(a_stranger_in_place_of_the_note_of_a_cut_hinders_no_restart, "1 4"),
  CASE(what_has_the_name_of_a_cut_hinders_no_restart, "4"), CASE(a_loop_that_overlooks_a_tracked_file_ends, "1 4"),
  CASE(what_is_away_for_a_checkpoint_is_not_cut, "4"),
  CASE(what_is_cut_off_a_file_with_a_list_of_users_is_for_no_group, "1 4"),
                                   CASE(what_was_cut_off_outlives_a_cut_that_fails, "1 4"),
                                   CASE(a_tracked_file_that_is_a_link_is_an_error_of_the_checkpoint, "1 4"),
                                   CASE(files_called_tracked_are_no_records, "4"),
                                   CASE(names_of_tracked_files_leave_room, "1"),
                                   CASE(a_tracked_file_and_its_record_are_no_files_of_the_program, "1 4"),
                                   CASE(a_large_region_comes_back_whole, "2 | 1"), CASES_END};
