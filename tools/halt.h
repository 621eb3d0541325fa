/* halt.h - does the halt file forbid another run?  Which run uses a prefix directory, and how is it ended? */
#ifndef SCR_TOOL_HALT_H
#define SCR_TOOL_HALT_H

#include "system.h"

/* Put the condition WHY of the halt file in words into TEXT; "" if none holds. */
SCR_FN void halt_explain(const scr_hash* halt, const char* why, char* text, size_t n)
{
  const char* reason = scr_hash_elem_get_first_val(halt, "ExitReason");

  if (reason != NULL && *reason != '\0') snprintf(text, n, "the halt file gives the reason %s", reason);
  else if (strcmp(why, "NO_CHECKPOINTS_LEFT") == 0) snprintf(text, n, "no checkpoints are left");
  else if (strcmp(why, "EXIT_BEFORE_TIME") == 0) snprintf(text, n, "the time before which to exit has come");
  else if (strcmp(why, "EXIT_AFTER_TIME") == 0) snprintf(text, n, "the time after which to exit has come");
  else *text = '\0';
}

/*
** Returns 1 if the halt file of PREFIX forbids another run, and puts the reason into TEXT: a condition holds, the last
** run ended regularly, or the file cannot be read.  Otherwise TEXT says why another run may start.
*/
SCR_FN int halt_forbids_run(const char* prefix, char* text, size_t n)
{
  char      path[SCR_MAX_FILENAME], why[256];
  scr_hash* halt = scr_hash_new();
  int       forbids, rc = halt == NULL ? SCR_ERR_OOM() : scr_record_path(prefix, "halt.scr", path, sizeof path);

  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(path, halt);
  if (rc == SCR_SUCCESS) {
    scr_halt_check(halt, (int64_t)time(NULL), -1, why, sizeof why);
    halt_explain(halt, why, text, n);
  } else {
    snprintf(text, n, "%s", rc == SCR_ERR_NOT_FOUND ? "" : scr_err_text);
  }
  scr_hash_delete(&halt);
  forbids = *text != '\0';
  if (!forbids)
    snprintf(text, n, rc == SCR_ERR_NOT_FOUND ? "there is no halt file" : "no condition of the halt file holds");
  return forbids;
}

/* ---- the run that uses a prefix directory ---- */

typedef struct {
  char text[256], step[128], host[SYSTEM_HOST_MAX]; /* what its lock says; its job step, or ""; and its rank 0 */
  long pid;                                         /* of rank 0; 0: not known */
} halt_run;

/* Returns 1 if H, a halt file, tells that the last run has ended. */
SCR_FN int halt_is_over(const scr_hash* h)
{
  return strcmp(scr_hash_str_or(h, "ExitReason", ""), "SCR_FINALIZE_CALLED") == 0;
}

/*
** Returns 1 if no run uses the prefix directory DIR now; 0 if one does, or if that cannot be told.  The look takes the
** lock for an instant, shared, so that looks are not in each other's way; a run that begins then waits for it.
*/
SCR_FN int halt_is_unused(const char* dir)
{
  char path[SCR_MAX_FILENAME];
  int  fd, unused;

  if (scr_record_path(dir, "run.lock", path, sizeof path) != SCR_SUCCESS) return 0;
  if ((fd = scr_os.open(path, O_RDONLY | O_NOFOLLOW, 0)) < 0) return errno == ENOENT;
  unused = scr_os.flock(fd, LOCK_SH | LOCK_NB) == 0 && scr_os.flock(fd, LOCK_UN) == 0;
  scr_os.close(fd);
  return unused;
}

/*
** Find the run that uses the prefix directory DIR: it holds the lock there, into which it has written who it is.
** SCR_ERR_NOT_FOUND, without a message, if there is none.
*/
SCR_FN int halt_find_run(const char* dir, halt_run* r)
{
  char        text[800];
  const char* process;
  int         rc;

  memset(r, 0, sizeof *r);
  if (halt_is_unused(dir)) return SCR_ERR_NOT_FOUND;
  if ((rc = scr_holder_read(dir, text, sizeof text)) != SCR_SUCCESS) return rc;
  process = strstr(text, "\nprocess ");
  if (process == NULL || sscanf(process, "\nprocess %ld on %255s", &r->pid, r->host) != 2 || r->pid <= 1) r->pid = 0;
  if (sscanf(text, "step %127s", r->step) != 1) *r->step = '\0';
  snprintf(r->text, sizeof r->text, "%.*s", (int)strcspn(text, "\n"), text);
  if (*r->step != '\0' || r->pid != 0) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_FORMAT,
                 "%s/.scr/run.lock does not tell which run uses it; end that yourself, or wait for its next checkpoint",
                 dir);
}

#define HALT_SECONDS 30 /* for a command on another node */

/* Kill the process PID on HOST, rank 0 of a run; its launcher then ends the others. */
SCR_FN int halt_kill_process(long pid, const char* host)
{
  hosts        one = {NULL, 0};
  system_task* task = NULL;
  char         command[64];
  int          rc = SCR_SUCCESS;

  if (system_is_here(host))
    return kill((pid_t)pid, SIGKILL) == 0 ? SCR_SUCCESS : SCR_ERRNO("cannot kill the process %ld", pid);
  snprintf(command, sizeof command, "kill -9 %ld", pid);
  if ((rc = hosts_add(&one, host)) == SCR_SUCCESS && (task = system_run_on(&one, command, HALT_SECONDS)) == NULL)
    rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS && task->status != 0)
    rc = SCR_ERR(SCR_ERR_IO, "cannot kill the process %ld on %s: %.300s", pid, host, system_text(task, 1));
  system_tasks_free(&task, 1);
  hosts_free(&one);
  return rc;
}

#endif
