"""Hints as Celery messages, over Redis or RabbitMQ."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from celery import Celery
from kombu import Connection, Producer

from tickwell.domain.celery import broker_tls
from tickwell.errors import BrokerUnavailable
from tickwell.ports.broker import Hint

#: The task that a Celery worker runs for a hint, and what its queues begin with.
TASK, PREFIX = "tickwell.execute", "tickwell."
#: Seconds to connect and to wait for an answer; and for all hints of one call.
PATIENCE, LONGEST = 5, 20
T = TypeVar("T")
#: Of kombu, whose transports have no type in common.
Channel = Any
#: Options of the connection, by the URL's scheme: the libraries wait without end by default.
_REDIS = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
_AMQP = {"read_timeout": PATIENCE, "write_timeout": PATIENCE}


def make_celery(url: str) -> Celery:
    """An app as dispatcher and workers have it: they declare the same queues."""
    app = Celery("tickwell", broker=url, set_as_current=False)
    app.conf.task_ignore_result = True
    app.conf.broker_use_ssl = broker_tls(url) or False
    return app


class CeleryBroker:
    """Kombu blocks: all calls run one after the other, in the thread of the connection."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.app = make_celery(url)
        self._link = _Link(url)

    async def depths(self, queues: Sequence[str]) -> list[int]:
        names = [PREFIX + queue for queue in queues]
        return await self._call(lambda link: [self._depth(link, name) for name in names])

    async def send(self, hints: Sequence[Hint]) -> None:
        await self._call(lambda link: self._send(link, hints))

    def close(self) -> None:
        self._link.abandon()

    async def _call(self, work: Callable[[_Link], T]) -> T:
        link = self._link
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LONGEST):
                return await loop.run_in_executor(link.thread, self._guarded, link, work)
        except TimeoutError as error:
            link.abandon()
            if self._link is link:
                self._link = _Link(self.url)
            raise BrokerUnavailable(f"{self._named()} did not answer for {LONGEST} s") from error

    def _guarded(self, link: _Link, work: Callable[[_Link], T]) -> T:
        try:
            return work(link)
        except Exception as error:  # a URL's option may raise anything
            with suppress(Exception):
                link.hang_up()
            raise BrokerUnavailable(self._in_words(error)) from error

    def _depth(self, link: _Link, name: str) -> int:
        """Declare the queue on first use: RabbitMQ drops what is sent to an unknown queue."""
        queue = self.app.amqp.queues[name](link.channel())
        if name not in link.declared:
            queue.declare()
            link.declared.add(name)
        depth: int = queue.queue_declare().message_count
        return depth

    def _send(self, link: _Link, hints: Sequence[Hint]) -> None:
        producer = Producer(link.channel(), auto_declare=False)
        with producer.batch() if hasattr(producer, "batch") else nullcontext():  # since Kombu 5.7
            self._publish(producer, hints)

    def _publish(self, producer: Producer, hints: Sequence[Hint]) -> None:
        for hint in hints:
            message = self.app.amqp.as_task_v2(hint.id, TASK, args=(hint.id,))
            # Not to the queue's own exchange: a Redis that was flushed has forgotten it. Transient:
            # a hint that is lost with the broker is sent again.
            producer.publish(
                message.body,
                exchange="",
                routing_key=PREFIX + hint.queue,
                headers=message.headers,
                serializer="json",
                delivery_mode=1,
                **message.properties,
            )

    def _named(self) -> str:
        """Without its password."""
        parts = urlsplit(self.url)
        host = parts.hostname or "localhost"
        return f"the broker {parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")

    def _in_words(self, error: BaseException) -> str:
        reason = str(error) or type(error).__name__
        if _is_refusal(error):
            problem = f"refuses the user or password: {reason}; correct the URL in `broker`"
            return f"{self._named()} {problem}"
        return f"{self._named()} cannot be reached: {reason}; start it, or correct `broker`"


class _Link:
    """A connection and the one thread that uses it.

    A call that is given up may hang on: its link is abandoned with it and closes itself, and the
    next call has a link that shares nothing with it.
    """

    def __init__(self, url: str) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="tickwell-broker")
        #: Queues that were declared over the connection.
        self.declared: set[str] = set()
        self._url = url
        self._connection: Connection | None = None

    def channel(self) -> Channel:
        """That of the connection, which is made first."""
        if self._connection is None:
            options = _REDIS if self._url.startswith("redis") else _AMQP
            connection = Connection(
                self._url,
                ssl=broker_tls(self._url) or False,
                connect_timeout=PATIENCE,
                heartbeat=0,
                transport_options=options,
            )
            connection.connect()
            self._connection = connection
        return self._connection.default_channel

    def hang_up(self) -> None:
        """Close the connection; the next call makes another."""
        connection, self._connection = self._connection, None
        self.declared.clear()
        if connection is not None:
            connection.release()

    def abandon(self) -> None:
        """Close the connection once its thread is free, and take no more calls."""
        with suppress(RuntimeError):  # by another call that was given up
            self.thread.submit(self.hang_up)
        self.thread.shutdown(wait=False)


def _is_refusal(error: BaseException) -> bool:
    """Whether the broker answered that it does not know us."""
    names = {each.__name__ for each in type(error).__mro__}
    words = str(error).upper()
    return bool(names & {"AuthenticationError", "AccessRefused"}) or any(
        word in words for word in ("WRONGPASS", "NOAUTH", "ACCESS_REFUSED", "AUTHENTICATION")
    )
