"""The pages of alerts and of channels: what fires first, forms for rules, silences, channels."""

import pytest

from tests.ui.house import OWNER
from tickwell.domain.alert import Alert, AlertState, ChannelKind, Condition, Rule
from tickwell.domain.policy import HOUR
from tickwell.services.access.actor import Role
from tickwell.services.alerts.book import StoredState, state_record

PATH, CHANNELS = "/alerts", "/settings/channels"


async def test_rules_and_silences_are_made_and_ended(house):
    await house.add("report")
    alerts = house.context.operations.alerts
    browser = await house.login()
    await browser.see(PATH)
    for condition, limit in [("missing", "25h"), ("missing", "06:00"), ("failing", "3")]:
        done = await browser.post(f"{PATH}/rules", condition=condition, limit=limit, job="report")
        assert done.status_code == 303
    made = [each for each in await alerts.rules(OWNER) if not each.is_built_in]
    assert [each.words for each in made] == [
        "no success for 1d1h",
        "no success by 06:00 (UTC)",
        "died 3 times in a row",
    ]
    assert (await browser.post(f"{PATH}/rules", condition="late", limit="5")).status_code == 422
    page = await browser.see(PATH)
    assert "no success by 06:00 (UTC)" in page.text
    await browser.post(f"{PATH}/silences", length="2h", why="moving", job="report")
    (silence,) = await alerts.silences(OWNER)
    assert silence.why == "moving"
    assert "moving" in (await browser.see(PATH)).text
    await browser.post(f"{PATH}/silences/{silence.id}/delete")
    assert await alerts.silences(OWNER) == []
    for rule in made:
        await browser.post(f"{PATH}/rules/{rule.id}/delete")
    assert all(each.is_built_in for each in await alerts.rules(OWNER))


async def test_the_page_of_a_job_says_what_alerts_it_has(house):
    job, other = await house.add("report"), await house.add("other")
    rule = Rule(id="r", condition=Condition.MISSING, after=HOUR)
    alert = Alert(name="report", text="no success; it <never> has", since=1, is_firing=True)
    stored = StoredState(rule=rule, state=AlertState(alerts={job: alert}), version=0)
    await house.store.put_record(state_record(OWNER.project, stored), 1)
    browser = await house.login()
    banner = "Alert firing: no success; it <never> has (no success for 1h)"
    assert banner in (await browser.see(f"/jobs/{job}")).text
    assert "Alert firing" not in (await browser.see(f"/jobs/{other}")).text


async def test_a_viewer_sees_alerts_and_changes_nothing(house):
    await house.admin.members.set(OWNER, "eve", Role.VIEWER)
    browser = await house.login("eve")
    page = await browser.see(PATH)
    assert "No alerts" in page.text
    assert not [form for form in page.forms if form.startswith(PATH)]
    done = await browser.post(f"{PATH}/rules", condition="missing", limit="25h")
    assert done.status_code == 403


async def test_a_channel_for_mail_is_added(house):
    browser = await house.login()
    await browser.see(CHANNELS)
    await browser.post(CHANNELS, name="m", kind="email", address="a@example.com, b@example.com")
    (made,) = await house.context.operations.alerts.channels(OWNER)
    assert made.to == "a@example.com, b@example.com"


@pytest.mark.parametrize("kind", ["slack", "pagerduty"])
async def test_a_channel_is_added_previewed_tried_and_deleted(house, kind):
    secret = "a-secret-of-32-letters-0123456789"
    address = secret if kind == "pagerduty" else f"https://93.184.215.14/hooks/{secret}"
    browser = await house.login()
    await browser.see(CHANNELS)
    filters = {"severity": "critical", "tags": "money, night", "queues": "mail"}
    page = await browser.post(CHANNELS, name="ops", kind=kind, address=address, **filters)
    assert page.status_code == 200
    assert "Signing key" not in page.text
    (made,) = await house.context.operations.alerts.channels(OWNER)
    assert (made.severity, made.tags, made.queues) == ("critical", ("money", "night"), ("mail",))
    shown = await browser.see(f"{CHANNELS}?preview={made.id}")
    assert "nightly-report" in shown.text
    assert secret not in page.text + shown.text
    done = await browser.post(f"{CHANNELS}/{made.id}/test")
    assert done.status_code == 303
    history = await browser.see(f"/jobs/{made.id}")
    assert secret not in history.text
    await browser.post(f"{CHANNELS}/{made.id}/delete")
    assert await house.context.operations.alerts.channels(OWNER) == []


async def test_the_signing_key_of_a_webhook_is_shown_once(house):
    browser = await house.login()
    await browser.see(CHANNELS)
    page = await browser.post(
        CHANNELS, name="hook", kind="webhook", address="https://93.184.215.14/"
    )
    assert "whsec_" in page.text
    assert "whsec_" not in (await browser.see(CHANNELS)).text
    secrets = await browser.see("/settings/secrets")
    assert "of a channel" in secrets.text


async def test_an_operator_tries_channels_and_changes_none(house):
    url, kind = "https://93.184.215.14/", ChannelKind.WEBHOOK
    made = await house.admin.channels.create(OWNER, "hook", kind, url=url)
    id = made.channel.id
    await house.admin.members.set(OWNER, "eve", Role.OPERATOR)
    browser = await house.login("eve")
    page = await browser.see(CHANNELS)
    assert [form for form in page.forms if form.startswith(CHANNELS)] == [f"{CHANNELS}/{id}/test"]
    assert (await browser.post(f"{CHANNELS}/{id}/test")).status_code == 303
    assert (await browser.post(f"{CHANNELS}/{id}/delete")).status_code == 403
    new = {"name": "x", "kind": "webhook", "address": url}
    assert (await browser.post(CHANNELS, **new)).status_code == 403
