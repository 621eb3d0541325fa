/*
** veloc.h - the calls of VELOC over scr.h, so that a program that was written for VELOC compiles as it is.
**
**   mpicc -I. -Iexamples/compat app.c scr_impl.c -lz -lpthread      app.c has #include "veloc.h"
**
** Version 20 of the checkpoint heat is the dataset heat.v20.  The regions of a rank are the regions of scr.h with the
** number as name; beside them is a file veloc.<rank>: which versions there are, and which regions with how many bytes.
** All files of a program that include this header share one state.  What cannot be done here is a compile error that
** says what to use.  The chapter migration of the manual has a table of what differs.
**
** Collective here are all calls but VELOC_Mem_protect, _Mem_unprotect, _Route_file and _Recover_size.  A rank without
** regions may leave out those between a begin and an end.  A collective call fails on all ranks, or on none.
*/
#ifndef SCR_COMPAT_VELOC_H
#define SCR_COMPAT_VELOC_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "scr.h"

#define VELOC_SUCCESS      (0)
#define VELOC_FAILURE      (-1)
#define VELOC_MAX_NAME     (1024)

#define VELOC_RECOVER_ALL  (0)
#define VELOC_RECOVER_SOME (1)
#define VELOC_RECOVER_REST (2)
#define VELOC_CKPT_ALL     (0)
#define VELOC_CKPT_SOME    (1)
#define VELOC_CKPT_REST    (2)

#if SCR_MAX_FILENAME > VELOC_MAX_NAME
#error "VELOC_MAX_NAME is too small for a path of scr.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the state: one for all files of the program, whichever languages they are in -------------------------------- */

enum { SCR_VELOC_IDLE, SCR_VELOC_WRITING, SCR_VELOC_READING };                      /* phases */
enum { SCR_VELOC_MEM = 1, SCR_VELOC_END = 2, SCR_VELOC_ALONE = 16 /* and more */ }; /* what ranks are in, for _meet */
enum { SCR_VELOC_KEPT = 1000 };                                                     /* versions that are remembered */

typedef struct {
  int    id, told; /* told: scr.h protects it now */
  void*  data;
  size_t count, size;
} scr_veloc_region;

typedef struct {
  int    id;
  size_t bytes;
} scr_veloc_stored;

typedef struct {
  int               on, off; /* on: between Init and Finalize; off: SCR_ENABLE is 0 */
  int               phase, rank, began, put, damaged, refused;
  MPI_Comm          comm;
  char              prefix[SCR_MAX_FILENAME], name[SCR_MAX_FILENAME]; /* name: the label that this run has */
  int               version, kept[SCR_VELOC_KEPT], nkept;             /* that this run goes on from, the newest last */
  char              known_name[SCR_MAX_FILENAME];
  int               known[SCR_VELOC_KEPT], nknown; /* versions to restart from: those of the first loaded one */
  scr_veloc_region* region;
  scr_veloc_stored* stored; /* what the open checkpoint has on this rank */
  int               nregions, nstored;
} scr_veloc_state;

__attribute__((weak)) scr_veloc_state scr_veloc;

/* ---- what the calls are made of ---------------------------------------------------------------------------------- */

static inline int scr_veloc_fail(const char* call, const char* why)
{
  fprintf(stderr, "SCR: %s: %s\n", call, why);
  return VELOC_FAILURE;
}

/*
** All ranks meet in CALL; WHY says what is wrong on this rank, or is NULL.  KIND is that of the call: a rank in END may
** meet others in MEM, and *JOIN is 1 on it then.  VELOC_FAILURE if anything is wrong on any rank; its message is
** printed once.
*/
static inline int scr_veloc_meet(const char* call, int kind, const char* why, int* join)
{
  int in[3], out[3];

  *join = 0;
  if (!scr_veloc.on) return scr_veloc_fail(call, "call VELOC_Init first");
  in[0] = kind;
  in[1] = -kind;
  in[2] = why != NULL ? scr_veloc.rank : INT_MAX;
  if (MPI_Allreduce(in, out, 3, MPI_INT, MPI_MIN, scr_veloc.comm) != MPI_SUCCESS) return VELOC_FAILURE;
  *join = kind == SCR_VELOC_END && out[0] == SCR_VELOC_MEM;
  if (out[0] != -out[1] && !(out[0] == SCR_VELOC_MEM && -out[1] == SCR_VELOC_END)) {
    *join = 0;
    return scr_veloc.rank == 0 ? scr_veloc_fail(call, "other ranks are in another call") : VELOC_FAILURE;
  }
  if (out[2] == INT_MAX) return VELOC_SUCCESS;
  return why != NULL && out[2] == scr_veloc.rank ? scr_veloc_fail(call, why) : VELOC_FAILURE;
}

/* Returns 1 if OK is not 0 on all ranks. */
static inline int scr_veloc_all(int ok)
{
  int mine = ok != 0, all = 0;
  return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, scr_veloc.comm) == MPI_SUCCESS && all;
}

/* What is wrong with a label and a version, where nothing may be open; NULL if nothing is. */
static inline const char* scr_veloc_args(const char* name, int version)
{
  const char* p = name;

  if (scr_veloc.phase != SCR_VELOC_IDLE) return "call the end of the checkpoint or restart that is open first";
  if (version < 0) return "a version is not negative";
  while (p != NULL && *p != '\0' &&
         (strchr("._", *p) != NULL || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')))
    p++;
  if (p == NULL || p == name || *p != '\0') return "the name consists of letters, digits, dots and underscores";
  if (strlen(name) > 200) return "the name has at most 200 characters";
  return NULL;
}

/* DATASET receives the name of the dataset of a version; it has SCR_MAX_FILENAME bytes, as all such buffers. */
static inline void scr_veloc_dataset(char* dataset, const char* name, int version)
{
  snprintf(dataset, SCR_MAX_FILENAME, "%.200s.v%d", name, version);
}

/* The version of NAME that DATASET is; VELOC_FAILURE if it is something else. */
static inline int scr_veloc_version(const char* dataset, const char* name)
{
  char   same[SCR_MAX_FILENAME];
  size_t n = strlen(name);
  int    version;

  if (strncmp(dataset, name, n) != 0 || sscanf(dataset + n, ".v%d", &version) != 1) return VELOC_FAILURE;
  scr_veloc_dataset(same, name, version);
  return version >= 0 && strcmp(dataset, same) == 0 ? version : VELOC_FAILURE;
}

/* PATH receives where a file FILE of rank R lies in the dataset; VELOC_FAILURE if that is too long. */
static inline int scr_veloc_path(char* path, const char* name, int version, const char* file)
{
  int n = snprintf(path, SCR_MAX_FILENAME, "%s/%.200s.v%d/%s", scr_veloc.prefix, name, version, file);
  return n > 0 && n < SCR_MAX_FILENAME ? VELOC_SUCCESS : VELOC_FAILURE;
}

static inline scr_veloc_region* scr_veloc_find(int id)
{
  int i;

  for (i = 0; i < scr_veloc.nregions; i++)
    if (scr_veloc.region[i].id == id) return &scr_veloc.region[i];
  return NULL;
}

static inline const scr_veloc_stored* scr_veloc_find_stored(int id)
{
  int i;

  for (i = 0; i < scr_veloc.nstored; i++)
    if (scr_veloc.stored[i].id == id) return &scr_veloc.stored[i];
  return NULL;
}

/* Whether MODE and the IDS of a call mean region ID: 0 is all, 1 those in IDS, 2 those that are not. */
static inline int scr_veloc_means(int mode, const int* ids, int n, int id)
{
  int i;

  for (i = 0; i < n && mode != VELOC_CKPT_ALL; i++)
    if (ids[i] == id) return mode == VELOC_CKPT_SOME;
  return mode != VELOC_CKPT_SOME;
}

/* Let scr.h protect nothing of this program. */
static inline void scr_veloc_untell(void)
{
  char name[32];
  int  i;

  for (i = 0; i < scr_veloc.nregions; i++) {
    snprintf(name, sizeof name, "%d", scr_veloc.region[i].id);
    if (scr_veloc.region[i].told) SCR_Unprotect(name);
    scr_veloc.region[i].told = 0;
  }
}

/* Let scr.h protect COUNT elements of SIZE bytes of R. */
static inline int scr_veloc_tell(scr_veloc_region* r, size_t count, size_t size)
{
  char name[32];

  snprintf(name, sizeof name, "%d", r->id);
  r->told = SCR_Protect(name, r->data, count, size) == SCR_SUCCESS;
  return r->told;
}

/* ---- the file veloc.<rank> --------------------------------------------------------------------------------------- */

/* Remember VERSION, which this run writes now. */
static inline void scr_veloc_keep(int version)
{
  int n = scr_veloc.nkept;

  if (n > 0 && scr_veloc.kept[n - 1] == version) return;
  if (n == SCR_VELOC_KEPT) memmove(scr_veloc.kept, scr_veloc.kept + 1, (size_t)--n * sizeof *scr_veloc.kept);
  scr_veloc.kept[n] = version;
  scr_veloc.nkept = n + 1;
}

static inline int scr_veloc_list_path(char* path, const char* name, int version, int writer)
{
  char file[32];

  snprintf(file, sizeof file, "veloc.%d", writer);
  if (scr_veloc_path(path, name, version, file) != VELOC_SUCCESS) return VELOC_FAILURE;
  return SCR_Route_file(path, path) == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

/* The last line of the file is a sum of the numbers before it, so that a list that has lost a line is none. */
static inline unsigned long scr_veloc_sum(unsigned long sum, unsigned long number)
{
  return (sum * 31 + number) & 0xffffffffu;
}

/* Write it for the open dataset. */
static inline int scr_veloc_list_write(void)
{
  char          path[SCR_MAX_FILENAME];
  unsigned long sum = 0;
  FILE*         f = NULL;
  int           i, ok;

  if (scr_veloc.off) return 1;
  if (scr_veloc_list_path(path, scr_veloc.name, scr_veloc.version, scr_veloc.rank) != VELOC_SUCCESS) return 0;
  f = fopen(path, "w");
  ok = f != NULL && fprintf(f, "veloc 1\nversions %d\n", scr_veloc.nkept) > 0;
  for (i = 0; i < scr_veloc.nkept && ok; i++) {
    sum = scr_veloc_sum(sum, (unsigned)scr_veloc.kept[i]);
    ok = fprintf(f, "%d\n", scr_veloc.kept[i]) > 0;
  }
  ok = ok && fprintf(f, "regions %d\n", scr_veloc.nstored) > 0;
  for (i = 0; i < scr_veloc.nstored && ok; i++) {
    unsigned long bytes = (unsigned long)scr_veloc.stored[i].bytes;
    sum = scr_veloc_sum(scr_veloc_sum(sum, (unsigned)scr_veloc.stored[i].id), bytes);
    ok = fprintf(f, "%d %lu\n", scr_veloc.stored[i].id, bytes) > 0;
  }
  ok = ok && fprintf(f, "sum %lu\n", sum) > 0;
  if (f != NULL && fclose(f) != 0) ok = 0;
  if (!ok) scr_veloc_fail("VELOC_Checkpoint_end", "the list of regions cannot be written");
  return ok;
}

/* Read that of rank WRITER of the loaded dataset into scr_veloc.kept and scr_veloc.stored.  Returns 1 if that is it. */
static inline int scr_veloc_list_read(const char* name, int version, int writer)
{
  char          path[SCR_MAX_FILENAME];
  FILE*         f = NULL;
  unsigned long bytes = 0, sum = 0, right = 0;
  int           i, n = 0, ok;
  void*         grown;

  scr_veloc.nkept = scr_veloc.nstored = 0;
  if (scr_veloc_list_path(path, name, version, writer) != VELOC_SUCCESS || (f = fopen(path, "r")) == NULL) return 0;
  ok = fscanf(f, "veloc 1 versions %d", &n) == 1 && n > 0 && n <= SCR_VELOC_KEPT;
  for (i = 0; i < n && ok; i++) {
    ok = fscanf(f, "%d", &scr_veloc.kept[i]) == 1;
    sum = scr_veloc_sum(sum, (unsigned)scr_veloc.kept[i]);
  }
  if (ok) scr_veloc.nkept = n;
  ok = ok && fscanf(f, " regions %d", &n) == 1 && n >= 0;
  for (i = 0; i < n && ok; i++) {
    grown = realloc(scr_veloc.stored, ((size_t)i + 1) * sizeof *scr_veloc.stored);
    if (grown != NULL) scr_veloc.stored = (scr_veloc_stored*)grown;
    ok = grown != NULL && fscanf(f, "%d %lu", &scr_veloc.stored[i].id, &bytes) == 2;
    if (!ok) break;
    scr_veloc.stored[i].bytes = (size_t)bytes;
    sum = scr_veloc_sum(scr_veloc_sum(sum, (unsigned)scr_veloc.stored[i].id), bytes);
  }
  ok = ok && fscanf(f, " sum %lu", &right) == 1 && right == sum;
  fclose(f);
  if (ok) scr_veloc.nstored = n;
  return ok && scr_veloc.kept[scr_veloc.nkept - 1] == version;
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

/* Make the prefix an absolute path, so that names do not depend on the working directory.  Returns 1 if it is one. */
static inline int scr_veloc_find_prefix(void)
{
  const char* prefix = scr_veloc.off ? NULL : SCR_Config("SCR_PREFIX");
  char        cwd[SCR_MAX_FILENAME] = "";
  int         ok = (prefix != NULL && *prefix == '/') || getcwd(cwd, sizeof cwd) != NULL, n;

  n = snprintf(scr_veloc.prefix, SCR_MAX_FILENAME, "%s%s%s", cwd, *cwd && prefix != NULL ? "/" : "",
               prefix != NULL ? prefix : "");
  free((void*)prefix);
  return ok && n < SCR_MAX_FILENAME;
}

static inline int VELOC_Init(MPI_Comm comm, const char* cfg_file)
{
  int rc = SCR_Init_comm(comm);

  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) return VELOC_FAILURE;
  memset(&scr_veloc, 0, sizeof scr_veloc);
  scr_veloc.off = rc == SCR_ERR_DISABLED;
  scr_veloc.on = MPI_Comm_dup(comm, &scr_veloc.comm) == MPI_SUCCESS;
  if (!scr_veloc.on) return VELOC_FAILURE;
  MPI_Comm_rank(scr_veloc.comm, &scr_veloc.rank);
  if (!scr_veloc_all(scr_veloc_find_prefix())) {
    SCR_Finalize();
    scr_veloc.on = 0;
    return scr_veloc_fail("VELOC_Init", "the path of the prefix is too long");
  }
  if (scr_veloc.rank == 0 && !scr_veloc.off)
    fprintf(
        stderr,
        "SCR: VELOC_Init: %s is not read. What stands for its lines: scratch: SCR_CACHE_BASE; persistent: SCR_PREFIX; "
        "mode = async: SCR_FLUSH_ASYNC=1; persistent_interval: SCR_FLUSH=1 copies each version to the prefix, and "
        "the default every 10th; ec_interval: SCR_COPY_TYPE, where SINGLE turns it off; max_versions: "
        "SCR_PREFIX_SIZE; scratch_versions: SCR_CACHE_SIZE\n",
        cfg_file != NULL ? cfg_file : "the configuration file");
  return VELOC_SUCCESS;
}

/* DRAIN changes nothing: the newest version is always copied to the prefix, unless SCR_FLUSH is 0. */
static inline int VELOC_Finalize(int drain)
{
  const char* why = scr_veloc.phase != SCR_VELOC_IDLE ? "a checkpoint or restart is open; end it first" : NULL;
  int         join, rc;

  (void)drain;
  if (scr_veloc_meet("VELOC_Finalize", SCR_VELOC_ALONE, why, &join) != VELOC_SUCCESS) return VELOC_FAILURE;
  rc = SCR_Finalize();
  MPI_Comm_free(&scr_veloc.comm);
  free(scr_veloc.region);
  free(scr_veloc.stored);
  memset(&scr_veloc, 0, sizeof scr_veloc);
  return rc == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

/* ---- regions and files ------------------------------------------------------------------------------------------- */

static inline int VELOC_Mem_protect(int id, void* ptr, size_t count, size_t base_size)
{
  scr_veloc_region* r = scr_veloc_find(id);
  void*             grown;

  if (!scr_veloc.on) return scr_veloc_fail("VELOC_Mem_protect", "call VELOC_Init first");
  if (base_size > 0 && count > (size_t)-1 / 2 / base_size)
    return scr_veloc_fail("VELOC_Mem_protect", "the region has more bytes than a file can have");
  if (ptr == NULL && count * base_size > 0) return scr_veloc_fail("VELOC_Mem_protect", "the region has no address");
  if (r == NULL) {
    grown = realloc(scr_veloc.region, ((size_t)scr_veloc.nregions + 1) * sizeof *r);
    if (grown == NULL) return scr_veloc_fail("VELOC_Mem_protect", "out of memory");
    scr_veloc.region = (scr_veloc_region*)grown;
    r = &scr_veloc.region[scr_veloc.nregions++];
    r->id = id;
    r->told = 0;
  }
  r->data = ptr;
  r->count = count;
  r->size = base_size;
  return VELOC_SUCCESS;
}

static inline int VELOC_Mem_unprotect(int id)
{
  scr_veloc_region* r = scr_veloc_find(id);

  if (r == NULL) return scr_veloc_fail("VELOC_Mem_unprotect", "no region has this number");
  scr_veloc_untell();
  *r = scr_veloc.region[--scr_veloc.nregions];
  return VELOC_SUCCESS;
}

/* The file lies below the dataset, in a directory of this rank: so each rank and each version has its own. */
static inline int VELOC_Route_file(const char* original, char* routed)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  n;

  if (original == NULL || *original == '\0' || routed == NULL || scr_veloc.phase == SCR_VELOC_IDLE)
    return scr_veloc_fail("VELOC_Route_file", "it needs a name and a buffer, between a begin and an end");
  if (strstr(original, "..") != NULL) return scr_veloc_fail("VELOC_Route_file", "the name must not have .. in it");
  n = snprintf(file, sizeof file, "rank_%d/%s", scr_veloc.rank, original);
  if (scr_veloc.off) n = snprintf(file, sizeof file, "%s", original);
  if (n >= (int)sizeof file || (!scr_veloc.off && scr_veloc_path(path, scr_veloc.name, scr_veloc.version, file) != 0))
    return scr_veloc_fail("VELOC_Route_file", "the name is too long");
  return SCR_Route_file(scr_veloc.off ? file : path, routed) == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

/* ---- checkpoint -------------------------------------------------------------------------------------------------- */

/* SCR_Have_restart where it has an answer: FLAG is 0 and VELOC_SUCCESS returned once this run has written. */
static inline int scr_veloc_loaded(int* flag, char* dataset)
{
  *flag = 0;
  *dataset = '\0';
  if (scr_veloc.began) return VELOC_SUCCESS;
  return SCR_Have_restart(flag, dataset) == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

/* DATASET, the loaded one, is not of the label NAME: rank 0 says what to do. */
static inline int scr_veloc_foreign(const char* call, const char* name, const char* dataset)
{
  char why[3 * SCR_MAX_FILENAME];

  snprintf(why, sizeof why,
           "the newest checkpoint is %s, which is no version of %s; a prefix has checkpoints of one name: give %s an "
           "SCR_PREFIX of its own, or begin anew here with SCR_FRESH_START=1",
           dataset, name, name);
  return scr_veloc.rank == 0 ? scr_veloc_fail(call, why) : VELOC_FAILURE;
}

static inline int VELOC_Checkpoint_begin(const char* name, int version)
{
  const char* call = "VELOC_Checkpoint_begin";
  const char* why = scr_veloc_args(name, version);
  char        dataset[SCR_MAX_FILENAME];
  int         flag, join;

  if (why == NULL && *scr_veloc.name && strcmp(scr_veloc.name, name) != 0)
    why = "a run has checkpoints of one name: protect all that is to be saved, and keep to the first name";
  if (why == NULL && scr_veloc.nkept > 0 && version < scr_veloc.kept[scr_veloc.nkept - 1])
    why = "the version is smaller than that of the checkpoint before";
  if (scr_veloc_meet(call, SCR_VELOC_ALONE + 1, why, &join) != VELOC_SUCCESS) return VELOC_FAILURE;
  if (scr_veloc_loaded(&flag, dataset) != VELOC_SUCCESS) return VELOC_FAILURE;
  if (flag && scr_veloc_version(dataset, name) < 0) return scr_veloc_foreign(call, name, dataset);
  scr_veloc_dataset(dataset, name, version);
  if (SCR_Start_output(dataset, SCR_FLAG_CHECKPOINT) != SCR_SUCCESS) return VELOC_FAILURE;
  if (!*scr_veloc.name) scr_veloc.nkept = 0; /* it begins anew, beside versions that it has not read */
  if (!*scr_veloc.name && flag && scr_veloc.rank == 0)
    scr_veloc_fail(call, "there are checkpoints, but this run has not restarted from one: it begins anew");
  snprintf(scr_veloc.name, sizeof scr_veloc.name, "%s", name);
  scr_veloc.version = version;
  scr_veloc.began = 1;
  scr_veloc.phase = SCR_VELOC_WRITING;
  scr_veloc.put = scr_veloc.refused = scr_veloc.nstored = 0;
  return VELOC_SUCCESS;
}

/* Tell scr.h the regions that are to be written, and note them.  Returns what is wrong, or NULL. */
static inline const char* scr_veloc_choose(int mode, const int* ids, int n)
{
  void* grown;
  int   i;

  if (scr_veloc.phase != SCR_VELOC_WRITING) return "call VELOC_Checkpoint_begin first";
  if (scr_veloc.put) return "the regions of this checkpoint are written already";
  if (mode < VELOC_CKPT_ALL || mode > VELOC_CKPT_REST || (mode != VELOC_CKPT_ALL && n > 0 && ids == NULL))
    return "the mode is none, or there are no numbers of regions";
  for (i = 0; i < n && mode == VELOC_CKPT_SOME; i++)
    if (scr_veloc_find(ids[i]) == NULL) return "a region that is to be written is not protected";
  grown = realloc(scr_veloc.stored, ((size_t)scr_veloc.nregions + 1) * sizeof *scr_veloc.stored);
  if (grown == NULL) return "out of memory";
  scr_veloc.stored = (scr_veloc_stored*)grown;
  scr_veloc_untell();
  scr_veloc.nstored = 0;
  for (i = 0; i < scr_veloc.nregions; i++) {
    scr_veloc_region* r = &scr_veloc.region[i];
    if (!scr_veloc_means(mode, ids, n, r->id)) continue;
    if (!scr_veloc_tell(r, r->count, r->size)) return SCR_Last_error();
    scr_veloc.stored[scr_veloc.nstored].id = r->id;
    scr_veloc.stored[scr_veloc.nstored++].bytes = r->count * r->size;
  }
  return NULL;
}

/* Write the regions that MODE means with the N numbers IDS, for CALL. */
static inline int scr_veloc_put(const char* call, int mode, const int* ids, int n)
{
  const char* why = scr_veloc_choose(mode, ids, n);
  int         join;

  if (scr_veloc_meet(call, SCR_VELOC_MEM, why, &join) != VELOC_SUCCESS) {
    scr_veloc.refused = 1;
    return VELOC_FAILURE;
  }
  scr_veloc.put = 1;
  return SCR_Put_regions() == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

static inline int VELOC_Checkpoint_selective(int mode, int* ids, int id_count)
{
  return scr_veloc_put("VELOC_Checkpoint_selective", mode, ids, id_count);
}

static inline int VELOC_Checkpoint_mem(void)
{
  return scr_veloc_put("VELOC_Checkpoint_mem", VELOC_CKPT_ALL, NULL, 0);
}

/*
** All ranks meet in CALL, which ends a checkpoint or restart; WHY as above.  While others MOVE regions, of which this
** rank has none, it takes part.  Returns 1 when all are at the end, and nothing is wrong.
*/
static inline int scr_veloc_meet_end(const char* call, const char* why, int (*move)(void))
{
  int join, ok;

  do {
    ok = scr_veloc_meet(call, SCR_VELOC_END, why, &join) == VELOC_SUCCESS;
    if (join && why == NULL && !ok) scr_veloc.refused = 1;
    if (join && ok) {
      scr_veloc_untell();
      move();
    }
  } while (join && why == NULL);
  return ok;
}

static inline int VELOC_Checkpoint_end(int success)
{
  const char* why = scr_veloc.phase != SCR_VELOC_WRITING ? "call VELOC_Checkpoint_begin first" : NULL;
  int         ok;

  if (!scr_veloc_meet_end("VELOC_Checkpoint_end", why, SCR_Put_regions)) return VELOC_FAILURE;
  scr_veloc_keep(scr_veloc.version);
  ok = scr_veloc_list_write();
  scr_veloc.phase = SCR_VELOC_IDLE;
  return SCR_Complete_output(success && ok && !scr_veloc.refused) == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

/* Wait for flushes; without SCR_FLUSH_ASYNC=1 there is none to wait for. */
static inline int VELOC_Checkpoint_wait(void)
{
  const char* why = scr_veloc.phase != SCR_VELOC_IDLE ? "end the checkpoint or restart first" : NULL;
  int         join;

  if (scr_veloc_meet("VELOC_Checkpoint_wait", SCR_VELOC_ALONE + 2, why, &join) != VELOC_SUCCESS) return VELOC_FAILURE;
  return SCR_Wait(NULL) == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

static inline int VELOC_Checkpoint(const char* name, int version)
{
  int ok;

  if (VELOC_Checkpoint_wait() != VELOC_SUCCESS || VELOC_Checkpoint_begin(name, version) != VELOC_SUCCESS)
    return VELOC_FAILURE;
  ok = scr_veloc_put("VELOC_Checkpoint", VELOC_CKPT_ALL, NULL, 0) == VELOC_SUCCESS;
  return VELOC_Checkpoint_end(ok);
}

/* ---- restart ----------------------------------------------------------------------------------------------------- */

/* Note which versions of NAME there are: those that VERSION, which is loaded, knows of.  It looks only once. */
static inline void scr_veloc_learn(const char* name, int version)
{
  int writers = 1;

  if (scr_veloc.nknown > 0) return;
  SCR_Restart_ranks(&writers);
  if (!scr_veloc_all(scr_veloc_list_read(name, version, scr_veloc.rank % writers))) {
    scr_veloc.kept[0] = version;
    scr_veloc.nkept = 1;
  }
  memcpy(scr_veloc.known, scr_veloc.kept, (size_t)scr_veloc.nkept * sizeof *scr_veloc.kept);
  scr_veloc.nknown = scr_veloc.nkept;
  snprintf(scr_veloc.known_name, sizeof scr_veloc.known_name, "%s", name);
  scr_veloc.nkept = scr_veloc.nstored = 0;
}

/* VERSION is not offered again. */
static inline void scr_veloc_unlearn(int version)
{
  int i, n = 0;

  for (i = 0; i < scr_veloc.nknown; i++)
    if (scr_veloc.known[i] != version) scr_veloc.known[n++] = scr_veloc.known[i];
  scr_veloc.nknown = n;
}

/* The newest version of NAME, and with VERSION > 0 the newest that is less.  It is loaded then. */
static inline int VELOC_Restart_test(const char* name, int version)
{
  const char* call = "VELOC_Restart_test";
  char        dataset[SCR_MAX_FILENAME];
  const char* why = scr_veloc_args(name, version);
  int         flag, join, loaded, i;

  if (why == NULL && scr_veloc.began) why = "this run has written; only the next run restarts from its checkpoints";
  if (scr_veloc_meet(call, SCR_VELOC_ALONE + 3, why, &join) != VELOC_SUCCESS) return VELOC_FAILURE;
  scr_veloc_loaded(&flag, dataset);
  loaded = flag ? scr_veloc_version(dataset, name) : VELOC_FAILURE;
  if (flag && loaded < 0) return scr_veloc_foreign(call, name, dataset);
  if (flag) scr_veloc_learn(name, loaded);
  for (i = scr_veloc.nknown - 1; i >= 0 && strcmp(name, scr_veloc.known_name) == 0; i--) {
    int known = scr_veloc.known[i];
    scr_veloc_dataset(dataset, name, known);
    if ((version == 0 || known < version) && (known == loaded || SCR_Current(dataset) == SCR_SUCCESS)) return known;
  }
  return VELOC_FAILURE;
}

static inline int VELOC_Restart_begin(const char* name, int version)
{
  const char* call = "VELOC_Restart_begin";
  char        dataset[SCR_MAX_FILENAME], wanted[SCR_MAX_FILENAME];
  const char* why = scr_veloc_args(name, version);
  int         flag, join, writers = 1;

  if (why == NULL && scr_veloc.began) why = "this run has written; only the next run restarts from its checkpoints";
  if (why == NULL && *scr_veloc.name && strcmp(scr_veloc.name, name) != 0) why = "a run has checkpoints of one name";
  if (scr_veloc_meet(call, SCR_VELOC_ALONE + 4, why, &join) != VELOC_SUCCESS) return VELOC_FAILURE;
  scr_veloc_dataset(wanted, name, version);
  scr_veloc_loaded(&flag, dataset);
  if (flag && scr_veloc_version(dataset, name) >= 0) scr_veloc_learn(name, scr_veloc_version(dataset, name));
  if ((!flag || strcmp(dataset, wanted) != 0) && SCR_Current(wanted) != SCR_SUCCESS) return VELOC_FAILURE;
  if (SCR_Restart_ranks(&writers) != SCR_SUCCESS || SCR_Start_restart(NULL) != SCR_SUCCESS) return VELOC_FAILURE;
  if (!scr_veloc_all(scr_veloc_list_read(name, version, scr_veloc.rank % writers))) {
    scr_veloc.nkept = 0;
    SCR_Complete_restart(0);
    scr_veloc_unlearn(version);
    return scr_veloc.rank == 0 ? scr_veloc_fail(call, "its list of regions is damaged or missing") : VELOC_FAILURE;
  }
  snprintf(scr_veloc.name, sizeof scr_veloc.name, "%s", name);
  scr_veloc.version = version;
  scr_veloc.phase = SCR_VELOC_READING;
  scr_veloc.damaged = scr_veloc.refused = 0;
  return VELOC_SUCCESS;
}

static inline int VELOC_Recover_size(int id)
{
  const scr_veloc_stored* s = scr_veloc.phase == SCR_VELOC_READING ? scr_veloc_find_stored(id) : NULL;

  if (scr_veloc.phase != SCR_VELOC_READING)
    return scr_veloc_fail("VELOC_Recover_size", "call VELOC_Restart_begin first");
  if (s != NULL && s->bytes > INT_MAX)
    return scr_veloc_fail("VELOC_Recover_size", "the region has more bytes than an int can tell; use SCR_Region_size");
  return s != NULL ? (int)s->bytes : VELOC_FAILURE;
}

/* Tell scr.h the regions that are to be filled.  Returns what is wrong, or NULL. */
static inline const char* scr_veloc_expect(int mode, const int* ids, int n)
{
  scr_veloc_region* r;
  int               i;

  if (scr_veloc.phase != SCR_VELOC_READING) return "call VELOC_Restart_begin first";
  if (mode < VELOC_RECOVER_ALL || mode > VELOC_RECOVER_REST || (mode != VELOC_RECOVER_ALL && n > 0 && ids == NULL))
    return "the mode is none, or there are no numbers of regions";
  for (i = 0; i < n && mode == VELOC_RECOVER_SOME; i++)
    if (scr_veloc_find_stored(ids[i]) == NULL) return "the checkpoint does not have a region that is wanted";
  scr_veloc_untell();
  for (i = 0; i < scr_veloc.nstored; i++) {
    const scr_veloc_stored* s = &scr_veloc.stored[i];
    if (!scr_veloc_means(mode, ids, n, s->id)) continue;
    if ((r = scr_veloc_find(s->id)) == NULL) return "a region of the checkpoint is not protected";
    if (r->count * r->size < s->bytes) return "a region is smaller than in the checkpoint; VELOC_Recover_size tells";
    if (!scr_veloc_tell(r, s->bytes, 1)) return SCR_Last_error();
  }
  return NULL;
}

/* Read what scr.h protects now.  A checkpoint that is damaged is not the same as one that has other regions or none. */
static inline int scr_veloc_read(void)
{
  int rc = SCR_Get_regions();

  if (rc == SCR_ERR_MISSING || rc == SCR_ERR_DIFFER || rc == SCR_ERR_NOT_FOUND) scr_veloc.refused = 1;
  else if (rc != SCR_SUCCESS) scr_veloc.damaged = 1;
  return rc == SCR_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

/* VELOC_Recover_selective, for CALL. */
static inline int scr_veloc_recover(const char* call, int mode, int* ids, int id_count)
{
  const char* why = scr_veloc_expect(mode, ids, id_count);
  int         join;

  if (scr_veloc_meet(call, SCR_VELOC_MEM, why, &join) == VELOC_SUCCESS) return scr_veloc_read();
  scr_veloc.refused = 1;
  return VELOC_FAILURE;
}

static inline int VELOC_Recover_selective(int mode, int* ids, int id_count)
{
  return scr_veloc_recover("VELOC_Recover_selective", mode, ids, id_count);
}

static inline int VELOC_Recover_mem(void)
{
  return scr_veloc_recover("VELOC_Recover_mem", VELOC_RECOVER_ALL, NULL, 0);
}

/* If a rank has no SUCCESS, an older version is offered, unless it was the program that did not fit the checkpoint. */
static inline int VELOC_Restart_end(int success)
{
  const char* why = scr_veloc.phase != SCR_VELOC_READING ? "call VELOC_Restart_begin first" : NULL;
  int         ok;

  if (!scr_veloc_meet_end("VELOC_Restart_end", why, scr_veloc_read)) return VELOC_FAILURE;
  scr_veloc.phase = SCR_VELOC_IDLE;
  ok = scr_veloc_all(success && !scr_veloc.damaged);
  if (SCR_Complete_restart(ok || (scr_veloc.refused && !scr_veloc.damaged)) != SCR_SUCCESS) ok = 0;
  if (!ok && !(scr_veloc.refused && !scr_veloc.damaged)) scr_veloc_unlearn(scr_veloc.version);
  if (!ok) scr_veloc.name[0] = '\0';
  if (!ok) scr_veloc.nkept = 0;
  return ok ? VELOC_SUCCESS : VELOC_FAILURE;
}

static inline int VELOC_Restart(const char* name, int version)
{
  int ok;

  if (VELOC_Restart_begin(name, version) != VELOC_SUCCESS) return VELOC_FAILURE;
  ok = scr_veloc_recover("VELOC_Restart", VELOC_RECOVER_ALL, NULL, 0) == VELOC_SUCCESS;
  return VELOC_Restart_end(ok);
}

/* ---- what is not here -------------------------------------------------------------------------------------------- */

#if defined(__GNUC__) && (!defined(__clang__) || __clang_major__ >= 14)
#define SCR_VELOC_USE(text) __attribute__((error(text)))
#else
#define SCR_VELOC_USE(text) /* the linker names the call */
#endif

int VELOC_Init_single(unsigned int id, const char* cfg_file)
    SCR_VELOC_USE("not over scr.h: call VELOC_Init(MPI_COMM_SELF, ...), and give each process an SCR_PREFIX");
int VELOC_Checkpoint_finished(void) SCR_VELOC_USE("not over scr.h: call VELOC_Checkpoint_wait, which waits");
int VELOC_Backend_ready(void) SCR_VELOC_USE("not over scr.h: call VELOC_Checkpoint_wait, which waits");
int VELOC_Cleanup(const char* name)
    SCR_VELOC_USE("not over scr.h: SCR_Delete deletes one version, of the name <name>.v<version>");

#ifdef __cplusplus
}
#endif

#endif
