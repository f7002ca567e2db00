"""Route by role by project, made from the description of the API itself."""

import re

import pytest

from tickwell.services.access.permission import Permission, Role, permissions_of

#: Answers without an end, which a client that waits for the whole answer never gets.
STREAMS = {"stream_events"}
METHODS = {"get", "post", "put", "patch", "delete"}


def operations(app):
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            if method in METHODS and operation["operationId"] not in STREAMS:
                yield method, path, operation


def filled(path, value="none"):
    return re.sub(r"\{\w+\}", value, path)


async def ask(house, method, path, headers):
    """Off the prefix of the client: paths are whole here."""
    url = f"http://test{filled(path)}"
    return await house.http.request(method, url, headers=headers)


async def test_every_operation_declares_one_permission(house):
    known = {each.value for each in Permission} | {"public"}
    declared = [operation["x-permission"] for _, _, operation in operations(house.world.app)]
    assert len(declared) > 40
    assert set(declared) == known


@pytest.mark.parametrize("role", Role)
async def test_each_role_may_do_what_it_may_and_nothing_else(house, role):
    shown = await house.key("a", role)
    held = {each.value for each in permissions_of(role)} | {"public"}
    wrong = []
    for method, path, operation in operations(house.world.app):
        answer = await ask(house, method, path, shown)
        allowed = operation["x-permission"] in held
        refused = answer.status_code == 403
        if refused is allowed or answer.status_code in {401, 429} or answer.status_code >= 500:
            wrong.append((method, path, operation["x-permission"], answer.status_code))
    assert wrong == []


async def test_a_platform_admin_who_is_no_member_may_do_only_that(house):
    from tests.api.access.conftest import OWNER

    await house.administration.users.create(OWNER, "boss", platform=True)
    wrong = []
    for method, path, operation in operations(house.world.app):
        if operation["x-permission"] == "public":
            continue
        session = await house.login("boss")
        answer = await ask(house, method, path, session)
        if (answer.status_code == 403) is (operation["x-permission"] == "platform"):
            wrong.append((method, path, answer.status_code))
        house.administration.logins._addresses._levels.clear()
    assert wrong == []


async def test_nobody_gets_anything_but_what_is_public(house):
    house.limits._strangers = None
    wrong = []
    for method, path, operation in operations(house.world.app):
        answer = await ask(house, method, path, {})
        if (answer.status_code == 401) is (operation["x-permission"] == "public"):
            wrong.append((method, path, answer.status_code))
    # Without a body nobody logs in, and a body is looked at first.
    assert wrong == []


async def test_a_key_of_another_project_gets_not_found(house):
    shown = await house.key("b", Role.ADMIN)
    wrong = []
    for method, path, operation in operations(house.world.app):
        if operation["x-permission"] == "public":
            continue
        answer = await ask(house, method, path, shown | {"x-tickwell-project": "a"})
        if answer.status_code != 404:
            wrong.append((method, path, answer.status_code))
    assert wrong == []


async def test_who_lacks_what_the_platform_has_is_told_what_would_do(house):
    refused = await house.http.get("/projects", headers=await house.key("a", Role.ADMIN))
    assert refused.status_code == 403
    what_would_do = "log in as a platform admin, or show a token of one: no key has it"
    assert what_would_do in refused.json()["detail"]
    session = await house.login("root")
    token = (await house.http.post("/tokens", headers=session)).json()["token"]
    shown = {"authorization": f"Bearer {token}"}
    assert (await house.http.get("/projects", headers=shown)).status_code == 200
