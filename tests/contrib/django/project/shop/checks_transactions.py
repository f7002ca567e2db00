"""Runs that are asked for inside `atomic()` are as good as the block's own writes."""

from datetime import timedelta

from django.core.exceptions import SynchronousOnlyOperation
from django.db import IntegrityError, connection, transaction
from django.test import TransactionTestCase
from django.utils import timezone

from tests.contrib.django.project.shop import jobs, tasks
from tests.contrib.django.project.shop.models import Order
from tickwell.contrib.django import TickwellBackend, scheduler
from tickwell.contrib.django.framework import TaskResultDoesNotExist
from tickwell.errors import InvalidPayload, NotFound


class Shop(TransactionTestCase):
    """A scheduler that runs in the test's process, on the test's database."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scheduler.start_in_background()
        cls.addClassCleanup(scheduler.blocking.stop)

    def ids(self, job="confirm"):
        return {each.id for each in scheduler.blocking.executions(job=job)}

    def confirmed(self):
        return dict(Order.objects.values_list("number", "confirmed"))

    def assert_succeeds(self, *executions):
        for each in executions:
            self.assertEqual(scheduler.blocking.wait(each.id).state, "succeeded")


class Transactions(Shop):
    def test_the_store_is_in_the_database_of_the_test(self):
        name = str(connection.settings_dict["NAME"]).rpartition("/")[2]
        self.assertIn("test_shop", name)
        self.assertIn(name, scheduler.settings.store)

    def test_nothing_is_seen_before_the_commit_and_all_after_it(self):
        before = self.ids()
        with transaction.atomic():
            Order.objects.create(number=1)
            run = jobs.confirm.blocking.trigger(1)
            self.assertEqual(self.ids(), before)
        self.assert_succeeds(run)
        self.assertEqual(self.ids(), before | {run.id})
        self.assertEqual(self.confirmed(), {1: 1})

    def test_a_rollback_leaves_nothing(self):
        before = self.ids()
        with self.assertRaises(KeyError), transaction.atomic():
            Order.objects.create(number=1)
            run = jobs.confirm.options(key="order-1").blocking.trigger(1)
            raise KeyError
        self.assertEqual(self.ids(), before)
        with self.assertRaises(NotFound):
            scheduler.blocking.get_execution(run.id)
        self.assertEqual(self.confirmed(), {})

    def test_a_savepoint_that_is_rolled_back_takes_its_runs_along(self):
        before = self.ids()
        with transaction.atomic():
            Order.objects.create(number=1)
            kept = jobs.confirm.blocking.trigger(1)
            with self.assertRaises(KeyError), transaction.atomic():
                jobs.confirm.blocking.trigger(1)
                raise KeyError
        self.assert_succeeds(kept)
        self.assertEqual(self.ids(), before | {kept.id})
        self.assertEqual(self.confirmed(), {1: 1})

    def test_the_same_key_is_the_same_run(self):
        with transaction.atomic():
            Order.objects.create(number=1)
            first = jobs.confirm.options(key="order-one").blocking.trigger(1)
            second = jobs.confirm.options(key="order-one").blocking.trigger(1)
        third = jobs.confirm.options(key="order-one").blocking.trigger(1)
        self.assertEqual({first.id}, {second.id, third.id})
        self.assert_succeeds(first)
        self.assertEqual(self.confirmed(), {1: 1})

    def test_later_runs_wait_for_their_instant(self):
        when = timezone.now() + timedelta(hours=2)
        with transaction.atomic():
            at = jobs.confirm.blocking.trigger_at(when, 1)
            later = jobs.confirm.blocking.trigger_in("1h", 1)
        for run in (at, later):
            self.assertEqual(scheduler.blocking.get_execution(run.id).state, "waiting")
            self.assertEqual(scheduler.blocking.get_execution(run.id).run_at, run.run_at)
            scheduler.blocking.cancel(run.id)
        self.assertEqual(at.run_at, when.replace(microsecond=when.microsecond // 1000 * 1000))

    def test_outside_of_a_transaction_a_run_starts_at_once(self):
        Order.objects.create(number=1)
        self.assert_succeeds(
            jobs.confirm.blocking.trigger(1), jobs.confirm_async.blocking.trigger(1)
        )
        self.assertEqual(self.confirmed(), {1: 2})

    def test_what_is_refused_leaves_the_transaction_as_it_was(self):
        with transaction.atomic():
            Order.objects.create(number=1)
            with self.assertRaises(NotFound):
                scheduler.blocking.trigger("nothing")
            with self.assertRaises(InvalidPayload):
                scheduler.blocking.trigger("confirm", {"number": "one"})
        self.assertEqual(self.confirmed(), {1: 0})

    def test_a_transaction_that_is_broken_takes_no_run(self):
        Order.objects.create(number=1)
        with transaction.atomic():
            try:
                with transaction.atomic(savepoint=False):
                    Order.objects.create(number=1)
            except IntegrityError:
                pass
            with self.assertRaises(transaction.TransactionManagementError):
                jobs.confirm.blocking.trigger(1)
            transaction.set_rollback(True)
        self.assertEqual(self.confirmed(), {1: 0})

    def test_the_connections_of_handlers_are_closed_after_them(self):
        Order.objects.create(number=1)
        jobs.USED.clear()
        self.assert_succeeds(jobs.confirm.blocking.trigger(1), jobs.confirm.blocking.trigger(1))
        self.assertEqual([each.connection for each in jobs.USED], [None, None])
        self.assertEqual(self.confirmed(), {1: 2})

    def test_tasks_commit_and_roll_back_too(self):
        with transaction.atomic():
            Order.objects.create(number=1)
            done = tasks.add.enqueue(1, second=2)
            urgent = tasks.urgent_add.enqueue(1)
        with self.assertRaises(KeyError), transaction.atomic():
            Order.objects.create(number=2)
            undone = tasks.add.enqueue(3)
            raise KeyError
        self.assert_succeeds(done, urgent)
        done.refresh()
        self.assertEqual(done.return_value, 3)
        with self.assertRaises(TaskResultDoesNotExist):
            tasks.add.get_result(undone.id)
        self.assertEqual(self.confirmed(), {1: 0})

    async def test_in_an_event_loop_calls_are_awaited(self):
        with self.assertRaisesRegex(SynchronousOnlyOperation, "await aenqueue"):
            TickwellBackend("default", {}).enqueue(tasks.add, [1], {})
        result = await tasks.add.aenqueue(1, second=1)
        await scheduler.wait(result.id)
        await result.arefresh()
        self.assertEqual(result.return_value, 2)
        self.assertEqual((await tasks.add.aget_result(result.id)).return_value, 2)
