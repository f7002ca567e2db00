"""Kombu's Redis transport without its record of unacknowledged messages.

Kombu copies each message to a hash in Redis until it is acknowledged, to deliver it again an hour
later. That takes two transactions per message, more than half of the time of Celery's main process,
and it can end the worker when the broker goes away. A hint needs no such record: the dispatcher
sends another one a second after a hint was lost.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis
from kombu.transport.virtual import base


class QoS(redis.QoS):  # type: ignore[misc]  # Kombu has no types
    """Counts unacknowledged hints for the prefetch limit, in memory only."""

    restore_at_shutdown = False

    def append(self, message: Any, delivery_tag: str) -> None:
        base.QoS.append(self, message, delivery_tag)

    def ack(self, delivery_tag: str) -> None:
        base.QoS.ack(self, delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:  # noqa: FBT001, FBT002 - Kombu's
        base.QoS.ack(self, delivery_tag)

    def restore_visible(self, *_: Any, **__: Any) -> None:
        """Nothing was recorded."""

    def restore_unacked(self, *_: Any, **__: Any) -> None:
        """Nothing was recorded."""
        self._delivered.clear()


class Channel(redis.Channel):  # type: ignore[misc]
    """A channel with these rules."""

    QoS = QoS
    do_restore = False


class Transport(redis.Transport):  # type: ignore[misc]
    """The transport of Celery workers that run Tickwell's executions."""

    Channel = Channel
