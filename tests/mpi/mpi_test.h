/*
** mpi_test.h - what all MPI test cases share: a frame, settings, datasets of known bytes, nodes that get lost, faults.
**
** One program holds all cases.  A case is a function whose name is the sentence that must hold; a table in each file
** says on how many ranks it runs.  All ranks run it, and each of them may fail it.  The files see scr.h and this
** header alone: library.c is the library, with what tests replace in it, and private.c, at its end, has the cases
** that need privates.  See mpi_test.c for how the program is called, and fault.h for calls of the system that fail.
**
** Most cases begin with begin(), which gives them empty directories and default parameters, and go on with runs:
** SCR_Init, put or get, SCR_Finalize.  Whatever fails is counted by CHECK; the case goes on.
*/
#ifndef MPI_TEST_H
#define MPI_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <mpi.h>

#include "../../scr.h"
#include "../unit/fault.h"

/* ---- the frame ------------------------------------------------------------------------------------------------- */

typedef struct {
  const char* name;
  void (*run)(void);
  const char* on;   /* numbers of ranks, behind | those of full alone; none: only when it is named in full */
  const char* also; /* as many in the long mode */
} test_case;

/* clang-format off */
#define CASE(sentence, ...) {#sentence, sentence, __VA_ARGS__}
#define CASES_END {NULL, NULL, NULL, NULL}
/* clang-format on */

extern int rank, ranks;      /* of MPI_COMM_WORLD */
extern int failures;         /* of this case on this rank */
extern int test_full;        /* the mode of check-full, or the long one */
extern int test_long;        /* the long mode */
extern int rc_before_mpi;    /* of SCR_Init before MPI_Init */
extern int calls_before_mpi; /* how many of the others were not refused then */

/* Count a failure at FILE:LINE, and print it with WHAT does not hold, the message, and what `during` said. */
void test_failed(const char* file, int line, const char* what, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/* A failure unless COND holds; the rest is a printf format and its arguments. */
#define CHECK(cond, ...) ((cond) ? (void)0 : test_failed(__FILE__, __LINE__, #cond, __VA_ARGS__))

/* The case cannot be tried here. */
void skip(const char* why);

/* What is tried now, for the messages of all failures until the next call or the end of the case. */
void during(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* The one of three numbers that is for the mode: how far apart calls are that fail, how much is written. */
int pace(int in_check, int in_full, int in_long);

/*
** A number below STEP, where a loop begins that takes each STEP-th point: as TEST_TURN says, which CI sets anew for
** each commit, so that in time all points are tried; without it 0.
*/
int turn(int step);

/* From now on the case has TEST_LIMIT seconds until SIGALRM ends the program; long cases call it again and again. */
void test_alive(void);

/* A number below N, alike on every rank when all have called it as often since each case began. */
unsigned roll(unsigned n);
void     roll_from(unsigned long long seed);

/* ---- calls of the library -------------------------------------------------------------------------------------- */

/* That RC is CODE, and its message says WORD. */
void check_code(const char* file, int line, const char* call, int rc, int code, const char* word);

/* That a collective call gave RC on every rank; returns it. */
int same_code_at(const char* file, int line, int rc);

#define CODE(call, code, word)  check_code(__FILE__, __LINE__, #call, call, code, word)
#define OK(call)                CODE(call, SCR_SUCCESS, "")
#define same_code(rc)           same_code_at(__FILE__, __LINE__, rc)
#define ALIKE(call, code, word) CODE(same_code(call), code, word) /* CODE of a collective call */

/* Set a parameter; begin() unsets it. */
void set(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* Keep what this rank says on stderr from now on; heard() ends that, and gives it as TEXT. */
void hear(void);
void heard(char* text, size_t size);

/*
** Keep the command of scr_index that the message of the last error prints; carry_out has rank 0 run it.  A run of some
** of the ranks can do the first, but not the second.
*/
void keep_remedy(void);
void carry_out(void);

/* A run of the first N ranks, SOME, on so many NODES, which call RUN between SCR_Init and SCR_Finalize. */
extern int some;
void       run_of_nodes(int n, int nodes, void (*run)(void));

/* SCR_Init, and what it says on stderr of this rank. */
int init_says(char* text, size_t size);

int times(const char* text, const char* word); /* how often TEXT has WORD */

/* Runs are of job ID from now on until begin(); NULL: there is no batch system, so each run is a job of its own. */
void as_job(const char* id);

/* ---- directories of a case ------------------------------------------------------------------------------------- */

extern char case_dir[600];    /* holds prefix, cntl and cache */
extern char case_prefix[700]; /* SCR_PREFIX: the directory prefix, unless a case says something else */

/*
** Parameters as they are by default, and new directories that every rank can use on return; those of the begin()
** before go.  Each rank is a node of its own, but 5 ranks are 3 nodes, and a single rank needs none.
*/
void begin(void);

/* The same in the directory NAME, as it was left, so that a program that ended can be followed up. */
void begin_in(const char* name);

/* Run a shell command on rank 0, in case_dir; all wait for it, and it must succeed. */
void shell(const char* format, ...) __attribute__((format(printf, 1, 2)));

int      there(const char* rel);                        /* 1 when case_dir/REL exists */
int      count_in(const char* rel, const char* suffix); /* names below case_dir/REL that end in SUFFIX */
unsigned cached_in(const char* rel);                    /* ids of the datasets below case_dir/REL, as bits */
int      index_marks(const char* mark);                 /* datasets of the index that have MARK */
void     lose_all_nodes(void);                          /* nothing but the prefix is left */
#define ID(id) (1u << (id))                             /* of cached_in */

/* ---- files ----------------------------------------------------------------------------------------------------- */

void  make_dir(const char* path);
char* read_file(const char* path, long* n); /* NULL: it cannot be read; else ends in NUL, to be freed */
void  write_file(const char* path, const void* p, size_t n);
int   write_bytes(const char* path, unsigned seed, size_t n); /* N bytes of SEED; 1 when that worked */
int   same_bytes(const char* path, unsigned seed, size_t n);  /* 1 when it holds just these */
void  flip_bit(const char* path, unsigned at);

/* Call VISIT with the path and the last name of all that lies below DIR. */
void walk(const char* dir, void (*visit)(const char* path, const char* name, void* arg), void* arg);

/* PATH becomes the N-th file with bytes in it below DIR whose path holds PART; how many there are. */
int find_file(const char* dir, const char* part, int n, char* path);

void remove_tree(const char* dir);
void copy_tree(const char* from, const char* to);
int  tree_differs(const char* from, const char* to); /* files below FROM that are not alike below TO */

/* ---- datasets -------------------------------------------------------------------------------------------------- */

typedef struct {
  const char* what;   /* in messages */
  int (*files)(void); /* of this rank */
  size_t (*size)(int i);
  const char* form; /* of a name below the prefix, with rank and number; NULL: <dataset>/rank_<rank>_<number> */
} shape;

int      one_file(void);
int      two_files(void);
size_t   size_of(int i, size_t bytes); /* unequal by rank and number; 0 when BYTES is 0 */
void     path_of(const char* name, const shape* s, int i, char* path);
void     name_of(const char* name, int i, char* path); /* of the usual form */
unsigned seed_of(const char* name, int who, int i);

/* Start dataset NAME and write its files of shape S; the code of SCR_Start_output. */
int open_shape(const char* name, int flags, const shape* s);

/* The same and SCR_Complete_output, in which this rank says VALID; the code of these. */
int put_shape(const char* name, int flags, const shape* s, int valid);

/* 1 when this rank reads from dataset NAME what put_shape wrote. */
int holds_shape(const char* name, const shape* s);

/* That the prefix has the files of dataset NAME. */
void on_prefix_shape(const char* name, const shape* s);

/* That checkpoint NAME is offered, restarted from and whole; NULL: that none is offered. */
void get_shape(const char* name, const shape* s);

/* That checkpoint NAME is offered, and that the application may reject it. */
void rejects(const char* name);

/*
** That no checkpoint is offered, and none can be started, because complete ones exist: the message has each of the
** NAMES, which are separated by blanks.
*/
void refused(const char* names);

/* The same for FILES files of some BYTES each, and for checkpoints that are complete. */
int  put(const char* name, int files, size_t bytes);
int  put_valid(const char* name, int flags, int files, size_t bytes, int valid);
int  holds(const char* name, int files, size_t bytes);
void on_prefix(const char* name, int files, size_t bytes);
void get(const char* name, int files, size_t bytes);

/* A whole run of all ranks that puts NAME, or gets it. */
void run_puts(const char* name, int files, size_t bytes);
void run_puts_four(void); /* ck1 to ck4, of 1000 to 4000 bytes */
void run_gets(const char* name, int files, size_t bytes);
void run_gets_shape(const char* name, const shape* s);

/* The same when all nodes are lost. */
void run_fetches(const char* name, int files, size_t bytes);

/* A bit of the cached checkpoint NAME flips, in file 0 of rank 0: as rank 0 does it, and as all ranks wait for it. */
void flip_cached(const char* name);
void damage_cached(const char* name);

/*
** The run dies here, in place of SCR_Finalize: nothing of it is left but its files.  For a run that dies at the N-th
** file call of what comes next, fault_at(FAULT_DEAD, FAULT_ALL, EIO, N) first, and then this.
*/
void run_dies(void);

/* ---- nodes that get lost --------------------------------------------------------------------------------------- */

typedef struct {
  const char* type; /* SCR_COPY_TYPE */
  int         k;    /* SCR_SET_FAILURES */
} scheme;

extern char node_dir[1200];  /* control and cache of the node v<rank> */
extern char node_copy[1200]; /* a copy of it */

/* begin() for checkpoints under scheme C whose nodes get lost: one node for each rank, and small messages. */
void begin_nodes(const scheme* c);

/* A run that writes checkpoint `ck` of shape S, and save_node; and this after begin_nodes. */
void put_ck(const shape* s);
void prepare(const scheme* c, const shape* s);

void save_node(void); /* make node_copy */
void put_back(void);  /* make this node what node_copy is; local */

typedef enum { NODE, REDUNDANCY, DATA, LOSSES } loss;

/* This node is lost, or its redundancy file, or a bit of a file of checkpoint `ck`; local. */
void lose(loss what);

/*
** A run in which `ck` of shape S is WHOLE, and all its files in the cache, redundancy files too, are as save_node found
** them.  Or, when not WHOLE, a run in which it is refused, with an error unless NOTHING_LEFT tells of it.
*/
void run_restarts(const shape* s, int whole, int nothing_left);

/* ---- the library's own (library.c) ----------------------------------------------------------------------------- */

/* How many keys KEY the hash file PATH has, -1 when it cannot be read; BELOW is what stands below the first of them. */
int record_find(const char* path, const char* key, char* below);

/* Remove all keys KEY from the hash file PATH; unless it is NULL, VALUE then stands below KEY at the top. */
void record_change(const char* path, const char* key, const char* value);
/* VALUE alone stands below each KEY of the hash file PATH from now on; how many there were. */
int record_replace(const char* path, const char* key, const char* value);
/* Add KEYS to the hash file PATH: one below the other, with blanks between them, the last one %s for VALUE. */
void record_put(const char* path, const char* keys, const char* value);
/* Take each KEY, and what is below it, out of the hash file PATH; how many there were. */
int record_strip(const char* path, const char* key);

/*
** What the records on disk say of DATASET, after begin_nodes: `filemaps | flush file | index`, such as "whole | CACHE
** PFS | COMPLETE CURRENT"; "-" where it is not known.  Filemaps that are not alike say "3 writing 1 whole".
*/
#define RECORDS_MAX 400
void records_say(const char* dataset, char* text);

void alloc_fails_after(long n); /* allocations that succeed; -1: all */
int  alloc_failed(void);        /* 1 when one failed since then */

extern const int library_threads; /* that copy files of a rank, at most */

void removals_end(void); /* a barrier; what is deleted behind the application is gone on all ranks then */

/* Mark what this rank has of dataset ID in the cache as one that is being deleted, and write that to the filemap. */
void mark_as_leaving(int id);

/* SCR_LOOK_SECONDS of the library; begin() makes it 0, so that cases need not wait. */
extern double test_look_seconds;

/* What the library calls for statvfs. */
extern int (*test_statvfs)(const char* path, struct statvfs* fs);

#endif
