/*
** forge.c - a stage of a scavenge that no scavenge has made: a dataset of one file, in which a link of whoever runs
** this stands in place of a directory, or which is a file of another user, to be packed into a container; the flush
** file says that the dataset waits to be saved, unless it is output.  For users.sh.
**
** Usage: forge PREFIX ID SIZE PLACE [output]
** The file, of SIZE bytes, is PLACE, which is moved, or is letter in PLACE.
*/
#define SCR_SERIAL
#include "../../scr_impl.c"

int main(int argc, char** argv)
{
  scr_entry*     e = (scr_entry*)calloc(1, sizeof *e);
  scr_file       f;
  scr_record     flush;
  scr_flush_note note;
  struct stat    st;
  char           stage[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME];
  int            rc;

  if (argc < 5 || argc > 6 || e == NULL) return 2;
  umask(0);
  memset(&f, 0, sizeof f);
  memset(&note, 0, sizeof note);
  e->desc.identity.id = e->desc.ckpt = atoi(argv[2]);
  e->desc.identity.created = scr_time_usec();
  e->desc.identity.nonce = 42;
  e->desc.bytes = f.size = strtoull(argv[3], NULL, 10);
  snprintf(e->desc.name, sizeof e->desc.name, "letters");
  snprintf(e->desc.dir, sizeof e->desc.dir, "letters");
  e->desc.flags = argc == 6 ? SCR_FLAG_OUTPUT : SCR_FLAG_CHECKPOINT;
  e->desc.ranks = e->desc.files = e->desc.complete = e->desc.preserve = 1;
  e->preserve = e->listed = 1;
  e->container = lstat(argv[4], &st) == 0 && S_ISREG(st.st_mode);
  snprintf(path, sizeof path, "letters/letter");
  f.rel = f.orig = path;
  f.complete = f.ranks = 1;
  f.mode = 0644;
  if (!scr_entry_add(e, &f)) return 1;
  rc = scr_stage_path(argv[1], &e->desc.identity, stage, sizeof stage);
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/.scr", stage);
  if (rc == SCR_SUCCESS && (mkdir(stage, 0775) < 0 || mkdir(path, 0775) < 0)) rc = SCR_ERRNO("cannot make %s", path);
  if (rc == SCR_SUCCESS) rc = scr_stage_write(stage, e);
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/letters", stage);
  if (rc == SCR_SUCCESS && e->container) {
    if (mkdir(path, 0777) < 0) rc = SCR_ERRNO("cannot make %s", path);
    if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/letters/letter", stage);
    if (rc == SCR_SUCCESS && rename(argv[4], path) < 0) rc = SCR_ERRNO("cannot move %s", argv[4]);
  } else if (rc == SCR_SUCCESS && symlink(argv[4], path) < 0) {
    rc = SCR_ERRNO("cannot link %s", path);
  }
  note.id = note.ckpt = e->desc.identity.id;
  note.identity = e->desc.identity;
  snprintf(note.name, sizeof note.name, "letters");
  snprintf(note.dir, sizeof note.dir, "letters");
  note.flags = SCR_FLAG_CHECKPOINT;
  note.location = SCR_LOCATION_CACHE;
  note.ranks = 1;
  if (rc == SCR_SUCCESS && argc == 5 && (rc = scr_record_open(&flush, argv[1], "flush.scr")) == SCR_SUCCESS) {
    scr_flush_file_put(&flush, &note);
    rc = scr_record_close(&flush, rc, 1);
  }
  if (rc != SCR_SUCCESS) puts(scr_err_text);
  scr_entry_free(&e);
  return rc;
}
