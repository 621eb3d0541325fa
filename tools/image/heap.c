/* ==== HEAP ==============================================================================================
** The saved heap, and the functions of the malloc family for the whole process.
**
** Uses       ranges.c (who calls), start.c (memory), threads.c (the lock)
** Offers     img_alloc, img_widen, img_heap_used, img_heap_end, img_heap_gap; malloc, calloc, realloc, reallocarray,
**            free, aligned_alloc, memalign, posix_memalign, valloc, malloc_usable_size, strdup, strndup, vasprintf,
**            asprintf.
** Invariants
**   H1  A caller in the text of a saved object gets saved memory; all others get libc's.
**   H2  free and realloc go by the address of the block, whoever calls.
**   H3  What programs call holds the lock; with one thread there is none to hold (threads.c).
**   H4  Two neighbours are never both free; what lies above the highest block ever used is zero.
** Failure    NULL and ENOMEM.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

IMG_NATIVE(malloc);
IMG_NATIVE(calloc);
IMG_NATIVE(realloc);
IMG_NATIVE(free);
IMG_NATIVE(memalign);
IMG_NATIVE(malloc_usable_size);
IMG_NATIVE(vsnprintf);

/* A block: its user's memory begins behind SIZE.  Free ones are in a ring. */
typedef struct block {
  size_t        before; /* the size of the block before it; 0 for the first */
  size_t        size;   /* of all of it; bit 0: in use */
  struct block *next, *back;
} block;

#define HEAD  16UL
#define LEAST sizeof(block)
#define SMALL 64 /* bins of one size each: 16 bytes more than the one before */
#define BINS  (SMALL + 46)
#define GIVE  (1UL << 20) /* free memory from this size on goes back to the system */

static block  bins[BINS]; /* heads of rings; only next and back are used */
static size_t filled[(BINS + 63) / 64];
static block* top;  /* what is above all blocks begins here; its before is valid */
static char*  end;  /* of the mapped memory */
static char*  high; /* above it all bytes are zero (H4) */

static int is_ours(const void* p)
{
  return (uint64_t)p - IMG_HEAP_BASE < IMG_HEAP_LIMIT - IMG_HEAP_BASE;
}

static size_t size_of(const block* b)
{
  return b->size & ~1UL;
}

static block* after(const block* b)
{
  return (block*)((char*)b + size_of(b));
}

static void* memory_of(block* b)
{
  return (char*)b + HEAD;
}

static block* block_of(const void* p)
{
  return (block*)((char*)p - HEAD);
}

/* The bin of free blocks of SIZE: one size each, then one for each power of two. */
static int bin_of(size_t size)
{
  size_t k = size / 16;

  return k < SMALL ? (int)k : SMALL + 63 - __builtin_clzl(size) - 9;
}

static void put_in(block* b)
{
  int i = bin_of(b->size);

  if (bins[i].next == NULL) bins[i].next = bins[i].back = &bins[i];
  b->next = bins[i].next;
  b->back = &bins[i];
  b->next->back = b->back->next = b;
  filled[i / 64] |= 1UL << i % 64;
}

static void take_out(block* b)
{
  int i = bin_of(b->size);

  b->back->next = b->next;
  b->next->back = b->back;
  if (bins[i].next == &bins[i]) filled[i / 64] &= ~(1UL << i % 64);
}

/* The first bin from I on that has a block, or BINS. */
static int next_filled(int i)
{
  size_t word;

  while (i < BINS) {
    word = filled[i / 64] >> i % 64;
    if (word != 0) return i + __builtin_ctzl(word);
    i = (i / 64 + 1) * 64;
  }
  return BINS;
}

/* A free block of at least SIZE, out of its bin; NULL if there is none. */
static block* find(size_t size)
{
  block* b;
  int    i = bin_of(size);

  if (i >= SMALL && bins[i].next != NULL) /* sizes differ within this bin */
    for (b = bins[i].next; b != &bins[i]; b = b->next)
      if (b->size >= size) {
        take_out(b);
        return b;
      }
  if (i >= SMALL) i++;
  i = next_filled(i);
  if (i >= BINS) return NULL;
  b = bins[i].next;
  take_out(b);
  return b;
}

/* Have SIZE bytes and a head between top and end. */
static int grow(size_t size)
{
  size_t more;

  if (end == NULL) {
    if (!img_map(IMG_HEAP_BASE, IMG_HEAP_STEP))
      img_die("the memory at 0x%lx, for the heap, is in use, or more than ulimit -v allows", IMG_HEAP_BASE);
    top = (block*)IMG_HEAP_BASE;
    high = (char*)top;
    end = (char*)top + IMG_HEAP_STEP;
  }
  if ((char*)top + size + HEAD <= end) return 1;
  more = ((size_t)((char*)top + size + HEAD - end) + IMG_HEAP_STEP - 1) & ~(IMG_HEAP_STEP - 1);
  if (more > IMG_HEAP_LIMIT - (uint64_t)end || !img_map((uint64_t)end, more)) return 0;
  end += more;
  return 1;
}

static void mark_high(const void* p)
{
  if ((const char*)p > high) high = (char*)p;
}

/* A block of SIZE from the top. */
static block* from_top(size_t size)
{
  block* b;

  if (!grow(size)) return NULL;
  b = top;
  b->size = size;
  top = after(b);
  top->before = size;
  top->size = 1; /* never joined */
  return b;
}

/* Give what B has above SIZE back to the bins. */
static void split(block* b, size_t size)
{
  block* rest;

  if (b->size < size + LEAST) return;
  rest = (block*)((char*)b + size);
  rest->size = b->size - size;
  rest->before = b->size = size;
  after(rest)->before = rest->size;
  put_in(rest);
}

/* The size of a block for N bytes; 0 if that is too much. */
static size_t size_for(size_t n)
{
  size_t size = (n + HEAD + 15) & ~15UL;

  if (n > IMG_HEAP_LIMIT - IMG_HEAP_BASE) return 0;
  return size < LEAST ? LEAST : size;
}

static void* heap_alloc(size_t n)
{
  size_t size = size_for(n);
  block* b = size == 0 ? NULL : find(size);

  if (b == NULL && size != 0) b = from_top(size);
  if (b == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  split(b, size);
  b->size |= 1;
  mark_high(after(b));
  return memory_of(b);
}

/* Join the free block B with free neighbours, or with the top. */
static void release(block* b)
{
  block* next = after(b);

  if (next != top && (next->size & 1) == 0) {
    take_out(next);
    b->size += next->size;
  }
  if (b->before != 0) {
    block* back = (block*)((char*)b - b->before);

    if ((back->size & 1) == 0) {
      take_out(back);
      back->size += b->size;
      b = back;
    }
  }
  if (after(b) == top) {
    top = b;
    top->size = 1;
    return;
  }
  after(b)->before = b->size;
  put_in(b);
}

static void heap_free(void* p)
{
  block*   b = block_of(p);
  uint64_t first = ((uint64_t)p + sizeof(block) + IMG_PAGE - 1) & ~(IMG_PAGE - 1);
  uint64_t last = (uint64_t)after(b) & ~(IMG_PAGE - 1);

  if ((b->size & 1) == 0 || b->size < LEAST) {
    img_say("free() of an invalid or free block");
    abort();
  }
  b->size &= ~1UL;
  if (b->size >= GIVE && first < last) img_forget(first, last - first);
  release(b);
}

/* Zeroed memory: what lies above the highest block ever used is zero already. */
static void* heap_calloc(size_t n)
{
  char*  old = high;
  char*  p = heap_alloc(n);
  size_t dirty;

  if (p == NULL) return NULL;
  dirty = p >= old ? 0 : (size_t)(old - p);
  memset(p, 0, dirty < n ? dirty + HEAD < n ? dirty + HEAD : n : n); /* the head of the top was written */
  return p;
}

static void* heap_align(size_t align, size_t n)
{
  char*  p;
  block *b, *front;
  size_t skip;

  if (align <= 16) return heap_alloc(n);
  if (n > IMG_HEAP_LIMIT - IMG_HEAP_BASE || align > IMG_HEAP_STEP) {
    errno = ENOMEM;
    return NULL;
  }
  p = heap_alloc(n + align + LEAST);
  if (p == NULL) return NULL;
  skip = (align - (uint64_t)p % align) % align;
  while (skip != 0 && skip < LEAST) skip += align;
  if (skip == 0) return p;
  front = block_of(p);
  b = (block*)((char*)front + skip);
  b->size = size_of(front) - skip + 1;
  b->before = skip;
  after(b)->before = size_of(b);
  front->size = skip;
  release(front);
  return memory_of(b);
}

/* Another size for the block of P, where it is if that is possible. */
static void* heap_realloc(void* p, size_t n)
{
  block* b = block_of(p);
  size_t size = size_for(n), had = size_of(b);
  void*  q;

  if (size != 0 && size > had && after(b) != top && (after(b)->size & 1) == 0 && had + after(b)->size >= size) {
    block* next = after(b);

    take_out(next);
    b->size += next->size;
    after(b)->before = size_of(b);
  }
  if (size != 0 && size <= size_of(b)) {
    size_t all = size_of(b);

    if (all >= size + LEAST) {
      block* rest = (block*)((char*)b + size);

      rest->size = all - size;
      rest->before = size;
      after(rest)->before = rest->size;
      b->size = size | 1;
      release(rest);
    }
    mark_high(after(b));
    return p;
  }
  q = heap_alloc(n);
  if (q == NULL) return NULL;
  memcpy(q, p, had - HEAD);
  heap_free(p);
  return q;
}

uint64_t img_heap_used(void)
{
  if (end == NULL && !grow(0)) return 0;
  return (((uint64_t)top + sizeof(block) + IMG_PAGE - 1) & ~(IMG_PAGE - 1)) - IMG_HEAP_BASE;
}

uint64_t img_heap_end(void)
{
  return end == NULL ? IMG_HEAP_BASE : (uint64_t)end;
}

int img_heap_gap(uint64_t* at, uint64_t* from, uint64_t* to)
{
  block* b;

  for (b = (block*)*at; b != top && b->size >= LEAST; b = after(b)) {
    if (b->size & 1) continue;
    *from = ((uint64_t)(b + 1) + IMG_PAGE - 1) & ~(IMG_PAGE - 1);
    *to = (uint64_t)after(b) & ~(IMG_PAGE - 1);
    *at = (uint64_t)after(b);
    if (*from < *to) return 1;
  }
  return 0;
}

/* ---- the same, with the lock (H3) ---- */

static int lock;

void* img_alloc(size_t n)
{
  void* p;

  img_lock(&lock);
  p = heap_alloc(n);
  img_unlock(&lock);
  return p;
}

static void locked_free(void* p)
{
  img_lock(&lock);
  heap_free(p);
  img_unlock(&lock);
}

static void* locked_realloc(void* p, size_t n)
{
  img_lock(&lock);
  p = heap_realloc(p, n);
  img_unlock(&lock);
  return p;
}

static void* locked_calloc(size_t n)
{
  void* p;

  img_lock(&lock);
  p = heap_calloc(n);
  img_unlock(&lock);
  return p;
}

static void* locked_align(size_t align, size_t n)
{
  void* p;

  img_lock(&lock);
  p = heap_align(align, n);
  img_unlock(&lock);
  return p;
}

/* ---- the malloc family, for the whole process (H1, H2) ---- */

IMG_API void* malloc(size_t n)
{
  if (img_is_saved_text(IMG_CALLER())) return img_alloc(n);
  return img_next_block != NULL ? img_take_block(n) : scr_native_malloc(n);
}

IMG_API void* calloc(size_t n, size_t size)
{
  size_t all;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_calloc(n, size);
  if (__builtin_mul_overflow(n, size, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return locked_calloc(all);
}

IMG_API void free(void* p)
{
  int saved = errno;

  if (p == NULL) return;
  if (is_ours(p)) locked_free(p);
  else if (!img_is_stream(p)) scr_native_free(p);
  errno = saved;
}

IMG_API void* realloc(void* p, size_t n)
{
  if (p == NULL) return img_is_saved_text(IMG_CALLER()) ? img_alloc(n) : scr_native_malloc(n);
  if (!is_ours(p)) return scr_native_realloc(p, n);
  if (n != 0) return locked_realloc(p, n);
  locked_free(p);
  return NULL;
}

IMG_API void* reallocarray(void* p, size_t n, size_t size)
{
  size_t all;

  if (__builtin_mul_overflow(n, size, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  if (p == NULL) return img_is_saved_text(IMG_CALLER()) ? img_alloc(all) : scr_native_malloc(all);
  return is_ours(p) ? locked_realloc(p, all == 0 ? 1 : all) : scr_native_realloc(p, all);
}

IMG_API void* memalign(size_t align, size_t n)
{
  if (!img_is_saved_text(IMG_CALLER())) return scr_native_memalign(align, n);
  if (align & (align - 1)) {
    errno = EINVAL;
    return NULL;
  }
  return locked_align(align, n);
}

IMG_API void* aligned_alloc(size_t align, size_t n)
{
  if (!img_is_saved_text(IMG_CALLER())) return scr_native_memalign(align, n);
  if (align & (align - 1)) {
    errno = EINVAL;
    return NULL;
  }
  return locked_align(align, n);
}

IMG_API int posix_memalign(void** p, size_t align, size_t n)
{
  void* q;
  int   saved = errno;

  if (align == 0 || align % sizeof(void*) != 0 || (align & (align - 1)) != 0) return EINVAL;
  q = img_is_saved_text(IMG_CALLER()) ? locked_align(align, n) : scr_native_memalign(align, n);
  errno = saved;
  if (q == NULL) return ENOMEM;
  *p = q;
  return 0;
}

IMG_API void* valloc(size_t n)
{
  return img_is_saved_text(IMG_CALLER()) ? locked_align(IMG_PAGE, n) : scr_native_memalign(IMG_PAGE, n);
}

IMG_API size_t malloc_usable_size(void* p)
{
  if (p == NULL) return 0;
  return is_ours(p) ? size_of(block_of(p)) - HEAD : scr_native_malloc_usable_size(p);
}

/* ---- functions of libc that allocate for the caller ---- */

void* __sched_cpualloc(size_t n);
void  __sched_cpufree(void* set);

/* CPU_ALLOC() and CPU_FREE(). */
IMG_API void* __sched_cpualloc(size_t n)
{
  return img_is_saved_text(IMG_CALLER()) ? img_alloc((n + 63) / 64 * 8) : scr_native_malloc((n + 63) / 64 * 8);
}

IMG_API void __sched_cpufree(void* set)
{
  free(set);
}

IMG_API char* strndup(const char* s, size_t n)
{
  size_t length = strnlen(s, n);
  char*  p = img_is_saved_text(IMG_CALLER()) ? img_alloc(length + 1) : scr_native_malloc(length + 1);

  if (p == NULL) return NULL;
  memcpy(p, s, length);
  p[length] = '\0';
  return p;
}

IMG_API char* strdup(const char* s)
{
  size_t n = strlen(s) + 1;
  char*  p = img_is_saved_text(IMG_CALLER()) ? img_alloc(n) : scr_native_malloc(n);

  return p == NULL ? NULL : memcpy(p, s, n);
}

void img_widen(void* at, int* room, size_t size)
{
  char *old, *wide = img_alloc(((size_t)*room + 64) * size);

  if (wide == NULL) abort();
  memcpy(&old, at, sizeof old);
  memset(wide, 0, ((size_t)*room + 64) * size);
  if (*room > 0) memcpy(wide, old, (size_t)*room * size);
  free(old);
  memcpy(at, &wide, sizeof wide);
  *room += 64;
}

/* The text of FORMAT in memory of the heap that OURS tells. */
static int print_to_heap(int ours, char** text, const char* format, va_list args)
{
  va_list copy;
  int     n;

  va_copy(copy, args);
  n = scr_native_vsnprintf(NULL, 0, format, copy);
  va_end(copy);
  *text = NULL;
  if (n < 0) return n;
  *text = ours ? img_alloc((size_t)n + 1) : scr_native_malloc((size_t)n + 1);
  return *text == NULL ? -1 : scr_native_vsnprintf(*text, (size_t)n + 1, format, args);
}

IMG_API int vasprintf(char** text, const char* format, va_list args)
{
  return print_to_heap(img_is_saved_text(IMG_CALLER()), text, format, args);
}

IMG_API int asprintf(char** text, const char* format, ...)
{
  va_list args;
  int     n;

  va_start(args, format);
  n = print_to_heap(img_is_saved_text(IMG_CALLER()), text, format, args);
  va_end(args);
  return n;
}

/* What a compiler with checks calls. */
int __vasprintf_chk(char** text, int flag, const char* format, va_list args);
int __asprintf_chk(char** text, int flag, const char* format, ...);

IMG_API int __vasprintf_chk(char** text, int flag, const char* format, va_list args)
{
  (void)flag;
  return print_to_heap(img_is_saved_text(IMG_CALLER()), text, format, args);
}

IMG_API int __asprintf_chk(char** text, int flag, const char* format, ...)
{
  va_list args;
  int     n;

  (void)flag;
  va_start(args, format);
  n = print_to_heap(img_is_saved_text(IMG_CALLER()), text, format, args);
  va_end(args);
  return n;
}
