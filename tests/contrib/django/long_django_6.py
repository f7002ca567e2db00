"""The same tests on Django 6, whose task framework is part of Django."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contrib.django.project_processes import on_postgres, on_sqlite
from tests.contrib.django.test_project import (  # noqa: F401  # collected here once more
    migrated,
    test_a_worker_runs_what_another_process_asks_for_in_a_transaction,
    test_commands_work_on_the_projects_store,
    test_the_projects_own_tests_pass,
)
from tests.processes.child import ROOT

NEEDS = ["django>=6", "psycopg[binary]", "asyncpg"]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that Django 6 runs on, with Django 6."""
    versions = [sys.executable] if sys.version_info >= (3, 12) else []
    versions += [found for minor in (14, 13, 12) if (found := shutil.which(f"python3.{minor}"))]
    versions += sorted(map(str, Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python")))
    versions = [each for each in versions if _works(each)]
    assert versions, "Django 6 needs Python 3.12 or newer; install one"
    folder = tmp_path_factory.mktemp("django-6")
    subprocess.run([versions[0], "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *NEEDS, ROOT], check=True)
    return str(folder / "bin/python")


def _works(python):
    """Whether it is one: pyenv has names on the path that lead to none."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


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
