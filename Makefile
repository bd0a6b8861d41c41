# The commands of the project. `make demo` and `make test` are the two a newcomer needs.

SWIFT ?= swift
CONFIGURATION ?= release
DESTDIR ?=
PREFIX ?= /usr
UNITDIR ?= $(PREFIX)/lib/systemd/system
BIN = $(shell $(SWIFT) build -c $(CONFIGURATION) --show-bin-path)

.PHONY: demo demo-hub test build deb check-deb check-reproducible check-growth bench bench-check bench-service bench-postgresql sanitize lint format install deps postgresql-server check-consumers check-crashes faults fuzz fuzz-readers migrations check-inflate simulate mutate check-sync check-partitions check-units check-newer-systemd soak check-browser test-tools clean

## Shows the whole road: builds, starts the daemon, imports this machine's packages, kills it, verifies.
## With the build of the tests: a newcomer who types both commands compiles once.
demo: CONFIGURATION = debug
demo: build
	@CAIRN_BIN="$(BIN)" sh Config/demo/run.sh

## Shows two machines that agree through PostgreSQL: kills a daemon and the server, verifies, asks in plain SQL.
demo-hub: CONFIGURATION = debug
demo-hub: build postgresql-server
	@CAIRN_BIN="$(BIN)" sh Config/demo/run-hub.sh

## Runs every test; a few at a time, since a thousand that start at once keep each other's servers waiting.
## Those of PostgreSQL stores start a server of their own, which takes Debian's package.
test: export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 16
test: export CAIRN_POSTGRESQL ?= $(if $(wildcard /usr/lib/postgresql/*/bin/initdb),required)
test: deps postgresql-server
	@# What has all tests in it, and no more: building everything compiles the plugin's tool twice.
	$(SWIFT) build --product CairnPackageTests --explicit-target-dependency-import-check error
	@# What failed comes last, too: it is far up in the output otherwise.
	@rm -f .build/tests*.xml
	TMPDIR="$$(sh Tests/temporary-folder.sh)" $(SWIFT) test --skip-build --xunit-output .build/tests.xml \
	  || { grep -hs -B1 '<failure' .build/tests*.xml; exit 1; }
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  echo "NOT RUN: the tests of PostgreSQL stores, which need a server: apt-get install postgresql" >&2

## Builds both programs.
build: deps
	$(SWIFT) build -c $(CONFIGURATION) --product cairnd
	$(SWIFT) build -c $(CONFIGURATION) --product cairnctl

## Measures Cairn against raw SQLite and GRDB in one run.
bench: deps
	$(SWIFT) run --package-path Benchmarks -c release cairn-benchmarks

## Measures the daemon of this build: imports, sync, what it needs and what applications notice.
bench-service: deps
	$(SWIFT) run --package-path Benchmarks -c release cairn-benchmarks --service

## Measures PostgreSQL stores, and daemons that have one as their hub, at a server of its own.
bench-postgresql: deps postgresql-server
	$(SWIFT) run --package-path Benchmarks -c release cairn-benchmarks --postgresql

## All three, and fails where a figure misses its target.
bench-check: deps postgresql-server
	$(SWIFT) run --package-path Benchmarks -c release cairn-benchmarks --check
	$(SWIFT) run --package-path Benchmarks -c release cairn-benchmarks --service --check
	$(SWIFT) run --package-path Benchmarks -c release cairn-benchmarks --postgresql --check

## Runs the tests under ThreadSanitizer and AddressSanitizer; takes long, see Tests/README.md.
sanitize: deps
	@SWIFT="$(SWIFT)" sh Tests/sanitize.sh thread
	@SWIFT="$(SWIFT)" sh Tests/sanitize.sh address

## Kills a saving program 200 times and cuts the power of its disk 30 times (as root).
check-crashes: deps
	@SWIFT="$(SWIFT)" bash Tests/check-crashes.sh

## Lets each step of each operation on a store fail, and cuts the power there; the tests do a sample.
## Minutes in memory, hours on a disk that syncs.
faults: export TMPDIR := $(if $(wildcard /dev/shm/.),/dev/shm,$(TMPDIR))
faults: deps
	CAIRN_EVERY_FAULT=1 $(SWIFT) test --filter FaultLoopTests

## Opens, reads and writes 10,000 damaged store files and as many mapping models, and reads all sources of the project;
## the tests do a few hundred.
fuzz: deps
	CAIRN_FUZZ_ROUNDS=10000 $(SWIFT) test \
	  --filter 'DamagedPagesTests|HostileSchemaTests|damagedMappingModelsAreAnErrorOrAMapping|sourcesOfTheProjectAreRead'

## Fuzzes the readers of what comes from outside, SECONDS_EACH seconds each (30): frames, predicates, configurations,
## models, archives, change sets, store files.
fuzz-readers: deps
	SWIFT="$(SWIFT)" Tests/fuzz.sh

## Migrates 1,000 random stores along random changes of their models; the tests do a few.
migrations: deps
	CAIRN_RANDOM_MIGRATIONS=1000 $(SWIFT) test --filter RandomMigrationTests

## Decompresses 100,000 streams, half of them damaged, beside zlib; the tests do 3,000.
check-inflate: deps
	CAIRN_INFLATE_INPUTS=100000 $(SWIFT) test --filter InflateParityTests

## Three daemons on shared replicas are killed 200 times (KILLS=) while programs write; a full disk and a
## restored file on the way. The files are compared with SQL.
check-sync: deps
	$(SWIFT) build --product cairnd
	$(SWIFT) build --product cairnctl
	$(if $(KILLS),CAIRN_KILLS=$(KILLS)) python3 Tests/check-sync.py "$$($(SWIFT) build --show-bin-path)"

## A PostgreSQL server and three daemons in network namespaces: packets are dropped, daemons and the server killed, and a
## standby without its last commits takes over, FAULTS= times (40); compared with SQL (as root, with iptables).
check-partitions: deps postgresql-server
	$(SWIFT) build --product cairnd
	$(SWIFT) build --product cairnctl
	$(if $(FAULTS),CAIRN_FAULTS=$(FAULTS)) python3 Tests/check-partitions.py "$$($(SWIFT) build --show-bin-path)"

## Runs the units, the template units, the drop-ins and the promises of SECURITY.md under a systemd of
## its own (as root). UNITS="unit drop-ins" runs some.
check-units: deps
	$(SWIFT) build --product CairnPackageTests
	CAIRN_UNITS="$(or $(UNITS),all)" $(SWIFT) test --skip-build --filter UnitFileTests

## Tries what systemd 252 cannot do under the systemd of Debian 13, which debootstrap fetches into DEBIAN once (as root).
check-newer-systemd: deps
	$(SWIFT) build --product cairnd
	$(SWIFT) build --product cairnctl
	bash Tests/check-newer-systemd.sh "$$($(SWIFT) build --show-bin-path)" "$(or $(DEBIAN),$(CURDIR)/.build/debian-13)"

## Looks at the pages of `cairnctl browse` and `cairnctl page` in headless Chromium, in light, in dark and narrow: names, contrast,
## keyboard, what is loaded. SCREENSHOTS=folder keeps pictures, STORE=file looks at a store of yours.
check-browser: deps
	@command -v chromium >/dev/null || { SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	  $$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }
	$(SWIFT) build --product cairnd
	$(SWIFT) build --product cairnctl
	python3 Tests/Browser/check-browser.py "$$($(SWIFT) build --show-bin-path)" "$(STORE)" $(SCREENSHOTS)

## Draws latency, backlog, memory and file sizes of a daemon with two replicas under writers.
soak: build
	python3 Tests/soak.py "$(BIN)" $(or $(MINUTES),10) $(or $(SVG),.build/soak.svg)

## A daemon with a replica under five update transactions a second for MINUTES: after half of them, at most thirty,
## its memory grows by less than 1 MB an hour, its threads and descriptors not at all.
check-growth: build
	python3 Tests/check-growth.py "$(BIN)" $(or $(MINUTES),90)

## Tries wrong merges, each of which a test must notice; after `swift build --build-tests` or `make test`.
## MUTATIONS="saved marks" picks some by parts of their names, SAMPLE=5 draws as many.
mutate:
	python3 Tests/Mutations/mutate.py $(if $(SAMPLE),--sample $(SAMPLE)) $(MUTATIONS)

## Simulates machines, stores and programs with everything that can go wrong; a failure prints the command
## that replays it and the shortest trace. SEEDS=100000 runs as many, SEED=7000012 one.
simulate: deps
	$(if $(SEED),CAIRN_SIMULATION_SEED=$(SEED),CAIRN_SIMULATION_SEEDS=$(or $(SEEDS),1000)) \
	  $(SWIFT) test --filter EngineSimulationTests

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Plugins Benchmarks/Sources Examples/Sources Package.swift Examples/Package.swift

format:
	$(SWIFT) format --in-place --recursive Sources Tests Plugins Benchmarks/Sources Examples/Sources Package.swift Examples/Package.swift

## Builds a package that uses Cairn and runs its programs: what they link, the classes that the plugin
## generates, the tutorials of Examples/.
check-consumers: deps
	@SWIFT="$(SWIFT)" sh Tests/check-consumers.sh

## Installs into DESTDIR: programs, units and configuration.
install: build
	install -D -m 0755 "$(BIN)/cairnd" "$(DESTDIR)$(PREFIX)/bin/cairnd"
	install -D -m 0755 "$(BIN)/cairnctl" "$(DESTDIR)$(PREFIX)/bin/cairnctl"
	install -D -m 0644 systemd/cairnd.service "$(DESTDIR)$(UNITDIR)/cairnd.service"
	install -D -m 0644 systemd/cairnd.socket "$(DESTDIR)$(UNITDIR)/cairnd.socket"
	install -D -m 0644 systemd/cairnd-metrics.socket "$(DESTDIR)$(UNITDIR)/cairnd-metrics.socket"
	install -D -m 0644 systemd/cairnd-page.service "$(DESTDIR)$(UNITDIR)/cairnd-page.service"
	install -m 0644 systemd/cairn-textfile.service systemd/cairn-textfile.timer "$(DESTDIR)$(UNITDIR)"
	install -D -m 0644 systemd/system-preset/90-cairn.preset "$(DESTDIR)$(PREFIX)/lib/systemd/system-preset/90-cairn.preset"
	install -D -m 0644 systemd/sysusers.d/cairn.conf "$(DESTDIR)$(PREFIX)/lib/sysusers.d/cairn.conf"
	install -D -m 0644 systemd/cairn.catalog "$(DESTDIR)$(PREFIX)/lib/systemd/catalog/cairn.catalog"
	@# The template units say what the plain ones say, with the instance's name in every place.
	for unit in cairnd.service cairnd.socket cairnd-metrics.socket; do \
	  template="$(DESTDIR)$(UNITDIR)/$${unit%.*}@.$${unit##*.}"; \
	  sed -f systemd/instances.sed "systemd/$$unit" > "$$template" && chmod 0644 "$$template" || exit 1; \
	done
	install -D -m 0644 systemd/tmpfiles.d/cairn.conf "$(DESTDIR)$(PREFIX)/lib/tmpfiles.d/cairn.conf"
	install -d "$(DESTDIR)$(PREFIX)/share/doc/cairn/drop-ins"
	install -m 0644 systemd/drop-ins/*.conf "$(DESTDIR)$(PREFIX)/share/doc/cairn/drop-ins"
	install -d "$(DESTDIR)$(PREFIX)/share/doc/cairn/prometheus"
	install -m 0644 Config/prometheus/cairn.* "$(DESTDIR)$(PREFIX)/share/doc/cairn/prometheus"
	@# What is in the programs beside the sources of this repository; the date is that of the package.
	awk -f Config/sbom.awk -v version="$$(sed -n 's/.*text = "\(.*\)"/\1/p' Sources/CairnControl/Values/CairnVersion.swift)" \
	  -v created="$$(date -u -d "@$${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%dT%H:%M:%SZ)" debian/Package.resolved \
	  > "$(DESTDIR)$(PREFIX)/share/doc/cairn/cairn.spdx.json"
	@# What the programs say of themselves: manual pages, and completions where the three shells look.
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1" "$(DESTDIR)$(PREFIX)/share/man/man8" \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	"$(BIN)/cairnctl" manual > "$(DESTDIR)$(PREFIX)/share/man/man1/cairnctl.1"
	"$(BIN)/cairnd" --manual > "$(DESTDIR)$(PREFIX)/share/man/man8/cairnd.8"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man5" "$(DESTDIR)$(PREFIX)/share/man/man7"
	"$(BIN)/cairnd" --protocol-manual > "$(DESTDIR)$(PREFIX)/share/man/man7/cairn-varlink.7"
	sed -f Config/manual.sed Config/cairnd.yaml > "$(DESTDIR)$(PREFIX)/share/man/man5/cairnd.yaml.5"
	"$(BIN)/cairnctl" completions bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/cairnctl"
	@# It is read, not run.
	sed -i '1{/^#!/d}' "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/cairnctl"
	"$(BIN)/cairnctl" completions zsh > "$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_cairnctl"
	"$(BIN)/cairnctl" completions fish > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/cairnctl.fish"
	@# Readable by the daemon's user (there are no secrets in it); never laid over one that is there.
	[ -e "$(DESTDIR)/etc/cairn/cairnd.yaml" ] || \
	  install -D -m 0644 Config/cairnd.yaml "$(DESTDIR)/etc/cairn/cairnd.yaml"

## Builds a Debian package that needs no Swift on the machine, into .build-deb; debhelper comes from apt.
deb: deps
	@dpkg -s debhelper >/dev/null 2>&1 || { \
	  SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	  $$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq debhelper; }
	@mkdir -p .build-deb && rm -f .build-deb/*.deb
	SOURCE_DATE_EPOCH="$$(dpkg-parsechangelog -S Timestamp)" DEB_OUTPUT="$(CURDIR)/.build-deb" \
	  SWIFT="$(SWIFT)" debian/rules clean binary
	@cd .build-deb && ls -l *.deb

## Tries the package of `make deb` (as root): lintian finds no error, the tests of the daemon and of cairnctl pass with
## its programs, and it is installed, upgraded under load and purged under a systemd of its own, on a machine without
## Swift.
check-deb: deps
	@set -e; ls .build-deb/cairn_*.deb > /dev/null; \
	dpkg -s lintian > /dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq lintian; }; \
	lintian --allow-root --fail-on error .build-deb/*.deb; \
	rm -rf .build-deb/unpacked; dpkg-deb -x .build-deb/cairn_*.deb .build-deb/unpacked; \
	$(SWIFT) build --product CairnPackageTests --explicit-target-dependency-import-check error; \
	CAIRN_PROGRAMS="$(CURDIR)/.build-deb/unpacked/usr/bin" $(SWIFT) test --skip-build --filter CairnDaemonTests; \
	bash Tests/sysbox/sysbox.sh -b "$(CURDIR)/.build-deb:opt/packages" -b "$(CURDIR):opt/cairn-src" -- \
	  bash -c 'bash /opt/cairn-src/Tests/sysbox/package.sh /opt/packages/cairn_*.deb /opt/cairn-src $(CURDIR)'; \
	bash Tests/sysbox/sysbox.sh -b "$(CURDIR)/.build-deb/unpacked/usr/bin:opt/cairn-bin" -b "$(CURDIR):opt/cairn-src" -- \
	  bash /opt/cairn-src/Tests/sysbox/bars.sh /opt/cairn-bin /opt/cairn-src release

## Builds the package twice from nothing, about a quarter of an hour each, and compares the files byte by byte.
check-reproducible: deps
	bash Tests/check-reproducible.sh

## What others wrote and tests ask for their opinion, into .build/tools: Prometheus' promtool out of its Debian
## package, without its service, Python's Varlink client, zsh and fish.
test-tools:
	@Tests/test-tools.sh

## The two system packages, installed with sudo where we are not root.
deps:
	@dpkg -s libsqlite3-dev libsystemd-dev >/dev/null 2>&1 || { \
	  SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	  echo "Installing libsqlite3-dev and libsystemd-dev"; \
	  $$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq libsqlite3-dev libsystemd-dev; }

## PostgreSQL's server for the tests, without the cluster that Debian's package makes otherwise.
postgresql-server:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
	  SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	  settings=/etc/postgresql-common/createcluster.d/cairn-tests.conf; \
	  echo "Installing PostgreSQL's server, without a cluster"; \
	  $$SUDO mkdir -p "$${settings%/*}" && \
	  echo "create_main_cluster = false" | $$SUDO tee "$$settings" >/dev/null && \
	  $$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq --no-install-recommends postgresql; \
	  installed=$$?; $$SUDO rm -f "$$settings"; [ "$$installed" = 0 ]; } || \
	  echo "No PostgreSQL server can be installed here; the tests of PostgreSQL stores will not run." >&2

clean:
	rm -rf .build Benchmarks/.build
