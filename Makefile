# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := test,proofs,oracles,plots,data,notebooks,dask,docs

.PHONY: lab flower engines vectors prove prove-kept prove-slack prove-matrix evidence audits coq coq-mutants demo docs labs test long quick check format verify ledger statistics bench reproduce mutants mutate enclosures clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$(EXTRAS)]"
	touch $@ $(VENV)/demo.stamp

$(VENV)/bench.stamp: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$(EXTRAS),bench]"
	touch $@

docs: $(VENV)/test.stamp  ## the site in build/site/docs/index.html, notebooks run; warnings and broken links are errors
	$(BIN)/python -m sphinx -W --keep-going -q -c docs/site -b html . build/site
	$(BIN)/python docs/site/links.py build/site

labs: $(VENV)/test.stamp  ## grade every lab's wrong and right submissions, and print what was refused and accepted
	$(BIN)/python -m labs

lab: $(VENV)/test.stamp  ## the labs as a page that grades in the browser: build/lab, 31 MB; seen in headless Chromium where there is one
	@echo "Lab: fetches 150 MB from npm and PyPI, checks every digest, then 2 minutes of one core for Chromium."
	$(BIN)/python -m labs.build build/lab
	if command -v chromium >/dev/null; then $(BIN)/python -m labs.headless build/lab; fi

demo: $(VENV)/demo.stamp  ## train, certify and audit on data bundled with scikit-learn
	$(BIN)/python -m refdp.faces.demo

# These fork for each run of an audit, and a fork is as dear as what its process has loaded: they are run before, and
# without, the files that load data frames, plots and solvers.
FORKING := tests/audit tests/additions tests/labs tests/dpxgboost/test_replay.py tests/inprivate/test_replay.py

test: check  ## lint, format, types, and all tests but the longest and the statistical: sixteen minutes of two cores
	$(BIN)/python -m pytest -n 2 -m "not statistics" --brief $(FORKING)
	$(BIN)/python -m pytest -n 2 -m "not statistics" --brief $(FORKING:%=--ignore=%)

long: $(VENV)/test.stamp  ## the longest tests, named in tests/long.txt; CI runs them after make test
	$(BIN)/python -m pytest -n 2 -m "not statistics" --long $(FORKING)
	$(BIN)/python -m pytest -n 2 -m "not statistics" --long $(FORKING:%=--ignore=%)

quick: $(VENV)/test.stamp  ## the tests that took less than a tenth of a second each, for the moment between two edits
	$(BIN)/python -m pytest -n 2 -m "not statistics" --quick

check: $(VENV)/test.stamp  ## lint, format, strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy refdp proofs

format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

verify: $(VENV)/test.stamp  ## derive every verdict again and compare with the committed ledger
	$(BIN)/python -m proofs verify

ledger: $(VENV)/test.stamp  ## derive every verdict and write the ledger and its page
	$(BIN)/python -m proofs write

coq: $(VENV)/test.stamp  ## have Coq check the privacy theorems of proofs/coq; installs nothing
	@command -v coqc >/dev/null || { echo "coqc is missing: Debian and Ubuntu have it in the package coq (apt-get install coq)"; exit 2; }
	$(BIN)/python -m proofs.kernel
	$(BIN)/python -m proofs.replay
	$(BIN)/python -m pytest -q tests/proofs/test_formulas.py tests/proofs/test_replay.py

coq-mutants: coq  ## mutants of the papers' texts, their runs computed by Coq; writes docs/coq-mutants.md, minutes a paper
	$(BIN)/python -m tests.proofs.replay_mutants

mutants: $(VENV)/test.stamp  ## print the kill matrix of the privacy mutants
	$(BIN)/python -m tests.mutants

prove: $(VENV)/test.stamp  ## prove every paper's text private, hold its mutants against the proof, write docs/prove.md; minutes
	$(BIN)/python -m tests.prove.page

prove-kept: $(VENV)/test.stamp  ## prove the default parameters again where text or reading changed; certificates cite what is kept; ten minutes of one core, most of them for Grove
	$(BIN)/python -m refdp.prove.keep

prove-slack: $(VENV)/test.stamp  ## every declared bound 2% smaller, asked again; writes docs/prove-slack.md; resumable, a quarter of an hour of one core
	$(BIN)/python -m tests.prove.slack

evidence: $(VENV)/test.stamp  ## the solvers' answers behind proofs and claims followed step by step; writes docs/solver-evidence.md; ten minutes of one core
	$(BIN)/python -m proofs.cpc write

prove-matrix: $(VENV)/test.stamp  ## which layer names which mutant of the papers; writes docs/prove-matrix.md; resumable, most of an hour of one core
	@echo "prove-matrix: most of an hour of one core for all mutants and layers, by estimate; kept lines are not asked again."
	$(BIN)/python -m tests.prove.matrix

OLDEST := numpy==1.26.0 scipy==1.11.1 scikit-learn==1.6.0 rich==13.0.0 typer==0.12.0
$(VENV)/oldest.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/oldest
	$(VENV)/oldest/bin/python -m pip install --quiet --disable-pip-version-check $(OLDEST)
	touch $@

vectors: $(VENV)/demo.stamp $(VENV)/oldest.stamp  ## the vectors made anew with all processor features and with none, by this numpy and by the oldest (Python 3.11, 3.12)
	$(BIN)/python -m refdp.conform.machines --python $(VENV)/oldest/bin/python

vectors-archive: $(VENV)/demo.stamp  ## the vectors, their schema and the specification in build/refdp-vectors-1.tar.gz, with a digest
	$(BIN)/python -m refdp.conform.archive

N ?= 200
mutate: $(VENV)/test.stamp  ## N random mutants that no author chose, resumable; hours for 200, it says what survived
	$(BIN)/python -m tests.mutants.drawn --number $(N) --jobs 2

statistics: $(VENV)/test.stamp  ## the long statistical and large-scale replay runs
	@echo "Statistics: 70 minutes of processor time when last run whole, so about 40 on two idle cores. Ctrl-C ends it; nothing is kept."
	$(BIN)/python -m pytest -n 2 -m statistics

bench: $(VENV)/bench.stamp  ## speed, by ratio in one run
	@echo "Benchmarks: eight programs, about six minutes of processor time. Ctrl-C ends it; what was finished is kept."
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.accounting
	$(BIN)/python -m benchmarks.dpxgboost
	$(BIN)/python -m benchmarks.dpxgboost_sparse
	$(BIN)/python -m benchmarks.fedgbdt
	$(BIN)/python -m benchmarks.inprivate
	$(BIN)/python -m benchmarks.sgbdt

$(VENV)/flower.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/flower
	$(VENV)/flower/bin/python -m pip install --quiet --disable-pip-version-check -e ".[flower-simulation]" pytest
	touch $@

flower: $(VENV)/flower.stamp  ## the tests of Flower in an environment of its own, whose pins others do not share
	@echo "Flower: two minutes of two cores, the most of them Ray's start, after 300 MB of packages."
	$(VENV)/flower/bin/python -m pytest -W ignore tests/engines/test_flower.py

engines: $(VENV)/test.stamp  ## Dask against memory, and 10^7 rows with the driver's peak of memory
	@echo "Dask: 15 minutes of two cores for 10^6 rows, 10 more and 3 GB of disk for 10^7."
	$(BIN)/python -m benchmarks.dask_engine
	$(BIN)/python -m benchmarks.dask_engine --rows 10000000 --partitions 80 --trees 20 --only random --alone

enclosures: $(VENV)/test.stamp  ## random plans against truths in ball arithmetic, resumable, and the table of widths
	@echo "Enclosures: about a fifth of a second of processor time for each of 5,000 plans. Ctrl-C ends it; what was run is kept."
	$(BIN)/python -m benchmarks.enclosures run
	$(BIN)/python -m benchmarks.enclosures write

audits: $(VENV)/test.stamp  ## broken and correct mechanisms audited by runs; replay against black box
	@echo "Audits: replay against black box took 11 minutes when it was last measured, the events from replayed losses take about ten more, the zoo's coverage comes before it; the zoo of trainers, the figures about audits and the mutants come after it, by estimate 8, 25 and 10 minutes of one core."
	$(BIN)/python -m benchmarks.zoo
	$(BIN)/python -m benchmarks.blackbox_against_replay
	$(BIN)/python -m benchmarks.event_synthesis
	$(BIN)/python -m tests.audit.cheats
	$(BIN)/python -m tests.audit.figures
	$(BIN)/python -m tests.audit.mutants

reproduce: $(VENV)/bench.stamp  ## the papers' tables; resumable, RUNS=n repeats
	@echo "All five papers: 2.2 hours of processor time a repeat, RUNS=3 if not set. Ctrl-C ends it, the same command goes on."
	$(BIN)/python -m benchmarks.reproduce

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
