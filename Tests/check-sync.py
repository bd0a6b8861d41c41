#!/usr/bin/env python3
"""Three daemons on two shared replicas, programs that write through them from other processes, and
`kill -9` at random; one disk fills up for a while, one replica goes away and comes back, one comes back
from a backup, and one loses its write-ahead log under the daemons that have it open, with and without the index.
In the end all five files must hold the same rows, read with SQL, and none that was acknowledged may be missing,
but those that only the restored file had.

CAIRN_KILLS says how often (200), CAIRN_TEST_SEED which (else drawn and printed).
check-sync.py BIN-FOLDER
"""
import os, pathlib, random, shutil, signal, sqlite3, subprocess, sys, tempfile, threading, time
from contextlib import closing

from drill import agree, packages_to_save, tables

binaries = pathlib.Path(sys.argv[1])
root = pathlib.Path(__file__).resolve().parent.parent
kills = int(os.environ.get("CAIRN_KILLS", "200"))
seed = int(os.environ.get("CAIRN_TEST_SEED") or random.randrange(1 << 32))
dice = random.Random(seed)
print(f"seed {seed} (CAIRN_TEST_SEED={seed} repeats the kills)")
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
work = pathlib.Path(tempfile.mkdtemp(prefix="cairn-sync-", dir=memory))
disk, share = work / "disk", work / "share"
disk.mkdir()
share.mkdir()
acknowledged, over = set(), threading.Event()
refused = {"while killed or full": 0}
# What has piled up in a long run takes longer.
patience = 120 + kills // 10


def mounted(size):
    options = ["-o", ("remount," if os.path.ismount(disk) else "") + f"size={size}"]
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", disk], capture_output=True)
    return done.returncode == 0


has_disk = os.geteuid() == 0 and mounted("64m")
replicas = {"hub": share / "hub.sqlite", "nas": disk / "nas.sqlite"}


class Daemon:
    def __init__(self, name):
        self.name, self.process = name, None
        self.socket, self.local = work / f"{name}.control", work / f"{name}.sqlite"
        self.config = work / f"{name}.yaml"
        lines = [f"model: {root}/Config/demo/DebianPackages.xcdatamodeld",
                 f"control: {{socket: {self.socket}}}", f"local: {{path: {self.local}}}",
                 "log: {level: info, format: logfmt}",
                 "sync: {maxRetryDelay: 1s, pollInterval: 1s}", "replicas:"]
        lines += [f"  - {{name: {n}, type: sqlite, path: {p}}}" for n, p in replicas.items()]
        self.config.write_text("\n".join(lines) + "\n")
        self.config.chmod(0o600)

    def start(self):
        log = open(work / f"{self.name}.log", "a")
        self.process = subprocess.Popen([binaries / "cairnd", "--config", self.config],
                                        stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def has_open(self, path):
        """Whether the running daemon has a file open."""
        try:
            entries = os.listdir(f"/proc/{self.process.pid}/fd")
            return str(path) in [os.readlink(f"/proc/{self.process.pid}/fd/{e}") for e in entries]
        except OSError:
            return False

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait()

    def ctl(self, *arguments, text=None, patience=150):
        environment = dict(os.environ, CAIRN_SOCKET=str(self.socket), NO_COLOR="1")
        try:
            return subprocess.run([binaries / "cairnctl", *arguments], env=environment, input=text,
                                  text=True, capture_output=True, timeout=patience)
        except subprocess.TimeoutExpired as end:
            return subprocess.CompletedProcess(end.cmd, 124, "", "does not end")


def write(daemon):
    """Saves packages in small imports until it is over; what is answered is acknowledged. In a long run, too, most
    kills come while it writes."""
    batch = 0
    while not over.is_set() and batch < max(400, 2 * kills):
        names, text = packages_to_save(daemon.name, batch, 5)
        done = daemon.ctl("import", "-", "--entity", "Package", "--key", "name", text=text,
                          patience=20)
        if done.returncode == 0:
            acknowledged.update(names)
            batch += 1
        else:
            refused["while killed or full"] += 1
            last[daemon.name] = done.stderr.strip()[-300:]
            time.sleep(0.05)


def rows(path):
    """What the tables of a file say, by names."""
    packages, sections, links = tables(path)
    for kind, found in (("package", packages), ("section", sections)):
        names = [r[0] for r in found]
        assert len(set(names)) == len(names), f"{path}: a {kind} comes twice"
    return packages, sections, links


def names_in(path):
    try:
        return {r[0] for r in rows(path)[0]}
    except (sqlite3.Error, AssertionError, StopIteration):
        return set()


def fail(text):
    print(f"FAILED with seed {seed}: {text}")
    for daemon in daemons:
        lines = (work / f"{daemon.name}.log").read_text().splitlines()
        print("\n".join(line[:300] for line in lines[-4:]))
    raise SystemExit(1)


daemons, last = [Daemon(name) for name in "abc"], {}
try:
    for daemon in daemons:
        daemon.start()
    writers = [threading.Thread(target=write, args=(daemon,)) for daemon in daemons]
    for writer in writers:
        writer.start()
    events = {kills // 4: "full", kills // 2: "away", kills * 5 // 8: "back", kills * 3 // 4: "restored",
              kills * 13 // 16: "without log", kills * 7 // 8: "without log and index",
              kills * 15 // 16: "without log"}
    backup, uncertain = work / "backup.sqlite", set()
    for number in range(1, kills + 1):
        time.sleep(dice.uniform(0.05, 0.5))
        victims = daemons if dice.random() < 0.1 else [dice.choice(daemons)]
        for daemon in victims:
            daemon.kill()
        event = events.get(number)
        if event == "full" and has_disk:
            print(f"kill {number}: the disk of nas is full")
            used = sum(f.stat().st_size for f in disk.iterdir())
            mounted(f"{used // 1024 + 40}k")
        if event == "away":
            if has_disk:
                mounted("256m")
            with closing(sqlite3.connect(replicas["hub"])) as source:
                with closing(sqlite3.connect(backup)) as target:
                    source.backup(target)
            print(f"kill {number}: the folder of hub goes away, as with a share, under daemons that have hub open")
            share.rename(work / "aside")
        if event == "back":
            if share.exists():
                fail("a daemon made the folder of a replica that is away")
            print(f"kill {number}: it is back")
            (work / "aside").rename(share)
        if event == "restored" and backup.exists():
            print(f"kill {number}: hub comes back from the backup")
            for other in daemons:
                if other not in victims:
                    other.kill()
            victims = daemons
            others = [d.local for d in daemons] + [replicas["nas"]]
            uncertain = names_in(replicas["hub"]).difference(*[names_in(p) for p in others])
            for suffix in ("-wal", "-shm"):
                (share / f"hub.sqlite{suffix}").unlink(missing_ok=True)
            shutil.copy(backup, replicas["hub"])
        if event in ("without log", "without log and index"):
            log = f"{replicas['hub']}-wal"
            # What nobody has open is lost with its name, and with it what a killed daemon was moving into the file.
            if not any(daemon.has_open(log) for daemon in daemons if daemon not in victims):
                events[number + 1], event = event, None
        if event in ("without log", "without log and index"):
            print(f"kill {number}: hub is left {event} under the daemons that have hub open")
            for suffix in ["-wal"] + ["-shm"] * event.endswith("index"):
                (share / f"hub.sqlite{suffix}").unlink(missing_ok=True)
        for daemon in victims:
            daemon.start()
    over.set()
    for writer in writers:
        writer.join()
    print(f"{kills} kills, {len(acknowledged)} packages acknowledged, {refused['while killed or full']} imports refused")
    for number in range(kills + 1, max(events) + 1):
        print(f"left out: {events[number]}, as no daemon had hub open")
    if len(acknowledged) < 100:
        fail(f"too little was saved to mean anything: {last}")
    agree(daemons, patience, fail)
    for daemon in daemons:
        daemon.kill(signal.SIGTERM)
    files = [daemon.local for daemon in daemons] + list(replicas.values())
    if has_disk:
        mounted("256m")
    pictures = [rows(path) for path in files]
    for path, picture in zip(files, pictures):
        for what, mine, theirs in zip(("packages", "sections", "links"), pictures[0], picture):
            if mine != theirs:
                fail(f"{files[0].name} and {path.name} differ in {what}: "
                     f"{sorted(set(mine) ^ set(theirs))[:4]}")
    lost = acknowledged - {row[0] for row in pictures[0][0]} - uncertain
    if lost:
        fail(f"{len(lost)} acknowledged packages are lost: {sorted(lost)[:5]}")
    if not has_disk:
        print("full disk: left out, it needs root and tmpfs")
    print(f"five equal files with {len(pictures[0][0])} packages; nothing acknowledged is lost")
finally:
    over.set()
    for daemon in daemons:
        if daemon.process and daemon.process.poll() is None:
            daemon.kill()
    if os.path.ismount(disk):
        subprocess.run(["umount", disk])
    shutil.rmtree(work, ignore_errors=True)
