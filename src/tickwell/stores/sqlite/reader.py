"""The reading thread: lists and look-ups do not wait for writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from random import Random
from typing import TypeVar

from tickwell.stores.sqlite.call_thread import CallThread, Work
from tickwell.stores.sqlite.session import Session
from tickwell.stores.sqlite.writer import Patience

T = TypeVar("T")


class Reader(CallThread):
    """Each call sees one state of the file, however many statements it runs."""

    def __init__(self, where: str, connect: Callable[[], sqlite3.Connection], wait: float) -> None:
        super().__init__("tickwell-sqlite-read", where, connect)
        self._patience = Patience(wait, Random())

    def attempt(self, session: Session, work: Work[T]) -> T:
        # In WAL mode a reader is refused only while a crashed writer's log is being recovered.
        return self._patience.run(lambda: self._look(session, work))[0]

    def _look(self, session: Session, work: Work[T]) -> T:
        session.connection.execute("BEGIN")
        try:
            return work(session)
        finally:
            if session.connection.in_transaction:
                session.connection.execute("COMMIT")
