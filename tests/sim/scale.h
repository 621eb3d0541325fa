/* scale.h - how the costs of a job grow with its ranks. */
#ifndef SIM_SCALE_H
#define SIM_SCALE_H

#include "sim.h"

/* Run jobs of 64, 512 and so on up to RANKS ranks, and print what they cost; 1 if something grows too fast. */
int scale_run(int ranks);

/* P calls API of the library, and has returned from it. */
void scale_begin(process* p);
void scale_end(process* p, const char* api);

#endif
