#!/usr/bin/env python3
"""A daemon with two replicas under writers for some minutes: one SVG with latency, backlog, memory and
the sizes of the files over time.

soak.py BIN-FOLDER MINUTES SVG
"""
import json, os, pathlib, shutil, signal, sqlite3, subprocess, sys, tempfile, threading, time
from contextlib import closing

binaries, minutes, target = pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
root = pathlib.Path(__file__).resolve().parent.parent
work = pathlib.Path(tempfile.mkdtemp(prefix="cairn-soak-"))
config, socket = work / "d.yaml", work / "d.control"
files = {name: work / f"{name}.sqlite" for name in ("local", "one", "two")}
config.write_text(
    f"model: {root}/Config/demo/DebianPackages.xcdatamodeld\ncontrol: {{socket: {socket}}}\n"
    f"local: {{path: {files['local']}}}\nreplicas:\n"
    + "".join(f"  - {{name: {n}, type: sqlite, path: {files[n]}}}\n" for n in ("one", "two")))
config.chmod(0o600)
environment = dict(os.environ, CAIRN_SOCKET=str(socket), NO_COLOR="1")
daemon = subprocess.Popen([binaries / "cairnd", "--config", config], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
over = threading.Event()


def ctl(*arguments, text=None):
    return subprocess.run([binaries / "cairnctl", *arguments], env=environment, input=text, text=True,
                          capture_output=True)


def save(name, version):
    rows = [{"name": f"{name}{i % 500}", "version": f"{version}"} for i in (version, version + 7)]
    return ctl("import", "-", "--entity", "Package", "--key", "name",
               text="".join(json.dumps(row) + "\n" for row in rows)).returncode == 0


def write(name):
    version = 0
    while not over.is_set():
        version += save(name, version)
        time.sleep(0.02)


def latency(number):
    """Seconds from an answered save until the row is in a replica."""
    if not save("probe", number):
        return None
    begin = time.monotonic()
    with closing(sqlite3.connect(f"file:{files['one']}?mode=ro", uri=True, timeout=5)) as file:
        while time.monotonic() - begin < 30:
            try:
                found = file.execute("SELECT ZVERSION FROM ZPACKAGE WHERE ZNAME = ?",
                                     (f"probe{number % 500}",)).fetchone()
            except sqlite3.Error:
                found = None
            if found and found[0] == f"{number}":
                return time.monotonic() - begin
            time.sleep(0.001)
    return 30


def sample(number):
    status = json.loads(ctl("status", "--json").stdout or "{}")
    lags = [r.get("lagTransactions") or r.get("lag") or 0 for r in find(status, "replicas") or []]
    memory = next((int(line.split()[1]) / 1024 for line in
                   pathlib.Path(f"/proc/{daemon.pid}/status").read_text().splitlines()
                   if line.startswith("VmRSS")), 0)
    sizes = {n: sum(p.stat().st_size for p in work.glob(f"{n}.sqlite*")) / 1e6 for n in files}
    seen = latency(number)
    return {"latency (ms)": {"save to replica": (seen or 0) * 1000},
            "backlog (transactions)": {"greatest": max([int(x) for x in lags] or [0])},
            "memory (MB)": {"resident": memory}, "files (MB)": sizes}


def find(value, key):
    if isinstance(value, dict):
        if key in value:
            return value[key]
        return next((f for f in (find(v, key) for v in value.values()) if f is not None), None)
    return None


def draw(samples):
    colours, parts, top = ["#1f6feb", "#d1242f", "#1a7f37"], [], 0
    for title in ("latency (ms)", "backlog (transactions)", "memory (MB)", "files (MB)"):
        names = list(samples[0][1][title])
        most = max([s[title][n] for _, s in samples for n in names] + [1e-9])
        parts.append(f'<text x="60" y="{top + 20}">{title}, up to {most:.1f}</text>'
                     f'<rect x="60" y="{top + 28}" width="720" height="120" fill="none" stroke="#ccc"/>')
        for index, name in enumerate(names):
            points = " ".join(
                f"{60 + 720 * t / max(samples[-1][0], 1e-9):.1f},{top + 148 - 120 * s[title][name] / most:.1f}"
                for t, s in samples)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colours[index]}"/>'
                         f'<text x="{400 + 130 * index}" y="{top + 20}" fill="{colours[index]}">{name}</text>')
        top += 180
    parts.append(f'<text x="60" y="{top}">0 to {samples[-1][0] / 60:.1f} minutes</text>')
    pathlib.Path(target).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="820" height="{top + 20}" '
        f'font-family="sans-serif" font-size="13">' + "".join(parts) + "</svg>\n")


try:
    for _ in range(300):
        if ctl("wait", "--timeout", "20").returncode == 0:
            break
        time.sleep(0.1)
    else:
        sys.exit("the daemon does not come up")
    writers = [threading.Thread(target=write, args=(name,)) for name in ("x", "y")]
    for writer in writers:
        writer.start()
    begin, samples = time.monotonic(), []
    while time.monotonic() - begin < minutes * 60 or len(samples) < 2:
        samples.append((time.monotonic() - begin, sample(len(samples))))
        time.sleep(max(0.2, minutes * 60 / 400))
        if daemon.poll() is not None:
            sys.exit(f"the daemon has ended with {daemon.returncode}")
    over.set()
    for writer in writers:
        writer.join()
    draw(samples)
    print(f"{len(samples)} samples in {target}")
finally:
    over.set()
    if daemon.poll() is None:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
    shutil.rmtree(work, ignore_errors=True)
