/* scr_index - list the checkpoints on a prefix directory, or choose one.  No MPI. */
#define SCR_SERIAL
#include "../scr_impl.c"
#include "tool.h"

static const char usage[] =
    "scr_index [--list | --current NAME] [--prefix DIR]\n"
    "List the checkpoints on the prefix directory, newest first, with a star at the one to restart from; or choose "
    "that.\n"
    "\n"
    "  -l, --list         list (the default)\n"
    "  -c, --current NAME the next run restarts from the checkpoint NAME, on the prefix or in the cache, even if the\n"
    "                     application rejected it or a newer one is there\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "VALID is YES if the checkpoint was copied completely and the application has not rejected it.\n"
    "Exit 0, or 1 if there is an error.\n";

static void list_item(const scr_index_item* it, int current)
{
  const char* time = it->flushed != NULL && strlen(it->flushed) <= 19 ? it->flushed : "";

  printf("%c%6d %-5s ", current ? '*' : ' ', it->id, scr_index_is_good(it) ? "YES" : "NO");
  tool_print(time);
  printf("%*s", 20 - (int)strlen(time), "");
  tool_print(*it->desc.name ? it->desc.name : it->dir);
  putchar('\n');
}

static int list(const char* argv0, const char* prefix)
{
  scr_index      index;
  scr_index_item it, current;
  int            rc = scr_index_read(&index, prefix);

  if (rc != SCR_SUCCESS) {
    tool_fail(argv0, 1, scr_err_text);
  } else {
    scr_index_current(&index, &current);
    scr_index_sort(&index);
    printf("   DSET VALID FLUSHED             NAME\n");
    memset(&it, 0, sizeof it);
    while (scr_index_walk(&index, &it))
      if (scr_desc_is_ckpt(&it.desc)) list_item(&it, it.id == current.id && strcmp(it.dir, current.dir) == 0);
  }
  scr_index_close(&index, rc, 0);
  return rc == SCR_SUCCESS && fflush(stdout) == 0 ? 0 : 1;
}

/* The id of the newest checkpoint NAME in the cache, as the flush file knows it; 0 if there is none. */
static int find_cached(const char* prefix, const char* name)
{
  scr_record file;
  int        rc = scr_flush_file_read(&file, prefix);
  int        id = rc == SCR_SUCCESS ? scr_flush_file_named(&file, name) : 0;

  scr_record_close(&file, rc, 0);
  return id;
}

/* Make the checkpoint NAME the user's choice. */
static int choose(const char* argv0, const char* prefix, const char* name)
{
  scr_index      index;
  scr_index_item it;
  int            cached = find_cached(prefix, name), rc = scr_index_open(&index, prefix);

  if (rc == SCR_SUCCESS && strlen(name) >= SCR_MAX_FILENAME) rc = SCR_ERR(SCR_ERR_ARG, "the name is too long");
  if (rc == SCR_SUCCESS && scr_index_named(&index, name, &it) == SCR_SUCCESS &&
      (cached == 0 || (it.id >= cached && strcmp(it.desc.name, name) == 0))) {
    if (!scr_desc_is_ckpt(&it.desc) || !it.complete)
      rc = SCR_ERR(SCR_ERR_NOT_FOUND, "%s on %s is not a complete checkpoint", name, prefix);
    else scr_index_set_current(&index, it.id, it.dir, 1);
  } else if (rc == SCR_SUCCESS && cached > 0) {
    scr_index_set_current(&index, cached, name, 1);
  } else if (rc == SCR_SUCCESS) {
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there is no checkpoint %s on %s, or in the cache of its last run", name, prefix);
  }
  rc = scr_index_close(&index, rc, 1);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv0, 1, scr_err_text);
}

int main(int argc, char** argv)
{
  static const struct option options[] = {{"list", no_argument, NULL, 'l'},
                                          {"current", required_argument, NULL, 'c'},
                                          {"prefix", required_argument, NULL, 'p'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char *               prefix = tool_prefix(), *name = NULL;
  int                        c;

  while ((c = getopt_long(argc, argv, "lc:p:h", options, NULL)) != -1) {
    if (c == 'p') prefix = optarg;
    else if (c == 'c') name = optarg;
    else if (c != 'l') return tool_answer(c, argv[0], usage, 1);
  }
  if (optind != argc) return tool_answer('?', argv[0], usage, 1);
  if (!tool_is_dir(prefix)) {
    SCR_ERRNO("cannot open the prefix directory %s", prefix);
    return tool_fail(argv[0], 1, scr_err_text);
  }
  return name != NULL ? choose(argv[0], prefix, name) : list(argv[0], prefix);
}
