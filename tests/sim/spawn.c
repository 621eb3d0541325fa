/* ==== SPAWN =====================================================================================================
** Commands: how they begin and end, their children, and what they reach on other nodes.
**
** Offers     spawn_down, spawn_command of sim.h; sim_execvp, sim_waitpid and so on, for symbols.txt
** Children   fork and exec make a process of the image of the commands.  A shell runs one command, ssh the same on
**            another node.  Who is killed on another node leaves 255 behind, as ssh has it.
** Nodes      that refuse answer so after some seconds; those that hang do not answer, until who asks is tired of it.
** ================================================================================================================= */
#include "sim.h"

#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>

#define SPAWN_WORDS 64
#define SPAWN_LOST  255

int spawn_down[1 << 17];

int sim_cmd_main(int argc, char** argv);

/* ---- how a command begins ---- */

/* Split LINE, of a shell, into words: quotes are for parts that are taken as they are.  Returns how many. */
static int words(char* line, char** argv)
{
  char *to, quote;
  int   n = 0;

  while (n < SPAWN_WORDS - 1) {
    line += strspn(line, " ");
    if (*line == '\0') break;
    for (argv[n++] = to = line; *line != '\0' && *line != ' ';) {
      if (*line == '\'' || *line == '"') {
        for (quote = *line++; *line != '\0' && *line != quote;) *to++ = *line++;
        line += *line != '\0';
      } else {
        line += *line == '\\';
        *to++ = *line++;
      }
    }
    line += *line != '\0';
    *to = '\0';
  }
  argv[n] = NULL;
  return n;
}

/*
** As the one of libc, whose state all processes would share: another may run while an option of this one is handled.
** Words that are no options end them.
*/
int sim_getopt_long(int argc, char* const* argv, const char* letters, const struct option* o, int* index)
{
  const char *word, *value, *letter = NULL;
  size_t      n;

  (void)index;
  optarg = NULL;
  optind = S.me->option ? S.me->option : 1;
  word = argv[optind];
  if (optind >= argc || word[0] != '-' || word[1] == '\0') return -1;
  S.me->option = ++optind;
  if (strcmp(word, "--") == 0) return -1;
  value = strchr(word, '=');
  n = word[1] != '-' ? 0 : value ? (size_t)(value - word) - 2 : strlen(word + 2);
  if (n == 0) { /* a letter, and what it needs */
    if (word[1] == ':' || (letter = strchr(letters, word[1])) == NULL) return '?';
    if (letter[1] == ':') optarg = word[2] ? (char*)word + 2 : argv[optind];
    if (letter[1] == ':' && !word[2]) S.me->option = ++optind;
    return letter[1] == ':' ? (optarg ? word[1] : '?') : word[2] ? '?' : word[1];
  }
  for (; o->name && (strncmp(o->name, word + 2, n) != 0 || o->name[n] != '\0'); o++) continue;
  if (!o->name || (value && o->has_arg == no_argument)) return '?';
  if (value) optarg = (char*)value + 1;
  else if (o->has_arg == required_argument) {
    if ((optarg = argv[optind]) == NULL) return '?';
    S.me->option = ++optind;
  }
  return o->val;
}

static void* command_run(void* arg)
{
  char* argv[SPAWN_WORDS];
  int   argc = words(arg, argv), first = argc > 0 && strcmp(argv[0], "exec") == 0;

  S.me->api = argv[first];
  S.me->code = sim_cmd_main(argc - first, argv + first);
  return NULL;
}

static void* refuse_run(void* arg)
{
  static const char text[] = "ssh: connect to host: No route to host\n";

  (void)arg;
  S.me->api = "ssh";
  sim_sleep(3 * WORLD_SECOND);
  files_print(2, text, sizeof text - 1);
  S.me->code = SPAWN_LOST;
  return NULL;
}

static void* hang_run(void* arg)
{
  S.me->api = "ssh";
  for (;;) sim_sleep(3600 * WORLD_SECOND);
  return arg;
}

static process* spawn(int node, void* (*program)(void*), const char* line)
{
  process* p = world_spawn(&sim_commands, node, program, NULL);

  p->fibers->arg = strcpy(sim_process_alloc(p, strlen(line) + 1), line);
  return p;
}

process* spawn_command(int node, const char* line)
{
  return spawn(node, command_run, line);
}

/* ---- children ---- */

/* The node that is called HOST; -1 if there is none. */
static int node_called(const char* host)
{
  char name[32];
  int  i;

  for (i = 0; world_node[i]; i++) {
    snprintf(name, sizeof name, "node%d", world_machine[i]);
    if (strcmp(name, host) == 0) return i;
  }
  return -1;
}

/* The command LINE, on HOST, or here if that is NULL. */
static process* child(const char* host, const char* line)
{
  int      node = host ? node_called(host) : S.me->node;
  process* p;

  sim_note("%s: %s", host ? host : "here", line);
  if (host && (node < 0 || spawn_down[node] == NODE_REFUSES)) return spawn(S.me->node, refuse_run, line);
  if (host && spawn_down[node] == NODE_HANGS) {
    p = spawn(S.me->node, hang_run, line);
    p->background = 1; /* when who asks is killed, nobody waits for the answer */
    return p;
  }
  return spawn(node, command_run, line);
}

/* Nothing but the commands, a shell for one of them, and ssh can be run. */
int sim_execvp(const char* file, char* const* argv)
{
  char     line[8192] = "";
  fiber*   f = S.cur;
  process* p;
  int      i, n = 0;

  sim_call("execvp", 0);
  if (!f->before) {
    sim_violation("process %d would become %s", S.me->id, file);
    sim_sleep(UINT64_MAX / 4);
  }
  if (strcmp(file, "sh") == 0) p = child(NULL, argv[2]);
  else if (strcmp(file, "ssh") == 0) {
    for (i = 1; argv[i][0] == '-'; i++) continue;
    p = child(argv[i], argv[i + 1]);
  } else if (strncmp(file, "scr_", 4) == 0) {
    for (i = 0; argv[i]; i++) n += snprintf(line + n, sizeof line - (size_t)n, "'%s' ", argv[i]);
    p = child(NULL, line);
  } else {
    errno = ENOENT;
    return -1;
  }
  for (i = 1; i < 3; i++) files_inherit(p, i, f->out[i]);
  fiber_parent(p);
}

int sim_dup2(int from, int to)
{
  if (S.cur->before && to > 0 && to < 3) S.cur->out[to] = files_of(from);
  return to;
}

int sim_pipe(int fds[2])
{
  sim_call("pipe", 0);
  return files_pipe(fds);
}

void sim_exit(int code)
{
  if (S.cur->before) fiber_parent(world_ended(S.me->of, S.me->node, code));
  sim_note("process %d: exit(%d)", S.me->id, code);
  S.me->ended = 2;
  S.me->code = code;
  world_kill(S.me);
  fiber_leave();
}

void sim__exit(int code)
{
  sim_exit(code);
}

int sim_execl(void)
{
  errno = ENOENT;
  return -1;
}

/* ---- their end ---- */

static process* process_of(pid_t pid)
{
  int i;

  for (i = S.ranks; i < S.processes; i++)
    if (S.rank[i]->pid == pid) return S.rank[i];
  return NULL;
}

pid_t sim_waitpid(pid_t pid, int* status, int options)
{
  process* p = process_of(pid);

  sim_call("waitpid", 0);
  if (!p || p->parent != S.me) {
    errno = ECHILD;
    return -1;
  }
  while (p->alive && !(options & WNOHANG)) fiber_wait(S.me, WORLD_SECOND);
  if (p->alive) return 0;
  p->parent = NULL;
  if (status) *status = p->ended ? (p->code & 255) << 8 : p->node != S.me->node ? SPAWN_LOST << 8 : SIGKILL;
  return pid;
}

int sim_waitid(int type, id_t pid, siginfo_t* info)
{
  process* p = process_of((pid_t)pid);

  (void)type;
  if (!p || p->parent != S.me) {
    errno = ECHILD;
    return -1;
  }
  info->si_pid = p->alive ? 0 : (pid_t)pid;
  return 0;
}

/* A command may end what it has started; nobody else hears of a signal. */
int sim_kill(pid_t pid, int number)
{
  process* p = process_of(pid < 0 ? -pid : pid);

  if (!p || !p->alive || p->parent != S.me) {
    errno = ESRCH;
    return -1;
  }
  if (number == SIGKILL || number == SIGTERM) world_kill(p);
  return 0;
}
