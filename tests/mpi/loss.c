/*
** loss.c - nodes and files are lost, and rebuilt: every scheme, every set of members that it bears, and one more.
**
** Each rank is a node of its own.  A checkpoint is written once, and its node directory copied.  Then, again and
** again: the copy is put back, some members lose something, SCR_Init rebuilds, and all that lies in the cache,
** redundancy files too, is compared with the copy.  Beyond the power of the scheme the library must refuse.
*/

#include "mpi_test.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static int odd_ranks(void)
{
  return rank % 2 == 0;
}

static int many_files(void)
{
  return rank == 0 ? 300 : 2;
}

static size_t equal_size(int i)
{
  (void)i;
  return 12288;
}

static size_t odd_size(int i)
{
  return (size_t)(20011 + 1013 * rank + 77 * i);
}

static size_t one_byte(int i)
{
  (void)i;
  return 1;
}

static size_t zero_size(int i)
{
  (void)i;
  return 0;
}

static size_t unequal_size(int i)
{
  return (size_t)(rank == ranks - 1 ? 100003 + i : 1000 + rank);
}

static size_t small_size(int i)
{
  return (size_t)((rank * 31 + i * 17) % 700);
}

static size_t large_size(int i)
{
  (void)i;
  return 600000;
}

static const shape shapes[] = {{"odd", two_files, odd_size, NULL},
                               {"equal", two_files, equal_size, NULL},
                               {"one byte", two_files, one_byte, NULL},
                               {"zero", two_files, zero_size, NULL},
                               {"unequal", two_files, unequal_size, NULL},
                               {"none", odd_ranks, odd_size, NULL},
                               {"many", many_files, small_size, NULL},
                               {"names", two_files, odd_size, "ck/dir of %d/\xc3\xa9t\xc3\xa9 \xe2\x82\xac %d"}};

static const shape single = {"one file", one_file, odd_size, NULL};

#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

/* ---- what is in the place of a file, or a directory -------------------------------------------------------------- */

static const scheme every_scheme[] = {{"XOR", 1}, {"PARTNER", 1}, {"RS", 2}};

/*
** A directory of a dataset is lost: that of the redundancy files, or all of it; also of rank 1, which may have no
** files.
*/
static void directories_that_are_lost_are_made_again(void)
{
  static const char* const lost[] = {"scr.dataset.1/.scr", "scr.dataset.1"};
  int                      c, s, how, who;

  for (c = 0; c < (ranks > 2 ? 3 : 2); c++)
    for (s = 0; s < SHAPES; s += 5)
      for (who = 0; who < 2; who++) {
        prepare(&every_scheme[c], &shapes[s]);
        for (how = 0; how < 2; how++) {
          char path[1400];
          during("%s, shape %s, %s of rank %d", every_scheme[c].type, shapes[s].what, lost[how], who);
          snprintf(path, sizeof path, "%s/%s", node_dir, lost[how]);
          CHECK(access(path, F_OK) == 0, "%s is not there", path);
          if (rank == who) remove_tree(path);
          run_restarts(&shapes[s], 1, 0);
        }
      }
}

enum { FIFO, DIRECTORY, SOCKET, LINK, PLACES };

/* Something else is at PATH; local. */
static void put_in_place(const char* path, int what)
{
  char inner[SCR_MAX_FILENAME + 8];

  unlink(path);
  if (what == FIFO) CHECK(mkfifo(path, 0600) == 0, "%s", path);
  if (what == LINK) CHECK(symlink("/no/such/file", path) == 0, "%s", path);
  if (what == DIRECTORY) {
    make_dir(path);
    snprintf(inner, sizeof inner, "%s/inner", path);
    write_file(inner, "x", 1);
  }
  if (what == SOCKET) CHECK(mknod(path, S_IFSOCK | 0600, 0) == 0, "%s", path);
}

/* It is rebuilt at the start of a run, and when it is flushed. */
static void what_is_no_file_is_a_lost_file(void)
{
  static const char* const part[] = {"/ck/", "_in_"};
  char                     path[SCR_MAX_FILENAME];
  int                      what, red, c;

  for (c = 0; c < (ranks > 2 ? 3 : 2); c++)
    for (what = 0; what < PLACES; what++)
      for (red = 0; red < 2; red++) {
        during("%s, %d in the place of a file in %s", every_scheme[c].type, what, part[red]);
        prepare(&every_scheme[c], &shapes[0]);
        CHECK(find_file(node_dir, part[red], 0, path) > 0, "there is no file");
        if (rank == 1) put_in_place(path, what);
        run_restarts(&shapes[0], 1, 0);
        if (red) continue;
        if (rank == 0) put_in_place(path, what);
        set("SCR_FLUSH=10");
        OK(SCR_Init());
        get_shape("ck", &shapes[0]);
        if (rank == 1) put_in_place(path, what);
        OK(SCR_Finalize());
        on_prefix_shape("ck", &shapes[0]);
      }
}

/* ---- all losses -------------------------------------------------------------------------------------------------- */

static const char* const losses[] = {"nodes", "redundancy files", "files"};

/* Can C bear that the members of MASK lose their nodes or files? */
static int bears(const scheme* c, loss what, unsigned mask)
{
  int      i, pos, n, most = 0, power = c->k < ranks ? c->k : ranks - 1;
  unsigned left = (mask << 1 | mask >> (ranks - 1)) & ((1u << ranks) - 1);

  for (pos = 0; pos < ranks; pos++) { /* data and parities that lie at a position */
    for (n = 0, i = 0; i < ranks; i++)
      if (what == NODE || (pos - i + ranks) % ranks >= power) n += mask >> i & 1;
    if (n > most) most = n;
  }
  if (what == REDUNDANCY) return 1;
  if (strcmp(c->type, "PARTNER") == 0) return what == DATA || (mask & left) == 0;
  return most <= power;
}

static void lose_all(const scheme* c, int shape_first, int shape_last)
{
  unsigned mask;
  int      i, what, n, b;

  for (i = shape_first; i <= shape_last; i++) {
    prepare(c, &shapes[i]);
    for (what = NODE; what < LOSSES; what++)
      for (mask = 1; mask < 1u << ranks; mask++) {
        int power = strcmp(c->type, "PARTNER") == 0 ? ranks / 2 : c->k;
        int can = bears(c, (loss)what, mask);
        for (n = 0, b = 0; b < ranks; b++) n += mask >> b & 1;
        if (what == REDUNDANCY ? n != 1 && n != ranks : n > power + 1) continue;
        if (i > 0 && (n != (power < ranks ? power : ranks - 1) || (mask & 1) == 0 || !can)) continue;
        if (i > 0 && what == DATA && (i == 3 || i == 5 || i == 6)) continue; /* no bytes, or not on all, to corrupt */
        during("%s k=%d, %s of 0x%x of %d", c->type, c->k, losses[what], mask, ranks);
        put_back();
        if (mask >> rank & 1) lose((loss)what);
        run_restarts(&shapes[i], can, what == NODE && mask == (1u << ranks) - 1);
        if (failures > 20) return;
      }
  }
}

static void xor_rebuilds_what_it_bears_and_refuses_the_rest(void)
{
  scheme c = {"XOR", 1};
  lose_all(&c, 0, 0);
}

static void partner_rebuilds_what_it_bears_and_refuses_the_rest(void)
{
  scheme c = {"PARTNER", 1};
  lose_all(&c, 0, 0);
}

static void rs_rebuilds_what_it_bears_and_refuses_the_rest(void)
{
  scheme c = {"RS", 1};
  for (; c.k <= 4 && c.k < ranks; c.k++) lose_all(&c, 0, 0);
}

static void xor_rebuilds_files_of_every_shape(void)
{
  scheme c = {"XOR", 1};
  lose_all(&c, 1, SHAPES - 1);
}

static void partner_rebuilds_files_of_every_shape(void)
{
  scheme c = {"PARTNER", 1};
  lose_all(&c, 1, SHAPES - 1);
}

static void rs_rebuilds_files_of_every_shape(void)
{
  scheme c = {"RS", 2};
  lose_all(&c, 1, SHAPES - 1);
}

/*
** All 8 members of an RS set that bears 5 losses have lost something: two their file, the others their redundancy file.
** So each is a target, and those that compute exchange results with each other, in messages too large to be sent ahead.
*/
static void rs_rebuilds_when_every_member_has_lost_something(void)
{
  static const shape large = {"large", one_file, large_size, NULL};
  scheme             c = {"RS", 5};

  begin_nodes(&c);
  set("SCR_MPI_BUF_SIZE=256K");
  put_ck(&large);
  lose(rank == 0 || rank == 3 ? DATA : REDUNDANCY);
  run_restarts(&large, 1, 0);
}

/*
** Flip one bit in a file of one node, ROUNDS times: an application's file, a redundancy file, its header, a record of
** the library.
*/
static void flip_bits(const scheme* c, int rounds)
{
  static const char* const parts[] = {"/ck/", "_in_", "_in_", "scrinfo"};
  char                     path[SCR_MAX_FILENAME] = "";
  int                      i;

  prepare(c, &shapes[0]);
  for (i = 0; i < rounds; i++) {
    int      who = (int)roll((unsigned)ranks), kind = (int)roll(4);
    unsigned at = roll(1u << 30), pick = roll(1000);
    put_back();
    if (rank == who) {
      int n = find_file(node_dir, parts[kind], -1, path);
      find_file(node_dir, parts[kind], (int)(pick % (unsigned)n), path);
      flip_bit(path, kind == 2 ? at % 900 : at);
    }
    during("%s k=%d, a bit of %.300s", c->type, c->k, rank == who ? path : "another node");
    run_restarts(&shapes[0], 1, 0);
    if (failures > 5) return;
  }
}

static void a_bit_that_flips_anywhere_is_found_and_mended(void)
{
  static const scheme all[] = {{"XOR", 1}, {"PARTNER", 1}, {"RS", 2}};
  int                 i;

  for (i = 0; i < 3; i++) flip_bits(&all[i], pace(4, 14, 42));
}

/*
** A node is lost, and a file of another member is corrupt, which SCR_CRC_ON_RESTART=0 does not look for.  But what a
** rebuild reads is checked, so that no redundancy is made of wrong bytes: both are rebuilt.
*/
static void a_rebuild_checks_what_it_reads_even_if_a_restart_does_not(void)
{
  scheme c = {"RS", 2};

  begin_nodes(&c);
  set("SCR_CRC_ON_RESTART=0");
  put_ck(&single);
  if (rank == 1) lose(NODE);
  if (rank == 2) lose(DATA);
  run_restarts(&single, 1, 0);
}

/* ---- the older one of two ---------------------------------------------------------------------------------------- */

/*
** Two checkpoints, `old` and `ck`, the newer CACHED ones of them in the cache, and both on the prefix if that has not
** both; NEWER, of 1300 bytes, becomes the directory of the newer one here.
*/
static void put_two(const scheme* c, int cached, char* newer)
{
  begin_nodes(c);
  set("SCR_CACHE_SIZE=%d", cached);
  if (cached < 2) set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put_shape("old", SCR_FLAG_CHECKPOINT, &shapes[0], 1));
  OK(put_shape("ck", SCR_FLAG_CHECKPOINT, &shapes[0], 1));
  OK(SCR_Finalize());
  snprintf(newer, 1300, "%s/scr.dataset.2", node_dir);
  CHECK(access(newer, F_OK) == 0, "%s", newer);
}

/* The members of MASK lose the newer of two checkpoints: the older one is offered. */
static void older_offered(const char* type, int k, loss what, unsigned mask)
{
  scheme c;
  char   newer[1300];

  c.type = type;
  c.k = k;
  during("%s k=%d, %s of 0x%x", type, k, losses[what], mask);
  put_two(&c, 2, newer);
  if (mask >> rank & 1 && what == NODE) remove_tree(newer);
  else if (mask >> rank & 1) lose(what);
  MPI_Barrier(MPI_COMM_WORLD);
  run_gets_shape("old", &shapes[0]);
}

/* Each loses more than it bears of the newer checkpoint.  One bit is enough for SINGLE; flips RS bears in all files. */
static void what_cannot_be_rebuilt_makes_way_for_the_older_checkpoint(void)
{
  older_offered("SINGLE", 1, DATA, 0x2);
  older_offered("SINGLE", 1, NODE, 0x1);
  older_offered("XOR", 1, DATA, 0x3);
  older_offered("XOR", 1, NODE, 0x3);
  older_offered("PARTNER", 1, NODE, 0x3);
  older_offered("RS", 2, NODE, 0x7);
}

/* ---- rebuilt by scr_rebuild -------------------------------------------------------------------------------------- */

/* How many files the directories DIR of all ranks have; "" has none. */
static int files_of_all(const char* dir)
{
  char path[SCR_MAX_FILENAME];
  int  n = *dir != '\0' ? find_file(dir, "", -1, path) : 0;

  MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return n;
}

/* The nodes of MASK are lost; scr_rebuild makes their files from those of the others, in a directory of their own. */
static void rebuild_files(const scheme* c, const shape* s, unsigned mask)
{
  char dir[1300], old[1300], into[700], path[SCR_MAX_FILENAME];
  int  lost = mask >> rank & 1, can = bears(c, NODE, mask), n;

  test_alive();
  during("%s, %s k=%d, mask 0x%x", s->what, c->type, c->k, mask);
  put_back();
  if (lost) lose(NODE);
  snprintf(dir, sizeof dir, "%s/scr.dataset.1", node_dir);
  snprintf(old, sizeof old, "%s/scr.dataset.1", node_copy);
  snprintf(into, sizeof into, "%s/into", case_dir);
  shell("rm -rf into; mkdir into; $TEST_REBUILD --into into nodes/tester/*/node.*/scr.dataset.1 > said 2>&1; test $? = "
        "%d",
        !can);
  if (!can) {
    shell("grep -q 'give the directories of more nodes' said");
    CHECK(find_file(into, "", -1, path) == 0, "files in %s", into);
  } else {
    if (lost) CHECK(tree_differs(old, into) == 0, "what was lost is not what is rebuilt");
    n = files_of_all(lost ? old : "");
    CHECK(find_file(into, "", -1, path) == n, "not just %d files in %s", n, into);
  }
  if (!lost) CHECK(tree_differs(old, dir) + tree_differs(dir, old) == 0, "a node that was not lost");
  MPI_Barrier(MPI_COMM_WORLD);
}

static void scr_rebuild_makes_the_bytes_that_the_ranks_made(void)
{
  static const scheme all[] = {{"XOR", 1}, {"PARTNER", 1}, {"RS", 1}, {"RS", 2}, {"RS", 3}, {NULL, 0}};
  const scheme*       c;
  unsigned            mask;
  int                 i;

  for (c = all; c->type != NULL; c++)
    for (i = 0; i < (c == all + 1 || c->k == 2 ? SHAPES : 1) && c->k < ranks; i++) {
      prepare(c, &shapes[i]);
      for (mask = 1; mask < (1u << ranks) - 1; mask++)
        if (i == 0 || (mask & 1 && bears(c, NODE, mask))) rebuild_files(c, &shapes[i], mask);
    }
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* Write `ck` under the parameters that are set, lose the nodes of MASK, and restart. */
static void lose_once(const shape* s, unsigned mask, int whole, const char* what)
{
  during("%s", what);
  put_ck(s);
  if (mask >> rank & 1) lose(NODE);
  run_restarts(s, whole, 0);
}

/* Nodes share switches by EACH; the last one may be ALONE. */
static void set_switches(int each, int alone)
{
  char host[256] = "";
  int  i;

  gethostname(host, sizeof host - 1);
  for (i = 0; i < ranks; i++) set("GROUPS=%s-v%d SWITCH=s%d", host, i, alone ? i == ranks - 1 : i / each);
}

/* Two nodes share a switch: the sets have members of different switches, so the loss of a switch is the loss of one. */
static void the_loss_of_a_switch_is_one_loss_for_each_set(void)
{
  scheme c = {"XOR", 1};

  begin_nodes(&c);
  set_switches(2, 0);
  set("SCR_GROUP=SWITCH");
  lose_once(&shapes[0], 0x3, 1, "a switch");
  begin_nodes(&c);
  set_switches(2, 0);
  set("SCR_GROUP=SWITCH");
  lose_once(&shapes[0], 0x5, 0, "two nodes of different switches in one set");
  begin_nodes(&c);
  lose_once(&shapes[0], 0x3, 0, "two nodes without switches");
}

/* HOP_DISTANCE sets members apart; sets of three would have other neighbours. */
static void hop_distance_sets_members_apart(void)
{
  static const struct {
    int         hop;
    unsigned    mask;
    int         whole;
    const char* what;
  } lost[] = {{2, 0x3, 1, "two neighbours, hop 2"},
              {2, 0x5, 0, "two that are 2 apart, hop 2"},
              {1, 0x3, 0, "two neighbours, hop 1"},
              {1, 0x5, 1, "two that are 2 apart, hop 1"}};
  scheme c = {"FILE", 1};
  int    i;

  for (i = 0; i < 4; i++) {
    begin_nodes(&c);
    set("CKPT=0 TYPE=XOR SET_SIZE=2 HOP_DISTANCE=%d", lost[i].hop);
    lose_once(&shapes[0], lost[i].mask, lost[i].whole, lost[i].what);
  }
}

/* Of 8 nodes every third belong together: 3, 3 and 2, so that three neighbours may be lost. */
static void sets_by_hop_distance_may_be_uneven(void)
{
  scheme c = {"FILE", 1};

  begin_nodes(&c);
  set("CKPT=0 TYPE=XOR SET_SIZE=3 HOP_DISTANCE=3");
  lose_once(&single, 0x7, 1, "three neighbours");
  begin_nodes(&c);
  set("CKPT=0 TYPE=XOR SET_SIZE=2 HOP_DISTANCE=99");
  lose_once(&single, 0xf, 1, "four neighbours");
}

/*
** Checkpoints 1 to 7, of which the cache keeps 7 as SINGLE, 6 as XOR and 4 as RS; the nodes of MASK are lost in all
** stores.
*/
static void lose_levels(unsigned mask, const char* name)
{
  static const char* const stores[] = {"nodes", "one", "two", "four"};
  scheme                   c = {"FILE", 1};
  char                     path[2000], ck[8];
  int                      i;

  during("mask 0x%x", mask);
  begin_nodes(&c);
  for (i = 1; i < 4; i++) set("STORE=%s/%s COUNT=1", case_dir, stores[i]);
  set("CKPT=0 INTERVAL=1 TYPE=SINGLE STORE=%s/one", case_dir);
  set("CKPT=1 INTERVAL=2 TYPE=XOR STORE=%s/two", case_dir);
  set("CKPT=2 INTERVAL=4 TYPE=RS SET_FAILURES=2 STORE=%s/four", case_dir);
  OK(SCR_Init());
  for (i = 1; i <= 7; i++) {
    snprintf(ck, sizeof ck, "ck%d", i);
    OK(put(ck, 1, 25));
  }
  OK(SCR_Finalize());
  for (i = 0; i < 4 && mask >> rank & 1; i++) {
    snprintf(path, sizeof path, "%s/%s%s", case_dir, stores[i], strstr(node_dir, "/tester/"));
    CHECK(access(path, F_OK) == 0, "no %s", path);
    remove_tree(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  run_gets(name, 1, 25);
}

static void each_level_bears_what_its_scheme_does(void)
{
  lose_levels(0, "ck7");
  lose_levels(0x2, "ck6");
  lose_levels(0x6, "ck4");
}

/* ---- who is where ------------------------------------------------------------------------------------------------ */

/* The record of this rank names the host of its right neighbour, here the next rank. */
static void check_partner(const char* when)
{
  char host[200] = "", want[256], got[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME] = "";

  gethostname(host, sizeof host - 1);
  snprintf(want, sizeof want, "%s-v%d", host, (rank + 1) % ranks);
  CHECK(find_file(node_dir, "/filemap_", 0, path) == 1, "records in %s", node_dir);
  CHECK(record_find(path, "PARTNER", got) > 0, "%s: no partner in %s", when, path);
  CHECK(strcmp(got, want) == 0, "%s: the partner is %s, not %s", when, got, want);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void a_record_names_the_node_of_the_partner(void)
{
  static const scheme all[] = {{"PARTNER", 1}, {"XOR", 1}};
  int                 i, lost;

  for (i = 0; i < 2; i++) {
    during("%s", all[i].type);
    prepare(&all[i], &shapes[0]);
    check_partner("after the checkpoint");
    for (lost = 0; lost < 2; lost++) {
      if (rank == lost) lose(NODE);
      run_restarts(&shapes[0], 1, 0);
      check_partner("after a rebuild");
    }
  }
}

/* In SCR_Init rank 0, and no other rank, says that N ranks have no partner in another GROUP. */
static void expect_said(int n, const char* group)
{
  char said[4096], text[100];

  snprintf(text, sizeof text, "%d of %d ranks find no partner in another group %s", n, ranks, group);
  OK(init_says(said, sizeof said));
  CHECK((strstr(said, text) != NULL) == (rank == 0), "\"%s\" is not in: %s", text, said);
  OK(SCR_Finalize());
}

/* 3+1 ranks on two switches, one group of all, an odd rank on two nodes. */
static void ranks_without_a_partner_are_told_of(void)
{
  scheme c = {"XOR", 1};

  begin_nodes(&c);
  set_switches(1, 1);
  set("SCR_GROUP=SWITCH");
  expect_said(ranks - 2, "SWITCH");
  set("SCR_GROUP=WORLD");
  expect_said(ranks, "WORLD");
  begin_nodes(&c);
  set("SCR_VIRTUAL_NODES=2");
  if (ranks % 2 == 1) expect_said(1, "NODE");
}

/* ---- stores and files -------------------------------------------------------------------------------------------- */

/* This member's files in the store DIR, whose names hold that of its node, and its records are gone. */
static void lose_flat(const char* dir)
{
  char        path[SCR_MAX_FILENAME] = "";
  const char* name = strrchr(node_dir, '/') + 1;
  int         n;

  for (n = 0; find_file(dir, name, 0, path) > 0; n++) unlink(path);
  CHECK(n > 2, "%d files of %s", n, name);
  remove_tree(node_dir);
}

/* RS of two failures in a store with MKDIR=0: every two members are lost, and all files are as they were. */
static void a_store_without_directories_is_rebuilt(void)
{
  scheme   c = {"RS", 2};
  char     dir[700], was[700];
  unsigned mask;

  begin_nodes(&c);
  shell("mkdir flat; chmod 777 flat");
  snprintf(dir, sizeof dir, "%s/flat", case_dir);
  snprintf(was, sizeof was, "%s/was", case_dir);
  set("SCR_CACHE_BASE=%s", dir);
  set("STORE=%s MKDIR=0", dir);
  OK(SCR_Init());
  OK(put_shape("ck", SCR_FLAG_CHECKPOINT, &shapes[0], 1));
  OK(SCR_Finalize());
  if (rank == 0) copy_tree(dir, was);
  for (mask = 3; mask < 1u << ranks; mask++) {
    if (__builtin_popcount(mask) != 2) continue;
    during("mask 0x%x", mask);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mask >> rank & 1) lose_flat(dir);
    MPI_Barrier(MPI_COMM_WORLD);
    run_gets_shape("ck", &shapes[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(tree_differs(was, dir) + tree_differs(dir, was) == 0, "the store");
  }
}

static off_t holes_size; /* 64 MiB and some bytes, or 4 GiB in the long mode */

static off_t island_at(int i)
{
  off_t at[4];

  at[0] = 0;
  at[1] = holes_size / 2 - 3;
  at[2] = holes_size - 70000;
  at[3] = holes_size - 11;
  return at[i];
}

/* Write (or compare) the islands of the file at PATH; that its holes take no space. */
static void islands_of(const char* path, int write_them)
{
  char        want[12], got[12];
  struct stat st;
  int         fd = open(path, write_them ? O_RDWR | O_CREAT : O_RDONLY, 0600), i;

  CHECK(fd >= 0, "cannot open %s: %s", path, strerror(errno));
  for (i = 0; fd >= 0 && i < 4; i++) {
    snprintf(want, sizeof want, "island %3d", i);
    if (write_them) CHECK(pwrite(fd, want, 11, island_at(i)) == 11, "%s", strerror(errno));
    else
      CHECK(pread(fd, got, 11, island_at(i)) == 11 && memcmp(want, got, 11) == 0, "%s differs in island %d", path, i);
  }
  CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size == holes_size && st.st_blocks < 16384,
        "%s has %jd bytes and takes %jd blocks", path, (intmax_t)st.st_size, (intmax_t)st.st_blocks);
  if (fd >= 0) close(fd);
}

/* A checkpoint in which rank 1 has a large file, nearly all of it holes; its node is lost, then the next one. */
static void holes_in(const char* type, int k)
{
  scheme c;
  char   path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int    lost, flag;

  c.type = type;
  c.k = k;
  test_alive();
  during("%s k=%d", type, k);
  begin_nodes(&c);
  set("SCR_MPI_BUF_SIZE=");
  OK(SCR_Init());
  OK(SCR_Start_output("holes", SCR_FLAG_CHECKPOINT));
  name_of("holes", 0, path);
  OK(SCR_Route_file(path, file));
  if (rank == 1) islands_of(file, 1);
  else write_file(file, "small", 5);
  OK(SCR_Complete_output(1));
  OK(SCR_Finalize());
  for (lost = 1; lost < 3; lost++) {
    test_alive();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == lost) lose(NODE);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(SCR_Init());
    flag = 0;
    OK(SCR_Have_restart(&flag, NULL));
    CHECK(flag, "nothing is offered");
    OK(SCR_Route_file(path, file));
    if (flag && rank == 1) islands_of(file, 0);
    OK(SCR_Finalize());
  }
}

static void a_sparse_file_is_sparse_when_it_is_rebuilt(void)
{
  holes_size = ((off_t)(test_long ? 4096 : 64) << 20) + 4321;
  holes_in("XOR", 1);
  holes_in("PARTNER", 1);
  holes_in("RS", 2);
}

#define ANY   "3 | 2 4", "5 6 7"
#define ANY_5 "3 4 | 2 5", "6 7"
#define THREE "3 | 4", "5 6 7"
#define FOUR  "4", "5 6 7"

/*
** The directories of the cache do not need their filemaps: scr_rebuild makes the files of a lost node, as README says.
** rank_1_0 has 1013 bytes.
*/
static void what_damaged_filemaps_listed_can_be_rebuilt_by_hand(void)
{
  static const scheme c = {"XOR", 1};
  char                path[SCR_MAX_FILENAME], into[700];

  begin_nodes(&c);
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
  shell("rm -r nodes/tester/*/node.*-v1; for f in nodes/tester/*/node.*/filemap_*; do echo garbage > $f; done");
  OK(SCR_Init());
  refused("filemaps (3),");
  OK(SCR_Finalize());
  shell("mkdir into; $TEST_REBUILD --into into nodes/tester/*/node.*/scr.dataset.1; ls nodes/tester/*/*/*.damaged");
  snprintf(into, sizeof into, "%s/into", case_dir);
  CHECK(find_file(into, "rank_1_0", 0, path) == 1 && same_bytes(path, seed_of("ck1", 1, 0), 1013), "%s", path);
}

/*
** SCR_Init has no room for what rank 1 has lost, the directory NEWER or, if that is NULL, all that its node had.
** Returns how many files could not be made.
*/
static int start_without_room(const char* newer)
{
  if (newer == NULL) shell("rm -rf nodes/tester/*/node.*-v1");
  else if (rank == 1) remove_tree(newer);
  MPI_Barrier(MPI_COMM_WORLD);
  fault_on(FAULT_CREATE, "scr.dataset.2", ".new.", 1000);
  OK(SCR_Init());
  return fault_end();
}

static void init_without_room(const char* newer)
{
  int lacking = start_without_room(newer);

  CHECK(rank != 1 || lacking > 0, "nothing is rebuilt");
}

/* Nothing older is offered, unless the user chooses it: the newer one can be rebuilt when there is room. */
static void what_only_lacks_room_makes_way_for_no_older_checkpoint(void)
{
  scheme c = {"XOR", 1};
  char   newer[1300];
  int    i, flag;

  put_two(&c, 2, newer);
  for (i = 0; i < 2; i++) {
    init_without_room(newer);
    CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "only room is missing to make ck whole");
    OK(SCR_Finalize());
  }
  run_gets_shape("ck", &shapes[0]);
  set("SCR_CURRENT=old");
  init_without_room(newer);
  get_shape("old", &shapes[0]);
  OK(SCR_Finalize());
}

/* Nor if it is on the prefix, too, but damaged there: what the cache has is the last copy. */
static void what_only_lacks_room_is_kept_although_the_prefix_has_a_damaged_copy(void)
{
  scheme c = {"XOR", 1};
  char   newer[1300], prefix[1300], path[SCR_MAX_FILENAME];
  int    flag;

  put_two(&c, 2, newer);
  set("SCR_FLUSH=1");
  run_gets_shape("ck", &shapes[0]);
  snprintf(prefix, sizeof prefix, "%s/prefix/ck", case_dir);
  if (rank == 0 && find_file(prefix, "rank_0", 0, path) > 0) flip_bit(path, 7);
  init_without_room(newer);
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "scr_index --drop ck");
  OK(SCR_Finalize());
  run_gets_shape("ck", &shapes[0]);
}

/* What was decided against the newer one holds all the same: the next start does not wait for its room. */
static void what_lacks_room_and_was_decided_against_keeps_nobody_back(void)
{
  static const char* const decisions[] = {"the user has chosen another one", "a fresh start",
                                          "another job has rejected it"};
  scheme                   c = {"XOR", 1};
  char                     newer[1300];
  int                      i;

  for (i = 0; i < 3; i++) {
    during("%s", decisions[i]);
    put_two(&c, 1, newer);
    set("SCR_FETCH_BYPASS=1");
    if (i == 0) set("SCR_CURRENT=old");
    if (i == 1) set("SCR_FRESH_START=1");
    if (i == 2) as_job("other");
    start_without_room(NULL);
    if (i == 0) get_shape("old", &shapes[0]);
    if (i == 1) get(NULL, 0, 0);
    if (i == 2) rejects("ck");
    run_dies();
    set("SCR_CURRENT=");
    set("SCR_FRESH_START=");
    as_job(NULL);
    start_without_room(NULL);
    if (i == 1) get(NULL, 0, 0);
    else get_shape("old", &shapes[0]);
    OK(SCR_Finalize());
  }
}

const test_case loss_cases[] = {CASE(xor_rebuilds_what_it_bears_and_refuses_the_rest, "3 4 | 2", "5 6 7"),
                                CASE(what_only_lacks_room_makes_way_for_no_older_checkpoint, "4"),
                                CASE(what_only_lacks_room_is_kept_although_the_prefix_has_a_damaged_copy, "4"),
                                CASE(what_lacks_room_and_was_decided_against_keeps_nobody_back, "4"),
                                CASE(partner_rebuilds_what_it_bears_and_refuses_the_rest, ANY_5),
                                CASE(rs_rebuilds_what_it_bears_and_refuses_the_rest, "3 | 4 5", "6 7"),
                                CASE(xor_rebuilds_files_of_every_shape, ANY),
                                CASE(partner_rebuilds_files_of_every_shape, ANY),
                                CASE(rs_rebuilds_files_of_every_shape, THREE),
                                CASE(rs_rebuilds_when_every_member_has_lost_something, "8", ""),
                                CASE(a_bit_that_flips_anywhere_is_found_and_mended, THREE),
                                CASE(a_rebuild_checks_what_it_reads_even_if_a_restart_does_not, "4", ""),
                                CASE(what_cannot_be_rebuilt_makes_way_for_the_older_checkpoint, THREE),
                                CASE(scr_rebuild_makes_the_bytes_that_the_ranks_made, ANY),
                                CASE(the_loss_of_a_switch_is_one_loss_for_each_set, FOUR),
                                CASE(hop_distance_sets_members_apart, "4", ""),
                                CASE(sets_by_hop_distance_may_be_uneven, "8", ""),
                                CASE(each_level_bears_what_its_scheme_does, FOUR),
                                CASE(a_record_names_the_node_of_the_partner, ANY),
                                CASE(ranks_without_a_partner_are_told_of, "3 | 4 5", "6 7"),
                                CASE(a_store_without_directories_is_rebuilt, THREE),
                                CASE(directories_that_are_lost_are_made_again, ANY),
                                CASE(what_is_no_file_is_a_lost_file, ANY),
                                CASE(a_sparse_file_is_sparse_when_it_is_rebuilt, "3", ""),
                                CASE(what_damaged_filemaps_listed_can_be_rebuilt_by_hand, "4"),
                                CASES_END};
