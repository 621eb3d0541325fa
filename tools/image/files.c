/* ==== FILES =============================================================================================
** What the program has opened: while something is open, there is no image.
**
** Uses       ranges.c (who calls)
** Offers     img_files_objection, img_files_resumed; fopen, fclose, open, creat, close, fcntl, read, getc, fread.
** Invariants
**   F1  Each descriptor and stream that a saved object opened is in the table until it is closed.
** Failure    A table that is full objects for ever.
** ====================================================================================================== */
#include "image.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

IMG_NATIVE(fopen);
IMG_NATIVE(fclose);
IMG_NATIVE(open);
IMG_NATIVE(close);
IMG_NATIVE(read);
IMG_NATIVE(getc);
IMG_NATIVE(fread);
IMG_NATIVE(fcntl);

typedef struct {
  const void* stream; /* or NULL, for a descriptor */
  int         fd;
  char        path[120];
} opened;

#define FILES 256

static opened files[FILES];
static int    count, full, has_read;
static char   text[200];

const char* img_files_objection(void)
{
  if (full) return "has had more than 256 files open";
  if (has_read) return "has read from the stream of standard input";
  if (count == 0) return NULL;
  snprintf(text, sizeof text, "has %s open", files[0].path);
  return text;
}

static void note(const void* stream, int fd, const char* path)
{
  size_t n = strnlen(path, sizeof files[0].path - 1);

  if (count == FILES) {
    full = 1;
    return;
  }
  files[count].stream = stream;
  files[count].fd = fd;
  memcpy(files[count].path, path, n);
  files[count++].path[n] = '\0';
}

static void forget(const void* stream, int fd)
{
  int i;

  for (i = 0; i < count; i++)
    if (files[i].stream == stream && (stream != NULL || files[i].fd == fd)) {
      files[i] = files[--count];
      return;
    }
}

/* A standard stream or descriptor that is closed would be open again after a restart. */
static void closed_standard(int fd)
{
  static const char* const names[] = {"standard input, which it has closed,", "standard output, which it has closed,",
                                      "standard error, which it has closed,"};

  note(NULL, -1 - fd, names[fd]);
}

static FILE* open_stream(const char* path, const char* mode)
{
  FILE* f = scr_native_fopen(path, mode);

  if (f != NULL) note(f, -1, path);
  return f;
}

IMG_API FILE* fopen(const char* path, const char* mode)
{
  return img_is_saved_text(IMG_CALLER()) ? open_stream(path, mode) : scr_native_fopen(path, mode);
}

IMG_API FILE* fopen64(const char* path, const char* mode)
{
  return img_is_saved_text(IMG_CALLER()) ? open_stream(path, mode) : scr_native_fopen(path, mode);
}

IMG_API int fclose(FILE* f)
{
  if (img_is_saved_text(IMG_CALLER())) {
    int fd = fileno(f);

    if (fd >= 0 && fd <= 2) closed_standard(fd);
    else forget(f, -1);
  }
  return scr_native_fclose(f);
}

static int open_file(const char* path, int flags, mode_t mode, int ours)
{
  int fd = scr_native_open(path, flags, mode);

  if (fd >= 0 && ours) note(NULL, fd, path);
  return fd;
}

/* The mode behind FLAGS, which is there if a file may be made. */
#define MODE(flags, mode)                                                                                              \
  do {                                                                                                                 \
    va_list args;                                                                                                      \
    va_start(args, flags);                                                                                             \
    if ((flags) & (O_CREAT | __O_TMPFILE)) mode = va_arg(args, mode_t);                                                \
    va_end(args);                                                                                                      \
  } while (0)

IMG_API int open(const char* path, int flags, ...)
{
  mode_t mode = 0;

  MODE(flags, mode);
  return open_file(path, flags, mode, img_is_saved_text(IMG_CALLER()));
}

IMG_API int open64(const char* path, int flags, ...)
{
  mode_t mode = 0;

  MODE(flags, mode);
  return open_file(path, flags | O_LARGEFILE, mode, img_is_saved_text(IMG_CALLER()));
}

IMG_API int creat(const char* path, mode_t mode)
{
  return open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode, img_is_saved_text(IMG_CALLER()));
}

IMG_API int close(int fd)
{
  if (img_is_saved_text(IMG_CALLER())) {
    if (fd >= 0 && fd <= 2) closed_standard(fd);
    else forget(NULL, fd);
  }
  return scr_native_close(fd);
}

/* Another number for a file that is open. */
IMG_API int fcntl(int fd, int command, ...)
{
  va_list args;
  long    argument;

  va_start(args, command);
  argument = va_arg(args, long);
  va_end(args);
  if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && img_is_saved_text(IMG_CALLER())) img_note_call("fcntl");
  return scr_native_fcntl(fd, command, argument);
}

/* ---- standard input: a restart gets it anew, and skips what was read ---- */

static uint64_t input_read; /* bytes that the program has */
static uint64_t input_skip; /* of those, how many this process has still to skip */

void img_files_resumed(void)
{
  input_skip = input_read;
}

IMG_API ssize_t read(int fd, void* buf, size_t n)
{
  char    skipped[4096];
  ssize_t got;

  if (fd != 0 || !img_is_saved_text(IMG_CALLER())) return scr_native_read(fd, buf, n);
  while (input_skip > 0) {
    got = scr_native_read(0, skipped, input_skip < sizeof skipped ? (size_t)input_skip : sizeof skipped);
    if (got <= 0) return got;
    input_skip -= (uint64_t)got;
  }
  got = scr_native_read(0, buf, n);
  if (got > 0) input_read += (uint64_t)got;
  return got;
}

/* Streams keep what they have read in memory of libc. */
static void look_at_input(FILE* f, const void* caller)
{
  if (fileno(f) == 0 && img_is_saved_text(caller)) has_read = 1;
}

IMG_API int getc(FILE* f)
{
  look_at_input(f, IMG_CALLER());
  return scr_native_getc(f);
}

IMG_API size_t fread(void* p, size_t size, size_t n, FILE* f)
{
  look_at_input(f, IMG_CALLER());
  return scr_native_fread(p, size, n, f);
}
