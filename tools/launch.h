/* launch.h - the line for the shell that starts a program on nodes of an allocation: by srun, mpiexec, or any other. */
#ifndef SCR_TOOL_LAUNCH_H
#define SCR_TOOL_LAUNCH_H

#include "system.h"

/* A launcher: its name or, if that is NULL, a template, in which {nodes} and {np} are replaced; and its arguments. */
typedef struct {
  const char *name, *template_, *np;
  char**      words;
  int         nwords;
  scr_hash*   slots;   /* <host>/<processes>, as a file of hosts has them; may be NULL */
  int         openmpi; /* mpiexec is that of Open MPI; launch_prepare finds out */
} launcher;

/* The name of the launcher of MPI on this machine: what MPIEXEC names, or MPICH's if there are several. */
SCR_FN const char* launch_mpiexec(void)
{
  static const char* const names[] = {"mpiexec.hydra", "mpiexec.mpich", "mpiexec"};
  const char*              named = getenv("MPIEXEC");
  int                      i = 0;

  if (named != NULL && *named != '\0') return named;
  while (i < 2 && !system_has(names[i])) i++;
  return names[i];
}

/* Append TEXT, words for the shell, and a blank. */
SCR_FN void launch_add(scr_buf* b, const char* text)
{
  scr_buf_add(b, text, strlen(text));
  scr_buf_add(b, " ", 1);
}

/* Append WORD as a word of the shell, in quotes where it needs them. */
SCR_FN void launch_add_word(scr_buf* b, const char* word)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";

  if (*word != '\0' && word[strspn(word, plain)] == '\0') {
    launch_add(b, word);
    return;
  }
  scr_buf_quote(b, word);
  scr_buf_add(b, " ", 1);
}

/* Append NAME to a line of the shell, outside of quotes: a backslash goes before what means something there. */
SCR_FN void launch_add_name(scr_buf* b, const char* name)
{
  for (; *name != '\0'; name++) {
    if (isascii((unsigned char)*name) && !isalnum((unsigned char)*name) && strchr("_-+=.,/:@%", *name) == NULL)
      scr_buf_add(b, "\\", 1);
    scr_buf_add(b, name, 1);
  }
}

/* Append TEXT with each FROM replaced by TO. */
SCR_FN void launch_add_replaced(scr_buf* b, const char* text, const char* from, const char* to)
{
  const char* at;

  for (; (at = strstr(text, from)) != NULL; text = at + strlen(from)) {
    scr_buf_add(b, text, (size_t)(at - text));
    scr_buf_add(b, to, strlen(to));
  }
  launch_add(b, text);
}

/* Returns 1 if the launcher is NAME or NAME with a suffix, such as mpiexec.hydra. */
SCR_FN int launch_is(const launcher* l, const char* name)
{
  const char* base = l->name != NULL ? tool_name(l->name) : "";
  return strncmp(base, name, strlen(name)) == 0 && (base[strlen(name)] == '\0' || base[strlen(name)] == '.');
}

SCR_FN int launch_is_mpiexec(const launcher* l)
{
  return launch_is(l, "mpiexec") || launch_is(l, "mpirun") || launch_is(l, "orterun") || launch_is(l, "prterun");
}

/* ---- the arguments of srun and mpiexec ---- */

/* Returns 1 if LIST, names with blanks between them, has the N bytes at NAME. */
SCR_FN int launch_listed(const char* list, const char* name, size_t n)
{
  const char* at;

  for (at = list; at != NULL && *at != '\0'; at = strchr(at, ' ') != NULL ? strchr(at, ' ') + 1 : NULL)
    if (strncmp(at, name, n) == 0 && (at[n] == ' ' || at[n] == '\0')) return 1;
  return 0;
}

/* An option of a launcher: the words that it takes, its name without dashes, of N bytes, and its value or NULL. */
typedef struct {
  const char *name, *value;
  size_t      n;
  int         words;
} launch_option;

/* Read the option of srun at WORD, whose next word is NEXT. */
SCR_FN void launch_read_srun(const char* word, const char* next, launch_option* o)
{
  static const char flags[] = "EHhIKklOQsuVvXZ"; /* a value of -K and -I is in the same word */
  static const char alone[] =
      "contiguous disable-status exact exclusive overlap hold immediate kill-on-bad-exit label multi-prog no-allocate "
      "no-kill overcommit oversubscribe preserve-env pty quiet quit-on-interrupt reboot spread-job unbuffered "
      "use-min-nodes verbose whole interactive parsable help usage version nice propagate x11 resv-ports "
      "allow-preempt compress cpu-freq-list";

  o->words = 1;
  if (word[1] == '-') {
    o->name = word + 2;
    o->n = strcspn(o->name, "=");
    o->value = o->name[o->n] == '=' ? o->name + o->n + 1 : NULL;
    if (o->value != NULL || launch_listed(alone, o->name, o->n)) return;
  } else {
    o->name = word + 1;
    while (o->name[1] != '\0' && strchr(flags, *o->name) != NULL && strchr("IK", *o->name) == NULL) o->name++; /* -lv */
    o->n = 1;
    o->value = o->name[1] != '\0' ? o->name + 1 : NULL;
    if (o->value != NULL || strchr(flags, *o->name) != NULL) return;
  }
  o->value = next;
  o->words = 2;
}

/* The same for the mpiexec of MPICH and of Open MPI; options have one dash or two. */
SCR_FN void launch_read_mpiexec(const char* word, const char* next, launch_option* o)
{
  static const char alone[] =
      /* Open MPI's */
      "allow-run-as-root bind-to-core bind-to-none bind-to-socket bycore bynode byslot bysocket continuous "
      "debug-daemons disable-recovery display-allocation display-devel-map display-map do-not-launch "
      "do-not-resolve enable-recovery index-argv-by-rank leave-session-attached map-by-node nolocal "
      "nooversubscribe novm oversubscribe pernode preload-binary q quiet report-bindings "
      "report-child-jobs-separately s show-progress staged tag-output timestamp-output use-hwthread-cpus "
      "use-regexp V xml "
      /* MPICH's */
      "v verbose info print-all-exitcodes genvall genvnone envall envnone prepend-rank l enable-x disable-x "
      "skip-launch-node tv disable-auto-cleanup enable-auto-cleanup pmi-port profile version help h print-rank-map "
      "usize-infinite disable-hostname-propagation";

  o->name = word + 1 + (word[1] == '-');
  o->n = strcspn(o->name, "=");
  o->value = o->name[o->n] == '=' ? o->name + o->n + 1 : NULL;
  o->words = 1;
  if (o->value != NULL || launch_listed(alone, o->name, o->n)) return;
  o->value = next;
  o->words = 2 + (launch_listed("env genv", o->name, o->n) && next != NULL && strchr(next, '=') == NULL) +
             launch_listed("mca gmca omca pmca", o->name, o->n);
}

/* Read the option at the word I of the launcher's arguments.  Returns 0 where the program begins, and at the end. */
SCR_FN int launch_read(const launcher* l, int i, launch_option* o)
{
  const char *word = i < l->nwords ? l->words[i] : "", *next = i + 1 < l->nwords ? l->words[i + 1] : NULL;

  if (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0) return 0;
  if (launch_is(l, "srun")) launch_read_srun(word, next, o);
  else if (launch_is_mpiexec(l)) launch_read_mpiexec(word, next, o);
  else return 0;
  if (o->words > l->nwords - i) o->words = l->nwords - i;
  return 1;
}

/* The value of the first of the launcher's options that NAMES lists; NULL if there is none. */
SCR_FN const char* launch_value(const launcher* l, const char* names)
{
  launch_option o;
  int           i;

  for (i = 0; launch_read(l, i, &o); i += o.words)
    if (launch_listed(names, o.name, o.n)) return o.value != NULL ? o.value : "";
  return NULL;
}

/* Returns 1 if the launcher's arguments name the hosts to run on. */
SCR_FN int launch_names_hosts(const launcher* l)
{
  return launch_value(l, launch_is(l, "srun") ? "w nodelist F nodefile" : "hosts host H f hostfile machinefile") !=
         NULL;
}

/* Append to EXCLUDED the nodes that the user's arguments of srun exclude: a list, or a file of hosts. */
SCR_FN int launch_excluded(const launcher* l, hosts* excluded)
{
  launch_option o;
  int           i, rc = SCR_SUCCESS;

  for (i = 0; launch_is(l, "srun") && rc == SCR_SUCCESS && launch_read(l, i, &o); i += o.words)
    if (launch_listed("x exclude", o.name, o.n) && o.value != NULL)
      rc = strchr(o.value, '/') != NULL ? hosts_read_file(excluded, o.value) : hosts_parse(excluded, o.value);
  return rc;
}

/* The first number of the value of the options NAMES; 0 if there is none. */
SCR_FN int64_t launch_number(const launcher* l, const char* names)
{
  const char* value = launch_value(l, names);
  int         n = 0;

  return value != NULL && sscanf(value, "%9d", &n) == 1 && n > 0 ? n : 0;
}

/* The number of processes that the launcher's arguments ask for, for all programs, with colons between; 0: unknown. */
SCR_FN int64_t launch_tasks(const launcher* l)
{
  launcher one = *l;
  int64_t  tasks = 0;
  int      i, begin = 0;

  for (i = 0; i <= l->nwords; i++) {
    if (i < l->nwords && strcmp(l->words[i], ":") != 0) continue;
    one.words = l->words + begin;
    one.nwords = i - begin;
    tasks += launch_number(&one, launch_is(l, "srun") ? "n ntasks" : "n np c");
    begin = i + 1;
  }
  return tasks;
}

/* The number of processes that they want on each node; 0 if they do not tell. */
SCR_FN int64_t launch_each(const launcher* l)
{
  return launch_number(l, launch_is(l, "srun") ? "ntasks-per-node" : "ppn perhost N npernode");
}

/* The number of nodes that the launcher's arguments ask for; 0 if they do not tell. */
SCR_FN int64_t launch_nodes(const launcher* l)
{
  int     srun = launch_is(l, "srun");
  int64_t nodes = srun ? launch_number(l, "N nodes") : 0, tasks = launch_tasks(l);
  int64_t each = launch_each(l);

  if (nodes > 0 || tasks == 0 || each == 0) return nodes;
  return (tasks + each - 1) / each;
}

/* ---- the line ---- */

/* Returns 1 if mpiexec, as the launcher is called, says that it is Open MPI's. */
SCR_FN int launch_is_openmpi(const launcher* l)
{
  const char* argv[] = {l->name, "--version", NULL};
  system_task t;
  char*       text;
  int         is;

  system_run_one(&t, argv, 1, SYSTEM_SECONDS);
  text = system_text(&t);
  is = strstr(text, "Open MPI") != NULL || strstr(text, "OpenRTE") != NULL || strstr(text, "PRRTE") != NULL;
  scr_buf_free(&t.out);
  return is;
}

/*
** Find out whose mpiexec it is.  Have srun end a run when one of its processes dies, as other launchers do, unless the
** user has set it otherwise: the others of an MPI program would wait for the dead one, and srun for them.
*/
SCR_FN int launch_prepare(launcher* l)
{
  l->openmpi = launch_is_mpiexec(l) && launch_is_openmpi(l);
  if (launch_is(l, "srun") && setenv("SLURM_KILL_BAD_EXIT", "1", 0) < 0) return SCR_ERR_OOM();
  return SCR_SUCCESS;
}

/* Read the processes of each host, as in `node1:2` or `node1 slots=2`, from the file of hosts PATH into SLOTS. */
SCR_FN int launch_read_slots(scr_hash* slots, const char* path)
{
  FILE* f = strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
  hosts of = {NULL, 0};
  char  line[1024], name[HOSTS_NAME_MAX], number[16];
  int   i, rc = SCR_SUCCESS;

  while (f != NULL && rc == SCR_SUCCESS && fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, " %255[^ \t\r\n:#]:%9[0-9]", name, number) != 2 &&
        sscanf(line, " %255[^ \t\r\n:#] slots = %9[0-9]", name, number) != 2)
      continue;
    rc = hosts_parse(&of, name);
    for (i = 0; i < of.n; i++) scr_hash_util_set_str(slots, of.name[i], number);
    hosts_free(&of);
  }
  if (f != NULL) fclose(f);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/*
** The hosts of UP with commas between them; for mpiexec as host:slots, where a file of hosts tells the slots.  Open MPI
** takes a host without them for one process, and fills one host after the other: each is given its share of all
** processes and no more, so that none stays without, or as many as the arguments want on each.
*/
SCR_FN void launch_join(const launcher* l, const hosts* up, scr_buf* b)
{
  int64_t tasks = l->openmpi ? launch_tasks(l) : 0, each = l->openmpi ? launch_each(l) : 0;
  char    share[24];
  int     i;

  for (i = 0; i < up->n; i++) {
    const char* of = launch_is_mpiexec(l) ? scr_hash_str_or(l->slots, up->name[i], NULL) : NULL;
    int64_t     n = each > 0 ? each : tasks / up->n + (i < tasks % up->n);
    if (of == NULL && n == 0 && tasks > 0) break; /* there are more hosts than processes */
    snprintf(share, sizeof share, "%lld", (long long)n);
    if (of == NULL && n > 0) of = share;
    if (i > 0) scr_buf_add(b, ",", 1);
    scr_buf_add(b, up->name[i], strlen(up->name[i]));
    if (of != NULL) scr_buf_add(b, ":", 1);
    if (of != NULL) scr_buf_add(b, of, strlen(of));
  }
  scr_buf_add(b, "", 1);
}

/* Append -x NAME for each SCR_ variable of the environment: Open MPI gives ranks on other hosts no others. */
SCR_FN void launch_add_variables(scr_buf* b)
{
  char name[256];
  int  i;

  for (i = 0; environ[i] != NULL; i++) {
    if (strncmp(environ[i], "SCR_", 4) != 0 || strcspn(environ[i], "=") >= sizeof name) continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
    launch_add(b, "-x");
    launch_add_word(b, name);
  }
}

/* Append srun, with an --exclude of its own in place of the user's. */
SCR_FN int launch_srun(const launcher* l, int number, const hosts* down, scr_buf* b)
{
  hosts         out = {NULL, 0}, none = {NULL, 0}, all = {NULL, 0};
  launch_option o;
  char*         list = NULL;
  int           i, rc = launch_excluded(l, &all);

  if (rc == SCR_SUCCESS) rc = hosts_select(&out, down, &none, 0);
  if (rc == SCR_SUCCESS) rc = hosts_select(&out, &all, down, 0);
  if (rc == SCR_SUCCESS && out.n > 0) rc = hosts_compress(&out, &list);
  if (rc == SCR_SUCCESS) {
    if (number > 1) launch_add(b, "--overlap");
    if (list != NULL) launch_add(b, "--exclude");
    if (list != NULL) launch_add_word(b, list);
    for (i = 0; launch_read(l, i, &o); i += o.words) {
      int k, other = !launch_listed("x exclude", o.name, o.n);
      for (k = i; other && k < i + o.words; k++) launch_add_word(b, l->words[k]);
    }
    for (; i < l->nwords; i++) launch_add_word(b, l->words[i]);
  }
  scr_free(&list);
  hosts_free(&out);
  hosts_free(&all);
  return rc;
}

/* Append the template of L, with the nodes LIST. */
SCR_FN int launch_template(const launcher* l, const char* list, scr_buf* b)
{
  scr_buf half = {NULL, 0, 0, 0};
  int     i, failed;

  launch_add_replaced(&half, l->template_, "{nodes}", list);
  scr_buf_add(&half, "", 1);
  if (!half.failed) launch_add_replaced(b, half.p, "{np}", l->np != NULL ? l->np : "");
  for (i = 0; i < l->nwords; i++) launch_add_word(b, l->words[i]);
  failed = half.failed;
  scr_buf_free(&half);
  return failed ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/*
** Append the launcher of run NUMBER, with the nodes of UP that it is to use, of an allocation of which DOWN do not
** work, and its arguments; the program follows.  SLURM may count the processors of a run that has failed as taken for
** some time; --overlap does not wait for them.
*/
SCR_FN int launch_line(const launcher* l, int number, const hosts* up, const hosts* down, scr_buf* b)
{
  scr_buf list = {NULL, 0, 0, 0};
  int     i, rc = SCR_SUCCESS, here = up->n == 1 && system_is_here(up->name[0]), elsewhere = l->openmpi && !here;

  launch_join(l, up, &list);
  if (list.failed) rc = SCR_ERR_OOM();
  else if (l->template_ != NULL) rc = launch_template(l, list.p, b);
  else {
    launch_add_word(b, l->name);
    if (launch_is(l, "srun") && !launch_names_hosts(l)) {
      rc = launch_srun(l, number, down, b);
    } else {
      if (launch_is_mpiexec(l) && !launch_names_hosts(l) && !here) {
        launch_add_word(b, l->openmpi ? "--host" : "-hosts");
        launch_add_word(b, list.p);
      }
      if (elsewhere) launch_add_variables(b);
      for (i = 0; i < l->nwords; i++) {
        launch_add_word(b, l->words[i]);
        if (elsewhere && strcmp(l->words[i], ":") == 0) launch_add_variables(b); /* each program has its own */
      }
    }
  }
  scr_buf_free(&list);
  return rc;
}

#endif
