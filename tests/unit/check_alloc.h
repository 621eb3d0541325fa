/*
** check_alloc.h - allocations that fail on demand.  Included before the library, whose calls it takes over.
*/
#ifndef CHECK_ALLOC_H
#define CHECK_ALLOC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include <stdlib.h> /* declares the real ones, before their names are taken */

static long check_alloc_left = -1; /* allocations that still succeed before one fails; negative: no limit */
static int  check_alloc_hit;       /* one did fail */

/* 1 when this allocation is to fail.  One fails; those after it succeed again. */
static int check_alloc_fails(void)
{
  if (check_alloc_left < 0 || check_alloc_left-- > 0) return 0;
  check_alloc_hit = 1;
  return 1;
}

static void* check_malloc(size_t n)
{
  return check_alloc_fails() ? NULL : malloc(n);
}

static void* check_calloc(size_t n, size_t size)
{
  return check_alloc_fails() ? NULL : calloc(n, size);
}

static void* check_realloc(void* p, size_t n)
{
  return check_alloc_fails() ? NULL : realloc(p, n);
}

#define malloc  check_malloc
#define calloc  check_calloc
#define realloc check_realloc

#endif
