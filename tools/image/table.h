/* table.h - what saved objects may import from libc, libm and MPI. */
#ifndef IMAGE_TABLE_H
#define IMAGE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* 1 if NAME keeps no state in its library that a restart would miss, or if the layer keeps it. */
int img_allowed(const char* name);
/* CRC32, as zlib has it. */
uint32_t img_crc(uint32_t crc, const void* data, size_t n);

#endif
