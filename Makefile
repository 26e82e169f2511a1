# Needs Python >= 3.11, make and git; everything else goes into .venv.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
            $(shell $(p) -c 'import sys, venv; print("$(p)") if sys.version_info >= (3, 11) else None' 2>/dev/null)))
BIN := .venv/bin
EXAMPLE := examples/city-survey.json

.PHONY: demo test docs dist reproduce benchmark clean

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
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python tests/smoke.py dist

reproduce: .venv/installed
	$(BIN)/learnroute reproduce -o reproduction --report REPRODUCTION.md

benchmark: .venv/installed
	$(BIN)/python benchmarks/foundation.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/load.py

clean:
	rm -rf .venv demo dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# the demo needs little, the tests and studies everything
.venv/for-demo: EXTRAS := plot
.venv/for-docs: EXTRAS := docs
.venv/for-dist: EXTRAS := dist
.venv/installed: EXTRAS := dev
.venv/for-demo .venv/for-docs .venv/for-dist .venv/installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: Python >= 3.11 with venv is needed; say PYTHON=/path/to/python" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	$(BIN)/python -m compileall -q src  # commands start sooner, where Python is told to keep no bytecode, too
	@touch $@
