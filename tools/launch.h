/* launch.h - the line for the shell that starts a program on nodes of an allocation: by srun, mpiexec, or any other. */
#ifndef SCR_TOOL_LAUNCH_H
#define SCR_TOOL_LAUNCH_H

#include "system.h"

/* A launcher: its name or, if that is NULL, a template, in which {nodes} and {np} are replaced; and its arguments. */
typedef struct {
  const char *name, *template_, *np;
  char**      words;
  int         nwords;
} launcher;

/* The name of MPICH's launcher on this machine. */
SCR_FN const char* launch_mpiexec(void)
{
  static const char* const names[] = {"mpiexec.hydra", "mpiexec.mpich", "mpiexec"};
  int                      i = 0;

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
  tool_quote(b, word);
  scr_buf_add(b, " ", 1);
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

/* Returns 1 if the launcher's arguments name hosts themselves. */
SCR_FN int launch_names_hosts(const launcher* l)
{
  static const char* const names[] = {"-hosts",    "--hosts",    "-host",        "--host",    "-f",
                                      "-hostfile", "--hostfile", "-machinefile", "--exclude", "-x"};
  int                      i;
  size_t                   k;

  if (l->name == NULL) return 0;
  for (i = 0; i < l->nwords && l->words[i][0] == '-'; i += 1 + (l->words[i + 1] != NULL && l->words[i + 1][0] != '-'))
    for (k = 0; k < sizeof names / sizeof *names; k++)
      if (strncmp(l->words[i], names[k], strlen(names[k])) == 0 &&
          (l->words[i][strlen(names[k])] == '\0' || l->words[i][strlen(names[k])] == '='))
        return 1;
  return 0;
}

/* Returns 1 if the launcher is NAME or NAME with a suffix, such as mpiexec.hydra. */
SCR_FN int launch_is(const launcher* l, const char* name)
{
  const char* base = l->name != NULL ? tool_name(l->name) : "";
  return strncmp(base, name, strlen(name)) == 0 && (base[strlen(name)] == '\0' || base[strlen(name)] == '.');
}

/*
** Have srun end a run when one of its processes dies, as other launchers do, unless the user has set it otherwise: the
** others of an MPI program would wait for the dead one, and srun for them.
*/
SCR_FN int launch_prepare(const launcher* l)
{
  if (launch_is(l, "srun") && setenv("SLURM_KILL_BAD_EXIT", "1", 0) < 0) return SCR_ERR_OOM();
  return SCR_SUCCESS;
}

/* The hosts of UP with commas between them. */
SCR_FN void launch_join(scr_buf* b, const hosts* up)
{
  int i;

  for (i = 0; i < up->n; i++) {
    if (i > 0) scr_buf_add(b, ",", 1);
    scr_buf_add(b, up->name[i], strlen(up->name[i]));
  }
  scr_buf_add(b, "", 1);
}

/*
** Append the launcher of run NUMBER, with the nodes of UP that it is to use, of an allocation of which DOWN do not
** work, and its arguments; the program follows.  SLURM may count the processors of a run that has failed as taken for
** some time; --overlap does not wait for them.
*/
SCR_FN int launch_line(const launcher* l, int number, const hosts* up, const hosts* down, scr_buf* b)
{
  scr_buf list = {NULL, 0, 0, 0}, half = {NULL, 0, 0, 0};
  char*   bad = NULL;
  int     i, rc = SCR_SUCCESS;

  launch_join(&list, up);
  if (l->template_ != NULL && !list.failed) {
    launch_add_replaced(&half, l->template_, "{nodes}", list.p);
    scr_buf_add(&half, "", 1);
    if (!half.failed) launch_add_replaced(b, half.p, "{np}", l->np != NULL ? l->np : "");
  } else {
    launch_add_word(b, l->name);
    if (launch_is(l, "srun") && !launch_names_hosts(l)) {
      if (number > 1) launch_add(b, "--overlap");
      if (down->n > 0 && (rc = hosts_compress(down, &bad)) == SCR_SUCCESS) {
        launch_add(b, "--exclude");
        launch_add_word(b, bad);
      }
    } else if ((launch_is(l, "mpiexec") || launch_is(l, "mpirun")) && !launch_names_hosts(l) &&
               !(up->n == 1 && system_is_here(up->name[0])) && !list.failed) {
      launch_add_word(b, "-hosts");
      launch_add_word(b, list.p);
    }
  }
  for (i = 0; i < l->nwords; i++) launch_add_word(b, l->words[i]);
  if (list.failed || half.failed) rc = SCR_ERR_OOM();
  scr_free(&bad);
  scr_buf_free(&list);
  scr_buf_free(&half);
  return rc;
}

#endif
