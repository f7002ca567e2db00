"""Pings by the URLs of healthchecks.io, and the operations on monitors."""

import asyncio

import pytest

from tickwell.domain.execution import State
from tickwell.errors import StoreUnavailable
from tickwell.ports.records import ExecutionFilter
from tickwell.services.access.actor import Permission
from tickwell.services.monitors.pings import ADDED, PER_TOKEN, UNKNOWN
from tickwell.services.monitors.tokens import TOKEN
from tickwell.services.projects.platform import PLATFORM

UNUSED = "00000000-0000-4000-8000-000000000000"
MONITOR = {"name": "backup", "every": "1d", "grace": "30m"}


async def made(world, **fields):
    answer = await world.http.post("/monitors", json=MONITOR | fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def ping(world, url, method="GET", **request):
    return await world.http.request(method, url.removeprefix("http://test"), **request)


async def runs(world):
    found = (await world.store.list_executions(ExecutionFilter())).items
    return [each.state for each in found]


@pytest.fixture
def root(world):
    """The client at the root of the server."""
    world.http.base_url = "http://test"
    return world


async def status_of(world, name="backup"):
    return (await world.http.get(f"/api/v1/monitors/{name}")).json()["status"]


@pytest.fixture
async def url(root):
    answer = await root.http.post("/api/v1/monitors", json=MONITOR)
    assert answer.status_code == 201, answer.text
    assert answer.json()["status"] == "new"
    return answer.json()["ping_url"]


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
async def test_a_ping_is_a_success(root, url, method):
    answer = await ping(root, url, method)
    assert answer.status_code == 200
    assert answer.text == ("" if method == "HEAD" else "OK")
    assert answer.headers["content-type"].startswith("text/plain")
    assert await status_of(root) == "up"


@pytest.mark.parametrize(
    ("action", "status"),
    [("/start", "started"), ("/fail", "down"), ("/0", "up"), ("/3", "down"), ("/log", "new")],
)
async def test_an_action_says_what_happened(root, url, action, status):
    assert (await ping(root, url + action)).text == "OK"
    assert await status_of(root) == status


async def test_a_body_is_kept_as_the_log(root, url):
    await ping(root, url, "POST", content=b"3 files copied")
    (execution,) = (await root.store.list_executions(ExecutionFilter())).items
    assert execution.result == "3 files copied"
    await ping(root, f"{url}/log", "POST", content=b"x" * 50_000)
    shown = (await root.http.get("/api/v1/monitors/backup")).json()
    assert shown["last_log"] == "x" * 10_000


@pytest.mark.parametrize("log", [b"a=1&" * 5_000, b"x" * 1_048_577], ids=["ampersands", "long"])
async def test_no_log_costs_a_check_in(root, url, log):
    """curl says of any body that it is a form."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert (await ping(root, url, "POST", content=log, headers=form)).text == "OK"
    assert await status_of(root) == "up"


async def test_the_beginning_of_a_long_log_is_kept(root, url):
    async def parts():
        for _ in range(300):
            yield b"a=1&" * 1_000

    await ping(root, url, "POST", content=parts())
    (execution,) = (await root.store.list_executions(ExecutionFilter())).items
    assert execution.result == "a=1&" * 2_500


async def test_a_run_has_a_name(root, url):
    for run in ("a", "b"):
        await ping(root, f"{url}/start?rid={run}")
    await ping(root, f"{url}?rid=a")
    assert sorted(await runs(root)) == [State.RUNNING, State.SUCCEEDED]


@pytest.mark.parametrize("action", ["/256", "/-1", "/stop", "/start/now", "/١"])  # noqa: RUF001
async def test_another_action_is_refused(root, url, action):
    answer = await ping(root, url + action)
    assert (answer.status_code, answer.text) == (400, "invalid url format")
    assert await runs(root) == []


async def test_unknown_and_other_tokens_are_answered_alike(root, url):
    answers = [
        await ping(root, f"/ping/{token}")
        for token in (UNUSED, "report", "", url.rpartition("/")[2][:-1] + "x")
    ]
    assert {(each.status_code, each.text) for each in answers} == {(404, "not found")}


async def test_a_token_is_stored_as_its_hash(root, url):
    token = url.rpartition("/")[2]
    (record,) = await root.store.list_records(TOKEN, PLATFORM, "", root.clock.now())
    assert token not in str(record)


async def test_a_rotated_token_is_refused_at_once(root, url):
    new = (await root.http.post("/api/v1/monitors/backup/rotate")).json()["ping_url"]
    assert new != url
    assert (await ping(root, url)).status_code == 404
    assert (await ping(root, new)).status_code == 200


async def test_of_rotations_at_once_one_token_is_left(root, url):
    answers = await asyncio.gather(
        *(root.http.post("/api/v1/monitors/backup/rotate") for _ in range(5))
    )
    made = [each.json()["ping_url"] for each in answers if each.status_code == 200]
    assert {each.status_code for each in answers} <= {200, 409}
    works = [each for each in [url, *made] if (await ping(root, each)).status_code == 200]
    assert len(works) == 1


async def test_a_deleted_monitor_is_not_found(root, url):
    job = (await root.http.get("/api/v1/monitors/backup")).json()["id"]
    assert (await root.http.delete(f"/api/v1/jobs/{job}", headers={"If-Match": "*"})).is_success
    assert (await ping(root, url)).status_code == 404


async def test_a_store_that_is_away_asks_for_another_ping(root, url, monkeypatch):
    async def away(*_asked):
        raise StoreUnavailable("the store is away")

    monkeypatch.setattr(root.store, "get_record", away)
    for each in (url, f"/ping/{UNUSED}"):
        assert (await ping(root, each)).status_code == 503


class Still:
    """A clock that stands still, so that nothing is refilled."""

    def __init__(self, instant):
        self.now = lambda: instant


@pytest.fixture
def still(root):
    root.context.pings._clock = Still(root.clock.now())


@pytest.mark.usefixtures("still")
async def test_a_url_is_limited(root, url):
    for _ in range(PER_TOKEN.limit):
        assert (await ping(root, f"{url}/log")).status_code == 200
    answer = await ping(root, f"{url}/log")
    assert (answer.status_code, answer.text) == (429, "rate limited")
    assert int(answer.headers["retry-after"]) == 1


@pytest.mark.usefixtures("still")
async def test_guesses_are_limited(root, url):
    pings = root.context.pings
    pings._unknown.spend("127.0.0.1", UNKNOWN.limit - 1, pings._clock.now(), pings._clock.now())
    assert (await ping(root, f"/ping/{UNUSED}")).status_code == 404
    assert (await ping(root, f"/ping/{UNUSED}")).status_code == 429


@pytest.mark.usefixtures("still")
async def test_a_valid_token_is_not_held_up_by_guesses_from_its_address(root, url):
    pings = root.context.pings
    assert (await ping(root, f"{url}/log")).status_code == 200
    pings._unknown.spend("127.0.0.1", UNKNOWN.limit, pings._clock.now(), pings._clock.now())
    assert (await ping(root, f"{url}/log")).status_code == 200
    assert (await ping(root, f"/ping/{UNUSED}")).status_code == 429
    await root.http.post("/api/v1/monitors/backup/rotate")
    assert (await ping(root, f"{url}/log")).status_code == 404
    assert (await ping(root, f"{url}/log")).status_code == 429


class TestPingKey:
    @pytest.fixture
    async def key(self, root):
        return (await root.http.post("/api/v1/ping-key")).json()["ping_key"]

    async def test_it_finds_a_monitor_by_its_name(self, root, url, key):
        assert (await ping(root, f"/ping/{key}/backup/start")).text == "OK"
        assert await status_of(root) == "started"

    async def test_a_name_that_is_unknown_is_not_found(self, root, key):
        assert (await ping(root, f"/ping/{key}/other")).text == "not found"
        assert (await ping(root, f"/ping/{key}")).text == "not found"

    async def test_a_monitor_is_added_when_the_url_says_so(self, root, key):
        answer = await ping(root, f"/ping/{key}/nightly?create=1")
        assert (answer.status_code, answer.text) == (201, "Created")
        again = await ping(root, f"/ping/{key}/nightly?create=1")
        assert (again.status_code, again.text) == (200, "OK")
        shown = (await root.http.get("/api/v1/monitors/nightly")).json()
        assert (shown["grace"], shown["trigger"]) == ("1h", {"every": "1d", "after": "finish"})

    async def test_pings_at_once_add_one_monitor(self, root, key):
        answers = await asyncio.gather(
            *(ping(root, f"/ping/{key}/nightly?create=1") for _ in range(5))
        )
        assert sorted(each.status_code for each in answers) == [200, 200, 200, 200, 201]
        page = (await root.http.get("/api/v1/monitors")).json()
        assert [each["name"] for each in page["items"]] == ["nightly"]

    async def test_a_job_that_tickwell_runs_is_no_monitor(self, root, key):
        assert (
            await root.http.post(
                "/api/v1/jobs",
                json={
                    "name": "report",
                    "trigger": {"on_demand": True},
                    "target": {"call": {"handler": "x"}},
                },
            )
        ).status_code == 201
        assert (await ping(root, f"/ping/{key}/report")).status_code == 404
        assert (await root.http.get("/api/v1/monitors/report")).status_code == 404

    @pytest.mark.usefixtures("still")
    async def test_it_adds_so_many_monitors_and_no_more(self, root, url, key):
        pings = root.context.pings
        now = pings._clock.now()
        pings._added.spend("default", ADDED.limit - 1, now, now)
        assert (await ping(root, f"/ping/{key}/one?create=1")).status_code == 201
        answer = await ping(root, f"/ping/{key}/two?create=1")
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "36")
        assert (await ping(root, f"/ping/{key}/backup?create=1")).status_code == 200

    @pytest.mark.parametrize("name", ["%00", "a%00b", "%ff", "%0a", "%ed%a0%80", "x" * 300])
    async def test_what_is_no_name_is_not_found(self, root, key, name):
        answer = await ping(root, f"/ping/{key}/{name}?create=1")
        assert (answer.status_code, answer.text) == (404, "not found")

    async def test_it_rotates(self, root, url, key):
        await root.http.post("/api/v1/ping-key")
        assert (await ping(root, f"/ping/{key}/backup")).status_code == 404


async def test_a_schedule_is_one_of_two(world):
    for fields in ({"every": None}, {"trigger": {"cron": "0 3 * * *"}}):
        answer = await world.http.post("/monitors", json=MONITOR | fields)
        assert answer.status_code == 422
        assert "exactly one of" in answer.text


async def test_who_reads_sees_no_url(world):
    await made(world)
    world.as_actor(Permission.READ)
    page = (await world.http.get("/monitors")).json()
    assert "ping_url" not in page["items"][0]
    assert (await world.http.post("/monitors/backup/rotate")).status_code == 403
    assert (await world.http.post("/monitors", json=MONITOR)).status_code == 403
