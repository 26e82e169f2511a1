# Needs Python >= 3.11 with headers, make, git and a C++20 compiler; everything else goes into .venv.
# Without a compiler, the package ziglang brings one.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
            $(shell $(p) -c 'import sys, venv; print("$(p)") if sys.version_info >= (3, 11) else None' 2>/dev/null)))
BIN := .venv/bin
EXAMPLE := examples/city-survey.json

CORE := CMakeLists.txt pyproject.toml $(wildcard src/learnroute/cpp/*)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BUILD = PATH="$(CURDIR)/$(BIN):$$PATH" $(shell test -x $(BIN)/zig-c++ && echo CXX=$(CURDIR)/$(BIN)/zig-c++ \
          CMAKE_ARGS='"'-DCMAKE_AR=$(CURDIR)/$(BIN)/zig-ar -DCMAKE_RANLIB=$(CURDIR)/$(BIN)/zig-ranlib'"')

.PHONY: build demo test docs dist reproduce benchmark clean

build: .venv/core

demo: .venv/for-demo
	@mkdir -p demo
	$(BIN)/learnroute plan $(EXAMPLE) --plot demo/route.png -o demo/plan.json
	@echo "The picture is demo/route.png, the plan demo/plan.json."

test: .venv/installed
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -n 2

docs: .venv/for-docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "The site is docs/_build/html/index.html."

dist: .venv/for-dist
	rm -rf dist
	$(BUILD) $(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python tests/smoke.py dist

reproduce: .venv/installed
	$(BIN)/learnroute reproduce -o reproduction --report REPRODUCTION.md

benchmark: .venv/installed
	$(BIN)/python benchmarks/foundation.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/load.py

clean:
	rm -rf .venv build demo dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# the demo needs little, the tests and studies everything
.venv/for-demo: EXTRAS := plot
.venv/for-docs: EXTRAS := docs
.venv/for-dist: EXTRAS := dist
.venv/installed: EXTRAS := dev
.venv/for-demo .venv/for-docs .venv/for-dist .venv/installed: .venv/core pyproject.toml
	$(INSTALL) 'learnroute[$(EXTRAS)]'
	@touch $@

# one editable installation for all of the above; the build folder is kept, so only changed sources are compiled
.venv/core: .venv/tools $(CORE)
	$(BUILD) $(INSTALL) --no-build-isolation --no-deps --editable .
	$(BIN)/python -m compileall -q src  # commands start sooner, where Python is told to keep no bytecode, too
	@touch $@

# what compiles the core
.venv/tools: pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: Python >= 3.11 with venv is needed; say PYTHON=/path/to/python" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) --upgrade pip
	$(INSTALL) 'scikit-build-core>=1.1' 'nanobind>=3.1' 'cmake>=3.26' 'ninja>=1.11'
	@command -v "$${CXX:-c++}" > /dev/null || command -v g++ > /dev/null || command -v clang++ > /dev/null || { \
	  echo "make: there is no C++ compiler; taking that of the package ziglang, which needs some minutes" >&2; \
	  $(INSTALL) ziglang && for tool in 'c++ -mcpu=baseline' ar ranlib; do \
	    file=$(BIN)/zig-$${tool%% *}; \
	    printf '#!/bin/sh\nexec "%s/python" -m ziglang %s "$$@"\n' '$(CURDIR)/$(BIN)' "$$tool" > $$file && chmod +x $$file; \
	  done; }
	@touch $@
