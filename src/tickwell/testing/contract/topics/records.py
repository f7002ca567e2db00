"""Records: the service's documents, by version and with expiry."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from typing import Any

from tickwell.ports.records import Record
from tickwell.testing.contract.builders import T0
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


def _note(key: str = "k", document: Any = None, **fields: Any) -> Record:
    identity = {"kind": "note", "project": "default", **fields}
    return Record(key=key, document={"n": 1} if document is None else document, **identity)


class Records(Topic):
    """`put_record`, `put_records`, `get_record`, `list_records`, `delete_record`."""

    async def _get(self, scene: Scene, key: str = "k", now: int = T0) -> Record | None:
        return await scene.store.get_record("note", "default", key, now)

    async def test_what_was_put_is_read_with_its_version(self, scene: Scene) -> None:
        assert await self._get(scene) is None
        assert await scene.store.put_record(_note(document={"a": [1, None, "è"]}), T0)
        assert await self._get(scene) == _note(document={"a": [1, None, "è"]}, version=1)
        assert await scene.store.put_record(_note(document=[2], version=77), T0)
        assert await self._get(scene) == _note(document=[2], version=2)

    async def test_the_expected_version_decides(self, scene: Scene) -> None:
        assert not await scene.store.put_record(_note(), T0, 1)
        assert await scene.store.put_record(_note(document="a"), T0, 0)
        assert not await scene.store.put_record(_note(document="b"), T0, 0)
        assert await scene.store.put_record(_note(document="c"), T0, 1)
        assert not await scene.store.put_record(_note(document="d"), T0, 1)
        assert await self._get(scene) == _note(document="c", version=2)

    async def test_expired_it_does_not_exist(self, scene: Scene) -> None:
        await scene.store.put_record(_note(expires_at=T0 + 10), T0)
        assert await self._get(scene, now=T0 + 9) is not None
        assert await self._get(scene, now=T0 + 10) is None
        assert await scene.store.list_records("note", "default", "", T0 + 10) == []
        assert await scene.store.put_record(_note(document="new"), T0 + 10, 0)
        assert await self._get(scene, now=T0 + 99) == _note(document="new")

    async def test_kinds_and_projects_are_apart(self, scene: Scene) -> None:
        await scene.store.put_record(_note(document=1), T0)
        await scene.store.put_record(_note(document=2, project="other"), T0)
        await scene.store.put_record(_note(document=3, kind="job_version"), T0)
        found = await self._get(scene)
        assert found is not None
        assert found.document == 1
        assert len(await scene.store.list_records("note", "default", "", T0)) == 1

    async def test_listed_by_prefix_and_key(self, scene: Scene) -> None:
        for key in ("a/2", "a/1", "b/1", "a_1", "a%", "a/10", "A/1"):
            await scene.store.put_record(_note(key), T0)

        async def keys(prefix: str, limit: int = 1000) -> list[str]:
            listed = await scene.store.list_records("note", "default", prefix, T0, limit)
            return [record.key for record in listed]

        assert await keys("a/") == ["a/1", "a/10", "a/2"]
        assert await keys("a/", 2) == ["a/1", "a/10"]
        assert await keys("a_") == ["a_1"]
        assert await keys("a%") == ["a%"]
        assert await keys("") == sorted(["a/2", "a/1", "b/1", "a_1", "a%", "a/10", "A/1"])

    async def test_deleted_it_is_gone(self, scene: Scene) -> None:
        await scene.store.put_record(_note(), T0)
        assert await scene.store.delete_record("note", "default", "k")
        assert not await scene.store.delete_record("note", "default", "k")
        assert await self._get(scene) is None
        assert await scene.store.put_record(_note(), T0, 0)

    async def test_a_record_that_is_returned_is_the_callers_own(self, scene: Scene) -> None:
        document = {"list": [1]}
        await scene.store.put_record(_note(document=document), T0)
        document["list"].append(2)
        found = await self._get(scene)
        assert found is not None
        found.document["list"].append(3)
        [listed] = await scene.store.list_records("note", "default", "", T0)
        listed.document["list"].append(4)
        assert await self._get(scene) == _note(document={"list": [1]})

    async def test_many_are_put_in_one_call(self, scene: Scene) -> None:
        await scene.store.put_record(_note("a"), T0)
        await scene.store.put_record(_note("b", expires_at=T0 + 5), T0)
        some = [_note(key, [key, "è"], expires_at=T0 + 99) for key in ("c", "a", "b")]
        await scene.store.put_records([*some, _note("a", project="other")], T0 + 5)
        await scene.store.put_records([], T0 + 5)
        listed = await scene.store.list_records("note", "default", "", T0 + 5)
        assert [(one.key, one.document, one.version) for one in listed] == [
            ("a", ["a", "è"], 2),
            ("b", ["b", "è"], 1),  # it had expired
            ("c", ["c", "è"], 1),
        ]
        assert {one.expires_at for one in listed} == {T0 + 99}
        assert len(await scene.store.list_records("note", "other", "", T0)) == 1
        await scene.store.put_records([_note("a", expires_at=None)], T0 + 6)
        found = await self._get(scene, "a", T0 + 1000)
        assert found == _note("a", version=3)

    async def test_any_json_is_a_document(self, scene: Scene) -> None:
        documents: list[Any] = [0, "", [], {}, False, 1.5, 10**15, {"": {"": [[]]}}]
        for document in documents:
            await scene.store.put_record(_note(document=document), T0)
            found = await self._get(scene)
            assert found is not None
            assert found.document == document
            assert type(found.document) is type(document)
