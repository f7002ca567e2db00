"""Where nobody is asked who they are: what pages of other sites cannot have a browser do."""

import pytest

from tests.api.conftest import CALL

JOB = {"name": "report", "trigger": {"on_demand": True}, "target": CALL}
FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost:9999"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
async def test_other_sites_change_nothing(http, headers):
    answer = await http.post("/jobs", json=JOB, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (
        401,
        "urn:tickwell:problem:unauthenticated",
    )
    assert (await http.delete("/jobs/report", headers=headers)).status_code == 401
    assert (await http.get("/jobs", headers=headers)).json()["items"] == []


async def test_our_own_pages_and_programs_do(http):
    own = {"origin": "http://test", "sec-fetch-site": "same-origin"}
    assert (await http.post("/jobs", json=JOB, headers=own)).status_code == 201
    assert (await http.delete("/jobs/report")).status_code == 200


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]:80"]
)
async def test_this_machine_has_several_names(http, host):
    assert (await http.get("/jobs", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[", ""],
)
async def test_a_name_that_was_led_here_is_not_answered(http, host):
    for method in ("GET", "POST"):
        answer = await http.request(method, "/jobs", headers={"host": host})
        assert (answer.status_code, answer.json()["type"]) == (
            421,
            "urn:tickwell:problem:misdirected",
        )


async def test_a_page_cannot_leave_out_what_a_body_is(http):
    answer = await http.post("/jobs", content=b"{}")
    assert answer.status_code == 415
