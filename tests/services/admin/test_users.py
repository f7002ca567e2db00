import pytest

from tests.services.admin.conftest import TEN, together
from tickwell.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitReached,
    NotFound,
    Unauthenticated,
)
from tickwell.services.access.actor import Role, stranger
from tickwell.services.access.sessions import ABSOLUTE, IDLE, csrf_token
from tickwell.services.admin.admin import bootstrap

GOOD = "correct horse battery"


async def add(office, service, name="ada@example.com", **options):
    return await service.users.create(office.owner(), name, password=GOOD, **options)


async def login(service, name="ada@example.com", password=GOOD, **options):
    return await service.logins.by_password(name, password, asker=stranger("192.0.2.1"), **options)


async def test_a_password_logs_in_and_a_session_is_found(office, service):
    await add(office, service)
    id = await login(service, " Ada@Example.com")
    user = await office.open().sessions.find(id)
    assert user is not None
    assert user.name == "ada@example.com"
    assert await service.sessions.find("made up") is None


async def test_neither_password_nor_session_stands_in_the_store(office, service):
    await add(office, service)
    id = await login(service)
    kinds = ("user", "session", "audit")
    stored = str([await office.store.list_records(kind, "_platform", "", TEN) for kind in kinds])
    assert id not in stored
    assert GOOD not in stored
    assert "argon2id" in stored


async def test_what_is_wrong_is_not_said(office, service):
    await add(office, service)
    await add(office, service, "gone@example.com")
    await service.users.change(office.owner(), "gone@example.com", disabled=True)
    await service.users.create(office.owner(), "linked@example.com")
    said = set()
    for name in ("ada@example.com", "nobody@example.com", "linked@example.com"):
        with pytest.raises(Unauthenticated) as error:
            await login(service, name, "wrong password")
        said.add(str(error.value))
    with pytest.raises(Unauthenticated) as error:
        await login(service, "gone@example.com")
    assert said == {str(error.value)}


async def test_an_unknown_user_costs_as_much_as_a_known_one(office, service):
    await add(office, service)
    seen = []
    verify = service.logins._passwords._verify

    def counted(*args):
        seen.append(1)
        return verify(*args)

    service.logins._passwords._verify = counted
    for name in ("ada@example.com", "nobody@example.com"):
        with pytest.raises(Unauthenticated):
            await login(service, name, "wrong password")
    assert seen == [1, 1]


@pytest.mark.parametrize("name", ["ada@example.com", "nobody@example.com"])
async def test_guessing_is_slow_for_every_name_alike(office, service, name):
    await add(office, service)
    for _ in range(10):
        with pytest.raises(Unauthenticated):
            await login(service, name, "wrong password")
    with pytest.raises(LimitReached) as error:
        await login(service, name)
    assert error.value.retry_after == 90
    office.clock.instant += 90_000
    with pytest.raises(Unauthenticated):
        await login(service, name, "wrong password")


async def test_guessing_is_slow_from_one_address(office, service):
    for number in range(30):
        with pytest.raises(Unauthenticated):
            await login(service, f"user{number}", "wrong password")
    with pytest.raises(LimitReached):
        await login(service, "another", "wrong password")


async def test_a_session_ends_when_nobody_uses_it_and_when_it_is_old(office, service):
    await add(office, service)
    idle, used = await login(service), await login(service)
    office.clock.instant += IDLE - 1
    assert await service.sessions.find(used)
    office.clock.instant += 1
    assert await service.sessions.find(idle) is None
    while office.clock.instant < TEN + ABSOLUTE - IDLE:
        office.clock.instant += IDLE // 2
        assert await service.sessions.find(used)
    office.clock.instant = TEN + ABSOLUTE
    assert await service.sessions.find(used) is None


async def test_logging_in_gives_a_new_session_and_ends_the_one_before(office, service):
    await add(office, service)
    old = await login(service)
    new = await login(service, old=old)
    assert new != old
    assert await service.sessions.find(old) is None
    assert await service.sessions.find(new)


async def test_logging_out_ends_it_everywhere(office, service):
    await add(office, service)
    other, id = office.open(), await login(service)
    assert await other.sessions.find(id)
    assert await service.sessions.end(id)
    assert await service.sessions.find(id) is None
    office.clock.instant += 61_000
    assert await other.sessions.find(id) is None
    assert await office.open().sessions.find(id) is None


async def test_a_session_that_is_noted_as_used_while_it_is_ended_stays_ended(office, service):
    await add(office, service)
    other, id = office.open(), await login(service)
    office.clock.instant += 60_000 - 1
    assert await other.sessions.find(id)  # remembered there
    office.clock.instant += 1
    await service.sessions.end(id)
    await other.sessions.find(id)
    assert await office.open().sessions.find(id) is None


@pytest.mark.parametrize("change", ["disable", "password", "remove"])
async def test_what_changes_a_user_ends_their_sessions(office, service, change):
    await add(office, service)
    id = await login(service)
    ada = office.actor(name="user:ada@example.com")
    if change == "disable":
        await service.users.change(office.owner(), "ada@example.com", disabled=True)
    elif change == "password":
        await service.users.set_password(ada, "ada@example.com", GOOD, "another long one")
        assert await login(service, password="another long one")
    else:
        await service.users.remove(office.owner(), "ada@example.com")
        office.clock.instant += 1
        await add(office, service)  # somebody else of that name
    assert await service.sessions.find(id) is None


async def test_a_password_is_changed_by_its_owner_who_knows_it(office, service):
    await add(office, service)
    with pytest.raises(NotFound):
        await service.users.set_password(office.actor(), "ada@example.com", GOOD, "another one!!")
    ada = office.actor(name="user:ada@example.com")
    with pytest.raises(Unauthenticated):
        await service.users.set_password(ada, "ada@example.com", "wrong", "another one!!")
    with pytest.raises(InvalidInput, match=r"^new: .* 12 to 1024"):
        await service.users.set_password(ada, "ada@example.com", GOOD, "short")
    assert await login(service)


async def test_a_link_is_good_once_and_not_for_long(office, service):
    await add(office, service)
    token = await service.users.link(office.owner(), "ada@example.com")
    late = await service.users.link(office.owner(), "ada@example.com")
    answers = await together(
        *(service.logins.by_link(token, asker=stranger(f"192.0.2.{n}")) for n in range(5))
    )
    assert len([each for each in answers if isinstance(each, str)]) == 1
    assert len([each for each in answers if isinstance(each, Unauthenticated)]) == 4
    office.clock.instant += 15 * 60_000
    with pytest.raises(Unauthenticated):
        await service.logins.by_link(late, asker=stranger("192.0.2.1"))


async def test_a_link_ends_with_the_sessions_of_its_user(office, service):
    await add(office, service)
    token = await service.users.link(office.owner(), "ada@example.com")
    await service.users.change(office.owner(), "ada@example.com", disabled=True)
    await service.users.change(office.owner(), "ada@example.com", disabled=False)
    with pytest.raises(Unauthenticated):
        await service.logins.by_link(token, asker=stranger("192.0.2.1"))


async def test_names(office, service):
    await add(office, service)
    with pytest.raises(Conflict):
        await add(office, service, "ADA@example.com")
    for name in ("", "a b", "ä", "<script>", "x" * 200):
        with pytest.raises(InvalidInput):
            await add(office, service, name)


async def test_only_platform_admins(office, service):
    with pytest.raises(Forbidden):
        await service.users.create(office.actor(Role.ADMIN), "eve")
    with pytest.raises(Forbidden):
        await service.users.list(office.actor(Role.ADMIN))


async def test_members_have_a_role_in_each_project(office, service):
    await add(office, service)
    await service.members.set(office.actor(), "ada@example.com", Role.ADMIN)
    await service.members.set(office.actor(project="other"), "ada@example.com", Role.VIEWER)
    await service.members.set(office.actor(), "new@example.com", Role.OPERATOR)
    user = await service.directory.read("ada@example.com")
    assert user is not None
    assert user.roles == {"acme": Role.ADMIN, "other": Role.VIEWER}
    assert await service.members.list(office.actor()) == [
        ("ada@example.com", Role.ADMIN),
        ("new@example.com", Role.OPERATOR),
    ]
    await service.members.remove(office.actor(), "new@example.com")
    with pytest.raises(NotFound):
        await service.members.remove(office.actor(), "new@example.com")
    with pytest.raises(Conflict, match="only admin"):
        await service.members.remove(office.actor(), "ada@example.com")


async def test_roles_given_at_the_same_moment_are_all_kept(office):
    services = [office.open() for _ in range(6)]
    await together(
        *(
            service.members.set(office.actor(project=f"p{n}"), "ada@example.com", Role.VIEWER)
            for n, service in enumerate(services)
        )
    )
    user = await services[0].directory.read("ada@example.com")
    assert user is not None
    assert set(user.roles) == {f"p{n}" for n in range(6)}


async def test_the_first_start_makes_a_way_in_and_the_second_does_not(office, service):
    answers = await together(*(bootstrap(office.open(), office.clock) for _ in range(3)))
    (first,) = [each for each in answers if each is not None]
    assert await bootstrap(service, office.clock) is None
    key = await service.key_check.find(first.key)
    assert (key.project, key.role) == ("default", Role.ADMIN)
    assert key.expires_at == office.clock.now() + 7 * 86_400_000
    id = await service.logins.by_link(first.link_token, asker=stranger())
    user = await service.sessions.find(id)
    assert (user.name, user.platform, user.roles) == ("local", True, {"default": Role.ADMIN})
    assert len(csrf_token(id)) == 64


async def test_a_login_that_is_refused_is_on_record(office, service):
    await add(office, service)
    for name in ("ada@example.com", "my password, by mistake"):
        with pytest.raises(Unauthenticated):
            await login(service, name, "wrong password")
    with pytest.raises(Unauthenticated):
        await service.logins.by_link("made up", asker=stranger("192.0.2.1"))
    entries = (await service.audit.list_platform(office.owner())).items[:3]
    assert [(each.action, each.subject) for each in entries] == [
        ("session.refused", "user"),
        ("session.refused", "user"),
        ("session.refused", "user/ada@example.com"),
    ]
    assert {each.address for each in entries} == {"192.0.2.1"}


async def test_the_current_password_is_guessed_slowly_too(office, service):
    await add(office, service)
    ada = office.actor(name="user:ada@example.com")
    for _ in range(10):
        with pytest.raises(Unauthenticated):
            await service.users.set_password(ada, "ada@example.com", "wrong", "another one!!")
    with pytest.raises(LimitReached):
        await service.users.set_password(ada, "ada@example.com", GOOD, "another one!!")
    entries = (await service.audit.list_platform(office.owner())).items
    assert [each.action for each in entries].count("user.password_refused") == 10


async def test_a_project_has_so_many_members_at_most(office, service, monkeypatch):
    monkeypatch.setattr("tickwell.services.access.members.MOST", 4)
    await service.members.set(office.actor(), "ada", Role.ADMIN)
    asked = [service.members.set(office.actor(), f"user{n}", Role.VIEWER) for n in range(9)]
    came = await together(*asked)
    assert sum(isinstance(each, InvalidInput) for each in came) == 6
    assert len(await service.members.list(office.actor())) == 4
    await service.members.set(office.actor(), "ada", Role.ADMIN)
    await service.members.set(office.actor(project="other"), "user8", Role.VIEWER)
