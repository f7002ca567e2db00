"""A Django project in one file: a job, a task, and runs that commit or roll back with the data.

A real project has `jobs.py` and `tasks.py` in its apps; `manage.py tickwell serve` runs them.
`pip install django django-tasks` for this; with Django 6 or newer, `pip install django`.

It prints:
    202 READY
    welcome mail to user 7
    the task is SUCCESSFUL
    the report was rolled back
"""

import django
from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.test import Client
from django.urls import path

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "django_app.db"}},
    INSTALLED_APPS=["tickwell.contrib.django"],
    TASKS={"default": {"BACKEND": "tickwell.contrib.django.TickwellBackend"}},
    TICKWELL={"APP": "shop"},
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["testserver"],
    SECRET_KEY="an example",  # noqa: S106
    USE_TZ=True,
)
django.setup()

try:
    from django.tasks import task
except ImportError:
    from django_tasks import task

from tickwell import Cron  # noqa: E402
from tickwell.contrib.django import scheduler  # noqa: E402


@task(priority=20)
def welcome(user_id: int) -> None:
    """A task of Django's own framework."""
    print(f"welcome mail to user {user_id}")


@scheduler.job(Cron("0 9 * * mon-fri", tz="Europe/Rome"))
def report() -> None:
    """A scheduled job, which can also be triggered."""


def register(_: HttpRequest, user_id: int) -> JsonResponse:
    """Enqueue in the transaction that writes the user."""
    with transaction.atomic():
        result = welcome.enqueue(user_id)
    return JsonResponse({"run": result.id, "status": result.status}, status=202)


urlpatterns = [path("users/<int:user_id>", register)]


def main() -> None:
    """Simulate the server, the worker and the browser."""
    call_command("migrate", verbosity=0)
    scheduler.start_in_background()
    answer = Client().post("/users/7")
    print(answer.status_code, answer.json()["status"])
    scheduler.blocking.wait(answer.json()["run"])
    print(f"the task is {welcome.get_result(answer.json()['run']).status}")
    with transaction.atomic():
        report.blocking.trigger()
        transaction.set_rollback(True)
    print("the report", "ran" if scheduler.blocking.executions(job="report") else "was rolled back")


if __name__ == "__main__":
    main()
