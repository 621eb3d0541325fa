/* audit.h - what the audit's two sides share: audit.c, and audit_files.h, which is a part of the commands. */
#ifndef SIM_AUDIT_H
#define SIM_AUDIT_H

#include <stddef.h>

#define AUDIT_SETS 128

/* A dataset that the index calls complete. */
typedef struct {
  int       id, ranks, checkpoint;
  int       counts; /* in the window of SCR_PREFIX_SIZE: it is no output, could be fetched, and was not passed over */
  int       read;   /* its bytes are compared */
  int       number; /* in the ledger, as they tell; 0: not known */
  int       files;
  long long created; /* when it was, in microseconds */
  char      name[64];
} audit_set;

/* What an audit is to look at, and what it finds. */
typedef struct {
  int       reads;         /* of so many datasets, the newest, the bytes are compared */
  int       clean;         /* the last run has ended without faults: there is nothing that is not known */
  int       notes_lost;    /* somebody has damaged the flush file */
  int       daemon_struck; /* a daemon was killed in the last run, perhaps as it wrote its file */
  int       lock_held;     /* somebody held a lock of the prefix when the last run began */
  long long since; /* when the last run began, in microseconds since 1970, or later: no older dataset is as new */
  int       sets;
  audit_set set[AUDIT_SETS];
} audit_job;

/* A file of S, which WRITER wrote, has the N bytes at P, or as many that nobody has read, if that is NULL. */
void audit_file(audit_set* s, int writer, const char* path, const unsigned char* p, size_t n);
void audit_set_end(const audit_set* s);

/* A filemap calls dataset ID, NAME, complete, and the cache has the N bytes at P as its file PATH, of WRITER. */
void audit_cache_file(int id, const char* name, int writer, const char* path, const unsigned char* p, size_t n);

/* The user may have removed the dataset NAME from the index. */
int audit_may_lack(const char* name);

/* Others have removed a file of the dataset NAME from the prefix, and nobody was told since that it is there. */
int audit_is_purged(const char* name);

/* The main functions of the processes that look: at the prefix; at the node that they are on. */
void* sim_audit_prefix(void* job);
void* sim_audit_node(void* job);

/* Of the node of the process that asks: a power cut came over it; the last run had a rank there. */
int audit_was_cut(void);
int audit_has_run(void);

/* A run was killed in SCR_Init, or before all ranks were told that the dataset NAME is complete: a rank has files of
** it, or had them before it was rebuilt elsewhere, that no filemap lists. */
int audit_was_struck(const char* name);

/* The file PATH of a cache may be of a start that was killed or could not list what it was to remove, or a file that
** could not be removed, or of a dataset that was not complete, and whose machine has come back: no filemap may list it,
** nor its dataset, before its room is needed. */
int audit_is_remnant(const char* path);

#endif
