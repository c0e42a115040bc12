# Two commands do everything: `make demo` and `make test`.
CARGO ?= cargo
OUT   ?= out
# Users build the profile `release`, published packages use `dist`, and `make test` uses `ci`. It compiles programs, libraries and their tests together, once: for a single
# package, Cargo would choose other features of shared crates and compile them again. `stream` has its own targets.
EVERYTHING := --workspace --exclude tidemark-stream
PROFILE ?= release
ifeq ($(PROFILE),ci)
TOGETHER := $(EVERYTHING) --all-features --all-targets
TESTED := --profile ci
# What compiles lints too: to check everything and then to compile it takes a quarter longer.
export RUSTC_WORKSPACE_WRAPPER := $(abspath tests/compile)
export RUSTFLAGS := -D warnings
endif
# The profile `release` leaves most dependencies unoptimised. With this it does not.
OPTIMISED := CARGO_PROFILE_RELEASE_OPT_LEVEL=1
BUILT := $(or $(CARGO_TARGET_DIR),target)
# Scripts take the command, the profile and the packages to compile from here.
export PROFILE TOGETHER
# With BRIEF=1, as in `make test`, tests of Python, SDN, the live cell and the wire run in a selection.
export BRIEF
export TIDEMARK := $(abspath $(BUILT)/$(PROFILE)/tidemark)
TIDEMARK_PAPERS := $(TIDEMARK)-papers

.PHONY: demo test test-all clippy fuzz mutants miri environments book site book-test debug reproduction release dist deb packaging-test packages build web playground playground-test fmt-check lint language links imports reference unit doc-test grids built-links instructions docs same-bytes web-test wire-test live-test c-test python-test wheel sdn-test sdn-packages schema papers-build papers headlines papers-check papers-pages papers-alternatives papers-sensitivity papers-seeds bench packed stream stream-test clean

demo: build
	$(TIDEMARK) run scenarios/first-look.toml --out $(OUT)/first-look --force
	@echo "in a browser, without Rust: make playground"

build: web
	$(CARGO) build --profile $(PROFILE) --locked $(or $(TOGETHER),--package tidemark-cli)

# The report page, a self-contained file inside the command, and the page of switches inside `tidemark-sdn`.
web: web/dist/report.html
web/dist/report.html: web/package-lock.json web/vite.config.ts web/index.html web/study.html web/live.html web/network.html web/stream.html $(shell find web/src -type f)
	cd web && npm ci --no-audit --no-fund && npm run build
	cp web/dist/network.html sdn/tidemark_sdn/network.html

# The playground: one page with the simulator inside, to open as a file or from any web server. Skips, loudly, without the WebAssembly target.
SIMULATOR := $(abspath $(BUILT))/wasm32-unknown-unknown/release/tidemark_playground.wasm
PLAYGROUND := $(abspath $(BUILT))/playground/index.html
playground: web
	@if ! rustup target add wasm32-unknown-unknown 2> /dev/null; then \
	  echo "SKIPPED: the playground, for want of the target wasm32-unknown-unknown (rustup target add)" >&2; exit 0; fi; \
	$(OPTIMISED) $(CARGO) build --release --locked --target wasm32-unknown-unknown --package tidemark-playground --lib && \
	(cd web && SIMULATOR=$(SIMULATOR) npm run build:playground) && \
	mkdir -p $(dir $(PLAYGROUND)) && mv web/dist/playground.html $(PLAYGROUND) && echo "the playground: $(PLAYGROUND)"

# Fast checks come first. Parts of one argument run at the same time, while packages and pages are fetched. Real-time tests wait for most of their
# time, so both parts of them run at once, without other load.
# Everything is compiled once: incremental compilation would make the first time two fifths longer. Property tests have the same cases each
# time, so that a commit passes again if it passed once; `grids` draws others.
test:
	CARGO_INCREMENTAL=0 python3 -B tests/parts.py --set PROFILE=ci --set BRIEF=1 --set PROPTEST_RNG_SEED=1 \
	  "fmt-check + language + imports + links + web + environments + packages sdn-packages" "build" \
	  "unit built-links book-test + web-test + wire-test c-test doc-test + python-test + instructions reproduction" "sdn-test + live-test"
	@echo "every check passed"

# The rest, with the published profile and complete: takes hours. The table stores when each part last passed, and its time.
WHOLE = python3 -B tests/parts.py --set PROFILE=dist --record results/test-all.csv
test-all: test
	$(WHOLE) "build" "docs" "instructions" "same-bytes" "c-test" "python-test" "packaging-test" "playground-test" "grids" "wire-test" "sdn-test" "stream-test" "live-test" "papers-check"
	for tool in fuzz mutants "+nightly miri"; do part=$${tool#+nightly }; \
	  if $(CARGO) $$tool --version > /dev/null 2>&1; then $(WHOLE) $$part || exit 1; else $(MAKE) --no-print-directory $$part; fi; done
	@echo "every check of all passed"

# Three minutes per target; skips, loudly, without cargo-fuzz.
fuzz:
	@if ! $(CARGO) fuzz --version > /dev/null 2>&1; then echo "SKIPPED: cargo-fuzz is not installed" >&2; exit 0; fi; \
	for target in $$($(CARGO) fuzz list); do RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run $$target -- -max_total_time=180 -max_len=512 || exit 1; done

# One mutant in a hundred, others each day; all mutants with SHARD=0/1, which takes a day or more. Lists surviving mutants, to compare with results/mutants,
# without failing. Skips, loudly, without cargo-mutants.
SHARD ?= $(shell expr $$(date +%j) % 100)/100
mutants:
	@if ! $(CARGO) mutants --version > /dev/null 2>&1; then echo "SKIPPED: cargo-mutants is not installed" >&2; exit 0; fi; \
	$(CARGO) mutants --package tidemark-marker --package tidemark-wire --shard $(SHARD) --output $(OUT) || [ $$? -eq 2 ]

# The documentation as a site with search, in book/html of Cargo's target folder. `reference` writes the pages generated from declarations.
book: reference site
site:
	book=$$(tests/environment book docs/book/requirements.txt) && $$book/bin/python -B docs/book/build.py

# Environments for Python's tests, fetched while the processors are idle. A test without its environment makes it.
environments:
	tests/environment python bindings/python/tests/requirements.txt && tests/environment sdn sdn/requirements.txt sdn/requirements-test.txt && \
	  tests/environment wire tests/wire/requirements.txt && tests/environment live tests/live/requirements.txt && \
	  tests/environment book docs/book/requirements.txt || true

# Handles, slots and statuses of the C interface under Miri, an interpreter that detects undefined behaviour. Without DRBs, because it lacks libm's square root
# instruction. Skips, loudly, without Miri.
miri:
	@if ! $(CARGO) +nightly miri --version > /dev/null 2>&1; then echo "SKIPPED: Miri is not installed" >&2; exit 0; fi; \
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --locked --package tidemark-c --lib

# Decoders, iperf3 and Chromium, on Debian and Ubuntu as root. Tests of missing packages skip.
packages:
	tests/install-packages.sh || echo "SKIPPED: the packages of tests/install-packages.sh could not all be installed" >&2

fmt-check:
	$(CARGO) fmt --all --check
	rustfmt --edition 2024 --check $(shell find crates/marker/src/law -name '*.rs')

lint: clippy language links imports

clippy: web
	$(CARGO) clippy $(TESTED) $(EVERYTHING) --all-targets --all-features --locked -- -D warnings

# Doc comments, references to standards and names, against the rules of CONTRIBUTING.md; takes a second.
language:
	python3 -B tests/language/check.py
	python3 -B -m unittest discover --quiet -s tests/language

# Import cycles between files, and imports against a crate's layers.
imports:
	python3 -B tests/imports/check.py
	python3 -B -m unittest discover --quiet -s tests/imports

# Links, anchors, paths, commands and budgets of the pages, and paths to docs/ in every file.
links:
	python3 -B tests/docs/c_interface.py
	python3 -B tests/docs/check.py
	python3 -B -m unittest discover --quiet -s tests/docs

# Examples are linked in the build, and run where a test needs them.
UNIT = $(CARGO) test $(TESTED) $(EVERYTHING) --all-features --locked
unit: web
	$(UNIT) --tests

# Pages of the libraries, and the examples in their doc comments.
doc-test: web
	RUSTDOC=$(abspath tests/document) RUSTDOCFLAGS="-D warnings" $(UNIT) --doc

# Every case of the grids that `unit` runs in part, and a thousand new cases of each property.
grids: web
	WHOLE=1 PROPTEST_CASES=1000 $(CARGO) test --profile ci --locked $(addprefix --package tidemark-,cell marker senders sim wire) --lib --test it

debug: web
	$(UNIT) --tests --no-run

# Instructions of a packet, a report, an acknowledgement and a simulated second, which don't depend on the machine's load: they give way to
# the parts beside them, and so do papers' simulations.
instructions: build
	$(if $(TOGETHER),,$(CARGO) build --profile $(PROFILE) --locked --package tidemark-marker --example instructions)
	nice python3 -B tests/instructions/check.py $(BUILT)/$(PROFILE)

# Pages of programs, too.
docs: web
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(TESTED) $(EVERYTHING) --no-deps --all-features --locked

# A debug and a release build write the same bytes.
same-bytes: build debug
	$(BUILT)/debug/tidemark run scenarios/first-look.toml --force --out $(OUT)/debug > /dev/null
	$(TIDEMARK) run scenarios/first-look.toml --force --out $(OUT)/release > /dev/null
	diff -r $(OUT)/debug $(OUT)/release

# Some targets and headlines of the papers, compared with the stored results. Fails if a row no longer agrees or a headline's verdict is
# worse.
reproduction: papers-build
	mkdir -p $(OUT)
	nice $(TIDEMARK_PAPERS) --quick --store $(OUT)/reproduction --check results/papers/results.json > $(OUT)/reproduction.txt
	nice $(TIDEMARK_PAPERS) --headlines --quick --store $(OUT)/headlines --check results/papers/headlines.json > $(OUT)/headlines.txt

# All targets and headlines, with switches if `tidemark-sdn` is on PATH.
papers-check: papers-build
	mkdir -p $(OUT)
	$(TIDEMARK_PAPERS) --all --check $(PAPERS)/results.json > $(OUT)/papers.txt
	$(TIDEMARK_PAPERS) --headlines --check $(PAPERS)/headlines.json > $(OUT)/headlines.txt

# Compares its results with the command's, and runs its lessons in a browser.
playground-test: build playground
	cd web && SIMULATOR=$(SIMULATOR) PLAYGROUND=$(PLAYGROUND) npm run test:playground

web-test: build
	cd web && npm test && npm run test:browser

wire-test: build
	tests/wire/run

# Real programs behind the live cell, in namespaces and in real time; skips, loudly, without root or the programs. A test that fails while
# the machine is busy is repeated and then skipped.
live-test: build
	tests/live/run

# Everything that is published, in one folder with checksums: archive, Debian packages, wheel, book, playground, container image, list of components.
# Skips, loudly, parts that were not built or whose tools are missing.
PACKAGES ?= target/packages
release: dist deb wheel
	$(MAKE) book $(PACKED)
	packaging/release $(PACKAGES)

# Command, library and Python engine in one build: separately, Cargo would choose other features of shared crates.
PACKED := PROFILE=dist TOGETHER="--package tidemark-cli --package tidemark-c --package tidemark-python"
packed: web
	$(MAKE) build $(PACKED)

# A static command with its pages and scenarios, in one archive.
dist: web
	packaging/dist $(PACKAGES)

# Debian packages of the command, the library and its development files.
deb: packed
	$(MAKE) -C bindings/c deb $(PACKED) DEBS=$(abspath $(PACKAGES))
	packaging/debian/build $(PACKAGES) $(BUILT)/dist/tidemark

# Unpacks, installs, uses and removes the packages. Skips, loudly, parts whose tools are missing.
packaging-test: build
	packaging/tests/crates
	packaging/tests/portable
	packaging/tests/debian
	packaging/tests/dist
	packaging/tests/release

# Video over WebRTC to a browser: `tidemark-stream`. Not part of `build` and `test`, because its 150 crates and a codec in C take minutes to compile.
# The codec's build leaves its assembly out, without a word, where nasm is missing.
stream: web
	@command -v nasm > /dev/null || echo "stream: nasm is not installed (make packages): where the codec is not built yet, it will be slow" >&2
	$(OPTIMISED) $(CARGO) build --profile $(PROFILE) --locked --package tidemark-stream

# Its tests, in memory and then in a browser behind a live cell; skips, loudly, parts without root or Chromium.
stream-test: build stream
	$(OPTIMISED) $(CARGO) clippy --profile $(PROFILE) --locked --package tidemark-stream --all-targets -- -D warnings
	$(OPTIMISED) $(CARGO) test --profile $(PROFILE) --locked --package tidemark-stream
	tests/live/run tests/live/test_stream.py

c-test:
	bindings/c/tests/run

# The Python package: linted, built as a wheel, installed and tested in its own environment; skips, loudly, without pip.
python-test: build
	bindings/python/tests/run

# A wheel for Python 3.11 and later.
wheel: packed
	packaging/wheel $(PACKAGES) $(BUILT)/dist/lib_engine.so

# The controller of the transport network, on Open vSwitch in namespaces; skips, loudly, parts without root or packages.
sdn-test: build
	sdn/tests/run

sdn-packages:
	sdn/tests/install-packages.sh || echo "SKIPPED: the packages of sdn/tests/install-packages.sh could not all be installed" >&2

# Generates the schemas of scenarios and studies; a test compares the copies in docs with the command's.
schema: build
	$(TIDEMARK) schema > docs/reference/scenario.schema.json
	$(TIDEMARK) schema study > docs/reference/study.schema.json

# Files generated from declarations and compared by tests: schemas, types of the report page, Python classes.
# Also the pages of the reference, in target/book/reference.
reference: schema
	UPDATE_DOCS=1 $(CARGO) test --locked --package tidemark-cli --test it reference::
	UPDATE_DOCS=1 $(CARGO) test --locked --package tidemark-cli --bin tidemark live::exposition::
	UPDATE_DOCS=1 $(CARGO) test --locked --package tidemark-record --test reference
	$(CARGO) test --locked --package tidemark-marker --features serde --test it reference::
	$(CARGO) test --locked --package tidemark-senders --test it declared::
	python3 -B tests/docs/c_interface.py

# Links into the pages that `unit` wrote; `links` alone lists the missing ones.
built-links: unit
	python3 -B tests/docs/check.py --built

# The site in a browser: one search must answer each question of results/book/questions.csv. `unit` writes the pages of the reference.
book-test: site
	cd web && npm run test:book

# The papers' program.
papers-build:
	$(CARGO) build --profile $(PROFILE) --locked $(or $(TOGETHER),--package tidemark-papers)

# Every target of the papers: the file of results, its rows as a table, and the papers' pages.
PAPERS = results/papers
papers: papers-build
	$(TIDEMARK_PAPERS) --all --results $(PAPERS)/results.json --csv $(PAPERS)/rows.csv
	$(MAKE) papers-pages

# The headlines: claims as effects between runs, over ten paired seeds.
headlines: papers-build
	mkdir -p $(OUT)
	$(TIDEMARK_PAPERS) --headlines --results $(PAPERS)/headlines.json > $(OUT)/headlines.txt
	$(MAKE) papers-pages

# Written from the files of results and headlines: verdicts on effects, and tables of the pages.
papers-pages:
	python3 -B $(PAPERS)/effects.py
	python3 -B $(PAPERS)/tables.py

# Rows under another law or pattern: L4Span's law as its paper prints it, aL4S-CC over a measured drive, SDN-L4S over TCP.
papers-alternatives: papers-build
	$(TIDEMARK_PAPERS) l4span.fig2 l4span.fig9 l4span.fig10 l4span.fig11 l4span.fig12 l4span.fig13 l4span.fig14 l4span.fig15 l4span.fig16 l4span.fig17 l4span.fig19 l4span.fig24 l4span.sec631 \
		--seeds 3 --alternative as-printed --csv $(PAPERS)/as-printed.csv
	$(TIDEMARK_PAPERS) al4s.table1 al4s.table2 al4s.fig4 --seeds 3 --alternative realtrack --csv $(PAPERS)/realtrack.csv
	$(TIDEMARK_PAPERS) sdn.fig4.simulated sdn.fig5.simulated sdn.fig6.simulated sdn.table2.simulated --alternative over-tcp --csv $(PAPERS)/over-tcp.csv

# Rows that change with parameters that the papers leave open, over two seeds.
papers-sensitivity: papers-build
	$(TIDEMARK_PAPERS) --all --sensitivity --seeds 2 --csv $(PAPERS)/sensitivity.csv

# Verdicts from other seeds than the results'.
papers-seeds: papers-build
	$(TIDEMARK_PAPERS) --all --first-seed 1001 --other-seeds $(PAPERS)/results.json --csv $(PAPERS)/seeds.csv

bench:
	$(CARGO) bench $(EVERYTHING) --locked

clean:
	rm -rf target out web/dist web/node_modules
