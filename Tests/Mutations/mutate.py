#!/usr/bin/env python3
"""Tries the wrong merges of mutations.txt, one at a time, on a copy of CairnSync: compiles it as the last
build did, links the tests with it, and runs the laws and sync suites, then the simulation, until a test
fails. Prints what caught each; fails when one survives, does not compile or has lost its place.

mutate.py [--check] [NAME-PART...]   with --check only looks whether all places are there
"""
import json, os, pathlib, re, shutil, subprocess, sys, threading, time

root = pathlib.Path(__file__).resolve().parents[2]
build = root / ".build"
scratch = build / "mutations"
# Laws first: they are quick and say most.
SUITES = [
    ("laws and decisions", "CairnSyncTests.*(Join|Decision|Law|Plan|Trial|Position|Attempt|Clock)"),
    ("sync suites", "CairnSyncTests"),
]


def mutations():
    found, current = [], None
    for line in (root / "Tests/Mutations/mutations.txt").read_text().splitlines():
        if line.startswith("== "):
            current = (line[3:], [])
            found.append(current)
        elif line.startswith("-") and current:
            edits = current[1]
            if not edits or edits[-1][1]:
                edits.append(([], []))
            edits[-1][0].append(line[1:])
        elif line.startswith("+") and current:
            current[1][-1][1].append(line[1:])
    return found


def pattern(lines):
    """Lines as they are, whatever their indentation and wherever the formatter breaks them."""
    words = [re.escape(word) for line in lines for word in line.split()]
    return re.compile(r"\s+".join(words))


def place(edit):
    matches = []
    for file in sorted((root / "Sources/CairnSync").rglob("*.swift")):
        for match in pattern(edit[0]).finditer(file.read_text()):
            matches.append((file, match))
    return matches


def command(target):
    """How the last build compiled a target, without what concerns SwiftPM's own bookkeeping."""
    text = (build / "debug.yaml").read_text()
    start = text.index(f'"C.{target}-')
    line = re.search(r"\n    args: (\[.*\])\n", text[start:]).group(1)
    arguments, kept, index = json.loads(line), [], 1
    single = {"-emit-dependencies", "-emit-module", "-incremental", "-parseable-output", "-c", "-g",
              "-serialize-diagnostics", "-emit-objc-header", "-enable-batch-mode"}
    double = {"-emit-module-path", "-output-file-map", "-index-store-path", "-emit-objc-header-path"}
    while index < len(arguments):
        argument = arguments[index]
        if argument == "-Xcc":
            kept += arguments[index:index + 2]
            index += 2
        elif argument in double:
            index += 2
        else:
            if argument not in single and not argument.startswith(("@", "-j")):
                kept.append(argument)
            index += 1
    return arguments[0], kept


def link_command():
    text = (build / "debug.yaml").read_text()
    start = re.search(r'"C\.CairnPackageTests-[^"]*\.test":', text).start()
    return json.loads(re.search(r"\n    args: (\[.*\])\n", text[start:]).group(1))


def run(arguments, **options):
    return subprocess.run(arguments, cwd=root, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def build_mutant(name, edits):
    sources = scratch / "CairnSync"
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(root / "Sources/CairnSync", sources)
    for edit in edits:
        matches = place(edit)
        if len(matches) != 1:
            sys.exit(f"{name}: {len(matches)} places for: {' '.join(edit[0])}")
        file, match = matches[0]
        copy = sources / file.relative_to(root / "Sources/CairnSync")
        text = copy.read_text()
        copy.write_text(pattern(edit[0]).sub(lambda _: "\n".join(edit[1]), text, count=1))
    compiler, flags = command("CairnSync")
    compiled = scratch / "CairnSync.o"
    result = run([compiler, *flags, "-wmo", "-c", "-o", str(compiled),
                  *map(str, sorted(sources.rglob("*.swift")))])
    if result.returncode:
        sys.exit(f"{name} does not compile:\n{result.stdout[-2000:]}")
    arguments = link_command()
    objects = next(a[1:] for a in arguments if a.startswith("@"))
    lines = [line for line in pathlib.Path(objects).read_text().splitlines()
             if "/CairnSync.build/" not in line]
    listing = scratch / "Objects.LinkFileList"
    listing.write_text("\n".join(lines + [str(compiled)]) + "\n")
    binary = scratch / "mutant.xctest"
    arguments = [f"@{listing}" if a == f"@{objects}" else a for a in arguments]
    arguments[arguments.index("-o") + 1] = str(binary)
    result = run(arguments)
    if result.returncode:
        sys.exit(f"{name} does not link:\n{result.stdout[-2000:]}")
    return binary


def first_failure(binary, filter, environment):
    """The first test that fails and how long that took; the rest is not waited for."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [str(binary), "--testing-library", "swift-testing", "--filter", filter], cwd=root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    ending = threading.Timer(900, process.kill)
    ending.start()
    failed, empty = None, False
    for line in process.stdout:
        # Colours stand between the symbol and the name.
        if match := re.search(r"✘\S* Test (\w+)\(", line):
            if match.group(1) != "run":
                failed = match.group(1)
                process.kill()
                break
        empty = empty or "Test run with 0 tests" in line
    process.stdout.close()
    code = process.wait()
    timely = ending.is_alive()
    ending.cancel()
    if empty:
        sys.exit(f"no test matches {filter}")
    if not failed and code:
        failed = "crash" if timely else "does not end"
    return failed, time.monotonic() - begun


def caught_by(binary):
    environment = dict(os.environ, CAIRN_SHRINK_SECONDS="0", CAIRN_SIMULATION_SEEDS="50")
    for suite, filter in SUITES:
        failed, seconds = first_failure(binary, filter, environment)
        if failed:
            return f"{suite}: {failed}, {seconds:.0f} s"
    return None


def main():
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    chosen = [m for m in mutations() if not names or any(name in m[0] for name in names)]
    lost = [(name, " ".join(edit[0]), len(place(edit))) for name, edits in chosen for edit in edits
            if len(place(edit)) != 1]
    for name, text, count in lost:
        print(f"{name}: {count} places for: {text}")
    if lost:
        sys.exit("the places above have to be given anew in Tests/Mutations/mutations.txt")
    print(f"{len(chosen)} mutations, all with one place")
    if "--check" in sys.argv:
        return
    survivors = []
    for name, edits in chosen:
        by = caught_by(build_mutant(name, edits))
        print(f"{'caught  ' if by else 'SURVIVES'} | {name} | {by or ''}", flush=True)
        if not by:
            survivors.append(name)
    shutil.rmtree(scratch, ignore_errors=True)
    if survivors:
        sys.exit(f"{len(survivors)} of {len(chosen)} survive")


main()
