# unit.mk - the hosted tests' rules, included by the Makefile behind tests.mk: tests/unit/README.md
# unit_test       builds and runs the tests of loader, tokenizer, forward pass and sampler of ISA
# unit_asan_test  the same under AddressSanitizer and UBSan, but for those with threads

comma      := ,
UNIT_FLAGS := -std=c++20 -O1 -g -fno-pie -fno-threadsafe-statics -ffp-contract=off -DMOTE_HOSTED \
  -Wall -Wextra -Wno-register -Wno-invalid-offsetof -MMD -MP $(CXXFLAGS_ISA_$(ISA))
# Unaligned reads are the rule in loader/, an arena is measured from a null pointer, and a table of
# parameters goes on in the fields behind it.
ASAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fno-sanitize=alignment,null,pointer-overflow,bounds
# The kernels that exact.cpp stands before.
UNIT_WRAP    := $(patsubst %,-Wl$(comma)--wrap=%,quantise $(addprefix matmul_,$(ALL_TYPES)))
UNIT_ENGINE  := $(sort $(wildcard runtime/*.cpp loader/*.cpp))
UNIT_SOURCES := $(UNIT_ENGINE) $(sort $(wildcard tests/unit/*.cpp))

.PHONY: unit_test unit_asan_test
unit_test unit_asan_test: %: $(TESTS)/%
	$< --gtest_brief=1

$(TESTS)/unit_test: $(UNIT_SOURCES:%=$(TESTS)/hosted/%.o) $(TESTS)/kernels/kernels.o \
  | $(TESTS)/good/good-gemma.gguf
	$(CXX) -no-pie -z noexecstack $(UNIT_WRAP) -o $@ $^ -lgtest -lgtest_main

$(TESTS)/unit_asan_test: $(UNIT_SOURCES:%=$(TESTS)/asan/%.o) $(TESTS)/kernels/kernels.o \
  | $(TESTS)/good/good-gemma.gguf
	$(CXX) -no-pie -z noexecstack $(ASAN_FLAGS) $(UNIT_WRAP) -o $@ $^ -lgtest -lgtest_main

# The engine's main() and fail() give way to the test's.
$(TESTS)/hosted/runtime/main.cpp.o $(TESTS)/asan/runtime/main.cpp.o: UNIT_RENAME := -Dmain=mote_main
$(TESTS)/hosted/runtime/io.cpp.o $(TESTS)/asan/runtime/io.cpp.o: UNIT_RENAME := -Dfail=mote_fail

$(TESTS)/hosted/tests/unit/exact.cpp.o: UNIT_FLAGS += -O2

$(TESTS)/hosted/%.o: %
	@mkdir -p $(@D)
	$(CXX) $(UNIT_FLAGS) $(UNIT_RENAME) -c -o $@ $<

$(TESTS)/asan/%.o: %
	@mkdir -p $(@D)
	$(CXX) $(UNIT_FLAGS) $(ASAN_FLAGS) $(UNIT_RENAME) -c -o $@ $<

$(TESTS)/good/good-gemma.gguf: $(wildcard tests/e2e/bad_*.py tests/e2e/gguf_edit.py)
	@rm -rf $(@D)
	python3 tests/e2e/bad_cases.py --good $(@D)

-include $(UNIT_SOURCES:%=$(TESTS)/hosted/%.d) $(UNIT_SOURCES:%=$(TESTS)/asan/%.d)
