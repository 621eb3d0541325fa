/* scr_index - list the checkpoints on a prefix directory.  No MPI. */
#define SCR_SERIAL
#include "../scr_impl.c"
#include "tool.h"

static const char usage[] =
    "scr_index [--list] [--prefix DIR]\n"
    "List the checkpoints on the prefix directory, newest first; the one to restart from has a star.\n"
    "\n"
    "  -l, --list         list (the default)\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "VALID is YES when all files were copied and no attempt to load the checkpoint has failed.\n"
    "Exit 0, or 1 when there is an error.\n";

static void list_entry(int id, const char* dir, const scr_hash* entry, int current)
{
  const char* name = dir;
  const char* time = scr_hash_elem_get_first_val(entry, "FLUSHED");

  scr_dataset_get_name(scr_hash_get(entry, "DSET"), &name);
  printf("%c%6d %-5s ", current ? '*' : ' ', id, scr_index_is_good(entry) ? "YES" : "NO");
  if (time == NULL || strlen(time) > 19) time = "";
  tool_print(time);
  printf("%*s", 20 - (int)strlen(time), "");
  tool_print(name);
  putchar('\n');
}

static int list(const char* argv0, const char* prefix)
{
  scr_hash*     index = scr_hash_new();
  scr_index_pos p;
  const char*   dir = NULL;
  int           id = 0, by_user, rc = index == NULL ? SCR_ERR_OOM() : scr_index_read(prefix, index);

  if (rc == SCR_SUCCESS) {
    scr_index_current(index, &id, &dir, &by_user);
    scr_hash_sort_int(scr_hash_get(index, "DSET"), SCR_HASH_SORT_DESCENDING);
    printf("   DSET VALID FLUSHED             NAME\n");
    memset(&p, 0, sizeof p);
    while (scr_index_walk(index, &p))
      if (scr_index_is_ckpt(p.entry)) list_entry(p.id, p.dir, p.entry, p.id == id && strcmp(p.dir, dir) == 0);
  } else {
    tool_fail(argv0, 1, scr_err_text);
  }
  scr_hash_delete(&index);
  return rc == SCR_SUCCESS && fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char** argv)
{
  static const struct option options[] = {
      {"list", no_argument, NULL, 'l'}, {"prefix", required_argument, NULL, 'p'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  const char* prefix = tool_prefix();
  int         c;

  while ((c = getopt_long(argc, argv, "lp:h", options, NULL)) != -1) {
    if (c == 'p') prefix = optarg;
    else if (c != 'l') return tool_answer(c, argv[0], usage, 1);
  }
  if (optind != argc) return tool_answer('?', argv[0], usage, 1);
  if (!tool_is_dir(prefix)) {
    SCR_ERRNO("cannot open the prefix directory %s", prefix);
    return tool_fail(argv[0], 1, scr_err_text);
  }
  return list(argv[0], prefix);
}
