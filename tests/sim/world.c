/* ==== WORLD =====================================================================================================
** Fibers and processes, the scheduler, virtual time, memory, threads, deaths.
**
** Offers     sim_random, sim_call, sim_violation, sim_wake, sim_translate, world_* of sim.h; memory and threads
** Invariants
**   W1  Only one fiber runs; another one runs only when that one makes a call that passes sim_call, waits, or ends.
**   W2  Everything that happens follows from S.seed and the overrides of fate: no real clock, no address, no real file.
**   W3  The variables in place are those of the process that runs; a message that goes into or comes from those of
**       another one goes through sim_translate.
**   W4  A process that is killed makes no further call; its descriptors are closed, and its locks are free.
** ================================================================================================================= */
#include "sim.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define WORLD_NODES  (1 << 17)
#define WORLD_STACK  ((size_t)256 << 10)
#define WORLD_GUARD  ((size_t)4096)
#define WORLD_EPOCH  1700000000ull
#define WORLD_SECOND 1000000000ull
#define WORLD_NEVER  UINT64_MAX
#define WORLD_MAGIC  0x51a11cu
#define WORLD_SMALL  ((size_t)4096) /* blocks that are kept when they are freed */
#define WORLD_STEP   ((size_t)16)
#define WORLD_PIECE  ((size_t)512)     /* of the variables of a process */
#define WORLD_CHUNK  ((size_t)2 << 20) /* of memory, for small blocks: a huge page */
#define WORLD_ENV    128
#define WORLD_QUIET  400 /* sleepers that wake for nothing before those that only yield look again */
#define WORLD_ROUNDS 60  /* such looks before nobody can go on */

struct sim S;
int        world_machine[WORLD_NODES];
int        world_kill_what;
int64_t    world_clock_shift;
int        world_launches = 1;
uint64_t   world_most_calls = 4000000;
unsigned   world_warnings, world_unfetched;

/* ---- random numbers, what is said ---- */

uint64_t sim_random(void)
{
  uint64_t z = (S.rng += 0x9e3779b97f4a7c15u);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void sim_reseed(const char* what)
{
  S.rng = S.seed * 0x9e3779b97f4a7c15u + (uint64_t)S.life * 0x2545f4914f6cdd1du;
  for (; *what != '\0'; what++) S.rng = (S.rng ^ (unsigned char)*what) * 0x100000001b3u;
  sim_random();
}

void sim_mix(uint64_t x)
{
  S.hash = (S.hash ^ x) * 0x100000001b3u;
  S.hash ^= S.hash >> 29;
}

void sim_violation(const char* format, ...)
{
  va_list ap;
  size_t  n = strlen(S.why);

  S.failures++;
  if (n + 1200 > sizeof S.why || S.failures > 16) return;
  n += (size_t)snprintf(S.why + n, sizeof S.why - n, "  lifetime %d: ", S.life);
  va_start(ap, format);
  vsnprintf(S.why + n, sizeof S.why - n - 2, format, ap);
  va_end(ap);
  if (S.verbose) fprintf(stderr, "VIOLATION %s\n", S.why + n);
  strcat(S.why, "\n");
}

void sim_note(const char* format, ...)
{
  va_list ap;

  if (!S.verbose) return;
  va_start(ap, format);
  fprintf(stderr, "[%d %11.6f] -- ", S.life, (double)S.now * 1e-9);
  vfprintf(stderr, format, ap);
  fprintf(stderr, "\n");
  va_end(ap);
}

int sim_fails(unsigned kind, unsigned rate, int error)
{
  if (!(S.faults & kind) || (sim_random() & 65535) >= rate) return 0;
  S.faults_made++;
  sim_note("fault %u: rank %d, in %s, at %s, call %lu", kind, S.me->id, S.me->api ? S.me->api : "-", S.cur->call,
           (unsigned long)S.ops);
  errno = error;
  return 1;
}

/* ---- the variables of programs ---- */

#define WORLD_SECTIONS(prefix)                                                                                         \
  extern char __start_##prefix##data[], __stop_##prefix##data[], __start_##prefix##bss[], __stop_##prefix##bss[],      \
      __start_##prefix##tls[], __stop_##prefix##tls[]
#define WORLD_IMAGE(name, prefix)                                                                                      \
  {                                                                                                                    \
    name, __start_##prefix##data, __stop_##prefix##data, __start_##prefix##bss, __stop_##prefix##bss,                  \
        __start_##prefix##tls, __stop_##prefix##tls, NULL, NULL, NULL, NULL                                            \
  }
WORLD_SECTIONS(scr);
WORLD_SECTIONS(cmd);
image         sim_library = WORLD_IMAGE("library", scr), sim_commands = WORLD_IMAGE("commands", cmd);
static image* world_images[] = {&sim_library, &sim_commands};

static size_t image_data(const image* m)
{
  return (size_t)(m->data_end - m->data);
}

static size_t image_bss(const image* m)
{
  return (size_t)(m->bss_end - m->bss);
}

static size_t image_tls(const image* m)
{
  return (size_t)(m->tls_end - m->tls);
}

/*
** Most pieces of the variables of most processes are as they were before the program ran, so only the others are copied
** when another process runs.
*/
static size_t image_pieces(const image* m)
{
  return (image_bss(m) + WORLD_PIECE - 1) / WORLD_PIECE;
}

static size_t piece_size(const image* m, size_t piece)
{
  size_t left = image_bss(m) - piece * WORLD_PIECE;
  return left < WORLD_PIECE ? left : WORLD_PIECE;
}

/* How many bytes the pieces FROM to END have. */
static size_t pieces_size(const image* m, size_t from, size_t end)
{
  return (end - from - 1) * WORLD_PIECE + piece_size(m, end - 1);
}

/* Returns 1 if the pieces of M from FROM to END, which are in place, have no byte but 0, as before the program ran. */
static int pieces_are_zero(const image* m, size_t from, size_t end)
{
  static const char zeros[8 * WORLD_PIECE];
  const char*       at = m->bss + from * WORLD_PIECE;
  size_t            n, left = pieces_size(m, from, end);

  for (; left > 0; at += n, left -= n) {
    n = left < sizeof zeros ? left : sizeof zeros;
    if (memcmp(at, zeros, n) != 0) return 0;
  }
  return 1;
}

/* The end of the pieces of P from I on that are all changed, or all zero. */
static size_t run_end(const process* p, size_t i)
{
  size_t      n = image_pieces(p->of);
  const char* end = memchr(p->changed + i, !p->changed[i], n - i);
  return end ? (size_t)(end - p->changed) : n;
}

/* Copy the variables of the image of P, which are in place, to P. */
static void image_save(process* p)
{
  const image* m = p->of;
  char*        to = p->variables + image_data(m);
  size_t       i, end, at;

  memcpy(p->variables, m->data, image_data(m));
  for (i = 0; i < image_pieces(m); i = end) {
    end = run_end(p, i);
    at = i * WORLD_PIECE;
    if (!p->changed[i] && pieces_are_zero(m, i, end)) continue;
    if (!p->changed[i]) {
      while (pieces_are_zero(m, i, i + 1)) at = ++i * WORLD_PIECE;
      p->changed[i] = 1;
      end = i + 1;
    }
    memcpy(to + at, m->bss + at, pieces_size(m, i, end));
  }
}

/* Put the variables of P in the place of those of WAS, or of an unknown process if that is NULL. */
static void image_load(process* p, const process* was)
{
  const image* m = p->of;
  char*        from = p->variables + image_data(m);
  size_t       i, end, at;

  memcpy(m->data, p->variables, image_data(m));
  for (i = 0; i < image_pieces(m); i = end) {
    end = run_end(p, i);
    at = i * WORLD_PIECE;
    if (p->changed[i]) memcpy(m->bss + at, from + at, pieces_size(m, i, end));
    else if (was == NULL || memchr(was->changed + i, 1, end - i)) memset(m->bss + at, 0, pieces_size(m, i, end));
  }
}

/* All variables of P, which does not run, are to be in its copy. */
static void image_complete(process* p)
{
  const image* m = p->of;
  size_t       i, at;

  for (i = 0; i < image_pieces(m); i++) {
    at = image_data(m) + i * WORLD_PIECE;
    if (!p->changed[i]) memset(p->variables + at, 0, piece_size(m, i));
    p->changed[i] = 1;
  }
}

static void image_start(image* m)
{
  m->first = malloc(image_data(m) + 1);
  m->tls_first = malloc(image_tls(m) + 1);
  memcpy(m->first, m->data, image_data(m));
  memcpy(m->tls_first, m->tls, image_tls(m));
}

/* Put the variables of the process of F in place (W3). */
static void world_load(fiber* f)
{
  image* m = f->p->of;

  if (m->loaded != f->p) {
    if (m->loaded) image_save(m->loaded);
    image_load(f->p, m->loaded);
    m->loaded = f->p;
    S.switches++;
  }
  if (m->tls_loaded == f) return;
  if (m->tls_loaded) memcpy(m->tls_loaded->tls, m->tls, image_tls(m));
  memcpy(m->tls, f->tls, image_tls(m));
  m->tls_loaded = f;
}

void* sim_translate(process* p, const void* address)
{
  const image* m = p->of;
  char*        a = (char*)(uintptr_t)address;

  if (p == m->loaded) return a;
  if (a >= m->data && a < m->data_end) return p->variables + (a - m->data);
  if (a >= m->bss && a < m->bss_end) {
    image_complete(p);
    return p->variables + image_data(m) + (a - m->bss);
  }
  if (a >= m->tls && a < m->tls_end) sim_violation("a message buffer is thread-local");
  return a;
}

/* ---- fibers ---- */

static char*   world_stacks;
static size_t  stacks_used, stacks_room;
static char**  stack_free;
static size_t  stacks_free;
static void*   world_sp; /* the scheduler's */
static fiber** queue;    /* who can run */
static size_t  queued, queue_room;
static struct {
  uint64_t at, number;
  fiber*   f;
  unsigned generation;
} * sleepers;
static size_t   sleeping, sleep_room;
static uint64_t sleep_number, world_events;
static int      fiber_ids;
static uint64_t events_seen;    /* at the last look for who can go on, */
static int      quiet, rounds;  /* and the sleepers woken, the looks made, since something happened */
static uint64_t world_end_time; /* when the launcher ends the ranks that are left of a job that was hit */

/* Save where we are in *FROM, and go on at TO. */
void sim_exchange(void** from, void* to);
#if defined(__x86_64__)
__asm__(".text\n.globl sim_exchange\nsim_exchange:\n"
        " pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        " movq %rsp,(%rdi)\n movq %rsi,%rsp\n"
        " popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n");
#define WORLD_SAVED 6 /* words that sim_exchange pushes */
#else
#error "write sim_exchange for this processor: push what a function must keep, exchange the stack, pop"
#endif

static void fiber_enqueue(fiber* f)
{
  if (f->queued || f->state == FIBER_DEAD) return;
  if (queued == queue_room) queue = realloc(queue, (queue_room = queue_room ? 2 * queue_room : 1024) * sizeof *queue);
  queue[queued++] = f;
  f->queued = 1;
}

void world_ready(fiber* f)
{
  f->generation++;
  f->state = FIBER_RUNS;
  fiber_enqueue(f);
}

/* Let others run; the state of this fiber says when it goes on. */
static void fiber_yield(void)
{
  fiber* f = S.cur;

  f->err = errno;
  if (f->state == FIBER_RUNS) fiber_enqueue(f);
  sim_exchange(&f->sp, world_sp);
  errno = f->err;
}

void fiber_leave(void)
{
  sim_exchange(&S.cur->sp, world_sp);
  abort();
}

void fiber_tell(process* p, const void* on)
{
  fiber* f;

  for (f = p->fibers; f; f = f->next)
    if (f->state == FIBER_WAITS && f->on == on) world_ready(f);
}

static void fiber_wait_on(const void* on)
{
  S.cur->state = FIBER_WAITS;
  S.cur->on = on;
  S.cur->generation++;
  fiber_yield();
}

static void fiber_begin(void)
{
  fiber* f = S.cur;

  f->arg = f->fn(f->arg);
  f->done = 1;
  f->state = FIBER_DEAD;
  fiber_tell(f->p, f);
  if (f->main) {
    f->p->ended = 1;
    world_kill(f->p);
  }
  fiber_leave();
}

static fiber* fiber_new(process* p, void* (*fn)(void*), void* arg)
{
  fiber* f = calloc(1, sizeof *f);
  void** sp;

  if (stacks_free) f->stack = stack_free[--stacks_free];
  else if (stacks_used < stacks_room) f->stack = world_stacks + WORLD_STACK * stacks_used++;
  else fprintf(stderr, "no stack is left for a fiber\n"), abort();
  f->p = p;
  f->fn = fn;
  f->arg = arg;
  f->id = fiber_ids++;
  f->call = "(none)";
  f->tls = malloc(image_tls(p->of) + 1);
  memcpy(f->tls, p->of->tls_first, image_tls(p->of));
  sp = (void**)(void*)(f->stack + WORLD_STACK);
  *--sp = NULL;
  *--sp = (void*)(uintptr_t)fiber_begin;
  sp -= WORLD_SAVED;
  memset(sp, 0, WORLD_SAVED * sizeof *sp);
  f->sp = sp;
  f->next = p->fibers;
  if (f->next) f->next->prev = f;
  p->fibers = f;
  world_ready(f);
  return f;
}

/* ---- children ---- */

/*
** The fiber is the child until that becomes another program or ends; then its stack is again as it was, and it is the
** parent.  Both have the same variables, which a child must not change.
*/
pid_t sim_fork(void)
{
  fiber* f = S.cur;

  sim_call("fork", 0);
  if (f->p->of != &sim_commands || f->before) {
    errno = EAGAIN;
    return -1;
  }
  f->child = 0;
  memset(f->out, 0, sizeof f->out);
  f->fork = FORK_CHILD;
  sim_exchange(&f->sp, world_sp);
  return f->child;
}

void fiber_parent(process* p)
{
  S.cur->child = p->pid;
  S.cur->fork = FORK_PARENT;
  p->parent = S.me;
  fiber_leave();
}

/* The scheduler keeps the stack of F, which forks, or restores it. */
static void fiber_fork(fiber* f)
{
  if (f->fork == FORK_CHILD) {
    f->before_sp = f->sp;
    f->before_n = (size_t)(f->stack + WORLD_STACK - (char*)f->sp);
    f->before = malloc(f->before_n);
    memcpy(f->before, f->sp, f->before_n);
  } else {
    memcpy(f->before_sp, f->before, f->before_n);
    f->sp = f->before_sp;
    free(f->before);
    f->before = NULL;
  }
  f->fork = FORK_NONE;
}

/* Give back the stack of F, which has ended. */
static void fiber_release(fiber* f)
{
  if (f->stack) stack_free[stacks_free++] = f->stack;
  if (f->p->of->tls_loaded == f) f->p->of->tls_loaded = NULL;
  f->stack = NULL;
  free(f->tls);
  free(f->before);
  f->tls = f->before = NULL;
}

/* ---- sleep: a heap of (time, number) ---- */

static int sleep_before(size_t a, size_t b)
{
  return sleepers[a].at < sleepers[b].at ||
         (sleepers[a].at == sleepers[b].at && sleepers[a].number < sleepers[b].number);
}

static void sleep_exchange(size_t a, size_t b)
{
  __typeof__(*sleepers) t = sleepers[a];

  sleepers[a] = sleepers[b];
  sleepers[b] = t;
}

static void sleep_push(uint64_t at, fiber* f)
{
  size_t i = sleeping++;

  if (i == sleep_room)
    sleepers = realloc(sleepers, (sleep_room = sleep_room ? 2 * sleep_room : 1024) * sizeof *sleepers);
  sleepers[i].at = at;
  sleepers[i].number = ++sleep_number;
  sleepers[i].f = f;
  sleepers[i].generation = f->generation;
  for (; i > 0 && sleep_before(i, (i - 1) / 2); i = (i - 1) / 2) sleep_exchange(i, (i - 1) / 2);
}

static void sleep_pop(void)
{
  size_t i = 0, k;

  sleepers[0] = sleepers[--sleeping];
  while ((k = 2 * i + 1) < sleeping) {
    if (k + 1 < sleeping && sleep_before(k + 1, k)) k++;
    if (!sleep_before(k, i)) break;
    sleep_exchange(i, k);
    i = k;
  }
}

void sim_sleep(uint64_t ns)
{
  S.cur->state = FIBER_SLEEPS;
  S.cur->generation++;
  sleep_push(S.now + ns, S.cur);
  fiber_yield();
}

void fiber_wait(const void* on, uint64_t ns)
{
  S.cur->state = FIBER_WAITS;
  S.cur->on = on;
  S.cur->generation++;
  sleep_push(S.now + ns, S.cur);
  fiber_yield();
}

void sim_wake(process* p)
{
  fiber* f;

  p->activity++;
  world_events++;
  for (f = p->fibers; f; f = f->next)
    if (f->state == FIBER_PARKED) world_ready(f);
}

/* ---- deaths ---- */

void world_kill(process* p)
{
  fiber* f;

  if (!p->alive) return;
  p->alive = 0;
  for (f = p->fibers; f; f = f->next) f->state = FIBER_DEAD;
  files_close_all(p);
  if (!p->ended) sim_mix(0xdead0000u + (unsigned)p->id);
  world_events++;
}

static void world_kill_ranks(void)
{
  int i;

  for (i = 0; i < S.ranks; i++) world_kill(S.rank[i]);
}

/* The death that fate wants, now; the launcher ends the rest of the job soon, or only after a while. */
static void world_strike(void)
{
  int i, node = S.me->node, rank = S.me->id < S.ranks ? S.me->id : (int)sim_below((uint64_t)S.ranks);

  for (i = 0; i < S.processes; i++) {
    process* p = S.rank[i];
    if (S.ranks == 0           ? world_kill_what == 2 || p == S.me || (world_kill_what == 1 && p->node == node)
        : world_kill_what == 3 ? p->background && p->node == node
        : i < S.ranks          ? world_kill_what == 2 || i == rank || (world_kill_what == 1 && p->node == node)
                               : world_kill_what == 1 && p->node == node)
      world_kill(p);
  }
  sim_note("killed: %s %d (node %d) at call %lu, in %s",
           world_kill_what == 3   ? "the daemon of the node of rank"
           : world_kill_what == 2 ? "the job by rank"
           : world_kill_what == 1 ? "the node of rank"
                                  : "rank",
           rank, node, (unsigned long)S.ops, S.me->api ? S.me->api : "-");
  S.kill_at = WORLD_NEVER;
  if (world_kill_what == 3) {
    S.daemon_struck = 1;
    return;
  }
  S.struck = 1;
  S.struck_node = node;
  if (S.ranks == 0) return;
  S.end_at = S.ops + (world_kill_what == 2 ? 0 : sim_below(3) == 0 ? sim_below(20) : sim_below(2000));
  world_end_time = S.now + WORLD_SECOND;
}

int sim_dies_now(void)
{
  return S.ops + 1 >= S.kill_at || S.ops + 1 >= S.end_at;
}

void sim_signal(process* p)
{
  p->signal_at = 0;
  sim_note("rank %d: SIGUSR1%s%s", p->id, p->api ? " in " : "", p->api ? p->api : "");
  if (p->handler) p->handler(SIGUSR1, NULL, NULL);
}

void sim_call(const char* what, uint64_t arg)
{
  fiber* f = S.cur;

  S.ops++;
  S.now += S.latency;
  f->call = what;
  f->call_arg = arg;
  f->call_at = S.ops;
  sim_mix((uint64_t)f->id << 40 ^ (uint64_t)(unsigned char)what[0] << 32 ^ (uint64_t)(unsigned char)what[1] << 24 ^
          arg);
  if (S.trace) fprintf(stderr, "%lu %d.%d %s %lx\n", (unsigned long)S.ops, S.me->id, f->id, what, (unsigned long)arg);
  if (S.ops == S.stop_at) raise(SIGTRAP);
  if (S.ops >= S.kill_at) world_strike();
  if (S.ops >= S.end_at) world_kill_ranks();
  if (!S.me->alive) fiber_leave();
  if (S.me->signal_at && S.ops >= S.me->signal_at) sim_signal(S.me);
  if (sim_chance(S.preempt)) fiber_yield();
}

/* ---- a lifetime ---- */

void world_start(int ranks)
{
  size_t i;

  image_start(&sim_library);
  image_start(&sim_commands);
  stacks_room = 3 * (size_t)ranks + 128;
  world_stacks =
      mmap(NULL, stacks_room * WORLD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (world_stacks == MAP_FAILED) perror("stacks"), exit(2);
  madvise(world_stacks, stacks_room * WORLD_STACK, MADV_NOHUGEPAGE);
  if (ranks <= 1024)
    for (i = 0; i < stacks_room; i++) mprotect(world_stacks + i * WORLD_STACK, WORLD_GUARD, PROT_NONE);
  stack_free = malloc(stacks_room * sizeof *stack_free);
  /* buffers of files come and go: their pages stay, instead of faults for each anew */
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

static process* world_process(image* of, int node)
{
  process* p = calloc(1, sizeof *p);
  size_t   n = image_data(of) + image_bss(of);

  p->id = S.processes;
  p->pid = (int)(1000 + sim_below(1000) * 100000 + (uint64_t)S.processes);
  p->alive = 1;
  p->node = node;
  p->of = of;
  p->heap.next = p->heap.prev = &p->heap;
  p->variables = malloc(n);
  p->changed = calloc(1, image_pieces(of) + 1);
  memcpy(p->variables, of->first, image_data(of));
  S.rank = realloc(S.rank, ((size_t)S.processes + 1) * sizeof *S.rank);
  S.rank[S.processes++] = p;
  return p;
}

void world_begin(int ranks, const int* node_of, void* (*program)(void*))
{
  int i;

  S.ops = 0;
  S.struck = S.daemon_struck = 0;
  S.end_at = world_end_time = WORLD_NEVER;
  S.processes = 0;
  S.ranks = ranks;
  fiber_ids = quiet = rounds = 0;
  events_seen = world_events = 0;
  world_warnings = world_unfetched = 0;
  world_launches++;
  mpi_begin(ranks);
  for (i = 0; i < ranks; i++) {
    process* p = world_process(&sim_library, node_of[i]);
    fiber_new(p, program, p)->main = 1;
  }
}

process* world_spawn(image* of, int node, void* (*program)(void*), void* arg)
{
  process* p = world_process(of, node);

  fiber_new(p, program, arg)->main = 1;
  return p;
}

process* world_ended(image* of, int node, int code)
{
  process* p = world_process(of, node);

  p->alive = 0;
  p->ended = 2;
  p->code = code;
  return p;
}

/* Say for each rank what it waits for, and since when; at most MOST of them. */
static void world_tell(int most)
{
  fiber* f;
  int    i;

  for (i = 0; i < S.processes; i++)
    for (f = S.rank[i]->alive ? S.rank[i]->fibers : NULL; f && most > 0; f = f->next) {
      if (f->state == FIBER_DEAD) continue;
      most--;
      sim_violation("  %s %d%s on node %d is in %s, last call %s %lx, %lu calls ago", i < S.ranks ? "rank" : "process",
                    i, f->main ? "" : " (a thread)", S.rank[i]->node, S.rank[i]->api ? S.rank[i]->api : "the program",
                    f->call, (unsigned long)f->call_arg, (unsigned long)(S.ops - f->call_at));
    }
}

/* Returns 1 if a process lives for which the lifetime waits. */
static int world_lives(void)
{
  int i;

  for (i = 0; i < S.processes; i++)
    if (S.rank[i]->alive && !S.rank[i]->background) return 1;
  return 0;
}

/* Those that only yield look once more at what they wait for. */
static void world_rouse(void)
{
  fiber* f;
  int    i;

  S.now += WORLD_SECOND / 1000;
  for (i = 0; i < S.processes; i++)
    for (f = S.rank[i]->alive ? S.rank[i]->fibers : NULL; f; f = f->next)
      if (f->state == FIBER_PARKED) world_ready(f);
}

/*
** Nobody can run: wake the next sleeper, or let all look again.  Returns 0 if nobody gets anywhere.
*/
static int world_idle(void)
{
  fiber* f;

  if (events_seen != world_events) quiet = rounds = 0;
  events_seen = world_events;
  while (sleeping > 0 && (sleepers[0].f->generation != sleepers[0].generation || sleepers[0].f->state == FIBER_DEAD))
    sleep_pop();
  if (sleeping > 0 && quiet++ < WORLD_QUIET) {
    if (sleepers[0].at > S.now) S.now = sleepers[0].at;
    f = sleepers[0].f;
    sleep_pop();
    if (f->p->id < S.ranks) quiet = 0;
    world_ready(f);
    return 1;
  }
  quiet = 0;
  if (rounds++ > (S.end_at != WORLD_NEVER ? 3 : WORLD_ROUNDS)) return rounds = 0;
  world_rouse();
  return 1;
}

int world_run(void)
{
  fiber* f;
  size_t k;

  while (world_lives()) {
    if (S.now > world_end_time && S.now != WORLD_NEVER) world_kill_ranks();
    if (S.ops > world_most_calls) {
      sim_violation("after %lu calls and %.0f s the job has not come to its end", (unsigned long)S.ops,
                    (double)S.now * 1e-9);
      world_tell(12);
      return 1;
    }
    if (queued == 0) {
      if (world_idle()) continue;
      if (S.end_at != WORLD_NEVER) { /* the rest waits for the dead: the launcher ends them */
        world_kill_ranks();
        S.end_at = WORLD_NEVER;
        continue;
      }
      sim_violation("nobody can go on, after %lu calls", (unsigned long)S.ops);
      world_tell(12);
      return 1;
    }
    k = queued == 1 ? 0 : sim_below(queued);
    f = queue[k];
    queue[k] = queue[--queued];
    f->queued = 0;
    if (f->state != FIBER_RUNS) continue;
    world_load(f);
    S.cur = f;
    S.me = f->p;
    for (sim_exchange(&world_sp, f->sp); f->fork; sim_exchange(&world_sp, f->sp)) fiber_fork(f);
  }
  return 0;
}

/* ---- blocks of memory ---- */

/* Small blocks that are free, by size in steps of WORLD_STEP; for all processes. */
static block* spare[WORLD_SMALL / WORLD_STEP + 1];

/* Where they come from: chunks that are used from the first on in each lifetime, so that few of them are touched. */
static char** chunk;
static size_t chunks, chunks_used, chunk_at = WORLD_CHUNK;

static size_t spare_class(size_t n)
{
  return (n + WORLD_STEP - 1) / WORLD_STEP;
}

/* N bytes of the chunks; NULL without memory. */
static void* chunk_take(size_t n)
{
  if (chunk_at + n > WORLD_CHUNK) {
    if (chunks_used == chunks) {
      char** all = realloc(chunk, (chunks + 1) * sizeof *chunk);
      if (!all) return NULL;
      chunk = all;
      if (!(chunk[chunks] = aligned_alloc(WORLD_CHUNK, WORLD_CHUNK))) return NULL;
      madvise(chunk[chunks], WORLD_CHUNK, MADV_HUGEPAGE);
      chunks++;
    }
    chunks_used++;
    chunk_at = 0;
  }
  chunk_at += n;
  return chunk[chunks_used - 1] + chunk_at - n;
}

/* No process has a small block any more. */
static void chunk_reset(void)
{
  memset(spare, 0, sizeof spare);
  chunks_used = 0;
  chunk_at = WORLD_CHUNK;
}

/* A block for N bytes, of zeros if CLEAR; its bytes are not zero otherwise. */
static block* block_new(size_t n, int clear)
{
  size_t c = spare_class(n);
  block* b;

  if (n > WORLD_SMALL) return clear ? calloc(1, sizeof *b + n) : malloc(sizeof *b + n);
  if ((b = spare[c])) {
    spare[c] = b->next;
    if (spare[c]) __builtin_prefetch(spare[c], 1);
  } else if (!(b = chunk_take(sizeof *b + c * WORLD_STEP))) return NULL;
  if (clear) memset(b + 1, 0, n);
  return b;
}

static void block_free(block* b)
{
  size_t c = spare_class(b->n);

  if (b->n > WORLD_SMALL) {
    free(b);
    return;
  }
  b->next = spare[c];
  spare[c] = b;
}

/* P has ended for good. */
static void blocks_drop(process* p)
{
  block *b, *next;

  for (b = p->heap.next; b != &p->heap; b = next) {
    next = b->next;
    if (b->n > WORLD_SMALL) free(b);
  }
}

void world_end(void)
{
  fiber* f;
  size_t k;
  int    i;

  for (k = 0; k < sizeof world_images / sizeof *world_images; k++) {
    world_images[k]->loaded = NULL;
    world_images[k]->tls_loaded = NULL;
  }
  for (i = 0; i < S.processes; i++) {
    process* p = S.rank[i];
    world_kill(p);
    blocks_drop(p);
    while ((f = p->fibers)) {
      p->fibers = f->next;
      fiber_release(f);
      free(f);
    }
    free(p->variables);
    free(p->changed);
    free(p->file);
  }
  chunk_reset();
  mpi_end();
  for (i = 0; i < S.processes; i++) free(S.rank[i]);
  queued = sleeping = 0;
  S.processes = S.ranks = 0;
  S.me = NULL;
  S.cur = NULL;
}

/* ---- memory ---- */

static void* process_alloc(process* p, size_t n, int clear)
{
  block* b = n >> 39 ? NULL : block_new(n, clear);

  if (!b) return NULL;
  if (!clear) memset(b + 1, 0xa5, n < 64 ? n : 64);
  b->n = n;
  b->magic = WORLD_MAGIC;
  b->at = S.ops;
  b->next = p->heap.next;
  b->prev = &p->heap;
  b->next->prev = b;
  p->heap.next = b;
  p->heap_bytes += n;
  if (p->heap_bytes > p->heap_peak) p->heap_peak = p->heap_bytes;
  return b + 1;
}

void* sim_process_alloc(process* p, size_t n)
{
  return process_alloc(p, n, 0);
}

void sim_process_free(process* p, void* memory)
{
  block* b = (block*)memory - 1;

  if (!memory) return;
  if (b->magic != WORLD_MAGIC) {
    sim_violation("process %d frees what is not allocated", p->id);
    return;
  }
  p->heap_bytes -= b->n;
  b->next->prev = b->prev;
  b->prev->next = b->next;
  b->magic = 0;
  memset(b + 1, 0x5a, b->n < 64 ? b->n : 64);
  block_free(b);
}

static int memory_fails(void)
{
  return sim_fails(FAULT_MEMORY, S.fault_rate / 8, ENOMEM);
}

void* sim_malloc(size_t n)
{
  return memory_fails() ? NULL : process_alloc(S.me, n, 0);
}

void* sim_calloc(size_t n, size_t m)
{
  return (m && n > SIZE_MAX / m) || memory_fails() ? NULL : process_alloc(S.me, n * m, 1);
}

void sim_free(void* p)
{
  sim_process_free(S.me, p);
}

void* sim_realloc(void* p, size_t n)
{
  void*  q = memory_fails() ? NULL : process_alloc(S.me, n, 0);
  size_t was = p ? ((block*)p - 1)->n : 0;

  if (!q) return NULL;
  if (p) memcpy(q, p, was < n ? was : n);
  sim_free(p);
  return q;
}

int sim_posix_memalign(void** p, size_t align, size_t n)
{
  (void)align;
  *p = memory_fails() ? NULL : process_alloc(S.me, n, 0);
  return *p ? 0 : ENOMEM;
}

char* sim_strdup(const char* s)
{
  char* p = sim_malloc(strlen(s) + 1);
  return p ? strcpy(p, s) : NULL;
}

/* The system has pages where a program has no memory left: what must be received is. */
void* sim_mmap64(void* at, size_t n)
{
  (void)at;
  return process_alloc(S.me, n, 1);
}

int sim_munmap(void* p)
{
  sim_process_free(S.me, p);
  return 0;
}

int sim_madvise(void)
{
  return 0;
}

/* ---- threads ---- */

int sim_pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*fn)(void*), void* arg)
{
  (void)a;
  sim_call("pthread_create", 0);
  *t = (pthread_t)fiber_new(S.me, fn, arg);
  return 0;
}

int sim_pthread_join(pthread_t t, void** result)
{
  fiber* f = (fiber*)t;

  sim_call("pthread_join", 0);
  while (!f->done) fiber_wait_on(f);
  if (result) *result = f->arg;
  fiber_release(f);
  return 0;
}

/* A mutex: its first word is 0, or the fiber that has it. */
static void* mutex_owner(const pthread_mutex_t* m)
{
  void* p;

  memcpy(&p, m, sizeof p);
  return p;
}

static void mutex_give(pthread_mutex_t* m, fiber* f)
{
  memcpy(m, &f, sizeof f);
}

int sim_pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* a)
{
  (void)a;
  memset(m, 0, sizeof *m);
  return 0;
}

int sim_pthread_mutex_destroy(pthread_mutex_t* m)
{
  if (mutex_owner(m)) sim_violation("process %d destroys a mutex that is held", S.me->id);
  return 0;
}

int sim_pthread_mutex_lock(pthread_mutex_t* m)
{
  if (mutex_owner(m) == S.cur) sim_violation("process %d locks a mutex that it holds", S.me->id);
  if (sim_chance(S.preempt)) fiber_yield();
  while (mutex_owner(m)) fiber_wait_on(m);
  mutex_give(m, S.cur);
  return 0;
}

int sim_pthread_mutex_unlock(pthread_mutex_t* m)
{
  if (mutex_owner(m) != S.cur) sim_violation("process %d unlocks a mutex that it does not hold", S.me->id);
  mutex_give(m, NULL);
  fiber_tell(S.me, m);
  return 0;
}

int sim_pthread_cond_broadcast(pthread_cond_t* c)
{
  fiber_tell(S.me, c);
  sim_wake(S.me); /* a rank that yields may look at what has changed */
  return 0;
}

int sim_pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m)
{
  sim_pthread_mutex_unlock(m);
  fiber_wait_on(c);
  return sim_pthread_mutex_lock(m);
}

int sim_pthread_sigmask(int how, const sigset_t* set, sigset_t* before)
{
  (void)how, (void)set;
  if (before) memset(before, 0, sizeof *before);
  return 0;
}

int sim_sched_yield(void)
{
  fiber* f = S.cur;

  S.now += S.latency;
  if (f->seen == f->p->activity) f->state = FIBER_PARKED;
  f->seen = f->p->activity;
  fiber_yield();
  f->seen = f->p->activity;
  return 0;
}

int sim_usleep(useconds_t us)
{
  sim_call("usleep", us);
  sim_sleep((uint64_t)us * 1000 + 1);
  return 0;
}
