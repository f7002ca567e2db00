"""A Django project with Tickwell: its own tests, its commands, its workers."""

import json
import signal
import subprocess

import pytest

from tests.contrib.django.project_processes import SHOP, on_postgres, on_sqlite
from tests.processes.child import PATIENCE

#: Asked in a process of its own: the run is another's.
ENQUEUE = f"""
import json
from django.db import transaction
from {SHOP}.models import Order
from {SHOP}.tasks import add
from {SHOP}.jobs import confirm, confirm_alone
from tickwell.contrib.django import scheduler
with transaction.atomic():
    Order.objects.create(number=7)
    runs = [confirm.blocking.trigger(7), confirm_alone.blocking.trigger(7)]
    result = add.enqueue(1, second=2)
states = [scheduler.blocking.wait(each.id).state for each in (*runs, result)]
result.refresh()
print(json.dumps([*states, result.return_value, Order.objects.get(number=7).confirmed]))
"""


@pytest.fixture(params=["sqlite", "postgres"])
async def project(request, tmp_path):
    return on_sqlite(tmp_path) if request.param == "sqlite" else await on_postgres("shop")


def test_the_projects_own_tests_pass(project):
    assert project.check() == 32


async def test_a_rollback_takes_its_runs_along():
    project = await on_postgres("shop_rollback")
    only = f"{SHOP}.checks_transactions.Transactions.test_a_rollback_leaves_nothing"
    assert project.check(only) == 1


@pytest.fixture
def migrated(project):
    _, errors, code = project.manage("migrate", "--run-syncdb")
    assert code == 0, errors
    return project


@pytest.fixture
def worker(migrated, request):
    """A worker process of the project; requests wait until it runs."""
    with migrated.process("tickwell", *request.param, stderr=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    "worker", [("worker",), ("serve", "--workers", "1", "--no-http")], indirect=True, ids=" ".join
)
def test_a_worker_runs_what_another_process_asks_for_in_a_transaction(migrated, worker):
    printed, errors, code = migrated.manage("shell", "-v", "0", "-c", ENQUEUE)
    assert code == 0, errors
    assert json.loads(printed) == ["succeeded", "succeeded", "succeeded", 3, 2]
    worker.send_signal(signal.SIGTERM)
    _, said = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0, said
    assert "tickwell runs: " in said


def test_commands_work_on_the_projects_store(tmp_path):
    project = on_sqlite(tmp_path)
    assert project.manage("migrate", "--run-syncdb")[2] == 0
    printed, errors, code = project.manage("tickwell", "jobs", "list", "--json")
    assert code == 0, errors
    names = {job["name"].removeprefix(f"{SHOP}.tasks.") for job in json.loads(printed)["items"]}
    assert names == {
        *("confirm", "confirm_alone", "confirm_async", "tidy"),
        *("add", "add [default, priority 8]", "shout", "second_time", "fail", "mail"),
        *("unserialisable", "report", "refresh", "wait_for_end"),
    }
    printed, errors, code = project.manage("tickwell", "--settings", SETTINGS, "jobs", "show", "x")
    assert (printed, code) == ("", 3)
    assert errors.startswith("tickwell: no job 'x'")
    assert "Usage: manage.py tickwell" in project.manage("help", "tickwell")[0]
    project.environment = {"DJANGO_SETTINGS_MODULE": "tests.contrib.django.project.settings"}
    called = "from django.core.management import call_command as call; call('tickwell', 'version')"
    assert project.manage("shell", "-v", "0", "-c", called)[2] == 0


SETTINGS = "tests.contrib.django.project.settings"
