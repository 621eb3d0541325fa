/* transfer.h - start and end the daemons scr_transfer on the nodes of an allocation. */
#ifndef SCR_TOOL_TRANSFER_H
#define SCR_TOOL_TRANSFER_H

#include "scavenge.h"

#define TRANSFER_END_SECONDS 90 /* for a daemon to complete what it copies now */

/* Returns 1 if PARAMS say that daemons copy. */
SCR_FN int transfer_is_used(const scr_hash* params)
{
  const char* type = scr_param_get(params, "SCR_FLUSH_TYPE");
  int         async = 0;

  scr_param_int(params, "SCR_FLUSH_ASYNC", &async);
  return async && type != NULL && scr_strcasecmp(type, "DAEMON") == 0;
}

/*
** The line of the shell that calls scr_transfer with OPTION, "" for none, and the directory DIR; the caller frees it.
*/
SCR_FN char* transfer_line(const char* option, const char* dir)
{
  scr_buf b = {NULL, 0, 0, 0};
  char    path[SCR_MAX_FILENAME];

  system_sibling("scr_transfer", path, sizeof path);
  scr_buf_add(&b, "exec ", 5);
  scr_buf_quote(&b, path);
  scr_buf_add(&b, " ", 1);
  scr_buf_add(&b, option, strlen(option));
  scr_buf_add(&b, " ", 1);
  scr_buf_quote(&b, dir);
  scr_buf_add(&b, "", 1);
  if (b.failed) scr_buf_free(&b);
  return b.p;
}

/* Start a process of its own session, which nobody waits for, that runs ARGV. */
SCR_FN int transfer_detach(const char* const* argv)
{
  pid_t pid;
  int   fd;

  fflush(stdout);
  if ((pid = fork()) < 0) return SCR_ERRNO("cannot start a process");
  if (pid > 0) return SCR_SUCCESS;
  setsid();
  if ((fd = open("/dev/null", O_RDWR)) >= 0) {
    dup2(fd, 0);
    dup2(fd, 1);
    dup2(fd, 2);
  }
  for (fd = 3; fd < 1024; fd++) close(fd); /* of the caller, such as a lock that a script holds */
  execvp(argv[0], (char* const*)(uintptr_t)argv);
  _exit(127);
}

/*
** Start a daemon for the job over PREFIX on each node of the allocation; where one lives already, the new one ends.
** Those of other nodes have one process here, scr_remote, as long as they live.
*/
SCR_FN int transfer_start(const scr_hash* params, const char* prefix)
{
  char        dir[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  char *      command = NULL, *list = NULL;
  const char* here[] = {"sh", "-c", NULL, NULL};
  const char* there[] = {path, "--once", "--timeout", "0", "--nodes", NULL, NULL, NULL};
  hosts       all = {NULL, 0}, others = {NULL, 0};
  int         i, rc = dirs_cntl(params, prefix, dir, sizeof dir);

  if (rc == SCR_SUCCESS) rc = system_nodes(&all);
  if (rc == SCR_SUCCESS && (command = transfer_line("", dir)) == NULL) rc = SCR_ERR_OOM();
  here[2] = there[6] = command;
  for (i = 0; i < all.n && rc == SCR_SUCCESS; i++)
    rc = system_is_here(all.name[i]) ? transfer_detach(here) : hosts_add(&others, all.name[i]);
  if (rc == SCR_SUCCESS && others.n > 0) rc = hosts_compress(&others, &list);
  system_sibling("scr_remote", path, sizeof path);
  there[5] = list;
  if (rc == SCR_SUCCESS && others.n > 0) rc = transfer_detach(there);
  scr_free(&command);
  scr_free(&list);
  hosts_free(&all);
  hosts_free(&others);
  return rc;
}

/* Add HOST with its control directory DIR to the nodes ARG, unless they have it. */
SCR_FN void transfer_add_node(const char* host, const char* kind, const char* dir, void* arg)
{
  scavenge_nodes* l = (scavenge_nodes*)arg;
  int             i;

  if (l->rc != SCR_SUCCESS || strcmp(kind, "CNTL") != 0) return;
  for (i = 0; i < l->node.n; i++)
    if (strcmp(l->node.name[i], host) == 0 && strcmp(l->cntl[i], dir) == 0) return;
  l->rc = scavenge_nodes_add(l, host, dir);
}

/* The nodes where daemons may live: those of the last run over PREFIX, and of the allocation. */
SCR_FN int transfer_nodes(const scr_hash* params, const char* prefix, scavenge_nodes* l)
{
  hosts all = {NULL, 0};
  char  dir[SCR_MAX_FILENAME];
  int   i, rc = dirs_cntl(params, prefix, dir, sizeof dir);

  scr_nodes_file_walk(prefix, transfer_add_node, l);
  if (rc == SCR_SUCCESS) rc = system_nodes(&all);
  for (i = 0; i < all.n && rc == SCR_SUCCESS; i++) transfer_add_node(all.name[i], "CNTL", dir, l);
  hosts_free(&all);
  return rc == SCR_SUCCESS ? l->rc : rc;
}

/*
** End the daemons of the job that PARAMS name and of the last run over PREFIX, but on the nodes DOWN, which may be
** NULL; wait for their end, and warn of each node that does not answer.
*/
SCR_FN int transfer_end(const scr_hash* params, const char* prefix, const char* down)
{
  scavenge_nodes l = {{NULL, 0}, NULL, SCR_SUCCESS};
  hosts          out = {NULL, 0}, where = {NULL, 0};
  char**         command = NULL;
  remote_job     job;
  int            i, rc = down != NULL ? hosts_parse(&out, down) : SCR_SUCCESS;

  memset(&job, 0, sizeof job);
  job.nodes = &where;
  job.seconds = TRANSFER_END_SECONDS;
  if (rc == SCR_SUCCESS) rc = transfer_nodes(params, prefix, &l);
  if ((command = (char**)scr_malloc(((size_t)l.node.n + 1) * sizeof *command)) == NULL) rc = SCR_ERR_OOM();
  for (i = 0; i < l.node.n && rc == SCR_SUCCESS; i++) {
    if (scavenge_has(&out, l.node.name[i])) continue;
    if ((command[where.n] = transfer_line("--exit", l.cntl[i])) == NULL) rc = SCR_ERR_OOM();
    else rc = hosts_add(&where, scavenge_is_virtual(l.node.name[i], l.cntl[i]) ? "localhost" : l.node.name[i]);
  }
  job.command = (const char* const*)command;
  if (rc == SCR_SUCCESS) rc = remote_begin(&job);
  if (rc == SCR_SUCCESS) rc = remote_run(&job);
  for (i = 0; i < where.n && rc == SCR_SUCCESS; i++)
    if (job.task[i].status != 0)
      scr_warn("the process scr_transfer on %s may live on: %.300s", where.name[i],
               job.task[i].status == SYSTEM_TIMEOUT ? "no answer" : system_reason(&job.task[i]));
  remote_free(&job);
  for (i = 0; command != NULL && i < l.node.n; i++) scr_free(&command[i]);
  scr_free(&command);
  hosts_free(&where);
  hosts_free(&out);
  scavenge_nodes_free(&l);
  return rc;
}

#endif
