"""Operation by role by project, made from the declarations themselves."""

import re

import pytest

from tickwell.api.routes import ALL
from tickwell.services.access.actor import Permission, Role, permissions_of

#: Answers without an end, which a client that waits for the whole answer never gets.
STREAMS = {"stream_events"}
METHODS = {"get", "post", "put", "patch", "delete"}


def operations(app):
    """What the API describes, for tests that need its schemas."""
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            if method in METHODS and operation["operationId"] not in STREAMS:
                yield method, path, operation


def declared():
    """Every declared operation: its method, its path, and the permission that it needs."""
    for each in ALL:
        if each.id not in STREAMS:
            path = each.path if each.at_root else f"/api/v1{each.path}"
            permission = "public" if each.permission is None else each.permission.value
            yield each.method.lower(), path, permission


def filled(path, value="none"):
    return re.sub(r"\{\w+\}", value, path)


async def ask(house, method, path, headers):
    """Off the prefix of the client: paths are whole here."""
    url = f"http://test{filled(path)}"
    return await house.http.request(method, url, headers=headers)


async def test_the_api_describes_each_operation_as_declared(house):
    wanted = {(method, path): permission for method, path, permission in declared()}
    described = {
        (method, path): operation["x-permission"]
        for method, path, operation in operations(house.world.app)
    }
    assert set(wanted.values()) == {each.value for each in Permission} | {"public"}
    assert described == {each: wanted[each] for each in described}
    hidden = {path for _, path in wanted.keys() - described.keys()}
    assert hidden == {"/api/v1", "/api/v1/openapi.json", "/metrics/prometheus"}


@pytest.mark.parametrize("role", Role)
async def test_each_role_may_do_what_it_may_and_nothing_else(house, role):
    shown = await house.key("a", role)
    held = {each.value for each in permissions_of(role)} | {"public"}
    wrong = []
    for method, path, permission in declared():
        answer = await ask(house, method, path, shown)
        allowed = permission in held
        refused = answer.status_code == 403
        if refused is allowed or answer.status_code in {401, 429} or answer.status_code >= 500:
            wrong.append((method, path, permission, answer.status_code))
    assert wrong == []


async def test_a_platform_admin_who_is_no_member_may_do_only_that(house):
    from tests.api.access.conftest import OWNER

    await house.admin.users.create(OWNER, "boss", platform=True)
    wrong = []
    for method, path, permission in declared():
        if permission == "public":
            continue
        session = await house.login("boss")
        answer = await ask(house, method, path, session)
        if (answer.status_code == 403) is (permission == "platform"):
            wrong.append((method, path, answer.status_code))
        house.admin.logins._addresses._levels.clear()
    assert wrong == []


async def test_nobody_gets_anything_but_what_is_public(house):
    house.limits._strangers = None
    wrong = []
    for method, path, permission in declared():
        answer = await ask(house, method, path, {})
        if (answer.status_code == 401) is (permission == "public"):
            wrong.append((method, path, answer.status_code))
    # Without a body nobody logs in, and a body is looked at first.
    assert wrong == []


async def test_a_key_of_another_project_gets_not_found(house):
    shown = await house.key("b", Role.ADMIN)
    wrong = []
    for method, path, permission in declared():
        if permission == "public":
            continue
        answer = await ask(house, method, path, shown | {"x-tickwell-project": "a"})
        if answer.status_code != 404:
            wrong.append((method, path, answer.status_code))
    assert wrong == []


async def test_who_lacks_what_the_platform_has_is_told_what_would_do(house):
    refused = await house.http.get("/projects", headers=await house.key("a", Role.ADMIN))
    assert refused.status_code == 403
    what_would_do = "log in as a platform admin; no API key has it"
    assert what_would_do in refused.json()["detail"]
    session = await house.login("root")
    token = (await house.http.post("/tokens", headers=session)).json()["token"]
    shown = {"authorization": f"Bearer {token}"}
    assert (await house.http.get("/projects", headers=shown)).status_code == 200
