/* read.c FILE - what a file of examples/hdf5.c has, as that of heat_files.c: the step, its change, the rows. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

/* Print the bytes of the dataset NAME of F, which has elements of SIZE bytes.  Returns 1 on success. */
static int print(hid_t f, const char* name, hid_t type, size_t size)
{
  hid_t    set = H5Dopen2(f, name, H5P_DEFAULT), space = H5Dget_space(set);
  hssize_t n = H5Sget_simple_extent_npoints(space);
  char*    data = n > 0 ? (char*)malloc((size_t)n * size) : NULL;
  int      ok = data != NULL && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;

  ok = ok && fwrite(data, size, (size_t)n, stdout) == (size_t)n;
  free(data);
  H5Sclose(space);
  H5Dclose(set);
  return ok;
}

int main(int argc, char** argv)
{
  hid_t f = argc == 2 ? H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT) : -1;

  return !(f >= 0 && print(f, "step", H5T_NATIVE_INT, sizeof(int)) &&
           print(f, "change", H5T_NATIVE_DOUBLE, sizeof(double)) && print(f, "u", H5T_NATIVE_DOUBLE, sizeof(double)) &&
           H5Fclose(f) >= 0);
}
