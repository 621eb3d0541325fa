/*
** explain.h - scr explain: finds messages of the library and its commands in a text, and prints for each the cause and
** the remedy, as the chapter `errors` of the manual has them.
**
** An entry begins with a line `### ` and the message, in which `...` stands for any text; `...` at its ends may be left
** out.  Messages with the same cause and remedy follow each other as such lines.  The text goes up to the next heading.
** What stands behind `## In general` explains only messages that no other entry explains.
*/
#ifndef SCR_EXPLAIN_H
#define SCR_EXPLAIN_H

#include "manual.h"

#define EXPLAIN_ENTRIES 400
#define EXPLAIN_UNKNOWN 5 /* messages without an entry that are printed */

typedef struct {
  const char* const* lines;   /* its headings, in the chapter */
  int                general; /* 1: only for what no other entry explains */
  int                times;   /* how many lines have the message */
  int                order;   /* which entry was found first */
  char*              line;    /* the first line that has it */
} explain_entry;

typedef struct {
  explain_entry entry[EXPLAIN_ENTRIES];
  int           n, found, unknown;
  char*         line[EXPLAIN_UNKNOWN];
} explain_state;

/* Does TEXT have the message PATTERN? */
static int explain_matches(const char* pattern, const char* text)
{
  char piece[512];

  while (*pattern != '\0') {
    const char* end = strstr(pattern, "...");
    size_t      n = end != NULL ? (size_t)(end - pattern) : strlen(pattern);

    while (n > 0 && *pattern == ' ') pattern++, n--; /* what stands for ... may be empty */
    while (n > 0 && pattern[n - 1] == ' ') n--;
    snprintf(piece, sizeof piece, "%.*s", (int)n, pattern);
    if ((text = strstr(text, piece)) == NULL) return 0;
    text += n;
    pattern = end != NULL ? end + 3 : "";
  }
  return 1;
}

static int explain_is_heading(const char* line)
{
  return line != NULL && strncmp(line, "### ", 4) == 0;
}

/* Does TEXT have one of the messages of E? */
static int explain_has(const explain_entry* e, const char* text)
{
  int i;

  for (i = 0; explain_is_heading(e->lines[i]); i++)
    if (explain_matches(e->lines[i] + 4, text)) return 1;
  return 0;
}

/* Where the message begins in LINE: behind `SCR error:`, `SCR warning:` or the name of a command; NULL if nowhere. */
static const char* explain_message(const char* line)
{
  static const char* const marks[] = {"SCR error: ", "SCR warning: "};
  const char*              at;
  size_t                   i;

  for (i = 0; i < sizeof marks / sizeof *marks; i++)
    if ((at = strstr(line, marks[i])) != NULL) return at + strlen(marks[i]);
  if ((at = strstr(line, "scr_")) == NULL) at = strncmp(line, "scr: ", 5) == 0 ? line : NULL;
  if (at == NULL) return NULL;
  i = strcspn(at, " :");
  return at[i] == ':' ? at + i + 1 : NULL;
}

/* Look for messages in LINE; all of it is one if it is ALONE. */
static void explain_line(explain_state* s, const char* line, int alone)
{
  const char* message = explain_message(line);
  int         i, found = 0;

  if (message == NULL && !alone) return;
  for (i = 0; i < s->n; i++) {
    explain_entry* e = &s->entry[i];
    if ((e->general && found) || !explain_has(e, message != NULL ? message : line)) continue;
    found = 1;
    if (e->times++ > 0) continue;
    e->order = s->found++;
    e->line = scr_strdup(line);
  }
  if (found || (strstr(line, "SCR error: ") == NULL && !alone)) return;
  if (s->unknown < EXPLAIN_UNKNOWN) s->line[s->unknown] = scr_strdup(line);
  s->unknown++;
}

/* Print an entry, below the line that has its message, unless the entry BEFORE it, or NULL, is of the same line. */
static void explain_print(manual_out* o, const explain_entry* e, const explain_entry* before)
{
  const char *const *text = e->lines, *const * end;
  int again = before != NULL && e->line != NULL && before->line != NULL && strcmp(e->line, before->line) == 0;

  while (explain_is_heading(*text)) text++;
  for (end = text; *end != NULL && **end != '#';) end++;
  if (before != NULL) fputc('\n', o->out);
  if (!again) {
    tool_put(o->out, e->line != NULL ? e->line : e->lines[0] + 4);
    if (e->times > 1) fprintf(o->out, "  (and %d more line%s)", e->times - 1, SCR_S(e->times - 1));
    fputs("\n\n", o->out);
  }
  while (end > text && *end[-1] == '\0') end--;
  manual_print(o, text, end);
}

/* The command `explain`, with its arguments from ARGV[1] on. */
static int explain_main(int argc, char** argv)
{
  const manual_chapter* c = manual_find("errors");
  static explain_state  s;
  const explain_entry*  before = NULL;
  const char* const*    line;
  char*                 text = NULL;
  size_t                size = 0;
  manual_out            o;
  int                   i, k, general = 0;

  if (argc != 2)
    return tool_fail("scr", 1, "explain needs a message, or - for a text from the input: scr explain \"MESSAGE\"");
  if (c == NULL) return tool_fail("scr", 1, "this scr was built without its manual; `make` builds it in");
  for (line = c->lines; *line != NULL; line++) {
    general |= strcmp(*line, "## In general") == 0;
    if (!explain_is_heading(*line) || explain_is_heading(line[-1]) || s.n == EXPLAIN_ENTRIES) continue;
    s.entry[s.n].lines = line;
    s.entry[s.n++].general = general;
  }
  if (strcmp(argv[1], "-") != 0) explain_line(&s, argv[1], 1);
  while (strcmp(argv[1], "-") == 0 && getline(&text, &size, stdin) >= 0) {
    text[strcspn(text, "\r\n")] = '\0';
    explain_line(&s, text, 0);
  }
  free(text);
  o = manual_begin();
  for (i = 0; i < s.found; i++)
    for (k = 0; k < s.n; k++)
      if (s.entry[k].times > 0 && s.entry[k].order == i) {
        explain_print(&o, &s.entry[k], before);
        before = &s.entry[k];
      }
  for (i = 0; i < s.unknown && i < EXPLAIN_UNKNOWN; i++) {
    if (s.found > 0 || i > 0) fputc('\n', o.out);
    fputs("The manual has no entry for: ", o.out);
    if (s.line[i] != NULL) tool_put(o.out, s.line[i]);
    fputc('\n', o.out);
    free(s.line[i]);
  }
  if (s.unknown > EXPLAIN_UNKNOWN) fprintf(o.out, "\n... and for %d more lines.\n", s.unknown - EXPLAIN_UNKNOWN);
  for (k = 0; k < s.n; k++) free(s.entry[k].line);
  if (s.found + s.unknown == 0) fputs("There is no message of the library in this text.\n", o.out);
  i = s.found == 0;
  return manual_end(&o) || i;
}

#endif
