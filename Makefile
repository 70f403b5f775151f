# Makefile - builds, tests and installs mote.  `make help` lists the targets.

ISA ?= x86_64

# An ISA is a folder of asm/ and the folder it falls back on, file by file.
CHAIN_portable := portable
CHAIN_x86_64   := x86_64 portable
CHAIN          := $(CHAIN_$(ISA))
$(if $(CHAIN),,$(error ISA=$(ISA): there is no such folder in asm/))

BUILD := build/$(ISA)
CXX   := g++
NASM  := nasm
LD    := ld.lld

# Freestanding: no library at all.  -Oz for bytes; no contraction, so that C++ rounds as written.
CXXFLAGS_ISA_portable := -march=x86-64
CXXFLAGS_ISA_x86_64   := -mavx2 -mno-vzeroupper
CXXFLAGS := -std=c++20 -Oz -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector \
  -fno-asynchronous-unwind-tables -fomit-frame-pointer -fno-pic -fno-pie -mno-red-zone \
  -mcmodel=small -mpreferred-stack-boundary=3 -fno-threadsafe-statics -fcf-protection=none \
  -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-tree-vectorize \
  -fno-tree-loop-distribute-patterns -mmemcpy-strategy=rep_byte:-1:noalign \
  -mmemset-strategy=rep_byte:-1:noalign -ffunction-sections -fdata-sections -ffixed-rbx \
  -Wall -Wextra -Wno-register -Wno-invalid-offsetof -fno-jump-tables -MMD -MP $(CXXFLAGS_ISA_$(ISA))
NASMFLAGS := -f elf64 -Wall
LDFLAGS   := -n --gc-sections --build-id=none -z norelro -z noexecstack --entry=_start -T linker.ld

# A kernel is a stem; the first folder of the chain that has it provides it.
STEMS   := $(sort $(basename $(notdir $(foreach d,$(CHAIN),$(wildcard asm/$(d)/*.asm asm/$(d)/*.cpp)))))
KERNELS := $(foreach s,$(STEMS),$(firstword $(foreach d,$(CHAIN),$(wildcard asm/$(d)/$(s).asm asm/$(d)/$(s).cpp))))
SOURCES := boot/linux-x86_64.asm $(sort $(wildcard runtime/*.cpp loader/*.cpp)) $(KERNELS)
OBJECTS := $(SOURCES:%=$(BUILD)/%.o)

.PHONY: all clean
all: build/mote

build/mote: $(BUILD)/mote
	ln -sf $(ISA)/mote $@

# The image with its symbols, for debuggers and `make size`; the program is its bytes alone.
$(BUILD)/mote: $(BUILD)/mote.elf
	objcopy -O binary $< $@
	chmod +x $@

$(BUILD)/mote.elf: $(OBJECTS) linker.ld
	$(LD) $(LDFLAGS) -o $@ $(OBJECTS)

$(BUILD)/%.asm.o: %.asm
	@mkdir -p $(@D)
	$(NASM) $(NASMFLAGS) -I $(dir $<) -MD $(@:.o=.d) -o $@ $<

$(BUILD)/%.cpp.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -c -o $@ $<

clean:
	rm -rf build

-include $(OBJECTS:.o=.d)
