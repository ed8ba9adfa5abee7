# SPDX-License-Identifier: BSD-2-Clause
#
#   make                  build/weft; no network, nothing outside build/
#   sudo make demo        installs what is missing, builds, profiles, shows it
#   sudo make check       installs what tests need and runs all of them
#   make check-quick      the tests that take seconds
#   sudo make truth-long  a million samples of an application, each judged whole
#   make install DESTDIR= PREFIX=/usr/local
#   make static           build/weft-static, for machines and containers with nothing else
#   make deb              build/weft_VERSION_ARCH.deb, a Debian package of all of it
#   make install-units    only what systemd starts weft agent by
#   make install-headers  only those, with what pkg-config and CMake ask for
#   make bench lint hardening clean
#   make man              the options' part of docs/man, from weft itself
#
#   V=1                   show each command
#   SAN=address,undefined a build of its own, in build-address-undefined/
#   CC= CLANG= BPFTOOL=   other tools

MAKEFLAGS += --no-builtin-rules
comma   := ,
SAN     ?=
B       := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PREFIX  ?= /usr/local
DESTDIR ?=
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$@')

VERSION  := 0.1.0
ARCH     := $(shell $(CC) -dumpmachine | cut -d- -f1)
BPF_ARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wwrite-strings -Wvla -Wno-unused-parameter
# It runs as root and reads what anybody wrote. A sanitizer brings its own.
HARDEN_C  := $(if $(SAN),,-fstack-protector-strong -fPIE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDEN_LD := $(if $(SAN),,-pie -Wl,-z,relro,-z,now,-z,noexecstack)
CPPFLAGS += -D_GNU_SOURCE -DWEFT_VERSION='"$(VERSION)"' -Iuser -Iinclude -I$(B)
CFLAGS   ?= -O2 -g
C_FLAGS   = -std=gnu11 $(WARN) -fno-omit-frame-pointer $(HARDEN_C) $(CFLAGS) \
            $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined)
LD_FLAGS  = $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
# of what parses files and keeps what came of it
FILE_LIBS := -ldw -lelf -lz -lxxhash -llzma -lnettle -liberty
LIBS     := -lbpf -linih $(FILE_LIBS)

# a tick is the first to run its code since the last one, so a loop shall be one round of it
BPF_FLAGS := -fno-unroll-loops -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux -Iinclude -Ibpf \
             -Wall -Wno-gnu-variable-sized-type-not-at-end

# an object of its own each: loaded only where somebody asks
BPF_ALONE := ksyms
BPF_SRC  := $(filter-out $(BPF_ALONE:%=bpf/%.bpf.c),$(wildcard bpf/*.bpf.c))
BPF_OBJ  := $(BPF_SRC:%.bpf.c=$(B)/%.bpf.o)
SKELS    := $(B)/weft.skel.h $(BPF_ALONE:%=$(B)/%.skel.h)
USER_SRC := $(wildcard user/*/*.c user/format/*/*.c)
USER_OBJ := $(USER_SRC:%.c=$(B)/%.o)
LIB_OBJ  := $(filter-out $(B)/user/cli/main.o,$(USER_OBJ))

.PHONY: all
all: $(B)/weft

$(B)/weft: $(USER_OBJ)
	$(call say,LINK)
	$(Q)$(CC) $(HARDEN_LD) $(LD_FLAGS) -o $@ $^ $(LIBS)

# One file that needs no other. What it would load, it says that it lacks.
STATIC_OBJ := $(B)/static/library.o
STATIC_LIBS := $(LIBS) -lbz2

$(STATIC_OBJ): user/base/library.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -DWEFT_STATIC $(C_FLAGS) -MMD -MP -c $< -o $@

# no warnings: getaddrinfo() would load libraries for names, and is asked for numbers only
$(B)/weft-static: $(filter-out $(B)/user/base/library.o,$(USER_OBJ)) $(STATIC_OBJ)
	$(call say,LINK)
	$(Q)$(CC) $(HARDEN_LD) -static-pie -s -Wl,--no-warnings $(LDFLAGS) -o $@ $^ $(STATIC_LIBS)

-include $(STATIC_OBJ:.o=.d)

.PHONY: static
static: $(B)/weft-static

# Everything but main, for the tests.
$(B)/libweft.a: $(LIB_OBJ)
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^

# order-only: what is made must exist first; depfiles say who really reads it
$(B)/user/%.o: user/%.c | $(SKELS) $(B)/weft_proto.h
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) -MMD -MP -c $< -o $@

$(B)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) --target=bpf -mcpu=v3 -O2 -g $(BPF_FLAGS) -MMD -MP -c $< -o $@

$(B)/weft.skel.h: $(BPF_OBJ)
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen object $(@:.skel.h=.bpf.o) $^
	$(Q)$(BPFTOOL) gen skeleton $(@:.skel.h=.bpf.o) name weft_bpf > $@.new
	$(Q)mv $@.new $@

$(BPF_ALONE:%=$(B)/%.skel.h): $(B)/%.skel.h: $(B)/bpf/%.bpf.o
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.new
	$(Q)mv $@.new $@

# the numbers of a recording's fields, out of its schema
$(B)/weft_proto.h: docs/weft.proto tools/proto-fields
	$(call say,GEN)
	$(Q)mkdir -p $(@D)
	$(Q)tools/proto-fields $< > $@.new
	$(Q)mv $@.new $@

# What makes unwind tables: those that another weft made may look different.
BUILDER_SRC := $(sort $(wildcard user/obj/*.[ch] user/unwind/*.[ch])) \
               user/base/hash.c include/shared/unwind.h
BUILDER_SRC += user/base/varint.h user/base/search.h

$(B)/unwind_builder.h: $(BUILDER_SRC)
	$(call say,GEN)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#define UNWIND_BUILDER "%.64s"\n' "$$(cat $^ | sha256sum)" > $@.new
	$(Q)mv $@.new $@

$(B)/user/unwind/cache.o: $(B)/unwind_builder.h

# the page's parts as numbers in a C array
PAGE_SRC := $(filter-out %.md,$(wildcard page/*))

$(B)/page/page.html: tools/page/assemble $(PAGE_SRC)
	$(call say,PAGE)
	$(Q)tools/page/assemble $(@D)

$(B)/page/page_head.inc $(B)/page/page_tail.inc: $(B)/page/page.html ;
$(B)/user/format/html/html_write.o: $(B)/page/page.html

-include $(USER_OBJ:.o=.d) $(wildcard $(B)/bpf/*.d)
include tests/tests.mk

.PHONY: compile_commands.json
compile_commands.json:
	$(call say,GEN)
	$(Q)tools/compile-commands '$(CC) $(CPPFLAGS) $(C_FLAGS)' $(USER_SRC) > $@

.PHONY: setup demo bench lint hardening man install install-headers install-units clean
setup:
	$(Q)tools/setup

demo: setup
	$(Q)$(MAKE) --no-print-directory all demo-programs
	$(Q)tools/demo/run $(B)

bench: all
	$(Q)tools/bench/run $(B)

# What the options' data says, into docs/man.
man: all
	$(Q)tools/man $(B)/weft

lint:
	$(Q)tools/lint

# Does the binary have what the flags above ask for?
hardening: $(B)/weft
	$(Q)tools/hardening $(B)/weft

install: all install-headers install-units
	install -D -m 755 $(B)/weft $(DESTDIR)$(PREFIX)/bin/weft
	for page in docs/man/*.1; do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man1/$${page##*/}; \
	done
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(B)/weft completion bash > \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/weft
	$(B)/weft completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_weft
	$(B)/weft completion fish > \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/weft.fish

# They are for every machine, so in share/.
HEADERS := $(wildcard include/weft/*.h include/weft/*.hpp include/weft/*/*.h)
FILL    := sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|'

install-headers:
	for header in $(HEADERS); do \
		install -D -m 644 $$header $(DESTDIR)$(PREFIX)/$$header || exit; \
	done
	install -d $(DESTDIR)$(PREFIX)/share/pkgconfig $(DESTDIR)$(PREFIX)/share/cmake/weft
	$(FILL) tools/install/weft.pc.in > $(DESTDIR)$(PREFIX)/share/pkgconfig/weft.pc
	for file in weft-config weft-config-version; do \
		$(FILL) tools/install/$$file.cmake.in \
			> $(DESTDIR)$(PREFIX)/share/cmake/weft/$$file.cmake || exit; \
	done

# For systemd, which starts weft agent as a user of its own.
UNIT_DIR := $(DESTDIR)$(PREFIX)/lib

install-units:
	install -d $(UNIT_DIR)/systemd/system
	$(FILL) tools/install/weft-agent.service.in > $(UNIT_DIR)/systemd/system/weft-agent.service
	install -D -m 644 tools/install/weft.sysusers $(UNIT_DIR)/sysusers.d/weft.conf
	install -D -m 644 tools/install/weft.tmpfiles $(UNIT_DIR)/tmpfiles.d/weft.conf

clean:
	rm -rf build build-*
