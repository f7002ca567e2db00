"""Django's task framework on Tickwell."""

import asyncio
from datetime import UTC, datetime, timedelta

from django.core.management import call_command
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from tests.contrib.django.project.shop import tasks
from tests.contrib.django.project.shop.checks_transactions import Shop
from tickwell import Cron, Every, Overlap
from tickwell.contrib.django import TickwellBackend, scheduler
from tickwell.contrib.django.framework import (
    InvalidTask,
    TaskResultDoesNotExist,
    TaskResultStatus,
    task_enqueued,
    task_finished,
    task_started,
)
from tickwell.contrib.django.task import level
from tickwell.errors import InvalidJob


class Tasks(Shop):
    def ended(self, result):
        scheduler.blocking.wait(result.id)
        result.refresh()
        return result

    def test_a_task_runs_and_its_result_is_read(self):
        result = tasks.add.enqueue(1, second=2)
        self.assertEqual((result.args, result.kwargs), ([1], {"second": 2}))
        self.assertEqual(self.ended(result).status, TaskResultStatus.SUCCESSFUL)
        self.assertEqual((result.return_value, result.attempts, result.errors), (3, 1, []))
        self.assertEqual(result.started_at, result.last_attempted_at)
        self.assertNotIn(None, (result.enqueued_at, result.started_at, result.finished_at))
        again = tasks.add.get_result(result.id)
        self.assertEqual((again.task, again.return_value), (tasks.add, 3))
        self.assertEqual((again.args, again.kwargs), ([1], {"second": 2}))

    def test_an_async_task_runs_in_the_loop(self):
        self.assertEqual(self.ended(tasks.shout.enqueue("hey")).return_value, "HEY")

    def test_a_failure_is_kept_with_its_class(self):
        result = self.ended(tasks.fail.enqueue("line one\nKeyError: in the text"))
        self.assertEqual(result.status, TaskResultStatus.FAILED)
        [error] = result.errors
        self.assertIs(error.exception_class, ValueError)
        self.assertIn("line one", error.traceback)
        with self.assertRaisesMessage(ValueError, "Task failed"):
            _ = result.return_value

    def test_a_result_that_is_not_json_is_a_failure(self):
        result = self.ended(tasks.unserialisable.enqueue())
        self.assertIs(result.errors[0].exception_class, TypeError)

    def test_attempts_are_counted_in_the_context_and_in_the_result(self):
        result = self.ended(tasks.second_time.enqueue())
        self.assertEqual(result.return_value, [2, result.id])
        self.assertEqual((result.attempts, len(result.worker_ids)), (2, 2))
        self.assertEqual([each.exception_class for each in result.errors], [LookupError])
        self.assertNotEqual(result.started_at, result.last_attempted_at)

    def test_a_task_that_runs_says_so(self):
        result = tasks.wait_for_end.enqueue()
        self.addCleanup(tasks.MAY_END.set)
        self.assertTrue(tasks.BEGUN.wait(300))
        result.refresh()
        self.assertEqual((result.status, result.attempts), (TaskResultStatus.RUNNING, 1))
        tasks.MAY_END.set()
        self.assertIs(self.ended(result).return_value, True)

    def test_a_generator_is_refused_as_by_any_scheduler(self):
        async def generator():
            yield 1

        with self.assertRaisesRegex(InvalidJob, "without yield"):
            scheduler.job(name="generator")(generator)

    def test_signals_are_sent(self):
        seen = []

        def hear(signal, task_result, **_):
            name = {task_enqueued: "enqueued", task_started: "started", task_finished: "finished"}
            seen.append((name[signal], task_result.id, task_result.status))

        for signal in (task_enqueued, task_started, task_finished):
            signal.connect(hear)
            self.addCleanup(signal.disconnect, hear)
        with transaction.atomic():  # nothing starts before the commit
            result = tasks.add.enqueue(1)
        self.ended(result)
        self.assertEqual(
            seen,
            [
                ("enqueued", result.id, TaskResultStatus.READY),
                ("started", result.id, TaskResultStatus.RUNNING),
                ("finished", result.id, TaskResultStatus.SUCCESSFUL),
            ],
        )

    def test_a_deferred_task_waits(self):
        when = datetime(2100, 1, 1, tzinfo=UTC)
        result = tasks.add.using(run_after=when).enqueue(1)
        self.assertEqual(result.status, TaskResultStatus.READY)
        found = tasks.add.get_result(result.id)
        self.assertEqual((found.task.run_after, found.status), (when, TaskResultStatus.READY))
        self.assertEqual(scheduler.blocking.get_execution(result.id).state, "waiting")
        scheduler.blocking.cancel(result.id)
        result.refresh()
        self.assertEqual((result.status, result.attempts), (TaskResultStatus.FAILED, 0))
        with self.assertRaisesMessage(ValueError, "not finished"):
            _ = found.return_value

    def test_queue_and_priority_are_those_of_the_enqueued_task(self):
        declared = self.ended(tasks.mail.enqueue("me"))
        job = scheduler.blocking.get_job(tasks.mail.module_path)
        self.assertEqual((job.queue, job.priority), ("mail", 10))
        self.assertEqual(declared.return_value, "mail to me")
        other = self.ended(tasks.mail.using(priority=-100, queue_name="default").enqueue("me"))
        self.assertEqual(other.return_value, "mail to me")
        job = scheduler.blocking.get_job(f"{tasks.mail.module_path} [default, priority 1]")
        self.assertEqual((job.queue, job.priority), ("default", 1))
        found = tasks.mail.get_result(other.id).task
        self.assertEqual((found.queue_name, found.priority), ("default", -100))
        self.assertEqual([level(each) for each in (-100, -50, 0, 1, 50, 100)], [1, 3, 5, 5, 8, 10])

    def test_tasks_have_schedules_and_policies(self):
        report = scheduler.blocking.get_job(tasks.report.module_path)
        self.assertEqual(report.trigger, Cron("0 9 * * *", tz="Europe/Rome"))
        self.assertEqual(report.description, "Every morning.")
        refresh = scheduler.blocking.get_job(tasks.refresh.module_path)
        self.assertEqual(refresh.trigger, Every("15m"))
        self.assertIs(refresh.overlap, Overlap.QUEUE_ONE)
        self.assertEqual(scheduler.blocking.get_job(tasks.fail.module_path).retry.max_attempts, 1)

    def test_bad_tasks_are_refused_in_the_frameworks_own_words(self):
        backend, task = TickwellBackend("default", {"QUEUES": []}), type(tasks.add)

        async def coroutine():
            """Not at the top of a module."""

        for text, make in (
            ("module level", lambda: task(func=coroutine)),
            ("between -100 and 100", lambda: tasks.add.using(priority=101)),
            ("not valid for backend", lambda: tasks.add.using(queue_name="nowhere")),
            ("aware datetime", lambda: tasks.add.using(run_after=datetime(2100, 1, 1))),  # noqa: DTZ001
            ("cron", lambda: task(func=needs_nothing, cron="61 * * * *")),
            ("mutually exclusive", lambda: task(func=needs_nothing, cron="@daily", every="5m")),
            ("tz needs a cron", lambda: task(func=needs_nothing, tz="Europe/Rome")),
            ("without arguments", lambda: task(func=needs_one, cron="@daily")),
            ("max_attempts", lambda: task(func=needs_nothing, retry=0)),
        ):
            with self.subTest(text), self.assertRaisesRegex(InvalidTask, text):
                make()
        self.assertNotIn(f"{__name__}.needs_nothing", scheduler.tasks)
        with self.assertRaises(TypeError):
            tasks.add.enqueue(object())
        for unknown in ("nothing", "019a0000-0000-7000-8000-000000000000"):
            with self.assertRaises(TaskResultDoesNotExist):
                backend.get_result(unknown)

    def test_a_result_of_another_task_or_of_no_task_is_refused(self):
        result = tasks.add.enqueue(1)
        with self.assertRaisesRegex(Exception, "does not match"):
            tasks.shout.get_result(result.id)
        run = scheduler.blocking.trigger("confirm", {"number": 1})
        with self.assertRaises(TaskResultDoesNotExist):
            tasks.add.get_result(run.id)

    def test_the_backend_says_what_it_can(self):
        backend = TickwellBackend("default", {"OPTIONS": {"retry": 1, "qeue": "x"}})
        for ability in ("defer", "async_task", "get_result", "priority"):
            self.assertIs(getattr(backend, f"supports_{ability}"), True)
        self.assertEqual([each.id for each in backend.check()], ["tickwell.E002"])
        self.assertEqual(list(TickwellBackend("default", {}).check()), [])
        call_command("check")
        with self.modify_settings(INSTALLED_APPS={"remove": "tickwell.contrib.django"}):
            found = [each.id for each in TickwellBackend("default", {}).check()]
        self.assertEqual(found, ["tickwell.E001"])

    @override_settings(USE_TZ=False)
    def test_without_time_zones_datetimes_are_the_projects_own(self):
        when = timezone.now() + timedelta(hours=1)
        self.assertIsNone(when.tzinfo)
        result = tasks.add.using(run_after=when).enqueue(1)
        found = tasks.add.get_result(result.id)
        self.assertLess(abs(found.task.run_after - when), timedelta(milliseconds=1))
        self.assertIsNone(found.enqueued_at.tzinfo)
        scheduler.blocking.cancel(result.id)

    def test_a_result_is_read_in_an_event_loop(self):
        async def read():
            result = await tasks.shout.aenqueue("ho")
            await scheduler.wait(result.id)
            return (await tasks.shout.aget_result(result.id)).return_value

        self.assertEqual(asyncio.run(read()), "HO")


def needs_nothing():
    """A task of no use."""


def needs_one(argument):
    """A task that no schedule can call."""
