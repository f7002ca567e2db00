"""The webhook: one HTTP request per attempt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from tickwell.domain.ability import HTTP
from tickwell.domain.coercion import check_each
from tickwell.domain.http.auth import Auth, OAuth
from tickwell.domain.http.header import check_headers
from tickwell.domain.http.json_value import Frozen, Json
from tickwell.domain.http.signature import read_key
from tickwell.domain.http.template import checked, leaves, template
from tickwell.domain.http.url import LONGEST, parse_url
from tickwell.domain.trigger import parse_duration
from tickwell.domain.trigger.duration import Millis
from tickwell.errors import InvalidInput, InvalidJob, InvalidTrigger

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")
#: With these the job's payload is sent when the target has no body of its own.
WITH_PAYLOAD = frozenset({"POST", "PUT", "PATCH"})
#: Bytes of a body as it stands in the target.
LARGEST_BODY = 256 * 1024
#: Characters of an answer that may be kept.
MOST_KEPT = 64 * 1024
MOST_KEYS = 4
_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Http:
    """A webhook. Texts may hold `{{name}}`: in path, query, headers and body, never in the host."""

    url: str
    method: str = "POST"
    #: Sent besides those that Tickwell sets.
    headers: Mapping[str, str] = field(default_factory=Frozen)
    #: Added to what the URL has after its question mark; kept as texts.
    query: Mapping[str, Any] = field(default_factory=Frozen)
    #: A text is sent as it is, anything else as JSON; without one, the job's payload is sent.
    body: Any = None
    auth: Auth | None = None
    #: Keys of Standard Webhooks, `whsec_…` or `whsk_…`; several while one replaces the other.
    sign_with: Sequence[str] = field(default=(), repr=False)
    #: A client certificate and its key as PEM, for servers that ask for one.
    certificate: str | None = field(default=None, repr=False)
    #: From the dial to the last byte, names included: "30s", or a timedelta.
    timeout: Any = Millis(30_000)
    #: Status codes that are worth another attempt, besides 5xx.
    retry_on: Sequence[int] = (408, 425, 429)
    #: Characters of the answer that are kept.
    keep: int = 1000

    def __post_init__(self) -> None:
        check_each(
            self._check_url,
            self._check_method,
            self._check_headers,
            self._check_query,
            self._check_body,
            self._check_identity,
            self._check_limits,
        )

    def _check_url(self) -> None:
        if not isinstance(self.url, str):
            raise InvalidJob("is not a text", field="target.http.url")
        parse_url(self.url)
        checked(self.url, "target.http.url")

    def _check_method(self) -> None:
        self._set("method", str(self.method).upper())
        if self.method not in METHODS:
            raise InvalidJob(
                f"{self.method[:20]!r} is not one of {', '.join(METHODS)}",
                field="target.http.method",
            )

    def _check_headers(self) -> None:
        self._set("headers", Frozen(self.headers))
        check_headers(self.headers)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_query(self) -> None:
        texts = {str(name): _as_text(value) for name, value in self.query.items()}
        self._set("query", Frozen(texts))
        if sum(len(name) + len(value) + 2 for name, value in texts.items()) > LONGEST:
            raise InvalidJob(
                f"is longer than {LONGEST} characters",
                field="target.http.query",
                hint="Send data in the body",
            )
        for name, value in texts.items():
            checked(value, f"target.http.query.{name}")

    def _check_body(self) -> None:
        if self.body is None:
            return
        if self.method == "GET":
            raise InvalidJob(
                "a GET has no body", field="target.http.body", hint="Use query, or another method"
            )
        if not isinstance(self.body, str | Json):
            self._set("body", Json(self.body))
        text = self.body if isinstance(self.body, str) else self.body.text
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise InvalidJob("contains an unpaired surrogate", field="target.http.body") from None
        if size > LARGEST_BODY:
            raise InvalidJob(
                f"{size} bytes are more than {LARGEST_BODY}",
                field="target.http.body",
                hint="Store it elsewhere and send its address",
            )
        for leaf in [text] if isinstance(self.body, str) else leaves(self.body.value):
            checked(leaf, "target.http.body")

    def _check_identity(self) -> None:
        if self.auth is not None and not isinstance(self.auth, get_args(Auth)):
            raise InvalidJob(
                "must be Basic, Bearer or OAuth",
                field="target.http.auth",
                hint='For example Bearer("{{secret.token}}")',
            )
        if self.auth is not None and "authorization" in {name.lower() for name in self.headers}:
            raise InvalidJob("is given twice, as auth too", field="target.http.headers")
        keys = (self.sign_with,) if isinstance(self.sign_with, str) else tuple(self.sign_with)
        self._set("sign_with", keys)
        if len(keys) > MOST_KEYS:
            raise InvalidJob(f"more than {MOST_KEYS} keys", field="target.http.sign_with")
        for key in keys:
            _check_key(key)
        if self.certificate is not None:
            checked(self.certificate, "target.http.certificate")

    def _check_limits(self) -> None:
        try:
            self._set("timeout", parse_duration(self.timeout))
        except InvalidTrigger as error:
            raise InvalidJob(error.reason, field="target.http.timeout", hint=error.hint) from None
        if not 1 <= self.timeout <= _DAY:
            raise InvalidJob(
                "is not between 1 ms and a day", field="target.http.timeout", hint="Use 30s"
            )
        self._set("retry_on", tuple(self.retry_on))
        for code in self.retry_on:
            if type(code) is not int or not 300 <= code <= 499 or code == 410:
                raise InvalidJob(
                    f"{code!r} is not a status from 300 to 499 other than 410",
                    field="target.http.retry_on",
                    hint="5xx is always worth another attempt",
                )
        if type(self.keep) is not int or not 0 <= self.keep <= MOST_KEPT:
            raise InvalidJob(f"is not between 0 and {MOST_KEPT}", field="target.http.keep")

    def ability_in(self, project: str) -> str:
        """What a worker must be able to do to run this for a project."""
        return HTTP

    def texts(self) -> Iterator[str]:
        """Every text that may hold places, certificate and keys included."""
        yield self.url
        yield from self.headers.values()
        yield from self.query.values()
        yield from self.sign_with
        if self.certificate is not None:
            yield self.certificate
        if isinstance(self.body, Json):
            yield from leaves(self.body.value)
        elif self.body is not None:
            yield self.body
        if self.auth is not None:
            yield from (getattr(self.auth, name) for name in self.auth.__slots__)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise InvalidJob(
            f"{type(value).__name__} is not a text", field="target.http.query", hint="Use a text"
        )
    return str(value)


def _check_key(key: str) -> None:
    if not isinstance(key, str):
        raise InvalidJob("a key is a text", field="target.http.sign_with")
    if checked(key, "target.http.sign_with").names:
        return  # a secret, known only when the attempt starts
    try:
        public = read_key(key).public
    except InvalidInput as error:
        raise InvalidJob(error.reason, field="target.http.sign_with", hint=error.hint) from None
    if public:
        raise InvalidJob(
            "a whpk_ key verifies, it cannot sign", field="target.http.sign_with", hint="Use whsk_"
        )


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
