"""A request as it goes out: rendered, identified, signed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickwell.domain.execution import Claim
from tickwell.errors import InvalidInput
from tickwell.executors.http.request.plan import Plan, sendable
from tickwell.executors.http.request.signing import sign
from tickwell.executors.http.request.values import Unsendable, Values, in_words
from tickwell.ids import traceparent


@dataclass(slots=True)
class Request:
    """What the client sends."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes = b""
    certificate: str | None = None


def build(plan: Plan, claim: Claim, values: Values, now: int, token: str | None) -> Request:
    """The request of one attempt; `token` is the bearer that OAuth fetched, if any."""
    target = plan.target
    body, kind = plan.body(values, claim.payload)
    headers = plan.headers(values)
    if target.auth is not None:
        value = plan.authorization(values) if token is None else f"Bearer {token}"
        headers["Authorization"] = sendable("Authorization", value or "")
    _describe(headers, plan, claim, kind, now)
    if target.sign_with:
        headers["webhook-signature"] = _signed(plan.keys(values), claim.id, now // 1000, body)
    return Request(
        target.method,
        plan.full_url(values),
        headers,
        body,
        plan.certificate(values) if target.certificate is not None else None,
    )


def build_plain(plan: Plan, claim: Claim, url: str, now: int) -> Request:
    """The same where nothing is to be filled in, to be shown or to be signed, as in most."""
    body, kind = plan.plain_body(claim.payload)
    headers = plan.fixed_headers.copy()
    _describe(headers, plan, claim, kind, now)
    return Request(plan.target.method, url, headers, body)


def _describe(
    headers: dict[str, str], plan: Plan, claim: Claim, kind: str | None, now: int
) -> None:
    """What is sent, and by which attempt. One id for all attempts: a receiver deduplicates by it.

    Beside the client each step costs thrice what it does alone: hence all in one.
    """
    id, chosen = claim.id, plan.header_names
    if kind is not None and "content-type" not in chosen:
        headers["Content-Type"] = kind
    headers["webhook-id"] = id
    headers["tickwell-fire-time"] = in_words(claim.fire_time)
    headers["tickwell-attempt"] = f"{claim.attempt}"
    headers["tickwell-job"] = claim.job.id
    if "idempotency-key" not in chosen:
        headers["Idempotency-Key"] = id
    if "traceparent" not in chosen:
        # One trace for an execution, one span for each attempt.
        headers["traceparent"] = traceparent(id, claim.attempt)
    headers["webhook-timestamp"] = f"{now // 1000}"


def _signed(keys: Sequence[str], id: str, timestamp: int, body: bytes) -> str:
    try:
        return sign(keys, id, timestamp, body)
    except InvalidInput as error:
        raise Unsendable(str(error)) from None
