"""OAuth client credentials: tokens are fetched through the same guarded client, and cached."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from tickwell.domain.http.header import LARGEST, unsendable
from tickwell.domain.http.url import parse_url
from tickwell.executors.http.network.guard import Guard
from tickwell.executors.http.request.plan import Credentials
from tickwell.executors.http.request.request import Request
from tickwell.executors.http.request.values import Unsendable
from tickwell.executors.http.response.answer import Answer

#: Seconds that a token is not used any more before it ends, and its life if nobody says it.
MARGIN = 30.0
DEFAULT_LIFE = 300.0
#: Seconds after which any token is fetched anew, however long its server says that it lives.
LONGEST_LIFE = 86_400.0
MOST_TOKENS = 1000

Send = Callable[[Request], Awaitable[Answer]]


class Refusal(Exception):
    """The token server did not give a token; another attempt may get one."""


class Tokens:
    """Tokens by credentials; one fetch at a time for each."""

    def __init__(self, guard: Guard, monotonic: Callable[[], float]) -> None:
        self._guard = guard
        self._monotonic = monotonic
        self._tokens: dict[Credentials, tuple[str, float]] = {}
        self._locks: dict[Credentials, asyncio.Lock] = {}

    async def get(self, auth: Credentials, send: Send) -> str:
        """A token that still lives."""
        lock = self._locks.setdefault(auth, asyncio.Lock())
        async with lock:
            known = self._tokens.get(auth)
            if known is not None and self._monotonic() < known[1]:
                return known[0]
            if len(self._locks) >= MOST_TOKENS:
                self._tokens.clear()
                self._locks = {auth: lock}
            token, life = await self._fetch(auth, send)
            self._tokens[auth] = (token, self._monotonic() + max(life - MARGIN, 0))
            return token

    def forget(self, auth: Credentials) -> bool:
        """The receiver did not take it: fetch another next time. Whether there was one."""
        return self._tokens.pop(auth, None) is not None

    async def _fetch(self, auth: Credentials, send: Send) -> tuple[str, float]:
        form = {"grant_type": "client_credentials"}
        form |= {"scope": auth.scope} if auth.scope else {}
        form |= {"audience": auth.audience} if auth.audience else {}
        url = parse_url(auth.token_url, "target.http.auth.oauth.token_url")
        self._guard.check_url(url)
        query = f"?{url.query}" if url.query else ""
        answer = await send(
            Request(
                "POST",
                f"{url.scheme}://{url.authority}{url.path}{query}",
                {
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Accept": "application/json",
                    "Authorization": auth.shown,
                },
                urlencode(form).encode(),
            )
        )
        return _read(answer)


def _read(answer: Answer) -> tuple[str, float]:
    if 400 <= answer.status <= 499 and answer.status not in {408, 425, 429}:
        raise Unsendable(f"the token server answers HTTP {answer.status}: {answer.text(200)}")
    if answer.status != 200:
        raise Refusal(f"the token server answers HTTP {answer.status}")
    try:
        found = json.loads(answer.body)
        token, life = found["access_token"], found.get("expires_in")
        life = DEFAULT_LIFE if life is None else min(float(life), LONGEST_LIFE)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise Refusal("the token server answers without a token") from None
    if not isinstance(token, str) or not token:
        raise Refusal("the token server answers without a token")
    if len(token) > LARGEST - len("Bearer ") or unsendable(token):
        # Not kept: every webhook would fail by it for as long as it is said to live.
        raise Refusal("the token server answers with a token that no header can carry")
    return token, life
