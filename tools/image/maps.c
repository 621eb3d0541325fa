/* ==== MAPS ==============================================================================================
** Memory that the program maps: private mappings, at addresses that are free in each process; those of files, too,
** which are memory like any other after a restart.
**
** Uses       libc.c (objections)
** Offers     img_maps_objection, img_maps; img_mmap, img_munmap, img_mprotect, img_mremap: stubs, as networks put
**            functions of their own into those of these names, for the whole process.
** Invariants
**   A1  What saved objects have mapped lies between IMG_MAP_BASE and IMG_MAP_LIMIT and is in the table, which is
**       sorted; two neighbours of one kind are one entry.
**   A2  Memory that could never be read or written holds nothing.
** Failure    As in C.  A mapping that a restart cannot make, or a table that is full, objects for ever.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

IMG_NATIVE(mmap);
IMG_NATIVE(munmap);
IMG_NATIVE(mprotect);
IMG_NATIVE(mremap);
IMG_NATIVE(syscall);

typedef struct {
  uint64_t from, to;
  int      protection;
  int      use; /* IMG_UNUSED (A2), IMG_MEMORY, or IMG_OF_FILE */
} mapping;

static mapping maps[IMG_MAPS + 2]; /* a change makes two entries more at most */
static int     count;
static int     full;

const char* img_maps_objection(void)
{
  return full ? "has had too many mappings" : NULL;
}

int img_maps(img_range* ranges)
{
  int i;

  memset(ranges, 0, (size_t)count * sizeof *ranges);
  for (i = 0; i < count; i++) {
    ranges[i].address = maps[i].from;
    ranges[i].length = maps[i].to - maps[i].from;
    ranges[i].kind = IMG_MAP;
    ranges[i].protection = (uint16_t)maps[i].protection;
    ranges[i].use = (uint16_t)maps[i].use;
  }
  return count;
}

static uint64_t whole_pages(uint64_t n)
{
  return (n + IMG_PAGE - 1) & ~(IMG_PAGE - 1);
}

static int is_ours(const void* address, size_t n)
{
  uint64_t from = (uint64_t)address;

  return from >= IMG_MAP_BASE && from < IMG_MAP_LIMIT && n <= IMG_MAP_LIMIT - from;
}

/* ---- the table ---- */

static void delete (int i)
{
  memmove(&maps[i], &maps[i + 1], (size_t)(--count - i) * sizeof *maps);
}

static void insert(int i, mapping m)
{
  memmove(&maps[i + 1], &maps[i], (size_t)(count++ - i) * sizeof *maps);
  maps[i] = m;
}

/* Let an entry begin at AT, if one goes over it.  Returns the first entry that does not end before AT. */
static int split(uint64_t at)
{
  int i = 0;

  while (i < count && maps[i].to <= at) i++;
  if (i == count || maps[i].from >= at) return i;
  insert(i, maps[i]);
  maps[i].to = maps[i + 1].from = at;
  return i + 1;
}

/* Join neighbours of one kind (A1), and see that the table has room for the next change. */
static void tidy(void)
{
  int i = 0;

  while (i + 1 < count) {
    mapping *one = &maps[i], *next = &maps[i + 1];

    if (one->to == next->from && one->protection == next->protection && one->use == next->use)
      one->to = next->to, delete (i + 1);
    else i++;
  }
  if (count > IMG_MAPS - 2) full = 1, count = IMG_MAPS - 2;
}

static void remove_range(uint64_t from, uint64_t to)
{
  int i = split(from);

  split(to);
  while (i < count && maps[i].from < to) delete (i);
  tidy();
}

static void add_range(uint64_t from, uint64_t to, int protection, int use)
{
  mapping m = {from, to, protection, use};

  remove_range(from, to);
  insert(split(from), m);
  tidy();
}

static void protect_range(uint64_t from, uint64_t to, int protection)
{
  int i = split(from);

  split(to);
  for (; i < count && maps[i].from < to; i++) {
    maps[i].protection = protection;
    if (protection != PROT_NONE && maps[i].use == IMG_UNUSED) maps[i].use = IMG_MEMORY;
  }
  tidy();
}

/* Where N bytes are free; 0 if nowhere. */
static uint64_t room_for(uint64_t n)
{
  uint64_t at = IMG_MAP_BASE;
  int      i;

  for (i = 0; i < count && maps[i].from - at < n; i++) at = maps[i].to;
  return n <= IMG_MAP_LIMIT - at ? at : 0;
}

/* ---- what saved objects call in place of libc's functions (ranges.c, R3) ---- */

void* img_mmap(void* address, size_t n, int protection, int flags, int fd, off_t offset);
int   img_munmap(void* address, size_t n);
int   img_mprotect(void* address, size_t n, int protection);
void* img_mremap(void* address, size_t had, size_t n, int flags, ...);

void* img_mmap(void* address, size_t n, int protection, int flags, int fd, off_t offset)
{
  uint64_t size = whole_pages(n);
  int      use = protection != PROT_NONE ? IMG_MEMORY : IMG_UNUSED;
  void*    p;

  if (n == 0 || size < n || (flags & MAP_TYPE) != MAP_PRIVATE || full) {
    if ((flags & MAP_TYPE) != MAP_PRIVATE) img_note_call("mmap");
    return scr_native_mmap(address, n, protection, flags, fd, offset);
  }
  if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
    p = scr_native_mmap(address, n, protection, flags, fd, offset);
    if (p != MAP_FAILED && !is_ours(p, size)) img_note_call("mmap");
  } else {
    uint64_t at = room_for(size);

    if (at == 0) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
    p = scr_native_mmap((void*)at, n, protection, flags | MAP_FIXED_NOREPLACE, fd, offset);
  }
  if (!(flags & MAP_ANONYMOUS)) use = IMG_OF_FILE;
  if (p != MAP_FAILED && is_ours(p, size)) add_range((uint64_t)p, (uint64_t)p + size, protection, use);
  return p;
}

int img_munmap(void* address, size_t n)
{
  int rc = scr_native_munmap(address, n);

  if (rc == 0 && is_ours(address, n)) remove_range((uint64_t)address, (uint64_t)address + whole_pages(n));
  return rc;
}

int img_mprotect(void* address, size_t n, int protection)
{
  int rc = scr_native_mprotect(address, n, protection);

  if (rc != 0) return rc;
  if (is_ours(address, n)) protect_range((uint64_t)address, (uint64_t)address + whole_pages(n), protection);
  else img_note_call("mprotect");
  return rc;
}

/* The entry of ADDRESS, or NULL. */
static const mapping* entry_of(const void* address)
{
  int i;

  for (i = 0; i < count; i++)
    if ((uint64_t)address >= maps[i].from && (uint64_t)address < maps[i].to) return &maps[i];
  return NULL;
}

/* By the kernel's own call: networks that watch libc's lose the address TO.  They learn of what goes by munmap(). */
static void* kernel_mremap(void* address, size_t had, size_t n, int flags, void* to)
{
  void* p;

  if (flags & MREMAP_FIXED) scr_native_munmap(to, n);
  p = (void*)scr_native_syscall(SYS_mremap, address, had, n, flags, to);
  if (p != MAP_FAILED && p != address) scr_native_munmap(address, had);
  return p;
}

/* Another size for the mapping at ADDRESS, where it is or, if it may move, elsewhere. */
static void* change_size(void* address, size_t had, size_t n, int flags, void* to)
{
  const mapping* m = entry_of(address);
  int            protection = m != NULL ? m->protection : PROT_NONE, use = m != NULL ? m->use : IMG_UNUSED;
  void*          p;

  if (m == NULL || n == 0) return scr_native_mremap(address, had, n, flags, to);
  p = kernel_mremap(address, had, n, flags & MREMAP_FIXED ? flags : flags & ~MREMAP_MAYMOVE, to);
  if (p == MAP_FAILED && errno == ENOMEM && (flags & (MREMAP_MAYMOVE | MREMAP_FIXED)) == MREMAP_MAYMOVE) {
    uint64_t at = room_for(whole_pages(n));

    if (at != 0) p = kernel_mremap(address, had, n, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)at);
  }
  if (p == MAP_FAILED) return p;
  if (!is_ours(p, n)) img_note_call("mremap");
  remove_range((uint64_t)address, (uint64_t)address + whole_pages(had));
  if (is_ours(p, n)) add_range((uint64_t)p, (uint64_t)p + whole_pages(n), protection, use);
  return p;
}

void* img_mremap(void* address, size_t had, size_t n, int flags, ...)
{
  void*   to = NULL;
  va_list args;

  if (flags & MREMAP_FIXED) {
    va_start(args, flags);
    to = va_arg(args, void*);
    va_end(args);
  }
  return change_size(address, had, n, flags, to);
}
