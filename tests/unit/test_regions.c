/* test_regions.c - files of regions: what is written is read, and each damaged field is refused. */

/* The path of the file of the suite. */
static const char* regions_file(void)
{
  static char path[200];

  snprintf(path, sizeof path, "%s/regions.0", check_dir);
  return path;
}

/* A list of a plain region of 5000 bytes, an empty one, and a block of an array of 2 x 3 of 4 x 3 elements. */
static void regions_make(scr_regions* l)
{
  scr_region* r = scr_regions_add(l, "plain");

  r->count = 1250;
  r->element = 4;
  r->crc = 0x12345678;
  scr_regions_add(l, "empty");
  r = scr_regions_add(l, "array");
  r->count = 6;
  r->element = 8;
  r->box.dims = 2;
  r->global[0] = 4;
  r->global[1] = r->box.extent[1] = 3;
  r->box.start[0] = r->box.extent[0] = 2;
}

/* Write H as the head of the file, and bytes behind it up to SIZE. */
static void regions_write(const scr_hash* h, uint64_t size)
{
  scr_buf b = {NULL, 0, 0, 0};
  FILE*   f;

  CHECK(scr_hash_image(h, &b) == SCR_SUCCESS);
  f = fopen(regions_file(), "w");
  CHECK(f != NULL && fwrite(b.p, 1, b.n, f) == b.n && fclose(f) == 0 && truncate(regions_file(), (off_t)size) == 0);
  scr_buf_free(&b);
}

static int regions_read_code(void)
{
  scr_regions l = {NULL, 0, NULL};
  int         rc = scr_regions_read(regions_file(), &l);

  scr_regions_free(&l);
  return rc;
}

static void regions_come_back(scr_regions* l, uint64_t size)
{
  scr_regions       got = {NULL, 0, NULL};
  scr_hash*         h = scr_hash_new();
  const scr_region* r;

  CHECK(scr_regions_to_hash(l, 1, h) == SCR_SUCCESS);
  regions_write(h, size);
  CHECK(scr_regions_read(regions_file(), &got) == SCR_SUCCESS && got.n == 3);
  r = scr_regions_find(&got, "plain");
  CHECK(r != NULL && r->count == 1250 && r->element == 4 && r->crc == 0x12345678 && r->at % 4096 == 0 &&
        r->box.dims == 0);
  r = scr_regions_find(&got, "array");
  CHECK(r != NULL && r->at % 64 == 0 && r->at >= 4096 + 5000 && r->box.dims == 2 && r->global[0] == 4 &&
        r->box.start[0] == 2 && r->box.start[1] == 0 && r->box.extent[1] == 3);
  CHECK(scr_regions_find(&got, "none") == NULL);
  CHECK(truncate(regions_file(), (off_t)size - 1) == 0 && regions_read_code() == SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "array does not lie within the file") != NULL);
  CHECK(unlink(regions_file()) == 0 && regions_read_code() == SCR_ERR_NOT_FOUND);
  scr_regions_remove(&got, scr_regions_find(&got, "plain"));
  CHECK(got.n == 2 && scr_regions_find(&got, "plain") == NULL && scr_regions_find(&got, "array") == &got.region[0]);
  scr_regions_free(&got);
  scr_hash_delete(&h);
}

/* Each field of each region with each wrong value, or without one, is an error that names the region. */
static void regions_that_are_damaged_are_named(scr_regions* l, uint64_t size)
{
  static const struct {
    const char *key, *values[10];
  } fields[] = {
      {"COUNT", {"", "-1", "x", "7", "18446744073709551615", "99999999999999999999999", NULL}},
      {"ELEMENT", {"", "-1", "x", "18446744073709551615", "9223372036854775807", NULL}},
      {"OFFSET", {"", "-1", "0", "x", "1000000", "18446744073709551615", NULL}},
      {"CRC32", {"", "x", "0x123456789", NULL}},
      {"GLOBAL", {"", "4", "4,", "4,x", "4,2", "3,3", "9223372036854775807,9", "4,3,1", "1,1,1,1,1,1,1,1,1", NULL}},
      {"START", {"", "2", "3,0", "2,1", "18446744073709551615,0", "2,0,0", NULL}},
      {"EXTENT", {"", "2", "2,4", "3,3", "2,2", "18446744073709551615,3", NULL}}};
  size_t f;
  int    i, wrong;

  for (f = 0; f < sizeof fields / sizeof *fields; f++)
    for (i = -1; i < 10 && (i < 0 || fields[f].values[i] != NULL); i++) {
      scr_hash *h = scr_hash_new(), *one;
      CHECK(scr_regions_to_hash(l, 1, h) == SCR_SUCCESS);
      one = scr_hash_getf(h, "REGION array");
      if (i < 0) scr_hash_unset(one, fields[f].key);
      else scr_hash_util_set_str(one, fields[f].key, fields[f].values[i]);
      regions_write(h, size);
      wrong = regions_read_code() == SCR_ERR_FORMAT && strstr(scr_err_text, "region array") != NULL;
      if (i < 0 && strcmp(fields[f].key, "GLOBAL") == 0) wrong = 1; /* it is no block, then */
      if (!wrong) printf("%s is %s, and read\n", fields[f].key, i < 0 ? "missing" : fields[f].values[i]);
      CHECK(wrong);
      scr_hash_delete(&h);
    }
}

static void regions_of_other_versions_are_refused(scr_regions* l, uint64_t size)
{
  scr_hash* h = scr_hash_new();

  CHECK(scr_regions_to_hash(l, 1, h) == SCR_SUCCESS);
  scr_hash_util_set_int(h, "REGIONS", 2);
  regions_write(h, size);
  CHECK(regions_read_code() == SCR_ERR_FORMAT && strstr(scr_err_text, "of version 1") != NULL);
  scr_hash_util_set_int(h, "REGIONS", SCR_REGION_VERSION);
  scr_hash_unset(h, "ORDER"); /* as in the first versions */
  regions_write(h, size);
  CHECK_INT(regions_read_code(), SCR_SUCCESS);
  scr_hash_util_set_str(h, "ORDER", strcmp(scr_region_order(), "BIG") == 0 ? "LITTLE" : "BIG");
  regions_write(h, size);
  CHECK(regions_read_code() == SCR_ERR_FORMAT && strstr(scr_err_text, "-endian") != NULL);
  scr_hash_unset(h, "REGIONS");
  regions_write(h, size);
  CHECK(regions_read_code() == SCR_ERR_FORMAT);
  scr_hash_delete(&h);
}

static void test_regions(void)
{
  scr_regions l = {NULL, 0, NULL};
  uint64_t    size = 0;

  regions_make(&l);
  CHECK(scr_regions_place(&l, &size) == SCR_SUCCESS && size > 4096 + 5000);
  regions_come_back(&l, size);
  regions_that_are_damaged_are_named(&l, size);
  regions_of_other_versions_are_refused(&l, size);
  scr_regions_free(&l);
}
