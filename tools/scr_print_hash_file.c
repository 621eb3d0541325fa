/* scr_print_hash_file - print SCR hash files as text or as JSON.  No MPI. */
#include "tool.h"

static const char print_usage[] =
    "scr_print_hash_file [--json] FILE...\n"
    "Print hash files: index, flush, halt and summary files, filemaps, rank2file maps, and headers of redundancy "
    "files.\n"
    "\n"
    "  -j, --json   print one object for each file; a key with one value becomes a string, with several a list\n"
    "  -h, --help   print this and exit;  --version  print the version and exit\n"
    "\n"
    "In a redundancy file, data follows the hash; the number of these bytes is reported on stderr.\n"
    "Exit 0, or 1 if a file cannot be read.\n";

/* The single value of H; NULL if it has none, several, or one with children. */
static const char* print_single(const scr_hash* h)
{
  scr_hash_elem* e = scr_hash_elem_first(h);

  return e != NULL && scr_hash_elem_next(e) == NULL && scr_hash_size(scr_hash_elem_hash(e)) == 0 ? scr_hash_elem_key(e)
                                                                                                 : NULL;
}

static void print_tree(const scr_hash* h, int indent)
{
  scr_hash_elem* e;

  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e)) {
    const char* value = print_single(scr_hash_elem_hash(e));
    printf("%*s", indent, "");
    tool_print(scr_hash_elem_key(e));
    if (value != NULL) {
      printf(" = ");
      tool_print(value);
    }
    putchar('\n');
    if (value == NULL) print_tree(scr_hash_elem_hash(e), indent + 2);
  }
}

/* Print H as JSON.  With TOP, which is the whole file, the result is an object, whatever H holds. */
static void print_json(const scr_hash* h, int indent, int top)
{
  scr_hash_elem* e;
  int            list = !top && scr_hash_size(h) > 1;

  if (!top && print_single(h) != NULL) {
    tool_print_json(print_single(h));
    return;
  }
  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_size(scr_hash_elem_hash(e)) > 0) list = 0;
  putchar(list ? '[' : '{');
  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e)) {
    printf("%s\n%*s", e == scr_hash_elem_first(h) ? "" : ",", indent + 2, "");
    tool_print_json(scr_hash_elem_key(e));
    if (list) continue;
    printf(": ");
    print_json(scr_hash_elem_hash(e), indent + 2, 0);
  }
  if (scr_hash_size(h) > 0) printf("\n%*s", indent, "");
  putchar(list ? ']' : '}');
  if (top) putchar('\n');
}

static int print_file(const char* argv0, const char* path, int json)
{
  scr_hash* h = scr_hash_new();
  uint64_t  head = 0, size = 0;
  int       rc = h == NULL ? SCR_ERR_OOM() : scr_hash_file_read_head(path, h, &head);

  if (rc == SCR_ERR_NOT_FOUND) rc = SCR_ERR(rc, "there is no file %s", path);
  if (rc != SCR_SUCCESS) tool_fail(argv0, 1, scr_err_text);
  else if (json) print_json(h, 0, 1);
  else print_tree(h, 2);
  if (rc == SCR_SUCCESS && scr_file_size(path, &size) == SCR_SUCCESS && size > head)
    fprintf(stderr, "%s: %s: %" PRIu64 " bytes of data follow the hash\n", tool_name(argv0), path, size - head);
  scr_hash_delete(&h);
  return rc == SCR_SUCCESS ? 0 : 1;
}

SCR_FN int print_hash_file_main(int argc, char** argv)
{
  static const struct option options[] = {{"json", no_argument, NULL, 'j'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  int                        c, json = 0, rc = 0;

  while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
    if (c != 'j') return tool_answer(c, argv[0], print_usage, 1);
    json = 1;
  }
  if (optind == argc) return tool_answer('?', argv[0], print_usage, 1);
  for (; optind < argc; optind++) rc |= print_file(argv[0], argv[optind], json);
  return fflush(stdout) == 0 ? rc : 1;
}

TOOL_MAIN(print_hash_file_main)
