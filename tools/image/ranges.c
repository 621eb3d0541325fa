/* ==== RANGES ============================================================================================
** The objects of the process and their sides; the functions of the slots; what of the objects is saved; the identity.
**
** Uses       start.c (img_say), table.c (img_allowed)
** Offers     img_ranges_start, img_ranges_off, img_on, img_is_saved_text, img_ranges_refuse, img_native_symbol,
**            img_any_symbol, img_ranges_saved, img_ranges_objects.
** Invariants
**   R1  What runs before the slots have their functions calls nothing outside this file: the first malloc may be the
**       dynamic linker's.
**   R2  Every import of a saved object that a native object serves is in the table of table.c; others are refused, at
**       the start or, where a library of the program has them, by a stub when it calls them.
**   R3  Imports lead to their stubs before the first constructor runs.
** Failure    img_ranges_refuse returns the message.
** ====================================================================================================== */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "table.h"

/* An object of the link map. */
typedef struct {
  struct link_map*  map;
  const char*       name; /* without directories */
  const Elf64_Phdr* phdr;
  int               phdrs;
  int               native;
  int               of_mpi; /* MPI's own, or what MPI needs */
  int               chosen; /* native because the user says so */
  const Elf64_Sym*  symbols;
  const char*       strings;
  const Elf64_Half* versions;
  const uint32_t*   hash;
  const Elf64_Rela *rela, *plt_rela;
  size_t            relas, plt_relas;
  uint64_t          plt, plt_size; /* the linker's part of .got.plt */
  const Elf64_Dyn*  dynamic;
} part;

/* A slot: the name of a function, and where it is. */
typedef struct {
  const char* name;
  void*       function;
} slot;

/* Where an import NAME of a saved object leads. */
typedef struct {
  const char* name;
  uint64_t    target;
  uint64_t    kind;
} stub;

enum { STUB_OURS, STUB_MPI, STUB_LATE }; /* to a function of this object, to an error, to a note */

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden"))); /* of the executable */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern slot           scr_native_slots[]; /* native.S; the last has no name */
extern const stub     img_stubs[];        /* the same, sorted by their names */
extern const uint64_t img_stub_count;
extern char   __start_scr_native_data[], __stop_scr_native_data[], __start_scr_native_bss[], __stop_scr_native_bss[];
extern FILE*  scr_native_stderr;  /* native.S: libc's stream and environment as they are at the start, so that the */
extern char** scr_native_environ; /* program's own use of these variables can be told from ours */

extern __thread char img_tls_last[64];
extern char          img_program_init[] __attribute__((weak)); /* SCR_Init of the program (object.sh) */

int                img_on, img_openmp;
unsigned           img_keys[IMG_KEYS];
__thread char      img_tls_first[64] __attribute__((aligned(64))); /* the first native one: the order of linking */
static part        parts[IMG_OBJECTS];
static int         part_count;
static int         started; /* 1 the table is being filled, 2 it is there */
static uint64_t    text[2 * IMG_OBJECTS][2];
static int         texts;
static const char* missing; /* a slot without a function */
/* Libraries whose side the user chooses: names, parted by colons, commas or spaces, with or without `.so` and more. */
static const char *saved_libs, *native_libs;

/* ---- the table of objects (R1) ---- */

static int same(const char* a, const char* b)
{
  while (*a != '\0' && *a == *b) a++, b++;
  return *a == *b;
}

static int begins(const char* a, const char* head)
{
  while (*head != '\0' && *a == *head) a++, head++;
  return *head == '\0';
}

static const char* base_name(const char* path)
{
  const char* name = path;

  for (; *path != '\0'; path++)
    if (*path == '/') name = path + 1;
  return name;
}

/* Fill P from the dynamic section of its object. */
static void part_dynamic(part* p)
{
  const Elf64_Dyn* d;
  const char*      soname = NULL;
  uint64_t         name = 0;

  for (d = p->map->l_ld; d->d_tag != DT_NULL; d++) {
    uint64_t at = d->d_un.d_ptr < p->map->l_addr ? d->d_un.d_ptr + p->map->l_addr : d->d_un.d_ptr;

    switch (d->d_tag) {
    case DT_SYMTAB:
      p->symbols = (const Elf64_Sym*)at;
      break;
    case DT_STRTAB:
      p->strings = (const char*)at;
      break;
    case DT_VERSYM:
      p->versions = (const Elf64_Half*)at;
      break;
    case DT_GNU_HASH:
      p->hash = (const uint32_t*)at;
      break;
    case DT_RELA:
      p->rela = (const Elf64_Rela*)at;
      break;
    case DT_RELASZ:
      p->relas = d->d_un.d_val / sizeof(Elf64_Rela);
      break;
    case DT_PLTGOT:
      p->plt = at;
      break;
    case DT_PLTRELSZ:
      p->plt_size = d->d_un.d_val;
      p->plt_relas = d->d_un.d_val / sizeof(Elf64_Rela);
      break;
    case DT_JMPREL:
      p->plt_rela = (const Elf64_Rela*)at;
      break;
    case DT_SONAME:
      name = d->d_un.d_val;
      break;
    default:
      break;
    }
  }
  p->plt_size = p->plt != 0 ? 24 + p->plt_size / 3 : 0; /* three words, and eight bytes for each of 24 */
  if (name != 0) soname = p->strings + name;
  p->name = base_name(soname != NULL ? soname : p->map->l_name);
}

/* Add the object of MAP to the table; MAIN: it is the executable. */
static void part_add(struct link_map* map, int main)
{
  const Elf64_Ehdr* head = main ? &__ehdr_start : (const Elf64_Ehdr*)map->l_addr;
  part*             p = &parts[part_count];

  if (!main && (map->l_addr == 0 || *map->l_name == '\0' || begins(map->l_name, "linux-vdso"))) return;
  if (part_count == IMG_OBJECTS) return;
  p->map = map;
  p->dynamic = map->l_ld;
  p->phdr = (const Elf64_Phdr*)((const char*)head + head->e_phoff);
  p->phdrs = head->e_phnum;
  part_dynamic(p);
  part_count++;
}

/* The definition of NAME in P that a program would get now or, with OLD, that one of an earlier time got; or NULL. */
static const Elf64_Sym* part_find_any(const part* p, const char* name, int old)
{
  uint32_t        h = 5381, i, buckets, bias, blooms;
  const uint32_t *bucket, *chain;
  const char*     c;

  if (p->hash == NULL) return NULL;
  for (c = name; *c != '\0'; c++) h = h * 33 + (unsigned char)*c;
  buckets = p->hash[0], bias = p->hash[1], blooms = p->hash[2];
  bucket = p->hash + 4 + 2 * (size_t)blooms;
  chain = bucket + buckets;
  if (buckets == 0 || (i = bucket[h % buckets]) < bias) return NULL;
  for (;; i++) {
    const Elf64_Sym* s = &p->symbols[i];

    if ((chain[i - bias] | 1) == (h | 1) && s->st_shndx != SHN_UNDEF && same(p->strings + s->st_name, name) &&
        (old || p->versions == NULL || (p->versions[i] & 0x8000) == 0))
      return s;
    if (chain[i - bias] & 1) return NULL;
  }
}

static const Elf64_Sym* part_find(const part* p, const char* name)
{
  return part_find_any(p, name, 0);
}

/* The address that S of P stands for: an indirect function is resolved. */
static void* part_address(const part* p, const Elf64_Sym* s)
{
  union {
    uint64_t value;
    void*    address;
    void* (*resolve)(void);
  } u;

  u.value = p->map->l_addr + s->st_value;
  return ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC ? u.resolve() : u.address;
}

void* img_native_symbol(const char* name)
{
  int i;

  for (i = 0; i < part_count; i++) {
    const Elf64_Sym* s = parts[i].native ? part_find(&parts[i], name) : NULL;

    if (s != NULL) return part_address(&parts[i], s);
  }
  return NULL;
}

void* img_any_symbol(const char* name)
{
  int i;

  for (i = 0; i < part_count; i++) {
    const Elf64_Sym* s = part_find(&parts[i], name);

    if (s != NULL) return part_address(&parts[i], s);
  }
  return NULL;
}

/* ---- the two sides (R1) ---- */

/* Libc and what belongs to it, and runtimes that have threads or records of their own. */
static int is_system(const char* name)
{
  static const char* const heads[] = {"ld-linux", "libc.so",  "libm.so",       "libmvec.so", "libgcc_s.so",
                                      "libdl.so", "librt.so", "libpthread.so", "libgomp.so"};
  size_t                   i;

  for (i = 0; i < sizeof heads / sizeof *heads; i++)
    if (begins(name, heads[i])) return 1;
  return 0;
}

static part* part_named(const char* name)
{
  int i;

  for (i = 0; i < part_count; i++)
    if (same(parts[i].name, name)) return &parts[i];
  return NULL;
}

/* The next name in *LIST, of *N bytes; NULL if there is none. */
static const char* next_name(const char** list, size_t* n)
{
  const char* at = *list;

  while (at != NULL && (*at == ':' || *at == ',' || *at == ' ')) at++;
  if (at == NULL || *at == '\0') return NULL;
  for (*n = 0; at[*n] != '\0' && at[*n] != ':' && at[*n] != ',' && at[*n] != ' '; ++*n) {
  }
  *list = at + *n;
  return at;
}

/* 1 if NAME, of N bytes, is that of P. */
static int is_name_of(const char* name, size_t n, const part* p)
{
  size_t i;

  for (i = 0; i < n; i++)
    if (p->name[i] == '\0' || p->name[i] != name[i]) return 0;
  return p->name[n] == '\0' || p->name[n] == '.';
}

static int is_listed(const char* list, const part* p)
{
  const char* name;
  size_t      n;

  while ((name = next_name(&list, &n)) != NULL)
    if (is_name_of(name, n, p)) return 1;
  return 0;
}

/* Native: libc, what the user has chosen, the object that defines PMPI_Init, and all that this needs, but for what is
   saved because the user says so, or because MPI uses it within a call alone. */
static void find_sides(void)
{
  const Elf64_Dyn* d;
  int              i, more = 1;

  for (i = 1; i < part_count; i++) {
    parts[i].of_mpi = part_find(&parts[i], "PMPI_Init") != NULL;
    parts[i].chosen = is_listed(native_libs, &parts[i]);
    parts[i].native = parts[i].of_mpi || parts[i].chosen || is_system(parts[i].name);
    if (begins(parts[i].name, "libgomp.so")) img_openmp = 1;
  }
  while (more) {
    more = 0;
    for (i = 1; i < part_count; i++)
      for (d = parts[i].dynamic; parts[i].of_mpi && d->d_tag != DT_NULL; d++) {
        part* needed = d->d_tag == DT_NEEDED ? part_named(parts[i].strings + d->d_un.d_val) : NULL;

        if (needed == NULL || needed->of_mpi || is_system(needed->name) || is_listed(saved_libs, needed)) continue;
        if (begins(needed->name, "libz.so") && !needed->chosen) continue;
        needed->native = needed->of_mpi = more = 1;
      }
  }
}

static void find_texts(void)
{
  int i, j;

  texts = 0;
  for (i = 0; i < part_count; i++)
    for (j = 0; j < parts[i].phdrs && !parts[i].native; j++) {
      const Elf64_Phdr* h = &parts[i].phdr[j];

      if (h->p_type != PT_LOAD || (h->p_flags & PF_X) == 0 || texts == 2 * IMG_OBJECTS) continue;
      text[texts][0] = parts[i].map->l_addr + h->p_vaddr;
      text[texts++][1] = parts[i].map->l_addr + h->p_vaddr + h->p_memsz;
    }
}

/* The functions of the slots: those of MPI by their second names. */
static void find_slots(void)
{
  char    name[80];
  size_t  i, n;
  slot*   s;
  FILE**  stream;
  char*** strings;

  for (s = scr_native_slots; s->name != NULL; s++) {
    n = begins(s->name, "MPI_");
    if (n) name[0] = 'P';
    for (i = 0; s->name[i] != '\0' && i + 2 < sizeof name; i++) name[n + i] = s->name[i];
    name[n + i] = '\0';
    s->function = img_native_symbol(name);
    if (s->function == NULL) missing = s->name;
  }
  stream = (FILE**)img_native_symbol("stderr");
  if (stream != NULL) scr_native_stderr = *stream;
  strings = (char***)img_native_symbol("__environ");
  if (strings != NULL) scr_native_environ = *strings;
}

void img_ranges_start(void)
{
  struct link_map* map = NULL;
  const Elf64_Dyn* d;

  if (started != 0) return;
  started = 1;
  for (d = _DYNAMIC; d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_DEBUG && d->d_un.d_ptr != 0) map = ((struct r_debug*)d->d_un.d_ptr)->r_map;
  if (map != NULL) part_add(map, 1);
  for (map = map != NULL ? map->l_next : NULL; map != NULL; map = map->l_next) part_add(map, 0);
  find_sides();
  find_texts();
  find_slots();
  img_on = img_any_symbol("__asan_init") == NULL; /* it has keys and memory already; img_ranges_refuse says so */
  started = 2;
}

void img_ranges_off(void)
{
  img_on = 0;
}

int img_is_saved_text(const void* address)
{
  uint64_t a = (uint64_t)address;
  int      i;

  if (started == 0) img_ranges_start();
  if (!img_on) return 0;
  for (i = 0; i < texts; i++)
    if (a - text[i][0] < text[i][1] - text[i][0]) return 1;
  return 0;
}

/* ---- stubs (R3) ---- */

/* The stub of NAME for P, or NULL: what does not work of MPI has one only for libraries; the program itself is refused,
   but where nobody writes the name, but a library that is linked statically. */
static const stub* stub_for(const part* p, const char* name)
{
  size_t low = 0, high = img_stub_count;

  while (low < high) {
    size_t i = (low + high) / 2;
    int    d = strcmp(name, img_stubs[i].name);

    if (d == 0) return img_stubs[i].kind != STUB_MPI || p != parts || begins(name, "__") ? &img_stubs[i] : NULL;
    if (d < 0) high = i;
    else low = i + 1;
  }
  return NULL;
}

/* Write the addresses of stubs to the places of the COUNT relocations of P. */
static void direct(const part* p, const Elf64_Rela* rela, size_t count)
{
  size_t i;

  for (i = 0; i < count; i++) {
    const Elf64_Sym* s = &p->symbols[ELF64_R_SYM(rela[i].r_info)];
    uint64_t*        place = (uint64_t*)(p->map->l_addr + rela[i].r_offset);
    const stub*      to;

    if (s->st_name == 0 || s->st_shndx != SHN_UNDEF) continue;
    switch (ELF64_R_TYPE(rela[i].r_info)) {
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_64:
      to = stub_for(p, p->strings + s->st_name);
      if (to != NULL) *place = to->target;
      break;
    default:
      break;
    }
  }
}

/* Let what the linker has made read-only of P be written, or read only again. */
static void unprotect(const part* p, int access)
{
  int j;

  for (j = 0; j < p->phdrs; j++)
    if (p->phdr[j].p_type == PT_GNU_RELRO) {
      uint64_t from = (p->map->l_addr + p->phdr[j].p_vaddr) & ~(IMG_PAGE - 1);
      uint64_t to = (p->map->l_addr + p->phdr[j].p_vaddr + p->phdr[j].p_memsz) & ~(IMG_PAGE - 1);

      if (from < to && mprotect((void*)from, to - from, access) != 0)
        img_die("cannot protect the memory of %s: %s", p->name, strerror(errno));
    }
}

/* Before all constructors, also those of libraries.  The environment is not yet there for getenv(). */
static void img_direct_imports(int argc, char** argv, char** envp)
{
  int i;

  (void)argc;
  (void)argv;
  img_ranges_start();
  for (; *envp != NULL; envp++) {
    if (same(*envp, "SCR_IMAGE=0") || same(*envp, "SCR_ENABLE=0")) img_ranges_off();
    if (begins(*envp, "SCR_IMAGE_SAVED_LIBS=")) saved_libs = *envp + strlen("SCR_IMAGE_SAVED_LIBS=");
    if (begins(*envp, "SCR_IMAGE_NATIVE_LIBS=")) native_libs = *envp + strlen("SCR_IMAGE_NATIVE_LIBS=");
  }
  if (!img_on) return;
  find_sides(); /* as the user has chosen: until now only the dynamic linker has called */
  find_texts();
  for (i = 0; i < IMG_KEYS; i++)
    if (pthread_key_create(&img_keys[i], NULL) != 0) img_die("cannot make keys for threads");
  img_streams_start();
  for (i = 0; i < part_count; i++) {
    if (parts[i].native) continue;
    unprotect(&parts[i], PROT_READ | PROT_WRITE);
    direct(&parts[i], parts[i].rela, parts[i].relas);
    direct(&parts[i], parts[i].plt_rela, parts[i].plt_relas);
    unprotect(&parts[i], PROT_READ);
  }
}

__attribute__((section(".preinit_array"), used)) static void (*const img_first)(int, char**,
                                                                                char**) = img_direct_imports;

/* ---- what is saved ---- */

/* Cut [FROM, TO) out of the COUNT ranges.  Returns their new number. */
static int cut(img_range* ranges, int count, uint64_t from, uint64_t to)
{
  int i, n = count;

  for (i = 0; i < count && from < to; i++) {
    img_range* r = &ranges[i];
    uint64_t   end = r->address + r->length;

    if (to <= r->address || from >= end) continue;
    if (to < end && n < IMG_RANGES) ranges[n++] = (img_range){to, end - to, r->kind, 0, 0};
    if (from > r->address) r->length = from - r->address;
    else r->length = 0;
  }
  return n;
}

/* Cut out what the dynamic linker has written into P: its tables, and copies of what a native object defines. */
static int cut_linker(const part* p, img_range* ranges, int n)
{
  uint64_t base = p->map->l_addr;
  size_t   i;
  int      j;

  for (j = 0; j < p->phdrs; j++)
    if (p->phdr[j].p_type == PT_GNU_RELRO)
      n = cut(ranges, n, (base + p->phdr[j].p_vaddr) & ~(IMG_PAGE - 1),
              (base + p->phdr[j].p_vaddr + p->phdr[j].p_memsz) & ~(IMG_PAGE - 1));
  n = cut(ranges, n, p->plt, p->plt + p->plt_size);
  for (i = 0; i < p->relas; i++) {
    const Elf64_Sym* s = &p->symbols[ELF64_R_SYM(p->rela[i].r_info)];
    const char*      name = p->strings + s->st_name;

    if (ELF64_R_TYPE(p->rela[i].r_info) == R_X86_64_COPY && img_native_symbol(name) != NULL)
      n = cut(ranges, n, base + p->rela[i].r_offset, base + p->rela[i].r_offset + s->st_size);
  }
  return n;
}

/* What img_tls_ranges hands to the callback. */
typedef struct {
  img_range* ranges;
  int        count;
  int        lost; /* saved objects whose TLS this thread does not have yet */
} tls_walk;

/* Of dl_iterate_phdr: the TLS of the main thread, of saved objects. */
static int tls_of(struct dl_phdr_info* info, size_t size, void* arg)
{
  tls_walk* w = arg;
  int       i, j, saved = 0;

  (void)size;
  for (i = 0; i < part_count; i++)
    if (parts[i].phdr == info->dlpi_phdr) saved = !parts[i].native;
  for (j = 0; j < info->dlpi_phnum && saved; j++)
    if (info->dlpi_phdr[j].p_type == PT_TLS && info->dlpi_tls_data == NULL) w->lost++;
    else if (info->dlpi_phdr[j].p_type == PT_TLS && w->count < IMG_RANGES)
      w->ranges[w->count++] = (img_range){(uint64_t)info->dlpi_tls_data, info->dlpi_phdr[j].p_memsz, IMG_TLS, 0, 0};
  return 0;
}

static int by_address(const void* a, const void* b)
{
  const img_range *x = a, *y = b;

  return (x->address > y->address) - (x->address < y->address);
}

int img_ranges_saved(img_range* ranges)
{
  tls_walk w;
  int      i, j, n = 0, kept = 0;

  for (i = 0; i < part_count; i++)
    for (j = 0; j < parts[i].phdrs && !parts[i].native; j++)
      if (parts[i].phdr[j].p_type == PT_LOAD && (parts[i].phdr[j].p_flags & PF_W) && n < IMG_RANGES)
        ranges[n++] =
            (img_range){parts[i].map->l_addr + parts[i].phdr[j].p_vaddr, parts[i].phdr[j].p_memsz, IMG_DATA, 0, 0};
  for (i = 0; i < part_count; i++)
    if (!parts[i].native) n = cut_linker(&parts[i], ranges, n);
  n = cut(ranges, n, (uint64_t)__start_scr_native_data, (uint64_t)__stop_scr_native_data);
  n = cut(ranges, n, (uint64_t)__start_scr_native_bss, (uint64_t)__stop_scr_native_bss);
  w.ranges = ranges, w.count = n, w.lost = 0;
  dl_iterate_phdr(tls_of, &w);
  if (w.lost > 0 || w.count == IMG_RANGES) return -1;
  n = cut(ranges, w.count, (uint64_t)img_tls_first, (uint64_t)img_tls_last + sizeof img_tls_last);
  if (n > IMG_RANGES - 2 - IMG_MAPS) return -1; /* heap, stack and mappings follow */
  for (i = 0; i < n; i++)
    if (ranges[i].length != 0) ranges[kept++] = ranges[i];
  qsort(ranges, (size_t)kept, sizeof *ranges, by_address);
  return kept;
}

/* ---- what is refused at the start (R2) ---- */

/* The number of symbols of P: the last one of the last chain. */
static uint32_t part_symbols(const part* p)
{
  uint32_t        i, last = 0;
  const uint32_t *bucket, *chain;

  if (p->hash == NULL) return 0;
  bucket = p->hash + 4 + 2 * (size_t)p->hash[2];
  chain = bucket + p->hash[0];
  for (i = 0; i < p->hash[0]; i++)
    if (bucket[i] > last) last = bucket[i];
  if (last < p->hash[1]) return p->hash[1];
  while ((chain[last - p->hash[1]] & 1) == 0) last++;
  return last + 1;
}

/* The object that serves the import NAME, first a saved one: the executable comes first in each search. */
static const part* provider(const char* name)
{
  int native, i;

  for (native = 0; native < 2; native++)
    for (i = 0; i < part_count; i++)
      if (parts[i].native == native && part_find_any(&parts[i], name, 1) != NULL) return &parts[i];
  return NULL;
}

/* 1 if the function NAME of OpenMP leaves nothing in its library but what threads.c sets again. */
static int is_allowed_openmp(const char* name)
{
  static const char* const heads[] = {"GOMP_target",     "GOACC",       "acc_",     "omp_target",  "omp_alloc",
                                      "omp_calloc",      "omp_realloc", "omp_free", "omp_aligned", "omp_init_alloc",
                                      "omp_set_default_"};
  size_t                   i;

  for (i = 0; i < sizeof heads / sizeof *heads; i++)
    if (begins(name, heads[i])) return 0;
  return 1;
}

/* 1 if P may import NAME, which the native object FROM serves (R2). */
static int is_allowed(const part* p, const part* from, const char* name)
{
  if (stub_for(p, name) != NULL || from->chosen) return 1;
  if (p != parts && (same(name, "environ") || same(name, "__environ"))) return 1; /* data */
  if (begins(from->name, "libm.so")) return p != parts || !same(name, "signgam"); /* libraries only set it */
  if (begins(from->name, "libgomp.so")) return is_allowed_openmp(name);
  if (begins(from->name, "libgcc_s.so")) return !begins(name, "__register_") && !begins(name, "__emutls_");
  return img_allowed(begins(name, "PMPI_") ? name + 1 : name);
}

/* The function of MPI behind the Fortran NAME, mpi_x_, if it does not work; else NULL. */
static const char* refused_fortran(const char* name)
{
  static const char* const kept[] = {"MPI_Comm_create_keyval", "MPI_Keyval_create"}; /* the binding keeps them itself */
  size_t                   n = strlen(name), i;

  if (strncasecmp(name, "mpi_", 4) != 0 && strncasecmp(name, "pmpi_", 5) != 0) return NULL;
  if (*name == 'p') name++, n--;
  while (n > 0 && name[n - 1] == '_') n--;
  if (n > 4 && strncmp(name + n - 4, "_f08", 4) == 0) n -= 4;
  for (i = 0; i < sizeof kept / sizeof *kept; i++)
    if (name[n] == '_' && strlen(kept[i]) == n && strncasecmp(kept[i], name, n) == 0) return kept[i];
  for (i = 0; i < img_stub_count; i++)
    if (img_stubs[i].kind == STUB_MPI && strlen(img_stubs[i].name) == n && strncasecmp(img_stubs[i].name, name, n) == 0)
      return img_stubs[i].name;
  return NULL;
}

/* An import of P that a native object serves and that the table does not have, or NULL. */
static const char* unknown_import(const part* p)
{
  uint32_t i, n = part_symbols(p);

  for (i = 1; i < n; i++) {
    const char* name = p->strings + p->symbols[i].st_name;
    const char* refused = p == parts ? refused_fortran(name) : NULL;
    const part* from;

    if (refused != NULL) return refused;
    if (p->symbols[i].st_shndx != SHN_UNDEF || *name == '\0') continue;
    from = provider(name);
    if (from != NULL && from->native && !is_allowed(p, from, name)) return name;
  }
  return NULL;
}

/* What keeps P from being saved, in WHY (of 400 bytes).  Returns 1 if there is something. */
static int part_refuse(const part* p, char* why)
{
  const Elf64_Dyn* d;
  const char*      name = unknown_import(p);
  const char*      whose = p == parts ? "the program" : p->name;

  if (p->hash == NULL) return snprintf(why, 400, "%s has no GNU hash table; link it with --hash-style=gnu", whose);
  for (d = p->dynamic; d->d_tag != DT_NULL; d++) {
    const part* needed = d->d_tag == DT_NEEDED ? part_named(p->strings + d->d_un.d_val) : NULL;

    if (needed == NULL || !needed->of_mpi || needed->chosen || part_find(needed, "PMPI_Init") != NULL) continue;
    return snprintf(why, 400, "%s is used by %s and by MPI: name it in SCR_IMAGE_SAVED_LIBS or SCR_IMAGE_NATIVE_LIBS",
                    needed->name, whose);
  }
  if (name == NULL) return 0;
  return snprintf(why, 400, "%s uses %s, which images do not support yet; SCR_IMAGE=0 runs without images", whose,
                  name);
}

/* 1 if P has thread-local variables, which an image does not have of the threads of OpenMP.  libstdc++ uses its own
   only while an exception is handled. */
static int has_thread_locals(const part* p)
{
  uint64_t ours = p == parts ? (uint64_t)img_tls_last + sizeof img_tls_last - (uint64_t)img_tls_first : 0;
  int      j;

  for (j = 0; j < p->phdrs; j++)
    if (p->phdr[j].p_type == PT_TLS && p->phdr[j].p_memsz > ours) return !begins(p->name, "libstdc++.so");
  return 0;
}

/* 1 if the program needs a stack whose data can be executed. */
static int needs_executable_stack(void)
{
  int j;

  for (j = 0; j < parts[0].phdrs; j++)
    if (parts[0].phdr[j].p_type == PT_GNU_STACK) return (parts[0].phdr[j].p_flags & PF_X) != 0;
  return 1;
}

/* What is wrong with the names in LIST, the value of PARAMETER, in WHY (of 400 bytes).  Returns 1 if something is. */
static int list_refuse(const char* list, const char* parameter, int saved, char* why)
{
  const char* name;
  size_t      n;
  int         i;

  while ((name = next_name(&list, &n)) != NULL) {
    for (i = 1; i < part_count && !is_name_of(name, n, &parts[i]); i++) {
    }
    if (i == part_count)
      return snprintf(why, 400, "%s names %.*s, which is no library of the program", parameter, (int)n, name);
    if (saved && parts[i].native)
      return snprintf(why, 400, "%s names %s, which is always native, or named in SCR_IMAGE_NATIVE_LIBS", parameter,
                      parts[i].name);
  }
  return 0;
}

const char* img_ranges_refuse(void)
{
  static char      why[400];
  static img_range ranges[IMG_RANGES];
  int              i, mpi = 0;

  for (i = 0; i < part_count; i++) mpi += parts[i].of_mpi;
  if (img_any_symbol("__asan_init") != NULL) return "the program uses AddressSanitizer; build it without it";
  if (img_program_init != NULL) return "the program writes checkpoints itself; link it without scr_image.o";
  if (mpi == 0) return "the program is linked statically with MPI; use shared libraries";
  if (needs_executable_stack()) return "the program needs an executable stack (nested functions, or -z execstack)";
  if (part_count == IMG_OBJECTS) return "the program has more than 127 shared libraries";
  if (missing != NULL) {
    snprintf(why, sizeof why, "libc and MPI have no function %s", missing);
    return why;
  }
  if (list_refuse(saved_libs, "SCR_IMAGE_SAVED_LIBS", 1, why)) return why;
  if (list_refuse(native_libs, "SCR_IMAGE_NATIVE_LIBS", 0, why)) return why;
  for (i = 0; i < part_count; i++)
    if (!parts[i].native && part_refuse(&parts[i], why)) return why;
  for (i = 0; i < part_count && img_openmp; i++) {
    if (parts[i].native || !has_thread_locals(&parts[i])) continue;
    snprintf(why, sizeof why, "%s has thread-local (threadprivate) variables, and OpenMP's threads are not in an image",
             i == 0 ? "the program" : parts[i].name);
    return why;
  }
  if (img_ranges_saved(ranges) < 0) return "not all variables of the program's libraries can be found";
  return NULL;
}

/* ---- the identity ---- */

/* The CRC32 of the file PATH. */
static uint32_t file_crc(const char* path)
{
  static char buf[1 << 16];
  uint32_t    crc = 0;
  ssize_t     n;
  int         fd = open(path, O_RDONLY | O_CLOEXEC);

  if (fd < 0) img_die("cannot read %s: %s", path, strerror(errno));
  while ((n = read(fd, buf, sizeof buf)) > 0) crc = img_crc(crc, buf, (size_t)n);
  close(fd);
  if (n < 0) img_die("cannot read %s: %s", path, strerror(errno));
  return crc;
}

/* The build id of P in digits; else the CRC32 of its file. */
static void part_id(const part* p, char* id, size_t size)
{
  size_t at, k;
  int    j;

  for (j = 0; j < p->phdrs; j++) {
    const char* note = (const char*)(p->map->l_addr + p->phdr[j].p_vaddr);

    for (at = 0; p->phdr[j].p_type == PT_NOTE && at + sizeof(Elf64_Nhdr) < p->phdr[j].p_memsz;) {
      const Elf64_Nhdr* n = (const Elf64_Nhdr*)(note + at);
      size_t            name = (n->n_namesz + 3u) & ~3u, text_size = (n->n_descsz + 3u) & ~3u;

      if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(n + 1, "GNU", 4) == 0) {
        for (k = 0; k < n->n_descsz && 2 * k + 3 < size; k++)
          snprintf(id + 2 * k, 3, "%02x", (unsigned char)((const char*)(n + 1))[name + k]);
        return;
      }
      at += sizeof *n + name + text_size;
    }
  }
  snprintf(id, size, "crc32-%08x", file_crc(p == parts ? "/proc/self/exe" : p->map->l_name));
}

/* The path of P; empty where it is longer. */
static void part_path(const part* p, char* path, size_t size)
{
  ssize_t n = p == parts ? readlink("/proc/self/exe", path, size) : snprintf(path, size, "%s", p->map->l_name);

  path[n < 0 || (size_t)n >= size ? 0 : n] = '\0';
}

int img_ranges_objects(img_object* objects)
{
  int i, n = 0;

  memset(objects, 0, IMG_OBJECTS * sizeof *objects);
  for (i = 0; i < part_count; i++) {
    if (parts[i].of_mpi && !parts[i].chosen && part_find(&parts[i], "PMPI_Init") == NULL) continue; /* MPI's own */
    objects[n].address = parts[i].map->l_addr;
    objects[n].native = (uint32_t)parts[i].native;
    part_path(&parts[i], objects[n].path, sizeof objects[n].path);
    snprintf(objects[n].name, sizeof objects[n].name, "%s", i == 0 ? "the program" : parts[i].name);
    part_id(&parts[i], objects[n].id, sizeof objects[n].id);
    n++;
  }
  return n;
}
