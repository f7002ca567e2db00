"""Where nobody is asked who they are, a request still names its project."""

from tests.api.conftest import CALL
from tickwell.domain.document import job_from_document
from tickwell.web.access import local_admin

JOB = {"name": "report", "trigger": {"on_demand": True}, "target": CALL}


async def names(http, **headers):
    answer = await http.get("/jobs", headers=headers)
    return [job["name"] for job in answer.json()["items"]]


async def test_the_header_is_honoured(house):
    house.world.context.authenticate = local_admin
    http, theirs = house.http, {"x-tickwell-project": "a"}
    assert (await http.post("/jobs", json=JOB, headers=theirs)).status_code == 201
    assert await names(http, **theirs) == ["report"]
    assert await names(http) == await names(http, **{"x-tickwell-project": "b"}) == []
    unknown = {"x-tickwell-project": "nope"}
    answer = await http.post("/jobs", json=JOB, headers=unknown)
    assert (answer.status_code, answer.json()["detail"]) == (404, "no project 'nope'")
    assert (await http.get("/jobs", headers=unknown)).status_code == 404


async def test_the_platform_is_in_no_project(house):
    house.world.context.authenticate = local_admin
    new = {"x-tickwell-project": "new"}
    assert (await house.http.get("/projects", headers=new)).status_code == 200
    made = await house.http.post("/projects", json={"name": "new"}, headers=new)
    assert made.status_code == 201
    assert await names(house.http, **new) == []


async def test_so_is_a_project_that_only_an_application_uses(house):
    house.world.context.authenticate = local_admin
    job = job_from_document(JOB | {"name": "tick", "project": "from-code", "id": ""})
    from_code = {"x-tickwell-project": "from-code"}
    assert (await house.http.get("/jobs", headers=from_code)).status_code == 404
    await house.world.operation_context.jobs.add(job)
    assert await names(house.http, **from_code) == ["tick"]
