"""Secrets and the hosts that they may be sent to."""

from typing import Any

import pytest

from tickwell.services.access.actor import Role

#: What is stored is the same everywhere.
pytestmark = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
ANY = {"if-match": "*"}


async def test_a_secret_beyond_its_hosts_is_refused_when_a_job_is_saved(house):
    http, admin = house.http, await house.key("a", Role.ADMIN)
    body: Any = {"value": "a long value", "hosts": ["api.example.com"]}
    made = await http.put("/secrets/token", json=body, headers=admin)
    assert made.json()["hosts"] == ["api.example.com"]
    job = {"name": "x", "trigger": {"on_demand": True}}
    auth: Any = {"oauth": {"token_url": "https://id.example/t", "client_id": "c"}}
    auth["oauth"]["client_secret"] = "{{secret.token}}"
    targets = [
        {"url": "https://evil.example/", "headers": {"X": "{{secret.token}}"}},
        {"url": "https://api.example.com/", "auth": auth},
    ]
    for target in targets:
        body = job | {"target": {"http": target}}
        refused = await http.post("/jobs", json=body, headers=admin)
        assert refused.status_code == 422
        assert "'token' may not be sent to" in refused.text
    good = {"url": "https://api.example.com/", "headers": {"X": "{{secret.token}}"}}
    saved = await http.post("/jobs", json=job | {"target": {"http": good}}, headers=admin)
    assert saved.status_code == 201, saved.text
    moved = {"target": {"http": {"url": "https://evil.example/"}}}
    refused = await http.patch("/jobs/x", json=moved, headers=admin | ANY)
    assert refused.status_code == 422
    listed = (await http.get("/secrets", headers=admin)).json()["items"]
    assert [each["hosts"] for each in listed] == [["api.example.com"]]
