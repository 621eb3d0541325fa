/*
** mpi_test.c - the program of all MPI test cases, and the functions of mpi_test.h.
**
** Its arguments are cases, or parts of their names: it runs those of them, or all, that are for this number of ranks.
** Rank 0 prints `RUN name`, and then `PASS name` or `FAIL name`; and after the last one `DONE`, so that mpi.sh knows
** whether the program died, and in which case.  A case that hangs is ended by SIGALRM.  With TEST_TIMES it prints how
** long each case took.
*/
#include "mpi_test.h"

int rank, ranks, failures, test_full, test_long, rc_before_mpi, calls_before_mpi;

char case_dir[600], case_prefix[700], node_dir[1200], node_copy[1200];

static char        base_dir[512];      /* of all cases, from the environment */
static const char* skipped;            /* why the case cannot be tried; NULL: it is */
static char        during_what[400];   /* what is tried now */
static int         dirs;               /* of cases so far */
static char        old_dir[600];       /* of the begin() before */
static char        set_names[100][40]; /* parameters that the case has set */
static int         set_count;
static char        own_job[100]; /* SCR_JOB_ID, when the program starts */

static unsigned long long dice;

/* ---- the frame ------------------------------------------------------------------------------------------------- */

void test_failed(const char* file, int source_line, const char* what, const char* format, ...)
{
  const char* slash = strrchr(file, '/');
  char        line[8192];
  int         n;
  va_list     ap;

  failures++;
  n = snprintf(line, sizeof line, "  rank %d, %s:%d: %s: ", rank, slash != NULL ? slash + 1 : file, source_line, what);
  va_start(ap, format);
  if (n < (int)sizeof line) n += vsnprintf(line + n, sizeof line - (size_t)n, format, ap);
  va_end(ap);
  if (n < (int)sizeof line && *during_what) snprintf(line + n, sizeof line - (size_t)n, " (%s)", during_what);
  fprintf(stderr, "%s\n", line);
}

void skip(const char* why)
{
  skipped = why;
}

void during(const char* format, ...)
{
  va_list ap;

  va_start(ap, format);
  vsnprintf(during_what, sizeof during_what, format, ap);
  va_end(ap);
}

void test_alive(void)
{
  const char* limit = getenv("TEST_LIMIT");
  alarm(limit != NULL ? (unsigned)atoi(limit) : 0);
}

void roll_from(unsigned long long seed)
{
  dice = 88172645463325252ull + seed;
}

unsigned roll(unsigned n)
{
  dice ^= dice << 13;
  dice ^= dice >> 7;
  dice ^= dice << 17;
  return (unsigned)(dice >> 33) % n;
}

int pace(int in_check, int in_full, int in_long)
{
  return test_long ? in_long : test_full ? in_full : in_check;
}

int turn(int step)
{
  const char* turns = getenv("TEST_TURN");
  return turns != NULL ? (int)(strtoul(turns, NULL, 10) % (unsigned long)step) : 0;
}

/* 1 when the numbers in LIST have that of the ranks; those behind | count in the modes full and long. */
static int for_ranks(const char* list)
{
  char* end;

  for (; list != NULL && *list != '\0'; list = end) {
    list += strspn(list, " ");
    if (*list == '|' && !test_full) return 0;
    list += strspn(list, "| ");
    if (strtol(list, &end, 10) == ranks) return 1;
    if (end == list) return 0;
  }
  return 0;
}

/* 1 when case C is to run. */
static int wanted(const test_case* c, int argc, char** argv)
{
  int i;

  for (i = 1; i < argc; i++)
    if (strcmp(argv[i], c->name) == 0 && *c->on == '\0') return 1;
  if (!for_ranks(c->on) && !(test_long && for_ranks(c->also))) return 0;
  for (i = 1; i < argc; i++)
    if (strstr(c->name, argv[i]) != NULL) return 1;
  return argc == 1;
}

/* Run the cases of a table; how many failed. */
static int run_cases(const test_case* c, int argc, char** argv)
{
  static int  started;
  const char* after = getenv("TEST_AFTER"); /* the case in which an earlier run died */
  int         all, failed = 0;
  double      began;

  for (; c->name != NULL; c++) {
    if (!started && after != NULL && *after != '\0') {
      started = strcmp(after, c->name) == 0;
      continue;
    }
    if (!wanted(c, argc, argv)) continue;
    if (rank == 0) printf("RUN %s\n", c->name);
    failures = 0;
    skipped = NULL;
    during("%s", "");
    roll_from(0);
    test_alive();
    began = MPI_Wtime();
    c->run();
    alarm(0);
    fault_end();
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    failed += all > 0;
    if (rank != 0) continue;
    if (all == 0 && skipped != NULL) printf("SKIP %s: %s\n", c->name, skipped);
    else printf("%s %s\n", all > 0 ? "FAIL" : "PASS", c->name);
    if (getenv("TEST_TIMES") != NULL) printf("%.2f s %d %s\n", MPI_Wtime() - began, ranks, c->name);
  }
  return failed;
}

/* ---- calls of the library -------------------------------------------------------------------------------------- */

void check_code(const char* file, int line, const char* call, int rc, int code, const char* word)
{
  if (rc != code)
    test_failed(file, line, call, "%d instead of %d: %s", rc, code, rc != SCR_SUCCESS ? SCR_Last_error() : "success");
  else if (rc != SCR_SUCCESS && strstr(SCR_Last_error(), word) == NULL)
    test_failed(file, line, call, "the message does not say %s: %s", word, SCR_Last_error());
}

int same_code_at(const char* file, int line, int rc)
{
  int both[2];

  both[0] = rc;
  both[1] = -rc;
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (both[0] != -both[1])
    test_failed(file, line, "the same code on all ranks", "%d here, but %d and %d elsewhere: %s", rc, -both[1], both[0],
                rc != SCR_SUCCESS ? SCR_Last_error() : "success");
  return rc;
}

void set(const char* format, ...)
{
  char    line[2048], name[40];
  va_list ap;
  int     i;

  va_start(ap, format);
  vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  CHECK(SCR_Config(line) == NULL && *SCR_Last_error() == '\0', "SCR_Config(\"%s\"): %s", line, SCR_Last_error());
  snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "="), line);
  for (i = 0; i < set_count && strcmp(set_names[i], name) != 0; i++) continue;
  if (i == set_count && i < 100) memcpy(set_names[set_count++], name, sizeof name);
}

static int heard_fd = -1, own_stderr = -1, failures_before;

void hear(void)
{
  char path[700];

  snprintf(path, sizeof path, "%s/said.%d", case_dir, rank);
  fflush(stderr);
  own_stderr = dup(2);
  heard_fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  failures_before = failures;
  CHECK(own_stderr >= 0 && heard_fd >= 0 && dup2(heard_fd, 2) == 2, "cannot redirect to %s: %s", path, strerror(errno));
}

void heard(char* text, size_t size)
{
  ssize_t n;

  fflush(stderr);
  dup2(own_stderr, 2);
  n = pread(heard_fd, text, size - 1, 0);
  text[n < 0 ? 0 : n] = '\0';
  if (failures > failures_before) fputs(text, stderr); /* with what CHECK has said */
  close(heard_fd);
  close(own_stderr);
}

int some;

void run_of_nodes(int n, int nodes, void (*run)(void))
{
  MPI_Comm comm;

  some = n;
  set("SCR_VIRTUAL_NODES=%d", nodes);
  MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    OK(SCR_Init_comm(comm));
    run();
    OK(SCR_Finalize());
    MPI_Comm_free(&comm);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int init_says(char* text, size_t size)
{
  int rc;

  hear();
  rc = SCR_Init();
  heard(text, size);
  return rc;
}

int times(const char* text, const char* word)
{
  int n = 0;

  for (; (text = strstr(text, word)) != NULL; text++) n++;
  return n;
}

void as_job(const char* id)
{
  static const char* const others[] = {"SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
  size_t                   i;

  if (id != NULL) setenv("SCR_JOB_ID", id, 1);
  else unsetenv("SCR_JOB_ID");
  for (i = 0; i < sizeof others / sizeof *others && id == NULL; i++) unsetenv(others[i]);
}

/* ---- directories of a case ------------------------------------------------------------------------------------- */

void begin_in(const char* name)
{
  static const char* const parts[] = {"", "/prefix", "/cntl", "/cache"};
  char                     path[700];
  size_t                   i;

  for (; set_count > 0; set_count--) SCR_Configf("%s=", set_names[set_count - 1]);
  as_job(own_job);
  snprintf(case_dir, sizeof case_dir, "%s/%s", base_dir, name);
  snprintf(case_prefix, sizeof case_prefix, "%s/prefix", case_dir);
  MPI_Barrier(MPI_COMM_WORLD); /* nobody looks at the old one any more */
  for (i = 0; i < sizeof parts / sizeof *parts && rank == 0; i++) {
    snprintf(path, sizeof path, "%s%s", case_dir, parts[i]);
    make_dir(path);
  }
  set("SCR_PREFIX=%s", case_prefix);
  set("SCR_CNTL_BASE=%s/cntl", case_dir);
  set("SCR_CACHE_BASE=%s/cache", case_dir);
  if (ranks > 1) set("SCR_VIRTUAL_NODES=%d", ranks == 5 ? 3 : ranks);
  MPI_Barrier(MPI_COMM_WORLD);
}

void begin(void)
{
  char name[20];

  snprintf(name, sizeof name, "case%d", ++dirs);
  begin_in(name);
  if (rank == 0 && *old_dir) remove_tree(old_dir);
  memcpy(old_dir, case_dir, sizeof old_dir);
}

void shell(const char* format, ...)
{
  char    line[2048], whole[4096];
  va_list ap;

  va_start(ap, format);
  vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    int rc;
    snprintf(whole, sizeof whole, "cd '%s' && { %s; } > /dev/null", case_dir, line);
    rc = system(whole);
    CHECK(rc == 0, "`%s` failed: %d", line, rc);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static char remedy[2 * SCR_MAX_FILENAME];

void keep_remedy(void)
{
  const char* command = strstr(SCR_Last_error(), "scr_index --prefix");
  const char* end = command;

  CHECK(command != NULL, "no command in: %s", SCR_Last_error());
  while (end != NULL && *end != '\0' && strncmp(end, "; ", 2) != 0 && strncmp(end, ". ", 2) != 0) end++;
  if (command != NULL) snprintf(remedy, sizeof remedy, "%.*s", (int)(end - command), command);
}

void carry_out(void)
{
  shell("$TEST_INDEX %s", strlen(remedy) > 9 ? remedy + 9 : "");
}

int there(const char* rel)
{
  char path[1400];
  int  yes;

  snprintf(path, sizeof path, "%s/%s", case_dir, rel);
  removals_end(); /* each rank deletes its own files */
  yes = rank == 0 && access(path, F_OK) == 0;
  MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return yes;
}

typedef struct {
  const char* suffix;
  int         n;
} suffix_count;

static void visit_suffix(const char* path, const char* name, void* arg)
{
  suffix_count* c = (suffix_count*)arg;
  size_t        n = strlen(name), k = strlen(c->suffix);

  (void)path;
  if (n >= k && strcmp(name + n - k, c->suffix) == 0) c->n++;
}

int count_in(const char* rel, const char* suffix)
{
  char         path[1400];
  suffix_count c;

  c.suffix = suffix;
  c.n = 0;
  snprintf(path, sizeof path, "%s/%s", case_dir, rel);
  removals_end();
  if (rank == 0) walk(path, visit_suffix, &c);
  MPI_Bcast(&c.n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return c.n;
}

static void visit_dataset(const char* path, const char* name, void* arg)
{
  int id;

  (void)path;
  if (sscanf(name, "scr.dataset.%d", &id) == 1 && id < 30) *(unsigned*)arg |= ID(id);
}

unsigned cached_in(const char* rel)
{
  char     path[1400];
  unsigned ids = 0;

  snprintf(path, sizeof path, "%s/%s", case_dir, rel);
  removals_end();
  if (rank == 0) walk(path, visit_dataset, &ids);
  MPI_Bcast(&ids, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  return ids;
}

int index_marks(const char* mark)
{
  char path[800], below[SCR_MAX_FILENAME];
  int  n = 0;

  snprintf(path, sizeof path, "%s/.scr/index.scr", case_prefix);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && access(path, F_OK) == 0) n = record_find(path, mark, below);
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(n >= 0, "%s cannot be read", path);
  return n;
}

void lose_all_nodes(void)
{
  shell("rm -rf cache/* cntl/*");
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

void make_dir(const char* path)
{
  CHECK(mkdir(path, 0755) == 0 || errno == EEXIST, "mkdir %s: %s", path, strerror(errno));
}

char* read_file(const char* path, long* n)
{
  FILE* f = fopen(path, "rb");
  char* p = NULL;

  *n = -1;
  if (f == NULL) return NULL;
  fseek(f, 0, SEEK_END);
  *n = ftell(f);
  rewind(f);
  if (*n >= 0) p = (char*)malloc((size_t)*n + 1);
  if (p != NULL && fread(p, 1, (size_t)*n, f) == (size_t)*n) {
    p[*n] = '\0';
  } else {
    free(p);
    p = NULL;
    *n = -1;
  }
  fclose(f);
  return p;
}

void write_file(const char* path, const void* p, size_t n)
{
  FILE*  f = fopen(path, "wb");
  size_t k = f != NULL ? fwrite(p, 1, n, f) : 0;

  CHECK(f != NULL && fclose(f) == 0 && k == n, "cannot write %s: %s", path, strerror(errno));
}

/* The N bytes of SEED, to be freed. */
static unsigned char* bytes_of(unsigned seed, size_t n)
{
  unsigned char* p = (unsigned char*)malloc(n + 1);
  size_t         i;

  for (i = 0; i < n; i++) p[i] = (unsigned char)((seed + (unsigned)i) * 2654435761u >> 13);
  return p;
}

int write_bytes(const char* path, unsigned seed, size_t n)
{
  FILE*          f = fopen(path, "wb");
  unsigned char* p;
  int            good;

  if (f == NULL) return 0;
  p = bytes_of(seed, n);
  good = fwrite(p, 1, n, f) == n;
  free(p);
  return fclose(f) == 0 && good;
}

int same_bytes(const char* path, unsigned seed, size_t n)
{
  unsigned char* want;
  long           size, at;
  char*          got = read_file(path, &size);
  int            same;

  if (got == NULL) return 0;
  want = bytes_of(seed, n);
  for (at = 0; at < size && (size_t)at < n && (unsigned char)got[at] == want[at]; at++) continue;
  same = size == (long)n && at == size;
  if (!same) fprintf(stderr, "  rank %d: %s has %ld bytes of %ld, and differs at %ld\n", rank, path, size, (long)n, at);
  free(want);
  free(got);
  return same;
}

void flip_bit(const char* path, unsigned at)
{
  struct stat   st;
  unsigned char c = 0;
  off_t         k = 0;
  int           fd = open(path, O_RDWR);

  if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) k = at % (unsigned)st.st_size;
  CHECK(fd >= 0 && pread(fd, &c, 1, k) == 1, "cannot read %s: %s", path, strerror(errno));
  c ^= (unsigned char)(1 << at % 8);
  CHECK(fd >= 0 && pwrite(fd, &c, 1, k) == 1, "cannot write %s: %s", path, strerror(errno));
  if (fd >= 0) close(fd);
}

void walk(const char* dir, void (*visit)(const char* path, const char* name, void* arg), void* arg)
{
  char           path[SCR_MAX_FILENAME];
  struct dirent* e;
  struct stat    st;
  DIR*           d = opendir(dir);

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    visit(path, e->d_name, arg);
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) walk(path, visit, arg);
  }
  if (d != NULL) closedir(d);
}

typedef struct {
  const char* part;
  int         n, count;
  char*       path;
} file_search;

static void visit_file(const char* path, const char* name, void* arg)
{
  file_search* s = (file_search*)arg;
  struct stat  st;

  (void)name;
  if (strstr(path, s->part) == NULL || lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0) return;
  if (s->count++ == s->n) strcpy(s->path, path);
}

int find_file(const char* dir, const char* part, int n, char* path)
{
  file_search s;

  s.part = part;
  s.n = n;
  s.count = 0;
  s.path = path;
  walk(dir, visit_file, &s);
  return s.count;
}

void remove_tree(const char* dir)
{
  char           path[SCR_MAX_FILENAME];
  struct dirent* e;
  DIR*           d = opendir(dir);

  while (d != NULL && (e = readdir(d)) != NULL) {
    struct stat st;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) remove_tree(path);
    else unlink(path);
  }
  if (d != NULL) closedir(d);
  rmdir(dir);
}

/* Copy the tree FROM to TO; or, when COMPARE, count the files of FROM that are not alike in TO. */
static int copy_or_compare(const char* from, const char* to, int compare)
{
  char           a[SCR_MAX_FILENAME], b[SCR_MAX_FILENAME];
  struct dirent* e;
  DIR*           d = opendir(from);
  int            wrong = 0;

  if (!compare) mkdir(to, 0700);
  while (d != NULL && (e = readdir(d)) != NULL) {
    struct stat st;
    long        n, m;
    char *      p, *q;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(a, sizeof a, "%s/%s", from, e->d_name);
    snprintf(b, sizeof b, "%s/%s", to, e->d_name);
    if (lstat(a, &st) == 0 && S_ISDIR(st.st_mode)) {
      wrong += copy_or_compare(a, b, compare);
      continue;
    }
    p = read_file(a, &n);
    if (!compare) {
      if (p != NULL) write_file(b, p, (size_t)n);
    } else {
      q = read_file(b, &m);
      if (p == NULL || q == NULL || n != m || memcmp(p, q, (size_t)n) != 0) {
        fprintf(stderr, "  rank %d: %s has %ld bytes, %s has %ld, not alike\n", rank, a, n, b, m);
        wrong++;
      }
      free(q);
    }
    free(p);
  }
  if (d != NULL) closedir(d);
  return wrong;
}

void copy_tree(const char* from, const char* to)
{
  copy_or_compare(from, to, 0);
}

int tree_differs(const char* from, const char* to)
{
  return copy_or_compare(from, to, 1);
}

/* ---- datasets -------------------------------------------------------------------------------------------------- */

int one_file(void)
{
  return 1;
}

int two_files(void)
{
  return 2;
}

size_t size_of(int i, size_t bytes)
{
  return bytes == 0 ? 0 : bytes + (size_t)rank * 13 + (size_t)i;
}

unsigned seed_of(const char* name, int who, int i)
{
  unsigned h = (unsigned)who * 7919u + (unsigned)i * 104729u + 1u;

  for (; *name; name++) h = h * 31u + (unsigned char)*name;
  return h;
}

void path_of(const char* name, const shape* s, int i, char* path)
{
  int n = snprintf(path, SCR_MAX_FILENAME, "%s/", case_prefix);

  if (s->form == NULL) snprintf(path + n, (size_t)(SCR_MAX_FILENAME - n), "%s/rank_%d_%d", name, rank, i);
  else snprintf(path + n, (size_t)(SCR_MAX_FILENAME - n), s->form, rank, i);
}

int open_shape(const char* name, int flags, const shape* s)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, rc = SCR_Start_output(name, flags);

  if (rc != SCR_SUCCESS) return rc;
  for (i = 0; i < s->files(); i++) {
    path_of(name, s, i, path);
    OK(SCR_Route_file(path, file));
    CHECK(strcmp(path, file) != 0, "%s is not routed to the cache", path);
    CHECK(write_bytes(file, seed_of(name, rank, i), s->size(i)), "cannot write %s: %s", file, strerror(errno));
  }
  return SCR_SUCCESS;
}

int put_shape(const char* name, int flags, const shape* s, int valid)
{
  int rc = open_shape(name, flags, s);
  return rc != SCR_SUCCESS ? rc : SCR_Complete_output(valid);
}

int holds_shape(const char* name, const shape* s)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, good = 1;

  for (i = 0; i < s->files(); i++) {
    path_of(name, s, i, path);
    if (SCR_Route_file(path, file) != SCR_SUCCESS || !same_bytes(file, seed_of(name, rank, i), s->size(i))) {
      fprintf(stderr, "  rank %d: %s at %s is not what was written\n", rank, path, file);
      good = 0;
    }
  }
  return good;
}

void on_prefix_shape(const char* name, const shape* s)
{
  char path[SCR_MAX_FILENAME];
  int  i;

  for (i = 0; i < s->files(); i++) {
    path_of(name, s, i, path);
    CHECK(same_bytes(path, seed_of(name, rank, i), s->size(i)), "%s is not what was written of %s", path, name);
  }
}

void get_shape(const char* name, const shape* s)
{
  char offered[SCR_MAX_FILENAME] = "", started[SCR_MAX_FILENAME] = "";
  int  flag = -1;

  test_alive();
  OK(SCR_Have_restart(&flag, offered));
  CHECK(flag == (name != NULL), "flag is %d, the checkpoint %s instead of %s", flag, offered, name ? name : "none");
  if (flag == 1)
    CHECK(name != NULL && strcmp(name, offered) == 0, "%s is offered instead of %s", offered, name ? name : "none");
  if (flag != 1 || name == NULL || strcmp(name, offered) != 0) return;
  OK(SCR_Start_restart(started));
  CHECK(strcmp(offered, started) == 0, "%s was offered, %s is started", offered, started);
  CHECK(holds_shape(name, s), "wrong bytes of %s, %s", name, s->what);
  OK(SCR_Complete_restart(1));
}

void rejects(const char* name)
{
  char offered[SCR_MAX_FILENAME] = "none";
  int  flag = 0;

  test_alive();
  OK(SCR_Have_restart(&flag, offered));
  CHECK(flag == 1 && strcmp(name, offered) == 0, "%s is offered instead of %s", offered, name);
  if (flag != 1) return;
  OK(SCR_Start_restart(offered));
  CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, offered);
}

void refused(const char* names)
{
  char        word[SCR_MAX_FILENAME];
  const char* p = names;
  int         flag = -1;

  for (; *p != '\0'; p += strspn(p, " ")) {
    int n = (int)strcspn(p, " ");
    snprintf(word, sizeof word, "%.*s ", n, p);
    CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, word);
    CHECK(flag == 0, "the flag is %d", flag);
    p += n;
  }
  ALIKE(SCR_Start_output("refused", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "scr_index --current");
  ALIKE(SCR_Complete_output(1), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
}

static int    usual_files;
static size_t usual_bytes;

static int count_usual(void)
{
  return usual_files;
}

static size_t size_usual(int i)
{
  return size_of(i, usual_bytes);
}

/* FILES files of some BYTES each. */
static const shape* usual(int files, size_t bytes)
{
  static const shape s = {"the usual shape", count_usual, size_usual, NULL};

  usual_files = files;
  usual_bytes = bytes;
  return &s;
}

void name_of(const char* name, int i, char* path)
{
  path_of(name, usual(0, 0), i, path);
}

int put_valid(const char* name, int flags, int files, size_t bytes, int valid)
{
  return put_shape(name, flags, usual(files, bytes), valid);
}

int put(const char* name, int files, size_t bytes)
{
  return put_valid(name, SCR_FLAG_CHECKPOINT, files, bytes, 1);
}

int holds(const char* name, int files, size_t bytes)
{
  return holds_shape(name, usual(files, bytes));
}

void on_prefix(const char* name, int files, size_t bytes)
{
  on_prefix_shape(name, usual(files, bytes));
}

void get(const char* name, int files, size_t bytes)
{
  get_shape(name, usual(files, bytes));
}

void run_gets_shape(const char* name, const shape* s)
{
  int rc = same_code(SCR_Init());

  OK(rc);
  if (rc != SCR_SUCCESS) return;
  get_shape(name, s);
  OK(SCR_Finalize());
}

void run_gets(const char* name, int files, size_t bytes)
{
  run_gets_shape(name, usual(files, bytes));
}

void run_puts(const char* name, int files, size_t bytes)
{
  OK(SCR_Init());
  OK(put(name, files, bytes));
  OK(SCR_Finalize());
}

void run_puts_four(void)
{
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  OK(put("ck4", 1, 4000));
  OK(SCR_Finalize());
}

void run_fetches(const char* name, int files, size_t bytes)
{
  lose_all_nodes();
  run_gets(name, files, bytes);
}

void flip_cached(const char* name)
{
  char path[SCR_MAX_FILENAME], part[700], cache[700];

  snprintf(cache, sizeof cache, "%s/cache", case_dir);
  snprintf(part, sizeof part, "/%s/rank_0_0", name);
  CHECK(find_file(cache, part, 0, path) == 1, "files %s in %s", part, cache);
  flip_bit(path, 10);
}

void damage_cached(const char* name)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) flip_cached(name);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* All that SCR_Finalize tries to do to files fails; it only lets go of what it holds. */
void run_dies(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  fault_at(FAULT_DEAD, FAULT_ALL, EIO, 1);
  if (SCR_Finalize() == SCR_ERR_STATE) {
    if (SCR_Complete_output(0) == SCR_ERR_STATE) SCR_Complete_restart(0);
    SCR_Finalize();
  }
  fault_end();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- nodes that get lost --------------------------------------------------------------------------------------- */

void begin_nodes(const scheme* c)
{
  char host[256] = "";

  begin();
  set("SCR_CNTL_BASE=%s/nodes", case_dir); /* so each node is one directory */
  set("SCR_CACHE_BASE=%s/nodes", case_dir);
  set("SCR_VIRTUAL_NODES=%d", ranks);
  set("SCR_COPY_TYPE=%s", c->type);
  set("SCR_SET_FAILURES=%d", c->k);
  set("SCR_FLUSH=0");
  set("SCR_FSYNC=0");
  set("SCR_USER_NAME=tester");
  set("SCR_MPI_BUF_SIZE=4096"); /* so small that a file takes many messages */
  gethostname(host, sizeof host - 1);
  snprintf(node_dir, sizeof node_dir, "%s/nodes/tester/scr.%s/node.%s-v%d", case_dir, getenv("SCR_JOB_ID"), host, rank);
  snprintf(node_copy, sizeof node_copy, "%s/copy.%d", case_dir, rank);
  if (rank == 0) {
    char path[700];
    snprintf(path, sizeof path, "%s/nodes", case_dir);
    make_dir(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void put_ck(const shape* s)
{
  OK(SCR_Init());
  OK(put_shape("ck", SCR_FLAG_CHECKPOINT, s, 1));
  OK(SCR_Finalize());
  save_node();
  MPI_Barrier(MPI_COMM_WORLD);
}

void prepare(const scheme* c, const shape* s)
{
  begin_nodes(c);
  put_ck(s);
}

void save_node(void)
{
  remove_tree(node_copy);
  copy_tree(node_dir, node_copy);
}

void put_back(void)
{
  remove_tree(node_dir);
  copy_tree(node_copy, node_dir);
}

void lose(loss what)
{
  char path[SCR_MAX_FILENAME];

  if (what == NODE) remove_tree(node_dir);
  else if (what == REDUNDANCY && find_file(node_dir, "_in_", 0, path) > 0) unlink(path);
  else if (what == DATA && find_file(node_dir, "/ck/", 0, path) > 0) flip_bit(path, 12345);
}

void run_restarts(const shape* s, int whole, int nothing_left)
{
  char dir[1300], old[1300], name[SCR_MAX_FILENAME];
  int  rc, flag = -1;

  test_alive();
  MPI_Barrier(MPI_COMM_WORLD);
  OK(SCR_Init());
  if (whole) {
    get_shape("ck", s);
  } else {
    rc = SCR_Have_restart(&flag, name);
    CHECK(flag == 0, "the checkpoint of shape %s is offered", s->what);
    CHECK(rc != SCR_SUCCESS || nothing_left, "shape %s is refused without an error", s->what);
  }
  OK(SCR_Finalize());
  if (whole) {
    snprintf(dir, sizeof dir, "%s/scr.dataset.1", node_dir);
    snprintf(old, sizeof old, "%s/scr.dataset.1", node_copy);
    CHECK(tree_differs(old, dir) + tree_differs(dir, old) == 0, "files of shape %s in the cache", s->what);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- the program ----------------------------------------------------------------------------------------------- */

extern const test_case writing_cases[], settings_cases[], cache_cases[], halt_cases[], restart_cases[], jobs_cases[],
    loss_cases[], flush_cases[], containers_cases[], async_cases[], ranks_cases[], bypass_cases[], interop_cases[],
    crash_cases[], states_cases[], power_cases[], bad_cases[], faults_cases[], messages_cases[], regions_cases[],
    private_cases[];

/* How many calls are not refused where MPI cannot be used: with a message that says WORD, and without an effect. */
static int calls_that_work(const char* word)
{
  char      text[SCR_MAX_FILENAME] = "";
  int       i, n = 0, flag = 1, own = dup(2);
  const int quiet = open("/dev/null", O_WRONLY), redirected = dup2(quiet, 2);
  const int rc[] = {SCR_Finalize(),
                    SCR_Have_restart(&flag, text),
                    SCR_Start_restart(text),
                    SCR_Complete_restart(1),
                    SCR_Need_checkpoint(&flag),
                    SCR_Start_output("a", SCR_FLAG_CHECKPOINT),
                    SCR_Complete_output(1),
                    SCR_Start_checkpoint(),
                    SCR_Complete_checkpoint(1),
                    SCR_Should_exit(&flag),
                    SCR_Current("a"),
                    SCR_Drop("a"),
                    SCR_Delete("a"),
                    SCR_Wait(NULL),
                    SCR_Restart_ranks(&flag),
                    SCR_Protect("a", text, 1, 1),
                    SCR_Unprotect("a"),
                    SCR_Checkpoint("a"),
                    SCR_Recover(&flag, text),
                    SCR_Put_regions(),
                    SCR_Get_regions(),
                    SCR_Track("a"),
                    SCR_Route_file("a", text)};

  if (redirected != 2 || dup2(own, 2) != 2 || close(own) < 0 || close(quiet) < 0) n++;
  for (i = 0; i < (int)(sizeof rc / sizeof *rc); i++) n += rc[i] != SCR_ERR_STATE;
  return n + (flag != 0) + (*text != '\0') + (strstr(SCR_Last_error(), word) == NULL);
}

int main(int argc, char** argv)
{
  static const test_case* const tables[] = {
      writing_cases,  settings_cases, cache_cases,      halt_cases,  restart_cases, jobs_cases,
      loss_cases,     flush_cases,    containers_cases, async_cases, ranks_cases,   bypass_cases,
      interop_cases,  crash_cases,    states_cases,     power_cases, bad_cases,     faults_cases,
      messages_cases, regions_cases,  private_cases,    NULL};
  const char* base = getenv("TEST_DIR");
  int         i, failed = 0;

  rc_before_mpi = SCR_Init();
  calls_before_mpi = calls_that_work("before SCR_Init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  setvbuf(stdout, NULL, _IOLBF, 0);
  snprintf(base_dir, sizeof base_dir, "%s", base != NULL ? base : ".");
  snprintf(own_job, sizeof own_job, "%s", getenv("SCR_JOB_ID") != NULL ? getenv("SCR_JOB_ID") : "mpi_test");
  test_long = getenv("TEST_LONG") != NULL;
  test_full = test_long || getenv("TEST_FULL") != NULL;
  for (i = 0; tables[i] != NULL; i++) failed += run_cases(tables[i], argc, argv);
  if (rank == 0) printf("DONE\n");
  MPI_Finalize();
  if (SCR_Init() != SCR_ERR_STATE) failed++;
  if (calls_that_work("after MPI_Finalize") > 0) failed++;
  return failed > 0;
}
