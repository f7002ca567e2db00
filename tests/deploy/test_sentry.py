"""The example for Sentry, with a transport that records what would be sent."""

import importlib.util
from pathlib import Path

import pytest
import sentry_sdk
from sentry_sdk.transport import Transport

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "sentry_errors.py"


class Recording(Transport):
    """Keeps events instead of sending them."""

    def __init__(self):
        super().__init__()
        self.events = []

    def capture_envelope(self, envelope):
        self.events.append(envelope.get_event())


@pytest.fixture
def recording(monkeypatch):
    transport, init = Recording(), sentry_sdk.init
    monkeypatch.setenv("SENTRY_DSN", "https://key@sentry.example.com/1")
    monkeypatch.setattr(sentry_sdk, "init", lambda dsn: init(dsn=dsn, transport=transport))
    yield transport
    init(dsn="")  # as the variable is still set, nothing less turns it off


def load():
    spec = importlib.util.spec_from_file_location("sentry_errors", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_a_failed_attempt_is_one_event_with_what_it_ran_for(recording):
    example = load()
    await example.main()
    [event] = recording.events
    assert event["level"] == "error"
    assert event["message"] == "charge: ConnectionError: the bank does not answer"
    assert event["tags"] == {
        "job": "charge",
        "project": "default",
        "queue": "default",
        "outcome": "failed",
    }
    context = event["contexts"]["tickwell"]
    assert context["attempt"] == 1
    assert "ConnectionError" in context["error"]
    assert context["execution"]


async def test_attempts_of_one_job_with_the_same_error_are_one_issue(recording):
    example = load()
    async with example.scheduler as scheduler:
        sentry_sdk.init("https://key@sentry.example.com/1")
        for _ in range(2):
            await scheduler.wait(await example.charge.trigger())
    prints = [event["fingerprint"] for event in recording.events]
    assert len(prints) == 2
    assert prints[0] == prints[1]
