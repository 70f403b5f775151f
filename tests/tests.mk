# tests.mk - the tests' rules, included by the Makefile, whose variables it uses.
# kernels_test   builds and runs the tests of the kernels of ISA: tests/kernels/README.md

TESTS          := $(BUILD)/tests
TESTS_CXXFLAGS := -std=c++20 -O2 -g -fno-pie -ffp-contract=off -Wall -Wextra -MMD -MP

# --- Kernel tests.  Kernels and oracles are linked as one object each, which shows no symbol but
# the kernels' own: `exp` is a kernel's helper here and libm's function there.

ORACLE_STEMS := $(filter-out cpu,$(basename $(notdir $(wildcard asm/portable/*.cpp))))
ORACLES      := $(ORACLE_STEMS:%=$(TESTS)/oracles/%.o)
KERNEL_TESTS := $(wildcard tests/kernels/*_test.cpp)
UNTESTED     := $(filter-out $(notdir $(KERNEL_TESTS:_test.cpp=)),$(ORACLE_STEMS) cpu)
KERNEL_TEST_OBJECTS := $(patsubst %,$(TESTS)/%.o,$(notdir $(KERNEL_TESTS)) harness.cpp call.asm)
MERGE := $(CXX) -nostdlib -r -no-pie -Wl,--force-group-allocation

.PHONY: kernels_test
kernels_test: $(TESTS)/kernels_test
	$< --gtest_brief=1

$(TESTS)/kernels_test: $(KERNEL_TEST_OBJECTS) $(TESTS)/kernels.o $(TESTS)/oracles.o
	$(if $(UNTESTED),$(error tests/kernels/ has no test of $(UNTESTED)))
	$(CXX) -no-pie -z noexecstack -o $@ $^ -lgtest

# The very objects of the engine.
$(TESTS)/kernels.o: $(KERNELS:%=$(BUILD)/%.o)
	@mkdir -p $(@D)
	$(MERGE) -o $@ $^
	objcopy $(addprefix --keep-global-symbol=,$(ORACLE_STEMS) cpu_ready cpu_needs) $@

# The portable kernels once more, with other names.
$(TESTS)/oracles.o: $(ORACLES)
	$(MERGE) -o $@ $^
	objcopy $(ORACLE_STEMS:%=--keep-global-symbol=portable_%) $@

$(TESTS)/oracles/%.o: asm/portable/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(TESTS_CXXFLAGS) -D$*=portable_$* -c -o $@ $<

$(TESTS)/%.cpp.o: tests/kernels/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(TESTS_CXXFLAGS) -c -o $@ $<

$(TESTS)/%.asm.o: tests/kernels/%.asm
	@mkdir -p $(@D)
	$(NASM) -f elf64 -Wall -MD $(@:.o=.d) -o $@ $<

-include $(KERNEL_TEST_OBJECTS:.o=.d) $(ORACLES:.o=.d)
