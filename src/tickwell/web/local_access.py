"""Access without asking who one is: for one user, on their own machine.

A browser on that machine asks in their name too, for whatever page it shows: so a change comes from
our own pages or from no browser at all, and we are asked for under a name of this machine. A page
that has its own name lead here is a page from elsewhere.
"""

from __future__ import annotations

from fastapi import Request

from tickwell.errors import NotFound
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.projects.platform import DEFAULT
from tickwell.web.authentication import project_cookie
from tickwell.web.context import administration_of, context_of
from tickwell.web.host_header import is_own_name
from tickwell.web.problems import Misdirected
from tickwell.web.route_permission import is_of_platform
from tickwell.web.same_origin import READS, require_own_site

#: Names the project of a request that could be in several.
HEADER = "x-tickwell-project"
_ALL = frozenset(Permission)


async def local_admin(request: Request) -> Actor:
    """Whoever asks may do everything, in the project that the request names."""
    _require_own_machine(request)
    named = request.headers.get(HEADER, DEFAULT)
    if await _is_known(request, named):
        return _actor(request, named)
    if is_of_platform(request):
        return _actor(request, DEFAULT)
    raise NotFound("project", named)


async def local_visit(request: Request) -> tuple[Actor, str]:
    """Whoever looks may do everything, in the project that they chose last."""
    _require_own_machine(request)
    chosen = request.cookies.get(project_cookie(request), DEFAULT)
    return _actor(request, chosen if await _is_known(request, chosen) else DEFAULT), ""


def _require_own_machine(request: Request) -> None:
    host = request.headers.get("host", "")
    if not is_own_name(host, context_of(request).settings.host):
        raise Misdirected(
            f"{host[:100]!r} is not this machine, and nobody is asked who they are here;"
            " ask for 127.0.0.1, or name this host in the setting `host`"
        )
    if request.method not in READS:
        require_own_site(request)


def _actor(request: Request, project: str) -> Actor:
    return Actor(
        name="local",
        project=project,
        permissions=_ALL,
        address=request.client.host if request.client else "",
        request_id=request.state.request_id,
    )


async def _is_known(request: Request, project: str) -> bool:
    return project == DEFAULT or await administration_of(request).projects.is_known(project)
