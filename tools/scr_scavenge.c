/* scr_scavenge - bring a dataset from the caches of a job that has ended to the prefix.  No MPI. */
#include "scavenge.h"

static const char scavenge_usage[] =
    "scr_scavenge [OPTIONS]\n"
    "Copy a dataset from the caches of the nodes of a job that has ended to the prefix directory, rebuild what the\n"
    "nodes that are down have lost, and enter it into the index.  If files of some ranks stay missing, they are "
    "named;\n"
    "what was copied is kept, and another scavenge goes on from there.\n"
    "\n"
    "  -i, --id N           the dataset; default: the newest checkpoint that is not on the prefix yet\n"
    "  -t, --to DIR         the prefix directory (also -p, --prefix); default: SCR_PREFIX, or else the working "
    "directory\n"
    "  -j, --jobset NODES   the nodes; default: those of the last run\n"
    "  -u, --up NODES       only these of them\n"
    "  -d, --down NODES     without these\n"
    "  -f, --from DIR       the control directory on each node; default: that of the last run\n"
    "      --timeout N      give up a node that reports no progress for N seconds; default 300\n"
    "  -v, --verbose        accepted for scripts of earlier releases\n"
    "  -h, --help           print this and exit;  --version  print the version and exit\n"
    "\n"
    "On each node runs scr_copy, as scr_list_down_nodes --help says of scr_check_node, on up to 64 nodes at a time.\n"
    "Exit 0 if the dataset is on the prefix, or 1.\n";

#define OPT_SCAVENGE_TIMEOUT 1001

/* The flush file of PREFIX knows of no checkpoint in a cache: make IDENTITY the newest one that the prefix has. */
static int scavenge_find_saved(const char* prefix, scr_identity* identity)
{
  scr_index      index;
  scr_index_item it;
  int            found =
      scr_index_read(&index, prefix) == SCR_SUCCESS && scr_index_newest(&index, INT_MAX, NULL, &it) == SCR_SUCCESS;

  scr_index_close(&index, SCR_SUCCESS, 0);
  if (found) *identity = it.desc.identity;
  return found ? SCR_SUCCESS
               : SCR_ERR(SCR_ERR_NOT_FOUND,
                         "the flush file of %s knows of no checkpoint in a cache; --id names a dataset", prefix);
}

/*
** Make IDENTITY the dataset ID of PREFIX or, if ID is 0, the newest checkpoint that the flush file knows; if it knows
** none, the newest on the prefix.  *THERE becomes 1 if it is on the prefix already.
*/
static int scavenge_find_dataset(const char* prefix, int id, scr_identity* identity, int* there)
{
  scr_record     file;
  scr_flush_note note;
  int            rc = scr_flush_file_read(&file, prefix), k = id != 0 ? id : INT_MAX;

  memset(identity, 0, sizeof *identity);
  memset(&note, 0, sizeof note);
  if (rc != SCR_SUCCESS && id != 0) {
    scr_warn("%s", scr_err_text);
    rc = SCR_SUCCESS;
  }
  while (rc == SCR_SUCCESS && id == 0 && (k = scr_flush_file_before(&file, k)) != 0)
    if (scr_flush_file_get(&file, k, &note) && note.flags & SCR_FLAG_CHECKPOINT) break;
  if (rc == SCR_SUCCESS && k == 0) {
    rc = scavenge_find_saved(prefix, identity);
    *there = rc == SCR_SUCCESS;
  } else if (rc == SCR_SUCCESS) {
    scr_flush_file_get(&file, k, &note);
    *identity = note.identity;
    identity->id = k;
    *there = scr_flush_note_on_prefix(prefix, &note);
  }
  scr_record_close(&file, rc, 0);
  return rc;
}

/* Do what the options say for dataset ID; 0 for the newest checkpoint. */
static int scavenge_run(scavenge_options* o, int id)
{
  scr_identity identity;
  scr_hash*    params = tool_params(o->prefix);
  int          there = 0, rc = params == NULL ? SCR_ERR_PARAM : SCR_SUCCESS;
  char         text[64];

  o->params = params;
  if (rc == SCR_SUCCESS) rc = scavenge_wait(o->prefix);
  if (rc == SCR_SUCCESS) rc = scavenge_find_dataset(o->prefix, id, &identity, &there);
  if (rc == SCR_SUCCESS && there) {
    snprintf(text, sizeof text, "dataset %d is on the prefix already", identity.id);
    scavenge_say(text);
    rc = scavenge_sweep(o->prefix); /* another one may have been killed when it removed what it no longer needed */
  } else if (rc == SCR_SUCCESS) {
    rc = scavenge_dataset(o, &identity);
  }
  scr_hash_delete(&params);
  return rc;
}

SCR_FN int scavenge_main(int argc, char** argv)
{
  static const struct option options[] = {{"id", required_argument, NULL, 'i'},
                                          {"to", required_argument, NULL, 't'},
                                          {"prefix", required_argument, NULL, 't'},
                                          {"jobset", required_argument, NULL, 'j'},
                                          {"up", required_argument, NULL, 'u'},
                                          {"down", required_argument, NULL, 'd'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"timeout", required_argument, NULL, OPT_SCAVENGE_TIMEOUT},
                                          {"verbose", no_argument, NULL, 'v'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  scavenge_options           o;
  const char*                prefix = tool_prefix();
  char*                      real;
  int64_t                    id = 0, seconds = SCAVENGE_SECONDS;
  int                        c, rc;

  memset(&o, 0, sizeof o);
  while ((c = getopt_long(argc, argv, "i:t:p:j:u:d:f:vh", options, NULL)) != -1) {
    if (c == 'v') continue;
    if (c == 't' || c == 'p') prefix = tool_dir(optarg);
    else if (c == 'j') o.jobset = optarg;
    else if (c == 'u') o.up = optarg;
    else if (c == 'd') o.down = optarg;
    else if (c == 'f') o.from = optarg;
    else if (c != 'i' && c != OPT_SCAVENGE_TIMEOUT) return tool_answer(c, argv[0], scavenge_usage, 1);
    else if (!tool_number(optarg, 1, INT_MAX - 1, c == 'i' ? &id : &seconds))
      return tool_usage(argv[0], scavenge_usage, 1, "--id and --timeout need a whole number, 1 or more");
  }
  if (optind != argc) return tool_usage(argv[0], scavenge_usage, 1, "there is nothing to say after the options");
  if ((real = tool_real(prefix)) == NULL) return tool_fail(argv[0], 1, scr_err_text);
  o.prefix = real;
  o.seconds = (double)seconds;
  rc = scavenge_run(&o, (int)id);
  if (rc != SCR_SUCCESS) tool_fail(argv[0], 1, scr_err_text);
  free(real);
  return rc == SCR_SUCCESS && fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(scavenge_main)
