/* Copies of many small files: which of them are synced, what an error leaves, and what happens without descriptors. */
#include <sys/resource.h>

enum { COPIES = 40 }; /* more than twice as many as are open at a time */

/* Make L the list of the copies out0, out1, .. of files that are not empty. */
SCR_FN void copies_list(scr_copy_list* l)
{
  char name[32];
  int  i;

  CHECK(scr_copy_list_make(l, COPIES, 1000) == SCR_SUCCESS);
  for (i = 0; i < COPIES; i++) {
    scr_copy_item* it = scr_copy_list_add(l, 0640, 0600, 1000);
    snprintf(name, sizeof name, "in%d", i);
    scr_extents_whole(&it->from, check_path(name), (uint64_t)(i + 1));
    snprintf(name, sizeof name, "out%d", i);
    scr_extents_whole(&it->to, check_path(name), (uint64_t)(i + 1));
  }
}

/* The copies that are there, with the bytes that they should have; all are removed. */
SCR_FN int copies_take(void)
{
  char name[32], want[COPIES], got[COPIES + 1];
  int  i, n = 0;

  for (i = 0; i < COPIES; i++) {
    memset(want, 'a' + i % 26, sizeof want);
    snprintf(name, sizeof name, "out%d", i);
    if (access(check_path(name), F_OK) != 0) continue;
    n += check_get(check_path(name), got, sizeof got) == (size_t)i + 1 && memcmp(got, want, (size_t)i + 1) == 0;
    unlink(check_path(name));
  }
  return n;
}

/* Copy with THREADS while the N-th of CALLS fails; what came out is RC, with its message, and the copies LEFT. */
SCR_FN int copies_struck(unsigned calls, int n, int threads, int* rc, int* left)
{
  scr_copy_list l;
  int           hit;

  copies_list(&l);
  fault_at(FAULT_FAIL, calls, ENOSPC, n);
  *rc = scr_copy_list_run(&l, threads);
  hit = fault_end();
  scr_copy_list_free(&l);
  *left = copies_take();
  return hit;
}

/* Each sync is made, and one that fails is an error that tells its file, which is removed. */
SCR_FN void copies_are_synced(void)
{
  int n, rc, left, threads;

  for (threads = 1; threads <= 3; threads += 2)
    for (n = 1; copies_struck(FAULT_FSYNC, n, threads, &rc, &left) > 0; n++) {
      CHECK_INT(rc, SCR_ERR_SPACE);
      CHECK(strstr(scr_err_text, "cannot sync") != NULL);
      CHECK(left < COPIES);
    }
  CHECK_INT(n, COPIES + 1);
  CHECK_INT(rc, SCR_SUCCESS);
  CHECK_INT(left, COPIES);
}

/* Any other call fails once: the copies are all there, or there is an error, and no file is there in part. */
SCR_FN void copies_are_whole(void)
{
  const unsigned calls = FAULT_OPEN | FAULT_CREATE | FAULT_PREAD | FAULT_PWRITE | FAULT_FTRUNCATE | FAULT_CLOSE;
  char           name[32];
  int            n, i, rc, left;

  for (n = 1; copies_struck(calls, n, 1, &rc, &left) > 0; n++) {
    CHECK(rc == SCR_SUCCESS ? left == COPIES : left < COPIES);
    for (i = 0; i < COPIES; i++) {
      snprintf(name, sizeof name, "out%d", i);
      CHECK(access(check_path(name), F_OK) != 0);
    }
  }
  CHECK(n > 5 * COPIES);
  CHECK_INT(left, COPIES);
}

/* Two syncs fail, in different ways: the code and the message are of the first one. */
SCR_FN void copies_tell_the_first_error(void)
{
  scr_copy_list l;
  int           rc;

  copies_list(&l);
  fault_at(FAULT_DEAD, FAULT_FSYNC | FAULT_CLOSE, 0, 3);
  rc = scr_copy_list_run(&l, 1);
  fault_end();
  CHECK(rc == SCR_ERR_IO && strstr(scr_err_text, strerror(EIO)) != NULL);
  scr_copy_list_free(&l);
  copies_take();
}

/* A process that has few descriptors left copies all the same. */
SCR_FN void copies_do_with_few_descriptors(void)
{
  struct rlimit was, few;
  scr_copy_list l;
  int           fd = open("/dev/null", O_RDONLY), rc;

  copies_list(&l);
  CHECK(fd >= 0 && getrlimit(RLIMIT_NOFILE, &was) == 0);
  few = was;
  few.rlim_cur = (rlim_t)fd + 5;
  close(fd);
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  rc = scr_copy_list_run(&l, 1);
  setrlimit(RLIMIT_NOFILE, &was);
  CHECK_INT(rc, SCR_SUCCESS);
  scr_copy_list_free(&l);
  CHECK_INT(copies_take(), COPIES);
}

static void test_copies(void)
{
  char name[32], data[COPIES];
  int  i;

  for (i = 0; i < COPIES; i++) {
    memset(data, 'a' + i % 26, sizeof data);
    snprintf(name, sizeof name, "in%d", i);
    check_put(check_path(name), data, (size_t)i + 1);
  }
  copies_are_synced();
  copies_are_whole();
  copies_tell_the_first_error();
  copies_do_with_few_descriptors();
}
