"""The statements of the store, and the loader."""

import re
from pathlib import Path

import pytest

import tickwell.stores.sql
import tickwell.stores.sqlite
from tickwell.stores.sql.statements import load, parse
from tickwell.stores.sqlite.session import SQL

STORE = Path(tickwell.stores.sqlite.__file__).parent
SHARED = Path(tickwell.stores.sql.__file__).parent
TEXT = "".join(
    file.read_text("utf-8") for folder in (STORE, SHARED) for file in sorted(folder.rglob("*.py"))
)


def test_a_statement_is_what_stands_under_its_name():
    text = (
        "-- A topic.\n\n-- name: one\n-- Says what it does.\nSELECT 1;\n\n-- name: two\nSELECT\n2"
    )
    assert list(parse(text)) == [("one", "SELECT 1"), ("two", "SELECT\n2")]


def test_a_part_stands_where_it_is_taken():
    text = "-- part: rest\nFROM table;\n\n-- name: one\nSELECT 1\n-- take: rest\n\n-- name: two\nX"
    assert list(parse(text)) == [("one", "SELECT 1\nFROM table"), ("two", "X")]


def test_a_missing_statement_is_named():
    with pytest.raises(KeyError, match="no statement is named 'nonsense'"):
        load("tickwell.stores.sqlite")["nonsense"]


@pytest.mark.parametrize("name", SQL)
def test_every_statement_is_used(name):
    assert f'"{name}"' in TEXT


@pytest.mark.parametrize("file", sorted(STORE.glob("statements/*.sql")), ids=lambda file: file.name)
def test_every_statement_says_what_it_does(file):
    heads = re.findall(r"^-- name: \w+\n(.*)\n", file.read_text("utf-8"), re.MULTILINE)
    assert heads
    assert all(re.fullmatch(r"-- .+\.", line) for line in heads)
