# `make` alone lists the targets. Each installs what it needs on a Debian-like machine,
# and says what to do elsewhere; Go itself is the only thing assumed.

GO       ?= go
VERSION  := $(shell cat VERSION)
COMMIT   := $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo unknown)
ARGS     ?=
PKG      ?= ./...
# Vet is a part of lint. Many tests wait for a database or a time limit: three packages at once keep two cores busy.
TEST      = PATH="$$PATH:$$(.ci/need --tools)" $(GO) test -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) * 3 / 2)) -parallel 3 -timeout 15m
# Where requests share memory. The detector makes a test take twice the processor's time; `make race` has it everywhere.
RACED    := ./proxy/upstream ./proxy/wire ./proxy/... ./control/...
# The packages whose tests take longest go first.
UNRACED   = ./cmd/tenantgate ./proof ./doctor ./proof/clients $$($(GO) list ./... | grep -Ev '/(proxy|control)(/|$$)')
PG_BINS  ?= $(wildcard /usr/lib/postgresql/*/bin)
BENCH    ?= .
FUZZTIME ?= 1m
ROUNDS   ?= 200
ARCHES   ?= amd64 arm64

# Of the proof: statements for each choice of walls, what they are made of, and the choices.
STATEMENTS ?= 300000
SEED       ?= $(shell date +%s)
WALLS      ?= all,engine,database

SOURCES := cmd control doctor metrics policies policy proof proxy wall

.DEFAULT_GOAL := help
.PHONY: build run test race clients bypass faults altered pg-matrix lint bench bench-crowd bench-grow bench-wire bench-versions bench-stages bench-walls bench-plans fuzz prove prove-order prove-filters prove-wire smith release release-check clean help

build: ## build bin/tenantgate
	@.ci/need gcc
	@[ -x bin/tenantgate ] || echo "compiling; the first time takes some minutes, for Postgres' own parser is compiled too"
	$(GO) build -trimpath -buildvcs=false -ldflags "-X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o bin/tenantgate ./cmd/tenantgate

run: build ## start the service on an embedded Postgres; ARGS="--http-addr 127.0.0.1:8081" passes flags on
	@.ci/need postgres
	bin/tenantgate dev $(ARGS)

NEEDED = @.ci/need gcc postgres promtool psql node jdbc sqlsmith

test: ## all tests on a real Postgres, those of proxy and control with the race detector
	$(NEEDED)
	failed=0; $(TEST) -race $(RACED) || failed=1; $(TEST) $(UNRACED) || failed=1; exit $$failed

race: ## all tests with the race detector; PKG=./policy/... for some
	$(NEEDED)
	GOFLAGS="$$($(GO) env GOFLAGS) -race" $(TEST) $(PKG)

clients: ## the part of `make test` in which real clients connect, with the race detector: psql, pgbench, pgx, node-postgres, postgres.js, Kysely, JDBC
	@$(MAKE) --no-print-directory race PKG=./proof/clients

bypass: ## the long form of TestBypass and TestFrontsBypass: every case of the bypass corpus under both policies, through all front ends
	@.ci/need gcc postgres
	$(GO) test ./cmd/tenantgate -run 'Bypass$$' -count=1 -v -timeout 30m -every-front

faults: ## the long form of what `make clients` does to a running service: 5,000 idle clients, and hundreds of each fault
	@.ci/need gcc postgres
	$(GO) test ./proof/clients -run '^TestFaults$$' -count=1 -v -timeout 30m -faults-long

altered: ## the long form of TestAltered: clients write for ten minutes while their tables are altered; ARGS="-altered-for 1h"
	@.ci/need gcc postgres
	$(GO) test ./proof/clients -run '^TestAltered$$' -count=1 -v -timeout 0 -altered-for 10m $(ARGS)

pg-matrix: ## check sets, barrier, walls and doctor on each Postgres of PG_BINS="/…/16/bin /…/17/bin", the folders of initdb and postgres
	@.ci/need gcc postgres
	@for bin in $(PG_BINS); do \
		echo "$$bin"; TENANTGATE_PG_BIN="$$bin" $(GO) test -count=1 -v ./policies/internal/builtin -calls || exit 1; \
		TENANTGATE_PG_BIN="$$bin" $(GO) test -count=1 ./proof/barrier ./control ./proxy/upstream || exit 1; \
		TENANTGATE_PG_BIN="$$bin" $(GO) test -count=1 -timeout 40m ./doctor -faults || exit 1; \
	done

lint: ## gofmt and golangci-lint, which has go vet in it
	@.ci/need gcc linter
	@unformatted=$$(gofmt -l $(SOURCES)) && { [ -z "$$unformatted" ] || { echo "run gofmt -w on:" $$unformatted; exit 1; }; }
	"$$(.ci/need --linter)" run ./...

bench: build ## measure tenantgate beside a bare front, an idiomatic one and pgbench; ARGS="--statement point --out docs/benchmarks.md"
	@.ci/need postgres
	$(GO) run ./proof/bench --tenantgate bin/tenantgate $(ARGS)

bench-crowd: build ## measure what quiet servers get beside one that asks without end; ARGS="--rounds 20 --out FILE", or beside attackers: ARGS="--attack all --before OLD"
	@.ci/need postgres
	$(GO) run ./proof/bench crowd --tenantgate bin/tenantgate $(ARGS)

bench-grow: build ## measure with ever more servers and ever more texts of statements; ARGS="--turn 5s --texts 10,100,1000"
	@.ci/need postgres
	$(GO) run ./proof/bench grow --tenantgate bin/tenantgate $(ARGS)

bench-wire: build ## measure the front end for Postgres' protocol beside PgBouncer and Postgres; ARGS="--turn 5s --out docs/benchmarks.md"
	@.ci/need postgres psql pgbouncer
	$(GO) run ./proof/bench wire --tenantgate bin/tenantgate $$(.ci/need --pgbouncers | sed 's/^/--pgbouncer /') $(ARGS)

bench-versions: build ## measure bin/tenantgate beside an older program, in turns; BEFORE=/…/tenantgate ARGS="--rounds 21 --statement point"
	@.ci/need postgres
	$(GO) run ./proof/bench versions --tenantgate bin/tenantgate --before '$(BEFORE)' $(ARGS)

bench-stages: ## run the Go benchmarks of the stages; BENCH=Decide chooses, PKG=./policy/... too
	@.ci/need gcc postgres
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

bench-walls: ## measure what walls 2 and 3 add to a statement, side by side; ROUNDS=1000 is steadier
	@.ci/need gcc postgres
	$(GO) test ./proof/cost -run '^TestCost$$' -count=1 -v -rounds $(ROUNDS)

bench-plans: ## measure the honest statements on a million skewed rows, planned with values and without; ARGS="-only joins/ -explain"
	@.ci/need gcc postgres
	$(GO) test ./proof/plans -run '^TestPlans$$' -count=1 -v -timeout 30m -rows 1000000 -turns 7 $(ARGS)

fuzz: ## fuzz the translator, the parser, Decide, and what Postgres clients send; FUZZTIME=10m (or 100000x) is for each of them
	@.ci/need gcc
	$(GO) test -run '^$$' -fuzz '^FuzzTranslate$$' -fuzztime $(FUZZTIME) ./policy/sql/lex
	$(GO) test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) ./policy/sql/tree
	$(GO) test -run '^$$' -fuzz '^FuzzAnalyze$$' -fuzztime $(FUZZTIME) ./policy/sql/analyze
	$(GO) test -run '^$$' -fuzz '^FuzzDecide$$' -fuzztime $(FUZZTIME) ./policy
	$(GO) test -run '^$$' -fuzz '^FuzzStartup$$' -fuzztime $(FUZZTIME) ./proxy/wire
	$(GO) test -run '^$$' -fuzz '^FuzzScram$$' -fuzztime $(FUZZTIME) ./proxy/wire
	$(GO) test -run '^$$' -fuzz '^FuzzSession$$' -fuzztime $(FUZZTIME) ./proxy/wire

prove: ## the long proof of isolation; STATEMENTS=300000 SEED=1 WALLS=all,engine,database SCHEMA=existing
	@.ci/need gcc postgres
	@echo "seed $(SEED)"
	$(GO) test ./proof -run '^TestProve$$' -timeout 0 -v -statements $(STATEMENTS) -seed $(SEED) -mode $(WALLS) -schema '$(SCHEMA)'

prove-order: WALLS = all,engine
prove-order: ## the proof that the order of an answer shows nothing of others' values; STATEMENTS=300000 SEED=1 WALLS=all,engine
	@.ci/need gcc postgres
	@echo "seed $(SEED)"
	$(GO) test ./proof -run '^TestProveOrder$$' -timeout 0 -v -statements $(STATEMENTS) -seed $(SEED) -mode $(WALLS)

prove-filters: WALLS = all,engine
prove-filters: ## the proof that plans evaluate nothing harmful before the scope condition; STATEMENTS=300000 SEED=1 WALLS=all,engine
	@.ci/need gcc postgres
	@echo "seed $(SEED)"
	$(GO) test ./proof -run '^TestFilters$$' -timeout 0 -v -statements $(STATEMENTS) -seed $(SEED) -mode $(WALLS)

smith: STATEMENTS = 50000
smith: ## replay statements of sqlsmith as one server, and read their plans; STATEMENTS=50000 SEED=1
	@.ci/need gcc postgres sqlsmith
	@echo "seed $(SEED)"
	$(GO) test ./proof/smith -run 'Gate|Filters' -timeout 0 -v -statements $(STATEMENTS) -seed $(SEED)

prove-wire: STATEMENTS = 20000
prove-wire: ## the same through the front end for Postgres' protocol, looking at every byte; STATEMENTS=20000 SEED=1
	@.ci/need gcc postgres
	@echo "seed $(SEED)"
	$(GO) test ./proof -run '^TestProveListener$$' -timeout 0 -v -statements $(STATEMENTS) -seed $(SEED)

release: ## build archives for Linux, with SBOMs and sums, in dist; ARCHES=amd64 for one of amd64 and arm64
	.ci/release $(ARCHES)

release-check: release ## the same, and build them again in another folder: both must have the same sums; ARCHES=amd64
	.ci/release-check $(ARCHES)

clean: ## remove what was built; the data of `make run` stays
	rm -rf bin dist

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
