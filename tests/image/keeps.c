/* keeps.c - a shared library that remembers: a variable, a thread-local one, and a list on the heap. */
#include <stdlib.h>

typedef struct item {
  struct item* next;
  int          value;
} item;

int keeps(int value);

static item*        list;
static int          calls = 3;
static __thread int last = 1;

int keeps(int value)
{
  item *i = malloc(sizeof *i), *j;
  int   sum = 0;

  i->next = list, i->value = value;
  list = i;
  for (j = list; j != NULL; j = j->next) sum = (sum * 3 + j->value) % 1000;
  sum += ++calls + last;
  last = value;
  return sum;
}
