"""Who sends it, and what is kept of secrets: nothing."""

import asyncio
import json

import pytest

from tests.executors.http.conftest import LOCAL, a_claim
from tests.executors.http.receiver import answers
from tickwell.domain.http import Basic, Bearer, Http, OAuth
from tickwell.executors.http.network.guard import Guard
from tickwell.executors.http.request.values import Unsendable


class Vault:
    def __init__(self, **known):
        self.known = known

    async def get(self, project, names):
        assert project == "default"
        return {name: self.known[name] for name in names if name in self.known}


async def test_basic_and_bearer(send):
    _, receiver = await send(auth=Basic("tick", "w:ell"))
    assert receiver.last.headers["authorization"] == "Basic dGljazp3OmVsbA=="
    _, receiver = await send(auth=Bearer("abc"))
    assert receiver.last.headers["authorization"] == "Bearer abc"


async def test_secrets_are_filled_in_and_never_kept(make_executor, receive):
    async def echo(exchange):
        await answers(400, body=exchange.head + exchange.body)(exchange)

    executor = make_executor(secrets=Vault(token="t-{{0}}-canary", key="k-canary/"))
    receiver = await receive(echo)
    target = Http(
        receiver.url("/?k={{secret.key}}"),
        auth=Bearer("{{secret.token}}"),
        headers={"X-Key": "{{secret.key}}"},
        body={"key": "{{secret.key}}"},
    )
    outcome = await executor.run(a_claim(target))
    assert receiver.last.headers["authorization"] == "Bearer t-{{0}}-canary"
    assert receiver.last.headers["x-key"] == "k-canary/"
    assert receiver.last.body == b'{"key":"k-canary/"}'
    assert "canary" not in repr(outcome)
    assert "***" in outcome.result["body"]
    basic = Http(receiver.url(), auth=Basic("user", "a password in the clear"))
    outcome = await executor.run(a_claim(basic))
    assert "Authorization: Basic ***" in outcome.result["body"]
    assert "canary" not in repr(Http(receiver.url(), auth=Bearer("canary"), certificate="canary"))


async def test_a_secret_is_asked_for_with_its_hosts_and_one_beyond_them_is_not_sent(
    make_executor, receive
):
    class Limited(Vault):
        async def get(self, project, names):
            assert names == {"token": {"localhost"}, "client": {"id.test"}}
            raise Unsendable("secret 'token' may not be sent to localhost")

    executor, receiver = make_executor(secrets=Limited()), await receive()
    auth = OAuth("https://id.test/token", "us", "{{secret.client}}")
    url = receiver.url(host="localhost")
    outcome = await executor.run(a_claim(Http(url, auth=auth, body="{{secret.token}}")))
    assert (outcome.kind, outcome.retry, receiver.connections) == ("failed", False, 0)
    assert "may not be sent to localhost" in outcome.error


async def test_a_secret_that_breaks_a_header_is_refused(make_executor, receive):
    executor, receiver = make_executor(secrets=Vault(token="a\r\nb")), await receive()
    outcome = await executor.run(a_claim(Http(receiver.url(), auth=Bearer("{{secret.token}}"))))
    assert (outcome.retry, receiver.connections) == (False, 0)


def token_server(life=3600, status=200):
    issued: list[str] = []

    async def behave(exchange):
        issued.append(f"token-{len(issued) + 1}")
        body = json.dumps({"access_token": issued[-1], "expires_in": life}).encode()
        await answers(status, body)(exchange)

    return behave


async def test_oauth_fetches_a_token_once_and_sends_it(executor, receive):
    login, receiver = await receive(token_server()), await receive()
    auth = OAuth(login.url("/token"), "i d", "s:cret", scope="a b", audience="x")
    target = Http(receiver.url(), auth=auth)
    await asyncio.gather(*(executor.run(a_claim(target)) for _ in range(5)))
    assert {each.headers["authorization"] for each in receiver.exchanges} == {"Bearer token-1"}
    [asked] = login.exchanges
    assert asked.body == b"grant_type=client_credentials&scope=a+b&audience=x"
    assert asked.headers["authorization"] == "Basic aStkOnMlM0FjcmV0"
    assert "webhook-id" not in asked.headers


async def test_a_token_that_ends_is_fetched_anew(executor, receive):
    login, receiver = await receive(token_server(life=10)), await receive()
    target = Http(receiver.url(), auth=OAuth(login.url("/token"), "id", "secret"))
    for _ in range(2):
        await executor.run(a_claim(target))
    assert receiver.last.headers["authorization"] == "Bearer token-2"


async def test_a_token_that_is_not_taken_is_forgotten(executor, receive):
    login, receiver = await receive(token_server()), await receive(answers(401))
    target = Http(receiver.url(), auth=OAuth(login.url("/token"), "id", "secret"))
    outcome = await executor.run(a_claim(target))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    receiver.behaviour = answers()
    await executor.run(a_claim(target))
    assert receiver.last.headers["authorization"] == "Bearer token-2"


@pytest.mark.parametrize(
    ("behaviour", "retry"),
    [
        (answers(500), True),
        (answers(302, headers=["Location: /"]), True),
        (answers(400, b'{"error": "invalid_client"}'), False),
        (answers(200, b"not json"), True),
        (answers(200, b'{"access_token": 7}'), True),
        (answers(200, b"[" * 60_000), True),
        (answers(200, b'{"access_token": "abc", "expires_in": 1%s}' % (b"0" * 400)), True),
    ],
)
async def test_a_token_server_that_gives_none_is_a_failed_attempt(
    executor, receive, behaviour, retry
):
    login, receiver = await receive(behaviour), await receive()
    target = Http(receiver.url(), auth=OAuth(login.url("/token"), "id", "secret"))
    outcome = await executor.run(a_claim(target))
    assert (outcome.kind, outcome.retry) == ("failed", retry)
    assert receiver.connections == 0


@pytest.mark.parametrize("token", ["a\\r\\nX-Evil: b", "a\\ud800", "a" * 8192])
async def test_a_token_that_no_header_can_carry_is_not_kept(executor, receive, token):
    """Else every webhook would fail by it, without another attempt, as long as it lives."""
    login = await receive(answers(body=b'{"access_token": "%s"}' % token.encode()))
    receiver = await receive()
    target = Http(receiver.url(), auth=OAuth(login.url("/token"), "id", "secret"))
    outcome = await executor.run(a_claim(target))
    assert (outcome.kind, outcome.retry, receiver.connections) == ("failed", True, 0)
    login.behaviour = token_server()
    assert (await executor.run(a_claim(target))).kind == "succeeded"


@pytest.mark.parametrize(
    ("life", "fetched"), [(b"null", 1), (b"Infinity", 1), (b"1e300", 1), (b"NaN", 2), (b"-1", 2)]
)
async def test_the_life_of_a_token_may_be_said_oddly(executor, receive, life, fetched):
    body = b'{"access_token": "abc", "expires_in": %s}' % life
    login, receiver = await receive(answers(body=body)), await receive()
    target = Http(receiver.url(), auth=OAuth(login.url("/token"), "id", "secret"))
    for _ in range(2):
        assert (await executor.run(a_claim(target))).kind == "succeeded"
    assert len(login.exchanges) == fetched


async def test_the_token_server_is_guarded_too(make_executor, receive):
    login, receiver = await receive(token_server()), await receive()
    guard = Guard(**LOCAL | {"allow_private": ["127.0.0.1/32"]})
    auth = OAuth(login.url("/token", host="127.0.0.2"), "id", "secret")
    outcome = await make_executor(guard=guard).run(a_claim(Http(receiver.url(), auth=auth)))
    assert "127.0.0.2 is not a public address" in outcome.error
    assert (outcome.not_here, login.connections, receiver.connections) == (True, 0, 0)


async def test_the_port_of_the_token_server_is_judged_too(make_executor, receive):
    login, receiver = await receive(token_server()), await receive()
    guard = Guard(**LOCAL | {"allow_ports": [str(receiver.port)]})
    target = Http(receiver.url(), auth=OAuth(login.url("/token"), "id", "secret"))
    outcome = await make_executor(guard=guard).run(a_claim(target))
    assert f"port {login.port} is not allowed" in outcome.error
    assert (outcome.not_here, login.connections) == (True, 0)
