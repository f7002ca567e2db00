"""Statements over many rows that take several steps on SQLite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tickwell.domain.execution import Reason
from tickwell.stores.sql.rows.codec import SKIPPED

if TYPE_CHECKING:
    from tickwell.stores.sqlite.session import Session

Rows = Sequence[Sequence[Any]]


def insert_new(session: Session, rows: Rows) -> list[Any]:
    """Record executions and put them into the queue; how many ids were free.

    The columns are those of `new_row` and whether a permit of the concurrency gate is held. Where
    an id is taken, the caller takes everything back.
    """
    keys = session.document("job_keys", list({row[2] for row in rows}))
    [(last,)] = session.execute("last_key").fetchall()
    live, skipped, pending = [], [], []
    for key, row in enumerate(rows, last + 1):
        id, job = row[0], keys[row[2]]
        execution = key, id, row[1], job, *row[3:16]
        if row[16] == SKIPPED:
            skipped.append((*execution, SKIPPED, Reason.OVERLAP.value, row[9]))
        else:
            live.append(execution)
            lane, size = row[4:9], len(row[13] or "")
            pending.append((key, id, job, *lane, *row[10:13], size, *row[16:]))
    recorded = session.execute_many("insert_live", live) if live else 0
    if skipped:
        recorded += session.execute_many("insert_skipped", skipped)
    if pending and recorded == len(rows):
        session.execute_many("insert_pending", pending)
    return [(recorded,)]


def arm_again(session: Session, rows: Rows) -> list[Any]:
    """Let slots that were skipped go on under their ids; the columns are those of `insert_new`."""
    session.execute_many("arm_execution", [(row[0], *row[3:9], *row[10:16]) for row in rows])
    session.execute_many("queue_slot", [(row[0], *row[16:]) for row in rows])
    return []


def set_held(session: Session, rows: Rows) -> list[Any]:
    """Write how many permits are held in gates; a gate in which none is held has no row."""
    session.execute_many("set_gate", [row for row in rows if row[1]])
    session.execute_many("drop_gate", [row[:1] for row in rows if not row[1]])
    return []


def finish(session: Session, rows: Rows) -> list[Any]:
    """End executions whose running rows the caller has read; the columns are those of `end_row`.

    Most executions of a batch end alike but for a few columns: what they have in common is written
    once.
    """
    alike: defaultdict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        alike[(*row[3:9], row[1])].append((*row[9:], row[0]))
    for common, some in alike.items():
        session.update_together("end_by_id", some, common)
    session.execute("stop", [row[0] for row in rows])
    return []


def finish_quickly(session: Session, rows: Rows) -> list[Any]:
    """End those that hold no permit, were not called off, and whose definition is in force.

    The ids of the executions that ended. In the same way, but by keys, since they are read here.
    """
    alike: defaultdict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
    ended, keys = [], []
    for index, key, attempt, worker, version in session.array("reported", [row[0] for row in rows]):
        row = rows[index]
        if row[1] == attempt and row[2] == version:
            ended.append((row[0],))
            keys.append(key)
            alike[(*row[3:9], attempt, worker)].append((*row[9:], key))
    for common, some in alike.items():
        session.update_together("end_by_key", some, common)
    if keys:
        session.execute("drop_running", keys)
    return ended


def prune_executions(session: Session, ids: list[str]) -> list[Any]:
    """Delete executions with all that belongs to them; how many, by job, project and state."""
    counted = session.execute("count_pruned", ids).fetchall()
    session.execute("prune_attempts", ids)
    session.execute("prune_steps", ids)
    session.execute("prune_unique", ids)
    session.execute("drop_executions", ids)
    return counted


WRITERS: dict[str, Callable[[Session, Rows], list[Any]]] = {
    "arm_again": arm_again,
    "finish": finish,
    "finish_quickly": finish_quickly,
    "insert_new": insert_new,
    "set_held": set_held,
}
