/* pages.h - man pages of what the program scr contains: its commands, the chapters of the manual, and scr.h. */
#ifndef SCR_PAGES_H
#define SCR_PAGES_H

#include "manual.h"

#define PAGES_TEXT 16384

/* Begin the page NAME of SECTION below DIR, which is about ABOUT.  Returns 1, or 0 with a message. */
static int pages_begin(manual_out* o, const char* dir, const char* name, int section, const char* about)
{
  char        path[SCR_MAX_FILENAME], upper[64], day[32];
  const char* epoch = getenv("SOURCE_DATE_EPOCH");
  int64_t     seconds = 0;
  time_t      now = time(NULL);
  struct tm   tm;
  size_t      i;

  memset(o, 0, sizeof *o);
  o->man = o->styled = 1;
  o->width = 78;
  if (epoch != NULL && tool_number(epoch, 0, INT64_MAX, &seconds)) now = (time_t)seconds;
  if (gmtime_r(&now, &tm) == NULL || strftime(day, sizeof day, "%Y-%m-%d", &tm) == 0) *day = '\0';
  snprintf(path, sizeof path, "%s/man%d", dir, section);
  if (scr_mkdirs(path, 0777) == SCR_SUCCESS) {
    snprintf(path, sizeof path, "%s/man%d/%s.%d", dir, section, name, section);
    if ((o->out = fopen(path, "w")) == NULL) SCR_ERRNO("cannot create %s", path);
  }
  if (o->out == NULL) {
    tool_fail("scr", 1, scr_err_text);
    return 0;
  }
  for (i = 0; name[i] != '\0' && i + 1 < sizeof upper; i++) upper[i] = scr_upper(name[i]);
  upper[i] = '\0';
  fprintf(o->out, ".TH \"%s\" %d \"%s\" \"SCR %s\"\n.SH NAME\n%s \\- ", upper, section, day, SCR_VERSION, name);
  manual_raw(o, about);
  fputc('\n', o->out);
  return 1;
}

/* End the page: what else to read.  Returns 1, or 0 with a message. */
static int pages_end(manual_out* o, const char* also)
{
  fprintf(o->out, ".SH SEE ALSO\n%s\n", also);
  if (ferror(o->out) == 0 && fclose(o->out) == 0) return 1;
  return tool_fail("scr", 0, "a man page cannot be written");
}

/* Print N lines as they are. */
static void pages_literal(manual_out* o, const char* const* lines, int n)
{
  int i;

  manual_begin_paragraph(o);
  fputs(".nf\n", o->out);
  for (i = 0; i < n; i++) {
    manual_raw(o, lines[i]);
    fputc('\n', o->out);
  }
  fputs(".fi\n", o->out);
}

/* Does S begin a paragraph, in a text whose lines are filled? */
static int pages_is_new(const char* s)
{
  return *s == '\0' || *s == ' ' || strncmp(s, "Exit ", 5) == 0;
}

/* Print LINES, N of them: paragraphs are filled; what stands between empty lines and has indented lines stays. */
static void pages_lines(manual_out* o, const char* const* lines, int n)
{
  char   text[PAGES_TEXT];
  int    i, k, indented;
  size_t used;

  for (i = 0; i < n; i += k) {
    for (k = indented = 0; i + k < n && *lines[i + k] != '\0'; k++) indented |= *lines[i + k] == ' ';
    if (k == 0) {
      k = 1;
    } else if (indented) {
      pages_literal(o, lines + i, k);
    } else {
      used = (size_t)snprintf(text, sizeof text, "%s", lines[i]);
      for (k = 1; i + k < n && !pages_is_new(lines[i + k]) && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", lines[i + k]);
      manual_begin_paragraph(o);
      manual_paragraph(o, text, 0, 0);
    }
  }
}

/* Cut TEXT into LINES, at most N.  Returns their number. */
static int pages_cut(char* text, const char** lines, int n)
{
  int   k;
  char* end;

  for (k = 0; k < n && *text != '\0'; text = end) {
    lines[k++] = text;
    end = text + strcspn(text, "\n");
    if (*end == '\n') *end++ = '\0';
  }
  return k;
}

/* The first sentence of LINES, N of them, in SENTENCE, without its point. */
static void pages_sentence(const char* const* lines, int n, char* sentence, size_t size)
{
  size_t used = 0;
  char*  end;
  int    i;

  for (i = 0, *sentence = '\0'; i < n && *lines[i] != '\0' && used < size; i++)
    used += (size_t)snprintf(sentence + used, size - used, i > 0 ? " %s" : "%s", lines[i]);
  for (end = sentence; *end != '\0' && !(*end == '.' && (end[1] == ' ' || end[1] == '\0')); end++) continue;
  *end = '\0';
}

/* The page of the command scr_NAME, whose usage text is USAGE, which is changed. */
static int pages_command(const char* dir, const char* name, const char* about, char* usage)
{
  const char* lines[400];
  char        page[64];
  manual_out  o;
  int         i, n = pages_cut(usage, lines, 400);

  snprintf(page, sizeof page, "scr_%s", name);
  if (n == 0 || !pages_begin(&o, dir, page, 1, about)) return 0;
  lines[0] += strncmp(lines[0], "Usage: ", 7) == 0 ? 7 : 0;
  for (i = 1; i < n && *lines[i] == ' '; i++) continue;
  fputs(".SH SYNOPSIS\n", o.out);
  o.fresh = 1;
  pages_literal(&o, lines, i);
  fputs(".SH DESCRIPTION\n", o.out);
  o.fresh = 1;
  pages_lines(&o, lines + i, n - i);
  return pages_end(&o, ".BR scr (1),\n.BR scr.conf (5),\n.BR scr (7)");
}

/* The pages of the calls that C, the header, declares from the line *AT on, which moves behind them. */
static int pages_calls(const char* dir, const manual_chapter* c, const char* const** at)
{
  const char* lines[200];
  char        text[PAGES_TEXT], name[64], about[512], text_of_call[256];
  const char *first, *last, *const *from, *const *end, *const *line;
  manual_out o;
  int        n;
  size_t     used = 0;

  first = last = **at + strcspn(**at, "(");
  while (first > **at && (isalnum((unsigned char)first[-1]) || first[-1] == '_')) first--;
  snprintf(name, sizeof name, "%.*s", (int)(last - first), first);
  ++*at;
  if ((from = manual_contract(c, name, &end)) == NULL) return 1;
  for (line = from; line != end && **line != '#' && strncmp(*line, "SCR_API", 7) != 0 && used < sizeof text; line++) {
    size_t skip = strspn(*line, "/*"), k = strlen(*line);
    if (skip < k && (*line)[skip] == ' ') skip++;
    if (k >= skip + 2 && strcmp(*line + k - 2, "*/") == 0) k -= 2;
    while (k > skip && (*line)[k - 1] == ' ') k--;
    if (k > skip || (line > from && strcmp(*line, "*/") != 0))
      used += (size_t)snprintf(text + used, sizeof text - used, "%.*s\n", (int)(k - (k > skip ? skip : k)),
                               *line + (k > skip ? skip : k));
  }
  n = pages_cut(text, lines, 200);
  pages_sentence(lines, n, about, sizeof about);
  if (!pages_begin(&o, dir, name, 3, about)) return 0;
  fputs(".SH SYNOPSIS\n.nf\n#include <mpi.h>\n#include \"scr.h\"\n.PP\n", o.out);
  for (; line != end; line++) {
    if (strncmp(*line, "SCR_API ", 8) != 0) continue;
    snprintf(text_of_call, sizeof text_of_call, "%.*s);", (int)(strcspn(*line, ")")) - 8, *line + 8);
    manual_raw(&o, text_of_call);
    fputc('\n', o.out);
  }
  fputs(".fi\n.SH DESCRIPTION\n", o.out);
  o.fresh = 1;
  pages_lines(&o, lines, n);
  return pages_end(&o, ".BR scr (7)");
}

#endif
