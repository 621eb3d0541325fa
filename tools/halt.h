/* halt.h - does the halt file forbid another run? */
#ifndef SCR_TOOL_HALT_H
#define SCR_TOOL_HALT_H

#include "tool.h"

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

#endif
