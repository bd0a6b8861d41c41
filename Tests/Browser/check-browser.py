#!/usr/bin/env python3
"""Looks at the pages of `cairnctl browse` and `cairnctl page` in headless Chromium.

usage: check-browser.py PROGRAMS [STORE [SCREENSHOTS]]

PROGRAMS is the folder of cairnd and cairnctl. Without a store, a daemon makes one. The pages of the daemon
are looked at while it runs, with a replica that another machine writes to and one that is not there, with a
conflict and something in quarantine, and after it has ended.

For every kind of page, in light and in dark and on a narrow screen: the accessibility tree has one main
landmark and one heading of the first level, and every link, field, button, picture and scrolling region in
it has a name; text stands out from its ground (WCAG 2.1 AA); the page does not scroll sideways; nothing is
loaded from elsewhere, nothing is refused by the page's own policy; the keyboard reaches the content first
and then the links in their order. Screenshots are kept where a folder is named.
"""

import base64
import html
import http.cookiejar
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

FAILURES = []


def check(condition, what):
    if not condition:
        FAILURES.append(what)
        print("FAILED:", what)


class Chromium:
    """A browser that is driven through its debugging pipe: JSON, each message ended by a zero byte."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="cairn-chromium-")
        to_browser, self.input = os.pipe()
        self.output, from_browser = os.pipe()

        def arrange():
            # The browser reads descriptor 3 and writes 4. Copies first: either may be the other's number.
            source, sink = os.dup(to_browser), os.dup(from_browser)
            os.dup2(source, 3)
            os.dup2(sink, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--no-first-run", "--disable-background-networking", f"--user-data-dir={self.profile}"],
            preexec_fn=arrange, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility", "DOM"):
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.output, 1 << 20)
            if not more:
                raise RuntimeError("Chromium ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.input, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, address):
        self.events = []
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def look(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


# Text whose contrast with its ground is below what WCAG 2.1 AA asks for.
CONTRAST = """
(() => {
  const channels = text => (text.match(/[0-9.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const part = c => (c /= 255) <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      if (e.tagName === 'g') {
        const box = e.querySelector(element.classList.contains('name') ? '.head' : '.box');
        if (box) return channels(getComputedStyle(box).fill);
      }
      const colour = channels(getComputedStyle(e).backgroundColor);
      if (colour.length && (colour.length < 4 || colour[3] > 0)) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ['STYLE', 'title'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const ink = channels(element.closest('svg') ? style.fill : style.color);
    const [a, b] = [luminance(ink), luminance(ground(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) weak.push(walker.currentNode.data.trim().slice(0, 30));
  }
  return weak;
})()
"""


def tree_problems(nodes):
    """What the accessibility tree lacks."""
    problems = []
    roles = {}
    for node in nodes:
        if node.get("ignored"):
            continue
        role = node["role"]["value"]
        name = node.get("name", {}).get("value", "").strip()
        roles.setdefault(role, []).append(name)
        if role in ("link", "button", "textbox", "searchbox", "image", "region", "navigation",
                    "search", "RootWebArea") and not name:
            if role != "search":
                problems.append(f"a {role} has no name")
    for role, count in (("main", 1), ("banner", 1)):
        if len(roles.get(role, [])) != count:
            problems.append(f"{len(roles.get(role, []))} {role} landmarks")
    return problems, roles


def check_page(chromium, base, name, address, screenshots):
    lights = []
    for scheme, width in (("light", 1200), ("dark", 1200), ("light", 400)):
        chromium.look(width, 900, scheme)
        chromium.open(address)
        what = f"{name} ({scheme}, {width} wide)"
        problems, roles = tree_problems(chromium.call("Accessibility.getFullAXTree")["nodes"])
        for problem in problems:
            check(False, f"{what}: {problem}")
        check(chromium.evaluate("document.querySelectorAll('h1').length") == 1, f"{what}: one h1")
        check(chromium.evaluate("document.documentElement.lang") == "en", f"{what}: a language")
        check(chromium.evaluate("document.documentElement.scrollWidth <= innerWidth"),
              f"{what}: scrolls sideways")
        weak = chromium.evaluate(CONTRAST)
        check(not weak, f"{what}: text without contrast: {weak[:5]}")
        for event in chromium.events:
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                check(url.startswith((base, "data:")), f"{what}: loads {url}")
            # Pages of problems have a status that says so; everything else that a browser logs is a fault.
            if event["method"] == "Log.entryAdded" and event["params"]["entry"].get("url") != address:
                check(False, f"{what}: {event['params']['entry']['text']}")
        lights.append(chromium.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)"
            ".reduce((a, b) => a + b)"))
        if screenshots:
            chromium.screenshot(os.path.join(screenshots, f"{name}-{scheme}-{width}.png"))
    check(lights[0] > 600 and lights[1] < 150, f"{name}: light is light and dark is dark: {lights}")
    return roles


def check_keyboard(chromium, address):
    chromium.look(1200, 900, "light")
    chromium.open(address)

    def tab():
        for kind in ("keyDown", "keyUp"):
            chromium.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                          windowsVirtualKeyCode=9)
        return chromium.evaluate(
            "(e => [e.textContent.trim() || e.id, getComputedStyle(e).outlineStyle])"
            "(document.activeElement)")

    first = tab()
    check(first[0] == "Skip to the content", f"the keyboard begins at {first[0]}")
    seen = [tab() for _ in range(4)]
    check(all(style != "none" for _, style in seen), f"focus can be seen: {seen}")
    for _ in range(40):
        if chromium.evaluate("document.activeElement.id") == "where":
            break
        tab()
    check(chromium.evaluate("document.activeElement.id") == "where", "the keyboard reaches the field")
    chromium.call("Input.insertText", text="nonsense ==")
    chromium.events = []
    for kind in ("keyDown", "keyUp"):
        chromium.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                      windowsVirtualKeyCode=13)
    while not any(event["method"] == "Page.loadEventFired" for event in chromium.events):
        chromium.events.append(chromium.receive())
    check(chromium.evaluate("document.querySelector('[role=alert]') !== null"),
          "a predicate that is none says so")
    kept = chromium.evaluate("document.getElementById('where').value")
    check(kept == "nonsense ==", f"and stays in the field: {kept}")


def links(opener, address):
    page = opener.open(address).read().decode()
    return [html.unescape(link) for link in re.findall(r'href="([^"#]+)', page)]


def make_store(programs, folder):
    """A store with history, relationships and texts that look like markup, as a daemon leaves it."""
    model = os.path.join(os.path.dirname(__file__), "../../Config/demo/DebianPackages.xcdatamodeld")
    socket, store = os.path.join(folder, "control"), os.path.join(folder, "packages.sqlite")
    with open(os.path.join(folder, "cairnd.yaml"), "w") as file:
        json.dump({"model": os.path.abspath(model), "control": {"socket": socket},
                   "local": {"path": store}}, file)
    daemon = subprocess.Popen([os.path.join(programs, "cairnd"), "--config", file.name],
                              stderr=subprocess.DEVNULL)
    rows = [{"name": f"package-{number}", "version": f"1.{number}",
             "summary": "<script>alert(1)</script> & more" if number % 7 == 0 else "A package"}
            for number in range(120)]
    ctl = [os.path.join(programs, "cairnctl"), "--socket", socket]
    try:
        for _ in range(300):
            if subprocess.run(ctl + ["status"], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        subprocess.run(ctl + ["import", "-", "--entity", "Package", "--key", "name"], check=True,
                       capture_output=True, text=True, input="\n".join(map(json.dumps, rows)))
    finally:
        daemon.terminate()
        daemon.wait()
    return store


def wait_for(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.2)
    check(False, f"{what} within {seconds} s")


def check_plots(chromium, address):
    """The picture has a name that tells its content, and its figures are in a table that opens by keyboard."""
    chromium.look(1200, 900, "light")
    chromium.open(address)
    nodes = [node for node in chromium.call("Accessibility.getFullAXTree")["nodes"]
             if not node.get("ignored")]
    pictures = [node["name"]["value"] for node in nodes if node["role"]["value"] == "image"]
    for name in ("Lag, in ", "Throughput, in "):
        check(any(picture.startswith(name) and "at most" in picture for picture in pictures),
              f"a picture tells of {name}: {pictures}")
    lines = chromium.evaluate("[...document.querySelectorAll('.plot .line')].map(l => l.getAttribute('d'))")
    check(any("L" in line for line in lines), f"lines are drawn: {lines}")
    for _ in range(60):
        for kind in ("keyDown", "keyUp"):
            chromium.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                          windowsVirtualKeyCode=9)
        if chromium.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    for kind in ("keyDown", "keyUp"):
        chromium.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                      windowsVirtualKeyCode=13)
    rows = chromium.evaluate("document.querySelectorAll('details[open] tbody tr').length")
    check(rows > 0, f"the table of a plot opens by keyboard: {rows} rows")


class Machine:
    """A daemon with the replica that others have, too."""

    def __init__(self, programs, folder, name, model, replicas):
        self.socket = os.path.join(folder, name + ".control")
        self.ctl = [os.path.join(programs, "cairnctl"), "--socket", self.socket]
        with open(os.path.join(folder, name + ".yaml"), "w") as file:
            json.dump({"model": model, "control": {"socket": self.socket},
                       "local": {"path": os.path.join(folder, name + ".sqlite")},
                       "replicas": [{"name": replica, "type": "sqlite", "path": path}
                                    for replica, path in replicas.items()]}, file)
        self.process = subprocess.Popen([os.path.join(programs, "cairnd"), "--config", file.name],
                                        stderr=subprocess.DEVNULL)
        wait_for("the daemon answers",
                 lambda: subprocess.run(self.ctl + ["status"], capture_output=True).returncode == 0)

    def run(self, *arguments, text=""):
        return subprocess.run(self.ctl + list(arguments), check=True, capture_output=True, text=True,
                              input=text).stdout

    def identifier(self, name):
        found = self.run("fetch", "Package", "--where", f"name == '{name}'", "--properties", "id",
                         "--format", "csv")
        return found.split()[-1]

    def end(self):
        self.process.terminate()
        self.process.wait()


def disagree(here, there):
    """Two machines write the same value, and one of them something that the other refuses."""
    for machine in (here, there):
        machine.run("pause", "nas")
    long = "a summary that is too long for the other machine <b>"
    there.run("update", "Package", there.identifier("package-1"), "summary=there <script>")
    there.run("update", "Package", there.identifier("package-2"), "summary=" + long)
    here.run("update", "Package", here.identifier("package-1"), "summary=here & now")
    for machine in (there, here):
        machine.run("resume", "nas")
        machine.run("sync", "nas")
    wait_for("a conflict", lambda: "won " in here.run("conflicts"))
    wait_for("something in quarantine", lambda: "package" in here.run("quarantine").lower())


def check_daemon(programs, folder, chromium, screenshots):
    """The pages of a daemon, and of one that is away."""
    model = os.path.abspath(os.path.join(
        os.path.dirname(__file__), "../../Config/demo/DebianPackages.xcdatamodeld"))
    # The same version: what validation says is in no hash.
    strict = shutil.copytree(model, os.path.join(folder, "Strict.xcdatamodeld"))
    contents = os.path.join(strict, "DebianPackages.xcdatamodel/contents")
    with open(contents) as file:
        document = file.read()
    with open(contents, "w") as file:
        file.write(document.replace('name="summary" optional="YES"',
                                    'name="summary" optional="YES" maxValueString="30"'))
    nas = os.path.join(folder, "nas.sqlite")
    server = there = None
    here = Machine(programs, folder, "here", strict,
                   {"nas": nas, "away": os.path.join(folder, "nowhere/away.sqlite")})
    try:
        there = Machine(programs, folder, "there", model, {"nas": nas})
        server = subprocess.Popen([os.path.join(programs, "cairnctl"), "page", "--socket", here.socket],
                                  stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
        location = server.stdout.readline().strip()
        base = location.split("?")[0]
        rows = [{"name": f"package-{number}", "version": "1"} for number in range(300)]
        here.run("import", "-", "--entity", "Package", "--key", "name", text="\n".join(map(json.dumps, rows)))
        wait_for("the other machine has the records",
                 lambda: len(there.run("fetch", "Package", "--format", "jsonl").splitlines()) == 300)
        disagree(here, there)
        chromium.open(location)
        still = urllib.parse.urljoin(base, "/?refresh=off")

        def drawn():
            chromium.open(still)
            return chromium.evaluate("[...document.querySelectorAll('.plot .line')]"
                                     ".filter(l => (l.getAttribute('d') || '').includes('L')).length > 1")

        wait_for("two samples", drawn)
        refresh = "document.querySelector('meta[http-equiv=refresh]') !== null"
        check(not chromium.evaluate(refresh), "refreshing can be switched off")
        chromium.open(base)
        check(chromium.evaluate(refresh), "the page refreshes itself")
        pages = {"daemon": "/?refresh=off", "link": "/links/nas?refresh=off",
                 "link-away": "/links/away?refresh=off", "conflicts": "/conflicts",
                 "quarantine": "/quarantine", "daemon-store": "/stores/local/",
                 "daemon-rows": "/stores/nas/entities/Package", "store-away": "/stores/away/"}
        chromium.open(urllib.parse.urljoin(base, pages["conflicts"]))
        pages["conflict"] = chromium.evaluate(
            "document.querySelector('a[href^=\"/conflicts/\"]').getAttribute('href')")
        chromium.open(urllib.parse.urljoin(base, pages["quarantine"]))
        check(chromium.evaluate("document.querySelectorAll('main section').length") > 0,
              "what waits is listed")
        for name, path in pages.items():
            check_page(chromium, base, name, urllib.parse.urljoin(base, path), screenshots)
        check_plots(chromium, still)
        here.end()
        silent = "document.querySelector('[role=alert]') !== null"

        def is_silent():
            chromium.open(still)
            return chromium.evaluate(silent)

        wait_for("the page says that the daemon is away", is_silent)
        for name, path in (("silent", "/?refresh=off"), ("silent-link", "/links/nas?refresh=off")):
            check_page(chromium, base, name, urllib.parse.urljoin(base, path), screenshots)
            check(chromium.evaluate("document.querySelector('[role=alert]').textContent.includes('No answer since')"),
                  f"{name}: says since when")
            check(chromium.evaluate("document.querySelectorAll('.good').length") == 0,
                  f"{name}: nothing is called good of a daemon that is away")
        server.terminate()
        check(server.wait(10) == 0, "cairnctl page ends well")
        return len(pages) + 2
    finally:
        for process in (here.process, there and there.process, server):
            if process:
                process.kill()
                process.wait()


def main():
    programs = sys.argv[1]
    cairnctl = os.path.join(programs, "cairnctl")
    screenshots = sys.argv[3] if len(sys.argv) > 3 else None
    folder = tempfile.mkdtemp(prefix="cairn-pages-")
    store = sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else make_store(programs, folder)
    if screenshots:
        os.makedirs(screenshots, exist_ok=True)
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        sys.exit("Chromium is missing: apt-get install chromium")
    server = subprocess.Popen([cairnctl, "browse", store], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL)
    chromium = None
    try:
        location = server.stdout.readline().strip()
        base = location.split("?")[0]
        opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        opener.open(location)
        entities = [link for link in links(opener, base) if link.startswith("/entities/")]
        records = []
        for entity in entities:
            records += [link for link in links(opener, urllib.parse.urljoin(base, entity))
                        if link.startswith("/records/")]
        check(entities and records, "the store has entities and records")
        chromium = Chromium(program)
        chromium.open(location)
        pages = {"overview": "/", "rows": entities[0], "record": records[0], "check": "/check",
                 "missing": "/entities/Nope", "problem": entities[0] + "?where=nonsense"}
        for link in links(opener, base):
            if link == "/history":
                pages["history"] = link
                pages["changes"] = records[0].replace("/records/", "/changes/")
        for name, path in pages.items():
            check_page(chromium, base, name, urllib.parse.urljoin(base, path), screenshots)
        check_keyboard(chromium, urllib.parse.urljoin(base, entities[0]))
        server.terminate()
        check(server.wait(10) == 0, "cairnctl ends well")
        count = len(pages) + check_daemon(programs, folder, chromium, screenshots)
    finally:
        if chromium:
            chromium.close()
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    if FAILURES:
        sys.exit(f"{len(FAILURES)} failures")
    print(f"{count} pages looked at, in light, in dark and narrow; keyboard: good")


if __name__ == "__main__":
    main()
