/* scr_copy - copy what this node's cache has of a dataset to the prefix, for a scavenge.  No MPI. */
#include "cache.h"

static const char copy_usage[] =
    "scr_copy --cntldir DIR --id N --prefix DIR [OPTIONS], or scr_copy --cntldir DIR --list --prefix DIR\n"
    "Copy what the cache of this node has of dataset N to the prefix directory, where scr_scavenge collects the parts\n"
    "of all nodes: in .scr/scavenge.N.*, with a file <rank>.scrfilemap for each rank.  A file is copied once, and "
    "only\n"
    "if its checksum is right.  The run must have ended.\n"
    "\n"
    "  -c, --cntldir DIR   the control directory of the job, as scr_list_dir control prints it\n"
    "  -i, --id N          the dataset\n"
    "  -l, --list          copy nothing: print a line for each complete dataset of which this node has files\n"
    "  -p, --prefix DIR    the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "      --partner       only redundancy files, which have what other nodes may have lost\n"
    "  -b, --buf N, --crc  accepted for scripts of earlier releases; checksums are always compared\n"
    "  -h, --help          print this and exit;  --version  print the version and exit\n"
    "\n"
    "The last line is `scr_copy: HOST: Return code: CODE`; lines `scr_copy: HOST: copied N of M bytes` tell before "
    "how\n"
    "far it is.\n"
    "Exit 0, or 1 if this node has no files of the dataset, or lost some, or there is an error.\n";

enum { OPT_COPY_PARTNER = 1001, OPT_COPY_CRC };

/* Returns 1 if what E has can be copied: its dataset is complete, and nobody deletes it. */
static int copy_may(const scr_entry* e)
{
  return e->desc.complete && e->listed && e->mark != SCR_MARK_LEAVING;
}

/* What is to be copied, and what is done so far. */
static struct {
  const char* prefix;
  int         id, kinds;
  int         adding;  /* 1: only the sizes are added up */
  int         foreign; /* 1: a directory is the cache of another prefix */
  int         found, lost;
  int         newest; /* id of the newest dataset that could be copied: the flush file may not know it */
  uint64_t    total, done;
  double      told; /* when the progress was printed last */
  char        host[256];
} copy_job;

/* Print a line WHAT about this node. */
static void copy_say(const char* what)
{
  printf("scr_copy: %s: ", copy_job.host);
  tool_print_line(what);
  fflush(stdout);
}

/* BYTES more are copied: tell how far we are, once a second. */
static void copy_moved(uint64_t bytes)
{
  char text[96];

  copy_job.done += bytes;
  if (scr_wtime() - copy_job.told < 1) return;
  copy_job.told = scr_wtime();
  snprintf(text, sizeof text, "copied %" PRIu64 " of %" PRIu64 " bytes", copy_job.done, copy_job.total);
  copy_say(text);
}

/* Copy the entries of MAP that are of the dataset and complete, or add up their sizes. */
static int copy_map(const char* dir, const scr_home* home, const scr_filemap* map, void* arg)
{
  int i, k, err, rc = SCR_SUCCESS;

  (void)dir;
  (void)arg;
  for (i = 0; i < map->n; i++) { /* an error with one rank's files does not keep back the others */
    const scr_entry* e = map->entry[i];
    if (!copy_may(e)) continue;
    if (e->desc.identity.id > copy_job.newest) copy_job.newest = e->desc.identity.id;
    if (e->desc.identity.id != copy_job.id) continue;
    copy_job.found++;
    for (k = 0; k < e->files && copy_job.adding; k++)
      if (copy_job.kinds & 1 << e->file[k].kind) copy_job.total += e->file[k].size;
    if (copy_job.adding) continue;
    err = scr_stage_collect(home, e, copy_job.prefix, copy_job.kinds, copy_moved, copy_say, &copy_job.lost);
    if (err != SCR_SUCCESS) rc = err;
  }
  return rc;
}

/* Print the datasets of MAP, in the words that scavenge_see_datasets reads. */
static int copy_list_map(const char* dir, const scr_home* home, const scr_filemap* map, void* arg)
{
  char text[128], ckpt[32];
  int  i, k;

  (void)home, (void)dir, (void)arg;
  for (i = 0; i < map->n; i++) {
    const scr_desc* d = &map->entry[i]->desc;
    for (k = 0; k < i && (map->entry[k]->desc.identity.id != d->identity.id || !copy_may(map->entry[k])); k++) continue;
    if (k < i || !copy_may(map->entry[i])) continue; /* it is said already, for the files of another rank */
    snprintf(ckpt, sizeof ckpt, " checkpoint %d", d->ckpt);
    snprintf(text, sizeof text, "has dataset %d of %" PRId64 ", %016" PRIx64 ":%s%s", d->identity.id,
             d->identity.created, d->identity.nonce, scr_desc_is_ckpt(d) ? ckpt : "",
             d->flags & SCR_FLAG_OUTPUT ? " output" : "");
    copy_say(text);
  }
  return SCR_SUCCESS;
}

/* Print what the control directory DIR lists, unless it is that of another prefix. */
static int copy_list(const char* dir, void* arg)
{
  static scr_fence held;
  int              rc = cache_hold(&held, dir);

  if (rc == SCR_SUCCESS && (rc = cache_check_prefix(dir, copy_job.prefix)) == SCR_ERR_BUSY) return SCR_SUCCESS;
  if (rc == SCR_SUCCESS && (rc = cache_read(dir, copy_list_map, arg)) == SCR_ERR_NOT_FOUND) rc = SCR_SUCCESS;
  if (rc != SCR_SUCCESS) copy_say(scr_err_text);
  return rc;
}

/* Copy what the control directory DIR lists.  Its lock keeps runs from using the cache meanwhile. */
static int copy_control(const char* dir, void* arg)
{
  static scr_fence held;
  char             lock[SCR_MAX_FILENAME];
  int              found = copy_job.found, fd = -1, rc = cache_hold(&held, dir);

  if (rc == SCR_SUCCESS && (rc = cache_check_prefix(dir, copy_job.prefix)) == SCR_ERR_BUSY) {
    copy_job.foreign = 1;
    scr_err_text[scr_err_length] = '\0';
    copy_say(scr_err_text);
    return SCR_SUCCESS; /* another one may be ours */
  }
  if (rc == SCR_SUCCESS) rc = scr_fmt(lock, sizeof lock, "%s/run.lock", dir);
  if (rc == SCR_SUCCESS) rc = scr_lock_open(lock, &fd);
  if (rc == SCR_SUCCESS && (rc = scr_lock_take(fd, lock, SCR_LOCK_SECONDS)) == SCR_ERR_BUSY)
    rc = SCR_ERR(rc, "a run is using the cache: %s", scr_err_text);
  if (rc == SCR_SUCCESS && scr_transfer_withdraw(dir, copy_job.prefix, "") != SCR_SUCCESS) copy_say(scr_err_text);
  copy_job.adding = 1;
  if (rc == SCR_SUCCESS) cache_read(dir, copy_map, arg); /* the second time reports what cannot be read */
  copy_job.adding = 0;
  copy_job.found = found;
  if (rc == SCR_SUCCESS) rc = cache_read(dir, copy_map, arg);
  if (rc != SCR_SUCCESS) {
    scr_err_text[scr_err_length] = '\0';
    copy_say(scr_err_text);
  }
  if (fd >= 0) scr_os.close(fd);
  return rc;
}

/* Copy, or LIST, and print the return code.  Returns it. */
static int copy_run(const char* dir, int list)
{
  char  text[64];
  char* real = tool_real(copy_job.prefix);
  int   none, rc;

  if (gethostname(copy_job.host, sizeof copy_job.host - 1) < 0) copy_job.host[0] = '?';
  copy_job.told = scr_wtime();
  if (real == NULL) {
    rc = SCR_ERR_IO;
    copy_say(scr_err_text);
  } else {
    copy_job.prefix = real;
    rc = cache_walk(dir, list ? copy_list : copy_control, NULL);
    none = rc == SCR_SUCCESS && !list && copy_job.found == 0;
    if (none && !copy_job.foreign) {
      if (copy_job.newest == 0) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "%s lists no files of dataset %d", dir, copy_job.id);
      else
        rc =
            SCR_ERR(SCR_ERR_NOT_FOUND,
                    "%s lists no files of dataset %d; the newest that it lists is %d, which scr_scavenge --id %d saves",
                    dir, copy_job.id, copy_job.newest, copy_job.newest);
      copy_say(scr_err_text);
    } else if (none) {
      rc = SCR_ERR_BUSY;
    }
  }
  snprintf(text, sizeof text, "Return code: %d", rc != SCR_SUCCESS || copy_job.lost > 0);
  copy_say(text);
  free(real);
  return rc != SCR_SUCCESS || copy_job.lost > 0 || ferror(stdout);
}

SCR_FN int copy_main(int argc, char** argv)
{
  static const struct option options[] = {{"cntldir", required_argument, NULL, 'c'},
                                          {"id", required_argument, NULL, 'i'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"prefix", required_argument, NULL, 'p'},
                                          {"buf", required_argument, NULL, 'b'},
                                          {"crc", no_argument, NULL, OPT_COPY_CRC},
                                          {"partner", no_argument, NULL, OPT_COPY_PARTNER},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  char                       dir[SCR_MAX_FILENAME];
  const char*                cntl = NULL;
  int64_t                    id = 0;
  int                        list = 0, c;

  copy_job.prefix = tool_prefix();
  copy_job.kinds = ~0;
  while ((c = getopt_long(argc, argv, "c:i:lp:b:h", options, NULL)) != -1) {
    if (c == 'c') cntl = optarg;
    else if (c == 'p') copy_job.prefix = tool_dir(optarg);
    else if (c == 'l') list = 1;
    else if (c == OPT_COPY_PARTNER) copy_job.kinds = ~(1 << SCR_FILE_APPLICATION);
    else if (c == 'b' || c == OPT_COPY_CRC) continue;
    else if (c != 'i') return tool_answer(c, argv[0], copy_usage, 1);
    else if (!tool_number(optarg, 1, INT_MAX - 1, &id))
      return tool_usage(argv[0], copy_usage, 1, "--id needs the number of a dataset, 1 or more");
  }
  if (optind != argc) return tool_usage(argv[0], copy_usage, 1, "there is nothing to say after the options");
  if (cntl == NULL || (id == 0) != list)
    return tool_usage(argv[0], copy_usage, 1, "--cntldir and --id are needed, or --cntldir and --list");
  copy_job.id = (int)id;
  if (scr_path_reduce_str(cntl, dir, sizeof dir) != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  cache_find(dir, sizeof dir, copy_job.prefix);
  if (!tool_is_dir(dir)) {
    if (list && errno == ENOENT) return 0; /* nothing is left */
    SCR_ERRNO("cannot open the control directory %s", dir);
    return tool_fail(argv[0], 1, scr_err_text);
  }
  return copy_run(dir, list);
}

TOOL_MAIN(copy_main)
