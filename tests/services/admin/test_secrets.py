import asyncio
import json

import pytest

from tests.services.admin.conftest import TEN
from tickwell.errors import Forbidden, InvalidInput, InvalidSetting, NotFound, StoreCorrupt
from tickwell.executors.http.request.values import Sealed, Unsendable
from tickwell.services.access.actor import Role
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.services.keyring.source import require_keys
from tickwell.services.secrets.source import StoredSecrets

NEWER = ServerKey(bytes(range(32, 64)))
CANARY = 'canary-5f1d-with "quotes"'


def anywhere(names):
    """Secrets as an attempt asks for them, with the host that they are sent to."""
    return {name: {"example.com"} for name in names}


def source(office, keyring=None):
    return StoredSecrets(office.store, office.clock, lambda: keyring or office.keyring)


async def test_a_secret_is_opened_where_an_attempt_is_sent_and_shown_nowhere(office, service):
    info = await service.secrets.set(office.actor(), "token", CANARY)
    assert await source(office).get("acme", anywhere(["token", "other"])) == {"token": CANARY}
    assert await service.secrets.list(office.actor()) == [info]
    assert CANARY not in repr(info)
    stored = [
        record.document
        for kind in ("secret", "audit")
        for record in await office.store.list_records(kind, "acme", "", TEN)
    ]
    assert len(stored) == 2
    assert "canary" not in json.dumps(stored)


async def test_a_new_value_is_used_within_seconds(office, service):
    reader = source(office)
    await service.secrets.set(office.actor(), "token", "first")
    assert await reader.get("acme", anywhere(["token"])) == {"token": "first"}
    assert (await service.secrets.set(office.actor(), "token", "second")).version == 2
    office.clock.instant += 5000
    assert await reader.get("acme", anywhere(["token"])) == {"token": "second"}


async def test_a_project_does_not_see_another_s(office, service):
    await service.secrets.set(office.actor(), "token", CANARY)
    assert await source(office).get("other", anywhere(["token"])) == {}
    assert await service.secrets.list(office.actor(project="other")) == []
    with pytest.raises(NotFound):
        await service.secrets.delete(office.actor(project="other"), "token")


@pytest.mark.parametrize(("project", "name"), [("other", "token"), ("acme", "moved")])
async def test_an_envelope_that_is_moved_does_not_open(office, service, project, name):
    await service.secrets.set(office.actor(), "token", CANARY)
    record = await office.store.get_record("secret", "acme", "token", TEN)
    record.project, record.key = project, name
    await office.store.put_record(record, TEN)
    with pytest.raises(StoreCorrupt, match=name) as error:
        await source(office).get(project, anywhere([name]))
    assert "canary" not in str(error.value)


async def test_a_changed_version_does_not_open(office, service):
    await service.secrets.set(office.actor(), "token", CANARY)
    record = await office.store.get_record("secret", "acme", "token", TEN)
    record.document["version"] = 7
    await office.store.put_record(record, TEN)
    with pytest.raises(StoreCorrupt):
        await source(office).get("acme", anywhere(["token"]))


async def test_server_keys_rotate_while_secrets_are_used(office, service):
    """Every process knows both keys before the new one is used; none ever fails to open."""
    both, changed = Keyring([NEWER, office.keyring.current]), office.open()
    names = [f"s{number}" for number in range(10)]
    for name in names:
        await service.secrets.set(office.actor(), name, f"value of {name}")
    changed = office.open(keyring=both)
    seen = 0

    async def use():
        nonlocal seen
        for _ in range(20):
            found = await source(office, both).get("acme", anywhere(names))
            assert found == {name: f"value of {name}" for name in names}
            seen += 1

    moved, *_ = await asyncio.gather(changed.secrets.rewrap("acme"), use(), use())
    assert (moved, seen) == (10, 40)
    assert await changed.secrets.rewrap("acme") == 0
    found = await source(office, Keyring([NEWER])).get("acme", anywhere(names))
    assert len(found) == 10
    with pytest.raises(Sealed, match="not known here"):
        await source(office).get("acme", anywhere(names))


async def test_a_secret_that_is_changed_under_the_old_key_meanwhile_is_rewrapped_too(
    office, service, monkeypatch
):
    await service.secrets.set(office.actor(), "token", "first value")
    changed, put = office.open(keyring=Keyring([NEWER, office.keyring.current])), []
    original = office.store.put_record

    async def overtaken(*given):
        put.append(given)
        if len(put) == 1:
            await service.secrets.set(office.actor(), "token", CANARY)
        return await original(*given)

    monkeypatch.setattr(office.store, "put_record", overtaken)
    assert await changed.secrets.rewrap("acme") == 1
    found = await source(office, Keyring([NEWER])).get("acme", anywhere(["token"]))
    assert found == {"token": CANARY}


@pytest.mark.parametrize("value", ["", "abc", "  abc\n", " " * 9, "x" * 8193])
async def test_a_value_that_could_not_be_hidden_or_sent_is_refused(office, service, value):
    with pytest.raises(InvalidInput):
        await service.secrets.set(office.actor(), "token", value)
    assert await service.secrets.list(office.actor()) == []


@pytest.mark.parametrize("name", ["", "a b", "a.b", "ä", "x" * 256, "{{x}}"])
async def test_a_name_that_no_template_could_say_is_refused(office, service, name):
    with pytest.raises(InvalidInput):
        await service.secrets.set(office.actor(), name, "value")


async def test_only_admins(office, service):
    for call in (service.secrets.set(office.actor(Role.EDITOR), "token", "value"),):
        with pytest.raises(Forbidden):
            await call


async def test_everything_sealed_goes_under_the_new_key_in_one_call(office, service):
    ada = await service.users.create(office.owner(), "ada")
    await service.projects.create(office.owner(), "acme", admin="ada")
    await service.secrets.set(office.actor(), "token", CANARY)
    token = await service.issuer.issue(ada)
    changed = office.open(keyring=Keyring([NEWER, office.keyring.current]))
    assert await changed.rewrapping.run(office.owner()) == 2
    assert await changed.rewrapping.run(office.owner()) == 0
    newest = office.open(keyring=Keyring([NEWER]))
    assert (await newest.tokens.find(token)).name == "ada"
    assert await newest.issuer.issue(ada)
    page = await changed.audit.list_platform(office.owner())
    assert [entry.action for entry in page.items[:2]] == ["platform.rewrap"] * 2
    assert (await changed.audit.verify_platform(office.owner())).problem is None


async def test_an_old_key_is_asked_for_until_nothing_needs_it(office, service):
    """Secrets of a project that nobody made count, and API keys until they were used again."""
    await require_keys(office.store, office.keyring, TEN)
    await service.secrets.set(office.actor(project="of-an-app"), "token", CANARY)
    key = await service.keys.create(office.actor(), "ci", Role.VIEWER)
    both, newest = Keyring([NEWER, office.keyring.current]), Keyring([NEWER])
    await require_keys(office.store, both, TEN + 1)
    unchanged = office.open(keyring=Keyring([office.keyring.current, NEWER]))
    assert await unchanged.rewrapping.run(office.owner()) == 0
    changed = office.open(keyring=both)
    assert await changed.rewrapping.run(office.owner()) == 1
    with pytest.raises(InvalidSetting, match="not known here"):
        await require_keys(office.store, newest, TEN)
    assert await changed.key_check.find(key.token)
    assert await changed.rewrapping.run(office.owner()) == 0
    await require_keys(office.store, newest, TEN)
    with pytest.raises(InvalidSetting, match="not known here"):
        await require_keys(office.store, office.keyring, TEN)
    assert await office.open(keyring=newest).key_check.find(key.token)
    assert await source(office, newest).get("of-an-app", anywhere(["token"])) == {"token": CANARY}


async def test_a_key_that_is_revoked_while_it_is_used_stays_revoked(office, service):
    key = await service.keys.create(office.actor(), "ci", Role.VIEWER)
    changed = office.open(keyring=Keyring([NEWER, office.keyring.current]))
    remembered = await changed.key_check._read(key.key.id)
    changed.key_check._cache.put(key.key.id, remembered)
    await service.keys.revoke(office.actor(), key.key.id)
    assert await changed.key_check.find(key.token)  # for a moment
    assert await office.open().key_check.find(key.token) is None


async def test_a_project_has_so_many_at_most_also_when_they_come_at_once(
    office, service, monkeypatch
):
    monkeypatch.setattr("tickwell.services.secrets.secrets.MOST", 5)
    asked = [service.secrets.set(office.actor(), f"s{n}", CANARY) for n in range(20)]
    came = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(each, InvalidInput) for each in came) == 15
    assert len(await service.secrets.list(office.actor())) == 5


async def test_all_are_rewrapped_and_deleted_however_many_came_in(office, service, monkeypatch):
    await service.projects.create(office.owner(), "acme", admin="ada")
    made = [await service.keys.create(office.actor(), f"k{n}", Role.ADMIN) for n in range(4)]
    for number in range(4):
        await service.secrets.set(office.actor(), f"s{number}", CANARY)
    # As where several processes let in a few more than there may be.
    monkeypatch.setattr("tickwell.services.secrets.secrets.MOST", 2)
    monkeypatch.setattr("tickwell.services.access.keys.MOST", 2)
    changed = office.open(keyring=Keyring([NEWER, office.keyring.current]))
    assert await changed.secrets.rewrap("acme") == 4
    assert len(await changed.keys.list(office.actor())) == 4
    await changed.projects.delete(office.owner(), "acme")
    assert not [each for each in made if await office.open().key_check.find(each.token)]
    assert await office.store.list_records("secret", "acme", "", office.clock.now()) == []


async def test_a_secret_is_sent_to_the_hosts_that_an_admin_allows(office, service):
    admin = office.actor()
    info = await service.secrets.set(
        admin, "token", CANARY, ["API.example.com", "*.example.org", "Bücher.example"]
    )
    assert info.hosts == ("*.example.org", "api.example.com", "xn--bcher-kva.example")
    reader = source(office)
    for host in ("api.example.com", "a.example.org", "a.b.example.org", "xn--bcher-kva.example"):
        assert await reader.get("acme", {"token": {host}}) == {"token": CANARY}
    for host in ("example.com", "evil.example.com", "example.org", "eviltexample.org"):
        with pytest.raises(Unsendable, match=f"'token' may not be sent to {host}"):
            await reader.get("acme", {"token": {"api.example.com", host}})


async def test_hosts_stay_with_another_value_and_a_value_with_other_hosts(office, service):
    admin = office.actor()
    await service.secrets.set(admin, "token", CANARY, ["a.example"])
    assert (await service.secrets.set(admin, "token", "another")).hosts == ("a.example",)
    info = await service.secrets.set(admin, "token", None, ["b.example"])
    assert (info.version, info.hosts) == (2, ("b.example",))
    found = await source(office).get("acme", {"token": {"b.example"}})
    assert found == {"token": "another"}
    assert (await service.secrets.set(admin, "token", None, [])).hosts == ()
    assert await source(office).get("acme", anywhere(["token"])) == {"token": "another"}
    actions = [entry.action for entry in (await service.audit.list(admin)).items]
    assert actions == ["secret.limit", "secret.limit", "secret.set", "secret.set"]
    with pytest.raises(InvalidInput, match="value"):
        await service.secrets.set(admin, "new", None, ["b.example"])
    with pytest.raises(Forbidden):
        await service.secrets.set(office.actor(Role.EDITOR), "token", None, [])


@pytest.mark.parametrize(
    "host",
    ["", "*", "*.", "https://a.example", "a.example/x", "a.example:8443", "*.10.0.0.1"],
)
async def test_what_is_not_a_host_is_refused(office, service, host):
    with pytest.raises(InvalidInput, match="is not a host"):
        await service.secrets.set(office.actor(), "token", CANARY, [host])
