/* scr_image - print what the image of a process says of itself, and whether it can be loaded here.  No MPI. */
#include "tool.h"

#if defined(__linux__)
#include <elf.h>
#endif

#include "image/format.h"

static const char image_usage[] =
    "scr_image [--check] FILE...\n"
    "Print what an image of a process says of itself: FILE is <dataset>/rank_<rank>.img of a program that is linked "
    "with\n"
    "scr_image.o.  Then its memory: address, length, bytes that are in the file, and what it is; and its libraries: "
    "side,\n"
    "build id and path.  What is native is not in the image.\n"
    "\n"
    "  --check     instead, tell what would keep FILE from being loaded on this machine: another processor, another\n"
    "              build of the program or of a library, or one that is not where it was\n"
    "  -h, --help  print this and exit;  --version  print the version and exit\n"
    "\n"
    "In a container, take the file out first: scr_index --extract.\n"
    "Exit 0; 1 if a file cannot be read, is damaged or no image or, with --check, cannot be loaded here.\n";

typedef struct {
  const char* path;
  int         fd;
  img_header  head;
  uint64_t    stored[IMG_RANGES]; /* bytes of each range that are in the file */
  uint64_t    records;
} image;

/* ---- reading ---- */

static int image_damaged(const image* m, const char* what)
{
  return SCR_ERR(SCR_ERR_FORMAT, "%s is damaged: %s", m->path, what);
}

/* Read the header of M, and check what does not depend on its records. */
static int image_read_header(image* m)
{
  img_header* h = &m->head;
  struct stat st;
  int         i;
  ssize_t     n = scr_pread_all(m->fd, h, sizeof *h, 0);

  if (n < 0 || fstat(m->fd, &st) != 0) return SCR_ERRNO("cannot read %s", m->path);
  if ((size_t)n < sizeof h->magic || memcmp(h->magic, IMG_MAGIC, sizeof h->magic) != 0)
    return SCR_ERR(SCR_ERR_FORMAT, "%s is no image of a process, or of another version", m->path);
  if ((size_t)n < sizeof *h ||
      h->crc != (uint32_t)scr_crc32(SCR_CRC32_START, (char*)h + IMG_HEADER_CRC, sizeof *h - IMG_HEADER_CRC))
    return image_damaged(m, "the checksum of its header is wrong");
  if (h->size != (uint64_t)st.st_size) return image_damaged(m, "it has another size than was written");
  if (h->range_count < 2 || h->range_count > IMG_RANGES || h->object_count < 1 || h->object_count > IMG_OBJECTS)
    return image_damaged(m, "its header has too many entries, or none");
  h->arguments[sizeof h->arguments - 1] = '\0';
  for (i = 0; i < h->object_count; i++) {
    img_object* o = &h->objects[i];

    o->id[sizeof o->id - 1] = o->name[sizeof o->name - 1] = o->path[sizeof o->path - 1] = '\0';
  }
  return SCR_SUCCESS;
}

/* The range of M in which R lies, or -1. */
static int image_range(const image* m, const img_record* r)
{
  int i;

  for (i = 0; i < m->head.range_count; i++) {
    const img_range* g = &m->head.ranges[i];

    if (r->address >= g->address && r->length <= g->length && r->address - g->address <= g->length - r->length)
      return i;
  }
  return -1;
}

/* Follow the records of M to the last one, and count their bytes. */
static int image_read_records(image* m)
{
  uint64_t   at = sizeof m->head;
  img_record r;
  ssize_t    n;
  int        i;

  for (m->records = 0;; m->records++, at += r.stored) {
    n = scr_pread_all(m->fd, &r, sizeof r, (off_t)at);
    if (n < 0) return SCR_ERRNO("cannot read %s", m->path);
    if ((size_t)n < sizeof r) return image_damaged(m, "it ends before its last record");
    at += sizeof r;
    if (r.length == 0) break;
    i = image_range(m, &r);
    if (i < 0 || (r.stored != 0 && r.stored != r.length) || r.stored > m->head.size - at)
      return image_damaged(m, "a record has memory that the header does not name");
    m->stored[i] += r.stored;
  }
  return at == m->head.size ? SCR_SUCCESS : image_damaged(m, "bytes follow its last record");
}

static int image_read(image* m, const char* path)
{
  int rc;

  memset(m, 0, sizeof *m);
  m->path = path;
  rc = scr_file_open(path, &m->fd);
  if (rc != SCR_SUCCESS) return rc;
  rc = image_read_header(m);
  if (rc == SCR_SUCCESS) rc = image_read_records(m);
  scr_os.close(m->fd);
  return rc;
}

/* ---- printing ---- */

static void image_print_text(const char* what, const char* text)
{
  printf("%-10s ", what);
  tool_print_line(text);
}

static void image_print(const image* m)
{
  static const char* const kinds[] = {"variables", "thread-local", "heap", "stack", "mapping"};
  const img_header*        h = &m->head;
  char                     when[32];
  int                      i;

  scr_time_string((time_t)h->date, when, sizeof when);
  image_print_text("file", m->path);
  printf("image      image.%" PRIu64 ", rank %d of %d\n", h->n, h->rank, h->ranks);
  image_print_text("date", when);
  image_print_text("program", h->objects[0].path);
  image_print_text("arguments", h->arguments);
  printf("bytes      %" PRIu64 " in %" PRIu64 " records\n", h->size, m->records);
  for (i = 0; i < h->range_count; i++)
    printf("memory     0x%012" PRIx64 " %14" PRIu64 " %14" PRIu64 "  %s\n", h->ranges[i].address, h->ranges[i].length,
           m->stored[i], h->ranges[i].kind <= IMG_MAP ? kinds[h->ranges[i].kind] : "?");
  for (i = 0; i < h->object_count; i++) {
    const img_object* o = &h->objects[i];

    printf("%-10s %-6s ", i == 0 ? "program" : "library", o->native ? "native" : "saved");
    tool_print(o->id);
    putchar(' ');
    tool_print_line(*o->path != '\0' ? o->path : o->name);
  }
}

/* ---- --check ---- */

#if defined(__linux__)
/* The build id in the N bytes of notes at NOTE, in digits in ID; 1 if there is one. */
static int image_note_id(const unsigned char* note, size_t n, char* id, size_t size)
{
  size_t at, k;

  for (at = 0; n - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr h;
    size_t     name, text;

    memcpy(&h, note + at, sizeof h);
    name = ((size_t)h.n_namesz + 3) & ~(size_t)3, text = ((size_t)h.n_descsz + 3) & ~(size_t)3;
    at += sizeof h;
    if (name > n - at || text > n - at - name) return 0;
    if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(note + at, "GNU", 4) == 0) {
      for (k = 0; k < h.n_descsz && 2 * k + 3 < size; k++) snprintf(id + 2 * k, 3, "%02x", note[at + name + k]);
      return 1;
    }
    at += name + text;
  }
  return 0;
}

/* The build id of the 64-bit ELF file FD, as the image has it; 1 if it has one. */
static int image_build_id(int fd, char* id, size_t size)
{
  static unsigned char notes[4096]; /* of one segment; the linker writes the build id first */
  Elf64_Ehdr           e;
  Elf64_Phdr           p;
  ssize_t              n;
  int                  i;

  if (scr_pread_all(fd, &e, sizeof e, 0) != (ssize_t)sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  for (i = 0; i < e.e_phnum; i++) {
    if (scr_pread_all(fd, &p, sizeof p, (off_t)(e.e_phoff + (uint64_t)i * sizeof p)) != (ssize_t)sizeof p) return 0;
    if (p.p_type != PT_NOTE) continue;
    n = scr_pread_all(fd, notes, p.p_filesz < sizeof notes ? (size_t)p.p_filesz : sizeof notes, (off_t)p.p_offset);
    if (n > 0 && image_note_id(notes, (size_t)n, id, size)) return 1;
  }
  return 0;
}

/* The identity of the object PATH, in the form of an image. */
static int image_id(const char* path, char* id, size_t size)
{
  struct stat st;
  uLong       crc = 0;
  int         fd, found, rc = scr_file_open(path, &fd);

  if (rc != SCR_SUCCESS) return rc;
  found = image_build_id(fd, id, size);
  rc = fstat(fd, &st) == 0 ? SCR_SUCCESS : SCR_ERRNO("cannot read %s", path);
  scr_os.close(fd);
  if (rc == SCR_SUCCESS && !found) {
    rc = scr_file_crc(path, (uint64_t)st.st_size, &crc);
    snprintf(id, size, "crc32-%08lx", crc);
  }
  return rc;
}

/* 1 if the object O of M is here, as it was. */
static int image_has_object(const image* m, const img_object* o)
{
  char id[sizeof o->id] = "";

  if (*o->path == '\0') return 1; /* which has not been recorded, as it is too long */
  if (image_id(o->path, id, sizeof id) != SCR_SUCCESS) return 0;
  if (strcmp(id, o->id) == 0) return 1;
  SCR_ERR(SCR_ERR_STATE, "%s was written by another build of %s", m->path, o->path);
  return 0;
}
#else
static int image_has_object(const image* m, const img_object* o)
{
  (void)o;
  SCR_ERR(SCR_ERR_STATE, "%s was written on Linux; this is another system", m->path);
  return 0;
}
#endif

/* 1 if the processor is of the kind that M was written on. */
static int image_has_processor(const image* m)
{
#if defined(IMG_OTHER_PROCESSOR)
  const int same = 0;
#else
  uint32_t cpu[8];
  int      same;

  img_processor(cpu);
  same = memcmp(cpu, m->head.cpu, sizeof cpu) == 0;
#endif
  if (!same) SCR_ERR(SCR_ERR_STATE, "%s was written on another kind of processor", m->path);
  return same;
}

/* Print what keeps M from being loaded here.  Returns 1 if something does. */
static int image_check(const char* argv0, const image* m)
{
  int i, bad = 0;

  if (!image_has_processor(m)) bad = tool_fail(argv0, 1, scr_err_text);
  for (i = 0; i < m->head.object_count; i++)
    if (!image_has_object(m, &m->head.objects[i])) bad = tool_fail(argv0, 1, scr_err_text);
  if (bad) return 1;
  tool_print(m->path);
  printf(" can be loaded here, as rank %d of %d\n", m->head.rank, m->head.ranks);
  return 0;
}

SCR_FN int image_main(int argc, char** argv)
{
  static const struct option options[] = {{"check", no_argument, NULL, 'c'}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  image*                     m;
  int                        c, i, check = 0, bad = 0;

  while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
    if (c != 'c') return tool_answer(c, argv[0], image_usage, 1);
    check = 1;
  }
  if (optind == argc) return tool_usage(argv[0], image_usage, 1, "which file?");
  if ((m = (image*)scr_malloc(sizeof *m)) == NULL) return tool_fail(argv[0], 1, "out of memory");
  for (i = optind; i < argc; i++) {
    if (image_read(m, argv[i]) != SCR_SUCCESS) bad = tool_fail(argv[0], 1, scr_err_text);
    else if (check) bad |= image_check(argv[0], m);
    else image_print(m);
  }
  scr_free(&m);
  return bad == 0 && fflush(stdout) == 0 ? 0 : 1;
}

TOOL_MAIN(image_main)
