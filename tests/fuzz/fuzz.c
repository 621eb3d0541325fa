/*
** fuzz.c - hostile bytes for everything that reads a file: built with libFuzzer, AddressSanitizer and
** UndefinedBehaviorSanitizer (make fuzz).  The first byte chooses the reader.  What has a checksum gets a right one, so
** that the parsers behind it are reached.  -close_fd_mask=2 keeps the warnings of the library to itself.
*/
#define SCR_SERIAL
#include "../../scr_impl.c"

static char root[64], scratch[SCR_MAX_FILENAME];

static const char* below(const char* rel)
{
  snprintf(scratch, sizeof scratch, "%s/%s", root, rel);
  return scratch;
}

static void put(const char* rel, const void* data, size_t n)
{
  int fd = open(below(rel), O_WRONLY | O_CREAT | O_TRUNC, 0600);

  if (fd < 0 || scr_write_all(fd, data, n) < 0) abort();
  close(fd);
}

/* Write DATA, a packed hash or what looks like one, as the body of an image with a right header and CRC32. */
static void put_image(const char* rel, const void* data, size_t n)
{
  char* p = malloc(n + SCR_FILE_HEAD + 4);

  scr_put_be(p, SCR_FILE_MAGIC, 4);
  scr_put_be(p + 4, SCR_FILE_TYPE_HASH, 2);
  scr_put_be(p + 6, SCR_FILE_VERSION, 2);
  scr_put_be(p + 8, SCR_FILE_HEAD + n + 4, 8);
  scr_put_be(p + 16, SCR_FILE_FLAG_CRC32, 4);
  memcpy(p + SCR_FILE_HEAD, data, n);
  scr_put_be(p + SCR_FILE_HEAD + n, crc32_z(0, (const Bytef*)p, SCR_FILE_HEAD + n), 4);
  put(rel, p, SCR_FILE_HEAD + n + 4);
  free(p);
}

static void read_hash(const void* data, size_t n)
{
  scr_hash* h = scr_hash_new();
  size_t    used;

  scr_hash_unpack(data, n, &used, h);
  scr_hash_delete(&h);
}

static void read_params(const void* data, size_t n)
{
  scr_hash* h = scr_hash_new();

  scr_params_parse(data, n, "text", h);
  scr_hash_delete(&h);
}

static void read_any_file(const void* data, size_t n)
{
  scr_hash* h = scr_hash_new();

  put("file", data, n);
  scr_hash_file_read(below("file"), h);
  scr_hash_delete(&h);
}

static void read_filemap(const void* data, size_t n)
{
  scr_filemap map = {NULL, 0};

  put_image("file", data, n);
  scr_filemap_read(below("file"), &map);
  scr_filemap_clear(&map);
}

static void read_index(const void* data, size_t n)
{
  scr_index      index;
  scr_index_item it;
  scr_choice     c;
  int            rc;

  put_image(".scr/index.scr", data, n);
  rc = scr_index_read(&index, root);
  memset(&it, 0, sizeof it);
  while (rc == SCR_SUCCESS && scr_index_walk(&index, &it)) continue;
  if (rc == SCR_SUCCESS) {
    scr_choice_read(&index, &c);
    scr_index_newest(&index, INT_MAX, "job", &it);
    scr_index_current(&index, &it);
    scr_index_outgrown(&index, INT_MAX - 1, 2, &it);
  }
  scr_index_close(&index, rc, 0);
}

static void read_summary(const void* data, size_t n)
{
  scr_desc d;
  int      complete;

  put_image("file", data, n);
  scr_summary_read(below("file"), &d, &complete);
}

static int visit(const scr_objects* l, void* arg)
{
  char           path[SCR_MAX_FILENAME];
  scr_objects_at at;

  (void)arg;
  memset(&at, 0, sizeof at);
  while (scr_objects_walk(l, &at))
    if (scr_objects_path(&at, root, l->id, 1, path, sizeof path) == SCR_SUCCESS && strstr(path, "/../") != NULL)
      abort();
  return SCR_SUCCESS;
}

/* The same bytes are the root, and both leaves that a root can name. */
static void read_map(const void* data, size_t n)
{
  scr_identity     identity = {1, 0, 0};
  scr_prefix_place place;
  int              ranks;

  put_image("ds/.scr/rank2file.scr", data, n);
  put_image("ds/.scr/rank2file.0.0.scr", data, n);
  put_image("ds/.scr/rank2file.1.0.scr", data, n);
  if (scr_prefix_locate(root, 1, "ds", &place) == SCR_SUCCESS)
    scr_rank2file_walk(root, &place, &identity, &ranks, visit, NULL);
}

static void read_header(const void* data, size_t n)
{
  scr_header h;

  put_image("file", data, n);
  scr_header_read(below("file"), &h);
  scr_header_free(&h);
}

static void read_halt(const void* data, size_t n)
{
  scr_hash* h = scr_hash_new();
  int64_t   when;

  put_image("file", data, n);
  if (scr_hash_file_read(below("file"), h) == SCR_SUCCESS) {
    scr_halt_before(h, &when);
    scr_halt_check(h, "job", 1700000000, 100);
    scr_halt_is_over(h, "job");
  }
  scr_hash_delete(&h);
}

static void read_flush_file(const void* data, size_t n)
{
  scr_record     r;
  scr_flush_note note;
  int            id = 0, rc;

  put_image(".scr/flush.scr", data, n);
  rc = scr_flush_file_read(&r, root);
  while (rc == SCR_SUCCESS && (id = scr_flush_file_next(&r, id)) != 0) scr_flush_file_get(&r, id, &note);
  if (rc == SCR_SUCCESS) scr_flush_file_max_id(&r);
  scr_record_close(&r, rc, 0);
}

static void read_others(const void* data, size_t n)
{
  scr_transfer t;
  scr_hash*    h = scr_hash_new();
  int          nodes;

  put_image(".scr/status.scr", data, n);
  put_image(".scr/nodes.scr", data, n);
  put_image("transfer.scrinfo", data, n);
  scr_status_read(root, h);
  scr_nodes_file_read(root, &nodes);
  if (scr_transfer_read(&t, root) == SCR_SUCCESS) scr_transfer_close(&t, SCR_SUCCESS, 0);
  else scr_transfer_close(&t, SCR_ERR_IO, 0);
  scr_hash_delete(&h);
}

static void see_line(const char* line, int64_t when, void* arg)
{
  char text[64];

  scr_log_value(line, "event", text, sizeof text);
  scr_log_number(line, "bytes");
  scr_log_runs_add(arg, line, text, when);
}

static void read_log(const void* data, size_t n)
{
  scr_log_runs runs;

  memset(&runs, 0, sizeof runs);
  put("file", data, n);
  scr_log_read(below("file"), see_line, &runs);
}

static void (*const readers[])(const void* data, size_t n) = {
    read_hash, read_params, read_any_file, read_filemap,    read_index,  read_summary,
    read_map,  read_header, read_halt,     read_flush_file, read_others, read_log,
};

static void begin(void)
{
  snprintf(root, sizeof root, "%s/scr_fuzz.%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
  if (mkdir(root, 0700) < 0 || mkdir(below(".scr"), 0700) < 0 || mkdir(below("ds"), 0700) < 0 ||
      mkdir(below("ds/.scr"), 0700) < 0)
    abort();
  scr_fsync_enabled = 0;
}

static void end(void)
{
  scr_tree_remove(root);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n)
{
  uint8_t* copy;

  if (*root == '\0') {
    begin();
    atexit(end);
  }
  if (n == 0) return 0;
  copy = malloc(n); /* of its own, so that a read before or behind it is seen */
  memcpy(copy, data + 1, n - 1);
  readers[data[0] % (sizeof readers / sizeof *readers)](copy, n - 1);
  free(copy);
  scr_oom = 0;
  return 0;
}
