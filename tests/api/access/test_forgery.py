"""Where webhooks may not go is said when the job is saved, and nothing is written."""

import pytest

from tests.executors.http.conftest import Names
from tickwell.executors.http.network.guard import Guard
from tickwell.services.access.actor import Role
from tickwell.services.jobs.admission import Admission

JOB = {"name": "j", "trigger": {"on_demand": True}}


@pytest.fixture
async def shown(house):
    names = Names(
        localhost=["127.0.0.1"],
        metadata_google_internal=["169.254.169.254"],
        wiki_corp_example=["10.0.0.1"],
        rebinding_example=["93.184.216.34", "10.0.0.1"],
        example_com=["93.184.216.34"],
    )
    house.world.operation_context.jobs.admit = Admission(Guard(), names, house.world.clock)
    return await house.key("a", Role.ADMIN)


URLS = [
    *("http://example.com/", "https://example.com:8443/", "https://localhost/"),
    *("https://127.0.0.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/"),
    *("https://0177.0.0.1/", "https://127.1/", "https://0/", "https://①②⑦.⓪.⓪.①/"),
    *("https://127。0。0。1/", "https://[::]/", "https://[::1]/", "https://[fe80::1%25eth0]/"),
    *("https://a@127.0.0.1/", "https://127.0.0.1\\@evil/", "https://evil#@127.0.0.1/"),
    *("https://169.254.169.254/", "https://[fd00:ec2::254]/", "https://[64:ff9b::7f00:1]/"),
    *("https://[2002:7f00:1::1]/", "https://[::ffff:127.0.0.1]/", "https://10.0.0.1/"),
    *("https://metadata.google.internal/", "https://printer.local/", "ftp://example.com/"),
    *("file:///etc/passwd", "https://{{secret.host}}/", "https://LOCALHOST/"),
]


@pytest.mark.parametrize("url", URLS)
async def test_the_corpus_is_refused_and_nothing_is_written(house, shown, url):
    target = {"http": {"url": url}}
    answer = await house.http.post("/jobs", json=JOB | {"target": target}, headers=shown)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    assert error["pointer"] == "/target/http/url"
    assert (await house.http.get("/jobs", headers=shown)).json()["items"] == []


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"target": {"http": {"url": "https://example.com/"}}}, ""),
        ({"target": {"http": {"url": "https://example.net/"}}}, "/target/http/url"),
        (
            {
                "target": {
                    "http": {
                        "url": "https://example.com/",
                        "auth": {
                            "oauth": {
                                "token_url": "https://example.net/",
                                "client_id": "a",
                                "client_secret": "{{secret.a}}",
                            }
                        },
                    }
                }
            },
            "/target/http/auth/oauth/token_url",
        ),
        (
            {"target": {"call": {"handler": "x"}}, "only_if": "https://example.net/changed"},
            "/only_if",
        ),
    ],
)
async def test_a_project_calls_hosts_of_its_list_only(house, shown, fields, pointer):
    guard = Guard(allow_hosts=["a:example.com", "b:*"])
    names, clock = Names(example_com=["93.184.216.34"]), house.world.clock
    house.world.operation_context.jobs.admit = Admission(guard, names, clock)
    answer = await house.http.post("/jobs", json=JOB | fields, headers=shown)
    found = [each["pointer"] for each in answer.json().get("errors", ())]
    assert found == ([pointer] if pointer else [])
    items = (await house.http.get("/jobs", headers=shown)).json()["items"]
    assert len(items) == (not pointer)


async def test_an_import_path_is_no_handler_and_nothing_is_written(house, shown):
    for handler, status in (("os:system", 422), ("os.path:join", 422), ("mail.send", 201)):
        target = {"call": {"handler": handler}}
        answer = await house.http.post("/jobs", json=JOB | {"target": target}, headers=shown)
        assert answer.status_code == status, answer.text
        if status == 422:
            (error,) = answer.json()["errors"]
            assert error["pointer"] == "/target/call/handler"
    (job,) = (await house.http.get("/jobs", headers=shown)).json()["items"]
    assert job["target"] == {"call": {"handler": "mail.send"}}
    named = {"target": {"call": {"handler": "os:system"}}}
    any_version = shown | {"if-match": "*"}
    assert (await house.http.patch("/jobs/j", json=named, headers=any_version)).status_code == 422


async def test_a_timeout_beyond_the_setting_is_refused_and_nothing_is_written(house, shown):
    names, clock = house.world.operation_context.jobs.admit._resolver, house.world.clock
    house.world.operation_context.jobs.admit = Admission(Guard(), names, clock, longest=3600)
    good = JOB | {"target": {"http": {"url": "https://example.com/"}}}
    for hard, status in (("61m", 422), ("1h", 201)):
        job = good | {"timeout": {"hard": hard}}
        answer = await house.http.post("/jobs", json=job, headers=shown)
        assert answer.status_code == status, answer.text
        if status == 422:
            (error,) = answer.json()["errors"]
            assert error["pointer"] == "/timeout/hard"
            assert "3,660 s is longer than the maximum of 3,600 s" in answer.text
    longer, any_version = {"timeout": {"hard": "2h"}}, shown | {"if-match": "*"}
    assert (await house.http.patch("/jobs/j", json=longer, headers=any_version)).status_code == 422
    (job,) = (await house.http.get("/jobs", headers=shown)).json()["items"]
    assert job["timeout"]["hard"] == "1h"


async def test_an_edit_and_a_batch_are_asked_too(house, shown):
    good = JOB | {"target": {"http": {"url": "https://example.com/"}}}
    bad = {"target": {"http": {"url": "https://10.0.0.1/"}}}
    assert (await house.http.post("/jobs", json=good, headers=shown)).status_code == 201
    changed = await house.http.patch("/jobs/j", json=bad, headers=shown | {"if-match": "*"})
    assert changed.status_code == 422
    batch = [good | {"name": "k"}, good | bad | {"name": "l"}]
    answer = await house.http.post("/jobs/batch", json={"jobs": batch}, headers=shown)
    assert answer.status_code == 422, answer.text
    items = (await house.http.get("/jobs", headers=shown)).json()["items"]
    assert [each["target"]["http"]["url"] for each in items] == ["https://example.com/"]


async def test_saving_tells_nobody_which_names_lead_inside(house, shown):
    """Each dial judges: what is inside is refused there, as `tests/executors/http` proves."""
    hosts = ("wiki.corp.example", "unknown.corp.example", "rebinding.example", "example.com")
    for number, host in enumerate(hosts):
        job = JOB | {"name": f"n{number}", "target": {"http": {"url": f"https://{host}/"}}}
        answer = await house.http.post("/jobs", json=job, headers=shown)
        assert answer.status_code == 201, answer.text
    assert house.world.operation_context.jobs.admit._resolver.asked == []
