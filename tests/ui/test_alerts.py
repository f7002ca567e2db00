"""The page of alerts: what fires first, and forms for rules and silences."""

from tests.ui.house import OWNER
from tickwell.services.access.actor import Role

PATH = "/alerts"


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


async def test_a_viewer_sees_alerts_and_changes_nothing(house):
    await house.administration.members.set(OWNER, "eve", Role.VIEWER)
    browser = await house.login("eve")
    page = await browser.see(PATH)
    assert "No alerts" in page.text
    assert not [form for form in page.forms if form.startswith(PATH)]
    done = await browser.post(f"{PATH}/rules", condition="missing", limit="25h")
    assert done.status_code == 403
