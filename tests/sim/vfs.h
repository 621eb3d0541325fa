/* vfs.h - inodes and directories, for vfs.c and files.c. */
#ifndef SIM_VFS_H
#define SIM_VFS_H

#include "sim.h"

/* The bytes of a file; shared while what is cached and what is on the disk are the same. */
typedef struct {
  int    refs;
  size_t n, room;
  char*  p;
} bytes;

/* Names are interned: equal names have equal addresses. */
typedef struct {
  const char* name;
  inode*      to;
} entry;

/* A directory as it is at one time: a hash table. */
typedef struct {
  entry*   slot;
  uint32_t room, n, used;
} names;

/* A change of a directory that is not on the disk yet: `add` leads to `to` from now on, `gone` leads nowhere. */
typedef struct {
  const char *add, *gone;
  inode*      to;
} change;

struct inode {
  int        is_dir, mode, nlink, refs; /* refs: from names now and on the disk, and from who has it open */
  int        lost;                      /* a sync has failed, and forgotten what it was to write */
  int        kept;                      /* somebody has failed to remove it */
  long       number;
  uint64_t   mtime; /* ns */
  tree*      t;
  bytes *    now, *disk;
  names      dir, dir_disk;
  change*    changes;
  uint32_t   nchanges, changes_room;
  open_file* locked_by;
};

struct tree {
  int      id;
  inode*   root;
  long     numbers;
  int      was_cut;     /* a power cut has left what it would */
  uint64_t used, limit; /* bytes of all files, at most */
};

/* The interned name of the N characters at S. */
const char* name_of(const char* s, size_t n);

inode* inode_new(tree* t, int is_dir, int mode); /* MODE less 022, the umask of all processes */
void   inode_release(inode* i);
void   inode_touch(inode* i);

/* The inode NAME of directory D, or NULL. */
inode* dir_child(const inode* d, const char* name);

/* In D, NAME leads to I from now on; NAME leads nowhere; FROM becomes the name TO of E. */
void dir_put(inode* d, const char* name, inode* i);
void dir_remove(inode* d, const char* name);
void dir_move(inode* d, const char* from, inode* e, const char* to);
int  dir_is_within(const inode* top, const inode* d);
void dir_sync(inode* d);

/* The names of D in ascending order, as an array of D->dir.n that the caller frees. */
const char** dir_sorted(const inode* d);

uint64_t file_size(const inode* i);
void     file_sync(inode* i);
int      file_resize(inode* i, uint64_t n); /* 0, or -1 and ENOSPC */

/* Write the N bytes at P to offset AT of I.  Returns how many had room, or -1 and ENOSPC. */
ssize_t file_put(inode* i, const void* p, size_t n, uint64_t at);

#endif
