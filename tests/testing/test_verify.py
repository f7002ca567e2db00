"""`tickwell store verify` finds good stores good and bad ones bad, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from tickwell.cli.commands import store
from tickwell.errors import InvalidInput
from tickwell.testing.verify import run as verification
from tickwell.testing.verify import suites
from tickwell.testing.verify.orders import SUITES, Orders

ROOT = Path(__file__).parent.parent.parent
#: Seconds: a bound on liveness, on the slowest machine.
pytestmark = pytest.mark.timeout(400)

ON_RECORD = ("one record per fire", "nothing lost", "never early")
#: What is tried of a server, in order.
TRIED = [
    ("contract", "the contract of stores"),
    *(("contention", each) for each in ON_RECORD),
    *(("kill", each) for each in (*ON_RECORD, "fencing")),
    *(("skew", each) for each in ON_RECORD),
]


def begin(*arguments, url=None, **options):
    environment = os.environ | ({"TICKWELL_STORE": url} if url else {})
    return subprocess.Popen(
        [sys.executable, "-m", "tickwell", "store", "verify", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def verify(*arguments, url=None):
    """As a person does it; the exit code, and both outputs."""
    process = begin(*arguments, url=url)
    out, err = process.communicate()
    return process.returncode, out, err


def verified(url):
    """What a good store comes to."""
    code, out, err = verify("--quick", "--json", url=url)
    assert code == 0, out + err
    verdict = json.loads(out)
    assert verdict["ok"]
    assert verdict["left"] is None
    assert [each["wrong"] for each in verdict["findings"]] == [[]] * len(verdict["findings"])
    return verdict, err


def seen(verdict, suite):
    return {each["promise"]: each["seen"] for each in verdict["findings"] if each["suite"] == suite}


def results(verdict):
    return [(each["suite"], each["promise"], each["result"]) for each in verdict["findings"]]


def check_counts(verdict):
    assert seen(verdict, "contention")["one record per fire"] == "500 records of 500 fire times"
    assert seen(verdict, "contention")["nothing lost"].startswith("500 of 500 fire times run")
    assert seen(verdict, "contract")["the contract of stores"].endswith(" tests in 4 topics")
    # A wave is 15 or 16 instants long, as it falls, of ten jobs; there are two of them.
    fires = int(seen(verdict, "kill")["one record per fire"].split()[0])
    assert 300 <= fires <= 320
    assert seen(verdict, "kill")["nothing lost"].startswith(f"{fires} of {fires} ")
    # Of late reports there may be none: a process that was frozen may see its loss first. One is
    # played step by step besides.
    assert int(seen(verdict, "kill")["fencing"].split()[0]) >= 1


def test_sqlite(tmp_path):
    mine = tmp_path / "mine.db"
    verdict, err = verified(f"sqlite:///{mine}")
    check_counts(verdict)
    assert results(verdict) == [
        *((*each, "ok") for each in TRIED if each[0] != "skew"),
        ("skew", "clock", "not tried"),
    ]
    assert verdict["promises"]["store"] == "SQLite"
    assert f"the file {tmp_path}/tickwell_verify_" in err
    assert list(tmp_path.iterdir()) == []


def test_memory_is_held_to_the_contract_alone():
    code, out, _ = verify("memory://", "--quick")
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[1:3] for row in rows] == [
        ["contract", "ok"],
        ["contention", "not tried"],
        ["kill", "not tried"],
        ["skew", "not tried"],
    ]


def broken(tmp_path, make, *wanted):
    """What the process that tries a store says of one that we make ourselves."""
    orders = Orders(
        url=f"sqlite:///{tmp_path}/mine.db",
        make=f"tests.testing.broken_stores:{make}",
        suites=wanted,
        quick=True,
        as_json=True,
    )
    ended = subprocess.run(
        [sys.executable, "-m", "tickwell.testing.verify"],
        cwd=ROOT,
        input=json.dumps(asdict(orders)) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    verdict = json.loads(ended.stdout)
    assert not verdict["ok"]
    assert list(tmp_path.iterdir()) == []
    return verdict


def test_a_store_that_ignores_the_fence_is_found(tmp_path):
    verdict = broken(tmp_path, "unfenced", "contract", "kill")
    found = [each[:2] for each in results(verdict) if each[2] == "broken"]
    assert ("contract", "the contract of stores") in found
    assert ("kill", "fencing") in found
    wrong = [each["wrong"] for each in verdict["findings"] if each["suite"] == "contract"]
    assert any("Finishing: " in line for line in wrong[0])


def test_a_store_without_one_clock_is_found(tmp_path):
    verdict = broken(tmp_path, "own_clock", "skew")
    assert ("skew", "never early", "broken") in results(verdict)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_it_is_stopped(tmp_path, number):
    process = begin(f"sqlite:///{tmp_path}/mine.db", "--suite", "contention")
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("contention:"):
            break
    process.send_signal(number)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err.endswith("Stopped.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://nobody:secret@127.0.0.1:1/x",
        "mysql://nobody:secret@127.0.0.1:1/x",
        "mongodb://nobody:secret@127.0.0.1:1/x?serverSelectionTimeoutMS=200",
        "redis://nobody:secret@127.0.0.1:1/0",
    ],
)
def test_a_store_that_is_away(url):
    code, out, err = verify(url, "--suite", "kill")
    assert (code, out) == (5, "")
    assert "secret" not in err
    assert err.startswith("tickwell: ")
    assert "does not answer" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["memory://", "--suite", "speed"], "suite: unknown value speed. Expected one of contract"),
        (["ftp://x"], "store: 'ftp://…' names no store that Tickwell knows"),
    ],
)
def test_what_cannot_be_tried(arguments, why):
    code, out, err = verify(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"tickwell: {why}")
    assert err.count("\n") == 1


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("Milk, bread")
    code, out, err = verify(f"sqlite:///{tmp_path}/notes.txt")
    assert (code, out) == (1, "")
    assert err == (
        f"tickwell: {tmp_path}/notes.txt is not a Tickwell database; name another file, or move it"
        " away\n"
    )
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]
    assert (tmp_path / "notes.txt").read_text() == "Milk, bread"


async def test_without_pytest_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(verification, "find_spec", lambda _: None)
    with pytest.raises(InvalidInput, match="pip install 'tickwell\\[verify\\]'"):
        await verification.verify(Orders(url="memory://"), pytest.fail)


def test_the_command_and_the_process_know_the_same_suites():
    assert store.SUITES == SUITES == tuple(suites.SUITES)
