"""A Django project with django-celery-beat: migrates a database and fills it, then ends.

python -m tests.celery_beat.django_project URL
"""

import sys
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import django
from django.conf import settings

#: Far enough ahead not to be over while tests run.
LATER = datetime(2040, 6, 1, 9, tzinfo=UTC)


def database(url):
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": parts.path[1:]}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path[1:],
        "USER": parts.username,
        "PASSWORD": parts.password,
        "HOST": parts.hostname,
        "PORT": parts.port,
    }


def migrate(url):
    """The tables as the package's own migrations make them."""
    settings.configure(
        DATABASES={"default": database(url)},
        INSTALLED_APPS=["django.contrib.contenttypes", "django_celery_beat"],
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=True,
    )
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def fill():
    """One of each kind of schedule, and every option."""
    from django_celery_beat.models import (
        ClockedSchedule,
        CrontabSchedule,
        IntervalSchedule,
        PeriodicTask,
        SolarSchedule,
    )

    rome = CrontabSchedule.objects.create(
        minute="0", hour="9", day_of_week="1-5", timezone="Europe/Rome"
    )
    often = IntervalSchedule.objects.create(every=10, period=IntervalSchedule.MINUTES)
    once = ClockedSchedule.objects.create(clocked_time=LATER)
    past = ClockedSchedule.objects.create(clocked_time=LATER - timedelta(days=7000))
    sunrise = SolarSchedule.objects.create(event="sunrise", latitude="41.9", longitude="12.5")
    PeriodicTask.objects.create(
        name="report",
        task="shop.report",
        crontab=rome,
        args='[1, "a"]',
        kwargs='{"deep": true}',
        queue="reports",
        exchange="money",
        routing_key="reports.high",
        priority=3,
        expire_seconds=3600,
        start_time=LATER,
        description="Every weekday",
    )
    PeriodicTask.objects.create(name="tidy", task="shop.tidy", interval=often, enabled=False)
    end = LATER + timedelta(days=365)
    PeriodicTask.objects.create(
        name="single", task="shop.tidy", interval=often, one_off=True, expires=end
    )
    PeriodicTask.objects.create(name="once", task="shop.once", clocked=once, one_off=True)
    PeriodicTask.objects.create(
        name="ran", task="shop.once", clocked=past, one_off=True, enabled=False
    )
    PeriodicTask.objects.create(name="sun", task="shop.sun", solar=sunrise)
    PeriodicTask.objects.create(
        name="headed", task="shop.headed", interval=often, headers='{"a": "b"}'
    )


if __name__ == "__main__":
    migrate(sys.argv[1])
    fill()
