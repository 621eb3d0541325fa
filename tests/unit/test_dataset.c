/* Records: each is read as it was written, whatever is in it; what makes no sense is refused; where files lie. */

/* A hash of one field for each pair of words in TEXT, "KEY value KEY value ...". */
static scr_hash* dataset_hash(const char* text)
{
  scr_hash* h = scr_hash_new();
  char      key[64], value[64];
  int       n = 0;

  for (; sscanf(text, "%63s %63s%n", key, value, &n) == 2; text += n) scr_hash_util_set_str(h, key, value);
  return h;
}

/* ---- identity ---- */

static scr_identity dataset_identity(const char* text)
{
  scr_hash*    h = dataset_hash(text);
  scr_identity i;

  scr_identity_read(h, &i);
  scr_hash_delete(&h);
  return i;
}

static void an_identity_is_the_same_only_in_all_three_parts(void)
{
  const scr_identity a = {23, 1312850690668536, 0xfedcba987654321u};
  scr_identity       b = a, none = {0, 0, 0};

  CHECK(scr_identity_same(&a, &b) && !scr_identity_differs(&a, &b) && scr_identity_cmp(&a, &b) == 0);
  b.nonce = 1;
  CHECK(!scr_identity_same(&a, &b) && scr_identity_differs(&a, &b));
  CHECK(scr_identity_cmp(&a, &b) == 1 && scr_identity_cmp(&b, &a) == -1);
  b.nonce = 0; /* one of an older version: not certainly the same, nor certainly another */
  CHECK(!scr_identity_same(&a, &b) && !scr_identity_differs(&a, &b) && scr_identity_cmp(&a, &b) != 0);
  b = a;
  b.created++;
  CHECK(!scr_identity_same(&a, &b) && scr_identity_differs(&a, &b) && scr_identity_cmp(&a, &b) == -1);
  b.created = 0;
  CHECK(!scr_identity_same(&a, &b) && !scr_identity_same(&b, &b) && !scr_identity_differs(&a, &b));
  b = a;
  b.id = 24;
  CHECK(!scr_identity_same(&a, &b) && scr_identity_differs(&a, &b) && scr_identity_cmp(&a, &b) == -1);
  b.id = 0;
  CHECK(!scr_identity_same(&b, &b) && !scr_identity_differs(&a, &b));
  b.id = -23;
  CHECK(!scr_identity_same(&b, &b));
  CHECK(!scr_identity_same(&none, &none) && !scr_identity_differs(&none, &a) && scr_identity_cmp(&none, &none) == 0);
  b = a;
  b.nonce = 0;
  none = b;
  CHECK(scr_identity_same(&b, &none)); /* a missing nonce is 0 */
}

static void an_identity_reads_as_it_was_written(void)
{
  static const scr_identity list[] = {{23, 1312850690668536, 0xfedcba987654321u},
                                      {INT_MAX, INT64_MAX, UINT64_MAX},
                                      {INT_MIN, INT64_MIN, 1},
                                      {1, 1, 0},
                                      {0, 0, 0}};
  size_t                    i;

  for (i = 0; i < sizeof list / sizeof *list; i++) {
    scr_hash*    h = scr_hash_new();
    scr_identity back;
    scr_identity_write(h, &list[i]);
    if (i == 0) CHECK_STR(scr_hash_elem_get_first_val(h, "NONCE"), "0fedcba987654321");
    scr_identity_read(h, &back);
    CHECK(scr_identity_cmp(&back, &list[i]) == 0);
    scr_hash_delete(&h);
  }
}

static void a_nonce_that_makes_no_sense_is_that_of_no_dataset(void)
{
  static const char* const bad[] = {"no-hex-digits", "12345678901234567", "-1", "0x12", "+1"};
  scr_identity             i;
  scr_hash*                h;
  size_t                   k;

  for (k = 0; k < sizeof bad / sizeof *bad; k++) {
    h = dataset_hash("ID 3 CREATED 77");
    scr_hash_util_set_str(h, "NONCE", bad[k]);
    scr_identity_read(h, &i);
    CHECK(i.id == 3 && i.nonce == 0 && !scr_identity_same(&i, &i));
    scr_hash_delete(&h);
  }
  h = dataset_hash("ID 3 CREATED 77");
  scr_hash_util_set_str(h, "NONCE", "");
  scr_identity_read(h, &i);
  CHECK(!scr_identity_same(&i, &i));
  scr_hash_delete(&h);
  i = dataset_identity("ID 3 CREATED 77 NONCE FFFFFFFFFFFFFFFF");
  CHECK(i.nonce == UINT64_MAX && scr_identity_same(&i, &i));
  i = dataset_identity("ID three CREATED 1.5");
  CHECK(i.id == 0 && i.created == 0);
  i = dataset_identity("ID 2147483648 CREATED 9223372036854775808");
  CHECK(i.id == 0 && i.created == 0);
  scr_identity_read(NULL, &i);
  CHECK(i.id == 0 && i.created == 0 && i.nonce == 0);
}

/* ---- descriptor ---- */

static void dataset_fill(char* to, size_t n, char c)
{
  memset(to, c, n - 1);
  to[n - 1] = '\0';
}

static void a_descriptor_reads_as_it_was_written(void)
{
  scr_desc d, back;
  int      i;

  for (i = 0; i < 16; i++) {
    scr_hash* h = scr_hash_new();
    memset(&d, 0, sizeof d);
    d.preserve = i & 1;
    d.flags = (i & 2 ? SCR_FLAG_CHECKPOINT : 0) | (i & 4 ? SCR_FLAG_OUTPUT : 0);
    if (i & 8) { /* as much of everything as there can be */
      d.identity.id = INT_MAX;
      d.identity.created = INT64_MIN;
      d.identity.nonce = UINT64_MAX;
      d.ckpt = d.ranks = d.files = INT_MAX;
      d.complete = 1;
      d.bytes = UINT64_MAX;
      dataset_fill(d.name, sizeof d.name, 'n');
      dataset_fill(d.dir, sizeof d.dir, 'd');
      dataset_fill(d.user, sizeof d.user, 'u');
      dataset_fill(d.job, sizeof d.job, 'j');
      dataset_fill(d.job_name, sizeof d.job_name, '\n');
      dataset_fill(d.cluster, sizeof d.cluster, '\377');
    }
    scr_desc_write(h, &d);
    memset(&back, 'x', sizeof back);
    scr_desc_read(h, &back);
    CHECK(records_same_desc(&d, &back));
    CHECK_INT(scr_desc_is_ckpt(&back), (i & 2) != 0);
    scr_hash_delete(&h);
  }
  CHECK_STR(scr_desc_name(&d), d.name);
  d.name[0] = '\0';
  CHECK_STR(scr_desc_name(&d), "?");
}

static void a_field_that_a_descriptor_lacks_is_zero(void)
{
  scr_hash* h =
      dataset_hash("ID x NAME as-it-is CKPT -y RANKS 1e3 FILES 99999999999 SIZE -1 COMPLETE yes FLAG_OUTPUT no");
  scr_desc d;

  scr_desc_read(NULL, &d);
  CHECK(d.identity.id == 0 && *d.name == '\0' && *d.dir == '\0' && *d.user == '\0' && d.ckpt == 0 && d.flags == 0);
  CHECK(d.ranks == 0 && d.files == 0 && d.bytes == 0 && d.complete == 0 && d.preserve == 1);
  scr_desc_read(h, &d);
  CHECK_STR(d.name, "as-it-is");
  CHECK(d.identity.id == 0 && d.ckpt == 0 && d.ranks == 0 && d.files == 0 && d.bytes == 0 && d.complete == 0);
  CHECK_INT(d.flags, 0);
  scr_hash_util_set_int(h, "CKPT", 3); /* older records have a number and no flag */
  scr_desc_read(h, &d);
  CHECK(d.ckpt == 3 && d.flags == SCR_FLAG_CHECKPOINT);
  scr_hash_util_set_int(h, "FLAG_CKPT", 0);
  scr_desc_read(h, &d);
  CHECK(d.ckpt == 3 && d.flags == 0);
  scr_hash_set(h, "NAME", scr_hash_new()); /* a key without a value */
  scr_desc_read(h, &d);
  CHECK_STR(d.name, "");
  scr_hash_delete(&h);
}

static void a_text_that_is_too_long_for_a_descriptor_is_cut(void)
{
  char      text[3 * SCR_MAX_FILENAME];
  scr_hash* h = scr_hash_new();
  scr_desc  d;

  dataset_fill(text, sizeof text, 't');
  scr_hash_util_set_str(h, "NAME", text);
  scr_hash_util_set_str(h, "USER", text);
  scr_desc_read(h, &d);
  CHECK(strlen(d.name) == SCR_MAX_FILENAME - 1 && strlen(d.user) == sizeof d.user - 1 && *d.dir == '\0');
  scr_hash_delete(&h);
}

/* ---- file ---- */

static int dataset_read_file(const scr_hash* h, scr_file* f)
{
  memset(f, 0, sizeof *f);
  return scr_file_read(h, f);
}

static void a_file_reads_as_it_was_written(void)
{
  scr_file f, back, copy;
  char     rel[2 * SCR_MAX_FILENAME];
  int      i;

  dataset_fill(rel, sizeof rel, 'r');
  for (i = 0; i < 64; i++) {
    scr_hash* h = scr_hash_new();
    records_file(&f, 3, 1, i);
    f.kind = (scr_scheme)(i % 4);
    if (i & 4) scr_free(&f.orig);
    if (i & 8) scr_free(&f.dir);
    if (i & 16) f.has_crc = f.mode = 0, f.mtime = 0, f.ranks = 0;
    if (i & 32) {
      scr_free(&f.rel);
      f.rel = scr_strdup(i & 4 ? "r" : rel);
      f.size = UINT64_MAX;
      f.crc = 0xffffffffu;
      f.ranks = f.mode = INT_MAX;
      f.mtime = INT64_MIN;
    }
    if (i == 7) f.complete = 0, f.size = 0;
    scr_file_write(h, &f);
    CHECK_INT(dataset_read_file(h, &back), SCR_SUCCESS);
    CHECK(records_same_file(&f, &back));
    scr_file_dup(&copy, &back);
    CHECK(records_same_file(&f, &copy) && copy.rel != back.rel);
    scr_hash_delete(&h);
    scr_file_free(&f);
    scr_file_free(&back);
    scr_file_free(&copy);
  }
}

/* Others read these fields: the commands, and versions before this one. */
static void a_file_is_written_in_the_form_that_others_read(void)
{
  scr_hash* h = scr_hash_new();
  scr_file  f;

  records_file(&f, 6, 0, 1);
  scr_file_write(h, &f);
  CHECK_STR(scr_hash_elem_get_first_val(h, "FILE"), "ckpt.6/rank_0/part_1");
  CHECK_STR(scr_hash_elem_get_first_val(h, "TYPE"), "FULL");
  CHECK_STR(scr_hash_elem_get_first_val(h, "CRC"), "0x0039e4e5"); /* of fixed width */
  CHECK_STR(scr_hash_elem_get_first_val(h, "ORIG"), "./ckpt.6/rank_0/part_1");
  CHECK_STR(scr_hash_elem_get_first_val(h, "ORIGPATH"), "/p/ckpt.6/rank_0");
  CHECK_STR(scr_hash_elem_get_first_val(h, "ORIGNAME"), "part_1");
  CHECK_STR(scr_hash_elem_get_first_val(h, "SIZE"), "1001");
  CHECK_STR(scr_hash_elem_get_first_val(h, "MODE"), "416");
  scr_file_free(&f);
  scr_hash_delete(&h);
}

static void a_file_outside_of_its_dataset_is_refused(void)
{
  static const char* const bad[] = {"/etc/passwd", "..", "../x", "a/../../x", "a/..", ".", "./x", "a//b", "a/", ""};
  scr_hash*                h = dataset_hash("TYPE FULL SIZE 3 COMPLETE 1");
  scr_file                 f;
  size_t                   i;

  CHECK_INT(dataset_read_file(NULL, &f), SCR_ERR_FORMAT);
  CHECK_INT(dataset_read_file(h, &f), SCR_ERR_FORMAT);
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    scr_hash_util_set_str(h, "FILE", bad[i]);
    CHECK(dataset_read_file(h, &f) == SCR_ERR_FORMAT && f.rel == NULL);
    CHECK(strstr(scr_err_text, "outside of its dataset") != NULL);
  }
  scr_hash_util_set_str(h, "FILE", "...");
  CHECK_INT(dataset_read_file(h, &f), SCR_SUCCESS);
  scr_file_free(&f);
  scr_hash_delete(&h);
}

static void a_file_of_an_older_or_odd_record_is_read_as_far_as_it_goes(void)
{
  scr_hash* h =
      dataset_hash("FILE a TYPE USER SIZE 7 COMPLETE 1 CRC 0 PATH /p NAME a RANKS x MODE 99999999999 MTIME x");
  scr_file f;

  CHECK_INT(dataset_read_file(h, &f), SCR_SUCCESS);
  CHECK(f.kind == SCR_FILE_APPLICATION && f.complete && f.size == 7 && f.has_crc && f.crc == 0);
  CHECK(f.ranks == 0 && f.mode == 0 && f.mtime == 0 && f.orig == NULL);
  scr_file_free(&f);
  scr_hash_util_set_str(h, "SIZE", "-1"); /* a file without a size is not complete */
  scr_hash_util_set_str(h, "TYPE", "XORX");
  CHECK(dataset_read_file(h, &f) == SCR_SUCCESS && !f.complete && f.size == 0 && f.kind == SCR_FILE_APPLICATION);
  scr_file_free(&f);
  scr_hash_unset(h, "SIZE");
  CHECK(dataset_read_file(h, &f) == SCR_SUCCESS && !f.complete);
  scr_file_free(&f);
  scr_hash_util_set_str(h, "CRC", "0x100000000"); /* not a checksum: without one the file would pass unchecked */
  CHECK(dataset_read_file(h, &f) == SCR_ERR_FORMAT && strstr(scr_err_text, "the checksum of a ") != NULL);
  scr_hash_util_set_str(h, "CRC", "none");
  CHECK_INT(dataset_read_file(h, &f), SCR_ERR_FORMAT);
  scr_hash_set(h, "CRC", scr_hash_new());
  CHECK(dataset_read_file(h, &f) == SCR_ERR_FORMAT && f.rel == NULL);
  scr_hash_delete(&h);
}

/* ---- descriptor of a set ---- */

static void a_scheme_has_one_name(void)
{
  scr_scheme s = SCR_SCHEME_RS;
  int        i;

  for (i = 0; i < SCR_SCHEMES; i++)
    CHECK(scr_scheme_from_name(scr_scheme_name((scr_scheme)i), &s) == SCR_SUCCESS && (int)s == i);
  CHECK(scr_scheme_from_name("xor", &s) == SCR_SUCCESS && s == SCR_SCHEME_XOR);
  CHECK(scr_scheme_from_name("LOCAL", &s) == SCR_ERR_PARAM && strstr(scr_err_text, "LOCAL") != NULL);
  CHECK(strstr(scr_err_text, "there are SINGLE, PARTNER, XOR, RS") != NULL);
}

/* The losses that a set can be made to bear, and the space that it takes for 60 bytes of a member. */
static void the_row_of_a_scheme_says_what_its_sets_bear(void)
{
  static const struct {
    scr_scheme scheme;
    int        n, k, bears, space;
  } set[] = {{SCR_SCHEME_SINGLE, 1, 0, 1, 60}, {SCR_SCHEME_SINGLE, 2, 1, 0, 60},   {SCR_SCHEME_PARTNER, 2, 1, 1, 120},
             {SCR_SCHEME_PARTNER, 3, 2, 0, 0}, {SCR_SCHEME_PARTNER, 1, 1, 0, 60},  {SCR_SCHEME_XOR, 4, 1, 1, 80},
             {SCR_SCHEME_XOR, 4, 0, 0, 60},    {SCR_SCHEME_XOR, 4, 2, 0, 0},       {SCR_SCHEME_RS, 5, 2, 1, 100},
             {SCR_SCHEME_RS, 5, 5, 0, 60},     {SCR_SCHEME_RS, 200, 56, 1, 0},     {SCR_SCHEME_RS, 200, 57, 0, 0},
             {SCR_SCHEME_XOR, 4096, 1, 1, 60}, {SCR_SCHEME_PARTNER, 9, 1, 1, 120}, {SCR_SCHEME_RS, 2, -1, 0, 0}};
  size_t i;

  for (i = 0; i < sizeof set / sizeof set[0]; i++) {
    CHECK(scr_scheme_bears(set[i].scheme, set[i].n, set[i].k) == set[i].bears);
    if (set[i].space != 0) CHECK(scr_scheme_space(set[i].scheme, set[i].n, set[i].k, 60) == set[i].space);
  }
}

/* What is written of D, read for RANKS ranks into BACK; the code. */
static int dataset_reddesc_back(const scr_reddesc* d, scr_reddesc* back, int ranks)
{
  scr_hash* h = scr_hash_new();
  int       rc;

  scr_reddesc_write(h, d);
  rc = scr_reddesc_read(h, back, ranks);
  scr_hash_delete(&h);
  return rc;
}

/* Give D N members: the ranks from FIRST on. */
static void dataset_members(scr_reddesc* d, int n, int first)
{
  int i;

  scr_free(&d->member);
  d->member = (int*)scr_malloc((size_t)n * sizeof *d->member);
  for (i = 0; i < n; i++) d->member[i] = first + i;
  d->set_size = n;
  d->set_id = first;
  d->set_rank = n - 1;
}

static void a_set_reads_as_it_was_written(void)
{
  scr_reddesc d, back, copy;

  records_reddesc(&d, "/ssd", 2);
  CHECK(dataset_reddesc_back(&d, &back, 4) == SCR_SUCCESS && records_same_reddesc(&d, &back));
  scr_reddesc_dup(&copy, &back);
  CHECK(records_same_reddesc(&d, &copy) && copy.member != back.member);
  scr_reddesc_free(&copy);
  scr_reddesc_free(&back);

  d.scheme = SCR_SCHEME_RS;
  d.failures = 63;
  d.global = 1;
  d.can_mkdir = 0;
  d.index = d.interval = d.size_wanted = d.hop = d.sets = INT_MAX;
  d.output = 1;
  dataset_members(&d, 193, INT_MAX - 193);
  CHECK(dataset_reddesc_back(&d, &back, INT_MAX) == SCR_SUCCESS && records_same_reddesc(&d, &back));
  scr_reddesc_free(&back);
  CHECK_INT(dataset_reddesc_back(&d, &back, INT_MAX - 1), SCR_ERR_FORMAT); /* the last member is no rank */
  scr_reddesc_free(&back);

  d.scheme = SCR_SCHEME_PARTNER;
  d.failures = 1;
  dataset_members(&d, SCR_SET_SIZE_MAX, 0);
  CHECK(dataset_reddesc_back(&d, &back, SCR_SET_SIZE_MAX) == SCR_SUCCESS && records_same_reddesc(&d, &back));
  scr_reddesc_free(&back);
  CHECK_INT(dataset_reddesc_back(&d, &back, SCR_SET_SIZE_MAX - 1), SCR_ERR_FORMAT);
  scr_reddesc_free(&back);
  dataset_members(&d, SCR_SET_SIZE_MAX + 1, 0);
  CHECK(dataset_reddesc_back(&d, &back, INT_MAX) == SCR_ERR_FORMAT && back.set_size == 0);
  scr_reddesc_free(&back);

  d.scheme = SCR_SCHEME_SINGLE;
  d.failures = 0;
  dataset_members(&d, 1, 7);
  CHECK(dataset_reddesc_back(&d, &back, 8) == SCR_SUCCESS && records_same_reddesc(&d, &back));
  scr_reddesc_free(&back);
  scr_reddesc_free(&d);
}

/* A good descriptor with KEY changed to VALUE, or without it when that is NULL; the code of reading it for 4 ranks. */
static int dataset_reddesc_with(const char* key, const char* value)
{
  scr_hash*   h = scr_hash_new();
  scr_reddesc d, back;
  int         rc;

  records_reddesc(&d, "/ssd", 1);
  scr_reddesc_write(h, &d);
  if (value == NULL) scr_hash_unset(h, key);
  else scr_hash_util_set_str(h, key, value);
  rc = scr_reddesc_read(h, &back, 4);
  CHECK((rc == SCR_SUCCESS) == (back.set_size == 4 && back.member != NULL && rc == SCR_SUCCESS));
  scr_reddesc_free(&back);
  scr_reddesc_free(&d);
  scr_hash_delete(&h);
  return rc;
}

static void a_set_that_makes_no_sense_is_refused(void)
{
  static const char* const bad[][2] = {
      {"TYPE", NULL},        {"TYPE", "RAID"},      {"BASE", NULL},        {"GROUP_SIZE", NULL}, {"GROUP_SIZE", "0"},
      {"GROUP_SIZE", "-4"},  {"GROUP_SIZE", "5"},   {"GROUP_SIZE", "1"},   {"GROUP_RANK", NULL}, {"GROUP_RANK", "-1"},
      {"GROUP_RANK", "4"},   {"GROUP_ID", NULL},    {"GROUP_ID", "x"},     {"MEMBER", NULL},     {"MEMBER", "0"},
      {"SET_FAILURES", "0"}, {"SET_FAILURES", "4"}, {"SET_FAILURES", "-1"}};
  static const char* const fine[][2] = {{"ENABLED", "0"}, {"INDEX", "x"},        {"INTERVAL", NULL}, {"SET_SIZE", NULL},
                                        {"GROUPS", NULL}, {"GROUP", NULL},       {"VIEW", NULL},     {"MKDIR", NULL},
                                        {"OUTPUT", NULL}, {"HOP_DISTANCE", NULL}};
  scr_hash*                h;
  scr_reddesc              d;
  size_t                   i;

  for (i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_INT(dataset_reddesc_with(bad[i][0], bad[i][1]), SCR_ERR_FORMAT);
  for (i = 0; i < sizeof fine / sizeof *fine; i++) CHECK_INT(dataset_reddesc_with(fine[i][0], fine[i][1]), SCR_SUCCESS);
  h = dataset_hash("TYPE RS BASE /ssd GROUP_SIZE 200 GROUP_RANK 0 GROUP_ID 0 SET_FAILURES 57");
  for (i = 0; i < 200; i++) scr_hash_setf(h, NULL, "%s %d %d", "MEMBER", (int)i, (int)i);
  CHECK_INT(scr_reddesc_read(h, &d, 200), SCR_ERR_FORMAT); /* the field has 256 elements */
  scr_reddesc_free(&d);
  CHECK_INT(scr_reddesc_read(NULL, &d, 4), SCR_ERR_FORMAT);
  scr_reddesc_free(&d);
  CHECK_INT(scr_reddesc_read(h, &d, -1), SCR_ERR_FORMAT);
  scr_reddesc_free(&d);
  scr_hash_delete(&h);
}

/* ---- places ---- */

static void a_path_in_a_store_follows_from_home_store_and_dataset(void)
{
  scr_home    home = *records_home();
  scr_reddesc d;
  char        path[SCR_MAX_FILENAME], rel[SCR_MAX_FILENAME];

  records_reddesc(&d, "/ssd", 0);
  CHECK_INT(scr_home_path(&home, &d, 12, "a/b", path, sizeof path), SCR_SUCCESS);
  CHECK_STR(path, "/ssd/me/scr.123/scr.dataset.12/a/b");
  CHECK_INT(scr_home_path(&home, &d, 12, "", path, sizeof path), SCR_SUCCESS);
  CHECK_STR(path, "/ssd/me/scr.123/scr.dataset.12");
  home.suffix = 2;
  d.global = 1;
  CHECK_INT(scr_home_path(&home, &d, 12, "a", path, sizeof path), SCR_SUCCESS);
  CHECK_STR(path, "/ssd/me/scr.123.2/node.node7/scr.dataset.12/a");
  d.global = 0;
  home.shared = 1;
  CHECK_INT(scr_home_path(&home, &d, 12, "a", path, sizeof path), SCR_SUCCESS);
  CHECK_STR(path, "/ssd/me/scr.123.2/node.node7/scr.dataset.12/a");
  home.shared = 0;
  d.can_mkdir = 0;
  CHECK_INT(scr_home_path(&home, &d, 12, "a/50%", path, sizeof path), SCR_SUCCESS);
  CHECK_STR(path, "/ssd/me%2Fscr.123.2%2Fscr.dataset.12%2Fa%2F50%25");
  dataset_fill(rel, 240, 'r');
  CHECK_INT(scr_home_path(&home, &d, 12, rel, path, sizeof path), SCR_ERR_PATH); /* no file name is that long */
  d.can_mkdir = 1;
  CHECK_INT(scr_home_path(&home, &d, 12, rel, path, sizeof path), SCR_SUCCESS);
  dataset_fill(rel, sizeof rel, 'r');
  CHECK_INT(scr_home_path(&home, &d, 12, rel, path, sizeof path), SCR_ERR_PATH);
  scr_reddesc_free(&d);
}

static void a_directory_that_others_may_change_is_refused(void)
{
  char base[256];

  snprintf(base, sizeof base, "%s", check_path("base"));
  CHECK_INT(scr_private_mkdir(base, "me/job"), SCR_SUCCESS);
  CHECK_INT(scr_private_mkdir(base, "me/job"), SCR_SUCCESS); /* it is there: fine */
  CHECK_INT(scr_private_check(check_path("base/me/job")), SCR_SUCCESS);
  CHECK_INT(chmod(check_path("base/me"), 0770), 0);
  CHECK(scr_private_mkdir(base, "me/job") == SCR_ERR_UNSAFE && strstr(scr_err_text, "0770") != NULL);
  CHECK_INT(chmod(check_path("base/me"), 0700), 0);
  CHECK_INT(symlink("me", check_path("base/link")), 0);
  CHECK(scr_private_mkdir(base, "link/job") == SCR_ERR_UNSAFE && strstr(scr_err_text, "symbolic link") != NULL);
  check_put(check_path("base/file"), "x", 1);
  CHECK(scr_private_mkdir(base, "file/job") == SCR_ERR_UNSAFE && strstr(scr_err_text, "not a directory") != NULL);
  CHECK_INT(scr_private_check(check_path("base/none")), SCR_ERR_IO);
  if (geteuid() == 0 && chown(check_path("base/me/job"), 4242, (gid_t)-1) == 0)
    CHECK(scr_private_mkdir(base, "me/job") == SCR_ERR_UNSAFE && strstr(scr_err_text, "4242") != NULL);
}

static void a_name_in_a_flat_store_is_claimed(void)
{
  scr_reddesc d;
  struct stat st;

  memset(&d, 0, sizeof d);
  CHECK_INT(scr_home_claim(&d, check_path("claimed")), SCR_SUCCESS);
  CHECK(stat(check_path("claimed"), &st) == 0 && (st.st_mode & 0777) == 0600);
  CHECK_INT(scr_home_claim(&d, check_path("claimed")), SCR_SUCCESS); /* ours already */
  CHECK_INT(link(check_path("claimed"), check_path("second")), 0);
  CHECK_INT(scr_home_claim(&d, check_path("claimed")), SCR_ERR_UNSAFE);
  unlink(check_path("second"));
  CHECK_INT(symlink("claimed", check_path("second")), 0);
  CHECK(scr_home_claim(&d, check_path("second")) == SCR_ERR_UNSAFE && strstr(scr_err_text, "symbolic link") != NULL);
  CHECK_INT(scr_home_claim(&d, check_path("none/x")), SCR_ERR_IO);
  d.can_mkdir = 1;
  CHECK_INT(scr_home_claim(&d, check_path("second")), SCR_SUCCESS); /* the directory is private */
  unlink(check_path("second"));
  unlink(check_path("claimed"));
}

static void the_directory_of_a_dataset_is_made_for_its_user_alone(void)
{
  scr_reddesc d;
  struct stat st;

  records_reddesc(&d, check_path("store"), 0);
  CHECK_INT(scr_home_mkdir(records_home(), &d, 5), SCR_SUCCESS);
  CHECK_INT(scr_home_mkdir(records_home(), &d, 5), SCR_SUCCESS);
  CHECK(stat(check_path("store/me/scr.123/scr.dataset.5/.scr"), &st) == 0 && (st.st_mode & 0777) == 0700);
  d.can_mkdir = 0;
  CHECK(scr_home_mkdir(records_home(), &d, 6) == SCR_SUCCESS &&
        access(check_path("store/me/scr.123/scr.dataset.6"), F_OK) < 0);
  scr_reddesc_free(&d);
}

/* ---- entry ---- */

static void the_files_of_an_entry_are_found_added_replaced_and_forgotten(void)
{
  scr_entry* e = records_entry(1, 0, 0);
  scr_entry* copy;
  scr_file   f;
  double     start = check_cpu();
  int        i, wrong = 0, n = 10000;
  char       rel[64];

  CHECK(scr_entry_find(e, "x") == NULL);
  for (i = 0; i < n; i++) {
    records_file(&f, 1, 0, i);
    f.kind = i % 10 == 0 ? SCR_SCHEME_XOR : SCR_FILE_APPLICATION;
    wrong += scr_entry_find(e, f.rel) != NULL || scr_entry_add(e, &f) == NULL;
    scr_file_free(&f);
  }
  CHECK(wrong == 0 && e->files == n);
  for (i = 0; i < n; i++) { /* once more: replaced */
    records_file(&f, 1, 0, i);
    f.kind = i % 10 == 0 ? SCR_SCHEME_XOR : SCR_FILE_APPLICATION;
    f.size = 1;
    wrong += scr_entry_add(e, &f) != &e->file[i];
    scr_file_free(&f);
  }
  CHECK(wrong == 0 && e->files == n);
  for (i = 0; i < n; i++) wrong += e->file[i].size != 1;
  CHECK(wrong == 0);
  for (i = 0; i < n; i++) {
    snprintf(rel, sizeof rel, "ckpt.1/rank_0/part_%d", i);
    wrong += scr_entry_find(e, rel) != &e->file[i];
  }
  CHECK(wrong == 0 && scr_entry_find(e, "ckpt.1/rank_0/part_10000") == NULL);
  CHECK(scr_entry_add(e, &e->file[77]) == &e->file[77] && e->files == n); /* a record of the entry itself */

  copy = scr_entry_dup(e);
  CHECK(records_same_entry(e, copy));
  scr_entry_forget(copy, 0, 1);
  CHECK(copy->files == n / 10 * 9 && copy->file[0].kind == SCR_FILE_APPLICATION);
  for (i = 0; i < n; i++) {
    snprintf(rel, sizeof rel, "ckpt.1/rank_0/part_%d", i);
    wrong += (scr_entry_find(copy, rel) != NULL) != (i % 10 != 0);
  }
  CHECK_INT(wrong, 0);
  scr_entry_forget(e, 1, 0);
  CHECK(e->files == n / 10 && e->file[0].kind == SCR_SCHEME_XOR && e->file[999].kind == SCR_SCHEME_XOR);
  for (i = 0; i < n; i++) { /* what is forgotten comes back */
    records_file(&f, 1, 0, i);
    scr_entry_add(e, &f);
    wrong += scr_entry_find(e, f.rel) == NULL;
    scr_file_free(&f);
  }
  CHECK(wrong == 0 && e->files == n);
  scr_entry_forget(e, 0, 0);
  CHECK_INT(e->files, n);
  scr_entry_forget(e, 1, 1);
  CHECK(e->files == 0 && scr_entry_find(e, "ckpt.1/rank_0/part_1") == NULL);
  scr_entry_clear(e);
  CHECK(e->file == NULL && e->slot == NULL && e->slots == 0 && !e->listed);
  records_file(&f, 1, 0, 3);
  CHECK(scr_entry_add(e, &f) != NULL && scr_entry_find(e, f.rel) != NULL);
  scr_file_free(&f);
  CHECK(check_cpu() - start < 1.0 * CHECK_SLOWER); /* 60,000 searches: not one by one */
  scr_entry_free(&e);
  scr_entry_free(&copy);
  scr_entry_free(&copy);
  CHECK(e == NULL && copy == NULL);
}

/* Around the sizes at which the room and the slots of an entry grow. */
static void an_entry_grows_and_shrinks_at_any_size(void)
{
  int n, i, k, wrong = 0;

  for (n = 0; n < 70; n++) {
    scr_entry* e = records_entry(1, 0, n);
    for (i = 0; i < n; i += 2) e->file[i].kind = SCR_SCHEME_RS;
    scr_entry_forget(e, n % 3 == 0, n % 3 != 0);
    for (k = 0; k < n; k++) {
      scr_file f;
      records_file(&f, 1, 0, k);
      scr_entry_add(e, &f);
      scr_file_free(&f);
    }
    wrong += e->files != n;
    for (i = 0; i < n; i++) wrong += scr_entry_find(e, e->file[i].rel) != &e->file[i];
    scr_entry_free(&e);
  }
  CHECK_INT(wrong, 0);
}

/* E through the form of a filemap. */
static scr_entry* dataset_entry_back(const scr_entry* e)
{
  scr_hash*  h = scr_hash_new();
  scr_entry* back = NULL;

  CHECK_INT(scr_entry_write(h, e, records_home()), SCR_SUCCESS);
  back = scr_entry_read(h, e->owner, e->desc.identity.id);
  scr_hash_delete(&h);
  return back;
}

static void an_entry_comes_back_from_a_filemap(void)
{
  int i;

  for (i = 0; i < 64; i++) {
    scr_entry *e = records_entry(INT_MAX, INT_MAX, i % 5 * 9), *back;
    e->verified = i & 1;
    e->mark = (scr_mark)(i / 2 % 3);
    e->preserve = (i & 8) != 0;
    e->container = (i & 16) != 0;
    if (i & 32) {
      *e->partner = '\0';
      e->listed = 0;
    } else {
      dataset_fill(e->partner, sizeof e->partner, 'p');
    }
    back = dataset_entry_back(e);
    CHECK(records_same_entry(e, back));
    scr_entry_free(&e);
    scr_entry_free(&back);
  }
}

static void a_record_that_makes_no_sense_is_left_out_of_its_entry(void)
{
  scr_entry *e = records_entry(3, 1, 3), *back;
  scr_hash*  h = scr_hash_new();
  int        err = records_quiet(-1);

  CHECK_INT(scr_entry_write(h, e, records_home()), SCR_SUCCESS);
  scr_hash_util_set_str(
      scr_hash_getf(h, "%s %s %s", "FILE", "/ssd/me/scr.123/scr.dataset.3/ckpt.3/rank_1/part_1", "META"), "FILE",
      "../part_1");
  back = scr_entry_read(h, 1, 3);
  CHECK(back->files == 2 && !back->listed && scr_entry_find(back, "ckpt.3/rank_1/part_2") != NULL);
  CHECK(strstr(scr_err_text, "../part_1") != NULL);
  scr_entry_free(&back);

  /* what is left out of one list must not be made good by a count that fits the rest */
  scr_hash_util_set_int(h, "FILES", 2);
  back = scr_entry_read(h, 1, 3);
  CHECK(back->files == 2 && !back->listed);
  scr_entry_free(&back);

  scr_hash_unset_all(h);
  CHECK_INT(scr_entry_write(h, e, records_home()), SCR_SUCCESS);
  scr_hash_util_set_str(scr_hash_get(h, "REDDESC"), "GROUP_RANK", "7");
  back = scr_entry_read(h, 1, 3);
  CHECK(back->files == 3 && back->red.set_size == 0 && back->red.store == NULL && back->red.member == NULL);
  scr_entry_free(&back);
  scr_hash_unset(h, "FILES");
  scr_hash_unset(h, "FLUSH");
  scr_hash_unset(h, "DSETDESC");
  back = scr_entry_read(h, 1, 3);
  CHECK(!back->listed && back->preserve == 1 && back->container == 0 && *back->partner == '\0');
  CHECK(back->desc.identity.id == 3 && back->desc.identity.created == 0 && back->desc.ranks == 0);
  scr_entry_free(&back);
  scr_hash_util_set_int(scr_hash_set(h, "DATADESC", scr_hash_new()), "RANKS", 5); /* of older versions */
  scr_hash_util_set_int(scr_hash_get(h, "DATADESC"), "ID", 99);                   /* the key says which dataset it is */
  back = scr_entry_read(h, 1, 3);
  CHECK(back->desc.ranks == 5 && back->desc.identity.id == 3);
  scr_entry_free(&back);
  back = scr_entry_read(NULL, 1, 3);
  CHECK(back->files == 0 && !back->listed && back->owner == 1);
  scr_entry_free(&back);
  records_quiet(err);
  scr_entry_free(&e);
  scr_hash_delete(&h);
}

/* Where its files lie is then not known, but its record must not keep those of other datasets from being written. */
static void an_entry_whose_set_is_not_known_is_written_all_the_same(void)
{
  scr_entry *e = records_entry(3, 1, 2), *back;
  scr_file   f;

  records_file(&f, 3, 1, 2);
  scr_free(&f.rel);
  f.rel = scr_strdupf("%0240d", 1); /* with what stands above it, longer than a name in a flat store may be */
  scr_entry_add(e, &f);
  scr_file_free(&f);
  scr_reddesc_free(&e->red);
  back = dataset_entry_back(e);
  CHECK(records_same_entry(e, back));
  scr_entry_free(&e);
  scr_entry_free(&back);
}

static void an_entry_comes_back_from_a_redundancy_header(void)
{
  static const int sizes[] = {0, 1, 100};
  size_t           k;
  int              i;

  for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    scr_entry *e = records_entry(3, 1, sizes[k]), *back = records_entry(3, 1, 7);
    scr_hash*  h = scr_hash_new();
    scr_file   f;
    scr_entry_write_member(h, e);
    CHECK_INT(scr_hash_int_or(h, "FILES", -1), sizes[k]);
    CHECK_INT(scr_entry_read_member(h, back), SCR_SUCCESS);
    CHECK(back->files == e->files && !back->listed);
    for (i = 0; i < e->files; i++) CHECK(records_same_file(&e->file[i], &back->file[i])); /* in the same order */
    scr_hash_unset_all(h);
    records_file(&f, 3, 1, 500);
    f.kind = SCR_SCHEME_XOR;
    scr_entry_add(e, &f); /* a header does not describe redundancy files */
    scr_file_free(&f);
    scr_entry_write_member(h, e);
    CHECK(scr_entry_read_member(h, back) == SCR_SUCCESS && back->files == sizes[k]);
    scr_hash_delete(&h);
    scr_entry_free(&e);
    scr_entry_free(&back);
  }
}

static void a_redundancy_header_that_does_not_list_the_member_is_refused(void)
{
  scr_entry *e = records_entry(3, 1, 3), *back = records_entry(3, 1, 2);
  scr_hash*  h = scr_hash_new();

  CHECK(scr_entry_read_member(NULL, back) == SCR_ERR_FORMAT && back->files == 0);
  scr_entry_write_member(h, e);
  back->owner = 2;
  CHECK(scr_entry_read_member(h, back) == SCR_ERR_FORMAT && strstr(scr_err_text, "rank 2") != NULL);
  back->owner = 1;
  scr_hash_util_set_int(h, "FILES", 2);
  CHECK_INT(scr_entry_read_member(h, back), SCR_ERR_FORMAT);
  scr_hash_util_set_int(h, "FILES", -1);
  CHECK_INT(scr_entry_read_member(h, back), SCR_ERR_FORMAT);
  scr_hash_util_set_int(h, "FILES", 4);
  scr_hash_set_kv(h, "FILE", "5"); /* so many, but not numbered 0 to 3 */
  CHECK(scr_entry_read_member(h, back) == SCR_ERR_FORMAT && back->files == 0);
  scr_hash_unset_kv(h, "FILE", "5");
  scr_hash_set(scr_hash_get(h, "FILE"), "3", scr_hash_dup(scr_hash_get_kv(h, "FILE", "1")));
  CHECK(scr_entry_read_member(h, back) == SCR_ERR_FORMAT && strstr(scr_err_text, "twice") != NULL);
  scr_hash_util_set_str(scr_hash_get_kv(h, "FILE", "3"), "FILE", "../x");
  CHECK(scr_entry_read_member(h, back) == SCR_ERR_FORMAT && back->files == 0);
  scr_hash_util_set_str(scr_hash_get_kv(h, "FILE", "3"), "FILE", "x");
  CHECK(scr_entry_read_member(h, back) == SCR_SUCCESS && back->files == 4);
  scr_hash_delete(&h);
  scr_entry_free(&e);
  scr_entry_free(&back);
}

static void a_file_gets_its_place_in_the_store(void)
{
  scr_entry*  e = records_entry(3, 1, 0);
  scr_file    f;
  struct stat st;
  char        path[SCR_MAX_FILENAME], want[2 * SCR_MAX_FILENAME];

  scr_reddesc_free(&e->red);
  records_reddesc(&e->red, check_path("places"), 1);
  records_file(&f, 3, 1, 0);
  CHECK_INT(scr_entry_place(records_home(), e, &f, path), SCR_SUCCESS);
  snprintf(want, sizeof want, "%s/me/scr.123/scr.dataset.3/%s", check_path("places"), f.rel);
  CHECK_STR(path, want);
  CHECK(e->files == 1 && records_same_file(&e->file[0], &f));
  CHECK(stat(check_path("places/me/scr.123/scr.dataset.3/ckpt.3/rank_1"), &st) == 0 && (st.st_mode & 0777) == 0700);
  scr_free(&f.rel);
  f.rel = scr_strdup("../../x");
  CHECK(scr_entry_place(records_home(), e, &f, path) == SCR_ERR_FORMAT && e->files == 1);
  scr_free(&f.rel);
  f.rel = (char*)scr_malloc(SCR_MAX_FILENAME);
  dataset_fill(f.rel, SCR_MAX_FILENAME, 'x');
  CHECK(scr_entry_place(records_home(), e, &f, path) == SCR_ERR_PATH && e->files == 1);
  scr_free(&f.rel);
  f.rel = scr_strdup("a/b");
  e->red.can_mkdir = 0; /* one flat name, which is claimed */
  CHECK_INT(scr_entry_place(records_home(), e, &f, path), SCR_SUCCESS);
  CHECK(access(check_path("places/me%2Fscr.123%2Fscr.dataset.3%2Fa%2Fb"), F_OK) == 0 && e->files == 2);
  scr_file_free(&f);
  scr_entry_free(&e);
}

/* ---- without memory ---- */

/* Build an entry, copy it, change it, and bring it through both of its forms; the first error. */
static int dataset_story(const char* arg)
{
  scr_entry *e = records_entry(3, 1, 17), *copy = e != NULL ? scr_entry_dup(e) : NULL, *back = NULL;
  scr_hash * h = scr_hash_new(), *member = scr_hash_new();
  int        rc = copy == NULL || h == NULL || member == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  (void)arg;
  if (rc == SCR_SUCCESS) rc = scr_entry_write(h, e, records_home());
  if (rc == SCR_SUCCESS && (back = scr_entry_read(h, 1, 3)) == NULL) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) CHECK(records_same_entry(e, back));
  if (rc == SCR_SUCCESS) scr_entry_write_member(member, e);
  if (rc == SCR_SUCCESS && scr_oom) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) {
    rc = scr_entry_read_member(member, copy);
    CHECK_INT(copy->files, rc == SCR_SUCCESS ? 17 : 0);
  }
  scr_hash_delete(&h);
  scr_hash_delete(&member);
  scr_entry_free(&e);
  scr_entry_free(&copy);
  scr_entry_free(&back);
  return rc;
}

static void without_memory_no_record_is_half_made(void)
{
  CHECK(records_alloc_sweep(dataset_story, NULL, NULL) > 500);
}

/* An addition for which there is no memory leaves the entry as it was, at each size. */
static void an_entry_stays_whole_when_a_file_cannot_be_added(void)
{
  int n, k, i, struck, wrong = 0;

  for (n = 0; n < 40; n++)
    for (k = 0, struck = 1; struck && k < 20; k++) {
      scr_entry* e = records_entry(3, 1, n);
      scr_file   f;
      int        added;
      records_file(&f, 3, 1, n);
      check_alloc_hit = 0;
      check_alloc_left = k;
      added = scr_entry_add(e, &f) != NULL;
      check_alloc_left = -1;
      struck = check_alloc_hit;
      wrong += added == struck || e->files != n + added || scr_oom != struck;
      scr_oom = 0;
      for (i = 0; i < e->files; i++) wrong += scr_entry_find(e, e->file[i].rel) != &e->file[i];
      wrong += scr_entry_add(e, &f) == NULL || scr_entry_find(e, f.rel) != &e->file[n] || e->files != n + 1;
      scr_file_free(&f);
      scr_entry_free(&e);
    }
  CHECK_INT(wrong, 0);
}

static void test_dataset(void)
{
  an_identity_is_the_same_only_in_all_three_parts();
  an_identity_reads_as_it_was_written();
  a_nonce_that_makes_no_sense_is_that_of_no_dataset();
  a_descriptor_reads_as_it_was_written();
  a_field_that_a_descriptor_lacks_is_zero();
  a_text_that_is_too_long_for_a_descriptor_is_cut();
  a_file_reads_as_it_was_written();
  a_file_is_written_in_the_form_that_others_read();
  a_file_outside_of_its_dataset_is_refused();
  a_file_of_an_older_or_odd_record_is_read_as_far_as_it_goes();
  a_scheme_has_one_name();
  the_row_of_a_scheme_says_what_its_sets_bear();
  a_set_reads_as_it_was_written();
  a_set_that_makes_no_sense_is_refused();
  a_path_in_a_store_follows_from_home_store_and_dataset();
  a_directory_that_others_may_change_is_refused();
  a_name_in_a_flat_store_is_claimed();
  the_directory_of_a_dataset_is_made_for_its_user_alone();
  the_files_of_an_entry_are_found_added_replaced_and_forgotten();
  an_entry_grows_and_shrinks_at_any_size();
  an_entry_comes_back_from_a_filemap();
  a_record_that_makes_no_sense_is_left_out_of_its_entry();
  an_entry_whose_set_is_not_known_is_written_all_the_same();
  an_entry_comes_back_from_a_redundancy_header();
  a_redundancy_header_that_does_not_list_the_member_is_refused();
  a_file_gets_its_place_in_the_store();
  without_memory_no_record_is_half_made();
  an_entry_stays_whole_when_a_file_cannot_be_added();
}
