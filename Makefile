# Two commands do everything on a machine with Python >= 3.11: make demo, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
CASES ?= 10000
SEED ?= 0

.PHONY: demo test fuzz lint types docs bench bench-smoke golden wheel-check compatibility clean

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

# The papers' tables: minutes with SIZE=quick, hours with SIZE=full; what has been run is not run again.
SIZE ?= quick
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks run --$(SIZE) --jobs $(WORKERS)
	$(BIN)/python -m benchmarks page

bench-smoke: $(VENV)/.test
	$(BIN)/python -m benchmarks run --smoke --jobs $(WORKERS)

# Results of this version, to be read by all later ones; once per release.
golden: $(VENV)/.test
	$(BIN)/python tests/golden/write.py

wheel-check:
	$(PYTHON) tools/wheel_check.py

# The tests with the lowest versions that pyproject.toml allows, and with the newest.
compatibility:
	$(PYTHON) tools/compatibility.py

clean:
	rm -rf $(VENV) demo-output docs/_build docs/api/generated docs/tutorials .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src -name '*.so' -delete

# One stamp per set of extras; a changed pyproject.toml installs again, and what is to be compiled compiles again.
COMPILED := meson.build src/meson.build tools/build_backend.py $(shell find src -name '*.pyx' -o -name '*.pxd')
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: extras = all
$(VENV)/.test: extras = test
$(VENV)/.dev: extras = dev
$(VENV)/.demo $(VENV)/.test $(VENV)/.dev: pyproject.toml $(COMPILED) | $(VENV)/bin/python
	$(BIN)/python tools/develop.py $(extras)
	@touch $@
