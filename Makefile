# Needs Python >= 3.11 with headers, make, git and a C++20 compiler; everything else goes into .venv.
# Without a compiler, the package ziglang brings one.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
            $(shell $(p) -c 'import sys, venv; print("$(p)") if sys.version_info >= (3, 11) else None' 2>/dev/null)))
BIN := .venv/bin
EXAMPLE := examples/city-survey.json
unexport PYTHONDONTWRITEBYTECODE  # test modules and libraries are compiled once, not in every process

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# the tests of make check: those without services, pages, commands and studies, and without tests that are marked slow
FAST := tests/model tests/formats tests/solvers tests/test_house.py
# the tests that reach the core
TESTS := tests/solvers tests/model/test_metric.py tests/test_fleets.py tests/learning/test_rehearsed_fleets.py
SOURCES := $(wildcard src/learnroute/cpp/*.* src/learnroute/cpp/*/*.*)
CORE := CMakeLists.txt pyproject.toml $(SOURCES)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install
# a compiler of the package ziglang, if .venv/tools has had to take it
ZIG = $(shell test -x $(BIN)/zig-c++ && echo CXX=$(CURDIR)/$(BIN)/zig-c++ \
        CMAKE_ARGS='"'-DCMAKE_AR=$(CURDIR)/$(BIN)/zig-ar -DCMAKE_RANLIB=$(CURDIR)/$(BIN)/zig-ranlib'"')
BUILD = PATH="$(CURDIR)/$(BIN):$$PATH" $(ZIG)
WERROR := OFF
EDITABLE = install --no-build-isolation --no-deps --config-settings=cmake.define.LEARNROUTE_WERROR=$(WERROR) --editable .

.PHONY: build demo check test lint lint-cpp sanitize coverage docs dist reproduce benchmark fuzz clean

build: .venv/core

demo: .venv/for-demo
	@mkdir -p demo
	$(BIN)/learnroute plan $(EXAMPLE) --plot demo/route.png -o demo/plan.json
	@echo "The picture is demo/route.png, the plan demo/plan.json."

check: lint
	$(PYTEST) -m "not slow" $(FAST)

test: lint
	$(PYTEST)

lint: .venv/installed
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/clang-format --dry-run -Werror $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# slow; clang reads the commands that compiled the core
lint-cpp: .venv/installed
	$(BIN)/run-clang-tidy.py -quiet -clang-tidy-binary $(BIN)/clang-tidy -p "$$(ls -td build/cp* | head -1)" src/learnroute/cpp

# the tests that reach the core, with the address and undefined-behaviour sanitizers of g++
sanitize: build/sanitize/core
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" PYTHONMALLOC=malloc \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 build/sanitize/bin/python -m pytest -n 2 $(TESTS)

# lines of the core that the same tests run
coverage: build/coverage/core
	find build/coverage -name '*.gcda' -delete
	build/coverage/bin/python -m pytest -n 2 $(TESTS)
	$(INSTALL) gcovr
	$(BIN)/gcovr --merge-lines --root src/learnroute/cpp build/coverage

docs: .venv/for-docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "The site is docs/_build/html/index.html."

dist: .venv/for-dist
	rm -rf dist
	$(BUILD) $(BIN)/python -m build --no-isolation --outdir dist .
	$(BUILD) $(BIN)/python tests/smoke.py dist

reproduce: .venv/installed
	$(BIN)/learnroute reproduce -o reproduction --report REPRODUCTION.md

benchmark: .venv/installed
	$(BIN)/python benchmarks/foundation.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/load.py

# attacks with new seeds for FUZZ_MINUTES (5); a failure prints the command that repeats it
fuzz: .venv/installed
	$(BIN)/python benchmarks/fuzz.py

clean:
	rm -rf .venv build demo dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# the demo needs little, the tests and studies everything
.venv/for-demo: EXTRAS := plot
.venv/for-docs: EXTRAS := docs
.venv/for-dist: EXTRAS := dist
.venv/installed: EXTRAS := dev
.venv/for-demo .venv/for-docs .venv/for-dist .venv/installed: pyproject.toml | .venv/core
	$(INSTALL) 'learnroute[$(EXTRAS)]'
	@touch $@

# one editable installation for all of the above; the build folder is kept, so only changed sources are compiled
.venv/core: .venv/tools $(CORE)
	$(BUILD) $(PIP) $(EDITABLE)
	$(BIN)/python -m compileall -q src  # commands start sooner, where Python is told to keep no bytecode, too
	@touch $@

# a debug build of the core, with these flags, in an environment of its own that has the packages of .venv
build/sanitize/core: FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
build/coverage/core: FLAGS := --coverage -fprofile-update=atomic  # several threads count
build/sanitize/core build/coverage/core: .venv/installed $(CORE)
	$(BIN)/python -m venv --without-pip $(@D)
	$(BIN)/python -c 'import sys; print(*(path for path in sys.path if path.endswith("-packages")), sep="\n")' > \
	  "$$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages.pth"
	CXXFLAGS="$(FLAGS)" LDFLAGS="$(FLAGS)" $(BUILD) $(PIP) --python=$(@D)/bin/python $(EDITABLE) \
	  --config-settings=cmake.build-type=Debug --config-settings=build-dir=$(@D)/objects
	@touch $@

# what compiles the core
.venv/tools: pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: Python >= 3.11 with venv is needed; say PYTHON=/path/to/python" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) --upgrade pip
	$(INSTALL) 'scikit-build-core>=1.1' 'nanobind>=3.1' 'cmake>=3.26' 'ninja>=1.11'
	@command -v "$${CXX:-c++}" > /dev/null || command -v g++ > /dev/null || command -v clang++ > /dev/null || { \
	  echo "make: there is no C++ compiler; taking that of the package ziglang, which needs some minutes" >&2; \
	  $(INSTALL) ziglang==0.17.0 && for tool in 'c++ -mcpu=baseline' ar ranlib; do \
	    file=$(BIN)/zig-$${tool%% *}; \
	    printf '#!/bin/sh\nexec "%s/python" -m ziglang %s "$$@"\n' '$(CURDIR)/$(BIN)' "$$tool" > $$file && chmod +x $$file; \
	  done; }
	@touch $@
