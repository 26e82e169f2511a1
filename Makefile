# Needs Python >= 3.11, make and git; everything else goes into .venv.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
            $(shell $(p) -c 'import sys, venv; print("$(p)") if sys.version_info >= (3, 11) else None' 2>/dev/null)))
BIN := .venv/bin
EXAMPLE := examples/city-survey.json

.PHONY: demo test benchmark clean

demo: .venv/installed
	@mkdir -p demo
	$(BIN)/learnroute plan $(EXAMPLE) --plot demo/route.png -o demo/plan.json
	@echo "The picture is demo/route.png, the plan demo/plan.json."

test: .venv/installed
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -n 2

benchmark: .venv/installed
	$(BIN)/python benchmarks/foundation.py

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: Python >= 3.11 with venv is needed; say PYTHON=/path/to/python" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
