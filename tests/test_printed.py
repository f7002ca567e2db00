"""What holds a credential does not show it when it is printed, or refused."""

from typing import cast

import pytest

from tickwell.client.transport import Endpoint
from tickwell.errors import InvalidSetting
from tickwell.executors.http.request.plan import Credentials
from tickwell.services.access.key import ApiKey, new_token
from tickwell.services.access.keys import NewKey
from tickwell.services.access.oidc import Provider
from tickwell.services.admin.admin import Bootstrap
from tickwell.settings import Settings
from tickwell.wiring import make_store

STORES = [
    "postgresql://ann:hush@host/db?sslpassword=hush",
    "postgresql://ann:hush@a,b/db",
    "postgresql:///db?host=host&password=hush",
    "mysql://ann:hush@host/db",
    "mongodb://ann:hush@host/db?tlsCertificateKeyFilePassword=hush",
    "mongodb+srv://ann:hush@host.example.com/db",
    "redis://ann:hush@host/0?ssl_password=hush",
]


@pytest.mark.parametrize("url", STORES)
def test_a_location_shows_no_password(url):
    location = vars(make_store(url))["location"]
    assert "hush" not in f"{location!r} {location}"
    assert "host" in repr(location) or "a,b" in repr(location)


@pytest.mark.parametrize(
    "holder",
    [
        Settings(store="redis://ann:hush@host/0"),
        Settings(notify="redis://ann:hush@host/0"),
        Bootstrap("hush", "hush"),
        Credentials("https://host/token", "ann", "hush", "", ""),
        NewKey(cast("ApiKey", None), "hush"),
        Endpoint.of("http://host", "hush", None),
        Provider(name="a", issuer="https://host", client_id="ann", client_secret="hush"),
    ],
    ids=lambda holder: type(holder).__name__,
)
def test_a_holder_of_a_secret_does_not_show_it(holder):
    assert "hush" not in f"{holder!r} {holder}"


def test_a_token_does_not_show_its_secret():
    token = new_token()
    assert token.secret not in f"{token!r} {token}"


@pytest.mark.parametrize(
    "url", ["ftp://ann:hush@host", "http://ann:hush/x@host", "http://ann:hush[x@host"]
)
def test_an_address_that_is_refused_shows_no_password(url):
    with pytest.raises(InvalidSetting, match="'host' is not a server address") as refused:
        Endpoint.of(url, None, None)
    assert "hush" not in str(refused.value)
