# Each target builds .venv when it is needed: `make demo` and `make test` work on a fresh checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.demo

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all test-oldest fuzz mutants lint types docs readme bench bench-fits bench-scale bench-quality bench-suite bench-stability bench-scenes bench-beyond clean

help:
	@echo "make demo | test | test-all | test-oldest | fuzz | mutants | lint | types | docs | readme | bench | bench-fits | bench-scale | bench-quality | bench-suite | bench-stability | bench-scenes | bench-beyond | clean"

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What the demo imports and no more; Python compiles on first import what is imported.
$(DEMO): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[demo]'
	touch $@

# compileall goes on after files that are no valid Python (tests of some packages) and says so.
$(STAMP): pyproject.toml | $(BIN)/python
	$(PIP) --upgrade pip
	$(PIP) --group dev --editable '.[bench,cli,dask,demo,plot,report]'
	-$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null
	touch $@ $(DEMO)

install: $(STAMP)

demo: $(DEMO)
	$(BIN)/convexcluster demo --out demo --force

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-all: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'slow or not slow'

# The oldest versions that pyproject.toml allows, in an environment of their own.
OLDEST := .venv-oldest
$(OLDEST)/.installed: pyproject.toml fuzz/oldest.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) fuzz/oldest.py > $(OLDEST)/oldest.txt
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check --requirement $(OLDEST)/oldest.txt
	touch $@

test-oldest: $(OLDEST)/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin/python -m pytest -n 2 --dist loadfile tests

# As long as SECONDS says; what was found is printed as commands that repeat it.
SECONDS ?= 1800
fuzz: $(STAMP)
	$(BIN)/python -m fuzz --seconds $(SECONDS)

# MUTANTS small changes of the code, of which the tests should notice every one that matters.
MUTANTS ?= 400
mutants: $(STAMP)
	$(BIN)/python -m fuzz.mutants --count $(MUTANTS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/repo-review --show err .

# The package, then a program as a user writes it.
types: $(STAMP)
	$(BIN)/mypy
	MYPYPATH=src $(BIN)/mypy --strict --config-file= --follow-imports=silent tests/typed/user.py

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(STAMP)
	$(BIN)/python -m benchmarks

bench-fits: $(STAMP)
	$(BIN)/python -m benchmarks.fits

bench-scale: $(STAMP)
	$(BIN)/python -m benchmarks.scale

# A rival that cannot be installed is left out of the pages, which say so.
RIVALS := $(VENV)/.rivals
$(RIVALS): $(STAMP)
	-$(PIP) --group rivals && touch $@

# What README.md shows of the demo, of its lines of Python and of the comparison.
readme: $(RIVALS)
	$(BIN)/python -m benchmarks.readme
	$(BIN)/python -m benchmarks.quality front

bench-quality: $(RIVALS)
	$(BIN)/python -m benchmarks.quality

bench-suite: $(RIVALS)
	$(BIN)/python -m benchmarks.suite

bench-stability: $(STAMP)
	$(BIN)/python -m benchmarks.stability

bench-scenes: $(STAMP)
	$(BIN)/python -m benchmarks.scenes

bench-beyond: $(STAMP)
	$(BIN)/python -m benchmarks.beyond

clean:
	rm -rf $(VENV) $(OLDEST) demo docs/_build docs/auto_examples docs/generated .pytest_cache .mypy_cache .ruff_cache
