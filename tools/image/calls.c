/* ==== CALLS =============================================================================================
** Polls, the image itself, and the calls of MPI that begin and end.
**
** Uses       all parts
** Offers     img_poll, img_polled; MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Initialized, MPI_Finalized,
**            MPI_Query_thread, MPI_Wtime, MPI_Alloc_mem, MPI_Free_mem.
** Invariants
**   K1  img_poll takes the context: only functions of the saved side call it.
**   K2  Between two polls of a rank no image is taken.
** Failure    An image that cannot be written is a message.
** ====================================================================================================== */
#include "image.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "types.h"

IMG_NATIVE(MPI_Init);
IMG_NATIVE(MPI_Init_thread);
IMG_NATIVE(MPI_Finalize);
IMG_NATIVE(MPI_Initialized);
IMG_NATIVE(MPI_Finalized);
IMG_NATIVE(MPI_Query_thread);
IMG_NATIVE(MPI_Wtime);
IMG_NATIVE(MPI_Alloc_mem);
IMG_NATIVE(MPI_Free_mem);

static int      initialized, finalized, level = MPI_THREAD_SINGLE;
uint64_t        img_polled;
static uint64_t images;

static const char* objection(void)
{
  const char* why = img_streams_objection();

  if (why == NULL) why = img_files_objection();
  if (why == NULL) why = img_held_objection();
  if (why == NULL) why = img_maps_objection();
  if (why == NULL) why = img_threads_objection();
  if (why == NULL && !img_is_stack(&why)) why = "calls MPI on a stack of its own";
  return why != NULL ? why : img_libc_objection();
}

static void resumed(void)
{
  img_files_resumed();
  img_streams_resumed();
  img_libc_resumed();
  img_threads_resumed();
  img_comm_resumed();
  img_types_resumed();
  img_errors_resumed();
  img_io_resumed();
}

/* All ranks have stopped, and nothing is under way: write an image, or be the process that has loaded it. */
static __attribute__((noinline)) void take_image(void)
{
  const char* why;

  images = img_lib_number(images + 1);
  img_signals_defer(); /* no handler changes what is being saved (I1) */
  img_libc_save();
  img_threads_save();
  img_streams_save();
  why = img_files_save();
  if (img_context_take(&img_here) == 0) img_lib_write(images, why);
  else resumed();
  img_signals_deliver();
}

void img_poll(void)
{
  img_polled = img_channels_growing() ? 0 : img_cycles();
  if (!initialized || finalized) return;
  img_test_sends();
  if (!img_agree_poll(objection)) return;
  img_drain();
  if (img_lib_due()) take_image();
  img_lib_leave();
  img_repost();
}

int img_refuse_call(const char* name)
{
  img_say("%s does not work in programs with images; SCR_IMAGE=0 runs without", name);
  return img_error(NULL, MPI_ERR_UNSUPPORTED_OPERATION);
}

/* ---- begin and end ---- */

static int begin(int wanted)
{
  if (initialized) return MPI_ERR_OTHER;
  level = wanted > MPI_THREAD_FUNNELED ? MPI_THREAD_FUNNELED : wanted;
  if (wanted > level && img_rank == 0) img_say("MPI_THREAD_FUNNELED is provided: only the main thread can be saved");
  img_p2p_start();
  img_comm_start();
  initialized = 1;
  return MPI_SUCCESS;
}

IMG_API int MPI_Init(int* argc, char*** argv)
{
  return img_on ? begin(MPI_THREAD_SINGLE) : scr_native_MPI_Init(argc, argv);
}

IMG_API int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided)
{
  int rc;

  if (!img_on) return scr_native_MPI_Init_thread(argc, argv, wanted, provided);
  rc = begin(wanted);
  *provided = level;
  return rc;
}

IMG_API int MPI_Finalize(void)
{
  if (!img_on) return scr_native_MPI_Finalize();
  img_attributes_free(img_comm_of(MPI_COMM_SELF));
  img_attributes_free(img_world);
  img_poll(); /* a request that came late */
  while (!img_agree_ending()) {
    img_poll();
    sched_yield();
  }
  finalized = 1;
  img_lib_end();
  return scr_native_MPI_Finalize();
}

IMG_API int MPI_Initialized(int* flag)
{
  if (!img_on) return scr_native_MPI_Initialized(flag);
  *flag = initialized;
  return MPI_SUCCESS;
}

IMG_API int MPI_Finalized(int* flag)
{
  if (!img_on) return scr_native_MPI_Finalized(flag);
  *flag = finalized;
  return MPI_SUCCESS;
}

IMG_API int MPI_Query_thread(int* provided)
{
  if (!img_on) return scr_native_MPI_Query_thread(provided);
  *provided = level;
  return MPI_SUCCESS;
}

IMG_API double MPI_Wtime(void)
{
  return img_on ? img_wtime() : scr_native_MPI_Wtime();
}

/* Memory for messages is that of the program. */
IMG_API int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* at)
{
  void* p;

  if (!img_on) return scr_native_MPI_Alloc_mem(size, info, at);
  p = img_alloc(size > 0 ? (size_t)size : 1);
  memcpy(at, &p, sizeof p);
  return p != NULL ? MPI_SUCCESS : img_error(NULL, MPI_ERR_NO_MEM);
}

IMG_API int MPI_Free_mem(void* p)
{
  if (!img_on) return scr_native_MPI_Free_mem(p);
  free(p);
  return MPI_SUCCESS;
}
