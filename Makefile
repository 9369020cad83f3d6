# `make run` and `make test` are all a newcomer needs. Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# Locks are complete: nothing is looked up. Python compiles what is imported, a small part of it all.
INSTALL := $(PIP) --require-hashes --no-deps --no-compile
PROJECTS := -e . -e services/retriever -e services/ingest -e services/agent
# As src/askem/cli.py sets it, for what does not start by `askem`.
export OPENBLAS_NUM_THREADS ?= 1
PROJECT_FILES := pyproject.toml services/retriever/pyproject.toml services/ingest/pyproject.toml services/agent/pyproject.toml

.PHONY: run test test-servers test-dpr eval tables check check-deploy images lint types imports locks \
	check-tables lock openapi clean

run: .venv/.ready
	@$(BIN)/python scripts/run.py

test: .venv/.ready-dev
	$(BIN)/python -m pytest

# On real Elasticsearch and Weaviate; fails where they cannot be had.
test-servers: .venv/.ready-dev
	@scripts/engines.sh status >/dev/null 2>&1 || trap 'scripts/engines.sh down' EXIT; \
	scripts/engines.sh up && eval "$$(scripts/engines.sh env)" && $(BIN)/python -m pytest -m servers

# Installs torch, some 6 GB, into .venv.
test-dpr: .venv/.ready-dpr
	$(BIN)/python -m pytest -m dpr

# Measures every suite: Askem's own, and those whose data ASKEM_EVAL_DATA names (evals/README.md).
# Answers are asked for on ANSWERS, of a server that is started for it.
SUITES := $(wildcard evals/suites/*.yaml)
ANSWERS ?= evals/suites/examples.yaml
eval: .venv/.ready-dev
	$(BIN)/askem eval run $(SUITES)
	$(BIN)/askem eval answers $(ANSWERS)

# Writes evals/tables from the result files.
tables: .venv/.ready-dev
	$(BIN)/askem eval tables $(SUITES)

check: lint types imports locks check-tables

check-tables: .venv/.ready-dev
	$(BIN)/askem eval tables --check $(SUITES)

# Deployment files; needs Go, nginx and shellcheck.
check-deploy: .venv/.ready-dev requirements-deploy.lock
	@$(INSTALL) -r requirements-deploy.lock
	$(BIN)/python scripts/check_deploy.py
	shellcheck -x scripts/*.sh deploy/*.sh
	$(BIN)/python scripts/check_slow_senders.py

# Builds the services' images and starts each; as root, needs buildah. `make images BASE=debootstrap`
# where no base image can be pulled.
BASE ?= python:3.12-slim
images:
	scripts/build_images.sh --base $(BASE)

lint: .venv/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.ready-dev
	$(BIN)/mypy

imports: .venv/.ready-dev
	$(BIN)/lint-imports

locks: .venv/.ready-dev
	$(BIN)/python scripts/check_locks.py

# Rewrites the lock files; `make lock UPGRADE=--upgrade` moves to newer versions.
lock: .venv/.ready-dev
	$(BIN)/python scripts/lock.py $(UPGRADE)

openapi: .venv/.ready
	$(BIN)/python scripts/openapi.py > docs/openapi.json

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Askem needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || \
		{ echo "Could not make .venv; on Debian and Ubuntu: apt install python3-venv"; rm -rf .venv; exit 1; }

.venv/.ready: requirements.lock requirements-encoder.lock $(PROJECT_FILES) | .venv/bin/python
	@echo "Installing what Askem needs into .venv (about a minute the first time)"
	@$(INSTALL) -r requirements.lock -r requirements-encoder.lock
	@$(PIP) --no-deps --no-build-isolation $(PROJECTS)
	@touch $@

.venv/.ready-servers: requirements-servers.lock .venv/.ready
	@$(INSTALL) -r requirements-servers.lock
	@touch $@

.venv/.ready-dev: requirements-dev.lock .venv/.ready
	@$(INSTALL) -r requirements-dev.lock
	@touch $@

.venv/.ready-dpr: requirements-dpr.lock .venv/.ready-dev
	@echo "Installing torch and transformers into .venv (some minutes the first time)"
	@$(INSTALL) -r requirements-dpr.lock
	@touch $@

clean:
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
