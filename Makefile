# Forwards to CMake, the only build system.  All that is made goes to build/.
#
#   make              the library and the examples          make test       all tests
#   make demo         what Arras does, in a minute          make check      the quick ones, in a few minutes
#   make install      to PREFIX (/usr/local)                make test-all   with long random runs
#   make bench        Arras, C and peers, ratios            make fuzz       libFuzzer, FUZZ_SECONDS each
#   make clean                                              make format     lays out the C files
#
# Each first sees to the Debian packages it needs: tools/setup.

PREFIX       ?= /usr/local
PROGRAMS     ?= 1000
SEED         ?= 1
FUZZ_SECONDS ?= 10
BENCH        ?=

RELEASE = build/release
CONFIGURE = cmake -G Ninja -S . -B $(RELEASE) -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
BUILD = cmake --build $(RELEASE)
RUN_TESTS = tools/run_tests --seed $(SEED)

.PHONY: all demo install check test test-all fuzz bench format clean

all:
	@tools/setup build
	$(CONFIGURE)
	$(BUILD)

demo:
	@tools/setup demo
	$(CONFIGURE)
	$(BUILD) --target arras_command -- --quiet
	@tools/demo $(RELEASE)/arras

install: all
	cmake --install $(RELEASE) --prefix $(PREFIX)

check:
	@tools/setup test
	@$(RUN_TESTS) --quick

test:
	@tools/setup test
	@$(RUN_TESTS) --programs $(PROGRAMS) --fuzz-seconds $(FUZZ_SECONDS)

test-all:
	@tools/setup test-all
	@$(RUN_TESTS) --others --programs 20000 --fuzz-seconds 300

fuzz:
	@tools/setup fuzz
	@$(RUN_TESTS) --only fuzz --fuzz-seconds $(FUZZ_SECONDS)

# BENCH: options of bench/bench.py, as in make bench BENCH="--only gather --json gather.json"
bench:
	@tools/setup bench
	$(CONFIGURE) -DARRAS_BENCH=ON
	$(BUILD) -- --quiet
	python3 bench/bench.py $(BENCH)

format:
	@tools/setup format
	tools/format

clean:
	rm -rf build
