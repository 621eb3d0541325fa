/*
** fti.h - the calls of FTI over scr.h, so that a program that was written for FTI compiles as it is.
**
**   mpicc -I. -Iexamples/compat app.c scr_impl.c -lz -lpthread      app.c has #include <fti.h>
**
** Checkpoint 20 is the dataset fti.20.  The variables of a rank are regions of scr.h with the number as name; beside
** them is a file fti.<rank>: which variables there are, and how many bytes each has.  All files of a program that
** include this header share one state.  What cannot be done here is a compile error that says what to use.  The chapter
** migration of the manual has a table of what differs.
**
** Collective are FTI_Init, _Checkpoint, _Snapshot, _Recover, _RecoverVar and _Finalize, over the communicator of
** FTI_Init.  Each fails on all ranks, or on none.
*/
#ifndef SCR_COMPAT_FTI_H
#define SCR_COMPAT_FTI_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "scr.h"

#define FTI_BUFS 256
#define FTI_SCES 0
#define FTI_DONE 1 /* a checkpoint was written */
#define FTI_HEAD 2 /* no process is one here */
#define FTI_NSCS (-1)
#define FTI_NREC (-2)

/* Levels.  Those of differential checkpoints write all that there is. */
enum { FTI_L1 = 1, FTI_L2, FTI_L3, FTI_L4, FTI_L1_DCP, FTI_L2_DCP, FTI_L3_DCP, FTI_L4_DCP };

/* A type is the number of bytes of an element. */
typedef int fti_id_t;
#define FTIT_type fti_id_t
enum {
  FTI_CHAR = sizeof(char),
  FTI_SHRT = sizeof(short),
  FTI_INTG = sizeof(int),
  FTI_LONG = sizeof(long),
  FTI_UCHR = sizeof(unsigned char),
  FTI_USHT = sizeof(unsigned short),
  FTI_UINT = sizeof(unsigned int),
  FTI_ULNG = sizeof(unsigned long),
  FTI_SFLT = sizeof(float),
  FTI_DBLE = sizeof(double),
  FTI_LDBE = sizeof(long double)
};

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the state: one for all files of the program, whichever languages they are in -------------------------------- */

typedef struct {
  int    id, told; /* told: scr.h protects it now */
  void*  data;
  size_t count, size, written; /* written: its bytes in the last checkpoint of this run */
} scr_fti_variable;

typedef struct {
  int    id;
  size_t bytes;
} scr_fti_stored;

typedef struct {
  int               on, off, rank, began, wrote; /* on: between Init and Finalize; off: SCR_ENABLE is 0 */
  int               status, broken;              /* as FTI_Status; broken: it fell back after a variable was filled */
  int               filled, count;               /* variables that were filled one by one; checkpoints */
  char              prefix[SCR_MAX_FILENAME], loaded[SCR_MAX_FILENAME], last[SCR_MAX_FILENAME];
  const char*       refusal; /* why nothing is written */
  scr_fti_variable* variable;
  scr_fti_stored*   stored; /* what the loaded checkpoint has on this rank */
  int               nvariables, nstored;
} scr_fti_state;

__attribute__((weak)) scr_fti_state scr_fti;
__attribute__((weak)) MPI_Comm      FTI_COMM_WORLD;

/* ---- what the calls are made of ---------------------------------------------------------------------------------- */

static inline int scr_fti_fail(const char* call, const char* why, int code)
{
  fprintf(stderr, "SCR: %s: %s\n", call, why);
  return code;
}

/*
** All ranks meet in CALL; WHY says what is wrong on this rank, or is NULL.  CODE if anything is wrong on any rank; its
** message is printed once.
*/
static inline int scr_fti_meet(const char* call, const char* why, int code)
{
  int in[3], out[3];

  if (!scr_fti.on) return scr_fti_fail(call, "call FTI_Init first", FTI_NSCS);
  in[0] =
      call[4] * 128 + call[5]; /* tells the calls apart: Checkpoint, Finalize, Recover; Snapshot makes one of them */
  in[1] = -in[0];
  in[2] = why != NULL ? scr_fti.rank : INT_MAX;
  if (MPI_Allreduce(in, out, 3, MPI_INT, MPI_MIN, FTI_COMM_WORLD) != MPI_SUCCESS) return code;
  if (out[0] != -out[1]) return scr_fti.rank == 0 ? scr_fti_fail(call, "other ranks are in another call", code) : code;
  if (out[2] == INT_MAX) return FTI_SCES;
  return why != NULL && out[2] == scr_fti.rank ? scr_fti_fail(call, why, code) : code;
}

/* Returns 1 if OK is not 0 on all ranks. */
static inline int scr_fti_all(int ok)
{
  int mine = ok != 0, all = 0;
  return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, FTI_COMM_WORLD) == MPI_SUCCESS && all;
}

static inline scr_fti_variable* scr_fti_find(int id)
{
  int i;

  for (i = 0; i < scr_fti.nvariables; i++)
    if (scr_fti.variable[i].id == id) return &scr_fti.variable[i];
  return NULL;
}

static inline const scr_fti_stored* scr_fti_find_stored(int id)
{
  int i;

  for (i = 0; i < scr_fti.nstored; i++)
    if (scr_fti.stored[i].id == id) return &scr_fti.stored[i];
  return NULL;
}

/* Let scr.h protect ONE variable or, if that is NULL, all, and nothing else.  Returns what is wrong, or NULL. */
static inline const char* scr_fti_tell(const scr_fti_variable* one)
{
  char name[32];
  int  i;

  for (i = 0; i < scr_fti.nvariables; i++) {
    scr_fti_variable* v = &scr_fti.variable[i];
    snprintf(name, sizeof name, "%d", v->id);
    if (one != NULL && v != one) {
      if (v->told) SCR_Unprotect(name);
      v->told = 0;
    } else if (SCR_Protect(name, v->data, v->count, v->size) == SCR_SUCCESS) v->told = 1;
    else return SCR_Last_error();
  }
  return NULL;
}

/* ---- the file fti.<rank> ----------------------------------------------------------------------------------------- */

/* PATH receives its path: in DATASET, written by rank WRITER. */
static inline int scr_fti_list_path(char* path, const char* dataset, int writer)
{
  int n = snprintf(path, SCR_MAX_FILENAME, "%s/%.200s/fti.%d", scr_fti.prefix, dataset, writer);
  return n > 0 && n < SCR_MAX_FILENAME && SCR_Route_file(path, path) == SCR_SUCCESS;
}

/* The last line of the file is a sum of the numbers before it, so that a list that has lost a line is none. */
static inline unsigned long scr_fti_sum(unsigned long sum, int id, unsigned long bytes)
{
  return ((sum * 31 + (unsigned)id) * 31 + bytes) & 0xffffffffu;
}

static inline int scr_fti_list_write(const char* dataset)
{
  char          path[SCR_MAX_FILENAME];
  unsigned long sum = 0;
  FILE*         f;
  int           i, ok;

  if (scr_fti.off) return 1;
  if (!scr_fti_list_path(path, dataset, scr_fti.rank)) return 0;
  f = fopen(path, "w");
  ok = f != NULL && fprintf(f, "fti 1\nvariables %d\n", scr_fti.nvariables) > 0;
  for (i = 0; i < scr_fti.nvariables && ok; i++) {
    unsigned long bytes = (unsigned long)(scr_fti.variable[i].count * scr_fti.variable[i].size);
    sum = scr_fti_sum(sum, scr_fti.variable[i].id, bytes);
    ok = fprintf(f, "%d %lu\n", scr_fti.variable[i].id, bytes) > 0;
  }
  ok = ok && fprintf(f, "sum %lu\n", sum) > 0;
  if (f != NULL && fclose(f) != 0) ok = 0;
  if (!ok) scr_fti_fail("FTI_Checkpoint", "the list of variables cannot be written", FTI_NSCS);
  return ok;
}

/* Read that of rank WRITER of the loaded dataset into scr_fti.stored.  Returns 1 if that is it. */
static inline int scr_fti_list_read(const char* dataset, int writer)
{
  char          path[SCR_MAX_FILENAME];
  FILE*         f = NULL;
  unsigned long bytes = 0, sum = 0, right = 0;
  int           i, n = 0, ok;
  void*         grown;

  scr_fti.nstored = 0;
  if (!scr_fti_list_path(path, dataset, writer) || (f = fopen(path, "r")) == NULL) return 0;
  ok = fscanf(f, "fti 1 variables %d", &n) == 1 && n >= 0;
  for (i = 0; i < n && ok; i++) {
    grown = realloc(scr_fti.stored, ((size_t)i + 1) * sizeof *scr_fti.stored);
    if (grown != NULL) scr_fti.stored = (scr_fti_stored*)grown;
    ok = grown != NULL && fscanf(f, "%d %lu", &scr_fti.stored[i].id, &bytes) == 2;
    if (!ok) break;
    scr_fti.stored[i].bytes = (size_t)bytes;
    sum = scr_fti_sum(sum, scr_fti.stored[i].id, bytes);
  }
  ok = ok && fscanf(f, " sum %lu", &right) == 1 && right == sum;
  fclose(f);
  if (ok) scr_fti.nstored = n;
  return ok;
}

/* ---- which checkpoint is loaded ---------------------------------------------------------------------------------- */

/*
** The file fti.finalized on the prefix names the last checkpoint of a run that FTI_Finalize has ended: FTI_Status is 2
** then.  Rank 0 asks whether it names DATASET, writes it, or removes it.
*/
static inline int scr_fti_finalized(const char* mode, const char* dataset)
{
  char  path[SCR_MAX_FILENAME + 16], line[SCR_MAX_FILENAME] = "";
  FILE* f;
  int   is_it = 0;

  if (scr_fti.rank != 0 || scr_fti.off) return 0;
  snprintf(path, sizeof path, "%s/fti.finalized", scr_fti.prefix);
  if (dataset == NULL || (f = fopen(path, mode)) == NULL) {
    remove(path);
    return 0;
  }
  if (*mode == 'w') fprintf(f, "%s\n", dataset);
  else if (fgets(line, sizeof line, f) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    is_it = strcmp(line, dataset) == 0;
  }
  fclose(f);
  return is_it;
}

/* Find out what there is to recover: sets the status, and what this rank has of it.  FTI_NREC if that fails. */
static inline int scr_fti_load(const char* call)
{
  int flag = 0, id = 0, writers, ended;

  for (;;) {
    scr_fti.status = scr_fti.nstored = 0;
    scr_fti.loaded[0] = '\0';
    if (SCR_Have_restart(&flag, scr_fti.loaded) != SCR_SUCCESS) return FTI_NREC;
    if (!flag) return FTI_SCES;
    if (sscanf(scr_fti.loaded, "fti.%d", &id) != 1) {
      scr_fti.refusal = "the newest checkpoint of this prefix was not written by the calls of FTI: set another "
                        "SCR_PREFIX, or begin anew here with SCR_FRESH_START=1";
      return scr_fti.rank == 0 ? scr_fti_fail(call, scr_fti.refusal, FTI_NREC) : FTI_NREC;
    }
    if (SCR_Restart_ranks(&writers) != SCR_SUCCESS) return FTI_NREC;
    if (scr_fti_all(scr_fti_list_read(scr_fti.loaded, scr_fti.rank % writers))) break;
    if (scr_fti.rank == 0) scr_fti_fail(call, "its list of variables is damaged or missing", FTI_NREC);
    if (SCR_Start_restart(NULL) != SCR_SUCCESS || SCR_Complete_restart(0) != SCR_ERR_INVALID) return FTI_NREC;
  }
  ended = scr_fti_finalized("r", scr_fti.loaded);
  MPI_Bcast(&ended, 1, MPI_INT, 0, FTI_COMM_WORLD);
  scr_fti.status = ended ? 2 : 1;
  return FTI_SCES;
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

/* Set the parameter "NAME=VALUE" unless NAME is set.  Returns 1 if it is set now by this. */
static inline int scr_fti_default(const char* setting)
{
  char        name[64];
  const char* value;

  snprintf(name, sizeof name, "%.*s", (int)strcspn(setting, "="), setting);
  value = SCR_Config(name);
  if (value == NULL) SCR_Config(setting);
  free((void*)value);
  return value == NULL;
}

/* Returns 1 if a rule says when FTI_Snapshot writes. */
static inline int scr_fti_has_rule(void)
{
  static const char* const rule[] = {"SCR_CHECKPOINT_INTERVAL", "SCR_CHECKPOINT_SECONDS", "SCR_CHECKPOINT_OVERHEAD",
                                     "SCR_CHECKPOINT_MTBF"};
  int                      i, set = 0;

  for (i = 0; i < 4; i++) {
    const char* value = SCR_Config(rule[i]);
    set = set || value != NULL;
    free((void*)value);
  }
  return set;
}

/* Make the prefix an absolute path, so that names do not depend on the working directory.  Returns 1 if it is one. */
static inline int scr_fti_find_prefix(void)
{
  const char* prefix = scr_fti.off ? NULL : SCR_Config("SCR_PREFIX");
  char        cwd[SCR_MAX_FILENAME] = "";
  int         ok = (prefix != NULL && *prefix == '/') || getcwd(cwd, sizeof cwd) != NULL, n;

  n = snprintf(scr_fti.prefix, SCR_MAX_FILENAME, "%s%s%s", cwd, *cwd && prefix != NULL ? "/" : "",
               prefix != NULL ? prefix : "");
  free((void*)prefix);
  return ok && n < SCR_MAX_FILENAME;
}

static inline int FTI_Init(const char* configFile, MPI_Comm globalComm)
{
  int rc;

  if (scr_fti.on) return scr_fti_fail("FTI_Init", "it is called a second time", FTI_NSCS);
  scr_fti_default("SCR_COPY_TYPE=RS"); /* what level 3 asks for is enough for the levels below */
  if (!scr_fti_has_rule()) SCR_Config("SCR_CHECKPOINT_SECONDS=180");
  rc = SCR_Init_comm(globalComm);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) return FTI_NSCS;
  memset(&scr_fti, 0, sizeof scr_fti);
  scr_fti.off = rc == SCR_ERR_DISABLED;
  scr_fti.on = MPI_Comm_dup(globalComm, &FTI_COMM_WORLD) == MPI_SUCCESS;
  if (!scr_fti.on) return FTI_NSCS;
  MPI_Comm_rank(FTI_COMM_WORLD, &scr_fti.rank);
  if (!scr_fti_all(scr_fti_find_prefix())) {
    SCR_Finalize();
    scr_fti.on = 0;
    return scr_fti_fail("FTI_Init", "the path of the prefix is too long", FTI_NSCS);
  }
  if (scr_fti.rank == 0 && !scr_fti.off)
    fprintf(
        stderr,
        "SCR: FTI_Init: %s is not read. What stands for its lines: ckpt_dir: SCR_CACHE_BASE; glbl_dir and meta_dir: "
        "SCR_PREFIX; group_size: SCR_SET_SIZE; ckpt_L1 to ckpt_L3: SCR_CHECKPOINT_SECONDS, 180 unless a rule is set, "
        "and SCR_COPY_TYPE, RS unless it is set, or FILE and CKPT lines; ckpt_L4: SCR_FLUSH; head and inline_L4: "
        "SCR_FLUSH_ASYNC=1; keep_last_ckpt is always 1: SCR_FRESH_START=1 begins anew; keep_l4_ckpt: "
        "SCR_PREFIX_SIZE\n",
        configFile != NULL ? configFile : "the configuration file");
  return scr_fti_load("FTI_Init");
}

/* 0: nothing to recover; 1: the last run has failed; 2: FTI_Finalize has ended it. */
static inline int FTI_Status(void)
{
  return scr_fti.status;
}

static inline int FTI_Finalize(void)
{
  int rc;

  if (scr_fti_meet("FTI_Finalize", NULL, FTI_NSCS) != FTI_SCES) return FTI_NSCS;
  rc = SCR_Finalize();
  if (rc == SCR_SUCCESS && scr_fti.last[0]) scr_fti_finalized("w", scr_fti.last);
  MPI_Comm_free(&FTI_COMM_WORLD);
  free(scr_fti.variable);
  free(scr_fti.stored);
  memset(&scr_fti, 0, sizeof scr_fti);
  return rc == SCR_SUCCESS ? FTI_SCES : FTI_NSCS;
}

/* ---- variables --------------------------------------------------------------------------------------------------- */

static inline int FTI_InitType(fti_id_t* type, int size)
{
  if (type == NULL || size <= 0) return scr_fti_fail("FTI_InitType", "a type has at least one byte", FTI_NSCS);
  *type = size;
  return FTI_SCES;
}

static inline int FTI_Protect(int id, void* ptr, long count, fti_id_t type)
{
  scr_fti_variable* v = scr_fti_find(id);
  void*             grown;

  if (!scr_fti.on) return scr_fti_fail("FTI_Protect", "call FTI_Init first", FTI_NSCS);
  if (type <= 0 || count < 0 || count > LONG_MAX / type)
    return scr_fti_fail("FTI_Protect", "the number of elements or their type is not possible", FTI_NSCS);
  if (ptr == NULL && count > 0) return scr_fti_fail("FTI_Protect", "the variable has no address", FTI_NSCS);
  if (v == NULL) {
    grown = realloc(scr_fti.variable, ((size_t)scr_fti.nvariables + 1) * sizeof *v);
    if (grown == NULL) return scr_fti_fail("FTI_Protect", "out of memory", FTI_NSCS);
    scr_fti.variable = (scr_fti_variable*)grown;
    v = &scr_fti.variable[scr_fti.nvariables++];
    memset(v, 0, sizeof *v);
    v->id = id;
  }
  v->data = ptr;
  v->count = (size_t)count;
  v->size = (size_t)type;
  return FTI_SCES;
}

/* The bytes of variable ID in the last checkpoint of this run, or else in the loaded one; 0 if neither has it. */
static inline long FTI_GetStoredSize(int id)
{
  const scr_fti_variable* v = scr_fti_find(id);
  const scr_fti_stored*   s = scr_fti_find_stored(id);

  if (scr_fti.began) return v != NULL ? (long)v->written : 0;
  return s != NULL ? (long)s->bytes : 0;
}

/* Give variable ID at PTR its size in the loaded checkpoint, if there is one.  Returns where it is then, or NULL. */
static inline void* FTI_Realloc(int id, void* ptr)
{
  scr_fti_variable*     v = scr_fti_find(id);
  const scr_fti_stored* s = scr_fti_find_stored(id);

  if (scr_fti.status == 0 || v == NULL || s == NULL || s->bytes == 0) return ptr;
  if (s->bytes % v->size != 0) {
    scr_fti_fail("FTI_Realloc", "the variable has another type in the checkpoint", FTI_NSCS);
    return NULL;
  }
  ptr = realloc(ptr, s->bytes);
  if (ptr == NULL) return NULL;
  v->data = ptr;
  v->count = s->bytes / v->size;
  return ptr;
}

/* ---- checkpoint and recovery ------------------------------------------------------------------------------------- */

/* Write checkpoint ID for CALL, with the flags KEPT.  WRONG is what this rank knows to be wrong with it, or NULL. */
static inline int scr_fti_write(const char* call, int id, int kept, const char* wrong)
{
  const char* why = scr_fti.refusal;
  char        dataset[64];
  int         i, ok;

  if (why == NULL && scr_fti.broken) why = "only some variables have been recovered, as the checkpoint is damaged";
  if (why == NULL) why = wrong;
  if (why == NULL && scr_fti.nvariables > 0) why = scr_fti_tell(NULL);
  if (scr_fti_meet(call, why, FTI_NSCS) != FTI_SCES) return FTI_NSCS;
  snprintf(dataset, sizeof dataset, "fti.%d", id);
  if (scr_fti.status != 0 && scr_fti.filled == 0 && scr_fti.rank == 0)
    fprintf(stderr, "SCR: %s: %s was there, but FTI_Recover was not called: this run begins anew\n", call,
            scr_fti.loaded);
  if (SCR_Start_output(dataset, SCR_FLAG_CHECKPOINT | kept) != SCR_SUCCESS) return FTI_NSCS;
  scr_fti.status = 0;
  scr_fti.began = 1;
  ok = SCR_Put_regions() == SCR_SUCCESS && scr_fti_list_write(dataset);
  if (SCR_Complete_output(ok) != SCR_SUCCESS) return FTI_NSCS;
  for (i = 0; i < scr_fti.nvariables; i++)
    scr_fti.variable[i].written = scr_fti.variable[i].count * scr_fti.variable[i].size;
  if (!scr_fti.wrote) scr_fti_finalized("r", NULL); /* from now on the last run is one that has failed */
  scr_fti.wrote = 1;
  memcpy(scr_fti.last, dataset, sizeof dataset);
  scr_fti.count = id;
  return FTI_DONE;
}

/*
** With SCR_COPY_TYPE=FILE the line CKPT=<level> keeps a checkpoint of level 1 to 3, differential or not; else all have
** one scheme.  Level 4 is always copied to the prefix, and kept as level 1.
*/
static inline int FTI_Checkpoint(int id, int level)
{
  int is = level >= FTI_L1 && level <= FTI_L4_DCP, of = is ? (level - 1) % FTI_L4 + 1 : FTI_L1;

  return scr_fti_write("FTI_Checkpoint", id, of == FTI_L4 ? SCR_FLAG_OUTPUT | SCR_FLAG_LINE(FTI_L1) : SCR_FLAG_LINE(of),
                       is ? NULL : "the level is 1, 2, 3 or 4");
}

/* What is wrong with variable ID, which is to be filled; NULL if nothing is. */
static inline const char* scr_fti_expect(int id)
{
  const scr_fti_variable* v = scr_fti_find(id);
  const scr_fti_stored*   s = scr_fti_find_stored(id);
  static char             why[160];

  if (v == NULL) snprintf(why, sizeof why, "variable %d of the checkpoint is not protected", id);
  else if (s == NULL) snprintf(why, sizeof why, "the checkpoint does not have variable %d, which is protected", id);
  else if (s->bytes != v->count * v->size)
    snprintf(why, sizeof why, "variable %d has %zu bytes, and %zu in the checkpoint, as FTI_GetStoredSize tells", id,
             v->count * v->size, s->bytes);
  else return NULL;
  return why;
}

/*
** Fill what scr.h protects now.  FTI_NREC if that fails.  Where it is because the checkpoint is damaged, an older one
** is loaded, and *AGAIN is 1.
*/
static inline int scr_fti_read(const char* call, int* again)
{
  int rc = SCR_Start_restart(NULL);

  *again = 0;
  if (rc != SCR_SUCCESS) return FTI_NREC;
  rc = SCR_Get_regions();
  *again = rc == SCR_ERR_CRC || rc == SCR_ERR_FORMAT || rc == SCR_ERR_NOT_FOUND;
  if (SCR_Complete_restart(!*again) == SCR_SUCCESS && rc == SCR_SUCCESS) return FTI_SCES;
  if (*again && scr_fti_load(call) != FTI_SCES) *again = 0;
  return FTI_NREC;
}

static inline int FTI_Recover(void)
{
  const char* why;
  int         i, again;

  do {
    why = scr_fti.status == 0 ? "there is no checkpoint to recover" : NULL;
    for (i = 0; i < scr_fti.nstored && why == NULL; i++) why = scr_fti_expect(scr_fti.stored[i].id);
    for (i = 0; i < scr_fti.nvariables && why == NULL; i++) why = scr_fti_expect(scr_fti.variable[i].id);
    if (why == NULL) why = scr_fti_tell(NULL);
    i = scr_fti_meet("FTI_Recover", why, FTI_NREC);
    if (i != FTI_SCES) return i;
    i = scr_fti_read("FTI_Recover", &again);
  } while (again);
  if (i != FTI_SCES) return i;
  scr_fti.filled++;
  scr_fti.status = scr_fti.broken = 0;
  snprintf(scr_fti.last, sizeof scr_fti.last, "%s", scr_fti.loaded);
  sscanf(scr_fti.loaded, "fti.%d", &scr_fti.count);
  return FTI_SCES;
}

/* Fill variable ID alone.  If there is nothing to recover, nothing is done. */
static inline int FTI_RecoverVar(int id)
{
  const char* why = NULL;
  int         rc, again;

  if (scr_fti.on && scr_fti.status == 0 && !scr_fti.broken) return FTI_SCES;
  if (scr_fti_find(id) == NULL) why = "the variable is not protected";
  if (why == NULL && scr_fti.broken)
    why = "the checkpoint is damaged of which other variables are; FTI_Recover fills all of them from an older one";
  if (why == NULL) why = scr_fti_expect(id);
  if (why == NULL) why = scr_fti_tell(scr_fti_find(id));
  rc = scr_fti_meet("FTI_RecoverVar", why, scr_fti_find(id) == NULL ? FTI_NSCS : FTI_NREC);
  if (rc != FTI_SCES) return rc;
  rc = scr_fti_read("FTI_RecoverVar", &again);
  if (rc == FTI_SCES && scr_fti.filled++ == 0) {
    snprintf(scr_fti.last, sizeof scr_fti.last, "%s", scr_fti.loaded);
    sscanf(scr_fti.loaded, "fti.%d", &scr_fti.count);
  }
  if (again) scr_fti.broken = 1;
  return rc;
}

static inline int FTI_RecoverVarInit(void)
{
  return FTI_SCES;
}

static inline int FTI_RecoverVarFinalize(void)
{
  return FTI_SCES;
}

/* Recover, if there is something to recover; else write a checkpoint, if one is due. */
static inline int FTI_Snapshot(void)
{
  int due = 0;

  if (!scr_fti.on) return scr_fti_fail("FTI_Snapshot", "call FTI_Init first", FTI_NSCS);
  if (scr_fti.status != 0) return FTI_Recover();
  if (SCR_Need_checkpoint(&due) != SCR_SUCCESS) return FTI_NSCS;
  if (!due) return FTI_SCES;
  return scr_fti_write("FTI_Snapshot", scr_fti.count + 1, SCR_FLAG_NONE, NULL); /* CKPT lines go by INTERVAL here */
}

/* ---- what is not here -------------------------------------------------------------------------------------------- */

#if defined(__GNUC__) && (!defined(__clang__) || __clang_major__ >= 14)
#define SCR_FTI_USE(text) __attribute__((error(text)))
#else
#define SCR_FTI_USE(text) /* the linker names the call */
#endif
#define SCR_FTI_TYPE                                                                                                   \
  SCR_FTI_USE("not over scr.h: call FTI_InitType with the size of the struct; all its bytes are saved")
#define SCR_FTI_HDF5                                                                                                   \
  SCR_FTI_USE("not over scr.h: protect the data by FTI_Protect; `scr_regions --npy` writes it as a file")
#define SCR_FTI_ARRAY SCR_FTI_USE("not over scr.h: SCR_Protect_array names a block of an array that all ranks have")
#define SCR_FTI_STAGE SCR_FTI_USE("not over scr.h: between SCR_Start_output and SCR_Complete_output, SCR_Route_file")
#define SCR_FTI_ICP   SCR_FTI_USE("not over scr.h: call FTI_Checkpoint when all variables are as they are to be saved")
#define SCR_FTI_NAME  SCR_FTI_USE("not over scr.h: give each variable a number of your own, and FTI_Protect that")

typedef struct FTIT_complexType   FTIT_complexType;
typedef struct FTIT_H5Group       FTIT_H5Group;
typedef struct FTIT_attribute     FTIT_attribute;
typedef struct FTIT_attributeFlag FTIT_attributeFlag;
typedef unsigned long long        FTIT_hsize_t;

int      FTI_InitComplexType(fti_id_t*, FTIT_complexType*, int, size_t, const char*, FTIT_H5Group*) SCR_FTI_TYPE;
void     FTI_AddSimpleField(FTIT_complexType*, const fti_id_t*, size_t, int, const char*) SCR_FTI_TYPE;
void     FTI_AddComplexField(FTIT_complexType*, const fti_id_t*, size_t, int, int*, int, const char*) SCR_FTI_TYPE;
fti_id_t FTI_InitCompositeType(const char*, size_t, FTIT_H5Group*) SCR_FTI_TYPE;
int      FTI_AddScalarField(fti_id_t, const char*, fti_id_t, size_t) SCR_FTI_TYPE;
int      FTI_AddVectorField(fti_id_t, const char*, fti_id_t, size_t, int, int*) SCR_FTI_TYPE;
int      FTI_InitGroup(FTIT_H5Group*, const char*, FTIT_H5Group*) SCR_FTI_HDF5;
int      FTI_RenameGroup(FTIT_H5Group*, const char*) SCR_FTI_HDF5;
int      FTI_DefineDataset(int, int, int*, const char*, FTIT_H5Group*) SCR_FTI_HDF5;
int      FTI_DefineGlobalDataset(int, int, FTIT_hsize_t*, const char*, FTIT_H5Group*, fti_id_t) SCR_FTI_ARRAY;
int      FTI_AddSubset(int, int, FTIT_hsize_t*, FTIT_hsize_t*, int) SCR_FTI_ARRAY;
int      FTI_UpdateGlobalDataset(int, int, FTIT_hsize_t*) SCR_FTI_ARRAY;
int      FTI_UpdateSubset(int, int, FTIT_hsize_t*, FTIT_hsize_t*, int) SCR_FTI_ARRAY;
int      FTI_RecoverDatasetDimension(int) SCR_FTI_ARRAY;
int      FTI_SendFile(const char*, const char*) SCR_FTI_STAGE;
int      FTI_GetStageDir(char*, int) SCR_FTI_STAGE;
int      FTI_GetStageStatus(int) SCR_FTI_STAGE;
int      FTI_InitICP(int, int, int) SCR_FTI_ICP;
int      FTI_AddVarICP(int) SCR_FTI_ICP;
int      FTI_FinalizeICP(void) SCR_FTI_ICP;
int      FTI_setIDFromString(const char*) SCR_FTI_NAME;
int      FTI_getIDFromString(const char*) SCR_FTI_NAME;
int      FTI_BitFlip(int) SCR_FTI_USE("not over scr.h: no call of it changes data of the program");

FTIT_hsize_t* FTI_GetDatasetSpan(int, int) SCR_FTI_ARRAY;
int           FTI_GetDatasetRank(int) SCR_FTI_ARRAY;
int           FTI_SetAttribute(int, FTIT_attribute, FTIT_attributeFlag) SCR_FTI_HDF5;
int FTI_GetConfig(const char*, ...) SCR_FTI_USE("not over scr.h: call SCR_Config with the name of a parameter of SCR");
int FTI_Print(const char*, int)
    SCR_FTI_USE("not over scr.h: print it with printf, on the rank that has something to tell");

#ifdef __cplusplus
}
#endif

#endif
