"""The scripts and Python agree on codes, and every script is written for its server."""

import re
from importlib.resources import files

import pytest

from tickwell.clock import NEVER
from tickwell.domain import policy
from tickwell.domain.execution import Execution
from tickwell.domain.job import HEAD_START
from tickwell.stores.redis.client import WITHOUT_EPOCH, script
from tickwell.stores.sql.rows import codec

FOLDER = files("tickwell.stores.redis").joinpath("scripts")
NAMES = sorted(file.name[:-4] for file in FOLDER.iterdir() if file.name.endswith(".lua"))


def words():
    text = FOLDER.joinpath("shared", "words.lua").read_text("utf-8")
    found: dict[str, int] = {}
    for names, values in re.findall(r"^local ([\w,\s]+?)\s=\s([\d,\s]+)", text, re.MULTILINE):
        pairs = zip(names.replace("\n", " ").split(","), values.split(","), strict=True)
        found |= {name.strip(): int(value) for name, value in pairs}
    return found


def test_codes_are_the_same():
    lua = words()
    for name in [
        "WAITING",
        "BLOCKED",
        "QUEUED",
        "RUNNING",
        "PARKED",
        "SUCCEEDED",
        "DEAD",
        "CANCELLED",
        "SKIPPED",
    ]:
        assert lua[name] == getattr(codec, name)
    for name in ["ACTIVE", "PAUSED", "FINISHED", "DELETED", "FIRE"]:
        assert lua[name] == getattr(codec, name)
    for name in ["SKIP", "QUEUE_ONE", "QUEUE_ALL", "CANCEL_RUNNING", "ALLOW"]:
        assert lua[name] == getattr(codec, name)
    assert (lua["NEVER"], lua["HEAD_START"]) == (NEVER, HEAD_START)
    assert (lua["MINUTE"], lua["DAY"]) == (policy.MINUTE, policy.DAY)
    assert lua["KEPT_VERSIONS"] == policy.KEPT_VERSIONS


def test_rows_begin_like_executions():
    """What is read of an execution is its fields in order: id and attempts are stored separately,
    and `is_new` is of an answer.
    """
    lua = words()
    fields = list(Execution.__dataclass_fields__)[1:-2]
    assert lua["REVIVED"] == len(fields) == fields.index("revived_from") + 1
    assert lua["ATTEMPT"] == fields.index("attempt") + 1
    assert lua["REASON"] == fields.index("reason") + 1


@pytest.mark.parametrize("name", NAMES)
def test_every_script_loads_and_names_no_key_without_our_prefix(name, keys):
    made = script(name)
    keys.script_load(made.text)
    assert made.text.startswith("#!lua flags=")
    assert name in WITHOUT_EPOCH or "~= ARGV[1] then" in made.text
    for call in re.findall(r"redis\.call\(\s*'\w+',\s*([^,)]+)", made.text):
        assert call.startswith(("P ..", "KEYS[1]", "before_gate(", "holders", "key")), call
