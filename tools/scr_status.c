/* scr_status - what a running job is doing now, in a terminal.  No MPI. */
#include "halt.h"

#include <sys/ioctl.h>

static const char status_usage[] =
    "scr_status [OPTIONS] [DIR]\n"
    "Show what the run on the prefix directory DIR is doing: its phase, its last checkpoint, what is in the cache, "
    "flushes\n"
    "under way, the time that is left, and the conditions on which it stops.\n"
    "\n"
    "  -w, --watch            show it again and again, until the run ends\n"
    "  -s, --seconds SECONDS  every so many seconds; default: 2\n"
    "  -j, --json             print one object: times in seconds, sizes in bytes; what is not known is null\n"
    "  -h, --help             print this and exit;  --version  print the version and exit\n"
    "\n"
    "The default of DIR is SCR_PREFIX, or else the working directory.  A run that was killed still shows what it did\n"
    "last.  Exit 0, or 1 if there is an error, or no run has used DIR.\n";

/* ---- lines of a terminal ---- */

#define STATUS_INDENT 13 /* columns before what a line says */

static FILE* status_out;   /* what a person reads is written here */
static int   status_width; /* columns of the terminal; 0 if it goes elsewhere: then lines have their length */

/* The columns of the N bytes at TEXT, which are UTF-8. */
static int status_columns(const char* text, size_t n)
{
  int    columns = 0;
  size_t i;

  for (i = 0; i < n; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
  return columns;
}

/* The bytes of TEXT, of N bytes, that take COLUMNS columns. */
static size_t status_bytes_of(const char* text, size_t n, int columns)
{
  size_t i;

  for (i = 0; i < n; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80 && columns-- == 0) break;
  return i;
}

/* Print the N bytes at TEXT in ROOM columns: what is too long, such as a path, lacks a part in its middle. */
static void status_put(const char* text, size_t n, int room)
{
  int    columns = status_columns(text, n), head = (room - 3) / 3;
  size_t k;

  if (columns <= room) {
    fwrite(text, 1, n, stdout);
    return;
  }
  printf("%.*s...", (int)status_bytes_of(text, n, head), text);
  k = status_bytes_of(text, n, columns - (room - 3 - head));
  fwrite(text + k, 1, n - k, stdout);
}

/* The bytes of the first part of TEXT, which ends behind a comma, semicolon or colon, or before two blanks. */
static size_t status_part(const char* text)
{
  size_t n = strspn(text, " ");

  while (text[n] != '\0' && strncmp(text + n, "  ", 2) != 0)
    if (strchr(",;:", text[n++]) != NULL && text[n] == ' ') break;
  return n;
}

/* Print LINE in lines of the terminal, which end between its parts. */
static void status_fold(const char* line)
{
  int    column = 0, columns;
  size_t n;

  for (; *line != '\0'; line += n) {
    n = status_part(line);
    columns = status_columns(line, n);
    if (column > STATUS_INDENT && column + columns > status_width) {
      printf("\n%*s", STATUS_INDENT, "");
      column = STATUS_INDENT;
      line += strspn(line, " ");
      n = status_part(line);
      columns = status_columns(line, n);
    }
    status_put(line, n, status_width - column);
    column += columns;
  }
  putchar('\n');
}

/* Begin what a person reads: on a terminal it is put together first. */
static void status_begin(char** text, size_t* size)
{
  struct winsize is;

  status_width = isatty(1) && ioctl(1, TIOCGWINSZ, &is) == 0 && is.ws_col >= 40 ? is.ws_col : 0;
  status_out = status_width > 0 ? open_memstream(text, size) : stdout;
  if (status_out == NULL) status_out = stdout;
}

/* End it, and print TEXT, if it was put together. */
static void status_end(char** text)
{
  char *line, *next;

  if (status_out == stdout) return;
  if (fclose(status_out) == 0)
    for (line = *text; (next = strchr(line, '\n')) != NULL; line = next + 1) {
      *next = '\0';
      status_fold(line);
    }
  free(*text);
}

/* ---- as text ---- */

/* Print SECONDS as a person says it. */
static void status_print_span(double seconds)
{
  int64_t s = seconds > 0 ? (int64_t)seconds : 0;

  if (seconds < 10) fprintf(status_out, "%.1f s", seconds > 0 ? seconds : 0);
  else if (s < 120) fprintf(status_out, "%lld s", (long long)s);
  else if (s < 7200) fprintf(status_out, "%lld min %lld s", (long long)(s / 60), (long long)(s % 60));
  else if (s < 2 * 86400) fprintf(status_out, "%lld h %lld min", (long long)(s / 3600), (long long)(s / 60 % 60));
  else fprintf(status_out, "%lld days %lld h", (long long)(s / 86400), (long long)(s / 3600 % 24));
}

static void status_print_bytes(double bytes)
{
  char text[32];

  tool_bytes(bytes, text, sizeof text);
  fprintf(status_out, "%s", text);
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
  time_t began;   /* when the flush began */
  double bytes;
  int    files; /* how many more are looked at */
} status_copied;

/*
** What is there of a file of C that is copied.  It has its size from the first byte on, and zeros stay holes; so blocks
** count until it is complete, and has the time of the file that it is a copy of, which is older than the flush.
*/
static double status_there(const status_copied* c, const struct stat* st)
{
  double blocks = (double)st->st_blocks * 512, size = (double)st->st_size;

  return st->st_mtime < c->began || blocks > size ? size : blocks;
}

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
      c->bytes += status_there(c, &st);
  }
  if (d != NULL) closedir(d);
}

/* Returns 1 if the index of PREFIX has dataset ID complete: then only names are missing, or not even these. */
static int status_is_committed(const char* prefix, int id)
{
  scr_index      index;
  scr_index_item it;
  int            is = 0, rc = scr_index_read(&index, prefix);

  memset(&it, 0, sizeof it);
  while (rc == SCR_SUCCESS && !is && scr_index_walk(&index, &it)) is = it.id == id && it.complete;
  scr_index_close(&index, rc, 0);
  return is;
}

/*
** How much of H, the flush of dataset ID, is on PREFIX already, from 0 to 1; negative if that is not known.  SHOWN has
** what it was before, below which it does not fall, whatever file systems say of blocks.
*/
static double status_progress(const char* prefix, int id, const scr_hash* h, scr_hash* shown)
{
  scr_record     flush;
  scr_flush_note note;
  status_copied  c;
  char           dir[2 * SCR_MAX_FILENAME];
  double         part, bytes = status_bytes(h);
  int            before = scr_hash_int_or(scr_hash_get_kv_int(shown, "DSET", id), "SHOWN", 0);
  int            known, rc = scr_flush_file_read(&flush, prefix);

  known = rc == SCR_SUCCESS && scr_flush_file_get(&flush, id, &note);
  scr_record_close(&flush, rc, 0);
  if (status_is_committed(prefix, id)) return 1;
  if (!known || bytes <= 0) return -1;
  memset(&c, 0, sizeof c);
  c.files = 20000;
  c.began = (time_t)((double)scr_time_usec() / 1e6 - status_age(h, "TIME"));
  snprintf(c.end, sizeof c.end, ".scr%d.tmp", id);
  snprintf(dir, sizeof dir, "%s%s%s", prefix, *note.dir ? "/" : "", note.dir);
  status_walk(dir, 0, &c);
  if (c.files == 0) return -1;
  part = c.bytes < bytes ? c.bytes / bytes : 1;
  if (part * 1e6 < before) part = before / 1e6;
  scr_hash_util_set_int(scr_hash_set_kv_int(shown, "DSET", id), "SHOWN", (int)(part * 1e6));
  return part;
}

/* Print how much is done; a wide terminal has a longer bar. */
static void status_print_bar(double part)
{
  int i, all = status_width == 0 ? 30 : status_width < 240 ? status_width / 4 : 60, n = (int)(part * all + 0.5);

  putc('[', status_out);
  for (i = 0; i < all; i++) putc(i < n ? '#' : '.', status_out);
  fprintf(status_out, "] %*.0f %%", status_width > 0 ? 0 : 3, part * 100);
}

static void status_print_cache(const scr_hash* cache)
{
  const scr_hash_elem* e = scr_hash_elem_first(cache);

  if (e == NULL) fprintf(status_out, "Cache        empty\n");
  for (; e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* h = scr_hash_elem_hash(e);
    fprintf(status_out, "Cache        ");
    tool_put(status_out, scr_hash_str_or(h, "NAME", "?"));
    fprintf(status_out, " (dataset ");
    tool_put(status_out, scr_hash_elem_key(e));
    fprintf(status_out, "), ");
    if (scr_hash_get(h, "STATE") != NULL) tool_put(status_out, scr_hash_str_or(h, "STATE", ""));
    else status_print_bytes(status_bytes(h));
    if (*scr_hash_str_or(h, "STORE", "") != '\0') { /* else it bypasses the cache */
      fprintf(status_out, ", ");
      tool_put(status_out, scr_hash_str_or(h, "SCHEME", "?"));
      fprintf(status_out, " in ");
      tool_put(status_out, scr_hash_str_or(h, "STORE", "?"));
    }
    fprintf(status_out, "%s\n", scr_hash_get(h, "PFS") != NULL ? ", on the prefix" : "");
  }
}

static void status_print_flushes(const scr_hash* flushes, const char* prefix, scr_hash* shown)
{
  const scr_hash_elem* e = scr_hash_elem_first(flushes);

  for (; e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* h = scr_hash_elem_hash(e);
    double          part = status_progress(prefix, scr_index_id(scr_hash_elem_key(e)), h, shown);
    fprintf(status_out, "Flush        ");
    tool_put(status_out, scr_hash_str_or(h, "NAME", "?"));
    fprintf(status_out, ", ");
    status_print_bytes(status_bytes(h));
    fprintf(status_out, ", since ");
    status_print_span(status_age(h, "TIME"));
    if (part >= 0) fprintf(status_out, "  "), status_print_bar(part);
    putc('\n', status_out);
  }
}

/* Print the conditions of the halt file of PREFIX. */
static int status_print_halt(const char* prefix)
{
  scr_record halt;
  char       when[32];
  int64_t    v;
  int        k, n = 0, rc = scr_record_read(&halt, prefix, "halt.scr");

  fprintf(status_out, "Halt         ");
  for (k = 0; k < SCR_NHALTS && rc == SCR_SUCCESS; k++) {
    const char* value = scr_hash_elem_get_first_val(halt.h, scr_halts[k].key);
    if (value == NULL || (k == SCR_HALT_REASON && scr_halt_is_over(halt.h, NULL))) continue;
    fprintf(status_out, "%s%s ", n++ > 0 ? ", " : "", scr_halts[k].key);
    if ((k == SCR_HALT_AFTER || k == SCR_HALT_BEFORE) && scr_str_int64(value, &v) == SCR_SUCCESS) {
      scr_time_string((time_t)v, when, sizeof when);
      fprintf(status_out, "%s", when);
    } else tool_put(status_out, value);
  }
  if (rc == SCR_SUCCESS && scr_hash_get(halt.h, "REQUEST") != NULL)
    fprintf(status_out, "%sa checkpoint is asked for", n++ > 0 ? ", " : "");
  fprintf(status_out, "%s\n", n == 0 ? "no condition" : "");
  scr_record_close(&halt, rc, 0);
  return rc;
}

/* Returns 1 if H says that the run has ended, by itself or not. */
static int status_has_ended(const scr_hash* h)
{
  return strcmp(scr_hash_str_or(h, "PHASE", ""), "ended") == 0 || scr_hash_get(h, "WAS") != NULL;
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
  scr_hash_util_set_str(h, "PHASE", "killed");
  scr_free(&was);
  return SCR_SUCCESS;
}

/* Print the phase of H, and since when it is in it. */
static void status_print_phase(const scr_hash* h)
{
  const char* was = scr_hash_elem_get_first_val(h, "WAS");

  fprintf(status_out, "Phase        ");
  tool_put(status_out, scr_hash_str_or(h, "PHASE", "?"));
  if (was != NULL) {
    fprintf(status_out, ": no process of the run is there, and SCR_Finalize was not completed; last seen ");
    tool_put(status_out, was);
    fprintf(status_out, ", which began ");
  } else {
    fprintf(status_out, ", for ");
  }
  status_print_span(status_age(h, "SINCE"));
  fprintf(status_out, "%s\n", was != NULL ? " ago" : "");
}

/*
** Print the status H of the run on PREFIX.  LEFT is what its allocation still has, negative if that is not known; SHOWN
** as in status_progress.
*/
static int status_print(const scr_hash* h, const char* prefix, int64_t left, scr_hash* shown)
{
  const scr_hash *run = scr_hash_get(h, "RUN"), *last = scr_hash_get(h, "LAST");
  double          seconds = 0;
  int64_t         usec;
  int             ended;

  fprintf(status_out, "Run          job ");
  tool_put(status_out, scr_hash_str_or(run, "JOBID", "?"));
  fprintf(status_out, ", %d ranks on %d nodes, for ", scr_hash_int_or(run, "RANKS", 0),
          scr_hash_int_or(run, "NODES", 0));
  ended = status_has_ended(h);
  status_print_span(status_age(run, "TIME") - (ended ? status_age(h, "SINCE") : 0));
  fprintf(status_out, ", on ");
  tool_put(status_out, prefix);
  putc('\n', status_out);
  status_print_phase(h);
  if (last == NULL) {
    fprintf(status_out, "Checkpoint   none in this run\n");
  } else {
    if (scr_hash_util_get_int64(last, "USEC", &usec) == SCR_SUCCESS) seconds = (double)usec / 1e6;
    fprintf(status_out, "Checkpoint   ");
    tool_put(status_out, scr_hash_str_or(last, "NAME", "?"));
    fprintf(status_out, " (dataset %d), ", scr_hash_int_or(last, "DSET", 0));
    status_print_span(status_age(last, "TIME"));
    fprintf(status_out, " ago; ");
    status_print_bytes(status_bytes(last));
    fprintf(status_out, " in %.3f s, ", seconds);
    status_print_bytes(seconds > 0 ? status_bytes(last) / seconds : 0);
    fprintf(status_out, "/s\n");
  }
  status_print_cache(scr_hash_get(h, "CACHE"));
  status_print_flushes(scr_hash_get(h, "FLUSH"), prefix, shown);
  fprintf(status_out, "Time left    ");
  if (left < 0) fprintf(status_out, "not known");
  else status_print_span((double)left);
  putc('\n', status_out);
  return status_print_halt(prefix);
}

/* ---- as JSON ---- */

/* Print what follows `"KEY": ` as a number of seconds, a whole number, or a string; N as in tool_print_json_key. */
static void status_json_seconds(const char* key, double seconds, int* n)
{
  tool_print_json_key(key, n);
  printf("%.3f", seconds > 0 ? seconds : 0);
}

static void status_json_number(const char* key, double number, int* n)
{
  tool_print_json_key(key, n);
  printf("%.0f", number);
}

static void status_json_text(const char* key, const char* text, int* n)
{
  tool_print_json_key(key, n);
  if (text != NULL) tool_print_json(text);
  else printf("null");
}

/* Print which dataset H, a part of a status, tells of. */
static void status_json_dataset(const scr_hash* h, int id, int* n)
{
  status_json_number("dataset", id, n);
  status_json_text("name", scr_hash_str_or(h, "NAME", "?"), n);
  status_json_number("bytes", status_bytes(h), n);
}

static void status_json_cache(const scr_hash* cache)
{
  const scr_hash_elem* e = scr_hash_elem_first(cache);
  int                  n, all = 0;

  putchar('[');
  for (; e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* h = scr_hash_elem_hash(e);
    if (all++ > 0) printf(", ");
    n = 0;
    status_json_dataset(h, scr_index_id(scr_hash_elem_key(e)), &n);
    status_json_text("state", scr_hash_str_or(h, "STATE", "complete"), &n);
    status_json_text("store", scr_hash_elem_get_first_val(h, "STORE"), &n);
    status_json_text("scheme", scr_hash_elem_get_first_val(h, "SCHEME"), &n);
    tool_print_json_key("on_prefix", &n);
    printf("%s}", scr_hash_get(h, "PFS") != NULL ? "true" : "false");
  }
  putchar(']');
}

static void status_json_flushes(const scr_hash* flushes, const char* prefix, scr_hash* shown)
{
  const scr_hash_elem* e = scr_hash_elem_first(flushes);
  int                  n, all = 0;

  putchar('[');
  for (; e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* h = scr_hash_elem_hash(e);
    int             id = scr_index_id(scr_hash_elem_key(e));
    double          part = status_progress(prefix, id, h, shown);
    if (all++ > 0) printf(", ");
    n = 0;
    status_json_dataset(h, id, &n);
    status_json_seconds("seconds", status_age(h, "TIME"), &n);
    tool_print_json_key("progress", &n);
    if (part < 0) printf("null}");
    else printf("%.4f}", part);
  }
  putchar(']');
}

/* Print the conditions of the halt file of PREFIX as members of the object that N counts. */
static int status_json_halt(const char* prefix, int* n)
{
  scr_record halt;
  int64_t    v;
  int        k, in = 0, rc = scr_record_read(&halt, prefix, "halt.scr");

  tool_print_json_key("halt", n);
  for (k = 0; k < SCR_NHALTS && rc == SCR_SUCCESS; k++) {
    const char* value = scr_hash_elem_get_first_val(halt.h, scr_halts[k].key);
    if (value == NULL || (k == SCR_HALT_REASON && scr_halt_is_over(halt.h, NULL))) continue;
    if (k != SCR_HALT_REASON && scr_str_int64(value, &v) == SCR_SUCCESS)
      status_json_number(scr_halts[k].key, (double)v, &in);
    else status_json_text(scr_halts[k].key, value, &in);
  }
  printf("%s}", in > 0 ? "" : "{");
  tool_print_json_key("requested", n);
  printf("%s", rc == SCR_SUCCESS && scr_hash_get(halt.h, "REQUEST") != NULL ? "true" : "false");
  scr_record_close(&halt, rc, 0);
  return rc;
}

/* Print the same as status_print as one object. */
static int status_print_json(const scr_hash* h, const char* prefix, int64_t left, scr_hash* shown)
{
  const scr_hash *run = scr_hash_get(h, "RUN"), *last = scr_hash_get(h, "LAST");
  int64_t         usec = 0;
  int             n = 0, in = 0, rc;

  status_json_text("prefix", prefix, &n);
  status_json_text("phase", scr_hash_str_or(h, "PHASE", "?"), &n);
  status_json_text("was", scr_hash_elem_get_first_val(h, "WAS"), &n);
  status_json_seconds("seconds", status_age(h, "SINCE"), &n);
  tool_print_json_key("run", &n);
  status_json_text("job", scr_hash_str_or(run, "JOBID", "?"), &in);
  status_json_text("host", scr_hash_str_or(run, "HOST", "?"), &in);
  status_json_number("ranks", scr_hash_int_or(run, "RANKS", 0), &in);
  status_json_number("nodes", scr_hash_int_or(run, "NODES", 0), &in);
  status_json_seconds("seconds", status_age(run, "TIME") - (status_has_ended(h) ? status_age(h, "SINCE") : 0), &in);
  putchar('}');
  tool_print_json_key("checkpoint", &n);
  if (last == NULL) {
    printf("null");
  } else {
    in = 0;
    status_json_dataset(last, scr_hash_int_or(last, "DSET", 0), &in);
    scr_hash_util_get_int64(last, "USEC", &usec);
    status_json_seconds("seconds", (double)usec / 1e6, &in);
    status_json_seconds("age", status_age(last, "TIME"), &in);
    putchar('}');
  }
  tool_print_json_key("cache", &n);
  status_json_cache(scr_hash_get(h, "CACHE"));
  tool_print_json_key("flushes", &n);
  status_json_flushes(scr_hash_get(h, "FLUSH"), prefix, shown);
  if (left < 0) status_json_text("seconds_left", NULL, &n);
  else status_json_number("seconds_left", (double)left, &n);
  rc = status_json_halt(prefix, &n);
  puts("}");
  return rc;
}

/* What the options say; the end of the allocation, 0 while nobody was asked, -1 if nobody knows; what was shown. */
typedef struct {
  int         watch, json;
  int64_t     seconds, end;
  const char* dir;
  scr_hash*   shown;
} status_job;

/*
** Find out when the allocation of RUN ends, for J: the run has told, or told whom to ask, or else it is that of this
** command.
*/
static void status_find_end(status_job* j, const scr_hash* run)
{
  const char *manager = scr_hash_str_or(run, "MANAGER", ""), *job = scr_hash_elem_get_first_val(run, "ALLOCATION");
  scr_hash*   params = NULL;
  int         kind = SCR_MANAGER_FLUX, rc;

  if (scr_hash_util_get_int64(run, "END", &j->end) == SCR_SUCCESS || j->end != 0) return;
  while (kind > SCR_MANAGER_NONE && strcmp(manager, scr_manager_names[kind]) != 0) kind--;
  if (job != NULL && kind > SCR_MANAGER_NONE) rc = scr_end_ask((scr_manager)kind, job, system_ask, &j->end);
  else rc = (params = tool_params(j->dir)) != NULL ? system_end(params, &j->end) : SCR_ERR_PARAM;
  if (rc != SCR_SUCCESS) j->end = -1;
  scr_hash_delete(&params);
}

/* Show the status once.  *ENDED becomes 1 if the run has ended. */
static int status_show(status_job* j, int* ended)
{
  scr_hash* h = scr_hash_new();
  int       rc = status_read(j->dir, h);
  int64_t   left = -1;
  char*     text = NULL;
  size_t    size = 0;

  if (rc == SCR_SUCCESS && scr_hash_size(h) == 0) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no run has used %s yet", j->dir);
  *ended = status_has_ended(h);
  if (rc == SCR_SUCCESS) status_find_end(j, scr_hash_get(h, "RUN"));
  if (j->end >= 0) left = j->end > (int64_t)time(NULL) ? j->end - (int64_t)time(NULL) : 0;
  if (rc == SCR_SUCCESS && j->watch && isatty(1)) printf("\033[H\033[J");
  if (rc == SCR_SUCCESS && j->json) rc = status_print_json(h, j->dir, left, j->shown);
  else if (rc == SCR_SUCCESS) {
    status_begin(&text, &size);
    rc = status_print(h, j->dir, left, j->shown);
    status_end(&text);
  }
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
  j.dir = optind < argc ? tool_dir(argv[optind]) : tool_prefix();
  if (!tool_is_dir(j.dir)) {
    SCR_ERRNO("cannot open the prefix directory %s", j.dir);
    return tool_fail(argv[0], 1, scr_err_text);
  }
  j.shown = scr_hash_new();
  while ((rc = status_show(&j, &ended)) == SCR_SUCCESS && fflush(stdout) == 0 && j.watch && !ended) {
    if (!isatty(1) && !j.json) putchar('\n');
    sleep((unsigned)j.seconds);
  }
  scr_hash_delete(&j.shown);
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return ferror(stdout) ? 1 : 0;
}

TOOL_MAIN(status_main)
