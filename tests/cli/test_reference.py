"""The reference is written from the commands, and is up to date."""

import pytest

from scripts import cli_reference
from tests.docs import pages

TEXT = pages.text_of("command-line")


def test_it_is_up_to_date():
    assert cli_reference.page(TEXT) == TEXT, "run: python -m scripts.cli_reference"


@pytest.mark.parametrize("path", [path for path, _ in cli_reference.all_commands()])
def test_every_command_has_its_chapter(path):
    assert path in pages.headings(TEXT)


@pytest.mark.parametrize(("path", "command"), cli_reference.all_commands())
def test_every_command_and_option_says_what_it_does(path, command):
    assert command.help
    missing = [each.name for each in command.params if not each.help and not each.hidden]
    assert missing == []


def test_exit_codes_are_those_of_the_code():
    from tickwell.cli.exits import Code

    documented = {row[0] for row in pages.rows(TEXT)}
    assert {str(int(code)) for code in Code} <= documented


def test_a_revival_is_as_fast_as_over_the_api():
    from tickwell.services.operations.records.service import ReviveMany

    command = dict(cli_reference.all_commands())["tickwell dead revive"]
    (rate,) = [each.default for each in command.params if each.name == "rate"]
    assert rate == ReviveMany().rate
