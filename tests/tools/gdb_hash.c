/* gdb_hash.c - hashes for gdb to print, in the function that it stops in. */
#define SCR_SERIAL
#include "../../scr_impl.c"

static volatile int stops;

/* gdb stops here. */
static __attribute__((noinline)) void stop(scr_hash* h, scr_hash* empty, scr_hash* none, scr_hash* broken)
{
  stops += h != NULL && empty != NULL && none == NULL && broken != NULL;
}

int main(void)
{
  scr_hash* h = scr_hash_new();
  scr_hash* empty = scr_hash_new();
  scr_hash* broken = scr_hash_new();
  scr_hash  bad;

  scr_hash_util_set_int(h, "NODES", 4);
  scr_hash_setf(h, NULL, "%s %s %s %s", "HOST", "node1", "CACHE", "/ssd/a b");
  scr_hash_setf(h, NULL, "%s %s", "HOST", "node2");
  scr_hash_set(h, "LINE\n", scr_hash_new());
  scr_hash_set(broken, "KEY", scr_hash_new());
  bad = *broken;
  bad.first = (scr_hash_elem*)(uintptr_t)8;
  stop(h, empty, NULL, &bad);
  scr_hash_delete(&h);
  scr_hash_delete(&empty);
  scr_hash_delete(&broken);
  return stops == 1 ? 0 : 1;
}
