"""What a terminal sees, and what a pipe gets."""

import io
import json

import pytest

from tickwell.cli.output.screen import Screen
from tickwell.cli.output.text import fit, one_line, safe, width_of

NAMES = ("NAME", "STATE", "NOTE")
ROWS = [("report", "active", "x" * 80), ("データ", "dead", "a\tb\n\x1b[31mc")]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def screen(monkeypatch, out, columns=60, **environ):
    monkeypatch.setenv("COLUMNS", str(columns))
    return Screen(out, io.StringIO(), environ)


def test_a_terminal_gets_columns_that_fit(monkeypatch):
    out = Terminal()
    screen(monkeypatch, out, NO_COLOR="1").table(NAMES, ROWS, soft=("NOTE",))
    lines = out.getvalue().splitlines()
    assert lines[0] == "NAME    STATE   NOTE"
    assert lines[1] == "report  active  " + "x" * 43 + "…"
    assert lines[2] == "データ  dead    a b \\x1b[31mc"
    assert max(map(width_of, lines)) == 60


def test_a_last_column_that_finds_no_room_goes_below_its_row(monkeypatch):
    rows = [("report", "active", "x" * 80), ("tidy", "active", "")]
    for columns, below in ((60, False), (40, True)):
        out = Terminal()
        wide = screen(monkeypatch, out, columns, NO_COLOR="1")
        wide.table(NAMES, rows, soft=("NOTE",), below=True)
        lines = out.getvalue().splitlines()
        assert (lines[0] == "NAME    STATE") is below
        assert len(lines) == (4 if below else 3)
        assert max(map(width_of, lines)) == columns
    assert lines[1:] == ["report  active", "    " + "x" * 35 + "…", "tidy    active"]


def test_colours_are_for_states_only_and_can_be_turned_off(monkeypatch):
    out = Terminal()
    screen(monkeypatch, out).table(NAMES, [("dead", "dead", "dead")], soft=())
    assert out.getvalue().splitlines()[1] == "dead  \x1b[31mdead\x1b[0m   dead"
    for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert not screen(monkeypatch, Terminal(), **environ).is_coloured


def test_a_pipe_gets_tabs_and_everything(monkeypatch):
    out = io.StringIO()
    piped = screen(monkeypatch, out)
    piped.table(NAMES, ROWS, soft=("NOTE",))
    assert out.getvalue() == "report\tactive\t" + "x" * 80 + "\nデータ\tdead\ta b \\x1b[31mc\n"
    piped.heading("Not for a pipe")
    assert "Not" not in out.getvalue()


def test_a_record_is_aligned_and_leaves_out_what_is_empty(monkeypatch):
    out = Terminal()
    pairs = [("name", "a"), ("reason", ""), ("error", "one\n two\x07")]
    screen(monkeypatch, out, NO_COLOR="1").record(pairs)
    assert out.getvalue() == "name   a\nerror  one\n        two\\x07\n"


def test_words_do_not_mix_with_data(monkeypatch):
    out, err = io.StringIO(), io.StringIO()
    both = Screen(out, err, {})
    both.say("hello\x1b[2J")
    assert (out.getvalue(), err.getvalue()) == ("", "hello\\x1b[2J\n")


def test_nothing_is_no_table(monkeypatch):
    out = Terminal()
    screen(monkeypatch, out).table(NAMES, [], soft=())
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("データ", 5, "デー…"),
        ("データ", 4, "デ…"),
        ("👨‍👩‍👧 ab", 9, "👨‍👩‍👧 ab"),
        ("👨‍👩‍👧 ab", 5, "👨‍👩…"),
        ("✈️ ab", 4, "✈️ ab"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("", 0, ""),
    ],
)
def test_fit(text, width, shown):
    assert fit(text, width) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\rb"),
        ("\u202e", "\\u202e"),
        ("\x9b31m", "\\x9b31m"),
        ("ok ✓", "ok ✓"),
    ],
)
def test_safe(text, shown):
    assert safe(text) == shown
    assert "\n" not in one_line(text)


def test_json_steers_no_terminal(monkeypatch):
    out, document = io.StringIO(), {"a": "\x1b[2J\x9b2J\x85\x7f\u2028\u202e é 日本"}
    screen(monkeypatch, out).json(document)
    text = out.getvalue()
    assert all(each.isprintable() or each == "\n" for each in text)
    assert "é 日本" in text
    assert json.loads(text) == document
