/*
** scr.h - Scalable Checkpoint / Restart for MPI programs, an embeddable library of one C file.
**
** WHAT IT DOES
**
**   A large MPI job that checkpoints to the parallel file system spends much time waiting for it; a job that does not
**   checkpoint loses its work when a node fails.  This library keeps checkpoints in storage of the compute nodes (the
**   cache), adds redundancy data from which it can rebuild the files of lost nodes, and copies only some checkpoints to
**   the parallel file system.  After a failure the job restarts from the cache, on the remaining nodes or on spare
**   ones, or else from the newest checkpoint on the parallel file system.
**
** HOW TO BUILD IT
**
**   Copy scr.h and scr_impl.c next to the application:    mpicc app.c scr_impl.c -lz -lpthread
**
** TERMS
**
**   dataset         the files that all ranks write between a Start and a Complete call; a rank may write none or many
**   checkpoint      a dataset to restart from;  output: a dataset to keep.  A dataset can be both.
**   store           a node-local directory for datasets;  cache: the datasets in all stores, each in
**                   <store>/<user>/scr.<job>/scr.dataset.<id>
**   prefix          the directory of the job on the parallel file system: SCR_PREFIX, or else the working directory
**   flush           copy a dataset from the cache to the prefix;  fetch: copy one back
**   failure group   ranks that fail together, by default those of a node
**   redundancy set  ranks from different failure groups that protect each other, by one of these schemes:
**                     SINGLE   no redundancy data; files survive the death of processes, but not of nodes
**                     PARTNER  each member keeps a copy for its neighbour; members may be lost that are not neighbours
**                     XOR      parity data; one member may be lost
**                     RS       Reed-Solomon parity data; SCR_SET_FAILURES members may be lost
**
** A COMPLETE PROGRAM
**
**   #include <mpi.h>
**   #include <stdio.h>
**   #include <stdlib.h>
**   #include "scr.h"
**
**   // On an error, end.  Rank 0 has printed its text, SCR_Last_error().  All ranks have the same code and end
**   // together: MPI_Abort could cut that text off.  SCR_ERR_DISABLED (SCR_ENABLE=0) is not an error.
**   static void must(int rc)
**   {
**     if (rc == SCR_SUCCESS || rc == SCR_ERR_DISABLED) return;
**     if (rc == SCR_ERR_MPI) MPI_Abort(MPI_COMM_WORLD, 1);           // MPI_Finalize might wait for ever
**     MPI_Finalize();
**     exit(1);
**   }
**
**   int main(int argc, char** argv)
**   {
**     int   rank, rc, ok, step = 0, have = 0, need = 0;
**     char  name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
**     FILE* f;
**
**     MPI_Init(&argc, &argv);
**     MPI_Comm_rank(MPI_COMM_WORLD, &rank);
**     must(SCR_Init());
**
**     for (;;) {
**       must(SCR_Have_restart(&have, name));                         // fails if old work exists, but cannot be loaded
**       if (!have) break;
**       must(SCR_Start_restart(name));
**       snprintf(path, sizeof path, "%.900s/rank_%d", name, rank);
**       f = SCR_Route_file(path, file) == SCR_SUCCESS ? fopen(file, "r") : NULL; // file: where it is now
**       ok = f != NULL && fscanf(f, "%d", &step) == 1;
**       if (f) fclose(f);
**       rc = SCR_Complete_restart(ok);
**       if (rc == SCR_SUCCESS) break;
**       if (rc != SCR_ERR_INVALID) must(rc);
**       step = 0;                                                    // a rank could not read: try an older one
**     }
**     if (have && rank == 0) printf("restarted from %s\n", name);
**     if (have) step++;
**     for (; step < 100; step++) {
**       must(SCR_Need_checkpoint(&need));
**       snprintf(name, sizeof name, "ckpt.%d", step);
**       if (need && SCR_Start_output(name, SCR_FLAG_CHECKPOINT) == SCR_SUCCESS) {
**         snprintf(path, sizeof path, "%.900s/rank_%d", name, rank);
**         f = SCR_Route_file(path, file) == SCR_SUCCESS ? fopen(file, "w") : NULL; // file: where to write
**         ok = f != NULL && fprintf(f, "%d\n", step) > 0;
**         if (f && fclose(f) != 0) ok = 0;
**         SCR_Complete_output(ok);                                   // if it fails, the older one is still there
**       }
**     }
**     must(SCR_Finalize());
**     return MPI_Finalize() != MPI_SUCCESS;
**   }
**
** WHAT TO KNOW
**
**   - All calls are collective over the communicator of SCR_Init_comm (for SCR_Init, MPI_COMM_WORLD) and return the
**     same code on every rank, except SCR_Route_file, SCR_Restart_ranks, SCR_Protect and its kin, SCR_Unprotect,
**     SCR_Region_size, SCR_Track, SCR_Config, SCR_Configf, SCR_Get_version, SCR_Check_version, SCR_Strerror and
**     SCR_Last_error, which are not collective.
**   - A restart by as many ranks as wrote the checkpoint gives each rank its own files.  With another number of ranks,
**     each asks for the files that it needs; see SCR_Restart_ranks.
**   - Name files as they would be named on the parallel file system, below the prefix.  Open exactly the path that
**     SCR_Route_file returns, and only between the Start and the Complete call.
**   - Two ranks must not register the same file, unless it is written on the prefix (SCR_CACHE_BYPASS=1).
**   - The library never calls abort or MPI_Abort.  It calls exit only where SCR_HALT_EXIT allows it, and if it runs on
**     all of MPI_COMM_WORLD.
**   - A call in the wrong state returns SCR_ERR_STATE and changes nothing; so does one after MPI_Finalize.
**   - Calls are not thread-safe: make one at a time.  If different threads make them, MPI needs at least
**     MPI_THREAD_SERIALIZED.  A call takes up to 96 KiB of the stack of its thread, and MPI more: MPICH 130 KiB.
**   - A parameter has the first value found in: the environment, the user file (SCR_CONF_FILE, or .scrconf in the
**     prefix), SCR_Config, the system file, the default.  `scr help params` prints them.
**   - Every call that returns a code returns SCR_SUCCESS or one of SCR_ERRORS, and these wherever they can occur:
**     STATE, MEM, and for a collective call MPI.  The contracts name the others.  After STATE nothing has changed,
**     unless the contract says otherwise; after MEM holds what holds after the other errors of the call; after MPI
**     the communicators cannot be trusted any more: end the program.
**   - A contract names the parameters that change its call.  SCR_ENABLE, SCR_DEBUG and those of the log change all.
**   - A call copies the names and other strings that it is given.  The variables and buffers that it fills are the
**     program's own.
**   - With SCR_ENABLE=0 all calls but SCR_Init return SCR_SUCCESS: SCR_Need_checkpoint and SCR_Should_exit apply
**     their rules, SCR_Route_file copies the name, and the others do nothing.
*/
#ifndef SCR_H
#define SCR_H

#include <stddef.h>

#ifndef SCR_SERIAL
#ifdef __cplusplus
extern "C++" { /* some have templates in it, and some programs include this file within extern "C" */
#endif
#include <mpi.h>
#ifdef __cplusplus
}
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------------------------------------------- */

#define SCR_MAJOR_VERSION  "4"
#define SCR_MINOR_VERSION  "0"
#define SCR_PATCH_VERSION  "0"
#define SCR_VERSION        "v4.0.0"

#define SCR_VERSION_NUMBER 40000 /* for #if: 10000 * major + 100 * minor + patch */

/* ---- constants ----------------------------------------------------------------------------------------------- */

/* Size in bytes of buffers for the name of a file or dataset, including the final NUL. */
#define SCR_MAX_FILENAME 1024

/* Flags of SCR_Start_output; a bit mask. */
#define SCR_FLAG_NONE       0
#define SCR_FLAG_CHECKPOINT 1                /* a restart can use it */
#define SCR_FLAG_OUTPUT     2                /* always flushed to the prefix */
#define SCR_FLAG_LINE(n)    (((n) + 1) << 8) /* kept by the line CKPT=n, n in 0..254, whatever its INTERVAL */

/* ---- error codes: X(name, value, text) ----------------------------------------------------------------------- */

#define SCR_SUCCESS 0

#define SCR_ERRORS(X)                                                                                                  \
  X(SCR_ERR_DISABLED, 1, "the library is disabled (SCR_ENABLE=0)")                                                     \
  X(SCR_ERR_STATE, 2, "call in the wrong state")                                                                       \
  X(SCR_ERR_ARG, 3, "bad argument")                                                                                    \
  X(SCR_ERR_PARAM, 4, "bad parameter value")                                                                           \
  X(SCR_ERR_DIFFER, 5, "the ranks disagree")                                                                           \
  X(SCR_ERR_PATH, 6, "path too long, or not below the prefix directory")                                               \
  X(SCR_ERR_MEM, 7, "out of memory")                                                                                   \
  X(SCR_ERR_IO, 8, "input or output failed")                                                                           \
  X(SCR_ERR_SPACE, 9, "no space left")                                                                                 \
  X(SCR_ERR_FORMAT, 10, "file is corrupt, truncated or of another format")                                             \
  X(SCR_ERR_CRC, 11, "checksum mismatch")                                                                              \
  X(SCR_ERR_MISSING, 12, "file is missing or has the wrong size")                                                      \
  X(SCR_ERR_INVALID, 13, "the dataset is not valid on some rank")                                                      \
  X(SCR_ERR_LOST, 14, "more was lost than the redundancy scheme can rebuild")                                          \
  X(SCR_ERR_NO_RESTART, 15, "checkpoints exist, but none could be loaded")                                             \
  X(SCR_ERR_BUSY, 16, "in use by another run")                                                                         \
  X(SCR_ERR_UNSAFE, 17, "directory or file is not safe to use")                                                        \
  X(SCR_ERR_MPI, 18, "an MPI call failed")                                                                             \
  X(SCR_ERR_NOT_FOUND, 19, "no such dataset")

#define SCR_ERRORS_ENUM(name, value, text) name = value,
enum { SCR_ERRORS(SCR_ERRORS_ENUM) SCR_ERR_LIMIT };
#undef SCR_ERRORS_ENUM

/*
** The linkage of the public calls.  With gcc and clang, scr_impl.c hides them: only the program or shared library
** that contains it can call them, so that several copies in a process stay apart.  A shared library that offers the
** calls to others compiles scr_impl.c with -DSCR_API=extern, or with -fvisibility=hidden as
** -DSCR_API='__attribute__((visibility("default")))'.
*/
#ifndef SCR_API
#define SCR_API extern
#endif

/* Lets the compiler check arguments against a format string. */
#if defined(__GNUC__)
#define SCR_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define SCR_FORMAT(f, a)
#endif

/* ---- start and end ------------------------------------------------------------------------------------------- */

/*
** Start the library.
**
** SCR_Init runs over MPI_COMM_WORLD, SCR_Init_comm over COMM, of which it keeps a duplicate.  The call reads the
** parameters, locks the prefix and the control directory, rebuilds the datasets in the cache, and loads the
** checkpoint to restart from; it fetches a checkpoint from the prefix if that is newer than any in the cache.  A
** program that runs several solvers, or that checkpoints only a part of its ranks, gives each part a communicator
** and an SCR_PREFIX of its own.  Collective over the communicator; MPI must be initialized.
**
** Errors: DISABLED: SCR_ENABLE is 0; that is no failure.  STATE: MPI is not initialized, or a run is going on.  ARG:
** an intercommunicator, or a program that was compiled with the scr.h of another version (SCR_Check_version).  PARAM:
** a bad value.  DIFFER: the ranks have other parameters.  BUSY: another run, or another copy of the library, uses the
** prefix or the cache.  UNSAFE: others could change the directories.  IO, SPACE, PATH, FORMAT, CRC: a directory or a
** record cannot be used.  After an error, but for DISABLED, the library is as if it had not been called.  A
** checkpoint that cannot be loaded is no error here: SCR_Have_restart tells.
**
** Changed by all parameters; with SCR_HALT_EXIT=1 it calls exit if a halt condition holds.
*/
SCR_API int SCR_Init(void);
#ifndef SCR_SERIAL
SCR_API int SCR_Init_comm(MPI_Comm comm);
#endif

/*
** Stop the library.
**
** Waits for all flushes, flushes the newest checkpoint unless SCR_FLUSH is 0 or it is on the prefix already, tries
** again what was due and has failed, writes the reason SCR_FINALIZE_CALLED, or the one that SCR_Should_exit has told,
** to the halt file, and frees everything; SCR_Init may be called again then.  Call it before MPI_Finalize, which
** otherwise does the same, with a warning, but for the reason: the run may have ended because of an error.  A shared
** library that contains this one must call SCR_Finalize before it is unloaded.  Collective.
**
** Errors: STATE: a dataset or a restart is not completed; the run goes on.  Any other is that of a flush: the library
** is stopped all the same, and the reason is written.  The prefix then has the older checkpoint and perhaps temporary
** files, and the newer one stays in the cache: the next run of the job on these nodes restarts from it, and
** scr_postrun or scr_scavenge copies it, if they come before the nodes are cleaned.  So a program returns another
** exit code then.
**
** Changed by SCR_FLUSH and, as each flush, by SCR_FLUSH_WIDTH, SCR_USE_CONTAINERS, SCR_CRC_ON_FLUSH, SCR_FSYNC and
** SCR_PREFIX_SIZE.
*/
SCR_API int SCR_Finalize(void);

/*
** Set or query a parameter.
**
** Parameters can be set only before SCR_Init, with the same strings on each rank; what the environment or the user
** file sets is stronger.  They hold for all runs of this process, also after SCR_Finalize, until they are unset.  Not
** collective.  SCR_Configf makes the string as printf does.
**
**   "KEY=VALUE"                    set            "KEY="          unset
**   "KEY=VALUE CKEY=CVALUE ..."    set a line with children, such as "CKPT=0 INTERVAL=1 TYPE=XOR"
**   "KEY"                          query: returns the value, or NULL if it is not set
**   "KEY=VALUE CKEY"               query a child of a line
**
** Returns a string that the caller frees, or NULL.  A call that sets a parameter returns NULL, and so does one that
** fails: only then SCR_Last_error has a message.  A string that cannot be understood also fails the next SCR_Init,
** with ARG; a value that is not possible fails it with PARAM.
**
** Changed by SCR_PREFIX and SCR_CONF_FILE: they say which user file a query reads.
*/
SCR_API const char* SCR_Config(const char* config);
SCR_API const char* SCR_Configf(const char* format, ...) SCR_FORMAT(1, 2);

/* ---- files --------------------------------------------------------------------------------------------------- */

/*
** Get the path at which to open the file NAME.
**
** FILE has SCR_MAX_FILENAME bytes, and may be NAME.  Not collective.
**
** Between Start_output and Complete_output: registers NAME as a file of this rank; FILE receives its path in the
** cache, whose directories exist on return.  NAME is below the prefix: absolute, or relative to the working
** directory if that is inside the prefix, and else to the prefix.  With SCR_CACHE_BYPASS FILE is a temporary name on
** the prefix.  Where others may write to the directory of FILE, as in a store with MKDIR=0, the file itself exists
** too, empty: open it to replace it.
**
** Before and during a restart: FILE receives the path at which the file NAME of the loaded checkpoint can be read:
** in the cache or, if the checkpoint is read in place, on the prefix.  In place, each rank can ask for the files of
** all; in the cache a rank has only its own.  Any other file is an error during the restart; before and after, FILE
** receives the path of NAME if that can be read, unless another number of ranks wrote the checkpoint.  What FILE names
** must not be written to, and is there until the next Start_output.
**
** Errors: ARG: no NAME or FILE, or the library has added a file of this name, for regions or a tracked file.  PATH:
** NAME is too long, not below the prefix, or of the library.  MISSING: no such
** file in the loaded checkpoint.  FORMAT, CRC: the map of a checkpoint that is read in place is damaged.  IO, SPACE: a
** directory or file cannot be made.  UNSAFE: somebody else has put a file or link at the path.  FILE then receives "".
** In an open dataset, Complete_output then fails on all ranks with this error; in a restart the rank passes 0 to
** Complete_restart; after a Start_output that failed, the call returns that error until its Complete_output.
**
** Changed by SCR_CACHE_BYPASS, SCR_PRESERVE_DIRECTORIES and STORE lines.
*/
SCR_API int SCR_Route_file(const char* name, char* file);

/* ---- restart ------------------------------------------------------------------------------------------------- */

/*
** Ask whether there is a checkpoint to restart from.
**
** FLAG receives 1 if one is loaded, and NAME (SCR_MAX_FILENAME bytes, may be NULL) its name; else FLAG is 0.  After a
** rejected checkpoint this call loads the next one, which may take long.  After the first Start_output FLAG is 0.
** Collective.
**
** Errors: ARG: no FLAG.  NO_RESTART: complete checkpoints exist, but none can be loaded; the message says why.  A
** start from the beginning would then lose work, so Start_output returns this error too, until one is chosen or
** SCR_FRESH_START asks for a fresh start.  Nothing is deleted.  IO, SPACE: the record of a checkpoint that the user has
** chosen cannot be written; it is loaded, and the next call offers it.
**
** Changed by SCR_FETCH, SCR_CURRENT, SCR_FRESH_START, SCR_RESTART_RANKS, SCR_DISTRIBUTE, SCR_FETCH_BYPASS and
** SCR_GLOBAL_RESTART.
*/
SCR_API int SCR_Have_restart(int* flag, char* name);

/*
** Start to read the loaded checkpoint.
**
** NAME (SCR_MAX_FILENAME bytes, may be NULL) receives its name.  Files of SCR_Track are cut to the length that they
** had in this checkpoint.  Collective.
**
** Errors: STATE: no checkpoint is loaded.  MISSING, CRC: a tracked file is shorter than it was, or another one; FORMAT:
** what the checkpoint has of it is damaged; none is cut then, and the checkpoint stays loaded.  IO, SPACE: a file could
** not be cut.
**
** Changed by SCR_TRACK.
*/
SCR_API int SCR_Start_restart(char* name);

/*
** Ask how many ranks wrote the loaded checkpoint.
**
** RANKS receives the number.  Not collective.  If it is not that of this run, the checkpoint is read in place: each
** rank routes the files that it needs, whichever rank wrote them, by their paths.  A program that does not ask must
** route all files of such a checkpoint, each on some rank, or SCR_Complete_restart fails: it might not know that
** other ranks wrote more.
**
** Errors: ARG: no RANKS.  STATE: no checkpoint is loaded.
**
** Changed by SCR_RESTART_RANKS: with `same`, no such checkpoint is offered.
*/
SCR_API int SCR_Restart_ranks(int* ranks);

/*
** Finish reading.
**
** VALID is 0 if this rank could not read its files.  Collective.
**
** Errors: INVALID: a rank passed 0.  SCR_Have_restart then offers the next checkpoint: an older one and, after all
** others, those that other jobs rejected.  In this job the rejected one is not offered again, unless the user chooses
** it.  STATE, where the restart had begun: another number of ranks wrote the checkpoint, and the program has neither
** asked for it nor routed all files.  This run does not offer it again then, either: it offers the next older one, then
** none; other runs offer it.  No older one is offered if a file of it could not be taken out of a container, as where a
** node has no room.  After a SCR_Start_restart that failed for a tracked file: the same error; this run then offers
** none, unless the user chooses one.  A SCR_Route_file that has failed is no error of this call if its rank passes 1;
** its message is printed here.  After SCR_SUCCESS the program goes on from the checkpoint.
*/
SCR_API int SCR_Complete_restart(int valid);

/* ---- checkpoint and output ----------------------------------------------------------------------------------- */

/*
** Ask whether it is time for a checkpoint.
**
** FLAG receives 1 on all ranks if one of these is true, and else 0:
**
**   - no rule is set: SCR_CHECKPOINT_INTERVAL, _SECONDS, _OVERHEAD and _MTBF are all 0
**   - it is the SCR_CHECKPOINT_INTERVAL-th call, or a multiple of it
**   - SCR_CHECKPOINT_SECONDS have passed since the last checkpoint
**   - checkpoints take less than SCR_CHECKPOINT_OVERHEAD percent of the time
**   - the time of computation has passed that loses least with a failure every SCR_CHECKPOINT_MTBF seconds
**   - scr_checkpoint or a signal of SCR_SIGNALS has asked for one, until one that was started afterwards is complete
**   - a halt condition holds: time limit, halt file, number of checkpoints
**
** Asks nothing of the program: it may write a checkpoint at any time.  Call it where one could be written, at least
** every few seconds where requests are to be served.  It also completes flushes whose copies are done.  Collective.
**
** Errors: ARG: no FLAG.
**
** Changed by the parameters above, and for the halt conditions by SCR_HALT_SECONDS and SCR_END_TIME.
*/
SCR_API int SCR_Need_checkpoint(int* flag);

/*
** Start, and complete, a checkpoint without a name of its own.
**
** The same as SCR_Start_output(NULL, SCR_FLAG_CHECKPOINT) and SCR_Complete_output(VALID), with their errors and
** parameters; each belongs to the other one.  Collective.
*/
SCR_API int SCR_Start_checkpoint(void);
SCR_API int SCR_Complete_checkpoint(int valid);

/*
** Start a dataset.
**
** NAME is the same on every rank; NULL names it scr.dataset.<id>.  FLAGS is a mask of SCR_FLAG_*.  Older datasets may
** leave the cache for it, or be flushed first.  SCR_FLAG_LINE is for programs that know which of their checkpoints have
** to survive what; unless SCR_COPY_TYPE is FILE and has that line, it changes nothing.  Collective.
**
** Errors: ARG: a flag, or the name.  DIFFER: the ranks gave different arguments.  NO_RESTART: as SCR_Have_restart.
** SPACE: there is no room, and what is in the cache cannot be flushed.  IO, PATH, UNSAFE: a directory cannot be made.
** STATE also if another number of ranks wrote the loaded checkpoint, and the program has routed some of its files: it
** has to route all of them, or to ask SCR_Restart_ranks.  Nothing is started, and what was there is still there;
** Complete_output then does nothing but return the same code, and any other call may come in its place.
**
** Changed by SCR_CACHE_SIZE, SCR_CACHE_KEEP, SCR_CACHE_BYPASS and the CKPT lines.
*/
SCR_API int SCR_Start_output(const char* name, int flags);

/*
** Complete a dataset.
**
** VALID is 1 if this rank wrote all its files and closed them.  The call protects the dataset with redundancy data
** and, if a flush is due, flushes it, or begins to with SCR_FLUSH_ASYNC=1.  On SCR_SUCCESS the dataset is complete
** on every rank, in the cache or, with SCR_CACHE_BYPASS, on the prefix, and older ones may have been deleted to make
** room.  If a halt condition holds, and the program has not called SCR_Should_exit, a checkpoint is flushed, and the
** call ends the program by exit(0); while that flush fails, the program goes on.  Collective.
**
** Errors: INVALID: a rank passed 0, or this process still has a file open for writing, unless SCR_CHECK_OPEN is 0.
** MISSING: a file was routed, but not written.  ARG: two ranks routed one file, or the dataset has too many.  SPACE:
** there is no room for redundancy data.  IO: a file cannot be read or written.  A code of SCR_Route_file: that call
** has failed.  On an error the dataset is deleted, and older ones are unchanged.  There are two exceptions, of which
** SCR_Last_error tells: if only the flush fails, the dataset is complete and stays in the cache; and if the last step
** on the prefix fails, with SCR_CACHE_BYPASS, the next run finishes or removes it.
**
** Changed by SCR_COPY_TYPE, SCR_SET_SIZE, SCR_SET_FAILURES, SCR_GROUP, the CKPT lines, SCR_CACHE_SIZE, SCR_FLUSH and
** what changes a flush (SCR_Finalize), SCR_FLUSH_ASYNC, SCR_CHECK_OPEN, SCR_CRC_ON_COPY, SCR_HALT_SECONDS,
** SCR_HALT_ENABLED and SCR_HALT_EXIT.
*/
SCR_API int SCR_Complete_output(int valid);

/* ---- regions of memory ---------------------------------------------------------------------------------------- */

/*
** Programs without checkpoint files of their own name what they have in memory, and call SCR_Checkpoint and SCR_Recover
** in place of the calls above:
**
**   SCR_Protect("step", &step, 1, sizeof step);
**   SCR_Protect_array("u", u, sizeof *u, 2, global, offset, extent);
**   SCR_Recover(&have, NULL);                                      step and u are as in the newest checkpoint, if any
**   for (; step < 100; step++) {
**     SCR_Need_checkpoint(&need);
**     if (need) SCR_Checkpoint(NULL);
**   }
**
** Regions are a file of each rank, <dataset>/regions.<rank>.  -DSCR_WITHOUT_REGIONS leaves these calls out.
*/

/*
** Name COUNT elements of SIZE bytes at DATA, a region of this rank.
**
** NAME has 1 to 255 bytes.  Under a name that is in use the new description replaces the old one: the data may have
** moved or grown.  DATA must be valid whenever regions are written or read, until SCR_Unprotect or SCR_Finalize.  Each
** rank may have other regions.  As many ranks as wrote a checkpoint get their own back; see SCR_Recover for other
** numbers.  Not collective; after SCR_Init.
**
** Errors: ARG: the name, no DATA, or too many bytes.  The region then is what it was.
*/
SCR_API int SCR_Protect(const char* name, void* data, size_t count, size_t size);

/*
** Name this rank's block of an array that is distributed over all ranks.
**
** The array has NDIMS dimensions, 1 to 8, of GLOBAL elements, the last of which varies fastest (row-major).  An element
** has SIZE bytes.  The block begins at element OFFSET of the array and has EXTENT elements in each dimension, one
** behind the other at DATA.  All ranks name the array, with the same NDIMS, GLOBAL and SIZE; a rank that has nothing of
** it has a block with an EXTENT of 0.  The blocks of all ranks cover the array, and do not overlap when they are
** written; when they are read they may.  Any number of ranks can read an array, each any block.  Not collective; after
** SCR_Init.
**
** Errors: as for SCR_Protect.  ARG: the block is not within the array.
*/
SCR_API int SCR_Protect_array(const char* name, void* data, size_t size, int ndims, const size_t* global,
                              const size_t* offset, const size_t* extent);

/*
** The same for a block that is a part of a larger piece of memory, for example without the layers of neighbours.
**
** DATA is the address of its first element.  From an element to the next one in dimension d it is STRIDE[d] elements.
** Not collective; after SCR_Init.
**
** Errors: as for SCR_Protect_array.
*/
SCR_API int SCR_Protect_array_strided(const char* name, void* data, size_t size, int ndims, const size_t* global,
                                      const size_t* offset, const size_t* extent, const size_t* stride);

/*
** Forget the region or block NAME of this rank.
**
** Not collective.  Errors: ARG: there is none of this name.
*/
SCR_API int SCR_Unprotect(const char* name);

/*
** Write all regions as a checkpoint.
**
** The same as SCR_Start_output(NAME, SCR_FLAG_CHECKPOINT), SCR_Put_regions and SCR_Complete_output; NULL names it
** scr.dataset.<id>.  But redundancy is made from memory, where those three read the file back: nothing may change a
** region before it returns, neither a thread nor a receive or MPI_Put that is not complete.  It may end the program as
** SCR_Complete_output does.  Collective.
**
** Errors: those of the three calls.  The checkpoint is not complete then, unless only its flush has failed; older ones
** are unchanged.
**
** Changed by what changes the three calls.
*/
SCR_API int SCR_Checkpoint(const char* name);

/*
** Fill all regions from the newest checkpoint that has regions.
**
** HAVE receives 1, and NAME (SCR_MAX_FILENAME bytes, may be NULL) its name, if there is one; on a fresh start HAVE is
** 0, and the regions are as they were.  A checkpoint that is damaged is rejected as by SCR_Complete_restart(0), and an
** older one is taken; one that has no regions is passed over by this run alone.  What it has and the program does not
** protect is left alone, with one warning.  Another number of ranks than wrote it fills blocks of arrays, and other
** regions only if they are the same on all ranks that wrote them, and rank 0 protects them.  Files of SCR_Track are cut
** as by SCR_Start_restart.  Until the run writes a checkpoint it may be called again, for other regions; tracked files
** are appended to after the last one.  Collective.
**
** Errors: MISSING: the checkpoint lacks a region or array, it has another size there, or it is not the same on all
** ranks that wrote it; SCR_Region_size tells.  DIFFER: rank 0 does not protect it, or another array of its name.  After
** these two no region has changed, unless a newer checkpoint turned out to be damaged while it was read.  IO, SPACE: a
** rank cannot read it now.  What SCR_Start_restart returns for a tracked file: the regions are filled then.
** After all of these the checkpoint stays loaded: correct the cause and call this again.  ARG: no HAVE.  Others: as
** SCR_Have_restart and SCR_Complete_restart(1); regions may have changed.
**
** Changed by what changes SCR_Have_restart, and by SCR_TRACK.
*/
SCR_API int SCR_Recover(int* have, char* name);

/*
** Ask how many bytes the region NAME of this rank has in the loaded checkpoint, to allocate them before SCR_Recover.
**
** BYTES receives the number.  If another number of ranks wrote the checkpoint, the region is that of the rank with this
** rank's number, modulo theirs; of an array, the block of that rank.  Not collective.
**
** Errors: ARG: no NAME or BYTES.  STATE: no checkpoint is loaded.  NOT_FOUND: it has no such region.  IO, FORMAT, CRC:
** its file cannot be read.  BYTES is 0 then.
*/
SCR_API int SCR_Region_size(const char* name, size_t* bytes);

/*
** Add the regions of all ranks to a dataset that the program has started itself, beside its own files.
**
** They are written before the call returns.  Collective.
**
** Errors: DIFFER: the ranks do not have the same arrays.  ARG: the blocks of an array leave a hole, or overlap: the
** message names the first element; a rank has too many regions; or the program has a file <dataset>/regions.<rank> of
** its own.  IO, SPACE, PATH: as SCR_Route_file.
** Complete_output then fails with this error, and prints it.
**
** Changed by what changes SCR_Route_file.
*/
SCR_API int SCR_Put_regions(void);

/*
** Fill all regions in a restart that the program has started itself.
**
** Collective.  Errors: NOT_FOUND: the checkpoint has no regions.  MISSING, DIFFER: as SCR_Recover.  IO, FORMAT, CRC: it
** cannot be read; regions may have changed.  The restart goes on: pass 0 to SCR_Complete_restart to get an older one.
*/
SCR_API int SCR_Get_regions(void);

/* ---- files that only grow ------------------------------------------------------------------------------------- */

/*
** Track a file on the prefix to which the program only appends: a log, a time series, a trajectory.
**
** PATH is below the prefix, named as for SCR_Route_file; the file may not exist yet.  Each is tracked by one rank;
** others may append to it, too.  A rank writes all that it has to the file (fflush, and fsync if another node tracks
** it) before it completes a checkpoint.  When all ranks have come, Complete_output of a checkpoint syncs the file and
** records its length; SCR_Start_restart from that checkpoint, by any number of ranks and also in runs that do not track
** it, cuts it back to this length.  So no line is there twice, and none is missing.  What is cut off goes to
** PATH.scr-cut, or to a name that the message tells, if another user has taken that one.  If an earlier restart has cut
** off what followed it, and the program has appended nothing since, both are there, so that all can be put back: cat
** PATH.scr-cut >>PATH.  Else it replaces what was there.  PATH.scr-cut.end notes where the file ended.  Open the file
** after the restart, for appending; a run that starts from the beginning empties it itself.  SCR_Finalize forgets the
** name.  Not collective; after SCR_Init.
**
** Errors: ARG: no PATH.  PATH: it is too long, or its last part, of more than 160 bytes; it is not below the prefix, or
** is of the library.  In Complete_output: IO: the file cannot be read, or is a link.  MISSING: it is no plain file.
** ARG: two ranks track it; or the rank has routed it, or its record, as a file of the dataset.
**
** Changed by SCR_TRACK.
*/
SCR_API int SCR_Track(const char* path);

/* ---- datasets ------------------------------------------------------------------------------------------------ */

/*
** Choose the checkpoint NAME for the restart.
**
** Before the first Start_output the call loads it immediately.  Later runs restart from it too, until a newer
** checkpoint is complete.  If it is only in the cache, it is flushed to the prefix, where it may replace newer
** datasets with the same file names.  Collective.
**
** Errors: ARG, DIFFER: the name.  NOT_FOUND: no checkpoint has it.  Any other: it cannot be loaded, or the index
** cannot be written; what was loaded before stays so, but if it was read in place, SCR_Have_restart loads it again.
**
** Changed by SCR_DROP_AFTER_CURRENT, SCR_FETCH and what else changes SCR_Have_restart.
*/
SCR_API int SCR_Current(const char* name);

/*
** Remove the dataset NAME from the index of the prefix.
**
** Its files stay, on the prefix and in the cache.  It waits for all flushes first.  Collective.
**
** Errors: ARG, DIFFER: the name.  NOT_FOUND: the index does not have it.  IO, SPACE, FORMAT, CRC: the index cannot be
** read or written, and is as before.
*/
SCR_API int SCR_Drop(const char* name);

/*
** Delete the dataset NAME from the cache and from the prefix.
**
** It waits for all flushes first.  Of several datasets of this name the newest is deleted.  Collective.
**
** Errors: ARG, DIFFER: the name.  NOT_FOUND: neither has it.  IO: a file could not be deleted; call it again.  SPACE,
** FORMAT, CRC: the index cannot be read or written.
**
** Changed by SCR_CRC_ON_DELETE.
*/
SCR_API int SCR_Delete(const char* name);

/*
** Wait for asynchronous flushes.
**
** With SCR_FLUSH_ASYNC=1, waits until the flush of the dataset NAME is complete, or all flushes that are under way if
** NAME is NULL.  Collective.
**
** Errors: ARG, DIFFER: the name.  NOT_FOUND: NAME is not on the prefix then, for example because it was not due for a
** flush (SCR_FLUSH), or a newer dataset has taken its place there.  Any other: that of a flush, of any name, that has
** failed since the last call; its dataset stays in the cache, and SCR_Finalize tries again.
**
** Changed by SCR_FLUSH_ASYNC, SCR_FLUSH_TYPE, SCR_FLUSH_ASYNC_BW and SCR_FLUSH_ASYNC_PERCENT.
*/
SCR_API int SCR_Wait(const char* name);

/* ---- end of the run ------------------------------------------------------------------------------------------ */

/*
** Ask whether the run should end.
**
** FLAG receives 1 if a halt condition holds: time limit, halt file, number of checkpoints, request; see scr_halt.  If
** SCR_Need_checkpoint has said 0 before the condition held, FLAG stays 0 until that call is made again, which then says
** 1: the work since the last checkpoint is not lost.  But of the seconds of SCR_HALT_SECONDS half are left to end.
** The first call turns off the automatic exit in Complete_output, unless SCR_HALT_EXIT is 1: from then on the
** program ends itself, with SCR_Finalize, which flushes the newest checkpoint.  On a part of MPI_COMM_WORLD only the
** program can end it: the library says so once, flushes each checkpoint, and goes on.  Collective.
**
** Errors: ARG: no FLAG.
**
** Changed by SCR_HALT_SECONDS, SCR_END_TIME, SCR_SIGNALS, SCR_HALT_ENABLED and SCR_HALT_EXIT.
*/
SCR_API int SCR_Should_exit(int* flag);

/* ---- information --------------------------------------------------------------------------------------------- */

/*
** The version of the library.
**
** Returns SCR_VERSION, which is neither changed nor freed.  Not collective; allowed at any time.
*/
SCR_API char* SCR_Get_version(void);

/*
** Tell the library which version of scr.h the caller was compiled with.
**
** The macros SCR_Init and SCR_Init_comm call this with SCR_VERSION_NUMBER; a program that calls the functions by other
** ways, as from Python, may do so before them.  The library serves programs of its own major version that are not newer
** than itself: with any other NUMBER the next SCR_Init returns SCR_ERR_ARG.  Not collective; allowed at any time.
*/
SCR_API void SCR_Check_version(int number);
#define SCR_Init() (SCR_Check_version(SCR_VERSION_NUMBER), SCR_Init())
#ifndef SCR_SERIAL
#define SCR_Init_comm(comm) (SCR_Check_version(SCR_VERSION_NUMBER), SCR_Init_comm(comm))
#endif

/*
** The text of an error code, such as "no space left".
**
** Returns a constant string, which is not freed; "unknown error code" for a number that is none.  Not collective;
** allowed at any time.
*/
SCR_API const char* SCR_Strerror(int code);

/*
** The message of the last error on this rank.
**
** It says what failed, on which file, why, and what to do, which the text of a code does not; "" if there was none.
** One that another rank found begins with that rank and its host.  The string is the library's: it changes with the
** next error, in this or another call, and must not be freed.  Each thread has its own.  Not collective; allowed at
** any time.
**
** A call that fails has printed the message on stderr, in one line for all ranks.  What SCR_Route_file finds between a
** Start and its Complete is printed by Complete, so a program that ends before prints SCR_Last_error itself.
*/
SCR_API const char* SCR_Last_error(void);

#ifdef __cplusplus
}
#endif

#endif
