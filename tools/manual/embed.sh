#!/bin/sh
# embed.sh FILE... - print the files as tables of C, a string for each line, and the table manual_chapters of all, in this
# order: the program scr contains its manual.
n=0
names=
for file; do
  n=$((n + 1))
  name=$(basename "$file" .md)
  names="$names $name"
  printf 'static const char* const manual_text_%d[] = {\n' $n
  tr '\000' ' ' <"$file" | sed 's/[\\"]/\\&/g; s/.*/  "&",/' || exit
  echo '  NULL};'
done
n=0
echo 'static const manual_chapter manual_chapters[] = {'
for name in $names; do
  n=$((n + 1))
  printf '  {"%s", manual_text_%d},\n' "$name" $n
done
echo '  {NULL, NULL}};'
