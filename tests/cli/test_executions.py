"""`tickwell executions`, `dead` and `backfill`: what ran, what died, what is run again."""

import asyncio
from functools import partialmethod

import pytest

from tests.cli.world import BAD, GOOD, make_past, work
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.policy import HOUR
from tickwell.domain.step import CHECKPOINT, WAIT, Step
from tickwell.domain.trigger import OnDemand
from tickwell.services.executions.dead_letters import DeadLetters
from tickwell.testing.contract.builders import a_request
from tickwell.testing.contract.scene import Scene
from tickwell.wiring import make_store


@pytest.fixture
def past(tickwell, either):
    make_past()
    return tickwell


def ids(tickwell, state):
    page = tickwell("executions", "list", "--state", state, "--json").json
    return [each["id"] for each in page["items"]]


def test_list(past):
    rows = past("executions", "list").rows
    assert len(rows) == GOOD + BAD
    assert {(row[1], row[2]) for row in rows} == {("greet", "succeeded"), ("broken", "dead")}
    assert len(past("executions", "list", "--job", "greet").rows) == GOOD
    assert past("executions", "list", "--since", "+1h").out == ""
    assert past("executions", "list", "--job", "nothing").code == 3
    assert past("executions", "list", "--state", "happy").code == 2


def test_texts_of_handlers_steer_no_terminal(past):
    listed = past("dead", "list", "--job", "broken")
    assert "\x1b" not in listed.out
    assert "no order" in listed.out
    (first, *_) = ids(past, "dead")
    assert "\x1b" not in past("executions", "show", first).out


def test_show(past):
    (first, *_) = ids(past, "succeeded")
    shown = {row[0]: row[1] for row in past("executions", "show", first).rows}
    assert (shown["state"], shown["result"]) == ("succeeded", "Hello, Ada!")
    document = past("executions", "show", first, "--json").json
    assert [each["outcome"] for each in document["attempts"]] == ["succeeded"]
    assert past("executions", "show", "nothing").code == 3


async def do_steps(url):
    store = make_store(url)
    await store.open()
    scene, now = Scene(store), await store.ping()
    job = await scene.job("stepwise", now=now)
    await scene.run(a_request(job, now), now=now)
    await scene.beat(now=now)
    claim = await scene.claim_one(now)
    for name, value in (("charge \x1b[31m", {"receipt": "r-1"}), (CHECKPOINT, 3)):
        final = name != CHECKPOINT
        step = Step(execution=claim.id, attempt=1, name=name, value=value, at=now, is_final=final)
        assert await store.write_steps([step]) == []
    await store.close()


def test_steps_are_shown(tickwell, folder):
    asyncio.run(do_steps(f"sqlite:///{folder}/tickwell.db"))
    (one,) = tickwell("executions", "list", "--json").json["items"]
    shown = tickwell("executions", "show", one["id"])
    assert "\x1b" not in shown.out
    (step,) = [row for row in shown.rows if row[0].startswith("charge")]
    assert step[1:] == ["1", '{"receipt": "r-1"}']
    assert ["value", "3"] in shown.rows


async def ask(url):
    store = make_store(url)
    await store.open()
    scene, now = Scene(store), await store.ping()
    job = await scene.job("asking", now=now)
    await scene.run(a_request(job, now), now=now)
    claim = await scene.claim_one(now)
    name, asked = f"{WAIT}approval", {"expires_at": now + HOUR}
    step = Step(execution=claim.id, attempt=1, name=name, value=asked, at=now, is_final=False)
    await store.write_steps([step])
    await scene.finish(claim, OutcomeKind.SNOOZED, now, delay=HOUR, awaits=(name,))
    await store.close()


def test_what_it_waits_for_is_answered(tickwell, folder):
    asyncio.run(ask(f"sqlite:///{folder}/tickwell.db"))
    (one,) = tickwell("executions", "list", "--json").json["items"]
    (row,) = [row for row in tickwell("executions", "show", one["id"]).rows if row[0] == "approval"]
    assert row[1] == "open"
    assert tickwell("executions", "answer", one["id"], "other").code == 3
    answered = tickwell("executions", "answer", one["id"], "approval", '{"ok": true}')
    assert (answered.code, "Answered approval" in answered.err + answered.out) == (0, True)
    document = tickwell("executions", "show", one["id"], "--json").json
    assert document["state"] == "queued"
    assert document["waits"][0]["answer"] == {"ok": True}
    (row,) = [row for row in tickwell("executions", "show", one["id"]).rows if row[0] == "approval"]
    assert (row[1], row[3]) == ("answered", '{"ok": true}')


async def lose_one(url):
    store = make_store(url)
    await store.open()
    scene, now = Scene(store), await store.ping()
    job = await scene.job("taken", now=now)
    await scene.run(a_request(job, now), now=now)
    await scene.beat(now=now)
    await scene.finish(await scene.claim_one(now), OutcomeKind.LOST, now)
    await store.close()


def test_losses_are_shown_apart_from_attempts(tickwell, folder):
    asyncio.run(lose_one(f"sqlite:///{folder}/tickwell.db"))
    (one,) = tickwell("executions", "list", "--json").json["items"]
    shown = {row[0]: row[1:] for row in tickwell("executions", "show", one["id"]).rows}
    assert (shown["attempts"], shown["losses"]) == (["1 (0 charged)"], ["1 charged"])


def test_follow_ends_with_the_execution(past):
    (good, *_), (bad, *_) = ids(past, "succeeded"), ids(past, "dead")
    followed = past("executions", "follow", good)
    assert followed.code == 0
    assert "attempt 1 succeeded" in followed.err
    died = past("executions", "follow", bad)
    assert died.code == 1
    assert "attempt 1 failed: " in died.err


def test_cancel(past):
    waiting = past("jobs", "trigger", "greet", "--at", "1h").out.strip()
    (ended, *_) = ids(past, "succeeded")
    assert past("executions", "cancel", waiting).code == 2
    done = past("executions", "cancel", waiting, ended, "--yes")
    assert done.err == "Cancelled 1 execution; 1 had already ended.\n"
    refused = past("executions", "cancel", ended, "--yes")
    assert refused.code == 4
    assert "only a live one can be cancelled" in refused.err
    assert past("executions", "show", waiting, "--json").json["state"] == "cancelled"


def test_revive_by_id_and_with_another_payload(past):
    first, second, *_ = ids(past, "dead")
    assert past("executions", "revive", first).err == "Revived 1 execution.\n"
    repeated = past("dead", "revive", second, "--payload", '{"number": 9}', "--json").json
    assert (repeated["revived_from"], repeated["payload"]) == (second, {"number": 9})
    assert past("executions", "revive", first).code == 4
    assert past("dead", "revive", first, second, "--payload", "1").code == 2


def test_dead_letters_by_what_went_wrong(past):
    document = past("dead", "list", "--by-error", "--json").json
    assert [(each["count"], each["jobs"]) for each in document["items"]] == [(BAD - 1, 1), (1, 1)]
    assert document["items"][1]["signature"] == "KeyError: 'other'"
    rows = past("dead", "list", "--by-error").rows
    newest = document["items"][1]["newest"]
    assert rows[1] == ["1", "1", newest["ended_at"], newest["id"], "KeyError: 'other'"]


def test_a_group_is_revived(past):
    assert past("dead", "revive", "--error", "KeyError").code == 2
    done = past("dead", "revive", "--error", "KeyError", "--yes", "--json").json
    assert done == {"revived": 1, "left_out": 0, "refused": {}}
    assert len(ids(past, "dead")) == BAD - 1
    assert past("dead", "revive", "--all", "--yes", "--rate", 500).err == "Revived 4 executions.\n"
    nothing = past("dead", "list")
    assert (nothing.out, nothing.err) == ("", "No dead letters.\n")
    assert past("dead", "revive", "--all").err == "Revived 0 executions.\n"


@pytest.mark.parametrize("arguments", [[], ["x", "--all"], ["--all", "--payload", "{"]])
def test_a_revival_says_which(past, arguments):
    assert past("dead", "revive", *arguments).code == 2
    assert len(ids(past, "dead")) == BAD


def test_a_group_is_repeated_with_another_payload(past):
    given = ("--error", "KeyError", "--payload", '{"number": 9}', "--yes")
    assert past("dead", "revive", *given).err == "Repeated as new executions: 1 execution.\n"
    (old,) = past("dead", "list", "--by-error", "--json").json["items"][1:]
    listed = past("executions", "list", "--job", "broken", "--json").json["items"]
    (new,) = [each for each in listed if each["revived_from"]]
    assert (new["revived_from"], new["payload"]) == (old["newest"]["id"], {"number": 9})
    assert len(ids(past, "dead")) == BAD


def test_more_than_are_counted_are_all_that_match(past, monkeypatch):
    monkeypatch.setattr(DeadLetters, "groups", partialmethod(DeadLetters.groups, newest=2))
    assert "Delete all that match for good?" in past("dead", "purge", "--all").err
    assert "Revive all that match?" in past("dead", "revive", "--error", "nothing").err
    assert past("dead", "revive", "--all", "--yes").err == f"Revived {BAD} executions.\n"


def test_a_group_is_purged(past):
    assert past("dead", "purge", "--error", "KeyError").code == 2
    assert past("dead", "purge", "--error", "KeyError", "--yes", "--json").json == {"purged": 1}
    assert len(ids(past, "dead")) == BAD - 1
    assert past("dead", "purge", "--all", "--yes").err == f"Purged {BAD - 1} dead letters.\n"
    assert past("dead", "purge", "--all").err == "Purged 0 dead letters.\n"
    assert len(ids(past, "succeeded")) == GOOD


def test_a_purge_says_which(past):
    refused = past("dead", "purge", "--yes")
    assert refused.code == 2
    assert "no selection. Pass --all, --job" in refused.err
    assert len(ids(past, "dead")) == BAD


def test_what_is_revived_runs(past):
    (first, *_) = ids(past, "dead")
    past("dead", "revive", first)
    work(count=2)
    assert len(past("executions", "show", first, "--json").json["attempts"]) == 2


def test_backfill(tickwell, either):
    tickwell("jobs", "add", "hourly", "--every", "1h", "--call", "x")
    refused = tickwell("backfill", "hourly", "--since", "24h")
    assert (refused.code, refused.out) == (2, "")
    assert "Run 24 fire times of hourly that have not run, from 20" in refused.err
    assert tickwell("executions", "list", "--json").json["items"] == []
    done = tickwell("backfill", "hourly", "--since", "24h", "--json", "--yes").json
    assert (len(done["ids"]), done["left_alone"]) == (24, 0)
    again = tickwell("backfill", "hourly", "--since", "24h", "--yes")
    assert again.out == ""
    assert again.err == "0 executions will run now; 24 ran before and are skipped.\n"
    assert tickwell("backfill", "hourly", "--since", "+1h", "--yes").code == 2
    assert tickwell("backfill", "hourly", "--since", "24h").code == 0  # nothing to ask about
    assert tickwell("backfill", "hourly", "--since", "1h", "--force").code == 0  # all of it is live
    assert tickwell("backfill", "nothing", "--since", "1h").code == 3


def test_a_long_backfill_goes_on_where_it_was_cut(tickwell, either):
    tickwell("jobs", "add", "often", "--every", "1s", "--call", "x")
    found = tickwell("backfill", "often", "--since", "3h", "--json", "--yes")
    said = [line.partition(" so far, until 20")[0] for line in found.err.splitlines()]
    assert said == ["Counting: 10000", "Backfilling: 10000"]
    done = found.json
    assert len(done["ids"]) == 3 * 3600
    assert len(set(done["ids"])) == 3 * 3600


def test_a_backfill_of_too_many_runs_none(tickwell, either):
    tickwell("jobs", "add", "hourly", "--every", "1h", "--call", "x")
    refused = tickwell("backfill", "hourly", "--since", "24h", "--yes", "--most", "23")
    assert refused.code == 2
    assert "there are more than 23. Nothing was run. Choose a shorter range" in refused.err
    assert tickwell("executions", "list", "--json").json["items"] == []
    assert len(tickwell("backfill", "hourly", "--since", "24h", "--yes", "--most", "24").rows) == 24


def test_a_backfill_of_far_too_many_is_not_counted_to_its_end(tickwell, either):
    tickwell("jobs", "add", "often", "--every", "1s", "--call", "x")
    refused = tickwell("backfill", "often", "--since", "9000d", "--yes", "--most", "9999")
    assert refused.code == 2
    assert "there are more than 9999 before 20" in refused.err
    assert tickwell("executions", "list", "--json").json["items"] == []


async def stand_still(url):
    """One that gave up, one that was skipped by its condition, and one that waits for its rate."""
    store = make_store(url)
    await store.open()
    scene, now = Scene(store), await store.ping()
    jobs = [await scene.job(name, now=now, trigger=OnDemand()) for name in ("gave-up", "denied")]
    rated = await scene.job("rated", now=now, trigger=OnDemand(), rate="1/1h")
    await scene.run(*(a_request(job, now) for job in jobs), now=now)
    await scene.beat(now=now)
    for claim in await scene.claim(now):
        if claim.job.name == "denied":
            await scene.finish(claim, OutcomeKind.SKIPPED, now, started=False)
        else:
            error = "Traceback (most recent call last):\nGiveUp: the account is closed"
            await scene.fail(
                claim, now, error=error, retry=False, why_final="the account is closed"
            )
    await scene.run(*(a_request(rated, now) for _ in range(2)), now=now)
    await store.close()


def test_reasons_are_in_words(tickwell, folder):
    asyncio.run(stand_still(f"sqlite:///{folder}/tickwell.db"))
    rows = [(row[1], row[2], row[-1]) for row in tickwell("executions", "list").rows]
    waits = "its rate limit is used up; it starts as soon as the rate allows"
    assert ("gave-up", "dead", "gave up: the account is closed") in rows
    assert ("denied", "skipped", "condition") in rows
    assert ("rated", "blocked", waits) in rows
    reasons = {
        "dead": "gave up: the account is closed",
        "skipped": "its only_if condition answered no",
        "blocked": waits,
    }
    for state, words in reasons.items():
        (id,) = ids(tickwell, state)
        shown = {row[0]: row[1:] for row in tickwell("executions", "show", id).rows}
        assert shown["reason"] == [words]
    history = tickwell("jobs", "history", "gave-up").rows
    assert history[0][-1] == "gave up: the account is closed"
