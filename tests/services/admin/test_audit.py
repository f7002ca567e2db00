import asyncio
import json
from dataclasses import replace

import pytest

from tests.services.admin.conftest import TEN
from tickwell.errors import Forbidden, InvalidInput
from tickwell.services.access.actor import Role
from tickwell.services.admin.admin_documents import entry_document
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


async def test_an_entry_has_the_fields_that_changed(office, service):
    definition = {"name": "x" * 3000, "target": {"url": "a", "headers": {"Cookie": "1", "X": 1}}}
    before = definition | {"state": "active", "gone": 1}
    after = definition | {
        "state": "paused",
        "new": True,
        "target": {"url": "a", "headers": {"Cookie": "2", "X": True}},
    }
    await service.audit.record(office.actor(), "job.pause", "job/1", before, after)
    (entry,) = (await service.audit.list(office.actor())).items
    assert json.loads(entry.before) == {
        "state": "active",
        "gone": 1,
        "target": {"headers": {"Cookie": "***", "X": 1}},
    }
    assert json.loads(entry.after) == {
        "state": "paused",
        "new": True,
        "target": {"headers": {"Cookie": "***", "X": True}},
    }


async def test_retention_takes_old_entries_and_the_chain_is_still_verified(office):
    day = 86_400_000
    service = office.open(audit_retention=10 * 86_400)
    await write(office, service, 3)
    office.clock.instant += 11 * day
    await write(office, service, 2)
    assert (await service.audit.verify(office.actor())).pruned == 3
    office.clock.instant += day
    await write(office, service, 1)
    for each in (service, office.open(audit_retention=10 * 86_400), office.open()):
        found = await each.audit.verify(office.actor())
        assert (found.entries, found.pruned, found.problem) == (3, 3, None)
        assert len(await listed(office, each, 2)) == 3
    office.clock.instant += 50 * day
    another = office.open(audit_retention=10 * 86_400)
    await write(office, another, 1)
    found = await another.audit.verify(office.actor())
    assert (found.entries, found.pruned, found.problem) == (1, 6, None)
    assert len(await blocks(office)) == 1
    await write(office, service, 1)  # by a process that has not heard of it
    found = await another.audit.verify(office.actor())
    assert (found.entries, found.pruned, found.problem) == (2, 6, None)


async def test_what_somebody_else_takes_away_is_seen_after_retention_too(office):
    service = office.open(audit_retention=10 * 86_400)
    await write(office, service, 3)
    office.clock.instant += 11 * 86_400_000
    await write(office, service, 3)
    now = office.clock.now()
    kept, *_ = await blocks(office)
    await office.store.delete_record("audit", "acme", kept.key)
    found = await office.open().audit.verify(office.actor())
    assert found.problem == "block 4 is missing"
    record = await office.store.get_record("audit_checkpoint", "acme", "start", now)
    record.document |= {"number": 4, "entries": 4}
    await office.store.put_record(record, now)
    found = await office.open().audit.verify(office.actor())
    assert found.problem == "the checkpoint was changed"
    await office.store.delete_record("audit_checkpoint", "acme", "start")
    found = await office.open().audit.verify(office.actor())
    assert found.problem == "block 1 is missing"


async def test_a_pruning_that_was_interrupted_goes_on(office, monkeypatch):
    service = office.open(audit_retention=10 * 86_400)
    await write(office, service, 3)
    left = await blocks(office)
    office.clock.instant += 11 * 86_400_000
    await write(office, service, 1)
    for record in left[1:]:  # as if the process had died while it deleted them
        await office.store.put_record(record, office.clock.now())
    found = await office.open().audit.verify(office.actor())
    assert (found.entries, found.pruned, found.problem) == (1, 3, None)
    assert len(await listed(office, office.open(), 10)) == 1
    office.clock.instant += 3_600_000
    await write(office, service, 1)
    assert len(await blocks(office)) == 2


async def test_of_two_who_prune_at_once_both_leave_a_whole_chain(office):
    services = [office.open(audit_retention=10 * 86_400) for _ in range(3)]
    await write(office, services[0], 5)
    office.clock.instant += 11 * 86_400_000
    await asyncio.gather(*(write(office, each, 2) for each in services))
    found = await office.open().audit.verify(office.actor())
    assert (found.entries + found.pruned, found.problem) == (11, None)


async def test_a_process_that_was_idle_during_a_pruning_appends_to_the_end(office):
    idle, busy = office.open(audit_retention=10 * 86_400), office.open(audit_retention=10 * 86_400)
    await write(office, idle, 1)
    await write(office, busy, 5)
    office.clock.instant += 11 * 86_400_000
    await write(office, busy, 1)
    await write(office, idle, 2)
    found = await office.open().audit.verify(office.actor())
    assert (found.entries, found.pruned, found.problem) == (3, 6, None)
    for each in (idle, busy, office.open()):
        assert len(await listed(office, each, 10)) == 3


async def test_credentials_in_a_webhook_are_not_in_the_log(office):
    def a_job(word):
        return {
            "name": "report",
            "target": {
                "http": {
                    "url": f"https://example.com/hook?team=7&key={word}",
                    "headers": {"X-Id": f"Bearer {word}"},
                    "query": {"sig": word},
                    "auth": {"basic": {"user": "ada", "password": word}},
                    "json": {"apiKey": word, "users": [{"pwd": word}]},
                }
            },
        }

    audit = office.open().audit
    await audit.record(office.actor(), "job.replace", "job/1", a_job("canary-1"), a_job("canary-2"))
    (entry,) = (await audit.list(office.actor())).items
    for shown in (entry.before, entry.after):
        assert "canary" not in shown
        assert "team=7" in shown


async def test_a_pause_costs_the_log_little_however_large_the_job(office, service):
    definition = {"name": "x" * 3000, "target": {"call": "y" * 3000}, "note": None}
    count, states = 200, ("active", "paused")
    for number in range(count):
        before, after = (definition | {"state": states[(number + k) % 2]} for k in (0, 1))
        await service.audit.record(office.actor(), "job.pause", "job/1", before, after)
    found = await blocks(office)
    stored = sum(len(json.dumps(each.document)) for each in found)
    # Whole definitions would take 12,000 for each.
    assert stored < 1000 * count


async def test_where_nothing_is_known_of_the_request_is_null(office, service):
    for actor in (office.actor(), replace(office.actor(), address="192.0.2.1", request_id="r1")):
        await service.audit.record(actor, "job.pause", "job/1")
    shown = [entry_document(each) for each in (await service.audit.list(office.actor())).items]
    assert [(each["address"], each["request_id"]) for each in shown] == [
        ("192.0.2.1", "r1"),
        (None, None),
    ]
