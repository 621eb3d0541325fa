/*
** fault.h - calls of the operating system that fail when a test wants it: the one fault table of all test programs.
**
** The library makes its calls through the table scr_os.  A fault replaces all of its entries, and says which calls it
** concerns, on which files, and what happens at the N-th of them: it fails, moves half of its bytes, or kills the
** process; or a function of the test is told.  One fault is in place at a time, until fault_end, which tells how many
** calls were struck.  So a test runs for N = 1, 2, 3 and so on until fault_end is 0: then each call has failed once.
**
** fault.c, which is included behind the library, has the functions.
*/
#ifndef FAULT_H
#define FAULT_H

enum {              /* what happens */
       FAULT_FAIL,  /* the N-th call fails */
       FAULT_DEAD,  /* the N-th call and all later ones fail */
       FAULT_SHORT, /* the N-th transfer moves half of its bytes */
       FAULT_TORN,  /* the N-th transfer moves half of its bytes, and all later ones fail */
       FAULT_KILL,  /* the process dies before the N-th call, in the middle of it when it is a transfer */
       FAULT_COUNT  /* nothing; the calls are counted */
};

enum { /* the calls: bits that can be combined */
       FAULT_OPEN = 1 << 0,
       FAULT_CREATE = 1 << 1, /* to open with O_CREAT */
       FAULT_CLOSE = 1 << 2,  /* closes even when it fails */
       FAULT_READ = 1 << 3,
       FAULT_PREAD = 1 << 4,
       FAULT_WRITE = 1 << 5,
       FAULT_PWRITE = 1 << 6,
       FAULT_FTRUNCATE = 1 << 7,
       FAULT_FSYNC = 1 << 8,
       FAULT_RENAME = 1 << 9, /* the path that counts is the new one */
       FAULT_UNLINK = 1 << 10,
       FAULT_MKDIR = 1 << 11,
       FAULT_RMDIR = 1 << 12,
       FAULT_FLOCK = 1 << 13,
       FAULT_LSTAT = 1 << 14,
       FAULT_LINK = 1 << 15, /* to link, as to rename: the new path */
       FAULT_ALL = (1 << 16) - 1,
       FAULT_READS = FAULT_READ | FAULT_PREAD,
       FAULT_TRANSFERS = FAULT_READS | FAULT_WRITE | FAULT_PWRITE
};

/*
** From the N-th of CALLS on, MODE happens, with the error ERR; 0 stands for ENOSPC where a call creates or writes a
** file, and for EIO elsewhere.
*/
void fault_at(int mode, unsigned calls, int err, int n);

/* After fault_at: only calls on files whose paths hold BASE are concerned. */
void fault_below(const char* base);

/* The next N of CALLS on files whose paths hold both BASE and PART fail, with the errors of ERR 0. */
void fault_on(unsigned calls, const char* base, const char* part, int n);

/*
** HOOK is told of each of CALLS on such files before it is made; the call fails with the errno that HOOK returns, if
** any.
*/
void fault_watch(unsigned calls, const char* base, const char* part, int (*hook)(const char* path));

/*
** A job dies at a rename: AT(0) is called before the N-th rename to a file whose path holds BASE and whose last
** component matches the pattern NAME (fnmatch), and AT(1) behind it.  AT kills the process; or it sets *DEAD, which
** processes may share, and from then on all calls fail in each of them, so that nothing more of it is seen: the
** rename too, when AT(0) has set it.
*/
void fault_rename_kills(const char* base, const char* name, int n, void (*at)(int done), const int* dead);

/* Put the real calls back; how many were struck. */
int fault_end(void);

/* How many of CALLS have been struck, or only seen, since the fault was put in place. */
int fault_struck(unsigned calls);
int fault_seen(unsigned calls);

#endif
