"""A request as it goes out: rendered, identified, signed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickwell.domain.execution import Claim
from tickwell.errors import InvalidInput
from tickwell.executors.http.plan import Plan, sendable
from tickwell.executors.http.signing import sign
from tickwell.executors.http.values import Unsendable, Values, in_words
from tickwell.ids import trace_id

_LARGEST_SPAN = 2**64 - 1


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
    if kind is not None and "content-type" not in plan.header_names:
        headers["Content-Type"] = kind
    if target.auth is not None:
        value = plan.authorization(values) if token is None else f"Bearer {token}"
        headers["Authorization"] = sendable("Authorization", value or "")
    _identify(headers, claim, plan.header_names)
    timestamp = now // 1000
    headers["webhook-timestamp"] = f"{timestamp}"
    if target.sign_with:
        headers["webhook-signature"] = _signed(plan.keys(values), claim.id, timestamp, body)
    return Request(
        target.method,
        plan.full_url(values),
        headers,
        body,
        plan.certificate(values) if target.certificate is not None else None,
    )


def _identify(headers: dict[str, str], claim: Claim, chosen: set[str]) -> None:
    """The same id for all attempts: what a receiver deduplicates by."""
    headers["webhook-id"] = claim.id
    headers["tickwell-fire-time"] = in_words(claim.fire_time)
    headers["tickwell-attempt"] = f"{claim.attempt}"
    headers["tickwell-job"] = claim.job.id
    if "idempotency-key" not in chosen:
        headers["Idempotency-Key"] = claim.id
    if "traceparent" not in chosen:
        headers["traceparent"] = _traceparent(claim)


def _traceparent(claim: Claim) -> str:
    """One trace for an execution, one span for each attempt."""
    trace = trace_id(claim.id)
    span = int(trace[16:], 16) + claim.attempt & _LARGEST_SPAN
    return f"00-{trace}-{span:016x}-01"


def _signed(keys: Sequence[str], id: str, timestamp: int, body: bytes) -> str:
    try:
        return sign(keys, id, timestamp, body)
    except InvalidInput as error:
        raise Unsendable(str(error)) from None
