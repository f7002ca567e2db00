"""Fetches documents of issuers, through the same guarded client as webhooks."""

from __future__ import annotations

import asyncio
import ssl
from urllib.parse import urlencode

from tickwell.domain.http.url import parse_url
from tickwell.errors import InvalidJob
from tickwell.executors.http.network.guard import Guard
from tickwell.executors.http.network.resolver import Resolver
from tickwell.executors.http.request.request import Request
from tickwell.executors.http.request.values import Unsendable

#: Seconds for the whole of it.
LIMIT = 10.0


class Fetcher:
    """For what is asked for rarely: no connection is kept."""

    def __init__(self, guard: Guard, resolver: Resolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def __call__(self, address: str) -> bytes:
        """The body, up to 64 KiB; `OSError` when it cannot be had."""
        return await self._send("GET", address, {"Accept": "application/json"}, b"")

    async def post(self, address: str, form: dict[str, str]) -> bytes:
        """The body of the answer to a form; `OSError` when there is none."""
        kind = {
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return await self._send("POST", address, kind, urlencode(form).encode())

    async def _send(self, method: str, address: str, headers: dict[str, str], body: bytes) -> bytes:
        from tickwell.executors.http.client.client import Client  # noqa: PLC0415  # heavy, rarely needed

        try:
            url = parse_url(address, "issuer")
        except InvalidJob as error:
            raise OSError(str(error)) from None
        await self._guard.own_addresses.look_up(self._resolver)
        self._guard.check_url(url)
        context = await asyncio.to_thread(ssl.create_default_context)
        client = Client(self._guard, self._resolver, context, ssl.create_default_context)
        query = f"?{url.query}" if url.query else ""
        origin = f"{url.scheme}://{url.authority}"
        request = Request(method, f"{origin}{url.path}{query}", headers, body)
        try:
            async with asyncio.timeout(LIMIT):
                answer = await client.send(request)
        except (client.failure, Unsendable, TimeoutError) as error:
            raise OSError(f"{url.host} did not answer: {error}") from None
        finally:
            await client.close()
        if answer.status != 200 or not answer.complete:
            raise OSError(f"{url.host} answers HTTP {answer.status}")
        return answer.body
