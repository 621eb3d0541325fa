/*
** library.c - the library under test, with what tests replace in it, and at its end the cases that need its privates.
*/
#include "../unit/check_alloc.h"

#include <sys/statvfs.h>

int (*test_statvfs)(const char* path, struct statvfs* fs) = statvfs;
#define statvfs(path, fs) test_statvfs(path, fs)

double test_look_seconds = 0;
#define SCR_LOOK_SECONDS test_look_seconds

#include "../../scr_impl.c"

#include "../unit/fault.c"

#include "trace.c"

#include "mpi_test.h"

const int library_threads = SCR_COPY_THREADS;

void removals_end(void)
{
  scr_removal_wait();
  MPI_Barrier(MPI_COMM_WORLD);
}

void mark_as_leaving(int id)
{
  CHECK(scr_cache_mark(id), "%s", scr_err_text);
}

/* ---- records on disk ------------------------------------------------------------------------------------------- */

/* Count the keys KEY in H, and note what stands below the first. */
static int count_keys(const scr_hash* h, const char* key, const char** below)
{
  scr_hash_elem* e;
  int            n = 0;

  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* inner = scr_hash_elem_hash(e);
    if (strcmp(scr_hash_elem_key(e), key) == 0) {
      if (*below == NULL && scr_hash_size(inner) > 0) *below = scr_hash_elem_key(scr_hash_elem_first(inner));
      n++;
    }
    n += count_keys(inner, key, below);
  }
  return n;
}

int record_find(const char* path, const char* key, char* below)
{
  scr_hash*   h = scr_hash_new();
  const char* first = NULL;
  int         n = -1;

  if (scr_hash_file_read(path, h) == SCR_SUCCESS) n = count_keys(h, key, &first);
  snprintf(below, SCR_MAX_FILENAME, "%s", first != NULL ? first : "");
  scr_hash_delete(&h);
  return n;
}

/* Take KEY, and what is below it, out of H and of all that is below H; how often it was there. */
static int strip_keys(scr_hash* h, const char* key)
{
  scr_hash_elem* e;
  int            n = scr_hash_get(h, key) != NULL;

  scr_hash_unset(h, key);
  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e)) n += strip_keys(scr_hash_elem_hash(e), key);
  return n;
}

int record_strip(const char* path, const char* key)
{
  scr_hash* h = scr_hash_new();
  int       n = 0;

  if (scr_hash_file_read(path, h) == SCR_SUCCESS) n = strip_keys(h, key);
  CHECK(n == 0 || scr_hash_file_write(path, h) == SCR_SUCCESS, "%s: %s", path, scr_err_text);
  scr_hash_delete(&h);
  return n;
}

static int replace_below(scr_hash* h, const char* key, const char* value)
{
  scr_hash_elem* e;
  int            n = scr_hash_get(h, key) != NULL;

  if (n) scr_hash_util_set_str(h, key, value);
  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e))
    if (strcmp(scr_hash_elem_key(e), key) != 0) n += replace_below(scr_hash_elem_hash(e), key, value);
  return n;
}

int record_replace(const char* path, const char* key, const char* value)
{
  scr_hash* h = scr_hash_new();
  int       n;

  CHECK(scr_hash_file_read(path, h) == SCR_SUCCESS, "%s", scr_err_text);
  n = replace_below(h, key, value);
  CHECK(scr_hash_file_write(path, h) == SCR_SUCCESS, "%s", scr_err_text);
  scr_hash_delete(&h);
  return n;
}

void record_put(const char* path, const char* keys, const char* value)
{
  scr_hash* h = scr_hash_new();

  CHECK(scr_hash_file_read(path, h) == SCR_SUCCESS, "%s", scr_err_text);
  scr_hash_setf(h, NULL, keys, value);
  CHECK(scr_hash_file_write(path, h) == SCR_SUCCESS, "%s", scr_err_text);
  scr_hash_delete(&h);
}

void record_change(const char* path, const char* key, const char* value)
{
  scr_hash* h = scr_hash_new();

  CHECK(scr_hash_file_read(path, h) == SCR_SUCCESS, "%s", scr_err_text);
  strip_keys(h, key);
  if (value != NULL) scr_hash_util_set_str(h, key, value);
  CHECK(scr_hash_file_write(path, h) == SCR_SUCCESS, "%s", scr_err_text);
  scr_hash_delete(&h);
}

/* What an entry of a filemap says of its dataset. */
static const char* const entry_words[] = {"writing", "whole", "verified", "rejected", "passed", "leaving"};

static int entry_word(const scr_entry* e)
{
  return e->mark == SCR_MARK_LEAVING    ? 5
         : e->mark == SCR_MARK_PASSED   ? 4
         : e->mark == SCR_MARK_REJECTED ? 3
         : e->verified                  ? 2
                                        : e->desc.complete;
}

typedef struct {
  const char* dataset;
  int         words[6];
} entry_count;

/* Count the entries of a dataset in the filemap of one rank. */
static void count_entries(const char* path, const char* name, void* arg)
{
  entry_count* c = (entry_count*)arg;
  scr_filemap  map = {NULL, 0};
  int          i, rank_of;

  if (sscanf(name, "filemap_%d.scrinfo", &rank_of) != 1 || strstr(name, ".tmp") != NULL) return;
  CHECK(scr_filemap_read(path, &map) == SCR_SUCCESS, "%s: %s", path, scr_err_text);
  for (i = 0; i < map.n; i++)
    if (strcmp(scr_desc_name(&map.entry[i]->desc), c->dataset) == 0) c->words[entry_word(map.entry[i])]++;
  scr_filemap_clear(&map);
}

/* Append a word to TEXT. */
static void add_word(char* text, const char* format, ...)
{
  size_t  n = strlen(text);
  va_list ap;

  if (n > 0 && text[n - 1] != ' ') n += (size_t)snprintf(text + n, RECORDS_MAX - n, " ");
  va_start(ap, format);
  vsnprintf(text + n, RECORDS_MAX - n, format, ap);
  va_end(ap);
}

static void add_filemaps(const char* dataset, char* text)
{
  entry_count c = {dataset, {0}};
  char        dir[700];
  int         i, n = 0;

  snprintf(dir, sizeof dir, "%s/nodes", case_dir);
  walk(dir, count_entries, &c);
  for (i = 0; i < 6; i++) n += c.words[i];
  for (i = 0; i < 6; i++)
    if (c.words[i] == ranks && n == ranks) add_word(text, "%s", entry_words[i]);
    else if (c.words[i] > 0) add_word(text, "%d %s", c.words[i], entry_words[i]);
  if (n == 0) add_word(text, "-");
}

static void add_flush_file(const char* dataset, char* text)
{
  scr_record     r;
  scr_flush_note note;
  int            i, id = 0, found = 0, rc = scr_flush_file_read(&r, case_prefix);

  CHECK(rc == SCR_SUCCESS, "%s", scr_err_text);
  while ((id = scr_flush_file_next(&r, id)) != 0) {
    if (!scr_flush_file_get(&r, id, &note) || strcmp(note.name, dataset) != 0) continue;
    found = 1;
    for (i = SCR_FLUSH_NLOCATIONS - 1; i >= 0; i--)
      if (note.location & scr_flush_locations[i].bit) add_word(text, "%s", scr_flush_locations[i].name);
  }
  if (!found) add_word(text, "-");
  scr_record_close(&r, SCR_SUCCESS, 0);
}

static void add_index(const char* dataset, char* text)
{
  scr_index      index;
  scr_index_item it;
  scr_choice     choice;
  int            found = 0, rc = scr_index_read(&index, case_prefix);

  CHECK(rc == SCR_SUCCESS, "%s", scr_err_text);
  scr_choice_read(&index, &choice);
  memset(&it, 0, sizeof it);
  while (scr_index_walk(&index, &it)) {
    if (strcmp(scr_desc_name(&it.desc), dataset) != 0) continue;
    found = 1;
    add_word(text, "%s", !it.complete ? "INCOMPLETE" : it.renaming ? "RENAMES" : "COMPLETE");
    if (it.failed) add_word(text, "FAILED");
    if (scr_index_is_current(&index, it.id, it.dir))
      add_word(text, "%s", !choice.by_user ? "CURRENT" : choice.until ? "CHOSEN BEFORE" : "CHOSEN");
  }
  if (!found) add_word(text, "-");
  scr_index_close(&index, SCR_SUCCESS, 0);
}

void records_say(const char* dataset, char* text)
{
  *text = '\0';
  removals_end();
  if (rank == 0) {
    add_filemaps(dataset, text);
    add_word(text, "| ");
    add_flush_file(dataset, text);
    add_word(text, "| ");
    add_index(dataset, text);
  }
  MPI_Bcast(text, RECORDS_MAX, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

void alloc_fails_after(long n)
{
  check_alloc_hit = 0;
  check_alloc_left = n;
}

int alloc_failed(void)
{
  return check_alloc_hit;
}

#include "private.c"
