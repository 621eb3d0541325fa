/*
** forge_map.c - a dataset that no run has written, of one file that whoever runs this does not own: the map names it as
** a file of the dataset, which the index has marked for deletion, or whose renames are to be finished, or as the bytes
** of a container.  For users.sh.
**
** Usage: forge_map PREFIX NAME SIZE deleted|renaming|packed     NAME, of SIZE bytes, is below PREFIX
** COPY: the name of the file that the container has; default: forged/copy.
*/
#define SCR_SERIAL
#include "../../scr_impl.c"

int main(int argc, char** argv)
{
  scr_desc    d;
  scr_objects l;
  scr_object* o;
  scr_index   index;
  char        path[SCR_MAX_FILENAME];
  int         rc, packed = argc == 5 && strcmp(argv[4], "packed") == 0;
  const char* copy = getenv("COPY") != NULL ? getenv("COPY") : "forged/copy";
  int         deleted = argc == 5 && strcmp(argv[4], "deleted") == 0;

  if (argc != 5) return 2;
  umask(0);
  memset(&d, 0, sizeof d);
  memset(&l, 0, sizeof l);
  d.identity.id = d.ckpt = l.id = 77;
  d.identity.created = scr_time_usec();
  d.identity.nonce = 42;
  d.flags = SCR_FLAG_CHECKPOINT;
  d.ranks = d.files = d.complete = d.preserve = 1;
  d.bytes = strtoull(argv[3], NULL, 10);
  snprintf(d.name, sizeof d.name, "forged");
  snprintf(d.dir, sizeof d.dir, "forged");
  scr_objects_add_owner(&l, 0);
  if ((o = scr_objects_add(&l, 0, packed ? copy : argv[2])) == NULL) return 1;
  o->size = d.bytes;
  o->mode = 0666;
  rc = packed ? scr_extents_add(&o->packed, argv[2], 0, o->size) : SCR_SUCCESS;
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/forged/.scr", argv[1]);
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(path, 0777);
  if (rc == SCR_SUCCESS) rc = scr_make_map(&l, argv[1], "forged", &d.identity, 1 << 20, "");
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/forged/.scr/summary.scr", argv[1]);
  if (rc == SCR_SUCCESS && !deleted) rc = scr_summary_write(path, &d);
  if (rc == SCR_SUCCESS) rc = scr_index_open(&index, argv[1]);
  if (rc == SCR_SUCCESS && deleted)
    scr_identity_write(scr_hash_setf(index.h, NULL, "%s %s", "DELETED", "forged"), &d.identity);
  if (rc == SCR_SUCCESS && !deleted) rc = scr_index_set(&index, &d, "forged");
  if (rc == SCR_SUCCESS && packed) scr_index_note_renamed(&index, d.identity.id, "forged");
  rc = scr_index_close(&index, rc, 1);
  if (rc != SCR_SUCCESS) puts(scr_err_text);
  scr_objects_free(&l);
  return rc;
}
