/* ==== SAVE ==============================================================================================
** The file of an image: header, tables, and records of memory; written from memory, compared, and loaded.
**
** Uses       ranges.c, start.c (memory), heap.c (what is in use)
** Offers     img_here, img_write, img_compare, img_load, img_resume, img_crc.
** Invariants
**   I1  Between img_context_take and the end of img_write nothing on the saved side changes.
**   I2  From img_load to img_resume only native variables and the kernel's stack are used.
**   I3  The header is written last: a file that was cut off has none.
** Failure    img_write returns a text; img_compare tells what differs.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "table.h"

img_context       img_here;
double            img_bytes;
static img_header head; /* of the image that is written or loaded */
static int        image_fd = -1;
static char       failure[300];

uint32_t img_crc(uint32_t crc, const void* data, size_t n)
{
  return (uint32_t)crc32_z(crc, data, n);
}

static uint32_t head_crc(void)
{
  return img_crc(0, (const char*)&head + IMG_HEADER_CRC, sizeof head - IMG_HEADER_CRC);
}

static uint64_t canary(void)
{
  uint64_t word;

  __asm__("movq %%fs:0x28, %0" : "=r"(word));
  return word;
}

/* ---- writing ---- */

/* Write N bytes at FROM to the image.  Returns 1 on success. */
static int put(const void* from, uint64_t n)
{
  const char* at = from;

  while (n > 0) {
    ssize_t wrote = write(image_fd, at, n > 1UL << 30 ? 1UL << 30 : n);

    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return 0;
    at += wrote, n -= (uint64_t)wrote;
  }
  return 1;
}

static int is_zero(const char* p, uint64_t length)
{
  return length == 0 || (*p == 0 && memcmp(p, p + 1, length - 1) == 0);
}

/* The memory [FROM, TO), whose bytes are at DATA; ZERO: all of them are. */
static int put_record(uint64_t from, uint64_t to, const char* data, int zero)
{
  img_record r = {from, to - from, zero ? 0 : to - from};

  return from == to || (put(&r, sizeof r) && put(data, r.stored));
}

/*
** The pages of [FROM, FROM + LENGTH), whose bytes are at DATA, in records of neighbours.  FRESH: a restart has the
** memory anew, so zero pages need no record.
*/
static int put_pages(uint64_t from, const char* data, uint64_t length, int fresh)
{
  uint64_t at, next, begin = from, end = from + length;
  int      zero, zeros = 0, ok = 1;

  for (at = from; at < end && ok; at = next) {
    next = (at & ~(IMG_PAGE - 1)) + IMG_PAGE;
    if (next > end) next = end;
    zero = is_zero(data + (at - from), next - at);
    if (at == from) zeros = zero;
    if (zero == zeros) continue;
    if (!zeros || !fresh) ok = put_record(begin, at, data + (begin - from), zeros);
    begin = at, zeros = zero;
  }
  return ok && ((zeros && fresh) || put_record(begin, end, data + (begin - from), zeros));
}

/* The saved heap, without what its free blocks hold. */
static int put_heap(const img_range* r)
{
  uint64_t block = r->address, done = r->address, from, to;
  int      ok = 1;

  while (ok && img_heap_gap(&block, &from, &to)) {
    ok = put_pages(done, (const char*)done, from - done, 1);
    done = to;
  }
  return ok && put_pages(done, (const char*)done, r->address + r->length - done, 1);
}

#define CHUNK  (1UL << 18)
#define LOOK   (1UL << 14) /* pages whose state is read at once */
#define STATES (3UL << 62) /* a page is in memory, or swapped */

/* The first address from AT on, before END, of a page that the system has; a mapping may be much larger than they. */
static uint64_t next_page(int pagemap, uint64_t at, uint64_t end)
{
  static uint64_t states[LOOK];
  size_t          i;

  while (at < end) {
    ssize_t got = pread(pagemap, states, sizeof states, (off_t)(at / IMG_PAGE * sizeof *states));

    if (got < (ssize_t)sizeof *states) return at; /* not told: look at all */
    for (i = 0; i < (size_t)got / sizeof *states && at < end; i++, at += IMG_PAGE)
      if (states[i] & STATES) return at;
  }
  return end;
}

/* A mapping, which may be of pages that cannot be read: by the kernel. */
static int put_mapping(const img_range* r)
{
  static char buf[CHUNK];
  int         ok = 1, fd = -1, pagemap = -1;
  uint64_t    at, n, end = r->address + (r->use != IMG_UNUSED ? r->length : 0);

  if (r->use != IMG_UNUSED && (fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) < 0) return 0;
  if (r->use == IMG_MEMORY) pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  for (at = r->address; at < end && ok; at += n) {
    ssize_t got;

    if (pagemap >= 0 && (at = next_page(pagemap, at, end)) == end) break;
    n = end - at < sizeof buf ? end - at : sizeof buf;
    got = pread(fd, buf, n, (off_t)at);
    if (got <= 0 && n > IMG_PAGE) got = pread(fd, buf, n = IMG_PAGE, (off_t)at);
    if (got > 0) ok = put_pages(at, buf, n = (uint64_t)got, 1);
    else ok = errno == EIO; /* a page behind the end of a file */
  }
  if (pagemap >= 0) close(pagemap);
  if (fd >= 0) close(fd);
  return ok;
}

/* Fill the header, but for its size. */
static void describe(uint64_t n)
{
  uint64_t low = (img_here.rsp - IMG_RED_ZONE) & ~15UL;

  memset(&head, 0, sizeof head);
  memcpy(head.magic, IMG_MAGIC, 8);
  head.page = (uint32_t)IMG_PAGE;
  head.n = n;
  head.date = (int64_t)time(NULL);
  head.rank = img_rank, head.ranks = img_ranks;
  img_processor(head.cpu);
  memcpy(head.arguments, img_arguments, sizeof head.arguments);
  head.canary = canary();
  head.wtime = img_wtime();
  head.heap_end = img_heap_end();
  head.stack_low = img_stack_low;
  head.context = img_here;
  head.object_count = img_ranges_objects(head.objects);
  head.range_count = img_ranges_saved(head.ranges);
  if (head.range_count < 0) img_die("not all variables of the program's libraries can be found"); /* as at the start */
  head.ranges[head.range_count++] = (img_range){IMG_HEAP_BASE, img_heap_used(), IMG_HEAP, 0, 0};
  head.ranges[head.range_count++] = (img_range){low, IMG_STACK_TOP - low, IMG_STACK, 0, 0};
  head.range_count += img_maps(&head.ranges[head.range_count]);
}

/* Returns 1 if ST, of FILE, is this user's, or belongs to whom the file system gives the files that this user makes. */
static int is_own(const char* file, const struct stat* st)
{
  char        path[PATH_MAX];
  struct stat made;
  int         fd, is;

  if (st->st_uid == geteuid()) return 1;
  if ((size_t)snprintf(path, sizeof path, "%s.own", file) >= sizeof path) return 0;
  if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0) return 0;
  is = fstat(fd, &made) == 0 && made.st_uid == st->st_uid;
  close(fd);
  unlink(path);
  return is;
}

/*
** Make FILE, which nobody else can have opened.  The library may have made it, with the rights of the umask: that one
** goes, as others may read it already.  What another user has put in its place since then receives nothing of this
** memory, and what a link there leads to stays as it is: that is EPERM.
*/
static int open_own(const char* file)
{
  const int   flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  struct stat st;
  int         fd = open(file, flags, 0600);

  if (fd < 0 && errno == EEXIST) {
    errno = EPERM;
    if (lstat(file, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 || !is_own(file, &st)) return -1;
    if (unlink(file) == 0) fd = open(file, flags, 0600);
    if (fd < 0 && errno == EEXIST) errno = EPERM;
  }
  if (fd >= 0) fchmod(fd, 0600); /* what the umask has taken */
  return fd;
}

const char* img_write(const char* file, uint64_t n)
{
  static const img_record last;
  int                     ok, i;

  describe(n);
  image_fd = open_own(file);
  ok = image_fd >= 0 && lseek(image_fd, sizeof head, SEEK_SET) == sizeof head;
  for (i = 0; i < head.range_count && ok; i++) {
    const img_range* r = &head.ranges[i];

    if (r->kind == IMG_MAP) ok = put_mapping(r);
    else if (r->kind == IMG_HEAP) ok = put_heap(r);
    else ok = put_pages(r->address, (const char*)r->address, r->length, r->kind == IMG_STACK);
  }
  ok = ok && put(&last, sizeof last);
  if (ok) {
    head.size = (uint64_t)lseek(image_fd, 0, SEEK_CUR);
    head.crc = head_crc();
    ok = lseek(image_fd, 0, SEEK_SET) == 0 && put(&head, sizeof head); /* I3 */
  }
  img_bytes = ok ? (double)head.size : 0;
  if (!ok) snprintf(failure, sizeof failure, "cannot write %.200s: %s", file, strerror(errno));
  if (image_fd >= 0 && close(image_fd) != 0 && ok) {
    ok = 0;
    snprintf(failure, sizeof failure, "cannot close %.200s: %s", file, strerror(errno));
  }
  image_fd = -1;
  return ok ? NULL : failure;
}

/* ---- comparing ---- */

/* Read N bytes of the image.  Returns 1 on success. */
static int get(void* to, uint64_t n)
{
  char* at = to;

  while (n > 0) {
    ssize_t got = read(image_fd, at, n > 1UL << 30 ? 1UL << 30 : n);

    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got, n -= (uint64_t)got;
  }
  return 1;
}

/* 1 if the header cannot be that of a whole file. */
static int is_damaged(void)
{
  struct stat st;

  if (!get(&head, sizeof head) || memcmp(head.magic, IMG_MAGIC, 8) != 0 || head.crc != head_crc()) return 1;
  return fstat(image_fd, &st) != 0 || (uint64_t)st.st_size != head.size || head.range_count > IMG_RANGES ||
         head.range_count < 2 || head.object_count > IMG_OBJECTS || head.object_count < 1;
}

static int compare_objects(char* why)
{
  static img_object mine[IMG_OBJECTS];
  int               i, n = img_ranges_objects(mine);

  for (i = 0; i < n && i < head.object_count; i++) {
    if (strcmp(mine[i].name, head.objects[i].name) != 0)
      return snprintf(why, 400, "image.%lu was written with %s where %s is now", (unsigned long)head.n,
                      head.objects[i].name, mine[i].name);
    if (strcmp(mine[i].id, head.objects[i].id) != 0)
      return snprintf(why, 400, "image.%lu was written by another build of %s", (unsigned long)head.n, mine[i].name);
    if (mine[i].native != head.objects[i].native)
      return snprintf(why, 400, "%s was %s in image.%lu: set SCR_IMAGE_SAVED_LIBS and SCR_IMAGE_NATIVE_LIBS as then",
                      mine[i].name, head.objects[i].native ? "native" : "saved", (unsigned long)head.n);
    if (mine[i].address != head.objects[i].address)
      return snprintf(why, 400, "%s is at 0x%lx, but in image.%lu at 0x%lx", mine[i].name,
                      (unsigned long)mine[i].address, (unsigned long)head.n, (unsigned long)head.objects[i].address);
  }
  if (n == head.object_count) return 0;
  return snprintf(why, 400, "image.%lu was written with %d libraries, but there are %d now", (unsigned long)head.n,
                  head.object_count, n);
}

/* The ranges of objects and TLS are those of this process, each of them. */
static int compare_ranges(char* why)
{
  static img_range mine[IMG_RANGES];
  int              i, fixed = 0, n = img_ranges_saved(mine);

  while (fixed < head.range_count && head.ranges[fixed].kind <= IMG_TLS) fixed++;
  if (n != fixed)
    return snprintf(why, 400, "image.%lu has %d ranges of memory, this process %d", (unsigned long)head.n, fixed, n);
  for (i = 0; i < n; i++)
    if (memcmp(&mine[i], &head.ranges[i], sizeof mine[i]) != 0)
      return snprintf(why, 400, "image.%lu has memory at 0x%lx, this process at 0x%lx", (unsigned long)head.n,
                      (unsigned long)head.ranges[i].address, (unsigned long)mine[i].address);
  return 0;
}

static void close_image(void)
{
  if (image_fd >= 0) close(image_fd);
  image_fd = -1;
}

/* As img_compare; leaves the file open. */
static int compare(const char* file, char* why)
{
  uint32_t cpu[8];

  image_fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO in its place is not waited for */
  if (image_fd < 0) {
    int here = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EACCES || errno == EIO;

    snprintf(why, 400, "cannot open %.200s: %s", file, strerror(errno));
    return here ? 2 : 1; /* it is not the image's fault */
  }
  if (is_damaged()) {
    snprintf(why, 400, "%.200s is damaged, or no image", file);
    return 1;
  }
  img_processor(cpu);
  if (head.ranks != img_ranks || head.rank != img_rank) {
    snprintf(why, 400, "image.%lu is of rank %d of %d", (unsigned long)head.n, head.rank, head.ranks);
    return 2;
  }
  if (memcmp(cpu, head.cpu, sizeof cpu) != 0) {
    snprintf(why, 400, "image.%lu was written on another kind of processor", (unsigned long)head.n);
    return 2;
  }
  if (compare_objects(why) || compare_ranges(why)) return 2;
  head.arguments[sizeof head.arguments - 1] = '\0';
  if (img_rank == 0 && strcmp(head.arguments, img_arguments) != 0)
    img_say("image.%lu was written with other arguments, and goes on with them: %s", (unsigned long)head.n,
            head.arguments);
  return 0;
}

int img_compare(const char* file, char* why)
{
  int rc;

  close_image(); /* of an image that another rank could not read */
  rc = compare(file, why);
  if (rc != 0) close_image();
  return rc;
}

/* ---- loading (I2) ---- */

/* A record must lie in a range of the header. */
static int is_expected(const img_record* r)
{
  int i;

  if (r->stored != 0 && r->stored != r->length) return 0;
  for (i = 0; i < head.range_count; i++)
    if (r->address >= head.ranges[i].address && r->length <= head.ranges[i].length &&
        r->address - head.ranges[i].address <= head.ranges[i].length - r->length)
      return 1;
  return 0;
}

/* Make [AT, END) zero.  Pages that are zero already, as those of variables that nobody has set, stay untouched. */
static void clear(char* at, const char* end)
{
  while (at < end) {
    char*  page = (char*)(((uint64_t)at & ~(IMG_PAGE - 1)) + IMG_PAGE);
    size_t n = (size_t)((page < end ? page : end) - at);

    if (!is_zero(at, n)) memset(at, 0, n);
    at += n;
  }
}

int img_load(void)
{
  static uint64_t heap_end; /* where the heap is mapped to, once an image was loaded */
  img_record      r;
  int             fits, ok, i;

  img_unmap(IMG_HEAP_BASE, (heap_end != 0 ? heap_end : img_heap_end()) - IMG_HEAP_BASE);
  img_unmap(img_stack_low, IMG_STACK_TOP - img_stack_low);
  img_stack_low = head.stack_low, heap_end = head.heap_end;
  img_unmap(IMG_MAP_BASE, IMG_MAP_LIMIT - IMG_MAP_BASE);
  ok = img_map(IMG_HEAP_BASE, head.heap_end - IMG_HEAP_BASE) && img_map(img_stack_low, IMG_STACK_TOP - img_stack_low);
  for (i = 0; i < head.range_count && ok; i++)
    if (head.ranges[i].kind == IMG_MAP) ok = img_map(head.ranges[i].address, head.ranges[i].length);
  fits = ok;
  while (ok) {
    ok = get(&r, sizeof r);
    if (ok && r.length == 0) break;
    ok = ok && is_expected(&r) && get((void*)r.address, r.stored);
    if (ok && r.stored == 0) clear((char*)r.address, (char*)r.address + r.length);
  }
  for (i = 0; i < head.range_count && ok; i++) {
    const img_range* m = &head.ranges[i];

    if (m->kind == IMG_MAP) ok = mprotect((void*)m->address, m->length, m->protection) == 0;
  }
  close_image();
  memcpy(img_arguments, head.arguments, sizeof img_arguments);
  img_wtime_add = head.wtime - MPI_Wtime();
  return ok ? 0 : fits ? 1 : 2;
}

void img_resume(void)
{
  img_signals_defer();
  img_context_resume(&head.context, head.canary);
}
