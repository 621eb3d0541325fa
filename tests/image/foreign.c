/*
** foreign.c FILE processor|library|memory - make an image one of another processor, of a library that was at another
** address, or with memory that was mapped where this process has a library.  The header has its checksum again, and the
** file the one that it had: without that the library takes it for damaged, and rebuilds it.
*/
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "../../tools/image/format.h"

static img_header head;
static char*      spare; /* four bytes that nobody reads: the end of a path */

static uint32_t crc_of(const void* data, size_t n)
{
  return (uint32_t)crc32(0, data, (unsigned)n);
}

/* The checksum of the whole header, with the one that is in it, if the spare bytes are WORD. */
static uint32_t checksum(uint32_t word)
{
  memcpy(spare, &word, 4);
  head.crc = crc_of((const char*)&head + IMG_HEADER_CRC, sizeof head - IMG_HEADER_CRC);
  return crc_of(&head, sizeof head);
}

/* Choose the spare bytes so that the checksum is WANTED.  Each of their bits flips the same bits of it, whatever the
   others are: 32 linear equations over two elements, by elimination.  Returns 1 if there is a choice. */
static int keep_checksum(uint32_t wanted)
{
  uint32_t flips[32], bits[32], word = 0, none = checksum(0), rest = none ^ wanted;
  int      i, k, bit;

  for (i = 0; i < 32; i++) flips[i] = checksum(1u << i) ^ none, bits[i] = 1u << i;
  for (i = 0, bit = 0; bit < 32; bit++) {
    for (k = i; k < 32 && !(flips[k] >> bit & 1); k++) continue;
    if (k == 32) continue;
    uint32_t flip = flips[k], of = bits[k];
    flips[k] = flips[i], bits[k] = bits[i];
    flips[i] = flip, bits[i] = of;
    for (k = i + 1; k < 32; k++)
      if (flips[k] >> bit & 1) flips[k] ^= flip, bits[k] ^= of;
    if (rest >> bit & 1) rest ^= flip, word ^= of;
    i++;
  }
  return checksum(word) == wanted;
}

int main(int argc, char** argv)
{
  const char* what = argc == 3 ? argv[2] : "";
  FILE*       f = argc == 3 ? fopen(argv[1], "r+b") : NULL;
  img_object* last;
  uint32_t    was;
  int         i = 0;

  if (f == NULL || fread(&head, sizeof head, 1, f) != 1) return 2;
  was = crc_of(&head, sizeof head);
  last = &head.objects[head.object_count - 1];
  spare = last->path + sizeof last->path - 4;
  if (strcmp(what, "processor") == 0) {
    head.cpu[5] ^= 1u << 5; /* AVX2 */
  } else if (strcmp(what, "library") == 0) {
    last->address += IMG_PAGE;
  } else if (strcmp(what, "memory") == 0) {
    while (i < head.range_count && head.ranges[i].kind != IMG_MAP) i++;
    if (i == head.range_count) return 3;
    head.ranges[i].address = last->address & ~(IMG_PAGE - 1);
  } else {
    return 2;
  }
  if (!keep_checksum(was)) return 4;
  rewind(f);
  return fwrite(&head, sizeof head, 1, f) == 1 && fclose(f) == 0 ? 0 : 1;
}
