# Two commands do everything: `make demo` and `make test`.
CARGO ?= cargo
OUT   ?= out
TIDEMARK = target/release/tidemark

.PHONY: demo test build web fmt-check lint unit docs schema-check web-test wire-test schema bench clean

demo: build
	$(TIDEMARK) run scenarios/first-look.toml --out $(OUT)/first-look

build: web
	$(CARGO) build --release --locked --package tidemark-cli

# The report page, one self-contained file that the command carries inside.
web: web/dist/report.html
web/dist/report.html: web/package-lock.json web/vite.config.ts web/index.html $(shell find web/src -type f)
	cd web && npm ci --no-audit --no-fund && npm run build

test: fmt-check lint unit docs web wire-test
	@echo "every check passed"

fmt-check:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings

unit:
	$(CARGO) test --workspace --all-features --locked

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --all-features --locked

# The schema of the scenario language is generated; the copy in docs must not drift from the code.
schema-check: build
	$(TIDEMARK) schema | diff -u docs/scenario.schema.json - || \
	  { echo "docs/scenario.schema.json is out of date: run 'make schema'"; exit 1; }
	set -e; for scenario in $$(find scenarios -name '*.toml'); do $(TIDEMARK) check $$scenario; done

schema: build
	$(TIDEMARK) schema > docs/scenario.schema.json

web-test: web
	cd web && npm test && npm run test:browser

wire-test:
	tests/wire/run

bench:
	$(CARGO) bench --workspace --locked

clean:
	rm -rf target out web/dist web/node_modules
