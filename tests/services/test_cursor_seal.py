"""Cursors are good for their list, in every process, and cannot be made by a client."""

import hashlib
import os
import subprocess
import sys
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode

import pytest

from tickwell.errors import InvalidInput
from tickwell.ports.records import JobFilter
from tickwell.services.cursor_seal import CursorSeal
from tickwell.services.keyring import Keyring, ServerKey

SCOPE = ("default", JobFilter(search="x"))
KEY = ServerKey(bytes(range(32)))
OTHER = ServerKey(bytes(range(1, 33)))
SEAL = """
from tickwell.services.cursor_seal import CursorSeal
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.ports.records import JobFilter
seal = CursorSeal.under(Keyring([ServerKey(bytes(range(32)))]))
print(seal.seal("abc", "default", JobFilter(search="x")))
"""


def test_a_cursor_is_good_in_another_process_with_the_same_server_key():
    made = {
        subprocess.run(
            [sys.executable, "-c", SEAL],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert made == {CursorSeal.under(Keyring([KEY])).seal("abc", *SCOPE)}


@pytest.mark.parametrize(
    "scope",
    [("other", JobFilter(search="x")), ("default", JobFilter(search="y")), ("jobs", *SCOPE)],
    ids=["project", "filter", "list"],
)
def test_a_cursor_of_another_list_is_refused(scope):
    seal = CursorSeal.under(Keyring([KEY]))
    with pytest.raises(InvalidInput, match=r"not a cursor of this list.*next_cursor"):
        seal.open(seal.seal("abc", *SCOPE), *scope)


def test_a_cursor_of_another_server_is_refused():
    with pytest.raises(InvalidInput, match="not a cursor of this list"):
        CursorSeal.under(Keyring([OTHER])).open(
            CursorSeal.under(Keyring([KEY])).seal("abc", *SCOPE), *SCOPE
        )
    with pytest.raises(InvalidInput, match="not a cursor of this list"):
        CursorSeal.of_process().open(CursorSeal.of_process().seal("abc", *SCOPE), *SCOPE)


def test_a_cursor_stays_good_after_the_server_key_was_rotated():
    before = CursorSeal.under(Keyring([KEY]))
    after = CursorSeal.under(Keyring([OTHER, KEY]))
    assert after.open(before.seal("abc", *SCOPE), *SCOPE) == "abc"
    with pytest.raises(InvalidInput):
        before.open(after.seal("abc", *SCOPE), *SCOPE)


def test_what_anybody_can_compute_is_not_a_seal():
    seal = CursorSeal.under(Keyring([KEY]))
    genuine = seal.seal('["a", "b", "c"]', *SCOPE) or ""
    raw = urlsafe_b64decode(genuine + "=" * (-len(genuine) % 4))
    forged = b'[{"$regex": "(a+)+$"}, "b", "c"]'
    for code in (raw[:16], hashlib.blake2b(forged, digest_size=16).digest(), b""):
        with pytest.raises(InvalidInput):
            seal.open(urlsafe_b64encode(code + forged).decode().rstrip("="), *SCOPE)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "a", "é", "\ud800", "\0", b64encode(b"\xff" * 40).decode(), "%" * 99]
)
def test_what_no_list_sent_is_refused(text):
    with pytest.raises(InvalidInput, match="not a cursor of this list"):
        CursorSeal.under(Keyring([KEY])).open(text, *SCOPE)
