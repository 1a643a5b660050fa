# Every target sets up what it needs in .venv; a machine with Python >= 3.11 and make is enough.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
READY_BENCH := .venv/.ready-bench
SIDE_BY_SIDE := -n 2 --dist loadfile

.PHONY: setup demo test lint proof figures bench reproduce clean

setup: $(READY)

$(READY): pyproject.toml research/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --editable research
	touch $(READY)

demo: $(READY)
	$(BIN)/breakeven demo

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config research/pyproject.toml

test: lint
	$(BIN)/python -m pytest -q $(SIDE_BY_SIDE)
	cd research && ../$(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

proof: $(READY)
	HYPOTHESIS_PROFILE=proof $(BIN)/python -m pytest -q tests/properties tests/contracts tests/oracle tests/unit
	cd research && HYPOTHESIS_PROFILE=proof ../$(BIN)/python -m pytest -q tests/properties tests/oracle tests/unit

figures: $(READY)
	$(BIN)/python research/pages/figures.py

reproduce: $(READY)
	$(BIN)/breakeven reproduce --rules --out reproduction
	$(BIN)/python research/pages/reproduction.py reproduction

$(READY_BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --editable './research[bench]'
	touch $(READY_BENCH)

bench: $(READY_BENCH)
	$(BIN)/breakeven bench --out bench
	$(BIN)/python research/pages/benchmarks.py bench

clean:
	rm -rf .venv build dist bill demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
