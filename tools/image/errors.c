/* ==== ERRORS ============================================================================================
** Classes, codes and strings of errors that the program adds: MPI numbers them in the order in which they are made, so
** a restart makes them again, and they have the same numbers.
**
** Uses       heap.c
** Offers     img_errors_resumed; MPI_Add_error_class, _code and _string.
** Failure    The error handler of the world.  Other numbers than in the image end the restart.
** ====================================================================================================== */
#include "image.h"

#include <stdlib.h>
#include <string.h>

IMG_NATIVE(MPI_Add_error_class);
IMG_NATIVE(MPI_Add_error_code);
IMG_NATIVE(MPI_Add_error_string);

typedef struct added {
  struct added* next;
  enum { CLASS, CODE, STRING } what;
  int  number, of; /* the class of a code */
  char text[MPI_MAX_ERROR_STRING];
} added;

static added*  first;
static added** last = &first;

/* Add what A says to MPI, which tells its number. */
static int add(added* a)
{
  if (a->what == CLASS) return scr_native_MPI_Add_error_class(&a->number);
  if (a->what == CODE) return scr_native_MPI_Add_error_code(a->of, &a->number);
  return scr_native_MPI_Add_error_string(a->number, a->text);
}

/* Add it and, if that works, once more at each restart.  Returns the native error. */
static int note(int what, int of, int* number, const char* text)
{
  added* a = img_alloc(sizeof *a);
  int    rc;

  if (a == NULL) return img_error(NULL, MPI_ERR_NO_MEM);
  memset(a, 0, sizeof *a);
  a->what = what, a->of = of, a->number = *number;
  strncpy(a->text, text, sizeof a->text - 1);
  rc = add(a);
  if (rc != MPI_SUCCESS) {
    free(a);
    return img_error(NULL, rc);
  }
  *last = a, last = &a->next;
  *number = a->number;
  return rc;
}

IMG_API int MPI_Add_error_class(int* made)
{
  if (!img_on) return scr_native_MPI_Add_error_class(made);
  *made = 0;
  return note(CLASS, 0, made, "");
}

IMG_API int MPI_Add_error_code(int error_class, int* made)
{
  if (!img_on) return scr_native_MPI_Add_error_code(error_class, made);
  *made = 0;
  return note(CODE, error_class, made, "");
}

IMG_API int MPI_Add_error_string(int code, const char* text)
{
  return img_on ? note(STRING, 0, &code, text) : scr_native_MPI_Add_error_string(code, text);
}

void img_errors_resumed(void)
{
  added* a;

  for (a = first; a != NULL; a = a->next) {
    int number = a->number;

    if (add(a) != MPI_SUCCESS || a->number != number) img_die("errors of the program have other numbers than they had");
  }
}
