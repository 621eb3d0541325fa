/*
** power.c - the power of the file system of the prefix fails: what a run has acknowledged is there afterwards.
**
** A run is logged (trace.h), and the log is played back on a model of a disk.  After each call the power may fail.  Of
** a file that is left which was last synced, and of a directory the names that it had when it was last synced; what is
** below a directory whose name was not synced cannot be found.  Any of the changes since then may have got to the disk
** as well, in any order.  A few of the disks that may be left are made, each becomes the prefix, and a run that has
** nothing else must find on it what the library has said to be there.
**
** TEST_EVERY=1 does not end with the first failure of each kind, and counts them.
*/
#include "mpi_test.h"
#include "trace.h"

/* ---- the model of a disk --------------------------------------------------------------------------------------- */

#define NAME_SIZE 256

typedef struct {
  char name[NAME_SIZE];
  char from[NAME_SIZE]; /* the old name, which goes; "" unless it is a rename */
  int  node;            /* that NAME leads to; -1: the name goes */
} change;

typedef struct {
  char*  p;
  size_t n;
} text;

/* A file or a directory. */
typedef struct {
  int     is_dir;
  change* change;          /* of a directory: all changes, */
  int     changes, synced; /* and how many of them are synced */
  text    now, safe;       /* of a file: the bytes, and those that are synced */
} node;

static struct {
  node* node; /* the first is the prefix */
  int   nodes;
  int*  opened; /* node by number of the open */
  int   opens;
} disk;

static void* more(void* p, int n, size_t size)
{
  p = realloc(p, ((size_t)n + 1) * size);
  memset((char*)p + (size_t)n * size, 0, size);
  return p;
}

static int new_node(int is_dir)
{
  disk.node = (node*)more(disk.node, disk.nodes, sizeof *disk.node);
  disk.node[disk.nodes].is_dir = is_dir;
  return disk.nodes++;
}

static void clear_disk(void)
{
  int i;

  for (i = 0; i < disk.nodes; i++) {
    free(disk.node[i].change);
    free(disk.node[i].now.p);
    free(disk.node[i].safe.p);
  }
  free(disk.node);
  free(disk.opened);
  memset(&disk, 0, sizeof disk);
}

/* Where NAME leads in the directory DIR now; -1: nowhere. */
static int find_name(int dir, const char* name)
{
  const node* d = &disk.node[dir];
  int         i;

  for (i = d->changes - 1; i >= 0; i--) {
    if (strcmp(d->change[i].name, name) == 0) return d->change[i].node;
    if (strcmp(d->change[i].from, name) == 0) return -1;
  }
  return -1;
}

/* The directory of PATH, and its last NAME; the prefix itself has none. */
static int find_dir(const char* path, char* name)
{
  int dir = 0;

  *name = '\0';
  while (*path) {
    size_t n = strcspn(path, "/");
    if (*name) dir = find_name(dir, name);
    CHECK(n > 0 && n < NAME_SIZE && strncmp(path, "..", n) != 0 && strncmp(path, ".", n) != 0, "the path %s", path);
    CHECK(dir >= 0 && disk.node[dir].is_dir, "there is no directory for %s", path);
    if (dir < 0) return 0;
    snprintf(name, NAME_SIZE, "%.*s", (int)n, path);
    path += n + (path[n] == '/');
  }
  return dir;
}

/* In the directory DIR, NAME leads to N from now on; it is renamed from FROM, unless that is "". */
static void change_name(int dir, const char* name, const char* from, int n)
{
  node* d = &disk.node[dir];

  d->change = (change*)more(d->change, d->changes, sizeof *d->change);
  snprintf(d->change[d->changes].name, NAME_SIZE, "%s", name);
  snprintf(d->change[d->changes].from, NAME_SIZE, "%s", from);
  d->change[d->changes++].node = n;
}

static void resize(text* t, size_t n)
{
  t->p = (char*)realloc(t->p, n + 1);
  if (n > t->n) memset(t->p + t->n, 0, n - t->n);
  t->n = n;
}

static void play_open(const trace_call* c, const char* path)
{
  char name[NAME_SIZE];
  int  dir = find_dir(path, name), n = *name ? find_name(dir, name) : 0;

  if (n < 0) {
    CHECK(c->flags & O_CREAT, "%s is not there", path);
    change_name(dir, name, "", n = new_node(0));
  }
  if (c->flags & O_TRUNC) resize(&disk.node[n].now, 0);
  while (disk.opens <= c->file) disk.opened = (int*)more(disk.opened, disk.opens++, sizeof *disk.opened);
  disk.opened[c->file] = n;
}

static void play_rename(const char* path, const char* to)
{
  char old[NAME_SIZE], name[NAME_SIZE];
  int  dir = find_dir(path, old), n = find_name(dir, old);

  CHECK(n >= 0 && find_dir(to, name) == dir, "%s is renamed to %s", path, to);
  change_name(dir, name, old, n);
}

/* What the call C, on PATH and with DATA, does to the disk. */
static void play(const trace_call* c, const char* path, const char* data)
{
  char  name[NAME_SIZE];
  node* n = c->file > 0 && c->file < disk.opens ? &disk.node[disk.opened[c->file]] : NULL;
  int   dir;

  if (c->call == TRACE_OPEN) {
    play_open(c, path);
  } else if (c->call == TRACE_WRITE) {
    if (n->now.n < (size_t)(c->at + c->bytes)) resize(&n->now, (size_t)(c->at + c->bytes));
    memcpy(n->now.p + c->at, data, (size_t)c->bytes);
  } else if (c->call == TRACE_TRUNCATE) {
    resize(&n->now, (size_t)c->at);
  } else if (c->call == TRACE_FSYNC) {
    n->synced = n->changes;
    resize(&n->safe, n->now.n);
    if (n->now.n > 0) memcpy(n->safe.p, n->now.p, n->now.n);
  } else if (c->call == TRACE_RENAME) {
    play_rename(path, data);
  } else {
    dir = find_dir(path, name);
    CHECK((find_name(dir, name) >= 0) == (c->call != TRACE_MKDIR), "%s: call %d", path, c->call);
    change_name(dir, name, "", c->call == TRACE_MKDIR ? new_node(1) : -1);
  }
}

/* The power fails, and only what was synced is left. */
static void forget_unsynced(void)
{
  int i;

  for (i = 0; i < disk.nodes; i++) {
    node* n = &disk.node[i];
    n->changes = n->synced;
    resize(&n->now, n->safe.n);
    if (n->safe.n > 0) memcpy(n->now.p, n->safe.p, n->safe.n);
  }
}

/* ---- what may be left of it ------------------------------------------------------------------------------------ */

enum {          /* what has got to the disk */
       STRICT,  /* only what was synced */
       INDEX,   /* and all names in the directory of the index */
       NAMES,   /* and all names, but no bytes */
       ORDERED, /* everything */
       CHANCE,  /* this and that; greater numbers too */
       KINDS
};

static const char* const kind_words[] = {"what was synced is left", "what was synced and the index are left",
                                         "all names and the bytes that were synced are left", "everything is left",
                                         "this and that is left"};

static text image; /* of a disk: of each file and directory its path, NUL, 'f' or 'd', size, bytes */

static void add(const void* p, size_t n)
{
  resize(&image, image.n + n);
  if (n > 0) memcpy(image.p + image.n - n, p, n);
}

static void add_file(const node* f, int kind)
{
  int         same = f->now.n == f->safe.n && (f->now.n == 0 || memcmp(f->now.p, f->safe.p, f->now.n) == 0);
  const text* t = kind == ORDERED || (kind >= CHANCE && roll(3) > 0) ? &f->now : &f->safe;
  size_t      start;

  add("f", 1);
  add(&t->n, sizeof t->n);
  start = image.n;
  add(t->p, t->n);
  if (kind >= CHANCE && !same && t->n > 0 && roll(3) == 0) memset(image.p + start, 0, t->n); /* the size alone */
}

/* Whether change I of the directory D, at PATH, is left. */
static int is_left(const node* d, int i, const char* path, int kind)
{
  if (i < d->synced || kind == ORDERED || kind == NAMES) return 1;
  if (kind == INDEX) return strcmp(path, ".scr/") == 0 || (*path == '\0' && strcmp(d->change[i].name, ".scr") == 0);
  return kind >= CHANCE && roll(2);
}

static void add_dir(int dir, const char* path, int kind)
{
  node* d = &disk.node[dir];
  char *left = (char*)malloc((size_t)d->changes + 1), below[SCR_MAX_FILENAME];
  int   i, k;

  for (i = 0; i < d->changes; i++) left[i] = (char)is_left(d, i, path, kind);
  for (i = 0; i < d->changes; i++) {
    const change* c = &d->change[i];
    if (!left[i] || c->node < 0) continue;
    for (k = i + 1; k < d->changes; k++) /* the last word on this name */
      if (left[k] && (strcmp(d->change[k].name, c->name) == 0 || strcmp(d->change[k].from, c->name) == 0)) break;
    if (k < d->changes) continue;
    snprintf(below, sizeof below, "%s%s", path, c->name);
    add(below, strlen(below) + 1);
    if (!disk.node[c->node].is_dir) {
      add_file(&disk.node[c->node], kind);
      continue;
    }
    add("d", 1);
    strcat(below, "/");
    add_dir(c->node, below, kind);
  }
  free(left);
}

static void make_image(int kind)
{
  resize(&image, 0);
  add_dir(0, "", kind);
}

/* The image becomes the directory DIR. */
static void write_image(const char* dir)
{
  size_t at = 0;

  remove_tree(dir);
  make_dir(dir);
  while (at < image.n) {
    char   path[2 * SCR_MAX_FILENAME];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", dir, image.p + at);
    at += strlen(image.p + at) + 1;
    if (image.p[at++] == 'd') {
      make_dir(path);
      continue;
    }
    memcpy(&n, image.p + at, sizeof n);
    at += sizeof n;
    write_file(path, image.p + at, n);
    at += n;
  }
}

/* ---- what must be there ---------------------------------------------------------------------------------------- */

#define SETS 5

typedef struct {
  const char* what;
  void (*run)(void); /* what is logged */
  struct {
    const char*  name;
    const shape* files;
  } set[SETS]; /* the checkpoints that it writes, in this order */
} scenario;

enum { ANY, MUST, GONE };

#define CUT "cut" /* a note: the power fails in the scenario itself */

/* What the library has said of each checkpoint. */
typedef struct {
  int is[SETS];      /* ANY: it may be there or not; MUST: it was acknowledged; GONE: that it was deleted was */
  int or_else[SETS]; /* when it is not there, this one is, which replaces it; -1: none */
} promise;

/*
** A note begins with the number of a checkpoint: `0+`, acknowledged; `0-`, deleted; `0?`, from now on it may go; `0?2`,
** when number 2 is there instead.
*/
static void note(promise* p, const char* line)
{
  int i = line[0] - '0';

  if (line[1] == '?' && p->is[i] == MUST) p->or_else[i] = line[2] ? line[2] - '0' : -1;
  if (line[1] == '?' && p->is[i] == MUST) p->is[i] = ANY;
  if (line[1] == '+' || line[1] == '-') p->is[i] = line[1] == '+' ? MUST : GONE;
}

static const scenario* now;

/* Checkpoint I is written, and replaces number OLD, unless that is -1. */
static void put_set(int i, int old)
{
  int rc;

  if (old >= 0) trace_note("%d?%d", old, i);
  OK(rc = put_shape(now->set[i].name, SCR_FLAG_CHECKPOINT, now->set[i].files, 1));
  if (rc == SCR_SUCCESS) trace_note("%d+", i);
}

/* Checkpoint I is removed by CALL. */
static void remove_set(int i, int (*call)(const char* name))
{
  int rc;

  trace_note("%d?", i);
  OK(rc = call(now->set[i].name));
  if (rc == SCR_SUCCESS) trace_note("%d-", i);
}

/* 1 when the index has checkpoint NAME as complete. */
static int is_listed(const char* name)
{
  char says[RECORDS_MAX];

  records_say(name, says);
  return strstr(says, "COMPLETE") != NULL || strstr(says, "RENAMES") != NULL;
}

/* A run that has nothing but the prefix finds there what P says. */
static void run_finds(const promise* p)
{
  int i, rc, newest = -1, listed[SETS] = {0};

  test_alive();
  for (i = 0; i < SETS && now->set[i].name != NULL; i++) {
    const char* name = now->set[i].name;
    listed[i] = is_listed(name);
    CHECK(rank > 0 || listed[i] || p->is[i] != MUST, "%s is not in the index", name);
    CHECK(rank > 0 || !listed[i] || p->is[i] != GONE, "%s is in the index, though deleted", name);
    if (listed[i]) newest = i;
  }
  for (i = 0; i < SETS; i++)
    if (p->is[i] == ANY && p->or_else[i] >= 0)
      CHECK(rank > 0 || listed[i] || listed[p->or_else[i]], "%s and what replaces it are not in the index",
            now->set[i].name);
  set("SCR_DISTRIBUTE=0"); /* what was in the cache alone is lost, and does not count */
  OK(rc = same_code(SCR_Init()));
  if (rc != SCR_SUCCESS) return;
  get_shape(newest < 0 ? NULL : now->set[newest].name, newest < 0 ? NULL : now->set[newest].files);
  for (i = 0; i < newest; i++)
    if (listed[i]) {
      OK(SCR_Current(now->set[i].name));
      get_shape(now->set[i].name, now->set[i].files);
    }
  OK(put_shape("further", SCR_FLAG_CHECKPOINT, now->set[0].files, 1));
  on_prefix_shape("further", now->set[0].files);
  OK(SCR_Finalize());
  set("SCR_DISTRIBUTE=");
}

/* ---- cuts ------------------------------------------------------------------------------------------------------ */

static const char* const call_words[] = {"open",   "write", "ftruncate", "fsync", "rename",
                                         "unlink", "mkdir", "rmdir",     "note"};

/* The power fails. */
typedef struct {
  int     there; /* 0: there are no more cuts */
  int     at, kind;
  char    when[200];
  promise said;
} cut;

static struct {
  char*               log;
  long                size, place;
  int                 calls, call; /* so far, and the last of them */
  int                 kind, kinds; /* the next kind of cut after it, of so many */
  cut                 c;
  unsigned long long* seen; /* disks that were tried */
  int                 seen_count;
  int                 failed[KINDS];
} player;

/* Play the next call of the log; 0 when there is none. */
static int next_call(void)
{
  trace_call  c;
  char        path[SCR_MAX_FILENAME];
  const char* data;

  if (player.place >= player.size) return 0;
  memcpy(&c, player.log + player.place, sizeof c);
  data = player.log + player.place + sizeof c + c.path_bytes;
  snprintf(path, sizeof path, "%.*s", c.path_bytes, player.log + player.place + sizeof c);
  player.place += (long)sizeof c + c.path_bytes + c.bytes;
  player.calls++;
  player.call = c.call;
  snprintf(player.c.when, sizeof player.c.when, "%s %.100s of rank %d", call_words[c.call],
           c.path_bytes > 0 ? path : "of a file", c.rank);
  if (c.call == TRACE_NOTE && strcmp(path, CUT) == 0) {
    forget_unsynced();
  } else if (c.call == TRACE_NOTE) {
    note(&player.c.said, path);
  } else if (c.call == TRACE_RENAME) {
    char to[SCR_MAX_FILENAME];
    snprintf(to, sizeof to, "%.*s", c.bytes, data);
    play(&c, path, to);
  } else {
    play(&c, path, data);
  }
  return 1;
}

/* 1 when the image was not tried before, with what was said then. */
static int is_new(void)
{
  unsigned long long h = 14695981039346656037ull;
  size_t             i;
  int                k;

  for (i = 0; i < image.n; i++) h = (h ^ (unsigned char)image.p[i]) * 1099511628211ull;
  for (i = 0; i < sizeof player.c.said; i++) h = (h ^ ((unsigned char*)&player.c.said)[i]) * 1099511628211ull;
  for (k = 0; k < player.seen_count; k++)
    if (player.seen[k] == h) return 0;
  player.seen = (unsigned long long*)more(player.seen, player.seen_count, sizeof *player.seen);
  player.seen[player.seen_count++] = h;
  return 1;
}

/* How many kinds of cuts are tried after this call: after most calls that change no name and sync nothing, none are. */
static int kinds_here(void)
{
  int step = pace(21, 3, 1);

  if (test_long) return KINDS + 3;
  if (player.call <= TRACE_TRUNCATE && player.calls % 5 != 0) return 0;
  return player.calls % step == turn(step) ? KINDS : 0;
}

/* On rank 0: go to the next cut. */
static void next_cut(void)
{
  while (player.kind < player.kinds || next_call()) {
    if (player.kind == player.kinds) {
      player.kind = 0;
      player.kinds = kinds_here();
    }
    while (player.kind < player.kinds) {
      player.c.kind = player.kind < CHANCE ? player.kind : CHANCE;
      make_image(player.kind++);
      if (player.failed[player.c.kind] || !is_new()) continue; /* one failure is enough */
      player.c.there = 1;
      player.c.at = player.calls;
      return;
    }
  }
  player.c.there = 0;
}

static void open_log(const char* path)
{
  int i;

  memset(&player, 0, sizeof player);
  player.log = read_file(path, &player.size);
  CHECK(player.log != NULL, "cannot read %s", path);
  for (i = 0; i < SETS; i++) player.c.said.or_else[i] = -1;
  new_node(1);
}

static void close_log(void)
{
  free(player.log);
  free(player.seen);
  clear_disk();
}

/* Nothing is left but the prefix, which on rank 0 becomes the image. */
static void begin_with_image(void)
{
  char path[700];

  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    write_image(case_prefix);
    snprintf(path, sizeof path, "%s/cache", case_dir);
    remove_tree(path);
    make_dir(path);
    snprintf(path, sizeof path, "%s/cntl", case_dir);
    remove_tree(path);
    make_dir(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* In memory, if that can be had: thousands of files are made. */
static void fast_directories(int on)
{
  if (getenv("TEST_MOUNTS") == NULL) return;
  shell("for dir in prefix cache cntl; do %s $dir || exit 1; done", on ? "mount -t tmpfs none" : "umount");
}

static char log_path[700];

/* The run ends here because the power fails, and only what was synced is left. */
static void power_fails(void)
{
  run_dies();
  trace_end();
  if (rank == 0) {
    open_log(log_path);
    while (next_call()) continue;
    make_image(STRICT);
    close_log();
  }
  begin_with_image();
  trace_begin(case_prefix, log_path);
  if (rank == 0) trace_note(CUT);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* On rank 0: that the model ends with what the log's run has left. */
static void check_model(void)
{
  char again[700];

  snprintf(again, sizeof again, "%s/again", case_dir);
  open_log(log_path);
  while (next_call()) continue;
  make_image(ORDERED);
  write_image(again);
  CHECK(tree_differs(case_prefix, again) + tree_differs(again, case_prefix) == 0, "the log is not complete");
  CHECK(player.calls > 100, "the log has only %d calls", player.calls);
  close_log();
}

/* In the scenario S, the power fails after each call. */
static void fail_in(const scenario* s)
{
  cut c;
  int bad, failed_before, tried[KINDS] = {0}, wrong[KINDS] = {0};

  now = s;
  during("%s", s->what);
  begin();
  fast_directories(1);
  set("SCR_FLUSH=1");
  snprintf(log_path, sizeof log_path, "%s/log", case_dir);
  trace_begin(case_prefix, log_path);
  s->run();
  trace_end();
  set("SCR_FSYNC=0"); /* from here on, it need not survive */
  if (rank == 0) check_model();
  if (rank == 0) open_log(log_path);
  for (;;) {
    memset(&c, 0, sizeof c);
    if (rank == 0) next_cut();
    if (rank == 0) c = player.c;
    MPI_Bcast(&c, (int)sizeof c, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!c.there) break;
    during("%s: after call %d, %s, %s", s->what, c.at, c.when, kind_words[c.kind]);
    begin_with_image();
    failed_before = failures;
    run_finds(&c.said);
    bad = failures > failed_before;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    tried[c.kind]++;
    wrong[c.kind] += bad;
    player.failed[c.kind] = bad && getenv("TEST_EVERY") == NULL;
  }
  if (rank == 0 && getenv("TEST_EVERY") != NULL) {
    int k;
    for (k = 0; k < KINDS; k++) printf("%s: %s: %d cuts, %d fail\n", s->what, kind_words[k], tried[k], wrong[k]);
    printf("%d calls\n", player.calls);
  }
  if (rank == 0) CHECK(player.seen_count > pace(3, 20, 50), "only %d cuts", player.seen_count);
  if (rank == 0) close_log();
  fast_directories(0);
}

/* ---- what is logged -------------------------------------------------------------------------------------------- */

static size_t small(int i)
{
  return (size_t)(300 + 13 * rank + i);
}

static const shape in_a = {"in one directory", two_files, small, "ck/a/rank%d_%d"};
static const shape in_b = {"in a directory for each file", two_files, small, "ck/b/rank%d/%d/file"};
static const shape in_c = {"in no common directory", one_file, small, "rank%d/c/%d"};

static void run_replaces(void)
{
  OK(SCR_Init());
  put_set(0, -1);
  put_set(1, -1);
  put_set(2, 0);
  OK(SCR_Finalize());
}

static const scenario replaces = {
    "a checkpoint replaces another", run_replaces, {{"ck1", &in_a}, {"ck2", &in_b}, {"ck3", &in_a}}};

static void what_is_acknowledged_survives_a_power_cut(void)
{
  fail_in(&replaces);
}

static void run_finds_directories(void)
{
  char path[800];

  if (rank == 0) {
    snprintf(path, sizeof path, "%s/ck", case_prefix);
    trace_mkdir(path);
    strcat(path, "/a");
    trace_mkdir(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(SCR_Init());
  put_set(0, -1);
  OK(SCR_Finalize());
}

static const scenario finds_directories = {
    "the application makes directories", run_finds_directories, {{"ck1", &in_a}}};

static void directories_of_the_application_survive_a_power_cut(void)
{
  fail_in(&finds_directories);
}

/* DIE before the files of ck2 get their final names; the next run renames them. */
static void rename_later(void (*die)(void))
{
  set("SCR_CRC_ON_FLUSH=0");
  OK(SCR_Init());
  put_set(0, -1);
  trace_note("0?1");
  fault_on(FAULT_RENAME, "/prefix/", "/ck/a/rank", INT_MAX);
  ALIKE(put_shape("ck2", SCR_FLAG_CHECKPOINT, &in_a, 1), SCR_ERR_IO, "rank");
  die();
  OK(SCR_Init());
  get_shape("ck2", &in_a);
  trace_note("1+");
  OK(SCR_Finalize());
}

static void run_renames_after_death(void)
{
  rename_later(run_dies);
}

static void run_renames_after_cut(void)
{
  rename_later(power_fails);
}

static const scenario after_death = {
    "the next run renames files", run_renames_after_death, {{"ck1", &in_a}, {"ck2", &in_a}}};
static const scenario after_cut = {
    "renames after a power cut", run_renames_after_cut, {{"ck1", &in_a}, {"ck2", &in_a}}};

static void renames_that_the_next_run_makes_survive_a_power_cut(void)
{
  fail_in(&after_death);
  fail_in(&after_cut);
}

static void run_removes(void)
{
  OK(SCR_Init());
  put_set(0, -1);
  put_set(1, -1);
  put_set(2, -1);
  remove_set(0, SCR_Delete);
  remove_set(1, SCR_Drop);
  put_set(3, -1);
  OK(SCR_Finalize());
}

static const scenario removes = {
    "checkpoints are deleted", run_removes, {{"ck1", &in_a}, {"ck2", &in_b}, {"ck3", &in_c}, {"ck4", &in_a}}};

static void what_is_deleted_stays_away_after_a_power_cut(void)
{
  fail_in(&removes);
}

static size_t larger(int i)
{
  return (size_t)(3000 + 13 * rank + i);
}

static const shape packed = {"in containers", two_files, larger, "ck/p/rank%d_%d"};

static void run_packs(void)
{
  set("SCR_USE_CONTAINERS=1");
  set("SCR_CONTAINER_SIZE=4096");
  OK(SCR_Init());
  put_set(0, -1);
  put_set(1, -1);
  remove_set(0, SCR_Delete);
  OK(SCR_Finalize());
  set("SCR_USE_CONTAINERS=0"); /* the runs that look at what is left write files */
}

static const scenario packs = {
    "checkpoints are packed into containers", run_packs, {{"ck1", &packed}, {"ck2", &packed}}};

static void what_is_packed_into_containers_survives_a_power_cut(void)
{
  fail_in(&packs);
}

#define TWO "2", "1 4"

const test_case power_cases[] = {CASE(what_is_acknowledged_survives_a_power_cut, TWO),
                                 CASE(directories_of_the_application_survive_a_power_cut, TWO),
                                 CASE(renames_that_the_next_run_makes_survive_a_power_cut, TWO),
                                 CASE(what_is_deleted_stays_away_after_a_power_cut, TWO),
                                 CASE(what_is_packed_into_containers_survives_a_power_cut, TWO),
                                 CASES_END};
