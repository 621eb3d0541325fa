/* ==== LIBC ==============================================================================================
** Functions of libc that keep something between two calls: the same, with their records on the saved side.
**
** Uses       heap.c (img_alloc)
** Offers     img_libc_objection, img_libc_resumed; getenv, rand and its family, strtok, localtime and its family,
**            strerror, qsort, setvbuf.
** Invariants
**   C1  What one of these functions returns or remembers is in the image.
**   C2  While libc calls back into the program from a frame that holds native memory, no image is taken.
** Failure    As in C.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

IMG_NATIVE(getenv);
IMG_NATIVE(localtime);
IMG_NATIVE(gmtime);
IMG_NATIVE(strerror);
IMG_NATIVE(qsort);
IMG_NATIVE(rand);
IMG_NATIVE(srand);
IMG_NATIVE(random);
IMG_NATIVE(srandom);
IMG_NATIVE(strtok);
IMG_NATIVE(srand48);
IMG_NATIVE(drand48);
IMG_NATIVE(lrand48);
IMG_NATIVE(asctime);
IMG_NATIVE(ctime);
IMG_NATIVE(setvbuf);

static int         inside;    /* calls of qsort that have not returned (C2) */
static const char* objection; /* for ever: what was called that cannot be saved */

const char* img_libc_objection(void)
{
  if (inside > 0) return "is called by qsort()";
  return objection;
}

/* ---- the environment ---- */

/* Strings that the program has, each once: their memory must last. */
typedef struct copy {
  struct copy* next;
  char         text[];
} copy;

static copy* copies;

IMG_API char* getenv(const char* name)
{
  char*  value = scr_native_getenv(name);
  copy*  c;
  size_t n;

  if (value == NULL || !img_is_saved_text(IMG_CALLER())) return value;
  for (c = copies; c != NULL; c = c->next)
    if (strcmp(c->text, value) == 0) return c->text;
  n = strlen(value) + 1;
  c = img_alloc(sizeof *c + n);
  if (c == NULL) return NULL;
  memcpy(c->text, value, n);
  c->next = copies;
  copies = c;
  return c->text;
}

/* ---- random numbers: glibc's, with a state of our own ---- */

static struct random_data random_state;
static int32_t            random_words[32]; /* of 128 bytes, as glibc's own */

static void seed(unsigned value)
{
  if (random_state.state == NULL) initstate_r(value, (char*)random_words, sizeof random_words, &random_state);
  else srandom_r(value, &random_state);
}

static long draw(void)
{
  int32_t value;

  if (random_state.state == NULL) seed(1);
  random_r(&random_state, &value);
  return value;
}

IMG_API int rand(void)
{
  return img_is_saved_text(IMG_CALLER()) ? (int)draw() : scr_native_rand();
}

IMG_API void srand(unsigned value)
{
  if (img_is_saved_text(IMG_CALLER())) seed(value);
  else scr_native_srand(value);
}

IMG_API long random(void)
{
  return img_is_saved_text(IMG_CALLER()) ? draw() : scr_native_random();
}

IMG_API void srandom(unsigned value)
{
  if (img_is_saved_text(IMG_CALLER())) seed(value);
  else scr_native_srandom(value);
}

static struct drand48_data drand_state;

IMG_API void srand48(long value)
{
  if (img_is_saved_text(IMG_CALLER())) srand48_r(value, &drand_state);
  else scr_native_srand48(value);
}

IMG_API double drand48(void)
{
  double value;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_drand48();
  drand48_r(&drand_state, &value);
  return value;
}

IMG_API long lrand48(void)
{
  long value;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_lrand48();
  lrand48_r(&drand_state, &value);
  return value;
}

/* ---- strings and times that libc keeps ---- */

IMG_API char* strtok(char* s, const char* between)
{
  static char* rest;

  return img_is_saved_text(IMG_CALLER()) ? strtok_r(s, between, &rest) : scr_native_strtok(s, between);
}

static struct tm the_time;
static char      the_text[200];

IMG_API struct tm* localtime(const time_t* t)
{
  return img_is_saved_text(IMG_CALLER()) ? localtime_r(t, &the_time) : scr_native_localtime(t);
}

IMG_API struct tm* gmtime(const time_t* t)
{
  return img_is_saved_text(IMG_CALLER()) ? gmtime_r(t, &the_time) : scr_native_gmtime(t);
}

IMG_API char* asctime(const struct tm* t)
{
  return img_is_saved_text(IMG_CALLER()) ? asctime_r(t, the_text) : scr_native_asctime(t);
}

IMG_API char* ctime(const time_t* t)
{
  struct tm tm;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_ctime(t);
  return localtime_r(t, &tm) != NULL ? asctime_r(&tm, the_text) : NULL;
}

IMG_API char* strerror(int number)
{
  return img_is_saved_text(IMG_CALLER()) ? strerror_r(number, the_text, sizeof the_text) : scr_native_strerror(number);
}

/* ---- how standard streams are buffered ---- */

static int buffer_set[2], buffer_mode[2]; /* of stdout and stderr */

/* The program's buffer is not used: a restart has to set one that is there already. */
static int set_buffer(FILE* f, char* buffer, int mode, size_t size)
{
  int fd = fileno(f) - 1, rc;

  if (fd < 0 || fd > 1) return scr_native_setvbuf(f, buffer, mode, size);
  rc = scr_native_setvbuf(f, NULL, mode, 0);
  if (rc == 0) buffer_set[fd] = 1, buffer_mode[fd] = mode;
  return rc;
}

IMG_API int setvbuf(FILE* f, char* buffer, int mode, size_t size)
{
  return img_is_saved_text(IMG_CALLER()) ? set_buffer(f, buffer, mode, size)
                                         : scr_native_setvbuf(f, buffer, mode, size);
}

IMG_API void setbuf(FILE* f, char* buffer)
{
  int mode = buffer != NULL ? _IOFBF : _IONBF;

  if (img_is_saved_text(IMG_CALLER())) set_buffer(f, buffer, mode, BUFSIZ);
  else scr_native_setvbuf(f, buffer, mode, BUFSIZ);
}

void img_libc_resumed(void)
{
  if (buffer_set[0]) scr_native_setvbuf(stdout, NULL, buffer_mode[0], 0);
  if (buffer_set[1]) scr_native_setvbuf(stderr, NULL, buffer_mode[1], 0);
}

/* ---- calls that come back (C2) ---- */

IMG_API void qsort(void* base, size_t n, size_t size, int (*compare)(const void*, const void*))
{
  int ours = img_is_saved_text(IMG_CALLER());

  inside += ours; /* other threads are native */
  scr_native_qsort(base, n, size, compare);
  inside -= ours;
}

/* ---- scanf: %m would give the program memory of libc ---- */

/* Note a format that asks for memory. */
static void look_at(const char* format)
{
  const char* p;

  for (p = strchr(format, '%'); p != NULL; p = strchr(p, '%')) {
    p += 1 + strspn(p + 1, "*0123456789'");
    if (*p == 'm') objection = "has used %m of scanf(), whose memory is libc's";
    if (*p != '\0') p++;
  }
}

int __isoc99_sscanf(const char* text, const char* format, ...);
int __isoc99_fscanf(FILE* f, const char* format, ...);
int __isoc99_vsscanf(const char* text, const char* format, va_list args);
int __isoc99_vfscanf(FILE* f, const char* format, va_list args);
IMG_NATIVE(__isoc99_vsscanf);
IMG_NATIVE(__isoc99_vfscanf);

IMG_API int __isoc99_vsscanf(const char* text, const char* format, va_list args)
{
  if (img_is_saved_text(IMG_CALLER())) look_at(format);
  return scr_native___isoc99_vsscanf(text, format, args);
}

IMG_API int __isoc99_vfscanf(FILE* f, const char* format, va_list args)
{
  if (img_is_saved_text(IMG_CALLER())) look_at(format);
  return scr_native___isoc99_vfscanf(f, format, args);
}

IMG_API int __isoc99_sscanf(const char* text, const char* format, ...)
{
  va_list args;
  int     n;

  if (img_is_saved_text(IMG_CALLER())) look_at(format);
  va_start(args, format);
  n = scr_native___isoc99_vsscanf(text, format, args);
  va_end(args);
  return n;
}

IMG_API int __isoc99_fscanf(FILE* f, const char* format, ...)
{
  va_list args;
  int     n;

  if (img_is_saved_text(IMG_CALLER())) look_at(format);
  va_start(args, format);
  n = scr_native___isoc99_vfscanf(f, format, args);
  va_end(args);
  return n;
}
