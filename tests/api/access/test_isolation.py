"""Two projects: nothing that A has is found, seen or changed by B."""

import re

from tests.api.access.test_matrix import operations
from tests.api.conftest import WORKER
from tickwell.domain.execution import OutcomeKind
from tickwell.services.access.actor import Role

CANARY = "canary-of-a"


async def seed(house, project, word):
    """A job with every kind of record, each holding the word; the keys of its project's admin."""
    shown = await house.key(project, Role.ADMIN)
    http = house.http

    async def send(method, path, body=None, status=(200, 201, 202)):
        answer = await http.request(method, path, json=body, headers=shown)
        assert answer.status_code in status, (path, answer.text)
        return answer.json()

    for name in (f"{word}-job", f"{word}-other"):
        await send(
            "POST",
            "/jobs",
            {
                "name": name,
                "trigger": {"on_demand": True},
                "target": {"call": {"handler": "x"}},
                "payload": {"word": word},
                "description": word,
                "tags": [word],
                "retry": {"max_attempts": 1},
            },
        )
    for number in range(3):
        await send("POST", f"/jobs/{word}-job/trigger", {"payload": {"word": f"{word} {number}"}})
    await house.world.run(OutcomeKind.FAILED, error=f"HTTP 500: {word}")
    await send("POST", f"/jobs/{word}-job/trigger")
    await send("PUT", f"/secrets/{word}-secret", {"value": f"{word}-value"})
    await send("PUT", f"/members/{word}-member", {"role": "viewer"})
    await send("POST", "/keys", {"name": f"{word}-key", "role": "viewer"})
    return shown


async def read_all(house, shown):
    """Everything that a project's admin can read without naming anything.

    But for what says how many seconds ago something was seen, and figures of the last minutes. A
    worker is silent after some seconds, which a test of a busy machine lives to see.
    """
    found = []
    for method, path, operation in operations(house.world.app):
        is_steady = "{" not in path and not path.endswith(("/checkup", "/detailed", "/metrics"))
        if method == "get" and is_steady and operation["x-permission"] != "public":
            params = {"limit": 1} if "limit" in str(operation.get("parameters")) else {}
            answer = await house.http.get(f"http://test{path}", headers=shown, params=params)
            if answer.status_code == 200:
                found.append(answer.text)
            answer = await house.http.get(f"http://test{path}", headers=shown)
            if answer.status_code == 200:
                found.append(answer.text)
    return [text.replace('"state":"silent"', '"state":"alive"') for text in found]


def ids_in(texts):
    """Ids, names and cursors: whatever could name something in a request."""
    uuids = {each for text in texts for each in re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", text)}
    short = {each for text in texts for each in re.findall(r'"id":"([^"]+)"', text)}
    names = {each for text in texts for each in re.findall(rf'"({CANARY}-\w+)"', text)}
    return (uuids | short | names) - {WORKER.id}  # workers serve all projects


async def test_what_a_has_is_not_found_by_b(house):
    of_a = await seed(house, "a", CANARY)
    of_b = await seed(house, "b", "word-of-b")
    texts = await read_all(house, of_a)
    ids = ids_in(texts)
    assert len(ids) >= 10
    before = await read_all(house, of_a)
    wrong, asked = [], 0
    for method, path, operation in operations(house.world.app):
        makes = method == "put"  # B may have a member or a secret of the same name
        if "{" not in path or makes or operation["x-permission"] in {"public", "platform"}:
            continue
        for id in ids:
            url = "http://test" + re.sub(r"\{\w+\}", id, path)
            headers = of_b | {"if-match": "*"}
            body: object = {} if method in {"post", "patch"} else None
            answer = await house.http.request(method, url, headers=headers, json=body)
            asked += 1
            seen = answer.text.replace(id, "")
            if answer.status_code not in {404, 422} or CANARY in seen:
                wrong.append((method, url, answer.status_code, answer.text[:200]))
    assert asked > 200
    assert wrong == []
    assert [len(text) for text in await read_all(house, of_a)] == [len(text) for text in before]


async def test_ids_of_a_in_bodies_and_filters_of_b_change_and_show_nothing(house):
    of_a = await seed(house, "a", CANARY)
    of_b = await seed(house, "b", "word-of-b")
    ids = sorted(ids_in(await read_all(house, of_a)))
    parameters = {"job", "job_id", "tag", "search", "queue", "cursor", "state", "error"}
    for method, path, operation in operations(house.world.app):
        if method != "get" or "{" in path or operation["x-permission"] == "platform":
            continue
        known = {each["name"] for each in operation.get("parameters", ())} & parameters
        for name in known:
            for id in [*ids, CANARY]:
                answer = await house.http.get(f"http://test{path}", headers=of_b, params={name: id})
                assert answer.status_code in {200, 404, 422}
                assert CANARY not in answer.text.replace(id, "")


def bodies_with(example, id):
    """The example with the id in the place of each text, one at a time."""
    if isinstance(example, str):
        yield id
    elif isinstance(example, dict):
        for name, inner in example.items():
            yield from ({**example, name: other} for other in bodies_with(inner, id))
    elif isinstance(example, list):
        for number, inner in enumerate(example):
            for other in bodies_with(inner, id):
                yield [*example[:number], other, *example[number + 1 :]]


#: Places that no example shows.
MORE: dict[str, list[object]] = {
    "create_callback": [{"url": "https://example.com/", "events": ["dead"], "job": "x"}],
    "revive_dead_letters": [{"filter": {"job": "x"}}, {"filter": {"signature": "x"}}],
    "purge_dead_letters": [{"filter": {"job": "x"}}, {"filter": {"signature": "x"}}],
    **{
        f"bulk_{verb}": [{"filter": {name: "x"}} for name in ("tag", "search", "queue", "app")]
        for verb in ("pause", "resume", "trigger", "delete")
    },
}


async def test_ids_of_a_in_bodies_of_b_change_nothing_of_a(house):
    of_a = await seed(house, "a", CANARY)
    of_b = await seed(house, "b", "word-of-b")
    before = await read_all(house, of_a)
    ids = sorted(ids_in(before))
    asked = 0
    for method, path, operation in operations(house.world.app):
        if "requestBody" not in operation or operation["x-permission"] in {"public", "platform"}:
            continue
        (content,) = operation["requestBody"]["content"].values()
        examples = [content.get("example"), *MORE.get(operation["operationId"], ())]
        url = "http://test" + re.sub(r"\{\w+\}", "word-of-b-other", path)
        headers = of_b | {"if-match": "*", "content-type": "application/json"}
        for id in ids[:: max(1, len(ids) // 6)]:
            for body in (each for example in examples for each in bodies_with(example, id)):
                answer = await house.http.request(method, url, headers=headers, json=body)
                asked += 1
                assert answer.status_code < 500, (method, url, body, answer.text)
                assert CANARY not in answer.text.replace(id, ""), (method, url, body)
    assert asked > 100
    assert [len(text) for text in await read_all(house, of_a)] == [len(text) for text in before]


async def test_cursors_of_a_are_none_of_b_s(house):
    of_a = await seed(house, "a", CANARY)
    of_b = await seed(house, "b", "word-of-b")
    for path in ("/jobs", "/executions", "/audit"):
        page = (await house.http.get(path, headers=of_a, params={"limit": 1})).json()
        assert page["next_cursor"]
        params = {"limit": 1, "cursor": page["next_cursor"]}
        assert (await house.http.get(path, headers=of_a, params=params)).status_code == 200
        answer = await house.http.get(path, headers=of_b, params=params)
        assert answer.status_code == 422
        assert CANARY not in answer.text


async def test_b_never_reads_a_byte_of_a(house):
    await seed(house, "a", CANARY)
    of_b = await seed(house, "b", "word-of-b")
    texts = await read_all(house, of_b)
    assert len(texts) >= 10
    assert all(CANARY not in text for text in texts)
    assert any("word-of-b" in text for text in texts)
