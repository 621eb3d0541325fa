/* scr_report - what the runs of a job did with their time, from log and index, as text or as one page.  No MPI. */
#include "tool.h"

static const char report_usage[] =
    "scr_report [OPTIONS] [DIR]\n"
    "Tell what the runs on the prefix directory DIR did with their time, from the log, written with SCR_LOG_ENABLE=1, "
    "and\n"
    "the index: runs, failures, checkpoints, flushes and restarts, bandwidths, the time that they and lost work took, "
    "the\n"
    "time between the runs, which nodes failed, and why runs were halted.\n"
    "\n"
    "  -o, --output FILE   write a page of HTML, which needs nothing but a browser; - for stdout\n"
    "  -f, --logfile FILE  another log than <prefix>/.scr/log\n"
    "  -h, --help          print this and exit;  --version  print the version and exit\n"
    "\n"
    "Without --output a summary is printed as text.  The default of DIR is SCR_PREFIX, or else the working directory.\n"
    "Exit 0, or 1 if there is an error.\n";

/* ---- what is read ---- */

/* What a run spends time on, or does behind the application's back. */
enum { REPORT_INIT, REPORT_CHECKPOINT, REPORT_OUTPUT, REPORT_FLUSH, REPORT_BEHIND, REPORT_KINDS };

static const char* const report_kinds[REPORT_KINDS] = {"start and restart", "checkpoints", "output", "flushes",
                                                       "asynchronous flushes"};

typedef struct {
  int    kind, failed, dataset;
  double begin, end; /* seconds since the run began */
  char   name[80];   /* of the dataset */
} report_span;

typedef enum { REPORT_OPEN, REPORT_ENDED, REPORT_HALTED, REPORT_FAILED } report_fate;

static const char* const report_fates[] = {"no end in the log", "ended", "halted", "failed"};

typedef struct {
  int64_t      begin, last;
  double       safe; /* seconds after which the last complete checkpoint was */
  report_fate  fate;
  char         job[80], host[80], why[200];
  int          procs, nodes, restarted, checkpoints;
  int          unsure; /* 1: it may have lasted longer */
  report_span* span;
  int          spans;
} report_run;

enum { REPORT_TO_CACHE, REPORT_SYNC, REPORT_ASYNC, REPORT_FETCH, REPORT_TRANSFERS };

static const struct {
  const char *type, *text;
} report_transfers[REPORT_TRANSFERS] = {{"CHECKPOINT", "checkpoints to the cache"},
                                        {"FLUSH_SYNC", "flushes to the prefix"},
                                        {"FLUSH_ASYNC", "asynchronous flushes"},
                                        {"FETCH", "fetches from the prefix"}};

typedef struct {
  double  bytes, seconds;
  int64_t when; /* it ended */
} report_copy;

#define REPORT_COUNTS 1000 /* nodes, and reasons of halts, that are counted one by one */

/* What happened several times: a node failed, or runs were halted for a reason. */
typedef struct {
  char    what[200], why[200]; /* the node and the reason of the last time, or the reason and "" */
  int     times;
  int64_t last;
} report_count;

typedef struct {
  report_count* count;
  int           n;
} report_counts;

typedef struct {
  report_run*   run;
  int           runs;
  report_copy*  copy[REPORT_TRANSFERS];
  int           copies[REPORT_TRANSFERS];
  scr_log_runs  told;
  report_counts nodes, halts;
  int           failed; /* no memory */
} report_all;

/* The seconds of all runs, and what they were spent on. */
typedef struct {
  double all, kind[REPORT_KINDS], lost;
  double idle, whole; /* between the runs, and from the begin of the first to the end of the last */
  int    failures;
} report_sum;

/* The run that the log tells of now, or NULL. */
static report_run* report_now(report_all* a)
{
  return a->runs > 0 ? &a->run[a->runs - 1] : NULL;
}

/* The number KEY of LINE as an int, the nearest one; -1 if there is none. */
static int report_int(const char* line, const char* key)
{
  double v = scr_log_number(line, key);

  return v < INT_MAX ? (v > -1 ? (int)v : -1) : INT_MAX;
}

/* A run begins with LINE at WHEN. */
static void report_begin(report_all* a, const char* line, int64_t when)
{
  report_run* r;

  if (!scr_grow(&a->run, a->runs, sizeof *a->run)) {
    a->failed = 1;
    return;
  }
  r = &a->run[a->runs++];
  memset(r, 0, sizeof *r);
  r->begin = r->last = when;
  scr_log_value(line, "jobid", r->job, sizeof r->job);
  scr_log_value(line, "host", r->host, sizeof r->host);
  r->procs = report_int(line, "procs");
  r->nodes = report_int(line, "nodes");
}

/* The kind of time that EVENT ends, -1 if it ends none; *FAILED is 1 if it failed. */
static int report_kind_of(const char* event, int* failed)
{
  static const struct {
    const char* event;
    int         kind, failed;
  } ends[] = {{"INIT_END", REPORT_INIT, 0},
              {"CHECKPOINT_END", REPORT_CHECKPOINT, 0},
              {"CHECKPOINT_FAIL", REPORT_CHECKPOINT, 1},
              {"OUTPUT_END", REPORT_OUTPUT, 0},
              {"OUTPUT_FAIL", REPORT_OUTPUT, 1},
              {"FLUSH_SUCCESS", REPORT_FLUSH, 0},
              {"FLUSH_FAIL", REPORT_FLUSH, 1},
              {"ASYNC_FLUSH_SUCCESS", REPORT_BEHIND, 0},
              {"ASYNC_FLUSH_FAIL", REPORT_BEHIND, 1}};
  size_t i;

  for (i = 0; i < sizeof ends / sizeof *ends; i++) {
    if (strcmp(ends[i].event, event) != 0) continue;
    *failed = ends[i].failed;
    return ends[i].kind;
  }
  return -1;
}

/* EVENT in LINE, at WHEN, ends what took some time in the run R. */
static void report_add_span(report_all* a, report_run* r, const char* line, const char* event, int64_t when)
{
  double       secs = scr_log_number(line, "secs");
  int          failed = 0, kind = report_kind_of(event, &failed);
  report_span* s;

  if (kind < 0 || secs < 0) return;
  if (!scr_grow(&r->span, r->spans, sizeof *r->span)) {
    a->failed = 1;
    return;
  }
  s = &r->span[r->spans++];
  memset(s, 0, sizeof *s);
  s->kind = kind;
  s->failed = failed;
  s->end = when > r->begin ? (double)(when - r->begin) : 0;
  if (s->end < secs && kind == REPORT_INIT) s->end = secs;
  s->begin = s->end > secs ? s->end - secs : 0;
  s->dataset = report_int(line, "dset");
  scr_log_value(line, "name", s->name, sizeof s->name);
  if (kind == REPORT_CHECKPOINT && !failed) {
    r->safe = s->end;
    r->checkpoints++;
  }
}

/*
** WHAT happened at WHEN, and why if WHY is not "".  What is new after REPORT_COUNTS is counted with the last one, as
** others.
*/
static void report_add_count(report_all* a, report_counts* l, const char* what, const char* why, int64_t when)
{
  report_count* c;
  int           i;

  for (i = 0; i < l->n && strcmp(l->count[i].what, what) != 0; i++) continue;
  if (i == REPORT_COUNTS) what = "others", i--;
  if (i == l->n && !scr_grow(&l->count, l->n, sizeof *l->count)) {
    a->failed = 1;
    return;
  }
  c = &l->count[i];
  if (i == l->n) {
    memset(c, 0, sizeof *c);
    l->n++;
  }
  snprintf(c->what, sizeof c->what, "%s", what);
  snprintf(c->why, sizeof c->why, "%s", why);
  c->times++;
  c->last = when;
}

/* LINE tells that a node failed at WHEN: its note is `<node>: <reason>`. */
static void report_add_node(report_all* a, const char* line, int64_t when)
{
  char  node[200];
  char* why;

  if (!scr_log_value(line, "note", node, sizeof node)) return;
  if ((why = strstr(node, ": ")) != NULL) *why = '\0', why += 2;
  report_add_count(a, &a->nodes, node, why != NULL ? why : "", when);
}

/* Read LINE of the log, which was written at WHEN. */
static void report_visit(const char* line, int64_t when, void* arg)
{
  report_all* a = (report_all*)arg;
  report_run* r;
  char        word[64];
  int         i;

  if (scr_log_value(line, "event", word, sizeof word)) {
    int runs = a->told.runs, failed = scr_log_runs_add(&a->told, line, word, when);
    if (a->told.runs > runs && (r = report_now(a)) != NULL) {
      if (failed) r->fate = REPORT_FAILED;
      r->last = a->told.end;
      r->unsure = a->told.unsure;
    }
    if (strcmp(word, "START") == 0) report_begin(a, line, when);
    if (strcmp(word, "NODE_FAIL") == 0) report_add_node(a, line, when);
    if ((r = report_now(a)) == NULL || a->told.begin == 0) return; /* a line between two runs */
    r->last = a->told.last;
    if (strcmp(word, "RESTART_SUCCESS") == 0) r->restarted = 1;
    if (strcmp(word, "END") == 0 && r->fate == REPORT_OPEN) r->fate = REPORT_ENDED;
    if (strcmp(word, "HALT") == 0) {
      r->fate = REPORT_HALTED;
      scr_log_value(line, "note", r->why, sizeof r->why);
      report_add_count(a, &a->halts, r->why, "", when);
    }
    report_add_span(a, r, line, word, when);
  } else if (scr_log_value(line, "xfer", word, sizeof word)) {
    for (i = 0; i < REPORT_TRANSFERS; i++) {
      report_copy c = {scr_log_number(line, "bytes"), scr_log_number(line, "secs"), when};
      if (strcmp(word, report_transfers[i].type) != 0 || c.bytes <= 0 || c.seconds <= 0) continue;
      if (!scr_grow(&a->copy[i], a->copies[i], sizeof c)) a->failed = 1;
      else a->copy[i][a->copies[i]++] = c;
    }
  }
}

static void report_free(report_all* a)
{
  int i;

  for (i = 0; i < a->runs; i++) scr_free(&a->run[i].span);
  for (i = 0; i < REPORT_TRANSFERS; i++) scr_free(&a->copy[i]);
  scr_free(&a->run);
  scr_free(&a->nodes.count);
  scr_free(&a->halts.count);
}

static double report_length(const report_run* r)
{
  return r->last > r->begin ? (double)(r->last - r->begin) : 0;
}

/* The work of R that was lost: what it computed after its last checkpoint, if it did not end by itself. */
static double report_lost(const report_all* a, const report_run* r)
{
  int over = r->fate == REPORT_FAILED || (r->fate == REPORT_OPEN && r != &a->run[a->runs - 1]);

  return over && report_length(r) > r->safe ? report_length(r) - r->safe : 0;
}

static void report_add_up(const report_all* a, report_sum* s)
{
  int64_t end = 0;
  int     i, k;

  memset(s, 0, sizeof *s);
  for (i = 0; i < a->runs; i++) {
    const report_run* r = &a->run[i];
    if (i > 0 && r->begin > end) s->idle += (double)(r->begin - end);
    if (i == 0 || r->last > end) end = r->last;
    s->all += report_length(r);
    s->lost += report_lost(a, r);
    s->failures += r->fate == REPORT_FAILED;
    for (k = 0; k < r->spans; k++)
      if (r->span[k].end <= r->safe || report_lost(a, r) <= 0) /* else it is part of the lost time */
        s->kind[r->span[k].kind] += r->span[k].end - r->span[k].begin;
  }
  if (a->runs > 0 && end > a->run[0].begin) s->whole = (double)(end - a->run[0].begin);
}

/* What is left of the time of S for computation. */
static double report_useful(const report_sum* s)
{
  double t = s->all - s->lost;
  int    k;

  for (k = 0; k < REPORT_BEHIND; k++) t -= s->kind[k];
  return t > 0 ? t : 0;
}

static int report_compare(const void* x, const void* y)
{
  const report_copy *a = (const report_copy*)x, *b = (const report_copy*)y;
  double             p = a->bytes / a->seconds, q = b->bytes / b->seconds;

  return p < q ? -1 : p > q;
}

/* The bandwidths of transfers of KIND in bytes a second: the least, the median and the greatest. */
static void report_rates(const report_all* a, int kind, double rates[3])
{
  int          n = a->copies[kind];
  report_copy* c = (report_copy*)scr_malloc((size_t)(n + 1) * sizeof *c);

  rates[0] = rates[1] = rates[2] = 0;
  if (c == NULL || n == 0) {
    free(c);
    return;
  }
  memcpy(c, a->copy[kind], (size_t)n * sizeof *c);
  qsort(c, (size_t)n, sizeof *c, report_compare);
  rates[0] = c[0].bytes / c[0].seconds;
  rates[1] = c[n / 2].bytes / c[n / 2].seconds;
  rates[2] = c[n - 1].bytes / c[n - 1].seconds;
  free(c);
}

/* ---- as text ---- */

static void report_share(const char* what, double seconds, const report_sum* s)
{
  printf("  %-26s%12.1f s  %5.1f %%\n", what, seconds, s->all > 0 ? 100 * seconds / s->all : 0);
}

/* Print L, whose lines TITLE stands above; nothing if it is empty. */
static void report_print_counts(const report_counts* l, const char* title)
{
  char when[32];
  int  i;

  if (l->n > 0) printf("%-28s%9s  %s\n", title, "times", "last time");
  for (i = 0; i < l->n; i++) {
    const report_count* c = &l->count[i];
    scr_time_string((time_t)c->last, when, sizeof when);
    printf("  ");
    tool_print(c->what);
    printf("%*d  %s%s", (int)(strlen(c->what) < 26 ? 35 - strlen(c->what) : 9), c->times, when, *c->why ? "  " : "");
    tool_print_line(c->why);
  }
}

static void report_print(const report_all* a, const char* prefix)
{
  report_sum s;
  double     rates[3];
  int        k, ended = 0, unsure = 0;

  report_add_up(a, &s);
  for (k = 0; k < a->runs; k++) ended += a->run[k].fate == REPORT_ENDED || a->run[k].fate == REPORT_HALTED;
  printf("Runs on ");
  tool_print(prefix);
  printf(": %d, of which %d ended by themselves and %d failed\n", a->runs, ended, s.failures);
  if (s.failures > 0) printf("Mean time between failures: %.0f s\n", s.all / s.failures);
  printf("Time of all runs\n");
  report_share("computation that counts", report_useful(&s), &s);
  for (k = 0; k < REPORT_BEHIND; k++) report_share(report_kinds[k], s.kind[k], &s);
  report_share("work lost in failures", s.lost, &s);
  report_share("all", s.all, &s);
  for (k = 0; k < a->runs; k++) unsure += a->run[k].unsure;
  if (a->runs > 1)
    printf("Idle between the runs: %.1f s, %.1f %% of the time from the begin of the first to the end of the last\n",
           s.idle, s.whole > 0 ? 100 * s.idle / s.whole : 0);
  if (unsure > 0)
    printf(
        "When %d of the runs ended is not known: the time between failures and the lost work are at least these, and\n"
        "the idle time at most this.\n",
        unsure);
  printf("Transfers                       count       MB/s: least     median   greatest\n");
  for (k = 0; k < REPORT_TRANSFERS; k++) {
    report_rates(a, k, rates);
    printf("  %-26s%9d %17.1f %10.1f %10.1f\n", report_transfers[k].text, a->copies[k], rates[0] / 1e6, rates[1] / 1e6,
           rates[2] / 1e6);
  }
  report_print_counts(&a->nodes, "Nodes that failed");
  report_print_counts(&a->halts, "Runs that were halted");
}

/* ---- as a page ---- */

#define REPORT_ROWS   100  /* runs that are drawn, the newest */
#define REPORT_LISTED 50   /* datasets of the index that are listed */
#define REPORT_WIDTH  1000 /* of a drawing, in its own units */

/* Print TEXT, from a file, into the page F. */
static void report_text(FILE* f, const char* text)
{
  const unsigned char* s = (const unsigned char*)text;

  while (*s != '\0') {
    int n = scr_utf8_length(s);
    if (*s == '&') fputs("&amp;", f);
    else if (*s == '<') fputs("&lt;", f);
    else if (*s == '>') fputs("&gt;", f);
    else if (*s == '"') fputs("&quot;", f);
    else if (n == 0 || *s < 0x20 || *s == 0x7f) putc('?', f);
    else fprintf(f, "%.*s", n, (const char*)s);
    s += n > 0 ? n : 1;
  }
}

static void report_span_text(FILE* f, double seconds)
{
  if (seconds < 120) fprintf(f, "%.3g s", seconds);
  else if (seconds < 7200) fprintf(f, "%.0f min", seconds / 60);
  else if (seconds < 172800) fprintf(f, "%.1f h", seconds / 3600);
  else fprintf(f, "%.1f days", seconds / 86400);
}

/* Print a bandwidth of RATE bytes a second. */
static void report_rate_text(FILE* f, double rate)
{
  static const char* const units[] = {"kB", "MB", "GB", "TB"};
  int                      i = 0;

  for (rate /= 1000; rate >= 1000 && i < 3; i++) rate /= 1000;
  fprintf(f, "%.*f %s/s", rate < 10 ? 2 : rate < 100 ? 1 : 0, rate, units[i]);
}

static const char report_style[] =
    ":root{--bg:#fff;--fg:#1c2530;--soft:#5b6773;--line:#d9dee4;--card:#f5f7f9;--work:#b9d4ee;--k0:#8a63c7;--k1:#"
    "e08a00;"
    "--k2:#b5a300;--k3:#0b8f7a;--k4:#45b5d0;--lost:#d03a3a}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#12171d;--fg:#e6eaef;--soft:#9aa6b2;--line:#313a45;--card:#1a212a;"
    "--work:#2f5478;--k0:#a98be0;--k1:#f0a030;--k2:#d6c840;--k3:#2bb89f;--k4:#6fd0ea;--lost:#f06060}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;padding:1.2rem;max-width:76rem;background:var(--bg);color:var(--fg);"
    "font:15px/1.45 system-ui,sans-serif;color-scheme:light dark}h1{font-size:1.45rem;margin:.2rem "
    "0;overflow-wrap:anywhere}"
    "h2{font-size:1.1rem;margin:1.8rem 0 .5rem}p{margin:.3rem 0}.soft{color:var(--soft)}svg{display:block;width:100%}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;margin:1rem 0}.tiles "
    "div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.5rem .7rem}.tiles "
    "b{display:block;font-size:1.35rem}\n"
    ".key{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.4rem 0}.key "
    "i{display:inline-block;width:.8rem;height:.8rem;border-radius:.2rem;margin-right:.35rem}\n"
    ".row{display:grid;grid-template-columns:17rem 1fr;gap:.2rem .7rem;align-items:center;margin:.2rem 0}.row "
    "span{overflow-wrap:anywhere;font-size:.82rem}.axis{display:flex;justify-content:space-between;font-size:.8rem}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{text-"
    "align:"
    "right;padding:.25rem .6rem;border-bottom:1px solid "
    "var(--line);white-space:nowrap}th:first-child,td:first-child{text-"
    "align:left}th{color:var(--soft);font-weight:600}td.name{white-space:normal;overflow-wrap:anywhere;min-width:9rem}"
    "\n"
    ".plot{display:grid;grid-template-columns:5.2rem 1fr;gap:.1rem .5rem}.plot .axis{grid-column:2}.scale{display:flex;"
    "flex-direction:column;justify-content:space-between;align-items:flex-end;font-size:.75rem;line-height:12px;white-"
    "space:nowrap}\n"
    "@media(max-width:46rem){.row{grid-template-columns:1fr;margin:.6rem 0}body{padding:.7rem}}\n"
    "@media print{body{max-width:none}}\n";

static void report_key(FILE* f, const char* color, const char* text)
{
  fprintf(f, "<span><i style=\"background:var(--%s)\"></i>%s</span>\n", color, text);
}

static void report_keys(FILE* f)
{
  char color[8];
  int  k;

  fprintf(f, "<div class=\"key\">\n");
  report_key(f, "work", "computation");
  for (k = 0; k < REPORT_KINDS; k++) {
    snprintf(color, sizeof color, "k%d", k);
    report_key(f, color, report_kinds[k]);
  }
  report_key(f, "lost", "work lost in a failure, or what failed");
  fprintf(f, "</div>\n");
}

static void report_rect(FILE* f, double x, double width, double y, double height, const char* color)
{
  fprintf(f, "<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%g\" fill=\"var(--%s)\"", x, y, width, height, color);
}

/*
** Draw the spans of R, where SCALE units are a second.  Those of a kind that are closer than half a unit are drawn as
** one: a run with many of them must not make a page that no browser bears.
*/
static void report_draw_spans(FILE* f, const report_run* r, double scale)
{
  char color[8];
  int  i, k, n;

  for (k = 0; k < REPORT_KINDS; k++)
    for (i = 0; i < r->spans; i += n) {
      const report_span* s = &r->span[i];
      double             x = s->begin * scale, end = s->end * scale;
      int                many = 1, behind = k == REPORT_BEHIND;
      n = 1;
      if (s->kind != k) continue;
      if (end < x + 1) end = x + 1;
      for (; i + n < r->spans && !s->failed; n++) {
        const report_span* next = &r->span[i + n];
        if (next->kind != k) continue;
        if (next->failed || next->begin * scale > end + 0.5) break;
        if (next->end * scale > end) end = next->end * scale;
        many++;
      }
      snprintf(color, sizeof color, "k%d", k);
      report_rect(f, x, end - x, behind ? 22 : 2, behind ? 5 : 18, s->failed ? "lost" : color);
      fprintf(f, "><title>%s: ", report_kinds[k]);
      if (many > 1) fprintf(f, "%d of them", many);
      else {
        report_text(f, *s->name ? s->name : "");
        fprintf(f, " %.3f s%s", s->end - s->begin, s->failed ? ", failed" : "");
      }
      fprintf(f, "</title></rect>");
    }
}

static void report_draw_run(FILE* f, const report_all* a, const report_run* r, double longest)
{
  double scale = longest > 0 ? REPORT_WIDTH / longest : 0, lost = report_lost(a, r), length = report_length(r);
  char   when[32];

  scr_time_string((time_t)r->begin, when, sizeof when);
  fprintf(f, "<div class=\"row\"><span>%s%s, job ", when, r->restarted ? " &#8635;" : "");
  report_text(f, r->job);
  fprintf(f, ", %d ranks: %s", r->procs, report_fates[r->fate]);
  if (*r->why) {
    fprintf(f, ", ");
    report_text(f, r->why);
  }
  fprintf(f, " after ");
  report_span_text(f, length);
  fprintf(f, "</span>\n<svg viewBox=\"0 0 %d 28\" height=\"28\" preserveAspectRatio=\"none\" role=\"img\">",
          REPORT_WIDTH);
  report_rect(f, 0, length * scale > 1 ? length * scale : 1, 2, 18, "work");
  fprintf(f, "/>");
  if (lost > 0) {
    report_rect(f, (length - lost) * scale, lost * scale > 1 ? lost * scale : 1, 2, 18, "lost");
    fprintf(f, "><title>lost: ");
    report_span_text(f, lost);
    fprintf(f, "</title></rect>");
  }
  report_draw_spans(f, r, scale);
  if (r->fate == REPORT_FAILED) { /* its end, so that a failure without lost work shows too */
    report_rect(f, length * scale > 3 ? length * scale - 3 : 0, 3, 0, 28, "lost");
    fprintf(f, "/>");
  }
  fprintf(f, "</svg></div>\n");
}

static void report_draw_runs(FILE* f, const report_all* a)
{
  double longest = 0;
  int    i, first = a->runs > REPORT_ROWS ? a->runs - REPORT_ROWS : 0;

  fprintf(f, "<h2>Runs</h2>\n");
  if (first > 0) fprintf(f, "<p class=\"soft\">The newest %d of %d.</p>\n", REPORT_ROWS, a->runs);
  report_keys(f);
  for (i = first; i < a->runs; i++)
    if (report_length(&a->run[i]) > longest) longest = report_length(&a->run[i]);
  for (i = a->runs - 1; i >= first; i--) report_draw_run(f, a, &a->run[i], longest);
  fprintf(f, "<div class=\"row\"><span></span><div class=\"axis soft\"><span>0</span><span>");
  report_span_text(f, longest / 2);
  fprintf(f, "</span><span>");
  report_span_text(f, longest);
  fprintf(f, "</span></div></div>\n<p class=\"soft\">&#8635; restarted from a checkpoint</p>\n");
}

/* Print the time WHEN, to the minute. */
static void report_when(FILE* f, int64_t when)
{
  char text[32];

  scr_time_string((time_t)when, text, sizeof text);
  fprintf(f, "<span>%.10s %.5s</span>", text, strlen(text) > 11 ? text + 11 : "");
}

/* Draw when runs went on, from the first to the last, and the time between them. */
static void report_draw_calendar(FILE* f, const report_all* a, const report_sum* s)
{
  double  scale = s->whole > 0 ? REPORT_WIDTH / s->whole : 0, x, end, idle = 0;
  int64_t first = a->run[0].begin, last = first;
  int     i, n;

  fprintf(f,
          "<h2>When it ran</h2>\n<svg viewBox=\"0 0 %d 28\" height=\"28\" preserveAspectRatio=\"none\" role=\"img\">",
          REPORT_WIDTH);
  report_rect(f, 0, REPORT_WIDTH, 10, 2, "line");
  fprintf(f, "/>");
  for (i = 0; i < a->runs; i += n) {
    const report_run* r = &a->run[i];
    int               failed = r->fate == REPORT_FAILED;
    x = r->begin > first ? (double)(r->begin - first) * scale : 0;
    end = x + report_length(r) * scale;
    for (n = 1; i + n < a->runs && (double)(a->run[i + n].begin - first) * scale < end + 0.5; n++) {
      if ((double)(a->run[i + n].last - first) * scale > end) end = (double)(a->run[i + n].last - first) * scale;
      failed |= a->run[i + n].fate == REPORT_FAILED;
    }
    if (r->begin > last && (double)(r->begin - last) > idle) idle = (double)(r->begin - last);
    last = first + (int64_t)(scale > 0 ? end / scale : 0);
    report_rect(f, x, end - x > 1 ? end - x : 1, 2, 18, "work");
    fprintf(f, "><title>%d run%s", n, SCR_S(n));
    if (failed) fprintf(f, ", with failures");
    fprintf(f, "</title></rect>");
    if (!failed) continue;
    report_rect(f, end > 3 ? end - 3 : 0, 3, 0, 28, "lost");
    fprintf(f, "/>");
  }
  fprintf(f, "</svg>\n<div class=\"axis soft\">");
  for (i = 0; i <= 4; i++) report_when(f, first + (int64_t)(s->whole * i / 4));
  fprintf(f, "</div>\n<p class=\"soft\">No run for ");
  report_span_text(f, s->idle);
  fprintf(f, ", %.1f %% of this time; the longest gap is ", s->whole > 0 ? 100 * s->idle / s->whole : 0);
  report_span_text(f, idle);
  fprintf(f, ". Red: a run failed.</p>\n");
}

/* The top of a scale that has RATE on it: 1, 2 or 5 times a power of ten. */
static double report_top(double rate)
{
  double p = 1;

  while (p * 10 <= rate && p < 1e300) p *= 10;
  return rate <= p ? p : rate <= 2 * p ? 2 * p : rate <= 5 * p ? 5 * p : 10 * p;
}

/* Draw the bandwidths of transfers of KIND in the order of the log, many as a bar from the least to the greatest. */
static void report_draw_rates(FILE* f, const report_all* a, int kind)
{
  double      rates[3], top, low, high, rate;
  const char* color = kind == REPORT_TO_CACHE ? "k1" : kind == REPORT_SYNC ? "k3" : kind == REPORT_ASYNC ? "k4" : "k0";
  int         n = a->copies[kind], bins = n < 250 ? n : 250, b, i;

  report_rates(a, kind, rates);
  top = report_top(rates[2]);
  fprintf(f, "<div class=\"row\"><span>%s: %d, at most ", report_transfers[kind].text, n);
  report_rate_text(f, rates[2]);
  fprintf(f, ", median ");
  report_rate_text(f, rates[1]);
  fprintf(f, "</span>\n<div class=\"plot\"><div class=\"scale soft\"><span>");
  report_rate_text(f, top);
  fprintf(f, "</span><span>");
  report_rate_text(f, top / 2);
  fprintf(f,
          "</span><span>0</span></div><svg viewBox=\"0 0 %d 84\" height=\"84\" preserveAspectRatio=\"none\" "
          "role=\"img\"><path d=\"M0 6H%dM0 42H%dM0 78H%d\" stroke=\"var(--line)\" "
          "vector-effect=\"non-scaling-stroke\"/><path d=\"",
          REPORT_WIDTH, REPORT_WIDTH, REPORT_WIDTH, REPORT_WIDTH);
  for (b = 0; b < bins; b++) {
    int from = (int)((int64_t)b * n / bins), to = (int)((int64_t)(b + 1) * n / bins);
    low = high = a->copy[kind][from].bytes / a->copy[kind][from].seconds;
    for (i = from + 1; i < to; i++) {
      rate = a->copy[kind][i].bytes / a->copy[kind][i].seconds;
      if (rate < low) low = rate;
      if (rate > high) high = rate;
    }
    fprintf(f, "M%.1f %.1fV%.1f", (b + 0.5) * REPORT_WIDTH / bins, 78 - 72 * low / top, 77.9 - 72 * high / top);
  }
  fprintf(f,
          "\" fill=\"none\" stroke=\"var(--%s)\" stroke-width=\"3\" stroke-linecap=\"round\" "
          "vector-effect=\"non-scaling-stroke\"/></svg><div class=\"axis soft\">",
          color);
  report_when(f, a->copy[kind][0].when);
  if (n > 1) report_when(f, a->copy[kind][n - 1].when);
  fprintf(f, "</div></div></div>\n");
}

/* One part of the bar that shows what the time was spent on; *X is where it begins. */
static void report_draw_share(FILE* f, const char* color, const char* what, double seconds, const report_sum* s,
                              double* x)
{
  double width = s->all > 0 ? REPORT_WIDTH * seconds / s->all : 0;

  if (width <= 0) return;
  report_rect(f, *x, width, 0, 34, color);
  fprintf(f, "><title>%s: %.1f %%</title></rect>", what, 100 * seconds / s->all);
  *x += width;
}

static void report_draw_time(FILE* f, const report_sum* s)
{
  double x = 0;
  char   color[8];
  int    k;

  fprintf(f,
          "<h2>Where the time went</h2>\n<svg viewBox=\"0 0 %d 34\" height=\"34\" preserveAspectRatio=\"none\" "
          "role=\"img\">",
          REPORT_WIDTH);
  report_draw_share(f, "work", "computation that counts", report_useful(s), s, &x);
  for (k = 0; k < REPORT_BEHIND; k++) {
    snprintf(color, sizeof color, "k%d", k);
    report_draw_share(f, color, report_kinds[k], s->kind[k], s, &x);
  }
  report_draw_share(f, "lost", "work lost in failures", s->lost, s, &x);
  fprintf(f, "</svg>\n<div class=\"scroll\"><table><tr><th></th><th>seconds</th><th>share</th></tr>\n");
  for (k = -1; k <= REPORT_BEHIND; k++) {
    double seconds = k < 0 ? report_useful(s) : k == REPORT_BEHIND ? s->lost : s->kind[k];
    fprintf(f, "<tr><td>%s</td><td>%.1f</td><td>%.1f %%</td></tr>\n",
            k < 0                ? "computation that counts"
            : k == REPORT_BEHIND ? "work lost in failures"
                                 : report_kinds[k],
            seconds, s->all > 0 ? 100 * seconds / s->all : 0);
  }
  fprintf(f, "</table></div>\n");
}

/* List the newest datasets of the index of PREFIX. */
static void report_list(FILE* f, const char* prefix)
{
  scr_index      index;
  scr_index_item it;
  int            n = 0;

  fprintf(f, "<h2>On the prefix</h2>\n");
  if (scr_index_read(&index, prefix) != SCR_SUCCESS) {
    fprintf(f, "<p>The index cannot be read: ");
    report_text(f, scr_err_text);
    fprintf(f, "</p>\n");
  } else {
    scr_index_sort(&index);
    memset(&it, 0, sizeof it);
    while (scr_index_walk(&index, &it)) {
      if (++n > REPORT_LISTED) continue;
      if (n == 1)
        fprintf(f, "<div class=\"scroll\"><table><tr><th>name</th><th>id</th><th>kind</th><th>MB</th><th>files</th>"
                   "<th>flushed</th><th>state</th></tr>\n");
      fprintf(f, "<tr><td class=\"name\">");
      report_text(f, *it.desc.name ? it.desc.name : it.dir);
      fprintf(f, "</td><td>%d</td><td>%s</td><td>%.1f</td><td>%d</td><td>", it.id,
              scr_desc_is_ckpt(&it.desc) ? "checkpoint" : "output", (double)it.desc.bytes / 1e6, it.desc.files);
      report_text(f, it.flushed != NULL ? it.flushed : "");
      fprintf(f, "</td><td>%s</td></tr>\n", !it.complete ? "incomplete" : it.failed ? "rejected" : "complete");
    }
    if (n > 0) fprintf(f, "</table></div>\n");
    if (n == 0) fprintf(f, "<p>Nothing.</p>\n");
    if (n > REPORT_LISTED) fprintf(f, "<p class=\"soft\">And %d older ones.</p>\n", n - REPORT_LISTED);
  }
  scr_index_close(&index, SCR_SUCCESS, 0);
}

/* List L under TITLE, unless it is empty. */
static void report_list_counts(FILE* f, const report_counts* l, const char* title)
{
  char when[32];
  int  i;

  if (l->n == 0) return;
  fprintf(f, "<h2>%s</h2>\n<div class=\"scroll\"><table><tr><th></th><th>times</th><th>last time</th><th></th></tr>\n",
          title);
  for (i = 0; i < l->n; i++) {
    scr_time_string((time_t)l->count[i].last, when, sizeof when);
    fprintf(f, "<tr><td class=\"name\">");
    report_text(f, l->count[i].what);
    fprintf(f, "</td><td>%d</td><td>%s</td><td>", l->count[i].times, when);
    report_text(f, l->count[i].why);
    fprintf(f, "</td></tr>\n");
  }
  fprintf(f, "</table></div>\n");
}

/* VALUE with its UNIT; NULL: seconds. */
static void report_tile(FILE* f, int decimals, double value, const char* unit, const char* what)
{
  fprintf(f, "<div><b>");
  if (unit != NULL) fprintf(f, "%.*f%s", decimals, value, unit);
  else report_span_text(f, value);
  fprintf(f, "</b>%s</div>\n", what);
}

/* Write the page. */
static void report_page(FILE* f, const report_all* a, const char* prefix)
{
  report_sum s;
  int        k, checkpoints = 0, copies = 0;

  report_add_up(a, &s);
  for (k = 0; k < a->runs; k++) checkpoints += a->run[k].checkpoints;
  fprintf(f, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
             "content=\"width=device-width,initial-scale=1\">\n<title>SCR: ");
  report_text(f, prefix);
  fprintf(f, "</title>\n<style>\n%s</style></head><body>\n<p class=\"soft\">Checkpoints and restarts of</p><h1>",
          report_style);
  report_text(f, prefix);
  fprintf(f, "</h1>\n<div class=\"tiles\">\n");
  report_tile(f, 0, a->runs, "", a->runs == 1 ? "run" : "runs");
  report_tile(f, 0, s.failures, "", s.failures == 1 ? "failure" : "failures");
  report_tile(f, 0, checkpoints, "", checkpoints == 1 ? "checkpoint" : "checkpoints");
  report_tile(f, 0, s.all, NULL, "in all runs");
  if (s.failures > 0) report_tile(f, 0, s.all / s.failures, NULL, "between failures");
  if (a->runs > 1) report_tile(f, 0, s.idle, NULL, "between the runs");
  report_tile(f, 1, s.all > 0 ? 100 * report_useful(&s) / s.all : 0, " %", "computation that counts");
  fprintf(f, "</div>\n");
  report_draw_time(f, &s);
  if (a->runs > 1) report_draw_calendar(f, a, &s);
  report_draw_runs(f, a);
  report_list_counts(f, &a->nodes, "Nodes that failed");
  report_list_counts(f, &a->halts, "Runs that were halted");
  fprintf(f, "<h2>Bandwidths</h2>\n");
  for (k = 0; k < REPORT_TRANSFERS; k++) {
    if (a->copies[k] > 0) report_draw_rates(f, a, k);
    copies += a->copies[k];
  }
  if (copies == 0) fprintf(f, "<p>Nothing was copied.</p>\n");
  else
    fprintf(f,
            "<p class=\"soft\">In the order of the log; where there are many, from the least to the greatest.</p>\n");
  report_list(f, prefix);
  fprintf(f, "<p class=\"soft\">%s</p>\n</body></html>\n", SCR_VERSION);
}

/*
** Write the page to OUTPUT, which may be in a directory that others can write to: no link there is followed, and
** nothing is waited for.  A file that cannot be completed is removed again.
*/
static int report_write(const report_all* a, const char* prefix, const char* output)
{
  char        path[SCR_MAX_FILENAME]; /* the whole one, of which the fence sees whether it is in the prefix */
  int         bad, fd = -1, out = strcmp(output, "-") == 0, rc = SCR_SUCCESS;
  FILE*       f = out ? stdout : NULL;
  struct stat st;

  if (!out && (rc = scr_path_reduce_str(output, path, sizeof path)) != SCR_SUCCESS) return rc;
  if (!out) fd = scr_os.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (fd >= 0) f = fdopen(fd, "w");
  if (fd >= 0) fcntl(fd, F_SETFL, 0); /* who reads a FIFO may be slow */
  if (f == NULL) return SCR_ERRNO("cannot create %s", path);
  report_page(f, a, prefix);
  bad = fflush(f) != 0 || ferror(f);
  if (f != stdout && fclose(f) != 0) bad = 1;
  if (!bad) return SCR_SUCCESS;
  SCR_ERRNO("cannot write %s", out ? output : path);
  if (f != stdout && lstat(path, &st) == 0 && S_ISREG(st.st_mode)) remove(path);
  return SCR_ERR_IO;
}

SCR_FN int report_main(int argc, char** argv)
{
  static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                          {"logfile", required_argument, NULL, 'f'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char *               prefix, *log = NULL, *output = NULL;
  char                       path[SCR_MAX_FILENAME];
  report_all                 a;
  int                        c, rc;

  while ((c = getopt_long(argc, argv, "o:f:h", options, NULL)) != -1) {
    if (c == 'o') output = optarg;
    else if (c == 'f') log = optarg;
    else return tool_answer(c, argv[0], report_usage, 1);
  }
  if (argc - optind > 1) return tool_usage(argv[0], report_usage, 1, "only one directory at a time");
  prefix = optind < argc ? tool_dir(argv[optind]) : tool_prefix();
  rc = log != NULL ? scr_fmt(path, sizeof path, "%s", log) : scr_record_path(prefix, "log", path, sizeof path);
  memset(&a, 0, sizeof a);
  if (rc == SCR_SUCCESS) rc = scr_log_read(path, report_visit, &a);
  if (rc == SCR_SUCCESS && a.failed) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS && a.runs == 0) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the log %s has no run", path);
  if (rc == SCR_SUCCESS && output == NULL) report_print(&a, prefix);
  else if (rc == SCR_SUCCESS) rc = report_write(&a, prefix, output);
  report_free(&a);
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(report_main)
