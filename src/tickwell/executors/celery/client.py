"""The connection to the broker: sends and revokes tasks. Its calls block: they run in threads."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlsplit

from celery import Celery as App

from tickwell.domain.celery import broker_tls
from tickwell.executors.celery.backends import Reader, UnsupportedBackend, reader_of
from tickwell.executors.celery.message import THREADS, Message, Unusable
from tickwell.executors.celery.redis_queues import RedisQueues

#: Seconds for a connection, and for one answer of the broker or of the result backend.
CONNECT, ANSWER = 5, 10
#: AMQP's codes for a message or an exchange that leads to no queue.
_NO_QUEUE = ("NO_ROUTE", "NOT_FOUND")
_NO_ENTRY = (
    *("ACCESS_REFUSED", "WRONGPASS", "NOAUTH", "(403)"),
    *("invalid username-password", "Authentication required"),
)


class Client:
    """A broker, and the reader of a result backend if there is one."""

    def __init__(self, broker: str, result_backend: str, monotonic: Callable[[], float]) -> None:
        self._broker, self._result_backend = broker, result_backend
        self._secrets = [*_passwords(broker), *_passwords(result_backend)]
        #: Without a backend of its own: Redis's would subscribe to each result here.
        self._app = _app(broker, "disabled://")
        self._app_of_results = _app(broker, result_backend) if result_backend else None
        #: Not Celery's own pool: the whole process shares that one, and nothing ever closes it.
        self._connections: Any = None
        self._making = Lock()
        self.reader: Reader | None = None
        #: Queues, or exchanges with keys, that a Celery worker has declared.
        self._declared: set[tuple[str, str, str]] = set()
        self._redis_queues = RedisQueues(monotonic)

    def open(self) -> None:
        """Reach the broker and the result backend once, to say what is wrong with them."""
        self.check()
        if self._app_of_results is None:
            return
        try:
            self.reader = reader_of(self._app_of_results)
            self.reader.read(["tickwell-start"] if self.reader.reply_to("") is None else [])
        except UnsupportedBackend:
            raise Unusable(
                "the setting result_backend names a kind that cannot be read here."
                " Use redis://, db+… or rpc://, or leave it empty to send without results"
            ) from None
        except Exception as error:
            raise self._unusable(error, "result backend", "result_backend") from error

    def check(self, queue: str = "", exchange: str = "", routing_key: str = "") -> None:
        """Raise if the broker cannot be reached, or has no such queue or exchange."""
        try:
            with self._app.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, interval_start=0, timeout=CONNECT)
                if queue or exchange:
                    self._require_route(connection, queue, exchange, routing_key)
        except Exception as error:
            raise self._unusable(error, "broker", "broker") from error

    def send(self, message: Message) -> None:
        """Hand a task to the broker, and wait until it has it where the transport confirms."""
        queue, exchange, key = message.queue, message.exchange, message.routing_key
        if (queue, exchange, key) not in self._declared:
            self.check(queue, exchange, key)
        # Nothing is declared: the queue of the Celery app may have options that are not known here.
        to = {"queue": queue}
        if exchange:
            to = {"exchange": exchange, "routing_key": key}
        try:
            with self._pool().acquire(block=True) as connection:
                self._app.send_task(
                    message.task,
                    [*message.args],
                    {**message.kwargs},
                    task_id=message.id,
                    **to,
                    connection=connection,
                    declare=[],
                    mandatory=True,
                    priority=message.priority,
                    headers=dict(message.headers),
                    soft_time_limit=message.soft,
                    time_limit=message.hard,
                    expires=message.expires,
                    reply_to=message.reply_to,
                    # Once more over a new connection: the one in the pool may have died idle.
                    retry=True,
                    retry_policy={"max_retries": 1, "interval_start": 0, "interval_max": 0},
                    confirm_timeout=ANSWER,
                )
        except Exception as error:
            raise self._unusable(error, "broker", "broker", message) from error

    def revoke(self, task_id: str, *, terminate: bool) -> None:
        """Ask all Celery workers to drop the task, or to stop it."""
        # Over a connection of its own: one from the pool would wait, with the pool's, for another.
        with self._app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=CONNECT)
            self._app.control.revoke(task_id, terminate=terminate, connection=connection)

    def close(self) -> None:
        """Hang up."""
        if self.reader is not None:
            self.reader.close()
        if self._connections is not None:
            self._connections.force_close_all()
        self._app.close()

    def _pool(self) -> Any:
        with self._making:
            if self._connections is None:
                self._connections = self._app.connection_for_write().Pool(THREADS)
            return self._connections

    def _require_route(self, connection: Any, queue: str, exchange: str, key: str) -> None:
        """On Redis any name is a queue: look whether a Celery worker ever consumed from it.

        Elsewhere the broker says so when a message leads nowhere.
        """
        if connection.transport.driver_type == "redis":
            channel = connection.default_channel
            # By exactly this key: what else an exchange matches, kombu knows only of its own.
            if exchange and not any(key == bound[0] for bound in channel.get_table(exchange)):
                raise Unusable(_no_exchange(exchange))
            if queue and not self._redis_queues.have(channel, queue):
                raise Unusable(_no_queue(queue))
        self._declared.add((queue, exchange, key))

    def _unusable(
        self, error: Exception, what: str, setting: str, message: Message | None = None
    ) -> Unusable:
        if isinstance(error, Unusable):
            return error
        reason = " ".join((str(error) or type(error).__name__).split())[:300].rstrip(".")
        for secret in self._secrets:
            reason = reason.replace(secret, "…")
        if isinstance(error, ImportError):
            return Unusable(f"the {what} needs a package: {reason}. Install it")
        if isinstance(error, KeyError) or "No such transport" in reason:
            return Unusable(f"the setting {setting} has an unknown scheme: {reason}. Correct it")
        if message is not None and any(code in reason for code in _NO_QUEUE):
            queue, exchange = message.queue, message.exchange
            return Unusable(_no_queue(queue) if queue else _no_exchange(exchange))
        if any(code in reason for code in _NO_ENTRY):
            return Unusable(
                f"the {what} refuses the credentials of the setting {setting}."
                " Correct its user and password"
            )
        # A Redis without TLS does not answer to a handshake.
        is_tls = "rediss://" in (self._broker if what == "broker" else self._result_backend)
        hint = ", or use redis:// if it has no TLS" if is_tls and "imeout" in reason else ""
        return Unusable(
            f"the {what} cannot be reached: {reason}."
            f" Start it, or correct the setting {setting}{hint}"
        )


def _no_queue(queue: str) -> str:
    return (
        f"the broker has no queue {queue!r}. Start a Celery worker that consumes from it"
        f" (celery worker -Q {queue}), or correct the target's queue"
    )


def _no_exchange(exchange: str) -> str:
    return (
        f"no queue of the broker is bound to the exchange {exchange!r} with that routing key."
        " Start a Celery worker that declares it, or correct the target's exchange and routing_key"
    )


def _app(broker: str, backend: str) -> App:
    app = App("tickwell", broker=broker, backend=backend, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        result_accept_content=["json"],
        task_serializer="json",
        result_serializer="json",
        broker_use_ssl=broker_tls(broker) or False,
        broker_connection_timeout=CONNECT,
        broker_transport_options=_transport_options(broker),
        redis_socket_connect_timeout=CONNECT,
        redis_socket_timeout=ANSWER,
        redis_retry_on_timeout=False,
        result_backend_always_retry=False,
        database_engine_options={"connect_args": _connect_arguments(backend)},
    )
    app.control.mailbox.producer_pool = None  # `revoke` brings its connection
    return app


def _transport_options(broker: str) -> dict[str, Any]:
    scheme = urlsplit(broker).scheme
    if scheme.startswith("redis"):
        return {"socket_connect_timeout": CONNECT, "socket_timeout": ANSWER}
    if scheme in {"amqp", "amqps", "pyamqp"}:
        return {"confirm_publish": True, "read_timeout": ANSWER, "write_timeout": ANSWER}
    return {}


def _connect_arguments(backend: str) -> dict[str, Any]:
    """For a connection whose server vanished to fail at last: drivers wait for ever by default."""
    scheme = urlsplit(backend).scheme
    if "psycopg" in scheme or scheme == "db+postgresql":
        keepalive = {"keepalives_idle": ANSWER, "keepalives_interval": 5, "keepalives_count": 2}
        return {"connect_timeout": CONNECT, "tcp_user_timeout": ANSWER * 1000, **keepalive}
    if "mysql" in scheme:
        return {"connect_timeout": CONNECT, "read_timeout": ANSWER, "write_timeout": ANSWER}
    return {}


def _passwords(url: str) -> set[str]:
    """The password of a URL, as it is written there and as the server gets it."""
    written = urlsplit(url).password
    return {written, unquote(written)} if written else set()
