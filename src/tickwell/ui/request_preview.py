"""Shows the request of a webhook without its secrets and signature, also as a curl command."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from tickwell.domain.execution import Execution
from tickwell.domain.http import Http, Json
from tickwell.domain.http.target import WITH_PAYLOAD
from tickwell.domain.http.template import Resolve, render_json, template
from tickwell.domain.job import Job
from tickwell.services.audit.entry import HIDDEN, redacted
from tickwell.services.redaction.masking import masked_target
from tickwell.ui.formatting import LONGEST, iso

#: The file to put a body into that is too long for a command.
BODY_FILE = "body.json"


def headers_of(execution: Execution, job: Job | None) -> dict[str, str] | None:
    """The headers of the definition; those with secret names are redacted."""
    if job is None or not isinstance(job.target, Http):
        return None
    own = {
        "webhook-id": execution.id,
        "tickwell-fire-time": iso(execution.fire_time),
        "tickwell-attempt": str(execution.attempt),
        "tickwell-job": job.id,
    }
    return _open_headers(job.target) | own


def curl(execution: Execution, job: Job | None) -> str | None:
    """The request as a curl command; secrets stay as their `{{…}}` reference."""
    target = None if job is None else masked_target(job.target)
    if job is None or not isinstance(target, Http):
        return None
    payload = job.payload if execution.payload is None else execution.payload
    value = partial(_value, execution, job, payload)
    url, headers = _url(target, value), _headers(target, value)
    body, kind = _body(target, payload, value)
    if kind and "content-type" not in {name.lower() for name in headers}:
        headers["content-type"] = kind
    # Without -g curl takes brackets in a URL for a pattern.
    words = ["curl", *(["-g"] if set(url) & set("[]{}") else ()), "-X", target.method, url]
    for name, text in headers.items():
        # curl drops a header without a value unless it ends in a semicolon.
        words += ["-H", f"{name}: {text}" if text else f"{name};"]
    if len(body) > LONGEST:
        return shlex.join([*words, "--data-binary", f"@{BODY_FILE}"])
    # Raw: curl would take a body that begins with @ for the name of a file.
    return shlex.join([*words, "--data-raw", body] if body else words)


def _open_headers(target: Http) -> dict[str, str]:
    hidden: dict[str, str] = redacted(dict(target.headers))
    return hidden | ({} if target.auth is None else {"authorization": HIDDEN})


def _headers(target: Http, value: Resolve) -> dict[str, str]:
    return {name: _filled(text, value) for name, text in _open_headers(target).items()}


def _url(target: Http, value: Resolve) -> str:
    """The URL with its query; inserted values are percent-encoded."""

    def encoded(name: str) -> str:
        found = value(name)
        return found if found == _reference(name) else quote(_as_text(found), safe="")

    address = template(target.url).render(encoded)
    if not target.query:
        return address
    pairs = (f"{quote(n, safe='')}={_query(text, encoded)}" for n, text in target.query.items())
    return f"{address}{'&' if '?' in address else '?'}{'&'.join(pairs)}"


def _query(text: str, encoded: Callable[[str], str]) -> str:
    parts = template(text).parts
    return "".join(
        encoded(part) if index % 2 else quote(part, safe="") for index, part in enumerate(parts)
    )


def _body(target: Http, payload: Any, value: Resolve) -> tuple[str, str]:
    """The body and its content type."""
    if isinstance(target.body, str):
        return _filled(target.body, value), "text/plain; charset=utf-8"
    if isinstance(target.body, Json):
        found = render_json(target.body.value, value, lambda name: _as_text(value(name)))
        return json.dumps(found, ensure_ascii=False), "application/json"
    if payload is None or target.method not in WITH_PAYLOAD:
        return "", ""
    return json.dumps(payload, ensure_ascii=False), "application/json"


def _filled(text: str, value: Resolve) -> str:
    return template(text).render(lambda name: _as_text(value(name)))


def _value(execution: Execution, job: Job, payload: Any, name: str) -> Any:
    """The value of a template variable; its `{{…}}` reference if it is secret or unknown."""
    known = {
        "execution_id": execution.id,
        "attempt": max(execution.attempt, 1),
        "fire_time": iso(execution.fire_time),
        "job_id": job.id,
        "job_name": job.name,
        "project": job.project,
        "payload": payload,
    }
    first, *steps = name.split(".")
    found = known.get(first, _reference(name))
    for step in steps if first in known else ():
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return _reference(name)
    return found


def _as_text(value: Any) -> str:
    """A value as part of a text: JSON unless it is a string."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _reference(name: str) -> str:
    return f"{{{{{name}}}}}"
