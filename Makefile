# GNU Make; no configure step.  `make help` lists the targets.
#
#   CC, MPICC, MPICXX, MPIEXEC, CFLAGS, PREFIX, DESTDIR may be set on the command line.
#   CI=1 makes warnings errors and a skipped test a failure.

SHELL   = /bin/sh
CC      ?= cc
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
WARN    = -Wall -Wextra -Wshadow -Wc++-compat -Wstrict-prototypes -Wmissing-prototypes $(if $(filter 1,$(CI)),-Werror)

# Looked up when a recipe runs: `make setup ...` may install them first.  Some systems keep MPICH out of PATH.
find_mpi = $$(command -v $(1).mpich || command -v $(1) || \
  ls /usr/lib*/mpich/bin/$(1) /usr/lib*/mpi/gcc/mpich/bin/$(1) 2>/dev/null | head -n 1 | grep . || echo $(1))
MPICC   ?= $(call find_mpi,mpicc)
MPIEXEC ?= $(call find_mpi,mpiexec)
RUN_ENV  = CC="$(CC)" MPICC="$(MPICC)" MPIEXEC="$(MPIEXEC)" BIN="$(CURDIR)/tools" CI="$(CI)"

TOOLS    = $(patsubst %.c,%,$(wildcard tools/*.c))
LINKS    = tools/scr_rebuild_xor
EXAMPLES = $(patsubst %.c,%,$(wildcard examples/*.c))
LIBS     = -lz -lpthread

.DEFAULT_GOAL := all
.PHONY: all setup demo check check-long lint sanitize bench install clean help

# A goal that is built waits for setup, when both are asked for; and setup knows what for.
ifneq (,$(filter setup,$(MAKECMDGOALS)))
libscr.a scr_impl.o $(TOOLS) $(EXAMPLES) tests/unit/unit: | setup
check check-long demo lint sanitize bench: | setup
endif

all: libscr.a $(TOOLS) $(LINKS) $(EXAMPLES) ## libscr.a, the commands in tools/, the examples

setup: ## install what is missing: an MPI, zlib, a compiler; with `check`, `lint` also what these need
	@CC="$(CC)" sh tests/setup.sh $(filter-out setup,$(MAKECMDGOALS))

scr_impl.o: scr_impl.c scr.h
	$(MPICC) $(CFLAGS) $(WARN) -I. -c -o $@ scr_impl.c

libscr.a: scr_impl.o
	rm -f $@
	$(AR) rcs $@ scr_impl.o

$(TOOLS): %: %.c scr_impl.c scr.h $(wildcard tools/*.h)
	$(CC) $(CFLAGS) $(WARN) -I. -o $@ $< -lz

tools/scr_rebuild_xor: tools/scr_rebuild # one program: its name is the form of its command line
	ln -sf scr_rebuild $@

$(EXAMPLES): %: %.c libscr.a scr.h
	$(MPICC) $(CFLAGS) $(WARN) -I. -o $@ $< libscr.a $(LIBS)

tests/unit/unit: $(wildcard tests/unit/*.c tests/unit/*.h) scr_impl.c scr.h
	$(CC) $(CFLAGS) $(WARN) -I. -o $@ tests/unit/unit.c $(LIBS)

demo: all ## a solver is killed, loses a node, rebuilds, and ends with the same answer
	@MPIEXEC="$(MPIEXEC)" sh examples/demo.sh

check: all tests/unit/unit ## all tests
	@$(RUN_ENV) bash tests/run.sh check

check-long: all tests/unit/unit ## the long loops
	@$(RUN_ENV) bash tests/run.sh long

lint: ## the rules of the one file, warnings, formatting, static checks
	@$(RUN_ENV) bash tests/lint.sh

sanitize: ## unit, MPI and cluster tests under ASan and UBSan
	@$(RUN_ENV) bash tests/sanitize.sh

bench: ## times of a checkpoint, beside the time of memcpy
	@$(RUN_ENV) sh tests/bench/bench.sh $(ARGS)

install: libscr.a $(TOOLS) ## copy header, source, library and commands below PREFIX
	install -d "$(DESTDIR)$(PREFIX)/include" "$(DESTDIR)$(PREFIX)/lib" "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/scr"
	install -m 644 scr.h "$(DESTDIR)$(PREFIX)/include"
	install -m 644 libscr.a "$(DESTDIR)$(PREFIX)/lib"
	install -m 644 scr.h scr_impl.c LICENSE "$(DESTDIR)$(PREFIX)/share/scr"
	install -m 755 $(TOOLS) "$(DESTDIR)$(PREFIX)/bin"
	ln -sf scr_rebuild "$(DESTDIR)$(PREFIX)/bin/scr_rebuild_xor"

clean: ## remove what make has built
	rm -f libscr.a scr_impl.o $(TOOLS) $(LINKS) $(EXAMPLES) tests/unit/unit

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1: \2/p' Makefile
