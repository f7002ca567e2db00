"""What is done with jobs and executions over HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.api.conftest import CALL
from tickwell.clock import to_millis
from tickwell.domain.execution import Attempt, OutcomeKind, Start
from tickwell.domain.note import OUTPUT, PROGRESS, output_key
from tickwell.domain.step import CHECKPOINT, Step
from tickwell.ports.records import Record
from tickwell.services.access.actor import Permission
from tickwell.services.documents import execution_document, instant_text
from tickwell.services.executions.executions import Executions


async def test_pause_with_a_note_and_resume(world, http):
    await world.add()
    until = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    answer = await http.post("/jobs/report/pause", json={"note": "moving", "until": until})
    assert answer.status_code == 200, answer.text
    pause = answer.json()["job"]["pause"]
    assert (pause["by"], pause["why"]) == ("local", "moving")
    answer = await http.post("/jobs/report/resume")
    assert answer.json()["job"]["state"] == "active"
    again = await http.post("/jobs/report/resume")
    assert again.status_code == 409
    assert again.json()["type"] == "urn:tickwell:problem:wrong-state"
    past = await http.post("/jobs/report/pause", json={"until": "2020-01-01T00:00:00Z"})
    assert past.status_code == 422
    actions = [action for _, action, _ in world.journal.entries]
    assert actions == ["job.create", "job.pause", "job.resume"]


async def test_one_execution_is_read_with_progress_and_logs(world, http):
    await world.add()
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    now = world.clock.now()
    for attempt in (1, 2):
        lines = {"attempt": attempt, "lines": [f"line of {attempt}"]}
        key = output_key(id, attempt)
        await world.store.put_record(
            Record(kind=OUTPUT, project="default", key=key, document=lines), now
        )
    far = {"attempt": 2, "fraction": 0.5, "message": "half", "at": now}
    await world.store.put_record(
        Record(kind=PROGRESS, project="default", key=id, document=far), now
    )
    read = (await http.get(f"/executions/{id}")).json()
    assert read["logs"] == [
        {"attempt": 1, "first": 0, "lines": ["line of 1"]},
        {"attempt": 2, "first": 0, "lines": ["line of 2"]},
    ]
    assert read["progress"]["fraction"] == 0.5
    assert read["progress"]["message"] == "half"
    (listed,) = (await http.get("/executions")).json()["items"]
    assert "logs" not in listed


async def test_one_execution_is_read_with_its_steps(world, http):
    await world.add()
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    none = (await http.get(f"/executions/{id}")).json()
    assert (none["steps"], none["checkpoint"]) == ([], None)
    await world.claim()
    at = world.clock.now()
    steps = [
        Step(execution=id, attempt=1, name="charge", value={"receipt": "r-1"}, at=at),
        Step(execution=id, attempt=1, name=CHECKPOINT, value=3, at=at, is_final=False),
    ]
    assert await world.store.write_steps(steps) == []
    read = (await http.get(f"/executions/{id}")).json()
    assert read["steps"] == [
        {"name": "charge", "attempt": 1, "at": instant_text(at), "value": {"receipt": "r-1"}}
    ]
    assert read["checkpoint"]["value"] == 3
    (listed,) = (await http.get("/executions")).json()["items"]
    assert "steps" not in listed
    world.as_actor(Permission.OPERATE)
    cancelled = (await http.post(f"/executions/{id}/cancel")).json()
    assert (cancelled["steps"], cancelled["checkpoint"]) == ([], None)


async def test_lines_are_read_from_one_on(world, http):
    await world.add()
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    now = world.clock.now()

    async def put(key, first, *lines):
        document = {"attempt": 1, "first": first, "lines": lines}
        record = Record(kind=OUTPUT, project="default", key=key, document=document)
        await world.store.put_records([record], now)

    async def read(**query):
        answer = await http.get(f"/executions/{id}/output", params=query)
        assert answer.status_code == 200
        return answer.json()

    empty = {"items": [], "attempt": 1, "line": 0, "ended": False}
    assert await read() == empty
    await world.claim()
    await put(output_key(id, 1, 0), 0, "a", "b")
    await put(output_key(id, 1, 1), 2, "c")
    all_of_it = {"attempt": 1, "first": 0, "lines": ["a", "b", "c"]}
    assert await read() == empty | {"items": [all_of_it], "line": 3}
    assert await read(attempt=1, line=2) == empty | {
        "items": [{"attempt": 1, "first": 2, "lines": ["c"]}],
        "line": 3,
    }
    assert await read(attempt=1, line=3) == empty | {"line": 3}
    assert (await http.get(f"/executions/{id}/output?line=-1")).status_code == 422
    assert (await http.get("/executions/nobody/output")).status_code == 404
    world.as_actor(Permission.READ, project="other")
    assert (await http.get(f"/executions/{id}/output")).status_code == 404


async def test_lines_of_very_many_attempts_are_read_in_parts(world, http, monkeypatch):
    monkeypatch.setattr("tickwell.services.executions.executions._TAILED", 2)
    await world.add()
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    get = Executions.get

    async def get_fifth(self, project, id):
        return replace(await get(self, project, id), attempt=5)

    monkeypatch.setattr(Executions, "get", get_fifth)
    for attempt in range(1, 6):
        document = {"attempt": attempt, "first": 0, "lines": [f"line of {attempt}"]}
        key = output_key(id, attempt)
        record = Record(kind=OUTPUT, project="default", key=key, document=document)
        await world.store.put_records([record], world.clock.now())
    found, at = [], {"attempt": 1, "line": 0}
    for _ in range(3):
        answer = (await http.get(f"/executions/{id}/output", params=at)).json()
        found.append([each["attempt"] for each in answer["items"]])
        at = {"attempt": answer["attempt"], "line": answer["line"]}
    assert found == [[1, 2], [3, 4], [5]]
    assert at == {"attempt": 5, "line": 1}


async def test_a_running_one_says_since_when_and_until_when(world, http):
    await world.add(timeout={"soft": "10s", "hard": "20s"})
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    [claim] = await world.claim()
    started = to_millis(datetime.fromisoformat("2026-01-01T00:00:00+00:00"))
    await world.store.record_starts([Start(claim.id, claim.attempt, started)])
    read = (await http.get(f"/executions/{id}")).json()
    assert read["started_at"].startswith("2026-01-01T00:00:00")
    assert read["soft_deadline"].startswith("2026-01-01T00:00:10")
    assert read["hard_deadline"].startswith("2026-01-01T00:00:20")


async def test_every_attempt_has_its_own_response(world, http):
    await world.add()
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    read = (await http.get(f"/executions/{id}")).json()
    assert read["attempts"] == []
    busy = {"status": 503, "headers": {"Retry-After": "1"}, "body": "busy", "bytes": 4}
    good = {"status": 200, "headers": {}, "body": "ok", "bytes": 2}
    sent = [
        Attempt(number=n, outcome=kind, worker="w", started_at=1, ended_at=2, result=result)
        for n, (kind, result) in enumerate(
            [(OutcomeKind.FAILED, busy), (OutcomeKind.LOST, None), (OutcomeKind.SUCCEEDED, good)], 1
        )
    ]
    execution = await world.store.get_execution("default", id)
    execution.ability, execution.attempts = "http", sent
    shown = execution_document(execution, attempts=True)["attempts"]
    assert [each["response"] for each in shown] == [busy, None, good]
    execution.ability = "call:x"
    shown = execution_document(execution, attempts=True)["attempts"]
    assert [each["response"] for each in shown] == [None, None, None]


async def test_a_triggered_run_is_seen_to_its_end(world, http):
    await world.add(payload={"a": 1})
    answer = await http.post("/jobs/report/trigger", json={"payload": {"a": 2}})
    assert answer.json()["job_name"] == "report"
    assert answer.status_code == 202
    id = answer.json()["id"]
    await world.run(result={"done": True})
    execution = (await http.get(answer.headers["location"].removeprefix("/api/v1"))).json()
    assert execution["id"] == id
    assert execution["state"] == "succeeded"
    assert execution["payload"] == {"a": 2}
    assert execution["job_name"] == "report"
    assert [each["outcome"] for each in execution["attempts"]] == ["succeeded"]
    history = (await http.get("/jobs/report/history")).json()["items"]
    assert [each["id"] for each in history] == [id]
    plain = (await http.post("/jobs/report/trigger")).json()["id"]
    assert (await http.get(f"/executions/{plain}")).json()["payload"] == {"a": 1}
    listed = (await http.get("/executions", params={"state": "succeeded", "job": "report"})).json()
    assert [each["job_name"] for each in listed["items"]] == ["report"]
    assert (await http.get("/executions", params={"state": "dead"})).json()["items"] == []


async def test_a_run_is_asked_for_later_and_cancelled(world, http):
    await world.add()
    answer = await http.post("/jobs/report/trigger", json={"in": "1h"})
    execution = answer.json()
    assert execution["state"] == "waiting"
    assert execution["run_at"] > execution["created_at"]
    cancelled = await http.post(f"/executions/{execution['id']}/cancel")
    assert cancelled.json()["state"] == "cancelled"
    again = await http.post(f"/executions/{execution['id']}/cancel")
    assert again.status_code == 409
    both = await http.post("/jobs/report/trigger", json={"in": "1h", "at": "2030-01-01T00:00:00Z"})
    assert both.status_code == 422
    assert (await http.post("/jobs/nobody/trigger")).status_code == 404


async def test_executions_are_paged(world, http):
    await world.add()
    for _ in range(5):
        await http.post("/jobs/report/trigger")
    seen, cursor = [], None
    while True:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await http.get("/executions", params=query)).json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, reverse=True)


async def test_fire_times_slots_and_backfill(world, http):
    now = datetime.now(UTC)
    # Half an hour from now, so that no fire time passes while the test runs.
    phase = f"{(now.minute * 60 + now.second + 1800) % 3600}s"
    await world.add("hourly", trigger={"every": "1h", "phase": phase}, target=CALL)
    fires = (await http.get("/jobs/hourly/next", params={"count": 3})).json()["items"]
    assert len(fires) == 3
    span = {"since": (now - timedelta(hours=3)).isoformat(), "until": now.isoformat()}
    dry = await http.post("/jobs/hourly/backfill", json=span | {"dry_run": True})
    assert dry.json() == {"ids": [], "count": 3, "left_alone": 0, "next": None}
    assert (await http.get("/executions")).json()["items"] == []
    done = await http.post("/jobs/hourly/backfill", json=span)
    assert done.status_code == 202, done.text
    assert len(done.json()["ids"]) == 3
    later = span | {"until": (now + timedelta(hours=2)).isoformat()}
    slots = (await http.get("/jobs/hourly/slots", params=later)).json()
    answers = [slot["answer"] for slot in slots["items"]]
    assert answers == ["executed"] * 3 + ["upcoming"] * 2
    assert slots["completeness"]["due"] == slots["completeness"]["executed"] == 3
    empty = await http.get("/jobs/hourly/slots", params={"since": span["until"], "until": "x"})
    assert empty.status_code == 422
    assert (await http.get("/jobs/hourly/slots")).status_code == 422


async def test_previews_say_what_would_happen(http):
    query = {"expr": "30 2 1 * mon", "tz": "Europe/Rome", "count": 2}
    preview = (await http.get("/cron/preview", params=query)).json()
    assert len(preview["fires"]) == 2
    assert "Monday" in preview["words"] or "monday" in preview["words"].lower()
    assert any("either one matches" in each for each in preview["warnings"])
    body = {"trigger": {"every": "5m"}, "count": 3}
    assert len((await http.post("/triggers/preview", json=body)).json()["fires"]) == 3
    wrong = await http.post("/triggers/preview", json={"trigger": {"every": "no"}})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"] == "/trigger/every"
    assert (await http.get("/cron/preview", params={"expr": "* * 31 2 *"})).status_code == 422
