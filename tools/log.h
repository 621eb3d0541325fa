/* log.h - the log of a run, for commands that write to it. */
#ifndef SCR_TOOL_LOG_H
#define SCR_TOOL_LOG_H

#include "tool.h"

/* Who writes a log, in words that the log points to. */
typedef struct {
  scr_log log;
  char    host[256], user[256];
} log_writer;

/*
** Set up W to write to the logs that the parameters turn on.  PREFIX and PARAMS must outlive it.  The caller calls
** scr_log_end, after an error too.
*/
SCR_FN int log_open(log_writer* w, const scr_hash* params, const char* prefix)
{
  memset(w, 0, sizeof *w);
  if (gethostname(w->host, sizeof w->host - 1) < 0) return SCR_ERRNO("cannot get the host name");
  scr_param_user(params, w->user, sizeof w->user);
  w->log.host = w->host;
  w->log.user = w->user;
  w->log.job = scr_param_job(params);
  w->log.prefix = prefix;
  return scr_log_begin(&w->log, params);
}

#endif
