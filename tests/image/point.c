/* point.c - the points of at.h, for programs in C++ and Fortran. */
#include <mpi.h>

#include "at.h"

void at_point(int rank);

void at_point(int rank)
{
  point(rank);
}
