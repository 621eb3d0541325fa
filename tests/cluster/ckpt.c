/*
** ckpt - an MPI program that writes checkpoints and checks every byte of what it restarts from.
**
** The contents of a file follow from the seed, the generation, the number of the checkpoint, the rank and the number
** of the file, so a restart makes them again and compares.  The generation is the option of the run that wrote them,
** and stands at the head of each file that has room for it: a restart whose files are of different generations is a
** mixture of two checkpoints of the same name.
**
** Rank 0 appends one line per event to the log, each in a single write, so that it is there when the next call
** begins, whoever is killed then:
**
**   INIT | READY | FRESH | REFUSED | RESTART <n> <generation> | START <n> | COMPLETE <n> | END | FAIL <code>
**
** The text of a failure goes to stderr of the rank that found it.  The exit code of every rank says what went wrong.
**
** It can also be killed at one of the library's file calls.  From the environment:
**
**   KILL_PHASE=encode|rebuild   encode: what is called within SCR_Complete_output.  rebuild: within SCR_Init, from
**                               the first call on a file that is being rebuilt, or on one of the application, which
**                               others rebuild from
**   KILL_BELOW=DIRECTORY        only calls on files below it count
**   KILL_LOG=FILE               without KILL_RANK: a line "<rank> <number> <path>" for each call that counts
**   KILL_RANK=R, KILL_AT=N      before the N-th call that counts, rank R writes that line, and ends
**   KILL_HOW=process|node       by SIGKILL; or it stands still until somebody reads the line and takes its node away
*/
#include "../../scr_impl.c"

#include "../unit/fault.c"

enum {
  EXIT_USAGE = 10,
  EXIT_INIT,     /* SCR_Init failed */
  EXIT_WHICH,    /* another checkpoint than the one asked for, or none */
  EXIT_BYTES,    /* a restored file is missing, or its size or its bytes differ */
  EXIT_MIXED,    /* files of several generations */
  EXIT_REFUSAL,  /* there was no SCR_ERR_NO_RESTART, or it did not hold */
  EXIT_RESTART,  /* a call of the restart failed */
  EXIT_OUTPUT,   /* a call of the output failed */
  EXIT_FINALIZE, /* SCR_Finalize failed */
  EXIT_FILE      /* this program could not write its own file */
};

enum { EQUAL, ODD, EMPTY, ONE, UNEQUAL, NONE, MANY, NAMES, BASE, SHAPES };
static const char* const shape_names[] = {"equal", "odd", "empty", "one", "unequal", "none", "many", "names", "base"};

enum { HEAD = 16 }; /* bytes of the head of a file: generation, number of the checkpoint */

static struct {
  uint64_t    seed, gen;
  int         shape; /* SHAPES: another one for each checkpoint */
  long        size;  /* of the usual file */
  int         count; /* checkpoints to write */
  int         min, exact, fresh, refused, perhaps;
  long        expect_gen;
  int         flags;
  long        pause; /* milliseconds between checkpoints */
  const char* kill;  /* where to die */
  int         kill_n, kill_rank;
  const char* end; /* finalize, leave, kill */
  int         log;
} opt;

static int rank, ranks;

static void note(const char* what, long a, long b)
{
  char line[100];
  int  n;

  if (rank != 0) return;
  if (b >= 0) n = snprintf(line, sizeof line, "%s %ld %ld\n", what, a, b);
  else if (a >= 0) n = snprintf(line, sizeof line, "%s %ld\n", what, a);
  else n = snprintf(line, sizeof line, "%s\n", what);
  if (opt.log >= 0 && write(opt.log, line, (size_t)n) != n) perror("ckpt: log");
  fputs(line, stdout);
  fflush(stdout);
}

/* The greatest of the codes of all ranks. */
static int agree(int code)
{
  int all = code;
  MPI_Allreduce(&code, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/* CODE when RC, from the call WHAT, is an error; the library gives it on every rank, and that is checked too. */
static int failed(int rc, int code, const char* what)
{
  int least = rc, most = rc;

  MPI_Allreduce(&rc, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&rc, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (least != most) fprintf(stderr, "ckpt: rank %d: %s gave %d here, %d to %d in all\n", rank, what, rc, least, most);
  if (rc != SCR_SUCCESS) fprintf(stderr, "ckpt: rank %d: %s: %s: %s\n", rank, what, SCR_Strerror(rc), SCR_Last_error());
  return least == SCR_SUCCESS && most == SCR_SUCCESS ? 0 : code;
}

static void die_at(const char* where, int n)
{
  if (opt.kill == NULL || strcmp(opt.kill, where) != 0 || (opt.kill_n != 0 && opt.kill_n != n)) return;
  if (opt.kill_rank < 0 || opt.kill_rank == rank) raise(SIGKILL);
}

/* ---- aimed kills ------------------------------------------------------------------------------------------------ */

static const char* phase = ""; /* init, complete: the call of the library that is under way */

static const char* setting(const char* name)
{
  const char* v = getenv(name);
  return v != NULL ? v : "";
}

/* 1 when calls count now; PATH may be the first. */
static int in_phase(const char* path)
{
  static int begun;

  if (strcmp(setting("KILL_PHASE"), "encode") == 0) return strcmp(phase, "complete") == 0;
  if (strcmp(phase, "init") != 0) return 0;
  if (strstr(path, "/.scr/new.") != NULL || (strstr(path, "/ckpt.") != NULL && strstr(path, "/.scr/") == NULL))
    begun = 1;
  return begun;
}

/* A call on PATH comes next. */
static int meet(const char* path)
{
  static int  calls; /* that have counted so far */
  const char* victim = setting("KILL_RANK");
  char        line[SCR_MAX_FILENAME + 40];
  int         n, fd, size;

  if (!in_phase(path)) return 0;
  n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (*victim != '\0' && (atoi(victim) != rank || atoi(setting("KILL_AT")) != n)) return 0;
  size = snprintf(line, sizeof line, "%d %d %s\n", rank, n, path);
  fd = open(setting("KILL_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd < 0 || write(fd, line, (size_t)size) != size) abort();
  close(fd);
  if (*victim == '\0') return 0;
  while (strcmp(setting("KILL_HOW"), "node") == 0) pause();
  return raise(SIGKILL);
}

/* Call MEET before each call that can count. */
static void aim(void)
{
  if (*setting("KILL_PHASE") == '\0') return;
  fault_watch(FAULT_OPEN | FAULT_CREATE | FAULT_PREAD | FAULT_WRITE | FAULT_PWRITE | FAULT_FTRUNCATE | FAULT_FSYNC |
                  FAULT_RENAME | FAULT_UNLINK | FAULT_MKDIR | FAULT_RMDIR,
              setting("KILL_BELOW"), "", meet);
}

static void pause_ms(long ms)
{
  struct timespec t;
  t.tv_sec = ms / 1000;
  t.tv_nsec = ms % 1000 * 1000000;
  nanosleep(&t, NULL);
}

/* ---- what the files of checkpoint N are ---------------------------------------------------------------------- */

static int shape_of(int n)
{
  return opt.shape == SHAPES ? n % SHAPES : opt.shape;
}

static uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static int files_of(int n)
{
  switch (shape_of(n)) {
  case NONE:
    return (rank + n) % 2;
  case MANY:
    return 300;
  case NAMES:
  case BASE:
    return 4;
  default:
    return 1;
  }
}

static size_t size_of(int n, int i)
{
  size_t base = (size_t)opt.size;

  switch (shape_of(n)) {
  case EQUAL:
    return base;
  case EMPTY:
    return (rank + n) % 3 == 0 ? base / 2 + 1 : 0;
  case ONE:
    return 1;
  case UNEQUAL:
    return rank == n % ranks ? base * 2 : base / 50;
  case MANY:
    return mix(opt.seed + (uint64_t)(n * 1000 + rank * 7 + i)) % (base / 100 + 3);
  default:
    return base + 1 + (size_t)(rank * 17 + n * 5 + i * 3) % 1009;
  }
}

static void name_of(int n, int i, char* name)
{
  static const char* const odd[] = {"with a space/ and more ", "100%/a%2Fb", "-rf", "deep/er/\xc3\xa9t\xc3\xa9/#*?"};
  const size_t             z = SCR_MAX_FILENAME;

  switch (shape_of(n)) {
  case MANY:
    snprintf(name, z, "ckpt.%d/rank_%d/f%d", n, rank, i);
    break;
  case NAMES:
    snprintf(name, z, "ckpt.%d/%s.%d", n, odd[i], rank);
    break;
  case BASE:
    snprintf(name, z, "ckpt.%d/%c/%d/data", n, 'a' + i, rank);
    break;
  default:
    snprintf(name, z, "ckpt.%d/rank_%d", n, rank);
  }
}

static void fill(unsigned char* p, size_t size, uint64_t gen, int n, int i)
{
  uint64_t x = opt.seed, head[2];
  size_t   k = 0, j;

  x = mix(x ^ (uint64_t)n);
  x = mix(x ^ (uint64_t)rank);
  x = mix(x ^ (uint64_t)i);
  if (size >= HEAD) {
    x = mix(x ^ gen);
    head[0] = gen;
    head[1] = (uint64_t)n;
    memcpy(p, head, HEAD);
    k = HEAD;
  }
  for (; k < size; k += 8) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    for (j = 0; j < 8 && k + j < size; j++) p[k + j] = (unsigned char)(x >> (56 - 8 * j));
  }
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* The generation in the first file here that has one, or -1.  What cannot be read is found by check_files. */
static long generation(int n)
{
  int i;

  for (i = 0; i < files_of(n); i++) {
    char     name[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
    uint64_t gen = 0;
    int      fd, got;
    if (size_of(n, i) < HEAD) continue;
    name_of(n, i, name);
    if (SCR_Route_file(name, file) != SCR_SUCCESS || (fd = open(file, O_RDONLY)) < 0) continue;
    got = (int)read(fd, &gen, sizeof gen);
    close(fd);
    if (got == (int)sizeof gen) return (long)gen;
  }
  return -1;
}

/* Compare one file with what it has to be. */
static int check_file(int n, int i, uint64_t gen)
{
  char           name[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  size_t         size = size_of(n, i), got = 0, k;
  unsigned char* want = (unsigned char*)malloc(2 * (size + 1));
  unsigned char* have = want + size + 1;
  int            code = EXIT_BYTES, rc;
  FILE*          f = NULL;

  name_of(n, i, name);
  if (want == NULL) return EXIT_FILE;
  rc = SCR_Route_file(name, file);
  if (rc != SCR_SUCCESS) {
    fprintf(stderr, "ckpt: rank %d: route of %s: %s\n", rank, name, SCR_Last_error());
    goto out;
  }
  f = fopen(file, "rb");
  if (f == NULL) {
    fprintf(stderr, "ckpt: rank %d: %s as %s: %s\n", rank, name, file, strerror(errno));
    goto out;
  }
  got = fread(have, 1, size + 1, f);
  fill(want, size, gen, n, i);
  for (k = 0; k < size && k < got && want[k] == have[k]; k++) {
  }
  if (got != size || k < size) {
    fprintf(stderr, "ckpt: rank %d: %s as %s: %lu bytes%s, not the %lu written; differs at byte %lu\n", rank, name,
            file, (unsigned long)got, got > size ? " or more" : "", (unsigned long)size, (unsigned long)k);
    goto out;
  }
  code = 0;
out:
  if (f) fclose(f);
  free(want);
  return code;
}

/* Check all files of checkpoint N on all ranks. */
static int check_files(int n, long* gen)
{
  long here = generation(n), low = here < 0 ? 0x7fffffffL : here, least, most;
  int  i, code = 0;

  MPI_Allreduce(&low, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&here, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  *gen = most;
  if (most >= 0 && least != most) {
    fprintf(stderr, "ckpt: rank %d: ckpt.%d is of generation %ld here, of %ld to %ld in all\n", rank, n, here, least,
            most);
    return agree(EXIT_MIXED);
  }
  for (i = 0; i < files_of(n) && code == 0; i++) code = check_file(n, i, (uint64_t)(most < 0 ? 0 : most));
  return agree(code);
}

/* After SCR_ERR_NO_RESTART no output may start. */
static int check_refusal(void)
{
  int rc = SCR_Start_output("ckpt.1", opt.flags);

  note("REFUSED", -1, -1);
  if (rc == SCR_SUCCESS) fprintf(stderr, "ckpt: rank %d: SCR_Start_output after SCR_ERR_NO_RESTART\n", rank);
  if (agree(rc == SCR_SUCCESS)) return EXIT_REFUSAL;
  return opt.refused || opt.perhaps ? 0 : EXIT_WHICH;
}

/* Restart, if there is something to restart from; *AT is then its number, or else 0. */
static int restart(int* at)
{
  char name[SCR_MAX_FILENAME] = "", again[SCR_MAX_FILENAME] = "";
  int  have = -1, rc, code;
  long gen = -1;

  *at = 0;
  rc = SCR_Have_restart(&have, name);
  if (rc == SCR_ERR_NO_RESTART && have == 0) {
    if (!opt.refused && !opt.perhaps) failed(rc, EXIT_WHICH, "SCR_Have_restart");
    return check_refusal();
  }
  if ((code = failed(rc, EXIT_RESTART, "SCR_Have_restart")) != 0) return code;
  if (opt.refused) {
    fprintf(stderr, "ckpt: rank %d: SCR_Have_restart gave flag %d, name %s instead of an error\n", rank, have, name);
    return EXIT_REFUSAL;
  }
  if (have == 0) {
    note("FRESH", -1, -1);
    return opt.min > 0 || opt.exact > 0 ? EXIT_WHICH : 0;
  }
  if ((code = failed(SCR_Start_restart(again), EXIT_RESTART, "SCR_Start_restart")) != 0) return code;
  if (agree(strcmp(name, again) != 0 || sscanf(name, "ckpt.%d", at) != 1)) {
    fprintf(stderr, "ckpt: rank %d: names \"%s\" and \"%s\"\n", rank, name, again);
    return EXIT_RESTART;
  }
  code = check_files(*at, &gen);
  if (code != 0) return code;
  if ((code = failed(SCR_Complete_restart(1), EXIT_RESTART, "SCR_Complete_restart")) != 0) return code;
  note("RESTART", *at, gen < 0 ? 0 : gen);
  if (opt.fresh || *at < opt.min || (opt.exact > 0 && *at != opt.exact) ||
      (opt.expect_gen >= 0 && gen >= 0 && gen != opt.expect_gen))
    return EXIT_WHICH;
  return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static int write_file(int n, int i)
{
  char           name[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  size_t         size = size_of(n, i);
  unsigned char* p = (unsigned char*)malloc(size + 1);
  FILE*          f;
  int            ok;

  name_of(n, i, name);
  if (p == NULL) return EXIT_FILE;
  if (SCR_Route_file(name, file) != SCR_SUCCESS) {
    fprintf(stderr, "ckpt: rank %d: route of %s: %s\n", rank, name, SCR_Last_error());
    free(p);
    return EXIT_OUTPUT;
  }
  fill(p, size, opt.gen, n, i);
  f = fopen(file, "wb");
  ok = f != NULL && fwrite(p, 1, size / 2, f) == size / 2 && fflush(f) == 0;
  die_at("write", n);
  ok = ok && fwrite(p + size / 2, 1, size - size / 2, f) == size - size / 2;
  if (f && fclose(f) != 0) ok = 0;
  if (!ok) fprintf(stderr, "ckpt: rank %d: %s as %s: %s\n", rank, name, file, strerror(errno));
  free(p);
  return ok ? 0 : EXIT_FILE;
}

static int output(int n)
{
  char name[SCR_MAX_FILENAME];
  int  i, code = 0, need = 0;

  if ((code = failed(SCR_Need_checkpoint(&need), EXIT_OUTPUT, "SCR_Need_checkpoint")) != 0) return code;
  snprintf(name, sizeof name, "ckpt.%d", n);
  note("START", n, -1);
  if ((code = failed(SCR_Start_output(name, opt.flags), EXIT_OUTPUT, "SCR_Start_output")) != 0) return code;
  die_at("start", n);
  for (i = 0; i < files_of(n) && code == 0; i++) code = write_file(n, i);
  if ((code = agree(code)) != 0) return code;
  die_at("written", n);
  phase = "complete";
  i = SCR_Complete_output(1);
  phase = "";
  if (i == SCR_SUCCESS) note("COMPLETE", n, -1); /* before any other rank is heard of: one rank's success is enough */
  die_at("complete", n);
  return failed(i, EXIT_OUTPUT, "SCR_Complete_output");
}

static int work(void)
{
  int code, rc, at = 0, n;

  note("INIT", -1, -1);
  die_at("init", 0);
  phase = "init";
  rc = SCR_Init();
  phase = "";
  if ((code = failed(rc, EXIT_INIT, "SCR_Init")) != 0) return code;
  note("READY", -1, -1);
  if ((code = agree(restart(&at))) != 0) return code;
  if (opt.refused) return 0;
  for (n = at + 1; n <= at + opt.count; n++) {
    if ((code = output(n)) != 0) return code;
    if (opt.pause) pause_ms(opt.pause);
  }
  note("END", -1, -1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(opt.end, "finalize") == 0) return failed(SCR_Finalize(), EXIT_FINALIZE, "SCR_Finalize");
  raise(SIGKILL); /* a crash: MPI_Finalize would do what SCR_Finalize does */
  return EXIT_FINALIZE;
}

/* ---- options ------------------------------------------------------------------------------------------------- */

static int usage(const char* bad)
{
  if (rank == 0)
    fprintf(stderr,
            "ckpt: bad option or value: %s\n"
            "usage: ckpt [option value]...\n"
            "  -seed N -gen N          what the contents follow from\n"
            "  -shape S                equal odd empty one unequal none many names base, or mixed\n"
            "  -size BYTES             of the usual file\n"
            "  -count N                checkpoints to write\n"
            "  -min N | -exact N       the checkpoint to restart from, at least, or exactly\n"
            "  -expect-gen N           its generation\n"
            "  -expect fresh|refused|perhaps   there is nothing to restart from; there was, but it is lost, or may be\n"
            "  -flags N                of SCR_Start_output\n"
            "  -pause MS               after each checkpoint\n"
            "  -kill WHERE -kill-n N -kill-rank R   die at init, start, write, written, complete (of N, on R only)\n"
            "  -end finalize|crash\n"
            "  -log FILE\n",
            bad);
  return EXIT_USAGE;
}

static int options(int argc, char** argv)
{
  int i, s;

  opt.shape = ODD;
  opt.size = 100000;
  opt.expect_gen = opt.kill_rank = opt.log = -1;
  opt.flags = SCR_FLAG_CHECKPOINT;
  opt.end = "crash";
  for (i = 1; i < argc; i += 2) {
    const char* o = argv[i];
    const char* v = argv[i + 1];
    if (v == NULL) return usage(o);
    if (strcmp(o, "-seed") == 0) opt.seed = strtoul(v, NULL, 10);
    else if (strcmp(o, "-gen") == 0) opt.gen = strtoul(v, NULL, 10);
    else if (strcmp(o, "-size") == 0) opt.size = atol(v);
    else if (strcmp(o, "-count") == 0) opt.count = atoi(v);
    else if (strcmp(o, "-min") == 0) opt.min = atoi(v);
    else if (strcmp(o, "-exact") == 0) opt.exact = atoi(v);
    else if (strcmp(o, "-expect-gen") == 0) opt.expect_gen = atol(v);
    else if (strcmp(o, "-flags") == 0) opt.flags = atoi(v);
    else if (strcmp(o, "-pause") == 0) opt.pause = atol(v);
    else if (strcmp(o, "-kill") == 0) opt.kill = v;
    else if (strcmp(o, "-kill-n") == 0) opt.kill_n = atoi(v);
    else if (strcmp(o, "-kill-rank") == 0) opt.kill_rank = atoi(v);
    else if (strcmp(o, "-end") == 0) opt.end = v;
    else if (strcmp(o, "-expect") == 0 && strcmp(v, "fresh") == 0) opt.fresh = 1;
    else if (strcmp(o, "-expect") == 0 && strcmp(v, "refused") == 0) opt.refused = 1;
    else if (strcmp(o, "-expect") == 0 && strcmp(v, "perhaps") == 0) opt.perhaps = 1;
    else if (strcmp(o, "-log") == 0) opt.log = rank == 0 ? open(v, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    else if (strcmp(o, "-shape") == 0) {
      for (s = 0; s < SHAPES && strcmp(v, shape_names[s]) != 0; s++) {
      }
      if (s == SHAPES && strcmp(v, "mixed") != 0) return usage(v);
      opt.shape = s;
    } else return usage(o);
  }
  return 0;
}

int main(int argc, char** argv)
{
  int code;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  code = options(argc, argv);
  aim();
  if (code == 0) code = agree(work());
  if (code != 0) note("FAIL", code, -1);
  MPI_Finalize();
  return code;
}
