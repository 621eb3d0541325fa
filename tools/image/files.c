/* ==== FILES =============================================================================================
** What the program has opened: while something is open, there is no image.
**
** Uses       ranges.c (who calls)
** Offers     img_files_objection; fopen, fclose, open, creat, close, read.
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
  if (has_read) return "has read from standard input";
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

IMG_API ssize_t read(int fd, void* buf, size_t n)
{
  if (fd == 0 && img_is_saved_text(IMG_CALLER())) has_read = 1; /* a restart would begin to read anew */
  return scr_native_read(fd, buf, n);
}
