# Every target sets up what it needs in .venv; a machine with Python >= 3.11 and make is enough.
PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
READY := .venv/.ready
READY_BENCH := .venv/.ready-bench
READY_STUDIO := .venv-studio/.ready
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
BOTH := --editable '.[dev]' --editable research
SIDE_BY_SIDE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder  # the shortest files come last
QUICK := -m 'not slow'
SEEDED = $(if $(SEED),--hypothesis-profile=seeded --hypothesis-seed=$(SEED))  # SEED=1 draws other examples
FAST := tests/unit tests/contracts
RIVER := src/breakeven/adapters/river.py
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes: each would compile all it imports
OLDEST = $(BIN)/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct

.PHONY: setup check lint test proof proof-package proof-research engines oldest demo serve docs dist figures reproduce decisions bench clean

setup: $(READY)

$(READY): pyproject.toml research/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) $(BOTH)
	touch $(READY)

demo: $(READY)
	$(BIN)/breakeven demo

# The service with a stream of simulated parcels, whose desk you can take over; Ctrl-C stops.
serve: $(READY)
	$(BIN)/breakeven serve --demo

# The inner loop, for everything up to the learner: less than two minutes.
check: lint
	$(BIN)/python -m pytest -q $(SIDE_BY_SIDE) $(QUICK) $(FAST)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config research/pyproject.toml

test: lint
	$(BIN)/python -m pytest -q $(SIDE_BY_SIDE) $(QUICK) $(SEEDED)
	cd research && ../$(BIN)/python -m pytest -q $(SIDE_BY_SIDE) $(QUICK) $(SEEDED)

# Everything, also what is slow, with hundreds to thousands of examples of every property.
proof: proof-package proof-research

proof-package: $(READY) $(READY_STUDIO)
	HYPOTHESIS_PROFILE=proof $(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

proof-research: $(READY)
	cd research && HYPOTHESIS_PROFILE=proof ../$(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

# Spark beside one machine: every number of groups, through kills; part of the proof. It needs Java 17 or newer.
engines: $(READY)
	$(BIN)/python -m pytest -q tests/engines tests/unit/test_groups.py tests/oracle/test_groups.py

# A Label Studio for the desks, a gigabyte in an environment of its own: it pins much that we do not.
$(READY_STUDIO):
	$(PYTHON) -m venv .venv-studio
	.venv-studio/bin/python $(PIP_INSTALL) label-studio==1.23.2
	touch $(READY_STUDIO)

# The oldest versions of what we depend on that pyproject.toml allows, in an environment of their own.
oldest: $(READY)
	$(BIN)/python $(PIP_INSTALL) uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-oldest
	$(OLDEST) --editable '.[client,demo,desks,fast,postgres,report,service,tables,test]' --editable research
	.venv-oldest/bin/python -m pytest -q $(SIDE_BY_SIDE) $(QUICK) $(FAST) tests/adapters tests/cli tests/planning tests/report tests/tables src --ignore $(RIVER)
	$(OLDEST) --editable '.[river,test]'  # which asks for a newer scipy than we do
	.venv-oldest/bin/python -m pytest -q $(SIDE_BY_SIDE) $(QUICK) tests/adapters/test_river.py $(RIVER)

# The pages of docs/ as a site in site/, which is read without a network.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "Open site/index.html"

# Wheel and source distribution in dist/, each tried out in empty environments: some minutes. Spark needs Java.
dist: $(READY)
	rm -rf dist
	for package in . research; do $(BIN)/python -m build --outdir dist $$package >dist.log 2>&1 || { cat dist.log; exit 1; }; done
	rm dist.log
	$(BIN)/python -m tests.dist.install dist

figures: $(READY)
	cd research && ../$(BIN)/python -m pages.figures

reproduce: $(READY)
	$(BIN)/breakeven reproduce --rules --out reproduction
	cd research && ../$(BIN)/python -m pages.reproduction ../reproduction

# Hours: every stream, price and rival. What is done is kept, so it may be stopped and begun again.
decisions: $(READY)
	$(BIN)/breakeven reproduce --streams --workers $(WORKERS) --out decisions
	cp decisions/decisions.md docs/decisions.md

$(READY_BENCH): $(READY)
	$(BIN)/python $(PIP_INSTALL) --editable . --editable './research[bench]'
	touch $(READY_BENCH)

bench: $(READY_BENCH)
	$(BIN)/breakeven bench --out bench
	cd research && ../$(BIN)/python -m pages.benchmarks ../bench

clean:
	rm -rf .venv .venv-oldest .venv-studio build dist site bill demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
