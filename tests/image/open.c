/*
** open.c - files that stay open: streams and descriptors that are written, read, shared, duplicated and renamed,
** standard input and output, and the environment.  What was written after an image goes at a restart from it.
*/
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include "at.h"

#define BLOCK 1000

static int  rank, ranks;
static char buffer[3000]; /* of a stream */

static const char* own(const char* name)
{
  static char path[2][60];
  static int  turn;

  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s.%d", name, rank);
  return path[turn];
}

static void die(const char* what)
{
  fprintf(stderr, "rank %d: %s fails\n", rank, what);
  exit(1);
}

static void need(int ok, const char* what)
{
  if (!ok) die(what);
}

/* A sum of the bytes of the file, and their number. */
static void print_sum(const char* path)
{
  FILE* f = fopen(path, "r");
  long  sum = 0, n = 0;
  int   c;

  need(f != NULL, path);
  while ((c = fgetc(f)) != EOF) sum = (sum * 31 + c) % 1000003, n++;
  need(feof(f) && fclose(f) == 0, path);
  printf("rank %d: %s has %ld bytes, sum %ld\n", rank, path, n, sum);
}

static void make_words(const char* path, int lines)
{
  FILE* f = fopen(path, "w");
  int   i;

  need(f != NULL, path);
  for (i = 0; i < lines; i++) fprintf(f, "word%d %d\n", i, i * i);
  need(fclose(f) == 0, path);
}

typedef struct {
  FILE * log, *words, *lines, *more, *appended;
  int    raw, second, shared, data;
  char*  line;
  size_t size;
} held;

static void begin(held* h)
{
  make_words(own("words"), 100);
  h->log = fopen(own("log"), "w");
  h->words = fopen(own("words"), "r");
  h->lines = fopen(own("words"), "r+e");
  h->raw = open(own("raw"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
  h->second = dup(h->raw);
  h->data = open(own("words"), O_RDONLY);
  h->shared = open("shared", O_RDWR | O_CREAT, 0666);
  h->more = fdopen(open(own("more"), O_RDWR | O_CREAT | O_TRUNC, 0666), "w+");
  h->appended = fopen(own("words"), "a+");
  need(h->appended != NULL && h->log != NULL && h->words != NULL && h->lines != NULL && h->more != NULL, "fopen");
  need(h->raw >= 0 && h->second >= 0 && h->data >= 0 && h->shared >= 0, "open");
  need(rename(own("raw"), own("renamed")) == 0, "rename");
  need(setvbuf(h->log, buffer, _IOFBF, sizeof buffer) == 0, "setvbuf");
}

/* One step: something of each. */
static void step(held* h, int i)
{
  char   block[BLOCK], word[40];
  int    number = -1, letter, read_too = 0;
  double x;

  fprintf(h->log, "step %d of rank %d\n", i, rank);
  need(fscanf(h->words, "%39s %d", word, &number) == 2, "fscanf");
  need(getline(&h->line, &h->size, h->lines) > 0, "getline");
  need(read(h->data, block, 7) == 7, "read");
  x = number + (double)strlen(h->line) + block[6];
  snprintf(block, sizeof block, "%s %g\n", word, x);
  need(write(i % 2 ? h->raw : h->second, block, strlen(block)) == (ssize_t)strlen(block), "write");
  memset(block, 'a' + (i + rank) % 26, sizeof block);
  need(pwrite(h->shared, block, sizeof block, (off_t)(i * ranks + rank) * BLOCK) == BLOCK, "pwrite");
  need(fseek(h->more, 0, SEEK_END) == 0 && fprintf(h->more, "%05d\n", i) == 6, "fprintf");
  need(fseek(h->more, 6L * (i / 2), SEEK_SET) == 0 && fscanf(h->more, "%d", &read_too) == 1 && read_too == i / 2,
       "read back");
  need(fscanf(h->appended, "%39s %*d", word) == 1, "fscanf of what is appended to");
  fprintf(h->log, "appended %s\n", word);
  if (rank == 0) {
    letter = getchar();
    fprintf(h->log, "input %c\n", letter == EOF ? '-' : letter);
    if (i % 3 == 0 && scanf("%1s", word) == 1) fprintf(h->log, "scanned %s\n", word);
    if (feof(stdin)) fprintf(h->log, "the end of the input\n");
  }
  sprintf(word, "step.%d", i);
  need(setenv("STEP", word, 1) == 0 && (i % 2 ? unsetenv("ODD") : setenv("ODD", "no", 1)) == 0, "setenv");
}

/* What a step finds that the one before it has left. */
static void look_back(int i)
{
  char word[40];

  sprintf(word, "step.%d", i - 1);
  need(getenv("STEP") != NULL && strcmp(getenv("STEP"), word) == 0, "getenv");
  need((getenv("ODD") != NULL) == (i % 2 == 1), "getenv of what was removed");
}

int main(int argc, char** argv)
{
  held h;
  int  i, sum = 0, steps = argc > 1 ? atoi(argv[1]) : 10, out;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  memset(&h, 0, sizeof h);
  begin(&h);
  out = dup(1);
  need(out >= 0, "dup of standard output");
  for (i = 0; i < steps; i++) {
    if (i > 0) look_back(i);
    step(&h, i);
    fflush(stdout);
    if (i == steps / 2) need(freopen(own("output"), "w", stdout) != NULL, "freopen");
    if (i >= steps / 2) printf("rank %d: step %d\n", rank, i);
    point(rank);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum = sum % 1000 + i;
  }
  fflush(stdout);
  need(dup2(out, 1) == 1 && close(out) == 0, "dup2");
  need(fclose(h.log) == 0 && fclose(h.words) == 0 && fclose(h.lines) == 0 && fclose(h.more) == 0 &&
           fclose(h.appended) == 0,
       "fclose");
  need(close(h.raw) == 0 && close(h.second) == 0 && close(h.data) == 0 && close(h.shared) == 0, "close");
  MPI_Finalize(); /* all ranks have closed their files */
  print_sum(own("log"));
  print_sum(own("renamed"));
  print_sum(own("more"));
  print_sum(own("output"));
  print_sum("shared");
  return 0;
}
