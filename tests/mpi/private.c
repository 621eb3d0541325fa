/*
** private.c - the helpers between ranks that no call of the library shows alone: hashes that are sent, agreement, the
** grouping of ranks by strings, sums over ranks.  Included at the end of library.c.
*/
#include "mpi_test.h"

static int rounds(int check)
{
  return pace(check, check, check * 8);
}

/* ---- hashes between ranks -------------------------------------------------------------------------------------- */

/* What FROM sends to TO in round N: a few keys, or BYTES of text. */
static scr_hash* letter(int from, int to, int n, size_t bytes)
{
  scr_hash* h = scr_hash_new();

  scr_hash_setf(h, NULL, "%s %d", "FROM", from);
  scr_hash_setf(h, NULL, "%s %d", "TO", to);
  scr_hash_setf(h, NULL, "%s %d %s", "ROUND", n, "deeper");
  if (bytes > 0) {
    char* text = (char*)scr_malloc(bytes + 1);
    memset(text, 'a' + (from * 5 + to) % 26, bytes);
    scr_hash_set_kv(h, "TEXT", text);
    scr_free(&text);
  }
  return h;
}

/* 1 when A and B are packed alike. */
static int same_hash(const scr_hash* a, const scr_hash* b)
{
  size_t n = scr_hash_pack_size(a);
  int    same = n == scr_hash_pack_size(b);
  char * p, *q;

  if (!same) return 0;
  p = (char*)scr_malloc(n);
  q = (char*)scr_malloc(n);
  scr_hash_pack(p, a);
  scr_hash_pack(q, b);
  same = memcmp(p, q, n) == 0;
  scr_free(&p);
  scr_free(&q);
  return same;
}

/* Exchange by TABLE[from * ranks + to], which says who sends to whom, and check every letter. */
static void exchange(const char* table, int n, size_t bytes)
{
  scr_hash *     send = scr_hash_new(), *recv = scr_hash_new(), *want;
  scr_hash_elem* e;
  int            i, last = -1, expect = 0, rc;

  for (i = ranks - 1; i >= 0; i--) {
    if (table[rank * ranks + i]) scr_hash_setf(send, letter(rank, i, n, bytes), "%d", i);
    expect += table[i * ranks + rank] != 0;
  }
  rc = scr_hash_exchange(send, recv, MPI_COMM_WORLD);
  CHECK(rc == SCR_SUCCESS, "%d %s", rc, scr_err_text);
  CHECK(scr_hash_size(recv) == expect, "%d letters of %d", scr_hash_size(recv), expect);
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e)) {
    i = atoi(scr_hash_elem_key(e));
    CHECK(i > last && i < ranks && table[i * ranks + rank], "a letter from %d, after %d", i, last);
    last = i;
    want = letter(i, rank, n, bytes);
    CHECK(same_hash(want, scr_hash_elem_hash(e)), "the letter from %d is wrong", i);
    scr_hash_delete(&want);
  }
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
}

/* Every pattern is a table that all ranks fill alike. */
static void an_exchange_delivers_each_letter_in_every_pattern(void)
{
  char* t = (char*)malloc((size_t)ranks * (size_t)ranks);
  int   i, k, n, pattern;

  begin();
  OK(SCR_Init());
  for (n = 0; n < rounds(3); n++)
    for (pattern = 0; pattern < 8; pattern++) {
      for (i = 0; i < ranks; i++)
        for (k = 0; k < ranks; k++) {
          int on = 0;
          switch (pattern) {
          case 0:
            break;
          case 1:
            on = i == k;
            break;
          case 2:
            on = k == (i + 1) % ranks;
            break;
          case 3:
            on = 1;
            break;
          case 4:
            on = k == 0;
            break;
          case 5:
            on = i == ranks - 1;
            break;
          case 6:
            on = k == ranks - 1 - i;
            break;
          default:
            on = (i + k) % 2;
            break;
          }
          t[i * ranks + k] = (char)on;
        }
      exchange(t, n * 8 + pattern, 0);
    }
  free(t);
  OK(SCR_Finalize());
}

/* Random sparse exchanges, one right after the other and without a barrier: none may take a letter of the next. */
static void exchanges_in_a_row_take_no_letter_of_the_next(void)
{
  char* t = (char*)malloc((size_t)ranks * (size_t)ranks);
  int   i, n;

  begin();
  OK(SCR_Init());
  roll_from((unsigned long long)ranks);
  for (n = 0; n < rounds(100); n++) {
    for (i = 0; i < ranks * ranks; i++) t[i] = roll(4) == 0;
    if (roll((unsigned)ranks) == (unsigned)rank) usleep(300); /* some rank is late */
    exchange(t, n, roll(10) == 0 ? 40000 : 0);
  }
  free(t);
  OK(SCR_Finalize());
}

static void an_exchange_delivers_large_letters(void)
{
  char* t = (char*)malloc((size_t)ranks * (size_t)ranks);
  int   i;

  begin();
  OK(SCR_Init());
  for (i = 0; i < ranks * ranks; i++) t[i] = i / ranks == (i % ranks + 1) % ranks || i % ranks == 0;
  exchange(t, 0, 5u << 20);
  free(t);
  OK(SCR_Finalize());
}

/* Empty hashes are letters too, and NULL is an empty hash. */
static void an_empty_hash_is_a_letter_too(void)
{
  scr_hash *send = scr_hash_new(), *recv = scr_hash_new();
  int       i;

  begin();
  OK(SCR_Init());
  for (i = 0; i < ranks; i++) scr_hash_setf(send, NULL, "%d", i);
  CHECK(scr_hash_exchange(send, recv, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
  CHECK(scr_hash_size(recv) == ranks, "%d letters", scr_hash_size(recv));
  for (i = 0; i < ranks; i++) CHECK(scr_hash_size(scr_hash_getf(recv, "%d", i)) == 0, "from %d", i);
  scr_hash_unset_all(recv);
  CHECK(scr_hash_exchange(NULL, recv, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
  CHECK(scr_hash_size(recv) == 0, "%d letters", scr_hash_size(recv));
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  OK(SCR_Finalize());
}

/* send, recv, sendrecv with and without partners, bcast from each root. */
static void send_recv_sendrecv_and_bcast_deliver_what_is_sent(void)
{
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, n;

  begin();
  OK(SCR_Init());
  for (n = 0; n < 4; n++) {
    size_t    bytes = n < 2 ? 0 : n == 2 ? 70000 : 5u << 20;
    scr_hash *out = letter(rank, right, n, bytes), *in = scr_hash_new(), *want = letter(left, rank, n, bytes);
    int to = n == 1 && rank == ranks - 1 ? MPI_PROC_NULL : right, from = n == 1 && rank == 0 ? MPI_PROC_NULL : left;

    CHECK(scr_hash_sendrecv(out, to, in, from, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
    if (from == MPI_PROC_NULL) CHECK(scr_hash_size(in) == 0, "something from nobody");
    else CHECK(same_hash(in, want), "from %d", left);
    scr_hash_unset_all(in);
    if (rank % 2 == 0 && rank + 1 < ranks)
      CHECK(scr_hash_send(out, rank + 1, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
    if (rank % 2 == 1) {
      CHECK(scr_hash_recv(in, rank - 1, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
      CHECK(same_hash(in, want), "from %d", rank - 1);
    }
    scr_hash_delete(&out);
    scr_hash_delete(&in);
    scr_hash_delete(&want);
  }
  for (n = 0; n < ranks; n++) {
    scr_hash *h = rank == n ? letter(n, n, n, (size_t)n * 30000) : scr_hash_new(),
             *want = letter(n, n, n, (size_t)n * 30000);
    CHECK(scr_hash_bcast(h, n, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
    CHECK(same_hash(h, want), "from root %d", n);
    scr_hash_delete(&h);
    scr_hash_delete(&want);
  }
  OK(SCR_Finalize());
}

/* ---- agreement ------------------------------------------------------------------------------------------------- */

/* The lowest rank with an error gives code and message to all. */
static void the_lowest_rank_with_an_error_speaks_for_all(void)
{
  int a, b, rc;

  begin();
  OK(SCR_Init());
  CHECK(scr_agree(SCR_SUCCESS, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
  for (a = 0; a < ranks; a++)
    for (b = a; b < ranks; b++) {
      char word[40], head[20];
      scr_err_text[0] = '\0';
      rc = SCR_SUCCESS;
      if (rank == b) rc = SCR_ERR(SCR_ERR_IO, "the fault of %d", b);
      if (rank == a) rc = SCR_ERR(SCR_ERR_CRC, "the fault of %d", a);
      rc = scr_agree(rc, MPI_COMM_WORLD);
      CHECK(rc == SCR_ERR_CRC, "%d", rc);
      snprintf(word, sizeof word, "the fault of %d", a);
      snprintf(head, sizeof head, "rank %d", a);
      CHECK(strstr(scr_err_text, word) != NULL, "%s", scr_err_text);
      if (rank != a) CHECK(strncmp(scr_err_text, head, strlen(head)) == 0, "%s", scr_err_text);
    }
  OK(SCR_Finalize());
}

/* ---- strings over ranks ---------------------------------------------------------------------------------------- */

#define LONGEST 3000

/* scr_rank_str over COMM against the same found from all strings. */
static void rank_str_of(const char* mine, MPI_Comm comm)
{
  int   me, n, i, k, groups = 0, group = -1, place = 0, size = 0, leader = -1, got[5] = {-1, -1, -1, -1, -1}, rc;
  char* all;

  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  all = (char*)calloc((size_t)n, LONGEST);
  memcpy(all + (size_t)me * LONGEST, mine, strlen(mine));
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, LONGEST, MPI_CHAR, comm);
  for (i = 0; i < n; i++) {
    int first = 1, equal = strcmp(all + (size_t)i * LONGEST, mine) == 0;
    for (k = 0; k < i; k++)
      if (strcmp(all + (size_t)i * LONGEST, all + (size_t)k * LONGEST) == 0) first = 0;
    groups += first;
    if (equal && leader < 0) leader = i;
    if (equal && i < me) place++;
    size += equal;
  }
  rc = scr_rank_str(comm, mine, &got[0], &got[1], &got[2], &got[3], &got[4]);
  CHECK(rc == SCR_SUCCESS, "%d %s", rc, scr_err_text);
  CHECK(got[0] == groups && got[2] == place && got[3] == size && got[4] == leader,
        "%d groups, place %d of %d, leader %d; not %d, %d of %d, %d", got[0], got[2], got[3], got[4], groups, place,
        size, leader);
  CHECK(got[1] >= 0 && got[1] < groups, "group %d of %d", got[1], groups);
  for (i = 0; i < n; i++) { /* equal ids exactly for equal strings */
    group = got[1];
    MPI_Bcast(&group, 1, MPI_INT, i, comm);
    CHECK((group == got[1]) == (strcmp(all + (size_t)i * LONGEST, mine) == 0), "rank %d has the id %d", i, group);
  }
  free(all);
}

/* Over the first N ranks, in this order and backwards, for each N up to all. */
static void ranks_are_grouped_by_equal_strings(void)
{
  int n, i, round, kind;

  begin();
  OK(SCR_Init());
  for (n = 1; n <= ranks; n++)
    for (i = 0; i < 2; i++) {
      MPI_Comm comm;
      MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, i ? -rank : rank, &comm);
      if (comm == MPI_COMM_NULL) continue;
      roll_from((unsigned long long)(n * 2 + i));
      for (round = 0; round < rounds(2); round++)
        for (kind = 0; kind < 7; kind++) {
          char text[LONGEST], *p = text;
          int  k, word = 0, length = 0;
          for (k = 0; k < ranks; k++) { /* all ranks roll for all */
            int w = (int)roll(kind == 5 ? 1000 : 3), l = (int)roll(LONGEST - 20);
            if (k == rank) word = w, length = l;
          }
          memset(text, 0, sizeof text);
          switch (kind) {
          case 0:
            snprintf(text, sizeof text, "same");
            break;
          case 1:
            snprintf(text, sizeof text, "%d", rank);
            break;
          case 2:
            snprintf(text, sizeof text, "%d", -rank + 100);
            break;
          case 3:
            break; /* empty */
          case 4:
            snprintf(text, sizeof text, "%s", word == 0 ? "" : word == 1 ? "a" : "ab");
            break;
          case 5:
            snprintf(text, sizeof text, "node%d", word);
            break;
          default:
            for (k = 0; k < (word == 0 ? length : 2000); k++) *p++ = 'x'; /* long, and different at the end */
            snprintf(p, 10, "%d", word);
            break;
          }
          rank_str_of(text, comm);
        }
      MPI_Comm_free(&comm);
    }
  OK(SCR_Finalize());
}

/* ---- prefix operations ----------------------------------------------------------------------------------------- */

static void a_scan_sums_in_both_directions_and_finds_the_next_flag(void)
{
  int round, i, next, want, flags[64], up, down;

  begin();
  OK(SCR_Init());
  for (round = 0; round < rounds(10); round++) {
    scr_scanned v;
    for (i = 0; i < ranks && i < 64; i++) flags[i] = (int)roll(3) == 0;
    CHECK(scr_scan_next(flags[rank], &next, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
    for (want = rank + 1; want < ranks && !flags[want]; want++) continue;
    CHECK(next == want, "%d, not %d", next, want);
    memset(&v, 0, sizeof v);
    v.sum = flags[rank];
    CHECK(scr_scan(&v, SCR_SCAN_UP, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
    for (i = 0, up = 0; i <= rank; i++) up += flags[i];
    CHECK(v.sum == up, "%d, not %d", (int)v.sum, up);
    memset(&v, 0, sizeof v);
    v.sum = flags[rank];
    CHECK(scr_scan(&v, SCR_SCAN_DOWN, MPI_COMM_WORLD) == SCR_SUCCESS, "%s", scr_err_text);
    for (i = rank, down = 0; i < ranks; i++) down += flags[i];
    CHECK(v.sum == down, "%d, not %d", (int)v.sum, down);
  }
  OK(SCR_Finalize());
}

#define MANY "1 5 | 2 3 9", "16"

static int runs_out_of_memory(void* arg)
{
  (void)arg;
  scr_oom = 1;
  return SCR_ERR_OOM();
}

static int looks_at_memory(void* arg)
{
  (void)arg;
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* The helper is short of memory once, not from then on. */
static void a_job_without_memory_does_not_spoil_the_next(void)
{
  scr_job one, two;

  memset(&one, 0, sizeof one);
  memset(&two, 0, sizeof two);
  one.work = runs_out_of_memory;
  two.work = looks_at_memory;
  scr_job_start(&one);
  scr_job_start(&two);
  scr_job_wait(&two);
  scr_helper_end();
  CHECK(one.rc == SCR_ERR_MEM && two.rc == SCR_SUCCESS, "%d, then %d", one.rc, two.rc);
}

/* ---- turns ------------------------------------------------------------------------------------------------------ */

#define TURNS_SECONDS 30 /* for another rank to begin; a case has 40 */

static struct {
  MPI_Win window;  /* of rank 0: how many work now, and how many have at the same time, at most */
  int     fails;   /* the rank that fails, or -1 */
  int     overlap; /* 1: two ranks have to work at the same time */
  int     calls;
} turns;

/* Count who works; with overlap, until two ranks have worked at the same time. */
static int takes_a_turn(void* arg)
{
  const int one = 1, less = -1;
  double    end = MPI_Wtime() + TURNS_SECONDS;
  int       now, most;

  (void)arg;
  turns.calls++;
  MPI_Fetch_and_op(&one, &now, MPI_INT, 0, 0, MPI_SUM, turns.window);
  MPI_Win_flush(0, turns.window);
  now++;
  MPI_Accumulate(&now, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_MAX, turns.window);
  MPI_Win_flush(0, turns.window);
  do {
    usleep(20000);
    MPI_Fetch_and_op(&one, &most, MPI_INT, 0, 1, MPI_NO_OP, turns.window);
    MPI_Win_flush(0, turns.window);
  } while (turns.overlap && most < 2 && MPI_Wtime() < end);
  MPI_Accumulate(&less, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, turns.window);
  MPI_Win_flush(0, turns.window);
  return rank == turns.fails ? SCR_ERR(SCR_ERR_SPACE, "rank %d has failed", rank) : SCR_SUCCESS;
}

/* WIDTH ranks at a time work; if one fails, those behind it in its row do not, and its error is that of all. */
static void turns_of(int width, int fails)
{
  int *most, rc, row = (ranks - 1) / width + 1;

  during("width %d, rank %d fails", width, fails);
  turns.fails = fails;
  turns.overlap = fails < 0 && row < ranks; /* the first ranks of two rows wait for nobody */
  turns.calls = 0;
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &most, &turns.window);
  most[0] = most[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, turns.window);
  rc = scr_flow(width, takes_a_turn, NULL, MPI_COMM_WORLD);
  if (fails >= 0 && rank / row == fails / row && rank > fails)
    CHECK(turns.calls == 0 && rc == SCR_ERR_IO, "behind it: %d calls, %d", turns.calls, rc);
  else CHECK(turns.calls == 1 && (rc == SCR_SUCCESS) == (rank != fails), "%d calls, %d", turns.calls, rc);
  rc = scr_agree(rc, MPI_COMM_WORLD);
  CHECK(rc == (fails < 0 ? SCR_SUCCESS : SCR_ERR_SPACE), "agreed on %d: %s", rc, scr_err_text);
  MPI_Win_unlock_all(turns.window);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(rank != 0 || (most[0] == 0 && most[1] >= 1 && most[1] <= width), "%d work at a time", most[1]);
  CHECK(rank != 0 || !turns.overlap || most[1] > 1, "they work one after the other");
  MPI_Win_free(&turns.window);
}

static void ranks_take_turns_and_stop_behind_one_that_fails(void)
{
  static const int widths[] = {1, 2, 3, INT_MAX};
  int              i;

  begin();
  OK(SCR_Init());
  for (i = 0; i < 4; i++) {
    turns_of(widths[i], -1);
    turns_of(widths[i], 0);
    turns_of(widths[i], ranks / 2);
    turns_of(widths[i], ranks - 1);
  }
  turns_of(ranks, -1);
  OK(SCR_Finalize());
}

/* What the records could not count or hold fails its checkpoint before an older one leaves; limits are lower here. */
static void more_files_than_records_can_hold_fail_their_checkpoint(void)
{
  uint64_t bytes = scr_image_bytes_max;
  int      i;

  begin();
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 2, 100));
  scr_complete_files_max = 2 * ranks;
  ALIKE(put("ck2", 3, 100), SCR_ERR_ARG, "write fewer");
  OK(put("ck1", 2, 100));
  scr_complete_files_max = INT_MAX;
  scr_image_bytes_max = 10000;
  ALIKE(put("ck3", 100, 100), SCR_ERR_ARG, "write fewer files");
  for (i = 0; i < 2; i++) OK(put("ck1", 2, 100));
  scr_image_bytes_max = bytes;
  OK(put("ck4", 100, 100));
  OK(SCR_Finalize());
  run_gets("ck4", 100, 100);
}

const test_case private_cases[] = {CASE(a_job_without_memory_does_not_spoil_the_next, "1"),
                                   CASE(more_files_than_records_can_hold_fail_their_checkpoint, "2"),
                                   CASE(an_exchange_delivers_each_letter_in_every_pattern, MANY),
                                   CASE(exchanges_in_a_row_take_no_letter_of_the_next, MANY),
                                   CASE(an_exchange_delivers_large_letters, MANY),
                                   CASE(an_empty_hash_is_a_letter_too, MANY),
                                   CASE(send_recv_sendrecv_and_bcast_deliver_what_is_sent, MANY),
                                   CASE(the_lowest_rank_with_an_error_speaks_for_all, MANY),
                                   CASE(ranks_are_grouped_by_equal_strings, MANY),
                                   CASE(a_scan_sums_in_both_directions_and_finds_the_next_flag, MANY),
                                   CASE(ranks_take_turns_and_stop_behind_one_that_fails, "5 | 1 2", "9"),
                                   CASES_END};
