# `make demo` and `make test` set up everything they need in .venv; nothing is installed elsewhere.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := $(wildcard native/*.cpp native/*.hpp) CMakeLists.txt pyproject.toml

.PHONY: help demo test lint types unit torture sanitize mutants bench docs clean
help:            ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

# What pip and the compiler say goes to a log; of a failure its end is shown. Without --no-compile, half of the time goes
# to byte code that is never run.
INSTALL_LOG := build/install.log
PIP = $(BIN)/python -m pip --disable-pip-version-check install --no-compile
define logged
	@mkdir -p build && echo "$(1) (log: $(INSTALL_LOG))"
	@{ echo "== $(1)"; $(2); } >> $(INSTALL_LOG) 2>&1 || { tail -n 20 $(INSTALL_LOG); \
	    echo "$(1): failed; all that was said is in $(INSTALL_LOG)"; exit 1; }
endef

MISSING_TOOLS := $(foreach tool,cmake ninja,$(if $(shell command -v $(tool)),,$(tool)))

# What the package itself needs, and the tools that build it; without an isolated build, so that later ones are quick.
$(VENV)/.built: $(NATIVE)
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(call logged,installing what builds omnitm,$(PIP) 'scikit-build-core>=0.10' 'nanobind>=2.4' $(MISSING_TOOLS))
	$(call logged,building and installing omnitm,$(PIP) --no-build-isolation -e .)
	@touch $@

$(VENV)/.installed: $(VENV)/.built
	$(call logged,installing what the tests need,$(PIP) --no-build-isolation -e '.[test]')
	@touch $@

# What finds faults that keep people from reading a page aloud or using it without a mouse.
AXE := build/npm/node_modules/axe-core/axe.min.js
$(AXE):
	$(call logged,installing axe-core,npm install --no-save --no-audit --no-fund --prefix build/npm axe-core@4.14.0)

demo: $(VENV)/.built       ## train on the documentation inside your own Python and look around
	$(BIN)/omnitm demo

test: lint types unit      ## lint, types and all fast tests

lint: $(VENV)/.installed   ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed  ## mypy --strict
	$(BIN)/mypy

unit: $(VENV)/.installed $(if $(shell command -v npm),$(AXE))   ## pytest
	$(BIN)/pytest

torture: $(VENV)/.installed ## the long tests
	$(BIN)/pytest -m torture --results benchmarks/results/torture.json

# A copy of the package with sanitized native code; Python itself leaks on purpose, so leaks are not counted. The tests are
# those of every native file: kernels, classifier, shared banks, text and index, vectors and similarity, GloVe; then 10,000
# calls of every binding with wrong arguments, for which memory may be refused.
SANITIZED := tests/test_native.py tests/files/test_hashing.py tests/machine tests/corpus tests/training/test_training.py tests/similarity/test_combined.py tests/similarity/test_profiles.py tests/similarity/test_nearest.py \
    tests/similarity/test_row_products.py tests/baselines/test_glove.py tests/baselines/test_tmae.py
# A process that is started imports the ordinary native code, so there is nothing to see in it.
NOT_SANITIZED := --deselect tests/corpus/test_bad_input.py::test_ctrl_c_leaves_nothing_behind
sanitize: $(VENV)/.installed ## the native code under address and undefined-behaviour sanitizers
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/sanitize -G Ninja -DOMNITM_SANITIZE=ON \
	    -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python"
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/sanitize --target _native
	rm -rf build/sanitized && mkdir -p build/sanitized && cp -r src/omnitm build/sanitized/
	rm -f build/sanitized/omnitm/_native.*.so && cp build/sanitize/_native.*so build/sanitized/omnitm/
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096 \
	    OMNITM_FUZZED_CALLS=10000 UBSAN_OPTIONS=print_stacktrace=1 PYTHONPATH=build/sanitized \
	    OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/sanitize.py -p no:cacheprovider --capture=sys $(SANITIZED) \
	    --ignore tests/corpus/test_memory.py --ignore tests/machine/test_agreement_with_tmu.py \
	    --ignore tests/machine/test_classifier_agreement.py $(NOT_SANITIZED) $(SANITIZE)

mutants: $(VENV)/.installed ## do tests notice when the code is changed? 10 minutes of CPU
	OPENBLAS_NUM_THREADS=1 nice $(BIN)/python benchmarks/mutants.py $(MUTANTS)

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
