/*
** remote.h - run a line of the shell on nodes of the allocation, with the answer of each node apart.
**
** The node that we are on runs its line itself.  The others are reached by the command of SCR_REMOTE_SHELL, or else by
** a job step of SLURM, one for all of them, or else by ssh.  Where srun refuses, because the job is ending, and for
** nodes that it does not reach, ssh is tried too.  Beyond REMOTE_WIDTH nodes the remote shell and ssh go to some of
** them, which reach the others in the same way: a tree.
**
** Who carries the answers of several nodes has `scr_remote --part` on each of them, which marks each line with its
** node: `b NODE` it begins, `o NODE TEXT` a line of output, `p NODE TEXT` a part of a line, `x NODE CODE` it has ended.
** A node whose end did not arrive is asked again, in a smaller group, by the next means; unless its time was over.
**
** A line has {node} where it needs the name of its node: so it is the same for all, and one job step carries it.
*/
#ifndef SCR_TOOL_REMOTE_H
#define SCR_TOOL_REMOTE_H

#include "system.h"

#define REMOTE_WIDTH  32  /* groups into which a node, or what is left of a step, is split */
#define REMOTE_WORDS  24  /* of a command line that carries */
#define REMOTE_SILENT -2  /* the status of a node that has not answered yet */
#define REMOTE_LOST   255 /* of one that nobody has reached, as ssh has it */
#define REMOTE_PIECE  700 /* bytes of a marked line at most: srun splits longer ones */

typedef enum { REMOTE_HERE, REMOTE_STEP, REMOTE_TREE, REMOTE_ALONE } remote_form;

/* What is known of a node beside its answer. */
typedef struct {
  char* why;  /* what those said who did not reach it; NULL: nothing */
  int   dead; /* 1: srun has named it as a node that it does not reach */
} remote_node;

/* The caller sets what stands before task, all zeros where it does not care. */
typedef struct remote_job {
  const hosts*       nodes;
  const char* const* command; /* [nodes->n], or [1] if all have the same */
  int                same;
  double             seconds, patience; /* as in system_run and system_task */
  int                strict;            /* 1: what srun does not reach does not work, whatever ssh says */
  int                once;              /* 1: no node is asked again */
  int                refused;           /* 1: no job steps, as in a job that ends, for which srun starts none */
  const char*        here;              /* the node that we are; NULL: the one with our host name */
  void (*heard)(system_task* t);        /* a node has printed, or ended */
  system_task* task;                    /* [nodes->n]: the answers; only out, status and began mean something */
  remote_node* node;                    /* [nodes->n] */
  scr_hash*    index;                   /* <node>/<number> */
  int          processes, steps;        /* that carried, and job steps among them */
  int          stepped;                 /* 1: a job step has reached nodes, or named some that it does not reach */
} remote_job;

/* A process that carries the answers of nodes. */
typedef struct {
  remote_job* job;
  remote_form form;
  int*        member; /* [n]: numbers of the nodes */
  int         n, heard;
  size_t      parsed;      /* bytes of its output */
  char*       said;        /* its first line that is no answer */
  char *      list, *line; /* of its nodes; words of argv, as are the next */
  char        path[SCR_MAX_FILENAME], seconds[32], patience[32], nodes[32], tasks[32];
  const char* argv[REMOTE_WORDS];
} remote_carrier;

/* The line of the shell for node I. */
SCR_FN const char* remote_line(const remote_job* j, int i)
{
  return j->command[j->same ? 0 : i];
}

SCR_FN int remote_is_here(const remote_job* j, const char* host)
{
  return j->here != NULL ? strcmp(host, j->here) == 0 : system_is_here(host);
}

/* ---- what arrives ---- */

/* Append N bytes of TEXT to the answer of node I. */
SCR_FN void remote_deliver(remote_job* j, int i, const char* text, size_t n)
{
  scr_buf_add(&j->task[i].out, text, n);
}

/* Note the first line that tells why node I was not reached, and another one. */
SCR_FN void remote_blame(remote_job* j, int i, const char* why)
{
  char* old = j->node[i].why;

  if (why == NULL || *why == '\0' || (old != NULL && strstr(old, why) != NULL)) return;
  j->node[i].why = old != NULL ? scr_strdupf("%.900s; %.900s", old, why) : scr_strdup(why);
  scr_free(&old);
}

/* The number of the node NAME; -1 if it is none of J. */
SCR_FN int remote_find(const remote_job* j, const char* name)
{
  return scr_hash_int_or(j->index, name, -1);
}

/* Nodes that LINE, of srun, names as failed: behind MARK.  Returns 1 if it names some. */
SCR_FN int remote_take_dead(remote_job* j, const char* line, const char* mark)
{
  const char* at = strstr(line, mark);
  hosts       bad = {NULL, 0};
  char        list[1024];
  int         i, k;

  if (at == NULL || sscanf(at + strlen(mark), "%1000[^: \t]", list) != 1) return 0;
  if (hosts_parse(&bad, list) == SCR_SUCCESS)
    for (i = 0; i < bad.n; i++)
      if ((k = remote_find(j, bad.name[i])) >= 0) {
        j->node[k].dead = j->stepped = 1;
        remote_blame(j, k, line);
      }
  hosts_free(&bad);
  return 1;
}

/* Take LINE, which C has printed. */
SCR_FN void remote_take(remote_carrier* c, char* line)
{
  remote_job* j = c->job;
  char        what = *line, name[HOSTS_NAME_MAX];
  const char* text;
  int         n = 0, i = -1, code;

  if (what != '\0' && line[1] == ' ' && sscanf(line + 2, "%255s%n", name, &n) == 1) i = remote_find(j, name);
  if (i < 0 || j->task[i].status != REMOTE_SILENT || strchr("bopx", what) == NULL) {
    if (remote_take_dead(j, line, " failed on node ") || remote_take_dead(j, line, "Node failure on ")) return;
    if (c->said == NULL && *line != '\0') c->said = scr_strdup(line);
    return;
  }
  c->heard = 1;
  if (c->form == REMOTE_STEP) j->stepped = 1;
  if (what == 'b') j->task[i].out.n = 0; /* it begins anew after another one was lost */
  text = line + 2 + n + (line[2 + n] == ' ');
  if (what == 'o' || what == 'p') remote_deliver(j, i, text, strlen(text));
  if (what == 'o') remote_deliver(j, i, "\n", 1);
  if (what == 'x' && sscanf(line + 2 + n, "%d", &code) == 1) {
    j->task[i].status = code;
    remote_deliver(j, i, "", 1);
  }
  if (j->heard != NULL && what != 'p') j->heard(&j->task[i]);
}

/* C, of a single node without marks, has ended as T: that is the answer, unless ssh tells that it was not reached. */
SCR_FN void remote_settle(remote_carrier* c, system_task* t)
{
  remote_job*  j = c->job;
  system_task* answer = &j->task[c->member[0]];

  if (answer->status != REMOTE_SILENT) return;
  if (c->form == REMOTE_ALONE && (t->status == REMOTE_LOST || t->status == 127) && j->node[c->member[0]].why != NULL) {
    remote_blame(j, c->member[0], system_reason(t)); /* why srun has not reached it is known already */
    return;
  }
  answer->status = t->status;
  remote_deliver(j, c->member[0], "", 1);
  if (j->heard != NULL) j->heard(answer);
}

/* T, which carries, has printed or ended. */
SCR_FN void remote_heard(system_task* t)
{
  remote_carrier* c = (remote_carrier*)t->arg;
  remote_job*     j = c->job;
  char *          from, *end;
  int             i;

  for (i = 0; i < c->n; i++) j->task[c->member[i]].began = t->began;
  if (c->form == REMOTE_HERE || c->form == REMOTE_ALONE) {
    size_t n = t->out.n - (t->fd < 0); /* without the NUL at its end */
    if (n > c->parsed) remote_deliver(j, c->member[0], t->out.p + c->parsed, n - c->parsed);
    c->parsed = n;
    if (t->fd < 0) remote_settle(c, t);
    else if (j->heard != NULL) j->heard(&j->task[c->member[0]]);
    return;
  }
  while (c->parsed < t->out.n) {
    from = t->out.p + c->parsed;
    if ((end = (char*)memchr(from, '\n', t->out.n - c->parsed)) == NULL) break;
    *end = '\0';
    c->parsed = (size_t)(end + 1 - t->out.p);
    remote_take(c, from);
  }
}

/* The time of T is over: srun, and the leader of a tree, end what they have started if they are asked to. */
SCR_FN void remote_late(system_task* t)
{
  int i;

  kill(-t->pid, SIGTERM);
  for (i = 0; i < 30 && !system_has_ended(t); i++) usleep(100000);
}

/* ---- who carries ---- */

/*
** Append to ARGV, from word N on, what runs the shell's line COMMAND on HOST: the command of SCR_REMOTE_SHELL, or else
** ssh.  Returns the number of words, of which the last is COMMAND.
*/
SCR_FN int remote_shell(const char** argv, int n, const char* host, const char* command)
{
  if (system_env("SCR_REMOTE_SHELL") != NULL) {
    argv[n++] = "sh";
    argv[n++] = "-c";
    argv[n++] = "exec $SCR_REMOTE_SHELL \"$0\" \"$1\"";
  } else {
    argv[n++] = "ssh";
    argv[n++] = "-oBatchMode=yes";
    argv[n++] = "-oConnectTimeout=10";
    argv[n++] = "-oServerAliveInterval=15"; /* a node that dies meanwhile is noticed after 45 s */
  }
  argv[n++] = host;
  argv[n++] = command;
  return n;
}

/* The line of the shell that runs the line of the nodes of C on all of them, from the first of them on. */
SCR_FN char* remote_branch(const remote_carrier* c)
{
  scr_buf     b = {NULL, 0, 0, 0};
  const char* words[] = {
      "--part",    c->job->nodes->name[c->member[0]], "--nodes", c->list, "--timeout", c->seconds, "--patience",
      c->patience, remote_line(c->job, c->member[0])};
  size_t i;

  if (system_env("SCR_REMOTE_SHELL") != NULL) {
    scr_buf_add(&b, "SCR_REMOTE_SHELL=", 17);
    scr_buf_quote(&b, system_env("SCR_REMOTE_SHELL"));
    scr_buf_add(&b, " ", 1);
  }
  scr_buf_add(&b, "exec ", 5);
  scr_buf_quote(&b, c->path);
  for (i = 0; i < sizeof words / sizeof *words; i++) {
    scr_buf_add(&b, " ", 1);
    scr_buf_quote(&b, words[i]);
  }
  scr_buf_add(&b, "", 1);
  if (b.failed) scr_buf_free(&b);
  return b.p;
}

/* Make the words of C one job step over all of its nodes. */
SCR_FN void remote_equip_step(remote_carrier* c)
{
  const char* const words[] = {"srun",
                               "--overlap",
                               "--no-kill",
                               "--kill-on-bad-exit=0",
                               "--ntasks-per-node=1",
                               "--quiet",
                               "--input=none",
                               "--job-name",
                               SYSTEM_REMOTE_STEP,
                               c->nodes,
                               c->tasks,
                               "--nodelist",
                               c->list,
                               c->path,
                               "--part",
                               "-",
                               "--timeout",
                               c->seconds,
                               "--patience",
                               c->patience,
                               remote_line(c->job, c->member[0]),
                               NULL};

  snprintf(c->nodes, sizeof c->nodes, "--nodes=%d", c->n);
  snprintf(c->tasks, sizeof c->tasks, "--ntasks=%d", c->n);
  memcpy(c->argv, words, sizeof words);
}

/* LINE with the name HOST in place of {node}, which the caller frees; NULL without memory. */
SCR_FN char* remote_named(const char* line, const char* host)
{
  static const char mark[] = "{node}";
  scr_buf           b = {NULL, 0, 0, 0};
  const char*       at;

  for (; (at = strstr(line, mark)) != NULL; line = at + strlen(mark)) {
    scr_buf_add(&b, line, (size_t)(at - line));
    scr_buf_add(&b, host, strlen(host));
  }
  scr_buf_add(&b, line, strlen(line) + 1);
  if (b.failed) scr_buf_free(&b);
  return b.p;
}

/* Make the words of C what runs the line of its nodes, as its form says. */
SCR_FN int remote_equip(remote_carrier* c)
{
  const remote_job* j = c->job;
  const char*       host = j->nodes->name[c->member[0]];
  hosts             all = {NULL, 0};
  int               i, rc = SCR_SUCCESS;

  system_sibling("scr_remote", c->path, sizeof c->path);
  snprintf(c->seconds, sizeof c->seconds, "%.0f", j->seconds);
  snprintf(c->patience, sizeof c->patience, "%.0f", j->patience);
  for (i = 0; i < c->n && rc == SCR_SUCCESS; i++) rc = hosts_add(&all, j->nodes->name[c->member[i]]);
  if (rc == SCR_SUCCESS) rc = hosts_compress(&all, &c->list);
  hosts_free(&all);
  if (rc != SCR_SUCCESS) return rc;
  if (c->form == REMOTE_HERE || c->form == REMOTE_ALONE) {
    if ((c->line = remote_named(remote_line(j, c->member[0]), host)) == NULL) return SCR_ERR_OOM();
    if (c->form == REMOTE_ALONE) remote_shell(c->argv, 0, host, c->line);
    else c->argv[0] = "sh", c->argv[1] = "-c", c->argv[2] = c->line;
  } else if (c->form == REMOTE_STEP) {
    remote_equip_step(c);
  } else {
    if ((c->line = remote_branch(c)) == NULL) return SCR_ERR_OOM();
    remote_shell(c->argv, 0, host, c->line);
  }
  return SCR_SUCCESS;
}

/* C has ended as T: what is known now of those of its nodes that have not answered? */
SCR_FN void remote_conclude(remote_carrier* c, system_task* t)
{
  remote_job* j = c->job;
  int         i;

  if (c->form == REMOTE_HERE || c->form == REMOTE_ALONE) {
    remote_settle(c, t);
    return;
  }
  for (i = 0; i < c->n; i++) {
    system_task* answer = &j->task[c->member[i]];
    if (answer->status != REMOTE_SILENT) continue;
    if (t->status == SYSTEM_TIMEOUT && (c->heard || c->n == 1)) {
      answer->status = SYSTEM_TIMEOUT;
      remote_deliver(j, c->member[i], "", 1);
      if (j->heard != NULL) j->heard(answer);
    } else if (!j->node[c->member[i]].dead) {
      remote_blame(j, c->member[i], c->said);
    }
  }
}

/* ---- rounds ---- */

/* The nodes that have not answered, but for those of which srun says that it does not reach them, if ALIVE is set. */
SCR_FN int remote_left(const remote_job* j, int alive)
{
  int i, n = 0;

  for (i = 0; i < j->nodes->n; i++) n += j->task[i].status == REMOTE_SILENT && !(alive && j->node[i].dead);
  return n;
}

/* Make CARRIER, with its nodes in MEMBER, from node FIRST on; TAKEN becomes 1 for each.  Returns how many they are. */
SCR_FN int remote_gather(remote_job* j, remote_carrier* carrier, remote_form form, int size, int first, char* taken,
                         int* member)
{
  int i, n = 0;

  carrier->job = j;
  carrier->member = member;
  carrier->form = remote_is_here(j, j->nodes->name[first]) ? REMOTE_HERE : form;
  if (carrier->form == REMOTE_HERE || carrier->form == REMOTE_ALONE) size = 1;
  for (i = first; i < j->nodes->n && n < size; i++) {
    if (taken[i] || j->task[i].status != REMOTE_SILENT || (form == REMOTE_STEP && j->node[i].dead)) continue;
    if (i > first && (remote_is_here(j, j->nodes->name[i]) || strcmp(remote_line(j, i), remote_line(j, first)) != 0))
      continue;
    taken[i] = 1;
    member[n++] = i;
  }
  carrier->n = n;
  return n;
}

/* Ask the nodes that have not answered by FORM, in groups of SIZE at most; and those that are here by themselves. */
SCR_FN int remote_round(remote_job* j, remote_form form, int size)
{
  size_t          room = (size_t)j->nodes->n + 1;
  remote_carrier* carrier = (remote_carrier*)scr_malloc(room * sizeof *carrier);
  system_task*    task = (system_task*)scr_malloc(room * sizeof *task);
  int*            member = (int*)scr_malloc(room * sizeof *member);
  char*           taken = (char*)scr_malloc(room);
  int             i, n = 0, used = 0, rc = SCR_SUCCESS;

  if (carrier == NULL || task == NULL || member == NULL || taken == NULL) rc = SCR_ERR_OOM();
  for (i = 0; i < j->nodes->n && rc == SCR_SUCCESS; i++) {
    if (taken[i] || j->task[i].status != REMOTE_SILENT || (form == REMOTE_STEP && j->node[i].dead)) continue;
    if (form == REMOTE_ALONE) j->task[i].out.n = 0; /* what it has printed before its answer was lost */
    used += remote_gather(j, &carrier[n], form, size, i, taken, member + used);
    rc = remote_equip(&carrier[n]);
    task[n].argv = carrier[n].argv;
    task[n].both = 1;
    task[n].patience = j->patience;
    task[n].heard = remote_heard;
    task[n].late = remote_late;
    task[n].arg = &carrier[n];
    task[n].fd = -1;
    j->steps += carrier[n++].form == REMOTE_STEP;
  }
  j->processes += n;
  if (rc == SCR_SUCCESS && n > 0) system_run(task, n, j->seconds);
  for (i = 0; i < n; i++) {
    if (rc == SCR_SUCCESS) remote_conclude(&carrier[i], &task[i]);
    scr_buf_free(&task[i].out);
    scr_free(&carrier[i].said);
    scr_free(&carrier[i].list);
    scr_free(&carrier[i].line);
  }
  scr_free(&carrier);
  scr_free(&task);
  scr_free(&member);
  scr_free(&taken);
  return rc;
}

/* A part of N nodes, so that there are REMOTE_WIDTH of them. */
SCR_FN int remote_part(int n)
{
  return (n + REMOTE_WIDTH - 1) / REMOTE_WIDTH;
}

/* Returns 1 if srun has said of a node why it does no job step for this job at all. */
SCR_FN int remote_is_refused(const remote_job* j)
{
  static const char* const words[] = {"has expired", "Invalid job id", "already completing"};
  int                      i;
  size_t                   k;

  for (i = 0; i < j->nodes->n && !j->stepped; i++)
    for (k = 0; j->node[i].why != NULL && k < sizeof words / sizeof *words; k++)
      if (strstr(j->node[i].why, words[k]) != NULL) return 1;
  return 0;
}

/* By job steps: one for all nodes, and then smaller ones for those that did not answer. */
SCR_FN int remote_run_steps(remote_job* j)
{
  int size = remote_left(j, 1), rc = remote_round(j, REMOTE_STEP, size);

  while (rc == SCR_SUCCESS && size > 1 && !j->once && remote_left(j, 1) > 0 && !remote_is_refused(j))
    rc = remote_round(j, REMOTE_STEP, size = remote_part(size));
  return rc;
}

/*
** Run the lines.  A node that nobody reached has the status REMOTE_LOST, and as its answer a line that tells why.  Each
** is asked for J->seconds at most.  The caller calls remote_free, after an error too.
*/
SCR_FN int remote_run(remote_job* j)
{
  int i, slurm, rc = SCR_SUCCESS, n = j->nodes->n;

  slurm = !j->refused && system_env("SCR_REMOTE_SHELL") == NULL && system_manager(NULL) == SYSTEM_SLURM;
  if (slurm) rc = remote_run_steps(j);
  if (rc == SCR_SUCCESS && !(slurm && (j->once || (j->strict && j->stepped)))) {
    n = remote_left(j, 0);
    if (n > REMOTE_WIDTH) rc = remote_round(j, REMOTE_TREE, remote_part(n));
    if (rc == SCR_SUCCESS && !(j->once && n > REMOTE_WIDTH)) rc = remote_round(j, REMOTE_ALONE, 1);
  }
  for (i = 0; i < j->nodes->n; i++) {
    if (j->task[i].status != REMOTE_SILENT) continue;
    if (rc == SCR_SUCCESS) j->task[i].status = REMOTE_LOST;
    j->task[i].out.n = 0;
    if (j->node[i].why != NULL) remote_deliver(j, i, j->node[i].why, strlen(j->node[i].why));
    else remote_deliver(j, i, "no answer", 9);
    remote_deliver(j, i, "", 1);
    if (j->heard != NULL) j->heard(&j->task[i]);
  }
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* Make room for the answers. */
SCR_FN int remote_begin(remote_job* j)
{
  size_t room = (size_t)j->nodes->n + 1;
  int    i;

  j->task = (system_task*)scr_malloc(room * sizeof *j->task);
  j->node = (remote_node*)scr_malloc(room * sizeof *j->node);
  j->index = scr_hash_new();
  if (j->task == NULL || j->node == NULL || j->index == NULL) return SCR_ERR_OOM();
  for (i = 0; i < j->nodes->n; i++) {
    j->task[i].status = REMOTE_SILENT;
    j->task[i].fd = -1;
    scr_hash_util_set_int(j->index, j->nodes->name[i], i);
  }
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

SCR_FN void remote_free(remote_job* j)
{
  int i;

  for (i = 0; j->task != NULL && i < j->nodes->n; i++) scr_buf_free(&j->task[i].out);
  for (i = 0; j->node != NULL && i < j->nodes->n; i++) scr_free(&j->node[i].why);
  scr_free(&j->task);
  scr_free(&j->node);
  scr_hash_delete(&j->index);
}

/*
** Run the line COMMAND on each of NODES, for at most so many SECONDS; STRICT as in remote_job.  The caller gives
** J, whose answers are in the order of NODES, to remote_free.
*/
SCR_FN int remote_run_on(remote_job* j, const hosts* nodes, const char* const* command, double seconds, int strict)
{
  int rc;

  memset(j, 0, sizeof *j);
  j->nodes = nodes;
  j->command = command;
  j->same = 1;
  j->seconds = seconds;
  j->strict = strict;
  if ((rc = remote_begin(j)) == SCR_SUCCESS) rc = remote_run(j);
  return rc;
}

#endif
