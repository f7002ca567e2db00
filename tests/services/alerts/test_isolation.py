"""What is wrong with one project, or of a newer version, costs no other alert."""

import logging

from tests.services.alerts.watch import HOURS, PROJECT
from tickwell.ports.records import Record
from tickwell.services.alerts.book import RULE, STATE, begin

#: Evaluated before the project of the tests.
OTHER = "acme"


def logged(caplog, event):
    return [each for each in caplog.records if getattr(each, "event", None) == event]


async def put(watch, kind, project, key, document):
    record = Record(kind=kind, project=project, key=key, document=document)
    await watch.store.put_record(record, watch.clock.instant)


async def test_a_project_that_cannot_be_evaluated_costs_the_others_nothing(watch, caplog):
    told, _ = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    await begin(watch.store, OTHER, watch.clock.instant)
    await put(watch, RULE, OTHER, "broken", {"condition": "missing", "newer": 1})
    watch.clock.instant += HOURS
    await watch.look(3)
    assert await watch.told(told, rule) == [("firing", "report")]
    (line,) = logged(caplog, "alert_evaluation_failed")
    assert line.project == OTHER


async def test_rules_and_states_of_a_newer_version_are_left_alone(watch, caplog):
    told, _ = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    newer = rule.to_document() | {"condition": "tomorrow"}
    await put(watch, RULE, PROJECT, "newer", newer)
    await put(watch, STATE, PROJECT, "newer", {"rule": newer, "state": {}})
    watch.clock.instant += HOURS
    await watch.look(2)
    assert await watch.told(told, rule) == [("firing", "report")]
    assert logged(caplog, "alert_evaluation_failed") == []
    assert await watch.store.get_record(STATE, PROJECT, "newer", watch.clock.instant) is not None


async def test_what_is_reported_is_logged_once(watch, caplog):
    caplog.set_level(logging.INFO, "tickwell")
    job = await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    watch.clock.instant += HOURS
    await watch.look(3)
    (line,) = logged(caplog, "alert_firing")
    assert (line.project, line.rule, line.words) == (PROJECT, rule.id, "no success for 1h")
    assert (line.count, line.names, line.repeated) == (1, "report", False)
    await watch.end(job)
    await watch.look(2)
    (line,) = logged(caplog, "alert_resolved")
    assert (line.count, line.names) == (1, "report")
