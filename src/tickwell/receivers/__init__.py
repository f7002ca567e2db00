"""For those who receive webhooks: verify, take each once, refuse what is stale."""

from __future__ import annotations

from tickwell.receivers.asgi import AsgiReceiver
from tickwell.receivers.memory import AsyncSeen, MemorySeen, Seen, Verdict
from tickwell.receivers.verify import Delivery, Rejected, verify
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
