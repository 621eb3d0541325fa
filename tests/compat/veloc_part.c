/* veloc_part.c - another file of the program of veloc_cases.c, in the same language or in the other one. */
#include "veloc.h"

#ifdef __cplusplus
extern "C" {
#endif
int protect_elsewhere(int id, void* data, size_t count, size_t size);
int checkpoint_elsewhere(const char* name, int version);
int restart_elsewhere(const char* name, int version);

int protect_elsewhere(int id, void* data, size_t count, size_t size)
{
  return VELOC_Mem_protect(id, data, count, size);
}

int checkpoint_elsewhere(const char* name, int version)
{
  return VELOC_Checkpoint(name, version);
}

int restart_elsewhere(const char* name, int version)
{
  return VELOC_Restart(name, version);
}
#ifdef __cplusplus
}
#endif
