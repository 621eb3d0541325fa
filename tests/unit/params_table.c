/* params_table - print the table of parameters as README.md shows it.  No MPI. */
#define SCR_SERIAL
#include "../../scr_impl.c"

int main(void)
{
  scr_params_print_table(stdout);
  return 0;
}
