import json
from dataclasses import replace

import pytest

from tests.services.admin.conftest import TEN, together
from tickwell.errors import Conflict, Forbidden, InvalidInput, NotFound
from tickwell.services.access.actor import Permission, Role
from tickwell.services.access.keys import KeyCheck
from tickwell.services.ttl_cache import BRIEFLY


async def test_a_key_is_found_and_knows_its_project_and_rights(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.OPERATOR)
    found = await service.key_check.find(made.token)
    assert found is not None
    assert (found.project, found.name) == ("acme", "ci")
    assert found.permissions == {Permission.READ, Permission.OPERATE}


async def test_a_key_can_have_fewer_rights_than_its_role_and_never_more(office, service):
    only_read = frozenset({Permission.READ})
    made = await service.keys.create(office.actor(), "x", Role.EDITOR, permissions=only_read)
    assert made.key.permissions == only_read
    with pytest.raises(InvalidInput, match="cannot have edit"):
        await service.keys.create(
            office.actor(), "x", Role.VIEWER, permissions=frozenset({Permission.EDIT})
        )


async def test_a_key_that_may_do_nothing_is_refused(office, service):
    with pytest.raises(InvalidInput, match="at least one permission") as refused:
        await service.keys.create(office.actor(), "x", Role.EDITOR, permissions=frozenset())
    assert refused.value.field == "permissions"
    assert await service.keys.list(office.actor()) == []


async def test_whoever_makes_a_key_gives_away_only_what_they_have(office, service):
    full = await service.keys.create(office.actor(), "full", Role.ADMIN)
    narrow = replace(office.actor(), permissions=frozenset({Permission.ADMINISTER}))
    for asked in (
        service.keys.create(narrow, "x", Role.ADMIN),
        service.keys.create(narrow, "x", Role.ADMIN, permissions=frozenset({Permission.READ})),
        service.keys.rotate(narrow, full.key.id),
        service.members.set(narrow, "eve", Role.ADMIN),
    ):
        with pytest.raises(Forbidden):
            await asked
    assert await service.keys.list(office.actor()) == [(full.key, None)]
    made = await service.keys.create(narrow, "x", Role.ADMIN, permissions=narrow.permissions)
    assert made.key.permissions == narrow.permissions


async def test_a_key_makes_none_that_outlives_it(office, service):
    hour = 3_600_000
    lasting = await service.keys.create(office.actor(), "lasting", Role.VIEWER)
    short = replace(office.actor(), key_ends=TEN + hour)
    made = await service.keys.create(short, "same", Role.VIEWER)
    assert made.key.expires_at == TEN + hour
    shorter = await service.keys.create(short, "x", Role.VIEWER, expires_at=TEN + hour // 2)
    for asked in (
        service.keys.create(short, "x", Role.VIEWER, expires_at=TEN + hour + 1),
        service.keys.rotate(short, lasting.key.id),
    ):
        with pytest.raises(InvalidInput, match="cannot create one that ends later"):
            await asked
    assert (await service.keys.rotate(short, shorter.key.id)).key.life == hour // 2
    office.clock.instant += hour // 2 + 1
    with pytest.raises(InvalidInput, match="ends later"):  # else each could make the next
        await service.keys.rotate(short, made.key.id)
    assert lasting.key in [key for key, _ in await service.keys.list(office.actor())]


async def test_nothing_in_the_store_lets_anybody_in(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    secret = made.token.split("_", 2)[2]
    assert len(secret) == 43  # 256 bits
    stored = [
        record.document
        for kind, project in [
            ("api_key", "acme"),
            ("api_key_place", "_platform"),
            ("audit", "acme"),
        ]
        for record in await office.store.list_records(kind, project, "", TEN)
    ]
    assert len(stored) == 3
    assert secret not in json.dumps(stored)


@pytest.mark.parametrize("text", ["", "tw_", "tw_0_0", "x" * 9999, "tw_0123456789abcdef_short"])
async def test_what_is_no_key_is_nobody_s(service, text):
    assert await service.key_check.find(text) is None


async def test_a_wrong_secret_and_an_unknown_id_take_the_same_way(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    wrong = made.token[:-1] + ("A" if made.token[-1] != "A" else "B")
    unknown = "tw_" + "0" * 16 + made.token[19:]
    calls = []
    for text in (wrong, unknown):
        office.store.calls = 0
        assert await KeyCheck(office.store, office.clock, office.keyring).find(text) is None
        calls.append(office.store.calls)
    assert calls == [2, 2]


async def test_a_key_that_is_used_often_costs_no_call_to_the_store(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    assert await service.key_check.find(made.token)
    office.store.calls = 0
    for _ in range(100):
        assert await service.key_check.find(made.token)
    assert office.store.calls == 0


async def test_a_revoked_key_is_refused_within_five_seconds_by_another_process(office, service):
    other = office.open()
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    assert await other.key_check.find(made.token)
    await service.keys.revoke(office.actor(), made.key.id)
    office.clock.instant += BRIEFLY
    assert BRIEFLY <= 5_000
    assert await other.key_check.find(made.token) is None


async def test_a_key_ends(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN, expires_at=TEN + 1000)
    assert await service.key_check.find(made.token)
    office.clock.instant += 1000
    assert await service.key_check.find(made.token) is None
    with pytest.raises(InvalidInput, match="is past"):
        await service.keys.create(office.actor(), "ci", Role.ADMIN, expires_at=TEN)


async def test_when_it_was_last_used_is_written_once_a_minute(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    await service.key_check.find(made.token)
    office.clock.instant += 30_000
    await service.key_check.find(made.token)
    assert await service.keys.list(office.actor()) == [(made.key, TEN)]
    office.clock.instant += 30_000
    await service.key_check.find(made.token)
    assert await service.keys.list(office.actor()) == [(made.key, TEN + 60_000)]


async def test_a_rotated_key_works_on_for_the_overlap(office, service):
    old = await service.keys.create(office.actor(), "ci", Role.OPERATOR)
    new = await service.keys.rotate(office.actor(), old.key.id, 60_000)
    assert (new.key.role, new.key.replaces) == (Role.OPERATOR, old.key.id)
    assert await service.key_check.find(old.token)
    assert await service.key_check.find(new.token)
    office.clock.instant += 60_000
    assert await service.key_check.find(old.token) is None
    assert await service.key_check.find(new.token)


async def test_what_takes_over_from_a_key_that_ends_lives_as_long_and_ends(office, service):
    old = await service.keys.create(office.actor(), "ci", Role.VIEWER, expires_at=TEN + 5000)
    office.clock.instant += 2000
    new = await service.keys.rotate(office.actor(), old.key.id)
    assert new.key.expires_at == TEN + 7000
    endless = await service.keys.create(office.actor(), "ci", Role.VIEWER)
    for _ in range(2):  # the second one, too, though the first has given the old key an end
        new = await service.keys.rotate(office.actor(), endless.key.id)
        assert new.key.expires_at is None


async def test_of_many_rotations_at_once_one_wins(office):
    services = [office.open() for _ in range(8)]
    old = await services[0].keys.create(office.actor(), "ci", Role.OPERATOR)
    answers = await together(
        *(service.keys.rotate(office.actor(), old.key.id) for service in services)
    )
    lost = [answer for answer in answers if isinstance(answer, Conflict)]
    won = [answer for answer in answers if not isinstance(answer, Exception)]
    # One after the other they may both win: what is shown must be what works.
    assert len(won) >= 1
    assert len(won) + len(lost) == 8
    keys = {key.id for key, _ in await services[0].keys.list(office.actor())}
    assert keys == {old.key.id} | {each.key.id for each in won}
    for each in won:
        assert await services[0].key_check.find(each.token)


async def test_keys_of_one_project_are_unknown_in_another(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    other = office.actor(project="other")
    assert await service.keys.list(other) == []
    with pytest.raises(NotFound):
        await service.keys.revoke(other, made.key.id)
    with pytest.raises(NotFound):
        await service.keys.rotate(other, made.key.id)
    assert await service.key_check.find(made.token)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.EDITOR])
async def test_only_admins_make_keys(office, service, role):
    with pytest.raises(Forbidden):
        await service.keys.create(office.actor(role), "ci", Role.VIEWER)
    assert await service.keys.list(office.actor()) == []


async def test_one_entry_for_each_change(office, service):
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    await service.keys.rotate(office.actor(), made.key.id)
    await service.keys.revoke(office.actor(), made.key.id)
    page = await service.audit.list(office.actor())
    assert [entry.action for entry in page.items] == ["key.revoke", "key.rotate", "key.create"]


async def test_keys_made_under_an_older_server_key_work_and_follow_to_the_newer(office, service):
    from tickwell.services.keyring import Keyring, ServerKey

    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    newer = ServerKey(bytes(range(32, 64)))
    alone = Keyring([newer])
    assert await office.open(keyring=alone).key_check.find(made.token) is None
    assert await office.open(keyring=Keyring([newer, office.keyring.current])).key_check.find(
        made.token
    )
    assert await office.open(keyring=alone).key_check.find(made.token)


async def test_a_project_has_so_many_keys_at_once_however_they_come(office, service, monkeypatch):
    monkeypatch.setattr("tickwell.services.access.keys.MOST", 5)
    made = await service.keys.create(office.actor(), "first", Role.VIEWER)

    async def create(number):
        return await service.keys.create(office.actor(), f"key-{number}", Role.VIEWER)

    came = await together(*(create(number) for number in range(20)))
    assert sum(isinstance(each, InvalidInput) for each in came) == 16
    with pytest.raises(InvalidInput, match="5 keys at most"):
        await service.keys.rotate(office.actor(), made.key.id)
    assert await service.key_check.find(made.token)
    assert len(await service.keys.list(office.actor())) == 5


async def test_keys_that_have_ended_make_room(office, service, monkeypatch):
    monkeypatch.setattr("tickwell.services.access.keys.MOST", 3)
    made = await service.keys.create(office.actor(), "daily", Role.VIEWER)
    for _ in range(10):
        made = await service.keys.rotate(office.actor(), made.key.id, overlap=0)
        office.clock.instant += 1
        assert await service.key_check.find(made.token)
        assert len(await service.keys.list(office.actor())) <= 3
