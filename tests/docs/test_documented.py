"""What is public is documented."""

import logging
import re
from dataclasses import fields
from string import Formatter
from typing import get_args

import pytest
import typer

import tickwell
from tests.docs import pages
from tickwell import errors
from tickwell.api.routes import ALL
from tickwell.cli.application import application
from tickwell.domain import event, execution, policy, promises, trigger
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.seconds import Seconds
from tickwell.log import events as log_events
from tickwell.settings import Settings
from tickwell.ui import app as ui
from tickwell.web.authentication import PUBLIC, permission_of

ERRORS = sorted(
    (each for each in vars(errors).values() if isinstance(each, type)), key=lambda e: e.__name__
)
EVENTS = get_args(event.Event)
#: Known to the engine only, or set by the store.
OWN_FIELDS = {
    *("id", "name", "trigger", "target", "project", "app", "declared"),
    *("version", "saved_at", "created_at"),
}
COMMANDS = typer.main.get_command(application()).commands  # type: ignore[attr-defined]  # a group


def word_in(word, text):
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def test_every_setting_has_its_row_with_its_default():
    known = {cells[0]: cells[1] for cells in pages.rows(pages.text_of("settings"))}
    for field in fields(Settings):
        default = str(field.default).replace("'", '"')
        if isinstance(field.default, str | Seconds):
            default = f'"{default}"'
        assert known.get(f"`{field.name}`") == f"`{default}`", field.name


def test_no_setting_is_documented_that_does_not_exist():
    documented = {cells[0].strip("`") for cells in pages.rows(pages.text_of("settings"))}
    assert documented - {"setting", "---"} == {field.name for field in fields(Settings)}


@pytest.mark.parametrize("row", promises.ALL, ids=lambda row: row.store)
def test_what_each_store_promises_is_what_the_table_says(row):
    held = row.one_record, row.nothing_lost, row.fencing, row.many_hosts, row.clock
    assert [row.store, *held] in pages.rows(pages.text_of("promises"))


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_has_its_paragraph(error):
    assert error.__name__ in pages.headings(pages.text_of("errors"))


def test_the_tree_of_errors_is_the_one_in_the_code():
    assert errors.__doc__ is not None
    tree = errors.__doc__[errors.__doc__.index("TickwellError") : errors.__doc__.index("A message")]
    assert tree.strip() in pages.text_of("errors")


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_has_its_paragraph_and_its_fields(kind):
    text = pages.text_of("events")
    assert kind.__name__ in pages.headings(text)
    row = next(cells for cells in pages.rows(text) if cells[0].startswith(f"[`{kind.__name__}`]"))
    assert row[1] == ", ".join(f"`{field.name}`" for field in fields(kind))


def test_no_event_is_documented_that_does_not_exist():
    documented = set(pages.headings(pages.text_of("events"))) - {"Events"}
    assert documented == {kind.__name__ for kind in EVENTS}


def test_every_log_event_has_its_row_with_level_and_fields():
    rows = [cells[:3] for cells in pages.rows(pages.text_of("logs")) if len(cells) == 4]
    expected = [
        [
            f"`{each.name}`",
            logging.getLevelName(each.level).lower(),
            ", ".join(f"`{field}`" for field in each.fields),
        ]
        for each in log_events.ALL
    ]
    assert [row for row in rows if row[0] not in {"event", "---"}] == expected


def test_log_events_have_names_of_one_form_and_sentences_of_their_fields():
    names = [each.name for each in log_events.ALL]
    assert len({*names}) == len(names)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
    for each in log_events.ALL:
        used = {name for _, name, _, _ in Formatter().parse(each.sentence) if name}
        assert used <= {*each.fields, "cause", "next", "notice", "message"}, each.name


def test_every_address_that_is_counted_for_nobody_is_named():
    paths = [each.path for each in ui.pages() if permission_of(each) == PUBLIC]
    open_to_all = [each for each in ALL if each.permission is None]
    paths += [each.path if each.at_root else f"/api/v1{each.path}" for each in open_to_all]
    public = {path.partition("{")[0] for path in paths}
    assert "/health" in public
    assert public <= pages.spans(pages.text_of("limits"))


@pytest.mark.parametrize("public", tickwell.__all__)
def test_every_public_name_is_documented(public):
    assert any(word_in(public, page.read_text("utf-8")) for page in pages.PAGES)


@pytest.mark.parametrize("public", [name for name in trigger.__all__ if name[0].isupper()])
def test_every_trigger_is_on_its_page(public):
    assert word_in(public, pages.text_of("triggers"))


@pytest.mark.parametrize("field", sorted({field.name for field in fields(Job)} - OWN_FIELDS))
def test_every_policy_is_on_its_page(field):
    spans = pages.spans(pages.text_of("policies"))
    assert any(word_in(field, span) for span in spans)


@pytest.mark.parametrize(
    "record", [policy.Retry, policy.Misfire, policy.Timeout, policy.Retention, Concurrency]
)
def test_every_field_of_a_policy_is_on_its_page(record):
    text = pages.text_of("policies")
    signature = max(
        (span for span in pages.spans(text) if span.startswith(f"{record.__name__}(")), key=len
    )
    missing = [field.name for field in fields(record) if not word_in(field.name, signature)]
    assert missing == []


@pytest.mark.parametrize(
    "choices",
    [Overlap, policy.OnMisfire, policy.Delivery, policy.Backoff],
    ids=lambda c: c.__name__,
)
def test_every_choice_is_on_its_page(choices):
    text = pages.text_of("policies")
    assert [choice.name for choice in choices if not word_in(choice.name, text)] == []


@pytest.mark.parametrize("choices", [execution.State, execution.Reason], ids=lambda c: c.__name__)
def test_every_state_and_reason_is_explained(choices):
    spans = pages.spans(pages.text_of("concepts"))
    assert {str(choice.value) for choice in choices} - spans == set()


def test_every_outcome_is_in_the_glossary():
    text = pages.text_of("glossary")
    assert [kind for kind in execution.OutcomeKind if not word_in(kind.value, text)] == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_its_chapter(command):
    assert f"tickwell {command}" in pages.headings(pages.text_of("command-line"))


def options():
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if not getattr(parameter, "hidden", True):  # arguments have no such field
                for option in (*parameter.opts, *parameter.secondary_opts):
                    yield name, option


@pytest.mark.parametrize(("command", "option"), list(options()))
def test_every_option_is_documented(command, option):
    text = pages.text_of("command-line")
    chapter = text[text.index(f"## tickwell {command}") :]
    assert word_in(option, chapter)


@pytest.mark.parametrize("example", pages.EXAMPLES, ids=pages.name)
def test_every_example_says_what_it_shows(example):
    assert example.read_text("utf-8").startswith('"""')
    assert example.name in pages.text_of("library")
