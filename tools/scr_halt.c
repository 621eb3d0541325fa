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
    "  -v, --verbose             report what is done\n"
    "  -h, --help                print this and exit;  --version  print the version and exit\n"
    "\n"
    "Without a condition, scr_halt sets the reason JOB_HALTED, and the run ends at its next checkpoint.  With -i too, "
    "so\n"
    "that no other run is started.\n"
    "TIME is a number of seconds since 1970, a local time 2030-12-31T23:59[:59], or a time from now on, such as\n"
    "now+30m, +2h or +1d12h (s, m, h, d).  The default of DIR is SCR_PREFIX, or else the working directory.\n"
    "Exit 0, or 1 if there is an error in any of the directories.\n";

#define OPT_UNSET 2000 /* + the index of the key in keys[] */

enum { KEY_CHECKPOINTS, KEY_BEFORE, KEY_AFTER, KEY_SECONDS, KEY_REASON, KEYS };

static const char* const halt_keys[KEYS] = {"CheckpointsLeft", "ExitBefore", "ExitAfter", "HaltSeconds", "ExitReason"};

/* What to do in each directory. */
typedef struct {
  int     set[KEYS], unset[KEYS];
  int64_t value[KEYS];
  int     list, remove, verbose;
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

static void halt_print_settings(const char* path, const scr_hash* h)
{
  const char* reason = scr_hash_elem_get_first_val(h, "ExitReason");
  int64_t     v, seconds;
  int         n = 0;

  printf("Halt file settings for %s:\n", path);
  if (reason != NULL && *reason != '\0') {
    printf("  %-26s", "ExitReason:");
    tool_print(reason);
    putchar('\n');
    n++;
  }
  if (scr_hash_util_get_int64(h, halt_keys[KEY_CHECKPOINTS], &v) == SCR_SUCCESS && ++n)
    printf("  %-26s%lld\n", "CheckpointsLeft:", (long long)v);
  if (scr_hash_util_get_int64(h, halt_keys[KEY_AFTER], &v) == SCR_SUCCESS && ++n) halt_print_time("ExitAfter:", v);
  if (scr_hash_util_get_int64(h, halt_keys[KEY_BEFORE], &v) == SCR_SUCCESS && ++n) halt_print_time("ExitBefore:", v);
  if (scr_hash_util_get_int64(h, halt_keys[KEY_SECONDS], &seconds) == SCR_SUCCESS && ++n) {
    printf("  %-26s%lld\n", "HaltSeconds:", (long long)seconds);
    if (scr_halt_before(h, &v)) halt_print_time("ExitBefore - HaltSeconds:", v);
  }
  if (scr_hash_get(h, "REQUEST") != NULL && ++n)
    printf("  %-26s%d\n", "Checkpoints asked for:", scr_hash_size(scr_hash_get(h, "REQUEST")));
  if (n == 0) printf("  None\n");
}

/* Make the changes of R in H, and print them.  REASON: set the reason JOB_HALTED. */
static void halt_change(scr_hash* h, const halt_request* r, int reason)
{
  int i;

  for (i = 0; i < KEYS; i++) {
    if (i == KEY_REASON && reason) continue;
    if (r->unset[i]) {
      scr_hash_unset(h, halt_keys[i]);
      printf("Removing %s\n", halt_keys[i]);
    }
    if (r->set[i]) { /* 0 is a value too */
      scr_hash_util_set_int64(h, halt_keys[i], r->value[i]);
      printf("Setting %s to %lld\n", halt_keys[i], (long long)r->value[i]);
    }
  }
  if (reason) {
    scr_hash_util_set_str(h, "ExitReason", "JOB_HALTED");
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
  if (scr_os.unlink(path) < 0 && errno != ENOENT) rc = SCR_ERRNO("cannot remove %s", path);
  scr_hash_file_unlock(&fd);
  return rc;
}

/* End the run that uses the prefix directory DIR: its job step, if it has one, or else its first process. */
static int halt_kill_run(const char* dir)
{
  halt_run r;
  int      rc = halt_find_run(dir, &r);

  if (rc == SCR_ERR_NOT_FOUND) {
    printf("No run uses %s now\n", dir);
    return SCR_SUCCESS;
  }
  if (rc != SCR_SUCCESS) return rc;
  rc = *r.step != '\0' ? system_step_kill(r.step, "srun") : halt_kill_process(r.pid, r.host);
  if (rc == SCR_SUCCESS) printf("Ended the run on %s: %s\n", dir, r.text);
  return rc;
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
  if (r->verbose) printf("%s halt file %s\n", write ? "Changing" : r->remove ? "Removing" : "Reading", path);
  if (r->remove && (rc = halt_remove_file(path)) != SCR_SUCCESS) return rc;
  rc = write ? scr_record_open(&file, dir, "halt.scr") : scr_record_read(&file, dir, "halt.scr");
  if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) rc = SCR_ERR(rc, "%s; scr_halt --remove removes it", scr_err_text);
  if (rc == SCR_SUCCESS && write) halt_change(file.h, r, r->set[KEY_REASON] || !r->changes);
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
                                             {"unset-checkpoints", no_argument, NULL, OPT_UNSET + KEY_CHECKPOINTS},
                                             {"unset-before", no_argument, NULL, OPT_UNSET + KEY_BEFORE},
                                             {"unset-after", no_argument, NULL, OPT_UNSET + KEY_AFTER},
                                             {"unset-seconds", no_argument, NULL, OPT_UNSET + KEY_SECONDS},
                                             {"unset-reason", no_argument, NULL, OPT_UNSET + KEY_REASON},
                                             {"remove", no_argument, NULL, 'r'},
                                             {"verbose", no_argument, NULL, 'v'},
                                             TOOL_OPTIONS,
                                             {NULL, 0, NULL, 0}};

/* Enter option C with its argument ARG in R.  Returns 1, 0 if ARG is not valid, or -1 if C is none of them. */
static int halt_enter(halt_request* r, int c, const char* arg)
{
  static const char letters[] = "cbas";
  const char*       p = c > 0 && c < 128 ? strchr(letters, c) : NULL;
  int               k = p != NULL ? (int)(p - letters) : KEY_REASON;

  if (p != NULL || c == 'i') {
    r->set[k] = r->changes = 1;
    if (c == 'i') r->kill = 1;
    else if (c == 'b' || c == 'a') return halt_parse_time(arg, &r->value[k]);
    else return tool_number(arg, 0, INT_MAX, &r->value[k]);
  } else if (c >= OPT_UNSET && c < OPT_UNSET + KEYS) {
    r->unset[c - OPT_UNSET] = r->changes = 1;
  } else if (c == 'l') {
    r->list = 1;
  } else if (c == 'r') {
    r->remove = 1;
  } else if (c == 'v') {
    r->verbose = 1;
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
    if (halt_do(optind < argc ? argv[optind] : tool_prefix(), &r) != SCR_SUCCESS)
      failed = tool_fail(argv[0], 1, scr_err_text);
  } while (++optind < argc);
  return failed || fflush(stdout) != 0;
}

TOOL_MAIN(halt_main)
