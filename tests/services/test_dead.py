"""Dead letters, grouped, revived and purged."""

from functools import partial

import pytest

from tickwell import OnDemand
from tickwell.domain.execution import Execution, Kind, OutcomeKind, State
from tickwell.services.executions.dead_letters import DeadFilter, DeadLetters, signature


def died(error=None, reason=None):
    return Execution(
        id="x",
        project="default",
        job_id="j",
        job_version=1,
        kind=Kind.REQUEST,
        state=State.DEAD,
        fire_time=0,
        run_at=0,
        queue="default",
        ability="call:x",
        created_at=0,
        error=error,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("error", "found"),
    [
        ("HTTP 503 Service Unavailable: try in 30 s", "HTTP 503 Service Unavailable: try in N s"),
        ('Traceback (most recent call last):\n  File "a", line 3\nKeyError: 17', "KeyError: N"),
        ("…ile 'a', line 3\nKeyError: 'x'", "KeyError: 'x'"),
        ('Traceback:\n  File "a", line 3\n    f()\nKeyError: 1\nmore\n', "KeyError: N"),
        (
            "  + Exception Group Traceback:\n  | T (2 sub-exceptions)\n    | KeyError: 7\n",
            "T (N sub-exceptions): KeyError: N",
        ),
        ("no order 0197c0de-0000-7000-8000-000000000000", "no order ID"),
        ("10.0.0.7:443 cannot be reached: refused", "N cannot be reached: refused"),
        ("no \x1b[31mroute\u202e", "no \\x1b[Nmroute\\u202e"),
        ("\n\n", "died without an error message"),
    ],
)
def test_a_signature_keeps_what_went_wrong(error, found):
    assert signature(died(error)) == found


def test_without_an_error_the_reason_counts():
    assert signature(died(reason="lost 3 times")) == "lost N times"
    assert signature(died()) == "died without an error message"


@pytest.fixture
async def dead(world):
    """Seven that died of two things, in two jobs, and one that lives."""
    for name in ("a", "b"):
        await world.jobs.add(world.job(OnDemand(), name=name))
    for number in range(7):
        await world.executions.trigger("default", "ab"[number % 2])
        await world.store.promote(world.clock.now(), 0, 100)
        error = f"HTTP 500 Oops: {number}" if number < 5 else "ValueError: no"
        assert len(await world.run(OutcomeKind.FAILED, error=error, retry=False)) == 1
    await world.executions.trigger("default", "a")
    return DeadLetters(world.store, world.clock, world.wake)


async def test_groups_are_counted_the_largest_first(world, dead):
    groups = await dead.groups("default")
    assert [(group.signature, group.count, group.jobs) for group in groups.items] == [
        ("HTTP 500 Oops: N", 5, 2),
        ("ValueError: no", 2, 2),
    ]
    assert groups.items[1].newest.error == "ValueError: no"
    assert (groups.looked_at, groups.more) == (7, False)
    assert (await dead.groups("other")).items == []


async def test_of_very_many_the_newest_are_grouped_and_the_answer_says_so(world, dead):
    groups = await dead.groups("default", newest=3)
    assert sum(group.count for group in groups.items) == 3
    assert (groups.looked_at, groups.more) == (3, True)
    chosen = await dead.groups("default", DeadFilter(search="nothing"), newest=2)
    assert (chosen.items, chosen.looked_at, chosen.more) == ([], 2, True)
    assert not (await dead.groups("default", newest=7)).more


async def test_a_group_is_revived_and_the_rest_stays_dead(world, dead):
    where, seen = DeadFilter(signature="HTTP 500 Oops: N"), list[int]()
    assert await dead.count("default", where) == 5
    assert await dead.revive_matching("default", where, progress=seen.append) == 5
    assert seen == [5]
    assert (await world.store.stats("default"))[State.DEAD] == 2
    assert await dead.revive_matching("default", where) == 0


async def test_a_rate_is_kept_by_rests(world, dead):
    rests = []

    async def rest(seconds):
        rests.append(seconds)

    revived = await dead.revive_matching("default", DeadFilter(), rate=2, rest=rest)
    assert revived == 7
    assert rests == [1.0, 1.0, 0.5]


async def test_a_part_of_the_error_is_a_filter(world, dead):
    assert await dead.count("default", DeadFilter(search="Error")) == 2
    assert await dead.count("default", DeadFilter(search="eRROR")) == 2
    assert await dead.count("default", DeadFilter(search="oops: 3")) == 1
    assert await dead.count("default", DeadFilter(search="500", signature="ValueError: no")) == 0


async def test_a_job_is_a_filter(world, dead):
    job = (await world.jobs.get("default", "b")).job
    assert await dead.count("default", DeadFilter(job_id=job.id)) == 3
    assert await dead.count("default", DeadFilter(until=world.clock.now())) == 0


async def test_a_group_is_purged_and_the_rest_stays(world, dead):
    where = DeadFilter(signature="HTTP 500 Oops: N")
    assert await dead.purge_matching("default", where, 100) == (5, False)
    assert await dead.purge_matching("default", where, 100) == (0, False)
    stats = await world.store.stats("default")
    assert (stats[State.DEAD], stats[State.WAITING] + stats[State.QUEUED]) == (2, 1)


async def test_a_purge_stops_at_its_limit_and_says_so(world, dead):
    dead.matching = partial(dead.matching, page=2)
    assert await dead.purge_matching("default", DeadFilter(), 3) == (4, True)
    assert await dead.purge_matching("default", DeadFilter(), 3) == (3, False)
