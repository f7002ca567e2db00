"""How requests of a target are made: worked out once for a definition, used for every attempt."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

from tickwell.domain.http import Basic, Bearer, Http, Json, OAuth
from tickwell.domain.http.header import LARGEST, check_headers, unsendable
from tickwell.domain.http.target import WITH_PAYLOAD, secret_hosts
from tickwell.domain.http.template import MASKED, Template, render_json, template
from tickwell.domain.http.url import Url, parse_url
from tickwell.errors import InvalidJob
from tickwell.executors.http.request.values import Unsendable, Values

#: Characters of a URL with its templates filled in.
LONGEST_URL = 8 * 1024


@dataclass(frozen=True, slots=True)
class Credentials:
    """OAuth client credentials, with secrets filled in."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str
    audience: str

    @property
    def shown(self) -> str:
        """The header that they are shown in."""
        # RFC 6749, 2.3.1: both are form-encoded before they are joined.
        return basic(quote_plus(self.client_id), quote_plus(self.client_secret))


class Plan:
    """A target, taken apart."""

    def __init__(self, target: Http) -> None:
        self.target = target
        self.url = parse_url(target.url)
        check_headers(target.headers)  # other programs may have written them to the store
        names = {name for text in target.texts() for name in Template(text).names}
        if any(name.partition(".")[0] == MASKED for name in names):
            raise InvalidJob(
                "holds a masked credential", field="target.http", hint="Use {{secret.name}}"
            )
        #: Secrets to fetch before anything is rendered, and the hosts that each is sent to.
        self.secrets = secret_hosts(target)
        self._path = Template(self.url.path)
        self._query = Template("&".join(filter(None, [self.url.query, _query(target)])))
        #: Which receiver this is for a breaker: two ports of a host are two of them.
        self.authority = self.url.authority
        self.origin = f"{self.url.scheme}://{self.authority}"
        #: The URL, if it is the same for every attempt: made ahead of the instant.
        self._fixed_url = self._without_values()
        #: The target's own headers, as they are written.
        self.fixed_headers = dict(target.headers)
        self._headers = [
            (name, Template(value)) for name, value in target.headers.items() if "{{" in value
        ]
        #: In lower case.
        self.header_names = {name.lower() for name in target.headers}
        self._json = target.body.value if isinstance(target.body, Json) else None
        self._text = Template(target.body) if isinstance(target.body, str) else None
        self._kind = "application/json" if self._text is None else "text/plain; charset=utf-8"
        self._fixed_body = self._without_placeholders()
        #: Where nothing is to be filled in, to be shown or to be signed: the URL.
        self.plain_url = None if self._has_more(names) else self._fixed_url

    @property
    def dialled(self) -> list[Url]:
        """What an attempt dials: the receiver, and the server of its token."""
        auth = self.target.auth
        return [self.url, *([parse_url(auth.token_url)] if isinstance(auth, OAuth) else [])]

    @property
    def size(self) -> int:
        """Characters of the body that it holds on to."""
        body = self.target.body
        return 0 if body is None else len(body if isinstance(body, str) else body.text)

    def _without_placeholders(self) -> bytes | None:
        """The body, if it is the same for every attempt."""
        body = self.target.body
        text = body if isinstance(body, str) else body.text if body is not None else None
        if text is None or "{{" in text:
            return None
        return _compact(self._json) if isinstance(body, Json) else text.encode()

    def _has_more(self, names: set[str]) -> bool:
        target = self.target
        shown = target.auth is not None or target.certificate is not None
        is_rendered = target.body is not None and self._fixed_body is None
        return bool(names or self._headers or shown or target.sign_with or is_rendered)

    def full_url(self, values: Values) -> str:
        """The URL, percent-encoded: a value can never leave its segment or its parameter."""
        if self._fixed_url is not None:
            return self._fixed_url
        path = self._path.render(lambda name: quote(values.text(name), safe=""))
        if self._path.names and {".", ".."} & set(path.split("/")):
            raise Unsendable("a value puts `.` or `..` into the path of the URL")
        query = self._query.render(lambda name: quote(values.text(name), safe=""))
        url = self._joined(path, query)
        if len(url) > LONGEST_URL:
            raise Unsendable(f"the URL is longer than {LONGEST_URL} characters")
        return url

    def _joined(self, path: str, query: str) -> str:
        return f"{self.origin}{path}?{query}" if query else f"{self.origin}{path}"

    def _without_values(self) -> str | None:
        if self._path.names or self._query.names:
            return None
        url = self._joined(self._path.text, self._query.text)
        return url if len(url) <= LONGEST_URL else None  # an attempt says why it cannot be sent

    def headers(self, values: Values) -> dict[str, str]:
        """The target's own headers, checked again now that they are what is sent."""
        headers = self.fixed_headers.copy()
        for name, each in self._headers:
            headers[name] = sendable(name, each.render(values.text))
        return headers

    def body(self, values: Values, payload: Any) -> tuple[bytes, str | None]:
        """The bytes to send, and their type if the target does not say it."""
        if self._text is not None and self._fixed_body is None:
            return _encoded(self._text.render(values.text)), self._kind
        if self.target.body is not None and self._fixed_body is None:
            return _compact(render_json(self._json, values.value, values.text)), self._kind
        return self.plain_body(payload)

    def plain_body(self, payload: Any) -> tuple[bytes, str | None]:
        """The same where nothing is to be filled in."""
        if self._fixed_body is not None:
            return self._fixed_body, self._kind
        if payload is None or self.target.method not in WITH_PAYLOAD:
            return b"", None
        return _compact(payload), "application/json"

    def authorization(self, values: Values) -> str | None:
        """The value of the header `Authorization`, unless a token must be fetched for it."""
        auth, text = self.target.auth, _renderer(values)
        match auth:
            case Basic():
                return basic(text(auth.user), text(auth.password))
            case Bearer():
                return f"Bearer {text(auth.token)}"
        return None

    def credentials(self, values: Values) -> Credentials | None:
        """What a token is to be fetched with."""
        auth = self.target.auth
        if not isinstance(auth, OAuth):
            return None
        text = _renderer(values)
        texts = (auth.client_id, auth.client_secret, auth.scope, auth.audience)
        return Credentials(auth.token_url, *map(text, texts))

    def keys(self, values: Values) -> list[str]:
        """The keys to sign with."""
        return [_renderer(values)(key) for key in self.target.sign_with]

    def certificate(self, values: Values) -> str | None:
        """The client certificate and its key."""
        pem = self.target.certificate
        return None if pem is None else _renderer(values)(pem)


def basic(user: str, password: str) -> str:
    """The value of the header `Authorization`."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def sendable(name: str, value: str) -> str:
    """The value, if it can stand in a header."""
    reason = unsendable(value)
    if reason is None and len(value) > LARGEST:
        reason = f"the value is longer than {LARGEST}"
    if reason is not None:
        raise Unsendable(f"header {name}: {reason}")
    return value


def _renderer(values: Values) -> Callable[[str], str]:
    return lambda text: template(text).render(values.text) if "{{" in text else text


def _query(target: Http) -> str:
    pairs = []
    for name, value in target.query.items():
        found = Template(value)
        parts = [
            f"{{{{{part}}}}}" if index % 2 else quote(part, safe="")
            for index, part in enumerate(found.parts)
        ]
        pairs.append(f"{quote(name, safe='')}={''.join(parts)}")
    return "&".join(pairs)


#: Made once: `json.dumps` with options makes one for every call.
_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _compact(value: Any) -> bytes:
    dumps = _quick()
    if dumps is not None:
        try:
            return dumps(value)
        except TypeError:  # half of a character, or a large number
            pass
    return _encoded(_dump(value))


@cache
def _quick() -> Callable[[Any], bytes] | None:
    """A tenth of the time; loaded by the first webhook, where the server is installed."""
    try:
        import orjson  # noqa: PLC0415
    except ImportError:
        return None
    return orjson.dumps


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Unsendable("the body contains an unpaired surrogate") from None
