"""`tickwell store copy`: one store into another, by its URLs."""

import pytest

from tests.cli.world import make_past
from tickwell.cli.commands import store

COPY = ("store", "copy", "sqlite:///tickwell.db", "sqlite:///other.db")


@pytest.fixture
def past(folder):
    make_past()
    return folder


def test_everything_is_in_the_other_store(tickwell, past):
    copied = tickwell(*COPY)
    assert (copied.code, copied.out) == (0, "")
    assert copied.err.startswith("Copied sqlite:///")
    assert "and verified it: 2 jobs, 0 skips, " in copied.err
    other = ("--store", "sqlite:///other.db")
    for command in (("jobs", "list"), ("executions", "list"), ("dead", "list"), ("jobs", "export")):
        assert tickwell(*command, *other).out == tickwell(*command).out != ""


def test_as_json_it_is_counted_by_kind(tickwell, past):
    kinds = tickwell(*COPY, "--json").json["kinds"]
    assert list(kinds) == ["jobs", "skips", "records", "executions"]
    assert (kinds["jobs"]["count"], kinds["executions"]["count"]) == (2, 7)
    assert {len(each["digest"]) for each in kinds.values()} == {32}


def test_without_a_terminal_lines_say_how_far_it_is(tickwell, past, monkeypatch):
    monkeypatch.setattr(store, "PER_LINE", 5)
    lines = tickwell(*COPY).err.splitlines()
    assert lines[:2] == ["Copying: 9 of 9", "Verifying: 9 of 9"]


def test_what_is_not_empty_is_refused(tickwell, past):
    tickwell(*COPY)
    again = tickwell(*COPY)
    assert again.code == 1
    assert "other.db is not empty; copy into a store that holds no jobs, runs or records" in (
        again.err
    )


def test_a_store_that_is_not_there_is_not_made(tickwell, folder):
    missing = tickwell(*COPY)
    assert missing.code == 1
    assert "tickwell.db does not exist; name another --store" in missing.err
    assert not list(folder.iterdir())


def test_memory_is_neither_copied_nor_filled(tickwell, past):
    for urls in (("memory://", "sqlite:///other.db"), ("sqlite:///tickwell.db", "memory://")):
        refused = tickwell("store", "copy", *urls)
        assert refused.code == 2
        assert "memory:// lives only as long as this command" in refused.err


def test_the_file_of_the_server_keys_is_named(tickwell, past):
    (past / "tickwell.db.key").write_text("")
    assert "Copy tickwell.db.key to other.db.key, where" in tickwell(*COPY).err
