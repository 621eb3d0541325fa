/* fate.h - what a seed has drawn, for who shrinks or reports it. */
#ifndef SIM_FATE_H
#define SIM_FATE_H

#include "sim.h"

#define FATE_RECORDS   1024
#define FATE_OVERRIDES FATE_RECORDS /* so that all draws of a seed that fails can be given again */

/* A draw that did not give the plain choice. */
typedef struct {
  int      life;
  unsigned value;
  char     name[48];
} fate_record;
extern fate_record fate_made[FATE_RECORDS];
extern int         fate_nmade;
extern int         fate_plain; /* 1: all draws give the plain choice that are not overridden */

extern const char* fate_dump; /* the directory to which all files are written after each lifetime, or NULL */

/* A job without faults, of RANKS ranks with PER_NODE on a node, for who measures; NODE of it is replaced. */
void fate_scale(int ranks, int per_node);
void fate_lose(int node);

#endif
