"""Errors as problem+json, RFC 9457: what is wrong, where, what to do, and nothing of the inside."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from tickwell import errors
from tickwell.services.operations.job_bodies import SeveralInvalid
from tickwell.web.json_pointer import document_of, location_of
from tickwell.web.json_response import encoded
from tickwell.web.problem_document import MEDIA_TYPE, kind_of, problem_document


class ApiError(errors.TickwellError):
    """What only a request can get wrong."""

    status = 400
    kind = "bad-request"
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


class DuplicateHeader(ApiError):
    """A header that names who asks is there more than once: which one counts is anybody's guess."""

    kind = "duplicate-header"


class NotJson(ApiError):
    """The body is no JSON that can be read."""

    kind = "not-json"


class TooLarge(ApiError):
    """The body is larger than the route takes."""

    status = 413
    kind = "too-large"
    #: What is left of the body is not read: the connection ends with the answer.
    headers = {"connection": "close"}  # noqa: RUF012 - never changed


class NotJsonType(ApiError):
    """The body says that it is something else than JSON."""

    status = 415
    kind = "unsupported-media-type"


class Misdirected(ApiError):
    """This host is asked for under a name that is not its own."""

    status = 421
    kind = "misdirected"


class PreconditionFailed(ApiError):
    """The record is not the one that `If-Match` names."""

    status = 412
    kind = "precondition-failed"


class PreconditionRequired(ApiError):
    """An edit without `If-Match` could undo somebody else's."""

    status = 428
    kind = "precondition-required"


class InFlight(ApiError):
    """The first request with this `Idempotency-Key` is still being answered."""

    status = 409
    kind = "in-flight"
    headers = {"retry-after": "1"}  # noqa: RUF012 - never changed


class KeyReused(ApiError):
    """The `Idempotency-Key` came with another request before."""

    status = 422
    kind = "key-reused"


#: The most telling class comes first.
_STATUS: tuple[tuple[type[errors.TickwellError], int, str], ...] = (
    (errors.InvalidInput, 422, "invalid-input"),
    (errors.NotFound, 404, "not-found"),
    (errors.VersionConflict, 412, "version-conflict"),
    (errors.JobExists, 409, "job-exists"),
    (errors.WrongState, 409, "wrong-state"),
    (errors.Conflict, 409, "conflict"),
    (errors.Unauthenticated, 401, "unauthenticated"),
    (errors.Forbidden, 403, "forbidden"),
    (errors.LimitReached, 429, "limit-reached"),
    (errors.HandlerError, 422, "invalid-input"),
    (errors.StoreUnavailable, 503, "store-unavailable"),
    (errors.StoreError, 503, "store-failing"),
    (errors.NotRunning, 503, "not-running"),
)


def status_of(error: errors.TickwellError) -> int:
    """The status that an error of our tree is answered with."""
    if isinstance(error, ApiError):
        return error.status
    return next((status for kind, status, _ in _STATUS if isinstance(error, kind)), 500)


def problem(
    request: Request,
    status: int,
    kind: str,
    detail: str,
    *,
    errors: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """The answer that says what is wrong."""
    document = problem_document(status, kind, detail, getattr(request.state, "request_id", ""))
    if errors:
        document["errors"] = errors
    return Response(encoded(document), status, headers, MEDIA_TYPE)


async def on_error(request: Request, error: Exception) -> Response:
    """The answer to an error of our tree."""
    if isinstance(error, ApiError):
        return problem(request, error.status, error.kind, str(error), headers=error.headers)
    for kind, status, name in _STATUS:
        if isinstance(error, kind):
            detail = _STORE if isinstance(error, errors.StoreError) else _detail(error)
            found = _errors(request, error)
            return problem(
                request, status, name, detail, errors=found, headers=_headers(status, error)
            )
    return await on_bug(request, error)


def _detail(error: errors.TickwellError) -> str:
    more = len(error.others) if isinstance(error, errors.InvalidInput) else 0
    return f"{error}; and {more} more, see errors" if more else str(error)


#: What a driver says may name hosts and tables.
_STORE = "the store cannot be used now; nothing is lost, try again later"


async def on_http(request: Request, error: Exception) -> Response:
    """The answer to a path or a method that is not there."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    details = {
        404: "there is nothing at this address",
        405: f"{request.method} is not offered at this address",
    }
    headers = dict(getattr(error, "headers", None) or {})
    if status == 405:
        headers["Allow"] = ", ".join(_offered(request))
    return problem(request, status, kind_of(status), details.get(status, ""), headers=headers)


def _offered(request: Request) -> list[str]:
    """The methods of all routes at this address; the framework knows those of the first only."""
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    found = {
        method
        for route in request.app.routes
        if isinstance(route, Route) and route.path_regex.match(path)
        for method in (route.methods or ())
    }
    return sorted(found | {"HEAD"} if "GET" in found else found)


#: Where the framework speaks of inputs and fields.
_WORDS = {"extra_forbidden": "is not a known parameter", "missing": "is missing"}


async def on_parameters(request: Request, error: Exception) -> Response:
    """The answer to a parameter that cannot be used."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    problems = [
        {
            # One of several values is named by its place, after the parameter.
            "parameter": str(each["loc"][:2][-1]),
            "in": str(each["loc"][0]),
            "detail": _WORDS.get(each["type"], each["msg"]),
        }
        for each in found
    ]
    detail = "; ".join(f"{each['parameter']}: {each['detail']}" for each in problems)
    return problem(request, 422, "invalid-input", detail, errors=problems)


async def on_bug(request: Request, _error: Exception) -> Response:
    """The answer to what nobody expected; the log has the rest under the same request id."""
    return problem(request, 500, "internal", "something is wrong here; the log knows the request")


def _errors(request: Request, error: errors.TickwellError) -> list[dict[str, Any]] | None:
    if not isinstance(error, errors.InvalidInput):
        return None
    document = document_of(request)
    return [
        location_of(request, document, each.field)
        | {"detail": each.reason}
        | ({"hint": each.hint} if each.hint else {})
        for each in (error.problems if isinstance(error, SeveralInvalid) else error.all)
    ]


def _headers(status: int, error: errors.TickwellError) -> dict[str, str]:
    if status == 401:
        return {"www-authenticate": 'Bearer realm="tickwell"'}
    if status == 503:
        return {"retry-after": "2"}
    if isinstance(error, errors.LimitReached) and error.retry_after is not None:
        return {"retry-after": str(max(1, -int(-error.retry_after // 1)))}
    return {}
