"""JSON merge patches, RFC 7396."""

from __future__ import annotations

from typing import Any


def merged(document: Any, patch: Any) -> Any:
    """The document with the patch laid over it: null takes a field out, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    found = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found
