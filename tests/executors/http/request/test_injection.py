"""Headers and URLs that would be two: W9 of the proofs, at save and again at dispatch."""

import pytest

from tests.executors.http.conftest import a_claim
from tickwell.domain.document.target import TARGET
from tickwell.domain.http import Basic, Bearer, Http
from tickwell.errors import InvalidJob

URL = "https://example.com/"
BREAKS = ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00b", "a\r\n b", "a\x0bb", "\x7f", "a\u2028b"]
FORBIDDEN = [
    *("Host", "host", "Content-Length", "Transfer-Encoding", "transfer-encoding", "Connection"),
    *("Keep-Alive", "TE", "Trailer", "Upgrade", "Expect", "Proxy-Authorization"),
    *("webhook-id", "Webhook-Signature", "webhook-anything", "tickwell-attempt"),
]
NO_NAMES = ["", " ", "a b", "a:b", "a\r\n", "a\tb", "ü", "a\x00", "(", "x" * 257, ":path"]


def field_of(error):
    return error.value.field


@pytest.mark.parametrize("value", BREAKS)
def test_values_that_break_the_line_cannot_be_saved(value):
    for make in (
        lambda: Http(URL, headers={"X-A": value}),
        lambda: TARGET.read({"http": {"url": URL, "headers": {"X-A": value}}}),
        lambda: Http(URL, auth=Bearer(value)),
    ):
        with pytest.raises(InvalidJob):
            make()


@pytest.mark.parametrize("name", FORBIDDEN)
def test_headers_that_are_ours_cannot_be_saved(name):
    with pytest.raises(InvalidJob, match="set by Tickwell"):
        Http(URL, headers={name: "1"})


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_no_header_name_cannot_be_saved(name):
    with pytest.raises(InvalidJob):
        Http(URL, headers={name: "1"})


def test_too_many_and_too_large_headers_cannot_be_saved():
    Http(URL, headers={f"X-{number}": "y" for number in range(50)})
    with pytest.raises(InvalidJob, match="more than 50"):
        Http(URL, headers={f"X-{number}": "y" for number in range(10_000)})
    with pytest.raises(InvalidJob, match="larger than 8192"):
        Http(URL, headers={"X": "y" * 8192})
    with pytest.raises(InvalidJob, match="twice"):
        Http(URL, headers={"X-A": "1", "x-a": "2"})
    with pytest.raises(InvalidJob, match="twice"):
        Http(URL, headers={"authorization": "1"}, auth=Bearer("t"))


@pytest.mark.parametrize("value", [*BREAKS, "y" * 9000, "日本"])
async def test_values_that_break_the_line_are_refused_at_dispatch(send, value):
    outcome, receiver = await send(headers={"X-A": "{{payload.v}}"}, payload={"v": value})
    assert (outcome.kind, outcome.retry) == ("failed", False)
    assert "header X-A" in outcome.error
    assert receiver.connections == 0


@pytest.mark.parametrize("value", BREAKS)
async def test_values_cannot_break_out_of_the_url(send, value):
    outcome, receiver = await send(
        path="/p/{{payload.v}}", query={"q": "{{payload.v}}"}, payload={"v": value}
    )
    assert outcome.kind == "succeeded"
    assert receiver.last.head.count(b"\r\n") == len(receiver.last.headers) + 2
    assert "x-evil" not in receiver.last.headers


async def test_a_password_may_hold_anything(send):
    _, receiver = await send(auth=Basic("u", "a\r\nb:ü"))
    assert receiver.last.headers["authorization"] == "Basic dTphDQpiOsO8"


async def test_a_job_name_cannot_break_a_header(send):
    _, receiver = await send(headers={"X-Job": "{{job_name}}"})
    assert receiver.last.headers["x-job"] == "daily report"


async def test_what_was_saved_by_other_means_is_refused_at_dispatch(executor, receive):
    """As if a store held what no target can hold."""
    receiver = await receive()
    target = Http(receiver.url(), headers={"X-A": "b"})
    for headers in ({"X-A": "b\r\nEvil: 1"}, {"X-A\r\nEvil": "1"}, {"Host": "evil.test"}):
        object.__setattr__(target, "headers", headers)
        outcome = await executor.run(a_claim(target))
        assert (outcome.kind, outcome.retry) == ("failed", False), headers
    assert receiver.connections == 0
