"""Changes by a browser: only from our own pages, and only with the session's token."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from fastapi import Request

from tickwell.errors import Unauthenticated

REFUSED = "this did not come from a page of ours; load the page again"
OLD = "nothing was changed: the page is older than your login; load it again"
BARE = "nothing was changed: in a session X-CSRF-Token has to say the csrf that logging in answered"
READS = {"GET", "HEAD", "OPTIONS"}
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class ForeignPage(Unauthenticated):
    """Another site made a browser ask for it."""


class OldPage(Unauthenticated):
    """The token of another session: the page was open when its visitor logged in anew."""


async def require_own_page(request: Request, token: str) -> None:
    """Refuse a change that another site made the browser ask for."""
    if request.method in READS:
        return
    require_own_site(request)
    sent_token = request.headers.get("x-csrf-token") or await _in_form(request)
    if not hmac.compare_digest(sent_token.encode(), token.encode()):
        raise OldPage(OLD if sent_token or _is_form(request) else BARE)


def require_own_site(request: Request) -> None:
    """Refuse what a browser says that another site asked for."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    foreign_site = site is not None and site not in {"same-origin", "none"}
    foreign_origin = origin is not None and _host(origin) != request.url.netloc
    if foreign_site or foreign_origin or _is_recoded(request):
        raise ForeignPage(REFUSED)


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _is_recoded(request: Request) -> bool:
    """Whether a form names an encoding: no browser does, and some make half characters."""
    kind = request.headers.get("content-type", "").lower()
    return kind.startswith("multipart/") and "charset" in kind


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith(_FORMS)


async def _in_form(request: Request) -> str:
    if not _is_form(request):
        return ""
    found = (await request.form()).get("csrf")
    return found if isinstance(found, str) else ""
