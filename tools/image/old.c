/* ==== OLD ===============================================================================================
** Names of MPI-1 that MPI-3 has removed and MPICH still has: each is the function that took its place.
**
** Uses       types.c, attr.c
** Offers     MPI_Type_struct and its like, MPI_Type_extent, MPI_Type_lb, MPI_Type_ub, MPI_Errhandler_create, _set and
**            _get.
** Failure    As that function's.
** ====================================================================================================== */
#include "image.h"

IMG_API int MPI_Type_struct(int count, int lengths[], MPI_Aint places[], MPI_Datatype types[], MPI_Datatype* made)
{
  return MPI_Type_create_struct(count, lengths, places, types, made);
}

IMG_API int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made)
{
  return MPI_Type_create_hvector(count, length, stride, type, made);
}

IMG_API int MPI_Type_hindexed(int count, int lengths[], MPI_Aint places[], MPI_Datatype type, MPI_Datatype* made)
{
  return MPI_Type_create_hindexed(count, lengths, places, type, made);
}

IMG_API int MPI_Type_extent(MPI_Datatype type, MPI_Aint* extent)
{
  MPI_Aint low;

  return MPI_Type_get_extent(type, &low, extent);
}

IMG_API int MPI_Type_lb(MPI_Datatype type, MPI_Aint* low)
{
  MPI_Aint extent;

  return MPI_Type_get_extent(type, low, &extent);
}

IMG_API int MPI_Type_ub(MPI_Datatype type, MPI_Aint* high)
{
  MPI_Aint low, extent;
  int      rc = MPI_Type_get_extent(type, &low, &extent);

  if (rc == MPI_SUCCESS) *high = low + extent;
  return rc;
}

IMG_API int MPI_Errhandler_create(MPI_Comm_errhandler_function* f, MPI_Errhandler* made)
{
  return MPI_Comm_create_errhandler(f, made);
}

IMG_API int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
  return MPI_Comm_set_errhandler(comm, handler);
}

IMG_API int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler)
{
  return MPI_Comm_get_errhandler(comm, handler);
}
