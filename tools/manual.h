/*
** manual.h - the manual that the program scr contains: its chapters, on a terminal or as man pages.
**
** The source is tools/manual/NAME.md, text with few marks: `# name: what it is about` first, `## Heading`,
** `### Heading`, paragraphs, lines that begin with `- ` or `1. `, tables of lines `| a | b |`, lines after an empty one
** that begin with four blanks and stay as they are, `words` in backquotes, and lines `@name` for a table of the
** program.  embed.sh makes manual.inc of it, which is compiled in with -DTOOL_MANUAL.
*/
#ifndef SCR_MANUAL_H
#define SCR_MANUAL_H

#include "tool.h"

#include <sys/ioctl.h>

typedef struct {
  const char*        name;
  const char* const* lines; /* NULL behind the last one */
} manual_chapter;

#ifdef TOOL_MANUAL
#include "manual/manual.inc"
#else
static const manual_chapter manual_chapters[] = {{NULL, NULL}}; /* built without its manual */
#endif

#define MANUAL_ON   '\001' /* in text that is ready to be printed: bold from here */
#define MANUAL_OFF  '\002' /* ... and no longer */
#define MANUAL_TEXT 16384
#define MANUAL_CELL 8

typedef struct manual_out {
  FILE* out;
  int   man;    /* 0: lines of text; 1: a man page, of several chapters; 2: one of one chapter */
  int   styled; /* 1: words in backquotes are bold */
  int   width;
  int   bold;  /* 1: what is printed is bold */
  int   fresh; /* 1: a heading of a man page came last, which begins a paragraph */
  void (*table)(struct manual_out* o, const char* name); /* prints what stands for @name */
} manual_out;

/* ---- characters and words ---- */

/* Print the character C; AT is 0 at the beginning of a line. */
static void manual_char(manual_out* o, char c, int at)
{
  if (c == MANUAL_ON || c == MANUAL_OFF) {
    o->bold = c == MANUAL_ON;
    if (o->man) fputs(o->bold ? "\\fB" : "\\fR", o->out);
  } else if (o->man) {
    if (at == 0 && (c == '.' || c == '\'')) fputs("\\&", o->out);
    if (c == '\\') fputs("\\e", o->out);
    else if (c == '-') fputs("\\-", o->out);
    else if (c == '~') fputs("\\(ti", o->out);
    else if (c == '^') fputs("\\(ha", o->out);
    else if (c == '`') fputs("\\(ga", o->out);
    else fputc(c, o->out);
  } else {
    if (o->bold && c != ' ') fprintf(o->out, "%c\b", c); /* as man prints bold, for any pager */
    fputc(c, o->out);
  }
}

/* Print TEXT as it is. */
static void manual_raw(manual_out* o, const char* text)
{
  int at;
  for (at = 0; text[at] != '\0'; at++) manual_char(o, text[at], at);
}

/* Make READY, of N bytes, of TEXT, LENGTH bytes: words in backquotes become bold, if there is bold. */
static void manual_ready(const manual_out* o, const char* text, size_t length, char* ready, size_t n)
{
  size_t i, k = 0;
  int    on = 0;

  for (i = 0; i < length && k + 1 < n; i++) {
    if (text[i] == '`' && o->styled) ready[k++] = (on = !on) ? MANUAL_ON : MANUAL_OFF;
    else ready[k++] = text[i];
  }
  ready[k] = '\0';
}

/* How many columns TEXT, N bytes that are ready, has. */
static int manual_columns(const char* text, size_t n)
{
  int    columns = 0;
  size_t i;

  for (i = 0; i < n; i++) columns += text[i] != MANUAL_ON && text[i] != MANUAL_OFF;
  return columns;
}

/* Print TEXT, which is ready, as a paragraph behind INDENT columns; HEAD columns of its first line are there. */
static void manual_fill(manual_out* o, const char* text, int indent, int head)
{
  int at = head;

  if (o->man) indent = at = 0;
  while (*(text += strspn(text, " ")) != '\0') {
    size_t i, n = strcspn(text, " ");
    int    columns = manual_columns(text, n);

    if (at > indent && at + 1 + columns > o->width) {
      fputc('\n', o->out);
      at = 0;
    } else if (at > indent) {
      fputc(' ', o->out);
      at++;
    }
    if (at < indent) at += fprintf(o->out, "%*s", indent - at, "");
    for (i = 0; i < n; i++) manual_char(o, text[i], at + (int)i);
    at += columns;
    text += n;
  }
  if (o->bold) manual_char(o, MANUAL_OFF, 1);
  fputc('\n', o->out);
}

/* The same with TEXT that is not ready. */
static void manual_paragraph(manual_out* o, const char* text, int indent, int head)
{
  char ready[MANUAL_TEXT];

  manual_ready(o, text, strlen(text), ready, sizeof ready);
  manual_fill(o, ready, indent, head);
}

/* Print the term of a definition, TEXT, and what it means, TEXTS, N of them.  COLUMN is where that begins, or 0. */
static void manual_term(manual_out* o, const char* text, const char* const* texts, int n, int column)
{
  char ready[MANUAL_TEXT], bold[MANUAL_TEXT + 2];
  int  i, head = 0;

  manual_ready(o, text, strlen(text), ready, sizeof ready);
  if (o->man) {
    snprintf(bold, sizeof bold, "%c%s%c", MANUAL_ON, ready, MANUAL_OFF);
    fputs(".TP\n", o->out);
    o->fresh = 0;
    manual_fill(o, strchr(ready, MANUAL_ON) != NULL ? ready : bold, 0, 0);
  } else if (column > 0) {
    manual_raw(o, ready);
    head = manual_columns(ready, strlen(ready));
    head += fprintf(o->out, "%*s", column - head, "");
  } else {
    manual_fill(o, ready, 0, 0);
  }
  for (i = 0; i < n; i++) {
    if (o->man && i > 0) fputs(".br\n", o->out);
    manual_paragraph(o, texts[i], column > 0 ? column : 6, i == 0 ? head : 0);
  }
}

/* Begin a paragraph of a man page. */
static void manual_begin_paragraph(manual_out* o)
{
  if (!o->fresh) fputs(".PP\n", o->out);
  o->fresh = 0;
}

/* ---- blocks: each prints what begins at LINES, and returns how many lines that are ---- */

static int manual_is_item(const char* s)
{
  size_t n = strspn(s, "0123456789");
  return strncmp(s, "- ", 2) == 0 || (n > 0 && n < 3 && strncmp(s + n, ". ", 2) == 0);
}

/* Does the line S begin something other than a paragraph? */
static int manual_begins(const char* s)
{
  return *s == '\0' || *s == '#' || *s == '|' || *s == '@' || manual_is_item(s);
}

static int manual_heading(manual_out* o, const char* s)
{
  size_t level = strspn(s, "#");
  char   ready[256];

  s += level + strspn(s + level, " ");
  manual_ready(o, s, strlen(s), ready, sizeof ready);
  if (o->man) {
    fputs(level <= (size_t)o->man ? ".SH " : ".SS ", o->out);
    manual_ready(o, s, level < 2 ? strcspn(s, ":") : strlen(s), ready, sizeof ready);
    manual_raw(o, level < 2 && o->man == 2 ? "DESCRIPTION" : ready);
    o->fresh = 1;
  } else {
    if (o->styled) manual_char(o, MANUAL_ON, 0);
    else fprintf(o->out, "%.*s ", (int)level, "###");
    for (s = ready; *s != '\0'; s++)
      if (*s != MANUAL_ON && *s != MANUAL_OFF) manual_char(o, *s, 1);
    if (o->styled) manual_char(o, MANUAL_OFF, 1);
  }
  fputc('\n', o->out);
  return 1;
}

static int manual_code(manual_out* o, const char* const* lines)
{
  int i, n;

  for (n = 0; lines[n] != NULL && (strncmp(lines[n], "    ", 4) == 0 || *lines[n] == '\0'); n++) continue;
  while (n > 0 && *lines[n - 1] == '\0') n--;
  if (o->man) {
    manual_begin_paragraph(o);
    fputs(".RS 4\n.nf\n", o->out);
  }
  for (i = 0; i < n; i++) {
    if (o->man && *lines[i] == '\0') fputs("\\&", o->out);
    manual_raw(o, o->man && *lines[i] != '\0' ? lines[i] + 4 : lines[i]);
    fputc('\n', o->out);
  }
  if (o->man) fputs(".fi\n.RE\n", o->out);
  return n;
}

/* Cut the row LINE of a table into its cells.  Returns their number. */
static int manual_cells(const char* line, char* copy, size_t n, const char* cells[MANUAL_CELL])
{
  int   k = 0;
  char *from, *to, *end;

  snprintf(copy, n, "%s", line + 1);
  for (from = copy; *from != '\0' && k < MANUAL_CELL; from = end + 1) {
    from += strspn(from, " ");
    for (end = to = from; *end != '\0' && *end != '|'; *to++ = *end++) end += *end == '\\' && end[1] == '|';
    if (*end == '\0') break;
    while (to > from && to[-1] == ' ') to--;
    *to = '\0';
    cells[k++] = from;
  }
  return k;
}

static int manual_rows(manual_out* o, const char* const* lines)
{
  char        head[MANUAL_TEXT], copy[MANUAL_TEXT], named[MANUAL_CELL][MANUAL_TEXT];
  const char *heads[MANUAL_CELL], *cells[MANUAL_CELL], *texts[MANUAL_CELL];
  int         i, k, n, most = 0, columns = manual_cells(lines[0], head, sizeof head, heads);

  for (n = 2; lines[n] != NULL && *lines[n] == '|'; n++) {
    manual_cells(lines[n], copy, sizeof copy, cells);
    most = (int)strlen(cells[0]) > most ? (int)strlen(cells[0]) : most;
  }
  for (i = 2; i < n; i++) {
    int got = manual_cells(lines[i], copy, sizeof copy, cells);
    for (k = 1; k < got; k++) {
      texts[k] = cells[k];
      if (columns < 3 || k >= columns) continue;
      snprintf(named[k], sizeof named[k], "%s: %s", heads[k], cells[k]);
      texts[k] = named[k];
    }
    manual_term(o, cells[0], texts + 1, got - 1, columns == 2 && most < o->width / 3 ? most + 2 : 0);
  }
  return n;
}

/* Print a paragraph, or an item of a list. */
static int manual_lines(manual_out* o, const char* const* lines)
{
  char        text[MANUAL_TEXT];
  const char* first = lines[0] + strspn(lines[0], " ");
  size_t      k = (size_t)snprintf(text, sizeof text, "%s", first);
  int         n, item = manual_is_item(first) ? (int)strcspn(first, " ") + 1 : 0, head = item;

  for (n = 1; lines[n] != NULL && !manual_begins(lines[n] + (item > 0 ? strspn(lines[n], " ") : 0)) && k < sizeof text;
       n++)
    k += (size_t)snprintf(text + k, sizeof text - k, " %s", lines[n] + strspn(lines[n], " "));
  if (!o->man && item > 0) {
    fprintf(o->out, "%.*s", item, first);
  } else if (o->man && item > 0) {
    fprintf(o->out, ".IP %.*s %d\n", *first == '-' ? 4 : item - 1, *first == '-' ? "\\(bu" : first, item);
    head = 0;
  } else if (o->man) {
    manual_begin_paragraph(o);
  }
  o->fresh = 0;
  manual_paragraph(o, text + item, item, head);
  return n;
}

/* Print LINES, up to the end or the line BEFORE, which may be NULL. */
static void manual_print(manual_out* o, const char* const* lines, const char* const* before)
{
  int empty = 1;

  while (*lines != NULL && lines != before) {
    const char* s = *lines;
    if (*s == '\0') {
      if (!o->man && !empty) fputc('\n', o->out);
      empty = 1;
      lines++;
      continue;
    }
    if (*s == '#') lines += manual_heading(o, s);
    else if (empty && strncmp(s, "    ", 4) == 0) lines += manual_code(o, lines);
    else if (*s == '|' && lines[1] != NULL && *lines[1] == '|') lines += manual_rows(o, lines);
    else if (*s == '@') o->table(o, s + 1), lines++;
    else lines += manual_lines(o, lines);
    empty = 0;
  }
}

/* ---- chapters ---- */

/* The chapter NAME, or the only one that begins so; NULL if there is none. */
static const manual_chapter* manual_find(const char* name)
{
  const manual_chapter *c, *found = NULL;
  size_t                n = strlen(name);

  if (strcmp(name, "params") == 0) name = "parameters";
  for (c = manual_chapters; c->name != NULL; c++) {
    if (strcmp(c->name, name) == 0) return c;
    if (n < 3 || strncmp(c->name, name, n) != 0) continue;
    if (found != NULL) return NULL;
    found = c;
  }
  return found;
}

/* What the chapter C is about. */
static const char* manual_about(const manual_chapter* c)
{
  const char* colon = strchr(c->lines[0], ':');
  if (strcmp(c->name, "scr.h") == 0) return "the calls, with their contracts; `scr help SCR_Init` prints one";
  return colon != NULL ? colon + 1 + strspn(colon + 1, " ") : c->lines[0];
}

/* The first row of a table of C whose first cell names the word NAME; NULL if there is none. */
static const char* manual_row(const manual_chapter* c, const char* name)
{
  char        copy[MANUAL_TEXT], word[130];
  const char* cells[MANUAL_CELL];
  int         i;

  snprintf(word, sizeof word, "`%.120s`", name);
  for (i = 0; c != NULL && c->lines[i] != NULL; i++)
    if (*c->lines[i] == '|' && manual_cells(c->lines[i], copy, sizeof copy, cells) > 1 &&
        strstr(cells[0], word) != NULL)
      return c->lines[i];
  return NULL;
}

/* ---- scr.h: the contract of a call ---- */

/* The lines of C with contract and prototypes of the call NAME; *END is behind them.  NULL if there are none. */
static const char* const* manual_contract(const manual_chapter* c, const char* name, const char* const** end)
{
  const char *const *from = NULL, *const * line;
  size_t             n = strlen(name);
  int                found = 0;

  for (line = c != NULL ? c->lines : NULL; line != NULL && *line != NULL; line++) {
    const char* at;
    if (strncmp(*line, "/*", 2) == 0) from = line;
    if (strncmp(*line, "SCR_API ", 8) == 0 && (at = strstr(*line, name)) != NULL && at[n] == '(' && at[-1] != '_')
      found = 1;
    if (**line == '\0' && found && from != NULL) break;
    if (**line == '\0') from = NULL;
  }
  *end = line;
  return found ? from : NULL;
}

/* ---- where it goes ---- */

/* Begin to print: through a pager on a terminal.  Returns the stream for manual_end. */
static manual_out manual_begin(void)
{
  manual_out     o = {stdout, 0, 0, 80, 0, 0, NULL};
  struct winsize size;
  const char*    pager = getenv("PAGER");

  if (!isatty(1)) return o;
  if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) o.width = size.ws_col > 100 ? 100 : size.ws_col;
  o.styled = 1;
  fflush(stdout);
  signal(SIGPIPE, SIG_IGN); /* the user may leave the pager at once */
  if (pager == NULL || *pager == '\0') pager = "if command -v less >/dev/null; then LESS=FRX less; else more; fi";
  o.out = popen(pager, "w");
  if (o.out == NULL) o.out = stdout;
  return o;
}

/* Returns 0, or 1 if it could not be printed. */
static int manual_end(manual_out* o)
{
  if (o->out != stdout) {
    pclose(o->out);
    return 0;
  }
  return fflush(stdout) != 0;
}

#endif
