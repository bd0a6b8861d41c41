#!/usr/bin/env python3
"""Tries the wrong merges of mutations.txt, each on a copy of CairnSync: compiles it as the last
build did, links the tests with it, and runs the test that is said to notice it, then the laws and all
suites of sync with the simulation, until a test fails. Prints the rows of the table in README.md; fails
when one survives, does not compile or has lost its place, or where another test noticed it than is said.

The sources are only read: whatever ends this leaves them as they were.

mutate.py [--check] [--sample N] [NAME-PART...]
  --check   only looks whether all places are there and the table is that of mutations.txt
  --sample  tries N of them, drawn by CAIRN_TEST_SEED
"""
import argparse, concurrent.futures, json, os, pathlib, random, re, shutil, subprocess, sys, threading, time

root = pathlib.Path(__file__).resolve().parents[2]
build = root / ".build"
scratch = build / "mutations"
# Laws first: they are quick and say most.
SUITES = ["CairnSyncTests.*(Join|Decision|Law|Plan|Trial|Position|Attempt|Clock)", "CairnSyncTests"]


class Mutation:
    def __init__(self, title):
        # The rule stands in brackets behind the name.
        self.name, _, rule = title.partition(" (")
        self.rule, self.edits, self.test = rule.rstrip(")"), [], None


def mutations():
    found = []
    for line in (root / "Tests/Mutations/mutations.txt").read_text().splitlines():
        if line.startswith("== "):
            found.append(Mutation(line[3:]))
        elif not found:
            continue
        elif line.startswith("? "):
            found[-1].test = line[2:].strip()
        elif line.startswith("-"):
            edits = found[-1].edits
            if not edits or edits[-1][1]:
                edits.append(([], []))
            edits[-1][0].append(line[1:])
        elif line.startswith("+"):
            found[-1].edits[-1][1].append(line[1:])
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


def build_mutant(name, edits, scratch):
    sources = scratch / "CairnSync"
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
    """The first test that fails; the rest is not waited for."""
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
    return failed


def caught_by(binary, mutation):
    """The name of the first test that fails, and how long that took; nil where all pass."""
    environment = dict(os.environ, CAIRN_SHRINK_SECONDS="0", CAIRN_SIMULATION_SEEDS="50")
    begun = time.monotonic()
    said = [rf"CairnSyncTests.*/{mutation.test}\("] if mutation.test else []
    for filter in said + SUITES:
        failed = first_failure(binary, filter, environment)
        if failed:
            return failed, time.monotonic() - begun
    return None, time.monotonic() - begun


def tried(mutation, folder):
    """What `caught_by` says of a mutation that is compiled in a folder of its own."""
    try:
        return caught_by(build_mutant(mutation.name, mutation.edits, folder), mutation)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def row(mutation, test):
    return f"| {mutation.name} | {mutation.rule} | {f'`{test}`' if test else 'nothing'} |"


def complaints(all):
    """What mutations.txt and the table say that is not so."""
    table = (root / "Tests/Mutations/README.md").read_text()
    tests = "".join(file.read_text() for file in (root / "Tests/CairnSyncTests").rglob("*.swift"))
    for mutation in all:
        for edit in mutation.edits:
            if (count := len(place(edit))) != 1:
                yield f"{mutation.name}: {count} places for: {' '.join(edit[0])}"
        if mutation.test and f"func {mutation.test}(" not in tests:
            yield f"{mutation.name}: there is no test {mutation.test}"
        if row(mutation, mutation.test) not in table:
            yield f"the table of README.md lacks: {row(mutation, mutation.test)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    all = mutations()
    if found := list(complaints(all)):
        sys.exit("\n".join(found + ["to be mended in Tests/Mutations"]))
    print(f"{len(all)} mutations, all with one place")
    if options.check:
        return
    chosen = [m for m in all if not options.names or any(name in m.name for name in options.names)]
    if options.sample:
        dice = random.Random(int(os.environ.get("CAIRN_TEST_SEED") or time.time_ns()))
        chosen = dice.sample(chosen, min(options.sample, len(chosen)))
    survivors, others = 0, 0
    shutil.rmtree(scratch, ignore_errors=True)
    # The module is compiled as a whole, on one core.
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        trials = [pool.submit(tried, m, scratch / str(n)) for n, m in enumerate(chosen)]
        try:
            for mutation, trial in zip(chosen, trials):
                test, seconds = trial.result()
                print(f"{row(mutation, test)} {seconds:.0f} s", flush=True)
                survivors += test is None
                others += test is not None and mutation.test not in (None, test)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    shutil.rmtree(scratch, ignore_errors=True)
    if survivors or others:
        sys.exit(f"of {len(chosen)}, {survivors} survive and {others} are noticed by other tests than "
                 "mutations.txt says")
    print(f"{len(chosen)} tried, all noticed")


main()
