"""Gates, one execution at a time: who gets a permit, and who gets it next.

The job's own gate is the holder in its cursor row; a concurrency gate is a row that counts.
Both change under the write lock only, so they are exact.
"""

from __future__ import annotations

from typing import Any

from tickwell.stores.sql.codec import ALLOW, BLOCKED, JOB_GATE, KEY_GATE, NO_GATE, QUEUED
from tickwell.stores.sqlite.rows import Row
from tickwell.stores.sqlite.session import Session


class Gates:
    """The permits of a store, inside a transaction."""

    def __init__(self, session: Session) -> None:
        self.session = session
        #: Places taken in concurrency gates: as stored, and as they are by now. A batch that
        #: passes one permit on five hundred times writes the gate once, or not at all.
        self._stored: dict[str, int] = {}
        self._held: dict[str, int] = {}

    def close(self) -> None:
        """Write the gates whose count has changed."""
        for gate, held in self._held.items():
            if not held:
                self.session.run("drop_gate", gate)
            elif held != self._stored[gate]:
                self.session.run("set_gate", gate, held)
        self._stored, self._held = {}, {}

    def load(self, key: int) -> Row | None:
        """A pending execution as it stands now."""
        return _row(self.session.row("load_pending", key))

    def move(self, row: Row, state: int, waits: int = NO_GATE) -> None:
        """Change the state of a pending execution."""
        row.state, row.waits = state, waits
        if row.fresh:
            row.fresh = False
            self.session.run("insert_again", *row.columns())
            return
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
            held = self._taken(row.gate)
            if held >= row.gate_limit:
                self.move(row, BLOCKED, KEY_GATE)
                return
            self._held[row.gate] = held + 1
            row.holds_key = 1
        self.move(row, QUEUED)

    def leave_key(self, row: Row) -> None:
        """Pass on what one had in its concurrency gate that is gone: its permit, or its turn."""
        if row.gate is not None and row.holds_key:
            self.release_key(row.gate)
        elif row.gate is not None and row.waits == KEY_GATE:
            self.let_in(row.gate)

    def release_key(self, gate: str) -> None:
        """Give a concurrency permit back; the best of those before the gate get what is free."""
        self._held[gate] = self._taken(gate) - 1
        self.let_in(gate)

    def let_in(self, gate: str) -> None:
        """Let the best of those before a concurrency gate through, as many as there is room for.

        More than one only where limits differ: each execution brings its own.
        """
        while following := _row(self.session.row("best_before_gate", gate)):
            if self._taken(gate) >= following.gate_limit:
                return
            self.through_key(following)

    def release_job(self, job: int) -> None:
        """Give a job's own permit back; the best of those before the gate gets it."""
        following = _row(self.session.row("best_before_job", job))
        self.session.run("set_holder", following.key if following else None, job)
        if following:
            following.holds_job = 1
            self.through_key(following)

    def blocked(self, job: int) -> list[Row]:
        """Those that wait past their instant before a job's gate, and that a newer one replaces."""
        keys = [key for (key,) in self.session.rows("blocked_before_job", job)]
        return [row for key in keys if (row := self.load(key)) and row.waits == JOB_GATE]

    def _taken(self, gate: str) -> int:
        if gate not in self._held:
            self._held[gate] = self._stored[gate] = self.session.value("gate_held", gate) or 0
        return self._held[gate]


def _row(values: tuple[Any, ...] | None) -> Row | None:
    return None if values is None else Row(*values)
