# `make help` prints the lines that carry a ## comment.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORK ?= bench/out
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types imports unit e2e e2e-agents bench crash docs clean

help: ## Show what there is
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/memman: pyproject.toml scripts/memman
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

setup: $(BIN)/memman ## Make .venv with memman and its development tools

demo: ## Install into a fresh environment, remember, drain, recall; show every step
	@PYTHON=$(PYTHON) e2e/demo.sh

test: lint types imports unit ## Lint, type-check, check imports, run the tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lint-imports

unit: setup
	$(BIN)/python -m compileall -q memman
	$(BIN)/pytest -n auto --dist loadfile tests
	$(BIN)/pytest e2e

e2e: setup ## The installed wheel by subprocess: demo questions, scripted providers
	$(BIN)/pytest e2e

e2e-agents: setup ## The real clients from npm, wired by `memman install`, against a loopback model
	$(BIN)/pytest e2e/agents

bench: setup ## Figures of speed and size, as JSON and a table (QUICK=1 for the short form)
	$(BIN)/python -m bench.speed --work $(WORK) --json $(WORK)/speed.json $(if $(QUICK),--quick)

crash: setup ## The kill sweep in its long form
	MEMMAN_CRASH_KILLS=$${KILLS:-100} $(BIN)/pytest tests/crash

docs: setup ## Write the generated parts of the docs
	$(BIN)/python tools/generate_docs.py

clean: ## Remove what was built
	rm -rf $(VENV) dist build bench/out .mypy_cache .ruff_cache .pytest_cache .hypothesis
