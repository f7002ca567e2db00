"""Where pages are: addresses are written from the root, and moved to where the dashboard is."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from fastapi import Request

from tickwell.web.origin import root_of

#: Attributes that hold an address of ours. In what others wrote, quotes are escaped.
_ADDRESS = re.compile(r'(\s(?:href|src|action|formaction|hx-get|hx-post)=")/')


def path_of(request: Request) -> str:
    """The path of a page, from the root."""
    return request.url.path.removeprefix(root_of(request))


def moved(html: str, root: str) -> str:
    """The same page with its addresses below another root."""
    return _ADDRESS.sub(rf"\g<1>{root}/", html) if root else html


def back(request: Request) -> str:
    """The page that a form was on, from the root; never another site, whatever the header says."""
    try:
        came_from = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    first = f"{root_of(request)}/"
    if came_from.netloc != request.url.netloc or not came_from.path.startswith(first):
        return "/"
    path = "/" + came_from.path.removeprefix(first).lstrip("/")
    return f"{path}?{came_from.query}" if came_from.query else path
