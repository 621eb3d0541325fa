/*
** loss - every scheme loses every set of members, and is rebuilt, in one process: bytes are compared.
**
** Each rank is a node of its own (SCR_VIRTUAL_NODES).  A checkpoint is written once and its node directory copied.
** Then, again and again: the copy is put back, some members lose something, SCR_Init rebuilds, and all that lies in the
** cache, redundancy files too, is compared with the copy.  Beyond the power of the scheme the library must refuse.
*/
#include "world.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static unsigned long long dice;

static unsigned roll(unsigned n)
{
  dice ^= dice << 13;
  dice ^= dice >> 7;
  dice ^= dice << 17;
  return (unsigned)(dice >> 33) % n;
}

static int two_files(int r)
{
  (void)r;
  return 2;
}

static int odd_ranks(int r)
{
  return r % 2 == 0;
}

static int many_files(int r)
{
  return r == 0 ? 300 : 2;
}

static int equal_size(int r, int i)
{
  (void)r;
  (void)i;
  return 12288;
}

static int odd_size(int r, int i)
{
  return 20011 + 1013 * r + 77 * i;
}

static int one_byte(int r, int i)
{
  (void)r;
  (void)i;
  return 1;
}

static int zero_size(int r, int i)
{
  (void)r;
  (void)i;
  return 0;
}

static int unequal_size(int r, int i)
{
  return r == ranks - 1 ? 100003 + i : 1000 + r;
}

static int small_size(int r, int i)
{
  return (r * 31 + i * 17) % 700;
}

static const shape shapes[] = {{"odd", two_files, odd_size, "ck/rank_%d.%d"},
                               {"equal", two_files, equal_size, "ck/rank_%d.%d"},
                               {"one byte", two_files, one_byte, "ck/rank_%d.%d"},
                               {"zero", two_files, zero_size, "ck/rank_%d.%d"},
                               {"unequal", two_files, unequal_size, "ck/rank_%d.%d"},
                               {"none", odd_ranks, odd_size, "ck/rank_%d.%d"},
                               {"many", many_files, small_size, "ck/rank_%d.%d"},
                               {"names", two_files, odd_size, "ck/dir of %d/\xc3\xa9t\xc3\xa9 \xe2\x82\xac %d"}};

#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

/* ---- all losses -------------------------------------------------------------------------------------------------- */

static const char* const modes[] = {"nodes", "redundancy files", "files"};

static void put_back(void)
{
  remove_tree(node);
  walk_tree(copy, node, 0);
}

/* Can C bear that the members of MASK lose their nodes or files? */
static int bears(const scheme* c, int mode, unsigned mask)
{
  int      i, pos, n, most = 0, power = c->k < ranks ? c->k : ranks - 1;
  unsigned left = (mask << 1 | mask >> (ranks - 1)) & ((1u << ranks) - 1);

  for (pos = 0; pos<ranks; pos++, most = n> most ? n : most) /* data and parities that lie at a position */
    for (n = 0, i = 0; i < ranks; i++)
      if (mode == NODE || (pos - i + ranks) % ranks >= power) n += mask >> i & 1;
  if (mode == RED) return 1;
  if (strcmp(c->type, "PARTNER") == 0) return mode == DATA || (mask & left) == 0;
  return most <= power;
}

static void lose_all(const scheme* c, int shape_first, int shape_last)
{
  unsigned mask;
  int      i, mode, n;
  char     what[64];

  for (i = shape_first; i <= shape_last; i++) {
    prepare(c, &shapes[i]);
    for (mode = 0; mode < MODES; mode++)
      for (mask = 1; mask < 1u << ranks; mask++) {
        int power = strcmp(c->type, "PARTNER") == 0 ? ranks / 2 : c->k, b;
        for (n = 0, b = 0; b < ranks; b++) n += mask >> b & 1;
        if (mode == RED ? n != 1 && n != ranks : n > power + 1) continue;
        if (i > 0 && (n != (power < ranks ? power : ranks - 1) || (mask & 1) == 0 || !bears(c, mode, mask))) continue;
        if (i > 0 && mode == DATA && (i == 3 || i == 5 || i == 6)) continue; /* no bytes, or not on all, to corrupt */
        snprintf(what, sizeof what, "%s of 0x%x of %d", modes[mode], mask, ranks);
        put_back();
        if (mask >> rank & 1) lose(mode);
        restart(c, &shapes[i], bears(c, mode, mask), mode == NODE && mask == (1u << ranks) - 1, what);
        if (check_failed > 20) return;
      }
  }
}

static void xor_all(void)
{
  scheme c = {"XOR", 1};
  lose_all(&c, 0, 0);
}

static void partner_all(void)
{
  scheme c = {"PARTNER", 1};
  lose_all(&c, 0, 0);
}

static void rs_all(void)
{
  scheme c = {"RS", 1};
  for (; c.k <= 4 && c.k < ranks; c.k++) lose_all(&c, 0, 0);
}

static void xor_shapes(void)
{
  scheme c = {"XOR", 1};
  lose_all(&c, 1, SHAPES - 1);
}

static void partner_shapes(void)
{
  scheme c = {"PARTNER", 1};
  lose_all(&c, 1, SHAPES - 1);
}

static void rs_shapes(void)
{
  scheme c = {"RS", 2};
  lose_all(&c, 1, SHAPES - 1);
}

/* Flip one bit in a file of one node: an application's file, a redundancy file, its header, a record of the library. */
static void corruption(const scheme* c, int rounds)
{
  char path[1024] = "", what[1200];
  int  i;

  prepare(c, &shapes[0]);
  for (i = 0; i < rounds; i++) {
    int      who = (int)roll((unsigned)ranks), kind = (int)roll(4);
    unsigned at = roll(1u << 30), pick = roll(1000);
    put_back();
    if (rank == who) {
      const char* part = kind == 0 ? "/ck/" : kind == 1 || kind == 2 ? "_in_" : "scrinfo";
      int         n = find_file(node, part, NULL, -1, path);
      find_file(node, part, NULL, (int)(pick % (unsigned)n), path);
      flip_bit(path, kind == 2 ? at % 900 : at);
    }
    snprintf(what, sizeof what, "a bit of %.900s", rank == who ? path : "another node");
    restart(c, &shapes[0], 1, 0, what);
    if (check_failed > 5) return;
  }
}

static void flips(void)
{
  static const scheme all[] = {{"XOR", 1}, {"PARTNER", 1}, {"RS", 2}};
  int                 i, rounds = getenv("TEST_LONG") != NULL ? 42 : 14;

  dice = 88172645463325252ull;
  for (i = 0; i < 3; i++) corruption(&all[i], rounds);
}

/* ---- the older one of two ---------------------------------------------------------------------------------------- */

/* Write an older and a newer checkpoint of these names; the cache keeps both. */
static void write_two(const scheme* c, const shape* s)
{
  fresh_world("two");
  settings(c);
  SCR_Config("SCR_CACHE_SIZE=2");
  CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
  write_checkpoint("old", s);
  write_checkpoint("ck", &shapes[0]);
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
}

/* The members of MASK lose the newer of two checkpoints: of shape S the older one is offered. */
static void older_offered(const scheme* c, int mode, unsigned mask)
{
  static const shape s = {"older", two_files, odd_size, "old/rank_%d.%d"};
  char               name[SCR_MAX_FILENAME] = "", newer[1300];
  int                flag = 0;

  check_alive();
  write_two(c, &s);
  snprintf(newer, sizeof newer, "%s/scr.dataset.2", node);
  CHECK(access(newer, F_OK) == 0, "%s", newer);
  if (mask >> rank & 1 && mode == NODE) remove_tree(newer);
  else if (mask >> rank & 1) lose(mode);
  MPI_Barrier(MPI_COMM_WORLD);
  settings(c);
  CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
  SCR_Have_restart(&flag, name);
  CHECK(flag == 1 && strcmp(name, "old") == 0, "%s k=%d, %s of 0x%x: %s is offered; %s", c->type, c->k, modes[mode],
        mask, flag ? name : "nothing", SCR_Last_error());
  if (flag == 1) {
    CHECK(SCR_Start_restart(name) == SCR_SUCCESS, "%s", SCR_Last_error());
    if (strcmp(name, "old") == 0) compare_files(&s);
    CHECK(SCR_Complete_restart(1) == SCR_SUCCESS, "%s", SCR_Last_error());
  }
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  SCR_Config("SCR_CACHE_SIZE=");
}

/* Each loses more than it bears of the newer checkpoint.  One bit is enough for SINGLE; flips RS bears in all files. */
static void older_one(void)
{
  static const scheme single = {"SINGLE", 1}, xor_ = {"XOR", 1}, partner = {"PARTNER", 1}, rs = {"RS", 2};

  older_offered(&single, DATA, 0x2);
  older_offered(&single, NODE, 0x1);
  older_offered(&xor_, DATA, 0x3);
  older_offered(&xor_, NODE, 0x3);
  older_offered(&partner, NODE, 0x3);
  older_offered(&rs, NODE, 0x7);
}

/* ---- rebuilt over files, by one process ------------------------------------------------------------------------- */

/* The redundancy file of each member in FILES, by the number in its name. */
static void gather_redundancy(char (*files)[1024])
{
  char path[1024] = "";
  int  r;

  find_file(node, "_in_", NULL, 0, path);
  MPI_Allgather(path, sizeof path, MPI_CHAR, files, sizeof path, MPI_CHAR, MPI_COMM_WORLD);
  for (r = 0; r < ranks; r++) {
    const char* slash = strrchr(files[r], '/');
    CHECK(slash != NULL && atoi(slash + 1) == r + 1, "%s is not of member %d", files[r], r);
  }
}

/* The members of MASK have lost their nodes; rank 0 rebuilds them from the files of the others. */
static void rebuild_files(const scheme* c, const shape* s, unsigned mask, char (*files)[1024])
{
  char        dir[1300], old[1300];
  char*       file[16];
  scr_rebuild job;
  int         r, rc = 0, want = bears(c, NODE, mask) ? SCR_SUCCESS : SCR_ERR_LOST;

  check_alive();
  put_back();
  if (mask >> rank & 1) lose(NODE);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(&job, 0, sizeof job);
  job.n = ranks;
  job.file = file;
  for (r = 0; r < ranks; r++) file[r] = files[r];
  if (rank == 0) rc = scr_rebuild_run(&job);
  MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(rc == want, "%s, %s k=%d, mask 0x%x: %d, %s", s->name, c->type, c->k, mask, rc, rank == 0 ? scr_err_text : "");
  snprintf(dir, sizeof dir, "%s/scr.dataset.1", node);
  snprintf(old, sizeof old, "%s/scr.dataset.1", copy);
  if (want == SCR_SUCCESS)
    CHECK(walk_tree(old, dir, 1) + walk_tree(dir, old, 1) == 0, "%s, %s k=%d, mask 0x%x", s->name, c->type, c->k, mask);
  else if (mask >> rank & 1) CHECK(access(dir, F_OK) != 0, "%s was made, %s k=%d, mask 0x%x", dir, c->type, c->k, mask);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* What one process rebuilds over files is to the byte what the ranks had made. */
static void files(void)
{
  static const scheme all[] = {{"XOR", 1}, {"PARTNER", 1}, {"RS", 1}, {"RS", 2}, {"RS", 3}, {NULL, 0}};
  char(*red)[1024] = (char(*)[1024])calloc((size_t)ranks, sizeof *red);
  const scheme* c;
  unsigned      mask;
  int           i;

  for (c = all; c->type != NULL; c++)
    for (i = 0; i < (c == all + 1 || c->k == 2 ? SHAPES : 1) && c->k < ranks; i++) {
      prepare(c, &shapes[i]);
      gather_redundancy(red);
      for (mask = 1; mask < (1u << ranks) - 1; mask++)
        if (i == 0 || (mask & 1 && bears(c, NODE, mask))) rebuild_files(c, &shapes[i], mask, red);
    }
  free(red);
}

/* ---- descriptors ----------------------------------------------------------------------------------------------- */

/* Unset what the cases below set. */
static void plain_settings(void)
{
  SCR_Config("SCR_GROUP=");
  SCR_Config("SCR_SET_SIZE=");
  SCR_Config("SCR_CACHE_SIZE=");
}

/* Write the checkpoint under settings that are in place, lose the nodes of MASK, and restart. */
static void lose_once(const scheme* c, unsigned mask, int expect, const char* what)
{
  prepare(c, &shapes[0]);
  put_back();
  if (mask >> rank & 1) lose(NODE);
  restart(c, &shapes[0], expect, 0, what);
}

/* Two nodes share a switch: the sets have members of different switches, so the loss of a switch is the loss of one. */
static void switches(void)
{
  scheme c = {"XOR", 1};
  char   host[256] = "";
  int    i;

  gethostname(host, sizeof host - 1);
  for (i = 0; i < ranks; i++) SCR_Configf("GROUPS=%s-v%d SWITCH=s%d", host, i, i / 2);
  SCR_Config("SCR_GROUP=SWITCH");
  lose_once(&c, 0x3, 1, "a switch");
  lose_once(&c, 0x5, 0, "two nodes of different switches in one set");
  plain_settings();
  lose_once(&c, 0x3, 0, "two nodes without switches");
}

/* HOP_DISTANCE sets members apart; sets of three would have other neighbours. */
static void hops(void)
{
  scheme c = {"FILE", 1};

  SCR_Config("CKPT=0 TYPE=XOR SET_SIZE=2 HOP_DISTANCE=2");
  lose_once(&c, 0x3, 1, "two neighbours, hop 2");
  lose_once(&c, 0x5, 0, "two that are 2 apart, hop 2");
  SCR_Config("CKPT=0 TYPE=XOR SET_SIZE=2 HOP_DISTANCE=1");
  lose_once(&c, 0x3, 0, "two neighbours, hop 1");
  lose_once(&c, 0x5, 1, "two that are 2 apart, hop 1");
  SCR_Config("CKPT=");
}

static void level_settings(void)
{
  scheme c = {"FILE", 1};

  settings(&c);
  SCR_Configf("STORE=%s/one COUNT=1", base);
  SCR_Configf("STORE=%s/two COUNT=1", base);
  SCR_Configf("STORE=%s/four COUNT=1", base);
  SCR_Configf("CKPT=0 INTERVAL=1 TYPE=SINGLE STORE=%s/one", base);
  SCR_Configf("CKPT=1 INTERVAL=2 TYPE=XOR STORE=%s/two", base);
  SCR_Configf("CKPT=2 INTERVAL=4 TYPE=RS SET_FAILURES=2 STORE=%s/four", base);
}

/* Checkpoints 1 to 7: the cache then holds 7 as SINGLE, 6 as XOR and 4 as RS. */
static void level_write(void)
{
  char name[1024], path[SCR_MAX_FILENAME] = "";
  int  i;

  CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
  for (i = 1; i <= 7; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    CHECK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT) == SCR_SUCCESS, "%s", SCR_Last_error());
    snprintf(name, sizeof name, "%s/prefix/ck%d/rank_%d", base, i, rank);
    CHECK(SCR_Route_file(name, path) == SCR_SUCCESS, "%s", SCR_Last_error());
    snprintf(name, sizeof name, "checkpoint %d of rank %d", i, rank);
    if (path[0] != '\0') write_file(path, name, (long)strlen(name));
    CHECK(SCR_Complete_output(1) == SCR_SUCCESS, "%s", SCR_Last_error());
  }
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
}

/* Lose the nodes of MASK in all stores, and restart from checkpoint EXPECT. */
static void level_lose(unsigned mask, int expect)
{
  static const char* const stores[] = {"", "/one", "/two", "/four"};
  char                     host[256] = "", name[SCR_MAX_FILENAME] = "", path[1300];
  char *                   p, want[64];
  long                     n;
  int                      i, flag = 0;

  gethostname(host, sizeof host - 1);
  fresh_world("levels");
  level_settings();
  level_write();
  for (i = 0; i < 4 && mask >> rank & 1; i++) {
    snprintf(path, sizeof path, "%s%s/tester/scr.%s/node.%s-v%d", base, stores[i], getenv("SCR_JOB_ID"), host, rank);
    remove_tree(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  level_settings();
  CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
  SCR_Have_restart(&flag, name);
  snprintf(want, sizeof want, "ck%d", expect);
  CHECK(flag == 1 && strcmp(name, want) == 0, "mask 0x%x: %s instead of %s; %s", mask, name, want, SCR_Last_error());
  if (flag == 1) {
    snprintf(path, sizeof path, "%s/prefix/%s/rank_%d", base, want, rank);
    CHECK(SCR_Start_restart(name) == SCR_SUCCESS && SCR_Route_file(path, name) == SCR_SUCCESS, "%s", SCR_Last_error());
    snprintf(want, sizeof want, "checkpoint %d of rank %d", expect, rank);
    p = read_file(name, &n);
    CHECK(p != NULL && n == (long)strlen(want) && memcmp(p, want, (size_t)n) == 0, "%s", name);
    free(p);
    CHECK(SCR_Complete_restart(1) == SCR_SUCCESS, "%s", SCR_Last_error());
  }
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  SCR_Config("STORE=");
  SCR_Config("CKPT=");
}

static void levels(void)
{
  level_lose(0, 7);
  level_lose(0x2, 6);
  level_lose(0x6, 4);
}

/* ---- who is where ------------------------------------------------------------------------------------------------ */

/* The entry of this rank for dataset 1 names the host of its right neighbour, here the next rank. */
static void check_partner(const scheme* c, const char* when)
{
  char         host[200] = "", want[256], path[1024] = "";
  const char*  got = NULL;
  scr_filemap* map = scr_filemap_new();
  scr_hash*    flush = scr_hash_new();

  gethostname(host, sizeof host - 1);
  snprintf(want, sizeof want, "%s-v%d", host, (rank + 1) % ranks);
  CHECK(find_file(node, "/filemap_", NULL, 0, path) == 1, "files of the map in %s", node);
  CHECK(scr_filemap_read(path, map) == SCR_SUCCESS, "%s: %s", path, scr_err_text);
  scr_filemap_get_flushdesc(map, 1, rank, flush);
  scr_hash_util_get_str(flush, "PARTNER", &got);
  CHECK(got != NULL && strcmp(got, want) == 0, "%s, %s: the partner is %s, not %s", c->type, when,
        got ? got : "missing", want);
  scr_hash_delete(&flush);
  scr_filemap_delete(&map);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void partners(void)
{
  static const scheme all[] = {{"PARTNER", 1}, {"XOR", 1}};
  int                 i, lost;

  for (i = 0; i < 2; i++) {
    prepare(&all[i], &shapes[0]);
    check_partner(&all[i], "after the checkpoint");
    for (lost = 0; lost < 2; lost++) {
      if (rank == lost) lose(NODE);
      restart(&all[i], &shapes[0], 1, 0, "a node");
      check_partner(&all[i], "after a rebuild");
    }
  }
}

/* Is TEXT in what rank 0 says in SCR_Init, under settings that are in place? */
static void expect_said(const scheme* c, const char* text)
{
  char path[700], *said;
  long n;
  int  old, fd, rc;

  settings(c);
  snprintf(path, sizeof path, "%s/said.%d", base, rank);
  fflush(stderr);
  old = dup(2);
  fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(old >= 0 && fd >= 0 && dup2(fd, 2) == 2, "%s: %s", path, strerror(errno));
  rc = SCR_Init();
  fflush(stderr);
  dup2(old, 2);
  close(fd);
  close(old);
  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
  said = read_file(path, &n);
  if (said != NULL && n >= 0) said[n] = '\0';
  CHECK(said != NULL && (strstr(said, text) != NULL) == (rank == 0), "\"%s\" is not in: %s", text, said);
  free(said);
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
}

/* Ranks that find no partner are told of: 3+1 ranks on two switches, an odd rank on two nodes, one group of all. */
static void messages(void)
{
  scheme c = {"XOR", 1}, two = {"XOR", 1, 2};
  char   host[200] = "", text[100];
  int    i;

  fresh_world("messages");
  gethostname(host, sizeof host - 1);
  for (i = 0; i < ranks; i++) SCR_Configf("GROUPS=%s-v%d SWITCH=s%d", host, i, i == ranks - 1);
  SCR_Config("SCR_GROUP=SWITCH");
  snprintf(text, sizeof text, "%d of %d ranks find no partner in another group SWITCH", ranks - 2, ranks);
  expect_said(&c, text);
  SCR_Config("SCR_GROUP=WORLD");
  snprintf(text, sizeof text, "%d of %d ranks find no partner in another group WORLD", ranks, ranks);
  expect_said(&c, text);
  plain_settings();
  snprintf(text, sizeof text, "1 of %d ranks find no partner in another group NODE", ranks);
  if (ranks % 2 == 1) expect_said(&two, text);
}

/* ---- a store without directories ------------------------------------------------------------------------------- */

static void flat_settings(const scheme* c)
{
  settings(c);
  SCR_Configf("SCR_CACHE_BASE=%s/flat", base);
  SCR_Configf("STORE=%s/flat MKDIR=0", base);
}

/* This member's files in the store, whose names hold that of its node, and its records are gone. */
static void flat_lose(void)
{
  char        dir[700], path[1024] = "";
  const char* name = strrchr(node, '/') + 1;
  int         n;

  snprintf(dir, sizeof dir, "%s/flat", base);
  for (n = 0; find_file(dir, name, NULL, 0, path) > 0; n++) unlink(path);
  CHECK(n > 2, "%d files of %s", n, name);
  remove_tree(node);
}

/* RS of two failures in a store with MKDIR=0: every two members are lost, and all files are as they were. */
static void flat(void)
{
  scheme   c = {"RS", 2};
  char     dir[700], was[700], name[SCR_MAX_FILENAME];
  unsigned mask;
  int      flag;

  fresh_world("flat");
  snprintf(dir, sizeof dir, "%s/flat", base);
  snprintf(was, sizeof was, "%s/was", base);
  if (rank == 0) mkdir(dir, 0777);
  MPI_Barrier(MPI_COMM_WORLD);
  flat_settings(&c);
  CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
  write_checkpoint("ck", &shapes[0]);
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  if (rank == 0) walk_tree(dir, was, 0);
  for (mask = 3; mask < 1u << ranks; mask++) {
    if (__builtin_popcount(mask) != 2) continue;
    check_alive();
    MPI_Barrier(MPI_COMM_WORLD);
    if (mask >> rank & 1) flat_lose();
    MPI_Barrier(MPI_COMM_WORLD);
    flat_settings(&c);
    CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
    flag = 0;
    CHECK(SCR_Have_restart(&flag, name) == SCR_SUCCESS && flag, "mask 0x%x: %s", mask, SCR_Last_error());
    if (flag) {
      CHECK(SCR_Start_restart(name) == SCR_SUCCESS, "%s", SCR_Last_error());
      compare_files(&shapes[0]);
      CHECK(SCR_Complete_restart(1) == SCR_SUCCESS, "%s", SCR_Last_error());
    }
    CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rank != 0 || walk_tree(was, dir, 1) + walk_tree(dir, was, 1) == 0, "mask 0x%x", mask);
  }
  SCR_Config("STORE=");
}

/* ---- corrupt files that leave the cache ------------------------------------------------------------------------- */

/* 1 when the log of the prefix has a line of a corrupt file that names PATH. */
static int logged_corrupt(const char* path)
{
  char name[600], *text, *line, *rest = NULL;
  long n;
  int  found = 0;

  snprintf(name, sizeof name, "%s/prefix/.scr/log", base);
  text = read_file(name, &n);
  if (text == NULL || n < 0) return 0;
  text[n] = '\0';
  for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
    if (strstr(line, "event=CORRUPT") != NULL && strstr(line, path) != NULL) found = 1;
  free(text);
  return found;
}

/* Two ranks share a node.  All files of a checkpoint are corrupt when the next one takes its place: each is told of. */
static void deleted_corrupt(const char* type)
{
  scheme c = {type, 1, ranks / 2};
  char   path[2][SCR_MAX_FILENAME];
  int    i;

  fresh_world("deleted");
  settings(&c);
  SCR_Config("SCR_CRC_ON_DELETE=1");
  SCR_Config("SCR_LOG_ENABLE=1");
  SCR_Config("SCR_LOG_SYSLOG_ENABLE=0");
  CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
  open_checkpoint("ck", &shapes[0]);
  for (i = 0; i < 2; i++)
    CHECK(SCR_Route_file(file_name(&shapes[0], i), path[i]) == SCR_SUCCESS, "%s", SCR_Last_error());
  CHECK(SCR_Complete_output(1) == SCR_SUCCESS, "%s", SCR_Last_error());
  for (i = 0; i < 2; i++) flip_bit(path[i], 12345);
  MPI_Barrier(MPI_COMM_WORLD);
  write_checkpoint("next", &shapes[0]);
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  for (i = 0; i < 2; i++) {
    CHECK(access(path[i], F_OK) != 0, "%s is still there", path[i]);
    CHECK(logged_corrupt(path[i]), "%s: the log does not tell of %s", type, path[i]);
  }
  SCR_Config("SCR_CRC_ON_DELETE=");
  SCR_Config("SCR_LOG_ENABLE=");
  SCR_Config("SCR_LOG_SYSLOG_ENABLE=");
}

static void deleted(void)
{
  deleted_corrupt("SINGLE");
  deleted_corrupt("XOR");
}

/* ---- a sparse file --------------------------------------------------------------------------------------------- */

static off_t holes_size; /* 64 MiB and some bytes, or 4 GiB in the long run */

static off_t island_at(int i)
{
  off_t half = holes_size / 2, at[4];

  at[0] = 0;
  at[1] = half - 3;
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
static void holes_in(const scheme* c)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[SCR_MAX_FILENAME];
  int  lost, flag;

  check_alive();
  prepare(c, &shapes[2]);
  remove_tree(node);
  MPI_Barrier(MPI_COMM_WORLD);
  settings(c);
  SCR_Config("SCR_MPI_BUF_SIZE=");
  CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
  CHECK(SCR_Start_output("holes", SCR_FLAG_CHECKPOINT) == SCR_SUCCESS, "%s", SCR_Last_error());
  snprintf(path, sizeof path, "%s/prefix/holes/rank_%d", base, rank);
  CHECK(SCR_Route_file(path, file) == SCR_SUCCESS, "%s", SCR_Last_error());
  if (rank == 1) islands_of(file, 1);
  else write_file(file, "small", 5);
  CHECK(SCR_Complete_output(1) == SCR_SUCCESS, "%s", SCR_Last_error());
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  for (lost = 1; lost < 3; lost++) {
    check_alive();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == lost) remove_tree(node);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(SCR_Init() == SCR_SUCCESS, "%s", SCR_Last_error());
    flag = 0;
    CHECK(SCR_Have_restart(&flag, name) == SCR_SUCCESS && flag, "%s k=%d: %s", c->type, c->k, SCR_Last_error());
    if (flag && rank == 1) islands_of(file, 0);
    CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  }
}

static void holes(void)
{
  scheme xor_ = {"XOR", 1}, partner = {"PARTNER", 1}, rs = {"RS", 2};

  holes_size = ((off_t)(getenv("TEST_LONG") != NULL ? 4096 : 64) << 20) + 4321;
  holes_in(&xor_);
  holes_in(&partner);
  holes_in(&rs);
}

/* ---- disks that fail ------------------------------------------------------------------------------------------- */

static int fail_after; /* calls of pread or pwrite that still work */

static ssize_t failing_pread(int fd, void* buf, size_t n, off_t offset)
{
  if (fail_after-- > 0) return pread(fd, buf, n, offset);
  errno = EIO;
  return -1;
}

static ssize_t failing_pwrite(int fd, const void* buf, size_t n, off_t offset)
{
  if (fail_after-- > 0) return pwrite(fd, buf, n, offset);
  errno = ENOSPC;
  return -1;
}

/*
** Member 0 is lost, and while it is rebuilt a disk fails at the N-th call: rank 1 cannot read, or rank 0 cannot write.
** Without checksums, so that nothing but the agreement of the set keeps wrong bytes out.  Afterwards the disk works,
** and the dataset must be there as it was.
*/
static void fail_at(const scheme* c, int write)
{
  int n, rc, flag = 0, failed = 1;

  SCR_Config("SCR_CRC_ON_COPY=0");
  prepare(c, &shapes[0]);
  for (n = 0; failed && n < 60; n = n < 8 ? n + 1 : n * 2) {
    char name[SCR_MAX_FILENAME];
    put_back();
    if (rank == 0) lose(NODE);
    MPI_Barrier(MPI_COMM_WORLD);
    settings(c);
    fail_after = n;
    if (!write && rank == 1) scr_os.pread = failing_pread;
    if (write && rank == 0) scr_os.pwrite = failing_pwrite;
    rc = SCR_Init();
    failed = 1; /* SCR_Init fails when a record cannot be read */
    if (rc == SCR_SUCCESS) {
      rc = SCR_Have_restart(&flag, name);
      failed = !flag;
      CHECK(flag || rc != SCR_SUCCESS, "call %d: refused without an error", n);
      if (flag) compare_files(&shapes[0]);
      SCR_Finalize();
    }
    scr_os.pread = pread;
    scr_os.pwrite = pwrite;
    restart(c, &shapes[0], 1, 0, write ? "after a write failed" : "after a read failed");
  }
  SCR_Config("SCR_CRC_ON_COPY=1");
}

static void disks(void)
{
  scheme xor_ = {"XOR", 1}, partner = {"PARTNER", 1}, rs = {"RS", 2};
  int    write;

  for (write = 0; write < 2; write++) {
    fail_at(&xor_, write);
    fail_at(&partner, write);
    if (ranks > 2) fail_at(&rs, write);
  }
}

#define EXACTLY(n) (-(n)) /* ranks, no more */

static check_case tests[] = {{"xor_all", xor_all, 2},
                             {"partner_all", partner_all, 2},
                             {"rs_all", rs_all, 3},
                             {"xor_shapes", xor_shapes, 2},
                             {"partner_shapes", partner_shapes, 2},
                             {"rs_shapes", rs_shapes, 3},
                             {"flips", flips, 3},
                             {"older_one", older_one, 3},
                             {"holes", holes, EXACTLY(3)},
                             {"files", files, 2},
                             {"disks", disks, 2},
                             {"switches", switches, 4},
                             {"hops", hops, EXACTLY(4)},
                             {"levels", levels, 4},
                             {"partners", partners, 2},
                             {"messages", messages, 3},
                             {"flat", flat, 3},
                             {"deleted", deleted, EXACTLY(4)},
                             {NULL, NULL, 0}};

int main(int argc, char** argv)
{
  int i, failed;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; tests[i].name != NULL; i++)
    if (tests[i].least < 0) tests[i].least = tests[i].least == EXACTLY(ranks) ? ranks : ranks + 1;
  failed = check_main(tests, argc, argv);
  MPI_Finalize();
  return failed;
}
