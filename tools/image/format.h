/*
** format.h - the file of an image: what scr_image.o writes and loads, and the command scr_image prints.
**
**   header
**   record, its bytes     as often as there are; the last record has no length
**
** Numbers are those of the processor: an image is of one kind of it.  The header is written last, so a file that was
** cut off has none.
*/
#ifndef IMAGE_FORMAT_H
#define IMAGE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define IMG_MAGIC   "SCRIMG2\n"
#define IMG_PAGE    4096UL
#define IMG_MAPS    400
#define IMG_RANGES  1024 /* those of objects, heap, stack, and IMG_MAPS */
#define IMG_OBJECTS 128

typedef struct {
  uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
  uint32_t mxcsr, x87;
} img_context;

typedef enum { IMG_DATA, IMG_TLS, IMG_HEAP, IMG_STACK, IMG_MAP } img_kind;

typedef struct {
  uint64_t address, length;
  uint32_t kind;
  uint16_t protection, use; /* of IMG_MAP (A2 of maps.c) */
} img_range;

/* An object whose build, address and side must be those of the image. */
typedef struct {
  uint64_t address;
  uint32_t native;
  char     id[44];   /* the build id in hexadecimal digits, or crc32- and the CRC32 of the file */
  char     name[84]; /* without directories; `the program` for the executable */
  char     path[256];
} img_object;

typedef struct {
  char        magic[8];
  uint32_t    crc; /* of what follows, up to the records */
  uint32_t    page;
  uint64_t    size; /* of the file */
  uint64_t    n;
  int64_t     date;
  int32_t     rank, ranks;
  uint32_t    cpu[8]; /* img_processor */
  char        arguments[512];
  uint64_t    canary;
  double      wtime;
  uint64_t    heap_end, stack_low;
  img_context context;
  int32_t     object_count, range_count; /* the ranges of objects come first, then heap, stack and mappings */
  img_object  objects[IMG_OBJECTS];
  img_range   ranges[IMG_RANGES];
} img_header;

/* LENGTH bytes of memory; STORED of them follow, or none where all are zero. */
typedef struct {
  uint64_t address, length, stored;
} img_record;

#define IMG_HEADER_CRC offsetof(img_header, page) /* where the bytes of its CRC32 begin */

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* What decides which code libraries choose: the model and the features. */
static inline void img_processor(uint32_t* cpu)
{
  uint32_t unused;

  __cpuid(1, cpu[0], unused, cpu[2], cpu[3]);
  cpu[0] &= ~15u;     /* the stepping */
  cpu[1] = 0;         /* which core this is */
  cpu[2] |= 1u << 27; /* the system's, not the processor's */
  __cpuid_count(7, 0, unused, cpu[5], cpu[6], cpu[7]);
  cpu[4] = 0;
  cpu[7] &= 0x03c1011cu; /* not what new microcode adds */
  (void)unused;
}
#else
#define IMG_OTHER_PROCESSOR /* of which no image can be */
#endif

#endif
