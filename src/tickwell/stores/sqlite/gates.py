"""Gates, one execution at a time: who gets a permit, and who gets it next.

The job's own gate is the holder in its cursor row; a concurrency gate is a row that counts.
Both change under the write lock only, so they are exact.
"""

from __future__ import annotations

from tickwell.stores.sql.codec import ALLOW, BLOCKED, QUEUED
from tickwell.stores.sqlite.rows import JOB_GATE, KEY_GATE, NO_GATE, Row
from tickwell.stores.sqlite.session import Session


class Gates:
    """The permits of a store, inside a transaction."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def load(self, key: int | None) -> Row | None:
        """A pending execution as it stands now."""
        values = None if key is None else self.session.row("load_pending", key)
        return None if values is None else Row(*values)

    def move(self, row: Row, state: int, waits: int = NO_GATE) -> None:
        """Change the state of a pending execution."""
        row.state, row.waits = state, waits
        self.session.run(
            "save_pending",
            state,
            waits,
            row.queue,
            row.ability,
            row.run_at,
            row.rank,
            row.look_at,
            row.gate_limit,
            row.holds_job,
            row.holds_key,
            row.key,
        )

    def take_job(self, row: Row) -> bool:
        """Whether it has the permit of its job now; the row is saved by the move that follows."""
        if row.overlap == ALLOW or row.holds_job:
            return True
        if self.session.value("holder", row.job) is not None:
            return False
        self.session.run("set_holder", row.key, row.job)
        row.holds_job = 1
        return True

    def through_key(self, row: Row) -> None:
        """Past its job's gate: queued, or blocked before its concurrency gate."""
        if row.gate is not None and not row.holds_key:
            if (self.session.value("gate_held", row.gate) or 0) >= row.gate_limit:
                self.move(row, BLOCKED, KEY_GATE)
                return
            self.session.run("gate_take", row.gate)
            row.holds_key = 1
        self.move(row, QUEUED)

    def release_key(self, gate: str) -> None:
        """Give a concurrency permit back; the best of those before the gate get what is free."""
        if not self.session.run("gate_give_last", gate).rowcount:
            self.session.run("gate_give", gate)
        self.let_in(gate)

    def let_in(self, gate: str) -> None:
        """Let the best of those before a concurrency gate through, as many as there is room for.

        More than one only where limits differ: each execution brings its own.
        """
        while following := self.load(self.session.value("best_before_gate", gate)):
            if (self.session.value("gate_held", gate) or 0) >= following.gate_limit:
                return
            self.through_key(following)

    def release_job(self, job: int) -> None:
        """Give a job's own permit back; the best of those before the gate gets it."""
        following = self.load(self.session.value("best_before_job", job))
        self.session.run("set_holder", following.key if following else None, job)
        if following:
            following.holds_job = 1
            self.through_key(following)

    def blocked(self, job: int) -> list[Row]:
        """Those that wait past their instant before a job's gate, and that a newer one replaces."""
        keys = [key for (key,) in self.session.rows("blocked_before_job", job)]
        return [row for key in keys if (row := self.load(key)) and row.waits == JOB_GATE]
