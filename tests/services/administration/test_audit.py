import asyncio
import json

import pytest

from tests.services.administration.conftest import TEN
from tickwell.errors import Forbidden, InvalidInput
from tickwell.services.access.permission import Role
from tickwell.services.audit.entry import canonical
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.stores.memory import MemoryStore


async def write(office, service, count, project="acme"):
    actor = office.actor(project=project)
    for number in range(count):
        await service.audit.record(actor, "job.edit", f"job/{number}", None, {"number": number})


async def blocks(office):
    return await office.store.list_records("audit", "acme", "", TEN)


async def listed(office, service, limit):
    found, cursor = [], None
    while True:
        page = await service.audit.list(office.actor(), cursor, limit)
        assert len(page.items) <= limit
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


def test_one_text_of_a_value_whichever_library_writes_it():
    for value in ('a"b\\c/\n\x01', "\x7f", "ü", "\N{GRINNING FACE}", "\ud800", 2**70, [None, True]):
        document = {"b": value, "a": {"é": 1, "z": [value]}}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        assert canonical(document) == text


async def test_who_did_what_when_and_from_where(office, service):
    await service.audit.record(office.actor(), "job.edit", "job/1", {"a": 1}, {"a": 2})
    (entry,) = (await service.audit.list(office.actor())).items
    assert (entry.actor, entry.action, entry.subject, entry.at) == (
        *("user:ada", "job.edit", "job/1"),
        TEN,
    )
    assert (entry.before, entry.after) == ('{"a":1}', '{"a":2}')


@pytest.mark.parametrize("limit", [1, 7, 100])
async def test_all_entries_are_listed_once_newest_first(office, service, limit):
    await write(office, service, 25)
    found = await listed(office, service, limit)
    assert [entry.subject for entry in found] == [f"job/{n}" for n in range(24, -1, -1)]


async def test_many_processes_write_one_chain(office):
    services = [office.open() for _ in range(4)]
    await asyncio.gather(*(write(office, service, 5) for service in services for _ in range(5)))
    found = await listed(office, services[0], 100)
    assert len(found) == len({entry.id for entry in found}) == 100
    verified = await services[0].audit.verify(office.actor())
    assert (verified.entries, verified.problem) == (100, None)


async def test_what_comes_together_is_written_together(office, service):
    actor = office.actor()
    await asyncio.gather(*(service.audit.record(actor, "x", str(n)) for n in range(60)))
    never_waits = isinstance(office.store.store, MemoryStore)
    assert len(await blocks(office)) < (61 if never_waits else 10)
    assert len(await listed(office, service, 100)) == 60


async def test_more_than_a_hundred_blocks(office, service):
    await write(office, service, 205)
    assert len(await listed(office, service, 100)) == 205
    other = office.open()
    await write(office, other, 1)
    assert (await other.audit.verify(office.actor())).entries == 206


async def test_a_changed_entry_is_seen(office, service):
    await write(office, service, 3)
    record = (await blocks(office))[1]
    record.document["entries"][0]["actor"] = "user:eve"
    await office.store.put_record(record, TEN)
    verified = await office.open().audit.verify(office.actor())
    assert (verified.entries, verified.problem) == (1, "block 2 was changed")


async def test_a_missing_block_is_seen(office, service):
    await write(office, service, 3)
    await office.store.delete_record("audit", "acme", (await blocks(office))[1].key)
    assert (await office.open().audit.verify(office.actor())).problem == "block 2 is missing"


async def test_a_chain_cut_short_is_seen_by_those_who_saw_more(office, service):
    await write(office, service, 3)
    head = (await service.audit.verify(office.actor())).head
    await office.store.delete_record("audit", "acme", (await blocks(office))[2].key)
    assert (await service.audit.verify(office.actor())).problem == "block 3 was there and is gone"
    assert (await office.open().audit.verify(office.actor())).head != head


async def test_a_chain_that_somebody_without_the_server_key_made_is_seen(office, service):
    forger = office.open(keyring=Keyring([ServerKey(bytes(range(1, 33)))]))
    await write(office, forger, 2)
    problem = (await service.audit.verify(office.actor())).problem
    assert problem is not None
    assert "not known here" in problem


async def test_a_chain_moved_to_another_project_is_seen(office, service):
    await write(office, service, 1)
    (record,) = await blocks(office)
    record.project = "other"
    await office.store.put_record(record, TEN)
    verified = await service.audit.verify(office.actor(project="other"))
    assert verified.problem == "block 1 was changed"


async def test_secrets_are_not_kept_and_large_documents_as_their_hash(office, service):
    before = {"headers": {"Authorization": "Bearer hunter2"}, "sign_with": ["whsec_hunter2"]}
    await service.audit.record(office.actor(), "job.edit", "job/1", before, {"x": "y" * 9999})
    (entry,) = (await service.audit.list(office.actor())).items
    assert "hunter2" not in str(await blocks(office))
    assert "sha256" in entry.after


async def test_projects_have_chains_of_their_own(office, service):
    await write(office, service, 2)
    await write(office, service, 1, "other")
    assert len((await service.audit.list(office.actor(project="other"))).items) == 1


async def test_only_admins_read_it(office, service):
    with pytest.raises(Forbidden):
        await service.audit.list(office.actor(Role.EDITOR))


async def test_a_cursor_of_somebody_else_is_refused(office, service):
    with pytest.raises(InvalidInput):
        await service.audit.list(office.actor(), "1.²")
