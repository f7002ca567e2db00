"""Claim 500, finish 500, on a store that Tickwell has filled, with nothing but SQLite's own module.

The same tables, columns, indexes and settings as Tickwell's, and the same content in the end: every
execution succeeded, its one attempt on record. Nothing is planned, run, watched or fenced.
`python -m bench.limits.sqlite_loop PATH`
"""

import json
import sqlite3
import sys
import time

CLAIM = """
    DELETE FROM queue WHERE key IN (
        SELECT key FROM queue WHERE state = 2 AND queue = 'default' AND ability = 'call:noop'
            AND run_at <= ? ORDER BY rank, id LIMIT 500)
    RETURNING key, job, run_at, rank"""
HOLD = """
    INSERT INTO running (key, job, attempt, charged, lost, returned, run_at, rank, worker, claim_id,
        deadline, holds_job) VALUES (?, ?, 1, 1, 0, 0, ?, ?, 'bare', ?, ?, 0)"""
READ = "SELECT payload FROM execution WHERE key = ?"
LET_GO = "DELETE FROM running WHERE key = ? AND attempt = 1"
END = """
    UPDATE execution SET state = 5, attempt = 1, charged = 1, outcome = 0, worker = 'bare',
        started_at = ?, ended_at = ?, prune_at = ? WHERE key = ?"""
COUNT = """
    INSERT INTO tally VALUES ('default', 5, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count"""
MONTH = 30 * 86_400_000


def drain(db: sqlite3.Connection) -> int:
    done = 0
    while True:
        now = time.time_ns() // 1_000_000
        db.execute("BEGIN IMMEDIATE")
        rows = db.execute(CLAIM, (now,)).fetchall()
        db.executemany(HOLD, [(*row, f"claim-{now}", now + 360_000) for row in rows])
        payloads = [db.execute(READ, (key,)).fetchone() for key, *_ in rows]
        db.execute("COMMIT")
        if not payloads:
            return done
        db.execute("BEGIN IMMEDIATE")
        db.executemany(LET_GO, [(key,) for key, *_ in rows])
        db.executemany(END, [(now, now, now + MONTH, key) for key, *_ in rows])
        db.execute(COUNT, (len(rows),))
        db.execute("COMMIT")
        done += len(rows)


if __name__ == "__main__":
    database = sqlite3.connect(sys.argv[1], isolation_level=None)
    settings = "synchronous=full cache_size=-65536 wal_autocheckpoint=4000 temp_store=memory"
    for setting in [*settings.split(), "secure_delete=off"]:
        database.execute(f"PRAGMA {setting}")
    begin = time.perf_counter()
    print(json.dumps({"done": drain(database), "seconds": time.perf_counter() - begin}))
