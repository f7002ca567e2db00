"""Address tricks, at save and at dial: W8 of the proofs."""

import socket
from typing import Any

import pytest

from tests.executors.http.conftest import LOCAL, Names, a_claim
from tests.executors.http.corpus import ADDRESSES, DISGUISED, NAMES, PUBLIC, URLS
from tickwell.domain.http import Http, OAuth
from tickwell.domain.target import Call
from tickwell.errors import InvalidJob, InvalidSetting
from tickwell.executors.http.network.guard import (
    Endpoint,
    Guard,
    NoAddress,
    OwnAddresses,
    Refused,
    check_target,
    check_url,
    own_endpoints,
)
from tickwell.executors.http.network.resolver import SystemResolver
from tickwell.executors.http.request.request import Request
from tickwell.executors.http.request.values import Sealed
from tickwell.settings import Settings

OPEN: dict[str, Any] = {"allow_http": True, "allow_ports": ["1-65535"]}


def literal(address):
    return f"http://[{address}]/" if ":" in address else f"http://{address}/"


@pytest.fixture
def dials(monkeypatch):
    """Every address that a socket is connected to."""
    seen = []

    def connect(self, address):
        seen.append(address)
        raise OSError("not in this test")

    monkeypatch.setattr(socket.socket, "connect", connect)
    return seen


@pytest.fixture
async def client(make_executor):
    """The client itself, without the checks that come before it."""
    executor = make_executor(guard=Guard(**OPEN))
    return await executor._open()


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "%" not in each])
async def test_literal_addresses_are_refused_at_save(address):
    with pytest.raises(InvalidJob, match="not a public address"):
        await check_url(literal(address), Guard(**OPEN), Names())


@pytest.mark.parametrize("address", ADDRESSES)
async def test_names_of_such_addresses_are_refused_at_save(address):
    with pytest.raises(InvalidJob, match=r"home\.test is refused"):
        await check_url("http://home.test/", Guard(**OPEN), Names(home_test=[address]))


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "%" not in each])
async def test_literal_addresses_are_refused_at_dial(make_executor, client, dials, address):
    outcome = await make_executor(guard=Guard(**OPEN)).run(a_claim(Http(literal(address))))
    assert (outcome.kind, outcome.not_here) == ("released", True)
    assert "not a public address" in outcome.error
    # The client does not ask its resolver about a literal: the gate before the dial catches it.
    with pytest.raises(Refused):
        await client.send(Request("GET", literal(address), {}))
    assert dials == []


@pytest.mark.parametrize("address", ADDRESSES)
async def test_names_of_such_addresses_are_refused_at_dial(make_executor, dials, address):
    executor = make_executor(guard=Guard(**OPEN), resolver=Names(home_test=[address]))
    outcome = await executor.run(a_claim(Http("http://home.test/")))
    assert outcome.error == f"home.test cannot be resolved: {NoAddress()}"
    assert dials == []


@pytest.mark.parametrize("address", PUBLIC)
async def test_public_addresses_are_allowed(address):
    await check_url(literal(address), Guard(**OPEN), Names())
    await check_url("http://there.test/", Guard(**OPEN), Names(there_test=[address]))
    Guard().check_address(address, 443)


@pytest.mark.parametrize("host", DISGUISED)
async def test_hosts_in_disguise_cannot_be_saved(host):
    with pytest.raises(InvalidJob) as refused:
        Http(f"http://{host}/")
    assert refused.value.field == "target.http.url"
    with pytest.raises(InvalidJob):
        await check_url(f"http://{host}/", Guard(**OPEN), SystemResolver())


@pytest.mark.parametrize("host", [each for each in DISGUISED if each.isascii() and "[" not in each])
async def test_hosts_in_disguise_are_refused_at_dial_even_unparsed(client, host):
    """As if the parser had let them through: the system's resolver reads many as loopback."""
    from aiohttp import ClientError

    from tickwell.executors.http.client.failure import Failure
    from tickwell.executors.http.request.values import Unsendable

    with pytest.raises((Refused, Failure, Unsendable, ClientError)):
        await client.send(Request("GET", f"http://{host}/", {}))


@pytest.mark.parametrize("url", URLS)
async def test_urls_that_say_two_things_cannot_be_saved(url):
    with pytest.raises(InvalidJob) as refused:
        Http(url)
    assert refused.value.field == "target.http.url"
    with pytest.raises(InvalidJob):
        await check_url(url, Guard(**OPEN), SystemResolver())


@pytest.mark.parametrize("name", NAMES)
async def test_names_that_lead_home_are_refused(make_executor, name):
    resolver = Names(**{name.lower().replace(".", "_"): ["127.0.0.1"]})
    with pytest.raises(InvalidJob, match=r"127\.0\.0\.1 is not a public address"):
        await check_url(f"http://{name}/", Guard(**OPEN), resolver)
    outcome = await make_executor(guard=Guard(**OPEN), resolver=resolver).run(
        a_claim(Http(f"http://{name}/"))
    )
    assert str(NoAddress()) in outcome.error


async def test_localhost_is_refused_by_the_system_too(make_executor):
    with pytest.raises(InvalidJob, match="not a public address"):
        await check_url("http://localhost/", Guard(**OPEN), SystemResolver())
    outcome = await make_executor(guard=Guard(**OPEN)).run(a_claim(Http("http://localhost/")))
    assert str(NoAddress()) in outcome.error


async def test_a_target_is_judged_by_all_that_it_dials():
    names = Names(example_com=["93.184.216.34"], home_test=["10.0.0.1"])
    good = OAuth("https://example.com/token", "i", "s")
    await check_target(Call("work"), Guard(), names)
    await check_target(Http("https://example.com/", auth=good), Guard(), names)
    for target, field in (
        (Http("https://home.test/", auth=good), "url"),
        (Http("https://example.com/", auth=OAuth("https://home.test/", "i", "s")), "token_url"),
    ):
        with pytest.raises(InvalidJob, match=r"10\.0\.0\.1") as refused:
            await check_target(target, Guard(), names)
        assert refused.value.field.endswith(field)


async def test_a_name_that_is_not_known_yet_may_be_saved():
    await check_url("https://tomorrow.test/", Guard(), Names())


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://example.com/", "allow_http"),
        ("https://example.com:8443/", "allow_ports"),
        ("https://example.com:22/", "allow_ports"),
    ],
)
async def test_plain_http_and_other_ports_are_a_setting(make_executor, dials, url, says):
    names = Names(example_com=["93.184.216.34"])
    with pytest.raises(InvalidJob, match=says):
        await check_url(url, Guard(), names)
    outcome = await make_executor(guard=Guard(), resolver=names).run(a_claim(Http(url)))
    assert says in outcome.error
    assert (outcome.not_here, dials) == (True, [])
    await check_url(url, Guard(**OPEN), names)


async def test_allow_private_opens_the_networks_it_names_and_no_others():
    guard = Guard(allow_private=["10.1.0.0/16", "fd00:1::/64"], deny_networks=["10.1.66.0/24"])
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5"):
        guard.check_address(address, 443)
    for address in ("10.2.0.1", "127.0.0.1", "fd00:2::1", "10.1.66.1"):
        with pytest.raises(Refused):
            guard.check_address(address, 443)


async def test_denied_networks_are_denied_though_public():
    guard = Guard(deny_networks=["8.8.8.0/24"])
    with pytest.raises(InvalidJob, match="deny_networks"):
        await check_url("https://8.8.8.8/", guard, Names())


def test_hosts_are_allowed_by_project():
    guard = Guard(allow_hosts=["*:*.Example.com", "billing:api.stripe.com", "b*:[2]0.test"])
    for project, host in (
        ("shop", "hooks.example.com"),
        ("billing", "a.b.example.com"),
        ("billing", "api.stripe.com"),
        ("billing", "20.test"),
    ):
        guard.check_host(project, host)
    for project, host in (
        ("shop", "api.stripe.com"),
        ("Billing", "api.stripe.com"),
        ("shop", "example.com"),
        ("shop", "hooks.example.com.evil.test"),
        ("shop", "93.184.216.34"),
    ):
        with pytest.raises(Refused, match=f"project '{project}' may not call {host}"):
            guard.check_host(project, host)
    Guard().check_host("shop", "anywhere.test")


async def test_a_host_that_is_off_the_list_is_left_to_other_workers(make_executor, dials):
    executor = make_executor(guard=Guard(**OPEN, allow_hosts=["*:example.com"]))
    for target in (
        Http("https://example.net/"),
        Http("https://example.com/", auth=OAuth("https://example.net/token", "id", "secret")),
    ):
        claim = a_claim(target)
        outcome = await executor.run(claim)
        assert (outcome.kind, outcome.not_here) == ("released", True)
        assert "may not call example.net. Add " in outcome.error
        assert await executor.refusal(claim.job) == outcome.error
    assert dials == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("allow_private", ("10.0.0.1/8",)),
        ("allow_private", ("everything",)),
        ("deny_networks", ("10.0.0/33",)),
        ("allow_hosts", ("example.com",)),
        ("allow_ports", ("0",)),
        ("allow_ports", ("9-1",)),
        ("allow_ports", ("any",)),
        ("allow_ports", ("70000",)),
        ("per_host", 0),
    ],
)
def test_settings_that_cannot_work_are_refused(field, value):
    with pytest.raises(InvalidSetting) as refused:
        Settings(**{field: value})
    assert refused.value.field == field


def test_our_own_places_are_the_listener_and_the_store():
    settings = Settings(store="mongodb://u:p@a.test,b.test:1234/db", host="0.0.0.0", port=8080)
    assert own_endpoints(settings) == (
        Endpoint("0.0.0.0", 8080),
        Endpoint("a.test", 27017),
        Endpoint("b.test", 1234),
    )
    assert own_endpoints(Settings(store="memory://")) == (Endpoint("127.0.0.1", 8080),)
    assert own_endpoints(Settings(notify="redis://wake.test:1"))[1] == Endpoint("wake.test", 1)


@pytest.mark.parametrize(
    ("store", "environment", "places"),
    [
        ("postgresql:///db", {}, ["localhost:5432"]),
        ("postgresql:///db", {"PGPORT": "5433"}, ["localhost:5433"]),
        ("postgresql://u:p@a.test/db", {"PGPORT": "5433", "PGHOST": "b.test"}, ["a.test:5433"]),
        ("postgresql://a.test:1,b.test/db", {"PGPORT": "5433"}, ["a.test:1", "b.test:5433"]),
        ("postgresql:///db", {"PGHOST": "a.test,b.test"}, ["a.test:5432", "b.test:5432"]),
        ("postgres:///db", {"PGHOST": "a.test,b.test", "PGPORT": "1,2"}, ["a.test:1", "b.test:2"]),
        ("postgresql:///db", {"PGHOST": "/run/postgresql", "PGPORT": "1"}, ["localhost:1"]),
        ("postgresql:///db?host=a.test,b.test&port=1,2", {}, ["a.test:1", "b.test:2"]),
        ("postgresql:///db?host=a.test,10.0.0.5&port=3", {}, ["a.test:3", "10.0.0.5:3"]),
        ("postgresql:///db?host=[fd00::1]&port=3", {"PGPORT": "4"}, ["fd00::1:3"]),
        ("postgresql:///db?host=/run/postgresql&port=3", {}, ["localhost:3"]),
        ("postgresql://%2Frun%2Fpostgresql:3/db", {}, ["localhost:3"]),
        ("mysql:///db?socket=/run/mysql.sock", {"PGPORT": "1", "PGHOST": "x"}, ["localhost:3306"]),
        ("mongodb://%2Frun%2Fmongodb.sock/db", {}, ["localhost:27017"]),
        ("mongodb+srv://a.test/db", {}, []),
    ],
)
def test_our_own_places_are_where_the_driver_goes(monkeypatch, store, environment, places):
    for name in ("PGHOST", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = own_endpoints(Settings(store=store))[1:]
    assert [f"{place.host}:{place.port}" for place in found] == places


async def test_our_own_places_are_refused_even_where_private_is_allowed():
    names = Names(store_test=["10.0.0.5"], alias_test=["10.0.0.5"], home_test=["127.0.0.2"])
    guard = Guard(
        **LOCAL | {"allow_private": ["10.0.0.0/8", "127.0.0.0/8"]},
        own_addresses=OwnAddresses(
            [Endpoint("0.0.0.0", 8080), Endpoint("store.test", 5432), Endpoint("gone.test", 1)]
        ),
    )
    for url in (
        "http://127.0.0.1:8080/",
        "http://127.3.2.1:8080/",
        "http://home.test:8080/",
        "http://alias.test:5432/",
        "http://10.0.0.5:5432/",
    ):
        with pytest.raises(InvalidJob, match="own"):
            await check_url(url, guard, names)
    for url in ("http://127.0.0.1:8081/", "http://10.0.0.5:8080/", "http://10.0.0.6:5432/"):
        await check_url(url, guard, names)


async def test_a_name_of_our_own_that_was_not_found_is_looked_up_again():
    names = Names()
    guard = Guard(
        **LOCAL | {"allow_private": ["10.0.0.0/8"]},
        own_addresses=OwnAddresses([Endpoint("store.test", 5432)]),
    )
    await check_url("http://10.0.0.5:5432/", guard, names)
    names.known["store.test"] = ["10.0.0.5"]
    with pytest.raises(InvalidJob, match="own"):
        await check_url("http://10.0.0.5:5432/", guard, names)


async def test_our_own_places_are_refused_at_dial(make_executor, receive):
    receiver = await receive()
    guard = Guard(**LOCAL, own_addresses=OwnAddresses([Endpoint("127.0.0.1", receiver.port)]))
    outcome = await make_executor(guard=guard).run(a_claim(Http(receiver.url())))
    assert "own" in outcome.error
    assert receiver.connections == 0
    open_guard = Guard.of(
        Settings(
            port=receiver.port,
            allow_own=True,
            allow_http=True,
            allow_private=("127.0.0.0/8",),
            allow_ports=("1-65535",),
        )
    )
    outcome = await make_executor(guard=open_guard).run(a_claim(Http(receiver.url())))
    assert outcome.kind == "succeeded"


async def test_a_refusal_is_told_without_an_attempt(make_executor):
    names = Names(home_test=["10.0.0.1"], good_test=["93.184.216.34"])
    executor = make_executor(guard=Guard(), resolver=names)

    async def refusal(url, **fields):
        return await executor.refusal(a_claim(Http(url, **fields)).job)

    assert await refusal("http://good.test/") == (
        "plain http is not allowed here. Use https, or set allow_http"
    )
    assert "10.0.0.1 is not a public address" in await refusal("https://10.0.0.1/")
    assert await refusal("https://home.test/") == ""  # it fails as an unknown name does
    assert await refusal("https://good.test/") == ""
    assert await refusal("https://unheard-of.test/") == ""  # it may have an address tomorrow
    auth = OAuth("http://good.test/token", "id", "secret")
    assert "plain http" in await refusal("https://good.test/", auth=auth)


async def test_a_secret_whose_key_is_not_here_is_left_to_others(make_executor):
    class Keyless:
        async def get(self, project, names):
            raise Sealed("there is no key file here")

    names = Names(good_test=["93.184.216.34"])
    executor = make_executor(guard=Guard(), resolver=names, secrets=Keyless())
    claim = a_claim(Http("https://good.test/", headers={"X-Key": "{{secret.key}}"}))
    outcome = await executor.run(claim)
    assert (outcome.kind, outcome.not_here) == ("released", True)
    assert await executor.refusal(claim.job) == outcome.error == "there is no key file here"
