"""`tickwell cron explain`."""

import pytest

FROM = ("--since", "2026-01-01")


def test_words_zone_and_utc(tickwell):
    ended = tickwell("cron", "explain", "0 9 * * mon-fri", "--tz", "Europe/Rome", *FROM)
    first, *fires = ended.out.splitlines()
    assert first == "At 09:00 on Monday to Friday, Europe/Rome."
    assert fires[0] == "2026-01-01T09:00:00+01:00\t2026-01-01T08:00:00.000Z"
    assert len(fires) == 5
    assert ended.err == ""


def test_json(tickwell):
    document = tickwell("cron", "explain", "@daily", "--count", 2, *FROM, "--json").json
    assert document["words"] == "at 00:00 every day, UTC"
    assert document["next"] == ["2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"]
    assert document["warnings"] == []


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (["0 9 13 * fri"], "Note: day-of-month 13 and day-of-week fri are both set"),
        (
            ["30 2 * * *", "--tz", "Europe/Rome", *FROM],
            "2026-03-29 02:30 in Europe/Rome is missing",
        ),
        (
            ["30 2 * * *", "--tz", "Europe/Rome", *FROM],
            "2026-10-25 02:30 in Europe/Rome happens twice",
        ),
    ],
)
def test_traps(tickwell, arguments, warning):
    ended = tickwell("cron", "explain", *arguments)
    assert ended.code == 0
    assert warning in ended.err


@pytest.mark.parametrize("arguments", [["61 * * * *"], ["0 9 30 2 *"], ["* * * * *", "--tz", "No"]])
def test_what_never_fires_is_refused(tickwell, arguments):
    ended = tickwell("cron", "explain", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("tickwell: ")
