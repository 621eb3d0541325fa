/*
** trace.h - a log of every change below a directory, over all ranks in one order.
**
** trace.c, which is included behind the library, has the functions.  The calls of the library are made and logged one
** at a time, except that fsync is only logged: what would be lost without it is for the reader of the log to decide.
*/
#ifndef TRACE_H
#define TRACE_H

enum {
  TRACE_OPEN,
  TRACE_WRITE,
  TRACE_TRUNCATE,
  TRACE_FSYNC,
  TRACE_RENAME,
  TRACE_UNLINK,
  TRACE_MKDIR,
  TRACE_RMDIR,
  TRACE_NOTE
};

/* A call that succeeded, as it stands in the log; behind it are its PATH_BYTES and its BYTES. */
typedef struct {
  int       call, rank;
  int       file;       /* the number of the open that it belongs to, from 1 on */
  int       flags;      /* of open */
  long long at;         /* where a write begins; the size to which a file is truncated */
  int       path_bytes; /* below the directory; "" is the directory itself; of a note, its text */
  int       bytes;      /* that are written; of a rename, the new path */
} trace_call;

/* Log to the file LOG what happens below DIR, which all ranks name alike, until trace_end.  Both are collective. */
void trace_begin(const char* dir, const char* log);
void trace_end(void);

/* Log a note of this rank. */
void trace_note(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* The directory PATH, as the application makes it; logged. */
void trace_mkdir(const char* path);

#endif
