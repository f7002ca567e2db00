"""States of tasks as outcomes of attempts, and who may send which task."""

from typing import Any

import pytest

from tickwell import Celery
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.target import why_forbidden
from tickwell.errors import InvalidSetting
from tickwell.executors.celery.task_state import UNREADABLE, TaskState, outcome_of
from tickwell.executors.results import MARK
from tickwell.settings import Settings

TASK = Celery("shop.add", queue="billing")


def raised(kind, message="because"):
    return {"exc_type": kind, "exc_message": [message], "exc_module": "shop"}


def unread(status, traceback=None):
    """As from a database: the status is readable, the result is not."""
    return TaskState(status, traceback=traceback, unread="DecodeError")


@pytest.mark.parametrize(
    ("state", "kind", "error"),
    [
        (TaskState("REVOKED", raised("TaskRevokedError", "terminated")), "cancelled", "terminated"),
        (TaskState("REJECTED", raised("Reject")), "failed", "rejected the task: because"),
        (TaskState("FAILURE", raised("TimeLimitExceeded", "300")), "timed_out", "Exceeded: 300"),
        (
            TaskState("FAILURE", raised("KeyError"), "Traceback\nKeyError: 7"),
            "failed",
            "KeyError: 7",
        ),
        (unread("FAILURE", "Traceback\nshop.Odd: 7"), "failed", "shop.Odd: 7"),
        (
            unread("FAILURE", "Traceback\nbilliard.TimeLimitExceeded: 3"),
            "timed_out",
            "Exceeded: 3",
        ),
        (unread("FAILURE"), "failed", "upgrade the Celery workers to 5.7"),
        (TaskState("FAILURE"), "failed", "Exception:"),
        (TaskState("FAILURE", None, "redis://:hunter2@cache is away"), "failed", "://:…@cache is"),
        (TaskState("REJECTED", raised("Reject", "token=hunter2")), "failed", "task: token=…"),
    ],
)
def test_each_end_of_a_task_is_an_outcome(state, kind, error):
    outcome = outcome_of(state, TASK)
    assert (outcome.kind, outcome.retry) == (OutcomeKind(kind), True)
    assert error in str(outcome.error)


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (TaskState("FAILURE", raised("NotRegistered")), "of queue 'billing' has no task"),
        (
            unread("FAILURE", "Traceback\ncelery.NotRegistered: 'x'"),
            "of queue 'billing' has no task",
        ),
        (TaskState(UNREADABLE, "DecodeError"), 'result_serializer = "json"'),
    ],
)
def test_what_another_attempt_would_not_mend_is_not_retried(state, error):
    outcome = outcome_of(state, TASK)
    assert (outcome.kind, outcome.retry) == (OutcomeKind.FAILED, False)
    assert error in str(outcome.error)


def test_a_long_traceback_keeps_its_end():
    outcome = outcome_of(TaskState("FAILURE", None, "x" * 9_000 + "\nlast"), TASK)
    kept = str(outcome.error)
    assert (len(kept), kept[-5:]) == (4_001, "\nlast")


def test_a_result_that_is_not_read_leaves_its_task_succeeded():
    outcome = outcome_of(unread("SUCCESS"), TASK)
    assert outcome.kind is OutcomeKind.SUCCEEDED
    assert "upgrade the Celery workers to 5.7 or later" in outcome.result[MARK]


def test_an_ignored_task_succeeds_and_says_so():
    outcome = outcome_of(TaskState("IGNORED"), TASK)
    assert (outcome.kind, outcome.result) == (OutcomeKind.SUCCEEDED, {"ignored": True})


@pytest.mark.parametrize(
    ("project", "task", "allowed"),
    [
        ("default", "anything", True),
        ("shop", "shop.tasks.charge", True),
        ("shop", "shop.admin.wipe", False),
        ("other", "shop.tasks.charge", False),
        ("other", "reports.daily", True),
    ],
)
def test_a_rule_names_projects_and_tasks(project, task, allowed):
    rules = ("default:*", "shop:shop.tasks.*", "*:reports.daily")
    why = why_forbidden(rules, project, task)
    assert (why == "") is allowed
    assert allowed or f'Add "{project}:{task}" to the setting celery_tasks' in why


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"celery_tasks": ("shop.tasks.*",)}, "not a project and a pattern"),
        ({"celery_tasks": ("shop:",)}, "not a project and a pattern"),
        ({"result_backend": "rpc://"}, "Set broker too"),
        ({"broker": "amqp://", "result_backend": "redis://:a/b@host"}, "port cannot be read"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, says):
    with pytest.raises(InvalidSetting, match=says):
        Settings(**settings)


def test_a_status_that_is_no_text_has_not_ended():
    status: Any = ["SUCCESS"]
    assert not TaskState(status).has_ended
