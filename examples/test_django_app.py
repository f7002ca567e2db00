"""Tests of a Django project and its jobs by Django's test client, in virtual time.

In a project, `pytest-django` or `manage.py test` sets Django up; here it is one file. Run it with
`pytest test_django_app.py` or as a script; `pip install django pytest`.

It prints:
    2 passed
"""

# ruff: noqa: S101 - tests assert
import sys

import django
import pytest
from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.test import Client
from django.urls import path

from tickwell import Cron
from tickwell.testing import BlockingKit

if __name__ == "__main__":  # before Django's one scheduler is given the same jobs twice
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.exit(pytest.main([__file__, *quiet]))

if not settings.configured:
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.db"}},
        INSTALLED_APPS=["tickwell.contrib.django"],
        TICKWELL={"APP": "shop"},
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["testserver"],
        SECRET_KEY="an example",  # noqa: S106
        USE_TZ=True,
    )
    django.setup()

from tickwell.contrib.django import scheduler

mails: list[str] = []


@scheduler.job()
def welcome(user_id: int) -> None:
    """On demand."""
    mails.append(f"user {user_id}")


@scheduler.job(Cron("0 9 * * *", tz="Europe/Rome"))
def report() -> None:
    """At nine in Rome, every day."""
    mails.append("report")


def register(_: HttpRequest, user_id: int) -> JsonResponse:
    """Request a run."""
    return JsonResponse({"run": welcome.blocking.trigger(user_id).id}, status=202)


urlpatterns = [path("users/<int:user_id>", register)]


@pytest.fixture
def kit(tickwell_blocking: BlockingKit) -> BlockingKit:
    """The project's scheduler, in memory and in virtual time."""
    mails.clear()
    tickwell_blocking.use(scheduler)
    return tickwell_blocking


def test_a_run_that_a_view_requests(kit: BlockingKit) -> None:
    """Eager: it has ended when the view answers."""
    kit.eager = True
    assert Client().post("/users/7").status_code == 202
    assert mails == ["user 7"]
    kit.assert_triggered("welcome", {"user_id": 7}, times=1)


def test_a_report_every_day(kit: BlockingKit) -> None:
    """A week takes no time."""
    kit.travel("7d")
    kit.assert_ran("report", times=7)
    kit.assert_succeeded()
