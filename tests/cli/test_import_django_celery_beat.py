"""The tables of django-celery-beat, made by its own migrations, become jobs."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import asyncpg
import pytest
from sqlalchemy import MetaData, create_engine
from sqlalchemy.dialects import mysql
from sqlalchemy.schema import CreateTable

from tests.servers import mariadb, mariadb_tables, postgres
from tests.servers.private import at_end

pytestmark = pytest.mark.usefixtures("any_task")

TABLES = [f"{kind}schedule" for kind in ("crontab", "interval", "clocked", "solar")]
TABLES = [f"django_celery_beat_{each}" for each in (*TABLES, "periodictask")]
OTHERS = ("--skip", "sun", "--skip", "headed")


def fill(url):
    subprocess.run(
        [sys.executable, "-m", "tests.celery_beat.django_project", url],
        check=True,
        cwd=Path(__file__).parents[2],
    )


@cache
def made():
    """A SQLite file that Django has migrated and filled, once for all tests."""
    folder = Path(mkdtemp(prefix="tickwell-django-"))
    at_end(lambda: shutil.rmtree(folder))
    fill(f"sqlite:///{folder}/django.db")
    return folder / "django.db"


@pytest.fixture
def django(folder):
    """A copy of that, for this test alone."""
    copy = folder / "django.db"
    copy.write_bytes(made().read_bytes())
    return copy


async def in_postgres():
    """Django's tables in a database of their own."""
    url = postgres.server().url
    connection = await asyncpg.connect(url)
    await connection.execute("DROP DATABASE IF EXISTS django")
    await connection.execute("CREATE DATABASE django")
    await connection.close()
    own = url.rpartition("/")[0] + "/django"
    await asyncio.to_thread(fill, own)
    return own


async def in_mariadb():
    """The same tables and rows: Django's driver for MySQL is none of ours."""
    own, metadata = create_engine(f"sqlite:///{made()}"), MetaData()
    metadata.reflect(own, only=TABLES)
    with closing(sqlite3.connect(made())) as rows:
        rows.row_factory = sqlite3.Row
        for name in TABLES:
            await mariadb_tables.run(f"DROP TABLE IF EXISTS {name}")
        for table in metadata.sorted_tables:
            table.constraints = {table.primary_key}  # checks are quoted as SQLite has it
            create = CreateTable(table, include_foreign_key_constraints=[])
            await mariadb_tables.run(str(create.compile(dialect=mysql.dialect())))
            for row in rows.execute(f"SELECT * FROM {table.name}"):
                values = dict(row)
                names = ", ".join(f"`{name}`" for name in values)
                places = ", ".join(["%s"] * len(values))
                await mariadb_tables.run(
                    f"INSERT INTO {table.name} ({names}) VALUES ({places})", *values.values()
                )
    own.dispose()
    return mariadb.server().url


def check(tickwell, url):
    came = tickwell("import", "django-celery-beat", url, *OTHERS)
    assert came.code == 0, came.err
    assert came.err.splitlines()[0] == "4 jobs: 4 added, 0 changed, 0 unchanged."
    assert "1 entry skipped, never due again: ran." in came.err
    again = tickwell("import", "django-celery-beat", url, *OTHERS, "--json")
    assert again.json == {"added": 0, "changed": 0, "unchanged": 4}
    jobs = {job["name"]: job for job in tickwell("jobs", "export").json["jobs"]}
    report = jobs["report"]
    assert report["trigger"] == {
        "cron": "0 9 * * 1-5",
        "tz": "Europe/Rome",
        "dialect": "celery",
        "start": "2040-06-01T09:00:00.000Z",
    }
    assert report["target"]["celery"] == {
        "task": "shop.report",
        "args": [1, "a"],
        "kwargs": {"deep": True},
        "exchange": "money",
        "routing_key": "reports.high",
        "priority": 3,
        "wait": False,
    }
    assert (report["expires"], report["description"]) == ("1h", "Every weekday")
    assert jobs["tidy"]["trigger"] == {"every": "10m"}
    assert (jobs["tidy"]["state"], jobs["tidy"]["pause"]["why"]) == (
        "paused",
        "disabled in Celery beat",
    )
    assert jobs["single"]["trigger"] == {
        "every": "10m",
        "until": "2041-06-01T09:00:00.000Z",
        "max_runs": 1,
    }
    assert jobs["once"]["trigger"] == {"once": "2040-06-01T09:00:00.000Z"}


def test_tables_in_sqlite_become_jobs(tickwell, django, either):
    check(tickwell, f"sqlite:///{django}")


def test_tables_in_postgres_become_jobs(tickwell):
    check(tickwell, asyncio.run(in_postgres()))


def test_tables_in_mysql_become_jobs(tickwell):
    check(tickwell, asyncio.run(in_mariadb()))


def test_a_dry_run_lists_both_systems(tickwell, django, store):
    ran = tickwell("import", "django-celery-beat", f"sqlite:///{django}", *OTHERS, "--dry-run")
    assert (ran.code, store.exists()) == (0, False)
    rows = {name: [row for row in ran.rows if row[0] == name] for name in ("report", "once")}
    assert [row[4] for row in rows["report"]] == ["same"] * 5
    assert [row[2:] for row in rows["once"]] == [["2040-06-01T09:00:00.000Z"] * 2 + ["same"]]


def test_what_has_no_counterpart_is_named_and_stops_all(tickwell, django, store):
    refused = tickwell("import", "django-celery-beat", f"sqlite:///{django}")
    assert (refused.code, store.exists()) == (2, False)
    assert [line.split(". ")[0] for line in refused.err.splitlines()] == [
        "tickwell: headed: options.headers: has no counterpart in a job",
        "tickwell: sun: schedule: solar schedules follow the sun",
    ]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE {} SET args = '[1' WHERE name = 'tidy'", "tidy: args: is not JSON: "),
        ("UPDATE {} SET kwargs = '[]' WHERE name = 'tidy'", "tidy: kwargs: is not an object"),
        ("UPDATE {} SET interval_id = NULL WHERE name = 'tidy'", "tidy: has 0 schedules: none"),
        ("UPDATE {} SET interval_id = 99 WHERE name = 'tidy'", "tidy: its interval is not in the"),
        ("DELETE FROM {}", "url: django_celery_beat_periodictask has no rows"),
        ("DROP TABLE {}", "url: the database has no table django_celery_beat_periodictask"),
    ],
)
def test_rows_that_make_no_sense_are_one_sentence(tickwell, django, store, statement, words):
    with closing(sqlite3.connect(django)) as database:
        database.execute(statement.format("django_celery_beat_periodictask"))
        database.commit()
    refused = tickwell("import", "django-celery-beat", f"sqlite:///{django}", *OTHERS)
    assert (refused.code, store.exists()) == (2, False)
    assert refused.err.startswith(f"tickwell: {words}")
    assert len(refused.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nothing", "url: nothing:// is none of sqlite, postgresql and mysql"),
        ("oracle://host/x", "url: oracle:// is none of sqlite, postgresql and mysql"),
        ("sqlite:///missing.db", "url: there is no file missing.db"),
        ("sqlite:///text.txt", "url: the database cannot be read: file is not a database"),
        ("postgresql://u:p@127.0.0.1:1/x", "url: the database cannot be read: "),
        ("mysql+pymysql://u:p@127.0.0.1:1/x", "url: the database cannot be read: "),
    ],
)
def test_a_database_that_cannot_be_read_is_one_sentence(tickwell, folder, store, url, words):
    (folder / "text.txt").write_text("no database at all, only a long enough text" * 10)
    refused = tickwell("import", "django-celery-beat", url)
    assert (refused.code, store.exists()) == (2, False)
    assert refused.err.startswith(f"tickwell: {words}")
    assert len(refused.err.splitlines()) == 1
