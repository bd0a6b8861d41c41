#!/usr/bin/env python3
"""A PostgreSQL server on a bridge, and three daemons that have it as their hub, each in a network namespace with a
SQLite store of its own. iptables drops packets of one daemon after the other, of both directions or of one, so that
neither end sees a connection close; daemons and the server die by `kill -9`; in the middle the server dies for good,
and a standby without its last commits takes its place. Programs write all the time. In the end all files and the
database must hold the same rows, read with SQL, and none that was acknowledged may be missing.

Two daemons have time-outs in their connection, as an operator sets them; the third has the defaults.
Takes root. CAIRN_FAULTS says how many (40), CAIRN_TEST_SEED which (else drawn and printed).
check-partitions.py BIN-FOLDER
"""
import glob, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading, time

from drill import agree, packages_to_save, tables

binaries = pathlib.Path(sys.argv[1])
root = pathlib.Path(__file__).resolve().parent.parent
faults = int(os.environ.get("CAIRN_FAULTS", "40"))
seed = int(os.environ.get("CAIRN_TEST_SEED") or random.randrange(1 << 32))
dice = random.Random(seed)
patience = 180
programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: int(p.split("/")[4]))
net = f"cairn{os.getpid()}"
acknowledged, over, refused = set(), threading.Event(), {}


def sh(*words, check=True, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()[-400:]}")
    return done


def inside(name, *words, **more):
    return sh("ip", "netns", "exec", f"{net}{name}", *words, **more)


def why_not():
    """What keeps this machine from running it."""
    if os.geteuid() != 0:
        return "it takes root"
    if not programs:
        return "no PostgreSQL server is installed: make postgresql-server"
    for program in ("ip", "iptables"):
        if not shutil.which(program):
            return f"{program} is not installed: apt-get install iproute2 iptables"
    if sh("ip", "netns", "add", f"{net}try", check=False).returncode:
        return "no network namespace can be made here"
    works = inside("try", "iptables", "-A", "INPUT", "-s", "10.213.0.9", "-j", "DROP", check=False)
    sh("ip", "netns", "del", f"{net}try")
    return None if works.returncode == 0 else f"iptables does not work: {works.stderr.strip()[-200:]}"


reason = why_not()
if reason:
    print(f"NOT RUN: {sys.argv[0]}: {reason}", file=sys.stderr)
    raise SystemExit(0)
print(f"seed {seed} (CAIRN_TEST_SEED={seed} repeats the faults)")
work = pathlib.Path(tempfile.mkdtemp(prefix="cairn-net-"))
work.chmod(0o755)


class Server:
    """A primary and a standby in the namespace of the bridge, of which one takes writes."""
    ports = (5432, 5433)

    def __init__(self):
        self.bin, self.folder = programs[-1], work / "server"
        self.folder.mkdir()
        users = [line.split(":")[0] for line in open("/etc/passwd")]
        self.user = next(u for u in ("postgres", "nobody") if u in users)
        shutil.chown(self.folder, self.user)
        self.run("initdb", "-D", "primary", "-U", "cairn", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with open(self.folder / "primary/postgresql.conf", "a") as file:
            file.write(f"listen_addresses = '*'\nunix_socket_directories = '{self.folder}'\nfsync = off\n")
        with open(self.folder / "primary/pg_hba.conf", "a") as file:
            file.write("host all all 10.213.0.0/24 trust\n")
        self.now = "primary"
        self.start("primary")
        self.sql("CREATE DATABASE inventory", "postgres")
        self.run("pg_basebackup", "-D", "standby", "-R", "-h", self.folder, "-p", self.ports[0], "-U", "cairn",
                 "--no-sync", "-c", "fast")
        self.start("standby")

    def run(self, program, *words, check=True):
        return inside("net", "runuser", "-u", self.user, "--", f"{self.bin}/{program}", *words, check=check,
                      cwd=self.folder)

    def start(self, name, *more):
        # Sessions whose first process was killed take a moment to go.
        for attempt in range(100):
            done = sh("ip", "netns", "exec", f"{net}net", "runuser", "-u", self.user, "--", "sh", "-c",
                      f"{self.bin}/pg_ctl -D {name} -w -t 60 -l {name}.log -o '-p {self.port(name)}' start "
                      "> /dev/null 2>&1 < /dev/null", check=False, cwd=self.folder)
            if done.returncode == 0:
                return
            time.sleep(0.1)
        fail(f"the server {name} does not start: {(self.folder / f'{name}.log').read_text()[-600:]}")

    def port(self, name):
        return self.ports[name == "standby"]

    def kill(self):
        os.kill(int((self.folder / self.now / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def sql(self, text, database="inventory"):
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p",
                        self.port(self.now), "-U", "cairn", "-d", database, "-c", text).stdout.strip()

    def promote(self):
        """The primary dies; the standby, which has not streamed for a while, goes on."""
        self.kill()
        self.start("standby")
        self.run("pg_ctl", "-D", "standby", "-w", "-t", "60", "promote")
        self.now = "standby"


class Daemon:
    def __init__(self, name, number, settings):
        self.name, self.address, self.process = name, f"10.213.0.{number}", None
        self.socket, self.local = work / f"{name}.control", work / f"{name}.sqlite"
        self.config = work / f"{name}.yaml"
        connection = ("host=10.213.0.1,10.213.0.1 port=5432,5433 dbname=inventory user=cairn "
                      f"target_session_attrs=read-write {settings}")
        lines = [f"model: {root}/Config/demo/DebianPackages.xcdatamodeld",
                 f"control: {{socket: {self.socket}}}", f"local: {{path: {self.local}}}",
                 "log: {level: info, format: logfmt}", "sync: {maxRetryDelay: 1s, pollInterval: 1s}",
                 "replicas:", f"  - {{name: hub, type: postgresql, connection: \"{connection}\"}}"]
        self.config.write_text("\n".join(lines) + "\n")
        self.config.chmod(0o600)
        sh("ip", "netns", "add", net + name)
        inside("net", "ip", "link", "add", f"v{name}", "type", "veth", "peer", "name", "eth0", "netns", net + name)
        inside("net", "ip", "link", "set", f"v{name}", "master", "br0", "up")
        inside(name, "ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            inside(name, "ip", "link", "set", link, "up")

    def start(self):
        log = open(work / f"{self.name}.log", "a")
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", net + self.name, binaries / "cairnd", "--config", self.config],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def kill(self, how=signal.SIGKILL):
        """`ip` has become the daemon: it runs no process beside it."""
        self.process.send_signal(how)
        self.process.wait(timeout=patience)

    def ctl(self, *arguments, text=None, patience=150):
        environment = dict(os.environ, CAIRN_SOCKET=str(self.socket), NO_COLOR="1")
        try:
            return subprocess.run([binaries / "cairnctl", *arguments], env=environment, input=text, text=True,
                                  capture_output=True, timeout=patience)
        except subprocess.TimeoutExpired as end:
            return subprocess.CompletedProcess(end.cmd, 124, "", "does not end")

    def cut(self, which):
        """Packets are dropped at the server's side: from the daemon, to it, or both."""
        if which in ("both", "from"):
            inside("net", "iptables", "-A", "INPUT", "-s", self.address, "-j", "DROP")
        if which in ("both", "to"):
            inside("net", "iptables", "-A", "OUTPUT", "-d", self.address, "-j", "DROP")


def heal():
    for chain in ("INPUT", "OUTPUT"):
        inside("net", "iptables", "-F", chain)


def write(daemon):
    """Saves packages in small imports until it is over; what is answered is acknowledged."""
    batch = 0
    while not over.is_set():
        names, text = packages_to_save(daemon.name, batch, 4)
        start = time.monotonic()
        done = daemon.ctl("import", "-", "--entity", "Package", "--key", "name", text=text, patience=60)
        slowest[daemon.name] = max(slowest.get(daemon.name, 0), time.monotonic() - start)
        if done.returncode == 0:
            acknowledged.update(names)
            batch += 1
            time.sleep(0.1)
        else:
            refused[daemon.name] = refused.get(daemon.name, 0) + 1
            last[daemon.name] = done.stderr.strip()[-300:]
            time.sleep(0.05)


def local_rows(path):
    """What the tables of a file say, by names."""
    try:
        return picture(*tables(path))
    except AssertionError as damage:
        fail(damage)


def hub_rows(server):
    """What the tables of the database say."""
    def read(query):
        text = server.sql(f"SELECT coalesce(json_agg(r), '[]') FROM ({query}) r")
        return [tuple(row.values()) for row in json.loads(text)]
    return picture(
        read("SELECT p.name a, p.version b, p.summary c, s.name d FROM cairn.package p "
             "LEFT JOIN cairn.section s ON s.cairn_id = p.section_id"),
        read("SELECT name FROM cairn.section"),
        read("SELECT a.name a, b.name b FROM cairn.package_dependents l "
             "JOIN cairn.package a ON a.cairn_id = l.package_id "
             "JOIN cairn.package b ON b.cairn_id = l.dependents_id"))


def picture(packages, sections, links):
    """In an order of its own; either end of a link may come first."""
    def key(row):
        return [str(value) for value in row]
    return [sorted(packages, key=key), sorted(sections, key=key), sorted(tuple(sorted(l)) for l in links)]


def fail(text):
    print(f"FAILED with seed {seed}: {text}")
    for daemon in daemons:
        lines = (work / f"{daemon.name}.log").read_text().splitlines()
        print("\n".join(line[:300] for line in lines[-4:]))
    raise SystemExit(1)


def stops_while_cut(daemon):
    """A daemon that cannot reach its hub ends all the same."""
    daemon.cut("both")
    time.sleep(1)
    start = time.monotonic()
    try:
        daemon.kill(signal.SIGTERM)
    except subprocess.TimeoutExpired:
        fail(f"{daemon.name} does not end while it is cut off")
    print(f"{daemon.name} ended within {time.monotonic() - start:.1f} s while it was cut off")
    heal()
    daemon.start()


def sessions(daemon):
    """How many the server has for a daemon."""
    return int(server.sql(f"SELECT count(*) FROM pg_stat_activity WHERE client_addr = '{daemon.address}'"))


def notices_by_default(daemon):
    """Without any setting of the kernel's or libpq's a daemon finds out that its hub is silent, and says so."""
    def states():
        done = daemon.ctl("status", "--json", patience=30)
        return [r["state"] for r in json.loads(done.stdout)["replicas"]] if done.returncode == 0 else []
    # The fault before this one may have left it without a connection, whose end it is to notice.
    deadline = time.monotonic() + patience
    while not set(states()) & {"inSync", "behind"} or not sessions(daemon):
        if time.monotonic() > deadline:
            fail(f"{daemon.name} does not come back: {states()}")
        time.sleep(0.2)
    daemon.cut("both")
    start = time.monotonic()
    while True:
        found = states()
        took = time.monotonic() - start
        if found == ["unavailable"]:
            break
        if took > 120:
            fail(f"{daemon.name} does not notice that it is cut off: {found}")
        time.sleep(1)
    print(f"{daemon.name} noticed within {took:.0f} s that it was cut off")
    # So does the server: what is left of the sessions are attempts that got no further.
    while sessions(daemon):
        took = time.monotonic() - start
        if took > 150:
            fail(f"the server keeps sessions of {daemon.name}, which is cut off")
        time.sleep(1)
    print(f"the server noticed within {took:.0f} s")
    heal()


def answers_while_cut(daemon):
    """What has nothing to do with the hub takes no longer than always."""
    start = time.monotonic()
    done = daemon.ctl("status", patience=30)
    took = time.monotonic() - start
    if done.returncode == 0 and took > 10:
        fail(f"status of {daemon.name} took {took:.0f} s while it was cut off")


daemons, last, slowest = [], {}, {}
server = None
try:
    sh("ip", "netns", "add", f"{net}net")
    inside("net", "ip", "link", "set", "lo", "up")
    inside("net", "ip", "link", "add", "br0", "type", "bridge")
    inside("net", "ip", "address", "add", "10.213.0.1/24", "dev", "br0")
    inside("net", "ip", "link", "set", "br0", "up")
    server = Server()
    timeouts = "connect_timeout=3 keepalives_idle=3 keepalives_interval=2 keepalives_count=2 tcp_user_timeout=6000"
    daemons = [Daemon("a", 11, timeouts), Daemon("b", 12, timeouts), Daemon("c", 13, "")]
    for daemon in daemons:
        daemon.start()
    writers = [threading.Thread(target=write, args=(daemon,)) for daemon in daemons]
    for writer in writers:
        writer.start()
    counts = {}
    for number in range(1, faults + 1):
        time.sleep(dice.uniform(0.3, 1.5))
        victim = dice.choice(daemons)
        kind = dice.choice(["cut", "cut", "cut", "daemon", "server"])
        if number == faults // 4:
            stops_while_cut(victim)
        if number == faults * 3 // 4:
            notices_by_default(daemons[2])
        if number == faults // 3:
            print(f"fault {number}: the standby streams no more")
            server.run("pg_ctl", "-D", "standby", "-w", "-m", "fast", "stop")
        if number == faults // 2:
            missing = int(server.sql("SELECT count(*) FROM cairn.package"))
            server.promote()
            missing -= int(server.sql("SELECT count(*) FROM cairn.package"))
            print(f"fault {number}: the server is gone; its standby goes on without {missing} packages")
            if missing < 1:
                fail("the standby lacked nothing, so nothing was shown")
            continue
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "cut":
            victim.cut(dice.choice(["both", "from", "to"]))
            answers_while_cut(victim)
            time.sleep(dice.uniform(1, 8))
            # The daemon, or the server, may die while neither hears of the other.
            if dice.random() < 0.25:
                victim.kill()
                victim.start()
            heal()
        elif kind == "daemon":
            victim.kill()
            time.sleep(dice.uniform(0, 1))
            victim.start()
        else:
            server.kill()
            time.sleep(dice.uniform(0, 2))
            server.start(server.now)
    over.set()
    for writer in writers:
        writer.join()
    print(f"{counts}, {len(acknowledged)} packages acknowledged, imports refused: {refused or 'none'}, the slowest took "
          f"{max(slowest.values()):.1f} s")
    if len(acknowledged) < 100:
        fail(f"too little was saved to mean anything: {last}")
    agree(daemons, patience, fail, "hub", "--level", "full")
    for daemon in daemons:
        daemon.kill(signal.SIGTERM)
    stores = {"the hub": hub_rows(server)} | {d.local.name: local_rows(d.local) for d in daemons}
    for name, found in stores.items():
        for what, rows, theirs in zip(("packages", "sections", "links"), found, stores["the hub"]):
            names = rows if what == "links" else [row[0] for row in rows]
            if len(set(names)) != len(names):
                fail(f"{name}: one of the {what} comes twice")
            if rows != theirs:
                fail(f"the hub and {name} differ in {what}: {sorted(set(rows) ^ set(theirs), key=str)[:4]}")
    lost = acknowledged - {row[0] for row in stores["the hub"][0]}
    if lost:
        fail(f"{len(lost)} acknowledged packages are lost: {sorted(lost)[:5]}")
    print(f"the hub and three files are equal, with {len(stores['the hub'][0])} packages; nothing acknowledged is lost")
finally:
    over.set()
    for daemon in daemons:
        if daemon.process and daemon.process.poll() is None:
            daemon.kill()
    if server:
        for name in ("primary", "standby"):
            server.run("pg_ctl", "-D", name, "-m", "immediate", "stop", check=False)
    for name in [d.name for d in daemons] + ["net"]:
        sh("ip", "netns", "del", net + name, check=False)
    shutil.rmtree(work, ignore_errors=True)
