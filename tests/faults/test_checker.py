"""The checker is only evidence if it flags what is wrong: histories are damaged at random."""

import random
from dataclasses import replace

import pytest

from tests.faults.checker import check
from tests.faults.history import Call, History, Range, Row, Try

SEEDS = range(200)


def clean_history(seeded: random.Random) -> History:
    history = History()
    for number in range(seeded.randint(1, 5)):
        job, period = f"job-{number}", seeded.choice([100, 1000, 7000])
        fires = [period * n for n in range(10, 10 + seeded.randint(3, 30))]
        history.fires[job] = fires
        begin = seeded.randrange(len(fires) - 1)
        end = seeded.randint(begin, len(fires) - 1)
        passed, kept = fires[begin:end], fires[:begin] + fires[end:]
        if passed:
            history.ranges.append(Range(job, passed[0], passed[-1], len(passed)))
        for fire in kept:
            add(history, seeded, Row(f"{job}:{fire}", job, fire, "succeeded", 1))
    for number in range(seeded.randint(1, 3)):
        row = Row(f"run-{number}", "job-0", 50, "succeeded", 1, requested=True)
        history.requests.append(row.id)
        add(history, seeded, row)
    return history


def add(history: History, seeded: random.Random, row: Row) -> None:
    state = seeded.choices(["succeeded", "dead", "skipped"], [8, 1, 1])[0]
    if state == "skipped":
        history.rows.append(replace(row, state="skipped", attempt=0))
        return
    count = seeded.choice([1, 1, 1, 2, 4])
    outcomes = [seeded.choice(["failed", "lost", "released"]) for _ in range(count)]
    outcomes[-1] = "succeeded" if state == "succeeded" else "failed"
    tries = tuple(Try(n, outcome) for n, outcome in enumerate(outcomes, 1))
    history.rows.append(replace(row, state=state, attempt=count, tries=tries))
    for each in tries:
        # Of a lost or released attempt nobody knows whether it was called.
        if each.outcome in {"succeeded", "failed"} or seeded.random() < 0.5:
            at = row.fire_time + seeded.randint(0, 50)
            history.calls.append(Call(row.id, each.number, at))


def needed_calls(history: History) -> list[int]:
    told = {
        (row.id, each.number)
        for row in history.rows
        for each in row.tries
        if each.outcome in {"succeeded", "failed"}
    }
    return [n for n, call in enumerate(history.calls) if (call.execution, call.attempt) in told]


def delete_row(history, seeded):
    history.rows.pop(seeded.randrange(len(history.rows)))
    return {"lost", "phantom"}


def delete_call(history, seeded):
    history.calls.pop(seeded.choice(needed_calls(history)))
    return {"lost"}


def double_row(history, seeded):
    row = seeded.choice([row for row in history.rows if not row.requested])
    history.rows.append(replace(row, id="another", tries=(), attempt=0, state="skipped"))
    return {"doubled"}


def double_call(history, seeded):
    call = seeded.choice(history.calls)
    history.calls.append(replace(call, at=call.at + 5))
    return {"doubled"}


def call_early(history, seeded):
    number = seeded.randrange(len(history.calls))
    call = history.calls[number]
    fire = next(row.fire_time for row in history.rows if row.id == call.execution)
    history.calls[number] = replace(call, at=fire - seeded.randint(1, 100))
    return {"early"}


def call_another_attempt(history, seeded):
    number = seeded.choice(needed_calls(history))
    call = history.calls[number]
    history.calls[number] = replace(call, attempt=call.attempt + 1)
    return {"lost", "phantom", "doubled"}


def call_out_of_nothing(history, seeded):
    history.calls.append(Call("nobody", 1, 10**9))
    return {"phantom"}


def shift_row(history, seeded):
    fired = [n for n, row in enumerate(history.rows) if not row.requested]
    number = seeded.choice(fired)
    row = history.rows[number]
    history.rows[number] = replace(row, fire_time=row.fire_time - 1)
    return {"phantom"}


def forget_reason(history, seeded):
    number = seeded.choice([n for n, row in enumerate(history.rows) if row.attempt > 0])
    row = history.rows[number]
    history.rows[number] = replace(row, attempt=row.attempt + 1, state="dead", tries=row.tries[:-1])
    return {"unexplained"}


def forget_last_outcome(history, seeded):
    called = {(call.execution, call.attempt) for call in history.calls}
    rows = [n for n, row in enumerate(history.rows) if (row.id, row.attempt) in called]
    number = seeded.choice(rows)
    row = history.rows[number]
    history.rows[number] = replace(row, state="cancelled", tries=row.tries[:-1])
    return {"unrecorded"}


def leave_running(history, seeded):
    number = seeded.randrange(len(history.rows))
    history.rows[number] = replace(history.rows[number], state=seeded.choice(["running", "queued"]))
    return {"stuck"}


def stretch_range(history, seeded):
    job, fires = seeded.choice(list(history.fires.items()))
    history.fires[job] = [*fires, fires[-1] + 1]
    recorded = any(each.job == job and each.last == fires[-1] for each in history.ranges)
    if recorded:
        history.ranges = [replace(each, count=each.count + 1) for each in history.ranges]
        return {"miscounted"}
    return {"lost"}


def forget_range(history, seeded):
    last = max(fires[-1] for fires in history.fires.values())
    job = seeded.choice(list(history.fires))
    history.fires[job] = [*history.fires[job], last + 1, last + 2]
    history.ranges.append(Range(job, last + 1, last + 1, 1))
    return {"lost"}


DAMAGES = [
    delete_row,
    delete_call,
    double_row,
    double_call,
    call_early,
    call_another_attempt,
    call_out_of_nothing,
    shift_row,
    forget_reason,
    forget_last_outcome,
    leave_running,
    stretch_range,
    forget_range,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_every_damage_is_flagged(damage):
    for seed in SEEDS:
        seeded = random.Random(seed)
        history = clean_history(seeded)
        if damage in {delete_call, call_another_attempt} and not needed_calls(history):
            continue
        if damage in {double_call, call_early, forget_last_outcome} and not history.calls:
            continue
        if damage is forget_reason and not any(row.attempt for row in history.rows):
            continue
        expected = damage(history, seeded)
        found = {violation.kind for violation in check(history)}
        assert found & expected, f"seed {seed}: {damage.__name__} was not flagged, but {found}"


def test_a_clean_history_is_clean():
    for seed in SEEDS:
        assert check(clean_history(random.Random(seed))) == [], f"seed {seed}"


def test_a_call_within_the_error_of_the_clock_is_not_early():
    history = History(fires={"job": [100]})
    history.rows = [Row("id", "job", 100, "succeeded", 1, (Try(1, "succeeded"),))]
    history.calls = [Call("id", 1, at=97, slack=3)]
    assert check(history) == []
    history.calls = [Call("id", 1, at=96, slack=3)]
    assert [violation.kind for violation in check(history)] == ["early"]


def test_of_attempts_put_off_in_a_row_the_newest_is_enough():
    history = History(fires={"job": [100]})
    tries = Try(3, "released"), Try(4, "succeeded")
    history.rows = [Row("id", "job", 100, "succeeded", 4, tries)]
    history.calls = [Call("id", 4, at=100)]
    assert check(history) == []
    history.calls.append(Call("id", 2, at=100))  # that one was no attempt put off
    assert [violation.kind for violation in check(history)] == ["unexplained"]


def test_an_attempt_that_an_edit_took_back_before_its_start_explains_the_next():
    history = History(fires={"job": [100]})
    tries = Try(1, "cancelled", started=False), Try(2, "succeeded")
    history.rows = [Row("id", "job", 100, "succeeded", 2, tries)]
    history.calls = [Call("id", 2, at=100)]
    assert check(history) == []
    history.calls.append(Call("id", 1, at=100))
    assert [violation.kind for violation in check(history)] == ["unexplained"]


@pytest.mark.parametrize(
    ("ended", "found"), [(None, []), (60_500, []), (59_500, []), (58_500, ["untrue"])]
)
def test_a_skip_for_overlap_needs_a_run_that_was_live(ended, found):
    history = History(fires={"job": [58_000, 60_000]}, by_reason=True)
    state = "succeeded" if ended else "running"
    run = Row("a", "job", 58_000, state, 1, (Try(1, "succeeded"),), ended=ended)
    skip = Row("b", "job", 60_000, "skipped", 0, reason="overlap", ended=60_001)
    history.rows, history.calls = [run, skip], [Call("a", 1, at=58_000)]
    kinds = [violation.kind for violation in check(history)]
    assert [kind for kind in kinds if kind != "stuck"] == found
