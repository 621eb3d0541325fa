/*
** Scavenge: what the nodes of a job have in their caches becomes a dataset on the prefix, whatever fails.  The dataset
** is that of tests/data/sets/xor, of which one rank is lost.
*/

enum { SCAVENGE_RANKS = 4, SCAVENGE_LOST = 2 };

static const char* const scavenge_files[] = {"ck/rank_0/part_0.txt", "ck/rank_1/part_0.txt", "ck/rank_1/part_1.txt",
                                             "ck/rank_2/part_0.txt", "ck/rank_3/part_0.txt", "ck/rank_3/part_1.txt"};

static struct {
  char       base[256]; /* of the cache */
  scr_home   home;
  scr_entry* entry[SCAVENGE_RANKS];
  uint64_t   containers; /* their size; 0: the run used none */
} scavenged;

static void scavenge_say_nothing(const char* what)
{
  (void)what;
}

/* The entry of RANK, as its filemap had it: from its redundancy file, which is made a part of it. */
static scr_entry* scavenge_entry(int rank)
{
  char       path[512];
  scr_header h;
  scr_entry* e;
  scr_file   red;
  uint64_t   size = 0;

  snprintf(path, sizeof path, "tests/data/sets/xor/.scr/%d_of_4_in_0.xor", rank + 1);
  CHECK_INT(scr_header_read(path, &h), SCR_SUCCESS);
  CHECK_INT(scr_file_size(path, &size), SCR_SUCCESS);
  e = scr_entry_dup(h.entry[0]);
  e->desc = h.desc;
  snprintf(e->desc.dir, sizeof e->desc.dir, "ck");
  e->preserve = e->listed = 1;
  e->container = scavenged.containers > 0;
  e->red.store = scr_strdup(scavenged.base);
  e->red.can_mkdir = 1;
  e->red.scheme = SCR_SCHEME_XOR;
  e->red.set_size = SCAVENGE_RANKS;
  e->red.set_rank = rank;
  e->red.failures = 1;
  memset(&red, 0, sizeof red);
  snprintf(path, sizeof path, ".scr/%d_of_4_in_0.xor", rank + 1);
  red.rel = path;
  red.kind = SCR_SCHEME_XOR;
  red.complete = 1;
  red.size = size;
  CHECK(scr_entry_add(e, &red) != NULL);
  scr_header_free(&h);
  return e;
}

/* Make the cache of a job that has ended, and an empty prefix. */
static void scavenge_begin(uint64_t containers)
{
  char from[512], to[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  int  rank, i;

  records_begin();
  snprintf(scavenged.base, sizeof scavenged.base, "%.110s/cache", check_dir);
  snprintf(scavenged.home.user, sizeof scavenged.home.user, "me");
  snprintf(scavenged.home.job, sizeof scavenged.home.job, "7");
  snprintf(scavenged.home.host, sizeof scavenged.home.host, "node");
  scavenged.containers = containers;
  for (rank = 0; rank < SCAVENGE_RANKS; rank++) {
    scr_entry* e = scavenged.entry[rank] = scavenge_entry(rank);
    for (i = 0; i < e->files; i++) {
      snprintf(from, sizeof from, "tests/data/sets/xor/%s", e->file[i].rel);
      CHECK_INT(scr_entry_path(&scavenged.home, e, e->file[i].rel, to, sizeof to), SCR_SUCCESS);
      CHECK_INT(scr_path_dir_of(to, dir, sizeof dir), SCR_SUCCESS);
      CHECK_INT(scr_mkdirs(dir, 0700), SCR_SUCCESS);
      records_copy(from, to);
    }
  }
}

static void scavenge_end(void)
{
  int rank;
  for (rank = 0; rank < SCAVENGE_RANKS; rank++) scr_entry_free(&scavenged.entry[rank]);
}

/* All nodes but one copy what they have, and the stage becomes a dataset. */
static int scavenge_story(const char* prefix)
{
  scr_scavenge s;
  int          rank, lost = 0, rc = SCR_SUCCESS;

  for (rank = 0; rank < SCAVENGE_RANKS && rc == SCR_SUCCESS; rank++)
    if (rank != SCAVENGE_LOST && scavenged.entry[rank]->listed)
      rc = scr_stage_collect(&scavenged.home, scavenged.entry[rank], prefix, ~0, NULL, scavenge_say_nothing, &lost);
  if (rc != SCR_SUCCESS) return rc;
  memset(&s, 0, sizeof s);
  s.prefix = prefix;
  s.identity = scavenged.entry[0]->desc.identity;
  s.container_size = scavenged.containers;
  s.map_size = 1;
  s.say = scavenge_say_nothing;
  rc = scr_scavenge_finish(&s);
  scr_scavenge_free(&s);
  return rc;
}

/* 1 if the index has the dataset, with all renames done, in whatever directory its metadata are. */
static int scavenge_is_indexed(void)
{
  scr_index      index;
  scr_index_item it;
  int            is = scr_index_read(&index, records_prefix) == SCR_SUCCESS &&
           scr_index_same(&index, &scavenged.entry[0]->desc.identity, &it) && scr_index_is_good(&it);

  scr_index_close(&index, SCR_SUCCESS, 0);
  return is;
}

/* 1 if all files of the dataset are on the prefix, byte for byte. */
static int scavenge_is_whole(void)
{
  static char    was[65536], is[65536];
  char           from[512], at[SCR_MAX_FILENAME];
  size_t         i, n;
  scr_extraction x;
  scr_index      index;
  scr_index_item it;
  const char*    below = records_prefix;
  int            whole = 1;

  if (scavenged.containers > 0) { /* take them out */
    snprintf(at, sizeof at, "%.110s/extracted", check_dir);
    nftw(at, check_remove, 16, FTW_DEPTH | FTW_PHYS);
    memset(&x, 0, sizeof x);
    x.prefix = records_prefix;
    x.into = below = at;
    x.say = scavenge_say_nothing;
    whole = scr_index_read(&index, records_prefix) == SCR_SUCCESS &&
            scr_index_named(&index, "ck", &it) == SCR_SUCCESS && scr_scan_extract(&x, &it) == SCR_SUCCESS;
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  for (i = 0; i < sizeof scavenge_files / sizeof *scavenge_files && whole; i++) {
    char path[2 * SCR_MAX_FILENAME];
    snprintf(from, sizeof from, "tests/data/sets/xor/%s", scavenge_files[i]);
    snprintf(path, sizeof path, "%s/%s", below, scavenge_files[i]);
    n = check_get(from, was, sizeof was);
    whole = access(path, R_OK) == 0 && check_get(path, is, sizeof is) == n && memcmp(was, is, n) == 0;
  }
  return whole;
}

/* Count what a scavenge should not leave: temporary files, and stages. */
static int scavenge_leftovers;

static int scavenge_see(const char* path, const struct stat* st, int type, struct FTW* at)
{
  size_t n = strlen(path);

  (void)st;
  (void)type;
  (void)at;
  scavenge_leftovers += (n > 4 && strcmp(path + n - 4, ".tmp") == 0) || strstr(path, "/scavenge.") != NULL;
  return 0;
}

/* After any failure the dataset is whole where the index has it, and another scavenge finishes. */
static void scavenge_judge(int rc)
{
  if (scavenge_is_indexed()) CHECK(scavenge_is_whole());
  else CHECK(rc != SCR_SUCCESS);
  CHECK_INT(scavenge_story(records_prefix), SCR_SUCCESS);
  CHECK(scavenge_is_indexed() && scavenge_is_whole() && records_unlocked("index.scr"));
  scr_record_sweep(records_prefix); /* as each command does that holds the lock of the prefix */
  scavenge_leftovers = 0;
  nftw(records_prefix, scavenge_see, 16, FTW_PHYS);
  CHECK_INT(scavenge_leftovers, 0);
  records_begin();
}

static void a_node_that_finds_no_space_for_all_its_files_leaves_none(void)
{
  int before, err, i, lost = 0;

  scavenge_begin(0);
  err = records_quiet(-1);
  for (before = 0; before < 2; before++) { /* the second time they have been there before */
    const scr_entry* e = scavenged.entry[0];
    char             stage[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME];
    CHECK_INT(scr_stage_path(records_prefix, &e->desc.identity, stage, sizeof stage), SCR_SUCCESS);
    if (before)
      CHECK_INT(scr_stage_collect(&scavenged.home, e, records_prefix, ~0, NULL, scavenge_say_nothing, &lost),
                SCR_SUCCESS);
    fault_on(FAULT_WRITE, records_prefix, "/0.scrfilemap.", 1);
    CHECK_INT(scr_stage_collect(&scavenged.home, e, records_prefix, ~0, NULL, scavenge_say_nothing, &lost),
              SCR_ERR_SPACE);
    CHECK_INT(fault_end(), 1);
    CHECK(e->files > 1);
    for (i = 0; i < e->files; i++) {
      snprintf(path, sizeof path, "%s/%s", stage, e->file[i].rel);
      CHECK_INT(access(path, F_OK) == 0, before);
    }
  }
  CHECK_INT(lost, 0);
  records_quiet(err);
  scavenge_end();
}

/* Another directory has got the name of the stage, after that was looked at: nothing of it is published. */
static void what_gets_the_name_of_a_stage_in_use_is_not_touched(void)
{
  char         aside[SCR_MAX_FILENAME + 8], command[5 * SCR_MAX_FILENAME];
  scr_scavenge s;
  int          rank, rc, lost = 0, err;

  scavenge_begin(0);
  for (rank = 0; rank < SCAVENGE_RANKS; rank++)
    if (rank != SCAVENGE_LOST)
      CHECK_INT(scr_stage_collect(&scavenged.home, scavenged.entry[rank], records_prefix, ~0, NULL,
                                  scavenge_say_nothing, &lost),
                SCR_SUCCESS);
  memset(&s, 0, sizeof s);
  s.prefix = records_prefix;
  s.identity = scavenged.entry[0]->desc.identity;
  s.say = scavenge_say_nothing;
  CHECK_INT(scr_scavenge_begin(&s), SCR_SUCCESS);
  snprintf(aside, sizeof aside, "%s.aside", s.stage);
  snprintf(command, sizeof command, "mv %s %s && cp -a %s %s", s.stage, aside, aside, s.stage);
  CHECK_INT(system(command), 0);
  err = records_quiet(-1);
  rc = scr_scavenge_rebuild(&s);
  if (rc == SCR_SUCCESS) rc = scr_scavenge_commit(&s);
  CHECK(rc != SCR_SUCCESS && !scavenge_is_indexed());
  scr_scavenge_free(&s);
  records_quiet(err);
  scr_tree_remove(s.stage);
  CHECK(rename(aside, s.stage) == 0);
  CHECK_INT(scavenge_story(records_prefix), SCR_SUCCESS); /* and when it has its name again, it is as it was */
  CHECK(scavenge_is_indexed());
  scavenge_end();
}

static void scavenge_spoil(const char* path)
{
  int fd = open(path, O_WRONLY);

  CHECK(fd >= 0 && pwrite(fd, "another", 7, 1) == 7);
  close(fd);
}

/* A file of a stage that an earlier scavenge has left has other bytes since: it is copied again, or else rebuilt. */
static void what_was_damaged_in_a_stage_is_made_again(void)
{
  enum { LOST, CACHED, DAMAGED_TOO, WAYS };
  char         stage[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME];
  scr_scavenge s;
  int          way, rank, lost = 0, err = records_quiet(-1);

  for (way = 0; way < WAYS; way++) {
    scavenge_begin(0);
    for (rank = 0; rank < SCAVENGE_RANKS; rank++)
      CHECK_INT(scr_stage_collect(&scavenged.home, scavenged.entry[rank], records_prefix, ~0, NULL,
                                  scavenge_say_nothing, &lost),
                SCR_SUCCESS);
    CHECK_INT(scr_stage_path(records_prefix, &scavenged.entry[0]->desc.identity, stage, sizeof stage), SCR_SUCCESS);
    snprintf(path, sizeof path, "%s/%s", stage, scavenged.entry[0]->file[0].rel);
    scavenge_spoil(path);
    CHECK_INT(scr_entry_path(&scavenged.home, scavenged.entry[0], scavenged.entry[0]->file[0].rel, path, sizeof path),
              SCR_SUCCESS);
    if (way == DAMAGED_TOO) scavenge_spoil(path);
    if (way != LOST)
      CHECK_INT(
          scr_stage_collect(&scavenged.home, scavenged.entry[0], records_prefix, ~0, NULL, scavenge_say_nothing, &lost),
          SCR_SUCCESS);
    memset(&s, 0, sizeof s);
    s.prefix = records_prefix;
    s.identity = scavenged.entry[0]->desc.identity;
    s.map_size = 1;
    s.since = way == LOST ? INT64_MAX : 0;
    s.say = scavenge_say_nothing;
    CHECK_INT(scr_scavenge_finish(&s), SCR_SUCCESS);
    scr_scavenge_free(&s);
    CHECK(scavenge_is_indexed() && scavenge_is_whole());
    scavenge_end();
  }
  CHECK_INT(lost, 1); /* the one of which the cache is damaged, too */
  records_quiet(err);
}

/* ---- a second copy, of another form, of a dataset that the index has ---- */

static void second_begin(void)
{
  int rank;

  scavenge_begin(0);
  CHECK_INT(scavenge_story(records_prefix), SCR_SUCCESS);
  scavenged.containers = 1000;
  for (rank = 0; rank < SCAVENGE_RANKS; rank++) scavenged.entry[rank]->container = 1;
}

/* As if files of the first were missing: it is not asked whether the prefix has it. */
static int second_story(const char* prefix)
{
  scr_scavenge s;
  int          rank, lost = 0, rc = SCR_SUCCESS;

  for (rank = 0; rank < SCAVENGE_RANKS && rc == SCR_SUCCESS; rank++)
    if (rank != SCAVENGE_LOST)
      rc = scr_stage_collect(&scavenged.home, scavenged.entry[rank], prefix, ~0, NULL, scavenge_say_nothing, &lost);
  if (rc != SCR_SUCCESS) return rc;
  memset(&s, 0, sizeof s);
  s.prefix = prefix;
  s.identity = scavenged.entry[0]->desc.identity;
  s.container_size = 1000;
  s.map_size = 1;
  s.say = scavenge_say_nothing;
  rc = scr_scavenge_begin(&s);
  if (rc == SCR_SUCCESS) rc = scr_scavenge_rebuild(&s);
  if (rc == SCR_SUCCESS) rc = scr_scavenge_commit(&s);
  scr_scavenge_free(&s);
  return rc;
}

/* Whatever fails, the map that counts is that of a whole copy: of the first, or, once the index says so, the second. */
static void second_judge(int rc)
{
  scr_index      index;
  scr_index_item it;

  (void)rc;
  CHECK_INT(scr_prefix_finish_all(records_prefix), SCR_SUCCESS);
  CHECK(scr_index_read(&index, records_prefix) == SCR_SUCCESS &&
        scr_index_same(&index, &scavenged.entry[0]->desc.identity, &it) && scr_prefix_has(records_prefix, &it));
  scr_index_close(&index, SCR_SUCCESS, 0);
  CHECK(scavenge_is_indexed() && scavenge_is_whole());
  scavenge_end();
  second_begin();
}

static void a_second_copy_that_fails_leaves_the_first_one_whole(void)
{
  int n, err = records_quiet(-1);

  second_begin();
  CHECK_INT(second_story(records_prefix), SCR_SUCCESS);
  CHECK(access(records_at("ck/.scr/ctr.0.scr"), F_OK) == 0 &&
        access(records_at("ck/.scr/rank2file.0.0.a.scr"), F_OK) == 0);
  second_judge(SCR_SUCCESS);
  records_step = check_pace(13, 1);
  CHECK(records_fault_sweep(FAULT_FAIL, EIO, second_story, records_prefix, second_judge) > 150);
  records_fault_sweep(FAULT_FAIL, ENOSPC, second_story, records_prefix, second_judge);
  for (n = 1; check_fault_kill(n, second_story, records_prefix); n += records_step) second_judge(SCR_ERR_IO);
  CHECK(n > 150);
  records_step = 1;
  records_quiet(err);
  scavenge_end();
}

/* A dataset whose renames fail has the place of a file, too, though nothing lies there yet. */
static void a_place_that_a_rename_is_due_to_is_taken(void)
{
  int err = records_quiet(-1);

  scavenge_begin(0);
  prefix_killed_with(5, "other", "other/a", scavenge_files[0]);
  CHECK_INT(unlink(records_at("ck/rank_0/part_0.txt.scr5.tmp")), 0);
  CHECK_INT(scavenge_story(records_prefix), SCR_ERR_STATE);
  CHECK(strstr(scr_err_text, "the newer dataset 5") != NULL && !scavenge_is_indexed());
  scavenge_end();
  records_quiet(err);
}

static void scavenge_whatever_fails(uint64_t containers)
{
  int n, err;

  scavenge_begin(containers);
  CHECK_INT(scavenge_story(records_prefix), SCR_SUCCESS);
  scavenge_judge(SCR_SUCCESS);
  err = records_quiet(-1);
  records_step = check_pace(11, 1);
  CHECK(records_fault_sweep(FAULT_FAIL, EIO, scavenge_story, records_prefix, scavenge_judge) > 200);
  if (containers == 0) records_fault_sweep(FAULT_TORN, ENOSPC, scavenge_story, records_prefix, scavenge_judge);
  if (containers == 0) records_fault_sweep(FAULT_DEAD, EIO, scavenge_story, records_prefix, scavenge_judge);
  for (n = 1; check_fault_kill(n, scavenge_story, records_prefix); n += records_step) scavenge_judge(SCR_ERR_IO);
  CHECK(n > 200);
  records_step = 1;
  records_quiet(err);
  scavenge_end();
}

static void a_scavenge_that_fails_or_is_killed_at_any_call_is_finished_by_another(void)
{
  scavenge_whatever_fails(0);
}

static void so_is_one_into_containers(void)
{
  scavenge_whatever_fails(1000);
}

/* Files systems without hard links get copies. */
static void without_hard_links_files_are_copied(void)
{
  scavenge_begin(0);
  fault_at(FAULT_DEAD, FAULT_LINK, EPERM, 1);
  CHECK_INT(scavenge_story(records_prefix), SCR_SUCCESS);
  CHECK_INT(check_fault_end(), 1);
  CHECK(scavenge_is_indexed() && scavenge_is_whole());
  scavenge_end();
}

static void two_lost_members_are_too_many_until_one_is_back(void)
{
  scr_entry* away;

  scavenge_begin(0);
  away = scavenged.entry[0];
  away->listed = 0; /* its filemap says that it is not known to have all files */
  away->desc.complete = 0;
  CHECK_INT(scavenge_story(records_prefix), SCR_ERR_LOST);
  CHECK(strstr(scr_err_text, "files of 2 of its 4 ranks are missing") != NULL);
  CHECK(!scavenge_is_indexed() && access(records_at("ck"), F_OK) != 0);
  away->listed = away->desc.complete = 1;
  scavenge_judge(SCR_ERR_LOST);
  scavenge_end();
}

static void test_scavenge(void)
{
  without_hard_links_files_are_copied();
  two_lost_members_are_too_many_until_one_is_back();
  a_scavenge_that_fails_or_is_killed_at_any_call_is_finished_by_another();
  a_node_that_finds_no_space_for_all_its_files_leaves_none();
  what_gets_the_name_of_a_stage_in_use_is_not_touched();
  what_was_damaged_in_a_stage_is_made_again();
  a_place_that_a_rename_is_due_to_is_taken();
  a_second_copy_that_fails_leaves_the_first_one_whole();
  so_is_one_into_containers();
}
