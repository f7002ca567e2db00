"""Result backends, read in batches: Redis, databases, and RPC.

Exceptions of tasks are never rebuilt as Python objects: their type and message are texts here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import kombu
from celery import Celery as App
from celery.backends.redis import RedisBackend
from celery.backends.rpc import RPCBackend
from kombu.exceptions import KombuError

from tickwell.executors.celery.deadline_call import DeadlineCall
from tickwell.executors.celery.task_state import UNREADABLE, TaskState

#: Tasks of one read.
BATCH = 500
#: Seconds that one read waits for further replies.
REPLIES = 0.02
#: Seconds that a queue of replies outlives its last use.
UNUSED = 86_400
#: Seconds for one answer of a database; the other backends have timeouts of their own.
ANSWER = 10.0


#: Typed in part only.
_KOMBU: Any = kombu


class UnsupportedBackend(Exception):
    """A kind of result backend that has no reader here."""


class Reader(Protocol):
    """Reads the states of tasks; only ever called by one thread at a time."""

    def reply_to(self, task_id: str) -> str | None:
        """The queue that the task's result is sent to, where results are messages."""
        ...

    def read(self, task_ids: Sequence[str]) -> dict[str, TaskState]:
        """What the backend knows of the tasks that are awaited, all of them."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


def reader_of(app: App) -> Reader:
    """The reader of the app's result backend."""
    backend = app.backend
    if isinstance(backend, RPCBackend):
        return Replies(app)
    if isinstance(backend, RedisBackend):
        return Keys(backend)
    try:
        from celery.backends.database import DatabaseBackend  # noqa: PLC0415 - needs SQLAlchemy
    except ImportError:
        raise UnsupportedBackend from None
    if isinstance(backend, DatabaseBackend):
        return Rows(backend)
    raise UnsupportedBackend


def _batches(task_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (task_ids[at : at + BATCH] for at in range(0, len(task_ids), BATCH))


class Keys:
    """Redis: one MGET for many tasks."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def reply_to(self, task_id: str) -> str | None:
        return None

    def read(self, task_ids: Sequence[str]) -> dict[str, TaskState]:
        found = {}
        for some in _batches(task_ids):
            values = self._backend.mget([*map(self._backend.get_key_for_task, some)])
            for task_id, value in zip(some, values, strict=True):
                if value is not None:
                    found[task_id] = self._decode(value)
        return found

    def _decode(self, value: bytes) -> TaskState:
        try:
            meta = self._backend.decode(value)
            return TaskState(meta["status"], meta.get("result"), meta.get("traceback"))
        except (KombuError, ValueError, TypeError, KeyError) as error:
            return TaskState(UNREADABLE, type(error).__name__)

    def close(self) -> None:
        # The client would leave its pool open, which was made for it.
        self._backend.client.connection_pool.disconnect()


class Rows:
    """A database: one SELECT for many tasks."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._call = DeadlineCall("tickwell-celery-rows", ANSWER)

    def reply_to(self, task_id: str) -> str | None:
        return None

    def read(self, task_ids: Sequence[str]) -> dict[str, TaskState]:
        found: dict[str, TaskState] = {}
        for some in _batches(task_ids):
            found.update(self._call(partial(self._select, some)))
        return found

    def _select(self, task_ids: Sequence[str]) -> dict[str, TaskState]:
        import sqlalchemy  # noqa: PLC0415 - only with this backend

        table = self._backend.task_cls
        # As bytes: the column of Celery before 5.7 unpickles what it reads, and runs what is in it.
        result = sqlalchemy.type_coerce(table.result, sqlalchemy.LargeBinary)
        session = self._backend.ResultSession()
        try:
            rows = session.query(table.task_id, table.status, result, table.traceback)
            return {
                row[0]: self._state(*row[1:]) for row in rows.filter(table.task_id.in_(task_ids))
            }
        finally:
            session.close()

    def _state(self, status: str, result: bytes | None, traceback: str | None) -> TaskState:
        if result is None:
            return TaskState(status, None, traceback)
        try:
            return TaskState(status, self._backend.decode(result), traceback)
        except (KombuError, ValueError, TypeError) as error:
            return TaskState(status, traceback=traceback, unread=type(error).__name__)

    def close(self) -> None:
        """Sessions are closed after each read."""


class Replies:
    """RPC: one queue of replies per task, which the next attempt can read as well."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._connection: Any = None
        self._consumers: dict[str, Any] = {}
        self._states: dict[str, TaskState] = {}

    def reply_to(self, task_id: str) -> str | None:
        return f"tickwell.reply.{task_id}"

    def read(self, task_ids: Sequence[str]) -> dict[str, TaskState]:
        try:
            connection = self._open()
            for task_id in self._consumers.keys() - set(task_ids):
                self._leave(task_id)
            for task_id in task_ids:
                if task_id not in self._consumers:
                    self._consume(connection, task_id)
            with suppress(TimeoutError):
                while True:
                    connection.drain_events(timeout=REPLIES)
        except Exception:
            self.close()
            raise
        return {each: self._states[each] for each in task_ids if each in self._states}

    def _open(self) -> Any:
        if self._connection is None:
            self._connection = self._app.connection_for_read()
            self._connection.ensure_connection(max_retries=1, interval_start=0)
        return self._connection

    def _consume(self, connection: Any, task_id: str) -> None:
        queue = _KOMBU.Queue(self.reply_to(task_id), durable=True, expires=UNUSED)
        consumer = _KOMBU.Consumer(
            connection.default_channel,
            [queue],
            no_ack=False,
            auto_declare=False,
            accept=["json"],
            on_message=lambda message: self._receive(task_id, message),
        )
        queue.bind(connection.default_channel).queue_declare()
        consumer.consume()
        self._consumers[task_id] = consumer

    def _receive(self, task_id: str, message: Any) -> None:
        try:
            meta = message.payload
            state = TaskState(meta["status"], meta.get("result"), meta.get("traceback"))
        except (KombuError, ValueError, TypeError, KeyError) as error:
            state = TaskState(UNREADABLE, type(error).__name__)
        self._states[task_id] = state
        # The last one goes with its queue, or back into it for the attempt that follows a lost one.
        if not state.has_ended:
            message.ack()

    def _leave(self, task_id: str) -> None:
        consumer, state = self._consumers.pop(task_id), self._states.pop(task_id, None)
        consumer.cancel()
        if state is not None and state.has_ended:
            consumer.channel.queue_delete(self.reply_to(task_id))

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._consumers.clear()
        self._states.clear()
        if connection is not None:
            with suppress(Exception):
                connection.close()
