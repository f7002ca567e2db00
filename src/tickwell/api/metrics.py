"""`/metrics`: what is answered, and to whom."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hmac import compare_digest

from tickwell.api.health import METRICS_PATHS, Receive, Scope, Send, is_near
from tickwell.errors import StoreError
from tickwell.observe.metrics.metrics import Metrics, is_text_wanted
from tickwell.settings import Settings
from tickwell.web.problem_document import MEDIA_TYPE, kind_of, problem_document

#: The path that answers with text, whatever a client accepts.
TEXT_PATH = "/metrics/prometheus"
_JSON = "application/json"


def is_let_in(scope: Scope, settings: Settings) -> bool:
    """Whether a scraper may see everything: by the metrics token, or because it is on this machine.

    Behind a proxy on this machine everybody is: so where a proxy is set up, or a token, being near
    is not enough.
    """
    if settings.metrics_token:
        shown = _header(scope, b"authorization").partition(" ")
        is_bearer = shown[0].lower() == "bearer"
        token = settings.metrics_token.encode()
        return compare_digest(shown[2].strip().encode(), token) and is_bearer
    if settings.public_url or settings.trusted_proxies:
        return False
    return is_near(scope, settings.host)


async def content_for(
    metrics: Metrics, path: str, accept: str, project: str | None = None
) -> tuple[bytes, dict[str, str]]:
    """A body and its headers: text for scrapers, JSON for others.

    Mounted in another application, the path begins with where.
    """
    if path.endswith(TEXT_PATH) or is_text_wanted(accept):
        body, kind = await metrics.text(accept, project)
    else:
        body, kind = json.dumps(await metrics.document(project)).encode() + b"\n", _JSON
    return body, {"content-type": kind, "vary": "Accept", "cache-control": "no-store"}


class MetricsApp:
    """`/metrics` of a process without the API, which knows no API keys."""

    def __init__(self, metrics: Metrics, settings: Settings) -> None:
        self.metrics = metrics
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        status, headers = 200, dict[str, str]()
        if scope["method"] not in {"GET", "HEAD"}:
            status, headers = 405, {"allow": "GET, HEAD"}
        elif scope["path"] not in METRICS_PATHS:
            status = 404
        elif not is_let_in(scope, self.settings):
            status, headers = 401, {"www-authenticate": "Bearer"}
        if status == 200:
            accept = _header(scope, b"accept")
            try:
                body, headers = await content_for(self.metrics, scope["path"], accept)
            except StoreError:
                status = 503
        if status != 200:
            problem = problem_document(status, kind_of(status), _PROBLEMS[status])
            body = json.dumps(problem).encode() + b"\n"
            headers["content-type"] = MEDIA_TYPE
        await send(
            {"type": "http.response.start", "status": status, "headers": _raw(headers, body)}
        )
        sent = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": sent})


_PROBLEMS = {
    401: "send the metrics token as Authorization: Bearer …, or scrape from the same machine",
    404: "no such page; metrics are at /metrics",
    405: "use GET",
    503: "the store does not answer; the text form has what this process counted",
}


def _header(scope: Scope, name: bytes) -> str:
    found = [value for key, value in scope["headers"] if key == name]
    return ",".join(value.decode("latin-1") for value in found)


def _raw(headers: Mapping[str, str], body: bytes) -> list[tuple[bytes, bytes]]:
    named = {**headers, "content-length": str(len(body))}
    return [(name.encode(), value.encode()) for name, value in named.items()]
