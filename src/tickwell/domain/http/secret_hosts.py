"""Which hosts a webhook sends each of its secrets to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tickwell.domain.http.auth import OAuth
from tickwell.domain.http.target import Http
from tickwell.domain.http.template import template
from tickwell.domain.http.url import parse_url

_PREFIX = "secret."


def secret_hosts(target: Http) -> Mapping[str, frozenset[str]]:
    """Hosts by the name of a secret, by name. A URL's host is never a template: all are known."""
    found: dict[str, set[str]] = {}
    elsewhere: list[str] = []
    if isinstance(target.auth, OAuth):
        auth = target.auth
        elsewhere = [auth.client_id, auth.client_secret, auth.scope, auth.audience]
        _add(found, elsewhere, parse_url(auth.token_url).host)
    left = list(target.texts())
    for text in elsewhere:
        left.remove(text)
    _add(found, left, parse_url(target.url).host)
    return {name: frozenset(found[name]) for name in sorted(found)}


def _add(found: dict[str, set[str]], texts: Iterable[str], host: str) -> None:
    for text in texts:
        for name in template(text).names if "{{" in text else ():
            if name.startswith(_PREFIX):
                found.setdefault(name.removeprefix(_PREFIX), set()).add(host)
