/* hybrid.c - a program with OpenMP: its threads work between images, and allocate; the number of threads is kept. */
#include <mpi.h>
#include <omp.h>

#include "at.h"

#ifdef PRIVATE
static int  calls;
#pragma omp threadprivate(calls)
#endif

static double work(int i, int n)
{
  double sum = 0, *parts[64];
  int    t, threads = 1;

#pragma omp parallel
  {
    int k, me = omp_get_thread_num();

    parts[me] = malloc((size_t)n * sizeof(double));
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for schedule(runtime)
    for (k = 0; k < n; k++) {
      double* p = malloc((size_t)(k % 100 + 1) * sizeof *p);

      p[0] = k * 0.5 + i;
#pragma omp critical
      sum += p[0];
      free(p);
    }
    parts[me][0] = me;
#ifdef PRIVATE
    calls++;
#endif
  }
  for (t = 0; t < threads; t++) {
    sum += parts[t][0];
    free(parts[t]);
  }
  return sum + threads * 1e6;
}

int main(int argc, char** argv)
{
  int    rank, i, steps = argc > 1 ? atoi(argv[1]) : 10;
  double sum = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  omp_set_num_threads(3);
  omp_set_schedule(omp_sched_dynamic, 7);
  for (i = 0; i < steps; i++) {
    sum += work(i, 500);
    point(rank);
    if (i == 4 && argc > 2) {
#pragma omp parallel
      {
#pragma omp master
        {
          point(rank);
          linger();
        }
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum /= 4;
  }
  MPI_Finalize();
  printf("rank %d: %.6f\n", rank, sum);
  return 0;
}
