"""How a webhook says who sends it. Values may be `{{secret.name}}`, and had better be."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from tickwell.domain.http.header import unsendable
from tickwell.domain.http.template import checked
from tickwell.domain.http.url import parse_url
from tickwell.errors import InvalidJob

#: Characters of one value.
LARGEST = 4096


@dataclass(frozen=True, slots=True)
class Basic:
    """User and password, in `Authorization: Basic`."""

    user: str
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        _check(self, "basic")
        if ":" in self.user:
            raise InvalidJob("a user has no colon", field="target.http.auth.basic.user")


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token, in `Authorization: Bearer`."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        _check(self, "bearer")


@dataclass(frozen=True, slots=True)
class OAuth:
    """OAuth 2.0 client credentials: a token is fetched, kept while it lives, sent as bearer."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str = ""
    audience: str = ""

    def __post_init__(self) -> None:
        _check(self, "oauth")
        parse_url(self.token_url, "target.http.auth.oauth.token_url")
        if "{{" in self.token_url:
            raise InvalidJob(
                "is the same for every attempt",
                field="target.http.auth.oauth.token_url",
                hint="Leave out {{…}}",
            )


Auth = Basic | Bearer | OAuth


def _check(auth: Auth, kind: str) -> None:
    for each in fields(auth):
        value, path = getattr(auth, each.name), f"target.http.auth.{kind}.{each.name}"
        if not isinstance(value, str) or (not value and each.name not in {"scope", "audience"}):
            raise InvalidJob("is missing", field=path)
        if len(value) > LARGEST:
            raise InvalidJob(f"is longer than {LARGEST} characters", field=path)
        if each.name != "token_url":
            checked(value, path)
        # A password is encoded before it is sent; a token is not.
        if each.name == "token" and (reason := unsendable(value)):
            raise InvalidJob(reason, field=path)
