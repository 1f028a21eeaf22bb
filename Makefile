# Every target sets up what it needs, starting from a machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# Two test workers on two cores: one thread each, or they fight over the cores.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: demo test test-all mutation lint bench docs outputs pictures proof verified clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo      train on embedded data, end with a certified model and a report"
	@echo "make test      the tests (TESTS=path and ARGS='...' narrow them)"
	@echo "make test-all  the slow tests too"
	@echo "make mutation  plant faults in both checkers (trust/README.md)"
	@echo "make lint      ruff and pyright"
	@echo "make bench     the benchmarks (ARGS=name runs one)"
	@echo "make docs      the documentation, into site/"
	@echo "make outputs   run the examples of the docs and write what they print into the pages"
	@echo "make pictures  take the docs' screenshots of reports again (needs Chromium)"
	@echo "make proof     compile the checker's proof of soundness (needs Coq and Flocq)"
	@echo "make verified  build the proved checker, proof/ocaml/smilecheck (needs OCaml and Zarith)"
	@echo "make clean     remove the environment and everything built"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# torch goes first and by its exact version: from an open range pip would take a newer build with gigabytes of CUDA.
$(VENV)/.stamp-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(PIP) install --quiet -c constraints.txt -e '.[dev]'
	touch $@

$(VENV)/.stamp-docs: $(VENV)/.stamp-dev
	$(PIP) install --quiet -c constraints.txt -e '.[docs]'
	touch $@

demo: $(VENV)/.stamp-dev
	$(BIN)/smile demo $(ARGS)

test: $(VENV)/.stamp-dev
	$(ONE_THREAD) $(BIN)/python -m pytest $(ARGS) $(TESTS)

test-all: $(VENV)/.stamp-dev
	$(ONE_THREAD) $(BIN)/python -m pytest -m 'slow or not slow' $(ARGS) $(TESTS)

mutation: $(VENV)/.stamp-dev
	$(ONE_THREAD) $(BIN)/python -m pytest -m 'slow or not slow' tests/certify/test_mutation.py $(ARGS)

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(VENV)/.stamp-dev
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.stamp-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The tests compare the pages with what their examples print, so this is needed only where results have changed.
PAGES := index estimators coming-from unknown messy tutorials/credit tutorials/fairness tutorials/images tutorials/medicine
outputs: $(VENV)/.stamp-dev
	$(ONE_THREAD) $(BIN)/python docs/hooks/outputs.py $(PAGES:%=docs/%.md)

pictures: $(VENV)/.stamp-dev
	$(ONE_THREAD) $(BIN)/python docs/hooks/pictures.py

# Packages of Debian: coq libcoq-flocq for the proof, ocaml ocaml-findlib libzarith-ocaml-dev for the program. Where they are missing
# both targets say so and pass; with REQUIRE_PROOF=1, as continuous integration sets it, they fail.
proof:
	@if command -v coqc >/dev/null && [ -d "$$(coqc -where)/user-contrib/Flocq" ]; then $(MAKE) --no-print-directory -C proof; \
	else echo "The proof is not compiled: there is no coqc with Flocq; install coq and libcoq-flocq."; [ -z "$$REQUIRE_PROOF" ]; fi

verified:
	@if ocamlfind query zarith >/dev/null 2>&1; then $(MAKE) --no-print-directory -C proof/ocaml; \
	else echo "smilecheck is not built: there is no OCaml with Zarith; install ocaml, ocaml-findlib and libzarith-ocaml-dev."; \
	[ -z "$$REQUIRE_PROOF" ]; fi

clean:
	rm -rf $(VENV) build dist site .pytest_cache .ruff_cache .hypothesis
	$(MAKE) --no-print-directory -C proof clean
	$(MAKE) --no-print-directory -C proof/ocaml clean
	find src tests trust benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
