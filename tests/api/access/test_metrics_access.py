"""Who sees which metrics: a key of one project nothing of another."""

from tests.api.conftest import METRICS_TOKEN
from tests.observe.metrics.reports import a_report
from tickwell.domain.event import AttemptsFinished
from tickwell.services.access.actor import Role

BEARER = {"authorization": f"Bearer {METRICS_TOKEN}"}


async def text_for(house, headers, path="/metrics/prometheus"):
    answer = await house.http.get(f"http://test{path}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_a_key_sees_its_own_project_only(house):
    events = house.world.events
    events.emit(AttemptsFinished(reports=[a_report(project="a", queue="queue-of-a")]))
    events.emit(AttemptsFinished(reports=[a_report(project="b", queue="queue-of-b")]))
    text = await text_for(house, await house.key("a", Role.VIEWER))
    assert 'tickwell_executions_total{queue="queue-of-a",state="succeeded"} 1.0' in text
    assert "queue-of-b" not in text
    for of_platform in ("tickwell_store_operation", "tickwell_workers", "tickwell_build_info"):
        assert of_platform not in text
    everything = await text_for(house, BEARER)
    assert "queue-of-a" in everything
    assert "queue-of-b" in everything
    assert "tickwell_store_operation_seconds" in everything


async def test_a_platform_admin_sees_everything(house):
    session = await house.login("root")
    assert "tickwell_build_info" in await text_for(house, session)


async def test_json_is_of_the_project_too(house):
    shown = await house.key("a", Role.EDITOR)
    body = {"name": "x", "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}
    assert (await house.http.post("/jobs", json=body, headers=shown)).status_code == 201
    for role, project, count in ((Role.VIEWER, "a", 1), (Role.VIEWER, "b", 0)):
        key = await house.key(project, role)
        answer = await house.http.get("http://test/metrics", headers=key)
        assert answer.json()["jobs"]["total"] == count


async def test_without_credentials_nothing_is_told(house):
    answer = await house.http.get("http://test/metrics")
    assert answer.status_code == 401
