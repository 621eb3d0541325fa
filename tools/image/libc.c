/* ==== LIBC ==============================================================================================
** Functions of libc that keep something between two calls: the same, with their records on the saved side.
**
** Uses       heap.c (img_alloc), ranges.c, lib.c (signals)
** Offers     img_libc_objection, img_note_call, img_libc_save, img_libc_resumed, img_run_exits; getenv, rand and its
**            family, strtok, localtime and its family, strerror, qsort, what runs at the end, handlers of signals,
**            chdir, getcwd, umask, the environment, locales, getopt, scanf.
** Invariants
**   C1  What one of these functions returns or remembers is in the image.
**   C2  While libc calls back into the program from a frame that holds native memory, no image is taken.
**   C3  A tail call shows the caller's caller: constructors and libraries are called such that it is on their side.
** Failure    As in C.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <printf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

IMG_NATIVE(getenv);
IMG_NATIVE(secure_getenv);
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
IMG_NATIVE(setlocale);

/* A call of qsort() that has not returned (C2): it is on the stack. */
typedef struct frame {
  struct frame* outer;
} frame;

static frame*      inside;       /* the innermost */
static int         in_options;   /* getopt() has returned an option, and not yet the end */
static char        locale[1000]; /* those of all categories, at the image */
static const char* objection;    /* for ever: what was called that cannot be saved */

const char* img_libc_objection(void)
{
  if (inside != NULL) return "is in a function that qsort() calls";
  if (in_options) return "is between two calls of getopt()";
  if (strlen(scr_native_setlocale(LC_ALL, NULL)) >= sizeof locale) return "uses locales with long names";
  return objection;
}

void img_note_call(const char* name)
{
  static char text[120];

  if (objection != NULL) return;
  snprintf(text, sizeof text, "has called %.60s(), and so none for the rest of this run", name);
  objection = text;
}

/* ---- the environment ---- */

/* Strings that the program has, each once: their memory must last. */
typedef struct copy {
  struct copy* next;
  char         text[];
} copy;

static copy* copies;

static char* keep_text(const char* value)
{
  copy*  c;
  size_t n;

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

IMG_API char* getenv(const char* name)
{
  char* value = scr_native_getenv(name);

  return value == NULL || !img_is_saved_text(IMG_CALLER()) ? value : keep_text(value);
}

IMG_API char* secure_getenv(const char* name)
{
  char* value = scr_native_secure_getenv(name);

  return value == NULL || !img_is_saved_text(IMG_CALLER()) ? value : keep_text(value);
}

/* A variable that the program has set or removed, and what it is at the image. */
typedef struct setting {
  struct setting* next;
  char*           value; /* or NULL, if there is none */
  char            name[];
} setting;

static setting* settings;

IMG_NATIVE(putenv);
IMG_NATIVE(unsetenv);
IMG_NATIVE(setenv);

/* The program changes the variable NAME, of LENGTH bytes.  Returns 0, or -1 and errno. */
static int note_setting(const char* name, size_t length)
{
  setting* s;

  for (s = settings; s != NULL; s = s->next)
    if (strncmp(s->name, name, length) == 0 && s->name[length] == '\0') return 0;
  if ((s = img_alloc(sizeof *s + length + 1)) == NULL) return -1;
  memcpy(s->name, name, length);
  s->name[length] = '\0';
  s->value = NULL;
  s->next = settings;
  settings = s;
  return 0;
}

static void save_settings(void)
{
  setting* s;

  for (s = settings; s != NULL; s = s->next) {
    const char* value = scr_native_getenv(s->name);

    free(s->value);
    s->value = value != NULL ? strdup(value) : NULL;
  }
}

IMG_API int setenv(const char* name, const char* value, int over)
{
  if (img_is_saved_text(IMG_CALLER()) && note_setting(name, strlen(name)) != 0) return -1;
  return scr_native_setenv(name, value, over);
}

IMG_API int unsetenv(const char* name)
{
  if (img_is_saved_text(IMG_CALLER()) && note_setting(name, strlen(name)) != 0) return -1;
  return scr_native_unsetenv(name);
}

IMG_API int putenv(char* entry)
{
  if (img_is_saved_text(IMG_CALLER()) && note_setting(entry, strcspn(entry, "=")) != 0) return -1;
  return scr_native_putenv(entry);
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
static char      time_text[60], error_text[200];

/* As libc's, in the zone that TZ names now, which localtime_r() need not look at. */
static struct tm* local_time(const time_t* t)
{
  tzset();
  return localtime_r(t, &the_time);
}

IMG_API struct tm* localtime(const time_t* t)
{
  return img_is_saved_text(IMG_CALLER()) ? local_time(t) : scr_native_localtime(t);
}

IMG_API struct tm* gmtime(const time_t* t)
{
  return img_is_saved_text(IMG_CALLER()) ? gmtime_r(t, &the_time) : scr_native_gmtime(t);
}

IMG_API char* asctime(const struct tm* t)
{
  return img_is_saved_text(IMG_CALLER()) ? asctime_r(t, time_text) : scr_native_asctime(t);
}

IMG_API char* ctime(const time_t* t)
{
  if (!img_is_saved_text(IMG_CALLER())) return scr_native_ctime(t);
  return local_time(t) != NULL ? asctime_r(&the_time, time_text) : NULL;
}

IMG_API char* strerror(int number)
{
  return img_is_saved_text(IMG_CALLER()) ? strerror_r(number, error_text, sizeof error_text)
                                         : scr_native_strerror(number);
}

/* ---- what runs at the end ---- */

int __cxa_atexit(void (*f)(void*), void* argument, void* object);
IMG_NATIVE(__cxa_atexit);

typedef struct at_exit {
  struct at_exit* before;
  void (*f)(void*);
  void* argument;
} at_exit;

static at_exit* exits;
static int      lock; /* of the list: local statics of C++ are made by any thread */

/* atexit() and destructors of static objects.  Those that libraries register in their constructors, before the program
   runs, are in each process anew, and then in the image. */
IMG_API int __cxa_atexit(void (*f)(void*), void* argument, void* object)
{
  at_exit* e;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native___cxa_atexit(f, argument, object);
  if ((e = img_alloc(sizeof *e)) == NULL) return -1;
  img_lock(&lock);
  e->before = exits, e->f = f, e->argument = argument;
  exits = e;
  img_unlock(&lock);
  return 0;
}

/* One after the other, each of them called by libc, which goes on when one calls exit(). */
void img_run_exits(void* unused)
{
  at_exit* e = exits;

  (void)unused;
  img_run_thread_exits();
  if (e == NULL) return;
  exits = e->before;
  scr_native___cxa_atexit(img_run_exits, NULL, NULL);
  e->f(e->argument);
}

int img_in_main;

/* 1 if the program has called, and main() has begun: what constructors register, each process registers anew. */
static int is_of_main(const void* caller)
{
  return img_in_main && img_is_saved_text(caller);
}

/* ---- what runs at a fork ---- */

int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void* object);
IMG_NATIVE(__register_atfork);

typedef struct at_fork {
  struct at_fork* next;
  void (*before)(void);
  void (*parent)(void);
  void (*child)(void);
  void* object;
} at_fork;

static at_fork*  forks; /* in the order of their calls */
static at_fork** forks_end = &forks;

/* pthread_atfork() */
IMG_API int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void* object)
{
  at_fork* e;

  if (is_of_main(IMG_CALLER())) {
    if ((e = img_alloc(sizeof *e)) == NULL) return ENOMEM;
    *e = (at_fork){NULL, before, parent, child, object};
    img_lock(&lock);
    *forks_end = e;
    forks_end = &e->next;
    img_unlock(&lock);
  }
  return scr_native___register_atfork(before, parent, child, object);
}

/* ---- conversions of printf, which libquadmath registers in a constructor ---- */

IMG_NATIVE(register_printf_specifier);
IMG_NATIVE(register_printf_modifier);
IMG_NATIVE(register_printf_type);

IMG_API int register_printf_specifier(int letter, printf_function* print, printf_arginfo_size_function* sizes)
{
  if (is_of_main(IMG_CALLER())) img_note_call("register_printf_specifier");
  return scr_native_register_printf_specifier(letter, print, sizes);
}

IMG_API int register_printf_modifier(const wchar_t* letters)
{
  if (is_of_main(IMG_CALLER())) img_note_call("register_printf_modifier");
  return scr_native_register_printf_modifier(letters);
}

IMG_API int register_printf_type(printf_va_arg_function* get)
{
  if (is_of_main(IMG_CALLER())) img_note_call("register_printf_type");
  return scr_native_register_printf_type(get);
}

/* ---- handlers of signals ---- */

#define SIGNALS 65

static struct sigaction handlers[SIGNALS];
static int              handled[SIGNALS];

static int set_handler(int number, const struct sigaction* action, struct sigaction* before)
{
  int rc = img_lib_sigaction(number, action, before);

  if (rc == 0 && action != NULL) handlers[number] = *action, handled[number] = 1;
  return rc;
}

IMG_NATIVE(sigaction);
IMG_NATIVE(signal);

IMG_API int sigaction(int number, const struct sigaction* action, struct sigaction* before)
{
  return img_is_saved_text(IMG_CALLER()) ? set_handler(number, action, before)
                                         : scr_native_sigaction(number, action, before);
}

IMG_API sighandler_t signal(int number, sighandler_t handler)
{
  struct sigaction action, before;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_signal(number, handler);
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return set_handler(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

/* ---- directory and mask of the process ---- */

static int    has_moved, has_mask;
static char   directory[4096];
static mode_t mask;

IMG_NATIVE(chdir);
IMG_NATIVE(getcwd);
IMG_NATIVE(umask);

IMG_API int chdir(const char* path)
{
  if (img_is_saved_text(IMG_CALLER())) has_moved = 1;
  return scr_native_chdir(path);
}

/* The directory, in memory of the program if BUF is NULL: of SIZE bytes or more. */
static char* directory_for(char* buf, size_t size)
{
  char path[4096], *p;

  if (buf != NULL) return scr_native_getcwd(buf, size);
  if (scr_native_getcwd(path, size != 0 && size < sizeof path ? size : sizeof path) == NULL) return NULL;
  p = img_alloc(size > sizeof path ? size : sizeof path);
  return p != NULL ? strcpy(p, path) : NULL;
}

IMG_API char* getcwd(char* buf, size_t size)
{
  return img_is_saved_text(IMG_CALLER()) ? directory_for(buf, size) : scr_native_getcwd(buf, size);
}

/* What a compiler with checks calls: BUF has ROOM bytes. */
char* __getcwd_chk(char* buf, size_t size, size_t room);

IMG_API char* __getcwd_chk(char* buf, size_t size, size_t room)
{
  if (size > room) abort();
  return img_is_saved_text(IMG_CALLER()) ? directory_for(buf, size) : scr_native_getcwd(buf, size);
}

IMG_NATIVE(realpath);

/* The path, in memory of the program if RESOLVED is NULL. */
static char* real_path(const char* path, char* resolved)
{
  char buf[4096];

  if (resolved != NULL) return scr_native_realpath(path, resolved);
  return scr_native_realpath(path, buf) != NULL ? strdup(buf) : NULL;
}

IMG_API char* realpath(const char* path, char* resolved)
{
  return img_is_saved_text(IMG_CALLER()) ? real_path(path, resolved) : scr_native_realpath(path, resolved);
}

char* __realpath_chk(const char* path, char* resolved, size_t room);

IMG_API char* __realpath_chk(const char* path, char* resolved, size_t room)
{
  if (room < 4096) abort();
  return img_is_saved_text(IMG_CALLER()) ? real_path(path, resolved) : scr_native_realpath(path, resolved);
}

IMG_API mode_t umask(mode_t value)
{
  if (img_is_saved_text(IMG_CALLER())) has_mask = 1, mask = value;
  return scr_native_umask(value);
}

/* ---- locales: a restart sets that of setlocale() again ---- */

IMG_NATIVE(nl_langinfo);
IMG_NATIVE(newlocale);
locale_t __newlocale(int mask, const char* name, locale_t base);
IMG_NATIVE(__newlocale);

static int is_plain(const char* name)
{
  return name == NULL || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0;
}

/* The strings of a locale are in memory of libc. */
IMG_API char* setlocale(int category, const char* name)
{
  char* now = scr_native_setlocale(category, name);

  if (now == NULL || !img_is_saved_text(IMG_CALLER())) return now;
  return keep_text(now);
}

IMG_API char* nl_langinfo(nl_item item)
{
  char* text = scr_native_nl_langinfo(item);

  int is_text = (item >= ABDAY_1 && item <= T_FMT_AMPM) || item == CODESET || item == RADIXCHAR || item == THOUSEP ||
                item == YESEXPR || item == NOEXPR || item == CRNCYSTR; /* others may be numbers */

  return is_text && img_is_saved_text(IMG_CALLER()) ? keep_text(text) : text;
}

static void save_locale(void)
{
  snprintf(locale, sizeof locale, "%s", scr_native_setlocale(LC_ALL, NULL));
}

static void look_at_locale(const char* name, const void* caller)
{
  if (!is_plain(name) && img_is_saved_text(caller)) objection = "has an object of a locale other than C";
}

IMG_API locale_t newlocale(int which, const char* name, locale_t base)
{
  look_at_locale(name, IMG_CALLER());
  return scr_native_newlocale(which, name, base);
}

IMG_API locale_t __newlocale(int which, const char* name, locale_t base)
{
  look_at_locale(name, IMG_CALLER());
  return scr_native___newlocale(which, name, base);
}

/* ---- the system's own calls: those that leave nothing in the process ---- */

IMG_NATIVE(syscall);

static int leaves_nothing(long number)
{
  static const long numbers[] = {SYS_getcpu,      SYS_gettid,        SYS_getrandom,
                                 SYS_mbind,       SYS_get_mempolicy, SYS_sched_getaffinity,
                                 SYS_sched_yield, SYS_clock_gettime};
  size_t            i;

  for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i] == number) return 1;
  return 0;
}

IMG_API long syscall(long number, ...)
{
  va_list args;
  long    a[6];
  int     i;

  va_start(args, number);
  for (i = 0; i < 6; i++) a[i] = va_arg(args, long);
  va_end(args);
  if (img_is_saved_text(IMG_CALLER()) && !leaves_nothing(number)) img_note_call("syscall");
  return scr_native_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- getopt(): its variables; what else it keeps between two options is libc's ---- */

IMG_NATIVE(getopt);
IMG_NATIVE(getopt_long);
IMG_NATIVE(getopt_long_only);

static int note_option(int option, const void* caller)
{
  if (img_is_saved_text(caller)) in_options = option != -1;
  return option;
}

IMG_API int getopt(int argc, char* const* argv, const char* short_ones)
{
  return note_option(scr_native_getopt(argc, argv, short_ones), IMG_CALLER());
}

IMG_API int getopt_long(int argc, char* const* argv, const char* short_ones, const struct option* long_ones, int* index)
{
  return note_option(scr_native_getopt_long(argc, argv, short_ones, long_ones, index), IMG_CALLER());
}

IMG_API int getopt_long_only(int argc, char* const* argv, const char* short_ones, const struct option* long_ones,
                             int* index)
{
  return note_option(scr_native_getopt_long_only(argc, argv, short_ones, long_ones, index), IMG_CALLER());
}

static const char* const option_names[] = {"optind", "opterr", "optopt"};
static int               options[3];
static char*             option_argument;

static void move_options(int save)
{
  int    i, *option;
  char** argument = img_any_symbol("optarg");

  for (i = 0; i < 3; i++) {
    if ((option = img_any_symbol(option_names[i])) == NULL) continue;
    if (save) options[i] = *option;
    else *option = options[i];
  }
  if (argument == NULL) return;
  if (save) option_argument = *argument;
  else *argument = option_argument;
}

/* ---- before an image, and after a restart ---- */

void img_libc_save(void)
{
  int i;

  save_settings();
  save_locale();
  for (i = 0; i < SIGNALS; i++)
    if (handled[i]) img_lib_sigaction(i, NULL, &handlers[i]); /* SA_RESETHAND may have changed it */
  move_options(1);
  if (has_moved && scr_native_getcwd(directory, sizeof directory) == NULL) *directory = '\0';
}

void img_libc_resumed(void)
{
  union {
    void* address;
    void (*call)(void);
  } init;
  const setting* s;
  const at_fork* e;
  int            i;

  move_options(0);
  for (s = settings; s != NULL; s = s->next) {
    if (s->value != NULL) scr_native_setenv(s->name, s->value, 1);
    else scr_native_unsetenv(s->name);
  }
  tzset(); /* the library has used local time with the TZ of this process */
  if (!is_plain(locale) && scr_native_setlocale(LC_ALL, locale) == NULL)
    img_die("this node has no locale %s, which the program has set", locale);
  if (has_moved && scr_native_chdir(directory) != 0)
    img_die("cannot change to %s, where the program was: %s", directory, strerror(errno));
  if (has_mask) scr_native_umask(mask);
  for (i = 0; i < SIGNALS; i++)
    if (handled[i]) img_lib_sigaction(i, &handlers[i], NULL);
  for (e = forks; e != NULL; e = e->next) scr_native___register_atfork(e->before, e->parent, e->child, e->object);
  init.address = img_any_symbol("mpirinitf_"); /* MPI has not yet been told the constants of Fortran */
  if (init.address != NULL) init.call();
}

/* ---- calls that come back (C2), and jumps out of them ---- */

/* F is left, also by an exception. */
static void leave(const frame* f)
{
  if (inside == f) inside = f->outer;
}

IMG_API void qsort(void* base, size_t n, size_t size, int (*compare)(const void*, const void*))
{
  __attribute__((cleanup(leave))) frame here = {inside};

  if (img_is_saved_text(IMG_CALLER()) && img_is_stack(&here)) inside = &here; /* not on other threads */
  scr_native_qsort(base, n, size, compare);
}

int  img_jump_save(struct __jmp_buf_tag* buffer);
void img_jump_leave(const void* stack, const sigset_t* signals, int saved);

/* The end of sigsetjmp() (jump.S). */
int img_jump_save(struct __jmp_buf_tag* buffer)
{
  pthread_sigmask(SIG_BLOCK, NULL, &buffer->__saved_mask);
  return 0;
}

/* The begin of longjmp() (jump.S): what is below STACK is left; the mask of SIGNALS is as it was, if it was SAVED. */
void img_jump_leave(const void* stack, const sigset_t* signals, int saved)
{
  if (img_is_stack(stack))
    while (inside != NULL && (const void*)inside < stack) inside = inside->outer;
  if (saved) pthread_sigmask(SIG_SETMASK, signals, NULL);
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

/* The family, whose functions have a prefix of the standard's year. */
#define SCANF(year)                                                                                                    \
  int year##_scanf(const char* format, ...);                                                                           \
  int year##_sscanf(const char* text, const char* format, ...);                                                        \
  int year##_fscanf(FILE* f, const char* format, ...);                                                                 \
  int year##_vscanf(const char* format, va_list args);                                                                 \
  int year##_vsscanf(const char* text, const char* format, va_list args);                                              \
  int year##_vfscanf(FILE* f, const char* format, va_list args);                                                       \
  IMG_NATIVE(year##_vsscanf);                                                                                          \
  IMG_NATIVE(year##_vfscanf);                                                                                          \
                                                                                                                       \
  IMG_API int year##_vsscanf(const char* text, const char* format, va_list args)                                       \
  {                                                                                                                    \
    if (img_is_saved_text(IMG_CALLER())) look_at(format);                                                              \
    return scr_native_##year##_vsscanf(text, format, args);                                                            \
  }                                                                                                                    \
                                                                                                                       \
  IMG_API int year##_vfscanf(FILE* f, const char* format, va_list args)                                                \
  {                                                                                                                    \
    if (img_is_saved_text(IMG_CALLER())) look_at(format);                                                              \
    return scr_native_##year##_vfscanf(f, format, args);                                                               \
  }                                                                                                                    \
                                                                                                                       \
  IMG_API int year##_vscanf(const char* format, va_list args)                                                          \
  {                                                                                                                    \
    if (img_is_saved_text(IMG_CALLER())) look_at(format);                                                              \
    return scr_native_##year##_vfscanf(stdin, format, args);                                                           \
  }                                                                                                                    \
                                                                                                                       \
  IMG_API int year##_sscanf(const char* text, const char* format, ...)                                                 \
  {                                                                                                                    \
    va_list args;                                                                                                      \
    int     n;                                                                                                         \
                                                                                                                       \
    if (img_is_saved_text(IMG_CALLER())) look_at(format);                                                              \
    va_start(args, format);                                                                                            \
    n = scr_native_##year##_vsscanf(text, format, args);                                                               \
    va_end(args);                                                                                                      \
    return n;                                                                                                          \
  }                                                                                                                    \
                                                                                                                       \
  IMG_API int year##_fscanf(FILE* f, const char* format, ...)                                                          \
  {                                                                                                                    \
    va_list args;                                                                                                      \
    int     n;                                                                                                         \
                                                                                                                       \
    if (img_is_saved_text(IMG_CALLER())) look_at(format);                                                              \
    va_start(args, format);                                                                                            \
    n = scr_native_##year##_vfscanf(f, format, args);                                                                  \
    va_end(args);                                                                                                      \
    return n;                                                                                                          \
  }                                                                                                                    \
                                                                                                                       \
  IMG_API int year##_scanf(const char* format, ...)                                                                    \
  {                                                                                                                    \
    va_list args;                                                                                                      \
    int     n;                                                                                                         \
                                                                                                                       \
    if (img_is_saved_text(IMG_CALLER())) look_at(format);                                                              \
    va_start(args, format);                                                                                            \
    n = scr_native_##year##_vfscanf(stdin, format, args);                                                              \
    va_end(args);                                                                                                      \
    return n;                                                                                                          \
  }

SCANF(__isoc99)
#if __GLIBC_PREREQ(2, 38)
SCANF(__isoc23)
#endif
