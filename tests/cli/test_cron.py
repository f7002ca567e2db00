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


def test_a_phrase_is_shown_as_what_it_stands_for(tickwell):
    ended = tickwell("cron", "explain", "every weekday at 9 in Rome", *FROM)
    first, *fires = ended.out.splitlines()
    assert first == "At 09:00 on Monday to Friday, Europe/Rome."
    assert fires[0] == "2026-01-01T09:00:00+01:00\t2026-01-01T08:00:00.000Z"
    document = tickwell("cron", "explain", "every 5 minutes", *FROM, "--json").json
    assert document["trigger"] == {"every": "5m"}
    refused = tickwell("cron", "explain", "every weekdy at 9")
    assert refused.code == 2
    assert 'nearest that is understood: "every weekday at 9"' in refused.err


def test_a_job_is_added_by_a_phrase(tickwell):
    made = ("jobs", "add", "x", "--call", "x", "--json")
    job = tickwell(*made, "--when", "every weekday at 9", "--tz", "Europe/Rome").json
    assert job["trigger"] == {"cron": "0 9 * * 1-5", "tz": "Europe/Rome"}
    edited = tickwell("jobs", "edit", "x", "--when", "every hour", "--json").json
    assert edited["job"]["trigger"] == {"every": "1h"}
    both = tickwell(*made, "--when", "every hour", "--every", "1h")
    assert "--every and --when are 2 triggers" in both.err
