/*
** check.h - what the MPI test programs share: named test cases that every rank runs and every rank may fail.
**
** Each program has a table of cases.  It runs those that are named on its command line, or all, and prints from rank 0
** `RUN name`, and then `PASS name` or `FAIL name`.  After the last one comes `DONE`: mpi.sh then knows that the program
** did not die, and in which case it did.  A case that hangs is ended by SIGALRM.
*/
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

typedef struct {
  const char* name;
  void (*run)(void);
  int least; /* ranks that it needs */
} check_case;

#define CHECK_NAMED (-1) /* in place of the ranks: only when it is named */

static int rank, ranks;  /* of MPI_COMM_WORLD */
static int check_failed; /* in this case, on this rank */

/* Count a failure unless COND holds; the rest of the line is a printf format and its arguments. */
#define CHECK(cond, ...)                                                                                               \
  do {                                                                                                                 \
    if (!(cond)) {                                                                                                     \
      check_failed++;                                                                                                  \
      fprintf(stderr, "  rank %d, line %d: %s: ", rank, __LINE__, #cond);                                              \
      fprintf(stderr, __VA_ARGS__);                                                                                    \
      fprintf(stderr, "\n");                                                                                           \
    }                                                                                                                  \
  } while (0)

/* From now on a case has TEST_LIMIT seconds until SIGALRM ends the program; long cases call it again and again. */
static void check_alive(void)
{
  const char* limit = getenv("TEST_LIMIT");
  alarm(limit != NULL ? (unsigned)atoi(limit) : 0);
}

/* 1 when CASE is to run: it is named in ARGV or nothing is, and there are enough ranks. */
static int check_wanted(const check_case* c, int argc, char** argv)
{
  int i;

  if (c->least >= 0 && ranks < c->least) return 0;
  for (i = 1; i < argc; i++)
    if (strcmp(argv[i], c->name) == 0) return 1;
  return argc == 1 && c->least != CHECK_NAMED;
}

/* Run the cases; the exit code of the program. */
static int check_main(const check_case* c, int argc, char** argv)
{
  const char* after = getenv("TEST_AFTER"); /* the case in which an earlier run died */
  int         all, failed = 0;

  setvbuf(stdout, NULL, _IOLBF, 0);
  for (; c->name != NULL; c++) {
    if (after != NULL) {
      if (strcmp(after, c->name) == 0) after = NULL;
      continue;
    }
    if (!check_wanted(c, argc, argv)) continue;
    if (rank == 0) printf("RUN %s\n", c->name);
    check_failed = 0;
    check_alive();
    c->run();
    alarm(0);
    MPI_Allreduce(&check_failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    failed += all > 0;
    if (rank == 0) printf("%s %s\n", all > 0 ? "FAIL" : "PASS", c->name);
  }
  if (rank == 0) printf("DONE\n");
  return failed > 0;
}

#endif
