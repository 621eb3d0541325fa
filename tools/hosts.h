/*
** hosts.h - lists of hosts for commands: expanded, as an array of names, and compressed, such as node[001-003,7].
**
** A compressed list has items, with commas or blanks between them.  An item is a name in which [...] stands for each of
** the numbers in it: single ones and ranges, with commas between them.  The first number of a range tells how many
** digits its numbers have at least: [08-10] is 08, 09, 10.  An item may have several brackets: x[1-2]y[3-4] is x1y3,
** x1y4, x2y3, x2y4.
*/
#ifndef SCR_HOSTS_H
#define SCR_HOSTS_H

#include "tool.h"

#define HOSTS_NAME_MAX 256
#define HOSTS_MAX      (1 << 20) /* more than this is a mistake in a range */
#define HOSTS_DIGITS   18        /* a number has no more digits: it fits 64 bits */

/* All zeros is an empty list. */
typedef struct {
  char** name;
  int    n;
} hosts;

SCR_FN void hosts_free(hosts* h)
{
  while (h->n > 0) scr_free(&h->name[--h->n]);
  scr_free(&h->name);
}

/*
** Append the host NAME.  SCR_ERR_ARG if no host has such a name: launchers and remote shells would take it for an
** option, for another account, or for more than one word.
*/
SCR_FN int hosts_add(hosts* h, const char* name)
{
  const unsigned char* c = (const unsigned char*)name;

  while (*c > ' ' && *c != 0x7f && strchr("'\"`$\\;&|<>()@/", *c) == NULL) c++;
  if (*name == '-' || *name == '\0' || *c != '\0')
    return SCR_ERR(SCR_ERR_ARG, "'%.200s' is not the name of a host", name);
  if (h->n == HOSTS_MAX) return SCR_ERR(SCR_ERR_ARG, "a list of hosts has more than %d hosts", HOSTS_MAX);
  if (!scr_grow(&h->name, h->n, sizeof *h->name) || (h->name[h->n] = scr_strdup(name)) == NULL) return SCR_ERR_OOM();
  h->n++;
  return SCR_SUCCESS;
}

/* ---- from text ---- */

typedef struct {
  hosts*      into;
  const char* item; /* the item that is expanded, of N bytes, for messages */
  int         n;
  char        name[HOSTS_NAME_MAX]; /* the host, as far as it is made */
} hosts_item;

SCR_FN int hosts_item_bad(const hosts_item* it, const char* why)
{
  return SCR_ERR(SCR_ERR_ARG, "%.*s in a list of hosts: %s", it->n < 200 ? it->n : 200, it->item, why);
}

/* Read the number at *S, before END.  Returns its digits, with the value in V, or 0 if there is no number. */
SCR_FN int hosts_number(const char** s, const char* end, int64_t* v)
{
  int digits = 0;

  for (*v = 0; *s < end && isdigit((unsigned char)**s); (*s)++)
    if (++digits <= HOSTS_DIGITS) *v = *v * 10 + (**s - '0');
  return digits <= HOSTS_DIGITS ? digits : 0;
}

/* Read the number or the range at *S, up to END or the next comma. */
SCR_FN int hosts_range(const hosts_item* it, const char** s, const char* end, int64_t* low, int64_t* high, int* digits)
{
  int last;

  if ((*digits = hosts_number(s, end, low)) == 0)
    return hosts_item_bad(it, "in brackets there are numbers and ranges, such as [1-3,7]");
  *high = *low;
  if (*s < end && **s == '-') {
    const char* number = ++*s;
    if ((last = hosts_number(s, end, high)) == 0) return hosts_item_bad(it, "a range has no number at its end");
    if (last != *digits && *number == '0')
      return hosts_item_bad(it, "the ends of a range have different numbers of digits");
  }
  if (*s < end && **s != ',') return hosts_item_bad(it, "in brackets there are numbers and ranges, such as [1-3,7]");
  if (*high < *low) return hosts_item_bad(it, "the end of a range is less than its beginning");
  if (*high - *low >= HOSTS_MAX) return hosts_item_bad(it, "a range is too long");
  return SCR_SUCCESS;
}

/* Append all hosts that begin with the first AT characters of IT->name, and go on as S says. */
SCR_FN int hosts_expand(hosts_item* it, size_t at, const char* s)
{
  const char *end = it->item + it->n, *open, *close;
  int         digits, rc = SCR_SUCCESS;
  int64_t     v, low = 0, high = 0;

  for (open = s; open < end && *open != '['; open++)
    if (*open == ']') return hosts_item_bad(it, "a ] has no [ before it");
  if (at + (size_t)(open - s) + HOSTS_DIGITS >= sizeof it->name) return hosts_item_bad(it, "a name is too long");
  memcpy(it->name + at, s, (size_t)(open - s));
  at += (size_t)(open - s);
  it->name[at] = '\0';
  if (open == end) return hosts_add(it->into, it->name);
  if ((close = (const char*)memchr(open, ']', (size_t)(end - open))) == NULL)
    return hosts_item_bad(it, "a [ has no ] after it");
  for (s = open + 1; rc == SCR_SUCCESS; s++) {
    rc = hosts_range(it, &s, close, &low, &high, &digits);
    for (v = low; rc == SCR_SUCCESS && v <= high; v++) {
      int n = snprintf(it->name + at, sizeof it->name - at, "%0*" PRId64, digits, v);
      rc = hosts_expand(it, at + (size_t)n, close + 1);
    }
    if (rc != SCR_SUCCESS || s == close) break;
  }
  return rc;
}

/* Append the hosts of TEXT, a compressed list, in its order and with its duplicates. */
SCR_FN int hosts_parse(hosts* h, const char* text)
{
  hosts_item it;
  int        rc = SCR_SUCCESS;

  for (it.into = h; *text != '\0' && rc == SCR_SUCCESS; text += it.n) {
    int depth = 0;
    while (*text == ',' || isspace((unsigned char)*text)) text++;
    it.item = text;
    for (it.n = 0; text[it.n] != '\0'; it.n++) {
      if (depth == 0 && (text[it.n] == ',' || isspace((unsigned char)text[it.n]))) break;
      depth += (text[it.n] == '[' && depth == 0) - (text[it.n] == ']' && depth == 1);
    }
    if (it.n > 0) rc = hosts_expand(&it, 0, text);
  }
  return rc;
}

/*
** Append the hosts of the file PATH, "-" for the input: the first word of each line up to a colon, each host once.  #
** begins a comment.  So do launchers and batch systems write them: `node1:4`, `node1 slots=4`, or node1 four times.
*/
SCR_FN int hosts_read_file(hosts* h, const char* path)
{
  FILE*     f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
  scr_hash* seen = scr_hash_new();
  char*     line = NULL;
  size_t    room = 0;
  int       i, rc = SCR_SUCCESS;

  if (f == NULL) rc = SCR_ERRNO("cannot open the file of hosts %s", path);
  for (i = 0; i < h->n; i++) scr_hash_set(seen, h->name[i], scr_hash_new());
  while (rc == SCR_SUCCESS && getline(&line, &room, f) >= 0) {
    char* word = line + strspn(line, " \t\r\n");
    word[strcspn(word, " \t\r\n:#")] = '\0';
    if (*word == '\0' || scr_hash_get(seen, word) != NULL) continue;
    scr_hash_set(seen, word, scr_hash_new());
    rc = hosts_parse(h, word);
  }
  if (rc == SCR_SUCCESS && ferror(f)) rc = SCR_ERRNO("cannot read the file of hosts %s", path);
  if (f != NULL && f != stdin) fclose(f);
  free(line);
  scr_hash_delete(&seen);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* ---- sets ---- */

/* Append to INTO the hosts of A that B has, or has not, as COMMON says: in the order of A, each host once. */
SCR_FN int hosts_select(hosts* into, const hosts* a, const hosts* b, int common)
{
  scr_hash* in_b = scr_hash_new();
  scr_hash* seen = scr_hash_new();
  int       i, rc = SCR_SUCCESS;

  for (i = 0; i < b->n; i++) scr_hash_set(in_b, b->name[i], scr_hash_new());
  for (i = 0; i < a->n && rc == SCR_SUCCESS; i++) {
    if ((scr_hash_get(in_b, a->name[i]) != NULL) != common || scr_hash_get(seen, a->name[i]) != NULL) continue;
    scr_hash_set(seen, a->name[i], scr_hash_new());
    rc = hosts_add(into, a->name[i]);
  }
  scr_hash_delete(&in_b);
  scr_hash_delete(&seen);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* ---- to text ---- */

/* The number at the end of NAME: where it begins, and its value.  Returns its digits; 0 if there is none. */
SCR_FN int hosts_tail(const char* name, int* at, int64_t* v)
{
  int         n = (int)strlen(name), digits = 0;
  const char* s;

  while (digits < n && digits < HOSTS_DIGITS && isdigit((unsigned char)name[n - digits - 1])) digits++;
  s = name + n - digits;
  *at = n - digits;
  hosts_number(&s, name + n, v);
  return digits;
}

/* The order of a compressed list: by what stands before the number at the end, by that number, by its digits. */
SCR_FN int hosts_compare(const void* pa, const void* pb)
{
  const char *a = *(char*const*)pa, *b = *(char*const*)pb;
  int         na, nb, i, da, db;
  int64_t     va, vb;

  da = hosts_tail(a, &na, &va);
  db = hosts_tail(b, &nb, &vb);
  i = strncmp(a, b, (size_t)(na < nb ? na : nb));
  if (i != 0 || na != nb) return i != 0 ? i : na < nb ? -1 : 1;
  if (va != vb) return va < vb ? -1 : 1;
  return da < db ? -1 : da > db;
}

/* Returns 1 if NEXT is what a range that begins with the host FIRST has after V; both have AT characters before it. */
SCR_FN int hosts_follows(const char* first, int at, int64_t v, const char* next)
{
  char number[HOSTS_DIGITS + 8];

  if (strncmp(first, next, (size_t)at) != 0) return 0;
  return snprintf(number, sizeof number, "%0*" PRId64, (int)strlen(first + at), v + 1) < (int)sizeof number &&
         strcmp(next + at, number) == 0;
}

/* Append to OUT the hosts NAME[0..n), sorted, whose names are equal in the first AT characters; a number follows. */
SCR_FN void hosts_compress_group(scr_buf* out, char** name, int n, int at)
{
  int     i, k, same;
  int64_t v;

  scr_buf_add(out, name[0], (size_t)at);
  if (n > 1) scr_buf_add(out, "[", 1);
  for (i = 0; i < n; i = k) {
    hosts_tail(name[i], &same, &v);
    for (k = i + 1; k < n && hosts_follows(name[i], at, v, name[k]); k++) v++;
    if (i > 0) scr_buf_add(out, ",", 1);
    scr_buf_add(out, name[i] + at, strlen(name[i] + at));
    if (k - i > 1) scr_buf_add(out, "-", 1);
    if (k - i > 1) scr_buf_add(out, name[k - 1] + at, strlen(name[k - 1] + at));
  }
  if (n > 1) scr_buf_add(out, "]", 1);
}

/*
** Set *TEXT, which the caller frees, to the compressed form of H, sorted, with its duplicates.  Only the number at the
** end of a name is put in brackets, because that is what every batch system understands.
*/
SCR_FN int hosts_compress(const hosts* h, char** text)
{
  scr_buf out;
  char**  name = (char**)scr_malloc(((size_t)h->n + 1) * sizeof *name);
  int     i, k, at, other;
  int64_t v;

  *text = NULL;
  if (name == NULL) return SCR_ERR_OOM();
  memset(&out, 0, sizeof out);
  for (i = 0; i < h->n; i++) name[i] = h->name[i];
  qsort(name, (size_t)h->n, sizeof *name, hosts_compare);
  for (i = 0; i < h->n; i = k) {
    int digits = hosts_tail(name[i], &at, &v);
    for (k = i + 1; k < h->n && digits > 0; k++)
      if (hosts_tail(name[k], &other, &v) == 0 || other != at || strncmp(name[i], name[k], (size_t)at) != 0) break;
    if (i > 0) scr_buf_add(&out, ",", 1);
    hosts_compress_group(&out, name + i, k - i, at);
  }
  scr_buf_add(&out, "", 1);
  scr_free(&name);
  if (out.failed) scr_buf_free(&out);
  *text = out.p;
  return *text != NULL ? SCR_SUCCESS : SCR_ERR_OOM();
}

/* Print H: as a compressed list, or as a JSON list of names. */
SCR_FN int hosts_print(const hosts* h, int json)
{
  char* text = NULL;
  int   i, rc = SCR_SUCCESS;

  if (json) {
    for (i = 0; i < h->n; i++) {
      printf(i > 0 ? ", " : "[");
      tool_print_json(h->name[i]);
    }
    printf(h->n > 0 ? "]\n" : "[]\n");
    return SCR_SUCCESS;
  }
  if ((rc = hosts_compress(h, &text)) == SCR_SUCCESS) tool_print_line(text);
  scr_free(&text);
  return rc;
}

#endif
