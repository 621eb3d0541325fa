/*
** unit - the serial suites, one translation unit with the library so that they reach its private functions.
**
** Run in the top directory: unit [SUITE ...].
*/
#include "check_alloc.h"

#define SCR_SERIAL
#define SCR_TEST
#define SCR_LOCK_SECONDS      1.5 /* so that the tests of locks end */
#define SCR_LOCK_TELL_SECONDS 0.5
#define SCR_KERNELS_SKIP      unit_kernels_skip
static int unit_kernels_skip; /* TEST_KERNELS_SKIP of the environment */
#ifndef SCR_IMPL
#define SCR_IMPL "../../scr_impl.c"
#endif
#include SCR_IMPL

#include "check.h"

#include <locale.h>

#include "test_path.c"
#include "test_hash.c"
#include "test_hash_files.c"
#include "test_params.c"
#include "records.h"
#include "test_dataset.c"
#include "test_filemap.c"
#include "test_prefix.c"
#include "test_index.c"
#include "test_rank2file.c"
#include "test_run_files.c"
#include "test_kernels.c"
#include "test_copies.c"
#include "test_rebuild.c"
#include "test_scavenge.c"
#include "test_regions.c"

int main(int argc, char** argv)
{
  static const check_suite suites[] = {{"path", test_path},
                                       {"hash", test_hash},
                                       {"hash_files", test_hash_files},
                                       {"params", test_params},
                                       {"dataset", test_dataset},
                                       {"filemap", test_filemap},
                                       {"prefix", test_prefix},
                                       {"index", test_index},
                                       {"rank2file", test_rank2file},
                                       {"run_files", test_run_files},
                                       {"kernels", test_kernels},
                                       {"copies", test_copies},
                                       {"rebuild", test_rebuild},
                                       {"scavenge", test_scavenge},
                                       {"regions", test_regions},
                                       {NULL, NULL}};
  const char*              skip = getenv("TEST_KERNELS_SKIP");

  unit_kernels_skip = skip == NULL ? 0 : atoi(skip);

  return check_main(suites, argc, argv);
}
