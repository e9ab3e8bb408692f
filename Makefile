# Entry points. The real work is in CMake (CMakePresets.json) and tools/; this file only has the
# commands.

JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local

# cmake starts its own make, which must not join the job server of this one.
CMAKE := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake

.PHONY: all demo test attack coverage fuzz test-slow test-bits test-gpu test-update bench bench-gpu bench-quick install deb wheel clean help

all: ## build the program, optimised, and leave it at build/tern
	@sh tools/setup.sh --check build
	@$(CMAKE) --preset release --log-level=WARNING >/dev/null
	@$(CMAKE) --build build/release --target product --parallel $(JOBS)
	@if [ -x build/release/tern ]; then ln -sfn release/tern build/tern; fi

demo: ## install what is missing, build, and train a classifier of sentences
	@sh tools/setup.sh build
	@$(MAKE) --no-print-directory all
	@cd examples/ail && ../../build/tern train topics.ail --allow fileread

test: ## install what is missing, build, and run every test but the slow ones
	@sh tools/setup.sh test
	@sh tools/test.sh --jobs $(JOBS)

test-slow: ## the exhaustive tests, and the ordinary ones with clang and in portable C
	@sh tools/setup.sh slow
	@sh tools/test.sh --jobs $(JOBS) --slow

attack: ## every attack of the collection on the release and the sanitizer build (about an hour)
	@sh tools/setup.sh test
	@sh tools/attack.sh --jobs $(JOBS)

test-bits: ## the same bits with every compiler, thread count, instruction set and machine; one table
	@sh tools/setup.sh slow
	@$(MAKE) --no-print-directory all
	@sh tools/test_bits.sh --jobs $(JOBS)

test-update: all ## put what really came in place of what tests expect; review the diff
	@$(CMAKE) --build build/release --target test-update --parallel $(JOBS)

test-gpu: all ## on a machine with an NVIDIA GPU: every operation and every program of tests/bits on it
	@sh tools/test_gpu.sh

bench: ## install the peers, measure beside them, and write docs/performance.md (twenty minutes)
	@sh tools/setup.sh bench
	@sh tools/bench.sh --jobs $(JOBS) --write docs
	@PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 bench/scaling.py build/release/tern

bench-gpu: ## this machine's GPU beside PyTorch: kernels, then training steps (two minutes)
	@$(CMAKE) --preset release -DTN_BENCH=ON
	@$(CMAKE) --build build/release --target bench_gpu bench_tern --parallel $(JOBS)
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/gpu.py build/release/bench/bench_gpu
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/gpu_steps.py build/release/bench/bench_tern

bench-quick: ## the same with few repetitions, nothing written (a minute or two)
	@sh tools/setup.sh bench
	@sh tools/bench.sh --jobs $(JOBS) --quick

fuzz: ## search for inputs that break something, SECONDS for each target (60)
	@sh tools/setup.sh fuzz
	@sh tools/fuzz.sh --seconds $(or $(SECONDS),60) --jobs $(JOBS)

coverage: ## which branches and conditions the tests take, by folder of src/ (clang-19)
	@sh tools/setup.sh coverage
	@sh tools/coverage.sh --jobs $(JOBS)

install: all ## copy program, libraries, header and documents under PREFIX (default /usr/local)
	@$(CMAKE) --install build/release --prefix "$(PREFIX)"
	@case "$(PREFIX)" in /usr | /usr/local) ldconfig ;; esac   # so that programs find the new library

deb: ## make a Debian package of it all, in build/
	@sh tools/setup.sh deb
	@$(MAKE) --no-print-directory all
	@sh tools/deb.sh build/release build

wheel: ## make a Python wheel with the library inside, in build/
	@sh tools/setup.sh wheel
	@$(MAKE) --no-print-directory all
	@TERN_LIBRARY=build/release/libtern.so $${TERN_PYTHON:-/usr/bin/python3} -m pip wheel . \
	  --disable-pip-version-check --no-build-isolation --no-deps --no-index -q -w build
	@ls build/tern-*.whl

clean: ## remove everything that was built
	@rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
