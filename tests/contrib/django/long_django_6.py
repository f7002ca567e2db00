"""The same tests on Django 6, whose task framework is part of Django."""

import asyncio
import subprocess

import pytest

from tests.contrib.django.project_processes import on_postgres, on_sqlite
from tests.contrib.django.test_project import (  # noqa: F401  # collected here once more
    migrated,
    test_a_worker_runs_what_another_process_asks_for_in_a_transaction,
    test_commands_work_on_the_projects_store,
    test_the_projects_own_tests_pass,
)
from tests.processes.pythons import installed
from tests.processes.start import ROOT

NEEDS = ["django>=6", "psycopg[binary]", "asyncpg"]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that Django 6 runs on, with Django 6."""
    versions = [found for minor in (14, 13, 12) if (found := installed(minor))]
    assert versions, "Django 6 needs Python 3.12 or newer; install one"
    folder = tmp_path_factory.mktemp("django-6")
    subprocess.run([versions[0], "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *NEEDS, ROOT], check=True)
    return str(folder / "bin/python")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def project(request, tmp_path_factory, python):
    if request.param == "sqlite":
        project = on_sqlite(tmp_path_factory.mktemp("project"))
    else:
        project = asyncio.run(on_postgres("shop_6"))
    project.python = python
    return project


@pytest.mark.parametrize("project", ["sqlite"], indirect=True)
def test_it_is_django_6(project):
    printed, _, _ = project.manage("version")
    assert int(printed.split(".")[0]) >= 6
