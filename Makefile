# Every target creates what it needs: a fresh clone with Python and make is enough.
PYTHON ?= python3
VENV := .venv
# Windows keeps the programs of a virtual environment elsewhere.
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: help demo test check-fast test-slow test-oldest test-upstream test-wheel coverage fuzz lint types format bench images docs build check-tag clean

help:
	@echo "make demo         a first look: clusters built-in data, writes report.html"
	@echo "make test         everything that must pass: lint, types, all tests"
	@echo "make check-fast   lint, types, and the tests of what changed since main"
	@echo "make test-slow    the tests that take minutes, more random examples"
	@echo "make test-oldest  the tests with the oldest supported dependencies"
	@echo "make test-upstream  the tests with tomorrow's NumPy, SciPy and scikit-learn"
	@echo "make test-wheel   the wheel in clean environments, without extras and with each"
	@echo "make coverage     which lines the tests reach"
	@echo "make fuzz         an hour of random hostile calls, files and kills"
	@echo "make lint         the linter alone"
	@echo "make types        the type checker alone"
	@echo "make format       puts the code in shape"
	@echo "make bench        ratios against named baselines, as a table and as JSON"
	@echo "make images       draws the pictures of the README again"
	@echo "make docs         the site, in build/docs"
	@echo "make build        wheel and sdist in dist, checked"
	@echo "make check-tag    whether TAG is the version of package, changelog and citation"
	@echo "make clean        removes what the other targets have made"

demo: $(VENV)/.demo
	$(BIN)/credalis demo

test: lint types
	$(BIN)/python -m pytest -n auto --dist worksteal

check-fast: lint types
	$(BIN)/python tests/changed.py -n auto

test-slow: $(VENV)/.test
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n auto --dist worksteal -m "slow or hypothesis"

# The oldest versions that pyproject.toml admits, in an environment of their own.
test-oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet -e ".[test]" -c tests/oldest.txt
	$(VENV)-oldest/bin/python -m pytest -n auto --dist worksteal

# Builds of tomorrow, from the index that PIP_EXTRA_INDEX_URL names.
test-upstream:
	$(PYTHON) -m venv $(VENV)-upstream
	$(VENV)-upstream/bin/python -m pip install --quiet -e ".[test]"
	$(VENV)-upstream/bin/python -m pip install --quiet --upgrade --pre numpy scipy scikit-learn
	$(VENV)-upstream/bin/python -m pytest -n auto --dist worksteal

build: $(VENV)/.build
	rm -rf dist
	$(VENV)-build/bin/python -m build --quiet
	$(VENV)-build/bin/twine check --strict dist/*
	$(VENV)-build/bin/check-wheel-contents dist/*.whl
	@wc -c dist/*

$(VENV)/.build: pyproject.toml
	$(PYTHON) -m venv $(VENV)-build
	$(VENV)-build/bin/python -m pip install --quiet --disable-pip-version-check build check-wheel-contents twine
	mkdir -p $(VENV) && touch $@

# What a stranger gets: the wheel, alone and with each extra alone.
test-wheel: build
	$(PYTHON) tests/wheel.py dist

check-tag:
	$(PYTHON) tests/tagged.py $(TAG)

# Of all tests, the site's page is written; TESTS=tests/belief make coverage looks at some.
TESTS ?=
coverage: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pytest-cov>=5"
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS) --cov --cov-report=term:skip-covered --cov-report=html:build/coverage --cov-report=json:build/coverage.json
	$(if $(TESTS),,$(BIN)/python docs/covered.py build/coverage.json)

# New seeds each time, printed for a replay; FUZZ_MINUTES=5 make fuzz takes five minutes.
FUZZ_MINUTES ?= 60
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz --minutes $(FUZZ_MINUTES) --table fuzz.md

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.test
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

# The pictures of the README, drawn by the library itself.
images: $(VENV)/.plot
	$(BIN)/python docs/images/make.py

# Warnings are errors; nothing is fetched once the packages are there. In a browser, if
# there is one, every page is looked at on a phone and on a desktop.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going --quiet -b html -d build/doctrees docs build/docs
	$(BIN)/python docs/check.py build/docs
	CREDALIS_SITE_FOLDER=build/docs $(BIN)/python -m pytest --quiet tests/test_site_walk.py

# The gallery runs PyTorch, whose version the tests name.
$(VENV)/.docs: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs,test]"
	touch $@ $(VENV)/.plot $(VENV)/.demo $(VENV)/.test

$(VENV)/.plot: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[plot,report]"
	touch $@

$(VENV)/.demo: pyproject.toml src/credalis/__init__.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[cli,plot]"
	touch $@ $(VENV)/.plot

$(VENV)/.test: pyproject.toml src/credalis/__init__.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@ $(VENV)/.plot $(VENV)/.demo

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-upstream $(VENV)-build build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis report.html fuzz.md .coverage* docs/gallery docs/reference/api/generated
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +
