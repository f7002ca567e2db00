from tickwell.ports.records import Record
from tickwell.services.every_record import every_record


async def test_all_are_found_however_few_fit_on_a_page(office):
    names = ["a", "a-b", "ab", "abc", "abd", *(f"b{n:02}" for n in range(20)), "z"]
    for name in names:
        made = Record(kind="place", project="acme", key=name, document={})
        await office.store.put_record(made, office.clock.now())
    for page in (2, 3, 1000):
        found = every_record(office.store, "place", "acme", office.clock.now(), page=page)
        assert [record.key async for record in found] == names
