"""Sends as many webhooks, as large, with the client alone: the same guard, cap and deadline.

No store, no job, no report; as many at once as Tickwell sends to one host.
`python -m bench.limits.bare_http COUNT URL`
"""

import asyncio
import json
import ssl
import sys
import time

from bench.ours.process import PAYLOAD, run
from bench.ours.webhooks import NEAR
from tickwell.domain.http.url import parse_url
from tickwell.executors.http.client.client import Client
from tickwell.executors.http.network.guard import Guard
from tickwell.executors.http.network.resolver import SystemResolver
from tickwell.executors.http.request.request import Request
from tickwell.settings import Settings

DEADLINE = 30.0
#: As many as Tickwell sends, and as long.
HEADERS = {
    "Content-Type": "application/json",
    "webhook-id": "x" * 36,
    "webhook-timestamp": "1614265330",
    "tickwell-fire-time": "2026-01-01T00:00:00.000Z",
    "tickwell-attempt": "1",
    "tickwell-job": "x" * 36,
    "Idempotency-Key": "x" * 36,
    "traceparent": "x" * 55,
}


async def send(count: int, url: str) -> dict[str, float]:
    """Until the last one was answered."""
    settings, context = Settings(**NEAR), ssl.create_default_context()  # type: ignore[arg-type]
    guard = Guard.of(settings)
    client = Client(guard, SystemResolver(), context, ssl.create_default_context)
    guard.check_url(parse_url(url))
    numbers, answered, body = iter(range(count)), 0, json.dumps(PAYLOAD).encode()

    async def sender() -> None:
        nonlocal answered
        for _ in numbers:
            async with asyncio.timeout(DEADLINE):
                answer = await client.send(Request("POST", url, HEADERS, body))
            answered += answer.status == 200

    instant, cpu = time.time(), time.process_time()
    await asyncio.gather(*(sender() for _ in range(settings.per_host)))
    ended, cpu = time.time(), time.process_time() - cpu
    await client.close()
    return {"sent": answered, "instant": instant, "ended": ended, "cpu": cpu}


if __name__ == "__main__":
    run(send(int(sys.argv[1]), sys.argv[2]))
