"""What people and other programs wrote is shown as text, on every page."""

import re
from importlib.resources import files
from urllib.parse import quote

import pytest

from tests.ui.house import OWNER
from tests.ui.test_reach import crawl
from tickwell.domain.alert import ChannelKind
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.note import OUTPUT
from tickwell.domain.worker import Worker
from tickwell.errors import InvalidInput
from tickwell.ports.records import Record
from tickwell.services.access.actor import Role
from tickwell.services.callbacks.callback import CallbackEvent
from tickwell.ui.rendering import POLICY

#: Ways out of text, attributes, scripts, styles, comments, templates.
CORPUS = (
    "<x-evil>",
    "<script>evil()</script>",
    '"><img src=x onerror=evil()>',
    "' onmouseover='evil()",
    '" autofocus onfocus="evil()',
    "</textarea></title></pre><svg/onload=evil()>",
    "<!--<style>*{}</style>-->",
    "<a href='javascript:evil()'>x</a>",
    "{{7*7}}{% include 'base.html' %}",
    "&lt;x-evil&gt;",
)
EVIL = " ".join(CORPUS)
#: For places that take less.
SHORT = '"><x-evil onclick=evil()>'


async def infest(house):
    """All places that somebody else may fill."""
    admin, operations = house.admin, house.context.operations
    hook = {"http": {"url": f"http://127.0.0.1:9/{quote(SHORT)}", "headers": {"x-a": SHORT}}}
    fields = {"description": EVIL, "tags": [SHORT], "payload": {EVIL: [EVIL]}, "queue": SHORT}
    await house.add(SHORT + "hook", target=hook, payload={EVIL: EVIL})
    job = await house.add(SHORT, retry={"max_attempts": 1}, **fields | {"queue": "default"})
    await house.add(SHORT + "q", **fields)
    await operations.jobs.patch(OWNER, job, {"description": EVIL + EVIL})
    dead = await house.run(job, OutcomeKind.FAILED, error=EVIL)
    result = {"status": 200, "body": EVIL, "bytes": 1, EVIL: EVIL}
    await house.run(job, result=result)
    note = {"attempt": 1, "lines": [EVIL]}
    await house.store.put_record(
        Record(kind=OUTPUT, project="default", key=f"{dead}/00000001", document=note),
        house.clock.now(),
    )
    await operations.jobs.pause(OWNER, job, why=EVIL)
    await operations.queues.pause(OWNER, SHORT, why=EVIL)
    worker = Worker(
        id="x", host=EVIL, pid=1, queues=(SHORT,), abilities=(SHORT,), capacity=1, started_at=0
    )
    await house.store.beat(worker, house.clock.now())
    await admin.keys.create(OWNER, EVIL[:200], Role.VIEWER)
    await admin.projects.create(OWNER, "acme", title=EVIL[:200])
    told = frozenset({CallbackEvent.DEAD})
    await admin.callbacks.create(OWNER, hook["http"]["url"], told, job)
    await admin.channels.create(
        OWNER,
        EVIL.replace("/", "")[:200],
        ChannelKind.WEBHOOK,
        url=hook["http"]["url"],
        tags=[SHORT],
        queues=[SHORT],
    )
    await admin.secrets.set(OWNER, "token", EVIL)
    return job


async def test_whatever_is_stored_is_shown_as_text(house):
    job = await infest(house)
    browser = await house.login()
    found = await crawl(browser)
    for path in ("/jobs", "/executions", "/dead", "/timeline", "/calendar"):
        for name in ("q", "state", "queue", "tag", "job", "cursor", "since"):
            found[f"{path} {name}"] = await _page(browser, f"{path}?{name}={quote(EVIL[:250])}")
    for path in (f"/{quote(SHORT)}", f"/jobs/{quote(SHORT)}", f"/login?next=/{quote(EVIL)}"):
        found[path] = await _page(browser, path)
    assert len(found) > 60
    for path, page in found.items():
        assert _faults(page) == [], path
    shown = [path for path, page in found.items() if "<x-evil" in page.text]
    kinds = {re.sub(r"[0-9a-f]{8}-[0-9a-f-]+", "ID", path).split("?")[0] for path in shown}
    assert {"/", "/jobs", "/jobs/ID", "/jobs/ID/versions", "/jobs/ID/edit"} <= kinds
    assert {"/executions", "/executions/ID", "/dead", "/workers", "/timeline"} <= kinds
    assert {"/settings/keys", "/settings/audit", "/settings/projects"} <= kinds
    assert "s3cret" not in "".join(page.source for page in found.values())
    assert (await browser.post("/jobs/save", document=EVIL, side="document")).status_code == 422
    for action in ("/jobs/save", "/jobs/preview", "/jobs/try"):
        answer = await browser.post(action, id=job, document=f'{{"name": "{SHORT!r}"', side="x")
        assert _faults(browser.read(answer)) == [], action


async def test_no_control_character_of_a_handler_reaches_a_page(house):
    """Changes of direction would turn what stands beside them, and C1 is not to be seen."""
    text = "no \x1b[31mroute \x9b31m\u202etxt.exe 50 %\r100 %"
    shown = "no \\x1b[31mroute \\x9b31m\\u202etxt.exe 50 %"
    job = await house.add("frail", retry={"max_attempts": 1})
    dead = await house.run(job, OutcomeKind.FAILED, error=text)
    note = Record(
        kind=OUTPUT,
        project="default",
        key=f"{dead}/00000001",
        document={"attempt": 1, "lines": [text]},
    )
    await house.store.put_record(note, house.clock.now())
    browser = await house.login()
    for path in ("/", "/dead", "/executions", "/executions?state=dead", f"/executions/{dead}"):
        page = await browser.see(path)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page.source), path
    assert f"{shown}\n100 %" in page.source
    assert shown in (await browser.see("/")).source


async def _page(browser, path):
    return browser.read(await browser.get(path))


def _faults(page):
    """Tags and attributes that are not ours."""
    found = []
    for tag, attributes in page.tags:
        if tag in {"x-evil", "img", "style", "iframe", "object", "base"}:
            found.append(tag)
        if tag == "script" and not (attributes.get("src") or "").startswith("/static/"):
            found.append("a script of somebody else")
        for name, value in attributes.items():
            if name.startswith(("on", "hx-on")) or name == "style":
                found.append(name)
            if name in {"href", "action", "formaction", "src"} and not re.match(
                r"[/#?]|$", value or ""
            ):
                found.append(f"{name}={value}")
    return found


async def test_names_that_could_be_markup_are_refused_where_names_are_addresses(house):
    admin = house.admin
    with pytest.raises(InvalidInput):
        await admin.secrets.set(OWNER, SHORT, "a long value")
    with pytest.raises(InvalidInput):
        await admin.members.set(OWNER, SHORT, Role.VIEWER)
    with pytest.raises(InvalidInput):
        await admin.projects.create(OWNER, SHORT)


async def test_every_answer_has_one_policy(house):
    browser = await house.login()
    paths = ["/", "/jobs", "/settings", "/nothing", "/login", "/jobs?state=wrong", "/workers"]
    for path in paths:
        answer = await browser.get(path)
        assert answer.headers.get_list("content-security-policy") == [POLICY], path
        assert answer.headers.get_list("referrer-policy") == ["same-origin"], path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    assert "unsafe" not in POLICY


def test_nothing_but_our_own_icons_is_put_into_a_page_as_it_is():
    folder = files("tickwell.ui") / "templates"
    texts = {
        each.name: each.read_text("utf-8")
        for part in (folder, folder / "settings")
        for each in part.iterdir()
        if each.name.endswith(".html")
    }
    assert len(texts) > 25
    unescaped = {name: re.findall(r"[^{]*\|\s*safe", text) for name, text in texts.items()}
    assert {name: found for name, found in unescaped.items() if found} == {
        "macros.html": [" paths[name] | safe"]
    }
    for name, text in texts.items():
        assert "autoescape" not in text, name
        assert " style=" not in text, name
        assert not re.search(r"<script(?! src=)", text), name
