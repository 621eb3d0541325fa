/* params_table - print the table of parameters as README.md shows a part of it.  No MPI. */
#define SCR_SERIAL
#include "../../scr_impl.c"

int main(void)
{
  int i;

  printf("| Parameter | Default | What it does |\n|---|---|---|\n");
  for (i = 0; i < SCR_PARAM_NSPECS; i++) {
    const scr_param_spec* spec = &scr_param_specs[i];
    if (spec->line == NULL) /* not a child */
      printf("| %s | %s | %s |\n", spec->name, spec->fallback != NULL ? spec->fallback : "-", spec->sentence);
  }
  return 0;
}
