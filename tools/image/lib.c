/* ==== LIBRARY ===========================================================================================
** How images are datasets of the library: the only file that calls it, by the calls of scr.h alone.
**
** Uses       scr_impl.c, save.c, agree.c (the communicators)
** Offers     img_lib_*.
** Invariants
**   L1  All ranks take the same way: what one rank finds is agreed on before anybody acts.
**   L2  A checkpoint that this program cannot load is not rejected: another build may be able to.
**   L3  Once memory was loaded, main() is never entered.
** Failure    An image that cannot be written is a message; the program goes on.
** ====================================================================================================== */
/* The public calls stay functions, at whose entry a debugger, or a test, can stop. */
#define SCR_API extern __attribute__((noinline))

#include "image.h"

#include "../../scr_impl.c"

typedef struct {
  struct sigaction      library, program; /* their handlers, which ours calls */
  int                   caught;           /* by the library, for SCR_SIGNALS */
  volatile sig_atomic_t deferred;         /* it came while an image was taken */
  siginfo_t             info;             /* what it came with */
} img_signal;

#define IMG_SIGNALS 65

static img_signal            img_signals[IMG_SIGNALS];
static volatile sig_atomic_t img_came;  /* a signal of SCR_SIGNALS */
static volatile sig_atomic_t img_defer; /* the program's handlers wait (I1) */
static char                  img_prefix[SCR_MAX_FILENAME], img_halt_file[SCR_MAX_FILENAME + 20];
static struct stat           img_halt_seen;
static int                   img_running;
static double                img_ask, img_asked_at, img_looked_at;
static char                  img_result[300]; /* of the last image, for rank 0's message */

/* ---- requests ---- */

static void img_handle_by(const struct sigaction* s, int number, siginfo_t* info, void* context)
{
  if (s->sa_flags & SA_SIGINFO) s->sa_sigaction(number, info, context);
  else if (s->sa_handler != SIG_DFL && s->sa_handler != SIG_IGN) s->sa_handler(number);
  IMG_RETURNS(); /* T4 of threads.c */
}

static void img_handle(int number, siginfo_t* info, void* context)
{
  img_signal* s = &img_signals[number];

  if (s->caught) {
    img_came = 1;
    img_handle_by(&s->library, number, info, context);
  }
  if (img_defer) s->info = *info, s->deferred = 1;
  else img_handle_by(&s->program, number, info, context);
}

/* 1 if the handler of the signal NUMBER may be called later than it comes. */
static int img_can_wait(int number, const struct sigaction* action)
{
  if (!(action->sa_flags & SA_SIGINFO) && (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)) return 0;
  return number != SIGSEGV && number != SIGBUS && number != SIGFPE && number != SIGILL && number != SIGTRAP &&
         number != SIGSYS && number != SIGABRT;
}

/* The program's handler is called by ours; the signals of SCR_SIGNALS have that already. */
int img_lib_sigaction(int number, const struct sigaction* action, struct sigaction* before)
{
  img_signal*      s = number > 0 && number < IMG_SIGNALS ? &img_signals[number] : NULL;
  struct sigaction now, ours;

  if (s == NULL || sigaction(number, NULL, &now) != 0) return sigaction(number, action, before);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == img_handle) now = s->program;
  if (action != NULL) {
    ours = *action;
    if (img_can_wait(number, action)) ours.sa_sigaction = img_handle, ours.sa_flags |= SA_SIGINFO;
    if (!s->caught && sigaction(number, &ours, NULL) != 0) return -1;
    s->program = *action;
  }
  if (before != NULL) *before = now;
  return 0;
}

void img_signals_defer(void)
{
  img_defer = 1;
}

void img_signals_deliver(void)
{
  static ucontext_t nowhere;
  int               i;

  img_defer = 0;
  for (i = 1; i < IMG_SIGNALS; i++) {
    if (!img_signals[i].deferred) continue;
    img_signals[i].deferred = 0;
    img_handle_by(&img_signals[i].program, i, &img_signals[i].info, &nowhere);
  }
}

/* What the handlers of signals are; what differs afterwards, the library has taken, and ours goes before it. */
static void img_signals_before(struct sigaction* before)
{
  int i;

  for (i = 1; i < IMG_SIGNALS; i++) sigaction(i, NULL, &before[i]);
}

static void img_signals_after(const struct sigaction* before)
{
  struct sigaction now, ours;
  int              i;

  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = img_handle;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  for (i = 1; i < IMG_SIGNALS; i++) {
    if (sigaction(i, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0) continue;
    if ((before[i].sa_flags & SA_SIGINFO) && before[i].sa_sigaction == now.sa_sigaction) continue;
    img_signals[i].library = now;
    img_signals[i].caught = sigaction(i, &ours, NULL) == 0;
    img_came = 1; /* one may have come meanwhile: ask */
  }
}

/* Give the signals back to the library and, when that has ENDED, to the program where it had set a handler. */
static void img_signals_end(int ended)
{
  int i;

  for (i = 1; i < IMG_SIGNALS; i++) {
    img_signal* s = &img_signals[i];

    if (!s->caught) continue;
    if (!ended) sigaction(i, &s->library, NULL);
    else if (s->program.sa_handler != SIG_DFL) sigaction(i, &s->program, NULL);
    s->caught = !ended;
  }
}

int img_lib_signalled(void)
{
  return img_came;
}

/*
** The library is to be asked: note how the halt file is before.  What comes later makes another question, at the worst
** for the library's own answer, but no request is missed.  Only a library that looks at the file counts as asked.
*/
static void img_note_halt(void)
{
  if (stat(img_halt_file, &img_halt_seen) != 0) memset(&img_halt_seen, 0, sizeof img_halt_seen);
}

void img_lib_asked(void)
{
  img_came = 0;
}

int img_lib_time_to_ask(void)
{
  return img_running && img_ask > 0 && img_wtime() - img_asked_at >= img_ask;
}

int img_lib_halt_changed(void)
{
  double      now = img_wtime();
  struct stat st;

  if (!img_running) return 0;
  if (now - img_looked_at < SCR_LOOK_SECONDS && now >= img_looked_at) return 0;
  img_looked_at = now;
  if (stat(img_halt_file, &st) != 0) return 0;
  return st.st_ino != img_halt_seen.st_ino || st.st_size != img_halt_seen.st_size ||
         st.st_mtim.tv_sec != img_halt_seen.st_mtim.tv_sec || st.st_mtim.tv_nsec != img_halt_seen.st_mtim.tv_nsec;
}

/* ---- start ---- */

/* The value of the parameter NAME is set, and not 0. */
static int img_is_set(const char* name)
{
  char* value = (char*)SCR_Config(name);
  int   set = value != NULL && strcmp(value, "0") != 0 && *value != '\0';

  free(value);
  return set;
}

/* End the process on all ranks: the library's message was printed. */
static void img_leave(int code)
{
  fflush(NULL);
  if (img_running) SCR_Finalize();
  img_agree_settle();
  img_agree_hear_no_more();
  MPI_Finalize();
  _exit(code);
}

/* The seconds between two questions: two in SCR_CHECKPOINT_SECONDS, or else 10. */
static double img_between(void)
{
  char*  value = (char*)SCR_Config("SCR_CHECKPOINT_SECONDS");
  double half = value != NULL ? strtod(value, NULL) / 2 : 0;

  free(value);
  return half > 0 && half < 10 ? half : 10;
}

/* The parameters that images need, and those that say when to ask. */
static void img_configure(void)
{
  int timed = img_is_set("SCR_CHECKPOINT_SECONDS") || img_is_set("SCR_CHECKPOINT_MTBF") ||
              img_is_set("SCR_CHECKPOINT_OVERHEAD");
  int asks = timed || img_is_set("SCR_HALT_SECONDS") || img_is_set("SCR_END_TIME") || img_is_set("SCR_FLUSH_ASYNC");

  SCR_Config("SCR_RESTART_RANKS=same");
  if (!timed) SCR_Config("SCR_CHECKPOINT_SECONDS=1000000000"); /* without a rule, one is always due */
  if (img_is_set("SCR_CHECKPOINT_INTERVAL") && img_rank == 0)
    img_say("SCR_CHECKPOINT_INTERVAL counts calls that this program does not make; set SCR_CHECKPOINT_SECONDS");
  img_ask = img_seconds("SCR_IMAGE_ASK", asks ? img_between() : 0);
}

/* The prefix, as a true path: names of images do not depend on the working directory. */
static void img_find_prefix(void)
{
  char* value = (char*)SCR_Config("SCR_PREFIX");

  if (realpath(value != NULL && *value != '\0' ? value : ".", img_prefix) == NULL)
    img_die("cannot find the prefix %s: %s", value != NULL ? value : ".", strerror(errno));
  free(value);
  snprintf(img_halt_file, sizeof img_halt_file, "%s/.scr/halt.scr", img_prefix);
}

/* The path of this rank's file of the image NAME. */
static int img_path(const char* name, char* file)
{
  char path[2 * SCR_MAX_FILENAME + 40];

  snprintf(path, sizeof path, "%s/%s/rank_%d.img", img_prefix, name, img_rank);
  return SCR_Route_file(path, file);
}

/* The greatest VALUE of all ranks, and the lowest rank that has it, whose TEXT (of 400 bytes) all get. */
static int img_worst(int value, char* text)
{
  struct {
    int value, rank;
  } mine = {value, img_rank}, worst;

  MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, img_ctl);
  MPI_Bcast(text, 400, MPI_BYTE, worst.rank, img_ctl);
  return worst.value;
}

/*
** Try the checkpoint NAME.  Returns 1 if it is loaded on all ranks, 0 if the library may offer an older one; does not
** return if this program cannot load it (L2).
*/
static int img_try(const char* name, int* touched)
{
  char file[SCR_MAX_FILENAME], why[400] = "";
  int  bad, rc;

  if (strncmp(name, "image.", 6) != 0) {
    if (img_rank == 0) img_say("the newest checkpoint, %s, is not an image; use another SCR_PREFIX", name);
    img_leave(1);
  }
  SCR_Start_restart(NULL);
  if (img_path(name, file) != SCR_SUCCESS) {
    bad = 1;
    snprintf(why, sizeof why, "%.390s", SCR_Last_error());
  } else {
    bad = img_compare(file, why);
  }
  bad = img_worst(bad, why);
  if (bad == 0) {
    *touched = 1;
    bad = img_load();
    if (bad == 1) snprintf(why, sizeof why, "%.300s cannot be read to its end", name);
    if (bad == 2)
      snprintf(why, sizeof why, "there is no memory for %.300s: its addresses are in use, or ulimit -v, or the node",
               name);
    bad = img_worst(bad, why);
  }
  if (bad != 0 && img_rank == 0) img_say("%s", why);
  if (bad == 2) img_leave(1);
  rc = SCR_Complete_restart(bad == 0);
  if (rc == SCR_ERR_MPI) img_leave(1);
  return rc == SCR_SUCCESS; /* after any other error this run is offered another one */
}

/* A halt condition holds already: nothing begins. */
static void img_check_halt(void)
{
  int stop = 0;

  if (SCR_Should_exit(&stop) != SCR_SUCCESS) img_leave(1);
  if (!stop) return;
  if (img_rank == 0) img_say("the run should not start: a halt condition holds (scr_halt --list)");
  SCR_Finalize();
  img_leave(0);
}

void img_lib_start(void)
{
  struct sigaction before[IMG_SIGNALS];
  char             name[SCR_MAX_FILENAME];
  int              have = 0, touched = 0, rc;

  img_configure();
  img_find_prefix();
  img_signals_before(before);
  img_note_halt();
  rc = SCR_Init_comm(img_ctl);
  if (rc == SCR_ERR_DISABLED) return; /* by a parameter file */
  if (rc != SCR_SUCCESS) img_leave(1);
  img_running = 1;
  img_signals_after(before);
  img_check_halt();
  img_asked_at = img_looked_at = img_wtime();
  for (;;) {
    if (SCR_Have_restart(&have, name) != SCR_SUCCESS) img_leave(1);
    if (!have) break;
    if (!img_try(name, &touched)) continue;
    if (img_rank == 0) img_say("restarted from %s", name);
    img_asked_at = img_looked_at = img_wtime();
    img_resume();
  }
  if (touched) { /* L3 */
    if (img_rank == 0) img_say("no image could be loaded; start again");
    img_leave(1);
  }
}

/* ---- images ---- */

int img_lib_due(void)
{
  int flag = 0;

  if (img_wtime() - img_asked_at >= SCR_LOOK_SECONDS) img_note_halt();
  if (SCR_Need_checkpoint(&flag) != SCR_SUCCESS) flag = 0;
  return flag;
}

/*
** Where all users can write to the prefix, who makes the directory of an image before this run does can exchange the
** image, which is code that a restart runs: a number whose directory is a stranger's is left out, and that of the next
** image is made now.
*/
uint64_t img_lib_number(uint64_t n)
{
  char        path[SCR_MAX_FILENAME + 40];
  struct stat top, st;
  int         open = img_rank == 0 && stat(img_prefix, &top) == 0 && top.st_mode & S_IWOTH;

  while (open) {
    snprintf(path, sizeof path, "%s/image.%lu", img_prefix, (unsigned long)n);
    if (mkdir(path, 0755) == 0 || errno != EEXIST) break;
    if (lstat(path, &st) < 0) continue; /* somebody has removed it again */
    if (st.st_uid == geteuid() || st.st_uid == 0) break;
    img_say("%s is of user %lu: the image has the next number", path, (unsigned long)st.st_uid);
    n++;
  }
  MPI_Bcast(&n, 1, MPI_UINT64_T, 0, img_ctl);
  return n;
}

void img_lib_write(uint64_t n, const char* why)
{
  char   name[40], file[SCR_MAX_FILENAME];
  double began = img_wtime(), bytes = 0;
  int    rc;

  fflush(NULL);
  snprintf(name, sizeof name, "image.%lu", (unsigned long)n);
  rc = SCR_Start_output(name, SCR_FLAG_CHECKPOINT);
  if (rc == SCR_SUCCESS) {
    rc = img_path(name, file);
    if (rc == SCR_SUCCESS && why == NULL) why = img_write(file, n);
    if (why != NULL) img_say("%s", why);
    rc = SCR_Complete_output(rc == SCR_SUCCESS && why == NULL);
  }
  MPI_Reduce(&img_bytes, &bytes, 1, MPI_DOUBLE, MPI_SUM, 0, img_ctl);
  if (img_rank != 0) return;
  if (rc != SCR_SUCCESS)
    snprintf(img_result, sizeof img_result, "%s could not be written, or not flushed: %.200s", name, SCR_Strerror(rc));
  else
    snprintf(img_result, sizeof img_result, "%s is complete: %d ranks, %.1f MB, stopped for %.1f s", name, img_ranks,
             bytes * 1e-6, img_wtime() - began);
  if (rc != SCR_SUCCESS || img_is_set("SCR_DEBUG")) img_say("%s", img_result);
}

void img_lib_leave(void)
{
  int stop = 0;

  SCR_Should_exit(&stop);
  img_asked_at = img_looked_at = img_wtime();
  if (!stop) return;
  if (img_rank == 0) img_say("the run ends here, because a halt condition holds; the same command goes on");
  img_leave(img_lib_end() ? 0 : 1);
}

int img_lib_end(void)
{
  int rc;

  if (!img_running) return 1;
  img_running = 0;
  img_signals_end(0);
  rc = SCR_Finalize();
  img_signals_end(1);
  return rc == SCR_SUCCESS;
}
