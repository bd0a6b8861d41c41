"""What the drills share that let daemons and programs end at random: check-sync.py and check-partitions.py.

Here is what programs save, what the tables of a file say, and how daemons come to agree in the end; what goes wrong
on the way is each drill's own.
"""

import json, sqlite3, time
from contextlib import closing


def packages_to_save(name, batch, count):
    """The names of new packages, and lines of JSON with them: they share sections and what they depend on."""
    names = [f"{name}{batch}-{i}" for i in range(count)]
    rows = [{"name": n, "version": f"{batch}", "section": {"name": f"s{batch % 7}"},
             "dependencies": [{"name": f"shared{batch % 5}"}]} for n in names]
    rows.append({"name": f"shared{batch % 5}", "summary": f"{name} {batch}"})
    return names, "".join(json.dumps(row) + "\n" for row in rows)


def tables(path):
    """What the tables of a whole file say, by names: packages, sections and links."""
    with closing(sqlite3.connect(path, timeout=30)) as file:
        columns = {r[1] for r in file.execute("PRAGMA table_info(ZPACKAGE)")}
        assert "ZNAME" in columns, f"{path} has no packages"
        packages = file.execute(
            "SELECT p.ZNAME, p.ZVERSION, p.ZSUMMARY, s.ZNAME FROM ZPACKAGE p "
            "LEFT JOIN ZSECTION s ON s.Z_PK = p.ZSECTION ORDER BY 1").fetchall()
        sections = file.execute("SELECT ZNAME FROM ZSECTION ORDER BY 1").fetchall()
        join = next(r[0] for r in file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z\\__DEPEND%' "
            "ESCAPE '\\'"))
        ends = [r[1] for r in file.execute(f"PRAGMA table_info({join})")][:2]
        links = file.execute(
            f"SELECT a.ZNAME, b.ZNAME FROM {join} JOIN ZPACKAGE a ON a.Z_PK = {ends[0]} "
            f"JOIN ZPACKAGE b ON b.Z_PK = {ends[1]} ORDER BY 1, 2").fetchall()
        check = file.execute("PRAGMA integrity_check").fetchone()[0]
    assert check == "ok", f"{path}: {check}"
    return packages, sections, links


def agree(daemons, patience, fail, *words):
    """Waits until all daemons have what all have, and has them compare: `words` say with what."""
    deadline = time.time() + 60
    while time.time() < deadline and any(d.ctl("status").returncode for d in daemons):
        time.sleep(0.2)
    # Twice each: what the second took over from the first has to come back, too.
    for daemon in daemons + daemons:
        done = daemon.ctl("wait", "--timeout", f"{patience}", patience=patience + 30)
        if done.returncode:
            fail(f"wait of {daemon.name}: {done.stderr.strip()}")
    for daemon in daemons:
        done = daemon.ctl("verify", *words, patience=patience + 30)
        if done.returncode:
            fail(f"verify of {daemon.name}: {(done.stdout + done.stderr).strip()[-600:]}")
