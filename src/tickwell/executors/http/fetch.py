"""Fetches a document: for keys of issuers, through the same guarded client as webhooks."""

from __future__ import annotations

import asyncio
import ssl

from tickwell.domain.http.url import parse_url
from tickwell.executors.http.guard import Guard
from tickwell.executors.http.request import Request
from tickwell.executors.http.resolver import Resolver

#: Seconds for the whole of it.
LIMIT = 10.0


class Fetcher:
    """One GET at a time is all that this is for: no connection is kept."""

    def __init__(self, guard: Guard, resolver: Resolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def __call__(self, address: str) -> bytes:
        """The body, up to 64 KiB; `OSError` when it cannot be had."""
        from tickwell.executors.http.client import Client  # noqa: PLC0415  # heavy, rarely needed

        url = parse_url(address, "jwt_issuers")
        await self._guard.own.look_up(self._resolver)
        self._guard.check_url(url)
        context = await asyncio.to_thread(ssl.create_default_context)
        client = Client(self._guard, self._resolver, context, ssl.create_default_context)
        query = f"?{url.query}" if url.query else ""
        request = Request(
            "GET",
            f"{url.scheme}://{url.authority}{url.path}{query}",
            {"Accept": "application/json"},
        )
        try:
            async with asyncio.timeout(LIMIT):
                answer = await client.send(request)
        except (client.failure, TimeoutError) as error:
            raise OSError(f"{url.host} did not answer: {error}") from None
        finally:
            await client.close()
        if answer.status != 200 or not answer.complete:
            raise OSError(f"{url.host} answers HTTP {answer.status}")
        return answer.body
