#!/usr/bin/env python3
"""A daemon with a replica under five update transactions a second: how its memory grows after a warm-up, and
whether its threads and descriptors do.

check-growth.py BIN-FOLDER MINUTES

The first half, at most thirty minutes of it, is the warm-up. Fails when memory grows by more than 1 MB an hour, or
threads or descriptors by any. A run of less than an hour tells growth less exactly: what is printed behind ± is
how far its figures lie apart by themselves, and only what is beyond that counts as growth.
"""
import json, os, pathlib, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

binaries, minutes = pathlib.Path(sys.argv[1]), float(sys.argv[2])
RATE, RECORDS, EVERY = 5, 200, 2.0
root = pathlib.Path(__file__).resolve().parent.parent
work = pathlib.Path(tempfile.mkdtemp(prefix="cairn-growth-"))
config, control = work / "d.yaml", work / "control"
config.write_text(
    f"model: {root}/Config/demo/DebianPackages.xcdatamodeld\ncontrol: {{socket: {control}}}\n"
    f"local: {{path: {work}/local.sqlite}}\nreplicas: [{{name: backup, path: {work}/backup.sqlite}}]\n")
config.chmod(0o600)
daemon = subprocess.Popen([binaries / "cairnd", "--config", config], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Client:
    """One connection to the control socket: a call is a JSON object and a NUL byte, as is its answer."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(control))
        self.rest = b""

    def call(self, method, **parameters):
        self.socket.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0")
        while b"\0" not in self.rest:
            part = self.socket.recv(65536)
            if not part:
                sys.exit(f"the daemon has hung up during {method}")
            self.rest += part
        answer, _, self.rest = self.rest.partition(b"\0")
        answer = json.loads(answer)
        if "error" in answer:
            sys.exit(f"{method}: {answer}")
        return answer["parameters"]


def connected():
    for _ in range(300):
        try:
            return Client()
        except OSError:
            time.sleep(0.1)
    sys.exit("the daemon does not come up")


def figures():
    """Kibibytes in memory, those of them that are no file's, threads and descriptors."""
    process = pathlib.Path(f"/proc/{daemon.pid}")
    lines = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    size = {name: int(lines[name].split()[0]) for name in ("VmRSS", "RssAnon")}
    return size["VmRSS"], size["RssAnon"], int(lines["Threads"]), len(os.listdir(process / "fd"))


def growth(samples, column):
    """Kibibytes an hour along the line that fits best, and how uncertain that is (two standard errors)."""
    hours = [sample[0] / 3600 for sample in samples]
    values = [sample[1][column] for sample in samples]
    # Sawteeth of caches are no errors that even out from one sample to the next: means of a tenth each.
    count = max(1, len(samples) // 10)
    hours = [statistics.fmean(hours[i:i + count]) for i in range(0, len(hours) - count + 1, count)]
    values = [statistics.fmean(values[i:i + count]) for i in range(0, len(values) - count + 1, count)]
    slope, start = statistics.linear_regression(hours, values)
    spread = sum((value - start - slope * hour) ** 2 for hour, value in zip(hours, values))
    middle = statistics.fmean(hours)
    error = (spread / max(1, len(hours) - 2) / sum((hour - middle) ** 2 for hour in hours)) ** 0.5
    return slope, 2 * error


try:
    client = connected()
    for _ in range(300):
        if client.call("io.cairn.Daemon.GetStatus")["status"]["state"] == "serving":
            break
        time.sleep(0.1)
    made = client.call("io.cairn.Data.Save", inserts=[
        {"entity": "Package", "values": {"name": f"p{number}"}} for number in range(RECORDS)])
    records = made["inserted"]
    begin, number, samples, sampled = time.monotonic(), 0, [], 0.0
    warm = min(minutes / 2, 30) * 60
    while (passed := time.monotonic() - begin) < minutes * 60:
        number += 1
        client.call("io.cairn.Data.Save", updates=[
            {"entity": "Package", "id": records[number % RECORDS], "values": {"summary": f"change {number}"}}])
        if passed >= warm and passed - sampled >= EVERY:
            samples.append((passed, figures()))
            sampled = passed
        if daemon.poll() is not None:
            sys.exit(f"the daemon has ended with {daemon.returncode}")
        # Late ones are not made up for: five a second at most, and as many as the daemon takes.
        time.sleep(max(0, begin + number / RATE - time.monotonic()))
    if number < minutes * 60 * RATE / 2 or len(samples) < 20:
        sys.exit(f"only {number} transactions and {len(samples)} samples: this shows nothing")
    replica = subprocess.run([binaries / "cairnctl", "--socket", control, "wait", "--timeout", "60"])
    if replica.returncode != 0:
        sys.exit("the replica does not get there")
    failed = False
    print(f"{number} transactions in {minutes:g} minutes, the last {minutes - warm / 60:g} of them measured")
    for name, column in (("resident", 0), ("of it no file's", 1)):
        slope, error = growth(samples, column)
        print(f"memory, {name}: {samples[-1][1][column] / 1024:.1f} MB at the end, "
              f"{slope / 1024:+.2f} ± {error / 1024:.2f} MB an hour")
        failed |= slope - error > 1024
    half = len(samples) // 2
    for name, column in (("threads", 2), ("descriptors", 3)):
        before, after = (max(s[1][column] for s in part) for part in (samples[:half], samples[half:]))
        print(f"{name}: at most {before}, then {after}")
        failed |= after > before
    if failed:
        sys.exit("it grows")
finally:
    if daemon.poll() is None:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
    shutil.rmtree(work, ignore_errors=True)
