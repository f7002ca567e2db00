"""One entry of the audit log: who did what, and the fields that a change changed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any

from tickwell.services.access.actor import Actor
from tickwell.services.redaction.masking import is_sensitive, masked_definition

try:
    import orjson
except ImportError:  # it comes with the server
    orjson = None  # type: ignore[assignment]

#: Characters of a document up to which it is kept as it was; of a larger one its hash.
LARGEST = 4096
HIDDEN = "***"
#: What has values in it.
_NESTS = (dict, list, tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Who did what to what, when, from where; before and after are JSON texts."""

    id: str
    at: int
    actor: str
    #: Noun and verb: "job.add", "key.rotate", "secret.set".
    action: str
    subject: str
    before: str | None = None
    after: str | None = None
    address: str = ""
    request_id: str = ""

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = tuple(field.name for field in fields(Entry))


def entry_of(
    actor: Actor, action: str, subject: str, before: Any, after: Any, *, id: str, at: int
) -> Entry:
    """The entry for a change that an actor made: of two documents, where they differ."""
    before, after = difference(before, after)
    return Entry(
        id=id,
        at=at,
        actor=actor.name,
        action=action,
        subject=subject,
        before=_kept(before),
        after=_kept(after),
        address=actor.address,
        request_id=actor.request_id,
    )


def redacted(value: Any) -> Any:
    """The JSON value with everything hidden that its name says is a secret."""
    if isinstance(value, dict):
        return {
            key: HIDDEN
            if inner and is_sensitive(str(key))
            else (redacted(inner) if isinstance(inner, _NESTS) else inner)
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [*map(redacted, value)]
    return value


def canonical(value: Any) -> str:
    """The one text of a JSON value."""
    if orjson is not None:
        try:
            text = orjson.dumps(value, option=_SORTED).decode()
        except orjson.JSONEncodeError:  # half of a character, a large number, nothing of JSON
            return _dump(value)
        if text.isascii() and "\x7f" not in text:  # the other one escapes what is left
            return text
    return _dump(value)


#: Made once: `json.dumps` with options makes one for every call.
_dump = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str).encode
if orjson is not None:
    _SORTED = (
        orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATETIME
    )


def _kept(value: Any) -> str | None:
    if value is None:
        return None
    # As the masks of definitions have it, which know more of webhooks than names alone.
    shown = masked_definition(value) if isinstance(value, dict) else value
    text = canonical(redacted(shown))
    if len(text) <= LARGEST:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return canonical({"sha256": digest, "characters": len(text)})


_MISSING = object()


def difference(before: Any, after: Any) -> tuple[Any, Any]:
    """Both without the fields that are the same in both; objects are compared field by field.

    An entry for a pause took 7.7 KB with the definition in it twice, and takes 0.3 KB without.
    """
    if not isinstance(before, dict) or not isinstance(after, dict):
        return before, after
    old, new = {}, {}
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name, _MISSING), after.get(name, _MISSING)
        if one == other and type(one) is type(other):
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            one, other = difference(one, other)
        if one is not _MISSING:
            old[name] = one
        if other is not _MISSING:
            new[name] = other
    return old, new
