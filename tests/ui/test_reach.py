"""Everything that the API can change is reached by a form on some page."""

import re

from tests.ui.house import OWNER
from tickwell.domain.alert import ChannelKind, Condition
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.policy import HOUR
from tickwell.domain.step import WAIT, Step
from tickwell.domain.trigger import Every
from tickwell.services.access.actor import Role
from tickwell.services.callbacks.callback import CallbackEvent
from tickwell.services.projects.maintenance import Schedule
from tickwell.services.time import After
from tickwell.ui.app import pages

#: What changes something over the API, and the form that does the same.
FORMS = {
    "create_job": "/jobs/save",
    "replace_job": "/jobs/save",
    "patch_job": "/jobs/save",
    "delete_job": "/jobs/{id}/delete",
    "pause_job": "/jobs/{id}/pause",
    "resume_job": "/jobs/{id}/resume",
    "trigger_job": "/jobs/{id}/trigger",
    "backfill_job": "/jobs/{id}/backfill",
    "skip_occurrence": "/jobs/{id}/skip",
    "unskip_occurrence": "/jobs/{id}/unskip",
    "create_monitor": "/monitors",
    "rotate_monitor": "/monitors/{id}/rotate",
    "cancel_execution": "/executions/{id}/cancel",
    "answer_execution": "/executions/{id}/answer",
    "revive_execution": "/executions/{id}/revive",
    "revive_dead_letters": "/dead/revive",
    "purge_dead_letters": "/dead/purge",
    "pause_queue": "/queues/{name}/pause",
    "resume_queue": "/queues/{name}/resume",
    "pause_project": "/project/pause",
    "resume_project": "/project/resume",
    "pause_platform": "/platform/pause",
    "resume_platform": "/platform/resume",
    "put_maintenance": "/maintenance",
    "end_maintenance": "/maintenance/{name}/end",
    "delete_maintenance": "/maintenance/{name}/delete",
    "put_platform_maintenance": "/maintenance",
    "end_platform_maintenance": "/platform/maintenance/{name}/end",
    "delete_platform_maintenance": "/platform/maintenance/{name}/delete",
    "answer_backlog": "/backlog",
    "answer_platform_backlog": "/platform/backlog",
    "bulk_pause": "/jobs/bulk",
    "bulk_resume": "/jobs/bulk",
    "bulk_trigger": "/jobs/bulk",
    "bulk_delete": "/jobs/bulk",
    "preview_trigger": "/jobs/preview",
    "create_key": "/settings/keys",
    "rotate_key": "/settings/keys/{id}/rotate",
    "revoke_key": "/settings/keys/{id}/revoke",
    "set_member": "/settings/members",
    "remove_member": "/settings/members/remove",
    "create_user": "/settings/users",
    "change_user": "/settings/users/change",
    "remove_user": "/settings/users/remove",
    "make_login_link": "/settings/users/link",
    "create_project": "/settings/projects",
    "appoint_admin": "/settings/projects/{name}/admins",
    "set_limits": "/settings/projects/{name}/limits",
    "set_retention": "/settings/retention",
    "delete_project": "/settings/projects/{name}/delete",
    "rewrap_secrets": "/settings/rewrap",
    "put_calendar": "/settings/calendars",
    "delete_calendar": "/settings/calendars/delete",
    "set_secret": "/settings/secrets",
    "delete_secret": "/settings/secrets/delete",
    "create_callback": "/settings/callbacks",
    "delete_callback": "/settings/callbacks/{id}/delete",
    "create_channel": "/settings/channels",
    "delete_channel": "/settings/channels/{name}/delete",
    "send_channel_test": "/settings/channels/{name}/test",
    "create_alert_rule": "/alerts/rules",
    "delete_alert_rule": "/alerts/rules/{id}/delete",
    "create_silence": "/alerts/silences",
    "delete_silence": "/alerts/silences/{id}/delete",
    "send_test_alert": "/alerts/test",
    "log_in": "/login",
    "log_out": "/logout",
    "set_password": "/settings/password",
}
#: And what no page needs.
EXEMPT = {
    "create_jobs": "a thousand at once come from a file or a program",
    "answer_by_link": "the address is for a program; the page has a button",
    "rotate_ping_key": "a ping key is for scripts: `tickwell monitors rotate`",
    "issue_token": "a token is for a program; a person has a session",
}
#: Forms of the pages' own: nothing of them is anybody's but the visitor's.
OWN = {
    "/preferences/theme",
    "/preferences/project",
    "/jobs/try",
    "/jobs/undo",
    # `answer_backlog` for one job.
    "/jobs/{id}/backlog",
    "/jobs/{id}/versions/{version}/restore",
    # `put_calendar` with the days that it has.
    "/settings/calendars/renew",
    # `set_secret` without a value.
    "/settings/secrets/hosts",
}


async def furnish(house):
    """Something of every kind that a page shows."""
    admin, operations = house.admin, house.context.operations
    await admin.projects.create(OWNER, "acme")
    await admin.members.set(OWNER, "ada", Role.VIEWER)
    await admin.secrets.set(OWNER, "token", "s3cret value")
    await operations.calendars.put(OWNER, "it-holidays", country="IT")
    told = frozenset({CallbackEvent.DEAD})
    await admin.callbacks.create(OWNER, "http://127.0.0.1:9/told", told)
    await operations.monitors.create(OWNER, "backup", Every("1d"))
    hook = ChannelKind.WEBHOOK
    await admin.channels.create(OWNER, "ops", hook, url="http://127.0.0.1:9/told")
    await house.add("paused")
    await operations.jobs.pause(OWNER, "paused")
    once = {"max_attempts": 1}
    job = await house.add("report", retry=once, payload={"a": 1}, trigger={"every": "1h"})
    await operations.jobs.patch(OWNER, job, {"tags": ["money"]})
    await house.run(job, OutcomeKind.FAILED, error="no")
    await house.run(job, result={"rows": 7})
    (upcoming,), _ = await operations.slots.next_fires(OWNER, job, 1)
    await operations.slots.skip(OWNER, job, upcoming)
    await operations.executions.trigger(OWNER, job, run_at=house.clock.now() + 60_000)
    asking = await house.run(job, None)
    now = house.clock.now()
    asked = {"expires_at": now + HOUR}
    step = Step(execution=asking, attempt=1, name=f"{WAIT}ok", value=asked, at=now, is_final=False)
    await house.store.write_steps([step])
    await house.hold(job)
    await operations.queues.pause(OWNER, "mail")
    await operations.maintenance.put(OWNER, "move", Schedule(length=HOUR))
    await operations.maintenance.put_all(OWNER, "move", Schedule(length=HOUR))
    await operations.alerts.create_rule(OWNER, Condition.MISSING, after=90_000_000)
    await operations.alerts.silence(OWNER, After(60_000), why="moving")


async def crawl(browser, root=""):
    """All pages that links lead to, by address."""
    seen, waiting = {}, [f"{root}/", f"{root}/login"]
    while waiting:
        path = waiting.pop()
        if path in seen or path.endswith("/export"):
            continue
        seen[path] = await browser.see(path)
        waiting += [link for link in seen[path].links if _is_new(link, seen)]
    return seen


def _is_new(link, seen):
    """One page of each kind of filter is enough."""
    shape = re.sub(r"=[^&]*", "=", link)
    return all(re.sub(r"=[^&]*", "=", known) != shape for known in seen)


async def test_every_change_over_the_api_is_reached_by_a_form(house):
    await furnish(house)
    browser = await house.login()
    found = await crawl(browser)
    await browser.post("/jobs/bulk", action="pause", matching="q=report")
    found |= {"after a change of many": await browser.see("/jobs")}
    await house.context.operations.pauses.pause(OWNER)
    await house.context.operations.pauses.pause_all(OWNER)
    found |= {"everything is paused": await browser.see("/")}
    day = "since=2026-01-01T00:00&until=2026-01-02T00:00"
    found |= {"a day that is over": await browser.see(f"/jobs/report/slots?{day}")}
    found |= {"stranger": await house.browser().see("/login")}
    actions = {action for page in found.values() for action in page.forms}
    reached = {form for form in _forms() if any(_leads_to(each, form) for each in actions)}
    changing = {
        operation["operationId"]
        for methods in house.app.openapi()["paths"].values()
        for method, operation in methods.items()
        if method not in {"get", "head"}
    }
    assert changing - FORMS.keys() - EXEMPT.keys() == set()
    assert (FORMS.keys() | EXEMPT.keys()) - changing == set()
    assert {name for name in FORMS if FORMS[name] not in reached} == set()
    assert _forms() - reached == set(), "a form of ours that no page has"
    assert _forms() - set(FORMS.values()) == OWN


def _forms():
    return {route.path for route in pages() if "POST" in (route.methods or ())}


def _leads_to(action, form):
    pattern = re.sub(r"\{\w+\}", "[^/]+", form)
    fixed = [each for each in _forms() if "{" not in each]
    return action == form or (action not in fixed and re.fullmatch(pattern, action) is not None)
