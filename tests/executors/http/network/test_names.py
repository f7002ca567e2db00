"""Names that change their mind, stall, or lie: W6 and W7 of the proofs."""

import asyncio
from typing import Any

import pytest

from tests.executors.http.conftest import LOCAL, Names, a_claim
from tests.executors.http.receiver import answers
from tickwell.domain.http import Http
from tickwell.errors import InvalidJob
from tickwell.executors.http.network import guard as guards
from tickwell.executors.http.network.guard import Guard, NoAddress, check_url

PUBLIC = "93.184.216.34"
NO_ADDRESS = str(NoAddress())
CLOSED: dict[str, Any] = {"allow_http": True, "allow_ports": ["1-65535"]}


async def test_a_name_that_was_public_at_save_and_is_private_at_dial_is_not_dialled(
    make_executor, receive
):
    receiver = await receive()
    names = Names(rebinds_test=[[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]])
    guard = Guard(**CLOSED)
    await check_url(receiver.url(host="rebinds.test"), guard, names)
    outcome = await make_executor(guard=guard, resolver=names).run(
        a_claim(Http(receiver.url(host="rebinds.test")))
    )
    assert NO_ADDRESS in outcome.error
    assert receiver.connections == 0


async def test_the_answer_that_was_checked_is_the_one_that_is_dialled(make_executor, receive):
    """A second question would be another answer: only one is asked."""
    receiver = await receive()
    names = Names(rebinds_test=[["127.0.0.1"], ["169.254.169.254"]])
    outcome = await make_executor(resolver=names).run(
        a_claim(Http(receiver.url(host="rebinds.test")))
    )
    assert (outcome.kind, names.asked) == ("succeeded", ["rebinds.test"])


async def test_every_new_connection_asks_again(make_executor, receive):
    receiver = await receive(answers(headers=["Connection: close"]))
    names = Names(rebinds_test=[["127.0.0.1"], ["127.0.0.1"], ["169.254.169.254"]])
    executor = make_executor(resolver=names)
    target = Http(receiver.url(host="rebinds.test"))
    outcomes = [await executor.run(a_claim(target)) for _ in range(3)]
    assert [outcome.kind for outcome in outcomes] == ["succeeded", "succeeded", "failed"]
    assert NO_ADDRESS in outcomes[2].error


@pytest.mark.parametrize(
    "answer",
    [[PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC] * 999 + ["::1"], ["::ffff:7f00:1"]],
    ids=["private last", "private first", "one of a thousand", "mapped"],
)
async def test_one_bad_answer_spoils_all(make_executor, receive, answer):
    receiver = await receive()
    names = Names(mixed_test=answer)
    guard = Guard(**CLOSED)
    with pytest.raises(InvalidJob, match="not a public address"):
        await check_url("http://mixed.test/", guard, names)
    outcome = await make_executor(guard=guard, resolver=names).run(
        a_claim(Http(receiver.url(host="mixed.test")))
    )
    assert NO_ADDRESS in outcome.error
    assert receiver.connections == 0


async def test_an_attempt_does_not_tell_internal_names_from_unknown_ones(make_executor):
    """Else a project could list the names of an internal network by adding jobs."""
    names = Names(inside_test=["10.0.0.1"], mapped_test=["::ffff:10.0.0.1"])
    executor = make_executor(guard=Guard(**CLOSED), resolver=names)
    seen = []
    for host in ("inside.test", "mapped.test", "unheard-of.test"):
        claim = a_claim(Http(f"http://{host}/"))
        outcome = await executor.run(claim)
        outcome.error = outcome.error.replace(host, "host")
        seen.append((outcome, await executor.refusal(claim.job)))
    assert seen[0] == seen[1] == seen[2]
    outcome, refusal = seen[0]
    assert (outcome.kind, outcome.retry, outcome.not_here, refusal) == ("failed", True, False, "")
    assert outcome.error == f"host cannot be resolved: {NO_ADDRESS}"


async def test_a_thousand_good_answers_are_no_trouble(make_executor, receive):
    receiver = await receive()
    names = Names(many_test=["127.0.0.1"] * 1000)
    outcome = await make_executor(resolver=names).run(a_claim(Http(receiver.url(host="many.test"))))
    assert outcome.kind == "succeeded"


async def test_host_and_certificate_stay_the_name(make_executor, receive):
    receiver = await receive()
    names = Names(there_test=["127.0.0.1"])
    await make_executor(resolver=names).run(a_claim(Http(receiver.url(host="There.TEST"))))
    assert receiver.last.headers["host"] == f"there.test:{receiver.port}"


@pytest.mark.parametrize("answer", [None, []])
async def test_a_name_without_address_is_tried_again(make_executor, answer):
    class Flapping:
        async def resolve(self, host):
            if answer is None:
                raise OSError("Temporary failure in name resolution")
            return answer

    outcome = await make_executor(resolver=Flapping()).run(a_claim(Http("http://flaps.test/")))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert "flaps.test" in outcome.error


class Stalling:
    async def resolve(self, host):
        await asyncio.Event().wait()


async def test_looking_a_name_up_counts_into_the_deadline(make_executor):
    outcome = await make_executor(resolver=Stalling()).run(
        a_claim(Http("http://stalls.test/", timeout="100ms"))
    )
    assert (outcome.kind, outcome.retry) == ("timed_out", True)


async def test_looking_a_name_up_has_a_limit_of_its_own(make_executor, monkeypatch):
    monkeypatch.setattr(guards, "LOOKUP_LIMIT", 0.05)
    outcome = await make_executor(resolver=Stalling()).run(a_claim(Http("http://stalls.test/")))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert "was not resolved within" in outcome.error
    await check_url("https://stalls.test/", Guard(), Stalling())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        "file:///etc/passwd",
        "/",
        "//evil.test/",
        "gopher://127.0.0.1/",
        "http://[::1]/",
    ],
)
async def test_redirects_are_never_followed(send, status, location):
    outcome, receiver = await send(answers(status, headers=[f"Location: {location}"]))
    assert (outcome.kind, outcome.retry) == ("failed", False)
    assert "redirects are not followed" in outcome.error
    assert len(receiver.exchanges) == 1


async def test_a_redirect_to_another_receiver_reaches_nobody(make_executor, receive):
    other = await receive()
    receiver = await receive(answers(307, headers=[f"Location: {other.url()}"]))
    await make_executor(guard=Guard(**LOCAL)).run(a_claim(Http(receiver.url(), method="GET")))
    assert other.connections == 0
