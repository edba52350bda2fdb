# `make` alone lists the targets. Everything runs in .venv, which the first call creates.

PYTHON ?= python3
ARGS ?=
JOBS ?= auto

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup leaderboard test benchmarks speed check format clean

help: ## List the targets
	@echo "Targets (PYTHON=... picks the interpreter for .venv, ARGS=... is passed on):"
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

setup: $(STAMP) ## Create .venv and install humetric with its development tools
	@echo "humetric is ready in $(VENV)"

leaderboard: $(STAMP) ## Run the embedded suite and print its boards
	@$(BIN)/humetric run --suite embedded --out runs/embedded $(ARGS)

test: $(STAMP) ## Run the tests
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

benchmarks: $(STAMP) ## Check that scores, invariants and boards did not move
	@$(BIN)/python -m pytest benchmarks $(ARGS)

speed: $(STAMP) ## Measure speed and memory against their bounds, on a quiet machine
	@$(BIN)/python -m pytest benchmarks -m speed $(ARGS)

check: $(STAMP) ## Lint, check the format and the types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict src/humetric

format: $(STAMP) ## Format the code and apply the safe fixes
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean: ## Remove .venv, caches and build results; runs/ stays
	rm -rf $(VENV) dist build .benchmarks .mypy_cache .pytest_cache .ruff_cache
	find . -type d -name __pycache__ -prune -exec rm -rf {} +

# One pip call, so that the torch pin decides the build before anything else can ask for torch.
$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing humetric and its dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "humetric needs Python 3.11 or later, and '$(PYTHON)' is" \
		"$$($(PYTHON) --version 2>/dev/null || echo missing)." \
		"Name another one: make setup PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Creating $(VENV) (first time only, about a minute) ..."
	@$(PYTHON) -m venv --clear $(VENV)
