"""The writing thread: one commit for all that is waiting, and a fair share for others."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from random import Random
from threading import Event
from typing import TypeVar

from tickwell.stores.sqlite.call_thread import CallThread, ThreadCall, Work
from tickwell.stores.sqlite.errors import is_busy, is_full
from tickwell.stores.sqlite.session import Session

T = TypeVar("T")

#: Seconds. SQLite's own busy handler waits longer and longer, so that of four processes with
#: synchronous=FULL one did all the work and three did none; short pauses keep the chances even.
SHORTEST = 0.001
LONGEST = 0.005
GROWTH = 1.3


class Patience:
    """Tries again while another process holds the lock."""

    def __init__(self, total: float, random: Random) -> None:
        self.total = total
        self._random = random
        #: Never set: a pause that holds no lock of the interpreter.
        self._pause = Event()

    def run(self, action: Callable[[], T]) -> tuple[T, bool]:
        """What the action answers, and whether it had to wait. The last refusal is raised."""
        waited, pause = 0.0, SHORTEST
        while True:
            try:
                return action(), waited > 0
            except sqlite3.Error as error:
                if not is_busy(error) or waited >= self.total:
                    raise
            length = pause * self._random.uniform(0.5, 1.5)
            self.rest(length)
            waited += length
            pause = min(pause * GROWTH, LONGEST)

    def rest(self, seconds: float) -> None:
        """Let others have the lock."""
        self._pause.wait(seconds)


#: Transactions after the last sign of another writer during which we step aside after each.
WARY = 20
#: Seconds to step aside: long enough for a waiter's short pause to end within it.
ASIDE = 0.002


class Writer(CallThread):
    """Calls run inside a transaction; they may run twice, so they keep nothing between runs."""

    together = 16

    def __init__(self, where: str, connect: Callable[[], sqlite3.Connection], wait: float) -> None:
        super().__init__("tickwell-sqlite-write", where, connect)
        self._random = Random()
        self._patience = Patience(wait, self._random)
        self._wary = 0
        self._seen: int | None = None
        self._has_written = False

    def serve(self, session: Session, calls: list[ThreadCall]) -> None:
        """One commit for all; should the file refuse one of them, each gets its own."""
        calls = [call for call in calls if call.look is None or not self._looked(session, call)]
        if len(calls) > 1:
            try:
                self._together(session, calls)
            except sqlite3.Error:
                roll_back(session)
            else:
                return
        super().serve(session, calls)

    def _looked(self, session: Session, call: ThreadCall) -> bool:
        """Whether a look was enough."""
        try:
            call.result = call.look(session) if call.look else None
        except Exception:  # noqa: BLE001 - a row that cannot be read must not end the thread
            return False  # the call itself meets the same error, and says so
        return call.result is not None

    def attempt(self, session: Session, work: Work[T]) -> T:
        try:
            return self._transact(session, work)
        except sqlite3.Error as error:
            if not is_full(error):
                raise
        # The log may fill the disk with old images of a few pages: write it back and try once more.
        with suppress(sqlite3.Error):
            session.connection.execute("PRAGMA wal_checkpoint(truncate)")
        return self._transact(session, work)

    def _transact(self, session: Session, work: Work[T]) -> T:
        self._begin(session)
        try:
            result = work(session)
            session.connection.execute("COMMIT")
        except BaseException:
            roll_back(session)
            raise
        self._has_written = True
        return result

    def rest(self) -> None:
        wrote, self._has_written = self._has_written, False
        if wrote and self._wary:
            self._wary -= 1
            self._patience.rest(ASIDE * self._random.uniform(0.5, 1.5))

    def _together(self, session: Session, calls: list[ThreadCall]) -> None:
        self._begin(session)
        connection = session.connection
        for call in calls:
            call.error = None
            connection.execute("SAVEPOINT one")
            try:
                call.result = call.work(session)
            except sqlite3.Error:
                raise
            except BaseException as error:  # noqa: BLE001 - it is the caller's, not the batch's
                call.error = error
                connection.execute("ROLLBACK TO one")
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
        self._has_written = True

    def _begin(self, session: Session) -> None:
        connection = session.connection
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._seen:
            # Another connection wrote since: it may want to again, and may be waiting now.
            self._wary, self._seen = (WARY if self._seen is not None else 0), version
        _, waited = self._patience.run(lambda: connection.execute("BEGIN IMMEDIATE"))
        if waited:
            self._wary = WARY


def roll_back(session: Session) -> None:
    """Undo; SQLite has done it already after some errors, and then refuses."""
    with contextlib.suppress(sqlite3.Error):
        if session.connection.in_transaction:
            session.connection.execute("ROLLBACK")
