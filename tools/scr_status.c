/* scr_status - what a running job is doing now, in a terminal.  No MPI. */
#include "halt.h"

static const char status_usage[] =
    "scr_status [OPTIONS] [DIR]\n"
    "Show what the run on the prefix directory DIR is doing: its phase, its last checkpoint, what is in the cache, "
    "flushes\n"
    "under way, the time that is left, and the conditions on which it stops.\n"
    "\n"
    "  -w, --watch            show it again and again, until the run ends\n"
    "  -s, --seconds SECONDS  every so many seconds; default: 2\n"
    "  -j, --json             print one object\n"
    "  -h, --help             print this and exit;  --version  print the version and exit\n"
    "\n"
    "The default of DIR is SCR_PREFIX, or else the working directory.  A run that was killed still shows what it did\n"
    "last, and has ended without notice.  Exit 0, or 1 if there is an error, or no run has used DIR.\n";

/* Print SECONDS as a person says it. */
static void status_print_span(double seconds)
{
  int64_t s = seconds > 0 ? (int64_t)seconds : 0;

  if (seconds < 10) printf("%.1f s", seconds > 0 ? seconds : 0);
  else if (s < 120) printf("%lld s", (long long)s);
  else if (s < 7200) printf("%lld min %lld s", (long long)(s / 60), (long long)(s % 60));
  else if (s < 2 * 86400) printf("%lld h %lld min", (long long)(s / 3600), (long long)(s / 60 % 60));
  else printf("%lld days %lld h", (long long)(s / 86400), (long long)(s / 3600 % 24));
}

static void status_print_bytes(double bytes)
{
  char text[32];

  tool_bytes(bytes, text, sizeof text);
  printf("%s", text);
}

/* The seconds since the time KEY of H, which the status file has in microseconds; 0 if it has none. */
static double status_age(const scr_hash* h, const char* key)
{
  int64_t when;

  if (scr_hash_util_get_int64(h, key, &when) != SCR_SUCCESS) return 0;
  return (double)(scr_time_usec() - when) / 1e6;
}

static double status_bytes(const scr_hash* h)
{
  uint64_t bytes = 0;

  scr_hash_util_get_bytecount(h, "BYTES", &bytes);
  return (double)bytes;
}

/* A walk over the files that a flush writes. */
typedef struct {
  char   end[32]; /* of their names: .scr<id>.tmp */
  double bytes;
  int    files; /* how many more are looked at */
} status_copied;

/* Add up what is on disk of the temporary files of C below DIR, which may vanish meanwhile. */
static void status_walk(const char* dir, int depth, status_copied* c)
{
  DIR*           d = opendir(dir);
  struct dirent* e;
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  size_t         n;

  while (d != NULL && c->files > 0 && (e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (scr_fmt(path, sizeof path, "%s/%s", dir, e->d_name) != SCR_SUCCESS || scr_os.lstat(path, &st) < 0) continue;
    c->files--;
    n = strlen(e->d_name);
    if (S_ISDIR(st.st_mode) && depth < 32) status_walk(path, depth + 1, c);
    else if (n > strlen(c->end) && strcmp(e->d_name + n - strlen(c->end), c->end) == 0)
      c->bytes += (double)(st.st_blocks * 512 < st.st_size ? st.st_blocks * 512 : st.st_size);
  }
  if (d != NULL) closedir(d);
}

/* How much of the flush of dataset ID is on the prefix already, from 0 to 1; negative if that is not known. */
static double status_progress(const char* prefix, int id, double bytes)
{
  scr_record     flush;
  scr_flush_note note;
  status_copied  c;
  char           dir[2 * SCR_MAX_FILENAME];
  int            known, rc = scr_flush_file_read(&flush, prefix);

  known = rc == SCR_SUCCESS && scr_flush_file_get(&flush, id, &note);
  scr_record_close(&flush, rc, 0);
  if (!known || bytes <= 0) return -1;
  memset(&c, 0, sizeof c);
  c.files = 20000;
  snprintf(c.end, sizeof c.end, ".scr%d.tmp", id);
  snprintf(dir, sizeof dir, "%s%s%s", prefix, *note.dir ? "/" : "", note.dir);
  status_walk(dir, 0, &c);
  if (c.files == 0) return -1;
  return c.bytes < bytes ? c.bytes / bytes : 1;
}

static void status_print_bar(double part)
{
  int i, n = (int)(part * 30 + 0.5);

  putchar('[');
  for (i = 0; i < 30; i++) putchar(i < n ? '#' : '.');
  printf("] %3.0f %%", part * 100);
}

static void status_print_cache(const scr_hash* cache)
{
  const scr_hash_elem* e = scr_hash_elem_first(cache);

  if (e == NULL) printf("Cache        empty\n");
  for (; e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* h = scr_hash_elem_hash(e);
    printf("Cache        ");
    tool_print(scr_hash_str_or(h, "NAME", "?"));
    printf(" (dataset %s), ", scr_hash_elem_key(e));
    if (scr_hash_get(h, "STATE") != NULL) tool_print(scr_hash_str_or(h, "STATE", ""));
    else status_print_bytes(status_bytes(h));
    if (*scr_hash_str_or(h, "STORE", "") != '\0') { /* else it bypasses the cache */
      printf(", ");
      tool_print(scr_hash_str_or(h, "SCHEME", "?"));
      printf(" in ");
      tool_print(scr_hash_str_or(h, "STORE", "?"));
    }
    puts(scr_hash_get(h, "PFS") != NULL ? ", on the prefix" : "");
  }
}

static void status_print_flushes(const scr_hash* flushes, const char* prefix)
{
  const scr_hash_elem* e = scr_hash_elem_first(flushes);

  for (; e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* h = scr_hash_elem_hash(e);
    double          part = status_progress(prefix, scr_index_id(scr_hash_elem_key(e)), status_bytes(h));
    printf("Flush        ");
    tool_print(scr_hash_str_or(h, "NAME", "?"));
    printf(", ");
    status_print_bytes(status_bytes(h));
    printf(", since ");
    status_print_span(status_age(h, "TIME"));
    if (part >= 0) printf("  "), status_print_bar(part);
    putchar('\n');
  }
}

/* Print the conditions of the halt file of PREFIX. */
static int status_print_halt(const char* prefix)
{
  static const char* const keys[] = {"ExitReason", "CheckpointsLeft", "ExitAfter", "ExitBefore", "HaltSeconds"};
  scr_record               halt;
  char                     when[32];
  int64_t                  v;
  int                      n = 0, rc = scr_record_read(&halt, prefix, "halt.scr");
  size_t                   i;

  printf("Halt         ");
  for (i = 0; i < sizeof keys / sizeof *keys && rc == SCR_SUCCESS; i++) {
    const char* value = scr_hash_elem_get_first_val(halt.h, keys[i]);
    if (value == NULL || (i == 0 && scr_halt_stated(halt.h) == NULL)) continue;
    printf("%s%s ", n++ > 0 ? ", " : "", keys[i]);
    if ((i == 2 || i == 3) && scr_str_int64(value, &v) == SCR_SUCCESS) {
      scr_time_string((time_t)v, when, sizeof when);
      printf("%s", when);
    } else tool_print(value);
  }
  if (rc == SCR_SUCCESS && scr_hash_get(halt.h, "REQUEST") != NULL)
    printf("%sa checkpoint is asked for", n++ > 0 ? ", " : "");
  puts(n == 0 ? "no condition" : "");
  scr_record_close(&halt, rc, 0);
  return rc;
}

/* Returns 1 if H says that the run has ended, by itself or without notice. */
static int status_has_ended(const scr_hash* h)
{
  return strncmp(scr_hash_str_or(h, "PHASE", ""), "ended", 5) == 0;
}

/*
** Read the status of the run on PREFIX into H.  A run that was killed could not say that it has ended: then nobody uses
** the prefix, before and after the status was read, and WAS becomes what it was doing.
*/
static int status_read(const char* prefix, scr_hash* h)
{
  int   unused = halt_is_unused(prefix), rc = scr_status_read(prefix, h);
  char* was;

  if (rc != SCR_SUCCESS || scr_hash_size(h) == 0 || status_has_ended(h)) return rc;
  if (!unused || !halt_is_unused(prefix)) return rc;
  if ((was = scr_strdup(scr_hash_str_or(h, "PHASE", "?"))) == NULL) return SCR_ERR_OOM();
  scr_hash_util_set_str(h, "WAS", was);
  scr_hash_util_set_str(h, "PHASE", "ended without notice");
  scr_free(&was);
  return SCR_SUCCESS;
}

/* Print the phase of H, and since when it is in it. */
static void status_print_phase(const scr_hash* h)
{
  const char* was = scr_hash_elem_get_first_val(h, "WAS");

  printf("Phase        ");
  tool_print(scr_hash_str_or(h, "PHASE", "?"));
  if (was != NULL) {
    printf(": no process of the run is there; it began ");
    tool_print(was);
    putchar(' ');
  } else {
    printf(", for ");
  }
  status_print_span(status_age(h, "SINCE"));
  puts(was != NULL ? " ago" : "");
}

/* Print the status H of the run on PREFIX.  LEFT is what its allocation still has, negative if that is not known. */
static int status_print(const scr_hash* h, const char* prefix, int64_t left)
{
  const scr_hash *run = scr_hash_get(h, "RUN"), *last = scr_hash_get(h, "LAST");
  double          seconds = 0;
  int64_t         usec;
  int             ended;

  printf("Run          job ");
  tool_print(scr_hash_str_or(run, "JOBID", "?"));
  printf(", %d ranks on %d nodes, for ", scr_hash_int_or(run, "RANKS", 0), scr_hash_int_or(run, "NODES", 0));
  ended = status_has_ended(h);
  status_print_span(status_age(run, "TIME") - (ended ? status_age(h, "SINCE") : 0));
  printf(", on ");
  tool_print(prefix);
  putchar('\n');
  status_print_phase(h);
  if (last == NULL) {
    printf("Checkpoint   none in this run\n");
  } else {
    if (scr_hash_util_get_int64(last, "USEC", &usec) == SCR_SUCCESS) seconds = (double)usec / 1e6;
    printf("Checkpoint   ");
    tool_print(scr_hash_str_or(last, "NAME", "?"));
    printf(" (dataset %d), ", scr_hash_int_or(last, "DSET", 0));
    status_print_span(status_age(last, "TIME"));
    printf(" ago; ");
    status_print_bytes(status_bytes(last));
    printf(" in %.3f s, ", seconds);
    status_print_bytes(seconds > 0 ? status_bytes(last) / seconds : 0);
    printf("/s\n");
  }
  status_print_cache(scr_hash_get(h, "CACHE"));
  status_print_flushes(scr_hash_get(h, "FLUSH"), prefix);
  printf("Time left    ");
  if (left < 0) printf("not known");
  else status_print_span((double)left);
  putchar('\n');
  return status_print_halt(prefix);
}

/* Print PAIRS of H as members of a JSON object. */
static void status_print_json(const scr_hash* h)
{
  const scr_hash_elem* e = scr_hash_elem_first(h);
  int                  n = 0;

  if (scr_hash_size(h) == 1 && scr_hash_size(scr_hash_elem_hash(e)) == 0) { /* a value */
    tool_print_json(scr_hash_elem_key(e));
    return;
  }
  putchar('{');
  for (; e != NULL; e = scr_hash_elem_next(e)) {
    if (n++ > 0) printf(", ");
    tool_print_json(scr_hash_elem_key(e));
    printf(": ");
    status_print_json(scr_hash_elem_hash(e));
  }
  putchar('}');
}

/* What the options say; the end of the allocation, 0 while nobody was asked, -1 if nobody knows. */
typedef struct {
  int         watch, json;
  int64_t     seconds, end;
  const char* dir;
} status_job;

/* Show the status once.  *ENDED becomes 1 if the run has ended. */
static int status_show(status_job* j, int* ended)
{
  scr_hash*       h = scr_hash_new();
  const scr_hash* run;
  scr_hash*       params;
  int             rc = status_read(j->dir, h);

  if (rc == SCR_SUCCESS && scr_hash_size(h) == 0) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no run has used %s yet", j->dir);
  run = scr_hash_get(h, "RUN");
  *ended = status_has_ended(h);
  if (rc == SCR_SUCCESS && scr_hash_util_get_int64(run, "END", &j->end) != SCR_SUCCESS && j->end == 0) {
    params = tool_params(j->dir);
    if (params == NULL || system_end(params, &j->end) != SCR_SUCCESS) j->end = -1;
    scr_hash_delete(&params);
  }
  if (rc == SCR_SUCCESS && j->watch && isatty(1)) printf("\033[H\033[J");
  if (rc == SCR_SUCCESS && j->json) status_print_json(h), putchar('\n');
  else if (rc == SCR_SUCCESS)
    rc = status_print(h, j->dir, j->end < 0 ? -1 : j->end > (int64_t)time(NULL) ? j->end - (int64_t)time(NULL) : 0);
  scr_hash_delete(&h);
  return rc;
}

SCR_FN int status_main(int argc, char** argv)
{
  static const struct option options[] = {{"watch", no_argument, NULL, 'w'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"json", no_argument, NULL, 'j'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  status_job                 j;
  int                        c, rc, ended = 0;

  memset(&j, 0, sizeof j);
  j.seconds = 2;
  while ((c = getopt_long(argc, argv, "ws:jh", options, NULL)) != -1) {
    if (c == 'w') j.watch = 1;
    else if (c == 'j') j.json = 1;
    else if (c != 's') return tool_answer(c, argv[0], status_usage, 1);
    else if (!tool_number(optarg, 1, 86400, &j.seconds))
      return tool_usage(argv[0], status_usage, 1, "--seconds needs a whole number above 0");
  }
  if (argc - optind > 1) return tool_usage(argv[0], status_usage, 1, "only one directory at a time");
  j.dir = optind < argc ? argv[optind] : tool_prefix();
  if (!tool_is_dir(j.dir)) {
    SCR_ERRNO("cannot open the prefix directory %s", j.dir);
    return tool_fail(argv[0], 1, scr_err_text);
  }
  while ((rc = status_show(&j, &ended)) == SCR_SUCCESS && fflush(stdout) == 0 && j.watch && !ended) {
    if (!isatty(1) && !j.json) putchar('\n');
    sleep((unsigned)j.seconds);
  }
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return ferror(stdout) ? 1 : 0;
}

TOOL_MAIN(status_main)
