"""The Django app: finds the jobs of all apps, and keeps the store beside the database."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules


class TickwellConfig(AppConfig):  # type: ignore[misc]
    """`INSTALLED_APPS += ["tickwell.contrib.django"]`."""

    name = "tickwell.contrib.django"
    label = "tickwell"
    verbose_name = "Tickwell"

    def ready(self) -> None:
        """Import the `jobs.py` and `tasks.py` of every app: they declare what there is to run."""
        from tickwell.contrib.django import scheduler

        autodiscover_modules(*scheduler.configuration.modules)
        post_migrate.connect(_add_jobs, sender=self)
        connection_created.connect(_follow)


def _add_jobs(*, using: str, **_: Any) -> None:
    """After `migrate`: a transaction can only ask for runs of jobs that the store knows."""
    from tickwell.contrib.django import scheduler

    if using == scheduler.configuration.database:
        scheduler.add_declared()


def _follow(*, connection: Any, **_: Any) -> None:
    """Tests have a database of their own, and the store goes where the database is."""
    from tickwell.contrib.django import scheduler

    if connection.alias == scheduler.configuration.database:
        scheduler.follow(connection)
