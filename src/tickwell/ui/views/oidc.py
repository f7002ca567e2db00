"""Logging in through another issuer."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from tickwell.errors import NotFound, Unauthenticated
from tickwell.services.access.oidc import LIFE, Oidc
from tickwell.ui.redirects import redirect
from tickwell.ui.views.login import form, inside
from tickwell.web.authentication import asker_of, public
from tickwell.web.context import administration_of
from tickwell.web.cookies import own_name, session_of, set_session
from tickwell.web.origin import origin_of, root_of

router = APIRouter(include_in_schema=False)
_STATE = "oidc_state"


@router.get("/login/oidc", dependencies=[public()])
async def begin(request: Request, next: Annotated[str, Query(max_length=2000)] = "/") -> Response:
    """Off to the issuer."""
    # Not by the name of its route: an application that mounts us has routes of its own.
    back = f"{origin_of(request)}/login/oidc/back"
    try:
        address, state = await _oidc(request).begin(back, inside(next), asker=asker_of(request))
    except Unauthenticated as error:
        return form(request, "", next, str(error), HTTPStatus.UNAUTHORIZED)
    answer = RedirectResponse(address, HTTPStatus.SEE_OTHER)
    answer.set_cookie(
        own_name(request, _STATE),
        state,
        max_age=LIFE // 1000,
        path=_path(request),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return answer


@router.get("/login/oidc/back", dependencies=[public()])
async def finish(
    request: Request,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Back from the issuer, with a code."""
    try:
        id, wanted = await _oidc(request).finish(
            state,
            request.cookies.get(own_name(request, _STATE), ""),
            code,
            asker=asker_of(request),
            old=session_of(request),
        )
    except Unauthenticated as error:
        return form(request, "", "/", str(error), HTTPStatus.UNAUTHORIZED)
    answer = redirect(request, inside(wanted))
    set_session(request, answer, id)
    answer.delete_cookie(own_name(request, _STATE), path=_path(request))
    return answer


def _path(request: Request) -> str:
    return f"{root_of(request)}/login/oidc"


def _oidc(request: Request) -> Oidc:
    found = administration_of(request).oidc
    if found is None:
        raise NotFound("page", "/login/oidc")
    return found
