# tests.mk - the tests' rules.  Included at the end of the Makefile, whose variables it uses.
# kernels_test   builds and runs the tests of the kernels of ISA: tests/kernels/README.md

TESTS          := $(BUILD)/tests
TESTS_CXXFLAGS := -std=c++20 -O2 -g -fno-pie -ffp-contract=off -Wall -Wextra -MMD -MP

# Hosted, unlike the engine.
$(TESTS)/%.cpp.o: tests/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(TESTS_CXXFLAGS) -c -o $@ $<

# --- Kernel tests

KERNEL_STEMS   := $(basename $(notdir $(wildcard asm/portable/*.cpp)))
ORACLE_STEMS   := $(filter-out cpu,$(KERNEL_STEMS))
KERNEL_TESTS   := $(wildcard tests/kernels/*_test.cpp)
UNTESTED       := $(filter-out $(notdir $(KERNEL_TESTS:_test.cpp=)),$(KERNEL_STEMS))
KERNEL_OBJECTS := $(patsubst %,$(BUILD)/%.o,$(KERNEL_TESTS) tests/kernels/harness.cpp \
  tests/kernels/call.asm)
ORACLE_OBJECTS := $(ORACLE_STEMS:%=$(TESTS)/kernels/oracles/%.o)

.PHONY: kernels_test
kernels_test: $(TESTS)/kernels_test
	$< --gtest_brief=1

$(TESTS)/kernels_test: $(KERNEL_OBJECTS) $(TESTS)/kernels/kernels.o $(TESTS)/kernels/oracles.o
	$(if $(UNTESTED),$(error tests/kernels/ has no test of $(UNTESTED)))
	$(CXX) -no-pie -z noexecstack -o $@ $^ -lgtest

# Kernels and oracles become one object each, which shows the kernels' names alone: `exp` is a
# kernel's helper here and libm's function in the tests.
MERGE = $(CXX) -nostdlib -r -no-pie -Wl,--force-group-allocation -o $@.all $^ && \
  objcopy $(1:%=--keep-global-symbol=%) $@.all $@

# The very objects of the engine.
$(TESTS)/kernels/kernels.o: $(KERNELS:%=$(BUILD)/%.o)
	@mkdir -p $(@D)
	$(call MERGE,$(ORACLE_STEMS) cpu_ready cpu_needs)

# The portable kernels once more, with other names.
$(TESTS)/kernels/oracles.o: $(ORACLE_OBJECTS)
	$(call MERGE,$(ORACLE_STEMS:%=portable_%))

$(TESTS)/kernels/oracles/%.o: asm/portable/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(TESTS_CXXFLAGS) -D$*=portable_$* -c -o $@ $<

-include $(KERNEL_OBJECTS:.o=.d) $(ORACLE_OBJECTS:.o=.d)
