"""A problem that the server answered with, as the error of our tree that it was there."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Mapping
from typing import Any, TypeVar

from tickwell import errors

E = TypeVar("E", bound=errors.TickwellError)
_PREFIX = "urn:tickwell:problem:"

#: What an error had besides its sentence is read from the sentence.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_KNOWN: dict[str, tuple[type[errors.TickwellError], str]] = {
    "not-found": (errors.NotFound, rf"no (?P<kind>.+?) (?P<key>{_QUOTED})"),
    "version-conflict": (
        errors.VersionConflict,
        rf"job (?P<name>{_QUOTED}) is at version (?P<found>\d+), not (?P<expected>\d+)",
    ),
    "job-exists": (errors.JobExists, rf"a job named (?P<name>{_QUOTED})"),
    "wrong-state": (
        errors.WrongState,
        rf"(?P<kind>.+?) (?P<key>{_QUOTED}) is (?P<state>[^;]+);",
    ),
    "forbidden": (errors.Forbidden, rf".* lacks the permission (?P<permission>{_QUOTED})"),
}
_PLAIN: dict[str, type[errors.TickwellError]] = {
    "conflict": errors.Conflict,
    "in-flight": errors.Conflict,
    "precondition-failed": errors.Conflict,
    "unauthenticated": errors.Unauthenticated,
    "store-unavailable": errors.StoreUnavailable,
    "store-failing": errors.StoreError,
    "not-running": errors.NotRunning,
}
#: For what stands between us and the server, and speaks no problem+json.
_BY_STATUS: dict[int, type[errors.TickwellError]] = {
    401: errors.Unauthenticated,
    409: errors.Conflict,
    412: errors.Conflict,
    502: errors.StoreUnavailable,
    503: errors.StoreUnavailable,
    504: errors.StoreUnavailable,
}


def refusal(
    status: int, document: Any, where: str, retry_after: float | None
) -> errors.TickwellError:
    """The error that an answer tells of."""
    problem = document if isinstance(document, Mapping) else {}
    kind = str(problem.get("type", "")).removeprefix(_PREFIX)
    detail = str(problem.get("detail") or f"{where} answered {status}")
    if status == 429:
        return errors.LimitReached(detail, retry_after=retry_after)
    if kind in _KNOWN:
        return _rebuilt(*_KNOWN[kind], detail)
    if status in {400, 413, 415, 422}:
        return _invalid(detail, problem.get("errors"))
    found = _PLAIN.get(kind) or _BY_STATUS.get(status) or errors.TickwellError
    return found(detail)


def _rebuilt(kind: type[E], pattern: str, detail: str) -> E:
    error = kind.__new__(kind, detail)
    match = re.match(pattern, detail)
    for name in re.compile(pattern).groupindex:
        setattr(error, name, _value(match[name]) if match else "")
    return error


def _value(text: str) -> Any:
    """A quoted text or a number as it was before it became part of a sentence."""
    return literal_eval(text) if text[0] in "'\"" or text.isdigit() else text


def _invalid(detail: str, problems: Any) -> errors.InvalidInput:
    found = [each for each in problems or () if isinstance(each, Mapping)]
    if len(found) == 1:
        (problem,) = found
        reason, hint = str(problem.get("detail", detail)), str(problem.get("hint") or "")
        # The sentence begins with the field, which may say more than a place in what was sent.
        named, separator, _ = detail.partition(f": {reason}")
        return errors.InvalidInput(reason, field=named if separator else _field(problem), hint=hint)
    each = [
        errors.InvalidInput(
            str(problem.get("detail", "")),
            field=_field(problem),
            hint=str(problem.get("hint") or ""),
        )
        for problem in found
    ]
    named, separator, _ = detail.partition(f": {each[0].reason}") if each else ("", "", "")
    if separator:  # of one record, the first mistake in full
        return errors.InvalidInput(each[0].reason, field=named, hint=each[0].hint).along_with(
            each[1:]
        )
    listed = "; ".join(f"{_field(problem)}: {problem.get('detail')}" for problem in found)
    field = _field(found[0]) if found else ""
    error = errors.InvalidInput(f"{detail}: {listed}" if listed else detail)
    error.field = field
    return error


def _field(problem: Mapping[str, Any]) -> str:
    """A pointer as a dotted path, or the name of a parameter."""
    pointer = str(problem.get("pointer") or "")
    dotted = pointer.removeprefix("/").replace("/", ".")
    return dotted.replace("~1", "/").replace("~0", "~") or str(problem.get("parameter") or "")
