/* scr_index - list the checkpoints on a prefix directory.  No MPI. */
#define SCR_SERIAL
#include "../scr_impl.c"
#include "tool.h"

static const char usage[] =
    "scr_index [--list] [--prefix DIR]\n"
    "List the checkpoints on the prefix directory, newest first, with a star at the one to restart from.\n"
    "\n"
    "  -l, --list         list (the default)\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "VALID is YES if the checkpoint was copied completely and no attempt to load it has failed.\n"
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
