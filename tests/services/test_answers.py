"""The address at which an execution's question is answered."""

import pytest

from tickwell.errors import InvalidSetting, NotFound
from tickwell.services.cursor_seal import CursorSeal
from tickwell.services.executions.answers import answer_url, read_token
from tickwell.services.keyring.source import add_key, key_path, load_keys
from tickwell.settings import Settings

QUESTION = ("default", "01a1f058-c092-7ab1-8439-6d3eb977c6f4", "ok, Zoë?")


def test_the_service_knows_what_a_worker_has_signed(tmp_path):
    store = f"sqlite:///{tmp_path}/jobs.db"
    settings = Settings(store=store, public_url="https://jobs.example.com/")
    url = answer_url(settings, *QUESTION)
    head, token = url.rsplit("/", 1)
    assert head == "https://jobs.example.com/api/v1/answers"
    assert token.replace("-", "").replace("_", "").isalnum()
    keys = load_keys(settings, make=False)
    assert keys is not None
    assert read_token(CursorSeal.under(keys), token) == QUESTION
    path = key_path(settings)
    assert path is not None
    # A rotated key breaks no address that was sent.
    assert read_token(CursorSeal.under(add_key(path)), token) == QUESTION
    with pytest.raises(NotFound):
        read_token(CursorSeal.of_process(), token)


def test_without_a_public_url_there_is_none():
    with pytest.raises(InvalidSetting, match="public_url"):
        answer_url(Settings(store="memory://"), *QUESTION)
