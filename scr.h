/*
** scr.h - Scalable Checkpoint / Restart for MPI programs, an embeddable library of one C file.
**
** WHAT IT DOES
**
**   A large MPI job that checkpoints to the parallel file system waits for it, and a job that does not checkpoint
**   loses its work when a node dies.  This library keeps checkpoints in storage of the compute nodes (the cache),
**   adds redundancy data so that the loss of nodes can be repaired, and copies only some of the checkpoints to the
**   parallel file system.  After a failure the job starts again from the cache, on the nodes that are left or on
**   spare ones, or else from the newest checkpoint on the parallel file system.
**
** HOW TO BUILD IT IN
**
**   Copy scr.h and scr_impl.c next to the application:    mpicc app.c scr_impl.c -lz -lpthread
**
** THE WORDS
**
**   dataset     the files that all ranks write between a Start and a Complete call; each rank may write none or many
**   checkpoint  a dataset to restart from;  output: a dataset to keep (both at once is allowed)
**   cache       node-local directories that hold datasets, <store>/<user>/scr.<job>/scr.dataset.<id>
**   prefix      the directory of the job on the parallel file system, SCR_PREFIX, or else the working directory
**   flush       copy a dataset from the cache to the prefix;  fetch: copy one back
**   redundancy  SINGLE keeps each file once: it survives the death of processes.  A set of ranks from different failure
**               groups survives more: with XOR, one parity for all, the loss of one member; with PARTNER, a copy at the
**               next member, of any that are no neighbours; with RS, Reed-Solomon, of SCR_SET_FAILURES members
**
** A COMPLETE PROGRAM
**
**   #include <stdio.h>
**   #include <mpi.h>
**   #include "scr.h"
**
**   int main(int argc, char** argv)
**   {
**     int  rank, step = 0, have = 0, need = 0;
**     char name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
**
**     MPI_Init(&argc, &argv);
**     MPI_Comm_rank(MPI_COMM_WORLD, &rank);
**     if (SCR_Init() != SCR_SUCCESS) return 1;                         // or go on: SCR_ERR_DISABLED means SCR_ENABLE=0
**
**     if (SCR_Have_restart(&have, name) != SCR_SUCCESS) return 1;    // old work is there, but cannot be loaded
**     if (have) {
**       int ok;
**       SCR_Start_restart(name);
**       snprintf(path, sizeof path, "%s/rank_%d", name, rank);
**       SCR_Route_file(path, file);                                  // where the file is now
**       FILE* f = fopen(file, "r");
**       ok = f != NULL && fscanf(f, "%d", &step) == 1;
**       if (f) fclose(f);
**       SCR_Complete_restart(ok);
**     }
**     for (; step < 100; step++) {
**       SCR_Need_checkpoint(&need);
**       if (need) {
**         int ok;
**         snprintf(name, sizeof name, "ckpt.%d", step);
**         SCR_Start_output(name, SCR_FLAG_CHECKPOINT);
**         snprintf(path, sizeof path, "%s/rank_%d", name, rank);
**         SCR_Route_file(path, file);                                // where to write it
**         FILE* f = fopen(file, "w");
**         ok = f != NULL && fprintf(f, "%d\n", step) > 0;
**         if (f && fclose(f) != 0) ok = 0;
**         SCR_Complete_output(ok);
**       }
**     }
**     SCR_Finalize();
**     MPI_Finalize();
**     return 0;
**   }
**
** WHAT TO KNOW
**
**   - Every call but SCR_Route_file, SCR_Config, SCR_Configf, SCR_Get_version, SCR_Strerror and SCR_Last_error is
**     collective over the communicator of SCR_Init_comm (SCR_Init: MPI_COMM_WORLD), and returns the same code on
**     every rank.
**   - A rank may read only the files that the same rank wrote.  The number of ranks must be that of the checkpoint.
**   - Files are named as they would be on the parallel file system, below the prefix.  Use the path that
**     SCR_Route_file gives, exactly, and only between the Start and the Complete call.
**   - Two ranks must not register the same file.
**   - The library never calls abort, exit or MPI_Abort, with one exception that you choose: see SCR_HALT_EXIT.
**   - A call in the wrong state returns SCR_ERR_STATE and changes nothing.
**   - Calls are not thread safe: make them from one thread at a time, with MPI_THREAD_SERIALIZED or higher when that
**     thread is not always the same.
**   - Parameters come from, first wins: the environment, the user file (SCR_CONF_FILE, or .scrconf in the prefix),
**     SCR_Config, the system file, the default.  README.md has the table of them.
*/
#ifndef SCR_H
#define SCR_H

#ifndef SCR_SERIAL
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------------------------------------------- */

#define SCR_MAJOR_VERSION "4"
#define SCR_MINOR_VERSION "0"
#define SCR_PATCH_VERSION "0"
#define SCR_VERSION       "v4.0.0"

/* ---- constants ----------------------------------------------------------------------------------------------- */

/* Size in bytes, with the final NUL, of the buffers that take a file or dataset name. */
#define SCR_MAX_FILENAME 1024

/* Flags of SCR_Start_output; a bit mask. */
#define SCR_FLAG_NONE       0
#define SCR_FLAG_CHECKPOINT 1 /* the job can restart from it */
#define SCR_FLAG_OUTPUT     2 /* always copied to the prefix */

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
  X(SCR_ERR_INVALID, 13, "a rank marked the dataset invalid")                                                          \
  X(SCR_ERR_LOST, 14, "more was lost than the redundancy scheme can rebuild")                                          \
  X(SCR_ERR_NO_RESTART, 15, "checkpoints exist, but none could be loaded")                                             \
  X(SCR_ERR_BUSY, 16, "in use by another run")                                                                         \
  X(SCR_ERR_UNSAFE, 17, "directory or file is not safe to use")                                                        \
  X(SCR_ERR_MPI, 18, "an MPI call failed")                                                                             \
  X(SCR_ERR_NOT_FOUND, 19, "no such dataset")

#define SCR_ERRORS_ENUM(name, value, text) name = value,
enum { SCR_ERRORS(SCR_ERRORS_ENUM) SCR_ERR_LIMIT };
#undef SCR_ERRORS_ENUM

/* Linkage of the public calls; define it before the first include to change it. */
#ifndef SCR_API
#define SCR_API extern
#endif

/* The compiler checks the arguments against a format, where it can. */
#if defined(__GNUC__)
#define SCR_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define SCR_FORMAT(f, a)
#endif

/* ---- start and end ------------------------------------------------------------------------------------------- */

/*
** Start the library over MPI_COMM_WORLD, or over COMM, of which it keeps a duplicate.
**
** Reads the parameters, takes hold of the control directory, rebuilds the datasets that are in the cache, and loads
** the checkpoint to restart from, fetching it from the prefix when the cache has none as new.  Collective over the
** communicator.  MPI must be initialized.
**
** A host of several solvers, or a program that checkpoints on a part of its ranks, gives each its own communicator
** and its own SCR_PREFIX.  On any error the library is as if it had not been called.
*/
SCR_API int SCR_Init(void);
#ifndef SCR_SERIAL
SCR_API int SCR_Init_comm(MPI_Comm comm);
#endif

/*
** End the library: flush the newest checkpoint when SCR_FLUSH is not 0 and it is not on the prefix yet, write the
** reason SCR_FINALIZE_CALLED to the halt file, and free everything.  Call it before MPI_Finalize.
*/
SCR_API int SCR_Finalize(void);

/*
** Set or query parameters.  Local; setting is possible before SCR_Init only, with the same strings on each rank.
**
**   "KEY=VALUE"                    set            "KEY="          unset
**   "KEY=VALUE CKEY=CVALUE ..."    set a line with children, such as "CKPT=0 INTERVAL=1 TYPE=XOR"
**   "KEY"                          query: the value as a string that the caller frees, NULL when it is not set
**   "KEY=VALUE CKEY"               query a child
**
** Returns NULL for settings and for errors; SCR_Last_error tells the two apart.
*/
SCR_API const char* SCR_Config(const char* config);
SCR_API const char* SCR_Configf(const char* format, ...) SCR_FORMAT(1, 2);

/* ---- files --------------------------------------------------------------------------------------------------- */

/*
** Where to open the file NAME.  Local.  FILE has SCR_MAX_FILENAME bytes.
**
** Between Start_output and Complete_output: registers NAME as a file of this rank and gives its path in the cache;
** parent directories exist on return.  NAME is relative to the working directory or absolute, and below the prefix.
** In a store with MKDIR=0 the file itself exists too, empty and for this user only: others may write beside it.
** During and before a restart: the path in the cache of the file NAME of the loaded checkpoint; if it holds no such
** file, NAME itself, with SCR_SUCCESS only when it can be read.
*/
SCR_API int SCR_Route_file(const char* name, char* file);

/* ---- restart ------------------------------------------------------------------------------------------------- */

/*
** FLAG is 1 when a checkpoint is loaded, and then NAME, which may be NULL, is its name (SCR_MAX_FILENAME bytes).
** SCR_ERR_NO_RESTART when there were complete checkpoints and none could be loaded: beginning again at step 0 would
** throw work away, so Start_output refuses as well until SCR_FRESH_START=1 says that a fresh start is meant.
*/
SCR_API int SCR_Have_restart(int* flag, char* name);

/* Begin to read the loaded checkpoint.  NAME, which may be NULL, receives its name. */
SCR_API int SCR_Start_restart(char* name);

/*
** End reading.  VALID is 0 when this rank could not read its files; with a 0 from any rank the call returns
** SCR_ERR_INVALID everywhere, the checkpoint is marked as failed and not offered again, and SCR_Have_restart then
** offers the next older one.
*/
SCR_API int SCR_Complete_restart(int valid);

/* ---- checkpoint and output ----------------------------------------------------------------------------------- */

/*
** FLAG is 1 when it is time for a checkpoint: a halt condition holds; or every SCR_CHECKPOINT_INTERVAL-th call; or
** SCR_CHECKPOINT_SECONDS since the last; or checkpoints take less than SCR_CHECKPOINT_OVERHEAD percent of the time.
** With no rule configured it is always 1.
*/
SCR_API int SCR_Need_checkpoint(int* flag);

/* SCR_Start_output(NULL, SCR_FLAG_CHECKPOINT), and SCR_Complete_output. */
SCR_API int SCR_Start_checkpoint(void);
SCR_API int SCR_Complete_checkpoint(int valid);

/*
** Begin a dataset.  NAME, the same on every rank, or NULL for scr.dataset.<id>.  FLAGS is a mask of SCR_FLAG_*.
*/
SCR_API int SCR_Start_output(const char* name, int flags);

/*
** End a dataset: VALID is 1 when this rank wrote all its files and closed them.  The call protects the dataset with
** redundancy data and, when that is due, flushes it.  On SCR_SUCCESS the dataset is complete in the cache on every
** rank, and older ones may have been deleted for it; on an error it is gone, and older ones are untouched.  When
** only the flush fails the call returns its error although the dataset is complete in the cache.
*/
SCR_API int SCR_Complete_output(int valid);

/* ---- datasets ------------------------------------------------------------------------------------------------ */

/*
** Restart from the checkpoint NAME.  Before SCR_Start_restart it is loaded at once.  Later runs begin from it too, until a
** newer checkpoint is complete.  One that is only in the cache is copied to the prefix, where it may replace newer
** datasets of the same file names.  SCR_ERR_NOT_FOUND when there is no checkpoint of this name.
*/
SCR_API int SCR_Current(const char* name);

/* Forget the dataset NAME of the prefix; its files stay. */
SCR_API int SCR_Drop(const char* name);

/* Delete the dataset NAME from the cache and from the prefix. */
SCR_API int SCR_Delete(const char* name);

/* ---- end of the run ------------------------------------------------------------------------------------------ */

/* FLAG is 1 when the run should end: time limit, halt file, number of checkpoints.  See scr_halt. */
SCR_API int SCR_Should_exit(int* flag);

/* ---- information --------------------------------------------------------------------------------------------- */

/* SCR_VERSION.  Local; do not free it. */
SCR_API char* SCR_Get_version(void);

/* The text of an error code.  Local. */
SCR_API const char* SCR_Strerror(int code);

/* What failed, where, and what to do: the message of the last error on this rank, "" when there was none.  Local. */
SCR_API const char* SCR_Last_error(void);

#ifdef __cplusplus
}
#endif

#endif
