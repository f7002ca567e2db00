"""For those who receive webhooks: verify, take each once, refuse what is stale."""

from __future__ import annotations

from tickwell.receivers.asgi import AsgiReceiver
from tickwell.receivers.delivery import Delivery
from tickwell.receivers.memory import MemorySeen
from tickwell.receivers.seen import AsyncSeen, Seen, Verdict
from tickwell.receivers.verify import Rejected, verify
from tickwell.receivers.wsgi import WsgiReceiver

__all__ = [
    "AsgiReceiver",
    "AsyncSeen",
    "Delivery",
    "MemorySeen",
    "Rejected",
    "Seen",
    "Verdict",
    "WsgiReceiver",
    "verify",
]
