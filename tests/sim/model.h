/* model.h - the model of file systems beside a real one. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <stdint.h>

/* Make CALLS random calls on the model and below the directory DIR; 1 if an answer differs. */
int model_run(const char* dir, uint64_t seed, int calls);

#endif
