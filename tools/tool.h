/*
** tool.h - what all commands share: the library without MPI, --help, --version, usage errors, the prefix directory,
** safe printing.
**
** The source file of each command is a program of its own, `cc -o scr_index tools/scr_index.c -lz`, and a part of the
** program scr, which includes them all.  So the names in it begin with the name of the command.
*/
#ifndef SCR_TOOL_H
#define SCR_TOOL_H

#define SCR_SERIAL
#include "../scr_impl.c"

#include <getopt.h>

/* Ends the source file of a command, whose main function is FUNCTION; in scr, which defines TOOL_TOGETHER, nothing. */
#ifdef TOOL_TOGETHER
#define TOOL_MAIN(function)
#else
#define TOOL_MAIN(function)                                                                                            \
  int main(int argc, char** argv)                                                                                      \
  {                                                                                                                    \
    scr_keep_standard();                                                                                               \
    return function(argc, argv);                                                                                       \
  }
#endif

#define TOOL_OPT_VERSION 1000 /* --version has no short form */
#define TOOL_OPTIONS                                                                                                   \
  {"help", no_argument, NULL, 'h'},                                                                                    \
  {                                                                                                                    \
    "version", no_argument, NULL, TOOL_OPT_VERSION                                                                     \
  }

/* The name of the command, without its directory. */
SCR_FN const char* tool_name(const char* argv0)
{
  const char* slash = strrchr(argv0, '/');
  return slash != NULL ? slash + 1 : argv0;
}

/*
** Print S to F; what comes from a file may have bytes that steer a terminal, or are no text at all: these as \xNN.  All
** that commands print and that does not come from their own source goes through here, or tool_print_json.
*/
SCR_FN void tool_put(FILE* f, const char* s)
{
  const unsigned char* at = (const unsigned char*)s;
  int                  n;

  for (; *at != '\0'; at += n > 0 ? n : 1) {
    n = scr_utf8_length(at);
    if (n == 0 || scr_msg_steers(at) > 0) {
      fprintf(f, "\\x%02x", *at);
      n = 1;
    } else {
      fwrite(at, 1, (size_t)n, f);
    }
  }
}

/* Print S to stdout. */
SCR_FN void tool_print(const char* s)
{
  tool_put(stdout, s);
}

/* The same, and the end of the line. */
SCR_FN void tool_print_line(const char* s)
{
  tool_print(s);
  putchar('\n');
}

/* Print NAME: MESSAGE to stderr.  Returns RC. */
SCR_FN int tool_fail(const char* argv0, int rc, const char* message)
{
  fprintf(stderr, "%s: ", tool_name(argv0));
  tool_put(stderr, message);
  fputc('\n', stderr);
  return rc;
}

/* Handle -h, --version, or an unknown option, which getopt has reported.  Returns 0; BAD for an unknown option. */
SCR_FN int tool_answer(int c, const char* argv0, const char* usage, int bad)
{
  if (c == TOOL_OPT_VERSION) {
    printf("%s %s\n", tool_name(argv0), SCR_VERSION);
    return 0;
  }
  fprintf(c == 'h' ? stdout : stderr, "Usage: %s", usage);
  return c == 'h' ? 0 : bad;
}

/* Report a usage error: print what is wrong, then the usage.  Returns BAD. */
SCR_FN int tool_usage(const char* argv0, const char* usage, int bad, const char* message)
{
  tool_fail(argv0, bad, message);
  fprintf(stderr, "Usage: %s", usage);
  return bad;
}

/* Returns 1 if PATH, or what it links to, is a directory; otherwise 0, with errno if PATH cannot be read. */
SCR_FN int tool_is_dir(const char* path)
{
  char        dot[SCR_MAX_FILENAME + 2];
  struct stat st;

  if (snprintf(dot, sizeof dot, "%s/.", path) >= (int)sizeof dot) {
    errno = ENAMETOOLONG;
    return 0;
  }
  return scr_os.lstat(dot, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
** Make WHOLE, of SCR_MAX_FILENAME bytes, the absolute path of the directory DIR, as a run names it.  Returns it, or DIR
** if that is too long.
*/
SCR_FN const char* tool_whole(const char* dir, char* whole)
{
  char cwd[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME];

  if (*dir == '/' || getcwd(cwd, sizeof cwd) == NULL) return dir;
  if (scr_fmt(path, sizeof path, "%s/%s", cwd, dir) != SCR_SUCCESS) return dir;
  return scr_path_reduce_str(path, whole, SCR_MAX_FILENAME) == SCR_SUCCESS ? whole : dir;
}

/* What SCR_PREFIX names, or else the working directory, as an absolute path; valid until the next call. */
SCR_FN const char* tool_prefix_name(void)
{
  static char whole[SCR_MAX_FILENAME], expanded[SCR_PARAM_WORD_MAX];
  const char* prefix = getenv("SCR_PREFIX");

  if (prefix != NULL && scr_params_env_value("SCR_PREFIX", prefix, expanded) == SCR_SUCCESS) prefix = expanded;
  return tool_whole(prefix != NULL && *prefix != '\0' ? prefix : ".", whole);
}

/* The prefix directory if the command line names none; it is fenced by that name. */
SCR_FN const char* tool_prefix(void)
{
  const char* prefix = tool_prefix_name();

  scr_fence_set(&scr_fences.prefix, prefix);
  return prefix;
}

/* The prefix directory DIR, which the command line names, as an absolute path; valid until the next call. */
SCR_FN const char* tool_dir(const char* dir)
{
  static char whole[SCR_MAX_FILENAME];

  dir = tool_whole(dir, whole);
  scr_fence_set(&scr_fences.prefix, dir);
  return dir;
}

/*
** The name without links of the prefix directory PREFIX, which is fenced by it from now on.  The caller frees it; NULL
** if PREFIX is no directory, or behind a link that somebody has planted.
*/
SCR_FN char* tool_real(const char* prefix)
{
  char* real;

  if (scr_prefix_check_links(prefix) != SCR_SUCCESS) return NULL;
  real = realpath(prefix, NULL);
  if (real != NULL && tool_is_dir(real)) {
    scr_fence_set(&scr_fences.prefix, real);
    return real;
  }
  SCR_ERRNO("cannot open the prefix directory %s", prefix);
  scr_free(&real);
  return NULL;
}

/* Set the parameter NAME to VALUE in the environment, where a '$' would be a variable (scr_params_env_value). */
SCR_FN int tool_setenv(const char* name, const char* value)
{
  scr_buf b = {NULL, 0, 0, 0};
  int     rc;

  for (; *value != '\0'; value++) {
    if (*value == '$') scr_buf_add(&b, "\\", 1);
    scr_buf_add(&b, value, 1);
  }
  scr_buf_add(&b, "", 1);
  rc = b.failed || setenv(name, b.p, 1) < 0 ? SCR_ERR_OOM() : SCR_SUCCESS;
  scr_buf_free(&b);
  return rc;
}

/* The parameters of a run over PREFIX, which leads to the user file; NULL after an error. */
SCR_FN scr_hash* tool_params(const char* prefix)
{
  scr_hash* params = scr_hash_new();

  if (params == NULL) SCR_ERR_OOM();
  else if ((strcmp(prefix, tool_prefix_name()) == 0 || tool_setenv("SCR_PREFIX", prefix) == SCR_SUCCESS) &&
           scr_params_read(params) == SCR_SUCCESS)
    return params;
  scr_hash_delete(&params);
  return NULL;
}

/* The parameter NAME, which only commands read, from the environment or the files; NULL if it is not set. */
SCR_FN const char* tool_param(const scr_hash* params, const char* name)
{
  const char* value = getenv(name);
  return value != NULL && *value != '\0' ? value : scr_param_get(params, name);
}

/* Returns 1 and sets VALUE if S is a whole number, without a sign, from LOW to HIGH. */
SCR_FN int tool_number(const char* s, int64_t low, int64_t high, int64_t* value)
{
  int64_t v;

  if (!isdigit((unsigned char)*s) || scr_str_int64(s, &v) != SCR_SUCCESS || v < low || v > high) return 0;
  *value = v;
  return 1;
}

/* Returns 1 if WORD is a launcher, which commands of release 3 need with -j; here they find the nodes without it. */
SCR_FN int tool_is_launcher(const char* word)
{
  static const char* const names[] = {"aprun", "flux", "jsrun", "lrun", "mpiexec", "mpirun", "srun"};
  size_t                   i = 0;

  while (i < sizeof names / sizeof *names && strcmp(word, names[i]) != 0) i++;
  return i < sizeof names / sizeof *names;
}

/* Make TEXT, of N bytes, BYTES as a person says it. */
SCR_FN void tool_bytes(double bytes, char* text, size_t n)
{
  static const char* const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  int                      i = 0;

  for (; bytes >= 1000 && i < 5; i++) bytes /= 1000;
  snprintf(text, n, i == 0 ? "%.0f %s" : "%.1f %s", bytes, units[i]);
}

/* Print `"KEY": `, with what separates it from the pair before it; N counts the pairs of the object. */
SCR_FN void tool_print_json_key(const char* key, int* n)
{
  printf("%s\"%s\": ", (*n)++ > 0 ? ", " : "{", key);
}

/*
** Print TEXT as a JSON string.  A byte that is not UTF-8 becomes the character with that number, and what steers a
** terminal \u and its number.
*/
SCR_FN void tool_print_json(const char* text)
{
  const unsigned char* s = (const unsigned char*)text;

  putchar('"');
  while (*s != '\0') {
    int n = scr_utf8_length(s), steers = n > 0 ? scr_msg_steers(s) : 1;
    if (*s == '"' || *s == '\\') printf("\\%c", *s);
    else if (steers == 1) printf("\\u%04x", *s);
    else if (steers == 2) printf("\\u%04x", (s[0] & 0x1f) << 6 | (s[1] & 0x3f));
    else if (steers == 3) printf("\\u%04x", (s[0] & 0x0f) << 12 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f));
    else printf("%.*s", n, (const char*)s);
    s += n ? n : 1;
  }
  putchar('"');
}

#endif
