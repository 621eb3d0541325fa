/* test_rank2file.c - the map of a large dataset as a tree, and files that are packed into containers. */
#include <malloc.h>

/* ---- trees ----------------------------------------------------------------------------------------------------- */

/* A map that is made in one process, rank after rank, as the ranks of a run make it together. */
typedef struct {
  int64_t  limit;
  int      ranks, files; /* files of each rank */
  int      level;        /* of the nodes below, which are complete */
  int      n;            /* and their number */
  int*     rank;
  int*     below;              /* ranks that each describes */
  uint64_t most, total, nodes; /* bytes of the largest file, of all, and how many there are */
  size_t   memory;             /* most bytes in use at a time, above those at the start */
} tree;

static size_t tree_in_use(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

static void tree_note(tree* t, size_t start, const char* file)
{
  uint64_t size = 0;

  CHECK_INT(scr_file_size(records_at(file), &size), SCR_SUCCESS);
  if (size > t->most) t->most = size;
  t->total += size;
  t->nodes++;
  if (tree_in_use() > start && tree_in_use() - start > t->memory) t->memory = tree_in_use() - start;
}

/* The objects of one rank, as the hash that it adds to its leaf. */
static scr_hash* tree_body(const tree* t, int rank)
{
  scr_objects l;
  scr_hash*   h = scr_hash_new();
  char        rel[64];
  int         i;

  memset(&l, 0, sizeof l);
  l.id = 5;
  scr_objects_add_owner(&l, rank);
  for (i = 0; i < t->files; i++) {
    scr_object* o;
    snprintf(rel, sizeof rel, "run/5/rank_%d.%d", rank, i);
    if ((o = scr_objects_add(&l, rank, rel)) != NULL) o->size = (uint64_t)rank;
  }
  CHECK_INT(scr_objects_to_hash(&l, records_prefix, "run/5", h), SCR_SUCCESS);
  scr_objects_free(&l);
  return h;
}

/* A node of LEVEL is complete: it was begun by RANK, and what is below it describes RANKS ranks. */
static void tree_end_node(tree* t, int rank, int ranks)
{
  t->rank[t->n] = rank;
  t->below[t->n++] = ranks;
}

static void tree_leaves(tree* t)
{
  scr_hash*          leaf = scr_hash_new();
  char               file[64], path[96];
  int64_t            at = 0, span;
  int                r, first = 0, below = 0;
  size_t             start = tree_in_use();
  scr_hash*          longest = tree_body(t, t->ranks - 1);
  const scr_identity of = {5, 1600000000000000, 77};

  span = scr_rank2file_span(t->limit, (int64_t)scr_hash_pack_size(longest));
  scr_hash_delete(&longest);
  for (r = 0; r <= t->ranks; r++) {
    scr_hash* body = r < t->ranks ? tree_body(t, r) : NULL;
    int64_t   size = body != NULL ? (int64_t)scr_hash_pack_size(body) : 0;
    if (r > 0 && (body == NULL || scr_rank2file_begins(at, at + size, span))) {
      CHECK_INT(scr_rank2file_write_leaf(records_prefix, "run/5", &of, first, "", leaf, &below, file, sizeof file),
                SCR_SUCCESS);
      CHECK_INT(below, r - first);
      snprintf(path, sizeof path, "run/5/%s", file);
      tree_note(t, start, path);
      tree_end_node(t, first, r - first);
      scr_hash_unset_all(leaf);
      first = r;
    }
    if (body != NULL) scr_hash_merge(leaf, body);
    scr_hash_delete(&body);
    at += size;
  }
  scr_hash_delete(&leaf);
}

/* Make the level above; 1 if that was the root. */
static int tree_level(tree* t)
{
  scr_rank2file m;
  char          file[64], path[96];
  int64_t       at = 0, size = 75, span = scr_rank2file_span(t->limit, size); /* about what a child takes */
  int           i, n = t->n, is_root = size * n < span;
  size_t        start = tree_in_use();

  memset(&m, 0, sizeof m);
  m.level = ++t->level;
  t->n = 0;
  for (i = 0; i <= n; i++) {
    if (i > 0 && (i == n || scr_rank2file_begins(at, at + size, span))) {
      snprintf(file, sizeof file, is_root ? ".scr/rank2file.scr" : ".scr/rank2file.%d.%d.scr", t->level, m.rank[0]);
      if (is_root) m.identity.id = 5;
      CHECK_INT(scr_rank2file_write(records_prefix, "run/5", &m, file), SCR_SUCCESS);
      snprintf(path, sizeof path, "run/5/%s", file);
      tree_note(t, start, path);
      tree_end_node(t, m.rank[0], m.ranks);
      scr_rank2file_free(&m);
      m.ranks = 0;
    }
    if (i == n) break;
    snprintf(file, sizeof file, ".scr/rank2file.%d.%d.scr", t->level - 1, t->rank[i]);
    CHECK_INT(scr_rank2file_add(&m, t->rank[i], file), SCR_SUCCESS);
    m.ranks += t->below[i];
    at += size;
  }
  return is_root;
}

/* Check that the leaves have each rank once, in order. */
static int tree_visit(const scr_objects* l, void* arg)
{
  tree* t = (tree*)arg;
  int   i;

  for (i = 0; i < l->owners; i++) {
    CHECK(l->owner[i] == t->n + i);
    if (t->files > 0)
      CHECK(l->object[i * t->files].owner == t->n + i && l->object[i * t->files].size == (uint64_t)(t->n + i));
  }
  t->n += l->owners;
  return SCR_SUCCESS;
}

/* Make a map of RANKS ranks with FILES files each in files of at most LIMIT bytes, and read it; its depth. */
static int tree_try(int ranks, int files, int64_t limit, int tell)
{
  scr_prefix_place place;
  scr_identity     identity;
  tree             t;
  double           start = scr_wtime(), made;
  int              depth, read = 0;

  records_begin();
  CHECK_INT(scr_mkdirs(records_at("run/5/.scr"), 0700), SCR_SUCCESS);
  CHECK_INT(scr_mkdirs(records_at(".scr"), 0700), SCR_SUCCESS);
  memset(&t, 0, sizeof t);
  t.limit = limit;
  t.ranks = ranks;
  t.files = files;
  t.rank = (int*)scr_malloc((size_t)ranks * sizeof *t.rank);
  t.below = (int*)scr_malloc((size_t)ranks * sizeof *t.below);
  tree_leaves(&t);
  while (!tree_level(&t)) continue;
  depth = t.level + 1;
  made = scr_wtime() - start;
  CHECK(t.most <= (uint64_t)limit + 200); /* what stands around the entries */
  CHECK_INT(t.below[0], ranks);
  if (tell)
    printf("rank2file   %d ranks: %d levels, %" PRIu64 " files of at most %" PRIu64 " bytes, %" PRIu64
           " in all; made in %.2f s with at most %zu bytes of memory for one",
           ranks, depth, t.nodes, t.most, t.total, made, t.memory);
  memset(&identity, 0, sizeof identity);
  identity.id = 5;
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  t.n = 0;
  start = scr_wtime();
  CHECK_INT(scr_rank2file_walk(records_prefix, &place, &identity, &read, tree_visit, &t), SCR_SUCCESS);
  CHECK(read == ranks && t.n == ranks);
  if (tell) printf(", read in %.2f s\n", scr_wtime() - start);
  scr_free(&t.rank);
  scr_free(&t.below);
  return depth;
}

static void a_map_grows_in_depth_and_no_file_of_it_in_size(void)
{
  CHECK_INT(tree_try(1, 1, 1 << 20, 0), 2);
  CHECK_INT(tree_try(1, 0, 4096, 0), 2);
  CHECK(tree_try(40, 2, 300, 0) >= 4);
  CHECK(tree_try(300, 1, 300, 0) >= 5);
  CHECK_INT(tree_try(1000, 1, 1024, 0), 3);
  CHECK(tree_try(check_pace(200000, 1000000) / CHECK_SLOWER, 1, 1 << 20, 1) >= 2);
}

/* Nodes that are not there, of another level, or above themselves. */
static void a_tree_that_is_damaged_is_refused(void)
{
  static const struct {
    const char *key, *value;
    int         code;
  } bad[] = {{NULL, NULL, SCR_ERR_MISSING},   {"LEVEL", "2", SCR_ERR_FORMAT},  {"LEVEL", "0", SCR_ERR_FORMAT},
             {"LEVEL", "33", SCR_ERR_FORMAT}, {"RANKS", "-1", SCR_ERR_FORMAT}, {"LEVEL", "1", SCR_SUCCESS}};
  scr_prefix_place place;
  scr_identity     identity;
  tree             t;
  size_t           i;
  int              read;

  memset(&identity, 0, sizeof identity);
  identity.id = 5;
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    scr_hash* h = scr_hash_new();
    CHECK(tree_try(20, 1, 250, 0) >= 3);
    CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
    if (bad[i].key == NULL) {
      CHECK_INT(unlink(records_at("run/5/.scr/rank2file.1.0.scr")), 0);
    } else {
      CHECK_INT(scr_hash_file_read(records_at("run/5/.scr/rank2file.1.0.scr"), h), SCR_SUCCESS);
      scr_hash_util_set_str(h, bad[i].key, bad[i].value);
      CHECK_INT(scr_hash_file_write(records_at("run/5/.scr/rank2file.1.0.scr"), h), SCR_SUCCESS);
    }
    memset(&t, 0, sizeof t);
    t.files = 1;
    CHECK_INT(scr_rank2file_walk(records_prefix, &place, &identity, &read, tree_visit, &t), bad[i].code);
    if (bad[i].code != SCR_SUCCESS) CHECK(strstr(scr_err_text, "rank2file.1.0.scr") != NULL);
    scr_hash_delete(&h);
  }
}

/* With a node on each of 32 levels that has the next one a hundred times, a walk would have no end. */
static void a_file_that_is_in_a_tree_twice_is_refused(void)
{
  scr_prefix_place place;
  scr_identity     identity;
  scr_hash*        h = scr_hash_new();
  tree             t;
  int              read;

  memset(&identity, 0, sizeof identity);
  memset(&t, 0, sizeof t);
  identity.id = 5;
  t.files = 1;
  CHECK(tree_try(20, 1, 250, 0) >= 3);
  CHECK_INT(scr_prefix_locate(records_prefix, 5, "run/5", &place), SCR_SUCCESS);
  CHECK_INT(scr_hash_file_read(records_at("run/5/.scr/rank2file.1.0.scr"), h), SCR_SUCCESS);
  scr_hash_util_set_str(scr_hash_setf(h, NULL, "%s %s", "RANK", "999"), "FILE", ".scr/./rank2file.0.0.scr");
  CHECK_INT(scr_hash_file_write(records_at("run/5/.scr/rank2file.1.0.scr"), h), SCR_SUCCESS);
  CHECK_INT(scr_rank2file_walk(records_prefix, &place, &identity, &read, tree_visit, &t), SCR_ERR_FORMAT);
  CHECK(strstr(scr_err_text, "run/5/.scr/rank2file.0.0.scr is in its rank2file map twice") != NULL);
  scr_hash_delete(&h);
}

/* ---- containers ------------------------------------------------------------------------------------------------ */

static int packed_is(const scr_object* o, int i, const char* path, uint64_t offset, uint64_t length)
{
  const scr_extent* x = &o->packed.extent[i];
  return i < o->packed.n && strcmp(x->path, path) == 0 && x->offset == offset && x->length == length;
}

/* The example of the guide: a file whose segments lie in three containers of 300000 bytes. */
static void the_file_of_the_guide_lies_in_three_containers(void)
{
  scr_objects l;
  scr_object* o;
  scr_hash*   h = scr_hash_new();
  const char* segments[] = {"0 FILE .scr/ctr.1.scr", "0 OFFSET 224295", "0 LENGTH 75705",
                            "1 FILE .scr/ctr.2.scr", "1 OFFSET 0",      "1 LENGTH 300000",
                            "2 FILE .scr/ctr.3.scr", "2 OFFSET 0",      "2 LENGTH 148591"};
  size_t      i;

  memset(&l, 0, sizeof l);
  scr_objects_add_owner(&l, 2);
  o = scr_objects_add(&l, 2, "ckpt.3/rank_2.ckpt");
  o->size = 524296;
  CHECK_INT(scr_object_pack(o, "ckpt.3", 524295, 300000), SCR_SUCCESS);
  CHECK(o->packed.n == 3 && packed_is(o, 0, "ckpt.3/.scr/ctr.1.scr", 224295, 75705));
  CHECK_INT(scr_objects_to_hash(&l, "/p", "ckpt.3", h), SCR_SUCCESS);
  for (i = 0; i < sizeof segments / sizeof *segments; i++) {
    char k[8], key[16], value[64];
    CHECK_INT(sscanf(segments[i], "%7s %15s %63s", k, key, value), 3);
    CHECK(scr_hash_getf(h, "RANK 2 FILE rank_2.ckpt SEG %s %s %s", k, key, value) != NULL);
  }
  scr_hash_delete(&h);
  scr_objects_free(&l);
}

/* Files of the sizes 0, 100, 0, 200, 50 in containers of 100: each container belongs to the file of its first byte. */
static void each_container_belongs_to_one_object(void)
{
  static const uint64_t sizes[] = {0, 100, 0, 200, 50};
  scr_objects           l, back;
  scr_objects_at        at;
  scr_hash*             h = scr_hash_new();
  uint64_t              position = 0;
  int                   i, n = 0;

  memset(&l, 0, sizeof l);
  memset(&back, 0, sizeof back);
  for (i = 0; i < 5; i++) {
    char        rel[16];
    scr_object* o;
    snprintf(rel, sizeof rel, "d/f%d", i);
    scr_objects_add_owner(&l, i);
    o = scr_objects_add(&l, i, rel);
    o->size = sizes[i];
    o->mode = 0640;
    o->mtime = 1000;
    CHECK_INT(scr_object_pack(o, "d", position, 100), SCR_SUCCESS);
    position += sizes[i];
  }
  CHECK(l.object[0].packed.n == 1 && packed_is(&l.object[0], 0, "d/.scr/ctr.0.scr", 0, 0));
  CHECK(l.object[3].packed.n == 2 && packed_is(&l.object[3], 1, "d/.scr/ctr.2.scr", 0, 100));
  CHECK_INT(scr_objects_to_hash(&l, "/p", "d", h), SCR_SUCCESS);
  CHECK_INT(scr_objects_from_hash(h, "/p", "d", &back), SCR_SUCCESS);
  CHECK(back.n == 5 && back.object[3].packed.n == 2 && packed_is(&back.object[3], 0, "d/.scr/ctr.1.scr", 0, 100));
  CHECK(back.object[4].mode == 0640 && back.object[4].mtime == 1000);
  memset(&at, 0, sizeof at);
  while (scr_objects_walk(&back, &at)) {
    char want[64], path[64];
    snprintf(want, sizeof want, "/p/d/.scr/ctr.%d.scr.scr9.tmp", n++);
    CHECK_INT(scr_objects_path(&at, "/p", 9, 1, path, sizeof path), SCR_SUCCESS);
    CHECK_STR(path, want);
  }
  CHECK_INT(n, 4);
  scr_hash_delete(&h);
  scr_objects_free(&l);
  scr_objects_free(&back);
}

static void segments_that_do_not_make_up_their_file_are_refused(void)
{
  static const struct {
    const char *k, *file, *offset, *length;
    int         code;
  } bad[] = {{"0", "ctr", "0", "10", SCR_SUCCESS},
             {"0", "ctr", "9223372036854775797", "10", SCR_SUCCESS},
             {"0", "ctr", "9223372036854775798", "10", SCR_ERR_FORMAT},
             {"0", "ctr", "18446744073709551615", "10", SCR_ERR_FORMAT},
             {"0", "ctr", "0", "11", SCR_ERR_FORMAT},
             {"0", "ctr", "0", "9", SCR_ERR_FORMAT},
             {"0", "ctr", "0", "18446744073709551615", SCR_ERR_FORMAT},
             {"0", "ctr", "-1", "10", SCR_ERR_FORMAT},
             {"0", "ctr", "", "10", SCR_ERR_FORMAT},
             {"0", "", "0", "10", SCR_ERR_FORMAT},
             {"0", "../../out", "0", "10", SCR_ERR_FORMAT},
             {"0", "/etc/passwd", "0", "10", SCR_ERR_FORMAT},
             {"1", "ctr", "0", "10", SCR_ERR_FORMAT},
             {"-1", "ctr", "0", "10", SCR_ERR_FORMAT},
             {"", "ctr", "0", "10", SCR_ERR_FORMAT}};
  size_t i;

  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    scr_objects l;
    scr_hash *  h = scr_hash_new(), *seg, *f;
    memset(&l, 0, sizeof l);
    f = scr_hash_setf(h, NULL, "RANK 0 FILE a");
    scr_hash_util_set_int(f, "SIZE", 10);
    seg = scr_hash_set_kv(f, "SEG", bad[i].k);
    scr_hash_util_set_str(seg, "FILE", bad[i].file);
    scr_hash_util_set_str(seg, "OFFSET", bad[i].offset);
    scr_hash_util_set_str(seg, "LENGTH", bad[i].length);
    CHECK_INT(scr_objects_from_hash(h, "/p", "d", &l), bad[i].code);
    scr_objects_free(&l);
    scr_hash_delete(&h);
  }
}

static void test_rank2file(void)
{
  a_map_grows_in_depth_and_no_file_of_it_in_size();
  a_tree_that_is_damaged_is_refused();
  a_file_that_is_in_a_tree_twice_is_refused();
  the_file_of_the_guide_lies_in_three_containers();
  each_container_belongs_to_one_object();
  segments_that_do_not_make_up_their_file_are_refused();
}
