"""What a response means for the attempt. Only 2xx is success; a redirect is never followed."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from tickwell.clock import to_millis
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.http import Http
from tickwell.domain.outcome import Outcome
from tickwell.executors.http.response.answer import Answer

#: The header by which a receiver says that another attempt is pointless: `Tickwell-Retry: no`.
RETRY = "Tickwell-Retry"
REFUSED = f"the receiver answered with {RETRY}: no"
#: Characters of the answer in an error.
QUOTED = 200
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
#: Longer than anybody waits; what is larger is a slip, and must not overflow a store's number.
_LONGEST = 366 * 86_400_000


def judge(
    answer: Answer, target: Http, now: Callable[[], int], redact: Callable[[str], str]
) -> Outcome:
    """The outcome of an attempt that was answered."""
    body = redact(answer.text(target.keep))
    result: dict[str, Any] = {
        "status": answer.status,
        "body": body,
        "bytes": len(answer.body),
    }
    if not answer.complete:
        result["cut"] = True
    if 200 <= answer.status <= 299:
        return Outcome(kind=OutcomeKind.SUCCEEDED, result=result)
    is_final = answer.headers.get(RETRY, "").strip().lower() == "no"
    return Outcome(
        kind=OutcomeKind.FAILED,
        error=_words(answer, body, redact),
        result=result,
        retry=not is_final and is_worth_another(answer.status, target),
        why_final=REFUSED if is_final else "",
        delay=retry_after(answer, now()),
        pause="answered 410 Gone" if answer.status == HTTPStatus.GONE else None,
    )


def says_of_host(outcome: Outcome | None) -> bool | None:
    """Whether the attempt found the host well, or not; None: it never got there."""
    if outcome is None:
        return None
    if isinstance(outcome.result, dict):
        status = int(outcome.result["status"])
        return status < 500 and status != HTTPStatus.TOO_MANY_REQUESTS
    tried = outcome.kind is OutcomeKind.FAILED and outcome.retry
    return False if tried or outcome.kind is OutcomeKind.TIMED_OUT else None


def is_worth_another(status: int, target: Http) -> bool:
    """Whether the same request may be answered otherwise later."""
    return status >= 500 or status < 200 or status in target.retry_on


def retry_after(answer: Answer, now: int) -> int | None:
    """Milliseconds that the receiver asks for: seconds, or an HTTP date."""
    asked = answer.headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit():
        return min(int(asked[:12]) * 1000, _LONGEST)
    try:
        moment = to_millis(parsedate_to_datetime(asked))
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(moment - now, 0), _LONGEST)


def _words(answer: Answer, body: str, redact: Callable[[str], str]) -> str:
    phrase = _PHRASES.get(answer.status, "no status of HTTP")
    text = f"HTTP {answer.status} {phrase}"
    if 300 <= answer.status <= 399:
        where = redact(answer.headers.get("Location", ""))[:QUOTED]
        text += f": redirects are not followed (to {where!r})" if where else ""
    elif body:
        text += f": {body[:QUOTED]}"
    return text
