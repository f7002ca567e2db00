"""Where we are for whoever asks: behind a proxy's prefix, or mounted in another application."""

from __future__ import annotations

from fastapi import Request


def root_of(request: Request) -> str:
    """What comes before every path: a proxy's prefix, or where an application mounted us."""
    return str(request.scope.get("root_path", ""))


def origin_of(request: Request) -> str:
    """Where the dashboard is, for whoever is elsewhere."""
    return f"{request.url.scheme}://{request.url.netloc}{root_of(request)}"


def login_address(request: Request, token: str) -> str:
    """The whole link that logs somebody in."""
    return f"{origin_of(request)}/login?link={token}"
