"""Changes by a browser: only from our own pages, and only with the session's token."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from fastapi import Request

from tickwell.errors import Unauthenticated

REFUSED = "this did not come from a page of ours; load the page again"
_READS = {"GET", "HEAD", "OPTIONS"}
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


async def require_own_page(request: Request, token: str) -> None:
    """Refuse a change that another site made the browser ask for."""
    if request.method in _READS:
        return
    require_own_site(request)
    given = request.headers.get("x-csrf-token") or await _in_form(request)
    if not hmac.compare_digest(given.encode(), token.encode()):
        raise Unauthenticated(REFUSED)


def require_own_site(request: Request) -> None:
    """Refuse what a browser says that another site asked for."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    foreign_site = site is not None and site not in {"same-origin", "none"}
    foreign_origin = origin is not None and urlsplit(origin).netloc != request.url.netloc
    if foreign_site or foreign_origin:
        raise Unauthenticated(REFUSED)


async def _in_form(request: Request) -> str:
    if not request.headers.get("content-type", "").startswith(_FORMS):
        return ""
    found = (await request.form()).get("csrf")
    return found if isinstance(found, str) else ""
