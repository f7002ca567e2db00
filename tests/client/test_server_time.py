"""The server's time, from the `Date` of its first answer."""

from tickwell.client.transport import Endpoint, Transport


def test_time_passes_from_the_first_answer_on(monkeypatch):
    transport = Transport(Endpoint("http://127.0.0.1:1", {}), timeout=1, retries=0)
    passed = [100.0]
    monkeypatch.setattr(transport.clock, "monotonic", lambda: passed[0])
    assert transport.server_now() is None
    transport.note_time("no date")
    assert transport.server_now() is None
    transport.note_time("Tue, 01 Jan 2030 00:00:00 GMT")
    transport.note_time("Wed, 02 Jan 2030 00:00:00 GMT")  # one reading serves all moments
    passed[0] += 3
    assert transport.server_now() == 1_893_456_000_000 + 3_500
