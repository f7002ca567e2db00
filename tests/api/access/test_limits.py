"""Limits of a project, as they are met over the API."""

from tests.api.access.conftest import OWNER
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.planning import plan
from tickwell.services.access.actor import Role
from tickwell.services.documents import instant_text
from tickwell.services.limits.quota import Quota

CALL = {"call": {"handler": "x"}}


async def add(house, shown, name, **fields):
    body = {"name": name, "trigger": {"every": "1h"}, "target": CALL} | fields
    return await house.http.post("/jobs", json=body, headers=shown)


async def test_jobs_that_were_deleted_or_refused_are_not_counted(house):
    await house.admin.limits.set(OWNER, "a", Quota(jobs=3))
    shown = await house.key("a", Role.EDITOR)
    for number in range(5):
        assert (await add(house, shown, f"job-{number}")).status_code == 201
        options = {"headers": shown | {"if-match": "*"}}
        assert (await house.http.delete(f"/jobs/job-{number}", **options)).status_code == 200
    codes = [(await add(house, shown, name)).status_code for name in "aaaaabcd"]
    assert codes == [201, 409, 409, 409, 409, 201, 201, 429]


async def test_one_is_told_as_one(house):
    shown = await house.key("a", Role.EDITOR)
    await house.admin.limits.set(OWNER, "a", Quota(jobs=1, runs_per_minute=1))
    assert (await add(house, shown, "first")).status_code == 201
    second = await add(house, shown, "second")
    assert "a project has 1 job at most here. Delete other jobs, or" in second.json()["detail"]
    assert (await house.http.post("/jobs/first/trigger", headers=shown)).status_code == 202
    again = await house.http.post("/jobs/first/trigger", headers=shown)
    assert (
        "1 run may be requested in a minute, and there is no room for 1 more yet"
        in (again.json()["detail"])
    )


async def test_a_finished_job_that_fires_again_is_one_more(house):
    limits = house.admin.limits
    shown = await house.key("a", Role.EDITOR)
    assert (await add(house, shown, "past", trigger={"on_demand": True})).status_code == 201
    once = {"once": instant_text(house.world.clock.now())}
    assert (await add(house, shown, "over", trigger=once)).status_code == 201
    now = house.world.clock.now()
    await house.world.store.fire_due(now, 0, 1, lambda job, cursor: plan(job, cursor, now, 0))
    over = await house.http.get("/jobs/over", headers=shown)
    assert over.json()["state"] == "finished"
    await limits.set(OWNER, "a", Quota(jobs=1))
    sent = {"headers": shown | {"if-match": "*"}}
    told = await house.http.patch("/jobs/over", json={"description": "old"}, **sent)
    assert told.status_code == 200, told.text
    body = {"name": "over", "trigger": {"every": "1h"}, "target": CALL}
    again = await house.http.put("/jobs/over", json=body, **sent)
    assert again.status_code == 429, again.text


async def test_a_backfill_asks_for_as_many_runs_as_it_makes(house):
    shown = await house.key("a", Role.EDITOR)
    assert (await add(house, shown, "old")).status_code == 201
    await house.admin.limits.set(OWNER, "a", Quota(runs_per_minute=24))
    body = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T01:00:00Z"}
    tried = await house.http.post(
        "/jobs/old/backfill", json=body | {"dry_run": True}, headers=shown
    )
    assert tried.json()["count"] == 25, tried.text
    refused = await house.http.post("/jobs/old/backfill", json=body, headers=shown)
    assert refused.status_code == 429
    assert "24 runs may be requested in a minute; 25 were asked for" in refused.json()["detail"]
    assert (await house.http.get("/executions", headers=shown)).json()["items"] == []
    body["until"] = "2026-01-02T00:00:00Z"
    done = await house.http.post("/jobs/old/backfill", json=body, headers=shown)
    assert done.status_code == 202
    assert len(done.json()["ids"]) == 24


async def test_who_revives_asks_for_runs(house):
    shown = await house.key("a", Role.EDITOR)
    retry, trigger = {"max_attempts": 1}, {"on_demand": True}
    assert (await add(house, shown, "old", retry=retry, trigger=trigger)).status_code == 201
    for _ in range(3):
        await house.http.post("/jobs/old/trigger", headers=shown)
    dead = [claim.id for claim in await house.world.run(OutcomeKind.FAILED, error="no")]
    await house.admin.limits.set(OWNER, "a", Quota(runs_per_minute=2))
    many = await house.http.post("/dead-letters/revive", headers=shown)
    assert "2 runs may be requested in a minute; 3 were asked for" in many.json()["detail"]
    slowly = await house.http.post("/dead-letters/revive", json={"rate": 0.02}, headers=shown)
    assert slowly.status_code == 202, slowly.text  # two in its first minute
    one = await house.http.post(f"/executions/{dead[0]}/revive", headers=shown)
    assert one.status_code == 429, one.text
