"""Jobs that are added as paused: `state` and `pause` of the canonical document."""

ANY = {"If-Match": "*"}
UNTIL = "2999-01-07T00:00:00.000Z"
PAUSED = {"state": "paused", "pause": {"why": "holidays", "until": UNTIL}}


def a_job(name="report", **fields):
    trigger, target = {"every": "1m"}, {"call": {"handler": "x"}}
    return {"name": name, "trigger": trigger, "target": target} | fields


def pause_of(job):
    return job["state"], job["pause"] and (job["pause"]["why"], job["pause"]["until"])


async def test_a_job_is_added_as_its_document_says(http):
    for name, fields, expected in (
        ("plain", {}, ("active", None)),
        ("active", {"state": "active", "pause": None}, ("active", None)),
        ("paused", {"state": "paused"}, ("paused", ("added as paused", None))),
        ("until", PAUSED, ("paused", ("holidays", UNTIL))),
    ):
        answer = await http.post("/jobs", json=a_job(name, **fields))
        assert (answer.status_code, pause_of(answer.json())) == (201, expected)
        assert pause_of((await http.get(f"/jobs/{name}")).json()) == expected


async def test_jobs_of_a_batch_are_added_as_each_document_says(http):
    for path, last in (
        ("/jobs/batch", {"state": "paused"}),
        ("/api/jobs/batch", {"enabled": False}),
    ):
        names = [path + name for name in ("a", "b", "c")]
        states: list[dict] = [{}, PAUSED, last]
        jobs = [a_job(name, **state) for name, state in zip(names, states, strict=True)]
        url = path if path.startswith("/jobs") else f"http://test{path}"
        answer = await http.post(url, json={"jobs": jobs})
        assert answer.status_code == 201, answer.text
        assert [pause_of(job) for job in answer.json()["items"]] == [
            ("active", None),
            ("paused", ("holidays", UNTIL)),
            ("paused", ("added as paused", None)),
        ]


async def test_what_cannot_be_is_pointed_at_and_nothing_is_added(http):
    for fields, pointer in (
        ({"state": "finished"}, "/state"),
        ({"state": "stopped"}, "/state"),
        ({"state": "active", "pause": {}}, "/state"),
        ({"pause": {"until": "soon"}}, "/pause"),
        ({"enabled": False}, "/enabled"),
    ):
        answer = await http.post("/jobs", json=a_job(**fields))
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer
        many = await http.post("/jobs/batch", json={"jobs": [a_job("one"), a_job(**fields)]})
        assert many.status_code == 422
        assert many.json()["errors"][0]["pointer"] == f"/jobs/1{pointer}"
    assert (await http.get("/jobs")).json()["items"] == []


async def test_an_edit_does_not_change_the_state_and_says_so(http):
    job = (await http.post("/jobs", json=a_job(**PAUSED))).json()
    assert (await http.put("/jobs/report", json=job, headers=ANY)).status_code == 200
    changed = job | {"state": "active", "pause": None}
    for method, body in (("PUT", changed), ("PATCH", {"state": "active"})):
        answer = await http.request(method, "/jobs/report", json=body, headers=ANY)
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert (error["pointer"], error["hint"]) == ("/state", "Pause or resume the job")
    same = {"state": "paused", "priority": 7}
    patched = await http.patch("/jobs/report", json=same, headers=ANY)
    assert (patched.status_code, patched.json()["job"]["priority"]) == (200, 7)
    assert pause_of(patched.json()["job"]) == ("paused", ("holidays", UNTIL))
