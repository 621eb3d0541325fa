/*
** scale - one run of a program of many ranks, and how much each call of the library costs a rank of it.
**
**   scale write NAME              a run that writes the checkpoint NAME
**   scale read NAME WROTE NEXT    one that restarts from it, compares every byte of what WROTE ranks have written, and
**                                 writes the checkpoint NEXT
**   scale count DIRECTORY         the steps of a checkpoint's life, below DIRECTORY, and what each costs a rank
**
** The parameters of the library come from the environment.  The exit code is 0 if all of it holds; a rank that finds
** something wrong says so on stderr.
**
** What `count` prints are lines STEP|COST|RANK 0|OTHERS, where OTHERS is the greatest of the other ranks; scale.sh
** makes a table of them, and judges.
*/
#include "../../scr_impl.c"

#include "../bench/count.h"

static int rank, ranks, wrong;

SCR_FN SCR_FORMAT(1, 2) void fail(const char* format, ...)
{
  va_list ap;

  wrong = 1;
  va_start(ap, format);
  fprintf(stderr, "scale: rank %d: ", rank);
  vfprintf(stderr, format, ap);
  fprintf(stderr, "\n");
  va_end(ap);
}

SCR_FN void must(int rc, const char* call)
{
  if (rc != SCR_SUCCESS) fail("%s: %s", call, SCR_Last_error());
}

#define MUST(call) must(call, #call)

/* ---- files ----------------------------------------------------------------------------------------------------- */

enum { FILE_MAX = 5000 };

static const char* dataset;

static int files_of(int r)
{
  return 1 + r % 3;
}

static size_t size_of(int r, int i)
{
  return (size_t)((r * 1777 + i * 333) % FILE_MAX);
}

static void path_of(int r, int i, char* path)
{
  snprintf(path, SCR_MAX_FILENAME, "%s/%s/of_%d/part_%d", getenv("SCR_PREFIX"), dataset, r % 2, r * 10 + i);
}

/* The bytes of file I of rank R; how many. */
static size_t contents(int r, int i, unsigned char* bytes)
{
  uint64_t x = scr_crc32(SCR_CRC32_START, dataset, strlen(dataset)) + 1000003u * (uint64_t)(r + 1) + (uint64_t)i;
  size_t   k, n = size_of(r, i);

  for (k = 0; k < n; k++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    bytes[k] = (unsigned char)(x >> 56);
  }
  return n;
}

static void write_file(int r, int i, const char* file)
{
  unsigned char bytes[FILE_MAX];
  size_t        n = contents(r, i, bytes);
  FILE*         f = fopen(file, "wb");

  if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) fail("cannot write %s: %s", file, strerror(errno));
}

static void compare_file(int r, int i, const char* file)
{
  unsigned char bytes[FILE_MAX], got[FILE_MAX + 1];
  size_t        n = contents(r, i, bytes), k = 0;
  FILE*         f = fopen(file, "rb");

  if (f != NULL) {
    k = fread(got, 1, sizeof got, f);
    fclose(f);
  }
  if (f == NULL || k != n || memcmp(bytes, got, n) != 0) fail("%s is not what rank %d has written", file, r);
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static void write_checkpoint(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i;

  MUST(SCR_Start_output(dataset, SCR_FLAG_CHECKPOINT));
  for (i = 0; i < files_of(rank); i++) {
    path_of(rank, i, path);
    MUST(SCR_Route_file(path, file));
    write_file(rank, i, file);
  }
  MUST(SCR_Complete_output(!wrong));
}

/* By as many ranks as wrote it each reads its own files; else they are dealt out, so that no rank reads its own. */
static void read_checkpoint(int wrote)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[SCR_MAX_FILENAME] = "";
  int  flag = 0, by = 0, r, i;

  MUST(SCR_Have_restart(&flag, name));
  if (!flag || strcmp(name, dataset) != 0) fail("\"%s\" is offered in place of %s", name, dataset);
  if (!flag) return;
  MUST(SCR_Restart_ranks(&by));
  if (by != wrote) fail("%d ranks are said to have written %s, not %d", by, dataset, wrote);
  MUST(SCR_Start_restart(NULL));
  for (r = by == ranks ? rank : (rank + 1) % ranks; r < wrote; r += ranks)
    for (i = 0; i < files_of(r); i++) {
      path_of(r, i, path);
      MUST(SCR_Route_file(path, file));
      compare_file(r, i, file);
    }
  MUST(SCR_Complete_restart(!wrong));
}

/* A run that restarts from NAME, which WROTE ranks have written, and writes NEXT; or, when WROTE is 0, writes NAME. */
static void run(const char* name, int wrote, const char* next)
{
  dataset = name;
  MUST(SCR_Init());
  if (wrote > 0 && !wrong) read_checkpoint(wrote);
  if (wrote > 0) dataset = next;
  if (!wrong) write_checkpoint();
  MUST(SCR_Finalize());
}

/* ---- costs ----------------------------------------------------------------------------------------------------- */

/*
** What is counted.  Messages count where they are sent and where they are received, in three kinds, by their tags.
** The files' data, which redundancy sets exchange, are left out; so is the data that is written for the application.
*/
typedef enum {
  COLLECTIVES,
  GATHERS, /* collectives in which one rank has something to do with every other */
  MESSAGES,
  SORTS, /* messages of the sort of strings over the ranks */
  BYTES, /* of all these */
  FILES, /* metadata files that are opened to be written */
  WRITTEN,
  COSTS
} cost;

static const char* const cost_names[] = {"collectives", "gathers", "messages", "sorts", "bytes", "files", "written"};

/* Metadata files of this rank; the helper thread writes some of them. */
static struct {
  scr_os_table os; /* the real calls */
  int          files;
  int          bytes;
  char         is_meta[4096]; /* by descriptor */
} meta;

/* Returns 1 unless PATH is a file of the application or of redundancy data, under its final or a temporary name. */
static int is_metadata(const char* path)
{
  const char* slash = strrchr(path, '/');
  const char* name = slash != NULL ? slash + 1 : path;

  return strncmp(name, "part_", 5) != 0 && strstr(name, ".xor") == NULL;
}

static int count_open(const char* path, int flags, mode_t mode)
{
  int fd = meta.os.open(path, flags, mode), counts = (flags & O_ACCMODE) != O_RDONLY && is_metadata(path);

  if (fd < 0 || fd >= (int)sizeof meta.is_meta) return fd;
  meta.is_meta[fd] = (char)counts;
  if (counts) __atomic_add_fetch(&meta.files, 1, __ATOMIC_RELAXED);
  return fd;
}

static ssize_t counted(int fd, ssize_t n)
{
  if (n > 0 && fd < (int)sizeof meta.is_meta && meta.is_meta[fd])
    __atomic_add_fetch(&meta.bytes, (int)n, __ATOMIC_RELAXED);
  return n;
}

static ssize_t count_write(int fd, const void* p, size_t n)
{
  return counted(fd, meta.os.write(fd, p, n));
}

static ssize_t count_pwrite(int fd, const void* p, size_t n, off_t offset)
{
  return counted(fd, meta.os.pwrite(fd, p, n, offset));
}

static void costs_begin(void)
{
  meta.os = scr_os;
  scr_os.open = count_open;
  scr_os.write = count_write;
  scr_os.pwrite = count_pwrite;
}

/* What this rank has spent since the start of the program. */
static void costs_now(long long* c)
{
  int tag;

  memset(c, 0, COSTS * sizeof *c);
  c[COLLECTIVES] = mpi_count.collectives + mpi_count.communicators;
  c[GATHERS] = mpi_moved.gathers;
  c[BYTES] = mpi_moved.bytes;
  for (tag = 0; tag < SCR_TAG_DATA; tag++) {
    c[tag == SCR_TAG_SORT ? SORTS : MESSAGES] += mpi_moved.messages[tag];
    c[BYTES] += mpi_moved.message_bytes[tag];
  }
  c[FILES] = meta.files;
  c[WRITTEN] = meta.bytes;
}

typedef char tags_are_counted_apart[(int)SCR_TAG_DATA < (int)COUNT_TAGS ? 1 : -1];

static long long since[COSTS]; /* the costs when the step began */

static void step_begins(void)
{
  PMPI_Barrier(MPI_COMM_WORLD);
  costs_now(since);
}

/*
** The step has ended: print what it has cost.  BESIDES, unless it is NULL, is the cost of an earlier step that is a
** part of this one, and is taken off.  SPENT, unless it is NULL, receives the whole cost of this rank.
*/
static void step_ends(const char* step, const long long* besides, long long* spent)
{
  long long now[COSTS];
  int       i;

  costs_now(now);
  for (i = 0; i < COSTS; i++) {
    long long own = now[i] - since[i] - (besides != NULL ? besides[i] : 0), other = rank > 0 ? own : 0, most;
    if (spent != NULL) spent[i] = now[i] - since[i];
    PMPI_Reduce(&other, &most, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s|%s|%lld|%lld\n", step, cost_names[i], own, most);
  }
}

/* The bytes of the list of all nodes, which rank 0 gathers and writes. */
static void print_list(void)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;

  snprintf(path, sizeof path, "%s/.scr/nodes.scr", getenv("SCR_PREFIX"));
  if (rank != 0) return;
  if (stat(path, &st) != 0) fail("%s: %s", path, strerror(errno));
  else printf("nodes|list|%lld|0\n", (long long)st.st_size);
}

static void initialize(const char* step, const long long* besides, long long* spent)
{
  step_begins();
  MUST(SCR_Init());
  step_ends(step, besides, spent);
}

static void finalize(const char* step)
{
  step_begins();
  MUST(SCR_Finalize());
  if (step != NULL) step_ends(step, NULL, NULL);
}

static void lose_nodes(const char* dir)
{
  char line[SCR_MAX_FILENAME + 40];

  PMPI_Barrier(MPI_COMM_WORLD);
  snprintf(line, sizeof line, "rm -rf '%s'/cache '%s'/cntl", dir, dir);
  if (rank == 0 && system(line) != 0) fail("%s", line);
  PMPI_Barrier(MPI_COMM_WORLD);
}

/* A run of two checkpoints, of which the second is flushed; one that finds it in the cache, and one that fetches it. */
static void count_steps(const char* dir)
{
  long long fresh[COSTS], checkpoint[COSTS];

  costs_begin();
  initialize("SCR_Init, fresh", NULL, fresh);
  print_list();
  step_begins();
  dataset = "ck1";
  write_checkpoint();
  step_ends("Start, Route, Complete", NULL, checkpoint);
  step_begins();
  dataset = "ck2";
  write_checkpoint();
  step_ends("flush", checkpoint, NULL);
  finalize("SCR_Finalize");
  initialize("SCR_Init, restart", NULL, NULL);
  read_checkpoint(ranks);
  finalize(NULL);
  lose_nodes(dir);
  initialize("fetch", fresh, NULL);
  read_checkpoint(ranks);
  finalize(NULL);
}

int main(int argc, char** argv)
{
  int any = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 3 && strcmp(argv[1], "count") == 0) count_steps(argv[2]);
  else if (argc == 3 && strcmp(argv[1], "write") == 0) run(argv[2], 0, NULL);
  else if (argc == 5 && strcmp(argv[1], "read") == 0) run(argv[2], atoi(argv[3]), argv[4]);
  else fail("unknown arguments");
  PMPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}
