/* scr_crc32 - print the CRC32 of files.  No MPI. */
#include "tool.h"

static const char crc32_usage[] =
    "scr_crc32 FILE...\n"
    "Print the CRC32 of each file, in the form in which the library records it, and the name of the file.\n"
    "\n"
    "  -h, --help  print this and exit;  --version  print the version and exit\n"
    "\n"
    "Exit 0, 1 if a file cannot be read, or 2 if the command line is wrong.\n";

/* Print the line for PATH.  Returns 0, or 1 on an error. */
static int crc32_print(const char* argv0, const char* path)
{
  struct stat st;
  uLong       crc = 0;
  int         rc;

  if (stat(path, &st) < 0) rc = SCR_ERRNO("cannot open %s", path);
  else if (!S_ISREG(st.st_mode)) rc = SCR_ERR(SCR_ERR_ARG, "%s is not a plain file", path);
  else rc = scr_file_crc(path, (uint64_t)st.st_size, &crc);
  if (rc != SCR_SUCCESS) return tool_fail(argv0, 1, scr_err_text);
  printf("0x%08lx  ", crc);
  tool_print_line(path);
  return 0;
}

SCR_FN int crc32_main(int argc, char** argv)
{
  static const struct option options[] = {TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  int                        c, i, bad = 0;

  if ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) return tool_answer(c, argv[0], crc32_usage, 2);
  if (optind == argc) return tool_usage(argv[0], crc32_usage, 2, "the name of a file is missing");
  for (i = optind; i < argc; i++) bad |= crc32_print(argv[0], argv[i]);
  return bad == 0 && fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(crc32_main)
