/* scr_index - list the checkpoints on a prefix directory, or choose one.  No MPI. */
#include "halt.h"
#include "restart.h"
#include "scavenge.h"

static const char index_usage[] =
    "scr_index [--list | --long | --json | --current NAME | --drop NAME | --drop-after NAME | --add DIR | --build\n"
    "          | --delete NAME [--force]\n"
    "          | --add DIR (--pattern P... | --manifest FILE) [--name NAME] [--output]\n"
    "          | --extract NAME [FILE...] [--into DIR]] [--prefix DIR]\n"
    "List the datasets on the prefix directory, newest first, with a star at the checkpoint to restart from; choose\n"
    "that; remove datasets from the index, or add them; take files out of containers.\n"
    "\n"
    "  -l, --list            list the checkpoints (the default)\n"
    "  -L, --long            list all datasets, output too, with their size, and whether they can be loaded\n"
    "  -j, --json            the same as one JSON object\n"
    "  -c, --current NAME    the next run restarts from the checkpoint NAME, on the prefix or in the cache, even if "
    "the\n"
    "                        application rejected it or a newer one is there; while a run uses the prefix, only one\n"
    "                        that is on the prefix\n"
    "  -d, --drop NAME       remove the newest dataset NAME from the index; its files stay (also -r, --remove)\n"
    "      --drop-after NAME remove all datasets that are newer than NAME from the index\n"
    "      --delete NAME     remove the newest dataset NAME from the index, and delete its files; not the newest\n"
    "                        checkpoint or the one to restart from, and not while a run uses the prefix, unless\n"
    "      --force           is given too\n"
    "  -a, --add DIR         add the dataset in DIR, below the prefix, to the index, after all its files are checked;\n"
    "                        not while a run uses the prefix\n"
    "      --pattern P       files in DIR that were never written through the library become a checkpoint: P is the\n"
    "                        path of a rank's file below DIR, with %r for the number of the rank, or %5r for one of\n"
    "                        five digits; more than one --pattern if a rank has more than one file\n"
    "      --manifest FILE   the same for the files in FILE, which has lines of a rank and a path below DIR\n"
    "      --name NAME       its name; default: DIR\n"
    "      --output          it is output, and not a checkpoint\n"
    "  -b, --build[=ID]      the same for all datasets on the prefix, or for dataset ID; an index that is damaged is\n"
    "                        replaced\n"
    "  -x, --extract NAME    copy files of the newest dataset NAME, from containers too: each FILE, a path below the\n"
    "                        prefix or below the dataset's directory, or all files if none is named; checksums are\n"
    "                        compared, and existing files are not replaced\n"
    "      --into DIR        where copied files go, at their paths below the prefix; default: the working directory\n"
    "  -p, --prefix DIR      the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -h, --help            print this and exit;  --version  print the version and exit\n"
    "\n"
    "VALID is YES if the checkpoint was copied completely and the application has not rejected it.  STATE is ok,\n"
    "incomplete, rejected or passed (over): offered only if it is chosen.\n"
    "Exit 0, or 1 if there is an error.\n";

#define OPT_DROP_AFTER 1001
#define OPT_INTO       1002
#define OPT_PATTERN    1003
#define OPT_MANIFEST   1004
#define OPT_NAME       1005
#define OPT_OUTPUT     1006
#define OPT_DELETE     1007
#define OPT_FORCE      1008
#define PATTERNS_MAX   64

/* When IT was flushed, or "". */
static const char* index_flushed(const scr_index_item* it)
{
  return it->flushed != NULL && strlen(it->flushed) <= 19 ? it->flushed : "";
}

static const char* index_name_of(const scr_index_item* it)
{
  return *it->desc.name ? it->desc.name : it->dir;
}

static const char* index_state_of(const scr_index_item* it)
{
  return !it->complete || it->renaming ? "incomplete" : it->failed ? "rejected" : it->passed ? "passed" : "ok";
}

/* Returns 1 if the metadata beside the files of IT are there and are of this dataset. */
static int index_can_be_loaded(const char* prefix, const scr_index_item* it)
{
  scr_prefix_place place;

  return scr_prefix_has_summary(prefix, it, &place);
}

/* The columns in which all lists end. */
static void index_end_line(const scr_index_item* it)
{
  tool_print(index_flushed(it));
  printf("%*s", 20 - (int)strlen(index_flushed(it)), "");
  tool_print_line(index_name_of(it));
}

static void index_list_item(const scr_index_item* it, int current)
{
  printf("%c%6d %-5s ", current ? '*' : ' ', it->id, scr_index_is_good(it) ? "YES" : "NO");
  index_end_line(it);
}

static void index_list_long(const char* prefix, const scr_index_item* it, int current)
{
  int checkpoint = scr_desc_is_ckpt(&it->desc);

  printf("%c%6d %-10s %-10s %-5s %6d %8d %14" PRIu64 " ", current ? '*' : ' ', it->id,
         !checkpoint                   ? "output"
         : scr_desc_is_pure(&it->desc) ? "checkpoint"
                                       : "both",
         index_state_of(it), index_can_be_loaded(prefix, it) ? "YES" : "NO", it->desc.ranks, it->desc.files,
         it->desc.bytes);
  index_end_line(it);
}

static void index_print_json(const char* prefix, const scr_index_item* it, int current, int n)
{
  printf("%s\n  {\"id\": %d, \"name\": ", n > 0 ? "," : "", it->id);
  tool_print_json(index_name_of(it));
  printf(", \"dir\": ");
  tool_print_json(it->dir);
  printf(", \"checkpoint\": %s, \"output\": %s, \"current\": %s, \"state\": \"%s\", \"loadable\": %s, \"ranks\": %d, "
         "\"files\": %d, \"bytes\": %" PRIu64 ", \"flushed\": ",
         scr_desc_is_ckpt(&it->desc) ? "true" : "false", it->desc.flags & SCR_FLAG_OUTPUT ? "true" : "false",
         current ? "true" : "false", index_state_of(it), index_can_be_loaded(prefix, it) ? "true" : "false",
         it->desc.ranks, it->desc.files, it->desc.bytes);
  tool_print_json(index_flushed(it));
  printf(", \"user\": ");
  tool_print_json(it->desc.user);
  printf(", \"job\": ");
  tool_print_json(it->desc.job);
  putchar('}');
}

/*
** Tell, beside the list, what the cache of the last run over PREFIX has that is newer than what INDEX has to restart
** from.
*/
static void index_tell_cached(scr_index* index, const char* prefix)
{
  restart_ckpt c;

  restart_in_index(index, &c);
  c.cached = 0;
  if (restart_in_cache(prefix, NULL, &c) != SCR_SUCCESS || !c.cached) return;
  fflush(stdout);
  fprintf(stderr, "The last run has left a newer checkpoint in the cache, %d, ", c.id);
  tool_put(stderr, c.name);
  fprintf(stderr, "; a run that can use that cache restarts from it\n");
}

/* List in the form FORM, an option letter. */
static int index_list(const char* argv0, const char* prefix, int form)
{
  scr_index      index;
  scr_index_item it;
  restart_ckpt   next;
  int            n = 0, rc = scr_index_read(&index, prefix);

  if (rc != SCR_SUCCESS) {
    scr_index_close(&index, rc, 0);
    return tool_fail(argv0, 1, scr_err_text);
  }
  restart_in_index(&index, &next);
  if (form == 'l') printf("   DSET VALID FLUSHED             NAME\n");
  if (form == 'L')
    printf("   DSET KIND       STATE      LOADS  RANKS    FILES          BYTES FLUSHED             NAME\n");
  if (form == 'j') {
    printf("{\"prefix\": ");
    tool_print_json(prefix);
    printf(", \"datasets\": [");
  }
  memset(&it, 0, sizeof it);
  while (scr_index_walk(&index, &it)) {
    int is_current = it.id == next.id && strcmp(it.dir, next.dir) == 0;
    if (form == 'l' && scr_desc_is_ckpt(&it.desc)) index_list_item(&it, is_current);
    if (form == 'L') index_list_long(prefix, &it, is_current);
    if (form == 'j') index_print_json(prefix, &it, is_current, n++);
  }
  if (form == 'j') printf("]}\n");
  else index_tell_cached(&index, prefix);
  scr_index_close(&index, rc, 0);
  return fflush(stdout) == 0 ? 0 : 1;
}

/* What --add is to make of files that were never written through the library. */
typedef struct {
  const char* pattern[PATTERNS_MAX];
  int         patterns;
  const char *manifest, *name;
  int         flags;
} index_plain;

/* Make FILE the path that PATTERN gives for RANK; returns 0 if PATTERN has no %r, or the path is too long. */
static int index_path_of(const char* pattern, int rank, char* file, size_t n)
{
  const char* p;
  char*       end;
  size_t      k = 0;
  int         found = 0;

  for (p = pattern; *p != '\0' && k + 24 < n; p++) {
    long width = *p == '%' ? strtol(p + 1, &end, 10) : 0;
    if (*p == '%' && *end == 'r' && width >= 0 && width <= 20) {
      k += (size_t)snprintf(file + k, n - k, "%0*d", (int)width, rank);
      p = end;
      found = 1;
    } else {
      file[k++] = *p;
    }
  }
  file[k] = '\0';
  return found && *p == '\0';
}

/* Add the files of all patterns: the ranks are those from 0 on, until none of their files is there. */
static int index_add_patterns(const index_plain* plain, scr_adoption* a)
{
  char        file[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME];
  struct stat st;
  int         r, i, there = 1, rc = SCR_SUCCESS;

  for (r = 0; there > 0 && rc == SCR_SUCCESS; r++) {
    for (i = there = 0; i < plain->patterns; i++) {
      if (!index_path_of(plain->pattern[i], r, file, sizeof file))
        return SCR_ERR(SCR_ERR_ARG, "the pattern %.200s needs %%r for the number of the rank", plain->pattern[i]);
      snprintf(path, sizeof path, "%s/%s/%s", a->prefix, a->dir, file);
      there += lstat(path, &st) == 0;
    }
    for (i = 0; i < plain->patterns && there > 0 && rc == SCR_SUCCESS; i++) {
      index_path_of(plain->pattern[i], r, file, sizeof file);
      rc = scr_adopt_file(a, r, file);
    }
  }
  return rc;
}

/* Returns 1 if a file of PATTERN has a rank above those of A: then one between them is missing. */
static int index_has_gap(const scr_adoption* a, const char* pattern)
{
  char        file[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME];
  struct stat st;
  int         r, end = a->ranks + 1000 > 2 * a->ranks ? a->ranks + 1000 : 2 * a->ranks;

  for (r = a->ranks; r < end; r++) {
    index_path_of(pattern, r, file, sizeof file);
    snprintf(path, sizeof path, "%s/%s/%s", a->prefix, a->dir, file);
    if (lstat(path, &st) != 0) continue;
    SCR_ERR(SCR_ERR_MISSING, "%s is there, but rank %d has no file; give all with --manifest if that is right", path,
            a->ranks);
    return 1;
  }
  return 0;
}

/* Add the files that the manifest of PLAIN names. */
static int index_add_manifest(const index_plain* plain, scr_adoption* a)
{
  FILE* file = fopen(plain->manifest, "r");
  char  line[SCR_MAX_FILENAME + 40], *end;
  int   n = 0, rc = SCR_SUCCESS;

  if (file == NULL) return SCR_ERRNO("cannot open %s", plain->manifest);
  while (rc == SCR_SUCCESS && fgets(line, sizeof line, file) != NULL) {
    long rank = strtol(line, &end, 10);
    n++;
    if (strchr(line, '\n') == NULL && !feof(file))
      rc = SCR_ERR(SCR_ERR_FORMAT, "line %d of %s is too long", n, plain->manifest);
    line[strcspn(line, "\r\n")] = '\0'; /* an editor of another system may end lines with both */
    if (*line == '#' || *line == '\0') continue;
    if (rc == SCR_SUCCESS && (end == line || (*end != ' ' && *end != '\t') || rank < 0 || rank > 100000000))
      rc = SCR_ERR(SCR_ERR_FORMAT, "line %d of %s is not a rank and a path: %.100s", n, plain->manifest, line);
    if (rc == SCR_SUCCESS) rc = scr_adopt_file(a, (int)rank, end + strspn(end, " \t"));
  }
  if (rc == SCR_SUCCESS && ferror(file)) rc = SCR_ERRNO("cannot read %s", plain->manifest);
  fclose(file);
  return rc;
}

/*
** Make BELOW, of N bytes, the path below PREFIX that NAME means, as for the calls of the library; a whole path may lead
** there through links.
*/
static int index_path_below(const char* prefix, const char* name, char* below, size_t n)
{
  char *root = realpath(prefix, NULL), *whole = NULL;
  int   rc = SCR_SUCCESS;

  if (root == NULL) rc = SCR_ERRNO("cannot find the prefix %s", prefix);
  else if ((rc = scr_path_in_prefix(root, root, name, below, n)) == SCR_ERR_PATH && *name == '/' &&
           (whole = realpath(name, NULL)) != NULL)
    rc = scr_path_in_prefix(root, root, whole, below, n);
  free(root);
  free(whole);
  return rc;
}

/* The same for NAME, which is to be a directory. */
static int index_dir_below(const char* prefix, const char* name, char* below, size_t n)
{
  int rc = index_path_below(prefix, name, below, n);
  return rc == SCR_ERR_PATH ? SCR_ERR(rc, "%s is not a directory below the prefix %s", name, prefix) : rc;
}

static void index_print_adopted(const scr_desc* desc)
{
  printf("%6d ", desc->identity.id);
  tool_print(scr_desc_name(desc));
  printf(": %d files of %d ranks, %" PRIu64 " bytes\n", desc->files, desc->ranks, desc->bytes);
}

/*
** Keep runs off PREFIX while FD is open: they would wait for the index, and not see what is entered beside them.  An
** index that was lost is made again.
*/
static int index_hold(const char* prefix, int* fd)
{
  int rc = scr_hold_prefix(prefix, 0, fd);

  if (rc == SCR_ERR_BUSY) rc = SCR_ERR(rc, "a run uses the prefix %s; wait until it has ended", prefix);
  return rc == SCR_SUCCESS ? scr_scan_restore(prefix) : rc;
}

/* Make the files in DIR that PLAIN names a dataset. */
static int index_adopt(const char* argv0, const char* prefix, const char* dir, const index_plain* plain)
{
  scr_index    index;
  scr_adoption a;
  scr_desc     desc;
  char         below[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int          i, fd = -1, rc = index_dir_below(prefix, dir, below, sizeof below);

  memset(&a, 0, sizeof a);
  a.prefix = prefix;
  a.dir = below;
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s", prefix, below);
  if (rc == SCR_SUCCESS && !tool_is_dir(path)) rc = SCR_ERRNO("cannot open the directory %s", path);
  if (rc == SCR_SUCCESS) rc = scr_prefix_check_owner(prefix, below);
  if (rc == SCR_SUCCESS) rc = index_hold(prefix, &fd); /* a run would give out the same ids, too */
  if (rc == SCR_SUCCESS) rc = plain->manifest != NULL ? index_add_manifest(plain, &a) : index_add_patterns(plain, &a);
  for (i = 0; i < plain->patterns && rc == SCR_SUCCESS; i++)
    if (index_has_gap(&a, plain->pattern[i])) rc = SCR_ERR_MISSING;
  if (rc == SCR_SUCCESS) {
    rc = scr_index_open(&index, prefix);
    if (rc == SCR_SUCCESS)
      rc = scr_adopt(&index, &a, scr_flush_file_last_id(&index) + 1, plain->name != NULL ? plain->name : a.dir,
                     plain->flags, &desc);
    rc = scr_index_close(&index, rc, 1);
  }
  if (rc == SCR_SUCCESS) index_print_adopted(&desc);
  if (fd >= 0) close(fd);
  scr_adopt_free(&a);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv0, 1, scr_err_text);
}

/* The id of the newest checkpoint NAME in the cache, as the flush file knows it; 0 if there is none. */
static int index_find_cached(const char* prefix, const char* name)
{
  scr_record file;
  int        rc = scr_flush_file_read(&file, prefix);
  int        id = rc == SCR_SUCCESS ? scr_flush_file_named(&file, name) : 0;

  scr_record_close(&file, rc, 0);
  return id;
}

/* Make the checkpoint NAME the user's choice. */
static int index_choose(const char* argv0, const char* prefix, const char* name)
{
  scr_index      index;
  scr_index_item it;
  int            rc = scr_index_open(&index, prefix), used = !halt_is_unused(prefix);
  int            cached = rc == SCR_SUCCESS ? index_find_cached(prefix, name) : 0; /* a run may have ended meanwhile */

  if (rc == SCR_SUCCESS && strlen(name) >= SCR_MAX_FILENAME) rc = SCR_ERR(SCR_ERR_ARG, "the name is too long");
  if (rc == SCR_SUCCESS && scr_index_named_ckpt(&index, name, &it) == SCR_SUCCESS &&
      (cached == 0 ||
       (it.id >= cached && it.complete && scr_desc_is_ckpt(&it.desc) && strcmp(it.desc.name, name) == 0))) {
    if (!scr_desc_is_ckpt(&it.desc) || !it.complete)
      rc = SCR_ERR(SCR_ERR_NOT_FOUND, "%s on %s is not a complete checkpoint", name, prefix);
    else scr_index_set_current(&index, it.id, it.dir, 1);
  } else if (rc == SCR_SUCCESS && cached > 0) {
    if (!used) scr_index_set_current(&index, cached, name, 1);
    else
      rc = SCR_ERR(SCR_ERR_BUSY,
                   "a run uses the prefix %s, and may delete %s, which only its cache has; wait until it has ended",
                   prefix, name);
  } else if (rc == SCR_SUCCESS) {
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there is no checkpoint %s on %s, or in the cache of its last run", name, prefix);
  }
  rc = scr_index_close(&index, rc, 1);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv0, 1, scr_err_text);
}

/* Remove the newest dataset NAME from the index or, if AFTER, all that are newer. */
static int index_drop(const char* argv0, const char* prefix, const char* name, int after)
{
  scr_index      index;
  scr_index_item it;
  int            rc = scr_index_open(&index, prefix);

  if (rc == SCR_SUCCESS && scr_index_named(&index, name, &it) != SCR_SUCCESS)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the index of %s has no dataset %s", prefix, name);
  if (rc == SCR_SUCCESS && after) scr_index_drop_newer(&index, it.id);
  else if (rc == SCR_SUCCESS) scr_index_remove(&index, it.id, it.dir);
  rc = scr_index_close(&index, rc, 1);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv0, 1, scr_err_text);
}

/* SCR_ERR_ARG if IT of the index is one that a restart needs. */
static int index_may_delete(scr_index* index, const char* prefix, const scr_index_item* it)
{
  scr_index_item other;
  restart_ckpt   c;

  if (scr_index_current(index, &other) && other.id == it->id && strcmp(other.dir, it->dir) == 0) {
    restart_in_index(index, &c);
    c.cached = 0;
    if (restart_in_cache(prefix, NULL, &c) == SCR_SUCCESS && c.cached)
      return SCR_ERR(SCR_ERR_ARG,
                     "%s is the checkpoint that the next run restarts from if it cannot use the cache, which has the "
                     "newer %d; --force deletes it",
                     it->dir, c.id);
    return SCR_ERR(SCR_ERR_ARG, "%s is the checkpoint that the next run restarts from; --force deletes it", it->dir);
  }
  if (scavenge_newest(index, prefix, INT_MAX, 0, &other) == it->id)
    return SCR_ERR(SCR_ERR_ARG, "%s is the newest good checkpoint whose files are there; --force deletes it", it->dir);
  return SCR_SUCCESS;
}

/* As scr_prefix_delete_leaf, but empty directories stay: a run may have made them for its files. */
static int index_delete_leaf(const scr_objects* l, void* arg)
{
  scr_objects_remove_tmp(l, (const char*)arg);
  return scr_objects_delete(l, (const char*)arg);
}

/*
** Delete the files and metadata of the dataset IDENTITY in DIR, which has left the index.  LOCK, if it is not -1, holds
** the index meanwhile, as a run may be about to write files of these names; it is closed.
*/
static int index_clear(const char* prefix, const char* dir, const scr_identity* identity, int lock)
{
  int rc = scr_prefix_clear(prefix, dir, identity, lock >= 0 ? index_delete_leaf : scr_prefix_delete_leaf);

  if (lock >= 0) close(lock);
  if (rc == SCR_SUCCESS) return scr_prefix_end_deletion(prefix, identity->id, dir);
  return SCR_ERR(rc, "%.*s; the next run deletes the rest of %s/%s", scr_err_length, scr_err_text, prefix, dir);
}

/*
** Delete the newest dataset NAME: first it leaves the index, then its files go, and last its metadata.  What is left
** when this ends halfway, the next run deletes (X6).  Nothing changes if its map cannot be read.  A run that uses the
** prefix, with FORCE, cannot publish anything until that is done.
*/
static int index_delete(const char* argv0, const char* prefix, const char* name, int force)
{
  scr_index        index;
  scr_index_item   it;
  scr_prefix_place place;
  scr_identity     identity = {0, 0, 0};
  char             dir[SCR_MAX_FILENAME] = "";
  int              used, lock = -1, fd = -1, rc = scr_hold_prefix(prefix, 0, &fd);

  used = rc == SCR_ERR_BUSY;
  if (used)
    rc = force ? SCR_SUCCESS
               : SCR_ERR(SCR_ERR_BUSY, "a run uses the prefix %s; wait until it has ended, or use --force", prefix);
  if (rc == SCR_SUCCESS) {
    rc = scr_index_open(&index, prefix);
    if (rc == SCR_SUCCESS && scr_index_named(&index, name, &it) != SCR_SUCCESS)
      rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the index of %s has no dataset %s", prefix, name);
    if (rc == SCR_SUCCESS && !force) rc = index_may_delete(&index, prefix, &it);
    if (rc == SCR_SUCCESS) {
      identity = it.desc.identity;
      identity.id = it.id;
      rc = scr_fmt(dir, sizeof dir, "%s", it.dir);
    }
    if (rc == SCR_SUCCESS) rc = scr_prefix_may_delete(prefix, dir);
    if (rc == SCR_SUCCESS) rc = scr_prefix_locate(prefix, identity.id, dir, &place);
    if (rc == SCR_SUCCESS && it.renaming) rc = scr_rank2file_take_over(prefix, dir);
    if (rc == SCR_SUCCESS) rc = scr_rank2file_walk(prefix, &place, &identity, NULL, scr_rank2file_skip_leaf, NULL);
    if (rc == SCR_SUCCESS) scr_index_begin_deletion(&index, identity.id, dir);
    if (rc == SCR_SUCCESS && used) lock = dup(index.lock); /* which holds it after the close, too */
    rc = scr_index_close(&index, rc, 1);
    if (rc == SCR_SUCCESS) rc = index_clear(prefix, dir, &identity, lock);
  }
  if (fd >= 0) close(fd);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv0, 1, scr_err_text);
}

/* What a scan works on. */
typedef struct {
  const char* argv0;
  scr_index*  index;
  int         bad;   /* 1: a dataset could not be added */
  int64_t     only;  /* the id of the dataset to add; 0 for all */
  int         found; /* datasets that were added or could not be */
} index_scan;

/* Returns 1 if the dataset in DIR is another one than S is to add. */
static int index_is_other(const index_scan* s, const char* dir)
{
  scr_desc desc;
  char     path[SCR_MAX_FILENAME];
  int      complete;

  if (s->only == 0) return 0;
  memset(&desc, 0, sizeof desc);
  return scr_summary_path(s->index->prefix, dir, path) != SCR_SUCCESS ||
         scr_summary_read(path, &desc, &complete) != SCR_SUCCESS || desc.identity.id != s->only;
}

/* Add the dataset in DIR, and tell so. */
static void index_add(const char* dir, void* arg)
{
  index_scan* s = (index_scan*)arg;
  scr_desc    desc;
  char        text[SCR_ERR_TEXT_MAX + SCR_MAX_FILENAME];

  if (index_is_other(s, dir)) return;
  s->found++;
  if (scr_scan_add(s->index, dir, &desc) == SCR_SUCCESS) {
    printf("%6d ", desc.identity.id);
    tool_print_line(*desc.name ? desc.name : dir);
    return;
  }
  s->bad = 1;
  snprintf(text, sizeof text, "%s is not added: %s", dir, scr_err_text);
  tool_fail(s->argv0, 1, text);
}

/* Open the index; one that is damaged is kept under another name. */
static int index_open_to_build(const char* prefix, scr_index* index)
{
  int rc = scr_index_open(index, prefix);

  if (rc != SCR_ERR_FORMAT && rc != SCR_ERR_CRC) return rc;
  scr_index_close(index, rc, 0);
  rc = scr_record_put_aside(prefix, "index.scr");
  return rc == SCR_SUCCESS ? scr_index_open(index, prefix) : rc;
}

/* Add the dataset in DIR to the index or, if DIR is NULL, all that are found: those of the id ONLY, unless it is 0. */
static int index_build(const char* argv0, const char* prefix, const char* dir, int64_t only)
{
  scr_index  index;
  index_scan s = {argv0, &index, 0, only, 0};
  char       below[SCR_MAX_FILENAME];
  int        fd = -1, rc = dir != NULL ? index_dir_below(prefix, dir, below, sizeof below) : SCR_SUCCESS;

  if (rc == SCR_SUCCESS && dir != NULL) rc = scr_prefix_check_owner(prefix, below);
  if (rc == SCR_SUCCESS) rc = index_hold(prefix, &fd);
  if (rc != SCR_SUCCESS) return tool_fail(argv0, 1, scr_err_text);
  rc = dir == NULL ? index_open_to_build(prefix, &index) : scr_index_open(&index, prefix);
  if (rc == SCR_SUCCESS && dir == NULL) scr_prefix_walk(prefix, "", INT_MAX, NULL, index_add, &s);
  if (rc == SCR_SUCCESS && dir != NULL) index_add(below, &s);
  if (rc == SCR_SUCCESS && only != 0 && s.found == 0)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no directory below %s has the summary of a dataset %d", prefix, (int)only);
  rc = scr_index_close(&index, rc, 1);
  close(fd);
  return rc == SCR_SUCCESS ? s.bad : tool_fail(argv0, 1, scr_err_text);
}

static void index_say_path(const char* path)
{
  tool_print_line(path);
}

/*
** Make the directory INTO, and fence it.  Others may be able to write to where it lies: a link that they put in its
** place, before or meanwhile, is not followed; nor one on the way to it below the prefix, which has its fence already.
*/
static int index_fence(const char* into)
{
  char             above[SCR_MAX_FILENAME], *slash;
  struct stat      st;
  const scr_fence* which;
  int              fd, rc = scr_path_dir_of(into, above, sizeof above);

  while (rc == SCR_SUCCESS && stat(above, &st) < 0 && (slash = strrchr(above, '/')) > above) *slash = '\0';
  if (scr_fence_length(into, &which) == 0) scr_fence_set(&scr_fence_target, above);
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(into, 0777);
  if (rc != SCR_SUCCESS) return rc;
  if ((fd = scr_fence_open(AT_FDCWD, into, SCR_FENCE_LINKS)) < 0) return SCR_ERRNO("cannot open %s", into);
  scr_fence_pin(&scr_fence_target, into, fd);
  return SCR_SUCCESS;
}

/* Copy the N files of the newest dataset NAME into the directory INTO; all of them if N is 0. */
static int index_extract(const char* argv0, const char* prefix, const char* name, int n, char** file, const char* into)
{
  scr_index      index;
  scr_index_item it;
  scr_extraction x;
  char           below[SCR_MAX_FILENAME], whole[SCR_MAX_FILENAME];
  int            i, made, rc = scr_index_read(&index, prefix);

  memset(&x, 0, sizeof x);
  x.prefix = prefix;
  x.into = tool_whole(into, whole);
  made = access(x.into, F_OK) != 0;
  x.say = index_say_path;
  if (rc == SCR_SUCCESS && scr_index_named(&index, name, &it) != SCR_SUCCESS)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the index of %s has no dataset %s", prefix, name);
  if (rc == SCR_SUCCESS) rc = index_fence(x.into);
  for (i = 0; (i < n || i == 0) && rc == SCR_SUCCESS; i++) {
    x.name = n == 0 ? NULL : index_path_below(prefix, file[i], below, sizeof below) == SCR_SUCCESS ? below : file[i];
    x.found = 0;
    rc = scr_scan_extract(&x, &it);
    if (rc != SCR_ERR_NOT_FOUND || n == 0 || x.name == file[i]) continue;
    x.name = file[i]; /* a path below the prefix, or in the dataset, as it is */
    rc = scr_scan_extract(&x, &it);
  }
  if (rc != SCR_SUCCESS && made) scr_os.rmdir(x.into); /* if nothing came into it */
  scr_index_close(&index, rc, 0);
  return rc == SCR_SUCCESS && fflush(stdout) == 0 ? 0 : tool_fail(argv0, 1, scr_err_text);
}

/* The word EXTRA is too much; an option may have been taken for NAME, which has to follow the option before it. */
static int index_refuse(const char* argv0, const char* name, const char* extra)
{
  if (name != NULL && *name == '-')
    SCR_ERR(SCR_ERR_ARG, "%.200s is in the place of a name, and %.200s is too much: a name follows its option", name,
            extra);
  else SCR_ERR(SCR_ERR_ARG, "%.200s is too much; --help tells what there is to say", extra);
  return tool_fail(argv0, 1, scr_err_text);
}

SCR_FN int index_main(int argc, char** argv)
{
  static const struct option options[] = {{"list", no_argument, NULL, 'l'},
                                          {"long", no_argument, NULL, 'L'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"current", required_argument, NULL, 'c'},
                                          {"drop", required_argument, NULL, 'd'},
                                          {"remove", required_argument, NULL, 'd'},
                                          {"drop-after", required_argument, NULL, OPT_DROP_AFTER},
                                          {"delete", required_argument, NULL, OPT_DELETE},
                                          {"force", no_argument, NULL, OPT_FORCE},
                                          {"add", required_argument, NULL, 'a'},
                                          {"build", optional_argument, NULL, 'b'},
                                          {"extract", required_argument, NULL, 'x'},
                                          {"into", required_argument, NULL, OPT_INTO},
                                          {"pattern", required_argument, NULL, OPT_PATTERN},
                                          {"manifest", required_argument, NULL, OPT_MANIFEST},
                                          {"name", required_argument, NULL, OPT_NAME},
                                          {"output", no_argument, NULL, OPT_OUTPUT},
                                          {"prefix", required_argument, NULL, 'p'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char *               prefix = tool_prefix(), *name = NULL, *into = NULL;
  index_plain                plain = {{NULL}, 0, NULL, NULL, SCR_FLAG_CHECKPOINT};
  int64_t                    id = 0;
  int                        c, what = 0, force = 0;

  while ((c = getopt_long(argc, argv, "lLjc:d:r:a:b::x:p:h", options, NULL)) != -1) {
    if (c == 'r') c = 'd';
    if (c == 'p') prefix = tool_dir(optarg);
    else if (c == OPT_INTO) into = optarg;
    else if (c == OPT_FORCE) force = 1;
    else if (c == OPT_PATTERN && plain.patterns < PATTERNS_MAX) plain.pattern[plain.patterns++] = optarg;
    else if (c == OPT_MANIFEST) plain.manifest = optarg;
    else if (c == OPT_NAME) plain.name = optarg;
    else if (c == OPT_OUTPUT) plain.flags = SCR_FLAG_OUTPUT;
    else if (c == 'h' || c == '?' || c == TOOL_OPT_VERSION) return tool_answer(c, argv[0], index_usage, 1);
    else if (what != 0 && what != c) return tool_usage(argv[0], index_usage, 1, "one question or change at a time");
    else {
      what = c;
      if (optarg != NULL) name = optarg;
    }
  }
  if (force && what != OPT_DELETE) return tool_usage(argv[0], index_usage, 1, "--force belongs to --delete");
  if (into != NULL && what != 'x') return tool_usage(argv[0], index_usage, 1, "--into belongs to --extract");
  if (what == 'b' && name == NULL && optind + 1 == argc) name = argv[optind++]; /* as in release 3: -b ID */
  if (what == 'b' && name != NULL && !tool_number(name, 1, INT_MAX, &id))
    return tool_usage(argv[0], index_usage, 1, "--build needs the id of a dataset, or nothing after it");
  if (optind != argc && what != 'x') return index_refuse(argv[0], name, argv[optind]);
  if ((plain.patterns > 0) + (plain.manifest != NULL) > 1)
    return tool_usage(argv[0], index_usage, 1, "either --pattern or --manifest");
  if ((plain.patterns > 0 || plain.manifest != NULL || plain.name != NULL || plain.flags == SCR_FLAG_OUTPUT) &&
      what != 'a')
    return tool_usage(argv[0], index_usage, 1, "--pattern, --manifest, --name and --output belong to --add");
  if (!tool_is_dir(prefix)) {
    SCR_ERRNO("cannot open the prefix directory %s", prefix);
    return tool_fail(argv[0], 1, scr_err_text);
  }
  if (scr_prefix_check_links(prefix) != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  if (what == 'c') return index_choose(argv[0], prefix, name);
  if (what == 'd' || what == OPT_DROP_AFTER) return index_drop(argv[0], prefix, name, what == OPT_DROP_AFTER);
  if (what == OPT_DELETE) return index_delete(argv[0], prefix, name, force);
  if (what == 'a' && (plain.patterns > 0 || plain.manifest != NULL)) return index_adopt(argv[0], prefix, name, &plain);
  if (what == 'a' || what == 'b') return index_build(argv[0], prefix, what == 'a' ? name : NULL, id);
  if (what == 'x') return index_extract(argv[0], prefix, name, argc - optind, argv + optind, into != NULL ? into : ".");
  return index_list(argv[0], prefix, what != 0 ? what : 'l');
}

TOOL_MAIN(index_main)
