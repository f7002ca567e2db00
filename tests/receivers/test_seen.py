"""Receivers: each webhook once."""

from threading import Barrier, Thread

from tickwell.receivers import Delivery, MemorySeen, Verdict


def delivery(id="a", attempt=1):
    return Delivery(id=id, timestamp=0, attempt=attempt)


def test_new_then_done():
    seen = MemorySeen()
    assert seen.begin(delivery()) is Verdict.NEW
    seen.end(delivery(), done=True)
    assert seen.begin(delivery()) is Verdict.DONE
    assert seen.begin(delivery(attempt=2)) is Verdict.DONE
    assert seen.begin(delivery("b")) is Verdict.NEW


def test_what_did_not_take_effect_comes_again():
    seen = MemorySeen()
    seen.begin(delivery())
    seen.end(delivery(), done=False)
    assert seen.begin(delivery(attempt=2)) is Verdict.NEW


def test_one_that_is_under_way_is_not_begun_twice():
    seen = MemorySeen()
    seen.begin(delivery())
    assert seen.begin(delivery(attempt=2)) is Verdict.BUSY
    seen.end(delivery(), done=False)
    assert seen.begin(delivery(attempt=3)) is Verdict.NEW


def test_an_attempt_that_is_older_than_one_seen_is_stale():
    seen = MemorySeen()
    seen.begin(delivery(attempt=2))
    seen.end(delivery(attempt=2), done=False)
    assert seen.begin(delivery(attempt=1)) is Verdict.STALE
    assert seen.begin(delivery(attempt=2)) is Verdict.NEW


def test_it_forgets_after_a_while_and_beyond_a_number():
    now = [0]
    seen = MemorySeen(seconds=10, most=3, now=lambda: now[0])
    for id in "abc":
        seen.begin(delivery(id))
        seen.end(delivery(id), done=True)
    assert seen.begin(delivery("c")) is Verdict.DONE
    seen.begin(delivery("d"))
    assert len(seen._entries) <= 3
    seen.end(delivery("d"), done=True)
    now[0] = 10_001
    assert seen.begin(delivery("d")) is Verdict.NEW
    assert list(seen._entries) == ["d"]


def test_what_is_under_way_is_not_forgotten_for_want_of_room():
    seen = MemorySeen(most=2, now=lambda: 0)
    for id in "abcde":
        assert seen.begin(delivery(id)) is Verdict.NEW
    assert {seen.begin(delivery(id)) for id in "abcde"} == {Verdict.BUSY}


def test_of_two_threads_only_one_is_new():
    for _ in range(50):
        seen, barrier, verdicts = MemorySeen(), Barrier(4), list[Verdict]()

        def run(seen=seen, barrier=barrier, verdicts=verdicts):
            barrier.wait()
            verdicts.append(seen.begin(delivery()))

        threads = [Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert verdicts.count(Verdict.NEW) == 1
