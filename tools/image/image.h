/*
** image.h - the parts of scr_image.o: process images of MPI programs that cannot be changed.
**
** The object has two sides.  The native side (start.c, ranges.c, save.c, lib.c, agree.c) is fresh in each process: its
** variables are cut out of an image, its calls of libc and MPI go through slots (native.S, made by object.sh) and so
** never reach the functions that the saved side puts before them.  The saved side (heap.c, maps.c, threads.c, libc.c,
** files.c, streams.c, p2p.c, drain.c, probe.c, plan.c, coll.c, comm.c, group.c, attr.c, topo.c, types.c, errors.c,
** old.c, calls.c) belongs to the program: its variables are in the image, as are the program's.
**
**   rule 1  A pointer to the native side is never kept in a saved variable, but for a function or a constant.
**   rule 2  A function that takes the context is on the saved side, and so is each of its callers in this object.
**   rule 3  What cannot be restarted is refused by name: at the start, or before an image is written.
*/
#ifndef IMAGE_H
#define IMAGE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "format.h"

/* What other objects may call or replace; all else is local to scr_image.o. */
#define IMG_API __attribute__((visibility("default")))

/* The address to which the function returns that uses this: it tells the side of the caller. */
#define IMG_CALLER() __builtin_return_address(0)

/* The call before this is none that the compiler may turn into a jump, which would hide this function from what it
   calls. */
#define IMG_RETURNS() __asm__ volatile("" ::: "memory")

/* The native function behind a name that the saved side may have defined anew. */
#define IMG_NATIVE(f) extern __typeof__(f) scr_native_##f

/* The function F also has the NAME: sizes of files have 64 bits here, whichever a program calls. */
#if __GNUC__ >= 9 && !defined(__clang__)
#define IMG_ALSO(f, name) IMG_API extern __typeof__(f) name __attribute__((alias(#f), copy(f)))
#else
#define IMG_ALSO(f, name) IMG_API extern __typeof__(f) name __attribute__((alias(#f)))
#endif

/* ---- fixed addresses (heap.c, start.c) ---- */

#define IMG_HEAP_BASE   0x200000000000UL
#define IMG_HEAP_LIMIT  0x280000000000UL
#define IMG_HEAP_STEP   (64UL << 20)
#define IMG_MAP_BASE    0x280000000000UL
#define IMG_MAP_LIMIT   0x300000000000UL
#define IMG_STACK_TOP   0x308000000000UL
#define IMG_STACK_MAX   (1UL << 30) /* where ulimit -s says unlimited, or more than this */
#define IMG_STREAM_BASE 0x310000000000UL
#define IMG_STREAM_SIZE 1024UL /* more than a stream of libc has */
#define IMG_STREAMS     256
#define IMG_RED_ZONE    256UL /* saved below the stack pointer */

/* ---- ranges.c ---- */

/* Find the objects of the process, their sides, and the functions of the slots; once, also within the first malloc. */
void img_ranges_start(void);
/* From now on, no caller is on the saved side: the program runs as if this object were not linked. */
void img_ranges_off(void);
/* 1 if images are made in this process. */
extern int img_on;
/* 1 if the process has OpenMP's library. */
extern int img_openmp;
/* 1 if ADDRESS is in the text of a saved object. */
int img_is_saved_text(const void* address);
/* Why this program cannot have images, or NULL: libraries of both sides, imports that the table does not know. */
const char* img_ranges_refuse(void);
/* Keys of threads for the program: the first that a process makes, so that they have the same numbers in each. */
#define IMG_KEYS 24
extern unsigned img_keys[IMG_KEYS];
/* The function NAME of a native object; NULL if there is none. */
void* img_native_symbol(const char* name);
/* What the program means by NAME, on whichever side; NULL if there is nothing. */
void* img_any_symbol(const char* name);
/* What is saved of the objects, in the order of their addresses.  Returns the number, or -1 if not all is found. */
int img_ranges_saved(img_range* ranges);
/* The identity: saved objects, libc and MPI.  Returns their number. */
int img_ranges_objects(img_object* objects);

/* ---- save.c ---- */

extern double      img_bytes; /* of the last image of this process */
extern img_context img_here;  /* native: the context of the image that is being written or loaded */

/* Save the context.  Returns 0; and once more 1, in the process that loads the image. */
int img_context_take(img_context* c) __attribute__((returns_twice));
/* Go on where the context was saved, with CANARY as the stack protector's word. */
void img_context_resume(const img_context* c, uint64_t canary) __attribute__((noreturn));
/* Write the image N of this process to FILE.  Returns NULL, or what failed. */
const char* img_write(const char* file, uint64_t n);
/* Compare FILE with this process.  Returns 0, 1 if it cannot be read, 2 if this process cannot load it: WHY (of 400) */
int img_compare(const char* file, char* why);
/*
** Load the file that img_compare accepted; nothing of the saved side may be used any more.  Returns 0, 1 if it cannot
** be read, or 2 if this process does not get the memory.
*/
int img_load(void);
/* Jump into what was loaded. */
void img_resume(void) __attribute__((noreturn));

/* ---- lib.c: the library ---- */

/* Start the library over ctl, and load the newest image, if there is one: then this does not return. */
void img_lib_start(void);
/* 1 if rank 0 should ask all ranks to stop: the halt file has changed; or SCR_IMAGE_ASK seconds are over. */
int img_lib_halt_changed(void);
int img_lib_time_to_ask(void);
/* All ranks have stopped: 1 if an image is due.  Collective. */
int img_lib_due(void);
/* The number of the next image, from N on.  Collective. */
uint64_t img_lib_number(uint64_t n);
/* Write the image N, unless it is known WHY it cannot be; the context has been taken.  Collective. */
void img_lib_write(uint64_t n, const char* why);
/* After a stop: end the run if the library says so.  Collective. */
void img_lib_leave(void);
/* End the library.  Returns 0 if it could not save the newest image.  Collective. */
int img_lib_end(void);
/* sigaction() of the program: the layer's handler calls the program's, and the library's for SCR_SIGNALS. */
int img_lib_sigaction(int number, const struct sigaction* action, struct sigaction* before);
/* From now on the program's handlers wait; those whose signals have come are called, and none waits any more. */
void img_signals_defer(void);
void img_signals_deliver(void);
/* 1 if a signal of SCR_SIGNALS has arrived and was not asked for yet. */
int img_lib_signalled(void);
/* Rank 0 has asked; a later signal counts anew. */
void img_lib_asked(void);
/* Seconds of the parameter NAME of the environment, or DEFAULT. */
double img_seconds(const char* name, double otherwise);

/* ---- agree.c ---- */

#define IMG_COMMS    255 /* communicators of a rank at a time */
#define IMG_TAG_BITS 17  /* of a collective, within those of all communicators */
#define IMG_TAGS     ((IMG_COMMS + 1) << IMG_TAG_BITS)
#define IMG_REQUESTS 0x1000000                 /* a rank has fewer */
#define IMG_WORDS    (IMG_TAGS + IMG_REQUESTS) /* then one for each request (D3 of drain.c) */

extern int      img_rank, img_ranks;
extern MPI_Comm img_ctl, img_self; /* native duplicates of the world and of MPI_COMM_SELF; errors return */
/* Native duplicates of the world: the one for collectives, and the channels of the communicators of this rank. */
extern MPI_Comm img_coll, img_channel[IMG_COMMS];
/* How many channels this process has; ask for more, up to IMG_COMMS; 1 if they are being made. */
int  img_channels(void);
void img_channels_ask(int count);
int  img_channels_growing(void);
/* At a restart: make as many as the rank with the most needs.  Collective. */
void img_channels_make(int count);
/* Complete what has begun natively: MPI is about to end.  Collective. */
void img_agree_settle(void);
/* Make the native communicators.  Collective. */
void img_agree_start(void);
/* Look for requests.  OBJECTION tells why this rank must not be saved now, or NULL.  Returns 1 if all have stopped. */
int img_agree_poll(const char* (*objection)(void));
/* No word is awaited any more: MPI is about to end. */
void img_agree_hear_no_more(void);
/* This rank is in MPI_Finalize.  Returns 1 when all are, and no image is being asked for any more. */
int img_agree_ending(void);
/* Compare totals: FROM[r] becomes what rank r has SENT to this rank.  Collective. */
void img_agree_totals(const uint64_t* sent, uint64_t* from);
/* All ranks have come here.  Collective. */
void img_agree_barrier(void);
/* 1 if any rank has a VALUE above 0.  Collective. */
int img_agree_any(int value);
/* This rank has OUTS[r] numbers for rank r, and gets BACKS[r] from it; then these numbers, in the order of the ranks.
   Collective. */
void img_agree_counts(const int* outs, int* backs);
void img_agree_exchange(const int* out, const int* outs, int* back, const int* backs);

/* ---- start.c ---- */

/* Print one line, `scr_image: rank 3 on node7: ...`. */
void img_say(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Print it and end the process with 1. */
void img_die(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The program's stack: its lowest and highest address. */
extern uint64_t img_stack_low;
/* 1 once main() of the program runs; it is in each image (libc.c). */
extern int img_in_main;
/* The arguments of the first start. */
extern char img_arguments[512];
/* 1 if P is on it. */
int img_is_stack(const void* p);
/* Map LENGTH zero bytes at ADDRESS, where nothing is yet.  Returns 1 on success. */
int img_map(uint64_t address, uint64_t length);
/* Unmap them. */
void img_unmap(uint64_t address, uint64_t length);
/* Give the memory of whole pages back; they are zero then. */
void img_forget(uint64_t address, uint64_t length);
/* Streams of libc at place I of the program's: on FD; standard input that reads with FUNCTIONS. */
FILE* img_stream_make(int i, int fd, const char* mode);
FILE* img_stream_input(cookie_io_functions_t functions);
/* What the next malloc() of this thread by native code has to return, and has not yet; and that malloc(). */
extern __thread void* img_next_block;
void*                 img_take_block(size_t n);
/* What the next pthread_once() of this thread has to call (T4 of threads.c). */
extern __thread void (*img_once)(void);
/* 1 if P is a place of a stream. */
int img_is_stream(const void* p);
/* Seconds, as MPI_Wtime of the first start: they go on from the image's. */
double img_wtime(void);
/* What is to be added to the native MPI_Wtime. */
extern double img_wtime_add;

/* ---- heap.c (saved) ---- */

/* Allocate on the saved heap, whoever calls. */
void* img_alloc(size_t n);
/* More room on it for the table *AT, of *ROOM elements of SIZE bytes each: the new ones are zero. */
void img_widen(void* at, int* room, size_t size);
/* What is in use of the saved heap, in whole pages; its end is where it is mapped to. */
uint64_t img_heap_used(void);
uint64_t img_heap_end(void);
/* The next whole pages [*FROM, *TO) that hold nothing, from the block *AT on: first IMG_HEAP_BASE.  0: no more. */
int img_heap_gap(uint64_t* at, uint64_t* from, uint64_t* to);

/* ---- maps.c (saved) ---- */

enum { IMG_UNUSED, IMG_MEMORY, IMG_OF_FILE };

/* What the program has mapped, IMG_MAPS ranges at most.  Returns their number. */
int         img_maps(img_range* ranges);
const char* img_maps_objection(void);

/* ---- threads.c (saved) ---- */

/* Hold LOCK, which is 0 when it is free, while other threads of the program may run. */
void        img_lock(int* lock);
void        img_unlock(int* lock);
const char* img_threads_objection(void);
void        img_threads_save(void);
void        img_threads_resumed(void);
/* Run the destructors of thread-local objects of the main thread. */
void img_run_thread_exits(void);

/* ---- files.c, streams.c, libc.c (saved) ---- */

/* A file for the program, under a number of its own; MODE as of open().  Returns the descriptor, or -1 and errno. */
int img_file_open(const char* path, int flags, mode_t mode);
/* The program has opened another file as FD; has closed FD. */
void img_file_note(int fd);
void img_file_forget(int fd);
/* A number for what FD shares with its duplicates; -2 if the program has not opened FD. */
int img_file_group(int fd);
/* Before all constructors: standard input.  Before main(): nothing is open yet. */
void img_streams_start(void);
void img_files_begin(void);
/* Why the program must not be saved now, or NULL.  Streams are flushed. */
const char* img_streams_objection(void);
const char* img_files_objection(void);
const char* img_libc_objection(void);
/* A library of the program calls the function NAME, which keeps something that an image does not have. */
void img_note_call(const char* name);
/* Before an image: note what of libc the program may have set, and the files that it has open, whose bytes go to disk.
   img_files_save returns NULL, or what failed. */
void        img_libc_save(void);
void        img_streams_save(void);
const char* img_files_save(void);
/* In a process that was restarted: set it again; open and cut the files (collective), and then the streams on them. */
void img_libc_resumed(void);
void img_files_resumed(void);
void img_streams_resumed(void);
/* Run what the program has registered for its end. */
void img_run_exits(void* unused);

/* ---- comm.c (saved) ---- */

typedef struct img_comm {
  int                   slot; /* its channel, and its place in the table of this process */
  int                   rank, size;
  int *                 to, *back; /* the world's rank of each rank, and back, or -1 */
  int                   counts[2]; /* of its collectives, and of the persistent ones */
  int                   freed, users;
  MPI_Errhandler        handler;
  struct img_attribute* attributes;
  struct img_topology*  topology;
  char                  name[MPI_MAX_OBJECT_NAME];
} img_comm;

extern img_comm* img_world;
/* The communicator of HANDLE; NULL, after the error handler of the world was called, if it is none; and back. */
img_comm*               img_comm_find(MPI_Comm handle);
static inline img_comm* img_comm_of(MPI_Comm handle)
{
  return handle == MPI_COMM_WORLD && img_world != NULL ? img_world : img_comm_find(handle);
}
MPI_Comm img_comm_handle(const img_comm* c);
/* C was freed, and nothing uses it any more. */
void img_comm_end(img_comm* c);
/* One more request uses C, or one less: C lives as long as any does, also when it is freed. */
static inline void img_comm_use(img_comm* c, int more)
{
  c->users += more;
  if (c->freed && c->users <= 0) img_comm_end(c);
}
/* Call the error handler of C (NULL: of the world).  Returns CODE.  img_error does nothing for MPI_SUCCESS. */
int               img_error_of(img_comm* c, int code);
static inline int img_error(img_comm* c, int code)
{
  return code == MPI_SUCCESS ? code : img_error_of(c, code);
}
/* The world, and MPI_COMM_SELF. */
void img_comm_start(void);
/* In a process that was restarted: make native what communicators need.  Collective over the world. */
void img_comm_resumed(void);
/* A communicator of SIZE ranks of the world, of which this is one, in the order of RANKS; collective over FROM.  A rank
   that is no MEMBER gets none.  NULL, and the error in RC, if there is none. */
img_comm* img_comm_make(img_comm* from, int member, int size, const int* ranks, int* rc);

/* ---- errors.c (saved) ---- */

void img_errors_resumed(void);

/* ---- held.c, io.c (saved) ---- */

const char* img_held_objection(void);
void        img_io_resumed(void);

/* ---- p2p.c, drain.c, calls.c (saved) ---- */

/* A library of the program calls the function NAME of MPI, which does not work: an error of the world. */
int img_refuse_call(const char* name);
/* Look for requests, and take an image if all ranks have stopped. */
void img_poll(void);
/* Let all collectives that have begun go on, if img_under_way: so many have, and are not complete. */
extern int img_under_way;
void       img_go_on(void);
/* A call of MPI begins: it polls, unless that was done a moment ago, by the cycles of this processor or of the one that
   the image comes from: a program that computes for long between its calls polls in each of them.  Those that begin a
   request, which another call waits for, look less often (p2p.c). */
#define IMG_MOMENT 1000000 /* cycles: 0.2 to 0.5 ms */
extern uint64_t        img_polled;
static inline uint64_t img_cycles(void)
{
  return __builtin_ia32_rdtsc();
}
static inline void img_enter(void)
{
  if (img_under_way > 0) img_go_on();
  if (img_cycles() - img_polled > IMG_MOMENT) img_poll();
}
/* MPI begins: allocate what counts messages. */
void img_p2p_start(void);
/* Complete what can be of the sends, also of those that the program has freed. */
void img_test_sends(void);
/* Before an image: receive all that is under way.  After it: post the receives again. */
void img_drain(void);
void img_repost(void);
/* A round of a wait in which nothing came: go on with collectives, and from time to time poll and yield. */
void img_spin(int* spins);
/* Begin to send to PEER of the world, or receive from it, as a collective of C does; NULL, and the error in RC. */
typedef struct img_message img_message;
img_message* img_message_begin(int receive, const void* buf, int count, MPI_Datatype type, int peer, int tag,
                               img_comm* c, int* rc);
/* 1 if M is complete: it is no more, and its error in RC. */
int img_message_end(img_message* m, int* rc);
/* A native request, of a window or a file, becomes one of the program.  FILE: of which it is a collective, or NULL. */
void img_request_of_native(MPI_Request* handle, void* file);
/* 1 if one of these is not complete. */
int img_requests_held(void);
/* Forget messages of the channel SLOT that nobody has received, also those that have come just now. */
void img_forget_messages(int slot);

#endif
