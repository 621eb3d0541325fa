/*
** hdf5.c [N [STEPS]] - heat_plain.c, which writes an HDF5 file of each rank, and so goes on after a failure.
**
**   mpicc hdf5.c scr_impl.c $(pkg-config --cflags --libs hdf5) -lz -lpthread -o hdf5
**
** The same command starts it and, after a failure, continues it, on as many ranks.  Any HDF5 with its interface for C
** is good, with or without MPI, as each file is that of one rank; `make hdf5` builds it where there is one.
*/
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scr.h"

/* Exchange the first and the last row of this rank's ROWS with its neighbours. */
static void exchange(double* u, int rows, int n, int up, int down)
{
  MPI_Request r[4];
  MPI_Status  st[4];

  MPI_Irecv(u, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(u + (size_t)(rows + 1) * (size_t)n, n, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(u + n, n, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(u + (size_t)rows * (size_t)n, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, st);
}

/* One step from U to V.  Returns the sum of the squares of all changes. */
static double step(const double* u, double* v, int rows, int n)
{
  double change = 0;
  int    i, j;

  for (i = 1; i <= rows; i++)
    for (j = 1; j < n - 1; j++) {
      size_t at = (size_t)i * (size_t)n + (size_t)j;

      v[at] = 0.25 * (u[at - 1] + u[at + 1] + u[at - (size_t)n] + u[at + (size_t)n]);
      change += (v[at] - u[at]) * (v[at] - u[at]);
    }
  return change;
}

/* Read or write the DIMS-dimensional dataset NAME of F.  Returns 1 on success; another size than SIZE is an error. */
static int item(hid_t f, const char* name, int writing, hid_t type, int dims, const hsize_t* size, void* data)
{
  hid_t space = H5Screate_simple(dims, size, NULL), set;
  int   ok;

  set = writing ? H5Dcreate2(f, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                : H5Dopen2(f, name, H5P_DEFAULT);
  ok = set >= 0 && (writing ? H5Dwrite(set, type, space, H5S_ALL, H5P_DEFAULT, data)
                            : H5Dread(set, type, space, H5S_ALL, H5P_DEFAULT, data)) >= 0;
  if (set >= 0 && H5Dclose(set) < 0) ok = 0;
  H5Sclose(space);
  return ok;
}

/* Read or write the file of this rank in checkpoint NAME.  An error of HDF5, also in its close, makes it invalid. */
static int state_file(const char* name, int writing, int rank, int rows, int n, double* u, int* i, double* change)
{
  char    path[SCR_MAX_FILENAME + 20], file[SCR_MAX_FILENAME];
  hsize_t size[2] = {(hsize_t)rows, (hsize_t)n};
  hid_t   access, f;
  int     ok;

  snprintf(path, sizeof path, "%s/rank_%d.h5", name, rank);
  if (SCR_Route_file(path, file) != SCR_SUCCESS) return 0;
  access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG); /* else H5Fclose leaves it open while anything in it is */
  f = writing ? H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(file, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  ok = f >= 0 && item(f, "step", writing, H5T_NATIVE_INT, 0, size, i) &&
       item(f, "change", writing, H5T_NATIVE_DOUBLE, 0, size, change) &&
       item(f, "u", writing, H5T_NATIVE_DOUBLE, 2, size, u + n);
  return f >= 0 && H5Fclose(f) >= 0 && ok;
}

/* On an error of the library, which has printed it, all ranks end together; SCR_ENABLE=0 is none. */
static void must(int rc)
{
  if (rc == SCR_SUCCESS || rc == SCR_ERR_DISABLED) return;
  MPI_Finalize();
  exit(1);
}

int main(int argc, char** argv)
{
  int     n = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 1000, rank, size, rows, i;
  size_t  cells, k;
  double *u, *v, *swap, change = 0, all = 0, heat = 0;
  int     rc, have = 0, need = 0;
  char    name[SCR_MAX_FILENAME];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rows = n / size + (rank < n % size);
  cells = (size_t)(rows + 2) * (size_t)n;
  u = (double*)calloc(cells, sizeof *u);
  v = (double*)calloc(cells, sizeof *v);
  if (u == NULL || v == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < n && rank == 0; i++) u[i] = v[i] = 100.0 * (i + 1) / n; /* the upper edge is hot */
  SCR_Config("SCR_CHECKPOINT_INTERVAL=100");   /* our default; the environment overrides it */
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0); /* disks of nodes may have no locks, and each file has one rank */
  H5dont_atexit();                             /* after an error in H5Fclose, it crashes there */
  must(SCR_Init());
  for (must(SCR_Have_restart(&have, name)); have; must(SCR_Have_restart(&have, name))) {
    must(SCR_Start_restart(name));
    if ((rc = SCR_Complete_restart(state_file(name, 0, rank, rows, n, u, &i, &change))) == SCR_SUCCESS) break;
    if (rc != SCR_ERR_INVALID) must(rc); /* else a rank could not read its file: try the next older checkpoint */
  }
  if (rank == 0 && have) printf("heat: goes on after step %d\n", i + 1);
  for (i = have ? i + 1 : 0; i < steps; i++) {
    exchange(u, rows, n, rank > 0 ? rank - 1 : MPI_PROC_NULL, rank < size - 1 ? rank + 1 : MPI_PROC_NULL);
    change = step(u, v, rows, n);
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    swap = u, u = v, v = swap;
    if (rank == 0 && (i + 1) % (steps / 5 > 0 ? steps / 5 : 1) == 0) {
      printf("heat: step %d, change %.6e\n", i + 1, change);
      fflush(stdout);
    }
    must(SCR_Need_checkpoint(&need));
    snprintf(name, sizeof name, "heat.%d", i + 1);
    if (need && SCR_Start_output(name, SCR_FLAG_CHECKPOINT) == SCR_SUCCESS) /* if not, the older one is still there */
      SCR_Complete_output(state_file(name, 1, rank, rows, n, u, &i, &change));
  }
  for (k = (size_t)n; k < cells - (size_t)n; k++) heat += u[k];
  MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  free(u);
  free(v);
  SCR_Finalize();
  MPI_Finalize();
  if (rank == 0) printf("heat: heat %.17g, change %.17g\n", all, change);
  return 0;
}
