/* ==== TABLE =============================================================================================
** What saved objects may import (names.txt, of which object.sh makes names.inc), and the end of the native TLS.
**
** Uses       names.inc
** Offers     img_allowed, img_tls_last.
** Invariants
**   T1  This is the last native object that is linked, as ranges.c is the first.
** ====================================================================================================== */
#include "table.h"

#include <stdlib.h>
#include <string.h>

extern __thread char img_tls_last[64];

__thread char img_tls_last[64];

static const char* const names[] = {
#include "names.inc"
};

static int compare(const void* key, const void* name)
{
  return strcmp(key, *(const char* const*)name);
}

int img_allowed(const char* name)
{
  return bsearch(name, names, sizeof names / sizeof *names, sizeof *names, compare) != NULL;
}
