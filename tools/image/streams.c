/* ==== STREAMS ===========================================================================================
** The streams of C, FILE: libc's objects, at the same addresses in each process; a restart opens them again on the
** descriptors of files.c.  Standard input, whose bytes are counted, as a restart gets it from its beginning.
**
** Uses       ranges.c (who calls), start.c (places), files.c (descriptors)
** Offers     img_streams_start, img_streams_objection, img_streams_save, img_streams_resumed; fopen, fdopen, freopen,
**            fclose, setvbuf, setbuf, setlinebuf, getline, getdelim, read.
** Invariants
**   M1  The stream of slot I is at place I; but for standard output and error, which are libc's own.
**   M2  When an image is taken, no stream holds bytes that the program has written; of those that it reads, only
**       standard input has some.
** Failure    As in C.  A stream that cannot be flushed keeps images from being taken.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

IMG_NATIVE(fopen);
IMG_NATIVE(fdopen);
IMG_NATIVE(freopen);
IMG_NATIVE(fclose);
IMG_NATIVE(fopencookie);
IMG_NATIVE(setvbuf);
IMG_NATIVE(getdelim);
IMG_NATIVE(read);
IMG_NATIVE(write);
IMG_NATIVE(open);
IMG_NATIVE(close);
IMG_NATIVE(dup2);

typedef struct {
  int    used, fd;
  char   mode[8];
  int    is_set, buffer_mode; /* by setvbuf() */
  char*  buffer;
  size_t buffer_size;
  int    flags; /* at the image: its end or an error was seen */
} stream;

#define KEPT      (_IO_EOF_SEEN | _IO_ERR_SEEN)
#define IN_BACKUP 0x0100 /* of _flags: a character was put back that is not in the file */

static int         lock;                 /* of the slots */
static stream      streams[IMG_STREAMS]; /* 0 to 2: the standard ones */
static const char* objection;            /* for ever */
static char        text[300];

/* ---- slots and places ---- */

static FILE* at_slot(int i)
{
  return i == 1 ? stdout : i == 2 ? stderr : (FILE*)(IMG_STREAM_BASE + (uint64_t)i * IMG_STREAM_SIZE);
}

/* The slot of F, or -1. */
static int slot_of(const FILE* f)
{
  uint64_t place = ((uint64_t)f - IMG_STREAM_BASE) / IMG_STREAM_SIZE;

  return f == stdout ? 1 : f == stderr ? 2 : (uint64_t)f >= IMG_STREAM_BASE && place < IMG_STREAMS ? (int)place : -1;
}

/* A slot for a stream on FD; -1 if there is none. */
static int take_slot(int fd, const char* mode)
{
  int i = 3;

  img_lock(&lock);
  while (i < IMG_STREAMS && streams[i].used) i++;
  if (i < IMG_STREAMS) {
    memset(&streams[i], 0, sizeof streams[i]);
    streams[i].used = 1, streams[i].fd = fd;
    snprintf(streams[i].mode, sizeof streams[i].mode, "%s", mode);
  }
  img_unlock(&lock);
  return i < IMG_STREAMS ? i : -1;
}

/* A stream on FD at a place that is free; NULL and errno if libc cannot make one. */
static FILE* make(int fd, const char* mode)
{
  int   i = img_file_group(fd) == -2 ? -1 : take_slot(fd, mode);
  FILE* f;

  if (i < 0) {
    objection = "has had more than 253 streams open, or one on a descriptor that it has not opened";
    return scr_native_fdopen(fd, mode);
  }
  f = img_stream_make(i, fd, mode);
  if (f == NULL) streams[i].used = 0;
  else if (f != at_slot(i)) objection = "has a stream at an address that a restart cannot give it";
  return f;
}

/* ---- opened and closed ---- */

/* The flags of open() for MODE; -1 if the native fopen() has to tell what is wrong with it. */
static int flags_of(const char* mode)
{
  int flags = *mode == 'r' ? 0 : *mode == 'w' ? O_CREAT | O_TRUNC : O_CREAT | O_APPEND;

  if (strchr("rwa", *mode) == NULL || *mode == '\0' || strchr(mode, ',') != NULL) return -1;
  if (strchr(mode, 'e') != NULL) flags |= O_CLOEXEC;
  if (strchr(mode, 'x') != NULL) flags |= O_EXCL;
  return flags | (strchr(mode, '+') != NULL ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY);
}

static FILE* open_stream(const char* path, const char* mode)
{
  int   fd, flags = flags_of(mode);
  FILE* f;

  if (flags < 0) {
    f = scr_native_fopen(path, mode);
    if (f != NULL) objection = "has opened a stream with a coding of its own";
    return f;
  }
  if ((fd = img_file_open(path, flags, 0666)) < 0) return NULL;
  if (*mode == 'a' && !(flags & O_RDWR)) lseek(fd, 0, SEEK_END);
  f = make(fd, mode);
  if (f == NULL) close(fd);
  return f;
}

IMG_API FILE* fopen(const char* path, const char* mode)
{
  return img_is_saved_text(IMG_CALLER()) ? open_stream(path, mode) : scr_native_fopen(path, mode);
}

IMG_API FILE* fdopen(int fd, const char* mode)
{
  return img_is_saved_text(IMG_CALLER()) ? make(fd, mode) : scr_native_fdopen(fd, mode);
}

/* Standard input, which reads descriptor 0, whatever that is. */
static FILE* open_input_again(const char* path, const char* mode, FILE* f)
{
  int flags = flags_of(mode), fd = path != NULL && flags >= 0 ? scr_native_open(path, flags, 0666) : -1;

  if (fd < 0) return NULL;
  if (scr_native_dup2(fd, 0) < 0) f = NULL;
  else {
    img_file_note(0);
    __fpurge(f);
    clearerr(f);
  }
  scr_native_close(fd);
  return f;
}

/* F keeps its descriptor, which is then of another file. */
static FILE* open_again(const char* path, const char* mode, FILE* f)
{
  int   i = slot_of(f), fd = fileno(f);
  FILE* again;

  if (i == 0) return open_input_again(path, mode, f);
  again = scr_native_freopen(path, mode, f);
  if (i <= 0 || (again != NULL && fileno(f) != fd)) objection = "has reopened a stream that a restart cannot reopen";
  if (again == NULL) img_file_forget(fd);
  else img_file_note(fd);
  if (i <= 0) return again;
  memset(&streams[i], 0, sizeof streams[i]);
  streams[i].used = again != NULL, streams[i].fd = fd;
  snprintf(streams[i].mode, sizeof streams[i].mode, "%s", mode);
  return again;
}

IMG_API FILE* freopen(const char* path, const char* mode, FILE* f)
{
  return img_is_saved_text(IMG_CALLER()) ? open_again(path, mode, f) : scr_native_freopen(path, mode, f);
}

IMG_API int fclose(FILE* f)
{
  int i = slot_of(f), rc;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_fclose(f);
  if (i >= 0 && i <= 2) objection = "has closed a standard stream";
  img_file_forget(fileno(f));
  rc = scr_native_fclose(f);
  if (i > 2) streams[i].used = 0; /* its place is free now */
  return rc;
}

IMG_ALSO(fopen, fopen64);
IMG_ALSO(freopen, freopen64);

/* ---- buffers ---- */

static int set_buffer(FILE* f, char* buffer, int mode, size_t size, int ours)
{
  int i = slot_of(f), rc = scr_native_setvbuf(f, buffer, mode, size);

  if (rc != 0 || i < 0 || !ours) return rc;
  streams[i].is_set = 1, streams[i].buffer_mode = mode;
  streams[i].buffer = buffer, streams[i].buffer_size = size;
  return rc;
}

IMG_API int setvbuf(FILE* f, char* buffer, int mode, size_t size)
{
  return set_buffer(f, buffer, mode, size, img_is_saved_text(IMG_CALLER()));
}

IMG_API void setbuf(FILE* f, char* buffer)
{
  set_buffer(f, buffer, buffer != NULL ? _IOFBF : _IONBF, BUFSIZ, img_is_saved_text(IMG_CALLER()));
}

IMG_API void setlinebuf(FILE* f)
{
  set_buffer(f, NULL, _IOLBF, 0, img_is_saved_text(IMG_CALLER()));
}

/* ---- lines, in memory of the program ---- */

static ssize_t get_line(char** line, size_t* size, int end, FILE* f)
{
  size_t n = 0;
  int    c = EOF;

  if (line == NULL || size == NULL) {
    errno = EINVAL;
    return -1;
  }
  if (*line == NULL) *size = 0;
  do {
    if (n + 2 > *size) {
      size_t more = *size < 60 ? 120 : *size * 2;
      char*  p = realloc(*line, more);

      if (p == NULL) return -1;
      *line = p, *size = more;
    }
    if ((c = getc_unlocked(f)) != EOF) (*line)[n++] = (char)c;
  } while (c != EOF && c != end);
  (*line)[n] = '\0';
  return n > 0 ? (ssize_t)n : -1;
}

IMG_API ssize_t getline(char** line, size_t* size, FILE* f)
{
  return img_is_saved_text(IMG_CALLER()) ? get_line(line, size, '\n', f) : scr_native_getdelim(line, size, '\n', f);
}

IMG_API ssize_t getdelim(char** line, size_t* size, int end, FILE* f)
{
  return img_is_saved_text(IMG_CALLER()) ? get_line(line, size, end, f) : scr_native_getdelim(line, size, end, f);
}

/* ---- standard input ---- */

static uint64_t input_read;  /* bytes that came to this process and those before it, those in the stream too */
static uint64_t input_taken; /* at the image: bytes that the program has */
static uint64_t input_skip;  /* of those, how many this process has still to skip */
static off_t    input_at;    /* where a plain file that is standard input has to be now; else -1 */
static ino_t    input_file;  /* which one */

/* Find out whether standard input is a plain file, and where it is. */
static void look_at_input(void)
{
  struct stat st;

  input_at = -1;
  if (fstat(0, &st) != 0 || !S_ISREG(st.st_mode)) return;
  input_at = lseek(0, 0, SEEK_CUR);
  input_file = st.st_ino;
}

/* 1 if the program, or another process, has moved in it: another file in its place is the matter of files.c. */
static int has_input_moved(void)
{
  struct stat st;

  return input_at >= 0 && fstat(0, &st) == 0 && st.st_ino == input_file && lseek(0, 0, SEEK_CUR) != input_at;
}

/* As read(), of standard input. */
static ssize_t read_native(void* buf, size_t n)
{
  ssize_t got = scr_native_read(0, buf, n);

  if (got > 0 && input_at >= 0) input_at += got;
  return got;
}

static ssize_t read_input(void* cookie, char* buf, size_t n)
{
  char    skipped[4096];
  ssize_t got;

  (void)cookie;
  while (input_skip > 0) {
    got = read_native(skipped, input_skip < sizeof skipped ? (size_t)input_skip : sizeof skipped);
    if (got <= 0) return got;
    input_skip -= (uint64_t)got;
  }
  got = read_native(buf, n);
  if (got > 0) input_read += (uint64_t)got;
  return got;
}

static ssize_t read_for(int fd, void* buf, size_t n, const void* caller)
{
  return fd == 0 && img_is_saved_text(caller) ? read_input(NULL, buf, n) : scr_native_read(fd, buf, n);
}

/* What a compiler with checks calls: BUF has SIZE bytes. */
ssize_t __read_chk(int fd, void* buf, size_t n, size_t size);

IMG_API ssize_t __read_chk(int fd, void* buf, size_t n, size_t size)
{
  if (n > size) abort();
  return read_for(fd, buf, n, IMG_CALLER());
}

IMG_API ssize_t read(int fd, void* buf, size_t n)
{
  return read_for(fd, buf, n, IMG_CALLER());
}

/* Before all constructors: standard input by the function above, as libc's own would not tell what it reads. */
void img_streams_start(void)
{
  cookie_io_functions_t functions = {read_input, NULL, NULL, NULL};
  FILE*                 f = img_stream_input(functions);

  if (f != at_slot(0)) img_die("cannot make standard input at its place");
  f->_fileno = 0;
  stdin = f;
  streams[0].used = streams[1].used = streams[2].used = 1;
  look_at_input();
}

/* ---- before an image, and after a restart ---- */

/* Write what F holds.  Returns 1 on success; else F still holds what was not written, which fflush() would drop. */
static int flush(FILE* f)
{
  int     fd = fileno(f), plain = f->_mode <= 0 && f->_IO_read_end == f->_IO_write_base;
  ssize_t n = 1;

  if (!plain || f->_IO_write_ptr <= f->_IO_write_base) return fflush(f) == 0;
  while (n > 0 && f->_IO_write_ptr > f->_IO_write_base) {
    size_t left = (size_t)(f->_IO_write_ptr - f->_IO_write_base);

    n = scr_native_write(fd, f->_IO_write_base, left);
    if (n < 0 && errno == EINTR) n = 1;
    else if (n > 0) {
      memmove(f->_IO_write_base, f->_IO_write_base + n, left - (size_t)n);
      f->_IO_write_ptr -= n;
      f->_offset = -1; /* libc asks where it is */
    }
  }
  return n > 0;
}

const char* img_streams_objection(void)
{
  const char* problem = objection;
  int         i;

  if (problem == NULL && has_input_moved())
    problem = "has moved within standard input, or another process has read from it";
  for (i = 0; i < IMG_STREAMS && problem == NULL; i++) {
    FILE* f = at_slot(i);

    if (!streams[i].used) continue;
    if (f->_flags & IN_BACKUP) problem = "has put a character back into a stream";
    else if (f->_mode > 0 && i != 1 && i != 2) problem = "has a stream of wide characters";
    else if (i > 0 && !flush(f)) {
      snprintf(text, sizeof text, "cannot write to a stream: %s", strerror(errno));
      problem = text;
    }
  }
  return problem;
}

void img_streams_save(void)
{
  const FILE* input = at_slot(0);
  int         i;

  input_taken = input_read - (uint64_t)(input->_IO_read_end - input->_IO_read_ptr);
  for (i = 0; i < IMG_STREAMS; i++) {
    if (!streams[i].used) continue;
    if (i > 0) flush(at_slot(i)); /* what a handler of a signal has written since */
    streams[i].flags = at_slot(i)->_flags & KEPT;
  }
}

void img_streams_resumed(void)
{
  int i;

  input_read = input_skip = input_taken;
  look_at_input();
  if (input_at >= 0 && (input_at = lseek(0, (off_t)input_taken, SEEK_CUR)) >= 0) input_skip = 0; /* it may move there */
  for (i = 0; i < IMG_STREAMS; i++) {
    const stream* s = &streams[i];
    FILE*         f = at_slot(i);

    if (!s->used) continue;
    if (i > 2 && img_stream_make(i, s->fd, s->mode) != f) img_die("cannot make a stream of the program again");
    if (s->is_set) scr_native_setvbuf(f, s->buffer, s->buffer_mode, s->buffer_size);
    f->_flags |= s->flags;
  }
}
