/* scale.h - how the costs of a job grow with its ranks. */
#ifndef SIM_SCALE_H
#define SIM_SCALE_H

/* Run jobs of 64, 512 and so on up to RANKS ranks, and print what they cost; 1 if something grows too fast. */
int scale_run(int ranks);

#endif
