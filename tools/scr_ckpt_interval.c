/* scr_ckpt_interval - compute the best time between checkpoints from the log of a run.  No MPI. */
#include "tool.h"

static const char ckpt_interval_usage[] =
    "scr_ckpt_interval [OPTIONS]\n"
    "Print how many seconds of computation between two checkpoints lose least time: to checkpoints, and to the work "
    "that\n"
    "is done again after a failure.  Costs and failures are those in the log, written with SCR_LOG_ENABLE=1.\n"
    "\n"
    "  -m, --model MODEL   young, or daly (the default), who corrects Young's formula for short times between "
    "failures\n"
    "      --percent       print which percentage of the time the checkpoints then take, for SCR_CHECKPOINT_OVERHEAD\n"
    "  -s, --stats         print runs, failures, the mean time between them, and for each place that checkpoints go "
    "to\n"
    "                      their cost, the interval, and the percentage of the time that is left for computation\n"
    "  -j, --json          the same as one object\n"
    "      --mtbf SECONDS  the mean time between failures, where the log has none\n"
    "  -p, --prefix DIR    the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -f, --logfile FILE  another log than <prefix>/.scr/log\n"
    "  -h, --help          print this and exit;  --version  print the version and exit\n"
    "\n"
    "A failure is a run that did not stop by itself, and that scr_run saw end or another run of the same job "
    "follows.\n"
    "Exit 0, or 1 if there is an error: no log, no checkpoint in it, or no failure and no --mtbf.\n";

enum { OPT_INTERVAL_PERCENT = 1001, OPT_INTERVAL_MTBF };

#define INTERVAL_LEVELS 16 /* places: stores of the cache, and the prefix */

/* What checkpoints cost that go to one place. */
typedef struct {
  char   place[SCR_MAX_FILENAME];
  int    n;
  double seconds, bytes; /* of all */
  double mtbf, interval, efficiency;
} interval_level;

/* What a log says. */
typedef struct {
  interval_level level[INTERVAL_LEVELS];
  int            levels;
  interval_level prefix; /* flushes */
  scr_log_runs   runs;
  int            fetches, restarts; /* failures after which the prefix was needed, and restarts whose cost is known */
  double         restart;           /* seconds of these restarts */
  char           place[SCR_MAX_FILENAME]; /* of the checkpoint that is written */
} interval_log;

/* ---- the log ---- */

/* The level of PLACE; a further one after the last that there is room for counts as that. */
static interval_level* interval_level_of(interval_log* l, const char* place)
{
  int i;

  for (i = 0; i < l->levels; i++)
    if (strcmp(l->level[i].place, place) == 0) return &l->level[i];
  if (l->levels < INTERVAL_LEVELS) l->levels++;
  if (i == l->levels) i--;
  snprintf(l->level[i].place, sizeof l->level[i].place, "%s", place);
  return &l->level[i];
}

/* Read a line with an event. */
static void interval_event(interval_log* l, const char* line, const char* event, int64_t when)
{
  double secs = scr_log_number(line, "secs");

  scr_log_runs_add(&l->runs, line, event, when);
  if (strcmp(event, "CHECKPOINT_START") == 0) scr_log_value(line, "note", l->place, sizeof l->place);
  if (strcmp(event, "CHECKPOINT_END") == 0 && secs >= 0) {
    interval_level* level = interval_level_of(l, l->place);
    level->n++;
    level->seconds += secs;
  }
  if (strcmp(event, "FLUSH_SUCCESS") == 0 && secs >= 0) {
    l->prefix.n++;
    l->prefix.seconds += secs;
  }
  if (strcmp(event, "FETCH_SUCCESS") == 0) l->fetches++;
  if ((strcmp(event, "FETCH_SUCCESS") == 0 || strcmp(event, "REBUILD_SUCCESS") == 0) && secs >= 0) {
    l->restarts++;
    l->restart += secs;
  }
}

/* Read a line with a transfer. */
static void interval_transfer(interval_log* l, const char* line, const char* type)
{
  double bytes = scr_log_number(line, "bytes");

  if (bytes < 0) return;
  if (strcmp(type, "CHECKPOINT") == 0) interval_level_of(l, l->place)->bytes += bytes;
  if (strcmp(type, "FLUSH_SYNC") == 0) l->prefix.bytes += bytes; /* others cost the application no time */
}

/* Read LINE of a log, which was written at WHEN. */
static void interval_visit(const char* line, int64_t when, void* arg)
{
  interval_log* l = (interval_log*)arg;
  char          word[64];

  if (scr_log_value(line, "event", word, sizeof word)) interval_event(l, line, word, when);
  else if (scr_log_value(line, "xfer", word, sizeof word)) interval_transfer(l, line, word);
}

/* ---- the model ---- */

/* The share of the time that is left for computation, to first order: no failures while time is made up for. */
static double interval_efficiency(double cost, double mtbf, double restart, double interval)
{
  double e = 1 - cost / (interval + cost) - (interval + cost) / (2 * mtbf) - restart / mtbf;
  return e > 0 ? e : 0;
}

/* Fill in the interval and the efficiency of LEVEL, which has to survive a failure every MTBF seconds; 0: not known. */
static void interval_solve(const interval_log* l, interval_level* level, double mtbf, int daly)
{
  double cost = level->n > 0 ? level->seconds / level->n : 0;

  level->mtbf = mtbf;
  if (level->n == 0 || mtbf <= 0) return;
  level->interval = scr_best_interval(cost, mtbf, daly);
  level->efficiency = interval_efficiency(cost, mtbf, l->restarts > 0 ? l->restart / l->restarts : 0, level->interval);
}

/* ---- what is printed ---- */

static void interval_print_json(int decimals, double v)
{
  if (v > 0) printf("%.*f", decimals, v);
  else printf("null");
}

static void interval_print_cell(double v)
{
  if (v > 0) printf(" %12.1f", v);
  else printf("%13s", "-");
}

static void interval_print_level(const char* place, const interval_level* v, int json, int first)
{
  double cost = v->n > 0 ? v->seconds / v->n : 0, rate = v->seconds > 0 ? v->bytes / v->seconds : 0;

  if (json) {
    printf("%s\n  {\"place\": ", first ? "" : ",");
    tool_print_json(place);
    printf(", \"count\": %d, \"seconds\": %.6f, \"bytes_per_second\": %.0f, \"mtbf\": ", v->n, cost, rate);
    interval_print_json(1, v->mtbf);
    printf(", \"interval\": ");
    interval_print_json(3, v->interval);
    printf(", \"efficiency\": ");
    interval_print_json(4, v->efficiency);
    printf("}");
    return;
  }
  printf("%6d %12.3f %12.1f", v->n, cost, rate / 1e6);
  interval_print_cell(v->mtbf);
  interval_print_cell(v->interval);
  interval_print_cell(100 * v->efficiency);
  printf("  ");
  tool_print_line(place);
}

/* Print all that L says; ALL is the sum of its levels, without the flushes. */
static void interval_print_stats(const interval_log* l, const interval_level* all, int json)
{
  double restart = l->restarts > 0 ? l->restart / l->restarts : 0;
  int    i;

  if (json)
    printf("{\"runs\": %d, \"seconds\": %.0f, \"failures\": %d, \"fetches\": %d, \"restart_seconds\": %.6f, "
           "\"levels\": [",
           l->runs.runs, l->runs.seconds, l->runs.failures, l->fetches, restart);
  else
    printf("%d runs, %.0f s; %d failures; %d fetches from the prefix; a restart takes %.3f s\n"
           " count       cost s         MB/s       MTBF s   interval s efficiency %%  place\n",
           l->runs.runs, l->runs.seconds, l->runs.failures, l->fetches, restart);
  for (i = 0; i < l->levels; i++) interval_print_level(l->level[i].place, &l->level[i], json, i == 0);
  if (l->prefix.n > 0) interval_print_level("prefix", &l->prefix, json, l->levels == 0);
  if (json) {
    printf("], \"interval\": ");
    interval_print_json(3, all->interval);
    puts("}");
  }
}

/* What to print, by the options: s, j, OPT_INTERVAL_PERCENT or 0. */
typedef struct {
  int         form, daly;
  double      mtbf;
  const char *prefix, *path;
} interval_job;

/* Compute, and print what J asks for. */
static int interval_run(const interval_job* j)
{
  static interval_log l;
  interval_level      all;
  char                path[SCR_MAX_FILENAME];
  double              mtbf = j->mtbf, fetch;
  int                 i, rc = SCR_SUCCESS;

  memset(&all, 0, sizeof all);
  if (j->path != NULL) rc = scr_fmt(path, sizeof path, "%s", j->path);
  else rc = scr_record_path(j->prefix, "log", path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_log_read(path, interval_visit, &l);
  if (rc != SCR_SUCCESS) return rc;
  scr_log_runs_next(&l.runs, "", 0);
  if (mtbf <= 0 && l.runs.failures > 0) mtbf = l.runs.seconds / l.runs.failures;
  fetch = l.fetches > 0 && l.runs.seconds > 0 ? l.runs.seconds / l.fetches : mtbf;
  for (i = 0; i < l.levels; i++) {
    all.n += l.level[i].n;
    all.seconds += l.level[i].seconds;
    interval_solve(&l, &l.level[i], mtbf, j->daly);
  }
  interval_solve(&l, &l.prefix, fetch, j->daly);
  interval_solve(&l, &all, mtbf, j->daly);
  if (j->form == 's' || j->form == 'j') {
    interval_print_stats(&l, &all, j->form == 'j');
    return SCR_SUCCESS;
  }
  if (all.n == 0) return SCR_ERR(SCR_ERR_NOT_FOUND, "%s has no complete checkpoint", path);
  if (mtbf <= 0)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "%s has no failure, so the time between failures is not known; give --mtbf",
                   path);
  if (j->form == 0) printf("%.3f\n", all.interval);
  else printf("%.3f\n", 100 * all.seconds / (all.seconds + all.n * all.interval));
  return SCR_SUCCESS;
}

SCR_FN int ckpt_interval_main(int argc, char** argv)
{
  static const struct option options[] = {{"model", required_argument, NULL, 'm'},
                                          {"percent", no_argument, NULL, OPT_INTERVAL_PERCENT},
                                          {"stats", no_argument, NULL, 's'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"mtbf", required_argument, NULL, OPT_INTERVAL_MTBF},
                                          {"prefix", required_argument, NULL, 'p'},
                                          {"logfile", required_argument, NULL, 'f'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  interval_job               j = {0, 1, 0, NULL, NULL};
  char*                      end;
  int                        c;

  j.prefix = tool_prefix();
  while ((c = getopt_long(argc, argv, "m:sjp:f:h", options, NULL)) != -1) {
    if (c == 'h' || c == '?' || c == TOOL_OPT_VERSION) return tool_answer(c, argv[0], ckpt_interval_usage, 1);
    if (c == 'p') j.prefix = tool_dir(optarg);
    else if (c == 'f') j.path = optarg;
    else if (c == 's' || c == 'j' || c == OPT_INTERVAL_PERCENT) j.form = c;
    else if (c == 'm') {
      j.daly = strcmp(optarg, "daly") == 0;
      if (!j.daly && strcmp(optarg, "young") != 0)
        return tool_usage(argv[0], ckpt_interval_usage, 1, "the models are young and daly");
    } else {
      j.mtbf = strtod(optarg, &end);
      if (!isdigit((unsigned char)*optarg) || *end != '\0' || !(j.mtbf > 0 && j.mtbf < 1e12))
        return tool_usage(argv[0], ckpt_interval_usage, 1, "--mtbf needs a number of seconds above 0");
    }
  }
  if (optind != argc) return tool_usage(argv[0], ckpt_interval_usage, 1, "there is nothing to say after the options");
  if (interval_run(&j) != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(ckpt_interval_main)
