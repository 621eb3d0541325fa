/*
** sim.h - a deterministic simulator of a job with the library: what its files share.
**
** scr_impl.c is compiled as it is, against mpi.h of this directory.  All ranks are fibers of one process: the
** library's variables are put into sections of their own and exchanged when another rank runs; the calls of libc that
** touch the world (symbols.txt) go to functions sim_* of these files.  One 64-bit seed decides everything else: who
** runs next, when a message arrives, what the parameters are, what the program does, what fails, who dies, and what a
** power cut leaves.  So a seed that fails can be replayed, call by call, for ever.
**
**   world.c    fibers, processes, the scheduler, virtual time, memory, threads, deaths
**   libc.c     clocks, names, the environment, messages, what else a process asks of the system
**   spawn.c    commands: their children, pipes, the shell and the other nodes
**   mpi.c      MPI between the ranks, as free as the standard allows, with checks of what it forbids
**   vfs.c      trees of files: what is cached, what is on the disk, what a power cut leaves of it
**   files.c    the calls of the system on these trees, their faults, locks and space
**   fate.c     what a seed means: the draws, the machine, the parameters, deaths and losses between two lifetimes
**   program.c  the application: checkpoints, outputs, restarts, what the user asks for
**   beside.c   a second application in the same job, with a communicator and a prefix of its own
**   regions.c  memory that the application protects, in place of files or beside them
**   truth.c    what must be true: the ledger of all that was written, and the checks after each lifetime
**   audit.c    do the files of the library agree with each other, and with the ledger
**   model.c    the model of file systems beside a real one
**   scale.c    what a job costs a rank, and how that grows
**   sim.c      main: seeds, replay, shrinking, the table of what was reached
**
** How to add
**   a parameter   one row in parameters[] of fate.c, for one of SCR_PARAMS of scr_impl.c; the first value is the plain
**                 one, which an unset parameter has ("" if it has none), and there are six at most.  If it changes what
**                 must be true, what it means goes to plan in fate_parameters().
**   a fault       a bit in the enum of faults below, and in the call, in files.c, fails() of that bit, before which
**                 nothing is drawn; in fate.c a draw of its own that replaces the other kinds, as FAULT_LIST has, of
**                 runs in fate_of_life(), of scavenges in scavenge_once(): a longer table would give old seeds other
**                 kinds.  Under faults less must be true, wherever S.faults is looked at; what only this one may leave
**                 behind is added there.
**   an invariant  a function in truth.c, called from truth_after_life(), which follows every lifetime, also one that
**                 was killed; one about files in audit.c, called from truth_audit() after one in three (set=audit=2:
**                 all), which learns what a format says by audit_files.h; one that needs no format walks the trees of
**                 vfs.h.  It says what is wrong by sim_violation().  What audit_files.h calls of audit.c gets a line
**                 `plain NAME` in symbols.txt.  A bug in mutants.txt proves it.
**   a call        when the link says so: a line `serve NAME` in symbols.txt and a function sim_NAME, or `plain NAME`
**                 if it touches nothing but its arguments.
** To see that it happens: `make sim ARGS=set=DRAW=VALUE` forces a draw in all lifetimes; fate_one_in(DRAW, N) by N-1, a
** parameter by set=NAME=I, the I-th value of its row from 0 on; one with RARE 2 by set=change.NAME=23 set=NAME=I-1.
** The last line counts the faults; with v, each is a line with its bit.
**
** What cannot be modelled
**   Data races inside a call: fibers change at calls only (the thread sanitizer looks for these).  Bugs of an MPI
**   library, and its performance.  Stale attributes and caches of NFS and Lustre.  Signals that arrive inside a call.
**   Helpers that the library spawns: the spawn fails.  A shell beyond one command.  Links, other users, setuid.
*/
#ifndef SIM_H
#define SIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

/* ---- world.c: who runs ---------------------------------------------------------------------------------------- */

typedef struct fiber     fiber;
typedef struct process   process;
typedef struct image     image;
typedef struct open_file open_file; /* files.c: what a descriptor leads to */

/* A program in the simulator: where its variables are, of which each process has its own. */
struct image {
  const char* name;
  char *      data, *data_end, *bss, *bss_end, *tls, *tls_end;
  char *      first, *tls_first; /* the data and the thread-locals before the program ran */
  process*    loaded;            /* whose variables are in place, */
  fiber*      tls_loaded;        /* and whose thread-locals */
};
extern image sim_library, sim_commands;

enum { FIBER_RUNS, FIBER_PARKED, FIBER_SLEEPS, FIBER_WAITS, FIBER_DEAD };

struct fiber {
  void*       sp;
  process*    p;
  char *      stack, *tls;
  int         state, err, main, done, queued, id;
  unsigned    generation; /* of its sleeps: one in the heap with another number is void */
  uint64_t    seen;       /* the activity of its process that it has looked at */
  const void* on;         /* what it waits for */
  void* (*fn)(void*);
  void*       arg;
  const char* call; /* the last call that it made, */
  uint64_t    call_arg, call_at;
  fiber *     next, *prev; /* of its process */
  int         fork;        /* what is to be done with its stack, one of FORK_*, */
  char*       before;      /* which is here, as it was before the fork, while the fiber is a child; else NULL */
  void*       before_sp;
  size_t      before_n;
  int         child;  /* the number of the last child */
  open_file*  out[3]; /* of the child: where 1 and 2 lead */
};

enum { FORK_NONE, FORK_CHILD, FORK_PARENT };

typedef struct block { /* stands before each allocation of a process */
  struct block *next, *prev;
  uint64_t      n : 40, magic : 24;
  uint64_t      at; /* the call before it */
} block;            /* small, as small allocations are most of what many ranks have */

struct process {
  int         id, pid, alive, node, ended; /* ended: by itself; 2: by exit */
  int         code;                        /* what it returned to exit */
  int         option;                      /* the word of its command line that is next; 0: the first */
  process*    parent;                      /* NULL: none that waits */
  const char* api;                         /* the call of the library that it is in */
  image*      of;
  char*       variables; /* of its image, while another process of it runs, */
  char*       changed;   /* and which pieces of them are not all zeros; the others are not there */
  fiber*      fibers;
  block       heap;
  size_t      heap_bytes, heap_peak;
  open_file** file;
  int         files;
  uint64_t    activity;                                   /* grows with everything that a wait of it may look for */
  uint64_t    signal_at;                                  /* the call at which it gets SIGUSR1; 0: none */
  void (*handler)(int number, void* info, void* context); /* of SIGUSR1, with SA_SIGINFO; NULL: none */
  FILE* out;                                              /* what a command prints, or NULL */
  int   background;                                       /* a daemon: the lifetime does not wait for its end */
  int   beside;                                           /* a rank of the second application */
  /* mpi.c */
  struct sim_message *first, **last; /* what has come and was not received */
  struct sim_request* posted;
  int                 requests; /* not yet complete */
  int                 comms;    /* communicators, and keys of attributes, that it has not freed */
  int                 attribute_set;
  void *              attribute, *attribute_extra;
  int (*attribute_gone)(int comm, int key, void* value, void* extra);
  /* counts, for the scale runs */
  uint64_t sent, sent_bytes, collectives, os_calls, prefix_calls, mpi_calls;
};

extern struct sim {
  uint64_t  seed;
  int       life;            /* number of the lifetime, from 1 */
  uint64_t  rng, now, ops;   /* state of the random numbers; virtual nanoseconds; calls in this lifetime */
  uint64_t  kill_at, end_at; /* the call at which somebody is killed, and at which the launcher ends the rest */
  uint64_t  kill_rename;     /* soon after so many renames on the prefix somebody is killed; 0: not so */
  int       kill_mark;       /* 1: it is when a node has noted that it deletes a dataset; 2: it was */
  int       struck;          /* a rank was killed in this lifetime, */
  int       struck_node;     /* on this node */
  int       daemon_struck;   /* a daemon was */
  uint64_t  hash, switches;  /* of all calls of the seed; loads of variables */
  int       ranks;           /* of this lifetime; rank[0..ranks-1] are its processes, */
  int       processes;       /* then the daemons and commands */
  process** rank;
  process*  me;  /* who runs, */
  fiber*    cur; /* and its fiber */
  int       trace, verbose;
  uint64_t  stop_at;          /* the call at which a debugger is to stop */
  unsigned  preempt;          /* a call lets another fiber run in this many of 1024 cases */
  unsigned  not_yet;          /* MPI tells later of what is there, in this many of 1024 cases */
  unsigned  eager;            /* messages of up to this many bytes are eager */
  int       bcast_waits;      /* a broadcast ends only when all have come */
  unsigned  faults;           /* which faults happen, a mask of FAULT_*, */
  unsigned  fault_rate;       /* in this many of 65536 cases */
  uint64_t  away_at, back_at; /* the calls at which the prefix gets another name, and its own again */
  int       is_away;
  uint64_t  faults_made;
  unsigned  latency;        /* of a call, in ns, */
  unsigned  prefix_latency; /* and what a path on the prefix takes more */
  int       failures;
  char      why[8192];
  char      report[512]; /* of the first failing seed: the line that replays it */
} S;

enum {
  FAULT_EIO = 1,       /* a change fails */
  FAULT_ENOSPC = 2,    /* a change finds no space */
  FAULT_SHORT = 4,     /* a read or write ends early; a signal interrupts it */
  FAULT_READ = 8,      /* a read fails */
  FAULT_FSYNC = 16,    /* a sync fails, and the bytes may be lost */
  FAULT_CLOSE = 32,    /* close fails */
  FAULT_MPI = 64,      /* a call of MPI returns an error */
  FAULT_MEMORY = 128,  /* an allocation fails */
  FAULT_ROOM = 256,    /* a file system is full for a while */
  FAULT_LIST = 512,    /* a directory cannot be listed to its end */
  FAULT_ANSWER = 1024, /* a name of the prefix is changed, but its server's answer is lost: an error comes back */
  FAULT_AWAY = 2048    /* the prefix has another name for a while */
};

/* The next random number; one below N; 1 in OF1024 of 1024 cases. */
uint64_t               sim_random(void);
static inline uint64_t sim_below(uint64_t n)
{
  return n ? sim_random() % n : 0;
}
static inline int sim_chance(unsigned of1024)
{
  return of1024 && (sim_random() & 1023) < of1024;
}

/* Start the random numbers anew: as they are for this seed, this lifetime and the purpose WHAT. */
void sim_reseed(const char* what);
void sim_mix(uint64_t x);

/*
** Every call of a program into the system passes here: time goes on, others may run, this process may die.  WHAT is the
** name of the call, ARG something of its arguments, for the trace and the hash.
*/
void sim_call(const char* what, uint64_t arg);
void sim_signal(process* p); /* P, which runs, gets SIGUSR1 */

/* Returns 1 if the next sim_call ends this process: a write can then be cut in the middle. */
int sim_dies_now(void);

/* Returns 1, with errno ERROR, if a fault of KIND happens now, as in RATE of 65536 cases. */
int sim_fails(unsigned kind, unsigned rate, int error);

/* What is wrong; the seed fails.  What goes on, for who watches. */
void sim_violation(const char* format, ...) __attribute__((format(printf, 1, 2)));
void sim_note(const char* format, ...) __attribute__((format(printf, 1, 2)));

void  sim_wake(process* p);                           /* something happened that P may wait for */
void* sim_translate(process* p, const void* address); /* where the variable of P at ADDRESS is now */
void* sim_process_alloc(process* p, size_t n);        /* memory of P, or NULL */
void  sim_process_free(process* p, void* memory);
void  sim_sleep(uint64_t ns);

/* Prepare for jobs of up to RANKS ranks.  Once. */
void world_start(int ranks);

/* Begin a lifetime with RANKS ranks, rank i on NODE_OF[i]; each runs PROGRAM(process). */
void world_begin(int ranks, const int* node_of, void* (*program)(void*));

/* Add a process of IMAGE on NODE, which runs MAIN(ARG); it does not end with the ranks. */
process* world_spawn(image* of, int node, void* (*program)(void*), void* arg);

/*
** Run until all ranks have ended, and all commands of which that is expected.  Returns 0; 1 if nobody can go on, or
** nobody gets anywhere: sim_violation has then said who waits for what.
*/
int world_run(void);

/* End the lifetime: kill who lives, and free what they had. */
void world_end(void);
void world_kill(process* p);
void world_ready(fiber* f);

/* Let others run, and never come back. */
void fiber_leave(void) __attribute__((noreturn));

/* Wait until somebody tells P of ON by fiber_tell, or NS have passed. */
void fiber_wait(const void* on, uint64_t ns);
void fiber_tell(process* p, const void* on);

/* The child that this fiber is has become P: it goes on as the parent. */
void fiber_parent(process* p) __attribute__((noreturn));

/* A process that has ended with CODE already. */
process* world_ended(image* of, int node, int code);

#define WORLD_EPOCH  1700000000ull /* when the simulated world began, in seconds since 1970 */
#define WORLD_SECOND 1000000000ull

/* The environment of all processes; VALUE NULL unsets. */
void        world_setenv(const char* name, const char* value);
const char* world_getenv(const char* name);
void        world_clear_env(void);

extern int      world_machine[];   /* of each node: the number of its machine, which a spare changes */
extern int      world_kill_what;   /* 0 a process, 1 a node, 2 all, 3 the daemon of a node */
extern int64_t  world_clock_shift; /* seconds that the clocks of all nodes are off */
extern int      world_launches;    /* a launcher has another process id each time */
extern uint64_t world_most_calls;  /* a lifetime with more of them gets nowhere */
extern unsigned world_warnings;    /* lines that the library printed in this lifetime, */
extern unsigned world_unfetched;   /* and those of them that say that a dataset cannot be fetched */

/* What a process of the second application of the job finds in its environment. */
const char* beside_getenv(const char* name);

/* ---- vfs.c and files.c: file systems ----------------------------------------------------------------------------- */

typedef struct tree  tree;
typedef struct inode inode;

enum { CRASH_STRICT, CRASH_NAMES, CRASH_CHANCE, CRASH_KINDS };

tree* tree_new(int id);
void  tree_wipe(tree* t);
void  tree_mkdir(tree* t, const char* path);
void  tree_crash(tree* t, int kind);
int   tree_was_cut(const tree* t);
tree* tree_copy(const tree* t); /* as it is now, all of it durable */
void  tree_free(tree* t);
void  tree_count(const tree* t, uint64_t* files, uint64_t* dirs, uint64_t* bytes);
void  tree_list(const tree* t, FILE* out);
void  tree_save(const tree* t, const char* dir); /* to a directory of the real world, for who looks into them */
void  tree_room(tree* t, uint64_t bytes);        /* it takes BYTES more from now on; UINT64_MAX: no limit */

/*
** What others do: write a file, change a byte of one, remove one that has NAME in its path, change a byte of any one,
** hold the lock on one, put back the directory NAME of DIR as COPY has it.  Returns 0 if it is not there.
*/
void tree_write(tree* t, const char* dir, const char* name, const char* text);
int  tree_spoil(tree* t, const char* path);
int  tree_purge(tree* t, const char* name);
int  tree_rot(tree* t, const char* name);
int  tree_restore(tree* t, const tree* copy, const char* dir, const char* name);
void tree_rename(tree* t, const char* from, const char* to); /* at its top */
int  tree_lock(tree* t, const char* path, open_file* holder);

/* Returns 1 if PATH is there because a fault has kept somebody from removing it. */
int tree_has_kept(const tree* t, const char* path);

/*
** Returns 1 if the directory PATH has no other names than NAMES, each between two blanks; `a.` is any that begins so.
*/
int tree_has_only(const tree* t, const char* path, const char* names);

extern tree*    world_node[]; /* of each node: what is below its /ssd, /cntl and so on */
extern tree*    world_prefix; /* what is below /pfs */
extern tree*    world_shared; /* what is below /shared: a store that all nodes see */
extern uint64_t files_syncs;

/* Somebody else holds the lock on the file PATH of T, for SECONDS from now. */
void files_hold(tree* t, const char* path, unsigned seconds);

/* The prefix has its name again, if it had another one. */
void files_prefix_back(void);

void files_close_all(process* p);
int  files_open(process* p); /* descriptors that P has open */

/* A pipe of the process that runs; where the descriptor FD leads, or NULL; P gets it as its own FD. */
int        files_pipe(int fds[2]);
open_file* files_of(int fd);
void       files_inherit(process* p, int fd, open_file* o);

/* Print to FD, 1 or 2, of the process that runs, if that is a pipe.  Returns 1 if it is. */
int files_print(int fd, const char* text, size_t n);

/* The calls that the program itself uses. */
int     sim_open64(const char* path, int flags, ...);
int     sim_close(int fd);
int     sim_unlink(const char* path);
int     sim_sched_yield(void);
ssize_t sim_write(int fd, const void* p, size_t n);
ssize_t sim_read(int fd, void* p, size_t n);

/* ---- spawn.c ----------------------------------------------------------------------------------------------------- */

enum { NODE_UP, NODE_REFUSES, NODE_HANGS };
extern int spawn_down[]; /* of each node: whether commands reach it */

/* A process on NODE that runs the command LINE. */
process* spawn_command(int node, const char* line);

/* ---- mpi.c ------------------------------------------------------------------------------------------------------- */

void mpi_begin(int ranks);
void mpi_end(void);
void mpi_check_end(void); /* after a regular end: nothing may be left */

/* A communicator of the ranks MEMBER[0..N-1] of the job, in ascending order; each of them calls this with the same. */
int mpi_comm_of(int n, const int* member);

/* ---- fate.c ------------------------------------------------------------------------------------------------------ */

/*
** The draw NAME of this seed and lifetime: a number below N, of which 0 is the plain choice.  It depends on nothing but
** seed, lifetime and name, so that a new draw changes no other one; fate_set overrides it.
*/
unsigned fate_draw(const char* name, unsigned n);

/* 1 in one of N cases. */
int fate_one_in(const char* name, unsigned n);

/* Override draws: "NAME=VALUE" in all lifetimes, "LIFE.NAME=VALUE" in one.  Returns 0 if TEXT is not of that form. */
int  fate_set(const char* text);
void fate_clear(void);

/* Run the seed.  Returns 1 if something was wrong; S.why says what. */
int fate_run(uint64_t seed);

#endif
