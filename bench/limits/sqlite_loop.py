"""Claim 500, finish 500, on a store that Tickwell has filled, with nothing but SQLite's own module.

The same tables, columns, indexes and settings as Tickwell's, and the same content in the end: every
execution succeeded, its one attempt on record. Nothing is planned, run, watched or fenced.
`python -m bench.limits.sqlite_loop PATH`
"""

import json
import sqlite3
import sys
import time

PICK = """
    SELECT key FROM queue WHERE state = 2 AND queue = 'default' AND ability = 'call:noop'
        AND run_at <= ? ORDER BY rank, id LIMIT 500"""
HOLD = """
    INSERT INTO running (key, job, attempt, charged, lost, returned, run_at, rank, worker, claim_id,
        deadline, holds_job)
    SELECT queue.key, job, 1, 1, 0, 0, run_at, rank, 'bare', ?, ?, 0
    FROM json_each(?) AS picked CROSS JOIN queue ON queue.key = picked.value"""
DROP = "DELETE FROM queue WHERE key IN (SELECT value FROM json_each(?))"
READ = """
    SELECT payload FROM json_each(?) AS picked CROSS JOIN execution
    ON execution.key = picked.value"""
LET_GO = "DELETE FROM running WHERE attempt = 1 AND key IN (SELECT value FROM json_each(?))"
END = """
    UPDATE execution SET state = 5, attempt = 1, charged = 1, outcome = 0, worker = 'bare',
        started_at = ?, ended_at = ? WHERE key = ?"""
COUNT = """
    INSERT INTO tally VALUES ('default', 5, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count"""


def drain(db: sqlite3.Connection) -> int:
    done, now = 0, time.time_ns() // 1_000_000
    while keys := [key for (key,) in db.execute(PICK, (now,))]:
        picked = json.dumps(keys)
        db.execute("BEGIN IMMEDIATE")
        db.execute(HOLD, (f"claim-{now}", now + 360_000, picked))
        db.execute(DROP, (picked,))
        done += len(db.execute(READ, (picked,)).fetchall())
        db.execute("COMMIT")
        now = time.time_ns() // 1_000_000
        db.execute("BEGIN IMMEDIATE")
        db.execute(LET_GO, (picked,))
        db.executemany(END, [(now, now, key) for key in keys])
        db.execute(COUNT, (len(keys),))
        db.execute("COMMIT")
    return done


if __name__ == "__main__":
    database = sqlite3.connect(sys.argv[1], isolation_level=None)
    settings = "synchronous=full cache_size=-65536 wal_autocheckpoint=4000 temp_store=memory"
    for setting in [*settings.split(), "secure_delete=off"]:
        database.execute(f"PRAGMA {setting}")
    begin = time.perf_counter()
    print(json.dumps({"done": drain(database), "seconds": time.perf_counter() - begin}))
