"""Batches of ends that are written by a few statements, whatever is among them."""

from dataclasses import replace

from tickwell.domain.change import edit
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import report

KEPT = [
    "state",
    "reason",
    "started_at",
    "ended_at",
    "error",
    "result",
    "charged",
    "lost",
    "returned",
]


async def claimed(scene, count=9):
    job = await scene.job(trigger=OnDemand())
    await scene.run(*(a_request(job, T0) for _ in range(count)))
    return job, await scene.claim(T0)


async def test_each_has_its_own_end_whatever_the_others_of_its_batch_have(scene, store):
    _, claims = await claimed(scene)
    reports = [report(claim, OutcomeKind.SUCCEEDED, T0 + n) for n, claim in enumerate(claims)]
    for n in (1, 4):
        reports[n] = report(
            claims[n], OutcomeKind.FAILED, T0 + n, retry=False, error=f"é{n}", result={"n": [n]}
        )
    reports[7] = report(claims[7], OutcomeKind.CANCELLED, T0 + 7, error="asked for")
    reports[7].started_at = None
    reports[2].result, reports[3].result = {"text": "\0"}, 3
    reports.reverse()
    assert (await store.finish(reports, T0)).refused == []
    for given in reports:
        kept = await scene.execution(given.claim)
        assert {name: getattr(kept, name) for name in KEPT} == {
            name: getattr(given, name) for name in KEPT
        }
    counts = await store.stats()
    ended = [counts[state] for state in (State.SUCCEEDED, State.DEAD, State.CANCELLED)]
    assert ended == [6, 2, 1]


async def test_only_what_stands_is_ended_and_counted(scene, store):
    _, claims = await claimed(scene)
    reports = [report(claim, OutcomeKind.SUCCEEDED, T0) for claim in claims]
    reports[3].claim.attempt = 2
    again = report(claims[5], OutcomeKind.FAILED, T0 + 9, retry=False)
    finished = await store.finish([*reports, again], T0)
    assert finished.refused == [reports[3], again]
    assert (await store.finish(reports[:2], T0)).refused == []
    assert (await store.stats())[State.SUCCEEDED] == 8
    assert sorted(await scene.states()) == [State.RUNNING] + [State.SUCCEEDED] * 8


async def test_two_definitions_of_a_job_may_end_in_one_batch(scene, store):
    job, claims = await claimed(scene, 3)
    await scene.change(job, edit(replace(job, priority=7)), T0)
    (entry,) = await store.get_jobs("default", [job.id])
    (newer,) = await scene.run(a_request(entry.job, T0))
    claims += await scene.claim(T0)
    assert len({claim.job.version for claim in claims}) == 2
    reports = [report(claim, OutcomeKind.SUCCEEDED, T0) for claim in claims]
    assert (await store.finish(reports, T0)).refused == []
    assert await scene.states() == [State.SUCCEEDED] * 4
    assert (await scene.execution(newer)).state is State.SUCCEEDED
