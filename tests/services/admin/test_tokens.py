"""Tokens: those that are believed, and the table of those that are not."""

import asyncio
import base64
import hmac
import json

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from tests.services.admin.conftest import TEN
from tickwell.errors import InvalidSetting, Unauthenticated
from tickwell.services.access.actor import Role
from tickwell.services.access.issuer import (
    AGAIN,
    AHEAD,
    LIFE,
    LONGEST_LIFE,
    PATIENCE,
    TRUST_LIMIT,
    TrustedIssuer,
    read_issuer,
)
from tickwell.services.access.jwt import read_key

SECOND = TEN // 1000
RSA = RSAKey.generate_key(2048, {"kid": "r1", "alg": "RS256", "use": "sig"})
UNPINNED = RSAKey.import_key(RSA.as_pem(private=True))
EC = ECKey.generate_key("P-256", {"kid": "e1"})
STRANGER = ECKey.generate_key("P-256", {"kid": "e1"})
CORP = TrustedIssuer(
    name="corp", issuer="https://id.example.com", audience="us", jwks="https://id.example.com/j"
)


class Site:
    """The other issuer's JWKS."""

    def __init__(self, *keys):
        self.keys = keys
        self.asked = 0
        #: Instead of the keys: a body, or an error.
        self.answer = None
        self.asking, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    def block(self):
        """Answer no request any more: an event of the next one, and one that lets it go on."""
        self.asking.clear()
        self.go_on.clear()
        return self.asking, self.go_on

    async def fetch(self, url):
        assert url == CORP.jwks
        self.asked += 1
        self.asking.set()
        await self.go_on.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return self.answer
        return json.dumps({"keys": [key.as_dict(private=False) for key in self.keys]}).encode()


def claims(**changes):
    base = {"iss": CORP.issuer, "aud": "us", "sub": "ada", "iat": SECOND, "nbf": SECOND}
    found = base | {"exp": SECOND + 600} | changes
    return {name: value for name, value in found.items() if value is not None}


def signed(key=EC, alg="ES256", header=None, **changes):
    head = {"alg": alg, "kid": "e1"} | (header or {})
    head = {name: value for name, value in head.items() if value is not None}
    return jwt.encode(head, claims(**changes), key, algorithms=[alg])


def by_hand(header, payload, signature=b""):
    parts = [json.dumps(header).encode(), json.dumps(payload).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def tampered(**changes):
    head, _, signature = signed().split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims(**changes)).encode()).decode().rstrip("=")
    return f"{head}.{body}.{signature}"


def hmac_with_public(key, kid):
    """The classic mix-up: the public key, which everybody has, as a shared secret."""
    message = by_hand({"alg": "HS256", "kid": kid}, claims()).rpartition(".")[0]
    signature = hmac.digest(key.as_pem(private=False), message.encode(), "sha256")
    return f"{message}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


FORGED = {
    "not signed": lambda: by_hand({"alg": "none", "kid": "e1"}, claims()),
    "none in capitals": lambda: by_hand({"alg": "NONE", "kid": "e1"}, claims()),
    "signature left out": lambda: signed().rpartition(".")[0] + ".",
    "HMAC with the public EC key": lambda: hmac_with_public(EC, "e1"),
    "HMAC with the public RSA key": lambda: hmac_with_public(RSA, "r1"),
    "another algorithm of the same key": lambda: signed(UNPINNED, "PS256", {"kid": "r1"}),
    "somebody else's key": lambda: signed(STRANGER),
    "key in the token": lambda: signed(STRANGER, header={"jwk": STRANGER.as_dict(private=False)}),
    "address of a key": lambda: signed(STRANGER, header={"jku": "https://evil.example/jwks"}),
    "certificate's address": lambda: signed(STRANGER, header={"x5u": "https://evil.example/c"}),
    "unknown extension": lambda: by_hand(
        {"alg": "ES256", "kid": "e1", "crit": ["b64"], "b64": False}, claims()
    ),
    "expired": lambda: signed(exp=SECOND - 31),
    "future": lambda: signed(nbf=SECOND + 31),
    "without end": lambda: signed(exp=None),
    "without beginning": lambda: signed(nbf=None, iat=None),
    "end in words": lambda: by_hand({"alg": "ES256", "kid": "e1"}, claims(exp="never")),
    "lives for a year": lambda: signed(exp=SECOND + 366 * 86_400),
    "other audience": lambda: signed(aud="them"),
    "no audience": lambda: signed(aud=None),
    "other issuer": lambda: signed(iss="https://evil.example"),
    "our own issuer, their key": lambda: signed(iss="tickwell", aud="tickwell"),
    "no issuer": lambda: signed(iss=None),
    "no subject": lambda: signed(sub=None),
    "subject is a list": lambda: by_hand({"alg": "ES256", "kid": "e1"}, claims(sub=["ada"])),
    "nobody we know": lambda: signed(sub="eve"),
    "unknown key": lambda: signed(header={"kid": "e2"}),
    "no key named": lambda: signed(header={"kid": None}),
    "key named by a path": lambda: signed(header={"kid": "../../etc/passwd"}),
    "key named by an address": lambda: signed(header={"kid": "https://evil.example/jwks"}),
    "key named by SQL": lambda: signed(header={"kid": "e1' or '1'='1"}),
    "key is a number": lambda: by_hand({"alg": "ES256", "kid": 1}, claims()),
    "a megabyte": lambda: signed(more="x" * 1_000_000),
    "subject edited": lambda: tampered(sub="root"),
    "project edited": lambda: tampered(project="other"),
    "deep": lambda: by_hand({"alg": "ES256"}, 0).replace(".MA.", "." + "W1tb" * 2000 + "."),
    "not a token": lambda: "ey.ey.ey",
    "encrypted": lambda: signed() + ".x.y",
    "of another kind": lambda: signed(header={"typ": "dpop+jwt"}),
}


@pytest.fixture
async def believed(office):
    site = Site(EC, RSA)
    service = office.open(trusted=[CORP], fetch=site.fetch)
    await service.members.set(office.actor(), "corp:ada", Role.EDITOR)
    return service


async def test_a_good_token_is_believed_and_its_role_comes_from_the_store(believed):
    for token in (
        signed(),
        signed(aud=["us", "them"]),
        signed(nbf=None),
        signed(RSA, "RS256", {"kid": "r1"}),
        signed(role="admin", roles={"acme": "admin"}),
    ):
        user = await believed.tokens.find(token)
        assert (user.name, user.roles, user.platform) == ("corp:ada", {"acme": Role.EDITOR}, False)


@pytest.mark.parametrize("office", ["memory"], indirect=True)
@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
async def test_a_forged_token_is_refused_with_the_same_words(believed, forge):
    with pytest.raises(Unauthenticated) as error:
        await believed.tokens.find(forge())
    assert str(error.value) == "the token is not valid here; get a new one"


async def test_a_subject_of_another_issuer_is_never_a_local_user(office):
    site = Site(EC)
    service = office.open(trusted=[CORP], fetch=site.fetch)
    await service.users.create(office.owner(), "ada", platform=True)
    with pytest.raises(Unauthenticated):
        await service.tokens.find(signed())


async def test_who_makes_up_keys_makes_us_ask_once_a_minute(office):
    site = Site(EC)
    service = office.open(trusted=[CORP], fetch=site.fetch)
    await service.members.set(office.actor(), "corp:ada", Role.EDITOR)
    assert await service.tokens.find(signed())
    for number in range(20):
        with pytest.raises(Unauthenticated):
            await service.tokens.find(signed(header={"kid": f"x{number}"}))
    assert site.asked == 1
    newer = ECKey.generate_key("P-256", {"kid": "e2"})
    site.keys = (EC, newer)
    office.clock.instant += PATIENCE
    assert await service.tokens.find(signed(newer, header={"kid": "e2"}))
    assert await service.tokens.find(signed())
    assert site.asked == 2


@pytest.mark.parametrize("office", ["memory"], indirect=True)
async def test_all_who_come_with_a_new_key_at_once_are_believed(corp):
    service, site = corp
    asked, answer = site.block()
    coming = [asyncio.create_task(service.tokens.find(signed())) for _ in range(5)]
    await asked.wait()
    coming += [asyncio.create_task(service.tokens.find(signed())) for _ in range(5)]
    answer.set()
    assert {user.name for user in await asyncio.gather(*coming)} == {"corp:ada"}
    assert site.asked == 1


@pytest.fixture
async def corp(office):
    """A service that trusts CORP, and CORP's site."""
    site = Site(EC, RSA)
    service = office.open(trusted=[CORP], fetch=site.fetch)
    await service.members.set(office.actor(), "corp:ada", Role.EDITOR)
    return service, site


def lasting(**changes):
    return signed(exp=SECOND + 80_000, **changes)


memory_only = pytest.mark.parametrize("office", ["memory"], indirect=True)


@memory_only
async def test_a_key_that_its_issuer_withdrew_is_trusted_until_the_next_fetch_only(office, corp):
    service, site = corp
    assert await service.tokens.find(lasting())
    site.keys = (RSA,)
    office.clock.instant += LIFE - 1
    assert await service.tokens.find(lasting())
    assert site.asked == 1
    office.clock.instant += 1
    with pytest.raises(Unauthenticated):
        await service.tokens.find(lasting())
    assert site.asked == 2


@memory_only
async def test_a_set_without_any_key_withdraws_them_all(office, corp):
    service, site = corp
    assert await service.tokens.find(lasting())
    site.keys = ()
    office.clock.instant += LIFE
    with pytest.raises(Unauthenticated):
        await service.tokens.find(lasting())


@memory_only
@pytest.mark.parametrize("answer", [OSError("away"), b"{}", b"[]", b"nonsense", b'{"keys": 5}'])
async def test_keys_that_cannot_be_fetched_anew_are_trusted_for_an_hour(office, corp, answer):
    service, site = corp
    assert await service.tokens.find(lasting())
    site.answer = answer
    office.clock.instant += TRUST_LIMIT - 1
    assert await service.tokens.find(lasting())
    office.clock.instant += 1
    with pytest.raises(Unauthenticated):
        await service.tokens.find(lasting())
    site.answer = None
    office.clock.instant += PATIENCE
    assert await service.tokens.find(lasting())


@memory_only
async def test_while_keys_are_fetched_those_of_an_hour_ago_are_not_trusted(office, corp):
    service, site = corp
    assert await service.tokens.find(lasting())
    asked, answer = site.block()
    office.clock.instant += LIFE
    first = asyncio.create_task(service.tokens.find(lasting()))
    await asked.wait()
    assert await service.tokens.find(lasting())
    office.clock.instant += TRUST_LIMIT - LIFE
    late = asyncio.create_task(service.tokens.find(lasting()))
    await asyncio.sleep(0)
    assert not late.done()
    site.keys = (RSA,)
    answer.set()
    found = await asyncio.gather(first, late, return_exceptions=True)
    assert [type(each) for each in found] == [Unauthenticated, Unauthenticated]


@pytest.mark.parametrize(
    ("bits", "is_used"), [(2048, True), (4096, True), (4104, False), (16384, False)]
)
def test_an_rsa_key_has_2048_to_4096_bits(bits, is_used):
    modulus = base64.urlsafe_b64encode(b"\xff" * (bits // 8)).decode().rstrip("=")
    key = read_key({"kty": "RSA", "n": modulus, "e": "AQAB"})
    assert (key is not None) is is_used


@memory_only
async def test_an_email_is_a_subject_only_if_the_issuer_verified_it(office):
    issuer = read_issuer(
        "corp issuer=https://id.example.com audience=us jwks=https://id.example.com/j subject=email"
    )
    service = office.open(trusted=[issuer], fetch=Site(EC).fetch)
    await service.members.set(office.actor(), "corp:ada@example.com", Role.EDITOR)
    email = "ada@example.com"
    assert await service.tokens.find(signed(email=email, email_verified=True))
    for verified in (None, False, "true", 1, [True]):
        with pytest.raises(Unauthenticated):
            await service.tokens.find(signed(email=email, email_verified=verified))


async def test_a_role_that_a_claim_gives_counts_in_one_project_only(office):
    issuer = read_issuer(
        "corp issuer=https://id.example.com audience=us jwks=https://id.example.com/j"
        " role=tw_role project=acme"
    )
    service = office.open(trusted=[issuer], fetch=Site(EC).fetch)
    user = await service.tokens.find(signed(tw_role="operator", project="other"))
    assert user.roles == {"acme": Role.OPERATOR}
    with pytest.raises(Unauthenticated):
        await service.tokens.find(signed(tw_role="owner"))
    await service.projects.create(office.owner(), "acme")
    assert await service.tokens.find(signed(tw_role="operator"))
    await service.projects.delete(office.owner(), "acme")
    with pytest.raises(Unauthenticated):
        await service.tokens.find(signed(tw_role="operator"))


@pytest.mark.parametrize("office", ["memory"], indirect=True)
async def test_a_claim_may_be_a_list_with_one_role_among_others(office):
    issuer = read_issuer(
        "corp issuer=https://id.example.com audience=us jwks=https://id.example.com/j"
        " role=groups project=acme"
    )
    service = office.open(trusted=[issuer], fetch=Site(EC).fetch)
    user = await service.tokens.find(signed(groups=["staff", "operator", 5, {"a": 1}]))
    assert user.roles == {"acme": Role.OPERATOR}
    for nobody in (["staff"], ["viewer", "admin"], [["admin"]], {"admin": 1}, 5, None, []):
        with pytest.raises(Unauthenticated):
            await service.tokens.find(signed(groups=nobody))


@pytest.mark.parametrize(
    "text",
    ["corp", "CORP issuer=a audience=b jwks=c", "corp issuer=a audience=b jwks=c role=r", "x y=z"],
)
def test_an_issuer_told_by_half_is_refused(text):
    with pytest.raises(InvalidSetting):
        read_issuer(text)


async def test_our_own_tokens(office, service):
    ada = await service.users.create(office.owner(), "ada")
    token = await service.issuer.issue(ada)
    assert (await office.open().tokens.find(token)).name == "ada"
    assert "d" not in (await service.issuer.jwks())["keys"][0]
    stored = await office.store.list_records("signing_key", "_platform", "", TEN)
    assert all("d" not in record.document["public"] for record in stored)
    await service.users.change(office.owner(), "ada", disabled=False)
    with pytest.raises(Unauthenticated):  # of an older generation
        await service.tokens.find(token)


async def test_our_own_tokens_end(office, service):
    ada = await service.users.create(office.owner(), "ada")
    token = await service.issuer.issue(ada, 10 * LONGEST_LIFE)
    office.clock.instant += LONGEST_LIFE + 29_000
    assert await service.tokens.find(token)
    office.clock.instant += 1_000
    with pytest.raises(Unauthenticated):
        await service.tokens.find(token)


async def test_processes_that_start_at_once_agree_on_a_key(office, monkeypatch):
    """One reads before any key is made, and writes after another process has read the keys."""
    early, late, other = (office.open() for _ in range(3))
    ada = await early.users.create(office.owner(), "ada")
    has_read, may_write = asyncio.Event(), asyncio.Event()
    read = late.issuer._read

    async def read_early():
        keys = await read()
        has_read.set()
        await may_write.wait()
        return keys

    monkeypatch.setattr(late.issuer, "_read", read_early)
    issuing = asyncio.create_task(late.issuer.issue(ada))
    await has_read.wait()
    tokens = [await early.issuer.issue(ada), await other.issuer.issue(ada)]
    monkeypatch.setattr(late.issuer, "_read", read)
    may_write.set()
    tokens.append(await issuing)
    for service in (early, late, other):
        assert [(await service.tokens.find(token)).name for token in tokens] == ["ada"] * 3


async def test_a_key_that_another_process_made_is_looked_for(office):
    one, other = office.open(), office.open()
    ada = await one.users.create(office.owner(), "ada")
    assert (await other.issuer.jwks())["keys"] == []  # remembered for a while
    office.clock.instant += AGAIN + 1
    assert (await other.tokens.find(await one.issuer.issue(ada))).name == "ada"


async def test_keys_rotate_under_load_without_one_refusal(office):
    services = [office.open() for _ in range(3)]
    ada = await services[0].users.create(office.owner(), "ada")
    checked, kids = 0, set()
    for step in range(60):
        if step == 10:
            await services[0].issuer.rotate()
        tokens = await asyncio.gather(*(each.issuer.issue(ada) for each in services))
        users = await asyncio.gather(*(each.tokens.find(t) for each in services for t in tokens))
        checked += len(users)
        kids |= {
            json.loads(base64.urlsafe_b64decode(t.split(".")[0] + "==="))["kid"] for t in tokens
        }
        office.clock.instant += AHEAD // 20
    assert checked == 540
    assert len((await services[0].issuer.jwks())["keys"]) >= 2
    assert len(kids) >= 2
    old = await services[0].issuer.issue(ada)
    office.clock.instant += 2 * LONGEST_LIFE
    await services[0].issuer.rotate()
    assert len((await services[0].issuer.jwks())["keys"]) == 2
    with pytest.raises(Unauthenticated):
        await services[0].tokens.find(old)
