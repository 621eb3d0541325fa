/* ==== START =============================================================================================
** From the first instruction to main(): checks, a process without address randomisation, MPI, the library, and the
** stack of the program.
**
** Uses       ranges.c, lib.c, agree.c, jump.S
** Offers     img_say, img_die, img_stack_low, img_map, img_unmap, img_forget, img_wtime, img_wtime_add; streams at
**            fixed places: img_stream_make, img_stream_input, img_next_block, img_take_block, img_is_stream.
** Invariants
**   S1  main() runs on a stack of its own, and all strings that it gets are on the saved heap.
**   S2  The native MPI is initialized before it is known whether there is an image.
** Failure    Exit 1 with a message; nothing is rejected.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARK "SCR_IMAGE_STACK_LIMIT" /* in the environment of the process that is executed again: the user's limit */

int __cxa_atexit(void (*f)(void*), void* argument, void* object);

typedef int main_function(int argc, char** argv, char** envp);
typedef int libc_start(main_function* f, int argc, char** argv, void (*init)(void), void (*fini)(void),
                       void (*rtld_fini)(void), void* stack_end);

/* What is handed over to the program's stack. */
typedef struct {
  int    argc;
  char **argv, **envp;
} arguments;

void img_on_stack(uint64_t top, void* argument, void (*f)(void*)) __attribute__((noreturn));

uint64_t              img_stack_low;
double                img_wtime_add;
char                  img_arguments[512];
static main_function* real_main;
static rlim_t         stack_limit = RLIM_INFINITY; /* the user's */

/* ---- messages ---- */

static void say_line(const char* format, va_list args)
{
  char   line[1024], host[64] = "?";
  int    n;
  size_t length;

  gethostname(host, sizeof host - 1);
  if (img_ranks > 0) n = snprintf(line, sizeof line, "scr_image: rank %d on %s: ", img_rank, host);
  else n = snprintf(line, sizeof line, "scr_image: %s: ", host);
  vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
  length = strlen(line);
  line[length++] = '\n';
  if (write(2, line, length) < 0) return;
}

void img_say(const char* format, ...)
{
  va_list args;

  va_start(args, format);
  say_line(format, args);
  va_end(args);
}

void img_die(const char* format, ...)
{
  const char* rank = getenv("PMI_RANK");
  va_list     args;

  va_start(args, format);
  if (img_ranks > 0 || rank == NULL || strcmp(rank, "0") == 0) say_line(format, args);
  va_end(args);
  _exit(1);
}

double img_seconds(const char* name, double otherwise)
{
  const char* text = getenv(name);
  char*       end;
  double      value;

  if (text == NULL || *text == '\0') return otherwise;
  value = strtod(text, &end);
  if (*end != '\0' || value < 0) img_die("%s=%s is no number of seconds", name, text);
  return value;
}

double img_wtime(void)
{
  return MPI_Wtime() + img_wtime_add;
}

/* ---- the stack ---- */

int img_is_stack(const void* p)
{
  return (uint64_t)p >= img_stack_low && (uint64_t)p < IMG_STACK_TOP;
}

/* ---- memory, by the kernel's own calls: the heap needs it before anything else is there ---- */

static long kernel(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  register uint64_t r10 __asm__("r10") = d;
  register int64_t  r8 __asm__("r8") = -1;
  register uint64_t r9 __asm__("r9") = 0;
  long              rc;

  __asm__ volatile("syscall"
                   : "=a"(rc)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return rc;
}

int img_map(uint64_t address, uint64_t length)
{
  long got = kernel(SYS_mmap, address, length, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE);

  if ((uint64_t)got == address) return 1;
  if (got > 0) img_unmap((uint64_t)got, length); /* an old kernel takes the address for a hint */
  return 0;
}

void img_unmap(uint64_t address, uint64_t length)
{
  kernel(SYS_munmap, address, length, 0, 0);
}

/* By libc's function: networks that have registered the memory watch it. */
void img_forget(uint64_t address, uint64_t length)
{
  madvise((void*)address, length, MADV_DONTNEED);
}

/* ---- places of streams ---- */

__thread void* img_next_block;
__thread void (*img_once)(void);

/* The next stream that libc makes is at place I. */
static void next_place(int i)
{
  static int mapped;

  if (!mapped && !img_map(IMG_STREAM_BASE, IMG_STREAMS * IMG_STREAM_SIZE))
    img_die("the memory at 0x%lx is in use", IMG_STREAM_BASE);
  mapped = 1;
  img_next_block = (void*)(IMG_STREAM_BASE + (uint64_t)i * IMG_STREAM_SIZE);
}

void* img_take_block(size_t n)
{
  void* p = img_next_block;

  img_next_block = NULL;
  return n <= IMG_STREAM_SIZE ? p : malloc(n);
}

int img_is_stream(const void* p)
{
  return (uint64_t)p - IMG_STREAM_BASE < IMG_STREAMS * IMG_STREAM_SIZE;
}

FILE* img_stream_make(int i, int fd, const char* mode)
{
  FILE* f;

  next_place(i);
  f = fdopen(fd, mode);
  img_next_block = NULL;
  return f;
}

FILE* img_stream_input(cookie_io_functions_t functions)
{
  FILE* f;

  next_place(0);
  f = fopencookie(NULL, "r", functions);
  img_next_block = NULL;
  return f;
}

/* ---- once more, without address randomisation ---- */

/* Execute the program again where addresses are not random and the stack's limit does not move libraries. */
static void execute_again(char** argv, char** envp)
{
  struct rlimit limit;
  char          path[4096], mark[64];
  ssize_t       n;
  size_t        i, count = 0;
  char**        next;

  if (getrlimit(RLIMIT_STACK, &limit) != 0) img_die("cannot read the limit of the stack: %s", strerror(errno));
  if (personality(ADDR_NO_RANDOMIZE | (unsigned long)personality(0xffffffff)) < 0 ||
      (personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0)
    img_die("cannot switch off address randomisation (%s); SCR_IMAGE=0 runs without images", strerror(errno));
  snprintf(mark, sizeof mark, MARK "=%llu", (unsigned long long)limit.rlim_cur);
  if (limit.rlim_cur > 8UL << 20) limit.rlim_cur = 8UL << 20; /* up to 128 MiB libraries stay where they are */
  if (setrlimit(RLIMIT_STACK, &limit) != 0) img_die("cannot set the limit of the stack: %s", strerror(errno));
  n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) img_die("cannot read /proc/self/exe: %s", strerror(errno));
  path[n] = '\0';
  while (envp[count] != NULL) count++;
  next = malloc((count + 2) * sizeof *next);
  if (next == NULL) img_die("out of memory");
  for (i = 0; i < count; i++) next[i] = envp[i];
  next[count] = mark;
  next[count + 1] = NULL;
  execve(path, argv, next);
  img_die("cannot execute %s again: %s", path, strerror(errno));
}

/* The process that was executed again: the user's limit comes back, also for the stacks of threads, but libraries stay
   where they are. */
static void give_back_limit(const char* mark)
{
  struct rlimit  limit;
  pthread_attr_t attributes;

  stack_limit = (rlim_t)strtoull(mark, NULL, 10);
  if (getrlimit(RLIMIT_STACK, &limit) == 0) {
    limit.rlim_cur = stack_limit;
    setrlimit(RLIMIT_STACK, &limit);
  }
  if (stack_limit != RLIM_INFINITY && pthread_attr_init(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, (size_t)stack_limit);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  unsetenv(MARK);
}

/* ---- in place of main() ---- */

/* A copy on the saved heap of the strings of LIST (S1). */
static char** copy_strings(char** list)
{
  size_t i, n = 0;
  char** copy;

  while (list[n] != NULL) n++;
  copy = img_alloc((n + 1) * sizeof *copy);
  if (copy == NULL) img_die("out of memory");
  for (i = 0; i < n; i++) {
    copy[i] = img_alloc(strlen(list[i]) + 1);
    if (copy[i] == NULL) img_die("out of memory");
    strcpy(copy[i], list[i]);
  }
  copy[n] = NULL;
  return copy;
}

/* The arguments as one line, cut off if it is too long. */
static void join_arguments(char** argv)
{
  size_t n = 0;

  while (*argv != NULL && *++argv != NULL && n + 1 < sizeof img_arguments)
    n += (size_t)snprintf(img_arguments + n, sizeof img_arguments - n, "%s%s", n > 0 ? " " : "", *argv);
}

/* On the program's stack. */
static void run_main(void* argument)
{
  arguments* a = argument;

  exit(real_main(a->argc, a->argv, a->envp));
}

static void check_mpi(void)
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int  n;

  MPI_Get_library_version(text, &n);
  text[strcspn(text, "\n")] = '\0';
  if (strstr(text, MPICH_VERSION) == NULL) img_die("built for MPICH %s, but this is %s", MPICH_VERSION, text);
}

static int image_main(int argc, char** argv, char** envp)
{
  uint64_t  size = stack_limit > IMG_STACK_MAX ? IMG_STACK_MAX : (stack_limit + IMG_PAGE - 1) & ~(IMG_PAGE - 1);
  int       provided;
  arguments a;

  if (!img_on) return real_main(argc, argv, envp);
  check_mpi();
  img_files_begin();
  if (img_libc_objection() != NULL) img_die("the program %s before main() begins", img_libc_objection());
  if (size < 64 * IMG_PAGE) size = 64 * IMG_PAGE;
  img_stack_low = IMG_STACK_TOP - size;
  if (!img_map(img_stack_low, size)) img_die("the memory at 0x%lx is in use", (unsigned long)img_stack_low);
  join_arguments(argv);
  a.argc = argc, a.argv = copy_strings(argv), a.envp = copy_strings(envp);
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    img_die("MPI_Init_thread fails"); /* S2 */
  img_agree_start();
  __cxa_atexit(img_run_exits, NULL, NULL); /* before what MPI has registered */
  img_lib_start();
  img_in_main = 1;
  img_on_stack(IMG_STACK_TOP, &a, run_main);
}

/* The library is off: SCR_IMAGE=0 or SCR_ENABLE=0 in the environment. */
static int is_off(void)
{
  const char *image = getenv("SCR_IMAGE"), *enable = getenv("SCR_ENABLE");

  return (image != NULL && strcmp(image, "0") == 0) || (enable != NULL && strcmp(enable, "0") == 0);
}

extern void (*__init_array_start[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void (*__init_array_end[])(int, char**, char**) __attribute__((visibility("hidden")));
void _init(void);

/* The constructors of the program: called from here, as libc would be taken for the caller of what they end with
   (C3). */
static void run_constructors(int argc, char** argv, char** envp)
{
  size_t i, n = (size_t)(__init_array_end - __init_array_start);

  _init();
  for (i = 0; i < n; i++) __init_array_start[i](argc, argv, envp);
}

IMG_API int __libc_start_main(main_function* f, int argc, char** argv, void (*init)(void), void (*fini)(void),
                              void (*rtld_fini)(void), void* stack_end);

IMG_API int __libc_start_main(main_function* f, int argc, char** argv, void (*init)(void), void (*fini)(void),
                              void (*rtld_fini)(void), void* stack_end)
{
  const char* why;
  union {
    void*       address;
    libc_start* start;
  } libc;

  img_ranges_start();
  libc.address = img_native_symbol("__libc_start_main");
  if (is_off()) {
    img_ranges_off();
  } else {
    const char* mark = getenv(MARK);

    if ((why = img_ranges_refuse()) != NULL) img_die("%s", why);
    if (mark == NULL) execute_again(argv, argv + argc + 1);
    give_back_limit(mark);
    if (init == NULL) init = (void (*)(void))run_constructors; /* libc calls it with the arguments of main() */
  }
  real_main = f;
  return libc.start(image_main, argc, argv, init, fini, rtld_fini, stack_end);
}
