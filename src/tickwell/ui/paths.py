"""Paths of pages: templates write them from the root; the dashboard may be mounted below it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from fastapi import Request

from tickwell.web.origin import root_of

#: Attributes that hold a path of the dashboard. Quotes in user input are escaped.
_LINK = re.compile(r'(\s(?:href|src|action|formaction|hx-get|hx-post)=")/')


def path_of(request: Request) -> str:
    """The path of the request, from the root of the dashboard."""
    return request.url.path.removeprefix(root_of(request))


def mounted(html: str, root: str) -> str:
    """The page with its links below the path that the dashboard is mounted at."""
    return _LINK.sub(rf"\g<1>{root}/", html) if root else html


def back(request: Request) -> str:
    """The page that submitted the form, from the root; never another site."""
    try:
        came_from = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    first = f"{root_of(request)}/"
    if came_from.netloc != request.url.netloc or not came_from.path.startswith(first):
        return "/"
    path = "/" + came_from.path.removeprefix(first).lstrip("/")
    return f"{path}?{came_from.query}" if came_from.query else path
