import base64
import os
import stat
from pathlib import Path

import pytest

from tests.services.admin.conftest import TEN
from tickwell.errors import InvalidSetting
from tickwell.services.keyring import Keyring, ServerKey, source
from tickwell.services.keyring.source import (
    add_key,
    find_keys,
    key_file,
    load_keyring,
    require_keys,
)
from tickwell.settings import Settings

GOOD = base64.b64encode(bytes(range(32))).decode()
OTHER = base64.b64encode(bytes(range(32, 64))).decode()


def load(path):
    found = load_keyring({}, path)
    assert found is not None
    return found


def test_the_file_is_made_once_for_its_owner_only(tmp_path):
    path = tmp_path / "jobs.db.key"
    made = load(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load(path).current == made.current
    assert [each.name for each in tmp_path.iterdir()] == ["jobs.db.key"]


def test_a_file_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "jobs.db.key"
    load_keyring({}, path)
    path.chmod(0o640)
    with pytest.raises(InvalidSetting, match="chmod 600"):
        load_keyring({}, path)


def test_a_file_of_another_user_is_refused_but_that_of_root_is_not(tmp_path, monkeypatch):
    path = tmp_path / "jobs.db.key"
    made = load(path)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    monkeypatch.setattr(source, "_ROOT", owner)
    assert load(path).current == made.current
    monkeypatch.setattr(source, "_ROOT", owner + 2)
    with pytest.raises(InvalidSetting, match="belongs to another user"):
        load_keyring({}, path)


def test_the_environment_wins_and_its_first_key_is_the_current_one(tmp_path):
    found = load_keyring({"TICKWELL_SECRET_KEYS": f"{GOOD}, {OTHER}"}, tmp_path / "none")
    assert found is not None
    assert found.current == ServerKey(bytes(range(32)))
    assert len(found.ids) == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "secret",
        "changeme",
        base64.b64encode(b"0" * 32).decode(),
        base64.b64encode(b"change me" * 4).decode(),
        base64.b64encode(bytes(range(31))).decode(),
    ],
)
def test_a_weak_key_is_refused_without_repeating_it(text):
    with pytest.raises(InvalidSetting) as error:
        load_keyring({"TICKWELL_SECRET_KEY": text}, None)
    assert not text or text not in str(error.value)


def test_without_a_file_the_key_is_the_process_s_own():
    assert load(None).current != load(None).current
    assert load_keyring({}, None, make=False) is None


def test_a_new_key_comes_first_and_the_old_one_stays(tmp_path):
    path = tmp_path / "key"
    old = load(path)
    new = add_key(path)
    assert new.ids[1] == old.current.id
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("store", "path"),
    [
        ("memory://", None),
        ("sqlite:///tickwell.db", "tickwell.db.key"),
        ("sqlite:////var/lib/jobs.db?synchronous=normal", "/var/lib/jobs.db.key"),
        ("postgresql://user@host/db", "tickwell.key"),
    ],
)
def test_where_the_file_is(store, path):
    assert key_file(store) == (None if path is None else Path(path))


async def test_a_process_with_other_keys_does_not_start(office):
    await require_keys(office.store, Keyring([ServerKey(bytes(range(32)))]), TEN)
    await require_keys(office.store, Keyring([ServerKey(bytes(range(32)))]), TEN)
    with pytest.raises(InvalidSetting, match="Copy the key file"):
        await require_keys(office.store, Keyring([ServerKey(os.urandom(32))]), TEN)


def test_a_key_is_not_in_its_text():
    assert "x00" not in repr(ServerKey(bytes(range(32))))


async def test_no_key_is_made_for_a_store_that_has_one_already(office, tmp_path):
    path = tmp_path / "jobs.db.key"
    settings = Settings(secret_key_file=str(path))
    made = await find_keys(office.store, settings, TEN)
    await require_keys(office.store, made, TEN)
    path.rename(tmp_path / "elsewhere.key")
    with pytest.raises(InvalidSetting, match=f"made to {path}, or set TICKWELL_SECRET_KEYS"):
        await find_keys(office.store, settings, TEN)
    assert not path.exists()
    (tmp_path / "elsewhere.key").rename(path)
    again = await find_keys(office.store, settings, TEN)
    assert again.ids == made.ids
