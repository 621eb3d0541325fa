/* scr_regions - list the regions in a file of regions, and take one out.  No MPI. */
#include "tool.h"

static const char regions_usage[] =
    "scr_regions [--npy[=TYPE]] FILE [NAME]\n"
    "List the regions in FILE, which a program wrote with SCR_Checkpoint or SCR_Put_regions, as "
    "<dataset>/regions.<rank>:\n"
    "bytes, elements, bytes of an element, offset, CRC32, name and, for the block of an array, the first element of "
    "the\n"
    "block, its size, and the size of the array.  With NAME, write the bytes of that region to stdout.\n"
    "\n"
    "  --npy         write the region in the format of NumPy, with its shape; elements are of no type, such as |V8\n"
    "  --npy=TYPE    of this type: f for numbers of floating point, i and u for integers, c for complex ones\n"
    "  -h, --help    print this and exit;  --version  print the version and exit\n"
    "\n"
    "In a container, take the file out first: scr_index --extract.\n"
    "Exit 0; 1 if the file cannot be read, has no such region, or its checksum is wrong: then what was written is no "
    "use.\n";

/* Print the N numbers V in brackets. */
static void regions_print_numbers(const uint64_t* v, int n)
{
  char text[2 * SCR_REGION_DIMS * 21 + 1];

  printf("  [%s]", scr_region_numbers_put(v, n, text));
}

static void regions_list(const scr_regions* l)
{
  int i;

  for (i = 0; i < l->n; i++) {
    const scr_region* r = &l->region[i];
    printf("%12" PRIu64 " %12" PRIu64 " %6" PRIu64 " %12" PRIu64 "  0x%08lx  ", scr_region_bytes(r), r->count,
           r->element, r->at, (unsigned long)r->crc);
    tool_print(r->name);
    if (r->box.dims > 0) {
      regions_print_numbers(r->box.start, r->box.dims);
      regions_print_numbers(r->box.extent, r->box.dims);
      regions_print_numbers(r->global, r->box.dims);
    }
    putchar('\n');
  }
}

/* Write the header of NumPy's format, version 1.0, for elements of TYPE, or of none if that is 0. */
static void regions_npy(const scr_region* r, char type)
{
  char     text[512];
  uint16_t one = 1;
  size_t   n = 0;
  int      d, little = *(const unsigned char*)&one, dims = r->box.dims > 0 ? r->box.dims : 1;

  n += (size_t)snprintf(text, sizeof text, "{'descr': '%c%c%" PRIu64 "', 'fortran_order': False, 'shape': (",
                        type == 0 || r->element == 1 ? '|'
                        : little                     ? '<'
                                                     : '>',
                        type == 0 ? 'V' : type, r->element);
  for (d = 0; d < dims; d++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%" PRIu64 ", ", r->box.dims > 0 ? r->box.extent[d] : r->count);
  n += (size_t)snprintf(text + n, sizeof text - n, "), }");
  while ((10 + n + 1) % 64 != 0) text[n++] = ' ';
  text[n++] = '\n';
  printf("\x93NUMPY%c%c%c%c", 1, 0, (int)(n & 255), (int)(n >> 8));
  fwrite(text, 1, n, stdout);
}

/* Write the bytes of R of the file PATH to stdout. */
static int regions_dump(const char* path, const scr_region* r)
{
  static char buf[1 << 14];
  uint64_t    bytes = scr_region_bytes(r), pos;
  uLong       crc = SCR_CRC32_START;
  ssize_t     n;
  int         fd, rc = scr_file_open(path, &fd);

  if (rc != SCR_SUCCESS) return rc;
  for (pos = 0; pos < bytes && rc == SCR_SUCCESS; pos += (uint64_t)n) {
    n = scr_pread_all(fd, buf, bytes - pos < sizeof buf ? (size_t)(bytes - pos) : sizeof buf, (off_t)(r->at + pos));
    if (n <= 0) rc = SCR_ERRNO("cannot read %s", path);
    else if (fwrite(buf, 1, (size_t)n, stdout) != (size_t)n) rc = SCR_ERRNO("cannot write the region %s", r->name);
    else crc = scr_crc32(crc, buf, (size_t)n);
  }
  if (rc == SCR_SUCCESS && crc != r->crc) rc = SCR_ERR(SCR_ERR_CRC, "%s is corrupt in the region %s", path, r->name);
  scr_os.close(fd);
  return rc;
}

SCR_FN int regions_main(int argc, char** argv)
{
  static const struct option options[] = {{"npy", optional_argument, NULL, 'n'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  int                        c, npy = 0, rc;
  char                       type = 0;
  scr_regions                l = {NULL, 0, NULL};

  while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
    if (c != 'n') return tool_answer(c, argv[0], regions_usage, 1);
    npy = 1;
    type = optarg != NULL ? *optarg : 0;
    if (optarg != NULL && (type == '\0' || strchr("fiuc", type) == NULL || optarg[1] != '\0'))
      return tool_usage(argv[0], regions_usage, 1, "the type is one of f, i, u, c");
  }
  if (argc - optind < 1 || argc - optind > 2 || (npy && argc - optind != 2))
    return tool_usage(argv[0], regions_usage, 1, npy ? "--npy needs a file and the name of a region" : "which file?");
  rc = scr_regions_read(argv[optind], &l);
  if (rc == SCR_SUCCESS && argc - optind == 1) {
    regions_list(&l);
  } else if (rc == SCR_SUCCESS) {
    const scr_region* r = scr_regions_find(&l, argv[optind + 1]);
    if (r == NULL) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "%s has no region %s", argv[optind], argv[optind + 1]);
    if (r != NULL && npy) regions_npy(r, type);
    if (r != NULL) rc = regions_dump(argv[optind], r);
  }
  scr_regions_free(&l);
  if (rc != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
  return fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(regions_main)
