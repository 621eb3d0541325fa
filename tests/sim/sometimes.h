/*
** sometimes.h - the marks of rare branches in scr_impl.c, SCR_SOMETIMES(name), and how often each was reached; and what
** scr_impl.c does without, as the simulator does not have it.
*/
#ifndef SIM_SOMETIMES_H
#define SIM_SOMETIMES_H

#define SCR_WALK_PATHS

typedef struct {
  const char*   name;
  unsigned long times;
} sim_mark;

/* Each mark has its own, in a section that is not exchanged when another rank runs. */
#define SCR_SOMETIMES(name)                                                                                            \
  do {                                                                                                                 \
    static sim_mark sim_this __attribute__((section("simmarks"), used)) = {#name, 0};                                  \
    sim_this.times++;                                                                                                  \
  } while (0)

#endif
