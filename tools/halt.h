/* halt.h - does the halt file forbid another run?  Which run uses a prefix directory, and how is it ended? */
#ifndef SCR_TOOL_HALT_H
#define SCR_TOOL_HALT_H

#include "remote.h"

/*
** Returns 1 if the halt file of PREFIX forbids another run of this job, and puts the reason into TEXT, of
** SCR_HALT_TEXT_MAX bytes: the conditions that hold, who has set them, and the commands that take them back; or the
** last run of this job ended by itself; or the file cannot be read.  Otherwise TEXT says why another run may start.
*/
SCR_FN int halt_forbids_run(const char* prefix, char* text)
{
  scr_hash*   params = tool_params(prefix);
  const char* job = scr_param_job(params);
  char        path[SCR_MAX_FILENAME];
  scr_record  file;
  struct stat st;
  int         rc = scr_record_read(&file, prefix, "halt.scr"), forbids = rc != SCR_SUCCESS, there;

  if (forbids) snprintf(text, SCR_HALT_TEXT_MAX, "%s", scr_err_text);
  else forbids = scr_halt_standing(file.h, prefix, job, (int64_t)time(NULL), -1, 1, text) > 0;
  if (!forbids && scr_halt_is_over(file.h, job)) {
    scr_halt_tell(file.h, SCR_HALT_REASON, prefix, text, SCR_HALT_TEXT_MAX);
    forbids = 1;
  }
  if (!forbids) { /* it may be there, and empty */
    there = scr_record_path(prefix, "halt.scr", path, sizeof path) == SCR_SUCCESS && scr_os.lstat(path, &st) == 0;
    snprintf(text, SCR_HALT_TEXT_MAX, there ? "no condition of the halt file holds" : "there is no halt file");
  }
  scr_record_close(&file, rc, 0);
  scr_hash_delete(&params);
  return forbids;
}

/*
** Returns 1 if the last run of JOB on PREFIX has ended because of a halt condition, and not because its work is done:
** by what it wrote, or because a condition holds that a person has set.
*/
SCR_FN int halt_was_halted(const char* prefix, const char* job)
{
  scr_record file;
  int        is, rc = scr_record_read(&file, prefix, "halt.scr");

  is = rc == SCR_SUCCESS &&
       (scr_halt_check(file.h, job, (int64_t)time(NULL), -1) >= 0 ||
        (scr_halt_is_over(file.h, job) && strcmp(scr_hash_str_or(file.h, "ExitReason", ""), SCR_HALT_ASKED) == 0));
  scr_record_close(&file, rc, 0);
  return is;
}

/* ---- the run that uses a prefix directory ---- */

typedef struct {
  char  text[256], step[128], host[SYSTEM_HOST_MAX]; /* what its lock says; its job step, or ""; and its rank 0 */
  long  pid;                                         /* of rank 0; 0: not known */
  ino_t lock;                                        /* the file that says so, */
  int   is_sure;                                     /* 1: which no other user can have written */
} halt_run;

/*
** Returns 1 if no run uses the prefix directory DIR now; 0 if one does, or if that cannot be told.  The look takes the
** lock for an instant, shared, so that looks are not in each other's way; a run that begins then waits for it.
*/
SCR_FN int halt_is_unused(const char* dir)
{
  char path[SCR_MAX_FILENAME];
  int  fd, unused;

  if (scr_record_path(dir, "run.lock", path, sizeof path) != SCR_SUCCESS) return 0;
  if ((fd = scr_os.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)) < 0) return errno == ENOENT;
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
  struct stat st;
  int         rc, listed = 0;

  memset(r, 0, sizeof *r);
  memset(&st, 0, sizeof st);
  if (halt_is_unused(dir)) return SCR_ERR_NOT_FOUND;
  if ((rc = scr_holder_read(dir, text, sizeof text, &st, &listed)) != SCR_SUCCESS) return rc;
  if (st.st_nlink > 1)
    return SCR_ERR(
        SCR_ERR_UNSAFE,
        "%s/.scr/run.lock has a second name, as in a copy by links, and may tell of a run in another prefix; "
        "end that run yourself, or wait for its next checkpoint",
        dir);
  r->lock = st.st_ino;
  r->is_sure = scr_file_distrust(&st, listed) == NULL;
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

/*
** Do ACTION, a command of the shell, on the host of rank 0 of the run R over the prefix directory DIR, if that process
** has the lock of the run open for writing, and that is the file that named it: others may be able to write to that
** file, and to name there a process of yours, or to give its name to another one meanwhile.
*/
SCR_FN int halt_with_process(const char* dir, const halt_run* r, const char* action)
{
  hosts       one = {NULL, 0};
  remote_job  job;
  scr_buf     b = {NULL, 0, 0, 0};
  char        path[SCR_MAX_FILENAME], finds[1000];
  const char* line;
  int         rc = scr_record_path(dir, "run.lock", path, sizeof path);

  snprintf(finds, sizeof finds,
           "; is=$(stat -c %%d:%%i \"$lock\"); case $is in *:%" PRIu64 ") ;; *) is=another ;; esac; "
           "if for f in /proc/%ld/fd/*; do case $(stat -c %%A \"$f\" 2>&1) in l?w*) stat -L -c %%d:%%i \"$f\" ;; esac; "
           "done 2>&1 | grep -qx \"$is\"; then %s; fi; echo it does not have \"$lock\" open for writing; exit 1",
           (uint64_t)r->lock, r->pid, action);
  scr_buf_add(&b, "lock=", 5);
  scr_buf_quote(&b, path);
  scr_buf_add(&b, finds, strlen(finds) + 1);
  line = b.p;
  if (rc == SCR_SUCCESS && b.failed) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = hosts_add(&one, system_is_here(r->host) ? "localhost" : r->host);
  if (rc != SCR_SUCCESS) {
    scr_buf_free(&b);
    hosts_free(&one);
    return rc;
  }
  rc = remote_run_on(&job, &one, &line, HALT_SECONDS, 0);
  scr_buf_free(&b);
  if (rc == SCR_SUCCESS && job.task->status != 0)
    rc = SCR_ERR(SCR_ERR_IO, "cannot end the process %ld on %s: %.300s", r->pid, r->host, system_reason(job.task));
  remote_free(&job);
  hosts_free(&one);
  return rc;
}

/* Kill rank 0 of the run R over the prefix directory DIR; its launcher then ends the others. */
SCR_FN int halt_kill_process(const char* dir, const halt_run* r)
{
  char action[64];

  snprintf(action, sizeof action, "exec kill -9 %ld", r->pid);
  return halt_with_process(dir, r, action);
}

/* End the job step of SLURM of the run R.  If others may have named it, rank 0 says whether it is in that step. */
SCR_FN int halt_kill_step(const char* dir, const halt_run* r)
{
  char action[300];
  int  job, step, end = 0, rc;

  if (r->is_sure) return system_step_kill(r->step, "srun");
  if (r->pid == 0 || sscanf(r->step, "%9d.%9d%n", &job, &step, &end) != 2 || r->step[end] != '\0')
    return SCR_ERR(SCR_ERR_UNSAFE,
                   "%s/.scr/run.lock, which others can write, does not tell which run uses it; end that by scancel",
                   dir);
  snprintf(
      action, sizeof action,
      "[ \"$(tr '\\0' '\\n' </proc/%ld/environ | grep -cx -e SLURM_JOB_ID=%d -e SLURM_STEP_ID=%d)\" = 2 ] && exit 0; "
      "echo it is not of the job step %d.%d; exit 1",
      r->pid, job, step, job, step);
  rc = halt_with_process(dir, r, action);
  return rc == SCR_SUCCESS ? system_step_kill(r->step, "srun") : rc;
}

#endif
