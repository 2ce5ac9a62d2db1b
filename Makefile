# Every target sets up what it needs: a fresh clone needs Python 3.11+ and pip, nothing else.

PYTHON ?= python3
VENV ?= .venv

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.installed-package
BENCH_STAMP := $(VENV)/.installed-bench
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary -c constraints.txt

# A dot every two seconds: an installation of minutes that says nothing looks like one that hangs.
define with_dots
	@$(1) & pid=$$!; while kill -0 $$pid 2>/dev/null; do printf .; sleep 2; done; echo; wait $$pid
endef

.DEFAULT_GOAL := help
.PHONY: help demo test check format integration_tests notebooks screenshots reliability soak bench docs dist clean

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z_]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(DEMO_STAMP) ## Show what the engine does, in a terminal, offline
	@$(BIN)/memengine demo

test: $(STAMP) ## Run the unit tests: no network, no clock
	@$(BIN)/python -m pytest -n auto --dist worksteal

check: $(STAMP) ## Check format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy examples
	$(BIN)/lint-imports

format: $(STAMP) ## Format the code and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

integration_tests: $(STAMP) ## Run the tests that need processes, sockets or servers
	@$(BIN)/python -m pytest integration_tests

notebooks: $(STAMP) ## Run all notebooks; `make docs` then shows them with their output
	@$(BIN)/python -m docs.notebooks

screenshots: $(STAMP) ## Take the README's pictures anew (needs Debian's chromium, chromium-driver)
	$(BIN)/python -m docs.generate
	$(BIN)/python -m integration_tests.notebooks.screenshots

reliability: $(STAMP) ## Kill, damage and starve it briefly; print the figures in one table
	@$(BIN)/python -m integration_tests.figures

# Hours, rather than a minute; every size may be set.
soak: export MEMENGINE_KILL_CYCLES ?= 1000
soak: export MEMENGINE_CHROMA_KILLS ?= 30
soak: export MEMENGINE_ERROR_KINDS ?= 3
soak: export MEMENGINE_FUZZ ?= 100000
soak: export MEMENGINE_MACHINE ?= 5000
soak: export MEMENGINE_POSTGRESQL_KILL_CYCLES ?= 12
soak: export MEMENGINE_MARIADB_KILL_CYCLES ?= 8
soak: export MEMENGINE_SERVER_KILLS ?= 10
soak: export MEMENGINE_REPLICA_SECONDS ?= 60
soak: $(STAMP) ## The same as reliability, full size, and servers and the contract of compaction
	@$(BIN)/python -m integration_tests.figures integration_tests/servers/test_kills.py \
		integration_tests/servers/test_replicas.py
	@MEMENGINE_EXAMPLES=50000 $(BIN)/python -m pytest --timeout 7200 tests/conversation/test_contract.py

bench: $(BENCH_STAMP) ## Compare with peers, briefly: search, indexes, memory, compaction, graph, …
	$(BIN)/python benchmarks/search.py --chunks 1000
	$(BIN)/python benchmarks/checks.py --chunks 1000
	$(BIN)/python benchmarks/keywords.py --chunks 1000
	$(BIN)/python benchmarks/filtered.py --chunks 2000 --queries 60
	$(BIN)/python benchmarks/growth.py --sizes 1000 4000
	$(BIN)/python benchmarks/indexing.py --chunks 1000
	$(BIN)/python benchmarks/opening.py --chunks 1000
	$(BIN)/python benchmarks/store.py --items 1000
	$(BIN)/python benchmarks/memory.py --chunks 2000
	$(BIN)/python benchmarks/scaling.py --sizes 500 1000
	$(BIN)/python benchmarks/syncing.py --files 1000
	$(BIN)/python benchmarks/watching.py --files 1000
	$(BIN)/python benchmarks/compaction.py --histories 200
	$(BIN)/python benchmarks/turns.py --turns 200
	$(BIN)/python benchmarks/middleware.py --memories 1000
	$(BIN)/python benchmarks/graph.py --entities 1000 --relations 4000
	$(BIN)/python benchmarks/experience.py --experiences 1000
	$(BIN)/python benchmarks/jobs.py --jobs 50 --chunks 1000

# The generator's own notices of its end of life and of its successor are no warnings about our pages.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(STAMP) ## Build the documentation into build/site; a warning fails it
	@$(BIN)/mkdocs build --quiet --strict --clean
	@echo "Open build/site/index.html. To search it, too: $(BIN)/python -m http.server -d build/site"

dist: $(STAMP) ## Build the wheel and the source distribution into dist, and check them
	rm -rf dist
	@$(BIN)/python -m build --no-isolation
	@$(BIN)/twine check --strict dist/*

# Only .venv is removed: a folder given as VENV belongs to whoever gave it.
clean: ## Remove .venv, caches and build output
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks
	find . -name __pycache__ -prune -exec rm -rf {} +

# Debian's python3 lacks ensurepip unless python3-venv is installed; pip itself can then fill the
# environment, so that Python and pip are enough there too.
$(DEMO_STAMP): pyproject.toml constraints.txt
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "'$(PYTHON)' was not found. Install Python 3.11 or newer, or run: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "langchain-memengine needs Python 3.11 or newer; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1). Run: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Installing langchain-memengine into $(VENV) (once; a few minutes) …"
	@if "$(PYTHON)" -c 'import ensurepip' 2>/dev/null; then \
		"$(PYTHON)" -m venv "$(VENV)"; \
	else \
		"$(PYTHON)" -m venv --without-pip "$(VENV)" && \
		"$(PYTHON)" -m pip --python "$(BIN)/python" install --quiet --disable-pip-version-check pip; \
	fi
	$(call with_dots,$(INSTALL) -e '.[agents]')
	@touch $@

$(STAMP): $(DEMO_STAMP)
	@echo "Installing what tests, notebooks and pages need into $(VENV) (once; a few minutes) …"
	$(call with_dots,$(INSTALL) -e '.[dev]')
	@touch $@

$(BENCH_STAMP): $(STAMP)
	@echo "Installing the peers to compare with into $(VENV) …"
	$(call with_dots,$(INSTALL) -e '.[bench]')
	@touch $@
