/* fti_part.c - another file of the program of fti_cases.c, in the same language or in the other one. */
#include <fti.h>

#ifdef __cplusplus
extern "C" {
#endif
int protect_elsewhere(int id, void* data, long count, fti_id_t type);
int checkpoint_elsewhere(int id, int level);
int size_elsewhere(void);

int protect_elsewhere(int id, void* data, long count, fti_id_t type)
{
  return FTI_Protect(id, data, count, type);
}

int checkpoint_elsewhere(int id, int level)
{
  return FTI_Checkpoint(id, level);
}

int size_elsewhere(void)
{
  int n = 0;

  MPI_Comm_size(FTI_COMM_WORLD, &n);
  return n;
}
#ifdef __cplusplus
}
#endif
