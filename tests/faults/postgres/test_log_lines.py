"""A server that is away is a few lines in the log, however many steps fail meanwhile."""

from tests.faults.postgres.victim import Victim
from tests.observe.serving import serving

MOST_LINES = 3


def test_an_outage_is_three_lines_at_most(tmp_path):
    server = Victim()
    options = ("--store", server.url, "--port", "0", "--no-auth", "--log-level", "debug")
    with serving(tmp_path, *options) as service:
        service.wait_for("service_started")
        server.kill()
        service.wait_for("step_failed", 20)
        server.start()
        service.wait_for("store_recovered")
    start = next(
        number for number, line in enumerate(service.lines) if line["event"] == "service_started"
    )
    told = [
        line
        for line in service.lines[start + 1 :]
        # Which says at this level that it has started.
        if line["level"] != "debug" and line.get("logger") != "uvicorn.error"
    ]
    assert len(told) <= MOST_LINES, told
    assert told[0]["event"] == "store_unavailable"
    assert told[-1]["event"] == "store_recovered"
    assert "secret" not in str(service.lines)  # the password of the URL
