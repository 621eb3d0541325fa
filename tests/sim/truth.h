/* truth.h - what fate, program and truth share: the machine, the ledger of a seed, what a lifetime has seen. */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include "sim.h"

#define PREFIX        "/pfs/p"
#define NODES_MOST    64
#define RANKS_MOST    32768
#define DATASETS_MOST 512
#define CALLS_MOST    4096
#define IDS_MOST      2048
#define NAME_MOST     64
#define SUBJECTS_MOST 64
#define TRIES_MOST    20
#define LOGS_RANKS    64 /* jobs with logs have no more ranks */
#define REGIONS_MOST  4096

/* A dataset that the program has begun to write: its number is the order in which that happened, from 1. */
typedef struct {
  char      name[NAME_MOST];
  int       number, step, checkpoint, output, ranks, life;
  long long begun;      /* by the clocks of the nodes, in microseconds */
  int       tolerance;  /* nodes that may be lost without losing it in the cache, as its scheme promises */
  int       told_ranks; /* ranks to which Complete_output has said success, */
  int       acked;      /* and those of them whose word counts */
  int       cached;     /* it was in the cache then, and nobody has emptied that */
  int       moved;      /* for lack of room it may have left the cache once it was on the prefix */
  int       crowded;    /* it may have left the cache for a newer one of which nobody was told that it is complete */
  int       displaced;  /* an older one that waits for its flush, or is in flight, may have its place in the cache */
  int       left;       /* a run without flushes has ended, and left it in the cache on purpose */
  int       unnoted;    /* the flush file may not have it: a scavenge need not know of it */
  int       told;       /* the user was warned when an older one was offered */
  int       on_prefix;  /* somebody was told that it is on the prefix, */
  int       unflushed;  /* its flush may be the one that has failed, as SCR_Wait has said: that is told once */
  int       picked;     /* the user has chosen it once: no window takes it */
  int       outgrown;   /* but by the window of a run it need not be: 2; by what faults may make of that: 1 */
  int       rejected;   /* the program could not use it, or was told not to; never offered again in this job */
  int       purged;     /* others have removed a file of it from the prefix, */
  int       rotten;     /* or one has a wrong byte there */
  int       away;       /* the prefix was away for a while when it was written */
  int       spared;     /* the cache had it when a run was to do without that */
  int       gone;       /* the user does not want it any more: 1: it may be offered yet, 2: never */
} dataset;

/* The machine and the program of a seed, or of one lifetime of it, as fate wants them. */
typedef struct {
  int         ranks, ranks_usual, nodes, lifetimes, size_most, files_most, layout;
  int         node_of[RANKS_MOST];
  int         members;                    /* ranks 0 to members - 1 have the library; the others compute alone */
  int         copies;                     /* somebody keeps a copy of .scr, and puts it back */
  int         time_limit;                 /* the allocation ends, so many seconds after it could begin; 0: never */
  int         theme;                      /* THEME_* */
  int         beside;                     /* what these do: BESIDE_* */
  int         last;                       /* this lifetime finds all nodes empty, and nothing goes wrong in it */
  int         steps;                      /* checkpoints of this lifetime; -1: as it is drawn */
  int         hit;                        /* somebody is killed in it */
  int         flush;                      /* SCR_FLUSH */
  int         async, daemon, bypass, crc; /* crc: corrupt bytes in the cache are noticed */
  int         failures, set_size;
  int         prefix_size, cache_size, keep, fsync;
  int         cache_used;  /* checkpoints of the cache may be offered: neither SCR_DISTRIBUTE=0 nor a purge */
  int         prefix_used; /* and of the prefix */
  int         node_sets;   /* no two ranks of a redundancy set are on the same node */
  int         same_ranks;  /* but only those that as many ranks wrote */
  int         logs;        /* the ranks have logs: 1, and do without them in this lifetime: 2 */
  int         regions;     /* the elements of the array that the program protects; 0: it has no regions */
  int         recovers;    /* and SCR_Recover reads them: no dataset has files */
  int         signals;     /* SIGUSR1 asks for a checkpoint: 1, for its flush: 2, and for the end of the run: 3 */
  int         wished;      /* the dataset that the user wants, by SCR_CURRENT; 0: whatever is newest */
  int         fresh;       /* the user begins anew: SCR_FRESH_START */
  int         purge;       /* and with an empty prefix: SCR_PREFIX_PURGE, which may have been served */
  const char* scheme;
} plan_of;
extern plan_of plan;

/* The ranks behind the members compute alone; or they have the library too, on a node of their own or on all nodes. */
enum { BESIDE_NONE, BESIDE_APART, BESIDE_SHARED, BESIDES };

/* What a seed may have beside the draws: flushes by daemons; two levels of the cache; the library in a part of ranks;
** machines that come back with what they had, when others have written the same names. */
enum { THEME_DAEMONS = 1, THEME_LEVELS, THEME_PART, THEME_TWINS, THEMES = 7 };

/* What is true of all lifetimes of a seed, and what the present one has seen. */
typedef struct {
  dataset set[DATASETS_MOST + 1];
  int     sets;
  int     damaged[NODES_MOST], damages; /* nodes that lost their cache since the newest checkpoint was whole */
  int     chosen;                       /* the user has chosen this dataset, and nothing newer is complete, */
  int     chosen_at;                    /* when the ledger had so many */
  int     unserved;                     /* or had, but faults may have kept the index from knowing of newer ones */
  int     halts;                        /* a person has set a condition to halt; 2: one that holds at once */
  int     cuts, unsummed;               /* a node has lost power; or a run wrote without checksums, so that none must */
  int     unsealed;                     /* or flushed without them */
  int     windowed;                     /* a run had SCR_PREFIX_SIZE */
  int     notes_lost;                   /* the flush file was damaged: what was in caches may be anything */
  int     rotten;                       /* files of caches were: what a filemap listed may be anything */
  int     refused;                      /* the last lifetime could load nothing, as it may be */
  int     returned;                     /* machines have come back, with what they had, since the last SCR_Init */
  int     twins;                        /* or ever */
  /* of each id, as audits have found; 0: not seen */
  long long created[IDS_MOST]; /* when the dataset was made, by the index, */
  int       number[IDS_MOST];  /* and its number, by the bytes in the caches */
  int       remnants;          /* a lifetime was killed in SCR_Init, or could not list files, or had no room to */
  /* by the clocks of the nodes, in microseconds */
  long long seen; /* all that was written before has earlier times; the clocks may have gone back since */
  /* of this lifetime */
  long long begun;                  /* by these clocks, or seen, if that is later */
  int       subject[SUBJECTS_MOST]; /* of what the user asks for: a dataset, -1: none, 0: not decided */
  int       offered;                /* the dataset that was loaded first, 0: none */
  int       log_lost;           /* a restart has failed as it misses a part of a log: the user leaves that as it is */
  int       unread;             /* 1: the program has refused a checkpoint without files, which says not which it is */
  int       loaded[TRIES_MOST]; /* at each try of this lifetime to restart: the dataset, by its bytes */
  int       saved;              /* checkpoints that were acknowledged in this lifetime */
  int       signalled;          /* SIGUSR1 has come, maybe in a call of the library; */
  int       wish, halt;         /* surely before one: a checkpoint is due, or the end of the run after it */
  int       lost_file;          /* a file of the cache was lost in it */
  int       daemon_struck;      /* a daemon was killed in it */
  int       lock_held;          /* somebody held a lock of the prefix when it began: what that guards is not swept */
  int       inits;              /* ranks on which SCR_Init has succeeded, */
  int       finals;             /* SCR_Finalize, */
  int       code;               /* the first error of SCR_Init or SCR_Have_restart, */
  char      text[600];          /* and what it says */
  int       asked;              /* SCR_Have_restart was answered on a rank */
  int       have;               /* the answer */
  int       warnings;           /* lines printed before the answer */
  int       newest_before;      /* newest dataset that was acknowledged before this lifetime, */
  int       work;               /* the same, and those that were rejected, */
  int       must;               /* and the one that must be offered, or a newer one */
  struct {
    const char* api;
    int         code;
  } call[CALLS_MOST]; /* the collective calls in order, with their results on the first rank that returned */
} ledger;
extern ledger truth;

extern struct totals {
  uint64_t seeds, lifetimes, killed, offered, lost, cuts, returned, checkpoints, outputs, calls, faults, fresh,
      commands, scavenges, scavenged, saved;
} totals;

/* ---- truth.c ---- */

void truth_begin_seed(void);
void truth_begin_life(void);

/* Rank P has returned from the collective call API with CODE: the same as the other ranks. */
void truth_code(process* p, int* count, const char* api, int code);

dataset* truth_find(const char* name); /* the newest of that name; NULL if there is none */

/* Another dataset has the name of D, and may have taken its place on the prefix. */
int      truth_has_twin(const dataset* d);
dataset* truth_start(const char* name, int step, int checkpoint, int output);
void     truth_on_prefix(dataset* d);
void     truth_overwritten(const dataset* d); /* D may have taken the files of older ones on the prefix */
/* Others have removed a file of that name from the prefix; ROTS: or it has a wrong byte there. */
void truth_purged(const dataset* d, int rots);
void truth_unindexed(void);        /* a new index is made from what is there: nobody knows what was decided */
void truth_restored(void);         /* the library's directory on the prefix is an older one: only bytes are sure */
void truth_moot(const dataset* d); /* D is refused or deleted: older ones may be missing without a word */

/* The user is about to choose D, to drop or to delete it; then the call has succeeded on a rank. */
void truth_choosing(const dataset* d);
void truth_chosen(const dataset* d, int flushed); /* flushed: it is on the prefix now */
void truth_deleting(const dataset* d);

/* NODE has lost something since the caches were whole; now it has. */
int  truth_is_damaged(int node);
void truth_damage(int node);

/* A file of D, of node NODE, is gone from the cache. */
void truth_lose_file(int node);

/* A machine is back with what it had before: what was refused since may be there, and only the cache knew of that. */
void truth_returned(void);

void truth_acked(dataset* d, int sure_on_prefix);

/* The run begins to end normally: without flushes, it leaves its checkpoints in the cache, and may have noted that. */
void truth_finalizes(void);

/* It has ended; SURE: SCR_Finalize has said so, and the newest checkpoint is on the prefix. */
void truth_finalized(int sure);

int truth_must(void); /* the dataset that must be offered now, or a newer one; 0: none */

/* P is offered the checkpoint NAME; in try TRY to restart, its bytes say that it is dataset NUMBER. */
void truth_offer(process* p, const char* name);
void truth_loaded(process* p, int try, const char* name, int number);

/* The checks after a lifetime; COMPLETE: all ranks have come to their end. */
void truth_after_life(int complete);

/* A command has said that dataset NUMBER of the ledger is on the prefix. */
void truth_scavenged(int number);

/* The newest dataset that a scavenge must be able to save, with DOWN nodes that do not answer; 0: none. */
int truth_savable(int down);

/* ---- audit.c ---- */

void truth_audit(int clean);       /* clean: the last run has ended well */
int  truth_is_indexed(int number); /* after an audit: the index has that dataset, whose bytes were compared */
int  truth_saved(int id); /* after an audit: the number of the dataset ID of the index, 0: not known; -1: none */

/* ---- program.c ---- */

void* program_run(void* arg);

/*
** The N bytes at P are file PATH, below the prefix or the directory of the dataset, of WRITER in a dataset NAME.
** Returns its number; 0 if they are not; -1 if they do not tell.
*/
int program_check(const char* name, int writer, const char* path, const unsigned char* p, size_t n);
int program_files(const dataset* d); /* of all ranks */

/* Read all of FILE, at most N bytes, to P; -1 if that fails. */
int program_load(const char* file, unsigned char* p, int n);

/* ---- logs.c: a log of each rank, which the program tracks ---- */

void logs_begin_seed(void);
void logs_track(process* p);
void logs_empty(process* p);                    /* the run starts from the beginning */
void logs_append(process* p, const dataset* d); /* before P writes its files of D */
void logs_restoring(const char* name);          /* it is about to restart from NAME: newer datasets lose their logs */
int  logs_may_be_lost(const char* name);        /* a restart from NAME may miss a part of a log */
void logs_restored(process* p, const dataset* d);

/* ---- regions.c: an array and other memory, which the program protects ---- */

/* What datasets of STEP have: files alone, regions too, or regions alone. */
enum { REGIONS_NONE, REGIONS_TOO, REGIONS_ALONE };
int regions_of(int step);

/*
** What P protects, as dataset NUMBER has it, or with 0 as it is before a restart from one of WRITERS ranks; until
** regions_unprotect.
*/
typedef struct regions regions;
regions*               regions_protect(process* p, int number, int writers);
void                   regions_unprotect(process* p, regions* r);

int  regions_number(const regions* r);                                    /* the dataset that the array tells */
void regions_check(const process* p, const regions* r, const dataset* d); /* R must be as in D */
int  regions_find(int writer, const unsigned char* p, size_t n);          /* as program_check */

/* SCR_Finalize has succeeded on P: nothing of the library is left there. */
void program_ends(process* p);

/* ---- beside.c: the second application, if the plan has one ---- */

void beside_begin_seed(void);
void beside_begin_life(void); /* after world_begin */
void beside_after_life(void);
void beside_damaged(void); /* a node has lost its cache, or may have */
void beside_run(process* p);
int  beside_ended(void); /* all of its ranks have come to their end */

#endif
