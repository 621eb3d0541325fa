/* scr_halt - list, set and remove the conditions on which a run stops.  No MPI. */
#include "halt.h"
#include "transfer.h"

static const char halt_usage[] =
    "scr_halt [OPTIONS] [DIR...]\n"
    "Ask the run on each prefix directory DIR to save its newest checkpoint and end.\n"
    "\n"
    "  -c, --checkpoints N       after N more checkpoints\n"
    "  -b, --before TIME         before TIME; with --seconds N, N seconds earlier\n"
    "  -a, --after TIME          after the first checkpoint at or after TIME\n"
    "  -s, --seconds N           when the allocation has N seconds left, or N seconds before the time of --before\n"
    "  -i, --immediate           now: end its job step, or the process that has started it; what it has computed "
    "since\n"
    "                            its last checkpoint is lost; the daemons scr_transfer end, too\n"
    "  -l, --list                list the conditions, change nothing\n"
    "      --unset-checkpoints, --unset-before, --unset-after, --unset-seconds, --unset-reason\n"
    "                            remove one condition\n"
    "  -r, --remove              remove the halt file, with all conditions\n"
    "      --create              set the condition although no run has used DIR yet\n"
    "  -v, --verbose             report what is done\n"
    "  -h, --help                print this and exit;  --version  print the version and exit\n"
    "\n"
    "Without a condition, scr_halt sets the reason JOB_HALTED, and the run ends at its next checkpoint.  With -i too, "
    "so\n"
    "that no other run is started.\n"
    "How long conditions live: what scr_halt has set holds, in all jobs on DIR, until scr_halt removes it; a run that "
    "a\n"
    "condition ends writes why, and that holds for its job alone.  scr_run starts nothing while a condition holds; a "
    "run\n"
    "that is started stops after its first checkpoint, and says who has set the condition and what takes it back.\n"
    "TIME is a number of seconds since 1970, a local time 2030-12-31T23:59[:59], or a time from now on, such as\n"
    "now+30m, +2h or +1d12h (s, m, h, d).  The default of DIR is SCR_PREFIX, or else the working directory.\n"
    "Exit 0, or 1 if there is an error in any of the directories.\n";

#define OPT_CREATE 1999
#define OPT_UNSET  2000 /* + the number of the condition */

/* What to do in each directory. */
typedef struct {
  int     set[SCR_NHALTS], unset[SCR_NHALTS];
  int64_t value[SCR_NHALTS];
  int     list, remove, verbose, create;
  int     kill;    /* 1: end the run that goes on */
  int     changes; /* 1: something is set or unset */
} halt_request;

/* Returns the value of the N digits at *S, and moves *S past them; -1 if there are not so many. */
static int halt_digits(const char** s, int n)
{
  int v = 0;

  for (; n > 0; n--, (*s)++) {
    if (!isdigit((unsigned char)**s)) return -1;
    v = v * 10 + (**s - '0');
  }
  return v;
}

/* Reads S, a time span such as 90, 30m or 1d12h.  Returns 1, or 0 if S is anything else. */
static int halt_parse_span(const char* s, int64_t* seconds)
{
  static const char    units[] = "smhd";
  static const int64_t length[] = {1, 60, 3600, 86400};

  *seconds = 0;
  do {
    char*       end;
    long long   v;
    const char* unit;

    if (!isdigit((unsigned char)*s)) return 0;
    errno = 0;
    v = strtoll(s, &end, 10);
    unit = *end != '\0' ? strchr(units, *end) : units;
    if (errno != 0 || unit == NULL || v > INT_MAX) return 0;
    *seconds += v * length[unit - units];
    s = *end != '\0' ? end + 1 : end;
  } while (*s != '\0');
  return 1;
}

/* Reads S, a local time YYYY-MM-DDTHH:MM[:SS].  Returns 1, or 0 if S is anything else. */
static int halt_parse_iso(const char* s, int64_t* when)
{
  static const char separators[] = " --T::";
  struct tm         tm, asked;
  int               field[6] = {0, 0, 0, 0, 0, 0}, i;
  time_t            t;

  for (i = 0; i < 6; i++) {
    if (i == 5 && *s == '\0') break; /* seconds may be left out */
    if (i > 0 && *s++ != separators[i]) return 0;
    if ((field[i] = halt_digits(&s, i == 0 ? 4 : 2)) < 0) return 0;
  }
  if (*s != '\0') return 0;
  memset(&tm, 0, sizeof tm);
  tm.tm_year = field[0] - 1900;
  tm.tm_mon = field[1] - 1;
  tm.tm_mday = field[2];
  tm.tm_hour = field[3];
  tm.tm_min = field[4];
  tm.tm_sec = field[5];
  tm.tm_isdst = -1;
  asked = tm;
  t = mktime(&tm);
  if (tm.tm_mon != asked.tm_mon || tm.tm_mday != asked.tm_mday || tm.tm_min != asked.tm_min)
    return 0; /* there is no such day */
  if (field[3] > 23 || field[5] > 59) return 0;
  *when = (int64_t)t;
  return 1;
}

static int halt_parse_time(const char* s, int64_t* when)
{
  int64_t span = 0, now = (int64_t)time(NULL);

  if (tool_number(s, 0, INT64_MAX, when)) return 1;
  if (strncmp(s, "now", 3) == 0) {
    s += 3;
    *when = now;
    if (*s == '\0') return 1;
  }
  if (*s != '+') return halt_parse_iso(s, when);
  if (!halt_parse_span(s + 1, &span)) return 0;
  *when = now + span;
  return 1;
}

static void halt_print_time(const char* label, int64_t when)
{
  char text[32];

  scr_time_string((time_t)when, text, sizeof text);
  printf("  %-26s%s (%lld)\n", label, text, (long long)when);
}

/* Print who has set the condition K of H. */
static void halt_print_who(const scr_hash* h, int k)
{
  const scr_hash* by = scr_hash_get_kv(h, "SET", scr_halts[k].key);
  const char*     job = scr_hash_str_or(by, "JOBID", NULL);
  int64_t         when = 0;
  char            at[32];

  if (by == NULL || scr_hash_util_get_int64(by, "TIME", &when) != SCR_SUCCESS) return;
  scr_time_string((time_t)when, at, sizeof at);
  printf("    %s ", job != NULL ? "written by a run of job" : "set by");
  tool_print(job != NULL ? job : scr_hash_str_or(by, "USER", "?"));
  if (job == NULL) printf(" on ");
  if (job == NULL) tool_print(scr_hash_str_or(by, "HOST", "?"));
  printf(" at %s%s\n", at, job != NULL ? ", for this job only" : "");
}

static void halt_print_settings(const char* path, const scr_hash* h)
{
  const char* reason = scr_hash_str_or(h, "ExitReason", "");
  int64_t     v;
  int         k, n = 0;

  printf("Halt file settings for ");
  tool_print(path);
  puts(":");
  for (k = 0; k < SCR_NHALTS; k++) {
    if (k == SCR_HALT_REASON ? *reason == '\0' : scr_hash_util_get_int64(h, scr_halts[k].key, &v) != SCR_SUCCESS)
      continue;
    n++;
    if (k == SCR_HALT_REASON) {
      printf("  %-26s", "ExitReason:");
      tool_print_line(reason);
    } else if (k == SCR_HALT_COUNT || k == SCR_HALT_TIME) {
      printf("  %s:%*s%lld\n", scr_halts[k].key, 25 - (int)strlen(scr_halts[k].key), "", (long long)v);
    } else {
      halt_print_time(k == SCR_HALT_BEFORE ? "ExitBefore:" : "ExitAfter:", v);
    }
    halt_print_who(h, k);
  }
  if (scr_hash_util_get_int64(h, "HaltSeconds", &v) == SCR_SUCCESS && scr_halt_before(h, &v))
    halt_print_time("ExitBefore - HaltSeconds:", v);
  if (scr_hash_get(h, "REQUEST") != NULL && ++n)
    printf("  %-26s%d\n", "Checkpoints asked for:", scr_hash_size(scr_hash_get(h, "REQUEST")));
  if (n == 0) printf("  None\n");
}

/* Set the condition K of H, which gets its VALUE from the caller, in the name of who runs this. */
static void halt_sign(scr_hash* h, int k)
{
  char user[256], host[256] = "";

  scr_param_user(NULL, user, sizeof user);
  gethostname(host, sizeof host - 1);
  scr_halt_sign(h, k, user, host, NULL);
}

/* Take the condition K out of H, and what a run wrote because of it. */
static void halt_unset(scr_hash* h, int k)
{
  scr_halt_unset(h, k);
  printf("Removing %s\n", scr_halts[k].key);
  if (scr_halts[k].reason != NULL && strcmp(scr_hash_str_or(h, "ExitReason", ""), scr_halts[k].reason) == 0 &&
      scr_halt_is_of_run(h))
    scr_halt_unset(h, SCR_HALT_REASON);
}

/* Make the changes of R in H, and print them.  REASON: set the reason JOB_HALTED. */
static void halt_change(scr_hash* h, const halt_request* r, int reason)
{
  int k;

  for (k = 0; k < SCR_NHALTS; k++) {
    if (k == SCR_HALT_REASON && reason) continue;
    if (r->unset[k]) halt_unset(h, k);
    if (r->set[k]) { /* 0 is a value too */
      scr_hash_util_set_int64(h, scr_halts[k].key, r->value[k]);
      halt_sign(h, k);
      printf("Setting %s to %lld\n", scr_halts[k].key, (long long)r->value[k]);
    }
  }
  if (reason) {
    scr_hash_util_set_str(h, "ExitReason", "JOB_HALTED");
    halt_sign(h, SCR_HALT_REASON);
    printf("Setting ExitReason to JOB_HALTED\n");
  }
}

/* Remove the halt file PATH, which may be damaged. */
static int halt_remove_file(const char* path)
{
  struct stat st;
  int         fd = -1, rc;

  if (scr_os.lstat(path, &st) < 0 && errno == ENOENT) return SCR_SUCCESS;
  if ((rc = scr_hash_file_lock(path, &fd)) != SCR_SUCCESS) return rc;
  if (scr_os.unlink(path) == 0) rc = scr_dir_sync(path);
  else if (errno != ENOENT) rc = SCR_ERRNO("cannot remove %s", path);
  scr_hash_file_unlock(&fd);
  return rc;
}

/* End the run that uses the prefix directory DIR: its job step, if it has one, or else its first process. */
static int halt_kill_run(const char* dir)
{
  halt_run r;
  int      rc = halt_find_run(dir, &r);

  if (rc == SCR_ERR_NOT_FOUND) {
    printf("No run uses ");
    tool_print(dir);
    printf(" now\n");
    return SCR_SUCCESS;
  }
  if (rc != SCR_SUCCESS) return rc;
  rc = *r.step != '\0' ? halt_kill_step(dir, &r) : halt_kill_process(dir, &r);
  if (rc == SCR_SUCCESS) {
    printf("Ended the run on ");
    tool_print(dir);
    printf(": ");
    tool_print_line(r.text);
  }
  return rc;
}

/* SCR_ERR_NOT_FOUND if no run has used the prefix directory DIR: it is hardly the one that was meant. */
static int halt_has_used(const char* dir)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  int         rc = scr_fmt(path, sizeof path, "%s/.scr", dir);

  if (rc != SCR_SUCCESS || scr_os.lstat(path, &st) == 0 || errno != ENOENT) return rc;
  return SCR_ERR(SCR_ERR_NOT_FOUND,
                 "no run has used %s; name the prefix directory of the run, or set a condition for the "
                 "first one by --create",
                 dir);
}

/* Read or change the halt file of the prefix directory DIR, as R says. */
static int halt_settings(const char* dir, const halt_request* r)
{
  char       path[SCR_MAX_FILENAME];
  scr_record file;
  scr_hash*  settings;
  int        write = r->changes || !(r->list || r->remove), rc;

  if (!tool_is_dir(dir)) return SCR_ERRNO("cannot open the prefix directory %s", dir);
  if ((rc = scr_record_path(dir, "halt.scr", path, sizeof path)) != SCR_SUCCESS) return rc;
  if (!r->create && (rc = halt_has_used(dir)) != SCR_SUCCESS) return rc;
  if (r->verbose) printf("%s halt file %s\n", write ? "Changing" : r->remove ? "Removing" : "Reading", path);
  if (r->remove && (rc = halt_remove_file(path)) != SCR_SUCCESS) return rc;
  rc = write ? scr_record_open(&file, dir, "halt.scr") : scr_record_read(&file, dir, "halt.scr");
  if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) rc = SCR_ERR(rc, "%s; scr_halt --remove removes it", scr_err_text);
  if (rc == SCR_SUCCESS && write) halt_change(file.h, r, r->set[SCR_HALT_REASON] || !r->changes);
  settings = scr_hash_dup(file.h);
  rc = scr_record_close(&file, rc, write);
  if (rc == SCR_SUCCESS) halt_print_settings(path, settings);
  scr_hash_delete(&settings);
  return rc;
}

/* End the daemons of the run over the prefix directory DIR, if its parameters ask for them. */
static int halt_end_daemons(const char* dir)
{
  scr_hash* params = tool_params(dir);
  int       rc = params == NULL ? SCR_ERR_PARAM : SCR_SUCCESS;

  if (rc == SCR_SUCCESS && transfer_is_used(params)) rc = transfer_end(params, dir, NULL);
  scr_hash_delete(&params);
  return rc;
}

/* Carry out R in the prefix directory DIR.  A run that hangs may hold the lock of the halt file, until it is ended. */
static int halt_do(const char* dir, const halt_request* r)
{
  int rc = halt_settings(dir, r), set = rc == SCR_SUCCESS;

  if (!r->kill || (rc != SCR_SUCCESS && rc != SCR_ERR_BUSY)) return rc;
  rc = halt_kill_run(dir);
  if (rc == SCR_SUCCESS && !set) rc = halt_settings(dir, r);
  return rc == SCR_SUCCESS ? halt_end_daemons(dir) : rc;
}

static const struct option halt_options[] = {{"checkpoints", required_argument, NULL, 'c'},
                                             {"before", required_argument, NULL, 'b'},
                                             {"after", required_argument, NULL, 'a'},
                                             {"seconds", required_argument, NULL, 's'},
                                             {"immediate", no_argument, NULL, 'i'},
                                             {"list", no_argument, NULL, 'l'},
                                             {"unset-checkpoints", no_argument, NULL, OPT_UNSET + SCR_HALT_COUNT},
                                             {"unset-before", no_argument, NULL, OPT_UNSET + SCR_HALT_BEFORE},
                                             {"unset-after", no_argument, NULL, OPT_UNSET + SCR_HALT_AFTER},
                                             {"unset-seconds", no_argument, NULL, OPT_UNSET + SCR_HALT_TIME},
                                             {"unset-reason", no_argument, NULL, OPT_UNSET + SCR_HALT_REASON},
                                             {"remove", no_argument, NULL, 'r'},
                                             {"create", no_argument, NULL, OPT_CREATE},
                                             {"verbose", no_argument, NULL, 'v'},
                                             TOOL_OPTIONS,
                                             {NULL, 0, NULL, 0}};

/* Enter option C with its argument ARG in R.  Returns 1, 0 if ARG is not valid, or -1 if C is none of them. */
static int halt_enter(halt_request* r, int c, const char* arg)
{
  static const char letters[] = "cbas";
  static const int  halts[] = {SCR_HALT_COUNT, SCR_HALT_BEFORE, SCR_HALT_AFTER, SCR_HALT_TIME};
  const char*       p = c > 0 && c < 128 ? strchr(letters, c) : NULL;
  int               k = p != NULL ? halts[p - letters] : SCR_HALT_REASON;

  if (p != NULL || c == 'i') {
    r->set[k] = r->changes = 1;
    if (c == 'i') r->kill = 1;
    else if (c == 'b' || c == 'a') return halt_parse_time(arg, &r->value[k]);
    else return tool_number(arg, 0, INT_MAX, &r->value[k]);
  } else if (c >= OPT_UNSET && c < OPT_UNSET + SCR_NHALTS) {
    r->unset[c - OPT_UNSET] = r->changes = 1;
  } else if (c == 'l') {
    r->list = 1;
  } else if (c == 'r') {
    r->remove = 1;
  } else if (c == 'v') {
    r->verbose = 1;
  } else if (c == OPT_CREATE) {
    r->create = 1;
  } else {
    return -1;
  }
  return 1;
}

SCR_FN int halt_main(int argc, char** argv)
{
  halt_request r;
  int          c, ok, failed = 0;

  memset(&r, 0, sizeof r);
  while ((c = getopt_long(argc, argv, "c:b:a:s:ilrvh", halt_options, NULL)) != -1) {
    if ((ok = halt_enter(&r, c, optarg)) < 0) return tool_answer(c, argv[0], halt_usage, 1);
    if (ok > 0) continue;
    SCR_ERR(SCR_ERR_ARG, "%s is not %s; see --help", optarg, c == 'b' || c == 'a' ? "a time" : "a count");
    return tool_fail(argv[0], 1, scr_err_text);
  }
  do {
    if (halt_do(optind < argc ? tool_dir(argv[optind]) : tool_prefix(), &r) != SCR_SUCCESS)
      failed = tool_fail(argv[0], 1, scr_err_text);
  } while (++optind < argc);
  return failed || fflush(stdout) != 0;
}

TOOL_MAIN(halt_main)
