/*
** zlib.c STEPS - a stream that zlib compresses bit by bit, with an image in between, and one that it expands at the
** same time; both are the program's own, while the library below uses zlib, too.
*/
#include <mpi.h>
#include <zlib.h>

#include "at.h"

#define LINE  4000
#define STEPS 100

static unsigned char packed[STEPS * LINE], line[LINE], back[LINE];

int main(int argc, char** argv)
{
  int      rank, i, step, steps = atoi(argv[1]), wrong = 0;
  uLong    crc = crc32(0, NULL, 0);
  z_stream in, out;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  if (steps > STEPS || deflateInit(&out, 6) != Z_OK || inflateInit(&in) != Z_OK) return 1;
  out.next_out = packed, out.avail_out = sizeof packed;
  in.next_in = packed;
  for (step = 0; step < steps; step++) {
    for (i = 0; i < LINE; i++) line[i] = (unsigned char)("checkpoint"[(i + step) % 10] + (i * i + step * rank) % 7);
    out.next_in = line, out.avail_in = LINE;
    if (deflate(&out, Z_SYNC_FLUSH) != Z_OK) return 1;
    point(rank);
    linger();
    in.avail_in = (uInt)(out.next_out - in.next_in);
    in.next_out = back, in.avail_out = LINE;
    if (inflate(&in, Z_SYNC_FLUSH) != Z_OK || in.avail_out != 0) return 1;
    wrong += memcmp(line, back, LINE) != 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (deflate(&out, Z_FINISH) != Z_STREAM_END) return 1;
  crc = crc32(crc, packed, (uInt)out.total_out);
  deflateEnd(&out);
  inflateEnd(&in);
  printf("rank %d: %lu bytes, %08lx, %d wrong\n", rank, out.total_out, crc, wrong);
  MPI_Finalize();
  return 0;
}
