/* scr_postrun - at the end of an allocation, save what the caches have and the prefix has not.  No MPI. */
#include "transfer.h"

static const char postrun_usage[] =
    "scr_postrun [OPTIONS]\n"
    "After the last run of an allocation: copy the newest checkpoint from the caches of the nodes to the prefix\n"
    "directory, unless it is there; or else the newest before it that can be put together.  Output datasets go "
    "before,\n"
    "and checkpoints that SCR_FLUSH should have copied go after.  The next run restarts from the checkpoint.\n"
    "The nodes are asked, too, for datasets that a run could not record on the prefix.\n"
    "The daemons scr_transfer end before.\n"
    "\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -d, --down NODES   nodes that do not work, beside those that scr_list_down_nodes finds\n"
    "      --timeout N    give up a node that reports no progress for N seconds; default 300\n"
    "  -j, --jobid ID     the job, if the environment does not tell; a launcher, such as srun, as in scripts of\n"
    "                     release 3, is ignored\n"
    "  -v, --verbose      accepted for scripts of earlier releases\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0 if the newest checkpoint that could be saved is on the prefix, or 1.  With SCR_ENABLE=0 it does nothing.\n";

#define OPT_POSTRUN_TIMEOUT  1001
#define OPT_POSTRUN_LAUNCHER 1002 /* of release 3 */

/*
** The nodes of the allocation that cannot be reached, those of KNOWN included: a new string, or NULL if all can.  One
** whose directories are full or read-only can be read.
*/
static char* postrun_find_down(const char* known)
{
  const char* arguments[] = {"--reach", known != NULL ? "--down" : NULL, known, NULL};
  char*       out;
  int         status = system_run_sibling("scr_list_down_nodes", arguments, 0, SCAVENGE_SECONDS, &out);

  if (status < 0 || status > 1) scavenge_say("scr_list_down_nodes failed; all nodes are asked");
  if (out != NULL) out[strcspn(out, "\r\n")] = '\0';
  if (status == 1 && out != NULL && *out != '\0') return out;
  scr_free(&out);
  return known != NULL && *known != '\0' ? scr_strdup(known) : NULL;
}

/* What to save, and what is saved so far. */
typedef struct {
  const scavenge_options* o;
  scr_record              file;
  int                     checkpoints; /* 1: the flush file knows of some */
  int                     saved;       /* id of the newest checkpoint that is on the prefix; 0: none */
  int                     failed;      /* id of an output, or of the user's choice, that could not be saved; 0: none */
  int                     held;        /* id of an output for which newer checkpoints stay in the caches; 0: none */
  scavenge_list           unknown;     /* what only the nodes know of */
  int                     asked;       /* 1: all nodes have said that */
} postrun;

/* Add what only the nodes know of to the flush file in memory. */
static void postrun_add_unknown(postrun* p)
{
  scr_flush_note note;
  int            i;

  for (i = 0; i < p->unknown.n; i++)
    if (!scr_flush_file_get(&p->file, p->unknown.set[i].id, &note)) scr_flush_file_put(&p->file, &p->unknown.set[i]);
}

/* Read the flush file, which each dataset that is saved changes; the caller closes it, after an error too. */
static int postrun_read(postrun* p)
{
  int rc;

  scr_record_close(&p->file, SCR_SUCCESS, 0);
  if ((rc = scr_flush_file_read(&p->file, p->o->prefix)) == SCR_SUCCESS) postrun_add_unknown(p);
  return rc;
}

/*
** Ask the nodes for newer datasets than the prefix knows of: it may have been full, away or read-only when a run
** completed them, or has old records.
*/
static void postrun_ask(postrun* p)
{
  scr_index index;
  char      text[128];
  int       i, kept = 0, last = INT_MAX, rc = scr_index_read(&index, p->o->prefix);

  if (rc == SCR_SUCCESS) last = scr_flush_file_last_id(&index);
  scr_index_close(&index, rc, 0);
  p->asked = scavenge_ask(p->o, &p->unknown) == SCR_SUCCESS && p->unknown.failed == 0;
  for (i = 0; i < p->unknown.n; i++) {
    if (p->unknown.set[i].id <= last) continue;
    p->unknown.set[kept++] = p->unknown.set[i];
    snprintf(text, sizeof text, "the nodes have dataset %d, which the prefix does not know of", p->unknown.set[i].id);
    scavenge_say(text);
  }
  p->unknown.n = kept;
  postrun_add_unknown(p);
}

/* The id of the newest checkpoint that is on the prefix; 0 if there is none. */
static int postrun_newest(const postrun* p)
{
  scr_index      index;
  scr_index_item it;
  int            rc = scr_index_read(&index, p->o->prefix);
  int            id = rc == SCR_SUCCESS ? scavenge_newest(&index, p->o->prefix, INT_MAX, 0, &it) : 0;

  scr_index_close(&index, rc, 0);
  return id;
}

/*
** Bring the dataset of NOTE to the prefix, unless it is there.  Returns 1 if it is there now, or is superseded, as in a
** run: a newer output has the places of its files or, where it is a checkpoint, a newer checkpoint.
*/
static int postrun_save(const postrun* p, const scr_flush_note* note)
{
  scr_identity identity = note->identity;
  int          rc;

  identity.id = note->id;
  if (scr_flush_note_on_prefix(p->o->prefix, note) || scr_flush_note_is_superseded(p->o->prefix, note)) return 1;
  if ((rc = scavenge_dataset(p->o, &identity)) == SCR_SUCCESS) return 1;
  scr_err_text[scr_err_length] = '\0';
  scavenge_say(scr_err_text);
  return rc == SCR_ERR_STATE && (!(note->flags & SCR_FLAG_CHECKPOINT) || postrun_newest(p) > note->id);
}

/*
** Returns 1 if the next run goes on without the output of NOTE: the prefix has a newer checkpoint, or a run that could
** not reach the output has left one.
*/
static int postrun_goes_on(postrun* p, const scr_flush_note* output)
{
  scr_flush_note note;
  int            id = output->id;

  if (postrun_newest(p) > id) return 1;
  while (*output->where != '\0' && (id = scr_flush_file_next(&p->file, id)) != 0)
    if (scr_flush_file_get(&p->file, id, &note) && note.flags & SCR_FLAG_CHECKPOINT && *note.where == '\0') return 1;
  return 0;
}

/*
** Save the output datasets, the oldest first, up to the first that cannot be saved, and that the next run can write
** again: it has to restart from before it.  One that was on the prefix once was saved.
*/
static void postrun_save_output(postrun* p)
{
  scr_flush_note note;
  int            goes_on, id = 0;

  while (p->held == 0 && (id = scr_flush_file_next(&p->file, id)) != 0) {
    if (!scr_flush_file_get(&p->file, id, &note) || !(note.flags & SCR_FLAG_OUTPUT) || postrun_save(p, &note) ||
        note.location & SCR_LOCATION_PREFIX)
      continue;
    goes_on = postrun_goes_on(p, &note);
    if (!goes_on) p->held = id;
    if (!goes_on || *note.where == '\0') p->failed = id;
  }
}

/* Tell what stays in the caches because an output dataset could not be saved. */
static void postrun_tell_held(const postrun* p)
{
  scr_flush_note note;
  char           text[300];
  int            id = INT_MAX;

  while (p->held != 0 && (id = scr_flush_file_before(&p->file, id)) > p->held) {
    if (!scr_flush_file_get(&p->file, id, &note) || scr_flush_note_on_prefix(p->o->prefix, &note)) continue;
    snprintf(text, sizeof text,
             "what is newer than the output dataset %d, up to dataset %d, stays in the caches, as a run from there "
             "would not write that again; scr_scavenge --id saves it all the same",
             p->held, id);
    scavenge_say(text);
    return;
  }
}

/*
** Save the newest checkpoint that can be saved, of those before an output dataset that could not; the prefix may have a
** newer one, which was never in a cache.
*/
static void postrun_save_newest(postrun* p)
{
  scr_flush_note note;
  int            newest = postrun_newest(p), id = p->held != 0 ? p->held : INT_MAX;

  postrun_tell_held(p);
  while (p->saved == 0 && (id = scr_flush_file_before(&p->file, id)) != 0) {
    if (!scr_flush_file_get(&p->file, id, &note) || !(note.flags & SCR_FLAG_CHECKPOINT)) continue;
    p->checkpoints = 1;
    if (id < newest) p->saved = newest;
    else if (postrun_save(p, &note) && !scr_flush_note_is_refused(p->o->prefix, &note)) p->saved = id;
  }
}

/* Save the checkpoint that the user has chosen, if only the cache has it; without it the next run is refused. */
static void postrun_save_chosen(postrun* p)
{
  char           text[2 * SCR_MAX_FILENAME];
  scr_index      index;
  scr_choice     choice;
  scr_flush_note note;
  int            id = scr_index_read(&index, p->o->prefix) == SCR_SUCCESS ? scr_choice_in_cache(&index) : 0;

  scr_choice_read(&index, &choice);
  scr_index_close(&index, SCR_SUCCESS, 0);
  if (id == 0) return;
  if (scr_flush_file_get(&p->file, id, &note)) postrun_save(p, &note);
  if (postrun_read(p) == SCR_SUCCESS && scr_flush_file_get(&p->file, id, &note) &&
      scr_flush_note_on_prefix(p->o->prefix, &note))
    return;
  p->failed = id;
  snprintf(text, sizeof text,
           "the checkpoint that the user has chosen, %d, %s, is not saved; scr_index --current chooses another one", id,
           choice.dir);
  scavenge_say(text);
}

/* The id of the oldest checkpoint that SCR_PREFIX_SIZE keeps on the prefix; 0 if that is not full. */
static int postrun_window(const postrun* p)
{
  scr_index index;
  int       size = 0, oldest = 0, rc;

  if (scr_param_int(p->o->params, "SCR_PREFIX_SIZE", &size) != SCR_SUCCESS || size <= 0) return 0;
  if ((rc = scr_index_read(&index, p->o->prefix)) == SCR_SUCCESS) oldest = scr_index_window(&index, INT_MAX, size);
  scr_index_close(&index, rc, 0);
  return oldest;
}

/*
** Save older checkpoints that are in the cache, and that a run should have flushed: each SCR_FLUSH-th, as far as
** SCR_PREFIX_SIZE would keep them.
*/
static void postrun_save_due(postrun* p)
{
  scr_flush_note note;
  int            every = 0, id = p->saved;

  if (id == 0 || scr_param_int(p->o->params, "SCR_FLUSH", &every) != SCR_SUCCESS || every <= 0) return;
  while ((id = scr_flush_file_before(&p->file, id)) != 0 && id > postrun_window(p))
    if (scr_flush_file_get(&p->file, id, &note) && note.flags & SCR_FLAG_CHECKPOINT && note.ckpt > 0 &&
        note.ckpt % every == 0 && note.location & SCR_LOCATION_CACHE)
      postrun_save(p, &note);
}

/* Tell which checkpoint is safe.  Returns 1 if there is one. */
static int postrun_conclude(const postrun* p)
{
  scr_index      index;
  scr_index_item it;
  char           text[2 * SCR_MAX_FILENAME];
  int            rc = scr_index_read(&index, p->o->prefix);
  int            found = rc == SCR_SUCCESS && scavenge_newest(&index, p->o->prefix, INT_MAX, 1, &it);

  if (found)
    snprintf(text, sizeof text, "the newest checkpoint on the prefix is %d, %s", it.id, scr_desc_name(&it.desc));
  else snprintf(text, sizeof text, "there is no checkpoint on the prefix");
  scavenge_say(text);
  scr_index_close(&index, rc, 0);
  return found;
}

/* Save what the flush file, which has been read, says is to be saved. */
static int postrun_save_all(postrun* p)
{
  int rc;

  p->checkpoints = p->saved = p->failed = p->held = 0;
  postrun_save_output(p);
  if ((rc = postrun_read(p)) == SCR_SUCCESS) postrun_save_newest(p);
  if (rc == SCR_SUCCESS) rc = postrun_read(p);
  if (rc == SCR_SUCCESS) postrun_save_chosen(p);
  if (rc == SCR_SUCCESS) rc = postrun_read(p);
  if (rc == SCR_SUCCESS) postrun_save_due(p);
  return rc == SCR_SUCCESS ? postrun_read(p) : rc;
}

/* Save what is to be saved, and what runs leave that come and go meanwhile.  Returns the exit code. */
static int postrun_run(const char* argv0, const scavenge_options* o)
{
  postrun p;
  int     pending = 0, found, last, rc;

  memset(&p, 0, sizeof p);
  p.o = o;
  if ((rc = scr_flush_file_read(&p.file, o->prefix)) != SCR_SUCCESS) {
    scr_record_close(&p.file, rc, 0);
    return tool_fail(argv0, 1, scr_err_text);
  }
  postrun_ask(&p);
  do {
    pending |= scr_flush_file_before(&p.file, INT_MAX) != 0;
    last = scr_flush_file_max_id(&p.file);
    rc = postrun_save_all(&p);
  } while (rc == SCR_SUCCESS && scr_flush_file_max_id(&p.file) > last &&
           (rc = scavenge_wait(o->prefix)) == SCR_SUCCESS);
  if (rc != SCR_SUCCESS) scavenge_say(scr_err_text);
  scr_record_close(&p.file, rc, 0);
  if (p.saved != 0) scavenge_sweep(o->prefix);
  if (!pending)
    scavenge_say(p.asked ? "the last run has left nothing in the caches"
                         : "the last run has left nothing in the caches, as its flush file says");
  scr_free(&p.unknown.set);
  found = postrun_conclude(&p);
  if (rc != SCR_SUCCESS || p.failed != 0 || (p.checkpoints && p.saved == 0)) return 1;
  return found || (pending && !p.checkpoints) ? 0 : 1;
}

SCR_FN int postrun_main(int argc, char** argv)
{
  static const struct option options[] = {{"prefix", required_argument, NULL, 'p'},
                                          {"down", required_argument, NULL, 'd'},
                                          {"jobid", required_argument, NULL, 'j'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"joblauncher", required_argument, NULL, OPT_POSTRUN_LAUNCHER},
                                          {"timeout", required_argument, NULL, OPT_POSTRUN_TIMEOUT},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  scavenge_options           o;
  const char *               prefix = tool_prefix(), *known = NULL;
  char *                     real, *down = NULL;
  scr_hash*                  params;
  int64_t                    seconds = SCAVENGE_SECONDS;
  int                        c, enable = 1, bad = 0;

  while ((c = getopt_long(argc, argv, "p:d:j:vh", options, NULL)) != -1) {
    if (c == 'p') prefix = tool_dir(optarg);
    else if (c == 'd') known = optarg;
    else if (c == 'v' || c == OPT_POSTRUN_LAUNCHER || (c == 'j' && tool_is_launcher(optarg))) continue;
    else if (c == 'j') setenv("SCR_JOB_ID", optarg, 1);
    else if (c != OPT_POSTRUN_TIMEOUT) return tool_answer(c, argv[0], postrun_usage, 1);
    else if (!tool_number(optarg, 1, INT_MAX, &seconds))
      return tool_usage(argv[0], postrun_usage, 1, "--timeout needs a whole number of seconds");
  }
  if (optind != argc) return tool_usage(argv[0], postrun_usage, 1, "there is nothing to say after the options");
  if ((real = tool_real(prefix)) == NULL) return tool_fail(argv[0], 1, scr_err_text);
  if ((params = tool_params(real)) == NULL || scr_param_int(params, "SCR_ENABLE", &enable) != SCR_SUCCESS)
    bad = tool_fail(argv[0], 1, scr_err_text);
  if (!bad && enable && scavenge_wait(real) != SCR_SUCCESS) bad = tool_fail(argv[0], 1, scr_err_text);
  if (!bad && enable) {
    down = postrun_find_down(known);
    memset(&o, 0, sizeof o);
    o.prefix = real;
    o.params = params;
    o.seconds = (double)seconds;
    o.down = down;
    if (transfer_is_used(params) && transfer_end(params, real, o.down) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
    bad = postrun_run(argv[0], &o);
  }
  scr_hash_delete(&params);
  scr_free(&down);
  free(real);
  return bad || fflush(stdout) != 0;
}

TOOL_MAIN(postrun_main)
