# GNU Make, 3.81 or newer; no configure step.  `make help` lists the targets.
#
#   CC, MPICC, MPIFORT, MPIEXEC, CPPFLAGS, CFLAGS, FFLAGS, LDFLAGS, HDF5, PREFIX, LIBDIR, DESTDIR may be set on the command line.
#   MYSQL=1 builds with -DSCR_WITH_MYSQL: the log can go to a database; needs libmariadb.
#   V=1 prints the commands; CI=1 makes warnings errors and a skipped test a failure.

SHELL   = /bin/sh
CC      ?= cc
CFLAGS  ?= -O2 -g
FFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
WARN    = -Wall -Wextra -Wshadow -Wc++-compat -Wstrict-prototypes -Wmissing-prototypes $(if $(filter 1,$(CI)),-Werror)

# The path of an MPI program: looked up once, by the first recipe that needs it, as `make setup ...` may install it first.
# That of the library of MPICC, if this is set (mpicc.openmpi has an mpiexec.openmpi); or else MPICH's, which some systems
# keep out of PATH; or else any.
find_mpi = $(if $(found_$(1)),,$(eval found_$(1) := $(shell command -v "$(2)" || command -v $(1).mpich || command -v $(1) || \
  ls /usr/lib*/mpich/bin/$(1) /usr/lib*/mpi/gcc/mpich/bin/$(1) 2>/dev/null | head -n 1 | grep . || echo $(1))))$(found_$(1))
of_mpicc = $(call find_mpi,$(1),$(if $(findstring mpicc,$(MPICC)),$(subst mpicc,$(1),$(MPICC))))
MPICC   ?= $(call find_mpi,mpicc)
MPIFORT ?= $(call of_mpicc,mpifort)
MPIEXEC ?= $(call of_mpicc,mpiexec)
RUN_ENV  = CC="$(CC)" MPICC="$(MPICC)" MPIFORT="$(MPIFORT)" MPIEXEC="$(MPIEXEC)" BIN="$(CURDIR)/tools" CI="$(CI)"

# A step is one line, `$(call step,WHAT,FILE)COMMAND`: it prints "  WHAT  FILE"; with V=1 or -n the command; with -s nothing.
# `$(call using,COMPILER)` before it tells once which compiler that is.
short  := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
loud   := $(filter 1,$(V))$(findstring n,$(short))
silent := $(findstring s,$(short))
Q       = $(if $(loud),,@)
step    = $(Q)$(if $(loud)$(silent),,printf '  %-6s %s\n' '$(1)' '$(2)'; )
using   = $(if $(silent)$(findstring <$(1)>,$(told)),,$(eval told += <$(1)>)$(info Using $(1): $(call version,$(1))))
version = $(or $(shell $(1) --version 2>/dev/null | head -n 1),not found; `make setup` installs what is missing)
told   :=

SIM      = tests/sim/build
COMMANDS = $(patsubst %.c,%,$(wildcard tools/scr_*.c)) $(addprefix tools/scr_,rebuild_xor glob_hosts log_transfer inspect_cache srun mpirun)
EXAMPLES = $(filter-out examples/hdf5,$(patsubst %.c,%,$(wildcard examples/*.c)))
MANUAL   = $(patsubst %,tools/manual/%.md,choosing restart memory parameters jobs commands files errors build fortran languages migration images \
  measuring testing developing) scr.h
BINDINGS = examples/fortran/scrf.h examples/fortran/scr.f90 examples/cxx/scr.hpp
COMPAT   = examples/compat/veloc.h examples/compat/fti.h
PYTHON_SOURCES = examples/python/scr.py examples/python/scr_python.c
PYTHON_LIBRARY = examples/python/libscr_python.so
FORTRAN  = examples/fortran/heat2d examples/fortran/heat2d_fixed

# With MYSQL=1, as mariadb_config says, or else mysql_config.
ifeq ($(MYSQL),1)
mysql_config := $(shell command -v mariadb_config || command -v mysql_config || echo mariadb_config)
MYSQL_FLAGS = -DSCR_WITH_MYSQL $(shell $(mysql_config) --include)
MYSQL_LIBS  = $(shell $(mysql_config) --libs)
endif
LIBS     = -lz -lpthread $(MYSQL_LIBS)

.DEFAULT_GOAL := all
.PHONY: all setup demo image demo-image fortran python hdf5 static-tools tested check check-full check-quick check-long check-scale check-cross sim sim-mutants sim-scale fuzz lint sanitize size coverage bench install clean help

# A goal that is built waits for setup, when both are asked for; and setup knows what for.
ifneq (,$(filter setup,$(MAKECMDGOALS)))
.mpicc libscr.a scr_impl.o tools/scr $(EXAMPLES) examples/hdf5 $(FORTRAN) $(PYTHON_LIBRARY) tests/unit/unit $(SIM)/sim: | setup
check check-full check-quick check-long check-scale check-cross static-tools demo fortran python hdf5 lint sanitize bench: | setup
endif

all: libscr.a tools/scr $(COMMANDS) $(EXAMPLES) ## libscr.a, the commands in tools/, the examples

setup: ## install what is missing: an MPI, zlib, a compiler; with `check`, `lint` also what these need
	$(Q)CC="$(CC)" MPICC="$(if $(filter command% environment%,$(origin MPICC)),$(MPICC))" sh tests/setup.sh $(filter-out setup,$(MAKECMDGOALS))

# What another MPI library has compiled is compiled anew: this file names the compiler.
.mpicc: always
	$(Q)mpicc=$$(command -v $(firstword $(MPICC))); [ "$$(cat $@ 2>/dev/null)" = "$$mpicc" ] || echo "$$mpicc" >$@
.PHONY: always

scr_impl.o: scr_impl.c scr.h .mpicc
	$(call using,$(MPICC))
	$(call step,CC,$<)$(MPICC) $(CPPFLAGS) $(CFLAGS) $(WARN) -DSCR_WITH_FORTRAN $(MYSQL_FLAGS) -I. -c -o $@ scr_impl.c

scr_image.o: .mpicc $(wildcard tools/image/*.c tools/image/*.h) tools/image/jump.S tools/image/names.txt tools/image/late.txt tools/image/object.sh scr_impl.c scr.h
	$(call using,$(MPICC))
	$(call step,IMAGE,$@)CC="$(CC)" MPICC="$(MPICC)" CFLAGS="$(CPPFLAGS) $(CFLAGS)" WARN="$(filter-out -Wc++-compat,$(WARN))" sh tools/image/object.sh tools/image $@

libscr.a: scr_impl.o
	$(call step,AR,$@)rm -f $@ && $(AR) rcs $@ scr_impl.o

tools/scr: $(wildcard tools/*.c tools/*.h) tools/manual/manual.inc scr_impl.c scr.h
	$(call using,$(CC))
	$(call step,LINK,$@)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(MYSQL_FLAGS) -DTOOL_MANUAL -I. $(LDFLAGS) -o $@ tools/scr.c -lz $(MYSQL_LIBS)

tools/manual/manual.inc: $(MANUAL) tools/manual/embed.sh # the program contains its manual
	$(call step,TEXT,$@)sh tools/manual/embed.sh $(MANUAL) >$@.tmp && mv $@.tmp $@

$(COMMANDS): tools/scr # one program: the name of the link is the command
	$(Q)ln -sf scr $@

# The compiler is musl-gcc, if it is here and CC is not set.
static-tools: tools/manual/manual.inc ## the commands in tools/static, one program that runs on any Linux of this processor
	$(call step,STATIC,tools/static/scr)CC="$(STATIC_CC)" CFLAGS="$(CPPFLAGS) $(CFLAGS) $(WARN)" sh tools/packaging/static.sh tools/static
	$(Q)for c in $(notdir $(COMMANDS)); do ln -sf scr tools/static/$$c || exit; done
STATIC_CC = $(if $(filter command environment,$(origin CC)),$(CC),$(shell command -v musl-gcc || echo $(CC)))

$(EXAMPLES): %: %.c libscr.a scr.h
	$(call using,$(MPICC))
	$(call step,LINK,$@)$(MPICC) $(CPPFLAGS) $(CFLAGS) $(WARN) -I. $(LDFLAGS) -o $@ $< libscr.a $(LIBS) -lm

fortran: $(FORTRAN) ## the examples in Fortran

examples/fortran/heat2d: examples/fortran/scr.f90 examples/fortran/heat2d.f90 libscr.a # modules stay in their directory
	$(call step,LINK,$@)cd examples/fortran && $(MPIFORT) $(FFLAGS) -o heat2d scr.f90 heat2d.f90 ../../libscr.a $(LIBS)

examples/fortran/heat2d_fixed: examples/fortran/heat2d_fixed.f examples/fortran/scrf.h libscr.a
	$(call step,LINK,$@)$(MPIFORT) $(FFLAGS) -o $@ $< libscr.a $(LIBS)

python: $(PYTHON_LIBRARY) ## the library that examples/python/scr.py loads

$(PYTHON_LIBRARY): examples/python/scr_python.c scr_impl.c scr.h .mpicc
	$(call using,$(MPICC))
	$(call step,LINK,$@)$(MPICC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(MYSQL_FLAGS) -DSCR_API=extern -I. -shared -fPIC $(LDFLAGS) -o $@ \
	  examples/python/scr_python.c scr_impl.c $(LIBS)

hdf5: examples/hdf5 ## the example that writes HDF5 files; HDF5="-I... -L... -lhdf5" names one that is not found

examples/hdf5: examples/hdf5.c libscr.a scr.h
	$(call using,$(MPICC))
	$(call step,LINK,$@)flags=$$(CC="$(MPICC)" HDF5="$(HDF5)" sh tests/find_hdf5.sh) && \
	  $(MPICC) $(CPPFLAGS) $(CFLAGS) $(WARN) -I. $(LDFLAGS) -o $@ $< libscr.a $$flags $(LIBS)

tests/unit/unit: $(wildcard tests/unit/*.c tests/unit/*.h) scr_impl.c scr.h
	$(call using,$(CC))
	$(call step,LINK,$@)$(CC) $(CFLAGS) $(WARN) -I. -o $@ tests/unit/unit.c $(LIBS)

# The simulator: scr_impl.c and the commands, unchanged, over the world of tests/sim.
SIM_SOURCES = $(patsubst tests/sim/%.c,$(SIM)/%.o,$(wildcard tests/sim/*.c))
SIM_TESTED := $(if $(filter x86_64,$(shell uname -m)),$(SIM)/sim)

$(SIM)/library.o: scr_impl.c scr.h tests/sim/sometimes.h tests/sim/mpi.h tests/sim/symbols.txt tests/sim/build.sh
	$(call step,SIM,$<)mkdir -p $(SIM) && CC="$(CC)" sh tests/sim/build.sh $< $@ scr

$(SIM)/commands.o: $(wildcard tools/*.c tools/*.h tests/sim/audit*.h) scr_impl.c scr.h tests/sim/symbols.txt tests/sim/build.sh
	$(call step,SIM,tools/scr.c)mkdir -p $(SIM) && CC="$(CC)" sh tests/sim/build.sh tools/scr.c $@ cmd

$(SIM_SOURCES): $(SIM)/%.o: tests/sim/%.c $(wildcard tests/sim/*.h) scr.h
	$(call step,CC,$<)mkdir -p $(SIM) && $(CC) $(CFLAGS) -Wall -Wextra $(if $(filter 1,$(CI)),-Werror) -fno-pie -I. -Itests/sim -c -o $@ $<

$(SIM)/sim: $(SIM_SOURCES) $(SIM)/library.o $(SIM)/commands.o
	$(call step,LINK,$@)$(CC) $(CFLAGS) -no-pie -o $@ $^ -lz

sim: $(SIM)/sim ## 400 simulated jobs with failures; SEEDS=N for N, SEED=N TRACE=1 [AT=CALL] for one
	$(Q)SEEDS="$(SEEDS)" SEED="$(SEED)" TRACE="$(TRACE)" AT="$(AT)" ARGS="$(ARGS)" bash tests/sim/sim.sh

sim-mutants: $(SIM)/sim ## plant bugs, one at a time, which the simulator must find; ARGS=NAME for one
	$(Q)CC="$(CC)" python3 tests/sim/mutants.py run $(ARGS)

sim-scale: $(SIM)/sim ## what jobs of 64 to RANKS simulated ranks cost a rank, and how that grows
	$(Q)$(SIM)/sim scale=$(or $(RANKS),512)

demo: all ## a solver is killed, loses a node, rebuilds, and ends with the same answer
	$(Q)export $(RUN_ENV) && . tests/find_mpi.sh && sh examples/demo.sh

image: scr_image.o ## the object with which unchanged programs have checkpoints (MPICH on x86-64 Linux)

demo-image: scr_image.o ## the demo with a program that knows nothing of checkpoints
	$(Q)export $(RUN_ENV) && . tests/find_mpi.sh && sh examples/demo_image.sh scr_image.o

check-quick: all tests/unit/unit ## the demo, the unit tests, and the main cases on 4 ranks
	$(Q)$(RUN_ENV) bash tests/quick.sh

# What the suites test is built first, on two cores unless this is a make -j.
TESTED = $(Q)+$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j2) tested
TEST   = $(Q)$(RUN_ENV) ONLY="$(ONLY)" BEYOND="$(BEYOND)" bash tests/run.sh

tested: all tests/unit/unit $(SIM_TESTED)
	@:

check: ## the main tests, in four minutes; ONLY=NAME: a suite, or a case of the MPI, cluster and unit suites
	$(TESTED)
	$(TEST) check

check-full: ## every behaviour at least once, in about half an hour; ONLY=NAME as above
	$(TESTED)
	$(TEST) full

check-long: ## the long loops, other numbers of ranks and moments of failure; ONLY=NAME as above
	$(TESTED)
	$(TEST) long
	$(if $(ONLY),,$(Q)$(RUN_ENV) bash tests/lint.sh long)

check-scale: ## a checkpoint of 64 ranks on this machine, and what its steps cost with 4, 16 and 64
	$(Q)$(RUN_ENV) bash tests/scale/scale.sh

check-cross: tools/scr $(COMMANDS) ## other processors: the unit tests and commands under qemu, and what they write
	$(Q)$(RUN_ENV) bash tests/cross/cross.sh

lint: ## the rules of the one file, warnings, formatting; ARGS=long: also what takes minutes, as check-long does
	$(Q)$(RUN_ENV) bash tests/lint.sh $(ARGS)

fuzz: ## hostile bytes for all that reads a file, for FUZZ_SECONDS=60; needs clang with libFuzzer
	$(Q)bash tests/fuzz/fuzz.sh long

sanitize: ## unit, MPI, Fortran and cluster tests under ASan and UBSan
	$(Q)$(RUN_ENV) bash tests/sanitize.sh

size: ## what the library costs a program: code, memory, stack, threads, signals, files
	$(Q)$(RUN_ENV) bash tests/size/size.sh

coverage: ## lines and branches of each part that the unit and MPI tests reach; QUICK=1: fewer tests
	$(Q)$(RUN_ENV) QUICK="$(QUICK)" bash tests/coverage/coverage.sh

bench: ## times of a checkpoint, beside the time of memcpy
	$(Q)$(RUN_ENV) sh tests/bench/bench.sh $(ARGS)

dest = $(DESTDIR)$(PREFIX)
libdest = $(DESTDIR)$(LIBDIR)
install: libscr.a tools/scr ## copy header, source, library, scr.pc, commands and man pages below PREFIX
	$(call step,COPY,$(dest)/include)install -d "$(dest)/include" && \
	  install -m 644 scr.h $(BINDINGS) "$(dest)/include"
	$(call step,COPY,$(libdest))install -d "$(libdest)/pkgconfig" && install -m 644 libscr.a "$(libdest)" && umask 022 && \
	  sh tools/packaging/pkgconfig.sh "$(PREFIX)" "$(LIBDIR)" "$(LIBS)" >"$(libdest)/pkgconfig/scr.pc"
	$(call step,COPY,$(dest)/share/scr)install -d "$(dest)/share/scr" && \
	  install -m 644 scr.h scr_impl.c $(BINDINGS) $(PYTHON_SOURCES) LICENSE tools/scr-gdb.py tools/scr.mysql "$(dest)/share/scr" && \
	  install -d "$(dest)/share/scr/compat" && install -m 644 $(COMPAT) "$(dest)/share/scr/compat"
	$(call step,COPY,$(dest)/bin)install -d "$(dest)/bin" && install -m 755 tools/scr "$(dest)/bin" && \
	  for c in $(notdir $(COMMANDS)); do ln -sf scr "$(dest)/bin/$$c" || exit; done
	$(call step,PAGES,$(dest)/share/man)umask 022 && tools/scr help --pages "$(dest)/share/man"

clean: ## remove what make has built
	$(call step,CLEAN,what make has built)rm -f .mpicc libscr.a scr_impl.o scr_image.o tools/scr tools/manual/manual.inc $(COMMANDS) $(EXAMPLES) examples/hdf5 $(FORTRAN) \
	  examples/fortran/*.mod $(PYTHON_LIBRARY) tests/unit/unit $(SIM)/* && rm -rf tests/coverage/build tools/image/build tools/static tools/packaging/build

help:
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1: \2/p' Makefile
	@echo 'Variables: V=1 prints the commands; CI=1 makes warnings errors and a skipped test a failure;'
	@echo '  MYSQL=1 for a log in a database; CC, MPICC, MPIFORT, MPIEXEC, CPPFLAGS, CFLAGS, FFLAGS,'
	@echo '  LDFLAGS, PREFIX, LIBDIR, DESTDIR'
