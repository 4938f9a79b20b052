# `make demo` and `make test` set up everything they need in .venv; nothing is installed elsewhere.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := $(wildcard native/*.cpp native/*.hpp) CMakeLists.txt pyproject.toml

.PHONY: help demo test lint types unit torture bench docs clean
help:            ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.installed: $(NATIVE)
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[test]'
	@touch $@

demo: $(VENV)/.installed   ## train on the documentation inside your own Python and look around
	$(BIN)/omnitm demo

test: lint types unit      ## lint, types and all fast tests

lint: $(VENV)/.installed   ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed  ## mypy --strict
	$(BIN)/mypy

unit: $(VENV)/.installed   ## pytest
	$(BIN)/pytest

torture: $(VENV)/.installed ## the long tests
	$(BIN)/pytest -m torture

.venv-peers/.installed: benchmarks/peers.txt
	@test -d .venv-peers || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --upgrade pip
	.venv-peers/bin/python -m pip install --quiet -r benchmarks/peers.txt
	@touch $@

bench: $(VENV)/.installed .venv-peers/.installed ## compare with TMU: what is learnt, and how fast
	$(BIN)/python benchmarks/agreement.py | tee benchmarks/results/agreement.json
	$(BIN)/python benchmarks/kernel.py

.venv-docs/.installed: pyproject.toml
	@test -d .venv-docs || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --upgrade pip
	.venv-docs/bin/python -m pip install --quiet 'mkdocs-material>=9.5' 'mkdocstrings[python]>=0.27' ruff==0.17.4
	@touch $@

docs: .venv-docs/.installed ## the documentation site, in build/site
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet

clean:           ## remove everything that was built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
