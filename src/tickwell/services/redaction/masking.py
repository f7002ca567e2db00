"""Literal credentials in webhooks: masked wherever a definition is shown, kept when sent back.

`{{secret.name}}` is shown as it is: it names a secret and holds none. A mask is a template too, so
that every rule for headers, keys and tokens lets it through until it is replaced by what it stands
for; a job is never saved with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from tickwell.domain.document.target import TARGET
from tickwell.domain.http import Http, OAuth
from tickwell.domain.http.template import MASKED, split
from tickwell.domain.http.url import parse_url
from tickwell.domain.job import Job
from tickwell.domain.target import Target
from tickwell.errors import InvalidJob

_SENSITIVE = re.compile(
    r"passw|passphrase|secret|token|authori[sz]ation|authenticat|(?:^|[-_.])auth(?:$|[-_.])"
    r"|(?:api|access|private|signing|subscription)[-_]?key|cookie|certificate|credential"
    r"|sign_with|signature|bearer|session|^value$",
    re.IGNORECASE,
)

_SENSITIVE_MEMBER = re.compile(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|signature|authori[sz]ation|bearer|credentials?"
    r"|(?:api|access|private|signing|subscription|secret)[-_]?key)$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1000)
def is_sensitive(name: str) -> bool:
    """Whether the name of a field, header or parameter says that its value is a credential."""
    return _SENSITIVE.search(name) is not None


#: Headers whose names end so hold credentials as well, but for keys that only identify something.
_SENSITIVE_END = re.compile(r"(?:^|[-_.])(?:key|pass|pwd)$", re.IGNORECASE)
_PLAIN_KEY = re.compile(
    r"(?:idempotency|dedup\w*|partition|routing|cache|surrogate|sort|message|event)[-_.]?key$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1000)
def is_sensitive_header(name: str) -> bool:
    """The same of a header: `x-functions-key` is a credential, `Idempotency-Key` is not."""
    ends_so = _SENSITIVE_END.search(name) is not None and _PLAIN_KEY.search(name) is None
    return ends_so or is_sensitive(name)


@lru_cache(maxsize=1000)
def is_sensitive_parameter(name: str) -> bool:
    """The same of a query parameter, where `key`, `sig` and `pwd` are credentials as well."""
    return name.lower() in {"key", "sig", "pwd"} or is_sensitive(name)


@lru_cache(maxsize=1000)
def is_sensitive_member(name: str) -> bool:
    """The same of a member of a JSON body, where `value`, `session` or `key` are often plain data.

    The name has to end in the word: `token_type` and `max_tokens_used` hold no credential.
    """
    return _SENSITIVE_MEMBER.search(name) is not None


MASK = f"{{{{{MASKED}}}}}"
_ADVICE = "Use {{secret.name}}, or enter the value again"
_NUMBERED = re.compile(r"\{\{masked\.([1-9])\}\}")
#: A header whose value is a credential, whatever its name.
_SCHEME = re.compile(r"(?:basic|bearer|token|digest|apikey)\s+", re.IGNORECASE)
_CREDENTIALS = {"password", "token", "client_secret"}

Document = dict[str, Any]


def masked_definition(document: Document) -> Document:
    """A definition as people may see it; the document itself is shared, and stays as it is."""
    target = document.get("target")
    if not isinstance(target, dict) or "http" not in target:
        return document
    http = _masked(target["http"])
    return document if http is target["http"] else document | {"target": {"http": http}}


def masked_target(target: Target) -> Target:
    """The same of a target alone."""
    if not isinstance(target, Http):
        return target
    document = TARGET.write(target)
    http = _masked(document["http"])
    return target if http is document["http"] else _read(http)


def unmasked(job: Job, before: Job | None) -> Job:
    """The job with the stored credentials where its definition was sent back with their masks.

    They go nowhere else: with another host in the URL a mask is refused, so that an
    editor who cannot see a credential cannot have it sent elsewhere.
    """
    target = job.target
    if not isinstance(target, Http) or not any("{{masked" in text for text in target.texts()):
        return job
    known = before.target if before is not None else None
    stored = TARGET.write(known)["http"] if isinstance(known, Http) else {}
    moved = isinstance(known, Http) and _origins(known) != _origins(target)
    filled = _filled(TARGET.write(target)["http"], stored, "target.http", moved=moved)
    return replace(job, target=_read(filled))


def require_unmasked(jobs: Iterable[Job]) -> None:
    """Refuse masks in new jobs: there is nothing that they could stand for."""
    # Those of one request may share one target.
    for job in {id(job.target): job for job in jobs}.values():
        unmasked(job, None)


def masked_url(url: str) -> str:
    """A URL without the credentials in its query."""
    address, mark, query = url.partition("?")
    return address + mark + "&".join(map(_masked_pair, query.split("&")))


def _read(http: Document) -> Http:
    found: Http = TARGET.read({"http": http})
    return found


def _masked(http: Document) -> Document:
    """The parts that may hold credentials; the very same object where none does."""
    parts: dict[str, Callable[[Any], Any]] = {
        "url": masked_url,
        "headers": _masked_pairs,
        "query": _masked_parameters,
        "json": _masked_json,
        "auth": _masked_auth,
        "sign_with": _masked_keys,
        "certificate": _masked_text,
    }
    changed = {
        name: found
        for name, mask in parts.items()
        if (value := http.get(name)) and (found := mask(value)) != value
    }
    return http | changed if changed else http


def _masked_text(text: str) -> str:
    return MASK if _is_literal(text) else text


def _masked_pairs(pairs: Mapping[str, str]) -> Document:
    return {
        name: MASK
        if (is_sensitive_header(name) or _SCHEME.match(text)) and _is_literal(text)
        else text
        for name, text in pairs.items()
    }


def _masked_parameters(pairs: Mapping[str, str]) -> Document:
    return {
        name: MASK if is_sensitive_parameter(name) and _is_literal(text) else text
        for name, text in _masked_pairs(pairs).items()
    }


def _masked_json(value: Any) -> Any:
    """The texts of a body that stand under names of credentials; numbers are none."""
    if isinstance(value, list):
        return [_masked_json(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _masked_text(each)
        if isinstance(each, str) and is_sensitive_member(name)
        else _masked_json(each)
        for name, each in value.items()
    }


def _masked_auth(auth: Document) -> Document:
    [(kind, values)] = auth.items()
    return {
        kind: {
            name: _masked_text(text) if name in _CREDENTIALS else text
            for name, text in values.items()
        }
    }


def _masked_keys(keys: list[str]) -> list[str]:
    """With their numbers: one may be taken out while another stays."""
    return [
        f"{{{{{MASKED}.{number}}}}}" if _is_literal(key) else key
        for number, key in enumerate(keys, 1)
    ]


def _masked_pair(pair: str) -> str:
    name, mark, text = pair.partition("=")
    sensitive = mark and is_sensitive_parameter(name)
    return f"{name}={MASK}" if sensitive and _is_literal(text) else pair


def _is_literal(text: str) -> bool:
    """Whether a text holds a credential itself, instead of the name of a secret."""
    parts = split(text)
    if any(name.strip().startswith(("secret.", MASKED)) for name in parts[1::2]):
        return False
    return any(map(str.isalnum, _SCHEME.sub("", "".join(parts[::2]), count=1)))


def _origins(target: Http) -> list[tuple[str, str, int]]:
    """Every server that the target's credentials are sent to."""
    urls = [target.url, *([target.auth.token_url] if isinstance(target.auth, OAuth) else [])]
    return [(url.scheme, url.host, url.port) for url in map(parse_url, urls)]


def _filled(value: Any, stored: Any, path: str, *, moved: bool) -> Any:
    """The value with what is stored in place of its masks."""
    if isinstance(value, dict):
        known = stored if isinstance(stored, dict) else {}
        return {
            name: _filled(each, known.get(name), f"{path}.{name}", moved=moved)
            for name, each in value.items()
        }
    if isinstance(value, list):
        known_list = stored if isinstance(stored, list) else []
        # A text says by its number what it stands for; objects in a body stand where they stood.
        return [
            _filled(each, known_list if isinstance(each, str) else at, path, moved=moved)
            for each, at in zip_longest(value, known_list[: len(value)])
        ]
    if not isinstance(value, str) or "{{masked" not in value:
        return value
    if moved:
        raise InvalidJob(
            "is masked, and cannot be sent to a different host", field=path, hint=_ADVICE
        )
    found = _filled_url(value, stored) if path == "target.http.url" else _known(value, stored)
    if found is None:
        raise InvalidJob("is masked, and no value is stored for it", field=path, hint=_ADVICE)
    return found


def _known(text: str, stored: Any) -> str | None:
    numbered = _NUMBERED.fullmatch(text)
    if numbered is not None:
        index = int(numbered[1]) - 1
        return stored[index] if isinstance(stored, list) and index < len(stored) else None
    return stored if text == MASK and isinstance(stored, str) and _is_literal(stored) else None


def _filled_url(url: str, stored: Any) -> str | None:
    address, mark, query = url.partition("?")
    old = dict(pair.partition("=")[::2] for pair in str(stored or "").partition("?")[2].split("&"))
    pairs = []
    for pair in query.split("&"):
        name, _, text = pair.partition("=")
        if text == MASK and name in old:
            pair = f"{name}={old[name]}"  # noqa: PLW2901 - the same pair, filled in
        pairs.append(pair)
    found = address + mark + "&".join(pairs)
    return None if "{{masked" in found else found
