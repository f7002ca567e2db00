"""`/ping/…`: check-ins of outside jobs, by the URLs of healthchecks.io.

Not an operation: the URL is the only credential, and the answer is the text that existing clients
expect.
"""

from __future__ import annotations

from contextlib import suppress

from fastapi import Request, Response
from starlette.routing import Route

from tickwell.api.http.edge import PING_PATH
from tickwell.services.monitors.check_in import LONGEST_LOG
from tickwell.services.monitors.pings import Ping
from tickwell.web.context import context_of
from tickwell.web.problems import TooLarge


async def _answer(request: Request) -> Response:
    reply = await context_of(request).pings.take(
        Ping(
            path=request.path_params["rest"],
            body=await _body(request),
            address=request.client.host if request.client else "",
            run=request.query_params.get("rid", ""),
            creates=request.query_params.get("create") == "1",
        )
    )
    headers = {} if reply.retry_after is None else {"retry-after": str(reply.retry_after)}
    return Response(reply.text, reply.status, headers, media_type="text/plain")


async def _body(request: Request) -> bytes:
    """As much as is kept. The rest is read, so that no client fails at sending it, up to a bound.

    A log that is longer still must not cost the check-in.
    """
    kept = b""
    with suppress(TooLarge):
        async for part in request.stream():
            kept += part[: LONGEST_LOG - len(kept)]
    return kept


PING = Route(f"{PING_PATH}{{rest:path}}", _answer, methods=["GET", "POST"], name="ping")
