# Two commands do everything on a machine with Python >= 3.11: make demo, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
CASES ?= 10000
SEED ?= 0

.PHONY: demo test fuzz lint types docs bench clean

demo: $(VENV)/.demo
	$(BIN)/python examples/breast_cancer.py --out demo-output

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n $(WORKERS)

fuzz: $(VENV)/.test
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases $(CASES) --seed $(SEED)

lint: $(VENV)/.dev
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check --no-cache .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	$(BIN)/python -m sphinx -W -q -b doctest docs docs/_build/doctest
	@echo "documentation: docs/_build/html/index.html"

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.papers.simulations
	$(BIN)/python -m benchmarks.peers.speed

clean:
	rm -rf $(VENV) demo-output docs/_build docs/api/generated docs/tutorials .pytest_cache .mypy_cache .ruff_cache .hypothesis

# One stamp per set of extras; a changed pyproject.toml installs again.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: extras = all
$(VENV)/.test: extras = test
$(VENV)/.dev: extras = dev
$(VENV)/.demo $(VENV)/.test $(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(extras)]'
	@touch $@
