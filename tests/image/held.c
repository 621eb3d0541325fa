/*
** held.c - windows and files of MPI between images: over parts of the ranks, with datatypes, views, requests and hints,
** while nonblocking collectives go on.  With a second argument a point is passed while it lives: window or file.
*/
#include <mpi.h>

#include "at.h"

static int  rank, ranks;
static long total;

static void need(int ok, const char* what)
{
  if (ok) return;
  fprintf(stderr, "rank %d: %s fails\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The ranks of COMM write interleaved integers, in several ways, and read what the next one wrote. */
static void use_file(MPI_Comm comm, const char* path, MPI_Info info, int step, int stays)
{
  int            me, all, i, sizes, starts, out[4], in[4] = {0}, one = 1, flag, n;
  MPI_Comm       copy;
  MPI_Datatype   column, unit, view;
  MPI_Errhandler handler;
  MPI_File       file;
  MPI_Group      group;
  MPI_Info       hints;
  MPI_Offset     size, at;
  MPI_Request    requests[2];
  MPI_Status     status, statuses[2];
  char           as[MPI_MAX_DATAREP_STRING];

  MPI_Comm_dup_with_info(comm, info, &copy);
  MPI_Comm_rank(copy, &me);
  MPI_Comm_size(copy, &all);
  need(MPI_File_open(copy, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS, "MPI_File_open");
  MPI_Comm_free(&copy);
  if (stays) point(rank);
  MPI_File_get_info(file, &hints);
  MPI_Info_get_nkeys(hints, &n);
  need(n > 0, "MPI_File_get_info");
  MPI_Info_free(&hints);
  MPI_File_get_group(file, &group);
  MPI_Group_size(group, &n);
  MPI_Group_free(&group);
  need(n == all, "MPI_File_get_group");
  sizes = all, starts = me;
  MPI_Type_create_subarray(1, &sizes, &one, &starts, MPI_ORDER_C, MPI_INT, &column);
  MPI_Type_commit(&column);
  need(MPI_File_set_view(file, 0, MPI_INT, column, "native", info) == MPI_SUCCESS, "MPI_File_set_view");
  MPI_Type_free(&column);
  MPI_File_get_view(file, &at, &unit, &view, as);
  need(unit == MPI_INT && view != MPI_INT && at == 0, "MPI_File_get_view");
  MPI_Type_free(&view);
  for (i = 0; i < 4; i++) out[i] = step * 1000 + me * 10 + i;
  MPI_File_write_all(file, out, 2, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  need(n == 2, "MPI_File_write_all");
  MPI_File_iwrite_at_all(file, 2, out + 2, 1, MPI_INT, &requests[0]);
  MPI_File_iwrite_at_all(file, 3, out + 3, 1, MPI_INT, &requests[1]);
  if (step % 2) MPI_Waitall(2, requests, statuses);
  else
    for (i = 1; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(comm);
  MPI_File_get_size(file, &size);
  need(size == (MPI_Offset)(4 * sizeof(int)) * all, "MPI_File_get_size");
  starts = (me + 1) % all;
  MPI_Type_create_subarray(1, &sizes, &one, &starts, MPI_ORDER_C, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_File_set_view(file, 0, MPI_INT, column, "native", MPI_INFO_NULL);
  MPI_Type_free(&column);
  MPI_File_read_at_all(file, 0, in, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_iread_at(file, 2, in + 2, 2, MPI_INT, &requests[0]);
  for (flag = 0; !flag;) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  for (i = 0; i < 4; i++) {
    need(in[i] == step * 1000 + starts * 10 + i, "what the next rank wrote");
    total += in[i];
  }
  need(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL, "MPI_File_close");
  MPI_File_get_errhandler(MPI_FILE_NULL, &handler);
  need(handler == MPI_ERRORS_ARE_FATAL, "MPI_File_get_errhandler");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  need(MPI_File_open(MPI_COMM_SELF, "missing/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS,
       "to open a file that is not there");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  if (me == 0) MPI_File_delete(path, info);
}

/* The ranks of COMM write to their neighbours, with each way to synchronize. */
static void use_window(MPI_Comm comm, MPI_Info info, int step, int stays)
{
  int          me, all, i, next, last, *at, old = 0, one = 1, pair[3], from[2] = {0}, *shared, flag;
  MPI_Comm     copies[12];
  MPI_Datatype spread;
  MPI_Group    group, to, of;
  MPI_Request  request;
  MPI_Win      window;

  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  next = (me + 1) % all, last = (me + all - 1) % all;
  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  need(MPI_Win_allocate(8 * sizeof(int), sizeof(int), info, comm, &at, &window) == MPI_SUCCESS, "MPI_Win_allocate");
  for (i = 0; i < 8; i++) at[i] = 0;
  if (stays) point(rank);
  MPI_Win_fence(0, window);
  pair[0] = step, pair[1] = -1, pair[2] = me;
  MPI_Put(pair, 1, spread, next, 0, 2, MPI_INT, window);
  MPI_Win_fence(0, window);
  need(at[0] == step && at[1] == last, "MPI_Put");
  MPI_Win_get_group(window, &group);
  MPI_Group_incl(group, 1, &next, &to);
  MPI_Group_incl(group, 1, &last, &of);
  MPI_Win_post(of, 0, window);
  MPI_Win_start(to, 0, window);
  MPI_Put(&step, 1, MPI_INT, next, 2, 1, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  need(at[2] == step, "MPI_Win_wait");
  MPI_Group_free(&group);
  MPI_Group_free(&to);
  MPI_Group_free(&of);
  MPI_Barrier(comm);
  MPI_Win_lock_all(0, window);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_flush(0, window);
  MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 4, MPI_SUM, window);
  MPI_Win_flush(0, window);
  need(old >= 0 && old < all, "MPI_Fetch_and_op");
  MPI_Rget(from, 2, MPI_INT, next, 0, 2, MPI_INT, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  need(from[0] == step && from[1] == me, "MPI_Rget");
  MPI_Win_unlock_all(window);
  MPI_Barrier(comm);
  if (me == 0) { /* it waits for what the others do when they have communicators */
    MPI_Win_lock_all(0, window);
    for (old = 0; old < all - 1;) {
      MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 5, MPI_NO_OP, window);
      MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
  } else {
    for (i = 0; i < 12; i++) MPI_Comm_dup(MPI_COMM_SELF, &copies[i]);
    for (i = 0; i < 12; i++) MPI_Comm_free(&copies[i]);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(comm);
  MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
  if (me == 0) need(at[3] == all && at[4] == all, "MPI_Accumulate");
  MPI_Win_unlock(me, window);
  MPI_Win_get_attr(window, MPI_WIN_BASE, &shared, &flag);
  need(flag && shared == at, "MPI_Win_get_attr");
  need(MPI_Win_free(&window) == MPI_SUCCESS && window == MPI_WIN_NULL, "MPI_Win_free");
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &shared, &window);
  *shared = me;
  MPI_Win_fence(0, window);
  need(shared[me == all - 1 ? -1 * (all - 1) : 1] == next, "MPI_Win_allocate_shared");
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Type_free(&spread);
  total += from[0] + from[1] + all;
}

int main(int argc, char** argv)
{
  int         i, n, flag, steps = argc > 1 ? atoi(argv[1]) : 6;
  const char* stays = argc > 2 ? argv[2] : "";
  char        value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1], path[40];
  long        sum, here;
  MPI_Comm    half;
  MPI_Info    info;
  MPI_Request request;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Info_create(&info);
  MPI_Info_set(info, "first", "1");
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "first", "more than one");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  for (i = 0; i < steps; i++) {
    MPI_Barrier(MPI_COMM_WORLD); /* none has a window or a file, until the image that is asked for is there */
    point(rank);
    for (n = asked() ? 100 : 1; n > 0; n--) linger();
    here = total;
    MPI_Iallreduce(&here, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    snprintf(path, sizeof path, "held.%d", rank % 2);
    use_file(half, path, info, i, strcmp(stays, "file") == 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    total += sum % 1000;
    use_window(i % 2 ? half : MPI_COMM_WORLD, info, i, strcmp(stays, "window") == 0);
    MPI_Info_get(info, "first", MPI_MAX_INFO_VAL, value, &flag);
    need(flag && strcmp(value, "more than one") == 0, "MPI_Info_get");
    MPI_Info_get_nkeys(info, &n);
    MPI_Info_get_nthkey(info, n - 1, key);
    need(n == 2 + i && (i > 0 || strcmp(key, "cb_nodes") == 0), "MPI_Info_get_nthkey");
    snprintf(key, sizeof key, "step.%d", i);
    MPI_Info_set(info, key, "done");
  }
  MPI_Info_delete(info, "cb_nodes");
  MPI_Info_get_valuelen(info, "cb_nodes", &n, &flag);
  need(!flag, "MPI_Info_delete");
  MPI_Info_free(&info);
  MPI_Comm_free(&half);
  MPI_Finalize();
  printf("rank %d of %d: total %ld\n", rank, ranks, total);
  return 0;
}
