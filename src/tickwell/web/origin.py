"""Our public address: behind a proxy's prefix, or mounted in another application."""

from __future__ import annotations

from fastapi import Request

from tickwell.web.context import context_of


def root_of(request: Request) -> str:
    """What comes before every path: a proxy's prefix, or where an application mounted us."""
    return str(request.scope.get("root_path", ""))


def origin_of(request: Request) -> str:
    """Where people reach the dashboard, for links and for other sites to lead back to.

    By the setting `public_url`: without it a request names the host itself, and one that names
    another would have a link made that leads there.
    """
    public: str = context_of(request).settings.public_url
    return public.rstrip("/") if public else _origin_in(request)


def _origin_in(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}{root_of(request)}"


def login_address(request: Request, token: str) -> str:
    """The whole link that logs somebody in."""
    return f"{origin_of(request)}/login?link={token}"
