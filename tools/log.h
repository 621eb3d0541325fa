/* log.h - the log of a run, for commands that write to it or read it. */
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

/* ---- reading ---- */

/* Reads the time at the beginning of LINE, local time.  Returns 1, or 0 if the line has none. */
SCR_FN int log_time(const char* line, int64_t* when)
{
  struct tm tm;

  memset(&tm, 0, sizeof tm);
  if (sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
             &tm.tm_sec) != 6)
    return 0;
  tm.tm_year -= 1900;
  tm.tm_mon--;
  tm.tm_isdst = -1;
  *when = (int64_t)mktime(&tm);
  return 1;
}

/*
** Copy the value of KEY in LINE, pairs `key=value` with commas between them and texts in quotes, into OUT, of N bytes.
** Returns 1, or 0 with OUT "" if the line has no such key.
*/
SCR_FN int log_value(const char* line, const char* key, char* out, size_t n)
{
  size_t length = strlen(key);

  *out = '\0';
  while (*line != '\0') {
    const char *word = line + strspn(line, ", "), *value = word + strcspn(word, "=, "), *end;
    if (*value != '=') { /* the time at the beginning */
      line = value + (*value != '\0');
      continue;
    }
    end = value[1] == '"' ? strchr(value + 2, '"') : value + 1 + strcspn(value + 1, ",");
    if (end == NULL) return 0;
    value += value[1] == '"' ? 2 : 1;
    if ((size_t)(value - word) > length && word[length] == '=' && strncmp(word, key, length) == 0) {
      snprintf(out, n, "%.*s", (int)(end - value), value);
      return 1;
    }
    line = *end == '"' ? end + 1 : end;
  }
  return 0;
}

/* The value of KEY in LINE as a number; -1 if there is none. */
SCR_FN double log_number(const char* line, const char* key)
{
  char text[64];

  return log_value(line, key, text, sizeof text) && isdigit((unsigned char)*text) ? strtod(text, NULL) : -1;
}

#endif
