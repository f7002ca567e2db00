"""That the checks of commands and settings in deploy/ can fail."""

import pytest

from tests.deploy.deployed import check_variables, parse
from tickwell.errors import InvalidSetting


def test_an_option_that_does_not_exist_is_noticed():
    assert parse(["serve", "--role", "api"])["role"] == "api"
    with pytest.raises(Exception, match="No such option"):
        parse(["serve", "--roles", "api"])


def test_a_command_that_does_not_exist_is_noticed():
    with pytest.raises(Exception, match="No such command"):
        parse(["store", "migrates"])


def test_a_variable_or_value_that_does_not_exist_is_noticed():
    with pytest.raises(AssertionError):
        check_variables({"TICKWELL_PASSWORD": "x"})
    with pytest.raises(InvalidSetting):
        check_variables({"TICKWELL_LEASE": "30"})
