# Makefile - builds, tests and installs mote.  `make help` lists the targets.

PREFIX ?= /usr/local
MODEL  ?= tests/data/tiny-gemma-q8_0.gguf
PROMPT ?= Once upon a time
SMP    ?= 1
JOBS   ?= $(shell nproc)  # at once, of `make test`

# What the engine knows.  Less of it is a smaller engine: make TYPES="f16" CHAT=0
ALL_TYPES := f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q4_k q5_k q6_k
TYPES ?= $(ALL_TYPES)
CHAT  ?= 1
# 0: for Linux alone.
BOOT  ?= 1

# Without ISA: the best that this CPU can run, by what asm/ISA/cpu.asm asks for, in the words of
# /proc/cpuinfo.  QEMU emulates AVX2, not AVX-512; AVX2 also where there is nothing to read.
CPUINFO         ?= /proc/cpuinfo
NEEDS_x86_64    := avx2 fma f16c
NEEDS_x86_64_v4 := $(NEEDS_x86_64) avx512f avx512bw avx512_vnni
ifndef ISA
QEMU  := $(filter boot iso,$(MAKECMDGOALS))
FLAGS := $(or $(if $(QEMU),,$(shell grep -m1 ^flags $(CPUINFO) 2> /dev/null)),$(NEEDS_x86_64))
RUNS  := $(foreach i,x86_64_v4 x86_64,$(if $(filter-out $(FLAGS),$(NEEDS_$(i))),,$(i)))
ISA   := $(firstword $(RUNS) portable)
endif

# An ISA is a folder of asm/ and the folder it falls back on, file by file.
CHAIN_portable  := portable
CHAIN_x86_64    := x86_64 portable
CHAIN_x86_64_v4 := x86_64_v4 x86_64 portable
CHAIN           := $(CHAIN_$(ISA))
ISAS            := $(patsubst CHAIN_%,%,$(filter CHAIN_%,$(.VARIABLES)))
$(if $(CHAIN),,$(error ISA=$(ISA) is unknown: try $(ISAS)))

BUILD := build/$(ISA)
Q     := $(if $(V),,@)  # make V=1 shows the commands
CXX   := g++
NASM  := nasm
LD    := ld.lld

# Freestanding: no library at all.  -Oz for bytes; no contraction, so that C++ rounds as written.
CXXFLAGS_ISA_portable  := -march=x86-64
CXXFLAGS_ISA_x86_64    := -mavx2 -mno-vzeroupper
CXXFLAGS_ISA_x86_64_v4 := $(CXXFLAGS_ISA_x86_64)
LDFLAGS_ISA_x86_64     := --defsym=unaligned=1  # linker.ld: AVX reads constants at any address
LDFLAGS_ISA_x86_64_v4  := $(LDFLAGS_ISA_x86_64)
CXXFLAGS := -std=c++20 -Oz -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector \
  -fno-asynchronous-unwind-tables -fomit-frame-pointer -fno-pic -fno-pie -mno-red-zone \
  -mcmodel=small -mpreferred-stack-boundary=3 -fno-threadsafe-statics -fcf-protection=none \
  -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-tree-vectorize \
  -fno-tree-loop-optimize -fno-move-loop-invariants -fno-if-conversion -fno-caller-saves \
  -fno-tree-loop-distribute-patterns -mmemcpy-strategy=rep_byte:-1:noalign \
  -mmemset-strategy=rep_byte:-1:noalign -ffunction-sections -fdata-sections -ffixed-rbx \
  -fno-jump-tables --param=max-jump-thread-duplication-stmts=0 -Wall -Wextra -Wno-register \
  -Wno-invalid-offsetof -Wno-volatile-register-var -MMD -MP $(CXXFLAGS_ISA_$(ISA))
# What suits one file alone, and the bytes that it saves.
CXXFLAGS_forward   := -freorder-blocks-algorithm=simple -fno-tree-reassoc -ftree-loop-optimize \
  -fif-conversion -fno-tree-forwprop                                       # 40
CXXFLAGS_generate  := -fno-tree-reassoc -ftree-loop-optimize               # 21
CXXFLAGS_io        := -fschedule-insns -fno-tree-forwprop -fno-tree-dce    # 90
CXXFLAGS_main      := -fno-schedule-insns2                                 # 3
CXXFLAGS_model     := -ftree-loop-optimize                                 # 8
CXXFLAGS_sampler   := -ftree-loop-optimize -fif-conversion                 # 6
CXXFLAGS_tokenizer := -ftree-loop-optimize                                 # 15
# f16 is that of the KV cache, too.
UNKNOWN   := $(filter-out $(ALL_TYPES),$(TYPES))
$(if $(UNKNOWN),$(error TYPES: no $(UNKNOWN), but $(ALL_TYPES)))
CXXFLAGS_ENGINE := -DCHAT=$(CHAT) '-DWEIGHT_TYPES(T)=$(foreach t,$(filter f16 $(TYPES),$(ALL_TYPES)),\
  T($(shell echo $(t) | tr a-z A-Z),$(t)))'
NASMFLAGS := -f elf64 -Wall -DBOOT=$(BOOT)
LDFLAGS   := -n -O2 --gc-sections --build-id=none -z norelro -z noexecstack --entry=_start \
  -T linker.ld $(LDFLAGS_ISA_$(ISA))

# A kernel is a stem; the first folder of the chain that has it provides it.
STEMS   := $(sort $(basename $(notdir $(foreach d,$(CHAIN),$(wildcard asm/$(d)/*.asm asm/$(d)/*.cpp)))))
KERNELS := $(foreach s,$(STEMS),$(firstword $(foreach d,$(CHAIN),$(wildcard asm/$(d)/$(s).asm asm/$(d)/$(s).cpp))))
BARE_METAL := $(if $(filter-out 0,$(BOOT)),boot/multiboot-x86_64.asm boot/syscalls-x86_64.asm)
SOURCES := boot/linux-x86_64.asm $(BARE_METAL) $(sort $(wildcard runtime/*.cpp loader/*.cpp)) $(KERNELS)
OBJECTS := $(SOURCES:%=$(BUILD)/%.o)

.PHONY: all run chat boot iso test bench bench-kernels size deps install uninstall clean help
all: build/mote

help:
	@echo 'make          build build/$(ISA)/mote and link build/mote to it; without ISA: for this CPU'
	@echo '              ISA=portable for any x86-64, x86_64 for AVX2, x86_64_v4 for AVX-512'
	@echo 'make dist     build build/ISA/mote for each ISA: $(ISAS)'
	@echo 'make deps     install what all of this needs (Debian, Ubuntu)'
	@echo 'make run      tell a story: the engine and MODEL in one file; PROMPT="..."'
	@echo 'make chat     talk with MODEL'
	@echo 'make boot     tell it on bare metal, under QEMU (AVX2); SMP=2; BOOTFLAGS=-i PROMPT= to chat'
	@echo 'make iso      build/mote.iso (AVX2): boots mote and MODEL by BIOS or UEFI, on the serial line'
	@echo 'make test     build everything and run all tests'
	@echo 'make bench    measure the engine against the machine, on MODEL or a large random one'
	@echo 'make bench-kernels    measure each kernel on its own'
	@echo 'make size     bytes by room, by file and by symbol'
	@echo 'make install  to DESTDIR and PREFIX; make uninstall; make clean'

# The programs of all ISAS: build/ISA/mote.
.PHONY: dist $(ISAS:%=dist-%)
dist: $(ISAS:%=dist-%)
$(ISAS:%=dist-%): dist-%:
	$(MAKE) ISA=$* build/$*/mote

# Always anew: the link is to the ISA, and the story of the MODEL, that are asked for now.
build/mote: $(BUILD)/mote FORCE
	@ln -sfn $(ISA)/mote $@

# The image with its symbols, for debuggers and `make size`; the program is its bytes alone.
$(BUILD)/mote: $(BUILD)/mote.elf
	$(Q)objcopy -O binary $< $@
	@chmod +x $@

$(BUILD)/mote.elf: $(OBJECTS) linker.ld $(BUILD)/options
	@echo 'LD    $@'
	$(Q)$(LD) $(LDFLAGS) -Map=$(@:.elf=.map) -o $@ $(OBJECTS)

# nasm 2.16 leaves included files out of its dependencies.
$(BUILD)/%.asm.o: %.asm $(BUILD)/options $(wildcard asm/*/*.inc boot/*.inc)
	@mkdir -p $(@D)
	@echo 'NASM  $<'
	$(Q)$(NASM) $(NASMFLAGS) $(CHAIN:%=-I asm/%/) -I $(dir $<) -MD $(@:.o=.d) -o $@ $<

$(BUILD)/%.cpp.o: %.cpp $(BUILD)/options
	@mkdir -p $(@D)
	@echo 'CXX   $<'
	$(Q)$(CXX) $(CXXFLAGS) $(CXXFLAGS_ENGINE) $(CXXFLAGS_$(*F)) -c -o $@ $<

# What the objects were built for; changes only where that does.
OPTIONS := $(CXXFLAGS_ENGINE) $(NASMFLAGS)
$(BUILD)/options: FORCE
	@mkdir -p $(@D)
	@echo "$(OPTIONS)" | cmp -s - $@ || echo "$(OPTIONS)" > $@

# The engine with the model behind it, in one file that runs alone.
build/story: build/mote $(MODEL) FORCE
	@cat build/mote $(MODEL) > $@
	@chmod +x $@

.PHONY: FORCE
FORCE:

run: build/story
	./build/story "$(PROMPT)"

chat: build/story
	./build/story -i

ifneq ($(filter boot iso,$(MAKECMDGOALS)),)
$(if $(BARE_METAL),,$(error BOOT=0 leaves out what make boot and make iso need))
endif
boot: build/mote
	@CORES=$(SMP) boot/qemu.sh build/mote "$(MODEL)" $(BOOTFLAGS) $(if $(PROMPT),"$(PROMPT)")

# For BIOS and UEFI: GRUB's own way to a command line, and to a model as a module.
iso: build/mote
	@boot/iso.sh build/mote.iso build/mote "$(MODEL)" $(BOOTFLAGS) \
	  $(if $(PROMPT),"$(PROMPT)")

test:
	$(MAKE) -j$(JOBS) ISA=portable all-tests
	$(MAKE) -j$(JOBS) ISA=x86_64 all-tests
	$(MAKE) -j$(JOBS) ISA=x86_64_v4 all-tests
	$(MAKE) -j$(JOBS) small
	$(MAKE) -j$(JOBS) ISA=$(ISA) all
	python3 tests/run.py

.PHONY: all-tests small
all-tests: $(BUILD)/mote $(BUILD)/tests/kernels_test $(BUILD)/tests/unit_test \
  $(if $(filter x86_64,$(ISA)),$(BUILD)/tests/unit_asan_test)

# The least of engines, which has a budget of its own.
small:
	$(MAKE) ISA=x86_64 BUILD=build/small TYPES=f16 CHAT=0 BOOT=0 build/small/mote

# MODEL, if the caller gives one.
bench: build/mote
	python3 tools/bench.py $(if $(filter file,$(origin MODEL)),,--model $(MODEL)) $(BENCHFLAGS)

# Each kernel of ISA on its own.  BENCHFLAGS are Google Benchmark's: --benchmark_filter=q4_0
bench-kernels: $(BUILD)/tests/kernels_bench
	$< --benchmark_counters_tabular=true --benchmark_min_time=0.1 $(BENCHFLAGS)

$(BUILD)/tests/kernels_bench: $(BUILD)/tests/bench/kernels_bench.cpp.o \
  $(BUILD)/tests/kernels/kernels.o
	$(CXX) -no-pie -z noexecstack -o $@ $^ -lbenchmark -pthread

$(BUILD)/tests/bench/kernels_bench.cpp.o: | has-benchmark
.PHONY: has-benchmark
has-benchmark:
	@echo '#include <benchmark/benchmark.h>' | $(CXX) -E -o /dev/null -xc++ - 2> /dev/null || \
	  { echo 'make bench-kernels needs libbenchmark-dev: make deps'; exit 1; }

-include $(BUILD)/tests/bench/kernels_bench.cpp.d

size: $(BUILD)/mote
	python3 tools/bytemap.py $(BUILD)/mote.elf $<

# What Debian 12 has under these names; g++ brings objcopy along.
PACKAGES      := g++ nasm lld
TEST_PACKAGES := python3 libgtest-dev libbenchmark-dev strace qemu-user qemu-system-x86 grub-common \
  grub-pc-bin grub-efi-amd64-bin xorriso mtools ovmf
# `make deps run` needs the tools alone.
PACKAGES      += $(if $(filter run chat,$(MAKECMDGOALS)),,$(TEST_PACKAGES))
SUDO      = $(if $(filter 0,$(shell id -u)),,sudo)
deps:
	$(SUDO) apt-get update -q
	$(SUDO) apt-get install -y -q --no-install-recommends $(PACKAGES)

ifneq ($(filter deps,$(MAKECMDGOALS)),)
.NOTPARALLEL:  # `make -j deps run`: first things first
endif

install: $(BUILD)/mote
	install -D -m 755 $< $(DESTDIR)$(PREFIX)/bin/mote

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/mote

clean:
	rm -rf build

include tests/tests.mk tests/unit.mk

-include $(OBJECTS:.o=.d)
