"""Logging in through another issuer, with an issuer of our own making."""

import base64
import hashlib
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from tests.executors.http.conftest import LOCAL, Names
from tests.executors.http.receiver import Receiver, answers
from tickwell.errors import InvalidSetting, LimitReached, Unauthenticated
from tickwell.executors.http.client.fetch import Fetcher
from tickwell.executors.http.network.guard import Guard, Refused
from tickwell.services.access.actor import Role, stranger
from tickwell.services.access.issuer import LIFE as KEYS_LIFE
from tickwell.services.access.oidc import LIFE, read_provider
from tickwell.services.admin.admin import check_issuers
from tickwell.settings import Settings

ADDRESS = "192.0.2.1"
ISSUER = "https://id.example.com"
KEY = ECKey.generate_key("P-256", {"kid": "k1"})
CORP = read_provider(f"corp issuer={ISSUER} client_id=us", "hush")


class Issuer:
    """What the other side answers; `changes` makes it lie."""

    def __init__(self, clock, **changes):
        self.clock = clock
        self.changes = changes
        self.asked: dict[str, str] = {}
        self.forms: list[dict[str, str]] = []
        #: Addresses of its documents that were asked for.
        self.fetched: list[str] = []

    async def __call__(self, address):
        self.fetched.append(address)
        if address.endswith("/.well-known/openid-configuration"):
            names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
            found = {name: f"{ISSUER}/{name}" for name in names} | {"issuer": ISSUER}
            return json.dumps(found | self.changes.get("discovery", {})).encode()
        return json.dumps({"keys": [KEY.as_dict(private=False)]}).encode()

    def arrive(self, address):
        """The person logs in over there."""
        query = parse_qs(urlsplit(address).query)
        self.asked = {name: values[0] for name, values in query.items()}
        return self.asked["state"]

    async def post(self, address, form):
        assert address == f"{ISSUER}/token_endpoint"
        self.forms.append(form)
        challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
        sent = base64.urlsafe_b64encode(challenge).decode().rstrip("=")
        assert sent == self.asked["code_challenge"]
        second = self.clock.now() // 1000
        claims = {"iss": ISSUER, "aud": "us", "sub": "ada", "nonce": self.asked["nonce"]}
        claims |= {"iat": second, "exp": second + 300} | self.changes.get("claims", {})
        key = self.changes.get("key", KEY)
        header = {"alg": "ES256", "kid": "k1"}
        return json.dumps({"id_token": jwt.encode(header, claims, key)}).encode()


async def ready(office, provider=CORP, **changes):
    issuer = Issuer(office.clock, **changes)
    service = office.open(provider=provider, web=issuer)
    await service.members.set(office.actor(), "corp:ada", Role.EDITOR)
    return service, issuer


async def come_back(service, issuer, kept=None):
    address, state = await service.oidc.begin(
        "https://us.example/login/oidc/back", "/jobs", asker=stranger(ADDRESS)
    )
    given = issuer.arrive(address)
    return await service.oidc.finish(
        given, state if kept is None else kept, "code", asker=stranger(ADDRESS), old=None
    )


async def test_a_person_comes_back_as_who_they_are(office):
    service, issuer = await ready(office)
    id, wanted = await come_back(service, issuer)
    assert wanted == "/jobs"
    user = await service.sessions.find(id)
    assert user is not None
    assert (user.name, user.roles) == ("corp:ada", {"acme": Role.EDITOR})
    assert issuer.asked["code_challenge_method"] == "S256"
    assert issuer.forms[0]["client_secret"] == "hush"


@pytest.mark.parametrize("office", ["memory"], indirect=True)
async def test_what_the_address_of_the_issuer_asks_for_already_stays(office):
    there = {"authorization_endpoint": f"{ISSUER}/authorize?policy=one"}
    service, issuer = await ready(office, discovery=there)
    await come_back(service, issuer)
    assert issuer.asked["policy"] == "one"


@pytest.mark.parametrize("office", ["memory"], indirect=True)
async def test_an_issuer_that_answers_nonsense_lets_nobody_in(office):
    service, issuer = await ready(office)

    async def deep(*_asked):
        return b"[" * 60_000

    issuer.post = deep
    with pytest.raises(Unauthenticated):
        await come_back(service, issuer)
    service = office.open(provider=CORP, web=deep)
    with pytest.raises(Unauthenticated, match="does not answer"):
        await come_back(service, issuer)


@pytest.mark.parametrize("office", ["memory"], indirect=True)
async def test_an_issuer_that_moves_its_keys_is_found_again(office):
    service, issuer = await ready(office)
    await come_back(service, issuer)
    issuer.changes = {"discovery": {"jwks_uri": f"{ISSUER}/moved"}}
    office.clock.instant += KEYS_LIFE - 1
    await come_back(service, issuer)
    assert issuer.fetched[-1] == f"{ISSUER}/jwks_uri"
    office.clock.instant += 1
    await come_back(service, issuer)
    assert issuer.fetched[-1] == f"{ISSUER}/moved"


LIES = {
    "other nonce": {"claims": {"nonce": "x"}},
    "other audience": {"claims": {"aud": "them"}},
    "made for another": {"claims": {"aud": ["us", "them"], "azp": "them"}},
    "other issuer": {"claims": {"iss": "https://evil.example"}},
    "expired": {"claims": {"iat": 0, "exp": 300}},
    "not a member": {"claims": {"sub": "eve"}},
    "no subject": {"claims": {"sub": None}},
    "other key": {"key": ECKey.generate_key("P-256", {"kid": "k1"})},
    "another name": {"discovery": {"issuer": "https://evil.example"}},
}


@pytest.mark.parametrize("office", ["memory"], indirect=True)
@pytest.mark.parametrize("lies", LIES.values(), ids=LIES)
async def test_nobody_else_comes_in(office, lies):
    service, issuer = await ready(office, **lies)
    with pytest.raises(Unauthenticated):
        await come_back(service, issuer)


async def test_a_state_is_good_once_in_the_same_browser_for_a_while(office):
    service, issuer = await ready(office)
    with pytest.raises(Unauthenticated):
        await come_back(service, issuer, kept="of another browser")
    address, state = await service.oidc.begin(
        "https://us.example/back", "/", asker=stranger(ADDRESS)
    )
    issuer.arrive(address)
    assert await service.oidc.finish(state, state, "code", asker=stranger(), old=None)
    with pytest.raises(Unauthenticated):
        await service.oidc.finish(state, state, "code", asker=stranger(), old=None)
    _, late = await service.oidc.begin("https://us.example/back", "/", asker=stranger(ADDRESS))
    office.clock.instant += LIFE
    with pytest.raises(Unauthenticated):
        await service.oidc.finish(late, late, "code", asker=stranger(), old=None)


async def test_an_address_counts_only_if_it_is_verified(office):
    by_email = read_provider(f"corp issuer={ISSUER} client_id=us subject=email", "")
    for verified, comes_in in ((True, True), (False, False), (None, False)):
        claims = {"email": "ada", "email_verified": verified}
        service, issuer = await ready(office, by_email, claims=claims)
        if comes_in:
            assert await come_back(service, issuer)
        else:
            with pytest.raises(Unauthenticated):
                await come_back(service, issuer)
        assert "client_secret" not in issuer.forms[0]


HALVES = [
    *(" ", "corp", "corp issuer=https://x.com", "corp issuer=https://x.com client_id="),
    *("corp issuer= client_id=y", "corp issuer=https://x.com client_id=y z=1"),
    *("The-Corp issuer=https://x.com client_id=y", "issuer=https://x.com client_id=y"),
]


@pytest.mark.parametrize("text", HALVES)
def test_a_provider_told_by_half_is_refused(text):
    with pytest.raises(InvalidSetting, match=r"^oidc: needs a name .*For example"):
        read_provider(text, "")


@pytest.mark.parametrize(
    ("issuer", "why"),
    [
        ("id.example.com", "issuer= 'id.example.com' is not a URL"),
        ("ftp://id.example.com", "issuer= 'ftp' is neither https nor http"),
        ("http://id.example.com", "issuer= plain http is not allowed here. Use https"),
        ("https://id.example.com:8443", "port 8443 is not allowed here. Add it to allow_ports"),
        ("https://10.0.0.1", "10.0.0.1 is not a public address"),
    ],
)
def test_an_address_that_nothing_is_fetched_from_is_refused_at_the_start(issuer, why):
    known = f"corp issuer={issuer} client_id=y"
    with pytest.raises(InvalidSetting, match=f"oidc: .*{re.escape(why)}"):
        check_issuers(Settings(oidc=known))
    trusted = f"corp issuer=x audience=y jwks={issuer}"
    with pytest.raises(InvalidSetting, match=re.escape(why.replace("issuer=", "jwks="))):
        check_issuers(Settings(jwt_issuers=(trusted,)))


def test_what_is_allowed_to_webhooks_is_allowed_to_issuers():
    check_issuers(Settings(oidc="corp issuer=http://id.example.com client_id=y", allow_http=True))


async def test_what_goes_out_is_guarded_and_bounded():
    names = Names(id_example_com=["10.0.0.1"])
    with pytest.raises(Refused):
        await Fetcher(Guard(), names)("http://example.com/")
    with pytest.raises(OSError, match="no address that may be called"):
        await Fetcher(Guard(), names)("https://id.example.com/")
    async with Receiver(answers(200, b'{"a": 1}')) as receiver:
        fetch = Fetcher(Guard(**LOCAL), names)
        assert await fetch(receiver.url("/jwks?x=1")) == b'{"a": 1}'
        assert receiver.last.line == "GET /jwks?x=1 HTTP/1.1"
        assert await fetch.post(receiver.url("/token"), {"a": "b c"}) == b'{"a": 1}'
        assert receiver.last.body == b"a=b+c"
    async with Receiver(answers(302, b"", ["Location: http://127.0.0.1/"])) as receiver:
        with pytest.raises(OSError, match="HTTP 302"):
            await fetch(receiver.url())


async def test_a_stranger_leaves_few_records(office):
    service, _ = await ready(office)
    for _ in range(30):
        await service.oidc.begin("https://us.example/back", "/", asker=stranger(ADDRESS))
    with pytest.raises(LimitReached):
        await service.oidc.begin("https://us.example/back", "/", asker=stranger(ADDRESS))
    await service.oidc.begin("https://us.example/back", "/", asker=stranger("192.0.2.2"))
    records = await office.store.list_records("oidc_state", "_platform", "", office.clock.now())
    assert len(records) == 31
